//! [`bucket()`]: elements gathered by the bucket they belong to, in batches.
//!
//! ```text
//!   which_bucket ─► which_queue ─┐        ┌─► bucket_queue_0 ─► read_bucket_0 ─┐
//!   element ─────────────────► enqueue ───┼─► bucket_queue_1 ─► read_bucket_1 ─┼─► top_queue ─► dequeue_top
//!                                         └─► ..                               ┘
//! ```
//!
//! Names and runners are TensorFlow 1.15's, whose node for each bucket that asks `which_bucket == i` costs more than all else; here the
//! queue is chosen first, as [`Queue::from_list`] does. What TensorFlow has no word for stands in attributes that begin with `_`,
//! which it ignores: the graph runs there as well.

use super::Statistics;
use super::settings::{BatchSize, Settings, Which};
use crate::options::{Options, Start};
use crate::queue::{Queue, Queues, values_of};
use crate::sugar::{Functions, Methods};
use crate::summary;
use crate::train::sparse::{Keep, Map, Part, parts, restore, store};
use millstream_graph::nest::{Converter, Structure, Values};
use millstream_graph::{Arg, Attr, Graph, IntoNest, Nest, Op, Output};
use millstream_runtime::{QueueRunner, Session};
use millstream_tensor::{Code, DType, IntoTensor, PartialShape, Result, Tensor, ensure, invalid};
use std::panic::Location;

/// What the nodes of [`super::bucket_by_sequence_length`] are called by.
const BY_LENGTH: &str = "bucket_by_sequence_length";

/// A bucketing being described.
#[must_use = "it is made by `make`"]
pub struct BucketBuilder<'g, T> {
    pub(super) options: Options<'g>,
    pub(super) tensors: T,
    pub(super) settings: Settings<'g>,
}

/// What is bucketed: batches, taken from the queue of batches by each run that uses them.
#[derive(Clone, Debug)]
pub struct Bucketed<'g, N> {
    /// The bucket that the batch comes from: an `int32` scalar.
    pub bucket: Output<'g>,
    /// The batch, in the structure of the tensors.
    pub outputs: N,
    pub(super) queues: Vec<Queue<'g>>,
    pub(super) top: Queue<'g>,
    pub(super) batch_sizes: Vec<Option<usize>>,
}

/// Gathers elements by the bucket that `which_bucket` (an `int32` scalar, at least 0 and less than `num_buckets`) says, in batches of
/// `batch_size`: options, then [`BucketBuilder::make`].
///
/// `tensors` is one element: any structure of values and [`SparseTensor`](crate::SparseTensor)s, which make one of one axis more. The result has the same structure, of batches; each run that uses it takes the next
/// one, of whichever bucket was full first. Elements are enqueued by queue runners, which [`start_queue_runners`] starts; when their input
/// ends so do the batches, with `OUT_OF_RANGE`.
///
/// Definition: TensorFlow's `tf.contrib.training.bucket`. Other than there a `which_bucket` that is no bucket is an error, unless
/// [dropping](BucketBuilder::drop_out_of_range) was asked for, and nothing is lost that [`Bucketed::statistics`] does not count.
///
/// [`start_queue_runners`]: crate::RunQueues::start_queue_runners
///
/// ```
/// use millstream::contrib::training::bucket;
/// use millstream::prelude::*;
///
/// let g = Graph::new();
/// // The numbers 0 to 9, once.
/// let numbers = Queue::fifo(&g, 10, [DType::I32]).shapes([shape![]]).make()?;
/// let fill = numbers.enqueue_many(g.constant([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))?;
/// let end = numbers.close();
/// let [x] = numbers.dequeue()?.all()?;
///
/// // Even ones and odd ones in batches of four; the last may be smaller.
/// let parity = bucket(&g, x, x % 2, 4, 2).allow_smaller_final_batch(true).make()?;
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
    /// How many threads enqueue elements; 1 by default. With more, the order of the elements is not fixed.
    pub fn num_threads(mut self, n: usize) -> Self {
        self.settings.num_threads = n;
        self
    }

    /// How many batches the queue of batches holds, and how many elements each bucket where
    /// [`BucketBuilder::bucket_capacities`] does not say; 32 by default.
    pub fn capacity(mut self, n: usize) -> Self {
        self.settings.capacity = n;
        self
    }

    /// How many elements each bucket holds.
    pub fn bucket_capacities(mut self, capacities: impl IntoIterator<Item = usize>) -> Self {
        self.settings.bucket_capacities = Some(capacities.into_iter().collect());
        self
    }

    /// The shapes of an element's components, where they are not known of the tensors.
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.settings.shapes = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Whether components may vary in size, as far as their rank is known: in a batch each is padded at the end to the largest, with zeros
    /// or empty strings.
    pub fn dynamic_pad(mut self, yes: bool) -> Self {
        self.settings.dynamic_pad = yes;
        self
    }

    /// Whether what is left in a bucket when the input ends makes a smaller batch; otherwise it is discarded, and counted.
    pub fn allow_smaller_final_batch(mut self, yes: bool) -> Self {
        self.settings.allow_smaller_final_batch = yes;
        self
    }

    /// Whether an element is let in, as this `bool` scalar says each time; those that are not are counted.
    pub fn keep_input(mut self, keep: Output<'g>) -> Self {
        self.settings.keep_input = Some(keep);
        self
    }

    /// Whether elements whose `which_bucket` is no bucket are dropped, and counted. Otherwise one is an error, which stops the runner.
    pub fn drop_out_of_range(mut self, yes: bool) -> Self {
        self.settings.drop_out_of_range = yes;
        self
    }

    /// What a component is padded with, instead of zeros or empty strings. The component is named by its place in the structure of the tensors:
    /// its key or field, its number in a list; `0` where there is only one.
    pub fn padding_value(mut self, component: &str, value: impl IntoTensor) -> Self {
        self.settings.padding_values.push((component.to_owned(), value.into_tensor()));
        self
    }

    /// How large the dimensions of a component that vary are at least, in each bucket: batches of a bucket then have the same shape, as long
    /// as no element is larger.
    pub fn pad_to(mut self, component: &str, sizes: impl IntoIterator<Item = usize>) -> Self {
        self.settings.pad_to.push((component.to_owned(), sizes.into_iter().collect()));
        self
    }

    /// As [`BucketBuilder::pad_to`], with the largest length that belongs to each bucket of [`bucket_by_sequence_length`]. The last bucket has
    /// none: there the longest of a batch says.
    ///
    /// [`bucket_by_sequence_length`]: super::bucket_by_sequence_length
    pub fn pad_to_boundary(mut self, component: &str) -> Self {
        self.settings.pad_to_boundary.push(component.to_owned());
        self
    }

    /// The name under which sessions that share resources share the queues: that of the batches has it as it is, bucket `i`'s is
    /// `<name>_<i>`.
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.settings.shared_name = name.into();
        self
    }
}

impl<'g, T: IntoNest<'g>> BucketBuilder<'g, T> {
    /// Makes the queues, adds their runners to the graph's, and gives the batches.
    #[track_caller]
    pub fn make(self) -> Result<Bucketed<'g, T::Nest>> {
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

/// The bucket of a length: how many of the boundaries it has reached.
fn of_length<'g>(length: Output<'g>, boundaries: &[i64]) -> Result<Output<'g>> {
    scalar("input_length", length, DType::I32)?;
    // The boundaries of this op are floats, which hold whole numbers up to 2^24.
    let exact: Option<Vec<Attr>> =
        boundaries.iter().map(|&b| (b.unsigned_abs() <= 1 << 24).then_some(Attr::Float(b as f32))).collect();
    if let Some(exact) = exact {
        let node = length.graph().op("Bucketize").input(length).attr("boundaries", Attr::List(exact));
        return Ok(node.try_finish()?.output(0));
    }
    let boundaries = boundaries
        .iter()
        .map(|&b| i32::try_from(b).map_err(|_| invalid!("the boundary {b} is no length: lengths are int32")));
    let reached = length
        .graph()
        .op("GreaterEqual")
        .input(length)
        .input(boundaries.collect::<Result<Vec<i32>>>()?)
        .try_finish()?;
    Ok(reached.output(0).cast::<i32>().reduce_sum(0))
}

/// What is being made.
struct Buckets<'g, 's> {
    g: &'g Graph,
    settings: &'s Settings<'g>,
    which: Output<'g>,
    /// The components of an element, as queues hold them.
    values: Vec<Output<'g>>,
    /// Where those that are sparse are kept meanwhile.
    maps: Vec<Option<Map<'g>>>,
    /// How many rows a batch of each bucket has: as a value, and the number if it is known.
    sizes: Vec<(Output<'g>, Option<i32>)>,
    queues: Vec<Queue<'g>>,
    top: Queue<'g>,
    /// The batches' outputs, once they are made.
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
            // What is put into a map is to come out of it.
            keep = g.op("LogicalAnd").name("keeps").input(keep).input(in_range(which, n)).output();
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
            queue.batches(padding.values.clone(), padding.to_in(i), settings.max_tokens()).make()
        };
        let queues = (0..n).map(queue).collect::<Result<Vec<_>>>()?;

        // All buckets' batches pass through one queue: what they do not have in common is not known.
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
            .make()?;
        Ok(Buckets { g, settings, which, values, maps, sizes, queues, top, outputs: Vec::new() })
    }

    /// Hands an element in, if it is to be.
    fn enqueue(&self) -> Result<Op<'g>> {
        let handles = self.g.op("Pack").name("queues").inputs(self.queues.iter().map(Queue::handle)).output();
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
        let queue = self.g.op("GatherV2").name("which_queue").at(self.settings.at).attr("_help", help);
        let queue = queue.input(handles).input(self.which).input(0).output();
        let put = self.queues[0].behind(queue).named("enqueue").enqueue(self.values.clone())?;
        Ok(self.g.named("group_enqueues").group([put]))
    }

    /// Counts an element that is not handed in. In TensorFlow it does nothing.
    fn count(&self, what: &str) -> Result<Op<'g>> {
        let counted = self.top.clone().named(what).with("_counts", what).size();
        Ok(counted.op())
    }

    /// A batch of bucket `i`, on its way to the queue of batches.
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

    /// Makes what moves elements and batches, and the runners that do.
    fn connect(mut self) -> Result<Self> {
        let g = self.g;
        let enqueue = self.enqueue()?;
        // TensorFlow names what a cond gives by its output.
        let enqueue = if enqueue.op_type() == "Merge" { enqueue.output(0).name() } else { enqueue.name() };
        let pass_on = (0..self.queues.len()).map(|i| Ok(self.pass_on(i)?.name()));
        let pass_on = pass_on.collect::<Result<Vec<String>>>()?;
        // A bucket's thread ends with its queue's input or with the stop of all; so does what feeds them.
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
    /// What became of every element that came, in this session.
    pub fn statistics(&self, session: &Session) -> Result<Statistics> {
        Statistics::of(session, &self.queues, &self.top, &self.batch_sizes)
    }

    /// The queue of each bucket.
    pub fn bucket_queues(&self) -> &[Queue<'g>] {
        &self.queues
    }

    /// The queue of batches.
    pub fn top_queue(&self) -> &Queue<'g> {
        &self.top
    }
}

/// The values of an element, and their dtypes.
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

/// What the components are called, of what their values are: a sparse tensor has three, and is one component.
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

/// Whether this is one of `n` buckets.
fn in_range<'g>(which: Output<'g>, n: usize) -> Output<'g> {
    let g = which.graph();
    let at_least = g.op("GreaterEqual").input(which).input(0).output();
    let below = g.op("Less").input(which).input(n as i32).output();
    g.op("LogicalAnd").name("in_range").inputs([at_least, below]).output()
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

/// The batch size of bucket `i`, and the number if it is known.
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
