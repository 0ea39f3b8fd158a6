//! [`Gradient`]: how an op is differentiated, declared beside its kernel; [`GradCx`]: what a gradient function sees and says.
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
//! The gradient of an input has its shape and dtype. An input that the op broadcast gets its part by [`GradCx::give_summed`]; one whose gradient
//! nobody needs ([`GradCx::wants`]) may be left out. Of complex numbers z = a + bi the gradient is dL/da + i dL/db: the gradient of a
//! holomorphic function is multiplied with the conjugate of its derivative ([`GradCx::conj`]).
//!
//! Forward values are asked for only where they are needed: what is asked for inside of a loop is saved, iteration by iteration.

use super::resolve::NodeInfo;
use crate::attr::Attrs;
use crate::builder::{Arg, OpBuilder};
use crate::composite::{Grad, IndexedSlices, ListItem};
use crate::graph::Graph;
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::output::Output;
use millstream_tensor::{DType, PartialShape, Result, Tensor};
use std::sync::Arc;

/// A gradient function: adds the nodes that take the gradients of the outputs to those of the inputs.
pub type GradFn = fn(&mut GradCx) -> Result<()>;

/// A gradient function that a graph knows by name ([`Graph::register_gradient`]).
pub type GradientFn = Arc<dyn Fn(&mut GradCx) -> Result<()> + Send + Sync>;

/// The attribute that says by which [registered](Graph::register_gradient) gradient a node is differentiated.
pub const GRADIENT_OVERRIDE: &str = "_gradient_op_type";

/// How an op is differentiated.
#[derive(Clone, Copy)]
pub enum Gradient {
    /// By this function.
    Of(GradFn),
    /// Nothing flows back through it, for this reason.
    None(&'static str),
    /// It has a gradient that cannot be had, for this reason: to need it is an error.
    Missing(&'static str),
    /// It moves tokens, and gradients flow against them: known by its role.
    Structural,
}

impl Gradient {
    /// By this function.
    pub fn of(grad: GradFn) -> Gradient {
        Gradient::Of(grad)
    }

    /// Nothing flows back through it: `Gradient::none("integer output")`.
    pub fn none(reason: &'static str) -> Gradient {
        Gradient::None(reason)
    }

    /// The gradient passes unchanged from output 0 to input 0.
    pub fn pass() -> Gradient {
        Gradient::Of(|cx| {
            if let Some(grad) = cx.grad_as_it_is(0) {
                cx.give(0, grad);
            }
            Ok(())
        })
    }
}

/// Forward values as the gradient sees them: what lies in a loop is saved there and brought back.
pub trait Forward<'g> {
    /// What stands for the value where the gradient is being built.
    fn value(&mut self, port: Port) -> Result<Output<'g>>;
    /// Its shape, an i32 vector.
    fn shape(&mut self, port: Port) -> Result<Output<'g>>;
    /// If the value is the flow of a TensorArray: a list of zeros like the array, which is what its gradient is.
    fn array_zeros(&mut self, port: Port) -> Result<Option<Output<'g>>>;
}

/// What a gradient function sees of its node, and where it says the gradients of the inputs.
///
/// Nothing here fails in the middle of an expression: a mistake is remembered by the graph, as everywhere.
pub struct GradCx<'g, 'a> {
    graph: &'g Graph,
    node: &'a Node,
    id: NodeId,
    grads: &'a [Option<Grad<'g>>],
    wanted: &'a [bool],
    given: Vec<Option<Grad<'g>>>,
    forward: &'a mut dyn Forward<'g>,
}

impl<'g, 'a> GradCx<'g, 'a> {
    /// The context for a node, with the gradients of its outputs and which inputs need one.
    pub fn new(
        graph: &'g Graph,
        (id, node): (NodeId, &'a Node),
        grads: &'a [Option<Grad<'g>>],
        wanted: &'a [bool],
        forward: &'a mut dyn Forward<'g>,
    ) -> Self {
        GradCx { graph, node, id, grads, wanted, given: vec![None; node.inputs.len()], forward }
    }

    /// Runs the gradient function and gives the gradients of the inputs.
    pub fn run(mut self, grad: &dyn Fn(&mut GradCx) -> Result<()>) -> Result<Vec<Option<Grad<'g>>>> {
        grad(&mut self)?;
        self.graph.check()?;
        Ok(self.given)
    }

    /// The graph, to which nodes are added.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The forward node's place in the graph.
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

    /// How many inputs it has.
    pub fn n_inputs(&self) -> usize {
        self.node.inputs.len()
    }

    /// How many outputs it has.
    pub fn n_outputs(&self) -> usize {
        self.node.info.output_types.len()
    }

    /// Whether the gradient of input `i` is needed: if not, it need not be given, and what only it takes need not be asked for.
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

    /// What is known of the shape of input `i`.
    pub fn input_shape(&self, i: usize) -> PartialShape {
        self.graph.read(|g| g.shape_of(self.node.inputs[i]))
    }

    /// What is known of the shape of output `i`.
    pub fn output_shape(&self, i: usize) -> PartialShape {
        self.graph.read(|g| g.shape_of(self.out(i)))
    }

    /// The value of input `i`, where it is known while the graph is built.
    pub fn known_input(&self, i: usize) -> Option<Tensor> {
        self.graph.read(|g| g.known_value(self.node.inputs[i]))
    }

    /// The integers of input `i`, where they are known while the graph is built.
    pub fn known_ints(&self, i: usize) -> Option<Vec<i64>> {
        let value = self.known_input(i)?;
        match value.dtype() {
            DType::I64 => Some(value.as_slice::<i64>().ok()?.to_vec()),
            _ => Some(value.as_slice::<i32>().ok()?.iter().map(|&v| v.into()).collect()),
        }
    }

    /// The op that made the value of input `i`, somewhere before branches and loops.
    pub fn origin(&self, i: usize) -> Option<Arc<NodeInfo>> {
        self.graph.read(|g| g.node(g.origin(self.node.inputs[i])?.node).ok().map(|n| n.info.clone()))
    }

    /// The shape of input `i` as an i32 vector: a constant where it is known, otherwise saved without the value.
    pub fn shape_of_input(&mut self, i: usize) -> Output<'g> {
        self.shape(self.node.inputs[i])
    }

    /// The shape of output `i` as an i32 vector.
    pub fn shape_of_output(&mut self, i: usize) -> Output<'g> {
        self.shape(self.out(i))
    }

    /// The gradient of output `i` as a tensor; zeros where none flows in.
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

    /// As [`GradCx::grad`], to be multiplied with something of the output's shape: of one that is the same everywhere (that of a sum or a
    /// mean) a scalar, which need not be spread out first.
    pub fn grad_as_factor(&mut self, i: usize) -> Output<'g> {
        let grad = self.grad(i);
        let spread = self.graph.read(|g| {
            let node = g.node(grad.port().node).ok().filter(|n| n.op() == "BroadcastTo")?;
            (g.shape_of(node.inputs[0]).rank() == Some(0)).then_some(node.inputs[0])
        });
        spread.map_or(grad, |scalar| Output::new(self.graph, scalar))
    }

    /// The gradient of output `i`, slices kept as such; `None` where none flows in.
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

    /// Says the gradient of input `i`.
    pub fn give(&mut self, i: usize, grad: impl Into<Grad<'g>>) {
        self.given[i] = Some(grad.into());
    }

    /// Says the gradient of input `i`, which was broadcast to the shape that `grad` has: sums over the axes that were stretched.
    pub fn give_summed(&mut self, i: usize, grad: Output<'g>) {
        let grad = self.summed_to_input(i, grad);
        self.give(i, grad);
    }

    /// As [`GradCx::give_summed`], for an input that not the other inputs stretched, but what the op was told.
    pub fn give_unstretched(&mut self, i: usize, grad: Output<'g>) {
        let grad = self.summed_over(i, grad);
        self.give(i, grad);
    }

    /// Zeros like a value of the gradient.
    pub fn zeros_like(&self, x: Output<'g>) -> Output<'g> {
        let zeros = x.dtype().ok().and_then(|dtype| self.graph.static_zeros(dtype, &x.shape()));
        zeros.unwrap_or_else(|| self.call("ZerosLike", [x]))
    }

    /// The shape of a value of the gradient, an i32 vector: a constant where it is known.
    pub fn shape_of(&self, x: Output<'g>) -> Output<'g> {
        self.static_shape(&x.shape()).unwrap_or_else(|| self.call("Shape", [x]))
    }

    /// The shape of what the resource variable at input `i` holds, an i32 vector: a constant where it is known.
    pub fn shape_of_variable(&mut self, i: usize) -> Output<'g> {
        let known = self.graph.read(|g| g.known_handle(self.node.inputs[i]));
        if let Some(shape) = known.and_then(|handle| self.static_shape(&handle.shape)) {
            return shape;
        }
        let handle = self.input(i);
        self.call("VariableShape", [handle])
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

    /// A node of these inputs whose attributes follow from them; its first output.
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

    /// The complex conjugate; real values are their own.
    pub fn conj(&self, x: Output<'g>) -> Output<'g> {
        match x.dtype() {
            Ok(DType::C64 | DType::C128) => self.call("Conj", [x]),
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
        self.call("Reshape", [x, shape]).set_shape(wanted)
    }

    fn out(&self, i: usize) -> Port {
        Port::new(self.id, i as u32)
    }

    /// What stands here for a forward value, of this node or another: one that lies in a loop is saved there and brought back.
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
            let summed = self.op("Sum").input(grad).input(axes).attr("keep_dims", false).output();
            return self.reshaped_to_input(i, summed);
        }
        let shape = self.shape_of_input(i);
        let whole = self.call("Shape", [grad]);
        let axes = self.call("BroadcastGradientArgs", [shape, whole]);
        let summed = self.op("Sum").input(grad).input(axes).attr("keep_dims", false).output();
        // Which the dimensions of a saved shape do not tell.
        self.call("Reshape", [summed, shape]).set_shape(to)
    }

    /// Whether input `i` certainly has the shape that all inputs are broadcast to.
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

/// Zeros like a forward value: of a tensor, of what a variable holds, of a list.
pub fn zeros_of<'g>(graph: &'g Graph, port: Port, forward: &mut dyn Forward<'g>) -> Result<Output<'g>> {
    if let Some(zeros) = forward.array_zeros(port)? {
        return Ok(zeros);
    }
    let (dtype, shape, handle) = graph
        .read(|g| -> Result<_> { Ok((g.type_of(port)?.dtype, g.shape_of(port), g.known_handle(port))) })?;
    match dtype {
        DType::Variant => Ok(graph.op("ZerosLike").input(forward.value(port)?).output()),
        DType::Resource => {
            let Some(handle) = handle else {
                return Err(millstream_tensor::invalid!(
                    "what the resource holds is not known, so zeros like it are not either"
                ));
            };
            if let Some(zeros) = graph.static_zeros(handle.dtype, &handle.shape) {
                return Ok(zeros);
            }
            let shape = graph.op("VariableShape").input(forward.value(port)?).output();
            Ok(graph.op("Fill").input(shape).input(graph.scalar_of(handle.dtype, 0.0)).output())
        }
        _ => Ok(match graph.static_zeros(dtype, &shape) {
            Some(zeros) => zeros,
            None => graph.op("Fill").input(forward.shape(port)?).input(graph.scalar_of(dtype, 0.0)).output(),
        }),
    }
}

/// The list, at least so long that it has item `index`.
pub fn grown<'g>(list: Output<'g>, index: impl Into<Output<'g>>) -> Output<'g> {
    let graph = list.graph();
    let (length, wanted) = (graph.op("TensorListLength").input(list).output(), index.into() + 1);
    let size = graph.op("Maximum").inputs([length, wanted]).output();
    graph.op("TensorListResize").inputs([list, size]).output()
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

    /// Zeros of a shape that is known; `None` if it isn't. Where they are more than a few they are made once, outside of all loops.
    pub fn static_zeros(&self, dtype: DType, shape: &PartialShape) -> Option<Output<'_>> {
        let shape = shape.full()?;
        if shape.checked_elements().ok()? <= 16 {
            return Some(self.constant_tensor("zeros", Tensor::zeros(dtype, shape).ok()?));
        }
        let dims: Option<Vec<i32>> = shape.dims().iter().map(|&d| i32::try_from(d).ok()).collect();
        let dims = dims?;
        Some(self.inside(None, || {
            self.op("Fill").name("zeros").input(dims).input(self.scalar_of(dtype, 0.0)).output()
        }))
    }

    /// A partial shape as list ops take it: a vector with -1 for what is not known, or a scalar -1.
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

    /// The value, or what stands for one that could not be made: the mistake is remembered.
    pub(crate) fn or_remembered<'g>(&'g self, value: Result<Output<'g>>) -> Output<'g> {
        value.unwrap_or_else(|error| {
            self.remember(error);
            Output::new(self, Port::new(NodeId::POISON, 0))
        })
    }
}

impl<'g> IndexedSlices<'g> {
    /// The whole tensor: rows of one place are summed, zeros where there are none. `shape` is that of the whole.
    pub fn to_dense(&self, shape: Output<'g>) -> Output<'g> {
        let g = self.values.graph();
        let n = g
            .op("StridedSlice")
            .inputs([shape.into(), Arg::from([0]), Arg::from([1]), Arg::from([1])])
            .attr("shrink_axis_mask", 1)
            .output();
        g.op("UnsortedSegmentSum").input(self.values).input(self.indices).input(n).output()
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
