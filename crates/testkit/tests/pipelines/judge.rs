//! What must hold after a pipeline has ended: [`Pipeline::judge`].

use crate::pipeline::{Fails, Pipeline, Stops};
use millstream::QueueReport;
use millstream::contrib::training::Statistics;
use millstream::prelude::*;
use millstream_state::{self as state, Tally};
use std::sync::Arc;

/// The events of a run, or their numbers over many runs.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// The input was used up.
    pub(crate) whole: usize,
    /// An operation failed.
    pub(crate) failed: usize,
    /// The pipeline was stopped or a queue was closed.
    pub(crate) stopped: usize,
    /// Elements were dropped.
    pub(crate) dropped: usize,
    /// Runs of consumers that were cancelled.
    pub(crate) called_off: usize,
    /// Elements that were in runs that failed or were cancelled.
    pub(crate) lost: usize,
    /// Elements that came out.
    pub(crate) out: usize,
}

impl Ends {
    pub(crate) fn add(&mut self, other: &Ends) {
        self.whole += other.whole;
        self.failed += other.failed;
        self.stopped += other.stopped;
        self.dropped += other.dropped;
        self.called_off += other.called_off;
        self.lost += other.lost;
        self.out += other.out;
    }
}

/// The state of a pipeline after all of its threads have ended.
pub(crate) struct Seen {
    pub(crate) counts: Statistics,
    /// The batches that consumers got.
    pub(crate) taken: Vec<Vec<i32>>,
    /// The number of runs of consumers that ended at their time limit.
    pub(crate) n_called_off: usize,
    /// The reports of the queues: the first one, the middle one, those of the buckets, that of the batches.
    pub(crate) reports: Vec<QueueReport>,
    /// The elements in each queue.
    pub(crate) inside: Vec<Vec<i32>>,
    pub(crate) tallies: Vec<Tally>,
}

/// The elements that runs held when they failed or were cancelled.
struct Lost {
    /// The number of batches that no consumer got.
    batches: u64,
    /// The most rows that the threads of the buckets can have held.
    held: u64,
    /// The most rows in batches that came out but were not counted.
    uncounted: u64,
    /// The number of counted rows that no consumer got.
    rows: u64,
    /// The number of elements that are nowhere.
    missing: u64,
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

impl Seen {
    /// The index of the queue of batches.
    fn top(&self) -> usize {
        self.reports.len() - 1
    }

    /// Checks that the queues' reports agree with their content.
    fn check_reports(&self) -> Result<(), String> {
        for (report, inside) in self.reports.iter().zip(&self.inside).take(self.top()) {
            let len = inside.len() as u64;
            ensure(
                report.len as u64 == len && report.n_in == report.n_out + len,
                &format!("{len} in {report}"),
            )?;
            ensure(
                report.enqueuing.is_empty() && report.dequeuing.is_empty(),
                &format!("somebody in {report}"),
            )?;
        }
        Ok(())
    }
}

impl Pipeline {
    /// Whether an operation failed as intended; any other failure is an error.
    pub(crate) fn failed(&self, joined: Result<()>) -> Result<bool, String> {
        let error: Error = match joined {
            Ok(()) => return Ok(false),
            Err(error) => error,
        };
        let means = match self.fails {
            Fails::Nowhere => "nothing",
            Fails::AtTheEnqueue => "Shape mismatch in tuple component 1",
            _ => "is 7, which is not in 0..1",
        };
        if error.to_string().contains(means) {
            Ok(true)
        } else {
            Err(format!("the threads ended with {error}"))
        }
    }

    /// Checks all properties of a pipeline that has ended.
    pub(crate) fn judge(&self, failed: bool, seen: &Seen) -> Result<Ends, String> {
        let whole = !failed && self.stops == Stops::Nobody;
        seen.check_reports()?;
        self.check_moves(seen, whole)?;
        let mut lost = self.count_batches(seen, whole)?;
        self.track_elements(seen, whole, &mut lost)?;
        self.check_statistics(seen, whole, &lost)?;
        let counts = &seen.counts;
        Ok(Ends {
            whole: usize::from(whole && lost.batches == 0),
            failed: usize::from(failed),
            stopped: usize::from(self.stops != Stops::Nobody),
            dropped: usize::from(counts.dropped() > 0),
            called_off: seen.n_called_off,
            lost: (lost.missing + lost.rows) as usize,
            out: seen.taken.iter().map(Vec::len).sum(),
        })
    }

    /// The index of the first bucket's queue.
    fn first_bucket(&self) -> usize {
        1 + usize::from(self.threads[0] > 0)
    }

    /// Checks that from one queue to the next, at most what each thread holds is lost.
    fn check_moves(&self, Seen { reports, counts, .. }: &Seen, whole: bool) -> Result<(), String> {
        ensure(reports[0].n_in == self.n as u64, "not all numbers went in")?;
        let check = |from: u64, to: u64, threads: usize, where_: &str| {
            let lost = from.checked_sub(to).ok_or(format!("{from} left for {where_}, but {to} came"))?;
            let most = if whole { 0 } else { threads as u64 };
            ensure(lost <= most, &format!("{lost} were lost on their way to {where_}"))
        };
        if self.threads[0] > 0 {
            check(reports[0].n_out, reports[1].n_in, self.threads[0], "the middle")?;
        }
        check(reports[self.first_bucket() - 1].n_out, counts.came(), self.threads[1], "the buckets")
    }

    /// Checks the numbers of batches and their rows.
    fn count_batches(&self, seen: &Seen, whole: bool) -> Result<Lost, String> {
        let Seen { counts, taken, n_called_off, reports, inside, tallies } = seen;
        let (before, top) = (self.first_bucket(), seen.top());
        // A cancelled run may have held a batch, which is counted or not.
        let batches_out: u64 = tallies[top].taken.values().map(|taken| taken.batches).sum();
        let lost = reports[top].n_out.checked_sub(taken.len() as u64);
        let lost = lost.ok_or("more batches came out than went out")?;
        let most = *n_called_off + if whole { 0 } else { self.threads[2] };
        ensure(lost <= most as u64, &format!("consumers did not get {lost} batches"))?;
        let not_counted = reports[top].n_out.checked_sub(batches_out).ok_or("batches are counted twice")?;
        ensure(not_counted <= lost, "batches came out that are not counted")?;
        let uncounted = not_counted * self.most_rows as u64;
        let left_buckets: u64 = reports[before..top].iter().map(|r| r.n_out).sum();
        let rows_in_top = inside[top].len() as u64;
        let on_the_way = left_buckets.checked_sub(counts.out() + rows_in_top);
        let on_the_way = on_the_way.ok_or("more rows came out than went in")?;
        let held = if whole { 0 } else { (self.buckets * self.most_rows) as u64 };
        ensure(on_the_way <= held + uncounted, &format!("{on_the_way} rows of batches are nowhere"))?;
        Ok(Lost { batches: lost, held, uncounted, rows: 0, missing: 0 })
    }

    /// Checks each element individually, and the order in which they came. Counts those that are lost.
    fn track_elements(&self, seen: &Seen, whole: bool, lost: &mut Lost) -> Result<(), String> {
        let Seen { counts, taken, inside, .. } = seen;
        let mut there: Vec<i32> = taken.iter().chain(inside).flatten().copied().collect();
        there.sort_unstable();
        ensure(there.windows(2).all(|pair| pair[0] != pair[1]), "an element is there twice")?;
        ensure(there.iter().all(|x| (0..self.n as i32).contains(x)), "an element came from nowhere")?;
        let mut let_in = inside[self.first_bucket()..].iter().chain(taken).flatten();
        ensure(let_in.all(|x| self.keeps(*x) && self.in_range(*x)), "an element came in that should not")?;
        let (out, rows) = (counts.out(), taken.iter().map(|rows| rows.len() as u64).sum::<u64>());
        lost.rows = out.checked_sub(rows).ok_or(format!("{rows} rows came out, but {out} are counted"))?;
        let most = lost.batches * self.most_rows as u64;
        ensure(lost.rows <= most && (lost.batches > 0 || lost.rows == 0), "rows are missing")?;
        let missing = self.n as u64 - there.len() as u64 - counts.filtered - counts.out_of_range - lost.rows;
        let held = if whole { 0 } else { lost.held + (self.threads[0] + self.threads[1]) as u64 };
        ensure(missing <= held + lost.uncounted, &format!("{missing} elements are nowhere"))?;
        lost.missing = missing;
        if self.threads.iter().all(|&threads| threads <= 1) && !self.shuffles {
            for bucket in 0..self.buckets as i32 {
                let of_it = taken.iter().flatten().filter(|x| self.bucket_of(**x) == bucket);
                ensure(of_it.is_sorted(), "elements overtook each other")?;
            }
        }
        Ok(())
    }

    /// Checks the statistics of the buckets.
    fn check_statistics(&self, seen: &Seen, whole: bool, lost: &Lost) -> Result<(), String> {
        let Seen { counts, reports, inside, .. } = seen;
        let (before, top) = (self.first_bucket(), seen.top());
        let balanced = counts.came() == counts.out() + counts.waiting() + counts.dropped();
        ensure(balanced, "in is not out + waiting + dropped")?;
        if reports[top].closed.is_some() {
            let rows_in_top = inside[top].len() as u64;
            ensure(counts.waiting() == rows_in_top, "what waits in the bucket is miscounted")?;
        }
        if !whole {
            return Ok(());
        }
        let (n, all) = (self.n as u64, || 0..self.n as i32);
        let filtered = all().filter(|x| !self.keeps(*x)).count() as u64;
        let out_of_range = all().filter(|x| self.keeps(*x) && !self.in_range(*x)).count() as u64;
        ensure(
            (counts.came(), counts.filtered, counts.out_of_range) == (n, filtered, out_of_range),
            &format!("of {n}, {filtered} filtered and {out_of_range} out of range were expected"),
        )?;
        let rests: u64 = inside[before..top].iter().map(|rest| rest.len() as u64).sum();
        let discarded = counts.dropped() - filtered - out_of_range;
        ensure(
            counts.waiting() == 0 && discarded == rests + lost.missing && (!self.smaller || rests == 0),
            "something is left although the input came to its end",
        )?;
        if lost.batches == 0 { self.count_cells(seen) } else { Ok(()) }
    }

    fn keeps(&self, x: i32) -> bool {
        !self.filters || x % 3 != 0
    }

    fn in_range(&self, x: i32) -> bool {
        !self.drops || self.bucket_of(x) < self.buckets as i32
    }

    fn bucket_of(&self, x: i32) -> i32 {
        x % if self.drops { self.buckets as i32 + 1 } else { self.buckets as i32 }
    }

    /// Checks, if all batches were taken, that the buckets counted their number, rows, cells and padding
    /// correctly.
    fn count_cells(&self, seen: &Seen) -> Result<(), String> {
        for (i, counted) in seen.counts.buckets.iter().enumerate() {
            let (mut batches, mut rows, mut cells, mut padding) = (0, 0, 0, 0);
            for batch in seen.taken.iter().filter(|batch| self.bucket_of(batch[0]) == i as i32) {
                let lengths = || batch.iter().map(|x| (x % 5) as u64);
                let width = lengths().max().unwrap_or(0);
                batches += 1;
                rows += batch.len() as u64;
                cells += batch.len() as u64 * (1 + width);
                padding += lengths().map(|length| width - length).sum::<u64>();
            }
            let is = (counted.batches, counted.rows, counted.cells, counted.padding);
            if is != (batches, rows, cells, padding) {
                return Err(format!("bucket {i} counted {is:?}, not {:?}", (batches, rows, cells, padding)));
            }
        }
        Ok(())
    }
}

/// Finds a queue with an attempt in line that could be served. This must never be observable.
pub(crate) fn waits_in_vain(queues: &[Arc<state::Queue>]) -> Option<String> {
    let could_be_served = |report: &QueueReport| {
        let held_back = if report.closed.is_some() { 0 } else { report.spec.min_after_dequeue };
        let enqueues = report.len < report.spec.capacity || report.closed.is_some();
        let dequeues = (report.len > held_back || report.closed.is_some()) && !report.awaits_lent;
        (enqueues && !report.enqueuing.is_empty()) || (dequeues && !report.dequeuing.is_empty())
    };
    let report = queues.iter().map(|queue| queue.report()).find(could_be_served)?;
    Some(format!("somebody waits in vain: {report}"))
}

/// The elements in a queue, alone or in batches.
pub(crate) fn elements_in(queue: &state::Queue) -> Vec<i32> {
    let mut elements = Vec::new();
    queue.look(|item| {
        // A batch starts with the number of its bucket.
        let x = if item.len() == 3 { &item[1] } else { &item[0] };
        elements.extend(x.as_slice::<i32>().unwrap_or_default());
    });
    elements
}

/// The elements of a batch; an error if the batch is malformed.
pub(crate) fn rows_of(out: &[Tensor], buckets: i32, drops: bool) -> Result<Vec<i32>, String> {
    let said = |e: Error| e.to_string();
    let bucket = out[0].to_scalar::<i32>().map_err(said)?;
    let elements = out[1].as_slice::<i32>().map_err(said)?;
    let (width, sequences) = (out[2].shape().dims()[1], out[2].as_slice::<i32>().map_err(said)?);
    let longest = elements.iter().map(|x| x % 5).max().ok_or("a batch is empty")? as usize;
    let modulus = if drops { buckets + 1 } else { buckets };
    for (i, x) in elements.iter().enumerate() {
        let row = &sequences[i * width..][..width];
        let (values, padding) = row.split_at((x % 5) as usize);
        if x % modulus != bucket
            || width != longest
            || values.iter().any(|v| v != x)
            || padding.iter().any(|&v| v != 0)
        {
            return Err(format!("bucket {bucket} gave element {x} as {row:?}"));
        }
    }
    Ok(elements.to_vec())
}
