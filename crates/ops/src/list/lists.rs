//! Helpers of the list ops: reading a list from an input, changing it in place, element shapes as inputs.

use crate::shared::lists::{as_list, merge};
use millstream_graph::attr::Attrs;
use millstream_graph::op::{Cost, HandleShape, InferCx, Kernel, KernelCx, Known, RunFn};
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, TensorList, ensure, invalid};

/// A kernel that only moves handles, at no cost per element.
pub(super) fn handles(run: RunFn) -> Kernel {
    Kernel::pure(run).cost(Cost::PerElement(0.0))
}

/// A kernel that copies the elements of a list's items.
pub(super) fn copies(run: RunFn) -> Kernel {
    Kernel::pure(run).cost(Cost::Estimate(|_, inputs| {
        let list = inputs.first().and_then(|t| t.as_variants()?.first()?.get::<TensorList>());
        let Some(list) = list.filter(|l| l.stacked().is_none()) else { return 0.0 };
        // Items may differ in size; the first few are a sample.
        let few = list.len().min(4);
        let some: usize = (0..few).filter_map(|i| list.get(i).ok()?).map(|item| item.byte_size()).sum();
        some as f64 / few.max(1) as f64 * list.len() as f64 * 0.1
    }))
}

// Helpers of shape rules.

/// Returns the known shape of the items of the list in input `i`, or an error if the list does not hold
/// `dtype`.
pub(super) fn known_list(cx: &InferCx, i: usize, dtype: DType) -> Result<PartialShape> {
    cx.scalar(i)?;
    match cx.handle(i) {
        None => Ok(PartialShape::unknown()),
        Some(HandleShape { dtype: held, shape }) => {
            ensure!(
                *held == dtype,
                "{}: `{}` is a list of {held} but {dtype} is wanted",
                cx.node().op.name,
                cx.name_of(i)
            );
            Ok(shape.clone())
        }
    }
}

/// Output 0 is a list with the dtype and element shape of the list in input 0.
pub(super) fn same_list(cx: &mut InferCx) -> Result<()> {
    let dtype = cx.attrs().dtype("element_dtype")?;
    let shape = known_list(cx, 0, dtype)?;
    cx.set_handle(0, dtype, shape);
    Ok(())
}

/// Returns input `i` as an element shape, as far as it is known: a vector, or the scalar -1 for an unknown
/// rank.
pub(super) fn known_element_shape(cx: &InferCx, i: usize) -> Result<PartialShape> {
    match cx.input(i).rank() {
        None => Ok(PartialShape::unknown()),
        Some(0) => {
            let known = cx.known(i).and_then(Known::entries).and_then(|e| e.first().copied().flatten());
            ensure!(known.is_none_or(|v| v == -1), "{}", scalar_shape(cx.name_of(i), known.unwrap_or(-1)));
            Ok(PartialShape::unknown())
        }
        Some(1) => cx.as_shape(i),
        Some(_) => Err(invalid!(
            "{}: `{}` must be a scalar or a vector but has shape {}",
            cx.node().op.name,
            cx.name_of(i),
            cx.input(i)
        )),
    }
}

/// Returns the known shape of items read from the list in input 0, given the element shape in input `i`.
pub(super) fn known_items(cx: &InferCx, i: usize) -> Result<PartialShape> {
    let list = known_list(cx, 0, cx.attrs().dtype("element_dtype")?)?;
    let wanted = known_element_shape(cx, i)?;
    list.merge(&wanted)
        .ok_or_else(|| invalid!("the list holds items of shape {list}, but `{}` is {wanted}", cx.name_of(i)))
}

fn scalar_shape(name: &str, value: i64) -> String {
    format!("`{name}` is the scalar {value}; only -1, a shape of unknown rank, may be a scalar")
}

// Helpers of kernels.

/// Returns the list in input `i`.
pub(super) fn list<'c>(cx: &'c KernelCx, i: usize) -> Result<&'c TensorList> {
    let t = cx.input(i);
    match t.as_variants() {
        Some([variant]) => as_list(variant).map_err(|e| e.note(format!("in `{}`", cx.name_of(i)))),
        _ => {
            Err(invalid!("`{}` must be a scalar tensor list, got {}{}", cx.name_of(i), t.dtype(), t.shape()))
        }
    }
}

/// Returns the list in input 0, whose dtype must be that of the attribute `element_dtype`.
pub(super) fn typed_list<'c>(cx: &'c KernelCx) -> Result<&'c TensorList> {
    let list = list(cx, 0)?;
    let wanted = cx.attrs().dtype("element_dtype")?;
    ensure!(list.dtype() == wanted, "the list holds {} but `element_dtype` is {wanted}", list.dtype());
    Ok(list)
}

/// Sets output 0 to the list in input 0 after `change`: in place if the list is not shared, otherwise as a
/// copy.
#[inline]
pub(super) fn edit<R>(cx: &mut KernelCx, change: impl FnOnce(&mut TensorList) -> Result<R>) -> Result<R> {
    list(cx, 0)?;
    let mut t = cx.take(0);
    let mut unshared = t.variants_mut().and_then(|v| v.first_mut()).and_then(|v| v.get_mut::<TensorList>());
    if let Some(list) = &mut unshared {
        let result = change(list)?;
        cx.set(0, t);
        return Ok(result);
    }
    let [variant] = t.as_variants().unwrap_or_default() else {
        return Err(invalid!("`{}` must be a scalar tensor list", cx.name_of(0)));
    };
    let mut copy = as_list(variant)?.copy()?;
    let result = change(&mut copy)?;
    cx.set(0, copy.into_tensor()?);
    Ok(result)
}

/// Returns input `i` as an element shape.
pub(super) fn element_shape(cx: &KernelCx, i: usize) -> Result<PartialShape> {
    let (t, name) = (cx.input(i), cx.name_of(i));
    match t.rank() {
        0 => {
            let value = cx.int(i)?;
            ensure!(value == -1, "{}", scalar_shape(name, value));
            Ok(PartialShape::unknown())
        }
        1 => PartialShape::from_signed(&cx.ints(i)?)
            .map_err(|e| invalid!("`{name}` is not a shape: {}", e.message())),
        _ => Err(invalid!("`{name}` must be a scalar or a vector but has shape {}", t.shape())),
    }
}

/// Returns an error unless an item of this shape matches the element shape in input `i`.
#[inline]
pub(super) fn check_item(cx: &KernelCx, i: usize, shape: &Shape) -> Result<()> {
    // The fast path allocates nothing.
    let fits = |dim: i64, size: usize| dim == -1 || dim == size as i64;
    if let Ok(dims) = cx.input(i).as_slice::<i32>()
        && cx.input(i).rank() == 1
        && dims.len() == shape.rank()
        && dims.iter().zip(shape.iter()).all(|(&d, &s)| fits(d.into(), s))
    {
        return Ok(());
    }
    let wanted = element_shape(cx, i)?;
    ensure!(wanted.admits(shape), "the item has shape {shape} but `{}` is {wanted}", cx.name_of(i));
    Ok(())
}

/// Returns the element shape of `list` merged with that of input `i`.
pub(super) fn merged_shape(cx: &KernelCx, i: usize, list: &TensorList) -> Result<PartialShape> {
    let wanted = element_shape(cx, i)?;
    merge(list.element_shape(), &wanted)
        .map_err(|e| e.note(format!("the first is of the list, the second is `{}`", cx.name_of(i))))
}

/// Returns the common shape of all these items, the unwritten ones included, which must match `shape`.
pub(super) fn common_shape<'a>(
    shape: PartialShape,
    items: impl IntoIterator<Item = &'a Option<Tensor>>,
) -> Result<Shape> {
    let mut items = items.into_iter();
    let full = match shape.full() {
        Some(full) => full,
        None => match items.by_ref().flatten().next() {
            Some(item) if shape.admits(item.shape()) => item.shape().clone(),
            Some(item) => return Err(unequal(&shape, item)),
            None => {
                return Err(invalid!(
                    "no item has been written, and the item shape {shape} is not fully known"
                )
                .with_help("pass a fully known `element_shape`"));
            }
        },
    };
    match items.flatten().find(|item| *item.shape() != full) {
        Some(item) => Err(unequal(&full.into(), item)),
        None => Ok(full),
    }
}

fn unequal(shape: &PartialShape, item: &Tensor) -> millstream_tensor::Error {
    invalid!("the items must all have one shape, {shape}, but one has shape {}", item.shape())
}

/// Returns `value` as an index in a list of `len` items.
pub(super) fn place(value: i64, len: usize) -> Result<usize> {
    usize::try_from(value)
        .ok()
        .filter(|i| *i < len)
        .ok_or_else(|| invalid!("index {value} is out of range for a list of length {len}"))
}

/// The attribute of nodes that write to a TensorArray, in which no element is written twice. Its value is
/// true if the array may grow. TensorFlow ignores attributes whose names begin with an underscore.
const TENSOR_ARRAY: &str = "_tensor_array_grows";

/// Returns whether a node with these attributes writes to a TensorArray.
pub(super) fn is_array(attrs: &Attrs) -> bool {
    attrs.get(TENSOR_ARRAY).is_some()
}

/// Returns whether the list that the node writes to may grow. Only a TensorArray of fixed size may not.
pub(super) fn may_grow(cx: &KernelCx) -> bool {
    !is_array(cx.attrs()) || cx.attrs().bool(TENSOR_ARRAY).unwrap_or(true)
}

/// Returns an error if the list in input 0 is a TensorArray whose element `index` is already written.
#[inline]
pub(super) fn check_unwritten(cx: &KernelCx, index: i64) -> Result<()> {
    let list = list(cx, 0)?;
    if is_array(cx.attrs()) && usize::try_from(index).is_ok_and(|i| list.is_written(i)) {
        return Err(invalid!("element {index} of the TensorArray has been written already"));
    }
    Ok(())
}

/// Returns `value` as a number of items.
pub(super) fn count(name: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| invalid!("`{name}` is {value} but must not be negative"))
}
