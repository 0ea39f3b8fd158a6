//! [`Beam`]: beam search, in terms of [`Search`].

use super::{Decoder, check_max_len, each, int};
use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::Functions;
use millstream_graph::nest::Converter;
use millstream_graph::{Graph, IntoNest, Output};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};

/// A builder of a beam search.
///
/// ```
/// use millstream::Decode;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let next = g.constant([[0.1f32, 0.9, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]);
/// let search = g.beam_search(g.constant([0]), (), 2).end_token(2).max_len(4).early_stop(false);
/// let found = search.run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
/// assert_eq!(Session::new(&g)?.run::<Tensor>(found.lengths, feed![])?.as_slice::<i32>()?[0], 2);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` adds the loop"]
pub struct Beam<'g, S> {
    pub(super) decoder: Decoder<'g, S>,
    width: usize,
    alpha: f64,
    early_stop: bool,
}

impl<S> std::fmt::Debug for Beam<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beam")
            .field("width", &self.width)
            .field("alpha", &self.alpha)
            .field("early_stop", &self.early_stop)
            .finish_non_exhaustive()
    }
}

/// The result of a beam search, best first.
///
/// ```
/// use millstream::Decode;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let next = g.constant([[0.1f32, 0.9, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]);
/// let beams = g.beam_search(g.constant([0, 1]), (), 3).end_token(2).max_len(4);
/// let found = beams.run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
/// let scores: Tensor = Session::new(&g)?.run(found.scores, feed![])?;
/// assert_eq!(scores.shape().dims(), [2, 3]); // two sequences, three beams each
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Beams<'g> {
    /// `i32[n, width, time]`: the tokens; a sequence is padded with the end token.
    pub tokens: Output<'g>,
    /// `i32[n, width]`: the numbers of tokens, including the end token.
    pub lengths: Output<'g>,
    /// `[n, width]`: the scores.
    pub scores: Output<'g>,
}

impl<'g, S: IntoNest<'g>> Beam<'g, S> {
    pub(super) fn new(decoder: Decoder<'g, S>, width: usize) -> Self {
        Beam { decoder, width, alpha: 0.0, early_stop: true }
    }

    /// Sets `alpha`: scores are divided by `((5 + length) / 6)^alpha` (Wu et al. 2016). The default 0 prefers
    /// short sequences; 1 is roughly the mean.
    ///
    /// ```
    /// use millstream::Decode;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let next = g.constant([[0.1f32, 0.9, 0.0], [0.0, 0.1, 0.9], [0.0, 0.0, 1.0]]);
    /// let beams = g.beam_search(g.constant([0]), (), 2).end_token(2).max_len(4).length_penalty(1.0);
    /// let found = beams.run(|tokens, ()| Ok((next.gather(tokens).log(), ())))?;
    /// let scores: Tensor = Session::new(&g)?.run(found.scores, feed![])?;
    /// let mean = 0.81f32.ln() / (7.0 / 6.0); // of two tokens
    /// assert!((scores.as_slice::<f32>()?[0] - mean).abs() < 1e-5);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn length_penalty(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// Sets whether the search ends as soon as no prefix can become better than the worst of `width` finished
    /// sequences; true by default.
    pub fn early_stop(mut self, yes: bool) -> Self {
        self.early_stop = yes;
        self
    }

    /// Adds the loop. `step` gets `n * width` rows; the rows of the state follow their prefixes.
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
        let width =
            width.ok_or_else(|| invalid!("the beam width must be at least 1, found {}", self.width))?;
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
        let search = Search::new(start, width, max_len, self.alpha);
        let state = each(&state, |x| search.tiled(x))?;
        // At first only the first prefix counts: the others are equal to it.
        let first = int(g, 0).one_hot(search.width, search.number(0.0), search.lowest);
        let sums = search.of_beams(g.fill(search.per_beam, search.number(0.0)) + first);
        let tokens = search.flat(search.tiled(start));
        let written = g.fill(g.pack([search.n, search.width, int(g, max_len)]), int(g, end));
        let written = written.set_shape(search.whole.clone());
        let none = search.of_beams(g.fill(search.per_beam, search.lowest));
        let zero_lengths = search.of_beams(g.fill(search.per_beam, int(g, 0)));
        let found = (written, zero_lengths, none);
        let last = int(g, max_len);
        // The largest penalty: the best score that a prefix can still reach is its sum over this.
        let most = search.penalty(if self.alpha < 0.0 { int(g, 1) } else { last });

        let vars = (g.constant(0), tokens, sums, written, found, state);
        let (steps, _, sums, written, found, _) = g.while_loop(vars).parallel_iterations(1).run(
            |(i, _, sums, _, (_, _, scores), _)| {
                let short = i.less(last);
                let better = (sums.max([1]) / most).greater(scores.min([1])).any([0]);
                let alive = sums.greater(search.lowest).any([0, 1]);
                short.logical_and(if self.early_stop { better } else { alive })
            },
            |(i, tokens, sums, written, found, state)| -> Result<_> {
                let (log_probs, state) = step(tokens, state)?;
                let state = state.into_nest(&Converter::new(g, at, &[]))?;
                let next = search.candidates(log_probs, sums, end);
                let length = i + 1;
                let extended = |beam: Output<'g>, token: Output<'g>| {
                    let before = search.taken(written, beam);
                    with_token(before, i.one_hot(last, true, false), token)
                };
                let found = search.finish(&next, found, length, extended);
                let (sums, beam, token) = search.keep(&next);
                let written = extended(beam, token).set_shape(search.whole.clone());
                let offset = g.expand_dims(g.reduce().range(0, search.n, 1) * search.width, 1);
                let rows = search.flat(beam + offset);
                let state = each(&state, |x| g.gather(x, rows, int(g, 0)).set_shape(x.shape()))?;
                Ok((length, search.flat(token), sums, written, found, state))
            },
        )?;
        Ok(search.best(steps, last, sums, written, found, none))
    }
}

/// What a beam search computes with in every step.
struct Search<'g> {
    g: &'g Graph,
    /// The number of sequences: a value, and the number if it is known.
    n: Output<'g>,
    n_known: Option<usize>,
    /// The number of prefixes of each.
    width: Output<'g>,
    n_prefixes: Option<usize>,
    /// The shape `[n, width]`.
    per_beam: Output<'g>,
    /// Minus infinity.
    lowest: Output<'g>,
    /// The shape of all tokens, as far as it is known.
    whole: PartialShape,
    alpha: f64,
}

/// The tokens, lengths and scores of the best sequences that have ended.
type Found<'g> = (Output<'g>, Output<'g>, Output<'g>);

/// Extensions of prefixes by a token, best first.
struct Candidates<'g> {
    /// The sums of log probabilities.
    sums: Output<'g>,
    /// The prefix that is extended, and the token.
    beam: Output<'g>,
    token: Output<'g>,
    /// Whether the token ends the sequence.
    ends: Output<'g>,
}

impl<'g> Search<'g> {
    fn new(start: Output<'g>, width: i32, max_len: i32, alpha: f64) -> Search<'g> {
        let g = start.graph();
        let (n_known, n_prefixes) = (start.shape().dim(0), usize::try_from(width).ok());
        let (n, width) = (start.size(), int(g, width));
        let per_beam = g.pack([n, width]);
        let lowest = g.constant_tensor("Const", Tensor::scalar(f32::NEG_INFINITY));
        let whole = PartialShape::new([n_known, n_prefixes, usize::try_from(max_len).ok()]);
        Search { g, n, n_known, width, n_prefixes, per_beam, lowest, whole, alpha }
    }

    /// Returns the number of prefixes of all sequences together, if it is known.
    fn n_rows(&self) -> Option<usize> {
        Some(self.n_known? * self.n_prefixes?)
    }

    fn number(&self, value: f32) -> Output<'g> {
        self.g.constant_tensor("Const", Tensor::scalar(value))
    }

    /// Declares the shape `[n, width]`.
    fn of_beams(&self, x: Output<'g>) -> Output<'g> {
        x.set_shape(PartialShape::new([self.n_known, self.n_prefixes]))
    }

    /// Returns `[n, width]` as `[n * width]`.
    fn flat(&self, x: Output<'g>) -> Output<'g> {
        x.reshape([-1]).set_shape(PartialShape::new([self.n_rows()]))
    }

    /// Repeats each row once per prefix.
    fn tiled(&self, x: Output<'g>) -> Output<'g> {
        let (g, rows) = (self.g, self.n_rows());
        let shape = x.shape();
        let shape =
            shape.dims().map(|d| PartialShape::new(std::iter::once(rows).chain(d.iter().skip(1).copied())));
        let numbers = g.expand_dims(g.reduce().range(0, self.n, 1), 1);
        let index = self.flat(numbers + g.fill(g.pack([int(g, 1), self.width]), int(g, 0)));
        let tiled = g.gather(x, index, int(g, 0));
        shape.map_or(tiled, |shape| tiled.set_shape(shape))
    }

    /// Returns the divisor of the scores of sequences of this length.
    fn penalty(&self, length: Output<'g>) -> Output<'g> {
        let base = (self.g.math().cast(length, DType::F32) + 5.0) / 6.0;
        base.pow(self.number(self.alpha as f32))
    }

    /// Returns the entries of each row of `x` at the indices in the same row.
    fn taken(&self, x: Output<'g>, index: Output<'g>) -> Output<'g> {
        self.g.with("batch_dims", 1).gather(x, index, int(self.g, 1))
    }

    fn join(&self, a: Output<'g>, b: Output<'g>) -> Output<'g> {
        self.g.array().concat_v2([a, b], 1)
    }

    /// Returns the best extensions: twice as many as prefixes, since at most `width` of them end.
    fn candidates(&self, log_probs: Output<'g>, sums: Output<'g>, end: i32) -> Candidates<'g> {
        let (g, width) = (self.g, self.width);
        let log_probs = g.math().cast(log_probs, DType::F32);
        let shape = g.array().shape(log_probs);
        let words = g.with("shrink_axis_mask", 1).array().strided_slice(shape, [1], [2], [1]);
        let spread = log_probs.reshape(g.pack([self.n, width, words]));
        let all = spread + sums.expand_dims(2);
        let all = all.reshape(g.pack([self.n, width * words]));
        let count = g.minimum(width * 2, width * words);
        let [sums, which] = g.nn().top_k_v2(all, count);
        let (beam, token) = (which.floor_div(words), which.floor_mod(words));
        Candidates { sums, beam, token, ends: token.equal(end) }
    }

    /// Adds the candidates that end to the finished sequences, of which the best are kept.
    fn finish(
        &self,
        next: &Candidates<'g>,
        (done, done_lengths, scores): Found<'g>,
        length: Output<'g>,
        extended: impl Fn(Output<'g>, Output<'g>) -> Output<'g>,
    ) -> Found<'g> {
        let ended = next.ends.select(next.sums / self.penalty(length), like(self.lowest, next.sums));
        let [scores, kept] = self.g.nn().top_k_v2(self.join(scores, ended), self.width);
        let done = self.taken(self.join(done, extended(next.beam, next.token)), kept);
        let done_lengths = self.taken(self.join(done_lengths, like(length, next.beam)), kept);
        (done.set_shape(self.whole.clone()), self.of_beams(done_lengths), self.of_beams(scores))
    }

    /// Returns the sums, prefixes and tokens of the best candidates that go on.
    fn keep(&self, next: &Candidates<'g>) -> (Output<'g>, Output<'g>, Output<'g>) {
        let going = next.ends.select(like(self.lowest, next.sums), next.sums);
        let [sums, kept] = self.g.nn().top_k_v2(going, self.width);
        (self.of_beams(sums), self.taken(next.beam, kept), self.taken(next.token, kept))
    }

    /// Returns the result. Sequences that reached the last step count with their current score.
    fn best(
        &self,
        steps: Output<'g>,
        last: Output<'g>,
        sums: Output<'g>,
        written: Output<'g>,
        (done, done_lengths, scores): Found<'g>,
        none: Output<'g>,
    ) -> Beams<'g> {
        let g = self.g;
        let cut = steps.greater_equal(last);
        let unfinished = sums / self.penalty(steps);
        let cut = cut.broadcast_to(g.array().shape(sums));
        let unfinished = cut.select(unfinished, none);
        let [scores, best] = g.nn().top_k_v2(self.join(scores, unfinished), self.width);
        let lengths = self.taken(self.join(done_lengths, g.fill(self.per_beam, steps)), best);
        let tokens = self.taken(self.join(done, written), best);
        Beams {
            tokens: tokens.set_shape(self.whole.clone()),
            lengths: self.of_beams(lengths),
            scores: self.of_beams(scores),
        }
    }
}

/// Returns `before` with `token` where `place` is true in the last axis.
fn with_token<'g>(before: Output<'g>, place: Output<'g>, token: Output<'g>) -> Output<'g> {
    let shape = before.graph().array().shape(before);
    let place = place.broadcast_to(shape);
    let token = token.expand_dims(2).broadcast_to(shape);
    place.select(token, before)
}

/// Returns `value` in the shape of `x`.
fn like<'g>(value: Output<'g>, x: Output<'g>) -> Output<'g> {
    let g = x.graph();
    g.fill(g.array().shape(x), value)
}
