//! [`DynamicRnn`]: a cell run along time by a loop.

use super::{Batch, Cell, depth_of, select_rows, size_of, swap_time_and_batch, zip};
use crate::ops::{Ops, OutputOps};
use crate::tensor_array::TensorArray;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, PartialShape, Result, invalid};
use std::panic::Location;

/// A builder of a recurrent net.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::BasicRnnCell;
/// let g = Graph::new();
/// let x = g.zeros::<f32>([7, 2, 3]); // [time, batch, values]
/// let (outputs, _) = g.dynamic_rnn(&mut BasicRnnCell::new(4), x).time_major(true).scope("net").run()?;
/// assert_eq!(outputs.shape().to_string(), "[7,2,4]");
/// assert!(g.global_variables()[0].name().starts_with("net/"));
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "it is made by `run`"]
pub struct DynamicRnn<'g, 'c, C: Cell<'g>> {
    graph: &'g Graph,
    cell: &'c mut C,
    inputs: Output<'g>,
    sequence_length: Option<Output<'g>>,
    initial_state: Option<C::State>,
    time_major: bool,
    parallel_iterations: i64,
    swap_memory: bool,
    scope: String,
    at: &'static Location<'static>,
}

impl<'g, C: Cell<'g>> std::fmt::Debug for DynamicRnn<'g, '_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DynamicRnn")
            .field("scope", &self.scope)
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

impl<'g, 'c, C: Cell<'g>> DynamicRnn<'g, 'c, C> {
    #[track_caller]
    pub(super) fn new(graph: &'g Graph, cell: &'c mut C, inputs: Output<'g>) -> Self {
        DynamicRnn {
            graph,
            cell,
            inputs,
            sequence_length: None,
            initial_state: None,
            time_major: false,
            parallel_iterations: 32,
            swap_memory: false,
            scope: "rnn".into(),
            at: Location::caller(),
        }
    }

    /// Sets the lengths of the sequences of the batch: integers `[batch]`. Past its end a sequence outputs
    /// zeros and keeps its state.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::BasicRnnCell;
    /// let g = Graph::new();
    /// let x = g.ones::<f32>([2, 3, 1]);
    /// let mut cell = BasicRnnCell::new(1);
    /// let (outputs, _) = g.dynamic_rnn(&mut cell, x).sequence_length(g.constant([1, 3])).run()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(g.global_variables_initializer(), feed![])?;
    /// let outputs: Tensor = session.run(outputs, feed![])?;
    /// assert_eq!(outputs.as_slice::<f32>()?[1..3], [0.0, 0.0]); // past the end of the first sequence
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn sequence_length(mut self, lengths: Output<'g>) -> Self {
        self.sequence_length = Some(lengths);
        self
    }

    /// Sets the initial state; zeros by default.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::BasicRnnCell;
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([2, 3, 1]);
    /// let start = g.ones::<f32>([2, 4]);
    /// let (_, last) = g.dynamic_rnn(&mut BasicRnnCell::new(4), x).initial_state(start).run()?;
    /// assert_eq!(last.shape().to_string(), "[2,4]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initial_state(mut self, state: C::State) -> Self {
        self.initial_state = Some(state);
        self
    }

    /// Sets whether inputs and outputs are `[time, batch, ..]`, which saves a transposition; by default they
    /// are `[batch, time, ..]`.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::BasicRnnCell;
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([7, 2, 3]); // [time, batch, values]
    /// let (outputs, _) = g.dynamic_rnn(&mut BasicRnnCell::new(4), x).time_major(true).run()?;
    /// assert_eq!(outputs.shape().to_string(), "[7,2,4]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn time_major(mut self, yes: bool) -> Self {
        self.time_major = yes;
        self
    }

    /// Sets how many steps may run at the same time, as far as they do not depend on each other; 32 by
    /// default.
    pub fn parallel_iterations(mut self, n: i64) -> Self {
        self.parallel_iterations = n;
        self
    }

    /// Sets whether values saved for the gradient may be swapped out of memory; false by default.
    pub fn swap_memory(mut self, yes: bool) -> Self {
        self.swap_memory = yes;
        self
    }

    /// Sets the name scope and variable scope; `rnn` by default.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// Adds the loop. Returns the outputs of all steps and the state after the last one.
    #[track_caller]
    pub fn run(self) -> Result<(Output<'g>, C::State)> {
        let (graph, at) = (self.graph, self.at);
        graph.check()?;
        let scope = self.scope.clone();
        let result = graph.name_scope(&scope, || self.build()).map_err(|e| e.at_line(at))?;
        graph.check()?;
        Ok(result)
    }

    fn build(self) -> Result<(Output<'g>, C::State)> {
        let (g, cell) = (self.graph, self.cell);
        let x = if self.time_major { self.inputs } else { swap_time_and_batch(self.inputs)? };
        let (shape, dtype) = (x.shape(), x.dtype()?);
        if shape.rank().is_some_and(|rank| rank < 3) {
            return Err(invalid!(
                "the inputs must have shape [batch, time, features], found {}",
                self.inputs.shape()
            )
            .with_help("with `.time_major(true)` the expected shape is [time, batch, features]"));
        }
        cell.build(g, &format!("{}/", self.scope), depth_of(x)?, dtype)?;
        let (time, batch) = (size_of(x, 0), Batch::of(x, 1));
        let state = self.initial_state.map_or_else(|| cell.zero_state(g, batch, dtype), Ok)?;
        let lengths = self.sequence_length.map(|lengths| Lengths::new(lengths, &shape)).transpose()?;
        let n = cell.output_size();
        let zeros = lengths.as_ref().map(|_| batch.zeros(g, n, dtype)).transpose()?;
        let last = match &lengths {
            None => time,
            // At least one step, as in TensorFlow.
            Some(lengths) => {
                let longest = lengths.of.max([0]);
                let one = longest.maximum(1);
                time.minimum(one)
            }
        };
        let inputs = TensorArray::of_rows(x);
        let item = PartialShape::new([shape.dim(1), Some(n)]);
        let outputs = TensorArray::of_dtype(g, dtype, time).element_shape(item).build();
        let the_loop = g.while_loop((g.constant(0), state, outputs));
        let the_loop = the_loop.parallel_iterations(self.parallel_iterations).swap_memory(self.swap_memory);
        let (_, state, outputs) = the_loop.run(
            |(t, _, _)| t.less(last),
            |(t, before, outputs)| -> Result<_> {
                let (mut output, mut state) = cell.step(inputs.read(t), before.clone())?;
                if let (Some(lengths), Some(zeros)) = (&lengths, zeros) {
                    let over = t.greater_equal(lengths.of);
                    output = select_rows(over, zeros, output);
                    state = zip(&before, &state, |before, now| select_rows(over, before, now))?;
                }
                Ok((t + 1, state, outputs.write(t, output)))
            },
        )?;
        let whole = PartialShape::new([shape.dim(0), shape.dim(1), Some(n)]);
        let outputs = outputs.stack().set_shape(whole);
        Ok((if self.time_major { outputs } else { swap_time_and_batch(outputs)? }, state))
    }
}

/// The lengths of the sequences of a batch.
pub(super) struct Lengths<'g> {
    /// The lengths, as i32.
    pub of: Output<'g>,
}

impl<'g> Lengths<'g> {
    /// Checks lengths for a batch of shape `[time, batch, ..]`.
    pub fn new(lengths: Output<'g>, shape: &PartialShape) -> Result<Lengths<'g>> {
        let (g, dtype) = (lengths.graph(), lengths.dtype()?);
        let of = match dtype {
            DType::I32 => lengths,
            DType::I64 => g.math().cast(lengths, DType::I32),
            _ => return Err(invalid!("`sequence_length` must be i32 or i64, found {dtype}")),
        };
        let wanted = PartialShape::new([shape.dim(1)]);
        if !lengths.shape().is_compatible(&wanted) {
            return Err(invalid!(
                "`sequence_length` has shape {}, expected the batch shape {wanted}",
                lengths.shape()
            )
            .with_help("give one length for each sequence"));
        }
        Ok(Lengths { of })
    }
}
