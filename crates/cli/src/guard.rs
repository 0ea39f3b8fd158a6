//! The last line of defence of the command line: [`watch`] ends the process when a limit that the user gave
//! is exceeded, whatever the reason.
//!
//! The engine keeps to both limits by itself, node by node, and its errors say more. A kernel that forgets
//! one must not make the machine unusable, and here no kernel can forget: a thread of its own looks at the
//! clock, and at the memory that the process really takes. Whatever is written to disk at that moment is as
//! after a kill: files that matter are whole at every instant.

use crate::failure::Failure;
use crate::load::deadline;
use millstream::{Code, Error};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Whether the command has ended with an error, which is being printed. What it held is freed meanwhile.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Stops watching: the process is about to end with its own error.
pub(crate) fn over() {
    ENDED.store(true, Relaxed);
}

/// How often memory is measured. A process gets 10 to 20 MiB of fresh memory in this time.
const PERIOD: Duration = Duration::from_millis(5);

/// How long the engine has after the deadline to end by itself.
const GRACE: Duration = Duration::from_millis(300);

/// The least memory at which the process is ended: what it takes besides tensors.
const LEAST: usize = 64 << 20;

/// Begins to watch, once. Without limits there is nothing to watch.
pub(crate) fn watch(timeout: Option<Duration>, memory_limit: Option<usize>) {
    static ONCE: Once = Once::new();
    let end = deadline(timeout).and_then(|deadline| deadline.checked_add(GRACE));
    let most = memory_limit
        .map(|limit| limit.saturating_add(limit / 4).max(LEAST))
        .filter(|_| anonymous().is_some());
    if end.is_none() && most.is_none() {
        return;
    }
    // Without the thread, the engine's own limits are still there.
    let begin = || drop(thread::Builder::new().name("guard".to_owned()).spawn(move || keep(end, most)));
    ONCE.call_once(begin);
}

fn keep(end: Option<Instant>, most: Option<usize>) {
    loop {
        if let Some(failure) = exceeded(end, most) {
            if ENDED.load(Relaxed) {
                return;
            }
            // Prints the error. The code of every failure of the work is 1.
            let _ = failure.report();
            std::process::exit(1);
        }
        match (most, end) {
            (None, Some(end)) => thread::sleep(end.saturating_duration_since(Instant::now())),
            _ => thread::sleep(PERIOD),
        }
    }
}

fn exceeded(end: Option<Instant>, most: Option<usize>) -> Option<Failure> {
    if end.is_some_and(|end| end <= Instant::now()) {
        let error = Error::new(Code::DeadlineExceeded, "the command did not end in the time allowed");
        return Some(error.with_help("raise --timeout").into());
    }
    let (most, taken) = (most?, anonymous()?);
    (most < taken).then(|| {
        let text = format!("the process takes {taken} bytes of memory, which --memory-limit does not allow");
        Error::new(Code::ResourceExhausted, text).with_help("raise --memory-limit").into()
    })
}

/// The memory of the process that no file holds, in bytes, where the system tells.
fn anonymous() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exceeded() {
        let now = Instant::now();
        assert!(exceeded(Some(now), None).is_some());
        assert!(exceeded(Some(now + Duration::from_secs(1000)), Some(usize::MAX)).is_none());
        assert_eq!(exceeded(None, Some(1)).is_some(), anonymous().is_some());
        assert!(anonymous().is_none_or(|bytes| bytes > 100_000));
    }
}
