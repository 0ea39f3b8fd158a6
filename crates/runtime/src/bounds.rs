//! [`Bounds`]: how often loops go round at the most, read off the graph: a counter that is compared with a constant or with what is fed.
//!
//! That is what `maximum_iterations` becomes, too. Nothing runs by it: it is told to people.

use millstream_graph::op::Role;
use millstream_graph::{Attr, GraphData, NodeId, Port};
use millstream_tensor::{DType, Tensor};
use std::collections::HashMap;

/// The bounds that are known, by the frames' names.
#[derive(Default, Debug)]
pub(crate) struct Bounds(HashMap<String, u64>);

/// How far values are followed through what passes them on.
const MOST_STEPS: usize = 64;

impl Bounds {
    /// Those of a graph, where these values are fed.
    pub(crate) fn of(graph: &GraphData, feeds: &[(Port, Tensor)]) -> Bounds {
        let finder = Finder { graph, feeds };
        let mut bounds = Bounds::default();
        for node in graph.nodes().iter().filter(|n| n.role() == Role::LoopCond) {
            if let Some((name, bound)) = node.inputs.first().and_then(|c| finder.condition(*c)) {
                bounds.0.insert(name, bound);
            }
        }
        bounds
    }

    pub(crate) fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

struct Finder<'a> {
    graph: &'a GraphData,
    feeds: &'a [(Port, Tensor)],
}

impl Finder<'_> {
    fn op(&self, id: NodeId) -> (&'static str, Role, &[Port]) {
        match self.graph.node(id) {
            Ok(node) => (node.op(), node.role(), &node.inputs),
            Err(_) => ("", Role::NoOp, &[]),
        }
    }

    /// The least bound that a condition says, with the frame: of what is joined by `and` every part holds.
    fn condition(&self, port: Port) -> Option<(String, u64)> {
        let mut least: Option<(String, u64)> = None;
        let mut parts = vec![port];
        for _ in 0..MOST_STEPS {
            let Some(part) = parts.pop() else { break };
            let (op, role, inputs) = self.op(part.node);
            match (op, inputs) {
                (_, [input, ..]) if role == Role::Identity => parts.push(*input),
                ("LogicalAnd", [a, b, ..]) => parts.extend([*a, *b]),
                ("Less", [a, b, ..]) => self.least(&mut least, *a, *b, false),
                ("LessEqual", [a, b, ..]) => self.least(&mut least, *a, *b, true),
                ("Greater", [a, b, ..]) => self.least(&mut least, *b, *a, false),
                ("GreaterEqual", [a, b, ..]) => self.least(&mut least, *b, *a, true),
                _ => {}
            }
        }
        least
    }

    fn least(&self, least: &mut Option<(String, u64)>, counter: Port, limit: Port, inclusive: bool) {
        let Some(found) = self.compared(counter, limit, inclusive) else { return };
        if least.as_ref().is_none_or(|(_, bound)| found.1 < *bound) {
            *least = Some(found);
        }
    }

    /// How often `counter < limit` holds, where the counter is a loop variable that grows by the same each time.
    fn compared(&self, counter: Port, limit: Port, inclusive: bool) -> Option<(String, u64)> {
        let merge = self.origin(counter, Role::Merge)?;
        let [enter, next] = *self.op(merge).2 else { return None };
        let name = match self.graph.node(enter.node).ok()?.info.attrs.get("frame_name") {
            Some(Attr::Str(name)) => name.text().to_string(),
            _ => return None,
        };
        let initial = self.number(*self.op(enter.node).2.first()?)?;
        let limit = self.number(limit)?;
        let (op, _, inputs) = self.op(self.op(next.node).2.first()?.node);
        let step = match (op, inputs) {
            ("Add" | "AddV2", [a, b]) if self.origin(*a, Role::Merge) == Some(merge) => self.number(*b)?,
            ("Add" | "AddV2", [a, b]) if self.origin(*b, Role::Merge) == Some(merge) => self.number(*a)?,
            _ => return None,
        };
        if step <= 0.0 || !(limit - initial).is_finite() {
            return None;
        }
        let steps = (limit - initial) / step;
        let n = if inclusive { steps.floor() + 1.0 } else { steps.ceil() };
        // The count is exact where the floats are.
        (n < 9e15).then_some((name, n.max(0.0) as u64))
    }

    /// The node of this role that a value comes from unchanged.
    fn origin(&self, mut port: Port, wanted: Role) -> Option<NodeId> {
        for _ in 0..MOST_STEPS {
            let (_, role, inputs) = self.op(port.node);
            if role == wanted {
                return Some(port.node);
            }
            if !matches!(role, Role::Identity | Role::Switch) {
                return None;
            }
            port = *inputs.first()?;
        }
        None
    }

    /// The number that a value is in every iteration, if a constant or a feed says so.
    fn number(&self, mut port: Port) -> Option<f64> {
        for _ in 0..MOST_STEPS {
            if let Some((_, value)) = self.feeds.iter().find(|(p, _)| *p == port) {
                return number(value);
            }
            let node = self.graph.node(port.node).ok()?;
            match node.role() {
                Role::Const => match node.info.attrs.get("value") {
                    Some(Attr::Tensor(value)) => return number(value),
                    _ => return None,
                },
                Role::Identity => port = *node.inputs.first()?,
                // A loop variable also enters, but it goes to a Merge, and nobody passes that.
                Role::Enter => port = *node.inputs.first()?,
                _ => return None,
            }
        }
        None
    }
}

fn number(value: &Tensor) -> Option<f64> {
    value.as_scalar()?;
    match value.dtype() {
        DType::I32 => value.to_scalar::<i32>().ok().map(f64::from),
        DType::I64 => value.to_scalar::<i64>().ok().map(|v| v as f64),
        DType::F32 => value.to_scalar::<f32>().ok().map(f64::from),
        DType::F64 => value.to_scalar::<f64>().ok(),
        _ => None,
    }
}
