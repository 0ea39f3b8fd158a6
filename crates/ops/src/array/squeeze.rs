//! `Squeeze`: removes axes of size 1.

use crate::shared::axes::axis;
use millstream_graph::op::spec::{AnyType, IntList, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Lowering, OpDef};
use millstream_tensor::{Dim, PartialShape, Result, Shape, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Squeeze")
        .doc("Removes the axes of size 1 that `squeeze_dims` lists, or all of them if it is empty.")
        .input("input", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .attr("squeeze_dims", IntList.or(Vec::<i64>::new()))
        .infer(infer)
        .kernel(Kernel::pure(run).lowered(|_| Some(Lowering::SameElements)))
        .gradient(Gradient::of(grad))
}

// If no axes are listed, an unknown dimension may or may not be removed, so even the rank is unknown.
fn infer(cx: &mut InferCx) -> Result<()> {
    let asked = cx.attrs().ints("squeeze_dims")?;
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    if asked.is_empty() && dims.contains(&None) {
        return Ok(());
    }
    let rank = dims.len() as i64;
    if let Some(i) = asked.iter().position(|a| !(-rank..rank).contains(a)) {
        return Err(
            invalid!("squeeze_dims[{i}] not in [{},{rank}).", -rank; "`squeeze_dims` is {}, which is not in {}..{rank} for rank {rank}", asked[i], -rank),
        );
    }
    let kept = kept(dims, &asked)?;
    cx.set(0, PartialShape::new(kept));
    Ok(())
}

/// Returns the dimensions that are kept.
fn kept(dims: &[Dim], asked: &[i64]) -> Result<Vec<Dim>> {
    if asked.is_empty() {
        return Ok(dims.iter().copied().filter(|d| *d != Some(1)).collect());
    }
    let mut kept: Vec<Option<Dim>> = dims.iter().copied().map(Some).collect();
    for &a in asked {
        let words = format!("Tried to squeeze dim index {a} for tensor with {} dimensions.", dims.len());
        let a = axis("squeeze_dims", a, dims.len()).map_err(|e| e.led_by(words))?;
        if let Some(size) = dims[a] {
            ensure!(size == 1, "Can not squeeze dim[{a}], expected a dimension of 1, got {size}"; "axis {a} of `input` has size {size}: only axes of size 1 can be squeezed");
        }
        kept[a] = None;
    }
    Ok(kept.into_iter().flatten().collect())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let asked = cx.attrs().ints("squeeze_dims")?;
    let dims: Vec<Dim> = cx.input(0).shape().iter().map(|&d| Some(d)).collect();
    let shape = Shape::new(kept(&dims, &asked)?.into_iter().flatten());
    let out = cx.take(0).into_shape(shape)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dims = cx.attrs().ints("squeeze_dims")?;
    let dx = match dims.as_slice() {
        &[axis] if !cx.input_shape(0).is_full() => cx.op("ExpandDims").input(dy).input(axis as i32).output(),
        _ => cx.reshaped_to_input(0, dy),
    };
    cx.give(0, dx);
    Ok(())
}

cases! {
    all_of_them: "Squeeze([[[1] [2]]]) = [1 2]",
    the_first: "Squeeze([[[1] [2]]]; squeeze_dims={0}) = [[1] [2]]",
    from_the_back: "Squeeze([[[1] [2]]]; squeeze_dims={-1, 0}) = [1 2]",
    to_a_scalar: "Squeeze(['a']) = 'a'",
    unknown_rank: "Squeeze(f32[1,?]) : f32[..]",
    unknown_dims: "Squeeze(f32[1,?,3]; squeeze_dims={1}) : f32[1,3]",
    too_large: "Squeeze([[1 2]]; squeeze_dims={1}) ! axis 1 of `input` has size 2",
    no_such_axis: "Squeeze([[1]]; squeeze_dims={2}) ! `squeeze_dims` is 2, which is not in -2..2",
}
