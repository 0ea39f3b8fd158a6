//! [`Outline`]: a graph seen as a tree of loops and branches, for people and for pictures. Nothing runs by it.
//!
//! Loops are read off the frames, so they are exact. A graph's message does not say which nodes are a branch of a cond; that is read
//! off the `Switch`es whose predicate is no `LoopCond`: what depends on one of its outputs, up to the `Merge` that brings the branches
//! together again. Switches are taken to be of one cond if they stand in the same place, and their predicates are the same but for
//! `Identity`s. Where a graph uses switches in another way the picture is odd, never an error.

use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::op::Role;
use crate::program::{Index, Program, ProgramNode, Source};
use crate::verify::MAX_DEPTH;
use millstream_tensor::Result;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

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
    /// The copy of the predicate that its Switches take, where there is one.
    pub copy: Option<Port>,
    /// The region that it stands in.
    pub region: u32,
    /// The regions of its branches: the one for a false predicate, then the other.
    pub branches: [u32; 2],
    /// For each branch the copy of the predicate that is there only if the branch is taken.
    pub pivots: [Option<Port>; 2],
    /// Its Switches.
    pub switches: Vec<NodeId>,
    /// The `Merge`s that give its results.
    pub results: Vec<NodeId>,
    /// Why it is no cond as one would write it.
    pub irregular: Option<Irregular>,
    source: Source,
}

/// Why Switches make no cond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// This node takes values of two branches.
    TakesBoth(NodeId),
    /// This Merge brings together something else than the two branches.
    Merge(NodeId),
}

impl Outline {
    /// The outline of a whole graph. An error where the graph's loops are not well formed.
    pub fn of(graph: &GraphData) -> Result<Outline> {
        let all: Vec<NodeId> = (0..graph.nodes().len() as u32).map(NodeId).collect();
        Ok(Outline::of_program(graph, &Program::of_nodes(graph, &all)?))
    }

    /// The outline of a part of a graph.
    pub fn of_program(graph: &GraphData, program: &Program) -> Outline {
        let mut unsplit = BTreeSet::new();
        loop {
            let mut tracer = Tracer::new(graph, program, unsplit);
            tracer.find_origins();
            for n in tracer.order() {
                tracer.place(n);
            }
            if tracer.to_unsplit.is_empty() {
                let mut outline = tracer.finish();
                outline.find_variables(program);
                return outline;
            }
            // Names told apart what is one. From now on all names count for nothing, lest there be a walk for each.
            unsplit = tracer.conds.iter().map(|c| c.source).collect();
        }
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
    /// The cond of each Switch that is of one.
    cond_of: HashMap<Index, u32>,
    /// For each frame, how many Enters are not placed yet, and where those that are enter from.
    entries: Vec<(usize, Vec<(Index, u32)>)>,
    loop_of_frame: BTreeMap<u32, u32>,
    cond_by_key: BTreeMap<(Source, u32, String), u32>,
    /// Predicates whose Switches are of one cond in whatever name scope they are.
    unsplit: BTreeSet<Source>,
    /// Found while walking: more of those, so that the walk has to start anew.
    to_unsplit: BTreeSet<Source>,
    /// Copies of predicates that name a cond, by their name scope.
    pred_ids: HashMap<&'a str, Source>,
    /// For each node that passes its first input on, where that comes from.
    origins: Vec<Option<Source>>,
}

impl<'a> Tracer<'a> {
    fn new(graph: &'a GraphData, program: &'a Program, unsplit: BTreeSet<Source>) -> Self {
        let mut entries = vec![(0, Vec::new()); program.frames.len()];
        for node in program.nodes.iter().filter(|n| n.role() == Role::Enter) {
            entries[node.frame as usize].0 += 1;
        }
        Tracer {
            graph,
            program,
            regions: vec![Region { kind: RegionKind::Root, parent: 0, depth: 0 }],
            loops: Vec::new(),
            conds: Vec::new(),
            placed: vec![0; program.nodes.len()],
            cond_of: HashMap::new(),
            entries,
            loop_of_frame: BTreeMap::new(),
            cond_by_key: BTreeMap::new(),
            unsplit,
            to_unsplit: BTreeSet::new(),
            pred_ids: HashMap::new(),
            origins: Vec::new(),
        }
    }

    /// The nodes so that each comes after its inputs, and what is inside of a loop after all Enters of it: only they say together
    /// where the loop stands.
    fn order(&self) -> Vec<Index> {
        let nodes = &self.program.nodes;
        let inside = |node: &ProgramNode| match node.role() {
            Role::Enter => self.program.frames[node.frame as usize].parent,
            Role::Exit => node.inputs.first().map_or(0, |s| nodes[s.node as usize].frame),
            _ => node.frame,
        };
        let mut rank = vec![0; nodes.len()];
        for (i, &n) in self.program.order.iter().enumerate() {
            rank[n as usize] = i;
        }
        let mut gates: Vec<usize> = self.entries.iter().map(|(n, _)| *n).collect();
        let mut behind: Vec<Vec<Index>> = vec![Vec::new(); gates.len()];
        let mut outs: Vec<Vec<Index>> = vec![Vec::new(); nodes.len()];
        let mut waiting = vec![0usize; nodes.len()];
        for (n, node) in nodes.iter().enumerate() {
            for before in self.data(node).map(|s| s.node).chain(node.controls.iter().copied()) {
                outs[before as usize].push(n as Index);
                waiting[n] += 1;
            }
            let frame = inside(node) as usize;
            if frame != 0 {
                behind[frame].push(n as Index);
                waiting[n] += 1;
            }
        }
        let free = (0..nodes.len()).filter(|&n| waiting[n] == 0);
        let mut ready: BinaryHeap<Reverse<usize>> = free.map(|n| Reverse(rank[n])).collect();
        let mut order = Vec::with_capacity(nodes.len());
        let mut done = vec![false; nodes.len()];
        while let Some(Reverse(i)) = ready.pop() {
            let n = self.program.order[i];
            order.push(n);
            done[n as usize] = true;
            let mut freed = std::mem::take(&mut outs[n as usize]);
            let node = &nodes[n as usize];
            if node.role() == Role::Enter {
                let gate = &mut gates[node.frame as usize];
                *gate -= 1;
                if *gate == 0 {
                    freed.append(&mut behind[node.frame as usize]);
                }
            }
            for out in freed {
                waiting[out as usize] -= 1;
                if waiting[out as usize] == 0 {
                    ready.push(Reverse(rank[out as usize]));
                }
            }
        }
        // A loop that is entered with what comes out of it.
        order.extend(self.program.order.iter().copied().filter(|n| !done[*n as usize]));
        order
    }

    fn node(&self, source: Source) -> &'a ProgramNode {
        &self.program.nodes[source.node as usize]
    }

    /// The data inputs of a node but for back edges.
    fn data(&self, node: &'a ProgramNode) -> impl Iterator<Item = Source> + use<'_, 'a> {
        let back = |s: &Source| node.role() == Role::Merge && self.node(*s).role() == Role::NextIteration;
        node.inputs.iter().copied().filter(move |s| !back(s))
    }

    fn depth(&self, region: u32) -> u32 {
        self.regions[region as usize].depth
    }

    /// The region that a value stands in.
    fn of_value(&self, source: Source) -> u32 {
        match self.cond_of.get(&source.node) {
            Some(cond) => self.conds[*cond as usize].branches[usize::from(source.index != 0)],
            None => self.placed[source.node as usize],
        }
    }

    /// The region of a node that needs values from all of these: the innermost, if the others are around it.
    fn innermost(&mut self, n: Index, regions: impl IntoIterator<Item = u32>) -> u32 {
        let mut inner = None;
        for region in regions {
            inner = Some(match inner {
                None => region,
                Some(at) if at == region => at,
                Some(at) => match self.common(at, region) {
                    c if c == at => region,
                    c if c == region => at,
                    common => {
                        self.apart(n, common, at, region);
                        common
                    }
                },
            });
        }
        inner.unwrap_or(0)
    }

    fn outside_of_branches(&self, mut region: u32) -> u32 {
        while let Region { kind: RegionKind::Branch(..), parent, .. } = self.regions[region as usize] {
            region = parent;
        }
        region
    }

    /// The node needs values of two branches.
    fn apart(&mut self, n: Index, common: u32, a: u32, b: u32) {
        let branch = |r: u32| match self.child_towards(common, r).map(|r| self.regions[r as usize].kind) {
            Some(RegionKind::Branch(cond, taken)) => Some((cond, taken)),
            _ => None,
        };
        let (a, b) = (branch(a), branch(b));
        if let (Some((a, a_taken)), Some((b, b_taken))) = (a, b)
            && a_taken == b_taken
            && self.share_a_predicate(a, b)
        {
            return;
        }
        for (cond, _) in [a, b].into_iter().flatten() {
            self.irregular(cond, Irregular::TakesBoth(self.program.nodes[n as usize].id));
        }
    }

    /// Whether these conds are one, told apart only by names; if so, the next walk does not.
    fn share_a_predicate(&mut self, a: u32, b: u32) -> bool {
        let source = |c: u32| self.conds[c as usize].source;
        let same = a != b && source(a) == source(b) && !self.unsplit.contains(&source(a));
        if same {
            self.to_unsplit.insert(source(a));
        }
        same
    }

    fn irregular(&mut self, cond: u32, why: Irregular) {
        self.conds[cond as usize].irregular.get_or_insert(why);
    }

    fn place(&mut self, n: Index) {
        let node = &self.program.nodes[n as usize];
        let controls = node.controls.iter().map(|c| self.placed[*c as usize]);
        let is_merge = node.role() == Role::Merge && self.data(node).count() > 1;
        if is_merge {
            self.placed[n as usize] = self.merge(n);
            return;
        }
        let data: Vec<u32> = self.data(node).map(|s| self.of_value(s)).chain(controls).collect();
        let around = match node.role() {
            Role::Exit => {
                let frame = node.inputs.first().map(|s| self.node(*s).frame);
                let inside = frame.and_then(|f| self.loop_of_frame.get(&f)).copied();
                inside.map_or(0, |r| self.regions[r as usize].parent)
            }
            // It runs whatever branches the nodes before it lie in.
            Role::ControlTrigger => {
                let common = data.iter().copied().reduce(|a, b| self.common(a, b));
                self.outside_of_branches(common.unwrap_or(0))
            }
            _ => self.innermost(n, data),
        };
        self.placed[n as usize] = around;
        match node.role() {
            Role::Enter => self.enter(n, around),
            Role::Switch => self.switch(n, around),
            Role::Identity if node.name().ends_with("/pred_id") => {
                self.pred_ids.insert(scope_of(node.name()), Source { node: n, index: 0 });
            }
            _ => {}
        }
    }

    /// The last Enter of a loop says where it stands; before, nothing of it is placed.
    fn enter(&mut self, n: Index, around: u32) {
        let frame = self.program.nodes[n as usize].frame;
        let (missing, entered) = &mut self.entries[frame as usize];
        entered.push((n, around));
        *missing = missing.saturating_sub(1);
        if *missing > 0 {
            return;
        }
        let entered = std::mem::take(entered);
        let around = self.innermost(n, entered.iter().map(|(_, r)| *r));
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
        for (enter, _) in entered {
            self.placed[enter as usize] = region;
        }
    }

    fn add_region(&mut self, kind: RegionKind, parent: u32) -> u32 {
        let depth = self.depth(parent) + 1;
        self.regions.push(Region { kind, parent, depth });
        self.regions.len() as u32 - 1
    }

    fn switch(&mut self, n: Index, around: u32) {
        let node = &self.program.nodes[n as usize];
        let (Some(&data), Some(&given)) = (node.inputs.first(), node.inputs.get(1)) else { return };
        // Chains of conds may be as long as the graph; nobody looks at a tree that deep.
        if self.node(given).role() == Role::LoopCond || self.depth(around) >= 2 * MAX_DEPTH {
            return;
        }
        let predicate = self.origin(given);
        let is_pivot = self.origin(data) == predicate;
        // TensorFlow gives each cond a copy of the predicate in its scope, and a Switch of the predicate itself.
        let by = self.node(given);
        let is_copy = by.role() == Role::Identity && (by.name().ends_with("/pred_id") || !is_pivot);
        let scope = match self.unsplit.contains(&predicate) {
            true => "",
            false if is_copy => scope_of(by.name()),
            false if is_pivot => scope_of(node.name()),
            false => "",
        };
        let key = (predicate, around, scope.to_owned());
        let cond = match self.cond_by_key.get(&key) {
            Some(cond) => *cond,
            None => {
                let name = if scope.is_empty() { self.node(predicate).name() } else { scope };
                let name = name.to_owned();
                let cond = self.conds.len() as u32;
                let no = self.add_region(RegionKind::Branch(cond, false), around);
                let yes = self.add_region(RegionKind::Branch(cond, true), around);
                self.conds.push(Cond {
                    name,
                    predicate: self.port(given),
                    copy: None,
                    region: around,
                    branches: [no, yes],
                    pivots: [None, None],
                    switches: Vec::new(),
                    results: Vec::new(),
                    irregular: None,
                    source: predicate,
                });
                self.cond_by_key.insert(key, cond);
                cond
            }
        };
        self.cond_of.insert(n, cond);
        let copy = is_copy.then(|| self.port(given));
        let cond = &mut self.conds[cond as usize];
        cond.copy = cond.copy.or(copy);
        cond.switches.push(node.id);
    }

    fn port(&self, source: Source) -> Port {
        Port::new(self.node(source).id, source.index)
    }

    /// Where a value comes from that is passed on as it is, into branches and loops too.
    fn origin(&self, source: Source) -> Source {
        self.origins[source.node as usize].unwrap_or(source)
    }

    fn find_origins(&mut self) {
        let loop_cond = |s: &Source| self.node(*s).role() == Role::LoopCond;
        let mut origins = vec![None; self.program.nodes.len()];
        for &n in &self.program.order {
            let node = &self.program.nodes[n as usize];
            let passes = match node.role() {
                Role::Identity => true,
                Role::Switch => !node.inputs.get(1).is_some_and(loop_cond),
                _ => node.is_constant_enter(),
            };
            let from = node.inputs.first().filter(|_| passes);
            origins[n as usize] = from.map(|from| origins[from.node as usize].unwrap_or(*from));
        }
        self.origins = origins;
    }

    /// The region around the branches that a Merge brings together.
    fn merge(&mut self, n: Index) -> u32 {
        let node = &self.program.nodes[n as usize];
        let regions: Vec<u32> = self.data(node).map(|s| self.of_value(s)).collect();
        let Some(common) = regions.iter().copied().reduce(|a, b| self.common(a, b)) else { return 0 };
        let branches: Vec<Option<(u32, bool)>> = regions
            .iter()
            .map(|r| match self.regions[*r as usize] {
                Region { kind: RegionKind::Branch(cond, taken), parent, .. } if parent == common => {
                    Some((cond, taken))
                }
                _ => None,
            })
            .collect();
        if let [Some((a, a_taken)), Some((b, b_taken))] = branches.as_slice()
            && a_taken != b_taken
            && (a == b || self.share_a_predicate(*a, *b))
        {
            self.conds[*a as usize].results.push(node.id);
            return common;
        }
        for region in regions {
            let mut at = region;
            while at != common {
                if let RegionKind::Branch(cond, _) = self.regions[at as usize].kind {
                    self.irregular(cond, Irregular::Merge(node.id));
                }
                at = self.regions[at as usize].parent;
            }
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

    /// The copies of the predicate that nodes of a branch hang on.
    fn find_pivots(&mut self) {
        for &n in &self.program.order {
            let node = &self.program.nodes[n as usize];
            let (Role::Identity, Some(&from)) = (node.role(), node.inputs.first()) else { continue };
            let Some(&cond) = self.cond_of.get(&from.node) else { continue };
            let data = self.node(from).inputs.first().map(|d| self.origin(*d));
            let cond = &mut self.conds[cond as usize];
            let taken = usize::from(from.index != 0);
            if cond.pivots[taken].is_none() && data == Some(cond.source) {
                cond.pivots[taken] = Some(Port::new(node.id, 0));
            }
        }
    }

    /// A cond whose branches take nothing has a copy of the predicate that nobody takes.
    fn find_copies(&mut self) {
        for i in 0..self.conds.len() {
            let cond = &self.conds[i];
            let Some(&copy) = self.pred_ids.get(cond.name.as_str()) else { continue };
            let same_place = self.placed[copy.node as usize] == cond.region;
            if cond.copy.is_none() && same_place && self.origin(copy) == cond.source {
                self.conds[i].copy = Some(self.port(copy));
            }
        }
    }

    fn finish(mut self) -> Outline {
        self.find_pivots();
        self.find_copies();
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
