//! The contents of a picture: boxes within boxes, and lines between them, without positions.
//!
//! If a graph has more nodes than the limit, the nodes of a name scope, a loop or a branch are folded into
//! one box. Boxes are opened while there is room: outer ones first, and those with loops before those
//! without.

use super::PictureOptions;
use super::text::{counted, cut};
use crate::attr::Attr;
use crate::dot::places;
use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::loops::{LoopId, is_back_edge};
use crate::node::Node;
use crate::op::Role;
use crate::outline::{Outline, RegionKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The kind of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    /// The whole picture.
    Root,
    /// The inside of a loop: its place in [`Outline::loops`].
    Loop(LoopId),
    /// A branch of a cond: the cond's place in [`Outline::conds`], and for which predicate.
    Branch(u32, bool),
    /// A node.
    Node(NodeId),
    /// A number of folded nodes.
    Folded(usize),
}

/// A box without a position.
pub(super) struct Shape {
    pub kind: BoxKind,
    pub parent: usize,
    pub lines: Vec<String>,
    pub tip: String,
    pub class: &'static str,
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look {
    Value,
    Order,
    Back,
    Predicate,
}

/// The edges that begin at one box and are drawn as one line.
pub(super) struct Line {
    pub look: Look,
    /// The label of the output, if its node has several.
    pub label: String,
    pub tip: String,
}

/// The part of a line that leads to one box.
pub(super) struct Wire {
    pub from: usize,
    pub to: usize,
    pub line: usize,
}

/// The boxes and lines of a picture.
pub(super) struct Model {
    pub shapes: Vec<Shape>,
    pub lines: Vec<Line>,
    pub wires: Vec<Wire>,
    /// The number of nodes to show, and of those with a box of their own.
    pub n_nodes: usize,
    pub n_shown: usize,
}

/// The deepest name scope that gets a box.
const MOST_SCOPES: usize = 40;

/// The most letters in a line of a box.
const MOST_LETTERS: usize = 30;

impl Model {
    pub(super) fn of(graph: &GraphData, outline: &Outline, options: &PictureOptions) -> Model {
        let mut folder = Folder::new(graph, outline, options);
        folder.open_all(options.limit.max(1));
        let Folder { shapes, box_of, n_nodes, .. } = folder;
        let n_shown = shapes.iter().filter(|s| matches!(s.kind, BoxKind::Node(_))).count();
        let mut model = Model { shapes, lines: Vec::new(), wires: Vec::new(), n_nodes, n_shown };
        model.wire(graph, &box_of);
        model
    }

    fn wire(&mut self, graph: &GraphData, box_of: &[usize]) {
        let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut lines: BTreeMap<(usize, Option<Port>, Look), usize> = BTreeMap::new();
        for (i, node) in graph.nodes().iter().enumerate() {
            let values = node.inputs.iter().enumerate().map(|(k, port)| (*port, look(graph, node, k, *port)));
            let orders = node.controls.iter().map(|c| (Port::new(*c, 0), Look::Order));
            for (port, look) in values.chain(orders) {
                let (Some(&from), to) = (box_of.get(port.node.index()), box_of[i]) else { continue };
                if from == NOWHERE || to == NOWHERE || from == to {
                    continue;
                }
                // A folded box has one set of outputs.
                let folded = matches!(self.shapes[from].kind, BoxKind::Folded(_));
                let key = (from, (!folded && look != Look::Order).then_some(port), look);
                let line = *lines.entry(key).or_insert_with(|| {
                    self.lines.push(line(graph, port, look, folded));
                    self.lines.len() - 1
                });
                if seen.insert((line, to)) {
                    self.wires.push(Wire { from, to, line });
                }
            }
        }
    }
}

fn look(graph: &GraphData, node: &Node, input: usize, port: Port) -> Look {
    let from = graph.node(port.node).map(Node::role);
    match (node.role(), from, input) {
        (Role::Switch, _, 1) => Look::Predicate,
        (to, Ok(from), _) if is_back_edge(from, to) => Look::Back,
        _ => Look::Value,
    }
}

fn line(graph: &GraphData, port: Port, look: Look, folded: bool) -> Line {
    let Ok(from) = graph.node(port.node) else {
        return Line { look, label: String::new(), tip: String::new() };
    };
    let label = match (from.role(), port.index, look) {
        _ if folded => String::new(),
        (_, _, Look::Order | Look::Predicate) => String::new(),
        (Role::Switch, 0, _) => "false".to_owned(),
        (Role::Switch, _, _) => "true".to_owned(),
        (_, 0, _) => String::new(),
        (_, k, _) => format!(":{k}"),
    };
    let tip = match look {
        Look::Order => format!("{} goes first", from.name()),
        _ => format!("{}:{} {}", from.name(), port.index, type_of(graph, port)),
    };
    Line { look, label, tip: if folded { String::new() } else { tip } }
}

pub(super) fn type_of(graph: &GraphData, port: Port) -> String {
    graph.type_of(port).map_or_else(|_| "?".into(), |ty| format!("{ty}{}", graph.shape_of(port)))
}

const NOWHERE: usize = usize::MAX;

/// A member of a box: a node, or a whole loop or branch.
#[derive(Clone, Copy)]
enum Member {
    Node(NodeId),
    Region(u32),
}

/// A box that may be opened, with its members.
struct Group {
    shape: usize,
    members: Vec<Member>,
    /// The number of leading parts that its members' names share.
    depth: usize,
    /// Whether it is a name scope. If not, it is a loop, a branch or the whole.
    scope: bool,
}

struct Folder<'a> {
    graph: &'a GraphData,
    outline: &'a Outline,
    shapes: Vec<Shape>,
    box_of: Vec<usize>,
    n_nodes: usize,
    /// The direct members of each region, and the number of nodes in it at any depth.
    members: Vec<Vec<Member>>,
    n_inside: Vec<usize>,
    /// Boxes to open, outer ones first: those that are or contain loops and branches, then the others.
    first: VecDeque<Group>,
    then: VecDeque<Group>,
}

impl<'a> Folder<'a> {
    fn new(graph: &'a GraphData, outline: &'a Outline, options: &PictureOptions) -> Folder<'a> {
        let mut members: Vec<Vec<Member>> = vec![Vec::new(); outline.regions.len()];
        let mut n_inside = vec![0; outline.regions.len()];
        let within = |name: &str| options.scope.as_ref().is_none_or(|scope| is_within(name, scope));
        let mut n_nodes = 0;
        for (i, region) in places(graph, outline).into_iter().enumerate() {
            if within(graph.nodes()[i].name()) {
                n_nodes += 1;
                n_inside[region as usize] += 1;
                members[region as usize].push(Member::Node(NodeId(i as u32)));
            }
        }
        // Inner regions come after outer ones.
        for r in (1..outline.regions.len()).rev() {
            if 0 < n_inside[r] {
                let parent = outline.regions[r].parent as usize;
                n_inside[parent] += n_inside[r];
                members[parent].push(Member::Region(r as u32));
            }
        }
        let root =
            Shape { kind: BoxKind::Root, parent: 0, lines: Vec::new(), tip: String::new(), class: "root" };
        let mut folder = Folder {
            graph,
            outline,
            shapes: vec![root],
            box_of: vec![NOWHERE; graph.nodes().len()],
            n_nodes,
            members,
            n_inside,
            first: VecDeque::new(),
            then: VecDeque::new(),
        };
        let members = std::mem::take(&mut folder.members[0]);
        folder.first.push_back(Group { shape: 0, members, depth: 0, scope: false });
        folder
    }

    /// Opens boxes, outer ones first, while at most `limit` are shown.
    fn open_all(&mut self, limit: usize) {
        let mut seen = 1;
        while let Some(group) = self.first.pop_front().or_else(|| self.then.pop_front()) {
            let parts = self.parts(&group);
            if seen + parts.len() <= limit + 1 {
                seen += parts.len();
                self.open(&group, parts);
            } else if group.scope {
                self.fold(&group.members, group.shape);
            } else if group.shape != 0 && limit < seen + limit / 3 + 3 {
                self.fold_region(&group);
            } else {
                // A loop, or the whole, has more members than fit: show the first ones, and the rest in one
                // box.
                let room = (limit + 1).saturating_sub(seen).max(2).min(parts.len());
                let mut parts = parts;
                let rest: Vec<Member> =
                    parts.split_off(room - 1).into_iter().flat_map(|p| p.members).collect();
                seen += room;
                self.open(&group, parts);
                let n: usize = rest.iter().map(|m| self.count(*m)).sum();
                let parent = self.inside(group.shape);
                let shape = self.folded(parent, format!("{} more", counted(n, "node")), &rest);
                self.fold(&rest, shape);
            }
        }
    }

    fn count(&self, member: Member) -> usize {
        match member {
            Member::Node(_) => 1,
            Member::Region(r) => self.n_inside[r as usize],
        }
    }

    fn name(&self, member: Member) -> &'a str {
        match member {
            Member::Node(id) => self.graph.node(id).map_or("", Node::name),
            Member::Region(r) => match self.outline.regions[r as usize].kind {
                RegionKind::Root => "",
                RegionKind::Loop(l) => &self.outline.loops[l].name,
                RegionKind::Branch(c, _) => &self.outline.conds[c as usize].name,
            },
        }
    }

    /// The parts of an opened group: single members, and scopes that hold the others. A group that consists
    /// of one scope is opened further.
    fn parts(&self, group: &Group) -> Vec<Group> {
        let mut depth = group.depth;
        loop {
            let mut parts: Vec<Group> = Vec::new();
            let mut scopes: BTreeMap<&str, usize> = BTreeMap::new();
            for &member in &group.members {
                let mut rest = self.name(member).splitn(depth + 2, '/').skip(depth);
                let (Some(scope), Some(_)) = (rest.next(), rest.next().filter(|_| depth < MOST_SCOPES))
                else {
                    parts.push(Group { shape: NOWHERE, members: vec![member], depth, scope: false });
                    continue;
                };
                let part = *scopes.entry(scope).or_insert_with(|| {
                    parts.push(Group { shape: NOWHERE, members: Vec::new(), depth: depth + 1, scope: true });
                    parts.len() - 1
                });
                parts[part].members.push(member);
            }
            if parts.len() == 1 && parts[0].scope && 1 < parts[0].members.len() {
                depth += 1;
                continue;
            }
            return parts;
        }
    }

    /// The box for the parts of an opened group. A scope has no box once it is open.
    fn inside(&self, shape: usize) -> usize {
        match self.shapes[shape].kind {
            BoxKind::Folded(_) => self.shapes[shape].parent,
            _ => shape,
        }
    }

    fn open(&mut self, group: &Group, parts: Vec<Group>) {
        let parent = self.inside(group.shape);
        if group.scope && group.shape != NOWHERE {
            // An open scope is not drawn.
            self.shapes[group.shape].class = GONE;
        }
        for mut part in parts {
            match *part.members {
                [Member::Node(id)] => {
                    let shape = self.node(id, parent);
                    self.box_of[id.index()] = shape;
                }
                [Member::Region(r)] => {
                    part.shape = self.region(r, parent);
                    part.members = std::mem::take(&mut self.members[r as usize]);
                    part.scope = false;
                    part.depth = 0;
                    self.first.push_back(part);
                }
                _ => {
                    let name = self.name(part.members[0]);
                    let last = name.split('/').nth(part.depth - 1).unwrap_or(name);
                    part.shape = self.folded(parent, format!("{}/", cut(last, MOST_LETTERS)), &part.members);
                    match part.members.iter().any(|m| matches!(m, Member::Region(_))) {
                        true => self.first.push_back(part),
                        false => self.then.push_back(part),
                    }
                }
            }
        }
    }

    /// Puts all these members, at any depth, into one box.
    fn fold(&mut self, members: &[Member], shape: usize) {
        let mut work = members.to_vec();
        while let Some(member) = work.pop() {
            match member {
                Member::Node(id) => self.box_of[id.index()] = shape,
                Member::Region(r) => work.extend(std::mem::take(&mut self.members[r as usize])),
            }
        }
    }

    /// Folds a loop or branch that has too little room for its members.
    fn fold_region(&mut self, group: &Group) {
        let n = group.members.iter().map(|m| self.count(*m)).sum();
        let shape = &mut self.shapes[group.shape];
        shape.kind = BoxKind::Folded(n);
        shape.class = "folded";
        shape.lines.push(counted(n, "node"));
        self.fold(&group.members, group.shape);
    }

    fn folded(&mut self, parent: usize, title: String, members: &[Member]) -> usize {
        let n: usize = members.iter().map(|m| self.count(*m)).sum();
        let mut ops: BTreeMap<&str, usize> = BTreeMap::new();
        for member in members {
            if let Member::Node(id) = member {
                *ops.entry(self.graph.node(*id).map_or("", Node::op)).or_default() += 1;
            }
        }
        let mut ops: Vec<_> = ops.into_iter().collect();
        ops.sort_by_key(|(op, n)| (usize::MAX - n, *op));
        let n_regions = members.iter().filter(|m| matches!(m, Member::Region(_))).count();
        let mut lines = vec![title.clone()];
        if !title.ends_with("more") {
            lines.push(counted(n, "node"));
        }
        if 0 < n_regions {
            lines.push(format!(
                "with {}",
                counted(n_regions, "loop or branch").replace("branchs", "branches")
            ));
        }
        let name = self.name(members[0]);
        let tip: Vec<String> = ops.iter().take(12).map(|(op, n)| format!("{n} {op}")).collect();
        let first = if title.ends_with('/') { name.rsplit_once('/').map_or(name, |(s, _)| s) } else { name };
        let tip = format!("{first}\n{}{}", tip.join(", "), if 12 < ops.len() { ", .." } else { "" });
        self.shapes.push(Shape { kind: BoxKind::Folded(n), parent, lines, tip, class: "folded" });
        self.shapes.len() - 1
    }

    fn region(&mut self, r: u32, parent: usize) -> usize {
        let outline = self.outline;
        let (kind, lines, class) = match outline.regions[r as usize].kind {
            RegionKind::Root => (BoxKind::Root, Vec::new(), "root"),
            RegionKind::Loop(l) => {
                let it = &outline.loops[l];
                let name = format!("loop {}", cut(&it.name, 2 * MOST_LETTERS));
                (
                    BoxKind::Loop(l),
                    vec![name, format!("parallel_iterations {}", it.parallel_iterations)],
                    "loop",
                )
            }
            RegionKind::Branch(c, taken) => {
                let name = cut(&outline.conds[c as usize].name, 2 * MOST_LETTERS);
                (BoxKind::Branch(c, taken), vec![format!("{name} is {taken}")], "branch")
            }
        };
        let tip = counted(self.n_inside[r as usize], "node");
        self.shapes.push(Shape { kind, parent, lines, tip, class });
        self.shapes.len() - 1
    }

    fn node(&mut self, id: NodeId, parent: usize) -> usize {
        let shape = match self.graph.node(id) {
            Ok(node) => node_shape(self.graph, id, node, parent),
            Err(_) => return NOWHERE,
        };
        self.shapes.push(shape);
        self.shapes.len() - 1
    }
}

/// The class of a box that was opened.
pub(super) const GONE: &str = "gone";

fn node_shape(graph: &GraphData, id: NodeId, node: &Node, parent: usize) -> Shape {
    let short = node.name().rsplit_once('/').map_or(node.name(), |(_, last)| last);
    let mut lines = vec![cut(short, MOST_LETTERS)];
    if short != node.op() {
        lines.push(cut(node.op(), MOST_LETTERS));
    }
    if let (Role::Const, Some(Attr::Tensor(value))) = (node.role(), node.info.attrs.get("value")) {
        lines.push(cut(&value.to_string(), MOST_LETTERS));
    }
    let n_outputs = match node.role() {
        Role::Switch | Role::Merge => 1,
        _ => node.info.output_types.len(),
    };
    let types: Vec<String> = (0..n_outputs as u32).map(|k| type_of(graph, Port::new(id, k))).collect();
    if !types.is_empty() && node.role() != Role::Const {
        lines.push(cut(&types.join(", "), MOST_LETTERS));
    }
    let class = match node.role() {
        Role::Placeholder => "placeholder",
        Role::Const => "const",
        Role::Enter | Role::Exit | Role::NextIteration => "frame",
        Role::Merge | Role::Switch | Role::LoopCond => "route",
        _ => "op",
    };
    let tip = format!(
        "{}\n{} -> {}",
        node.name(),
        node.op(),
        if types.is_empty() { "nothing".into() } else { types.join(", ") }
    );
    Shape { kind: BoxKind::Node(id), parent, lines, tip: cut_lines(&tip), class }
}

/// A tooltip of bounded length, with its line ends.
fn cut_lines(text: &str) -> String {
    match text.char_indices().nth(400) {
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
        None => text.to_owned(),
    }
}

/// Whether a node is in a name scope.
pub(super) fn is_within(name: &str, scope: &str) -> bool {
    let rest = name.strip_prefix(scope.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
