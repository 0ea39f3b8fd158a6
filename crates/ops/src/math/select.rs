//! `Select`: elements or rows chosen from one of two tensors.

use super::choice::choose;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{
    Expression, GradCx, Gradient, InferCx, Kernel, KernelCx, Lowering, NodeInfo, OpDef,
};
use millstream_tensor::DType::Bool;
use millstream_tensor::{PartialShape, Result, Shape, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Select")
        .doc(
            "Returns the elements of `t` where `condition` is true, and those of `e` elsewhere. `t` and `e` \
             must have the same shape. `condition` has that shape, or is a scalar, or is a vector with an \
             entry for each row.",
        )
        .input("condition", Bool)
        .input("t", "T")
        .input("e", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .infer(infer)
        .kernel(
            Kernel::pure(run).lowered(|node| {
                Some(Lowering::Elements(Expression::select(node.output_types.first()?.dtype)?))
            }),
        )
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = cx.merge(1, 2)?;
    let condition = cx.input(0);
    let shape = match (condition.rank(), shape.rank()) {
        (Some(0), _) | (None, _) => shape,
        (Some(1), Some(rank)) if rank != 1 => {
            let rows = condition.dim(0).zip(shape.dim(0));
            ensure!(
                rank > 0,
                "Shapes must be equal rank, but are 0 and 1";
                "Select: `condition` has shape {condition}, but `t` and `e` are scalars"
            );
            ensure!(
                rows.is_none_or(|(a, b)| a == b),
                "{}",
                PartialShape::new([condition.dim(0)]).difference(&PartialShape::new([shape.dim(0)]));
                "Select: `condition` has shape {condition}, which is neither {shape} nor the number of its rows"
            );
            shape
        }
        (Some(1), None) => shape,
        _ => shape.merge(condition).ok_or_else(|| {
            // TensorFlow's message begins with the condition only if that is a vector.
            let words = match condition.rank() {
                Some(1) => condition.difference(&shape),
                _ => shape.difference(condition),
            };
            invalid!("{words}"; "Select: `condition` has shape {condition} but `t` and `e` have shape {shape}; they must be equal")
        })?,
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (condition, t, e) = (cx.take(0), cx.take(1), cx.take(2));
    let shape = t.shape().clone();
    ensure!(
        shape == *e.shape(),
        "{}",
        unlike(cx.node, condition.shape(), &shape, e.shape());
        "Select: `t` has shape {shape} and `e` has shape {}; they must be equal",
        e.shape()
    );
    let own = condition.shape().clone();
    let condition = if own.rank() == 0 || own == shape {
        condition
    } else {
        ensure!(
            own.rank() == 1 && shape.rank() > 1 && own.first() == shape.first(),
            "{}",
            match (own.rank(), shape.rank()) {
                (1, 2..) => batches(&own, &shape),
                (1, 0) => format!("'then' must be at least a vector, but saw shape: {shape}"),
                _ => format!(
                    "Inputs to operation {} of type Select must have the same size and shape.  Input 0: {own} \
                     != input 1: {shape}",
                    cx.node.name
                ),
            };
            "Select: `condition` has shape {own}, which is neither {shape} nor the number of its rows"
        );
        condition
            .into_shape(Shape::new(shape.iter().enumerate().map(|(i, &d)| if i == 0 { d } else { 1 })))?
    };
    cx.set(0, choose(&condition, t, e, &shape)?);
    Ok(())
}

fn batches(condition: &Shape, t: &Shape) -> String {
    format!("Number of batches of 'then' must match size of 'cond', but saw: {} vs. {}", t[0], condition[0])
}

/// Returns TensorFlow's message for values of different shapes: its checks depend on the condition's rank.
fn unlike(node: &NodeInfo, condition: &Shape, t: &Shape, e: &Shape) -> String {
    let start =
        format!("Inputs to operation {} of type Select must have the same size and shape.", node.name);
    match condition.rank() {
        _ if condition == t => format!("{start}  Input 0: {condition} != input 2: {e}"),
        1 if t.rank() == 0 => format!("'then' must be at least a vector, but saw shape: {t}"),
        1 if t.rank() > 1 && condition[0] != t[0] => batches(condition, t),
        0 | 1 if condition.rank() != t.rank() => {
            format!("'then' and 'else' must have the same size.  but received: {t} vs. {e}")
        }
        _ => format!("{start}  Input 0: {condition} != input 1: {t}"),
    }
}

// The gradient goes to the chosen side.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    let zeros = cx.zeros_like(dz);
    let condition = cx.input(0);
    cx.give(1, cx.call("Select", [condition, dz, zeros]));
    cx.give(2, cx.call("Select", [condition, zeros, dz]));
    Ok(())
}

cases! {
    elements: "Select([true false], [1 2], [3 4]) = [1 4]",
    all: "Select(false, [1 2], [3 4]) = [3 4]",
    rows: "Select([true false], [[1 2] [3 4]], [[5 6] [7 8]]) = [[1 2] [7 8]]",
    strings: "Select([true false], [\"a\" \"b\"], [\"c\" \"d\"]) = [\"a\" \"d\"]",
    merges_shapes: "Select(bool[..], f32[?,3], f32[2,?]) : f32[2,3]",
    rows_must_agree: "Select([true], [[1 2] [3 4]], [[5 6] [7 8]]) ! the number of its rows",
    wants_equal_shapes: "Select(true, [1 2], [3]) ! they must be equal",
    ranks_must_agree: "Select([[true]], [1], [5]) ! they must be equal",
}
