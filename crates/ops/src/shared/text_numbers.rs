//! Parsing numbers as TensorFlow's kernels do: [`number`], for each type of [`FromText`].

use super::strings::trim;
use millstream_tensor::Element;

/// A number type that texts can be parsed as.
pub(crate) trait FromText: Element {
    /// Parses a text without white space around it.
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

/// Parses a text, ignoring white space around it.
pub(crate) fn number<T: FromText>(text: &[u8]) -> Option<T> {
    T::from_text(std::str::from_utf8(trim(text)).ok()?)
}

/// Parses what Rust does not: `nan(..)` and hexadecimal floats.
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

/// Parses `1.8p3`. Digits beyond 53 bits are only recorded as a sticky bit, so that later rounding to f32 is
/// also correct.
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
        // A kept digit behind the point makes the unit smaller; a dropped digit before it makes the unit
        // larger.
        match (fits, i < whole.len()) {
            (true, false) => shift -= 4,
            (false, true) => shift += 4,
            _ => {}
        }
    }
    // The power is applied in two steps, so that neither factor leaves the range of f64 before the product
    // does.
    let half = (shift / 2).clamp(-1000, 1000);
    let other = (shift - half).clamp(-1000, 1000);
    Some(mantissa as f64 * 2f64.powi(half as i32) * 2f64.powi(other as i32))
}
