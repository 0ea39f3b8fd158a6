//! [`import_meta_graph`]: a `MetaGraphDef`: the graph, its collections, its loops' and branches' contexts.

use crate::contexts;
use crate::import::{ImportOptions, Imported, import};
use millstream_graph::{CollectionItem, Graph};
use millstream_proto::collection_def::Kind;
use millstream_proto::{CollectionDef, GraphDef, MetaGraphDef};
use millstream_tensor::{Result, invalid};

/// Adds what `meta` holds to `graph`. Collections named for contexts become contexts; the others are added as they are, with names
/// under the prefix.
pub fn import_meta_graph(graph: &Graph, meta: &MetaGraphDef, options: &ImportOptions) -> Result<Imported> {
    let def: &GraphDef =
        meta.graph_def.as_ref().ok_or_else(|| invalid!("the MetaGraphDef holds no graph"))?;
    let mut options = options.clone();
    if options.producer_ops.is_none() {
        options.producer_ops = meta.meta_info_def.as_ref().and_then(|i| i.stripped_op_list.clone());
    }
    let imported = import(graph, def, &options, |imported, program| {
        for (name, is_while) in [(contexts::WHILES, true), (contexts::CONDS, false)] {
            if let Some(CollectionDef { kind: Some(Kind::BytesList(list)) }) = meta.collection_def.get(name) {
                contexts::restore(graph, program, &list.value, is_while, &imported.prefix)?;
            }
        }
        Ok(())
    })?;
    for (name, collection) in &meta.collection_def {
        if name != contexts::WHILES && name != contexts::CONDS {
            for item in items(collection, &imported.prefix) {
                graph.add_to_collection(name, item);
            }
        }
    }
    Ok(imported)
}

fn items(collection: &CollectionDef, prefix: &str) -> Vec<CollectionItem> {
    match &collection.kind {
        Some(Kind::NodeList(list)) => {
            list.value.iter().map(|n| CollectionItem::Node(format!("{prefix}{n}"))).collect()
        }
        Some(Kind::BytesList(list)) => list.value.iter().cloned().map(CollectionItem::Bytes).collect(),
        Some(Kind::Int64List(list)) => list.value.iter().copied().map(CollectionItem::Int).collect(),
        Some(Kind::FloatList(list)) => list.value.iter().copied().map(CollectionItem::Float).collect(),
        // Messages of types that we do not know.
        Some(Kind::AnyList(_)) | None => Vec::new(),
    }
}
