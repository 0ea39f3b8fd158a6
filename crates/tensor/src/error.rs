//! The one error type. It is opaque and carries TensorFlow's canonical code, a message and, where known, the
//! node and its op, the source line that built it, and a suggested cure.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::panic::Location;
use std::sync::Arc;

/// The canonical status codes, as TensorFlow numbers and names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// The work was cancelled by the caller, or by a session or queue that closed.
    Cancelled = 1,
    /// No better code applies.
    Unknown = 2,
    /// The input is wrong, whatever the state of the system.
    InvalidArgument = 3,
    /// The deadline passed before the work was done.
    DeadlineExceeded = 4,
    /// A named thing does not exist.
    NotFound = 5,
    /// A named thing exists already.
    AlreadyExists = 6,
    /// The caller may not do this.
    PermissionDenied = 7,
    /// A budget (memory, depth, count) is used up.
    ResourceExhausted = 8,
    /// The system is not in the state that the operation needs.
    FailedPrecondition = 9,
    /// A conflict with concurrent work.
    Aborted = 10,
    /// The end of the input or of a range was passed.
    OutOfRange = 11,
    /// The operation is known but not implemented or not supported.
    Unimplemented = 12,
    /// An invariant is broken: a bug.
    Internal = 13,
    /// The service is unavailable for now; a retry may succeed.
    Unavailable = 14,
    /// Data is lost or corrupt.
    DataLoss = 15,
    /// The caller could not be identified.
    Unauthenticated = 16,
}

impl Code {
    /// The code with this number in TensorFlow, if there is one; 0 (`OK`) has none.
    pub fn from_number(number: i32) -> Option<Code> {
        const ALL: [Code; 16] = [
            Code::Cancelled,
            Code::Unknown,
            Code::InvalidArgument,
            Code::DeadlineExceeded,
            Code::NotFound,
            Code::AlreadyExists,
            Code::PermissionDenied,
            Code::ResourceExhausted,
            Code::FailedPrecondition,
            Code::Aborted,
            Code::OutOfRange,
            Code::Unimplemented,
            Code::Internal,
            Code::Unavailable,
            Code::DataLoss,
            Code::Unauthenticated,
        ];
        ALL.into_iter().find(|&code| code as i32 == number)
    }

    /// TensorFlow's name of the code: `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        match self {
            Code::Cancelled => "CANCELLED",
            Code::Unknown => "UNKNOWN",
            Code::InvalidArgument => "INVALID_ARGUMENT",
            Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Code::NotFound => "NOT_FOUND",
            Code::AlreadyExists => "ALREADY_EXISTS",
            Code::PermissionDenied => "PERMISSION_DENIED",
            Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Code::FailedPrecondition => "FAILED_PRECONDITION",
            Code::Aborted => "ABORTED",
            Code::OutOfRange => "OUT_OF_RANGE",
            Code::Unimplemented => "UNIMPLEMENTED",
            Code::Internal => "INTERNAL",
            Code::Unavailable => "UNAVAILABLE",
            Code::DataLoss => "DATA_LOSS",
            Code::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

/// The code that TensorFlow gives to errors of files.
impl From<io::ErrorKind> for Code {
    fn from(kind: io::ErrorKind) -> Code {
        match kind {
            io::ErrorKind::NotFound => Code::NotFound,
            io::ErrorKind::PermissionDenied => Code::PermissionDenied,
            io::ErrorKind::AlreadyExists => Code::AlreadyExists,
            io::ErrorKind::IsADirectory => Code::FailedPrecondition,
            io::ErrorKind::NotADirectory => Code::InvalidArgument,
            io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory => Code::ResourceExhausted,
            // Decoders report malformed bytes so.
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                Code::DataLoss
            }
            _ => Code::Unknown,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of every fallible call.
///
/// `Display` prints the message, followed by indented lines for the node, the source line, the notes and the
/// help.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    code: Code,
    message: String,
    node: Option<String>,
    op: Option<String>,
    built_at: Option<&'static Location<'static>>,
    notes: Vec<String>,
    help: Option<String>,
    detail: Option<Arc<dyn Any + Send + Sync>>,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The most bytes of an error's message, of all its notes, of its help, and of a name.
    const MOST: [usize; 4] = [7 << 10, 5 << 10, 1 << 10, 1 << 10];

    /// An error with a code and a message.
    ///
    /// Names and values in a graph can have any length. Each part of an error that is too long is cut in the
    /// middle, so that all of it takes less than 16 KiB.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            code,
            message: cut(message.into(), Self::MOST[0]),
            node: None,
            op: None,
            built_at: None,
            notes: Vec::new(),
            help: None,
            detail: None,
        }))
    }

    /// An `INVALID_ARGUMENT` error.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// An `INTERNAL` error: an invariant of the engine does not hold.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// An `UNIMPLEMENTED` error; the message names what is missing.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// The canonical code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message: the first line, without node, source line and help.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The name of the node that failed, if a node did.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// The op type of the node that failed.
    pub fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The source line that built the part at fault.
    pub fn built_at(&self) -> Option<&'static Location<'static>> {
        self.0.built_at
    }

    /// The lines printed below the message.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The suggested cure.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Data for programs about this error, if it is of type `T`.
    pub fn detail<T: Any>(&self) -> Option<&T> {
        self.0.detail.as_deref()?.downcast_ref()
    }

    /// Attaches data for programs, which [`Error::detail`] returns.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Any + Send + Sync) -> Self {
        self.0.detail = Some(Arc::new(detail));
        self
    }

    /// Names the node at fault. A node that is named already stays: the first is the closest to the fault.
    #[must_use]
    pub fn at_node(mut self, name: &str, op: &str) -> Self {
        if self.0.node.is_none() {
            let short = |text: &str| cut(text, Self::MOST[3]);
            self.0.node = Some(short(name));
            self.0.op = Some(short(op));
        }
        self
    }

    /// Makes this the error of a node that called `function`, whose body has the node that is named so far. A
    /// note names that one from now on.
    #[must_use]
    pub fn inside(mut self, function: &str) -> Self {
        let Some(node) = self.0.node.take() else { return self };
        let op = self.0.op.take().unwrap_or_default();
        self.note(format!("at `{node}` ({op}) in the function `{function}`"))
    }

    /// Names the source line at fault. A line that is named already stays.
    #[must_use]
    pub fn at_line(mut self, location: &'static Location<'static>) -> Self {
        self.0.built_at.get_or_insert(location);
        self
    }

    /// Adds a line below the message.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.insert_note(self.0.notes.len(), note.into());
        self
    }

    /// Notes take what the notes before them have left. If that is nothing, a note is left out.
    fn insert_note(&mut self, at: usize, note: String) {
        let taken: usize = self.0.notes.iter().map(|note| note.len() + NOTE_INDENT).sum();
        let left = Self::MOST[1].saturating_sub(taken + NOTE_INDENT);
        if left >= SHORTEST {
            self.0.notes.insert(at, cut(note, left));
        }
    }

    /// Puts these words first, and makes the message so far the first note. Programs look for TensorFlow's
    /// own words at the start of a message.
    #[must_use]
    pub fn led_by(mut self, words: impl Into<String>) -> Self {
        let own = std::mem::replace(&mut self.0.message, cut(words.into(), Self::MOST[0]));
        self.insert_note(0, own);
        self
    }

    /// Appends `more` to the message.
    #[must_use]
    pub fn more(mut self, more: &str) -> Self {
        self.0.message = cut(std::mem::take(&mut self.0.message) + more, Self::MOST[0]);
        self
    }

    /// Sets the suggested cure.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(cut(help.into(), Self::MOST[2]));
        self
    }
}

/// The bytes that a note takes besides its text: a line end and the indentation.
const NOTE_INDENT: usize = 3;

/// The shortest text that is still of use once it is cut.
const SHORTEST: usize = 64;

/// The text, with its middle left out if it has more than `most` bytes.
fn cut<'a>(text: impl Into<Cow<'a, str>>, most: usize) -> String {
    const GAP: &str = " .. ";
    let text = text.into();
    if text.len() <= most {
        return text.into_owned();
    }
    let half = (most - GAP.len()) / 2;
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let head = (0..=half).rev().find(boundary).unwrap_or(0);
    let tail = (text.len() - half..text.len()).find(boundary).unwrap_or(text.len());
    [&text[..head], GAP, &text[tail..]].concat()
}

/// The text of a message. What it shows may be as long as a tensor, and a message is not, so that the middle
/// of a long text is left out as it is made.
#[doc(hidden)]
pub fn message(text: fmt::Arguments<'_>) -> String {
    struct Ends(String);
    impl fmt::Write for Ends {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            const MOST: usize = 64 << 10;
            if MOST < self.0.len() + part.len() {
                self.0 = cut(std::mem::take(&mut self.0), MOST / 4);
                self.0.push_str(&cut(part, MOST / 4));
            } else {
                self.0.push_str(part);
            }
            Ok(())
        }
    }
    let mut ends = Ends(String::new());
    // Only a value that cannot be shown at all ends a text early.
    let _shown = fmt::Write::write_fmt(&mut ends, text);
    ends.0
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &*self.0;
        f.write_str(&e.message)?;
        if let (Some(node), Some(op)) = (&e.node, &e.op) {
            write!(f, "\n  at node      `{node}` ({op})")?;
        }
        if let Some(at) = e.built_at {
            write!(f, "\n  built at     {}:{}", at.file(), at.line())?;
        }
        for note in &e.notes {
            write!(f, "\n  {note}")?;
        }
        if let Some(help) = &e.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.code)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::new(error.kind().into(), error.to_string())
    }
}

/// An `INVALID_ARGUMENT` error with a formatted message: `Err(invalid!("rank {r}"))`. TensorFlow's own words,
/// where it has any, come first: `invalid!("Shape must be rank {}", n; "`x` has rank {r}")`, see
/// [`Error::led_by`].
#[macro_export]
macro_rules! invalid {
    ($words:literal $(, $part:expr)* ; $($own:tt)*) => {
        $crate::Error::invalid($crate::message(format_args!($($own)*)))
            .led_by($crate::message(format_args!($words $(, $part)*)))
    };
    ($($arg:tt)*) => { $crate::Error::invalid($crate::message(format_args!($($arg)*))) };
}

/// Returns an `INVALID_ARGUMENT` error, with a message formatted as by [`invalid!`], unless the condition
/// holds.
#[macro_export]
macro_rules! ensure {
    ($cond:expr, $($arg:tt)*) => {
        if !$cond {
            return Err($crate::invalid!($($arg)*));
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MIRI;

    #[test]
    fn messages_about_long_lists_are_made_in_little_memory() {
        let numbers = vec![12345u16; 200_000 / MIRI];
        let text = message(format_args!("`axes` is {numbers:?}, which is wrong"));
        assert!(text.len() <= 64 << 10 && text.capacity() <= 128 << 10, "{} {}", text.len(), text.capacity());
        let error = invalid!("`axes` is {numbers:?}, which is wrong").to_string();
        assert!(error.starts_with("`axes` is [12345, 12345,") && error.ends_with("12345], which is wrong"));
        assert_eq!(invalid!("{} of {}", 1, 2).to_string(), "1 of 2");
    }

    #[test]
    fn errors_are_short_however_long_the_names_in_them() {
        let name = "ä".repeat((1 << 20) / MIRI);
        let error = Error::invalid(format!("`{name}` is wrong")).led_by(format!("Wrong: {name}"));
        let error = error.more(&name).at_node(&name, &name).with_help(format!("rename `{name}`"));
        let error = (0..1000 / MIRI).fold(error, |error, i| error.note(format!("in `{name}` {i}")));
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(text.len() < 16 << 10, "{}", text.len());
            assert!(text.starts_with("Wrong: ä") || text.starts_with("INVALID_ARGUMENT: Wrong: ä"));
        }
        let short = Error::invalid("a").note("b").note("c").at_node("n", "Op").with_help("h");
        assert_eq!(short.to_string(), "a\n  at node      `n` (Op)\n  b\n  c\n  help: h");
    }
}
