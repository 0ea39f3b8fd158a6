//! [`dot`]: a picture of a graph in Graphviz's language.
//!
//! Each loop and each branch of a cond is a cluster, nested as in the graph. Solid edges carry values and are
//! labelled with their types; dashed edges are control edges; bold edges lead back to the start of a loop;
//! dotted edges carry the predicate of a `Switch`. A `Switch` that brings a value into one branch is drawn in
//! that branch.

use crate::attr::Attr;
use crate::graph::GraphData;
use crate::ids::{NodeId, Port};
use crate::loops::is_back_edge;
use crate::node::Node;
use crate::op::Role;
use crate::outline::{Outline, RegionKind};
use millstream_tensor::Result;
use std::fmt::Write;

/// The graph as the text of a `.dot` file. An error if its loops are not well formed.
pub fn dot(graph: &GraphData) -> Result<String> {
    let outline = Outline::of(graph)?;
    let mut out = String::from(concat!(
        "digraph millstream {\n",
        "  graph [rankdir=TB, fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, style=rounded, nodesep=0.3];\n",
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, height=0.3];\n",
        "  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=8, color=\"#404040\", fontcolor=\"#606060\", arrowsize=0.7];\n",
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

/// Writes the nodes, each in its cluster. Uses a worklist, since clusters may be nested deeply.
fn clusters(graph: &GraphData, outline: &Outline, out: &mut String) {
    let children = outline.children();
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); outline.regions.len()];
    for (i, region) in places(graph, outline).into_iter().enumerate() {
        members[region as usize].push(NodeId(i as u32));
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
                let it = &outline.loops[l];
                let label = format!("loop {}\nparallel_iterations {}\n", it.name, it.parallel_iterations);
                Some((label, "color=\"#3060a0\", fontcolor=\"#3060a0\", penwidth=1.5, style=\"rounded\""))
            }
            RegionKind::Branch(c, taken) => {
                let label = format!("{} is {taken}\n", outline.conds[c as usize].name);
                Some((label, "color=\"#a07020\", fontcolor=\"#a07020\", style=\"rounded,dashed\""))
            }
        };
        if let Some((label, look)) = title {
            let _ = writeln!(out, "{indent}subgraph cluster_{region} {{");
            let _ = writeln!(out, "{indent}  graph [label={}, labeljust=l, {look}];", quoted(&label, "\\l"));
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

/// The region in which each node is drawn. A `Switch` of which only one side is read is drawn in that branch.
pub(crate) fn places(graph: &GraphData, outline: &Outline) -> Vec<u32> {
    let nodes = graph.nodes();
    let mut places: Vec<u32> = (0..nodes.len() as u32).map(|i| outline.region_of(NodeId(i))).collect();
    let mut read = vec![[false; 2]; nodes.len()];
    for port in nodes.iter().flat_map(|n| &n.inputs) {
        if let Some(read) = read.get_mut(port.node.index()) {
            read[usize::from(port.index != 0)] = true;
        }
    }
    for cond in &outline.conds {
        for switch in &cond.switches {
            match read[switch.index()] {
                [true, false] => places[switch.index()] = cond.branches[0],
                [false, true] => places[switch.index()] = cond.branches[1],
                _ => {}
            }
        }
    }
    places
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
    format!("label={}, tooltip={}{color}", quoted(&label, "\\n"), quoted(node.name(), "\\n"))
}

fn edges(graph: &GraphData, id: NodeId, node: &Node, out: &mut String) {
    for (i, &input) in node.inputs.iter().enumerate() {
        let Ok(from) = graph.node(input.node) else { continue };
        if node.role() == Role::Switch && i == 1 {
            let which = quoted(which(from, input).trim_end_matches([':', ' ']), "\\n");
            let look = "style=dotted, color=\"#a07020\", arrowsize=0.5";
            let _ = writeln!(out, "  {} -> {id} [label={which}, {look}];", input.node);
            continue;
        }
        let label = edge_label(graph, input, from);
        let back = is_back_edge(from.role(), node.role());
        let look = match back {
            // Without `constraint=false`, a back edge would place its Merge below the NextIteration.
            true => ", style=bold, color=\"#3060a0\", constraint=false",
            false => "",
        };
        // Room on both sides keeps the text off the lines.
        let label = if back { format!(" back: {label} ") } else { format!(" {label} ") };
        let _ = writeln!(out, "  {} -> {id} [label={}{look}];", input.node, quoted(&label, "\\n"));
    }
    for control in &node.controls {
        let _ = writeln!(out, "  {control} -> {id} [style=dashed, arrowhead=open];");
    }
}

/// The label of a port, if its node has several outputs.
fn which(from: &Node, port: Port) -> String {
    match (from.role(), port.index) {
        (Role::Switch, 0) => "false: ".to_owned(),
        (Role::Switch, _) => "true: ".to_owned(),
        (_, 0) => String::new(),
        (_, k) => format!(":{k} "),
    }
}

fn edge_label(graph: &GraphData, port: Port, from: &Node) -> String {
    let which = which(from, port);
    match graph.type_of(port) {
        Ok(ty) => format!("{which}{ty}{}", graph.shape_of(port)),
        Err(_) => which,
    }
}

/// A quoted string. `end` ends each line: `\n` centres it, `\l` aligns it to the left.
fn quoted(text: &str, end: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str(end),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
