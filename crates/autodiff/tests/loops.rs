//! Gradients through loops: counted and not, nested, with branches, captured values, lists, of any order.

use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Output};
use millstream_runtime::{Session, feed};
use millstream_tensor::{DType, PartialShape, Result, Tensor};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn scalar<'g>(g: &'g Graph, name: &str) -> Output<'g> {
    g.placeholder_of(name, DType::F64, PartialShape::scalar())
}

fn less<'g>(a: Output<'g>, b: impl Into<millstream_graph::Arg<'g>>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn tanh(x: Output<'_>) -> Output<'_> {
    x.graph().op("Tanh").input(x).output()
}

#[track_caller]
fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "got {got}, want {want}");
}

/// `x^n` by a loop.
fn power<'g>(
    g: &'g Graph,
    x: Output<'g>,
    n: impl Into<millstream_graph::Arg<'g>> + Copy,
) -> Result<Output<'g>> {
    let one = g.constant(1.0f64);
    let (_, y) = g.while_loop((g.constant(0), one)).run(|(i, _)| less(i, n), |(i, y)| (i + 1, y * x))?;
    Ok(y)
}

#[test]
fn power_to_the_third_order() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let y = power(&g, x, n)?;
    let d1 = g.gradients([y], [x]).dense()?[0];
    let d2 = g.gradients([d1], [x]).dense()?[0];
    let d3 = g.gradients([d2], [x]).dense()?[0];
    let session = Session::new(&g)?;
    for n_value in [0i32, 1, 2, 5] {
        let n_f = f64::from(n_value);
        let (y, d1, d2, d3): (f64, f64, f64, f64) =
            session.run((y, d1, d2, d3), feed![x => 1.5, n => n_value])?;
        near(y, 1.5f64.powi(n_value));
        near(d1, n_f * 1.5f64.powi(n_value - 1));
        near(d2, n_f * (n_f - 1.0) * 1.5f64.powi(n_value - 2));
        near(d3, n_f * (n_f - 1.0) * (n_f - 2.0) * 1.5f64.powi(n_value - 3));
    }
    Ok(())
}

#[test]
fn as_long_as_the_data_says() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    // Doubles until 100 is passed, without a counter: the gradient adds one.
    let y = g.while_loop(x).run(|y| less(y, 100.0), |y| y * y)?;
    let dx = g.gradients([y], [x]).dense()?[0];
    let ddx = g.gradients([dx], [x]).dense()?[0];
    let (y, dx, ddx): (f64, f64, f64) = Session::new(&g)?.run((y, dx, ddx), feed![x => 3.0])?;
    // 3 -> 9 -> 81 -> 6561 = x^8
    near(y, 6561.0);
    near(dx, 8.0 * 3f64.powi(7));
    near(ddx, 56.0 * 3f64.powi(6));
    Ok(())
}

#[test]
fn initial_values_and_captured_ones() -> Result<()> {
    let g = graph();
    let (x, w) = (scalar(&g, "x"), scalar(&g, "w"));
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(|(i, _)| less(i, 50), |(i, x)| (i + 1, x + 0.001 * x * tanh(w * x)))?;
    let d = g.gradients([y], [x, w]).dense()?;
    let dd = g.gradients([d[1]], [x, w]).dense()?;
    let session = Session::new(&g)?;
    let f = |x: f64, w: f64| (0..50).fold(x, |x, _| x + 0.001 * x * (w * x).tanh());
    let (y, dx, dw, dwx, dww): (f64, f64, f64, f64, f64) =
        session.run((y, d[0], d[1], dd[0], dd[1]), feed![x => 0.7, w => 1.3])?;
    near(y, f(0.7, 1.3));
    let e = 1e-4;
    let close = |got: f64, want: f64| assert!((got - want).abs() < 1e-6, "got {got}, want {want}");
    close(dx, (f(0.7 + e, 1.3) - f(0.7 - e, 1.3)) / (2.0 * e));
    close(dw, (f(0.7, 1.3 + e) - f(0.7, 1.3 - e)) / (2.0 * e));
    close(dww, (f(0.7, 1.3 + e) - 2.0 * f(0.7, 1.3) + f(0.7, 1.3 - e)) / (e * e));
    let mixed = f(0.7 + e, 1.3 + e) - f(0.7 + e, 1.3 - e) - f(0.7 - e, 1.3 + e) + f(0.7 - e, 1.3 - e);
    close(dwx, mixed / (4.0 * e * e));
    Ok(())
}

#[test]
fn nested_loops() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let (_, y) = g.while_loop((g.constant(0), x)).run(
        |(i, _)| less(i, 2),
        |(i, y)| {
            let inner =
                g.while_loop((g.constant(0), y)).run(|(j, _)| less(j, i + 1), |(j, z)| (j + 1, z * y * x))?;
            Ok::<_, millstream_tensor::Error>((i + 1, inner.1))
        },
    )?;
    // y1 = x·x·x = x³; y2 = x³ (x³ x)² = x¹¹
    let d1 = g.gradients([y], [x]).dense()?[0];
    let d2 = g.gradients([d1], [x]).dense()?[0];
    let (y, d1, d2): (f64, f64, f64) = Session::new(&g)?.run((y, d1, d2), feed![x => 1.1])?;
    near(y, 1.1f64.powi(11));
    near(d1, 11.0 * 1.1f64.powi(10));
    near(d2, 110.0 * 1.1f64.powi(9));
    Ok(())
}

#[test]
fn branches_in_loops() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let (_, y) = g.while_loop((g.constant(0), x)).run(
        |(i, _)| less(i, 6),
        |(i, y)| {
            let even = g.op("Equal").input(i % 2).input(0).output();
            let next = g.cond(even, || tanh(y) * x, || y * y + x)?;
            Ok::<_, millstream_tensor::Error>((i + 1, next))
        },
    )?;
    let d1 = g.gradients([y], [x]).dense()?[0];
    let d2 = g.gradients([d1], [x]).dense()?[0];
    let f = |x: f64| (0..6).fold(x, |y, i| if i % 2 == 0 { y.tanh() * x } else { y * y + x });
    let (y, d1, d2): (f64, f64, f64) = Session::new(&g)?.run((y, d1, d2), feed![x => 0.6])?;
    near(y, f(0.6));
    let e = 1e-4;
    let close = |got: f64, want: f64| assert!((got - want).abs() < 1e-5, "got {got}, want {want}");
    close(d1, (f(0.6 + e) - f(0.6 - e)) / (2.0 * e));
    close(d2, (f(0.6 + e) - 2.0 * f(0.6) + f(0.6 - e)) / (e * e));
    Ok(())
}

#[test]
fn a_loop_in_a_branch() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let small = less(x, 1.0);
    let y = g.cond(small, || power(&g, x, 3), || x * 5.0)?;
    let d = g.gradients([y * x], [x]).dense()?[0];
    let session = Session::new(&g)?;
    near(session.run::<f64>(d, feed![x => 0.5])?, 4.0 * 0.125);
    near(session.run::<f64>(d, feed![x => 3.0])?, 30.0);
    Ok(())
}

#[test]
fn inside_of_a_body() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    // Newton: z - (z² - x) / (2 z), with the derivative taken by the graph.
    let (_, z) = g.while_loop((g.constant(0), x)).run(
        |(i, _)| less(i, 30),
        |(i, z)| {
            let f = z * z - x;
            let df = g.gradients([f], [z]).dense()?[0];
            Ok::<_, millstream_tensor::Error>((i + 1, z - f / df))
        },
    )?;
    let d = g.gradients([z], [x]).dense()?[0];
    let (z, d): (f64, f64) = Session::new(&g)?.run((z, d), feed![x => 2.0])?;
    near(z, 2f64.sqrt());
    near(d, 0.5 / 2f64.sqrt());
    Ok(())
}

#[test]
fn shapes_that_grow() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let start = g.op("Reshape").input(x).input([1]).output();
    let (_, v) = g
        .while_loop((g.constant(0), start))
        .shape_of(1, [None])
        .run(|(i, _)| less(i, 3), |(i, v)| (i + 1, g.op("ConcatV2").inputs([v, v * x]).input(0).output()))?;
    let y = g.op("Sum").input(v).input(0).output();
    let d = g.gradients([y], [x]).dense()?[0];
    // y = x (1 + x)³
    let got: f64 = Session::new(&g)?.run(d, feed![x => 0.5])?;
    near(got, 1.5f64.powi(3) + 0.5 * 3.0 * 1.5f64.powi(2));
    Ok(())
}

#[test]
fn no_gradient_where_back_prop_is_off() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let y = g.while_loop(x).back_prop(false).run(|y| less(y, 100.0), |y| y * y)?;
    assert!(g.gradients([y], [x]).run()?[0].is_none());
    Ok(())
}

#[test]
fn the_same_bits_at_every_parallelism() -> Result<()> {
    let mut results: Vec<Vec<u64>> = Vec::new();
    for parallel in [1, 2, 10, 32] {
        let g = graph();
        let x = scalar(&g, "x");
        let (_, y) = g
            .while_loop((g.constant(0), x))
            .parallel_iterations(parallel)
            .run(|(i, _)| less(i, 40), |(i, y)| (i + 1, tanh(y * x) + y))?;
        let d1 = g.gradients([y], [x]).dense()?[0];
        let d2 = g.gradients([d1], [x]).dense()?[0];
        let (a, b): (f64, f64) = Session::new(&g)?.run((d1, d2), feed![x => 0.3])?;
        results.push(vec![a.to_bits(), b.to_bits()]);
    }
    assert!(results.windows(2).all(|w| w[0] == w[1]), "{results:?}");
    Ok(())
}

#[test]
fn inner_values_have_no_gradient_from_outside() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let mut inner = None;
    let y = g.while_loop(x).run(
        |y| less(y, 100.0),
        |y| {
            let square = y * y;
            inner = Some(square);
            square
        },
    )?;
    let Some(inner) = inner else { panic!("the body was not called") };
    let error = g.gradients([y], [inner]).run().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("is inside a loop"), "{error}");
    Ok(())
}

#[test]
fn matrices_in_a_loop() -> Result<()> {
    let g = graph();
    let w = g.placeholder_of("w", DType::F64, PartialShape::from([2, 2]));
    let x = g.constant([[0.5f64, -0.25]]);
    let (_, h) = g
        .while_loop((g.constant(0), x))
        .run(|(i, _)| less(i, 4), |(i, h)| (i + 1, tanh(g.op("MatMul").input(h).input(w).output() + x)))?;
    let y = g.op("Sum").input(h).input([0, 1]).output();
    let d = g.gradients([y], [w]).dense()?[0];
    let session = Session::new(&g)?;
    let base = [0.3, -0.7, 0.9, 0.4];
    let at = |w_value: &[f64]| session.run::<f64>(y, feed![w => Tensor::from_slice([2, 2], w_value)?]);
    let d: Tensor = session.run(d, feed![w => Tensor::from_slice([2, 2], &base)?])?;
    for i in 0..4 {
        let (mut up, mut down) = (base, base);
        up[i] += 1e-5;
        down[i] -= 1e-5;
        let want = (at(&up)? - at(&down)?) / 2e-5;
        assert!((d.as_slice::<f64>()?[i] - want).abs() < 1e-8, "{i}: {d} {want}");
    }
    Ok(())
}

/// The loop of `initial_values_and_captured_ones`, with a branch and an inner loop, and its checkpoints.
fn checkpointed(checkpoint: Option<millstream_graph::flow::Checkpoint>, n_value: i32) -> Result<Vec<u64>> {
    let g = graph();
    let (x, w) = (scalar(&g, "x"), scalar(&g, "w"));
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let (_, y) = g.while_loop((g.constant(0), x)).checkpoint(checkpoint).run(
        |(i, _)| less(i, n),
        |(i, y)| {
            let even = g.op("Equal").input(i % 2).input(0).output();
            let y = g.cond(even, || tanh(y) * w + x, || y * 0.5 + w)?;
            let (_, y) = g
                .while_loop((g.constant(0), y))
                .run(|(j, _)| less(j, i % 3), |(j, z)| (j + 1, z * w + tanh(z)))?;
            Ok::<_, millstream_tensor::Error>((i + 1, y))
        },
    )?;
    let d = g.gradients([y], [x, w]).dense()?;
    let dd = g.gradients([d[1]], [x, w]).dense()?;
    let feeds = feed![x => 0.7, w => 0.3, n => n_value];
    let (y, a, b, c, e): (f64, f64, f64, f64, f64) =
        Session::new(&g)?.run((y, d[0], d[1], dd[0], dd[1]), feeds)?;
    Ok([y, a, b, c, e].map(f64::to_bits).to_vec())
}

#[test]
fn checkpoints_give_the_same_bits() -> Result<()> {
    use millstream_graph::flow::Checkpoint::{Auto, Every};
    for n in [0, 1, 3, 4, 17, 50] {
        let want = checkpointed(None, n)?;
        for checkpoint in [Every(1), Every(4), Every(100), Auto { nested: false }, Auto { nested: true }] {
            let got = checkpointed(Some(checkpoint), n)?;
            assert_eq!(got[..3], want[..3], "{checkpoint:?}, {n} iterations");
            // The second order sums over stretches.
            for (got, want) in got[3..].iter().zip(&want[3..]) {
                near(f64::from_bits(*got), f64::from_bits(*want));
            }
        }
    }
    Ok(())
}

#[test]
fn what_is_not_repeatable_is_not_computed_anew() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let y = g.while_loop(x).checkpoint_every(3).run(
        |y| less(y, 100.0),
        |y| {
            y * y
                + g.op("RandomUniform")
                    .input(Tensor::vector::<i32>(&[]).unwrap_or_else(|_| Tensor::scalar(0)))
                    .attr("dtype", DType::F64)
                    .output()
        },
    )?;
    let error = g.gradients([y], [x]).run().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("cannot be recomputed"), "{error}");
    Ok(())
}

/// Returns the number of values that the loops of a graph push on lists.
fn pushes(g: &Graph) -> usize {
    g.read(|g| g.nodes().iter().filter(|n| n.op() == "TensorListPushBack").count())
}

#[test]
fn of_a_long_chain_one_value_is_saved() -> Result<()> {
    let g = graph();
    let x = scalar(&g, "x");
    let length = 2000;
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(|(i, _)| less(i, 2), |(i, y)| (i + 1, (0..length).fold(y, |y, _| tanh(y * 1.01))))?;
    let d = g.gradients([y], [x]).dense()?[0];
    assert_eq!(pushes(&g), 1);
    let (mut want_y, mut want) = (0.5f64, 1.0f64);
    for _ in 0..2 * length {
        want_y = (want_y * 1.01).tanh();
        want *= 1.01 * (1.0 - want_y * want_y);
    }
    let (y, d): (f64, f64) = Session::new(&g)?.run((y, d), feed![x => 0.5])?;
    near(y, want_y);
    near(d, want);
    Ok(())
}

// The product is expensive and has to be saved; what follows from it is recomputed.
#[test]
fn what_is_dear_is_saved_and_what_is_cheap_is_not() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, [8, 8]);
    let w = g.placeholder_of("w", DType::F64, [8, 8]);
    let even = |i: Output<'_>| Output::new(&g, (i % 2).port());
    let (_, y) = g.while_loop((g.constant(0), x)).run(
        |(i, _)| less(i, 3),
        |(i, y)| -> Result<_> {
            let product = g.op("MatMul").input(y).input(w).output();
            let odd = g.op("Equal").input(even(i)).input(1).output();
            let z = g.cond(odd, || tanh(product * 0.5) * product, || tanh(tanh(product)))?;
            Ok((i + 1, z))
        },
    )?;
    let d = g.gradients([y], [x, w]).dense()?;
    // The variable and the product are saved; which branch was taken follows from the counter.
    assert_eq!(pushes(&g), 2);
    let session = Session::new(&g)?;
    let values =
        |scale: f64| Tensor::from_iter([8, 8], (0..64).map(|i| scale * ((i * 37 % 19) as f64 - 9.0)));
    let (x_value, w_value) = (values(0.01)?, values(0.02)?);
    let at = |x_value: Tensor, w_value: Tensor| -> Result<f64> {
        let y: Tensor = session.run(y, feed![x => x_value, w => w_value])?;
        Ok(y.as_slice::<f64>()?.iter().sum())
    };
    let (dx, dw): (Tensor, Tensor) =
        session.run((d[0], d[1]), feed![x => x_value.clone(), w => w_value.clone()])?;
    for (k, got) in [(0, &dx), (1, &dw)] {
        for i in [0, 9, 63] {
            let moved = |by: f64| {
                let mut feeds = [x_value.clone(), w_value.clone()];
                feeds[k].make_mut_or_copy::<f64>()?[i] += by;
                let [x, w] = feeds;
                at(x, w)
            };
            let want = (moved(1e-5)? - moved(-1e-5)?) / 2e-5;
            assert!((got.as_slice::<f64>()?[i] - want).abs() < 1e-8, "{k} {i}: {got} {want}");
        }
    }
    Ok(())
}

/// A value that is recomputed from many elements is saved instead, if it is small.
#[test]
fn what_is_saved_depends_on_sizes() -> Result<()> {
    let any = PartialShape::unknown();
    let vector = |dim| PartialShape::new([dim]);
    let matrix = PartialShape::new([None, None]);
    // Beside the variable.
    let cases = [(vector(Some(4)), 0), (vector(Some(10_000)), 1), (vector(None), 0), (matrix, 1), (any, 1)];
    for (shape, saved) in cases {
        let g = graph();
        let x = g.placeholder_of("x", DType::F64, shape.clone());
        let axes: Vec<i32> = (0..shape.rank().unwrap_or(1) as i32).collect();
        let (_, y) = g.while_loop((g.constant(0), x)).run(
            |(i, _)| less(i, 2),
            |(i, y)| {
                let sum = g
                    .op("Sum")
                    .input(y)
                    .input(g.constant(axes.clone()))
                    .output()
                    .set_shape(PartialShape::scalar());
                (i + 1, y * tanh(sum))
            },
        )?;
        g.gradients([y], [x]).dense()?;
        assert_eq!(pushes(&g), 1 + saved, "{shape}");
    }
    Ok(())
}

/// What does not change in a loop is at hand in the backward loop, too.
#[test]
fn invariants_are_not_saved() -> Result<()> {
    let g = graph();
    let (x, w) = (scalar(&g, "x"), scalar(&g, "w"));
    let (_, y) = g.while_loop((g.constant(0), x)).run(|(i, _)| less(i, 3), |(i, y)| (i + 1, y * w))?;
    let d = g.gradients([y], [x]).dense()?[0];
    assert_eq!(pushes(&g), 0);
    near(Session::new(&g)?.run(d, feed![x => 2.0, w => 0.5])?, 0.125);
    Ok(())
}
