//! Reading the golden data's JSON, with errors that say what is missing where.

use serde_json::Value;
use std::path::Path;

/// What went wrong, for a person.
pub type Text<T> = Result<T, String>;

/// A file's JSON.
pub fn read(path: &Path) -> Text<Value> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A field that must be there.
pub fn field<'a>(value: &'a Value, name: &str) -> Text<&'a Value> {
    value.get(name).ok_or_else(|| format!("no `{name}` in {value}"))
}

/// A field that is text.
pub fn text<'a>(value: &'a Value, name: &str) -> Text<&'a str> {
    field(value, name)?.as_str().ok_or_else(|| format!("`{name}` is no text in {value}"))
}

/// A field that is a list.
pub fn list<'a>(value: &'a Value, name: &str) -> Text<&'a [Value]> {
    Ok(field(value, name)?.as_array().ok_or_else(|| format!("`{name}` is no list in {value}"))?)
}

/// A field that is a list of texts.
pub fn texts<'a>(value: &'a Value, name: &str) -> Text<Vec<&'a str>> {
    let items = list(value, name)?.iter();
    items.map(|v| v.as_str().ok_or_else(|| format!("`{v}` is no text"))).collect()
}
