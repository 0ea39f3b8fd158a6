//! [`Items`]: the content of a queue, in the order in which it is dequeued.

use super::{Item, QueueKind};
use millstream_tensor::{Result, ensure};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// The items of a queue.
pub(super) enum Items {
    /// First in, first out.
    InOrder(VecDeque<Item>),
    /// A random item is dequeued each time.
    Shuffled { items: Vec<Item>, random: Box<dyn FnMut() -> u32 + Send> },
    /// The item with the smallest first component is dequeued; of equal ones, the one enqueued first. Items
    /// that were returned to the queue are numbered down from `head`, so they come before equal ones.
    Sorted { items: BinaryHeap<Reverse<Ranked>>, head: i64, next: i64 },
}

/// An item with its position in the order.
pub(super) struct Ranked {
    rank: (i64, i64),
    item: Item,
}

impl Items {
    pub(super) fn new(kind: QueueKind, random: impl FnMut() -> u32 + Send + 'static) -> Items {
        match kind {
            QueueKind::Fifo | QueueKind::PaddingFifo => Items::InOrder(VecDeque::new()),
            QueueKind::RandomShuffle => Items::Shuffled { items: Vec::new(), random: Box::new(random) },
            QueueKind::Priority | QueueKind::Barrier => {
                Items::Sorted { items: BinaryHeap::new(), head: 0, next: 0 }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Items::InOrder(items) => items.len(),
            Items::Shuffled { items, .. } => items.len(),
            Items::Sorted { items, .. } => items.len(),
        }
    }

    /// Calls `show` with every item, in no particular order.
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
            Items::Sorted { items, next, .. } => {
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

    /// Returns the items taken last, in the order taken, to their places.
    pub(super) fn give_back(&mut self, taken: Vec<Item>) {
        match self {
            Items::InOrder(items) => taken.into_iter().rev().for_each(|item| items.push_front(item)),
            Items::Shuffled { items, .. } => items.extend(taken),
            Items::Sorted { items, head, .. } => {
                for item in taken.into_iter().rev() {
                    *head -= 1;
                    // The priority was read when the item was enqueued.
                    let priority = item.first().and_then(|first| first.to_scalar().ok()).unwrap_or(i64::MIN);
                    items.push(Reverse(Ranked { rank: (priority, *head), item }));
                }
            }
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
