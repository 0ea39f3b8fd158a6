//! `EditDistance`: the Levenshtein distance of sequences in the rows of sparse tensors.

use super::entries::{Entries, inferred};
use crate::shared::keys::{Key, keys};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I64};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("EditDistance")
        .doc(
            "Computes, for each row along the last axis, the Levenshtein distance: the number of \
             insertions, deletions and replacements that turn the hypothesis into the truth. If `normalize` \
             is true, it is divided by the length of the truth, and is infinite if that is 0.",
        )
        .input("hypothesis_indices", I64)
        .input("hypothesis_values", "T")
        .input("hypothesis_shape", I64)
        .input("truth_indices", I64)
        .input("truth_values", "T")
        .input("truth_shape", I64)
        .output("output", F32)
        .attr("normalize", Bool.or(true))
        .attr("T", AnyType)
        .infer(infer)
        // Two indices and a value make a key of 32 bytes, which is in two lists.
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)).scratch(40))
        .gradient(Gradient::none("a number of changes, as in TensorFlow"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (_, rank) = inferred(cx, 0)?;
    let (_, other) = inferred(cx, 3)?;
    let rank = rank.or(other);
    let shape = match (cx.ints(2), cx.ints(5), rank) {
        (Some(a), Some(b), _) => groups(&a, &b)?.into(),
        (_, _, Some(rank)) => PartialShape::unknown_of_rank(rank.saturating_sub(1)),
        _ => PartialShape::unknown(),
    };
    cx.set(0, shape);
    Ok(())
}

/// Returns the shape of the output: all axes but the last, each with the larger of the two sizes.
fn groups(a: &[i64], b: &[i64]) -> Result<Shape> {
    ensure!(
        a.len() == b.len(),
        "Num elements of hypothesis_shape does not match truth_shape: {} vs. {}",
        a.len(),
        b.len()
    );
    ensure!(!a.is_empty(), "a scalar has no sequences: `hypothesis_shape` must have a size at least");
    let longer = a.iter().zip(b).map(|(a, b)| usize::try_from(*a.max(b)).unwrap_or(0));
    Ok(Shape::new(longer.take(a.len() - 1)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (hypothesis, truth) = (Entries::of(cx, 0)?, Entries::of(cx, 3)?);
    let shape = groups(&hypothesis.shape, &truth.shape)?;
    let normalize = cx.attrs().bool("normalize")?;
    let strides = shape.strides();
    let mut out = Tensor::zeros(F32, shape)?;
    let values = out.make_mut_or_copy::<f32>()?;
    let sides = [&hypothesis, &truth];
    sides.into_iter().try_for_each(Entries::check_order)?;
    let all = [keys(&hypothesis.values)?, keys(&truth.values)?];
    // In order, the entries of a sequence are next to each other.
    let place = |side: usize, row: usize| sides[side].offset(row, &strides);
    let next = |side: usize, row: usize| if row < all[side].len() { place(side, row) } else { usize::MAX };
    let (mut starts, mut pace) = ([0, 0], Pace::new());
    while (0..2).any(|side| starts[side] < all[side].len()) {
        let here = next(0, starts[0]).min(next(1, starts[1]));
        let mut sequence = |side: usize| -> Result<&[Key]> {
            let start = starts[side];
            while starts[side] < all[side].len() && place(side, starts[side]) == here {
                pace.spend(1)?;
                starts[side] += 1;
            }
            Ok(&all[side][start..starts[side]])
        };
        let (from, to) = (sequence(0)?, sequence(1)?);
        let changes = distance(from, to, &mut pace)? as f32;
        values[here] = match (normalize, to.is_empty()) {
            (false, _) => changes,
            (true, true) => f32::INFINITY,
            (true, false) => changes / to.len() as f32,
        };
    }
    cx.set(0, out);
    Ok(())
}

/// Returns the Levenshtein distance, computed one row of the table at a time.
fn distance(from: &[Key], to: &[Key], pace: &mut Pace) -> Result<usize> {
    let _room = Room::of(to.len() * size_of::<usize>())?;
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        pace.spend(1)?;
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            pace.spend(1)?;
            let same = a == b && !matches!(a, Key::Unequal(_));
            let replaced = diagonal + usize::from(!same);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    Ok(row[to.len()])
}

cases! {
    normalized: "EditDistance(i64 [[0 0] [0 1] [0 2]], [1 2 3], i64 [1 3], i64 [[0 0] [0 1]], [2 3], i64 [1 2]) = f32[1] [0.5]",
    plain: "EditDistance(i64 [[0 0] [0 1]], ['a' 'b'], i64 [1 2], i64 [[0 0] [0 1] [0 2]], ['b' 'b' 'c'], i64 [1 3]; normalize=false) = f32[1] [2]",
    rows_of_one_alone: "EditDistance(i64[1,2] [[0 0]], [1], i64 [2 1], i64[1,2] [[2 0]], [1], i64 [3 1]) = f32 [inf 0 1]",
    more_axes: "EditDistance(i64[1,3] [[0 1 0]], [1], i64 [1 2 1], i64[1,3] [[0 1 0]], [1], i64 [1 2 1]) = f32[1,2] [[0 0]]",
    nothing: "EditDistance(i64[0,2] [], i32[0] [], i64 [2 1], i64[0,2] [], i32[0] [], i64 [2 1]) = f32 [0 0]",
    infers: "EditDistance(i64[?,3], i32[?], i64[?], i64[?,3], i32[?], i64[3]) : f32[?,?]",
    of_one_rank: "EditDistance(i64[1,3] [[0 0 0]], [1], i64 [1 1 1], i64[1,2] [[0 0]], [1], i64 [1 1]) ! Num elements of hypothesis_shape does not match truth_shape: 3 vs. 2",
    in_order: "EditDistance(i64 [[0 1] [0 0]], [1 2], i64 [1 2], i64[1,2] [[0 0]], [1], i64 [1 1]) ! put the entries in order with SparseReorder",
}
