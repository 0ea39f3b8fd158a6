//! [`BasicRnnCell`]: the simplest recurrent cell.

use super::weights::{affine, unbuilt, weight};
use super::{Activation, Batch, Cell, Weight};
use crate::initializer::Initializer;
use crate::ops::OutputOps;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result};

/// `output = state = tanh([input, state] · kernel + bias)`.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::BasicRnnCell;
/// let g = Graph::new();
/// let mut cell = BasicRnnCell::new(4).activation(|x| x.relu());
/// let (outputs, _) = g.dynamic_rnn(&mut cell, g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!(outputs.shape().to_string(), "[2,5,4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BasicRnnCell<'g> {
    units: usize,
    activation: Activation,
    initializer: Option<Initializer>,
    name: String,
    weights: Option<[Weight<'g>; 2]>,
}

impl<'g> BasicRnnCell<'g> {
    /// Returns a cell of this many units.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Recurrent, rnn::BasicRnnCell};
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([2, 5, 4]); // two sequences of five steps
    /// let mut cell = BasicRnnCell::new(3);
    /// let (outputs, _) = g.dynamic_rnn(&mut cell, x).run()?;
    /// assert_eq!(outputs.shape().to_string(), "[2,5,3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(units: usize) -> Self {
        BasicRnnCell {
            units,
            activation: |x| x.tanh(),
            initializer: None,
            name: "basic_rnn_cell".into(),
            weights: None,
        }
    }

    /// Sets the function applied to the sum; tanh by default.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Sets the initializer of the kernel; by default the variable scope's.
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// Sets the name of the variable scope; `basic_rnn_cell` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

impl<'g> Cell<'g> for BasicRnnCell<'g> {
    type State = Output<'g>;

    fn output_size(&self) -> usize {
        self.units
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        if self.weights.is_none() {
            let (n, scope) = (self.units, format!("{scope}{}", self.name));
            let kernel =
                weight(g, &format!("{scope}/kernel"), &[inputs + n, n], dtype, self.initializer.as_ref())?;
            let bias = weight(g, &format!("{scope}/bias"), &[n], dtype, Some(&Initializer::zeros()))?;
            self.weights = Some([kernel, bias]);
        }
        Ok(())
    }

    fn step(&self, input: Output<'g>, state: Output<'g>) -> Result<(Output<'g>, Output<'g>)> {
        let [kernel, bias] = self.weights.as_ref().ok_or_else(|| unbuilt("BasicRnnCell"))?;
        let output = (self.activation)(affine(input, state, kernel, bias));
        Ok((output, output))
    }

    fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<Output<'g>> {
        batch.zeros(g, self.units, dtype)
    }

    fn weights(&self) -> Vec<Weight<'g>> {
        self.weights.iter().flatten().copied().collect()
    }

    fn droppable(&self) -> Vec<bool> {
        vec![true]
    }
}
