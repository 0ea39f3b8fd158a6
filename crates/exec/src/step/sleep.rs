//! How the caller of a run waits: for other threads, and for kernels that wait.

use super::team::Team;
use crate::poll::Poll;
use crate::progress::Progress;
use millstream_graph::op::StepEnv;
use millstream_tensor::Error;
use std::sync::atomic::Ordering::*;
use std::time::{Duration, Instant};

/// The time after which a run that only waits first asks whether it would wait for ever, and the longest time
/// between later questions.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Sleeps while the run has nothing left but `n_waits` waiting kernels. `sleep` sleeps until a moment at
/// most, and returns whether it was woken. Returns an error if the waits would last for ever.
pub(crate) fn sleep_for_waits(
    env: &StepEnv,
    n_waits: usize,
    mut sleep: impl FnMut(Option<Instant>) -> bool,
) -> Option<Error> {
    let _asleep = env.activity.sleep();
    let mut look = FIRST_LOOK;
    while !sleep(Instant::now().checked_add(look)) {
        if let Some(error) = env.host.stalled(&env.cancel, n_waits) {
            return Some(error);
        }
        look = (look * 2).min(LAST_LOOK);
    }
    None
}

impl Team {
    /// Sleeps until roused, until the given moment, or until it is time to poll or to show progress.
    pub(super) fn sleep_until(&self, until: Option<Instant>) {
        let ask = match (&self.poll, &self.progress) {
            (None, None) => None,
            _ => Instant::now().checked_add(Poll::EVERY.min(Progress::EVERY)),
        };
        let until = until.into_iter().chain(ask).min();
        let mut sleep = self.sleep.lock();
        if !self.roused.load(Acquire) {
            match until {
                Some(until) => drop(self.woken.wait_until(&mut sleep, until)),
                None => self.woken.wait(&mut sleep),
            }
        }
    }

    /// Sleeps until roused, while the run has nothing left but `n_waits` waiting kernels. Returns an error if
    /// they would wait for ever, or if the poll ends the run.
    pub(super) fn sleep_for_waits(&self, n_waits: usize) -> Option<Error> {
        if self.deadline.is_some() || self.env.cancel.is_cancelled() {
            self.sleep_until(self.deadline.filter(|_| !self.env.cancel.is_cancelled()));
            return None;
        }
        let mut asked = None;
        let stalled = sleep_for_waits(&self.env, n_waits, |until| {
            loop {
                self.sleep_until(until);
                if self.roused.load(Acquire) {
                    return true;
                }
                if let Some(Err(error)) = self.poll.as_ref().map(Poll::ask) {
                    asked = Some(error);
                    return true;
                }
                if let Some(progress) = &self.progress {
                    progress.tick();
                }
                if until.is_some_and(|until| until <= Instant::now()) {
                    return false;
                }
            }
        });
        asked.or(stalled)
    }
}
