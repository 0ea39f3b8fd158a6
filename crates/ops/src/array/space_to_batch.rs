//! `SpaceToBatch`, `BatchToSpace`: square blocks of images moved into the batch axis, and back.

use super::space_to_batch_nd::{
    Block, Rule, blocks, margins_fit, moved_to_batch, moved_to_space, shape_of, to_batch, to_space,
};
use crate::shared::axes::joined;
use millstream_graph::Attrs;
use millstream_graph::op::spec::{AnyType, AtLeast, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, Tensor, ensure};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("SpaceToBatch")
            .doc(
                "Pads the rows and columns of images (`[batch, rows, columns, channels]`) with zeros, divides \
                 them into blocks of `block_size` by `block_size` pixels, and moves the position within the \
                 block into the batch axis, as its outermost part. `SpaceToBatchND` takes blocks of any shape.",
            )
            .input("input", "T")
            .input("paddings", "Tpaddings")
            .on_host()
            .output("output", "T")
            .attr("T", AnyType)
            .attr("Tpaddings", IndexType.or(DType::I32))
            .attr("block_size", AtLeast(2))
            .infer(|cx| infer(cx, to_batch))
            .kernel(Kernel::pure(|cx| run(cx, to_batch, moved_to_batch)))
            .gradient(Gradient::of(|cx| grad(cx, "BatchToSpace"))),
        OpDef::new("BatchToSpace")
            .doc(
                "The inverse of `SpaceToBatch`: moves blocks of `block_size` by `block_size` pixels from the \
                 batch axis into the rows and columns of images, then crops these.",
            )
            .input("input", "T")
            .input("crops", "Tidx")
            .on_host()
            .output("output", "T")
            .attr("T", AnyType)
            .attr("block_size", AtLeast(2))
            .attr("Tidx", IndexType.or(DType::I32))
            .infer(|cx| infer(cx, to_space))
            .kernel(Kernel::pure(|cx| run(cx, to_space, moved_to_space)))
            .gradient(Gradient::of(|cx| grad(cx, "SpaceToBatch"))),
    ]
}

/// Returns the blocks of rows and columns.
fn of_images(what: &str, attrs: &Attrs, margins: &Tensor) -> Result<SmallVec<[Block; 4]>> {
    let size = attrs.int("block_size")?;
    blocks(what, &Tensor::vector(&[size, size])?, margins)
}

fn infer(cx: &mut InferCx, rule: Rule) -> Result<()> {
    let images = cx.with_rank(0, 4)?;
    margins_fit(cx, 1, 2)?;
    let dims: [_; 4] = [0, 1, 2, 3].map(|i| images.dim(i));
    let shape = match cx.value(1) {
        Some(margins) => {
            let blocks = of_images(cx.name_of(1), cx.attrs(), margins)?;
            let (batch, space) = rule(dims[0], &dims[1..3], &blocks)?;
            joined(&[&[batch], &space, &dims[3..]])
        }
        None => {
            // The sizes of the rows and columns depend on the margins; the batch does not.
            let of_any = of_images(cx.name_of(1), cx.attrs(), &Tensor::zeros(DType::I32, [2, 2])?)?;
            let (batch, _) = rule(dims[0], &[None, None], &of_any)?;
            joined(&[&[batch, None, None], &dims[3..]])
        }
    };
    cx.set(0, shape);
    Ok(())
}

type Move = fn(Tensor, &[Block], Shape) -> Result<Tensor>;

fn run(cx: &mut KernelCx, rule: Rule, moved: Move) -> Result<()> {
    let blocks = of_images(cx.name_of(1), cx.attrs(), cx.input(1))?;
    let input = cx.take(0);
    ensure!(
        input.rank() == 4,
        "Input rank should be: 4instead of: {}", input.rank();
        "`input` has shape {}: it must be `[batch, rows, columns, channels]`", input.shape()
    );
    let shape = shape_of(&input, &blocks, rule)?;
    let out = moved(input, &blocks, shape)?;
    cx.set(0, out);
    Ok(())
}

// The two ops are inverses: what one pads, the other crops.
fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    let (dy, margins, size) = (cx.grad(0), cx.input(1), cx.attrs().int("block_size")?);
    cx.give(0, cx.op(back).input(dy).input(margins).attr("block_size", size).output());
    Ok(())
}

cases! {
    to_the_batch: "SpaceToBatch([[[[1] [2]] [[3] [4]]]], [[0 0] [0 0]]; block_size=2) = [[[[1]]] [[[2]]] [[[3]]] [[[4]]]]",
    pads: "SpaceToBatch([[[[1.0] [2.0]]]], [[1 0] [0 0]]; block_size=2) = [[[[0.0]]] [[[0.0]]] [[[1.0]]] [[[2.0]]]]",
    infers: "SpaceToBatch(f32[?,4,5,3], i64 [[0 0] [1 0]]; block_size=2) : f32[?,2,3,3]",
    infers_less: "SpaceToBatch(f32[2,4,5,3], i32[2,2]; block_size=2) : f32[8,?,?,3]",
    does_not_divide: "SpaceToBatch([[[[1] [2]]]], [[0 0] [0 0]]; block_size=2) ! cannot be cut into blocks of 2",
    images: "SpaceToBatch([[[1] [2]]], [[0 0] [0 0]]; block_size=2) ! rank",
    to_space_again: "BatchToSpace([[[[1]]] [[[2]]] [[[3]]] [[[4]]]], [[0 0] [0 0]]; block_size=2) = [[[[1] [2]] [[3] [4]]]]",
    crops: "BatchToSpace([[[[0.0]]] [[[0.0]]] [[[1.0]]] [[[2.0]]]], [[1 0] [0 0]]; block_size=2) = [[[[1.0] [2.0]]]]",
    space_infers: "BatchToSpace(f32[8,?,3,5], [[0 1] [0 0]]; block_size=2) : f32[2,?,6,5]",
    space_infers_less: "BatchToSpace(f32[8,?,3,5], i32[2,2]; block_size=2) : f32[2,?,?,5]",
    batch_too_small: "BatchToSpace([[[[1]]]], [[0 0] [0 0]]; block_size=2) ! the batch of size 1",
    crops_too_much: "BatchToSpace([[[[1]]] [[[2]]] [[[3]]] [[[4]]]], [[2 1] [0 0]]; block_size=2) ! exceed the axis, which has size 2",
}
