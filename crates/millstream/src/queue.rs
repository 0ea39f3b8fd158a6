//! [`Queue`]: items that some runs enqueue and others dequeue; both wait where they must.
//!
//! Long because every item has an example.

use crate::md5;
use crate::ops::Ops;
use crate::options::{Options, Start};
use crate::sugar::{Functions, seeds};
use millstream_graph::nest::{Converter, Leaf, Structure};
use millstream_graph::{Arg, Attr, Attrs, Graph, IntoNest, Nest, Op, OpBuilder, Output};
use millstream_runtime::{Coordinator, QueueRunner, Session};
use millstream_state::{Batches, QueueKind, QueueSpec};
use millstream_tensor::{Code, DType, PartialShape, Result, Tensor, ensure, invalid};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

/// A builder of a [`Queue`].
///
/// ```
/// use millstream::Queue;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let dtypes = [DType::I32, DType::Str];
/// let q = Queue::shuffle(&g, 100, 10, dtypes).shapes([shape![], shape![]]).seed(7).build()?;
/// assert_eq!(q.dtypes(), [DType::I32, DType::Str]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds the queue"]
pub struct QueueBuilder<'g> {
    options: Options<'g>,
    kind: QueueKind,
    capacity: i64,
    dtypes: Vec<DType>,
    shapes: Option<Vec<PartialShape>>,
    names: Vec<String>,
    shared_name: String,
    min_after_dequeue: i64,
    seed: Option<i64>,
    batches: Batches,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for QueueBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueBuilder")
            .field("capacity", &self.capacity)
            .field("dtypes", &self.dtypes)
            .field("shapes", &self.shapes)
            .finish_non_exhaustive()
    }
}

impl<'g> QueueBuilder<'g> {
    /// Sets the shapes of the components. Batches need them; those of a padding queue may have unknown
    /// dimensions.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::F32]).shapes([shape![2]]).build()?;
    /// let wrong = q.enqueue([g.constant([1.0f32, 2.0, 3.0])]);
    /// assert!(wrong.is_err()); // three elements instead of two
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.shapes = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the names of the components, to enqueue and dequeue them by name.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).names(["label", "value"]).build()?;
    /// let item = q.dequeue()?;
    /// assert_eq!(item.named("value")?.dtype()?, DType::F32);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the name under which sessions with shared resources share the queue.
    ///
    /// ```
    /// use millstream::{Queue, SessionOptions};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).shared_name("numbers").build()?;
    /// let (put, [taken]) = (q.enqueue([g.constant(7)])?, q.dequeue()?.all()?);
    /// let first = Session::new(&g)?;
    /// let resources = Some(first.resources().clone());
    /// let options = SessionOptions { resources, ..SessionOptions::default() };
    /// let second = Session::with_options(&g, options)?;
    /// first.run::<()>(put, feed![])?;
    /// assert_eq!(second.run::<i32>(taken, feed![])?, 7);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.shared_name = name.into();
        self
    }

    /// Sets the seed of a shuffling queue.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// Queue::shuffle(&g, 100, 10, [DType::I32]).seed(7).build()?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets a padding queue's padding values, the least sizes of its components, and the most tokens of a
    /// batch.
    pub(crate) fn batches(
        mut self,
        padding: Vec<Tensor>,
        pad_to: Vec<usize>,
        max_tokens: Option<usize>,
    ) -> Self {
        self.batches = Batches { padding, pad_to, max_tokens };
        self
    }

    /// Adds the queue, or returns an error if the options contradict each other.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(Queue::fifo(&g, 4, [DType::I32]).build().is_ok());
    /// assert!(Queue::padding(&g, 4, [DType::I32]).build().is_err()); // needs shapes
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn build(self) -> Result<Queue<'g>> {
        let g = self.options.graph();
        let mut spec = QueueSpec {
            kind: self.kind,
            capacity: QueueSpec::capacity_of(self.capacity),
            dtypes: self.dtypes,
            shapes: self.shapes,
            min_after_dequeue: usize::try_from(self.min_after_dequeue).map_err(|_| {
                invalid!("`min_after_dequeue` must not be negative, but is {}", self.min_after_dequeue)
            })?,
            seeds: (0, 0),
            batches: self.batches.clone(),
        };
        let of_names = self.names.len();
        ensure!(
            of_names == 0 || of_names == spec.dtypes.len(),
            "a queue of {} components was given {of_names} names",
            spec.dtypes.len()
        );
        // The attributes of the op do not include the priority.
        let (dtypes, shapes) = (spec.dtypes.clone(), spec.shapes.clone().unwrap_or_default());
        let mut names = self.names;
        if spec.kind == QueueKind::Priority {
            spec.dtypes.insert(0, DType::I64);
            spec.shapes = Some(
                std::iter::once(PartialShape::unknown_of_rank(0)).chain(shapes.iter().cloned()).collect(),
            );
            if !names.is_empty() {
                names.insert(0, "priority".into());
            }
        }
        spec.check()?;
        let (op, name) = match spec.kind {
            QueueKind::Fifo => ("FIFOQueueV2", "fifo_queue"),
            QueueKind::PaddingFifo => ("PaddingFIFOQueueV2", "padding_fifo_queue"),
            QueueKind::RandomShuffle => ("RandomShuffleQueueV2", "random_shuffle_queue"),
            QueueKind::Priority => ("PriorityQueueV2", "priority_queue"),
            QueueKind::Barrier => return Err(invalid!("a barrier is no queue: it is made by `Barrier::of`")),
        };
        let mut node = self.options.start_as(op, name);
        if spec.kind == QueueKind::RandomShuffle {
            let (seed, mut seed2) = seeds(g, self.seed);
            if g.seed().is_some() && self.seed.is_none() && !self.shared_name.is_empty() {
                // Graphs that share the queue agree on its seeds, whatever their number of nodes.
                seed2 = i64::from(md5::head(format!("{seed}{}", self.shared_name).as_bytes()) & 0x7fff_ffff);
            }
            node = node
                .attr("seed", seed)
                .attr("seed2", seed2)
                .attr("min_after_dequeue", self.min_after_dequeue);
        }
        let Batches { padding, pad_to, max_tokens } = self.batches;
        if !padding.is_empty() {
            node = node.attr("_padding_values", padding);
        }
        if !pad_to.is_empty() {
            node = node.attr("_pad_to", pad_to);
        }
        if let Some(most) = max_tokens {
            node = node.attr("_max_tokens", most);
        }
        let handle = node
            .at(self.at)
            .attr("component_types", list(dtypes))
            .attr("shapes", list(shapes))
            .attr("capacity", self.capacity)
            .attr("shared_name", self.shared_name)
            .output();
        Ok(Queue { handle, spec, names, op_name: None, op_attrs: Attrs::new() })
    }
}

fn list<T: Into<Attr>>(items: impl IntoIterator<Item = T>) -> Attr {
    Attr::List(items.into_iter().map(Into::into).collect())
}

/// A queue of items, each with one or more components. An enqueue waits while the queue is full, a dequeue
/// while it is empty; a run that is cancelled or exceeds its deadline stops waiting.
///
/// Definition: TensorFlow's `tf.FIFOQueue`, `tf.PaddingFIFOQueue`, `tf.RandomShuffleQueue`,
/// `tf.PriorityQueue`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::Queue;
/// let g = Graph::new();
/// let q = Queue::padding(&g, 10, [DType::I32]).shapes([shape![_]]).build()?;
/// let x = g.placeholder::<i32>("x", shape![_]);
/// let put = q.enqueue([x])?;
/// let [batch] = q.dequeue_many(2)?.all()?;
/// let session = Session::new(&g)?;
/// session.run::<()>(put, feed![x => [1, 2, 3]])?;
/// session.run::<()>(put, feed![x => [4]])?;
/// let batch: Tensor = session.run(batch, feed![])?;
/// assert_eq!(batch.to_string(), "i32[2,3] [[1 2 3] [4 0 0]]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Queue<'g> {
    handle: Output<'g>,
    spec: QueueSpec,
    names: Vec<String>,
    /// The name of new operations, if it does not derive from the queue's.
    op_name: Option<String>,
    /// Further attributes of new operations.
    op_attrs: Attrs,
}

/// The result of a dequeue: an output for each component, by index or by name.
///
/// ```
/// use millstream::Queue;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).build()?;
/// let item = q.dequeue()?;
/// assert_eq!((item[0].dtype()?, item[1].dtype()?), (DType::I32, DType::F32));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Components<'g> {
    outputs: Vec<Output<'g>>,
    names: Vec<String>,
}

impl<'g> Queue<'g> {
    #[track_caller]
    fn builder(
        g: impl Start<'g>,
        kind: QueueKind,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        QueueBuilder {
            options: g.options(),
            kind,
            capacity,
            dtypes: dtypes.into_iter().collect(),
            shapes: None,
            names: Vec::new(),
            shared_name: String::new(),
            min_after_dequeue: 0,
            seed: None,
            batches: Batches::default(),
            at: Location::caller(),
        }
    }

    /// Returns a builder of a queue whose items are dequeued in the order in which they were enqueued. A
    /// negative `capacity` means no bound.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let x = g.placeholder::<i32>("x", shape![]);
    /// let put = q.enqueue([x])?;
    /// let [taken] = q.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![x => 7])?;
    /// assert_eq!(session.run::<i32>(taken, feed![])?, 7);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn fifo(
        g: impl Start<'g>,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        Self::builder(g, QueueKind::Fifo, capacity, dtypes)
    }

    /// As [`Queue::fifo`], with components that vary in size: in a batch they are padded at the end to the
    /// largest, with zeros or empty strings. Needs [`QueueBuilder::shapes`].
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::padding(&g, 4, [DType::I32]).shapes([shape![_]]).build()?;
    /// let (short, long) = (q.enqueue([g.constant([1])])?, q.enqueue([g.constant([2, 3, 4])])?);
    /// let [batch] = q.dequeue_many(2)?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(short, feed![])?;
    /// session.run::<()>(long, feed![])?;
    /// assert_eq!(session.run::<Tensor>(batch, feed![])?.to_string(), "i32[2,3] [[1 0 0] [2 3 4]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn padding(
        g: impl Start<'g>,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        Self::builder(g, QueueKind::PaddingFifo, capacity, dtypes)
    }

    /// Returns a builder of a queue whose items are dequeued in random order. Until the queue is closed,
    /// `min_after_dequeue` items stay in it to choose from.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::shuffle(&g, 10, 0, [DType::I32]).shapes([shape![]]).seed(1).build()?;
    /// let put = q.enqueue_many([g.constant([1, 2, 3])])?;
    /// let [taken] = q.dequeue_many(3)?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// let mut found: Vec<i32> = session.run(taken, feed![])?;
    /// found.sort();
    /// assert_eq!(found, [1, 2, 3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn shuffle(
        g: impl Start<'g>,
        capacity: i64,
        min_after_dequeue: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        QueueBuilder { min_after_dequeue, ..Self::builder(g, QueueKind::RandomShuffle, capacity, dtypes) }
    }

    /// Returns a builder of a queue whose items are dequeued by priority, smallest first. The priority is a
    /// further component, an `int64` scalar before those of `dtypes`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::priority(&g, 10, [DType::I32]).shapes([shape![]]).build()?;
    /// let put = q.enqueue_many([g.constant([5i64, 1]), g.constant([50, 10])])?;
    /// let [_, first] = q.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<i32>(first, feed![])?, 10);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn priority(
        g: impl Start<'g>,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        Self::builder(g, QueueKind::Priority, capacity, dtypes)
    }

    /// Returns the queue that `index`, an `int32` scalar, selects in each run. The queues must have the same
    /// dtypes and names; the result's shapes are those that contain the shapes of all.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let queues = [Queue::fifo(&g, 4, [DType::I32]).build()?, Queue::fifo(&g, 4, [DType::I32]).build()?];
    /// let which = g.placeholder::<i32>("which", shape![]);
    /// let chosen = Queue::from_list(which, &queues)?.enqueue([g.constant(7)])?;
    /// let [taken] = queues[1].dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(chosen, feed![which => 1])?;
    /// assert_eq!(session.run::<i32>(taken, feed![])?, 7);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn from_list(index: impl Into<Arg<'g>>, queues: &[Queue<'g>]) -> Result<Queue<'g>> {
        let Some(first) = queues.first() else { return Err(invalid!("the list of queues is empty")) };
        let mut shapes = first.spec.shapes.clone();
        for (i, queue) in queues.iter().enumerate() {
            ensure!(
                queue.spec.dtypes == first.spec.dtypes && queue.names == first.names,
                "queues to choose from must have the same components: queue 0 has {:?} {:?}, queue {i} has {:?} {:?}",
                first.spec.dtypes,
                first.names,
                queue.spec.dtypes,
                queue.names
            );
            shapes = match (shapes, &queue.spec.shapes) {
                (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| a.join(b)).collect()),
                _ => None,
            };
        }
        // If each of them can make batches, so can the selected one, though the shapes of items differ, as in
        // a padding queue.
        let batches = queues.iter().all(|queue| queue.batches().is_ok());
        let kind = if batches { QueueKind::PaddingFifo } else { first.spec.kind };
        let g = first.graph();
        let handles = g.pack(queues.iter().map(|q| q.handle));
        let handle = g.gather(handles, index, 0);
        Ok(Queue { spec: QueueSpec { kind, shapes, ..first.spec.clone() }, ..first.behind(handle) })
    }

    /// Returns a queue like this one with another handle.
    pub(crate) fn behind(&self, handle: Output<'g>) -> Queue<'g> {
        Queue { handle, ..self.clone() }
    }

    /// Returns the same queue, with an attribute for its new operations.
    pub(crate) fn with(mut self, attr: &'static str, value: impl Into<Attr>) -> Queue<'g> {
        self.op_attrs.set(attr, value);
        self
    }

    /// Returns the handle, a resource.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).build()?;
    /// assert_eq!(q.handle().dtype()?, DType::Resource);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// Returns the graph.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).build()?;
    /// assert!(q.graph().operation(&q.name()).is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// Returns the name of the queue's node.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 2, [DType::I32]).build()?;
    /// assert_eq!((q.name().as_str(), q.dtypes()), ("fifo_queue", &[DType::I32][..]));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn name(&self) -> String {
        self.handle.op().name()
    }

    /// Returns the dtypes of an item's components.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).build()?;
    /// assert_eq!(q.dtypes(), [DType::I32, DType::F32]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dtypes(&self) -> &[DType] {
        &self.spec.dtypes
    }

    /// Returns the shapes of the components, if they are known.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(Queue::fifo(&g, 4, [DType::I32]).build()?.shapes().is_none());
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![_, 3]]).build()?;
    /// assert_eq!(q.shapes().expect("they were given")[0].to_string(), "[?,3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shapes(&self) -> Option<&[PartialShape]> {
        self.spec.shapes.as_deref()
    }

    /// Returns the names of the components; none if they have no names.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).names(["label", "value"]).build()?;
    /// assert_eq!(q.names(), ["label", "value"]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Enqueues one item: any structure with one value per component. The keys of a map are the components'
    /// names.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let x = g.placeholder::<i32>("x", shape![]);
    /// let put = q.enqueue([x])?;
    /// let [taken] = q.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![x => 1])?;
    /// session.run::<()>(put, feed![x => 2])?;
    /// assert_eq!(session.run::<i32>(q.size(), feed![])?, 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn enqueue<N: IntoNest<'g>>(&self, item: N) -> Result<Op<'g>> {
        self.hand_in("QueueEnqueueV2", "enqueue", item, |shape| Some(shape.clone()), Location::caller())
    }

    /// Enqueues an item for each row of the components, one after the other, as room becomes free.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let put = q.enqueue_many([g.constant([1, 2, 3])])?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<i32>(q.size(), feed![])?, 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn enqueue_many<N: IntoNest<'g>>(&self, items: N) -> Result<Op<'g>> {
        self.hand_in("QueueEnqueueManyV2", "EnqueueMany", items, row_of, Location::caller())
    }

    fn hand_in<N: IntoNest<'g>>(
        &self,
        op: &'static str,
        suffix: &str,
        item: N,
        item_shape: impl Fn(&PartialShape) -> Option<PartialShape>,
        at: &'static Location<'static>,
    ) -> Result<Op<'g>> {
        let at = self.graph().line(at);
        let converter = Converter::new(self.graph(), at, &self.spec.dtypes);
        let components = self.components_of(&item.into_nest(&converter)?).map_err(|e| e.at_line(at))?;
        self.check(&components, item_shape).map_err(|e| e.at_line(at))?;
        self.start(op, suffix).at(at).input(self.handle).inputs(components).try_finish()
    }

    /// Returns the values of an item in the order of the components; those of a map by name.
    fn components_of(&self, item: &impl Nest<'g>) -> Result<Vec<Output<'g>>> {
        let values = values_of(item);
        let Structure::Map(parts) = item.structure() else { return Ok(values) };
        if self.names.is_empty() {
            return Err(invalid!(
                "the components of `{}` have no names, so a map cannot be enqueued",
                self.name()
            )
            .with_help("give them names with `.names(..)` when the queue is made"));
        }
        let keys: Vec<&str> = parts.iter().map(|(key, _)| key.as_str()).collect();
        let place = |name: &String| keys.iter().position(|key| key == name);
        let places: Option<Vec<usize>> = self.names.iter().map(place).collect();
        let single = parts.len() == self.names.len() && parts.iter().all(|(_, part)| part.n_values() == 1);
        match places {
            Some(places) if single => Ok(places.iter().map(|&i| values[i]).collect()),
            _ => Err(invalid!("the components of `{}` are {:?}, not {keys:?}", self.name(), self.names)),
        }
    }

    /// Checks that these can be the components of an item, whose shapes `item_shape` derives from theirs.
    fn check(
        &self,
        components: &[Output<'g>],
        item_shape: impl Fn(&PartialShape) -> Option<PartialShape>,
    ) -> Result<()> {
        let (n, wanted) = (components.len(), self.spec.dtypes.len());
        ensure!(n == wanted, "an item of `{}` has {wanted} components, not {n}", self.name());
        for (i, (component, dtype)) in components.iter().zip(&self.spec.dtypes).enumerate() {
            let given = component.dtype()?;
            ensure!(given == *dtype, "component {i} of `{}` is {dtype}, not {given}", self.name());
            let Some(shape) = item_shape(&component.shape()) else {
                return Err(invalid!(
                    "component {i} holds many items of `{}`, so it cannot be a scalar",
                    self.name()
                ));
            };
            if let Some(shapes) = self.shapes() {
                ensure!(
                    shapes[i].is_compatible(&shape),
                    "component {i} of `{}` has shape {}, not {shape}",
                    self.name(),
                    shapes[i]
                );
            }
        }
        Ok(())
    }

    /// Dequeues one item.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let x = g.placeholder::<i32>("x", shape![]);
    /// let put = q.enqueue([x])?;
    /// let [taken] = q.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![x => 7])?;
    /// assert_eq!(session.run::<i32>(taken, feed![])?, 7);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn dequeue(&self) -> Result<Components<'g>> {
        self.take_out("QueueDequeueV2", "Dequeue", None, |_, shape| shape.clone(), Location::caller())
    }

    /// Dequeues `n` items as a batch, whose components have `n` rows. The components' shapes must be known.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let fill = q.enqueue_many([g.constant([1, 2, 3])])?;
    /// let [two] = q.dequeue_many(2)?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(fill, feed![])?;
    /// assert_eq!(session.run::<Vec<i32>>(two, feed![])?, [1, 2]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn dequeue_many(&self, n: impl Into<Arg<'g>>) -> Result<Components<'g>> {
        self.take_out("QueueDequeueManyV2", "DequeueMany", Some(n.into()), stacked, Location::caller())
    }

    /// As [`Queue::dequeue_many`]; once the queue is closed, the rest makes a smaller batch.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let put = q.enqueue_many([g.constant([1, 2, 3])])?;
    /// let [taken] = q.dequeue_up_to(2)?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// session.run::<()>(q.close(), feed![])?;
    /// assert_eq!(session.run::<Vec<i32>>(taken, feed![])?, [1, 2]);
    /// // Two were asked for, and one is left.
    /// assert_eq!(session.run::<Vec<i32>>(taken, feed![])?, [3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn dequeue_up_to(&self, n: impl Into<Arg<'g>>) -> Result<Components<'g>> {
        let of_any_size = |_, shape: &PartialShape| stacked(None, shape);
        self.take_out("QueueDequeueUpToV2", "DequeueUpTo", Some(n.into()), of_any_size, Location::caller())
    }

    fn take_out(
        &self,
        op: &'static str,
        suffix: &str,
        n: Option<Arg<'g>>,
        shape_of: impl Fn(Option<usize>, &PartialShape) -> PartialShape,
        at: &'static Location<'static>,
    ) -> Result<Components<'g>> {
        let at = self.graph().line(at);
        if n.is_some() {
            self.batches().map_err(|e| e.at_line(at))?;
        }
        let node = self.start(op, suffix).at(at).input(self.handle);
        let node = match n {
            Some(n) => node.input(n),
            None => node,
        };
        let op = node.attr("component_types", list(self.spec.dtypes.iter().copied())).try_finish()?;
        let rows = op.inputs().get(1).and_then(|n| {
            let n = self.graph().read(|g| g.known_value(n.port()))?.to_scalar::<i32>().ok()?;
            usize::try_from(n).ok()
        });
        let outputs: Vec<Output<'g>> = op.outputs();
        for (output, shape) in outputs.iter().zip(self.shapes().unwrap_or_default()) {
            output.set_shape(shape_of(rows, shape));
        }
        Ok(Components { outputs, names: self.names.clone() })
    }

    /// Checks that items can be batched.
    fn batches(&self) -> Result<()> {
        let kind = self.spec.kind;
        let but = match self.shapes() {
            None => "they are not known",
            Some(_) if kind == QueueKind::PaddingFifo => return Ok(()),
            Some(shapes) if shapes.iter().all(PartialShape::is_full) => return Ok(()),
            Some(_) => "they are known in part",
        };
        Err(invalid!("{kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes; of `{}` {but}", self.name())
            .with_help("declare them with `.shapes(..)`, or use `Queue::padding` for items of different sizes"))
    }

    /// Closes the queue: nothing can be enqueued any more, and its items can still be dequeued. Waits for
    /// pending enqueues.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let x = g.placeholder::<i32>("x", shape![]);
    /// let put = q.enqueue([x])?;
    /// let [taken] = q.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![x => 7])?;
    /// session.run::<()>(q.close(), feed![])?;
    /// assert_eq!(session.run::<i32>(taken, feed![])?, 7);
    /// // The end of the queue.
    /// assert_eq!(session.run::<i32>(taken, feed![]).unwrap_err().code(), millstream::Code::OutOfRange);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn close(&self) -> Op<'g> {
        self.start("QueueCloseV2", "Close").input(self.handle).finish()
    }

    /// Closes the queue at once: pending enqueues fail with `CANCELLED`.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).build()?;
    /// let (stop, closed) = (q.close_and_cancel(), q.is_closed());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(stop, feed![])?;
    /// assert!(session.run::<bool>(closed, feed![])?);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn close_and_cancel(&self) -> Op<'g> {
        self.start("QueueCloseV2", "Close").input(self.handle).attr("cancel_pending_enqueues", true).finish()
    }

    /// Returns the number of items, an `int32` scalar.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let (fill, size) = (q.enqueue_many([g.constant([1, 2, 3])])?, q.size());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(fill, feed![])?;
    /// assert_eq!(session.run::<i32>(size, feed![])?, 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.start("QueueSizeV2", "Size").input(self.handle).output()
    }

    /// Returns whether the queue is closed, a `bool` scalar.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::Queue;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 1, [DType::I32]).build()?;
    /// let (close, closed) = (q.close(), q.is_closed());
    /// let session = Session::new(&g)?;
    /// assert!(!session.run::<bool>(closed, feed![])?);
    /// session.run::<()>(close, feed![])?;
    /// assert!(session.run::<bool>(closed, feed![])?);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn is_closed(&self) -> Output<'g> {
        self.start("QueueIsClosedV2", "Is_Closed").input(self.handle).output()
    }

    /// Returns a runner that fills the queue by these operations, one thread each.
    /// [`Queues::add_queue_runner`] adds it to the graph.
    ///
    /// ```
    /// use millstream::{Queue, Queues, RunQueues};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let put = q.enqueue([g.constant(7)])?;
    /// g.add_queue_runner(&q.runner([put, put])); // two threads
    /// let [taken] = q.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// let sum = session.with_queue_runners(|_| -> Result<i32> {
    ///     Ok(session.run::<i32>(taken, feed![])? + session.run::<i32>(taken, feed![])?)
    /// })?;
    /// assert_eq!(sum, Some(14));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn runner(&self, enqueue_ops: impl IntoIterator<Item = Op<'g>>) -> QueueRunner {
        let (close, cancel) = (self.close(), self.close_and_cancel());
        self.run_by(enqueue_ops, close, cancel)
    }

    /// As [`Queue::runner`], but when the coordinator stops, the runner runs `cancel` instead of closing the
    /// queue at once.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let (put, close) = (q.enqueue([g.constant(7)])?, q.close());
    /// let runner = q.runner_cancelled_by([put], close); // leaves pending enqueues alone
    /// assert_eq!(runner.cancel_op, close.name());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn runner_cancelled_by(
        &self,
        enqueue_ops: impl IntoIterator<Item = Op<'g>>,
        cancel: Op<'g>,
    ) -> QueueRunner {
        self.run_by(enqueue_ops, self.close(), cancel)
    }

    fn run_by(
        &self,
        enqueue_ops: impl IntoIterator<Item = Op<'g>>,
        close: Op<'g>,
        cancel: Op<'g>,
    ) -> QueueRunner {
        // The result of a branch is named by its value, as in TensorFlow's collections.
        let name = |op: Op<'g>| if op.op_type() == "Merge" { op.output(0).name() } else { op.name() };
        QueueRunner::new(self.name(), enqueue_ops.into_iter().map(name), close.name(), cancel.name())
    }

    /// Returns the same queue, with a name for its new operations.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).build()?;
    /// assert_eq!(q.named("count").size().op().name(), "count");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn named(&self, name: impl Into<String>) -> Queue<'g> {
        Queue { op_name: Some(name.into()), ..self.clone() }
    }

    fn start(&self, op: &'static str, suffix: &str) -> OpBuilder<'g> {
        let node = self.graph().op(op).attrs(self.op_attrs.clone());
        match &self.op_name {
            Some(name) => node.name(name.as_str()),
            None => {
                let name = self.name();
                let last = name.rsplit('/').next().unwrap_or_default();
                node.name(format!("{last}_{suffix}"))
            }
        }
    }
}

/// Returns the values of a structure.
pub(crate) fn values_of<'g>(nest: &impl Nest<'g>) -> Vec<Output<'g>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let output = |leaf| if let Leaf::Output(output) = leaf { Some(output) } else { None };
    leaves.into_iter().filter_map(output).collect()
}

/// Returns the shape of a row.
fn row_of(shape: &PartialShape) -> Option<PartialShape> {
    match shape.dims() {
        None => Some(PartialShape::unknown()),
        Some(dims) => dims.split_first().map(|(_, row)| PartialShape::new(row.iter().copied())),
    }
}

/// Returns the shape of a batch of items.
fn stacked(rows: Option<usize>, item: &PartialShape) -> PartialShape {
    match item.dims() {
        None => PartialShape::unknown(),
        Some(dims) => PartialShape::new(std::iter::once(rows).chain(dims.iter().copied())),
    }
}

impl<'g> Components<'g> {
    /// Returns all components: `let [x, length] = queue.dequeue()?.all()?`.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).build()?;
    /// let [label, value] = q.dequeue()?.all()?;
    /// assert_eq!((label.dtype()?, value.dtype()?), (DType::I32, DType::F32));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn all<const N: usize>(self) -> Result<[Output<'g>; N]> {
        let n = self.outputs.len();
        self.outputs.try_into().map_err(|_| invalid!("the queue has {n} components, not {N}"))
    }

    /// Returns the component named `name`.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).names(["label", "value"]).build()?;
    /// assert_eq!(q.dequeue()?.named("label")?.dtype()?, DType::I32);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn named(&self, name: &str) -> Result<Output<'g>> {
        let at = self.names.iter().position(|n| n == name);
        at.map(|i| self.outputs[i]).ok_or_else(|| match self.names.as_slice() {
            [] => invalid!("the queue's components have no names, so there is no `{name}`")
                .with_help("give them names with `.names(..)` when the queue is made"),
            names => invalid!("the queue has no component `{name}`, but {names:?}"),
        })
    }

    /// Returns the components as a list.
    ///
    /// ```
    /// use millstream::Queue;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32, DType::F32]).build()?;
    /// assert_eq!(q.dequeue()?.to_vec().len(), 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn to_vec(self) -> Vec<Output<'g>> {
        self.outputs
    }
}

impl<'g> std::ops::Index<usize> for Components<'g> {
    type Output = Output<'g>;

    fn index(&self, i: usize) -> &Output<'g> {
        &self.outputs[i]
    }
}

/// Queue runners of a graph.
///
/// ```
/// use millstream::{Queue, Queues};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
/// let put = q.enqueue([g.constant(7)])?;
/// g.add_queue_runner(&q.runner([put]));
/// assert_eq!(g.queue_runners().len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Queues {
    /// Adds a runner, which [`RunQueues::start_queue_runners`] starts.
    ///
    /// ```
    /// use millstream::{Queue, Queues};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build()?;
    /// let put = q.enqueue([g.constant(7)])?;
    /// g.add_queue_runner(&q.runner([put]));
    /// assert_eq!(g.queue_runners()[0].queue, q.name());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn add_queue_runner(&self, runner: &QueueRunner);

    /// Returns all runners, including those of an imported `MetaGraphDef`.
    ///
    /// ```
    /// use millstream::Queues;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(g.queue_runners().is_empty());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn queue_runners(&self) -> Vec<QueueRunner>;
}

impl Queues for Graph {
    fn add_queue_runner(&self, runner: &QueueRunner) {
        runner.add_to(self);
    }

    fn queue_runners(&self) -> Vec<QueueRunner> {
        QueueRunner::of_graph(self)
    }
}

/// Running queue runners in a session.
///
/// ```
/// use millstream::{RunQueues, train};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let [n] = train::range_input_producer(&g, 3).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// let mut seen = Vec::new();
/// session.with_queue_runners(|_| -> Result<()> {
///     loop {
///         seen.push(session.run::<i32>(n, feed![])?); // ends with the input
///     }
/// })?;
/// assert_eq!(seen, [0, 1, 2]);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait RunQueues {
    /// Starts all runners of the graph that do not run in this session yet. They run until the coordinator
    /// stops or their input ends. If a thread cannot be started, none runs.
    ///
    /// ```
    /// use millstream::{Code, Coordinator, RunQueues, train};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let [n] = train::range_input_producer(&g, 3).shuffle(false).build()?.dequeue()?.all()?;
    /// let session = Session::new(&g)?;
    /// // Runners that wait for room end as cancelled when they are asked to stop.
    /// let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    /// session.start_queue_runners(&coordinator)?;
    /// assert_eq!(session.run::<i32>(n, feed![])?, 0);
    /// coordinator.request_stop();
    /// coordinator.join()?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn start_queue_runners(&self, coordinator: &Coordinator) -> Result<()>;

    /// Calls `work` while the runners of the graph run, then stops and joins them, also if `work` panics. The
    /// end of the input is no error: if `work` returns `OUT_OF_RANGE`, the result is `None`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Queue, Queues, RunQueues};
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::F32]).shapes([shape![]]).build()?;
    /// g.add_queue_runner(&q.runner([q.enqueue(g.constant(1f32))?]));
    /// let [batch] = q.dequeue_many(3)?.all()?;
    /// let session = Session::new(&g)?;
    /// let batch: Option<Vec<f32>> = session.with_queue_runners(|_| session.run(batch, feed![]))?;
    /// assert_eq!(batch.map_or(0, |b| b.len()), 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn with_queue_runners<T>(&self, work: impl FnOnce(&Coordinator) -> Result<T>) -> Result<Option<T>>;
}

impl RunQueues for Session {
    fn start_queue_runners(&self, coordinator: &Coordinator) -> Result<()> {
        QueueRunner::start_all(&self.graph().queue_runners(), self, coordinator).map(drop)
    }

    fn with_queue_runners<T>(&self, work: impl FnOnce(&Coordinator) -> Result<T>) -> Result<Option<T>> {
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        let started = self.start_queue_runners(&coordinator);
        let worked = catch_unwind(AssertUnwindSafe(|| started.and_then(|()| work(&coordinator))));
        coordinator.request_stop();
        let joined = coordinator.join();
        match worked.unwrap_or_else(|panic| resume_unwind(panic)) {
            Ok(value) => joined.map(|()| Some(value)),
            // A failed runner closed the queue that the work waited for: the runner's error says more.
            Err(error) if error.code() == Code::OutOfRange => joined.map(|()| None),
            Err(error) => Err(error),
        }
    }
}
