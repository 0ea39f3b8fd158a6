//! `--feed`: the values to feed, from literals and NumPy files, converted to the types of the graph.

use crate::failure::{Failure, Outcome, file_error};
use millstream::engine::tensor::{invalid, npy, with_element};
use millstream::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The argument of one `--feed`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Feed {
    /// `NAME=VALUE`.
    One(String, Value),
    /// `@file.npz`: every array under its own name.
    All(PathBuf),
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Literal(String),
    Npy(PathBuf),
    /// An array of an archive: the one with this key, or the one named like the output that is fed.
    Npz(PathBuf, Option<String>),
}

impl FromStr for Feed {
    type Err = String;

    fn from_str(text: &str) -> Result<Feed, String> {
        let form = "a feed is NAME=VALUE, NAME=@file.npy, NAME=@file.npz:KEY or @file.npz";
        if let Some(path) = text.strip_prefix('@').filter(|p| p.ends_with(".npz")) {
            return Ok(Feed::All(path.into()));
        }
        let (name, value) = text.split_once('=').ok_or(form)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(format!("the name is missing: {form}"));
        }
        Ok(Feed::One(name.to_owned(), value.parse()?))
    }
}

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Value, String> {
        let Some(path) = text.strip_prefix('@') else { return Ok(Value::Literal(text.to_owned())) };
        if path.ends_with(".npy") {
            return Ok(Value::Npy(path.into()));
        }
        if path.ends_with(".npz") {
            return Ok(Value::Npz(path.into(), None));
        }
        match path.split_once(".npz:") {
            Some((stem, key)) => Ok(Value::Npz(format!("{stem}.npz").into(), Some(key.to_owned()))),
            None => Err(format!(
                "`{path}` does not end in .npy, .npz or .npz:KEY (put a string that starts with @ in quotes: '\"@..\"')"
            )),
        }
    }
}

/// The values of all feeds, each converted for the output that it replaces. Archives are read once.
pub(crate) fn resolve<'g>(graph: &'g Graph, feeds: &[Feed]) -> Outcome<Vec<(Output<'g>, Tensor)>> {
    let mut archives: BTreeMap<&Path, Vec<(String, Tensor)>> = BTreeMap::new();
    for feed in feeds {
        if let Feed::All(path) | Feed::One(_, Value::Npz(path, _)) = feed
            && !archives.contains_key(path.as_path())
        {
            let file = File::open(path).map_err(|e| file_error("open", path, &e))?;
            archives.insert(path, npy::read_npz(BufReader::new(file)).map_err(|e| in_file(e, path))?);
        }
    }
    let mut list: Vec<(Output<'g>, Tensor)> = Vec::new();
    let mut add = |name: &str, value: &dyn Fn(Output<'g>) -> Outcome<Tensor>| -> Outcome {
        let output = graph.output(name).map_err(|e| e.note(format!("in --feed    `{name}`")))?;
        if list.iter().any(|(o, _)| o.port() == output.port()) {
            return Err(Failure::Usage(format!("`{name}` is fed twice")));
        }
        list.push((output, value(output)?));
        Ok(())
    };
    for feed in feeds {
        match feed {
            Feed::All(path) => {
                for (key, value) in archives.get(path.as_path()).into_iter().flatten() {
                    add(key, &|output| {
                        fit(output, value.clone(), &|| format!("{key} of {}", path.display()))
                    })?;
                }
            }
            Feed::One(name, Value::Literal(text)) => add(name, &|output| literal(output, text))?,
            Feed::One(name, Value::Npy(path)) => add(name, &|output| {
                let file = File::open(path).map_err(|e| file_error("open", path, &e))?;
                let value = npy::read(&mut BufReader::new(file)).map_err(|e| in_file(e, path))?;
                fit(output, value, &|| path.display().to_string())
            })?,
            Feed::One(name, Value::Npz(path, key)) => add(name, &|output| {
                let arrays = archives.get(path.as_path()).map_or(&[][..], Vec::as_slice);
                let full = output.name();
                let found = arrays.iter().find(|(k, _)| match key {
                    Some(key) => k == key,
                    None => k == name || *k == full,
                });
                let Some((key, value)) = found else {
                    let key = key.as_deref().unwrap_or(name);
                    return Err(no_array(key, arrays, path).into());
                };
                fit(output, value.clone(), &|| format!("{key} of {}", path.display()))
            })?,
        }
    }
    Ok(list)
}

fn in_file(error: Error, path: &Path) -> Error {
    error.note(format!("in file      `{}`", path.display()))
}

fn no_array(key: &str, arrays: &[(String, Tensor)], path: &Path) -> Error {
    let there: Vec<_> = arrays.iter().take(8).map(|(k, _)| format!("`{k}`")).collect();
    let more = if arrays.len() > there.len() { ", .." } else { "" };
    Error::new(millstream::Code::NotFound, format!("`{}` has no array `{key}`", path.display())).with_help(
        format!("it has {}{more}", if there.is_empty() { "none".into() } else { there.join(", ") }),
    )
}

/// A literal, converted to the dtype and shape of an output.
fn literal(output: Output<'_>, text: &str) -> Outcome<Tensor> {
    let dtype = output.dtype()?;
    let read = read(dtype, text.trim()).and_then(|value| {
        // `inf` is meant, 1e400 is not.
        match value.has_infinite() && !text.to_ascii_lowercase().contains("inf") {
            true => Err(invalid!("a number is too large for its dtype: it would become infinity")
                .with_help("write `inf` for an infinity")),
            false => Ok(value),
        }
    });
    let value = read.map_err(|e| e.note(format!("in --feed    `{}={text}`", output.name())))?;
    fit(output, value, &|| text.to_owned())
}

/// Parses a literal, in the wanted dtype if possible: `0.1` for an f64 keeps all its digits.
fn read(dtype: DType, text: &str) -> Result<Tensor> {
    let first = text.split(|c: char| c.is_whitespace() || c == '[').next().unwrap_or("");
    let says_dtype = DType::parse(first).is_some() && text.len() > first.len();
    if dtype == DType::Str {
        let looks_like_a_tensor =
            text.starts_with(['[', '"', '\'']) || (says_dtype && first.starts_with("str"));
        return match Tensor::parse(text) {
            Ok(value) if looks_like_a_tensor && value.dtype() == DType::Str => Ok(value),
            // `["a" b]` is an error; `[x]` and `'tis` are plain texts.
            Err(e) if text.starts_with('"') || text.starts_with("[\"") => Err(e),
            _ => Ok(Tensor::str(text)),
        };
    }
    if says_dtype {
        return Tensor::parse(text);
    }
    // Whole numbers are parsed as i64, so that one which a float cannot hold is detected. Only floats have a
    // minus zero.
    if dtype.is_number()
        && !text.contains("-0")
        && let Ok(whole) = Tensor::parse(&format!("i64 {text}"))
    {
        return Ok(whole);
    }
    // A value of another dtype may be exact in this one. If it is no value at all, this dtype was meant.
    Tensor::parse(&format!("{dtype} {text}")).or_else(|e| Tensor::parse(text).map_err(|_| e))
}

/// Converts a value to the dtype and shape of an output; an error if that would lose information. The shape
/// comes first: converting a large value of a wrong shape would be work for nothing.
fn fit(output: Output<'_>, value: Tensor, from: &dyn Fn() -> String) -> Outcome<Tensor> {
    let (dtype, shape) = (output.dtype()?, output.shape());
    let Some(fitting) = fitting(&shape, value.shape()) else {
        let shown = cut(from());
        return Err(invalid!(
            "`{}` takes shape {shape}, and {shown} has shape {}",
            output.name(),
            value.shape()
        )
        .into());
    };
    let converted = convert(&value, dtype)?.ok_or_else(|| {
        let shown = cut(from());
        invalid!(
            "`{}` takes {dtype}, and {shown} ({}{}) cannot be converted to {dtype} without loss",
            output.name(),
            value.dtype(),
            value.shape()
        )
        .with_help(format!("give a value that {dtype} can hold"))
    })?;
    Ok(converted.reshape(fitting)?)
}

fn cut(text: String) -> String {
    match text.char_indices().nth(60) {
        None => format!("`{text}`"),
        Some((end, _)) => format!("`{}..`", text.get(..end).unwrap_or_default()),
    }
}

/// The shape to give a value: its own if that is allowed. If the element counts agree, a shape that differs
/// only in axes of size 1, or any shape for a flat list.
fn fitting(wanted: &PartialShape, have: &Shape) -> Option<Shape> {
    if wanted.contains(&have.into()) {
        return Some(have.clone());
    }
    let full = wanted.full()?;
    let squeezed = |s: &Shape| s.iter().copied().filter(|d| *d != 1).collect::<Vec<_>>();
    let alike = have.rank() <= 1 || squeezed(have) == squeezed(&full);
    (alike && full.checked_elements().ok()? == have.elements()).then_some(full)
}

/// The same values in another dtype; `None` if one has no equal there. An error if they exceed the memory
/// limit.
fn convert(value: &Tensor, dtype: DType) -> Result<Option<Tensor>> {
    let from = value.dtype();
    if from == dtype {
        return Ok(Some(value.clone()));
    }
    if from.size().is_none() || dtype.size().is_none() || (from == DType::Bool) != (dtype == DType::Bool) {
        return Ok(None);
    }
    // A `Fn` for each dtype that is read, and a loop for each that is written: not one loop for each pair.
    let read: Box<dyn Fn(usize) -> Any + '_> = with_element!(from, T => {
        let values = value.as_slice::<T>()?;
        Box::new(|i| values.get(i).map_or(Any::Whole(0), |v| v.value()))
    }, else => return Ok(None));
    with_element!(dtype, T => {
        let mut exact = true;
        let values = (0..value.elements()).map_while(|i| {
            let converted = <T as Number>::exactly(read(i));
            exact &= converted.is_some();
            converted
        });
        let converted = Tensor::from_iter::<T>(value.shape().clone(), values)?;
        Ok(exact.then_some(converted))
    }, else => Ok(None))
}

/// A number of any dtype.
#[derive(Clone, Copy)]
enum Any {
    Whole(i128),
    Real(f64),
    Complex(f64, f64),
}

/// An element that is a number; bools count as 0 and 1.
trait Number: Sized {
    fn value(&self) -> Any;
    fn exactly(from: Any) -> Option<Self>;
}

/// This number as a whole number, if it is one.
fn whole(from: Any) -> Option<i128> {
    match from {
        Any::Whole(n) => Some(n),
        // No integer dtype reaches 1e30, and an i128 holds any whole number below it.
        Any::Real(x) | Any::Complex(x, 0.0) => (x.fract() == 0.0 && x.abs() < 1e30).then_some(x as i128),
        Any::Complex(..) => None,
    }
}

/// This number as an f64, if that is exact.
fn real(from: Any) -> Option<f64> {
    match from {
        Any::Whole(n) => Some(n as f64).filter(|x| *x as i128 == n),
        Any::Real(x) | Any::Complex(x, 0.0) => Some(x),
        Any::Complex(..) => None,
    }
}

macro_rules! whole_numbers {
    ($($t:ty, $wrap:expr, $get:expr;)*) => { $(
        impl Number for $t {
            fn value(&self) -> Any {
                Any::Whole(i128::from($get(*self)))
            }
            fn exactly(from: Any) -> Option<Self> {
                whole(from)?.try_into().ok().map($wrap)
            }
        }
    )* };
}
use millstream::engine::tensor::{QInt8, QInt16, QInt32, QUInt8, QUInt16};
whole_numbers! {
    i8, |v: i8| v, |v: i8| v;
    i16, |v: i16| v, |v: i16| v;
    i32, |v: i32| v, |v: i32| v;
    i64, |v: i64| v, |v: i64| v;
    u8, |v: u8| v, |v: u8| v;
    u16, |v: u16| v, |v: u16| v;
    u32, |v: u32| v, |v: u32| v;
    u64, |v: u64| v, |v: u64| v;
    QInt8, QInt8, |v: QInt8| v.0;
    QInt16, QInt16, |v: QInt16| v.0;
    QInt32, QInt32, |v: QInt32| v.0;
    QUInt8, QUInt8, |v: QUInt8| v.0;
    QUInt16, QUInt16, |v: QUInt16| v.0;
}

impl Number for bool {
    fn value(&self) -> Any {
        Any::Whole(i128::from(*self))
    }
    fn exactly(from: Any) -> Option<Self> {
        Some(whole(from)? != 0)
    }
}

macro_rules! real_numbers {
    ($($t:ty, $narrow:expr, $widen:expr;)*) => { $(
        impl Number for $t {
            fn value(&self) -> Any {
                Any::Real($widen(*self))
            }
            fn exactly(from: Any) -> Option<Self> {
                let x = real(from)?;
                let narrow = $narrow(x);
                (x.is_nan() || $widen(narrow) == x).then_some(narrow)
            }
        }
    )* };
}
use millstream::engine::tensor::{C64, C128, bf16, f16};
real_numbers! {
    f16, f16::from_f64, f16::to_f64;
    bf16, bf16::from_f64, bf16::to_f64;
    f32, |x: f64| x as f32, f64::from;
    f64, |x: f64| x, |x: f64| x;
}

macro_rules! complex_numbers {
    ($($t:ty, $part:ty;)*) => { $(
        impl Number for $t {
            fn value(&self) -> Any {
                Any::Complex(f64::from(self.re), f64::from(self.im))
            }
            fn exactly(from: Any) -> Option<Self> {
                let (re, im) = match from {
                    Any::Complex(re, im) => (re, im),
                    other => (real(other)?, 0.0),
                };
                let part = |x| <$part>::exactly(Any::Real(x));
                Some(<$t>::new(part(re)?, part(im)?))
            }
        }
    )* };
}
complex_numbers! {
    C64, f32;
    C128, f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let one = |name: &str, value| Ok(Feed::One(name.into(), value));
        let check = |text: &str, want: Result<Feed, String>| assert_eq!(text.parse::<Feed>(), want, "{text}");
        check("x:0=3", one("x:0", Value::Literal("3".into())));
        check("x=a=b", one("x", Value::Literal("a=b".into())));
        check("x=", one("x", Value::Literal("".into())));
        check("x=@v.npy", one("x", Value::Npy("v.npy".into())));
        check("x=@v.npz", one("x", Value::Npz("v.npz".into(), None)));
        check("x=@a/v.npz:y:0", one("x", Value::Npz("a/v.npz".into(), Some("y:0".into()))));
        check("@v.npz", Ok(Feed::All("v.npz".into())));
        for wrong in ["x", "=3", "x=@v.txt", "@v.npy"] {
            assert!(wrong.parse::<Feed>().is_err(), "{wrong}");
        }
    }

    #[track_caller]
    fn check(text: &str, dtype: DType, shape: &[i64], want: Option<&str>) {
        let graph = Graph::new();
        let shape = PartialShape::from_signed(shape).unwrap();
        let x = graph.placeholder_of("x", dtype, shape);
        match (literal(x, text), want) {
            (Ok(got), Some(want)) => {
                let want = Tensor::parse(want).unwrap();
                assert!(got.bits_eq(&want), "{text}: {got}, not {want}");
            }
            (Err(Failure::Failed(_)), None) => {}
            (Err(Failure::Failed(e)), Some(_)) => panic!("{text}: {e}"),
            (Ok(got), None) => panic!("{text}: {got}"),
            _ => panic!("{text}: another failure"),
        }
    }

    #[test]
    fn literals() {
        use DType::*;
        check("3", F32, &[], Some("f32 3"));
        check("-3", F16, &[], Some("f16 -3"));
        check("3.0", I32, &[], Some("3"));
        check("3.5", I32, &[], None);
        check("300", U8, &[], None);
        check("-1", U64, &[], None);
        check("18446744073709551615", U64, &[], Some("u64 18446744073709551615"));
        check("16777217", F32, &[], None);
        check("16777217", F64, &[], Some("f64 16777217"));
        check("0.1", F64, &[], Some("f64 0.1"));
        check("0.1", BF16, &[], Some("bf16 0.1"));
        check("f64 0.1", F32, &[], None);
        check("f64 0.5", F32, &[], Some("0.5"));
        check("-0", F32, &[], Some("f32 -0"));
        check("nan", F32, &[], Some("f32 nan"));
        check("inf", I32, &[], None);
        check("[1 2, 3]", I64, &[-1], Some("i64[3] [1 2 3]"));
        check("[1 2 3 4]", F32, &[2, 2], Some("f32[2,2] [[1 2] [3 4]]"));
        check("7", F32, &[1, 1], Some("f32[1,1] [[7]]"));
        check("[[1 2 3]]", F32, &[3], Some("f32[3] [1 2 3]"));
        check("[[1 2] [3 4]]", F32, &[4], None);
        check("[1 2 3]", F32, &[2], None);
        check("f32[2,3] 0", F32, &[2, 3], Some("f32[2,3] [[0 0 0] [0 0 0]]"));
        check("true", Bool, &[], Some("true"));
        check("1", Bool, &[], None);
        check("true", I32, &[], None);
        check("1+2i", C128, &[], Some("c128 1+2i"));
        check("2", C64, &[], Some("c64 2"));
        check("5", QU8, &[], Some("qu8 5"));
        check("", F32, &[], None);
        check("[1", F32, &[], None);
    }

    #[test]
    fn errors_name_the_dtype_that_is_fed() {
        for (dtype, text) in [(DType::I64, "abc"), (DType::F32, "abc")] {
            let graph = Graph::new();
            let x = graph.placeholder_of("n", dtype, PartialShape::scalar());
            let Err(Failure::Failed(error)) = literal(x, text) else { panic!("{text} is no {dtype}") };
            let wanted = format!("`{text}` is not a valid {dtype}");
            assert!(error.to_string().contains(&wanted), "{error}");
        }
    }

    #[test]
    fn texts() {
        check("hello world", DType::Str, &[], Some("\"hello world\""));
        check("\"hello\"", DType::Str, &[], Some("\"hello\""));
        check("3", DType::Str, &[], Some("\"3\""));
        check("", DType::Str, &[], Some("\"\""));
        check("[\"a\" 'b']", DType::Str, &[2], Some("[\"a\" \"b\"]"));
        check("[\"a\"", DType::Str, &[], None);
        check("one", DType::Str, &[1], Some("[\"one\"]"));
    }
}
