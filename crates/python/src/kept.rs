//! Session tensor handles: fetching them and feeding them.

use crate::dtypes::dtype_object;
use crate::errors::{building, running};
use crate::graph::Graph;
use crate::session::{Session, op_error};
use millstream::DType;
use millstream::engine::graph::Port;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The dtype of the tensor stored in the session if the port is its handle.
pub fn kept_dtype(graph: &Bound<'_, Graph>, port: Port) -> PyResult<Option<DType>> {
    let found = graph.get().inner().read(|g| -> millstream::Result<Option<DType>> {
        let node = g.node(port.node)?;
        match node.op() {
            "GetSessionHandle" | "GetSessionHandleV2" => g.type_of(node.inputs[0]).map(|ty| Some(ty.dtype)),
            _ => Ok(None),
        }
    });
    found.map_err(building)
}

/// The package's class of handles.
static TENSOR_HANDLE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Sets the class of handles; called once.
#[pyfunction]
pub fn set_tensor_handle(py: Python<'_>, class: Py<PyType>) {
    let _ = TENSOR_HANDLE.set(py, class);
}

/// The package's object for a handle.
pub fn handle_object<'py>(
    session: &Bound<'py, PyAny>,
    value: millstream::Tensor,
    dtype: DType,
) -> PyResult<Bound<'py, PyAny>> {
    let py = session.py();
    let text = match (value.as_strs(), value.as_handles()) {
        (Some([text]), _) => text.text().into_owned(),
        (_, Some([handle])) => handle.name.to_string(),
        _ => return Err(PyRuntimeError::new_err("a handle is a string")),
    };
    let class = TENSOR_HANDLE.get(py).ok_or_else(|| PyRuntimeError::new_err("import `millstream`"))?;
    class.bind(py).call1((text, dtype_object(py, dtype)?, session))
}

/// The tensor stored in the session, if the fed value is a handle.
pub fn kept_value(
    session: &Bound<'_, Session>,
    value: &Bound<'_, PyAny>,
    dtype: DType,
) -> PyResult<Option<millstream::Tensor>> {
    let py = session.py();
    match TENSOR_HANDLE.get(py) {
        Some(class) if value.is_instance(class.bind(py))? => {}
        _ => return Ok(None),
    }
    let handle: String = value.getattr("handle")?.extract()?;
    let graph = session.get().owner().bind(py);
    let kept = session.get().engine().kept_tensor(&handle).map_err(|e| running(py, graph, e))?;
    if kept.dtype() != dtype {
        let text = format!(
            "Expects arg[0] to be {} but {} is provided (by the tensor kept under {handle})",
            dtype.kernel_name(),
            kept.dtype().kernel_name()
        );
        return Err(op_error(py, "InvalidArgumentError", &text));
    }
    Ok(Some(kept))
}
