//! Conversion of the engine's errors to `millstream.errors` (in runs) or built-in exceptions (in graph
//! construction).

use crate::graph::Graph;
use millstream::{Code, Error};
use parking_lot::Mutex;
use pyo3::exceptions::{
    PyKeyError, PyKeyboardInterrupt, PyNotImplementedError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// An error of the engine caused by a Python exception. The exception raised by a callback is raised again
/// unchanged.
pub struct Raised(Mutex<Option<PyErr>>);

/// Wraps a Python exception in an error of the engine.
pub fn carried(error: PyErr) -> Error {
    Error::new(Code::Unknown, error.to_string()).with_detail(Raised(Mutex::new(Some(error))))
}

fn raised(error: &Error) -> Option<PyErr> {
    error.detail::<Raised>()?.0.lock().take()
}

/// Whether the error wraps a `KeyboardInterrupt`.
pub fn is_interrupt(error: &Error) -> bool {
    let Some(raised) = error.detail::<Raised>() else { return false };
    // Attach to Python before locking, and call nothing of Python under the lock: a thread attached to Python
    // may be waiting for it.
    let is = Python::try_attach(|py| {
        let found = raised.0.lock().as_ref().map(|e| e.clone_ref(py));
        found.is_some_and(|e| e.is_instance_of::<PyKeyboardInterrupt>(py))
    });
    is == Some(true)
}

/// The `__cause__` of an error of a run.
struct Cause(Mutex<Option<PyErr>>);

/// Attaches a Python exception to an error of a run as its cause.
pub fn caused_by(error: Error, cause: PyErr) -> Error {
    error.with_detail(Cause(Mutex::new(Some(cause))))
}

/// The message with the engine's notes, except the node, which has a line of its own.
pub fn text(error: &Error) -> String {
    let mut text = error.message().to_owned();
    for note in error.notes() {
        // Source lines of this crate are meaningless to Python users.
        match note.find("crates/python/src/") {
            None => text += &format!("\n  {note}"),
            Some(at) => {
                if let Some(named) = note[..at].trim_end().strip_suffix('(') {
                    text += &format!("\n  {}", named.trim_end());
                }
            }
        }
    }
    if let Some(help) = error.help() {
        text += &format!("\n  help: {help}");
    }
    text
}

/// Converts an error of graph construction.
pub fn building(error: Error) -> PyErr {
    if let Some(raised) = raised(&error) {
        return raised;
    }
    let mut message = text(&error);
    if let (Some(node), Some(op)) = (error.node(), error.op()) {
        message += &format!("\n  at node `{node}` (op: '{op}')");
    }
    if error.code() == Code::FailedPrecondition && error.message().contains("finalized") {
        return PyRuntimeError::new_err(
            "Graph is finalized and cannot be modified.\n  help: build all operations before `finalize()`, which \
             `MonitoredSession` and `Supervisor` call, or in another graph",
        );
    }
    match error.code() {
        Code::NotFound => PyKeyError::new_err(message),
        Code::FailedPrecondition => PyRuntimeError::new_err(message),
        Code::Unimplemented => PyNotImplementedError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Converts an error of a run to `errors.InvalidArgumentError` etc., with the operation and the source line
/// that created it.
pub fn running(py: Python<'_>, graph: &Bound<'_, Graph>, error: Error) -> PyErr {
    if let Some(raised) = raised(&error) {
        return interrupted(py, raised, &error);
    }
    let made = as_op_error(py, graph, &error).unwrap_or_else(|problem| problem);
    if let Some(cause) = error.detail::<Cause>().and_then(|cause| cause.0.lock().take()) {
        made.set_cause(py, Some(cause));
    }
    made
}

/// The exception that ended a run. A `KeyboardInterrupt` says what the run was doing.
fn interrupted(py: Python<'_>, raised: PyErr, error: &Error) -> PyErr {
    if error.notes().is_empty() || !raised.is_instance_of::<PyKeyboardInterrupt>(py) {
        return raised;
    }
    let value = raised.value(py);
    let is_silent = value.getattr("args").and_then(|args| args.is_empty()).unwrap_or(false);
    if is_silent {
        let text = format!("the run was interrupted\n  {}", error.notes().join("\n  "));
        // Without the text it is still the exception that the user asked for.
        let _ = value.setattr("args", (text,));
    }
    raised
}

fn as_op_error(py: Python<'_>, graph: &Bound<'_, Graph>, error: &Error) -> PyResult<PyErr> {
    let mut message = text(error);
    let mut op = py.None().into_bound(py);
    let mut node_def = op.clone();
    if let Some(name) = error.node() {
        let place = match graph.get().find(name) {
            Some(id) => {
                op = crate::operation::Operation::of(graph, id)?.into_any();
                // Without protobuf there is no NodeDef; the error is raised nevertheless.
                node_def = op.getattr("node_def").unwrap_or(node_def);
                graph.get().place_of(py, id)
            }
            None => None,
        };
        let place = place.map(|p| format!(" (defined at {p}) ")).unwrap_or_default();
        message += &format!("\n\t [[node {name}{place}]]");
    }
    let class = py
        .import("millstream.framework.errors")?
        .call_method1("exception_type_from_error_code", (error.code() as i32,))?;
    Ok(PyErr::from_value(class.call1((node_def, op, message))?))
}
