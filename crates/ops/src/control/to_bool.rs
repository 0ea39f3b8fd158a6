//! `ToBool`: a value as a condition.

use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ToBool")
        .doc(
            "Returns whether `input` counts as true: a number that is not zero, a string that is not empty, \
             or a tensor of rank 1 or higher that has elements.",
        )
        .input("input", "T")
        .output("output", DType::Bool)
        .attr("T", AnyType)
        .infer(|cx| {
            cx.set(0, PartialShape::scalar());
            Ok(())
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let holds = match input.rank() {
        0 => scalar_holds(input)?,
        _ => input.elements() > 0,
    };
    cx.set(0, Tensor::scalar(holds));
    Ok(())
}

// All bits of an integer or bool are zero only if it is zero. Floats are compared, because of minus zero.
fn scalar_holds(input: &Tensor) -> Result<bool> {
    if let Some([value]) = input.as_strs() {
        return Ok(!value.is_empty());
    }
    Ok(match input.dtype() {
        DType::F16 => f32::from(input.to_scalar::<millstream_tensor::f16>()?) != 0.0,
        DType::BF16 => f32::from(input.to_scalar::<millstream_tensor::bf16>()?) != 0.0,
        DType::F32 => input.to_scalar::<f32>()? != 0.0,
        DType::F64 => input.to_scalar::<f64>()? != 0.0,
        dtype if dtype.is_integer() || dtype == DType::Bool => {
            input.as_bytes().is_some_and(|bytes| bytes.iter().any(|b| *b != 0))
        }
        dtype => return Err(invalid!("a {dtype} cannot be converted to bool")),
    })
}

cases! {
    numbers_but_zero: "ToBool(-2) = true",
    zero: "ToBool(0) = false",
    minus_zero: "ToBool(-0.0) = false",
    not_a_number_is_not_zero: "ToBool(nan) = true",
    strings_that_say_something: "ToBool(\"a\") = true",
    empty_string: "ToBool(\"\") = false",
    one_element_is_enough: "ToBool([0]) = true",
    is_a_scalar: "ToBool(f32[?]) : bool[]",
    not_complex: "ToBool(c64 1+2i) ! a c64 cannot be converted to bool",
}
