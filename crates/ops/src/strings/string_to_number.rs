//! `StringToNumber`: numbers read from text.

use super::each::{strs, trim};
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64, Str, U32, U64};
use millstream_tensor::{Element, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("StringToNumber")
        .doc(
            "The number that each string says: decimal, for floats also hexadecimal with a power of two, `inf` and `nan`. \
             White space around it does not matter. Integers that do not fit are an error, floats become infinite.",
        )
        .input("string_tensor", Str)
        .output("output", "out_type")
        .attr("out_type", OneOf(&[F32, F64, I32, I64, U32, U64]).or(F32))
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run))
}

/// A number that texts are read as.
pub(crate) trait FromText: Element {
    /// The number that the text says, which has no space around it.
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! from_text {
    ($($t:ty: $special:expr;)*) => { $(
        impl FromText for $t {
            fn from_text(text: &str) -> Option<$t> {
                text.parse().ok().or_else(|| $special(text))
            }
        }
    )* };
}
from_text! {
    f32: |text| special(text).map(|v| v as f32);
    f64: special;
    i32: |_| None;
    i64: |_| None;
    u32: |_| None;
    u64: |_| None;
}

/// The number that a text says, with or without space around it.
pub(crate) fn number<T: FromText>(text: &[u8]) -> Option<T> {
    T::from_text(std::str::from_utf8(trim(text)).ok()?)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let result = match cx.attrs().dtype("out_type")? {
        F32 => parse::<f32>(cx),
        F64 => parse::<f64>(cx),
        I32 => parse::<i32>(cx),
        I64 => parse::<i64>(cx),
        U32 => parse::<u32>(cx),
        U64 => parse::<u64>(cx),
        other => Err(invalid!("strings are not read as {other}")),
    }?;
    cx.set(0, result);
    Ok(())
}

fn parse<T: FromText>(cx: &KernelCx) -> Result<Tensor> {
    let values = strs(cx, 0)?
        .iter()
        .map(|s| number(s).ok_or_else(|| {
            invalid!(
                "StringToNumberOp could not correctly convert string: {}", String::from_utf8_lossy(s);
                "\"{}\" is no {}", s.escape_ascii(), T::DTYPE
            )
        }));
    Tensor::from_slice(cx.input(0).shape().clone(), &values.collect::<Result<Vec<T>>>()?)
}

/// What Rust does not read: `nan(..)` and hexadecimal floats.
fn special(text: &str) -> Option<f64> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let rest = rest.to_ascii_lowercase();
    let value = match rest.strip_prefix("nan(").and_then(|r| r.strip_suffix(')')) {
        Some(tag) if tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') => f64::NAN,
        Some(_) => return None,
        None => hexadecimal(rest.strip_prefix("0x")?)?,
    };
    Some(if negative { -value } else { value })
}

/// `1.8p3`. The digits beyond 53 bits only say whether anything follows, so that rounding to f32 later is right too.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once('p') {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?.clamp(-100_000, 100_000)),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.len() + fraction.len() == 0 {
        return None;
    }
    let (mut mantissa, mut shift) = (0u64, exponent);
    for (i, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(digit.to_digit(16)?);
        let fits = mantissa < 1 << 48;
        mantissa = if fits { mantissa << 4 | digit } else { mantissa | u64::from(digit != 0) };
        // A digit kept behind the point makes the unit smaller, one dropped before it makes it larger.
        match (fits, i < whole.len()) {
            (true, false) => shift -= 4,
            (false, true) => shift += 4,
            _ => {}
        }
    }
    // In two steps, so that neither factor leaves the range of f64 before the product does.
    let half = (shift / 2).clamp(-1000, 1000);
    let other = (shift - half).clamp(-1000, 1000);
    Some(mantissa as f64 * 2f64.powi(half as i32) * 2f64.powi(other as i32))
}

cases! {
    reads_floats: r#"StringToNumber([" 1 " "-2.5e3" ".5" "1." "+5"]) = [1.0 -2500.0 0.5 1.0 5.0]"#,
    floats_overflow: r#"StringToNumber(["1e39" "-INF" "infinity" "nan(1)"]) = [inf -inf inf nan]"#,
    reads_hexadecimal: r#"StringToNumber(["0x1p3" "0x10" "-0x1.8p-1"]; out_type=f64) = f64[3] [8 16 -0.75]"#,
    reads_integers: r#"StringToNumber([" -2147483648 " "007" "+5"]; out_type=i32) = [-2147483648 7 5]"#,
    keeps_the_shape: "StringToNumber(str[?,3]; out_type=i64) : i64[?,3]",
    integers_must_fit: r#"StringToNumber("2147483648"; out_type=i32) ! "2147483648" is no i32"#,
    integers_have_no_point: r#"StringToNumber("1.0"; out_type=i32) ! "1.0" is no i32"#,
    nothing_is_no_number: r#"StringToNumber("  ") ! "  " is no f32"#,
    no_half_exponents: r#"StringToNumber("1e+") ! "1e+" is no f32"#,
}
