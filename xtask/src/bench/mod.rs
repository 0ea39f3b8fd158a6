//! `cargo xtask bench`: the measurements that are also made on other engines, one JSON line per variant.
//!
//! Cases, variants, loads and fields are those of the peers' scripts, so that one table holds all:
//!
//! - `w1` a counter, and a counter with a linear congruential generator; `w2` vectors; `w3` nested loops;
//! - `w4` the gradient of a small loop; `w5` the training step of an LSTM, `w5t` with long sequences, `w5mem`
//!   its memory;
//! - `w6` buckets; `queue` a scalar through a queue; `soak` the memory of `w6` over a hundred million
//!   elements;
//! - `w7` overlapping iterations; `w8` process start-up; `w9` executor overhead; `w10` matrix products;
//! - `plan` the planning of the golden graphs, and how many of their loops are compiled;
//! - `python_run` and `python_build`: the Python layer next to Rust, and next to TensorFlow with `--peer`.
//!
//! Every result is checked. `value` is the median of the counted repetitions, after a warm-up of at least two
//! repetitions and one second.

mod cases;
mod peers;
mod plans;
mod python;
mod queues;
mod report;
mod training;

use clap::Args;
use millstream::Passes;
use std::path::PathBuf;

/// The cases to measure, and how.
#[derive(Args)]
pub struct Options {
    /// The case: w1, w2, w3, w4, w5, w5t, w5mem, w6, w7, w8, w9, w10, plan, queue, soak, python_run,
    /// python_build, or `all` (all but w5mem, soak and those of Python).
    #[arg(long)]
    case: String,
    /// Only variants whose name contains this.
    #[arg(long)]
    variant: Option<String>,
    /// The size of one repetition. Each case has a default.
    #[arg(long)]
    n: Option<usize>,
    /// The number of threads that run kernels. The default is the number of cores.
    #[arg(long)]
    threads: Option<usize>,
    /// Passes that the plans of w1 to w5 do without, as in `millstream run`: what each of them gains.
    #[arg(long, allow_hyphen_values = true)]
    passes: Option<Passes>,
    /// For the Python cases: an interpreter with NumPy and protobuf.
    #[arg(long, default_value = "python3")]
    python: String,
    /// For the Python cases: an interpreter with TensorFlow, which is measured in the same run.
    #[arg(long)]
    peer: Option<String>,
    /// A folder of virtual environments named after the engine in them, `tensorflow`, `jax` or `torch`: each
    /// case is measured on them right after it, and a table beside the best of them comes last.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// The number of counted repetitions.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Print JSON lines instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the benchmarks and prints each result.
pub fn run(options: &Options) -> millstream::Result<()> {
    // The last four need a process for each variant, or take long.
    let cases = [
        "w1",
        "w2",
        "w3",
        "w4",
        "w5",
        "w5t",
        "w6",
        "w7",
        "w8",
        "w9",
        "w10",
        "plan",
        "queue",
        "w5mem",
        "soak",
        "python_run",
        "python_build",
    ];
    let chosen: Vec<&str> = match options.case.as_str() {
        "all" => cases[..cases.len() - 4].to_vec(),
        case => cases.into_iter().filter(|c| *c == case).collect(),
    };
    if chosen.is_empty() {
        return Err(millstream::Error::new(
            millstream::Code::InvalidArgument,
            format!("there is no case `{}`; there are {}", options.case, cases.join(" ")),
        ));
    }
    let bench = report::Bench::new(options);
    let with = python::Interpreters { own: &options.python, peer: options.peer.as_deref() };
    let peers = options.peers.as_deref().map(peers::Peers::find).transpose()?;
    let mut table = peers::Table::default();
    for case in chosen {
        match case {
            "w1" => cases::counter(&bench)?,
            "w2" => cases::vectors(&bench)?,
            "w3" => cases::nested(&bench)?,
            "w4" => training::small_loop(&bench)?,
            "w5" => training::lstm(&bench)?,
            "w5t" => training::lstm_length(&bench)?,
            "w5mem" => training::lstm_memory(&bench)?,
            "w6" => queues::buckets(&bench)?,
            "w7" => cases::overlap(&bench)?,
            "w8" => cases::start_up(&bench)?,
            "w9" => cases::overhead(&bench)?,
            "plan" => plans::plans(&bench)?,
            "queue" => queues::scalars(&bench)?,
            "soak" => queues::soak(&bench)?,
            "python_run" => python::run(&bench, &with)?,
            "python_build" => python::build(&bench, &with)?,
            _ => cases::products(&bench)?,
        }
        if let Some(peers) = &peers {
            table.add(&bench, case, peers)?;
        }
    }
    if peers.is_some() {
        table.print();
    }
    Ok(())
}
