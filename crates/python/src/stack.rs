//! The stacks of default graphs and default sessions, one per thread as in TensorFlow.

use crate::graph::Graph;
use pyo3::exceptions::{PyAssertionError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::cell::RefCell;

thread_local! {
    static GRAPHS: RefCell<Graphs> = const { RefCell::new(Graphs { own: None, stack: Vec::new() }) };
    static SESSIONS: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

struct Graphs {
    /// The thread's default graph outside of any block.
    own: Option<Py<Graph>>,
    stack: Vec<Py<Graph>>,
}

/// Callbacks of the package.
pub struct Hooks {
    /// Creates a graph.
    pub graph: Py<PyAny>,
    /// `convert(value, dtype, name, as_ref)` converts values other than numbers, strings, arrays and lists to
    /// a tensor.
    pub convert: Py<PyAny>,
    /// `getitem(tensor, key)`.
    pub getitem: Py<PyAny>,
    /// `run(session, fetches, feeds)` handles types of fetches and feeds unknown to this crate.
    pub expand: Py<PyAny>,
    /// `operate(name, x, y, reverse)` builds operators that are more than one op.
    pub operate: Py<PyAny>,
}

static HOOKS: PyOnceLock<Hooks> = PyOnceLock::new();

/// The callbacks of the package.
pub fn hooks(py: Python<'_>) -> PyResult<&Hooks> {
    HOOKS.get(py).ok_or_else(|| PyRuntimeError::new_err("import `millstream`, not `millstream._engine`"))
}

/// Sets the callbacks; called once.
#[pyfunction]
pub fn set_hooks(
    py: Python<'_>,
    graph: Py<PyAny>,
    convert: Py<PyAny>,
    getitem: Py<PyAny>,
    expand: Py<PyAny>,
    operate: Py<PyAny>,
) {
    let _ = HOOKS.set(py, Hooks { graph, convert, getitem, expand, operate });
}

/// The default graph.
#[pyfunction]
#[pyo3(name = "default_graph")]
pub fn default_graph<'py>(py: Python<'py>) -> PyResult<Bound<'py, Graph>> {
    let found = GRAPHS.with_borrow(|g| g.stack.last().or(g.own.as_ref()).map(|g| g.clone_ref(py)));
    if let Some(graph) = found {
        return Ok(graph.into_bound(py));
    }
    let made = hooks(py)?.graph.bind(py).call0()?.cast_into::<Graph>()?;
    let old = GRAPHS.with_borrow_mut(|g| g.own.replace(made.clone().unbind()));
    drop(old);
    Ok(made)
}

/// The default graph, if it is the body of a function that is being built.
pub fn open_body<'py>(py: Python<'py>) -> Option<Bound<'py, Graph>> {
    let found = GRAPHS.with_borrow(|g| g.stack.last().filter(|g| g.get().is_body()).map(|g| g.clone_ref(py)));
    found.map(|graph| graph.into_bound(py))
}

/// Makes a graph the default until `pop_graph`.
#[pyfunction]
pub fn push_graph(graph: Py<Graph>) {
    GRAPHS.with_borrow_mut(|g| g.stack.push(graph));
}

/// Removes the graph from the stack.
#[pyfunction]
pub fn pop_graph(graph: &Bound<'_, Graph>) -> PyResult<()> {
    let popped = GRAPHS.with_borrow_mut(|g| match g.stack.last().is_some_and(|top| top.is(graph)) {
        true => g.stack.pop(),
        false => None,
    });
    popped.map(drop).ok_or_else(|| {
        PyAssertionError::new_err(
            "Nesting violated for default stack of <class 'Graph'> objects: the graph that is left is not the innermost that was entered on this thread",
        )
    })
}

/// Number of graphs on this thread's stack.
#[pyfunction]
pub fn graph_stack_depth() -> usize {
    GRAPHS.with_borrow(|g| g.stack.len())
}

/// Drops the thread's own default graph.
#[pyfunction]
pub fn reset_default_graph() {
    // Dropped after the borrow ends: destructors of objects in the graph may run Python code.
    let old = GRAPHS.with_borrow_mut(|g| g.own.take());
    drop(old);
}

/// The default session of `eval` and `run`, or None.
#[pyfunction]
pub fn default_session(py: Python<'_>) -> Option<Py<PyAny>> {
    SESSIONS.with_borrow(|s| s.last().map(|s| s.clone_ref(py)))
}

/// Makes a session the default until `pop_session`.
#[pyfunction]
pub fn push_session(session: Py<PyAny>) {
    SESSIONS.with_borrow_mut(|s| s.push(session));
}

/// Removes the session from the stack.
#[pyfunction]
pub fn pop_session(session: &Bound<'_, PyAny>) -> PyResult<()> {
    let popped = SESSIONS.with_borrow_mut(|s| match s.last().is_some_and(|top| top.is(session)) {
        true => s.pop(),
        false => None,
    });
    popped.map(drop).ok_or_else(|| {
        PyAssertionError::new_err(
            "Nesting violated for default stack of <class 'Session'> objects: the session that is left is not the innermost one of this thread",
        )
    })
}
