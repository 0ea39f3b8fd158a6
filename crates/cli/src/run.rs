//! `millstream run`: runs a graph and prints the fetched values.

use crate::explain;
use crate::failure::{Failure, Outcome, file_error};
use crate::feed::{self, Feed};
use crate::json::{Json, object};
use crate::load::{Limits, deadline};
use crate::plain::plain;
use crate::{interrupt, number, queues, value};
use clap::{Args, ValueEnum};
use millstream::engine::graph::outline::{Ends, Outline};
use millstream::engine::runtime::{FeedList, FetchList, Fetched, Target};
use millstream::engine::tensor::{budget, npy};
use millstream::prelude::*;
use millstream::train::restore_saved_model;
use millstream::{
    Code, Coordinator, FileAccess, Iterations, Passes, QueueReport, Queues, ResourceManager, RunOptions,
    RunQueues, SessionOptions, Tier, Watch,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Run a graph and print the fetched values
///
/// Reads a GraphDef or a MetaGraphDef (binary or text), or a SavedModel, whose variables are restored. Feeds
/// the graph and prints one line per fetched value: its name, dtype, shape and elements. Can print the values
/// inside loops for every iteration, and stop at the first NaN or infinity.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Feeds: VALUE has the form in which values are printed: `3`, `[[1 2] [3 4]]`, `f64[2] [0.5 nan]`, `[\"a\" \"b\"]`,
`1+2i`. It is converted to the dtype and shape of the fed output if that loses no information; a string needs
no quotes. Any output outside loops can be fed.

Fetches: NAME is the first output of a node, NAME:k the output with index k. The name of an operation without
outputs runs it. Ops that Millstream lacks are an error only if what you name needs them.

Inside loops: --every prints the values of all iterations, stacked; in nested loops, and where shapes differ,
it prints one line per iteration. --watch and --watch-all end the run with an error at the first value, in
program order, that matches. The error names the node, the iteration of each loop, the value and its inputs.

Queues: a run that waits for a queue which nothing fills ends with an error. --queue-runners starts the
runners that fill the queues; --stall-grace sets how long a run may wait.

Files: a graph opens no files, except those that you name: the path of a string that you feed (a checkpoint's
prefix, for instance), files in the folders of --allow-files, and the files of its own SavedModel. Graphs from
elsewhere are safe to run with these defaults.

Exit codes: 0 success; 1 the run failed (`error: CODE: ...` on standard error); 2 bad usage; 130 Ctrl-C ended
the run. The error then says what the run was doing; a second Ctrl-C ends the command at once.

Examples:
  millstream run collatz.pb --feed n:0=27 --fetch while/Exit:0 --fetch while/Exit_1:0
  millstream run collatz.pb --feed n:0=27 --every while/Identity:0
  millstream run step.pb --init init --target train --watch-all not-finite
  millstream run step.pb --init init --feed x=@batch.npy --fetch loss --target train --json
  millstream run model.pb --feed @inputs.npz --fetch scores:0 --out scores.npz --timeout 10 --memory-limit 2G"
)]
pub(crate) struct Options {
    /// The graph file, - for standard input, or the folder of a SavedModel
    graph: PathBuf,

    /// Feed a value: NAME=VALUE, NAME=@file.npy, NAME=@file.npz:KEY, or @file.npz for all arrays of an
    /// archive under their own names; may be repeated [default: no feeds]
    #[arg(long = "feed", value_name = "NAME=VALUE")]
    feeds: Vec<Feed>,

    /// What is not an option: the reason for a hint.
    #[arg(hide = true)]
    stray: Vec<String>,

    /// Print the value of this output; may be repeated [default: no fetches]
    #[arg(long = "fetch", value_name = "NAME[:k]")]
    fetches: Vec<String>,

    /// Print the values of this output inside a loop in all iterations; may be repeated [default: none]
    #[arg(long = "every", value_name = "NAME[:k]")]
    everies: Vec<String>,

    /// Stop at the first matching value of this output: NAME=nan, NAME=infinite, NAME=not-finite, or NAME=any
    /// for any value; may be repeated [default: none]
    #[arg(long = "watch", value_name = "NAME[:k]=WHAT")]
    watches: Vec<WatchFor>,

    /// Stop at the first float that is nan, infinite or not-finite, fed or computed, inside or outside loops
    /// [default: none]
    #[arg(long, value_name = "WHAT", value_enum)]
    watch_all: Option<Finding>,

    /// Run this operation first, in a run of its own with the same feeds; may be repeated, and runs in the
    /// order given [default: none]
    #[arg(long = "init", value_name = "OP")]
    inits: Vec<String>,

    /// Run this operation together with the fetches; may be repeated [default: none]
    #[arg(long = "target", value_name = "OP")]
    targets: Vec<String>,

    /// Start the graph's queue runners (from a MetaGraphDef) before the run, and stop them after it [default:
    /// not started]
    #[arg(long)]
    queue_runners: bool,

    /// After the run, even if it failed, print the state of the queues: their items, waiting nodes, and how
    /// they were closed [default: not printed]
    #[arg(long)]
    queues: bool,

    /// Also write the values to this NumPy archive, under the names as given; strings are written as bytes.
    /// The values of --every are stacked, and their iterations are written under NAME/at [default: not
    /// written]
    #[arg(long, value_name = "FILE.npz")]
    out: Option<PathBuf>,

    /// The time limit of the whole command, in seconds: of reading and importing the graph, planning,
    /// running, and writing the values [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = number::seconds)]
    timeout: Option<Duration>,

    /// How many seconds without any activity a run may wait for a queue before it fails; `never` waits
    /// forever. A wait that no thread could end fails sooner [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = number::seconds_or_never)]
    stall_grace: Option<Duration>,

    /// The Valkey or Redis server in which the queues with a shared name live, so that other processes can
    /// use them: valkey://[user][:password]@host[:port]/namespace [default: none, they live in this process]
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// The limit for tensors in memory, in bytes, or with a unit: 64K, 512M, 2G. Also limits the memory for
    /// reading the graph [default: 80 % of the memory that the process may use; for reading the graph as
    /// for `inspect`]
    #[arg(long, value_name = "BYTES", value_parser = number::bytes)]
    memory_limit: Option<usize>,

    /// Run every loop by tokens, none as compiled code. The values are the same; a difference is a fault to
    /// report [default: loops that only compute run as code]
    #[arg(long)]
    no_compile: bool,

    /// Leave out some of what plans do to be fast, to find out which of it is at fault for a wrong result:
    /// `-fold,-forward,-absorb,-accumulate,-narrow,-fuse,-order,-bypass,-straight` or fewer of these
    /// [default: all are used]
    #[arg(
        long,
        value_name = "-NAME,..",
        allow_hyphen_values = true,
        default_value = "",
        hide_default_value = true
    )]
    passes: Passes,

    /// After the run, describe it as `millstream explain` does, with the measured time of iterations. WHAT
    /// also prints the instructions or the machine code of compiled loops [default: not described]
    #[arg(long, value_name = "WHAT", value_enum, num_args = 0..=1, require_equals = true)]
    explain: Option<Option<explain::Show>>,

    /// Let the graph read and write files in this folder and below it; may be repeated. A path that you
    /// feed is allowed without it, and so is reading a SavedModel's own folder [default: no other files]
    #[arg(long, value_name = "DIR", conflicts_with = "no_files")]
    allow_files: Vec<PathBuf>,

    /// Let the graph open no file at all, not even one whose path is fed; a SavedModel still restores its
    /// variables [default: see --allow-files]
    #[arg(long)]
    no_files: bool,

    /// The number of threads that run kernels; the values do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// The number of iterations of each loop that may run at the same time; the values do not depend on it
    /// [default: each loop's own setting]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel_iterations: Option<u32>,

    /// Write a trace of all executions, with loop and iteration, for chrome://tracing or ui.perfetto.dev;
    /// slows the run down [default: not written]
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,

    /// Print one JSON object: {"fetches": [{"name", "dtype", "shape", "value"}, ..]}, with --every also
    /// "every": [{"name", "dtype", "loops", "iterations": [{"at", "shape", "value"}, ..]}, ..] [default:
    /// text]
    #[arg(long)]
    json: bool,

    /// Print long values in full [default: cut in the middle]
    #[arg(long)]
    full: bool,
}

/// The values that a watch stops at.
#[derive(Clone, Copy, ValueEnum)]
enum Finding {
    Nan,
    #[value(alias = "inf")]
    Infinite,
    NotFinite,
    #[value(skip)]
    Any,
}

impl Finding {
    fn of(self, watch: Watch) -> Watch {
        match self {
            Finding::Nan => watch.nan(),
            Finding::Infinite => watch.infinite(),
            Finding::NotFinite => watch.not_finite(),
            Finding::Any => watch,
        }
    }
}

/// An argument of `--watch`: `NAME=WHAT`.
#[derive(Clone)]
struct WatchFor {
    name: String,
    finding: Finding,
}

impl FromStr for WatchFor {
    type Err = String;

    fn from_str(text: &str) -> Result<WatchFor, String> {
        let (name, what) = text.rsplit_once('=').unwrap_or((text, ""));
        let finding = match what {
            "any" => Some(Finding::Any),
            what => Finding::from_str(what, false).ok(),
        };
        match finding.filter(|_| !name.is_empty()) {
            Some(finding) => Ok(WatchFor { name: name.to_owned(), finding }),
            None => Err("expected NAME=WHAT, where WHAT is nan, infinite, not-finite or any".to_owned()),
        }
    }
}

pub(crate) fn run(options: Options) -> Outcome {
    if let Some(stray) = options.stray.first() {
        let (text, hint) = match stray.split_once('=') {
            Some(_) => ("is not an option: to feed a value", format!("--feed {stray}")),
            None => ("is not an option: to print an output", format!("--fetch {stray}")),
        };
        return Err(Failure::Usage(format!("`{stray}` {text}, write {hint}")));
    }
    let limits = Limits { timeout: options.timeout, memory_limit: options.memory_limit };
    let path = options.graph.clone();
    // The constants of the graph, the feeds and the session share the memory limit.
    let limit = options.memory_limit.map(budget::Budget::new);
    let of_graph = limit.clone();
    let (file, graph) = limits.within("reading the graph", move || {
        let _entered = budget::enter(of_graph.as_ref());
        let loaded = limits.read(&path)?;
        let graph = limits.import_known(&loaded)?;
        Ok((loaded.file, graph))
    })?;
    let asks = [&options.fetches, &options.everies, &options.targets, &options.inits];
    if asks.iter().all(|names| names.is_empty()) {
        return Err(nothing_asked(&graph));
    }
    let fetches = options.fetches.iter().map(|f| target(&graph, f, "fetch")).collect::<Result<Vec<_>>>()?;
    let every = |name: &String| Ok(Target::Every(output(&graph, name, "every")?.port()));
    let everies = options.everies.iter().map(every).collect::<Result<Vec<_>>>()?;
    let on = |w: &WatchFor| Ok(w.finding.of(Watch::on(output(&graph, &w.name, "watch")?)));
    let mut watch = options.watches.iter().map(on).collect::<Result<Vec<_>>>()?;
    watch.extend(options.watch_all.map(|finding| finding.of(Watch::all())));
    let operations = |names: &[String], option: &str| {
        names.iter().map(|n| operation(&graph, n, option)).collect::<Result<Vec<_>>>()
    };
    let (inits, targets) = (operations(&options.inits, "init")?, operations(&options.targets, "target")?);

    let feeds = {
        let _entered = budget::enter(limit.as_ref());
        feed::resolve(&graph, &options.feeds)?
    };
    let session = Session::with_options(
        &graph,
        SessionOptions {
            threads: options.threads.map(usize::from),
            memory_limit: limit.map(|l| l.limit().saturating_sub(l.used())),
            parallel_iterations: options.parallel_iterations,
            timeout: left(options.timeout),
            stall_grace: options.stall_grace,
            resources: options.store.as_deref().map(ResourceManager::at).transpose()?,
            files: allowed_files(&graph, &options, &feeds),
            tier: if options.no_compile { Tier::Dataflow } else { Tier::Compiled },
            passes: options.passes,
            // A standard error that is gone is no reason to end a run.
            print: Some(Box::new(|text: &str| _ = io::stderr().write_all(plain(text).as_bytes()))),
            ..SessionOptions::default()
        },
    )?;
    if let (Some(folder), Some(meta)) = (saved_model(&options.graph), file.meta_graph()?) {
        let note = |e: Error| e.note(format!("while restoring the variables of `{}`", folder.display()));
        restore_saved_model(&session, meta, folder).map_err(note)?;
    }
    let poll = Some(interrupt::poll());
    for (init, name) in inits.iter().zip(&options.inits) {
        let run_options =
            RunOptions { timeout: left(options.timeout), poll: poll.clone(), ..RunOptions::default() };
        let ran = session.run_with::<()>(init, feed_list(&feeds), &run_options);
        ran.map_err(|e| e.note(format!("in --init    `{name}`")))?;
    }
    let all: Vec<Target> = fetches.iter().chain(&everies).chain(&targets).copied().collect();
    if all.is_empty() {
        return Ok(());
    }
    let asked = FetchList(all.clone());
    let (trace, timeout) = (options.trace.is_some(), left(options.timeout));
    let run_options = RunOptions { trace, watch, timeout, poll, ..RunOptions::default() };
    let run = || session.run_with::<Vec<Fetched>>(asked, feed_list(&feeds), &run_options);
    let result = match options.queue_runners {
        true => with_runners(&session, run),
        false => run().map_err(|e| hint(e, &session)),
    };
    let queues = if options.queues { Some(session.queues()) } else { None };
    if let (Err(_), Some(queues)) = (&result, &queues) {
        // The failed run prints no result, so the queues go to standard error with the error.
        write!(io::stderr(), "{}", plain(&queues::table(queues).to_string()))?;
    }
    let (fetched, metadata) = result?;
    let mut got = Got::default();
    for (name, fetched) in options.fetches.iter().chain(&options.everies).zip(fetched) {
        match fetched {
            Fetched::Value(value) => got.values.push((name, value)),
            Fetched::Every(values) => got.every.push((name, values)),
            Fetched::Ran => {}
        }
    }
    if let (Some(path), Some(trace)) = (&options.trace, &metadata.trace) {
        std::fs::write(path, trace.to_chrome_json()).map_err(|e| file_error("write", path, &e))?;
    }
    let deadline = deadline(options.timeout);
    if let Some(path) = &options.out {
        write_npz(path, &got, deadline)?;
    }
    got.queues = queues;
    if let Some(show) = options.explain {
        let fed: Vec<Output<'_>> = feeds.iter().map(|(output, _)| *output).collect();
        got.explained = Some(explain::Report::of(&session, &all, &fed, show)?);
    }
    print(&got, &options, deadline)
}

/// What is left of the command's time.
fn left(timeout: Option<Duration>) -> Option<Duration> {
    deadline(timeout).map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// The files that the graph may open: those that the user names.
fn allowed_files(graph: &Graph, options: &Options, feeds: &[(Output<'_>, Tensor)]) -> FileAccess {
    let mut access = match options.allow_files.is_empty() {
        true => FileAccess::Nothing,
        false => FileAccess::folders(&options.allow_files),
    };
    if let Some(folder) = saved_model(&options.graph) {
        access = access.and_read(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    }
    if options.no_files {
        return access;
    }
    // A path that the user types is the user's choice, wherever the graph puts it to use. An array of texts
    // from a file is data.
    for text in typed(graph, &options.feeds, feeds).filter_map(Tensor::as_strs).flatten() {
        let Ok(path) = std::str::from_utf8(text).map(Path::new) else { continue };
        let there = path.parent().is_some_and(|p| p.as_os_str().is_empty() || p.is_dir());
        if there && path.file_name().is_some() {
            access = access.and_file(path);
        }
        // The user's link may lead elsewhere; the file there is what the user means.
        if let Some(target) = path.canonicalize().ok().filter(|target| there && target != path) {
            access = access.and_file(target);
        }
    }
    access
}

/// The values of the feeds that were typed, rather than read from files.
fn typed<'a>(
    graph: &'a Graph,
    feeds: &'a [Feed],
    values: &'a [(Output<'_>, Tensor)],
) -> impl Iterator<Item = &'a Tensor> {
    feeds.iter().filter_map(move |feed| {
        let Feed::One(name, feed::Value::Literal(_)) = feed else { return None };
        let port = graph.output(name).ok()?.port();
        values.iter().find(|(output, _)| output.port() == port).map(|(_, value)| value)
    })
}

/// Adds a note about `--queue-runners` to the error if runners that were not started can be its cause.
fn hint(error: Error, session: &Session) -> Error {
    let waited = error.code() == Code::FailedPrecondition;
    match waited
        && session.queues().iter().any(|q| q.closed.is_none())
        && !session.graph().queue_runners().is_empty()
    {
        true => error.note("the graph has queue runners; --queue-runners starts them"),
        false => error,
    }
}

/// Calls `run` while the graph's queue runners fill its queues.
fn with_runners<T>(session: &Session, run: impl FnOnce() -> Result<T>) -> Result<T> {
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    let result = session.start_queue_runners(&coordinator).and_then(|()| run());
    coordinator.request_stop();
    // A runner that failed closed the queue that the run waited for; its error is more informative.
    coordinator.join().and(result)
}

/// The fetched values, under the names as given.
#[derive(Default)]
struct Got<'a> {
    values: Vec<(&'a str, Tensor)>,
    every: Vec<(&'a str, Iterations)>,
    queues: Option<Vec<QueueReport>>,
    explained: Option<explain::Report>,
}

/// The folder of a SavedModel, which holds more than the graph; `None` for other graph files.
fn saved_model(graph: &Path) -> Option<&Path> {
    let folder = if graph.is_dir() { graph } else { graph.parent()? };
    let is_one = graph.is_dir() || graph.file_name().is_some_and(|name| name == "saved_model.pb");
    is_one.then_some(folder)
}

/// The target that a name denotes: an operation for `^name` and for operations without outputs, otherwise a
/// value.
pub(crate) fn target(graph: &Graph, name: &str, option: &str) -> Result<Target> {
    if name.starts_with('^') {
        return operation(graph, name, option);
    }
    if let Ok(op) = graph.operation(name)
        && op.outputs().is_empty()
    {
        return Ok(Target::Operation(op.id()));
    }
    output(graph, name, option).map(|o| Target::Value(o.port()))
}

fn output<'g>(graph: &'g Graph, name: &str, option: &str) -> Result<Output<'g>> {
    graph.output(name).map_err(|e| {
        let e = e.note(format!("in --{option:<8} `{name}`"));
        match name.split_once(',') {
            Some((first, _)) => {
                e.with_help(format!("give --{option} once for each name: --{option} {first} --{option} .."))
            }
            None => e,
        }
    })
}

/// The operation that a name denotes: `name`, `^name`, or an output `name:k` of it.
fn operation(graph: &Graph, name: &str, option: &str) -> Result<Target> {
    let plain = name.strip_prefix('^').unwrap_or(name);
    let found = match plain.contains(':') {
        true => graph.output(plain).map(|o| o.op()),
        false => graph.operation(plain),
    };
    found.map(|op| Target::Operation(op.id())).map_err(|e| e.note(format!("in --{option:<8} `{name}`")))
}

fn feed_list(feeds: &[(Output<'_>, Tensor)]) -> FeedList {
    feeds.iter().fold(FeedList::new(), |list, (output, value)| list.and(*output, value.clone()))
}

/// The failure for a command that names nothing to run. It lists likely outputs and operations.
fn nothing_asked(graph: &Graph) -> Failure {
    let mut text = "nothing to run: give --fetch NAME, --every NAME, --target OP or --init OP".to_owned();
    let listed = graph.read(|g| -> Result<(Vec<String>, Vec<String>)> {
        let ends = Ends::of(g, &Outline::of(g)?);
        let outputs = ends.outputs.iter().map(|p| {
            Ok(format!("{}:{} ({}{})", g.node(p.node)?.name(), p.index, g.type_of(*p)?, g.shape_of(*p)))
        });
        let operations = ends.operations.iter().map(|id| Ok(g.node(*id)?.name().to_owned()));
        Ok((outputs.collect::<Result<_>>()?, operations.collect::<Result<_>>()?))
    });
    let (outputs, operations) = listed.unwrap_or_default();
    for (what, names) in [("outputs", outputs), ("operations", operations)] {
        if !names.is_empty() {
            text += &format!("\n  likely {what}:");
        }
        for name in names.iter().take(MOST_LISTED) {
            text += &format!("\n    {name}");
        }
        if names.len() > MOST_LISTED {
            text += &format!("\n    and {} more, see `millstream inspect`", names.len() - MOST_LISTED);
        }
    }
    Failure::Usage(text)
}

const MOST_LISTED: usize = 20;

fn write_npz(path: &Path, got: &Got, deadline: Option<Instant>) -> Outcome {
    let mut arrays: Vec<(String, Tensor)> = Vec::new();
    arrays.extend(got.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    for (name, values) in &got.every {
        arrays.push(((*name).to_owned(), values.stack()?));
        arrays.push((format!("{name}/at"), values.indices()?));
    }
    // The same name may be fetched twice.
    let mut seen = BTreeSet::new();
    arrays.retain(|(name, _)| seen.insert(name.clone()));
    let arrays = arrays.iter().map(|(name, value)| (name.as_str(), value));
    let file = File::create(path).map_err(|e| file_error("create", path, &e))?;
    let mut file = BufWriter::new(Until { out: file, deadline });
    npy::write_npz(&mut file, arrays, npy::Compression::Stored)
        .map_err(|e| e.note(format!("in file      `{}`", path.display())))?;
    file.flush().map_err(|e| file_error("write", path, &e))?;
    Ok(())
}

fn print(got: &Got, options: &Options, deadline: Option<Instant>) -> Outcome {
    let mut out = BufWriter::new(Until { out: io::stdout().lock(), deadline });
    if options.json {
        let fetches: Json = got.values.iter().map(|(name, tensor)| value::json(name, tensor)).collect();
        let mut all = object! { "fetches": fetches };
        if !got.every.is_empty() {
            all = all.with(
                "every",
                got.every.iter().map(|(name, values)| every_json(name, values)).collect::<Json>(),
            );
        }
        if let Some(queues) = &got.queues {
            all = all.with("queues", queues::json(queues));
        }
        if let Some(report) = &got.explained {
            all = all.with("explain", report.json());
        }
        writeln!(out, "{all}")?;
        return Ok(out.flush()?);
    }
    let mut line = |name: &str, value: &Tensor| match options.full {
        true => writeln!(out, "{name} = {value:#}"),
        false => writeln!(out, "{name} = {value}"),
    };
    for (name, value) in &got.values {
        line(name, value)?;
    }
    for (name, values) in &got.every {
        let stacked = if values.loops().len() == 1 { values.stack().ok() } else { None };
        match stacked {
            Some(stacked) => line(name, &stacked)?,
            None => {
                for (at, value) in values.iter() {
                    let at: Vec<String> = at.iter().map(u64::to_string).collect();
                    line(&format!("{name} in iteration {}", at.join(",")), value)?;
                }
            }
        }
    }
    if let Some(queues) = &got.queues {
        write!(out, "{}", plain(&queues::table(queues).to_string()))?;
    }
    if let Some(report) = &got.explained {
        write!(out, "\n{}", plain(&report.text()))?;
    }
    Ok(out.flush()?)
}

/// A writer that fails once the deadline has passed.
struct Until<W> {
    out: W,
    deadline: Option<Instant>,
}

impl<W: Write> Write for Until<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() => {
                let text = "the output was not written in the time allowed";
                Err(io::Error::new(io::ErrorKind::TimedOut, text))
            }
            _ => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Seek> Seek for Until<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

fn every_json(name: &str, values: &Iterations) -> Json {
    let iteration = |(at, value): (&[u64], &Tensor)| {
        object! {
            "at": at.iter().copied().collect::<Json>(),
            "shape": value::shape(value.shape()),
            "value": value::elements(value),
        }
    };
    object! {
        "name": name,
        "dtype": values.dtype().tf_name(),
        "loops": values.loops().iter().collect::<Json>(),
        "iterations": values.iter().map(iteration).collect::<Json>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_ends_at_the_deadline() {
        let now = Instant::now();
        let mut open = Until { out: Vec::new(), deadline: now.checked_add(Duration::from_secs(600)) };
        write!(open, "{}", Tensor::scalar(1i32)).unwrap();
        assert_eq!(open.out, b"i32 1");
        let error = write!(Until { out: Vec::new(), deadline: Some(now) }, "x").unwrap_err();
        let Failure::Failed(error) = Failure::from(error) else { panic!("it is a failure") };
        assert_eq!(error.code(), Code::DeadlineExceeded);
    }
}
