//! [`QueueRunner`]: threads that keep a queue filled.

use crate::Callable;
use crate::coordinator::{Coordinator, Stop};
use crate::session::{RunOptions, Session};
use crate::sync::{Mutex, Sender, channel};
use millstream_graph::{CollectionItem, Graph};
use millstream_proto::{QueueRunnerDef, decode, encode};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::look;
use millstream_tensor::{Code, Result, ensure};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The bytes charged for a thread: the pages of its stack that a run touches. A graph can ask for any number
/// of threads in a few bytes each. Waiting threads took 8 KiB, those that run kernels a few times that
/// (2026-11).
const THREAD: usize = 32 << 10;

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
    /// The call that starts it, in the words of the front end that added it.
    started_by: Option<Arc<str>>,
}

/// The runners of a graph, so that every look at a graph's collection finds the same ones: a runner knows its
/// threads.
#[derive(Default)]
struct Known(Mutex<Vec<(Origin, QueueRunner)>>);

#[derive(PartialEq)]
enum Origin {
    /// An item of the collection with this content.
    Item(Vec<u8>),
    /// A front end that starts the runner itself.
    FrontEnd,
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
            started_by: None,
        }
    }

    /// The same with other codes that mean the end of the input.
    pub fn closed_by(mut self, codes: impl IntoIterator<Item = Code>) -> QueueRunner {
        self.closed_codes = codes.into_iter().collect();
        self
    }

    /// The runners of a graph, those of an imported `MetaGraphDef` included. The same runner at every call.
    pub fn of_graph(graph: &Graph) -> Vec<QueueRunner> {
        let known = graph.extension::<Known>();
        let items = graph.collection(QUEUE_RUNNERS);
        let mut known = known.0.lock();
        let mut found: Vec<usize> = Vec::new();
        for item in items {
            let CollectionItem::Bytes(bytes) = item else { continue };
            let origin = Origin::Item(bytes);
            // Equal items are runners of their own.
            let same = |(i, (of, _)): (usize, &(Origin, QueueRunner))| {
                (*of == origin && !found.contains(&i)).then_some(i)
            };
            if let Some(i) = known.iter().enumerate().find_map(same) {
                found.push(i);
            } else if let Origin::Item(bytes) = &origin
                && let Some(runner) = Self::decoded(bytes)
            {
                found.push(known.len());
                known.push((origin, runner));
            }
        }
        found.into_iter().map(|i| known[i].1.clone()).collect()
    }

    fn decoded(bytes: &[u8]) -> Option<QueueRunner> {
        let def: QueueRunnerDef = decode(bytes).ok()?;
        let runner =
            QueueRunner::new(def.queue_name, def.enqueue_op_name, def.close_op_name, def.cancel_op_name);
        let codes: Vec<Code> =
            def.queue_closed_exception_types.into_iter().filter_map(Code::from_number).collect();
        Some(if codes.is_empty() { runner } else { runner.closed_by(codes) })
    }

    /// The runners of a graph, with those that a front end starts itself.
    pub(crate) fn known(graph: &Graph) -> Vec<QueueRunner> {
        let mut all = Self::of_graph(graph);
        let known = graph.extension::<Known>();
        let known = known.0.lock();
        all.extend(known.iter().filter(|(of, _)| *of == Origin::FrontEnd).map(|(_, runner)| runner.clone()));
        all
    }

    /// Tells the graph of a runner that a front end starts itself, by the call `started_by`. If the queue is
    /// waited for and the runner was never started, the error names both.
    #[doc(hidden)]
    pub fn announce(mut self, graph: &Graph, started_by: &str) {
        self.started_by = Some(started_by.into());
        graph.extension::<Known>().0.lock().push((Origin::FrontEnd, self));
    }

    pub(crate) fn started_by(&self) -> Option<&str> {
        self.started_by.as_deref()
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
        let bytes = encode(&def);
        // Starting this runner and starting those of the graph is the same.
        graph.extension::<Known>().0.lock().push((Origin::Item(bytes.clone()), self.clone()));
        graph.add_to_collection(QUEUE_RUNNERS, CollectionItem::Bytes(bytes));
    }

    /// Starts the threads and returns their number: 0 while those of an earlier call in this session run. If
    /// one of them cannot be started, none runs.
    pub fn start(&self, session: &Session, coordinator: &Coordinator) -> Result<usize> {
        Self::start_all(std::slice::from_ref(self), session, coordinator)
    }

    /// Starts the threads of several runners, as [`QueueRunner::start`] does. If one thread cannot be
    /// started, none of any runner runs.
    pub fn start_all(runners: &[QueueRunner], session: &Session, coordinator: &Coordinator) -> Result<usize> {
        let _within = session.within();
        let ready = |runner: &QueueRunner| runner.prepare(session, coordinator).transpose();
        let ready = runners.iter().filter_map(ready).collect::<Result<Vec<Ready>>>()?;
        Ok(ready.into_iter().map(|ready| ready.go(session, coordinator)).sum())
    }

    /// Starts the threads, which wait for [`Ready::go`] and end if it does not come. `None` while those of an
    /// earlier call run.
    fn prepare(&self, session: &Session, coordinator: &Coordinator) -> Result<Option<Ready>> {
        ensure!(!self.enqueue_ops.is_empty(), "the runner of queue `{}` has no operation to run", self.queue);
        let graph = session.graph();
        let call = |name: &str| session.make_callable(graph.operation(name)?, []);
        // Operations in branches are named by their values: `cond/Merge:0`.
        let enqueue = |name: &String| call(name.strip_suffix(":0").unwrap_or(name));
        let enqueues = self.enqueue_ops.iter().map(enqueue).collect::<Result<Vec<Callable>>>()?;
        let (close, cancel) = (Arc::new(call(&self.close_op)?), call(&self.cancel_op)?);
        let Some(counts) = self.count(session.key()) else { return Ok(None) };
        let mut gates = Vec::new();
        for ((enqueue, op), counted) in enqueues.into_iter().zip(&self.enqueue_ops).zip(counts) {
            let (this, coordinator_of, close) = (self.clone(), coordinator.clone(), close.clone());
            let name = format!("QueueRunner {} {op}", self.queue);
            look()?;
            let room = Room::of(THREAD).map_err(|e| {
                let n_threads = self.enqueue_ops.len();
                e.note(format!("while starting {n_threads} threads for the queue `{}`", self.queue))
            })?;
            let (gate, open) = channel();
            coordinator.spawn(name, move || {
                let _room = room;
                match open.recv() {
                    Ok(counted) => this.fill(&enqueue, &close, &coordinator_of, counted),
                    // Another thread could not be started.
                    Err(_) => Ok(()),
                }
            })?;
            gates.push((gate, counted));
        }
        Ok(Some(Ready { queue: self.queue.clone(), gates, cancel }))
    }

    /// Counts all threads as running in a session; `None` if some run already.
    fn count(&self, key: usize) -> Option<Vec<Running>> {
        let n_threads = self.enqueue_ops.len();
        {
            let mut running = self.running.lock();
            let running = running.entry(key).or_default();
            if *running > 0 {
                return None;
            }
            *running = n_threads;
        }
        let counted = || Running { runner: self.clone(), key, ended: false };
        Some(std::iter::repeat_with(counted).take(n_threads).collect())
    }

    fn fill(
        &self,
        enqueue: &Callable,
        close: &Callable,
        coordinator: &Coordinator,
        mut counted: Running,
    ) -> Result<()> {
        let Err(error) = enqueue.repeat(|| !coordinator.should_stop()) else { return Ok(()) };
        if !self.closed_codes.contains(&error.code()) {
            return Err(error);
        }
        if counted.end() == 0 {
            let why = format!("the input of its runner came to its end: {}", first_line(&error.to_string()));
            // Something else may have closed it.
            let _ = close.call_with(Vec::new(), &because(why));
        }
        Ok(())
    }
}

/// A runner whose threads are started and wait. When it drops instead of being told to go, they end without
/// having run anything, and do not count any more.
struct Ready {
    queue: String,
    gates: Vec<(Sender<Running>, Running)>,
    cancel: Callable,
}

impl Ready {
    /// Lets the threads run. Returns their number.
    fn go(self, session: &Session, coordinator: &Coordinator) -> usize {
        let Ready { queue, gates, cancel } = self;
        session.runner_started(&queue);
        let n_threads = gates.len();
        for (gate, counted) in gates {
            // The thread waits for this.
            let _ = gate.send(counted);
        }
        coordinator.on_stop(move |why| {
            let why = match why {
                Stop::Asked => "the coordinator was asked to stop".to_owned(),
                Stop::Failed(error) => format!("the coordinator stopped: {}", first_line(&error.to_string())),
            };
            // The error that the queue is already closed does not matter.
            let why = because(format!("{why} (runner of `{queue}`)"));
            // An operation that waits for earlier ones must not do so for ever.
            let options = RunOptions { timeout: Some(Duration::from_secs(60)), ..why };
            let _ = cancel.call_with(Vec::new(), &options);
        });
        n_threads
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
    RunOptions { why: Some(why.into()), ..RunOptions::default() }
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
