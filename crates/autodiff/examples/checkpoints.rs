//! The gradient of a long loop, with everything saved and with checkpoints: time and memory.
//!
//! `cargo run --release -p millstream-autodiff --example checkpoints -- [all|auto|K] N`

#![expect(clippy::print_stdout, reason = "an example prints what it did")]

use millstream_autodiff::Gradients;
use millstream_graph::Graph;
use millstream_graph::flow::Checkpoint;
use millstream_runtime::{Session, feed};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};
use std::time::Instant;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mode, n] = args.as_slice() else {
        return Err(invalid!(
            "say what to save (`all`, `auto`, or the distance of checkpoints) and how many iterations"
        ));
    };
    let n_value: i32 = n.parse().map_err(|_| invalid!("`{n}` is not a number of iterations"))?;
    let checkpoint = match mode.as_str() {
        "all" => None,
        "auto" => Some(Checkpoint::Auto { nested: true }),
        k => Some(Checkpoint::Every(k.parse().map_err(|_| invalid!("`{k}` is no distance"))?)),
    };
    let g = Graph::with_ops(millstream_ops::registry());
    let x = g.placeholder_of("x", DType::F64, PartialShape::from([128]));
    let w = g.placeholder_of("w", DType::F64, PartialShape::from([128]));
    let n = g.placeholder_of("n", DType::I32, PartialShape::scalar());
    let (_, y) = g.while_loop((g.constant(0), x)).checkpoint(checkpoint).run(
        |(i, _)| g.op("Less").inputs([i, n]).output(),
        |(i, x)| (i + 1, x + 1e-6 * x * g.op("Tanh").input(w * x).output()),
    )?;
    let total = g.op("Sum").input(y).input([0]).output();
    let grads = g.gradients([total], [x, w]).dense()?;
    let session = Session::new(&g)?;
    let value = Tensor::from_iter([128], (0..128).map(|i| 0.5 + f64::from(i) / 128.0))?;
    let feeds = feed![x => &value, w => &value, n => n_value];
    let start = Instant::now();
    let (dx, dw): (Tensor, Tensor) = session.run((grads[0], grads[1]), feeds)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{mode} {n_value}: {seconds:.3} s, {:.0} ns an iteration, peak {} MiB, dx[0] {}, dw[0] {}",
        seconds * 1e9 / f64::from(n_value),
        peak_mib().map_or("?".into(), |m| m.to_string()),
        dx.as_slice::<f64>()?[0],
        dw.as_slice::<f64>()?[0]
    );
    Ok(())
}

/// The most memory that the process has had, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}
