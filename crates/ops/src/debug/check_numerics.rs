//! `CheckNumerics`, `CheckNumericsV2`: fails on NaN and infinity.

use crate::number::no_kernel;
use millstream_graph::op::spec::{FloatType, Text};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{Element, Result, Tensor, invalid, with_element};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let kernels: [(_, RunFn); 2] =
        [("CheckNumerics", |cx| run(cx, false)), ("CheckNumericsV2", |cx| run(cx, true))];
    kernels.map(|(name, run)| {
        OpDef::new(name)
            .doc(
                "Returns `tensor` unchanged, or fails with `message` if it contains NaN or infinity. \
                 CheckNumericsV2 reports the signs of infinities.",
            )
            .input("tensor", "T")
            .output("output", "T")
            .attr("T", FloatType)
            .attr("message", Text)
            .infer(|cx| cx.same_as_input())
            .kernel(Kernel::stateful(run).undoable())
            .gradient(Gradient::of(grad))
    })
}

fn run(cx: &mut KernelCx, signed: bool) -> Result<()> {
    let tensor = cx.take(0);
    if let Some(found) = with_element!(tensor.dtype(), T in floats => find::<T>(&tensor, signed), else => Err(no_kernel(cx.node.op.name, tensor.dtype())))?
    {
        return Err(invalid!("{} : Tensor had {found} values", cx.attrs().str("message")?.text()));
    }
    cx.set(0, tensor);
    Ok(())
}

/// Describes the values that are not finite, if there are any.
fn find<T: Float + Element>(tensor: &Tensor, signed: bool) -> Result<Option<String>> {
    let values = tensor.as_slice::<T>()?;
    if values.iter().all(|v| v.is_finite()) {
        return Ok(None);
    }
    let has = |which: fn(&T) -> bool| values.iter().any(which);
    let nan = has(|v| v.is_nan());
    let kinds = match signed {
        true => vec![
            (has(|v| v.is_infinite() && *v < T::zero()), "-Inf"),
            (has(|v| v.is_infinite() && T::zero() < *v), "+Inf"),
            (nan, "NaN"),
        ],
        false => vec![(has(|v| v.is_infinite()), "Inf"), (nan, "NaN")],
    };
    let there: Vec<&str> = kinds.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
    Ok(Some(match there.as_slice() {
        [a, b, c] => format!("{a}, {b}, and {c}"),
        few => few.join(" and "),
    }))
}

// The gradient is checked as well.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let message = cx.attrs().str("message")?.text();
    let message = format!("Not a number (NaN) or infinity (Inf) values detected in gradient. {message}");
    cx.give(0, cx.op(cx.node().op.name).input(dy).attr("message", message.as_str()).output());
    Ok(())
}

cases! {
    passes_on: "CheckNumerics(f32[2] [1 2]; message=\"x\") = f32[2] [1 2]",
    keeps_the_shape: "CheckNumericsV2(f16[?,2]; message=\"x\") : f16[?,2]",
    finds_nan: "CheckNumerics(f32[2] [1 nan]; message=\"x\") ! x : Tensor had NaN values",
    finds_both: "CheckNumerics(f64[2] [inf nan]; message=\"x\") ! x : Tensor had Inf and NaN values",
    tells_signs: "CheckNumericsV2(f32[2] [-inf nan]; message=\"x\") ! x : Tensor had -Inf and NaN values",
    tells_all: "CheckNumericsV2(f32[3] [-inf nan inf]; message=\"x\") ! x : Tensor had -Inf, +Inf, and NaN values",
    wants_floats: "CheckNumerics([1 2]; message=\"x\") ! CheckNumerics does not work on i32",
}
