//! Queues whose items live elsewhere, with a keeper that does what a test tells it: also the wrong thing.

use millstream_state::{
    Answer, Ask, Batches, Cancellation, Client, Closing, Dequeued, Elsewhere, Item, ItemStore, Loan, Queue,
    QueueKind, QueueReport, QueueSpec, QueueStore, Resources, Take, Waiter,
};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Tensor};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// A keeper that notes what it is asked.
#[derive(Debug, Default)]
struct Keeper {
    asked: Mutex<Vec<(u64, Ask, String)>>,
    cancelled: Mutex<Vec<u64>>,
    to: Mutex<Option<Arc<Elsewhere>>>,
}

impl ItemStore for Keeper {
    fn begin(&self, id: u64, ask: Ask, who: &str) {
        self.asked.lock().unwrap().push((id, ask, who.to_owned()));
    }

    fn cancel(&self, id: u64) {
        self.cancelled.lock().unwrap().push(id);
    }

    fn report(&self, report: &mut QueueReport) {
        report.len = 7;
        report.place = Some("kept by a test".to_owned());
        let gone = Some(Duration::from_secs(3));
        report.clients = vec![
            Client { name: "a".to_owned(), is_own: true, gone: None, waits: 2, lent: 1 },
            Client { name: "b".to_owned(), is_own: false, gone, waits: 0, lent: 4 },
        ];
    }
}

/// The place of the keeper's queues.
#[derive(Debug, Default)]
struct Place(Arc<Keeper>);

impl QueueStore for Place {
    fn open(
        &self,
        container: &str,
        _name: &str,
        _spec: &QueueSpec,
        _seed: u32,
        to: &Arc<Elsewhere>,
    ) -> Result<Arc<dyn ItemStore>> {
        if container == "full" {
            return Err(Error::new(Code::ResourceExhausted, "no more queues"));
        }
        *self.0.to.lock().unwrap() = Some(to.clone());
        Ok(self.0.clone())
    }
}

/// Counts what became of loans.
#[derive(Debug)]
struct Counted(Arc<[AtomicUsize; 2]>);

impl Loan for Counted {
    fn used(self: Box<Self>) {
        self.0[0].fetch_add(1, SeqCst);
    }

    fn unused(self: Box<Self>) {
        self.0[1].fetch_add(1, SeqCst);
    }
}

fn spec() -> QueueSpec {
    QueueSpec {
        kind: QueueKind::Fifo,
        capacity: 9,
        dtypes: vec![DType::I32],
        shapes: None,
        min_after_dequeue: 0,
        seeds: (0, 0),
        batches: Batches::default(),
    }
}

fn items(n: i32) -> Vec<Item> {
    (0..n).map(|v| Item::new([Tensor::scalar(v)].into_iter().collect()).unwrap()).collect()
}

/// A queue with its keeper, and what became of its loans.
struct Test {
    queue: Arc<Queue>,
    keeper: Arc<Keeper>,
    loans: Arc<[AtomicUsize; 2]>,
}

type Ended = mpsc::Receiver<Result<Dequeued>>;

impl Test {
    fn new(spec: QueueSpec) -> Test {
        let place = Place::default();
        let queue = Queue::kept_by(&place, "c", "q", spec, || 1).unwrap();
        Test { queue: Arc::new(queue), keeper: place.0, loans: Arc::default() }
    }

    fn waiter(&self, cancel: &Cancellation) -> (Waiter, Ended) {
        let (send, ended) = mpsc::channel();
        let ended_with = Box::new(move |result| _ = send.send(result));
        (Waiter { who: "node".into(), cancel: cancel.clone(), ended: ended_with }, ended)
    }

    fn dequeue(&self, take: Take) -> (u64, Ended) {
        let (waiter, ended) = self.waiter(&Cancellation::new());
        (self.queue.dequeue(take, waiter), ended)
    }

    fn there(&self) -> Arc<Elsewhere> {
        self.keeper.to.lock().unwrap().clone().unwrap()
    }

    fn lend(&self, id: u64, items: Vec<Item>) {
        self.there().answer(id, Answer::Items(items, Box::new(Counted(self.loans.clone()))));
    }

    /// The numbers of loans that were used, and of those that were given back.
    fn loans(&self) -> (usize, usize) {
        (self.loans[0].load(SeqCst), self.loans[1].load(SeqCst))
    }
}

#[track_caller]
fn says<T>(result: Result<T>, code: Code, part: &str) {
    let Err(error) = result else { panic!("there is no error") };
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

#[test]
fn a_dequeue_ends_with_what_it_asked_for() {
    let test = Test::new(spec());
    let (id, ended) = test.dequeue(Take::Exactly(2));
    assert!(test.there().waits(id) && test.queue.is_elsewhere());
    test.lend(id, items(2));
    let got = ended.recv().unwrap().unwrap();
    assert_eq!((got.len(), test.loans()), (2, (0, 0)));
    assert_eq!(got.used().len(), 2);
    assert_eq!(test.loans(), (1, 0));
    // Items that nobody uses return, and so does what comes too late.
    let (id, ended) = test.dequeue(Take::UpTo(3));
    test.lend(id, items(1));
    drop(ended.recv().unwrap());
    test.lend(id, items(1));
    assert_eq!(test.loans(), (1, 2));
    assert_eq!(test.keeper.asked.lock().unwrap()[0].2, "node");
}

#[test]
fn an_answer_that_does_not_fit_is_an_error_and_returns() {
    let test = Test::new(spec());
    let wrong = |take, items: Vec<Item>, part: &str| {
        let (id, ended) = test.dequeue(take);
        test.lend(id, items);
        says(ended.recv().unwrap(), Code::DataLoss, part);
    };
    wrong(Take::Exactly(3), items(2), "sent 2 items where 3 were asked for");
    wrong(Take::Exactly(1), items(2), "sent 2 items where 1 were asked for");
    wrong(Take::UpTo(2), items(3), "sent 3 items where 2 were asked for");
    wrong(Take::UpTo(2), vec![], "sent 0 items where 2 were asked for");
    let float = Item::new([Tensor::scalar(1f32)].into_iter().collect()).unwrap();
    let (id, ended) = test.dequeue(Take::Exactly(1));
    test.lend(id, vec![float]);
    says(ended.recv().unwrap(), Code::InvalidArgument, "f");
    assert_eq!(test.loans(), (0, 5));
    // A limit of tokens makes batches smaller.
    let batches = Batches { max_tokens: Some(4), ..Batches::default() };
    let test = Test::new(QueueSpec {
        kind: QueueKind::PaddingFifo,
        shapes: Some(vec![PartialShape::scalar()]),
        batches,
        ..spec()
    });
    let (id, ended) = test.dequeue(Take::Exactly(3));
    test.lend(id, items(1));
    assert_eq!(ended.recv().unwrap().unwrap().used().len(), 1);
}

#[test]
fn an_answer_of_another_kind_is_an_error() {
    let test = Test::new(spec());
    let (id, ended) = test.dequeue(Take::Exactly(1));
    test.there().answer(id, Answer::Looked(3, false));
    says(ended.recv().unwrap(), Code::Internal, "told its size instead");
    let (send, looked) = mpsc::channel();
    let look = || {
        let send = send.clone();
        test.queue.look_up("l".into(), &Cancellation::new(), Box::new(move |told| _ = send.send(told)));
        test.keeper.asked.lock().unwrap().last().unwrap().0
    };
    test.there().answer(look(), Answer::Looked(3, true));
    assert_eq!(looked.recv().unwrap().unwrap(), (3, true));
    test.there().answer(look(), Answer::Done);
    says(looked.recv().unwrap(), Code::Internal, "did not tell its size");
    test.there().answer(look(), Answer::Failed(Error::new(Code::Unavailable, "gone")));
    says(looked.recv().unwrap(), Code::Unavailable, "gone");
}

#[test]
fn a_closing_reaches_those_who_wait() {
    let test = Test::new(spec());
    let closing =
        || Closing { by: "closer".to_owned(), why: Some("the end".to_owned()), cancelled_pending: true };
    let (id, ended) = test.dequeue(Take::Exactly(2));
    test.there().answer(id, Answer::ClosedToDequeues { closing: closing(), requested: 2, len: 1 });
    says(ended.recv().unwrap(), Code::OutOfRange, "the end");
    let enqueue = |answer: Answer| {
        let (waiter, ended) = test.waiter(&Cancellation::new());
        test.queue.enqueue(items(1), waiter);
        let id = test.keeper.asked.lock().unwrap().last().unwrap().0;
        test.there().answer(id, answer);
        ended.recv().unwrap()
    };
    assert!(enqueue(Answer::Done).unwrap().is_empty());
    says(enqueue(Answer::ClosedToEnqueues(closing())), Code::Cancelled, "closer");
    says(enqueue(Answer::CalledOff(closing())), Code::Cancelled, "closer");
    let (waiter, ended) = test.waiter(&Cancellation::new());
    test.queue.close(true, closing(), waiter);
    let id = test.keeper.asked.lock().unwrap().last().unwrap().0;
    test.there().answer(id, Answer::ClosedAlready(closing()));
    says(ended.recv().unwrap(), Code::Cancelled, "closer");
}

#[test]
fn attempts_end_once_when_they_are_called_off() {
    let test = Test::new(spec());
    let cancel = Cancellation::new();
    let (waiter, ended) = test.waiter(&cancel);
    let id = test.queue.dequeue(Take::Exactly(1), waiter);
    assert_eq!(test.queue.waits_of(&cancel).len(), 1);
    assert!(test.queue.waits_of(&Cancellation::new()).is_empty());
    cancel.cancel(Error::new(Code::Cancelled, "the run is over"));
    says(ended.recv().unwrap(), Code::Cancelled, "the run is over");
    assert_eq!(*test.keeper.cancelled.lock().unwrap(), [id]);
    test.lend(id, items(1));
    assert_eq!(test.loans(), (0, 1));
    assert!(ended.recv().is_err(), "it ended twice");
    // A keeper that does not answer ends the attempts that are old.
    let (old, ended) = test.dequeue(Take::Exactly(1));
    let then = Instant::now();
    let gone = Error::new(Code::Unavailable, "no answer");
    assert!(test.there().fail_older(then - Duration::from_secs(60), &gone).is_empty());
    assert_eq!(test.there().fail_older(Instant::now(), &gone), [old]);
    says(ended.recv().unwrap(), Code::Unavailable, "no answer");
}

#[test]
fn a_report_tells_where_the_items_are() {
    let test = Test::new(spec());
    let text = test.queue.report().to_string();
    for part in [
        "FIFOQueue 'q': 7 of 9 items",
        "; kept by a test",
        "; process a (this one) waits 2 times and holds 1 items",
        "; process b has been gone for 3.0s, and 4 items returned",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!((test.queue.len(), test.queue.is_closed()), (7, false));
    assert!(format!("{:?}", test.there()).contains("name: \"q\""));
    // What has to ask elsewhere is never done at once.
    assert!(test.queue.try_enqueue(items(1).remove(0)).unwrap().is_some());
}

#[test]
fn a_place_may_refuse_a_queue() {
    says(
        Queue::kept_by(&Place::default(), "full", "q", spec(), || 1),
        Code::ResourceExhausted,
        "no more queues",
    );
    let resources = Resources::at(Arc::new(Place::default()));
    assert!(resources.store().is_some() && Resources::new().store().is_none());
}
