//! Cancellation on its own.

use millstream_state::Cancellation;
use millstream_tensor::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[test]
fn tells_each_listener_once_and_keeps_the_first_cause() {
    let cancel = Cancellation::new();
    let told = Arc::new(AtomicUsize::new(0));
    let count = |told: &Arc<AtomicUsize>| {
        let told = told.clone();
        move |_: &Error| {
            told.fetch_add(1, Relaxed);
        }
    };
    let _kept = cancel.on_cancel(count(&told));
    drop(cancel.on_cancel(count(&told)));
    assert!(cancel.check().is_ok());
    assert!(cancel.cancel(Error::invalid("first")));
    assert!(!cancel.cancel(Error::invalid("second")));
    let _late = cancel.on_cancel(count(&told));
    assert_eq!(told.load(Relaxed), 2);
    assert_eq!(cancel.check().unwrap_err().message(), "first");
}
