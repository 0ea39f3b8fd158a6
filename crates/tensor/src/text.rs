//! The text form of one element, printed and parsed: the leaves of [`display`](crate::display) and
//! [`parse`](crate::parse).
//!
//! Numbers print as the shortest decimal that parses to the same bits. [`Leaf::read`] defines parsing; the
//! standard library has no shortest form for f16 and bf16, so printing those tries decimals until one parses
//! back.

use crate::element::types;
use crate::{Complex, QInt8, QInt16, QInt32, QUInt8, QUInt16, Str, bf16, f16};
use std::fmt::{self, Write};

/// An element of plain data with a text form.
pub(crate) trait Leaf: Sized {
    /// Writes the text. If `exact`, a NaN other than the usual one prints its bits.
    fn print(&self, out: &mut dyn Write, exact: bool) -> fmt::Result;
    /// Parses the output of `print`, and other common spellings.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! integers {
    ($($t:ident),*) => { $(
        impl Leaf for $t {
            fn print(&self, out: &mut dyn Write, _exact: bool) -> fmt::Result {
                write!(out, "{self}")
            }
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )* };
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! quantized {
    ($($t:ident),*) => { $(
        impl Leaf for $t {
            fn print(&self, out: &mut dyn Write, exact: bool) -> fmt::Result {
                self.0.print(out, exact)
            }
            fn read(text: &str) -> Option<Self> {
                Leaf::read(text).map($t)
            }
        }
    )* };
}
quantized!(QInt8, QUInt8, QInt16, QUInt16, QInt32);

impl Leaf for types::Bool {
    fn print(&self, out: &mut dyn Write, _exact: bool) -> fmt::Result {
        write!(out, "{self}")
    }
    fn read(text: &str) -> Option<Self> {
        match text {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        }
    }
}

// `$nan` is the usual NaN: positive, quiet, without payload.
macro_rules! floats {
    ($($t:ident, $bits:ty, $nan:expr, $shortest:expr, $read:expr;)*) => { $(
        impl Leaf for $t {
            fn print(&self, out: &mut dyn Write, exact: bool) -> fmt::Result {
                if self.is_nan() {
                    return match exact && self.to_bits() != $nan {
                        true => write!(out, "nan({:#x})", self.to_bits()),
                        false => out.write_str("nan"),
                    };
                }
                $shortest(out, *self)
            }
            fn read(text: &str) -> Option<Self> {
                if let Some(bits) = text.strip_prefix("nan(0x").and_then(|t| t.strip_suffix(')')) {
                    let value = $t::from_bits(<$bits>::from_str_radix(bits, 16).ok()?);
                    return value.is_nan().then_some(value);
                }
                match text {
                    "nan" => Some($t::from_bits($nan)),
                    _ => $read(text),
                }
            }
        }
    )* };
}
floats! {
    f32, u32, 0x7fc0_0000, |out: &mut dyn Write, v: f32| decimal(out, v, (v as f64).abs()), |t: &str| t.parse().ok();
    f64, u64, 0x7ff8_0000_0000_0000, |out: &mut dyn Write, v: f64| decimal(out, v, v.abs()), |t: &str| t.parse().ok();
    f16, u16, 0x7e00,
        |out: &mut dyn Write, v: f16| shortest(out, v.to_f64(), |w| f16::from_f64(w).to_bits() == v.to_bits()),
        |t: &str| t.parse().ok().map(f16::from_f64);
    bf16, u16, 0x7fc0,
        |out: &mut dyn Write, v: bf16| shortest(out, v.to_f64(), |w| bf16::from_f64(w).to_bits() == v.to_bits()),
        |t: &str| t.parse().ok().map(bf16::from_f64);
}

/// Prints very large and very small numbers with an exponent, others without. The standard library prints the
/// shortest digits in both forms.
fn decimal(out: &mut dyn Write, value: impl fmt::Display + fmt::LowerExp, size: f64) -> fmt::Result {
    if size == 0.0 || (1e-5..1e17).contains(&size) || size.is_infinite() {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    }
}

/// Prints the decimal with the fewest digits for which `same` holds. Five digits suffice for f16 and four for
/// bf16.
fn shortest(out: &mut dyn Write, value: f64, same: impl Fn(f64) -> bool) -> fmt::Result {
    let short =
        (0..6).find_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok().filter(|&v| same(v)));
    let value = short.unwrap_or(value);
    decimal(out, value, value.abs())
}

impl<T: Leaf + Default + PartialEq> Leaf for Complex<T> {
    fn print(&self, out: &mut dyn Write, exact: bool) -> fmt::Result {
        self.re.print(out, exact)?;
        let mut im = String::new();
        self.im.print(&mut im, exact)?;
        write!(out, "{}{im}i", if im.starts_with('-') { "" } else { "+" })
    }
    /// Parses `1+2i`, `1-2j`, `2i`, `1`.
    fn read(text: &str) -> Option<Self> {
        let Some(body) = text.strip_suffix(['i', 'j']) else {
            return Some(Complex::new(T::read(text)?, T::default()));
        };
        let bytes = body.as_bytes();
        let sign = (1..bytes.len())
            .rev()
            .find(|&i| matches!(bytes[i], b'+' | b'-') && !matches!(bytes[i - 1], b'e' | b'E'));
        match sign.and_then(|i| body.split_at_checked(i)) {
            Some((re, im)) => Some(Complex::new(T::read(re)?, T::read(im.strip_prefix('+').unwrap_or(im))?)),
            None => Some(Complex::new(T::default(), T::read(body)?)),
        }
    }
}

/// Prints a string in double quotes: unprintable characters are escaped, and bytes that are not UTF-8 print
/// as `\xff`.
pub(crate) fn print_str(out: &mut dyn Write, bytes: &[u8]) -> fmt::Result {
    out.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' => out.write_char(c)?,
                _ => write!(out, "{}", c.escape_debug())?,
            }
        }
        for b in chunk.invalid() {
            write!(out, "\\x{b:02x}")?;
        }
    }
    out.write_char('"')
}

/// Unescapes the text between the quotes of a string. The error is the byte offset of an invalid escape.
pub(crate) fn read_str(text: &str) -> Result<Str, usize> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain.as_bytes());
        let wrong = text.len() - escape.len();
        rest = unescape(escape.get(1..).unwrap_or(""), &mut out).ok_or(wrong)?;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(Str::from(out))
}

/// Decodes the escape after a backslash. Returns the text that follows it.
fn unescape<'a>(text: &'a str, out: &mut Vec<u8>) -> Option<&'a str> {
    let mut chars = text.chars();
    let simple = match chars.next()? {
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        '0' => 0,
        c @ ('\\' | '"' | '\'') => c as u8,
        'x' => {
            let digits = text.get(1..3).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
            out.push(u8::from_str_radix(digits, 16).ok()?);
            return text.get(3..);
        }
        'u' => {
            let (digits, rest) = text.strip_prefix("u{")?.split_once('}')?;
            let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
        _ => return None,
    };
    out.push(simple);
    Some(chars.as_str())
}

#[cfg(test)]
mod tests;
