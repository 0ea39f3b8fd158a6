//! [`topological`]: the one sort of nodes by what they depend on, and the one report of a cycle.

use millstream_tensor::{Error, invalid};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Items in an order in which each comes after those that it depends on.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// The items; those on a cycle, or that depend on one, are missing.
    pub order: Vec<u32>,
    n_items: usize,
}

/// Sorts the items `0..n` so that `from` comes before `to` for each of the edges. Where the edges leave a
/// choice, the item of the lowest rank comes first, then the lowest item.
pub fn topological(n_items: usize, edges: &[(u32, u32)], rank: impl Fn(u32) -> u32) -> Sorted {
    let mut waiting = vec![0u32; n_items];
    // The targets of the edges, sorted by source: those of item `i` lie before `ends[i]`.
    let mut ends = vec![0u32; n_items + 1];
    for &(from, to) in edges {
        waiting[to as usize] += 1;
        ends[from as usize + 1] += 1;
    }
    for i in 0..n_items {
        ends[i + 1] += ends[i];
    }
    let mut targets = vec![0u32; edges.len()];
    for &(from, to) in edges {
        let end = &mut ends[from as usize];
        targets[*end as usize] = to;
        *end += 1;
    }
    let free = (0..n_items).filter(|&i| waiting[i] == 0).map(|i| i as u32);
    let mut ready: BinaryHeap<Reverse<(u32, u32)>> = free.map(|i| Reverse((rank(i), i))).collect();
    let mut order = Vec::with_capacity(n_items);
    while let Some(Reverse((_, i))) = ready.pop() {
        order.push(i);
        let start = i.checked_sub(1).map_or(0, |before| ends[before as usize]);
        for &to in &targets[start as usize..ends[i as usize] as usize] {
            waiting[to as usize] -= 1;
            if waiting[to as usize] == 0 {
                ready.push(Reverse((rank(to), to)));
            }
        }
    }
    Sorted { order, n_items }
}

impl Sorted {
    /// The items of a cycle, each before one that depends on it; `None` if all items were sorted.
    pub fn cycle(&self, edges: &[(u32, u32)]) -> Option<Vec<u32>> {
        if self.order.len() == self.n_items {
            return None;
        }
        let mut stuck = vec![true; self.n_items];
        self.order.iter().for_each(|&i| stuck[i as usize] = false);
        // Each item that is left depends on another one that is left: walking backwards leads round.
        let mut before: BTreeMap<u32, u32> = BTreeMap::new();
        for &(from, to) in edges.iter().filter(|(from, to)| stuck[*from as usize] && stuck[*to as usize]) {
            before.entry(to).or_insert(from);
        }
        let mut at = stuck.iter().position(|stuck| *stuck)? as u32;
        let (mut path, mut seen) = (Vec::new(), BTreeMap::new());
        while !seen.contains_key(&at) {
            seen.insert(at, path.len());
            path.push(at);
            at = *before.get(&at)?;
        }
        let mut cycle = path.split_off(seen[&at]);
        cycle.reverse();
        Some(cycle)
    }

    /// The error that says which nodes make a cycle; `Ok` if all were sorted.
    pub fn check(
        self,
        edges: &[(u32, u32)],
        name: impl Fn(u32) -> String,
        at: impl Fn(u32, Error) -> Error,
    ) -> Result<Vec<u32>, Error> {
        let Some(cycle) = self.cycle(edges) else { return Ok(self.order) };
        let names: Vec<_> = cycle.iter().take(8).map(|&n| format!("`{}`", name(n))).collect();
        let error = invalid!(
            "{} nodes in a cycle", self.n_items - self.order.len();
            "the graph has a cycle without a NextIteration: {}", names.join(" -> ")
        )
        .with_help("only `while_loop` (or a NextIteration that feeds a Merge) may close a cycle");
        Err(at(cycle[0], error))
    }
}

#[cfg(test)]
mod tests {
    use super::topological;

    #[track_caller]
    fn check(n: usize, edges: &[(u32, u32)], order: &[u32], cycle: Option<&[u32]>) {
        let sorted = topological(n, edges, |_| 0);
        assert_eq!((sorted.order.as_slice(), sorted.cycle(edges).as_deref()), (order, cycle));
    }

    #[test]
    fn the_lowest_that_is_ready_comes_first() {
        check(4, &[], &[0, 1, 2, 3], None);
        check(4, &[(3, 0), (2, 1), (2, 1)], &[2, 1, 3, 0], None);
        let by_rank = topological(4, &[(3, 0)], |i| 4 - i);
        assert_eq!(by_rank.order, [3, 2, 1, 0]);
    }

    #[test]
    fn a_cycle_is_found_behind_what_depends_on_it() {
        check(5, &[(1, 2), (2, 3), (3, 1), (3, 0)], &[4], Some(&[1, 2, 3]));
        check(2, &[(1, 1), (1, 0)], &[], Some(&[1]));
    }
}
