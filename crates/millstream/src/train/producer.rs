//! [`input_producer`] and its relatives: queues filled with the rows of a tensor, strings, or numbers, epoch
//! after epoch.
//!
//! A producer is a queue and a runner that fills it; [`RunQueues`](crate::RunQueues) starts it. The count of
//! epochs is a local variable, which `g.local_variables_initializer()` initializes.

use super::batch::summarize_as;
use crate::ops::Ops;
use crate::options::{Options, Start};
use crate::queue::{Queue, Queues, values_of};
use crate::sugar::{Functions, Methods, seeds};
use crate::value::Value;
use crate::variable::{LOCAL_VARIABLES, Listing, by_ref};
use millstream_graph::nest::{Converter, Structure, Values};
use millstream_graph::{Arg, Graph, IntoNest, Nest, Op, Output};
use millstream_tensor::{DType, PartialShape, Result, Tensor, ensure, invalid};
use std::panic::Location;

/// Returns `tensor` for `num_epochs` runs; later runs that need it end with `OUT_OF_RANGE`. With `None` it is
/// `tensor` itself.
///
/// The count is a local variable: run `g.local_variables_initializer()` first. Definition: TensorFlow's
/// `tf.train.limit_epochs`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{Code, train};
/// let g = Graph::new();
/// let x = train::limit_epochs(&g, g.constant(7), 2)?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// assert_eq!([session.run::<i32>(x, feed![])?, session.run(x, feed![])?], [7, 7]);
/// assert_eq!(session.run::<i32>(x, feed![]).unwrap_err().code(), Code::OutOfRange);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn limit_epochs<'g>(
    g: impl Start<'g>,
    tensor: Output<'g>,
    num_epochs: impl Into<Option<i64>>,
) -> Result<Output<'g>> {
    let (options, at) = (g.options(), Location::caller());
    let g = options.graph();
    g.check()?;
    let limited = limited(g, &options.name_or("limit_epochs"), tensor, num_epochs.into(), at);
    let limited = limited.map_err(|e| e.at_line(at))?;
    g.check()?;
    Ok(limited)
}

fn limited<'g>(
    g: &'g Graph,
    name: &str,
    tensor: Output<'g>,
    num_epochs: Option<i64>,
    at: &'static Location<'static>,
) -> Result<Output<'g>> {
    let Some(limit) = num_epochs else { return Ok(tensor) };
    ensure!(limit > 0, "num_epochs must be > 0 not {limit}.");
    Ok(g.name_scope(name, || {
        let zero = Value::from(0i64).place(g, "Const", at);
        let listing = Listing { trainable: false, collections: vec![LOCAL_VARIABLES.into()] };
        let epochs = by_ref(g, "epochs", listing, at, |_| zero);
        let counter = g.at(at).state().count_up_to(epochs.handle(), limit).op();
        g.control_dependencies([counter], || g.named(g.scope()).at(at).identity(tensor))
    }))
}

/// A builder of a producer, from [`input_producer`], [`string_input_producer`] and [`range_input_producer`].
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let words = train::string_input_producer(&g, ["a", "b"]).num_epochs(2).shuffle(false).build()?;
/// let [word] = words.dequeue()?.all()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let mut seen = Vec::new();
/// session.with_queue_runners(|_| -> Result<()> {
///     loop {
///         seen.push(session.run::<String>(word, feed![])?);
///     }
/// })?;
/// assert_eq!(seen, ["a", "b", "a", "b"]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds the producer"]
pub struct InputProducer<'g> {
    options: Options<'g>,
    source: Source<'g>,
    element_shape: Option<PartialShape>,
    num_epochs: Option<i64>,
    shuffle: bool,
    seed: Option<i64>,
    capacity: i64,
    shared_name: String,
    cancel_op: Option<Op<'g>>,
    summary_name: Option<String>,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for InputProducer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputProducer")
            .field("options", &self.options)
            .field("capacity", &self.capacity)
            .field("num_epochs", &self.num_epochs)
            .field("shuffle", &self.shuffle)
            .finish_non_exhaustive()
    }
}

/// The rows that are produced.
enum Source<'g> {
    Rows(Value<'g>),
    Strings(Value<'g>),
    UpTo(Arg<'g>),
}

/// Describes a queue of the rows of `tensor`, and its runner. By default it repeats all rows endlessly in
/// random order. A dequeue returns one row.
///
/// Definition: TensorFlow's `tf.train.input_producer`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let rows = train::input_producer(&g, [[1, 2], [3, 4]]).num_epochs(1).shuffle(false).build()?;
/// let [row] = rows.dequeue()?.all()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let mut seen: Vec<Vec<i32>> = Vec::new();
/// // The end of the input is no error: it ends the loop.
/// session.with_queue_runners(|_| -> Result<()> {
///     loop {
///         seen.push(session.run(row, feed![])?);
///     }
/// })?;
/// assert_eq!(seen, [[1, 2], [3, 4]]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn input_producer<'g>(g: impl Start<'g>, tensor: impl Into<Value<'g>>) -> InputProducer<'g> {
    InputProducer::new(g.options(), Source::Rows(tensor.into()))
}

/// Describes a queue of strings, such as file names, and its runner. By default it repeats all strings
/// endlessly in random order. An empty vector is an error: at once if that is known, otherwise in the run
/// that fills the queue.
///
/// Definition: TensorFlow's `tf.train.string_input_producer`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let files = train::string_input_producer(&g, ["a.txt", "b.txt"]).num_epochs(1).shuffle(false).build()?;
/// let [file] = files.dequeue()?.all()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let file: Option<String> = session.with_queue_runners(|_| session.run(file, feed![]))?;
/// assert_eq!(file.as_deref(), Some("a.txt"));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn string_input_producer<'g>(g: impl Start<'g>, strings: impl Into<Value<'g>>) -> InputProducer<'g> {
    InputProducer::new(g.options(), Source::Strings(strings.into()))
}

/// Describes a queue of the integers `0 <= i < limit`, and its runner. By default it repeats all of them
/// endlessly in random order.
///
/// Definition: TensorFlow's `tf.train.range_input_producer`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let numbers = train::range_input_producer(&g, 5).num_epochs(1).shuffle(false).build()?;
/// let [rest] = numbers.dequeue_up_to(100)?.all()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let rest: Option<Vec<i32>> = session.with_queue_runners(|_| session.run(rest, feed![]))?;
/// assert_eq!(rest, Some(vec![0, 1, 2, 3, 4]));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn range_input_producer<'g>(g: impl Start<'g>, limit: impl Into<Arg<'g>>) -> InputProducer<'g> {
    InputProducer::new(g.options(), Source::UpTo(limit.into()))
}

impl<'g> InputProducer<'g> {
    #[track_caller]
    fn new(options: Options<'g>, source: Source<'g>) -> InputProducer<'g> {
        InputProducer {
            options,
            source,
            element_shape: None,
            num_epochs: None,
            shuffle: true,
            seed: None,
            capacity: 32,
            shared_name: String::new(),
            cancel_op: None,
            summary_name: None,
            at: Location::caller(),
        }
    }

    /// Sets the shape of a row, for a tensor of unknown shape.
    pub fn element_shape(mut self, shape: impl Into<PartialShape>) -> Self {
        self.element_shape = Some(shape.into());
        self
    }

    /// Sets how often each row is produced, before the queue is closed; endlessly by default.
    ///
    /// ```
    /// use millstream::{RunQueues, train};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 2).num_epochs(2).shuffle(false).build()?.dequeue()?.all()?;
    /// let init = g.local_variables_initializer(); // the counter of epochs is one
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// let mut seen = Vec::new();
    /// session.with_queue_runners(|_| -> Result<()> {
    ///     loop {
    ///         seen.push(session.run::<i32>(n, feed![])?);
    ///     }
    /// })?;
    /// assert_eq!(seen, [0, 1, 0, 1]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn num_epochs(mut self, n: impl Into<Option<i64>>) -> Self {
        self.num_epochs = n.into();
        self
    }

    /// Sets whether the rows are in random order, a new one in each epoch; true by default.
    pub fn shuffle(mut self, yes: bool) -> Self {
        self.shuffle = yes;
        self
    }

    /// Sets the seed of the random order.
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the capacity of the queue in rows; 32 by default.
    pub fn capacity(mut self, capacity: i64) -> Self {
        self.capacity = capacity;
        self
    }

    /// Sets the name under which sessions with shared resources share the queue.
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.shared_name = name.into();
        self
    }

    /// Sets the name of a summary of how full the queue is. By default rows have none; strings and numbers
    /// always have one.
    pub fn summary_name(mut self, name: impl Into<String>) -> Self {
        self.summary_name = Some(name.into());
        self
    }

    /// Sets the operation that the runner runs when its coordinator stops, instead of closing the queue at
    /// once.
    pub fn cancel_op(mut self, op: Op<'g>) -> Self {
        self.cancel_op = Some(op);
        self
    }

    /// Adds the queue and its runner.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let words = train::string_input_producer(&g, ["a", "b"]).capacity(8).build()?;
    /// assert_eq!(words.dtypes(), [DType::Str]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn build(self) -> Result<Queue<'g>> {
        let (g, at) = (self.options.graph(), self.at);
        g.check()?;
        let name = self.options.name_or("input_producer");
        let made = g.built_at(at, || g.name_scope(&name, || self.produce(g)));
        // The error of a node says more than that of the result.
        g.check()?;
        made.map_err(|e| e.at_line(at))
    }

    fn produce(self, g: &'g Graph) -> Result<Queue<'g>> {
        let (at, scope) = (self.at, g.scope());
        ensure!(self.capacity != 0, "capacity is 0: nothing would ever go in");
        let summary_name = match self.source {
            Source::Rows(_) => self.summary_name,
            _ => Some(self.summary_name.unwrap_or_else(|| format!("fraction_of_{}_full", self.capacity))),
        };
        // The queue of rows has its own name within the scope; the others are named after the scope.
        let (rows, queue_name, element_shape) = match self.source {
            Source::Rows(rows) => {
                let name = self.options.name_or("FIFOQueueV2");
                (rows.try_place(g, "input_tensor", at)?, name, self.element_shape)
            }
            Source::Strings(strings) => {
                (some_strings(strings.try_place(g, "Const", at)?, at)?, scope, Some(PartialShape::scalar()))
            }
            Source::UpTo(limit) => (
                numbers(g.op("Range").name("range").at(at).input(0).input(limit).input(1).try_finish()?)?,
                scope,
                Some(PartialShape::scalar()),
            ),
        };
        let shape = rows.shape();
        let row = match shape.dims() {
            None => PartialShape::unknown(),
            Some(dims) => {
                let (_, row) = dims.split_first().ok_or_else(|| {
                    invalid!("`{}` is a scalar: it has no rows to produce", rows.op().name())
                })?;
                PartialShape::new(row.iter().copied())
            }
        };
        let wanted = element_shape.unwrap_or_default();
        let row = row
            .merge(&wanted)
            .ok_or_else(|| invalid!("the rows of `{}` have shape {row}, not {wanted}", rows.op().name()))?;
        ensure!(
            row.is_full(),
            "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified; a row has shape {row}"
        );
        let shuffled = match self.shuffle {
            false => rows,
            true => {
                let (seed, seed2) = seeds(g, self.seed);
                g.at(at).with("seed", seed).with("seed2", seed2).random().random_shuffle(rows)
            }
        };
        let limited = limited(g, "limit_epochs", shuffled, self.num_epochs, at)?;
        let queue = Queue::fifo(g.named(queue_name), self.capacity, [limited.dtype()?]);
        let queue = queue.shapes([row]).shared_name(self.shared_name).build()?;
        let fill = queue.enqueue_many([limited])?;
        g.add_queue_runner(&match self.cancel_op {
            None => queue.runner([fill]),
            Some(cancel) => queue.runner_cancelled_by([fill], cancel),
        });
        if let Some(name) = summary_name {
            summarize_as(&queue, &name, queue.size(), self.capacity);
        }
        Ok(queue)
    }
}

/// Returns the numbers of a range, after a check of its limit, input 1.
fn numbers(range: Op<'_>) -> Result<Output<'_>> {
    let limit = range.inputs()[1];
    let (dtype, shape) = (limit.dtype()?, limit.shape());
    ensure!(
        matches!(dtype, DType::I32 | DType::I64) && shape.is_compatible(&PartialShape::scalar()),
        "`limit` is a scalar of integers, not {dtype}{shape}"
    );
    Ok(range.output(0))
}

const NO_STRINGS: &str = "string_input_producer requires a non-null input tensor";

/// Returns the strings; there must be at least one when the graph runs.
fn some_strings<'g>(strings: Output<'g>, at: &'static Location<'static>) -> Result<Output<'g>> {
    let (g, dtype) = (strings.graph(), strings.dtype()?);
    ensure!(
        dtype == DType::Str,
        "string_input_producer produces strings; `{}` is {dtype}",
        strings.op().name()
    );
    let size = match strings.shape().elements() {
        Some(0) => return Err(invalid!("{NO_STRINGS}")),
        // In TensorFlow a known size is a constant.
        Some(n) => {
            let n = i32::try_from(n).map_err(|_| invalid!("{n} strings are too many"))?;
            Value::Literal(Ok(Tensor::scalar(n))).place(g, "Size", at)
        }
        None => g.at(at).size(strings),
    };
    let some = g.at(at).greater(size, 0);
    let check = g.name_scope("Assert", || {
        // TensorFlow adds an unused constant of the text here; it keeps the graphs identical.
        g.constant(NO_STRINGS);
        g.at(at).debug().assert(some, [NO_STRINGS])
    });
    Ok(g.control_dependencies([check], || g.at(at).identity(strings)))
}

/// A builder of a producer of slices, from [`slice_input_producer`].
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let (xs, ys) = (g.constant([1, 2, 3]), g.constant([10, 20, 30]));
/// let (x, y) = train::slice_input_producer(&g, (xs, ys)).shuffle(false).run()?;
/// let session = Session::new(&g)?;
/// let first = session.with_queue_runners(|_| session.run::<(i32, i32)>((x, y), feed![]))?;
/// assert_eq!(first, Some((1, 10)));
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`run` adds the producer"]
pub struct SliceInputProducer<'g, N> {
    tensors: N,
    /// The producer of the indices. Its name is the scope's; its source is set once the tensors are known.
    producer: InputProducer<'g>,
}

impl<N> std::fmt::Debug for SliceInputProducer<'_, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SliceInputProducer").field("producer", &self.producer).finish_non_exhaustive()
    }
}

/// Describes slices of `tensors`: in each run another row, the same one of each, in the structure of
/// `tensors`, which have the same number of rows. By default all rows repeat endlessly in random order.
///
/// Definition: TensorFlow's `tf.train.slice_input_producer`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::{RunQueues, train};
/// let g = Graph::new();
/// let (images, labels) = (g.constant([[0.5f32, 1.5], [2.5, 3.5]]), g.constant([7, 8]));
/// let (image, label) = train::slice_input_producer(&g, (images, labels)).num_epochs(1).shuffle(false).run()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let row: Option<(Vec<f32>, i32)> = session.with_queue_runners(|_| session.run((image, label), feed![]))?;
/// assert_eq!(row, Some((vec![0.5, 1.5], 7)));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn slice_input_producer<'g, N: IntoNest<'g>>(g: impl Start<'g>, tensors: N) -> SliceInputProducer<'g, N> {
    SliceInputProducer { tensors, producer: InputProducer::new(g.options(), Source::UpTo(0.into())) }
}

impl<'g, N: IntoNest<'g>> SliceInputProducer<'g, N> {
    /// Sets how often each row is produced, before runs end with `OUT_OF_RANGE`; endlessly by default.
    pub fn num_epochs(mut self, n: impl Into<Option<i64>>) -> Self {
        self.producer = self.producer.num_epochs(n);
        self
    }

    /// Sets whether the rows are in random order, a new one in each epoch; true by default.
    pub fn shuffle(mut self, yes: bool) -> Self {
        self.producer = self.producer.shuffle(yes);
        self
    }

    /// Sets the seed of the random order.
    pub fn seed(mut self, seed: i64) -> Self {
        self.producer = self.producer.seed(seed);
        self
    }

    /// Sets the capacity of the queue of row indices; 32 by default.
    pub fn capacity(mut self, capacity: i64) -> Self {
        self.producer = self.producer.capacity(capacity);
        self
    }

    /// Sets the name under which sessions with shared resources share the queue.
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.producer = self.producer.shared_name(name);
        self
    }

    /// Adds the slices, and the runner of their queue.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train;
    /// let g = Graph::new();
    /// let (x, y) = train::slice_input_producer(&g, (g.zeros::<f32>([9, 3]), g.zeros::<i32>([9]))).run()?;
    /// assert_eq!((x.shape().to_string(), y.shape().to_string()), ("[3]".into(), "[]".into()));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn run(self) -> Result<N::Nest> {
        let (g, at) = (self.producer.options.graph(), self.producer.at);
        g.check()?;
        let name = self.producer.options.name_or("input_producer");
        let made = g.built_at(at, || g.name_scope(&name, || self.produce(g)));
        // The error of a node says more than that of the result.
        g.check()?;
        made.map_err(|e| e.at_line(at))
    }

    fn produce(self, g: &'g Graph) -> Result<N::Nest> {
        let at = self.producer.at;
        let nest = self.tensors.into_nest(&Converter::new(g, at, &[]))?;
        let tensors = values_of(&nest);
        let structure = nest.structure();
        ensure!(dense(&structure), "slice_input_producer takes tensors, not {structure}");
        let first = tensors
            .first()
            .ok_or_else(|| invalid!("Expected at least one tensor in slice_input_producer()."))?;
        let shape = first.shape();
        let dims = match shape.full() {
            Some(shape) => {
                let dims: Result<Vec<i32>> = shape
                    .dims()
                    .iter()
                    .map(|&d| i32::try_from(d).map_err(|_| invalid!("{d} rows are too many")))
                    .collect();
                Value::from(dims?).place(g, "Shape", at)
            }
            None => g.at(at).array().shape(first),
        };
        let limit = dims.index(0);
        let options = g.options();
        let indices =
            InputProducer { options, source: Source::UpTo(limit.into()), ..self.producer }.build()?;
        let [index] = indices.dequeue()?.all()?;
        let slices = tensors.iter().map(|&t| g.gather(t, index, 0)).collect();
        nest.rebuild(&mut Values::new(slices))
    }
}

/// Returns whether a structure consists of tensors only.
fn dense(structure: &Structure) -> bool {
    match structure {
        Structure::Value => true,
        Structure::Operation | Structure::Slices { .. } | Structure::Sparse | Structure::Array => false,
        _ => structure.parts().iter().all(|(_, part)| dense(part)),
    }
}
