//! Forward values, made available where the gradient needs them.
//!
//! Outside of all loops a forward value is at hand. Inside of a loop it differs from iteration to iteration,
//! and the backward loop needs the last one first. In order of preference a value is
//! - recomputed: constants, and what cheap ops compute from constants, counters, invariants and saved values;
//! - taken from outside of the loop, if it is an invariant;
//! - saved: the forward loop pushes it on a list, the backward loop pops it. A value that lies in a branch is
//!   pushed and popped there.
//!
//! [`Cut`](crate::cut::Cut) chooses which values are saved and which ones are recomputed from them.
//!
//! A value that was saved for an earlier gradient is not saved again: its list is used.

use crate::arrays;
use crate::pass::Differ;
use millstream_graph::attr::Attrs;
use millstream_graph::loops::View;
use millstream_graph::op::{Cost, Effect, Forward, Role, ScalarKernel};
use millstream_graph::{ContextId, ContextKind, Graph, GraphData, NodeId, Output, Port};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};

/// How far a value is followed to see whether it can be recomputed.
const REMAKE_DEPTH: usize = 12;
/// How many elementwise ops before a value are followed to find one of the same shape.
const MAX_FORMULAS: usize = 16;

/// Forward values that are at hand.
pub(crate) struct Here<'g>(pub &'g Graph);

impl<'g> Here<'g> {
    /// Returns the shape of a value, an i32 vector: a constant if it is known.
    pub fn shape_of(&self, port: Port) -> Result<Output<'g>> {
        let shape = self.0.read(|g| g.shape_of(port));
        Ok(match static_shape(self.0, &shape) {
            Some(shape) => shape,
            None => self.0.op("Shape").input(Output::new(self.0, port)).output(),
        })
    }
}

impl<'g> Forward<'g> for Here<'g> {
    fn value(&mut self, port: Port) -> Result<Output<'g>> {
        Ok(Output::new(self.0, port))
    }
    fn shape(&mut self, port: Port) -> Result<Output<'g>> {
        self.shape_of(port)
    }
    fn array_zeros(&mut self, port: Port) -> Result<Option<Output<'g>>> {
        arrays::zeros(self.0, port, self)
    }
}

/// Returns a fully known shape as a constant.
pub(crate) fn static_shape<'g>(graph: &'g Graph, shape: &PartialShape) -> Option<Output<'g>> {
    let dims: Option<Vec<i32>> =
        shape.dims()?.iter().map(|d| d.and_then(|d| i32::try_from(d).ok())).collect();
    Some(graph.constant(Tensor::vector(&dims?).ok()?))
}

/// Returns a list as it bypasses a branch that is not taken.
fn past<'g>(
    graph: &'g Graph,
    list: Output<'g>,
    pred: Output<'g>,
    side: u32,
    around: Option<ContextId>,
) -> Output<'g> {
    graph.inside(around, || graph.op("Switch").inputs([list, pred]).finish().output(1 - side))
}

/// Returns whether the node is the Switch that captures a value for the branch that it lies in.
fn is_capture(g: &GraphData, id: NodeId) -> bool {
    let context = g.node(id).ok().and_then(|n| n.context);
    context.is_some_and(|c| match &g.contexts()[c.0 as usize].kind {
        ContextKind::Cond(cond) => cond.captures.contains(&id),
        ContextKind::While(_) => false,
    })
}

/// Forward values as level `level` of the sweep sees them.
pub(crate) struct At<'d, 'g> {
    pub differ: &'d mut Differ<'g>,
    pub level: usize,
}

impl<'g> Forward<'g> for At<'_, 'g> {
    fn value(&mut self, port: Port) -> Result<Output<'g>> {
        self.differ.value(self.level, port)
    }
    fn shape(&mut self, port: Port) -> Result<Output<'g>> {
        self.differ.shape(self.level, port)
    }
    fn transposed(&mut self, port: Port) -> Result<Option<Output<'g>>> {
        self.differ.transposed(self.level, port)
    }
    fn array_zeros(&mut self, port: Port) -> Result<Option<Output<'g>>> {
        arrays::zeros(self.differ.graph, port, self)
    }
}

/// A copy of a forward node, with the type and shape of one of its outputs.
pub(crate) struct Seen {
    pub role: Role,
    op: &'static str,
    attrs: Attrs,
    pub inputs: Vec<Port>,
    n_outputs: u32,
    context: Option<ContextId>,
    pub shape: PartialShape,
    pub dtype: DType,
    /// Whether it is a reference to a variable, whose value may change.
    pub is_ref: bool,
    constant: bool,
    /// Whether its op is pure and takes the time of a few passes over its elements.
    pub cheap: bool,
}

impl<'g> Differ<'g> {
    pub(crate) fn see(&self, port: Port) -> Result<Seen> {
        self.graph.read(|g| {
            let node = g.node(port.node)?;
            let kernel = &node.info.op.kernel;
            let cheap = kernel.effect == Effect::Pure && matches!(kernel.cost, Cost::PerElement(_));
            let of = g.type_of(port)?;
            Ok(Seen {
                role: node.role(),
                op: node.op(),
                attrs: node.info.attrs.clone(),
                inputs: node.inputs.to_vec(),
                n_outputs: node.info.output_types.len() as u32,
                context: node.context,
                shape: g.shape_of(port),
                dtype: of.dtype,
                is_ref: of.is_ref,
                constant: node.is_constant_enter(),
                cheap,
            })
        })
    }

    /// Follows Switches that lie outside of their branches, as imported graphs have them, back to the value
    /// that they switch: outside of the branch the output of the Switch may be dead and cannot be saved, and
    /// inside it is equal.
    pub(crate) fn before_branches(&self, mut port: Port) -> Port {
        self.graph.read(|g| {
            while let Ok(node) = g.node(port.node)
                && node.role() == Role::Switch
                && !g.is_loop_switch(port.node)
                && !is_capture(g, port.node)
            {
                port = node.inputs[0];
            }
            port
        })
    }

    /// Returns a forward value, as it is available at a level.
    pub(crate) fn value(&mut self, level: usize, port: Port) -> Result<Output<'g>> {
        if self.levels[level].forward.is_none() {
            return Ok(Output::new(self.graph, port));
        }
        let port = self.before_branches(port);
        // The values that it is recomputed from come first. This is no recursion, as chains may be as long as
        // the body.
        let mut wanted = vec![port];
        while let Some(&next) = wanted.last() {
            if !self.levels[level].values.contains_key(&next) {
                let before = self.missing(level, next)?;
                if !before.is_empty() {
                    wanted.extend(before);
                    continue;
                }
                let value = self.fetched(level, next)?;
                self.levels[level].values.insert(next, value);
            }
            wanted.pop();
        }
        self.levels[level].values.get(&port).copied().ok_or_else(|| invalid!("a forward value was lost"))
    }

    /// Returns the transpose of a matrix that enters the level's loop as an invariant, computed before the
    /// outermost of the backward loops that it is an invariant of.
    fn transposed(&mut self, level: usize, port: Port) -> Result<Option<Output<'g>>> {
        let graph = self.graph;
        let (mut outer, mut origin) = (level, self.before_branches(port));
        while let Some(home) = self.levels[outer].forward {
            let before = graph.read(|g| {
                let node = g.node(origin.node).ok()?;
                let enters = node.is_constant_enter() && g.loop_of(node.context) == Some(home);
                enters.then_some(node.inputs[0])
            });
            let Some(before) = before else { break };
            (outer, origin) = (outer - 1, self.before_branches(before));
        }
        if outer == level || self.see(origin)?.is_ref {
            return Ok(None);
        }
        let inside = self.levels[outer + 1].context;
        let context = graph.read(|g| g.contexts()[inside?.0 as usize].parent);
        if let Some(known) = self.levels[outer].transposed.get(&(origin, context)) {
            return Ok(Some(*known));
        }
        let value = self.value(outer, origin)?;
        let turned = graph.inside(context, || {
            let axes = graph.constant([1, 0]);
            graph.op("Transpose").inputs([value, axes]).output()
        });
        graph.check()?;
        self.levels[outer].transposed.insert((origin, context), turned);
        Ok(Some(turned))
    }

    /// Returns the values that are missing to recompute one that the [cut](crate::cut) recomputes.
    fn missing(&self, level: usize, port: Port) -> Result<Vec<Port>> {
        let this = &self.levels[level];
        if !this.cut.remade.contains(&port) {
            return Ok(Vec::new());
        }
        let mut inputs: Vec<Port> = self.see(port)?.inputs.iter().map(|&p| self.before_branches(p)).collect();
        inputs.retain(|p| this.cut.remade.contains(p) && !this.values.contains_key(p));
        Ok(inputs)
    }

    fn fetched(&mut self, level: usize, port: Port) -> Result<Output<'g>> {
        let home = self.levels[level].forward;
        if self.graph.read(|g| g.loop_of(g.node(port.node).ok()?.context)) != home {
            return self.value(level - 1, port);
        }
        match !self.levels[level].cut.saved.contains(&port) && self.is_free(level, port)? {
            true => self.made_anew(level, port),
            false => self.popped(level, port),
        }
    }

    /// The shape of a forward value at a level.
    pub(crate) fn shape(&mut self, level: usize, port: Port) -> Result<Output<'g>> {
        let shape = self.graph.read(|g| g.shape_of(port));
        if let Some(shape) = static_shape(self.graph, &shape) {
            return Ok(shape);
        }
        let port = self.before_formulas(self.before_branches(port));
        if let Some(known) = self.levels[level].shapes.get(&port) {
            return Ok(*known);
        }
        let shape = match self.is_free(level, port)? {
            true => {
                let value = self.value(level, port)?;
                self.graph.op("Shape").input(value).output()
            }
            false => {
                // Only the shape is saved.
                let context = self.graph.read(|g| g.node(port.node).map(|n| n.context))?;
                let value = Output::new(self.graph, port);
                let shape = self.graph.inside(context, || self.graph.op("Shape").input(value).output());
                self.value(level, shape.port())?
            }
        };
        self.graph.check()?;
        self.levels[level].shapes.insert(port, shape);
        Ok(shape)
    }

    /// Returns a value of the same shape, from before elementwise ops of one input: their results need not be
    /// saved for the shape.
    fn before_formulas(&self, mut port: Port) -> Port {
        self.graph.read(|g| {
            for _ in 0..MAX_FORMULAS {
                let Ok(node) = g.node(port.node) else { break };
                match (node.info.op.kernel.scalar.and_then(|pick| pick(&node.info)), node.inputs.as_slice()) {
                    (Some(ScalarKernel::Unary(_)), &[x]) => port = x,
                    _ => break,
                }
            }
            port
        })
    }

    /// Returns whether the value is available in the backward loop without saving anything more.
    pub(crate) fn is_free(&self, level: usize, port: Port) -> Result<bool> {
        self.is_free_within(level, port, REMAKE_DEPTH)
    }

    fn is_free_within(&self, level: usize, port: Port, depth: usize) -> Result<bool> {
        let this = &self.levels[level];
        let Some(home) = this.forward else { return Ok(true) };
        if this.values.contains_key(&port)
            || this.cut.saved.contains(&port)
            || this.cut.remade.contains(&port)
        {
            return Ok(true);
        }
        let seen = self.see(port)?;
        if self.graph.read(|g| g.loop_of(seen.context)) != Some(home) {
            return Ok(true);
        }
        if depth == 0 {
            return Ok(false);
        }
        Ok(match seen.role {
            Role::Const => true,
            Role::Enter => seen.constant,
            Role::Identity => self.is_free_within(level, seen.inputs[0], depth - 1)?,
            Role::Switch => match self.between.var_of(home, port.node) {
                Some(_) => port.index == 1 && self.between.counts(port.node),
                None => self.is_free_within(level, seen.inputs[0], depth - 1)?,
            },
            Role::Compute if seen.cheap && !seen.inputs.is_empty() => {
                for &p in &seen.inputs {
                    if !self.is_free_within(level, p, depth - 1)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => false,
        })
    }

    /// Recomputes a value that [is free](Differ::is_free) from what is at hand in the backward loop.
    fn made_anew(&mut self, level: usize, port: Port) -> Result<Output<'g>> {
        let seen = self.see(port)?;
        let context = self.levels[level].context;
        let graph = self.graph;
        let made = match seen.role {
            Role::Enter => self.value(level - 1, seen.inputs[0])?,
            Role::Const => graph.inside(context, || graph.op(seen.op).attrs(seen.attrs).output()),
            Role::Switch => match (
                self.levels[level].forward.and_then(|l| self.between.var_of(l, port.node)),
                self.levels[level].index,
            ) {
                // A counter: its value is the index of the iteration.
                (Some(_), Some(index)) => index,
                // A captured value is the value outside of the branch.
                _ => self.value(level, seen.inputs[0])?,
            },
            Role::Compute => {
                let mut inputs = Vec::new();
                for &p in &seen.inputs {
                    inputs.push(self.value(level, p)?);
                }
                let context = self.mirror(level, seen.context)?;
                let node =
                    graph.inside(context, || graph.op(seen.op).inputs(inputs).attrs(seen.attrs).finish());
                // All outputs of the copy are at hand now.
                for i in (0..seen.n_outputs).filter(|&i| i != port.index) {
                    let other = Port::new(port.node, i);
                    let known = graph.read(|g| g.shape_of(other));
                    self.levels[level].values.entry(other).or_insert_with(|| node.output(i).set_shape(known));
                }
                node.output(port.index).set_shape(seen.shape)
            }
            _ => self.value(level, seen.inputs[0])?,
        };
        graph.check()?;
        Ok(made)
    }

    /// Returns the value, saved by the forward loop and popped by the backward one.
    fn popped(&mut self, level: usize, port: Port) -> Result<Output<'g>> {
        let seen = self.see(port)?;
        // An Identity is not saved: its input is.
        if seen.role == Role::Identity {
            return self.value(level, seen.inputs[0]);
        }
        let branches = self.branches(level, seen.context)?;
        let list = self.pushed(level, port, &seen, &branches)?;
        let outer = self.value(level - 1, list)?;
        let (graph, context) = (self.graph, self.levels[level].context);
        let mut var = graph.inside(context, || self.levels[level].enter(outer, PartialShape::scalar()))?;
        let inside = self.levels[level].body_value(&mut var)?;
        // The list goes down into the branch that the value lies in, is popped, and goes up again, merged
        // with the other sides.
        let (mut here, mut others) = (inside, Vec::new());
        for &branch in &branches {
            let (pred, side) = self.cond_of(branch)?;
            let pred = self.value(level, pred)?;
            let at = self.mirror(level, Some(branch))?;
            let around = self.mirror(level, graph.read(|g| g.contexts()[branch.0 as usize].parent))?;
            others.push((past(graph, here, pred, side, around), around));
            here = graph.brought_in(at, here)?;
        }
        let at = self.mirror(level, seen.context)?;
        let pop = graph.inside(at, || {
            let shape = graph.element_shape(&seen.shape);
            graph.op("TensorListPopBack").input(here).input(shape).attr("element_dtype", seen.dtype).finish()
        });
        let mut rest = pop.output(0);
        for (other, around) in others.into_iter().rev() {
            rest = graph.op("Merge").inputs([other, rest]).raw(around).output();
        }
        graph.check()?;
        self.levels[level].carried.push((var, rest));
        Ok(pop.output(1).set_shape(seen.shape))
    }

    /// Returns the list, after the forward loop, of all values that `port` had in it.
    fn pushed(&mut self, level: usize, port: Port, seen: &Seen, branches: &[ContextId]) -> Result<Port> {
        let Some(home) = self.levels[level].forward else {
            return Err(invalid!("only what lies in a loop is saved"));
        };
        if let Some(list) = self.pushed_before(home, port) {
            return Ok(list);
        }
        let graph = self.graph;
        let outer = graph.read(|g| g.contexts()[home.0 as usize].parent);
        let scope = self.scope_of(home);
        graph.in_scope(scope, || {
            let empty = graph.inside(outer, || {
                let shape = graph.element_shape(&seen.shape);
                graph.op("EmptyTensorList").input(shape).input(-1).attr("element_dtype", seen.dtype).output()
            });
            let open = graph.reopen_loop(home)?;
            let mut var = open.enter(empty, PartialShape::scalar())?;
            let inside = open.body_value(&mut var)?;
            let (mut here, mut others) = (inside, Vec::new());
            for &branch in branches {
                let (pred, side) = self.cond_of(branch)?;
                let around = graph.read(|g| g.contexts()[branch.0 as usize].parent);
                others.push((past(graph, here, Output::new(graph, pred), side, around), around));
                here = graph.brought_in(Some(branch), here)?;
            }
            let value = Output::new(graph, port);
            let mut list =
                graph.inside(seen.context, || graph.op("TensorListPushBack").inputs([here, value]).output());
            for (other, around) in others.into_iter().rev() {
                list = graph.op("Merge").inputs([other, list]).raw(around).output();
            }
            Ok(open.close(var, list)?.port())
        })
    }

    /// Returns the list on which an earlier gradient saved the values of `port`.
    pub(crate) fn pushed_before(&self, home: ContextId, port: Port) -> Option<Port> {
        self.between.loops.get(&home)?.saved.get(&port).map(|exit| Port::new(*exit, 0))
    }

    /// Returns the branches, outermost first, between the loop of a level and a context in it.
    fn branches(&self, level: usize, mut context: Option<ContextId>) -> Result<Vec<ContextId>> {
        let mut branches = Vec::new();
        while context != self.levels[level].forward {
            let Some(id) = context else { return Err(invalid!("a value lies outside of its loop")) };
            branches.push(id);
            context = self.graph.read(|g| g.contexts()[id.0 as usize].parent);
        }
        branches.reverse();
        Ok(branches)
    }

    /// Returns the predicate of a branch, and which value of it takes the branch.
    pub(crate) fn cond_of(&self, context: ContextId) -> Result<(Port, u32)> {
        self.graph.read(|g| match &g.contexts()[context.0 as usize].kind {
            ContextKind::Cond(c) => Ok((c.pred, c.branch)),
            ContextKind::While(_) => Err(invalid!("a loop is not a branch")),
        })
    }

    /// Returns the context in which the gradient of a forward context is built: the same where forward values
    /// are at hand, the backward loop for a loop, a branch with the same predicate for a branch.
    pub(crate) fn mirror(&mut self, level: usize, context: Option<ContextId>) -> Result<Option<ContextId>> {
        let this = &self.levels[level];
        if this.forward.is_some() && context == this.forward {
            return Ok(this.context);
        }
        if this.forward.is_none() {
            let here = this.context;
            let (inside, around) =
                self.graph.read(|g| (g.is_within(context, here), g.is_within(here, context)));
            match (inside, around) {
                (true, _) => return Ok(context),
                (_, true) => return Ok(here),
                // A branch next to the caller's.
                _ => {}
            }
        }
        let Some(id) = context else { return Ok(this.context) };
        if let Some(&mirror) = this.mirrors.get(&id) {
            return Ok(Some(mirror));
        }
        let around = self.graph.read(|g| g.contexts()[id.0 as usize].parent);
        let around = self.mirror(level, around)?;
        let (pred, side) = self.cond_of(id)?;
        let pred = self.value(level, pred)?;
        let mirror = self.graph.inside(around, || self.graph.new_branch("cond_grad", pred, side))?;
        self.levels[level].mirrors.insert(id, mirror);
        Ok(Some(mirror))
    }

    /// Returns the name scope of a loop's nodes, with its closing `/`.
    pub(crate) fn scope_of(&self, context: ContextId) -> String {
        let name = self.graph.read(|g| g.contexts()[context.0 as usize].name.clone());
        match name.rsplit_once('/') {
            Some((scope, _)) => format!("{scope}/"),
            None => String::new(),
        }
    }
}
