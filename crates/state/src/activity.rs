//! [`Activity`]: who is at work with some resources, so that a run that waits can tell whether anybody is left to end its wait.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// What one run at a time does: nothing, work, or sleep until something outside of it happens.
#[derive(Clone, Debug, Default)]
pub struct Activity(Arc<AtomicU64>);

/// How many threads of the process sleep without a time limit.
static N_ASLEEP: AtomicUsize = AtomicUsize::new(0);

// The number counts the changes: it is odd while a run is at work. One writer at a time, so nothing is contended.
impl Activity {
    /// A run begins, or has been woken.
    pub fn begin(&self) {
        self.0.store(self.0.load(Relaxed) | 1, Release);
    }

    /// A run ends.
    pub fn end(&self) {
        self.0.store((self.0.load(Relaxed) | 1) + 1, Release);
    }

    /// The run sleeps until the guard goes.
    pub fn sleep(&self) -> Asleep {
        self.end();
        Asleep::new(Some(self.clone()))
    }
}

/// A thread is asleep until this goes, without a time limit: it does nothing by itself.
pub struct Asleep(Option<Activity>);

impl Asleep {
    /// The thread that calls it sleeps, outside of any run.
    pub fn outside() -> Asleep {
        Asleep::new(None)
    }

    fn new(activity: Option<Activity>) -> Asleep {
        N_ASLEEP.fetch_add(1, AcqRel);
        Asleep(activity)
    }

    /// How many threads of the process sleep.
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

/// All that use some resources, and since when none of them has done anything.
#[derive(Default)]
pub(crate) struct Users {
    users: Vec<Weak<AtomicU64>>,
    /// The sum of their counts when somebody last looked.
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

    /// For how long nobody has been at work. It is found out by looking: what happened between two looks shows in the counts.
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
