//! Recurrent nets: cells ([`Cell`]) and functions that run them along time.
//!
//! - cells: [`BasicRnnCell`], [`BasicLstmCell`], [`LstmCell`], [`GruCell`]; stacked: [`MultiRnnCell`], or a
//!   tuple of cells of different kinds; wrappers: [`DropoutWrapper`], [`ResidualWrapper`];
//! - along time: [`Recurrent::dynamic_rnn`], [`Recurrent::bidirectional_dynamic_rnn`], [`Recurrent::raw_rnn`]
//!   (loops), and [`Recurrent::static_rnn`] (unrolled);
//! - sequences of different lengths: [`Recurrent::sequence_mask`], [`Recurrent::reverse_in_time`].
//!
//! Weights are variables with TensorFlow 1.15's names and shapes (`rnn/basic_lstm_cell/kernel`), so that its
//! checkpoints can be restored.

mod basic_lstm;
mod basic_rnn;
mod bidirectional;
mod dropout;
mod dynamic;
mod gru;
mod lengths;
mod lstm;
mod multi;
mod raw;
mod residual;
mod unrolled;
mod weights;

pub use basic_lstm::{BasicLstmCell, LstmState};
pub use basic_rnn::BasicRnnCell;
pub use bidirectional::Bidirectional;
pub use dropout::DropoutWrapper;
pub use dynamic::DynamicRnn;
pub use gru::GruCell;
pub use lstm::LstmCell;
pub use multi::MultiRnnCell;
pub use raw::RawStep;
pub use residual::ResidualWrapper;
pub use unrolled::StaticRnn;
pub use weights::Weight;

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use millstream_graph::nest::{Leaf, Values};
use millstream_graph::{Arg, Graph, IntoNest, Nest, Output};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};

/// A function of one value, such as `|x| x.tanh()`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::rnn::{Activation, GruCell};
/// let g = Graph::new();
/// let activation: Activation = |x| x.relu();
/// GruCell::new(4).activation(activation);
/// # Ok::<(), millstream::Error>(())
/// ```
pub type Activation = for<'a> fn(Output<'a>) -> Output<'a>;

/// One step of a recurrent net: `(output, state) = step(input, state)`.
///
/// Custom cells implement this trait. [`Cell::build`] adds the weights once, outside the loop that runs the
/// cell.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::rnn::{Batch, Cell, GruCell};
/// let g = Graph::new();
/// let mut cell = GruCell::new(4);
/// cell.build(&g, "", 3, DType::F32)?;
/// let state = cell.zero_state(&g, Batch::Known(2), DType::F32)?;
/// let (output, _) = cell.step(g.zeros::<f32>([2, 3]), state)?; // one step by hand
/// assert_eq!(output.shape().to_string(), "[2,4]");
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Cell<'g> {
    /// The state carried from one step to the next.
    type State: Nest<'g> + IntoNest<'g, Nest = Self::State> + Clone;

    /// Returns the number of outputs per batch entry.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{Cell, LstmCell};
    /// let g = Graph::new();
    /// assert_eq!(Cell::output_size(&LstmCell::new(8).num_proj(3)), 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn output_size(&self) -> usize;

    /// Adds the weights, for this number of inputs, in the variable scope `scope` (empty, or ending in `/`).
    /// Does nothing if the weights exist.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Cell};
    /// let g = Graph::new();
    /// let mut cell = BasicRnnCell::new(4);
    /// cell.build(&g, "net/", 3, DType::F32)?;
    /// assert_eq!(cell.weights()[0].variable.shape().to_string(), "[7,4]"); // inputs and state, by units
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn build(&mut self, g: &'g Graph, scope: &str, inputs: usize, dtype: DType) -> Result<()>;

    /// Adds one step: `input` is `[batch, inputs]`, the output `[batch, output_size]`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Cell};
    /// let g = Graph::new();
    /// let mut cell = BasicRnnCell::new(4);
    /// cell.build(&g, "", 3, DType::F32)?;
    /// let (output, state) = cell.step(g.zeros::<f32>([2, 3]), g.zeros::<f32>([2, 4]))?;
    /// assert_eq!((output.shape().to_string(), state.shape().to_string()), ("[2,4]".into(), "[2,4]".into()));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn step(&self, input: Output<'g>, state: Self::State) -> Result<(Output<'g>, Self::State)>;

    /// Returns the default initial state.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Batch, Cell};
    /// let g = Graph::new();
    /// let state = BasicRnnCell::new(4).zero_state(&g, Batch::Known(2), DType::F32)?;
    /// assert_eq!(Session::new(&g)?.run::<Tensor>(state, feed![])?.shape().dims(), [2, 4]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn zero_state(&self, g: &'g Graph, batch: Batch<'g>, dtype: DType) -> Result<Self::State>;

    /// Returns the weights in the order of their creation; none before [`Cell::build`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicLstmCell, Cell};
    /// let g = Graph::new();
    /// let mut cell = BasicLstmCell::new(4);
    /// assert!(cell.weights().is_empty());
    /// cell.build(&g, "", 3, DType::F32)?;
    /// assert_eq!(cell.weights().len(), 2); // the kernel and the bias
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn weights(&self) -> Vec<Weight<'g>>;

    /// Returns, for each value of the state, whether dropout applies to it. It does not apply to an LSTM's
    /// memory.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicLstmCell, Cell};
    /// let g = Graph::new();
    /// assert_eq!(BasicLstmCell::new(4).droppable(), [false, true]); // `c`, `h`
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn droppable(&self) -> Vec<bool>;
}

/// The number of sequences in a batch.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::rnn::{BasicRnnCell, Batch, Cell};
/// let g = Graph::new();
/// let state = BasicRnnCell::new(4).zero_state(&g, Batch::Known(2), DType::F32)?;
/// assert_eq!(state.shape().to_string(), "[2,4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Batch<'g> {
    /// A number known at build time.
    Known(usize),
    /// A number known at run time: a scalar i32.
    Given(Output<'g>),
}

impl From<usize> for Batch<'_> {
    fn from(n: usize) -> Self {
        Batch::Known(n)
    }
}

impl<'g> From<Output<'g>> for Batch<'g> {
    fn from(n: Output<'g>) -> Self {
        Batch::Given(n)
    }
}

impl<'g> Batch<'g> {
    /// Returns the size of `x` along an axis.
    #[track_caller]
    fn of(x: Output<'g>, axis: usize) -> Batch<'g> {
        match x.shape().dim(axis) {
            Some(n) => Batch::Known(n),
            None => Batch::Given(size_of(x, axis)),
        }
    }

    /// Returns zeros of shape `[batch, n]`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::rnn::Batch;
    /// let g = Graph::new();
    /// assert_eq!(Batch::Known(2).zeros(&g, 4, DType::F32)?.shape().to_string(), "[2,4]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn zeros(&self, g: &'g Graph, n: usize, dtype: DType) -> Result<Output<'g>> {
        let zeros = match self {
            Batch::Known(batch) => g.static_zeros(dtype, &PartialShape::from([*batch, n])),
            Batch::Given(batch) => {
                let n_value = g.constant(i32::try_from(n).map_err(|_| invalid!("{n} values are too many"))?);
                let shape = g.pack([*batch, n_value]);
                let zeros = g.named("zeros").fill(shape, g.scalar_of(dtype, 0.0));
                Some(zeros.set_shape(PartialShape::new([None, Some(n)])))
            }
        };
        g.check()?;
        zeros.ok_or_else(|| invalid!("zeros of shape [{self:?}, {n}] are too large"))
    }
}

/// Returns the size along an axis, a scalar i32; a constant if it is known.
#[track_caller]
fn size_of(x: Output<'_>, axis: usize) -> Output<'_> {
    let g = x.graph();
    if let Some(n) = x.shape().dim(axis).and_then(|n| i32::try_from(n).ok()) {
        return g.constant_tensor("size", Tensor::scalar(n));
    }
    let shape = g.array().shape(x);
    let at = axis as i32;
    g.with("shrink_axis_mask", 1).array().strided_slice(shape, [at], [at + 1], [1])
}

/// Swaps the first two axes.
#[track_caller]
fn swap_time_and_batch(x: Output<'_>) -> Result<Output<'_>> {
    let rank = x.shape().rank().ok_or_else(|| {
        invalid!("the rank of `{}` is not known, so batch and time cannot be exchanged", x.name())
            .with_help("declare it with `x.set_shape(shape![_, _, n])`")
    })?;
    let axes: Vec<i32> = (0..rank as i32).map(|i| if i < 2 { 1 - i } else { i }).collect();
    Ok(x.graph().named("transpose").array().transpose(x, axes))
}

/// Returns `n` of the shape `[.., n]`.
fn depth_of(x: Output<'_>) -> Result<usize> {
    let shape = x.shape();
    shape.dims().and_then(|dims| dims.last().copied().flatten()).ok_or_else(|| {
        invalid!("the number of features of an input must be known: `{}` has shape {shape}", x.name())
            .with_help("declare it with `x.set_shape(shape![_, _, n])`")
    })
}

fn values_of<'g>(nest: &impl Nest<'g>) -> Vec<Output<'g>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let value = |leaf| match leaf {
        Leaf::Output(output) => output,
        Leaf::Op(op) => op.output(0),
    };
    leaves.into_iter().map(value).collect()
}

/// Combines two nests value by value.
fn zip<'g, N: Nest<'g>>(a: &N, b: &N, join: impl Fn(Output<'g>, Output<'g>) -> Output<'g>) -> Result<N> {
    let joined = values_of(a).into_iter().zip(values_of(b)).map(|(a, b)| join(a, b)).collect();
    a.rebuild(&mut Values::new(joined))
}

/// Selects rows of `yes` where `rows` is true and of `no` elsewhere. A value without rows (a scalar, a
/// TensorArray) is `no`.
fn select_rows<'g>(rows: Output<'g>, yes: Output<'g>, no: Output<'g>) -> Output<'g> {
    if no.shape().rank() == Some(0) {
        return no;
    }
    rows.select(yes, no).set_shape(no.shape())
}

/// Recurrent nets of a graph.
///
/// ```
/// use millstream::Recurrent;
/// use millstream::prelude::*;
/// use millstream::rnn::GruCell;
/// let g = Graph::new();
/// let x = g.placeholder::<f32>("x", shape![_, _, 3]); // [batch, time, values]
/// let (outputs, last) = g.dynamic_rnn(&mut GruCell::new(4), x).run()?;
/// assert_eq!((outputs.shape().to_string(), last.shape().to_string()), ("[?,?,4]".into(), "[?,4]".into()));
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Recurrent {
    /// Runs a cell along time, up to the longest sequence: options, then [`DynamicRnn::run`], which returns
    /// the outputs and the last state.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Recurrent;
    /// use millstream::rnn::BasicLstmCell;
    /// let g = Graph::new();
    /// let x = g.placeholder::<f32>("x", shape![_, _, 3]); // [batch, time, values]
    /// let lengths = g.placeholder::<i32>("lengths", shape![_]);
    /// let mut cell = BasicLstmCell::new(4);
    /// let (outputs, state) = g.dynamic_rnn(&mut cell, x).sequence_length(lengths).run()?;
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// let feeds = feed![x => Tensor::zeros(DType::F32, [2, 5, 3])?, lengths => [5, 2]];
    /// let (outputs, h): (Tensor, Tensor) = session.run((outputs, state.h), feeds)?;
    /// assert_eq!(outputs.shape().dims(), [2, 5, 4]);
    /// assert_eq!(h.shape().dims(), [2, 4]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn dynamic_rnn<'g, 'c, C: Cell<'g>>(
        &'g self,
        cell: &'c mut C,
        inputs: Output<'g>,
    ) -> DynamicRnn<'g, 'c, C>;

    /// Runs one cell forward in time and another backward: options, then [`Bidirectional::run`].
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::GruCell;
    /// let g = Graph::new();
    /// let x = g.zeros::<f32>([2, 5, 3]);
    /// let (mut forward, mut backward) = (GruCell::new(4), GruCell::new(4));
    /// let ((there, back), _) = g.bidirectional_dynamic_rnn(&mut forward, &mut backward, x).run()?;
    /// assert_eq!(g.concat(2, [there, back]).shape().to_string(), "[2,5,8]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn bidirectional_dynamic_rnn<'g, 'c, F: Cell<'g>, B: Cell<'g>>(
        &'g self,
        forward: &'c mut F,
        backward: &'c mut B,
        inputs: Output<'g>,
    ) -> Bidirectional<'g, 'c, F, B>;

    /// Runs a cell unrolled, with separate nodes for each step: for a small, known number of steps. Options,
    /// then [`StaticRnn::run`].
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::BasicRnnCell;
    /// let g = Graph::new();
    /// let steps = vec![g.zeros::<f32>([2, 3]); 4];
    /// let (outputs, _) = g.static_rnn(&mut BasicRnnCell::new(5), steps).run()?;
    /// assert_eq!(outputs.len(), 4);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn static_rnn<'g, 'c, C: Cell<'g>>(
        &'g self,
        cell: &'c mut C,
        inputs: Vec<Output<'g>>,
    ) -> StaticRnn<'g, 'c, C>;

    /// Runs a cell under the control of `next`, which determines its inputs and the end; see [`RawStep`].
    /// Returns the emitted values and the last states of the cell and the loop.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// use millstream::rnn::{BasicRnnCell, Batch, Cell, RawStep};
    /// let g = Graph::new();
    /// let mut cell = BasicRnnCell::new(2);
    /// let zero = cell.zero_state(&g, Batch::Known(3), DType::F32)?;
    /// let (emitted, _, ()) = g.raw_rnn(&mut cell, |time, before| {
    ///     let first = (g.ones::<f32>([3, 2]), zero);
    ///     let (input, state) = before.map_or(first, |(output, state, ())| (output, state));
    ///     let finished = g.fill([3], time.greater_equal(4)); // four steps
    ///     Ok(RawStep { finished, input, state, emit: None, loop_state: () })
    /// })?;
    /// assert_eq!(emitted.stack().shape().rank(), Some(3)); // [time, batch, values]
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn raw_rnn<'g, C, L, F>(&'g self, cell: &mut C, next: F) -> Result<(crate::TensorArray<'g>, C::State, L)>
    where
        C: Cell<'g>,
        L: Nest<'g> + IntoNest<'g, Nest = L> + Clone,
        F: FnMut(Output<'g>, Option<(Output<'g>, C::State, L)>) -> Result<RawStep<'g, C::State, L>>;

    /// Returns whether index `j` lies in sequence `i`: `bool[.., max]` for lengths `[..]`. `max` is the
    /// longest length by default.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Recurrent;
    /// let g = Graph::new();
    /// let mask = g.sequence_mask(g.constant([1, 3]), None);
    /// let mask: Tensor = Session::new(&g)?.run(mask, feed![])?;
    /// assert_eq!(mask.to_string(), "bool[2,3] [[true false false] [true true true]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn sequence_mask<'g>(&'g self, lengths: Output<'g>, max: Option<Arg<'g>>) -> Output<'g>;

    /// Reverses each sequence of a batch: `x` is `[time, batch, ..]` or, with `batch_major`, `[batch, time,
    /// ..]`. Values past the length of a sequence stay in place.
    ///
    /// ```
    /// use millstream::Recurrent;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let x = g.constant([[1, 2, 3], [4, 5, 6]]); // [batch, time]
    /// let turned = g.reverse_in_time(x, Some(g.constant([2, 3])), true);
    /// let turned: Tensor = Session::new(&g)?.run(turned, feed![])?;
    /// assert_eq!(turned.to_string(), "i32[2,3] [[2 1 3] [6 5 4]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn reverse_in_time<'g>(
        &'g self,
        x: Output<'g>,
        lengths: Option<Output<'g>>,
        batch_major: bool,
    ) -> Output<'g>;
}

impl Recurrent for Graph {
    #[track_caller]
    fn dynamic_rnn<'g, 'c, C: Cell<'g>>(
        &'g self,
        cell: &'c mut C,
        inputs: Output<'g>,
    ) -> DynamicRnn<'g, 'c, C> {
        DynamicRnn::new(self, cell, inputs)
    }

    #[track_caller]
    fn bidirectional_dynamic_rnn<'g, 'c, F: Cell<'g>, B: Cell<'g>>(
        &'g self,
        forward: &'c mut F,
        backward: &'c mut B,
        inputs: Output<'g>,
    ) -> Bidirectional<'g, 'c, F, B> {
        Bidirectional::new(self, forward, backward, inputs)
    }

    #[track_caller]
    fn static_rnn<'g, 'c, C: Cell<'g>>(
        &'g self,
        cell: &'c mut C,
        inputs: Vec<Output<'g>>,
    ) -> StaticRnn<'g, 'c, C> {
        StaticRnn::new(self, cell, inputs)
    }

    #[track_caller]
    fn raw_rnn<'g, C, L, F>(&'g self, cell: &mut C, next: F) -> Result<(crate::TensorArray<'g>, C::State, L)>
    where
        C: Cell<'g>,
        L: Nest<'g> + IntoNest<'g, Nest = L> + Clone,
        F: FnMut(Output<'g>, Option<(Output<'g>, C::State, L)>) -> Result<RawStep<'g, C::State, L>>,
    {
        raw::raw_rnn(self, cell, next)
    }

    #[track_caller]
    fn sequence_mask<'g>(&'g self, lengths: Output<'g>, max: Option<Arg<'g>>) -> Output<'g> {
        lengths::mask(self, lengths, max)
    }

    #[track_caller]
    fn reverse_in_time<'g>(
        &'g self,
        x: Output<'g>,
        lengths: Option<Output<'g>>,
        batch_major: bool,
    ) -> Output<'g> {
        lengths::reverse(self, x, lengths, batch_major)
    }
}
