//! [`RawStep`]: what a function says to the loop of `raw_rnn` between two steps of the cell.

use super::{Batch, Cell, depth_of, select_rows, zip};
use crate::tensor_array::TensorArray;
use millstream_graph::{Graph, IntoNest, Nest, Output};
use millstream_tensor::{PartialShape, Result};

/// Between two steps: what comes next.
///
/// The function given to [`Recurrent::raw_rnn`](super::Recurrent::raw_rnn) is called twice: before the first step, with the time 0 and
/// nothing else, and in the loop, with the time and what the cell and it itself gave in the step before.
///
/// ```
/// use millstream::prelude::*;
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
    /// Which sequences are over: `bool[batch]`. They emit zeros from now on and keep their state; when all are, the loop ends.
    pub finished: Output<'g>,
    /// What the cell gets.
    pub input: Output<'g>,
    /// The state that it gets.
    pub state: S,
    /// What the step before emits, by default the cell's output; in the first call, what emitted values look like.
    pub emit: Option<Output<'g>>,
    /// What the function gets itself.
    pub loop_state: L,
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
        let zeros = g.op("ZerosLike").input(like).output();
        let shape = match first.emit {
            // Values for the whole batch, or for one sequence.
            Some(like) => like.shape(),
            None => PartialShape::new([first.input.shape().dim(0), Some(cell.output_size())]),
        };
        let emitted =
            TensorArray::of_dtype(g, like.dtype()?, 0).dynamic_size(true).element_shape(shape).make();
        let vars = (g.constant(0), first.finished, first.input, first.state, first.loop_state, emitted);
        let (_, _, _, state, loop_state, emitted) = g.while_loop(vars).parallel_iterations(32).run(
            |(_, finished, _, _, _, _)| {
                let all = g.op("All").input(finished).input([0]).output();
                g.op("LogicalNot").input(all).output()
            },
            |(time, finished, input, before, loop_state, emitted)| -> Result<_> {
                let (output, state) = cell.step(input, before.clone())?;
                let said = next(time + 1, Some((output, state, loop_state)))?;
                let emit = select_rows(finished, zeros, said.emit.unwrap_or(output));
                let state = zip(&before, &said.state, |before, now| select_rows(finished, before, now))?;
                let over = g.op("LogicalOr").inputs([finished, said.finished]).output();
                Ok((time + 1, over, said.input, state, said.loop_state, emitted.write(time, emit)))
            },
        )?;
        Ok((emitted, state, loop_state))
    })?;
    g.check()?;
    Ok(result)
}
