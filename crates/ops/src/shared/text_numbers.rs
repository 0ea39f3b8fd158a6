//! Parsing numbers as TensorFlow's kernels do: [`number`], for each type of [`FromText`].

use super::strings::trim;
use millstream_tensor::Element;

/// A number type that texts can be parsed as.
pub(crate) trait FromText: Element {
    /// The number of a text that is all white space.
    const BLANK: Option<Self>;

    /// Parses a text without white space around it.
    fn from_text(text: &str) -> Option<Self>;
}

macro_rules! floats {
    ($($t:ty)*) => { $(
        impl FromText for $t {
            const BLANK: Option<$t> = Some(0.0);
            fn from_text(text: &str) -> Option<$t> {
                let is_word = text.bytes().last().is_some_and(|b| b.eq_ignore_ascii_case(&b'y'));
                match is_word {
                    // Rust also knows `infinity`.
                    true => None,
                    false => text.parse().ok().or_else(|| hexadecimal(text).map(|v| v as $t)),
                }
            }
        }
    )* };
}
floats! { f32 f64 }

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl FromText for $t {
            const BLANK: Option<$t> = None;
            fn from_text(text: &str) -> Option<$t> {
                if text.starts_with('+') { None } else { text.parse().ok() }
            }
        }
    )* };
}
integers! { i32 i64 u32 u64 }

/// Parses a text, ignoring white space around it. As in TensorFlow, integers have no plus sign, and a float
/// that is all white space is 0.
pub(crate) fn number<T: FromText>(text: &[u8]) -> Option<T> {
    let trimmed = trim(text);
    if trimmed.is_empty() && !text.is_empty() {
        return T::BLANK;
    }
    T::from_text(std::str::from_utf8(trimmed).ok()?)
}

/// Parses a hexadecimal integer, such as `-0x1F`. Digits beyond 53 bits are only recorded as a sticky bit, so
/// that later rounding to f32 is also correct.
fn hexadecimal(text: &str) -> Option<f64> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let digits = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")).filter(|d| !d.is_empty())?;
    let (mut mantissa, mut shift) = (0u64, 0i32);
    for digit in digits.chars() {
        let digit = u64::from(digit.to_digit(16)?);
        match mantissa < 1 << 48 {
            true => mantissa = mantissa << 4 | digit,
            false => (mantissa, shift) = (mantissa | u64::from(digit != 0), shift.saturating_add(4)),
        }
    }
    let value = mantissa as f64 * 2f64.powi(shift);
    Some(if negative { -value } else { value })
}
