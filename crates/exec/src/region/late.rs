//! [`LoopPlan`]: a loop that runs as code, which is known with the plan, or [made](Late) in a run for the
//! values that enter the loop there.

use super::policy::{Measured, RegionPlan, Regions};
use super::raise::{Entering, MOST_SAID, raise_for};
use crate::ids::PlanNode;
use crate::plan::{KernelPlan, prepare};
use crate::sync::Mutex;
use millstream_graph::Index;
use millstream_state::{Resources, Stack, TensorArray};
use millstream_tensor::{DType, PartialShape, Shape, Tensor, TensorList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A loop of a plan that runs as code, or may.
pub(crate) struct LoopPlan {
    /// The Enters, in the order of the code's inputs.
    pub(crate) enters: Vec<PlanNode>,
    /// The Exits, in the order of the code's outputs.
    pub(crate) exits: Vec<PlanNode>,
    pub(crate) made: Made,
}

/// When the code of a loop is made.
pub(crate) enum Made {
    /// With the plan.
    Before(Arc<RegionPlan>),
    /// In a run.
    Late(Box<Late>),
}

/// A loop whose code needs shapes that no plan knows. Each run gives them with the values that enter the
/// loop. Code that was made for some shapes is kept for runs with the same ones.
pub(crate) struct Late {
    pub(crate) entering: Entering,
    /// The kernels that had to be prepared with the plan.
    pub(crate) prepared: BTreeMap<Index, Arc<KernelPlan>>,
    pub(crate) regions: Regions,
    variants: Mutex<Vec<Variant>>,
}

/// Code for values of some types.
struct Variant {
    given: Vec<Given>,
    /// The Enters whose values the code relies on.
    by_value: u128,
    made: Result<Arc<RegionPlan>, (Index, &'static str)>,
    /// The number of runs that the code did not finish since it last did.
    strikes: Arc<AtomicU32>,
}

/// The code of one run.
pub(crate) struct Running {
    pub(crate) region: Arc<RegionPlan>,
    strikes: Option<Arc<AtomicU32>>,
}

/// The most kinds of values that code is made for. A loop that meets more runs by tokens with the rest.
const MOST_VARIANTS: usize = 16;
/// Code that fails in so many runs, one after another, is not tried again.
const MOST_STRIKES: u32 = 4;

/// What is known of a value that enters a loop.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    dtype: DType,
    pub(super) shape: Shape,
    /// A few integers.
    pub(super) value: Option<Tensor>,
    /// What a list, a stack or an array holds.
    pub(super) holds: Option<(DType, PartialShape)>,
    /// The item that is popped first, if it is a few integers.
    pub(super) last: Option<Tensor>,
}

impl Given {
    fn of(value: &Tensor) -> Given {
        let mut given = Given {
            dtype: value.dtype(),
            shape: value.shape().clone(),
            value: None,
            holds: None,
            last: None,
        };
        match value.dtype() {
            DType::Variant => {
                let list = value.as_variants().and_then(|all| all.first()?.get::<TensorList>());
                if let Some(list) = list {
                    let last = list.len().checked_sub(1).and_then(|i| list.get(i).ok()?);
                    given.holding(list.dtype(), last, || list.element_shape().clone());
                }
            }
            DType::Resource => {
                let handle = value.as_handles().and_then(|all| all.first());
                if let Some(stack) = handle.and_then(|handle| handle.get::<Stack>()) {
                    given.holding(stack.dtype(), stack.top(), PartialShape::unknown);
                } else if let Some(array) = handle.and_then(|handle| handle.get::<TensorArray>()) {
                    given.holds = Some((array.dtype(), array.likely_shape()));
                }
            }
            _ => given.value = said(value),
        }
        given
    }

    fn holding(&mut self, dtype: DType, last: Option<Tensor>, or: impl FnOnce() -> PartialShape) {
        let shape = last.as_ref().map_or_else(or, |last| last.shape().into());
        self.holds = Some((dtype, shape));
        self.last = last.as_ref().and_then(said);
    }

    /// Whether code for one is code for the other.
    fn is_like(&self, other: &Given, by_value: bool) -> bool {
        let same = |a: &Option<Tensor>, b: &Option<Tensor>| match (a, b) {
            (Some(a), Some(b)) => a.bits_eq(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.dtype == other.dtype
            && self.shape == other.shape
            && self.holds == other.holds
            && (!by_value || same(&self.value, &other.value))
    }
}

/// A value of a few integers: it may be a shape, or axes.
fn said(value: &Tensor) -> Option<Tensor> {
    let suits = matches!(value.dtype(), DType::I32 | DType::I64) && value.elements() <= MOST_SAID;
    suits.then(|| value.clone())
}

impl LoopPlan {
    /// The code for these values. `None` if the machine has to run the loop.
    pub(crate) fn code_for<'a>(&self, values: impl Iterator<Item = Option<&'a Tensor>>) -> Option<Running> {
        match &self.made {
            Made::Before(region) => Some(Running { region: region.clone(), strikes: None }),
            Made::Late(late) => late.code_for(&values.map(|v| v.map(Given::of)).collect::<Option<Vec<_>>>()?),
        }
    }

    /// The code; where it is made in runs, that of the last kind of values.
    pub(crate) fn region(&self) -> Option<Arc<RegionPlan>> {
        match &self.made {
            Made::Before(region) => Some(region.clone()),
            Made::Late(late) => late.variants.lock().iter().rev().find_map(|it| it.made.clone().ok()),
        }
    }

    /// Where code was to be made in a run: why there is none.
    pub(crate) fn refused(&self) -> Option<(Index, &'static str)> {
        match &self.made {
            Made::Before(_) => None,
            Made::Late(late) => {
                late.variants.lock().iter().rev().find_map(|it| it.made.as_ref().err().copied())
            }
        }
    }

    /// What was measured so far.
    pub(crate) fn measured(&self) -> Measured {
        let sum = |all: Measured, it: Measured| Measured {
            iterations: all.iterations + it.iterations,
            nanos: all.nanos + it.nanos,
            machine_bytes: all.machine_bytes.max(it.machine_bytes),
            compile_nanos: all.compile_nanos.max(it.compile_nanos),
        };
        match &self.made {
            Made::Before(region) => region.measured(),
            Made::Late(late) => {
                let variants = late.variants.lock();
                let made = variants.iter().filter_map(|it| it.made.as_ref().ok());
                made.map(|region| region.measured()).fold(Measured::default(), sum)
            }
        }
    }
}

impl Late {
    pub(crate) fn new(
        entering: Entering,
        prepared: BTreeMap<Index, Arc<KernelPlan>>,
        regions: Regions,
    ) -> Late {
        Late { entering, prepared, regions, variants: Mutex::new(Vec::new()) }
    }

    fn code_for(&self, given: &[Given]) -> Option<Running> {
        let mut variants = self.variants.lock();
        let suits = |variant: &Variant| {
            let pairs = variant.given.iter().zip(given).enumerate();
            pairs.into_iter().all(|(i, (a, b))| a.is_like(b, i < 128 && variant.by_value >> i & 1 != 0))
        };
        let found = match variants.iter().position(suits) {
            Some(found) => found,
            None if MOST_VARIANTS <= variants.len() => return None,
            None => {
                variants.push(self.make(given));
                variants.len() - 1
            }
        };
        let variant = &variants[found];
        let region = variant.made.as_ref().ok()?.clone();
        let fails = MOST_STRIKES <= variant.strikes.load(Ordering::Relaxed);
        (!fails).then(|| Running { region, strikes: Some(variant.strikes.clone()) })
    }

    fn make(&self, given: &[Given]) -> Variant {
        let (made, by_value) = raise_for(&self.entering, given);
        let made = made.and_then(|code| {
            let kernels = code.calls.iter().map(|call| {
                let refused = (call.node, "has a kernel that could not be prepared");
                match (self.prepared.get(&call.node), self.entering.program().node(call.node).info()) {
                    (Some(prepared), _) => Ok(prepared.clone()),
                    // What keeps state was prepared.
                    (None, Some(info)) => prepare(info, &Resources::new()).map(Arc::new).map_err(|_| refused),
                    (None, None) => Err(refused),
                }
            });
            let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(RegionPlan::new(code, kernels, self.regions.clone())))
        });
        Variant { given: given.to_vec(), by_value, made, strikes: Arc::new(AtomicU32::new(0)) }
    }
}

impl Running {
    /// Notes whether the code ran to its end.
    pub(crate) fn ended(&self, done: bool) {
        match &self.strikes {
            None => {}
            Some(strikes) if done => strikes.store(0, Ordering::Relaxed),
            Some(strikes) => _ = strikes.fetch_add(1, Ordering::Relaxed),
        }
    }
}
