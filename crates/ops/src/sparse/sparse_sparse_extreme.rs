//! `SparseSparseMaximum`, `SparseSparseMinimum`: the elementwise maximum or minimum of two sparse tensors.

use super::entries::{Entries, Step, gives, inferred, matrix, together};
use crate::number::{Lane, Num, Real};
use millstream_graph::op::spec::{Number, RealNumber};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::DType::I64;
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let op = |name, doc, run: RunFn| {
        OpDef::new(name)
            .doc(doc)
            .input("a_indices", I64)
            .input("a_values", "T")
            .input("a_shape", I64)
            .input("b_indices", I64)
            .input("b_values", "T")
            .input("b_shape", I64)
            .output("output_indices", I64)
            .output("output_values", "T")
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        op(
            "SparseSparseMaximum",
            "Computes the elementwise maximum of two sparse tensors of one shape. The result has an entry \
             wherever either tensor has one; a missing entry counts as 0.",
            |cx| {
                with_element!(cx.input(1).dtype(), T in reals => run::<T>(cx, Real::max),
                    else => Err(crate::shared::elementwise::unsupported(cx)))
            },
        )
        .attr("T", RealNumber),
        op(
            "SparseSparseMinimum",
            "Computes the elementwise minimum of two sparse tensors of one shape. The result has an entry \
             wherever either tensor has one; a missing entry counts as 0.",
            |cx| {
                with_element!(cx.input(1).dtype(), T in reals => run::<T>(cx, Real::min),
                    else => Err(crate::shared::elementwise::unsupported(cx)))
            },
        )
        .attr("T", Number),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let ((_, a), (_, b)) = (inferred(cx, 0)?, inferred(cx, 3)?);
    gives(cx, 0, None, a.or(b));
    Ok(())
}

fn run<T: Lane + Num>(cx: &mut KernelCx, pick: fn(T, T) -> T) -> Result<()> {
    let (a, b) = (Entries::of(cx, 0)?, Entries::of(cx, 3)?);
    let steps = together(&a, &b)?;
    let (x, y) = (a.values.as_slice::<T>()?, b.values.as_slice::<T>()?);
    let zero = T::int(0);
    let picked = steps.iter().map(|step| match *step {
        Step::First(i) => pick(x[i], zero),
        Step::Second(j) => pick(zero, y[j]),
        Step::Both(i, j) => pick(x[i], y[j]),
    });
    let rows = steps.iter().map(|step| match *step {
        Step::First(i) | Step::Both(i, _) => a.index(i),
        Step::Second(j) => b.index(j),
    });
    let (indices, values) = (matrix(a.rank, rows)?, Tensor::from_iter([steps.len()], picked)?);
    cx.set(0, indices);
    cx.set(1, values);
    Ok(())
}

// The gradient goes to the entry that was returned, or half to each if both were. If the 0 of a missing entry
// was returned, nothing gets it.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (a, x, b, y) = (cx.input(0), cx.input(1), cx.input(3), cx.input(4));
    let (rows, values, dvalues, dtype, g) = (cx.output(0), cx.output(1), cx.grad(1), cx.dtype(1), cx.graph());
    let at_entries = |values| {
        let parts = g.op("SparseAddGrad").inputs([values, a, b, rows]).finish();
        [parts.output(0), parts.output(1)]
    };
    let picked = at_entries(values);
    let is_picked = [(x, picked[0]), (y, picked[1])]
        .map(|(v, picked)| cx.op("Cast").input(cx.call("Equal", [v, picked])).attr("DstT", dtype).output());
    let (a_shape, b_shape, zero) = (cx.input(2), cx.input(5), cx.scalar(dtype, 0.0));
    let many = cx.op("SparseAdd").inputs([a, is_picked[0], a_shape, b, is_picked[1], b_shape, zero]).finish();
    let (many, grads) = (at_entries(many.output(1)), at_entries(dvalues));
    for (i, input) in [1, 4].into_iter().enumerate() {
        cx.give(input, cx.call("DivNoNan", [grads[i] * is_picked[i], many[i]]));
    }
    Ok(())
}

cases! {
    greater: "SparseSparseMaximum(i64 [[0] [2]], [-5 6], i64[1] [4], i64 [[2] [3]], [7 -1], i64[1] [4]) = i64 [[0] [2] [3]], [0 7 0]",
    lesser: "SparseSparseMinimum(i64 [[0] [2]], [-5 6], i64[1] [4], i64 [[2] [3]], [7 -1], i64[1] [4]) = i64 [[0] [2] [3]], [-5 6 -1]",
    lesser_floats: "SparseSparseMinimum(i64 [[0] [2]], [5.0 6.0], i64[1] [4], i64 [[2] [3]], [7.0 -1.0], i64[1] [4]) ~ i64 [[0] [2] [3]], [0.0 6.0 -1.0]",
    greater_floats: "SparseSparseMaximum(i64 [[0 1] [2 0]], [5.0 6.0], i64 [3 3], i64 [[1 1] [2 0]], [7.0 9.0], i64 [3 3]) ~ i64 [[0 1] [1 1] [2 0]], [5.0 7.0 9.0]",
    infers: "SparseSparseMaximum(i64[?,?], f32[?], i64[?], i64[?,2], f32[?], i64[?]) : i64[?,2], f32[?]",
    shapes_agree: "SparseSparseMinimum(i64 [[0]], [1], i64[1] [2], i64 [[0]], [1], i64[1] [3]) ! must have the same shape",
}
