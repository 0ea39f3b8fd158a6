//! [`Output`] and [`Op`]: small handles to values and operations of a graph, with arithmetic.

use crate::builder::Arg;
use crate::graph::Graph;
use crate::ids::{NodeId, Port};
use crate::op::Operator;
use millstream_tensor::{DType, PartialShape, Result};
use std::fmt;
use std::ops;

/// A value of the graph: output `index` of a node. A small `Copy` handle; `a + b` adds a node.
#[derive(Clone, Copy)]
pub struct Output<'g> {
    graph: &'g Graph,
    port: Port,
}

/// An operation of the graph: a node.
#[derive(Clone, Copy)]
pub struct Op<'g> {
    graph: &'g Graph,
    id: NodeId,
}

impl<'g> Output<'g> {
    /// The handle to a port of a graph.
    pub fn new(graph: &'g Graph, port: Port) -> Self {
        Output { graph, port }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The port.
    pub fn port(&self) -> Port {
        self.port
    }

    /// The operation that computes this value.
    pub fn op(&self) -> Op<'g> {
        Op { graph: self.graph, id: self.port.node }
    }

    /// The element type. An error if the node could not be made.
    pub fn dtype(&self) -> Result<DType> {
        self.graph.read(|g| g.type_of(self.port).map(|t| t.dtype))
    }

    /// Whether this is a reference to a variable.
    pub fn is_ref(&self) -> bool {
        self.graph.read(|g| g.type_of(self.port).is_ok_and(|t| t.is_ref))
    }

    /// The static shape.
    pub fn shape(&self) -> PartialShape {
        self.graph.read(|g| g.shape_of(self.port))
    }

    /// Merges `shape` into the static shape. The graph remembers a contradiction.
    #[track_caller]
    pub fn set_shape(self, shape: impl Into<PartialShape>) -> Self {
        if self.port.node != NodeId::POISON {
            let result = self.graph.lock().merge_shape(self.port, &shape.into());
            if let Err(error) = result {
                self.graph.remember(error.at_line(std::panic::Location::caller()));
            }
        }
        self
    }

    /// The name, `node:0`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.op().name(), self.port.index)
    }
}

impl<'g> Op<'g> {
    /// The handle to a node of a graph.
    pub fn new(graph: &'g Graph, id: NodeId) -> Self {
        Op { graph, id }
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The node.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Output `index`. If it does not exist, using it is an error.
    pub fn output(&self, index: u32) -> Output<'g> {
        Output { graph: self.graph, port: Port::new(self.id, index) }
    }

    /// All outputs.
    pub fn outputs(&self) -> Vec<Output<'g>> {
        let n = self.graph.read(|g| g.node(self.id).map_or(0, |n| n.info.output_types.len()));
        (0..n as u32).map(|i| self.output(i)).collect()
    }

    /// The data inputs.
    pub fn inputs(&self) -> Vec<Output<'g>> {
        let ports = self.graph.read(|g| g.node(self.id).map_or(Vec::new(), |n| n.inputs.to_vec()));
        ports.into_iter().map(|p| Output::new(self.graph, p)).collect()
    }

    /// The operations that run before because of control edges.
    pub fn control_inputs(&self) -> Vec<Op<'g>> {
        let ids = self.graph.read(|g| g.node(self.id).map_or(Vec::new(), |n| n.controls.to_vec()));
        ids.into_iter().map(|id| Op::new(self.graph, id)).collect()
    }

    /// The name.
    pub fn name(&self) -> String {
        self.graph.read(|g| g.node(self.id).map_or("(not made)".into(), |n| n.name().to_owned()))
    }

    /// The op type.
    pub fn op_type(&self) -> &'static str {
        self.graph.read(|g| g.node(self.id).map_or("", |n| n.op()))
    }
}

impl<'g> From<Output<'g>> for Op<'g> {
    fn from(output: Output<'g>) -> Self {
        output.op()
    }
}

impl<'g> From<&Output<'g>> for Op<'g> {
    fn from(output: &Output<'g>) -> Self {
        output.op()
    }
}

impl<'g> From<&Op<'g>> for Op<'g> {
    fn from(op: &Op<'g>) -> Self {
        *op
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype() {
            Ok(dtype) => write!(f, "{}: {dtype}{}", self.name(), self.shape()),
            Err(_) => f.write_str("(not made)"),
        }
    }
}

impl fmt::Debug for Op<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.op_type())
    }
}

/// Adds the node of a Rust operator.
#[track_caller]
fn operate<'g>(graph: &'g Graph, operator: Operator, args: impl IntoIterator<Item = Arg<'g>>) -> Output<'g> {
    let def = graph.registry().by_operator(operator);
    let op = def.map_or(operator.node_name(), |d| d.name);
    graph.op(op).name(operator.node_name()).inputs(args).output()
}

macro_rules! binary_operators {
    ($($trait:ident :: $method:ident),*) => { $(
        impl<'g, R: Into<Arg<'g>>> ops::$trait<R> for Output<'g> {
            type Output = Output<'g>;
            #[track_caller]
            fn $method(self, right: R) -> Output<'g> {
                operate(self.graph, Operator::$trait, [self.into(), right.into()])
            }
        }
        reversed_operators!($trait::$method: f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool);
    )* };
}

macro_rules! reversed_operators {
    ($trait:ident :: $method:ident: $($t:ty)*) => { $(
        impl<'g> ops::$trait<Output<'g>> for $t {
            type Output = Output<'g>;
            #[track_caller]
            fn $method(self, right: Output<'g>) -> Output<'g> {
                operate(right.graph, Operator::$trait, [self.into(), right.into()])
            }
        }
    )* };
}

binary_operators!(
    Add::add,
    Sub::sub,
    Mul::mul,
    Div::div,
    Rem::rem,
    BitAnd::bitand,
    BitOr::bitor,
    BitXor::bitxor
);

impl<'g> ops::Neg for Output<'g> {
    type Output = Output<'g>;
    #[track_caller]
    fn neg(self) -> Output<'g> {
        operate(self.graph, Operator::Neg, [self.into()])
    }
}

impl<'g> ops::Not for Output<'g> {
    type Output = Output<'g>;
    #[track_caller]
    fn not(self) -> Output<'g> {
        operate(self.graph, Operator::Not, [self.into()])
    }
}
