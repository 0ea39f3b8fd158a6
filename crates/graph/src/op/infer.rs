//! [`InferCx`]: the view of a node that a shape rule reads, and the place for its results.

use super::panics::caught;
use super::resolve::NodeInfo;
use crate::attr::Attrs;
use millstream_tensor::{DType, Dim, Error, MAX_RANK, PartialShape, Result, Tensor, invalid};
use smallvec::SmallVec;

/// The part of an edge's value that is known while the graph is built. Mostly small integer tensors, because
/// shapes, axes and sizes are made of them.
#[derive(Clone, Debug)]
pub enum Known {
    /// All of it.
    Value(Tensor),
    /// A scalar or vector of i32 or i64 with some entries known.
    Partial {
        /// The entries; their number is the length of the vector.
        entries: SmallVec<[Option<i64>; 4]>,
        /// Whether it is a scalar (with one entry) instead of a vector.
        scalar: bool,
    },
    /// A scalar handle of a resource that holds values of this type, or a scalar variant that is a list of
    /// such values.
    Handle(HandleShape),
}

/// The most entries of a value that is known in part. Shapes and sizes have few; without a limit, a chain of
/// Concats doubles them in every node.
const MOST_KNOWN: usize = 1 << 12;

/// The type of the values that a resource or a list holds.
#[derive(Clone, Debug, PartialEq)]
pub struct HandleShape {
    /// Their dtype.
    pub dtype: DType,
    /// A shape that all of them fit.
    pub shape: PartialShape,
}

impl Known {
    /// Whether both hold the same knowledge.
    pub fn same(&self, other: &Known) -> bool {
        match (self, other) {
            (Known::Value(a), Known::Value(b)) => a.bits_eq(b),
            (Known::Handle(a), Known::Handle(b)) => a == b,
            (Known::Partial { entries: a, scalar: s }, Known::Partial { entries: b, scalar: t }) => {
                a == b && s == t
            }
            _ => false,
        }
    }

    /// The entries of an integer scalar or vector, if there are few.
    pub fn entries(&self) -> Option<SmallVec<[Option<i64>; 4]>> {
        match self {
            Known::Partial { entries, .. } => Some(entries.clone()),
            Known::Value(t) if t.rank() <= 1 && t.elements() <= MOST_KNOWN => match t.dtype() {
                DType::I32 => Some(t.as_slice::<i32>().ok()?.iter().map(|&v| Some(v.into())).collect()),
                DType::I64 => Some(t.as_slice::<i64>().ok()?.iter().map(|&v| Some(v)).collect()),
                _ => None,
            },
            Known::Value(_) | Known::Handle(_) => None,
        }
    }

    /// Turns entries that are all known into a tensor of this dtype, so that rules that ask for a value find
    /// one.
    fn completed(self, dtype: DType) -> Known {
        let value = match &self {
            Known::Partial { entries, scalar } => entries
                .iter()
                .copied()
                .collect::<Option<SmallVec<[i64; 4]>>>()
                .and_then(|values| whole(dtype, *scalar, &values)),
            _ => None,
        };
        value.map_or(self, Known::Value)
    }
}

/// An integer scalar or vector; `None` if it does not fit the dtype.
fn whole(dtype: DType, scalar: bool, values: &[i64]) -> Option<Tensor> {
    let narrow = || values.iter().map(|&v| i32::try_from(v).ok()).collect::<Option<SmallVec<[i32; 4]>>>();
    match (dtype, scalar, values) {
        (DType::I32, true, &[v]) => Some(Tensor::scalar(i32::try_from(v).ok()?)),
        (DType::I64, true, &[v]) => Some(Tensor::scalar(v)),
        (DType::I32, false, _) => Tensor::vector(&narrow()?).ok(),
        (DType::I64, false, _) => Tensor::vector(values).ok(),
        _ => None,
    }
}

/// A node's inputs as a shape rule sees them, and the shapes and values that it infers for the outputs.
pub struct InferCx<'a> {
    node: &'a NodeInfo,
    inputs: &'a [PartialShape],
    known: &'a [Option<Known>],
    outputs: SmallVec<[PartialShape; 2]>,
    output_known: SmallVec<[Option<Known>; 1]>,
}

impl std::fmt::Debug for InferCx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InferCx")
            .field("node", &self.node)
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// The shapes of a node's outputs, and the values that are known.
pub type Inferred = (SmallVec<[PartialShape; 2]>, SmallVec<[Option<Known>; 1]>);

impl<'a> InferCx<'a> {
    /// The context for a node with these input shapes and known input values.
    pub fn new(node: &'a NodeInfo, inputs: &'a [PartialShape], known: &'a [Option<Known>]) -> Self {
        let n = node.output_types.len();
        InferCx {
            node,
            inputs,
            known,
            outputs: SmallVec::from_elem(PartialShape::unknown(), n),
            output_known: SmallVec::from_elem(None, n),
        }
    }

    /// Runs the op's shape rule and returns the shapes and known values of the outputs. Every shape of a
    /// graph is made here, so their rank is bounded here. A rule that panics is an error.
    pub fn infer(mut self) -> Result<Inferred> {
        caught(|| (self.node.op.infer)(&mut self), "the shape rule panicked")?;
        for (i, shape) in self.outputs.iter().enumerate() {
            let described = |e: Error| e.note(format!("in output {i} of {}", self.node.op.name));
            shape.check_rank().map_err(described)?;
            match &self.output_known[i] {
                Some(Known::Handle(handle)) => handle.shape.check_rank().map_err(described)?,
                Some(Known::Value(_) | Known::Partial { .. }) | None => {}
            }
        }
        Ok((self.outputs, self.output_known))
    }

    /// The node.
    pub fn node(&self) -> &'a NodeInfo {
        self.node
    }

    /// The attributes.
    pub fn attrs(&self) -> &'a Attrs {
        &self.node.attrs
    }

    /// The number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The shape of input `i`.
    pub fn input(&self, i: usize) -> &'a PartialShape {
        &self.inputs[i]
    }

    /// All input shapes.
    pub fn inputs(&self) -> &'a [PartialShape] {
        self.inputs
    }

    /// The dtype of input `i`.
    pub fn dtype(&self, i: usize) -> DType {
        self.node.input_types[i].dtype
    }

    /// The known part of the value of input `i`.
    pub fn known(&self, i: usize) -> Option<&'a Known> {
        self.known.get(i)?.as_ref()
    }

    /// The value of input `i`, if all of it is known.
    pub fn value(&self, i: usize) -> Option<&'a Tensor> {
        match self.known(i)? {
            Known::Value(t) => Some(t),
            Known::Partial { .. } | Known::Handle(_) => None,
        }
    }

    /// The type of the values in the resource or list at input `i`, if it is known.
    pub fn handle(&self, i: usize) -> Option<&'a HandleShape> {
        match self.known(i)? {
            Known::Handle(handle) => Some(handle),
            Known::Value(_) | Known::Partial { .. } => None,
        }
    }

    /// The elements of input `i` (i32 or i64, any rank) in row-major order, if all of them are known. A
    /// longer list than any node needs is not read: nobody charges what shape rules make.
    pub fn ints(&self, i: usize) -> Option<Vec<i64>> {
        const MOST: usize = 1 << 18;
        let t = self.value(i).filter(|t| t.elements() <= MOST)?;
        match t.dtype() {
            DType::I32 => Some(t.as_slice::<i32>().ok()?.iter().map(|&v| v.into()).collect()),
            DType::I64 => t.as_slice::<i64>().ok().map(<[i64]>::to_vec),
            _ => None,
        }
    }

    /// The value of scalar input `i` as an integer, if it is known.
    pub fn int(&self, i: usize) -> Option<i64> {
        match self.known(i)?.entries()?.as_slice() {
            [v] => *v,
            _ => None,
        }
    }

    /// Input `i` read as a shape, where -1 is an unknown dimension. Entries that are not known are unknown
    /// dimensions, too.
    pub fn as_shape(&self, i: usize) -> Result<PartialShape> {
        let shape = self.input(i);
        if let Some(entries) = self.known(i).and_then(Known::entries) {
            let dims: Vec<i64> = entries.iter().map(|e| e.unwrap_or(-1)).collect();
            let negative = dims.iter().find(|&&d| d < -1).copied();
            return PartialShape::from_signed(&dims).map_err(|e| {
                let error = invalid!("input {i} of {} is not a shape: {}", self.node.op.name, e.message());
                match negative {
                    Some(dim) => error.led_by(format!("Invalid value in tensor used for shape: {dim}")),
                    None => error,
                }
            });
        }
        match shape.dims() {
            Some([Some(rank)]) if *rank <= MAX_RANK => Ok(PartialShape::unknown_of_rank(*rank)),
            Some([Some(rank)]) => Err(invalid!(
                "input {i} of {} is not a valid shape: it may have at most {MAX_RANK} dimensions, not {rank}",
                self.node.op.name
            )),
            _ => Ok(PartialShape::unknown()),
        }
    }

    /// Checks that input `i` may have this rank, and returns its shape with that rank.
    pub fn with_rank(&self, i: usize, rank: usize) -> Result<PartialShape> {
        let shape = self.input(i);
        shape.merge(&PartialShape::unknown_of_rank(rank)).ok_or_else(|| {
            invalid!(
                "{}: `{}` must have rank {rank} but has shape {shape}",
                self.node.op.name,
                self.name_of(i)
            )
            .led_by(shape.not_of_rank(rank))
        })
    }

    /// Checks that input `i` may have this rank or a higher one.
    pub fn at_least_rank(&self, i: usize, rank: usize) -> Result<()> {
        let shape = self.input(i);
        match shape.rank() {
            Some(r) if r < rank => Err(invalid!(
                "{}: `{}` must have rank {rank} or more but has shape {shape}",
                self.node.op.name,
                self.name_of(i)
            )
            .led_by(shape.below_rank(rank))),
            _ => Ok(()),
        }
    }

    /// Checks that input `i` may be a scalar.
    pub fn scalar(&self, i: usize) -> Result<()> {
        match self.input(i).rank() {
            None | Some(0) => Ok(()),
            Some(_) => Err(invalid!(
                "{}: `{}` must be a scalar but has shape {}",
                self.node.op.name,
                self.name_of(i),
                self.input(i)
            )
            .led_by(self.input(i).not_of_rank(0))),
        }
    }

    /// Checks that input `i` may be a scalar or a vector.
    pub fn scalar_or_vector(&self, i: usize) -> Result<()> {
        match self.input(i).rank() {
            Some(rank) if rank > 1 => Err(invalid!(
                "Shape must be at most rank 1 but is rank {rank}";
                "{}: `{}` must be a scalar or a vector but has shape {}",
                self.node.op.name,
                self.name_of(i),
                self.input(i)
            )),
            _ => Ok(()),
        }
    }

    /// Checks that input `i` may be a vector, and returns its length.
    pub fn vector(&self, i: usize) -> Result<Dim> {
        Ok(self.with_rank(i, 1)?.dim(0))
    }

    /// Merges the shapes of two inputs that must be equal.
    pub fn merge(&self, i: usize, j: usize) -> Result<PartialShape> {
        self.input(i).merge(self.input(j)).ok_or_else(|| {
            invalid!(
                "{}: `{}` has shape {} and `{}` has shape {}; they must be equal",
                self.node.op.name,
                self.name_of(i),
                self.input(i),
                self.name_of(j),
                self.input(j)
            )
            .led_by(self.input(i).difference(self.input(j)))
        })
    }

    /// The declared name of the argument that input `i` belongs to.
    pub fn name_of(&self, i: usize) -> &'static str {
        let args = &self.node.op.inputs;
        args.iter()
            .find(|a| self.node.input_range(a.name).is_ok_and(|r| r.contains(&i)))
            .map_or("input", |a| a.name)
    }

    /// Sets the shape of output `i`.
    pub fn set(&mut self, i: usize, shape: impl Into<PartialShape>) {
        self.outputs[i] = shape.into();
    }

    /// Sets the known part of the value of output `i`, and with it the shape. Entries that are all known
    /// become a value; of very many, only the number is kept.
    pub fn set_known(&mut self, i: usize, known: Known) {
        if let Known::Partial { entries, scalar: false } = &known
            && entries.len() > MOST_KNOWN
        {
            self.outputs[i] = [entries.len()].into();
            self.output_known[i] = None;
            return;
        }
        let known = known.completed(self.node.output_types[i].dtype);
        self.outputs[i] = match &known {
            Known::Value(t) => t.shape().into(),
            Known::Partial { scalar: true, .. } | Known::Handle(_) => PartialShape::scalar(),
            Known::Partial { entries, .. } => [entries.len()].into(),
        };
        self.output_known[i] = Some(known);
    }

    /// Declares that output `i` is a scalar handle of a resource that holds such values, or a list of them.
    pub fn set_handle(&mut self, i: usize, dtype: DType, shape: PartialShape) {
        self.set_known(i, Known::Handle(HandleShape { dtype, shape }));
    }

    /// Declares that output `output` is input `input`: gives it the same shape and known value.
    pub fn pass(&mut self, input: usize, output: usize) {
        self.outputs[output] = self.input(input).clone();
        self.output_known[output] = self.known(input).cloned();
    }

    /// Declares that output `i` holds the dimensions of `shape`, if its rank is known.
    pub fn set_known_shape(&mut self, i: usize, shape: &PartialShape) {
        match shape.dims() {
            Some(dims) => {
                let entries = dims.iter().map(|d| d.map(|d| d as i64)).collect();
                self.set_known(i, Known::Partial { entries, scalar: false });
            }
            None => self.set(i, PartialShape::unknown_of_rank(1)),
        }
    }

    // Shape rules that many ops share.

    /// Gives output 0 the shape of input 0.
    pub fn same_as_input(&mut self) -> Result<()> {
        let shape = self.input(0).clone();
        self.set(0, shape);
        Ok(())
    }

    /// Gives output 0 the broadcast shape of inputs 0 and 1.
    pub fn broadcast(&mut self) -> Result<()> {
        let (a, b) = (self.input(0), self.input(1));
        let shape = a.broadcast(b).ok_or_else(|| {
            invalid!(
                "{}: shapes {a} of `{}` and {b} of `{}` do not broadcast",
                self.node.op.name,
                self.name_of(0),
                self.name_of(1)
            )
            .led_by(a.no_broadcast(b))
            .with_help("dimensions must be equal, or one of them 1, counted from the last")
        })?;
        self.set(0, shape);
        Ok(())
    }

    /// Makes all outputs scalars.
    pub fn scalars(&mut self) -> Result<()> {
        for i in 0..self.n_outputs() {
            self.set(i, PartialShape::scalar());
        }
        Ok(())
    }
}
