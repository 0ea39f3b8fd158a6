//! [`Json`]: the output of `--json`. Objects keep the order of their fields.

use crate::value;
use millstream::Tensor;
use std::fmt;

/// A JSON value.
#[derive(Clone)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// The digits as they are printed.
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// The elements of a tensor, as nested lists. They are written one by one, since each takes a hundred
    /// times its size as a value of its own.
    Elements(Tensor),
    Object(Vec<(&'static str, Json)>),
}

/// Makes an object: `object! { "name": name, "count": 3 }`.
macro_rules! object {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::json::Json::Object(vec![$(($name, $crate::json::Json::from($value))),*])
    };
}
pub(crate) use object;

impl Json {
    /// A field of an object; null if there is none of this name.
    fn field(&self, name: &str) -> &Json {
        let fields = if let Json::Object(fields) = self { fields.as_slice() } else { &[] };
        fields.iter().find(|(n, _)| *n == name).map_or(&Json::Null, |(_, value)| value)
    }

    /// The text or the digits of a field; `-` if it is null.
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.field(name) {
            Json::Text(text) | Json::Number(text) => text,
            _ => "-",
        }
    }

    /// Adds a field to the object.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Json>) -> Json {
        if let Json::Object(fields) = &mut self {
            fields.push((name, value.into()));
        }
        self
    }

    /// The items of a list in a field.
    pub(crate) fn list(&self, name: &str) -> &[Json] {
        match self.field(name) {
            Json::List(items) => items,
            _ => &[],
        }
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Json {
        Json::List(items.into_iter().map(Into::into).collect())
    }
}

macro_rules! from {
    ($($t:ty => |$v:ident| $json:expr;)*) => { $(
        impl From<$t> for Json {
            fn from($v: $t) -> Json { $json }
        }
    )* };
}
from! {
    bool => |v| Json::Bool(v);
    u32 => |v| Json::Number(v.to_string());
    u64 => |v| Json::Number(v.to_string());
    usize => |v| Json::Number(v.to_string());
    &str => |v| Json::Text(v.to_owned());
    &String => |v| Json::Text(v.clone());
    String => |v| Json::Text(v);
    Vec<Json> => |v| Json::List(v);
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(v) => write!(f, "{v}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => string(f, text),
            Json::Elements(tensor) => value::write_elements(tensor, f),
            Json::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Json::Object(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { "," })?;
                    string(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
