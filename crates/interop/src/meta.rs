//! [`import_meta_graph`]: imports a `MetaGraphDef`: a graph, its collections, and the contexts of its loops
//! and branches.

use crate::allowance::Allowance;
use crate::contexts;
use crate::flat::{Input, parse_input};
use crate::functions::missing_ops;
use crate::import::{ImportOptions, Imported, import, with_nodes};
use millstream_graph::op::Registry;
use millstream_graph::{CollectionItem, Graph};
use millstream_proto::collection_def::Kind;
use millstream_proto::{CollectionDef, GraphDef, MetaGraphDef, NodeDef, VariableDef, decode, encode};
use millstream_tensor::{Result, invalid};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Adds the contents of `meta` to `graph`. Collections of contexts become contexts; the others are added as
/// they are, with names under the prefix. Nodes that only save and restore variables are left out if they
/// cannot be read. With [`ImportOptions::leave_out_unknown`], so are contexts of which nodes are left out:
/// those are found by their nodes, as in a graph without contexts.
pub fn import_meta_graph(graph: &Graph, meta: &MetaGraphDef, options: &ImportOptions) -> Result<Imported> {
    let def: &GraphDef =
        meta.graph_def.as_ref().ok_or_else(|| invalid!("the MetaGraphDef holds no graph"))?;
    let def = match options.leave_out_unknown {
        // Of a saver, too, nodes may be missing that nobody asks for.
        true => Cow::Borrowed(def),
        false => without_saver(meta, def, graph.registry(), options)?,
    };
    let mut options = options.clone();
    if options.producer_ops.is_none() {
        options.producer_ops = meta.meta_info_def.as_ref().and_then(|i| i.stripped_op_list.clone());
    }
    let imported = import(graph, &def, &options, |imported, program| {
        for (name, is_while) in [(contexts::WHILES, true), (contexts::CONDS, false)] {
            if let Some(CollectionDef { kind: Some(Kind::BytesList(list)) }) = meta.collection_def.get(name) {
                let prefix = &imported.prefix;
                contexts::restore(graph, program, &list.value, is_while, prefix, options.leave_out_unknown)?;
            }
        }
        Ok(())
    })?;
    for (name, collection) in &meta.collection_def {
        if name != contexts::WHILES && name != contexts::CONDS {
            for item in items(collection, &imported.prefix) {
                graph.add_to_collection(name, under(&imported.prefix, name, item));
            }
        }
    }
    Ok(imported)
}

/// Returns the graph without the nodes that only save and restore variables, if some of their ops are unknown
/// here.
fn without_saver<'a>(
    meta: &MetaGraphDef,
    def: &'a GraphDef,
    registry: &Registry,
    options: &ImportOptions,
) -> Result<Cow<'a, GraphDef>> {
    let Some(saver) = &meta.saver_def else { return Ok(Cow::Borrowed(def)) };
    if missing_ops(def, registry).is_ok_and(|missing| missing.is_empty()) {
        return Ok(Cow::Borrowed(def));
    }
    let node_of = |input: &'a str| match parse_input(input) {
        Ok(Input::Data(name, _) | Input::Control(name)) => Some(name),
        Err(_) => None,
    };
    let ends = [saver.save_tensor_name.as_str(), &saver.restore_op_name];
    let ends: Vec<&str> = ends.iter().map(|e| e.split(':').next().unwrap_or(e)).collect();
    let by_name: HashMap<&str, &NodeDef> = def.node.iter().map(|n| (n.name.as_str(), n)).collect();
    let used: HashSet<&str> = def.node.iter().flat_map(|n| &n.input).filter_map(|i| node_of(i)).collect();
    let is_end = |n: &&NodeDef| !used.contains(n.name.as_str()) && !ends.contains(&n.name.as_str());
    let mut work: Vec<&NodeDef> = def.node.iter().filter(is_end).collect();
    let mut needed: HashSet<&str> = work.iter().map(|n| n.name.as_str()).collect();
    while let Some(node) = work.pop() {
        for before in node.input.iter().filter_map(|i| by_name.get(node_of(i)?)) {
            if needed.insert(&before.name) {
                work.push(before);
            }
        }
    }
    let mut allowance = Allowance::new(options.memory_limit, options.max_nodes, options.deadline);
    Ok(Cow::Owned(with_nodes(def, |n| needed.contains(n.name.as_str()), &mut allowance)?))
}

/// The collections of variables, whose items are `VariableDef`s.
const OF_VARIABLES: [&str; 5] =
    ["variables", "trainable_variables", "local_variables", "model_variables", "moving_average_variables"];

/// Puts the names in a variable's message under the prefix.
fn under(prefix: &str, collection: &str, item: CollectionItem) -> CollectionItem {
    let CollectionItem::Bytes(bytes) = &item else { return item };
    if prefix.is_empty() || !OF_VARIABLES.contains(&collection) {
        return item;
    }
    let Ok(mut def) = decode::<VariableDef>(bytes) else { return item };
    let names = [
        &mut def.variable_name,
        &mut def.initializer_name,
        &mut def.snapshot_name,
        &mut def.initial_value_name,
    ];
    for name in names.into_iter().filter(|name| !name.is_empty()) {
        name.insert_str(0, prefix);
    }
    CollectionItem::Bytes(encode(&def))
}

fn items(collection: &CollectionDef, prefix: &str) -> Vec<CollectionItem> {
    match &collection.kind {
        Some(Kind::NodeList(list)) => {
            list.value.iter().map(|n| CollectionItem::Node(format!("{prefix}{n}"))).collect()
        }
        Some(Kind::BytesList(list)) => list.value.iter().cloned().map(CollectionItem::Bytes).collect(),
        Some(Kind::Int64List(list)) => list.value.iter().copied().map(CollectionItem::Int).collect(),
        Some(Kind::FloatList(list)) => list.value.iter().copied().map(CollectionItem::Float).collect(),
        // Messages of unknown types.
        Some(Kind::AnyList(_)) | None => Vec::new(),
    }
}
