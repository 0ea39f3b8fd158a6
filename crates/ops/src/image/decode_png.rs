//! `DecodePng`: the pixels of a PNG file.

use super::decode_jpeg::SLOW;
use super::files::{Wanted, infer_image, run};
use millstream_graph::op::spec::{Int, OneOf, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{Str, U8, U16};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodePng")
        .doc(
            "Decodes a PNG file to an image of shape `[height, width, channels]`. `channels` is 0, for the number in \
             the file, 1, 3 or 4. JPEG and GIF files with one image are decoded, too.",
        )
        .input("contents", Str)
        .output("image", "dtype")
        .attr("channels", Int.or(0))
        .attr("dtype", OneOf(&[U8, U16]).or(U8))
        .infer(infer_image)
        .kernel(Kernel::pure(|cx| run(cx, &Wanted::of(cx)?)).cost(SLOW))
}

cases! {
    infers: "DecodePng(str[]; channels=1, dtype=u16) : u16[?,?,1]",
    whole: "DecodePng(EncodePng(u8[1,2,3] [[[1 2 3] [200 100 50]]])) = u8[1,2,3] [[[1 2 3] [200 100 50]]]",
    gray: "DecodePng(EncodePng(u8[1,2,3] [[[1 2 3] [200 100 50]]]); channels=1) = u8[1,2,1] [[[1] [124]]]",
    with_alpha: "DecodePng(EncodePng(u8[1,1,1] [[[7]]]); channels=4) = u8[1,1,4] [[[7 7 7 255]]]",
    without_alpha: "DecodePng(EncodePng(u8[1,1,4] [[[7 8 9 10]]]); channels=3) = u8[1,1,3] [[[7 8 9]]]",
    wide: "DecodePng(EncodePng(u16[1,1,2] [[[1000 65535]]]); dtype=u16) = u16[1,1,2] [[[1000 65535]]]",
    of_known_kinds: r#"DecodePng("GIFT") ! got unknown format starting with 'GIFT'"#,
    one_file: "DecodePng(str[1]) ! `contents` must be a scalar",
}
