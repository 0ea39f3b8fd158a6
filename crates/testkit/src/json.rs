//! Reading the JSON of golden data, with errors that name what is missing and where.

use serde_json::Value;
use std::path::Path;

/// A result whose error is a text for people.
pub type Text<T> = Result<T, String>;

/// Parses a JSON file.
pub fn read(path: &Path) -> Text<Value> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// A required field.
pub fn field<'a>(value: &'a Value, name: &str) -> Text<&'a Value> {
    value.get(name).ok_or_else(|| format!("no `{name}` in {value}"))
}

/// A required text field.
pub fn text<'a>(value: &'a Value, name: &str) -> Text<&'a str> {
    field(value, name)?.as_str().ok_or_else(|| format!("`{name}` is not a text in {value}"))
}

/// A required list field.
pub fn list<'a>(value: &'a Value, name: &str) -> Text<&'a [Value]> {
    Ok(field(value, name)?.as_array().ok_or_else(|| format!("`{name}` is not a list in {value}"))?)
}

/// A required field that is a list of texts.
pub fn texts<'a>(value: &'a Value, name: &str) -> Text<Vec<&'a str>> {
    let items = list(value, name)?.iter();
    items.map(|v| v.as_str().ok_or_else(|| format!("`{v}` is not a text"))).collect()
}
