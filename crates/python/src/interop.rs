//! Encoded protobuf messages of graphs. Python parses and prints them with its own classes.

use crate::errors::building;
use crate::graph::Graph;
use crate::operation::Operation;
use crate::session::op_error;
use crate::tensor::Tensor;
use millstream::engine::graph::{Attr, NodeId};
use millstream::engine::interop::proto::{AttrValue, decode, encode};
use millstream::engine::interop::{
    Element, ImportOptions, check_text_weight, check_weight, decode_graph_def,
};
use millstream::{Code, Op};
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A node as an encoded `NodeDef`.
pub fn node_def(graph: &millstream::BareGraph, id: NodeId) -> millstream::Result<Vec<u8>> {
    Ok(encode(&millstream::engine::interop::export_node_def(graph, id)?))
}

/// Decodes an `AttrValue`.
pub fn attr(bytes: &[u8]) -> PyResult<Attr> {
    let message: AttrValue = decode(bytes).map_err(|e| PyValueError::new_err(e.to_string()))?;
    millstream::engine::interop::decode_attr(&message).map_err(building)
}

/// The declaration of an op as an encoded `OpDef`.
#[pyfunction]
pub fn op_def<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Some(def) = millstream::registry().get(name) else { return Ok(None) };
    let message = millstream::engine::interop::op_def(def).map_err(building)?;
    Ok(Some(PyBytes::new(py, &encode(&message))))
}

/// Adds the nodes of an encoded `GraphDef`; returns the `return_elements`.
#[pyfunction]
#[pyo3(signature = (graph, bytes, prefix = "", input_map = None, return_elements = None))]
pub fn import_graph_def<'py>(
    graph: &Bound<'py, Graph>,
    bytes: &[u8],
    prefix: &str,
    input_map: Option<BTreeMap<String, Bound<'py, Tensor>>>,
    return_elements: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = graph.py();
    let options = ImportOptions {
        prefix: prefix.to_owned(),
        input_map: input_map.unwrap_or_default().into_iter().map(|(k, t)| (k, t.get().port())).collect(),
        return_elements: return_elements.unwrap_or_default(),
        unique_names: true,
        ..ImportOptions::default()
    };
    let def = decode_graph_def(bytes, options.memory_limit).map_err(|e| importing(py, e))?;
    graph.get().note_place(py)?;
    let share = graph.get();
    let imported =
        share.importing(|| millstream::engine::interop::import_graph_def(share.inner(), &def, &options));
    let imported = imported.map_err(|e| importing(py, e))?;
    // As in TensorFlow's Python: all nodes get the current control dependencies, except those inside loops
    // and branches.
    for control in share.inner().current_controls() {
        for id in &imported.nodes {
            if share.inner().read(|g| g.node(*id).is_ok_and(|n| n.context.is_none())) {
                let (op, before) = (Op::new(share.inner(), *id), Op::new(share.inner(), control));
                share.inner().add_control_input(op, before).map_err(building)?;
            }
        }
    }
    Graph::made(graph)?;
    let elements = imported.elements.iter().map(|element| match element {
        Element::Op(id) => Operation::of(graph, *id).map(Bound::into_any),
        Element::Output(port) => Tensor::of(graph, *port).map(Bound::into_any),
    });
    PyList::new(graph.py(), elements.collect::<PyResult<Vec<_>>>()?)
}

/// An error of an import. Limits have TensorFlow's class for them.
fn importing(py: Python<'_>, error: millstream::Error) -> PyErr {
    match error.code() {
        Code::ResourceExhausted => op_error(py, "ResourceExhaustedError", &crate::errors::text(&error)),
        _ => building(error),
    }
}

/// Raises an error if decoding the message `name` would take more memory than an import may.
#[pyfunction]
pub fn weigh(py: Python<'_>, name: &str, bytes: &[u8]) -> PyResult<()> {
    let limit = ImportOptions::default().memory_limit;
    py.detach(|| check_weight(name, bytes, limit)).map_err(|e| importing(py, e))
}

/// As [`weigh`], for the text form of any message.
#[pyfunction]
pub fn weigh_text(py: Python<'_>, text: &str) -> PyResult<()> {
    let limit = ImportOptions::default().memory_limit;
    py.detach(|| check_text_weight(text, limit)).map_err(|e| importing(py, e))
}

/// Writes a file in one go: a crash leaves the old bytes or the new ones.
#[pyfunction]
pub fn write_whole(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    let written = py.detach(|| millstream::checkpoint::write_whole(&path, data));
    written.map_err(|e| match e.code() {
        Code::NotFound => PyFileNotFoundError::new_err(e.message().to_owned()),
        Code::PermissionDenied => PyPermissionError::new_err(e.message().to_owned()),
        Code::FailedPrecondition => PyIsADirectoryError::new_err(e.message().to_owned()),
        _ => PyOSError::new_err(e.message().to_owned()),
    })
}
