//! [`Unique`]: a list without repetitions.

use smallvec::SmallVec;
use std::collections::HashSet;
use std::hash::Hash;

/// A list to which an item is added only if it is not there yet. Most lists of control edges have one or two
/// entries, but a node may wait for a million others, so long lists look their items up.
#[derive(Debug)]
pub struct Unique<T> {
    items: SmallVec<[T; 2]>,
    /// The items, once there are many.
    set: HashSet<T>,
}

impl<T: Copy + Eq + Hash> Unique<T> {
    /// Lists up to this length are searched.
    const SHORT: usize = 16;

    /// An empty list.
    pub fn new() -> Unique<T> {
        Unique { items: SmallVec::new(), set: HashSet::new() }
    }

    /// Adds an item at the end, unless it is in the list.
    pub fn add(&mut self, item: T) {
        if self.set.is_empty() && self.items.len() >= Self::SHORT {
            self.set = self.items.iter().copied().collect();
        }
        let is_new = match self.set.is_empty() {
            true => !self.items.contains(&item),
            false => self.set.insert(item),
        };
        if is_new {
            self.items.push(item);
        }
    }

    /// The items in the order in which they were added.
    pub fn into_items(self) -> SmallVec<[T; 2]> {
        self.items
    }
}

impl<T: Copy + Eq + Hash> Default for Unique<T> {
    fn default() -> Self {
        Unique::new()
    }
}

impl<T: Copy + Eq + Hash> Extend<T> for Unique<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.add(item));
    }
}

impl<T: Copy + Eq + Hash> FromIterator<T> for Unique<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut unique = Unique::new();
        unique.extend(items);
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_lists_keep_their_first_items() {
        for n in [0, 1, 15, 16, 17, 1000] {
            let list: Unique<u32> = (0..n).chain((0..n).rev()).collect();
            assert_eq!(list.into_items().to_vec(), (0..n).collect::<Vec<_>>());
        }
    }
}
