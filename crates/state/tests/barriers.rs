//! Barriers on their own, without a graph: order, waiting, closing, cancellation, elements that return.

use millstream_state::{Barrier, Cancellation, Closing, Dequeued, Waiter};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Str, Tensor};
use std::sync::{Arc, Mutex};

fn barrier(n_components: usize) -> Barrier {
    let scalar = PartialShape::unknown_of_rank(0);
    Barrier::new("b", &vec![DType::I32; n_components], &vec![scalar; n_components]).unwrap()
}

fn insert(barrier: &Barrier, component: usize, keys: &str) -> Result<()> {
    let keys: Vec<Str> = keys.split_whitespace().map(Str::from).collect();
    let values = (0..keys.len()).map(|i| Tensor::scalar(i as i32)).collect();
    barrier.insert(component, &keys, values)
}

/// A take: its elements' keys and indices as text, once it has ended.
#[derive(Clone, Default)]
struct Answer(Arc<Mutex<Option<Result<String>>>>);

impl Answer {
    #[track_caller]
    fn keys(&self) -> String {
        self.0.lock().unwrap().clone().expect("still waits").unwrap()
    }

    #[track_caller]
    fn code(&self) -> Code {
        self.0.lock().unwrap().clone().expect("still waits").unwrap_err().code()
    }

    fn waits(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }
}

fn waiter(cancel: &Cancellation, used: bool) -> (Answer, Waiter) {
    let answer = Answer::default();
    let told = answer.clone();
    let ended = Box::new(move |result: Result<Dequeued>| {
        let text = |items: &Dequeued| {
            let index = |i: &Tensor| i.to_scalar::<i64>().unwrap() - i64::MIN;
            let of = |item: &millstream_state::Item| {
                format!("{}{}", item[1].as_strs().unwrap()[0].text(), index(&item[0]))
            };
            items.iter().map(of).collect::<Vec<_>>().join(" ")
        };
        let result = result.map(|items| {
            let text = text(&items);
            if used {
                items.used();
            }
            text
        });
        *told.0.lock().unwrap() = Some(result);
    });
    (answer, Waiter { who: "take".into(), cancel: cancel.clone(), ended })
}

fn take(barrier: &Barrier, n: usize, allow_small_batch: bool) -> Answer {
    let (answer, waiter) = waiter(&Cancellation::new(), true);
    barrier.take(n, allow_small_batch, waiter);
    answer
}

fn closing(cancelled_pending: bool) -> Closing {
    Closing { by: "close".into(), why: None, cancelled_pending }
}

fn sizes(barrier: &Barrier) -> (usize, usize) {
    (barrier.n_ready(), barrier.n_incomplete())
}

#[test]
fn elements_come_in_the_order_in_which_their_keys_came() {
    let b = barrier(2);
    insert(&b, 0, "z").unwrap();
    insert(&b, 0, "a b c").unwrap();
    insert(&b, 1, "c a").unwrap();
    assert_eq!(sizes(&b), (2, 2));
    insert(&b, 1, "z b").unwrap();
    assert_eq!(take(&b, 4, false).keys(), "z0 c1 a1 b1");
    // Insertions that brought no new key do not count.
    insert(&b, 0, "z").unwrap();
    insert(&b, 1, "z").unwrap();
    assert_eq!(take(&b, 1, false).keys(), "z2");
}

#[test]
fn a_failed_insertion_keeps_the_rows_before_the_faulty_one() {
    let b = barrier(2);
    assert_eq!(insert(&b, 0, "a a").unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(sizes(&b), (0, 1));
    // `a` is complete, and not lost.
    assert!(insert(&b, 1, "a c c d").unwrap_err().to_string().contains("Key c already has a value"));
    assert_eq!(sizes(&b), (1, 1));
    assert_eq!(take(&b, 1, false).keys(), "a0");
}

#[test]
fn a_take_waits_for_complete_elements() {
    let b = barrier(2);
    let three = take(&b, 3, false);
    insert(&b, 0, "a b c d").unwrap();
    insert(&b, 1, "b a").unwrap();
    assert!(three.waits());
    let report = b.report();
    assert_eq!((report.len, report.incomplete), (2, 2));
    assert!(
        report.to_string().contains("2 incomplete: `c` lacks component 1, `d` lacks component 1"),
        "{report}"
    );
    insert(&b, 1, "d").unwrap();
    assert_eq!(three.keys(), "b0 a0 d0");
}

#[test]
fn a_closed_barrier_completes_what_it_has() {
    let b = barrier(2);
    insert(&b, 0, "a b c d").unwrap();
    insert(&b, 1, "a b").unwrap();
    let (all, too_many) = (take(&b, 4, false), take(&b, 1, false));
    b.close(closing(false)).unwrap();
    assert_eq!(b.close(closing(false)).unwrap_err().code(), Code::Cancelled);
    assert_eq!(insert(&b, 0, "n").unwrap_err().code(), Code::Cancelled);
    assert_eq!(take(&b, 5, false).code(), Code::OutOfRange);
    assert!(all.waits());
    insert(&b, 1, "c").unwrap();
    insert(&b, 1, "d").unwrap();
    assert_eq!(all.keys(), "a0 b0 c0 d0");
    // The barrier is drained, so what waits behind ends.
    assert_eq!(too_many.code(), Code::OutOfRange);
    assert_eq!(take(&b, 0, false).code(), Code::OutOfRange);
    insert(&b, 0, "").unwrap();
    b.close(closing(true)).unwrap();
    assert_eq!(insert(&b, 0, "").unwrap_err().code(), Code::Cancelled);
    assert_eq!(b.close(closing(true)).unwrap_err().code(), Code::Cancelled);
}

#[test]
fn small_batches_do_not_wait_for_incomplete_elements() {
    let b = barrier(2);
    insert(&b, 0, "a b c").unwrap();
    insert(&b, 1, "a b").unwrap();
    b.close(closing(false)).unwrap();
    assert_eq!(take(&b, 5, true).keys(), "a0 b0");
    let error = take(&b, 5, true);
    assert_eq!(error.code(), Code::OutOfRange);
    insert(&b, 1, "c").unwrap();
    assert_eq!(take(&b, 5, true).keys(), "c0");
}

#[test]
fn small_batches_that_wait_end_when_the_barrier_is_closed() {
    let b = barrier(2);
    insert(&b, 0, "a b c").unwrap();
    insert(&b, 1, "a").unwrap();
    let (first, second, third) = (take(&b, 5, true), take(&b, 5, true), take(&b, 5, true));
    assert!(first.waits());
    b.close(closing(false)).unwrap();
    assert_eq!(first.keys(), "a0");
    // The others may still get what is incomplete.
    assert!(second.waits());
    insert(&b, 1, "b").unwrap();
    assert_eq!(second.keys(), "b0");
    insert(&b, 1, "c").unwrap();
    assert_eq!(third.keys(), "c0");
}

#[test]
fn a_cancelling_close_drops_incomplete_elements() {
    let b = barrier(2);
    insert(&b, 0, "a b").unwrap();
    insert(&b, 1, "a").unwrap();
    let two = take(&b, 2, false);
    b.close(closing(true)).unwrap();
    assert_eq!((two.code(), sizes(&b)), (Code::OutOfRange, (1, 0)));
    assert_eq!(insert(&b, 1, "b").unwrap_err().code(), Code::Cancelled);
    assert_eq!(take(&b, 1, false).keys(), "a0");
}

#[test]
fn a_cancelled_take_leaves_the_line() {
    let (b, cancel) = (barrier(1), Cancellation::new());
    let (gone, waiter) = waiter(&cancel, true);
    b.take(1, false, waiter);
    let next = take(&b, 1, false);
    cancel.cancel(Error::new(Code::Cancelled, "stop"));
    assert_eq!(gone.code(), Code::Cancelled);
    insert(&b, 0, "a").unwrap();
    assert_eq!(next.keys(), "a0");
}

#[test]
fn elements_that_are_not_used_return() {
    let b = barrier(1);
    insert(&b, 0, "a b").unwrap();
    insert(&b, 0, "c").unwrap();
    let (seen, waiter) = waiter(&Cancellation::new(), false);
    b.take(2, false, waiter);
    assert_eq!((seen.keys().as_str(), b.n_ready()), ("a0 b0", 3));
    b.close(closing(false)).unwrap();
    assert_eq!(take(&b, 5, true).keys(), "a0 b0 c1");
}

#[test]
fn values_fit() {
    let b = Barrier::new("b", &[DType::F32], &[PartialShape::unknown()]).unwrap();
    assert_eq!(b.name(), "b");
    let one = |value| b.insert(0, &[Str::from("k")], vec![value]).unwrap_err().to_string();
    assert!(one(Tensor::scalar(1)).contains("is f32, not i32"));
    assert!(one(Tensor::vector::<f32>(&[]).unwrap()).contains("no elements"));
    assert_eq!(sizes(&b), (0, 0));
}

#[test]
fn a_barrier_of_other_components_is_refused() {
    let (barrier, scalar) = (barrier(2), PartialShape::unknown_of_rank(0));
    let scalars = [scalar.clone(), scalar.clone()];
    assert!(barrier.check_same(&[DType::I32; 2], &scalars).is_ok());
    let others = [PartialShape::unknown_of_rank(1), scalar];
    for (dtypes, shapes, says) in [
        ([DType::I32, DType::F32], &scalars, "requested component types"),
        ([DType::I32, DType::I32], &others, "requested component shapes"),
    ] {
        let error = barrier.check_same(&dtypes, shapes).unwrap_err();
        assert!(error.code() == Code::InvalidArgument && error.message().contains(says), "{error}");
    }
}
