//! Queues on their own, without a graph: order, waiting, closing, cancellation.

use millstream_state::{
    Batches, Cancellation, Closing, Dequeued, Item, Queue, QueueKind, QueueSpec, Take, Waiter,
};
use millstream_tensor::{Code, DType, Error, Opaque, PartialShape, Result, Tensor};
use parking_lot::Mutex;
use smallvec::smallvec;
use std::sync::Arc;

fn spec(kind: QueueKind, capacity: usize) -> QueueSpec {
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

fn queue_like(spec: QueueSpec) -> Arc<Queue> {
    let mut state = 1u32;
    let random = move || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state >> 8
    };
    Arc::new(Queue::new("q", spec, random).unwrap())
}

fn queue(kind: QueueKind, capacity: usize) -> Arc<Queue> {
    queue_like(spec(kind, capacity))
}

fn item(value: i32) -> Item {
    Item::new(smallvec![Tensor::scalar(value)]).unwrap()
}

fn items(values: impl IntoIterator<Item = i32>) -> Vec<Item> {
    values.into_iter().map(item).collect()
}

/// The result of an attempt, once it has ended: the last component of each item.
#[derive(Clone, Default)]
struct Answer(Arc<Mutex<Option<Result<Vec<i32>>>>>);

impl Answer {
    /// The values of the items. Panics while the attempt waits.
    #[track_caller]
    fn values(&self) -> Vec<i32> {
        self.0.lock().clone().expect("still waits").unwrap()
    }

    #[track_caller]
    fn error(&self) -> Error {
        self.0.lock().clone().expect("still waits").unwrap_err()
    }

    fn waits(&self) -> bool {
        self.0.lock().is_none()
    }
}

fn waiter(who: &str, cancel: &Cancellation) -> (Answer, Waiter) {
    let answer = Answer::default();
    let told = answer.clone();
    let ended = Box::new(move |result: Result<Dequeued>| {
        let result =
            result.map(|items| items.used().iter().map(|i| i.last().unwrap().to_scalar().unwrap()).collect());
        let before = told.0.lock().replace(result);
        assert!(before.is_none(), "told twice");
    });
    (answer, Waiter { who: who.into(), cancel: cancel.clone(), ended })
}

fn enqueue(q: &Arc<Queue>, values: impl IntoIterator<Item = i32>) -> Answer {
    let (answer, waiter) = waiter("put", &Cancellation::new());
    q.enqueue(items(values), waiter);
    answer
}

fn dequeue(q: &Arc<Queue>, take: Take) -> Answer {
    let (answer, waiter) = waiter("get", &Cancellation::new());
    q.dequeue(take, waiter);
    answer
}

fn close(q: &Arc<Queue>, cancel_pending: bool) -> Answer {
    let (answer, waiter) = waiter("close", &Cancellation::new());
    let closing = Closing {
        by: "close".into(),
        why: Some("the input ended".into()),
        cancelled_pending: cancel_pending,
    };
    q.close(cancel_pending, closing, waiter);
    answer
}

use Take::{Exactly, UpTo};

#[test]
fn first_in_first_out() {
    let q = queue(QueueKind::Fifo, 3);
    for i in 0..3 {
        assert!(q.try_enqueue(item(i)).unwrap().is_none());
    }
    assert!(q.try_enqueue(item(3)).unwrap().is_some(), "it is full");
    assert_eq!(dequeue(&q, Exactly(2)).values(), [0, 1]);
    assert_eq!(q.try_dequeue_one().unwrap().unwrap()[0].to_scalar::<i32>().unwrap(), 2);
    assert!(q.try_dequeue_one().unwrap().is_none());
}

#[test]
fn attempts_are_served_in_order() {
    let q = queue(QueueKind::Fifo, 2);
    let (a, b, c) = (dequeue(&q, Exactly(1)), dequeue(&q, Exactly(3)), dequeue(&q, Exactly(1)));
    assert!(a.waits() && b.waits() && c.waits());
    enqueue(&q, 0..3);
    assert_eq!(a.values(), [0]);
    assert!(b.waits() && c.waits());
    assert!(q.try_dequeue_one().unwrap().is_none(), "others are ahead");
    // More rows than the capacity.
    enqueue(&q, 3..5);
    assert_eq!((b.values(), c.values()), (vec![1, 2, 3], vec![4]));
}

#[test]
fn rows_go_in_as_there_is_room() {
    let q = queue(QueueKind::Fifo, 2);
    let put = enqueue(&q, 0..5);
    let after = enqueue(&q, [9]);
    assert!(put.waits());
    assert_eq!(q.len(), 2);
    assert_eq!(dequeue(&q, Exactly(2)).values(), [0, 1]);
    assert!(put.waits() && after.waits());
    assert_eq!(dequeue(&q, Exactly(3)).values(), [2, 3, 4]);
    assert_eq!(put.values(), []);
    assert_eq!(dequeue(&q, Exactly(1)).values(), [9]);
}

#[test]
fn closing_waits_for_those_ahead() {
    let q = queue(QueueKind::Fifo, 1);
    let (put, closed, late) = (enqueue(&q, 0..2), close(&q, false), enqueue(&q, [7]));
    assert!(put.waits() && closed.waits() && late.waits() && !q.is_closed());
    assert_eq!(dequeue(&q, UpTo(5)).values(), [0, 1]);
    assert_eq!((put.values(), closed.values()), (vec![], vec![]));
    assert_eq!(late.error().code(), Code::Cancelled);
    let again = close(&q, false).error();
    assert_eq!(again.code(), Code::Cancelled);
    let end = dequeue(&q, Exactly(1)).error();
    assert_eq!(end.code(), Code::OutOfRange);
    for part in [
        "FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size 0)",
        "closed by `close`: the input ended",
    ] {
        assert!(end.to_string().contains(part), "{end}");
    }
}

#[test]
fn closing_at_once_cancels_those_who_wait() {
    let q = queue(QueueKind::Fifo, 1);
    let (put, closing) = (enqueue(&q, 0..3), close(&q, false));
    assert_eq!(close(&q, true).values(), []);
    assert_eq!(put.error().code(), Code::Cancelled);
    assert_eq!(closing.error().code(), Code::Cancelled);
    assert_eq!(dequeue(&q, Exactly(1)).values(), [0], "what went in stays in");
    assert_eq!(enqueue(&q, []).values(), [], "no rows are no attempt");
}

#[test]
fn a_batch_that_cannot_be_filled_goes_back() {
    let q = queue(QueueKind::Fifo, 2);
    let short = dequeue(&q, Exactly(4));
    let after = dequeue(&q, Exactly(2));
    enqueue(&q, 0..2);
    assert!(short.waits());
    assert_eq!(q.len(), 0, "it takes them as they come");
    close(&q, false);
    let error = short.error().to_string();
    assert!(error.contains("(requested 2, current size 0)"), "{error}");
    assert_eq!(after.values(), [0, 1]);
}

#[test]
fn what_is_left_makes_a_smaller_batch() {
    let q = queue(QueueKind::Fifo, 10);
    let rest = dequeue(&q, UpTo(4));
    enqueue(&q, 0..3);
    assert!(rest.waits());
    close(&q, false);
    assert_eq!(rest.values(), [0, 1, 2]);
    assert_eq!(dequeue(&q, UpTo(4)).error().code(), Code::OutOfRange);
    assert_eq!(dequeue(&q, UpTo(0)).values(), [], "nothing can always be had");
}

#[test]
fn who_is_called_off_leaves_the_line_and_gives_back() {
    let q = queue(QueueKind::Fifo, 2);
    let cancel = Cancellation::new();
    let (first, to_cancel) = waiter("get", &cancel);
    q.dequeue(Exactly(3), to_cancel);
    let second = dequeue(&q, Exactly(2));
    enqueue(&q, 0..2);
    assert!(first.waits() && second.waits());
    assert_eq!(q.report().dequeuing.len(), 2);
    cancel.cancel(Error::new(Code::DeadlineExceeded, "too late"));
    assert_eq!(first.error().code(), Code::DeadlineExceeded);
    assert_eq!(second.values(), [0, 1]);
    // An attempt that is cancelled before it begins.
    let (late, waiter) = waiter("get", &cancel);
    q.dequeue(Exactly(1), waiter);
    assert_eq!(late.error().code(), Code::DeadlineExceeded);
    assert_eq!(q.report().dequeuing.len(), 0);
    let report = q.report();
    assert_eq!((report.n_in, report.n_out), (2, 2));
}

#[test]
fn a_shuffle_holds_some_back_until_it_is_closed() {
    let q = queue_like(QueueSpec { min_after_dequeue: 3, ..spec(QueueKind::RandomShuffle, 100) });
    enqueue(&q, 0..3);
    let one = dequeue(&q, Exactly(1));
    assert!(one.waits());
    enqueue(&q, 3..100);
    let mut all = one.values();
    all.extend(dequeue(&q, Exactly(96)).values());
    let more = dequeue(&q, Exactly(3));
    assert!(more.waits());
    close(&q, false);
    all.extend(more.values());
    assert_ne!(all, (0..100).collect::<Vec<_>>());
    all.sort_unstable();
    assert_eq!(all, (0..100).collect::<Vec<_>>());
}

#[test]
fn priorities_come_out_sorted_and_equal_ones_in_order() {
    let q = queue(QueueKind::Priority, 10);
    let put = |priority: i64, value: i32| {
        let item = Item::new(smallvec![Tensor::scalar(priority), Tensor::scalar(value)]).unwrap();
        assert!(q.try_enqueue(item).unwrap().is_none());
    };
    for (i, p) in [3, 1, 2, 1, 3].into_iter().enumerate() {
        put(p, i as i32);
    }
    let six = dequeue(&q, Exactly(6));
    assert!(six.waits());
    assert_eq!(q.len(), 5, "a sorted batch is taken in one go");
    put(0, 5);
    assert_eq!(six.values(), [5, 1, 3, 2, 0, 4]);
    let rest = dequeue(&q, UpTo(2));
    put(1, 0);
    assert!(rest.waits());
    close(&q, false);
    assert_eq!(rest.values(), [0]);
}

#[test]
fn bad_items_and_bad_queues_are_refused() {
    let q = queue(QueueKind::Fifo, 1);
    let says = |result: Result<()>, part: &str| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    says(
        q.try_enqueue(Item::new(smallvec![Tensor::scalar(1.0f32)]).unwrap()).map(drop),
        "component 0 of FIFOQueue 'q' is i32, not f32",
    );
    says(q.try_enqueue(Item::new(smallvec![]).unwrap()).map(drop), "has 1 components, not 0");
    says(
        q.try_enqueue(Item::new(smallvec![Tensor::vector(&[1i32]).unwrap()]).unwrap()).map(drop),
        "Expected [], got [1]",
    );
    let make = |spec| Queue::new("q", spec, || 0).map(drop);
    let fifo = spec(QueueKind::Fifo, 1);
    says(make(QueueSpec { dtypes: vec![], ..fifo.clone() }), "at least one component");
    says(make(QueueSpec { dtypes: vec![DType::I32; 2], ..fifo.clone() }), "2 components was given 1 shapes");
    says(make(QueueSpec { shapes: None, ..spec(QueueKind::PaddingFifo, 1) }), "needs the shapes");
    says(make(QueueSpec { min_after_dequeue: 1, ..spec(QueueKind::RandomShuffle, 1) }), "cannot hold back");
    says(
        make(QueueSpec { dtypes: vec![DType::I32, DType::I32], ..spec(QueueKind::Priority, 1) }),
        "must be an int64 scalar, not i32",
    );
    let other = QueueSpec { capacity: 2, ..fifo.clone() };
    says(
        fifo.check_same(&other, "q", "FIFOQueueV2"),
        "Shared queue 'q' has capacity 1 but requested capacity was 2",
    );
}

/// Many threads enqueue and dequeue, and some attempts are cancelled: no item is lost or duplicated, and no
/// attempt is left waiting.
#[test]
fn nothing_is_lost_among_threads() {
    let n = if cfg!(miri) { 10 } else { 500 };
    for kind in [QueueKind::Fifo, QueueKind::RandomShuffle] {
        let q = queue(kind, 7);
        let got = Arc::new(Mutex::new(Vec::new()));
        std::thread::scope(|s| {
            let puts: Vec<_> = (0..3)
                .map(|t| {
                    let q = q.clone();
                    s.spawn(move || {
                        for i in 0..n {
                            let (send, done) = std::sync::mpsc::channel();
                            let ended = Box::new(move |r: Result<Dequeued>| send.send(r.map(drop)).unwrap());
                            let waiter = Waiter { who: "put".into(), cancel: Cancellation::new(), ended };
                            q.enqueue(items([t * 1000 + i * 2, t * 1000 + i * 2 + 1]), waiter);
                            done.recv().unwrap().unwrap();
                        }
                    })
                })
                .collect();
            for t in 0..3 {
                let (q, got) = (q.clone(), got.clone());
                s.spawn(move || {
                    for n in (1..).map(|n| n % 5 + 1) {
                        let (send, done) = std::sync::mpsc::channel();
                        let ended = Box::new(move |r| send.send(r).unwrap());
                        let cancel = Cancellation::new();
                        q.dequeue(UpTo(n), Waiter { who: "get".into(), cancel: cancel.clone(), ended });
                        if (n + t) % 3 == 0 {
                            cancel.cancel(Error::new(Code::Aborted, "called off"));
                        }
                        match done.recv().unwrap() {
                            Ok(items) => {
                                let items = items.used();
                                let values = items.iter().map(|i| i[0].to_scalar::<i32>().unwrap());
                                got.lock().extend(values);
                            }
                            Err(e) if e.code() == Code::Aborted => {}
                            Err(e) => {
                                assert_eq!(e.code(), Code::OutOfRange, "{e}");
                                break;
                            }
                        }
                    }
                });
            }
            puts.into_iter().for_each(|p| p.join().unwrap());
            close(&q, false);
        });
        let mut got = std::mem::take(&mut *got.lock());
        got.sort_unstable();
        let mut want: Vec<i32> = (0..3).flat_map(|t| (0..2 * n).map(move |i| t * 1000 + i)).collect();
        want.sort_unstable();
        assert_eq!(got, want);
    }
}

const KINDS: [QueueKind; 4] =
    [QueueKind::Fifo, QueueKind::PaddingFifo, QueueKind::RandomShuffle, QueueKind::Priority];

/// An item for a queue of this kind. The priorities are equal in pairs.
fn item_of(kind: QueueKind, value: i32) -> Item {
    match kind {
        QueueKind::Priority => {
            Item::new(smallvec![Tensor::scalar(i64::from(value / 2)), Tensor::scalar(value)]).unwrap()
        }
        _ => item(value),
    }
}

fn lasts(items: &[Item]) -> Vec<i32> {
    items.iter().map(|item| item.last().unwrap().to_scalar().unwrap()).collect()
}

/// Items that were handed out and not used are at the head of the queue again, in their order.
#[test]
fn unused_items_return() {
    for kind in KINDS {
        let q = queue(kind, 5);
        for i in 0..5 {
            assert!(q.try_enqueue(item_of(kind, i)).unwrap().is_none());
        }
        let mut first = Vec::new();
        for _ in 0..3 {
            let taken = q.try_dequeue(Exactly(3)).unwrap().unwrap();
            first = lasts(&taken);
            drop(taken);
            let report = q.report();
            assert_eq!((report.len, report.n_in, report.n_out), (5, 5, 0), "{kind}");
        }
        // An attempt that takes more than the capacity, as it comes. A sorted batch is taken in one go.
        if kind != QueueKind::Priority {
            let taken = Arc::new(Mutex::new(None));
            let told = taken.clone();
            let ended = Box::new(move |items: Result<Dequeued>| *told.lock() = Some(items.unwrap()));
            q.dequeue(Exactly(6), Waiter { who: "get".into(), cancel: Cancellation::new(), ended });
            assert!(q.try_enqueue(item(5)).unwrap().is_none());
            let items = taken.lock().take().unwrap();
            assert_eq!(items.len(), 6);
            drop(items);
            assert_eq!(q.len(), 6, "more than the capacity: {kind}");
        }
        let waits = {
            let (answer, waiter) = waiter("put", &Cancellation::new());
            q.enqueue(vec![item_of(kind, 6)], waiter);
            answer
        };
        assert!(waits.waits(), "there is no room: {kind}");
        let mut all = Vec::new();
        while !q.is_empty() {
            all.extend(lasts(&q.try_dequeue(Exactly(1)).unwrap().unwrap().used()));
        }
        match kind {
            QueueKind::RandomShuffle => all.sort_unstable(),
            _ => assert_eq!(first, [0, 1, 2], "{kind}"),
        }
        let n = all.len() as i32;
        let want: Vec<i32> =
            if kind == QueueKind::Priority { vec![0, 1, 2, 3, 4, 6] } else { (0..n).collect() };
        assert_eq!(all, want, "{kind}");
    }
}

/// What returns goes to an attempt that waits.
#[test]
fn unused_items_serve_the_line() {
    for kind in KINDS {
        let q = queue(kind, 5);
        (0..2).for_each(|i| assert!(q.try_enqueue(item_of(kind, i)).unwrap().is_none()));
        let taken = q.try_dequeue(Exactly(2)).unwrap().unwrap();
        let (two, one) = (dequeue(&q, Exactly(2)), dequeue(&q, Exactly(1)));
        assert!(two.waits() && one.waits());
        drop(taken);
        let mut values = two.values();
        values.sort_unstable();
        assert_eq!(values, [0, 1], "{kind}");
        assert!(one.waits(), "{kind}");
        let report = q.report();
        assert_eq!((report.len, report.n_in, report.n_out), (0, 2, 2), "{kind}");
    }
}

/// A dequeue is withdrawn by its number; later ones are served.
#[test]
fn a_question_is_withdrawn() {
    let q = queue(QueueKind::Fifo, 5);
    let (first, waiter) = waiter("get", &Cancellation::new());
    let number = q.dequeue(Exactly(1), waiter);
    let second = dequeue(&q, Exactly(1));
    q.withdraw(number, &Error::new(Code::Aborted, "no longer"));
    assert_eq!(first.error().code(), Code::Aborted);
    enqueue(&q, [7]);
    assert_eq!(second.values(), [7]);
    q.withdraw(number, &Error::new(Code::Aborted, "no longer"));
}

/// The end of the input is not announced while items may still come back: they would be left over.
#[test]
fn a_closed_queue_waits_for_what_was_lent() {
    for comes_back in [true, false] {
        let q = queue(QueueKind::Fifo, 5);
        enqueue(&q, 0..2);
        let taken = q.try_dequeue(Exactly(2)).unwrap().unwrap();
        close(&q, false);
        assert!(q.try_dequeue_one().unwrap().is_none(), "not the end yet");
        let (one, other) = (dequeue(&q, Exactly(1)), dequeue(&q, UpTo(2)));
        assert!(one.waits() && other.waits());
        if comes_back {
            drop(taken);
            assert_eq!((one.values(), other.values()), (vec![0], vec![1]));
        } else {
            assert_eq!(taken.used().len(), 2);
            assert_eq!((one.error().code(), other.error().code()), (Code::OutOfRange, Code::OutOfRange));
        }
        assert_eq!(dequeue(&q, Exactly(1)).error().code(), Code::OutOfRange);
    }
}

/// The closure of `Queue::look` gets the items of one moment, and may call the queue.
#[test]
fn what_looks_at_a_queue_may_call_it() {
    let queue = queue(QueueKind::Fifo, 2);
    let last = enqueue(&queue, [0, 1, 2]);
    assert_eq!(Opaque::kind(&*queue), "queue");
    let mut seen = Vec::new();
    queue.look(|item| {
        seen.push(item[0].to_scalar::<i32>().unwrap());
        assert_eq!(queue.report().enqueuing.len(), 1);
        queue.count(|tally| tally.filtered += 1);
    });
    assert_eq!((seen, queue.tally().filtered), (vec![0, 1, 2], 3));
    assert!(last.waits());
}

#[test]
#[should_panic(expected = "given to `Queue::count` called a method of the same object")]
fn what_counts_may_not_look_at_the_counts() {
    let queue = queue(QueueKind::Fifo, 2);
    queue.count(|_| drop(queue.tally()));
}

/// An enqueue that waits for room is called off with its run, and those behind it are served.
#[test]
fn an_enqueue_that_waits_can_be_called_off() {
    let q = queue(QueueKind::Fifo, 1);
    enqueue(&q, [1]);
    let cancel = Cancellation::new();
    let (first, w) = waiter("first", &cancel);
    q.enqueue(items([2]), w);
    let second = enqueue(&q, [3]);
    assert!(first.waits() && second.waits());
    assert_eq!(q.waits_of(&cancel).len(), 1);
    cancel.cancel(Error::new(Code::Cancelled, "stop"));
    assert_eq!(first.error().code(), Code::Cancelled);
    assert_eq!(dequeue(&q, Exactly(2)).values(), [1, 3]);
}

/// The largest dimension that varies; others do not count.
#[test]
fn the_tokens_of_an_item() {
    let shapes = Some(vec![PartialShape::new([None, Some(9)]), PartialShape::new([None, Some(2)])]);
    let dtypes = vec![DType::I32, DType::I32];
    let spec = QueueSpec { dtypes, shapes, ..spec(QueueKind::PaddingFifo, 1) };
    let rows = |n: usize, width: usize| Tensor::zeros(DType::I32, [n, width]).unwrap();
    assert_eq!(spec.tokens_of(&[rows(3, 9), rows(5, 2)]), 5);
    assert_eq!(spec.tokens_of(&[rows(6, 9), rows(5, 2)]), 6);
    assert_eq!(spec.tokens_of(&[rows(0, 9), rows(0, 2)]), 1);
}

/// A batch ends before its items, padded to the longest of them, have more tokens than it may.
#[test]
fn a_batch_has_no_more_tokens_than_allowed() {
    let q = queue_like(QueueSpec {
        dtypes: vec![DType::I32; 2],
        shapes: Some(vec![PartialShape::unknown_of_rank(1), PartialShape::unknown_of_rank(0)]),
        batches: Batches { max_tokens: Some(6), ..Batches::default() },
        ..spec(QueueKind::PaddingFifo, 10)
    });
    let of_length = |n: i32| smallvec![Tensor::vector(&vec![7; n as usize]).unwrap(), Tensor::scalar(n)];
    for n in [1, 2, 3, 3, 1, 1, 1, 1, 1] {
        assert!(q.try_enqueue(Item::new(of_length(n)).unwrap()).unwrap().is_none());
    }
    let batches = [0; 3].map(|_| dequeue(&q, Exactly(4)).values());
    assert_eq!(batches, [vec![1, 2], vec![3, 3], vec![1; 4]]);
    let rest = dequeue(&q, Exactly(4));
    assert!(rest.waits(), "more may come");
    let too_long = q.spec().check_item(&Item::new(of_length(7)).unwrap(), "q").unwrap_err();
    assert!(too_long.message().contains("has 7 tokens, more than the 6"), "{too_long}");
}
