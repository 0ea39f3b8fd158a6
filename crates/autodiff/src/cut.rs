//! [`Cut`]: which values a loop saves for its gradient, and which ones the backward loop recomputes from
//! them.
//!
//! The values that the gradient functions will ask for are found before the sweep, node by node, by running
//! each function on a graph with nothing but that node. A value is either saved, or recomputed from saved
//! values: the backward loop holds copies of cheap ops. A saved byte costs as much as recomputing a quarter
//! of an element, and the cheapest choice is a minimum cut between the values that can only be saved and
//! those that are asked for:
//!
//! ```text
//!            recompute v: its time           save v: its bytes
//! source ──────────────────────────► v in ──────────────────► v out ────► sink, if v is asked for
//!                                     ▲                         │
//!                  u out ─────────────┘ (never cut)             └──────► what is computed from v
//! ```
//!
//! Of equal choices the one that recomputes least is taken. For an LSTM step this saves its gates, its memory
//! and its output, and recomputes the next memory, its tanh and the row that the kernel is multiplied with.
//!
//! A value that a gradient function asks for unexpectedly is saved, or recomputed from what is at hand: see
//! `saved`.

use crate::pass::{Differ, gradient_of};
use crate::saved::{Here, Seen};
use millstream_graph::op::{Forward, GRADIENT_OVERRIDE, GradCx, Role};
use millstream_graph::{ContextId, Grad, Graph, Node, NodeId, Output, Port};
use millstream_tensor::{DType, Result};
use std::collections::{HashMap, HashSet, VecDeque};

/// The cost of saving a value beyond its bytes: a push, a pop, a place in a list.
const SAVED: u64 = 100;
/// The cost of a node beyond its elements.
const NODE: u64 = 30;
/// The number of elements that may be recomputed to save one byte less: an f32 may be the result of sixteen
/// ops.
const ELEMENTS: u64 = 4;
/// The size assumed for an unknown dimension.
const UNKNOWN_DIM: u64 = 32;
const NEVER: u64 = 1 << 60;

/// The values of a loop's body that are saved, and those that are recomputed.
#[derive(Default)]
pub(crate) struct Cut {
    pub saved: HashSet<Port>,
    pub remade: HashSet<Port>,
}

impl<'g> Differ<'g> {
    /// Chooses what to save of a level's loop, before its sweep.
    pub(crate) fn cut(&self, level: usize, home: ContextId) -> Result<Cut> {
        let mut flow = Flow::new();
        let mut vertices: HashMap<Port, usize> = HashMap::new();
        let mut open: Vec<Port> = Vec::new();
        for port in self.asked_for(home)? {
            if let Some(v) = self.vertex(level, port, &mut flow, &mut vertices, &mut open)? {
                flow.edge(v + 1, SINK, NEVER);
            }
        }
        while let Some(port) = open.pop() {
            let (v, seen) = (vertices[&port], self.see(port)?);
            let mut from = Vec::new();
            let anew = match self.cost_anew(level, port, &seen)? {
                Some(ns) => {
                    for &input in &seen.inputs {
                        from.extend(self.vertex(level, input, &mut flow, &mut vertices, &mut open)?);
                    }
                    ns
                }
                None => NEVER,
            };
            flow.edge(SOURCE, v, anew);
            // An Identity is not saved: its input is.
            let saved = if seen.role == Role::Identity { NEVER } else { self.cost_saved(home, port, &seen) };
            flow.edge(v, v + 1, saved);
            from.into_iter().for_each(|u| flow.edge(u + 1, v, NEVER));
        }
        let anew = flow.behind_the_cut();
        let mut cut = Cut::default();
        for (port, v) in vertices {
            match (anew[v], anew[v + 1]) {
                (true, _) => cut.remade.insert(port),
                (false, true) => cut.saved.insert(port),
                (false, false) => false,
            };
        }
        Ok(cut)
    }

    /// Returns the first of the two vertices of a value. `None` if the value is free.
    fn vertex(
        &self,
        level: usize,
        port: Port,
        flow: &mut Flow,
        vertices: &mut HashMap<Port, usize>,
        open: &mut Vec<Port>,
    ) -> Result<Option<usize>> {
        let port = self.before_branches(port);
        if let Some(&v) = vertices.get(&port) {
            return Ok(Some(v));
        }
        let seen = self.see(port)?;
        if !is_data(&seen) || self.is_free(level, port)? {
            return Ok(None);
        }
        let v = flow.vertex();
        flow.vertex();
        vertices.insert(port, v);
        open.push(port);
        Ok(Some(v))
    }

    /// Returns the cost of recomputing a value from its inputs. `None` if it has to be saved.
    fn cost_anew(&self, level: usize, port: Port, seen: &Seen) -> Result<Option<u64>> {
        Ok(match seen.role {
            Role::Identity => Some(0),
            // A captured value is the value outside of the branch.
            Role::Switch => {
                let home = self.levels[level].forward;
                home.filter(|&home| self.between.var_of(home, port.node).is_none()).map(|_| 0)
            }
            Role::Compute if seen.cheap && !seen.inputs.is_empty() => {
                let mut most = elements(seen);
                for &input in &seen.inputs {
                    let of = self.see(input)?;
                    if !is_data(&of) && !self.is_free(level, input)? {
                        return Ok(None);
                    }
                    most = most.max(elements(&of));
                }
                Some(most / ELEMENTS + NODE)
            }
            _ => None,
        })
    }

    fn cost_saved(&self, home: ContextId, port: Port, seen: &Seen) -> u64 {
        match self.pushed_before(home, port) {
            // It was saved for an earlier gradient.
            Some(_) => SAVED / 2,
            None => {
                let bytes = elements(seen).saturating_mul(seen.dtype.size().unwrap_or(1) as u64);
                bytes.saturating_add(SAVED).min(NEVER - 1)
            }
        }
    }

    /// Returns the forward values that the gradients of the nodes directly in a loop will ask for.
    fn asked_for(&self, home: ContextId) -> Result<Vec<Port>> {
        let mut nodes: Vec<NodeId> = self.between.nodes().collect();
        nodes.sort();
        let mut asked = Vec::new();
        for id in nodes {
            let node = self.graph.read(|g| -> Result<_> {
                let node = g.node(id)?;
                Ok((g.loop_of(node.context) == Some(home)).then(|| node.clone()))
            })?;
            let Some(node) = node else { continue };
            match node.role() {
                Role::Compute | Role::Identity if !self.between.stops(id) => {
                    asked.extend(self.asked_by(id, &node));
                }
                // The predicate tells which branch was taken.
                Role::Switch if self.between.var_of(home, id).is_none() => asked.extend(node.inputs.get(1)),
                _ => {}
            }
        }
        Ok(asked)
    }

    /// Returns the values that the gradient function of a node asks for, by running it on a graph of its own.
    /// Empty if that is not possible.
    fn asked_by(&self, id: NodeId, node: &Node) -> Vec<Port> {
        let wanted: Vec<bool> = (0..node.inputs.len()).map(|i| self.between.wants(node, i)).collect();
        // A caller's function may have side effects, and is run only once.
        let custom = node.info.attrs.get(GRADIENT_OVERRIDE).is_some()
            || self.graph.registered_gradient(node.op()).is_some();
        match gradient_of(self.graph, node) {
            Ok(Some(gradient)) if wanted.contains(&true) && !custom => {
                Trial::run(self.graph, (id, node), &wanted, &*gradient).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns whether a value is plain data, whose cost is that of its elements.
fn is_data(seen: &Seen) -> bool {
    !seen.is_ref && !matches!(seen.dtype, DType::Variant | DType::Resource | DType::Str)
}

fn elements(seen: &Seen) -> u64 {
    match seen.shape.dims() {
        Some(dims) => dims.iter().fold(1, |n: u64, d| n.saturating_mul(d.map_or(UNKNOWN_DIM, |d| d as u64))),
        None => UNKNOWN_DIM * UNKNOWN_DIM,
    }
    .min(NEVER / 64)
}

/// A node alone in a graph, with placeholders for what it is computed from.
struct Trial<'t> {
    graph: &'t Graph,
    /// The forward values that the trial's values represent.
    real: HashMap<Port, Port>,
    asked: Vec<Port>,
}

impl<'t> Trial<'t> {
    /// Returns the inputs and outputs of a node that its gradient asks for.
    fn run(
        graph: &Graph,
        (id, node): (NodeId, &Node),
        wanted: &[bool],
        gradient: &dyn Fn(&mut GradCx) -> Result<()>,
    ) -> Result<Vec<Port>> {
        let alone = Graph::with_ops(graph.registry());
        let mut real = HashMap::new();
        let mut inputs = Vec::new();
        for &port in &node.inputs {
            let (dtype, shape, known) = graph.read(|g| -> Result<_> {
                Ok((g.type_of(port)?.dtype, g.shape_of(port), g.known_value(port)))
            })?;
            let input = match known {
                Some(value) => alone.constant_tensor("known", value),
                None => alone.placeholder_of("input", dtype, shape),
            };
            real.insert(input.port(), port);
            inputs.push(input);
        }
        let op = alone.op(node.op()).inputs(inputs).attrs(node.info.attrs.clone()).try_finish()?;
        let copy = alone.read(|g| g.node(op.id()).cloned())?;
        let mut grads = Vec::new();
        for (i, (of, shape)) in node.info.output_types.iter().zip(&node.shapes).enumerate() {
            real.insert(op.output(i as u32).port(), Port::new(id, i as u32));
            let grad = || Grad::Dense(alone.placeholder_of("grad", of.dtype, shape.clone()));
            grads.push(of.dtype.carries_gradients().then(grad));
        }
        let mut trial = Trial { graph: &alone, real, asked: Vec::new() };
        GradCx::new(&alone, (op.id(), &copy), &grads, wanted, &mut trial).run(gradient)?;
        Ok(trial.asked)
    }
}

impl<'t> Forward<'t> for Trial<'t> {
    fn value(&mut self, port: Port) -> Result<Output<'t>> {
        self.asked.extend(self.real.get(&port));
        Ok(Output::new(self.graph, port))
    }
    fn shape(&mut self, port: Port) -> Result<Output<'t>> {
        Here(self.graph).shape_of(port)
    }
    // Variants are not part of the cut.
    fn array_zeros(&mut self, _: Port) -> Result<Option<Output<'t>>> {
        Ok(None)
    }
}

const SOURCE: usize = 0;
const SINK: usize = 1;

/// A flow network.
struct Flow {
    /// The target and residual capacity of each edge. Edges come in pairs: `e ^ 1` is the reverse of `e`.
    edges: Vec<(usize, u64)>,
    /// The edges out of each vertex.
    from: Vec<Vec<usize>>,
}

impl Flow {
    fn new() -> Flow {
        Flow { edges: Vec::new(), from: vec![Vec::new(), Vec::new()] }
    }

    fn vertex(&mut self) -> usize {
        self.from.push(Vec::new());
        self.from.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize, most: u64) {
        for (from, to, most) in [(from, to, most), (to, from, 0)] {
            self.from[from].push(self.edges.len());
            self.edges.push((to, most));
        }
    }

    /// Returns the vertices on the sink's side of a minimum cut, the one nearest to the sink.
    fn behind_the_cut(mut self) -> Vec<bool> {
        while let Some(distance) = self.distances() {
            self.fill(&distance);
        }
        // The vertices from which residual capacity leads to the sink.
        let mut behind = vec![false; self.from.len()];
        behind[SINK] = true;
        let mut work = vec![SINK];
        while let Some(v) = work.pop() {
            for &e in &self.from[v] {
                let (u, back) = (self.edges[e].0, self.edges[e ^ 1].1);
                if 0 < back && !behind[u] {
                    behind[u] = true;
                    work.push(u);
                }
            }
        }
        behind
    }

    /// Returns the distance of each vertex from the source. `None` if the sink cannot be reached.
    fn distances(&self) -> Option<Vec<usize>> {
        let mut distance = vec![usize::MAX; self.from.len()];
        distance[SOURCE] = 0;
        let mut work = VecDeque::from([SOURCE]);
        while let Some(v) = work.pop_front() {
            for &e in &self.from[v] {
                let (to, left) = self.edges[e];
                if 0 < left && distance[to] == usize::MAX {
                    distance[to] = distance[v] + 1;
                    work.push_back(to);
                }
            }
        }
        (distance[SINK] != usize::MAX).then_some(distance)
    }

    /// Saturates the shortest paths to the sink (Dinic's algorithm).
    fn fill(&mut self, distance: &[usize]) {
        let mut next = vec![0; self.from.len()];
        let mut way: Vec<usize> = Vec::new();
        loop {
            let at = way.last().map_or(SOURCE, |&e| self.edges[e].0);
            if at == SINK {
                let most = way.iter().map(|&e| self.edges[e].1).min().unwrap_or(0);
                for &e in &way {
                    self.edges[e].1 -= most;
                    self.edges[e ^ 1].1 += most;
                }
                way.clear();
                continue;
            }
            let further = |&e: &usize| {
                let (to, left) = self.edges[e];
                0 < left && distance[to] == distance[at] + 1
            };
            match self.from[at][next[at]..].iter().position(further) {
                Some(i) => {
                    next[at] += i;
                    way.push(self.from[at][next[at]]);
                }
                // A dead end: step back, and skip the edge that led here.
                None => match way.pop() {
                    Some(e) => next[self.edges[e ^ 1].0] += 1,
                    None => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Flow, NEVER, SINK, SOURCE};

    /// Checks which vertices lie behind the cut of a network with these edges between vertices 2, 3, .. and
    /// the ends.
    #[track_caller]
    fn check(n: usize, edges: &[(usize, usize, u64)], behind: &[usize]) {
        let mut flow = Flow::new();
        (0..n).for_each(|_| {
            flow.vertex();
        });
        edges.iter().for_each(|&(a, b, most)| flow.edge(a, b, most));
        let got = flow.behind_the_cut();
        let got: Vec<usize> = (2..n + 2).filter(|&v| got[v]).collect();
        assert_eq!(got, behind);
    }

    #[test]
    fn cuts_where_it_is_cheapest() {
        check(2, &[(SOURCE, 2, 5), (2, 3, 3), (3, SINK, 4)], &[3]);
        check(2, &[(SOURCE, 2, NEVER), (2, 3, 3), (3, SINK, NEVER)], &[3]);
        check(1, &[(SOURCE, 2, 2), (2, SINK, 3)], &[2]);
    }

    #[test]
    fn of_equal_cuts_the_one_nearest_to_the_sink() {
        check(2, &[(SOURCE, 2, 3), (2, 3, 3), (3, SINK, 3)], &[]);
        check(2, &[(SOURCE, 2, 3), (2, 3, 3), (3, SINK, 4)], &[3]);
    }

    #[test]
    fn takes_ways_back() {
        // The shortest path uses edges that two longer ones need.
        let edges =
            [(SOURCE, 2, 1), (SOURCE, 3, 1), (2, 4, 1), (2, 5, 1), (3, 4, 1), (4, SINK, 1), (5, SINK, 1)];
        check(4, &edges, &[]);
    }
}
