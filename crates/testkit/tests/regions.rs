//! Loops as code: which they are, that they end with their run, and that errors are those of the machine.

use millstream::prelude::*;
use millstream::{Code, SessionOptions, Tier};
use millstream_runtime::{FeedList, LoopWay};
use millstream_tensor::{C64, Error, PartialShape};
use std::time::Duration;

/// The options of a tier, whose loops are compiled at once.
fn options(tier: Tier, timeout: Option<Duration>) -> SessionOptions {
    SessionOptions { tier, timeout, compile_after: Some(0), ..SessionOptions::default() }
}

/// How the loop of some fetches runs.
fn way(g: &Graph, fetch: Output<'_>) -> LoopWay {
    let session = Session::with_options(g, options(Tier::Compiled, None)).unwrap();
    let explanation = session.explain(fetch, []).unwrap();
    explanation.places.iter().find_map(|place| place.of_loop.clone()).expect("a loop").way
}

#[test]
fn loops_say_how_they_run() {
    let g = Graph::new();
    let (_, x) = g
        .while_loop((g.constant(0), g.constant(1f32)))
        .run(|(i, _)| i.less(10), |(i, x)| (i + 1, x * 1.5))
        .unwrap();
    assert_eq!(way(&g, x), LoopWay::Code);
    let (_, many) = g
        .while_loop((g.constant(0), g.zeros::<f32>([70_000])))
        .run(|(i, _)| i.less(10), |(i, x)| (i + 1, x * 1.5))
        .unwrap();
    match way(&g, many) {
        LoopWay::Because { why, .. } => assert_eq!(why, "has an output of more than 65,536 elements"),
        other => panic!("{other:?}"),
    }
    let session = Session::with_options(&g, options(Tier::Compiled, None)).unwrap();
    let text = session.explain((x, many), []).unwrap().to_string();
    assert!(text.contains("runs as compiled code."), "{text}");
    assert!(text.contains("runs by tokens, not compiled, because `"), "{text}");
}

/// All loops of these fetches are code, and every tier gives the bits of the reference.
#[track_caller]
fn all_code(g: &Graph, fetches: &[Output<'_>], feeds: &[(Output<'_>, Tensor)]) {
    let run = |tier, compile_after| {
        let options = SessionOptions { compile_after, ..options(tier, Some(Duration::from_secs(60))) };
        let session = Session::with_options(g, options).unwrap();
        let given = feeds.iter().fold(FeedList::new(), |all, (to, value)| all.and(*to, value));
        let values = session.run::<Vec<Tensor>>(fetches.to_vec(), given).unwrap();
        if tier == Tier::Compiled {
            let explanation = session.explain(fetches.to_vec(), feeds.iter().map(|feed| feed.0)).unwrap();
            let loops = explanation.places.iter().filter_map(|place| place.of_loop.as_ref());
            let ways: Vec<LoopWay> = loops.map(|it| it.way.clone()).collect();
            assert!(!ways.is_empty());
            assert!(ways.iter().all(|way| matches!(way, LoopWay::Code | LoopWay::Within)), "{ways:?}");
        }
        values
    };
    let want = run(Tier::Reference, None);
    let settings = [(Tier::Dataflow, None), (Tier::Compiled, Some(0)), (Tier::Compiled, Some(40))];
    for (tier, compile_after) in settings.into_iter().chain([(Tier::Compiled, Some(u64::MAX))]) {
        let got = run(tier, compile_after);
        for (i, (a, b)) in want.iter().zip(&got).enumerate() {
            assert!(a.bits_eq(b), "{tier:?} {compile_after:?}, fetch {i}: {a} {b}");
        }
    }
}

/// How the loops of a run are said to run.
fn ways(session: &Session, fetches: &[Output<'_>], feeds: &[Output<'_>]) -> Vec<LoopWay> {
    let explanation = session.explain(fetches.to_vec(), feeds.iter().copied()).unwrap();
    explanation.places.iter().filter_map(|place| place.of_loop.as_ref()).map(|it| it.way.clone()).collect()
}

/// A recurrent net of a batch whose size only its runs know, with gradients: each size gets its code, and
/// what comes after many sizes runs by tokens.
#[test]
fn loops_of_unknown_shapes_become_code_in_their_runs() {
    let g = Graph::new();
    let (x, w) = (g.placeholder::<f32>("x", shape![_, 6]), g.placeholder::<f32>("w", [6, 6]));
    let limit = g.placeholder::<i32>("limit", shape![]);
    let (_, _, h) = g
        .while_loop((g.constant(0), x * 0.5, x))
        .run(
            |(i, _, _)| i.less(limit),
            |(i, before, h)| {
                let product = g.op("MatMul").input(h).input(w).output();
                let grown = (product + x).tanh() * 0.5 + before * 0.1;
                (i + 1, h, grown * x)
            },
        )
        .unwrap();
    let first = g.gradients([h.square().reduce_sum(())], [x, w]).dense().unwrap();
    let second = g.gradients([first[1].reduce_sum(())], [x, w]).dense().unwrap();
    let fetches = [&[h][..], &first, &second].concat();
    let sessions: Vec<Session> = [(Tier::Reference, None), (Tier::Compiled, Some(0)), (Tier::Compiled, None)]
        .into_iter()
        .map(|(tier, compile_after)| {
            Session::with_options(&g, SessionOptions { compile_after, ..options(tier, None) }).unwrap()
        })
        .collect();
    let before = ways(&sessions[1], &fetches, &[x, w, limit]);
    assert!(before.iter().any(|way| matches!(way, LoopWay::InRun { .. })), "{before:?}");
    for (batch, steps) in [(3, 4), (1, 3), (3, 5), (0, 2), (3, 0)].into_iter().chain((1..20).map(|n| (n, 3)))
    {
        let value = |n: usize| scaled(n * 6, 0.125).reshape([n, 6]).unwrap();
        let run = |session: &Session| {
            let feeds = feed![x => value(batch), w => value(6), limit => steps];
            session.run::<Vec<Tensor>>(fetches.clone(), feeds).unwrap()
        };
        let all: Vec<Vec<Tensor>> = sessions.iter().map(run).collect();
        for (i, want) in all[0].iter().enumerate() {
            assert!(
                all[1..].iter().all(|got| got[i].bits_eq(want)),
                "batch {batch}, {steps} steps, fetch {i}"
            );
        }
        // Second derivatives read lists more than once.
        if steps == 4 {
            let fetches = [&[h][..], &first].concat();
            let feeds = feed![x => value(batch), w => value(6), limit => steps];
            let _: Vec<Tensor> = sessions[1].run(fetches.clone(), feeds).unwrap();
            let after = ways(&sessions[1], &fetches, &[x, w, limit]);
            assert!(after.iter().all(|way| matches!(way, LoopWay::Code | LoopWay::Within)), "{after:?}");
            let text = sessions[1].explain(fetches, [x, w, limit]).unwrap().to_string();
            assert!(text.contains("runs as compiled code."), "{text}");
        }
    }
}

/// A shape in the loop follows from a value that enters it: code is for that value, not for its shape alone.
#[test]
fn code_that_is_made_for_a_value_is_for_that_value() {
    let g = Graph::new();
    let (dims, x) = (g.placeholder::<i32>("dims", [2]), g.placeholder::<f32>("x", shape![_, _]));
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(
            |(i, _)| i.less(4),
            |(i, y)| {
                let filled = g.op("Fill").input(dims).input(0.25f32).output();
                Ok::<_, Error>((i + 1, g.reshape(y * filled + 1.0, dims)))
            },
        )
        .unwrap();
    let session = |tier| Session::with_options(&g, options(tier, None)).unwrap();
    let (code, reference) = (session(Tier::Compiled), session(Tier::Reference));
    for [a, b] in [[2, 9], [3, 6], [2, 9], [3, 6], [6, 1], [1, 6]] {
        let run = |session: &Session| {
            let value = scaled(a * b, 0.5).reshape([a, b]).unwrap();
            let feeds = feed![dims => Tensor::vector(&[a as i32, b as i32]).unwrap(), x => value];
            session.run::<Tensor>(y, feeds).unwrap()
        };
        let (got, want) = (run(&code), run(&reference));
        assert!(got.bits_eq(&want), "{got} {want}");
        assert_eq!(ways(&code, &[y], &[dims, x]), [LoopWay::Code]);
    }
    // A shape that does not fit: the error is the machine's.
    let error = |session: &Session| {
        let feeds =
            feed![dims => Tensor::vector(&[3, 6]).unwrap(), x => scaled(17, 1.0).reshape([17, 1]).unwrap()];
        session.run::<Tensor>(y, feeds).unwrap_err().to_string()
    };
    assert_eq!(error(&code), error(&session(Tier::Dataflow)));
}

/// The iterations of the only loop that were timed: those of the first run of each code, and of every
/// sixteenth run after it.
fn timed(session: &Session, fetch: Output<'_>, feeds: &[Output<'_>]) -> u64 {
    let explanation = session.explain(fetch, feeds.iter().copied()).unwrap();
    explanation
        .places
        .iter()
        .filter_map(|place| place.code.as_ref())
        .map(|code| code.measured.iterations)
        .sum()
}

/// Values of one shape get code of their own only where the code relies on them.
#[test]
fn code_relies_on_few_values() {
    let g = Graph::new();
    let (dims, x) = (g.placeholder::<i32>("dims", [2]), g.placeholder::<f32>("x", shape![_]));
    let limit = g.placeholder::<i32>("limit", shape![]);
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(
            |(i, _)| i.less(limit),
            |(i, y)| {
                let rows = g.reshape(y, dims).reduce_sum(0);
                Ok::<_, Error>((i + 1, y * 0.5 + rows.reduce_max(())))
            },
        )
        .unwrap();
    let session = |tier| Session::with_options(&g, options(tier, None)).unwrap();
    let (code, reference) = (session(Tier::Compiled), session(Tier::Reference));
    let check = |limits: std::ops::Range<i32>, [a, b]: [i32; 2]| {
        for n in limits {
            let run = |session: &Session| {
                let feeds = feed![dims => Tensor::vector(&[a, b]).unwrap(), x => ramp(18), limit => n];
                session.run::<Tensor>(y, feeds).unwrap()
            };
            let (got, want) = (run(&code), run(&reference));
            assert!(got.bits_eq(&want), "{n} {a} {b}: {got} {want}");
        }
        timed(&code, y, &[dims, x, limit])
    };
    // One code for all limits: the runs with 1 and 17 iterations are timed.
    assert_eq!(check(1..21, [2, 9]), 2 + 18);
    // Another one for other dimensions, whose first run is timed.
    assert_eq!(check(3..5, [3, 6]), 20 + 4);
    assert_eq!(check(30..31, [2, 9]), 24);
}

/// Code that fails in four runs is not tried again.
#[test]
fn code_that_keeps_failing_is_left() {
    let g = Graph::new();
    let (x, from) = (g.placeholder::<i32>("x", shape![_]), g.placeholder::<i32>("from", shape![]));
    let (_, y) = g
        .while_loop((from, x))
        .run(|(i, _)| i.greater(-5), |(i, y)| (i - 1, y + g.op("FloorDiv").input(7).input(i).output()))
        .unwrap();
    let session = Session::with_options(&g, options(Tier::Compiled, None)).unwrap();
    let run = |start: i32| {
        let x_value = Tensor::vector(&[1, 2, 3]).unwrap();
        session.run::<Tensor>(y, feed![x => x_value, from => start]).map(drop).map_err(|e| e.code())
    };
    let timed = || timed(&session, y, &[x, from]);
    assert_eq!(run(4), Err(Code::InvalidArgument));
    let once = timed();
    assert!(0 < once, "{once}");
    (0..40).for_each(|_| assert_eq!(run(4), Err(Code::InvalidArgument)));
    assert_eq!(timed(), once);
    // By tokens.
    assert_eq!(run(-1), Ok(()));
    assert_eq!(timed(), once);
}

/// The code of a loop of more than 128 values relies on those among the first 128 only.
#[test]
fn loops_of_many_values_are_code() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", shape![_]);
    let more: Vec<Output<'_>> = (0..140).map(|k| g.placeholder::<i32>(&format!("k{k}"), shape![])).collect();
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(
            |(i, _)| i.less(3),
            |(i, y)| {
                let sum = more.iter().fold(g.constant(0), |sum, k| sum + *k);
                (i + 1, y + sum.cast::<f32>())
            },
        )
        .unwrap();
    let session = Session::with_options(&g, options(Tier::Compiled, None)).unwrap();
    for n in [1, 2] {
        let feeds = more.iter().fold(FeedList::new().and(x, ramp(2)), |all, k| all.and(*k, n));
        let got = session.run::<Vec<f32>>(y, feeds).unwrap();
        assert_eq!(got, [1.5 + 420.0 * n as f32, 1.75 + 420.0 * n as f32]);
    }
    let feeds = [&more[..], &[x]].concat();
    assert_eq!(ways(&session, &[y], &feeds), [LoopWay::Code]);
}

fn ramp(n: usize) -> Tensor {
    let values: Vec<f32> = (0..n).map(|i| i as f32 * 0.25 + 1.5).collect();
    Tensor::vector(&values).unwrap()
}

/// Newton's method that stops when the value before is near: nothing but the condition reads that, so its
/// variable has no Switch.
#[test]
fn loops_that_only_compare_with_a_value_before_are_code() {
    for n in [1, 20] {
        let g = Graph::new();
        let a = g.placeholder::<f32>("a", [n]);
        let (x, _) = g
            .while_loop((a, a * 0.5 - 1.0))
            .run(
                |(x, before)| (x - before).abs().reduce_sum(()).greater(1e-4),
                |(x, _)| ((x + a / x) * 0.5, x),
            )
            .unwrap();
        let first = g.gradients([x.reduce_sum(())], [a]).dense().unwrap()[0];
        let second = g.gradients([first.reduce_sum(())], [a]).dense().unwrap()[0];
        let feeds = [(a, ramp(n))];
        all_code(&g, &[x], &feeds);
        all_code(&g, &[first], &feeds);
        all_code(&g, &[x, first, second], &feeds);
    }
}

/// Variables that change places, are copied, carried along or passed on as they are, in loops, loops in
/// loops, and branches.
#[test]
fn loops_whose_variables_change_places_are_code() {
    for n in [1, 20] {
        let g = Graph::new();
        let (a, b, c) =
            (g.placeholder::<f32>("a", [n]), g.placeholder::<f32>("b", [n]), g.placeholder::<f32>("c", [n]));
        let feeds: Vec<_> =
            [a, b, c].into_iter().zip([0.5f32, -0.25, 2.0]).map(|(to, by)| (to, scaled(n, by))).collect();
        let xs = [a, b, c];
        let zero = || g.constant(0);
        // Fibonacci's numbers.
        let (_, p, q) =
            g.while_loop((zero(), a, b)).run(|(i, _, _)| i.less(9), |(i, a, b)| (i + 1, b, a + b)).unwrap();
        all_code(&g, &[&[p, q][..], &both_slopes(&[p, q], &xs)].concat(), &feeds);
        all_code(&g, &[q], &feeds);
        // Two change places and a third is what one of them was.
        let (_, p, q, r) = g
            .while_loop((zero(), a, b, c))
            .run(|(i, ..)| i.less(5), |(i, a, b, c)| (i + 1, b, a, c * a.tanh()))
            .unwrap();
        all_code(&g, &[&[p, q, r][..], &both_slopes(&[p, q, r], &xs)].concat(), &feeds);
        // Round and round: three variables, and one that two others become.
        let (_, p, q, r) = g
            .while_loop((zero(), a, b, c))
            .run(|(i, ..)| i.less(4), |(i, a, b, c)| (i + 1, b, c, a))
            .unwrap();
        all_code(&g, &[&[p, q, r][..], &both_slopes(&[p * q, r], &xs)].concat(), &feeds);
        let (_, p, q, r) = g
            .while_loop((zero(), a, b, c))
            .run(|(i, ..)| i.less(4), |(i, a, b, _)| (i + 1, b * a, a, a))
            .unwrap();
        all_code(&g, &[&[p, q, r][..], &both_slopes(&[p, q, r], &xs)].concat(), &feeds);
        // One is passed on as it is, one becomes an invariant's value.
        let (_, p, q, r) = g
            .while_loop((zero(), a, b, c))
            .run(|(i, ..)| i.less(4), |(i, a, b, _)| (i + 1, a * b, b, a.maximum(b)))
            .unwrap();
        all_code(&g, &[&[p, q, r][..], &both_slopes(&[p, q, r], &xs)].concat(), &feeds);
        // A loop in a loop, and a branch that changes places.
        let (_, p, q) = g
            .while_loop((zero(), a, b))
            .run(
                |(i, _, _)| i.less(4),
                |(i, a, b)| {
                    let (_, x, y) = g
                        .while_loop((zero(), a, b))
                        .run(|(j, _, _)| j.less(i), |(j, x, y)| (j + 1, y, x * 0.5 + y))?;
                    let (x, y) = g.cond(i.less(2), || (y, x), || (x, y))?;
                    Ok::<_, Error>((i + 1, y, x))
                },
            )
            .unwrap();
        all_code(&g, &[&[p, q][..], &both_slopes(&[p, q], &xs)].concat(), &feeds);
    }
}

/// The gradients of a mixture of the ys, and those of their sum.
fn both_slopes<'g>(ys: &[Output<'g>], xs: &[Output<'g>]) -> Vec<Output<'g>> {
    let g = xs[0].graph();
    let sum = ys.iter().map(|y| y.reduce_sum(())).reduce(|a, b| a * b + a).unwrap();
    let first = g.gradients([sum], xs.to_vec()).dense().unwrap();
    let sum = first.iter().map(|y| y.reduce_sum(())).reduce(|a, b| a + b).unwrap();
    [first, g.gradients([sum], xs.to_vec()).dense().unwrap()].concat()
}

fn scaled(n: usize, by: f32) -> Tensor {
    let values: Vec<f32> = (0..n).map(|i| (i as f32 * 0.25 + 0.5) * by).collect();
    Tensor::vector(&values).unwrap()
}

/// Values of many elements: of part of a tile, of several, and of several and a part. What is saved for the
/// gradient is a list of them; branches choose between them; vectors and scalars are spread over matrices.
#[test]
fn values_of_many_elements_have_the_bits_of_the_machine() {
    for shape in [[1, 17], [2, 64], [16, 64], [3, 700]] {
        let n = shape[0] * shape[1];
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", shape);
        let (w, b) = (g.placeholder::<f32>("w", shape), g.placeholder::<f32>("b", [1, shape[1]]));
        let limit = g.placeholder::<i32>("limit", shape![]);
        let (_, y, z) = g
            .while_loop((g.constant(0), x, w))
            .run(
                |(i, _, _)| i.less(limit),
                |(i, x, z)| {
                    let grown = x + x * (w * x + b).tanh() * 0.1;
                    let chosen = g.cond(i.less(3), || grown.neg(), || grown * b)?;
                    // The two variables change places.
                    Ok::<_, Error>((i + 1, z - chosen.sigmoid(), x.maximum(z)))
                },
            )
            .unwrap();
        let loss = (y * z).reduce_sum(());
        let slopes = g.gradients([loss], [w, x]).dense().unwrap();
        let values: Vec<f32> = (0..n).map(|i| (i % 11) as f32 / 8.0 - 0.6).collect();
        let value = |shape: [usize; 2]| Tensor::from_slice(shape, &values[..shape[0] * shape[1]]).unwrap();
        let feeds = || feed![x => value(shape), w => value(shape), b => value([1, shape[1]]), limit => 7];
        assert_eq!(way(&g, y), LoopWay::Code, "{shape:?}");
        let run = |tier, compile_after| {
            let options = SessionOptions { compile_after, ..options(tier, None) };
            let session = Session::with_options(&g, options).unwrap();
            session.run::<Vec<Tensor>>(vec![y, z, slopes[0], slopes[1]], feeds()).unwrap()
        };
        let want = run(Tier::Dataflow, None);
        for compile_after in [0, 40, u64::MAX] {
            let got = run(Tier::Compiled, Some(compile_after));
            assert!(want.iter().zip(&got).all(|(a, b)| a.bits_eq(b)), "{shape:?} {compile_after}");
        }
    }
}

/// Products and sums between elementwise ops, of few and of many elements, with a condition that needs a sum.
#[test]
fn kernels_are_called_from_code() {
    for n in [2, 30] {
        let g = Graph::new();
        let (m, x) = (g.placeholder::<f32>("m", [n, n]), g.placeholder::<f32>("x", [n, 1]));
        let (steps, y) = g
            .while_loop((g.constant(0), x))
            .run(
                |(i, y)| i.less(12) & y.abs().reduce_sum(()).greater(0.3),
                |(i, y)| {
                    let y = g.op("MatMul").input(m).input(y).output().tanh();
                    (i + 1, y * 0.9 / (y.square().reduce_sum(()) + 1.0).sqrt())
                },
            )
            .unwrap();
        let slopes = g.gradients([y.reduce_sum(())], [m, x]).dense().unwrap();
        assert_eq!(way(&g, y), LoopWay::Code, "{n}");
        let values: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32 / 4.0 - 0.6).collect();
        let value = |shape: [usize; 2]| Tensor::from_slice(shape, &values[..shape[0] * shape[1]]).unwrap();
        let run = |tier, compile_after| {
            let options = SessionOptions { compile_after, ..options(tier, None) };
            let session = Session::with_options(&g, options).unwrap();
            let feeds = feed![m => value([n, n]), x => value([n, 1])];
            session.run::<(i32, Vec<Tensor>)>((steps, vec![y, slopes[0], slopes[1]]), feeds).unwrap()
        };
        let (count, want) = run(Tier::Dataflow, None);
        assert!(1 < count, "{count}");
        for compile_after in [0, 300, u64::MAX] {
            let (again, got) = run(Tier::Compiled, Some(compile_after));
            assert_eq!(count, again);
            assert!(want.iter().zip(&got).all(|(a, b)| a.bits_eq(b)), "{n} {compile_after}");
        }
    }
}

/// A kernel that fails in the fifth iteration: the machine meets the error again.
#[test]
fn errors_of_called_kernels_are_those_of_the_machine() {
    let g = Graph::new();
    let table = g.placeholder::<f32>("table", [4, 20]);
    let (_, sum) = g
        .while_loop((g.constant(0), g.zeros::<f32>([20])))
        .run(|(i, _)| i.less(10), |(i, sum)| (i + 1, sum + g.gather(table, i, 0)))
        .unwrap();
    assert_eq!(way(&g, sum), LoopWay::Code);
    let error = |tier| {
        let session = Session::with_options(&g, options(tier, None)).unwrap();
        let ones = Tensor::from_slice([4, 20], &[1f32; 80]).unwrap();
        session.run::<Tensor>(sum, feed![table => ones]).unwrap_err().to_string()
    };
    assert_eq!(error(Tier::Compiled), error(Tier::Dataflow));
    assert!(error(Tier::Compiled).contains("iteration 4"), "{}", error(Tier::Compiled));
}

#[test]
fn endless_code_ends_with_its_run() {
    let g = Graph::new();
    let i = g.while_loop(g.constant(0)).run(|i| i.greater_equal(0), |i| i * 1).unwrap();
    assert_eq!(way(&g, i), LoopWay::Code);
    for compile_after in [0, u64::MAX] {
        let timeout = Some(Duration::from_millis(50));
        let options =
            SessionOptions { compile_after: Some(compile_after), ..options(Tier::Compiled, timeout) };
        let session = Session::with_options(&g, options).unwrap();
        let error = session.run::<i32>(i, ()).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    }
}

/// A shape that the program promises is not the one of the run: no loop may rely on it.
#[test]
fn a_promised_shape_is_not_relied_on() {
    let g = Graph::new();
    let s = g.placeholder::<i32>("s", [2]);
    let (_, x) = g
        .while_loop((g.constant(0), g.ones::<f32>([2, 2])))
        .run(|(i, _)| i.less(3), |(i, x)| (i + 1, g.reshape(x, s).set_shape([2, 2])))
        .unwrap();
    for tier in [Tier::Compiled, Tier::Dataflow] {
        let session = Session::with_options(&g, options(tier, None)).unwrap();
        let value: Tensor = session.run(x, feed![s => Tensor::vector(&[4, 1]).unwrap()]).unwrap();
        assert_eq!(value.shape()[..], [4, 1], "{tier:?}");
    }
}

/// A division by zero in the fourth iteration: the machine meets it, and says where.
#[test]
fn errors_in_code_are_those_of_the_machine() {
    let g = Graph::new();
    let (_, x) = g
        .while_loop((g.constant(3), g.constant(60)))
        .run(|(i, _)| i.greater(-3), |(i, x)| (i - 1, x / i))
        .unwrap();
    assert_eq!(way(&g, x), LoopWay::Code);
    let error = |tier| -> Error {
        let session = Session::with_options(&g, options(tier, None)).unwrap();
        session.run::<i32>(x, ()).unwrap_err()
    };
    let (code, tokens) = (error(Tier::Compiled), error(Tier::Dataflow));
    assert!(tokens.to_string().contains("in iteration 3 of loop"), "{tokens}");
    assert_eq!(code.to_string(), tokens.to_string());
}

/// A graph of many scalar nodes that need nothing but feeds: code computes them before the machine starts.
/// Some of them are read by a product, a queue of kernels and a loop, one is fetched, and some are read by
/// nothing.
#[test]
fn what_needs_only_feeds_runs_as_code_first() {
    let g = Graph::new();
    let (p, q) = (g.placeholder::<f32>("p", shape![]), g.placeholder::<f32>("q", [3]));
    let n = g.placeholder::<i32>("n", shape![]);
    let chain = (0..60).fold(p, |x, i| if i % 2 == 0 { x + 0.5 } else { x * 0.99 - p });
    let row = (0..20).fold(q, |x, _| (x * chain).tanh());
    let product = g.op("MatMul").input(row.reshape([3, 1])).input(row.reshape([1, 3])).output();
    let (_, y) = g
        .while_loop((g.constant(0), row))
        .run(|(i, _)| i.less(n), |(i, y)| (i + 1, y * 1.5 + chain))
        .unwrap();
    let fetches = || vec![chain, row, product, y];
    let values = [Tensor::scalar(1.25f32), Tensor::vector(&[0.5f32, -2.0, f32::NAN]).unwrap()];
    let run = |tier, compile_after| {
        let options = SessionOptions { compile_after, ..options(tier, None) };
        let session = Session::with_options(&g, options).unwrap();
        let once = || {
            let feeds = feed![p => values[0].clone(), q => values[1].clone(), n => 3];
            session.run::<Vec<Tensor>>(fetches(), feeds).unwrap()
        };
        let first = once();
        for again in [once(), once()] {
            assert!(first.iter().zip(&again).all(|(a, b)| a.bits_eq(b)));
        }
        let root = session.explain(fetches(), [p, q, n]).unwrap().places.remove(0);
        assert_eq!(root.code.is_some(), tier == Tier::Compiled);
        first
    };
    let want = run(Tier::Dataflow, None);
    for compile_after in [Some(0), Some(u64::MAX), None] {
        let got = run(Tier::Compiled, compile_after);
        assert!(want.iter().zip(&got).all(|(a, b)| a.bits_eq(b)), "{compile_after:?}");
    }
}

/// A division by zero among the nodes that run first: the machine meets the error, and names the node.
#[test]
fn errors_of_what_runs_first_are_those_of_the_machine() {
    let g = Graph::new();
    let (p, q) = (g.placeholder::<i32>("p", shape![]), g.placeholder::<i32>("q", shape![]));
    let divided = g.op("FloorDiv").input(p).input(q).name("divided").output();
    let out = (0..50).fold(divided, |x, _| x + p);
    let error = |tier| {
        let session = Session::with_options(&g, options(tier, None)).unwrap();
        assert_eq!(session.run::<i32>(out, feed![p => 7, q => 2]).unwrap(), 353);
        session.run::<i32>(out, feed![p => 7, q => 0]).unwrap_err().to_string()
    };
    assert_eq!(error(Tier::Compiled), error(Tier::Dataflow));
    assert!(error(Tier::Compiled).contains("divided"), "{}", error(Tier::Compiled));
}

/// The report on a loop says what its code is made of; after runs, how long an iteration takes.
#[test]
fn reports_describe_the_code_of_loops() {
    let g = Graph::new();
    let w = g.placeholder::<f32>("w", [128]);
    let n = g.placeholder::<i32>("n", shape![]);
    let (_, x) = g
        .while_loop((g.constant(0), w))
        .run(|(i, _)| i.less(n), |(i, x)| (i + 1, x + (x * w).tanh() * 0.01))
        .unwrap();
    let session = Session::with_options(&g, options(Tier::Compiled, None)).unwrap();
    let code = || session.explain(x, [w, n]).unwrap().places.remove(1).code.expect("code");
    let before = code();
    assert!(0 < before.n_instructions && 512 <= before.bytes, "{before:?}");
    assert!(before.buffers.iter().all(|buffer| buffer == "f32[128]"), "{before:?}");
    assert!(before.fused.iter().any(|group| group.contains("tanh")), "{before:?}");
    assert!(before.listing.contains("outermost loop"), "{}", before.listing);
    assert_eq!(before.nanos_per_iteration(), None);
    let ones = Tensor::from_slice([128], &[1f32; 128]).unwrap();
    session.run::<Tensor>(x, feed![w => ones, n => 100]).unwrap();
    let after = code();
    assert_eq!(after.measured.iterations, 101, "{after:?}");
    assert!(after.nanos_per_iteration().is_some_and(|nanos| 0.0 < nanos), "{after:?}");
    assert!(after.measured.machine_bytes.is_some_and(|n| 0 < n), "{after:?}");
    let machine = session.disassembly(x, [w, n]).unwrap();
    assert!(machine.lines().count() > 10, "{machine}");
    let interpreted = Session::with_options(&g, options(Tier::Dataflow, None)).unwrap();
    assert_eq!(interpreted.disassembly(x, [w, n]).unwrap(), "");
}

fn write<'g>(array: Output<'g>, i: Output<'g>, value: Output<'g>, flow: Output<'g>) -> Output<'g> {
    array.graph().op("TensorArrayWriteV3").inputs([array, i, value, flow]).output()
}

fn read<'g>(array: Output<'g>, i: Output<'g>, flow: Output<'g>) -> Output<'g> {
    array.graph().op("TensorArrayReadV3").inputs([array, i, flow]).attr("dtype", DType::F32).output()
}

/// Elements that a loop writes and reads by index, of one and of many elements. Where an iteration fails
/// after it has written, the machine runs it again, and must not find the element written.
#[test]
fn arrays_are_written_and_read_in_code() {
    for n in [1usize, 40] {
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", [n]);
        let limit = g.placeholder::<i32>("limit", shape![]);
        let array = |size: i32| {
            let made = g.op("TensorArrayV3").input(size).attr("dtype", DType::F32);
            let made = made.attr("element_shape", PartialShape::from([n])).attr("clear_after_read", false);
            let made = made.finish();
            (made.output(0), made.output(1))
        };
        let ((long, flow), (short, other)) = (array(8), array(5));
        let (_, flow, other, sum) = g
            .while_loop((g.constant(0), flow, other, x))
            .run(
                |(i, _, _, _)| i.less(limit),
                |(i, flow, other, sum)| {
                    let flow = write(long, i, sum * 0.5 + x, flow);
                    let back = read(long, i, flow);
                    (i + 1, flow, write(short, i, back, other), back + sum * 0.1)
                },
            )
            .unwrap();
        assert_eq!(way(&g, sum), LoopWay::Code, "{n}");
        let fetches = vec![sum, read(long, g.constant(2), flow), read(short, g.constant(3), other)];
        let run = |tier, compile_after, limit_to: i32| {
            let options = SessionOptions { compile_after, ..options(tier, None) };
            let session = Session::with_options(&g, options).unwrap();
            let values: Vec<f32> = (0..n).map(|i| i as f32 * 0.25 - 1.0).collect();
            let feeds = feed![x => Tensor::vector(&values).unwrap(), limit => limit_to];
            session.run::<Vec<Tensor>>(fetches.clone(), feeds)
        };
        let want = run(Tier::Dataflow, None, 5).unwrap();
        let error = run(Tier::Dataflow, None, 7).unwrap_err().to_string();
        assert!(error.contains("index 5 cannot be written: there are 5 elements"), "{error}");
        for compile_after in [0, 100, u64::MAX] {
            let got = run(Tier::Compiled, Some(compile_after), 5).unwrap();
            assert!(want.iter().zip(&got).all(|(a, b)| a.bits_eq(b)), "{n} {compile_after}");
            let again = run(Tier::Compiled, Some(compile_after), 7).unwrap_err().to_string();
            assert_eq!(again, error, "{n} {compile_after}");
        }
    }
}

/// Text and complex numbers do not fit into words, so code holds them as tensors, and calls kernels for them.
#[test]
fn loops_over_text_and_complex_numbers_are_code() {
    let g = Graph::new();
    let start = Tensor::from_slice([3], &[C64::new(0.5, -0.25), C64::new(0.0, 1.0), C64::new(-1.0, 0.125)]);
    let start = g.constant(start.unwrap());
    let (_, text, z) = g
        .while_loop((g.constant(0), g.constant("a"), start))
        .run(
            |(i, _, _)| i.less(7),
            |(i, text, z)| {
                let text = g.op("StringJoin").inputs([text, g.op("AsString").input(i).output()]).output();
                (i + 1, text, z * z + start)
            },
        )
        .unwrap();
    all_code(&g, &[text, z], &[]);
}

/// What a loop over complex numbers saves for its gradients is a list of tensors, of which the gradient's
/// loop leaves none.
#[test]
fn gradients_of_loops_over_complex_numbers_are_code() {
    let g = Graph::new();
    let start = Tensor::from_slice([3], &[C64::new(0.5, -0.25), C64::new(0.0, 1.0), C64::new(-1.0, 0.125)]);
    let start = g.constant(start.unwrap());
    for limit in [0, 1, 5] {
        let (_, z) = g
            .while_loop((g.constant(0), start))
            .run(|(i, _)| i.less(limit), |(i, z)| (i + 1, z * z * start))
            .unwrap();
        let size = g.op("Real").input(z).output().square().reduce_sum(());
        let first = g.gradients([size], [start]).dense().unwrap();
        let second = g.gradients([g.op("Imag").input(first[0]).output().reduce_sum(())], [start]);
        all_code(&g, &[z, first[0], second.dense().unwrap()[0]], &[]);
    }
}

/// What checks and does nothing else runs in code. A check that fails is left to the machine.
#[test]
fn checks_are_code() {
    let g = Graph::new();
    let limit = g.placeholder::<f32>("limit", shape![]);
    let (_, x) = g
        .while_loop((g.constant(0), g.constant(1f32)))
        .run(
            |(i, _)| i.less(9),
            |(i, x)| {
                let small = g.assert_that(x.less(limit), [g.constant("too large:"), x]);
                let next = g.control_dependencies([small], || x * 1.5);
                (i + 1, g.op("CheckNumerics").input(next).attr("message", "checked").output())
            },
        )
        .unwrap();
    all_code(&g, &[x], &[(limit, Tensor::scalar(100f32))]);
    let error = |tier, bound: f32| -> Error {
        let session = Session::with_options(&g, options(tier, None)).unwrap();
        session.run::<f32>(x, feed![limit => bound]).unwrap_err()
    };
    let (code, tokens) = (error(Tier::Compiled, 3.0), error(Tier::Dataflow, 3.0));
    assert!(tokens.to_string().contains("too large:"), "{tokens}");
    assert_eq!(code.to_string(), tokens.to_string());
}
