//! `Reshape`: the same elements in another shape.

use crate::shared::axes::vector;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Lowering, OpDef};
use millstream_tensor::{DType, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Reshape")
        .doc(
            "Returns the elements of `tensor`, in order, in shape `shape`. One entry of `shape` may be -1: \
             that size is computed from the others.",
        )
        .input("tensor", "T")
        .input("shape", "Tshape")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tshape", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run).lowered(|_| Some(Lowering::SameElements)))
        .gradient(Gradient::of(grad))
}

// The output has the requested shape. A single unknown dimension is computed if the element count of the
// input is known.
pub(crate) fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(1)?;
    let asked = cx.as_shape(1)?;
    let (Some(dims), Some(count)) = (asked.dims(), cx.input(0).elements()) else {
        cx.set(0, asked);
        return Ok(());
    };
    let known = Shape::new(dims.iter().flatten().copied()).checked_elements()?;
    match dims.iter().filter(|d| d.is_none()).count() {
        0 => ensure!(
            known == count,
            "Cannot reshape a tensor with {count} elements to shape {asked} ({known} elements)";
            "{}", mismatch(count, cx.input(0), &asked)
        ),
        1 if known > 0 => {
            ensure!(
                count % known == 0,
                "Dimension size must be evenly divisible by {known} but is {count}";
                "{}", mismatch(count, cx.input(0), &asked)
            );
            let filled = PartialShape::new(dims.iter().map(|d| d.or(Some(count / known))));
            cx.set(0, filled);
            return Ok(());
        }
        1 => ensure!(
            count == 0,
            "Cannot reshape a tensor with {count} elements to shape {asked} (0 elements)";
            "{}", mismatch(count, cx.input(0), &asked)
        ),
        _ => {}
    }
    cx.set(0, asked);
    Ok(())
}

fn mismatch(count: usize, have: &PartialShape, asked: &PartialShape) -> String {
    format!("`tensor` has {count} elements (shape {have}), which do not fit `shape` {asked}")
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = reshaped(cx)?;
    cx.set(0, out);
    Ok(())
}

/// Input 0 in the shape of input 1.
pub(crate) fn reshaped(cx: &mut KernelCx) -> Result<Tensor> {
    vector("shape", cx.input(1))
        .map_err(|e| e.led_by(format!("sizes input must be 1-D, not {}", cx.input(1).shape())))?;
    let sizes = cx.ints(1)?;
    let shape = resolve(&sizes, cx.input(0).shape())?;
    ensure!(
        shape.elements() == cx.input(0).elements(),
        "Input to reshape is a tensor with {} values, but the requested shape has {}",
        cx.input(0).elements(),
        shape.elements();
        "{}",
        mismatch(cx.input(0).elements(), &cx.input(0).shape().into(), &(&shape).into())
    );
    cx.take(0).into_shape(shape)
}

/// Returns `sizes` as a shape for elements of shape `have`, with a size of -1 computed. If both are empty,
/// only their non-zero sizes count, as in TensorFlow: `[0, -1]` applied to shape `[0, 3]` is `[0, 3]`.
fn resolve(sizes: &[i64], have: &Shape) -> Result<Shape> {
    if let Some((i, size)) = sizes.iter().enumerate().find(|(_, s)| **s < -1) {
        return Err(
            invalid!("Size {i} must be non-negative, not {size}"; "dimension {size} of shape {sizes:?} is negative"),
        );
    }
    let mut holes = sizes.iter().enumerate().filter(|(_, s)| **s == -1).map(|(i, _)| i);
    let (hole, second) = (holes.next(), holes.next());
    let Some(hole) = hole else { return Shape::from_signed(sizes) };
    ensure!(
        second.is_none(),
        "Only one input size may be -1, not both {hole} and {}",
        second.unwrap_or(0);
        "`shape` {sizes:?} has more than one -1: only one size can be worked out"
    );
    let mut filled: Vec<i64> = sizes.to_vec();
    filled[hole] = 1;
    let empty = have.elements() == 0 && sizes.contains(&0);
    let (others, count) = match empty {
        false => (Shape::from_signed(&filled)?.checked_elements()?, have.elements()),
        true => {
            let others: Vec<i64> = filled.iter().copied().filter(|s| *s != 0).collect();
            let count = Shape::new(have.iter().copied().filter(|d| *d > 0));
            (Shape::from_signed(&others)?.checked_elements()?, count.checked_elements()?)
        }
    };
    ensure!(
        others > 0 || count == 0,
        "Input to reshape is a tensor with {count} values, but the requested shape has 0";
        "`tensor` has {count} elements, and `shape` {sizes:?} none"
    );
    ensure!(
        others > 0,
        "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero";
        "the size for the -1 in `shape` {sizes:?} cannot be worked out beside a size of 0"
    );
    let unfit = || -> Error {
        invalid!(
            "Input to reshape is a tensor with {count} values, but the requested shape requires a multiple of {others}";
            "`tensor` has {count} elements, which `shape` {sizes:?} cannot divide into groups of {others}"
        )
    };
    if !empty && !count.is_multiple_of(others) {
        return Err(unfit());
    }
    filled[hole] = i64::try_from(count / others).map_err(|_| unfit())?;
    Shape::from_signed(&filled)
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dx = cx.reshaped_to_input(0, dy);
    cx.give(0, dx);
    Ok(())
}

cases! {
    to_a_matrix: "Reshape([1 2 3 4 5 6], [2 3]) = [[1 2 3] [4 5 6]]",
    works_one_size_out: "Reshape([[1 2 3] [4 5 6]], i64 [3 -1]) = [[1 2] [3 4] [5 6]]",
    to_a_scalar: "Reshape([[7]], i32[0] []) = 7",
    from_a_scalar: "Reshape(7, [1 1]) = [[7]]",
    of_nothing: "Reshape(f32[0,3] [], [3 -1]) = f32[3,0] []",
    of_nothing_with_a_zero: "Reshape(f32[0,3] [], [0 -1]) = f32[0,3] []",
    strings: "Reshape(['a' 'b'], [2 1]) = [['a'] ['b']]",
    infers_the_size: "Reshape(f32[2,6], [3 -1]) : f32[3,4]",
    keeps_unknowns: "Reshape(f32[?,6], [3 -1]) : f32[3,?]",
    rank_from_the_length: "Reshape(f32[6], i32[2]) : f32[?,?]",
    nothing_known: "Reshape(f32[6], i32[?]) : f32[..]",
    two_holes: "Reshape([1 2], [-1 -1]) ! more than one -1",
    counts_differ: "Reshape([1 2 3], [2 2]) ! `tensor` has 3 elements",
    not_divisible: "Reshape([1 2 3], [2 -1]) ! `tensor` has 3 elements",
    beside_zero: "Reshape([1], [0 -1]) ! `tensor` has 1 elements",
    shape_is_a_vector: "Reshape([1], 1) ! `shape` must have rank 1",
    negative: "Reshape([1], [-2]) ! neither -1 nor a size",
}
