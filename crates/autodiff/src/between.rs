//! [`Between`]: the nodes on a differentiable path from an x to a y, and the loops they lie in.

use millstream_graph::op::{GRADIENT_OVERRIDE, Gradient, Role};
use millstream_graph::{ContextId, GraphData, Node, NodeId, Port};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A variable of a loop, as its nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Var {
    pub enter: NodeId,
    pub merge: NodeId,
    pub switch: NodeId,
    /// The value for the next iteration: what goes into the NextIteration.
    pub next: Port,
    pub exit: Option<NodeId>,
}

/// A loop of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopNodes {
    pub vars: Vec<Var>,
    /// Enters of values that stay the same.
    pub invariants: Vec<NodeId>,
}

/// What lies between.
pub(crate) struct Between {
    nodes: HashSet<NodeId>,
    /// Nodes whose values count as constants: gradients flow to them, not through them.
    stops: HashSet<NodeId>,
    pub loops: BTreeMap<ContextId, LoopNodes>,
}

/// Whether a gradient may flow from the node to its input `i`.
pub(crate) fn passes(node: &Node, i: usize) -> bool {
    if node.info.input_types.get(i).is_none_or(|t| !t.dtype.carries_gradients()) {
        return false;
    }
    if node.info.attrs.get(GRADIENT_OVERRIDE).is_some() {
        return true;
    }
    match (node.role(), node.info.op.gradient_of()) {
        (Role::Switch, _) => i == 0,
        (Role::Merge | Role::Enter | Role::Exit | Role::NextIteration | Role::Identity, _) => true,
        (_, Some(Gradient::None(_))) => false,
        (_, Some(Gradient::Of(_) | Gradient::Missing(_) | Gradient::Structural)) => true,
        // Undeclared: an error when it is reached, not silence.
        (_, None) => true,
    }
}

impl Between {
    pub fn new(g: &GraphData, ys: &[Port], xs: &[Port], stop: &[Port]) -> Between {
        let stops: HashSet<NodeId> = stop.iter().map(|p| p.node).collect();
        let loops = loops_of(g);
        let edge = |node: &Node, i: usize| passes(node, i) && !closed(g, node);
        // Backwards from the ys, then forwards from the xs among what was reached. Of nodes that pass their inputs on each output counts by
        // itself, so that what only happens to be passed on with a y is left alone.
        let each = |node: &Node| node.op() == "IdentityN" && node.info.attrs.get(GRADIENT_OVERRIDE).is_none();
        let place = |p: Port| match g.node(p.node).is_ok_and(each) {
            true => p,
            false => Port::new(p.node, 0),
        };
        let mut reached: HashSet<Port> = ys.iter().map(|p| place(*p)).collect();
        let mut consumers: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        let mut queue: VecDeque<Port> = reached.iter().copied().collect();
        while let Some(Port { node: id, index }) = queue.pop_front() {
            let Ok(node) = g.node(id) else { continue };
            if stops.contains(&id) {
                continue;
            }
            for (i, &p) in node.inputs.iter().enumerate() {
                if p == Port::OPEN || !edge(node, i) || (each(node) && i != index as usize) {
                    continue;
                }
                consumers.entry(p.node).or_default().push(id);
                if reached.insert(place(p)) {
                    queue.push_back(place(p));
                }
            }
        }
        let reached: HashSet<NodeId> = reached.into_iter().map(|p| p.node).collect();
        let mut nodes: HashSet<NodeId> = xs.iter().map(|p| p.node).filter(|n| reached.contains(n)).collect();
        let mut queue: VecDeque<NodeId> = nodes.iter().copied().collect();
        while let Some(id) = queue.pop_front() {
            for &next in consumers.get(&id).into_iter().flatten() {
                if nodes.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        Between { nodes, stops, loops }
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().copied()
    }

    /// Whether gradients end at the node.
    pub fn stops(&self, node: NodeId) -> bool {
        self.stops.contains(&node)
    }

    /// Whether a gradient is wanted at input `i` of a node.
    pub fn wants(&self, node: &Node, i: usize) -> bool {
        passes(node, i) && self.contains(node.inputs[i].node)
    }
}

/// Whether the node is an Exit of a loop that lets no gradient through (`back_prop(false)`).
fn closed(g: &GraphData, node: &Node) -> bool {
    if node.role() != Role::Exit {
        return false;
    }
    let Some(&p) = node.inputs.first() else { return false };
    let context = g.node(p.node).ok().and_then(|n| g.loop_of(n.context));
    context
        .is_some_and(|id| g.contexts()[id.0 as usize].as_while().is_some_and(|w| w.back_prop == Some(false)))
}

/// The loops of the graph, with the variables that are whole (entered, decided, given a next value).
fn loops_of(g: &GraphData) -> BTreeMap<ContextId, LoopNodes> {
    let mut loops: BTreeMap<ContextId, LoopNodes> = BTreeMap::new();
    let mut exits: HashMap<NodeId, NodeId> = HashMap::new();
    let mut switches: HashMap<NodeId, NodeId> = HashMap::new();
    let mut merges: Vec<(ContextId, NodeId)> = Vec::new();
    for (id, node) in g.nodes().iter().enumerate() {
        let id = NodeId(id as u32);
        match node.role() {
            Role::Exit => {
                exits.insert(node.inputs[0].node, id);
            }
            Role::Enter if node.is_constant_enter() => {
                if let Some(home) = g.loop_of(node.context) {
                    loops.entry(home).or_default().invariants.push(id);
                }
            }
            Role::Merge if is_loop_merge(g, node) => {
                if let Some(home) = g.loop_of(node.context) {
                    merges.push((home, id));
                }
            }
            Role::Switch if node.inputs[0] != Port::OPEN => {
                let of_loop = |n: &Node| is_loop_merge(g, n);
                let decided = |n: &Node| n.role() == Role::LoopCond;
                if g.node(node.inputs[0].node).is_ok_and(of_loop)
                    && g.node(node.inputs[1].node).is_ok_and(decided)
                {
                    switches.insert(node.inputs[0].node, id);
                }
            }
            _ => {}
        }
    }
    for (home, merge) in merges {
        let node = &g.nodes()[merge.index()];
        let role = |p: &Port| g.node(p.node).map(|n| n.role()).ok();
        let enter = node.inputs.iter().find(|p| role(p) == Some(Role::Enter));
        let back = node.inputs.iter().find(|p| role(p) == Some(Role::NextIteration));
        let (Some(enter), Some(back), Some(&switch)) = (enter, back, switches.get(&merge)) else { continue };
        let next = g.nodes()[back.node.index()].inputs[0];
        let exit = exits.get(&switch).copied();
        loops.entry(home).or_default().vars.push(Var { enter: enter.node, merge, switch, next, exit });
    }
    loops
}

/// Whether this is the Merge of a loop variable.
pub(crate) fn is_loop_merge(g: &GraphData, node: &Node) -> bool {
    node.role() == Role::Merge
        && node
            .inputs
            .iter()
            .any(|p| *p == Port::OPEN || g.node(p.node).is_ok_and(|n| n.role() == Role::NextIteration))
}
