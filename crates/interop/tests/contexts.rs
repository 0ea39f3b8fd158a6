//! Contexts recovered from the primitives are those that TensorFlow itself recorded.

use millstream_graph::{ContextId, ContextKind, Graph, GraphData, Port};
use millstream_interop::{ImportOptions, import_graph_def, import_meta_graph, read_graph};
use millstream_proto::{GraphDef, MetaGraphDef};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn metas() -> Vec<(String, MetaGraphDef)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/models");
    let mut files: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "pb"));
    files.sort();
    let load = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, read_graph(&fs::read(path).unwrap()).unwrap().meta_graph().unwrap().unwrap().clone())
    };
    files.iter().map(load).collect()
}

fn port(g: &GraphData, port: Port) -> String {
    format!("{}:{}", g.node(port.node).unwrap().name(), port.index)
}

fn ports(g: &GraphData, list: &[Port]) -> String {
    let mut names: Vec<String> = list.iter().map(|p| port(g, *p)).collect();
    names.sort();
    names.join(" ")
}

/// Identifies a context by its contents, since names of branches are arbitrary.
fn identity(g: &GraphData, id: Option<ContextId>) -> String {
    let Some(id) = id else { return "-".into() };
    let context = &g.contexts()[id.0 as usize];
    match &context.kind {
        ContextKind::While(_) => format!("loop {}", context.name),
        ContextKind::Cond(c) => format!("{} of {}", c.branch, port(g, c.pred)),
    }
}

/// Lists the facts about contexts and nodes, one a line.
fn facts(graph: &Graph) -> BTreeMap<String, String> {
    graph.read(|g| {
        let mut facts = BTreeMap::new();
        for (i, context) in g.contexts().iter().enumerate() {
            let id = identity(g, Some(ContextId(i as u32)));
            let optional = |p: Option<Port>| p.map_or("none".into(), |p| port(g, p));
            let mut say = |what: &str, fact: String| facts.insert(format!("{id}: {what}"), fact);
            say("inside", identity(g, context.parent));
            let mut external: Vec<String> =
                context.external.iter().map(|(a, b)| format!("{}={}", port(g, *a), port(g, *b))).collect();
            external.sort();
            say("external", external.join(" "));
            match &context.kind {
                ContextKind::While(w) => {
                    say("pivot", optional(w.pivot));
                    say("pivot for the condition", optional(w.pivot_for_pred));
                    say("pivot for the body", optional(w.pivot_for_body));
                    say("enters", ports(g, &w.enters));
                    say("exits", ports(g, &w.exits));
                    say("bound", optional(w.maximum_iterations));
                    say("parallel iterations", w.parallel_iterations.to_string());
                }
                ContextKind::Cond(c) => {
                    say("pivot", optional(c.pivot));
                    let captures: Vec<Port> = c.captures.iter().map(|n| Port::new(*n, c.branch)).collect();
                    say("captures", ports(g, &captures));
                }
            }
        }
        for node in g.nodes() {
            facts.insert(format!("node {}", node.name()), identity(g, node.context));
        }
        facts
    })
}

fn import(def: &GraphDef) -> Graph {
    let graph = Graph::with_ops(millstream_ops::registry());
    import_graph_def(&graph, def, &ImportOptions::default()).unwrap();
    graph
}

#[test]
fn contexts_are_those_that_tensorflow_kept() {
    let mut differ = Vec::new();
    let mut n_conds = 0;
    for (name, meta) in metas() {
        let graph = Graph::with_ops(millstream_ops::registry());
        import_meta_graph(&graph, &meta, &ImportOptions::default()).unwrap();
        let (kept, found) = (facts(&graph), facts(&import(meta.graph_def.as_ref().unwrap())));
        n_conds += kept.keys().filter(|k| k.ends_with(": captures")).count();
        for key in kept.keys().chain(found.keys()).collect::<std::collections::BTreeSet<_>>() {
            let (kept, found) = (kept.get(key), found.get(key));
            // TensorFlow gives the nodes of gradients no contexts.
            let of_gradients = |fact: Option<&String>| fact.is_some_and(|f| f.contains("gradients/"));
            if kept != found && !key.contains("node gradients/") && !of_gradients(found) {
                differ.push(format!("{name}: {key}\n    kept  {kept:?}\n    found {found:?}"));
            }
        }
    }
    assert!(n_conds > 20, "{n_conds} branches");
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

/// In a graph whose cond lost its unused pivots, a constant made in a branch runs only if the branch does.
#[test]
fn a_branch_without_a_pivot_gets_one() {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/graphs/raw_switch_merge/graph.pb");
    let graph = import(read_graph(&fs::read(file).unwrap()).unwrap().graph_def().unwrap());
    let branch = graph.read(|g| {
        let cond =
            |c: &millstream_graph::Context| matches!(&c.kind, ContextKind::Cond(c) if c.pivot.is_none());
        ContextId(g.contexts().iter().position(cond).unwrap() as u32)
    });
    let constant = graph.inside(Some(branch), || graph.constant(1.0).op().id());
    graph.check().unwrap();
    graph.read(|g| {
        let ContextKind::Cond(c) = &g.contexts()[branch.0 as usize].kind else { panic!("no branch") };
        let node = g.node(constant).unwrap();
        assert_eq!((node.context, node.controls.as_slice()), (Some(branch), &[c.pivot.unwrap().node][..]));
        let side = g.node(c.pivot.unwrap().node).unwrap().inputs[0];
        assert_eq!((side.index, g.node(side.node).unwrap().op()), (c.branch, "Switch"));
    });
}
