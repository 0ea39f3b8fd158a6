//! How the caller of a run waits: for other threads, and for kernels that wait.

use super::team::Team;
use crate::poll::Poll;
use crate::progress::Progress;
use crate::sync::Ordering::*;
use millstream_graph::op::StepEnv;
use millstream_state::{Activity, Asleep};
use millstream_tensor::Error;
use std::time::{Duration, Instant};

/// The time after which a run that only waits first asks whether it would wait for ever, and the longest time
/// between later questions.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Sleeps while the run has nothing left but `n_waits` waiting kernels. `sleep` sleeps until a moment at
/// most, and returns whether it was woken. Returns an error if the waits would last for ever. The thread
/// counts as asleep already.
pub(crate) fn sleep_for_waits(
    env: &StepEnv,
    n_waits: usize,
    _asleep: Asleep,
    mut sleep: impl FnMut(Option<Instant>) -> bool,
) -> Option<Error> {
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
    /// Wakes the caller.
    pub(super) fn rouse(&self) {
        let sleep = self.sleep.lock();
        self.roused.store(true, Release);
        // It is awake from now on, however long it takes until it gets a core.
        self.env.activity.wake();
        drop(sleep);
        self.woken.notify_one();
    }

    /// Counts the caller as asleep; `None` if it was roused.
    fn falls_asleep(&self, how: impl FnOnce(&Activity) -> Asleep) -> Option<Asleep> {
        let _sleep = self.sleep.lock();
        (!self.roused.load(Acquire)).then(|| how(&self.env.activity))
    }

    /// Sleeps while other threads do the run's tasks, until roused or until the deadline.
    pub(super) fn sleep_for_workers(&self) {
        let until = self.deadline.filter(|_| !self.env.cancel.is_cancelled());
        // With a deadline it wakes by itself, and may then do what others wait for.
        let _dozing = match until {
            None => self.falls_asleep(Activity::doze),
            Some(_) => None,
        };
        self.sleep_until(until);
    }

    /// Sleeps until roused, until the given moment, or until it is time to poll or to show progress.
    fn sleep_until(&self, until: Option<Instant>) {
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
        let asleep = self.falls_asleep(Activity::sleep)?;
        let mut asked = None;
        let stalled = sleep_for_waits(&self.env, n_waits, asleep, |until| {
            loop {
                self.sleep_until(until);
                if self.roused.load(Acquire) {
                    return true;
                }
                if let Some(Err(error)) = self.poll.as_ref().map(|poll| poll.ask(&self.env.loans)) {
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
        let asked = asked.map(|error| {
            let error = self.env.host.waited(&self.env.cancel, error);
            self.machine.lock().called_off(&self.plan, error)
        });
        asked.or(stalled)
    }
}
