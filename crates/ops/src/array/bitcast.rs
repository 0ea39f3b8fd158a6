//! `Bitcast`: reinterprets bytes as elements of another dtype.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, *};
use millstream_tensor::{Dim, PartialShape, Result, Shape, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Bitcast")
        .doc(
            "Reinterprets the bytes of `input` as elements of another dtype. A narrower dtype adds a last \
             axis with the parts of each element; a wider one removes the last axis, whose elements must \
             make up exactly one element.",
        )
        .input("input", "T")
        .output("output", "type")
        .attr("T", OneOf(PLAIN))
        .attr("type", OneOf(PLAIN))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("its elements are bits"))
}

const PLAIN: &[DType] =
    &[BF16, F16, F32, F64, I64, I32, U8, U16, U32, U64, I8, I16, C64, C128, QI8, QU8, QI16, QU16, QI32];

/// Returns the shape of the elements of `dims` after reinterpreting `from` as `to`.
fn cast_dims(dims: &[Dim], from: DType, to: DType) -> Result<Vec<Dim>> {
    let (Some(old), Some(new)) = (from.size(), to.size()) else {
        return Err(invalid!("{from} cannot be bitcast to {to}: both must be plain data"));
    };
    let mut out = dims.to_vec();
    if old > new {
        out.push(Some(old / new));
    } else if old < new {
        let parts = new / old;
        let last = out.pop();
        ensure!(
            last.is_some_and(|d| d.is_none_or(|d| d == parts)),
            "Cannot bitcast due to shape. {} does not match {parts}", last.flatten().unwrap_or(0);
            "`input` of {from} has shape {}, but to become {to} its last axis must have size {parts}",
            PartialShape::new(dims.iter().copied())
        );
    }
    Ok(out)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let dims = cast_dims(dims, cx.dtype(0), cx.attrs().dtype("type")?)?;
    cx.set(0, PartialShape::new(dims));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, to) = (cx.input(0), cx.attrs().dtype("type")?);
    let dims: Vec<Dim> = input.shape().iter().map(|&d| Some(d)).collect();
    let dims = cast_dims(&dims, input.dtype(), to).map_err(|e| {
        e.led_by(format!("Cannot bitcast from {} to {}", input.dtype().number(), to.number()))
    })?;
    let shape = Shape::new(dims.into_iter().flatten());
    let out = input.bitcast(to, shape)?;
    cx.set(0, out);
    Ok(())
}

cases! {
    same_width: "Bitcast(1.0; type=i32) = 1065353216",
    narrower: "Bitcast([1.0]; type=u16) = u16 [[0 16256]]",
    wider: "Bitcast(u8[2,4] [[0 0 128 63] [0 0 0 64]]; type=f32) = [1.0 2.0]",
    to_a_scalar: "Bitcast(u8[4] [0 0 128 63]; type=f32) = 1.0",
    itself: "Bitcast([1 2]; type=i32) = [1 2]",
    infers: "Bitcast(f64[?,3]; type=i32) : i32[?,3,2]",
    infers_wider: "Bitcast(i32[5,?]; type=f64) : f64[5]",
    wrong_size: "Bitcast(u8[3] [1 2 3]; type=f32) ! its last axis must have size 4",
    a_scalar_is_too_small: "Bitcast(1.0; type=f64) ! its last axis must have size 2",
    no_strings: "Bitcast('a'; type=f64) ! Bitcast does not work on str",
}
