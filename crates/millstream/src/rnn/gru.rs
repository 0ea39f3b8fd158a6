//! [`GruCell`]: the gated recurrent unit.

use super::weights::{affine, parts, unbuilt, weight};
use super::{Activation, Batch, Cell, Weight};
use crate::initializer::Initializer;
use crate::ops::OutputOps;
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result};

/// `state = u · state + (1 - u) · tanh([input, r · state] · kernel + bias)`, where `[r, u] = sigmoid([input,
/// state] · kernel + bias)`.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::GruCell;
/// let g = Graph::new();
/// let (_, last) = g.dynamic_rnn(&mut GruCell::new(4), g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!(last.shape().to_string(), "[2,4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GruCell<'g> {
    units: usize,
    activation: Activation,
    initializer: Option<Initializer>,
    name: String,
    /// Kernel and bias of the gates, then of the candidate.
    weights: Option<[Weight<'g>; 4]>,
}

impl<'g> GruCell<'g> {
    /// Returns a cell of this many units.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Recurrent, rnn::GruCell};
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([2, 5, 4]); // two sequences of five steps
    /// let mut cell = GruCell::new(3);
    /// let (outputs, _) = g.dynamic_rnn(&mut cell, x).run()?;
    /// assert_eq!(outputs.shape().to_string(), "[2,5,3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(units: usize) -> Self {
        GruCell { units, activation: |x| x.tanh(), initializer: None, name: "gru_cell".into(), weights: None }
    }

    /// Sets the function for the candidate; tanh by default.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Sets the initializer of the kernels; by default the variable scope's.
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// Sets the name of the variable scope; `gru_cell` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

impl<'g> Cell<'g> for GruCell<'g> {
    type State = Output<'g>;

    fn output_size(&self) -> usize {
        self.units
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        if self.weights.is_none() {
            let (n, scope) = (self.units, format!("{scope}{}", self.name));
            let make = |name: &str, shape: &[usize], initializer: Option<&Initializer>| {
                weight(g, &format!("{scope}/{name}"), shape, dtype, initializer)
            };
            self.weights = Some([
                make("gates/kernel", &[inputs + n, 2 * n], self.initializer.as_ref())?,
                // Gates that are initially open keep the state.
                make("gates/bias", &[2 * n], Some(&Initializer::ones()))?,
                make("candidate/kernel", &[inputs + n, n], self.initializer.as_ref())?,
                make("candidate/bias", &[n], Some(&Initializer::zeros()))?,
            ]);
        }
        Ok(())
    }

    fn step(&self, input: Output<'g>, state: Output<'g>) -> Result<(Output<'g>, Output<'g>)> {
        let [gates, gates_bias, candidate, bias] = self.weights.as_ref().ok_or_else(|| unbuilt("GruCell"))?;
        let open = affine(input, state, gates, gates_bias);
        let [r, u] = parts(open.sigmoid());
        let new = (self.activation)(affine(input, r * state, candidate, bias));
        let state = u * state + (1.0 - u) * new;
        Ok((state, state))
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
