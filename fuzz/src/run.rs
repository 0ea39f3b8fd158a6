//! [`run_all`]: runs a graph from an untrusted source; and the limits that all targets set.

use crate::files::Folder;
use millstream::engine::graph::{Graph, NodeId};
use millstream::engine::interop::ImportOptions;
use millstream::engine::runtime::{FeedList, FetchList, Target};
use millstream::{FileAccess, Session, SessionOptions, Shape, Tensor};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// The memory limit of an import and of a run, in bytes: what the command line allows the graph of a file by
/// default.
pub const MEMORY_LIMIT: usize = 512 << 20;

/// The time limit of a run. A run that takes far longer ignored its deadline, which the fuzzer's `-timeout`
/// detects.
const TIMEOUT: Duration = Duration::from_millis(200);

/// The number of nodes that are also run alone: a failing node hides what the others would have done.
const N_ALONE: usize = 6;

/// Import options with the limits.
pub fn import_options() -> ImportOptions {
    ImportOptions { memory_limit: MEMORY_LIMIT, ..ImportOptions::default() }
}

/// Runs everything that a graph computes, at once, and some nodes alone, with zeros for its placeholders.
/// `choice` selects the settings. The graph may read and write the files of a folder that is the process's
/// current one, so that short names lead there, and no others.
pub fn run_all(graph: &Graph, choice: usize) {
    let folder = sandbox();
    let access = FileAccess::folders([folder]);
    let Some(session) = session_of(graph, choice, access) else { return };
    run_nodes(&session, choice);
    drop(session);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Another thread may have removed it.
        let _gone = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
    }
}

/// The folder for the files of graphs.
fn sandbox() -> &'static Path {
    static FOLDER: OnceLock<Folder> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = Folder::new();
        std::env::set_current_dir(folder.path()).expect("the folder is there");
        folder
    });
    folder.path()
}

/// A session with the limits, whose graph may open these files.
pub fn session_of(graph: &Graph, choice: usize, files: FileAccess) -> Option<Session> {
    let options = SessionOptions {
        threads: Some(1 + choice % 2),
        hand_out_all: choice % 8 == 1,
        parallel_iterations: [None, Some(1), Some(2), Some(u32::MAX)][choice / 8 % 4],
        memory_limit: Some(MEMORY_LIMIT),
        files,
        timeout: Some(TIMEOUT),
        print: Some(Box::new(|_| ())),
        ..SessionOptions::default()
    };
    Session::with_options(graph, options).ok()
}

fn run_nodes(session: &Session, choice: usize) {
    let graph = session.graph();
    let (sinks, nodes) = graph.read(|g| {
        let mut used = vec![false; g.nodes().len()];
        for input in g.nodes().iter().flat_map(|n| n.inputs.iter()) {
            if let Some(used) = used.get_mut(input.node.index()) {
                *used = true;
            }
        }
        let nodes: Vec<NodeId> = (0..used.len() as u32).map(NodeId).collect();
        let sinks: Vec<NodeId> =
            nodes.iter().zip(&used).filter(|(_, used)| !**used).map(|(n, _)| *n).collect();
        (sinks, nodes)
    });
    let run = |asked: Vec<NodeId>| {
        let targets = asked.into_iter().map(Target::Operation).collect();
        let _ = session.run::<()>(FetchList(targets), zeros(graph));
    };
    run(sinks);
    let step = nodes.len().div_ceil(N_ALONE).max(1);
    for node in nodes.into_iter().skip(choice % step).step_by(step) {
        run(vec![node]);
    }
}

/// Zeros for every placeholder of numbers or texts. Unknown sizes become 1.
fn zeros(graph: &Graph) -> FeedList {
    let mut feeds = FeedList::new();
    for op in graph.operations().into_iter().filter(|op| op.op_type() == "Placeholder") {
        let Some(output) = op.outputs().first().copied() else { continue };
        let shape = output.shape();
        let dims = shape.dims().unwrap_or_default().iter().map(|d| d.unwrap_or(1));
        let value = output.dtype().and_then(|dtype| Tensor::zeros(dtype, Shape::new(dims)));
        if let Ok(value) = value {
            feeds = feeds.and(output, value);
        }
    }
    feeds
}
