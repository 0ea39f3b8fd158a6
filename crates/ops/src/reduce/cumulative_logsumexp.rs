//! `CumulativeLogsumexp`: the cumulative log-sum-exp along an axis.

use super::scan::{self, scan};
use crate::number::{RealElement, no_kernel};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_tensor::Result;
use millstream_tensor::{DType, with_element};
use num_traits::Float;

pub(crate) fn def() -> OpDef {
    let mut def = scan("CumulativeLogsumexp", run).doc(
        "Computes the logarithm of the cumulative sum of exponentials along `axis`, without overflow. If \
         `exclusive` is true, an element is not part of its own sum; if `reverse` is true, sums start at \
         the end of the axis.",
    );
    // The other cumulative ops accept every numeric dtype.
    def.attrs.retain(|(name, _)| *name != "T");
    def.attr("T", FloatType).gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => {
        scan::run::<T>(cx, RealElement::LEAST_FINITE, join)
    }, else => Err(no_kernel("CumulativeLogsumexp", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

/// Returns the logarithm of e^a + e^b, without overflow.
fn join<T: Float>(a: T, b: T) -> T {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // The difference of two equal infinities is NaN, but an infinity needs nothing added.
    if high.is_infinite() { high } else { high + (low - high).exp().ln_1p() }
}

// y = log Σ eˣ, so dx = eˣ Σ e⁻ʸ dy over the sums that contain x. The sum is computed in logarithms,
// separately for positive and negative gradients, to avoid overflow.
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
    exclusive: "CumulativeLogsumexp([1.0 2.0], 0; exclusive=true) = [-3.4028234663852886e38 1.0]",
    reverse: "CumulativeLogsumexp(f64 [[1.0 1000.0]], 1; reverse=true) = f64 [[1000.0 1000.0]]",
    infinities: "CumulativeLogsumexp([1.0 inf -inf], 0) = [1.0 inf inf]",
    shape: "CumulativeLogsumexp(f32[?,3], i32[]) : f32[?,3]",
    axis_out_of_range: "CumulativeLogsumexp([1.0], 1) ! `axis` is 1 but the input has rank 1",
    refuses_integers: "CumulativeLogsumexp([1], 0) ! `T`",
}
