//! [`Partial`]: one run in several parts, its feeds given as they become known.

use crate::errors::dead_fetch;
use crate::ids::FetchId;
use crate::machine::{Fetched, Machine};
use crate::step::{RunOptions, Runner, check, until};
use millstream_files::Files;
use millstream_graph::Entity;
use millstream_graph::op::StepEnv;
use millstream_tensor::{Error, Result, Tensor, invalid};

/// A run that stops where a feed is missing and goes on when it is given. Computed values stay: nothing is
/// computed twice.
pub struct Partial {
    /// `None` once the run has failed.
    machine: Option<Machine>,
    env: StepEnv,
    /// The files of `env`, without the deadline of a part.
    files: Files,
    failed: Option<Error>,
}

impl std::fmt::Debug for Partial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partial").field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl Runner {
    /// Begins a run without feeds. Nothing runs before the first [`Runner::advance`].
    pub fn begin(&self, env: StepEnv) -> Partial {
        let mut machine = Machine::new(self.plan());
        machine.start(self.plan(), &env);
        Partial { machine: Some(machine), files: env.files.clone(), env, failed: None }
    }

    /// Gives feeds, by their place in the plan, and runs all that can run now. The caller checks dtypes and
    /// shapes, and that each feed is given once. After an error the run is over, and every further call
    /// returns that error again.
    pub fn advance(
        &self,
        partial: &mut Partial,
        feeds: impl IntoIterator<Item = (usize, Tensor)>,
        options: &RunOptions,
    ) -> Result<()> {
        let Some(mut machine) = partial.machine.take() else { return Err(partial.failure()) };
        let _budget = options.enter(&partial.env);
        for (i, value) in feeds {
            machine.feed(self.plan(), i, value);
        }
        partial.env.files = until(&partial.files, options.deadline);
        let threads = partial.env.host.threads();
        let driven = check(&partial.env, options.deadline, options.poll.as_ref())
            .and_then(|()| self.drive(&mut machine, &partial.env, options, threads));
        partial.env.loans.end(driven.as_ref().err());
        match driven {
            Ok(()) => {
                partial.machine = Some(machine);
                Ok(())
            }
            Err(error) => {
                partial.failed = Some(error.clone());
                partial.env.step_resources.clear_all();
                Err(error)
            }
        }
    }

    /// The value of fetch `k`, left where it is.
    pub fn fetched(&self, partial: &Partial, k: usize) -> Result<Tensor> {
        let Some(machine) = &partial.machine else { return Err(partial.failure()) };
        let name = self.plan().fetch_name(FetchId::new(k));
        match machine.results.get(FetchId::new(k)) {
            Some(Fetched::Value(value)) => Ok(value.clone()),
            Some(Fetched::Dead) => Err(dead_fetch(k, name)),
            // A loop waits for all its Enters before it runs further ahead than `parallel_iterations` allows.
            Some(Fetched::Pending) | None => {
                Err(machine.stuck(self.plan()).unwrap_or_else(|| invalid!("`{name}` has not been computed")))
            }
        }
    }

    /// Forgets the value of fetch `k`, which is not fetched again.
    pub fn forget(&self, partial: &mut Partial, k: usize) {
        let result = partial.machine.as_mut().and_then(|m| m.results.get_mut(FetchId::new(k)));
        if let Some(result @ Fetched::Value(_)) = result {
            *result = Fetched::Value(Tensor::scalar(false));
        }
    }
}

impl Partial {
    fn failure(&self) -> Error {
        self.failed.clone().unwrap_or_else(|| Error::internal("a partial run lost its machine"))
    }
}
