//! `StringToNumber`: parses numbers.

use crate::shared::strings::each;
use crate::shared::text_numbers::{FromText, number};
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64, Str, U32, U64};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("StringToNumber")
        .doc(
            "Parses each string as a number: decimal, or, for floats, also a hexadecimal integer, `inf` or `nan`. \
             White space around it is ignored, and a float that is all white space is 0. Integers have no plus sign; \
             those that do not fit are an error. Floats become infinite.",
        )
        .input("string_tensor", Str)
        .output("output", "out_type")
        .attr("out_type", OneOf(&[F32, F64, I32, I64, U32, U64]).or(F32))
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let result = match cx.attrs().dtype("out_type")? {
        F32 => parse::<f32>(cx),
        F64 => parse::<f64>(cx),
        I32 => parse::<i32>(cx),
        I64 => parse::<i64>(cx),
        U32 => parse::<u32>(cx),
        U64 => parse::<u64>(cx),
        other => Err(invalid!("a string cannot be converted to {other}")),
    }?;
    cx.set(0, result);
    Ok(())
}

fn parse<T: FromText>(cx: &KernelCx) -> Result<Tensor> {
    let values: Charged<T> = each(cx, |s| {
        number(s).ok_or_else(|| {
            invalid!(
                "StringToNumberOp could not correctly convert string: {}", String::from_utf8_lossy(s);
                "\"{}\" is not a valid {}", s.escape_ascii(), T::DTYPE
            )
        })
    })?;
    Tensor::from_slice(cx.input(0).shape().clone(), &values)
}

cases! {
    reads_floats: r#"StringToNumber([" 1 " "-2.5e3" ".5" "1." "+5" "  "]) = [1.0 -2500.0 0.5 1.0 5.0 0.0]"#,
    floats_overflow: r#"StringToNumber(["1e39" "-INF" "+inf" "nan"]) = [inf -inf inf nan]"#,
    reads_hexadecimal: r#"StringToNumber(["0x1F" "0X10" "-0x2"]; out_type=f64) = f64[3] [31 16 -2]"#,
    reads_integers: r#"StringToNumber([" -2147483648 " "007"]; out_type=i32) = [-2147483648 7]"#,
    keeps_the_shape: "StringToNumber(str[?,3]; out_type=i64) : i64[?,3]",
    integers_must_fit: r#"StringToNumber("2147483648"; out_type=i32) ! "2147483648" is not a valid i32"#,
    integers_have_no_point: r#"StringToNumber("1.0"; out_type=i32) ! "1.0" is not a valid i32"#,
    integers_have_no_plus: r#"StringToNumber("+3"; out_type=i64) ! could not correctly convert string: +3"#,
    blanks_are_no_integer: r#"StringToNumber("  "; out_type=i32) ! "  " is not a valid i32"#,
    nothing_is_no_number: r#"StringToNumber("") ! "" is not a valid f32"#,
    no_half_exponents: r#"StringToNumber("1e+") ! "1e+" is not a valid f32"#,
    no_binary_exponents: r#"StringToNumber("0x1p3") ! "0x1p3" is not a valid f32"#,
    no_words_of_others: r#"StringToNumber("Infinity") ! "Infinity" is not a valid f32"#,
}
