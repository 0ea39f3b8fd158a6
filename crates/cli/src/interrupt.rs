//! Ctrl-C: [`poll`] makes it end a run with an error that says what the run was doing. The second Ctrl-C ends
//! the process at once, as the first does outside of runs.

use millstream::engine::runtime::Poll;
use millstream::{Code, Error};
use signal_hook::{consts::SIGINT, flag};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The exit code of an interrupted command, which shells know.
pub(crate) const EXIT_CODE: u8 = 130;

static PRESSED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn listen() -> Arc<AtomicBool> {
    let pressed = Arc::<AtomicBool>::default();
    // Where no handler can be set, Ctrl-C ends the process as by default. The first handler is called first.
    let twice = flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), pressed.clone());
    drop(twice.and_then(|_| flag::register(SIGINT, pressed.clone())));
    pressed
}

/// A poll for runs of this thread. From the first call on, Ctrl-C no longer ends the process by itself.
pub(crate) fn poll() -> Poll {
    let pressed = PRESSED.get_or_init(listen).clone();
    Poll::new(move || match pressed.load(Relaxed) {
        true => Err(Error::new(Code::Cancelled, "the run was interrupted")),
        false => Ok(()),
    })
}

/// Whether Ctrl-C was pressed during a run.
pub(crate) fn was_pressed() -> bool {
    PRESSED.get().is_some_and(|pressed| pressed.load(Relaxed))
}
