//! Queues and cancellation under a model checker. The sources are compiled with locks and flags that switch
//! threads at every use, and thousands of random schedules from fixed seeds are tried, with few switches and
//! with many. A thread that is never woken is a deadlock, which the checker reports.

#[expect(dead_code, reason = "a part of the crate, compiled once more")]
#[path = "../src/activity.rs"]
mod activity;
#[expect(dead_code, reason = "a part of the crate, compiled once more")]
#[path = "../src/cancel.rs"]
mod cancel;
#[path = "../src/closures.rs"]
mod closures;
#[expect(dead_code, unused_imports, reason = "a part of the crate, compiled once more")]
#[path = "../src/queue/mod.rs"]
mod queue;

/// The checker's locks and flags, under the names that the sources use.
#[expect(dead_code, reason = "not all are used of each kind of number")]
mod sync {
    pub(crate) use shuttle::sync::atomic::{AtomicBool, Ordering};
    use std::cell::Cell;

    thread_local! {
        /// Whether this thread runs a model: sources bring tests of their own along.
        static IN_MODEL: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn in_model() {
        IN_MODEL.set(true);
    }

    /// Lets another thread run before a number is used.
    fn switch() {
        if IN_MODEL.get() {
            shuttle::thread::yield_now();
        }
    }

    /// Numbers that may be static: the checker's own belong to one schedule.
    macro_rules! numbers {
        ($($name:ident: $type:ty),*) => {$(
            #[derive(Debug, Default)]
            pub(crate) struct $name(std::sync::atomic::$name);

            impl $name {
                pub(crate) const fn new(value: $type) -> Self {
                    $name(std::sync::atomic::$name::new(value))
                }
                pub(crate) fn load(&self, order: Ordering) -> $type {
                    switch();
                    self.0.load(order)
                }
                pub(crate) fn store(&self, value: $type, order: Ordering) {
                    switch();
                    self.0.store(value, order);
                }
                pub(crate) fn fetch_add(&self, value: $type, order: Ordering) -> $type {
                    switch();
                    self.0.fetch_add(value, order)
                }
                pub(crate) fn fetch_sub(&self, value: $type, order: Ordering) -> $type {
                    switch();
                    self.0.fetch_sub(value, order)
                }
                pub(crate) fn fetch_update(
                    &self,
                    set: Ordering,
                    fetch: Ordering,
                    change: impl FnMut($type) -> Option<$type>,
                ) -> Result<$type, $type> {
                    switch();
                    self.0.fetch_update(set, fetch, change)
                }
            }
        )*};
    }

    numbers! { AtomicU64: u64, AtomicUsize: usize }

    #[derive(Default)]
    pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }
}

use activity::{Activity, Job, Threads};
use cancel::Cancellation;
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Tensor};
use queue::{Barrier, Closing, Dequeued, Item, Queue, QueueKind, QueueSpec, Take, Waiter};
use shuttle::sync::mpsc::channel;
use shuttle::thread;
use smallvec::smallvec;
use std::sync::Arc;

/// Tries `schedules` random schedules, and others with few switches.
fn check(schedules: usize, program: impl Fn() + Send + Sync + Copy + 'static) {
    sync::in_model();
    shuttle::check_random(program, schedules);
    for switches in 1..=4 {
        shuttle::check_pct(program, schedules / 4, switches);
    }
}

fn queue(capacity: usize) -> Arc<Queue> {
    queue_of(QueueKind::Fifo, capacity)
}

/// A queue of scalars; those of a priority queue come out by size.
fn queue_of(kind: QueueKind, capacity: usize) -> Arc<Queue> {
    let n_components = 1 + (kind == QueueKind::Priority) as usize;
    let shapes = Some(vec![PartialShape::unknown_of_rank(0); n_components]);
    let mut dtypes = vec![DType::I64, DType::I32];
    let spec = QueueSpec {
        kind,
        capacity,
        dtypes: dtypes.split_off(2 - n_components),
        shapes,
        min_after_dequeue: 0,
        seeds: (0, 0),
        batches: Default::default(),
    };
    Arc::new(Queue::new("q", spec, || 0).unwrap())
}

fn item(value: i32) -> Item {
    Item::new(smallvec![Tensor::scalar(value)]).unwrap()
}

fn values(items: Dequeued) -> Vec<i32> {
    items.used().iter().map(|item| item[0].to_scalar().unwrap()).collect()
}

/// Waits for an attempt to end, which must happen exactly once.
fn ended(cancel: &Cancellation, attempt: impl FnOnce(Waiter)) -> Result<Dequeued> {
    let (tell, told) = channel();
    let ended = Box::new(move |result| tell.send(result).unwrap());
    attempt(Waiter { who: "a node".into(), cancel: cancel.clone(), ended });
    let result = told.recv().unwrap();
    assert!(told.recv().is_err(), "told once");
    result
}

/// Enqueues as the kernels do: at once if possible, otherwise in line.
fn put(q: &Arc<Queue>, cancel: &Cancellation, value: i32) -> Result<()> {
    match q.try_enqueue(item(value))? {
        None => Ok(()),
        Some(item) => ended(cancel, |waiter| q.enqueue(vec![item], waiter)).map(|_| ()),
    }
}

fn take(q: &Arc<Queue>, cancel: &Cancellation, take: Take) -> Result<Vec<i32>> {
    match q.try_dequeue(take)? {
        Some(items) => Ok(values(items)),
        None => ended(cancel, |waiter| _ = q.dequeue(take, waiter)).map(values),
    }
}

fn close(q: &Arc<Queue>, cancel_pending: bool) -> Result<()> {
    let closing = Closing { by: "close".into(), why: None, cancelled_pending: cancel_pending };
    ended(&Cancellation::new(), |waiter| q.close(cancel_pending, closing, waiter)).map(|_| ())
}

/// The items left in the queue after all other threads are done.
fn rest(q: &Arc<Queue>) -> Vec<i32> {
    let report = q.report();
    assert!(report.enqueuing.is_empty() && report.dequeuing.is_empty(), "{report}");
    assert_eq!(report.n_in - report.n_out, report.len as u64, "{report}");
    (0..report.len).flat_map(|_| take(q, &Cancellation::new(), Take::UpTo(1)).unwrap()).collect()
}

/// With room for one item, everything comes out once, and each producer's items in order.
#[test]
fn nothing_is_lost_and_order_is_kept() {
    check(8000, || {
        let q = queue(1);
        let producers: Vec<_> = (0..2)
            .map(|p| {
                let q = q.clone();
                thread::spawn(move || (0..2).for_each(|i| put(&q, &Cancellation::new(), 10 * p + i).unwrap()))
            })
            .collect();
        let consumer = {
            let q = q.clone();
            thread::spawn(move || take(&q, &Cancellation::new(), Take::Exactly(2)).unwrap())
        };
        let mut all = Vec::new();
        for _ in 0..2 {
            all.extend(take(&q, &Cancellation::new(), Take::Exactly(1)).unwrap());
        }
        let batch = consumer.join().unwrap();
        producers.into_iter().for_each(|p| p.join().unwrap());
        for taker in [&all, &batch] {
            assert!(
                taker.iter().filter(|v| **v < 10).is_sorted()
                    && taker.iter().filter(|v| **v >= 10).is_sorted()
            );
        }
        all.extend(batch);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 10, 11]);
        assert!(rest(&q).is_empty());
    });
}

/// A dequeue of two is cancelled at any moment: the next dequeue gets the items it had taken.
#[test]
fn what_is_called_off_gives_back() {
    check(8000, || {
        let (q, cancel) = (queue(2), Cancellation::new());
        let taker = {
            let (q, cancel) = (q.clone(), cancel.clone());
            thread::spawn(move || take(&q, &cancel, Take::Exactly(2)))
        };
        let stopper = thread::spawn(move || cancel.cancel(Error::new(Code::Cancelled, "enough")));
        for i in 0..2 {
            put(&q, &Cancellation::new(), i).unwrap();
        }
        stopper.join().unwrap();
        let left = match taker.join().unwrap() {
            Ok(taken) => {
                assert_eq!(taken, [0, 1]);
                Vec::new()
            }
            Err(error) => {
                assert_eq!(error.code(), Code::Cancelled);
                vec![0, 1]
            }
        };
        assert_eq!(rest(&q), left);
    });
}

/// The attempt behind a cancelled one gets the items that the latter had taken.
#[test]
fn the_next_in_line_gets_it() {
    check(8000, || {
        let (q, cancel) = (queue(2), Cancellation::new());
        let first = {
            let (q, cancel) = (q.clone(), cancel.clone());
            thread::spawn(move || take(&q, &cancel, Take::Exactly(2)))
        };
        let second = {
            let q = q.clone();
            thread::spawn(move || take(&q, &Cancellation::new(), Take::Exactly(1)))
        };
        put(&q, &Cancellation::new(), 7).unwrap();
        cancel.cancel(Error::new(Code::Cancelled, "enough"));
        assert!(first.join().unwrap().is_err());
        assert_eq!(second.join().unwrap().unwrap(), [7]);
        assert!(rest(&q).is_empty());
    });
}

/// An enqueue that waits for room is cancelled at any moment: its item is in or out, as the result says.
#[test]
fn an_enqueue_called_off_is_in_or_out() {
    check(8000, || {
        let (q, cancel) = (queue(1), Cancellation::new());
        put(&q, &Cancellation::new(), 0).unwrap();
        let putter = {
            let (q, cancel) = (q.clone(), cancel.clone());
            thread::spawn(move || put(&q, &cancel, 1))
        };
        let stopper = thread::spawn(move || cancel.cancel(Error::new(Code::Cancelled, "enough")));
        assert_eq!(take(&q, &Cancellation::new(), Take::Exactly(1)).unwrap(), [0]);
        stopper.join().unwrap();
        let is_in = putter.join().unwrap().is_ok();
        assert_eq!(rest(&q), if is_in { vec![1] } else { vec![] });
    });
}

/// A queue is closed while others enqueue and dequeue: all of them end, and items in = items out + items
/// left.
#[test]
fn closing_ends_everybody() {
    for cancel_pending in [false, true] {
        check(6000, move || {
            let q = queue(1);
            let putters: Vec<_> = (0..2)
                .map(|i| {
                    let q = q.clone();
                    thread::spawn(move || put(&q, &Cancellation::new(), i))
                })
                .collect();
            let taker = {
                let q = q.clone();
                thread::spawn(move || take(&q, &Cancellation::new(), Take::UpTo(3)))
            };
            close(&q, cancel_pending).unwrap();
            assert_eq!(close(&q, false).unwrap_err().code(), Code::Cancelled);
            let mut handed_in = Vec::new();
            for (i, putter) in putters.into_iter().enumerate() {
                match putter.join().unwrap() {
                    Ok(()) => handed_in.push(i as i32),
                    Err(error) => assert_eq!(error.code(), Code::Cancelled),
                }
            }
            let mut out = match taker.join().unwrap() {
                Ok(taken) => {
                    assert!(!taken.is_empty());
                    taken
                }
                Err(error) => {
                    assert_eq!(error.code(), Code::OutOfRange);
                    Vec::new()
                }
            };
            out.extend(rest(&q));
            out.sort_unstable();
            assert_eq!(out, handed_in);
        });
    }
}

/// The components of elements arrive from two threads, and the barrier is closed at any moment: every element
/// that is complete is taken, once, and the take ends.
#[test]
fn a_barrier_loses_no_element() {
    for cancel_pending in [false, true] {
        check(800, move || {
            let scalars = [PartialShape::unknown_of_rank(0), PartialShape::unknown_of_rank(0)];
            let b = Arc::new(Barrier::new("b", &[DType::I32; 2], &scalars).unwrap());
            let insert = |component: usize, b: &Arc<Barrier>| {
                let b = b.clone();
                thread::spawn(move || {
                    let done =
                        |key: &&str| b.insert(component, &[(*key).into()], vec![Tensor::scalar(1)]).is_ok();
                    ["a", "b"].iter().filter(|key| done(key)).count()
                })
            };
            let inserters = [insert(0, &b), insert(1, &b)];
            let taker = {
                let b = b.clone();
                thread::spawn(move || ended(&Cancellation::new(), |waiter| b.take(2, true, waiter)))
            };
            b.close(Closing { by: "close".into(), why: None, cancelled_pending: cancel_pending }).unwrap();
            let n_inserted: usize = inserters.map(|inserter| inserter.join().unwrap()).iter().sum();
            if !cancel_pending {
                // A key that only the first insertion brought is completed by the second, or it is refused.
                assert_eq!(n_inserted, 2 * (b.report().n_in as usize) + b.n_incomplete());
                b.close(Closing { by: "end".into(), why: None, cancelled_pending: true }).unwrap();
            }
            let taken = match taker.join().unwrap() {
                Ok(items) => items.used().len(),
                Err(error) => {
                    assert_eq!(error.code(), Code::OutOfRange);
                    0
                }
            };
            let report = b.report();
            assert_eq!(report.n_in as usize, taken + b.n_ready(), "{report}");
            assert!(report.dequeuing.is_empty(), "{report}");
        });
    }
}

/// Many rows through little room, cancelled at any moment: the rows that were added stay in the queue, in
/// order and without gaps.
#[test]
fn many_rows_go_in_from_the_first_on() {
    check(8000, || {
        let (q, cancel) = (queue(2), Cancellation::new());
        let putter = {
            let (q, cancel) = (q.clone(), cancel.clone());
            thread::spawn(move || {
                let rows = (0..4).map(item).collect();
                ended(&cancel, |waiter| q.enqueue(rows, waiter)).is_ok()
            })
        };
        let stopper = thread::spawn(move || cancel.cancel(Error::new(Code::Cancelled, "enough")));
        let taker = {
            let q = q.clone();
            thread::spawn(move || q.try_dequeue(Take::Exactly(1)).unwrap().map(values).unwrap_or_default())
        };
        stopper.join().unwrap();
        let mut out = taker.join().unwrap();
        let all = putter.join().unwrap();
        out.extend(rest(&q));
        assert_eq!(out, (0..out.len() as i32).collect::<Vec<_>>());
        assert!(!all || out.len() == 4 || q.report().n_in == 4);
    });
}

/// Listeners are called once, whatever else happens to the flag at the time.
#[test]
fn listeners_are_told_once() {
    check(8000, || {
        let cancel = Cancellation::new();
        let (tell, told) = channel();
        let other = cancel.clone();
        let listener = thread::spawn(move || {
            let kept = other.on_cancel(move |cause| tell.send(cause.message().to_owned()).unwrap());
            drop(other.on_cancel(|_| ()));
            kept
        });
        let first = cancel.cancel(Error::new(Code::Cancelled, "first"));
        assert!(first && !cancel.cancel(Error::new(Code::Cancelled, "second")));
        let _kept = listener.join().unwrap();
        assert_eq!(told.recv().unwrap(), "first");
        assert!(told.recv().is_err());
    });
}

/// A consumer that cannot use a batch returns it, while others wait for the items: none is lost, none is
/// handed out twice, and nobody waits for an item that is in the queue. A producer of several rows is called
/// off at any moment meanwhile. With queues of every kind.
fn batches_return(kind: QueueKind) {
    check(1500, move || {
        let row = move |value: i32| match kind {
            QueueKind::Priority => Item::new(smallvec![Tensor::scalar(value as i64), Tensor::scalar(value)]),
            _ => Item::new(smallvec![Tensor::scalar(value)]),
        };
        let q = queue_of(kind, 2);
        let producer = {
            let q = q.clone();
            thread::spawn(move || {
                for i in 0..4 {
                    _ = ended(&Cancellation::new(), |waiter| q.enqueue(vec![row(i).unwrap()], waiter))
                        .unwrap();
                }
            })
        };
        let consumers: Vec<_> = (0..2)
            .map(|_| {
                let q = q.clone();
                let two = move || {
                    if let Some(items) = q.try_dequeue(Take::Exactly(2)).unwrap() {
                        return items;
                    }
                    ended(&Cancellation::new(), |waiter| _ = q.dequeue(Take::Exactly(2), waiter)).unwrap()
                };
                thread::spawn(move || {
                    let failed = two();
                    assert_eq!(failed.len(), 2);
                    drop(failed);
                    let items = two();
                    items.used().iter().map(|item| item[item.len() - 1].to_scalar().unwrap()).collect()
                })
            })
            .collect();
        let batches: Vec<Vec<i32>> = consumers.into_iter().map(|c| c.join().unwrap()).collect();
        producer.join().unwrap();
        let mut all = batches.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert_eq!(q.report().len, 0);
    });
}

#[test]
fn batches_that_fail_return() {
    batches_return(QueueKind::Fifo);
}

#[test]
fn padded_batches_that_fail_return() {
    batches_return(QueueKind::PaddingFifo);
}

#[test]
fn shuffled_batches_that_fail_return() {
    batches_return(QueueKind::RandomShuffle);
}

#[test]
fn batches_by_priority_that_fail_return() {
    batches_return(QueueKind::Priority);
}

/// One thread of the program hands out jobs and sleeps until each is done; another sleeps all the time, and
/// looks whether nobody is left who could wake it. As long as the first goes on, no two looks in a row see
/// that with nothing changed in between.
#[test]
fn somebody_is_always_seen_awake() {
    check(4000, || {
        let before = Threads::now();
        assert!(before.asleep == 0 && !before.at_work);
        let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let looks = {
            let over = over.clone();
            thread::spawn(move || {
                let waits = Activity::default();
                waits.begin();
                let asleep = waits.sleep();
                let mut last = None;
                for _ in 0..6 {
                    let now = Threads::now();
                    // Read last: the look was at an earlier time.
                    let all =
                        now.asleep == 2 && !now.at_work && !over.load(std::sync::atomic::Ordering::SeqCst);
                    assert!(!all || last != Some(now.changes), "both are taken to sleep for ever");
                    last = all.then_some(now.changes);
                }
                drop(asleep);
                waits.end();
            })
        };
        let run = Activity::default();
        run.begin();
        for _ in 0..2 {
            let job = Job::begin();
            let (tell, told) = channel();
            let (caller, roused) = (run.clone(), Arc::new(sync::Mutex::new(false)));
            let rouses = roused.clone();
            let worker = thread::spawn(move || {
                let mut roused = rouses.lock();
                *roused = true;
                caller.wake();
                drop(roused);
                tell.send(()).unwrap();
                drop(job);
            });
            // As a run's caller: it does not fall asleep once it was roused.
            let dozes = {
                let roused = roused.lock();
                (!*roused).then(|| run.doze())
            };
            told.recv().unwrap();
            drop(dozes);
            worker.join().unwrap();
        }
        run.end();
        over.store(true, std::sync::atomic::Ordering::SeqCst);
        looks.join().unwrap();
        let after = Threads::now();
        assert!(after.asleep == 0 && !after.at_work, "{after:?}");
    });
}
