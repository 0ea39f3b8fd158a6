//! `ZerosLike` and `OnesLike`: zeros or ones in the shape of another tensor.

use crate::number::Num;
use crate::shared::lists;
use millstream_graph::op::spec::{AnyType, OneOf};
use millstream_graph::op::{Expression, Gradient, InferCx, Kernel, KernelCx, Lowering, NodeInfo, OpDef};
use millstream_tensor::DType::{self, *};
use millstream_tensor::{
    C64 as Complex64, C128 as Complex128, Error, Result, Tensor, Word, bf16, f16, with_element,
};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("ZerosLike")
            .doc(
                "Returns zeros (false, empty strings) in the shape of `x`. For a tensor list, returns a \
                 list of zeros.",
            )
            .attr("T", AnyType)
            .kernel(Kernel::pure(zeros).lowered(|node| constant(node, 0))),
        OpDef::new("OnesLike")
            .doc("Returns ones (true) in the shape of `x`.")
            .attr("T", OneOf(&[BF16, F16, F32, F64, I8, U8, I16, U16, I32, U32, I64, U64, C64, C128, Bool]))
            .kernel(Kernel::pure(ones).lowered(|node| constant(node, 1))),
    ]
    .map(|def| {
        def.input("x", "T").output("y", "T").infer(infer).gradient(Gradient::none("only the shape counts"))
    })
}

// The lowering of a tensor whose elements are all `value`.
fn constant(node: &NodeInfo, value: i8) -> Option<Lowering> {
    let word = match node.output_types.first()?.dtype {
        Bool => u64::from(value != 0),
        dtype => with_element!(dtype, T in reals => <T as Num>::int(value).word(), else => return None),
    };
    Some(Lowering::Elements(Expression::constant(word)))
}

// The zeros of a list are a list of the same dtype and shape.
fn infer(cx: &mut InferCx) -> Result<()> {
    match cx.handle(0) {
        Some(list) if cx.dtype(0) == Variant => cx.set_handle(0, list.dtype, list.shape.clone()),
        _ => cx.same_as_input()?,
    }
    Ok(())
}

fn zeros(cx: &mut KernelCx) -> Result<()> {
    let x = cx.input(0);
    let y = match x.dtype() {
        Variant => lists::zeros_like(x)?,
        dtype => Tensor::zeros(dtype, x.shape().clone())?,
    };
    cx.set(0, y);
    Ok(())
}

fn ones(cx: &mut KernelCx) -> Result<()> {
    let x = cx.input(0);
    let one = one(x.dtype())
        .ok_or_else(|| Error::unimplemented(format!("dtype {} has no value one", x.dtype())))?;
    let y = if x.rank() == 0 { one } else { Tensor::fill(x.shape().clone(), &one)? };
    cx.set(0, y);
    Ok(())
}

/// Returns one (or true) as a scalar of this dtype.
fn one(dtype: DType) -> Option<Tensor> {
    Some(match dtype {
        F16 => f16::ONE.into(),
        BF16 => bf16::ONE.into(),
        F32 => 1f32.into(),
        F64 => 1f64.into(),
        I8 => 1i8.into(),
        I16 => 1i16.into(),
        I32 => 1i32.into(),
        I64 => 1i64.into(),
        U8 => 1u8.into(),
        U16 => 1u16.into(),
        U32 => 1u32.into(),
        U64 => 1u64.into(),
        Bool => true.into(),
        C64 => Complex64::new(1.0, 0.0).into(),
        C128 => Complex128::new(1.0, 0.0).into(),
        _ => return None,
    })
}

cases! {
    zeros_of_floats: "ZerosLike([1.5 nan]) = [0.0 0.0]",
    zeros_of_a_scalar: "ZerosLike(i64 5) = i64 0",
    zeros_of_strings: "ZerosLike(['a']) = ['']",
    zeros_of_nothing: "ZerosLike(f32[0,2] []) = f32[0,2] []",
    zeros_keep_the_shape: "ZerosLike(f32[?,3]) : f32[?,3]",
    zeros_of_a_list: "TensorListStack(ZerosLike(TensorListFromTensor([[1 2] [3 4]], -1)), -1; element_dtype=i32) = [[0 0] [0 0]]",
    unwritten_stays_so: "TensorListStack(ZerosLike(TensorListReserve(-1, 2; element_dtype=i32)), -1; element_dtype=i32) ! no item has been written",
    zeros_of_lists_in_lists: "TensorListStack(TensorListGetItem(ZerosLike(TensorListPushBack(EmptyTensorList(i32[0] [], -1; element_dtype=variant), \
                              TensorListFromTensor([1 2], -1))), 0, -1; element_dtype=variant), -1; element_dtype=i32) = [0 0]",
    keeps_what_is_known: "TensorListStack(ZerosLike(TensorListReserve([2], 2; element_dtype=i32)), -1; element_dtype=i32) : i32[?,2]",
    ones_of_floats: "OnesLike([[1.5 nan]]) = [[1.0 1.0]]",
    ones_of_bools: "OnesLike([false true]) = [true true]",
    ones_of_complex: "OnesLike(c128 2+2i) = c128 1+0i",
    ones_keep_the_shape: "OnesLike(i64[..]) : i64[..]",
    no_ones_of_strings: "OnesLike('a') ! OnesLike does not work on str",
}
