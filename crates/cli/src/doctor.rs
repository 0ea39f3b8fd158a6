//! `millstream doctor`: what this machine has for jobs of several processes.

use crate::failure::Outcome;
use crate::json::{Json, object};
use crate::plain::plain;
use crate::table::Table;
use clap::Args;
use millstream::ResourceManager;
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Print which MPI and which servers this machine has
///
/// Jobs of several processes (`millstream.horovod` in Python) need an MPI and mpi4py, and queues that
/// processes share need a Valkey or Redis server, here or elsewhere. Everything else works without. What is
/// missing is not an error: the exit code is 0.
#[derive(Args)]
#[command(after_help = "\
Examples:
  millstream doctor
  millstream doctor --python .venv/bin/python
  millstream doctor --store valkey://localhost:6379/jobs
  millstream doctor --json | jq -r '.found[].name'")]
pub(crate) struct Options {
    /// The Python that is asked for mpi4py
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,

    /// The address of a store that is asked whether it answers: valkey://host:port/namespace
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Print JSON [default: text]
    #[arg(long)]
    json: bool,
}

/// What a program asks Python: the version of mpi4py, and of the MPI that it finds.
const ASK: &str = "import mpi4py; from mpi4py import MPI
print(mpi4py.__version__, 'with', MPI.Get_library_version().split(',')[0].splitlines()[0])";

/// How long a program may take to give its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// Something to look for.
struct Sought<'a> {
    name: &'static str,
    use_: &'static str,
    /// Programs with their arguments; the first that answers counts.
    programs: &'a [(&'a str, &'a [&'a str])],
    cure: Cow<'a, str>,
}

pub(crate) fn run(options: Options) -> Outcome {
    let sought = [
        Sought {
            name: "MPI launcher",
            use_: "starts the processes of a job",
            programs: &[("mpirun", &["--version"]), ("mpiexec", &["--version"])],
            cure: "Debian: apt-get install openmpi-bin".into(),
        },
        Sought {
            name: "mpi4py",
            use_: "connects the processes of a job, in Python",
            programs: &[(&options.python, &["-c", ASK])],
            cure: "pip install mpi4py".into(),
        },
        Sought {
            name: "MPI compiler",
            use_: "builds the Rust crate's feature `mpi`",
            programs: &[("mpicc", &["--version"])],
            cure: "Debian: apt-get install libopenmpi-dev libclang-dev".into(),
        },
        Sought {
            name: "store",
            use_: "keeps queues that processes share",
            programs: &[("valkey-server", &["--version"]), ("redis-server", &["--version"])],
            cure: "Debian: apt-get install valkey-server, or redis-server".into(),
        },
    ];
    let mut found: Vec<Option<String>> = sought.iter().map(|s| s.programs.iter().find_map(answer)).collect();
    let mut sought = Vec::from(sought);
    if let Some(address) = &options.store {
        let asked = ResourceManager::at(address);
        found.push(asked.as_ref().ok().map(|_| "answers".to_owned()));
        sought.push(Sought {
            name: "store asked",
            use_: "keeps the queues of `run --store`",
            programs: &[],
            cure: asked.err().map_or(String::new(), |error| error.message().to_owned()).into(),
        });
    }
    let mut out = io::stdout().lock();
    if options.json {
        let one = |(sought, answer): (&Sought, &Option<String>)| {
            object! { "name": sought.name, "use": sought.use_, "answer": answer.clone(), "cure": sought.cure.to_string() }
        };
        let found: Json = sought.iter().zip(&found).map(one).collect();
        writeln!(out, "{}", object! { "found": found })?;
    } else {
        let mut table = Table::default();
        for (sought, answer) in sought.iter().zip(&found) {
            let answer = answer.as_deref().map(|a| plain(a).into_owned());
            let answer = answer.unwrap_or_else(|| format!("not found ({})", sought.cure));
            table.row([sought.name.to_owned(), sought.use_.to_owned(), answer]);
        }
        write!(out, "{table}")?;
    }
    Ok(out.flush()?)
}

/// Runs a program and returns its name and the first line of what it prints. `None` if it is not there, fails
/// or takes too long.
fn answer(&(program, args): &(&str, &[&str])) -> Option<String> {
    let command = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = command.ok()?;
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break status,
            None if begin.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(5)),
            None => {
                child.kill().ok()?;
                break child.wait().ok()?;
            }
        }
    };
    let mut text = String::new();
    child.stdout.take()?.take(1 << 16).read_to_string(&mut text).ok()?;
    let line = text.lines().find(|line| !line.trim().is_empty()).filter(|_| status.success())?;
    Some(format!("{program}: {}", line.trim()))
}
