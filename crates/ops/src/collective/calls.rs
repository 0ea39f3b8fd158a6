//! Helpers of the collective ops: kernels that make a call and wait for the other ranks.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Completion, GradCx, InferCx, Kernel, KernelCx};
use millstream_graph::{Attrs, Output};
use millstream_state::collective::{Call, Caller, Reduction, What};
use millstream_tensor::DType::*;
use millstream_tensor::{Error, PartialShape, Result, Tensor, invalid};

/// The dtypes whose elements can be sent.
pub(super) const PLAIN: OneOf =
    OneOf(&[F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, C64, C128, Bool]);

/// Returns the kernel that makes the call which `make` returns.
macro_rules! calling {
    ($make:path) => {
        $crate::collective::calls::kernel(
            |cx, completion| $crate::collective::calls::start(cx, completion, $make),
            |cx| $crate::collective::calls::at_once(cx, $make),
        )
    };
}
pub(super) use calling;

pub(super) fn kernel(
    start: fn(&mut KernelCx, Completion),
    at_once: fn(&mut KernelCx) -> Result<bool>,
) -> Kernel {
    Kernel::waiting(start).at_once(at_once).in_order()
}

/// Makes the call without waiting, if there is one rank.
pub(super) fn at_once(cx: &mut KernelCx, make: fn(&mut KernelCx) -> Result<Call>) -> Result<bool> {
    if cx.env.collective.size() != 1 {
        return Ok(false);
    }
    for (i, output) in make(cx)?.alone()?.into_iter().enumerate() {
        cx.set(i, output);
    }
    Ok(true)
}

/// Begins the call.
pub(super) fn start(cx: &mut KernelCx, completion: Completion, make: fn(&mut KernelCx) -> Result<Call>) {
    match make(cx) {
        Err(error) => {
            cx.env.collective.refuse(cx.node.name.as_str(), &error);
            completion.complete(Err(error));
        }
        Ok(call) => {
            let caller = Caller {
                who: cx.node.name.as_str().into(),
                cancel: cx.env.cancel.clone(),
                ended: Box::new(move |result| match result {
                    Ok(finish) => completion.complete_with(move || Ok(finish()?.into_iter().collect())),
                    Err(error) => completion.complete(Err(error)),
                }),
            };
            cx.env.collective.start(call, caller);
        }
    }
}

/// Returns a call with input 0 and without splits.
pub(super) fn call(cx: &mut KernelCx, what: What) -> Result<Call> {
    Ok(Call { what, value: cx.take(0), splits: Vec::new() })
}

/// Returns the attribute `reduction`.
pub(super) fn reduction(attrs: &Attrs) -> Result<Reduction> {
    let name = attrs.str("reduction")?.text().into_owned();
    Reduction::parse(&name).ok_or_else(|| invalid!("unknown reduction `{name}`"))
}

/// Checks that there is such a reduction of the elements of input 0.
pub(super) fn check_reduction(cx: &InferCx) -> Result<()> {
    reduction(cx.attrs())?.check(cx.attrs().dtype("T")?)
}

/// Returns the shape of input 0 with an unknown number of rows.
pub(super) fn any_rows(cx: &InferCx) -> Result<PartialShape> {
    cx.at_least_rank(0, 1)?;
    let shape = cx.input(0);
    Ok(match shape.dims() {
        Some(dims) => PartialShape::new(std::iter::once(None).chain(dims.iter().skip(1).copied())),
        None => PartialShape::unknown(),
    })
}

/// Returns an error where the gradient of a reduction is asked for that has none.
pub(super) fn differentiable(cx: &GradCx) -> Result<()> {
    match reduction(cx.attrs())? {
        Reduction::Sum | Reduction::Mean => Ok(()),
        other => Err(Error::unimplemented(format!(
            "the gradient of {} with reduction `{}` is not implemented: the rank that the element came from is not known",
            cx.node().op.name,
            other.name()
        ))),
    }
}

/// Returns an i64 vector of one element: the number of rows of input 0.
pub(super) fn rows_of_input<'g>(cx: &mut GradCx<'g, '_>) -> Output<'g> {
    let shape = cx.shape_of_input(0);
    let first = cx.op("Slice").input(shape).input([0]).input([1]).output();
    cx.op("Cast").input(first).attr("DstT", I64).output()
}

/// Returns a scalar.
pub(super) fn scalar(value: usize, what: &str) -> Result<Tensor> {
    let value = i32::try_from(value).map_err(|_| invalid!("{what} {value} is too large"))?;
    Ok(Tensor::scalar(value))
}
