//! `Cast`: conversion of elements to another dtype.

use crate::shared::casting::{To, cast};
use millstream_graph::op::expression::{Operation, WordFn};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{
    Expression, GradCx, Gradient, InferCx, Kernel, KernelCx, Known, Lowering, Meaning, NodeInfo, OpDef,
    ScalarKernel,
};
use millstream_tensor::{DType, Element, Result, Scalar, Tensor, Word, with_element, with_word};

pub(crate) fn def() -> OpDef {
    OpDef::new("Cast")
        .doc(
            "Converts each element to `DstT`. Floats are truncated towards zero on conversion to integers, \
             and every number except 0 is true. If `Truncate` is true, conversion to a narrower float dtype \
             rounds towards zero.",
        )
        .input("x", "SrcT")
        .output("y", "DstT")
        .attr("SrcT", AnyType)
        .attr("DstT", AnyType)
        .attr("Truncate", Bool.or(false))
        .means(Meaning::Cast)
        .infer(infer)
        .kernel(Kernel::pure(run).scalar(|node| {
            let (src, dst) = (node.input_types.first()?.dtype, node.output_types.first()?.dtype);
            if node.attrs.bool("Truncate").ok()? {
                return None;
            }
            with_element!(src, S => with_element!(dst, D => Some(ScalarKernel::Unary(one::<S, D>)), else => None), else => None)
        }).lowered(lowering))
        .gradient(Gradient::of(grad))
}

// Known entries of shapes remain known through casts between the two index types.
fn infer(cx: &mut InferCx) -> Result<()> {
    cx.same_as_input()?;
    let fits = |v: i64| {
        cx.node().output_types.first().is_some_and(|t| match t.dtype {
            DType::I64 => true,
            DType::I32 => i32::try_from(v).is_ok(),
            _ => false,
        })
    };
    if let Some(Known::Partial { entries, scalar }) = cx.known(0)
        && entries.iter().flatten().all(|&v| fits(v))
        && fits(0)
    {
        cx.set_known(0, Known::Partial { entries: entries.clone(), scalar: *scalar });
    }
    Ok(())
}

fn one<S: Element + To<D>, D: Element>(x: &Scalar) -> Option<Scalar> {
    Some(S::of(x)?.to().scalar())
}

// The words of the elements, converted one by one.
fn lowering(node: &NodeInfo) -> Option<Lowering> {
    let (src, dst) = (node.input_types.first()?.dtype, node.output_types.first()?.dtype);
    if src == dst {
        return Some(Lowering::SameElements);
    }
    if node.attrs.bool("Truncate").ok()? {
        return None;
    }
    let run =
        with_word!(src, S => with_word!(dst, D => Some(word::<S, D> as WordFn), else => None), else => None)?;
    let operation = Operation { name: cast_name(dst)?, dtype: src, result: dst, run, tile: None };
    Some(Lowering::Elements(Expression::step(operation, 1)))
}

extern "C" fn word<S: Word + To<D>, D: Word>(x: u64, _: u64, _: u64) -> u64 {
    S::of_word(x).to().word()
}

// The name of the step, which tells compilers the dtype that it converts to.
fn cast_name(to: DType) -> Option<&'static str> {
    Some(match to {
        DType::F16 => "to_f16",
        DType::BF16 => "to_bf16",
        DType::F32 => "to_f32",
        DType::F64 => "to_f64",
        DType::I8 => "to_i8",
        DType::I16 => "to_i16",
        DType::I32 => "to_i32",
        DType::I64 => "to_i64",
        DType::U8 => "to_u8",
        DType::U16 => "to_u16",
        DType::U32 => "to_u32",
        DType::U64 => "to_u64",
        DType::Bool => "to_bool",
        _ => return None,
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut x = cx.take(0);
    let (src, dst) = (x.dtype(), cx.node.output_types[0].dtype);
    if src != dst {
        if src.is_float() && cx.attrs().bool("Truncate")? {
            x = cleared(x, dst)?;
        }
        x = cast(&x, dst)?;
    }
    cx.set(0, x);
    Ok(())
}

// Returns floats with the fraction bits that `dst` cannot hold set to zero, so that converting them does not
// round up.
fn cleared(mut x: Tensor, dst: DType) -> Result<Tensor> {
    let digits = |dtype| match dtype {
        DType::F64 => Some(52),
        DType::F32 => Some(23),
        DType::F16 => Some(10),
        DType::BF16 => Some(7),
        _ => None,
    };
    let Some((own, kept)) = digits(x.dtype()).zip(digits(dst)).filter(|(own, kept)| own > kept) else {
        return Ok(x);
    };
    let mask = u64::MAX << (own - kept);
    match x.dtype() {
        DType::F32 => {
            for v in x.make_mut_or_copy::<f32>()?.iter_mut().filter(|v| !v.is_nan()) {
                *v = f32::from_bits(v.to_bits() & mask as u32);
            }
        }
        DType::F64 => {
            for v in x.make_mut_or_copy::<f64>()?.iter_mut().filter(|v| !v.is_nan()) {
                *v = f64::from_bits(v.to_bits() & mask);
            }
        }
        _ => {}
    }
    Ok(x)
}

// A gradient passes only between float or complex dtypes. The gradient of a real number that became complex
// is the real part.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.dtype(0).carries_gradients() && cx.output_dtype(0).carries_gradients() {
        let dy = cx.grad(0);
        cx.give(0, cx.op("Cast").input(dy).attr("DstT", cx.dtype(0)).output());
    }
    Ok(())
}

cases! {
    towards_zero: "Cast([1.7 -1.7]; DstT=i32) = [1 -1]",
    what_does_not_fit: "Cast([nan inf 3e9 -3e9]; DstT=i32) = [-2147483648 -2147483648 -2147483648 -2147483648]",
    low_bits: "Cast([300.0 -1.0 nan]; DstT=u8) = u8 [44 255 0]",
    integers_wrap: "Cast([300 -3]; DstT=qi8) = qi8 [44 -3]",
    nan_is_true: "Cast([nan 0.0 -0.0 0.5]; DstT=bool) = [true false false true]",
    bools: "Cast([true false]; DstT=f32) = [1.0 0.0]",
    complex_to_real: "Cast(c64 [1.5+2i]; DstT=f64) = f64 [1.5]",
    real_to_complex: "Cast(3; DstT=c64) = c64 3",
    to_half: "Cast([1.0009766 65520.0]; DstT=f16) = f16 [1.001 inf]",
    rounds_to_nearest: "Cast([1.9999999]; DstT=bf16) = bf16 [2]",
    truncates: "Cast([1.9999999]; DstT=bf16, Truncate=true) = bf16 [1.9921875]",
    truncates_f64: "Cast(f64 [1.9999999999]; DstT=f32, Truncate=true) = [1.9999999]",
    to_the_same: "Cast([\"a\"]; DstT=str) = [\"a\"]",
    keeps_the_shape: "Cast(f32[?,3]; DstT=i64) : i64[?,3]",
    refuses_strings: "Cast(\"a\"; DstT=i32) ! str cannot be cast to i32",
}
