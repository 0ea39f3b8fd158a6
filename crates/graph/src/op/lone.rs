//! Kernels that run outside of any session: constant folding, the examples of the op library, benchmarks.
//!
//! [`run`] runs a kernel in an environment of the caller's, [`fold`] computes a pure node within [`Bounds`].

use super::panics::caught;
use super::{
    BuildCx, Changes, Completion, Cost, Effect, KernelBody, KernelCx, NoLibrary, NodeInfo, StepEnv, StepHost,
};
use millstream_files::Files;
use millstream_state::collective::Alone;
use millstream_state::{Activity, Cancellation, Resources};
use millstream_tensor::budget::{self, Budget};
use millstream_tensor::pace::ShortWork;
use millstream_tensor::{Assembler, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The limits of [`fold`]s.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// What the kernels may allocate. Lists and other variants among the outputs stay charged to it.
    pub budget: Arc<Budget>,
    /// The longest time that the kernel may take. A kernel with a higher estimate does not start; one that
    /// checks for cancellation is stopped.
    pub time: Duration,
}

impl Bounds {
    /// The longest time of one fold.
    pub const LONGEST: Duration = Duration::from_millis(100);

    /// The limits for one node that is computed while a graph is built: 64 MiB and 100 ms, within the budget
    /// in force.
    pub fn of_one() -> Bounds {
        Bounds { budget: Budget::new((64 << 20).min(budget::left())), time: Bounds::LONGEST }
    }

    /// The limits for all nodes that are computed while a plan is made: 16 MiB, and an eighth of the budget
    /// in force. A plan is kept, so the bytes count for all of its constants together.
    pub fn of_plan() -> Bounds {
        Bounds { budget: Budget::new((16 << 20).min(budget::left() / 8)), time: Bounds::LONGEST }
    }
}

/// A host without a session: one thread, and nobody to print to.
struct NoSession;

impl StepHost for NoSession {
    fn print(&self, _text: &str) {}
    fn threads(&self) -> usize {
        1
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

/// Returns an environment with resources of its own and one thread.
pub fn env() -> StepEnv {
    StepEnv {
        resources: Arc::new(Resources::new()),
        step_resources: Arc::new(Resources::new()),
        kernel_state: Arc::new(Resources::new()),
        container: "".into(),
        cancel: Cancellation::new(),
        loans: Arc::default(),
        activity: Activity::default(),
        functions: Arc::default(),
        library: Arc::new(NoLibrary),
        why: None,
        files: Files::everything(),
        collective: Arc::new(Alone),
        host: Arc::new(NoSession),
    }
}

/// Runs the kernel of a node and returns the outputs. A kernel that would wait is an error.
pub fn run(node: &NodeInfo, env: &StepEnv, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let _on = (node.op.kernel.changes() != Changes::Nothing).then(ShortWork::runs_on);
    let _room = budget::room_for(inputs, node.op.kernel.scratch, node.index_inputs())?;
    let mut inputs = inputs.to_vec();
    let mut outputs: SmallVec<[Option<Tensor>; 4]> = SmallVec::from_elem(None, node.output_types.len());
    let mut cx = KernelCx::new(node, env, &mut inputs, &mut outputs);
    match node.op.kernel.body {
        KernelBody::Run(run) => run(&mut cx)?,
        KernelBody::Build(make) => {
            make(&BuildCx { node, kernel_state: &env.kernel_state })?.run(&mut cx)?;
        }
        KernelBody::Waits(waits) => {
            if !(waits.at_once)(&mut cx)? {
                let (sender, ended) = mpsc::channel();
                (waits.start)(&mut cx, Completion::new(move |rest| drop(sender.send(rest))));
                let rest = ended.try_recv().map_err(|_| invalid!("{} would wait", node.op.name))?;
                for (i, output) in rest.finish()?.into_iter().enumerate() {
                    cx.set(i, output);
                }
            }
        }
        KernelBody::Structural => return Err(invalid!("{} does not run on its own", node.op.name)),
    }
    let outputs: Vec<Tensor> = outputs.into_iter().flatten().collect();
    ensure!(
        outputs.len() == node.output_types.len(),
        "{} gave {} outputs instead of {}",
        node.op.name,
        outputs.len(),
        node.output_types.len()
    );
    Ok(outputs)
}

/// Returns the outputs of a pure node, or `None` if the op has effects or waits, exceeds the bounds, or
/// fails.
pub fn fold(node: &NodeInfo, inputs: &[Tensor], bounds: &Bounds) -> Option<Vec<Tensor>> {
    let kernel = &node.op.kernel;
    let runs = matches!(kernel.body, KernelBody::Run(_) | KernelBody::Build(_));
    if kernel.effect != Effect::Pure || !runs || bounds.time < estimate(node, inputs) {
        return None;
    }
    let outputs = {
        let end = Instant::now() + bounds.time;
        let _entered = budget::enter_until(Some(&bounds.budget), Some(end));
        let env = StepEnv { cancel: Cancellation::until(end), files: Files::nothing(), ..env() };
        caught(|| run(node, &env, inputs), "the kernel panicked").ok()?
    };
    outputs.into_iter().map(|output| moved(output).ok()).collect()
}

/// Returns the kernel's estimate of its time.
fn estimate(node: &NodeInfo, inputs: &[Tensor]) -> Duration {
    let ns = match node.op.kernel.cost {
        Cost::PerElement(ns) => f64::from(ns) * inputs.iter().map(Tensor::elements).max().unwrap_or(0) as f64,
        Cost::Estimate(estimate) => estimate(node, inputs),
    };
    Duration::try_from_secs_f64(ns.max(0.0) / 1e9).unwrap_or(Duration::MAX)
}

/// Returns a tensor charged to the budget in force instead of the one in which it was made.
fn moved(tensor: Tensor) -> Result<Tensor> {
    // Scalars of plain data are charged to no budget. Lists and handles are shared, never copied.
    if tensor.dtype().size().is_none() || tensor.rank() == 0 {
        return Ok(tensor);
    }
    let mut copy = Assembler::new(tensor.dtype(), tensor.shape().clone())?;
    copy.push(&tensor, 0, tensor.elements())?;
    copy.finish()
}
