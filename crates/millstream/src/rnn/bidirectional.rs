//! [`Bidirectional`]: one cell run forward in time, another backward.

use super::dynamic::DynamicRnn;
use super::{Cell, lengths};
use millstream_graph::{Graph, Output};
use millstream_tensor::Result;
use std::panic::Location;

/// A builder of two recurrent nets.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::GruCell;
/// let g = Graph::new();
/// let (mut forward, mut backward) = (GruCell::new(4), GruCell::new(6));
/// let x = g.zeros::<f32>([2, 5, 3]);
/// let lengths = g.constant([5, 2]);
/// let ((there, back), _) =
///     g.bidirectional_dynamic_rnn(&mut forward, &mut backward, x).sequence_length(lengths).run()?;
/// assert_eq!((there.shape().to_string(), back.shape().to_string()), ("[2,5,4]".into(), "[2,5,6]".into()));
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "they are made by `run`"]
pub struct Bidirectional<'g, 'c, F: Cell<'g>, B: Cell<'g>> {
    graph: &'g Graph,
    cells: (&'c mut F, &'c mut B),
    inputs: Output<'g>,
    sequence_length: Option<Output<'g>>,
    initial: (Option<F::State>, Option<B::State>),
    time_major: bool,
    parallel_iterations: i64,
    swap_memory: bool,
    scope: String,
    at: &'static Location<'static>,
}

impl<'g, F: Cell<'g>, B: Cell<'g>> std::fmt::Debug for Bidirectional<'g, '_, F, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bidirectional")
            .field("scope", &self.scope)
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

impl<'g, 'c, F: Cell<'g>, B: Cell<'g>> Bidirectional<'g, 'c, F, B> {
    #[track_caller]
    pub(super) fn new(graph: &'g Graph, forward: &'c mut F, backward: &'c mut B, inputs: Output<'g>) -> Self {
        Bidirectional {
            graph,
            cells: (forward, backward),
            inputs,
            sequence_length: None,
            initial: (None, None),
            time_major: false,
            parallel_iterations: 32,
            swap_memory: false,
            scope: "bidirectional_rnn".into(),
            at: Location::caller(),
        }
    }

    /// Sets the lengths of the sequences of the batch; see [`DynamicRnn::sequence_length`].
    pub fn sequence_length(mut self, lengths: Output<'g>) -> Self {
        self.sequence_length = Some(lengths);
        self
    }

    /// Sets the initial states; zeros by default.
    pub fn initial_states(mut self, forward: F::State, backward: B::State) -> Self {
        self.initial = (Some(forward), Some(backward));
        self
    }

    /// Sets whether inputs and outputs are `[time, batch, ..]`; by default they are `[batch, time, ..]`.
    pub fn time_major(mut self, yes: bool) -> Self {
        self.time_major = yes;
        self
    }

    /// Sets how many steps may run at the same time; 32 by default.
    pub fn parallel_iterations(mut self, n: i64) -> Self {
        self.parallel_iterations = n;
        self
    }

    /// Sets whether values saved for the gradient may be swapped out of memory; false by default.
    pub fn swap_memory(mut self, yes: bool) -> Self {
        self.swap_memory = yes;
        self
    }

    /// Sets the name scope and variable scope; `bidirectional_rnn` by default.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Adds both loops. Returns the outputs of both, in order of time, and the last states of both.
    #[track_caller]
    #[expect(clippy::type_complexity, reason = "a pair of pairs, as TensorFlow gives it")]
    pub fn run(self) -> Result<((Output<'g>, Output<'g>), (F::State, B::State))> {
        let (g, at, x, batch_major) = (self.graph, self.at, self.inputs, !self.time_major);
        let lengths = self.sequence_length;
        let scope = |side: &str| format!("{}/{side}", self.scope);
        let mut forward = DynamicRnn::new(g, self.cells.0, x).scope(scope("fw"));
        let turned = g.name_scope(&self.scope, || lengths::reverse(g, x, lengths, batch_major));
        let mut backward = DynamicRnn::new(g, self.cells.1, turned).scope(scope("bw"));
        if let Some(lengths) = lengths {
            (forward, backward) = (forward.sequence_length(lengths), backward.sequence_length(lengths));
        }
        if let (Some(f), Some(b)) = self.initial {
            (forward, backward) = (forward.initial_state(f), backward.initial_state(b));
        }
        let (n, swap) = (self.parallel_iterations, self.swap_memory);
        let forward = forward.time_major(!batch_major).parallel_iterations(n).swap_memory(swap);
        let backward = backward.time_major(!batch_major).parallel_iterations(n).swap_memory(swap);
        let (output, state) = forward.run().map_err(|e| e.at_line(at))?;
        let (turned, state_back) = backward.run().map_err(|e| e.at_line(at))?;
        let output_back = lengths::reverse(g, turned, lengths, batch_major);
        g.check()?;
        Ok(((output, output_back), (state, state_back)))
    }
}
