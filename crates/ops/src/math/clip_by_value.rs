//! `ClipByValue`: limits elements to a range.

use crate::number::{Real, record};
use crate::shared::elementwise::{Binary, Pair, unsupported};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, Lowering, OpDef};
use millstream_tensor::{Result, dtypes, ensure, with_element};

struct Upper;

impl<T: Real> Binary<T> for Upper {
    type Out = T;
    #[inline(always)]
    fn at(x: T, bound: T) -> T {
        x.min(bound)
    }
}

struct Lower;

impl<T: Real> Binary<T> for Lower {
    type Out = T;
    #[inline(always)]
    fn at(x: T, bound: T) -> T {
        x.max(bound)
    }
}

pub(crate) fn def() -> OpDef {
    OpDef::new("ClipByValue")
        .doc(
            "Computes `max(min(t, clip_value_max), clip_value_min)`. Each bound is a scalar or has the \
             shape of `t`. NaNs are kept.",
        )
        .input("t", "T")
        .input("clip_value_min", "T")
        .input("clip_value_max", "T")
        .output("output", "T")
        .attr("T", OneOf(dtypes!(reals)))
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run).lowered(|node| {
            record::expression(node.input_types.first()?.dtype, 3, |x| {
                (Lower::at(Upper::at(x[0], x[2]), x[1]), None)
            })
            .map(Lowering::Elements)
        }))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let shape = cx.input(0).shape().clone();
    for i in [1, 2] {
        let bound = cx.input(i).shape();
        ensure!(
            bound.rank() == 0 || *bound == shape,
            "ClipByValue: `{}` has shape {bound} but must be a scalar or have the shape {shape} of `t`",
            cx.name_of(i)
        );
    }
    with_element!(cx.input(0).dtype(), T in reals => {
        let (t, low, high) = (cx.take(0), cx.take(1), cx.take(2));
        let t = const { &Pair::<T>::of::<Upper>() }.map(t, high, &shape)?.0;
        let t = const { &Pair::<T>::of::<Lower>() }.map(t, low, &shape)?.0;
        cx.set(0, t);
        Ok(())
    }, else => Err(unsupported(cx)))
}

// Elements inside the range get their gradient; the gradients of clipped elements go to the bound.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, t, low, high) = (cx.grad(0), cx.input(0), cx.input(1), cx.input(2));
    let zero = cx.scalar(cx.dtype(0), 0.0);
    let (below, above) = (cx.call("Less", [t, low]), cx.call("Greater", [t, high]));
    if cx.wants(0) {
        cx.give(0, cx.call("SelectV2", [below | above, zero, dy]));
    }
    for (i, here) in [(1, below), (2, above)] {
        if cx.wants(i) {
            cx.give_summed(i, cx.call("SelectV2", [here, dy, zero]));
        }
    }
    Ok(())
}

cases! {
    clips: "ClipByValue([1.0 2.5 nan 5.0], 2.0, 3.0) = [2.0 2.5 nan 3.0]",
    the_lower_bound_wins: "ClipByValue([1 2 5], 4, 3) = [4 4 4]",
    bounds_per_element: "ClipByValue([1 2 5], [4 1 1], 3) = [4 2 3]",
    keeps_the_shape: "ClipByValue(f32[?,3], f32[], f32[]) : f32[?,3]",
    wants_bounds_that_fit: "ClipByValue([1 2 5], [4], 3) ! `clip_value_min` has shape [1]",
}
