//! [`Histogram`]: counts of values in buckets whose limits grow by a tenth from 1e-12 to 1e20, on both sides
//! of zero.

use millstream_proto::HistogramProto;
use std::sync::OnceLock;

/// Returns the upper limits of all buckets, in ascending order. A bucket contains values less than its limit
/// and at least the limit before it.
fn limits() -> &'static [f64] {
    static LIMITS: OnceLock<Vec<f64>> = OnceLock::new();
    LIMITS.get_or_init(|| {
        // Multiplied repeatedly, as in TensorFlow: powers of 1.1 would differ in the last digits.
        let positive = || std::iter::successors(Some(1e-12), |v| Some(v * 1.1)).take_while(|v| *v < 1e20);
        let mut limits: Vec<f64> = positive().map(|v| -v).collect();
        limits.push(f64::MIN);
        limits.reverse();
        limits.push(0.0);
        limits.extend(positive());
        limits.push(f64::MAX);
        limits
    })
}

pub(super) struct Histogram {
    /// The number of values in each bucket.
    counts: Vec<u64>,
    min: f64,
    max: f64,
    sum: f64,
    sum_squares: f64,
}

impl Histogram {
    pub fn new() -> Histogram {
        Histogram {
            counts: vec![0; limits().len()],
            min: f64::MAX,
            max: f64::MIN,
            sum: 0.0,
            sum_squares: 0.0,
        }
    }

    /// Counts a finite value.
    pub fn add(&mut self, value: f64) {
        let bucket = limits().partition_point(|limit| *limit <= value);
        // The largest finite number is in the last bucket.
        let bucket = bucket.min(self.counts.len() - 1);
        self.counts[bucket] += 1;
        self.min = if value < self.min { value } else { self.min };
        self.max = if self.max < value { value } else { self.max };
        self.sum += value;
        self.sum_squares += value * value;
    }

    /// Returns the message, in which adjacent empty buckets are merged.
    pub fn message(&self) -> HistogramProto {
        let (mut bucket_limit, mut bucket) = (Vec::new(), Vec::new());
        for (limit, count) in limits().iter().zip(&self.counts) {
            if *count == 0 && bucket.last() == Some(&0.0) {
                bucket_limit.pop();
                bucket.pop();
            }
            bucket_limit.push(*limit);
            bucket.push(*count as f64);
        }
        HistogramProto {
            min: self.min,
            max: self.max,
            num: self.counts.iter().sum::<u64>() as f64,
            sum: self.sum,
            sum_squares: self.sum_squares,
            bucket_limit,
            bucket,
        }
    }
}
