//! Graph files: read, recognised and imported, within limits.

use crate::failure::{Outcome, file_error};
use crate::{guard, number};
use clap::Args;
use millstream::Code;
use millstream::engine::interop::{GraphFile, ImportOptions, read_graph_within};
use millstream::prelude::*;
use std::fs::File;
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The limits of a command that reads a graph and describes or converts it.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The time limit of the whole command, in seconds [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = number::seconds)]
    pub(crate) timeout: Option<Duration>,

    /// The memory limit for reading the graph, in bytes, or with a unit: 64K, 512M, 2G [default: 512M, or 256
    /// times the size of a larger file, at most a quarter of the memory that the process may use]
    #[arg(long, value_name = "BYTES", value_parser = number::bytes)]
    pub(crate) memory_limit: Option<usize>,
}

/// The default limit for the graph of a small file. Functions that call functions can ask for any number of
/// nodes with a file of a few KiB: 2^19 nodes took 1.8 GB and half a minute (2026-11).
const SMALL: usize = 512 << 20;

/// The default limit in bytes for each byte of a large file. A node takes 40 bytes of a file or more, and 1.6
/// KiB of the import's limit.
const FOR_EACH_BYTE: usize = 256;

const MORE_MEMORY: &str = "raise --memory-limit if you trust the graph";

/// The stack of the thread that works under a time limit. Parsing text nested as deep as allowed takes 2 MiB
/// in builds without optimisation.
const STACK: usize = 16 << 20;

/// The message of a graph file, and the size of the file in bytes.
pub(crate) struct Loaded {
    pub(crate) file: GraphFile,
    size: usize,
}

impl Limits {
    /// Returns what `work` returns, or at the deadline an error that says what did not end. Reading from a
    /// FIFO and parsing cannot be interrupted. The thread that does them is therefore left alone; it ends
    /// with the process, which has nothing else to do.
    pub(crate) fn within<T: Send + 'static>(
        self,
        what: &str,
        work: impl FnOnce() -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        guard::watch(self.timeout, self.memory_limit);
        let Some(deadline) = deadline(self.timeout) else { return work() };
        let (send, receive) = channel();
        let worker = move || drop(send.send(work()));
        let worker = thread::Builder::new().stack_size(STACK).spawn(worker)?;
        match receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => {
                let text = format!("{what} did not end in the time allowed");
                Err(Error::new(Code::DeadlineExceeded, text).with_help("raise --timeout").into())
            }
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => Err(Error::internal("the thread that reads the graph gave no result").into()),
            },
        }
    }

    /// Reads a graph file. `-` is standard input; for the folder of a SavedModel, its `saved_model.pb` is
    /// read. A file of more bytes than the memory limit is an error.
    pub(crate) fn read(self, path: &Path) -> Result<Loaded> {
        let most = self.memory_limit.unwrap_or_else(|| ImportOptions::default().memory_limit);
        let bytes = match path.as_os_str() == "-" {
            true => bytes(io::stdin().lock(), path, most)?,
            false => {
                let inside: PathBuf = path.join("saved_model.pb");
                let path = if path.is_dir() { &inside } else { path };
                bytes(File::open(path).map_err(|e| file_error("open", path, &e))?, path, most)?
            }
        };
        if bytes.is_empty() {
            return Err(Error::invalid(format!("`{}` is empty: it is not a graph", path.display())));
        }
        let file = read_graph_within(&bytes, most).map_err(|e| {
            let e = e.note(format!("in file      `{}`", path.display()));
            match e.code() {
                Code::ResourceExhausted => e.with_help(MORE_MEMORY),
                _ => e,
            }
        })?;
        Ok(Loaded { file, size: bytes.len() })
    }

    /// Imports the graph of a file, all of it.
    pub(crate) fn import(self, loaded: &Loaded) -> Result<Graph> {
        self.import_with(loaded, false)
    }

    /// Imports the graph of a file without the nodes that need unknown op types.
    pub(crate) fn import_known(self, loaded: &Loaded) -> Result<Graph> {
        self.import_with(loaded, true)
    }

    fn import_with(self, loaded: &Loaded, leave_out_unknown: bool) -> Result<Graph> {
        let graph = Graph::new();
        let deadline = deadline(self.timeout);
        let mut options = ImportOptions { deadline, leave_out_unknown, ..ImportOptions::default() };
        options.memory_limit = self.memory_limit.unwrap_or_else(|| {
            options.memory_limit.min(SMALL.max(loaded.size.saturating_mul(FOR_EACH_BYTE)))
        });
        loaded.file.import(&graph, &options).map_err(|e| match e.code() {
            Code::ResourceExhausted => e.with_help(MORE_MEMORY),
            Code::DeadlineExceeded => e.with_help("raise --timeout"),
            _ => e,
        })?;
        Ok(graph)
    }
}

fn bytes(from: impl Read, path: &Path, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = (most as u64).saturating_add(1);
    from.take(limit).read_to_end(&mut bytes).map_err(|e| file_error("read", path, &e))?;
    match bytes.len() > most {
        false => Ok(bytes),
        true => Err(Error::new(
            Code::ResourceExhausted,
            format!("the file `{}` has more bytes than the memory limit of {most}", path.display()),
        )),
    }
}

/// The time at which the command began.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Begins the time that [`deadline`] counts from.
pub(crate) fn begin() {
    LazyLock::force(&BEGIN);
}

/// The deadline of the whole command.
pub(crate) fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| BEGIN.checked_add(timeout))
}
