//! Loops as code: which they are, that they end with their run, and that errors are those of the machine.

use millstream::prelude::*;
use millstream::{Code, SessionOptions, Tier};
use millstream_runtime::LoopWay;
use millstream_tensor::Error;
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
        LoopWay::Because { why, .. } => assert_eq!(why, "gives a value of more than 65,536 elements"),
        other => panic!("{other:?}"),
    }
    let session = Session::with_options(&g, options(Tier::Compiled, None)).unwrap();
    let text = session.explain((x, many), []).unwrap().to_string();
    assert!(text.contains("runs as compiled code."), "{text}");
    assert!(text.contains("runs by tokens, not compiled, because `"), "{text}");
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
