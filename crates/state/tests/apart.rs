//! Work that nothing can interrupt: its results, and what happens when its run is over.

use millstream_state::apart;
use millstream_tensor::budget::{Budget, Room, enter_until};
use millstream_tensor::{Code, Error, Result};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of calls at a time is that of the process.
static ALONE: Mutex<()> = Mutex::new(());

fn soon(ms: u64) -> Option<Instant> {
    Some(Instant::now() + Duration::from_millis(ms))
}

#[test]
fn results_errors_and_panics_come_back() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(apart(|| Ok(7)).unwrap(), 7);
    let error = apart(|| Err::<(), _>(Error::invalid("no"))).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    let caught = std::panic::catch_unwind(|| apart(|| -> Result<()> { panic!("on purpose") }));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
}

#[test]
fn what_is_left_behind_stays_charged_until_it_ends() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let budget = Budget::new(1 << 20);
    let (end, wait) = channel::<()>();
    {
        let _entered = enter_until(Some(&budget), soon(100));
        let result = apart(move || {
            let _room = Room::of(1 << 19)?;
            wait.recv().ok();
            Ok(())
        });
        assert_eq!(result.unwrap_err().code(), Code::DeadlineExceeded);
    }
    while budget.used() < 1 << 19 {
        thread::yield_now();
    }
    drop(end);
    while budget.used() != 0 {
        thread::yield_now();
    }
}

/// Calls that were left behind take the turns of others until they end, and runs do not wait for a turn
/// beyond their deadline.
#[test]
fn calls_that_are_left_behind_do_not_pile_up() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let most = thread::available_parallelism().map_or(4, |n| n.get().max(4));
    let mut ends = Vec::new();
    for _ in 0..most {
        let (end, wait) = channel::<()>();
        let (began, begins) = channel();
        let _entered = enter_until(None, soon(50));
        let result = apart(move || {
            began.send(()).ok();
            wait.recv().ok();
            Ok(())
        });
        assert_eq!(result.unwrap_err().code(), Code::DeadlineExceeded);
        begins.recv().unwrap();
        ends.push(end);
    }
    {
        let _entered = enter_until(None, soon(50));
        assert_eq!(apart(|| Ok(())).unwrap_err().code(), Code::DeadlineExceeded);
    }
    ends.clear();
    assert_eq!(apart(|| Ok(7)).unwrap(), 7);
}
