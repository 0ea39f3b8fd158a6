//! `SparseSegmentMeanGrad` and `SparseSegmentSqrtNGrad`: the gradients of means over segments of selected
//! rows.

use super::gradients::counts;
use super::segments::{count, rows_counted};
use crate::number::{Field, Num, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{IndexType, OneOf, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let op = |name, doc| {
        OpDef::new(name)
            .doc(doc)
            .input("grad", "T")
            .input("indices", "Tidx")
            .input("segment_ids", "Tsegmentids")
            .input("output_dim0", I32)
            .on_host()
            .output("output", "T")
            .attr("T", OneOf(&[F32, F64]))
            .attr("Tidx", IndexType.or(I32))
            .attr("Tsegmentids", IndexType.or(I32))
            .infer(|cx| {
                cx.vector(1)?;
                cx.vector(2)?;
                cx.merge(1, 2)?;
                rows_counted(cx)
            })
    };
    [
        op(
            "SparseSegmentMeanGrad",
            "Computes the gradient of `SparseSegmentMean` by its data, which has `output_dim0` rows: row \
             `indices[i]` gets the row `segment_ids[i]` of `grad`, divided by the number of rows of that segment.",
        )
        .kernel(Kernel::pure(|cx| run(cx, |n| n.recip())).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::of(|cx| grad(cx, false))),
        op(
            "SparseSegmentSqrtNGrad",
            "Computes the gradient of `SparseSegmentSqrtN` by its data, which has `output_dim0` rows: row \
             `indices[i]` gets the row `segment_ids[i]` of `grad`, divided by the square root of the number of \
             rows of that segment.",
        )
        .kernel(Kernel::pure(|cx| run(cx, |n| n.sqrt().recip())).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::of(|cx| grad(cx, true))),
    ]
}

fn run(cx: &mut KernelCx, share: fn(f64) -> f64) -> Result<()> {
    let grad = cx.input(0);
    for i in [1, 2] {
        ensure!(
            cx.input(i).rank() == 1,
            "{} should be a vector.", cx.name_of(i);
            "`{}` has shape {}", cx.name_of(i), cx.input(i).shape()
        );
    }
    ensure!(
        cx.input(3).rank() == 0,
        "output_dim0 should be a scalar.";
        "`output_dim0` has shape {}", cx.input(3).shape()
    );
    let (indices, ids) = (cx.ints(1)?, cx.ints(2)?);
    ensure!(
        indices.len() == ids.len(),
        "segment_ids and indices should have same size.";
        "`indices` has {} entries and `segment_ids` {}", indices.len(), ids.len()
    );
    let n = count("output_dim0", cx.int(3)?)?;
    let [segments, row @ ..] = grad.shape().dims() else {
        return Err(invalid!("Shape must be at least rank 1"; "`grad` is a scalar"));
    };
    let _room = Room::of(segments.saturating_mul(size_of::<f64>()))?;
    let mut sizes = vec![0.0; *segments];
    for (i, id) in ids.iter().enumerate() {
        let id = usize::try_from(*id).ok().filter(|id| id < segments).ok_or_else(|| {
            invalid!(
                "Invalid number of segments";
                "`segment_ids` has {id} at {i}, but `grad` has {segments} rows"
            )
        })?;
        sizes[id] += 1.0;
    }
    let inner: usize = row.iter().product();
    let mut out = Tensor::zeros(grad.dtype(), Shape::new([n].into_iter().chain(row.iter().copied())))?;
    with_element!(grad.dtype(), T in [F32 F64] => {
        let (grads, cells) = (grad.as_slice::<T>()?, fresh::<T>(&mut out)?);
        let mut pace = Pace::new();
        for (i, (index, id)) in indices.iter().zip(&ids).enumerate() {
            pace.spend(1 + inner)?;
            let to = usize::try_from(*index).ok().filter(|index| *index < n).ok_or_else(|| {
                invalid!("Index {index} out of range [0, {n})."; "`indices` has {index} at {i}")
            })?;
            // The ids were compared with the rows above.
            let id = *id as usize;
            let by = T::lit(share(sizes[id]));
            let rows = cells[to * inner..(to + 1) * inner].iter_mut().zip(&grads[id * inner..(id + 1) * inner]);
            rows.for_each(|(sum, x)| *sum = sum.add(x.mul(by)));
        }
        Ok(())
    }, else => Err(no_kernel(cx.node.op.name, grad.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// The op is linear: its gradient is the mean again.
fn grad(cx: &mut GradCx, root: bool) -> Result<()> {
    let (dz, grad, indices, ids) = (cx.grad(0), cx.input(0), cx.input(1), cx.input(2));
    let rows = cx.op("GatherV2").input(dz).input(indices).input(0).output();
    let shape = cx.shape_of_input(0);
    let segments = cx.call("Slice", [shape, cx.ints(&[0]), cx.ints(&[1])]);
    let segments = cx.op("Reshape").input(segments).input(Vec::<i32>::new()).output();
    let sums = cx.call("UnsortedSegmentSum", [rows, ids, segments]);
    let counts = counts(cx, grad, ids);
    cx.give(0, sums / if root { cx.call("Sqrt", [counts]) } else { counts });
    Ok(())
}

cases! {
    of_a_mean: "SparseSegmentMeanGrad([[1.0 2.0] [3.0 4.0] [5.0 6.0]], [0 2 1 2], [0 0 1 1], 4) = [[0.5 1.0] [1.5 2.0] [2.0 3.0] [0.0 0.0]]",
    of_a_root: "SparseSegmentSqrtNGrad([[2.0] [3.0]], [0 1 2 3 1], i32 [0 0 0 0 1], 4) = [[1.0] [4.0] [1.0] [1.0]]",
    in_any_order: "SparseSegmentMeanGrad([1.0 3.0], i64 [0 1], [1 0], 2) = [3.0 1.0]",
    of_nothing: "SparseSegmentMeanGrad([[1.0 2.0]], i32[0] [], i32[0] [], 1) = [[0.0 0.0]]",
    infers: "SparseSegmentMeanGrad(f32[5,3], i32[?], i32[?], 7) : f32[7,3]",
    infers_less: "SparseSegmentSqrtNGrad(f32[5,3], i32[?], i32[?], i32[]) : f32[?,3]",
    id_in_range: "SparseSegmentMeanGrad([1.0], [0], [3], 2) ! `segment_ids` has 3 at 0, but `grad` has 1 rows",
    index_in_range: "SparseSegmentSqrtNGrad([1.0], [4], [0], 2) ! Index 4 out of range [0, 2)",
    not_negative: "SparseSegmentMeanGrad([1.0], [0], [0], -2) ! must not be negative",
    equal_lengths: "SparseSegmentMeanGrad([1.0], [0 0], [0], 2) ! equal",
}
