//! `ExtractJpegShape`: the size of the image in a JPEG file, from its head.

use super::jpeg::frame_of;
use crate::shared::strings::scalar;
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, Str};
use millstream_tensor::{PartialShape, Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("ExtractJpegShape")
        .doc("Returns the height, width and number of channels of the image in a JPEG file, without decoding it.")
        .input("contents", Str)
        .output("image_shape", "output_type")
        .attr("output_type", IndexType.or(I32))
        .infer(|cx| {
            cx.scalar(0)?;
            cx.set(0, PartialShape::from([3usize]));
            Ok(())
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let file = scalar(cx, 0)?;
    let frame = frame_of(file).map_err(|e| e.led_by(format!("Invalid JPEG data, size {}", file.len())))?;
    let sizes = [frame.height, frame.width, frame.components.len()];
    let out = match cx.attrs().dtype("output_type")? {
        I64 => Tensor::vector(&sizes.map(|n| n as i64))?,
        _ => Tensor::vector(&sizes.map(|n| n as i32))?,
    };
    cx.set(0, out);
    Ok(())
}

cases! {
    infers: "ExtractJpegShape(str[]; output_type=i64) : i64[3]",
    whole: r#"ExtractJpegShape("abc") ! Invalid JPEG data, size 3"#,
    one_file: "ExtractJpegShape(str[1]) ! `contents` must be a scalar",
}
