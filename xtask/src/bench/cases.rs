//! The cases without gradients or queues.

use super::report::Bench;
use millstream::prelude::*;
use millstream::{Callable, SessionOptions};
use std::process::Command;

pub(super) fn session(g: &Graph, bench: &Bench) -> Result<Session> {
    Session::with_options(g, bench.session_options())
}

fn placeholder<'g>(g: &'g Graph, name: &str, dtype: DType, shape: &[usize]) -> Output<'g> {
    g.placeholder_of(name, dtype, shape)
}

fn less<'g>(a: Output<'g>, b: Output<'g>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn matmul<'g>(a: Output<'g>, b: Output<'g>) -> Output<'g> {
    a.graph().op("MatMul").input(a).input(b).output()
}

pub(super) fn check(ok: bool, what: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::internal(format!("{what}: wrong result"))) }
}

/// `while i < n: i += 1`, and the same with a recurrence that cannot be shortened.
pub(super) fn counter(b: &Bench) -> Result<()> {
    let n = b.size(3_000_000);
    for pi in [1, 10, 32] {
        let variant = format!("pi={pi}");
        if !b.wanted(&variant) {
            continue;
        }
        let g = Graph::new();
        let (start, limit) =
            (placeholder(&g, "start", DType::I32, &[]), placeholder(&g, "limit", DType::I32, &[]));
        let out = g.while_loop(start).parallel_iterations(pi).run(|i| less(i, limit), |i| i + 1)?;
        let call = session(&g, b)?.make_callable(out, [start, limit])?;
        let times = b.timed(|| {
            let i: i32 = call.call_as(&[Tensor::scalar(0), Tensor::scalar(n as i32)])?;
            check(i == n as i32, "counter")
        })?;
        b.rate("w1", &variant, n, n as f64, &times, "iterations/s");
    }
    let variant = "pi=10 counter+LCG";
    if b.wanted(variant) {
        let g = Graph::new();
        let (x, limit) = (placeholder(&g, "x", DType::I32, &[]), placeholder(&g, "limit", DType::I32, &[]));
        let zero = g.constant_tensor("zero", Tensor::scalar(0));
        let (_, out) = g
            .while_loop((zero, x))
            .run(|(i, _)| less(i, limit), |(i, x)| (i + 1, x * 1664525 + 1013904223))?;
        let call = session(&g, b)?.make_callable(out, [x, limit])?;
        let want = (0..n).fold(1i32, |x, _| x.wrapping_mul(1664525).wrapping_add(1013904223));
        let times = b.timed(|| {
            let x: i32 = call.call_as(&[Tensor::scalar(1), Tensor::scalar(n as i32)])?;
            check(x == want, "LCG")
        })?;
        b.rate("w1", variant, n, n as f64, &times, "iterations/s");
    }
    Ok(())
}

/// `(i, x)` with `x + 1`, x of 10,000 or 16 floats.
pub(super) fn vectors(b: &Bench) -> Result<()> {
    let n = b.size(10_000);
    for dim in [10_000usize, 16] {
        for pi in [1, 10] {
            let variant = format!("dim={dim} pi={pi}");
            if !b.wanted(&variant) {
                continue;
            }
            let g = Graph::new();
            let (x, limit) =
                (placeholder(&g, "x", DType::F32, &[dim]), placeholder(&g, "limit", DType::I32, &[]));
            let zero = g.constant_tensor("zero", Tensor::scalar(0));
            let (_, out) = g
                .while_loop((zero, x))
                .parallel_iterations(pi)
                .run(|(i, _)| less(i, limit), |(i, x)| (i + 1, x + 1.0))?;
            let call = session(&g, b)?.make_callable(out, [x, limit])?;
            let zeros = Tensor::zeros(DType::F32, [dim])?;
            let reps = 10;
            let times = b.timed(|| {
                for _ in 0..reps {
                    let out: Tensor = call.call_as(&[zeros.clone(), Tensor::scalar(n as i32)])?;
                    check(out.as_slice::<f32>()?.iter().all(|v| *v == n as f32), "vectors")?;
                }
                Ok(())
            })?;
            b.rate("w2", &variant, n, (reps * n) as f64, &times, "iterations/s");
        }
    }
    Ok(())
}

/// A nested loop: n times n additions to a float.
pub(super) fn nested(b: &Bench) -> Result<()> {
    let n = b.size(300);
    for pi in [1, 10] {
        let variant = format!("pi={pi}");
        if !b.wanted(&variant) {
            continue;
        }
        let g = Graph::new();
        let size = placeholder(&g, "size", DType::I32, &[]);
        let (step, acc) = (placeholder(&g, "step", DType::F32, &[]), placeholder(&g, "acc", DType::F32, &[]));
        let zero = || g.constant_tensor("zero", Tensor::scalar(0));
        let inner = |acc: Output<'_>| -> Result<_> {
            let acc = Output::new(&g, acc.port());
            g.while_loop((zero(), acc))
                .parallel_iterations(pi)
                .run(|(j, _)| less(j, size), |(j, a)| (j + 1, a + step))
        };
        let mut failed = None;
        let (_, out) = g.while_loop((zero(), acc)).parallel_iterations(pi).run(
            |(i, _)| less(i, size),
            |(i, a)| match inner(a) {
                Ok((_, a)) => (i + 1, a),
                Err(error) => {
                    failed = Some(error);
                    (i, a)
                }
            },
        )?;
        if let Some(error) = failed {
            return Err(error);
        }
        let call = session(&g, b)?.make_callable(out, [size, step, acc])?;
        let feeds = [Tensor::scalar(n as i32), Tensor::scalar(1.0f32), Tensor::scalar(0.0f32)];
        let times = b.timed(|| {
            for _ in 0..3 {
                let out: f32 = call.call_as(&feeds)?;
                check(n > 4000 || out == (n * n) as f32, "nested")?;
            }
            Ok(())
        })?;
        b.rate("w3", &variant, n, (3 * n * n) as f64, &times, "inner iterations/s");
    }
    Ok(())
}

/// An orthogonal matrix, whose powers neither grow nor vanish: the Householder reflection of a fixed vector.
fn orthogonal(d: usize) -> Result<Tensor> {
    let v: Vec<f64> = (0..d).map(|i| ((i * 37 + 11) % 101) as f64 / 101.0 - 0.4).collect();
    let norm: f64 = v.iter().map(|x| x * x).sum();
    let at = |i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j] / norm;
    Tensor::from_iter([d, d], (0..d * d).map(|k| at(k / d, k % d) as f32))
}

/// `a = a @ w1; b += sum(a @ w2)`: only overlapping iterations can use two cores.
pub(super) fn overlap(b: &Bench) -> Result<()> {
    for d in [256usize, 512] {
        if !b.wanted(&format!("d={d}")) {
            continue;
        }
        let n = b.size(if d == 256 { 2000 } else { 300 });
        let mut first: Option<(f64, f32)> = None;
        for pi in [1, 2, 10] {
            let g = Graph::new();
            let square = |name| placeholder(&g, name, DType::F32, &[d, d]);
            let (a0, w1, w2) = (square("a"), square("w1"), square("w2"));
            let limit = placeholder(&g, "limit", DType::I32, &[]);
            let axes = g.constant_tensor("axes", Tensor::vector(&[0, 1])?);
            let sum = |x: Output<'_>| {
                let x = Output::new(&g, x.port());
                g.op("Sum").input(x).input(axes).output()
            };
            let zero = g.constant_tensor("zero", Tensor::scalar(0));
            let start = g.constant_tensor("start", Tensor::scalar(0.0f32));
            let (_, _, out) = g.while_loop((zero, a0, start)).parallel_iterations(pi).run(
                |(i, _, _)| less(i, limit),
                |(i, a, acc)| {
                    let a = matmul(a, w1);
                    (i + 1, a, acc + sum(matmul(a, w2)))
                },
            )?;
            // One thread per kernel, like the peer's intra=1.
            let options = SessionOptions {
                threads: Some(b.threads),
                one_thread_per_kernel: true,
                ..SessionOptions::default()
            };
            let call = Session::with_options(&g, options)?.make_callable(out, [a0, w1, w2, limit])?;
            let q = orthogonal(d)?;
            let feeds = [q.clone(), q.clone(), q, Tensor::scalar(n as i32)];
            let mut got = 0.0;
            let times = b.timed(|| {
                got = call.call_as(&feeds)?;
                Ok(())
            })?;
            let speed = n as f64 / {
                let mut t = times.clone();
                t.sort_by(f64::total_cmp);
                t[t.len() / 2]
            };
            let (base, value) = *first.get_or_insert((speed, got));
            check(value.to_bits() == got.to_bits(), "the sum at every parallel_iterations")?;
            let variant = format!("d={d} pi={pi}");
            b.emit(
                "w7",
                &variant,
                n,
                times.iter().map(|t| n as f64 / t).collect(),
                "iterations/s",
                &[("vs_pi1", speed / base)],
            );
        }
    }
    Ok(())
}

/// Wall time and peak memory of a process that runs a loop of ten iterations: the command line on a graph
/// file.
pub(super) fn start_up(b: &Bench) -> Result<()> {
    let io = |e: std::io::Error| Error::internal(format!("w8: {e}"));
    let dir =
        std::env::current_exe().map_err(io)?.parent().map(std::path::Path::to_path_buf).unwrap_or_default();
    let program = dir.join("millstream");
    if !program.exists() {
        return Err(Error::internal(format!("{} is not built", program.display()))
            .with_help("cargo build --release -p millstream-cli"));
    }
    let graph = crate::root().join("tests/golden/graphs/algo_collatz/graph.pb");
    let run = || -> Result<std::process::Output> {
        // From 24 the sequence takes ten steps.
        let args = ["--feed", "n:0=24", "--fetch", "while/Exit_1:0"];
        Command::new(&program).arg("run").arg(&graph).args(args).output().map_err(io)
    };
    let first = run()?;
    check(first.status.success(), &String::from_utf8_lossy(&first.stderr))?;
    let times = b.timed(|| run().map(|_| ()))?;
    b.emit("w8", "millstream run", 10, times, "s wall", &[]);
    Ok(())
}

/// Scalar additions in one graph, as a chain or independent. With `--n 1`, the cost of a call.
pub(super) fn overhead(b: &Bench) -> Result<()> {
    let n = b.size(10_000);
    for shape in ["chain", "independent"] {
        if !b.wanted(shape) {
            continue;
        }
        let g = Graph::new();
        let (p, q) = (placeholder(&g, "p", DType::F32, &[]), placeholder(&g, "q", DType::F32, &[]));
        let add = |a, b| g.op("Add").input(a).input(b).output();
        let k = (2_000_000 / n).clamp(1, 100_000);
        let feeds = [Tensor::scalar(0.0f32), Tensor::scalar(1.0f32)];
        let time = |call: Callable, chain: bool| {
            b.timed(|| {
                for _ in 0..k {
                    let out = call.call(&feeds)?;
                    if chain && n < 1 << 24 {
                        check(out[0].to_scalar::<f32>()? == n as f32, "chain")?;
                    }
                }
                Ok(())
            })
        };
        let times = if shape == "chain" {
            let out = (0..n).fold(p, |out, _| add(out, q));
            time(session(&g, b)?.make_callable(out, [p, q])?, true)?
        } else {
            let mut group = g.op("NoOp");
            for _ in 0..n {
                group = group.control(add(p, q));
            }
            let group = group.finish();
            time(session(&g, b)?.make_callable(group, [p, q])?, false)?
        };
        let per_node = |times: Vec<f64>| times.into_iter().map(|t| t * 1e9 / (k * n) as f64).collect();
        b.emit("w9", &format!("{shape} callable"), n, per_node(times), "ns/node", &[]);
        if n == 1 && shape == "chain" {
            let g = Graph::new();
            let (p, q) = (placeholder(&g, "p", DType::F32, &[]), placeholder(&g, "q", DType::F32, &[]));
            let out = g.op("Add").input(p).input(q).output();
            let s = session(&g, b)?;
            let times = b.timed(|| {
                for _ in 0..k {
                    let out: f32 = s.run(out, feed![p => 0.0f32, q => 1.0f32])?;
                    check(out == 1.0, "one addition")?;
                }
                Ok(())
            })?;
            b.emit("w9", "chain Session::run", n, per_node(times), "ns/node", &[]);
        }
    }
    Ok(())
}

/// float32 matrix products, one after another.
pub(super) fn products(b: &Bench) -> Result<()> {
    // Square products, then those of a recurrent net: a step, its gradient by the state (W transposed) and by
    // W (the state transposed).
    for (name, m, k, n) in [
        ("256", 256, 256, 256),
        ("512", 512, 512, 512),
        ("1024", 1024, 1024, 1024),
        ("64x512x1024", 64, 512, 1024),
        ("16x128x512", 16, 128, 512),
        ("16x512x1024", 16, 512, 1024),
        ("32x256x1024", 32, 256, 1024),
        ("128x512x2048", 128, 512, 2048),
        ("256x512x1024", 256, 512, 1024),
        ("16x1024x512 b turned", 16, 1024, 512),
        ("64x1024x512 b turned", 64, 1024, 512),
        ("512x64x1024 a turned", 512, 64, 1024),
    ] {
        if !b.wanted(name) {
            continue;
        }
        let flops = 2.0 * (m * k * n) as f64;
        let times = (80e9 / flops).min(5000.0) as usize;
        let g = Graph::new();
        let (ta, tb) = (name.ends_with("a turned"), name.ends_with("b turned"));
        let (xs, ys) = (if ta { [k, m] } else { [m, k] }, if tb { [n, k] } else { [k, n] });
        let (x, y) = (placeholder(&g, "x", DType::F32, &xs), placeholder(&g, "y", DType::F32, &ys));
        let product = || g.op("MatMul").input(x).input(y).attr("transpose_a", ta).attr("transpose_b", tb);
        let mut last = product().finish();
        for _ in 1..times {
            last = product().control(last).finish();
        }
        let call = session(&g, b)?.make_callable(last, [x, y])?;
        let value = |i: usize| ((i * 7919 + 13) % 1009) as f32 / 1009.0 - 0.5;
        let feeds =
            [Tensor::from_iter(xs, (0..m * k).map(value))?, Tensor::from_iter(ys, (0..k * n).map(value))?];
        let seconds = b.timed(|| call.call(&feeds).map(|_| ()))?;
        b.rate("w10", name, times, 1e-9 * flops * times as f64, &seconds, "GFLOP/s");
    }
    Ok(())
}
