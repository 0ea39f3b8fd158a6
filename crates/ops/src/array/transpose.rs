//! `Transpose` and `ConjugateTranspose`: permutes the axes of a tensor.

use crate::shared::axes::{ints, listed, vector};
use crate::shared::gradient::as_index;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{C64, C128, DType, PartialShape, Result, Shape, Tensor, ensure};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Transpose")
            .doc("Permutes the axes of `x`: axis `i` of the result is axis `perm[i]` of `x`.")
            .kernel(Kernel::pure(run)),
        OpDef::new("ConjugateTranspose")
            .doc("Permutes the axes of `x` as Transpose does, and conjugates complex elements.")
            .kernel(Kernel::pure(run_conjugate)),
    ]
    .map(|def| {
        def.input("x", "T")
            .input("perm", "Tperm")
            .on_host()
            .output("y", "T")
            .attr("T", AnyType)
            .attr("Tperm", IndexType.or(DType::I32))
            .infer(infer)
            .gradient(Gradient::of(grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(1)?;
    let rank = cx.input(0).rank();
    if let (Some(n), Some(rank)) = (n, rank) {
        ensure!(n == rank, "Dimension must be {rank} but is {n}"; "`perm` has {n} entries but `x` has rank {rank}");
    }
    let Some(rank) = rank.or(n).filter(|&r| r <= millstream_tensor::MAX_RANK) else { return Ok(()) };
    let perm = cx.ints(1).map(|perm| known_permutation(&perm, rank)).transpose()?.flatten();
    let shape = match perm {
        Some(perm) => PartialShape::new(perm.into_iter().map(|p| cx.input(0).dim(p))),
        None => PartialShape::unknown_of_rank(rank),
    };
    cx.set(0, shape);
    Ok(())
}

/// Returns the axes that `perm` lists, each of which occurs once. Negative numbers count from the back.
fn permutation(perm: &[i64], rank: usize) -> Result<SmallVec<[usize; 4]>> {
    ensure!(
        perm.len() == rank,
        "transpose expects a vector of size {rank}. But input(1) is a vector of size {}",
        perm.len();
        "`perm` has {} entries but `x` has rank {rank}", perm.len()
    );
    let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
    let axes = perm.iter().map(|&p| {
        let p = crate::shared::axes::axis("perm", p, rank)
            .map_err(|e| e.led_by(format!("{p} is out of range [0 .. {rank})")))?;
        ensure!(!seen[p], "{} is missing from {{{}}}.", missing(perm), listed(perm, ","); "axis {p} is listed twice in `perm` {perm:?}");
        seen[p] = true;
        Ok(p)
    });
    axes.collect()
}

/// Returns the first axis that is not listed.
fn missing(perm: &[i64]) -> i64 {
    (0..perm.len() as i64).find(|axis| !perm.contains(axis)).unwrap_or(0)
}

/// As [`permutation`] while the graph is built, when TensorFlow accepts an axis that is listed twice.
fn known_permutation(perm: &[i64], rank: usize) -> Result<Option<SmallVec<[usize; 4]>>> {
    let bad = perm.iter().find(|&&p| crate::shared::axes::axis("perm", p, rank).is_err());
    match (permutation(perm, rank), bad) {
        (Ok(axes), _) => Ok(Some(axes)),
        (Err(e), Some(p)) => Err(e.led_by(format!("perm dim {p} is out of range of input rank {rank}"))),
        (Err(_), None) => Ok(None),
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let y = transposed(cx)?;
    cx.set(0, y);
    Ok(())
}

fn run_conjugate(cx: &mut KernelCx) -> Result<()> {
    let mut y = transposed(cx)?;
    match y.dtype() {
        DType::C64 => y.make_mut_or_copy::<C64>()?.iter_mut().for_each(|v| *v = v.conj()),
        DType::C128 => y.make_mut_or_copy::<C128>()?.iter_mut().for_each(|v| *v = v.conj()),
        _ => {}
    }
    cx.set(0, y);
    Ok(())
}

fn transposed(cx: &mut KernelCx) -> Result<Tensor> {
    vector("perm", cx.input(1))
        .map_err(|e| e.led_by(format!("perm must be a vector, not {}", cx.input(1).shape())))?;
    let perm = permutation(&ints(cx.input(1))?, cx.input(0).rank())?;
    let x = cx.take(0);
    let shape = Shape::new(perm.iter().map(|&p| x.shape()[p]));
    // Axes of size 1 do not affect the order of elements. If the others keep their order, nothing moves.
    let moving = perm.iter().filter(|&&p| x.shape()[p] != 1);
    if moving.clone().zip(moving.skip(1)).all(|(a, b)| a < b) {
        return x.into_shape(shape);
    }
    let steps = x.shape().strides();
    let steps: SmallVec<[isize; 4]> = perm.iter().map(|&p| steps[p] as isize).collect();
    x.strided(shape, 0, &steps)
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let back = match cx.known_ints(1) {
        Some(perm) => {
            let mut back = vec![0; perm.len()];
            for (i, axis) in permutation(&perm, perm.len())?.into_iter().enumerate() {
                back[axis] = i as i32;
            }
            cx.ints(&back)
        }
        None => {
            let perm = cx.input(1);
            let n = as_index(cx, cx.call("Size", [perm]), cx.dtype(1));
            // Makes negative axes positive.
            cx.call("InvertPermutation", [(perm + n) % n])
        }
    };
    cx.give(0, cx.call(cx.node().op.name, [dy, back]));
    Ok(())
}

cases! {
    a_matrix: "Transpose([[1 2 3] [4 5 6]], [1 0]) = [[1 4] [2 5] [3 6]]",
    three_axes: "Transpose([[[1 2] [3 4]]], i64 [2 0 1]) = [[[1 3]] [[2 4]]]",
    nothing_moves: "Transpose([[[1 2] [3 4]]], [1 0 2]) = [[[1 2]] [[3 4]]]",
    a_scalar: "Transpose(7, i32[0] []) = 7",
    strings: "Transpose([['a' 'b']], [1 0]) = [['a'] ['b']]",
    from_the_back: "Transpose([[1 2]], [-1 0]) = [[1] [2]]",
    conjugates: "ConjugateTranspose([[1+2i 3-1i]], [1 0]) = [[1-2i] [3+1i]]",
    conjugates_reals: "ConjugateTranspose([[1.5 2.5]], [1 0]) = [[1.5] [2.5]]",
    infers: "Transpose(f32[?,3,2], [2 0 1]) : f32[2,?,3]",
    unknown_perm: "Transpose(f32[2,3], i32[?]) : f32[?,?]",
    rank_from_perm: "Transpose(f32[..], i32[3]) : f32[?,?,?]",
    twice: "Transpose([[1 2]], [0 0]) ! axis 0 is listed twice",
    wrong_length: "Transpose([[1 2]], [0]) ! `perm` has 1 entries but `x` has rank 2",
    no_such_axis: "Transpose([[1 2]], [0 2]) ! `perm` is 2",
}
