//! [`dot`]: a graph as a picture, in Graphviz's language.
//!
//! A cluster per loop and per branch of a cond, nested as they are. Solid edges carry values and are labelled with their types, dashed
//! ones only order, bold ones lead back to the start of the loop.

use crate::attr::Attr;
use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::op::Role;
use crate::outline::{Outline, RegionKind};
use millstream_tensor::Result;
use std::fmt::Write;

/// The graph as the text of a `.dot` file. An error where its loops are not well formed.
pub fn dot(graph: &GraphData) -> Result<String> {
    let outline = Outline::of(graph)?;
    let mut out = String::from(concat!(
        "digraph millstream {\n",
        "  graph [rankdir=TB, fontname=\"Helvetica\", fontsize=11, style=rounded];\n",
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", fontsize=10, height=0.3];\n",
        "  edge [fontname=\"Helvetica\", fontsize=8, color=\"#404040\", fontcolor=\"#606060\", arrowsize=0.7];\n",
    ));
    clusters(graph, &outline, &mut out);
    for (i, node) in graph.nodes().iter().enumerate() {
        edges(graph, NodeId(i as u32), node, &mut out);
    }
    out.push_str("}\n");
    Ok(out)
}

enum Turn {
    Open(u32),
    Close(u32),
}

/// The nodes, each in its cluster. A worklist, as clusters may be nested deeply.
fn clusters(graph: &GraphData, outline: &Outline, out: &mut String) {
    let children = outline.children();
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); outline.regions.len()];
    for i in 0..graph.nodes().len() as u32 {
        members[outline.region_of(NodeId(i)) as usize].push(NodeId(i));
    }
    let mut work = vec![Turn::Open(0)];
    while let Some(turn) = work.pop() {
        let (Turn::Open(region) | Turn::Close(region)) = turn;
        let depth = outline.regions[region as usize].depth as usize;
        let indent = "  ".repeat(depth.min(20));
        if let Turn::Close(region) = turn {
            if region != 0 {
                let _ = writeln!(out, "{indent}}}");
            }
            continue;
        }
        let title = match outline.regions[region as usize].kind {
            RegionKind::Root => None,
            RegionKind::Loop(l) => {
                let it = &outline.loops[l as usize];
                let label = format!("loop {}\nparallel_iterations {}", it.name, it.parallel_iterations);
                Some((label, "color=\"#3060a0\", fontcolor=\"#3060a0\", penwidth=1.5, style=\"rounded\""))
            }
            RegionKind::Branch(c, taken) => {
                let label = format!("{} is {taken}", outline.conds[c as usize].name);
                Some((label, "color=\"#a07020\", fontcolor=\"#a07020\", style=\"rounded,dashed\""))
            }
        };
        if let Some((label, look)) = title {
            let _ = writeln!(out, "{indent}subgraph cluster_{region} {{");
            let _ = writeln!(out, "{indent}  graph [label={}, labeljust=l, {look}];", quoted(&label));
        }
        for &id in &members[region as usize] {
            if let Ok(node) = graph.node(id) {
                let _ = writeln!(out, "{indent}  {id} [{}];", looks(node));
            }
        }
        work.push(Turn::Close(region));
        work.extend(children[region as usize].iter().rev().map(|r| Turn::Open(*r)));
    }
}

fn looks(node: &Node) -> String {
    let short = node.name().rsplit_once('/').map_or(node.name(), |(_, last)| last);
    let mut label = short.to_owned();
    if short != node.op() {
        let _ = write!(label, "\n{}", node.op());
    }
    if let (Role::Const, Some(Attr::Tensor(value))) = (node.role(), node.info.attrs.get("value")) {
        let text = value.to_string();
        let shown: String = text.chars().take(40).collect();
        let _ = write!(label, "\n{shown}{}", if shown.len() < text.len() { ".." } else { "" });
    }
    let color = match node.role() {
        Role::Placeholder => ", fillcolor=\"#d8ecd0\"",
        Role::Const => ", fillcolor=\"#eeeeee\"",
        Role::Enter | Role::Exit | Role::NextIteration => ", fillcolor=\"#d6e4f5\"",
        Role::Merge | Role::Switch | Role::LoopCond => ", fillcolor=\"#f7e6c4\"",
        _ => "",
    };
    format!("label={}, tooltip={}{color}", quoted(&label), quoted(node.name()))
}

fn edges(graph: &GraphData, id: NodeId, node: &Node, out: &mut String) {
    for &input in &node.inputs {
        let Ok(from) = graph.node(input.node) else { continue };
        let label = edge_label(graph, input, from);
        let back = from.role() == Role::NextIteration && node.role() == Role::Merge;
        let look = match back {
            // A back edge may not push its Merge below the NextIteration.
            true => ", style=bold, color=\"#3060a0\", constraint=false",
            false => "",
        };
        let label = if back { format!("back: {label}") } else { label };
        let _ = writeln!(out, "  {} -> {id} [label={}{look}];", input.node, quoted(&label));
    }
    for control in &node.controls {
        let _ = writeln!(out, "  {control} -> {id} [style=dashed, arrowhead=open];");
    }
}

fn edge_label(graph: &GraphData, port: Port, from: &Node) -> String {
    let which = match (from.role(), port.index) {
        (Role::Switch, 0) => "false: ".to_owned(),
        (Role::Switch, _) => "true: ".to_owned(),
        (_, 0) => String::new(),
        (_, k) => format!(":{k} "),
    };
    match graph.type_of(port) {
        Ok(ty) => format!("{which}{ty}{}", graph.shape_of(port)),
        Err(_) => which,
    }
}

/// A string of the language, lines centred.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
