//! Devices of a session. As in TensorFlow, graphs with nodes that request unavailable devices are rejected.
//! All work is done by the same threads, whichever device a node requests.

use crate::graph::Graph;
use millstream::engine::graph::{Node, Port};
use millstream::engine::runtime::Target;
use millstream::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashSet;

/// The devices of a session.
pub struct Placement {
    /// The number of CPU devices.
    cpus: usize,
    /// Soft placement: whether nodes that request another device of this machine run on a CPU.
    soft: bool,
    /// Whether only the nodes needed by a run are checked.
    pruned: bool,
    looked: Mutex<Looked>,
}

/// Cached results for the graph's nodes. All fields are behind one lock, so that readers see nodes together
/// with their results.
#[derive(Default)]
struct Looked {
    /// The graph's number of edits when it was checked.
    edits: u64,
    /// The number of nodes checked.
    nodes: usize,
    /// Nodes that request unavailable devices.
    misplaced: Vec<usize>,
}

impl Placement {
    /// The devices that a configuration requests.
    pub fn new(cpus: usize, soft: bool, pruned: bool) -> Placement {
        Placement { cpus, soft, pruned, looked: Mutex::default() }
    }

    /// An error if a node of the run requests an unavailable device.
    pub fn check(&self, graph: &Graph, targets: &[Target], fed: impl Iterator<Item = Port>) -> Result<()> {
        graph.inner().read(|g| {
            let nodes = g.nodes();
            let mut looked = self.looked.lock();
            if looked.edits != g.edits() {
                *looked = Looked { edits: g.edits(), ..Looked::default() };
            }
            let new = nodes.iter().enumerate().skip(looked.nodes).filter(|(_, n)| !self.has(&n.device));
            looked.misplaced.extend(new.map(|(i, _)| i));
            looked.nodes = nodes.len();
            let misplaced = &looked.misplaced;
            if misplaced.is_empty() {
                return Ok(());
            }
            let needed = self.pruned.then(|| needed(nodes, targets, fed));
            let wanted = || {
                misplaced
                    .iter()
                    .map(|&i| (i, &nodes[i]))
                    .filter(|(i, _)| needed.as_ref().is_none_or(|n| n.contains(i)))
            };
            // As in TensorFlow, which places constants last.
            let first = wanted().find(|(_, node)| node.info.op.name != "Const").or_else(|| wanted().next());
            first.map_or(Ok(()), |(_, node)| Err(self.refused(node)))
        })
    }

    /// Whether the requested device is available.
    fn has(&self, device: &str) -> bool {
        device.split('/').filter(|part| !part.is_empty()).all(|part| {
            let lower = part.to_ascii_lowercase();
            match lower.split_once(':') {
                Some(("job", job)) => job == "localhost",
                Some(("replica" | "task", number)) => number == "0" || number == "*",
                Some(("device", rest)) => self.has_kind(rest),
                _ => self.has_kind(&lower),
            }
        })
    }

    /// Whether a device such as `cpu:1`, `cpu` or `cpu:*` is available or can be replaced.
    fn has_kind(&self, device: &str) -> bool {
        let (kind, number) = device.split_once(':').unwrap_or((device, "*"));
        let is_there = match number {
            "*" => true,
            number => number.parse::<usize>().is_ok_and(|n| n < self.cpus),
        };
        self.soft || kind == "*" || kind == "cpu" && is_there
    }

    fn refused(&self, node: &Node) -> Error {
        let cpus: Vec<String> =
            (0..self.cpus).map(|i| format!("/job:localhost/replica:0/task:0/device:CPU:{i}")).collect();
        let is_gpu = node.device.to_ascii_lowercase().contains("gpu:");
        let cuda =
            if is_gpu { " The requested device appears to be a GPU, but CUDA is not enabled." } else { "" };
        Error::invalid(format!(
            "Cannot assign a device for operation {}: {{{{node {}}}}} was explicitly assigned to {} but available devices are [ {} ]. Make sure the device specification refers to a valid device.{cuda}",
            node.name(),
            node.name(),
            node.device,
            cpus.join(", ")
        ))
        .with_help("`tf.ConfigProto(allow_soft_placement=True)` has it run all the same, if it asks for a device of this machine")
        .at_node(node.name(), node.info.op.name)
    }
}

/// The nodes that a run needs.
fn needed(nodes: &[Node], targets: &[Target], fed: impl Iterator<Item = Port>) -> HashSet<usize> {
    let fed: HashSet<Port> = fed.collect();
    let mut found = HashSet::new();
    let mut todo: Vec<usize> = targets
        .iter()
        .filter_map(|target| match target {
            Target::Value(port) | Target::Every(port) => (!fed.contains(port)).then_some(port.node.index()),
            Target::Operation(id) => Some(id.index()),
        })
        .collect();
    while let Some(id) = todo.pop() {
        let Some(node) = nodes.get(id).filter(|_| found.insert(id)) else { continue };
        todo.extend(node.inputs.iter().filter(|p| !fed.contains(p)).map(|p| p.node.index()));
        todo.extend(node.controls.iter().map(|c| c.index()));
    }
    found
}
