//! `BroadcastGradientArgs`: the axes along which the gradients of broadcast operands are summed.

use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("BroadcastGradientArgs")
        .doc(
            "Returns, for each operand, the axes of the broadcast shape of `s0` and `s1` along which its \
             gradient is summed: those along which it has size 1 or that it lacks, even if the other \
             operand also has size 1. If the shapes are equal, there are none.",
        )
        .input("s0", "T")
        .on_host()
        .input("s1", "T")
        .on_host()
        .output("r0", "T")
        .output("r1", "T")
        .attr("T", IndexType.or(I32))
        .infer(|cx| {
            for i in [0, 1] {
                cx.vector(i)?;
                cx.set(i, PartialShape::unknown_of_rank(1));
            }
            Ok(())
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (s0, s1) = (cx.ints(0)?, cx.ints(1)?);
    let (mut r0, mut r1) = (Vec::new(), Vec::new());
    if s0 != s1 {
        let rank = s0.len().max(s1.len());
        let at = |s: &[i64], i: usize| {
            (i + s.len()).checked_sub(rank).and_then(|j| s.get(j).copied()).unwrap_or(1)
        };
        for i in 0..rank {
            let (a, b) = (at(&s0, i), at(&s1, i));
            ensure!(
                a == b || a == 1 || b == 1,
                "BroadcastGradientArgs: shapes {s0:?} in `s0` and {s1:?} in `s1` do not broadcast"
            );
            let axis = i64::try_from(i).map_err(|_| invalid!("too many axes"))?;
            if a == 1 {
                r0.push(axis);
            }
            if b == 1 {
                r1.push(axis);
            }
        }
    }
    let narrow = cx.input(0).dtype() == I32;
    for (i, r) in [r0, r1].iter().enumerate() {
        cx.set(
            i,
            match narrow {
                true => Tensor::from_iter([r.len()], r.iter().map(|&axis| axis as i32))?,
                false => Tensor::vector(r)?,
            },
        );
    }
    Ok(())
}

cases! {
    repeated_axes: "BroadcastGradientArgs([2 3 1], [3 4]) = [2], [0]",
    equal_shapes_have_none: "BroadcastGradientArgs([2 1], [2 1]) = i32[0] [], i32[0] []",
    ones_on_both_sides: "BroadcastGradientArgs([1 1 4], [1 3 1]) = [0 1], [0 2]",
    a_scalar: "BroadcastGradientArgs(i32[0] [], [1 1]) = [0 1], [0 1]",
    empty_tensors: "BroadcastGradientArgs([2 0], [1 1]) = i32[0] [], [0 1]",
    says_vectors: "BroadcastGradientArgs(i64[2], i64[..]) : i64[?], i64[?]",
    refuses_others: "BroadcastGradientArgs([2], [3]) ! do not broadcast",
}
