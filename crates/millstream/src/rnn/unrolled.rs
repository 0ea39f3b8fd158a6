//! [`StaticRnn`]: a cell unrolled along time.

use super::dynamic::Lengths;
use super::{Batch, Cell, depth_of, select_rows, zip};
use crate::ops::OutputOps;
use millstream_graph::{Graph, Output};
use millstream_tensor::{PartialShape, Result, Tensor, invalid};
use std::panic::Location;

/// A builder of a recurrent net.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::BasicRnnCell;
/// let g = Graph::new();
/// let steps = g.unstack(g.zeros::<f32>([4, 2, 3]), 0); // four steps, two sequences
/// let (outputs, last) = g.static_rnn(&mut BasicRnnCell::new(5), steps).scope("net").run()?;
/// assert_eq!((outputs.len(), last.shape().to_string()), (4, "[2,5]".to_owned()));
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "it is made by `run`"]
pub struct StaticRnn<'g, 'c, C: Cell<'g>> {
    graph: &'g Graph,
    cell: &'c mut C,
    inputs: Vec<Output<'g>>,
    sequence_length: Option<Output<'g>>,
    initial_state: Option<C::State>,
    scope: String,
    at: &'static Location<'static>,
}

impl<'g, C: Cell<'g>> std::fmt::Debug for StaticRnn<'g, '_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StaticRnn")
            .field("scope", &self.scope)
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

impl<'g, 'c, C: Cell<'g>> StaticRnn<'g, 'c, C> {
    #[track_caller]
    pub(super) fn new(graph: &'g Graph, cell: &'c mut C, inputs: Vec<Output<'g>>) -> Self {
        let (scope, at) = ("rnn".into(), Location::caller());
        StaticRnn { graph, cell, inputs, sequence_length: None, initial_state: None, scope, at }
    }

    /// Sets the lengths of the sequences of the batch; see
    /// [`DynamicRnn::sequence_length`](super::DynamicRnn::sequence_length).
    pub fn sequence_length(mut self, lengths: Output<'g>) -> Self {
        self.sequence_length = Some(lengths);
        self
    }

    /// Sets the initial state; zeros by default.
    pub fn initial_state(mut self, state: C::State) -> Self {
        self.initial_state = Some(state);
        self
    }

    /// Sets the name scope and variable scope; `rnn` by default.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Adds the steps. Returns the output of each and the state after the last one.
    #[track_caller]
    pub fn run(self) -> Result<(Vec<Output<'g>>, C::State)> {
        let (graph, at) = (self.graph, self.at);
        graph.check()?;
        let scope = self.scope.clone();
        let result = graph.name_scope(&scope, || self.build()).map_err(|e| e.at_line(at))?;
        graph.check()?;
        Ok(result)
    }

    fn build(self) -> Result<(Vec<Output<'g>>, C::State)> {
        let (g, cell) = (self.graph, self.cell);
        let first = *self.inputs.first().ok_or_else(|| invalid!("`static_rnn` needs at least one input"))?;
        let dtype = first.dtype()?;
        cell.build(g, &format!("{}/", self.scope), depth_of(first)?, dtype)?;
        let batch = Batch::of(first, 0);
        let mut state = self.initial_state.map_or_else(|| cell.zero_state(g, batch, dtype), Ok)?;
        let shape = PartialShape::new([None, first.shape().dim(0)]);
        let lengths = self.sequence_length.map(|lengths| Lengths::new(lengths, &shape)).transpose()?;
        let zeros = lengths.as_ref().map(|_| batch.zeros(g, cell.output_size(), dtype)).transpose()?;
        let mut outputs = Vec::new();
        for (t, &x) in self.inputs.iter().enumerate() {
            let (mut output, mut next) = cell.step(x, state.clone())?;
            if let (Some(lengths), Some(zeros)) = (&lengths, zeros) {
                let t = i32::try_from(t).map_err(|_| invalid!("{t} steps are too many"))?;
                let t = g.constant_tensor("time", Tensor::scalar(t));
                let over = t.greater_equal(lengths.of);
                output = select_rows(over, zeros, output);
                next = zip(&state, &next, |before, now| select_rows(over, before, now))?;
            }
            outputs.push(output);
            state = next;
        }
        Ok((outputs, state))
    }
}
