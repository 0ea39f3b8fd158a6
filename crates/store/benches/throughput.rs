//! Elements of 1 KiB from two producers through one server to two consumers, five processes in all, and the
//! time that one element takes. `cargo bench -p millstream-store`; prints a line of JSON for each figure.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Server, stored};
use millstream_state::{Cancellation, Dequeued, Item, Queue, QueueKind, QueueSpec, Take, Waiter};
use millstream_store::Store;
use millstream_tensor::{DType, Result, Shape, Tensor};
use std::process::{Child, Command};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

const BYTES: usize = 1024;
const TOTAL: usize = 400_000;
/// The elements of an `enqueue_many` or `dequeue_many`, and how many of them a process has on their way.
const MANY: usize = 128;
const AHEAD: usize = 4;

fn spec() -> QueueSpec {
    QueueSpec {
        kind: QueueKind::Fifo,
        capacity: 8192,
        dtypes: vec![DType::F32],
        shapes: None,
        min_after_dequeue: 0,
        seeds: (0, 0),
        batches: Default::default(),
    }
}

fn item() -> Item {
    Item::new(smallvec::smallvec![Tensor::zeros(DType::F32, Shape::from(&[BYTES / 4][..])).unwrap()]).unwrap()
}

/// Makes attempts, `AHEAD` of them at a time, until there were `n`.
fn keep_going(n: usize, attempt: impl Fn(Waiter)) {
    let (sender, receiver) = mpsc::channel::<Result<usize>>();
    let mut begun = 0;
    let mut ended = 0;
    while ended < n {
        while begun < n && begun - ended < AHEAD {
            let sender = sender.clone();
            let ended = Box::new(move |result: Result<Dequeued>| {
                sender.send(result.map(|items| items.used().len())).unwrap();
            });
            attempt(Waiter { who: "bench".into(), cancel: Cancellation::new(), ended });
            begun += 1;
        }
        receiver.recv().unwrap().unwrap();
        ended += 1;
    }
}

fn child(role: &str, url: &str) {
    let store = Store::at(url).unwrap();
    let q: Arc<Queue> = stored(&store, "q", spec());
    let n = TOTAL / 2 / MANY;
    match role {
        "produce" => keep_going(n, |waiter| q.enqueue((0..MANY).map(|_| item()).collect(), waiter)),
        "consume" => keep_going(n, |waiter| _ = q.dequeue(Take::Exactly(MANY), waiter)),
        "produce-one" => keep_going(n, |waiter| q.enqueue(vec![item()], waiter)),
        _ => keep_going(n, |waiter| _ = q.dequeue(Take::Exactly(1), waiter)),
    }
}

fn start(role: &str, url: &str) -> Child {
    Command::new(std::env::current_exe().unwrap()).args(["child", role, url]).spawn().unwrap()
}

fn through(name: &str, roles: [&str; 4], elements: usize, url: &str) {
    let begin = Instant::now();
    for mut process in roles.map(|role| start(role, url)) {
        assert!(process.wait().unwrap().success());
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rate = elements as f64 / seconds;
    let figures = format!("\"elements\": {elements}, \"seconds\": {seconds:.3}, \"per_second\": {rate:.0}");
    println!("{{\"case\": \"{name}\", {figures}}}");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, role, url] = &arguments[..]
        && first == "child"
    {
        return child(role, url);
    }
    let Some(server) = Server::start(&[]) else { return };
    let many = TOTAL / 2 / MANY * MANY * 2;
    through("128 at a time", ["produce", "produce", "consume", "consume"], many, &server.url("many"));
    let one = TOTAL / 2 / MANY * 2;
    let ones = ["produce-one", "produce-one", "consume-one", "consume-one"];
    through("one at a time, 4 on their way", ones, one, &server.url("one"));

    let store = Store::at(&server.url("time")).unwrap();
    let q = stored(&store, "q", spec());
    let mut times: Vec<Duration> = (0..2000)
        .map(|_| {
            let begin = Instant::now();
            let (sender, receiver) = mpsc::channel();
            let waiter = |sender: mpsc::Sender<()>| Waiter {
                who: "bench".into(),
                cancel: Cancellation::new(),
                ended: Box::new(move |result: Result<Dequeued>| {
                    drop(result.unwrap().used());
                    sender.send(()).unwrap();
                }),
            };
            q.enqueue(vec![item()], waiter(sender.clone()));
            receiver.recv().unwrap();
            q.dequeue(Take::Exactly(1), waiter(sender));
            receiver.recv().unwrap();
            begin.elapsed() / 2
        })
        .collect();
    times.sort_unstable();
    let us = |at: usize| times[at].as_secs_f64() * 1e6;
    println!("{{\"case\": \"one operation\", \"median_us\": {:.0}, \"p99_us\": {:.0}}}", us(1000), us(1980));
}
