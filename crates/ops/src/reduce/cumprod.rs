//! `Cumprod`: the cumulative product along an axis.

use super::scan::turned_round;
use super::scan::{self, scan};
use crate::number::{Num, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    scan("Cumprod", run)
        .doc(
            "Computes the cumulative product along `axis`. If `exclusive` is true, an element is not part of \
             its own product; if `reverse` is true, products start at the end of the axis.",
        )
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => {
        scan::run::<T>(cx, <T as Number>::Wide::ONE, |a, b| a.mul(b))
    }, else => Err(no_kernel("Cumprod", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// An element is a factor of each product from its own on.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y, axis) = (cx.grad(0), cx.input(0), cx.output(0), cx.input(1));
    let (x, y) = (cx.conj(x), cx.conj(y));
    let sums = turned_round(cx, y * dy, axis)?;
    cx.give(0, sums / x);
    Ok(())
}

cases! {
    runs: "Cumprod([1 2 3], 0) = [1 2 6]",
    exclusive: "Cumprod([2 3 4], 0; exclusive=true) = [1 2 6]",
    reverse: "Cumprod([2 3 4], 0; reverse=true) = [24 12 4]",
    shape: "Cumprod(f32[?,3], i32[]) : f32[?,3]",
    axis_out_of_range: "Cumprod(1, 0) ! `axis` is 0 but the input has rank 0",
}
