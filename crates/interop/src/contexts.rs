//! Control-flow contexts: recovered from the loops and conds of a graph, and converted to and from the
//! context messages of a `MetaGraphDef`.

use crate::flat::short;
use millstream_graph::loops::{Loop, LoopId, LoopTree};
use millstream_graph::op::Role;
use millstream_graph::outline::{Outline, RegionKind};
use millstream_graph::{
    CollectionItem, CondContext, Context, ContextId, ContextKind, FrameId, Graph, GraphData, Node, NodeId,
    Port, Program, ProgramNode, WhileContext,
};
use millstream_proto::control_flow_context_def::Ctxt;
use millstream_proto::{CondContextDef, ControlFlowContextDef, ValuesDef, WhileContextDef, decode, encode};
use millstream_tensor::{Code, Result, ensure, invalid};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The collection of the outermost loops.
pub(crate) const WHILES: &str = "while_context";

/// The collection of the outermost branches.
pub(crate) const CONDS: &str = "cond_context";

/// Gives the nodes of loops and branches contexts: a `GraphDef` has none, but its primitives tell where loops
/// and conds are. Existing contexts stay as they are, and so do nodes that have one. Switches that make no
/// regular cond get none.
pub(crate) fn recover(graph: &Graph, program: &Program, nodes: &[NodeId]) -> Result<()> {
    let is_flow = |n: &ProgramNode| matches!(n.role(), Role::Switch | Role::Enter);
    if !program.nodes().iter().any(is_flow) {
        return Ok(());
    }
    let (places, fresh) = graph.read(|g| Recovery::new(g, program).run(nodes));
    for context in fresh {
        graph.add_context(context);
    }
    graph.place(places);
    Ok(())
}

/// A node and the context that it belongs to.
type Place = (NodeId, Option<ContextId>);

/// The contexts that are being recovered.
struct Recovery<'a> {
    g: &'a GraphData,
    program: &'a Program,
    outline: Outline,
    users: HashMap<Port, Vec<NodeId>>,
    /// The context of each region, existing or new.
    context_of: Vec<Option<ContextId>>,
    fresh: Vec<Context>,
    /// The branch that a Switch captures a value for.
    captures: BTreeMap<NodeId, ContextId>,
}

impl<'a> Recovery<'a> {
    fn new(g: &'a GraphData, program: &'a Program) -> Self {
        let mut users: HashMap<Port, Vec<NodeId>> = HashMap::new();
        for node in program.nodes() {
            for source in &node.inputs {
                let port = Port::new(program.node(source.node).id, source.index);
                users.entry(port).or_default().push(node.id);
            }
        }
        let outline = Outline::of_program(g, program);
        let (context_of, fresh, captures) = Default::default();
        Recovery { g, program, outline, users, context_of, fresh, captures }
    }

    /// Returns the contexts of the nodes, and the contexts to add.
    fn run(mut self, nodes: &[NodeId]) -> (Vec<Place>, Vec<Context>) {
        let g = self.g;
        let n_known = g.contexts().len();
        let mut loops: HashMap<&str, ContextId> = HashMap::new();
        let mut branches: HashMap<(Port, bool), ContextId> = HashMap::new();
        for (i, context) in g.contexts().iter().enumerate() {
            let id = ContextId(i as u32);
            match &context.kind {
                ContextKind::While(_) => _ = loops.insert(&context.name, id),
                ContextKind::Cond(c) => _ = branches.insert((c.pred, c.branch == 1), id),
            }
        }
        // Regions come after the regions around them.
        for r in 0..self.outline.regions.len() {
            let region = self.outline.regions[r];
            let parent = self.context_of.get(region.parent as usize).copied().flatten();
            let id = match region.kind {
                RegionKind::Root => None,
                RegionKind::Loop(l) => {
                    let frame = self.outline.loops[l].name.as_str();
                    Some(match loops.get(frame) {
                        Some(known) => *known,
                        None => {
                            self.add(frame.to_owned(), parent, ContextKind::While(WhileContext::default()))
                        }
                    })
                }
                RegionKind::Branch(c, taken) => {
                    let cond = &self.outline.conds[c as usize];
                    let pred = cond.copy.unwrap_or(cond.predicate);
                    match (branches.get(&(pred, taken)), cond.irregular) {
                        (Some(known), _) => Some(*known),
                        (None, Some(_)) => parent,
                        (None, None) => Some(self.branch(c as usize, taken, parent)),
                    }
                }
            };
            self.context_of.push(id);
        }
        for (region, context) in self.outline.regions.iter().zip(&self.context_of) {
            let slot = context.and_then(|id| (id.0 as usize).checked_sub(n_known));
            if let (RegionKind::Loop(l), Some(slot)) = (region.kind, slot) {
                self.fresh[slot].kind = ContextKind::While(self.describe_loop(l));
            }
        }
        self.bring_in();
        let place = |n: NodeId| {
            let region = self.outline.region_of(n) as usize;
            (n, self.captures.get(&n).copied().or(self.context_of.get(region).copied().flatten()))
        };
        let is_bare = |n: &&NodeId| g.node(**n).is_ok_and(|n| n.context.is_none());
        let places = nodes.iter().filter(is_bare).map(|n| place(*n)).collect();
        (places, self.fresh)
    }

    fn add(&mut self, name: String, parent: Option<ContextId>, kind: ContextKind) -> ContextId {
        let id = ContextId((self.g.contexts().len() + self.fresh.len()) as u32);
        self.fresh.push(Context { name, parent, kind, external: HashMap::new() });
        id
    }

    fn branch(&mut self, c: usize, taken: bool, parent: Option<ContextId>) -> ContextId {
        let cond = &self.outline.conds[c];
        let pred = cond.copy.unwrap_or(cond.predicate);
        // A Switch belongs to the branch whose side of it is used. If both are, it belongs to neither.
        let used = |id: NodeId, side: u32| self.users.contains_key(&Port::new(id, side));
        let branch = u32::from(taken);
        let pivot = cond.pivots[usize::from(taken)];
        let behind = pivot.and_then(|p| self.g.node(p.node).ok()?.inputs.first().copied());
        let is_capture =
            |id: &NodeId| used(*id, branch) && !used(*id, 1 - branch) && Some(*id) != behind.map(|p| p.node);
        let captures: Vec<NodeId> = cond.switches.iter().copied().filter(is_capture).collect();
        let kind = CondContext { pred, pivot, branch, captures };
        // These are TensorFlow's names.
        let name = format!("{}/cond_text{}", cond.name, if taken { "" } else { "_1" });
        let captures = kind.captures.clone();
        let id = self.add(name, parent, ContextKind::Cond(kind));
        self.captures.extend(captures.into_iter().map(|c| (c, id)));
        id
    }

    fn describe_loop(&self, l: LoopId) -> WhileContext {
        let it = &self.outline.loops[l];
        let first = |id: NodeId| Port::new(id, 0);
        let merge = it.variables.iter().find_map(|v| v.merge);
        let body = it.variables.iter().find_map(|v| v.current);
        let pivot = it.condition.as_ref().map(|c| c.node);
        WhileContext {
            parallel_iterations: it.parallel_iterations.into(),
            back_prop: None,
            swap_memory: None,
            maximum_iterations: self.bound(it),
            pivot: pivot.map(first),
            pivot_for_pred: merge.map(first),
            pivot_for_body: body.map(first),
            enters: it.variables.iter().map(|v| first(v.enter)).collect(),
            exits: it.variables.iter().filter_map(|v| v.exit).map(first).collect(),
        }
    }

    /// Returns the bound on the trip count, if the loop has the counter that TensorFlow adds for one: its
    /// first variable grows from 0 by 1, and the first part of a conjunction compares it with the bound.
    fn bound(&self, it: &Loop<NodeId>) -> Option<Port> {
        let condition = it.condition.as_ref().filter(|c| 1 < c.n_parts)?;
        let bound =
            condition.bounds.first().filter(|b| (b.part, b.variable, b.inclusive) == (0, 0, false))?;
        let counter = LoopTree::counter(self.g, &it.variables[0], &|port| self.g.known_value(port));
        let limit = self.g.node(bound.limit.node).ok().filter(|n| n.is_constant_enter())?;
        limit.inputs.first().copied().filter(|_| counter == Some((0.0, 1.0)))
    }

    /// Fills in the captured values of the new contexts, by the Enters of loops and the Switches of branches.
    fn bring_in(&mut self) {
        let n_known = self.g.contexts().len();
        let mut brought: HashMap<Port, Port> = HashMap::new();
        let mut pairs: Vec<(ContextId, Port, Port, Port)> = Vec::new();
        for &n in self.program.order() {
            let id = self.program.node(n).id;
            let Ok(node) = self.g.node(id) else { continue };
            let Some(&from) = node.inputs.first() else { continue };
            // A value may have been captured by the contexts around already.
            let value = brought.get(&from).copied().unwrap_or(from);
            let (context, inside) = match (node.role(), self.captures.get(&id)) {
                (Role::Enter, _) if node.is_constant_enter() => {
                    let region = self.outline.region_of(id) as usize;
                    (self.context_of.get(region).copied().flatten(), Port::new(id, 0))
                }
                (Role::Switch, Some(&context)) => {
                    let taken = self.fresh.get((context.0 as usize).wrapping_sub(n_known));
                    let side = match taken.map(|c| &c.kind) {
                        Some(ContextKind::Cond(c)) => c.branch,
                        _ => continue,
                    };
                    (Some(context), Port::new(id, side))
                }
                _ => continue,
            };
            brought.insert(inside, value);
            if let Some(context) = context {
                pairs.push((context, value, from, inside));
            }
        }
        for (id, value, from, inside) in pairs {
            let Some(context) = self.fresh.get_mut((id.0 as usize).wrapping_sub(n_known)) else { continue };
            context.external.entry(value).or_insert(inside);
            if from != value && context.as_while().is_none() {
                // TensorFlow's `CondContextDef` lists this too.
                context.external.insert(from, from);
            }
        }
        for Context { kind, external, .. } in &mut self.fresh {
            if let ContextKind::Cond(c) = kind {
                external.insert(c.pred, c.pred);
                // If several Switches capture one value, the first one counts.
                let stand: HashSet<NodeId> = external.values().map(|p| p.node).collect();
                c.captures.retain(|n| stand.contains(n));
            }
        }
    }
}

/// Adds the outermost contexts after the first `n_before` to their collections.
pub(crate) fn collect(graph: &Graph, n_before: usize) {
    let fresh: Vec<(ContextId, bool)> = graph.read(|g| {
        let outermost = g.contexts().iter().enumerate().skip(n_before).filter(|(_, c)| c.parent.is_none());
        outermost.map(|(i, c)| (ContextId(i as u32), c.as_while().is_some())).collect()
    });
    for (id, is_while) in fresh {
        graph.add_to_collection(if is_while { WHILES } else { CONDS }, CollectionItem::Context(id));
    }
}

/// Makes the contexts that messages of a `MetaGraphDef` describe, and assigns nodes to them. If the graph is
/// `partial`, contexts with nodes that it lacks are left out, together with those inside them.
pub(crate) fn restore(
    graph: &Graph,
    program: &Program,
    messages: &[Vec<u8>],
    is_while: bool,
    prefix: &str,
    partial: bool,
) -> Result<()> {
    let frame_of: HashMap<NodeId, FrameId> = program.nodes().iter().map(|n| (n.id, n.frame)).collect();
    let frame_name = |node: &NodeId| {
        let frame = frame_of.get(node).and_then(|f| program.frames().get(*f));
        frame.map_or("", |f| f.name.as_str()).to_owned()
    };
    let mut work: Vec<(Option<ContextId>, String, Ctxt)> = Vec::new();
    for bytes in messages.iter().rev() {
        let context = match is_while {
            true => Ctxt::WhileCtxt(decode(bytes).map_err(|e| invalid!("{e}"))?),
            false => Ctxt::CondCtxt(decode(bytes).map_err(|e| invalid!("{e}"))?),
        };
        work.push((None, String::new(), context));
    }
    let names = Names { graph, prefix };
    while let Some((parent, around, message)) = work.pop() {
        let kind = match &message {
            Ctxt::WhileCtxt(m) => names.while_kind(m),
            Ctxt::CondCtxt(m) => names.cond_kind(m),
        };
        let kind = match kind {
            Err(e) if partial && matches!(e.code(), Code::NotFound | Code::Unimplemented) => continue,
            kind => kind?,
        };
        let (name, values, nested) = match message {
            Ctxt::WhileCtxt(m) => (m.context_name, m.values_def, m.nested_contexts),
            Ctxt::CondCtxt(m) => (m.context_name, m.values_def, m.nested_contexts),
        };
        let name = format!("{prefix}{name}");
        let values = values.unwrap_or_default();
        // The outer value may be missing, if the graph was pruned.
        let external = values.external_values.iter();
        let external = external.filter_map(|(o, i)| Some((names.find(o).ok()?, names.find(i).ok()?)));
        let external: HashMap<Port, Port> = external.collect();
        let around = if matches!(kind, ContextKind::While(_)) { name.clone() } else { around };
        let id = graph.add_context(Context { name, parent, kind, external });
        let own = values.values.iter().filter(|v| !values.external_values.contains_key(*v));
        let own = own.filter_map(|v| names.find(v).ok()).map(|p| p.node);
        // TensorFlow counts Exits among the nodes of the loop that they leave; here they belong to the
        // context around it.
        let own: Vec<_> = own.filter(|n| frame_name(n) == around).map(|n| (n, Some(id))).collect();
        graph.place(own);
        for inner in nested.into_iter().rev().filter_map(|c| c.ctxt) {
            work.push((Some(id), around.clone(), inner));
        }
    }
    Ok(())
}

/// Finds the outputs that the messages of a `MetaGraphDef` name.
struct Names<'a> {
    graph: &'a Graph,
    /// Comes before every name.
    prefix: &'a str,
}

impl Names<'_> {
    fn find(&self, name: &str) -> Result<Port> {
        self.graph.output(&format!("{}{name}", self.prefix)).map(|o| o.port())
    }

    /// Finds an output that may be missing, in which case its name is empty.
    fn find_if(&self, name: &str) -> Result<Option<Port>> {
        (!name.is_empty()).then(|| self.find(name)).transpose()
    }

    fn find_all(&self, names: &[String]) -> Result<Vec<Port>> {
        names.iter().map(|n| self.find(n)).collect()
    }

    fn while_kind(&self, m: &WhileContextDef) -> Result<ContextKind> {
        ensure!(
            m.parallel_iterations >= 1,
            "`parallel_iterations` of the loop `{}` is {}; it must be a positive integer",
            short(&m.context_name),
            m.parallel_iterations
        );
        Ok(ContextKind::While(WhileContext {
            parallel_iterations: m.parallel_iterations.into(),
            back_prop: Some(m.back_prop),
            swap_memory: Some(m.swap_memory),
            maximum_iterations: self.find_if(&m.maximum_iterations_name)?,
            pivot: self.find_if(&m.pivot_name)?,
            pivot_for_pred: self.find_if(&m.pivot_for_pred_name)?,
            pivot_for_body: self.find_if(&m.pivot_for_body_name)?,
            enters: self.find_all(&m.loop_enter_names)?,
            exits: self.find_all(&m.loop_exit_names)?,
        }))
    }

    fn cond_kind(&self, m: &CondContextDef) -> Result<ContextKind> {
        ensure!(
            (0..=1).contains(&m.branch),
            "the context `{}` is of branch {}; a cond has branches 0 and 1",
            short(&m.context_name),
            m.branch
        );
        // A value that is mapped to itself was captured by the branch around.
        let values = m.values_def.iter().flat_map(|v| &v.external_values).filter(|(o, i)| o != i);
        let mut captures: Vec<NodeId> = values.filter_map(|(_, v)| Some(self.find(v).ok()?.node)).collect();
        captures.retain(|n| role(self.graph, *n) == Some(Role::Switch));
        captures.sort();
        captures.dedup();
        Ok(ContextKind::Cond(CondContext {
            pred: self.find(&m.pred_name)?,
            pivot: self.find_if(&m.pivot_name)?,
            branch: m.branch as u32,
            captures,
        }))
    }
}

/// Encoded messages.
type Messages = Vec<Vec<u8>>;

/// Returns the contexts of a graph as messages: the outermost ones, each with those inside of it.
pub(crate) fn collections(g: &GraphData) -> Result<Vec<(&'static str, Messages)>> {
    let contexts = g.contexts();
    let mut nested: Vec<Vec<ControlFlowContextDef>> = vec![Vec::new(); contexts.len()];
    let (mut whiles, mut conds) = (Messages::new(), Messages::new());
    // Contexts come after those around them, so in reverse order the inner ones are done first.
    for (i, context) in contexts.iter().enumerate().rev() {
        let mut inner = std::mem::take(&mut nested[i]);
        inner.reverse();
        let message = message(g, ContextId(i as u32), context, inner)?;
        match (context.parent, message) {
            (Some(parent), message) => {
                let slot = nested.get_mut(parent.0 as usize).filter(|_| (parent.0 as usize) < i);
                let slot = slot.ok_or_else(|| {
                    invalid!("the context `{}` comes before the one around it", context.name)
                })?;
                slot.push(ControlFlowContextDef { ctxt: Some(message) });
            }
            (None, Ctxt::WhileCtxt(m)) => whiles.push(encode(&m)),
            (None, Ctxt::CondCtxt(m)) => conds.push(encode(&m)),
        }
    }
    whiles.reverse();
    conds.reverse();
    Ok([(WHILES, whiles), (CONDS, conds)].into_iter().filter(|(_, c)| !c.is_empty()).collect())
}

fn message(
    g: &GraphData,
    id: ContextId,
    context: &Context,
    nested_contexts: Vec<ControlFlowContextDef>,
) -> Result<Ctxt> {
    let name = |port: Port| Ok(format!("{}:{}", g.node(port.node)?.name(), port.index));
    let name_if = |port: Option<Port>| port.map_or(Ok(String::new()), name);
    let names = |ports: &[Port]| ports.iter().map(|p| name(*p)).collect::<Result<Vec<_>>>();
    let mut values_def = ValuesDef { values: names(&g.context_values(id))?, ..ValuesDef::default() };
    for (outer, inner) in &context.external {
        values_def.external_values.insert(name(*outer)?, name(*inner)?);
    }
    let context_name = context.name.clone();
    Ok(match &context.kind {
        ContextKind::While(w) => {
            let loop_exit_names = names(&w.exits)?;
            Ctxt::WhileCtxt(WhileContextDef {
                context_name,
                parallel_iterations: i32::try_from(w.parallel_iterations).unwrap_or(i32::MAX),
                back_prop: w.back_prop.unwrap_or(true),
                swap_memory: w.swap_memory.unwrap_or(false),
                pivot_name: name_if(w.pivot)?,
                pivot_for_pred_name: name_if(w.pivot_for_pred)?,
                pivot_for_body_name: name_if(w.pivot_for_body)?,
                loop_exit_names,
                values_def: Some(values_def),
                loop_enter_names: names(&w.enters)?,
                maximum_iterations_name: name_if(w.maximum_iterations)?,
                nested_contexts,
            })
        }
        ContextKind::Cond(c) => Ctxt::CondCtxt(CondContextDef {
            context_name,
            pred_name: name(c.pred)?,
            pivot_name: name_if(c.pivot)?,
            branch: c.branch as i32,
            values_def: Some(values_def),
            nested_contexts,
        }),
    })
}

fn role(graph: &Graph, id: NodeId) -> Option<Role> {
    graph.read(|g| g.node(id).ok().map(Node::role))
}
