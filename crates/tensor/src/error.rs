//! The one error type. Opaque; carries TensorFlow's canonical code, a message, and where known the node and
//! its op, the source line that built it, and what to do about it.

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The canonical status codes, as TensorFlow numbers and names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// The caller, or a closed session or queue, called the work off.
    Cancelled = 1,
    /// Nothing better is known.
    Unknown = 2,
    /// The input is wrong whatever the state of the system.
    InvalidArgument = 3,
    /// The time allowed ran out.
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
    /// Past the end of what there is.
    OutOfRange = 11,
    /// Known, but not there.
    Unimplemented = 12,
    /// A broken invariant: a bug.
    Internal = 13,
    /// Try again later.
    Unavailable = 14,
    /// Data is lost or corrupt.
    DataLoss = 15,
    /// Who is asking is not known.
    Unauthenticated = 16,
}

impl Code {
    /// The code of TensorFlow's number, if there is one; 0 (`OK`) is none.
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

    /// TensorFlow's name, `INVALID_ARGUMENT`.
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

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What every fallible call returns on failure.
///
/// `Display` prints the message, then indented lines for the node, the source line and the help.
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

/// Shorthand for a result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with a code and a message.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            node: None,
            op: None,
            built_at: None,
            notes: Vec::new(),
            help: None,
            detail: None,
        }))
    }

    /// `INVALID_ARGUMENT`.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// `INTERNAL`: an invariant of ours does not hold.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// `UNIMPLEMENTED`, naming what is missing.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// The canonical code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The first line: what is wrong, without node, place and help.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The name of the node that failed, if one did.
    pub fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// The op type of the node that failed.
    pub fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The source line that built what is wrong.
    pub fn built_at(&self) -> Option<&'static Location<'static>> {
        self.0.built_at
    }

    /// The lines below the message.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// What a program may want to know of it, if it is of this type.
    pub fn detail<T: Any>(&self) -> Option<&T> {
        self.0.detail.as_deref()?.downcast_ref()
    }

    /// Adds what a program may want to know of it.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Any + Send + Sync) -> Self {
        self.0.detail = Some(Arc::new(detail));
        self
    }

    /// Names the node at fault. The first name given stays: it is the closest to the fault.
    #[must_use]
    pub fn at_node(mut self, name: &str, op: &str) -> Self {
        if self.0.node.is_none() {
            self.0.node = Some(name.to_owned());
            self.0.op = Some(op.to_owned());
        }
        self
    }

    /// Names the source line at fault. The first one given stays.
    #[must_use]
    pub fn at_line(mut self, location: &'static Location<'static>) -> Self {
        self.0.built_at.get_or_insert(location);
        self
    }

    /// Adds a line below the message.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Begins with these words, those that TensorFlow has for it: programs look for them. What the message was becomes the first line below.
    #[must_use]
    pub fn led_by(mut self, words: impl Into<String>) -> Self {
        let own = std::mem::replace(&mut self.0.message, words.into());
        self.0.notes.insert(0, own);
        self
    }

    /// The first line goes on with this.
    #[must_use]
    pub fn more(mut self, more: &str) -> Self {
        self.0.message += more;
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }
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

/// `INVALID_ARGUMENT` with a formatted message: `Err(invalid!("rank {r}"))`. Where TensorFlow has words for it, they come first:
/// `invalid!("Shape must be rank {}", n; "`x` has rank {r}")`, see [`Error::led_by`].
#[macro_export]
macro_rules! invalid {
    ($words:literal $(, $part:expr)* ; $($own:tt)*) => {
        $crate::Error::invalid(format!($($own)*)).led_by(format!($words $(, $part)*))
    };
    ($($arg:tt)*) => { $crate::Error::invalid(format!($($arg)*)) };
}

/// Returns `Err(INVALID_ARGUMENT)` with a message formatted as by [`invalid!`] unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($cond:expr, $($arg:tt)*) => {
        if !$cond {
            return Err($crate::invalid!($($arg)*));
        }
    };
}
