//! Graphs as protobuf messages, in bytes: Python parses and prints them with classes of its own.

use crate::errors::building;
use crate::graph::Graph;
use crate::tensor::{Operation, Tensor};
use millstream::graph::NodeId;
use millstream::interop::proto::{GraphDef, decode, encode};
use millstream::interop::{Element, ImportOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::BTreeMap;

/// A node as an encoded `NodeDef`.
pub fn node_def(graph: &millstream::Graph, id: NodeId) -> millstream::Result<Vec<u8>> {
    Ok(encode(&millstream::interop::export_node_def(graph, id)?))
}

/// Adds the nodes of an encoded `GraphDef`; gives the `return_elements`.
#[pyfunction]
#[pyo3(signature = (graph, bytes, prefix = "", input_map = None, return_elements = None))]
pub fn import_graph_def<'py>(
    graph: &Bound<'py, Graph>,
    bytes: &[u8],
    prefix: &str,
    input_map: Option<BTreeMap<String, Bound<'py, Tensor>>>,
    return_elements: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyList>> {
    let def: GraphDef = decode(bytes).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let options = ImportOptions {
        prefix: prefix.to_owned(),
        input_map: input_map.unwrap_or_default().into_iter().map(|(k, t)| (k, t.get().port())).collect(),
        return_elements: return_elements.unwrap_or_default(),
        ..ImportOptions::default()
    };
    graph.get().note_place(graph.py())?;
    let imported =
        millstream::interop::import_graph_def(graph.get().inner(), &def, &options).map_err(building)?;
    let elements = imported.elements.iter().map(|element| match element {
        Element::Op(id) => Operation::of(graph, *id).map(Bound::into_any),
        Element::Output(port) => Tensor::of(graph, *port).map(Bound::into_any),
    });
    PyList::new(graph.py(), elements.collect::<PyResult<Vec<_>>>()?)
}
