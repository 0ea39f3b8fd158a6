//! [`Queue`]: items that some runs hand in and others take out, which wait for each other where they must.

use crate::md5;
use crate::options::{Options, Start};
use crate::sugar::seeds;
use millstream_graph::nest::{Converter, Leaf, Structure};
use millstream_graph::{Arg, Attr, Attrs, Graph, IntoNest, Nest, Op, OpBuilder, Output};
use millstream_runtime::{Coordinator, QueueRunner, Session};
use millstream_state::{Batches, QueueKind, QueueSpec};
use millstream_tensor::{Code, DType, PartialShape, Result, Tensor, ensure, invalid};
use std::panic::Location;

/// A queue being described.
#[must_use = "the queue is made by `make`"]
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

impl<'g> QueueBuilder<'g> {
    /// The shapes of the components. Batches need them; a padding queue's may have unknown dimensions.
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.shapes = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Names for the components, to hand them in and take them out by.
    pub fn names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// The name under which sessions that share resources share the queue.
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.shared_name = name.into();
        self
    }

    /// The seed of a shuffling queue.
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// What a padding queue's components are padded with, how large they are at least, and how many tokens a batch has at most.
    pub(crate) fn batches(
        mut self,
        padding: Vec<Tensor>,
        pad_to: Vec<usize>,
        max_tokens: Option<usize>,
    ) -> Self {
        self.batches = Batches { padding, pad_to, max_tokens };
        self
    }

    /// Makes the queue. An error where no queue can be like this.
    #[track_caller]
    pub fn make(self) -> Result<Queue<'g>> {
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
        // What the op says of itself leaves the priority out.
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
        };
        let mut node = self.options.start_as(op, name);
        if spec.kind == QueueKind::RandomShuffle {
            let (seed, mut seed2) = seeds(g, self.seed);
            if g.seed().is_some() && self.seed.is_none() && !self.shared_name.is_empty() {
                // Graphs that share the queue agree on its seeds, however many nodes they have.
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

/// A queue: items, each of some components, that runs hand in and others take out. Whoever hands in waits while it is full, whoever takes
/// out while it is empty; a run that is called off, or takes too long, stops waiting.
///
/// Definition: TensorFlow's `tf.FIFOQueue`, `tf.PaddingFIFOQueue`, `tf.RandomShuffleQueue`, `tf.PriorityQueue`.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let q = Queue::padding(&g, 10, [DType::I32]).shapes([shape![_]]).make()?;
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
    /// The name for operations, where they are not called by the queue's.
    op_name: Option<String>,
    /// Attributes that they get beside their own.
    op_attrs: Attrs,
}

/// What is taken out of a queue: an output for each component, by place or by name.
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

    /// Items come out in the order in which they went in. A negative `capacity` is no bound.
    #[track_caller]
    pub fn fifo(
        g: impl Start<'g>,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        Self::builder(g, QueueKind::Fifo, capacity, dtypes)
    }

    /// As [`Queue::fifo`], with components that vary in size: a batch is padded at the end to its largest, with zeros or empty strings. Needs
    /// [`QueueBuilder::shapes`].
    #[track_caller]
    pub fn padding(
        g: impl Start<'g>,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        Self::builder(g, QueueKind::PaddingFifo, capacity, dtypes)
    }

    /// Items come out in random order; until the queue is closed `min_after_dequeue` of them stay in, to choose from.
    #[track_caller]
    pub fn shuffle(
        g: impl Start<'g>,
        capacity: i64,
        min_after_dequeue: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        QueueBuilder { min_after_dequeue, ..Self::builder(g, QueueKind::RandomShuffle, capacity, dtypes) }
    }

    /// Items come out by priority, another component (`int64`, a scalar) before those of `dtypes`: the smallest first.
    #[track_caller]
    pub fn priority(
        g: impl Start<'g>,
        capacity: i64,
        dtypes: impl IntoIterator<Item = DType>,
    ) -> QueueBuilder<'g> {
        Self::builder(g, QueueKind::Priority, capacity, dtypes)
    }

    /// The queue among these that `index`, an `int32` scalar, chooses in each run. They must have the same dtypes and names; of their shapes
    /// it keeps what is true of all.
    #[track_caller]
    pub fn from_list(index: impl Into<Arg<'g>>, queues: &[Queue<'g>]) -> Result<Queue<'g>> {
        let Some(first) = queues.first() else { return Err(invalid!("there is no queue to choose from")) };
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
        // Where each of them makes batches, so does the one that is chosen, though their items differ in shape, as a padding queue's do.
        let batches = queues.iter().all(|queue| queue.batches().is_ok());
        let kind = if batches { QueueKind::PaddingFifo } else { first.spec.kind };
        let g = first.graph();
        let handles = g.op("Pack").inputs(queues.iter().map(|q| q.handle)).output();
        let handle = g.op("GatherV2").input(handles).input(index).input(0).output();
        Ok(Queue { spec: QueueSpec { kind, shapes, ..first.spec.clone() }, ..first.behind(handle) })
    }

    /// A queue like this one behind another handle.
    pub(crate) fn behind(&self, handle: Output<'g>) -> Queue<'g> {
        Queue { handle, ..self.clone() }
    }

    /// The same queue; ops that are made of it have this attribute.
    pub(crate) fn with(mut self, attr: &'static str, value: impl Into<Attr>) -> Queue<'g> {
        self.op_attrs.set(attr, value);
        self
    }

    /// The handle: a resource.
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// The queue's name: its node's.
    pub fn name(&self) -> String {
        self.handle.op().name()
    }

    /// The dtypes of an item's components.
    pub fn dtypes(&self) -> &[DType] {
        &self.spec.dtypes
    }

    /// Their shapes, if they are known.
    pub fn shapes(&self) -> Option<&[PartialShape]> {
        self.spec.shapes.as_deref()
    }

    /// Their names, if they have some.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Hands one item in: any structure of as many values as the queue has components; of a map, those of its components' names.
    #[track_caller]
    pub fn enqueue<N: IntoNest<'g>>(&self, item: N) -> Result<Op<'g>> {
        self.hand_in("QueueEnqueueV2", "enqueue", item, |shape| Some(shape.clone()), Location::caller())
    }

    /// Hands in an item for each row of the components, one after the other, as there is room.
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

    /// The values of an item in the order of the components: those of a map by their names.
    fn components_of(&self, item: &impl Nest<'g>) -> Result<Vec<Output<'g>>> {
        let values = values_of(item);
        let Structure::Map(parts) = item.structure() else { return Ok(values) };
        if self.names.is_empty() {
            return Err(invalid!(
                "the components of `{}` have no names, so no map can be handed in",
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

    /// An error unless these can be components of an item, whose shape follows from theirs.
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

    /// Takes one item out.
    #[track_caller]
    pub fn dequeue(&self) -> Result<Components<'g>> {
        self.take_out("QueueDequeueV2", "Dequeue", None, |_, shape| shape.clone(), Location::caller())
    }

    /// Takes `n` items out as a batch, whose components have `n` rows. The components' shapes must be known.
    #[track_caller]
    pub fn dequeue_many(&self, n: impl Into<Arg<'g>>) -> Result<Components<'g>> {
        self.take_out("QueueDequeueManyV2", "DequeueMany", Some(n.into()), stacked, Location::caller())
    }

    /// As [`Queue::dequeue_many`]; once the queue is closed, what is left of it makes a smaller batch.
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

    /// An error unless its items can be put together to batches.
    fn batches(&self) -> Result<()> {
        let kind = self.spec.kind;
        let but = match self.shapes() {
            None => "they are not known",
            Some(_) if kind == QueueKind::PaddingFifo => return Ok(()),
            Some(shapes) if shapes.iter().all(PartialShape::is_full) => return Ok(()),
            Some(_) => "they are known in part",
        };
        Err(invalid!("{kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes; of `{}` {but}", self.name())
            .with_help("say them with `.shapes(..)`, or let `Queue::padding` take items of different sizes"))
    }

    /// Closes it: nothing more goes in; what is in can still be taken out. Waits for who waits to hand something in.
    #[track_caller]
    pub fn close(&self) -> Op<'g> {
        self.start("QueueCloseV2", "Close").input(self.handle).finish()
    }

    /// Closes it at once: who waits to hand something in is told `CANCELLED`.
    #[track_caller]
    pub fn close_and_cancel(&self) -> Op<'g> {
        self.start("QueueCloseV2", "Close").input(self.handle).attr("cancel_pending_enqueues", true).finish()
    }

    /// How many items are in it: an `int32` scalar.
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.start("QueueSizeV2", "Size").input(self.handle).output()
    }

    /// Whether it is closed: a `bool` scalar.
    #[track_caller]
    pub fn is_closed(&self) -> Output<'g> {
        self.start("QueueIsClosedV2", "Is_Closed").input(self.handle).output()
    }

    /// A runner that fills it by these operations, one thread each. Add it to the graph with [`Queues::add_queue_runner`].
    #[track_caller]
    pub fn runner(&self, enqueue_ops: impl IntoIterator<Item = Op<'g>>) -> QueueRunner {
        let (close, cancel) = (self.close(), self.close_and_cancel());
        self.run_by(enqueue_ops, close, cancel)
    }

    /// The same, but when its coordinator stops it runs `cancel` instead of closing the queue at once.
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
        // What a branch gives is known by its value, as in TensorFlow's collections.
        let name = |op: Op<'g>| if op.op_type() == "Merge" { op.output(0).name() } else { op.name() };
        QueueRunner::new(self.name(), enqueue_ops.into_iter().map(name), close.name(), cancel.name())
    }

    /// The same queue; the operations made by this value of it have this name.
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

/// The values of a structure.
pub(crate) fn values_of<'g>(nest: &impl Nest<'g>) -> Vec<Output<'g>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let output = |leaf| if let Leaf::Output(output) = leaf { Some(output) } else { None };
    leaves.into_iter().filter_map(output).collect()
}

/// What a row has, of what all rows have.
fn row_of(shape: &PartialShape) -> Option<PartialShape> {
    match shape.dims() {
        None => Some(PartialShape::unknown()),
        Some(dims) => dims.split_first().map(|(_, row)| PartialShape::new(row.iter().copied())),
    }
}

/// What a batch has, of what an item has.
fn stacked(rows: Option<usize>, item: &PartialShape) -> PartialShape {
    match item.dims() {
        None => PartialShape::unknown(),
        Some(dims) => PartialShape::new(std::iter::once(rows).chain(dims.iter().copied())),
    }
}

impl<'g> Components<'g> {
    /// All of them: `let [x, length] = queue.dequeue()?.all()?`.
    pub fn all<const N: usize>(self) -> Result<[Output<'g>; N]> {
        let n = self.outputs.len();
        self.outputs.try_into().map_err(|_| invalid!("the queue has {n} components, not {N}"))
    }

    /// The component called `name`.
    pub fn named(&self, name: &str) -> Result<Output<'g>> {
        let at = self.names.iter().position(|n| n == name);
        at.map(|i| self.outputs[i]).ok_or_else(|| match self.names.as_slice() {
            [] => invalid!("the queue's components have no names, so there is no `{name}`")
                .with_help("give them names with `.names(..)` when the queue is made"),
            names => invalid!("the queue has no component `{name}`, but {names:?}"),
        })
    }

    /// As a list.
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

/// What graphs say of their queues' runners.
pub trait Queues {
    /// Adds a runner to those that [`RunQueues::start_queue_runners`] starts.
    fn add_queue_runner(&self, runner: &QueueRunner);

    /// All runners of the graph, also those of an imported `MetaGraphDef`.
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

/// What sessions do with the runners of their graph's queues.
pub trait RunQueues {
    /// Starts all runners of the graph. They run until the coordinator stops, or their input ends.
    fn start_queue_runners(&self, coordinator: &Coordinator) -> Result<()>;

    /// Calls `work` while the runners of the graph run; then stops and joins them. The end of the input is no error: `work` returning
    /// `OUT_OF_RANGE` gives `None`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let q = Queue::fifo(&g, 4, [DType::F32]).shapes([shape![]]).make()?;
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
        for runner in self.graph().queue_runners() {
            runner.start(self, coordinator)?;
        }
        Ok(())
    }

    fn with_queue_runners<T>(&self, work: impl FnOnce(&Coordinator) -> Result<T>) -> Result<Option<T>> {
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        let started = self.start_queue_runners(&coordinator);
        let result = started.and_then(|()| work(&coordinator));
        coordinator.request_stop();
        let joined = coordinator.join();
        match result {
            Ok(value) => joined.map(|()| Some(value)),
            // A runner that failed closed the queue for which the work waited: its error says more.
            Err(error) if error.code() == Code::OutOfRange => joined.map(|()| None),
            Err(error) => Err(error),
        }
    }
}
