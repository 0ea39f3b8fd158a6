//! `Bucketize`: the ranges between boundaries that numbers fall into.

use crate::number::{Lane, Real};
use millstream_graph::op::spec::{FloatList, OneOf};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64};
use millstream_tensor::{Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("Bucketize")
        .doc(
            "Returns, for each number, the index of its bucket: the number of `boundaries` that are not \
             above it. The `boundaries` must be sorted.",
        )
        .input("input", "T")
        .output("output", I32)
        .attr("T", OneOf(&[I32, I64, F32, F64]))
        .attr("boundaries", FloatList)
        .infer(|cx| {
            // TensorFlow reports unsorted boundaries only in the run.
            cx.same_as_input()
        })
        .kernel(Kernel::pure(run))
}

fn ordered(boundaries: &[f32]) -> Result<()> {
    let bad = boundaries.windows(2).find(|pair| pair[0] > pair[1]);
    ensure!(bad.is_none(), "Expected sorted boundaries"; "`boundaries` must be in order but has {:?}", bad.unwrap_or_default());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let boundaries = &cx.attrs().floats("boundaries")?;
    ordered(boundaries)?;
    let x = cx.input(0);
    let out = match x.dtype() {
        I32 => places(x, boundaries, |v: i32, b| (v as f32) < b),
        I64 => places(x, boundaries, |v: i64, b| (v as f32) < b),
        F32 => places(x, boundaries, |v: f32, b| v < b),
        _ => places(x, boundaries, |v: f64, b| v < b.into()),
    }?;
    cx.set(0, out);
    Ok(())
}

fn places<T: Lane + Real>(x: &Tensor, boundaries: &[f32], below: impl Fn(T, f32) -> bool) -> Result<Tensor> {
    // NaN is below no boundary, so its bucket is the last.
    let place = |&v| boundaries.partition_point(|&b| !below(v, b)) as i32;
    Tensor::from_iter(x.shape().clone(), x.as_slice::<T>()?.iter().map(place))
}

cases! {
    floats: "Bucketize([-1.0 0.0 1.0 1.5 9.0 nan]; boundaries={0.0, 1.5, 3.0}) = [0 1 1 2 3 3]",
    integers: "Bucketize(i64 [[1 2] [3 4]]; boundaries={2.5}) = [[0 0] [1 1]]",
    no_boundaries: "Bucketize([1.0]; boundaries={}) = [0]",
    infers: "Bucketize(f64[?,2]; boundaries={1.0}) : i32[?,2]",
    in_order: "Bucketize([1.0]; boundaries={2.0, 1.0}) ! `boundaries` must be in order",
}
