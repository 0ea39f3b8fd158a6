//! [`LstmCell`]: long short-term memory with peepholes, projection and clipping.

use super::basic_lstm::LstmState;
use super::weights::{affine, parts, unbuilt, weight};
use super::{Activation, Batch, Cell, Weight};
use crate::initializer::Initializer;
use crate::ops::{Ops, OutputOps};
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Result};

/// As [`BasicLstmCell`](super::BasicLstmCell), with options: gates that depend on the memory (peepholes), a
/// projection of the output, and clipping of memory and output.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::LstmCell;
/// let g = Graph::new();
/// let mut cell = LstmCell::new(8).use_peepholes(true).num_proj(4).cell_clip(10.0);
/// let (outputs, state) = g.dynamic_rnn(&mut cell, g.zeros::<f32>([2, 5, 3])).run()?;
/// assert_eq!(outputs.shape().to_string(), "[2,5,4]");
/// assert_eq!(state.c.shape().to_string(), "[2,8]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LstmCell<'g> {
    units: usize,
    peepholes: bool,
    cell_clip: Option<f64>,
    projection: Option<usize>,
    proj_clip: Option<f64>,
    forget_bias: f64,
    activation: Activation,
    initializer: Option<Initializer>,
    name: String,
    weights: Option<Weights<'g>>,
}

#[derive(Clone, Copy, Debug)]
struct Weights<'g> {
    kernel: Weight<'g>,
    bias: Weight<'g>,
    /// The weights from the memory to the gates f, i and o.
    peepholes: Option<[Weight<'g>; 3]>,
    projection: Option<Weight<'g>>,
}

impl<'g> LstmCell<'g> {
    /// Returns a cell of this many units.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Recurrent, rnn::LstmCell};
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([2, 5, 4]); // two sequences of five steps
    /// let mut cell = LstmCell::new(3).num_proj(2);
    /// let (outputs, _) = g.dynamic_rnn(&mut cell, x).run()?;
    /// assert_eq!(outputs.shape().to_string(), "[2,5,2]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(units: usize) -> Self {
        LstmCell {
            units,
            peepholes: false,
            cell_clip: None,
            projection: None,
            proj_clip: None,
            forget_bias: 1.0,
            activation: |x| x.tanh(),
            initializer: None,
            name: "lstm_cell".into(),
            weights: None,
        }
    }

    /// Sets whether each unit's gates depend on its memory.
    pub fn use_peepholes(mut self, yes: bool) -> Self {
        self.peepholes = yes;
        self
    }

    /// Clips the memory to `-clip..=clip`.
    pub fn cell_clip(mut self, clip: f64) -> Self {
        self.cell_clip = Some(clip);
        self
    }

    /// Projects the output to this many values.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::LstmCell;
    /// let g = Graph::new();
    /// let (outputs, _) = g.dynamic_rnn(&mut LstmCell::new(8).num_proj(4), g.zeros::<f32>([2, 5, 3])).run()?;
    /// assert_eq!(outputs.shape().to_string(), "[2,5,4]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn num_proj(mut self, n: usize) -> Self {
        self.projection = Some(n);
        self
    }

    /// Clips the projected output to `-clip..=clip`.
    pub fn proj_clip(mut self, clip: f64) -> Self {
        self.proj_clip = Some(clip);
        self
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

    /// Sets the initializer of the kernels and peepholes; by default the variable scope's.
    pub fn initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = Some(initializer);
        self
    }

    /// Sets the name of the variable scope; `lstm_cell` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

fn clip(x: Output<'_>, bound: Option<f64>) -> Result<Output<'_>> {
    let Some(bound) = bound else { return Ok(x) };
    let g = x.graph();
    let (low, high) = (g.scalar_of(x.dtype()?, -bound), g.scalar_of(x.dtype()?, bound));
    let below = x.minimum(high);
    Ok(below.maximum(low))
}

impl<'g> Cell<'g> for LstmCell<'g> {
    type State = LstmState<'g>;

    fn output_size(&self) -> usize {
        self.projection.unwrap_or(self.units)
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        if self.weights.is_some() {
            return Ok(());
        }
        let (n, h, scope) = (self.units, self.output_size(), format!("{scope}{}", self.name));
        let make = |name: &str, shape: &[usize], initializer: Option<&Initializer>| {
            weight(g, &format!("{scope}/{name}"), shape, dtype, initializer)
        };
        let init = self.initializer.as_ref();
        let kernel = make("kernel", &[inputs + h, 4 * n], init)?;
        let bias = make("bias", &[4 * n], Some(&Initializer::zeros()))?;
        let peepholes = match self.peepholes {
            false => None,
            true => Some([
                make("w_f_diag", &[n], init)?,
                make("w_i_diag", &[n], init)?,
                make("w_o_diag", &[n], init)?,
            ]),
        };
        let projection = self.projection.map(|p| make("projection/kernel", &[n, p], init)).transpose()?;
        self.weights = Some(Weights { kernel, bias, peepholes, projection });
        Ok(())
    }

    fn step(&self, input: Output<'g>, state: LstmState<'g>) -> Result<(Output<'g>, LstmState<'g>)> {
        let w = self.weights.as_ref().ok_or_else(|| unbuilt("LstmCell"))?;
        let sigmoid = |x: Output<'g>| x.sigmoid();
        let seen = |gate: Output<'g>, which: usize, memory: Output<'g>| match &w.peepholes {
            Some(peepholes) => gate + peepholes[which].value * memory,
            None => gate,
        };
        let [i, j, f, o] = parts(affine(input, state.h, &w.kernel, &w.bias));
        let f = if self.forget_bias == 0.0 { f } else { f + self.forget_bias };
        let kept = sigmoid(seen(f, 0, state.c)) * state.c;
        let c = clip(kept + sigmoid(seen(i, 1, state.c)) * (self.activation)(j), self.cell_clip)?;
        let h = sigmoid(seen(o, 2, c)) * (self.activation)(c);
        let h = match &w.projection {
            None => h,
            Some(kernel) => {
                let projected = h.graph().linalg().mat_mul(h, kernel.value);
                clip(projected, self.proj_clip)?
            }
        };
        Ok((h, LstmState { c, h }))
    }

    fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<LstmState<'g>> {
        Ok(LstmState { c: batch.zeros(g, self.units, dtype)?, h: batch.zeros(g, self.output_size(), dtype)? })
    }

    fn weights(&self) -> Vec<Weight<'g>> {
        let Some(w) = &self.weights else { return Vec::new() };
        let mut all = vec![w.kernel, w.bias];
        all.extend(w.peepholes.into_iter().flatten());
        all.extend(w.projection);
        all
    }

    fn droppable(&self) -> Vec<bool> {
        vec![false, true]
    }
}
