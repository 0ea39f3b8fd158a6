//! [`ProtoError`]: the error for bytes or text that are not a valid message.

use std::error::Error;
use std::fmt;

use prost::DecodeError;

// A parser's message may quote its input, which may be long. Both ends are informative: a wire error starts
// with the path to the field and ends with what is wrong there.
const KEPT_AT_EACH_END: usize = 150;

/// The error for bytes or text that are not a valid message.
#[derive(Clone, Debug)]
pub struct ProtoError(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    message_name: String,
    kind: Kind,
    reason: String,
}

#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "reflect"), expect(dead_code, reason = "only wire errors are made"))]
enum Kind {
    Wire { n_bytes: usize, looks_like_text: bool },
    Text { position: Option<(usize, usize)> },
    Json,
    Print,
}

impl ProtoError {
    /// The line and column of a text error, both starting at 1; `None` if the input was not text.
    pub fn position(&self) -> Option<(usize, usize)> {
        match self.0.kind {
            Kind::Text { position } => position,
            _ => None,
        }
    }

    pub(crate) fn wire(message_name: &str, bytes: &[u8], cause: DecodeError) -> Self {
        let kind = Kind::Wire { n_bytes: bytes.len(), looks_like_text: looks_like_text(bytes) };
        Self::new(message_name, kind, cause.to_string())
    }

    #[cfg(feature = "reflect")]
    pub(crate) fn text(message_name: &str, position: Option<(usize, usize)>, reason: String) -> Self {
        Self::new(message_name, Kind::Text { position }, reason)
    }

    #[cfg(feature = "reflect")]
    pub(crate) fn json(message_name: &str, reason: String) -> Self {
        Self::new(message_name, Kind::Json, reason)
    }

    #[cfg(feature = "reflect")]
    pub(crate) fn print(message_name: &str, reason: String) -> Self {
        Self::new(message_name, Kind::Print, reason)
    }

    fn new(message_name: &str, kind: Kind, reason: String) -> Self {
        Self(Box::new(Inner { message_name: message_name.to_owned(), kind, reason: cut(reason) }))
    }
}

impl fmt::Display for ProtoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message_name, kind, reason } = &*self.0;
        match kind {
            Kind::Wire { n_bytes, looks_like_text } => {
                write!(f, "{n_bytes} bytes are not a binary `{message_name}`: {reason}\n  help: ")?;
                f.write_str(match looks_like_text {
                    true => "they look like the text form; read them as text",
                    false => "check that the file is of this kind and was written to its end",
                })
            }
            Kind::Text { position: Some((line, column)) } => {
                write!(f, "line {line}, column {column}: not the text form of a `{message_name}`: {reason}")
            }
            Kind::Text { position: None } => write!(f, "not the text form of a `{message_name}`: {reason}"),
            Kind::Json => write!(f, "not the JSON form of a `{message_name}`: {reason}"),
            Kind::Print => write!(f, "a `{message_name}` cannot be written as text: {reason}"),
        }
    }
}

impl Error for ProtoError {}

fn cut(reason: String) -> String {
    let head = reason.char_indices().nth(KEPT_AT_EACH_END);
    let tail = reason.char_indices().nth_back(KEPT_AT_EACH_END);
    match (head, tail) {
        (Some((head, _)), Some((tail, _))) if head < tail => {
            let (head, tail) = (reason.get(..head), reason.get(tail..));
            format!("{} .. {}", head.unwrap_or_default(), tail.unwrap_or_default())
        }
        _ => reason,
    }
}

// A binary message nearly always has control bytes near its start: field keys and lengths.
fn looks_like_text(bytes: &[u8]) -> bool {
    let start = bytes.get(..256).unwrap_or(bytes);
    start.iter().all(|b| matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
}
