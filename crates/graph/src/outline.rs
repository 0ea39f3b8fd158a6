//! [`Outline`]: a graph seen as a tree of loops and branches, for people and for pictures. Nothing runs by it.
//!
//! Loops are read off the frames, so they are exact. A graph's message does not say which nodes are a branch of a cond; that is read
//! off the `Switch`es whose predicate is no `LoopCond`: what depends on one of its outputs, up to the `Merge` that brings the branches
//! together again. Switches are taken to be of one cond if they stand in the same place, and their predicates are the same but for
//! `Identity`s. Where a graph uses switches in another way the picture is odd, never an error.

use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::op::Role;
use crate::program::{Program, ProgramNode, Source};
use crate::verify::MAX_DEPTH;
use millstream_tensor::Result;
use std::collections::{BTreeMap, HashMap};

/// The loops and conds of a graph, and where each node stands.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The regions, each after the one around it. The first is all that stands outside of loops and branches.
    pub regions: Vec<Region>,
    /// The loops, in an order in which they can run.
    pub loops: Vec<Loop>,
    /// The conds, likewise.
    pub conds: Vec<Cond>,
    /// Which region each node stands in.
    region_of: Vec<u32>,
}

/// The inside of a loop, or one branch of a cond.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// What it is the inside of.
    pub kind: RegionKind,
    /// The region around it; the first is its own.
    pub parent: u32,
    /// How many regions are around it.
    pub depth: u32,
}

/// What a region is the inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// Nothing: the outside.
    Root,
    /// The loop with this place in [`Outline::loops`].
    Loop(u32),
    /// A branch of the cond with this place in [`Outline::conds`]: the one for a true predicate, or the other.
    Branch(u32, bool),
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its frame.
    pub name: String,
    /// Its inside.
    pub region: u32,
    /// How many iterations may be alive at a time.
    pub parallel_iterations: u32,
    /// What is asked before each iteration: the input of the `LoopCond`.
    pub condition: Option<Port>,
    /// What changes from iteration to iteration.
    pub variables: Vec<LoopVariable>,
    /// The `Enter`s of values that are the same in every iteration.
    pub constants: Vec<NodeId>,
}

/// A loop variable: its way through the primitives, as far as it is there.
#[derive(Clone, Copy, Debug)]
pub struct LoopVariable {
    /// Where it enters.
    pub enter: NodeId,
    /// Its value before the first iteration, outside.
    pub initial: Option<Port>,
    /// Its value at the start of an iteration.
    pub merge: Option<NodeId>,
    /// Its value at the end of an iteration.
    pub next: Option<Port>,
    /// Its value after the loop, outside.
    pub exit: Option<NodeId>,
}

/// A cond.
#[derive(Clone, Debug)]
pub struct Cond {
    /// The name scope of its first node, or the predicate's name.
    pub name: String,
    /// The predicate.
    pub predicate: Port,
    /// The region that it stands in.
    pub region: u32,
    /// The `Merge`s that give its results.
    pub results: Vec<NodeId>,
}

impl Outline {
    /// The outline of a whole graph. An error where the graph's loops are not well formed.
    pub fn of(graph: &GraphData) -> Result<Outline> {
        let all: Vec<NodeId> = (0..graph.nodes().len() as u32).map(NodeId).collect();
        let program = Program::of_nodes(graph, &all)?;
        let mut tracer = Tracer::new(graph, &program);
        for &n in &program.order {
            tracer.place(n as usize);
        }
        let mut outline = tracer.finish();
        outline.find_variables(&program);
        Ok(outline)
    }

    /// The region that a node stands in. A `Switch` of a cond stands outside of the branches; a `Merge` of branches too.
    pub fn region_of(&self, node: NodeId) -> u32 {
        self.region_of.get(node.index()).copied().unwrap_or(0)
    }

    /// Whether a node stands inside of a loop, where values cannot be fetched.
    pub fn in_loop(&self, node: NodeId) -> bool {
        let mut at = self.region_of(node);
        loop {
            let Some(region) = self.regions.get(at as usize) else { return false };
            match region.kind {
                RegionKind::Root => return false,
                RegionKind::Loop(_) => return true,
                RegionKind::Branch(..) => at = region.parent,
            }
        }
    }

    /// The regions right inside of each, in order.
    pub fn children(&self) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.regions.len()];
        for (i, region) in self.regions.iter().enumerate().skip(1) {
            if let Some(list) = children.get_mut(region.parent as usize) {
                list.push(i as u32);
            }
        }
        children
    }

    fn find_variables(&mut self, program: &Program) {
        let mut variable_of: HashMap<NodeId, (usize, usize)> = HashMap::new();
        let mut switch_of: HashMap<NodeId, (usize, usize)> = HashMap::new();
        let node = |source: &Source| &program.nodes[source.node as usize];
        let port = |source: &Source| Port::new(node(source).id, source.index);
        // In an order in which each comes after what it is found by.
        for &n in &program.order {
            let it = &program.nodes[n as usize];
            let RegionKind::Loop(l) = self.regions[self.region_of(it.id) as usize].kind else {
                if it.role() == Role::Exit
                    && let Some(&(l, v)) = it.inputs.first().and_then(|s| switch_of.get(&node(s).id))
                {
                    self.loops[l].variables[v].exit = Some(it.id);
                }
                continue;
            };
            let inside = &mut self.loops[l as usize];
            match it.role() {
                Role::Enter if it.is_constant_enter() => inside.constants.push(it.id),
                Role::Enter => {
                    variable_of.insert(it.id, (l as usize, inside.variables.len()));
                    let initial = it.inputs.first().map(port);
                    inside.variables.push(LoopVariable {
                        enter: it.id,
                        initial,
                        merge: None,
                        next: None,
                        exit: None,
                    });
                }
                Role::Merge => {
                    let Some(&(l, v)) = it.inputs.iter().find_map(|s| variable_of.get(&node(s).id)) else {
                        continue;
                    };
                    let variable = &mut self.loops[l].variables[v];
                    variable.merge = Some(it.id);
                    let next = it.inputs.iter().map(node).find(|n| n.role() == Role::NextIteration);
                    variable.next = next.and_then(|n| n.inputs.first()).map(port);
                    variable_of.insert(it.id, (l, v));
                }
                Role::Switch => {
                    if let Some(&at) = it.inputs.first().and_then(|s| variable_of.get(&node(s).id)) {
                        switch_of.insert(it.id, at);
                    }
                }
                Role::LoopCond => inside.condition = it.inputs.first().map(port),
                // The Exit of a loop that stands right inside of this one.
                Role::Exit => {
                    if let Some(&(l, v)) = it.inputs.first().and_then(|s| switch_of.get(&node(s).id)) {
                        self.loops[l].variables[v].exit = Some(it.id);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Walks a program in order and finds the region of each node.
struct Tracer<'a> {
    graph: &'a GraphData,
    program: &'a Program,
    regions: Vec<Region>,
    loops: Vec<Loop>,
    conds: Vec<Cond>,
    /// By position in the program.
    placed: Vec<u32>,
    /// The branches, false and true, that begin at a cond's Switch.
    branches: HashMap<u32, [u32; 2]>,
    loop_of_frame: BTreeMap<u32, u32>,
    cond_of: BTreeMap<(Source, u32, String), [u32; 2]>,
}

impl<'a> Tracer<'a> {
    fn new(graph: &'a GraphData, program: &'a Program) -> Self {
        Tracer {
            graph,
            program,
            regions: vec![Region { kind: RegionKind::Root, parent: 0, depth: 0 }],
            loops: Vec::new(),
            conds: Vec::new(),
            placed: vec![0; program.nodes.len()],
            branches: HashMap::new(),
            loop_of_frame: BTreeMap::new(),
            cond_of: BTreeMap::new(),
        }
    }

    fn node(&self, source: Source) -> &'a ProgramNode {
        &self.program.nodes[source.node as usize]
    }

    fn depth(&self, region: u32) -> u32 {
        self.regions[region as usize].depth
    }

    /// The region that a value stands in.
    fn of_value(&self, source: Source) -> u32 {
        match self.branches.get(&source.node) {
            Some([no, yes]) => {
                if source.index == 0 {
                    *no
                } else {
                    *yes
                }
            }
            None => self.placed[source.node as usize],
        }
    }

    /// The innermost region that an input comes from.
    fn innermost(&self, n: usize) -> u32 {
        let node = &self.program.nodes[n];
        let back = |s: &&Source| node.role() == Role::Merge && self.node(**s).role() == Role::NextIteration;
        let data = node.inputs.iter().filter(|s| !back(s)).map(|s| self.of_value(*s));
        let controls = node.controls.iter().map(|c| self.placed[*c as usize]);
        data.chain(controls).max_by_key(|r| (self.depth(*r), u32::MAX - *r)).unwrap_or(0)
    }

    fn place(&mut self, n: usize) {
        let node = &self.program.nodes[n];
        let around = self.innermost(n);
        self.placed[n] = match node.role() {
            Role::Enter => self.inside_of_frame(node.frame, around),
            Role::Exit => {
                let frame = node.inputs.first().map(|s| self.node(*s).frame);
                let inside = frame.and_then(|f| self.loop_of_frame.get(&f)).copied();
                inside.map_or(around, |r| self.regions[r as usize].parent)
            }
            Role::Switch => {
                self.switch(n, around);
                around
            }
            Role::Merge => self.merge(n, around),
            _ => around,
        };
    }

    fn inside_of_frame(&mut self, frame: u32, around: u32) -> u32 {
        if let Some(region) = self.loop_of_frame.get(&frame) {
            return *region;
        }
        let region = self.add_region(RegionKind::Loop(self.loops.len() as u32), around);
        let frame_data = &self.program.frames[frame as usize];
        self.loops.push(Loop {
            name: frame_data.name.clone(),
            region,
            parallel_iterations: frame_data.parallel_iterations,
            condition: None,
            variables: Vec::new(),
            constants: Vec::new(),
        });
        self.loop_of_frame.insert(frame, region);
        region
    }

    fn add_region(&mut self, kind: RegionKind, parent: u32) -> u32 {
        let depth = self.depth(parent) + 1;
        self.regions.push(Region { kind, parent, depth });
        self.regions.len() as u32 - 1
    }

    fn switch(&mut self, n: usize, around: u32) {
        let node = &self.program.nodes[n];
        let (Some(&data), Some(&given)) = (node.inputs.first(), node.inputs.get(1)) else { return };
        // Chains of conds may be as long as the graph; nobody looks at a tree that deep.
        if self.node(given).role() == Role::LoopCond || self.depth(around) >= 2 * MAX_DEPTH {
            return;
        }
        let predicate = self.behind_identities(given);
        // TensorFlow gives each cond a copy of the predicate in its scope, and a Switch of the predicate itself.
        let scope = match given == predicate {
            false => scope_of(self.node(given).name()),
            true if self.behind_identities(data) == predicate => scope_of(node.name()),
            true => "",
        };
        let key = (predicate, around, scope.to_owned());
        let branches = match self.cond_of.get(&key) {
            Some(branches) => *branches,
            None => {
                let port = Port::new(self.node(predicate).id, predicate.index);
                let name = if scope.is_empty() { self.node(predicate).name() } else { scope };
                let cond = self.conds.len() as u32;
                self.conds.push(Cond {
                    name: name.to_owned(),
                    predicate: port,
                    region: around,
                    results: Vec::new(),
                });
                let mut branch = |taken| self.add_region(RegionKind::Branch(cond, taken), around);
                let branches = [branch(false), branch(true)];
                self.cond_of.insert(key, branches);
                branches
            }
        };
        self.branches.insert(n as u32, branches);
    }

    fn behind_identities(&self, mut source: Source) -> Source {
        while self.node(source).role() == Role::Identity
            && let Some(input) = self.node(source).inputs.first()
        {
            source = *input;
        }
        source
    }

    /// The region around the branches that a Merge brings together.
    fn merge(&mut self, n: usize, around: u32) -> u32 {
        let inputs = &self.program.nodes[n].inputs;
        if inputs.iter().any(|s| self.node(*s).role() == Role::NextIteration) {
            return around;
        }
        let mut regions = inputs.iter().map(|s| self.of_value(*s));
        let Some(first) = regions.next() else { return around };
        let common = regions.fold(first, |a, b| self.common(a, b));
        let child = inputs.iter().find_map(|s| self.child_towards(common, self.of_value(*s)));
        if let Some(RegionKind::Branch(cond, _)) = child.map(|r| self.regions[r as usize].kind) {
            self.conds[cond as usize].results.push(self.program.nodes[n].id);
        }
        common
    }

    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            match self.depth(a) >= self.depth(b) {
                true => a = self.regions[a as usize].parent,
                false => b = self.regions[b as usize].parent,
            }
        }
        a
    }

    /// The region right inside of `outer` on the way to `inner`.
    fn child_towards(&self, outer: u32, mut inner: u32) -> Option<u32> {
        while self.depth(inner) > self.depth(outer) + 1 {
            inner = self.regions[inner as usize].parent;
        }
        (inner != outer && self.regions[inner as usize].parent == outer).then_some(inner)
    }

    fn finish(self) -> Outline {
        let mut region_of = vec![0; self.graph.nodes().len()];
        for (node, region) in self.program.nodes.iter().zip(&self.placed) {
            if let Some(place) = region_of.get_mut(node.id.index()) {
                *place = *region;
            }
        }
        Outline { regions: self.regions, loops: self.loops, conds: self.conds, region_of }
    }
}

fn scope_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(scope, _)| scope)
}

/// What a graph takes and gives, guessed: nothing in a graph says so.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// Placeholders.
    pub inputs: Vec<Port>,
    /// Values that no node uses, outside of loops.
    pub outputs: Vec<Port>,
    /// Operations without outputs that no node waits for: initialisers, training steps, assertions.
    pub operations: Vec<NodeId>,
}

impl Ends {
    /// The guess for a graph.
    pub fn of(graph: &GraphData, outline: &Outline) -> Ends {
        let mut used = vec![false; graph.nodes().len()];
        for node in graph.nodes() {
            for id in node.inputs.iter().map(|p| p.node).chain(node.controls.iter().copied()) {
                if let Some(used) = used.get_mut(id.index()) {
                    *used = true;
                }
            }
        }
        let mut ends = Ends::default();
        for (i, node) in graph.nodes().iter().enumerate() {
            let id = NodeId(i as u32);
            if node.role() == Role::Placeholder {
                ends.inputs.push(Port::new(id, 0));
            } else if used[i] || outline.in_loop(id) || matches!(node.role(), Role::Const | Role::Switch) {
                continue;
            } else if node.info.output_types.is_empty() {
                ends.operations.push(id);
            } else {
                // The second output of a Merge says which input came: nobody asks for it.
                let n = if node.role() == Role::Merge { 1 } else { node.info.output_types.len() };
                ends.outputs.extend((0..n as u32).map(|k| Port::new(id, k)));
            }
        }
        ends
    }
}
