//! `DecodePaddedRaw`: reinterprets the bytes of strings of any lengths as rows of numbers of one length.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64, I8, I16, I32, I64, Str, U8, U16};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodePaddedRaw")
        .doc(
            "Reinterprets the first `fixed_length` bytes of each string as values of `out_type`, along a new last \
             axis. A shorter string is padded with zero bytes.",
        )
        .input("input_bytes", Str)
        .input("fixed_length", I32)
        .on_host()
        .output("output", "out_type")
        .attr("out_type", OneOf(&[F16, F32, F64, I32, U16, U8, I16, I8, I64]))
        .attr("little_endian", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

/// Returns the number of values in a row.
fn width(length: i64, size: usize) -> Result<usize> {
    let length = usize::try_from(length).ok().filter(|length| 0 < *length).ok_or_else(
        || invalid!("fixed_length ({length}) must be greater than zero."; "`fixed_length` is {length}"),
    )?;
    ensure!(
        length.is_multiple_of(size),
        "fixed_length ({length}) must be a multiple of the size of out_type ({size})";
        "`fixed_length` is {length}"
    );
    Ok(length / size)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let size = cx.attrs().dtype("out_type")?.size().unwrap_or(1);
    let width = cx.int(1).map(|length| width(length, size)).transpose()?;
    if let Some(dims) = cx.input(0).dims() {
        cx.set(0, PartialShape::new(dims.iter().copied().chain([width])));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("out_type")?;
    let size = dtype.size().ok_or_else(|| invalid!("bytes cannot be decoded as {dtype}"))?;
    ensure!(
        cx.input(1).rank() == 0,
        "k must be scalar, got shape {}", cx.input(1).shape();
        "`fixed_length` has shape {}", cx.input(1).shape()
    );
    let width = width(cx.int(1)?, size)?;
    let (mut shape, length) = (cx.input(0).shape().clone(), width * size);
    shape.push(width);
    shape.checked_elements()?;
    let mut bytes = Charged::new();
    let mut pace = Pace::new();
    for string in strs(cx, 0)? {
        pace.spend(1 + length / 8)?;
        let end = bytes.len() + length;
        bytes.extend_from_slice(&string[..string.len().min(length)])?;
        bytes.resize_with(end, || 0)?;
    }
    if !cx.attrs().bool("little_endian")? {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    let out = Tensor::from_bytes(dtype, shape, &bytes)?;
    cx.set(0, out);
    Ok(())
}

cases! {
    pads: r#"DecodePaddedRaw(["abcd" "ab" ""], 4; out_type=i16) = i16 [[25185 25699] [25185 0] [0 0]]"#,
    cuts: r#"DecodePaddedRaw("abc", 2; out_type=u8) = u8 [97 98]"#,
    half_a_value: r#"DecodePaddedRaw(["abc"], 4; out_type=i16) = i16[1,2] [[25185 99]]"#,
    big_endian: r#"DecodePaddedRaw(["abc"], 4; out_type=i16, little_endian=false) = i16[1,2] [[24930 25344]]"#,
    nothing: "DecodePaddedRaw(str[0] [], 4; out_type=f32) = f32[0,1] []",
    infers: "DecodePaddedRaw(str[?,3], 8; out_type=f32) : f32[?,3,2]",
    infers_less: "DecodePaddedRaw(str[?,3], i32[]; out_type=f32) : f32[?,3,?]",
    whole_values: r#"DecodePaddedRaw("abc", 3; out_type=i16) ! must be a multiple of the size of out_type (2)"#,
    positive: r#"DecodePaddedRaw("abc", 0; out_type=i16) ! must be greater than zero"#,
}
