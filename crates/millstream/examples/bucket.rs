//! Batches of sequences of similar length, and the padding that they save.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use millstream::contrib::training::{Statistics, bucket_by_sequence_length};
use millstream::prelude::*;
use millstream::{Queue, RunQueues};

fn main() -> Result<()> {
    let (batches, counts) = batches(&[8, 16, 32, 64])?;
    for (lengths, words) in batches.iter().take(3) {
        println!("{lengths:?}\n{words}");
    }
    println!("{counts}");
    let (_, counts) = self::batches(&[1_000_000])?;
    println!("without buckets {:.0}% would be padding", 100.0 * counts.padding_waste());
    Ok(())
}

/// The lengths of the sequences in a batch, and the sequences.
type Batch = (Vec<i32>, Tensor);

/// Returns batches of sequences, bucketed at these lengths, and the statistics of all sequences.
fn batches(boundaries: &[i64]) -> Result<(Vec<Batch>, Statistics)> {
    let g = Graph::new();

    // The source of the sequences: here a queue of a thousand numbers `n`, each of which becomes `n` ones.
    let n = 1000;
    let numbers = Queue::fifo(&g, n, [DType::I32]).shapes([shape![]]).build()?;
    let start = numbers.enqueue_many([g.range(0, n as i32, 1)])?;
    let end = numbers.close();
    let [number] = numbers.dequeue()?.all()?;
    let length = number * 7919 % 100 + 1;
    let sequence = g.fill(g.stack([length], 0), g.constant(1)).set_shape(shape![_]);

    // One call adds padded batches of 16, filled by two threads; the sequences left at the end make smaller
    // batches.
    let bucketed = bucket_by_sequence_length(&g, length, sequence, 16, boundaries.iter().copied())
        .dynamic_pad(true)
        .num_threads(2)
        .allow_smaller_final_batch(true)
        .run()?;

    let session = Session::new(&g)?;
    session.run::<()>(start, feed![])?;
    session.run::<()>(end, feed![])?;
    let mut batches = Vec::new();
    session.with_queue_runners(|_| -> Result<()> {
        loop {
            // A training step would be here; the loop ends with the input.
            batches.push(session.run(bucketed.outputs, feed![])?);
        }
    })?;
    Ok((batches, bucketed.statistics(&session)?))
}

#[test]
fn nothing_is_lost_and_little_padded() -> Result<()> {
    let (out, counts) = batches(&[8, 16, 32, 64])?;
    let rows: usize = out.iter().map(|(lengths, _)| lengths.len()).sum();
    assert_eq!((rows, counts.came(), counts.dropped()), (1000, 1000, 0));
    for (lengths, batch) in &out {
        let ones: i32 = batch.as_slice::<i32>()?.iter().sum();
        assert_eq!(ones, lengths.iter().sum::<i32>(), "what is added is zeros");
    }
    let (_, apart) = batches(&[1_000_000])?;
    assert!(counts.padding_waste() < 0.6 * apart.padding_waste(), "{counts}\n{apart}");
    Ok(())
}
