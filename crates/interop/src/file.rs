//! [`read_graph`]: a graph from the bytes of a file in any of its forms. [`decode_graph_def`] and
//! [`check_weight`]: messages that came from elsewhere, weighed before they are decoded.

use crate::{ImportOptions, Imported, import_graph_def, import_meta_graph};
use millstream_graph::Graph;
use millstream_proto::{
    GraphDef, MetaGraphDef, SavedModel, decode, encode, from_text, text_weight, to_text, weight, weight_of,
};
use millstream_tensor::{Code, Error, Result, invalid};

/// The graph of a file.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one per file")]
pub enum GraphFile {
    /// A graph without anything else.
    Graph(GraphDef),
    /// A graph with collections and signatures.
    MetaGraph(Box<MetaGraphDef>),
    /// A SavedModel: one or more graphs, each with its tags.
    SavedModel(SavedModel),
}

impl GraphFile {
    /// Returns the name of the message.
    pub fn kind(&self) -> &'static str {
        match self {
            GraphFile::Graph(_) => "GraphDef",
            GraphFile::MetaGraph(_) => "MetaGraphDef",
            GraphFile::SavedModel(_) => "SavedModel",
        }
    }

    /// Returns the message in wire format.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            GraphFile::Graph(graph) => encode(graph),
            GraphFile::MetaGraph(meta) => encode(&**meta),
            GraphFile::SavedModel(model) => encode(model),
        }
    }

    /// Returns the message in text form.
    pub fn to_text(&self) -> Result<String> {
        let text = match self {
            GraphFile::Graph(graph) => to_text(graph),
            GraphFile::MetaGraph(meta) => to_text(&**meta),
            GraphFile::SavedModel(model) => to_text(model),
        };
        text.map_err(|e| invalid!("{e}"))
    }

    /// Adds the graph to `graph`, with its contexts and collections.
    pub fn import(&self, graph: &Graph, options: &ImportOptions) -> Result<Imported> {
        match self.meta_graph()? {
            Some(meta) => import_meta_graph(graph, meta, options),
            None => import_graph_def(graph, self.graph_def()?, options),
        }
    }

    /// Returns the graph; for a SavedModel the one tagged `serve`, or the only one.
    pub fn graph_def(&self) -> Result<&GraphDef> {
        match self {
            GraphFile::Graph(graph) => Ok(graph),
            _ => match self.meta_graph()? {
                Some(MetaGraphDef { graph_def: Some(graph), .. }) => Ok(graph),
                _ => Err(invalid!("the file is a MetaGraphDef without a graph")),
            },
        }
    }

    /// Returns the `MetaGraphDef`, if the file has more than the graph.
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
/// The forms share field numbers, but files of one can hardly be read as another: field 1 of a `SavedModel`
/// is a number, that of the others a message, and a `MetaGraphDef` read as a `GraphDef` has nodes without
/// ops.
///
/// A file that would take more memory, with its messages, than [`ImportOptions::memory_limit`] is by default
/// is an error.
pub fn read_graph(bytes: &[u8]) -> Result<GraphFile> {
    read_graph_within(bytes, ImportOptions::default().memory_limit)
}

/// As [`read_graph`], with a limit for the memory that the file and its messages take, in bytes.
pub fn read_graph_within(bytes: &[u8], memory_limit: usize) -> Result<GraphFile> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text(text) => {
            check_text_weight(text, memory_limit)?;
            read_text(text)
        }
        _ => read_binary(bytes, memory_limit),
    }
}

/// Decodes a `GraphDef`. One that would take more memory than `memory_limit`, in bytes, together with what it
/// is decoded from, is an error before anything is allocated for it.
pub fn decode_graph_def(bytes: &[u8], memory_limit: usize) -> Result<GraphDef> {
    affordable(bytes, weight::<GraphDef>(bytes), memory_limit)?;
    decode(bytes).map_err(|e| invalid!("{e}"))
}

/// An error if these bytes and the message `name` (`GraphDef`) that is decoded from them would take more
/// memory than `memory_limit`. For front ends that decode messages themselves.
pub fn check_weight(name: &str, bytes: &[u8], memory_limit: usize) -> Result<()> {
    affordable(bytes, weight_of(&format!("tensorflow.{name}"), bytes), memory_limit)
}

/// As [`check_weight`], for the text form of any message.
pub fn check_text_weight(text: &str, memory_limit: usize) -> Result<()> {
    affordable(text.as_bytes(), text_weight(text), memory_limit)
}

/// An error if a file and its messages, which take `weight` bytes, exceed the limit. The file stays in memory
/// while it is decoded.
fn affordable(file: &[u8], weight: usize, limit: usize) -> Result<()> {
    let taken = weight.saturating_add(file.len());
    match taken <= limit {
        true => Ok(()),
        false => {
            let text = format!(
                "the file of the graph and its messages take {taken} bytes, over the limit of {limit} bytes"
            );
            Err(Error::new(Code::ResourceExhausted, text)
                .with_help("raise the memory limit if you trust the graph"))
        }
    }
}

fn read_binary(bytes: &[u8], memory_limit: usize) -> Result<GraphFile> {
    affordable(bytes, weight::<GraphDef>(bytes), memory_limit)?;
    let failed = match decode::<GraphDef>(bytes) {
        Ok(def) if plausible(&def) => return Ok(GraphFile::Graph(def)),
        // It does not stay in memory beside the next form.
        Ok(_) => None,
        Err(error) => Some(error),
    };
    affordable(bytes, weight::<MetaGraphDef>(bytes), memory_limit)?;
    if let Ok(meta) = decode::<MetaGraphDef>(bytes)
        && meta.graph_def.as_ref().is_some_and(plausible)
    {
        return Ok(GraphFile::MetaGraph(Box::new(meta)));
    }
    affordable(bytes, weight::<SavedModel>(bytes), memory_limit)?;
    if let Ok(model) = decode::<SavedModel>(bytes)
        && model.meta_graphs.iter().any(|m| m.graph_def.is_some())
    {
        return Ok(GraphFile::SavedModel(model));
    }
    match failed {
        None => {
            Err(invalid!("{} bytes are neither a GraphDef, a MetaGraphDef nor a SavedModel", bytes.len())
                .with_help("its nodes have no ops; check that the file is a graph"))
        }
        Some(e) => Err(invalid!("{e}").note("nor are they a MetaGraphDef or a SavedModel")),
    }
}

/// Returns whether every node has a name and an op.
fn plausible(def: &GraphDef) -> bool {
    def.node.iter().all(|n| !n.name.is_empty() && !n.op.is_empty())
}

fn read_text(text: &str) -> Result<GraphFile> {
    // The first field that only one of the forms has decides which form the error is about.
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

/// Returns whether this is not empty, and has no control characters except white space.
fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
