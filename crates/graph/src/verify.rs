//! The verifier. What it verifies, of the nodes that a program is made of:
//!
//! 1. Every cycle goes through a `NextIteration`.
//! 2. A `NextIteration` feeds nothing but `Merge`s, and lies in a loop.
//! 3. All inputs of a node, control inputs too, are of one frame.
//! 4. An `Exit` has an `Enter` above it.
//! 5. All `Enter`s of a frame have the same parent frame and the same `parallel_iterations`, which is at least 1; a frame has a
//!    name, and is not nested in a frame of the same name.
//! 6. A frame has at most one `LoopCond`.
//! 7. A `Merge` has at least one input; its inputs are either all from outside of the cycle, or one `Enter` and one `NextIteration`.
//! 8. Frames are nested at most [`MAX_DEPTH`] deep.
//!
//! It computes each node's frame and a topological order on the way, and reports the first finding of each rule with its node.

use crate::op::Role;
use crate::program::{Frame, Index, ProgramNode};
use millstream_tensor::{Error, Result, invalid};
use std::collections::BTreeMap;

/// The deepest nesting of frames.
pub const MAX_DEPTH: u32 = 1000;

/// Verifies, sets every node's frame, and gives the frames and a topological order (back edges left out).
pub(crate) fn verify(nodes: &mut [ProgramNode]) -> Result<(Vec<Frame>, Vec<Index>)> {
    let back = back_edges(nodes)?;
    let order = topological(nodes, &back)?;
    let frames = assign_frames(nodes, &order, &back)?;
    check_frames(nodes, &frames)?;
    Ok((frames, order))
}

fn at(node: &ProgramNode, error: Error) -> Error {
    error.at_node(node.name(), node.op()).at_line(node.at)
}

/// For each node, whether its input `i` is a back edge; checks rules 2 and 7 as far as they are local.
fn back_edges(nodes: &[ProgramNode]) -> Result<Vec<Option<usize>>> {
    let mut back = vec![None; nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        let from_next = |i: usize| nodes[node.inputs[i].node as usize].role() == Role::NextIteration;
        if node.role() == Role::Merge {
            if node.inputs.is_empty() {
                return Err(at(node, invalid!("a Merge needs at least one input")));
            }
            let nexts: Vec<usize> = (0..node.inputs.len()).filter(|&i| from_next(i)).collect();
            match nexts.as_slice() {
                [] => {}
                [i] if node.inputs.len() == 2 => back[n] = Some(*i),
                _ => {
                    return Err(at(
                        node,
                        invalid!(
                            "a Merge with a back edge has two inputs, an Enter and a NextIteration; this one has {} with {} from NextIterations",
                            node.inputs.len(),
                            nexts.len()
                        ),
                    ));
                }
            }
            continue;
        }
        if let Some(i) = (0..node.inputs.len()).find(|&i| from_next(i)) {
            let next = &nodes[node.inputs[i].node as usize];
            return Err(at(
                node,
                invalid!("the NextIteration `{}` feeds `{}` ({})", next.name(), node.name(), node.op())
                    .with_help("a NextIteration may only feed the Merge of its loop variable"),
            ));
        }
    }
    Ok(back)
}

/// Kahn's algorithm, smallest position first, back edges left out.
fn topological(nodes: &[ProgramNode], back: &[Option<usize>]) -> Result<Vec<Index>> {
    let mut waiting = vec![0u32; nodes.len()];
    let mut outs: Vec<Vec<Index>> = vec![Vec::new(); nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        for (_, input) in node.inputs.iter().enumerate().filter(|(i, _)| back[n] != Some(*i)) {
            outs[input.node as usize].push(n as Index);
            waiting[n] += 1;
        }
        for &control in &node.controls {
            // A control edge from a NextIteration orders nothing within the iteration.
            outs[control as usize].push(n as Index);
            waiting[n] += 1;
        }
    }
    let mut ready: std::collections::BinaryHeap<std::cmp::Reverse<Index>> = waiting
        .iter()
        .enumerate()
        .filter(|(_, w)| **w == 0)
        .map(|(n, _)| std::cmp::Reverse(n as Index))
        .collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(std::cmp::Reverse(n)) = ready.pop() {
        order.push(n);
        for &out in &outs[n as usize] {
            waiting[out as usize] -= 1;
            if waiting[out as usize] == 0 {
                ready.push(std::cmp::Reverse(out));
            }
        }
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    let stuck: Vec<_> = (0..nodes.len()).filter(|&n| waiting[n] > 0).collect();
    let cycle = find_cycle(nodes, back, &stuck);
    let names: Vec<_> = cycle.iter().take(8).map(|&n| format!("`{}`", nodes[n].name())).collect();
    let node = &nodes[cycle.first().copied().unwrap_or(stuck[0])];
    Err(at(
        node,
        invalid!("the graph has a cycle without a NextIteration: {}", names.join(" -> "))
            .with_help("only `while_loop` (or a NextIteration into a Merge) may lead back"),
    ))
}

/// Walks backwards from a stuck node until one repeats: those in between are a cycle.
fn find_cycle(nodes: &[ProgramNode], back: &[Option<usize>], stuck: &[usize]) -> Vec<usize> {
    let is_stuck: std::collections::HashSet<usize> = stuck.iter().copied().collect();
    let mut path = Vec::new();
    let mut seen = BTreeMap::new();
    let mut n = stuck[0];
    loop {
        if let Some(&start) = seen.get(&n) {
            let mut cycle: Vec<usize> = path[start..].to_vec();
            cycle.reverse();
            return cycle;
        }
        seen.insert(n, path.len());
        path.push(n);
        let node = &nodes[n];
        let inputs = node.inputs.iter().enumerate().filter(|(i, _)| back[n] != Some(*i)).map(|(_, s)| s.node);
        match inputs.chain(node.controls.iter().copied()).find(|i| is_stuck.contains(&(*i as usize))) {
            Some(next) => n = next as usize,
            None => return path,
        }
    }
}

fn assign_frames(nodes: &mut [ProgramNode], order: &[Index], back: &[Option<usize>]) -> Result<Vec<Frame>> {
    let mut frames = vec![Frame { name: String::new(), parent: 0, depth: 0, parallel_iterations: 1 }];
    let mut by_name: BTreeMap<String, (u32, Index)> = BTreeMap::new();
    for &n in order {
        let around = frame_around(nodes, n as usize, back)?;
        let node = &nodes[n as usize];
        let frame = match node.role() {
            Role::Enter => enter(nodes, n, around, &mut frames, &mut by_name)?,
            Role::Exit if around == 0 => {
                return Err(at(
                    node,
                    invalid!("the Exit `{}` has no Enter above it", node.name()).with_help(
                        "an Exit belongs to a loop: its input must come, by way of a Switch, from an Enter",
                    ),
                ));
            }
            Role::Exit => frames[around as usize].parent,
            Role::NextIteration if around == 0 => {
                return Err(at(
                    node,
                    invalid!("the NextIteration `{}` lies outside of every loop", node.name()),
                ));
            }
            _ => around,
        };
        nodes[n as usize].frame = frame;
    }
    Ok(frames)
}

/// The frame that a node's inputs agree on.
fn frame_around(nodes: &[ProgramNode], n: usize, back: &[Option<usize>]) -> Result<u32> {
    let node = &nodes[n];
    let mut agreed: Option<(u32, Index)> = None;
    let data = node.inputs.iter().enumerate().filter(|(i, _)| back[n] != Some(*i)).map(|(_, s)| s.node);
    for input in data.chain(node.controls.iter().copied()) {
        let frame = nodes[input as usize].frame;
        match agreed {
            None => agreed = Some((frame, input)),
            Some((first, _)) if first == frame => {}
            Some((_, other)) => {
                let (a, b) = (&nodes[other as usize], &nodes[input as usize]);
                return Err(at(
                    node,
                    invalid!(
                        "the inputs of `{}` are from different frames: `{}` and `{}`",
                        node.name(),
                        a.name(),
                        b.name()
                    )
                    .with_help("bring values into a loop by an Enter and out of it by an Exit"),
                ));
            }
        }
    }
    Ok(agreed.map_or(0, |(frame, _)| frame))
}

fn enter(
    nodes: &[ProgramNode],
    n: Index,
    parent: u32,
    frames: &mut Vec<Frame>,
    by_name: &mut BTreeMap<String, (u32, Index)>,
) -> Result<u32> {
    let node = &nodes[n as usize];
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
            let depth = frames[parent as usize].depth + 1;
            if depth > MAX_DEPTH {
                return Err(at(node, invalid!("frames are nested more than {MAX_DEPTH} deep")));
            }
            let frame = frames.len() as u32;
            frames.push(Frame { name: name.clone(), parent, depth, parallel_iterations: parallel });
            by_name.insert(name, (frame, n));
            Ok(frame)
        }
        Some(&(frame, first)) => {
            let known = &frames[frame as usize];
            let first = &nodes[first as usize];
            if known.parent != parent {
                return Err(at(
                    node,
                    invalid!(
                        "the frame `{name}` is entered from two frames: `{}` enters it from `{}`, `{}` from `{}`",
                        first.name(),
                        frames[known.parent as usize].name,
                        node.name(),
                        frames[parent as usize].name
                    ),
                ));
            }
            if known.parallel_iterations != parallel {
                return Err(at(
                    node,
                    invalid!(
                        "the frame `{name}` has two values of `parallel_iterations`: {} at `{}` and {parallel} at `{}`",
                        known.parallel_iterations,
                        first.name(),
                        node.name()
                    ),
                ));
            }
            Ok(frame)
        }
    }
}

fn check_frames(nodes: &[ProgramNode], frames: &[Frame]) -> Result<()> {
    let mut pivots: Vec<Option<usize>> = vec![None; frames.len()];
    for (n, node) in nodes.iter().enumerate() {
        if node.role() == Role::LoopCond
            && let Some(other) = pivots[node.frame as usize].replace(n)
        {
            return Err(at(
                node,
                invalid!(
                    "the frame `{}` has two LoopConds: `{}` and `{}`",
                    frames[node.frame as usize].name,
                    nodes[other].name(),
                    node.name()
                ),
            ));
        }
        if node.role() != Role::Merge {
            continue;
        }
        for input in &node.inputs {
            let from = &nodes[input.node as usize];
            if from.frame != node.frame {
                return Err(at(
                    node,
                    invalid!(
                        "the back edge of `{}` comes from `{}` in another frame (`{}`, not `{}`)",
                        node.name(),
                        from.name(),
                        frames[from.frame as usize].name,
                        frames[node.frame as usize].name
                    ),
                ));
            }
        }
    }
    Ok(())
}
