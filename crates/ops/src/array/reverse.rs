//! `Reverse` and `ReverseV2`: reverses a tensor along some axes.

use crate::shared::axes::{axis, ints, vector};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, MAX_RANK, Result, Tensor, ensure};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Reverse")
            .doc("Reverses `tensor` along the axes for which `dims` is true.")
            .input("tensor", "T")
            .input("dims", DType::Bool)
            .on_host(),
        OpDef::new("ReverseV2")
            .doc("Reverses `tensor` along the axes in `axis`.")
            .input("tensor", "T")
            .input("axis", "Tidx")
            .on_host()
            .attr("Tidx", IndexType.or(DType::I32)),
    ]
    .map(|def| {
        def.output("output", "T")
            .attr("T", AnyType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let rank = cx.vector(1)?.filter(|n| *n <= MAX_RANK && cx.dtype(1) == DType::Bool);
    if let (Some(rank), Some(which)) = (cx.input(0).rank(), cx.value(1)) {
        chosen(which, rank)?;
    }
    // A mask has an entry for each axis.
    if let Some(rank) = rank {
        let shape = cx.with_rank(0, rank)?;
        cx.set(0, shape);
        return Ok(());
    }
    cx.same_as_input()
}

/// Returns, for each axis, whether it is reversed.
fn chosen(which: &Tensor, rank: usize) -> Result<SmallVec<[bool; 4]>> {
    if which.dtype() == DType::Bool {
        vector("dims", which)?;
        let flags = which.as_slice::<bool>()?;
        ensure!(flags.len() == rank, "`dims` has {} entries but `tensor` has rank {rank}", flags.len());
        return Ok(flags.iter().copied().collect());
    }
    vector("axis", which)?;
    let mut reversed: SmallVec<[bool; 4]> = SmallVec::from_elem(false, rank);
    for (i, a) in ints(which)?.into_iter().enumerate() {
        let a = axis("axis", a, rank).map_err(|e| {
            e.led_by(format!("'axis'[{i}] = {a} is out of valid range [0, {}", rank as i64 - 1))
        })?;
        ensure!(!reversed[a], "axis {a} specified more than once."; "axis {a} is listed twice in `axis`");
        reversed[a] = true;
    }
    Ok(reversed)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reversed = chosen(cx.input(1), cx.input(0).rank())?;
    let tensor = cx.take(0);
    if tensor.elements() < 2 || !reversed.contains(&true) {
        cx.set(0, tensor);
        return Ok(());
    }
    let mut offset = 0;
    let steps = tensor.shape().iter().zip(tensor.shape().strides()).zip(&reversed).map(|((&d, s), &back)| {
        if back {
            offset += (d - 1) as isize * s as isize;
        }
        if back { -(s as isize) } else { s as isize }
    });
    let steps: SmallVec<[isize; 4]> = steps.collect();
    let out = tensor.strided(tensor.shape().clone(), offset, &steps)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, axes) = (cx.grad(0), cx.input(1));
    cx.give(0, cx.call(cx.node().op.name, [dy, axes]));
    Ok(())
}

cases! {
    a_vector: "ReverseV2([1 2 3], [0]) = [3 2 1]",
    both_axes: "ReverseV2([[1 2] [3 4]], i64 [0 -1]) = [[4 3] [2 1]]",
    no_axis: "ReverseV2([1 2 3], i32[0] []) = [1 2 3]",
    by_flags: "Reverse([[1 2] [3 4]], [false true]) = [[2 1] [4 3]]",
    nothing: "ReverseV2(f32[0,2] [], [0 1]) = f32[0,2] []",
    strings: "ReverseV2(['a' 'b'], [0]) = ['b' 'a']",
    infers: "ReverseV2(f32[?,3], i32[?]) : f32[?,3]",
    infers_from_the_mask: "Reverse(f32[..], bool[3]) : f32[?,?,?]",
    twice: "ReverseV2([[1]], [0 -2]) ! axis 0 is listed twice",
    no_such_axis: "ReverseV2([1 2], [1]) ! `axis` is 1",
    flags_per_axis: "Reverse([1 2], [true false]) ! `dims` has 2 entries but `tensor` has rank 1",
}
