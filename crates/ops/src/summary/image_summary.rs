//! `ImageSummary`: images as PNG files.

use super::message::{each_tag, give, room_for_value, scalar, tag};
use crate::number::no_kernel;
use crate::shared::png::encoded;
use millstream_graph::Attr;
use millstream_graph::op::spec::{AtLeast, OneOf, Spec, Value as TensorAttr};
use millstream_graph::op::{Cost, Kernel, KernelCx, OpDef};
use millstream_proto::summary::{Image, Value, value};
use millstream_tensor::DType::{self, F16, F32, F64, U8};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::look;
use millstream_tensor::{Element, Result, Tensor, ensure, invalid, with_element};
use num_traits::{AsPrimitive, Float};

pub(crate) fn def() -> OpDef {
    let red = Tensor::from_slice([4], &[255u8, 0, 0, 255]).unwrap_or_else(|_| Tensor::scalar(0u8));
    OpDef::new("ImageSummary")
        .doc(
            "Returns a summary with the first `max_images` of a batch of images of shape \
             `[batch, height, width, channels]`, as PNG files. Images have 1 channel (grayscale), 3 (RGB) \
             or 4 (RGBA). The tags are `TAG/image/0` and so on, or `TAG/image` if `max_images` is 1. Bytes \
             are used as they are. Floats are scaled for each image: the largest value becomes 255, or, if \
             there are negative values, 0 becomes 128 and the largest absolute value 1 or 255. A pixel with \
             a value that is not finite becomes `bad_color`.",
        )
        .input("tag", DType::Str)
        .input("tensor", "T")
        .output("summary", DType::Str)
        .attr("max_images", AtLeast(1).or(3))
        .attr("T", OneOf(&[U8, F32, F16, F64]).or(F32))
        .attr("bad_color", TensorAttr.or(Attr::Tensor(red)))
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10.0)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let tag = tag(scalar(cx, 0, "Tags must be a scalar")?)?;
    let images = cx.input(1);
    let [n, height, width, depth @ (1 | 3 | 4)] = images.shape()[..] else {
        return Err(invalid!("Tensor must be 4-D with last dim 1, 3, or 4, not {}", images.shape()));
    };
    ensure!(
        n == 0 || height > 0 && width > 0,
        "input tensor must have non-zero dims. Found: [{n}, {height}, {width}, {depth}].";
        "an image must have at least one pixel, but `tensor` has shape {}",
        images.shape()
    );
    let side = |size: usize| {
        i32::try_from(size).map_err(|_| invalid!("an image with a side of {size} pixels is too large"))
    };
    let (image_height, image_width) = (side(height)?, side(width)?);
    let bad = cx.attrs().tensor("bad_color")?;
    ensure!(
        bad.dtype() == U8 && bad.rank() == 1 && bad.elements() >= depth,
        "`bad_color` must be a vector of {depth} bytes, one for each channel, but is {}{}",
        bad.dtype(),
        bad.shape()
    );
    let bad = &bad.as_slice::<u8>()?[..depth];
    let most = usize::try_from(cx.attrs().int("max_images")?).unwrap_or(usize::MAX);
    let (mut values, mut room) = (Vec::new(), Room::default());
    for (i, tag) in each_tag(&tag, "image", most).take(n.min(most)).enumerate() {
        look()?;
        let image = images.row(i)?;
        let _pixels = Room::of(image.elements())?;
        let pixels = match image.dtype() {
            U8 => image.as_slice::<u8>()?.to_vec(),
            dtype => {
                with_element!(dtype, T in [F16 F32 F64] => Ok(bytes::<T>(image.as_slice()?, bad)), else => Err(no_kernel("ImageSummary", dtype)))?
            }
        };
        let encoded_image_string =
            encoded([image_height as usize, image_width as usize, depth], &pixels, false, None)?;
        room_for_value(&mut room, tag.len(), encoded_image_string.len())?;
        let image = Image {
            height: image_height,
            width: image_width,
            colorspace: depth as i32,
            encoded_image_string,
        };
        values.push(Value { tag, value: Some(value::Value::Image(image)), ..Value::default() });
    }
    give(cx, values)
}

/// Converts an image of floats to bytes. As in TensorFlow, the scale is computed in float32 for all dtypes.
fn bytes<T: Element + Float + AsPrimitive<u8> + AsPrimitive<f32>>(image: &[T], bad: &[u8]) -> Vec<u8>
where
    f32: AsPrimitive<T>,
{
    let depth = bad.len();
    let is_good = |pixel: &&[T]| pixel.iter().all(|v| v.is_finite());
    let good = || image.chunks_exact(depth).filter(is_good).flatten().map(|v| -> f32 { v.as_() });
    let (least, most) = (good().fold(f32::INFINITY, f32::min), good().fold(f32::NEG_INFINITY, f32::max));
    let scale = |range: f32, largest: f32| if largest < 1e-6 { 0.0 } else { range / largest };
    let (scale, offset) = match least < 0.0 {
        true => (scale(127.0, least.abs().max(most.abs())), 128.0),
        false => (scale(255.0, most), 0.0),
    };
    let (scale, offset): (T, T) = (scale.as_(), offset.as_());
    let mut bytes = Vec::with_capacity(image.len());
    for pixel in image.chunks_exact(depth) {
        match is_good(&pixel) {
            true => bytes.extend(pixel.iter().map(|&v| -> u8 { (v * scale + offset).as_() })),
            false => bytes.extend_from_slice(bad),
        }
    }
    bytes
}

cases! {
    nothing: r#"ImageSummary("a", f32[0,2,2,1] []) = """#,
    is_a_scalar: "ImageSummary(str[], f16[?,?,?,3]) : str[]",
    channels: r#"ImageSummary("a", [[[[1.0 2.0]]]]) ! Tensor must be 4-D with last dim 1, 3, or 4, not [1,1,1,2]"#,
    four_axes: r#"ImageSummary("a", [[[1.0]]]) ! Tensor must be 4-D with last dim 1, 3, or 4, not [1,1,1]"#,
    one_tag: r#"ImageSummary(["a"], [[[[1.0]]]]) ! Tags must be a scalar"#,
    has_pixels: r#"ImageSummary("a", u8[1,0,1,1] []) ! an image must have at least one pixel"#,
    bytes_or_floats: r#"ImageSummary("a", [[[[1]]]]) ! `T`"#,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(image: &[f32], bad: &[u8], want: &[u8]) {
        assert_eq!(bytes(image, bad), want);
    }

    #[test]
    fn images_are_scaled_by_themselves() {
        check(&[1.0, 2.0, f32::NAN, 4.0], &[255], &[63, 127, 255, 255]);
        check(&[-1.0, 2.0, 0.0, f32::INFINITY], &[7], &[64, 255, 128, 7]);
        check(&[0.0, 1e-7], &[255], &[0, 0]);
        check(&[1.0, 2.0, 3.0, 4.0, f32::NAN, 9.0], &[1, 2, 3], &[85, 170, 255, 1, 2, 3]);
        check(&[f32::NAN], &[5], &[5]);
    }
}
