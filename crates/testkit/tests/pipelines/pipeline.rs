//! [`Pipeline`]: a random pipeline, built and run.

use crate::judge::{Ends, Seen, elements_in, rows_of, waits_in_vain};
use millstream::contrib::training::{BatchSize, Bucketed, bucket};
use millstream::prelude::*;
use millstream::{
    Callable, Code, Coordinator, Queue, Queues, ResourceManager, RunOptions, RunQueues, SessionOptions,
};
use millstream_state as state;
use millstream_testkit::generate::Rng;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The place of a failing operation, if any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fails {
    Nowhere,
    AtTheSource,
    InTheMiddle,
    AtTheFilter,
    AtTheBucket,
    AtTheSequence,
    /// An element has the wrong rank.
    AtTheEnqueue,
    /// The batch size fails, at any time.
    AtTheSize,
    AtTheConsumer,
}

/// The cause of an early end, if any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stops {
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

/// Returns `x`; fails where `bad` is 1, not 0.
fn fails_where<'g>(x: Output<'g>, bad: Output<'g>) -> Output<'g> {
    let g = x.graph();
    x + g.gather(g.constant([0]), bad * 7, 0)
}

/// 1 where `x` equals `at`, otherwise 0.
fn is<'g>(x: Output<'g>, at: i32) -> Output<'g> {
    x.equal(x.graph().constant(at)).cast::<i32>()
}

pub(crate) struct Pipeline {
    pub(crate) rng: Rng,
    pub(crate) n: usize,
    pub(crate) buckets: usize,
    pub(crate) fails: Fails,
    pub(crate) stops: Stops,
    pub(crate) drops: bool,
    pub(crate) filters: bool,
    pub(crate) smaller: bool,
    /// The time limit of consumers' runs.
    pub(crate) patience: Option<Duration>,
    /// The numbers of threads that move elements to the middle queue, if there is one, and to the buckets;
    /// and the number of consumers.
    pub(crate) threads: [usize; 3],
    pub(crate) shuffles: bool,
    /// The most rows in a batch.
    pub(crate) most_rows: usize,
}

/// The buckets of elements, each a number and its sequence.
type Buckets<'g> = Bucketed<'g, (Output<'g>, Output<'g>)>;

/// The graph of a pipeline.
struct Built<'g> {
    numbers: Queue<'g>,
    /// The queue between the runners, if there is one.
    middle: Option<Queue<'g>>,
    /// The placeholder of all numbers, and the operations that enqueue them and close the queue.
    input: (Output<'g>, Op<'g>, Op<'g>),
    buckets: Buckets<'g>,
    /// A value of each batch that consumers compute.
    most: Output<'g>,
    /// The operation that ends the pipeline early, if a queue is to be closed.
    closing: Option<Op<'g>>,
    /// More items of a queue than there are.
    greedy: Option<Output<'g>>,
}

/// The state that the threads of a pipeline share.
struct Shared {
    queues: Vec<Arc<state::Queue>>,
    taken: Mutex<Vec<Vec<i32>>>,
    /// A violated property, if one was observed.
    wrong: Mutex<Option<String>>,
    n_batches: AtomicUsize,
    n_called_off: AtomicUsize,
}

impl Shared {
    fn new(queues: Vec<Arc<state::Queue>>) -> Arc<Shared> {
        Arc::new(Shared {
            queues,
            taken: Mutex::default(),
            wrong: Mutex::default(),
            n_batches: AtomicUsize::new(0),
            n_called_off: AtomicUsize::new(0),
        })
    }

    /// Checks that no attempt waits in vain.
    fn check_queues(&self) {
        if let Some(what) = waits_in_vain(&self.queues) {
            *self.wrong.lock().unwrap() = Some(what);
        }
    }
}

impl Pipeline {
    pub(crate) fn new(seed: u64) -> Pipeline {
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
        // One thread each is frequent, so that the order is known.
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

    /// The element as a sequence, whose length depends on its number; one has another rank, if that is to
    /// fail.
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

    /// A random batch size.
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

    /// Runs the pipeline. The inner error is a violated property, the outer one a pipeline that could not be
    /// built.
    pub(crate) fn run(mut self) -> Result<Result<Ends, String>> {
        let g = Graph::new();
        let built = self.build(&g)?;
        // The session that looks afterwards shares the resources of the session that may be closed.
        let resources = ResourceManager::new();
        let threads = Some(1 + self.rng.below(3));
        let options = || SessionOptions { resources: Some(resources.clone()), threads, ..Default::default() };
        let (session, looks) = (Session::with_options(&g, options())?, Session::with_options(&g, options())?);
        let (all, fill, end) = built.input;
        session.run::<()>(fill, feed![all => (0..self.n as i32).collect::<Vec<i32>>()])?;
        session.run::<()>(end, feed![])?;
        let mut queues = vec![&built.numbers];
        queues.extend(&built.middle);
        queues.extend(built.buckets.bucket_queues().iter().chain([built.buckets.top_queue()]));
        let shared = Shared::new(opened(&looks, &queues)?);
        let (batch, sequences) = built.buckets.outputs;
        let take = session.make_callable((built.buckets.bucket, batch, sequences, built.most), [])?;
        let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
        session.start_queue_runners(&coordinator)?;

        self.start_consumers(take, &shared, &coordinator)?;
        if let Some(greedy) = built.greedy {
            self.start_greedy(session.make_callable(greedy, [])?, &coordinator)?;
        }
        self.stop(&session, built.closing, &shared, &coordinator);
        // Consumers end when the input is used up or all are stopped; then nothing waits for the runners.
        let joined = coordinator.join_within(Duration::from_secs(30));
        coordinator.request_stop();
        let joined = joined.and(coordinator.join_within(Duration::from_secs(30)));
        let left = coordinator.running();

        let queues = &shared.queues;
        let seen = Seen {
            counts: built.buckets.statistics(&looks)?,
            taken: std::mem::take(&mut *shared.taken.lock().unwrap()),
            n_called_off: shared.n_called_off.load(Acquire),
            reports: queues.iter().map(|q| q.report()).collect(),
            inside: queues.iter().map(|q| elements_in(q)).collect(),
            tallies: queues.iter().map(|q| q.tally()).collect(),
        };
        let wrong = shared.wrong.lock().unwrap().take();
        drop(session);
        let judged = match (wrong, left.as_slice()) {
            (Some(wrong), _) => Err(wrong),
            (None, []) => self.failed(joined).and_then(|failed| self.judge(failed, &seen)),
            (None, left) => Err(format!("threads are left: {left:?}")),
        };
        Ok(judged.map_err(|what| {
            let Pipeline { fails, stops, threads, patience, n, buckets, .. } = self;
            let counts = &seen.counts;
            let sizes = format!("threads {threads:?}, n = {n}, {buckets} buckets");
            format!("{what}\n{fails:?}, {stops:?}, {patience:?}, {sizes}\n{counts}")
        }))
    }

    fn build<'g>(&mut self, g: &'g Graph) -> Result<Built<'g>> {
        let numbers =
            Queue::fifo(g, self.n as i64, [DType::I32]).shapes([shape![]]).shared_name("numbers").build()?;
        let all = g.placeholder::<i32>("all", shape![_]);
        let input = (all, numbers.enqueue_many([all])?, numbers.close());
        let [x] = numbers.dequeue()?.all()?;
        let x = self.fail(Fails::AtTheSource, x);
        let (middle, x) = self.middle(g, x)?;
        let (buckets, by_tokens) = self.bucket(g, x)?;
        let most = buckets.outputs.0.reduce_max(());
        let most = self.fail(Fails::AtTheConsumer, most);
        let closing = match self.stops {
            Stops::TopQueue => Some(buckets.top_queue().close_and_cancel()),
            Stops::TopQueueGently => Some(buckets.top_queue().close()),
            Stops::ABucket => Some(buckets.bucket_queues()[self.rng.below(self.buckets)].close_and_cancel()),
            Stops::ABucketGently => Some(buckets.bucket_queues()[self.rng.below(self.buckets)].close()),
            Stops::Middle => middle.as_ref().map(Queue::close),
            Stops::MiddleAtOnce => middle.as_ref().map(Queue::close_and_cancel),
            Stops::Nobody | Stops::Coordinator | Stops::Session => None,
        };
        let greedy = match self.rng.below(4) {
            0 => middle.as_ref(),
            1 if !by_tokens => Some(&buckets.bucket_queues()[self.rng.below(self.buckets)]),
            _ => None,
        };
        let greedy = greedy.map(|queue| queue.dequeue_many(self.n as i32 + 1)).transpose()?;
        let greedy = greedy.map(|taken| taken[0]);
        Ok(Built { numbers, middle, input, buckets, most, closing, greedy })
    }

    /// Perhaps puts a queue between the runners. Returns it and the elements that leave it.
    fn middle<'g>(&mut self, g: &'g Graph, x: Output<'g>) -> Result<(Option<Queue<'g>>, Output<'g>)> {
        let is_closed = matches!(self.stops, Stops::Middle | Stops::MiddleAtOnce);
        if self.rng.below(2) != 0 && self.fails != Fails::InTheMiddle && !is_closed {
            self.threads[0] = 0;
            return Ok((None, x));
        }
        let capacity = 1 + self.rng.below(10) as i64;
        let queue = match self.rng.below(3) {
            0 => Queue::fifo(g, capacity, [DType::I32]),
            1 => {
                self.shuffles = true;
                Queue::shuffle(g, capacity, self.rng.below(capacity as usize) as i64, [DType::I32])
            }
            _ => Queue::padding(g, capacity, [DType::I32]),
        };
        let queue = queue.shapes([shape![]]).shared_name("middle").build()?;
        let put = queue.enqueue([x])?;
        g.add_queue_runner(&queue.runner(std::iter::repeat_n(put, self.threads[0])));
        let [x] = queue.dequeue()?.all()?;
        let x = self.fail(Fails::InTheMiddle, x);
        Ok((Some(queue), x))
    }

    /// The buckets, and whether their batches are limited by tokens.
    fn bucket<'g>(&mut self, g: &'g Graph, x: Output<'g>) -> Result<(Buckets<'g>, bool)> {
        let modulus = if self.drops { self.buckets + 1 } else { self.buckets } as i32;
        let which = self.fail(Fails::AtTheBucket, x) % modulus;
        let sequence = self.sequence(x);
        let size = self.batch_size(g);
        let by_tokens = matches!(size, BatchSize::MaxTokens(_));
        let capacities: Vec<usize> = (0..self.buckets).map(|_| 1 + self.rng.below(8)).collect();
        let mut made = bucket(g, (x, sequence), which, size, self.buckets)
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
        Ok((made.run()?, by_tokens))
    }

    fn start_consumers(&self, take: Callable, shared: &Arc<Shared>, coordinator: &Coordinator) -> Result<()> {
        let take = Arc::new(take);
        for i in 0..self.threads[2] {
            let (take, shared, stops) = (take.clone(), shared.clone(), coordinator.clone());
            let (buckets, drops) = (self.buckets as i32, self.drops);
            let options = RunOptions { timeout: self.patience, ..RunOptions::default() };
            coordinator.spawn(format!("consumer {i}"), move || {
                while !stops.should_stop() {
                    let out = match take.call_with(Vec::new(), &options) {
                        Ok((out, _)) => out,
                        Err(error) if error.code() == Code::DeadlineExceeded => {
                            shared.n_called_off.fetch_add(1, AcqRel);
                            continue;
                        }
                        Err(error) => return Err(error),
                    };
                    match rows_of(&out, buckets, drops) {
                        Ok(rows) => shared.taken.lock().unwrap().push(rows),
                        Err(what) => *shared.wrong.lock().unwrap() = Some(what),
                    }
                    shared.n_batches.fetch_add(1, AcqRel);
                    shared.check_queues();
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Starts a consumer that takes all items of a queue but never gets as many as it asks for: they must
    /// return to the queue, in order.
    fn start_greedy(&mut self, take: Callable, coordinator: &Coordinator) -> Result<()> {
        let (stops, timeout) = (coordinator.clone(), Duration::from_micros(self.rng.below(400) as u64));
        coordinator.spawn("greedy", move || {
            let options = RunOptions { timeout: Some(timeout), ..RunOptions::default() };
            while !stops.should_stop() {
                match take.call_with(Vec::new(), &options) {
                    Err(error) if error.code() == Code::DeadlineExceeded => {}
                    // Its queue is closed, which does not end the others.
                    Err(error) if error.code() == Code::OutOfRange => return Ok(()),
                    Err(error) => return Err(error),
                    Ok(_) => return Err(Error::internal("there were not so many")),
                }
            }
            Ok(())
        })
    }

    /// Ends the pipeline early, if it is to, after a number of batches or a time.
    fn stop(
        &mut self,
        session: &Session,
        closing: Option<Op<'_>>,
        shared: &Shared,
        coordinator: &Coordinator,
    ) {
        if self.stops != Stops::Nobody {
            let (after, soon) = (self.rng.below(6), Duration::from_micros(self.rng.below(3000) as u64));
            let begin = Instant::now();
            while shared.n_batches.load(Acquire) < after && begin.elapsed() < soon {
                shared.check_queues();
                std::thread::yield_now();
            }
        }
        match (self.stops, closing) {
            (Stops::Coordinator, _) => coordinator.request_stop(),
            (Stops::Session, _) => session.close(),
            // The pipeline may have ended by now, and the queue be closed already.
            (_, Some(closing)) => drop(session.run::<()>(closing, feed![])),
            (_, None) => {}
        }
    }
}

/// The queues of the session's resources.
fn opened(session: &Session, queues: &[&Queue<'_>]) -> Result<Vec<Arc<state::Queue>>> {
    let handles: Vec<Tensor> = session.run(queues.iter().map(|q| q.handle()).collect::<Vec<_>>(), feed![])?;
    let queue = |handle: &Tensor| handle.as_handles().and_then(|h| h.first()?.share::<state::Queue>());
    Ok(handles.iter().filter_map(queue).collect())
}
