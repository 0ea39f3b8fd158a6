//! `LowerBound` and `UpperBound`: insertion positions of values in sorted rows.

use crate::number::{RealElement, no_kernel};
use crate::shared::axes::counts;
use millstream_graph::op::spec::{IndexType, RealNumber, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("LowerBound")
            .doc(
                "For each value, returns the first index of its sorted row at which inserting it keeps the \
                 row sorted, which is the number of elements less than the value.",
            )
            .kernel(Kernel::pure(|cx| run(cx, false))),
        OpDef::new("UpperBound")
            .doc(
                "For each value, returns the last index of its sorted row at which inserting it keeps the \
                 row sorted, which is the number of elements less than or equal to the value.",
            )
            .kernel(Kernel::pure(|cx| run(cx, true))),
    ]
    .map(|def| {
        def.input("sorted_inputs", "T")
            .input("values", "T")
            .output("output", "out_type")
            .attr("T", RealNumber)
            .attr("out_type", IndexType.or(DType::I32))
            .infer(infer)
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (sorted, values) = (cx.with_rank(0, 2)?, cx.with_rank(1, 2)?);
    if let (Some(a), Some(b)) = (sorted.dim(0), values.dim(0)) {
        ensure!(a == b, "`sorted_inputs` has {a} rows but `values` {b}; they must have equally many");
    }
    cx.set(0, [values.dim(0).or(sorted.dim(0)), values.dim(1)]);
    Ok(())
}

fn run(cx: &mut KernelCx, upper: bool) -> Result<()> {
    let (sorted, values) = (cx.input(0), cx.input(1));
    ensure!(
        sorted.rank() == 2 && values.rank() == 2 && sorted.shape()[0] == values.shape()[0],
        "Leading dim_size of both tensors must match.";
        "`sorted_inputs` has shape {} and `values` {}: both must be matrices with as many rows",
        sorted.shape(),
        values.shape()
    );
    let dtype = cx.attrs().dtype("out_type")?;
    let out = with_element!(sorted.dtype(), T in reals => search::<T>(sorted, values, upper, dtype), else => Err(no_kernel("LowerBound", sorted.dtype())))?;
    cx.set(0, out);
    Ok(())
}

#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN is under nothing, so it is past every element")]
fn search<T: RealElement>(sorted: &Tensor, values: &Tensor, upper: bool, dtype: DType) -> Result<Tensor> {
    let (width, wanted, shape) = (sorted.shape()[1], values.shape()[1], values.shape().clone());
    let (sorted, values) = (sorted.as_slice::<T>()?, values.as_slice::<T>()?);
    let place = |(i, &v): (usize, &T)| {
        let row = i / wanted * width;
        let row = &sorted[row..row + width];
        row.partition_point(|s| if upper { !(v < *s) } else { *s < v })
    };
    counts(dtype, shape, values.iter().enumerate().map(place))
}

cases! {
    lower: "LowerBound([[1 3 3 5]], [[0 3 4 9]]) = [[0 1 3 4]]",
    upper: "UpperBound([[1 3 3 5]], [[0 3 4 9]]) = [[0 3 3 4]]",
    by_row: "LowerBound([[1.0 2.0] [5.0 6.0]], [[1.5] [1.5]]; out_type=i64) = i64 [[1] [0]]",
    in_nothing: "UpperBound(f32[1,0] [], [[1.0]]) = [[0]]",
    infers: "LowerBound(f32[?,4], f32[2,?]) : i32[2,?]",
    rows_differ: "LowerBound([[1] [2]], [[1]]) ! `sorted_inputs` has 2 rows but `values` 1",
    wants_matrices: "LowerBound([1], [[1]]) ! `sorted_inputs` must have rank 2",
}
