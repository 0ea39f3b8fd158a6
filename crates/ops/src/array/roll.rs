//! `Roll`: rolls a tensor along axes; elements that pass the last position reappear at the first.

use super::gather::take_along;
use crate::shared::axes::{axis, ints};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, ensure};
use smallvec::SmallVec;

pub(crate) fn def() -> OpDef {
    OpDef::new("Roll")
        .doc(
            "Rolls `input` by `shift[i]` positions along axis `axis[i]`. Elements that pass the last \
             position reappear at the first. Shifts of the same axis are added.",
        )
        .input("input", "T")
        .input("shift", "Tshift")
        .on_host()
        .input("axis", "Taxis")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tshift", IndexType)
        .attr("Taxis", IndexType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    ensure!(
        cx.input(0).rank() != Some(0),
        "{}", cx.input(0).below_rank(1);
        "`input` must have at least rank 1"
    );
    cx.scalar_or_vector(1)?;
    cx.scalar_or_vector(2)?;
    cx.merge(1, 2)?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in [1, 2] {
        ensure!(
            cx.input(i).rank() <= 1,
            "`{}` must be a scalar or a vector but has shape {}",
            cx.name_of(i),
            cx.input(i).shape()
        );
    }
    let (shifts, axes) = (ints(cx.input(1))?, ints(cx.input(2))?);
    ensure!(
        cx.input(1).shape() == cx.input(2).shape(),
        "shift and axis must have the same size";
        "`shift` has shape {} but `axis` {}; they must be equal",
        cx.input(1).shape(),
        cx.input(2).shape()
    );
    let mut out = cx.take(0);
    ensure!(out.rank() > 0, "`input` must have at least rank 1");
    let mut totals: SmallVec<[usize; 4]> = SmallVec::from_elem(0, out.rank());
    for (&shift, &a) in shifts.iter().zip(&axes) {
        let a = axis("axis", a, out.rank()).map_err(|e| e.led_by(format!("axis {a} is out of range")))?;
        let len = out.shape()[a].max(1) as i64;
        totals[a] = ((totals[a] as i64 + shift.rem_euclid(len)) % len) as usize;
    }
    // An empty tensor may have axes too long to list.
    if out.elements() == 0 {
        totals.fill(0);
    }
    for (a, &shift) in totals.iter().enumerate().filter(|(_, s)| **s != 0) {
        let len = out.shape()[a];
        let places = Charged::of((len - shift..len).chain(0..len - shift))?;
        out = take_along(&out, a, &places)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, shift, axis) = (cx.grad(0), cx.input(1), cx.input(2));
    cx.give(0, cx.call("Roll", [dy, -shift, axis]));
    Ok(())
}

cases! {
    forwards: "Roll([1 2 3 4], 1, 0) = [4 1 2 3]",
    backwards: "Roll([1 2 3 4], i64 -1, i64 0) = [2 3 4 1]",
    two_axes: "Roll([[1 2] [3 4]], [1 1], [0 -1]) = [[4 3] [2 1]]",
    shifts_add_up: "Roll([1 2 3], [1 1], [0 0]) = [2 3 1]",
    far: "Roll([1 2 3], 7, 0) = [3 1 2]",
    nothing: "Roll(f32[0] [], 1, 0) = f32[0] []",
    infers: "Roll(f32[?,3], i32[], i32[]) : f32[?,3]",
    one_axis_each: "Roll([1 2], [1 2], [0]) ! Dimension 0 in both shapes must be equal, but are 2 and 1",
    not_of_a_scalar: "Roll(1, 1, 0) ! at least rank 1",
    no_such_axis: "Roll([1], 1, 1) ! `axis` is 1",
    lengths_differ: "Roll([1], [1 1], [0]) ! they must be equal",
}
