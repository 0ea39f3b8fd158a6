//! What the list ops share: finding a list in an input, changing it in place, element shapes as inputs, and sums and
//! zeros of whole lists.

use crate::control::Optional;
use millstream_graph::attr::Attrs;
use millstream_graph::op::{Cost, HandleShape, InferCx, Kernel, KernelCx, Known, RunFn};
use millstream_tensor::{
    Assembler, DType, PartialShape, Result, Shape, Tensor, TensorList, Variant, ensure, invalid,
};

/// Lists in lists, deeper than this, are neither summed nor zeroed.
const MAX_DEPTH: usize = 64;

/// A kernel that moves handles, whatever they refer to.
pub(super) fn handles(run: RunFn) -> Kernel {
    Kernel::pure(run).cost(Cost::PerElement(0.0))
}

/// A kernel that copies the elements of a list's items.
pub(super) fn copies(run: RunFn) -> Kernel {
    Kernel::pure(run).cost(Cost::Estimate(|_, inputs| {
        let list = inputs.first().and_then(|t| t.as_variants()?.first()?.get::<TensorList>());
        let Some(list) = list.filter(|l| l.stacked().is_none()) else { return 0.0 };
        // Items may differ in size; a few stand for all.
        let few = list.len().min(4);
        let some: usize = (0..few).filter_map(|i| list.get(i)).map(|item| item.byte_size()).sum();
        some as f64 / few.max(1) as f64 * list.len() as f64 * 0.1
    }))
}

// What a shape rule knows.

/// What is known of the items of the list in input `i`, which holds `dtype`.
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

/// Output 0 is the list in input 0: with the same items, or more or fewer of the same kind.
pub(super) fn same_list(cx: &mut InferCx) -> Result<()> {
    let dtype = cx.attrs().dtype("element_dtype")?;
    let shape = known_list(cx, 0, dtype)?;
    cx.set_handle(0, dtype, shape);
    Ok(())
}

/// Input `i` read as an element shape, as far as it is known: a vector, or a scalar -1 for one of unknown rank.
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

/// What is known of the items read from the list in input 0 under the element shape of input `i`.
pub(super) fn known_items(cx: &InferCx, i: usize) -> Result<PartialShape> {
    let list = known_list(cx, 0, cx.attrs().dtype("element_dtype")?)?;
    let wanted = known_element_shape(cx, i)?;
    list.merge(&wanted).ok_or_else(|| {
        invalid!("the items of the list have shape {list} but `{}` is {wanted}", cx.name_of(i))
    })
}

/// `shape` with an outermost dimension.
pub(crate) fn stacked(outer: Option<usize>, shape: &PartialShape) -> PartialShape {
    shape.dims().map_or(PartialShape::unknown(), |dims| {
        PartialShape::new(std::iter::once(outer).chain(dims.iter().copied()))
    })
}

/// `shape` without its outermost dimension.
pub(crate) fn unstacked(shape: &PartialShape) -> PartialShape {
    match shape.dims() {
        Some([_, dims @ ..]) => PartialShape::new(dims.iter().copied()),
        _ => PartialShape::unknown(),
    }
}

fn scalar_shape(name: &str, value: i64) -> String {
    format!("`{name}` is the scalar {value}; only -1, a shape of unknown rank, may be a scalar")
}

// What a kernel sees.

/// The list in input `i`.
pub(super) fn list<'c>(cx: &'c KernelCx, i: usize) -> Result<&'c TensorList> {
    let t = cx.input(i);
    match t.as_variants() {
        Some([variant]) => as_list(variant).map_err(|e| e.note(format!("in `{}`", cx.name_of(i)))),
        _ => {
            Err(invalid!("`{}` must be a scalar tensor list, got {}{}", cx.name_of(i), t.dtype(), t.shape()))
        }
    }
}

/// The list in a variant.
pub(super) fn as_list(variant: &Variant) -> Result<&TensorList> {
    variant.get().ok_or_else(|| invalid!("a tensor list is wanted, not a {}", variant.kind()))
}

/// The list in input 0, whose dtype must be the attribute `element_dtype`.
pub(super) fn typed_list<'c>(cx: &'c KernelCx) -> Result<&'c TensorList> {
    let list = list(cx, 0)?;
    let wanted = cx.attrs().dtype("element_dtype")?;
    ensure!(list.dtype() == wanted, "the list holds {} but `element_dtype` is {wanted}", list.dtype());
    Ok(list)
}

/// Output 0 is the list of input 0, changed: in place when nobody else holds it, otherwise a copy.
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
    cx.set(0, copy.into());
    Ok(result)
}

/// Input `i` as an element shape.
pub(super) fn element_shape(cx: &KernelCx, i: usize) -> Result<PartialShape> {
    let (t, name) = (cx.input(i), cx.name_of(i));
    match t.rank() {
        0 => {
            let value = cx.int(i)?;
            ensure!(value == -1, "{}", scalar_shape(name, value));
            Ok(PartialShape::unknown())
        }
        1 => PartialShape::from_signed(&cx.ints(i)?)
            .map_err(|e| invalid!("`{name}` is no shape: {}", e.message())),
        _ => Err(invalid!("`{name}` must be a scalar or a vector but has shape {}", t.shape())),
    }
}

/// An error unless an item of this shape fits the element shape in input `i`.
#[inline]
pub(super) fn check_item(cx: &KernelCx, i: usize, shape: &Shape) -> Result<()> {
    // The common case allocates nothing.
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

/// The element shape of `list` together with that of input `i`.
pub(super) fn merged_shape(cx: &KernelCx, i: usize, list: &TensorList) -> Result<PartialShape> {
    let wanted = element_shape(cx, i)?;
    merge(list.element_shape(), &wanted)
        .map_err(|e| e.note(format!("the first is of the list, the second is `{}`", cx.name_of(i))))
}

/// What both say of a shape.
pub(super) fn merge(a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
    a.merge(b).ok_or_else(|| invalid!("element shapes {a} and {b} contradict each other"))
}

/// The shape that all of these items have, and unwritten ones stand for, within `shape`.
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
                return Err(invalid!("no item is written, so that their shape is not known beyond {shape}")
                    .with_help("give an `element_shape` without unknown dimensions"));
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

/// Items of one shape, one after another; zeros for those not written. Shares where they lie so already.
pub(crate) fn stack(dtype: DType, shape: &Shape, items: &[&Option<Tensor>]) -> Result<Tensor> {
    let whole = Shape::new(std::iter::once(items.len()).chain(shape.iter().copied()));
    if let Some(parts) = items.iter().map(|item| item.as_ref()).collect::<Option<Vec<_>>>()
        && let Some(shared) = Tensor::spliced(parts, &whole)
    {
        return Ok(shared);
    }
    join(dtype, whole, items.iter().map(|item| (item.as_ref(), shape.elements())))
}

/// These items, or as many zeros, one after another in `shape`.
pub(crate) fn join<'a>(
    dtype: DType,
    shape: Shape,
    items: impl IntoIterator<Item = (Option<&'a Tensor>, usize)>,
) -> Result<Tensor> {
    let mut out = Assembler::new(dtype, shape)?;
    let mut zero = None;
    for (item, count) in items {
        match item {
            Some(item) => out.push(item, 0, count)?,
            None => {
                let zero = match &mut zero {
                    Some(zero) => zero,
                    none => none.insert(Tensor::zeros(dtype, Shape::scalar())?),
                };
                out.push_fill(zero, count)?;
            }
        }
    }
    out.finish()
}

/// The rows of a tensor.
pub(crate) fn rows(tensor: &Tensor) -> impl ExactSizeIterator<Item = Result<Tensor>> + '_ {
    (0..tensor.shape().first().copied().unwrap_or(0)).map(|i| tensor.row(i))
}

/// `value` as a place in a list of `len` items.
pub(super) fn place(value: i64, len: usize) -> Result<usize> {
    usize::try_from(value)
        .ok()
        .filter(|i| *i < len)
        .ok_or_else(|| invalid!("item {value} is not in the list, which has {len}"))
}

/// The attribute of a node that writes to a TensorArray, no element of which is written twice: whether the array grows. TensorFlow passes
/// over attributes that begin with an underscore.
const TENSOR_ARRAY: &str = "_tensor_array_grows";

/// Whether a node with these attributes writes to a TensorArray.
pub(super) fn is_array(attrs: &Attrs) -> bool {
    attrs.get(TENSOR_ARRAY).is_some()
}

/// Whether the list that the node writes to may become longer: only a TensorArray of fixed size may not.
pub(super) fn may_grow(cx: &KernelCx) -> bool {
    !is_array(cx.attrs()) || cx.attrs().bool(TENSOR_ARRAY).unwrap_or(true)
}

/// An error if the list in input 0 is a TensorArray whose element `index` is written.
#[inline]
pub(super) fn check_unwritten(cx: &KernelCx, index: i64) -> Result<()> {
    let list = list(cx, 0)?;
    if is_array(cx.attrs()) && usize::try_from(index).is_ok_and(|i| list.is_written(i)) {
        return Err(invalid!("element {index} of the TensorArray has been written already"));
    }
    Ok(())
}

/// `value` as a number of items.
pub(super) fn count(name: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| invalid!("`{name}` is {value} but must not be negative"))
}

// Whole lists, and optionals in them, as values.

/// The sum of two variants, items by items; an unwritten one adds nothing. `add` adds tensors of numbers.
pub(crate) fn add(a: &Tensor, b: &Tensor, sum: &dyn Fn(Tensor, Tensor) -> Result<Tensor>) -> Result<Tensor> {
    add_at(a, b, sum, 0)
}

fn add_at(
    a: &Tensor,
    b: &Tensor,
    sum: &dyn Fn(Tensor, Tensor) -> Result<Tensor>,
    depth: usize,
) -> Result<Tensor> {
    ensure!(depth <= MAX_DEPTH, "the lists are nested deeper than {MAX_DEPTH} levels");
    ensure!(
        a.dtype() == b.dtype() && a.shape() == b.shape(),
        "{}{} and {}{} cannot be added: they must be of one dtype and shape",
        a.dtype(),
        a.shape(),
        b.dtype(),
        b.shape()
    );
    let (Some(xs), Some(ys)) = (a.as_variants(), b.as_variants()) else { return sum(a.clone(), b.clone()) };
    let sums = xs.iter().zip(ys).map(|(x, y)| {
        if let (Some(x), Some(y)) = (x.get::<Optional>(), y.get::<Optional>()) {
            return x.add(y, |x, y| add_at(x, y, sum, depth + 1));
        }
        let (x, y) = (as_list(x)?, as_list(y)?);
        ensure!(x.dtype() == y.dtype(), "a list of {} and one of {} cannot be added", x.dtype(), y.dtype());
        ensure!(x.len() == y.len(), "lists of {} and of {} items cannot be added", x.len(), y.len());
        let shape = merge(x.element_shape(), y.element_shape())?;
        let (xs, ys) = (x.items(), y.items());
        let items = xs.iter().zip(ys.iter()).map(|pair| match pair {
            (Some(x), Some(y)) => add_at(x, y, sum, depth + 1).map(Some),
            (x, y) => Ok(x.as_ref().or(y.as_ref()).cloned()),
        });
        let items = items.collect::<Result<Vec<_>>>()?;
        let list = TensorList::of(x.dtype(), shape, items)?.with_max_len(x.max_len());
        Ok(Variant::new(std::sync::Arc::new(list)))
    });
    Tensor::variants(a.shape().clone(), sums.collect::<Result<_>>()?)
}

/// Lists of zeros in the shapes of the items, one zero per shape; an unwritten item stays so.
pub(crate) fn zeros_like(x: &Tensor) -> Result<Tensor> {
    zeros_at(x, 0)
}

fn zeros_at(x: &Tensor, depth: usize) -> Result<Tensor> {
    ensure!(depth <= MAX_DEPTH, "the lists are nested deeper than {MAX_DEPTH} levels");
    let Some(variants) = x.as_variants() else { return Tensor::zeros(x.dtype(), x.shape().clone()) };
    let zeros = variants.iter().map(|variant| {
        if let Some(optional) = variant.get::<Optional>() {
            return optional.map(|value| zeros_at(value, depth + 1));
        }
        let list = as_list(variant)?;
        // Few shapes, mostly one: those seen, the latest last.
        let mut seen: Vec<Tensor> = Vec::new();
        let mut zero = |item: &Tensor| {
            if list.dtype() == DType::Variant {
                return zeros_at(item, depth + 1);
            }
            match seen.iter().rev().take(16).find(|z| z.shape() == item.shape()) {
                Some(zero) => Ok(zero.clone()),
                None => {
                    seen.push(Tensor::zeros(list.dtype(), item.shape().clone())?);
                    Ok(seen[seen.len() - 1].clone())
                }
            }
        };
        let items = list.items();
        let items = items.iter().map(|item| item.as_ref().map(&mut zero).transpose());
        let items = items.collect::<Result<Vec<_>>>()?;
        Ok(Variant::new(std::sync::Arc::new(list.with_items(items)?.with_max_len(None))))
    });
    Tensor::variants(x.shape().clone(), zeros.collect::<Result<_>>()?)
}
