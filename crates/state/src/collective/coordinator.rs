//! [`Coordinator`]: rank 0's knowledge of which rank has begun which call, and its decisions.
//!
//! A call is performed once all ranks have begun it, with offers that fit together. Until then it may fail:
//! its offers differ, a rank refuses it or gives it up, a rank has ended, or some ranks have waited for
//! others for too long. A call that has failed is an error on every rank, also on those that begin it later.
//! Sums and the like that became ready at the same time are fused: performed as one, up to a number of bytes.

use super::wire::{Batch, Key, Offer};
use super::{What, ended, shares};
use millstream_tensor::{Code, Error};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// The most bytes that a rank sends or receives in one exchange whose parts differ: MPI counts them in i32.
const MOST_BYTES: usize = i32::MAX as usize;

/// A decision of rank 0.
#[derive(Debug)]
pub(super) enum Decision {
    /// All ranks perform this.
    Go(Batch),
    /// The call is over for these ranks.
    Failed(Vec<usize>, Key, Error),
}

pub(super) struct Coordinator {
    size: usize,
    fuse_bytes: usize,
    stall: Duration,
    entries: BTreeMap<Key, Entry>,
    /// The calls that all ranks have begun, in the order in which that happened.
    ready: VecDeque<Key>,
    /// Why ranks have ended.
    ended: BTreeMap<usize, String>,
}

/// A call that some ranks have begun.
struct Entry {
    offers: Vec<Option<Offer>>,
    /// The number of ranks that have begun or refused it.
    n_came: usize,
    since: Instant,
    failed: Option<Error>,
}

impl Entry {
    fn new(size: usize, now: Instant) -> Entry {
        Entry { offers: vec![None; size], n_came: 0, since: now, failed: None }
    }

    fn ranks(&self, begun: bool) -> Vec<usize> {
        (0..self.offers.len()).filter(|&r| self.offers[r].is_some() == begun).collect()
    }
}

impl Coordinator {
    pub(super) fn new(size: usize, fuse_bytes: usize, stall: Duration) -> Coordinator {
        Coordinator {
            size,
            fuse_bytes,
            stall,
            entries: BTreeMap::new(),
            ready: VecDeque::new(),
            ended: BTreeMap::new(),
        }
    }

    /// Whether calls wait for a rank or a decision.
    pub(super) fn is_busy(&self) -> bool {
        self.entries.values().any(|entry| entry.failed.is_none())
    }

    /// Whether some ranks, but not all, have begun a call: others may follow soon.
    pub(super) fn is_half_begun(&self) -> bool {
        self.entries.values().any(|entry| entry.failed.is_none() && entry.n_came < self.size)
    }

    /// Whether calls are ready to be performed.
    pub(super) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// A rank has begun a call.
    pub(super) fn offer(
        &mut self,
        rank: usize,
        key: Key,
        offer: Offer,
        now: Instant,
        to: &mut Vec<Decision>,
    ) {
        let size = self.size;
        let entry = self.entries.entry(key.clone()).or_insert_with(|| Entry::new(size, now));
        if entry.offers[rank].replace(offer).is_none() {
            entry.n_came += 1;
        }
        if let Some(error) = &entry.failed {
            to.push(Decision::Failed(vec![rank], key.clone(), error.clone()));
            if entry.n_came == size {
                self.entries.remove(&key);
            }
            return;
        }
        if let Some((&who, why)) = self.ended.iter().find(|(who, _)| entry.offers[**who].is_none()) {
            let error = ended(who, why);
            return self.fail(&key, error, to);
        }
        if entry.n_came < size {
            return;
        }
        match mismatch(&key.name, &entry.offers) {
            Some(error) => self.fail(&key, error, to),
            None => self.ready.push_back(key),
        }
    }

    /// A rank has come to a call that it cannot make.
    pub(super) fn refuse(&mut self, rank: usize, key: Key, why: &str, now: Instant, to: &mut Vec<Decision>) {
        let size = self.size;
        let entry = self.entries.entry(key.clone()).or_insert_with(|| Entry::new(size, now));
        entry.n_came += 1;
        if entry.failed.is_none() {
            let text = format!("rank {rank} cannot make its call of `{}`: {why}", key.name);
            self.fail(&key, Error::new(Code::Aborted, text), to);
        } else if entry.n_came == size {
            self.entries.remove(&key);
        }
    }

    /// A rank no longer waits for a call that it has begun.
    pub(super) fn give_up(&mut self, rank: usize, key: &Key, why: &str, to: &mut Vec<Decision>) {
        let waits = self.entries.get(key).is_some_and(|e| e.failed.is_none() && e.n_came < self.size);
        if waits {
            let text = format!("rank {rank} gave up `{}`: {why}", key.name);
            self.fail(key, Error::new(Code::Aborted, text), to);
        }
    }

    /// A rank begins nothing any more.
    pub(super) fn bye(&mut self, rank: usize, why: &str, to: &mut Vec<Decision>) {
        self.ended.entry(rank).or_insert_with(|| why.to_owned());
        let lost = |entry: &Entry| entry.failed.is_none() && entry.offers[rank].is_none();
        let lost: Vec<Key> =
            self.entries.iter().filter(|(_, e)| lost(e)).map(|(key, _)| key.clone()).collect();
        for key in lost {
            self.fail(&key, ended(rank, why), to);
        }
    }

    /// Fails the calls that some ranks have waited for, for too long.
    pub(super) fn look(&mut self, now: Instant, to: &mut Vec<Decision>) {
        let waits = |e: &Entry| e.failed.is_none() && e.n_came < self.size;
        let old = |e: &Entry| waits(e) && self.stall < now.saturating_duration_since(e.since);
        if !self.entries.values().any(old) {
            return;
        }
        // Those that failed for the same reason a moment before may be the cause.
        let late = |e: &Error| e.code() == Code::DeadlineExceeded;
        let stuck = |e: &Entry| e.n_came < self.size && e.failed.as_ref().is_none_or(late);
        let texts: Vec<String> = self
            .entries
            .iter()
            .filter(|(_, e)| stuck(e))
            .take(8)
            .map(|(key, e)| {
                format!("`{}` waits on {} for {}", key.name, listed(&e.ranks(true)), listed(&e.ranks(false)))
            })
            .collect();
        let keys: Vec<Key> =
            self.entries.iter().filter(|(_, e)| old(e)).map(|(key, _)| key.clone()).collect();
        for key in keys {
            let entry = &self.entries[&key];
            let error = Error::new(
                Code::DeadlineExceeded,
                format!(
                    "`{}` has waited for {:.0?} on {} for {}, which did not call it",
                    key.name,
                    now.saturating_duration_since(entry.since),
                    listed(&entry.ranks(true)),
                    listed(&entry.ranks(false)),
                ),
            );
            let error = match texts.len() {
                0 | 1 => error,
                _ => error.more(&format!(" (all that wait: {})", texts.join(", "))),
            };
            self.fail(&key, error, to);
        }
    }

    fn fail(&mut self, key: &Key, error: Error, to: &mut Vec<Decision>) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        to.push(Decision::Failed(entry.ranks(true), key.clone(), error.clone()));
        if entry.n_came == self.size {
            self.entries.remove(key);
        } else {
            entry.failed = Some(error);
        }
    }

    /// The calls that are ready, fused where that is possible.
    pub(super) fn decide(&mut self, to: &mut Vec<Decision>) {
        while let Some(key) = self.ready.pop_front() {
            let Some(entry) = self.entries.remove(&key) else { continue };
            let mut batch = Batch { keys: vec![key], splits: splits(&entry.offers) };
            if let Some(first @ Offer { what: What::AllReduce(_), .. }) = &entry.offers[0] {
                let mut bytes = first.bytes();
                let mut later = VecDeque::new();
                for key in std::mem::take(&mut self.ready) {
                    let other = self.entries.get(&key).and_then(|e| e.offers[0].as_ref());
                    let more = other.filter(|o| o.what == first.what && o.dtype == first.dtype);
                    match more.map(|o| bytes.saturating_add(o.bytes())).filter(|&sum| sum <= self.fuse_bytes)
                    {
                        Some(sum) => {
                            bytes = sum;
                            self.entries.remove(&key);
                            batch.keys.push(key);
                        }
                        None => later.push_back(key),
                    }
                }
                self.ready = later;
            }
            to.push(Decision::Go(batch));
        }
    }
}

impl Offer {
    fn bytes(&self) -> usize {
        let elements = self.shape.iter().fold(1usize, |n, &d| n.saturating_mul(d));
        elements.saturating_mul(self.dtype.size().unwrap_or(1))
    }

    fn row_bytes(&self) -> usize {
        let elements = self.shape.iter().skip(1).fold(1usize, |n, &d| n.saturating_mul(d));
        elements.saturating_mul(self.dtype.size().unwrap_or(1))
    }

    fn text(&self) -> String {
        let dims: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        match self.what {
            What::Barrier => self.what.to_string(),
            _ => format!("{} of {}[{}]", self.what, self.dtype, dims.join(",")),
        }
    }
}

/// The rows of each rank: those that it has to give, or that it takes, or that it has for every rank.
fn splits(offers: &[Option<Offer>]) -> Vec<Vec<usize>> {
    let size = offers.len();
    let offers = offers.iter().flatten();
    let of = |(rank, offer): (usize, &Offer)| {
        let rows = offer.shape.first().copied().unwrap_or(0);
        match offer.what {
            What::AllGather => Some(vec![rows]),
            What::AllToAll if offer.splits.is_empty() => Some(shares(rows, size)),
            What::ReduceScatter(_) if offer.splits.is_empty() => Some(vec![shares(rows, size)[rank]]),
            What::AllToAll | What::ReduceScatter(_) => Some(offer.splits.clone()),
            What::AllReduce(_) | What::Broadcast { .. } | What::Barrier => None,
        }
    };
    offers.enumerate().filter_map(of).collect()
}

/// An error if the offers do not fit together.
fn mismatch(name: &str, offers: &[Option<Offer>]) -> Option<Error> {
    let first = offers.first()?.as_ref()?;
    let rows = matches!(first.what, What::AllGather | What::AllToAll);
    let fits = |offer: &Offer| {
        offer.what == first.what
            && offer.dtype == first.dtype
            && match rows {
                true => offer.shape.get(1..) == first.shape.get(1..),
                false => offer.shape == first.shape || first.what == What::Barrier,
            }
    };
    let differs = offers.iter().flatten().enumerate().find(|(_, offer)| !fits(offer));
    if let Some((rank, other)) = differs {
        return Some(Error::invalid(format!(
            "the ranks differ at `{name}`: rank 0 calls {}, but rank {rank} calls {}",
            first.text(),
            other.text()
        )));
    }
    let splits = splits(offers);
    let row = first.row_bytes();
    let sum = |rows: &mut dyn Iterator<Item = usize>| {
        rows.fold(0usize, |sum, n| sum.saturating_add(n)).saturating_mul(row)
    };
    let too_long = match first.what {
        What::AllGather => MOST_BYTES < sum(&mut splits.iter().map(|s| s[0])),
        What::AllToAll => (0..offers.len()).any(|r| {
            MOST_BYTES < sum(&mut splits[r].iter().copied())
                || MOST_BYTES < sum(&mut splits.iter().map(|s| s[r]))
        }),
        What::ReduceScatter(_) => {
            let taken = splits.iter().fold(0usize, |sum, s| sum.saturating_add(s[0]));
            let rows = first.shape.first().copied().unwrap_or(0);
            if taken != rows {
                return Some(Error::invalid(format!(
                    "`{name}` scatters {rows} rows, but the ranks take {:?} of them, {taken} in all",
                    splits.iter().map(|s| s[0]).collect::<Vec<_>>()
                )));
            }
            MOST_BYTES < first.bytes()
        }
        _ => false,
    };
    too_long.then(|| {
        Error::new(
            Code::ResourceExhausted,
            format!("`{name}` moves more than 2 GiB at once: {} on rank 0; split it", first.text()),
        )
    })
}

fn listed(ranks: &[usize]) -> String {
    let numbers: Vec<String> = ranks.iter().take(16).map(ToString::to_string).collect();
    let more = if 16 < ranks.len() { format!(" and {} more", ranks.len() - 16) } else { String::new() };
    match ranks {
        [_] => format!("rank {}", numbers[0]),
        _ => format!("ranks {}{more}", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::Reduction;
    use millstream_tensor::DType;

    fn key(name: &str) -> Key {
        Key { name: name.into(), turn: 0 }
    }

    fn sum(shape: &[usize]) -> Offer {
        let what = What::AllReduce(Reduction::Sum);
        Offer { what, dtype: DType::F32, shape: shape.to_vec(), splits: Vec::new() }
    }

    struct Job(Coordinator, Instant, Vec<Decision>);

    impl Job {
        fn of(size: usize, fuse_bytes: usize) -> Job {
            Job(Coordinator::new(size, fuse_bytes, Duration::from_secs(10)), Instant::now(), Vec::new())
        }

        fn offer(&mut self, rank: usize, name: &str, offer: Offer) {
            self.0.offer(rank, key(name), offer, self.1, &mut self.2);
        }

        /// The names of each batch, and the failed names with the ranks that are told and the text.
        fn decided(&mut self) -> (Vec<Vec<String>>, Vec<String>) {
            self.0.decide(&mut self.2);
            let (mut batches, mut failed) = (Vec::new(), Vec::new());
            for decision in self.2.drain(..) {
                match decision {
                    Decision::Go(batch) => {
                        batches.push(batch.keys.iter().map(|key| key.name.to_string()).collect());
                    }
                    Decision::Failed(ranks, key, error) => {
                        failed.push(format!("{} {ranks:?} {}", key.name, error.message()));
                    }
                }
            }
            (batches, failed)
        }
    }

    #[test]
    fn ready_calls_are_fused_by_kind_up_to_the_limit() {
        let mut job = Job::of(2, 4 * 100);
        let mean = Offer { what: What::AllReduce(Reduction::Mean), ..sum(&[10]) };
        let offers =
            [("a", sum(&[50])), ("b", mean.clone()), ("c", sum(&[60])), ("d", sum(&[50])), ("e", mean)];
        for (name, offer) in offers.clone() {
            job.offer(0, name, offer);
        }
        assert_eq!(job.decided(), (vec![], vec![]));
        for (name, offer) in offers.into_iter().rev() {
            job.offer(1, name, offer);
        }
        // In the order in which rank 1 made them ready: e d c b a.
        let batches =
            [vec!["e", "b"], vec!["d", "a"], vec!["c"]].map(|b| b.into_iter().map(str::to_owned).collect());
        assert_eq!(job.decided(), (batches.to_vec(), vec![]));
        assert!(!job.0.is_busy());
    }

    #[test]
    fn differences_name_the_ranks() {
        let mut job = Job::of(3, 0);
        job.offer(2, "g", sum(&[4]));
        job.offer(0, "g", sum(&[3]));
        job.offer(1, "g", sum(&[3]));
        let text = "g [0, 1, 2] the ranks differ at `g`: rank 0 calls AllReduce (sum) of f32[3], but rank 2 calls AllReduce (sum) of f32[4]";
        assert_eq!(job.decided().1, [text]);
        assert!(job.0.entries.is_empty());
    }

    #[test]
    fn who_comes_late_gets_the_error_too() {
        let mut job = Job::of(3, 0);
        job.offer(0, "g", sum(&[3]));
        job.0.give_up(0, &key("g"), "cancelled", &mut job.2);
        job.offer(1, "g", sum(&[3]));
        job.0.bye(2, "done", &mut job.2);
        job.offer(1, "h", sum(&[3]));
        let failed = job.decided().1;
        assert_eq!(
            failed[..2],
            ["g [0] rank 0 gave up `g`: cancelled", "g [1] rank 0 gave up `g`: cancelled"]
        );
        assert_eq!(failed[2], "h [1] rank 2 has ended: done");
    }

    #[test]
    fn a_call_that_a_rank_refuses_ends_on_the_others() {
        let mut job = Job::of(3, 0);
        let begin = job.1;
        job.offer(0, "g", sum(&[3]));
        job.0.refuse(1, key("g"), "no rows", begin, &mut job.2);
        job.offer(2, "g", sum(&[3]));
        // Nobody else has come yet.
        job.0.refuse(2, key("h"), "no rows", begin, &mut job.2);
        job.offer(0, "h", sum(&[3]));
        job.0.refuse(1, key("h"), "no rows", begin, &mut job.2);
        let text = |of: &str| format!("{of} cannot make its call of");
        assert_eq!(
            job.decided().1,
            [
                format!("g [0] {} `g`: no rows", text("rank 1")),
                format!("g [2] {} `g`: no rows", text("rank 1")),
                format!("h [] {} `h`: no rows", text("rank 2")),
                format!("h [0] {} `h`: no rows", text("rank 2")),
            ]
        );
        assert!(job.0.entries.is_empty(), "all ranks have come to both");
    }

    #[test]
    fn waits_end_after_the_bound() {
        let mut job = Job::of(2, 0);
        job.offer(0, "x", sum(&[3]));
        job.offer(1, "y", sum(&[3]));
        job.0.look(job.1 + Duration::from_secs(9), &mut job.2);
        assert_eq!(job.decided().1, [""; 0]);
        job.0.look(job.1 + Duration::from_secs(11), &mut job.2);
        let failed = job.decided().1;
        assert_eq!(failed.len(), 2);
        assert!(
            failed[0].starts_with("x [0] `x` has waited for 11s on rank 0 for rank 1, which did not call it")
        );
        assert!(failed[0].contains("`y` waits on rank 1 for rank 0"), "{failed:?}");
    }

    /// Calls that wait for each other name each other, whichever fails first.
    #[test]
    fn a_call_that_failed_before_is_named() {
        let mut job = Job::of(2, 0);
        let begin = job.1;
        job.offer(1, "y", sum(&[3]));
        job.1 = begin + Duration::from_secs(5);
        job.offer(0, "x", sum(&[3]));
        job.0.look(begin + Duration::from_secs(11), &mut job.2);
        assert!(job.decided().1[0].contains("`x` waits on rank 0 for rank 1"));
        job.0.look(begin + Duration::from_secs(16), &mut job.2);
        assert!(job.decided().1[0].contains("`y` waits on rank 1 for rank 0"));
    }

    #[test]
    fn scattered_rows_must_add_up() {
        let mut job = Job::of(2, 0);
        let scatter = |splits: &[usize]| Offer {
            what: What::ReduceScatter(Reduction::Sum),
            splits: splits.to_vec(),
            ..sum(&[5, 2])
        };
        job.offer(0, "r", scatter(&[]));
        job.offer(1, "r", scatter(&[3]));
        assert!(
            job.decided().1[0].contains("`r` scatters 5 rows, but the ranks take [3, 3] of them, 6 in all")
        );
        job.offer(0, "r", scatter(&[]));
        job.offer(1, "r", scatter(&[2]));
        assert_eq!(job.decided().0.len(), 1);
    }
}
