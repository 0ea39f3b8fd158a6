//! [`restore_saved_model`]: the state of a SavedModel's graph.

use millstream_graph::{Graph, Op};
use millstream_interop::proto::collection_def::Kind;
use millstream_interop::proto::tensor_info::Encoding;
use millstream_interop::proto::{MetaGraphDef, TensorInfo};
use millstream_runtime::{FeedList, Session};
use millstream_tensor::{Result, Tensor, invalid};
use std::path::Path;

/// Restores the variables of a SavedModel's graph from its folder, then initializes its tables. Returns
/// whether the folder had values. The graph of the session must contain that of `meta`, under the same names.
pub fn restore_saved_model(session: &Session, meta: &MetaGraphDef, folder: impl AsRef<Path>) -> Result<bool> {
    let (folder, graph) = (folder.as_ref(), session.graph());
    let saved = folder.join("variables").join("variables");
    let restores = meta.saver_def.as_ref().filter(|s| !s.restore_op_name.is_empty());
    let found = millstream_checkpoint::exists(&saved);
    if let (true, Some(saver)) = (found, restores) {
        let restore = operation(graph, &saver.restore_op_name)?;
        let filename = graph.output(&saver.filename_tensor_name)?;
        let feeds = assets(graph, meta, folder)?.and(filename, text(&saved)?);
        session.run::<()>(restore, feeds)?;
    }
    if let Some(init) = initializer(meta) {
        session.run::<()>(operation(graph, init)?, assets(graph, meta, folder)?)?;
    }
    Ok(found && restores.is_some())
}

/// Returns the operation that initializes tables and the like.
fn initializer(meta: &MetaGraphDef) -> Option<&str> {
    let by_signature = meta.signature_def.get("__saved_model_init_op");
    let named = by_signature.and_then(|s| name(s.outputs.get("__saved_model_init_op")?));
    let in_collection = |key: &str| match meta.collection_def.get(key)?.kind.as_ref()? {
        Kind::NodeList(list) => list.value.first().map(String::as_str),
        _ => None,
    };
    named.or_else(|| in_collection("saved_model_main_op")).or_else(|| in_collection("legacy_init_op"))
}

/// Returns the paths of the model's asset files, as feeds of the tensors that hold them.
fn assets(graph: &Graph, meta: &MetaGraphDef, folder: &Path) -> Result<FeedList> {
    let mut feeds = FeedList::new();
    for asset in &meta.asset_file_def {
        if let Some(name) = asset.tensor_info.as_ref().and_then(name) {
            feeds = feeds.and(graph.output(name)?, text(&folder.join("assets").join(&asset.filename))?);
        }
    }
    Ok(feeds)
}

/// Returns the operation of a name, or of an output's name.
fn operation<'g>(graph: &'g Graph, name: &str) -> Result<Op<'g>> {
    graph.operation(name.split(':').next().unwrap_or(name))
}

fn name(info: &TensorInfo) -> Option<&str> {
    match info.encoding.as_ref()? {
        Encoding::Name(name) => Some(name),
        _ => None,
    }
}

fn text(path: &Path) -> Result<Tensor> {
    path.to_str().map(Tensor::str).ok_or_else(|| invalid!("the path `{}` is not valid UTF-8", path.display()))
}
