//! Sorting that can be called off: [`sort`], [`partition_at`]. Both look at the deadline and the cancellation
//! of the run in between, which the standard library's functions cannot.

use crate::Result;
use crate::budget::Charged;
use crate::pace::{Pace, look, paced};
use std::cmp::Ordering;

/// The number of items that are left to the standard library, for a few milliseconds.
const RUN: usize = 1 << 16;

/// Sorts the items; equal ones stay in order. After an error the items are in no order, and some are gone.
pub fn sort<T: Copy>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) -> Result<()> {
    if items.len() <= RUN {
        items.sort_by(compare);
        return Ok(());
    }
    for run in items.chunks_mut(RUN) {
        look()?;
        run.sort_by(&compare);
    }
    let mut scratch = Charged::copy_of(items)?;
    let mut pace = Pace::new();
    let mut width = RUN;
    while width < items.len() {
        for (to, from) in items.chunks_mut(2 * width).zip(scratch.chunks(2 * width)) {
            let (a, b) = from.split_at(width.min(from.len()));
            merge(a, b, to, &compare, &mut pace)?;
        }
        width *= 2;
        paced(items.len(), |range| scratch[range.clone()].copy_from_slice(&items[range]))?;
    }
    Ok(())
}

/// Merges two sorted runs; of equal items, those of `a` come first.
fn merge<'t, T: Copy>(
    mut a: &'t [T],
    mut b: &'t [T],
    to: &mut [T],
    compare: &impl Fn(&T, &T) -> Ordering,
    pace: &mut Pace,
) -> Result<()> {
    for to in to {
        pace.spend(1)?;
        let from = match (a.first(), b.first()) {
            (Some(x), Some(y)) if compare(y, x) == Ordering::Less => &mut b,
            (Some(_), _) => &mut a,
            (None, _) => &mut b,
        };
        if let Some((first, rest)) = from.split_first() {
            (*to, *from) = (*first, rest);
        }
    }
    Ok(())
}

/// Moves to index `at`, which must be in range, the item that would be there if all were sorted. No item
/// before it is greater, and none behind it is less.
pub fn partition_at<T: Copy>(items: &mut [T], at: usize, compare: impl Fn(&T, &T) -> Ordering) -> Result<()> {
    /// Pivots of samples halve the items, unless somebody knows the samples.
    const ROUNDS: usize = 64;
    let mut pace = Pace::new();
    let (mut items, mut at) = (items, at);
    for _ in 0..ROUNDS {
        if items.len() <= RUN {
            items.select_nth_unstable_by(at, compare);
            return Ok(());
        }
        let mut sample: Vec<T> = items.iter().step_by(items.len() / 1001 + 1).copied().collect();
        let middle = sample.len() * (at / RUN) / (items.len() / RUN + 1);
        let pivot = *sample.select_nth_unstable_by(middle, &compare).1;
        // Less than the pivot: before `low`. Equal: before `i`. Greater: from `high`.
        let (mut low, mut i, mut high) = (0, 0, items.len());
        while i < high {
            pace.spend(1)?;
            match compare(&items[i], &pivot) {
                Ordering::Less => {
                    items.swap(low, i);
                    (low, i) = (low + 1, i + 1);
                }
                Ordering::Equal => i += 1,
                Ordering::Greater => {
                    high -= 1;
                    items.swap(i, high);
                }
            }
        }
        if at < low {
            items = &mut items[..low];
        } else if at < high {
            return Ok(());
        } else {
            (items, at) = (&mut items[high..], at - high);
        }
    }
    sort(items, compare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::budget::{Budget, enter, enter_until};
    use std::time::Instant;

    fn numbers(n: usize, modulus: u64) -> Vec<(u64, usize)> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % modulus
        };
        (0..n).map(|i| (next(), i)).collect()
    }

    #[test]
    fn long_sorts_are_stable() {
        for n in [0, 1, RUN, RUN + 1, 3 * RUN + 7] {
            for modulus in [3, 1 << 40] {
                let mut items = numbers(n, modulus);
                let mut want = items.clone();
                want.sort_by_key(|x| x.0);
                sort(&mut items, |a, b| a.0.cmp(&b.0)).unwrap();
                assert!(items == want, "{n} {modulus}");
            }
        }
    }

    #[test]
    fn partitions_are_where_sorting_puts_them() {
        for n in [1, RUN, 2 * RUN + 9] {
            for modulus in [2, 1 << 40] {
                for at in [0, n / 3, n - 1] {
                    let mut items = numbers(n, modulus);
                    let mut want = items.clone();
                    want.sort_by_key(|x| x.0);
                    partition_at(&mut items, at, |a, b| a.0.cmp(&b.0)).unwrap();
                    let (before, rest) = items.split_at(at);
                    assert_eq!(rest[0].0, want[at].0, "{n} {modulus} {at}");
                    assert!(before.iter().all(|x| x.0 <= rest[0].0) && rest.iter().all(|x| rest[0].0 <= x.0));
                }
            }
        }
    }

    #[test]
    fn sorts_end_with_the_deadline_and_are_charged() {
        let mut items = numbers(2 * RUN, 100);
        {
            let _late = enter_until(None, Some(Instant::now()));
            let error = sort(&mut items, |a, b| a.cmp(b)).unwrap_err();
            assert_eq!(error.code(), Code::DeadlineExceeded);
            let error = partition_at(&mut items, 7, |a, b| a.cmp(b)).unwrap_err();
            assert_eq!(error.code(), Code::DeadlineExceeded);
        }
        let small = Budget::new(1000);
        let _entered = enter(Some(&small));
        assert_eq!(sort(&mut items, |a, b| a.cmp(b)).unwrap_err().code(), Code::ResourceExhausted);
    }
}
