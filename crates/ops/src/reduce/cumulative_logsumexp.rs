//! `CumulativeLogsumexp`: running logarithms of sums of exponentials along an axis.

use millstream_tensor::DType;
use super::scan::{self, scan};
use crate::number::{Real, with_float};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_tensor::Result;
use num_traits::Float;

pub(crate) fn def() -> OpDef {
    let mut def = scan("CumulativeLogsumexp", run).doc(
        "The logarithms of the sums of the exponentials of all elements up to each along `axis`; `exclusive` leaves the element itself out, \
         `reverse` starts at the end.",
    );
    // The other running ops take any number.
    def.attrs.retain(|(name, _)| *name != "T");
    def.attr("T", FloatType).gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("CumulativeLogsumexp", cx.input(0).dtype(), T => {
        scan::run::<T>(cx, Real::LOWEST, join)
    })?;
    cx.set(0, out);
    Ok(())
}

/// The logarithm of e^a + e^b, without overflow.
fn join<T: Float>(a: T, b: T) -> T {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // The difference of two equal infinities is no number, but they need nothing added.
    if high.is_infinite() { high } else { high + (low - high).exp().ln_1p() }
}

// y = log Σ eˣ: dx = eˣ Σ e⁻ʸ dy over the sums that x is in. In logarithms, of the positive and of the negative gradients, lest it overflow.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y, axis) = (cx.grad(0), cx.input(0), cx.output(0), cx.input(1));
    let (exclusive, reverse) = (cx.attrs().bool("exclusive")?, cx.attrs().bool("reverse")?);
    let dtype = cx.dtype(0);
    let (zero, one) = (cx.scalar(dtype, 0.0), cx.scalar(dtype, 1.0));
    let lowest = match dtype {
        DType::F64 => f64::MIN,
        DType::F16 => -65504.0,
        DType::BF16 => -3.389_531_389_251_535_5e38,
        _ => f32::MIN.into(),
    };
    let lowest = cx.scalar(dtype, lowest);
    let share = |dy| {
        let has = cx.call("Greater", [dy, zero]);
        let log = cx.call("SelectV2", [has, cx.call("Log", [cx.call("SelectV2", [has, dy, one])]), lowest]);
        let sums = cx.op("CumulativeLogsumexp").input(log - y).input(axis);
        let sums = sums.attr("exclusive", exclusive).attr("reverse", !reverse).output();
        cx.call("Exp", [sums + x])
    };
    let dx = share(dy) - share(-dy);
    cx.give(0, dx);
    Ok(())
}

cases! {
    runs: "CumulativeLogsumexp([1.0 2.0 3.0], 0) ~ [1.0 2.3132616875182226 3.4076059644443806]",
    exclusive: "CumulativeLogsumexp([1.0 2.0], 0; exclusive=true) = [-inf 1.0]",
    reverse: "CumulativeLogsumexp(f64 [[1.0 1000.0]], 1; reverse=true) = f64 [[1000.0 1000.0]]",
    infinities: "CumulativeLogsumexp([-inf -inf 1.0 inf], 0) = [-inf -inf 1.0 inf]",
    shape: "CumulativeLogsumexp(f32[?,3], i32[]) : f32[?,3]",
    axis_out_of_range: "CumulativeLogsumexp([1.0], 1) ! `axis` is 1 but the input has rank 1",
    refuses_integers: "CumulativeLogsumexp([1], 0) ! `T`",
}
