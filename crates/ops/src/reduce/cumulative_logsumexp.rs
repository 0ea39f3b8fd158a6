//! `CumulativeLogsumexp`: running logarithms of sums of exponentials along an axis.

use super::scan::{self, scan};
use crate::number::{Real, with_float};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;
use num_traits::Float;

pub(crate) fn def() -> OpDef {
    let mut def = scan("CumulativeLogsumexp", run).doc(
        "The logarithms of the sums of the exponentials of all elements up to each along `axis`; `exclusive` leaves the element itself out, \
         `reverse` starts at the end.",
    );
    // The other running ops take any number.
    def.attrs.retain(|(name, _)| *name != "T");
    def.attr("T", FloatType)
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

cases! {
    runs: "CumulativeLogsumexp([1.0 2.0 3.0], 0) ~ [1.0 2.3132616875182226 3.4076059644443806]",
    exclusive: "CumulativeLogsumexp([1.0 2.0], 0; exclusive=true) = [-inf 1.0]",
    reverse: "CumulativeLogsumexp(f64 [[1.0 1000.0]], 1; reverse=true) = f64 [[1000.0 1000.0]]",
    infinities: "CumulativeLogsumexp([-inf -inf 1.0 inf], 0) = [-inf -inf 1.0 inf]",
    shape: "CumulativeLogsumexp(f32[?,3], i32[]) : f32[?,3]",
    axis_out_of_range: "CumulativeLogsumexp([1.0], 1) ! `axis` is 1 but the input has rank 1",
    refuses_integers: "CumulativeLogsumexp([1], 0) ! `T`",
}
