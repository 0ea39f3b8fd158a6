//! Files of images: what the ops that decode them share. As in TensorFlow, DecodeJpeg, DecodePng and
//! DecodeGif decode a file of any of the three kinds, which is recognised by its first bytes.
//!
//! Sizes are read from a file's head and checked before memory is requested, and all memory is charged to the
//! session's budget.

use super::{gif, jpeg, png};
use crate::shared::elementwise::fresh;
use crate::shared::strings::scalar;
use millstream_graph::op::spec::{Bool, Float, Int, Spec, Text};
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_tensor::DType::{self, U8, U16};
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Jpeg,
    Png,
    Gif,
}

impl Kind {
    fn of(file: &[u8]) -> Result<Kind> {
        match file {
            [0xFF, 0xD8, 0xFF, ..] => Ok(Kind::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Ok(Kind::Png),
            [b'G', b'I', b'F', b'8', ..] => Ok(Kind::Gif),
            [] => Err(invalid!("Expected image (JPEG, PNG, or GIF), got empty file"; "`contents` is empty")),
            _ => {
                let start = file[..file.len().min(16)].escape_ascii();
                Err(invalid!(
                    "Expected image (JPEG, PNG, or GIF), got unknown format starting with '{start}'";
                    "`contents` is a file of another kind"
                ))
            }
        }
    }
}

/// Adds the attributes of the ops that decode JPEG files.
pub(super) fn jpeg_attrs(def: OpDef) -> OpDef {
    def.attr("channels", Int.or(0))
        .attr("ratio", Int.or(1))
        .attr("fancy_upscaling", Bool.or(true))
        .attr("try_recover_truncated", Bool.or(false))
        .attr("acceptable_fraction", Float.or(1.0f32))
        .attr("dct_method", Text.or(""))
}

/// Reads the attribute `channels`: `None` for 0, which is the number in the file.
pub(super) fn channels(cx: &InferCx) -> Result<Dim> {
    let n = cx.attrs().int("channels")?;
    ensure!(0 <= n, "channels must be non-negative, got {n}"; "`channels` is {n}");
    Ok(usize::try_from(n).ok().filter(|n| 0 < *n))
}

/// The shape rule of ops that decode one image.
pub(super) fn infer_image(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let depth = channels(cx)?;
    cx.set(0, PartialShape::from([None, None, depth]));
    Ok(())
}

/// What an op wants of a file.
pub(super) struct Wanted {
    pub channels: usize,
    pub dtype: DType,
    /// Whether images come in batches, as those of a GIF file.
    pub is_batch: bool,
    /// The window of a JPEG file: top, left, height and width.
    pub window: Option<[i64; 4]>,
    pub options: jpeg::Options,
}

impl Wanted {
    /// An image of bytes.
    pub fn bytes() -> Wanted {
        let options = jpeg::Options { channels: 0, smooth: true, method: jpeg::Method::Fast, recover: false };
        Wanted { channels: 0, dtype: U8, is_batch: false, window: None, options }
    }

    /// Reads the attributes of a node.
    pub fn of(cx: &KernelCx) -> Result<Wanted> {
        let mut wanted = Wanted::bytes();
        let attrs = cx.attrs();
        let n = attrs.int("channels")?;
        ensure!(matches!(n, 0 | 1 | 3 | 4), "channels must be 0, 1, 3, or 4, got {n}"; "`channels` is {n}");
        wanted.channels = n as usize;
        if attrs.get("dtype").is_some() {
            wanted.dtype = attrs.dtype("dtype")?;
        }
        if attrs.get("ratio").is_none() {
            return Ok(wanted);
        }
        let ratio = attrs.int("ratio")?;
        ensure!(matches!(ratio, 1 | 2 | 4 | 8), "ratio must be 1, 2, 4, or 8, got {ratio}"; "`ratio` is {ratio}");
        if ratio != 1 {
            return Err(millstream_tensor::Error::unimplemented(format!(
                "JPEG files are decoded at full size: `ratio` must be 1, not {ratio}"
            ))
            .with_help("decode the whole image and resize it with `ResizeArea`"));
        }
        wanted.options.smooth = attrs.bool("fancy_upscaling")?;
        wanted.options.recover = attrs.bool("try_recover_truncated")?;
        wanted.options.method = match &**attrs.str("dct_method")? {
            b"" | b"INTEGER_FAST" => jpeg::Method::Fast,
            b"INTEGER_ACCURATE" => jpeg::Method::Accurate,
            other => {
                return Err(invalid!(
                    "dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}";
                    "`dct_method` is '{}'", String::from_utf8_lossy(other)
                ));
            }
        };
        Ok(wanted)
    }

    /// The shape of an image.
    fn shape(&self, height: usize, width: usize, depth: usize) -> Shape {
        match self.is_batch {
            true => Shape::from([1, height, width, depth]),
            false => Shape::from([height, width, depth]),
        }
    }
}

/// The kernel of ops that decode a file of any kind.
pub(super) fn run(cx: &mut KernelCx, wanted: &Wanted) -> Result<()> {
    let file = scalar(cx, 0)?.clone();
    let out = match Kind::of(&file)? {
        Kind::Jpeg => decoded_jpeg(cx, &file, wanted)?,
        Kind::Png => decoded_png(cx, &file, wanted)?,
        Kind::Gif => decoded_gif(cx, &file, wanted)?,
    };
    cx.set(0, out);
    Ok(())
}

fn decoded_jpeg(cx: &KernelCx, file: &[u8], wanted: &Wanted) -> Result<Tensor> {
    let n = wanted.channels;
    ensure!(n != 4, "channels must be 0, 1, or 3 for JPEG, got 4"; "the file is a JPEG file");
    ensure!(wanted.dtype == U8, "a JPEG file is decoded to u8, not {}", wanted.dtype);
    let led = |e: millstream_tensor::Error| match e.code() {
        millstream_tensor::Code::InvalidArgument => {
            e.led_by(format!("Invalid JPEG data or crop window, data size {}", file.len()))
        }
        _ => e,
    };
    let frame = jpeg::frame_of(file).map_err(led)?;
    let depth = jpeg::channels(&frame, n).map_err(led)?;
    let (height, width) = (frame.height, frame.width);
    if let Some([y, x, h, w]) = wanted.window {
        let fits = |from: i64, n: i64, size: usize| {
            0 <= from && 0 < n && from.checked_add(n).is_some_and(|to| to <= size as i64)
        };
        if !fits(y, h, height) || !fits(x, w, width) {
            return Err(led(invalid!(
                "`crop_window` is [{y} {x} {h} {w}] but the image has {height} rows and {width} columns"
            )));
        }
    }
    ensure!(
        height * width * depth < jpeg::MOST,
        "Invalid JPEG data or crop window, data size {}", file.len();
        "an image of {height} x {width} pixels is too large"
    );
    let mut out = Tensor::anything(U8, wanted.shape(height, width, depth))?;
    let options = jpeg::Options { channels: depth, ..wanted.options };
    jpeg::decode(cx.env, file, &options, fresh(&mut out)?).map_err(led)?;
    match wanted.window {
        None => Ok(out),
        Some([y, x, h, w]) => {
            let start = (y as usize * width + x as usize) * depth;
            out.strided(
                [h as usize, w as usize, depth],
                start as isize,
                &[(width * depth) as isize, depth as isize, 1],
            )
        }
    }
}

fn decoded_png(cx: &KernelCx, file: &[u8], wanted: &Wanted) -> Result<Tensor> {
    let image = png::Image::open(file, wanted.channels)?;
    let shape = wanted.shape(image.height, image.width, image.channels);
    let mut out = Tensor::anything(wanted.dtype, shape)?;
    match wanted.dtype {
        U16 => image.read_wide(cx.env, fresh(&mut out)?)?,
        _ => image.read(cx.env, fresh(&mut out)?)?,
    }
    Ok(out)
}

fn decoded_gif(cx: &KernelCx, file: &[u8], wanted: &Wanted) -> Result<Tensor> {
    let n = wanted.channels;
    ensure!(n == 0 || n == 3, "channels must be 0 or 3 for GIF, got {n}"; "the file is a GIF file");
    ensure!(wanted.dtype == U8, "a GIF file is decoded to u8, not {}", wanted.dtype);
    let head = gif::head(cx.env, file)?;
    if !wanted.is_batch && head.frames != 1 {
        return Err(invalid!(
            "Got {} frames, but animated gifs can only be decoded by tf.image.decode_gif or tf.image.decode_image",
            head.frames;
            "{} decodes one image", cx.node.op.name
        ));
    }
    let shape = match wanted.is_batch {
        true => Shape::from([head.frames, head.height, head.width, 3]),
        false => Shape::from([head.height, head.width, 3]),
    };
    let mut out = Tensor::anything(U8, shape)?;
    gif::read(cx.env, file, &head, fresh(&mut out)?)?;
    Ok(out)
}
