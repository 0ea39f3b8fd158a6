//! Prints a message in text form, with TensorFlow's layout.
//!
//! The printer of `prost-reflect` is not used: it writes maps in the order of a hash map, which changes from
//! run to run, and it expands `Any`s inside `Any`s without a limit. Here map entries are sorted by key, and
//! an `Any` is printed as it is stored: a URL and bytes.

use std::fmt::Write;

use prost_reflect::{DynamicMessage, Kind, MapKey, Value};

/// The text form of a message: one field per line, in the order of the field numbers.
pub(super) fn print(message: &DynamicMessage) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    printer.fields(message);
    printer.text
}

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    // The recursion is bounded: the message was decoded, which limits its depth.
    fn fields(&mut self, message: &DynamicMessage) {
        for (field, value) in message.fields() {
            let (name, kind) = (field.name(), field.kind());
            match value {
                Value::List(items) => items.iter().for_each(|item| self.field(name, &kind, item)),
                Value::Map(entries) => self.entries(name, &kind, entries.iter().collect()),
                _ => self.field(name, &kind, value),
            }
        }
    }

    fn entries(&mut self, name: &str, kind: &Kind, mut entries: Vec<(&MapKey, &Value)>) {
        let Kind::Message(entry) = kind else { return };
        let (key_kind, value_kind) =
            (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
        entries.sort_by_key(|&(key, _)| key);
        for (key, value) in entries {
            self.block(name, |this| {
                this.field("key", &key_kind, &Value::from(key.clone()));
                this.field("value", &value_kind, value);
            });
        }
    }

    fn field(&mut self, name: &str, kind: &Kind, value: &Value) {
        match value {
            Value::Message(message) => self.block(name, |this| this.fields(message)),
            _ => {
                self.start_line();
                self.text.push_str(name);
                self.text.push_str(": ");
                self.scalar(kind, value);
                self.text.push('\n');
            }
        }
    }

    fn block(&mut self, name: &str, body: impl FnOnce(&mut Self)) {
        self.start_line();
        self.text.push_str(name);
        self.text.push_str(" {\n");
        self.indent += 2;
        body(self);
        self.indent -= 2;
        self.start_line();
        self.text.push_str("}\n");
    }

    fn start_line(&mut self) {
        self.text.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn scalar(&mut self, kind: &Kind, value: &Value) {
        match value {
            Value::Bool(v) => self.display(v),
            Value::I32(v) => self.display(v),
            Value::I64(v) => self.display(v),
            Value::U32(v) => self.display(v),
            Value::U64(v) => self.display(v),
            // `Debug` prints the shortest form that parses to the same number, with an exponent if that is
            // long.
            Value::F32(v) if !v.is_nan() => self.display(format_args!("{v:?}")),
            Value::F64(v) if !v.is_nan() => self.display(format_args!("{v:?}")),
            Value::F32(_) | Value::F64(_) => self.text.push_str("nan"),
            Value::String(v) => self.quoted(v.as_bytes()),
            Value::Bytes(v) => self.quoted(v),
            Value::EnumNumber(number) => match kind.as_enum().and_then(|known| known.get_value(*number)) {
                Some(known) => self.text.push_str(known.name()),
                None => self.display(number),
            },
            // These are not scalars; `fields` and `field` handle them.
            Value::Message(_) | Value::List(_) | Value::Map(_) => {}
        }
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        _ = write!(self.text, "{value}");
    }

    // Octal escapes always have three digits, so that a digit that follows is not part of the escape.
    fn quoted(&mut self, bytes: &[u8]) {
        self.text.push('"');
        for &byte in bytes {
            match byte {
                b'\n' => self.text.push_str("\\n"),
                b'\r' => self.text.push_str("\\r"),
                b'\t' => self.text.push_str("\\t"),
                b'"' => self.text.push_str("\\\""),
                b'\'' => self.text.push_str("\\'"),
                b'\\' => self.text.push_str("\\\\"),
                b' '..=b'~' => self.text.push(char::from(byte)),
                _ => self.display(format_args!("\\{byte:03o}")),
            }
        }
        self.text.push('"');
    }
}
