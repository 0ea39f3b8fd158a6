//! `SegmentMean`: the mean over segments of sorted ids.

use super::gradients::{counts, of_segment};
use super::segments::{Mean, reduce_sorted, sorted};
use crate::number::{Number, no_kernel};

use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    sorted("SegmentMean", run)
        .doc(
            "Computes the mean of the rows of `data` for each id in the sorted `segment_ids`. Ids without \
             rows give 0.",
        )
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in numbers => reduce_sorted::<Mean<T>>(cx, <T as Number>::ZERO), else => Err(no_kernel("SegmentMean", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// Each row has the weight one over the number of rows in its segment.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, ids) = (cx.grad(0), cx.input(1));
    let share = dy / counts(cx, dy, ids);
    cx.give(0, of_segment(cx, share, ids));
    Ok(())
}

cases! {
    averages: "SegmentMean([1.0 2.0 4.0 6.0], [1 1 3 3]) = [0.0 1.5 0.0 5.0]",
    integers_truncate_and_wrap_around: "SegmentMean(i8[3] [100 100 100], [0 0 0]) = i8[1] [14]",
    shape: "SegmentMean(f32[5,3], i32[5]) : f32[?,3]",
    must_be_sorted: "SegmentMean([1 2], [1 0]) ! must be sorted but has 0 after 1",
    must_not_be_negative: "SegmentMean([1 2], [-1 0]) ! has -1 at 0",
    one_id_per_row: "SegmentMean([1 2], [0]) ! an id for each row",
    needs_rows: "SegmentMean(f32[], i32[0]) ! `data` must have rank 1",
}
