//! [`Items`]: what is in a queue, in the order in which it comes out.

use super::{Item, QueueKind};
use millstream_tensor::{Result, ensure};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// The items of a queue.
pub(super) enum Items {
    /// First in, first out.
    InOrder(VecDeque<Item>),
    /// Any one of them comes out, by a random number each time.
    Shuffled { items: Vec<Item>, random: Box<dyn FnMut() -> u32 + Send> },
    /// The smallest first component comes out, of equal ones the first that went in.
    Sorted { items: BinaryHeap<Reverse<Ranked>>, next: u64 },
}

/// An item with its place in the order.
pub(super) struct Ranked {
    rank: (i64, u64),
    item: Item,
}

impl Items {
    pub(super) fn new(kind: QueueKind, random: impl FnMut() -> u32 + Send + 'static) -> Items {
        match kind {
            QueueKind::Fifo | QueueKind::PaddingFifo => Items::InOrder(VecDeque::new()),
            QueueKind::RandomShuffle => Items::Shuffled { items: Vec::new(), random: Box::new(random) },
            QueueKind::Priority => Items::Sorted { items: BinaryHeap::new(), next: 0 },
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Items::InOrder(items) => items.len(),
            Items::Shuffled { items, .. } => items.len(),
            Items::Sorted { items, .. } => items.len(),
        }
    }

    /// Shows them, in no order that means anything.
    pub(super) fn each(&self, show: &mut impl FnMut(&Item)) {
        match self {
            Items::InOrder(items) => items.iter().for_each(show),
            Items::Shuffled { items, .. } => items.iter().for_each(show),
            Items::Sorted { items, .. } => items.iter().map(|Reverse(ranked)| &ranked.item).for_each(show),
        }
    }

    pub(super) fn push(&mut self, item: Item) -> Result<()> {
        match self {
            Items::InOrder(items) => items.push_back(item),
            Items::Shuffled { items, .. } => items.push(item),
            Items::Sorted { items, next } => {
                ensure!(
                    !item.is_empty(),
                    "an item of a priority queue starts with its priority, an int64 scalar"
                );
                let rank = (item[0].to_scalar::<i64>()?, *next);
                *next += 1;
                items.push(Reverse(Ranked { rank, item }));
            }
        }
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<Item> {
        match self {
            Items::InOrder(items) => items.pop_front(),
            Items::Shuffled { items, random } => {
                let len = u32::try_from(items.len()).ok().filter(|&len| len > 0)?;
                Some(items.swap_remove((random() % len) as usize))
            }
            Items::Sorted { items, .. } => items.pop().map(|Reverse(ranked)| ranked.item),
        }
    }

    /// Puts items that came out last, in that order, back to where they were.
    pub(super) fn give_back(&mut self, taken: Vec<Item>) {
        match self {
            Items::InOrder(items) => taken.into_iter().rev().for_each(|item| items.push_front(item)),
            Items::Shuffled { items, .. } => items.extend(taken),
            // Nothing is taken out of it but what is handed over at once.
            Items::Sorted { .. } => debug_assert!(taken.is_empty(), "a sorted batch is taken in one go"),
        }
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}
