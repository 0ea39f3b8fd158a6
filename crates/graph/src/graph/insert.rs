//! Insertion of a node into a graph: its name, the check of its types, and the inference of its shapes and
//! known values.

use super::GraphData;
use crate::attr::{Attrs, ValueType};
use crate::context::ContextId;
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::op::{InferCx, Known, NodeInfo};
use crate::unique::Unique;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::Arc;

/// The name of a new node.
#[derive(Clone)]
pub(crate) enum Naming {
    /// This name, made unique in the current scope.
    Scoped(String),
    /// Exactly this name. An error if it is taken.
    Exact(String),
    /// This name, which is already reserved.
    Reserved(String),
}

/// A node about to be made.
pub(crate) struct NodeSpec {
    pub op: String,
    pub naming: Naming,
    pub inputs: SmallVec<[Port; 2]>,
    pub controls: SmallVec<[NodeId; 2]>,
    pub attrs: Attrs,
    pub context: Option<ContextId>,
    pub device: Option<Arc<str>>,
    pub at: &'static Location<'static>,
}

impl NodeSpec {
    #[track_caller]
    pub(crate) fn new(op: impl Into<String>, naming: Naming) -> NodeSpec {
        NodeSpec {
            op: op.into(),
            naming,
            inputs: SmallVec::new(),
            controls: SmallVec::new(),
            attrs: Attrs::new(),
            context: None,
            device: None,
            at: Location::caller(),
        }
    }

    pub(crate) fn inputs(mut self, inputs: impl IntoIterator<Item = Port>) -> Self {
        self.inputs = inputs.into_iter().collect();
        self
    }

    pub(crate) fn attrs(mut self, attrs: Attrs) -> Self {
        self.attrs = attrs;
        self
    }

    pub(crate) fn context(mut self, context: Option<ContextId>) -> Self {
        self.context = context;
        self
    }

    pub(crate) fn at(mut self, at: &'static Location<'static>) -> Self {
        self.at = at;
        self
    }
}

impl GraphData {
    /// Makes a node in the current scopes and context.
    pub(crate) fn add(&mut self, mut spec: NodeSpec) -> Result<NodeId> {
        let scope = self.scope_controls(&spec.inputs);
        if !scope.is_empty() {
            let controls: Unique<NodeId> = spec.controls.iter().copied().chain(scope).collect();
            spec.controls = controls.into_items();
        }
        self.enter_context(&mut spec)?;
        if !self.blocks.overlays.is_empty() {
            self.overlay(&mut spec)?;
        }
        let id = self.insert(spec)?;
        self.note_seen(id);
        Ok(id)
    }

    /// Adds a node as an op builder does: named in the current scope, with its captures named under it.
    pub(crate) fn add_scoped(&mut self, mut spec: NodeSpec) -> Result<NodeId> {
        let name = match spec.naming {
            Naming::Scoped(name) => self.unique_name(&name),
            Naming::Exact(name) | Naming::Reserved(name) => name,
        };
        spec.naming = Naming::Reserved(name.clone());
        self.with_scope(format!("{name}/"), |g| g.add(spec))
    }

    /// Makes a node exactly as described: checks types, infers shapes, appends it.
    pub(crate) fn insert(&mut self, spec: NodeSpec) -> Result<NodeId> {
        let at = spec.at;
        let op = spec.op.clone();
        self.insert_inner(spec).map_err(|e| match e.node() {
            Some(_) => e,
            None => e.note(format!("while adding a node of op {op}")).at_line(at),
        })
    }

    /// Like [`GraphData::insert`], without the source line in errors.
    pub(crate) fn insert_inner(&mut self, spec: NodeSpec) -> Result<NodeId> {
        if self.finalized {
            return Err(Error::new(
                millstream_tensor::Code::FailedPrecondition,
                "the graph is finalized and cannot be changed",
            ));
        }
        let op = self.registry.get(&spec.op).ok_or_else(|| {
            if let Some(feature) = self.registry.lacking(&spec.op) {
                let error = format!("this build has no op `{}`", spec.op);
                return Error::unimplemented(error)
                    .with_help(format!("turn on the feature `{feature}` of the crate `millstream`"));
            }
            let error = Error::unimplemented(format!("there is no op `{}`", spec.op));
            match self.registry.similar(&spec.op).as_slice() {
                [] => error,
                near => error.with_help(format!("did you mean {}?", near.join(", "))),
            }
        })?;
        let first = spec.inputs.iter().find(|p| **p != Port::OPEN).copied();
        let mut types: SmallVec<[ValueType; 4]> = SmallVec::new();
        for &p in &spec.inputs {
            // A back edge that is still open has the type of the other inputs.
            types.push(self.type_of(if p == Port::OPEN { first.unwrap_or(p) } else { p })?);
        }
        for &c in &spec.controls {
            self.node(c)?;
        }
        let name = match spec.naming {
            Naming::Scoped(name) => self.unique_name(&name),
            Naming::Reserved(name) => name,
            Naming::Exact(name) => {
                if self.find(&name).is_ok() {
                    return Err(Error::new(
                        millstream_tensor::Code::AlreadyExists,
                        format!("the graph already has a node `{name}`"),
                    ));
                }
                // The scopes above it are taken too, as in TensorFlow.
                self.names.entry(name.to_lowercase()).or_insert(1);
                name
            }
        };
        let info = NodeInfo::resolve(op, name, &types, spec.attrs)
            .map_err(|e| e.note(format!("inputs: {}", self.describe(&spec.inputs))))?;
        if self.nodes.len() >= NodeId::POISON.index() {
            return Err(invalid!("a graph may have at most 2^32 - 1 nodes"));
        }
        let (shapes, known) = self.infer(&info, &spec.inputs).map_err(|e| {
            e.more(&self.place_of(&info, &spec.inputs))
                .at_node(&info.name, op.name)
                .note(format!("inputs: {}", self.describe(&spec.inputs)))
        })?;
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            info: Arc::new(info),
            inputs: spec.inputs,
            controls: spec.controls,
            shapes,
            known,
            device: spec.device.unwrap_or_else(|| self.blocks.device.clone()),
            context: spec.context,
            at: spec.at,
        });
        Ok(id)
    }

    /// The end of TensorFlow's messages about shapes: the node, its op, and the static shapes of its inputs.
    fn place_of(&self, info: &NodeInfo, inputs: &[Port]) -> String {
        let shape = |&p: &Port| Some(self.shape_of(p)).filter(|s| s.rank().is_some()).map(|s| s.to_string());
        let shapes: Vec<_> = inputs.iter().map(|p| shape(p).unwrap_or_else(|| "?".to_owned())).collect();
        let with = if shapes.is_empty() { "" } else { " with input shapes: " };
        format!(" for '{}' (op: '{}'){with}{}.", info.name, info.op.name, shapes.join(", "))
    }

    fn describe(&self, inputs: &[Port]) -> String {
        let one = |&p: &Port| match (self.node(p.node), self.type_of(p)) {
            (Ok(node), Ok(ty)) => format!("`{}:{}` {ty}{}", node.name(), p.index, self.shape_of(p)),
            _ => "an open back edge".to_owned(),
        };
        let shown: Vec<_> = inputs.iter().take(8).map(one).collect();
        let more = if inputs.len() > 8 { format!(" and {} more", inputs.len() - 8) } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }

    #[expect(clippy::type_complexity, reason = "the pair that a node holds")]
    pub(crate) fn infer(
        &self,
        info: &NodeInfo,
        inputs: &[Port],
    ) -> Result<(SmallVec<[PartialShape; 1]>, SmallVec<[Option<Arc<Known>>; 1]>)> {
        let shapes: SmallVec<[PartialShape; 3]> = inputs.iter().map(|&p| self.shape_of(p)).collect();
        let known: SmallVec<[Option<Known>; 3]> = inputs.iter().map(|&p| self.known(p).cloned()).collect();
        let (shapes, mut outputs) = InferCx::new(info, &shapes, &known).infer()?;
        // Only small outputs are folded. Others must not even be tried, since a few bytes of input may ask
        // for any size.
        if outputs.iter().all(Option::is_none)
            && shapes.iter().all(|s| s.elements().is_none_or(|n| n <= 64))
            && let Some(values) = self.fold(info, &known)
        {
            outputs = values.into_iter().map(|v| Some(Known::Value(v))).collect();
        }
        Ok((shapes.into_iter().collect(), outputs.into_iter().map(|k| k.map(Arc::new)).collect()))
    }

    /// The outputs of a node whose inputs are small known integers or single floats, computed by the op
    /// library. Shapes and sizes become known this way while the graph is built. Floats are part of it
    /// because programs compute limits of ranges with them.
    fn fold(&self, info: &NodeInfo, known: &[Option<Known>]) -> Option<Vec<Tensor>> {
        let small = |t: &Tensor| match t.dtype() {
            DType::I32 | DType::I64 | DType::Bool => t.elements() <= 64,
            DType::F32 | DType::F64 => t.rank() == 0,
            _ => false,
        };
        let folds = |dtype| matches!(dtype, DType::I32 | DType::I64 | DType::F32 | DType::F64);
        if known.is_empty() || !info.output_types.iter().all(|t| folds(t.dtype)) {
            return None;
        }
        let inputs: Option<Vec<Tensor>> = known
            .iter()
            .map(|k| match k {
                Some(Known::Value(t)) if small(t) => Some(t.clone()),
                _ => None,
            })
            .collect();
        self.registry.fold(info, &inputs?).filter(|v| v.iter().all(small))
    }
}
