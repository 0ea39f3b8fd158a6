//! Tensors as shortened text: as Assert and Print write them ([`flat`]), and as StringFormat does
//! ([`nested`]).

use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Error, Result, Tensor, bf16, f16};

/// A text that is written step by step. It is charged to the budget as it grows, and stops growing when the
/// budget or the time of the run is used up.
#[derive(Default)]
pub(crate) struct Written {
    text: Charged<u8>,
    pace: Pace,
    failed: Option<Error>,
}

impl Written {
    /// Appends a text.
    pub(crate) fn push_str(&mut self, text: &str) {
        if self.failed.is_none() {
            let done = self
                .pace
                .spend(1 + text.len() / 8)
                .and_then(|()| self.text.extend_from_slice(text.as_bytes()));
            self.failed = done.err();
        }
    }

    /// Whether nothing is written any more.
    fn is_over(&self) -> bool {
        self.failed.is_some()
    }

    /// The text, or the reason why it was not written.
    pub(crate) fn end(self) -> Result<Charged<u8>> {
        self.failed.map_or(Ok(self.text), Err)
    }

    /// As [`Written::end`], as a string. All that was written is UTF-8.
    pub(crate) fn text(self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.end()?).into_owned())
    }
}

/// A function that writes an element.
type Show<'a> = Box<dyn Fn(&mut Written, usize) + 'a>;

/// Formats the first `most` elements (all if negative) with brackets around inner axes, and `...` where some
/// are omitted: `1 2 3...`, `[1 2][3...]...`.
pub(crate) fn flat(tensor: &Tensor, most: i64, out: &mut Written) {
    let count = tensor.elements();
    let limit = limit(most, count);
    match elements(tensor, false) {
        None => return out.push_str("?"),
        Some(element) if tensor.rank() == 0 => {
            if limit > 0 {
                element(out, 0);
            }
        }
        Some(element) => flat_axis(tensor.shape(), 0, limit, &element, &mut 0, out),
    }
    if count > limit {
        out.push_str("...");
    }
}

fn flat_axis(
    dims: &[usize],
    axis: usize,
    limit: usize,
    element: &dyn Fn(&mut Written, usize),
    next: &mut usize,
    out: &mut Written,
) {
    let Some((&dim, inner)) = dims.split_first() else { return };
    for i in 0..dim {
        if out.is_over() {
            return;
        }
        if *next >= limit {
            if inner.is_empty() && axis > 0 && i > 0 {
                out.push_str("...");
            }
            return;
        }
        if inner.is_empty() {
            if i > 0 {
                out.push_str(" ");
            }
            element(out, *next);
            *next += 1;
        } else {
            out.push_str("[");
            flat_axis(inner, axis + 1, limit, element, next, out);
            out.push_str("]");
        }
    }
}

/// Formats a tensor with nested brackets and a line for each row. Of each axis the first and last `ends`
/// entries are written (all if negative): `[1 2 ... 8 9]`. Strings are quoted.
pub(crate) fn nested(tensor: &Tensor, ends: i64, out: &mut Written) {
    let count = tensor.elements();
    let limit = limit(ends, count);
    match elements(tensor, true) {
        None => out.push_str("?"),
        Some(_) if tensor.rank() == 0 && limit == 0 => out.push_str("..."),
        Some(element) => nested_axis(tensor.shape(), 0, limit, &element, 0, out),
    }
}

fn nested_axis(
    dims: &[usize],
    axis: usize,
    ends: usize,
    element: &dyn Fn(&mut Written, usize),
    start: usize,
    out: &mut Written,
) {
    let Some((&dim, inner)) = dims.get(axis..).and_then(<[usize]>::split_first) else {
        return element(out, start);
    };
    let each = inner.iter().fold(1usize, |n, d| n.saturating_mul(*d));
    let space = |out: &mut Written| match inner.len() {
        0 => out.push_str(" "),
        lines => {
            out.push_str(&"\n".repeat(lines));
            out.push_str(&" ".repeat(axis + 1));
        }
    };
    out.push_str("[");
    let first = ends.min(dim);
    for i in 0..first {
        if out.is_over() {
            return;
        }
        if i > 0 {
            space(out);
        }
        nested_axis(dims, axis + 1, ends, element, start + i * each, out);
    }
    if dim - first > ends {
        space(out);
        out.push_str("...");
    }
    for i in first.max(dim - first)..dim {
        if out.is_over() {
            return;
        }
        space(out);
        nested_axis(dims, axis + 1, ends, element, start + i * each, out);
    }
    out.push_str("]");
}

fn limit(most: i64, count: usize) -> usize {
    usize::try_from(most).map_or(count, |most| most.min(count))
}

/// Returns a function that writes an element, or `None` for dtypes without a text form.
fn elements(tensor: &Tensor, quoted: bool) -> Option<Show<'_>> {
    if let Some(strs) = tensor.as_strs() {
        let quote = if quoted { "\"" } else { "" };
        return Some(Box::new(move |out, i| {
            if let Some(s) = strs.get(i) {
                out.push_str(quote);
                escape(&s.text(), out);
                out.push_str(quote);
            }
        }));
    }
    macro_rules! by {
        ($t:ty, $show:expr) => {{
            let slice = tensor.as_slice::<$t>().ok()?;
            Some(Box::new(move |out: &mut Written, i: usize| {
                if let Some(v) = slice.get(i) {
                    out.push_str(&$show(*v));
                }
            }))
        }};
    }
    match tensor.dtype() {
        DType::F16 => by!(f16, |v: f16| float(v.to_f32())),
        DType::BF16 => by!(bf16, |v: bf16| float(v.to_f32())),
        DType::F32 => by!(f32, float),
        DType::F64 => by!(f64, double),
        DType::Bool => by!(bool, |v: bool| u8::from(v).to_string()),
        DType::I8 => by!(i8, |v: i8| v.to_string()),
        DType::I16 => by!(i16, |v: i16| v.to_string()),
        DType::I32 => by!(i32, |v: i32| v.to_string()),
        DType::I64 => by!(i64, |v: i64| v.to_string()),
        DType::U8 => by!(u8, |v: u8| v.to_string()),
        DType::U16 => by!(u16, |v: u16| v.to_string()),
        DType::U32 => by!(u32, |v: u32| v.to_string()),
        DType::U64 => by!(u64, |v: u64| v.to_string()),
        _ => None,
    }
}

fn escape(text: &str, out: &mut Written) {
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\'' | '\\' => {
                out.push_str("\\");
                out.push_str(c.encode_utf8(&mut [0; 4]));
            }
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", c as u32)),
            c => out.push_str(c.encode_utf8(&mut [0; 4])),
        }
        if out.is_over() {
            return;
        }
    }
}

/// Formats with 6 digits, or with 9 if 6 do not represent the value exactly.
fn float(value: f32) -> String {
    let short = general(value.into(), 6);
    if value.is_nan() || short.parse() == Ok(value) { short } else { general(value.into(), 9) }
}

/// Formats with 15 digits, or with 17 if 15 do not represent the value exactly.
fn double(value: f64) -> String {
    let short = general(value, 15);
    if value.is_nan() || short.parse() == Ok(value) { short } else { general(value, 17) }
}

/// Formats as C's `%.<digits>g`.
fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let text = format!("{:.*e}", digits - 1, value);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let trim = |s: &str| match s.contains('.') {
        true => s.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => s.to_owned(),
    };
    if exponent < -4 || digits as i64 <= exponent {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.unsigned_abs());
    }
    let decimals = (digits as i64 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}
