//! `Cumsum`: the cumulative sum along an axis.

use super::scan::turned_round;
use super::scan::{self, scan};
use crate::number::{Num, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    scan("Cumsum", run)
        .doc(
            "Computes the cumulative sum along `axis`. If `exclusive` is true, an element is not part of its \
             own sum; if `reverse` is true, sums start at the end of the axis.",
        )
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => {
        scan::run::<T>(cx, <T as Number>::Wide::ZERO, |a, b| a.add(b))
    }, else => Err(no_kernel("Cumsum", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// An element is a term of each sum from its own on.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, axis) = (cx.grad(0), cx.input(1));
    let dx = turned_round(cx, dy, axis)?;
    cx.give(0, dx);
    Ok(())
}

cases! {
    runs: "Cumsum([1 2 3], 0) = [1 3 6]",
    exclusive: "Cumsum([1 2 3], 0; exclusive=true) = [0 1 3]",
    reverse: "Cumsum([1 2 3], 0; reverse=true) = [6 5 3]",
    both: "Cumsum([1 2 3], 0; exclusive=true, reverse=true) = [5 3 0]",
    outer_axis: "Cumsum([[1 2] [3 4]], -2) = [[1 2] [4 6]]",
    inner_axis: "Cumsum([[1 2] [3 4]], 1) = [[1 3] [3 7]]",
    shape: "Cumsum(f32[?,3], i32[]) : f32[?,3]",
    axis_out_of_range: "Cumsum([1], 1) ! `axis` is 1 but the input has rank 1",
    axis_is_a_scalar: "Cumsum([1], [0]) ! `axis` must be a scalar",
}
