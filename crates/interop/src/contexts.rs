//! Control-flow contexts: found again from the frames of a graph, and to and from the context messages of a `MetaGraphDef`.

use crate::flat::short;
use millstream_graph::op::Role;
use millstream_graph::{
    CollectionItem, CondContext, Context, ContextId, ContextKind, Graph, GraphData, Node, NodeId, Port,
    Program, WhileContext,
};
use millstream_proto::control_flow_context_def::Ctxt;
use millstream_proto::{CondContextDef, ControlFlowContextDef, ValuesDef, WhileContextDef, decode, encode};
use millstream_tensor::{Result, ensure, invalid};
use std::collections::{BTreeMap, HashMap};

/// The collection of the outermost loops.
pub(crate) const WHILES: &str = "while_context";

/// The collection of the outermost branches.
pub(crate) const CONDS: &str = "cond_context";

/// Gives the loops among `nodes` contexts: a `GraphDef` does not have them, but its Enters and Exits say where loops are. Branches
/// of conds cannot be told from other uses of Switch. Nodes that have a context keep it.
pub(crate) fn recover(graph: &Graph, program: &Program, nodes: &[NodeId]) -> Result<()> {
    if program.frames.len() < 2 {
        return Ok(());
    }
    let frame_of: HashMap<NodeId, u32> = program.nodes.iter().map(|n| (n.id, n.frame)).collect();
    let known: HashMap<String, ContextId> = graph.read(|g| {
        let loops = g.contexts().iter().enumerate().filter(|(_, c)| c.as_while().is_some());
        loops.map(|(i, c)| (c.name.clone(), ContextId(i as u32))).collect()
    });
    // Frames come after the frames around them.
    let mut ids: Vec<Option<ContextId>> = vec![None];
    let mut fresh: BTreeMap<u32, ContextId> = BTreeMap::new();
    for (f, frame) in program.frames.iter().enumerate().skip(1) {
        let parent = ids.get(frame.parent as usize).copied().flatten();
        let id = known.get(&frame.name).copied().unwrap_or_else(|| {
            let id = graph.add_context(Context {
                name: frame.name.clone(),
                parent,
                kind: ContextKind::While(WhileContext::default()),
                external: HashMap::new(),
            });
            fresh.insert(f as u32, id);
            id
        });
        ids.push(Some(id));
    }
    let described = graph.read(|g| describe(g, program, &fresh, &ids));
    for (id, context) in described {
        graph.set_context(id, context);
    }
    let context_of = |n: &NodeId| ids.get(*frame_of.get(n)? as usize).copied().flatten();
    let bare: Vec<NodeId> = graph.read(|g| {
        let is_bare = |n: &&NodeId| g.node(**n).is_ok_and(|n| n.context.is_none());
        nodes.iter().filter(is_bare).copied().collect()
    });
    graph.place(bare.into_iter().map(|n| (n, context_of(&n))));
    Ok(())
}

/// Adds the outermost contexts made since there were `n_before` to the collections that name them.
pub(crate) fn collect(graph: &Graph, n_before: usize) {
    let fresh: Vec<(ContextId, bool)> = graph.read(|g| {
        let outermost = g.contexts().iter().enumerate().skip(n_before).filter(|(_, c)| c.parent.is_none());
        outermost.map(|(i, c)| (ContextId(i as u32), c.as_while().is_some())).collect()
    });
    for (id, is_while) in fresh {
        graph.add_to_collection(if is_while { WHILES } else { CONDS }, CollectionItem::Context(id));
    }
}

fn describe(
    g: &GraphData,
    program: &Program,
    fresh: &BTreeMap<u32, ContextId>,
    ids: &[Option<ContextId>],
) -> Vec<(ContextId, Context)> {
    let mut users: HashMap<Port, Vec<NodeId>> = HashMap::new();
    let mut by_frame: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
    for node in &program.nodes {
        if node.frame != 0 {
            by_frame.entry(node.frame).or_default().push(node.id);
        }
        let Ok(from) = g.node(node.id) else { continue };
        for &input in from.inputs.iter() {
            users.entry(input).or_default().push(node.id);
        }
    }
    let nothing = Vec::new();
    fresh
        .iter()
        .map(|(f, id)| {
            let frame = &program.frames[*f as usize];
            let nodes = by_frame.get(f).unwrap_or(&nothing);
            let mut external = HashMap::new();
            let parallel = i64::from(frame.parallel_iterations);
            let mut kind =
                WhileContext { parallel_iterations: parallel, back_prop: true, ..WhileContext::default() };
            for node in nodes.iter().filter_map(|n| Some((*n, g.node(*n).ok()?))) {
                look_at(g, &users, node, &mut kind, &mut external);
            }
            let parent = ids.get(frame.parent as usize).copied().flatten();
            (*id, Context { name: frame.name.clone(), parent, kind: ContextKind::While(kind), external })
        })
        .collect()
}

/// What a node of a loop says about the loop.
fn look_at(
    g: &GraphData,
    users: &HashMap<Port, Vec<NodeId>>,
    (id, node): (NodeId, &Node),
    kind: &mut WhileContext,
    external: &mut HashMap<Port, Port>,
) {
    let port = Port::new(id, 0);
    let user = |port: Port, role: Role| {
        let ids = users.get(&port).into_iter().flatten();
        ids.copied().find(|id| g.node(*id).is_ok_and(|n| n.role() == role))
    };
    match node.role() {
        Role::LoopCond => kind.pivot = Some(port),
        Role::Enter if node.is_constant_enter() => {
            if let Some(outer) = node.inputs.first() {
                external.insert(*outer, port);
            }
        }
        Role::Enter => {
            kind.enters.push(port);
            let Some(merge) = user(port, Role::Merge).map(|m| Port::new(m, 0)) else { return };
            kind.pivot_for_pred.get_or_insert(merge);
            let Some(switch) = user(merge, Role::Switch) else { return };
            if let Some(exit) = user(Port::new(switch, 0), Role::Exit) {
                kind.exits.push(Port::new(exit, 0));
            }
            if let Some(identity) = user(Port::new(switch, 1), Role::Identity) {
                kind.pivot_for_body.get_or_insert(Port::new(identity, 0));
            }
        }
        _ => {}
    }
}

/// Makes the contexts that messages of a `MetaGraphDef` describe, and puts nodes into them.
pub(crate) fn restore(
    graph: &Graph,
    program: &Program,
    messages: &[Vec<u8>],
    is_while: bool,
    prefix: &str,
) -> Result<()> {
    let frame_of: HashMap<NodeId, u32> = program.nodes.iter().map(|n| (n.id, n.frame)).collect();
    let frame_name = |node: &NodeId| {
        let frame = frame_of.get(node).and_then(|f| program.frames.get(*f as usize));
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
    let find = |name: &str| graph.output(&format!("{prefix}{name}")).map(|o| o.port());
    let find_if = |name: &str| (!name.is_empty()).then(|| find(name)).transpose();
    let find_all = |names: &[String]| names.iter().map(|n| find(n)).collect::<Result<Vec<_>>>();
    while let Some((parent, around, message)) = work.pop() {
        let (name, kind, values, nested) = match message {
            Ctxt::WhileCtxt(m) => {
                ensure!(
                    m.parallel_iterations >= 1,
                    "`parallel_iterations` of the loop `{}` is {}; it must be a positive integer",
                    short(&m.context_name),
                    m.parallel_iterations
                );
                let kind = WhileContext {
                    parallel_iterations: m.parallel_iterations.into(),
                    back_prop: m.back_prop,
                    swap_memory: m.swap_memory,
                    maximum_iterations: find_if(&m.maximum_iterations_name)?,
                    pivot: find_if(&m.pivot_name)?,
                    pivot_for_pred: find_if(&m.pivot_for_pred_name)?,
                    pivot_for_body: find_if(&m.pivot_for_body_name)?,
                    enters: find_all(&m.loop_enter_names)?,
                    exits: find_all(&m.loop_exit_names)?,
                };
                (m.context_name, ContextKind::While(kind), m.values_def, m.nested_contexts)
            }
            Ctxt::CondCtxt(m) => {
                ensure!(
                    (0..=1).contains(&m.branch),
                    "the context `{}` is of branch {}; a cond has branches 0 and 1",
                    short(&m.context_name),
                    m.branch
                );
                let values = m.values_def.iter().flat_map(|v| v.external_values.values());
                let mut captures: Vec<NodeId> = values.filter_map(|v| Some(find(v).ok()?.node)).collect();
                captures.retain(|n| role(graph, *n) == Some(Role::Switch));
                captures.sort();
                captures.dedup();
                let kind = CondContext {
                    pred: find(&m.pred_name)?,
                    pivot: find(&m.pivot_name)?,
                    branch: m.branch as u32,
                    captures,
                };
                (m.context_name, ContextKind::Cond(kind), m.values_def, m.nested_contexts)
            }
        };
        let name = format!("{prefix}{name}");
        let values = values.unwrap_or_default();
        // What is outside may be gone, where a graph was cut down to what it computes.
        let external =
            values.external_values.iter().filter_map(|(o, i)| Some((find(o).ok()?, find(i).ok()?)));
        let external: HashMap<Port, Port> = external.collect();
        let around = if matches!(kind, ContextKind::While(_)) { name.clone() } else { around };
        let id = graph.add_context(Context { name, parent, kind, external });
        let own = values.values.iter().filter(|v| !values.external_values.contains_key(*v));
        let own = own.filter_map(|v| find(v).ok()).map(|p| p.node);
        // TensorFlow counts Exits to the loop that they leave; here their values are of the world around it.
        let own: Vec<_> = own.filter(|n| frame_name(n) == around).map(|n| (n, Some(id))).collect();
        graph.place(own);
        for inner in nested.into_iter().rev().filter_map(|c| c.ctxt) {
            work.push((Some(id), around.clone(), inner));
        }
    }
    Ok(())
}

/// Encoded messages.
type Messages = Vec<Vec<u8>>;

/// The contexts of a graph as messages: the outermost ones, each with those inside of it.
pub(crate) fn collections(g: &GraphData) -> Result<Vec<(&'static str, Messages)>> {
    let contexts = g.contexts();
    let mut nested: Vec<Vec<ControlFlowContextDef>> = vec![Vec::new(); contexts.len()];
    let (mut whiles, mut conds) = (Messages::new(), Messages::new());
    // Contexts come after those around them; so backwards each finds its inner ones done.
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
                back_prop: w.back_prop,
                swap_memory: w.swap_memory,
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
            pivot_name: name(c.pivot)?,
            branch: c.branch as i32,
            values_def: Some(values_def),
            nested_contexts,
        }),
    })
}

fn role(graph: &Graph, id: NodeId) -> Option<Role> {
    graph.read(|g| g.node(id).ok().map(Node::role))
}
