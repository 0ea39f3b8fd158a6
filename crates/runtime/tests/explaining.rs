//! What a session reports: what a run would do, what the session holds, and how far a run is.

use crate::common::{dequeue, fifo, graph};
use millstream_graph::{Graph, Op, Output};
use millstream_runtime::{
    Fate, Poll, Progress, RunOptions, Session, SessionOptions, ShowProgress, Target, Tier, feed,
};
use millstream_tensor::{Code, DType, Error, Result, Tensor, shape};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn less<'g>(a: Output<'g>, b: Output<'g>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn add<'g>(a: Output<'g>, b: Output<'g>) -> Output<'g> {
    a.graph().op("AddV2").input(a).input(b).output()
}

fn int(g: &Graph, value: i32) -> Output<'_> {
    g.op("Const").attr("value", Tensor::scalar(value)).attr("dtype", DType::I32).output()
}

/// A loop that counts from `from` in steps of `step` up to the limit.
fn count<'g>(from: Output<'g>, limit: Output<'g>, step: i32) -> Result<Output<'g>> {
    let g = from.graph();
    g.while_loop(from).parallel_iterations(4).run(|i| less(i, limit), |i| add(i, int(g, step)))
}

#[test]
fn a_run_is_explained() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let six = g.op("Mul").input(int(&g, 2)).input(int(&g, 3)).name("six").output();
    let last = count(int(&g, 0), six, 1)?;
    let out = add(add(last, n), six);
    let _unused = g.op("Neg").input(n).name("unused").output();
    let session = Session::new(&g)?;
    let told = session.explain(out, [n])?;
    assert_eq!(
        (told.fed.as_slice(), told.assumed.as_slice()),
        (["n:0".to_owned()].as_slice(), [].as_slice())
    );
    assert!(told.n_needed < told.n_graph);
    let [outside, looped] = told.places.as_slice() else { panic!("{told}") };
    let fate =
        |name: &str| told.places.iter().flat_map(|p| &p.nodes).find(|n| n.name == name).map(|n| n.fate);
    assert_eq!(fate("six"), Some(Fate::Folded));
    assert_eq!((fate("unused"), fate("n:0")), (None, Some(Fate::Fed)));
    assert_eq!((outside.name.as_str(), outside.depth, looped.depth), ("", 0, 1));
    let of_loop = looped.of_loop.as_ref().unwrap();
    assert_eq!((of_loop.parallel_iterations, of_loop.asked, of_loop.serialized), (4, 4, false));
    assert_eq!(looped.kernels(), [("AddV2", 1), ("Less", 1)]);
    assert_eq!(looped.count(|f| f == Fate::Bypassed), 1);
    assert_eq!(session.holdings().n_plans, 0, "an explanation is no plan");
    // The explanation agrees with the run: a traced run, which folds nothing, runs all nodes that are needed.
    assert_eq!(session.run::<i32>(out, feed![n => 5])?, 17);
    // Without the feed the explanation names what is missing, which is an error in a run.
    assert_eq!(session.explain(out, [])?.assumed, ["n:0"]);
    assert!(session.run::<i32>(out, ()).is_err());
    let text = told.to_string();
    for part in ["outside of loops", "loop while/while_context", "computed beforehand: six", "Fed: n:0."] {
        assert!(text.contains(part), "{part}: {text}");
    }
    session.close();
    assert_eq!(session.explain(out, [n]).unwrap_err().code(), Code::Cancelled);
    Ok(())
}

#[test]
fn the_reference_leaves_nothing_out() -> Result<()> {
    let g = graph();
    let last = count(int(&g, 0), int(&g, 10), 1)?;
    let options = SessionOptions { tier: Tier::Reference, ..SessionOptions::default() };
    let told = Session::with_options(&g, options)?.explain(last, [])?;
    let left_out = |f: Fate| matches!(f, Fate::Folded | Fate::PassedOver | Fate::Fused(_) | Fate::Bypassed);
    assert!(told.places.iter().all(|p| p.count(left_out) == 0), "{told}");
    assert!(told.to_string().contains("reference evaluation"));
    Ok(())
}

#[test]
fn bounds_are_told_where_constants_say() -> Result<()> {
    for (from, limit, step, bound) in
        [(0, 10, 1, 10), (3, 10, 2, 4), (5, 5, 1, 0), (7, 5, 1, 0), (0, 10, 0, -1)]
    {
        let g = graph();
        let last = count(int(&g, from), int(&g, limit), step)?;
        let told = Session::new(&g)?.explain(last, [])?;
        let found = told.places[1].of_loop.as_ref().and_then(|l| l.bound);
        assert_eq!(found, u64::try_from(bound).ok(), "from {from} to {limit} by {step}");
    }
    Ok(())
}

#[test]
fn what_a_session_holds() -> Result<()> {
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let put = g.op("QueueEnqueueV2").input(q).inputs([int(&g, 4)]).finish();
    let session = Session::new(&g)?;
    assert!(session.holdings().to_string().starts_with("No variables, no queues."));
    session.run::<()>(put, ())?;
    let held = session.holdings();
    assert_eq!((held.queues.len(), held.queues[0].len, held.n_plans), (1, 1, 1));
    assert!(held.to_string().contains("1 of 3 items, 1 in, 0 out"), "{held}");
    Ok(())
}

fn shown() -> (ShowProgress, Arc<Mutex<Vec<Progress>>>) {
    let all: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let list = all.clone();
    let mut how = ShowProgress::new(move |p| list.lock().push(p.clone()));
    (how.after, how.every) = (Duration::from_millis(30), Duration::from_millis(20));
    (how, all)
}

#[test]
fn a_run_shows_where_it_is() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let last = count(int(&g, 0), n, 1)?;
    for threads in [1, 2] {
        let options = SessionOptions { threads: Some(threads), ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        let (how, all) = shown();
        let options = RunOptions { progress: Some(how), ..RunOptions::default() };
        let begin = Instant::now();
        let mut size = 1 << 18;
        // However fast the computer is.
        while all.lock().len() < 4 && begin.elapsed() < Duration::from_secs(60) {
            all.lock().clear();
            size *= 2;
            assert_eq!(session.run_with::<i32>(last, feed![n => size], &options)?.0, size);
        }
        let all = all.lock();
        let (end, before) = all.split_last().unwrap();
        assert!(end.over && before.iter().all(|p| !p.over));
        let counts: Vec<u64> = before.iter().map(|p| p.loops[0].iterations).collect();
        assert!(counts.is_sorted() && counts[0] < counts[counts.len() - 1], "{counts:?}");
        assert!(before.iter().all(|p| p.loops[0].bound == Some(size as u64)), "{before:?}");
        assert!(before[0].loops[0].rate.is_none() && before[1].loops[0].rate.is_some_and(|r| 0.0 < r));
        assert!(Duration::from_millis(30) <= before[0].elapsed && before[0].elapsed <= end.elapsed);
    }
    Ok(())
}

#[test]
fn short_runs_show_nothing_and_waits_show_the_time() -> Result<()> {
    let g = graph();
    let last = count(int(&g, 0), int(&g, 10), 1)?;
    let get = dequeue(fifo(&g, "FIFOQueueV2", 3, shape![]));
    let session = Session::new(&g)?;
    let (how, all) = shown();
    let mut options = RunOptions { progress: Some(how), ..RunOptions::default() };
    assert_eq!(session.run_with::<i32>(last, (), &options)?.0, 10);
    assert!(all.lock().is_empty());
    options.timeout = Some(Duration::from_millis(400));
    let late = session.run_with::<i32>(get, (), &options).unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded);
    let all = all.lock();
    assert!(1 < all.len() && all[0].loops.is_empty() && all[all.len() - 1].over, "{all:?}");
    Ok(())
}

fn squared(x: Output<'_>) -> Op<'_> {
    x.graph().op("MatMul").input(x).input(x).finish()
}

/// A long product, then a loop that never ends by itself, beside a shorter product. The calling thread
/// computes one of the products; where it computes the shorter one, another thread drives the loop.
#[test]
fn a_poll_is_put_whoever_drives() -> Result<()> {
    for sizes in [[900, 200], [200, 900]] {
        let g = graph();
        let square = |n: usize| {
            let x = g.placeholder_of("x", DType::F32, shape![n, n]);
            (x, Tensor::zeros(DType::F32, [n, n]))
        };
        let ((a, a_value), (b, b_value)) = (square(sizes[0]), square(sizes[1]));
        let (first, second) = (squared(a), squared(b));
        let long = if sizes[0] == 900 { first } else { second };
        let start = g.op("Identity").input(int(&g, 0)).control(long).output();
        let last = count(start, int(&g, i32::MAX), 1)?;
        let options = SessionOptions { threads: Some(2), ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        let begin = Instant::now();
        let poll = Poll::new(move || match begin.elapsed() < Duration::from_millis(300) {
            true => Ok(()),
            false => Err(Error::new(Code::Cancelled, "enough")),
        });
        let options = RunOptions { poll: Some(poll), ..RunOptions::default() };
        let fetches = (last, Target::Operation(first.id()), Target::Operation(second.id()));
        let ended = session.run_with::<(i32, (), ())>(fetches, feed![a => a_value?, b => b_value?], &options);
        assert_eq!(ended.unwrap_err().message(), "enough");
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }
    Ok(())
}
