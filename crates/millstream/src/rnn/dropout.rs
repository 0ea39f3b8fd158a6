//! [`DropoutWrapper`]: dropout around a cell.

use super::{Batch, Cell, Weight, values_of};
use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::seeds;
use millstream_graph::nest::Values;
use millstream_graph::{Arg, Graph, Nest, Output};
use millstream_tensor::{DType, Result, Tensor, ensure, invalid};

/// Applies dropout to the input, the output or the state: each value is kept with a probability, and scaled
/// by its inverse.
///
/// Probabilities are numbers or scalars of the graph (feed 1 to drop nothing). The memory `c` of an LSTM is
/// never dropped.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::{DropoutWrapper, GruCell};
/// let g = Graph::new();
/// let keep = g.placeholder::<f32>("keep", shape![]); // 0.9 in training, 1 afterwards
/// let mut cell = DropoutWrapper::new(GruCell::new(4)).output_keep_prob(keep);
/// let (outputs, _) = g.dynamic_rnn(&mut cell, g.ones::<f32>([2, 3, 1])).run()?;
/// let session = Session::new(&g)?;
/// session.run::<()>(g.global_variables_initializer(), feed![])?;
/// let outputs: Tensor = session.run(outputs, feed![keep => 1.0f32])?;
/// assert_eq!(outputs.shape().dims(), [2, 3, 4]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone)]
pub struct DropoutWrapper<'g, C> {
    cell: C,
    keep: [Keep<'g>; 3],
    variational: bool,
    seed: Option<i64>,
}

impl<C> std::fmt::Debug for DropoutWrapper<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DropoutWrapper")
            .field("variational", &self.variational)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// The kinds of values that can be dropped.
const WHAT: [&str; 3] = ["input", "output", "state"];

#[derive(Clone, Default)]
struct Keep<'g> {
    given: Option<Arg<'g>>,
    prob: Option<Output<'g>>,
    /// The masks of all steps, for variational dropout.
    masks: Vec<Output<'g>>,
}

impl<'g, C> DropoutWrapper<'g, C> {
    /// Wraps a cell; by default nothing is dropped.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Cell, DropoutWrapper};
    /// let g = Graph::new();
    /// assert_eq!(DropoutWrapper::new(BasicRnnCell::new(4)).output_size(), 4);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn new(cell: C) -> Self {
        DropoutWrapper { cell, keep: Default::default(), variational: false, seed: None }
    }

    /// Sets the probability that a value of the input is kept.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, DropoutWrapper};
    /// let g = Graph::new();
    /// let mut cell = DropoutWrapper::new(BasicRnnCell::new(4)).input_keep_prob(0.9f32).seed(1);
    /// g.dynamic_rnn(&mut cell, g.ones::<f32>([2, 3, 1])).run()?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn input_keep_prob(mut self, prob: impl Into<Arg<'g>>) -> Self {
        self.keep[0].given = Some(prob.into());
        self
    }

    /// Sets the probability that a value of the output is kept.
    pub fn output_keep_prob(mut self, prob: impl Into<Arg<'g>>) -> Self {
        self.keep[1].given = Some(prob.into());
        self
    }

    /// Sets the probability that a value of the state is kept.
    pub fn state_keep_prob(mut self, prob: impl Into<Arg<'g>>) -> Self {
        self.keep[2].given = Some(prob.into());
        self
    }

    /// Sets whether the same values are dropped in all steps of a run and in all sequences of the batch.
    pub fn variational_recurrent(mut self, yes: bool) -> Self {
        self.variational = yes;
        self
    }

    /// Sets the seed of the random numbers; see [`crate::Functions::random_uniform`].
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    fn random(&self, g: &'g Graph, shape: Output<'g>, dtype: DType, salt: i64) -> Output<'g> {
        let (seed, seed2) = seeds(g, self.seed.map(|s| s.wrapping_add(salt)));
        g.with("seed", seed).with("seed2", seed2).random().random_uniform(shape, dtype)
    }

    /// Applies dropout to `x`, value `j` of kind `i`.
    fn drop(&self, x: Output<'g>, i: usize, j: usize) -> Result<Output<'g>> {
        let keep = &self.keep[i];
        let Some(prob) = keep.prob else { return Ok(x) };
        let g = x.graph();
        let random = match keep.masks.get(j) {
            Some(random) => *random,
            None => {
                let shape = g.array().shape(x);
                self.random(g, shape, x.dtype()?, (i * 100 + j) as i64)
            }
        };
        // Values whose random number is at least the probability of a drop are kept.
        let kept = random.greater_equal(1.0 - prob);
        let kept = g.math().cast(kept, x.dtype()?);
        Ok((x / prob * kept).set_shape(x.shape()))
    }
}

impl<'g, C: Cell<'g>> Cell<'g> for DropoutWrapper<'g, C> {
    type State = C::State;

    fn output_size(&self) -> usize {
        self.cell.output_size()
    }

    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()> {
        self.cell.build(g, scope, inputs, dtype)?;
        let state = self.cell.zero_state(g, Batch::Known(1), dtype)?;
        let size = |x: Output<'g>| x.shape().dims().and_then(|d| d.last().copied().flatten());
        let of_state: Option<Vec<usize>> = values_of(&state).into_iter().map(size).collect();
        let of_state = of_state.ok_or_else(|| invalid!("the size of the cell's state is not known"))?;
        let sizes = [vec![inputs], vec![self.output_size()], of_state];
        for i in 0..self.keep.len() {
            let (Some(given), None) = (self.keep[i].given.clone(), self.keep[i].prob) else { continue };
            let prob = g.named("keep_prob").with("T", dtype).identity(given);
            g.check()?;
            let source = prob.op().inputs().first().map(Output::port);
            if let Some(known) = source.and_then(|port| g.read(|g| g.known_value(port))) {
                let one = known.to_scalar::<f64>().or_else(|_| known.to_scalar::<f32>().map(f64::from))?;
                ensure!(0.0 < one && one <= 1.0, "`{}_keep_prob` is {one}; it must lie in (0, 1]", WHAT[i]);
                if one == 1.0 {
                    continue;
                }
            }
            self.keep[i].prob = Some(prob);
            if self.variational {
                for (j, &n) in sizes[i].iter().enumerate() {
                    let dims = Tensor::vector(&[1, i32::try_from(n).unwrap_or(i32::MAX)])?;
                    let shape = g.constant_tensor("noise_shape", dims);
                    let mask = self.random(g, shape, dtype, (i * 100 + j) as i64);
                    self.keep[i].masks.push(mask);
                }
            }
        }
        g.check()
    }

    fn step(&self, input: Output<'g>, state: C::State) -> Result<(Output<'g>, C::State)> {
        let (output, state) = self.cell.step(self.drop(input, 0, 0)?, state)?;
        let droppable = self.cell.droppable();
        let mut values = Vec::new();
        for (j, value) in values_of(&state).into_iter().enumerate() {
            values.push(if droppable.get(j) == Some(&true) { self.drop(value, 2, j)? } else { value });
        }
        let state = state.rebuild(&mut Values::new(values))?;
        Ok((self.drop(output, 1, 0)?, state))
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
