//! [`TensorArray`]: an array of tensors that are written and read by index.
//!
//! A TensorArray is a typed view of a tensor list, which is a value like any other: a loop carries it,
//! gradients of any order flow through it, and iterations may overlap. Writes happen in place, so their cost
//! does not depend on the length.
//!
//! Differences from TensorFlow 1, where an array is an object that its ops modify:
//!
//! - a method that modifies an array consumes it and returns the next one, so the old one cannot be used by
//!   mistake; [`TensorArray::close`] consumes it for good;
//! - an element may be read any number of times, and there is no `clear_after_read`. Its memory is freed with
//!   the array, or when the loop of a gradient pops it;
//! - gradients are those of values, by [`Gradients`]; there are no gradient sources to keep apart.

use crate::ops::{Ops, OutputOps};
use crate::options::{Options, Start};
use millstream_autodiff::Gradients;
use millstream_graph::nest::{Converter, Leaf, Structure, Values};
use millstream_graph::{Arg, Grad, Graph, IntoNest, Nest, Op, Output};
use millstream_tensor::{DType, Element, Error, PartialShape, Result, invalid};

/// The attribute of nodes that write to a TensorArray: no element is written twice, and if false, the array
/// does not grow.
const GROWS: &str = "_tensor_array_grows";

/// A builder of a [`TensorArray`].
///
/// ```
/// use millstream::TensorArray;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let squares = TensorArray::of::<i32>(&g, 3).element_shape(shape![]).build();
/// let (_, squares) = g
///     .while_loop((g.constant(0), squares))
///     .run(|(i, _)| i.less(3), |(i, a)| (i + 1, a.write(i, i * i)))?;
/// assert_eq!(Session::new(&g)?.run::<Vec<i32>>(squares.stack(), feed![])?, [0, 1, 4]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "`build` adds the array"]
pub struct TensorArrayBuilder<'g> {
    options: Options<'g>,
    dtype: DType,
    size: Arg<'g>,
    element_shape: PartialShape,
    dynamic_size: bool,
    infer_shape: bool,
}

impl std::fmt::Debug for TensorArrayBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorArrayBuilder")
            .field("dtype", &self.dtype)
            .field("element_shape", &self.element_shape)
            .finish_non_exhaustive()
    }
}

impl<'g> TensorArrayBuilder<'g> {
    /// Sets whether writing past the end makes the array longer. By default it is an error.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<f32>(&g, 0).dynamic_size(true).build();
    /// let a = a.write(0, 1.0f32).write(1, 2.0f32);
    /// let found: Vec<f32> = Session::new(&g)?.run(a.stack(), feed![])?;
    /// assert_eq!(found, [1.0, 2.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dynamic_size(mut self, yes: bool) -> Self {
        self.dynamic_size = yes;
        self
    }

    /// Sets whether all elements have the same shape, which is inferred from the first write; true by
    /// default.
    ///
    /// ```
    /// use millstream::TensorArray;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let lines = TensorArray::of::<f32>(&g, 2).infer_shape(false).build();
    /// let lines = lines.write(0, [1.0f32, 2.0]).write(1, [3.0f32]); // rows of different lengths
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(lines.concat(), feed![])?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn infer_shape(mut self, yes: bool) -> Self {
        self.infer_shape = yes;
        self
    }

    /// Sets the shape of all elements. If it is fully known, elements that were never written are zeros.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<f32>(&g, 2).element_shape(shape![]).build();
    /// // Element 1 was never written.
    /// let found: Vec<f32> = Session::new(&g)?.run(a.write(0, 3.0f32).stack(), feed![])?;
    /// assert_eq!(found, [3.0, 0.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn element_shape(mut self, shape: impl Into<PartialShape>) -> Self {
        self.element_shape = shape.into();
        self
    }

    /// Adds the array.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<i32>(&g, 2).build().write(0, 7).write(1, 8);
    /// let found: i32 = Session::new(&g)?.run(a.read(1), feed![])?;
    /// assert_eq!(found, 8);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn build(self) -> TensorArray<'g> {
        let g = self.options.graph();
        let shape = g.element_shape(&self.element_shape);
        let node = self.options.start_as("TensorListReserve", "TensorArray");
        let flow = node.input(shape).input(self.size).attr("element_dtype", self.dtype).output();
        TensorArray {
            flow,
            dtype: self.dtype,
            element_shape: self.element_shape,
            infer_shape: self.infer_shape,
            dynamic_size: self.dynamic_size,
            untouched: true,
        }
    }
}

/// An array of tensors of one dtype, each written once. Errors at run time name the op, the index and the
/// length of the array.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::TensorArray;
/// let g = Graph::new();
/// let squares = TensorArray::of::<i32>(&g, 5).build();
/// let (_, squares) = g
///     .while_loop((g.constant(0), squares))
///     .run(|(i, _)| i.less(5), |(i, squares)| (i + 1, squares.write(i, i * i)))?;
/// let squares: Vec<i32> = Session::new(&g)?.run(squares.stack(), feed![])?;
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a write returns the next array"]
pub struct TensorArray<'g> {
    flow: Output<'g>,
    dtype: DType,
    element_shape: PartialShape,
    infer_shape: bool,
    dynamic_size: bool,
    /// Whether nothing can have been written yet.
    untouched: bool,
}

impl<'g> TensorArray<'g> {
    /// Returns a builder of an array of `size` elements of dtype `T`, none of them written.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let squares = TensorArray::of::<i32>(&g, 4).build();
    /// let (_, squares) = g.while_loop((g.constant(0), squares)).run(
    ///     |(i, _)| i.less(4),
    ///     |(i, a)| (i + 1, a.write(i, i * i)),
    /// )?;
    /// let found: Vec<i32> = Session::new(&g)?.run(squares.stack(), feed![])?;
    /// assert_eq!(found, [0, 1, 4, 9]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn of<T: Element>(g: impl Start<'g>, size: impl Into<Arg<'g>>) -> TensorArrayBuilder<'g> {
        TensorArray::of_dtype(g, T::DTYPE, size)
    }

    /// As [`TensorArray::of`], with the dtype as a value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_dtype(&g, DType::F64, 1).build().write(0, 0.5f64);
    /// let found: f64 = Session::new(&g)?.run(a.read(0), feed![])?;
    /// assert_eq!(found, 0.5);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn of_dtype(g: impl Start<'g>, dtype: DType, size: impl Into<Arg<'g>>) -> TensorArrayBuilder<'g> {
        TensorArrayBuilder {
            options: g.options(),
            dtype,
            size: size.into(),
            element_shape: PartialShape::unknown(),
            dynamic_size: false,
            infer_shape: true,
        }
    }

    /// Returns an array whose elements are the rows of `x`, which are shared, not copied.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// let found: f32 = Session::new(&g)?.run(a.read(2), feed![])?;
    /// assert_eq!(found, 4.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn of_rows(x: Output<'g>) -> TensorArray<'g> {
        let g = x.graph();
        let row = row_of(&x.shape());
        let shape = g.element_shape(&row);
        let flow = g.list().tensor_list_from_tensor(x, shape);
        TensorArray::of_list(flow, x.dtype().unwrap_or(DType::F32)).with_shape(row)
    }

    /// Returns a tensor list as an array.
    ///
    /// ```
    /// use millstream::TensorArray;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let array = TensorArray::of::<i32>(&g, 2).build().unstack([7, 8]);
    /// let same = TensorArray::of_list(array.flow(), DType::I32);
    /// assert_eq!(Session::new(&g)?.run::<i32>(same.read(1), feed![])?, 8);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn of_list(flow: Output<'g>, dtype: DType) -> TensorArray<'g> {
        TensorArray {
            flow,
            dtype,
            element_shape: PartialShape::unknown(),
            infer_shape: true,
            dynamic_size: false,
            untouched: false,
        }
    }

    fn with_shape(mut self, shape: PartialShape) -> Self {
        self.element_shape = shape;
        self
    }

    /// Returns the tensor list.
    ///
    /// ```
    /// use millstream::TensorArray;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let array = TensorArray::of::<i32>(&g, 2).build();
    /// assert_eq!(array.flow().dtype()?, DType::Variant);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn flow(&self) -> Output<'g> {
        self.flow
    }

    /// Returns the dtype of the elements.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// assert_eq!(a.dtype(), DType::F32);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the known part of the elements' shape.
    ///
    /// ```
    /// use millstream::TensorArray;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let array = TensorArray::of::<i32>(&g, 2).build().write(0, [1, 2, 3]);
    /// assert_eq!(array.element_shape().to_string(), "[3]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn element_shape(&self) -> &PartialShape {
        &self.element_shape
    }

    /// Returns the number of elements, written or not: a scalar i32.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// let found: i32 = Session::new(&g)?.run(a.size(), feed![])?;
    /// assert_eq!(found, 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.graph().named("TensorArraySize").list().tensor_list_length(self.flow)
    }

    /// Writes element `index`, which must not have been written before.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<f32>(&g, 2).build().write(1, 5.0f32).write(0, 4.0f32);
    /// let found: Vec<f32> = Session::new(&g)?.run(a.stack(), feed![])?;
    /// assert_eq!(found, [4.0, 5.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn write(mut self, index: impl Into<Arg<'g>>, value: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let g = self.graph();
        let g = g.named("TensorArrayWrite").with("element_dtype", self.dtype).with(GROWS, self.dynamic_size);
        let g = if self.dynamic_size { g.with("resize_if_index_out_of_bounds", true) } else { g };
        let written = g.list().tensor_list_set_item(self.flow, index, value);
        if let Some(value) = written.op().inputs().get(2) {
            self.learn(&value.shape(), "write");
        }
        self.next(written)
    }

    /// Reads element `index`. An element that was never written is zeros if the elements' shape is known, and
    /// an error otherwise.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// let found: f32 = Session::new(&g)?.run(a.read(1), feed![])?;
    /// assert_eq!(found, 2.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn read(&self, index: impl Into<Arg<'g>>) -> Output<'g> {
        let (g, shape) = (self.graph(), self.shape_input(&self.element_shape));
        g.named("TensorArrayRead").list().tensor_list_get_item(self.flow, index, shape, self.dtype)
    }

    /// Returns all elements as the rows of a tensor.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// let found: Vec<f32> = Session::new(&g)?.run(a.stack(), feed![])?;
    /// assert_eq!(found, [1.0, 2.0, 4.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn stack(&self) -> Output<'g> {
        let (g, shape) = (self.graph(), self.shape_input(&self.element_shape));
        g.named("TensorArrayStack").list().tensor_list_stack(self.flow, shape, self.dtype)
    }

    /// Returns the elements at these indices as the rows of a tensor.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// let found: Vec<f32> = Session::new(&g)?.run(a.gather([2, 0]), feed![])?;
    /// assert_eq!(found, [4.0, 1.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn gather(&self, indices: impl Into<Arg<'g>>) -> Output<'g> {
        let (g, shape) = (self.graph(), self.shape_input(&self.element_shape));
        g.named("TensorArrayGather").list().tensor_list_gather(self.flow, indices, shape, self.dtype)
    }

    /// Concatenates all elements along their first axis, the only one in which they may differ.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<i32>(&g, 2).infer_shape(false).build();
    /// let a = a.write(0, [1, 2]).write(1, [3]);
    /// let found: Vec<i32> = Session::new(&g)?.run(a.concat(), feed![])?;
    /// assert_eq!(found, [1, 2, 3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn concat(&self) -> Output<'g> {
        let g = self.graph();
        let rows = any_rows(&self.element_shape);
        let none = g.constant(Vec::<i64>::new());
        let shape = self.shape_input(&rows);
        let list = g.named("TensorArrayConcat").list();
        let [all, _] = list.tensor_list_concat_v2(self.flow, shape, none, self.dtype);
        all
    }

    /// Writes the rows of `value` as the elements, none of which may have been written. There must be as many
    /// rows as elements, unless the size is dynamic.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<i32>(&g, 2).build().unstack([5, 6]);
    /// let found: i32 = Session::new(&g)?.run(a.read(1), feed![])?;
    /// assert_eq!(found, 6);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn unstack(mut self, value: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let g = self.graph();
        let value = self.place(value);
        if !self.untouched {
            let rows = g.array().shape(value);
            let rows = first(rows);
            let all = g.reduce().range(0, rows, 1);
            return self.scatter(all, value);
        }
        self.learn(&row_of(&value.shape()), "unstack");
        let value = self.of_my_size(value, value.shape().dim(0), |v| first(g.array().shape(v)));
        let shape = self.shape_input(&self.element_shape);
        let flow = g.named("TensorArrayUnstack").list().tensor_list_from_tensor(value, shape);
        self.next(flow)
    }

    /// Writes row `i` of `value` as element `indices[i]`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<i32>(&g, 2).build().scatter([1, 0], [5, 6]);
    /// let found: Vec<i32> = Session::new(&g)?.run(a.stack(), feed![])?;
    /// assert_eq!(found, [6, 5]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn scatter(mut self, indices: impl Into<Arg<'g>>, value: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let value = self.place(value);
        self.learn(&row_of(&value.shape()), "scatter");
        let g = self.graph().named("TensorArrayScatter").with(GROWS, self.dynamic_size);
        let flow = g.list().tensor_list_scatter_into_existing_list(self.flow, value, indices);
        self.next(flow)
    }

    /// Splits `value` along its first axis into the elements, none of which may have been written: element
    /// `i` gets `lengths[i]` rows. There must be as many lengths as elements, unless the size is dynamic.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of::<i32>(&g, 2).infer_shape(false).build().split([1, 2, 3], [1i64, 2]);
    /// let found: Vec<i32> = Session::new(&g)?.run(a.read(1), feed![])?;
    /// assert_eq!(found, [2, 3]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn split(mut self, value: impl Into<Arg<'g>>, lengths: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let g = self.graph();
        let value = self.place(value);
        if !self.untouched {
            g.remember(
                invalid!("`split` needs an array that nothing has been written to")
                    .with_help("create another array for the parts with `TensorArray::of`"),
            );
        }
        let lengths = g.identity(lengths);
        let lengths = match lengths.dtype() {
            Ok(DType::I64) | Err(_) => lengths,
            Ok(_) => g.math().cast(lengths, DType::I64),
        };
        let rows = any_rows(&value.shape());
        self.learn(&rows, "split");
        let lengths = self.of_my_size(lengths, lengths.shape().dim(0), |l| l.size());
        let shape = self.shape_input(&self.element_shape);
        let flow = g.named("TensorArraySplit").list().tensor_list_split(value, shape, lengths);
        self.next(flow)
    }

    /// Returns the same array, after the current control dependencies have run.
    ///
    /// ```
    /// use millstream::TensorArray;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", 1);
    /// let array = TensorArray::of::<i32>(&g, 1).build().write(0, 7);
    /// let later = g.control_dependencies([v.assign(2)], || array.identity());
    /// let session = Session::new(&g)?;
    /// assert_eq!(session.run::<i32>(later.read(0), feed![])?, 7);
    /// assert_eq!(session.run::<i32>(v.read(), feed![])?, 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn identity(&self) -> TensorArray<'g> {
        let flow = self.graph().identity(self.flow);
        TensorArray { flow, ..self.clone() }
    }

    /// Consumes the array. The operation runs once all uses of the array have; its memory is freed then.
    ///
    /// ```
    /// use millstream::TensorArray;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let array = TensorArray::of::<i32>(&g, 1).build().write(0, 7);
    /// let (first, closed) = (array.read(0), array.close());
    /// assert_eq!(Session::new(&g)?.run::<(i32, ())>((first, closed), feed![])?, (7, ()));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn close(self) -> Op<'g> {
        self.graph().start_as("NoOp", "TensorArrayClose").control(self.flow).finish()
    }

    /// Returns the gradients of the sum of `ys` with respect to the elements, as an array of the same length.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::TensorArray;
    /// let g = Graph::new();
    /// let a = TensorArray::of_rows(g.constant([1.0f32, 2.0, 4.0]));
    /// let y = a.stack().square().reduce_sum(());
    /// let found: Vec<f32> = Session::new(&g)?.run(a.grad([y])?.stack(), feed![])?;
    /// assert_eq!(found, [2.0, 4.0, 8.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn grad(&self, ys: impl IntoIterator<Item = impl Into<Output<'g>>>) -> Result<TensorArray<'g>> {
        let grads = self.graph().gradients(ys, [self.flow]).run()?;
        let flow = match grads.into_iter().next().flatten() {
            Some(Grad::Dense(list)) => list,
            None => self.graph().zeros_like(self.flow),
            Some(_) => return Err(Error::internal("the gradient of a list is a list")),
        };
        Ok(TensorArray { flow, untouched: false, ..self.clone() })
    }

    /// Returns the same array at another point of a loop.
    pub(crate) fn at(&self, flow: Output<'g>) -> TensorArray<'g> {
        TensorArray { flow, untouched: false, ..self.clone() }
    }

    /// Returns the array, or the graph's error.
    pub(crate) fn checked(self) -> Result<TensorArray<'g>> {
        self.graph().check()?;
        Ok(self)
    }

    fn graph(&self) -> &'g Graph {
        self.flow.graph()
    }

    fn next(self, flow: Output<'g>) -> TensorArray<'g> {
        TensorArray { flow, untouched: false, ..self }
    }

    /// Places a literal as an output of the elements' dtype.
    fn place(&self, value: impl Into<Arg<'g>>) -> Output<'g> {
        self.graph().with("T", self.dtype).identity(value)
    }

    fn shape_input(&self, shape: &PartialShape) -> Output<'g> {
        self.graph().element_shape(shape)
    }

    /// Merges `shape` into the elements' shape, if they all have the same.
    #[track_caller]
    fn learn(&mut self, shape: &PartialShape, what: &str) {
        match self.element_shape.merge(shape) {
            Some(merged) if self.infer_shape => self.element_shape = merged,
            Some(_) => {}
            None => self.graph().remember(
                invalid!(
                    "`{what}`: the elements of the TensorArray have shape {} but the value written has shape {shape}",
                    self.element_shape
                )
                .at_line(std::panic::Location::caller())
                .with_help("for elements of different shapes use `.infer_shape(false)` and no `element_shape`"),
            ),
        }
    }

    /// Returns `value`, checked to have as many elements as the array: now if both numbers are known,
    /// otherwise at run time.
    #[track_caller]
    fn of_my_size(
        &self,
        value: Output<'g>,
        known: Option<usize>,
        count: impl FnOnce(Output<'g>) -> Output<'g>,
    ) -> Output<'g> {
        if self.dynamic_size {
            return value;
        }
        let g = self.graph();
        let inputs = self.flow.op().inputs();
        let Some(&size) = inputs.get(1) else { return value };
        let size_known = g.read(|g| g.known_value(size.port())).and_then(|t| t.to_scalar::<i32>().ok());
        match (known, size_known) {
            (Some(n), Some(size)) if i64::try_from(n) == Ok(size.into()) => value,
            (Some(n), Some(size)) => {
                g.remember(
                    invalid!("cannot write {n} elements to a TensorArray of size {size}")
                        .at_line(std::panic::Location::caller())
                        .with_help("raise its size, or use `.dynamic_size(true)`"),
                );
                value
            }
            _ => {
                let n = count(value);
                let same = n.equal(size);
                let what = g.constant("elements are written to a TensorArray of another size:");
                let check = g.debug().assert(same, [what, n, size]);
                g.control_dependencies([check], || value.identity())
            }
        }
    }
}

fn first(vector: Output<'_>) -> Output<'_> {
    vector.graph().with("shrink_axis_mask", 1).array().strided_slice(vector, [0], [1], [1])
}

fn row_of(shape: &PartialShape) -> PartialShape {
    match shape.dims() {
        Some([_, rest @ ..]) => PartialShape::new(rest.iter().copied()),
        _ => PartialShape::unknown(),
    }
}

/// Returns the shape with any number of rows.
fn any_rows(shape: &PartialShape) -> PartialShape {
    match shape.dims() {
        Some([_, rest @ ..]) => PartialShape::new(std::iter::once(None).chain(rest.iter().copied())),
        _ => PartialShape::unknown(),
    }
}

impl<'g> Nest<'g> for TensorArray<'g> {
    fn structure(&self) -> Structure {
        Structure::Array
    }
    fn flatten(&self, leaves: &mut Vec<Leaf<'g>>) {
        leaves.push(Leaf::Output(self.flow));
    }
    fn rebuild(&self, values: &mut Values<'g>) -> Result<Self> {
        Ok(TensorArray { flow: values.take()?, untouched: false, ..self.clone() })
    }
}

impl<'g> IntoNest<'g> for TensorArray<'g> {
    type Nest = TensorArray<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<TensorArray<'g>> {
        cx.pass(self)
    }
}

impl<'g> IntoNest<'g> for &TensorArray<'g> {
    type Nest = TensorArray<'g>;
    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<TensorArray<'g>> {
        cx.pass(self.clone())
    }
}
