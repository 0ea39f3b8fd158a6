//! A server of the tests' own, and queues in it.
#![allow(
    dead_code,
    unused_imports,
    clippy::allow_attributes,
    reason = "each test program uses a part of this"
)]

mod server;
mod way;

pub use server::{Server, free_port};
pub use way::{Dice, Hole, Progress, Way, pass};

use millstream_state::{Cancellation, Closing, Dequeued, Item, Queue, QueueKind, QueueSpec, Take, Waiter};
use millstream_store::Store;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor};
use parking_lot::{Condvar, Mutex};
use smallvec::smallvec;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn spec(kind: QueueKind, capacity: usize) -> QueueSpec {
    let scalar = PartialShape::unknown_of_rank(0);
    let dtypes = match kind {
        QueueKind::Priority => vec![DType::I64, DType::I32],
        _ => vec![DType::I32],
    };
    let shapes = Some(vec![scalar; dtypes.len()]);
    QueueSpec {
        kind,
        capacity,
        dtypes,
        shapes,
        min_after_dequeue: 0,
        seeds: (0, 0),
        batches: Default::default(),
    }
}

fn numbers() -> impl FnMut() -> u32 + Send + 'static {
    let mut state = 1u32;
    move || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state >> 8
    }
}

/// The queue `name` in the store.
pub fn stored(store: &Store, name: &str, spec: QueueSpec) -> Arc<Queue> {
    Arc::new(Queue::kept_by(store, "", name, spec, numbers()).unwrap())
}

/// A queue in this process.
pub fn here(name: &str, spec: QueueSpec) -> Arc<Queue> {
    Arc::new(Queue::new(name, spec, numbers()).unwrap())
}

/// An item with this value; in a priority queue, with the last digit as its priority.
pub fn item(kind: QueueKind, value: i32) -> Item {
    let value_of = Tensor::scalar(value);
    Item::new(match kind {
        QueueKind::Priority => smallvec![Tensor::scalar(i64::from(value % 10) - 5), value_of],
        _ => smallvec![value_of],
    })
    .unwrap()
}

/// The result of an attempt: the last component of each item.
#[derive(Clone, Default)]
pub struct Answer(Arc<(Mutex<Ended>, Condvar)>);

type Ended = Option<Result<Vec<i32>>>;

impl Answer {
    pub fn now(&self) -> Option<Result<Vec<i32>>> {
        self.0.0.lock().clone()
    }

    /// The result, for which this waits.
    #[track_caller]
    pub fn result(&self) -> Result<Vec<i32>> {
        let mut result = self.0.0.lock();
        let end = Instant::now() + Duration::from_secs(20);
        while result.is_none() {
            assert!(!self.0.1.wait_until(&mut result, end).timed_out(), "no answer comes");
        }
        result.clone().unwrap()
    }

    #[track_caller]
    pub fn values(&self) -> Vec<i32> {
        self.result().unwrap()
    }

    #[track_caller]
    pub fn error(&self) -> Error {
        self.result().unwrap_err()
    }

    pub fn waits(&self) -> bool {
        self.now().is_none()
    }

    fn set(&self, result: Result<Vec<i32>>) {
        let before = self.0.0.lock().replace(result);
        assert!(before.is_none(), "told twice");
        self.0.1.notify_all();
    }
}

/// What is done with the items that a dequeue yields.
pub fn waiter(who: &str, cancel: &Cancellation, uses: bool) -> (Answer, Waiter) {
    let answer = Answer::default();
    let told = answer.clone();
    let ended = Box::new(move |result: Result<Dequeued>| {
        let value = |items: &[Item]| items.iter().map(|i| i.last().unwrap().to_scalar().unwrap()).collect();
        let result = result.map(|items| {
            let values = value(&items);
            if uses {
                drop(items.used());
            }
            values
        });
        told.set(result);
    });
    (answer, Waiter { who: who.into(), cancel: cancel.clone(), ended })
}

pub fn enqueue_with(q: &Arc<Queue>, values: impl IntoIterator<Item = i32>, cancel: &Cancellation) -> Answer {
    let (answer, waiter) = waiter("put", cancel, true);
    let kind = q.spec().kind;
    q.enqueue(values.into_iter().map(|value| item(kind, value)).collect(), waiter);
    answer
}

pub fn enqueue(q: &Arc<Queue>, values: impl IntoIterator<Item = i32>) -> Answer {
    enqueue_with(q, values, &Cancellation::new())
}

pub fn dequeue_with(q: &Arc<Queue>, take: Take, cancel: &Cancellation, uses: bool) -> Answer {
    let (answer, waiter) = waiter("get", cancel, uses);
    q.dequeue(take, waiter);
    answer
}

pub fn dequeue(q: &Arc<Queue>, take: Take) -> Answer {
    dequeue_with(q, take, &Cancellation::new(), true)
}

pub fn close(q: &Arc<Queue>, cancels: bool) -> Answer {
    let (answer, waiter) = waiter("close", &Cancellation::new(), true);
    let why = Some("the input ended".into());
    q.close(cancels, Closing { by: "close".into(), why, cancelled_pending: cancels }, waiter);
    answer
}

/// The number of items, and whether the queue is closed. All that this process asked before has been done.
pub fn look(q: &Arc<Queue>) -> (usize, bool) {
    let (sender, receiver) = std::sync::mpsc::channel();
    q.look_up("look".into(), &Cancellation::new(), Box::new(move |looked| sender.send(looked).unwrap()));
    receiver.recv_timeout(Duration::from_secs(20)).unwrap().unwrap()
}
