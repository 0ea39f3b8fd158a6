//! Positions for nested boxes: the innermost boxes are laid out first, and each is one box in the layout
//! around it.
//!
//! A line between boxes of different parents is cut at each edge that it crosses. On the way out, a part ends
//! at a point on the lower edge; on the way in, a part begins at a point on the upper edge. The layout around
//! knows the position of that point along the edge.

use super::layers::{End, Item, Link, Piece, Placed, layered};
use super::model::{BoxKind, GONE, Look, Model, Shape};
use super::text::width;
use super::{Picture, PictureBox, PictureOptions, Route};
use std::collections::{BTreeMap, BTreeSet};

/// The padding inside a box.
const PAD: f64 = 12.0;
/// The height of a line of text, and the margin above and below a box's lines.
pub(super) const LINE: f64 = 13.0;
pub(super) const MARGIN: f64 = 5.0;
/// The font sizes of the first line, and of the others.
pub(super) const FONTS: [f64; 2] = [11.0, 9.5];

/// The end of a line's part within one box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    /// A direct child box.
    Child(usize),
    /// The upper edge, where a line enters.
    In,
    /// The lower edge, where a line leaves.
    Out,
}

/// The contents of one box for its layout.
#[derive(Default)]
struct Inside {
    children: Vec<usize>,
    /// Parts of lines: the line and both ends.
    parts: BTreeSet<(usize, Spot, Spot)>,
    placed: Placed,
    /// The lines that enter and leave, with their positions along the edge, from the left.
    ins: BTreeMap<usize, f64>,
    outs: BTreeMap<usize, f64>,
    /// The parts that the links of `placed` represent.
    links: Vec<(usize, Spot, Spot)>,
}

/// Lays out a whole picture.
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
    // Inner boxes come after outer ones, so the innermost are laid out first.
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

/// Cuts a line at the edges that it crosses.
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

/// The height of a box's title.
fn title_height(shape: &Shape) -> f64 {
    match shape.kind {
        BoxKind::Root => PAD,
        _ => shape.lines.len() as f64 * LINE + 2.0 * MARGIN + 2.0,
    }
}

fn text_width(shape: &Shape) -> f64 {
    let lines = shape.lines.iter().enumerate();
    // The first line is bold.
    let bold = |i: usize| if i == 0 { 1.08 } else { 1.0 };
    lines.map(|(i, line)| width(line, FONTS[i.min(1)]) * bold(i)).fold(0.0, f64::max)
}

/// Lays out the contents of a box and returns their size.
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
            // The point where a line meets a box with contents.
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
    // Lines of one box are spread along its edges in the order of their other ends, which is known only now.
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

/// Spreads the ends of lines along the edges of boxes without contents. Returns whether any end moved.
fn spread(model: &Model, items: &[Item], inside: &Inside, links: &mut [Link]) -> bool {
    let middle = |item: usize| inside.placed.at[item].0 + items[item].width / 2.0;
    // For each box and edge, its lines, each with the position of its other end.
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

/// A part of a line, moved to the position of the box that contains it.
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
    // The title or a margin lies between an edge and the layout's end points.
    if let (Some(last), Some(Spot::Out)) = (points.last_mut(), ends_at) {
        last.1 = bottom;
    }
    if let (Some(first), true, None) = (points.first_mut(), piece.begins.is_some(), begins_at) {
        first.1 = corners[at].1;
    }
    // Whether this is the beginning of the whole line.
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
