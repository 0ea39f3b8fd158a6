//! [`read_graph`]: a graph from the bytes of a file, whatever form it has.

use crate::{ImportOptions, Imported, import_graph_def, import_meta_graph};
use millstream_graph::Graph;
use millstream_proto::{GraphDef, MetaGraphDef, SavedModel, decode, encode, from_text, to_text};
use millstream_tensor::{Result, invalid};

/// A graph as a file holds it.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per file")]
pub enum GraphFile {
    /// The graph alone.
    Graph(GraphDef),
    /// With collections and signatures.
    MetaGraph(Box<MetaGraphDef>),
    /// A SavedModel: one or more graphs, each with its tags.
    SavedModel(SavedModel),
}

impl GraphFile {
    /// The name of the message.
    pub fn kind(&self) -> &'static str {
        match self {
            GraphFile::Graph(_) => "GraphDef",
            GraphFile::MetaGraph(_) => "MetaGraphDef",
            GraphFile::SavedModel(_) => "SavedModel",
        }
    }

    /// The message in wire format.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            GraphFile::Graph(graph) => encode(graph),
            GraphFile::MetaGraph(meta) => encode(&**meta),
            GraphFile::SavedModel(model) => encode(model),
        }
    }

    /// The message in text form.
    pub fn to_text(&self) -> Result<String> {
        let text = match self {
            GraphFile::Graph(graph) => to_text(graph),
            GraphFile::MetaGraph(meta) => to_text(&**meta),
            GraphFile::SavedModel(model) => to_text(model),
        };
        text.map_err(|e| invalid!("{e}"))
    }

    /// Adds the graph, with the contexts and collections that go with it, to `graph`.
    pub fn import(&self, graph: &Graph, options: &ImportOptions) -> Result<Imported> {
        match self.meta_graph()? {
            Some(meta) => import_meta_graph(graph, meta, options),
            None => import_graph_def(graph, self.graph_def()?, options),
        }
    }

    /// The graph; of a SavedModel the one tagged `serve`, or the only one.
    pub fn graph_def(&self) -> Result<&GraphDef> {
        match self {
            GraphFile::Graph(graph) => Ok(graph),
            _ => match self.meta_graph()? {
                Some(MetaGraphDef { graph_def: Some(graph), .. }) => Ok(graph),
                _ => Err(invalid!("the file is a MetaGraphDef without a graph")),
            },
        }
    }

    /// The graph with what goes with it, if the file has more than the graph.
    pub fn meta_graph(&self) -> Result<Option<&MetaGraphDef>> {
        match self {
            GraphFile::Graph(_) => Ok(None),
            GraphFile::MetaGraph(meta) => Ok(Some(meta)),
            GraphFile::SavedModel(model) => {
                let is_serve = |m: &&MetaGraphDef| {
                    m.meta_info_def.as_ref().is_some_and(|i| i.tags.iter().any(|t| t == "serve"))
                };
                let chosen = model.meta_graphs.iter().find(is_serve).or(match model.meta_graphs.as_slice() {
                    [only] => Some(only),
                    _ => None,
                });
                chosen.map(Some).ok_or_else(|| {
                    invalid!(
                        "the SavedModel has {} graphs, none of them tagged `serve`",
                        model.meta_graphs.len()
                    )
                })
            }
        }
    }
}

/// Reads a binary or text `GraphDef` or `MetaGraphDef`, or a `SavedModel`.
///
/// The forms share field numbers, but hardly a file of one can be read as another: in a `SavedModel` field 1 is a number, in the
/// others a message; a `MetaGraphDef` read as a `GraphDef` has nodes without ops.
pub fn read_graph(bytes: &[u8]) -> Result<GraphFile> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text(text) => read_text(text),
        _ => read_binary(bytes),
    }
}

fn read_binary(bytes: &[u8]) -> Result<GraphFile> {
    let graph = decode::<GraphDef>(bytes);
    if let Ok(def) = &graph
        && plausible(def)
    {
        return graph.map(GraphFile::Graph).map_err(|e| invalid!("{e}"));
    }
    if let Ok(meta) = decode::<MetaGraphDef>(bytes)
        && meta.graph_def.as_ref().is_some_and(plausible)
    {
        return Ok(GraphFile::MetaGraph(Box::new(meta)));
    }
    if let Ok(model) = decode::<SavedModel>(bytes)
        && model.meta_graphs.iter().any(|m| m.graph_def.is_some())
    {
        return Ok(GraphFile::SavedModel(model));
    }
    match graph {
        Ok(_) => {
            Err(invalid!("{} bytes are neither a GraphDef, a MetaGraphDef nor a SavedModel", bytes.len())
                .with_help("its nodes have no ops; check that the file is a graph"))
        }
        Err(e) => Err(invalid!("{e}").note("nor are they a MetaGraphDef or a SavedModel")),
    }
}

/// Every node has a name and an op; an empty graph has at least nothing else.
fn plausible(def: &GraphDef) -> bool {
    def.node.iter().all(|n| !n.name.is_empty() && !n.op.is_empty())
}

fn read_text(text: &str) -> Result<GraphFile> {
    // The first field that only one of the forms has decides; the error is about the form that the text looks like.
    let starts = |field: &str| {
        text.lines().any(|l| l.strip_prefix(field).is_some_and(|r| r.trim_start().starts_with(['{', ':'])))
    };
    if starts("saved_model_schema_version") || starts("meta_graphs") {
        return from_text(text).map(GraphFile::SavedModel).map_err(|e| invalid!("{e}"));
    }
    if starts("meta_info_def") || starts("graph_def") || starts("collection_def") {
        return from_text(text).map(|m| GraphFile::MetaGraph(Box::new(m))).map_err(|e| invalid!("{e}"));
    }
    from_text(text).map(GraphFile::Graph).map_err(|e| invalid!("{e}"))
}

/// Text has no control characters but those that lay it out.
fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
