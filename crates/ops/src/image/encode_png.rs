//! `EncodePng`: an image as a PNG file.

use crate::number::no_kernel;
use crate::shared::png::encoded;
use millstream_graph::op::spec::{Int, OneOf, Spec};
use millstream_graph::op::{Cost, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{Str, U8, U16};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("EncodePng")
        .doc(
            "Encodes an image of shape `[height, width, channels]` as a PNG file. Images have 1 channel (grayscale), 2 \
             (grayscale and alpha), 3 (RGB) or 4 (RGBA). `compression` is from 0 to 9, or -1 for the default.",
        )
        .input("image", "T")
        .output("contents", Str)
        .attr("compression", Int.or(-1))
        .attr("T", OneOf(&[U8, U16]).or(U8))
        .infer(|cx| {
            cx.with_rank(0, 3)?;
            cx.scalars()
        })
        .kernel(Kernel::pure(run).cost(Cost::PerElement(20.0)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let level = cx.attrs().int("compression")?;
    ensure!((-1..=9).contains(&level), "compression should be in [-1,9], got {level}"; "`compression` is {level}");
    let image = cx.take(0);
    let &[height, width, channels] = image.shape().dims() else {
        return Err(invalid!("image must be 3-dimensional{}", image.shape(); "`image` must have rank 3"));
    };
    ensure!(
        (1..=4).contains(&channels),
        "image must have 1, 2, 3, or 4 channels, got {channels}"; "`image` has shape {}", image.shape()
    );
    ensure!(
        0 < height && 0 < width,
        "an image must have at least one pixel, but `image` has shape {}",
        image.shape()
    );
    let (sizes, level) = ([height, width, channels], u8::try_from(level).ok());
    let file = match image.dtype() {
        U8 => encoded(sizes, image.as_slice::<u8>()?, false, level)?,
        U16 => {
            let samples = image.as_slice::<u16>()?;
            let mut bytes: Charged<u8> = Charged::with_room(2 * samples.len())?;
            for v in samples {
                bytes.extend_from_slice(&v.to_be_bytes())?;
            }
            encoded(sizes, &bytes, true, level)?
        }
        other => return Err(no_kernel("EncodePng", other)),
    };
    cx.set(0, Tensor::str(file));
    Ok(())
}

cases! {
    is_a_scalar: "EncodePng(u16[?,?,3]) : str[]",
    channels: "EncodePng(u8[1,1,5] [[[1 2 3 4 5]]]) ! image must have 1, 2, 3, or 4 channels, got 5",
    has_pixels: "EncodePng(u8[0,1,1] []) ! an image must have at least one pixel",
    three_axes: "EncodePng(u8[2]) ! `image` must have rank 3",
    a_level: "EncodePng(u8[1,1,1] [[[1]]]; compression=10) ! compression should be in [-1,9], got 10",
}
