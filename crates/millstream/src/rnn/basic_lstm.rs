//! [`BasicLstmCell`]: long short-term memory without extras.

use super::weights::{affine, parts, unbuilt, weight};
use super::{Activation, Batch, Cell, Weight};
use crate::initializer::Initializer;
use crate::ops::OutputOps;
use millstream_graph::nest::{Converter, Leaf, Structure, Values};
use millstream_graph::{Graph, IntoNest, Nest, Output};
use millstream_tensor::{DType, Result};

/// The state of an LSTM.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::BasicLstmCell;
/// let g = Graph::new();
/// let (_, state) = g.dynamic_rnn(&mut BasicLstmCell::new(4), g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!((state.c.shape().to_string(), state.h.shape().to_string()), ("[2,4]".into(), "[2,4]".into()));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LstmState<'g> {
    /// The memory.
    pub c: Output<'g>,
    /// The output.
    pub h: Output<'g>,
}

/// `c = sigmoid(f + forget_bias) · c + sigmoid(i) · tanh(j)`, `h = sigmoid(o) · tanh(c)`, where `[i, j, f,
/// o] = [input, h] · kernel + bias`.
///
/// Clipping, peepholes and projections: [`LstmCell`](super::LstmCell).
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::BasicLstmCell;
/// let g = Graph::new();
/// let mut cell = BasicLstmCell::new(4).forget_bias(0.0).name("memory");
/// g.dynamic_rnn(&mut cell, g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!(g.global_variables()[0].name(), "rnn/memory/kernel");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BasicLstmCell<'g> {
    units: usize,
    forget_bias: f64,
    activation: Activation,
    initializer: Option<Initializer>,
    name: String,
    weights: Option<[Weight<'g>; 2]>,
}

impl<'g> BasicLstmCell<'g> {
    /// Returns a cell of this many units.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Recurrent, rnn::BasicLstmCell};
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([2, 5, 4]); // two sequences of five steps
    /// let mut cell = BasicLstmCell::new(3);
    /// let (outputs, _) = g.dynamic_rnn(&mut cell, x).run()?;
    /// assert_eq!(outputs.shape().to_string(), "[2,5,3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(units: usize) -> Self {
        BasicLstmCell {
            units,
            forget_bias: 1.0,
            activation: |x| x.tanh(),
            initializer: None,
            name: "basic_lstm_cell".into(),
            weights: None,
        }
    }

    /// Sets the bias of the forget gate; 1 by default, so that the cell initially keeps its memory.
    pub fn forget_bias(mut self, bias: f64) -> Self {
        self.forget_bias = bias;
        self
    }

    /// Sets the function for new memory and for the output; tanh by default.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Sets the initializer of the kernel; by default the variable scope's.
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// Sets the name of the variable scope; `basic_lstm_cell` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

impl<'g> Cell<'g> for BasicLstmCell<'g> {
    type State = LstmState<'g>;

    fn output_size(&self) -> usize {
        self.units
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        if self.weights.is_none() {
            let (n, scope) = (self.units, format!("{scope}{}", self.name));
            let kernel = weight(
                g,
                &format!("{scope}/kernel"),
                &[inputs + n, 4 * n],
                dtype,
                self.initializer.as_ref(),
            )?;
            let bias = weight(g, &format!("{scope}/bias"), &[4 * n], dtype, Some(&Initializer::zeros()))?;
            self.weights = Some([kernel, bias]);
        }
        Ok(())
    }

    fn step(&self, input: Output<'g>, state: LstmState<'g>) -> Result<(Output<'g>, LstmState<'g>)> {
        let [kernel, bias] = self.weights.as_ref().ok_or_else(|| unbuilt("BasicLstmCell"))?;
        let sigmoid = |x: Output<'g>| x.sigmoid();
        let [i, j, f, o] = parts(affine(input, state.h, kernel, bias));
        // Adding zero would cost a node per step.
        let f = if self.forget_bias == 0.0 { f } else { f + self.forget_bias };
        let c = state.c * sigmoid(f) + sigmoid(i) * (self.activation)(j);
        let h = (self.activation)(c) * sigmoid(o);
        Ok((h, LstmState { c, h }))
    }

    fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<LstmState<'g>> {
        Ok(LstmState { c: batch.zeros(g, self.units, dtype)?, h: batch.zeros(g, self.units, dtype)? })
    }

    fn weights(&self) -> Vec<Weight<'g>> {
        self.weights.iter().flatten().copied().collect()
    }

    fn droppable(&self) -> Vec<bool> {
        vec![false, true]
    }
}

impl<'g> Nest<'g> for LstmState<'g> {
    fn structure(&self) -> Structure {
        Structure::Struct("LstmState", vec![("c", Structure::Value), ("h", Structure::Value)])
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.extend([self.c, self.h].map(Leaf::Output));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        Ok(LstmState { c: values.take()?, h: values.take()? })
    }
}

impl<'g> IntoNest<'g> for LstmState<'g> {
    type Nest = LstmState<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<LstmState<'g>> {
        cx.pass(self)
    }
}
