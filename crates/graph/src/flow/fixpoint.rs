//! The most specific shape invariants that a loop's body keeps. Shapes are inferred repeatedly and
//! generalised until they hold from one iteration to the next. Each step forgets a dimension or a rank, so
//! the process ends. [`relax`] does this for a loop that is being built, [`over_back_edges`] for all loops of
//! an import at once.

use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::loops::View;
use crate::op::{HandleShape, Known, Role};
use millstream_tensor::{PartialShape, Result};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::Arc;

/// The shapes and known values of a node's outputs.
type Facts = (SmallVec<[PartialShape; 1]>, SmallVec<[Option<Arc<Known>>; 1]>);

/// The facts of all nodes from the first Merge on.
pub(super) struct Saved {
    from: usize,
    facts: Vec<Facts>,
}

fn first(merges: &[Port]) -> usize {
    merges.iter().map(|p| p.node.index()).min().unwrap_or(usize::MAX)
}

/// Saves the facts of the loop's nodes.
pub(super) fn save(g: &GraphData, merges: &[Port]) -> Saved {
    let from = first(merges).min(g.nodes.len());
    let facts = g.nodes[from..].iter().map(|n| (n.shapes.clone(), n.known.clone())).collect();
    Saved { from, facts }
}

/// Restores saved facts.
pub(super) fn restore(g: &mut GraphData, saved: Saved) {
    for (node, (shapes, known)) in g.nodes[saved.from..].iter_mut().zip(saved.facts) {
        node.shapes = shapes;
        node.known = known;
    }
}

/// Generalises the shapes of `merges`, and of the elements of lists and resources, until they contain those
/// of `nexts`, and infers the nodes after them again.
pub(super) fn relax(g: &mut GraphData, merges: &[Port], nexts: &[Port]) -> Result<()> {
    settle(g, merges, nexts, |g, merge, next| {
        let (old, new) = (g.shape_of(merge), g.shape_of(next));
        let kept = old.contains(&new);
        if !kept {
            g.set_shape(merge, old.join(&new));
        }
        forget_held(g, merge, next) || !kept
    })
}

/// Like [`relax`], for the elements of lists and resources only: these may change from one iteration to the
/// next without being declared.
pub(super) fn relax_held(g: &mut GraphData, merges: &[Port], nexts: &[Port]) -> Result<()> {
    settle(g, merges, nexts, forget_held)
}

/// Keeps only those facts about the elements of `merge` that hold of `next` too. Returns whether any were
/// dropped.
fn forget_held(g: &mut GraphData, merge: Port, next: Port) -> bool {
    let Some(Known::Handle(old)) = g.known(merge) else { return false };
    let kept = match g.known(next) {
        Some(Known::Handle(new)) if new.dtype == old.dtype => {
            if old.shape.contains(&new.shape) {
                return false;
            }
            Some(Arc::new(Known::Handle(HandleShape { dtype: old.dtype, shape: old.shape.join(&new.shape) })))
        }
        _ => None,
    };
    g.nodes[merge.node.index()].known[merge.index as usize] = kept;
    true
}

/// Applies `forget`, which drops facts that do not hold from one iteration to the next, until it drops
/// nothing.
fn settle(
    g: &mut GraphData,
    merges: &[Port],
    nexts: &[Port],
    forget: impl Fn(&mut GraphData, Port, Port) -> bool,
) -> Result<()> {
    let from = first(merges).min(g.nodes.len());
    let mut changed = vec![false; g.nodes.len() - from];
    loop {
        for (&merge, &next) in merges.iter().zip(nexts) {
            changed[merge.node.index() - from] |= forget(g, merge, next);
        }
        if !changed.contains(&true) {
            return Ok(());
        }
        // One pass in the order of creation. A change that reaches an earlier node, by a back edge, takes
        // another.
        let mut again = vec![false; changed.len()];
        for n in from..g.nodes.len() {
            let touched =
                |p: &Port| p.node.index().checked_sub(from).is_some_and(|i| changed.get(i) == Some(&true));
            // The facts of the loop's own Merges are what `forget` left, whatever the back edge brings.
            let own = || merges.iter().any(|p| p.node.index() == n);
            if !g.nodes[n].inputs.iter().any(touched) || own() || !infer_again(g, NodeId(n as u32))? {
                continue;
            }
            changed[n - from] = true;
            if g.nodes[n].role() == Role::NextIteration {
                again[n - from] = true;
            }
        }
        changed = again;
    }
}

/// Infers a node again. Returns whether that changed anything.
fn infer_again(g: &mut GraphData, id: NodeId) -> Result<bool> {
    let node = &g.nodes[id.index()];
    let (mut shapes, known) = g.infer(&node.info, &node.inputs)?;
    for (i, shape) in shapes.iter_mut().enumerate() {
        // Merges of inner loops, and Enters with an invariant, are less specific than their inputs, and stay
        // so.
        if matches!(node.role(), Role::Merge | Role::Enter) {
            *shape = shape.join(&node.shapes[i]);
        }
        if let Some(declared) = g.declared.get(&Port::new(id, i as u32)) {
            *shape = shape.merge(declared).unwrap_or_else(|| shape.clone());
        }
    }
    Ok(set_facts(g, id, (shapes, known)))
}

/// Sets the facts of a node. Returns whether they differ from those before.
fn set_facts(g: &mut GraphData, id: NodeId, (shapes, known): Facts) -> bool {
    let node = &mut g.nodes[id.index()];
    let same = |(a, b): (&Option<Arc<Known>>, &Option<Arc<Known>>)| match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.same(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let news = shapes != node.shapes || !node.known.iter().zip(&known).all(same);
    node.shapes = shapes;
    node.known = known;
    news
}

/// From this round on, a shape that still changes becomes unknown.
const WIDENED: usize = 12;

/// The maximum number of rounds. If shapes still change then, those inferred first are kept.
const MOST_ROUNDS: usize = 40;

/// Infers the shapes of `nodes`, the nodes of an import in the order of creation, over their back edges.
///
/// When nodes are created nothing is known of what a back edge will bring, so their shapes are sound but
/// unspecific. Here each loop variable starts with the shape that enters, the body is inferred, and the
/// variable is joined with what comes back, until nothing changes. A node whose shapes cannot be inferred
/// this way (it may lie in a branch that is not taken then) keeps the shapes it had.
pub(crate) fn over_back_edges(g: &mut GraphData, nodes: &[NodeId]) {
    let back = |g: &GraphData, id: NodeId| g.back_edge(id);
    let Some(first) = nodes.iter().position(|&id| back(g, id).is_some()) else { return };
    let nodes = &nodes[first..];
    let facts = |id: &NodeId| g.nodes.get(id.index()).map(|n| (n.shapes.clone(), n.known.clone()));
    let at_first: Vec<Facts> = nodes.iter().filter_map(facts).collect();
    let mut round_before: HashSet<NodeId> = HashSet::new();
    for round in 0..MOST_ROUNDS {
        let mut changed: HashSet<NodeId> = HashSet::new();
        for (&id, at_first) in nodes.iter().zip(&at_first) {
            let back = back(g, id);
            let node = &g.nodes[id.index()];
            let touched =
                |p: &Port| changed.contains(&p.node) || back.is_some() && round_before.contains(&p.node);
            // The first round uses what enters, the second what comes back, whether that changed or not.
            if !(back.is_some() && round < 2 || node.inputs.iter().any(touched)) {
                continue;
            }
            let mut inputs = node.inputs.clone();
            if let Some(back) = back.filter(|_| round == 0) {
                inputs[back] = inputs[usize::from(back == 0)];
            }
            let found = g.infer(&node.info, &inputs).map(|(mut shapes, known)| {
                for (i, shape) in shapes.iter_mut().enumerate() {
                    if back.is_some() && round > 0 && *shape != node.shapes[i] {
                        *shape = shape.join(&node.shapes[i]);
                        if round >= WIDENED && *shape != node.shapes[i] {
                            *shape = PartialShape::unknown();
                        }
                    }
                    if let Some(declared) = g.declared.get(&Port::new(id, i as u32)) {
                        *shape = shape.merge(declared).unwrap_or_else(|| shape.clone());
                    }
                }
                (shapes, known)
            });
            if set_facts(g, id, found.unwrap_or_else(|_| at_first.clone())) {
                changed.insert(id);
            }
        }
        if changed.is_empty() && round > 0 {
            return;
        }
        round_before = changed;
    }
    for (&id, at_first) in nodes.iter().zip(at_first) {
        set_facts(g, id, at_first);
    }
}
