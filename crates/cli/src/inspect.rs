//! `millstream inspect`: describes a graph file.

use crate::failure::Outcome;
use crate::json::{Json, object};
use crate::load::Limits;
use crate::plain::plain;
use crate::table::Table;
use clap::Args;
use millstream::engine::graph::loops::LoopId;
use millstream::engine::graph::outline::{Ends, Irregular, Outline, RegionKind};
use millstream::engine::graph::{Context, GraphData, NodeId, Port};
use millstream::engine::interop::proto::GraphDef;
use millstream::engine::interop::{GraphFile, MissingOp, missing_ops};
use millstream::prelude::*;
use millstream::{Code, registry};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

/// Describe a graph file
///
/// Lists inputs and outputs (guessed: placeholders, and values that nothing uses), the tree of loops and
/// conds with the loop variables, their types and invariants, functions, ops with their counts, and the op
/// types that are not supported. A graph that has such ops or is malformed is described as far as possible:
/// without the nodes that need such ops. The exit code tells whether all of it can run.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
A loop variable is shown as the name of its Enter, its type in every iteration, its initial value (with that
value's type, if different), its next value, and its result. A plain GraphDef does not record back_prop and
swap_memory, and maximum_iterations only by the counter that TensorFlow adds; what is not recorded is shown as
unknown. Conds are recognised by their switches; a cond that `cond` could not have built is marked irregular,
with the reason. Functions are expanded: a loop that TensorFlow 2 made of functions is shown as the loop that
it becomes.

Exit codes: 0 all of the graph can run; 1 it cannot (it has unsupported ops, it is malformed, or the file is not a
graph); 2 bad usage.

Examples:
  millstream inspect model.pb
  millstream inspect model.pb --json | jq -r '.missing[].op'"
)]
pub(crate) struct Options {
    /// The graph file, - for standard input, or the folder of a SavedModel
    graph: PathBuf,

    /// Print JSON [default: text]
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: Limits,
}

pub(crate) fn run(options: Options) -> Outcome {
    let limits = options.limits;
    let (text, imported) = limits.within("inspecting the graph", move || described(&options))?;
    let mut out = io::stdout().lock();
    out.write_all(plain(&String::from_utf8_lossy(&text)).as_bytes())?;
    out.flush()?;
    Ok(imported?)
}

/// The description, and the error if the graph cannot be imported.
fn described(options: &Options) -> Outcome<(Vec<u8>, Result<()>)> {
    let loaded = options.limits.read(&options.graph)?;
    let file = &loaded.file;
    let def = file.graph_def()?;
    let missing = missing_ops(def, registry())?;
    let imported = options.limits.import(&loaded);
    // Of a graph with unsupported ops, what can run is described.
    let known = match &imported {
        Err(e) if e.code() == Code::Unimplemented => options.limits.import_known(&loaded).ok(),
        whole => whole.as_ref().ok().cloned(),
    };
    let shown = known.map(|graph| graph.read(|g| Shown::of(g, def))).transpose()?;
    let mut out = Vec::new();
    match options.json {
        true => writeln!(out, "{}", json(file, def, shown.as_ref(), &missing, imported.as_ref().err()))?,
        false => text(&mut out, options, file, def, shown.as_ref(), &missing)?,
    }
    Ok((out, imported.map(drop)))
}

/// The description of a graph that could be imported. It is JSON, from which the text is made, so that both
/// agree.
struct Shown {
    inputs: Vec<Json>,
    outputs: Vec<Json>,
    operations: Vec<Json>,
    tree: Vec<Json>,
    n_loops: usize,
    n_conds: usize,
    /// The number of nodes that are left out.
    n_absent: usize,
}

impl Shown {
    fn of(g: &GraphData, def: &GraphDef) -> Result<Shown> {
        let outline = Outline::of(g)?;
        let mut ends = Ends::of(g, &outline);
        // Nodes made by expanding functions are not inputs or outputs of the graph.
        let names: BTreeSet<&str> = def.node.iter().map(|n| n.name.as_str()).collect();
        let own = |id: NodeId| g.node(id).is_ok_and(|n| names.contains(n.name()));
        ends.outputs.retain(|p| own(p.node));
        ends.operations.retain(|id| own(*id));
        let value = |p: &Port| {
            let op = g.node(p.node).map_or("", |n| n.op());
            object! { "name": name(g, *p), "type": type_of(g, *p), "op": op }
        };
        let operation = |id: &NodeId| {
            let (name, op) = g.node(*id).map_or(("", ""), |n| (n.name(), n.op()));
            object! { "name": name, "op": op }
        };
        Ok(Shown {
            inputs: ends.inputs.iter().map(value).collect(),
            outputs: ends.outputs.iter().map(value).collect(),
            operations: ends.operations.iter().map(operation).collect(),
            tree: tree(g, &outline),
            n_loops: outline.loops.loops().len(),
            n_conds: outline.conds.len(),
            n_absent: g.absent().len(),
        })
    }
}

fn name(g: &GraphData, port: Port) -> String {
    g.node(port.node).map_or_else(|_| "?".into(), |n| format!("{}:{}", n.name(), port.index))
}

fn type_of(g: &GraphData, port: Port) -> String {
    g.type_of(port).map_or_else(|_| "?".into(), |ty| format!("{ty}{}", g.shape_of(port)))
}

/// The loops and conds, each with those inside it. Built from the last region to the first, as inner regions
/// follow outer ones.
fn tree(g: &GraphData, outline: &Outline) -> Vec<Json> {
    let mut inside: Vec<Vec<Json>> = vec![Vec::new(); outline.regions.len()];
    let mut branches: BTreeMap<u32, [Vec<Json>; 2]> = BTreeMap::new();
    for (r, region) in outline.regions.iter().enumerate().rev() {
        let children: Vec<Json> = inside[r].drain(..).rev().collect();
        match region.kind {
            RegionKind::Root => return children,
            RegionKind::Loop(l) => {
                inside[region.parent as usize].push(loop_json(g, outline, l, children));
            }
            RegionKind::Branch(c, taken) => {
                let both = branches.entry(c).or_default();
                both[usize::from(taken)] = children;
                // The branch for false comes first in the list, so it comes last here.
                if !taken {
                    let [no, yes] = std::mem::take(both);
                    inside[region.parent as usize].push(cond_json(g, outline, c as usize, yes, no));
                }
            }
        }
    }
    Vec::new()
}

fn loop_json(g: &GraphData, outline: &Outline, l: LoopId, children: Vec<Json>) -> Json {
    let it = &outline.loops[l];
    let first = |id: NodeId| Port::new(id, 0);
    let variables: Json = it
        .variables
        .iter()
        .map(|v| {
            object! {
                "name": g.node(v.enter).map_or("", |n| n.name()),
                "invariant": type_of(g, first(v.merge.unwrap_or(v.enter))),
                "enters_as": v.initial.map(|p| type_of(g, p)),
                "initial": v.initial.map(|p| name(g, p)),
                "next": v.next.map(|p| name(g, p)),
                "result": v.exit.map(|id| name(g, first(id))),
            }
        })
        .collect();
    let constants: Json = it
        .invariants
        .iter()
        .filter_map(|id| Some((g.node(*id).ok()?, *g.node(*id).ok()?.inputs.first()?)))
        .map(|(enter, p)| object! { "name": name(g, p), "type": type_of(g, p), "enter": enter.name() })
        .collect();
    // These settings are only in the contexts of a `MetaGraphDef`, not in the primitive ops.
    let context = g.contexts().iter().filter(|c| c.name == it.name).find_map(Context::as_while);
    let said = |said: Option<bool>| said.map_or("unknown".to_owned(), |yes| yes.to_string());
    let back_prop = context.and_then(|c| c.back_prop);
    let bound = match context.and_then(|c| c.maximum_iterations) {
        Some(port) => name(g, port),
        None if back_prop.is_some() => "none".into(),
        None => "unknown".into(),
    };
    object! {
        "kind": "loop",
        "name": &it.name,
        "parallel_iterations": it.parallel_iterations,
        "maximum_iterations": bound,
        "back_prop": said(back_prop),
        "swap_memory": said(context.and_then(|c| c.swap_memory)),
        "condition": it.condition.as_ref().map(|c| name(g, c.value)),
        "variables": variables,
        "constants": constants,
        "inside": children,
    }
}

fn cond_json(g: &GraphData, outline: &Outline, c: usize, yes: Vec<Json>, no: Vec<Json>) -> Json {
    let it = &outline.conds[c];
    let results: Json = it
        .results
        .iter()
        .map(|id| object! { "name": name(g, Port::new(*id, 0)), "type": type_of(g, Port::new(*id, 0)) })
        .collect();
    let called = |id: NodeId| g.node(id).map_or("?", |n| n.name());
    let irregular = it.irregular.map(|why| match why {
        Irregular::TakesBoth(n) => format!("`{}` takes values from two branches", called(n)),
        Irregular::Merge(n) => format!("`{}` merges something other than its two branches", called(n)),
    });
    object! {
        "kind": "cond",
        "name": &it.name,
        "predicate": name(g, it.predicate),
        "irregular": irregular,
        "results": results,
        "when_true": yes,
        "when_false": no,
    }
}

fn counts(def: &GraphDef) -> Vec<(&str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &def.node {
        *counts.entry(&node.op).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(op, n)| (usize::MAX - n, *op));
    counts
}

fn functions(def: &GraphDef) -> Vec<Json> {
    let functions = def.library.iter().flat_map(|l| &l.function);
    functions
        .map(|f| {
            let (name, inputs, outputs) = f
                .signature
                .as_ref()
                .map_or(("", 0, 0), |s| (s.name.as_str(), s.input_arg.len(), s.output_arg.len()));
            object! { "name": name, "inputs": inputs, "outputs": outputs, "nodes": f.node_def.len() }
        })
        .collect()
}

fn producer(def: &GraphDef) -> Json {
    Json::Number(def.versions.as_ref().map_or(def.version, |v| v.producer).to_string())
}

fn json(
    file: &GraphFile,
    def: &GraphDef,
    shown: Option<&Shown>,
    missing: &BTreeMap<&str, MissingOp>,
    error: Option<&Error>,
) -> Json {
    let list = |pick: fn(&Shown) -> &Vec<Json>| shown.map(|s| Json::List(pick(s).clone()));
    let ops: Json = counts(def).into_iter().map(|(op, n)| object! { "op": op, "count": n }).collect();
    let missing: Json = missing
        .iter()
        .map(|(op, m)| object! { "op": *op, "count": m.count, "places": m.places.iter().collect::<Json>() })
        .collect();
    object! {
        "kind": file.kind(),
        "producer": producer(def),
        "nodes": def.node.len(),
        "inputs": list(|s| &s.inputs),
        "outputs": list(|s| &s.outputs),
        "operations": list(|s| &s.operations),
        "control_flow": list(|s| &s.tree),
        "functions": functions(def),
        "ops": ops,
        "missing": missing,
        "error": error.map(|e| object! { "code": e.code().name(), "message": e.message() }),
    }
}

fn text(
    out: &mut impl Write,
    options: &Options,
    file: &GraphFile,
    def: &GraphDef,
    shown: Option<&Shown>,
    missing: &BTreeMap<&str, MissingOp>,
) -> Outcome {
    let counts = counts(def);
    writeln!(
        out,
        "{}: {}, {} nodes of {} op types, producer version {}",
        options.graph.display(),
        file.kind(),
        def.node.len(),
        counts.len(),
        producer(def)
    )?;
    if !missing.is_empty() {
        let mut table = Table::indented(2);
        for (op, m) in missing {
            let more = if m.count > m.places.len() { ", .." } else { "" };
            table.row([(*op).to_owned(), m.count.to_string(), format!("{}{more}", m.places.join(", "))]);
        }
        let left_out = match shown {
            Some(Shown { n_absent: 0, .. }) => " (omitted: they only save and restore variables)".to_owned(),
            Some(Shown { n_absent, .. }) => format!(" (omitted: {n_absent} nodes are or need them)"),
            None => String::new(),
        };
        write!(out, "\nunsupported ops{left_out}:\n{table}")?;
    }
    if let Some(shown) = shown {
        for (title, list) in
            [("inputs", &shown.inputs), ("outputs", &shown.outputs), ("operations", &shown.operations)]
        {
            let mut table = Table::indented(2);
            for item in list {
                table.row([item.text("name"), item.text("type"), item.text("op")].map(str::to_owned));
            }
            if !list.is_empty() {
                write!(out, "\n{title} (guessed):\n{table}")?;
            }
        }
        if !shown.tree.is_empty() {
            writeln!(out, "\nloops and conds ({} and {}):", shown.n_loops, shown.n_conds)?;
            control_flow(out, &shown.tree)?;
        }
    }
    let functions = functions(def);
    if !functions.is_empty() {
        let mut table = Table::indented(2);
        for f in &functions {
            let n = |field| f.text(field).to_owned();
            table.row([
                n("name"),
                format!("{} inputs, {} outputs, {} nodes", n("inputs"), n("outputs"), n("nodes")),
            ]);
        }
        write!(out, "\nfunctions:\n{table}")?;
    }
    let mut table = Table::indented(2);
    for (op, n) in counts {
        table.row([op.to_owned(), n.to_string()]);
    }
    write!(out, "\nops:\n{table}")?;
    Ok(())
}

/// Writes the tree, outer loops before inner ones. Uses a worklist, since the tree may be deep.
fn control_flow(out: &mut impl Write, tree: &[Json]) -> Outcome {
    let mut work: Vec<(usize, Option<&str>, &Json)> = tree.iter().rev().map(|j| (1, None, j)).collect();
    while let Some((depth, heading, item)) = work.pop() {
        let indent = "  ".repeat(depth.min(40));
        if let Some(heading) = heading {
            writeln!(out, "{}{heading}", "  ".repeat(depth.saturating_sub(1).min(40)))?;
        }
        let mut inside: Vec<(usize, Option<&str>, &Json)> = Vec::new();
        if item.text("kind") == "loop" {
            writeln!(
                out,
                "{indent}loop `{}`: parallel_iterations {}, runs while `{}`",
                item.text("name"),
                item.text("parallel_iterations"),
                item.text("condition")
            )?;
            writeln!(
                out,
                "{indent}  maximum_iterations {}, back_prop {}, swap_memory {}",
                item.text("maximum_iterations"),
                item.text("back_prop"),
                item.text("swap_memory")
            )?;
            write!(out, "{}", variables(item, depth.min(40) * 2 + 2))?;
            let constants: Vec<_> = item
                .list("constants")
                .iter()
                .map(|c| format!("`{}` {} by `{}`", c.text("name"), c.text("type"), c.text("enter")))
                .collect();
            if !constants.is_empty() {
                writeln!(out, "{indent}  constant in every iteration: {}", constants.join(", "))?;
            }
            inside.extend(item.list("inside").iter().map(|j| (depth + 1, None, j)));
        } else {
            let results: Vec<_> = item
                .list("results")
                .iter()
                .map(|r| format!("`{}` {}", r.text("name"), r.text("type")))
                .collect();
            let results = if results.is_empty() { "none".into() } else { results.join(", ") };
            writeln!(
                out,
                "{indent}cond `{}` on `{}`: results {results}",
                item.text("name"),
                item.text("predicate")
            )?;
            if item.text("irregular") != "-" {
                writeln!(out, "{indent}  irregular, so it has no contexts: {}", item.text("irregular"))?;
            }
            for (branch, heading) in [("when_true", "when true:"), ("when_false", "when false:")] {
                let list = item.list(branch);
                inside.extend(
                    list.iter().enumerate().map(|(i, j)| (depth + 2, (i == 0).then_some(heading), j)),
                );
            }
        }
        work.extend(inside.into_iter().rev());
    }
    Ok(())
}

fn variables(item: &Json, indent: usize) -> Table {
    let mut table = Table::indented(indent);
    for (i, v) in item.list("variables").iter().enumerate() {
        let (invariant, enters) = (v.text("invariant"), v.text("enters_as"));
        let from = if invariant == enters { String::new() } else { format!(" ({enters})") };
        table.row([
            format!("#{i} `{}`", v.text("name")),
            invariant.to_owned(),
            format!("from `{}`{from}", v.text("initial")),
            format!("next `{}`", v.text("next")),
            format!("result `{}`", v.text("result")),
        ]);
    }
    table
}
