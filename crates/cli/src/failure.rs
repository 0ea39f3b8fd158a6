//! [`Failure`]: why a command ends without success, and its exit code.

use millstream::{Code, Error};
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Why a command ends without success.
pub(crate) enum Failure {
    /// The work failed: exit code 1.
    Failed(Error),
    /// It was asked for in a wrong way: exit code 2.
    Usage(String),
    /// Nobody reads the output any more, as in `millstream ops | head`. Nothing is wrong.
    Unread,
}

/// What commands return.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Tells it on the standard error.
    #[expect(clippy::print_stderr, reason = "this is where the command line talks")]
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Unread => ExitCode::SUCCESS,
            Failure::Usage(text) => {
                eprintln!("error: {text}\n\nFor more information, try '--help'.");
                ExitCode::from(2)
            }
            Failure::Failed(error) => {
                eprintln!("error: {}: {}", error.code(), told(&error));
                ExitCode::FAILURE
            }
        }
    }
}

/// An error without the source line that made its node: here that is always a line of the importer.
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

/// A failure of the standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Unread,
            _ => Failure::Failed(Error::new(Code::Unknown, format!("cannot write the output: {error}"))),
        }
    }
}

/// A failure with a file, named.
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
