//! Decoding: sequences written token by token by a net that computes the probabilities of the next token:
//! [`Decode::greedy_decode`], [`Decode::beam_search`].
//!
//! Both are loops over a function of the caller, `(log_probs, state) = step(tokens, state)`: `tokens` is
//! `i32[n]`, `log_probs` is `[n, vocabulary]` of floats (logarithms of probabilities, as `log_softmax`
//! returns), and the state is any [`Nest`] of values with `n` rows each. The loops end once all sequences
//! have ended, at the latest after `max_len` tokens.

mod beam;

pub use beam::{Beam, Beams};

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::tensor_array::TensorArray;
use millstream_graph::nest::{Converter, Leaf, Values};
use millstream_graph::{Graph, IntoNest, Nest, Output};
use millstream_tensor::{DType, Result, Tensor, invalid};
use std::panic::Location;

/// Decoders of a graph.
///
/// ```
/// use millstream::Decode;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let next = g.constant([[0.1f32, 0.9, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]); // 0, 1, 2, the end
/// let decoded = g
///     .greedy_decode(g.constant([0]), ())
///     .end_token(2)
///     .run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
/// assert_eq!(Session::new(&g)?.run::<Tensor>(decoded.tokens, feed![])?.to_string(), "i32[1,2] [[1 2]]");
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Decode {
    /// Decodes with the most probable token in each step: options, then [`Greedy::run`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Decode;
    /// let g = Graph::new();
    /// // After token i, token i + 1 is the most probable one; 3 is the end token.
    /// let next = g.constant([
    ///     [0.1f32, 0.8, 0.1, 0.0],
    ///     [0.0, 0.1, 0.8, 0.1],
    ///     [0.0, 0.0, 0.2, 0.8],
    ///     [0.0, 0.0, 0.0, 1.0],
    /// ]);
    /// let decoded = g
    ///     .greedy_decode(g.constant([0, 1]), ())
    ///     .end_token(3)
    ///     .max_len(10)
    ///     .run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
    /// let session = Session::new(&g)?;
    /// let (tokens, lengths): (Tensor, Vec<i32>) = session.run((decoded.tokens, decoded.lengths), feed![])?;
    /// assert_eq!(tokens.as_slice::<i32>()?, [1, 2, 3, 2, 3, 3]);
    /// assert_eq!(lengths, [3, 2]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn greedy_decode<'g, S: IntoNest<'g>>(&'g self, start: Output<'g>, state: S) -> Greedy<'g, S>;

    /// Decodes with the `width` best prefixes in each step: options, then [`Beam::run`]. The score of a
    /// sequence is the sum of its tokens' log probabilities, divided by its [length
    /// penalty](Beam::length_penalty).
    ///
    /// ```
    /// use millstream::Decode;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let next = g.constant([[0.1f32, 0.9, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]);
    /// let beams = g
    ///     .beam_search(g.constant([0]), (), 2)
    ///     .end_token(2)
    ///     .max_len(5)
    ///     .run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
    /// let found = (beams.tokens, beams.scores);
    /// let (tokens, scores): (Tensor, Tensor) = Session::new(&g)?.run(found, feed![])?;
    /// assert_eq!(tokens.as_slice::<i32>()?[..2], [1, 2]); // the best sequence
    /// assert!((scores.as_slice::<f32>()?[0] - 0.81f32.ln()).abs() < 1e-5);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn beam_search<'g, S: IntoNest<'g>>(&'g self, start: Output<'g>, state: S, width: usize) -> Beam<'g, S>;
}

impl Decode for Graph {
    #[track_caller]
    fn greedy_decode<'g, S: IntoNest<'g>>(&'g self, start: Output<'g>, state: S) -> Greedy<'g, S> {
        Greedy(Decoder::new(self, start, state))
    }

    #[track_caller]
    fn beam_search<'g, S: IntoNest<'g>>(&'g self, start: Output<'g>, state: S, width: usize) -> Beam<'g, S> {
        Beam::new(Decoder::new(self, start, state), width)
    }
}

/// The options that both decoders share.
struct Decoder<'g, S> {
    graph: &'g Graph,
    start: Output<'g>,
    state: S,
    end: i32,
    max_len: i32,
    at: &'static Location<'static>,
}

/// A builder of a greedy decoder.
///
/// ```
/// use millstream::Decode;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let next = g.constant([[0.0f32, 1.0], [0.0, 1.0]]);
/// let greedy = g.greedy_decode(g.constant([0]), ()).end_token(1).max_len(5);
/// let decoded = greedy.run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
/// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(decoded.lengths, feed![])?, [1]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` adds the loop"]
pub struct Greedy<'g, S>(Decoder<'g, S>);

impl<S> std::fmt::Debug for Greedy<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Greedy").finish_non_exhaustive()
    }
}

/// The result of a greedy decoder.
///
/// ```
/// use millstream::Decode;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let next = g.constant([[0.0f32, 1.0], [0.0, 1.0]]);
/// let decoder = g.greedy_decode(g.constant([0]), ()).end_token(1);
/// let decoded = decoder.run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
/// let (lengths, log_probs): (Vec<i32>, Vec<f32>) =
///     Session::new(&g)?.run((decoded.lengths, decoded.log_probs), feed![])?;
/// assert_eq!((lengths, log_probs), (vec![1], vec![0.0]));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoded<'g, S> {
    /// `i32[n, time]`: the tokens; a sequence is padded with the end token.
    pub tokens: Output<'g>,
    /// `i32[n]`: the numbers of tokens, including the end token.
    pub lengths: Output<'g>,
    /// `[n]`: the sums of the tokens' log probabilities.
    pub log_probs: Output<'g>,
    /// The last state.
    pub state: S,
}

impl<'g, S: IntoNest<'g>> Decoder<'g, S> {
    #[track_caller]
    fn new(graph: &'g Graph, start: Output<'g>, state: S) -> Self {
        Decoder { graph, start, state, end: 0, max_len: 100, at: Location::caller() }
    }
}

macro_rules! common_options {
    ($t:ident, $field:tt) => {
        impl<'g, S: IntoNest<'g>> $t<'g, S> {
            /// Sets the token that ends a sequence; 0 by default.
            ///
            /// ```
            /// use millstream::Decode;
            /// use millstream::prelude::*;
            /// let g = Graph::new();
            /// let next = g.constant([[0.0f32, 1.0], [1.0, 0.0]]); // 0, 1, 0, 1, ..
            /// let decoded = g.greedy_decode(g.constant([0]), ()).end_token(0);
            /// let decoded = decoded.run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
            /// let tokens: Tensor = Session::new(&g)?.run(decoded.tokens, feed![])?;
            /// assert_eq!(tokens.to_string(), "i32[1,2] [[1 0]]");
            /// # Ok::<(), millstream::Error>(())
            /// ```
            pub fn end_token(mut self, token: i32) -> Self {
                self.$field.end = token;
                self
            }

            /// Sets the maximum number of tokens of a sequence; 100 by default.
            ///
            /// ```
            /// use millstream::Decode;
            /// use millstream::prelude::*;
            /// let g = Graph::new();
            /// let same = g.constant([[1.0f32, 0.0], [0.0, 1.0]]); // token 0 for ever
            /// let decoded = g.greedy_decode(g.constant([0]), ()).end_token(1).max_len(3);
            /// let decoded = decoded.run(|tokens, ()| Ok((same.gather(tokens).log(), ())))?;
            /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(decoded.lengths, feed![])?, [3]);
            /// # Ok::<(), millstream::Error>(())
            /// ```
            pub fn max_len(mut self, n: i32) -> Self {
                self.$field.max_len = n;
                self
            }
        }
    };
}
common_options!(Greedy, 0);
common_options!(Beam, decoder);

fn int(g: &Graph, value: i32) -> Output<'_> {
    g.constant_tensor("Const", Tensor::scalar(value))
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

/// Returns the nest with `change` applied to each value.
fn each<'g, N: Nest<'g>>(nest: &N, change: impl Fn(Output<'g>) -> Output<'g>) -> Result<N> {
    nest.rebuild(&mut Values::new(values_of(nest).into_iter().map(change).collect()))
}

impl<'g, S: IntoNest<'g>> Greedy<'g, S> {
    /// Adds the loop.
    ///
    /// ```
    /// use millstream::Decode;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// // The state counts the steps; token 1 ends the sequence in the third.
    /// let decoded = g.greedy_decode(g.constant([0]), g.constant([0])).end_token(1).run(|_, steps| {
    ///     let end = steps.greater_equal(2).cast::<f32>().expand_dims(1);
    ///     Ok((g.concat(1, [end * -9.0, (end - 1.0) * 9.0]), steps + 1))
    /// })?;
    /// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(decoded.lengths, feed![])?, [3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run<N>(
        self,
        step: impl FnOnce(Output<'g>, S::Nest) -> Result<(Output<'g>, N)>,
    ) -> Result<Decoded<'g, S::Nest>>
    where
        S::Nest: IntoNest<'g, Nest = S::Nest>,
        N: IntoNest<'g, Nest = S::Nest>,
    {
        let Decoder { graph: g, start, state, end, max_len, at } = self.0;
        g.check()?;
        check_max_len(max_len)?;
        let result = g.name_scope("greedy_decode", || -> Result<_> {
            let state = state.into_nest(&Converter::new(g, at, &[]))?;
            let end = int(g, end);
            let over = start.not_equal(start);
            let zeros = start.zeros_like();
            let sums = g.math().cast(zeros, DType::F32);
            let written =
                TensorArray::of::<i32>(g, 0).dynamic_size(true).element_shape(start.shape()).build();
            let vars = (g.constant(0), start, over, (zeros, sums), written, state);
            let (_, _, _, (lengths, log_probs), written, state) = g.while_loop(vars).run(
                |(i, _, over, _, _, _)| {
                    let all = over.all([0]);
                    let going = all.logical_not();
                    let short = i.less(max_len);
                    short.logical_and(going)
                },
                |(i, tokens, over, (lengths, sums), written, state)| -> Result<_> {
                    let (log_probs, state) = step(tokens, state)?;
                    let best = g.with("output_type", DType::I32).arg_max(log_probs, 1);
                    let end = end.broadcast_to(g.array().shape(best));
                    let next = over.select(end, best).set_shape(tokens.shape());
                    let gain = log_probs.max([1]);
                    let gain = g.math().cast(gain, DType::F32);
                    let nothing = gain.zeros_like();
                    let sums_next = sums + over.select(nothing, gain);
                    let running = over.logical_not();
                    let one = g.math().cast(running, DType::I32);
                    let ends = next.equal(end);
                    let over = over.logical_or(ends);
                    Ok((i + 1, next, over, (lengths + one, sums_next), written.write(i, next), state))
                },
            )?;
            let tokens = g.array().transpose(written.stack(), [1, 0]);
            Ok(Decoded { tokens, lengths, log_probs, state })
        })?;
        g.check()?;
        Ok(result)
    }
}

fn check_max_len(n: i32) -> Result<()> {
    match n {
        1.. => Ok(()),
        _ => Err(invalid!("`max_len` must be at least 1, found {n}")),
    }
}
