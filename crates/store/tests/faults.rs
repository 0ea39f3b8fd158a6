//! Connections that break and processes that die at random moments: nothing is lost, and nothing is doubled
//! beyond what was lent to a process that died.
//!
//! `MS_STORE_FAULTS=1000` makes that many faults over a thousand times as many elements.
#![expect(clippy::print_stderr, reason = "with `--nocapture` the tests tell their numbers")]

mod common;

use common::*;
use millstream_state::{Cancellation, Queue, QueueKind, Take, Waiter};
use millstream_store::Store;
use millstream_tensor::Code;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

fn n_faults() -> usize {
    std::env::var("MS_STORE_FAULTS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// A way to the server that can be cut.
struct Way {
    port: u16,
    pairs: Arc<Mutex<Vec<(TcpStream, TcpStream)>>>,
    closed: Arc<AtomicBool>,
}

impl Way {
    fn to(server: u16) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let way = Way {
            port: listener.local_addr().unwrap().port(),
            pairs: Arc::default(),
            closed: Arc::default(),
        };
        let (pairs, closed) = (way.pairs.clone(), way.closed.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Ok(other) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                if closed.load(Relaxed) {
                    // It drops both.
                    continue;
                }
                let clones = || Some((stream.try_clone().ok()?, other.try_clone().ok()?));
                let (Some(kept), Some(there), Some(back)) = (clones(), clones(), clones()) else { continue };
                pairs.lock().push(kept);
                std::thread::spawn(move || carry(there.0, there.1));
                std::thread::spawn(move || carry(back.1, back.0));
            }
        });
        way
    }

    /// Cuts all connections, wherever they are in what they say.
    fn cut(&self) {
        for (a, b) in self.pairs.lock().drain(..) {
            // It may have ended by itself.
            let _ = (a.shutdown(Shutdown::Both), b.shutdown(Shutdown::Both));
        }
    }

    fn url(&self, rest: &str) -> String {
        format!("valkey://127.0.0.1:{}/{rest}", self.port)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

const PRODUCERS: i32 = 2;
/// The values of a producer begin with its number times this.
const RANGE: i32 = 100_000_000;

#[test]
fn broken_connections_lose_and_double_nothing() {
    let Some(server) = Server::start(&[]) else { return };
    let faults = n_faults();
    let total = (faults * 1000 / PRODUCERS as usize) as i32;
    let ways: Vec<Arc<Way>> = (0..4).map(|_| Arc::new(Way::to(server.port))).collect();
    let stores: Vec<Store> = ways.iter().map(|way| Store::at(&way.url("jobs")).unwrap()).collect();
    let queues: Vec<Arc<Queue>> =
        stores.iter().map(|store| stored(store, "q", spec(QueueKind::Fifo, 300))).collect();
    let done = AtomicI32::new(0);
    let over = AtomicBool::new(false);
    let cuts = AtomicUsize::new(0);
    let got = std::thread::scope(|scope| {
        for (p, q) in (0..PRODUCERS).zip(&queues) {
            let done = &done;
            scope.spawn(move || {
                let mut dice = Dice(p as u64);
                let mut next = 0;
                while next < total {
                    let n = (1 + dice.below(40) as i32).min(total - next);
                    enqueue(q, (next..next + n).map(|i| p * RANGE + i)).values();
                    next += n;
                }
                if done.fetch_add(1, Relaxed) + 1 == PRODUCERS {
                    close(q, false).values();
                }
            });
        }
        scope.spawn(|| {
            let mut dice = Dice(7);
            while !over.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(5 + dice.below(20)));
                ways[dice.below(4) as usize].cut();
                cuts.fetch_add(1, Relaxed);
            }
        });
        let consume = |(c, q): (u64, Arc<Queue>)| {
            let mut dice = Dice(c);
            let mut values = Vec::new();
            loop {
                match dequeue(&q, Take::UpTo(1 + dice.below(30) as usize)).result() {
                    Ok(more) => values.extend(more),
                    Err(error) => {
                        assert_eq!(error.code(), Code::OutOfRange, "{error}");
                        return values;
                    }
                }
            }
        };
        let threads =
            [(11, queues[2].clone()), (12, queues[3].clone())].map(|of| scope.spawn(move || consume(of)));
        let got = threads.map(|thread| thread.join().unwrap());
        over.store(true, Relaxed);
        got
    });
    for values in &got {
        let mut last = BTreeMap::new();
        for value in values {
            let before = last.insert(value / RANGE, *value);
            assert!(before.is_none_or(|before| before < *value), "the order of a producer is kept");
        }
    }
    let mut all = got.concat();
    all.sort_unstable();
    let expected: Vec<i32> = (0..PRODUCERS).flat_map(|p| (0..total).map(move |i| p * RANGE + i)).collect();
    assert_eq!(all.len(), expected.len());
    assert!(all == expected, "everything, and once");
    eprintln!("{} elements over {} cuts", all.len(), cuts.load(Relaxed));
}

/// A process that is cut off for longer than its lease: what it was lent went to others, and what it was
/// waiting for it waits for again.
#[test]
fn a_process_that_was_given_up_comes_back() {
    let Some(server) = Server::start(&[]) else { return };
    let way = Way::to(server.port);
    let away = Store::at(&way.url("jobs?lease_ms=1000")).unwrap();
    let here = Store::at(&server.url("jobs?lease_ms=1000")).unwrap();
    let (q, r) = (stored(&away, "q", spec(QueueKind::Fifo, 4)), stored(&here, "q", spec(QueueKind::Fifo, 4)));
    enqueue(&r, 0..4).values();
    // Lent, and not used.
    let (sender, receiver) = std::sync::mpsc::channel();
    let ended = Box::new(move |result| sender.send(result).unwrap());
    q.dequeue(Take::Exactly(2), Waiter { who: "get".into(), cancel: Cancellation::new(), ended });
    let lent = receiver.recv().unwrap().unwrap();
    // Rows of which two have gone in.
    let put = enqueue(&q, 4..10);
    assert_eq!(look(&q).0, 4);
    way.closed.store(true, Relaxed);
    way.cut();
    std::thread::sleep(Duration::from_millis(2500));
    let report = r.report().to_string();
    assert!(report.contains("has been gone for") && report.contains("and 2 items returned"), "{report}");
    assert_eq!(dequeue(&r, Take::Exactly(3)).values(), [0, 1, 2]);
    way.closed.store(false, Relaxed);
    assert_eq!(dequeue(&r, Take::Exactly(7)).values(), [3, 4, 5, 6, 7, 8, 9]);
    put.values();
    drop(lent);
    assert_eq!((look(&q).0, look(&r).0), (0, 0), "it no longer has what it was lent");
}

/// The process that the next test starts: it produces or consumes until it is killed or done.
#[test]
fn child() {
    let Ok(role) = std::env::var("MS_STORE_CHILD") else { return };
    let store = Store::at(&std::env::var("MS_STORE_URL").unwrap()).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 200));
    let number = |name: &str| std::env::var(name).unwrap().parse::<i32>().unwrap();
    let mut out = std::io::stdout();
    if role == "producer" {
        let (mut next, end) = (number("MS_STORE_FROM"), number("MS_STORE_TO"));
        while next < end {
            let n = 10.min(end - next);
            enqueue(&q, next..next + n).values();
            next += n;
            writeln!(out, "in {next}").unwrap();
        }
        return;
    }
    loop {
        let (sender, receiver) = std::sync::mpsc::channel();
        let ended = Box::new(move |result| sender.send(result).unwrap());
        q.dequeue(Take::UpTo(10), Waiter { who: "get".into(), cancel: Cancellation::new(), ended });
        let Ok(items) = receiver.recv().unwrap() else { return };
        let values: Vec<String> =
            items.iter().map(|item| item[0].to_scalar::<i32>().unwrap().to_string()).collect();
        // The work of a trainer; only then the items count as used.
        writeln!(out, "out {}", values.join(" ")).unwrap();
        drop(items.used());
    }
}

fn start(url: &str, role: &str, from: i32, to: i32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture"])
        .env("MS_STORE_CHILD", role)
        .env("MS_STORE_URL", url)
        .env("MS_STORE_FROM", from.to_string())
        .env("MS_STORE_TO", to.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a process until it ends or, some time after it began to work, is killed. Returns what it wrote, and
/// whether it ended.
fn until_killed(mut child: Child, after: Option<Duration>) -> (Vec<String>, bool) {
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, works) = std::sync::mpsc::channel();
    let note = move |line: String| {
        if line.contains("in ") || line.contains("out ") {
            // After the first line nobody waits for it.
            let _ = sender.send(());
        }
        line
    };
    let reader =
        std::thread::spawn(move || output.lines().map_while(Result::ok).map(note).collect::<Vec<String>>());
    if let Some(after) = after {
        // A consumer may find nothing to do.
        let _ = works.recv_timeout(Duration::from_secs(2));
        std::thread::sleep(after);
        // It may have ended before.
        let _ = child.kill();
    }
    let ended = child.wait().unwrap().success();
    (reader.join().unwrap(), ended)
}

#[test]
fn killed_processes_lose_nothing() {
    if std::env::var("MS_STORE_CHILD").is_ok() {
        return;
    }
    let Some(server) = Server::start(&[]) else { return };
    let url = server.url("jobs?lease_ms=500");
    let kills = n_faults() / 2;
    let total = kills as i32 * 1000;
    // It keeps the queue while all others are dead.
    let store = Store::at(&url).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 200));
    let produce = || {
        let (mut next, mut dice, mut left) = (0, Dice(1), kills / 2);
        let mut unsure = Vec::new();
        while next < total {
            let kill = (0 < left).then(|| Duration::from_millis(dice.below(60)));
            left = left.saturating_sub(1);
            let (lines, ended) = until_killed(start(&url, "producer", next, total), kill);
            let last = lines.iter().filter_map(|line| line.split("in ").nth(1)?.trim().parse().ok()).max();
            next = last.unwrap_or(next);
            if !ended {
                // Whether the last rows are in is not known: the next process begins after them.
                unsure.extend(next..(next + 10).min(total));
                next = (next + 10).min(total);
            }
        }
        unsure
    };
    let consume = |seed: u64| {
        let q = &q;
        let url = &url;
        move || {
            let (mut dice, mut left, mut got) = (Dice(seed), kills / 4, Vec::new());
            loop {
                let kill = (0 < left).then(|| Duration::from_millis(dice.below(90)));
                left = left.saturating_sub(1);
                let (lines, ended) = until_killed(start(url, "consumer", 0, 0), kill);
                for line in lines.iter().filter_map(|line| line.split("out ").nth(1)) {
                    got.extend(line.split(' ').filter_map(|v| v.trim().parse::<i32>().ok()));
                }
                if ended && look(q).1 {
                    return got;
                }
            }
        }
    };
    let (unsure, got) = std::thread::scope(|scope| {
        let consumers = [scope.spawn(consume(3)), scope.spawn(consume(4))];
        let unsure = scope.spawn(produce).join().unwrap();
        close(&q, false).values();
        let got: Vec<i32> = consumers.into_iter().flat_map(|c| c.join().unwrap()).collect();
        (unsure, got)
    });
    let mut seen = BTreeMap::<i32, usize>::new();
    got.iter().for_each(|&v| *seen.entry(v).or_default() += 1);
    let lost: Vec<i32> = (0..total).filter(|v| !seen.contains_key(v) && !unsure.contains(v)).collect();
    assert!(lost.is_empty(), "{} lost, such as {:?}", lost.len(), &lost[..lost.len().min(20)]);
    assert_eq!(look(&q).0, 0);
    let doubled: usize = seen.values().map(|n| n - 1).sum();
    assert!(doubled <= 10 * kills, "{doubled} doubled by {kills} kills of processes that hold ten at most");
    eprintln!("{} elements, {kills} kills, {doubled} doubled, {} unsure", got.len(), unsure.len());
}
