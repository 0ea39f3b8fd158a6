//! `millstream explain`: how a graph would run, without running it; and the report of `run --explain`.

use crate::failure::Outcome;
use crate::json::{Json, object};
use crate::load::{Limits, deadline};
use crate::plain::plain;
use crate::run::target;
use clap::{Args, ValueEnum};
use millstream::engine::runtime::{FetchList, Target};
use millstream::prelude::*;
use millstream::{CodeExplanation, Explanation, LoopWay, SessionOptions, Tier};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Explain how a graph would run
///
/// Plans a run of the fetches and describes it: the nodes that run outside loops and in each loop, which
/// loops run as compiled code, and the node that keeps another from it. Nothing runs. `run --explain`
/// describes a run that was made, with the measured time of iterations.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Exit codes: 0 success; 1 failure (`error: CODE: ...` on standard error); 2 bad usage.

Examples:
  millstream explain collatz.pb --fetch while/Exit_1:0
  millstream explain collatz.pb --fetch while/Exit_1:0 --show code
  millstream explain collatz.pb --fetch while/Exit_1:0 --json | jq '.places[].code.bytes'"
)]
pub(crate) struct Options {
    /// The graph file, - for standard input, or the folder of a SavedModel
    graph: PathBuf,

    /// A value to fetch, or an operation to run; may be repeated
    #[arg(long = "fetch", value_name = "NAME[:k]", required = true)]
    fetches: Vec<String>,

    /// An output that would be fed, besides the placeholders; may be repeated [default: placeholders only]
    #[arg(long = "feed", value_name = "NAME[:k]")]
    feeds: Vec<String>,

    /// Also print the instructions of compiled loops, or their machine code [default: neither]
    #[arg(long, value_name = "WHAT", value_enum)]
    show: Option<Show>,

    /// Compile no loop [default: loops that only compute run as code]
    #[arg(long)]
    no_compile: bool,

    /// Print one JSON object [default: text]
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: Limits,
}

/// What is shown of compiled loops.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// The instructions.
    Code,
    /// The machine code.
    Machine,
}

pub(crate) fn run(options: Options) -> Outcome {
    let (limits, path) = (options.limits, options.graph.clone());
    let graph = limits.within("reading the graph", move || Ok(limits.import_known(&limits.read(&path)?)?))?;
    let fetches = options.fetches.iter().map(|f| target(&graph, f, "fetch")).collect::<Result<Vec<_>>>()?;
    let feeds = options.feeds.iter().map(|name| graph.output(name)).collect::<Result<Vec<_>>>()?;
    let tier = if options.no_compile { Tier::Dataflow } else { Tier::Compiled };
    let timeout = deadline(options.limits.timeout).map(|at| at.saturating_duration_since(Instant::now()));
    let session =
        Session::with_options(&graph, SessionOptions { tier, timeout, ..SessionOptions::default() })?;
    let report = Report::of(&session, &fetches, &feeds, options.show)?;
    let mut out = io::stdout().lock();
    match options.json {
        true => writeln!(out, "{}", report.json())?,
        false => write!(out, "{}", plain(&report.text()))?,
    }
    Ok(out.flush()?)
}

/// A description of a run, and what is shown of its compiled loops.
pub(crate) struct Report {
    explanation: Explanation,
    machine: Option<String>,
    show_code: bool,
}

impl Report {
    pub(crate) fn of(
        session: &Session,
        fetches: &[Target],
        feeds: &[Output<'_>],
        show: Option<Show>,
    ) -> Result<Report> {
        let list = || FetchList(fetches.to_vec());
        let machine =
            (show == Some(Show::Machine)).then(|| session.disassembly(list(), feeds.iter().copied()));
        Ok(Report {
            explanation: session.explain(list(), feeds.iter().copied())?,
            machine: machine.transpose()?,
            show_code: show == Some(Show::Code),
        })
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", self.explanation);
        for place in self.explanation.places.iter().filter(|_| self.show_code) {
            if let Some(code) = &place.code {
                text += &format!("\n{}:\n{}", named(&place.name), code.listing);
            }
        }
        if let Some(machine) = &self.machine {
            text += &format!("\n{machine}");
        }
        text
    }

    pub(crate) fn json(&self) -> Json {
        let it = &self.explanation;
        let places = it.places.iter().map(|place| {
            let (way, because) = match place.of_loop.as_ref().map(|it| &it.way) {
                None => (None, None),
                Some(LoopWay::Code) => (Some("code"), None),
                Some(LoopWay::Within) => (Some("code of the loop around it"), None),
                Some(LoopWay::InRun { node, why }) => {
                    (Some("code made in the first run"), Some(object! { "node": node, "why": *why }))
                }
                Some(LoopWay::Tokens) => (Some("tokens"), None),
                Some(LoopWay::Because { node, why }) => {
                    (Some("tokens"), Some(object! { "node": node, "why": *why }))
                }
            };
            object! {
                "loop": place.name.as_str(),
                "depth": place.depth,
                "nodes": place.nodes.len(),
                "way": way,
                "because": because,
                "code": place.code.as_ref().map(|code| self.code(code)),
            }
        });
        let all = object! {
            "needed": it.n_needed,
            "graph": it.n_graph,
            "fed": it.fed.iter().collect::<Json>(),
            "places": places.collect::<Json>(),
        };
        match &self.machine {
            Some(machine) => all.with("machine", machine),
            None => all,
        }
    }

    fn code(&self, code: &CodeExplanation) -> Json {
        let it = object! {
            "instructions": code.n_instructions,
            "bytes": code.bytes,
            "buffers": code.buffers.iter().collect::<Json>(),
            "fused": code.fused.iter().collect::<Json>(),
            "calls": code.calls.iter().copied().collect::<Json>(),
            "machine_bytes": code.measured.machine_bytes,
            "ns_per_iteration": code.nanos_per_iteration().map(|ns| Json::Number(format!("{ns:.1}"))),
        };
        if self.show_code { it.with("listing", &code.listing) } else { it }
    }
}

fn named(place: &str) -> String {
    if place.is_empty() { "outside of loops".to_owned() } else { format!("loop {place}") }
}
