//! The Python objects of nodes and ports. Each graph keeps its objects, so that a node has always the same
//! one, with the attributes that programs set. Code shared by `Tensor` and `Operation` is here.

use crate::graph::Graph;
use crate::operation::Operation;
use crate::stack;
use crate::tensor::Tensor;
use millstream::engine::graph::{NodeId, Port};
use parking_lot::Mutex;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyClass, PyTraverseError, PyVisit};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The objects of a graph. The objects and the graph refer to each other; the garbage collector knows
/// (`visit`).
#[derive(Default)]
pub struct Handles {
    operations: Vec<Option<Py<Operation>>>,
    /// Tensors of first outputs, by node.
    firsts: Vec<Option<Py<Tensor>>>,
    others: HashMap<Port, Option<Py<Tensor>>>,
}

impl Handles {
    /// The slot of a node's object; `None` for the invalid node.
    pub fn operation(&mut self, id: NodeId) -> Option<&mut Option<Py<Operation>>> {
        slot(&mut self.operations, id)
    }

    /// The slot of a port's object; `None` for the open port.
    pub fn tensor(&mut self, port: Port) -> Option<&mut Option<Py<Tensor>>> {
        match port.index {
            0 => slot(&mut self.firsts, port.node),
            _ => Some(self.others.entry(port).or_default()),
        }
    }

    /// Visits all objects for the garbage collector.
    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.operations.iter().flatten().try_for_each(|op| visit.call(op))?;
        self.firsts.iter().chain(self.others.values()).flatten().try_for_each(|t| visit.call(t))
    }
}

fn slot<T>(list: &mut Vec<Option<T>>, id: NodeId) -> Option<&mut Option<T>> {
    if id.0 == u32::MAX {
        return None;
    }
    if list.len() <= id.index() {
        list.resize_with(id.index() + 1, || None);
    }
    list.get_mut(id.index())
}

/// Returns the object at `slot`, created by `make` if the slot is empty.
pub fn object<'py, T: PyClass + Into<PyClassInitializer<T>>>(
    graph: &Bound<'py, Graph>,
    slot: impl Fn(&mut Handles) -> Option<&mut Option<Py<T>>>,
    make: impl FnOnce() -> T,
) -> PyResult<Bound<'py, T>> {
    let py = graph.py();
    let known = |handles: &mut Handles| slot(handles).and_then(|s| s.as_ref().map(|t| t.clone_ref(py)));
    let handles = graph.get().handles();
    if let Some(object) = known(&mut handles.lock()) {
        return Ok(object.into_bound(py));
    }
    // Created without the lock: allocation may run the garbage collector, which needs the lock.
    let made = Bound::new(py, make())?;
    let mut handles = handles.lock();
    if let Some(object) = known(&mut handles) {
        drop(handles);
        return Ok(object.into_bound(py));
    }
    if let Some(slot) = slot(&mut handles) {
        *slot = Some(made.clone().unbind());
    }
    Ok(made)
}

/// Attributes that programs set on an object. This is not a `__dict__` of the class because the garbage
/// collector must visit them: they may refer to the graph, which holds the object.
#[derive(Default)]
pub struct Attributes(Mutex<Option<Py<PyDict>>>);

impl Attributes {
    pub fn dict<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        if let Some(dict) = &*self.0.lock() {
            return dict.bind(py).clone();
        }
        // Created without the lock: a holder of the lock must never wait for Python.
        let made = PyDict::new(py).unbind();
        self.0.lock().get_or_insert(made).bind(py).clone()
    }

    pub fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let dict = self.0.lock().as_ref().map(|d| d.bind(py).clone());
        dict.map_or(Ok(None), |dict| dict.get_item(name))
    }

    /// Sets an attribute, unless the class has a property of this name; None deletes it.
    pub fn set(
        &self,
        object: &Bound<'_, PyAny>,
        name: &str,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = object.py();
        if let Ok(found) = object.get_type().getattr(name)
            && found.get_type().hasattr("__set__")?
        {
            return Err(PyAttributeError::new_err(format!("can't set attribute '{name}'")));
        }
        match value {
            Some(value) => self.dict(py).set_item(name, value),
            None => self.dict(py).del_item(name).map_err(|_| missing(object, name)),
        }
    }

    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.try_lock().map_or(Ok(()), |dict| visit.call(&*dict))
    }

    pub fn clear(&self) {
        let dict = self.0.lock().take();
        drop(dict);
    }
}

/// What a tensor with a value has in other libraries.
const OF_VALUES: [&str; 5] = ["numpy", "item", "tolist", "detach", "backward"];

/// The error for a missing attribute.
pub fn missing(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let class = object.get_type().name().map_or_else(|_| "object".into(), |n| n.to_string());
    let help = match class == "Tensor" && OF_VALUES.contains(&name) {
        true => ": a tensor of a graph has a value only in a run, and `tf.Session().run(tensor)` returns it",
        false => "",
    };
    PyAttributeError::new_err(format!("'{class}' object has no attribute '{name}'{help}"))
}

/// The device requested by a node.
pub fn device(graph: &Graph, node: NodeId) -> String {
    graph.inner().read(|g| g.node(node).map_or(String::new(), |n| n.device.to_string()))
}

/// The hash of an object's identity within its graph.
pub fn hash(graph: &Py<Graph>, what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (graph.as_ptr().addr(), what).hash(&mut hasher);
    hasher.finish()
}

/// Messages for a missing session.
pub struct NoSession {
    /// The given session belongs to another graph.
    pub given: &'static str,
    /// The default session belongs to another graph.
    pub default: &'static str,
    /// There is no default session.
    pub none: &'static str,
}

/// The session for a graph: the given one, or the default.
pub fn session_for<'py>(
    graph: &Bound<'py, Graph>,
    given: Option<Bound<'py, PyAny>>,
    words: &NoSession,
) -> PyResult<Bound<'py, PyAny>> {
    let py = graph.py();
    let (session, otherwise) = match given {
        Some(session) => (session, words.given),
        None => {
            let found = stack::default_session(py).map(|s| s.into_bound(py));
            (found.ok_or_else(|| PyValueError::new_err(words.none))?, words.default)
        }
    };
    match session.getattr("graph")?.is(graph) {
        true => Ok(session),
        false => Err(PyValueError::new_err(otherwise)),
    }
}
