//! The coordinator stops its threads together, and `join` returns the first error.

use millstream_runtime::Coordinator;
use millstream_tensor::{Code, Error};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_first_error_stops_all_and_is_returned() {
    let c = Coordinator::new();
    let waits = c.clone();
    c.spawn("waits", move || {
        assert!(waits.wait_for_stop(SOON));
        Err(Error::invalid("second"))
    })
    .unwrap();
    c.spawn("fails", || Err(Error::invalid("first"))).unwrap();
    let error = c.join().unwrap_err();
    assert_eq!(error.message(), "first");
    let late = c.request_stop_for(Error::invalid("late")).unwrap_err();
    assert_eq!(late.message(), "late", "after the join it comes back to the caller");
    assert!(c.spawn("late", || Ok(())).is_err());
    c.clear_stop();
    assert!(!c.should_stop());
    c.spawn("again", || Ok(())).unwrap();
    c.join().unwrap();
}

#[test]
fn the_end_of_the_input_is_no_error() {
    let c = Coordinator::new();
    c.spawn("reader", || Err(Error::new(Code::OutOfRange, "the end"))).unwrap();
    c.join().unwrap();
    assert!(c.should_stop());
    let strict = Coordinator::with_clean_stops([]);
    assert!(strict.stop_on_error::<()>(|| Err(Error::new(Code::OutOfRange, "the end"))).unwrap().is_none());
    assert!(strict.join().is_err());
}

#[test]
fn panics_are_errors() {
    let c = Coordinator::new();
    c.spawn("panics", || panic!("oh")).unwrap();
    assert!(c.join().unwrap_err().message().contains("a thread panicked: oh"));
}

#[test]
fn stragglers_are_named() {
    let c = Coordinator::new();
    let (release, held) = std::sync::mpsc::channel::<()>();
    c.spawn("slow", move || {
        let _ = held.recv();
        Ok(())
    })
    .unwrap();
    c.request_stop();
    let error = c.join_within(Duration::from_millis(5)).unwrap_err().to_string();
    assert!(error.contains("still running after 5ms: `slow`"), "{error}");
    drop(release);
    c.join().unwrap();
}

#[test]
fn listeners_hear_of_the_stop_once() {
    let c = Coordinator::new();
    let told = Arc::new(AtomicUsize::new(0));
    for _ in 0..2 {
        let told = told.clone();
        c.on_stop(move |_| {
            told.fetch_add(1, AcqRel);
        });
    }
    c.request_stop();
    c.request_stop();
    let late = told.clone();
    c.on_stop(move |_| {
        late.fetch_add(1, AcqRel);
    });
    assert_eq!(told.load(Acquire), 3);
}

#[test]
fn loopers_loop_until_the_stop() {
    let c = Coordinator::new();
    let (count, stop) = (Arc::new(AtomicUsize::new(0)), c.clone());
    let counted = count.clone();
    c.spawn_looper("often", Some(Duration::from_micros(10)), move || {
        if counted.fetch_add(1, AcqRel) == 20 {
            stop.request_stop();
        }
        Ok(())
    })
    .unwrap();
    c.join().unwrap();
    assert_eq!(count.load(Acquire), 21);
}
