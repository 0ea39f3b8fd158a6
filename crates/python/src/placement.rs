//! Which devices a session has, and nodes that ask for others: TensorFlow refuses to run graphs with such nodes, and so does this. All work is
//! done by the same threads, whichever of its devices a node asks for.

use crate::graph::Graph;
use millstream::graph::{Node, Port};
use millstream::runtime::Target;
use millstream::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// The devices of a session.
pub struct Placement {
    /// How many CPUs it says it has.
    cpus: usize,
    /// Whether nodes that ask for another device of this machine run on a CPU.
    soft: bool,
    /// Whether only the nodes that a run needs are looked at.
    pruned: bool,
    /// How many nodes of the graph have been looked at.
    seen: AtomicUsize,
    /// Those that ask for what is not there.
    misplaced: Mutex<Vec<usize>>,
}

impl Placement {
    /// The devices that a configuration asks for.
    pub fn new(cpus: usize, soft: bool, pruned: bool) -> Placement {
        Placement { cpus, soft, pruned, seen: AtomicUsize::new(0), misplaced: Mutex::default() }
    }

    /// An error if a node that is to run asks for a device that is not there.
    pub fn check(&self, graph: &Graph, targets: &[Target], fed: impl Iterator<Item = Port>) -> Result<()> {
        let graph = graph.inner();
        let len = graph.len();
        let seen = self.seen.swap(len, AcqRel);
        let mut misplaced = self.misplaced.lock();
        if seen == len && misplaced.is_empty() {
            return Ok(());
        }
        graph.read(|g| {
            let nodes = g.nodes();
            let new = nodes.iter().enumerate().skip(seen).filter(|(_, n)| !self.has(&n.device));
            misplaced.extend(new.map(|(i, _)| i));
            let needed = (self.pruned && !misplaced.is_empty()).then(|| needed(nodes, targets, fed));
            let wanted = || {
                misplaced
                    .iter()
                    .map(|&i| (i, &nodes[i]))
                    .filter(|(i, _)| needed.as_ref().is_none_or(|n| n.contains(i)))
            };
            // As TensorFlow, which places constants last.
            let first = wanted().find(|(_, node)| node.info.op.name != "Const").or_else(|| wanted().next());
            first.map_or(Ok(()), |(_, node)| Err(self.refused(node)))
        })
    }

    /// Whether a node may ask for this.
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

    /// Whether there is a device `cpu:1`, `cpu` or `cpu:*`, or another one will do.
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

/// What a run of these needs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_devices_there_are() {
        let two = Placement::new(2, false, false);
        for device in
            ["", "/cpu:1", "/device:CPU:0", "/CPU:*", "/job:localhost/replica:0/task:0/cpu:1", "/task:0"]
        {
            assert!(two.has(device), "{device}");
        }
        for device in [
            "/cpu:2",
            "/gpu:0",
            "/device:GPU:0",
            "/job:worker",
            "/task:1",
            "/replica:1/cpu:0",
            "/device:FOO:0",
        ] {
            assert!(!two.has(device), "{device}");
        }
        let soft = Placement::new(1, true, false);
        assert!(soft.has("/cpu:7") && soft.has("/device:GPU:0"));
        assert!(!soft.has("/job:ps/task:0/cpu:0") && !soft.has("/task:1"));
    }
}
