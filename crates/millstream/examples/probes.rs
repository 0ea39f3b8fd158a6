//! Derivatives through loops that other engines refuse or get wrong: a table of small programs with the right
//! answers and Millstream's.
//!
//! TensorFlow 1 refuses every second derivative here, JAX reverse mode through a trip count that is known
//! only at run time, XLA both; PyTorch's `while_loop` operator answers some of them wrongly.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::Derivatives;
use millstream::prelude::*;

/// A program: its name, the right answer, and the function that builds and feeds it.
pub(crate) struct Probe {
    pub(crate) name: &'static str,
    pub(crate) right: f64,
    pub(crate) build: fn(&Graph) -> Result<Fed<'_>>,
}

/// The value that a program computes, and its feeds.
pub(crate) struct Fed<'g> {
    pub(crate) answer: Output<'g>,
    pub(crate) feeds: Vec<(Output<'g>, Tensor)>,
}

/// `x` after `n` steps of `x + 0.001 x tanh(w x)`, summed; `w`.
struct Drift<'g> {
    end: Output<'g>,
    w: Output<'g>,
    feeds: Vec<(Output<'g>, Tensor)>,
}

fn drift<'g>(g: &'g Graph, constant_start: bool) -> Result<Drift<'g>> {
    let (w, n) = (g.placeholder::<f32>("w", shape![1]), g.placeholder::<i32>("n", shape![]));
    let mut feeds = vec![(w, Tensor::from_slice([1], &[1f32])?), (n, Tensor::scalar(7))];
    let x = if constant_start {
        g.constant([1f32])
    } else {
        let x = g.placeholder::<f32>("x", shape![1]);
        feeds.push((x, Tensor::from_slice([1], &[1f32])?));
        x
    };
    let (_, x) = g
        .while_loop((g.constant(0), x))
        .run(|(i, _)| i.less(n), |(i, x)| (i + 1, x + x * (w * x).tanh() * 0.001f32))?;
    Ok(Drift { end: x.reduce_sum(()), w, feeds })
}

/// Returns the derivative of this order of [`drift`] with respect to `w`.
fn drift_order(g: &Graph, order: usize, constant_start: bool) -> Result<Fed<'_>> {
    let Drift { end, w, feeds } = drift(g, constant_start)?;
    Ok(Fed { answer: derivative(g, end, w, order)?, feeds })
}

fn derivative<'g>(g: &'g Graph, mut y: Output<'g>, x: Output<'g>, order: usize) -> Result<Output<'g>> {
    for _ in 0..order {
        y = g.gradients([y], [x]).dense()?[0];
    }
    Ok(y)
}

fn along(g: &Graph) -> Result<Fed<'_>> {
    let Drift { end, w, feeds } = drift(g, false)?;
    Ok(Fed { answer: g.jvp(&[end], &[w], &[g.ones::<f32>([1])])?[0], feeds })
}

/// `n` nested loops of `n` iterations each, around a product with `w`.
fn nested(g: &Graph, depth: usize, times: i32, order: usize) -> Result<Fed<'_>> {
    fn turn<'g>(a: Output<'g>, w: Output<'g>, n: Output<'g>, depth: usize) -> Result<Output<'g>> {
        if depth == 0 {
            return Ok(a * w);
        }
        let g = w.graph();
        let (_, a) = g
            .while_loop((g.constant(0), a))
            .run(|(i, _)| i.less(n), |(i, a)| Ok::<_, Error>((i + 1, turn(a, w, n, depth - 1)?)))?;
        Ok(a)
    }
    let (w, n) = (g.placeholder::<f32>("w", shape![]), g.placeholder::<i32>("n", shape![]));
    let y = turn(g.constant(1f32), w, n, depth)?;
    let feeds = vec![(w, Tensor::scalar(1f32)), (n, Tensor::scalar(times))];
    Ok(Fed { answer: derivative(g, y, w, order)?, feeds })
}

/// Alternately times `w` and plus `w`: 2w² + w after four iterations.
fn branches(g: &Graph, order: usize) -> Result<Fed<'_>> {
    let (w, n) = (g.placeholder::<f32>("w", shape![]), g.placeholder::<i32>("n", shape![]));
    let (_, y) = g.while_loop((g.constant(0), g.constant(1f32))).run(
        |(i, _)| i.less(n),
        |(i, a)| {
            let even = i.floor_mod(2).equal(0);
            Ok::<_, Error>((i + 1, g.cond(even, || a * w, || a + w)?))
        },
    )?;
    let feeds = vec![(w, Tensor::scalar(2f32)), (n, Tensor::scalar(4))];
    Ok(Fed { answer: derivative(g, y, w, order)?, feeds })
}

/// Steps of 0.1 down the gradient of `a² w`, which are differentiated again.
fn descent(g: &Graph) -> Result<Fed<'_>> {
    let (w, n) = (g.placeholder::<f32>("w", shape![]), g.placeholder::<i32>("n", shape![]));
    let (_, y) = g.while_loop((g.constant(0), g.constant(1f32))).run(
        |(i, _)| i.less(n),
        |(i, a)| {
            let slope = g.gradients([a * a * w], [a]).dense()?[0];
            Ok::<_, Error>((i + 1, a - slope * 0.1f32))
        },
    )?;
    let feeds = vec![(w, Tensor::scalar(1f32)), (n, Tensor::scalar(3))];
    Ok(Fed { answer: derivative(g, y, w, 1)?, feeds })
}

/// A state that doubles in length in each iteration.
fn doubling(g: &Graph) -> Result<Fed<'_>> {
    let (start, n) = (g.ones::<f32>([1]), g.placeholder::<i32>("n", shape![]));
    let (_, y) = g
        .while_loop((g.constant(0), start))
        .shape_invariants((shape![], shape![_]))
        .run(|(i, _)| i.less(n), |(i, a)| (i + 1, g.concat(0, [a, a])))?;
    Ok(Fed { answer: derivative(g, y, start, 1)?, feeds: vec![(n, Tensor::scalar(3))] })
}

/// The programs.
pub(crate) const PROBES: &[Probe] = &[
    Probe {
        name: "reverse mode, data-dependent trip count",
        right: 0.00295345,
        build: |g| drift_order(g, 1, false),
    },
    Probe {
        name: "the same, starting from a constant",
        right: 0.00295345,
        build: |g| drift_order(g, 1, true),
    },
    Probe { name: "second order", right: -0.00451114, build: |g| drift_order(g, 2, false) },
    Probe { name: "third order", right: 0.00437517, build: |g| drift_order(g, 3, false) },
    Probe { name: "nested, first order", right: 9.0, build: |g| nested(g, 2, 3, 1) },
    Probe { name: "nested, second order", right: 72.0, build: |g| nested(g, 2, 3, 2) },
    Probe { name: "triple nested, first order", right: 8.0, build: |g| nested(g, 3, 2, 1) },
    Probe { name: "triple nested, second order", right: 56.0, build: |g| nested(g, 3, 2, 2) },
    Probe { name: "cond in loop, first order", right: 9.0, build: |g| branches(g, 1) },
    Probe { name: "cond in loop, second order", right: 4.0, build: |g| branches(g, 2) },
    Probe { name: "jvp", right: 0.00295345, build: along },
    Probe { name: "gradients inside the body, then through it", right: -0.384, build: descent },
    Probe { name: "growing shape, first order", right: 8.0, build: doubling },
];

/// Returns Millstream's answer.
fn answer(probe: &Probe) -> Result<f32> {
    let g = Graph::new();
    let Fed { answer, feeds } = (probe.build)(&g)?;
    let feeds = feeds.into_iter().fold(feed![], |feeds, (x, value)| feeds.and(x, value));
    Session::new(&g)?.run(answer.reduce_sum(()), feeds)
}

fn main() -> Result<()> {
    println!("| probe | right | Millstream |\n| --- | --- | --- |");
    for probe in PROBES {
        println!("| {} | {} | {} |", probe.name, probe.right, answer(probe)?);
    }
    Ok(())
}

#[test]
fn every_row_is_right() -> Result<()> {
    for probe in PROBES {
        let got = f64::from(answer(probe)?);
        assert!(
            (got - probe.right).abs() < 2e-6 * probe.right.abs(),
            "{}: {got}, not {}",
            probe.name,
            probe.right
        );
    }
    Ok(())
}
