//! The cases with queues: bucketing (`w6`), and one scalar through a queue (`queue`).

use super::cases::{check, session};
use super::report::Bench;
use super::training::memory_mib;
use millstream::contrib::training::{bucket, bucket_by_sequence_length};
use millstream::prelude::*;
use millstream::train::range_input_producer;
use millstream::{Code, Coordinator, Queue, RunQueues};
use std::cell::Cell;
use std::time::Instant;

const BATCH: usize = 32;
const LONGEST: i32 = 100;
const EDGES: [i32; 7] = [13, 26, 38, 51, 63, 76, 88];

/// Sequences of 1 to 100 tokens, one after another.
struct Data {
    lengths: Vec<i32>,
    offsets: Vec<i32>,
    tokens: Vec<i32>,
}

impl Data {
    fn new(n: usize) -> Data {
        let mut state = 6u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % n) as i32
        };
        let lengths: Vec<i32> = (0..n).map(|_| 1 + below(LONGEST as u64)).collect();
        let mut end = 0;
        let offsets = lengths
            .iter()
            .map(|length| {
                end += length;
                end - length
            })
            .collect();
        let tokens = (0..end).map(|_| 1 + below(999)).collect();
        Data { lengths, offsets, tokens }
    }

    /// The sum of the tokens in the first `n` sequences, which repeat.
    fn token_sum(&self, n: usize) -> i64 {
        let all = self.lengths.len();
        let of = |i: usize| {
            let (from, length) = (self.offsets[i] as usize, self.lengths[i] as usize);
            self.tokens[from..from + length].iter().map(|&x| i64::from(x)).sum::<i64>()
        };
        let (whole, rest) = (n / all, n % all);
        whole as i64 * (0..all).map(of).sum::<i64>() + (0..rest).map(of).sum::<i64>()
    }
}

/// Sequences of length 1 to 100 in 8 buckets, batches of 32 padded, the last ones smaller.
pub(super) fn buckets(b: &Bench) -> Result<()> {
    let n = b.size(400_000);
    // At most a million sequences, whose offsets fit int32. A larger `n` repeats them.
    let data = Data::new(n.min(1_000_000));
    for by_length in [false, true] {
        for num_threads in [1, 2, 4] {
            let variant = match by_length {
                false => format!("queues num_threads={num_threads}"),
                true => format!("by length num_threads={num_threads}"),
            };
            if b.wanted(&variant) {
                let times =
                    b.timed_by(|| bucketed(b, &data, [n, 1], num_threads, by_length, &mut |_| Ok(())))?;
                b.rate("w6", &variant, n, n as f64, &times, "elements/s");
            }
        }
    }
    Ok(())
}

/// The same over a long time, with the memory of the process at ten moments: `--n` sequences, which repeat a
/// hundred thousand.
pub(super) fn soak(b: &Bench) -> Result<()> {
    const PERIOD: usize = 100_000;
    let n = b.size(100_000_000);
    let data = Data::new(n.min(PERIOD));
    let epochs = n.div_ceil(PERIOD);
    let n = data.lengths.len() * epochs;
    for num_threads in [1, 4] {
        let variant = format!("queues num_threads={num_threads}");
        if !b.wanted(&variant) {
            continue;
        }
        let (mut seen, mut memory, begin) = (0, Vec::new(), Instant::now());
        let took = bucketed(b, &data, [data.lengths.len(), epochs], num_threads, false, &mut |rows| {
            seen += rows;
            if seen >= (memory.len() + 1) * n / 10 {
                let (mib, rate) = (memory_mib("VmRSS:")?, seen as f64 / begin.elapsed().as_secs_f64());
                memory.push(mib);
                b.note(&format!("{seen:>11} of {n} elements, {mib:.1} MiB, {rate:.0} elements/s so far"));
            }
            Ok(())
        })?;
        b.emit("soak", &variant, n, memory, "MiB", &[("elements_per_s", n as f64 / took)]);
    }
    Ok(())
}

/// The seconds from the start of the runners to the last batch of `epochs` times `n` elements. `seen` is
/// called with the number of rows of each batch.
fn bucketed(
    b: &Bench,
    data: &Data,
    [n, epochs]: [usize; 2],
    num_threads: usize,
    by_length: bool,
    seen: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<f64> {
    let g = Graph::new();
    let index = range_input_producer(&g, n as i32).num_epochs(epochs as i64).shuffle(false).build()?;
    let [index] = index.dequeue()?.all()?;
    let index = if data.lengths.len() < n { index % data.lengths.len() as i32 } else { index };
    let held = |name: &str, of: &[i32]| -> Result<_> {
        let value = Tensor::vector(of)?;
        let fed = g.placeholder_of(name, DType::I32, value.shape());
        let variable = g.variable(&format!("{name}_variable"), fed);
        Ok((variable, fed, value))
    };
    let (lengths, offsets) = (held("lengths", &data.lengths)?, held("offsets", &data.offsets)?);
    let tokens = held("tokens", &data.tokens)?;
    let length = g.gather(lengths.0.value(), index, 0);
    let offset = g.gather(offsets.0.value(), index, 0);
    let sequence = g.slice(tokens.0.value(), g.stack([offset], 0), g.stack([length], 0)).set_shape(shape![_]);
    let batch = match by_length {
        false => {
            let which = length.greater_equal(g.constant(EDGES)).cast::<i32>().reduce_sum(());
            bucket(&g, sequence, which, BATCH, EDGES.len() + 1)
                .num_threads(num_threads)
                .dynamic_pad(true)
                .allow_smaller_final_batch(true)
                .run()?
                .outputs
        }
        true => {
            bucket_by_sequence_length(&g, length, sequence, BATCH, EDGES.map(i64::from))
                .num_threads(num_threads)
                .dynamic_pad(true)
                .allow_smaller_final_batch(true)
                .run()?
                .outputs
                .1
        }
    };
    let init = [g.global_variables_initializer(), g.local_variables_initializer()];
    let s = session(&g, b)?;
    let feeds = [&lengths, &offsets, &tokens].map(|(_, fed, value)| (*fed, value.clone()));
    for init in init {
        let [x, y, z] = feeds.clone();
        s.run::<()>(init, feed![x.0 => x.1, y.0 => y.1, z.0 => z.1])?;
    }
    let take = s.make_callable(batch, [])?;
    let (mut rows, mut sum) = (0, 0i64);
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    let begin = Instant::now();
    s.start_queue_runners(&coordinator)?;
    let end = loop {
        match take.call(&[]) {
            Ok(batch) => {
                let shape = batch[0].shape().dims();
                check(shape[0] <= BATCH && shape[1] <= LONGEST as usize, "the size of a batch")?;
                rows += shape[0];
                seen(shape[0])?;
                sum += batch[0].as_slice::<i32>()?.iter().map(|&x| i64::from(x)).sum::<i64>();
            }
            Err(error) => break error,
        }
    };
    let took = begin.elapsed().as_secs_f64();
    coordinator.request_stop();
    coordinator.join()?;
    if end.code() != Code::OutOfRange {
        return Err(end);
    }
    check(rows == n * epochs, "an element was lost")?;
    check(sum == data.token_sum(n) * epochs as i64, "a token was lost")?;
    Ok(took)
}

/// One scalar into a queue and out again, by prepared calls and by the queue itself.
pub(super) fn scalars(b: &Bench) -> Result<()> {
    let n = b.size(200_000);
    let g = Graph::new();
    let q = Queue::fifo(&g, 1000, [DType::I32]).shapes([shape![]]).build()?;
    let (put, [get]) = (q.enqueue(1)?, q.dequeue()?.all()?);
    let s = session(&g, b)?;
    let (put, take) = (s.make_callable(put, [])?, s.make_callable(get, [])?);
    let handle: Tensor = s.run(q.handle(), feed![])?;
    let direct = handle.as_handles().and_then(|h| h.first()?.share::<millstream_state::Queue>());
    let direct = direct.ok_or_else(|| Error::internal("the handle is not a queue's"))?;
    // Enqueues and dequeues are timed apart: a hundred in, a hundred out.
    let measure =
        |variant: [&str; 2], put: &dyn Fn() -> Result<()>, take: &dyn Fn() -> Result<()>| -> Result<()> {
            if !variant.iter().any(|v| b.wanted(v)) {
                return Ok(());
            }
            let taking = Cell::new(Vec::new());
            let putting = b.timed_by(|| {
                let mut spent = [0.0; 2];
                for _ in 0..n / 100 {
                    for (spent, step) in spent.iter_mut().zip([put, take]) {
                        let begin = Instant::now();
                        (0..100).try_for_each(|_| step())?;
                        *spent += begin.elapsed().as_secs_f64();
                    }
                }
                let mut all = taking.take();
                all.push(spent[1]);
                taking.set(all);
                Ok(spent[0])
            })?;
            let taking = taking.take();
            let nanoseconds = |times: &[f64]| times.iter().map(|t| t / n as f64 * 1e9).collect::<Vec<_>>();
            b.emit("queue", variant[0], n, nanoseconds(&putting), "ns", &[]);
            b.emit("queue", variant[1], n, nanoseconds(&taking[taking.len() - putting.len()..]), "ns", &[]);
            Ok(())
        };
    measure(["enqueue, prepared call", "dequeue, prepared call"], &|| put.call(&[]).map(drop), &|| {
        take.call(&[]).map(drop)
    })?;
    measure(
        ["enqueue, the queue itself", "dequeue, the queue itself"],
        &|| {
            let item = millstream_state::Item::new(std::iter::once(Tensor::scalar(1)).collect())?;
            direct.try_enqueue(item).map(drop)
        },
        &|| direct.try_dequeue_one().map(drop),
    )
}
