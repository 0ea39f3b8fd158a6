//! [`Outline`]: a graph as a tree of loops and branches, for people and for pictures. Nothing runs by it.
//!
//! Loops are exact, since frames define them. Branches of conds are inferred, since a graph's message does
//! not name them: a branch is what depends on one output of a `Switch` whose predicate is no `LoopCond`, up
//! to the `Merge` that joins the branches. Switches belong to one cond if they lie in the same region and
//! their predicates differ by `Identity`s only. A graph that uses switches in another way has an odd outline,
//! but never an error.

use crate::entity::{Dense, Entity};
use crate::graph::GraphData;
use crate::ids::{FrameId, NodeId, Port};
use crate::loops::{LoopId, LoopTree, Part, View, is_back_edge};
use crate::node::Node;
use crate::op::Role;
use crate::program::{Index, Program, ProgramNode, Source};
use crate::sort::topological;
use crate::verify::MAX_DEPTH;
use millstream_tensor::{DType, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The loops and conds of a graph, and the region of each node.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The regions, each after the one around it. The first is the graph outside of all loops and branches.
    pub regions: Vec<Region>,
    /// The loops.
    pub loops: LoopTree,
    /// The conds, in an order in which they can run.
    pub conds: Vec<Cond>,
    /// The region of each node.
    region_of: Vec<u32>,
}

/// The inside of a loop, or one branch of a cond.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// The loop or branch that this is the inside of.
    pub kind: RegionKind,
    /// The region around this one. The first region is its own parent.
    pub parent: u32,
    /// The number of regions around this one.
    pub depth: u32,
}

/// The kinds of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// The graph outside of all loops and branches.
    Root,
    /// The inside of a loop of [`Outline::loops`].
    Loop(LoopId),
    /// A branch of the cond at this position in [`Outline::conds`]: the one taken if the predicate is this.
    Branch(u32, bool),
}

/// A cond.
#[derive(Clone, Debug)]
pub struct Cond {
    /// The name scope of its first node, or the predicate's name.
    pub name: String,
    /// The predicate.
    pub predicate: Port,
    /// The copy of the predicate that the Switches take, if there is one.
    pub copy: Option<Port>,
    /// The region that the cond lies in.
    pub region: u32,
    /// The regions of the branches: for a false predicate, then for a true one.
    pub branches: [u32; 2],
    /// For each branch, the copy of the predicate that is alive only if the branch is taken.
    pub pivots: [Option<Port>; 2],
    /// The Switches.
    pub switches: Vec<NodeId>,
    /// The `Merge`s that give the results.
    pub results: Vec<NodeId>,
    /// The reason this is no cond as `cond` makes them.
    pub irregular: Option<Irregular>,
    source: Source,
}

/// The reasons Switches make no regular cond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// This node takes values of both branches.
    TakesBoth(NodeId),
    /// This Merge joins something other than the two branches.
    Merge(NodeId),
}

impl Outline {
    /// Returns the outline of a whole graph. Fails if the graph's loops are not well formed.
    pub fn of(graph: &GraphData) -> Result<Outline> {
        let all: Vec<NodeId> = (0..graph.nodes().len() as u32).map(NodeId).collect();
        Ok(Outline::of_program(graph, &Program::of_nodes(graph, &all)?))
    }

    /// Returns the outline of a part of a graph.
    pub fn of_program(graph: &GraphData, program: &Program) -> Outline {
        let mut unsplit = BTreeSet::new();
        loop {
            let mut tracer = Tracer::new(graph, program, unsplit);
            tracer.find_origins();
            for n in tracer.order() {
                tracer.place(n);
            }
            if tracer.to_unsplit.is_empty() {
                return tracer.finish();
            }
            // Names separated what is one cond. The next walk ignores all names, so that one more walk is
            // enough.
            unsplit = tracer.conds.iter().map(|c| c.source).collect();
        }
    }

    /// Returns the region of a node. The `Switch`es and result `Merge`s of a cond lie outside of its
    /// branches.
    pub fn region_of(&self, node: NodeId) -> u32 {
        self.region_of.get(node.index()).copied().unwrap_or(0)
    }

    /// Returns whether a node lies inside of a loop, where values cannot be fetched.
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

    /// Returns for each region the regions directly inside of it, in order.
    pub fn children(&self) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); self.regions.len()];
        for (i, region) in self.regions.iter().enumerate().skip(1) {
            if let Some(list) = children.get_mut(region.parent as usize) {
                list.push(i as u32);
            }
        }
        children
    }
}

/// Walks a program in order and finds the region of each node.
struct Tracer<'a> {
    graph: &'a GraphData,
    program: &'a Program,
    regions: Vec<Region>,
    loops: LoopTree,
    conds: Vec<Cond>,
    /// The region of each node, by position in the program.
    placed: Dense<Index, u32>,
    /// The cond that each Switch belongs to.
    cond_of: HashMap<Index, u32>,
    /// For each frame, the number of Enters that are not placed yet, and the regions that the others enter
    /// from.
    entries: Dense<FrameId, (usize, Vec<(Index, u32)>)>,
    loop_of_frame: BTreeMap<FrameId, u32>,
    cond_by_key: BTreeMap<(Source, u32, String), u32>,
    /// Predicates whose Switches belong to one cond, whatever their name scopes.
    unsplit: BTreeSet<Source>,
    /// More such predicates, found by this walk: the walk has to be repeated.
    to_unsplit: BTreeSet<Source>,
    /// Copies of predicates that name a cond, by their name scope.
    pred_ids: HashMap<&'a str, Source>,
    /// For each node that passes its first input on, the source of that value.
    origins: Dense<Index, Option<Source>>,
}

impl<'a> Tracer<'a> {
    fn new(graph: &'a GraphData, program: &'a Program, unsplit: BTreeSet<Source>) -> Self {
        let mut entries = Dense::filled((0, Vec::new()), program.frames.len());
        for node in program.nodes.iter().filter(|n| n.role() == Role::Enter) {
            entries[node.frame].0 += 1;
        }
        Tracer {
            graph,
            program,
            regions: vec![Region { kind: RegionKind::Root, parent: 0, depth: 0 }],
            loops: LoopTree::of(&Part { graph, program }),
            conds: Vec::new(),
            placed: Dense::filled(0, program.nodes.len()),
            cond_of: HashMap::new(),
            entries,
            loop_of_frame: BTreeMap::new(),
            cond_by_key: BTreeMap::new(),
            unsplit,
            to_unsplit: BTreeSet::new(),
            pred_ids: HashMap::new(),
            origins: Dense::new(),
        }
    }

    /// Returns the nodes such that each comes after its inputs, and the inside of a loop after all of its
    /// Enters: only together do they tell which region the loop lies in.
    fn order(&self) -> Vec<Index> {
        let nodes = &self.program.nodes;
        let inside = |node: &ProgramNode| match node.role() {
            Role::Enter => self.program.frames[node.frame].parent,
            Role::Exit => node.inputs.first().map_or(FrameId::ROOT, |s| nodes[s.node].frame),
            _ => node.frame,
        };
        let mut rank = vec![0; nodes.len()];
        for (i, &n) in self.program.order.iter().enumerate() {
            rank[n.index()] = i as u32 + 1;
        }
        // A frame is an item after its Enters and before the nodes inside of it.
        let item = |n: Index| n.index() as u32;
        let gate = |frame: FrameId| (nodes.len() + frame.index()) as u32;
        let mut edges = Vec::with_capacity(3 * nodes.len());
        for (n, node) in nodes.entries() {
            let before = self.data(node).map(|s| s.node).chain(node.controls.iter().copied());
            edges.extend(before.map(|from| (item(from), item(n))));
            let frame = inside(node);
            if frame != FrameId::ROOT {
                edges.push((gate(frame), item(n)));
            }
            if node.role() == Role::Enter {
                edges.push((item(n), gate(node.frame)));
            }
        }
        let n_items = nodes.len() + self.program.frames.len();
        let sorted = topological(n_items, &edges, |i| rank.get(i as usize).copied().unwrap_or(0));
        let items = sorted.order.into_iter().map(|i| i as usize);
        let mut order: Vec<Index> = items.filter(|i| *i < nodes.len()).map(Index::new).collect();
        if order.len() < nodes.len() {
            // Loops that are entered with their own results.
            let mut done = Dense::filled(false, nodes.len());
            order.iter().for_each(|&n| done[n] = true);
            order.extend(self.program.order.iter().copied().filter(|n| !done[*n]));
        }
        order
    }

    fn node(&self, source: Source) -> &'a ProgramNode {
        &self.program.nodes[source.node]
    }

    /// The data inputs of a node, without back edges.
    fn data(&self, node: &'a ProgramNode) -> impl Iterator<Item = Source> + use<'_, 'a> {
        let back = |s: &Source| is_back_edge(self.node(*s).role(), node.role());
        node.inputs.iter().copied().filter(move |s| !back(s))
    }

    fn depth(&self, region: u32) -> u32 {
        self.regions[region as usize].depth
    }

    /// The region that a value lies in.
    fn of_value(&self, source: Source) -> u32 {
        match self.cond_of.get(&source.node) {
            Some(cond) => self.conds[*cond as usize].branches[usize::from(source.index != 0)],
            None => self.placed[source.node],
        }
    }

    /// The region of a node that takes values from all of these: the innermost one, if the others are around
    /// it.
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

    /// Notes that a node takes values from two regions of which neither is around the other.
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
            self.irregular(cond, Irregular::TakesBoth(self.program.nodes[n].id));
        }
    }

    /// Returns whether only names separate these conds. If so, the next walk takes them for one.
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
        let node = &self.program.nodes[n];
        let controls = node.controls.iter().map(|c| self.placed[*c]);
        let is_merge = node.role() == Role::Merge && self.data(node).count() > 1;
        if is_merge {
            self.placed[n] = self.merge(n);
            return;
        }
        let data: Vec<u32> = self.data(node).map(|s| self.of_value(s)).chain(controls).collect();
        let around = match node.role() {
            Role::Exit => {
                let frame = node.inputs.first().map(|s| self.node(*s).frame);
                let inside = frame.and_then(|f| self.loop_of_frame.get(&f)).copied();
                inside.map_or(0, |r| self.regions[r as usize].parent)
            }
            // A ControlTrigger runs even if the nodes before it lie in branches that are not taken.
            Role::ControlTrigger => {
                let common = data.iter().copied().reduce(|a, b| self.common(a, b));
                self.outside_of_branches(common.unwrap_or(0))
            }
            _ => self.innermost(n, data),
        };
        self.placed[n] = around;
        match node.role() {
            Role::Enter => self.enter(n, around),
            Role::Switch => self.switch(n, around),
            Role::Identity if node.name().ends_with("/pred_id") => {
                self.pred_ids.insert(scope_of(node.name()), Source { node: n, index: 0 });
            }
            _ => {}
        }
    }

    /// Places an Enter. The last one of a loop decides where the loop lies.
    fn enter(&mut self, n: Index, around: u32) {
        let frame = self.program.nodes[n].frame;
        let (missing, entered) = &mut self.entries[frame];
        entered.push((n, around));
        *missing = missing.saturating_sub(1);
        if *missing > 0 {
            return;
        }
        let entered = std::mem::take(entered);
        let around = self.innermost(n, entered.iter().map(|(_, r)| *r));
        let Some(inside) = self.loops.loop_of(self.program.nodes[n].id) else { return };
        let region = self.add_region(RegionKind::Loop(inside), around);
        self.loop_of_frame.insert(frame, region);
        for (enter, _) in entered {
            self.placed[enter] = region;
        }
    }

    fn add_region(&mut self, kind: RegionKind, parent: u32) -> u32 {
        let depth = self.depth(parent) + 1;
        self.regions.push(Region { kind, parent, depth });
        self.regions.len() as u32 - 1
    }

    fn switch(&mut self, n: Index, around: u32) {
        let node = &self.program.nodes[n];
        let (Some(&data), Some(&given)) = (node.inputs.first(), node.inputs.get(1)) else { return };
        // Chains of conds may be as long as the graph. A deeper tree would be of no use.
        if self.program.is_loop_switch(n) || self.depth(around) >= 2 * MAX_DEPTH {
            return;
        }
        let predicate = self.origin(given);
        let is_pivot = self.origin(data) == predicate;
        // TensorFlow gives each cond a copy of the predicate in its scope, and a Switch of the predicate
        // itself.
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

    /// The source of a value that nodes pass on unchanged, also into branches and loops.
    fn origin(&self, source: Source) -> Source {
        self.origins[source.node].unwrap_or(source)
    }

    fn find_origins(&mut self) {
        let mut origins = Dense::filled(None, self.program.nodes.len());
        for &n in &self.program.order {
            let node = &self.program.nodes[n];
            let passes = match node.role() {
                Role::Identity => true,
                Role::Switch => !self.program.is_loop_switch(n),
                _ => node.is_constant_enter(),
            };
            let from = node.inputs.first().filter(|_| passes);
            origins[n] = from.map(|from| origins[from.node].unwrap_or(*from));
        }
        self.origins = origins;
    }

    /// The region around the branches that a Merge joins.
    fn merge(&mut self, n: Index) -> u32 {
        let node = &self.program.nodes[n];
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

    /// The region directly inside of `outer` that `inner` is, or lies in.
    fn child_towards(&self, outer: u32, mut inner: u32) -> Option<u32> {
        while self.depth(inner) > self.depth(outer) + 1 {
            inner = self.regions[inner as usize].parent;
        }
        (inner != outer && self.regions[inner as usize].parent == outer).then_some(inner)
    }

    /// Finds the copies of the predicate that nodes of a branch wait for.
    fn find_pivots(&mut self) {
        for &n in &self.program.order {
            let node = &self.program.nodes[n];
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

    /// Finds the copies of the predicate of conds whose branches take no values: no Switch takes them.
    fn find_copies(&mut self) {
        for i in 0..self.conds.len() {
            let cond = &self.conds[i];
            let Some(&copy) = self.pred_ids.get(cond.name.as_str()) else { continue };
            let same_place = self.placed[copy.node] == cond.region;
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

/// The inputs and outputs of a graph. They are guessed, since a graph does not name them.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// Placeholders.
    pub inputs: Vec<Port>,
    /// Values outside of loops that no node uses.
    pub outputs: Vec<Port>,
    /// Operations without outputs that no node waits for: initialisers, training steps, assertions.
    pub operations: Vec<NodeId>,
}

impl Ends {
    /// Guesses the ends of a graph.
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
            } else if used[i]
                || outline.in_loop(id)
                || matches!(node.role(), Role::Const | Role::Switch)
                || is_internal(graph, node)
            {
                continue;
            } else if node.info.output_types.is_empty() {
                ends.operations.push(id);
            } else {
                // The second output of a Merge, the position of the input that came, is hardly ever a result.
                let n = if node.role() == Role::Merge { 1 } else { node.info.output_types.len() };
                ends.outputs.extend((0..n as u32).map(|k| Port::new(id, k)));
            }
        }
        ends
    }
}

/// Whether a node that nobody uses is a leftover rather than a result: handles and lists, the pivots of
/// conds, and what gradients compute besides floats (counters, shapes, indices).
fn is_internal(graph: &GraphData, node: &Node) -> bool {
    let types = &node.info.output_types;
    let is_pivot = node.role() == Role::Identity
        && node.inputs.first().is_some_and(|p| graph.node(p.node).is_ok_and(|n| n.role() == Role::Switch));
    let in_gradients = node.name().split('/').next().is_some_and(|scope| scope.starts_with("gradients"));
    let no_float = types.iter().all(|t| !t.dtype.is_float() && !t.dtype.is_complex());
    let no_value = types.iter().all(|t| matches!(t.dtype, DType::Resource | DType::Variant));
    !types.is_empty() && (is_pivot || in_gradients && no_float || no_value)
}
