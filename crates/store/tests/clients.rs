//! Several processes at one queue, here several stores: what is lent returns, waits end, errors come in time.

mod common;

use Take::{Exactly, UpTo};
use common::*;
use millstream_state::{Cancellation, QueueKind, Take};
use millstream_store::Store;
use millstream_tensor::{Code, Error};
use std::time::{Duration, Instant};

#[test]
fn what_one_enqueues_another_dequeues() {
    let Some(server) = Server::start(&[]) else { return };
    let (one, two) = (Store::at(&server.url("a")).unwrap(), Store::at(&server.url("a")).unwrap());
    let apart = Store::at(&server.url("b")).unwrap();
    let spec = || spec(QueueKind::Fifo, 3);
    let (q, r, other) = (stored(&one, "q", spec()), stored(&two, "q", spec()), stored(&apart, "q", spec()));
    let waits = dequeue(&r, Exactly(4));
    look(&r);
    let put = enqueue(&q, 0..6);
    assert_eq!(waits.values(), [0, 1, 2, 3]);
    assert!(put.values().is_empty());
    assert_eq!(look(&other), (0, false), "another namespace");
    // Back-pressure.
    let more = enqueue(&q, 6..9);
    look(&q);
    assert!(more.waits(), "there is room for one");
    assert_eq!(dequeue(&r, Exactly(2)).values(), [4, 5]);
    more.values();
    close(&q, false).values();
    assert_eq!(dequeue(&r, UpTo(5)).values(), [6, 7, 8]);
    let error = dequeue(&r, UpTo(5)).error();
    assert_eq!(error.code(), Code::OutOfRange);
    assert!(error.to_string().contains("closed by `close`: the input ended"), "{error}");
    assert_eq!(enqueue(&q, [1]).error().code(), Code::Cancelled);
}

#[test]
fn items_that_are_not_used_return_with_their_client() {
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url("n?lease_ms=3000");
    let one = Store::at(&url).unwrap();
    let two = Store::at(&url).unwrap();
    let q = stored(&one, "q", spec(QueueKind::Fifo, 10));
    enqueue(&q, 0..5).values();
    // It keeps what it got, and leaves.
    let r = stored(&two, "q", spec(QueueKind::Fifo, 10));
    let (sender, receiver) = std::sync::mpsc::channel();
    let ended = Box::new(move |result| sender.send(result).unwrap());
    let waiter = millstream_state::Waiter { who: "get".into(), cancel: Cancellation::new(), ended };
    r.dequeue(Exactly(3), waiter);
    let held = receiver.recv_timeout(Duration::from_secs(10)).unwrap().unwrap();
    assert_eq!(look(&q), (2, false));
    // While it says that it is there, it may hold them for any time.
    std::thread::sleep(Duration::from_millis(4500));
    assert_eq!(look(&q), (2, false));
    let report = q.report();
    assert_eq!(report.clients.len(), 2);
    assert_eq!(report.clients.iter().map(|client| client.lent).sum::<usize>(), 3, "{report}");
    drop((r, two));
    assert_eq!(look(&q), (5, false));
    drop(held);
    assert_eq!(dequeue(&q, Exactly(5)).values(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_wait_ends_when_it_is_cancelled() {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("n")).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 10));
    let cancel = Cancellation::new();
    let get = dequeue_with(&q, Exactly(2), &cancel, true);
    look(&q);
    enqueue(&q, [7]).values();
    assert_eq!(look(&q).0, 0, "the dequeue has taken it");
    let begin = Instant::now();
    cancel.cancel(Error::new(Code::Cancelled, "the run was stopped"));
    let error = get.error();
    // It takes a fraction of a millisecond. The bound tells a wait from none on a busy machine, too.
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert!(error.message().contains("Dequeue operation was cancelled"), "{error}");
    assert_eq!(look(&q).0, 1, "it is back");
}

#[test]
fn a_queue_of_another_type_is_refused() {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("n")).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 10));
    enqueue(&q, [1]).values();
    let other = Store::at(&server.url("n")).unwrap();
    let r = stored(&other, "q", spec(QueueKind::Fifo, 11));
    let error = dequeue(&r, Exactly(1)).error();
    assert!(
        error.message().contains("Shared queue 'q' has capacity 10 but requested capacity was 11"),
        "{error}"
    );
    assert_eq!(dequeue(&q, Exactly(1)).values(), [1]);
}

#[test]
fn a_server_that_is_gone_is_an_error_in_time() {
    let Some(mut server) = Server::start(&[]) else { return };
    let url = server.url("jobs?reconnect_ms=600&lease_ms=600");
    let store = Store::at(&url).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 10));
    enqueue(&q, [1]).values();
    server.kill();
    let begin = Instant::now();
    let error = dequeue(&q, Exactly(2)).error();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    let text = error.to_string();
    assert!(text.contains("queue 'q' in valkey://127.0.0.1") && text.contains("start the server"), "{text}");
    assert!(q.report().to_string().contains("has not answered for"), "{}", q.report());
    let error = Store::at(&url).unwrap_err();
    assert!(error.to_string().contains("valkey-server"), "{error}");
    // It lost its data: that is not passed over in silence.
    server.run();
    let error = dequeue(&q, Exactly(1)).error();
    assert_eq!(error.code(), Code::DataLoss, "{error}");
}

#[test]
fn a_server_that_comes_back_with_its_data_is_no_error() {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let Some(mut server) = Server::start(&options) else { return };
    let store = Store::at(&server.url("jobs")).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 10));
    enqueue(&q, [1]).values();
    let get = dequeue(&q, Exactly(3));
    look(&q);
    server.kill();
    let put = enqueue(&q, [2, 3]);
    server.run();
    put.values();
    assert_eq!(get.values(), [1, 2, 3]);
}

#[test]
fn a_password_is_asked_for() {
    let Some(server) = Server::start(&["--requirepass", "sesame"]) else { return };
    let error = Store::at(&server.url("n")).unwrap_err();
    assert!(error.to_string().contains("password"), "{error}");
    let url = format!("valkey://:sesame@127.0.0.1:{}/n", server.port);
    let store = Store::at(&url).unwrap();
    assert!(!format!("{store:?}").contains("sesame"));
    assert_eq!(look(&stored(&store, "q", spec(QueueKind::Fifo, 1))), (0, false));
}

#[test]
fn an_element_may_be_too_large() {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("n?max_element_bytes=8")).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 3));
    let error = enqueue(&q, [1]).error();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains("more than the limit of 8"), "{error}");
}

#[test]
fn a_queue_that_is_drained_is_forgotten() {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("n")).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 3));
    enqueue(&q, [1]).values();
    close(&q, false).values();
    assert_eq!(dequeue(&q, Exactly(1)).values(), [1]);
    assert_eq!(look(&q), (0, true));
    drop((q, store));
    let store = Store::at(&server.url("n")).unwrap();
    assert_eq!(
        look(&stored(&store, "q", spec(QueueKind::Fifo, 3))),
        (0, false),
        "the next job begins afresh"
    );
}

/// The keys of a namespace.
fn keys(port: u16) -> Vec<String> {
    let client = redis::Client::open(("127.0.0.1", port)).unwrap();
    redis::cmd("KEYS").arg("ms:{n/*").query(&mut client.get_connection().unwrap()).unwrap()
}

/// Its clients end without a word: the ways to the server are closed before they say goodbye.
#[test]
fn a_drained_queue_ends_with_the_leases_of_those_who_died() {
    let Some(server) = Server::start(&[]) else { return };
    let ways = [Way::to(server.port), Way::to(server.port)];
    let url = "n?lease_ms=3000&reconnect_ms=500";
    let stores = ways.each_ref().map(|way| Store::at(&way.url(url)).unwrap());
    let queues = stores.each_ref().map(|store| stored(store, "q", spec(QueueKind::Fifo, 9)));
    let full = stored(&stores[0], "full", spec(QueueKind::Fifo, 9));
    enqueue(&queues[0], 0..4).values();
    enqueue(&full, 0..4).values();
    close(&full, false).values();
    assert_eq!(dequeue(&full, Exactly(1)).values(), [0]);
    close(&queues[0], false).values();
    assert_eq!(dequeue(&queues[1], Exactly(4)).values(), [0, 1, 2, 3]);
    assert_eq!(dequeue(&queues[1], Exactly(1)).error().code(), Code::OutOfRange);
    // While a client lives, the queue does.
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(look(&queues[0]), (0, true));
    let late = Store::at(&server.url(url)).unwrap();
    let (tells, goes) =
        (stored(&late, "q", spec(QueueKind::Fifo, 9)), stored(&late, "full", spec(QueueKind::Fifo, 9)));
    assert_eq!(dequeue(&tells, Exactly(1)).error().code(), Code::OutOfRange, "it is still closed");
    assert_eq!(look(&goes), (3, true));
    drop((tells, goes, late));
    ways.iter().for_each(|way| {
        way.refuse(true);
        way.cut();
    });
    std::thread::sleep(Duration::from_secs(5));
    let left = keys(server.port);
    let of_queue = |name: &str| left.iter().any(|key| key.ends_with(&format!("/{name}}}:meta")));
    assert!(!of_queue("q"), "{left:?}");
    assert!(of_queue("full"), "elements are never removed: {left:?}");
    // To those who come back it is what it was: closed, and empty.
    ways.iter().for_each(|way| way.refuse(false));
    let error = dequeue(&queues[1], Exactly(1)).error();
    assert_eq!(error.code(), Code::OutOfRange, "{error}");
    assert!(error.to_string().contains("closed by `close`: the input ended"), "{error}");
    assert_eq!(enqueue(&queues[0], [1]).error().code(), Code::Cancelled);
    assert_eq!(look(&queues[0]), (0, true));
    assert_eq!(dequeue(&full, Exactly(3)).values(), [1, 2, 3]);
    // The next job begins afresh, and those who knew the old queue do not take part.
    let next = stored(&Store::at(&server.url("n")).unwrap(), "q", spec(QueueKind::Fifo, 9));
    enqueue(&next, [9]).values();
    assert_eq!(dequeue(&queues[1], Exactly(1)).error().code(), Code::OutOfRange);
    assert_eq!(look(&queues[0]), (0, true));
    assert_eq!(look(&next), (1, false));
}

#[test]
fn a_shuffling_queue_yields_everything_once() {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("n")).unwrap();
    let mut spec = spec(QueueKind::RandomShuffle, 100);
    spec.min_after_dequeue = 10;
    let q = stored(&store, "q", spec);
    enqueue(&q, 0..50).values();
    let first = dequeue(&q, Exactly(40)).values();
    assert_ne!(first, (0..40).collect::<Vec<_>>());
    let rest = dequeue(&q, Exactly(10));
    look(&q);
    assert!(rest.waits(), "ten stay until it is closed");
    close(&q, false).values();
    let mut all = [first, rest.values()].concat();
    all.sort_unstable();
    assert_eq!(all, (0..50).collect::<Vec<_>>());
}
