//! Slots, counts and edges: drafts of nodes become a [`Plan`].

use super::{
    Body, Builder, Draft, Edge, FramePlan, Input, KernelPlan, Kind, LASTS, Label, MAX_LIVE_ITERATIONS,
    MergeState, NO_SLOT, Node, Origin, Place, Plan, Start, SwitchPlan, To, Value, not_fed, prepare,
};
use millstream_graph::op::{Role, ScalarKernel};
use millstream_state::Resources;
use millstream_tensor::{Result, Tensor};
use smallvec::SmallVec;
use std::collections::BTreeMap;

impl Builder<'_> {
    pub(super) fn lay_out(
        mut self,
        drafts: Vec<Draft>,
        serialized: Vec<bool>,
        kernel_state: &Resources,
    ) -> Result<Plan> {
        let mut frames: Vec<FramePlan> = self
            .program
            .frames
            .iter()
            .zip(&serialized)
            .map(|(f, serialized)| FramePlan {
                name: f.name.clone(),
                parallel: match (*serialized, self.options.parallel_iterations) {
                    (true, _) => 1,
                    (false, Some(n)) => n.clamp(1, MAX_LIVE_ITERATIONS),
                    (false, None) => f.parallel_iterations.clamp(1, MAX_LIVE_ITERATIONS),
                },
                ..FramePlan::default()
            })
            .collect();

        // Who reads each output: counted for slots, collected for edges.
        let mut readers: Vec<Vec<(u32, u32)>> = vec![Vec::new(); drafts.len()];
        let mut n_reads: Vec<SmallVec<[u32; 2]>> = drafts
            .iter()
            .map(|d| SmallVec::from_elem(0, d.node().map_or(0, |n| self.node(n).n_outputs())))
            .collect();
        for (d, draft) in drafts.iter().enumerate() {
            for (i, value) in draft.inputs.iter().enumerate() {
                if let Value::Source(s) = value {
                    let from = self.position[s.node as usize] as usize;
                    readers[from].push((d as u32, i as u32));
                    n_reads[from][s.index as usize] += 1;
                }
            }
        }

        let mut nodes: Vec<Node> = Vec::with_capacity(drafts.len());
        let mut homes: Vec<u32> = Vec::with_capacity(drafts.len());
        let mut kernels = Vec::new();
        let mut n_switches = 0;
        let mut locals = vec![0u32; drafts.len()];
        let mut invariant_of = vec![NO_SLOT; drafts.len()];
        for (d, draft) in drafts.iter().enumerate() {
            let frame = self.home(draft);
            let mut kind = self.kind(draft, &mut frames, &mut kernels, kernel_state, d as u32)?;
            if let Kind::Switch(which) = &mut kind {
                *which = n_switches;
                n_switches += 1;
            }
            if let Kind::EnterConstant(_, invariant) = kind {
                invariant_of[d] = invariant;
            }
            locals[d] = match kind {
                Kind::Merge(merge) => merge,
                _ => {
                    let frame = &mut frames[frame as usize];
                    frame.pending.push(0);
                    (frame.pending.len() - 1) as u32
                }
            };
            nodes.push(Node {
                kind,
                leading: [Input(1 << 30); 2],
                only: Edge::NONE,
                first_input: 0,
                n_inputs: draft.inputs.len() as u32,
                slot: NO_SLOT,
                first_slot: 0,
                edges: (0, 0),
            });
            homes.push(frame);
        }

        let slots = self.assign_slots(&drafts, &mut nodes, &mut frames, &n_reads, &readers);
        let inputs = self.inputs(&drafts, &mut nodes, &slots, &invariant_of)?;
        if !self.options.keep_all {
            mark_bypassed(&nodes, &homes, &inputs, &slots, &mut frames);
        }
        let mut arrivals = self.arrivals(&drafts, &nodes, &homes, &mut frames, &locals)?;
        arrivals.bypass(&mut nodes, &homes, &frames);

        let mut ready = Vec::new();
        for (d, draft) in drafts.iter().enumerate() {
            let waits = draft.inputs.iter().any(|v| matches!(v, Value::Source(_)))
                || !draft.controls.is_empty()
                || !draft.weak.is_empty();
            if !waits && !matches!(nodes[d].kind, Kind::Feed | Kind::Merge(_)) {
                ready.push(d as u32);
            }
        }
        for node in &mut nodes {
            let all = &inputs[node.first_input as usize..(node.first_input + node.n_inputs) as usize];
            for (leading, input) in node.leading.iter_mut().zip(all) {
                *leading = *input;
            }
        }
        let Arrivals { edges, beside, switches, merge_inputs } = arrivals.attach(&mut nodes, &slots);
        apply_invariants(&nodes, &edges, &mut frames);
        let start = Start { ready, pending: frames[0].pending.clone() };
        let lasting = self.lasting(&drafts, &nodes, &edges, &homes);
        let start_again = start.without(&lasting, &nodes, &edges);
        for (node, lasts) in nodes.iter().zip(lasting) {
            if lasts && node.slot != NO_SLOT {
                frames[0].uses[node.slot as usize] |= LASTS;
            }
        }
        let labels = drafts
            .iter()
            .zip(homes)
            .map(|(draft, frame)| match draft.origin {
                Origin::Node(n) => {
                    let node = self.node(n);
                    let op = node.info().map_or("feed", |i| i.op.name);
                    Label { name: node.name().to_owned(), op, at: node.at, frame }
                }
                Origin::Fetch(_, source) | Origin::Probe(_, source) => {
                    let node = self.node(source.node);
                    let name = format!("{}:{}", node.name(), source.index);
                    Label { name, op: "fetch", at: node.at, frame }
                }
            })
            .collect();
        let origins = match &self.probes {
            Some(probes) if probes.is_watched() => drafts
                .iter()
                .map(|d| match d.origin {
                    Origin::Node(n) => n,
                    Origin::Fetch(_, source) | Origin::Probe(_, source) => source.node,
                })
                .collect(),
            _ => Vec::new(),
        };
        let serialized_names =
            frames.iter().zip(&serialized).filter(|(_, s)| **s).map(|(f, _)| f.name.clone()).collect();
        Ok(Plan {
            feeds: self
                .program
                .feeds
                .iter()
                .map(|f| f.map(|n| self.position[n as usize]).filter(|p| *p != NO_SLOT))
                .collect(),
            fetches_ref: self
                .program
                .fetches
                .iter()
                .map(|s| self.node(s.node).output_is_ref(s.index))
                .collect(),
            constants: std::mem::take(&mut self.constants),
            nothing: Tensor::scalar(false),
            nodes,
            edges,
            beside,
            inputs,
            switches,
            merge_inputs,
            slots,
            frames,
            hand_out_all: self.options.hand_out_all,
            kernels,
            start,
            start_again,
            labels,
            probes: self.probes.take(),
            origins,
            serialized: serialized_names,
        })
    }

    fn kind(
        &self,
        draft: &Draft,
        frames: &mut [FramePlan],
        kernels: &mut Vec<KernelPlan>,
        kernel_state: &Resources,
        here: u32,
    ) -> Result<Kind> {
        let n = match draft.origin {
            Origin::Node(n) => n,
            Origin::Fetch(k, _) => return Ok(Kind::Fetch(k)),
            Origin::Probe(k, _) => return Ok(Kind::Probe(k)),
        };
        let node = self.node(n);
        let Some(info) = node.info() else { return Ok(Kind::Feed) };
        let frame = node.frame;
        Ok(match info.op.role {
            Role::Placeholder => {
                return Err(not_fed(info, node));
            }
            Role::Const | Role::Identity | Role::LoopCond => Kind::Forward,
            Role::NoOp | Role::ControlTrigger => Kind::Nothing,
            Role::Switch => Kind::Switch(0),
            Role::NextIteration => Kind::NextIteration(NO_SLOT),
            Role::Exit => {
                frames[self.run_frame(n) as usize].exits.push(here);
                Kind::Exit
            }
            Role::Enter => {
                frames[frame as usize].n_enters += 1;
                match node.is_constant_enter() {
                    true => {
                        frames[frame as usize].invariants.push(here);
                        Kind::EnterConstant(frame, frames[frame as usize].invariants.len() as u32 - 1)
                    }
                    false => Kind::Enter(frame, NO_SLOT),
                }
            }
            Role::Merge => {
                let is_loop = node.inputs.iter().any(|s| self.node(s.node).role() == Role::NextIteration);
                frames[frame as usize].merges.push(MergeState {
                    data_left: draft.inputs.len() as u32,
                    controls_left: (draft.controls.len() + draft.weak.len()) as u32,
                    chosen: MergeState::NONE,
                    is_loop,
                    bypassed: false,
                });
                Kind::Merge(frames[frame as usize].merges.len() as u32 - 1)
            }
            Role::Compute => {
                let kernel = kernels.len() as u32;
                let instead = self.instead.get(&n);
                kernels.push(match instead {
                    Some(&run) => KernelPlan { info: info.clone(), body: Body::Run(run) },
                    None => prepare(info, kernel_state)
                        .map_err(|e| e.at_node(&info.name, info.op.name).at_line(node.at))?,
                });
                let is_plain = instead.is_none() && (0..node.inputs.len()).all(|i| !self.reads_ref(n, i));
                let scalar = info.op.kernel.scalar.filter(|_| is_plain).and_then(|pick| pick(info));
                match (scalar.filter(|_| !self.options.hand_out_all), draft.inputs.len()) {
                    (Some(ScalarKernel::Unary(f)), 1) => Kind::Unary(f, kernel),
                    (Some(ScalarKernel::Binary(f)), 2) => Kind::Binary(f, kernel),
                    _ => Kind::Kernel(kernel),
                }
            }
        })
    }

    /// Gives each output that is read a slot in the frame where it lives. The Enter and the NextIteration of a loop
    /// variable write straight into the slot of its Merge.
    fn assign_slots(
        &self,
        drafts: &[Draft],
        nodes: &mut [Node],
        frames: &mut [FramePlan],
        n_reads: &[SmallVec<[u32; 2]>],
        readers: &[Vec<(u32, u32)>],
    ) -> Vec<u32> {
        let mut fresh = |frame: u32, uses: u32| {
            let frame = &mut frames[frame as usize];
            frame.uses.push(uses);
            frame.n_slots += 1;
            frame.n_slots - 1
        };
        // Of two tokens that come to a merge in one iteration the second is let go, which must not be the first one's value: only a merge that
        // gets one in each, from its Enter and then from its NextIteration, lends its slot to both.
        let is_loop_merge = |d: u32| {
            let of = |v: &Value| match v {
                Value::Source(s) if self.node(s.node).is_constant_enter() => None,
                Value::Source(s) => Some(self.node(s.node).role()),
                Value::Constant(_) => None,
            };
            let [a, b] = drafts[d as usize].inputs.as_slice() else { return false };
            let roles = [of(a), of(b)];
            matches!(nodes_kind(nodes, d), Kind::Merge(_))
                && roles.contains(&Some(Role::Enter))
                && roles.contains(&Some(Role::NextIteration))
        };
        // Merges first, since others borrow their slots.
        let mut slots: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); drafts.len()];
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|d| !matches!(nodes[*d].kind, Kind::Merge(_)));
        for d in order {
            let Some(n) = drafts[d].node() else { continue };
            let home = self.node(n).frame;
            if matches!(nodes[d].kind, Kind::EnterConstant(..)) {
                continue;
            }
            // A merge whose value nobody reads, kept for its control edges, has no slot to lend.
            let lends = |m: u32| slots[m as usize].first().is_some_and(|slot| *slot != NO_SLOT);
            let borrows = matches!(nodes[d].kind, Kind::Enter(..) | Kind::NextIteration(_))
                && matches!(readers[d].as_slice(), [(m, _)] if is_loop_merge(*m) && lends(*m));
            slots[d] = match (borrows, readers[d].first()) {
                (true, Some((merge, _))) => slots[*merge as usize].iter().take(1).copied().collect(),
                _ => n_reads[d].iter().map(|&r| if r == 0 { NO_SLOT } else { fresh(home, r) }).collect(),
            };
        }
        let mut all = Vec::new();
        for (node, slots) in nodes.iter_mut().zip(slots) {
            node.slot = slots.first().copied().unwrap_or(NO_SLOT);
            node.first_slot = all.len() as u32;
            all.extend(slots);
        }
        all
    }

    fn inputs(
        &self,
        drafts: &[Draft],
        nodes: &mut [Node],
        slots: &[u32],
        invariant_of: &[u32],
    ) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        for (d, draft) in drafts.iter().enumerate() {
            nodes[d].first_input = inputs.len() as u32;
            for (i, value) in draft.inputs.iter().enumerate() {
                let deref = match (draft.origin, value) {
                    // A constant is never a reference; that of a Const that is kept is no input of the program's node at all.
                    (_, Value::Constant(_)) => false,
                    (Origin::Node(n), Value::Source(_)) => self.reads_ref(n, i),
                    // Read at the end of the run.
                    (Origin::Fetch(..), Value::Source(_)) => false,
                    (Origin::Probe(..), Value::Source(s)) => self.node(s.node).output_is_ref(s.index),
                };
                inputs.push(match value {
                    Value::Constant(c) => Input::new(1, *c, false)?,
                    Value::Source(s) => {
                        let from = self.position[s.node as usize] as usize;
                        match invariant_of[from] {
                            NO_SLOT => {
                                Input::new(0, slots[(nodes[from].first_slot + s.index) as usize], deref)?
                            }
                            invariant => Input::new(2, invariant, deref)?,
                        }
                    }
                });
            }
        }
        Ok(inputs)
    }

    /// Who learns of each node's end, and how many arrivals each node waits for.
    fn arrivals(
        &self,
        drafts: &[Draft],
        nodes: &[Node],
        homes: &[u32],
        frames: &mut [FramePlan],
        locals: &[u32],
    ) -> Result<Drawn> {
        let mut merge_inputs = Vec::new();
        let mut outs: Vec<[Vec<Edge>; 3]> = (0..drafts.len()).map(|_| Default::default()).collect();
        let mut beside: BTreeMap<u32, Vec<Edge>> = BTreeMap::new();
        let part = |from: usize, port: Option<u32>| match (nodes[from].kind, port) {
            (Kind::Switch(_), Some(0)) => 0,
            (Kind::Switch(_), Some(_)) => 1,
            _ => 2,
        };
        for (d, draft) in drafts.iter().enumerate() {
            let node = &nodes[d];
            let is_merge = matches!(node.kind, Kind::Merge(_));
            let n_waits = draft.inputs.iter().filter(|v| matches!(v, Value::Source(_))).count()
                + draft.controls.len()
                + draft.weak.len();
            let trigger = draft.node().is_some_and(|n| self.node(n).role() == Role::ControlTrigger);
            let swallows = n_waits == 1 && matches!(node.kind, Kind::Exit | Kind::NextIteration(_));
            let plain = match (trigger, swallows) {
                (true, _) => To::Weak,
                (_, true) => To::LiveOnly,
                _ => To::Node,
            };
            if !is_merge {
                frames[homes[d] as usize].pending[locals[d] as usize] = n_waits as u32;
            }
            let edge = |to| Edge::new(d as u32, locals[d], to);
            for (i, value) in draft.inputs.iter().enumerate() {
                if let Value::Source(s) = value {
                    let from = self.position[s.node as usize] as usize;
                    let edge = match is_merge {
                        true => {
                            merge_inputs.push((locals[d], i as u32));
                            Edge::new(d as u32, merge_inputs.len() as u32 - 1, To::Merge)
                        }
                        false => edge(plain),
                    };
                    outs[from][part(from, Some(s.index))].push(edge?);
                }
            }
            for control in &draft.controls {
                let from = self.position[control.node as usize] as usize;
                let to = if is_merge { To::MergeControl } else { plain };
                outs[from][part(from, control.port)].push(edge(to)?);
            }
            for &from in &draft.weak {
                let to = if is_merge { To::MergeControl } else { To::Weak };
                match nodes[from as usize].kind {
                    Kind::Enter(..) | Kind::EnterConstant(..) | Kind::NextIteration(_) => {
                        beside.entry(from).or_default().push(edge(to)?)
                    }
                    _ => outs[from as usize][2].push(edge(to)?),
                }
            }
        }
        Ok(Drawn { outs, beside, merge_inputs })
    }
}

/// Edges by source: of port 0 and of port 1, which only a `Switch` keeps apart, and of the whole node.
struct Drawn {
    outs: Vec<[Vec<Edge>; 3]>,
    /// Weak edges of nodes whose values go elsewhere (into a loop, into its next iteration): these stay in the node's own iteration.
    beside: BTreeMap<u32, Vec<Edge>>,
    merge_inputs: Vec<(u32, u32)>,
}

struct Arrivals {
    edges: Vec<Edge>,
    beside: BTreeMap<u32, (u32, u32)>,
    switches: Vec<SwitchPlan>,
    merge_inputs: Vec<(u32, u32)>,
}

impl Drawn {
    /// Enters and NextIterations of bypassed merges tell the merge's consumers.
    fn bypass(&mut self, nodes: &mut [Node], homes: &[u32], frames: &[FramePlan]) {
        for from in 0..nodes.len() {
            if !matches!(nodes[from].kind, Kind::Enter(..) | Kind::NextIteration(_)) {
                continue;
            }
            let whole = &self.outs[from][2];
            let Some(at) = whole.iter().position(|e| e.to() == To::Merge) else { continue };
            let to = whole[at].node as usize;
            let Kind::Merge(merge) = nodes[to].kind else { continue };
            if !frames[homes[to] as usize].merges[merge as usize].bypassed {
                continue;
            }
            if let Kind::Enter(_, settles) | Kind::NextIteration(settles) = &mut nodes[from].kind {
                *settles = merge;
            }
            let onward = self.outs[to][2].clone();
            let whole = &mut self.outs[from][2];
            whole.remove(at);
            whole.extend(onward);
        }
    }

    /// Lays the edges out one node's after another's and tells the nodes where theirs are.
    fn attach(self, nodes: &mut [Node], slots: &[u32]) -> Arrivals {
        let mut edges: Vec<Edge> = Vec::new();
        let mut switches = Vec::new();
        let mut add = |part: Vec<Edge>| {
            let from = edges.len() as u32;
            edges.extend(part);
            (from, edges.len() as u32)
        };
        for (node, [mut port0, mut port1, whole]) in nodes.iter_mut().zip(self.outs) {
            if let [edge] = *whole
                && edge.plain().is_some()
            {
                node.only = edge;
            }
            if let Kind::Switch(_) = node.kind {
                let mut swallowed = [0, 0];
                for (part, n) in [&mut port0, &mut port1].into_iter().zip(&mut swallowed) {
                    part.sort_by_key(|e| e.to() == To::LiveOnly);
                    *n = part.iter().filter(|e| e.to() == To::LiveOnly).count() as u32;
                }
                let ports = [add(port0), add(port1)];
                let first = node.first_slot as usize;
                switches.push(SwitchPlan {
                    slots: [slots[first], slots[first + 1]],
                    edges: ports,
                    dead: [0, 1].map(|k| (ports[k].0, ports[k].1 - swallowed[k])),
                });
            }
            node.edges = add(whole);
        }
        let beside = self.beside.into_iter().map(|(node, edges)| (node, add(edges))).collect();
        Arrivals { edges, beside, switches, merge_inputs: self.merge_inputs }
    }
}

/// The pending counts once all invariants of a frame have arrived, and the nodes that they alone make ready.
fn apply_invariants(nodes: &[Node], edges: &[Edge], frames: &mut [FramePlan]) {
    for frame in frames {
        frame.pending_with_invariants = frame.pending.clone();
        for &enter in &frame.invariants {
            let node = &nodes[enter as usize];
            for e in node.edges.0..node.edges.1 {
                let edge = edges[e as usize];
                if matches!(edge.to(), To::Merge | To::MergeControl) {
                    frame.invariant_merges.push(e);
                    continue;
                }
                let pending = &mut frame.pending_with_invariants[edge.local()];
                *pending -= 1;
                if *pending == 0 {
                    frame.ready_with_invariants.push(edge.node);
                }
            }
        }
    }
}

/// Finds the merges of loop variables whose Enter and NextIteration both write into the merge's own slot: nothing is left for them
/// to do.
fn mark_bypassed(nodes: &[Node], homes: &[u32], inputs: &[Input], slots: &[u32], frames: &mut [FramePlan]) {
    for (node, home) in nodes.iter().zip(homes) {
        let Kind::Merge(merge) = node.kind else { continue };
        let from = &inputs[node.first_input as usize..(node.first_input + node.n_inputs) as usize];
        let in_place = from
            .iter()
            .all(|i| matches!(i.place(), Place::Slot(slot) if slot as u32 == node.slot && !i.deref()));
        let index_unread = slots.get(node.first_slot as usize + 1).is_none_or(|s| *s == NO_SLOT);
        let state = &mut frames[*home as usize].merges[merge as usize];
        state.bypassed =
            state.is_loop && state.controls_left == 0 && in_place && index_unread && node.slot != NO_SLOT;
    }
}

fn nodes_kind(nodes: &[Node], d: u32) -> Kind {
    nodes[d as usize].kind
}
