//! Graphs without loops and branches run step by step. Nothing but time depends on it.

use millstream::prelude::*;
use millstream::{Pass, Passes, Queue, SessionOptions};
use millstream_runtime::FeedList;
use millstream_tensor::Code;
use std::thread;
use std::time::Duration;

fn session(g: &Graph, passes: Passes, threads: usize) -> Session {
    Session::with_options(g, SessionOptions { passes, threads: Some(threads), ..Default::default() }).unwrap()
}

/// Whether a plan of these fetches runs step by step.
fn is_straight(g: &Graph, fetches: &[Output<'_>], feeds: &[Output<'_>]) -> bool {
    let listing = session(g, Passes::default(), 1).listing(fetches.to_vec(), feeds.to_vec()).unwrap();
    listing.contains("step by step")
}

/// Three runs in each of several sessions give the bits of a run by tokens.
#[track_caller]
fn same(g: &Graph, fetches: &[Output<'_>], feeds: &[(Output<'_>, Tensor)]) -> Vec<Tensor> {
    let run = |session: &Session| {
        let given = feeds.iter().fold(FeedList::new(), |all, (to, value)| all.and(*to, value));
        session.run::<Vec<Tensor>>(fetches.to_vec(), given).unwrap()
    };
    let want = run(&session(g, Passes::default().without(Pass::Straight), 1));
    for threads in [1, 2] {
        let session = session(g, Passes::default(), threads);
        for n in 0..3 {
            for (i, (a, b)) in want.iter().zip(&run(&session)).enumerate() {
                assert_eq!(a.shape(), b.shape());
                assert_eq!(a.as_bytes(), b.as_bytes(), "fetch {i} of run {n} on {threads} threads: {a} {b}");
            }
        }
    }
    want
}

fn numbers(n: usize) -> Tensor {
    Tensor::vector(&(0..n).map(|i| (i * 7 % 23) as f32 / 16.0 - 0.5).collect::<Vec<_>>()).unwrap()
}

/// More steps than run between two looks at the clock, with values that several steps read, and a value that
/// is fed and fetched.
#[test]
fn many_steps_give_what_tokens_give() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", shape![_]);
    let (mut y, mut fetches) = (x, vec![x]);
    for i in 0..400 {
        y = g.op("Maximum").inputs([y * 0.75 + x, y.reduce_sum(0) * 0.01]).output();
        if i % 100 == 0 {
            fetches.push(y);
        }
    }
    fetches.push(y);
    assert!(is_straight(&g, &fetches, &[x]));
    let values = same(&g, &fetches, &[(x, numbers(5))]);
    assert_eq!(values[0].as_slice::<f32>().unwrap(), numbers(5).as_slice::<f32>().unwrap());
}

/// A product that is worth another thread ends the steps. What they have computed goes on as tokens.
#[test]
fn a_long_node_goes_to_another_thread() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", [200, 200]);
    let (small, shared) = (x.reduce_sum(1) * 0.5, x * 0.25);
    let long = g.op("MatMul").inputs([shared, x]).output();
    let other = g.op("MatMul").inputs([x + 1.0, shared]).output();
    let most = g.op("Max").input(long).input(0).output();
    let fetches = [most + small, other - shared, small, (long * other).reduce_sum(())];
    assert!(is_straight(&g, &fetches, &[x]));
    same(&g, &fetches, &[(x, numbers(40_000).reshape([200, 200]).unwrap())]);
}

/// A step that has to wait ends the steps too, in every run.
#[test]
fn a_step_that_waits_goes_on_by_tokens() {
    let g = Graph::new();
    let q = Queue::fifo(&g, 3, [DType::I32]).shapes([shape![]]).build().unwrap();
    let item = g.placeholder::<i32>("item", shape![]);
    let put = q.enqueue(item).unwrap();
    let [taken] = q.dequeue().unwrap().all().unwrap();
    let result = g.stack([taken * 2 + 1, taken], 0).reduce_sum(());
    assert!(is_straight(&g, &[result], &[]));
    let s = session(&g, Passes::default(), 2);
    let take = s.make_callable(result, []).unwrap();
    thread::scope(|scope| {
        let taker = scope.spawn(move || {
            (0..40).map(|_| take.call(&[]).unwrap()[0].to_scalar::<i32>().unwrap()).collect::<Vec<_>>()
        });
        for i in 0..40 {
            // Some are there before they are asked for.
            if i % 4 == 0 {
                thread::sleep(Duration::from_millis(5));
            }
            s.run::<()>(put, feed![item => i]).unwrap();
        }
        let want: Vec<i32> = (0..40).map(|i| 3 * i + 1).collect();
        assert_eq!(taker.join().unwrap(), want);
    });
}

/// An error names the step, and the next run is not troubled by it.
#[test]
fn an_error_names_its_step() {
    let g = Graph::new();
    let at = g.placeholder::<i32>("at", shape![]);
    let row = g.op("Gather").name("the_row").input(g.constant([10, 20, 30]) + at).input(at).output();
    let result = row * 2;
    assert!(is_straight(&g, &[result], &[at]));
    let s = session(&g, Passes::default(), 1);
    for i in 0..3 {
        assert_eq!(s.run::<i32>(result, feed![at => i]).unwrap(), 2 * (10 * (i + 1) + i));
        let error = s.run::<i32>(result, feed![at => 3]).unwrap_err();
        assert_eq!((error.code(), error.node()), (Code::InvalidArgument, Some("the_row")), "{error}");
    }
}

/// A constant that a kernel may write in place stays what it is.
/// Nothing in the plan has an input.
#[test]
fn a_node_alone_runs() {
    let g = Graph::new();
    let size = g.op("StageSize").attr("dtypes", vec![DType::F32]).try_finish().unwrap();
    let session = session(&g, Passes::default(), 1);
    for _ in 0..2 {
        session.run::<()>(size, feed![]).unwrap();
    }
}

#[test]
fn constants_stay() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", [3]);
    let constant = g.constant([1.0f32, 2.0, 3.0]);
    let fetches = [constant + x, constant, x - constant];
    assert!(is_straight(&g, &fetches, &[x]));
    same(&g, &fetches, &[(x, numbers(3))]);
}

/// Branches and loops stay with the tokens, and so does a graph whose steps are left out.
#[test]
fn branches_and_loops_are_not_straight() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", shape![]);
    let chosen = g.cond(x.less(0.0), || x * 2.0, || x + 1.0).unwrap();
    let (_, looped) =
        g.while_loop((g.constant(0), x)).run(|(i, _)| i.less(3), |(i, x)| (i + 1, x * x)).unwrap();
    let plain = x * 3.0;
    assert!(!is_straight(&g, &[chosen], &[x]) && !is_straight(&g, &[looped], &[x]));
    assert!(is_straight(&g, &[plain], &[x]));
    let without = session(&g, Passes::default().without(Pass::Straight), 1);
    assert!(!without.listing(vec![plain], vec![x]).unwrap().contains("step by step"));
}
