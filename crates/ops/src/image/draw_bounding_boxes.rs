//! `DrawBoundingBoxes` and its second version: draws the outlines of boxes.

use super::boxes::infer_boxes;
use crate::number::no_kernel;
use crate::shared::casting::To;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Element, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [("DrawBoundingBoxes", false), ("DrawBoundingBoxesV2", true)].map(|(name, takes_colors)| {
        let def = OpDef::new(name)
            .doc(
                "Draws the outlines of `boxes`, `[batch, n, 4]`, on images of 1, 3 or 4 channels. The sides are top, \
                 left, bottom and right, as parts of the height and the width. Boxes have colours in turn: those of \
                 `colors`, `[m, channels]`, or ten.",
            )
            .input("images", "T")
            .input("boxes", F32);
        let def = if takes_colors { def.input("colors", F32) } else { def };
        def.output("output", "T")
            .attr("T", OneOf(&[F32, F16]).or(F32))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
            .gradient(Gradient::none("TensorFlow declares it not differentiable"))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let images = cx.with_rank(0, 4)?;
    if let Some(depth) = images.dim(3) {
        ensure!(
            matches!(depth, 1 | 3 | 4),
            "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"; "`images` has shape {images}"
        );
    }
    infer_boxes(cx, 1, 3)?;
    if cx.n_inputs() == 3 {
        cx.with_rank(2, 2)?;
    }
    cx.set(0, images);
    Ok(())
}

/// The colours of boxes where none are given: yellow, blue, red, lime, purple, olive, maroon, navy, aqua and
/// fuchsia.
const COLOURS: [[f32; 4]; 10] = [
    [1.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.5, 0.0, 0.5, 1.0],
    [0.5, 0.5, 0.0, 1.0],
    [0.5, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.5, 1.0],
    [0.0, 1.0, 1.0, 1.0],
    [1.0, 0.0, 1.0, 1.0],
];

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut images = cx.take(0);
    let (shape, dtype) = (images.shape().clone(), images.dtype());
    let &[batch, height, width, depth @ (1 | 3 | 4)] = shape.dims() else {
        return Err(
            invalid!("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"; "`images` has shape {shape}"),
        );
    };
    let boxes = cx.input(1);
    let &[boxes_batch, n, 4] = boxes.shape().dims() else {
        return Err(invalid!("`boxes` must have shape [batch,n,4] but has shape {}", boxes.shape()));
    };
    ensure!(boxes_batch == batch, "The batch sizes should be the same"; "`images` has {batch}, `boxes` {boxes_batch}");
    let given = if cx.n_inputs() == 3 { Some(cx.input(2)) } else { None };
    let colours = colours(given, depth)?;
    let boxes = boxes.as_slice::<f32>()?;
    if shape.elements() == 0 {
        cx.set(0, images);
        return Ok(());
    }
    with_element!(dtype, T in [F16 F32] => {
        for (b, image) in images.make_mut_or_copy::<T>()?.chunks_exact_mut(height * width * depth).enumerate() {
            for i in 0..n {
                if i.is_multiple_of(64) {
                    cx.env.cancel.check()?;
                }
                let sides = &boxes[(b * n + i) * 4..][..4];
                outline(image, [height, width, depth], sides, &colours[i % colours.len()]);
            }
        }
        Ok(())
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, images);
    Ok(())
}

/// The colours of boxes.
fn colours(given: Option<&Tensor>, depth: usize) -> Result<Charged<[f32; 4]>> {
    let given = given.filter(|t| t.elements() != 0 || t.rank() != 2);
    let Some(t) = given else {
        // On gray images all are white.
        return Charged::of(COLOURS.map(|c| if depth == 1 { [1.0, c[1], c[2], c[3]] } else { c }));
    };
    let &[_, channels] = t.shape().dims() else {
        return Err(invalid!("colors must be a 2-D matrix{}", t.shape(); "`colors` must have rank 2"));
    };
    ensure!(
        depth <= channels,
        "colors must have equal or more channels than the image provided: {}", t.shape();
        "`colors` has {channels} channels, the images have {depth}"
    );
    let rows = t.as_slice::<f32>()?.chunks_exact(channels);
    Charged::of(rows.map(|row| std::array::from_fn(|i| row.get(i).copied().unwrap_or(0.0))))
}

/// Draws the outline of a box, as far as it is in the image.
fn outline<T: Element>(image: &mut [T], [height, width, depth]: [usize; 3], sides: &[f32], colour: &[f32; 4])
where
    f32: To<T>,
{
    let place = |side: f32, n: usize| (side * (n as f32 - 1.0)) as i64;
    let (top, left) = (place(sides[0], height), place(sides[1], width));
    let (bottom, right) = (place(sides[2], height), place(sides[3], width));
    let (last_row, last_column) = (height as i64 - 1, width as i64 - 1);
    if bottom < top || right < left || last_row < top || bottom < 0 || last_column < left || right < 0 {
        return;
    }
    let mut paint = |y: i64, x: i64| {
        let at = (y as usize * width + x as usize) * depth;
        image[at..at + depth].iter_mut().zip(colour).for_each(|(v, c)| *v = (*c).to());
    };
    for y in [top, bottom] {
        if (0..=last_row).contains(&y) {
            (left.max(0)..=right.min(last_column)).for_each(|x| paint(y, x));
        }
    }
    for x in [left, right] {
        if (0..=last_column).contains(&x) {
            (top.max(0)..=bottom.min(last_row)).for_each(|y| paint(y, x));
        }
    }
}

cases! {
    white_on_gray: "DrawBoundingBoxes([[[[0.0] [0.0] [0.0]] [[0.0] [0.0] [0.0]] [[0.0] [0.0] [0.0]]]], [[[0.0 0.0 1.0 1.0]]]) = [[[[1.0] [1.0] [1.0]] [[1.0] [0.0] [1.0]] [[1.0] [1.0] [1.0]]]]",
    of_a_colour: "DrawBoundingBoxesV2(f16[1,1,2,3] [[[[0.0 0.0 0.0] [0.0 0.0 0.0]]]], [[[0.0 0.0 0.0 0.0]]], [[1.0 2.0 3.0]]) = f16[1,1,2,3] [[[[1.0 2.0 3.0] [0.0 0.0 0.0]]]]",
    not_beyond: "DrawBoundingBoxes([[[[0.0] [0.0]] [[0.0] [0.0]]]], [[[2.0 0.0 3.0 1.0] [0.0 1.0 0.0 0.0]]]) = [[[[0.0] [0.0]] [[0.0] [0.0]]]]",
    infers: "DrawBoundingBoxesV2(f32[?,?,?,3], f32[?,?,4], f32[?,?]) : f32[?,?,?,3]",
    channels: "DrawBoundingBoxes(f32[1,2,2,2], f32[1,1,4]) ! Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)",
    batches: "DrawBoundingBoxes([[[[0.0]]] [[[0.0]]]], [[[0.0 0.0 1.0 1.0]]]) ! The batch sizes should be the same",
}
