//! `SparseMatMul`: the product of two matrices of which many elements are zero.

use super::mat_mul;
use super::matrices::product_of;
use crate::shared::casting::cast;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{BF16, F32};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseMatMul")
        .doc(
            "Multiplies two matrices, in f32. `transpose_a` and `transpose_b` transpose a side first. \
             `a_is_sparse` and `b_is_sparse` say that many elements of a side are zero, and do not change the \
             result.",
        )
        .input("a", "Ta")
        .input("b", "Tb")
        .output("product", F32)
        .attr("transpose_a", Bool.or(false))
        .attr("transpose_b", Bool.or(false))
        .attr("a_is_sparse", Bool.or(false))
        .attr("b_is_sparse", Bool.or(false))
        .attr("Ta", OneOf(&[F32, BF16]).or(F32))
        .attr("Tb", OneOf(&[F32, BF16]).or(F32))
        .infer(mat_mul::infer)
        .kernel(Kernel::pure(run).cost(Cost::Estimate(mat_mul::cost)))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (a, b) = (cast(cx.input(0), F32)?, cast(cx.input(1), F32)?);
    let out = mat_mul::multiply(cx.node, &a, &b, &*cx.env.host)?;
    cx.set(0, out);
    Ok(())
}

// For P = A B, with transposed sides: dA = dP Bᵀ, dB = Aᵀ dP, transposed again.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (ta, tb) = (cx.attrs().bool("transpose_a")?, cx.attrs().bool("transpose_b")?);
    let (dy, a, b) = (cx.grad(0), cx.input(0), cx.input(1));
    let [wide_a, wide_b] = [a, b].map(|x| cx.op("Cast").input(x).attr("DstT", F32).output());
    let da = match ta {
        false => product_of(cx, (dy, false), (wide_b, !tb)),
        true => product_of(cx, (wide_b, tb), (dy, true)),
    };
    let db = match tb {
        false => product_of(cx, (wide_a, !ta), (dy, false)),
        true => product_of(cx, (dy, true), (wide_a, ta)),
    };
    for (i, grad) in [da, db].into_iter().enumerate() {
        cx.give(i, cx.op("Cast").input(grad).attr("DstT", cx.dtype(i)).output());
    }
    Ok(())
}

cases! {
    multiplies: "SparseMatMul([[1.0 2.0] [0.0 4.0]], [[5.0 6.0] [7.0 0.0]]; a_is_sparse=true) = [[19.0 6.0] [28.0 0.0]]",
    transposes: "SparseMatMul([[1.0 2.0 3.0] [0.0 4.0 5.0]], [[5.0 7.0] [6.0 0.0]]; transpose_a=true, transpose_b=true) = [[5.0 6.0] [38.0 12.0] [50.0 18.0]]",
    one_side: "SparseMatMul([[1.0 2.0]], [[3.0 4.0]]; transpose_b=true) = [[11.0]]",
    other_side: "SparseMatMul([[1.0 2.0]], [[3.0 4.0]]; transpose_a=true) = [[3.0 4.0] [6.0 8.0]]",
    of_halves: "SparseMatMul(bf16 [[1.0 2.0]], [[3.0] [4.0]]) = [[11.0]]",
    infers: "SparseMatMul(f32[?,3], bf16[3,4]) : f32[?,4]",
    inner_sizes: "SparseMatMul([[1.0 2.0]], [[3.0]]) ! the inner dimensions of a product must agree",
    matrices: "SparseMatMul([1.0 2.0], [[3.0]]) ! `a`",
}
