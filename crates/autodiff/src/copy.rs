//! [`Copier`]: copies a loop's body to another place of the graph, branches and inner loops included.

use millstream_graph::loops::View;
use millstream_graph::op::{Effect, Role};
use millstream_graph::{
    Arg, CondContext, Context, ContextId, ContextKind, Graph, GraphData, Node, NodeId, Op, Output, Port,
    WhileContext,
};
use millstream_tensor::{Error, Result, invalid};
use std::collections::{HashMap, HashSet};

/// Copies nodes of a loop's body into another context.
pub(crate) struct Copier<'g> {
    graph: &'g Graph,
    /// The loop whose nodes are copied.
    from: ContextId,
    /// The context for copies of nodes directly in the loop.
    into: Option<ContextId>,
    /// The replacement of each value.
    values: HashMap<Port, Output<'g>>,
    ops: HashMap<NodeId, Op<'g>>,
    contexts: HashMap<ContextId, ContextId>,
    /// Merges of inner loops whose back edge is still open, with the original's back edge.
    open: Vec<(Op<'g>, Port)>,
}

/// Returns the nodes that have to be copied before a node.
fn needs(g: &GraphData, id: NodeId, node: &Node) -> Vec<NodeId> {
    // The back edge of a loop's Merge is copied after it.
    let back = g.back_edge(id);
    let data = node.inputs.iter().enumerate().filter(|(i, _)| back != Some(*i));
    let mut all: Vec<NodeId> = data.map(|(_, p)| p.node).collect();
    all.extend(&node.controls);
    let branch = node.context.and_then(|c| match &g.contexts()[c.0 as usize].kind {
        ContextKind::Cond(c) => Some(c.pred.node),
        ContextKind::While(_) => None,
    });
    all.extend(branch);
    all
}

impl<'g> Copier<'g> {
    pub fn new(
        graph: &'g Graph,
        from: ContextId,
        into: Option<ContextId>,
        values: HashMap<Port, Output<'g>>,
    ) -> Self {
        Copier { graph, from, into, values, ops: HashMap::new(), contexts: HashMap::new(), open: Vec::new() }
    }

    /// Copies these values and what they are computed from. Returns the copies.
    pub fn copy(mut self, wanted: &[Port]) -> Result<Vec<Output<'g>>> {
        let mut roots: Vec<NodeId> = wanted.iter().map(|p| p.node).collect();
        let mut done = HashSet::new();
        while let Some(root) = roots.pop() {
            for id in self.in_order(root, &mut done)? {
                self.copy_node(id)?;
                // The back edge of an inner loop's Merge is copied too, after the Merge.
                if let Some((_, back)) = self.open.last()
                    && !done.contains(&back.node)
                {
                    roots.push(back.node);
                }
            }
        }
        for (merge, back) in std::mem::take(&mut self.open) {
            let back = self.stand_in(back)?;
            self.graph.close_back_edge(merge, back)?;
        }
        self.finish_loops()?;
        wanted.iter().map(|p| self.stand_in(*p)).collect()
    }

    fn stand_in(&self, port: Port) -> Result<Output<'g>> {
        match self.values.get(&port) {
            Some(value) => Ok(*value),
            None => match self.ops.get(&port.node) {
                Some(op) => Ok(op.output(port.index)),
                None => self.graph.read(|g| {
                    let node = g.node(port.node)?;
                    Err(Error::internal(format!("`{}` ({}) was not copied", node.name(), node.op())))
                }),
            },
        }
    }

    /// Returns the nodes of the loop that `root` depends on, each after those it needs.
    fn in_order(&self, root: NodeId, done: &mut HashSet<NodeId>) -> Result<Vec<NodeId>> {
        self.graph.read(|g| {
            let given = |n: &NodeId| {
                let n_outputs = g.node(*n).map_or(0, |n| n.info.output_types.len()) as u32;
                (0..n_outputs).any(|i| self.values.contains_key(&Port::new(*n, i)))
            };
            let mut order = Vec::new();
            if given(&root) {
                return Ok(order);
            }
            let mut stack = vec![(root, false)];
            while let Some((id, seen)) = stack.pop() {
                let node = g.node(id)?;
                if !g.is_within(node.context, Some(self.from)) && node.role() != Role::Exit {
                    continue;
                }
                if seen {
                    order.push(id);
                    continue;
                }
                if !done.insert(id) {
                    continue;
                }
                stack.push((id, true));
                stack.extend(
                    needs(g, id, node)
                        .into_iter()
                        .filter(|n| !done.contains(n) && !given(n))
                        .map(|n| (n, false)),
                );
            }
            Ok(order)
        })
    }

    fn copy_node(&mut self, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let node = graph.read(|g| g.node(id).cloned())?;
        let n_outputs = node.info.output_types.len() as u32;
        if n_outputs > 0 && (0..n_outputs).any(|i| self.values.contains_key(&Port::new(id, i))) {
            return Ok(());
        }
        let effect = node.info.op.kernel.effect;
        if node.role() == Role::Compute && matches!(effect, Effect::Writes | Effect::Stateful) {
            return Err(Error::unimplemented(format!(
                "`{}` ({}) cannot be recomputed for the gradient: it may return another value the second time",
                node.name(),
                node.op()
            ))
            .at_line(node.at)
            .with_help(
                "move it out of the loop, or do without `checkpoint_every`: the gradient then saves the loop's values",
            ));
        }
        // A captured value is captured again.
        if node.is_constant_enter() && node.context == Some(self.from) {
            let outer = Output::new(graph, node.inputs[0]);
            let inside = graph.brought_in(self.into, outer)?;
            self.values.insert(Port::new(id, 0), inside);
            return Ok(());
        }
        // The pivot of a branch is made together with the branch.
        if let Some(branch) = node.context
            && let ContextKind::Cond(c) = graph.read(|g| g.contexts()[branch.0 as usize].kind.clone())
            && c.pivot.is_some_and(|p| p.node == id)
        {
            self.context(Some(branch))?;
            return Ok(());
        }
        let context = self.context(node.context)?;
        let mut attrs = node.info.attrs.clone();
        if node.role() == Role::Enter
            && let Some(frame) = context
        {
            attrs.set("frame_name", graph.read(|g| g.contexts()[frame.0 as usize].name.clone()));
        }
        let comes_back = graph.read(|g| g.back_edge(id));
        let mut inputs: Vec<Arg<'g>> = Vec::new();
        let mut back = None;
        for (i, &p) in node.inputs.iter().enumerate() {
            if comes_back == Some(i) {
                back = Some(p);
                inputs.push(Arg::open());
            } else {
                inputs.push(self.stand_in(p)?.into());
            }
        }
        let base = node.name().rsplit('/').next().unwrap_or(node.op()).to_owned();
        let mut builder = graph.op(node.op()).name(base).inputs(inputs).attrs(attrs).at(node.at).raw(context);
        for c in &node.controls {
            builder = builder.control(self.control(*c)?);
        }
        let op = builder.try_finish()?;
        for (i, shape) in node.shapes.iter().enumerate() {
            if comes_back.is_some() || node.role() == Role::Enter {
                op.output(i as u32).set_shape(shape.clone());
            }
        }
        if let Some(back) = back {
            self.open.push((op, back));
        }
        self.ops.insert(id, op);
        Ok(())
    }

    fn control(&self, id: NodeId) -> Result<Op<'g>> {
        if let Some(op) = self.ops.get(&id) {
            return Ok(*op);
        }
        self.stand_in(Port::new(id, 0)).map(|o| o.op())
    }

    /// Returns the context for copies of nodes in `context`.
    fn context(&mut self, context: Option<ContextId>) -> Result<Option<ContextId>> {
        if context == Some(self.from) {
            return Ok(self.into);
        }
        let Some(id) = context else { return Err(invalid!("a node outside of the loop is not copied")) };
        if let Some(copy) = self.contexts.get(&id) {
            return Ok(Some(*copy));
        }
        let graph = self.graph;
        let old = graph.read(|g| g.contexts()[id.0 as usize].clone());
        let around = self.context(old.parent)?;
        let copy = match &old.kind {
            ContextKind::Cond(c) => {
                let pred = self.stand_in(c.pred)?;
                let copy = graph.inside(around, || graph.new_branch("cond_text", pred, c.branch))?;
                let new = graph.read(|g| g.contexts()[copy.0 as usize].clone());
                if let (Some(old), ContextKind::Cond(CondContext { pivot: Some(pivot), .. })) =
                    (c.pivot, new.kind)
                {
                    self.values.insert(old, Output::new(graph, pivot));
                }
                copy
            }
            ContextKind::While(w) => graph.inside(around, || graph.new_loop("while_context", w)).context(),
        };
        self.contexts.insert(id, copy);
        Ok(Some(copy))
    }

    /// Fills in the contexts of the copies of inner loops.
    fn finish_loops(&self) -> Result<()> {
        for (old, new) in &self.contexts {
            let (old, mut copy) = self
                .graph
                .read(|g| (g.contexts()[old.0 as usize].clone(), g.contexts()[new.0 as usize].clone()));
            let port = |p: Port| self.stand_in(p).map(|o| o.port()).ok();
            let ports = |ports: &[Port]| ports.iter().copied().filter_map(port).collect();
            if let (ContextKind::While(from), ContextKind::While(to)) = (&old.kind, &mut copy.kind) {
                *to = WhileContext {
                    pivot: from.pivot.and_then(port),
                    pivot_for_pred: from.pivot_for_pred.and_then(port),
                    pivot_for_body: from.pivot_for_body.and_then(port),
                    enters: ports(&from.enters),
                    exits: ports(&from.exits),
                    maximum_iterations: from.maximum_iterations.and_then(port),
                    ..from.clone()
                };
                let known = |(a, b): (&Port, &Port)| Some((port(*a)?, port(*b)?));
                let external = old.external.iter().filter_map(known).collect();
                self.graph.set_context(*new, Context { external, ..copy });
            }
        }
        Ok(())
    }
}
