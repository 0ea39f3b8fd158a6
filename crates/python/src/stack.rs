//! The default graph and the default session: a stack of each per thread, as TensorFlow has them.

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
    /// The graph that the thread has where none was entered.
    own: Option<Py<Graph>>,
    stack: Vec<Py<Graph>>,
}

/// What the package lends the engine.
pub struct Hooks {
    /// Makes a graph.
    pub graph: Py<PyAny>,
    /// `convert(value, dtype, name, as_ref)`: what is no number, string, array or list of them, as a tensor.
    pub convert: Py<PyAny>,
    /// `getitem(tensor, key)`.
    pub getitem: Py<PyAny>,
    /// `run(session, fetches, feeds)`: fetches and feeds of more kinds than the engine knows.
    pub expand: Py<PyAny>,
    /// `operate(name, x, y, reverse)`: an operator that is more than one op.
    pub operate: Py<PyAny>,
}

static HOOKS: PyOnceLock<Hooks> = PyOnceLock::new();

/// What the package lends the engine.
pub fn hooks(py: Python<'_>) -> PyResult<&Hooks> {
    HOOKS.get(py).ok_or_else(|| PyRuntimeError::new_err("import `millstream`, not `millstream._engine`"))
}

/// Says what the package lends the engine; once.
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

/// The graph that ops go to.
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

/// Makes a graph the default, until `pop_graph`.
#[pyfunction]
pub fn push_graph(graph: Py<Graph>) {
    GRAPHS.with_borrow_mut(|g| g.stack.push(graph));
}

/// Takes the graph off again.
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

/// How many graphs were entered on this thread.
#[pyfunction]
pub fn graph_stack_depth() -> usize {
    GRAPHS.with_borrow(|g| g.stack.len())
}

/// Forgets the thread's own graph.
#[pyfunction]
pub fn reset_default_graph() {
    // Dropped only after the borrow: what a graph drags along may run Python code.
    let old = GRAPHS.with_borrow_mut(|g| g.own.take());
    drop(old);
}

/// The session that `eval` and `run` use; None if there is none.
#[pyfunction]
pub fn default_session(py: Python<'_>) -> Option<Py<PyAny>> {
    SESSIONS.with_borrow(|s| s.last().map(|s| s.clone_ref(py)))
}

/// Makes a session the default, until `pop_session`.
#[pyfunction]
pub fn push_session(session: Py<PyAny>) {
    SESSIONS.with_borrow_mut(|s| s.push(session));
}

/// Takes the session off again.
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
