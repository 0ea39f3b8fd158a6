//! Loops whose gradient recomputes most iterations instead of saving them (`checkpoint_every`,
//! `checkpoint_auto`).
//!
//! The forward loop keeps its variables on lists, only before iterations `b(0) < b(1) < ..`, and counts these
//! states. The backward loop takes them last first: from each state it runs the body again, as a loop of its
//! own, up to the next state, and builds the gradient of that loop inside of its body. The values that this
//! saves live until the next state is taken.
//!
//! - every `k`: `b(m) = k m`: `n / k` states, and `k` iterations saved at a time, for one more forward pass;
//! - auto: `b(m) = 4 m²`: `√n / 2` states are kept without knowing `n`. The stretches grow to `4 √n`; each is
//!   checkpointed in the same way, which keeps `n^¼` more states and `8 n^¼` iterations at a time, for two
//!   more forward passes.
//!
//! The distances grow with the square root so that no state has to be dropped on the way, as online
//! checkpointing with a fixed store has to (Stumm and Walther, 2010). The number of states is of the same
//! order, and lists suffice.

use crate::between::{LoopNodes, Var};
use crate::copy::Copier;
use crate::gradients::Gradients;
use crate::pass::Differ;
use millstream_graph::flow::{Checkpoint, OpenLoop};
use millstream_graph::op::Role;
use millstream_graph::{ContextId, Grad, NodeId, Output, Port};
use millstream_tensor::{DType, PartialShape, Result, invalid};
use std::collections::{HashMap, HashSet, VecDeque};

/// The first distance of [`Checkpoint::Auto`]: `b(m) = STEP m²`.
const STEP: i32 = 4;

/// The states that the forward loop keeps.
struct Kept {
    /// For each variable, the Exit of the list of its values.
    lists: Vec<Port>,
    /// The Exit of the number of states.
    count: Port,
}

/// A captured value whose gradient is needed: its Enter, the Enter's input, and that value in the backward
/// loop.
type Captured<'g> = (NodeId, Port, Output<'g>);

/// The loop whose iterations between two states are recomputed and differentiated.
struct Stretch<'a, 'g> {
    home: ContextId,
    checkpoint: Checkpoint,
    /// The variables that gradients flow through.
    vars: &'a [Var],
    /// The variables whose values the states hold.
    state: &'a [Var],
    outside: &'a [Captured<'g>],
    /// The values of the captured inputs, by their Enters.
    known: &'a HashMap<NodeId, Output<'g>>,
    /// The number of the forward loop's iterations.
    trips: Output<'g>,
}

impl<'g> Differ<'g> {
    /// Returns the loop's checkpoints, if it has any.
    pub(crate) fn checkpoint_of(&self, home: ContextId) -> Option<Checkpoint> {
        self.graph.read(|g| {
            let pivot = g.contexts()[home.0 as usize].as_while()?.pivot?;
            Some(Checkpoint::from_attr(g.node(pivot.node).ok()?.info.attrs.int(Checkpoint::ATTR).ok()?))
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a loop, each used once")]
    /// Differentiates a loop with checkpoints. `initial` are the gradients that flow in at the results of
    /// `vars`. Returns the gradients of the values that enter the loop.
    pub(crate) fn through_checkpoints(
        &mut self,
        level: usize,
        home: ContextId,
        checkpoint: Checkpoint,
        nodes: &LoopNodes,
        vars: &[Var],
        initial: &[Output<'g>],
        trips: Output<'g>,
    ) -> Result<Vec<(Port, Grad<'g>)>> {
        let graph = self.graph;
        let state = self.state_of(home, nodes, vars)?;
        let kept = self.keep(home, checkpoint, &state)?;
        let mut lists = Vec::new();
        for list in &kept.lists {
            lists.push(self.value(level, *list)?);
        }
        let count = self.value(level, kept.count)?;
        let (outside, known) = self.captured(level, nodes)?;
        let mut sums = Vec::new();
        for (_, input, _) in &outside {
            sums.push(self.start_of_sum(level, *input)?);
        }
        graph.check()?;

        let mut start = vec![count];
        start.extend(initial.iter().copied());
        start.extend(sums.iter().copied());
        start.extend(lists.iter().copied());
        let shapes: Vec<PartialShape> = graph.read(|g| {
            let grads = vars.iter().map(|v| g.shape_of(Port::new(v.merge, 0)));
            let sums = sums.iter().map(|s| g.shape_of(s.port()));
            let lists = lists.iter().map(|_| PartialShape::scalar());
            std::iter::once(PartialShape::scalar()).chain(grads).chain(sums).chain(lists).collect()
        });
        let stretch =
            Stretch { home, checkpoint, vars, state: &state, outside: &outside, known: &known, trips };
        let mut builder = graph.while_loop(start).name("checkpoints").parallel_iterations(1);
        for (i, shape) in shapes.into_iter().enumerate() {
            builder = builder.shape_of(i, shape);
        }
        let results = builder.run(
            |now| graph.op("Greater").input(now[0]).input(0).output(),
            |now| self.through_stretch(&stretch, &now),
        )?;
        let source = |enter: NodeId| graph.read(|g| g.node(enter).map(|n| n.inputs[0]));
        let mut flows = Vec::new();
        for (var, grad) in vars.iter().zip(&results[1..]) {
            if graph.read(|g| g.node(var.enter).is_ok_and(|n| self.between.wants(n, 0))) {
                flows.push((source(var.enter)?, Grad::Dense(*grad)));
            }
        }
        for ((enter, ..), grad) in outside.iter().zip(&results[1 + vars.len()..]) {
            flows.push((source(*enter)?, Grad::Dense(*grad)));
        }
        Ok(flows)
    }

    /// Returns the captured values whose gradients are needed, and the input of each captured value's Enter.
    fn captured(
        &mut self,
        level: usize,
        nodes: &LoopNodes,
    ) -> Result<(Vec<Captured<'g>>, HashMap<NodeId, Output<'g>>)> {
        let mut outside = Vec::new();
        let mut known = HashMap::new();
        for &enter in &nodes.invariants {
            let (input, wanted) = self.graph.read(|g| -> Result<_> {
                let node = g.node(enter)?;
                Ok((node.inputs[0], self.between.contains(enter) && self.between.wants(node, 0)))
            })?;
            let value = self.value(level, input)?;
            known.insert(enter, value);
            if wanted {
                outside.push((enter, input, value));
            }
        }
        Ok((outside, known))
    }

    /// Builds the body of the backward loop: takes the last state, recomputes the iterations from there up to
    /// the next state and differentiates them. `now` are the number of states left, the gradients of the
    /// variables, the sums of the captured values' gradients, and the lists of states. Returns their next
    /// values.
    fn through_stretch(&self, stretch: &Stretch<'_, 'g>, now: &[Output<'g>]) -> Result<Vec<Output<'g>>> {
        let graph = self.graph;
        let &Stretch { home, checkpoint, vars, state, outside, known, trips } = stretch;
        let (grads, rest) = now[1..].split_at(vars.len());
        let (sums, lists) = rest.split_at(outside.len());
        let segment = graph.op("Sub").input(now[0]).input(1).output();
        let begin = boundary(checkpoint, segment);
        let end = graph.op("Minimum").inputs([boundary(checkpoint, now[0]), trips]).output();
        let length = graph.op("Sub").inputs([end, begin]).output();
        let mut states = Vec::new();
        let mut shorter = Vec::new();
        for (var, &list) in state.iter().zip(lists) {
            let (shape, dtype) = graph.read(|g| -> Result<_> {
                let merge = Port::new(var.merge, 0);
                Ok((g.shape_of(merge), g.type_of(merge)?.dtype))
            })?;
            let pop = graph.op("TensorListPopBack").input(list).input(graph.element_shape(&shape));
            let pop = pop.attr("element_dtype", dtype).finish();
            shorter.push(pop.output(0));
            states.push(pop.output(1).set_shape(shape));
        }
        let ends = self.again(home, checkpoint, state, &states, length, known)?;
        let at = |var: &Var| state.iter().position(|s| s.merge == var.merge);
        let mut ys = Vec::new();
        let mut xs = Vec::new();
        for var in vars {
            let i = at(var).ok_or_else(|| invalid!("a variable is not part of its loop's state"))?;
            ys.push(ends[i]);
            xs.push(states[i]);
        }
        xs.extend(outside.iter().map(|(_, _, value)| *value));
        let seeds: Vec<Option<Output<'g>>> = grads.iter().copied().map(Some).collect();
        // The sums continue those of the later stretches, so that they have the same bits as over the whole
        // loop.
        let sums: Vec<(Port, Output<'g>)> =
            outside.iter().map(|(_, _, x)| x.port()).zip(sums.iter().copied()).collect();
        // The xs are constants to each other: how one depends on another is differentiated by other
        // stretches.
        let grads = graph.gradients(ys, xs.clone()).stop_gradients(xs).grad_ys(seeds).onto(&sums)?;
        let mut next = vec![segment];
        next.extend(grads);
        next.extend(shorter);
        Ok(next)
    }

    /// Returns the variables that are needed to recompute `vars`.
    fn state_of(&self, home: ContextId, nodes: &LoopNodes, vars: &[Var]) -> Result<Vec<Var>> {
        self.graph.read(|g| {
            let mut needed: Vec<bool> =
                nodes.vars.iter().map(|v| vars.iter().any(|w| w.merge == v.merge)).collect();
            let pivot =
                g.contexts()[home.0 as usize].as_while().and_then(|w| w.pivot_for_body).map(|p| p.node);
            let var_of: HashMap<NodeId, usize> =
                nodes.vars.iter().enumerate().flat_map(|(i, v)| [(v.switch, i), (v.merge, i)]).collect();
            let mut seen: HashSet<NodeId> = HashSet::new();
            let mut queue: VecDeque<NodeId> =
                nodes.vars.iter().zip(&needed).filter(|(_, n)| **n).map(|(v, _)| v.next.node).collect();
            while let Some(id) = queue.pop_front() {
                if !seen.insert(id) {
                    continue;
                }
                let node = g.node(id)?;
                if let Some(&i) = var_of.get(&id) {
                    if !needed[i] {
                        needed[i] = true;
                        queue.push_back(nodes.vars[i].next.node);
                    }
                    continue;
                }
                if !g.is_within(node.context, Some(home)) && node.role() != Role::Exit {
                    continue;
                }
                queue.extend(node.inputs.iter().filter(|p| **p != Port::OPEN).map(|p| p.node));
                // Nodes without inputs wait for the loop's pivot, but do not need its value.
                queue.extend(node.controls.iter().filter(|c| Some(**c) != pivot));
            }
            Ok(nodes.vars.iter().zip(needed).filter(|(_, n)| *n).map(|(v, _)| *v).collect())
        })
    }

    /// Adds to the forward loop the lists of its state before the iterations `b(m)`.
    fn keep(&mut self, home: ContextId, checkpoint: Checkpoint, state: &[Var]) -> Result<Kept> {
        let graph = self.graph;
        let outer = graph.read(|g| g.contexts()[home.0 as usize].parent);
        let int =
            |name: &str, value: i32| graph.constant_tensor(name, millstream_tensor::Tensor::scalar(value));
        graph.in_scope(self.scope_of(home), || {
            let open = graph.reopen_loop(home)?;
            let variable = |open: &OpenLoop<'g>, init: Output<'g>| -> Result<_> {
                let mut var = open.enter(init, PartialShape::scalar())?;
                let now = open.body_value(&mut var)?;
                Ok((var, now))
            };
            let zeros = graph.inside(outer, || [int("checkpoint", 0), int("checkpoints", 0)]);
            let (i_var, i) = variable(&open, zeros[0])?;
            let (m_var, m) = variable(&open, zeros[1])?;
            let inside = Some(home);
            let here = graph.inside(inside, || {
                let here = graph.op("Equal").inputs([i, boundary(checkpoint, m)]).output();
                graph.op("Identity").name("is_checkpoint").input(here).output()
            });
            let branch = graph.inside(inside, || graph.new_branch("checkpoint", here, 1))?;
            let mut lists = Vec::new();
            for var in state {
                let value = Output::new(graph, Port::new(var.switch, 1));
                let (dtype, shape) = (value.dtype()?, value.shape());
                let empty = graph.inside(outer, || {
                    let shape = graph.element_shape(&shape);
                    graph.op("EmptyTensorList").input(shape).input(-1).attr("element_dtype", dtype).output()
                });
                let (list_var, list) = variable(&open, empty)?;
                let past =
                    graph.inside(inside, || graph.op("Switch").inputs([list, here]).finish().output(0));
                let pushed = graph
                    .inside(Some(branch), || graph.op("TensorListPushBack").inputs([list, value]).output());
                let next = graph.inside(inside, || graph.op("Merge").inputs([past, pushed]).output());
                lists.push(open.close(list_var, next)?.port());
            }
            let (i_next, m_next) = graph.inside(inside, || {
                let one = graph.op("Cast").input(here).attr("DstT", DType::I32).output();
                (i + 1, m + one)
            });
            open.close(i_var, i_next)?;
            let count = open.close(m_var, m_next)?.port();
            graph.check()?;
            Ok(Kept { lists, count })
        })
    }

    /// Runs the body again `length` times from `states`. Returns the variables after that.
    fn again(
        &self,
        home: ContextId,
        checkpoint: Checkpoint,
        state: &[Var],
        states: &[Output<'g>],
        length: Output<'g>,
        known: &HashMap<NodeId, Output<'g>>,
    ) -> Result<Vec<Output<'g>>> {
        let graph = self.graph;
        let mut start = vec![graph.constant(0)];
        start.extend(states.iter().copied());
        let parallel =
            graph.read(|g| g.contexts()[home.0 as usize].as_while().map_or(10, |w| w.parallel_iterations));
        let mut builder = graph.while_loop(start).name("again").parallel_iterations(parallel.max(1));
        for (i, var) in state.iter().enumerate() {
            let shape = graph.read(|g| g.shape_of(Port::new(var.merge, 0)));
            builder = builder.shape_of(i + 1, shape);
        }
        if checkpoint == (Checkpoint::Auto { nested: true }) {
            builder = builder.checkpoint(Some(Checkpoint::Auto { nested: false }));
        }
        let ends = builder.run(
            |now| graph.op("Less").inputs([now[0], length]).output(),
            |now| -> Result<Vec<Output<'g>>> {
                let mut values = HashMap::new();
                for (var, &value) in state.iter().zip(&now[1..]) {
                    values.insert(Port::new(var.switch, 1), value);
                }
                // The counter replaces the old pivot, unless that is a variable of the state, which has a
                // copy.
                let pivot = graph.read(|g| {
                    let pivot = g.contexts()[home.0 as usize].as_while()?.pivot_for_body?;
                    let switch = g.node(pivot.node).ok()?.inputs.first()?.node;
                    (!state.iter().any(|v| v.switch == switch)).then_some(pivot)
                });
                values.extend(pivot.map(|p| (p, now[0])));
                let here = graph.current_context();
                for (&enter, &outer) in known {
                    values.insert(Port::new(enter, 0), graph.brought_in(here, outer)?);
                }
                let wanted: Vec<Port> = state.iter().map(|v| v.next).collect();
                let mut next = vec![now[0] + 1];
                next.extend(Copier::new(graph, home, here, values).copy(&wanted)?);
                Ok(next)
            },
        )?;
        Ok(ends[1..].to_vec())
    }
}

/// The iteration of checkpoint `m`.
fn boundary(checkpoint: Checkpoint, m: Output<'_>) -> Output<'_> {
    match checkpoint {
        Checkpoint::Every(k) => m * i32::try_from(k).unwrap_or(i32::MAX),
        Checkpoint::Auto { .. } => m * m * STEP,
    }
}
