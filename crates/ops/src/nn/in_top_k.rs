//! `InTopK`, `InTopKV2`: whether a target class is among the most probable ones.

use millstream_graph::op::spec::{IndexType, Int, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, I32};
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Returns, for each row, whether fewer than `k` predictions are greater than that of the target \
               class. The result is false if the target's prediction, or one before the result is decided, \
               is not finite.";
    let def = |name| OpDef::new(name).doc(doc).input("predictions", DType::F32).input("targets", "T");
    [
        def("InTopK").output("precision", DType::Bool).attr("k", Int).attr("T", IndexType.or(I32)),
        def("InTopKV2")
            .input("k", "T")
            .on_host()
            .output("precision", DType::Bool)
            .attr("T", IndexType.or(I32)),
    ]
    .map(|def| def.infer(infer).kernel(Kernel::pure(run)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let predictions = cx.with_rank(0, 2)?;
    let targets = cx.with_rank(1, 1)?;
    if cx.n_inputs() == 3 {
        cx.scalar(2)?;
    }
    let batch = PartialShape::new([predictions.dim(0)]).merge(&targets).ok_or_else(|| {
        let words = PartialShape::new([predictions.dim(0)]).unlike_dims(&targets);
        invalid!("{words}"; "`targets` has shape {targets} but must have a target for each row of `predictions`, whose shape is {predictions}")
    })?;
    cx.set(0, batch);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(
        cx.n_inputs() == 2 || cx.input(2).rank() == 0,
        "k must be 0-D, got shape {}",
        cx.input(2).shape();
        "`k` must be a scalar"
    );
    let k = if cx.n_inputs() == 2 { cx.attrs().int("k")? } else { cx.int(2)? };
    let (predictions, targets) = (cx.input(0), cx.input(1));
    ensure!(predictions.rank() == 2, "predictions must be 2-dimensional"; "`predictions` must be a matrix but has shape {}", predictions.shape());
    ensure!(targets.rank() == 1, "targets must be 1-dimensional"; "`targets` must be a vector but has shape {}", targets.shape());
    ensure!(
        targets.shape().dims() == &predictions.shape()[..1],
        "First dimension of predictions {} must match length of targets {}",
        predictions.shape()[0],
        targets.shape()[0];
        "`targets` has shape {} but must have a target for each row of `predictions`, whose shape is {}",
        targets.shape(),
        predictions.shape()
    );
    let n = predictions.shape()[1];
    let xs = predictions.as_slice::<f32>()?;
    let targets = cx.ints(1)?;
    let hits = targets.iter().enumerate().map(|(i, &t)| is_in(&xs[i * n..(i + 1) * n], t, k));
    let out = Tensor::from_iter([targets.len()], hits)?;
    cx.set(0, out);
    Ok(())
}

// Entries after the deciding one are not checked for finiteness, as in TensorFlow.
fn is_in(row: &[f32], target: i64, k: i64) -> bool {
    let Some(&own) = usize::try_from(target).ok().and_then(|t| row.get(t)).filter(|v| v.is_finite()) else {
        return false;
    };
    let mut greater = 0;
    for x in row {
        if !x.is_finite() {
            return false;
        }
        greater += i64::from(own < *x);
        if k < greater {
            return false;
        }
    }
    greater < k
}

cases! {
    ties_are_in: "InTopKV2([[0.1 0.5 0.5 0.2] [0.1 0.5 0.5 0.2]], [2 3], 1) = [true false]",
    more: "InTopK([[0.1 0.5 0.4 0.2]], [2]; k=2) = [true]",
    not_finite: "InTopKV2([[inf 1.0 2.0]], [2], 3) = [false]",
    target_out_of_range: "InTopKV2([[1.0] [1.0]], [9 -1], 3) = [false false]",
    shape: "InTopKV2(f32[?,3], i32[2], i32[]) : bool[2]",
    one_target_per_row: "InTopKV2([[1.0]], [0 0], 1) ! a target for each row",
}
