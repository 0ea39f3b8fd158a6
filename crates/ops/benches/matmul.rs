//! How fast `MatMul` is, in GFLOP/s, on one thread and on two: `cargo bench -p millstream-ops --bench
//! matmul`.
#![expect(clippy::print_stdout, reason = "results are for people")]

use millstream_graph::op::lone;
use millstream_graph::op::{NodeInfo, StepHost};
use millstream_graph::{Attrs, ValueType};
use millstream_tensor::{DType, Result, Tensor, invalid};
use std::sync::Arc;
use std::time::Instant;

struct Threads(usize);

impl StepHost for Threads {
    fn print(&self, _: &str) {}
    fn threads(&self) -> usize {
        self.0
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
}

fn main() -> Result<()> {
    let op = millstream_ops::registry().get("MatMul").ok_or_else(|| invalid!("there is no MatMul"))?;
    let types: [ValueType; 2] = [DType::F32.into(), DType::F32.into()];
    let node = NodeInfo::resolve(op, "product", &types, Attrs::new())?;
    let sizes = [
        (8, 8, 8),
        (16, 16, 16),
        (1, 128, 512),
        (32, 128, 512),
        (64, 512, 1024),
        (256, 256, 256),
        (512, 512, 512),
        (1024, 1024, 1024),
    ];
    println!("     m     k     n   1 thread  2 threads  (f32, GFLOP/s, best of many)");
    for (m, k, n) in sizes {
        let values = |count: usize| (0..count).map(|i| (i * 7919 % 1000) as f32 / 1000.0 - 0.5);
        let a = Tensor::from_iter([m, k], values(m * k))?;
        let b = Tensor::from_iter([k, n], values(k * n))?;
        let flops = 2.0 * (m * k * n) as f64;
        let mut best = [0f64; 2];
        for (i, threads) in [1, 2].into_iter().enumerate() {
            let mut env = lone::env();
            env.host = Arc::new(Threads(threads));
            let repeats = (2e9 / flops).clamp(20.0, 20_000.0) as usize;
            for _ in 0..repeats {
                let start = Instant::now();
                lone::run(&node, &env, &[a.clone(), b.clone()])?;
                best[i] = best[i].max(flops / start.elapsed().as_nanos() as f64);
            }
        }
        println!("{m:6}{k:6}{n:6}{:11.1}{:11.1}", best[0], best[1]);
    }
    Ok(())
}
