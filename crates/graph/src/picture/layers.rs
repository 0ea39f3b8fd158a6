//! [`layered`]: arranges boxes and the lines between them in layers, so that lines lead down. Knows nothing
//! about graphs of tensors.
//!
//! ```text
//!   layer 0   the points where lines enter from above          o     o
//!   layer 1   boxes whose inputs all come from there          [a]   [b]
//!     ..      each box below all of its inputs; a line that      \  /|
//!             passes a layer has a bend there                    [c] .
//!   last      the points where lines leave below                  o  o
//! ```
//!
//! A box's layer is the length of the longest path from the top. A layer holds at most [`MOST_IN_LAYER`]
//! boxes, and a box without inputs is placed right above its first consumer. Boxes are ordered within layers
//! by barycentres, in sweeps down and up, and the order with the fewest crossings is kept. Each box is as
//! near to the middle of its neighbours as it can be without overlap. Lines that would lead up go round the
//! right side. All lines from one point share their bends. Each step takes time in proportion to the number
//! of boxes, lines and bends, times the logarithm of a layer's width.

use std::collections::{BTreeMap, BTreeSet};

/// The most boxes side by side.
const MOST_IN_LAYER: usize = 16;
/// The gap between neighbours in a layer.
const GAP: f64 = 18.0;
const BEND_GAP: f64 = 9.0;
/// The gap between layers.
const LAYER_GAP: f64 = 30.0;
/// The number of sweeps for orders, and for positions.
const SWEEPS: usize = 12;
const PASSES: usize = 10;

/// A box, or a point on the upper or lower edge.
#[derive(Clone, Copy, Default)]
pub(super) struct Item {
    pub width: f64,
    pub height: f64,
    pub end: End,
}

/// Whether an item is a box or a point on an edge.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Box,
    Top,
    Bottom,
}

/// A line from one item to another. Each `dx` is relative to the middle of its item.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    pub from_dx: f64,
    pub to_dx: f64,
    /// The line it belongs to. Links of one line from one item are drawn as one.
    pub line: usize,
    /// Whether it leads back, regardless of the items' positions.
    pub back: bool,
}

/// A part of a line: down from the first point, across to the other column, and down to the last. A part that
/// goes round the side has corners instead.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub line: usize,
    pub points: Vec<(f64, f64)>,
    /// Whether it goes round the side.
    pub back: bool,
    /// The link whose end it is, if any.
    pub ends: Option<usize>,
    /// The item at which it begins, if any.
    pub begins: Option<usize>,
}

/// The finished layout.
#[derive(Default)]
pub(super) struct Placed {
    /// The left upper corner of each item.
    pub at: Vec<(f64, f64)>,
    pub pieces: Vec<Piece>,
    pub width: f64,
    pub height: f64,
}

/// Arranges items and links in layers.
pub(super) fn layered(items: &[Item], links: &[Link]) -> Placed {
    let mut it = Layout::new(items, links);
    it.break_cycles();
    it.find_layers();
    it.bend();
    it.order();
    it.place();
    it.finish()
}

/// An item or a bend of a line.
#[derive(Clone, Copy)]
struct Vertex {
    layer: usize,
    width: f64,
    height: f64,
    /// The position of the middle.
    x: f64,
    is_bend: bool,
}

/// A line between neighbouring layers.
#[derive(Clone, Copy)]
struct Hop {
    from: usize,
    to: usize,
    from_dx: f64,
    to_dx: f64,
    line: usize,
    link: Option<usize>,
}

struct Layout<'a> {
    items: &'a [Item],
    links: &'a [Link],
    back: Vec<bool>,
    layer: Vec<usize>,
    n_layers: usize,
    vertices: Vec<Vertex>,
    hops: Vec<Hop>,
    /// The vertices of each layer, from left to right.
    rows: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl<'a> Layout<'a> {
    fn new(items: &'a [Item], links: &'a [Link]) -> Layout<'a> {
        let back = links.iter().map(|l| l.back || l.from == l.to).collect();
        Layout {
            items,
            links,
            back,
            layer: Vec::new(),
            n_layers: 0,
            vertices: Vec::new(),
            hops: Vec::new(),
            rows: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
        }
    }

    /// The links that do not lead back, grouped by the item at one end.
    fn by(&self, end: impl Fn(&Link) -> usize) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.items.len()];
        for (i, link) in self.links.iter().enumerate().filter(|(i, _)| !self.back[*i]) {
            lists[end(link)].push(i);
        }
        lists
    }

    /// Marks links to items on the current path of a depth-first walk as leading back.
    fn break_cycles(&mut self) {
        let out = self.by(|l| l.from);
        let mut state = vec![0u8; self.items.len()];
        for root in 0..self.items.len() {
            if state[root] != 0 {
                continue;
            }
            state[root] = 1;
            let mut walk = vec![(root, 0)];
            while let Some((at, next)) = walk.last_mut() {
                let Some(&link) = out[*at].get(*next) else {
                    state[*at] = 2;
                    walk.pop();
                    continue;
                };
                *next += 1;
                let to = self.links[link].to;
                match state[to] {
                    0 => {
                        state[to] = 1;
                        walk.push((to, 0));
                    }
                    1 => self.back[link] = true,
                    _ => {}
                }
            }
        }
    }

    fn find_layers(&mut self) {
        let (out, into) = (self.by(|l| l.from), self.by(|l| l.to));
        let order = topological(self.links, &out, &into);
        let mut layer = vec![0; self.items.len()];
        let mut room = Room::default();
        for &i in &order {
            let least = into[i].iter().map(|l| layer[self.links[*l].from] + 1).max().unwrap_or(1).max(1);
            layer[i] = match self.items[i].end {
                End::Box => room.take(least),
                End::Top | End::Bottom => 0,
            };
        }
        let last = (0..self.items.len()).map(|i| layer[i]).max().unwrap_or(0).max(1);
        let returns: BTreeSet<usize> =
            self.links.iter().zip(&self.back).filter(|(_, back)| **back).map(|(l, _)| l.from).collect();
        // Boxes without inputs, or with inputs only from above, move down to their first consumer.
        for &i in order.iter().rev().filter(|i| self.items[**i].end == End::Box) {
            let from_above = into[i].iter().all(|l| self.items[self.links[*l].from].end == End::Top);
            let wanted = out[i].iter().map(|l| self.links[*l].to);
            let lowest =
                match wanted.clone().filter(|t| self.items[*t].end == End::Box).map(|t| layer[t]).min() {
                    Some(first) if from_above => first - 1,
                    None if returns.contains(&i) && wanted.count() == 0 => last,
                    _ => continue,
                };
            layer[i] = room.sink(layer[i], lowest);
        }
        for (i, item) in self.items.iter().enumerate().filter(|(_, item)| item.end == End::Bottom) {
            debug_assert!(item.width == 0.0, "an end is a point");
            layer[i] = last + 1;
        }
        self.layer = layer;
        self.n_layers = last + 2;
    }

    /// Adds bends where lines pass layers, one for all links of a line that begin at one item.
    fn bend(&mut self) {
        self.vertices = (self.items.iter().zip(&self.layer))
            .map(|(item, &layer)| Vertex {
                layer,
                width: item.width,
                height: item.height,
                x: 0.0,
                is_bend: false,
            })
            .collect();
        let mut lines: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (i, link) in self.links.iter().enumerate().filter(|(i, _)| !self.back[*i]) {
            lines.entry((link.from, link.line)).or_default().push(i);
        }
        for ((from, line), links) in lines {
            let start = self.layer[from];
            let deepest = links.iter().map(|l| self.layer[self.links[*l].to]).max().unwrap_or(start);
            let mut at = vec![(from, self.links[links[0]].from_dx)];
            for layer in start + 1..deepest {
                let bend = self.vertices.len();
                self.vertices.push(Vertex { layer, width: 0.0, height: 0.0, x: 0.0, is_bend: true });
                let (from, from_dx) = at[at.len() - 1];
                self.hops.push(Hop { from, to: bend, from_dx, to_dx: 0.0, line, link: None });
                at.push((bend, 0.0));
            }
            for l in links {
                let link = &self.links[l];
                let (from, from_dx) = at[self.layer[link.to] - start - 1];
                self.hops.push(Hop { from, to: link.to, from_dx, to_dx: link.to_dx, line, link: Some(l) });
            }
        }
        self.above = vec![Vec::new(); self.vertices.len()];
        self.below = vec![Vec::new(); self.vertices.len()];
        for (h, hop) in self.hops.iter().enumerate() {
            self.below[hop.from].push(h);
            self.above[hop.to].push(h);
        }
        self.rows = vec![Vec::new(); self.n_layers];
        // Walking down each line places its parts side by side.
        let mut seen = vec![false; self.vertices.len()];
        for first in 0..self.vertices.len() {
            let mut walk = vec![first];
            while let Some(v) = walk.pop() {
                if std::mem::replace(&mut seen[v], true) {
                    continue;
                }
                self.rows[self.vertices[v].layer].push(v);
                walk.extend(self.below[v].iter().rev().map(|h| self.hops[*h].to));
            }
        }
    }

    fn order(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            let down = sweep.is_multiple_of(2);
            let n = self.rows.len();
            for k in 1..n {
                self.sort_row(if down { k } else { n - 1 - k }, down);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// The position of each vertex in its row, slightly larger for lines that leave it on the right.
    fn ranks(&self, row: &[usize]) -> BTreeMap<usize, f64> {
        row.iter().enumerate().map(|(i, v)| (*v, i as f64)).collect()
    }

    fn aside(&self, v: usize, dx: f64) -> f64 {
        match self.vertices[v].width {
            0.0 => 0.0,
            width => dx / width * 0.9,
        }
    }

    fn sort_row(&mut self, row: usize, by_above: bool) {
        let other = if by_above { row - 1 } else { row + 1 };
        let ranks = self.ranks(&self.rows[other]);
        let mut keyed: Vec<(f64, usize)> = (self.rows[row].iter().enumerate())
            .map(|(i, &v)| {
                let hops = if by_above { &self.above[v] } else { &self.below[v] };
                let sum: f64 = (hops.iter())
                    .map(|h| match (by_above, &self.hops[*h]) {
                        (true, hop) => ranks[&hop.from] + self.aside(hop.from, hop.from_dx),
                        (false, hop) => ranks[&hop.to] + self.aside(hop.to, hop.to_dx),
                    })
                    .sum();
                // A vertex without neighbours there stays about where it is.
                let scale = self.rows[other].len() as f64 / self.rows[row].len() as f64;
                (if hops.is_empty() { i as f64 * scale } else { sum / hops.len() as f64 }, v)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.rows[row] = keyed.into_iter().map(|(_, v)| v).collect();
    }

    /// The number of pairs of lines that cross.
    fn crossings(&self) -> usize {
        self.rows.windows(2).map(|pair| self.crossings_between(&pair[0], &pair[1])).sum()
    }

    fn crossings_between(&self, upper: &[usize], lower: &[usize]) -> usize {
        let ranks = self.ranks(lower);
        let mut ends: Vec<(f64, f64)> = Vec::new();
        for (i, &v) in upper.iter().enumerate() {
            for &h in &self.below[v] {
                let hop = &self.hops[h];
                ends.push((
                    i as f64 + self.aside(v, hop.from_dx),
                    ranks[&hop.to] + self.aside(hop.to, hop.to_dx),
                ));
            }
        }
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut by_end: Vec<usize> = (0..ends.len()).collect();
        by_end.sort_by(|a, b| ends[*a].1.total_cmp(&ends[*b].1).then(a.cmp(b)));
        let mut place = vec![0; ends.len()];
        for (i, e) in by_end.into_iter().enumerate() {
            place[e] = i;
        }
        // A tree of counts gives the number of earlier lines that end further right.
        let mut tree = vec![0usize; ends.len() + 1];
        let mut crossings = 0;
        for (seen, p) in place.into_iter().enumerate() {
            let mut at = p + 1;
            let mut before = 0;
            while 0 < at {
                before += tree[at];
                at &= at - 1;
            }
            crossings += seen - before;
            at = p + 1;
            while at < tree.len() {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
        crossings
    }

    fn place(&mut self) {
        for row in 0..self.rows.len() {
            let mut x = 0.0;
            for i in 0..self.rows[row].len() {
                let v = self.rows[row][i];
                x += if i == 0 { 0.0 } else { self.apart(self.rows[row][i - 1], v) };
                self.vertices[v].x = x;
            }
        }
        let n = self.rows.len();
        for pass in 0..PASSES {
            let (up, down) = if PASSES - 2 <= pass {
                (true, true)
            } else {
                (pass.is_multiple_of(2), !pass.is_multiple_of(2))
            };
            for k in 0..n {
                self.settle(if up { k } else { n - 1 - k }, up, down);
            }
        }
    }

    /// The least distance between the middles of two neighbours.
    fn apart(&self, left: usize, right: usize) -> f64 {
        let (a, b) = (&self.vertices[left], &self.vertices[right]);
        let gap = if a.is_bend || b.is_bend { BEND_GAP } else { GAP };
        (a.width + b.width) / 2.0 + gap
    }

    /// Moves a row's vertices as near as possible to the middle of their neighbours above or below: the
    /// least-squares solution that keeps order and distances, found by pooling vertices that would be too
    /// near.
    fn settle(&mut self, row: usize, above: bool, below: bool) {
        let mut pools: Vec<(f64, f64, usize)> = Vec::new();
        let mut offsets = Vec::with_capacity(self.rows[row].len());
        let mut offset = 0.0;
        for (i, &v) in self.rows[row].iter().enumerate() {
            offset += if i == 0 { 0.0 } else { self.apart(self.rows[row][i - 1], v) };
            offsets.push(offset);
            let (want, weight) = self.wanted(v, above, below);
            let mut pool = (want - offset, weight, 1);
            while let Some(&(at, w, n)) = pools.last()
                && pool.0 < at
            {
                pool = ((pool.0 * pool.1 + at * w) / (pool.1 + w), pool.1 + w, pool.2 + n);
                pools.pop();
            }
            pools.push(pool);
        }
        let places = pools.into_iter().flat_map(|(at, _, n)| std::iter::repeat_n(at, n));
        for ((&v, offset), at) in self.rows[row].iter().zip(offsets).zip(places) {
            self.vertices[v].x = at + offset;
        }
    }

    /// The best position of a vertex, and its weight. Bends weigh most, so that long lines are straight.
    fn wanted(&self, v: usize, above: bool, below: bool) -> (f64, f64) {
        let own = self.vertices[v];
        let (mut sum, mut weight) = (0.0, 0.0);
        let mut add = |other: usize, other_dx: f64, own_dx: f64| {
            let w = if own.is_bend && self.vertices[other].is_bend { 8.0 } else { 1.0 };
            sum += w * (self.vertices[other].x + other_dx - own_dx);
            weight += w;
        };
        for hop in self.above[v].iter().filter(|_| above).map(|h| &self.hops[*h]) {
            add(hop.from, hop.from_dx, hop.to_dx);
        }
        for hop in self.below[v].iter().filter(|_| below).map(|h| &self.hops[*h]) {
            add(hop.to, hop.to_dx, hop.from_dx);
        }
        match weight {
            0.0 => (own.x, 0.01),
            weight => (sum / weight, weight),
        }
    }

    fn finish(mut self) -> Placed {
        let left = self.vertices.iter().map(|v| v.x - v.width / 2.0).fold(f64::INFINITY, f64::min);
        let left = if left.is_finite() { left } else { 0.0 };
        for v in &mut self.vertices {
            v.x = (v.x - left).round();
        }
        let right = self.vertices.iter().map(|v| v.x + v.width / 2.0).fold(0.0, f64::max);
        let (tops, bottoms, height) = self.heights();
        let at: Vec<(f64, f64)> = (0..self.items.len()).map(|i| self.corner(i, &tops, &bottoms)).collect();
        let mut pieces: Vec<Piece> =
            self.hops.iter().map(|hop| self.piece(hop, &at, &tops, &bottoms)).collect();
        let n_back = self.back.iter().filter(|b| **b).count();
        let step = if n_back <= 16 { 8.0 } else { 128.0 / n_back as f64 };
        let mut lane = 0.0;
        for (i, link) in self.links.iter().enumerate().filter(|(i, _)| self.back[*i]) {
            lane += step;
            pieces.push(self.round(i, link, &at, &tops, &bottoms, right + 6.0 + lane, lane));
        }
        let width = if n_back == 0 { right } else { right + 6.0 + lane };
        Placed { at, pieces, width, height }
    }

    /// The upper and lower edge of each layer, and the total height.
    fn heights(&self) -> (Vec<f64>, Vec<f64>, f64) {
        let n_back = self.back.iter().filter(|b| **b).count();
        let (mut tops, mut bottoms) = (Vec::new(), Vec::new());
        let mut y = 0.0;
        for (i, row) in self.rows.iter().enumerate() {
            let height = row.iter().map(|v| self.vertices[*v].height).fold(0.0, f64::max);
            tops.push(y);
            y += height;
            bottoms.push(y);
            let ends = i == 0 && row.is_empty() || i + 2 == self.rows.len() && self.rows[i + 1].is_empty();
            let busy = row.iter().map(|v| self.below[*v].len()).sum::<usize>().min(24) as f64;
            let is_edge = row.iter().all(|v| *v < self.items.len() && self.items[*v].end != End::Box);
            y += match ends {
                _ if i + 1 == self.rows.len() => 0.0,
                // Lines that go round the side need some room.
                true if 0 < n_back => 20.0,
                true => 0.0,
                false if is_edge => LAYER_GAP / 2.0 + busy,
                false => LAYER_GAP + busy,
            };
        }
        (tops, bottoms, y.max(1.0))
    }

    /// Boxes are aligned with the top of their layer; boxes without inputs with its bottom, near their
    /// consumers.
    fn corner(&self, i: usize, tops: &[f64], bottoms: &[f64]) -> (f64, f64) {
        let (v, layer) = (&self.vertices[i], self.layer[i]);
        let y = match self.above[i].is_empty() {
            true => bottoms[layer] - v.height,
            false => tops[layer],
        };
        (v.x - v.width / 2.0, y)
    }

    fn piece(&self, hop: &Hop, at: &[(f64, f64)], tops: &[f64], bottoms: &[f64]) -> Piece {
        let (from, to) = (&self.vertices[hop.from], &self.vertices[hop.to]);
        let (x0, x1) = (from.x + hop.from_dx, to.x + hop.to_dx);
        let y0 = if from.is_bend { tops[from.layer] } else { at[hop.from].1 + from.height };
        let y3 = if to.is_bend { tops[to.layer] } else { at[hop.to].1 };
        let points = vec![(x0, y0), (x0, bottoms[from.layer]), (x1, tops[to.layer]), (x1, y3)];
        let begins = (!from.is_bend).then_some(hop.from);
        Piece { line: hop.line, points, back: false, ends: hop.link, begins }
    }

    /// The path of a line that leads back: down from an item, out to the right, up, and into the other item
    /// from above.
    #[expect(clippy::too_many_arguments, reason = "all that is known of a way round")]
    fn round(
        &self,
        index: usize,
        link: &Link,
        at: &[(f64, f64)],
        tops: &[f64],
        bottoms: &[f64],
        right: f64,
        lane: f64,
    ) -> Piece {
        let (from, to) = (&self.vertices[link.from], &self.vertices[link.to]);
        let aside = (lane / 4.0).min(10.0);
        let (x0, x1) = (from.x + link.from_dx, to.x + link.to_dx + (to.width / 4.0).min(14.0));
        let (below, above) = (bottoms[from.layer] + 5.0 + aside, tops[to.layer] - 8.0 - aside);
        let points = vec![
            (x0, at[link.from].1 + from.height),
            (x0, below),
            (right, below),
            (right, above),
            (x1, above),
            (x1, at[link.to].1),
        ];
        Piece { line: link.line, points, back: true, ends: Some(index), begins: Some(link.from) }
    }
}

/// The items in topological order.
fn topological(links: &[Link], out: &[Vec<usize>], into: &[Vec<usize>]) -> Vec<usize> {
    let mut left: Vec<usize> = into.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..left.len()).filter(|i| left[*i] == 0).collect();
    let mut next = 0;
    while let Some(&i) = order.get(next) {
        next += 1;
        for link in &out[i] {
            let to = links[*link].to;
            left[to] -= 1;
            if left[to] == 0 {
                order.push(to);
            }
        }
    }
    order
}

/// The number of boxes in each layer, and which layers are full.
#[derive(Default)]
struct Room {
    taken: Vec<usize>,
    /// For a full layer, a layer further down that may have room.
    next: Vec<usize>,
}

impl Room {
    /// Takes a place in the first layer from `least` down that has room.
    fn take(&mut self, least: usize) -> usize {
        let layer = self.free(least);
        self.taken[layer] += 1;
        if self.taken[layer] == MOST_IN_LAYER {
            self.next[layer] = layer + 1;
        }
        layer
    }

    fn free(&mut self, least: usize) -> usize {
        let mut at = least;
        loop {
            while self.taken.len() <= at {
                self.next.push(self.taken.len());
                self.taken.push(0);
            }
            if self.next[at] == at {
                break;
            }
            at = self.next[at];
        }
        // Path compression makes the next search shorter.
        let mut on = least;
        while on != at {
            on = std::mem::replace(&mut self.next[on], at);
        }
        at
    }

    /// The lowest layer with room from `lowest` up, or the same.
    fn sink(&mut self, layer: usize, lowest: usize) -> usize {
        let reach = lowest.saturating_sub(8).max(layer + 1);
        let found = (reach..=lowest).rev().find(|l| self.taken.get(*l).is_none_or(|n| *n < MOST_IN_LAYER));
        let Some(found) = found else { return layer };
        self.free(found);
        self.taken[found] += 1;
        self.taken[layer] -= 1;
        found
    }
}
