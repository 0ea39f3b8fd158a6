//! Runs in several parts: each feed and fetch once, nothing computed twice, and the errors where that does
//! not hold.

use millstream_graph::{Graph, Output};
use millstream_runtime::{Session, SessionOptions, feed};
use millstream_tensor::{Code, DType, Result, Tensor, shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

/// `a + b` and `(a + b) * c`, with three placeholders.
fn sums(g: &Graph) -> [Output<'_>; 5] {
    let [a, b, c] = ["a", "b", "c"].map(|name| g.placeholder_of(name, DType::F32, shape![]));
    let sum = a + b;
    [a, b, c, sum, sum * c]
}

#[track_caller]
fn refused<T>(result: Result<T>, parts: &[&str]) {
    let Err(error) = result else { panic!("that should have failed") };
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "no `{part}` in\n{error}");
    }
}

#[test]
fn feeds_come_as_they_are_known() -> Result<()> {
    for threads in [1, 2] {
        let g = graph();
        let [a, b, c, sum, product] = sums(&g);
        let session = Session::with_options(
            &g,
            SessionOptions { threads: Some(threads), hand_out_all: threads > 1, ..SessionOptions::default() },
        )?;
        let run = session.partial_run_setup((sum, product), [a, b, c])?;
        let s: f32 = session.partial_run(&run, sum, feed![a => 1.0f32, b => 2.0f32])?;
        let p: f32 = session.partial_run(&run, product, feed![c => s * 17.0])?;
        assert_eq!((s, p), (3.0, 153.0));
    }
    Ok(())
}

#[test]
fn nothing_is_computed_twice() -> Result<()> {
    let g = graph();
    let [a, b, c, sum, _] = sums(&g);
    let shown = g.op("Print").input(sum).inputs([sum]).attr("message", "sum ").output();
    let product = shown * c;
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let print = move |text: &str| {
        assert_eq!(text, "sum [3]\n");
        counter.fetch_add(1, Relaxed);
    };
    let options = SessionOptions { print: Some(Box::new(print)), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    let run = session.partial_run_setup([shown, product], [a, b, c])?;
    let () = session.partial_run(&run, (), feed![a => 1.0f32])?;
    let () = session.partial_run(&run, (), feed![b => 2.0f32])?;
    let _: f32 = session.partial_run(&run, shown, ())?;
    let p: f32 = session.partial_run(&run, product, feed![c => 2.0f32])?;
    assert_eq!((p, count.load(Relaxed)), (6.0, 1));
    Ok(())
}

#[test]
fn what_is_refused_changes_nothing() -> Result<()> {
    let g = graph();
    let [a, b, c, sum, product] = sums(&g);
    let other = a - b;
    let session = Session::new(&g)?;
    let run = session.partial_run_setup(sum, [a, b])?;
    refused(session.partial_run::<f32>(&run, sum, feed![c => 1.0f32]), &["`c:0`", "not named in the setup"]);
    let run = session.partial_run_setup([sum, product], [a, b, c])?;
    refused(session.partial_run::<f32>(&run, other, ()), &["`sub:0`", "not named in the setup"]);
    refused(session.partial_run::<f32>(&run, sum, feed![a => 1.0f32]), &["`add:0`", "needs `b:0`"]);
    refused(session.partial_run::<f32>(&run, product, ()), &["needs `a:0`, `b:0`, `c:0`"]);
    refused(session.partial_run::<f32>(&run, sum, feed![a => 1i32, b => 1.0f32]), &["`a:0` takes f32"]);
    let s: f32 = session.partial_run(&run, sum, feed![a => 1.0f32, b => 2.0f32])?;
    assert_eq!(s, 3.0);
    refused(
        session.partial_run::<f32>(&run, product, feed![a => 1.0f32, c => 1.0f32]),
        &["`a:0`", "fed already"],
    );
    refused(session.partial_run::<f32>(&run, sum, ()), &["`add:0`", "fetched already"]);
    let p: f32 = session.partial_run(&run, product, feed![c => 4.0f32])?;
    assert_eq!(p, 12.0);
    let elsewhere = Session::new(&g)?;
    refused(elsewhere.partial_run::<f32>(&run, sum, ()), &["another session"]);
    session.close();
    assert_eq!(session.partial_run::<f32>(&run, sum, ()).map_err(|e| e.code()), Err(Code::Cancelled));
    Ok(())
}

#[test]
fn an_error_ends_the_run() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F32, shape![]);
    let y = g.placeholder_of("y", DType::F32, shape![]);
    let bad = g.op("CheckNumerics").input(x).attr("message", "bad x").output();
    let session = Session::new(&g)?;
    let next = y + 1.0f32;
    let run = session.partial_run_setup([bad, next], [x, y])?;
    refused(session.partial_run::<f32>(&run, bad, feed![x => f32::NAN]), &["bad x", "CheckNumerics"]);
    refused(session.partial_run::<f32>(&run, next, feed![y => 1.0f32]), &["bad x", "CheckNumerics"]);
    Ok(())
}

#[test]
fn operations_and_loops_take_part() -> Result<()> {
    let g = graph();
    let limit = g.placeholder_of("limit", DType::I32, shape![]);
    let step = g.placeholder_of("step", DType::I32, shape![]);
    let i: Output = g.while_loop(0).run(|i| g.op("Less").input(i).input(limit).output(), |i| i + 1)?;
    let j: Output = g.while_loop(0).run(|j| g.op("Less").input(j).input(i).output(), |j| j + step)?;
    let done = g.op("NoOp").control(j.op()).finish();
    for threads in [1, 2] {
        let session = Session::with_options(
            &g,
            SessionOptions { threads: Some(threads), ..SessionOptions::default() },
        )?;
        let run = session.partial_run_setup((i, j, done), [limit, step])?;
        refused(session.partial_run::<()>(&run, done, feed![limit => 10]), &["`NoOp`", "needs `step:0`"]);
        let n: i32 = session.partial_run(&run, i, feed![limit => 10])?;
        let (m, ()): (Tensor, ()) = session.partial_run(&run, (j, done), feed![step => 3])?;
        assert_eq!((n, m.to_scalar::<i32>()?), (10, 12));
    }
    Ok(())
}
