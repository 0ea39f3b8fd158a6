//! [`Statistics`]: what became of every element that came to a [`bucket`](super::bucket()).

use crate::queue::Queue;
use millstream_runtime::{Session, feed};
use millstream_state as state;
use millstream_tensor::{Result, Tensor, invalid};
use std::fmt;
use std::sync::Arc;

/// What became of every element that came to a bucket, at one moment: it came out, it waits, or it was dropped, and why.
///
/// `came() == out() + waiting() + dropped()` as soon as nothing is on its way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Each bucket.
    pub buckets: Vec<BucketStatistics>,
    /// Elements that `keep_input` did not let in.
    pub filtered: u64,
    /// Elements whose `which_bucket` is none of the buckets, where those are dropped.
    pub out_of_range: u64,
}

/// What became of the elements of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BucketStatistics {
    /// How many came.
    pub n_in: u64,
    /// How many came out in batches.
    pub n_out: u64,
    /// How many are in the bucket, or in a batch that nobody has taken yet.
    pub waiting: u64,
    /// How many will never come out: too few for a batch when the input ended, or in a batch when the runners were stopped.
    pub discarded: u64,
    /// How many batches were put together.
    pub batches: u64,
    /// How many rows those have.
    pub rows: u64,
    /// How many rows each should have, where that is fixed.
    pub batch_size: Option<usize>,
    /// How many numbers and strings those have, in all components.
    pub cells: u64,
    /// How many of them are padding.
    pub padding: u64,
}

impl BucketStatistics {
    /// How full the batches are: rows over those they have room for. 1 where there are none, or where they have no fixed size.
    pub fn fill(&self) -> f64 {
        let room = self.batch_size.map_or(0, |size| size as u64 * self.batches);
        share(self.rows, room).unwrap_or(1.0)
    }

    /// How much of the batches is padding: 0 is none, 1 all.
    pub fn padding_waste(&self) -> f64 {
        share(self.padding, self.cells).unwrap_or(0.0)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Statistics {
    fn sum(&self, of: impl Fn(&BucketStatistics) -> u64) -> u64 {
        self.buckets.iter().map(of).sum()
    }

    /// How many elements came, those that were not let in among them.
    pub fn came(&self) -> u64 {
        self.sum(|b| b.n_in) + self.filtered + self.out_of_range
    }

    /// How many came out in batches.
    pub fn out(&self) -> u64 {
        self.sum(|b| b.n_out)
    }

    /// How many wait for others, or to be taken.
    pub fn waiting(&self) -> u64 {
        self.sum(|b| b.waiting)
    }

    /// How many were dropped, for whatever reason.
    pub fn dropped(&self) -> u64 {
        self.sum(|b| b.discarded) + self.filtered + self.out_of_range
    }

    /// How much of all batches is padding: 0 is none, 1 all.
    pub fn padding_waste(&self) -> f64 {
        share(self.sum(|b| b.padding), self.sum(|b| b.cells)).unwrap_or(0.0)
    }

    /// As the queues of a session say.
    pub(super) fn of(
        session: &Session,
        queues: &[Queue],
        top: &Queue,
        batch_sizes: &[Option<usize>],
    ) -> Result<Statistics> {
        let handles = queues.iter().chain([top]).map(Queue::handle).collect::<Vec<_>>();
        let handles: Vec<Tensor> = session.run(handles, feed![])?;
        let shared = |handle: &Tensor| {
            let handle = handle.as_handles().and_then(|h| h.first()?.share::<state::Queue>());
            handle.ok_or_else(|| invalid!("a bucket's queue is none"))
        };
        let mut queues = handles.iter().map(shared).collect::<Result<Vec<Arc<state::Queue>>>>()?;
        let top = queues.pop().ok_or_else(|| invalid!("a bucket has a queue of batches"))?;
        // What came out is read last, or more could have come out than in.
        let mut in_top = vec![0; queues.len()];
        let closed = top.is_closed();
        top.look(|batch| {
            let number = batch[0].to_scalar::<i32>().ok().and_then(|n| usize::try_from(n).ok());
            let rows = batch.get(1).and_then(|first| first.shape().first().copied()).unwrap_or(1);
            if let Some(count) = number.and_then(|n| in_top.get_mut(n)) {
                *count += rows as u64;
            }
        });
        let tally = top.tally();
        let of_bucket = |(i, (queue, &batch_size)): (usize, (&Arc<state::Queue>, &Option<usize>))| {
            let (report, batches) = (queue.report(), queue.tally());
            let n_out = i32::try_from(i).ok().and_then(|i| tally.taken.get(&i)).map_or(0, |taken| taken.rows);
            // No batch comes any more once the top queue is closed.
            let left = report.n_in.saturating_sub(n_out);
            let waiting = if closed { left.min(in_top[i]) } else { left };
            BucketStatistics {
                n_in: report.n_in,
                n_out,
                waiting,
                discarded: left - waiting,
                batches: batches.batches,
                rows: batches.rows,
                batch_size,
                cells: batches.cells,
                padding: batches.padding,
            }
        };
        let buckets = queues.iter().zip(batch_sizes).enumerate().map(of_bucket).collect();
        Ok(Statistics { buckets, filtered: tally.filtered, out_of_range: tally.out_of_range })
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "bucket        in       out   waiting discarded  fill  padding")?;
        for (i, b) in self.buckets.iter().enumerate() {
            let (fill, waste) = (100.0 * b.fill(), 100.0 * b.padding_waste());
            writeln!(
                f,
                "{i:>6} {:>9} {:>9} {:>9} {:>9} {fill:>4.0}% {waste:>7.1}%",
                b.n_in, b.n_out, b.waiting, b.discarded
            )?;
        }
        write!(
            f,
            "{} came, {} out, {} waiting, {} dropped ({} filtered, {} out of range), {:.1}% padding",
            self.came(),
            self.out(),
            self.waiting(),
            self.dropped(),
            self.filtered,
            self.out_of_range,
            100.0 * self.padding_waste()
        )
    }
}
