//! A program as text: a line for each node, by frame.
//!
//! ```text
//! program of 9 nodes in 2 frames
//!   feeds p0
//!   fetches p8:0
//! root
//!   p0 feed `n:0` -> i32[]
//! frame1 `while/while_context` in root, parallel_iterations 10
//!   p2 Enter `while/Enter` (p1:0 i32[]) -> i32[]
//!   p4 Less `while/Less` (p3:0 i32[], p0:0 i32[]) after p1 -> bool[]
//! ```
//!
//! A node's line has its inputs with their types, its control inputs and the types of its outputs. It stands
//! in the frame that its outputs live in.

use crate::ids::FrameId;
use crate::program::{Program, ProgramKind, ProgramNode};
use std::fmt::{self, Debug, Display, Formatter};

impl Debug for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program of {} nodes in {} frames", self.nodes.len(), self.frames.len())?;
        let feeds = self.feeds.iter().map(|feed| feed.map_or("unused".to_owned(), |n| n.to_string()));
        row(f, "feeds", feeds)?;
        row(f, "fetches", &self.fetches)?;
        row(f, "every", &self.every)?;
        row(f, "watched", &self.watched)?;
        row(f, "targets", &self.targets)?;
        for (frame, of) in self.frames.entries() {
            match frame {
                FrameId::ROOT => writeln!(f, "root")?,
                _ => {
                    write!(f, "{frame} `{}` in ", of.name)?;
                    match of.parent {
                        FrameId::ROOT => f.write_str("root")?,
                        parent => write!(f, "{parent}")?,
                    }
                    writeln!(f, ", parallel_iterations {}", of.parallel_iterations)?;
                }
            }
            for (n, node) in self.nodes.entries().filter(|(_, node)| node.frame == frame) {
                write!(f, "  {n} {} `{}`", node.op(), node.name())?;
                self.node_line(f, node)?;
            }
        }
        Ok(())
    }
}

impl Program {
    fn node_line(&self, f: &mut Formatter<'_>, node: &ProgramNode) -> fmt::Result {
        for (i, source) in node.inputs.iter().enumerate() {
            f.write_str(if i == 0 { " (" } else { ", " })?;
            write!(f, "{source} {}", Type(&self.nodes[source.node], source.index))?;
        }
        f.write_str(if node.inputs.is_empty() { "" } else { ")" })?;
        for (i, control) in node.controls.iter().enumerate() {
            write!(f, "{} {control}", if i == 0 { " after" } else { "," })?;
        }
        for index in 0..node.n_outputs() as u32 {
            f.write_str(if index == 0 { " -> " } else { ", " })?;
            write!(f, "{}", Type(node, index))?;
        }
        writeln!(f)
    }
}

/// The type of an output: `f32[?,3]`.
struct Type<'a>(&'a ProgramNode, u32);

impl Display for Type<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Type(node, index) = self;
        match &node.kind {
            ProgramKind::Feed(_, _, dtype) => write!(f, "{dtype}")?,
            ProgramKind::Node(info) => match info.output_types.get(*index as usize) {
                Some(ty) => write!(f, "{ty}")?,
                None => f.write_str("?")?,
            },
        }
        node.shapes.get(*index as usize).map_or(Ok(()), |shape| write!(f, "{shape}"))
    }
}

/// A line of what the program is for, if there is any.
fn row<T: Display>(f: &mut Formatter<'_>, title: &str, items: impl IntoIterator<Item = T>) -> fmt::Result {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.is_empty() {
        true => Ok(()),
        false => writeln!(f, "  {title} {}", items.join(", ")),
    }
}
