//! [`Statistics`]: counts of the elements of a [`bucket`](super::bucket()).

use millstream_state as state;
use millstream_tensor::{Result, Tensor, invalid};
use std::fmt;
use std::sync::Arc;

/// Counts of the elements of a bucketing at one moment: those that left in batches, those that wait, and
/// those that were dropped, by reason.
///
/// `came() == out() + waiting() + dropped()` whenever no element is in transit.
///
/// ```
/// use millstream::RunQueues;
/// use millstream::contrib::training::bucket;
/// use millstream::prelude::*;
/// use millstream::train;
/// let g = Graph::new();
/// let [n] = train::range_input_producer(&g, 4).num_epochs(1).shuffle(false).build()?.dequeue()?.all()?;
/// let batches = bucket(&g, n, n % 2, 2, 2).run()?;
/// let init = g.local_variables_initializer();
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// session.with_queue_runners(|_| -> Result<()> {
///     loop {
///         session.run::<Vec<i32>>(batches.outputs, feed![])?;
///     }
/// })?;
/// let counts = batches.statistics(&session)?;
/// assert_eq!((counts.buckets[0].n_out, counts.buckets[1].batches), (2, 1));
/// assert_eq!((counts.waiting(), counts.padding_waste()), (0, 0.0));
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The counts of each bucket.
    pub buckets: Vec<BucketStatistics>,
    /// The number of elements that `keep_input` skipped.
    pub filtered: u64,
    /// The number of elements dropped because their `which_bucket` was out of range.
    pub out_of_range: u64,
}

/// Counts of the elements of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BucketStatistics {
    /// The number of elements that arrived.
    pub n_in: u64,
    /// The number of elements that left in batches.
    pub n_out: u64,
    /// The number of elements in the bucket, or in a batch that no run has taken yet.
    pub waiting: u64,
    /// The number of elements that will never leave: too few for a batch at the end of the input, or in a
    /// batch when the runners stopped.
    pub discarded: u64,
    /// The number of batches.
    pub batches: u64,
    /// The number of rows in the batches.
    pub rows: u64,
    /// The batch size, if it is fixed.
    pub batch_size: Option<usize>,
    /// The number of tensor elements in the batches, over all components.
    pub cells: u64,
    /// The number of these that are padding.
    pub padding: u64,
}

impl BucketStatistics {
    /// Returns how full the batches are: rows divided by the batch size. 1 without batches or without a fixed
    /// size.
    pub fn fill(&self) -> f64 {
        let room = self.batch_size.map_or(0, |size| size as u64 * self.batches);
        share(self.rows, room).unwrap_or(1.0)
    }

    /// Returns the share of padding in the batches, 0 to 1.
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

    /// Returns the number of elements that arrived, including skipped ones.
    pub fn came(&self) -> u64 {
        self.sum(|b| b.n_in) + self.filtered + self.out_of_range
    }

    /// The number of elements that left in batches.
    pub fn out(&self) -> u64 {
        self.sum(|b| b.n_out)
    }

    /// Returns the number of waiting elements.
    pub fn waiting(&self) -> u64 {
        self.sum(|b| b.waiting)
    }

    /// Returns the number of dropped elements, for any reason.
    pub fn dropped(&self) -> u64 {
        self.sum(|b| b.discarded) + self.filtered + self.out_of_range
    }

    /// Returns the share of padding in all batches, 0 to 1.
    pub fn padding_waste(&self) -> f64 {
        share(self.sum(|b| b.padding), self.sum(|b| b.cells)).unwrap_or(0.0)
    }

    /// Reads the counts from the handles of the queues of the buckets and of the queue of batches, which
    /// a session has run. [`Bucketed::statistics`](super::Bucketed::statistics) does both.
    ///
    /// ```
    /// use millstream::contrib::training::{Statistics, bucket};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let n = g.constant(3);
    /// let batches = bucket(&g, n, n % 2, 2, 2).run()?;
    /// let session = Session::new(&g)?;
    /// let queues: Vec<_> = batches.bucket_queues().iter().map(|queue| queue.handle()).collect();
    /// let fetches = (batches.top_queue().handle(), queues);
    /// let (top, queues) = session.run::<(Tensor, Vec<Tensor>)>(fetches, feed![])?;
    /// let counts = Statistics::of_handles(&queues, &top, &[Some(2), Some(2)])?;
    /// assert_eq!((counts.buckets.len(), counts.came()), (2, 0));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if a handle is not that of a queue.
    pub fn of_handles(queues: &[Tensor], top: &Tensor, batch_sizes: &[Option<usize>]) -> Result<Statistics> {
        let shared = |handle: &Tensor| {
            let handle = handle.as_handles().and_then(|h| h.first()?.share::<state::Queue>());
            handle.ok_or_else(|| invalid!("a bucket's queue is none"))
        };
        let queues = queues.iter().map(shared).collect::<Result<Vec<Arc<state::Queue>>>>()?;
        let top = shared(top)?;
        // The queue of batches is read first: read last, it could count elements that the reports of buckets
        // lack.
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
            // No more batches arrive once the top queue is closed.
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
