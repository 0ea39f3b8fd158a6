//! The least shape invariants that a loop's body keeps: shapes are inferred again, with more and more forgotten, until they hold
//! from one iteration to the next. Each step forgets a dimension or a rank, so it ends.

use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::op::{Known, Role};
use millstream_tensor::{PartialShape, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// What was known of a node.
type Facts = (SmallVec<[PartialShape; 1]>, SmallVec<[Option<Arc<Known>>; 1]>);

/// What was known of the nodes from the first Merge on.
pub(super) struct Saved {
    from: usize,
    facts: Vec<Facts>,
}

fn first(merges: &[Port]) -> usize {
    merges.iter().map(|p| p.node.index()).min().unwrap_or(usize::MAX)
}

/// Remembers what is known of the loop's nodes.
pub(super) fn save(g: &GraphData, merges: &[Port]) -> Saved {
    let from = first(merges).min(g.nodes.len());
    let facts = g.nodes[from..].iter().map(|n| (n.shapes.clone(), n.known.clone())).collect();
    Saved { from, facts }
}

/// Brings back what was known.
pub(super) fn restore(g: &mut GraphData, saved: Saved) {
    for (node, (shapes, known)) in g.nodes[saved.from..].iter_mut().zip(saved.facts) {
        node.shapes = shapes;
        node.known = known;
    }
}

/// Relaxes the shapes of `merges` until they contain those of `nexts`, and infers the nodes after them again.
pub(super) fn relax(g: &mut GraphData, merges: &[Port], nexts: &[Port]) -> Result<()> {
    let from = first(merges).min(g.nodes.len());
    let mut changed = vec![false; g.nodes.len() - from];
    loop {
        for (&merge, &next) in merges.iter().zip(nexts) {
            let (old, new) = (g.shape_of(merge), g.shape_of(next));
            if !old.contains(&new) {
                g.set_shape(merge, old.join(&new));
                changed[merge.node.index() - from] = true;
            }
        }
        if !changed.contains(&true) {
            return Ok(());
        }
        // One pass in the order of making; what changes an earlier node, by a back edge, takes another.
        let mut again = vec![false; changed.len()];
        for n in from..g.nodes.len() {
            let touched =
                |p: &Port| p.node.index().checked_sub(from).is_some_and(|i| changed.get(i) == Some(&true));
            if !g.nodes[n].inputs.iter().any(touched) || !infer_again(g, NodeId(n as u32))? {
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

/// Infers a node again; says whether that changed anything.
fn infer_again(g: &mut GraphData, id: NodeId) -> Result<bool> {
    let node = &g.nodes[id.index()];
    let (mut shapes, known) = g.infer(&node.info, &node.inputs)?;
    for (i, shape) in shapes.iter_mut().enumerate() {
        // Merges of inner loops, and Enters with an invariant, know less than their inputs say; they never learn.
        if matches!(node.role(), Role::Merge | Role::Enter) {
            *shape = shape.join(&node.shapes[i]);
        }
        if let Some(declared) = g.declared.get(&Port::new(id, i as u32)) {
            *shape = shape.merge(declared).unwrap_or_else(|| shape.clone());
        }
    }
    let same = shapes == node.shapes;
    let node = &mut g.nodes[id.index()];
    // Inside of a loop what was known may be a shape that is no longer: what is known only shrinks too.
    let same_known = node.known.iter().zip(&known).all(|(a, b)| a.is_some() == b.is_some());
    node.shapes = shapes;
    node.known = known;
    Ok(!same || !same_known)
}
