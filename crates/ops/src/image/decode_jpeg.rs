//! `DecodeJpeg`, `DecodeAndCropJpeg`: the pixels of a JPEG file, or of a part of it.

use super::files::{Wanted, channels, infer_image, jpeg_attrs, run};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str, U8};
use millstream_tensor::{Dim, PartialShape, Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    [
        jpeg_attrs(
            OpDef::new("DecodeJpeg")
                .doc(
                    "Decodes a JPEG file to an image of shape `[height, width, channels]`. `channels` is 0, for the \
                     number in the file, 1 or 3. The transform `dct_method` is \"INTEGER_FAST\" or \
                     \"INTEGER_ACCURATE\". PNG and GIF files with one image are decoded, too.",
                )
                .input("contents", Str)
                .output("image", U8),
        )
        .infer(infer_image)
        .kernel(Kernel::pure(|cx| run(cx, &Wanted::of(cx)?)).cost(SLOW)),
        jpeg_attrs(
            OpDef::new("DecodeAndCropJpeg")
                .doc(
                    "Decodes a part of a JPEG file to an image of shape `[height, width, channels]`. `crop_window` \
                     holds the first row, the first column, the height and the width of the part.",
                )
                .input("contents", Str)
                .input("crop_window", I32)
                .on_host()
                .output("image", U8),
        )
        .infer(infer_part)
        .kernel(Kernel::pure(run_part).cost(SLOW)),
    ]
}

/// The cost of reading a file.
pub(super) const SLOW: Cost = Cost::Estimate(|_, _| 1e6);

fn infer_part(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    if let Some(n) = cx.vector(1)? {
        ensure!(n == 4, "Dimension must be 4 but is {n}"; "`crop_window` is top, left, height and width");
    }
    let depth = channels(cx)?;
    let window = cx.ints(1);
    let side = |i: usize| -> Dim { usize::try_from(*window.as_ref()?.get(i)?).ok() };
    cx.set(0, PartialShape::from([side(2), side(3), depth]));
    Ok(())
}

fn run_part(cx: &mut KernelCx) -> Result<()> {
    let window = cx.ints(1)?;
    let [top, left, height, width] = window[..] else {
        return Err(invalid!(
            "crop_window must have four elements{}", cx.input(1).shape(); "`crop_window` is top, left, height and width"
        ));
    };
    let wanted = Wanted { window: Some([top, left, height, width]), ..Wanted::of(cx)? };
    run(cx, &wanted)
}

cases! {
    infers: "DecodeJpeg(str[]; channels=3) : u8[?,?,3]",
    infers_a_part: "DecodeAndCropJpeg(str[], [1 2 3 4]) : u8[3,4,?]",
    one_file: "DecodeJpeg(str[2]) ! `contents` must be a scalar",
    of_a_known_kind: r#"DecodeJpeg("abc") ! got unknown format starting with 'abc'"#,
    of_something: r#"DecodeJpeg("") ! got empty file"#,
    channels_of_jpeg: r#"DecodeJpeg("abc"; channels=2) ! channels must be 0, 1, 3, or 4, got 2"#,
    a_transform: r#"DecodeJpeg("abc"; dct_method="x") ! dct_method must be one of"#,
    a_ratio: r#"DecodeJpeg("abc"; ratio=3) ! ratio must be 1, 2, 4, or 8, got 3"#,
    a_window: "DecodeAndCropJpeg(str[], i32[3]) ! Dimension must be 4 but is 3",
}
