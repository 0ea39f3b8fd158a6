//! Helpers of ops on variables. Each update is declared twice, for a resource handle and for a reference;
//! both find the same [`Variable`] behind input 0.

use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_state::{Held, Variable};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, ensure, invalid};

/// Declares variable arguments: references if `by_ref` is true, else resource handles.
pub(crate) trait VariableArgs: Sized {
    /// Adds a variable whose values have the dtype in the attribute `ty`.
    fn variable(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self;
    /// Adds the output of the updated reference. Resource ops have no such output.
    fn updated(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self;
}

impl VariableArgs for OpDef {
    fn variable(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self {
        match by_ref {
            true => self.ref_input(name, ty),
            false => self.input(name, DType::Resource),
        }
    }

    fn updated(self, by_ref: bool, name: &'static str, ty: &'static str) -> Self {
        if by_ref { self.ref_output(name, ty) } else { self }
    }
}

/// Returns the known shape of the variable at input `i`, which must hold `dtype`.
pub(crate) fn held(cx: &InferCx, i: usize, dtype: DType) -> Result<PartialShape> {
    if cx.node().input_types[i].is_ref {
        return Ok(cx.input(i).clone());
    }
    cx.scalar(i)?;
    let Some(handle) = cx.handle(i) else { return Ok(PartialShape::unknown()) };
    ensure!(
        handle.dtype == dtype,
        "Trying to read variable with wrong dtype. Expected {} got {}",
        handle.dtype.kernel_name(),
        dtype.kernel_name();
        "{}: `{}` refers to a variable of {} but {dtype} is wanted",
        cx.node().op.name,
        cx.name_of(i),
        handle.dtype
    );
    Ok(handle.shape.clone())
}

/// Sets the shape of output 0, if there is one.
pub(crate) fn gives(cx: &mut InferCx, shape: PartialShape) {
    if cx.n_outputs() > 0 {
        cx.set(0, shape);
    }
}

/// Returns the shape of the variable merged with that of input `i`, or an error if they contradict each
/// other.
pub(crate) fn same_shape(cx: &InferCx, variable: &PartialShape, i: usize) -> Result<PartialShape> {
    variable.merge(cx.input(i)).ok_or_else(|| {
        let words = variable.difference(cx.input(i));
        invalid!(
            "{words}";
            "{}: the variable has shape {variable} but `{}` has shape {}; they must be equal",
            cx.node().op.name,
            cx.name_of(i),
            cx.input(i)
        )
    })
}

/// Returns the error for a variable without a value, with TensorFlow's code: `NOT_FOUND` behind a handle,
/// because in TensorFlow the resource does not exist yet, and `FAILED_PRECONDITION` behind a reference.
pub(crate) fn missing(cx: &KernelCx, i: usize, error: Error) -> Error {
    if error.code() != Code::FailedPrecondition || cx.node.input_types[i].is_ref {
        return error;
    }
    let new = Error::new(Code::NotFound, error.message());
    let new = match cx.resource::<Variable>(i) {
        Ok(variable) => new.led_by(no_resource(cx, variable.name())),
        Err(_) => new,
    };
    let new = error.notes().iter().fold(new, |new, note| new.note(note.clone()));
    new.with_help(error.help().unwrap_or_default())
}

/// Returns TensorFlow's words for a variable that has no value: there, the first resource with a value makes
/// the container.
pub(crate) fn no_resource(cx: &KernelCx, name: &str) -> String {
    match cx.env.resources.holds_any() {
        true => format!("Resource localhost/{name}/N10tensorflow3VarE does not exist."),
        false => format!("Container localhost does not exist. (Could not find resource: localhost/{name})"),
    }
}

/// Changes the value of the variable at input `i` atomically.
pub(crate) fn update<R>(
    cx: &KernelCx,
    i: usize,
    change: impl FnOnce(&mut Held<'_>) -> Result<R>,
) -> Result<R> {
    cx.resource::<Variable>(i)?.update(change).map_err(|e| missing(cx, i, e))
}

/// Returns the reference at input 0 as the output, if there is one.
pub(crate) fn give_back(cx: &mut KernelCx) {
    if cx.n_outputs() > 0 {
        let reference = cx.take(0);
        cx.set(0, reference);
    }
}
