//! Writing a sequence token by token with a net that says how likely each token is: [`Decode::greedy_decode`], [`Decode::beam_search`].
//!
//! Both are loops over a function of one's own, `(log_probs, state) = step(tokens, state)`: `tokens` is `i32[n]`, `log_probs` is `[n, vocabulary]`
//! of floats (logarithms of probabilities, as `log_softmax` gives), and the state is any [`Nest`] of values with `n` rows each. They end when
//! all sequences have, and at the latest after `max_len` tokens.

use crate::tensor_array::TensorArray;
use millstream_graph::nest::{Converter, Leaf, Values};
use millstream_graph::{Graph, IntoNest, Nest, Output};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};
use std::panic::Location;

/// Makes decoders.
pub trait Decode {
    /// Takes the likeliest token each time: options, then [`Greedy::run`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// // After token i comes most likely token i + 1; 3 ends it.
    /// let next = g.constant([[0.1f32, 0.8, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.0, 0.0, 0.2, 0.8], [0.0, 0.0, 0.0, 1.0]]);
    /// let decoded = g
    ///     .greedy_decode(g.constant([0, 1]), ())
    ///     .end_token(3)
    ///     .max_len(10)
    ///     .run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
    /// let (tokens, lengths): (Tensor, Vec<i32>) = Session::new(&g)?.run((decoded.tokens, decoded.lengths), feed![])?;
    /// assert_eq!(tokens.as_slice::<i32>()?, [1, 2, 3, 2, 3, 3]);
    /// assert_eq!(lengths, [3, 2]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn greedy_decode<'g, S: IntoNest<'g>>(&'g self, start: Output<'g>, state: S) -> Greedy<'g, S>;

    /// Keeps the `width` best beginnings each time: options, then [`Beam::run`]. How good a sequence is is the sum of the logarithms of its
    /// tokens' probabilities, over its [length penalty](Beam::length_penalty).
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
        Beam { decoder: Decoder::new(self, start, state), width, alpha: 0.0, early_stop: true }
    }
}

/// What both are told.
struct Decoder<'g, S> {
    graph: &'g Graph,
    start: Output<'g>,
    state: S,
    end: i32,
    max_len: i32,
    at: &'static Location<'static>,
}

/// A greedy decoder being described.
#[must_use = "it is made by `run`"]
pub struct Greedy<'g, S>(Decoder<'g, S>);

/// A beam search being described.
#[must_use = "it is made by `run`"]
pub struct Beam<'g, S> {
    decoder: Decoder<'g, S>,
    width: usize,
    alpha: f64,
    early_stop: bool,
}

/// What a greedy decoder wrote.
#[derive(Clone, Debug)]
pub struct Decoded<'g, S> {
    /// `i32[n, time]`: behind its end a sequence is filled up with the end token.
    pub tokens: Output<'g>,
    /// `i32[n]`: how many tokens each has, the end token included.
    pub lengths: Output<'g>,
    /// `[n]`: the sums of the logarithms of the tokens' probabilities.
    pub log_probs: Output<'g>,
    /// The last state.
    pub state: S,
}

/// What a beam search found, the best first.
#[derive(Clone, Copy, Debug)]
pub struct Beams<'g> {
    /// `i32[n, width, time]`: behind its end a sequence is filled up with the end token.
    pub tokens: Output<'g>,
    /// `i32[n, width]`: how many tokens each has, the end token included.
    pub lengths: Output<'g>,
    /// `[n, width]`: the sums of the logarithms of the tokens' probabilities, over the length penalty.
    pub scores: Output<'g>,
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
            /// The token that ends a sequence, 0 by default.
            pub fn end_token(mut self, token: i32) -> Self {
                self.$field.end = token;
                self
            }

            /// How many tokens a sequence has at most, 100 by default.
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

/// The nest with each value changed; it keeps its shape.
fn each<'g, N: Nest<'g>>(nest: &N, change: impl Fn(Output<'g>) -> Output<'g>) -> Result<N> {
    nest.rebuild(&mut Values::new(values_of(nest).into_iter().map(change).collect()))
}

impl<'g, S: IntoNest<'g>> Greedy<'g, S> {
    /// Makes the loop.
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
        let result = g.name_scope("greedy_decode", || {
            let state = state.into_nest(&Converter::new(g, at, &[]))?;
            let end = int(g, end);
            let over = g.op("NotEqual").inputs([start, start]).output();
            let zeros = g.op("ZerosLike").input(start).output();
            let sums = g.op("Cast").input(zeros).attr("DstT", DType::F32).output();
            let written = TensorArray::of::<i32>(g, 0).dynamic_size(true).element_shape(start.shape()).make();
            let vars = (g.constant(0), start, over, (zeros, sums), written, state);
            let (_, _, _, (lengths, log_probs), written, state) = g.while_loop(vars).run(
                |(i, _, over, _, _, _)| {
                    let all = g.op("All").input(over).input([0]).output();
                    let going = g.op("LogicalNot").input(all).output();
                    let short = g.op("Less").input(i).input(max_len).output();
                    g.op("LogicalAnd").inputs([short, going]).output()
                },
                |(i, tokens, over, (lengths, sums), written, state)| -> Result<_> {
                    let (log_probs, state) = step(tokens, state)?;
                    let best =
                        g.op("ArgMax").input(log_probs).input(1).attr("output_type", DType::I32).output();
                    let end =
                        g.op("BroadcastTo").input(end).input(g.op("Shape").input(best).output()).output();
                    let next = g.op("Select").inputs([over, end, best]).output().set_shape(tokens.shape());
                    let gain = g.op("Max").input(log_probs).input([1]).output();
                    let gain = g.op("Cast").input(gain).attr("DstT", DType::F32).output();
                    let nothing = g.op("ZerosLike").input(gain).output();
                    let sums_next = sums + g.op("Select").inputs([over, nothing, gain]).output();
                    let running = g.op("LogicalNot").input(over).output();
                    let one = g.op("Cast").input(running).attr("DstT", DType::I32).output();
                    let ends = g.op("Equal").inputs([next, end]).output();
                    let over = g.op("LogicalOr").inputs([over, ends]).output();
                    Ok((i + 1, next, over, (lengths + one, sums_next), written.write(i, next), state))
                },
            )?;
            let tokens = g.op("Transpose").input(written.stack()).input([1, 0]).output();
            Ok(Decoded { tokens, lengths, log_probs, state })
        })?;
        g.check()?;
        Ok(result)
    }
}

fn check_max_len(n: i32) -> Result<()> {
    match n {
        1.. => Ok(()),
        _ => Err(invalid!("`max_len` is {n}; a sequence has one token at least")),
    }
}

impl<'g, S: IntoNest<'g>> Beam<'g, S> {
    /// Scores are divided by `((5 + length) / 6)^alpha` (Wu et al. 2016): 0, the default, prefers short sequences, 1 is about the mean.
    pub fn length_penalty(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Whether (by default) the search ends as soon as no beginning can become better than the worst of `width` finished sequences.
    pub fn early_stop(mut self, yes: bool) -> Self {
        self.early_stop = yes;
        self
    }

    /// Makes the loop. `step` sees `n * width` rows; the state's rows follow the beginnings that they belong to.
    #[track_caller]
    pub fn run<N>(
        self,
        step: impl FnOnce(Output<'g>, S::Nest) -> Result<(Output<'g>, N)>,
    ) -> Result<Beams<'g>>
    where
        S::Nest: IntoNest<'g, Nest = S::Nest>,
        N: IntoNest<'g, Nest = S::Nest>,
    {
        let g = self.decoder.graph;
        g.check()?;
        check_max_len(self.decoder.max_len)?;
        let width = i32::try_from(self.width).ok().filter(|w| 0 < *w);
        let width = width.ok_or_else(|| {
            invalid!("a beam search of width {}: it keeps one beginning at least", self.width)
        })?;
        let result = g.name_scope("beam_search", || self.build(width, step))?;
        g.check()?;
        Ok(result)
    }

    fn build<N>(
        self,
        width: i32,
        step: impl FnOnce(Output<'g>, S::Nest) -> Result<(Output<'g>, N)>,
    ) -> Result<Beams<'g>>
    where
        S::Nest: IntoNest<'g, Nest = S::Nest>,
        N: IntoNest<'g, Nest = S::Nest>,
    {
        let Decoder { graph: g, start, state, end, max_len, at } = self.decoder;
        let state = state.into_nest(&Converter::new(g, at, &[]))?;
        let n = g.op("Size").input(start).output();
        let (w, k) = (int(g, width), self.width);
        let pack = |dims: &[Output<'g>]| g.op("Pack").inputs(dims.iter().copied()).output();
        let known = start.shape().dim(0);
        let of_beams = |x: Output<'g>| x.set_shape(PartialShape::new([known, Some(k)]));
        let per_beam = pack(&[n, w]);
        let reshape = |x: Output<'g>, to: Output<'g>| g.op("Reshape").inputs([x, to]).output();
        let flat = |x: Output<'g>| {
            let rows = known.map(|n| n * k);
            g.op("Reshape").input(x).input([-1]).output().set_shape(PartialShape::new([rows]))
        };
        let fill =
            |dims: Output<'g>, value: Output<'g>| of_beams(g.op("Fill").inputs([dims, value]).output());
        let number = |value: f32| g.constant_tensor("Const", Tensor::scalar(value));
        let lowest = number(f32::NEG_INFINITY);
        let tile = |x: Output<'g>| {
            let rows = x.shape().dims().map(|d| {
                PartialShape::new(std::iter::once(known.map(|n| n * k)).chain(d.iter().skip(1).copied()))
            });
            let index = flat(
                g.op("ExpandDims").input(g.op("Range").input(0).input(n).input(1).output()).input(1).output()
                    + g.op("Fill").inputs([pack(&[int(g, 1), w]), int(g, 0)]).output(),
            );
            let tiled = g.op("GatherV2").inputs([x, index, int(g, 0)]).output();
            rows.map_or(tiled, |rows| tiled.set_shape(rows))
        };
        let state = each(&state, tile)?;
        // Only the first beginning counts at first: the others are the same.
        let first = g.op("OneHot").inputs([int(g, 0), w, number(0.0), lowest]).output();
        let sums = of_beams(g.op("Fill").inputs([per_beam, number(0.0)]).output() + first);
        let tokens = flat(tile(start));
        let written = g.op("Fill").inputs([pack(&[n, w, int(g, max_len)]), int(g, end)]).output();
        let whole = PartialShape::new([known, Some(k), usize::try_from(max_len).ok()]);
        let written = written.set_shape(whole.clone());
        let none = fill(per_beam, lowest);
        let zero_lengths = fill(per_beam, int(g, 0));
        let found = (written, zero_lengths, none);
        let penalty = |length: Output<'g>| {
            let base = (g.op("Cast").input(length).attr("DstT", DType::F32).output() + 5.0) / 6.0;
            g.op("Pow").input(base).input(number(self.alpha as f32)).output()
        };
        let early_stop = self.early_stop;
        let last = int(g, max_len);
        // The best that a beginning can still become: nothing more is lost, and the penalty is the one that helps most.
        let most = penalty(if self.alpha < 0.0 { int(g, 1) } else { last });

        let vars = (g.constant(0), tokens, sums, written, found, state);
        let (steps, _, sums, written, found, _) = g.while_loop(vars).parallel_iterations(1).run(
            |(i, _, sums, _, (_, _, scores), _)| {
                let short = g.op("Less").inputs([i, last]).output();
                let best = g.op("Max").input(sums).input([1]).output() / most;
                let worst = g.op("Min").input(scores).input([1]).output();
                let better = g.op("Greater").inputs([best, worst]).output();
                let any = g.op("Any").input(better).input([0]).output();
                let alive =
                    g.op("Any").input(g.op("Greater").inputs([sums, lowest]).output()).input([0, 1]).output();
                let going = if early_stop { any } else { alive };
                g.op("LogicalAnd").inputs([short, going]).output()
            },
            |(i, tokens, sums, written, (done, done_lengths, scores), state)| -> Result<_> {
                let (log_probs, state) = step(tokens, state)?;
                let state = state.into_nest(&Converter::new(g, at, &[]))?;
                let log_probs = g.op("Cast").input(log_probs).attr("DstT", DType::F32).output();
                let shape = g.op("Shape").input(log_probs).output();
                let words = g
                    .op("StridedSlice")
                    .input(shape)
                    .input([1])
                    .input([2])
                    .input([1])
                    .attr("shrink_axis_mask", 1)
                    .output();
                let spread = reshape(log_probs, pack(&[n, w, words]));
                let all = spread + g.op("ExpandDims").input(sums).input(2).output();
                // Twice as many as are kept: at most `width` of them end.
                let all = reshape(all, pack(&[n, w * words]));
                let count = g.op("Minimum").inputs([w * 2, w * words]).output();
                let top = g.op("TopKV2").inputs([all, count]).finish();
                let (gains, which) = (top.output(0), top.output(1));
                let (beam, token) = (
                    g.op("FloorDiv").inputs([which, words]).output(),
                    g.op("FloorMod").inputs([which, words]).output(),
                );
                let ends = g.op("Equal").input(token).input(end).output();
                let taken = |x: Output<'g>, index: Output<'g>| {
                    let node = g.op("GatherV2").inputs([x, index, int(g, 1)]).attr("batch_dims", 1);
                    node.output()
                };
                let length = i + 1;
                let extended = |beam: Output<'g>, token: Output<'g>| {
                    let before = taken(written, beam);
                    let place = g.op("OneHot").inputs([i, last]).input(true).input(false).output();
                    let shape = g.op("Shape").input(before).output();
                    let place = g.op("BroadcastTo").inputs([place, shape]).output();
                    let token = g.op("ExpandDims").input(token).input(2).output();
                    let token = g.op("BroadcastTo").inputs([token, shape]).output();
                    g.op("Select").inputs([place, token, before]).output()
                };
                let like = |value: Output<'g>, x: Output<'g>| {
                    let shape = g.op("Shape").input(x).output();
                    g.op("Fill").inputs([shape, value]).output()
                };
                // What ended joins the finished ones, of which the best are kept.
                let ended =
                    g.op("Select").inputs([ends, gains / penalty(length), like(lowest, gains)]).output();
                let join = |a: Output<'g>, b: Output<'g>| g.op("ConcatV2").inputs([a, b]).input(1).output();
                let best = g.op("TopKV2").inputs([join(scores, ended), w]).finish();
                let (scores, kept) = (of_beams(best.output(0)), best.output(1));
                let done = taken(join(done, extended(beam, token)), kept).set_shape(whole.clone());
                let done_lengths = of_beams(taken(join(done_lengths, like(length, beam)), kept));
                // The best of what goes on is kept.
                let going = g.op("Select").inputs([ends, like(lowest, gains), gains]).output();
                let best = g.op("TopKV2").inputs([going, w]).finish();
                let (sums, kept) = (of_beams(best.output(0)), best.output(1));
                let (beam, token) = (taken(beam, kept), taken(token, kept));
                let written = extended(beam, token).set_shape(whole.clone());
                let offset = g
                    .op("ExpandDims")
                    .input(g.op("Range").input(0).input(n).input(1).output() * w)
                    .input(1)
                    .output();
                let rows = flat(beam + offset);
                let state = each(&state, |x| {
                    g.op("GatherV2").inputs([x, rows, int(g, 0)]).output().set_shape(x.shape())
                })?;
                Ok((length, flat(token), sums, written, (done, done_lengths, scores), state))
            },
        )?;
        // What did not end by itself counts with what it is, behind what did.
        let (done, done_lengths, scores) = found;
        let join = |a: Output<'g>, b: Output<'g>| g.op("ConcatV2").inputs([a, b]).input(1).output();
        let cut = g.op("GreaterEqual").inputs([steps, last]).output();
        let unfinished = sums / penalty(steps);
        let shape = g.op("Shape").input(sums).output();
        let cut = g.op("BroadcastTo").inputs([cut, shape]).output();
        let unfinished = g.op("Select").inputs([cut, unfinished, none]).output();
        let best = g.op("TopKV2").inputs([join(scores, unfinished), w]).finish();
        let taken = |x: Output<'g>| {
            g.op("GatherV2").inputs([x, best.output(1), int(g, 1)]).attr("batch_dims", 1).output()
        };
        let lengths = taken(join(done_lengths, g.op("Fill").inputs([per_beam, steps]).output()));
        let tokens = taken(join(done, written));
        Ok(Beams {
            tokens: tokens.set_shape(whole),
            lengths: of_beams(lengths),
            scores: of_beams(best.output(0)),
        })
    }
}
