//! How an op computes: [`Kernel`] is its declaration, [`KernelCx`] what a running kernel sees.

use super::resolve::NodeInfo;
use crate::attr::Attrs;
use millstream_state::{Activity, Cancellation, Resources};
use millstream_tensor::{DType, Error, Handle, Opaque, Result, Scalar, Tensor, invalid};
use smallvec::SmallVec;
use std::sync::Arc;

/// The kernel of an op: its plain definition, and what the executor may know about it.
pub struct Kernel {
    /// The computation.
    pub body: KernelBody,
    /// What it touches beyond its inputs and outputs.
    pub effect: Effect,
    /// How long it takes.
    pub cost: Cost,
    /// A faster way for nodes all of whose inputs are scalars.
    pub scalar: Option<fn(&NodeInfo) -> Option<ScalarKernel>>,
    /// Which nodes it does the work of: [`Kernel::absorbing`].
    pub absorbs: Option<Absorb>,
    /// Whether it gives the handle of a named thing, the same until names are forgotten.
    pub opens: bool,
}

/// Of the node that makes input 0: how the kernel computes if it is given that node's only input instead.
pub type Absorb = fn(&NodeInfo) -> Option<RunFn>;

/// A kernel as a plain function.
pub type RunFn = fn(&mut KernelCx) -> Result<()>;

/// A kernel that may have to wait for somebody outside the step.
#[derive(Clone, Copy)]
pub struct Waits {
    /// Computes as any kernel does if it need not wait; says whether it did. If it did not, its inputs are as they were.
    pub at_once: fn(&mut KernelCx) -> Result<bool>,
    /// Starts work that ends later, through its [`Completion`]. Sets no outputs.
    pub start: fn(&mut KernelCx, Completion),
}

/// The computation of a kernel.
#[derive(Clone, Copy)]
pub enum KernelBody {
    /// The op is structural: the executor knows it by its role.
    Structural,
    /// A function that reads its attributes when it runs.
    Run(RunFn),
    /// A function that prepares a kernel once per node and session: attributes read, state found.
    Build(fn(&BuildCx) -> Result<Box<dyn Run>>),
    /// May wait: completes later, from any thread. The executor parks the node, not a thread.
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

/// What a kernel touches beyond its inputs and outputs.
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

/// How long a kernel takes, for the choice between running it in line and giving it to a worker.
#[derive(Clone, Copy)]
pub enum Cost {
    /// Nanoseconds per element of the largest input.
    PerElement(f32),
    /// Nanoseconds, from the inputs.
    Estimate(fn(&NodeInfo, &[Tensor]) -> f64),
}

/// A computation on scalars held in place. `None` sends the executor to the plain kernel (to report an error, say).
#[derive(Clone, Copy)]
pub enum ScalarKernel {
    /// Of one input. The op does the same to each element of a tensor: its output has the input's shape.
    Unary(fn(&Scalar) -> Option<Scalar>),
    /// Of two inputs.
    Binary(fn(&Scalar, &Scalar) -> Option<Scalar>),
}

impl Kernel {
    fn new(body: KernelBody, effect: Effect) -> Kernel {
        Kernel { body, effect, cost: Cost::PerElement(1.0), scalar: None, absorbs: None, opens: false }
    }

    /// The op is structural.
    pub fn structural() -> Kernel {
        Self::new(KernelBody::Structural, Effect::Pure)
    }

    /// Equal inputs give equal outputs, and nothing else happens.
    pub fn pure(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Pure)
    }

    /// Reads the resource that input 0 refers to.
    pub fn reads(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Reads)
    }

    /// Changes the resource that input 0 refers to.
    pub fn writes(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Writes)
    }

    /// Does something else beside: prints, fails on purpose, makes handles.
    pub fn stateful(run: RunFn) -> Kernel {
        Self::new(KernelBody::Run(run), Effect::Stateful)
    }

    /// Prepared once per node and session; `effect` says what it touches.
    pub fn build(effect: Effect, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> Kernel {
        Self::new(KernelBody::Build(make), effect)
    }

    /// Gives the handle of a named thing, prepared once per node and session. It is not asked again while it has the same inputs and
    /// [nothing is forgotten](Resources::epoch).
    pub fn opens(make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> Kernel {
        Kernel { opens: true, ..Self::build(Effect::Stateful, make) }
    }

    /// May wait; [`Kernel::at_once`] spares it that where it need not.
    pub fn waiting(start: fn(&mut KernelCx, Completion)) -> Kernel {
        let waits = Waits { at_once: |_| Ok(false), start };
        Self::new(KernelBody::Waits(waits), Effect::Stateful).cost(Cost::PerElement(0.0))
    }

    /// How a kernel that may wait computes when it need not.
    pub fn at_once(mut self, at_once: fn(&mut KernelCx) -> Result<bool>) -> Kernel {
        if let KernelBody::Waits(waits) = &mut self.body {
            waits.at_once = at_once;
        }
        self
    }

    /// How long it takes, where one nanosecond per element is far off.
    pub fn cost(mut self, cost: Cost) -> Kernel {
        self.cost = cost;
        self
    }

    /// Can do the work of what makes its input 0, with the same bits: then a value that is needed for nothing else is never there whole
    /// (the squares of a sum of squares). Asked only where that node is pure and has one input, one output and one reader.
    pub fn absorbing(mut self, absorbs: Absorb) -> Kernel {
        self.absorbs = Some(absorbs);
        self
    }

    /// A faster way for scalars, chosen once per node.
    pub fn scalar(mut self, pick: fn(&NodeInfo) -> Option<ScalarKernel>) -> Kernel {
        self.scalar = Some(pick);
        self
    }
}

/// What is there when a kernel is prepared.
pub struct BuildCx<'a> {
    /// The node.
    pub node: &'a NodeInfo,
    /// What the session's kernels keep between steps (generator states, counters), apart from the named resources.
    pub kernel_state: &'a Resources,
}

impl BuildCx<'_> {
    /// The state that this node's kernel keeps in this session, made on first use.
    pub fn state<T: Opaque>(&self, make: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        self.kernel_state.get_or_create("", &self.node.name, make)
    }
}

/// What the executor offers to kernels beyond data.
pub trait StepHost: Send + Sync {
    /// Shows a text to the user exactly as it is (`Print`): its line end, if it is to have one, is part of it.
    fn print(&self, text: &str);
    /// How many threads one kernel may use.
    fn threads(&self) -> usize;
    /// Runs `work` where calls into the thread pool (rayon) use the session's threads.
    fn in_pool(&self, work: &mut (dyn FnMut() + Send));
    /// Calls `work` on this thread and, as they come free, on other threads of the session, `threads` in all at most; returns when all
    /// calls have. `work` takes what is left of a task piece by piece, so that a call that comes late finds nothing to do.
    fn share(&self, threads: usize, work: &(dyn Fn() + Sync)) {
        let _ = threads;
        work();
    }
    /// Asked now and then by a run that `cancel` calls off and that only waits, for `n_waits` things: an error if it would wait for ever.
    fn stalled(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        let _ = (cancel, n_waits);
        None
    }
    /// Runs `work` on a thread of the pool, soon.
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

/// What a step gives to all its kernels.
#[derive(Clone)]
pub struct StepEnv {
    /// Named resources of the session's containers.
    pub resources: Arc<Resources>,
    /// Resources that die with the step (TensorArrays, stacks).
    pub step_resources: Arc<Resources>,
    /// What the session's kernels keep between steps.
    pub kernel_state: Arc<Resources>,
    /// The container for resources that name none.
    pub container: Arc<str>,
    /// Raised when the step is to stop.
    pub cancel: Cancellation,
    /// Whether a step is at work with these resources.
    pub activity: Activity,
    /// Why whoever asked for the run did, for those who will ask: what closes a queue passes it on.
    pub why: Option<Arc<str>>,
    /// The executor's services.
    pub host: Arc<dyn StepHost>,
}

/// What a running kernel sees: its node, its inputs (its own to change), its outputs, the step.
pub struct KernelCx<'a> {
    /// The node.
    pub node: &'a NodeInfo,
    /// The step.
    pub env: &'a StepEnv,
    inputs: &'a mut [Tensor],
    outputs: &'a mut [Option<Tensor>],
}

impl<'a> KernelCx<'a> {
    /// A context over these inputs and outputs. The lengths are those of the node's types.
    pub fn new(
        node: &'a NodeInfo,
        env: &'a StepEnv,
        inputs: &'a mut [Tensor],
        outputs: &'a mut [Option<Tensor>],
    ) -> Self {
        KernelCx { node, env, inputs, outputs }
    }

    /// The attributes.
    #[inline]
    pub fn attrs(&self) -> &'a Attrs {
        &self.node.attrs
    }

    /// How many inputs there are.
    #[inline]
    pub fn n_inputs(&self) -> usize {
        self.inputs.len()
    }

    /// How many outputs there are.
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

    /// Takes input `i` away, so that it can be changed in place if nobody else holds it. Leaves a `false` behind.
    #[inline]
    pub fn take(&mut self, i: usize) -> Tensor {
        std::mem::replace(&mut self.inputs[i], Tensor::scalar(false))
    }

    /// Puts input `i` back that was [taken](KernelCx::take).
    #[inline]
    pub fn put_back(&mut self, i: usize, value: Tensor) {
        self.inputs[i] = value;
    }

    /// Gives output `i`.
    #[inline]
    pub fn set(&mut self, i: usize, value: Tensor) {
        self.outputs[i] = Some(value);
    }

    /// Scalar input `i` as an integer (i32 or i64 and smaller integers). An error names the argument.
    pub fn int(&self, i: usize) -> Result<i64> {
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

    /// Input `i` (i32 or i64, any rank, flat) as integers.
    pub fn ints(&self, i: usize) -> Result<SmallVec<[i64; 8]>> {
        ints_of(self.input(i), self.name_of(i))
    }

    /// Scalar bool input `i`.
    pub fn bool(&self, i: usize) -> Result<bool> {
        self.input(i).to_scalar::<bool>().map_err(|_| {
            let t = self.input(i);
            invalid!("`{}` must be a scalar bool, got {}{}", self.name_of(i), t.dtype(), t.shape())
        })
    }

    /// The resource that input `i` refers to; an error if it is none, or of another kind.
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

/// The elements of an i32 or i64 tensor, called `name` in messages.
pub fn ints_of(t: &Tensor, name: &str) -> Result<SmallVec<[i64; 8]>> {
    match t.dtype() {
        DType::I32 => Ok(t.as_slice::<i32>()?.iter().map(|&v| v.into()).collect()),
        DType::I64 => Ok(t.as_slice::<i64>()?.iter().copied().collect()),
        other => Err(invalid!("`{name}` must be i32 or i64, not {other}")),
    }
}

/// What comes of a wait.
pub type Outputs = Result<SmallVec<[Tensor; 2]>>;

/// The rest of the work of a kernel that waited, done by its own run.
pub type Rest = Box<dyn FnOnce() -> Outputs + Send>;

type Done = Box<dyn FnOnce(Rest) + Send>;

/// The end of work that a waiting kernel started: completed once, from any thread. Dropped without being completed it
/// fails the step, so that nothing waits for ever.
pub struct Completion(Option<Done>);

impl Completion {
    /// A completion that calls `done`, which sees to it that the rest is called.
    pub fn new(done: impl FnOnce(Rest) + Send + 'static) -> Completion {
        Completion(Some(Box::new(done)))
    }

    /// Ends the work with its outputs or an error.
    pub fn complete(self, outputs: Outputs) {
        self.complete_with(move || outputs);
    }

    /// Ends the wait. `rest` makes the outputs, on a thread of the run that waited and within its memory limit: whoever ends a wait
    /// should not have to work for it.
    pub fn complete_with(mut self, rest: impl FnOnce() -> Outputs + Send + 'static) {
        if let Some(done) = self.0.take() {
            done(Box::new(rest));
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Box::new(|| {
                Err(Error::internal("a waiting kernel gave its completion up without completing it"))
            }));
        }
    }
}
