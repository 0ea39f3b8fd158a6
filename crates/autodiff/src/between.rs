//! [`Between`]: the nodes on a differentiable path from an x to a y, and the loops they lie in.

use millstream_graph::loops::{LoopTree, Variable, Whole};
use millstream_graph::op::{GRADIENT_OVERRIDE, Gradient, Role};
use millstream_graph::{ContextId, GraphData, Node, NodeId, Port};
use millstream_tensor::DType;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A variable of a loop: its nodes.
pub(crate) type Var = Whole;

/// A loop of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopNodes {
    /// The variables that have all of their nodes.
    pub vars: Vec<Var>,
    /// The Enters of the values that are the same in every iteration.
    pub invariants: Vec<NodeId>,
    /// The Exit of the list on which an earlier gradient saved a value, by that value.
    pub saved: HashMap<Port, NodeId>,
    /// For each variable, whether it counts the iterations from 0, in i32.
    pub counts: Vec<bool>,
}

/// The nodes between the ys and the xs.
pub(crate) struct Between {
    nodes: HashSet<NodeId>,
    /// Nodes whose values are treated as constants: gradients flow to them, not through them.
    stops: HashSet<NodeId>,
    pub loops: BTreeMap<ContextId, LoopNodes>,
    /// The variable that a Switch belongs to.
    var_of: HashMap<NodeId, (ContextId, usize)>,
}

/// Returns whether a gradient may flow from the node to its input `i`.
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
        // An undeclared gradient is an error when it is reached, not silently zero.
        (_, None) => true,
    }
}

impl Between {
    pub fn new(g: &GraphData, ys: &[Port], xs: &[Port], stop: &[Port]) -> Between {
        let stops: HashSet<NodeId> = stop.iter().map(|p| p.node).collect();
        let loops = loops_of(g);
        let vars = loops.iter().flat_map(|(home, it)| it.vars.iter().enumerate().map(|(i, v)| (*home, i, v)));
        let var_of = vars.map(|(home, i, var)| (var.switch, (home, i))).collect();
        let edge = |node: &Node, i: usize| passes(node, i) && !closed(g, node);
        // Backwards from the ys, then forwards from the xs among the nodes that were reached. The outputs of
        // an IdentityN are followed one by one, so that values that are merely passed on with a y are left
        // out.
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
        Between { nodes, stops, loops, var_of }
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.nodes.contains(&node)
    }

    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().copied()
    }

    /// Returns the variable of a loop that this Switch belongs to.
    pub fn var_of(&self, home: ContextId, switch: NodeId) -> Option<&Var> {
        let &(of, i) = self.var_of.get(&switch)?;
        self.loops.get(&of).filter(|_| of == home)?.vars.get(i)
    }

    /// Returns whether the Switch is that of a variable that counts the iterations of its loop from 0.
    pub fn counts(&self, switch: NodeId) -> bool {
        self.var_of.get(&switch).is_some_and(|(home, i)| self.loops[home].counts[*i])
    }

    /// Returns whether gradients end at the node.
    pub fn stops(&self, node: NodeId) -> bool {
        self.stops.contains(&node)
    }

    /// Returns whether a gradient is needed at input `i` of a node.
    pub fn wants(&self, node: &Node, i: usize) -> bool {
        passes(node, i) && self.contains(node.inputs[i].node)
    }
}

/// Returns whether the node is an Exit of a loop that lets no gradient through (`back_prop(false)`).
fn closed(g: &GraphData, node: &Node) -> bool {
    if node.role() != Role::Exit {
        return false;
    }
    let Some(&p) = node.inputs.first() else { return false };
    let context = g.node(p.node).ok().and_then(|n| g.loop_of(n.context));
    context
        .is_some_and(|id| g.contexts()[id.0 as usize].as_while().is_some_and(|w| w.back_prop == Some(false)))
}

/// Returns the loops of the graph that have contexts.
fn loops_of(g: &GraphData) -> BTreeMap<ContextId, LoopNodes> {
    let mut loops: BTreeMap<ContextId, LoopNodes> = BTreeMap::new();
    let home = |node: NodeId| g.node(node).ok().and_then(|n| g.loop_of(n.context));
    for it in LoopTree::of(g).loops() {
        for &enter in &it.invariants {
            if let Some(home) = home(enter) {
                loops.entry(home).or_default().invariants.push(enter);
            }
        }
        let mut vars: Vec<_> = it.variables.iter().filter_map(|v| Some((v.whole()?, v))).collect();
        vars.sort_by_key(|(var, _)| var.merge);
        for (var, variable) in vars {
            let Some(home) = home(var.merge) else { continue };
            let nodes = loops.entry(home).or_default();
            nodes.counts.push(counts_iterations(g, variable));
            if let Some((exit, value)) = var.exit.zip(saved_by(g, &var)) {
                nodes.saved.entry(value).or_insert(exit);
            }
            nodes.vars.push(var);
        }
    }
    loops
}

/// Returns whether the variable is an i32 that starts from 0 and grows by 1.
fn counts_iterations(g: &GraphData, variable: &Variable<NodeId>) -> bool {
    let is_i32 = variable.next.is_some_and(|p| g.type_of(p).is_ok_and(|t| t.dtype == DType::I32));
    is_i32 && LoopTree::counter(g, variable, &|p| g.known_value(p)) == Some((0.0, 1.0))
}

/// Returns the value that a variable collects in a list, if it is a variable that an earlier gradient added
/// to save a value. The push may lie in branches; their Merges are passed.
fn saved_by(g: &GraphData, var: &Var) -> Option<Port> {
    let input = |node: NodeId, i: usize| g.node(node).ok()?.inputs.get(i).copied();
    if g.node(input(var.enter, 0)?.node).ok()?.op() != "EmptyTensorList" {
        return None;
    }
    let mut push = var.next.node;
    for _ in 0..g.contexts().len() {
        match g.node(push).ok()?.role() {
            Role::Merge => push = input(push, 1)?.node,
            _ => break,
        }
    }
    (g.node(push).ok()?.op() == "TensorListPushBack").then(|| input(push, 1))?
}
