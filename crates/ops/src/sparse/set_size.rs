//! `SetSize`: the numbers of elements of sets.

use super::entries::inferred;
use super::sets::{Operand, Place, TYPES};
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, I32, I64};
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, invalid, with_element};
use std::ops::Range;

pub(crate) fn def() -> OpDef {
    OpDef::new("SetSize")
        .doc(
            "Returns the number of distinct elements of each set: of the entries of a sparse tensor along its last \
             axis. The entries must be in row-major order.",
        )
        .input("set_indices", I64)
        .input("set_values", "T")
        .input("set_shape", I64)
        .output("size", I32)
        .attr("validate_indices", Bool.or(true))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        // Copies of a value and of its index.
        .kernel(Kernel::pure(run).cost(Cost::PerElement(50.0)).scratch(40))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (_, rank) = inferred(cx, 0)?;
    let sizes = cx.ints(2);
    let shape = match (sizes.as_deref(), rank) {
        (Some([lead @ .., _]), _) => PartialShape::new(lead.iter().map(|d| usize::try_from(*d).ok())),
        (_, Some(rank)) => PartialShape::unknown_of_rank(rank.saturating_sub(1)),
        _ => PartialShape::unknown(),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let operand = Operand::sparse(cx, 0)?;
    let out = match cx.input(1).dtype() {
        DType::Str => {
            let sets = operand.of_strings()?;
            sizes(&sets.lead, &sets.sets)
        }
        dtype => with_element!(dtype, T in [I8 I16 I32 I64 U8 U16] => {
            let sets = operand.of_plain::<T>()?;
            sizes(&sets.lead, &sets.sets)
        }, else => Err(crate::number::no_kernel("SetSize", dtype))),
    }?;
    cx.set(0, out);
    Ok(())
}

fn sizes(lead: &[i64], sets: &[(Place, Range<usize>)]) -> Result<Tensor> {
    let dims: Option<Vec<usize>> = lead.iter().map(|d| usize::try_from(*d).ok()).collect();
    let shape = Shape::from(dims.ok_or_else(|| invalid!("`set_shape` {lead:?} is too large"))?);
    shape.checked_elements()?;
    let strides = shape.strides();
    let mut out = Tensor::zeros(I32, shape)?;
    let cells = crate::shared::elementwise::fresh::<i32>(&mut out)?;
    let mut pace = Pace::new();
    for (place, items) in sets {
        pace.spend(1)?;
        let at: usize = place.iter().zip(&strides).map(|(at, s)| *at as usize * s).sum();
        cells[at] = i32::try_from(items.len()).unwrap_or(i32::MAX);
    }
    Ok(out)
}

cases! {
    counts: "SetSize(i64 [[0 0] [0 1] [2 0]], [7 7 5], i64 [3 2]) = [1 0 1]",
    of_strings: "SetSize(i64 [[0 0] [0 1]], ['a' 'b'], i64 [1 2]) = [2]",
    more_axes: "SetSize(i64 [[0 0 0] [1 0 1]], [7 8], i64 [2 1 2]) = [[1] [1]]",
    of_nothing: "SetSize(i64[0,2] [], i32[0] [], i64 [2 2]) = [0 0]",
    infers: "SetSize(i64[?,3], i32[?], i64[?]) : i32[?,?]",
    infers_sizes: "SetSize(i64[?,2], i32[?], i64 [4 2]) : i32[4]",
    in_order: "SetSize(i64 [[0 1] [0 0]], [7 8], i64 [1 2]) ! is out of order",
    once: "SetSize(i64 [[0 0] [0 0]], [7 8], i64 [1 2]) ! is repeated",
    an_axis_of_elements: "SetSize(i64 [[0] [1]], [7 8], i64[1] [2]) ! the last axis holds the elements of the sets",
}
