//! Control-flow contexts: which loop or branch a node belongs to, and how values from outside come in.
//!
//! Using an outer value inside a loop *captures* it: a constant `Enter` per level of nesting. Inside a branch it goes through a
//! `Switch` on the branch's predicate. Nodes without inputs hang on the context's pivot by a control edge, so that they run only
//! when (and as often as) the context does. The rules, and the names that result, are TensorFlow's control flow v1.

use crate::attr::Attrs;
use crate::graph::{GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::op::Role;
use millstream_tensor::{Result, invalid};
use smallvec::SmallVec;
use std::collections::HashMap;

/// A context of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ContextId(pub u32);

/// A loop or one branch of a cond.
#[derive(Clone)]
pub struct Context {
    /// Its unique name; a loop's is its frame name.
    pub name: String,
    /// The context around it.
    pub parent: Option<ContextId>,
    /// What kind.
    pub kind: ContextKind,
    /// Outer values brought in: the outer port and the port that stands for it inside.
    pub external: HashMap<Port, Port>,
}

/// What a context is.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "contexts are few")]
pub enum ContextKind {
    /// A loop.
    While(WhileContext),
    /// One branch of a cond.
    Cond(CondContext),
}

/// A loop, as it travels with the graph (`WhileContextDef`).
#[derive(Clone, Default)]
pub struct WhileContext {
    /// How many iterations may be alive at a time.
    pub parallel_iterations: i64,
    /// Whether gradients may go through.
    pub back_prop: bool,
    /// Whether saved values may leave memory.
    pub swap_memory: bool,
    /// The bound on the trip count, if one was given.
    pub maximum_iterations: Option<Port>,
    /// The `LoopCond` output.
    pub pivot: Option<Port>,
    /// What nodes of the condition without inputs hang on: the first Merge.
    pub pivot_for_pred: Option<Port>,
    /// What nodes of the body without inputs hang on: the first Identity.
    pub pivot_for_body: Option<Port>,
    /// The Enters of the loop variables.
    pub enters: Vec<Port>,
    /// The Exits of the loop variables.
    pub exits: Vec<Port>,
}

/// One branch of a cond (`CondContextDef`).
#[derive(Clone)]
pub struct CondContext {
    /// The predicate.
    pub pred: Port,
    /// The branch's identity of the predicate, which nodes without inputs hang on.
    pub pivot: Port,
    /// 1 for the branch taken when the predicate is true, 0 for the other.
    pub branch: u32,
}

impl Context {
    /// The loop, if it is one.
    pub fn as_while(&self) -> Option<&WhileContext> {
        match &self.kind {
            ContextKind::While(w) => Some(w),
            ContextKind::Cond(_) => None,
        }
    }

    fn pivot(&self) -> Option<Port> {
        match &self.kind {
            ContextKind::While(w) => w.pivot_for_body.or(w.pivot_for_pred),
            ContextKind::Cond(c) => Some(c.pivot),
        }
    }
}

impl GraphData {
    /// Whether `inner` is `outer` or lies inside of it; `None` is the world around all contexts.
    pub(crate) fn is_within(&self, mut inner: Option<ContextId>, outer: Option<ContextId>) -> bool {
        loop {
            if inner == outer {
                return true;
            }
            match inner {
                Some(id) => inner = self.contexts[id.0 as usize].parent,
                None => return false,
            }
        }
    }

    /// The innermost loop around a context.
    pub(crate) fn loop_of(&self, mut context: Option<ContextId>) -> Option<ContextId> {
        while let Some(id) = context {
            match self.contexts[id.0 as usize].kind {
                ContextKind::While(_) => return Some(id),
                ContextKind::Cond(_) => context = self.contexts[id.0 as usize].parent,
            }
        }
        None
    }

    /// The port that stands for `value` inside `context`, bringing it in if needed.
    pub(crate) fn capture(&mut self, context: Option<ContextId>, value: Port) -> Result<Port> {
        // The chain of contexts between the value's and this one, outermost first: a loop, not a recursion.
        let home = self.node(value.node)?.context;
        let mut chain: SmallVec<[ContextId; 8]> = SmallVec::new();
        let mut at = context;
        while at != home {
            match at {
                Some(id) => {
                    chain.push(id);
                    at = self.contexts[id.0 as usize].parent;
                }
                None => return self.foreign(context, value),
            }
        }
        let mut value = value;
        for id in chain.into_iter().rev() {
            value = match self.contexts[id.0 as usize].external.get(&value) {
                Some(&inside) => inside,
                None => self.bring_in(id, value)?,
            };
        }
        Ok(value)
    }

    /// A value of a context that is not around this one: legal only where the context is a branch of a cond (its
    /// value is dead when the branch is not taken), never out of a loop.
    fn foreign(&self, context: Option<ContextId>, value: Port) -> Result<Port> {
        let node = self.node(value.node)?;
        if self.loop_of(node.context) == self.loop_of(context) {
            return Ok(value);
        }
        let inside = self.loop_of(node.context).map_or("", |l| &self.contexts[l.0 as usize].name);
        Err(invalid!("`{}` belongs to the loop `{inside}` and is used outside of it", node.name())
            .at_line(node.at)
            .with_help("return it from the body as a loop variable and use the loop's result"))
    }

    fn bring_in(&mut self, id: ContextId, value: Port) -> Result<Port> {
        let context = &self.contexts[id.0 as usize];
        let is_ref = self.node(value.node)?.info.output_types[value.index as usize].is_ref;
        let (spec, index) = match &context.kind {
            ContextKind::While(w) => {
                let mut attrs = Attrs::new();
                attrs.set("frame_name", context.name.as_str());
                attrs.set("is_constant", true);
                attrs.set("parallel_iterations", w.parallel_iterations);
                let op = if is_ref { "RefEnter" } else { "Enter" };
                (
                    NodeSpec::new(op, Naming::Scoped(op.into()))
                        .inputs([value])
                        .attrs(attrs)
                        .context(Some(id)),
                    0,
                )
            }
            ContextKind::Cond(c) => {
                let op = if is_ref { "RefSwitch" } else { "Switch" };
                let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([value, c.pred]);
                (spec.context(Some(id)), c.branch)
            }
        };
        let inside = Port::new(self.insert(spec)?, index);
        self.contexts[id.0 as usize].external.insert(value, inside);
        Ok(inside)
    }

    /// Fits a node that is about to be made into the current context: captures its inputs, sorts its control inputs, hangs it on the
    /// pivot where it would run of itself.
    pub(crate) fn enter_context(&mut self, spec: &mut NodeSpec) -> Result<()> {
        let Some(id) = self.current else { return Ok(()) };
        spec.context = Some(id);
        for i in 0..spec.inputs.len() {
            if spec.inputs[i] != Port::OPEN {
                spec.inputs[i] = self.capture(Some(id), spec.inputs[i])?;
            }
        }
        // Control inputs from outside the loop become captured values, so that they run once, before it.
        let here = self.loop_of(Some(id));
        let mut internal: SmallVec<[NodeId; 2]> = SmallVec::new();
        let mut external: SmallVec<[NodeId; 2]> = SmallVec::new();
        for &c in &spec.controls {
            match self.loop_of(self.node(c)?.context) == here {
                true => internal.push(c),
                false => external.push(c),
            }
        }
        let pivot = self.contexts[id.0 as usize].pivot();
        let free = match &self.contexts[id.0 as usize].kind {
            ContextKind::While(_) => {
                internal.is_empty()
                    && spec
                        .inputs
                        .iter()
                        .all(|&p| p != Port::OPEN && self.nodes[p.node.index()].is_constant_enter())
            }
            // A node with inputs is dead with them; one without hangs on the pivot or on a node of the branch.
            ContextKind::Cond(_) => {
                spec.inputs.is_empty()
                    && !internal.iter().any(|c| self.is_within(self.nodes[c.index()].context, Some(id)))
            }
        };
        if free && let Some(pivot) = pivot {
            internal.push(pivot.node);
        }
        spec.controls = internal;
        if here.is_some() {
            for c in external {
                if self.node(c)?.info.output_types.is_empty() {
                    continue;
                }
                let inside = self.capture(Some(id), Port::new(c, 0))?;
                let identity = NodeSpec::new("Identity", Naming::Scoped("Identity".into()))
                    .inputs([inside])
                    .context(Some(id));
                let identity = self.insert(identity)?;
                spec.controls.push(identity);
            }
        }
        Ok(())
    }

    /// Whether values of this node may be fetched or fed: not inside a loop or branch.
    pub(crate) fn is_outside(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_some_and(|n| n.context.is_none())
    }

    /// Whether the node lies inside a loop.
    pub(crate) fn in_loop(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_some_and(|n| self.loop_of(n.context).is_some())
    }

    /// Whether every node between is structural: used by checks.
    pub(crate) fn role(&self, node: NodeId) -> Option<Role> {
        self.nodes.get(node.index()).map(|n| n.role())
    }
}
