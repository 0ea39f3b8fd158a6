//! [`bucket()`]: batches of elements of the same bucket.
//!
//! ```text
//!   which_bucket ─► which_queue ─┐        ┌─► bucket_queue_0 ─► read_bucket_0 ─┐
//!   element ─────────────────► enqueue ───┼─► bucket_queue_1 ─► read_bucket_1 ─┼─► top_queue ─► dequeue_top
//!                                         └─► ..                               ┘
//! ```
//!
//! Names and runners are TensorFlow 1.15's. TensorFlow tests `which_bucket == i` for each bucket, which costs
//! more than everything else; here the queue is selected first, as by [`Queue::from_list`]. Features that
//! TensorFlow lacks are in attributes that begin with `_`, which it ignores, so the graph runs there as well.

use super::Statistics;
use super::settings::{BatchSize, Settings, Which};
use crate::ops::{Ops, OutputOps};
use crate::options::{Options, Start};
use crate::queue::{Queue, Queues, values_of};
use crate::sugar::{Functions, Methods};
use crate::summary;
use crate::train::sparse::{Keep, Map, Part, parts, restore, store};
use millstream_graph::nest::{Converter, Structure, Values};
use millstream_graph::{Arg, Attr, Graph, IntoNest, Nest, Op, Output};
use millstream_runtime::{QueueRunner, Session, feed};
use millstream_tensor::{Code, DType, IntoTensor, PartialShape, Result, Tensor, ensure, invalid};
use std::panic::Location;

/// The name scope of [`super::bucket_by_sequence_length`].
const BY_LENGTH: &str = "bucket_by_sequence_length";

/// A builder of a bucketing.
#[must_use = "`run` adds the nodes"]
pub struct BucketBuilder<'g, T> {
    pub(super) options: Options<'g>,
    pub(super) tensors: T,
    pub(super) settings: Settings<'g>,
}

impl<T> std::fmt::Debug for BucketBuilder<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BucketBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The batches of a bucketing. Each run that uses them dequeues a batch.
#[derive(Clone, Debug)]
pub struct Bucketed<'g, N> {
    /// The bucket of the batch, an `int32` scalar.
    pub bucket: Output<'g>,
    /// The batch, in the structure of the tensors.
    pub outputs: N,
    pub(super) queues: Vec<Queue<'g>>,
    pub(super) top: Queue<'g>,
    pub(super) batch_sizes: Vec<Option<usize>>,
}

/// Batches elements by bucket, `batch_size` at a time. `which_bucket` (an `int32` scalar, at least 0 and less
/// than `num_buckets`) is the bucket of an element. Options, then [`BucketBuilder::run`].
///
/// `tensors` is one element: any structure of values and [`SparseTensor`](crate::SparseTensor)s, which are
/// batched along a new first axis. The result has the same structure, with batches; each run that uses it
/// takes the next one, in the order in which buckets become full. Queue runners enqueue the elements;
/// [`start_queue_runners`] starts them. After the end of their input, runs end with `OUT_OF_RANGE`.
///
/// Definition: TensorFlow's `tf.contrib.training.bucket`. Unlike there, a `which_bucket` out of range is an
/// error, unless such elements are [dropped](BucketBuilder::drop_out_of_range), and [`Bucketed::statistics`]
/// counts every lost element.
///
/// [`start_queue_runners`]: crate::RunQueues::start_queue_runners
///
/// ```
/// use millstream::contrib::training::bucket;
/// use millstream::prelude::*;
/// use millstream::{Queue, RunQueues};
///
/// let g = Graph::new();
/// // The numbers 0 to 9, once.
/// let numbers = Queue::fifo(&g, 10, [DType::I32]).shapes([shape![]]).build()?;
/// let fill = numbers.enqueue_many(g.constant([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))?;
/// let end = numbers.close();
/// let [x] = numbers.dequeue()?.all()?;
///
/// // Even ones and odd ones in batches of four; the last may be smaller.
/// let parity = bucket(&g, x, x % 2, 4, 2).allow_smaller_final_batch(true).run()?;
///
/// let session = Session::new(&g)?;
/// session.run::<()>(fill, feed![])?;
/// session.run::<()>(end, feed![])?;
/// let mut batches = Vec::new();
/// session.with_queue_runners(|_| loop {
///     batches.push(session.run::<(i32, Vec<i32>)>((parity.bucket, parity.outputs), feed![])?);
/// } as Result<()>)?;
/// batches.sort_by_key(|(bucket, batch)| (*bucket, batch[0]));
/// assert_eq!(batches, [(0, vec![0, 2, 4, 6]), (0, vec![8]), (1, vec![1, 3, 5, 7]), (1, vec![9])]);
///
/// let counts = parity.statistics(&session)?;
/// assert_eq!((counts.came(), counts.out(), counts.dropped()), (10, 10, 0));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn bucket<'g, T: IntoNest<'g>>(
    g: impl Start<'g>,
    tensors: T,
    which_bucket: Output<'g>,
    batch_size: impl Into<BatchSize<'g>>,
    num_buckets: usize,
) -> BucketBuilder<'g, T> {
    let settings =
        Settings::new(Which::Given(which_bucket), batch_size.into(), num_buckets, Location::caller());
    BucketBuilder { options: g.options(), tensors, settings }
}

impl<'g, T> BucketBuilder<'g, T> {
    /// Sets how many threads enqueue elements; 1 by default. With more, the order of the elements is not
    /// determined.
    pub fn num_threads(mut self, n: usize) -> Self {
        self.settings.num_threads = n;
        self
    }

    /// Sets the capacity of the queue of batches, and of each bucket without
    /// [`BucketBuilder::bucket_capacities`]; 32 by default.
    pub fn capacity(mut self, n: usize) -> Self {
        self.settings.capacity = n;
        self
    }

    /// Sets the capacity of each bucket.
    pub fn bucket_capacities(mut self, capacities: impl IntoIterator<Item = usize>) -> Self {
        self.settings.bucket_capacities = Some(capacities.into_iter().collect());
        self
    }

    /// Sets the shapes of an element's components, for tensors of unknown shape.
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.settings.shapes = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether components of known rank may vary in size: in a batch they are padded at the end to the
    /// largest, with zeros or empty strings.
    ///
    /// ```
    /// use millstream::RunQueues;
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 4).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
    /// let row = g.fill(g.stack([n], 0), n).set_shape(shape![_]); // [], [1], [2 2], [3 3 3]
    /// let batches = bucket(&g, row, n / 2, 2, 2).dynamic_pad(true).run()?;
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// let mut seen = Vec::new();
    /// session.with_queue_runners(|_| -> Result<()> {
    ///     loop {
    ///         seen.push(session.run::<Tensor>(batches.outputs, feed![])?.to_string());
    ///     }
    /// })?;
    /// seen.sort();
    /// assert_eq!(seen, ["i32[2,1] [[0] [1]]", "i32[2,3] [[2 2 0] [3 3 3]]"]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dynamic_pad(mut self, yes: bool) -> Self {
        self.settings.dynamic_pad = yes;
        self
    }

    /// Sets whether the elements left in a bucket at the end of the input make a smaller batch. Otherwise
    /// they are discarded and counted.
    ///
    /// ```
    /// use millstream::RunQueues;
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 3).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
    /// let batches = bucket(&g, n, n * 0, 2, 1).allow_smaller_final_batch(true).run()?;
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// let mut seen = Vec::new();
    /// session.with_queue_runners(|_| -> Result<()> {
    ///     loop {
    ///         seen.push(session.run::<Vec<i32>>(batches.outputs, feed![])?);
    ///     }
    /// })?;
    /// assert_eq!(seen, [vec![0, 1], vec![2]]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn allow_smaller_final_batch(mut self, yes: bool) -> Self {
        self.settings.allow_smaller_final_batch = yes;
        self
    }

    /// Sets a filter: elements for which this `bool` scalar is false are skipped and counted.
    ///
    /// ```
    /// use millstream::RunQueues;
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 6).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
    /// let batches = bucket(&g, n, n * 0, 2, 1).keep_input(n.greater(1)).run()?;
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// let first = session.with_queue_runners(|_| session.run::<Vec<i32>>(batches.outputs, feed![]))?;
    /// assert_eq!(first, Some(vec![2, 3]));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn keep_input(mut self, keep: Output<'g>) -> Self {
        self.settings.keep_input = Some(keep);
        self
    }

    /// Sets whether elements with a `which_bucket` out of range are dropped and counted. Otherwise they are
    /// an error, which stops the runner.
    ///
    /// ```
    /// use millstream::RunQueues;
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 4).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
    /// let batches = bucket(&g, n, n, 1, 2).drop_out_of_range(true).run()?; // there is no bucket 2 or 3
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.with_queue_runners(|_| -> Result<()> {
    ///     loop {
    ///         session.run::<Vec<i32>>(batches.outputs, feed![])?;
    ///     }
    /// })?;
    /// assert_eq!(batches.statistics(&session)?.out_of_range, 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn drop_out_of_range(mut self, yes: bool) -> Self {
        self.settings.drop_out_of_range = yes;
        self
    }

    /// Sets the padding value of a component, instead of zeros or empty strings. A component is named by its
    /// path in the structure of the tensors: a key, a field, or an index in a list; `0` for a single tensor.
    ///
    /// ```
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let row = g.placeholder::<i32>("row", shape![_]);
    /// bucket(&g, row, row.size() / 8, 32, 4).dynamic_pad(true).padding_value("0", -1).run()?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn padding_value(mut self, component: &str, value: impl IntoTensor) -> Self {
        self.settings.padding_values.push((component.to_owned(), value.into_tensor()));
        self
    }

    /// Sets the least size of a component's varying dimensions in each bucket. Batches of a bucket then have
    /// the same shape, unless an element is larger.
    pub fn pad_to(mut self, component: &str, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.settings.pad_to.push((component.to_owned(), sizes.into_iter().collect()));
        self
    }

    /// As [`BucketBuilder::pad_to`], with the largest length of each bucket of [`bucket_by_sequence_length`].
    /// The last bucket has no bound: its batches are padded to their longest element.
    ///
    /// [`bucket_by_sequence_length`]: super::bucket_by_sequence_length
    pub fn pad_to_boundary(mut self, component: &str) -> Self {
        self.settings.pad_to_boundary.push(component.to_owned());
        self
    }

    /// Sets the name under which sessions with shared resources share the queues: `<name>` for the queue of
    /// batches, `<name>_<i>` for bucket `i`.
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.settings.shared_name = name.into();
        self
    }
}

impl<'g, T: IntoNest<'g>> BucketBuilder<'g, T> {
    /// Adds the queues and their runners to the graph. Returns the batches.
    ///
    /// ```
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let n = g.placeholder::<i32>("n", shape![]);
    /// let batches = bucket(&g, n, n % 2, 32, 2).run()?;
    /// assert_eq!(batches.outputs.shape().to_string(), "[32]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run(self) -> Result<Bucketed<'g, T::Nest>> {
        let default = if matches!(self.settings.which, Which::Given(_)) { "bucket" } else { BY_LENGTH };
        let (g, name, at) = (self.options.graph(), self.options.name_or(default), self.settings.at);
        g.check()?;
        let made = self.settings.check_lists().and_then(|()| {
            g.name_scope(&name, || {
                let nest = self.tensors.into_nest(&Converter::new(g, at, &[]))?;
                let made = |which| Buckets::new(g, &name, &self.settings, which, &nest);
                let buckets = match &self.settings.which {
                    Which::Given(which) => made(*which)?.connect()?,
                    Which::Length(length, boundaries) => {
                        let which = of_length(*length, boundaries)?;
                        g.name_scope("bucket", || made(which)?.connect())?
                    }
                };
                buckets.finish(nest)
            })
        });
        let made = made.map_err(|e| e.at_line(at))?;
        g.check()?;
        Ok(made)
    }
}

/// Returns the bucket of a length: the number of boundaries that it has reached.
fn of_length<'g>(length: Output<'g>, boundaries: &[i64]) -> Result<Output<'g>> {
    scalar("input_length", length, DType::I32)?;
    // The boundaries of this op are floats, which are exact for integers up to 2^24.
    let exact: Option<Vec<Attr>> =
        boundaries.iter().map(|&b| (b.unsigned_abs() <= 1 << 24).then_some(Attr::Float(b as f32))).collect();
    if let Some(exact) = exact {
        let node = length.graph().op("Bucketize").input(length).attr("boundaries", Attr::List(exact));
        return Ok(node.try_finish()?.output(0));
    }
    let boundaries = boundaries.iter().map(|&b| {
        i32::try_from(b).map_err(|_| invalid!("the boundary {b} is not a valid length: lengths are int32"))
    });
    let reached = length
        .graph()
        .op("GreaterEqual")
        .input(length)
        .input(boundaries.collect::<Result<Vec<i32>>>()?)
        .try_finish()?;
    Ok(reached.output(0).cast::<i32>().reduce_sum(0))
}

/// The nodes of a bucketing.
struct Buckets<'g, 's> {
    g: &'g Graph,
    settings: &'s Settings<'g>,
    which: Output<'g>,
    /// The components of an element in queues.
    values: Vec<Output<'g>>,
    /// The maps that hold sparse components meanwhile.
    maps: Vec<Option<Map<'g>>>,
    /// The batch size of each bucket, as a value, and as a number if it is known.
    sizes: Vec<(Output<'g>, Option<i32>)>,
    queues: Vec<Queue<'g>>,
    top: Queue<'g>,
    /// The outputs of the batches, once they exist.
    outputs: Vec<Output<'g>>,
}

impl<'g, 's> Buckets<'g, 's> {
    fn new(
        g: &'g Graph,
        name: &str,
        settings: &'s Settings<'g>,
        which: Output<'g>,
        nest: &impl Nest<'g>,
    ) -> Result<Self> {
        let parts = components(name, nest)?;
        let n = settings.num_buckets;
        let mut keep =
            settings.keep_input.unwrap_or_else(|| g.constant_tensor("Const", Tensor::scalar(true)));
        scalar("keep_input", keep, DType::Bool)?;
        scalar("which_bucket", which, DType::I32)?;
        let is_sparse: Vec<bool> = parts.iter().map(|part| matches!(part, Part::Sparse(_))).collect();
        if settings.drop_out_of_range && is_sparse.contains(&true) {
            // An element that is stored in a map must leave it again.
            keep = g.named("keeps").logical_and(keep, in_range(which, n));
        }
        let (values, maps) = store(g, &parts, &Keep { input: keep, by_row: false }, false, &[])?;
        let dtypes = values.iter().map(|value| value.dtype()).collect::<Result<Vec<_>>>()?;
        let paths = component_paths(settings.paths(nest), &is_sparse);
        let sizes = (0..n).map(|i| size(g, &settings.batch_size, i)).collect::<Result<Vec<_>>>()?;
        let shapes = settings.shapes(name, &paths, &values)?;
        let padding = settings.padding(name, &paths, &dtypes, &is_sparse)?;

        let queue = |i: usize| {
            let shared = match settings.shared_name.as_str() {
                "" => String::new(),
                shared => format!("{shared}_{i}"),
            };
            let g = g.named(format!("bucket_queue_{i}"));
            let (capacity, dtypes) = (settings.capacity_of(i), dtypes.iter().copied());
            let queue = match settings.dynamic_pad {
                true => Queue::padding(g, capacity, dtypes),
                false => Queue::fifo(g, capacity, dtypes),
            };
            let queue = queue.shapes(shapes.iter().cloned()).shared_name(shared);
            queue.batches(padding.values.clone(), padding.to_in(i), settings.max_tokens()).build()
        };
        let queues = (0..n).map(queue).collect::<Result<Vec<_>>>()?;

        // The batches of all buckets pass through one queue, so only their common shape is known.
        let varies = settings.allow_smaller_final_batch
            || matches!(settings.batch_size, BatchSize::Each(_) | BatchSize::MaxTokens(_));
        let rows = sizes[0].1.filter(|_| !varies).and_then(|rows| usize::try_from(rows).ok());
        let batch = |shape: &PartialShape| {
            let dims = shape.dims().unwrap_or_default().iter().copied();
            PartialShape::new(std::iter::once(rows).chain(dims))
        };
        let top_shapes = std::iter::once(PartialShape::scalar()).chain(shapes.iter().map(batch));
        let top_dtypes = std::iter::once(DType::I32).chain(dtypes.iter().copied());
        let capacity = i64::try_from(settings.capacity).unwrap_or(i64::MAX);
        let top = Queue::padding(g.named("top_queue"), capacity, top_dtypes)
            .shapes(top_shapes)
            .shared_name(&*settings.shared_name)
            .build()?;
        Ok(Buckets { g, settings, which, values, maps, sizes, queues, top, outputs: Vec::new() })
    }

    /// Enqueues an element, unless it is filtered.
    fn enqueue(&self) -> Result<Op<'g>> {
        let handles = self.g.named("queues").pack(self.queues.iter().map(Queue::handle));
        let put = || self.enqueue_in_range(handles);
        let Some(keep) = self.settings.keep_input else { return put() };
        match self.g.read(|g| g.known_value(keep.port())).and_then(|keep| keep.to_scalar::<bool>().ok()) {
            Some(true) => put(),
            Some(false) => self.count("filtered"),
            None => self.g.cond(keep, put, || self.count("filtered")),
        }
    }

    fn enqueue_in_range(&self, handles: Output<'g>) -> Result<Op<'g>> {
        let put = || self.enqueue_one(handles);
        if !self.settings.drop_out_of_range {
            return put();
        }
        let is_one = in_range(self.which, self.queues.len());
        self.g.cond(is_one, put, || self.count("out_of_range"))
    }

    fn enqueue_one(&self, handles: Output<'g>) -> Result<Op<'g>> {
        let n = self.queues.len();
        let help = format!(
            "there are {n} buckets, and `which_bucket` must be one of 0 to {}: make it so, or let \
             `.drop_out_of_range(true)` drop and count such elements",
            n - 1
        );
        let g = self.g.named("which_queue").at(self.settings.at).with("_help", help);
        let queue = g.gather(handles, self.which, 0);
        let put = self.queues[0].behind(queue).named("enqueue").enqueue(self.values.clone())?;
        Ok(self.g.named("group_enqueues").group([put]))
    }

    /// Counts a skipped element. In TensorFlow this does nothing.
    fn count(&self, what: &str) -> Result<Op<'g>> {
        let counted = self.top.clone().named(what).with("_counts", what).size();
        Ok(counted.op())
    }

    /// Moves a batch of bucket `i` to the queue of batches.
    fn pass_on(&self, i: usize) -> Result<Op<'g>> {
        let number = self.g.constant_tensor("Const", Tensor::scalar(i as i32));
        let read = self.queues[i].named(format!("read_bucket_{i}"));
        let take = |size| match self.settings.allow_smaller_final_batch {
            true => read.dequeue_up_to(size),
            false => read.dequeue_many(size),
        };
        let (size, known) = self.sizes[i];
        let batch = match known {
            Some(size) => take(size.into()),
            None => take(Arg::from(size)),
        }?;
        let item: Vec<Output<'g>> = std::iter::once(number).chain(batch.to_vec()).collect();
        self.top.named(format!("enqueue_from_bucket_{i}")).enqueue(item)
    }

    /// Adds the operations that move elements and batches, and their runners.
    fn connect(mut self) -> Result<Self> {
        let g = self.g;
        let enqueue = self.enqueue()?;
        // TensorFlow names the result of a cond by its output.
        let enqueue = if enqueue.op_type() == "Merge" { enqueue.output(0).name() } else { enqueue.name() };
        let pass_on = (0..self.queues.len()).map(|i| Ok(self.pass_on(i)?.name()));
        let pass_on = pass_on.collect::<Result<Vec<String>>>()?;
        // A bucket's thread ends when its queue's input ends or all runners stop; so do the threads that feed
        // it.
        let ends = [Code::OutOfRange, Code::Cancelled];
        let (close, cancel) = (self.top.close(), self.top.close_and_cancel());
        let to_top = QueueRunner::new(self.queues[0].name(), pass_on, close.name(), cancel.name());
        g.add_queue_runner(&to_top.closed_by(ends));
        let close = g.group(self.queues.iter().map(Queue::close));
        let cancel = g.group(self.queues.iter().map(Queue::close_and_cancel));
        let enqueues = std::iter::repeat_n(enqueue, self.settings.num_threads);
        let to_buckets = QueueRunner::new(self.top.name(), enqueues, close.name(), cancel.name());
        g.add_queue_runner(&to_buckets.closed_by(ends));

        // TensorFlow's summaries of the buckets all show the queue of batches.
        for queue in &self.queues {
            summary::scalar(g, &format!("bucket/{}/size", queue.name()), queue.size().cast::<f32>());
        }
        let capacity = self.settings.capacity;
        let full = self.top.size().cast::<f32>() * (1.0 / capacity as f32);
        summary::scalar(g, &format!("bucket/{}/fraction_of_{capacity}_full", self.top.name()), full);

        let mut taken = self.top.named("dequeue_top").with("_counts", "rows").dequeue()?.to_vec();
        let batch = taken.split_off(1);
        self.outputs = taken;
        self.outputs.extend(restore(g, batch, &self.maps));
        Ok(self)
    }

    fn finish<N: Nest<'g>>(mut self, nest: N) -> Result<Bucketed<'g, N>> {
        let bucket = self.outputs.remove(0);
        let fixed = self.settings.max_tokens().is_none();
        let size = |known: Option<i32>| known.filter(|_| fixed).and_then(|size| usize::try_from(size).ok());
        Ok(Bucketed {
            bucket,
            outputs: nest.rebuild(&mut Values::new(self.outputs))?,
            batch_sizes: self.sizes.iter().map(|(_, known)| size(*known)).collect(),
            queues: self.queues,
            top: self.top,
        })
    }
}

impl<'g, N> Bucketed<'g, N> {
    /// Returns the statistics of all elements in this session.
    ///
    /// ```
    /// use millstream::RunQueues;
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 5).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
    /// let batches = bucket(&g, n, n % 2, 2, 2).run()?; // 0 2, 4 | 1 3
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// session.with_queue_runners(|_| -> Result<()> {
    ///     loop {
    ///         session.run::<Vec<i32>>(batches.outputs, feed![])?;
    ///     }
    /// })?;
    /// let counts = batches.statistics(&session)?;
    /// assert_eq!((counts.came(), counts.out(), counts.dropped()), (5, 4, 1)); // 4 filled no batch
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn statistics(&self, session: &Session) -> Result<Statistics> {
        let queues: Vec<Output<'g>> = self.queues.iter().map(Queue::handle).collect();
        let (top, queues): (Tensor, Vec<Tensor>) = session.run((self.top.handle(), queues), feed![])?;
        Statistics::of_handles(&queues, &top, &self.batch_sizes)
    }

    /// Returns the queue of each bucket.
    ///
    /// ```
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let n = g.constant(3);
    /// let batches = bucket(&g, n, n % 2, 2, 2).run()?;
    /// assert_eq!(batches.bucket_queues().len(), 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn bucket_queues(&self) -> &[Queue<'g>] {
        &self.queues
    }

    /// Returns the queue of batches.
    ///
    /// ```
    /// use millstream::contrib::training::bucket;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let n = g.constant(3);
    /// let batches = bucket(&g, n, n % 2, 2, 2).run()?;
    /// assert_eq!(batches.top_queue().dtypes(), [DType::I32, DType::I32]); // the bucket, and the batch
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn top_queue(&self) -> &Queue<'g> {
        &self.top
    }
}

/// Returns the components of an element.
fn components<'g>(name: &str, nest: &impl Nest<'g>) -> Result<Vec<Part<'g>>> {
    fn refused(structure: &Structure) -> Option<&'static str> {
        match structure {
            Structure::Operation => Some("an operation"),
            Structure::Slices { .. } => Some("slices (`IndexedSlices`)"),
            Structure::Array => Some("a TensorArray"),
            _ => structure.parts().into_iter().find_map(|(_, part)| refused(part)),
        }
    }
    let structure = nest.structure();
    if let Some(what) = refused(&structure) {
        return Err(invalid!(
            "`{name}`: an element is made of tensors and SparseTensors, but one of its components is {what}"
        ));
    }
    let parts = parts(&structure, &mut values_of(nest).into_iter())?;
    if parts.is_empty() {
        return Err(invalid!(
            "`{name}`: expected at least one tensor in `bucket()`, but an element has none"
        ));
    }
    Ok(parts)
}

/// Returns the paths of components from those of their values; the three values of a sparse tensor are one
/// component.
fn component_paths(of_values: Vec<String>, is_sparse: &[bool]) -> Vec<String> {
    let mut of_values = of_values.into_iter();
    let path = |&sparse: &bool| {
        let path = of_values.next().unwrap_or_default();
        if !sparse {
            return path;
        }
        let _values_and_shape = (of_values.next(), of_values.next());
        match path.strip_suffix("indices").map(|whole| whole.trim_end_matches('.')) {
            Some("") | None => "0".into(),
            Some(whole) => whole.to_owned(),
        }
    };
    is_sparse.iter().map(path).collect()
}

/// Returns whether `which` is one of `n` buckets.
fn in_range<'g>(which: Output<'g>, n: usize) -> Output<'g> {
    let g = which.graph();
    let at_least = which.greater_equal(0);
    let below = which.less(n as i32);
    g.named("in_range").logical_and(at_least, below)
}

fn scalar(argument: &str, value: Output, wanted: DType) -> Result<()> {
    let (dtype, shape) = (value.dtype()?, value.shape());
    ensure!(
        dtype == wanted && shape.is_compatible(&PartialShape::scalar()),
        "`{argument}` must be a scalar {wanted}, but `{}` is {dtype}{shape}",
        value.name()
    );
    Ok(())
}

/// Returns the batch size of bucket `i` as a value, and as a number if it is known.
fn size<'g>(g: &'g Graph, sizes: &BatchSize<'g>, i: usize) -> Result<(Output<'g>, Option<i32>)> {
    let given = match sizes {
        BatchSize::All(size) => *size,
        // No row is shorter than one token.
        BatchSize::MaxTokens(tokens) => i64::try_from(*tokens).unwrap_or(i64::MAX),
        BatchSize::Each(sizes) => sizes[i],
        BatchSize::Given(size) => {
            scalar("batch_size", *size, DType::I32)?;
            let known = g.read(|g| g.known_value(size.port())).and_then(|t| t.to_scalar::<i32>().ok());
            ensure!(
                known.is_none_or(|n| n > 0),
                "`batch_size` must be positive, but is {}",
                known.unwrap_or(0)
            );
            return Ok((*size, known));
        }
    };
    let known = i32::try_from(given).ok().filter(|&size| size > 0);
    let known = known.ok_or_else(|| match sizes {
        BatchSize::Each(_) => invalid!("`batch_size[{i}]` must be a positive int32, but is {given}"),
        _ => invalid!("`batch_size` must be a positive int32, but is {given}"),
    })?;
    Ok((g.constant_tensor("batch_size", Tensor::scalar(known)), Some(known)))
}
