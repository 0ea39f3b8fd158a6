//! Helpers of the TensorArray ops: the three kinds of handles, and access to the TensorArray that a handle
//! refers to.
//!
//! In the newest ops the handle is a resource. In the older ones it is a vector of two strings, and in the
//! oldest a reference to such a vector. The strings are looked up among the resources of the step.

use crate::shared::lists::{stack, unstacked};
use crate::shared::sum::sum;
use millstream_graph::op::{Cost, GradCx, GradFn, Gradient, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_graph::{Attr, Output};
use millstream_state::{TensorArray, Variable};
use millstream_tensor::{
    DType, Error, Handle, Opaque, PartialShape, Result, Shape, Str, Tensor, ensure, invalid,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The kind of handle by which an op refers to its TensorArray or stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Reference,
    Strings,
    Resource,
}

/// Declares a handle argument.
pub(super) trait HandleArg: Sized {
    /// Adds a handle input.
    fn handle_in(self, by: By, name: &'static str) -> Self;
    /// Adds a handle output.
    fn handle_out(self, by: By, name: &'static str) -> Self;
}

impl HandleArg for OpDef {
    fn handle_in(self, by: By, name: &'static str) -> Self {
        match by {
            By::Reference => self.ref_input(name, DType::Str),
            By::Strings => self.input(name, DType::Str),
            By::Resource => self.input(name, DType::Resource),
        }
    }

    fn handle_out(self, by: By, name: &'static str) -> Self {
        match by {
            By::Reference => self.ref_output(name, DType::Str),
            By::Strings => self.output(name, DType::Str),
            By::Resource => self.output(name, DType::Resource),
        }
    }
}

/// Returns the three generations of an op with the kinds of their handles.
pub(super) fn versions(names: [&'static str; 3]) -> [(&'static str, By); 3] {
    let [old, newer, newest] = names;
    [(old, By::Reference), (newer, By::Strings), (newest, By::Resource)]
}

/// A kernel that uses a TensorArray or stack. Only the edges of the graph order it.
pub(super) fn kernel(run: RunFn) -> Kernel {
    Kernel::stateful(run).of_step().cost(Cost::PerElement(0.0))
}

/// Returns the kind of handle of an input or output.
pub(super) fn by(is_ref: bool, dtype: DType) -> By {
    match dtype {
        _ if is_ref => By::Reference,
        DType::Resource => By::Resource,
        _ => By::Strings,
    }
}

/// The container of resources that live as long as the step.
const CONTAINER: &str = "_step";

/// Returns a handle, of the kind of output 0, to an object that lives as long as the step.
pub(super) fn new_handle<T: Opaque>(cx: &KernelCx, name: &str, object: Arc<T>) -> Result<Tensor> {
    // Keys are unique across steps, and are visible only in handles.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let ty = cx.node.output_types[0];
    let by = by(ty.is_ref, ty.dtype);
    if by == By::Resource {
        return Ok(Tensor::handle(Handle::new(CONTAINER, name, object)));
    }
    let key = format!("{name}_{}", COUNT.fetch_add(1, Relaxed));
    cx.env.step_resources.get_or_create(CONTAINER, &key, || Ok(Shared(object)))?;
    let strings = Tensor::strings([2], vec![Str::from(CONTAINER), Str::from(key.as_str())])?;
    if by == By::Strings {
        return Ok(strings);
    }
    let variable = Variable::new(name, DType::Str, [2].into());
    variable.assign(strings)?;
    Ok(Tensor::handle(Handle::new("", name, Arc::new(variable))))
}

/// Returns a handle, of the kind of output 0, to a gradient.
pub(super) fn handle_to(cx: &KernelCx, gradient: Arc<TensorArray>) -> Result<Tensor> {
    let name = gradient.name().to_owned();
    new_handle(cx, &name, gradient)
}

/// The object that a name refers to.
#[derive(Debug)]
struct Shared<T>(Arc<T>);

impl<T: Opaque> Opaque for Shared<T> {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }
}

/// Returns the object that input 0 refers to.
pub(super) fn object<T: Opaque>(cx: &KernelCx) -> Result<Arc<T>> {
    let handle = cx.input(0);
    if let Some([handle]) = handle.as_handles() {
        if let Some(object) = handle.share::<T>() {
            return Ok(object);
        }
        let by_reference = cx.node.input_types.first().is_some_and(|ty| ty.is_ref);
        let variable = handle.get::<Variable>().filter(|_| by_reference).ok_or_else(|| {
            invalid!(
                "`{}` refers to a {} (`{}`), which {} cannot use",
                cx.name_of(0),
                handle.kind(),
                handle.name,
                cx.node.op.name
            )
        })?;
        return named(cx, &variable.read()?);
    }
    named(cx, handle)
}

fn named<T: Opaque>(cx: &KernelCx, strings: &Tensor) -> Result<Arc<T>> {
    match strings.as_strs() {
        Some([container, key]) => {
            let found = cx.env.step_resources.get::<Shared<T>>(&container.text(), &key.text());
            found.map(|shared| shared.0.clone())
        }
        _ => Err(invalid!(
            "`{}` must be a handle to what lives for the step, got {}{}",
            cx.name_of(0),
            strings.dtype(),
            strings.shape()
        )),
    }
}

/// Returns the TensorArray that input 0 refers to.
pub(super) fn array(cx: &KernelCx) -> Result<Arc<TensorArray>> {
    object(cx)
}

/// Returns the TensorArray that input 0 refers to, whose dtype must be that of the attribute `attr`.
pub(super) fn typed_array(cx: &KernelCx, attr: &str) -> Result<Arc<TensorArray>> {
    let array = array(cx)?;
    let wanted = cx.attrs().dtype(attr)?;
    let does = if attr == "T" { "is trying to write" } else { "requested" };
    ensure!(
        array.dtype() == wanted,
        "TensorArray dtype is {} but Op {does} dtype {}.", array.dtype().kernel_name(), wanted.kernel_name();
        "{array:?} holds {}, not {wanted}",
        array.dtype()
    );
    Ok(array)
}

/// Writes values to the TensorArray of input 0. A gradient TensorArray sums the values written to one index.
pub(super) fn write(cx: &KernelCx, values: impl IntoIterator<Item = Result<(i64, Tensor)>>) -> Result<()> {
    typed_array(cx, "T")?.try_write(values, &|a, b| {
        let shape: Shape = a.shape().clone();
        sum(cx.node.op.name, [a, b], &shape)
    })
}

/// Returns the known element shape of the TensorArray in input 0.
pub(super) fn elements(cx: &InferCx, dtype: DType) -> Result<PartialShape> {
    match cx.handle(0) {
        None => Ok(PartialShape::unknown()),
        // TensorFlow reports a different dtype in the run, and programs expect it there.
        Some(held) if held.dtype != dtype => Ok(PartialShape::unknown()),
        Some(held) => Ok(held.shape.clone()),
    }
}

/// Sets the dtype and element shape behind output 0, a handle. The shape of the handle itself stays unknown:
/// TensorFlow takes it for a vector of two, which it once was, and writes that into graphs.
pub(super) fn set_array(cx: &mut InferCx, dtype: DType, elements: PartialShape) {
    cx.set_handle(0, dtype, elements);
    cx.set(0, PartialShape::unknown());
}

/// Output 0 is a handle to a TensorArray with the dtype and element shape of that of input 0.
pub(super) fn pass_array(cx: &mut InferCx) {
    if let Some(held) = cx.handle(0) {
        set_array(cx, held.dtype, held.shape.clone());
    }
}

/// Formats a shape as TensorFlow's kernels do.
pub(super) fn shown(shape: &PartialShape) -> String {
    shape.rank().map_or("<unknown>".to_owned(), |_| shape.to_string())
}

/// Stacks the elements at `indices`, whose shapes must match `wanted`, into a tensor.
pub(super) fn rows_of(
    array: &TensorArray,
    indices: impl IntoIterator<Item = i64> + Clone,
    wanted: &PartialShape,
) -> Result<Tensor> {
    array.constrain(wanted)?;
    let values = array.read(indices.clone())?;
    let shape = match values.first() {
        Some(first) => first.shape().clone(),
        None => {
            let known = wanted.merge(&array.element_shape()).unwrap_or_default();
            known.full().ok_or_else(|| {
                Error::unimplemented(format!(
                    "{array:?}: no element is read, and the element shape is not known beyond {known}"
                ))
                .led_by(format!(
                    "TensorArray has size zero, but element shape {} is not fully defined. Currently only static shapes are supported when packing zero-size TensorArrays.",
                    shown(&known)
                ))
            })?
        }
    };
    let mut shown = indices.clone().into_iter();
    for (at, (index, value)) in indices.into_iter().zip(values.iter()).enumerate() {
        ensure!(
            wanted.admits(value.shape()),
            "{array:?}: index {index} has shape {} but `element_shape` is {wanted}",
            value.shape()
        );
        ensure!(
            *value.shape() == shape,
            "TensorArray has inconsistent shapes.  Index 0 has shape: {shape} but index {at} has shape: {}", value.shape();
            "{array:?}: the elements must all have one shape: index {} has {shape} but index {index} has {}",
            shown.next().unwrap_or(0),
            value.shape()
        );
    }
    stack(array.dtype(), &shape, values.iter().map(Some))
}

/// The reason why the older ops have no gradient.
pub(super) const OLD: &str = "only TensorArrayV3 and its kin have, the older ones are in no graph that TensorFlow wrote since its first version";

/// Returns the gradient of an op of this generation.
pub(super) fn gradient(by: By, grad: GradFn) -> Gradient {
    match by {
        By::Resource => Gradient::of(grad),
        By::Reference | By::Strings => Gradient::Missing(OLD),
    }
}

/// Returns whether the TensorArray of input 0 was created with `dynamic_size`. If it was, the gradient of its
/// flow is a list only as long as needed so far; otherwise the list has the length of the array.
pub(super) fn grows(cx: &GradCx) -> Result<bool> {
    let maker = cx.origin(0);
    let dynamic_size = maker.as_ref().and_then(|maker| {
        // The older generations have the attribute too, but their handles are no resources.
        let is_resource = maker.output_types.first().is_some_and(|ty| ty.dtype == DType::Resource);
        if is_resource { maker.attrs.get("dynamic_size") } else { None }
    });
    match dynamic_size {
        Some(Attr::Bool(grows)) => Ok(*grows),
        _ => {
            let made_by = maker.as_ref().map_or("nothing that is known".into(), |m| m.op.name.to_string());
            Err(Error::unimplemented(format!("its TensorArray comes from {made_by}, not from TensorArrayV3"))
                .with_help("if the graph has gradients that TensorFlow built, build them with `gradients` from the forward graph instead"))
        }
    }
}

/// Returns the shape of the rows of input `i`, as an i32 vector.
pub(super) fn row_shape<'g>(cx: &mut GradCx<'g, '_>, i: usize) -> Output<'g> {
    let row = unstacked(&cx.input_shape(i));
    if row.is_full() {
        return cx.graph().element_shape(&row);
    }
    let shape = cx.shape_of_input(i);
    cx.op("StridedSlice").input(shape).input([1]).input([0]).input([1]).attr("end_mask", 1).output()
}

/// Sets output `i` to the flow of input `j`.
pub(super) fn flow_on(cx: &mut KernelCx, j: usize, i: usize) {
    let flow = cx.take(j);
    cx.set(i, flow);
}
