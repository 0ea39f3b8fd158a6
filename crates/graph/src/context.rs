//! Control-flow contexts: the loop or branch that a node belongs to, and how outer values come in.
//!
//! Using an outer value inside a loop *captures* it: a constant `Enter` per level of nesting. Inside a branch
//! it goes through a `Switch` on the branch's predicate. Nodes without inputs have a control edge from the
//! context's pivot, so that they run only when (and as often as) the context does. The rules, and the names
//! that result, are those of TensorFlow's control flow v1.

use crate::flow::Primitive;
use crate::graph::{GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::loops::View;
use crate::op::Role;
use millstream_tensor::{Error, Result, invalid};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::panic::Location;

/// A context of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ContextId(pub u32);

/// A loop or one branch of a cond.
#[derive(Clone, Debug)]
pub struct Context {
    /// The unique name; for a loop, that of its frame.
    pub name: String,
    /// The context around it.
    pub parent: Option<ContextId>,
    /// Whether it is a loop or a branch.
    pub kind: ContextKind,
    /// The captured values: the outer port, and the port by which it is known inside.
    pub external: HashMap<Port, Port>,
}

/// The kinds of contexts.
#[derive(Clone, Debug)]
pub enum ContextKind {
    /// A loop.
    While(WhileContext),
    /// One branch of a cond.
    Cond(CondContext),
}

/// A loop, as it is stored with the graph (`WhileContextDef`).
#[derive(Clone, Default, Debug)]
pub struct WhileContext {
    /// How many iterations may be alive at a time.
    pub parallel_iterations: i64,
    /// Whether gradients flow through the loop. `None` if a file does not say, which counts as true.
    pub back_prop: Option<bool>,
    /// Whether saved values may leave memory. `None` if a file does not say, which counts as false.
    pub swap_memory: Option<bool>,
    /// The bound on the trip count, if one was given.
    pub maximum_iterations: Option<Port>,
    /// The `LoopCond` output.
    pub pivot: Option<Port>,
    /// The node that the condition's nodes without inputs wait for: the first Merge.
    pub pivot_for_pred: Option<Port>,
    /// The node that the body's nodes without inputs wait for: the first Identity.
    pub pivot_for_body: Option<Port>,
    /// The Enters of the loop variables.
    pub enters: Vec<Port>,
    /// The Exits of the loop variables.
    pub exits: Vec<Port>,
}

/// One branch of a cond (`CondContextDef`).
#[derive(Clone, Debug)]
pub struct CondContext {
    /// The predicate.
    pub pred: Port,
    /// The branch's copy of the predicate, which nodes without inputs wait for. `None` if it was optimised
    /// away; the first node that needs it makes one.
    pub pivot: Option<Port>,
    /// 1 for the branch taken when the predicate is true, 0 for the other.
    pub branch: u32,
    /// The Switches that capture values, in the order of creation. The other output of each is no value of
    /// the branch.
    pub captures: Vec<NodeId>,
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
            ContextKind::Cond(c) => c.pivot,
        }
    }
}

impl GraphData {
    /// Returns whether `inner` is `outer` or lies inside of it. `None` means outside of all contexts.
    pub fn is_within(&self, mut inner: Option<ContextId>, outer: Option<ContextId>) -> bool {
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

    /// Returns the innermost loop around a context.
    pub fn loop_of(&self, mut context: Option<ContextId>) -> Option<ContextId> {
        while let Some(id) = context {
            match self.contexts[id.0 as usize].kind {
                ContextKind::While(_) => return Some(id),
                ContextKind::Cond(_) => context = self.contexts[id.0 as usize].parent,
            }
        }
        None
    }

    /// Returns the value that this value was before it went through branches and loops: of a loop variable,
    /// the initial value. `None` if there is none, as in a loop that is not closed.
    pub fn origin(&self, mut port: Port) -> Option<Port> {
        for _ in 0..self.nodes.len() {
            let node = self.node(port.node).ok()?;
            let inputs = &node.inputs;
            port = match node.role() {
                Role::Merge => {
                    let back = self.back_edge(port.node);
                    *inputs.iter().enumerate().find(|(i, _)| back != Some(*i))?.1
                }
                Role::Enter | Role::Exit | Role::Switch | Role::NextIteration | Role::Identity => {
                    *inputs.first()?
                }
                _ => return Some(port),
            };
        }
        None
    }

    /// Returns `value` as it is known inside `context`, captured if necessary.
    pub(crate) fn capture(&mut self, context: Option<ContextId>, value: Port) -> Result<Port> {
        let home = self.home(context, value)?;
        // The chain of contexts between the value's and this one, outermost first: a loop, not a recursion.
        let mut chain: SmallVec<[ContextId; 8]> = SmallVec::new();
        let mut at = context;
        while at != home {
            let Some(id) = at else { break };
            chain.push(id);
            at = self.contexts[id.0 as usize].parent;
        }
        let mut here = value;
        for id in chain.into_iter().rev() {
            here = match self.contexts[id.0 as usize].external.get(&value) {
                Some(&inside) => inside,
                None => self.bring_in(id, value, here)?,
            };
        }
        Ok(here)
    }

    /// Captures an input of a node that is being made in the current context.
    fn capture_for(&mut self, spec: &NodeSpec, value: Port) -> Result<Port> {
        let context = self.current;
        // Nearly all inputs belong to the context that they are used in.
        if self.node(value.node)?.context == context {
            return Ok(value);
        }
        if let Some(name) = self.inner_loop_of(context, value)? {
            return Err(self.used_outside(spec, context, value, name));
        }
        self.capture(context, value)
    }

    /// The loop that `value` lies in and `context` does not, if there is one.
    fn inner_loop_of(&self, context: Option<ContextId>, value: Port) -> Result<Option<ContextId>> {
        let mut home = self.node(value.node)?.context;
        while !self.is_within(context, home) {
            let Some(id) = home else { break };
            let inner = &self.contexts[id.0 as usize];
            if let ContextKind::While(_) = inner.kind {
                return Ok(Some(id));
            }
            home = inner.parent;
        }
        Ok(None)
    }

    /// The error for a node that takes a value out of the loop `inner`. The first sentence is TensorFlow's.
    fn used_outside(
        &self,
        spec: &NodeSpec,
        context: Option<ContextId>,
        value: Port,
        inner: ContextId,
    ) -> Error {
        let user = match &spec.naming {
            Naming::Scoped(name) | Naming::Exact(name) | Naming::Reserved(name) => name,
        };
        let (node, inner) = (&self.nodes[value.node.index()], &self.contexts[inner.0 as usize].name);
        let name = node.name();
        let why = match self.loop_of(context) {
            None => format!("'{name}' is in a while loop"),
            Some(_) => "they are in different while loops".to_owned(),
        };
        invalid!(
            "Cannot use '{name}' as input to '{user}' because {why}. See info log for more details. (`{name}` belongs to the loop \
             `{inner}` and is used outside of it)"
        )
        .at_line(node.at)
        .with_help("return it from the body as a loop variable and use the loop's result")
    }

    /// Returns the innermost context around `context` in which `value` may be used as it is: its own, or one
    /// around the branches that it lies in, since a value of an untaken branch is dead everywhere. Never one
    /// outside of its loop.
    fn home(&self, context: Option<ContextId>, value: Port) -> Result<Option<ContextId>> {
        let node = self.node(value.node)?;
        let mut home = node.context;
        while !self.is_within(context, home) {
            // `None` is around everything, so `home` is a context.
            let Some(id) = home else { break };
            let inner = &self.contexts[id.0 as usize];
            if let ContextKind::While(_) = inner.kind {
                let name = node.name();
                return Err(invalid!(
                    "Cannot use '{name}' as input to what is outside because '{name}' is in a while loop. See info log for more details.";
                    "`{name}` belongs to the loop `{}` and is used outside of it",
                    inner.name
                )
                .at_line(node.at)
                .with_help("return it from the body as a loop variable and use the loop's result"));
            }
            home = inner.parent;
        }
        Ok(home)
    }

    /// Captures a value into one more context. `here` is the value in the context around.
    fn bring_in(&mut self, id: ContextId, value: Port, here: Port) -> Result<Port> {
        let inside = match &self.contexts[id.0 as usize].kind {
            ContextKind::While(_) => Port::new(self.insert_enter(id, here, true)?, 0),
            ContextKind::Cond(c) => {
                let (pred, branch) = (c.pred, c.branch);
                let op = if self.type_of(here)?.is_ref { "RefSwitch" } else { "Switch" };
                let spec = NodeSpec::new(op, Naming::Scoped(op.into())).inputs([here, pred]);
                let spec = self.beside(here, spec)?;
                let inside = Port::new(self.insert(spec.context(Some(id)))?, branch);
                if let ContextKind::Cond(c) = &mut self.contexts[id.0 as usize].kind {
                    c.captures.push(inside.node);
                }
                if here != value {
                    // As TensorFlow has it in the `CondContextDef`.
                    self.contexts[id.0 as usize].external.insert(here, here);
                }
                inside
            }
        };
        self.contexts[id.0 as usize].external.insert(value, inside);
        Ok(inside)
    }

    /// Makes the Enter of `value` into the loop `id`: of a loop variable, or of a constant.
    pub(crate) fn insert_enter(&mut self, id: ContextId, value: Port, is_constant: bool) -> Result<NodeId> {
        let context = &self.contexts[id.0 as usize];
        let (outer, name) = (context.parent, context.name.clone());
        let parallel = context.as_while().map_or(10, |w| w.parallel_iterations);
        let enter = Primitive::enter(value, &name, is_constant, parallel);
        let mut spec = self.primitive(enter, Location::caller())?.context(Some(id));
        // The Enters wait for the `control_dependencies` around the loop.
        spec.controls = self.scope_controls(&[value]);
        spec.controls.retain(|c| self.enter_may_wait_for(outer, *c));
        // A constant of the loop around is alive in an iteration that never happens, too, and must not start
        // this loop there.
        let pivot = self.pivot_around(outer);
        if !is_constant
            && self.nodes[value.node.index()].is_constant_enter()
            && let Some(pivot) = pivot
            && !spec.controls.contains(&pivot)
        {
            spec.controls.push(pivot);
        }
        let enter = self.insert(spec)?;
        self.note_seen(enter);
        Ok(enter)
    }

    /// Returns the pivot of the innermost context around that has one, `context` included.
    fn pivot_around(&self, mut context: Option<ContextId>) -> Option<NodeId> {
        while let Some(id) = context {
            let around = &self.contexts[id.0 as usize];
            if let Some(pivot) = around.pivot() {
                return Some(pivot.node);
            }
            context = around.parent;
        }
        None
    }

    /// Returns whether an Enter into a loop of the context `outer` may wait for this node: the node must
    /// belong to `outer` or a context around it, up to the next loop.
    fn enter_may_wait_for(&self, outer: Option<ContextId>, node: NodeId) -> bool {
        let Some(node) = self.nodes.get(node.index()) else { return false };
        let limit = self.loop_of(outer);
        let mut at = outer;
        while at != node.context {
            match at {
                Some(id) if at != limit => at = self.contexts[id.0 as usize].parent,
                _ => return false,
            }
        }
        true
    }

    /// Fits a node that is about to be made into the current context: captures its inputs, moves outer
    /// control inputs, and makes it wait for the pivot if nothing else in the context holds it back.
    pub(crate) fn enter_context(&mut self, spec: &mut NodeSpec) -> Result<()> {
        let Some(id) = self.current else {
            // Nothing is captured outside of all contexts, but values inside of loops are errors.
            for i in 0..spec.inputs.len() {
                if spec.inputs[i] != Port::OPEN {
                    self.capture_for(spec, spec.inputs[i])?;
                }
            }
            return Ok(());
        };
        spec.context = Some(id);
        for i in 0..spec.inputs.len() {
            if spec.inputs[i] != Port::OPEN {
                spec.inputs[i] = self.capture_for(spec, spec.inputs[i])?;
            }
        }
        let here = self.loop_of(Some(id));
        let mut internal: SmallVec<[NodeId; 2]> = SmallVec::new();
        let mut external: SmallVec<[NodeId; 2]> = SmallVec::new();
        for &c in &spec.controls {
            // Outside of loops every control input stays; inside, only those of the same loop.
            match here.is_none() || self.loop_of(self.node(c)?.context) == here {
                true => internal.push(c),
                false => external.push(c),
            }
        }
        let context = &self.contexts[id.0 as usize];
        let (pivot, is_loop) = (context.pivot(), matches!(context.kind, ContextKind::While(_)));
        let free = match is_loop {
            true => {
                let constant = |p: &Port| *p != Port::OPEN && self.nodes[p.node.index()].is_constant_enter();
                internal.is_empty() && spec.inputs.iter().all(constant)
            }
            // A node with inputs is dead with them. One without waits for the pivot or for a node of the
            // branch.
            false => {
                spec.inputs.is_empty()
                    && !internal.iter().any(|c| self.is_within(self.nodes[c.index()].context, Some(id)))
            }
        };
        let pivot = match pivot {
            None if free && !is_loop => Some(self.make_pivot(id)?),
            pivot => pivot,
        };
        if free && let Some(pivot) = pivot {
            internal.push(pivot.node);
        }
        spec.controls = internal;
        if is_loop {
            self.pull_in(id, spec, external)?;
        }
        Ok(())
    }

    /// Makes the pivot of a branch whose own was optimised away.
    fn make_pivot(&mut self, id: ContextId) -> Result<Port> {
        let around = self.contexts[id.0 as usize].parent;
        let ContextKind::Cond(CondContext { pred, branch, .. }) = self.contexts[id.0 as usize].kind else {
            return Err(Error::internal("a loop has its pivots from the start"));
        };
        let switch = NodeSpec::new("Switch", Naming::Scoped("pivot/Switch".into())).inputs([pred, pred]);
        let side = Port::new(self.insert(switch.context(around))?, branch);
        let pivot = NodeSpec::new("Identity", Naming::Scoped("pivot".into())).inputs([side]);
        let pivot = Port::new(self.insert(pivot.context(Some(id)))?, 0);
        if let ContextKind::Cond(c) = &mut self.contexts[id.0 as usize].kind {
            c.pivot = Some(pivot);
        }
        Ok(pivot)
    }

    /// Turns control inputs from outside of the loop into captured values, so that they run once, before it.
    /// A node without outputs cannot be captured and is left out, as in TensorFlow.
    fn pull_in(&mut self, id: ContextId, spec: &mut NodeSpec, external: SmallVec<[NodeId; 2]>) -> Result<()> {
        for c in external {
            if self.node(c)?.info.output_types.is_empty() {
                continue;
            }
            let name = self.unique_name("Identity");
            // Open `control_dependencies` blocks do not apply to these.
            let blocks = self.take_controls();
            let inside = self.with_scope(format!("{name}/"), |g| g.capture(Some(id), Port::new(c, 0)));
            self.restore_controls(blocks);
            let identity = NodeSpec::new("Identity", Naming::Reserved(name))
                .inputs([inside?])
                .context(Some(id))
                .at(spec.at);
            let identity = self.insert(identity)?;
            if let Some(pivot) = self.contexts[id.0 as usize].pivot() {
                self.add_control(identity, pivot.node);
            }
            spec.controls.push(identity);
        }
        Ok(())
    }

    /// Returns the values that a context knows, in order, as its `ValuesDef` lists them: those of its own
    /// nodes and of the branches inside, captured values outside and inside, and a loop's results.
    pub fn context_values(&self, id: ContextId) -> Vec<Port> {
        let Some(context) = self.contexts.get(id.0 as usize) else { return Vec::new() };
        let mut values: Vec<Port> = context.external.iter().flat_map(|(&a, &b)| [a, b]).collect();
        if let ContextKind::While(w) = &context.kind {
            values.extend(&w.exits);
        }
        for (n, node) in self.nodes.iter().enumerate() {
            let Some(home) = node.context else { continue };
            let (n, n_outputs) = (NodeId(n as u32), node.info.output_types.len() as u32);
            let cond = match &self.contexts[home.0 as usize].kind {
                ContextKind::Cond(c) if self.is_within(Some(home), Some(id)) => Some(c),
                _ if home == id => None,
                _ => continue,
            };
            match cond {
                Some(c) if c.captures.binary_search(&n).is_ok() => values.push(Port::new(n, c.branch)),
                _ => values.extend((0..n_outputs).map(|i| Port::new(n, i))),
            }
        }
        values.sort();
        values.dedup();
        values
    }

    /// Returns the `LoopCond`s of the loops around a node.
    pub(crate) fn loop_conditions(&self, node: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut context = self.nodes.get(node.index()).and_then(|n| n.context);
        while let Some(id) = context {
            let around = &self.contexts[id.0 as usize];
            found.extend(around.as_while().and_then(|w| w.pivot).map(|p| p.node));
            context = around.parent;
        }
        found
    }

    /// Returns whether the node lies inside of a loop.
    pub(crate) fn in_loop(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_some_and(|n| self.loop_of(n.context).is_some())
    }

    /// Returns the role of a node, if there is such a node.
    pub(crate) fn role(&self, node: NodeId) -> Option<Role> {
        self.nodes.get(node.index()).map(|n| n.role())
    }
}
