//! `SparseAdd`: the sum of two sparse tensors.

use super::entries::{Entries, Step, gives, inferred, matrix, sizes, together};
use crate::number::{Lane, Num, Pairs, Real};
use millstream_graph::op::spec::{Number, RealNumber};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, C64, C128, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, PartialShape, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseAdd")
        .doc(
            "Adds two sparse tensors of one shape whose entries are in row-major order. If both have an \
             entry at an index and the absolute value of the sum is less than `thresh`, the entry is \
             omitted.",
        )
        .input("a_indices", I64)
        .input("a_values", "T")
        .input("a_shape", I64)
        .input("b_indices", I64)
        .input("b_values", "T")
        .input("b_shape", I64)
        .input("thresh", "Treal")
        .output("sum_indices", I64)
        .output("sum_values", "T")
        .output("sum_shape", I64)
        .attr("T", Number)
        .attr("Treal", RealNumber)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let ((_, a), (_, b)) = (inferred(cx, 0)?, inferred(cx, 3)?);
    cx.scalar(6)?;
    let merged = PartialShape::new([a]).merge(&PartialShape::new([b]));
    ensure!(merged.is_some(), "`a_shape` has shape {} but `b_shape` has {}", cx.input(2), cx.input(5));
    gives(cx, 0, None, a.or(b));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (a, b, least) = (Entries::of(cx, 0)?, Entries::of(cx, 3)?, cx.input(6));
    ensure!(least.rank() == 0, "`thresh` must be a scalar but has shape {}", least.shape());
    let dtype = a.values.dtype();
    let part = match dtype {
        C64 => DType::F32,
        C128 => DType::F64,
        other => other,
    };
    ensure!(least.dtype() == part, "`thresh` has dtype {} but sizes of {dtype} have {part}", least.dtype());
    let steps = together(&a, &b)?;
    let (kept, values) = match dtype {
        C64 => add(&a, &b, &steps, least, |v: millstream_tensor::C64| v.size()),
        C128 => add(&a, &b, &steps, least, |v: millstream_tensor::C128| v.size()),
        _ => with_element!(dtype, T in reals => add(&a, &b, &steps, least, |v: T| Real::abs(v)),
            else => Err(crate::shared::elementwise::unsupported(cx))),
    }?;
    let rows = kept.iter().map(|step| match *step {
        Step::First(i) | Step::Both(i, _) => a.index(i),
        Step::Second(j) => b.index(j),
    });
    let (indices, shape) = (matrix(a.rank, rows)?, sizes(&a.shape)?);
    cx.set(0, indices);
    cx.set(1, values);
    cx.set(2, shape);
    Ok(())
}

fn add<T: Lane + Num, P: Element + PartialOrd>(
    a: &Entries,
    b: &Entries,
    steps: &[Step],
    least: &Tensor,
    size: impl Fn(T) -> P,
) -> Result<(Charged<Step>, Tensor)> {
    let (least, x, y) = (least.to_scalar::<P>()?, a.values.as_slice::<T>()?, b.values.as_slice::<T>()?);
    let sum = |step: &Step| match *step {
        Step::First(i) => Some(x[i]),
        Step::Second(j) => Some(y[j]),
        Step::Both(i, j) => Some(x[i].add(y[j])).filter(|sum| least <= size(*sum)),
    };
    let (mut kept, mut values, mut pace) = (Charged::new(), Charged::new(), Pace::new());
    for step in steps {
        pace.spend(1)?;
        if let Some(sum) = sum(step) {
            kept.push(*step)?;
            values.push(sum)?;
        }
    }
    let values = Tensor::vector(&values)?;
    Ok((kept, values))
}

// Each entry gets the gradient of its sum.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dsum, a, b, sum) = (cx.grad(1), cx.input(0), cx.input(3), cx.output(0));
    let parts = cx.op("SparseAddGrad").inputs([dsum, a, b, sum]).finish();
    cx.give(1, parts.output(0));
    cx.give(4, parts.output(1));
    Ok(())
}

cases! {
    adds: "SparseAdd(i64 [[0 1] [2 0]], [5.0 6.0], i64 [3 3], i64 [[0 1] [1 1]], [1.0 -2.0], i64 [3 3], 0.0) = i64 [[0 1] [1 1] [2 0]], [6.0 -2.0 6.0], i64 [3 3]",
    leaves_out: "SparseAdd(i64 [[0] [2]], [5 6], i64[1] [3], i64 [[0] [1]], [-5 1], i64[1] [3], 1) = i64 [[1] [2]], [1 6], i64[1] [3]",
    complex_numbers: "SparseAdd(i64 [[0]], c64 [1+1i], i64[1] [1], i64 [[0]], c64 [2+3i], i64[1] [1], 5.0) = i64 [[0]], c64 [3+4i], i64[1] [1]",
    infers: "SparseAdd(i64[?,2], f32[?], i64[?], i64[4,?], f32[?], i64[?], f32[]) : i64[?,2], f32[?], i64[2]",
    shapes_agree: "SparseAdd(i64 [[0]], [1], i64[1] [2], i64 [[0]], [1], i64[1] [3], 0) ! must have the same shape",
    in_order: "SparseAdd(i64 [[1] [0]], [1 2], i64[1] [2], i64 [[0]], [1], i64[1] [2], 0) ! comes before the row above it",
    inside: "SparseAdd(i64 [[2]], [1], i64[1] [2], i64 [[0]], [1], i64[1] [2], 0) ! row 0 of `a_indices` is [2], which does not index into shape [2]",
}
