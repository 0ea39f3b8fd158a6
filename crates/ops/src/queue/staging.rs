//! Staging areas: values that one run puts aside and another takes. [`area`] looks one up by name, and
//! [`wait`] and [`at_once`] do work on it; `stage` and `map_stage` have the ops.
//!
//! What is taken for a run that is over when it arrives goes back to its place, as items of queues do.

use millstream_graph::op::spec::{AtLeast, Spec, Text, TypeList};
use millstream_graph::op::{Completion, Gradient, KernelCx, NodeInfo, OpDef};
use millstream_state::{Given, Line, Work};
use millstream_tensor::budget::Room;
use millstream_tensor::{Code, Error, Result, Tensor, ensure};
use std::sync::Arc;

/// Declares the attributes of an op of a staging area.
pub(super) fn user(def: OpDef) -> OpDef {
    def.attr("capacity", AtLeast(0).or(0))
        .attr("memory_limit", AtLeast(0).or(0))
        .attr("dtypes", TypeList)
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .infer(|_| Ok(()))
        .gradient(Gradient::none("of staging areas there is none, as in TensorFlow"))
}

/// Values that are put aside. What the list takes is charged to the run that put them.
pub(super) struct Staged {
    pub values: Vec<Option<Tensor>>,
    pub bytes: usize,
    _room: Room,
}

impl Staged {
    pub fn new(values: Vec<Option<Tensor>>) -> Result<Staged> {
        let room = Room::of(values.len() * size_of::<Option<Tensor>>() + size_of::<Staged>())?;
        let bytes = values.iter().flatten().map(bytes_of).sum();
        Ok(Staged { values, bytes, _room: room })
    }
}

/// The bytes of a tensor, as `memory_limit` counts them.
pub(super) fn bytes_of(value: &Tensor) -> usize {
    match value.as_strs() {
        Some(strs) => strs.iter().map(|s| s.len()).sum::<usize>(),
        None => value.elements().saturating_mul(value.dtype().size().unwrap_or(0)),
    }
}

/// The limits in a node's attributes; 0 for none.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    capacity: usize,
    memory: usize,
}

impl Limits {
    pub fn of(node: &NodeInfo) -> Result<Limits> {
        let limit = |name| node.attrs.int(name).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        Ok(Limits { capacity: limit("capacity")?, memory: limit("memory_limit")? })
    }

    /// Whether an element of `bytes` has room beside `n` others of `held` bytes. An error if it never has.
    pub fn admit(self, bytes: usize, n: usize, held: usize) -> Result<bool> {
        ensure_fits(bytes, self.memory)?;
        let has_place = self.capacity == 0 || n < self.capacity;
        Ok(has_place && (self.memory == 0 || held.saturating_add(bytes) <= self.memory))
    }
}

fn ensure_fits(bytes: usize, limit: usize) -> Result<()> {
    match limit {
        0 => Ok(()),
        _ if bytes <= limit => Ok(()),
        _ => Err(Error::new(
            Code::ResourceExhausted,
            format!(
                "Attempted to insert tensors with combined size of '{bytes}' bytes into Staging Area with a memory limit of '{limit}'."
            ),
        )),
    }
}

/// The area that a node names: by `shared_name`, or by its own name.
pub(super) fn area<T: Default + Send + 'static>(cx: &KernelCx, kind: &'static str) -> Result<Arc<Line<T>>> {
    let attr = |name| cx.node.attrs.str(name).map(|v| v.text().into_owned());
    let (container, name) = (attr("container")?, attr("shared_name")?);
    let container = if container.is_empty() { &*cx.env.container } else { &*container };
    let name = if name.is_empty() { &*cx.node.name } else { &*name };
    cx.env.resources.get_or_create(container, name, || Ok(Line::new(kind, T::default())))
}

/// Does the work once it does not have to wait.
pub(super) fn wait<T: Send + 'static>(
    cx: &KernelCx,
    completion: Completion,
    made: Result<(Arc<Line<T>>, Work<T>)>,
) {
    match made {
        Err(error) => completion.complete(Err(error)),
        Ok((line, work)) => {
            let dtypes = cx.node.output_types.iter().map(|ty| ty.dtype).collect::<Vec<_>>();
            line.attempt(&cx.env.cancel, work, move |result| match result {
                Err(error) => completion.complete(Err(error)),
                Ok(lent) => completion.complete_with(move || {
                    check(&lent, &dtypes)?;
                    Ok(lent.used())
                }),
            });
        }
    }
}

/// Does work that never waits.
pub(super) fn at_once<T: Default + Send + 'static>(
    cx: &mut KernelCx,
    kind: &'static str,
    work: impl FnOnce(&mut T) -> Result<Given>,
) -> Result<()> {
    let given = area::<T>(cx, kind)?.change(work)?;
    given.into_iter().enumerate().for_each(|(i, value)| cx.set(i, value));
    Ok(())
}

/// An error unless the values are of the dtypes that the node gives.
fn check(given: &[Tensor], dtypes: &[millstream_tensor::DType]) -> Result<()> {
    ensure!(
        given.len() == dtypes.len() && given.iter().zip(dtypes).all(|(value, dtype)| value.dtype() == *dtype),
        "the element holds {}, but the node gives {}",
        millstream_state::dtype_names(given.iter().map(Tensor::dtype)),
        millstream_state::dtype_names(dtypes.iter().copied())
    );
    Ok(())
}
