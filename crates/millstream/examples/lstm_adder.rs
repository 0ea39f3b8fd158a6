//! An LSTM that learns to add: two numbers of a sequence are marked, and it predicts their sum (Hochreiter
//! and Schmidhuber 1997).

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;
use millstream::rnn::BasicLstmCell;
use millstream::train::Optimizer;
use millstream::{Recurrent, VariableScopes};
use std::time::Instant;

const LENGTH: usize = 10;
const BATCH: usize = 64;

/// A generator of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f32) as usize % n
    }

    /// Returns sequences of (number, mark), and the sum of the two marked numbers of each.
    fn batch(&mut self) -> Result<[Tensor; 2]> {
        let (mut x, mut sums) = (vec![0f32; BATCH * LENGTH * 2], vec![0f32; BATCH]);
        for (row, sum) in x.chunks_mut(LENGTH * 2).zip(&mut sums) {
            row.iter_mut().step_by(2).for_each(|v| *v = self.next());
            // One mark in the first half, one in the second.
            for place in [self.below(LENGTH / 2), LENGTH / 2 + self.below(LENGTH / 2)] {
                row[2 * place + 1] = 1.0;
                *sum += row[2 * place];
            }
        }
        Ok([Tensor::from_slice([BATCH, LENGTH, 2], &x)?, Tensor::from_slice([BATCH, 1], &sums)?])
    }
}

/// Trains for `steps` steps. Returns the share of about a thousand sums that are correct within 0.04, before
/// and after.
fn learn(steps: usize) -> Result<(f32, f32)> {
    let g = Graph::new();
    g.set_seed(3);
    let x = g.placeholder::<f32>("x", shape![_, LENGTH, 2]);
    let sum = g.placeholder::<f32>("sum", shape![_, 1]);
    let mut cell = BasicLstmCell::new(32);
    let (_, state) = g.dynamic_rnn(&mut cell, x).run()?;
    let out = g.get_variable("out", [32, 1]).build()?;
    let error = state.h.matmul(out.value()) - sum;
    let loss = error.square().reduce_mean(());
    let right = error.abs().less(0.04).cast::<f32>().reduce_mean(());
    let train = Optimizer::adam(0.01f32).minimize(loss, None)?;

    let session = Session::new(&g)?;
    session.run::<()>(g.global_variables_initializer(), feed![])?;
    let step = session.make_callable(train, [x, sum])?;
    let test = session.make_callable(right, [x, sum])?;
    let accuracy = || -> Result<f32> {
        let mut numbers = Numbers(99);
        let parts: Result<Vec<f32>> = (0..16).map(|_| test.call_as(&numbers.batch()?)).collect();
        Ok(parts?.iter().sum::<f32>() / 16.0)
    };
    let before = accuracy()?;
    let mut numbers = Numbers(5);
    for _ in 0..steps {
        step.call(&numbers.batch()?)?;
    }
    Ok((before, accuracy()?))
}

fn main() -> Result<()> {
    let begin = Instant::now();
    let (before, after) = learn(1500)?;
    println!(
        "{:.1} % right before, {:.1} % after {:.1} s",
        before * 100.0,
        after * 100.0,
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

#[test]
fn it_learns_to_add() -> Result<()> {
    let (before, after) = learn(400)?;
    assert!(before < 0.2 && 0.5 < after, "{before} {after}");
    Ok(())
}
