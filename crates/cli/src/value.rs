//! Tensors as JSON.

use crate::json::{Json, object};
use millstream::engine::tensor::with_element;
use millstream::{DType, Tensor};
use std::fmt;

/// `{"name", "dtype", "shape", "value"}` with the value as nested lists. Numbers that JSON lacks are the
/// texts `"nan"`, `"inf"` and `"-inf"`; a complex number is `[re, im]`; a string that is not UTF-8 is
/// `{"bytes": [..]}`; a handle is its description.
pub(crate) fn json(name: &str, value: &Tensor) -> Json {
    object! {
        "name": name,
        "dtype": value.dtype().tf_name(),
        "shape": shape(value.shape()),
        "value": elements(value),
    }
}

/// The elements alone, as nested lists.
pub(crate) fn elements(value: &Tensor) -> Json {
    Json::Elements(value.clone())
}

/// Writes the elements as nested lists.
pub(crate) fn write_elements(value: &Tensor, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (dtype, shape) = (value.dtype(), value.shape());
    match dtype {
        DType::Str => nested(f, shape, &mut value.as_strs().unwrap_or_default().iter().map(|s| text(s))),
        DType::Resource => nested(f, shape, &mut described(value.as_handles())),
        DType::Variant => nested(f, shape, &mut described(value.as_variants())),
        _ => with_element!(dtype, T => {
            nested(f, shape, &mut value.as_slice::<T>().unwrap_or_default().iter().map(Leaf::json))
        }, else => Ok(())),
    }
}

/// A shape as a list.
pub(crate) fn shape(dims: &[usize]) -> Json {
    dims.iter().copied().collect()
}

/// The recursion is bounded, since the rank is.
fn nested(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    leaves: &mut dyn Iterator<Item = Json>,
) -> fmt::Result {
    let Some((&n, inner)) = shape.split_first() else {
        return write!(f, "{}", leaves.next().unwrap_or(Json::Null));
    };
    // If an inner axis is empty, so is this list, whatever its size.
    let n = if inner.contains(&0) { 0 } else { n };
    f.write_str("[")?;
    for i in 0..n {
        f.write_str(if i == 0 { "" } else { "," })?;
        nested(f, inner, leaves)?;
    }
    f.write_str("]")
}

fn described<T: fmt::Debug>(values: Option<&[T]>) -> impl Iterator<Item = Json> {
    values.unwrap_or_default().iter().map(|v| Json::Text(format!("{v:?}")))
}

fn text(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => object! { "bytes": bytes.iter().map(|b| usize::from(*b)).collect::<Json>() },
    }
}

/// An element with a JSON form.
trait Leaf {
    fn json(&self) -> Json;
}

macro_rules! integers {
    ($($t:ty => |$v:ident| $n:expr;)*) => { $(
        impl Leaf for $t {
            fn json(&self) -> Json {
                let $v = self;
                Json::Number($n.to_string())
            }
        }
    )* };
}
use millstream::engine::tensor::{QInt8, QInt16, QInt32, QUInt8, QUInt16};
integers! {
    i8 => |v| v; i16 => |v| v; i32 => |v| v; i64 => |v| v;
    u8 => |v| v; u16 => |v| v; u32 => |v| v; u64 => |v| v;
    QInt8 => |v| v.0; QInt16 => |v| v.0; QInt32 => |v| v.0; QUInt8 => |v| v.0; QUInt16 => |v| v.0;
}

impl Leaf for bool {
    fn json(&self) -> Json {
        Json::Bool(*self)
    }
}

/// The shortest digits that parse to the same number of the type. Rust prints exponents as JSON does.
fn float(finite: bool, digits: impl fmt::Debug) -> Json {
    let digits = format!("{digits:?}");
    match finite {
        true => Json::Number(digits),
        false => Json::Text(digits.to_lowercase()),
    }
}

impl Leaf for f32 {
    fn json(&self) -> Json {
        float(self.is_finite(), self)
    }
}

impl Leaf for f64 {
    fn json(&self) -> Json {
        float(self.is_finite(), self)
    }
}

macro_rules! others {
    ($($t:ty => |$v:ident| $json:expr;)*) => { $(
        impl Leaf for $t {
            fn json(&self) -> Json {
                let $v = self;
                $json
            }
        }
    )* };
}
use millstream::engine::tensor::{C64, C128, bf16, f16};
others! {
    f16 => |v| v.to_f32().json();
    bf16 => |v| v.to_f32().json();
    C64 => |v| Json::List(vec![v.re.json(), v.im.json()]);
    C128 => |v| Json::List(vec![v.re.json(), v.im.json()]);
}

#[cfg(test)]
mod tests {
    use super::json;
    use millstream::Tensor;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let value = Tensor::parse(text).unwrap();
        let got = json("x", &value).to_string();
        assert_eq!(got, format!("{{\"name\":\"x\",{want}}}"), "{text}");
        serde_json::from_str::<serde_json::Value>(&got).unwrap();
    }

    #[test]
    fn tensors() {
        check("3", r#""dtype":"int32","shape":[],"value":3"#);
        check(
            "f32[2,2] [[1 -2.5] [inf nan]]",
            r#""dtype":"float32","shape":[2,2],"value":[[1.0,-2.5],["inf","nan"]]"#,
        );
        check("f64 1e300", r#""dtype":"float64","shape":[],"value":1e300"#);
        check("f32 0.1", r#""dtype":"float32","shape":[],"value":0.1"#);
        check("[true false]", r#""dtype":"bool","shape":[2],"value":[true,false]"#);
        check("c64 1-2i", r#""dtype":"complex64","shape":[],"value":[1.0,-2.0]"#);
        check(r#"["a\"b\n" "\xff"]"#, r#""dtype":"string","shape":[2],"value":["a\"b\n",{"bytes":[255]}]"#);
        check("f32[3,0] []", r#""dtype":"float32","shape":[3,0],"value":[]"#);
        check("f32[1000000000,0,7] []", r#""dtype":"float32","shape":[1000000000,0,7],"value":[]"#);
        check("i64 9007199254740993", r#""dtype":"int64","shape":[],"value":9007199254740993"#);
    }
}
