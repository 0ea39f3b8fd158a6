//! `DecodeRaw`: reinterprets the bytes of strings as numbers.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, *};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeRaw")
        .doc(
            "Reinterprets the bytes of each string as values of `out_type`, along a new last axis. All \
             strings must have the same length.",
        )
        .input("bytes", Str)
        .output("output", "out_type")
        .attr("out_type", OneOf(&[F16, F32, F64, I32, U16, U8, I16, I8, I64, C64, C128, DType::Bool, BF16]))
        .attr("little_endian", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    if let Some(dims) = cx.input(0).dims() {
        let dims = dims.iter().copied().chain([None]);
        cx.set(0, PartialShape::new(dims));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("out_type")?;
    let size = dtype.size().ok_or_else(|| invalid!("bytes cannot be decoded as {dtype}"))?;
    let strings = strs(cx, 0)?;
    let length = strings.first().map_or(0, |s| s.len());
    if let Some((i, odd)) = strings.iter().enumerate().find(|(_, s)| s.len() != length) {
        return Err(invalid!(
            "DecodeRaw requires input strings to all be the same size, but element {i} has size {length} != {}", odd.len();
            "`bytes` holds strings of {length} and of {} bytes; they must be equally long",
            odd.len()
        ));
    }
    ensure!(
        length % size == 0,
        "Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of {}", dtype.tf_name();
        "`bytes` holds strings of {length} bytes, which is not a multiple of {size}, the size of {dtype}"
    );
    let mut shape = cx.input(0).shape().clone();
    shape.push(length / size);
    let _room = Room::of(length.saturating_mul(strings.len()))?;
    let (mut bytes, mut pace) = (Vec::with_capacity(length.saturating_mul(strings.len())), Pace::new());
    for s in strings {
        pace.spend(1 + length / 16)?;
        bytes.extend_from_slice(s);
    }
    if !cx.attrs().bool("little_endian")? {
        // The parts of a complex number are reversed separately.
        let part = if dtype.is_complex() { size / 2 } else { size };
        bytes.chunks_mut(part).for_each(<[u8]>::reverse);
    }
    let result = match dtype {
        DType::Bool => Tensor::from_iter(shape, bytes.iter().map(|b| *b != 0)),
        _ => Tensor::from_bytes(dtype, shape, &bytes),
    }?;
    cx.set(0, result);
    Ok(())
}

cases! {
    little_endian: r#"DecodeRaw(["abcd"]; out_type=i16) = i16[1,2] [[25185 25699]]"#,
    big_endian: r#"DecodeRaw("abcd"; out_type=i16, little_endian=false) = i16[2] [24930 25444]"#,
    bytes: r#"DecodeRaw("ab"; out_type=u8) = u8[2] [97 98]"#,
    nothing: r#"DecodeRaw(["" ""]; out_type=f32) = f32[2,0] []"#,
    adds_an_axis: "DecodeRaw(str[?,3]; out_type=f32) : f32[?,3,?]",
    equally_long: r#"DecodeRaw(["ab" "abcd"]; out_type=u8) ! strings of 2 and of 4 bytes"#,
    whole_values: r#"DecodeRaw("abc"; out_type=i16) ! not a multiple of 2"#,
}
