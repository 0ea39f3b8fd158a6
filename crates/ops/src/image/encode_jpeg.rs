//! `EncodeJpeg`, `EncodeJpegVariableQuality`: an image as a JPEG file.

use super::jpeg::{Form, encode};
use millstream_graph::op::spec::{Bool, Int, Spec, Text, Words};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str, U8};
use millstream_tensor::{Error, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("EncodeJpeg")
            .doc(
                "Encodes an image of shape `[height, width, channels]` as a JPEG file. Images have 1 channel \
                 (grayscale) or 3 (RGB). `quality` is from 0 to 100. `optimize_size` changes nothing: files have the \
                 standard's codes.",
            )
            .input("image", U8)
            .output("contents", Str)
            .attr("format", Words(&["", "grayscale", "rgb"]).or(""))
            .attr("quality", Int.or(95))
            .attr("progressive", Bool.or(false))
            .attr("optimize_size", Bool.or(false))
            .attr("chroma_downsampling", Bool.or(true))
            .attr("density_unit", Words(&["in", "cm"]).or("in"))
            .attr("x_density", Int.or(300))
            .attr("y_density", Int.or(300))
            .attr("xmp_metadata", Text.or(""))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(20.0))),
        OpDef::new("EncodeJpegVariableQuality")
            .doc("Encodes an image of shape `[height, width, channels]` as a JPEG file, with a quality from 0 to 100.")
            .input("images", U8)
            .input("quality", I32)
            .output("contents", Str)
            .infer(|cx| {
                cx.scalar(1)?;
                infer(cx)
            })
            .kernel(Kernel::pure(run_variable).cost(Cost::PerElement(20.0))),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.with_rank(0, 3)?;
    cx.scalars()
}

/// Reads the size of the image, and checks the quality.
fn form(cx: &KernelCx, quality: i64) -> Result<Form> {
    let shape = cx.input(0).shape();
    let &[height, width, channels] = shape.dims() else {
        return Err(invalid!("image must be 3-dimensional{shape}"; "`image` must have rank 3"));
    };
    ensure!((0..=100).contains(&quality), "quality must be in [0,100], got {quality}"; "`quality` is {quality}");
    let most = 65500;
    ensure!(
        (1..=most).contains(&height) && (1..=most).contains(&width),
        "JPEG images have from 1 to {most} pixels on a side, but `image` has shape {shape}"
    );
    let density = (1, 300, 300);
    Ok(Form { height, width, channels, quality, halves: true, density, about: Vec::new() })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (attrs, shape) = (cx.attrs(), cx.input(0).shape());
    let mut form = form(cx, attrs.int("quality")?)?;
    let format = attrs.str("format")?;
    match (&**format, form.channels) {
        (b"", 1 | 3) | (b"grayscale", 1) | (b"rgb", 3) => {}
        (b"", _) => {
            return Err(
                invalid!("image must have 1 or 3 channels, got {shape}"; "`image` has {} channels", form.channels),
            );
        }
        (wanted, _) => {
            let n = if wanted == b"rgb" { 3 } else { 1 };
            return Err(
                invalid!("format {} expects {n} channels, got {shape}", format.text(); "`format` does not fit `image`"),
            );
        }
    }
    if attrs.bool("progressive")? {
        return Err(Error::unimplemented(
            "progressive JPEG files can be read but not written: leave `progressive` out",
        ));
    }
    form.halves = attrs.bool("chroma_downsampling")?;
    let density = |name: &str| -> Result<u16> {
        let v = attrs.int(name)?;
        u16::try_from(v).map_err(|_| invalid!("`{name}` must be from 0 to 65535, not {v}"))
    };
    let unit = if **attrs.str("density_unit")? == *b"cm" { 2 } else { 1 };
    form.density = (unit, density("x_density")?, density("y_density")?);
    form.about = attrs.str("xmp_metadata")?.to_vec();
    ensure!(form.about.len() <= 65500, "`xmp_metadata` has {} bytes but at most 65500 fit", form.about.len());
    give(cx, &form)
}

fn run_variable(cx: &mut KernelCx) -> Result<()> {
    let form = form(cx, cx.int(1)?)?;
    ensure!(
        matches!(form.channels, 1 | 3),
        "image must have 1 or 3 channels, got {}", cx.input(0).shape(); "`images` has {} channels", form.channels
    );
    give(cx, &form)
}

fn give(cx: &mut KernelCx, form: &Form) -> Result<()> {
    let image = cx.take(0);
    let file = encode(cx.env, form, image.as_slice()?)?;
    cx.set(0, Tensor::str(file));
    Ok(())
}

cases! {
    is_a_scalar: "EncodeJpeg(u8[?,?,3]) : str[]",
    quality_of_the_run: "EncodeJpegVariableQuality(u8[?,?,3], i32[]) : str[]",
    comes_back: "DecodeJpeg(EncodeJpeg(u8[2,2,1] [[[100] [100]] [[100] [100]]]; quality=100)) = u8[2,2,1] [[[100] [100]] [[100] [100]]]",
    channels: "EncodeJpeg(u8[1,1,2] [[[1 2]]]) ! image must have 1 or 3 channels, got [1,1,2]",
    of_its_format: "EncodeJpeg(u8[1,1,1] [[[1]]]; format=\"rgb\") ! format rgb expects 3 channels",
    a_quality: "EncodeJpeg(u8[1,1,1] [[[1]]]; quality=101) ! quality must be in [0,100], got 101",
    has_pixels: "EncodeJpeg(u8[0,1,1] []) ! JPEG images have from 1 to 65500 pixels",
    at_once: "EncodeJpeg(u8[1,1,1] [[[1]]]; progressive=true) ! leave `progressive` out",
}
