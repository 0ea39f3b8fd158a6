//! The verifier of programs. The rules that it checks:
//!
//! 1. Every cycle goes through a `NextIteration`.
//! 2. A `NextIteration` feeds nothing but `Merge`s, and lies in a loop.
//! 3. All inputs of a node, control inputs included, come from one frame.
//! 4. An `Exit` has an `Enter` above it.
//! 5. All `Enter`s of a frame have the same parent frame and a `parallel_iterations` of at least 1, of which
//!    the first one counts, as in TensorFlow; a frame has a name, and is not nested in a frame of the same
//!    name.
//! 6. A frame has at most one `LoopCond`.
//! 7. A `Merge` has at least one input. Either none of its inputs is a back edge, or they are one `Enter` and
//!    one `NextIteration`.
//! 8. Frames are nested at most [`MAX_DEPTH`] deep.
//!
//! On the way it computes each node's frame and a topological order. It reports the first violation, with its
//! node.

use crate::entity::{Dense, Entity};
use crate::ids::FrameId;
use crate::loops::View;
use crate::op::Role;
use crate::program::{Frame, Index, ProgramNode};
use crate::sort::topological;
use millstream_tensor::{Error, Result, invalid};
use std::collections::BTreeMap;

/// The maximum nesting depth of frames.
pub const MAX_DEPTH: u32 = 1000;

/// Verifies the nodes and sets their frames. Returns the frames and a topological order without back edges.
pub(crate) fn verify(nodes: &mut [ProgramNode]) -> Result<(Dense<FrameId, Frame>, Vec<Index>)> {
    let back = back_edges(nodes)?;
    let order = in_order(nodes, &back)?;
    let frames = assign_frames(nodes, &order, &back)?;
    check_frames(nodes, &frames)?;
    Ok((frames, order))
}

fn at(node: &ProgramNode, error: Error) -> Error {
    error.at_node(node.name(), node.op()).at_line(node.at)
}

/// Returns for each node the input that is a back edge. Checks rules 2 and 7 as far as they are local.
fn back_edges(nodes: &[ProgramNode]) -> Result<Vec<Option<usize>>> {
    let mut back = vec![None; nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        let from_next = |i: usize| nodes[node.inputs[i].node.index()].role() == Role::NextIteration;
        if node.role() == Role::Merge {
            if node.inputs.is_empty() {
                return Err(at(node, invalid!("a Merge needs at least one input")));
            }
            back[n] = nodes.back_edge(Index::new(n));
            let n_nexts = (0..node.inputs.len()).filter(|&i| from_next(i)).count();
            if 0 < n_nexts && (n_nexts, node.inputs.len()) != (1, 2) {
                return Err(at(
                    node,
                    invalid!(
                        "a Merge with a back edge has two inputs, an Enter and a NextIteration; this one has {} with {n_nexts} from NextIterations",
                        node.inputs.len()
                    ),
                ));
            }
            continue;
        }
        if let Some(i) = (0..node.inputs.len()).find(|&i| from_next(i)) {
            let next = &nodes[node.inputs[i].node.index()];
            return Err(at(
                node,
                invalid!("the NextIteration `{}` feeds `{}` ({})", next.name(), node.name(), node.op())
                    .with_help("a NextIteration may only feed the Merge of its loop variable"),
            ));
        }
    }
    Ok(back)
}

/// Sorts the nodes, smallest position first, back edges left out.
fn in_order(nodes: &[ProgramNode], back: &[Option<usize>]) -> Result<Vec<Index>> {
    let mut edges = Vec::with_capacity(nodes.len() * 2);
    for (n, node) in nodes.iter().enumerate() {
        let data = node.inputs.iter().enumerate().filter(|(i, _)| back[n] != Some(*i)).map(|(_, s)| s.node);
        // A control edge from a NextIteration is no back edge: it orders nodes like any other.
        edges.extend(data.chain(node.controls.iter().copied()).map(|from| (from.index() as u32, n as u32)));
    }
    let name = |n: u32| nodes[n as usize].name().to_owned();
    let order = topological(nodes.len(), &edges, |_| 0);
    let order = order.check(&edges, name, |n, error| at(&nodes[n as usize], error))?;
    Ok(order.into_iter().map(|n| Index::new(n as usize)).collect())
}

fn assign_frames(
    nodes: &mut [ProgramNode],
    order: &[Index],
    back: &[Option<usize>],
) -> Result<Dense<FrameId, Frame>> {
    let mut frames = Dense::from(vec![Frame {
        name: String::new(),
        parent: FrameId::ROOT,
        depth: 0,
        parallel_iterations: 1,
    }]);
    let mut by_name: BTreeMap<String, (FrameId, Index)> = BTreeMap::new();
    for &n in order {
        let around = frame_around(nodes, n.index(), back)?;
        let node = &nodes[n.index()];
        let frame = match node.role() {
            Role::Enter => enter(nodes, n, around, &mut frames, &mut by_name)?,
            Role::Exit if around == FrameId::ROOT => {
                return Err(at(
                    node,
                    invalid!("the Exit `{}` has no Enter above it", node.name()).with_help(
                        "an Exit belongs to a loop: its input must come, by way of a Switch, from an Enter",
                    ),
                ));
            }
            Role::Exit => frames[around].parent,
            Role::NextIteration if around == FrameId::ROOT => {
                return Err(at(node, invalid!("the NextIteration `{}` is outside every loop", node.name())));
            }
            _ => around,
        };
        nodes[n.index()].frame = frame;
    }
    Ok(frames)
}

/// The frame that a node's inputs agree on.
fn frame_around(nodes: &[ProgramNode], n: usize, back: &[Option<usize>]) -> Result<FrameId> {
    let node = &nodes[n];
    let mut agreed: Option<(FrameId, Index)> = None;
    let data = node.inputs.iter().enumerate().filter(|(i, _)| back[n] != Some(*i)).map(|(_, s)| s.node);
    for input in data.chain(node.controls.iter().copied()) {
        let frame = nodes[input.index()].frame;
        match agreed {
            None => agreed = Some((frame, input)),
            Some((first, _)) if first == frame => {}
            Some((_, other)) => {
                let (a, b) = (&nodes[other.index()], &nodes[input.index()]);
                return Err(at(
                    node,
                    invalid!(
                        "the inputs of `{}` are from different frames: `{}` and `{}`",
                        node.name(),
                        a.name(),
                        b.name()
                    )
                    .with_help("values enter a loop through an Enter and leave it through an Exit"),
                ));
            }
        }
    }
    Ok(agreed.map_or(FrameId::ROOT, |(frame, _)| frame))
}

fn enter(
    nodes: &[ProgramNode],
    n: Index,
    parent: FrameId,
    frames: &mut Dense<FrameId, Frame>,
    by_name: &mut BTreeMap<String, (FrameId, Index)>,
) -> Result<FrameId> {
    let node = &nodes[n.index()];
    let Some(info) = node.info() else { return Err(Error::internal("a feed that enters a frame")) };
    let name = info.attrs.str("frame_name")?.text().into_owned();
    let parallel = info.attrs.int("parallel_iterations")?;
    if name.is_empty() {
        return Err(at(node, invalid!("the Enter `{}` has an empty `frame_name`", node.name())));
    }
    if parallel < 1 {
        return Err(at(
            node,
            invalid!(
                "`parallel_iterations` of `{}` is {parallel}; it must be a positive integer",
                node.name()
            ),
        ));
    }
    let parallel = u32::try_from(parallel).unwrap_or(u32::MAX);
    match by_name.get(&name) {
        None => {
            let depth = frames[parent].depth + 1;
            if depth > MAX_DEPTH {
                return Err(at(node, invalid!("frames are nested more than {MAX_DEPTH} deep")));
            }
            let frame =
                frames.push(Frame { name: name.clone(), parent, depth, parallel_iterations: parallel });
            by_name.insert(name, (frame, n));
            Ok(frame)
        }
        Some(&(frame, first)) => {
            let known = &frames[frame];
            let first = &nodes[first.index()];
            if known.parent != parent {
                return Err(at(
                    node,
                    invalid!(
                        "the frame `{name}` is entered from two frames: `{}` enters it from `{}`, `{}` from `{}`",
                        first.name(),
                        frames[known.parent].name,
                        node.name(),
                        frames[parent].name
                    ),
                ));
            }
            Ok(frame)
        }
    }
}

fn check_frames(nodes: &[ProgramNode], frames: &Dense<FrameId, Frame>) -> Result<()> {
    let mut pivots: Dense<FrameId, Option<usize>> = Dense::filled(None, frames.len());
    for (n, node) in nodes.iter().enumerate() {
        if node.role() == Role::LoopCond
            && let Some(other) = pivots[node.frame].replace(n)
        {
            return Err(at(
                node,
                invalid!(
                    "the frame `{}` has two LoopConds: `{}` and `{}`",
                    frames[node.frame].name,
                    nodes[other].name(),
                    node.name()
                ),
            ));
        }
        if node.role() != Role::Merge {
            continue;
        }
        for input in &node.inputs {
            let from = &nodes[input.node.index()];
            if from.frame != node.frame {
                return Err(at(
                    node,
                    invalid!(
                        "the back edge of `{}` comes from `{}` in another frame (`{}`, not `{}`)",
                        node.name(),
                        from.name(),
                        frames[from.frame].name,
                        frames[node.frame].name
                    ),
                ));
            }
        }
    }
    Ok(())
}
