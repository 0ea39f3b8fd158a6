//! The extension `millstream._engine`: Python bindings of the engine. Every function converts its arguments,
//! makes one call and converts the result. The meaning and execution of graphs are in the crate `millstream`;
//! what only Python needs (structures, classes, messages) is in the package in `py/`.
//!
//! - `graph`: `Graph` and its blocks; `tensor`: `Tensor`; `operation`: `Operation`; `handles`: common code;
//! - `op`: op types as functions; `array`: values to tensors and back; `memory`: arrays that are not copied;
//!   `attr`: attributes;
//! - `flow`: loops and branches over flat lists of tensors; `gradients`; `custom`: Python gradients;
//! - `host`: Python functions called by nodes; `collective`: the job of several processes;
//! - `session`: `Session`; `leave`: releasing the GIL; `threads`: counting them; `views`: tables and
//!   progress; `errors`; `place`: the Python source locations of nodes.

#![expect(
    missing_debug_implementations,
    reason = "classes of Python print by `__repr__`, and Rust never sees them"
)]

mod array;
mod attr;
mod collective;
mod custom;
mod dtypes;
mod errors;
mod flow;
mod gradients;
mod graph;
mod handles;
mod host;
mod interop;
mod kept;
mod leave;
mod memory;
mod op;
mod operation;
mod place;
mod placement;
mod session;
mod stack;
mod tensor;
mod threads;
mod views;

use pyo3::prelude::*;

/// The module. It supports Python without the GIL: every class is frozen, mutable state is behind a lock or
/// atomic, and no Python code runs while such a lock is held except reference counting (so a thread that
/// waits for the lock is never blocked by Python).
#[pymodule(gil_used = false)]
fn _engine(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<graph::Graph>()?;
    m.add_class::<graph::Block>()?;
    m.add_class::<tensor::Tensor>()?;
    m.add_class::<operation::Operation>()?;
    m.add_class::<op::OpType>()?;
    m.add_class::<session::Session>()?;
    m.add_class::<session::Callable>()?;
    m.add_class::<session::Every>()?;
    m.add_class::<session::PartialRun>()?;
    m.add_class::<session::SplitRun>()?;
    m.add_class::<session::Residuals>()?;
    m.add_class::<array::Elements>()?;
    m.add_class::<views::Report>()?;
    m.add_class::<host::HostFunction>()?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("__about__", millstream::about())?;
    for f in [
        wrap_pyfunction!(stack::default_graph, m)?,
        wrap_pyfunction!(stack::push_graph, m)?,
        wrap_pyfunction!(stack::pop_graph, m)?,
        wrap_pyfunction!(stack::reset_default_graph, m)?,
        wrap_pyfunction!(stack::graph_stack_depth, m)?,
        wrap_pyfunction!(stack::default_session, m)?,
        wrap_pyfunction!(stack::push_session, m)?,
        wrap_pyfunction!(stack::pop_session, m)?,
        wrap_pyfunction!(stack::set_hooks, m)?,
        wrap_pyfunction!(array::asarray, m)?,
        wrap_pyfunction!(op::op_names, m)?,
        wrap_pyfunction!(op::constants::convert, m)?,
        wrap_pyfunction!(op::constants::constant, m)?,
        wrap_pyfunction!(flow::while_loop, m)?,
        wrap_pyfunction!(flow::cond, m)?,
        wrap_pyfunction!(gradients::gradients, m)?,
        wrap_pyfunction!(gradients::jacobian, m)?,
        wrap_pyfunction!(gradients::jvp, m)?,
        wrap_pyfunction!(custom::has_gradient, m)?,
        wrap_pyfunction!(interop::import_graph_def, m)?,
        wrap_pyfunction!(interop::weigh, m)?,
        wrap_pyfunction!(interop::weigh_text, m)?,
        wrap_pyfunction!(interop::op_def, m)?,
        wrap_pyfunction!(interop::write_whole, m)?,
        wrap_pyfunction!(session::forked, m)?,
        wrap_pyfunction!(tensor::tracing, m)?,
        wrap_pyfunction!(kept::set_tensor_handle, m)?,
        wrap_pyfunction!(leave::ending, m)?,
        wrap_pyfunction!(threads::asleep, m)?,
        wrap_pyfunction!(collective::join_job, m)?,
        wrap_pyfunction!(collective::leave_job, m)?,
    ] {
        m.add_function(f)?;
    }
    threads::register();
    Ok(())
}
