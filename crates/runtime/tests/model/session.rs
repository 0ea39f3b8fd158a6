//! A session whose callables work on a small queue.

use crate::sync::{Condvar, Mutex};
use millstream_graph::{Graph, Op, Output};
use millstream_tensor::budget::{Entered, enter};
use millstream_tensor::{Code, Error, Result, Tensor};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct RunOptions {
    #[expect(dead_code, reason = "no message here tells it")]
    pub(crate) why: Option<Arc<str>>,
    #[expect(dead_code, reason = "nothing here takes time")]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Clone)]
pub(crate) struct Session {
    graph: Graph,
    pub(crate) store: Arc<Store>,
}

impl Session {
    pub(crate) fn new(graph: Graph, store: Arc<Store>) -> Session {
        Session { graph, store }
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn key(&self) -> usize {
        1
    }

    pub(crate) fn within(&self) -> Entered<'_> {
        enter(None)
    }

    pub(crate) fn runner_started(&self, queue: &str) {
        assert_eq!(queue, "q");
    }

    pub(crate) fn make_callable(&self, op: Op<'_>, _: [Output<'_>; 0]) -> Result<Callable> {
        Ok(Callable { name: op.name(), store: self.store.clone() })
    }
}

pub(crate) struct Callable {
    name: String,
    store: Arc<Store>,
}

impl Callable {
    pub(crate) fn call(&self, _: &[Tensor]) -> Result<()> {
        match &*self.name {
            "enqueue" => self.store.put(),
            "close" => self.store.close(false),
            "cancel" => self.store.close(true),
            _ => Err(Error::internal("the input is broken")),
        }
    }

    pub(crate) fn repeat(&self, mut go_on: impl FnMut() -> bool) -> Result<()> {
        while go_on() {
            self.call(&[])?;
        }
        Ok(())
    }

    pub(crate) fn call_with(&self, _: Vec<Tensor>, _: &RunOptions) -> Result<()> {
        self.call(&[])
    }
}

/// A queue and its input.
pub(crate) struct Store {
    capacity: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    n_inputs: usize,
    items: VecDeque<usize>,
    closed: bool,
    cancelled: bool,
}

impl Store {
    pub(crate) fn new(capacity: usize, n_inputs: usize) -> Store {
        let state = State { n_inputs, ..State::default() };
        Store { capacity, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn put(&self) -> Result<()> {
        let mut state = self.state.lock();
        if state.n_inputs == 0 {
            return Err(Error::new(Code::OutOfRange, "the input has ended"));
        }
        state.n_inputs -= 1;
        while state.items.len() == self.capacity && !state.cancelled {
            self.changed.wait(&mut state);
        }
        if state.closed {
            return Err(Error::new(Code::Cancelled, "the queue is closed"));
        }
        let item = state.n_inputs;
        state.items.push_back(item);
        self.changed.notify_all();
        Ok(())
    }

    pub(crate) fn take(&self) -> Result<usize> {
        let mut state = self.state.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                self.changed.notify_all();
                return Ok(item);
            }
            if state.closed {
                return Err(Error::new(Code::OutOfRange, "the queue is closed and has no items"));
            }
            self.changed.wait(&mut state);
        }
    }

    pub(crate) fn has_read_all(&self) -> bool {
        self.state.lock().n_inputs == 0
    }

    fn close(&self, cancel: bool) -> Result<()> {
        let mut state = self.state.lock();
        state.closed = true;
        state.cancelled |= cancel;
        self.changed.notify_all();
        Ok(())
    }
}
