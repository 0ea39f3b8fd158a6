//! [`RawStep`]: the control of `raw_rnn` between two steps of the cell.

use super::{Batch, Cell, depth_of, select_rows, zip};
use crate::ops::OutputOps;
use crate::tensor_array::TensorArray;
use millstream_graph::{Graph, IntoNest, Nest, Output};
use millstream_tensor::{PartialShape, Result};

/// The next step of a cell.
///
/// The function given to [`Recurrent::raw_rnn`](super::Recurrent::raw_rnn) is called twice: before the first
/// step, with time 0 and nothing else, and in the loop, with the time, the cell's last output and state, and
/// its own last loop state.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::Recurrent;
/// use millstream::rnn::{BasicRnnCell, Batch, Cell, RawStep};
/// let g = Graph::new();
/// // The net hears its own output, for four steps; it starts from ones.
/// let mut cell = BasicRnnCell::new(2);
/// let zero = cell.zero_state(&g, Batch::Known(3), DType::F32)?;
/// let (emitted, _, ()) = g.raw_rnn(&mut cell, |time, before| {
///     let finished = g.fill([3], time.greater_equal(4));
///     let (input, state) = match before {
///         None => (g.ones::<f32>([3, 2]), zero),
///         Some((output, state, ())) => (output, state),
///     };
///     Ok(RawStep { finished, input, state, emit: None, loop_state: () })
/// })?;
/// let (emitted, init) = (emitted.stack(), g.global_variables_initializer());
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// assert_eq!(session.run::<Tensor>(emitted, feed![])?.shape().dims(), [4, 3, 2]);
/// # Ok::<(), millstream::Error>(())
/// ```
pub struct RawStep<'g, S, L> {
    /// The finished sequences: `bool[batch]`. From now on they emit zeros and keep their state. The loop ends
    /// when all are finished.
    pub finished: Output<'g>,
    /// The next input of the cell.
    pub input: Output<'g>,
    /// The next state of the cell.
    pub state: S,
    /// The value that the last step emits, by default the cell's output; in the first call, an example of an
    /// emitted value.
    pub emit: Option<Output<'g>>,
    /// The loop state that the function gets next.
    pub loop_state: L,
}

impl<S, L> std::fmt::Debug for RawStep<'_, S, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawStep")
            .field("finished", &self.finished)
            .field("input", &self.input)
            .field("emit", &self.emit)
            .finish_non_exhaustive()
    }
}

#[track_caller]
pub(super) fn raw_rnn<'g, C, L, F>(
    g: &'g Graph,
    cell: &mut C,
    mut next: F,
) -> Result<(TensorArray<'g>, C::State, L)>
where
    C: Cell<'g>,
    L: Nest<'g> + IntoNest<'g, Nest = L> + Clone,
    F: FnMut(Output<'g>, Option<(Output<'g>, C::State, L)>) -> Result<RawStep<'g, C::State, L>>,
{
    g.check()?;
    let result = g.name_scope("rnn", || -> Result<_> {
        let first = next(g.constant_tensor("time", 0i32.into()), None)?;
        let dtype = first.input.dtype()?;
        cell.build(g, "rnn/", depth_of(first.input)?, dtype)?;
        let batch = Batch::of(first.input, 0);
        let like = first.emit.map_or_else(|| batch.zeros(g, cell.output_size(), dtype), Ok)?;
        let zeros = like.zeros_like();
        let shape = match first.emit {
            // An example for the whole batch, or for one sequence.
            Some(like) => like.shape(),
            None => PartialShape::new([first.input.shape().dim(0), Some(cell.output_size())]),
        };
        let emitted =
            TensorArray::of_dtype(g, like.dtype()?, 0).dynamic_size(true).element_shape(shape).build();
        let vars = (g.constant(0), first.finished, first.input, first.state, first.loop_state, emitted);
        let (_, _, _, state, loop_state, emitted) = g.while_loop(vars).parallel_iterations(32).run(
            |(_, finished, _, _, _, _)| {
                let all = finished.all([0]);
                all.logical_not()
            },
            |(time, finished, input, before, loop_state, emitted)| -> Result<_> {
                let (output, state) = cell.step(input, before.clone())?;
                let said = next(time + 1, Some((output, state, loop_state)))?;
                let emit = select_rows(finished, zeros, said.emit.unwrap_or(output));
                let state = zip(&before, &said.state, |before, now| select_rows(finished, before, now))?;
                let over = finished.logical_or(said.finished);
                Ok((time + 1, over, said.input, state, said.loop_state, emitted.write(time, emit)))
            },
        )?;
        Ok((emitted, state, loop_state))
    })?;
    g.check()?;
    Ok(result)
}
