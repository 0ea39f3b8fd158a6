//! Graphs that TensorFlow wrote: they can be imported, and exporting and importing them again changes
//! nothing.

#![expect(clippy::print_stdout, reason = "a test may say what it did")]

use millstream_graph::{ContextKind, Graph};
use millstream_interop::{
    ImportOptions, export_graph_def, export_meta_graph, import_graph_def, import_meta_graph, read_graph,
};
use millstream_proto::{GraphDef, NodeDef, from_text, to_text};
use millstream_tensor::Code;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn golden() -> Vec<(String, GraphDef)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/graphs");
    let mut cases: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    let name = |dir: &PathBuf| dir.file_name().unwrap().to_string_lossy().into_owned();
    let read = |dir: &PathBuf| read_graph(&fs::read(dir.join("graph.pb")).unwrap()).unwrap();
    cases.iter().map(|dir| (name(dir), read(dir).graph_def().unwrap().clone())).collect()
}

fn import(def: &GraphDef) -> millstream_tensor::Result<Graph> {
    let graph = Graph::with_ops(millstream_ops::registry());
    import_graph_def(&graph, def, &ImportOptions::default())?;
    Ok(graph)
}

#[test]
fn golden_graphs_import() {
    let (mut n_imported, mut n_lacking) = (0, 0);
    let mut failed = Vec::new();
    for (name, def) in golden() {
        match import(&def) {
            Ok(graph) => {
                assert!(graph.len() >= def.node.len(), "{name}");
                n_imported += 1;
            }
            // Some ops may be missing. The error lists them.
            Err(e) if e.code() == Code::Unimplemented && e.message().contains("lacks") => {
                println!("{name}: {e}");
                n_lacking += 1;
            }
            Err(e) => failed.push(format!("{name}: {e}")),
        }
    }
    println!("{n_imported} graphs imported, {n_lacking} use ops that are not there yet");
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn out_and_in_again_changes_nothing() {
    for (name, def) in golden() {
        let Ok(graph) = import(&def) else { continue };
        let once = export_graph_def(&graph).unwrap();
        let twice = export_graph_def(&import(&once).unwrap()).unwrap();
        assert!(once == twice, "{name}");
        let text: GraphDef = from_text(&to_text(&once).unwrap()).unwrap();
        assert!(once == text, "{name}: as text");
        let meta = export_meta_graph(&graph).unwrap();
        let again = Graph::with_ops(millstream_ops::registry());
        import_meta_graph(&again, &meta, &ImportOptions::default()).unwrap();
        let meta_again = export_meta_graph(&again).unwrap();
        assert!(meta == meta_again, "{name}: with contexts");
    }
}

/// Everything that TensorFlow wrote is in our export: names, ops, inputs, devices, attributes.
#[test]
fn in_and_out_keeps_what_was_there() {
    for (name, def) in golden() {
        let has_functions = def.library.as_ref().is_some_and(|l| !l.function.is_empty());
        let Ok(graph) = import(&def) else { continue };
        if has_functions {
            continue;
        }
        let ours = export_graph_def(&graph).unwrap();
        let ours: BTreeMap<&str, &NodeDef> = ours.node.iter().map(|n| (n.name.as_str(), n)).collect();
        assert_eq!(ours.len(), def.node.len(), "{name}");
        for node in &def.node {
            let our = ours[node.name.as_str()];
            assert_eq!((&our.op, &our.device), (&node.op, &node.device), "{name}");
            let plain = |n: &NodeDef| -> Vec<String> {
                n.input.iter().map(|i| i.strip_suffix(":0").unwrap_or(i).to_owned()).collect()
            };
            assert_eq!(plain(our), plain(node), "{name}: {}", node.name);
            for (attr, value) in &node.attr {
                let Some(ours) = our.attr.get(attr) else { continue };
                // Tensors may be encoded in another way.
                if attr != "value" {
                    assert_eq!(ours, value, "{name}: {}.{attr}", node.name);
                }
            }
        }
    }
}

#[test]
fn loops_get_contexts() {
    let (_, def) = golden().into_iter().find(|(name, _)| name == "loop_nested_three").unwrap();
    let graph = import(&def).unwrap();
    graph.read(|g| {
        let depth = |mut id: Option<millstream_graph::ContextId>| {
            let mut depth = 0;
            while let Some(context) = id {
                id = g.contexts()[context.0 as usize].parent;
                depth += 1;
            }
            depth
        };
        let deepest = g.nodes().iter().map(|n| depth(n.context)).max();
        assert_eq!(deepest, Some(3));
        for context in g.contexts() {
            let ContextKind::While(w) = &context.kind else { panic!("{} is no loop", context.name) };
            assert!(w.pivot.is_some() && w.pivot_for_pred.is_some() && w.pivot_for_body.is_some());
            assert!(!w.enters.is_empty() && w.enters.len() == w.exits.len(), "{}", context.name);
        }
    });
}
