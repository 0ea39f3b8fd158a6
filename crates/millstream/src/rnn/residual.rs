//! [`ResidualWrapper`]: a cell that adds its input to its output.

use super::{Batch, Cell, Weight};
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result, ensure};

/// `output = cell output + input`: both have the same size.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::{GruCell, ResidualWrapper};
/// let g = Graph::new();
/// let mut cell = ResidualWrapper::new(GruCell::new(3)); // as many outputs as inputs
/// let (outputs, _) = g.dynamic_rnn(&mut cell, g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!(outputs.shape().to_string(), "[2,5,3]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ResidualWrapper<C> {
    cell: C,
}

impl<C> ResidualWrapper<C> {
    /// Wraps a cell.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Cell, ResidualWrapper};
    /// let g = Graph::new();
    /// assert_eq!(ResidualWrapper::new(BasicRnnCell::new(4)).output_size(), 4);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(cell: C) -> Self {
        ResidualWrapper { cell }
    }
}

impl<'g, C: Cell<'g>> Cell<'g> for ResidualWrapper<C> {
    type State = C::State;

    fn output_size(&self) -> usize {
        self.cell.output_size()
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        let n = self.output_size();
        ensure!(inputs == n, "a ResidualWrapper adds {inputs} inputs to {n} outputs: there must be as many");
        self.cell.build(g, scope, inputs, dtype)
    }

    fn step(&self, input: Output<'g>, state: C::State) -> Result<(Output<'g>, C::State)> {
        let (output, state) = self.cell.step(input, state)?;
        Ok((input + output, state))
    }

    fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<C::State> {
        self.cell.zero_state(g, batch, dtype)
    }

    fn weights(&self) -> Vec<Weight<'g>> {
        self.cell.weights()
    }

    fn droppable(&self) -> Vec<bool> {
        self.cell.droppable()
    }
}
