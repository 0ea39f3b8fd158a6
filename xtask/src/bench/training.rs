//! The cases with gradients: a loop with a product and a tanh (`w4`), the training step of an LSTM (`w5`),
//! with long sequences (`w5t`), and its memory (`w5mem`).

use super::cases::{check, session};
use super::report::Bench;
use millstream::prelude::*;
use millstream::rnn::{BasicLstmCell, Cell, LstmState};
use millstream::{Callable, Initializer, Recurrent, SessionOptions, TensorArray};

const EPS: f32 = 0.001;

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    /// A number with `low <= x < high`.
    fn next(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 40) as f32 / (1u64 << 24) as f32)
    }

    fn many(&mut self, n: usize, low: f32, high: f32) -> Vec<f32> {
        (0..n).map(|_| self.next(low, high)).collect()
    }
}

/// `x = x + eps * x * tanh(w * x)`; the loss is the sum of the last `x`.
pub(super) fn small_loop(b: &Bench) -> Result<()> {
    let n = b.size(1000);
    for dim in [1usize, 128] {
        for (name, pi, swap, maximum) in [
            ("pi=1", 1, false, false),
            ("pi=10", 10, false, false),
            ("pi=10 swap_memory", 10, true, false),
            ("pi=10 maximum_iterations", 10, false, true),
        ] {
            let variant = format!("dim={dim} {name}");
            if !b.wanted(&variant) {
                continue;
            }
            let g = Graph::new();
            let (x, w) = (g.placeholder::<f32>("x", [dim]), g.placeholder::<f32>("w", [dim]));
            let limit = g.placeholder::<i32>("limit", shape![]);
            let the_loop = g.while_loop((g.constant(0), x)).parallel_iterations(pi).swap_memory(swap);
            let the_loop = if maximum { the_loop.maximum_iterations(n as i32) } else { the_loop };
            let (_, out) =
                the_loop.run(|(i, _)| i.less(limit), |(i, x)| (i + 1, x + x * EPS * (w * x).tanh()))?;
            let loss = out.reduce_sum(());
            let grad = g.gradients([loss], [w]).dense()?[0];
            let s = session(&g, b)?;
            let both = s.make_callable((loss, grad), [x, w, limit])?;
            let forward = s.make_callable(loss, [x, w, limit])?;
            let mut numbers = Numbers(4);
            let (xv, wv) = (numbers.many(dim, 0.5, 1.5), numbers.many(dim, 0.5, 1.5));
            let feeds = [Tensor::vector(&xv)?, Tensor::vector(&wv)?, Tensor::scalar(n as i32)];
            let (got, slope): (f32, Vec<f32>) = both.call_as(&feeds)?;
            let (want, want_slope) = by_hand(&xv, &wv, n);
            check((f64::from(got) - want).abs() <= 2e-3 * want.abs(), "the loss")?;
            let close = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() <= 2e-3 * b.abs();
            check(slope.iter().zip(&want_slope).all(close), "the gradient")?;
            let k = 20;
            let run = |call: &Callable| b.timed(|| (0..k).try_for_each(|_| call.call(&feeds).map(|_| ())));
            b.rate("w4", &format!("{variant} fwd+grad"), n, (n * k) as f64, &run(&both)?, "iterations/s");
            if name == "pi=10" {
                b.rate(
                    "w4",
                    &format!("{variant} fwd only"),
                    n,
                    (n * k) as f64,
                    &run(&forward)?,
                    "iterations/s",
                );
            }
        }
    }
    Ok(())
}

/// The loss and its gradient by `w`, in f64, by forward differentiation.
fn by_hand(x: &[f32], w: &[f32], n: usize) -> (f64, Vec<f64>) {
    let mut x: Vec<f64> = x.iter().map(|&v| v.into()).collect();
    let mut d = vec![0.0; x.len()];
    let eps = f64::from(EPS);
    for _ in 0..n {
        for ((x, d), &w) in x.iter_mut().zip(&mut d).zip(w) {
            let w = f64::from(w);
            let t = (w * *x).tanh();
            *d += eps * (*d * t + *x * (1.0 - t * t) * (*x + w * *d));
            *x += eps * *x * t;
        }
    }
    (x.iter().sum(), d)
}

/// One training step of an LSTM, fed `[t, b, h]`; the loss is the mean square of its outputs.
struct Training {
    step: Callable,
    x: Tensor,
    session: Session,
}

/// The ways in which the net is built.
#[derive(Clone, Copy)]
enum Net {
    Dynamic { pi: i64, swap: bool },
    ByHand { pi: i64, checkpoints: Option<i64> },
}

impl Training {
    fn new(bench: &Bench, (t, b, h): (usize, usize, usize), net: Net) -> Result<Training> {
        let mut numbers = Numbers(5);
        // The standard deviation of standard normal numbers.
        let x = numbers.many(t * b * h, -1.732, 1.732);
        let bound = 1.0 / (h as f32).sqrt();
        let kernel = numbers.many(2 * h * 4 * h, -bound, bound);
        let want = lstm_loss(&x, &kernel, (t, b, h));
        let x = {
            // The numbers are dropped before the step runs.
            let numbers = x;
            Tensor::from_slice([t, b, h], &numbers)?
        };
        let g = Graph::new();
        let input = g.placeholder::<f32>("x", shape![_, b, h]);
        let values = Tensor::from_slice([2 * h, 4 * h], &kernel)?;
        // The bias contains the forget bias.
        let mut cell = BasicLstmCell::new(h).forget_bias(0.0).initializer(Initializer::constant(values));
        let outputs = match net {
            Net::Dynamic { pi, swap } => {
                let rnn = g.dynamic_rnn(&mut cell, input).time_major(true);
                rnn.parallel_iterations(pi).swap_memory(swap).run()?.0
            }
            Net::ByHand { pi, checkpoints } => by_hand_rnn(&g, &mut cell, input, (b, h), pi, checkpoints)?,
        };
        let loss = outputs.square().reduce_mean(());
        let weights = cell.weights();
        let grads = g.gradients([loss], weights.iter().map(|w| w.value)).dense()?;
        let steps: Vec<Op<'_>> =
            weights.iter().zip(grads).map(|(w, d)| w.variable.assign_sub(d * 0.01)).collect();
        let train = g.group(steps);
        // With a limit, the session counts its bytes.
        let options = SessionOptions { memory_limit: Some(isize::MAX as usize), ..bench.session_options() };
        let session = Session::with_options(&g, options)?;
        let bias: Vec<f32> = (0..4 * h).map(|i| if i / h == 2 { 1.0 } else { 0.0 }).collect();
        let forget = weights[1].variable.assign(g.constant(Tensor::vector(&bias)?));
        session.run::<()>(g.global_variables_initializer(), feed![])?;
        session.run::<()>(forget, feed![])?;
        let step = session.make_callable((loss, train), [input])?;
        let training = Training { step, x, session };
        let first = training.run()?;
        if 1e-3 * want < (first - want).abs() {
            return Err(Error::internal(format!("the loss is {first}, not {want}")));
        }
        Ok(training)
    }

    fn run(&self) -> Result<f64> {
        let (loss, ()): (f32, ()) = self.step.call_as(std::slice::from_ref(&self.x))?;
        Ok(loss.into())
    }
}

/// The same net, written by hand.
fn by_hand_rnn<'g>(
    g: &'g Graph,
    cell: &mut BasicLstmCell<'g>,
    x: Output<'g>,
    (b, h): (usize, usize),
    pi: i64,
    checkpoints: Option<i64>,
) -> Result<Output<'g>> {
    cell.build(g, "rnn/", h, DType::F32)?;
    let (inputs, zero) = (TensorArray::of_rows(x), cell.zero_state(g, b.into(), DType::F32)?);
    let outputs = TensorArray::of::<f32>(g, inputs.size()).build();
    let n = inputs.size();
    let the_loop = g.while_loop((g.constant(0), zero, outputs)).parallel_iterations(pi);
    let the_loop = match checkpoints {
        Some(k) => the_loop.checkpoint_every(k),
        None => the_loop,
    };
    let (_, _, outputs) = the_loop.run(
        |(t, _, _)| t.less(n),
        |(t, state, outputs): (_, LstmState<'g>, TensorArray<'g>)| -> Result<_> {
            let (y, state) = cell.step(inputs.read(t), state)?;
            Ok((t + 1, state, outputs.write(t, y)))
        },
    )?;
    Ok(outputs.stack())
}

/// The loss of the forward pass, written out.
fn lstm_loss(x: &[f32], kernel: &[f32], (t, b, h): (usize, usize, usize)) -> f64 {
    let sigmoid = |v: f32| 1.0 / (1.0 + (-v).exp());
    let (mut state, mut c, mut total) = (vec![0f32; b * h], vec![0f32; b * h], 0f64);
    let mut z = vec![0f32; 4 * h];
    for s in 0..t {
        for e in 0..b {
            z.fill(0.0);
            z[2 * h..3 * h].fill(1.0);
            let row = &x[(s * b + e) * h..(s * b + e + 1) * h];
            for (i, v) in row.iter().chain(&state[e * h..(e + 1) * h]).enumerate() {
                z.iter_mut().zip(&kernel[i * 4 * h..(i + 1) * 4 * h]).for_each(|(z, k)| *z += v * k);
            }
            for u in 0..h {
                let (i, j, f, o) = (z[u], z[h + u], z[2 * h + u], z[3 * h + u]);
                let at = e * h + u;
                c[at] = sigmoid(f) * c[at] + sigmoid(i) * j.tanh();
                state[at] = sigmoid(o) * c[at].tanh();
                total += f64::from(state[at] * state[at]);
            }
        }
    }
    total / (t * b * h) as f64
}

/// Training steps a second.
pub(super) fn lstm(b: &Bench) -> Result<()> {
    for (shape, size) in [("T100B64H256", (100, 64, 256)), ("T50B32H64", (50, 32, 64))] {
        for (name, net) in [
            ("dynamic_rnn pi=32", Net::Dynamic { pi: 32, swap: false }),
            ("dynamic_rnn pi=1", Net::Dynamic { pi: 1, swap: false }),
            ("while_loop+TensorArray pi=32", Net::ByHand { pi: 32, checkpoints: None }),
        ] {
            let variant = format!("{shape} {name}");
            if !b.wanted(&variant) {
                continue;
            }
            let training = Training::new(b, size, net)?;
            let k = b.size(if size.2 > 128 { 4 } else { 100 });
            let times = b.timed(|| (0..k).try_for_each(|_| training.run().map(|_| ())))?;
            b.rate("w5", &variant, k, k as f64, &times, "steps/s");
        }
    }
    Ok(())
}

/// Iterations a second of training steps over sequences ten and a hundred times as long.
pub(super) fn lstm_length(b: &Bench) -> Result<()> {
    for t in [1000, 10_000, 100_000] {
        let variant = format!("T{t}B4H32 while_loop+TensorArray");
        if !b.wanted(&variant) {
            continue;
        }
        let training = Training::new(b, (t, 4, 32), Net::ByHand { pi: 32, checkpoints: None })?;
        let times = b.timed(|| training.run().map(|_| ()))?;
        b.rate("w5t", &variant, t, t as f64, &times, "iterations/s");
    }
    Ok(())
}

/// The peak memory after three steps. Needs a process for each variant, so name one.
pub(super) fn lstm_memory(b: &Bench) -> Result<()> {
    for t in [100usize, 2000] {
        for (name, net) in [
            ("dynamic_rnn", Net::Dynamic { pi: 32, swap: false }),
            ("dynamic_rnn swap_memory", Net::Dynamic { pi: 32, swap: true }),
            ("while_loop+TensorArray checkpoint each 45", Net::ByHand { pi: 32, checkpoints: Some(45) }),
        ] {
            let variant = format!("T{t}B16H128 {name}");
            if !b.only(&variant) {
                continue;
            }
            let before = peak_mib()?;
            let training = Training::new(b, (t, 16, 128), net)?;
            (0..3).try_for_each(|_| training.run().map(|_| ()))?;
            let tensors = training.session.peak_bytes() as f64 / f64::from(1 << 20);
            let extra = [("after_import", before), ("tensors_mib", tensors)];
            b.emit("w5mem", &variant, t, vec![peak_mib()?], "MiB peak RSS", &extra);
        }
    }
    Ok(())
}

/// The peak memory of the process.
fn peak_mib() -> Result<f64> {
    memory_mib("VmHWM:")
}

/// The entry of this name in the system's report on the memory of the process.
pub(super) fn memory_mib(name: &str) -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0)
        .ok_or_else(|| Error::internal("this system does not say how much memory is held"))
}
