//! [`Session`]: a graph, the state that its runs keep, and the plans made of it.
//!
//! Long because every option and method has an example.

use crate::bounds::Bounds;
use crate::callable::Callable;
use crate::explain::SoFar;
use crate::feed::Feeds;
use crate::fetch::{Fetch, FetchList, Fetched, FromFetched, Target, Targets, take_all, wrong_dtype};
use crate::host::{Host, Printer};
use crate::library::Functions;
use crate::partial::PartialRun;
use crate::progress::{ShowProgress, Shown};
use crate::queue_runner::first_line;
use crate::resource_manager::ResourceManager;
use crate::stall::Stalls;
use crate::watch::{Watch, Watched, watches};
use millstream_exec::region::{Measured, Regions};
use millstream_exec::{Iterations, Outcome, Passes, Plan, PlanOptions, Poll, Reference, Runner, Trace};
use millstream_files::{FileAccess, Files};
use millstream_graph::op::{StepEnv, StepHost};
use millstream_graph::{FrameId, Graph, GraphData, Output, Port, Program};
use millstream_state::collective::{Alone, Collective};
use millstream_state::{
    AnyQueue, Cancellation, HostFunctions, QueueReport, Resources, SessionTensors, machine_memory,
};
use millstream_tensor::budget::{self, Budget};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Tensor, ensure, invalid};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::time::{Duration, Instant};

/// The options of a session.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let memory_limit = Some(1 << 20); // bytes
/// let options = SessionOptions { threads: Some(1), memory_limit, ..SessionOptions::default() };
/// let session = Session::with_options(&g, options)?;
/// assert_eq!(session.run::<f32>(x * 2.0, feed![x => 3.0f32])?, 6.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Default)]
pub struct SessionOptions {
    /// The number of threads that run kernels; one per core by default. The results are the same for any
    /// number.
    pub threads: Option<usize>,
    /// Kernels use one thread each, and threads only serve to run kernels side by side (TensorFlow's
    /// `intra_op_parallelism_threads=1`). By default a kernel that runs alone may use all threads.
    pub one_thread_per_kernel: bool,
    /// The most bytes of tensors that may be alive at a time in the session's runs and plans; by default 80 %
    /// of the memory that the process may use (the machine's, or less if a control group or a limit of the
    /// process says so). Going over it is an error that names the op.
    pub memory_limit: Option<usize>,
    /// Overrides `parallel_iterations` of every loop. The results are the same for any number.
    pub parallel_iterations: Option<u32>,
    /// The longest time that a run may take, where the run's own options set none.
    pub timeout: Option<Duration>,
    /// The manager of variables, queues and the like, to share them with other sessions; the session's own by
    /// default.
    pub resources: Option<ResourceManager>,
    /// The files that the graph's nodes may read and write; every file by default. For graphs from elsewhere,
    /// allow nothing or a folder.
    pub files: FileAccess,
    /// The container of resources that name none.
    pub container: String,
    /// The processes that the job consists of, of which this is one; by default this process alone. Nodes
    /// such as `AllReduce` meet those of the same name in the other processes.
    pub collective: Option<Arc<dyn Collective>>,
    /// A run that waits for a queue ends with an error once nothing has been run with the session's resources
    /// for this long; ten minutes by default. It ends sooner where no thread of the process could end the
    /// wait, or the queue's runner was never started. With `Duration::MAX` there is no such time, and every
    /// thread of the process counts, also those of other libraries in a language whose own threads are known
    /// ([`count_threads_with`](crate::count_threads_with)).
    pub stall_grace: Option<Duration>,
    /// Takes the texts that the program prints, each with its own line end. By default they go where the
    /// graph says: `Print` writes to the standard error, `PrintV2` to its `output_stream`.
    pub print: Option<Printer>,
    /// The tier that runs the graph.
    pub tier: Tier,
    /// What plans do to be fast; by default everything. The results are the same without a pass, so leaving
    /// one out, `"-accumulate".parse()?`, tells whether it is at fault for a wrong result.
    pub passes: Passes,
    /// Every kernel may run on another thread, however short it is. Slow; for tests of concurrency.
    #[doc(hidden)]
    pub hand_out_all: bool,
    /// The work that a loop is interpreted for before it becomes machine code, in additions or the like. For
    /// tests.
    #[doc(hidden)]
    pub compile_after: Option<u64>,
}

impl std::fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SessionOptions {
            threads,
            one_thread_per_kernel,
            memory_limit,
            parallel_iterations,
            timeout,
            resources,
            files,
            container,
            collective,
            stall_grace,
            print: _,
            tier,
            passes,
            hand_out_all,
            compile_after,
        } = self;
        f.debug_struct("SessionOptions")
            .field("threads", threads)
            .field("one_thread_per_kernel", one_thread_per_kernel)
            .field("memory_limit", memory_limit)
            .field("parallel_iterations", parallel_iterations)
            .field("timeout", timeout)
            .field("resources", resources)
            .field("files", files)
            .field("container", container)
            .field("collective", collective)
            .field("stall_grace", stall_grace)
            .field("tier", tier)
            .field("passes", passes)
            .field("hand_out_all", hand_out_all)
            .field("compile_after", compile_after)
            .finish_non_exhaustive()
    }
}

/// A way to run a graph. The values are the same in every tier.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let y = g.while_loop(x).run(|x| less(x, 100.0), |x| x * x)?;
/// for tier in [Tier::Compiled, Tier::Dataflow, Tier::Reference] {
///     let session = Session::with_options(&g, SessionOptions { tier, ..SessionOptions::default() })?;
///     assert_eq!(session.run::<f32>(y, feed![x => 3.0f32])?, 6561.0);
/// }
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// The dataflow machine, with loops that only compute on a few elements run as code: interpreted first,
    /// and compiled to machine code once they have run for a while.
    #[default]
    Compiled,
    /// The dataflow machine alone.
    Dataflow,
    /// The slow and obvious evaluation that the other tiers are tested against. Runs on the caller's thread
    /// and records no trace.
    Reference,
}

/// The options of one run.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// use std::time::Duration;
/// let endless = g.while_loop(g.constant(0)).run(|_| g.constant(true), |i| i + 1)?;
/// let options = RunOptions { timeout: Some(Duration::from_millis(10)), ..RunOptions::default() };
/// let error = Session::new(&g)?.run_with::<i32>(endless, feed![], &options).unwrap_err();
/// assert_eq!(error.code(), Code::DeadlineExceeded);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The longest time that it may take.
    pub timeout: Option<Duration>,
    /// Record every execution of every node.
    pub trace: bool,
    /// The watches that stop the run.
    pub watch: Vec<Watch>,
    /// The caller's reason for the run; a queue that the run closes reports it.
    pub why: Option<Arc<str>>,
    /// A question that the calling thread asks while the run goes on; an error ends the run.
    pub poll: Option<Poll>,
    /// Shows the progress of a run that takes long.
    pub progress: Option<ShowProgress>,
}

/// What a run returns beyond its values.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let options = RunOptions { trace: true, ..RunOptions::default() };
/// let (y, metadata) = Session::new(&g)?.run_with::<f32>(x * 2.0, feed![x => 3.0f32], &options)?;
/// assert_eq!(y, 6.0);
/// let trace = metadata.trace.expect("the options asked for one");
/// assert!(!trace.events.is_empty()); // `trace.to_chrome_json()` is a file for Perfetto
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct RunMetadata {
    /// What ran, if the options asked for it.
    pub trace: Option<Box<Trace>>,
}

/// Runs a graph. Variables keep their values from run to run. Runs may happen at the same time, from any
/// threads, and the graph may grow between runs.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let y = g.while_loop(x).run(|x| less(x, 100.0), |x| x * x)?;
/// let session = Session::new(&g)?;
/// assert_eq!(session.run::<f32>(y, feed![x => 3.0f32])?, 6561.0);
/// assert_eq!(session.run::<f32>(y, feed![x => 10.0f32])?, 100.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub struct Session {
    pub(crate) shared: Arc<Shared>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("tier", &self.shared.tier)
            .field("threads", &self.shared.threads())
            .field("plans", &self.shared.n_plans())
            .finish_non_exhaustive()
    }
}

/// What a session shares with its callables and partial runs.
pub(crate) struct Shared {
    pub(crate) graph: Graph,
    host: Arc<Host>,
    library: Arc<Functions>,
    resources: ResourceManager,
    pub(crate) kernel_state: Arc<Resources>,
    files: Files,
    container: Arc<str>,
    collective: Arc<dyn Collective>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) parallel_iterations: Option<u32>,
    pub(crate) tier: Tier,
    passes: Passes,
    compile_after: Option<u64>,
    pub(crate) hand_out_all: bool,
    one_thread_per_kernel: bool,
    timeout: Option<Duration>,
    /// The plans by their keys. Read by every run, written when a plan is made.
    plans: RwLock<Plans>,
    /// The cancellations of all runs, for closing the session. Runs reuse them, so there are about as many as
    /// ever ran at a time.
    flags: Mutex<Vec<Cancellation>>,
    closed: AtomicBool,
}

/// What a plan is for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    feeds: Vec<Port>,
    targets: Vec<Target>,
    watched: Vec<Watched>,
    keep_all: bool,
    edits: u64,
}

/// The plans of a session. A plan of a graph that was edited since (an input replaced, a control input added)
/// is never used again, and goes before the next plan is made. Of the others, the one that was used least
/// recently makes room.
#[derive(Default)]
struct Plans {
    kept: HashMap<Key, Kept>,
    /// The nodes of all plans.
    n_nodes: usize,
}

/// A plan, and when it was last used, in ticks of [`Plans::CLOCK`].
struct Kept {
    plan: Arc<Prepared>,
    used: AtomicU64,
}

impl Plans {
    /// The most plans that a session keeps.
    const MOST: usize = 1024;
    /// The most nodes of all these plans; each takes about half a kilobyte. The newest plan is kept in any
    /// case.
    const MOST_NODES: usize = 1 << 20;

    fn now() -> u64 {
        static CLOCK: AtomicU64 = AtomicU64::new(0);
        CLOCK.fetch_add(1, Relaxed)
    }

    fn get(&self, key: &Key) -> Option<Arc<Prepared>> {
        let kept = self.kept.get(key)?;
        // With few plans nothing is evicted for its age soon, and runs on many threads share no counter.
        if 4 * self.kept.len() > Self::MOST || 4 * self.n_nodes > Self::MOST_NODES {
            kept.used.store(Self::now(), Relaxed);
        }
        Some(kept.plan.clone())
    }

    /// Takes out the plans of the graph before these edits, for the caller to drop without the lock.
    fn take_stale(&mut self, edits: u64) -> Vec<Kept> {
        let stale = self.kept.extract_if(|k, _| k.edits < edits).map(|(_, kept)| kept);
        let stale: Vec<Kept> = stale.collect();
        self.n_nodes -= stale.iter().map(|kept| kept.plan.n_nodes).sum::<usize>();
        stale
    }

    /// Adds a plan. Returns those that it replaces, for the caller to drop without the lock.
    fn insert(&mut self, key: Key, plan: Arc<Prepared>) -> Vec<Kept> {
        let mut gone = self.take_stale(key.edits);
        let mut left = self.n_nodes + plan.n_nodes;
        while self.kept.len() >= Self::MOST || left > Self::MOST_NODES {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used.load(Relaxed));
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { break };
            let oldest = self.kept.remove(&oldest);
            left -= oldest.as_ref().map_or(0, |kept| kept.plan.n_nodes);
            gone.extend(oldest);
        }
        let same = self.kept.insert(key, Kept { plan, used: AtomicU64::new(Self::now()) });
        self.n_nodes = left - same.as_ref().map_or(0, |kept| kept.plan.n_nodes);
        gone.extend(same);
        gone
    }
}

/// A plan with the types of its feeds.
pub(crate) struct Prepared {
    engine: Engine,
    n_nodes: usize,
    pub(crate) feeds: Vec<FeedSpec>,
}

/// A program prepared for one of the tiers.
enum Engine {
    Dataflow(Runner),
    Reference(Box<Reference>),
}

impl Engine {
    fn run(
        &self,
        feeds: Vec<Tensor>,
        make_env: impl FnOnce() -> StepEnv,
        options: &millstream_exec::RunOptions,
    ) -> Result<Outcome> {
        match self {
            Engine::Dataflow(runner) => runner.run(feeds, make_env, options),
            Engine::Reference(reference) => {
                let env = StepEnv { why: options.why.clone(), ..make_env() };
                reference.run(feeds, &env, options)
            }
        }
    }
}

impl Engine {
    /// Runs again and again, without feeds and fetches, until a run fails or `go_on` says no.
    fn repeat(
        &self,
        make_env: impl Fn() -> StepEnv,
        options: &millstream_exec::RunOptions,
        mut go_on: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        match self {
            Engine::Dataflow(runner) => runner.repeat(make_env, options, go_on),
            Engine::Reference(reference) => {
                while go_on()? {
                    drop(reference.run(Vec::new(), &make_env(), options)?);
                }
                Ok(())
            }
        }
    }
}

/// The type of a feed.
pub(crate) struct FeedSpec {
    pub(crate) name: String,
    port: Port,
    dtype: DType,
    shape: PartialShape,
}

impl FeedSpec {
    pub(crate) fn new(g: &GraphData, port: Port) -> Result<FeedSpec> {
        let name = format!("{}:{}", g.node(port.node)?.name(), port.index);
        Ok(FeedSpec { name, port, dtype: g.type_of(port)?.dtype, shape: g.shape_of(port) })
    }

    pub(crate) fn check(&self, value: &Tensor) -> Result<()> {
        if value.dtype() != self.dtype {
            return Err(wrong_dtype(&self.name, self.dtype, value));
        }
        if value.as_scalar().is_some() && self.shape.rank() == Some(0) {
            return Ok(());
        }
        if !self.shape.contains(&value.shape().into()) {
            return Err(invalid!(
                "`{}` takes shape {} but was fed a value of shape {}",
                self.name,
                self.shape,
                value.shape()
            ));
        }
        Ok(())
    }
}

impl Session {
    /// A session for this graph with one thread per core. An error if building the graph went wrong.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(2.0f32) + 1.0;
    /// assert_eq!(Session::new(&g)?.run::<f32>(x, feed![])?, 3.0);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn new(graph: &Graph) -> Result<Session> {
        Self::with_options(graph, SessionOptions::default())
    }

    /// A session with options.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(2.0f32) + 1.0;
    /// let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    /// let session = Session::with_options(&g, options)?;
    /// assert_eq!(session.run::<f32>(x, feed![])?, 3.0);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn with_options(graph: &Graph, options: SessionOptions) -> Result<Session> {
        graph.check()?;
        let files = Files::new(&options.files)?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let resources = options.resources.unwrap_or_default();
        let kernel_state = Arc::new(Resources::new());
        let stalls = Stalls {
            graph: graph.clone(),
            resources: resources.resources().clone(),
            private: kernel_state.clone(),
            grace: options.stall_grace.unwrap_or(STALL_GRACE),
            runners: Mutex::default(),
        };
        let regions = regions(options.tier, options.compile_after);
        let library = Functions::new(graph.clone(), options.parallel_iterations, regions);
        Ok(Session {
            shared: Arc::new(Shared {
                graph: graph.clone(),
                library: Arc::new(library),
                host: Arc::new(Host::new(options.threads.unwrap_or_else(cores), options.print, stalls)),
                resources,
                kernel_state,
                files,
                container: options.container.into(),
                collective: options.collective.unwrap_or_else(|| Arc::new(Alone)),
                budget: Some(Budget::new(options.memory_limit.unwrap_or_else(|| machine_memory() / 5 * 4))),
                parallel_iterations: options.parallel_iterations,
                one_thread_per_kernel: options.one_thread_per_kernel,
                tier: options.tier,
                passes: options.passes,
                hand_out_all: options.hand_out_all,
                compile_after: options.compile_after,
                timeout: options.timeout,
                plans: RwLock::default(),
                flags: Mutex::new(Vec::new()),
                closed: AtomicBool::new(false),
            }),
        })
    }

    /// The graph.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let session = Session::new(&g)?;
    /// let late = session.graph().constant(1) + 1; // a graph may grow between runs
    /// assert_eq!(session.run::<i32>(late, feed![])?, 2);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn graph(&self) -> &Graph {
        &self.shared.graph
    }

    /// A number that no other session has during this one's lifetime.
    pub(crate) fn key(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    /// Puts the session's memory limit and timeout in force on this thread, for work between runs.
    pub(crate) fn within(&self) -> budget::Entered<'_> {
        budget::enter_until(self.shared.budget.as_ref(), self.shared.deadline(&RunOptions::default()))
    }

    /// The manager of the session's variables, queues and the like, to share them with another session.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let first = Session::new(&g)?;
    /// let resources = Some(first.resources().clone());
    /// let options = SessionOptions { resources, ..SessionOptions::default() };
    /// let second = Session::with_options(&g, options)?; // has the variables of the first
    /// assert_eq!(second.resources().list(), first.resources().list());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn resources(&self) -> &ResourceManager {
        &self.shared.resources
    }

    /// Reports on the queues that the session's runs have opened, and on those it shares with other sessions:
    /// what is in them, which nodes wait, what went in and out, how they were closed.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let session = Session::new(&g)?;
    /// assert!(session.queues().is_empty()); // no run has opened one
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn queues(&self) -> Vec<QueueReport> {
        let own = self.shared.kernel_state.queues();
        own.iter().map(AnyQueue::report).chain(self.shared.resources.queues()).collect()
    }

    /// The tensor that a run's `GetSessionHandle` kept under this handle.
    pub fn kept_tensor(&self, handle: &str) -> Result<Tensor> {
        self.shared.kept()?.get(handle)
    }

    /// Forgets the tensor that a run's `GetSessionHandle` kept under this handle.
    pub fn forget_tensor(&self, handle: &str) -> Result<()> {
        self.shared.kept()?.delete(handle)
    }

    /// Notes that a runner fills the queue of this node from now on. For runners of a front end;
    /// [`QueueRunner`](crate::QueueRunner) does it itself.
    #[doc(hidden)]
    pub fn runner_started(&self, queue: &str) {
        let mut runners = self.shared.host.stalls.runners.lock();
        runners.failed.remove(queue);
        runners.started.insert(queue.to_owned());
    }

    /// Notes that the runner of this node's queue ended with an error, and that nothing closed the queue.
    #[doc(hidden)]
    pub fn runner_failed(&self, queue: &str, why: &str) {
        let mut runners = self.shared.host.stalls.runners.lock();
        runners.failed.insert(queue.to_owned(), first_line(why).to_owned());
    }

    /// The most bytes of tensors that were alive at a time.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(vec![0.0f32; 1000]) + 1.0;
    /// let session = Session::new(&g)?;
    /// session.run::<Tensor>(x, feed![])?;
    /// assert!(4000 <= session.peak_bytes());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn peak_bytes(&self) -> usize {
        self.shared.budget.as_ref().map_or(0, |b| b.peak())
    }

    /// Runs what the fetches need and returns their values, in the structure that the caller asks for:
    /// `let (i, m): (i32, Tensor) = session.run((i, m), feed![n => 3])?`.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let session = Session::new(&g)?;
    /// // One fetch, several, and fetches and feeds by name.
    /// let y: f32 = session.run(x * 2.0, feed![x => 3.0f32])?;
    /// let (double, square): (f32, f32) = session.run((x * 2.0, x * x), feed![x => 3.0f32])?;
    /// let same: f32 = session.run("x:0", feed!["x:0" => 3.0f32])?;
    /// assert_eq!((y, double, square, same), (6.0, 6.0, 9.0, 3.0));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn run<V: FromFetched>(&self, fetches: impl Fetch, feeds: impl Feeds) -> Result<V> {
        Ok(self.run_with(fetches, feeds, &RunOptions::default())?.0)
    }

    /// As [`Session::run`], with options. Also returns metadata of the run.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let options = RunOptions { watch: vec![Watch::all().nan()], ..RunOptions::default() };
    /// let (y, _) = Session::new(&g)?.run_with::<f32>(x * 2.0, feed![x => 3.0f32], &options)?;
    /// assert_eq!(y, 6.0);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn run_with<V: FromFetched>(
        &self,
        fetches: impl Fetch,
        feeds: impl Feeds,
        options: &RunOptions,
    ) -> Result<(V, RunMetadata)> {
        let mut list = FetchList::default();
        fetches.list(self.graph(), &mut list)?;
        let (ports, values): (Vec<Port>, Vec<Tensor>) =
            feeds.into_feeds().resolve(self.graph())?.into_iter().unzip();
        self.shared.check_open()?;
        let deadline = self.shared.deadline(options);
        let (prepared, list) = self.shared.prepare(ports, list.0, options.trace, &options.watch, deadline)?;
        let outcome = self.shared.run(&prepared, values, options, deadline)?;
        let values =
            take_all(spread(&list, outcome.values, outcome.every), |i| self.shared.name_of(&list, i))?;
        Ok((values, RunMetadata { trace: outcome.trace }))
    }

    /// Resolves fetches and feeds once, for many calls: values are given in the order of `feeds`.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let y = g.placeholder_of("y", DType::F32, shape![]);
    /// let add = Session::new(&g)?.make_callable(x + y, [x, y])?;
    /// for i in 0..3 {
    ///     let sum: f32 = add.call_as(&[Tensor::scalar(i as f32), Tensor::scalar(0.5f32)])?;
    ///     assert_eq!(sum, i as f32 + 0.5);
    /// }
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn make_callable<'g>(
        &self,
        fetches: impl Fetch,
        feeds: impl IntoIterator<Item = Output<'g>>,
    ) -> Result<Callable> {
        let mut list = FetchList::default();
        fetches.list(self.graph(), &mut list)?;
        let ports: Vec<Port> = feeds.into_iter().map(|o| o.port()).collect();
        self.shared.check_open()?;
        let deadline = self.shared.deadline(&RunOptions::default());
        let (prepared, targets) = self.shared.prepare(ports.clone(), list.0, false, &[], deadline)?;
        Ok(Callable::new(self.shared.clone(), prepared, ports, targets))
    }

    /// Begins a run in several parts, with all its fetches and feeds. Each call of [`Session::partial_run`]
    /// then gives some of the feeds and gets some of the fetches, each once. Always runs on the dataflow
    /// machine.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let y = g.placeholder_of("y", DType::F32, shape![]);
    /// let double = x * 2.0;
    /// let sum = double + y;
    /// let session = Session::new(&g)?;
    /// let run = session.partial_run_setup((double, sum), [x, y])?;
    /// let first: f32 = session.partial_run(&run, double, feed![x => 3.0f32])?;
    /// let total: f32 = session.partial_run(&run, sum, feed![y => first])?; // depends on the first part
    /// assert_eq!((first, total), (6.0, 12.0));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn partial_run_setup<'g>(
        &self,
        fetches: impl Fetch,
        feeds: impl IntoIterator<Item = Output<'g>>,
    ) -> Result<PartialRun> {
        self.shared.check_open()?;
        let mut list = FetchList::default();
        fetches.list(self.graph(), &mut list)?;
        PartialRun::new(&self.shared, feeds.into_iter().map(|o| o.port()).collect(), list.0)
    }

    /// Goes on with a partial run: gives these feeds, runs all that they make possible, and gets these
    /// fetches. What earlier calls have computed is not computed again. A call that is refused (a feed or
    /// fetch is unknown, repeated, or cannot be computed yet) changes nothing; an error while running ends
    /// the run. The session's timeout applies to each call.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let (double, square) = (x * 2.0, x * x);
    /// let session = Session::new(&g)?;
    /// let run = session.partial_run_setup((double, square), [x])?;
    /// assert_eq!(session.partial_run::<f32>(&run, double, feed![x => 3.0f32])?, 6.0);
    /// assert_eq!(session.partial_run::<f32>(&run, square, feed![])?, 9.0); // `x` is known by now
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn partial_run<V: FromFetched>(
        &self,
        run: &PartialRun,
        fetches: impl Fetch,
        feeds: impl Feeds,
    ) -> Result<V> {
        self.shared.check_open()?;
        if !run.is_of(&self.shared) {
            return Err(invalid!("this partial run was set up in another session"));
        }
        let mut list = FetchList::default();
        fetches.list(self.graph(), &mut list)?;
        run.call(&list, feeds.into_feeds())
    }

    /// Closes the session: runs that go on are cancelled, and further ones are errors. Its resources are
    /// dropped with the last session that shares them.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(2.0f32);
    /// let session = Session::new(&g)?;
    /// session.close();
    /// assert_eq!(session.run::<f32>(x, feed![]).unwrap_err().code(), Code::Cancelled);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn close(&self) {
        self.shared.closed.store(true, Release);
        let flags = self.shared.flags.lock().clone();
        for flag in flags {
            flag.cancel(closed_error());
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Callables keep the session, as in TensorFlow: it closes when the last of them is dropped.
        if Arc::strong_count(&self.shared) == 1 {
            self.close();
        }
    }
}

/// The default of [`SessionOptions::stall_grace`].
const STALL_GRACE: Duration = Duration::from_secs(600);

fn closed_error() -> Error {
    Error::new(Code::Cancelled, "the session was closed").led_by("Session has been closed.")
}

/// The result of each target.
pub(crate) fn spread(
    targets: &[Target],
    values: Vec<Tensor>,
    every: Vec<Iterations>,
) -> impl Iterator<Item = Fetched> {
    let (mut values, mut every) = (values.into_iter(), every.into_iter());
    targets.iter().map(move |t| {
        let fetched = match t {
            Target::Value(_) => values.next().map(Fetched::Value),
            Target::Operation(_) => None,
            Target::Every(_) => every.next().map(Fetched::Every),
        };
        fetched.unwrap_or(Fetched::Ran)
    })
}

impl Shared {
    /// The name of a fetch in an error.
    pub(crate) fn name_of(&self, targets: &[Target], index: usize) -> Option<String> {
        let node = |id| self.graph.read(|g| g.node(id).map(|n| n.name().to_owned()).ok());
        match targets.get(index)? {
            Target::Value(port) => Some(format!("`{}:{}`", node(port.node)?, port.index)),
            Target::Every(port) => Some(format!("`{}:{}` in all iterations", node(port.node)?, port.index)),
            Target::Operation(id) => Some(format!("`{}`", node(*id)?)),
        }
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        match self.closed.load(Acquire) {
            true => Err(closed_error()),
            false => Ok(()),
        }
    }

    pub(crate) fn prepare(
        &self,
        feeds: Vec<Port>,
        targets: Vec<Target>,
        keep_all: bool,
        watch: &[Watch],
        deadline: Option<Instant>,
    ) -> Result<(Arc<Prepared>, Vec<Target>)> {
        let edits = self.graph.read(|g| g.edits());
        if !watch.is_empty() {
            self.graph.read(|g| watch.iter().try_for_each(|w| w.check(g)))?;
        }
        let watched = watch.iter().map(|w| w.on).collect();
        let key = Key { feeds, targets, watched, keep_all, edits };
        if let Some(found) = self.plans.read().get(&key) {
            return Ok((found, key.targets));
        }
        self.graph.check()?;
        // Stale plans are dropped first, so that the new plan takes their place in memory. Otherwise each
        // plan of a growing graph leaves a hole that is too small for the next one.
        let stale = self.plans.write().take_stale(edits);
        drop(stale);
        let prepared = Arc::new(self.make_plan(&key, deadline)?);
        let targets = key.targets.clone();
        let gone = self.plans.write().insert(key, prepared.clone());
        drop(gone);
        Ok((prepared, targets))
    }

    /// Makes a plan, within the session's memory limit and the deadline of the run that needs it.
    fn make_plan(&self, key: &Key, deadline: Option<Instant>) -> Result<Prepared> {
        let _budget = budget::enter_until(self.budget.as_ref(), deadline);
        let options = PlanOptions { keep_all: key.keep_all, ..self.plan_options(deadline) };
        let options = PlanOptions { watch_all: key.watched.contains(&Watched::All), ..options };
        options.check()?;
        let targets = Targets::of(&key.targets);
        let watched: Vec<Port> = key
            .watched
            .iter()
            .filter_map(|w| if let Watched::Output(port) = w { Some(*port) } else { None })
            .collect();
        let asked = targets.asked(&key.feeds, &watched);
        let (program, feeds) = self.graph.read(|g| -> Result<_> {
            let feeds = key.feeds.iter().map(|&port| FeedSpec::new(g, port)).collect::<Result<Vec<_>>>()?;
            Ok((Program::new(g, &asked)?, feeds))
        })?;
        options.check()?;
        let n_nodes = program.nodes().len();
        let engine = match self.tier {
            Tier::Compiled | Tier::Dataflow => {
                Engine::Dataflow(Runner::new(Arc::new(Plan::new(&program, &self.kernel_state, &options)?)))
            }
            Tier::Reference => {
                Engine::Reference(Box::new(Reference::new(program, &self.kernel_state, &options)?))
            }
        };
        Ok(Prepared { engine, n_nodes, feeds })
    }

    /// What plans of these targets and feeds, in whatever order, have made and measured of a frame's code.
    pub(crate) fn frame_so_far(&self, targets: &[Target], feeds: &[Port], frame: FrameId) -> SoFar {
        let plans = self.plans.read();
        let is_like = |key: &Key| {
            key.targets == targets
                && key.watched.is_empty()
                && !key.keep_all
                && key.feeds.len() == feeds.len()
                && key.feeds.iter().all(|feed| feeds.contains(feed))
        };
        let all = plans.kept.iter().filter(|(key, _)| is_like(key)).filter_map(|(_, kept)| {
            match &kept.plan.engine {
                Engine::Dataflow(runner) => Some(runner.plan()),
                Engine::Reference(_) => None,
            }
        });
        // The order of the plans does not matter.
        all.fold(SoFar::default(), |all, plan| {
            let it = plan.measured(frame).unwrap_or_default();
            SoFar {
                measured: Measured {
                    iterations: all.measured.iterations + it.iterations,
                    nanos: all.measured.nanos + it.nanos,
                    machine_bytes: all.measured.machine_bytes.max(it.machine_bytes),
                    compile_nanos: all.measured.compile_nanos.max(it.compile_nanos),
                },
                code: all.code.or_else(|| plan.code(frame)),
                refused: all.refused.or_else(|| plan.refused(frame)),
            }
        })
    }

    /// How plans of this session are made.
    pub(crate) fn plan_options(&self, deadline: Option<Instant>) -> PlanOptions {
        PlanOptions {
            parallel_iterations: self.parallel_iterations,
            hand_out_all: self.hand_out_all,
            regions: regions(self.tier, self.compile_after),
            passes: self.passes,
            deadline,
            cancel: self.cancellation(),
            ..PlanOptions::default()
        }
    }

    /// The time by which a run that begins now has to end.
    pub(crate) fn deadline(&self, options: &RunOptions) -> Option<Instant> {
        options.timeout.or(self.timeout).and_then(|t| Instant::now().checked_add(t))
    }

    pub(crate) fn run(
        &self,
        prepared: &Prepared,
        feeds: Vec<Tensor>,
        options: &RunOptions,
        deadline: Option<Instant>,
    ) -> Result<Outcome> {
        for (spec, value) in prepared.feeds.iter().zip(&feeds) {
            spec.check(value)?;
        }
        let mut exec = self.exec_options(options, deadline);
        let Some(how) = &options.progress else {
            return prepared.engine.run(feeds, || self.env(), &exec);
        };
        let shown = Shown::new(how);
        let graph = self.graph.clone();
        let given: Vec<(Port, Tensor)> = (prepared.feeds.iter().zip(&feeds))
            .filter(|(_, value)| value.as_scalar().is_some())
            .map(|(spec, value)| (spec.port, value.clone()))
            .collect();
        exec.progress = Some(shown.engine(move || graph.read(|g| Bounds::of(g, &given))));
        let outcome = prepared.engine.run(feeds, || self.env(), &exec);
        shown.end();
        outcome
    }

    /// Runs again and again, without feeds and fetches, until a run fails or `go_on` says no.
    pub(crate) fn repeat(&self, prepared: &Prepared, mut go_on: impl FnMut() -> bool) -> Result<()> {
        let options = RunOptions::default();
        // A timeout is of each run, so each has a deadline of its own.
        if self.timeout.is_some() {
            while go_on() {
                self.check_open()?;
                self.run(prepared, Vec::new(), &options, self.deadline(&options))?;
            }
            return Ok(());
        }
        let exec = self.exec_options(&options, None);
        // A runner that is to stop does not mind whether the session is closed.
        let go_on = || if go_on() { self.check_open().map(|()| true) } else { Ok(false) };
        prepared.engine.repeat(|| self.env(), &exec, go_on)
    }

    /// Runs a part of a [`Split`](crate::Split): the feeds listed in `dead` are dead. Returns the fetched
    /// values, and which of them are dead.
    pub(crate) fn run_part(
        &self,
        prepared: &Prepared,
        feeds: Vec<Tensor>,
        dead: Vec<usize>,
        options: &RunOptions,
    ) -> Result<(Vec<Tensor>, Vec<usize>)> {
        self.check_open()?;
        ensure!(
            feeds.len() == prepared.feeds.len(),
            "this part takes {} values but was called with {}",
            prepared.feeds.len(),
            feeds.len()
        );
        for (i, (spec, value)) in prepared.feeds.iter().zip(&feeds).enumerate() {
            if !dead.contains(&i) {
                spec.check(value)?;
            }
        }
        let mut exec = self.exec_options(options, self.deadline(options));
        (exec.dead_feeds, exec.dead_fetches) = (dead, true);
        let outcome = prepared.engine.run(feeds, || self.env(), &exec)?;
        Ok((outcome.values, outcome.dead))
    }

    fn kept(&self) -> Result<Arc<SessionTensors>> {
        self.kernel_state.get_or_create("", SessionTensors::NAME, || Ok(SessionTensors::default()))
    }

    pub(crate) fn resources(&self) -> &Resources {
        self.resources.resources()
    }

    pub(crate) fn threads(&self) -> usize {
        self.host.threads()
    }

    pub(crate) fn n_plans(&self) -> usize {
        self.plans.read().kept.len()
    }

    pub(crate) fn exec_options(
        &self,
        options: &RunOptions,
        deadline: Option<Instant>,
    ) -> millstream_exec::RunOptions {
        millstream_exec::RunOptions {
            trace: options.trace,
            why: options.why.clone(),
            deadline,
            budget: self.budget.clone(),
            one_thread_per_kernel: self.one_thread_per_kernel,
            watches: watches(&options.watch),
            poll: options.poll.clone(),
            ..Default::default()
        }
    }

    /// A cancellation that is raised when the session is closed.
    fn cancellation(&self) -> Cancellation {
        let cancel = Cancellation::new();
        let mut flags = self.flags.lock();
        if flags.len() >= 64 && flags.len().is_power_of_two() {
            flags.retain(Cancellation::is_shared);
        }
        flags.push(cancel.clone());
        if self.closed.load(Acquire) {
            cancel.cancel(closed_error());
        }
        cancel
    }

    pub(crate) fn env(&self) -> StepEnv {
        StepEnv {
            resources: self.resources.resources().clone(),
            step_resources: Arc::new(Resources::new()),
            kernel_state: self.kernel_state.clone(),
            container: self.container.clone(),
            cancel: self.cancellation(),
            loans: Arc::default(),
            activity: self.resources.resources().join(),
            functions: self.graph.extension::<HostFunctions>(),
            library: self.library.clone(),
            why: None,
            files: self.files.clone(),
            collective: self.collective.clone(),
            host: self.host.clone() as Arc<dyn StepHost>,
        }
    }
}

/// Which loops run as regions, and how.
fn regions(tier: Tier, compile_after: Option<u64>) -> Regions {
    Regions {
        enabled: tier == Tier::Compiled,
        #[cfg(feature = "jit")]
        compiler: Some(Arc::new(millstream_jit::Jit)),
        #[cfg(not(feature = "jit"))]
        compiler: None,
        compile_after: compile_after.unwrap_or(Regions::COMPILE_AFTER),
    }
}
