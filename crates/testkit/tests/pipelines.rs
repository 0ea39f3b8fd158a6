//! Random input pipelines: a source, queues between runners of several threads, a bucket, consumers; an operation that fails somewhere, or somebody
//! who closes or stops at a random moment.
//!
//! Whatever happens, nothing hangs, no thread is left, what comes out is right, and every element that came is accounted for:
//! in = out + waiting + dropped.
//!
//! `MILLSTREAM_STRESS=1` runs twenty times as many; `MILLSTREAM_SEED=n` runs only that one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream::contrib::training::{BatchSize, bucket};
use millstream::prelude::*;
use millstream::{Code, Error, ResourceManager, SessionOptions};
use millstream_testkit::generate::Rng;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// How many pipelines there are.
const MANY: u64 = 5000;

/// No pipeline may take longer; a loaded machine is slow, so much longer than any does.
const LONGEST: Duration = Duration::from_secs(60);

#[test]
fn pipelines() {
    let seeds = match std::env::var("MILLSTREAM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None if std::env::var_os("MILLSTREAM_STRESS").is_some() => 0..20 * MANY,
        None => 0..MANY,
    };
    let n = seeds.end - seeds.start;
    let begin = Instant::now();
    // Two at a time: they wait more than they work.
    let (next, ends) = (Arc::new(Mutex::new(seeds)), Arc::new(Mutex::new(Ends::default())));
    let (told, tells) = mpsc::channel();
    for _ in 0..2 {
        let (next, ends, told) = (next.clone(), ends.clone(), told.clone());
        std::thread::spawn(move || {
            while let Some(seed) = { next.lock().unwrap().next() } {
                told.send((seed, None)).unwrap();
                let end = std::panic::catch_unwind(|| run(seed));
                let end = end.unwrap_or_else(|panic| {
                    Err(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "it panicked".into()))
                });
                if let Ok(end) = &end {
                    ends.lock().unwrap().add(end);
                }
                told.send((seed, Some(end.map(|_| ())))).unwrap();
            }
        });
    }
    drop(told);
    let mut running: Vec<(u64, Instant)> = Vec::new();
    loop {
        match tells.recv_timeout(Duration::from_secs(1)) {
            Ok((seed, None)) => running.push((seed, Instant::now())),
            Ok((seed, Some(result))) => {
                running.retain(|(other, _)| *other != seed);
                if let Err(error) = result {
                    panic!("pipeline {seed}: {error}");
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        for (seed, since) in &running {
            assert!(since.elapsed() < LONGEST, "pipeline {seed} hangs");
        }
    }
    let ends = ends.lock().unwrap();
    println!("{n} pipelines in {:.1?}: {ends:?}", begin.elapsed());
    if n >= MANY {
        // All kinds of ends are met often, or the generator tests less than it says.
        for count in [ends.whole, ends.failed, ends.stopped, ends.dropped, ends.out] {
            assert!(count >= MANY as usize / 20, "{ends:?}");
        }
    }
}

/// How often what happened.
#[derive(Debug, Default)]
struct Ends {
    /// The input came to its end.
    whole: usize,
    /// An operation failed.
    failed: usize,
    /// Somebody stopped or closed.
    stopped: usize,
    /// Something was dropped.
    dropped: usize,
    /// Elements that came out.
    out: usize,
}

impl Ends {
    fn add(&mut self, other: &Ends) {
        self.whole += other.whole;
        self.failed += other.failed;
        self.stopped += other.stopped;
        self.dropped += other.dropped;
        self.out += other.out;
    }
}

/// Where an operation fails, if one does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fails {
    Nowhere,
    AtTheSource,
    InTheMiddle,
    AtTheBucket,
    AtTheConsumer,
}

/// Who ends it before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stops {
    Nobody,
    Coordinator,
    TopQueue,
    TopQueueGently,
    ABucket,
    Middle,
    Session,
}

/// Passes `x` on; fails where it is `at`.
fn fails_at(x: Output<'_>, at: i32) -> Output<'_> {
    let g = x.graph();
    let bad = x.equal(g.constant(at)).cast::<i32>() * 7;
    x + g.gather(g.constant([0]), bad, 0)
}

fn run(seed: u64) -> Result<Ends, String> {
    Pipeline::new(seed).run().map_err(|error| error.to_string())?
}

struct Pipeline {
    rng: Rng,
    n: usize,
    buckets: usize,
    fails: Fails,
    stops: Stops,
    drops: bool,
    filters: bool,
    smaller: bool,
}

impl Pipeline {
    fn new(seed: u64) -> Pipeline {
        let mut rng = Rng::new(seed);
        let mut one_of = |n: usize| rng.below(n);
        let fails = match one_of(8) {
            0 => Fails::AtTheSource,
            1 => Fails::InTheMiddle,
            2 => Fails::AtTheBucket,
            3 => Fails::AtTheConsumer,
            _ => Fails::Nowhere,
        };
        let stops = match one_of(12) {
            0 => Stops::Coordinator,
            1 => Stops::TopQueue,
            2 => Stops::ABucket,
            3 => Stops::Middle,
            4 => Stops::Session,
            5 => Stops::TopQueueGently,
            _ => Stops::Nobody,
        };
        let (n, buckets) = (1 + one_of(120), 1 + one_of(5));
        let (drops, filters, smaller) = (one_of(3) == 0, one_of(3) == 0, one_of(2) == 0);
        Pipeline { rng, n, buckets, fails, stops, drops, filters, smaller }
    }

    fn threads(&mut self) -> usize {
        1 + self.rng.below(8)
    }

    fn fail<'g>(&mut self, here: Fails, x: Output<'g>) -> Output<'g> {
        match self.fails == here {
            true => fails_at(x, self.rng.below(self.n) as i32),
            false => x,
        }
    }

    /// The inner error is what is wrong with the pipeline, the outer one that it could not be made.
    fn run(mut self) -> Result<Result<Ends, String>> {
        let g = Graph::new();
        let (n, buckets) = (self.n, self.buckets);

        // Numbers, then another queue between the runners, if it comes to that.
        let numbers = Queue::fifo(&g, n as i64, [DType::I32]).shapes([shape![]]).make()?;
        let all = g.placeholder::<i32>("all", shape![_]);
        let (fill, end) = (numbers.enqueue_many([all])?, numbers.close());
        let [x] = numbers.dequeue()?.all()?;
        let mut x = self.fail(Fails::AtTheSource, x);
        let mut middle = numbers.clone();
        if self.rng.below(2) == 0 || self.fails == Fails::InTheMiddle || self.stops == Stops::Middle {
            let capacity = 1 + self.rng.below(10) as i64;
            let queue = match self.rng.below(3) {
                0 => Queue::fifo(&g, capacity, [DType::I32]),
                1 => Queue::shuffle(&g, capacity, self.rng.below(capacity as usize) as i64, [DType::I32]),
                _ => Queue::padding(&g, capacity, [DType::I32]),
            };
            middle = queue.shapes([shape![]]).make()?;
            let put = middle.enqueue([x])?;
            let threads = self.threads();
            g.add_queue_runner(&middle.runner(std::iter::repeat_n(put, threads)));
            [x] = middle.dequeue()?.all()?;
            x = self.fail(Fails::InTheMiddle, x);
        }

        // The bucket. Elements as long as their number says.
        let modulus = if self.drops { buckets + 1 } else { buckets } as i32;
        let which = self.fail(Fails::AtTheBucket, x) % modulus;
        let length = x % 5;
        let sequence = g.fill(g.stack([length], 0), x).set_shape(shape![_]);
        let sizes: Vec<usize> = (0..buckets).map(|_| 1 + self.rng.below(6)).collect();
        let size = match self.rng.below(3) {
            0 => sizes[0].into(),
            1 => BatchSize::MaxTokens(4 + self.rng.below(12)),
            _ => sizes.into(),
        };
        let capacities: Vec<usize> = (0..buckets).map(|_| 1 + self.rng.below(8)).collect();
        let (capacity, threads) = (1 + self.rng.below(4), self.threads());
        let mut made = bucket(&g, (x, sequence), which, size, buckets)
            .dynamic_pad(true)
            .capacity(capacity)
            .bucket_capacities(capacities)
            .num_threads(threads)
            .shared_name("bucket")
            .allow_smaller_final_batch(self.smaller)
            .drop_out_of_range(self.drops);
        if self.filters {
            made = made.keep_input(g.not_equal(x % 3, g.constant(0)));
        }
        let made = made.make()?;
        let (batch, sequences) = made.outputs;
        let bad = match self.fails {
            Fails::AtTheConsumer => fails_at(batch.reduce_max(()), self.rng.below(n) as i32),
            _ => made.bucket,
        };
        let closing = match self.stops {
            Stops::TopQueue => Some(made.top_queue().close_and_cancel()),
            Stops::TopQueueGently => Some(made.top_queue().close()),
            Stops::ABucket => Some(made.bucket_queues()[self.rng.below(buckets)].close_and_cancel()),
            Stops::Middle => Some(middle.close()),
            Stops::Nobody | Stops::Coordinator | Stops::Session => None,
        };

        // Whoever looks afterwards shares what the session that may be closed has.
        let resources = ResourceManager::new();
        let threads = Some(1 + self.rng.below(3));
        let options = || SessionOptions { resources: Some(resources.clone()), threads, ..Default::default() };
        let (session, looks) = (Session::with_options(&g, options())?, Session::with_options(&g, options())?);
        session.run::<()>(fill, feed![all => (0..n as i32).collect::<Vec<i32>>()])?;
        session.run::<()>(end, feed![])?;
        let take = session.make_callable((made.bucket, batch, sequences, bad), [])?;
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        session.start_queue_runners(&coordinator)?;

        // Consumers, and who stops it all after so many batches or so much time.
        let (taken, wrong) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let batches = Arc::new(AtomicUsize::new(0));
        let consumers = 1 + self.rng.below(3);
        let take = Arc::new(take);
        for i in 0..consumers {
            let (take, taken, wrong) = (take.clone(), taken.clone(), wrong.clone());
            let (batches, stops) = (batches.clone(), coordinator.clone());
            let (buckets, drops) = (buckets as i32, self.drops);
            coordinator.spawn(format!("consumer {i}"), move || {
                while !stops.should_stop() {
                    let out = take.call(&[])?;
                    match rows_of(&out, buckets, drops) {
                        Ok(rows) => taken.lock().unwrap().extend(rows),
                        Err(what) => *wrong.lock().unwrap() = Some(what),
                    }
                    batches.fetch_add(1, AcqRel);
                }
                Ok(())
            })?;
        }
        if self.stops != Stops::Nobody {
            let (after, soon) = (self.rng.below(6), Duration::from_micros(self.rng.below(3000) as u64));
            let begin = Instant::now();
            while batches.load(Acquire) < after && begin.elapsed() < soon {
                std::thread::yield_now();
            }
        }
        match (self.stops, closing) {
            (Stops::Coordinator, _) => coordinator.request_stop(),
            (Stops::Session, _) => session.close(),
            // It may be over by now, and then be closed already.
            (_, Some(closing)) => drop(session.run::<()>(closing, feed![])),
            (_, None) => {}
        }
        // Consumers end when there is no more, or all are stopped; then nobody waits for the runners.
        let joined = coordinator.join_within(Duration::from_secs(30));
        coordinator.request_stop();
        let joined = joined.and(coordinator.join_within(Duration::from_secs(30)));
        let left = coordinator.running();
        let taken = std::mem::take(&mut *taken.lock().unwrap());
        let wrong = wrong.lock().unwrap().take();
        let counts = made.statistics(&looks)?;
        drop((take, session));
        Ok(self.judge(joined, &left, taken, wrong, &counts).map_err(|what| {
            format!("{what}\n{:?}, {:?}, n = {n}, {buckets} buckets\n{counts}", self.fails, self.stops)
        }))
    }

    fn judge(
        &self,
        joined: Result<()>,
        left: &[String],
        mut taken: Vec<i32>,
        wrong: Option<String>,
        counts: &millstream::contrib::training::Statistics,
    ) -> Result<Ends, String> {
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        if !left.is_empty() {
            return Err(format!("threads are left: {left:?}"));
        }
        let failed = self.failed(joined)?;
        let n = self.n as u64;
        let (out, came) = (counts.out(), counts.came());
        if came != out + counts.waiting() + counts.dropped() || came > n {
            return Err("in is not out + waiting + dropped".into());
        }
        let (rows, whole) = (taken.len() as u64, !failed && self.stops == Stops::Nobody);
        // A run that failed, or was called off, may have taken a batch that nobody got.
        if rows > out || (whole && rows != out) {
            return Err(format!("{rows} rows came out, but {out} are counted"));
        }
        taken.sort_unstable();
        if taken.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("an element came out twice".into());
        }
        if whole {
            let kept = |x: &i32| !self.filters || x % 3 != 0;
            let in_range = |x: &i32| !self.drops || x % (self.buckets as i32 + 1) < self.buckets as i32;
            let all = || 0..self.n as i32;
            let filtered = all().filter(|x| !kept(x)).count() as u64;
            let out_of_range = all().filter(|x| kept(x) && !in_range(x)).count() as u64;
            if (came, counts.filtered, counts.out_of_range) != (n, filtered, out_of_range) {
                return Err(format!(
                    "of {n}, {filtered} filtered and {out_of_range} out of range were expected"
                ));
            }
            let discarded = counts.dropped() - filtered - out_of_range;
            if counts.waiting() != 0 || (self.smaller && discarded != 0) {
                return Err("something is left although the input came to its end".into());
            }
        }
        let dropped = usize::from(counts.dropped() > 0);
        let (failed, stopped) = (usize::from(failed), usize::from(self.stops != Stops::Nobody));
        Ok(Ends { whole: usize::from(whole), failed, stopped, dropped, out: taken.len() })
    }

    /// Whether an operation failed; an error if that is none of those that may.
    fn failed(&self, joined: Result<()>) -> Result<bool, String> {
        let error: Error = match joined {
            Ok(()) => return Ok(false),
            Err(error) => error,
        };
        let expected =
            self.fails != Fails::Nowhere && error.to_string().contains("is 7, which is not in 0..1");
        if expected { Ok(true) } else { Err(format!("the threads ended with {error}")) }
    }
}

/// The elements of a batch; an error if it cannot be one.
fn rows_of(out: &[Tensor], buckets: i32, drops: bool) -> Result<Vec<i32>, String> {
    let said = |e: Error| e.to_string();
    let bucket = out[0].to_scalar::<i32>().map_err(said)?;
    let elements = out[1].as_slice::<i32>().map_err(said)?;
    let (width, sequences) = (out[2].shape().dims()[1], out[2].as_slice::<i32>().map_err(said)?);
    let longest = elements.iter().map(|x| x % 5).max().ok_or("a batch is empty")? as usize;
    let modulus = if drops { buckets + 1 } else { buckets };
    for (i, x) in elements.iter().enumerate() {
        let row = &sequences[i * width..][..width];
        let (values, padding) = row.split_at((x % 5) as usize);
        if x % modulus != bucket
            || width != longest
            || values.iter().any(|v| v != x)
            || padding.iter().any(|&v| v != 0)
        {
            return Err(format!("bucket {bucket} gave element {x} as {row:?}"));
        }
    }
    Ok(elements.to_vec())
}
