//! `SparseTensorDenseMatMul`: the product of a sparse matrix and a dense one.

use super::entries::{Entries, inferred};
use crate::number::{Lane, Num};
use millstream_graph::Output;
use millstream_graph::op::spec::{AnyType, Bool, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, ensure, invalid, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseTensorDenseMatMul")
        .doc(
            "Multiplies the sparse matrix `a` by the dense matrix `b`. `adjoint_a` and `adjoint_b` take the \
             adjoint (conjugate transpose) of a side first. The entries of `a` may be in any order.",
        )
        .input("a_indices", "Tindices")
        .input("a_values", "T")
        .input("a_shape", I64)
        .input("b", "T")
        .output("product", "T")
        .attr("T", AnyType)
        .attr("Tindices", IndexType.or(I64))
        .attr("adjoint_a", Bool.or(false))
        .attr("adjoint_b", Bool.or(false))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (aa, ab) = (cx.attrs().bool("adjoint_a")?, cx.attrs().bool("adjoint_b")?);
    let (_, rank) = inferred(cx, 0)?;
    ensure!(rank.is_none_or(|r| r == 2), "`a_shape` has shape {} but must have two entries", cx.input(2));
    let a = cx.as_shape(2)?;
    let a = a
        .merge(&PartialShape::unknown_of_rank(2))
        .ok_or_else(|| invalid!("`a` must be a matrix but has shape {a}"))?;
    let b = cx.with_rank(3, 2)?;
    let turned = |s: &PartialShape, t: bool| if t { (s.dim(1), s.dim(0)) } else { (s.dim(0), s.dim(1)) };
    let ((m, k), (k2, n)) = (turned(&a, aa), turned(&b, ab));
    ensure!(k.is_none() || k2.is_none() || k == k2, "{}", unequal(k.unwrap_or(0), k2.unwrap_or(0)); "{}", inner(&a, aa, &b, ab));
    cx.set(0, [m, n]);
    Ok(())
}

fn inner(a: &PartialShape, aa: bool, b: &PartialShape, ab: bool) -> String {
    let turned = |t: bool| if t { " (adjoint)" } else { "" };
    format!(
        "the inner dimensions of a product must agree: `a` has shape {a}{}, `b` has shape {b}{}",
        turned(aa),
        turned(ab)
    )
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (aa, ab) = (cx.attrs().bool("adjoint_a")?, cx.attrs().bool("adjoint_b")?);
    let (a, b) = (Entries::of(cx, 0)?, cx.input(3));
    ensure!(a.rank == 2, "`a` must be a matrix but has {} axes", a.rank);
    let [r, c] = b.shape()[..] else {
        return Err(invalid!("`b` must be a matrix but has shape {}", b.shape()));
    };
    let a_shape = Shape::from_signed(&a.shape)?;
    let (m, k) = if aa { (a_shape[1], a_shape[0]) } else { (a_shape[0], a_shape[1]) };
    let (k2, n) = if ab { (c, r) } else { (r, c) };
    ensure!(k == k2, "{}", inner(&(&a_shape).into(), aa, &b.shape().into(), ab));
    let out = with_element!(b.dtype(), T in numbers => multiply::<T>(&a, aa, b, ab, [m, n]),
        else => Err(crate::shared::elementwise::unsupported(cx)))?;
    cx.set(0, out);
    Ok(())
}

fn multiply<T: Lane + Num>(a: &Entries, aa: bool, b: &Tensor, ab: bool, shape: [usize; 2]) -> Result<Tensor> {
    let n = shape[1];
    let mut out = Tensor::zeros(b.dtype(), shape)?;
    // With a row-major `b`, the inner loop runs over contiguous slices.
    let b = match ab {
        true => b.strided([b.shape()[1], b.shape()[0]], 0, &[1, b.shape()[1] as isize])?,
        false => b.clone(),
    };
    let (values, b) = (a.values.as_slice::<T>()?, b.as_slice::<T>()?);
    let cells = out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
    let mut pace = Pace::new();
    for (row, &value) in values.iter().enumerate() {
        pace.spend(1 + n)?;
        let (i, j) = (a.index(row)[0] as usize, a.index(row)[1] as usize);
        let (i, j, value) = if aa { (j, i, value.conj()) } else { (i, j, value) };
        for (o, &y) in cells[i * n..(i + 1) * n].iter_mut().zip(&b[j * n..(j + 1) * n]) {
            *o = o.add(value.mul(if ab { y.conj() } else { y }));
        }
    }
    Ok(out)
}

// P = A B: dB = Aᴴ dP, and the gradient of an entry at row i and column j of A is the dot product of row i of
// dP and row j of B.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.dtype(1).is_complex() {
        return Err(Error::unimplemented(
            "the gradient of a sparse product of complex numbers is not computed, as in TensorFlow",
        ));
    }
    let (dp, indices) = (cx.grad(0), cx.input(0));
    let (a, b) = (cx.attrs().bool("adjoint_a")?, cx.attrs().bool("adjoint_b")?);
    if cx.wants(3) {
        let (values, shape) = (cx.input(1), cx.input(2));
        let db = cx
            .op("SparseTensorDenseMatMul")
            .inputs([indices, values, shape, dp])
            .attr("adjoint_a", !a)
            .output();
        cx.give(3, if b { turned(cx, db) } else { db });
    }
    if cx.wants(1) {
        let dense = cx.input(3);
        let dense = if b { turned(cx, dense) } else { dense };
        let (row, column) = if a { (1, 0) } else { (0, 1) };
        let products = rows_at(cx, dp, indices, row) * rows_at(cx, dense, indices, column);
        cx.give(1, cx.op("Sum").input(products).input([1]).output());
    }
    Ok(())
}

fn turned<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    cx.op("Transpose").input(x).input([1, 0]).output()
}

/// Returns the rows of `x` at the numbers in column `i` of `indices`.
fn rows_at<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, indices: Output<'g>, i: i32) -> Output<'g> {
    let column = cx.op("StridedSlice").input(indices).input([0, i]).input([0, i + 1]).input([1, 1]);
    let column = column.attr("begin_mask", 1).attr("end_mask", 1).attr("shrink_axis_mask", 2).output();
    cx.op("GatherV2").input(x).input(column).input(0).output()
}

cases! {
    multiplies: "SparseTensorDenseMatMul(i64 [[0 1] [2 0]], [5 6], i64 [3 3], [[1 2] [3 4] [5 6]]) = [[15 20] [0 0] [6 12]]",
    adjoint_of_a: "SparseTensorDenseMatMul(i64 [[0 1]], [5.0], i64 [2 3], [[1.0] [2.0]]; adjoint_a=true) = [[0.0] [5.0] [0.0]]",
    adjoint_of_b: "SparseTensorDenseMatMul([[0 1]], [5], i64 [1 2], [[1 2] [3 4]]; adjoint_b=true) = [[10 20]]",
    conjugates: "SparseTensorDenseMatMul(i64 [[0 0]], c64 [1+2i], i64 [1 1], c64 [[1+1i]]; adjoint_a=true) = c64 [[3-1i]]",
    twice_the_same: "SparseTensorDenseMatMul(i64 [[0 0] [0 0]], [1 2], i64 [1 1], [[10]]) = [[30]]",
    infers: "SparseTensorDenseMatMul(i64[?,2], f32[?], i64 [5 3], f32[?,4]) : f32[5,4]",
    inner_dimensions: "SparseTensorDenseMatMul(i64 [[0 0]], [1], i64 [1 2], [[1]]) ! inner dimensions",
    inside: "SparseTensorDenseMatMul(i64 [[0 2]], [1], i64 [1 2], [[1] [2]]) ! row 0 of `a_indices` is [0, 2]",
    of_matrices: "SparseTensorDenseMatMul(i64 [[0]], [1], i64[1] [1], [[1]]) ! two entries",
}
