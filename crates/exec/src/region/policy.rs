//! When a region is compiled, and what the regions of a plan share between runs.

use super::blocks::Calls;
use super::code::{CallId, Code};
use super::interpret::interpret;
use super::registers::{Exit, Registers};
use crate::plan::KernelPlan;
use millstream_graph::Entity;
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::Tensor;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Compiles code for this machine.
pub trait Compiler: Send + Sync {
    /// The compiled code; `None` where the interpreter has to do, because the code is too large or no
    /// executable memory is left.
    fn compile(&self, code: &Arc<Code>) -> Option<Box<dyn Compiled>>;

    /// The instructions of the compiled code as text; `None` where there is none.
    fn disassemble(&self, _code: &Arc<Code>) -> Option<String> {
        None
    }
}

/// Compiled code.
pub trait Compiled: Send + Sync {
    /// As [`interpret`], with the same bits.
    fn run(&self, registers: &mut Registers, calls: &dyn Calls) -> Exit;

    /// The bytes of its instructions.
    fn bytes(&self) -> usize {
        0
    }
}

/// What was measured of a region, over all runs of its plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The iterations of the outermost loop whose time was taken. Of short slices every sixteenth is.
    pub iterations: u64,
    /// The time that they took, in nanoseconds.
    pub nanos: u64,
    /// The bytes of machine code, once it was compiled.
    pub machine_bytes: Option<usize>,
    /// The time that compiling took, in nanoseconds.
    pub compile_nanos: u64,
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

/// Code of a plan, with what its runs have in common.
pub(crate) struct RegionPlan {
    pub(crate) code: Arc<Code>,
    /// The kernels that the code calls.
    kernels: Vec<Arc<KernelPlan>>,
    regions: Regions,
    /// The units spent by the interpreter.
    spent: AtomicU64,
    compiled: OnceLock<Option<Box<dyn Compiled>>>,
    times: Times,
}

#[derive(Default)]
struct Times {
    slices: AtomicU64,
    iterations: AtomicU64,
    nanos: AtomicU64,
    compile_nanos: AtomicU64,
}

/// Of slices that are the first of a region's run, how many are between two whose time is taken: a clock
/// takes as long as a short loop's iteration.
const TIME_EVERY: u64 = 16;

/// The units of a slice: under a millisecond of the interpreter's time where no step is slow.
const SLICE: u64 = 1 << 17;

impl RegionPlan {
    pub(crate) fn new(code: Code, kernels: Vec<Arc<KernelPlan>>, regions: Regions) -> RegionPlan {
        let (spent, compiled) = (AtomicU64::new(0), OnceLock::new());
        // `compile_after` is for code of up to 200 instructions. Compiling longer code takes longer.
        let regions = Regions {
            compile_after: regions
                .compile_after
                .max((regions.compile_after / 200).saturating_mul(code.instructions.len() as u64)),
            ..regions
        };
        let times = Times::default();
        RegionPlan { code: Arc::new(code), kernels, regions, spent, compiled, times }
    }

    /// What was measured so far.
    pub(crate) fn measured(&self) -> Measured {
        let compiled = self.compiled.get().and_then(|compiled| compiled.as_ref());
        Measured {
            iterations: self.times.iterations.load(Ordering::Relaxed),
            nanos: self.times.nanos.load(Ordering::Relaxed),
            machine_bytes: compiled.map(|compiled| compiled.bytes()),
            compile_nanos: self.times.compile_nanos.load(Ordering::Relaxed),
        }
    }

    /// Runs for one slice.
    pub(crate) fn run_slice(&self, registers: &mut Registers, env: &StepEnv) -> Exit {
        let before = registers.iterations;
        let is_timed =
            0 < before || self.times.slices.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIME_EVERY);
        if !is_timed {
            return self.slice(registers, env);
        }
        // What compiling takes is counted for itself.
        self.compiled();
        let start = Instant::now();
        let exit = self.slice(registers, env);
        self.times.nanos.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.times.iterations.fetch_add(registers.iterations.saturating_sub(before), Ordering::Relaxed);
        exit
    }

    fn slice(&self, registers: &mut Registers, env: &StepEnv) -> Exit {
        if !self.code.changes {
            return self.slice_within(registers, env);
        }
        let mut journal = std::mem::take(&mut registers.blocks.journal);
        let exit = journal.within(|| self.slice_within(registers, env));
        registers.blocks.journal = journal;
        exit
    }

    fn slice_within(&self, registers: &mut Registers, env: &StepEnv) -> Exit {
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

    /// Runs code without loops, from its start to its end.
    pub(crate) fn run_straight(&self, registers: &mut Registers, env: &StepEnv) -> Exit {
        let calls = Kernels { kernels: &self.kernels, env };
        if let Some(compiled) = self.compiled() {
            return compiled.run(registers, &calls);
        }
        self.spent.fetch_add(self.code.instructions.len() as u64, Ordering::Relaxed);
        interpret(&self.code, registers, &calls)
    }

    /// The compiled code, made if the time has come.
    fn compiled(&self) -> Option<&dyn Compiled> {
        let compiler = self.regions.compiler.as_ref()?;
        if self.compiled.get().is_none() && self.spent.load(Ordering::Relaxed) < self.regions.compile_after {
            return None;
        }
        let compile = || {
            let start = Instant::now();
            let compiled = compiler.compile(&self.code);
            self.times.compile_nanos.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            compiled
        };
        self.compiled.get_or_init(compile).as_deref()
    }
}

/// The kernels of a region in a run.
struct Kernels<'a> {
    kernels: &'a [Arc<KernelPlan>],
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
