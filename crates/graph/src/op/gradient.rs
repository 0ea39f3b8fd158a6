//! [`Gradient`], the declaration of how an op is differentiated, and [`GradCx`], the view that a gradient
//! function has of its node.
//!
//! ```ignore
//! // d tanh(x) = (1 - tanh(x)²) dx
//! fn grad(cx: &mut GradCx) -> Result<()> {
//!     let (dy, y) = (cx.grad(0), cx.output(0));
//!     cx.give(0, dy * (1 - y * y));
//!     Ok(())
//! }
//! ```
//!
//! The gradient of an input has the input's shape and dtype. For an input that the op broadcasts,
//! [`GradCx::give_summed`] sums it back to that shape. A gradient that is not needed ([`GradCx::wants`]) may
//! be left out. The gradient by a complex number z = a + bi is dL/da + i dL/db, so a holomorphic function
//! multiplies with the conjugate of its derivative ([`GradCx::conj`]).
//!
//! Ask only for the forward values that the gradient needs: inside a loop, each one is saved in every
//! iteration.

use super::builtin::Builtin;
use super::resolve::NodeInfo;
use crate::attr::Attrs;
use crate::builder::OpBuilder;
use crate::composite::{Grad, IndexedSlices, ListItem};
use crate::graph::Graph;
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::output::Output;
use millstream_tensor::{DType, PartialShape, Result, Tensor};
use std::sync::Arc;

/// A gradient function: adds nodes that compute the gradients of the inputs from those of the outputs.
pub type GradFn = fn(&mut GradCx) -> Result<()>;

/// A gradient function that is registered with a graph under a name ([`Graph::register_gradient`]).
pub type GradientFn = Arc<dyn Fn(&mut GradCx) -> Result<()> + Send + Sync>;

/// The attribute that names the [registered](Graph::register_gradient) gradient of a node, which replaces its
/// op's.
pub const GRADIENT_OVERRIDE: &str = "_gradient_op_type";

/// The way in which an op is differentiated.
#[derive(Clone, Copy, Debug)]
pub enum Gradient {
    /// This function computes the gradient.
    Of(GradFn),
    /// No gradient flows back through the op. The text is the reason.
    None(&'static str),
    /// The op is differentiable, but its gradient is not implemented. The text is the reason that the error
    /// gives.
    Missing(&'static str),
    /// The op moves tokens, and gradients flow against them. Its role determines how.
    Structural,
}

impl Gradient {
    /// A gradient that this function computes.
    pub fn of(grad: GradFn) -> Gradient {
        Gradient::Of(grad)
    }

    /// No gradient, and the reason: `Gradient::none("integer output")`.
    pub fn none(reason: &'static str) -> Gradient {
        Gradient::None(reason)
    }

    /// A gradient that passes unchanged from output 0 to input 0.
    pub fn pass() -> Gradient {
        Gradient::Of(|cx| {
            if let Some(grad) = cx.grad_as_it_is(0) {
                cx.give(0, grad);
            }
            Ok(())
        })
    }
}

/// Access to forward values while a gradient is built. Values inside a loop are saved there and brought back.
pub trait Forward<'g> {
    /// The value, as an output that can be used where the gradient is being built.
    fn value(&mut self, port: Port) -> Result<Output<'g>>;
    /// The value's shape, an i32 vector.
    fn shape(&mut self, port: Port) -> Result<Output<'g>>;
    /// The transpose of a matrix that is the same in every iteration of the loop which is differentiated,
    /// computed once before the loop; `None` for other values.
    fn transposed(&mut self, port: Port) -> Result<Option<Output<'g>>> {
        let _ = port;
        Ok(None)
    }
    /// A list of zeros like the array, if the value is the flow of a TensorArray: the type of its gradient.
    fn array_zeros(&mut self, port: Port) -> Result<Option<Output<'g>>>;
}

/// A node as its gradient function sees it, and the place for the gradients of its inputs.
///
/// No method fails in the middle of an expression: the graph remembers the first mistake, as everywhere.
pub struct GradCx<'g, 'a> {
    graph: &'g Graph,
    node: &'a Node,
    id: NodeId,
    grads: &'a [Option<Grad<'g>>],
    wanted: &'a [bool],
    given: Vec<Option<Grad<'g>>>,
    forward: &'a mut dyn Forward<'g>,
}

impl std::fmt::Debug for GradCx<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GradCx").field("node", &self.node.info).finish_non_exhaustive()
    }
}

impl<'g, 'a> GradCx<'g, 'a> {
    /// The context for a node, with the gradients of its outputs and, for each input, whether its gradient is
    /// wanted.
    pub fn new(
        graph: &'g Graph,
        (id, node): (NodeId, &'a Node),
        grads: &'a [Option<Grad<'g>>],
        wanted: &'a [bool],
        forward: &'a mut dyn Forward<'g>,
    ) -> Self {
        GradCx { graph, node, id, grads, wanted, given: vec![None; node.inputs.len()], forward }
    }

    /// Runs the gradient function and returns the gradients of the inputs.
    pub fn run(mut self, grad: &dyn Fn(&mut GradCx) -> Result<()>) -> Result<Vec<Option<Grad<'g>>>> {
        grad(&mut self)?;
        self.graph.check()?;
        Ok(self.given)
    }

    /// The graph, to which nodes are added.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The forward node's id.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The forward node.
    pub fn node(&self) -> &'a Arc<NodeInfo> {
        &self.node.info
    }

    /// Its attributes.
    pub fn attrs(&self) -> &'a Attrs {
        &self.node.info.attrs
    }

    /// The number of its inputs.
    pub fn n_inputs(&self) -> usize {
        self.node.inputs.len()
    }

    /// The number of its outputs.
    pub fn n_outputs(&self) -> usize {
        self.node.info.output_types.len()
    }

    /// Whether the gradient of input `i` is needed. If not, there is no need to compute it, or to ask for
    /// values that only it needs.
    pub fn wants(&self, i: usize) -> bool {
        self.wanted.get(i).copied().unwrap_or(false)
    }

    /// The dtype of input `i`.
    pub fn dtype(&self, i: usize) -> DType {
        self.node.info.input_types[i].dtype
    }

    /// The dtype of output `i`.
    pub fn output_dtype(&self, i: usize) -> DType {
        self.node.info.output_types[i].dtype
    }

    /// The value of input `i`.
    pub fn input(&mut self, i: usize) -> Output<'g> {
        self.value(self.node.inputs[i])
    }

    /// The value of output `i`.
    pub fn output(&mut self, i: usize) -> Output<'g> {
        self.value(self.out(i))
    }

    /// The transpose of input `i`, a matrix, if the gradient is that of a loop in which the input is always
    /// the same: it is computed once, before the loop.
    pub fn transposed_input(&mut self, i: usize) -> Option<Output<'g>> {
        match self.forward.transposed(self.node.inputs[i]) {
            Ok(transposed) => transposed,
            Err(error) => {
                self.graph.remember(error);
                None
            }
        }
    }

    /// The static shape of input `i`.
    pub fn input_shape(&self, i: usize) -> PartialShape {
        self.graph.read(|g| g.shape_of(self.node.inputs[i]))
    }

    /// The static shape of output `i`.
    pub fn output_shape(&self, i: usize) -> PartialShape {
        self.graph.read(|g| g.shape_of(self.out(i)))
    }

    /// The value of input `i`, if it is known while the graph is built.
    pub fn known_input(&self, i: usize) -> Option<Tensor> {
        self.graph.read(|g| g.known_value(self.node.inputs[i]))
    }

    /// The integers of input `i`, if they are known while the graph is built.
    pub fn known_ints(&self, i: usize) -> Option<Vec<i64>> {
        let value = self.known_input(i)?;
        match value.dtype() {
            DType::I64 => Some(value.as_slice::<i64>().ok()?.to_vec()),
            _ => Some(value.as_slice::<i32>().ok()?.iter().map(|&v| v.into()).collect()),
        }
    }

    /// The node that made the value of input `i`, traced back through branches and loops.
    pub fn origin(&self, i: usize) -> Option<Arc<NodeInfo>> {
        self.graph.read(|g| g.node(g.origin(self.node.inputs[i])?.node).ok().map(|n| n.info.clone()))
    }

    /// The shape of input `i` as an i32 vector: a constant if it is known, otherwise saved without the value.
    pub fn shape_of_input(&mut self, i: usize) -> Output<'g> {
        self.shape(self.node.inputs[i])
    }

    /// The shape of output `i` as an i32 vector.
    pub fn shape_of_output(&mut self, i: usize) -> Output<'g> {
        self.shape(self.out(i))
    }

    /// The gradient of output `i` as a tensor; zeros if no gradient flows in.
    pub fn grad(&mut self, i: usize) -> Output<'g> {
        match self.grad_as_it_is(i) {
            Some(Grad::Dense(grad)) => grad,
            Some(Grad::Slices(slices)) => {
                let shape = slices.dense_shape.unwrap_or_else(|| self.shape(self.out(i)));
                slices.to_dense(shape)
            }
            // Items are summed into a list before anything sees them.
            Some(Grad::Item(item)) => item.value,
            None => self.zeros_of(self.out(i)),
        }
    }

    /// Like [`GradCx::grad`], for use as a factor of a value with the output's shape. A gradient that is the
    /// same everywhere (that of a sum or a mean) is returned as a scalar, which the product broadcasts.
    pub fn grad_as_factor(&mut self, i: usize) -> Output<'g> {
        let grad = self.grad(i);
        let spread = self.graph.read(|g| {
            let node = g.node(grad.port().node).ok().filter(|n| n.info.op.spreads)?;
            (g.shape_of(node.inputs[0]).rank() == Some(0)).then_some(node.inputs[0])
        });
        spread.map_or(grad, |scalar| Output::new(self.graph, scalar))
    }

    /// The gradient of output `i`, with slices left as they are; `None` if no gradient flows in.
    pub fn grad_as_it_is(&self, i: usize) -> Option<Grad<'g>> {
        self.grads.get(i).copied().flatten()
    }

    /// Whether a gradient flows in at output `i`.
    pub fn has_grad(&self, i: usize) -> bool {
        self.grad_as_it_is(i).is_some()
    }

    /// Zeros like input `i`.
    pub fn zeros_like_input(&mut self, i: usize) -> Output<'g> {
        self.zeros_of(self.node.inputs[i])
    }

    /// Sets the gradient of input `i`.
    pub fn give(&mut self, i: usize, grad: impl Into<Grad<'g>>) {
        self.given[i] = Some(grad.into());
    }

    /// Sets the gradient of input `i`, which the other inputs stretch to the shape of `grad`: sums over the
    /// stretched axes.
    pub fn give_summed(&mut self, i: usize, grad: Output<'g>) {
        let grad = self.summed_to_input(i, grad);
        self.give(i, grad);
    }

    /// Like [`GradCx::give_summed`], for an input that the op itself stretches to a given shape.
    pub fn give_unstretched(&mut self, i: usize, grad: Output<'g>) {
        let grad = self.summed_over(i, grad);
        self.give(i, grad);
    }

    /// Zeros with the dtype and shape of a value of the gradient.
    pub fn zeros_like(&self, x: Output<'g>) -> Output<'g> {
        let zeros = x.dtype().ok().and_then(|dtype| self.graph.static_zeros(dtype, &x.shape()));
        zeros.unwrap_or_else(|| self.graph.builtin(Builtin::ZerosLike(x)).output())
    }

    /// The shape of a value of the gradient, an i32 vector: a constant if it is known.
    pub fn shape_of(&self, x: Output<'g>) -> Output<'g> {
        self.static_shape(&x.shape()).unwrap_or_else(|| self.graph.builtin(Builtin::Shape(x)).output())
    }

    /// The shape of the value in the resource variable at input `i`, an i32 vector: a constant if it is
    /// known.
    pub fn shape_of_variable(&mut self, i: usize) -> Output<'g> {
        let known = self.graph.read(|g| g.known_handle(self.node.inputs[i]));
        if let Some(shape) = known.and_then(|handle| self.static_shape(&handle.shape)) {
            return shape;
        }
        let handle = self.input(i);
        self.graph.builtin(Builtin::VariableShape(handle)).output()
    }

    fn static_shape(&self, shape: &PartialShape) -> Option<Output<'g>> {
        let dims: Option<Vec<i32>> = shape.full()?.dims().iter().map(|&d| i32::try_from(d).ok()).collect();
        Some(self.ints(&dims?))
    }

    /// Starts a node.
    #[track_caller]
    pub fn op(&self, op: &'static str) -> OpBuilder<'g> {
        self.graph.op(op)
    }

    /// Adds a node with these inputs, whose attributes follow from them. Returns its first output.
    #[track_caller]
    pub fn call<const N: usize>(&self, op: &'static str, inputs: [Output<'g>; N]) -> Output<'g> {
        self.graph.op(op).inputs(inputs).output()
    }

    /// A constant of this dtype.
    pub fn scalar(&self, dtype: DType, value: f64) -> Output<'g> {
        self.graph.scalar_of(dtype, value)
    }

    /// A constant i32 vector.
    pub fn ints(&self, values: &[i32]) -> Output<'g> {
        self.graph.constant(values)
    }

    /// The complex conjugate; a real value itself.
    pub fn conj(&self, x: Output<'g>) -> Output<'g> {
        match x.dtype() {
            Ok(DType::C64 | DType::C128) => self.graph.builtin(Builtin::Conj(x)).output(),
            _ => x,
        }
    }

    /// `x` in the shape of input `i`.
    pub fn reshaped_to_input(&mut self, i: usize, x: Output<'g>) -> Output<'g> {
        let wanted = self.input_shape(i);
        if wanted.is_full() && x.shape() == wanted {
            return x;
        }
        let shape = self.shape_of_input(i);
        self.graph.builtin(Builtin::Reshape(x, shape)).output().set_shape(wanted)
    }

    fn out(&self, i: usize) -> Port {
        Port::new(self.id, i as u32)
    }

    /// A forward value, of this node or another, as an output that can be used here. A value inside a loop is
    /// saved there and brought back.
    pub fn value(&mut self, port: Port) -> Output<'g> {
        let value = self.forward.value(port);
        self.graph.or_remembered(value)
    }

    fn shape(&mut self, port: Port) -> Output<'g> {
        let shape = self.forward.shape(port);
        self.graph.or_remembered(shape)
    }

    fn zeros_of(&mut self, port: Port) -> Output<'g> {
        let zeros = zeros_of(self.graph, port, self.forward);
        self.graph.or_remembered(zeros)
    }

    /// Sums `grad` over the axes along which input `i` was stretched to its shape by the other inputs.
    fn summed_to_input(&mut self, i: usize, grad: Output<'g>) -> Output<'g> {
        if self.keeps_shape(i, &self.input_shape(i)) {
            return grad;
        }
        self.summed_over(i, grad)
    }

    /// Sums `grad` over the axes along which input `i` was stretched to its shape.
    fn summed_over(&mut self, i: usize, grad: Output<'g>) -> Output<'g> {
        let (from, to) = (grad.shape(), self.input_shape(i));
        if from.is_full() && from == to {
            return grad;
        }
        if let (Some(from), Some(dims)) = (from.rank(), to.dims())
            && let Some(dims) = dims.iter().copied().collect::<Option<Vec<usize>>>()
            && grad.shape().dims().is_some_and(|g| g.iter().all(Option::is_some))
        {
            let lead = from - dims.len().min(from);
            let stretched = |(axis, &d): (usize, &usize)| {
                (d == 1 && grad.shape().dim(lead + axis) != Some(1)).then_some((lead + axis) as i32)
            };
            let mut axes: Vec<i32> = (0..lead as i32).collect();
            axes.extend(dims.iter().enumerate().filter_map(stretched));
            let summed = self.graph.builtin(Builtin::Sum(grad, axes.into())).output();
            return self.reshaped_to_input(i, summed);
        }
        let shape = self.shape_of_input(i);
        let whole = self.graph.builtin(Builtin::Shape(grad)).output();
        let axes = self.graph.builtin(Builtin::StretchedAxes(shape, whole)).output();
        let summed = self.graph.builtin(Builtin::Sum(grad, axes.into())).output();
        // The dimensions of a saved shape are not static, so inference alone would not know this shape.
        self.graph.builtin(Builtin::Reshape(summed, shape)).output().set_shape(to)
    }

    /// Whether input `i` certainly has the shape that all inputs broadcast to.
    fn keeps_shape(&self, i: usize, shape: &PartialShape) -> bool {
        let Some(dims) = shape.dims() else {
            // A scalar stretches nothing.
            return (0..self.n_inputs()).all(|j| j == i || self.input_shape(j).rank() == Some(0));
        };
        (0..self.n_inputs()).filter(|&j| j != i).all(|j| {
            let other = self.input_shape(j);
            let Some(others) = other.dims() else { return false };
            let fits = |(a, b): (&Option<usize>, &Option<usize>)| match (a, b) {
                (_, Some(1)) => true,
                (Some(a), _) => *a != 1,
                (None, _) => false,
            };
            others.len() <= dims.len() && dims.iter().rev().zip(others.iter().rev()).all(fits)
        })
    }
}

/// Zeros like a forward value: like a tensor, the value in a variable, or a list.
pub fn zeros_of<'g>(graph: &'g Graph, port: Port, forward: &mut dyn Forward<'g>) -> Result<Output<'g>> {
    if let Some(zeros) = forward.array_zeros(port)? {
        return Ok(zeros);
    }
    let (dtype, shape, handle) = graph
        .read(|g| -> Result<_> { Ok((g.type_of(port)?.dtype, g.shape_of(port), g.known_handle(port))) })?;
    match dtype {
        DType::Variant => Ok(graph.builtin(Builtin::ZerosLike(forward.value(port)?)).output()),
        DType::Resource => {
            let Some(handle) = handle else {
                return Err(millstream_tensor::invalid!(
                    "the contents of the resource are unknown, so zeros of its shape cannot be made"
                ));
            };
            if let Some(zeros) = graph.static_zeros(handle.dtype, &handle.shape) {
                return Ok(zeros);
            }
            let shape = graph.builtin(Builtin::VariableShape(forward.value(port)?)).output();
            Ok(graph.builtin(Builtin::Fill(shape.into(), graph.scalar_of(handle.dtype, 0.0))).output())
        }
        _ => Ok(match graph.static_zeros(dtype, &shape) {
            Some(zeros) => zeros,
            None => {
                let shape = forward.shape(port)?;
                graph.builtin(Builtin::Fill(shape.into(), graph.scalar_of(dtype, 0.0))).output()
            }
        }),
    }
}

/// The list, lengthened if need be, so that it has an item `index`.
pub fn grown<'g>(list: Output<'g>, index: impl Into<Output<'g>>) -> Output<'g> {
    list.graph().builtin(Builtin::GrowList { list, index: index.into() }).output()
}

impl Graph {
    /// A constant scalar of a number dtype.
    pub fn scalar_of(&self, dtype: DType, value: f64) -> Output<'_> {
        let value = crate::builder::weak_cast(&Tensor::scalar(value), dtype);
        match value {
            Ok(value) => self.constant_tensor("Const", value),
            Err(error) => self.or_remembered(Err(error)),
        }
    }

    /// Zeros of a known shape; `None` if the shape is not known. More than 16 zeros are made once, outside
    /// all loops.
    pub fn static_zeros(&self, dtype: DType, shape: &PartialShape) -> Option<Output<'_>> {
        let shape = shape.full()?;
        if shape.checked_elements().ok()? <= 16 {
            return Some(self.constant_tensor("zeros", Tensor::zeros(dtype, shape).ok()?));
        }
        let dims: Option<Vec<i32>> = shape.dims().iter().map(|&d| i32::try_from(d).ok()).collect();
        let dims = dims?;
        Some(self.inside(None, || {
            self.builtin(Builtin::Fill(dims.into(), self.scalar_of(dtype, 0.0))).name("zeros").output()
        }))
    }

    /// A partial shape in the form that list ops take: a vector with -1 for unknown dimensions, or the scalar
    /// -1 for an unknown rank.
    pub fn element_shape(&self, shape: &PartialShape) -> Output<'_> {
        let dim = |d: &Option<usize>| d.map_or(Some(-1), |d| i32::try_from(d).ok());
        match shape.dims().and_then(|dims| dims.iter().map(dim).collect::<Option<Vec<i32>>>()) {
            Some(dims) => self.constant_tensor(
                "element_shape",
                Tensor::vector(&dims).unwrap_or_else(|_| Tensor::scalar(-1i32)),
            ),
            None => self.constant_tensor("element_shape", Tensor::scalar(-1i32)),
        }
    }

    /// The value, or on an error a placeholder for it. The graph remembers the error.
    pub(crate) fn or_remembered<'g>(&'g self, value: Result<Output<'g>>) -> Output<'g> {
        value.unwrap_or_else(|error| {
            self.remember(error);
            Output::new(self, Port::new(NodeId::POISON, 0))
        })
    }
}

impl<'g> IndexedSlices<'g> {
    /// The dense tensor of shape `shape`: slices with the same index are summed, and rows without a slice are
    /// zero.
    pub fn to_dense(&self, shape: Output<'g>) -> Output<'g> {
        let g = self.values.graph();
        let rows = g.builtin(Builtin::RowsOfShape(shape)).output();
        g.builtin(Builtin::SumRows { values: self.values, places: self.indices, rows }).output()
    }
}

impl<'g> From<Output<'g>> for Grad<'g> {
    fn from(grad: Output<'g>) -> Self {
        Grad::Dense(grad)
    }
}

impl<'g> From<IndexedSlices<'g>> for Grad<'g> {
    fn from(grad: IndexedSlices<'g>) -> Self {
        Grad::Slices(grad)
    }
}

impl<'g> From<ListItem<'g>> for Grad<'g> {
    fn from(grad: ListItem<'g>) -> Self {
        Grad::Item(grad)
    }
}
