//! [`QueueRunner`]: threads that keep a queue filled.

use crate::Callable;
use crate::coordinator::{Coordinator, Stop};
use crate::session::{RunOptions, Session};
use millstream_graph::{CollectionItem, Graph};
use millstream_proto::{QueueRunnerDef, decode, encode};
use millstream_tensor::{Code, Result, ensure};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The collection of a graph's queue runners.
pub const QUEUE_RUNNERS: &str = "queue_runners";

/// Operations that fill a queue, each run again and again by a thread of its own, and the operations that
/// close it.
///
/// A thread ends when its operation fails with one of [`QueueRunner::closed_codes`] (the end of its input);
/// the last thread to end so closes the queue. Any other error stops the coordinator and all its threads.
/// When the coordinator stops, operations that wait for room are cancelled.
///
/// Definition: TensorFlow's `tf.train.QueueRunner`.
#[derive(Clone, Debug)]
pub struct QueueRunner {
    /// The queue's node.
    pub queue: String,
    /// The operations, one for each thread. The same one may occur several times.
    pub enqueue_ops: Vec<String>,
    /// The operation that closes the queue.
    pub close_op: String,
    /// The operation that closes the queue and cancels enqueues that wait for room.
    pub cancel_op: String,
    /// The codes of errors that mean the end of an operation's input.
    pub closed_codes: Vec<Code>,
    /// The number of threads that run, by session.
    running: Arc<Mutex<HashMap<usize, usize>>>,
}

impl QueueRunner {
    /// A runner of these operations, by their names. `OUT_OF_RANGE` means the end of the input.
    pub fn new(
        queue: impl Into<String>,
        enqueue_ops: impl IntoIterator<Item = String>,
        close_op: impl Into<String>,
        cancel_op: impl Into<String>,
    ) -> QueueRunner {
        QueueRunner {
            queue: queue.into(),
            enqueue_ops: enqueue_ops.into_iter().collect(),
            close_op: close_op.into(),
            cancel_op: cancel_op.into(),
            closed_codes: vec![Code::OutOfRange],
            running: Arc::default(),
        }
    }

    /// The same with other codes that mean the end of the input.
    pub fn closed_by(mut self, codes: impl IntoIterator<Item = Code>) -> QueueRunner {
        self.closed_codes = codes.into_iter().collect();
        self
    }

    /// The runners of a graph, those of an imported `MetaGraphDef` included.
    pub fn of_graph(graph: &Graph) -> Vec<QueueRunner> {
        let of_item = |item| {
            let CollectionItem::Bytes(bytes) = item else { return None };
            let def: QueueRunnerDef = decode(&bytes).ok()?;
            let runner =
                QueueRunner::new(def.queue_name, def.enqueue_op_name, def.close_op_name, def.cancel_op_name);
            let codes: Vec<Code> =
                def.queue_closed_exception_types.into_iter().filter_map(Code::from_number).collect();
            Some(if codes.is_empty() { runner } else { runner.closed_by(codes) })
        };
        graph.collection(QUEUE_RUNNERS).into_iter().filter_map(of_item).collect()
    }

    /// Adds the runner to those of a graph.
    pub fn add_to(&self, graph: &Graph) {
        let def = QueueRunnerDef {
            queue_name: self.queue.clone(),
            enqueue_op_name: self.enqueue_ops.clone(),
            close_op_name: self.close_op.clone(),
            cancel_op_name: self.cancel_op.clone(),
            queue_closed_exception_types: self.closed_codes.iter().map(|code| *code as i32).collect(),
        };
        graph.add_to_collection(QUEUE_RUNNERS, CollectionItem::Bytes(encode(&def)));
    }

    /// Starts the threads and returns their number: 0 while those of an earlier call in this session run.
    pub fn start(&self, session: &Session, coordinator: &Coordinator) -> Result<usize> {
        ensure!(!self.enqueue_ops.is_empty(), "the runner of queue `{}` has no operation to run", self.queue);
        let graph = session.graph();
        let call = |name: &str| session.make_callable(graph.operation(name)?, []);
        // Operations in branches are named by their values: `cond/Merge:0`.
        let enqueue = |name: &String| call(name.strip_suffix(":0").unwrap_or(name));
        let enqueues = self.enqueue_ops.iter().map(enqueue).collect::<Result<Vec<Callable>>>()?;
        let (close, cancel) = (Arc::new(call(&self.close_op)?), call(&self.cancel_op)?);
        let key = session.key();
        {
            let mut running = self.running.lock();
            let running = running.entry(key).or_default();
            if *running > 0 {
                return Ok(0);
            }
            *running = enqueues.len();
        }
        session.runner_started(&self.queue);
        let n_threads = enqueues.len();
        // All are counted before the first thread starts: if one cannot be started, those after it leave the
        // count too.
        let counted = || Running { runner: self.clone(), key, ended: false };
        let counts: Vec<Running> = std::iter::repeat_with(counted).take(n_threads).collect();
        for ((enqueue, op), counted) in enqueues.into_iter().zip(&self.enqueue_ops).zip(counts) {
            let (this, coordinator_of, close) = (self.clone(), coordinator.clone(), close.clone());
            let name = format!("QueueRunner {} {op}", self.queue);
            coordinator.spawn(name, move || this.fill(&enqueue, &close, &coordinator_of, counted))?;
        }
        let queue = self.queue.clone();
        coordinator.on_stop(move |why| {
            let why = match why {
                Stop::Asked => "the coordinator was asked to stop".to_owned(),
                Stop::Failed(error) => format!("the coordinator stopped: {}", first_line(&error.to_string())),
            };
            // The error that the queue is already closed does not matter.
            let _ = cancel.call_with(Vec::new(), &because(format!("{why} (runner of `{queue}`)")));
        });
        Ok(n_threads)
    }

    fn fill(
        &self,
        enqueue: &Callable,
        close: &Callable,
        coordinator: &Coordinator,
        mut counted: Running,
    ) -> Result<()> {
        loop {
            if coordinator.should_stop() {
                return Ok(());
            }
            let Err(error) = enqueue.call(&[]) else { continue };
            if !self.closed_codes.contains(&error.code()) {
                return Err(error);
            }
            if counted.end() == 0 {
                let why =
                    format!("the input of its runner came to its end: {}", first_line(&error.to_string()));
                // Something else may have closed it.
                let _ = close.call_with(Vec::new(), &because(why));
            }
            return Ok(());
        }
    }
}

/// Counts one thread among those that run in a session, until it ends or drops.
struct Running {
    runner: QueueRunner,
    key: usize,
    ended: bool,
}

impl Running {
    /// Takes the thread off the count. Returns how many are left.
    fn end(&mut self) -> usize {
        self.ended = true;
        let mut running = self.runner.running.lock();
        let left = running.get(&self.key).map_or(0, |n| n.saturating_sub(1));
        match left {
            0 => running.remove(&self.key),
            _ => running.insert(self.key, left),
        };
        left
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.end();
        }
    }
}

fn because(why: String) -> RunOptions {
    // Closing waits for operations ahead of it in the queue; a stop must not wait for ever.
    RunOptions { why: Some(why.into()), timeout: Some(Duration::from_secs(60)), ..RunOptions::default() }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
