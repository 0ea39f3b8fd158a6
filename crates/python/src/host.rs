//! `py_func`: Python functions that nodes call during a run.
//!
//! The engine refers to such a function by a token. Here are its implementation ([`PythonFunction`]) and the
//! object that keeps it registered ([`HostFunction`]), which the package attaches to the graph. The graph
//! holds the function; here it is held weakly, because the function may refer to the graph (through a session
//! or tensors), and the cycle would never be freed.

use crate::array::{self, of_array, to_python};
use crate::errors::{carried, caused_by};
use crate::graph::Graph;
use crate::memory::Memory;
use crate::session::on_main_thread;
use crate::threads::{Inside, ident};
use millstream::host::{Cancellation, Functions, HostFunction as Callee, Registration, Token};
use millstream::{Code, Error, Result, Tensor};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{
    PyException, PyMemoryError, PyNotImplementedError, PyStopIteration, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyWeakrefMethods, PyWeakrefReference};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// Registers a Python function under a token for the lifetime of this object.
#[pyclass(frozen, module = "millstream._engine")]
pub struct HostFunction(Token);

#[pymethods]
impl HostFunction {
    /// Registers `holder.call` under a new token. The owner of this object keeps the holder alive.
    #[new]
    fn new(holder: &Bound<'_, PyAny>) -> PyResult<HostFunction> {
        let holder = PyWeakrefReference::new(holder)?.unbind();
        Ok(HostFunction(Token::with(|token| PythonFunction { holder, token: token.to_owned() })))
    }

    /// Lets the nodes of a graph, and of no other, call the function.
    fn join(&self, graph: &Bound<'_, Graph>) {
        self.0.join(&graph.get().inner().extension::<Functions>());
    }

    /// The token by which the node calls the function.
    #[getter]
    fn token(&self) -> &str {
        self.0.as_str()
    }
}

/// The function as called by the engine.
struct PythonFunction {
    /// A weak reference to the package's object whose attribute `call` is the function.
    holder: Py<PyWeakrefReference>,
    token: String,
}

impl Callee for PythonFunction {
    fn call(&self, inputs: Vec<Tensor>, cancel: &Cancellation) -> Result<Vec<Tensor>> {
        let called = Python::try_attach(|py| {
            let _inside = Inside::enter(py);
            let interrupted = Interrupted::listen(py, cancel);
            let result = self.call_attached(py, inputs);
            interrupted.stop();
            result
        });
        let ends = || Error::new(Code::Cancelled, format!("{}: the interpreter is ending", self.token));
        called.unwrap_or_else(|| Err(ends()))
    }
}

impl PythonFunction {
    fn call_attached(&self, py: Python<'_>, inputs: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let Some(holder) = self.holder.bind(py).upgrade() else {
            let gone = format!("ValueError: callback {} is not found", self.token);
            return Err(Error::new(Code::InvalidArgument, gone).with_help(
                "the graph that its function belonged to is gone; keep it, or make the node again",
            ));
        };
        let called = || -> PyResult<Bound<'_, PyAny>> {
            let args = inputs.into_iter().map(|t| to_python(py, t)).collect::<PyResult<Vec<_>>>()?;
            holder.getattr(pyo3::intern!(py, "call"))?.call1(PyTuple::new(py, args)?)
        };
        let value = called().map_err(|e| as_error(py, e))?;
        let values = results(value).map_err(|e| as_error(py, e))?;
        values.into_iter().map(|value| result(py, value)).collect()
    }
}

/// The returned values as a list: none for None, the items of a list or tuple, otherwise one value. Drops the
/// container, so that arrays that the function does not keep have no other owner.
fn results(value: Bound<'_, PyAny>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    match value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        true => value.try_iter()?.collect(),
        false => Ok(vec![value]),
    }
}

/// Converts a value to a tensor of the dtype NumPy gives it. The array is copied if it has other owners: the
/// function may keep it and modify it later.
fn result(py: Python<'_>, value: Bound<'_, PyAny>) -> Result<Tensor> {
    let class = value.get_type();
    let unsupported = || {
        let kind = class.name().map_or_else(|_| "object".into(), |n| n.to_string());
        Error::internal(format!("Unsupported object type {kind}")).with_help(
            "return numpy arrays, numbers, text, or lists of them; a list or tuple of them for several outputs",
        )
    };
    let array = array::asarray(&value).map_err(|e| as_error(py, e))?;
    let array = array.cast_into::<PyUntypedArray>().map_err(|_| unsupported())?;
    drop(value);
    match of_array(&array, Memory::Left) {
        Ok(tensor) => Ok(tensor),
        Err(_) if matches!(array.dtype().kind(), b'O' | b'V') => Err(unsupported()),
        Err(error) => Err(as_error(py, error)),
    }
}

/// Converts a Python exception to the error of a run, of TensorFlow's class. Exceptions that are not an
/// `Exception` (`KeyboardInterrupt`, `SystemExit`) are passed through.
fn as_error(py: Python<'_>, error: PyErr) -> Error {
    if !error.is_instance_of::<PyException>(py) {
        return carried(error);
    }
    let code = if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
        Code::InvalidArgument
    } else if error.is_instance_of::<PyStopIteration>(py) {
        Code::OutOfRange
    } else if error.is_instance_of::<PyMemoryError>(py) {
        Code::ResourceExhausted
    } else if error.is_instance_of::<PyNotImplementedError>(py) {
        Code::Unimplemented
    } else {
        Code::Unknown
    };
    let kind = error.get_type(py).name().map_or_else(|_| "Exception".into(), |n| n.to_string());
    let mut message = format!("{kind}: {}", error.value(py));
    if let Ok(trace) = traceback_of(py, &error) {
        message += &format!("\n{trace}");
    }
    caused_by(Error::new(code, message), error)
}

/// The most calls of an exception's traceback that a message shows: the last ones.
const MOST_CALLS: i32 = 32;

/// The most exceptions that a message shows of those that led to one another.
const MOST_CAUSES: usize = 4;

/// The exception as Python prints it, with those that led to it. The list ends at an error of a run, whose
/// message tells what led to it. Functions that run sessions whose nodes call functions would otherwise print
/// all of it again at each level.
fn traceback_of(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let format = py.import("traceback")?.getattr("format_exception")?;
    let of_runs = py.import("millstream.framework.errors")?.getattr("OpError")?;
    let options = PyDict::new(py);
    options.set_item("limit", -MOST_CALLS)?;
    options.set_item("chain", false)?;
    // The exception object does not refer to its own traceback yet.
    let mut calls = error.traceback(py).map(Bound::into_any);
    let mut error = error.value(py).clone().into_any();
    let mut parts: Vec<String> = Vec::new();
    loop {
        let lines = format.call((error.get_type(), &error, calls), Some(&options))?;
        parts.push(lines.extract::<Vec<String>>()?.concat());
        if parts.len() == 2 * MOST_CAUSES - 1 || error.is_instance(&of_runs)? {
            break;
        }
        let (cause, context) = (error.getattr("__cause__")?, error.getattr("__context__")?);
        if !cause.is_none() {
            parts.push(
                "\nThe above exception was the direct cause of the following exception:\n\n".to_owned(),
            );
            error = cause;
        } else if !context.is_none() && !error.getattr("__suppress_context__")?.is_truthy()? {
            parts
                .push("\nDuring handling of the above exception, another exception occurred:\n\n".to_owned());
            error = context;
        } else {
            break;
        }
        calls = Some(error.getattr("__traceback__")?);
    }
    parts.reverse();
    Ok(parts.concat())
}

/// Forwards Ctrl-C to a function on a thread of the engine: only the main thread gets signals, and it waits
/// for the run.
struct Interrupted {
    runs: Arc<AtomicBool>,
    _registration: Option<Registration>,
}

impl Interrupted {
    fn listen(py: Python<'_>, cancel: &Cancellation) -> Interrupted {
        let runs = Arc::new(AtomicBool::new(true));
        let thread = match on_main_thread(py) {
            true => None,
            false => ident(py).ok(),
        };
        let registration = thread.map(|thread| {
            let runs = runs.clone();
            cancel.on_cancel(move |why| {
                if crate::errors::is_interrupt(why) {
                    let _ = Python::try_attach(|py| match runs.load(Acquire) {
                        true => interrupt(py, thread),
                        false => Ok(()),
                    });
                }
            })
        });
        Interrupted { runs, _registration: registration }
    }

    /// Stops forwarding when the function has returned.
    fn stop(self) {
        self.runs.store(false, Release);
    }
}

/// Raises `KeyboardInterrupt` in another thread, at its next bytecode instruction.
fn interrupt(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
    let thread = ctypes.getattr("c_ulong")?.call1((thread,))?;
    let error =
        ctypes.getattr("py_object")?.call1((py.get_type::<pyo3::exceptions::PyKeyboardInterrupt>(),))?;
    raise.call1((thread, error)).map(drop)
}
