//! The sweep over one level: it visits nodes after everything that uses them, and each loop as one step.

use crate::arrays::ArrayMaker;
use crate::between::Between;
use crate::cut::Cut;
use crate::saved::At;
use crate::sum::{Branch, Flow, Value, sum};
use millstream_graph::flow::{LoopVar, OpenLoop};
use millstream_graph::loops::View;
use millstream_graph::op::{Forward, GRADIENT_OVERRIDE, GradCx, Gradient, GradientFn, Role, zeros_of};
use millstream_graph::{ContextId, ContextKind, Grad, Graph, ListItem, Node, NodeId, Output, Port};
use millstream_tensor::{Error, PartialShape, Result, invalid};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The maximum nesting depth of loops, which bounds the recursion.
const MAX_NESTING: usize = 100;

/// The gradient of a graph that is being built.
pub(crate) struct Differ<'g> {
    pub graph: &'g Graph,
    pub between: Between,
    /// The xs: their gradients are kept.
    xs: Vec<Port>,
    /// The graph outside of all differentiated loops, then those loops, from the outside in.
    pub levels: Vec<Level<'g>>,
    /// The name scope of the call.
    pub scope: String,
    /// Sums that continue those of an earlier gradient.
    pub sums: Vec<Sum<'g>>,
}

/// A sum over stretches of a loop. It is continued iteration by iteration, so it has the bits of the sum over
/// the whole loop.
#[derive(Clone, Copy)]
pub(crate) struct Sum<'g> {
    pub x: Port,
    pub so_far: Output<'g>,
    /// Whether the gradient of `x` already includes `so_far`.
    pub used: bool,
}

/// One level: the graph outside of all loops, or the body of a loop together with that of its backward loop.
pub(crate) struct Level<'g> {
    /// The loop that is differentiated. `None` where forward values are at hand.
    pub forward: Option<ContextId>,
    /// Where the gradient is built: the caller's context, or the backward loop.
    pub context: Option<ContextId>,
    pub open: Option<OpenLoop<'g>>,
    /// In a backward loop, the index of the forward iteration.
    pub index: Option<Output<'g>>,
    /// The values to save, as far as they are known before the sweep.
    pub cut: Cut,
    pub values: HashMap<Port, Output<'g>>,
    pub shapes: HashMap<Port, Output<'g>>,
    /// Transposes of values of this level, by the context that they were made in.
    pub transposed: HashMap<(Port, Option<ContextId>), Output<'g>>,
    pub mirrors: HashMap<ContextId, ContextId>,
    /// Variables of the backward loop with their next values.
    pub carried: Vec<(LoopVar<'g>, Output<'g>)>,
    pub flows: HashMap<Port, Vec<Flow<'g>>>,
    results: HashMap<Port, Option<Grad<'g>>>,
}

/// A step of the sweep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Unit {
    Node(NodeId),
    Loop(ContextId),
}

impl<'g> Level<'g> {
    pub fn new(forward: Option<ContextId>, context: Option<ContextId>) -> Level<'g> {
        Level {
            forward,
            context,
            open: None,
            index: None,
            cut: Cut::default(),
            values: HashMap::new(),
            shapes: HashMap::new(),
            transposed: HashMap::new(),
            mirrors: HashMap::new(),
            carried: Vec::new(),
            flows: HashMap::new(),
            results: HashMap::new(),
        }
    }

    /// Adds a variable to the backward loop.
    pub fn enter(&self, init: Output<'g>, shape: PartialShape) -> Result<LoopVar<'g>> {
        match &self.open {
            Some(open) => open.enter(init, shape),
            None => Err(invalid!("there is no loop to carry this")),
        }
    }

    /// Returns a variable of the backward loop as its body sees it.
    pub fn body_value(&self, var: &mut LoopVar<'g>) -> Result<Output<'g>> {
        match &self.open {
            Some(open) => open.body_value(var),
            None => Err(invalid!("there is no loop to carry this")),
        }
    }
}

/// A value whose gradients are summed.
struct Summed<'d, 'g> {
    at: At<'d, 'g>,
    port: Port,
}

impl<'g> Value<'g> for Summed<'_, 'g> {
    fn zeros(&mut self) -> Result<Output<'g>> {
        zeros_of(self.at.differ.graph, self.port, &mut self.at)
    }
    fn shape(&mut self) -> Result<Output<'g>> {
        self.at.shape(self.port)
    }
    fn grows(&self) -> bool {
        self.at.differ.graph.read(|g| ArrayMaker::of(g, self.port)).is_some_and(|array| array.grows)
    }
}

impl<'g> Differ<'g> {
    pub fn new(graph: &'g Graph, between: Between, xs: Vec<Port>) -> Differ<'g> {
        let root = Level::new(None, graph.current_context());
        Differ { graph, between, xs, levels: vec![root], scope: graph.scope(), sums: Vec::new() }
    }

    /// Returns the gradient of an x, after the sweep.
    pub fn result(&mut self, x: Port) -> Result<Option<Grad<'g>>> {
        if let Some(grad) = self.levels[0].results.get(&x) {
            return Ok(*grad);
        }
        if !self.between.contains(x.node) || self.unit_of(0, x.node) == Some(Unit::Node(x.node)) {
            return Ok(None);
        }
        self.graph.read(|g| {
            let node = g.node(x.node)?;
            Err(invalid!("`{}` is inside a loop and has a value in each iteration; it cannot be differentiated from outside the loop", node.name())
                .at_line(node.at)
                .with_help("take the gradient inside the body, or with respect to a value from outside the loop"))
        })
    }

    /// Propagates gradients from the seeds through all nodes of one level that lie between the ys and the xs.
    pub fn sweep(&mut self, level: usize, seeds: Vec<(Port, Grad<'g>)>) -> Result<()> {
        for (port, grad) in seeds {
            if level == 0
                && matches!(self.unit_of(0, port.node), Some(Unit::Loop(_)))
                && !self.is_exit(port.node)
            {
                return self.graph.read(|g| {
                    let node = g.node(port.node)?;
                    Err(invalid!(
                        "`{}` is inside a loop and cannot be differentiated from outside it",
                        node.name()
                    )
                    .at_line(node.at)
                    .with_help("make it a loop variable and differentiate the loop's result"))
                });
            }
            self.flow(level, port, grad.into());
        }
        let (mut waits, sources) = self.order(level)?;
        let mut ready: Vec<Unit> = waits.iter().filter(|(_, n)| **n == 0).map(|(u, _)| *u).collect();
        while let Some(unit) = ready.pop() {
            match unit {
                Unit::Node(id) => self.through_node(level, id)?,
                Unit::Loop(id) => {
                    if MAX_NESTING <= level {
                        return Err(invalid!(
                            "loops are nested deeper than {MAX_NESTING}, too deep to differentiate"
                        ));
                    }
                    self.through_loop(level, id)?;
                }
            }
            for source in sources.get(&unit).into_iter().flatten() {
                if let Some(n) = waits.get_mut(source) {
                    *n -= 1;
                    if *n == 0 {
                        ready.push(*source);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the number of uses that each step waits for, and the steps that each step's inputs come from.
    #[expect(clippy::type_complexity, reason = "the two halves of a graph")]
    fn order(&self, level: usize) -> Result<(BTreeMap<Unit, usize>, HashMap<Unit, Vec<Unit>>)> {
        let mut waits: BTreeMap<Unit, usize> = BTreeMap::new();
        let mut sources: HashMap<Unit, Vec<Unit>> = HashMap::new();
        let mut nodes: Vec<NodeId> = self.between.nodes().collect();
        nodes.sort();
        self.graph.read(|g| {
            for id in nodes {
                let Some(unit) = self.unit_in(g, level, id) else { continue };
                waits.entry(unit).or_default();
                let node = g.node(id)?;
                if self.between.stops(id) {
                    continue;
                }
                for (i, p) in node.inputs.iter().enumerate() {
                    if *p == Port::OPEN || !self.between.wants(node, i) {
                        continue;
                    }
                    let Some(source) = self.unit_in(g, level, p.node) else { continue };
                    if source == unit {
                        continue;
                    }
                    // The loop itself is one step, so its back edges are not followed.
                    *waits.entry(source).or_default() += 1;
                    sources.entry(unit).or_default().push(source);
                }
            }
            Ok((waits, sources))
        })
    }

    fn unit_of(&self, level: usize, id: NodeId) -> Option<Unit> {
        self.graph.read(|g| self.unit_in(g, level, id))
    }

    /// Returns the step that a node is part of. `None` for nodes outside of the level, and for the Merges,
    /// NextIterations and Exits of its own loop.
    fn unit_in(&self, g: &millstream_graph::GraphData, level: usize, id: NodeId) -> Option<Unit> {
        let node = g.node(id).ok()?;
        // The results of a loop belong to the loop's step.
        let home = match node.role() {
            Role::Exit => g.loop_of(g.node(node.inputs.first()?.node).ok()?.context),
            _ => g.loop_of(node.context),
        };
        let here = &self.levels[level];
        let around = |l: Option<ContextId>| match here.forward {
            Some(forward) => l == Some(forward),
            None => l.is_none() || g.is_within(here.context, l),
        };
        if around(home) {
            let own = g.back_edge(id).is_some() || matches!(node.role(), Role::NextIteration | Role::Exit);
            return (!own).then_some(Unit::Node(id));
        }
        let mut at = home?;
        loop {
            let outer = g.loop_of(g.contexts()[at.0 as usize].parent);
            if around(outer) {
                return Some(Unit::Loop(at));
            }
            at = outer?;
        }
    }

    fn is_exit(&self, id: NodeId) -> bool {
        self.graph.read(|g| g.node(id).is_ok_and(|n| n.role() == Role::Exit))
    }

    /// Adds a gradient that flows to a value.
    pub fn flow(&mut self, level: usize, port: Port, flow: Flow<'g>) {
        self.levels[level].flows.entry(port).or_default().push(flow);
    }

    /// Returns the sum of the gradients that flowed to a value.
    pub fn summed(&mut self, level: usize, port: Port) -> Result<Option<Grad<'g>>> {
        let Some(flows) = self.levels[level].flows.remove(&port) else { return Ok(None) };
        let (graph, context) = (self.graph, self.graph.read(|g| g.node(port.node).map(|n| n.context))?);
        let context = self.mirror(level, context)?;
        let total = graph
            .inside(context, || sum(graph, &flows, &mut Summed { at: At { differ: self, level }, port }))?;
        graph.check()?;
        Ok(total)
    }

    /// Like [`Differ::summed`]. For an x, the sum is also recorded as its gradient.
    pub fn arrived(&mut self, level: usize, port: Port) -> Result<Option<Grad<'g>>> {
        let grad = self.summed(level, port)?;
        if level == 0 && self.xs.contains(&port) {
            self.levels[0].results.insert(port, grad);
        }
        Ok(grad)
    }

    /// Like [`Differ::summed`], as one tensor or list, or zeros if nothing flowed.
    pub fn summed_whole(&mut self, level: usize, port: Port) -> Result<Output<'g>> {
        let total = self.summed(level, port)?;
        self.whole(level, port, total)
    }

    /// Returns a gradient of the value as one tensor or list, or zeros if there is none.
    pub fn whole(&mut self, level: usize, port: Port, total: Option<Grad<'g>>) -> Result<Output<'g>> {
        let (graph, context) = (self.graph, self.graph.read(|g| g.node(port.node).map(|n| n.context))?);
        let context = self.mirror(level, context)?;
        let whole = graph.inside(context, || match total {
            Some(Grad::Dense(grad)) => Ok(grad),
            Some(Grad::Item(item)) => Err(invalid!("an item was not summed into its list: {:?}", item.value)),
            Some(Grad::Slices(slices)) => {
                let shape = slices.dense_shape.map_or_else(|| self.shape(level, port), Ok)?;
                Ok(slices.to_dense(shape))
            }
            None => zeros_of(graph, port, &mut At { differ: self, level }),
        })?;
        graph.check()?;
        Ok(whole)
    }

    fn through_node(&mut self, level: usize, id: NodeId) -> Result<()> {
        let graph = self.graph;
        let node = graph.read(|g| g.node(id).cloned())?;
        if self.levels[level].forward.is_some() && node.role() == Role::Enter {
            // The loop sums the gradients of captured values.
            return Ok(());
        }
        if let Some(home) = self.levels[level].forward
            && self.between.var_of(home, id).is_some()
        {
            // It also carries those of its variables.
            return Ok(());
        }
        let mut grads = Vec::new();
        for i in 0..node.info.output_types.len() as u32 {
            grads.push(self.arrived(level, Port::new(id, i))?);
        }
        if grads.iter().all(Option::is_none) || self.between.stops(id) {
            return Ok(());
        }
        match node.role() {
            Role::Switch => self.through_switch(level, &node, &grads),
            Role::Merge => self.through_merge(level, id, &node, grads[0]),
            Role::Enter => {
                if node.is_constant_enter()
                    && let Some(grad) = grads[0]
                {
                    self.flow(level, node.inputs[0], grad.into());
                }
                Ok(())
            }
            Role::Compute | Role::Identity => self.through_op(level, id, &node, &grads),
            _ => Ok(()),
        }
    }

    /// Propagates gradients through a Switch: the gradient of one side is alive only if that side is.
    fn through_switch(&mut self, level: usize, node: &Node, grads: &[Option<Grad<'g>>]) -> Result<()> {
        if !self.between.wants(node, 0) {
            return Ok(());
        }
        let of_loop = self.graph.read(|g| g.back_edge(node.inputs[0].node).is_some());
        if of_loop {
            // A variable of a loop around the caller. Inside of the body it depends on nothing.
            return Ok(());
        }
        let pred = self.value(level, node.inputs[1])?;
        for (side, grad) in grads.iter().enumerate() {
            if let Some(grad) = *grad {
                let branch = Some(Branch { pred, side: side as u32 });
                self.flow(level, node.inputs[0], Flow { grad, branch });
            }
        }
        Ok(())
    }

    /// Propagates the gradient of a cond's result into the branch that was taken.
    fn through_merge(&mut self, level: usize, id: NodeId, node: &Node, grad: Option<Grad<'g>>) -> Result<()> {
        let graph = self.graph;
        let Some(grad) = grad else { return Ok(()) };
        for (i, &p) in node.inputs.iter().enumerate() {
            if !self.between.wants(node, i) {
                continue;
            }
            let inner = graph.read(|g| -> Result<Option<ContextId>> {
                let context = g.node(p.node)?.context;
                let branch = context.filter(|c| {
                    context != node.context
                        && g.is_within(context, node.context)
                        && matches!(g.contexts()[c.0 as usize].kind, ContextKind::Cond(_))
                });
                Ok(branch)
            })?;
            let switched =
                graph.read(|g| g.node(p.node).map(|n| (n.role() == Role::Switch).then(|| n.inputs[1])))?;
            let around = self.mirror(level, node.context)?;
            let mut parts = |grad: Output<'g>| -> Result<Output<'g>> {
                if let Some(context) = inner {
                    let at = self.mirror(level, Some(context))?;
                    return graph.brought_in(at, grad);
                }
                // Without a context for the branch, the Switch that the value comes from, or the Merge's
                // second output, tells whether the branch was taken.
                let (pred, side) = match switched {
                    Some(pred) => (self.value(level, pred)?, p.index),
                    None => {
                        let which = self.value(level, Port::new(id, 1))?;
                        (graph.op("Equal").input(which).input(i as i32).output(), 1)
                    }
                };
                Ok(graph.op("Switch").inputs([grad, pred]).finish().output(side))
            };
            let parts = |grad| graph.inside(around, || parts(grad));
            let grad = map(grad, parts)?;
            graph.check()?;
            self.flow(level, p, grad.into());
        }
        Ok(())
    }

    fn through_op(
        &mut self,
        level: usize,
        id: NodeId,
        node: &Node,
        grads: &[Option<Grad<'g>>],
    ) -> Result<()> {
        let graph = self.graph;
        let wanted: Vec<bool> = (0..node.inputs.len()).map(|i| self.between.wants(node, i)).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        let Some(function) = gradient_of(graph, node)? else { return Ok(()) };
        let context = self.mirror(level, node.context)?;
        let scope = format!("{}{}_grad/", self.scope, node.name());
        let given = graph.inside(context, || {
            graph.in_scope(scope, || {
                let mut at = At { differ: self, level };
                let mut run = || GradCx::new(graph, (id, node), grads, &wanted, &mut at).run(&*function);
                match node.info.attrs.get(GRADIENT_OVERRIDE) {
                    // Nodes of the caller's own function have the source lines of that function.
                    Some(_) => graph.built_where_it_stands(run),
                    None => run(),
                }
            })
        });
        let given =
            given.map_err(|e| e.note(format!("in the gradient of `{}` ({})", node.name(), node.op())))?;
        for (i, grad) in given.into_iter().enumerate() {
            if let Some(grad) = grad
                && wanted[i]
            {
                self.flow(level, node.inputs[i], grad.into());
            }
        }
        Ok(())
    }
}

/// Returns the gradient function of a node: the one that the node names, or its op's. `None` if no gradient
/// flows back through it.
pub(crate) fn gradient_of(graph: &Graph, node: &Node) -> Result<Option<GradientFn>> {
    let refuse = |what: String, help: &str| {
        Err(Error::unimplemented(what)
            .led_by(format!("No gradient defined for operation '{}' (op type: {})", node.name(), node.op()))
            .at_node(node.name(), node.op())
            .at_line(node.at)
            .with_help(help.to_owned()))
    };
    if let Ok(name) = node.info.attrs.str(GRADIENT_OVERRIDE) {
        let name = name.text();
        if let Some(function) = graph.registered_gradient(&name) {
            return Ok(Some(function));
        }
        // The name may be that of an op whose gradient is to be used: that of Identity for a Floor, say.
        return match graph.registry().get(&name).and_then(|op| op.gradient_of()) {
            Some(Gradient::Of(function)) => Ok(Some(Arc::new(function))),
            Some(Gradient::None(_)) => Ok(None),
            _ => refuse(
                format!("the gradient `{name}` that the node asks for is not known"),
                "register it: `Graph::register_gradient`",
            ),
        };
    }
    let stop = "stop the gradient before it: `stop_gradient`, or `stop_gradients`";
    match node.info.op.gradient_of() {
        Some(Gradient::Of(function)) => Ok(Some(Arc::new(function))),
        Some(Gradient::None(_) | Gradient::Structural) => Ok(None),
        // An op without a gradient may be given one, registered under its name.
        Some(Gradient::Missing(_)) | None if graph.registered_gradient(node.op()).is_some() => {
            Ok(graph.registered_gradient(node.op()))
        }
        Some(Gradient::Missing(why)) => refuse(format!("{} has no gradient here: {why}", node.op()), stop),
        None => refuse(format!("the gradient of {} is not known", node.op()), stop),
    }
}

/// Returns the gradient with `part` applied to each of its tensors.
fn map<'g>(grad: Grad<'g>, mut part: impl FnMut(Output<'g>) -> Result<Output<'g>>) -> Result<Grad<'g>> {
    Ok(match grad {
        Grad::Dense(grad) => Grad::Dense(part(grad)?),
        Grad::Slices(s) => Grad::Slices(millstream_graph::IndexedSlices {
            values: part(s.values)?,
            indices: part(s.indices)?,
            dense_shape: s.dense_shape.map(&mut part).transpose()?,
        }),
        Grad::Item(i) => Grad::Item(ListItem { index: part(i.index)?, value: part(i.value)?, ..i }),
    })
}
