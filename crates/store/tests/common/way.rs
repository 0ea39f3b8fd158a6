//! A way to the server on which things go wrong, and elements that are passed over it.

use super::{close, dequeue, enqueue, spec, stored};
use millstream_state::{Queue, QueueKind, Take};
use millstream_store::Store;
use millstream_tensor::Code;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::Relaxed};

/// Numbers that look random.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// What a way does with what is said, without a word to either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hole {
    None,
    /// It is lost, and so is all that is said later on the same connection.
    Swallows,
    /// It is carried once there is no hole any more.
    Holds,
}

/// A way to the server that can be cut.
pub struct Way {
    port: u16,
    state: Arc<State>,
}

struct State {
    pairs: Mutex<Vec<(TcpStream, TcpStream)>>,
    refuses: AtomicBool,
    hole: Mutex<Hole>,
    changed: Condvar,
}

impl Way {
    pub fn to(server: u16) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let state = Arc::new(State {
            pairs: Mutex::default(),
            refuses: AtomicBool::new(false),
            hole: Mutex::new(Hole::None),
            changed: Condvar::new(),
        });
        let way = Way { port: listener.local_addr().unwrap().port(), state: state.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Ok(other) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                if state.refuses.load(Relaxed) {
                    // It drops both.
                    continue;
                }
                let clones = || Some((stream.try_clone().ok()?, other.try_clone().ok()?));
                let (Some(kept), Some(there), Some(back)) = (clones(), clones(), clones()) else { continue };
                state.pairs.lock().push(kept);
                let (one, two) = (state.clone(), state.clone());
                std::thread::spawn(move || one.carry(there.0, there.1));
                std::thread::spawn(move || two.carry(back.1, back.0));
            }
        });
        way
    }

    /// Cuts all connections, wherever they are in what they say.
    pub fn cut(&self) {
        for (a, b) in self.state.pairs.lock().drain(..) {
            // It may have ended by itself.
            let _ = (a.shutdown(Shutdown::Both), b.shutdown(Shutdown::Both));
        }
    }

    /// Whether new connections end at once.
    pub fn refuse(&self, refuses: bool) {
        self.state.refuses.store(refuses, Relaxed);
    }

    pub fn set(&self, hole: Hole) {
        *self.state.hole.lock() = hole;
        self.state.changed.notify_all();
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self, rest: &str) -> String {
        format!("valkey://127.0.0.1:{}/{rest}", self.port)
    }
}

impl State {
    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let (mut buffer, mut swallows) = ([0; 4096], false);
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            let mut hole = self.hole.lock();
            while *hole == Hole::Holds && !swallows {
                self.changed.wait(&mut hole);
            }
            swallows |= *hole == Hole::Swallows;
            drop(hole);
            if !swallows && to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}

const PRODUCERS: i32 = 2;
/// The values of a producer begin with its number times this.
const RANGE: i32 = 100_000_000;

/// How far elements have been passed.
#[derive(Default)]
pub struct Progress {
    passed: AtomicUsize,
    is_over: AtomicBool,
}

impl Progress {
    /// The number of elements that have come.
    pub fn passed(&self) -> usize {
        self.passed.load(Relaxed)
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }
}

/// Passes elements from two producers to two consumers, by the ways of four stores, while `faults` happen.
/// Checks that each element comes once, and the order of a producer's.
pub fn pass<T: Send>(stores: &[Store], total: usize, faults: impl FnOnce(&Progress) -> T + Send) -> T {
    let total = (total / PRODUCERS as usize) as i32;
    let queues: Vec<Arc<Queue>> =
        stores.iter().map(|store| stored(store, "q", spec(QueueKind::Fifo, 300))).collect();
    let done = AtomicI32::new(0);
    let progress = Progress::default();
    let (got, told) = std::thread::scope(|scope| {
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
        let faults = scope.spawn(|| faults(&progress));
        let progress = &progress;
        let consume = move |(c, q): (u64, Arc<Queue>)| {
            let mut dice = Dice(c);
            let mut values = Vec::new();
            loop {
                match dequeue(&q, Take::UpTo(1 + dice.below(30) as usize)).result() {
                    Ok(more) => {
                        progress.passed.fetch_add(more.len(), Relaxed);
                        values.extend(more);
                    }
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
        progress.is_over.store(true, Relaxed);
        (got, faults.join().unwrap())
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
    told
}
