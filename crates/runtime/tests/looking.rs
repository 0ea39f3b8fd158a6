//! Looking inside of loops: values in every iteration, and watches.

use millstream_graph::{Arg, Graph, Output};
use millstream_runtime::{
    Iterations, RunOptions, Session, SessionOptions, Sighting, Tier, Watch, every, feed,
};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Tensor, shape};
use std::cell::Cell;
use std::sync::Arc;

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn op<'g>(name: &'static str, a: Output<'g>) -> Output<'g> {
    a.graph().op(name).input(a).output()
}

fn less<'g>(a: Output<'g>, b: impl Into<Arg<'g>>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn float(i: Output<'_>) -> Output<'_> {
    i.graph().op("Cast").input(i).attr("DstT", DType::F32).output()
}

/// Every way to run a graph.
fn ways() -> Vec<SessionOptions> {
    let way = |tier, threads, parallel, hand_out_all| SessionOptions {
        tier,
        threads: Some(threads),
        parallel_iterations: parallel,
        hand_out_all,
        ..SessionOptions::default()
    };
    let mut ways = Vec::new();
    for parallel in [None, Some(1), Some(2), Some(32)] {
        ways.push(way(Tier::Reference, 1, parallel, false));
        ways.push(way(Tier::Dataflow, 1, parallel, false));
        ways.push(way(Tier::Dataflow, 4, parallel, true));
    }
    ways
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

fn texts(values: &Iterations) -> Vec<String> {
    values.iter().map(|(at, value)| format!("{at:?} {value}")).collect()
}

/// `while i < n: x = x * 2 + i`. Returns `x` in the body, the body's new `x`, and the loop's result.
fn doubling<'g>(g: &'g Graph, n: Output<'g>) -> Result<(Output<'g>, Output<'g>, Output<'g>)> {
    let (old, new) = (Cell::new(None), Cell::new(None));
    let (_, result) = g.while_loop((g.constant(0), g.constant(1.0f32))).run(
        |(i, _)| less(i, n),
        |(i, x)| {
            let next = x * 2.0 + float(i);
            old.set(Some(x));
            new.set(Some(next));
            (i + 1, next)
        },
    )?;
    Ok((old.get().unwrap(), new.get().unwrap(), result))
}

#[test]
fn all_iterations_are_fetched() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let (old, new, result) = doubling(&g, n)?;
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let values: Iterations = session.run(every(new), feed![n => 4])?;
        assert_eq!(texts(&values), ["[0] f32 2", "[1] f32 5", "[2] f32 12", "[3] f32 27"]);
        assert_eq!(
            (values.len(), values.loops(), values.dtype()),
            (4, &["while/while_context".to_owned()][..], DType::F32)
        );
        assert_eq!(values.get(&[2]).unwrap().to_string(), "f32 12");
        assert!(values.get(&[4]).is_none() && values.get(&[]).is_none());
        assert_eq!(values.indices()?.to_string(), "i64[4,1] [[0] [1] [2] [3]]");
        // As any type that a tensor converts to, in any structure, with results and values of other loops.
        let (x, (stacked, last)): (Vec<f32>, (Tensor, f32)) =
            session.run((every(old), (every(new), result)), feed![n => 4])?;
        assert_eq!(x, [1.0, 2.0, 5.0, 12.0]);
        assert_eq!((stacked.to_string(), last), ("f32[4] [2 5 12 27]".to_owned(), 27.0));
        // A prepared run, called again with another number of iterations.
        let call = session.make_callable((every(new), result), [n])?;
        for trips in [2, 0, 3] {
            let (values, last): (Vec<f32>, f32) = call.call_as(&[Tensor::scalar(trips)])?;
            assert_eq!((values.len(), values.last().copied().unwrap_or(1.0)), (trips as usize, last));
            assert_eq!(call.call(&[Tensor::scalar(trips)])?[0].shape().dims(), [trips as usize]);
        }
    }
    Ok(())
}

#[test]
fn the_condition_has_one_more_and_what_never_changes_has_all() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let (seen, asked, captured) = (Cell::new(None), Cell::new(None), Cell::new(None));
    g.while_loop(0i32).run(
        |i: Output<'_>| {
            let more = less(i, n);
            seen.set(Some(i));
            asked.set(Some(more));
            more
        },
        |i| {
            captured.set(Some(n * 3));
            i + 1
        },
    )?;
    let get = |cell: &Cell<Option<Output<'_>>>| cell.get().unwrap().port();
    let output = |cell| Output::new(&g, get(cell));
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        assert_eq!(session.run::<Vec<i32>>(every(output(&seen)), feed![n => 3])?, [0, 1, 2, 3]);
        assert_eq!(
            session.run::<Vec<bool>>(every(output(&asked)), feed![n => 3])?,
            [true, true, true, false]
        );
        assert_eq!(session.run::<Vec<i32>>(every(output(&captured)), feed![n => 3])?, [9, 9, 9]);
        // The Enter itself has the same value in every iteration, the last condition's included.
        assert_eq!(session.run::<Vec<i32>>(every(g.output("while/Less/Enter:0")?), feed![n => 3])?, [3; 4]);
    }
    Ok(())
}

/// `i * 10 + j` for i < 3, j < i + first. The result is the sum.
fn triangle<'g>(g: &'g Graph, first: i32, inner: &Cell<Option<Output<'g>>>) -> Result<Output<'g>> {
    let (_, sum) = g.while_loop((g.constant(0), g.constant(0))).run(
        |(i, _)| less(i, 3),
        |(i, sum)| {
            let looped = g.while_loop((g.constant(0), sum)).run(
                |(j, _)| less(j, i + first),
                |(j, sum)| {
                    let value = i * 10 + j;
                    inner.set(Some(value));
                    (j + 1, sum + value)
                },
            );
            (i + 1, looped.unwrap().1)
        },
    )?;
    Ok(sum)
}

#[test]
fn nested_loops_give_their_iterations() -> Result<()> {
    let g = graph();
    let inner = Cell::new(None);
    let sum = triangle(&g, 0, &inner)?;
    let (inner, square) = (inner.get().unwrap(), Cell::new(None));
    g.while_loop(0i32).run(
        |i| less(i, 2),
        |i: Output<'_>| {
            g.while_loop(g.constant(0))
                .run(
                    |j| less(j, 3),
                    |j| {
                        square.set(Some(g.op("Pack").inputs(vec![i, j]).output()));
                        j + 1
                    },
                )
                .unwrap();
            i + 1
        },
    )?;
    let square = square.get().unwrap();
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let (values, total): (Iterations, i32) = session.run((every(inner), sum), ())?;
        assert_eq!(texts(&values), ["[1, 0] i32 10", "[2, 0] i32 20", "[2, 1] i32 21"]);
        assert_eq!((values.stack()?.to_string(), total), ("i32[3] [10 20 21]".to_owned(), 51));
        fails(values.stack_by_loop(), Code::InvalidArgument, &["no value in iteration (0, 0)", "`stack`"]);
        // An inner loop whose result nothing reads can still be looked into.
        let values: Iterations = session.run(every(square), ())?;
        assert_eq!(values.stack()?.shape().dims(), [6, 2]);
        assert_eq!(
            values.stack_by_loop()?.to_string(),
            "i32[2,3,2] [[[0 0] [0 1] [0 2]] [[1 0] [1 1] [1 2]]]"
        );
    }
    Ok(())
}

#[test]
fn shapes_that_grow_are_not_stacked() -> Result<()> {
    let g = graph();
    let grown = Cell::new(None);
    g.while_loop(g.constant([1.0f32])).shape_invariants(PartialShape::unknown_of_rank(1)).run(
        |v| less(op("Size", v), 8),
        |v| {
            let next = g.op("ConcatV2").inputs(vec![v, v]).input(0i32).output();
            grown.set(Some(next.port()));
            next
        },
    )?;
    let grown = Output::new(&g, grown.get().unwrap());
    let session = Session::new(&g)?;
    let values: Iterations = session.run(every(grown), ())?;
    let shapes: Vec<_> = values.iter().map(|(_, v)| v.shape().dims().to_vec()).collect();
    assert_eq!(shapes, [[2], [4], [8]]);
    let parts = ["shape [2] in iteration 0", "shape [4] in iteration 1", "`Iterations`"];
    fails(values.stack(), Code::InvalidArgument, &parts);
    fails(session.run::<Tensor>(every(grown), ()), Code::InvalidArgument, &parts);
    Ok(())
}

#[test]
fn branches_not_taken_have_no_values() -> Result<()> {
    let g = graph();
    let even = Cell::new(None);
    g.while_loop((g.constant(0), g.constant(0))).run(
        |(i, _)| less(i, 5),
        |(i, x)| {
            let is_even =
                g.op("Equal").input(g.op("FloorMod").input(i).input(2i32).output()).input(0i32).output();
            let taken = || {
                let value = i * 100;
                even.set(Some(value.port()));
                value
            };
            (i + 1, g.cond(is_even, taken, || x + 0).unwrap())
        },
    )?;
    let even = Output::new(&g, even.get().unwrap());
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let values: Iterations = session.run(every(even), ())?;
        assert_eq!(texts(&values), ["[0] i32 0", "[2] i32 200", "[4] i32 400"]);
        fails(values.stack_by_loop(), Code::InvalidArgument, &["no value in iteration 1"]);
    }
    Ok(())
}

#[test]
fn only_the_loops_around_are_run() -> Result<()> {
    let g = graph();
    let n = g.constant(3);
    let (_, new, result) = doubling(&g, n)?;
    // A node that depends on the loop's result would fail.
    let no = g.constant(false);
    g.op("Assert").input(no).inputs(vec![result]).finish();
    let failing = g.op("CheckNumerics").input(op("Log", result * -1.0)).attr("message", "no").output();
    let session = Session::new(&g)?;
    assert_eq!(session.run::<Vec<f32>>(every(new), ())?.len(), 3);
    fails(session.run::<(Vec<f32>, f32)>((every(new), failing), ()), Code::InvalidArgument, &["no"]);
    Ok(())
}

#[test]
fn what_cannot_be_had_is_refused() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let (_, new, result) = doubling(&g, n)?;
    let list = Cell::new(None);
    let empty = g
        .op("EmptyTensorList")
        .input(g.constant(-1))
        .input(g.constant(10))
        .attr("element_dtype", DType::F32)
        .output();
    g.while_loop((g.constant(0), empty)).run(
        |(i, _)| less(i, 2),
        |(i, l)| {
            let pushed =
                g.op("TensorListPushBack").input(l).input(1.0f32).attr("element_dtype", DType::F32).output();
            list.set(Some(pushed.port()));
            (i + 1, pushed)
        },
    )?;
    let list = Output::new(&g, list.get().unwrap());
    let session = Session::new(&g)?;
    let bad = Code::InvalidArgument;
    fails(session.run::<Tensor>(every(result), feed![n => 1]), bad, &["outside every loop", "directly"]);
    fails(session.run::<Tensor>(new, feed![n => 1]), bad, &["inside the loop", "`every(..)`"]);
    fails(session.run::<Iterations>(result, feed![n => 1]), bad, &["no iterations", "`every(..)`"]);
    fails(session.run::<()>(every(new), feed![n => 1]), bad, &["the result type is `()`"]);
    fails(session.run::<Tensor>((every(new), result), feed![n => 1]), bad, &["1 more value(s)"]);
    fails(session.run::<Tensor>(every(list), ()), bad, &["holds variant", "cannot be stacked"]);
    assert_eq!(session.run::<Iterations>(every(list), ())?.len(), 2);
    fails(
        session.partial_run_setup(every(new), [n]),
        Code::Unimplemented,
        &["partial run", "every iteration"],
    );
    // Without any value, a shape that is known only in part does not suffice.
    let v = g.placeholder_of("v", DType::F32, PartialShape::unknown_of_rank(1));
    let inside = Cell::new(None);
    g.while_loop((g.constant(0), v)).run(
        |(i, _)| less(i, n),
        |(i, v)| {
            inside.set(Some(op("Neg", v).port()));
            (i + 1, v)
        },
    )?;
    let inside = Output::new(&g, inside.get().unwrap());
    let none = feed![n => 0, v => [1.0f32]];
    fails(Session::new(&g)?.run::<Tensor>(every(inside), none), bad, &["no value in any iteration", "[?]"]);
    Ok(())
}

#[test]
fn memory_is_limited() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let (_, new, _) = doubling(&g, n)?;
    for tier in [Tier::Dataflow, Tier::Reference] {
        let options = SessionOptions { memory_limit: Some(1 << 20), tier, ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        assert_eq!(session.run::<Iterations>(every(new), feed![n => 1000])?.len(), 1000);
        let error = session.run::<Iterations>(every(new), feed![n => 100_000]);
        fails(error, Code::ResourceExhausted, &["over the limit of 1048576", "while/"]);
    }
    Ok(())
}

/// `while i < n: x = x - 1`. The logarithm of `x` is NaN from `start + 1` iterations on.
fn sinking<'g>(g: &'g Graph, start: Output<'g>) -> Result<(Output<'g>, Output<'g>)> {
    let log = Cell::new(None);
    let (.., sum) = g.while_loop((g.constant(0), start, g.constant(0.0f32))).run(
        |(i, ..)| less(i, 10),
        |(i, x, sum)| {
            let value = op("Log", x);
            log.set(Some(value));
            (i + 1, x - 1.0, sum + value)
        },
    )?;
    Ok((log.get().unwrap(), sum))
}

fn watching(watch: impl IntoIterator<Item = Watch>) -> RunOptions {
    RunOptions { watch: watch.into_iter().collect(), ..RunOptions::default() }
}

#[test]
fn a_watch_stops_at_the_first() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F32, shape![]);
    let (log, sum) = sinking(&g, x)?;
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let run = |watch: Watch| session.run_with::<f32>(sum, feed![x => 3.0f32], &watching([watch]));
        let parts = [
            "`while/Log:0` has NaN: f32 nan",
            "at node      `while/Log` (Log)",
            "in iteration 4 of loop `while/while_context`",
        ];
        let error = fails(run(Watch::on(log).nan()), Code::InvalidArgument, &parts);
        assert!(error.to_string().contains("computed from `while/"), "{error}");
        let sighting = Sighting::of(&error).unwrap();
        assert_eq!((&*sighting.node, sighting.output, &*sighting.op), ("while/Log", 0, "Log"));
        assert_eq!(sighting.loops, [("while/while_context".to_owned(), 4)]);
        assert!(sighting.value.has_nan() && sighting.inputs.len() == 1);
        // The first value that is not finite is the logarithm of 0, one iteration before.
        fails(
            run(Watch::on(log).not_finite()),
            Code::InvalidArgument,
            &["is not finite: f32 -inf", "iteration 3 of"],
        );
        fails(run(Watch::on(log).infinite()), Code::InvalidArgument, &["has an infinity", "iteration 3 of"]);
        // Among all values, the sum of it comes later.
        fails(run(Watch::all().nan()), Code::InvalidArgument, &["`while/Log:0`", "iteration 4 of"]);
        // All conditions have to hold; without conditions any value will do.
        let late = Watch::on(log).nan().when(|_, at| at[0] >= 7);
        fails(run(late), Code::InvalidArgument, &["has NaN and is what was watched for", "iteration 7 of"]);
        fails(run(Watch::on(log)), Code::InvalidArgument, &["has a value: f32 1.0986", "iteration 0 of"]);
        // A watch whose condition is never met changes nothing, and neither does a watch on a feed.
        let none =
            [Watch::on(log).when(|_, at| at[0] > 9), Watch::on(x).nan(), Watch::all().when(|_, _| false)];
        let (value, _) = session.run_with::<f32>(sum, feed![x => 3.0f32], &watching(none))?;
        assert!(value.is_nan());
        let fed = session.run_with::<f32>(sum, feed![x => f32::NAN], &watching([Watch::all().nan()]));
        let error = fails(fed, Code::InvalidArgument, &["`x:0` has NaN"]);
        assert!(Sighting::of(&error).unwrap().loops.is_empty());
        // The plan without watches is another plan.
        assert!(session.run::<f32>(sum, feed![x => 3.0f32])?.is_nan());
        let call = session.make_callable(sum, [x])?;
        let three = || vec![Tensor::scalar(3.0f32)];
        fails(
            call.call_with(three(), &watching([Watch::on(log).nan()])),
            Code::InvalidArgument,
            &["iteration 4"],
        );
        assert_eq!(call.call_with(three(), &RunOptions::default())?.0.len(), 1);
    }
    Ok(())
}

/// A watch of all values sees floats, computed and fed, and nothing else.
#[test]
fn all_values_are_all_floats() -> Result<()> {
    let g = graph();
    let (n, x) = (g.placeholder_of("n", DType::I32, shape![]), g.placeholder_of("x", DType::F32, shape![]));
    let y = x * float(n + 1);
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let run = |watch: Watch| session.run_with::<f32>(y, feed![n => 1, x => 3.0f32], &watching([watch]));
        assert_eq!(run(Watch::all().when(|value, _| value.dtype() != DType::F32))?.0, 6.0);
        let fed = Watch::all().when(|value, _| value.to_scalar::<f32>().is_ok_and(|value| value == 3.0));
        fails(run(fed), Code::InvalidArgument, &["`x:0`"]);
    }
    Ok(())
}

#[test]
fn which_is_first_does_not_depend_on_how_it_runs() -> Result<()> {
    let g = graph();
    let inner = Cell::new(None);
    let sum = triangle(&g, 2, &inner)?;
    // Beside it a loop with fast nodes, an inner loop, and nodes after that.
    let (_, total) = g.while_loop((g.constant(0), g.constant(1.0f32))).run(
        |(i, _)| less(i, 6),
        |(i, x)| {
            let fast = op("Neg", float(i));
            let (_, slow) = g
                .while_loop((g.constant(0), x))
                .run(|(j, _)| less(j, 4), |(j, y)| (j + 1, y + float(j) * fast))
                .unwrap();
            (i + 1, op("Tanh", slow) * 3.0 + fast)
        },
    )?;
    let fetch = float(sum) + total;
    for modulus in 2..60u64 {
        let mut found: Option<String> = None;
        for options in ways() {
            let session = Session::with_options(&g, options)?;
            let watch = Watch::all().when(move |value, at| {
                let text = format!("{value} {at:?}");
                text.bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into())) % modulus == 0
            });
            let told = match session.run_with::<f32>(fetch, (), &watching([watch])) {
                Ok((value, _)) => value.to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(*found.get_or_insert(told.clone()), told, "modulus {modulus}");
        }
    }
    Ok(())
}

#[test]
fn an_error_that_comes_first_is_told() -> Result<()> {
    let g = graph();
    let (bad, good) = (Cell::new(None), Cell::new(None));
    let (.., out) = g.while_loop((g.constant(0), g.constant(0), g.constant(0.0f32))).run(
        |(i, ..)| less(i, 8),
        |(i, _, _)| {
            let divided = g.op("FloorDiv").input(g.constant(100)).input(g.constant(5) - i).output();
            let log = op("Log", float(i) - 3.0);
            bad.set(Some(divided.port()));
            good.set(Some(log.port()));
            (i + 1, divided, log)
        },
    )?;
    let log = Output::new(&g, good.get().unwrap());
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let both = |watch| {
            session.run_with::<(Tensor, f32)>(
                (every(Output::new(&g, bad.get().unwrap())), out),
                (),
                &watching([watch]),
            )
        };
        fails(
            both(Watch::on(log).when(|_, at| at[0] == 4)),
            Code::InvalidArgument,
            &["a watch stopped", "iteration 4"],
        );
        let error =
            fails(both(Watch::on(log).when(|_, at| at[0] == 6)), Code::InvalidArgument, &["iteration 5 of"]);
        assert!(Sighting::of(&error).is_none(), "{error}");
    }
    Ok(())
}

#[test]
fn watches_that_can_see_nothing_are_refused() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F32, shape![]);
    let (_, sum) = sinking(&g, x)?;
    let other = op("Neg", x);
    let session = Session::new(&g)?;
    let run = |watch| session.run_with::<f32>(sum, feed![x => 3.0f32], &watching([watch]));
    fails(
        run(Watch::on(other)),
        Code::InvalidArgument,
        &["`Neg:0` is watched, but this run does not compute it"],
    );
    let counter = g
        .output("while/Add:0")
        .or_else(|_| g.output("while/add:0"))
        .or_else(|_| g.output("while/AddV2:0"))?;
    fails(
        run(Watch::on(counter).nan()),
        Code::InvalidArgument,
        &["has NaN, but its dtype i32 has no such value"],
    );
    let error = fails(
        run(Watch::all().when(|_, _| panic!("mine"))),
        Code::Internal,
        &["the condition of a watch panicked"],
    );
    assert!(error.node().is_some());
    assert!(session.run::<f32>(sum, feed![x => 3.0f32])?.is_nan());
    Ok(())
}

#[test]
fn loops_without_an_end_are_stopped() -> Result<()> {
    let g = graph();
    let grown = Cell::new(None);
    let yes = g.constant(true);
    let end = g.while_loop(1.0f32).run(
        |_| op("Identity", yes),
        |x: Output<'_>| {
            let next = x * 2.0;
            grown.set(Some(next.port()));
            next
        },
    )?;
    let grown = Output::new(&g, grown.get().unwrap());
    for options in ways() {
        let session = Session::with_options(&g, options)?;
        let found = session.run_with::<f32>(end, (), &watching([Watch::on(grown).infinite()]));
        fails(found, Code::InvalidArgument, &["iteration 127 of"]);
    }
    let shared = Arc::new(Session::new(&g)?);
    fails(
        shared.run_with::<f32>(end, (), &watching([Watch::all().infinite()])),
        Code::InvalidArgument,
        &["iteration 127 of"],
    );
    Ok(())
}
