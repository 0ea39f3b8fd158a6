//! [`Activity`]: a counter of the work done by the users of some resources. From it, a waiting run can tell
//! whether any user is left that could end its wait.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The state of a user, which makes one run at a time: idle, at work, or asleep until something outside of
/// the run happens.
#[derive(Clone, Debug, Default)]
pub struct Activity(Arc<AtomicU64>);

/// The number of threads of the process that sleep without a time limit.
static N_ASLEEP: AtomicUsize = AtomicUsize::new(0);

// The number counts the changes of state: it is odd while a run is at work. There is one writer at a time, so
// it is never contended.
impl Activity {
    /// Marks the beginning of a run, or its waking.
    pub fn begin(&self) {
        self.0.store(self.0.load(Relaxed) | 1, Release);
    }

    /// Marks the end of a run.
    pub fn end(&self) {
        self.0.store((self.0.load(Relaxed) | 1) + 1, Release);
    }

    /// Marks the run as asleep until the guard is dropped.
    pub fn sleep(&self) -> Asleep {
        self.end();
        Asleep::new(Some(self.clone()))
    }
}

/// A guard: while it lives, a thread sleeps without a time limit and does nothing by itself.
pub struct Asleep(Option<Activity>);

impl std::fmt::Debug for Asleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asleep").finish_non_exhaustive()
    }
}

impl Asleep {
    /// Marks the calling thread as asleep outside of any run.
    pub fn outside() -> Asleep {
        Asleep::new(None)
    }

    fn new(activity: Option<Activity>) -> Asleep {
        N_ASLEEP.fetch_add(1, AcqRel);
        Asleep(activity)
    }

    /// The number of threads of the process that are asleep.
    pub fn count() -> usize {
        N_ASLEEP.load(Acquire)
    }
}

impl Drop for Asleep {
    fn drop(&mut self) {
        N_ASLEEP.fetch_sub(1, AcqRel);
        if let Some(activity) = &self.0 {
            activity.begin();
        }
    }
}

/// The users of some resources, and the time since which all of them have been idle.
#[derive(Default)]
pub(crate) struct Users {
    users: Vec<Weak<AtomicU64>>,
    /// The sum of the users' counts at the last call of `quiet_for`.
    counted: u64,
    quiet_since: Option<Instant>,
}

impl Users {
    pub(crate) fn join(&mut self) -> Activity {
        if self.users.len() >= 64 && self.users.len().is_power_of_two() {
            self.users.retain(|user| user.strong_count() > 0);
        }
        let activity = Activity::default();
        self.users.push(Arc::downgrade(&activity.0));
        activity
    }

    /// The time for which no user has been at work. It is measured by polling: work between two calls shows
    /// in the counts.
    pub(crate) fn quiet_for(&mut self) -> Duration {
        let (mut at_work, mut counted) = (false, 0u64);
        for user in self.users.iter().filter_map(Weak::upgrade) {
            let count = user.load(Acquire);
            at_work |= count % 2 == 1;
            counted = counted.wrapping_add(count);
        }
        let now = Instant::now();
        let same = counted == std::mem::replace(&mut self.counted, counted);
        let since = self.quiet_since.filter(|_| same && !at_work).unwrap_or(now);
        self.quiet_since = Some(since);
        now - since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_lasts_until_somebody_does_something() {
        let mut users = Users::default();
        let (a, b) = (users.join(), users.join());
        let pause = || std::thread::sleep(Duration::from_millis(3));
        a.begin();
        assert_eq!(users.quiet_for(), Duration::ZERO);
        pause();
        assert_eq!(users.quiet_for(), Duration::ZERO, "somebody is at work");
        let asleep = a.sleep();
        assert_eq!(users.quiet_for(), Duration::ZERO, "since now");
        pause();
        assert!(users.quiet_for() >= Duration::from_millis(3));
        b.begin();
        b.end();
        assert_eq!(users.quiet_for(), Duration::ZERO, "something happened in between");
        pause();
        assert!(users.quiet_for() >= Duration::from_millis(3));
        drop(asleep);
        assert_eq!(users.quiet_for(), Duration::ZERO);
    }
}
