//! `Where`: the indices of the non-zero elements.

use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::*;
use millstream_tensor::{Element, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Where")
        .doc(
            "Returns the indices of the elements that are true or non-zero, one row for each, in row-major \
             order.",
        )
        .input("input", "T")
        .output("index", I64)
        .attr(
            "T",
            OneOf(&[
                F32, F64, I32, U8, I16, I8, C64, I64, QI8, QU8, QI32, BF16, QI16, QU16, U16, C128, F16, U32,
                U64, Bool,
            ])
            .or(Bool),
        )
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set(0, PartialShape::new([None, cx.input(0).rank()]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    ensure!(input.rank() > 0, "WhereOp : Unhandled input dimensions: 0"; "`input` must have rank 1 or more but is a scalar");
    let index = with_element!(input.dtype(), T => nonzero::<T>(input)?, else => return Err(invalid!("{} has no zero", input.dtype())));
    cx.set(0, index);
    Ok(())
}

fn nonzero<T: Element>(input: &Tensor) -> Result<Tensor> {
    let zero = T::default();
    let values = input.as_slice::<T>()?;
    let count = values.iter().filter(|v| **v != zero).count();
    let shape: &Shape = input.shape();
    let steps = shape.strides();
    let found = values.iter().enumerate().filter(|(_, v)| **v != zero);
    let rows = found
        .flat_map(|(at, _)| shape.iter().zip(&steps).map(move |(&d, &s)| (at / s.max(1) % d.max(1)) as i64));
    Tensor::from_iter([count, shape.rank()], rows)
}

cases! {
    of_a_vector: "Where([true false true]) = i64 [[0] [2]]",
    of_a_matrix: "Where([[0.0 1.5] [nan -0.0]]) = i64 [[0 1] [1 0]]",
    of_nothing: "Where([0 0]) = i64[0,1] []",
    not_of_a_scalar: "Where(true) ! `input` must have rank 1 or more but is a scalar",
    of_an_empty_tensor: "Where(i32[2,0] []) = i64[0,2] []",
    infers: "Where(bool[?,3]) : i64[?,2]",
    unknown_rank: "Where(bool[..]) : i64[?,?]",
    no_strings: "Where(['a']) ! Where does not work on str",
}
