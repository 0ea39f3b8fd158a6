//! A plan as text: a line for each node, by frame, then what was left out and why.
//!
//! ```text
//! plan of 9 nodes, 5 left out
//! frame1 `while/while_context`: 2 slots, 10 iterations at a time
//!   x4 Less `while/Less` -> slot1 bool: scalar kernel0(slot0 i32, const1 i32) => x5
//! ```
//!
//! A node's line has its name, the slots of its outputs with their dtypes, what the machine does with which
//! inputs, and after the arrow the nodes that it tells. `_` is an output that nothing reads. `!` marks an
//! edge that passes no deadness on, `?` one that only a live token travels, `+` and `-` the sides of a
//! Switch. A root `step by step` runs without tokens, as long as no node is long and none has to wait.

use super::{Body, Fate, Input, Kind, Node, Place, Plan, To};
use crate::ids::{EdgeId, MergeId, PlanNode, SlotId, Span};
use millstream_graph::op::NodeInfo;
use millstream_graph::{Entity, FrameId};
use millstream_tensor::Tensor;
use std::fmt::{self, Debug, Display, Formatter};

impl Debug for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "plan of {} nodes, {} left out", self.nodes.len(), self.left_out.len())?;
        for (frame, of) in self.frames.entries() {
            let slots = of.uses.len();
            match frame {
                FrameId::ROOT => {
                    let how = if self.straight.is_some() { ", step by step" } else { "" };
                    writeln!(f, "root: {slots} slots{how}")?;
                }
                _ => {
                    let why = if self.serialized[frame] { ", because it writes variables" } else { "" };
                    writeln!(
                        f,
                        "{frame} `{}`: {slots} slots, {} iterations at a time{why}",
                        of.name, of.parallel
                    )?;
                }
            }
            self.nodes_of(frame).try_for_each(|(n, _)| self.node_line(f, n))?;
            if let Some(region) = self.regions[frame].as_ref().and_then(|it| it.region()) {
                write!(f, "{frame} as {}", region.code)?;
            }
        }
        if !self.constants.is_empty() {
            writeln!(f, "constants")?;
            self.constants.entries().try_for_each(|(id, value)| writeln!(f, "  {id} {}", Brief(value)))?;
        }
        if !self.left_out.is_empty() {
            writeln!(f, "left out")?;
        }
        for left in &self.left_out {
            write!(f, "  {} {} `{}`: {}", left.node, left.info.op.name, left.info.name, left.fate)?;
            match left.fate {
                Fate::Fused(reader) | Fate::Together(reader) => writeln!(f, " {reader}")?,
                _ => writeln!(f)?,
            }
        }
        Ok(())
    }
}

impl Plan {
    fn node_line(&self, f: &mut Formatter<'_>, n: PlanNode) -> fmt::Result {
        let (node, label) = (&self.nodes[n], &self.labels[n]);
        write!(f, "  {n} {} `{}`", label.op, label.name)?;
        let info = self.info(node);
        let slots = self.slots(node);
        let n_read = slots.iter().rposition(|slot| *slot != SlotId::NONE).map_or(0, |last| last + 1);
        for (i, slot) in slots[..n_read].iter().enumerate() {
            let place = match (*slot, node.kind) {
                (SlotId::NONE, _) => "_".to_owned(),
                (slot, Kind::Enter(frame, _)) => format!("{frame} {slot}"),
                (slot, Kind::Exit) => format!("outer {slot}"),
                (slot, _) => slot.to_string(),
            };
            write!(f, "{} {place}", if i == 0 { " ->" } else { "," })?;
            info.and_then(|info| info.output_types.get(i)).map_or(Ok(()), |ty| write!(f, " {ty}"))?;
        }
        f.write_str(": ")?;
        self.work(f, n)?;
        f.write_str("(")?;
        for (i, input) in self.inputs(node).iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, Shown(*input))?;
            info.and_then(|info| info.input_types.get(i)).map_or(Ok(()), |ty| write!(f, " {}", ty.dtype))?;
        }
        f.write_str(")")?;
        if self.labels[n].frame == FrameId::ROOT && self.start.ready.contains(&n) {
            f.write_str(" at the start")?;
        }
        if self.fate(n) == Fate::Once {
            f.write_str(" of the first run")?;
        }
        let mut arrow = " =>";
        let mut edges = |f: &mut Formatter<'_>, span: Span<EdgeId>, mark: &str| {
            for edge in span.of(&self.edges) {
                let passes = match edge.to() {
                    To::Node | To::Merge | To::MergeControl => "",
                    To::Weak => "!",
                    To::LiveOnly => "?",
                };
                write!(f, "{} {mark}{}{passes}", std::mem::take(&mut arrow), edge.node)?;
            }
            Ok(())
        };
        if let Kind::Switch(switch) = node.kind {
            let [no, yes] = self.switches[switch].edges;
            edges(f, no, "-")?;
            edges(f, yes, "+")?;
        }
        edges(f, node.edges, "")?;
        if let Some(&beside) = self.beside.get(&n) {
            edges(f, beside, "")?;
        }
        writeln!(f)
    }

    /// The declaration of a node that has a kernel.
    fn info(&self, node: &Node) -> Option<&NodeInfo> {
        match node.kind {
            Kind::Kernel(k) | Kind::Unary(_, k) | Kind::Binary(_, k) => Some(&self.kernels[k].info),
            _ => None,
        }
    }

    /// What the machine does with a node.
    fn work(&self, f: &mut Formatter<'_>, n: PlanNode) -> fmt::Result {
        let settles = |f: &mut Formatter<'_>, merge: MergeId| match merge {
            MergeId::NONE => Ok(()),
            merge => write!(f, " for {merge}"),
        };
        match self.nodes[n].kind {
            Kind::Unary(_, kernel) | Kind::Binary(_, kernel) => write!(f, "scalar {kernel}"),
            Kind::Kernel(kernel) => match &self.kernels[kernel].body {
                Body::Waits(_) => write!(f, "waiting {kernel}"),
                Body::Run(_) | Body::Prepared(_) => write!(f, "{kernel}"),
                Body::Group(group) => write!(f, "{kernel} of {group}"),
                Body::Fused(of) => write!(f, "{kernel} with {}", of.info.op.name),
            },
            Kind::Forward => f.write_str("forward"),
            Kind::Nothing => f.write_str("nothing"),
            Kind::Switch(switch) => write!(f, "{switch}"),
            Kind::Merge(merge) => match self.fate(n) {
                Fate::Bypassed => write!(f, "bypassed {merge}"),
                _ => write!(f, "{merge}"),
            },
            Kind::Enter(frame, merge) => {
                write!(f, "enter {frame}")?;
                settles(f, merge)
            }
            Kind::EnterConstant(frame, invariant) => write!(f, "enter {frame} as {invariant}"),
            Kind::Exit => f.write_str("exit"),
            Kind::NextIteration(merge) => {
                f.write_str("next iteration")?;
                settles(f, merge)
            }
            Kind::Feed => f.write_str("feed"),
            Kind::Fetch(fetch) => write!(f, "{fetch}"),
            Kind::Probe(probe) => write!(f, "{probe}"),
        }
    }
}

/// An input: `slot3`, `*slot3` where the variable is read that a reference leads to.
struct Shown(Input);

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.deref() {
            f.write_str("*")?;
        }
        match self.0.place() {
            Place::Slot(slot) => write!(f, "{slot}"),
            Place::Constant(constant) => write!(f, "{constant}"),
            Place::Invariant(invariant) => write!(f, "{invariant}"),
        }
    }
}

/// A constant: its value if it is a scalar, else its type.
struct Brief<'a>(&'a Tensor);

impl Display for Brief<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.shape().rank() {
            0 => write!(f, "{}", self.0),
            _ => write!(f, "{}{}", self.0.dtype(), self.0.shape()),
        }
    }
}
