//! Fits a line to noisy points, saves the variables, and continues from the checkpoint in another session.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;
use millstream::train::{Optimizer, Saver, Schedules, latest_checkpoint};
use millstream::{Initializer, VariableScopes};

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("millstream-train-line-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let losses = train(&folder)?;
    println!("loss before {:.4}, when saved {:.4}, after going on {:.4}", losses[0], losses[1], losses[2]);
    let _removed = std::fs::remove_dir_all(&folder);
    Ok(())
}

/// Returns the losses at the start, when saved, and after another session continued.
fn train(folder: &std::path::Path) -> Result<[f32; 3]> {
    let g = Graph::new();
    g.set_seed(1);

    // Points of y = 3 x - 1, with noise.
    let x = g.placeholder::<f32>("x", shape![_, 1]);
    let y = g.placeholder::<f32>("y", shape![_, 1]);
    let points: Vec<f32> = (0..64).map(|i| i as f32 / 32.0 - 1.0).collect();
    let noisy: Vec<f32> =
        points.iter().enumerate().map(|(i, x)| 3.0 * x - 1.0 + 0.02 * (i as f32).sin()).collect();
    let (points, noisy) = (Tensor::from_slice([64, 1], &points)?, Tensor::from_slice([64, 1], &noisy)?);

    let line = g.variable_scope("line").run(|_| -> Result<Output<'_>> {
        let w = g.get_variable("w", [1, 1]).build()?;
        let b = g.get_variable("b", [1]).initializer(Initializer::zeros()).build()?;
        Ok(x.matmul(w.value()) + b.value())
    })?;
    let loss = (line - y).square().reduce_sum(()) / 64.0;
    let step = g.global_step()?;
    let rate = g.exponential_decay(0.1, step.value(), 100.0, 0.9, false);
    let train = Optimizer::adam(rate).minimize(loss, Some(step))?;
    let init = g.global_variables_initializer();
    let saver = Saver::new(&g)?;

    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let feeds = || feed![x => points.clone(), y => noisy.clone()];
    let first: f32 = session.run(loss, feeds())?;
    for _ in 0..100 {
        session.run::<()>(train, feeds())?;
    }
    let steps: i64 = session.run(step.value(), feed![])?;
    saver.save(&session, folder.join("line"), Some(steps))?;
    let saved: f32 = session.run(loss, feeds())?;

    let later = Session::new(&g)?;
    let latest = latest_checkpoint(folder)?.ok_or_else(|| Error::invalid("nothing was saved"))?;
    saver.restore(&later, latest)?;
    let restored: f32 = later.run(loss, feeds())?;
    assert_eq!(saved, restored, "the same variables give the same loss");
    for _ in 0..200 {
        later.run::<()>(train, feeds())?;
    }
    Ok([first, saved, later.run(loss, feeds())?])
}

#[test]
fn the_line_is_found() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("millstream-train-line-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("makes the folder");
    let [first, saved, last] = train(&folder)?;
    assert!(saved < 0.1 * first && last < 1e-3, "{first} {saved} {last}");
    std::fs::remove_dir_all(&folder).expect("removes the folder");
    Ok(())
}
