//! `SelectV2`: elements chosen from one of two tensors, with broadcasting.

use super::choice::choose;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Expression, GradCx, Gradient, Kernel, KernelCx, Lowering, OpDef};
use millstream_tensor::DType::Bool;
use millstream_tensor::{Error, PartialShape, Result, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("SelectV2")
        .doc(
            "Returns the elements of `t` where `condition` is true, and those of `e` elsewhere, with \
             broadcasting.",
        )
        .input("condition", Bool)
        .input("t", "T")
        .input("e", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .infer(|cx| {
            let (c, t, e) = (cx.input(0), cx.input(1), cx.input(2));
            let shape = t.broadcast(e).and_then(|both| both.broadcast(c)).ok_or_else(|| {
                no_broadcast(c, t, e).led_by(match t.broadcast(e) {
                    None => t.no_broadcast(e),
                    Some(both) => c.no_broadcast(&both),
                })
            })?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(
            Kernel::pure(run).lowered(|node| {
                Some(Lowering::Broadcast(Expression::select(node.output_types.first()?.dtype)?))
            }),
        )
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (condition, t, e) = (cx.take(0), cx.take(1), cx.take(2));
    let shape = t.shape().broadcast(e.shape()).and_then(|both| both.broadcast(condition.shape()));
    let shape =
        shape.ok_or_else(|| no_broadcast(&condition.shape().into(), &t.shape().into(), &e.shape().into()))?;
    cx.set(0, choose(&condition, t, e, &shape)?);
    Ok(())
}

#[cold]
fn no_broadcast(condition: &PartialShape, t: &PartialShape, e: &PartialShape) -> Error {
    let words = match t.broadcast(e) {
        None => format!("then {t} and else {e}"),
        Some(_) => format!("condition {condition}, then {t}, and else {e}"),
    };
    invalid!("{words} must be broadcastable"; "SelectV2: shapes {condition} of `condition`, {t} of `t` and {e} of `e` do not broadcast")
        .with_help("dimensions must be equal, or one of them 1, counted from the last")
}

// The gradient goes to the chosen side.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, condition) = (cx.grad(0), cx.input(0));
    let zero = cx.scalar(cx.output_dtype(0), 0.0);
    if cx.wants(1) {
        cx.give_summed(1, cx.call("SelectV2", [condition, dz, zero]));
    }
    if cx.wants(2) {
        cx.give_summed(2, cx.call("SelectV2", [condition, zero, dz]));
    }
    Ok(())
}

cases! {
    elements: "SelectV2([true false], [1 2], [3 4]) = [1 4]",
    of_scalars: "SelectV2([true false], 1.0, 2.0) = [1.0 2.0]",
    columns: "SelectV2([true false], [[1 2] [3 4]], 0) = [[1 0] [3 0]]",
    all: "SelectV2(true, [1 2], [[3 4]]) = [[1 2]]",
    strings: "SelectV2([true false], \"a\", [\"c\" \"d\"]) = [\"a\" \"d\"]",
    broadcasts_shapes: "SelectV2(bool[?,1], f32[3], f32[]) : f32[?,3]",
    wants_shapes_that_fit: "SelectV2([true false], [1 2 3], 0) ! do not broadcast",
}
