//! `DecodeGif`: the pixels of all frames of a GIF file.

use super::decode_jpeg::SLOW;
use super::files::{Wanted, run};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{Str, U8};
use millstream_tensor::PartialShape;

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeGif")
        .doc(
            "Decodes a GIF file to images of shape `[frames, height, width, 3]`: the canvas after each frame. \
             Transparency is ignored. JPEG and PNG files are decoded as one frame.",
        )
        .input("contents", Str)
        .output("image", U8)
        .infer(|cx| {
            cx.scalar(0)?;
            cx.set(0, PartialShape::from([None, None, None, Some(3)]));
            Ok(())
        })
        .kernel(Kernel::pure(|cx| run(cx, &Wanted { channels: 3, is_batch: true, ..Wanted::bytes() })).cost(SLOW))
}

cases! {
    infers: "DecodeGif(str[]) : u8[?,?,?,3]",
    of_a_png: "DecodeGif(EncodePng(u8[1,2,1] [[[1] [2]]])) = u8[1,1,2,3] [[[[1 1 1] [2 2 2]]]]",
    whole: r#"DecodeGif("GIF89a") ! Invalid GIF data (size 6)"#,
}
