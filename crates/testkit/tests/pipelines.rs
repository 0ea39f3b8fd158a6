//! Random input pipelines: a source, queues between runners of several threads, a bucket, consumers; an operation that fails somewhere, somebody
//! who closes or stops at a random moment, consumers whose runs are called off.
//!
//! Whatever happens, nothing hangs, no thread is left, nobody waits in vain, what comes out is right, and every element is accounted for: it came out, is in one of
//! the queues, was dropped and counted, or was in a run that failed or was called off. Elements are numbers, each there once, which are looked for one by one;
//! what the queues count of themselves has to agree.
//!
//! `MILLSTREAM_STRESS=1` runs twenty times as many; `MILLSTREAM_SEED=n` runs only that one.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream::contrib::training::{BatchSize, Statistics, bucket};
use millstream::prelude::*;
use millstream::{Code, Error, PartialShape, QueueReport, ResourceManager, RunOptions, SessionOptions};
use millstream_state::{self as state, Tally};
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
    let threads_before = n_threads();
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
        for count in
            [ends.whole, ends.failed, ends.stopped, ends.dropped, ends.out, ends.called_off, ends.lost]
        {
            assert!(count >= MANY as usize / 20, "{ends:?}");
        }
    }
    // Threads of pools that are gone end by themselves, soon.
    let begin = Instant::now();
    while n_threads() > threads_before {
        assert!(begin.elapsed() < LONGEST, "{:?} threads, and {threads_before:?} before", n_threads());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many threads the process has, where that can be known.
fn n_threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
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
    /// Runs of consumers that were called off.
    called_off: usize,
    /// Elements that were in runs that failed or were called off.
    lost: usize,
    /// Elements that came out.
    out: usize,
}

impl Ends {
    fn add(&mut self, other: &Ends) {
        self.whole += other.whole;
        self.failed += other.failed;
        self.stopped += other.stopped;
        self.dropped += other.dropped;
        self.called_off += other.called_off;
        self.lost += other.lost;
        self.out += other.out;
    }
}

/// Where an operation fails, if one does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fails {
    Nowhere,
    AtTheSource,
    InTheMiddle,
    AtTheFilter,
    AtTheBucket,
    AtTheSequence,
    /// An element of another rank than it should be.
    AtTheEnqueue,
    /// At any time: what a bucket's thread asks for.
    AtTheSize,
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
    ABucketGently,
    Middle,
    MiddleAtOnce,
    Session,
}

/// Passes `x` on; fails where `bad` is 1, not 0.
fn fails_where<'g>(x: Output<'g>, bad: Output<'g>) -> Output<'g> {
    let g = x.graph();
    x + g.gather(g.constant([0]), bad * 7, 0)
}

/// 1 where `x` is `at`, otherwise 0.
fn is<'g>(x: Output<'g>, at: i32) -> Output<'g> {
    x.equal(x.graph().constant(at)).cast::<i32>()
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
    /// Runs of consumers have so long.
    patience: Option<Duration>,
    /// Threads that move elements to the queue in the middle, if there is one, and to the buckets; consumers.
    threads: [usize; 3],
    shuffles: bool,
    /// The most rows that a batch has.
    most_rows: usize,
}

/// What is seen of a pipeline when all of its threads have ended.
struct Seen {
    counts: Statistics,
    /// What consumers got.
    taken: Vec<Vec<i32>>,
    /// How often one got nothing because its time was up.
    n_called_off: usize,
    /// What the queues say of themselves: the first one, that in the middle, the buckets', that of the batches.
    reports: Vec<QueueReport>,
    /// The elements that are in each.
    inside: Vec<Vec<i32>>,
    tallies: Vec<Tally>,
}

impl Pipeline {
    fn new(seed: u64) -> Pipeline {
        let mut rng = Rng::new(seed);
        let mut one_of = |n: usize| rng.below(n);
        let fails = match one_of(20) {
            0 => Fails::AtTheSource,
            1 => Fails::InTheMiddle,
            2 => Fails::AtTheBucket,
            3 => Fails::AtTheConsumer,
            4 => Fails::AtTheFilter,
            5 => Fails::AtTheSequence,
            6 => Fails::AtTheEnqueue,
            7 => Fails::AtTheSize,
            _ => Fails::Nowhere,
        };
        let stops = match one_of(20) {
            0 => Stops::Coordinator,
            1 => Stops::TopQueue,
            2 => Stops::ABucket,
            3 => Stops::Middle,
            4 => Stops::Session,
            5 => Stops::TopQueueGently,
            6 => Stops::ABucketGently,
            7 => Stops::MiddleAtOnce,
            _ => Stops::Nobody,
        };
        let (n, buckets) = (1 + one_of(120), 1 + one_of(5));
        let (drops, filters, smaller) = (one_of(3) == 0, one_of(3) == 0, one_of(2) == 0);
        let filters = filters || fails == Fails::AtTheFilter;
        let patience = (one_of(3) == 0).then(|| Duration::from_micros(one_of(400) as u64));
        let threads = [1 + one_of(8), 1 + one_of(8), 1 + one_of(3)];
        // Often enough one thread each, so that the order is known.
        let threads = if one_of(3) == 0 { [1; 3] } else { threads };
        Pipeline {
            n,
            buckets,
            fails,
            stops,
            drops,
            filters,
            smaller,
            patience,
            threads,
            shuffles: false,
            most_rows: 0,
            rng,
        }
    }

    fn fail<'g>(&mut self, here: Fails, x: Output<'g>) -> Output<'g> {
        match self.fails == here {
            true => fails_where(x, is(x, self.rng.below(self.n) as i32)),
            false => x,
        }
    }

    /// The element as a sequence, as long as its number says; once of another rank, if that is what fails.
    fn sequence<'g>(&mut self, x: Output<'g>) -> Output<'g> {
        let g = x.graph();
        let x = self.fail(Fails::AtTheSequence, x);
        let length = x % 5;
        let dims = match self.fails == Fails::AtTheEnqueue {
            false => g.stack([length], 0),
            true => {
                let bad = is(x, self.rng.below(self.n) as i32);
                let dims = g.stack([g.constant(1), length], 0);
                g.op("Slice").input(dims).input(g.stack([1 - bad], 0)).input(g.constant([-1])).output()
            }
        };
        g.fill(dims, x).set_shape(PartialShape::unknown())
    }

    /// How large batches are.
    fn batch_size<'g>(&mut self, g: &'g Graph) -> BatchSize<'g> {
        let sizes: Vec<usize> = (0..self.buckets).map(|_| 1 + self.rng.below(6)).collect();
        self.most_rows = sizes.iter().copied().max().unwrap_or(1);
        if self.fails == Fails::AtTheSize {
            let often = 0.02 + 0.1 * self.rng.below(5) as f32;
            let bad = g.random_uniform([1], 0f32, 1f32, None).index(0).less(often).cast::<i32>();
            return fails_where(g.constant(sizes[0] as i32), bad).into();
        }
        match self.rng.below(3) {
            0 => sizes[0].into(),
            1 => {
                let tokens = 4 + self.rng.below(12);
                self.most_rows = tokens;
                BatchSize::MaxTokens(tokens)
            }
            _ => sizes.into(),
        }
    }

    /// The inner error is what is wrong with the pipeline, the outer one that it could not be made.
    fn run(mut self) -> Result<Result<Ends, String>> {
        let g = Graph::new();
        let (n, buckets) = (self.n, self.buckets);

        // Numbers, then another queue between the runners, if it comes to that.
        let numbers =
            Queue::fifo(&g, n as i64, [DType::I32]).shapes([shape![]]).shared_name("numbers").make()?;
        let all = g.placeholder::<i32>("all", shape![_]);
        let (fill, end) = (numbers.enqueue_many([all])?, numbers.close());
        let [x] = numbers.dequeue()?.all()?;
        let mut x = self.fail(Fails::AtTheSource, x);
        let mut middle = numbers.clone();
        let closes_middle = matches!(self.stops, Stops::Middle | Stops::MiddleAtOnce);
        if self.rng.below(2) == 0 || self.fails == Fails::InTheMiddle || closes_middle {
            let capacity = 1 + self.rng.below(10) as i64;
            let queue = match self.rng.below(3) {
                0 => Queue::fifo(&g, capacity, [DType::I32]),
                1 => {
                    self.shuffles = true;
                    Queue::shuffle(&g, capacity, self.rng.below(capacity as usize) as i64, [DType::I32])
                }
                _ => Queue::padding(&g, capacity, [DType::I32]),
            };
            middle = queue.shapes([shape![]]).shared_name("middle").make()?;
            let put = middle.enqueue([x])?;
            g.add_queue_runner(&middle.runner(std::iter::repeat_n(put, self.threads[0])));
            [x] = middle.dequeue()?.all()?;
            x = self.fail(Fails::InTheMiddle, x);
        } else {
            self.threads[0] = 0;
        }

        // The bucket.
        let modulus = if self.drops { buckets + 1 } else { buckets } as i32;
        let which = self.fail(Fails::AtTheBucket, x) % modulus;
        let sequence = self.sequence(x);
        let size = self.batch_size(&g);
        let by_tokens = matches!(size, BatchSize::MaxTokens(_));
        let capacities: Vec<usize> = (0..buckets).map(|_| 1 + self.rng.below(8)).collect();
        let mut made = bucket(&g, (x, sequence), which, size, buckets)
            .shapes([shape![], shape![_]])
            .dynamic_pad(true)
            .capacity(1 + self.rng.below(4))
            .bucket_capacities(capacities)
            .num_threads(self.threads[1])
            .shared_name("bucket")
            .allow_smaller_final_batch(self.smaller)
            .drop_out_of_range(self.drops);
        if self.filters {
            let x = self.fail(Fails::AtTheFilter, x);
            made = made.keep_input(g.not_equal(x % 3, g.constant(0)));
        }
        let made = made.make()?;
        let (batch, sequences) = made.outputs;
        let most = batch.reduce_max(());
        let most = self.fail(Fails::AtTheConsumer, most);
        let closing = match self.stops {
            Stops::TopQueue => Some(made.top_queue().close_and_cancel()),
            Stops::TopQueueGently => Some(made.top_queue().close()),
            Stops::ABucket => Some(made.bucket_queues()[self.rng.below(buckets)].close_and_cancel()),
            Stops::ABucketGently => Some(made.bucket_queues()[self.rng.below(buckets)].close()),
            Stops::Middle => Some(middle.close()),
            Stops::MiddleAtOnce => Some(middle.close_and_cancel()),
            Stops::Nobody | Stops::Coordinator | Stops::Session => None,
        };

        let greedy = match self.rng.below(4) {
            0 if self.threads[0] > 0 => Some(&middle),
            1 if !by_tokens => Some(&made.bucket_queues()[self.rng.below(buckets)]),
            _ => None,
        };
        let greedy = greedy.map(|queue| queue.dequeue_many(n as i32 + 1)).transpose()?;
        let greedy = greedy.map(|taken| taken[0]);

        // Whoever looks afterwards shares what the session that may be closed has.
        let resources = ResourceManager::new();
        let threads = Some(1 + self.rng.below(3));
        let options = || SessionOptions { resources: Some(resources.clone()), threads, ..Default::default() };
        let (session, looks) = (Session::with_options(&g, options())?, Session::with_options(&g, options())?);
        session.run::<()>(fill, feed![all => (0..n as i32).collect::<Vec<i32>>()])?;
        session.run::<()>(end, feed![])?;
        let mut queues = vec![&numbers];
        queues.extend(Some(&middle).filter(|_| self.threads[0] > 0));
        queues.extend(made.bucket_queues().iter().chain([made.top_queue()]));
        let queues: Arc<[Arc<state::Queue>]> = opened(&looks, &queues)?.into();
        let take = session.make_callable((made.bucket, batch, sequences, most), [])?;
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        session.start_queue_runners(&coordinator)?;

        // Consumers, and who stops it all after so many batches or so much time.
        let (taken, wrong) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let (batches, called_off) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let take = Arc::new(take);
        for i in 0..self.threads[2] {
            let (take, taken, wrong) = (take.clone(), taken.clone(), wrong.clone());
            let (batches, called_off, stops) = (batches.clone(), called_off.clone(), coordinator.clone());
            let queues = queues.clone();
            let (buckets, drops) = (buckets as i32, self.drops);
            let options = RunOptions { timeout: self.patience, ..RunOptions::default() };
            coordinator.spawn(format!("consumer {i}"), move || {
                while !stops.should_stop() {
                    let out = match take.call_with(Vec::new(), &options) {
                        Ok((out, _)) => out,
                        Err(error) if error.code() == Code::DeadlineExceeded => {
                            called_off.fetch_add(1, AcqRel);
                            continue;
                        }
                        Err(error) => return Err(error),
                    };
                    match rows_of(&out, buckets, drops) {
                        Ok(rows) => taken.lock().unwrap().push(rows),
                        Err(what) => *wrong.lock().unwrap() = Some(what),
                    }
                    batches.fetch_add(1, AcqRel);
                    if let Some(what) = waits_in_vain(&queues) {
                        *wrong.lock().unwrap() = Some(what);
                    }
                }
                Ok(())
            })?;
        }
        // Somebody takes all there is, but never gets as much as he asked for: it has to be there again, in order.
        if let Some(greedy) = greedy {
            let take = session.make_callable(greedy, [])?;
            let (stops, timeout) = (coordinator.clone(), Duration::from_micros(self.rng.below(400) as u64));
            coordinator.spawn("greedy", move || {
                let options = RunOptions { timeout: Some(timeout), ..RunOptions::default() };
                while !stops.should_stop() {
                    match take.call_with(Vec::new(), &options) {
                        Err(error) if error.code() == Code::DeadlineExceeded => {}
                        // Its queue is closed, which is nobody else's end.
                        Err(error) if error.code() == Code::OutOfRange => return Ok(()),
                        Err(error) => return Err(error),
                        Ok(_) => return Err(Error::internal("there were not so many")),
                    }
                }
                Ok(())
            })?;
        }
        if self.stops != Stops::Nobody {
            let (after, soon) = (self.rng.below(6), Duration::from_micros(self.rng.below(3000) as u64));
            let begin = Instant::now();
            while batches.load(Acquire) < after && begin.elapsed() < soon {
                if let Some(what) = waits_in_vain(&queues) {
                    *wrong.lock().unwrap() = Some(what);
                }
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
        let seen = Seen {
            counts: made.statistics(&looks)?,
            taken,
            n_called_off: called_off.load(Acquire),
            reports: queues.iter().map(|q| q.report()).collect(),
            inside: queues.iter().map(|q| elements_in(q)).collect(),
            tallies: queues.iter().map(|q| q.tally()).collect(),
        };
        let wrong = wrong.lock().unwrap().take();
        drop((take, session));
        let counts = seen.counts.clone();
        let judged = match (wrong, left.as_slice()) {
            (Some(wrong), _) => Err(wrong),
            (None, []) => self.failed(joined).and_then(|failed| self.judge(failed, seen)),
            (None, left) => Err(format!("threads are left: {left:?}")),
        };
        Ok(judged.map_err(|what| {
            let Pipeline { fails, stops, threads, patience, .. } = self;
            format!("{what}\n{fails:?}, {stops:?}, {patience:?}, threads {threads:?}, n = {n}, {buckets} buckets\n{counts}")
        }))
    }

    /// Whether an operation failed; an error if that is none of those that may.
    fn failed(&self, joined: Result<()>) -> Result<bool, String> {
        let error: Error = match joined {
            Ok(()) => return Ok(false),
            Err(error) => error,
        };
        let means = match self.fails {
            Fails::Nowhere => "nothing",
            Fails::AtTheEnqueue => "Shape mismatch in tuple component 1",
            _ => "is 7, which is not in 0..1",
        };
        if error.to_string().contains(means) {
            Ok(true)
        } else {
            Err(format!("the threads ended with {error}"))
        }
    }

    fn judge(&self, failed: bool, seen: Seen) -> Result<Ends, String> {
        let ensure = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let Seen { counts, taken, n_called_off, reports, inside, tallies } = &seen;
        let n = self.n as u64;
        let (out, came) = (counts.out(), counts.came());
        let moved = !failed && self.stops == Stops::Nobody;

        // What queues say of themselves is what is in them.
        for (report, inside) in reports.iter().zip(inside).take(reports.len() - 1) {
            let len = inside.len() as u64;
            ensure(
                report.len as u64 == len && report.n_in == report.n_out + len,
                &format!("{len} in {report}"),
            )?;
            ensure(
                report.enqueuing.is_empty() && report.dequeuing.is_empty(),
                &format!("somebody in {report}"),
            )?;
        }
        ensure(reports[0].n_in == n, "not all numbers went in")?;

        // From one to the next, at most what a thread had in its hands is lost.
        let lost_of = |from: u64, to: u64, threads: usize, where_: &str| {
            let lost = from.checked_sub(to).ok_or(format!("{from} left for {where_}, but {to} came"))?;
            let most = if moved { 0 } else { threads as u64 };
            ensure(lost <= most, &format!("{lost} were lost on their way to {where_}"))
        };
        let has_middle = self.threads[0] > 0;
        if has_middle {
            lost_of(reports[0].n_out, reports[1].n_in, self.threads[0], "the middle")?;
        }
        lost_of(reports[usize::from(has_middle)].n_out, came, self.threads[1], "the buckets")?;
        let (before, top) = (1 + usize::from(has_middle), reports.len() - 1);
        // A run that was called off may have had a batch, which is then counted or not.
        let batches_out: u64 = tallies[top].taken.values().map(|taken| taken.batches).sum();
        let lost = reports[top].n_out.checked_sub(taken.len() as u64);
        let lost = lost.ok_or("more batches came out than went out")?;
        let most = *n_called_off + if moved { 0 } else { self.threads[2] };
        ensure(lost <= most as u64, &format!("consumers did not get {lost} batches"))?;
        let not_counted = reports[top].n_out.checked_sub(batches_out).ok_or("batches are counted twice")?;
        ensure(not_counted <= lost, "batches came out that are not counted")?;
        let most_not_counted = not_counted * self.most_rows as u64;
        let left_buckets: u64 = reports[before..top].iter().map(|r| r.n_out).sum();
        let rows_in_top = inside[top].len() as u64;
        let on_the_way =
            left_buckets.checked_sub(out + rows_in_top).ok_or("more rows came out than went in")?;
        let in_hands = if moved { 0 } else { (self.buckets * self.most_rows) as u64 };
        ensure(
            on_the_way <= in_hands + most_not_counted,
            &format!("{on_the_way} rows of batches are nowhere"),
        )?;

        // The same of each element by itself.
        let kept = |x: &i32| !self.filters || x % 3 != 0;
        let in_range = |x: &i32| !self.drops || x % (self.buckets as i32 + 1) < self.buckets as i32;
        let mut there: Vec<i32> = taken.iter().chain(inside).flatten().copied().collect();
        there.sort_unstable();
        ensure(there.windows(2).all(|pair| pair[0] != pair[1]), "an element is there twice")?;
        ensure(there.iter().all(|x| (0..self.n as i32).contains(x)), "an element came from nowhere")?;
        let let_in = inside[before..].iter().chain(taken).flatten();
        ensure(let_in.into_iter().all(|x| kept(x) && in_range(x)), "an element came in that should not")?;
        let rows: u64 = taken.iter().map(|rows| rows.len() as u64).sum();
        let not_got = out.checked_sub(rows).ok_or(format!("{rows} rows came out, but {out} are counted"))?;
        ensure(not_got <= lost * self.most_rows as u64 && (lost > 0 || not_got == 0), "rows are missing")?;
        let missing = n - there.len() as u64 - counts.filtered - counts.out_of_range - not_got;
        let in_hands = if moved { 0 } else { in_hands + (self.threads[0] + self.threads[1]) as u64 };
        ensure(missing <= in_hands + most_not_counted, &format!("{missing} elements are nowhere"))?;
        if self.threads.iter().all(|&threads| threads <= 1) && !self.shuffles {
            for bucket in 0..self.buckets as i32 {
                let of_it = taken.iter().flatten().filter(|x| self.bucket_of(**x) == bucket);
                ensure(of_it.is_sorted(), "elements overtook each other")?;
            }
        }

        // What is said of the bucket.
        ensure(came == out + counts.waiting() + counts.dropped(), "in is not out + waiting + dropped")?;
        if reports[top].closed.is_some() {
            ensure(counts.waiting() == rows_in_top, "what waits in the bucket is miscounted")?;
        }
        if moved {
            let all = || 0..self.n as i32;
            let filtered = all().filter(|x| !kept(x)).count() as u64;
            let out_of_range = all().filter(|x| kept(x) && !in_range(x)).count() as u64;
            ensure(
                (came, counts.filtered, counts.out_of_range) == (n, filtered, out_of_range),
                &format!("of {n}, {filtered} filtered and {out_of_range} out of range were expected"),
            )?;
            let rests: u64 = inside[before..top].iter().map(|rest| rest.len() as u64).sum();
            let discarded = counts.dropped() - filtered - out_of_range;
            ensure(
                counts.waiting() == 0 && discarded == rests + missing && (!self.smaller || rests == 0),
                "something is left although the input came to its end",
            )?;
            if lost == 0 {
                self.count_cells(&seen)?;
            }
        }
        let (dropped, whole) = (usize::from(counts.dropped() > 0), usize::from(moved && lost == 0));
        let (failed, stopped) = (usize::from(failed), usize::from(self.stops != Stops::Nobody));
        let lost = (missing + not_got) as usize;
        Ok(Ends { whole, failed, stopped, dropped, called_off: *n_called_off, lost, out: rows as usize })
    }

    fn bucket_of(&self, x: i32) -> i32 {
        x % if self.drops { self.buckets as i32 + 1 } else { self.buckets as i32 }
    }

    /// Of batches that were all taken: their number, rows, cells and padding are those that the buckets counted.
    fn count_cells(&self, seen: &Seen) -> Result<(), String> {
        for (i, counted) in seen.counts.buckets.iter().enumerate() {
            let (mut batches, mut rows, mut cells, mut padding) = (0, 0, 0, 0);
            for batch in seen.taken.iter().filter(|batch| self.bucket_of(batch[0]) == i as i32) {
                let lengths = || batch.iter().map(|x| (x % 5) as u64);
                let width = lengths().max().unwrap_or(0);
                batches += 1;
                rows += batch.len() as u64;
                cells += batch.len() as u64 * (1 + width);
                padding += lengths().map(|length| width - length).sum::<u64>();
            }
            let is = (counted.batches, counted.rows, counted.cells, counted.padding);
            if is != (batches, rows, cells, padding) {
                return Err(format!("bucket {i} counted {is:?}, not {:?}", (batches, rows, cells, padding)));
            }
        }
        Ok(())
    }
}

/// The queues themselves.
fn opened(session: &Session, queues: &[&Queue<'_>]) -> Result<Vec<Arc<state::Queue>>> {
    let handles: Vec<Tensor> = session.run(queues.iter().map(|q| q.handle()).collect::<Vec<_>>(), feed![])?;
    let queue = |handle: &Tensor| handle.as_handles().and_then(|h| h.first()?.share::<state::Queue>());
    Ok(handles.iter().filter_map(queue).collect())
}

/// Whether somebody stands in the line of a queue who could be served: there is no moment at which that may be seen.
fn waits_in_vain(queues: &[Arc<state::Queue>]) -> Option<String> {
    let could_be_served = |report: &QueueReport| {
        let held_back = if report.closed.is_some() { 0 } else { report.spec.min_after_dequeue };
        let enqueues = report.len < report.spec.capacity || report.closed.is_some();
        let dequeues = report.len > held_back || report.closed.is_some();
        (enqueues && !report.enqueuing.is_empty()) || (dequeues && !report.dequeuing.is_empty())
    };
    let report = queues.iter().map(|queue| queue.report()).find(could_be_served)?;
    Some(format!("somebody waits in vain: {report}"))
}

/// The elements that are in a queue, alone or in batches.
fn elements_in(queue: &state::Queue) -> Vec<i32> {
    let mut elements = Vec::new();
    queue.look(|item| {
        // A batch has its bucket's number first.
        let x = if item.len() == 3 { &item[1] } else { &item[0] };
        elements.extend(x.as_slice::<i32>().unwrap_or_default());
    });
    elements
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
