//! A neural ODE: a small net computes the derivative of a state, a loop of Runge-Kutta steps integrates it,
//! and the net is trained through the loop.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;

/// Learns a spiral. Returns the mean squared errors before and after.
fn learn(steps: usize) -> Result<(f32, f32)> {
    let g = Graph::new();
    g.set_seed(1);
    let w1 = g.variable("w1", g.random_uniform([2, 16], -0.5f32, 0.5, None));
    let w2 = g.variable("w2", g.random_uniform([16, 2], -0.5f32, 0.5, None));
    let (k1, k2) = (w1.read(), w2.read());

    // Starting points on a circle, and their positions 10 steps of 0.1 later.
    let start = g.placeholder::<f32>("start", shape![_, 2]);
    let goal = g.placeholder::<f32>("goal", shape![_, 2]);
    let dt = 0.1f32;
    let (_, end) = g.while_loop((g.constant(0), start)).run(
        |(i, _)| i.less(10),
        |(i, x)| {
            let halfway = x + x.matmul(k1).tanh().matmul(k2) * (dt / 2.0);
            (i + 1, x + halfway.matmul(k1).tanh().matmul(k2) * dt)
        },
    )?;
    let loss = (end - goal).square().reduce_mean(());
    let d = g.gradients([loss], [k1, k2]).dense()?;
    let train = g.group([w1.assign_sub(d[0] * 0.3), w2.assign_sub(d[1] * 0.3)]);

    let turned = |t: f32, size: f32| [size * t.cos(), size * t.sin()];
    let angles = (0..16).map(|i| i as f32 * 0.4);
    let starts: Vec<f32> = angles.clone().flat_map(|t| turned(t, 1.0)).collect();
    let goals: Vec<f32> = angles.flat_map(|t| turned(t + 1.0, 0.8)).collect();
    let (starts, goals) = (Tensor::from_slice([16, 2], &starts)?, Tensor::from_slice([16, 2], &goals)?);
    let session = Session::new(&g)?;
    session.run::<()>(g.global_variables_initializer(), feed![])?;
    let step = session.make_callable((loss, train), [start, goal])?;
    let once = || -> Result<f32> { Ok(step.call_as::<(f32, ())>(&[starts.clone(), goals.clone()])?.0) };
    let first = once()?;
    let mut last = first;
    for _ in 0..steps {
        last = once()?;
    }
    Ok((first, last))
}

fn main() -> Result<()> {
    let (first, last) = learn(500)?;
    println!("mean squared error {first} before, {last} after");
    Ok(())
}

#[test]
fn it_learns() -> Result<()> {
    let (first, last) = learn(100)?;
    assert!(last < first / 20.0, "{first} {last}");
    Ok(())
}
