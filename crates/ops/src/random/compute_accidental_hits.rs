//! `ComputeAccidentalHits`: the drawn classes that are true ones.

use super::candidates::{infer_true_classes, true_classes};
use millstream_graph::op::spec::{Int, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32, I64};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};
use std::collections::HashMap;

pub(crate) fn def() -> OpDef {
    OpDef::new("ComputeAccidentalHits")
        .doc(
            "Finds the classes of `sampled_candidates` that are among `true_classes`. Returns, for each, its row \
             of `true_classes`, its position in `sampled_candidates` (the last, if it was drawn more than \
             once), and the lowest f32, which takes it out of a sum of exponentials. The seeds have no effect.",
        )
        .input("true_classes", I64)
        .input("sampled_candidates", I64)
        .output("indices", I32)
        .output("ids", I64)
        .output("weights", F32)
        .attr("num_true", Int)
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .infer(infer)
        .kernel(Kernel::pure(run).scratch(64))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_true_classes(cx)?;
    cx.vector(1)?;
    for i in 0..3 {
        cx.set(i, PartialShape::unknown_of_rank(1));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (truths, candidates) = (true_classes(cx)?, cx.input(1).clone());
    ensure!(
        candidates.rank() == 1,
        "sampled_candidates must be a vector, which is typically an output from CandidateSampler";
        "`sampled_candidates` has shape {}", candidates.shape()
    );
    // A place in the map takes 17 bytes, and up to half of them are free.
    let _room = Room::of(candidates.elements().saturating_mul(40))?;
    let (mut places, mut pace) = (HashMap::with_capacity(candidates.elements()), Pace::new());
    for (i, class) in candidates.as_slice::<i64>()?.iter().enumerate() {
        pace.spend(8)?;
        places.insert(*class, i as i64);
    }
    let columns = truths.shape()[1].max(1);
    let (mut rows, mut ids) = (Charged::new(), Charged::new());
    for (i, class) in truths.as_slice::<i64>()?.iter().enumerate() {
        pace.spend(8)?;
        if let Some(place) = places.get(class) {
            rows.push(
                i32::try_from(i / columns).map_err(|_| invalid!("`true_classes` has more than 2^31 rows"))?,
            )?;
            ids.push(*place)?;
        }
    }
    let n = rows.len();
    let weights = Tensor::from_iter([n], std::iter::repeat_n(f32::MIN, n))?;
    cx.set(0, Tensor::vector(&rows)?);
    cx.set(1, Tensor::vector(&ids)?);
    cx.set(2, weights);
    Ok(())
}

cases! {
    finds: "ComputeAccidentalHits(i64 [[0] [7]], i64 [9 7 0]; num_true=1) = [0 1], i64 [2 1], [-3.4028235e38 -3.4028235e38]",
    the_last_place: "ComputeAccidentalHits(i64 [[5 5]], i64 [5 6 5]; num_true=2) = [0 0], i64 [2 2], [-3.4028235e38 -3.4028235e38]",
    none: "ComputeAccidentalHits(i64 [[1]], i64[1] [2]; num_true=1) = i32[0] [], i64[0] [], f32[0] []",
    shapes: "ComputeAccidentalHits(i64[?,2], i64[3]; num_true=2) : i32[?], i64[?], f32[?]",
    columns: "ComputeAccidentalHits(i64 [[1 2]], i64[1] [2]; num_true=1) ! true_classes must have num_true columns",
    a_vector: "ComputeAccidentalHits(i64 [[1]], i64 [[2]]; num_true=1) ! `sampled_candidates`",
}
