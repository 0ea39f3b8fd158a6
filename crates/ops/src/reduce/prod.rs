//! `Prod`: the product along axes.

use super::gradients::{all_and_reduced_axes, reduced_axes, with_reduced_axes};
use super::reduction::reduction;
use crate::number::no_kernel;
use crate::shared::dims::Dims;
use crate::shared::fold::Reduction;
use crate::shared::folds::Prod;
use millstream_graph::Output;
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    reduction("Prod", run)
        .doc(
            "Computes the product of the elements along `reduction_indices`. It is 1 for no elements. \
             Integers wrap around.",
        )
        .input("input", "T")
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", spec::Number)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let reduction = Reduction::of(cx)?;
    let out = if reduction.is_trivial() {
        reduction.unreduced()?
    } else {
        with_element!(reduction.dtype(), T in numbers => reduction.fold::<Prod<T>>(), else => Err(no_kernel("Prod", reduction.dtype())))?
    };
    cx.set(0, out);
    Ok(())
}

// The derivative by an element is the product of all others: of those before it and those after it. The
// product of all divided by the element would fail for 0.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dy = with_reduced_axes(cx, dy);
    let x = cx.input(0);
    let x = cx.conj(x);
    let others = match cx.known_ints(1).as_deref() {
        Some([]) => cx.call("OnesLike", [x]),
        Some(&[axis]) => others_along(cx, x, axis as i32),
        _ => {
            // The reduced axes are moved to the front and merged.
            let (perm, back, first) = reduced_first(cx);
            let turned = cx.call("Transpose", [x, perm]);
            let matrix = Dims::joined(cx, &[first.product(cx), Dims::Known(vec![-1])]).output(cx);
            let others = others_along(cx, cx.call("Reshape", [turned, matrix]), 0);
            let shape = cx.shape_of(turned);
            let others = cx.call("Reshape", [others, shape]);
            cx.call("Transpose", [others, back])
        }
    };
    cx.give(0, dy * others);
    Ok(())
}

/// Returns, for each element, the product of all others along an axis.
fn others_along<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, axis: i32) -> Output<'g> {
    let before = cx.op("Cumprod").input(x).input(axis).attr("exclusive", true);
    let behind = cx.op("Cumprod").input(x).input(axis).attr("exclusive", true).attr("reverse", true);
    before.output() * behind.output()
}

/// Returns the permutation that moves the reduced axes to the front, its inverse, and the reduced dimensions.
fn reduced_first<'g>(cx: &mut GradCx<'g, '_>) -> (Output<'g>, Output<'g>, Dims<'g>) {
    if let (Some(axes), Some(rank)) = (reduced_axes(cx), cx.input_shape(0).rank()) {
        let others = (0..rank).filter(|axis| !axes.contains(axis));
        let perm: Vec<i32> = axes.iter().copied().chain(others).map(|axis| axis as i32).collect();
        let mut back = vec![0; rank];
        perm.iter().enumerate().for_each(|(i, &axis)| back[axis as usize] = i as i32);
        let shape = Dims::of_input(cx, 0);
        let first: Vec<Dims<'g>> =
            axes.iter().map(|&axis| shape.part(cx, axis as i32, Some(axis as i32 + 1))).collect();
        return (cx.ints(&perm), cx.ints(&back), Dims::joined(cx, &first));
    }
    let (all, axes) = all_and_reduced_axes(cx);
    let others = cx.call("ListDiff", [all, axes]);
    let perm = cx.op("ConcatV2").inputs([axes, others]).input(0).output();
    let shape = cx.shape_of_input(0);
    let first = cx.op("GatherV2").input(shape).input(axes).input(0).output();
    (perm, cx.call("InvertPermutation", [perm]), Dims::Made(first))
}

cases! {
    multiplies_rows: "Prod([[1 2] [3 4]], [1]) = [2 12]",
    of_nothing: "Prod(f32[0] [], 0) = 1.0",
    keeps_dims: "Prod([[1 2] [3 4]], 0; keep_dims=true) = [[3 8]]",
    shape: "Prod(f32[?,3], -1) : f32[?]",
    axis_out_of_range: "Prod(3, 0) ! `reduction_indices` is 0 but the input has rank 0",
}
