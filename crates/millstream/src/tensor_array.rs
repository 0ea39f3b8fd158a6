//! [`TensorArray`]: tensors by index, written and read one at a time.
//!
//! A typed view of a tensor list, which is a value like any other: a loop carries it, a gradient of any order goes through it,
//! iterations may overlap. The list is held once, so that writing costs the same however long it is.
//!
//! What differs from TensorFlow 1's, where an array is an object that its ops change:
//!
//! - what changes an array takes it and gives the next one, so that the old one cannot be used by mistake;
//!   [`TensorArray::close`] takes it for good, so that there is no use after it;
//! - reading changes nothing: an element may be read any number of times, and there is no `clear_after_read`. The memory of an element
//!   is given back when the array is, or where it is popped by the loop that runs a gradient;
//! - gradients are of the values, by [`Gradients`]; there are no sources to keep apart.

use crate::options::{Options, Start};
use millstream_autodiff::Gradients;
use millstream_graph::nest::{Converter, Leaf, Structure, Values};
use millstream_graph::{Arg, Grad, Graph, IntoNest, Nest, Op, Output};
use millstream_tensor::{DType, Element, Error, PartialShape, Result, invalid};

/// The attribute of nodes that write to a TensorArray: no element is written twice, and (`false`) the array does not grow.
const GROWS: &str = "_tensor_array_grows";

/// A TensorArray being described.
#[must_use = "the array is made by `make`"]
pub struct TensorArrayBuilder<'g> {
    options: Options<'g>,
    dtype: DType,
    size: Arg<'g>,
    element_shape: PartialShape,
    dynamic_size: bool,
    infer_shape: bool,
}

impl<'g> TensorArrayBuilder<'g> {
    /// Whether writing beyond the end makes it longer; otherwise (by default) it is an error.
    pub fn dynamic_size(mut self, yes: bool) -> Self {
        self.dynamic_size = yes;
        self
    }

    /// Whether (by default) all elements have one shape, which is learned from what is written.
    pub fn infer_shape(mut self, yes: bool) -> Self {
        self.infer_shape = yes;
        self
    }

    /// What the shapes of all elements fit. If all of it is known, elements that were never written are zeros.
    pub fn element_shape(mut self, shape: impl Into<PartialShape>) -> Self {
        self.element_shape = shape.into();
        self
    }

    /// Makes the array.
    #[track_caller]
    pub fn make(self) -> TensorArray<'g> {
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

/// Tensors of one dtype by index, each written once. Errors of the run name the op, the index and the array's length.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let squares = TensorArray::of::<i32>(&g, 5).make();
/// let (_, squares) = g
///     .while_loop((g.constant(0), squares))
///     .run(|(i, _)| i.less(5), |(i, squares)| (i + 1, squares.write(i, i * i)))?;
/// let squares: Vec<i32> = Session::new(&g)?.run(squares.stack(), feed![])?;
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "an array that was written to is another array than before"]
pub struct TensorArray<'g> {
    flow: Output<'g>,
    dtype: DType,
    element_shape: PartialShape,
    infer_shape: bool,
    dynamic_size: bool,
    /// Just made: nothing can have been written.
    untouched: bool,
}

impl<'g> TensorArray<'g> {
    /// An array of `size` elements of dtype `T`, none of them written: options, then [`TensorArrayBuilder::make`].
    #[track_caller]
    pub fn of<T: Element>(g: impl Start<'g>, size: impl Into<Arg<'g>>) -> TensorArrayBuilder<'g> {
        TensorArray::of_dtype(g, T::DTYPE, size)
    }

    /// As [`TensorArray::of`], of a dtype that is known only when the program runs.
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

    /// The rows of `x` as elements. They are shared, not copied.
    #[track_caller]
    pub fn of_rows(x: Output<'g>) -> TensorArray<'g> {
        let g = x.graph();
        let row = row_of(&x.shape());
        let shape = g.element_shape(&row);
        let flow = g.op("TensorListFromTensor").input(x).input(shape).output();
        TensorArray::of_list(flow, x.dtype().unwrap_or(DType::F32)).with_shape(row)
    }

    /// The array that a tensor list is.
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

    /// The tensor list.
    pub fn flow(&self) -> Output<'g> {
        self.flow
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// What is known of the shape of the elements.
    pub fn element_shape(&self) -> &PartialShape {
        &self.element_shape
    }

    /// How many elements there are, written or not: a scalar i32.
    #[track_caller]
    pub fn size(&self) -> Output<'g> {
        self.graph().op("TensorListLength").name("TensorArraySize").input(self.flow).output()
    }

    /// The array with `value` as element `index`, which must not have been written before.
    #[track_caller]
    pub fn write(mut self, index: impl Into<Arg<'g>>, value: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let g = self.graph();
        let node =
            g.op("TensorListSetItem").name("TensorArrayWrite").input(self.flow).input(index).input(value);
        let node = node.attr("element_dtype", self.dtype).attr(GROWS, self.dynamic_size);
        let node = if self.dynamic_size { node.attr("resize_if_index_out_of_bounds", true) } else { node };
        let written = node.finish();
        if let Some(value) = written.inputs().get(2) {
            self.learn(&value.shape(), "write");
        }
        self.next(written.output(0))
    }

    /// Element `index`. One that was never written is zeros where the shape of the elements is known, and otherwise an error.
    #[track_caller]
    pub fn read(&self, index: impl Into<Arg<'g>>) -> Output<'g> {
        let node = self.graph().op("TensorListGetItem").name("TensorArrayRead").input(self.flow).input(index);
        let node = node.input(self.shape_input(&self.element_shape));
        node.attr("element_dtype", self.dtype).output()
    }

    /// All elements as the rows of a tensor.
    #[track_caller]
    pub fn stack(&self) -> Output<'g> {
        let node = self.graph().op("TensorListStack").name("TensorArrayStack").input(self.flow);
        node.input(self.shape_input(&self.element_shape)).attr("element_dtype", self.dtype).output()
    }

    /// Some elements as the rows of a tensor.
    #[track_caller]
    pub fn gather(&self, indices: impl Into<Arg<'g>>) -> Output<'g> {
        let node =
            self.graph().op("TensorListGather").name("TensorArrayGather").input(self.flow).input(indices);
        node.input(self.shape_input(&self.element_shape)).attr("element_dtype", self.dtype).output()
    }

    /// All elements one after another along their first axis, in which alone they may differ.
    #[track_caller]
    pub fn concat(&self) -> Output<'g> {
        let g = self.graph();
        let rows = any_rows(&self.element_shape);
        let none = g.constant(Vec::<i64>::new());
        let node = g
            .op("TensorListConcatV2")
            .name("TensorArrayConcat")
            .input(self.flow)
            .input(self.shape_input(&rows));
        node.input(none).attr("element_dtype", self.dtype).output()
    }

    /// The array with the rows of `value` as its elements, of which none may have been written. There must be as many rows as elements,
    /// unless the size is dynamic.
    #[track_caller]
    pub fn unstack(mut self, value: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let g = self.graph();
        let value = self.place(value);
        if !self.untouched {
            let rows = g.op("Shape").input(value).output();
            let rows = first(rows);
            let all = g.op("Range").input(0).input(rows).input(1).output();
            return self.scatter(all, value);
        }
        self.learn(&row_of(&value.shape()), "unstack");
        let value = self.of_my_size(value, value.shape().dim(0), |v| first(g.op("Shape").input(v).output()));
        let shape = self.shape_input(&self.element_shape);
        let flow = g.op("TensorListFromTensor").name("TensorArrayUnstack").input(value).input(shape).output();
        self.next(flow)
    }

    /// The array with row `i` of `value` as element `indices[i]`.
    #[track_caller]
    pub fn scatter(mut self, indices: impl Into<Arg<'g>>, value: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let value = self.place(value);
        self.learn(&row_of(&value.shape()), "scatter");
        let node = self.graph().op("TensorListScatterIntoExistingList").name("TensorArrayScatter");
        let node = node.input(self.flow).input(value).input(indices).attr(GROWS, self.dynamic_size);
        let flow = node.output();
        self.next(flow)
    }

    /// The array with parts of `value` along its first axis as its elements, of which none may have been written: element `i` has
    /// `lengths[i]` rows. There must be as many lengths as elements, unless the size is dynamic.
    #[track_caller]
    pub fn split(mut self, value: impl Into<Arg<'g>>, lengths: impl Into<Arg<'g>>) -> TensorArray<'g> {
        let g = self.graph();
        let value = self.place(value);
        if !self.untouched {
            g.remember(
                invalid!("an array is split into before anything is written to it")
                    .with_help("make another array for the parts: `TensorArray::of`"),
            );
        }
        let lengths = g.op("Identity").input(lengths).output();
        let lengths = match lengths.dtype() {
            Ok(DType::I64) | Err(_) => lengths,
            Ok(_) => g.op("Cast").input(lengths).attr("DstT", DType::I64).output(),
        };
        let rows = any_rows(&value.shape());
        self.learn(&rows, "split");
        let lengths = self.of_my_size(lengths, lengths.shape().dim(0), |l| g.op("Size").input(l).output());
        let shape = self.shape_input(&self.element_shape);
        let node = g.op("TensorListSplit").name("TensorArraySplit").input(value).input(shape).input(lengths);
        let flow = node.output();
        self.next(flow)
    }

    /// The same array, as another value: made where the current control dependencies say.
    #[track_caller]
    pub fn identity(&self) -> TensorArray<'g> {
        let flow = self.graph().op("Identity").input(self.flow).output();
        TensorArray { flow, ..self.clone() }
    }

    /// Gives the array up: it cannot be used after this, and its memory is free as soon as what used it has run. The operation runs then.
    #[track_caller]
    pub fn close(self) -> Op<'g> {
        self.graph().op("NoOp").name("TensorArrayClose").control(self.flow).finish()
    }

    /// The gradients of the sum of `ys` by the elements: an array of as many.
    #[track_caller]
    pub fn grad(&self, ys: impl IntoIterator<Item = impl Into<Output<'g>>>) -> Result<TensorArray<'g>> {
        let grads = self.graph().gradients(ys, [self.flow]).run()?;
        let flow = match grads.into_iter().next().flatten() {
            Some(Grad::Dense(list)) => list,
            None => self.graph().op("ZerosLike").input(self.flow).output(),
            Some(_) => return Err(Error::internal("the gradient of a list is a list")),
        };
        Ok(TensorArray { flow, untouched: false, ..self.clone() })
    }

    /// The array as another value: the same one elsewhere in a loop.
    pub(crate) fn at(&self, flow: Output<'g>) -> TensorArray<'g> {
        TensorArray { flow, untouched: false, ..self.clone() }
    }

    /// The array, unless the graph knows of a mistake.
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

    /// A literal as an output of the elements' dtype.
    fn place(&self, value: impl Into<Arg<'g>>) -> Output<'g> {
        self.graph().op("Identity").input(value).attr("T", self.dtype).output()
    }

    fn shape_input(&self, shape: &PartialShape) -> Output<'g> {
        self.graph().element_shape(shape)
    }

    /// Elements have this shape too, if they all have one.
    #[track_caller]
    fn learn(&mut self, shape: &PartialShape, what: &str) {
        match self.element_shape.merge(shape) {
            Some(merged) if self.infer_shape => self.element_shape = merged,
            Some(_) => {}
            None => self.graph().remember(
                invalid!(
                    "`{what}`: the elements of the TensorArray have shape {} but what is written has shape {shape}",
                    self.element_shape
                )
                .at_line(std::panic::Location::caller())
                .with_help("elements of different shapes: `.infer_shape(false)`, and no `element_shape`"),
            ),
        }
    }

    /// `value`, checked to bring as many elements as there are: now where both are known, otherwise when it runs.
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
                    invalid!("{n} elements are written to a TensorArray of {size}")
                        .at_line(std::panic::Location::caller())
                        .with_help("make it as long, or with `.dynamic_size(true)`"),
                );
                value
            }
            _ => {
                let n = count(value);
                let same = g.op("Equal").inputs([n, size]).output();
                let what = g.constant("elements are written to a TensorArray of another size:");
                let check = g.op("Assert").input(same).inputs([what, n, size]).finish();
                g.control_dependencies([check], || g.op("Identity").input(value).output())
            }
        }
    }
}

fn first(vector: Output<'_>) -> Output<'_> {
    let node = vector.graph().op("StridedSlice").input(vector).input([0]).input([1]).input([1]);
    node.attr("shrink_axis_mask", 1).output()
}

fn row_of(shape: &PartialShape) -> PartialShape {
    match shape.dims() {
        Some([_, rest @ ..]) => PartialShape::new(rest.iter().copied()),
        _ => PartialShape::unknown(),
    }
}

/// The shape with any number of rows.
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
