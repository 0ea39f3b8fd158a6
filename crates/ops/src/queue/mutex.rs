//! `MutexV2`, `MutexLock`, `ConsumeMutexLock`: sections that no two runs are in at a time.

use crate::shared::handles::{Named, handle_shape, share};
use millstream_graph::op::spec::{Spec, Text};
use millstream_graph::op::{BuildCx, Completion, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_state::{Given, Line, Work};
use millstream_tensor::DType::{Resource, Variant as Variants};
use millstream_tensor::{Opaque, Result, Tensor, Variant, invalid};
use smallvec::smallvec;
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 3] {
    let none = || Gradient::none("of mutexes there is none, as in TensorFlow");
    [
        OpDef::new("MutexV2")
            .doc(
                "Returns a handle to the mutex `shared_name` in `container`, which is created if it does not exist. \
                 Without a `shared_name` it is this session's own.",
            )
            .output("resource", Resource)
            .attr("container", Text.or(""))
            .attr("shared_name", Text.or(""))
            .infer(handle_shape)
            .kernel(Kernel::opens(open))
            .gradient(none()),
        OpDef::new("MutexLock")
            .doc(
                "Waits until nothing else holds the mutex, and returns a lock that holds it. The mutex is free again \
                 once nothing reads the lock any more, also if the run fails.",
            )
            .input("mutex", Resource)
            .output("mutex_lock", Variants)
            .infer(|cx| {
                cx.scalar(0)?;
                cx.scalars()
            })
            // In the program's order, as the variables that sections work on: otherwise a section that has
            // the mutex could wait for a variable of one that waits for the mutex.
            .kernel(Kernel::waiting(lock).writing())
            .gradient(none()),
        OpDef::new("ConsumeMutexLock")
            .doc("Keeps a lock until it runs: control dependencies say what the lock protects.")
            .input("mutex_lock", Variants)
            .infer(|cx| cx.scalar(0))
            .kernel(Kernel::stateful(consume))
            .gradient(none()),
    ]
}

/// Whether something holds the mutex.
#[derive(Default)]
struct Held(bool);

/// Holds a mutex as long as it exists.
#[derive(Debug)]
struct Lock(Arc<Line<Held>>);

impl Opaque for Lock {
    fn kind(&self) -> &'static str {
        "mutex lock"
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.change(|held| held.0 = false);
    }
}

fn open(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let named = Named::or_private(cx.node)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            resources.get_or_create(container, name, || Ok(Line::new("mutex", Held::default())))
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

fn lock(cx: &mut KernelCx, completion: Completion) {
    match share::<Line<Held>>(cx, 0) {
        Err(error) => completion.complete(Err(error)),
        Ok(line) => {
            let work: Work<Held> = Box::new(|held| {
                let is_free = !std::mem::replace(&mut held.0, true);
                is_free.then(|| Ok(Given::new().into()))
            });
            let own = line.clone();
            line.attempt(&cx.env.cancel, work, move |result| {
                // Whatever becomes of the lock, dropping it frees the mutex.
                let lock = result.map(|_| Lock(own));
                completion
                    .complete(lock.and_then(|lock| Ok(smallvec![Tensor::variant(Variant::new(lock)?)])));
            });
        }
    }
}

fn consume(cx: &mut KernelCx) -> Result<()> {
    let lock = cx.take(0);
    match lock.as_variants() {
        Some([variant]) if variant.get::<Lock>().is_some() => Ok(()),
        Some([other]) => Err(invalid!(
            "Expected input to contain a MutexLock variant.";
            "`mutex_lock` is a {}", other.kind()
        )),
        _ => Err(invalid!("`mutex_lock` must be a scalar variant but has shape {}", lock.shape())),
    }
}

cases! {
    is_a_handle: "MutexV2() : resource[]",
    infers: "MutexLock(resource[]) : variant[]",
    is_free_again: "ConsumeMutexLock(MutexLock(MutexV2())) =",
    wants_a_mutex: "MutexLock(@i32 1) ! refers to a variable",
    wants_a_lock: "ConsumeMutexLock(OptionalNone()) ! Expected input to contain a MutexLock variant.",
}
