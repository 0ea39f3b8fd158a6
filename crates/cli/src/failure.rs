//! [`Failure`]: the reason why a command fails, and its exit code.

use crate::plain::plain;
use millstream::{Code, Error};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The reason why a command ends early.
pub(crate) enum Failure {
    /// The work failed: exit code 1.
    Failed(Error),
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// The reader of the output is gone, as in `millstream ops | head`. This is no error.
    Unread,
}

/// The result of a command.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Prints the failure to standard error. Returns the exit code.
    #[expect(clippy::print_stderr, reason = "this is where the command line talks")]
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Unread => ExitCode::SUCCESS,
            Failure::Usage(text) => {
                eprintln!("error: {}\n\nFor more information, try '--help'.", plain(&text));
                ExitCode::from(2)
            }
            Failure::Failed(error) => {
                eprintln!("error: {}: {}", error.code(), plain(&told(&error)));
                ExitCode::FAILURE
            }
        }
    }
}

/// The text of an error without the source line that made its node: here that is always in the importer.
fn told(error: &Error) -> String {
    let mut text = error.message().to_owned();
    if let (Some(node), Some(op)) = (error.node(), error.op()) {
        text += &format!("\n  at node      `{node}` ({op})");
    }
    for note in error.notes() {
        text += &format!("\n  {note}");
    }
    if let Some(help) = error.help() {
        text += &format!("\n  help: {help}");
    }
    text
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Failed(error)
    }
}

/// A failed write to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Unread,
            io::ErrorKind::TimedOut => Failure::Failed(
                Error::new(Code::DeadlineExceeded, error.to_string()).with_help("raise --timeout"),
            ),
            _ => Failure::Failed(Error::new(Code::Unknown, format!("cannot write the output: {error}"))),
        }
    }
}

/// An error for a failed file operation, which names the file.
pub(crate) fn file_error(doing: &str, path: &Path, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound => Code::NotFound,
        io::ErrorKind::PermissionDenied => Code::PermissionDenied,
        io::ErrorKind::AlreadyExists => Code::AlreadyExists,
        io::ErrorKind::IsADirectory => Code::FailedPrecondition,
        io::ErrorKind::StorageFull => Code::ResourceExhausted,
        _ => Code::Unknown,
    };
    Error::new(code, format!("cannot {doing} `{}`: {error}", path.display()))
}
