//! Graph files: read, recognised and imported.

use crate::failure::file_error;
use millstream::Code;
use millstream::engine::interop::{GraphFile, ImportOptions, read_graph};
use millstream::prelude::*;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Reads a graph file. `-` is standard input; for the folder of a SavedModel, its `saved_model.pb` is read. A
/// file of more than `limit` bytes is an error.
pub(crate) fn file(path: &Path, limit: Option<usize>) -> Result<GraphFile> {
    let bytes = match path.as_os_str() == "-" {
        true => bytes(io::stdin().lock(), path, limit)?,
        false => {
            let inside: PathBuf = path.join("saved_model.pb");
            let path = if path.is_dir() { &inside } else { path };
            bytes(File::open(path).map_err(|e| file_error("open", path, &e))?, path, limit)?
        }
    };
    if bytes.is_empty() {
        return Err(Error::invalid(format!("`{}` is empty: it is not a graph", path.display())));
    }
    read_graph(&bytes).map_err(|e| e.note(format!("in file      `{}`", path.display())))
}

fn bytes(from: impl Read, path: &Path, limit: Option<usize>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = limit.map_or(u64::MAX, |l| l as u64);
    from.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| file_error("read", path, &e))?;
    match bytes.len() as u64 > most {
        false => Ok(bytes),
        true => Err(Error::new(
            Code::ResourceExhausted,
            format!("the file `{}` has more bytes than the memory limit of {most}", path.display()),
        )),
    }
}

/// Imports the graph of a file, by the deadline.
pub(crate) fn import(file: &GraphFile, limit: Option<usize>, deadline: Option<Instant>) -> Result<Graph> {
    let graph = Graph::new();
    let mut options = ImportOptions { deadline, ..ImportOptions::default() };
    if let Some(limit) = limit {
        options.memory_limit = limit;
    }
    file.import(&graph, &options)?;
    Ok(graph)
}
