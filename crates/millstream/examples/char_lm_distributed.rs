//! A character model trained by several processes, the ranks of an MPI job:
//!
//! ```sh
//! mpirun -n 2 cargo run --release --features mpi --example char_lm_distributed -- [TEXT] [FOLDER]
//! ```
//!
//! Every rank takes its share of each batch of a text, and the gradients are averaged over all ranks, so all
//! have the same weights after each step. Rank 0 saves checkpoints to FOLDER, from which the program goes on
//! when it is started again. One process takes batches as large as those of all ranks together, so the losses
//! can be compared. Without TEXT it reads itself, without FOLDER it saves nothing, and without the feature
//! `mpi` it is one process.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::prelude::*;
use millstream::rnn::{BasicLstmCell, Cell};
use millstream::train::distributed::{self, Collective};
use millstream::train::{Optimizer, Saver, latest_checkpoint};
use millstream::{Initializer, Recurrent, SessionOptions, VariableScopes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const UNITS: usize = 96;
const WIDTH: usize = 32;
const CHARACTERS: usize = 128;
/// The windows of a step, on all ranks together.
const BATCH: usize = 32;
const LENGTH: usize = 40;
/// The characters of a window: the inputs, and the one after them.
const WINDOW: usize = LENGTH + 1;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let text = arguments.next().unwrap_or_else(|| file!().into());
    let text = std::fs::read(&text).map_err(|e| Error::invalid(format!("cannot read {text}: {e}")))?;
    let folder = arguments.next().map(PathBuf::from);
    #[cfg(feature = "mpi")]
    let job = distributed::Job::join(distributed::RanksOptions::default())?;
    #[cfg(feature = "mpi")]
    let ranks = job.ranks();
    #[cfg(not(feature = "mpi"))]
    let ranks: Arc<dyn Collective> = Arc::new(distributed::Alone);
    let outcome = train(&text, folder.as_deref(), 60, ranks.clone())?;
    if ranks.rank() == 0 {
        if 0 < outcome.first {
            println!("went on after step {}", outcome.first);
        }
        for (step, loss) in outcome.losses.iter().enumerate().filter(|(i, _)| i % 20 == 19) {
            println!("step {}: {loss:.4} nats a character", outcome.first + step as i64 + 1);
        }
        println!("{} ranks, {:.0} characters a second", ranks.size(), outcome.speed);
    }
    let sum: f64 = outcome.weights.as_slice::<f32>()?.iter().map(|&w| f64::from(w)).sum();
    println!("rank {}: the weights sum to {sum}, as on all ranks", ranks.rank());
    Ok(())
}

/// The result of a run on one rank.
struct Outcome {
    /// The step of the checkpoint that the run began with.
    first: i64,
    /// The mean loss over all ranks after each step, in nats per character.
    losses: Vec<f32>,
    /// The output layer's weights.
    weights: Tensor,
    /// Characters per second, of all ranks together.
    speed: f64,
}

fn train(text: &[u8], folder: Option<&Path>, steps: i64, ranks: Arc<dyn Collective>) -> Result<Outcome> {
    let (rank, size) = (ranks.rank(), ranks.size());
    let g = Graph::new();
    g.set_seed(1);
    let codes = g.placeholder::<i32>("codes", shape![_, WINDOW]);
    let embedding = g.get_variable("embedding", [CHARACTERS, WIDTH]).build()?;
    let kernel = g.get_variable("softmax/kernel", [UNITS, CHARACTERS]).build()?;
    let bias = g.get_variable("softmax/bias", [CHARACTERS]).initializer(Initializer::zeros()).build()?;
    let mut cell = BasicLstmCell::new(UNITS);
    cell.build(&g, "rnn/", WIDTH, DType::F32)?;

    // Time comes first, so that each step of the loop reads contiguous rows.
    let inputs = embedding.value().gather(codes.transpose([1, 0]).slice_axis(0, 0..LENGTH as i32));
    let next = codes.transpose([1, 0]).slice_axis(0, 1..LENGTH as i32 + 1).reshape([-1]);
    let (outputs, _) = g.dynamic_rnn(&mut cell, inputs).time_major(true).run()?;
    let logits = outputs.reshape([-1, UNITS as i32]).matmul(kernel.value()) + bias.value();
    let [losses, _] = g.nn().sparse_softmax_cross_entropy_with_logits(logits, next);
    let loss = losses.reduce_mean(());

    let step = g.global_step()?;
    let optimizer = Optimizer::adam(0.01);
    let gradients = distributed::average(optimizer.compute_gradients(loss)?)?;
    let train = optimizer.apply_gradients(gradients, Some(step))?;
    let mean_loss = g.named("mean_loss").with("reduction", "mean").collective().all_reduce(loss);
    let init = g.global_variables_initializer();
    let same = distributed::broadcast(&g, &g.global_variables(), 0)?;
    let saver = Saver::new(&g)?;

    let options = SessionOptions { collective: Some(ranks), threads: Some(1), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    session.run::<()>(init, feed![])?;
    // Rank 0 restores and saves; the others get its values.
    let folder = folder.filter(|_| rank == 0);
    if let Some(checkpoint) = folder.map(latest_checkpoint).transpose()?.flatten() {
        saver.restore(&session, checkpoint)?;
    }
    session.run::<()>(same, feed![])?;
    let first: i64 = session.run(step.value(), feed![])?;
    let (begin, mut losses) = (Instant::now(), Vec::new());
    for i in first..first + steps {
        let ((), loss): ((), f32) =
            session.run((train, mean_loss), feed![codes => windows(text, i, rank, size)?])?;
        losses.push(loss);
        if let Some(folder) = folder.filter(|_| i % 20 == 19) {
            saver.save(&session, folder.join("model"), Some(i + 1))?;
        }
    }
    let speed = (steps as usize * BATCH * LENGTH) as f64 / begin.elapsed().as_secs_f64();
    Ok(Outcome { first, losses, weights: session.run(kernel.value(), feed![])?, speed })
}

/// Returns the rank's share of the windows of a step, which are the same for any number of ranks.
fn windows(text: &[u8], step: i64, rank: usize, size: usize) -> Result<Tensor> {
    let n_starts = text.len().checked_sub(LENGTH).filter(|&n| 0 < n);
    let n_starts = n_starts.ok_or_else(|| Error::invalid("the text is too short"))?;
    let mut rows = Vec::new();
    for i in (rank..BATCH).step_by(size) {
        // The mixing function of SplitMix64.
        let mut start = (step as u64 * BATCH as u64 + i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        start = (start ^ (start >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        start = (start ^ (start >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let start = (start ^ (start >> 31)) as usize % n_starts;
        rows.extend(text[start..start + WINDOW].iter().map(|&c| i32::from(c.min(127))));
    }
    Tensor::from_slice([rows.len() / WINDOW, WINDOW], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use distributed::{Alone, Channels, Ranks, RanksOptions};

    #[test]
    fn two_ranks_learn_what_one_does_and_go_on() -> Result<()> {
        let text: Vec<u8> = (0..4000u32).map(|i| b"a small text, over and over. "[i as usize % 29]).collect();
        let folder = std::env::temp_dir().join(format!("millstream-distributed-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let job = |steps| -> Result<Vec<Outcome>> {
            std::thread::scope(|threads| {
                let start = |end| {
                    let (text, folder) = (&text, &folder);
                    threads.spawn(move || {
                        let ranks = Arc::new(Ranks::start(end, RanksOptions::default())?);
                        train(text, Some(folder), steps, ranks)
                    })
                };
                let ranks: Vec<_> = Channels::job(2).into_iter().map(start).collect();
                ranks.into_iter().map(|rank| rank.join().expect("does not panic")).collect()
            })
        };
        let (alone, both) = (train(&text, None, 20, Arc::new(Alone))?, job(20)?);
        assert!(alone.losses[19] < 0.8 * alone.losses[0], "{:?}", alone.losses);
        for (a, b) in alone.losses.iter().zip(&both[0].losses) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
        assert!(both[0].weights.bits_eq(&both[1].weights));

        let more = job(1)?;
        assert_eq!((more[0].first, more[1].first), (20, 20));
        assert!(more[0].weights.bits_eq(&more[1].weights) && more[0].losses[0] < both[0].losses[10]);
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }
}
