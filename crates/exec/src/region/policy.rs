//! When a region is compiled, and what the regions of a plan share between runs.

use super::blocks::Calls;
use super::code::{CallId, Code};
use super::interpret::interpret;
use super::registers::{Exit, Registers};
use crate::ids::PlanNode;
use crate::plan::KernelPlan;
use millstream_graph::Entity;
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::Tensor;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Compiles code for this machine.
pub trait Compiler: Send + Sync {
    /// The compiled code; `None` where the interpreter has to do, because the code is too large or no
    /// executable memory is left.
    fn compile(&self, code: &Arc<Code>) -> Option<Box<dyn Compiled>>;
}

/// Compiled code.
pub trait Compiled: Send + Sync {
    /// As [`interpret`], with the same bits.
    fn run(&self, registers: &mut Registers, calls: &dyn Calls) -> Exit;
}

/// Which loops become regions, and how these run.
#[derive(Clone)]
pub struct Regions {
    /// Whether there are any.
    pub enabled: bool,
    /// Compiles those that run for long; `None` leaves them to the interpreter.
    pub compiler: Option<Arc<dyn Compiler>>,
    /// The units that a region is interpreted for, over all runs of its plan, before it is compiled.
    pub compile_after: u64,
}

impl Regions {
    /// About a millisecond of the interpreter's time, which is what compiling takes.
    pub const COMPILE_AFTER: u64 = 200_000;
}

impl Default for Regions {
    fn default() -> Regions {
        Regions { enabled: false, compiler: None, compile_after: Regions::COMPILE_AFTER }
    }
}

impl fmt::Debug for Regions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Regions")
            .field("enabled", &self.enabled)
            .field("has_compiler", &self.compiler.is_some())
            .field("compile_after", &self.compile_after)
            .finish()
    }
}

/// A loop of a plan that runs as a region.
pub(crate) struct RegionPlan {
    pub(crate) code: Arc<Code>,
    /// The Enters, in the order of the code's inputs.
    pub(crate) enters: Vec<PlanNode>,
    /// The Exits, in the order of the code's outputs.
    pub(crate) exits: Vec<PlanNode>,
    /// The kernels that the code calls.
    kernels: Vec<KernelPlan>,
    regions: Regions,
    /// The units spent by the interpreter.
    spent: AtomicU64,
    compiled: OnceLock<Option<Box<dyn Compiled>>>,
}

/// The units of a slice: under a millisecond of the interpreter's time where no step is slow.
const SLICE: u64 = 1 << 17;

impl RegionPlan {
    pub(crate) fn new(
        code: Code,
        enters: Vec<PlanNode>,
        exits: Vec<PlanNode>,
        kernels: Vec<KernelPlan>,
        regions: Regions,
    ) -> RegionPlan {
        let (spent, compiled) = (AtomicU64::new(0), OnceLock::new());
        RegionPlan { code: Arc::new(code), enters, exits, kernels, regions, spent, compiled }
    }

    /// Runs for one slice.
    pub(crate) fn run_slice(&self, registers: &mut Registers, env: &StepEnv) -> Exit {
        let calls = Kernels { kernels: &self.kernels, env };
        if let Some(compiled) = self.compiled() {
            registers.units = SLICE as i64;
            return compiled.run(registers, &calls);
        }
        let left = self.regions.compile_after.saturating_sub(self.spent.load(Ordering::Relaxed));
        let slice = match self.regions.compiler {
            Some(_) if 0 < left => left.min(SLICE),
            _ => SLICE,
        };
        registers.units = slice as i64;
        let exit = interpret(&self.code, registers, &calls);
        let used = (slice as i64).saturating_sub(registers.units);
        self.spent.fetch_add(used.max(0) as u64, Ordering::Relaxed);
        exit
    }

    /// The compiled code, made if the time has come.
    fn compiled(&self) -> Option<&dyn Compiled> {
        let compiler = self.regions.compiler.as_ref()?;
        if self.compiled.get().is_none() && self.spent.load(Ordering::Relaxed) < self.regions.compile_after {
            return None;
        }
        self.compiled.get_or_init(|| compiler.compile(&self.code)).as_deref()
    }
}

/// The kernels of a region in a run.
struct Kernels<'a> {
    kernels: &'a [KernelPlan],
    env: &'a StepEnv,
}

impl Calls for Kernels<'_> {
    fn call(&self, call: CallId, inputs: &mut [Tensor], outputs: &mut [Option<Tensor>]) -> bool {
        let Some(kernel) = self.kernels.get(call.index()) else { return false };
        let mut cx = KernelCx::new(&kernel.info, self.env, inputs, outputs);
        // The machine meets an error again, and reports it.
        kernel.run(&mut cx).unwrap_or(false)
    }
}
