//! `SpaceToBatchND`, `BatchToSpaceND`: blocks of the spatial axes moved into the batch axis, and back.

use super::pad::pad;
use super::paddings::Paddings;
use crate::shared::axes::{Sizes, empty, ints, joined, product, vector};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("SpaceToBatchND")
            .doc(
                "Pads the spatial axes (those after the batch axis) with zeros, divides each into blocks of \
                 `block_shape[i]`, and moves the position within the block into the batch axis, as its \
                 outermost part.",
            )
            .input("input", "T")
            .input("block_shape", "Tblock_shape")
            .on_host()
            .input("paddings", "Tpaddings")
            .on_host()
            .attr("Tpaddings", IndexType.or(DType::I32))
            .infer(|cx| infer(cx, to_batch))
            .kernel(Kernel::pure(run_to_batch))
            .gradient(Gradient::of(|cx| grad(cx, "BatchToSpaceND"))),
        OpDef::new("BatchToSpaceND")
            .doc(
                "The inverse of SpaceToBatchND: moves blocks of `block_shape` from the batch axis into the \
                 spatial axes, then crops these.",
            )
            .input("input", "T")
            .input("block_shape", "Tblock_shape")
            .on_host()
            .input("crops", "Tcrops")
            .on_host()
            .attr("Tcrops", IndexType.or(DType::I32))
            .infer(|cx| infer(cx, to_space))
            .kernel(Kernel::pure(run_to_space))
            .gradient(Gradient::of(|cx| grad(cx, "SpaceToBatchND"))),
    ]
    .map(|def| def.output("output", "T").attr("T", AnyType).attr("Tblock_shape", IndexType.or(DType::I32)))
}

/// The block size of an axis, and its paddings or crops.
pub(super) type Block = (usize, (usize, usize));

/// Returns the blocks and margins of the spatial axes.
pub(super) fn blocks(what: &str, sizes: &Tensor, margins: &Tensor) -> Result<SmallVec<[Block; 4]>> {
    vector("block_shape", sizes)?;
    let sizes = ints(sizes)?;
    ensure!(
        margins.shape()[..] == [sizes.len(), 2],
        "`{what}` has shape {} but `block_shape` has {} entries: it must have shape [{},2]",
        margins.shape(),
        sizes.len(),
        sizes.len()
    );
    let margins = Paddings::of(margins, sizes.len())?;
    let block = |(&size, &margin): (&i64, &(usize, usize))| match usize::try_from(size) {
        Ok(size) if size > 0 => Ok((size, margin)),
        _ => Err(invalid!("`block_shape` {sizes:?} must hold positive sizes")),
    };
    sizes.iter().zip(&margins.0).map(block).collect()
}

/// Returns the product of the block sizes.
fn volume(blocks: &[Block]) -> Result<usize> {
    let volume = blocks.iter().try_fold(1usize, |n, b| n.checked_mul(b.0));
    volume.ok_or_else(|| invalid!("the product of the sizes in `block_shape` is too large"))
}

/// Returns the batch and spatial dimensions after SpaceToBatchND.
pub(super) fn to_batch(batch: Dim, space: &[Dim], blocks: &[Block]) -> Result<(Dim, Vec<Dim>)> {
    let volume = volume(blocks)?;
    let batch = batch
        .map(|b| b.checked_mul(volume).ok_or_else(|| invalid!("the batch becomes too large")))
        .transpose()?;
    let dims = space.iter().zip(blocks).map(|(d, &(size, (before, after)))| {
        let Some(d) = *d else { return Ok(None) };
        let padded = d.checked_add(before).and_then(|d| d.checked_add(after));
        let padded = padded.ok_or_else(|| invalid!("{before} + {d} + {after} is too large"))?;
        ensure!(
            padded.is_multiple_of(size),
            "Dimension size must be evenly divisible by {size} but is {padded}";
            "an axis of size {d}, padded to {padded}, cannot be cut into blocks of {size}"
        );
        Ok(Some(padded / size))
    });
    Ok((batch, dims.collect::<Result<_>>()?))
}

/// Returns the first block size that does not divide what the earlier ones leave of the batch.
fn first_unfit(batch: usize, blocks: &[Block]) -> usize {
    let mut left = batch;
    for &(size, _) in blocks {
        if size == 0 || !left.is_multiple_of(size) {
            return size;
        }
        left /= size;
    }
    1
}

/// Returns the batch and spatial dimensions after BatchToSpaceND.
pub(super) fn to_space(batch: Dim, space: &[Dim], blocks: &[Block]) -> Result<(Dim, Vec<Dim>)> {
    let volume = volume(blocks)?;
    if let Some(b) = batch {
        ensure!(
            b.is_multiple_of(volume),
            "Dimension size must be evenly divisible by {} but is {b}",
            first_unfit(b, blocks);
            "the batch of size {b} cannot be cut into {volume} places of a block"
        );
    }
    let dims = space.iter().zip(blocks).map(|(d, &(size, (before, after)))| {
        let Some(d) = *d else { return Ok(None) };
        let whole = d.checked_mul(size).ok_or_else(|| invalid!("{d} blocks of {size} are too large"))?;
        let left = whole.checked_sub(before).and_then(|w| w.checked_sub(after));
        left.map(Some)
            .ok_or_else(|| invalid!("`crops` [{before}, {after}] exceed the axis, which has size {whole}"))
    });
    Ok((batch.map(|b| b / volume), dims.collect::<Result<_>>()?))
}

/// Checks that input `i` may hold the margins of `n` axes.
pub(super) fn margins_fit(cx: &InferCx, i: usize, n: usize) -> Result<()> {
    let wanted = PartialShape::from([n, 2]);
    ensure!(
        cx.input(i).is_compatible(&wanted),
        "{}", cx.input(i).difference(&wanted);
        "`{}` has shape {}: it must have shape {wanted}", cx.name_of(i), cx.input(i)
    );
    Ok(())
}

pub(super) type Rule = fn(Dim, &[Dim], &[Block]) -> Result<(Dim, Vec<Dim>)>;

fn infer(cx: &mut InferCx, rule: Rule) -> Result<()> {
    ensure!(
        cx.input(1).rank().is_none_or(|r| r == 1),
        "block_shape must have rank 1.";
        "`block_shape` has shape {}", cx.input(1)
    );
    let n = cx.vector(1)?;
    if let Some(n) = n {
        margins_fit(cx, 2, n)?;
    }
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    if let Some(n) = n {
        ensure!(
            dims.len() > n,
            "Shape must be at least rank {} but is rank {}", n + 1, dims.len();
            "`input` has rank {} but `block_shape` has {n} entries", dims.len()
        );
    }
    let blocks = match (cx.value(1), cx.value(2), n) {
        (Some(sizes), Some(margins), _) => blocks(cx.name_of(2), sizes, margins)?,
        (Some(sizes), None, Some(n)) => {
            // The sizes of the spatial axes depend on the margins; the batch does not.
            let of_any = blocks(cx.name_of(2), sizes, &Tensor::zeros(DType::I32, [n, 2])?)?;
            let (batch, _) = rule(dims[0], &vec![None; n], &of_any)?;
            cx.set(0, joined(&[&[batch], &vec![None; n], &dims[n + 1..]]));
            return Ok(());
        }
        (_, _, Some(n)) => {
            cx.set(0, joined(&[&vec![None; n + 1], &dims[n + 1..]]));
            return Ok(());
        }
        (_, _, None) => {
            cx.set(0, PartialShape::unknown_of_rank(dims.len()));
            return Ok(());
        }
    };
    ensure!(
        dims.len() > blocks.len(),
        "`input` has rank {} but `block_shape` has {} entries",
        dims.len(),
        blocks.len()
    );
    let (batch, space) = rule(dims[0], &dims[1..=blocks.len()], &blocks)?;
    cx.set(0, joined(&[&[batch], &space, &dims[blocks.len() + 1..]]));
    Ok(())
}

/// Returns the input, its blocks, and the output shape that `rule` computes.
fn prepare(cx: &mut KernelCx, what: &str, rule: Rule) -> Result<(Tensor, SmallVec<[Block; 4]>, Shape)> {
    let blocks = blocks(what, cx.input(1), cx.input(2))?;
    let input = cx.take(0);
    let shape = shape_of(&input, &blocks, rule)?;
    Ok((input, blocks, shape))
}

/// Returns the output shape that `rule` computes.
pub(super) fn shape_of(input: &Tensor, blocks: &[Block], rule: Rule) -> Result<Shape> {
    let n = blocks.len();
    ensure!(input.rank() > n, "`input` has rank {} but `block_shape` has {n} entries", input.rank());
    let dims: Vec<Dim> = input.shape().iter().map(|&d| Some(d)).collect();
    let (batch, space) = rule(dims[0], &dims[1..=n], blocks)?;
    let shape = [batch].into_iter().chain(space).chain(dims[n + 1..].iter().copied()).flatten();
    let shape = Shape::new(shape);
    shape.checked_elements()?;
    Ok(shape)
}

fn run_to_batch(cx: &mut KernelCx) -> Result<()> {
    let (input, blocks, shape) = prepare(cx, "paddings", to_batch)?;
    let out = moved_to_batch(input, &blocks, shape)?;
    cx.set(0, out);
    Ok(())
}

/// Moves blocks into the batch, to the shape of [`to_batch`].
pub(super) fn moved_to_batch(input: Tensor, blocks: &[Block], shape: Shape) -> Result<Tensor> {
    if shape.elements() == 0 {
        return empty(input.dtype(), shape);
    }
    let n = blocks.len();
    let margins = (0..input.rank()).map(|a| if (1..=n).contains(&a) { blocks[a - 1].1 } else { (0, 0) });
    let paddings = Paddings(margins.collect());
    let zero = Tensor::zeros(input.dtype(), Shape::scalar())?;
    let padded = if paddings.is_none() { input } else { pad(&input, &paddings, &zero)? };
    // Axes of the result: positions within blocks, batch, blocks, the rest. A position's stride is its
    // axis's; a block's is that times the block size.
    let steps = padded.shape().strides();
    let mut walk = Shape::scalar();
    let mut strides: SmallVec<[isize; 8]> = SmallVec::new();
    for (i, &(size, _)) in blocks.iter().enumerate() {
        walk.push(size);
        strides.push(steps[i + 1] as isize);
    }
    walk.push(padded.shape()[0]);
    strides.push(steps[0] as isize);
    for (i, &(size, _)) in blocks.iter().enumerate() {
        walk.push(shape[i + 1]);
        strides.push((steps[i + 1] * size) as isize);
    }
    for a in n + 1..padded.rank() {
        walk.push(shape[a]);
        strides.push(steps[a] as isize);
    }
    padded.strided(walk, 0, &strides)?.into_shape(shape)
}

fn run_to_space(cx: &mut KernelCx) -> Result<()> {
    let (input, blocks, shape) = prepare(cx, "crops", to_space)?;
    let out = moved_to_space(input, &blocks, shape)?;
    cx.set(0, out);
    Ok(())
}

/// Moves blocks out of the batch, to the shape of [`to_space`].
pub(super) fn moved_to_space(input: Tensor, blocks: &[Block], shape: Shape) -> Result<Tensor> {
    if shape.elements() == 0 {
        return empty(input.dtype(), shape);
    }
    let n = blocks.len();
    let rest = Sizes::from(&input.shape()[n + 1..]);
    // The input, viewed as (positions within blocks, batch, blocks, the rest), is walked as (batch, then
    // block and position of each axis, the rest).
    let split: Vec<usize> =
        blocks.iter().map(|b| b.0).chain([shape[0]]).chain(input.shape()[1..].iter().copied()).collect();
    let steps = Shape::from(split).strides();
    let mut walk = Shape::from([shape[0]]);
    let mut strides: SmallVec<[isize; 8]> = SmallVec::from_slice(&[steps[n] as isize]);
    let mut whole = Shape::from([shape[0]]);
    for (i, &(size, _)) in blocks.iter().enumerate() {
        walk.push(input.shape()[i + 1]);
        walk.push(size);
        strides.extend([steps[n + 1 + i] as isize, steps[i] as isize]);
        whole.push(input.shape()[i + 1] * size);
    }
    walk.push(product(&rest));
    strides.push(1);
    rest.iter().for_each(|&d| whole.push(d));
    let joined = input.strided(walk, 0, &strides)?.into_shape(whole)?;
    let begin = (0..shape.rank()).map(|a| if (1..=n).contains(&a) { blocks[a - 1].1.0 } else { 0 });
    super::slice::part(joined, &begin.collect::<Sizes>(), shape)
}

// The two ops are inverses: what one pads, the other crops.
fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    let (dy, blocks, margins) = (cx.grad(0), cx.input(1), cx.input(2));
    cx.give(0, cx.call(back, [dy, blocks, margins]));
    Ok(())
}

cases! {
    to_the_batch: "SpaceToBatchND([[[[1] [2]] [[3] [4]]]], [2 2], [[0 0] [0 0]]) = [[[[1]]] [[[2]]] [[[3]]] [[[4]]]]",
    channels_stay: "SpaceToBatchND([[[1 2] [3 4]]], i64[1] [2], [[0 0]]) = [[[1 2]] [[3 4]]]",
    pads: "SpaceToBatchND([[1 2 3]], [2], [[1 0]]) = [[0 2] [1 3]]",
    two_batches: "SpaceToBatchND([[1 2] [3 4]], [2], [[0 0]]) = [[1] [3] [2] [4]]",
    infers: "SpaceToBatchND(f32[?,5,3], [2], [[0 1]]) : f32[?,3,3]",
    infers_less: "SpaceToBatchND(f32[2,5,3], i32[1], i32[1,2]) : f32[?,?,3]",
    infers_the_batch: "SpaceToBatchND(f32[2,5,3], [2], i32[1,2]) : f32[4,?,3]",
    margins_of_each_axis: "SpaceToBatchND(f32[2,5,3], i32[1], i32[2,2]) ! Dimension 0 in both shapes must be equal, but are 2 and 1",
    does_not_divide: "SpaceToBatchND([[1 2 3]], [2], [[0 0]]) ! cannot be cut into blocks of 2",
    no_block: "SpaceToBatchND([[1 2 3]], [0], [[0 0]]) ! must hold positive sizes",
    rank_too_low: "SpaceToBatchND([1 2 3], [1], [[0 0]]) ! `input` has rank 1",
    to_space_again: "BatchToSpaceND([[[[1]]] [[[2]]] [[[3]]] [[[4]]]], [2 2], [[0 0] [0 0]]) = [[[[1] [2]] [[3] [4]]]]",
    crops: "BatchToSpaceND([[0 2] [1 3]], [2], [[1 0]]) = [[1 2 3]]",
    two_batches_again: "BatchToSpaceND([[1] [3] [2] [4]], [2], [[0 0]]) = [[1 2] [3 4]]",
    space_infers: "BatchToSpaceND(f32[4,?,3], [2], [[0 1]]) : f32[2,?,3]",
    batch_too_small: "BatchToSpaceND([[1] [2] [3]], [2], [[0 0]]) ! the batch of size 3",
    crops_too_much: "BatchToSpaceND([[1] [2]], [2], [[2 1]]) ! exceed the axis, which has size 2",
}
