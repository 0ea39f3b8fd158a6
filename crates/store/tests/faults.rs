//! Connections that break and processes that die at random moments: nothing is lost, and nothing is doubled
//! beyond what was lent to a process that died.
//!
//! `MS_STORE_FAULTS=2000` makes 1000 kills over a million elements, and about 4000 cuts over two millions.
#![expect(clippy::print_stderr, reason = "with `--nocapture` the tests tell their numbers")]

mod common;

use common::*;
use millstream_state::{Cancellation, QueueKind, Take, Waiter};
use millstream_store::Store;
use millstream_tensor::{Code, Error};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn is_asked() -> bool {
    std::env::var_os("MS_STORE_FAULTS").is_some()
}

fn n_faults() -> usize {
    std::env::var("MS_STORE_FAULTS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// Cuts connections until all is over. Returns how often.
fn cut(ways: &[Way], progress: &Progress) -> usize {
    let (mut dice, mut cuts, mut next) = (Dice(7), 0, 0);
    while !progress.is_over() {
        // As many faults as were asked for are spread over the elements, twice as many to be sure.
        while is_asked() && !progress.is_over() && progress.passed() < next {
            std::thread::sleep(Duration::from_millis(1));
        }
        next += dice.below(1000) as usize;
        std::thread::sleep(Duration::from_millis(5 + dice.below(20)));
        ways[dice.below(4) as usize].cut();
        cuts += 1;
    }
    cuts
}

#[test]
fn broken_connections_lose_and_double_nothing() {
    let Some(server) = Server::start(&[]) else { return };
    let ways: Vec<Way> = (0..4).map(|_| Way::to(server.port)).collect();
    let stores: Vec<Store> = ways.iter().map(|way| Store::at(&way.url("jobs")).unwrap()).collect();
    let total = n_faults() * 1000;
    let cuts = pass(&stores, total, |progress| cut(&ways, progress));
    eprintln!("{total} elements over {cuts} cuts");
}

/// A network that is silent for some time: what is said is lost, or comes late.
#[test]
fn a_silent_network_loses_and_doubles_nothing() {
    let Some(server) = Server::start(&[]) else { return };
    let ways: Vec<Way> = (0..4).map(|_| Way::to(server.port)).collect();
    let at = |way: &Way| Store::at(&way.url("jobs?lease_ms=9000")).unwrap();
    let stores: Vec<Store> = ways.iter().map(at).collect();
    let holes = pass(&stores, 20_000, |progress| {
        let (mut dice, mut holes) = (Dice(3), 0);
        while !progress.is_over() && holes < 6 {
            std::thread::sleep(Duration::from_millis(50 + dice.below(100)));
            let hole = if holes % 2 == 0 { Hole::Swallows } else { Hole::Holds };
            let of = &ways[dice.below(4) as usize];
            of.set(hole);
            std::thread::sleep(Duration::from_millis(50 + dice.below(400)));
            of.set(Hole::None);
            holes += 1;
        }
        holes
    });
    eprintln!("{holes} holes");
}

/// While nothing is answered, and no connection ends either, operations end in time.
#[test]
fn a_silent_network_is_an_error_in_time() {
    let Some(server) = Server::start(&[]) else { return };
    let way = Way::to(server.port);
    let store = Store::at(&way.url("jobs?lease_ms=3000&reconnect_ms=1500")).unwrap();
    let q = stored(&store, "q", spec(QueueKind::Fifo, 10));
    enqueue(&q, [1, 2]).values();
    way.set(Hole::Swallows);
    let begin = Instant::now();
    let cancel = Cancellation::new();
    let (cancelled, get) = (dequeue_with(&q, Take::Exactly(3), &cancel, true), dequeue(&q, Take::Exactly(1)));
    std::thread::sleep(Duration::from_millis(300));
    // Also while the thread that speaks to the server waits.
    let cancels = Instant::now();
    cancel.cancel(Error::new(Code::Cancelled, "the run was stopped"));
    assert_eq!(cancelled.error().code(), Code::Cancelled);
    assert!(cancels.elapsed() < Duration::from_millis(500), "{:?}", cancels.elapsed());
    let error = get.error();
    let took = begin.elapsed();
    eprintln!("an operation of a silent server failed after {took:.1?}, with 1.5 s to reconnect");
    assert_eq!(error.code(), Code::Unavailable, "{error}");
    assert!(error.to_string().contains("the server has not answered for"), "{error}");
    assert!(took < Duration::from_secs(8), "{took:?}");
    // What comes later goes on once there is a network.
    let later = dequeue(&q, Take::Exactly(2));
    way.set(Hole::None);
    assert_eq!(later.values(), [1, 2]);
    // Nor does a process that ends wait for it for long.
    way.set(Hole::Swallows);
    enqueue(&q, [3]);
    let begin = Instant::now();
    drop((q, store));
    let took = begin.elapsed();
    eprintln!("the process ended after {took:.1?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
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
    way.refuse(true);
    way.cut();
    std::thread::sleep(Duration::from_millis(2500));
    let report = r.report().to_string();
    assert!(report.contains("has been gone for") && report.contains("and 2 items returned"), "{report}");
    assert_eq!(dequeue(&r, Take::Exactly(3)).values(), [0, 1, 2]);
    way.refuse(false);
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
