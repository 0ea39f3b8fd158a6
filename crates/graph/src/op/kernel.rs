//! [`Kernel`], the declaration of how an op computes, and [`KernelCx`], the view that a running kernel has of
//! its node.

use super::expression::Lowering;
use super::panics::caught;
use super::resolve::NodeInfo;
use crate::attr::{Attrs, FuncRef};
use millstream_files::Files;
use millstream_state::collective::Collective;
use millstream_state::{Activity, Cancellation, HostFunctions, Loans, Resources};
use millstream_tensor::{DType, Element, Error, Handle, Opaque, Result, Scalar, Tensor, invalid};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The kernel of an op: its plain definition, and properties that the executor uses.
#[derive(Debug)]
pub struct Kernel {
    /// The computation.
    pub body: KernelBody,
    /// The state that it touches beyond its inputs and outputs.
    pub effect: Effect,
    /// An estimate of the time it takes.
    pub cost: Cost,
    /// A faster computation for nodes whose inputs are all scalars.
    pub scalar: Option<fn(&NodeInfo) -> Option<ScalarKernel>>,
    /// The nodes whose work it can take over: see [`Kernel::absorbing`].
    pub absorbs: Option<Absorb>,
    /// How it adds its result to a sum: see [`Kernel::accumulating`].
    pub accumulates: Option<Fuse>,
    /// How it computes a part of its result: see [`Kernel::narrowing`].
    pub narrows: Option<Fuse>,
    /// How a compiler computes the outputs instead: see [`Kernel::lowered`].
    pub lowering: Option<fn(&NodeInfo) -> Option<Lowering>>,
    /// The bytes that it works with for each element of its inputs, besides inputs and outputs.
    pub scratch: usize,
    /// Whether it returns the handle of a named resource, which stays the same until names are forgotten.
    pub opens: bool,
    /// Whether what it changes can be undone: see [`Kernel::undoable`].
    pub undoable: bool,
    /// Whether the iterations of loops around it run one after another: see [`Kernel::in_order`].
    pub in_order: bool,
    /// Whether it only reads what is outside of the graph: see [`Kernel::observing`].
    pub observing: bool,
    /// Whether all that it changes dies with the step: see [`Kernel::of_step`].
    pub of_step: bool,
}

/// Given the node that makes input 0: a function that computes both, from that node's only input. `None` if
/// there is none.
pub type Absorb = fn(&NodeInfo) -> Option<RunFn>;

/// Computes the given node and its only reader at once. The reader's other inputs come first.
pub type Fuse = fn(&NodeInfo, &mut KernelCx) -> Result<()>;

/// A kernel as a plain function.
pub type RunFn = fn(&mut KernelCx) -> Result<()>;

/// A kernel that may have to wait for an event outside the step.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// Computes if it does not have to wait, and returns whether it did. If it did not, its inputs are
    /// unchanged.
    pub at_once: fn(&mut KernelCx) -> Result<bool>,
    /// Starts work that ends later through the [`Completion`]. Sets no outputs.
    pub start: fn(&mut KernelCx, Completion),
}

/// The computation of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum KernelBody {
    /// The op is structural: the executor knows it by its role.
    Structural,
    /// A function that reads its attributes when it runs.
    Run(RunFn),
    /// A function that prepares a kernel once per node and session: it reads attributes and looks up state.
    Build(fn(&BuildCx) -> Result<Box<dyn Run>>),
    /// A kernel that may wait, and completes later from any thread. The executor parks the node, not a
    /// thread.
    Waits(Waits),
}

/// A prepared kernel.
pub trait Run: Send + Sync {
    /// Computes.
    fn run(&self, cx: &mut KernelCx) -> Result<()>;
}

impl<F: Fn(&mut KernelCx) -> Result<()> + Send + Sync> Run for F {
    fn run(&self, cx: &mut KernelCx) -> Result<()> {
        self(cx)
    }
}

/// The state that a kernel touches beyond its inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: equal inputs give equal outputs. Such nodes are folded and shared.
    Pure,
    /// Reads the resource that input 0 refers to.
    Reads,
    /// Changes the resource that input 0 refers to.
    Writes,
    /// Anything else: random numbers, printing, assertions.
    Stateful,
}

/// What a kernel changes that outlives the run. Kernels that may change anything do not end between the short
/// pieces of their work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changes {
    /// Nothing, or what is as good as before if the run fails.
    Nothing,
    /// Numbers of a random generator, a file, something of the host program, or nothing.
    Something,
    /// A variable or a queue. What the run took before is used: it will not [return](Loans).
    State,
}

/// An estimate of a kernel's time, which decides between running it inline and handing it to a worker.
#[derive(Clone, Copy, Debug)]
pub enum Cost {
    /// Nanoseconds per element of the largest input.
    PerElement(f32),
    /// Nanoseconds, computed from the inputs.
    Estimate(fn(&NodeInfo, &[Tensor]) -> f64),
}

/// A computation on inline scalars. On `None` the executor runs the plain kernel instead (which may report an
/// error).
#[derive(Clone, Copy, Debug)]
pub enum ScalarKernel {
    /// Of one input. The op is elementwise: its output has the input's shape.
    Unary(fn(&Scalar) -> Option<Scalar>),
    /// Of two inputs.
    Binary(fn(&Scalar, &Scalar) -> Option<Scalar>),
}

impl Kernel {
    fn new(body: KernelBody, effect: Effect) -> Kernel {
        Kernel {
            body,
            effect,
            cost: Cost::PerElement(1.0),
            scalar: None,
            absorbs: None,
            accumulates: None,
            narrows: None,
            lowering: None,
            scratch: 0,
            opens: false,
            undoable: false,
            in_order: false,
            observing: false,
            of_step: false,
        }
    }

    /// What it changes that outlives the run.
    pub fn changes(&self) -> Changes {
        match (self.effect, &self.body) {
            (Effect::Writes, _) | (_, KernelBody::Waits(_)) => Changes::State,
            (Effect::Stateful, _) if self.undoable || self.observing || self.of_step => Changes::Nothing,
            (Effect::Stateful, _) => Changes::Something,
            (Effect::Pure | Effect::Reads, _) => Changes::Nothing,
        }
    }

    /// The kernel of a structural op.
    pub fn structural() -> Kernel {
        Self::new(KernelBody::Structural, Effect::Pure)
    }

    /// A kernel without effects: equal inputs give equal outputs.
    pub fn pure(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Pure)
    }

    /// A kernel that reads the resource that input 0 refers to.
    pub fn reads(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Reads)
    }

    /// A kernel that changes the resource that input 0 refers to.
    pub fn writes(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Writes)
    }

    /// A kernel with another effect: it prints, fails on purpose, or makes handles.
    pub fn stateful(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Stateful)
    }

    /// A kernel that `make` prepares once per node and session.
    pub fn build(effect: Effect, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> Kernel {
        Self::new(KernelBody::Build(make), effect)
    }

    /// A kernel that returns the handle of a named resource, prepared once per node and session. It does not
    /// run again while its inputs are the same and [no name is forgotten](Resources::epoch).
    pub fn opens(make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> Kernel {
        Kernel { opens: true, ..Self::build(Effect::Stateful, make) }
    }

    /// Declares that the kernel changes nothing but objects that live for the step, and notes each change in
    /// the thread's [journal](millstream_state::journal), or that running it twice is as good as once.
    /// Compiled loops may then run it, and hand an iteration that fails over to the machine.
    pub fn undoable(mut self) -> Kernel {
        self.undoable = true;
        self
    }

    /// Declares that the n-th run of a node in a step must be its n-th in the program's order, as if
    /// `parallel_iterations` of the loops around it were 1: others count the runs.
    pub fn in_order(mut self) -> Kernel {
        self.in_order = true;
        self
    }

    /// Declares that the kernel changes nothing and keeps nothing between runs: its outputs follow from its
    /// inputs and from what it reads outside of the graph, such as files. Functions may copy its nodes.
    pub fn observing(mut self) -> Kernel {
        self.observing = true;
        self
    }

    /// Declares that the kernel changes nothing but objects that live for the step. If it ends early, they
    /// are gone with its run.
    pub fn of_step(mut self) -> Kernel {
        self.of_step = true;
        self
    }

    /// A kernel that may wait. [`Kernel::at_once`] adds a way that does not, for when there is nothing to
    /// wait for.
    pub fn waiting(start: fn(&mut KernelCx, Completion)) -> Kernel {
        let waits = Waits { at_once: |_| Ok(false), start };
        Self::new(KernelBody::Waits(waits), Effect::Stateful).cost(Cost::PerElement(0.0))
    }

    /// Declares that a kernel that may wait changes the resource that input 0 refers to: the nodes that
    /// change it begin in the program's order, as accesses to variables do.
    pub fn writing(mut self) -> Kernel {
        self.effect = Effect::Writes;
        self
    }

    /// Sets how a waiting kernel computes when it does not have to wait.
    pub fn at_once(mut self, at_once: fn(&mut KernelCx) -> Result<bool>) -> Kernel {
        if let KernelBody::Waits(waits) = &mut self.body {
            waits.at_once = at_once;
        }
        self
    }

    /// Sets the cost, where the default of one nanosecond per element is far off.
    pub fn cost(mut self, cost: Cost) -> Kernel {
        self.cost = cost;
        self
    }

    /// Sets the bytes that it works with for each element of its inputs, besides inputs and outputs: maps,
    /// lists of places. They are charged to the run's memory before the kernel begins.
    pub fn scratch(mut self, bytes_per_element: usize) -> Kernel {
        self.scratch = bytes_per_element;
        self
    }

    /// Declares that the kernel can do the work of the node that makes its input 0, with the same bits. The
    /// value between them then never exists as a whole (the squares in a sum of squares). `absorbs` is called
    /// only for a node that is pure and has one input, one output and one reader.
    pub fn absorbing(mut self, absorbs: Absorb) -> Kernel {
        self.absorbs = Some(absorbs);
        self
    }

    /// Declares how the only output is added to a sum, with the bits of an addition of the finished output:
    /// a product goes into the sum directly, and never exists on its own.
    pub fn accumulating(mut self, accumulates: Fuse) -> Kernel {
        self.accumulates = Some(accumulates);
        self
    }

    /// Declares how a slice of the only output is computed, with the bits of the slice of the whole output.
    pub fn narrowing(mut self, narrows: Fuse) -> Kernel {
        self.narrows = Some(narrows);
        self
    }

    /// Sets how a compiler computes the outputs without the kernel, with the same bits. `pick` returns `None`
    /// for nodes of dtypes or attributes for which there is no such way.
    pub fn lowered(mut self, pick: fn(&NodeInfo) -> Option<Lowering>) -> Kernel {
        self.lowering = Some(pick);
        self
    }

    /// Sets a faster computation for scalars, chosen once per node.
    pub fn scalar(mut self, pick: fn(&NodeInfo) -> Option<ScalarKernel>) -> Kernel {
        self.scalar = Some(pick);
        self
    }
}

/// The context in which a kernel is prepared.
#[derive(Debug)]
pub struct BuildCx<'a> {
    /// The node.
    pub node: &'a NodeInfo,
    /// The state that the session's kernels keep between steps (generator states, counters), apart from the
    /// named resources.
    pub kernel_state: &'a Resources,
}

impl BuildCx<'_> {
    /// The state that this node's kernel keeps in this session, made on first use.
    pub fn state<T: Opaque>(&self, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        self.kernel_state.get_or_create("", &self.node.name, make)
    }
}

/// The stream that a text is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintStream {
    /// The standard output.
    Out,
    /// The standard error.
    Err,
    /// The log, with the letter of its level: `I`, `W` or `E`.
    Log(char),
}

/// The executor's services to kernels.
pub trait StepHost: Send + Sync {
    /// Shows a text to the user exactly as it is (`Print`). A line end must be part of the text.
    fn print(&self, text: &str);
    /// Shows a text on this stream, if the program has not asked for all texts.
    fn print_to(&self, stream: PrintStream, text: &str) {
        let _ = stream;
        self.print(text);
    }
    /// The number of threads that one kernel may use.
    fn threads(&self) -> usize;
    /// Runs `work` on a thread where calls into the thread pool (rayon) use the session's threads.
    fn in_pool(&self, work: &mut (dyn FnMut() + Send));
    /// Calls `work` on this thread and, as they become free, on other threads of the session, on at most
    /// `threads` in all. Returns when all calls have returned. `work` takes pieces of a task until none is
    /// left, so that a late call finds nothing to do.
    fn share(&self, threads: usize, work: &(dyn Fn() + Sync)) {
        let _ = threads;
        work();
    }
    /// An error if the run with the token `cancel`, which has nothing left but `n_waits` waiting kernels,
    /// would wait forever. The run calls this from time to time.
    fn stalled(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        let _ = (cancel, n_waits);
        None
    }
    /// The error of the run with the token `cancel`, which has taken too long, with what its kernels wait
    /// for.
    fn waited(&self, cancel: &Cancellation, error: Error) -> Error {
        let _ = cancel;
        error
    }
    /// Schedules `work` on a thread of the pool.
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

/// A function of the graph's library, prepared for calls.
pub trait CallFunction: Send + Sync {
    /// Calls the function within a step, on this thread.
    fn call(&self, inputs: Vec<Tensor>, env: &StepEnv) -> Result<Vec<Tensor>>;
}

/// The functions that nodes of a session's graph call by name.
pub trait Library: Send + Sync {
    /// Prepares a function. The state that its nodes keep (of random generators) is its own.
    fn prepare(&self, function: &FuncRef) -> Result<Arc<dyn CallFunction>>;
}

/// A library without functions.
#[derive(Debug)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn prepare(&self, function: &FuncRef) -> Result<Arc<dyn CallFunction>> {
        Err(invalid!("there is no function `{}`: the node runs outside a session", function.name))
    }
}

/// The environment that a step gives to all its kernels.
#[derive(Clone)]
pub struct StepEnv {
    /// The named resources of the session's containers.
    pub resources: Arc<Resources>,
    /// Resources that die with the step (TensorArrays, stacks).
    pub step_resources: Arc<Resources>,
    /// The state that the session's kernels keep between steps.
    pub kernel_state: Arc<Resources>,
    /// The container of resources that do not name one.
    pub container: Arc<str>,
    /// The step's cancellation token.
    pub cancel: Cancellation,
    /// What returns to where it came from if the step is called off.
    pub loans: Arc<Loans>,
    /// Counts the steps that are at work with these resources.
    pub activity: Activity,
    /// The functions of the host program that the graph's nodes may call.
    pub functions: Arc<HostFunctions>,
    /// The functions of the graph.
    pub library: Arc<dyn Library>,
    /// The caller's reason for this run; a queue that the run closes reports it.
    pub why: Option<Arc<str>>,
    /// The files that the graph may open. Kernels use [`KernelCx::files`].
    pub files: Files,
    /// The processes that the job consists of.
    pub collective: Arc<dyn Collective>,
    /// The executor's services.
    pub host: Arc<dyn StepHost>,
}

impl std::fmt::Debug for StepEnv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepEnv")
            .field("container", &self.container)
            .field("why", &self.why)
            .finish_non_exhaustive()
    }
}

/// The view that a running kernel has: its node, its inputs (which it may change), its outputs, and the step.
pub struct KernelCx<'a> {
    /// The node.
    pub node: &'a NodeInfo,
    /// The step.
    pub env: &'a StepEnv,
    inputs: &'a mut [Tensor],
    outputs: &'a mut [Option<Tensor>],
}

impl std::fmt::Debug for KernelCx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelCx")
            .field("node", &self.node)
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

impl<'a> KernelCx<'a> {
    /// A context over these inputs and outputs, whose numbers must be those of the node's types.
    pub fn new(
        node: &'a NodeInfo,
        env: &'a StepEnv,
        inputs: &'a mut [Tensor],
        outputs: &'a mut [Option<Tensor>],
    ) -> Self {
        KernelCx { node, env, inputs, outputs }
    }

    /// The files that the kernel may open. Waits for a FIFO or a device end with the step.
    pub fn files(&self) -> Files {
        let cancel = self.env.cancel.clone();
        self.env.files.checked_by(move || cancel.check())
    }

    /// The attributes.
    #[inline]
    pub fn attrs(&self) -> &'a Attrs {
        &self.node.attrs
    }

    /// The number of inputs.
    #[inline]
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// The number of outputs.
    #[inline]
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Input `i`.
    #[inline]
    pub fn input(&self, i: usize) -> &Tensor {
        &self.inputs[i]
    }

    /// All inputs.
    #[inline]
    pub fn inputs(&self) -> &[Tensor] {
        self.inputs
    }

    /// Takes input `i`, so that it can be changed in place if no other reference to it exists. Leaves `false`
    /// in its place.
    #[inline]
    pub fn take(&mut self, i: usize) -> Tensor {
        std::mem::replace(&mut self.inputs[i], Tensor::scalar(false))
    }

    /// Puts input `i` back after [`KernelCx::take`].
    #[inline]
    pub fn put_back(&mut self, i: usize, value: Tensor) {
        self.inputs[i] = value;
    }

    /// Sets output `i`.
    #[inline]
    pub fn set(&mut self, i: usize, value: Tensor) {
        self.outputs[i] = Some(value);
    }

    /// Scalar input `i` as an integer (i32 or i64 and smaller integers). An error names the argument.
    #[inline]
    pub fn int(&self, i: usize) -> Result<i64> {
        let scalar = self.input(i).as_scalar();
        if let Some(value) = scalar.and_then(i32::of) {
            return Ok(i64::from(*value));
        }
        if let Some(value) = scalar.and_then(i64::of) {
            return Ok(*value);
        }
        self.int_otherwise(i)
    }

    fn int_otherwise(&self, i: usize) -> Result<i64> {
        let t = self.input(i);
        let value = match t.dtype() {
            DType::I32 => t.to_scalar::<i32>().map(i64::from),
            DType::I64 => t.to_scalar::<i64>(),
            DType::I16 => t.to_scalar::<i16>().map(i64::from),
            DType::I8 => t.to_scalar::<i8>().map(i64::from),
            DType::U8 => t.to_scalar::<u8>().map(i64::from),
            other => return Err(invalid!("`{}` must be an integer, not {other}", self.name_of(i))),
        };
        value.map_err(|_| invalid!("`{}` must be a scalar but has shape {}", self.name_of(i), t.shape()))
    }

    /// The elements of input `i` (i32 or i64, any rank) in row-major order.
    pub fn ints(&self, i: usize) -> Result<SmallVec<[i64; 8]>> {
        let t = self.input(i);
        match t.dtype() {
            DType::I32 | DType::I64 => ints_of(t, ""),
            _ => ints_of(t, self.name_of(i)),
        }
    }

    /// Scalar bool input `i`.
    pub fn bool(&self, i: usize) -> Result<bool> {
        self.input(i).to_scalar::<bool>().map_err(|_| {
            let t = self.input(i);
            invalid!("`{}` must be a scalar bool, got {}{}", self.name_of(i), t.dtype(), t.shape())
        })
    }

    /// The resource that input `i` refers to. An error if the input is not a handle, or the resource is of
    /// another kind.
    pub fn resource<T: Opaque>(&self, i: usize) -> Result<&T> {
        let handle = self.handle(i)?;
        handle.get::<T>().ok_or_else(|| {
            invalid!(
                "`{}` refers to a {} (`{}`), which {} cannot use",
                self.name_of(i),
                handle.kind(),
                handle.name,
                self.node.op.name
            )
        })
    }

    /// The handle in input `i`.
    pub fn handle(&self, i: usize) -> Result<&Handle> {
        match self.input(i).as_handles() {
            Some([handle]) => Ok(handle),
            _ => {
                let t = self.input(i);
                Err(invalid!(
                    "`{}` must be a scalar resource handle, got {}{}",
                    self.name_of(i),
                    t.dtype(),
                    t.shape()
                ))
            }
        }
    }

    /// The declared name of the argument that input `i` belongs to.
    pub fn name_of(&self, i: usize) -> &'static str {
        let mut args = self.node.op.inputs.iter();
        args.find(|a| self.node.input_range(a.name).is_ok_and(|r| r.contains(&i))).map_or("input", |a| a.name)
    }
}

/// The elements of an i32 or i64 tensor. Messages call it `name`.
pub fn ints_of(t: &Tensor, name: &str) -> Result<SmallVec<[i64; 8]>> {
    match t.dtype() {
        DType::I32 => Ok(match t.as_slice::<i32>()? {
            // The most frequent: an axis, or an entry of a shape of rank 1.
            [one] => smallvec![i64::from(*one)],
            all => all.iter().map(|&v| v.into()).collect(),
        }),
        DType::I64 => Ok(SmallVec::from_slice(t.as_slice::<i64>()?)),
        other => Err(invalid!("`{name}` must be i32 or i64, not {other}")),
    }
}

/// The outputs of a kernel that waited.
pub type Outputs = Result<SmallVec<[Tensor; 2]>>;

/// The end of a wait. If the run is over when it comes, it is dropped, and whatever it holds is free again:
/// the items of a queue return to it.
pub enum Rest {
    /// The wait ended with this error.
    Failed(Error),
    /// The work that is left, which the kernel's own run does.
    Work(Box<dyn FnOnce() -> Outputs + Send>),
}

impl std::fmt::Debug for Rest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rest::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            Rest::Work(_) => f.debug_struct("Work").finish_non_exhaustive(),
        }
    }
}

impl Rest {
    /// Does the work that is left. A panic of the work is an error.
    pub fn finish(self) -> Outputs {
        match self {
            Rest::Failed(error) => Err(error),
            Rest::Work(work) => caught(work, "the end of the wait panicked"),
        }
    }
}

type Done = Box<dyn FnOnce(Rest) + Send>;

/// The handle that ends the work of a waiting kernel, once, from any thread. Dropping it without completing
/// it fails the step, so that nothing waits forever.
pub struct Completion(Option<Done>);

impl std::fmt::Debug for Completion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}

impl Completion {
    /// A completion that calls `done`, which must arrange for the [`Rest`] to be finished or dropped.
    pub fn new(done: impl FnOnce(Rest) + Send + 'static) -> Completion {
        Completion(Some(Box::new(done)))
    }

    /// Ends the work with its outputs or an error.
    pub fn complete(self, outputs: Outputs) {
        match outputs {
            Ok(outputs) => self.complete_with(move || Ok(outputs)),
            Err(error) => self.end(Rest::Failed(error)),
        }
    }

    /// Ends the wait. `rest` makes the outputs on a thread of the run that waited, within that run's memory
    /// limit, so the thread that ends the wait does not pay for them.
    pub fn complete_with(self, rest: impl FnOnce() -> Outputs + Send + 'static) {
        self.end(Rest::Work(Box::new(rest)));
    }

    fn end(mut self, rest: Rest) {
        if let Some(done) = self.0.take() {
            done(rest);
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            let text = "a waiting kernel gave its completion up without completing it";
            done(Rest::Failed(Error::internal(text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_changes_follows_from_its_declaration() {
        let stateful = || Kernel::stateful(|_| Ok(()));
        let waiting = || Kernel::waiting(|_, _| {});
        for (kernel, changes) in [
            (Kernel::pure(|_| Ok(())), Changes::Nothing),
            (Kernel::reads(|_| Ok(())), Changes::Nothing),
            (stateful().undoable(), Changes::Nothing),
            (stateful().observing(), Changes::Nothing),
            (stateful().of_step(), Changes::Nothing),
            (stateful(), Changes::Something),
            (Kernel::opens(|_| Err(Error::internal("is not made"))), Changes::Something),
            (Kernel::writes(|_| Ok(())), Changes::State),
            (waiting(), Changes::State),
            (waiting().writing(), Changes::State),
        ] {
            assert_eq!(kernel.changes(), changes, "{kernel:?}");
        }
    }
}
