//! `CropAndResize`, `CropAndResizeGradImage`, `CropAndResizeGradBoxes`: crops of images at boxes, resized to
//! one size, and the gradients.

use super::crops::{Crops, IMAGES, cut, image_dims, infer_where};
use super::resizer::image_size;
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::Output;
use millstream_graph::op::spec::{Float, OneOf, Spec, Words};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64, I32};
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 3] {
    [crops(), grad_image(), grad_boxes()]
}

fn crops() -> OpDef {
    OpDef::new("CropAndResize")
        .doc(
            "Returns the parts of images, `[batch, height, width, channels]`, at `boxes`, `[n, 4]`, resized to \
             `crop_size`. The sides of a box are top, left, bottom and right, as parts of the height and the width; \
             `box_ind` holds the number of its image. Pixels beyond the image are `extrapolation_value`.",
        )
        .input("image", "T")
        .input("boxes", F32)
        .input("box_ind", I32)
        .input("crop_size", I32)
        .on_host()
        .output("crops", F32)
        .attr("T", OneOf(IMAGES))
        .attr("method", Words(&["bilinear", "nearest"]).or("bilinear"))
        .attr("extrapolation_value", Float.or(0f32))
        .infer(|cx| {
            let images = cx.with_rank(0, 4)?;
            let n = infer_where(cx, 1)?;
            let [height, width] = infer_size(cx, 3)?;
            cx.set(0, PartialShape::from([n, height, width, images.dim(3)]));
            Ok(())
        })
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(grad))
}

fn grad_image() -> OpDef {
    OpDef::new("CropAndResizeGradImage")
        .doc("Adds `grads`, the gradients of a CropAndResize of images of shape `image_size`, to their pixels.")
        .input("grads", F32)
        .input("boxes", F32)
        .input("box_ind", I32)
        .input("image_size", I32)
        .on_host()
        .output("output", "T")
        .attr("T", OneOf(&[F32, F16, F64]))
        .attr("method", Words(&["bilinear", "nearest"]).or("bilinear"))
        .infer(|cx| {
            cx.with_rank(0, 4)?;
            infer_where(cx, 1)?;
            let shape = cx.as_shape(3)?;
            let shape = shape.merge(&PartialShape::unknown_of_rank(4));
            let shape = shape.ok_or_else(|| invalid!("`image_size` must have four entries"))?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(Kernel::pure(run_image).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(grad_of_image))
}

fn grad_boxes() -> OpDef {
    OpDef::new("CropAndResizeGradBoxes")
        .doc("Returns the gradient of a CropAndResize of `image` by the sides of its boxes.")
        .input("grads", F32)
        .input("image", "T")
        .input("boxes", F32)
        .input("box_ind", I32)
        .output("output", F32)
        .attr("T", OneOf(IMAGES))
        .attr("method", Words(&["bilinear"]).or("bilinear"))
        .infer(|cx| {
            cx.with_rank(0, 4)?;
            cx.with_rank(1, 4)?;
            let n = infer_where(cx, 2)?;
            cx.set(0, PartialShape::from([n, Some(4)]));
            Ok(())
        })
        .kernel(Kernel::pure(run_boxes).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::Missing("TensorFlow has none either: pass the boxes through `stop_gradient`"))
}

/// Reads input `i`, a height and a width, as far as it is known.
fn infer_size(cx: &InferCx, i: usize) -> Result<[Dim; 2]> {
    if let Some(n) = cx.vector(i)? {
        ensure!(n == 2, "Dimension must be 2 but is {n}"; "`crop_size` must be a height and a width");
    }
    let size = cx.ints(i);
    let side = |i: usize| -> Dim { usize::try_from(*size.as_ref()?.get(i)?).ok() };
    Ok([side(0), side(1)])
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let images = cx.take(0);
    let size = cx.ints(3)?;
    let [height, width] = size[..] else {
        return Err(
            invalid!("crop_size must have two elements{}", cx.input(3).shape(); "`crop_size` is {size:?}"),
        );
    };
    let side = |v: i64| usize::try_from(v).ok().filter(|v| 0 < *v);
    let (Some(height), Some(width)) = (side(height), side(width)) else {
        return Err(invalid!("crop dimensions must be positive"; "`crop_size` is [{height} {width}]"));
    };
    let (boxes, places, env) = (cx.input(1).clone(), cx.input(2).clone(), cx.env);
    let crops = Crops::of(cx, env, (&boxes, &places), image_dims(images.shape())?, [height, width])?;
    let out = cut(&crops, &images, cx.attrs().float("extrapolation_value")?, "CropAndResize")?;
    cx.set(0, out);
    Ok(())
}

/// Reads input 0, the gradient of `n` crops with this many channels.
fn crop_size(cx: &KernelCx, n: usize, depth: usize) -> Result<[usize; 2]> {
    match cx.input(0).shape().dims() {
        &[crops, height, width, channels] if crops == n && channels == depth && 0 < height && 0 < width => {
            Ok([height, width])
        }
        _ => {
            Err(invalid!("`grads` has shape {} but holds {n} crops of {depth} channels", cx.input(0).shape()))
        }
    }
}

fn run_image(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("T")?;
    let sizes = cx.ints(3)?;
    let sizes = sizes.iter().map(|v| usize::try_from(*v)).collect::<std::result::Result<Vec<usize>, _>>();
    let sizes = sizes.map_err(|_| invalid!("`image_size` must not be negative"))?;
    let shape = Shape::new(sizes);
    shape.checked_elements()?;
    let image = image_dims(&shape)?;
    let (boxes, places, env) = (cx.input(1).clone(), cx.input(2).clone(), cx.env);
    let n = boxes.shape().dims().first().copied().unwrap_or(0);
    let crop = crop_size(cx, n, image[3])?;
    let crops = Crops::of(cx, env, (&boxes, &places), image, crop)?;
    let grads = cx.take(0);
    let mut out = Tensor::zeros(dtype, shape)?;
    with_element!(dtype, T in [F16 F32 F64] => crops.spread::<T>(grads.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("CropAndResizeGradImage", dtype)))?;
    cx.set(0, out);
    Ok(())
}

fn run_boxes(cx: &mut KernelCx) -> Result<()> {
    let images = cx.take(1);
    let image = image_dims(images.shape())?;
    let (boxes, places, env) = (cx.input(2).clone(), cx.input(3).clone(), cx.env);
    let n = boxes.shape().dims().first().copied().unwrap_or(0);
    let crop = crop_size(cx, n, image[3])?;
    let crops = Crops::of(cx, env, (&boxes, &places), image, crop)?;
    let grads = cx.take(0);
    let mut out = Tensor::zeros(F32, [n, 4])?;
    with_element!(images.dtype(), T in [U8 U16 I8 I16 I32 I64 F16 F32 F64] => crops.by_sides::<T>(grads.as_slice()?, images.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("CropAndResizeGradBoxes", images.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// As in TensorFlow, the gradient by boxes is that of the bilinear method for both.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, boxes, places) = (cx.grad(0), cx.input(1), cx.input(2));
    if cx.wants(0) && matches!(cx.dtype(0), F16 | F32 | F64) {
        let shape = cx.shape_of_input(0);
        let node = cx.op("CropAndResizeGradImage").inputs([dy, boxes, places, shape]).attr("T", cx.dtype(0));
        let dx = with_method(cx, node).output();
        cx.give(0, dx);
    }
    if cx.wants(1) {
        let images = cx.input(0);
        let by_boxes = cx.call("CropAndResizeGradBoxes", [dy, images, boxes, places]);
        cx.give(1, by_boxes);
    }
    Ok(())
}

// The gradient by images is linear in the gradient of the crops; with that of its result, it is the product
// of a crop and the gradient of the crops.
fn grad_of_image(cx: &mut GradCx) -> Result<()> {
    let (dy, boxes, places) = (cx.grad(0), cx.input(1), cx.input(2));
    if cx.wants(0) {
        let size: Output = image_size(cx, 0);
        let node = cx.op("CropAndResize").inputs([dy, boxes, places, size]);
        let dg = with_method(cx, node).output();
        cx.give(0, dg);
    }
    if cx.wants(1) {
        let grads = cx.input(0);
        let by_boxes = cx.call("CropAndResizeGradBoxes", [grads, dy, boxes, places]);
        cx.give(1, by_boxes);
    }
    Ok(())
}

fn with_method<'g>(
    cx: &GradCx<'g, '_>,
    node: millstream_graph::OpBuilder<'g>,
) -> millstream_graph::OpBuilder<'g> {
    match cx.attrs().get("method") {
        Some(method) => node.attr("method", method.clone()),
        None => node,
    }
}

cases! {
    cut: "CropAndResize([[[[0.0] [1.0]] [[2.0] [3.0]]]], [[0.0 0.0 1.0 1.0] [0.25 0.5 1.5 0.75]], [0 0], [2 2]; extrapolation_value=-1.0) = [[[[0.0] [1.0]] [[2.0] [3.0]]] [[[1.0] [1.25]] [[-1.0] [-1.0]]]]",
    of_one_pixel: "CropAndResize(u8[1,2,2,1] [[[[0] [1]] [[2] [3]]]], [[0.2 0.3 0.4 0.7]], [0], [1 1]) ~ [[[[1.1]]]]",
    to_the_image: "CropAndResizeGradImage([[[[1.0]] [[2.0]]]], [[0.3 0.2 0.6 0.6]], [0], [1 2 2 1]; T=f32) ~ [[[[0.9] [0.6]] [[0.9] [0.6]]]]",
    to_the_boxes: "CropAndResizeGradBoxes([[[[1.0]] [[2.0]]]], [[[[0.0] [1.0]] [[2.0] [5.0]]]], [[0.3 0.2 0.6 0.6]], [0]) ~ [[2.8 3.0 5.6 3.0]]",
    infers: "CropAndResize(u8[?,?,?,3], f32[7,4], i32[?], [2 3]) : f32[7,2,3,3]",
    infers_images: "CropAndResizeGradImage(f32[?,2,2,3], f32[?,4], i32[?], [1 2 2 3]; T=f16) : f16[1,2,2,3]",
    infers_boxes: "CropAndResizeGradBoxes(f32[?,2,2,3], u8[?,?,?,3], f32[?,4], i32[7]) : f32[7,4]",
    images_there_are: "CropAndResize([[[[0.0]]]], [[0.0 0.0 1.0 1.0]], [1], [1 1]) ! box_index has values outside [0, batch_size)",
    positive: "CropAndResize([[[[0.0]]]], [[0.0 0.0 1.0 1.0]], [0], [0 1]) ! crop dimensions must be positive",
    a_place_each: "CropAndResize(f32[1,1,1,1], f32[1,4], i32[2], i32[2]) ! Dimensions must be equal, but are 1 and 2",
}
