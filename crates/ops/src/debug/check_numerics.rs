//! `CheckNumerics`, `CheckNumericsV2`: fails on NaN and infinity.

use crate::number::with_float;
use millstream_graph::op::spec::{FloatType, Text};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{Element, Result, Tensor, invalid};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    ["CheckNumerics", "CheckNumericsV2"].map(|name| {
        OpDef::new(name)
            .doc("Passes `tensor` on; fails with `message` if it holds NaN or infinity. V2 tells the infinities' signs.")
            .input("tensor", "T")
            .output("output", "T")
            .attr("T", FloatType)
            .attr("message", Text)
            .infer(|cx| cx.same_as_input())
            .kernel(Kernel::stateful(run))
            .gradient(Gradient::of(grad))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let signed = cx.node.op.name == "CheckNumericsV2";
    let tensor = cx.take(0);
    if let Some(found) = with_float!(cx.node.op.name, tensor.dtype(), T => find::<T>(&tensor, signed))? {
        return Err(invalid!("{} : Tensor had {found} values", cx.attrs().str("message")?.text()));
    }
    cx.set(0, tensor);
    Ok(())
}

/// What there is besides finite numbers, in words.
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

// What is wrong with the gradient is found as well.
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
