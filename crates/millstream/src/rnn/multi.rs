//! [`MultiRnnCell`] and tuples of cells: stacked cells, where the output of one is the input of the next.

use super::{Batch, Cell, Weight};
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result, invalid};

/// Stacked cells of one kind; the state is the states of all. A tuple stacks cells of different kinds:
/// `(GruCell::new(8), BasicLstmCell::new(4))`.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::{GruCell, MultiRnnCell};
/// let g = Graph::new();
/// let mut cell = MultiRnnCell::new(vec![GruCell::new(8), GruCell::new(4)]);
/// let (outputs, states) = g.dynamic_rnn(&mut cell, g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!((outputs.shape().to_string(), states.len()), ("[2,5,4]".into(), 2));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MultiRnnCell<C> {
    cells: Vec<C>,
}

impl<C> MultiRnnCell<C> {
    /// Stacks these cells; the first one gets the input.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Cell, MultiRnnCell};
    /// let g = Graph::new();
    /// assert_eq!(MultiRnnCell::new(vec![BasicRnnCell::new(8), BasicRnnCell::new(4)]).output_size(), 4);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(cells: Vec<C>) -> Self {
        MultiRnnCell { cells }
    }

    /// Returns the cells.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{GruCell, MultiRnnCell};
    /// let g = Graph::new();
    /// assert_eq!(MultiRnnCell::new(vec![GruCell::new(8), GruCell::new(4)]).cells().len(), 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn cells(&self) -> &[C] {
        &self.cells
    }
}

impl<'g, C: Cell<'g>> Cell<'g> for MultiRnnCell<C> {
    type State = Vec<C::State>;

    fn output_size(&self) -> usize {
        self.cells.last().map_or(0, C::output_size)
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        if self.cells.is_empty() {
            return Err(invalid!("a MultiRnnCell needs at least one cell"));
        }
        let mut inputs = inputs;
        for (i, cell) in self.cells.iter_mut().enumerate() {
            cell.build(g, &format!("{scope}multi_rnn_cell/cell_{i}/"), inputs, dtype)?;
            inputs = cell.output_size();
        }
        Ok(())
    }

    fn step(&self, input: Output<'g>, state: Self::State) -> Result<(Output<'g>, Self::State)> {
        if state.len() != self.cells.len() {
            return Err(invalid!(
                "expected one state per cell: {} states, {} cells",
                state.len(),
                self.cells.len()
            ));
        }
        let (mut x, mut states) = (input, Vec::new());
        for (cell, state) in self.cells.iter().zip(state) {
            let (output, next) = cell.step(x, state)?;
            x = output;
            states.push(next);
        }
        Ok((x, states))
    }

    fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<Self::State> {
        self.cells.iter().map(|cell| cell.zero_state(g, batch, dtype)).collect()
    }

    fn weights(&self) -> Vec<Weight<'g>> {
        self.cells.iter().flat_map(C::weights).collect()
    }

    fn droppable(&self) -> Vec<bool> {
        self.cells.iter().flat_map(C::droppable).collect()
    }
}

macro_rules! tuples {
    ($( ($($t:ident . $i:tt),* ; $last:tt) )*) => { $(
        impl<'g, $($t: Cell<'g>),*> Cell<'g> for ($($t,)*) {
            type State = ($($t::State,)*);

            fn output_size(&self) -> usize {
                self.$last.output_size()
            }

            fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
                let mut n = inputs;
                $(
                    self.$i.build(g, &format!("{scope}multi_rnn_cell/cell_{}/", $i), n, dtype)?;
                    n = self.$i.output_size();
                )*
                let _ = n;
                Ok(())
            }

            fn step(&self, input: Output<'g>, state: Self::State) -> Result<(Output<'g>, Self::State)> {
                let mut x = input;
                let states = ($({
                    let (output, next) = self.$i.step(x, state.$i)?;
                    x = output;
                    next
                },)*);
                Ok((x, states))
            }

            fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<Self::State> {
                Ok(($(self.$i.zero_state(g, batch, dtype)?,)*))
            }

            fn weights(&self) -> Vec<Weight<'g>> {
                let mut all = Vec::new();
                $(all.extend(self.$i.weights());)*
                all
            }

            fn droppable(&self) -> Vec<bool> {
                let mut all = Vec::new();
                $(all.extend(self.$i.droppable());)*
                all
            }
        }
    )* };
}
tuples! {
    (A.0, B.1; 1)
    (A.0, B.1, C.2; 2)
    (A.0, B.1, C.2, D.3; 3)
}
