//! `SparseSliceGrad`: the gradient of `SparseSlice`.

use super::entries::Indices;
use super::row_numbers::numbers_from_one;
use millstream_graph::op::spec::Number;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, I64};
use millstream_tensor::{Assembler, Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseSliceGrad")
        .doc(
            "Computes the gradient of the input values of SparseSlice: that of the output entry, or 0 for \
             entries outside the slice.",
        )
        .input("backprop_val_grad", "T")
        .input("input_indices", I64)
        .input("input_start", I64)
        .input("output_indices", I64)
        .output("val_grad", "T")
        .attr("T", Number)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.vector(2)?;
    cx.with_rank(3, 2)?;
    let rows = cx.with_rank(1, 2)?.dim(0);
    cx.set(0, [rows]);
    Ok(())
}

// The entries of the slice are in the order of the input.
fn run(cx: &mut KernelCx) -> Result<()> {
    let (grad, whole, start, part) = (cx.input(0), Indices::of(cx, 1)?, cx.ints(2)?, Indices::of(cx, 3)?);
    ensure!(
        grad.shape().dims() == [part.n],
        "`backprop_val_grad` has shape {} but must have one for each of the {} rows of `output_indices`",
        grad.shape(),
        part.n
    );
    ensure!(
        whole.rank == part.rank && start.len() == part.rank,
        "`input_indices` has {} columns, `input_start` {} entries and `output_indices` {} columns; they must be equal",
        whole.rank,
        start.len(),
        part.rank
    );
    let zero = Tensor::zeros(grad.dtype(), [1])?;
    let mut out = Assembler::new(grad.dtype(), [whole.n])?;
    let mut at = 0;
    for row in 0..whole.n {
        let mut places = whole.row(row).iter().zip(&start);
        let same = at < part.n
            && part
                .row(at)
                .iter()
                .all(|to| places.next().is_some_and(|(from, s)| from.checked_sub(*s) == Some(*to)));
        match same {
            true => {
                out.push(grad, at, 1)?;
                at += 1;
            }
            false => out.push_fill(&zero, 1)?,
        }
    }
    ensure!(at == part.n, "row {at} of `output_indices` is not among `input_indices`, or not in their order");
    let out = out.finish()?;
    cx.set(0, out);
    Ok(())
}

// The gradient is taken at the entries of the slice, in order.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dwhole, dpart) = (cx.grad(0), cx.input(0));
    let (whole, start, part) = (cx.input(1), cx.input(2), cx.input(3));
    let from = cx.call("SparseSliceGrad", [numbers_from_one(cx, dpart), whole, start, part]);
    let taken = cx
        .op("Reshape")
        .input(cx.call("Where", [cx.op("Cast").input(from).attr("DstT", DType::Bool).output()]))
        .input([-1])
        .output();
    cx.give(0, cx.op("GatherV2").input(dwhole).input(taken).input(0).output());
    Ok(())
}

cases! {
    puts_back: "SparseSliceGrad([7.0], i64 [[0 1] [2 0]], i64 [1 0], i64 [[1 0]]) = [0.0 7.0]",
    nothing: "SparseSliceGrad(f32[0] [], i64 [[3]], i64[1] [9], i64[0,1] []) = [0.0]",
    infers: "SparseSliceGrad(f32[?], i64[5,2], i64[2], i64[?,2]) : f32[5]",
    all_are_there: "SparseSliceGrad([7.0], i64 [[0]], i64[1] [0], i64 [[1]]) ! row 0 of `output_indices`",
}
