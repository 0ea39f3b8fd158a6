//! [`Barrier`]: elements whose components arrive one by one, and that leave once they are complete.

use crate::options::{Options, Start};
use millstream_graph::{Arg, Attr, Graph, Op, OpBuilder, Output};
use millstream_tensor::{DType, PartialShape, Result, ensure};
use std::panic::Location;

/// A builder of a [`Barrier`].
///
/// ```
/// use millstream::Barrier;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let b = Barrier::of(&g, [DType::F32, DType::Str]).shapes([shape![3], shape![]]).build()?;
/// assert_eq!(b.dtypes(), [DType::F32, DType::Str]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds the barrier"]
pub struct BarrierBuilder<'g> {
    options: Options<'g>,
    dtypes: Vec<DType>,
    shapes: Option<Vec<PartialShape>>,
    shared_name: String,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for BarrierBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BarrierBuilder")
            .field("dtypes", &self.dtypes)
            .field("shapes", &self.shapes)
            .finish_non_exhaustive()
    }
}

impl<'g> BarrierBuilder<'g> {
    /// Sets the shapes of the components. Without them, the elements of a batch must have equal shapes.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).shapes([shape![2]]).build()?;
    /// assert_eq!(b.take_many(3)?.values[0].shape().to_string(), "[3,2]");
    /// assert!(b.insert_many(0, g.constant(["k"]), g.constant([1.0f32])).is_err());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = impl Into<PartialShape>>) -> Self {
        self.shapes = Some(shapes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the name under which sessions with shared resources share the barrier.
    ///
    /// ```
    /// use millstream::{Barrier, SessionOptions};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).shapes([shape![]]).shared_name("parts").build()?;
    /// let (put, taken) = (b.insert_many(0, g.constant(["k"]), g.constant([1.5f32]))?, b.take_many(1)?);
    /// let first = Session::new(&g)?;
    /// let resources = Some(first.resources().clone());
    /// let second = Session::with_options(&g, SessionOptions { resources, ..SessionOptions::default() })?;
    /// first.run::<()>(put, feed![])?;
    /// assert_eq!(second.run::<Vec<f32>>(taken.values[0], feed![])?, [1.5]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shared_name(mut self, name: impl Into<String>) -> Self {
        self.shared_name = name.into();
        self
    }

    /// Adds the barrier, or returns an error if it has no components, or not a shape for each.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(Barrier::of(&g, [DType::F32]).build().is_ok());
    /// assert!(Barrier::of(&g, [DType::F32]).shapes([shape![_]]).build().is_err());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn build(self) -> Result<Barrier<'g>> {
        let shapes = self.shapes.unwrap_or_else(|| vec![PartialShape::unknown(); self.dtypes.len()]);
        millstream_state::Barrier::new("barrier", &self.dtypes, &shapes)?;
        let handle = self
            .options
            .start_as("Barrier", "barrier")
            .at(self.at)
            .attr("component_types", list(self.dtypes.iter().copied()))
            .attr("shapes", list(shapes.iter().cloned()))
            .attr("shared_name", self.shared_name)
            .try_finish()?
            .output(0);
        Ok(Barrier { handle, dtypes: self.dtypes, shapes, op_name: None })
    }
}

fn list<T: Into<Attr>>(items: impl IntoIterator<Item = T>) -> Attr {
    Attr::List(items.into_iter().map(Into::into).collect())
}

/// A set of elements, each with a key and one or more components. The components are inserted one by one,
/// under the keys. Elements that have all components can be taken, in the order in which their keys came. A
/// take waits until there are enough; a run that is cancelled or exceeds its deadline stops waiting.
///
/// Definition: TensorFlow's `Barrier`.
///
/// ```
/// use millstream::Barrier;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let b = Barrier::of(&g, [DType::F32, DType::I32]).shapes([shape![], shape![]]).build()?;
/// let values = b.insert_many(0, g.constant(["a", "b", "c"]), g.constant([1.0f32, 2.0, 3.0]))?;
/// let labels = b.insert_many(1, g.constant(["c", "a"]), g.constant([30, 10]))?;
/// let two = b.take_many(2)?;
/// let session = Session::new(&g)?;
/// session.run::<()>(values, feed![])?;
/// session.run::<()>(labels, feed![])?;
/// let (keys, labels): (Vec<String>, Vec<i32>) = session.run((two.keys, two.values[1]), feed![])?;
/// assert_eq!((keys, labels), (vec!["c".into(), "a".into()], vec![30, 10]));
/// assert_eq!(session.run::<i32>(b.incomplete_size(), feed![])?, 1); // `b` has no label
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Barrier<'g> {
    handle: Output<'g>,
    dtypes: Vec<DType>,
    shapes: Vec<PartialShape>,
    /// The name of new operations, if it does not derive from the barrier's.
    op_name: Option<String>,
}

/// The outputs of a take. Each has a row for every element.
///
/// ```
/// use millstream::Barrier;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let taken = Barrier::of(&g, [DType::F32]).build()?.take_many(2)?;
/// assert_eq!((taken.indices.dtype()?, taken.keys.dtype()?), (DType::I64, DType::Str));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Elements<'g> {
    /// The numbers of the insertions that brought the keys, counted from `i64::MIN`.
    pub indices: Output<'g>,
    /// The keys.
    pub keys: Output<'g>,
    /// The values, an output for each component.
    pub values: Vec<Output<'g>>,
}

impl<'g> Barrier<'g> {
    /// Returns a builder of a barrier whose elements have components of these dtypes.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).shapes([shape![]]).build()?;
    /// let put = b.insert_many(0, g.constant(["k"]), g.constant([1.5f32]))?;
    /// let taken = b.take_many(1)?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(taken.values[0], feed![])?, [1.5]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn of(g: impl Start<'g>, dtypes: impl IntoIterator<Item = DType>) -> BarrierBuilder<'g> {
        BarrierBuilder {
            options: g.options(),
            dtypes: dtypes.into_iter().collect(),
            shapes: None,
            shared_name: String::new(),
            at: Location::caller(),
        }
    }

    /// Returns the handle.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).build()?;
    /// assert_eq!(b.handle().op().op_type(), "Barrier");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// Returns the graph.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).build()?;
    /// assert!(b.graph().operation(&b.name()).is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn graph(&self) -> &'g Graph {
        self.handle.graph()
    }

    /// Returns the name of the barrier's node.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(Barrier::of(&g, [DType::F32]).build()?.name(), "barrier");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn name(&self) -> String {
        self.handle.op().name()
    }

    /// Returns the dtypes of the components.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(Barrier::of(&g, [DType::F32]).build()?.dtypes(), [DType::F32]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dtypes(&self) -> &[DType] {
        &self.dtypes
    }

    /// Returns the shapes of the components.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).shapes([shape![2]]).build()?;
    /// assert_eq!(b.shapes()[0].to_string(), "[2]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shapes(&self) -> &[PartialShape] {
        &self.shapes
    }

    /// Inserts row `i` of `values` under the key `keys[i]`, as the component with this number. A component
    /// that is there already, and a value without elements, are errors.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32, DType::I32]).build()?;
    /// let put = b.insert_many(1, g.constant(["k"]), g.constant([7]))?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// let again = session.run::<()>(put, feed![]).unwrap_err();
    /// assert!(again.to_string().contains("Key k already has a value for component 1"));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn insert_many(
        &self,
        component: usize,
        keys: impl Into<Arg<'g>>,
        values: impl Into<Arg<'g>>,
    ) -> Result<Op<'g>> {
        let (name, n) = (self.name(), self.dtypes.len());
        ensure!(component < n, "`{name}` has {n} components, so none with the number {component}");
        let op = self
            .start("BarrierInsertMany")
            .at(Location::caller())
            .input(self.handle)
            .input(keys)
            .input(values)
            .attr("component_index", component as i64)
            .try_finish()?;
        let values: Output<'g> = op.inputs()[2];
        let (given, wanted) = (values.dtype()?, self.dtypes[component]);
        ensure!(given == wanted, "component {component} of `{name}` is {wanted}, not {given}");
        let shape = values.shape();
        let row = shape.dims().and_then(|dims| dims.split_first()).map(|(_, row)| row);
        let row = row.map(|row| PartialShape::new(row.iter().copied()));
        if let Some(row) = row.filter(|row| !self.shapes[component].is_compatible(row)) {
            return Err(millstream_tensor::invalid!(
                "component {component} of `{name}` has shape {}, not {row}",
                self.shapes[component]
            ));
        }
        Ok(op)
    }

    /// Takes `n` complete elements, and waits until there are as many.
    ///
    /// ```
    /// use millstream::{Barrier, Code};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).shapes([shape![]]).build()?;
    /// let put = b.insert_many(0, g.constant(["a", "b"]), g.constant([1.0f32, 2.0]))?;
    /// let (one, close) = (b.take_many(1)?, b.close());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// session.run::<()>(close, feed![])?;
    /// assert_eq!(session.run::<Vec<String>>(one.keys, feed![])?, ["a"]);
    /// assert_eq!(session.run::<Vec<String>>(one.keys, feed![])?, ["b"]);
    /// assert_eq!(session.run::<Vec<String>>(one.keys, feed![]).unwrap_err().code(), Code::OutOfRange);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn take_many(&self, n: impl Into<Arg<'g>>) -> Result<Elements<'g>> {
        self.take(n.into(), false, Location::caller())
    }

    /// As [`Barrier::take_many`]; if the barrier is closed, the elements that are complete make a smaller
    /// batch.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).shapes([shape![]]).build()?;
    /// let put = b.insert_many(0, g.constant(["a", "b"]), g.constant([1.0f32, 2.0]))?;
    /// let (five, close) = (b.take_up_to(5)?, b.close());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// session.run::<()>(close, feed![])?;
    /// assert_eq!(session.run::<Vec<String>>(five.keys, feed![])?, ["a", "b"]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn take_up_to(&self, n: impl Into<Arg<'g>>) -> Result<Elements<'g>> {
        self.take(n.into(), true, Location::caller())
    }

    fn take(
        &self,
        n: Arg<'g>,
        allow_small_batch: bool,
        at: &'static Location<'static>,
    ) -> Result<Elements<'g>> {
        let op = self
            .start("BarrierTakeMany")
            .at(at)
            .input(self.handle)
            .input(n)
            .attr("component_types", list(self.dtypes.iter().copied()))
            .attr("allow_small_batch", allow_small_batch)
            .try_finish()?;
        let asked = op.inputs()[1].port();
        let known = || self.graph().read(|g| g.known_value(asked))?.to_scalar::<i32>().ok();
        let rows = if allow_small_batch { None } else { known().and_then(|n| usize::try_from(n).ok()) };
        let outputs: Vec<Output<'g>> = op.outputs();
        let scalar = PartialShape::unknown_of_rank(0);
        for (output, shape) in outputs.iter().zip([&scalar, &scalar].into_iter().chain(&self.shapes)) {
            if let Some(dims) = shape.dims() {
                output.set_shape(PartialShape::new([rows].into_iter().chain(dims.iter().copied())));
            }
        }
        Ok(Elements { indices: outputs[0], keys: outputs[1], values: outputs[2..].to_vec() })
    }

    /// Closes the barrier: new keys are refused, while elements that lack a component can still be
    /// completed.
    ///
    /// ```
    /// use millstream::{Barrier, Code};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).build()?;
    /// let (put, close) = (b.insert_many(0, g.constant(["k"]), g.constant([1.0f32]))?, b.close());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(close, feed![])?;
    /// assert_eq!(session.run::<()>(put, feed![]).unwrap_err().code(), Code::Cancelled);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn close(&self) -> Op<'g> {
        self.start("BarrierClose").input(self.handle).finish()
    }

    /// Closes the barrier and drops the elements that lack a component.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32, DType::I32]).build()?;
    /// let put = b.insert_many(0, g.constant(["k"]), g.constant([1.0f32]))?;
    /// let (stop, incomplete) = (b.close_and_cancel(), b.incomplete_size());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// session.run::<()>(stop, feed![])?;
    /// assert_eq!(session.run::<i32>(incomplete, feed![])?, 0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn close_and_cancel(&self) -> Op<'g> {
        self.start("BarrierClose").input(self.handle).attr("cancel_pending_enqueues", true).finish()
    }

    /// Returns the number of complete elements, an `int32` scalar.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).build()?;
    /// let (put, ready) = (b.insert_many(0, g.constant(["k"]), g.constant([1.0f32]))?, b.ready_size());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<i32>(ready, feed![])?, 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn ready_size(&self) -> Output<'g> {
        self.start("BarrierReadySize").input(self.handle).output()
    }

    /// Returns the number of elements that lack a component, an `int32` scalar.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32, DType::I32]).build()?;
    /// let put = b.insert_many(0, g.constant(["k"]), g.constant([1.0f32]))?;
    /// let lacking = b.incomplete_size();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(put, feed![])?;
    /// assert_eq!(session.run::<i32>(lacking, feed![])?, 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn incomplete_size(&self) -> Output<'g> {
        self.start("BarrierIncompleteSize").input(self.handle).output()
    }

    /// Returns the same barrier, with a name for its new operations.
    ///
    /// ```
    /// use millstream::Barrier;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let b = Barrier::of(&g, [DType::F32]).build()?;
    /// assert_eq!(b.named("count").ready_size().op().name(), "count");
    /// assert_eq!(b.ready_size().op().name(), "barrier_BarrierReadySize");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn named(&self, name: impl Into<String>) -> Barrier<'g> {
        Barrier { op_name: Some(name.into()), ..self.clone() }
    }

    fn start(&self, op: &'static str) -> OpBuilder<'g> {
        let node = self.graph().op(op);
        match &self.op_name {
            Some(name) => node.name(name.as_str()),
            None => {
                let name = self.name();
                let last = name.rsplit('/').next().unwrap_or_default();
                node.name(format!("{last}_{op}"))
            }
        }
    }
}
