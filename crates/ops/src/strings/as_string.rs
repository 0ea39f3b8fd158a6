//! `AsString`: values formatted as text, as by C's `printf`.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{Bool, Int, OneOf, Spec, Text};
use millstream_graph::op::{BuildCx, Effect, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::{self, *};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Element, Result, Str as Bytes, Tensor, element::types, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("AsString")
        .doc(
            "Formats each value as text. Floats have `precision` digits (6 if it is negative) after the \
             decimal point, or are in `scientific` or `shortest` notation. `fill` is a flag of C's formats \
             (`0`, `-`, `+`, `#` or a space) that is used with `width`.",
        )
        .input("input", "T")
        .output("output", Str)
        .attr(
            "T",
            OneOf(&[F32, F64, I32, U8, I16, I8, I64, BF16, U16, F16, U32, U64, C64, C128, DType::Bool, Str]),
        )
        .attr("precision", Int.or(-1))
        .attr("scientific", Bool.or(false))
        .attr("shortest", Bool.or(false))
        .attr("width", Int.or(-1))
        .attr("fill", Text.or(""))
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::build(Effect::Pure, build))
}

/// The largest `width` and `precision`, because every element would be that long.
const LONGEST: i64 = 4096;

#[derive(Clone, Copy)]
enum Notation {
    Fixed,
    Scientific,
    Shortest,
}

/// A conversion specification of `printf`.
#[derive(Clone, Copy)]
struct Format {
    notation: Notation,
    precision: usize,
    width: usize,
    flag: Option<u8>,
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let attrs = &cx.node.attrs;
    let dtype = attrs.dtype("T")?;
    let (precision, width) = (attrs.int("precision")?, attrs.int("width")?);
    let (scientific, shortest) = (attrs.bool("scientific")?, attrs.bool("shortest")?);
    let of_floats = dtype.is_float() || dtype.is_complex();
    ensure!(
        of_floats || !(scientific || shortest),
        "scientific and shortest format not supported for datatype {}",
        dtype.tf_name();
        "`scientific` and `shortest` are for floats, not {dtype}"
    );
    ensure!(of_floats || precision < 0, "precision not supported for datatype {}", dtype.tf_name(); "`precision` is for floats, not {dtype}");
    ensure!(!(scientific && shortest), "Cannot select both scientific and shortest notation"; "`scientific` and `shortest` cannot both be true");
    ensure!(precision <= LONGEST, "`precision` is {precision} but may be {LONGEST} at most");
    ensure!(width <= LONGEST, "`width` is {width} but may be {LONGEST} at most");
    let fill = attrs.str("fill")?;
    let flag = match &**fill {
        [] => None,
        [flag @ (b'0' | b'-' | b'+' | b'#' | b' ')] => Some(*flag),
        other @ [_] => {
            return Err(invalid!(
                "Fill argument not supported: \"{}\"",
                other.escape_ascii();
                "`fill` must be 0, -, +, #, a space or empty"
            ));
        }
        other => {
            return Err(invalid!(
                "Fill string must be one or fewer characters";
                "`fill` is \"{}\" but must be 0, -, +, #, a space or empty",
                other.escape_ascii()
            ));
        }
    };
    let notation = match (scientific, shortest) {
        (true, _) => Notation::Scientific,
        (_, true) => Notation::Shortest,
        _ => Notation::Fixed,
    };
    let format = Format {
        notation,
        precision: usize::try_from(precision).unwrap_or(6),
        width: usize::try_from(width).unwrap_or(0),
        flag,
    };
    Ok(Box::new(move |cx: &mut KernelCx| {
        let mut texts = match cx.input(0).dtype() {
            F16 => each(cx, |v: types::F16| format.float(v.into())),
            BF16 => each(cx, |v: types::BF16| format.float(v.into())),
            F32 => each(cx, |v: f32| format.float(v.into())),
            F64 => each(cx, |v: f64| format.float(v)),
            C64 => each(cx, |v: types::C64| format.complex(v.re.into(), v.im.into())),
            C128 => each(cx, |v: types::C128| format.complex(v.re, v.im)),
            I8 => each(cx, |v: i8| format.int(v)),
            I16 => each(cx, |v: i16| format.int(v)),
            I32 => each(cx, |v: i32| format.int(v)),
            I64 => each(cx, |v: i64| format.int(v)),
            U8 => each(cx, |v: u8| format.int(v)),
            U16 => each(cx, |v: u16| format.int(v)),
            U32 => each(cx, |v: u32| format.int(v)),
            U64 => each(cx, |v: u64| format.unsigned(v)),
            DType::Bool => each(cx, |v: bool| v.to_string()),
            _ => Charged::try_of(strs(cx, 0)?.iter().map(|s| format.text(s))),
        }?;
        let result = Tensor::strings(cx.input(0).shape().clone(), texts.take())?;
        cx.set(0, result);
        Ok(())
    }))
}

fn each<T: Element>(cx: &KernelCx, write: impl Fn(T) -> String) -> Result<Charged<Bytes>> {
    Charged::try_of(cx.input(0).as_slice::<T>()?.iter().map(|v| Bytes::new(write(*v))))
}

impl Format {
    fn int(&self, v: impl Into<i64>) -> String {
        let v = v.into();
        self.pad(v < 0, v.unsigned_abs().to_string(), true)
    }

    fn unsigned(&self, v: u64) -> String {
        self.pad(false, v.to_string(), true)
    }

    fn complex(&self, re: f64, im: f64) -> String {
        format!("({},{})", self.float(re), self.float(im))
    }

    fn float(&self, v: f64) -> String {
        let digits = match v.abs() {
            a if a.is_nan() => "nan".to_owned(),
            a if a.is_infinite() => "inf".to_owned(),
            a => match self.notation {
                Notation::Fixed => self.fixed(a, self.precision),
                Notation::Scientific => self.scientific(a, self.precision),
                Notation::Shortest => self.shortest(a),
            },
        };
        self.pad(v.is_sign_negative(), digits, v.is_finite())
    }

    /// Returns the decimal point that `#` keeps if no digits follow.
    fn point(&self, precision: usize) -> &'static str {
        if precision == 0 && self.flag == Some(b'#') { "." } else { "" }
    }

    fn fixed(&self, v: f64, precision: usize) -> String {
        format!("{v:.precision$}{}", self.point(precision))
    }

    fn scientific(&self, v: f64, precision: usize) -> String {
        let (mantissa, exponent) = parts(v, precision);
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}{}e{sign}{:02}", self.point(precision), exponent.unsigned_abs())
    }

    fn shortest(&self, v: f64) -> String {
        let digits = self.precision.max(1);
        let exponent = parts(v, digits - 1).1;
        let fixed = exponent >= -4 && i64::from(exponent) < digits as i64;
        let text = match fixed {
            true => self.fixed(v, usize::try_from(digits as i64 - 1 - i64::from(exponent)).unwrap_or(0)),
            false => self.scientific(v, digits - 1),
        };
        if self.flag == Some(b'#') {
            return text;
        }
        let (mantissa, tail) = text.split_at(text.find('e').unwrap_or(text.len()));
        match mantissa.contains('.') {
            true => format!("{}{tail}", mantissa.trim_end_matches('0').trim_end_matches('.')),
            false => text,
        }
    }

    /// Adds the sign and pads to the width. Zeros go between the sign and the digits, but do not pad
    /// infinities and NaN.
    fn pad(&self, negative: bool, digits: String, zeros: bool) -> String {
        let sign = match (negative, self.flag) {
            (true, _) => "-",
            (false, Some(b'+')) => "+",
            (false, Some(b' ')) => " ",
            _ => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        match self.flag {
            Some(b'-') => format!("{sign}{digits}{}", " ".repeat(missing)),
            Some(b'0') if zeros => format!("{sign}{}{digits}", "0".repeat(missing)),
            _ => format!("{}{sign}{digits}", " ".repeat(missing)),
        }
    }

    fn text(&self, s: &Bytes) -> Result<Bytes> {
        let blanks = vec![b' '; self.width.saturating_sub(s.len())];
        match self.flag {
            _ if blanks.is_empty() => Ok(s.clone()),
            Some(b'-') => Bytes::join(&[s, &blanks], b""),
            _ => Bytes::join(&[&blanks, s], b""),
        }
    }
}

/// Returns the decimal mantissa, with `precision` digits after the point, and the exponent.
fn parts(v: f64, precision: usize) -> (String, i32) {
    let text = format!("{v:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse().unwrap_or(0)),
        None => (text, 0),
    }
}

cases! {
    floats: r#"AsString([3.14 -1e10 inf 1e-7]) = ["3.140000" "-10000000000.000000" "inf" "0.000000"]"#,
    precision: r#"AsString(3.14159; precision=3) = "3.142""#,
    scientific: r#"AsString([3.14 0.0 -1e10]; scientific=true) = ["3.140000e+00" "0.000000e+00" "-1.000000e+10"]"#,
    shortest: r#"AsString([3.14 -1e10 1e-7 0.0 100000.0 1e6]; shortest=true) = ["3.14" "-1e+10" "1e-07" "0" "100000" "1e+06"]"#,
    shortest_with_zeros: r##"AsString([3.14 100000.0]; shortest=true, fill="#") = ["3.14000" "100000."]"##,
    zeros_after_the_sign: r#"AsString([5 -7]; width=5, fill="0") = ["00005" "-0007"]"#,
    left: r#"AsString(5; width=3, fill="-") = "5  ""#,
    signs: r#"AsString([5 -7]; fill="+") = ["+5" "-7"]"#,
    infinity_takes_no_zeros: r#"AsString(inf; width=5, fill="0") = "  inf""#,
    complex: r#"AsString(1+2i; shortest=true) = "(1,2)""#,
    bools: r#"AsString([true false]; width=9) = ["true" "false"]"#,
    text: r#"AsString("a"; width=3) = "  a""#,
    keeps_the_shape: "AsString(f64[?,3]) : str[?,3]",
    no_precision_of_ints: "AsString(1; precision=2) ! `precision` is for floats, not i32",
    known_flags: r#"AsString(1; fill="x") ! Fill argument not supported: "x""#,
    one_notation: "AsString(1.0; scientific=true, shortest=true) ! cannot both be true",
}
