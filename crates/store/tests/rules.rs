//! A queue in a server keeps the rules of one in the process: random sequences of operations end alike.

mod common;

use common::*;
use millstream_state::{Cancellation, Queue, QueueKind, Take};
use millstream_store::Store;
use millstream_tensor::Error;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[derive(Clone, Debug)]
enum Step {
    Enqueue(usize),
    Dequeue(Take, bool),
    Close(bool),
    Cancel(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (1usize..6).prop_map(Step::Enqueue),
        4 => (1usize..6, any::<bool>()).prop_map(|(n, uses)| Step::Dequeue(Take::Exactly(n), uses)),
        2 => (1usize..6, any::<bool>()).prop_map(|(n, uses)| Step::Dequeue(Take::UpTo(n), uses)),
        1 => any::<bool>().prop_map(Step::Close),
        2 => any::<usize>().prop_map(Step::Cancel),
    ]
}

/// What the steps end with: the values or the words of every attempt that is over, and the size. Of a
/// shuffling queue, which has an order of its own, it is the number of values.
fn play(q: &Arc<Queue>, steps: &[Step]) -> Vec<String> {
    let shuffles = q.spec().kind == QueueKind::RandomShuffle;
    let mut answers: Vec<(Answer, Cancellation)> = Vec::new();
    // The values that came to stay.
    let mut kept = Vec::new();
    let mut value = 0;
    let mut told = Vec::new();
    for step in steps {
        let cancel = Cancellation::new();
        match step {
            Step::Enqueue(n) => {
                let values: Vec<i32> = (value..value + *n as i32).map(|v| v * 7 % 1000).collect();
                value += *n as i32;
                answers.push((enqueue_with(q, values, &cancel), cancel));
            }
            // Items come back in an order that can be foretold only if nobody else takes them meanwhile.
            Step::Dequeue(take, uses) if *uses || answers.iter().any(|(answer, _)| answer.waits()) => {
                let answer = dequeue_with(q, *take, &cancel, true);
                kept.push(answer.clone());
                answers.push((answer, cancel));
            }
            Step::Dequeue(take, _) => {
                let (answer, waiter) = waiter("get", &cancel, false);
                q.dequeue(*take, waiter);
                look(q);
                look(q);
                cancel.cancel(Error::invalid("it waits"));
                answers.push((answer, cancel));
            }
            Step::Close(cancels) => answers.push((close(q, *cancels), cancel)),
            Step::Cancel(which) if !answers.is_empty() => {
                let (_, cancel) = &answers[which % answers.len()];
                cancel.cancel(Error::invalid("enough"));
            }
            Step::Cancel(_) => {}
        }
        let text = |answer: &Answer| match answer.now() {
            None => "waits".to_owned(),
            Some(Ok(values)) if shuffles => format!("{} values", values.len()),
            Some(Ok(values)) => format!("{values:?}"),
            Some(Err(error)) => error.to_string(),
        };
        // What a round ended says in the next that it used its items, or gives them back: others may end.
        let mut all: Vec<String> = Vec::new();
        loop {
            look(q);
            look(q);
            let before =
                std::mem::replace(&mut all, answers.iter().map(|(answer, _)| text(answer)).collect());
            if before == all {
                break;
            }
        }
        told.push(format!("{:?} {}", look(q), all.join("; ")));
    }
    answers.iter().for_each(|(_, cancel)| _ = cancel.cancel(Error::invalid("the end")));
    if shuffles {
        told.push(format!("{} in all", drain(q, &kept, value)));
    }
    told
}

/// Takes what is left, and returns the number of all values that came. Each is one of `n`, and comes once.
fn drain(q: &Arc<Queue>, kept: &[Answer], n: i32) -> usize {
    // Attempts that were cancelled give back what they had.
    (0..3).for_each(|_| _ = look(q));
    close(q, true);
    let (left, _) = look(q);
    let mut all = if left == 0 { Vec::new() } else { dequeue(q, Take::Exactly(left)).values() };
    all.extend(kept.iter().filter_map(|answer| answer.now()?.ok()).flatten());
    all.sort_unstable();
    assert!(all.windows(2).all(|two| two[0] < two[1]), "twice: {all:?}");
    assert!(all.iter().all(|&v| (0..n).any(|i| i * 7 % 1000 == v)), "never enqueued: {all:?}");
    all.len()
}

fn alike(kind: QueueKind, min: usize, tokens: Option<usize>) {
    let Some(server) = Server::start(&[]) else { return };
    let store = Store::at(&server.url("rules")).unwrap();
    let n = AtomicUsize::new(0);
    let case = (1usize..6, prop::collection::vec(step(), 1..24));
    let run = |(capacity, steps): (usize, Vec<Step>)| {
        let mut spec = spec(kind, capacity.max(min + 1));
        spec.min_after_dequeue = min;
        spec.batches.max_tokens = tokens;
        let name = format!("q{}", n.fetch_add(1, Relaxed));
        let expected = play(&here(&name, spec.clone()), &steps);
        let got = play(&stored(&store, &name, spec), &steps);
        prop_assert_eq!(got, expected);
        Ok(())
    };
    let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
    TestRunner::new(config).run(&case, run).unwrap();
}

#[test]
fn first_in_first_out() {
    alike(QueueKind::Fifo, 0, None);
}

#[test]
fn padded_by_tokens() {
    alike(QueueKind::PaddingFifo, 0, Some(3));
}

#[test]
fn by_priority() {
    alike(QueueKind::Priority, 0, None);
}

#[test]
fn shuffled() {
    alike(QueueKind::RandomShuffle, 0, None);
}

#[test]
fn shuffled_with_items_that_stay() {
    alike(QueueKind::RandomShuffle, 3, None);
}
