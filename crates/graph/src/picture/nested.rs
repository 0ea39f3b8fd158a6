//! Boxes within boxes get their places: the innermost are laid out first, and each is one box in the next.
//!
//! A line between boxes of different parents is cut at each edge that it passes: on the way out it ends at a place on the lower edge, on
//! the way in it begins at one on the upper edge, and where that place is along the edge is known to the layout around.

use super::layers::{End, Item, Link, Piece, Placed, layered};
use super::model::{BoxKind, GONE, Look, Model, Shape};
use super::text::width;
use super::{Picture, PictureBox, PictureOptions, Route};
use std::collections::{BTreeMap, BTreeSet};

/// Around what is inside of a box.
const PAD: f64 = 12.0;
/// The height of a line of text, and what is above and below the lines of a box.
pub(super) const LINE: f64 = 13.0;
pub(super) const MARGIN: f64 = 5.0;
/// Of the first line, and of the others.
pub(super) const FONTS: [f64; 2] = [11.0, 9.5];

/// An end of a part of a line within one box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    /// A box right inside.
    Child(usize),
    /// Where a line comes in, above.
    In,
    /// Where it goes on, below.
    Out,
}

/// What is laid out in one box.
#[derive(Default)]
struct Inside {
    children: Vec<usize>,
    /// Parts of lines: the line, and its ends.
    parts: BTreeSet<(usize, Spot, Spot)>,
    placed: Placed,
    /// The lines that come in and go out, and where along the edge, from the left.
    ins: BTreeMap<usize, f64>,
    outs: BTreeMap<usize, f64>,
    /// What the links of `placed` were.
    links: Vec<(usize, Spot, Spot)>,
}

/// Puts all in its place.
pub(super) fn arranged(model: Model, options: &PictureOptions) -> Picture {
    let mut insides: Vec<Inside> = model.shapes.iter().map(|_| Inside::default()).collect();
    for (i, shape) in model.shapes.iter().enumerate().skip(1).filter(|(_, s)| s.class != GONE) {
        insides[shape.parent].children.push(i);
    }
    let depths = depths(&model.shapes);
    for wire in &model.wires {
        cut(&model.shapes, &depths, &mut insides, wire.from, wire.to, wire.line);
    }
    let mut sizes = vec![(0.0, 0.0); model.shapes.len()];
    // Inner boxes come after outer ones.
    for i in (0..model.shapes.len()).rev() {
        sizes[i] = lay_out(&model, &mut insides, &sizes, i);
    }
    let mut corners = vec![(0.0, 0.0); model.shapes.len()];
    let mut routes = Vec::new();
    for i in 0..model.shapes.len() {
        let (x, y) = (corners[i].0 + PAD, corners[i].1 + title_height(&model.shapes[i]));
        for (child, at) in insides[i].children.iter().zip(&insides[i].placed.at) {
            corners[*child] = (x + at.0, y + at.1);
        }
        let pieces = insides[i].placed.pieces.iter();
        routes.extend(pieces.map(|p| route(&model, &insides, &corners, &sizes, i, p, (x, y))));
    }
    let n_shown = model.n_shown;
    let mut kept = vec![0; model.shapes.len()];
    let mut boxes: Vec<PictureBox> = Vec::new();
    for (i, shape) in model.shapes.into_iter().enumerate().filter(|(_, s)| s.class != GONE) {
        kept[i] = boxes.len();
        let Shape { kind, parent, lines, tip, class } = shape;
        let (parent, (x, y), (width, height)) = (kept[parent], corners[i], sizes[i]);
        boxes.push(PictureBox { kind, parent, x, y, width, height, lines, tip, class });
    }
    Picture { boxes, routes, n_nodes: model.n_nodes, n_shown, options: options.clone() }
}

fn depths(shapes: &[Shape]) -> Vec<usize> {
    let mut depths = vec![0; shapes.len()];
    for (i, shape) in shapes.iter().enumerate().skip(1) {
        depths[i] = depths[shape.parent] + 1;
    }
    depths
}

/// Cuts a line at the edges it passes.
fn cut(shapes: &[Shape], depths: &[usize], insides: &mut [Inside], from: usize, to: usize, line: usize) {
    let (mut a, mut b) = (from, to);
    while shapes[a].parent != shapes[b].parent {
        if depths[b] <= depths[a] {
            let around = shapes[a].parent;
            insides[around].parts.insert((line, Spot::Child(a), Spot::Out));
            insides[around].outs.insert(line, 0.0);
            a = around;
        } else {
            let around = shapes[b].parent;
            insides[around].parts.insert((line, Spot::In, Spot::Child(b)));
            insides[around].ins.insert(line, 0.0);
            b = around;
        }
    }
    insides[shapes[a].parent].parts.insert((line, Spot::Child(a), Spot::Child(b)));
}

/// What is above the inside of a box.
fn title_height(shape: &Shape) -> f64 {
    match shape.kind {
        BoxKind::Root => PAD,
        _ => shape.lines.len() as f64 * LINE + 2.0 * MARGIN + 2.0,
    }
}

fn text_width(shape: &Shape) -> f64 {
    let lines = shape.lines.iter().enumerate();
    // The first is bold.
    let bold = |i: usize| if i == 0 { 1.08 } else { 1.0 };
    lines.map(|(i, line)| width(line, FONTS[i.min(1)]) * bold(i)).fold(0.0, f64::max)
}

/// Lays out what is inside of a box, and says how large it is.
fn lay_out(model: &Model, insides: &mut [Inside], sizes: &[(f64, f64)], at: usize) -> (f64, f64) {
    let shape = &model.shapes[at];
    let is_plain = matches!(shape.kind, BoxKind::Node(_) | BoxKind::Folded(_));
    if is_plain {
        let height = shape.lines.len() as f64 * LINE + 2.0 * MARGIN;
        return ((text_width(shape) + 18.0).max(44.0).round(), height);
    }
    let inside = std::mem::take(&mut insides[at]);
    let inside = placed(model, insides, sizes, inside);
    let width = (inside.placed.width + 2.0 * PAD).max(text_width(shape) + 2.0 * PAD).ceil();
    let height = inside.placed.height + title_height(shape) + PAD;
    insides[at] = inside;
    (width, height.ceil())
}

fn placed(model: &Model, insides: &[Inside], sizes: &[(f64, f64)], mut inside: Inside) -> Inside {
    let mut items: Vec<Item> = (inside.children.iter())
        .map(|c| Item { width: sizes[*c].0, height: sizes[*c].1, end: End::Box })
        .collect();
    let number: BTreeMap<usize, usize> = inside.children.iter().enumerate().map(|(i, c)| (*c, i)).collect();
    let end = |items: &mut Vec<Item>, end| {
        items.push(Item { end, ..Item::default() });
        items.len() - 1
    };
    let ins: BTreeMap<usize, usize> = inside.ins.keys().map(|l| (*l, end(&mut items, End::Top))).collect();
    let outs: BTreeMap<usize, usize> =
        inside.outs.keys().map(|l| (*l, end(&mut items, End::Bottom))).collect();
    inside.links = inside.parts.iter().copied().collect();
    let mut links: Vec<Link> = (inside.links.iter())
        .map(|&(line, from, to)| {
            let item = |spot| match spot {
                Spot::Child(c) => number[&c],
                Spot::In => ins[&line],
                Spot::Out => outs[&line],
            };
            // Where a line meets a box that others are in.
            let dx = |spot, lower: bool| match spot {
                Spot::Child(c) => {
                    let places = if lower { &insides[c].outs } else { &insides[c].ins };
                    places.get(&line).map_or(0.0, |x| PAD + x - sizes[c].0 / 2.0)
                }
                Spot::In | Spot::Out => 0.0,
            };
            let back = model.lines[line].look == Look::Back;
            Link { from: item(from), to: item(to), from_dx: dx(from, true), to_dx: dx(to, false), line, back }
        })
        .collect();
    inside.placed = layered(&items, &links);
    // Lines of one box are spread along its edges, in the order in which the others stand: known only now.
    if spread(model, &items, &inside, &mut links) {
        inside.placed = layered(&items, &links);
    }
    for (line, item) in ins {
        inside.ins.insert(line, inside.placed.at[item].0);
    }
    for (line, item) in outs {
        inside.outs.insert(line, inside.placed.at[item].0);
    }
    inside
}

/// Spreads the ends of lines at boxes with none inside. Whether anything has moved.
fn spread(model: &Model, items: &[Item], inside: &Inside, links: &mut [Link]) -> bool {
    let middle = |item: usize| inside.placed.at[item].0 + items[item].width / 2.0;
    // By box and edge: the lines, each with the place of its other end.
    let mut ends: BTreeMap<(usize, bool), BTreeMap<usize, (f64, usize)>> = BTreeMap::new();
    let plain = |spot: Spot| matches!(spot, Spot::Child(c) if matches!(model.shapes[c].kind, BoxKind::Node(_) | BoxKind::Folded(_)));
    for (link, &(line, from, to)) in links.iter().zip(&inside.links).filter(|(l, _)| !l.back) {
        let mut add = |key, x: f64| {
            let (sum, n) = ends.entry(key).or_default().entry(line).or_default();
            *sum += x;
            *n += 1;
        };
        if plain(from) {
            add((link.from, true), middle(link.to) + link.to_dx);
        }
        if plain(to) {
            add((link.to, false), middle(link.from) + link.from_dx);
        }
    }
    let mut place: BTreeMap<(usize, bool, usize), f64> = BTreeMap::new();
    for ((item, lower), lines) in ends {
        let mut lines: Vec<(f64, usize)> =
            lines.into_iter().map(|(l, (sum, n))| (sum / n as f64, l)).collect();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let step = (items[item].width * 0.7 / lines.len() as f64).min(22.0);
        let first = -step * (lines.len() - 1) as f64 / 2.0;
        if 1 < lines.len() {
            place.extend(
                lines.iter().enumerate().map(|(i, (_, l))| ((item, lower, *l), first + step * i as f64)),
            );
        }
    }
    for link in links.iter_mut() {
        link.from_dx = place.get(&(link.from, true, link.line)).copied().unwrap_or(link.from_dx);
        link.to_dx = place.get(&(link.to, false, link.line)).copied().unwrap_or(link.to_dx);
    }
    !place.is_empty()
}

/// A part of a line, where the box it is in has its place.
fn route(
    model: &Model,
    insides: &[Inside],
    corners: &[(f64, f64)],
    sizes: &[(f64, f64)],
    at: usize,
    piece: &Piece,
    origin: (f64, f64),
) -> Route {
    let line = &model.lines[piece.line];
    let inside = &insides[at];
    let end = |spot: &Spot| match spot {
        Spot::Child(c) => Some(*c),
        Spot::In | Spot::Out => None,
    };
    let is_plain = |c: usize| matches!(model.shapes[c].kind, BoxKind::Node(_) | BoxKind::Folded(_));
    let mut points: Vec<(f64, f64)> =
        piece.points.iter().map(|(x, y)| (origin.0 + x, origin.1 + y)).collect();
    let ends_at = piece.ends.map(|l| inside.links[l].2);
    let begins_at = piece.begins.and_then(|item| inside.children.get(item));
    let bottom = corners[at].1 + sizes[at].1;
    // Between an edge and the ends that stand for it there is the title or a margin.
    if let (Some(last), Some(Spot::Out)) = (points.last_mut(), ends_at) {
        last.1 = bottom;
    }
    if let (Some(first), true, None) = (points.first_mut(), piece.begins.is_some(), begins_at) {
        first.1 = corners[at].1;
    }
    // Where this line begins at all.
    let begins = begins_at.is_some_and(|c| is_plain(*c));
    let arrow = ends_at.as_ref().and_then(end).is_some_and(is_plain);
    Route {
        look: line.look,
        points,
        round: piece.back,
        arrow,
        label: if begins { line.label.clone() } else { String::new() },
        tip: line.tip.clone(),
    }
}
