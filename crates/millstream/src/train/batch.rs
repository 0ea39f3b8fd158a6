//! [`batch`] and its relatives: batches of single examples, through a queue that a runner fills.
//!
//! [`RunQueues`](crate::RunQueues) starts the runner. A queue cannot hold a
//! [`SparseTensor`](crate::SparseTensor); it holds the number under which a map stores the tensor.

use super::sparse::{Keep, Map, parts, restore, store};
use crate::ops::Ops;
use crate::options::{Options, Start};
use crate::queue::{Queue, QueueBuilder, Queues, values_of};
use crate::sugar::Methods;
use crate::summary;
use crate::value::Value;
use millstream_graph::nest::{Converter, Values};
use millstream_graph::{Arg, Graph, IntoNest, Nest, Op, Output};
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};
use std::panic::Location;

/// A builder of batches, from one source of examples ([`One`]) or several ([`Joined`]), [`InOrder`] or
/// [`Shuffled`].
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let [n] = train::range_input_producer(&g, 5).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
/// let batch = train::batch(&g, n, 2).capacity(8).allow_smaller_final_batch(true).run()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let mut seen = Vec::new();
/// session.with_queue_runners(|_| -> Result<()> {
///     loop {
///         seen.push(session.run::<Vec<i32>>(batch, feed![])?);
///     }
/// })?;
/// assert_eq!(seen, [vec![0, 1], vec![2, 3], vec![4]]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` adds the batches"]
pub struct Batching<'g, S, Q> {
    options: Options<'g>,
    source: S,
    queue: Q,
    batch_size: Arg<'g>,
    keep_input: Value<'g>,
    capacity: i64,
    enqueue_many: bool,
    shapes: Option<Vec<PartialShape>>,
    allow_smaller_final_batch: bool,
    shared_name: String,
    at: &'static Location<'static>,
}

impl<S, Q> std::fmt::Debug for Batching<'_, S, Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batching")
            .field("options", &self.options)
            .field("capacity", &self.capacity)
            .field("shapes", &self.shapes)
            .finish_non_exhaustive()
    }
}

/// One source of examples, which several threads may read.
pub struct One<N> {
    tensors: N,
    num_threads: usize,
}

impl<N> std::fmt::Debug for One<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("One").field("num_threads", &self.num_threads).finish_non_exhaustive()
    }
}

/// Several sources of examples, each read by its own thread.
pub struct Joined<N>(Vec<N>);

impl<N> std::fmt::Debug for Joined<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Joined").finish_non_exhaustive()
    }
}

/// Batches of examples in the order of their arrival.
#[derive(Debug)]
pub struct InOrder {
    dynamic_pad: bool,
}

/// Batches of examples in random order.
#[derive(Debug)]
pub struct Shuffled {
    min_after_dequeue: i64,
    seed: Option<i64>,
}

/// Returns a builder of batches of `batch_size` examples; an example is the value of `tensors` in one run.
/// Batches have the structure of `tensors`, any nest of outputs and [`SparseTensor`](crate::SparseTensor)s.
///
/// With [`Batching::enqueue_many`] each row of `tensors` is an example. A run that needs a batch when no
/// examples are left ends with `OUT_OF_RANGE`. Without [`Batching::dynamic_pad`] the shapes of examples must
/// be known, or set by [`Batching::shapes`].
///
/// Definition: TensorFlow's `tf.train.batch`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let n = train::range_input_producer(&g, 5).num_epochs(1).shuffle(false).build()?.dequeue()?[0];
/// let row = g.fill(g.stack([n], 0), n);
/// let (n, row) = train::batch(&g, (n, row), 2).dynamic_pad(true).allow_smaller_final_batch(true).run()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let mut batches: Vec<(Vec<i32>, Tensor)> = Vec::new();
/// // The end of the input is no error: it ends the loop.
/// session.with_queue_runners(|_| -> Result<()> {
///     loop {
///         batches.push(session.run((n, row), feed![])?);
///     }
/// })?;
/// let texts: Vec<String> = batches.iter().map(|(n, rows)| format!("{n:?} {rows}")).collect();
/// assert_eq!(texts, [
///     "[0, 1] i32[2,1] [[0] [1]]",
///     "[2, 3] i32[2,3] [[2 2 0] [3 3 3]]",
///     "[4] i32[1,4] [[4 4 4 4]]",
/// ]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn batch<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors: N,
    batch_size: impl Into<Arg<'g>>,
) -> Batching<'g, One<N>, InOrder> {
    Batching::new(
        g.options(),
        One { tensors, num_threads: 1 },
        InOrder { dynamic_pad: false },
        batch_size.into(),
    )
}

/// As [`batch`], with only those examples for which `keep_input` is true. With [`Batching::enqueue_many`] it
/// may be a vector, with an entry for each row.
///
/// Definition: TensorFlow's `tf.train.maybe_batch`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let rows = g.constant([1, 2, 3, 4]);
/// let odd = g.equal(g.floor_mod(rows, 2), 1);
/// let odd = train::maybe_batch(&g, rows, odd, 3).enqueue_many(true).run()?;
/// let session = Session::new(&g)?;
/// let odd: Option<Vec<i32>> = session.with_queue_runners(|_| session.run(odd, feed![]))?;
/// assert_eq!(odd, Some(vec![1, 3, 1]));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn maybe_batch<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors: N,
    keep_input: impl Into<Value<'g>>,
    batch_size: impl Into<Arg<'g>>,
) -> Batching<'g, One<N>, InOrder> {
    batch(g, tensors, batch_size).keep(keep_input)
}

/// As [`batch`], with the examples of several sources, each read by its own thread. They must have the same
/// structure and dtypes.
///
/// Definition: TensorFlow's `tf.train.batch_join`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let numbers = |n: i32| -> Result<_> {
///     let numbers = train::range_input_producer(&g, n).num_epochs(1).build()?.dequeue()?[0];
///     Ok((numbers, g.constant(n)))
/// };
/// let (n, of) = train::batch_join(&g, [numbers(3)?, numbers(4)?], 7).run()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let sums: Option<(i32, i32)> =
///     session.with_queue_runners(|_| session.run((n.reduce_sum(()), of.reduce_sum(())), feed![]))?;
/// assert_eq!(sums, Some((3 + 6, 3 * 3 + 4 * 4)));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn batch_join<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors_list: impl IntoIterator<Item = N>,
    batch_size: impl Into<Arg<'g>>,
) -> Batching<'g, Joined<N>, InOrder> {
    let sources = Joined(tensors_list.into_iter().collect());
    Batching::new(g.options(), sources, InOrder { dynamic_pad: false }, batch_size.into())
}

/// As [`batch_join`], with only those examples for which `keep_input` is true, as in [`maybe_batch`].
///
/// Definition: TensorFlow's `tf.train.maybe_batch_join`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train;
/// let g = Graph::new();
/// let sources = [g.constant(1), g.constant(2)];
/// let batch = train::maybe_batch_join(&g, sources, true, 4).run()?;
/// assert_eq!(batch.shape().to_string(), "[4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn maybe_batch_join<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors_list: impl IntoIterator<Item = N>,
    keep_input: impl Into<Value<'g>>,
    batch_size: impl Into<Arg<'g>>,
) -> Batching<'g, Joined<N>, InOrder> {
    batch_join(g, tensors_list, batch_size).keep(keep_input)
}

/// As [`batch`], in random order: `min_after_dequeue` of `capacity` examples stay in the queue to choose from
/// until the input ends.
///
/// Definition: TensorFlow's `tf.train.shuffle_batch`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let numbers = train::range_input_producer(&g, 100).num_epochs(1).shuffle(false).build()?.dequeue()?[0];
/// let some = train::shuffle_batch(&g, numbers, 4, 50, 20).seed(7).run()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let some: Option<Vec<i32>> = session.with_queue_runners(|_| session.run(some, feed![]))?;
/// assert!(some.is_some_and(|some| some != [0, 1, 2, 3] && some.iter().all(|n| *n < 60)));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn shuffle_batch<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors: N,
    batch_size: impl Into<Arg<'g>>,
    capacity: i64,
    min_after_dequeue: i64,
) -> Batching<'g, One<N>, Shuffled> {
    let queue = Shuffled { min_after_dequeue, seed: None };
    Batching::new(g.options(), One { tensors, num_threads: 1 }, queue, batch_size.into()).capacity(capacity)
}

/// As [`shuffle_batch`], with only those examples for which `keep_input` is true, as in [`maybe_batch`].
///
/// Definition: TensorFlow's `tf.train.maybe_shuffle_batch`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train;
/// let g = Graph::new();
/// let x = g.placeholder::<i32>("x", shape![]);
/// let batch = train::maybe_shuffle_batch(&g, x, 4, 100, 10, x.greater(0)).run()?;
/// assert_eq!(batch.shape().to_string(), "[4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn maybe_shuffle_batch<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors: N,
    batch_size: impl Into<Arg<'g>>,
    capacity: i64,
    min_after_dequeue: i64,
    keep_input: impl Into<Value<'g>>,
) -> Batching<'g, One<N>, Shuffled> {
    shuffle_batch(g, tensors, batch_size, capacity, min_after_dequeue).keep(keep_input)
}

/// As [`shuffle_batch`], with the examples of several sources, each read by its own thread. They must have
/// the same structure and dtypes.
///
/// Definition: TensorFlow's `tf.train.shuffle_batch_join`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train;
/// let g = Graph::new();
/// let sources = [g.constant(1), g.constant(2)]; // each has a thread
/// let batch = train::shuffle_batch_join(&g, sources, 4, 100, 10).seed(1).run()?;
/// assert_eq!(batch.shape().to_string(), "[4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn shuffle_batch_join<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors_list: impl IntoIterator<Item = N>,
    batch_size: impl Into<Arg<'g>>,
    capacity: i64,
    min_after_dequeue: i64,
) -> Batching<'g, Joined<N>, Shuffled> {
    let (sources, queue) =
        (Joined(tensors_list.into_iter().collect()), Shuffled { min_after_dequeue, seed: None });
    Batching::new(g.options(), sources, queue, batch_size.into()).capacity(capacity)
}

/// As [`shuffle_batch_join`], with only those examples for which `keep_input` is true, as in [`maybe_batch`].
///
/// Definition: TensorFlow's `tf.train.maybe_shuffle_batch_join`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train;
/// let g = Graph::new();
/// let sources = [g.constant(1), g.constant(2)];
/// let batch = train::maybe_shuffle_batch_join(&g, sources, 4, 100, 10, true).run()?;
/// assert_eq!(batch.shape().to_string(), "[4]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn maybe_shuffle_batch_join<'g, N: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors_list: impl IntoIterator<Item = N>,
    batch_size: impl Into<Arg<'g>>,
    capacity: i64,
    min_after_dequeue: i64,
    keep_input: impl Into<Value<'g>>,
) -> Batching<'g, Joined<N>, Shuffled> {
    shuffle_batch_join(g, tensors_list, batch_size, capacity, min_after_dequeue).keep(keep_input)
}

impl<'g, S, Q> Batching<'g, S, Q> {
    #[track_caller]
    fn new(options: Options<'g>, source: S, queue: Q, batch_size: Arg<'g>) -> Batching<'g, S, Q> {
        Batching {
            options,
            source,
            queue,
            batch_size,
            keep_input: true.into(),
            capacity: 32,
            enqueue_many: false,
            shapes: None,
            allow_smaller_final_batch: false,
            shared_name: String::new(),
            at: Location::caller(),
        }
    }

    fn keep(mut self, keep_input: impl Into<Value<'g>>) -> Self {
        self.keep_input = keep_input.into();
        self
    }

    /// Sets the capacity of the queue in examples; 32 by default.
    pub fn capacity(mut self, capacity: i64) -> Self {
        self.capacity = capacity;
        self
    }

    /// Sets whether each row of the tensors is an example; by default the tensors are one example.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let rows = g.zeros::<f32>([10, 3]);
    /// assert_eq!(train::batch(&g, rows, 4).run()?.shape().to_string(), "[4,10,3]");
    /// assert_eq!(train::batch(&g, rows, 4).enqueue_many(true).run()?.shape().to_string(), "[4,3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn enqueue_many(mut self, yes: bool) -> Self {
        self.enqueue_many = yes;
        self
    }

    /// Sets the shapes of an example's components, for tensors of unknown shape.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let x = g.placeholder::<f32>("x", PartialShape::unknown());
    /// let batch = train::batch(&g, x, 4).shapes([shape![3]]).run()?;
    /// assert_eq!(batch.shape().to_string(), "[4,3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.shapes = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether the last batch may be smaller; otherwise the examples left at the end are dropped.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let batch = train::batch(&g, g.constant(1.0f32), 4).allow_smaller_final_batch(true).run()?;
    /// assert_eq!(batch.shape().to_string(), "[?]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn allow_smaller_final_batch(mut self, yes: bool) -> Self {
        self.allow_smaller_final_batch = yes;
        self
    }

    /// Sets the name under which sessions with shared resources share the queue.
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.shared_name = name.into();
        self
    }
}

impl<N, Q> Batching<'_, One<N>, Q> {
    /// Sets how many threads read examples; 1 by default. With more, the order of the examples is not
    /// determined.
    ///
    /// ```
    /// use millstream::{Queues, train};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// train::batch(&g, g.constant(1.0f32), 4).num_threads(3).run()?;
    /// assert_eq!(g.queue_runners()[0].enqueue_ops.len(), 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn num_threads(mut self, n: usize) -> Self {
        self.source.num_threads = n;
        self
    }
}

impl<S> Batching<'_, S, InOrder> {
    /// Sets whether examples may differ in size: in a batch they are padded at the end to the largest, with
    /// zeros or empty strings.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let row = g.placeholder::<f32>("row", shape![_]);
    /// assert!(train::batch(&g, row, 4).run().is_err()); // rows may differ in length
    /// assert_eq!(train::batch(&g, row, 4).dynamic_pad(true).run()?.shape().to_string(), "[4,?]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dynamic_pad(mut self, yes: bool) -> Self {
        self.queue.dynamic_pad = yes;
        self
    }
}

impl<S> Batching<'_, S, Shuffled> {
    /// Sets the seed of the order.
    pub fn seed(mut self, seed: i64) -> Self {
        self.queue.seed = Some(seed);
        self
    }
}

/// A source of examples.
pub trait Source<'g> {
    /// The structure of an example.
    type Nest: Nest<'g>;

    /// The suffix of the name scope, after `batch`.
    const SUFFIX: &'static str;

    /// Returns the examples as nests, and the number of threads that read each.
    fn nests(self, cx: &Converter<'g, '_>) -> Result<(Vec<Self::Nest>, usize)>;
}

impl<'g, N: IntoNest<'g>> Source<'g> for One<N> {
    type Nest = N::Nest;
    const SUFFIX: &'static str = "";

    fn nests(self, cx: &Converter<'g, '_>) -> Result<(Vec<N::Nest>, usize)> {
        ensure!(self.num_threads > 0, "`num_threads` is 0: nobody would read examples");
        Ok((vec![self.tensors.into_nest(cx)?], self.num_threads))
    }
}

impl<'g, N: IntoNest<'g>> Source<'g> for Joined<N> {
    type Nest = N::Nest;
    const SUFFIX: &'static str = "_join";

    fn nests(self, cx: &Converter<'g, '_>) -> Result<(Vec<N::Nest>, usize)> {
        ensure!(!self.0.is_empty(), "Expected at least one set of tensors");
        let nests: Vec<N::Nest> = self.0.into_iter().map(|n| n.into_nest(cx)).collect::<Result<_>>()?;
        let first = nests[0].structure();
        for (i, nest) in nests.iter().enumerate() {
            let other = nest.structure();
            ensure!(
                other == first,
                "the sources must have the same structure: source 0 has {first}, source {i} has {other}"
            );
        }
        Ok((nests, 1))
    }
}

/// The order of examples.
pub trait Order {
    /// The prefix of the name scope, before `batch`.
    const PREFIX: &'static str;

    /// Checks that a queue of this capacity can have this order.
    fn check(&self, capacity: i64) -> Result<()>;

    /// Returns how many examples the queue holds back, if any.
    fn held_back(&self) -> Option<i64>;

    /// Returns a builder of the queue.
    fn queue<'g>(self, g: &'g Graph, capacity: i64, dtypes: Vec<DType>) -> QueueBuilder<'g>;
}

impl Order for InOrder {
    const PREFIX: &'static str = "";

    fn check(&self, capacity: i64) -> Result<()> {
        ensure!(capacity != 0, "capacity is 0: nothing would ever go in");
        Ok(())
    }

    fn held_back(&self) -> Option<i64> {
        None
    }

    fn queue<'g>(self, g: &'g Graph, capacity: i64, dtypes: Vec<DType>) -> QueueBuilder<'g> {
        match self.dynamic_pad {
            true => Queue::padding(g, capacity, dtypes),
            false => Queue::fifo(g, capacity, dtypes),
        }
    }
}

impl Order for Shuffled {
    const PREFIX: &'static str = "shuffle_";

    fn check(&self, capacity: i64) -> Result<()> {
        let least = self.min_after_dequeue;
        ensure!(least < capacity, "capacity {capacity} must be bigger than min_after_dequeue {least}.");
        Ok(())
    }

    fn held_back(&self) -> Option<i64> {
        Some(self.min_after_dequeue)
    }

    fn queue<'g>(self, g: &'g Graph, capacity: i64, dtypes: Vec<DType>) -> QueueBuilder<'g> {
        let queue = Queue::shuffle(g, capacity, self.min_after_dequeue, dtypes);
        match self.seed {
            Some(seed) => queue.seed(seed),
            None => queue,
        }
    }
}

impl<'g, S: Source<'g>, Q: Order> Batching<'g, S, Q> {
    /// Adds the batches, and the runner of their queue.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let (x, y) = train::batch(&g, (g.constant(1.0f32), g.constant([1, 2])), 8).run()?;
    /// assert_eq!((x.shape().to_string(), y.shape().to_string()), ("[8]".into(), "[8,2]".into()));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run(self) -> Result<S::Nest> {
        let (g, at) = (self.options.graph(), self.at);
        g.check()?;
        let name = self.options.name_or(&format!("{}batch{}", Q::PREFIX, S::SUFFIX));
        let made = g.built_at(at, || g.name_scope(&name, || self.build(g)));
        // The error of a node says more than that of the result.
        g.check()?;
        made.map_err(|e| e.at_line(at))
    }

    fn build(self, g: &'g Graph) -> Result<S::Nest> {
        let at = self.at;
        self.queue.check(self.capacity)?;
        let (nests, n_threads) = self.source.nests(&Converter::new(g, at, &[]))?;
        let keep = Keep::new(self.keep_input.try_place(g, "Const", at)?, self.enqueue_many)?;
        let mut sources = Vec::with_capacity(nests.len());
        let mut maps: Vec<Option<Map<'g>>> = Vec::new();
        for nest in &nests {
            let parts = parts(&nest.structure(), &mut values_of(nest).into_iter())?;
            ensure!(!parts.is_empty(), "Expected at least one tensor in batch().");
            let (stored, these) = store(g, &parts, &keep, self.enqueue_many, &maps)?;
            for (i, (first, other)) in maps.iter().zip(&these).enumerate() {
                let ranks = [first, other].map(|map| map.as_ref().and_then(|map| map.rank));
                ensure!(
                    ranks[0].is_none() || ranks[1].is_none() || ranks[0] == ranks[1],
                    "Inconsistent SparseTensors list: component {i} has rank {:?} in one source and {:?} in another",
                    ranks[0],
                    ranks[1]
                );
            }
            if maps.is_empty() {
                maps = these;
            }
            sources.push(stored);
        }
        let dtypes = same_dtypes(&sources)?;
        let shapes = self.shapes.map_or_else(|| same_shapes(&sources, self.enqueue_many), Ok)?;
        let held_back = self.queue.held_back();
        let queue = self
            .queue
            .queue(g, self.capacity, dtypes)
            .shapes(shapes)
            .shared_name(self.shared_name)
            .build()?;
        let mut fills = Vec::with_capacity(sources.len());
        for source in sources {
            fills.push(keep.enqueue(&queue, source, self.enqueue_many)?);
        }
        let fills = fills.into_iter().flat_map(|fill| std::iter::repeat_n(fill, n_threads));
        g.add_queue_runner(&queue.runner(fills));
        summarize(&queue, self.capacity, held_back);
        let queue = queue.named(g.scope());
        let taken = match self.allow_smaller_final_batch {
            true => queue.dequeue_up_to(self.batch_size)?,
            false => queue.dequeue_many(self.batch_size)?,
        };
        nests[0].rebuild(&mut Values::new(restore(g, taken.to_vec(), &maps)))
    }
}

/// Adds a summary of how full a queue is: the share of its capacity, without the items that it holds back.
pub(super) fn summarize(queue: &Queue<'_>, capacity: i64, held_back: Option<i64>) {
    let (g, size) = (queue.graph(), queue.size());
    let (name, size, room) = match held_back {
        None => (format!("fraction_of_{capacity}_full"), size, capacity),
        Some(least) => {
            let beyond = g.named("sub").sub(size, least);
            let room = capacity.saturating_sub(least);
            let name = format!("fraction_over_{least}_of_{room}_full");
            (name, g.maximum(0, beyond), room)
        }
    };
    summarize_as(queue, &name, size, room);
}

/// Adds a summary of `size / room` under this name.
pub(super) fn summarize_as<'g>(queue: &Queue<'g>, name: &str, size: Output<'g>, room: i64) {
    let g = queue.graph();
    let size = size.cast::<f32>();
    let share = g.named("mul").mul(size, (1.0 / room as f64) as f32);
    summary::scalar(g, name, share);
}

impl<'g> Keep<'g> {
    /// Returns the operation that enqueues an example, or the rows of many, if it is kept.
    fn enqueue(&self, queue: &Queue<'g>, example: Vec<Output<'g>>, many: bool) -> Result<Op<'g>> {
        let g = queue.graph();
        if self.by_row {
            let which = self.input.cast::<i32>();
            let kept = |x| {
                g.start("DynamicPartition").input(x).input(which).attr("num_partitions", 2).finish().output(1)
            };
            return queue.enqueue_many(example.into_iter().map(kept).collect::<Vec<_>>());
        }
        let enqueue = || if many { queue.enqueue_many(example) } else { queue.enqueue(example) };
        g.smart_cond(self.input, enqueue, || g.no_op())
    }
}

/// Returns the dtypes of the components, which all sources share.
fn same_dtypes(sources: &[Vec<Output<'_>>]) -> Result<Vec<DType>> {
    let of = |source: &Vec<Output<'_>>| source.iter().map(Output::dtype).collect::<Result<Vec<DType>>>();
    let first = of(&sources[0])?;
    for source in sources {
        let other = of(source)?;
        let names = |dtypes: &[DType]| dtypes.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ");
        ensure!(other == first, "Expected types to be consistent: {} vs. {}.", names(&first), names(&other));
    }
    Ok(first)
}

/// Returns the shapes of an example's components: those of the first source, with which the others agree.
fn same_shapes(sources: &[Vec<Output<'_>>], many: bool) -> Result<Vec<PartialShape>> {
    let example = |output: &Output<'_>| {
        let shape = output.shape();
        let name = || output.op().name();
        let dims = shape.dims().ok_or_else(|| {
            invalid!("Cannot infer Tensor's rank: `{}`", name())
                .with_help("declare the shapes with `.shapes(..)`")
        })?;
        match (many, dims.split_first()) {
            (false, _) => Ok(shape.clone()),
            (true, Some((_, row))) => Ok(PartialShape::new(row.iter().copied())),
            (true, None) => {
                Err(invalid!("`{}` is a scalar: with `enqueue_many` each row is an example", name()))
            }
        }
    };
    let first: Vec<PartialShape> = sources[0].iter().map(example).collect::<Result<_>>()?;
    for source in sources {
        for ((i, first), other) in first.iter().enumerate().zip(source) {
            let other = example(other)?;
            ensure!(
                first.is_compatible(&other),
                "the sources must have the same shapes: component {i} is {first} in source 0, and {other} in another"
            );
        }
    }
    Ok(first)
}
