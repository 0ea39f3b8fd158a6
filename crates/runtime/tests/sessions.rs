//! Sessions: feeds and fetches of any kind, state between runs, many runs at a time, clean errors.

use millstream_graph::{Arg, Graph, Output};
use millstream_runtime::{Session, SessionOptions, feed};
use millstream_tensor::{C64, C128, Code, DType, Error, Result, Tensor, bf16, f16, shape};
use std::sync::Arc;

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn less<'g>(a: Output<'g>, b: impl Into<Arg<'g>>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn threads(n: usize) -> SessionOptions {
    SessionOptions { threads: Some(n), ..SessionOptions::default() }
}

#[track_caller]
fn fails<T>(result: Result<T>, code: Code, parts: &[&str]) -> Error {
    let Err(error) = result else { panic!("that should have failed") };
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "no `{part}` in\n{error}");
    }
    error
}

/// A resource variable: its handle, its initialiser, and a read.
fn variable<'g>(g: &'g Graph, name: &str, start: f32) -> (Output<'g>, millstream_graph::Op<'g>) {
    let handle = g
        .op("VarHandleOp")
        .attr("dtype", DType::F32)
        .attr("shape", shape![])
        .attr("shared_name", name)
        .output();
    let value = g.constant(start);
    (handle, g.op("AssignVariableOp").input(handle).input(value).finish())
}

fn read(handle: Output<'_>) -> Output<'_> {
    handle.graph().op("ReadVariableOp").input(handle).attr("dtype", DType::F32).output()
}

fn add_one(handle: Output<'_>) -> millstream_graph::Op<'_> {
    let one = handle.graph().constant(1.0f32);
    handle.graph().op("AssignAddVariableOp").input(handle).input(one).finish()
}

#[test]
fn any_structure_is_fetched() -> Result<()> {
    let g = graph();
    let (a, b) = (g.constant(1), g.constant(2.5f32));
    let nothing = g.op("NoOp").finish();
    let session = Session::new(&g)?;
    let ((x, y), (), again): ((i32, f32), (), i32) = session.run(((a, b), nothing, a), ())?;
    assert_eq!((x, y, again), (1, 2.5, 1));
    let all: Vec<Tensor> = session.run(vec![a, b, a, a], ())?;
    assert_eq!(
        all.iter().map(Tensor::dtype).collect::<Vec<_>>(),
        [DType::I32, DType::F32, DType::I32, DType::I32]
    );
    let pair: [i32; 2] = session.run([a, a], ())?;
    assert_eq!(pair, [1, 1]);
    let () = session.run(nothing, ())?;
    let () = session.run((), ())?;
    fails(session.run::<i32>(nothing, ()), Code::InvalidArgument, &["an operation has no value"]);
    fails(session.run::<(i32, i32)>(a, ()), Code::InvalidArgument, &["fewer values"]);
    fails(
        session.run::<i32>((a, a), ()),
        Code::InvalidArgument,
        &["the fetches have 1 more value(s) than the result type"],
    );
    let name = format!("the value is that of the fetch `{}`", a.name());
    fails(session.run::<f32>(a, ()), Code::InvalidArgument, &["i32", &name]);
    fails(
        session.run::<()>(a, ()),
        Code::InvalidArgument,
        &["the result type is `()`", "session.run::<f32>", &name],
    );
    Ok(())
}

#[test]
fn names_are_fetched_and_fed() -> Result<()> {
    let g = graph();
    let a = g.constant_tensor("count", Tensor::scalar(1));
    let _sum = a + a;
    let session = Session::new(&g)?;
    let sum: (i32, i32) = session.run(("add:0", String::from("count")), feed!["count:0" => 20])?;
    assert_eq!(sum, (40, 20));
    let () = session.run("^add", feed![])?;
    let help = ["the graph has no node `coumt`", "did you mean `count`?"];
    fails(session.run::<i32>("coumt:0", feed![]), Code::NotFound, &help);
    fails(session.run::<i32>("add", feed!["coumt" => 1]), Code::NotFound, &help);
    Ok(())
}

#[test]
fn every_feedable_dtype_is_fed() -> Result<()> {
    let values = [
        Tensor::scalar(1.5f32),
        Tensor::scalar(-2.5f64),
        Tensor::scalar(-3i8),
        Tensor::scalar(-4i16),
        Tensor::scalar(-5i32),
        Tensor::scalar(-6i64),
        Tensor::scalar(7u8),
        Tensor::scalar(8u16),
        Tensor::scalar(9u32),
        Tensor::scalar(10u64),
        Tensor::scalar(true),
        Tensor::scalar(f16::from_f32(0.5)),
        Tensor::scalar(bf16::from_f32(0.5)),
        Tensor::scalar(C64::new(1.0, 2.0)),
        Tensor::scalar(C128::new(1.0, 2.0)),
        Tensor::str("text"),
    ];
    let g = graph();
    let fed: Vec<(Output, Tensor)> =
        values.iter().map(|v| (g.placeholder_of("p", v.dtype(), shape![]), v.clone())).collect();
    let out: Vec<Output> = fed.iter().map(|(p, _)| g.op("Identity").input(*p).output()).collect();
    let session = Session::new(&g)?;
    let got: Vec<Tensor> = session.run(out, fed)?;
    for (got, value) in got.iter().zip(&values) {
        assert_eq!((got.dtype(), got.to_string()), (value.dtype(), value.to_string()));
    }
    Ok(())
}

#[test]
fn tensors_on_the_way_are_fed() -> Result<()> {
    let g = graph();
    let unfed = g.placeholder_of("unfed", DType::F32, shape![2]);
    let middle = unfed + 1.0f32;
    let out = middle * 2.0f32;
    let session = Session::new(&g)?;
    let (m, o): (Vec<f32>, Vec<f32>) = session.run((middle, out), feed![middle => [1.0f32, 2.0]])?;
    assert_eq!((m, o), (vec![1.0, 2.0], vec![2.0, 4.0]));
    let error = fails(
        session.run::<Tensor>(out, ()),
        Code::InvalidArgument,
        &["You must feed a value for placeholder tensor 'unfed' with dtype float and shape [2]", "unfed:0"],
    );
    assert!(error.built_at().is_some_and(|at| at.file().ends_with("sessions.rs")), "{error}");
    fails(
        session.run::<Tensor>(out, feed![unfed => [1i32, 2]]),
        Code::InvalidArgument,
        &["`unfed:0` takes f32 but was fed i32[2]"],
    );
    fails(
        session.run::<Tensor>(out, feed![unfed => [1.0f32, 2.0, 3.0]]),
        Code::InvalidArgument,
        &["`unfed:0` takes shape [2]", "[3]"],
    );
    fails(
        session.run::<Tensor>(out, feed![unfed => [1.0f32, 2.0], unfed => [1.0f32, 2.0]]),
        Code::InvalidArgument,
        &["`unfed:0` is fed twice"],
    );
    Ok(())
}

#[test]
fn dead_values_and_values_inside_loops_are_not_fetched() -> Result<()> {
    let g = graph();
    let pred = g.placeholder_of("pred", DType::Bool, shape![]);
    let (no, yes) = g.switch(g.constant(1), pred);
    let (no, yes) = (no + 1, yes + 2);
    let mut inside = None;
    let out: Output = g.while_loop(0).run(
        |i| less(i, 3),
        |i| {
            inside = Some(i + 1);
            i + 1
        },
    )?;
    for n in [1, 2] {
        let session = Session::with_options(&g, threads(n))?;
        let y: i32 = session.run(yes, feed![pred => true])?;
        assert_eq!(y, 3);
        fails(session.run::<i32>(no, feed![pred => true]), Code::InvalidArgument, &["`add:0`", "not taken"]);
        fails(session.run::<Tensor>(inside.unwrap_or(out), ()), Code::InvalidArgument, &["while"]);
        let i: i32 = session.run(out, ())?;
        assert_eq!(i, 3);
    }
    Ok(())
}

#[test]
fn variables_live_from_run_to_run_and_may_be_shared() -> Result<()> {
    let g = graph();
    let (v, init) = variable(&g, "v", 1.0);
    let (value, add) = (read(v), add_one(v));
    let session = Session::new(&g)?;
    fails(session.run::<f32>(value, ()), Code::FailedPrecondition, &["v"]);
    let () = session.run(init, ())?;
    let () = session.run(add, ())?;
    let () = session.run(add, ())?;
    assert_eq!(session.run::<f32>(value, ())?, 3.0);
    let options =
        SessionOptions { resources: Some(session.resources().clone()), ..SessionOptions::default() };
    let shares = Session::with_options(&g, options)?;
    let () = shares.run(add, ())?;
    assert_eq!(session.run::<f32>(value, ())?, 4.0);
    let own = Session::new(&g)?;
    fails(own.run::<f32>(value, ()), Code::FailedPrecondition, &["v"]);
    // Nodes made between runs take part in the next run.
    let doubled = value * 2.0f32;
    assert_eq!(session.run::<f32>(doubled, ())?, 8.0);
    Ok(())
}

#[test]
fn a_thousand_runs_at_a_time() -> Result<()> {
    let g = graph();
    let (v, init) = variable(&g, "v", 0.0);
    let (value, add) = (read(v), add_one(v));
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let i: Output = g.while_loop(0).run(|i| less(i, n), |i| i + 1)?;
    let session = Session::with_options(&g, threads(2))?;
    let () = session.run(init, ())?;
    let callable = session.make_callable((i, add), [n])?;
    std::thread::scope(|s| -> Result<()> {
        let workers: Vec<_> = (0..8)
            .map(|w| {
                let (session, callable) = (&session, &callable);
                s.spawn(move || -> Result<()> {
                    for k in 0..125 {
                        let limit = w * 125 + k;
                        let got: i32 = match k % 2 {
                            0 => session.run::<(i32, ())>((i, add), feed![n => limit])?.0,
                            _ => callable.call_as::<(i32, ())>(&[Tensor::scalar(limit)])?.0,
                        };
                        assert_eq!(got, limit);
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| Err(Error::internal("panicked"))))
    })?;
    assert_eq!(session.run::<f32>(value, ())?, 1000.0);
    Ok(())
}

#[test]
fn the_memory_limit_names_the_op() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![1]);
    let big = g.op("Fill").input(n).input(1.0f32).name("big").output();
    for n_threads in [1, 2] {
        let options = SessionOptions { memory_limit: Some(1 << 20), ..threads(n_threads) };
        let session = Session::with_options(&g, options)?;
        fails(
            session.run::<Tensor>(big, feed![n => [10_000_000i32]]),
            Code::ResourceExhausted,
            &["`big` (Fill)"],
        );
        let few: Vec<f32> = session.run(big, feed![n => [2i32]])?;
        assert_eq!(few, [1.0, 1.0]);
    }
    Ok(())
}

#[test]
fn strings_count_against_the_memory_limit() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let doubled = g.while_loop((0, "ab")).run(
        |(i, _): (Output, Output)| less(i, n),
        |(i, s): (Output, Output)| (i + 1, g.op("StringJoin").input(s).input(s).name("double").output()),
    )?;
    let text = g.op("StringLength").input(doubled.1).output();
    let dims = g.op("ExpandDims").input(n).input(0).output();
    let many = g.op("Fill").input(dims).input("ab").name("many").output();
    let joined = g.op("ReduceJoin").input(many).input(0).name("joined").output();
    let count = g.op("Size").input(many).output();
    let length = g.op("StringLength").input(joined).output();
    for n_threads in [1, 2] {
        let options = SessionOptions { memory_limit: Some(1 << 20), ..threads(n_threads) };
        let session = Session::with_options(&g, options)?;
        // One string of 2^41 bytes; a million handles of one string.
        fails(session.run::<i32>(text, feed![n => 40]), Code::ResourceExhausted, &["double` (StringJoin)"]);
        fails(session.run::<i32>(count, feed![n => 1_000_000]), Code::ResourceExhausted, &["`many` (Fill)"]);
        // The handles fit, but the strings together do not.
        fails(
            session.run::<i32>(length, feed![n => 120_000]),
            Code::ResourceExhausted,
            &["`joined` (ReduceJoin)"],
        );
        // A run returns its memory: this takes most of the limit each time.
        for _ in 0..10 {
            assert_eq!(session.run::<i32>(text, feed![n => 17])?, 2 << 17);
        }
    }
    Ok(())
}

#[test]
fn errors_inside_loops_say_where() -> Result<()> {
    let g = graph();
    let (_, x): (Output, Output) = g.while_loop((0, 3.0f32)).run(
        |(i, _)| less(i, 10),
        |(i, x)| {
            let next =
                g.op("CheckNumerics").input(x / x).attr("message", "not finite").name("checked").output();
            (i + 1, (x - 1.0f32) * next)
        },
    )?;
    for (n, hand_out_all) in [(1, false), (2, false), (4, true)] {
        let session = Session::with_options(&g, SessionOptions { hand_out_all, ..threads(n) })?;
        fails(
            session.run::<f32>(x, ()),
            Code::InvalidArgument,
            &["not finite", "while/checked", "iteration 3 of loop `while/while_context`"],
        );
    }
    Ok(())
}

#[test]
fn parallel_iterations_without_bound() -> Result<()> {
    let g = graph();
    let (i, sum): (Output, Output) = g
        .while_loop((0, 0))
        .parallel_iterations(i64::from(i32::MAX))
        .run(|(i, _)| less(i, 5000), |(i, s)| (i + 1, s + i))?;
    for parallel_iterations in [None, Some(1), Some(u32::MAX)] {
        for (n, hand_out_all) in [(1, false), (2, true)] {
            let options = SessionOptions { parallel_iterations, hand_out_all, ..threads(n) };
            let session = Session::with_options(&g, options)?;
            let got: (i32, i32) = session.run((i, sum), ())?;
            assert_eq!(got, (5000, 4999 * 2500));
        }
    }
    Ok(())
}

#[test]
fn a_closed_session_runs_nothing() -> Result<()> {
    let g = graph();
    let a = g.constant(1);
    let session = Session::new(&g)?;
    let callable = session.make_callable(a, [])?;
    session.close();
    fails(session.run::<i32>(a, ()), Code::Cancelled, &["closed"]);
    fails(callable.call(&[]), Code::Cancelled, &["closed"]);
    fails(session.make_callable(a, []), Code::Cancelled, &["closed"]);
    fails(session.partial_run_setup(a, []), Code::Cancelled, &["closed"]);
    Ok(())
}

/// A constant in the frame that `near` is in.
fn inside<'g>(near: Output<'g>, value: i32) -> Output<'g> {
    let node = near.graph().op("Const").attr("dtype", DType::I32).attr("value", Tensor::scalar(value));
    node.control(near.op()).output()
}

/// The rest of a loop variable that counts to 10: takes the merge, returns the exit.
fn count<'g>(g: &'g Graph, value: Output<'g>) -> (Output<'g>, Output<'g>, Output<'g>) {
    let pred = g.loop_cond(less(value, inside(value, 10)));
    let (done, again) = g.switch(value, pred);
    (g.exit(done), g.next_iteration(again + inside(again, 1)), pred)
}

#[test]
fn a_run_that_cannot_go_on_says_why() -> Result<()> {
    // A second variable enters with the first one's final value, which takes more iterations than may be
    // alive.
    let g = graph();
    let (i, back) = g.loop_var(g.enter_as(g.constant(0), "tied", false, 1));
    let (end, next, pred) = count(&g, i);
    back.close(next)?;
    let (j, back) = g.loop_var(g.enter_as(end, "tied", false, 1));
    let (done, again) = g.switch(j, pred);
    back.close(g.next_iteration(again))?;
    let out = g.exit(done);
    for n in [1, 2] {
        let session = Session::with_options(&g, threads(n))?;
        let tied = session.run::<i32>(out, ());
        let parts =
            ["is stuck", "loop `tied`: 1 iterations alive, 1 of 2 Enters missing", "has got no input"];
        fails(tied, Code::InvalidArgument, &parts);
        assert_eq!(session.run::<i32>(end, ())?, 10);
    }
    Ok(())
}

#[test]
fn a_merge_that_nothing_enters_is_an_error() {
    let g = graph();
    let merge = g.op("Merge").input(Arg::open()).input(Arg::open()).name("lonely").finish();
    count(&g, merge.output(0));
    fails(g.check(), Code::InvalidArgument, &["Merge"]);
}

#[test]
fn sessions_go_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Session>();
    is_shared::<millstream_runtime::Callable>();
    is_shared::<millstream_runtime::PartialRun>();
    is_shared::<Arc<Session>>();
}
