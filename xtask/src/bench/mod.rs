//! `cargo xtask bench`: the measurements that are also made on other engines, one JSON line per variant.
//!
//! Cases, variants, loads and fields are those of the peers' scripts, so that one table holds all: `w1` counter and
//! counter+LCG, `w2` vectors, `w3` nested loops, `w4` the gradient of a small loop, `w5` the training step of an LSTM, `w5t` of long
//! sequences, `w5mem` its memory, `w6` buckets, `w7` overlapping iterations, `w8` process start-up, `w9` executor overhead, `w10` matrix
//! products, `python_run` and `python_build` the Python layer beside Rust (and TensorFlow, with `--peer`), `queue` a scalar through a queue, `soak` the memory of `w6` over a hundred million elements. Every result is checked. `value` is the median of the counted repetitions, after at least two
//! and one second of warm-up.

mod cases;
mod python;
mod queues;
mod report;
mod training;

use clap::Args;

/// What to measure.
#[derive(Args)]
pub struct Options {
    /// The case: w1, w2, w3, w4, w5, w5t, w5mem, w6, w7, w8, w9, w10, queue, soak, python_run,
    /// python_build, or `all` (but w5mem, soak and those of Python).
    #[arg(long)]
    case: String,
    /// Only variants whose name contains this.
    #[arg(long)]
    variant: Option<String>,
    /// The size of one repetition; each case has a default.
    #[arg(long)]
    n: Option<usize>,
    /// How many threads run kernels; one per core by default.
    #[arg(long)]
    threads: Option<usize>,
    /// For the cases of Python: an interpreter with NumPy and protobuf.
    #[arg(long, default_value = "python3")]
    python: String,
    /// For the cases of Python: an interpreter with TensorFlow, to be measured beside.
    #[arg(long)]
    peer: Option<String>,
    /// How many repetitions are counted.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Print JSON lines (otherwise a line for people).
    #[arg(long)]
    json: bool,
}

/// Measures, and prints as it goes.
pub fn run(options: &Options) -> millstream::Result<()> {
    // Last what needs a process for each variant, and what takes long.
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
            "queue" => queues::scalars(&bench)?,
            "soak" => queues::soak(&bench)?,
            "python_run" => python::run(&bench, &with)?,
            "python_build" => python::build(&bench, &with)?,
            _ => cases::products(&bench)?,
        }
    }
    Ok(())
}
