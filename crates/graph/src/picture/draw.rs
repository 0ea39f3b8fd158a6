//! Writes a picture as SVG: styles, lines, boxes over them, a note on hidden nodes above and the legend
//! below. One element a line.
//!
//! No element has an `id`, and every style starts with the class of the picture, so one page can hold many
//! pictures. If a page strips the styles, as some do, the outlines remain.

use super::model::{BoxKind, Look};
use super::nested::{FONTS, LINE, MARGIN};
use super::text::{escaped, width};
use super::{Picture, PictureBox, Route};
use std::collections::BTreeSet;
use std::fmt::Write;

const STYLE: &str = "\
svg.millstream{background:#fff;color:#1f2328;font-family:Helvetica,Arial,sans-serif}
svg.millstream text{fill:currentColor;stroke:none;font-size:9.5px}
svg.millstream .name{font-size:11px;font-weight:600}
svg.millstream rect{fill:#fff;stroke:#8a8f98;stroke-width:1}
svg.millstream .page{fill:#fff;stroke:none}
svg.millstream .placeholder rect{fill:#d8ecd0}
svg.millstream .const rect{fill:#eeeeee}
svg.millstream .frame rect{fill:#d6e4f5}
svg.millstream .route rect{fill:#f7e6c4}
svg.millstream .folded rect{fill:#f4f1fa;stroke:#7a5fb0;stroke-dasharray:4 3}
svg.millstream .loop rect{fill:#3060a0;fill-opacity:.05;stroke:#3060a0;stroke-width:1.5}
svg.millstream .branch rect{fill:#a07020;fill-opacity:.05;stroke:#a07020;stroke-dasharray:5 4}
svg.millstream rect.under{fill:#fff;fill-opacity:.75;stroke:none}
svg.millstream .loop text{fill:#3060a0}
svg.millstream .branch text{fill:#8a5f18}
svg.millstream path{fill:none;stroke:#596069;stroke-width:1}
svg.millstream .order{stroke-dasharray:4 3;stroke:#8a8f98}
svg.millstream .back{stroke:#3060a0;stroke-width:1.8}
svg.millstream .predicate{stroke:#a07020;stroke-dasharray:1.5 3}
svg.millstream .head{fill:#596069;stroke:none}
svg.millstream .back.head{fill:#3060a0}
svg.millstream .predicate.head{fill:#a07020}
svg.millstream .port{font-size:8.5px;opacity:.75}
@media (prefers-color-scheme:dark){
svg.millstream{background:#1b1d21;color:#e3e5e8}
svg.millstream rect{fill:#2a2d33;stroke:#858b95}
svg.millstream .page{fill:#1b1d21}
svg.millstream .placeholder rect{fill:#26452a}
svg.millstream .const rect{fill:#3a3d43}
svg.millstream .frame rect{fill:#1f3d61}
svg.millstream .route rect{fill:#54431a}
svg.millstream .folded rect{fill:#342c47;stroke:#a58fd6}
svg.millstream .loop rect{fill:#6ea0e8;stroke:#6ea0e8}
svg.millstream .branch rect{fill:#d9a84e;stroke:#d9a84e}
svg.millstream rect.under{fill:#1b1d21;stroke:none}
svg.millstream .loop text{fill:#8db8f5}
svg.millstream .branch text{fill:#e0b766}
svg.millstream path{stroke:#a3a9b3}
svg.millstream .order{stroke:#858b95}
svg.millstream .back{stroke:#6ea0e8}
svg.millstream .predicate{stroke:#d9a84e}
svg.millstream .head{fill:#a3a9b3}
svg.millstream .back.head{fill:#6ea0e8}
svg.millstream .predicate.head{fill:#d9a84e}
}";

/// The height of the legend.
const LEGEND: f64 = 26.0;

pub(super) fn svg(picture: &Picture) -> String {
    let note = picture.left_out();
    let top = if note.is_some() { 22.0 } else { 0.0 };
    let legend = legend(picture);
    let root = &picture.boxes[0];
    let note_width = note.as_ref().map_or(0.0, |n| width(n, FONTS[0]) + 24.0);
    let (w, h) = (root.width.max(legend.width + 24.0).max(note_width).ceil(), root.height + top + LEGEND);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"millstream\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" fill=\"none\" stroke=\"#596069\" font-family=\"sans-serif\" font-size=\"9.5\" role=\"img\" aria-label=\"A graph of {}\">",
        super::text::counted(picture.n_nodes, "node")
    );
    let _ = writeln!(out, "<style>\n{STYLE}\n</style>");
    let _ = writeln!(out, "<rect class=\"page\" width=\"{w}\" height=\"{h}\"/>");
    if let Some(note) = note {
        let _ = writeln!(out, "<text x=\"12\" y=\"18\" class=\"name\">{}</text>", escaped(&note));
    }
    let _ = writeln!(out, "<g transform=\"translate(0 {top})\">");
    let holds_others =
        |b: &&PictureBox| !matches!(b.kind, BoxKind::Node(_) | BoxKind::Folded(_) | BoxKind::Root);
    picture.boxes.iter().filter(holds_others).for_each(|b| frame(&mut out, b));
    picture.routes.iter().for_each(|r| route(&mut out, r));
    picture.boxes.iter().filter(holds_others).for_each(|b| title(&mut out, b));
    let is_plain = |b: &&PictureBox| matches!(b.kind, BoxKind::Node(_) | BoxKind::Folded(_));
    picture.boxes.iter().filter(is_plain).for_each(|b| shape(&mut out, b));
    let _ = writeln!(out, "</g>");
    let _ = writeln!(out, "<g transform=\"translate(12 {})\">", root.height + top);
    out.push_str(&legend.text);
    out.push_str("</g>\n</svg>\n");
    out
}

/// Draws the edge of a box that contains others. Its title lies over the lines, on a background that dims
/// them.
fn frame(out: &mut String, b: &PictureBox) {
    let _ = writeln!(out, "<g class=\"{}\"><title>{}</title>{}</g>", b.class, escaped(&b.tip), rect(b, 8));
}

fn title(out: &mut String, b: &PictureBox) {
    let (x, y) = (n(b.x + 8.0), n(b.y + MARGIN - 1.0));
    let widest = b.lines.iter().map(|line| width(line, FONTS[0])).fold(0.0, f64::max);
    let (w, h) = (n(widest.min(b.width - 16.0) + 4.0), n(LINE * b.lines.len() as f64 + 2.0));
    let ground = format!("<rect class=\"under\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>");
    let _ = writeln!(out, "<g class=\"{}\">{ground}{}</g>", b.class, texts(b, b.x + 10.0, ""));
}

fn shape(out: &mut String, b: &PictureBox) {
    let texts = texts(b, b.x + b.width / 2.0, " text-anchor=\"middle\"");
    let _ =
        writeln!(out, "<g class=\"{}\"><title>{}</title>{}{texts}</g>", b.class, escaped(&b.tip), rect(b, 5));
}

fn rect(b: &PictureBox, radius: u32) -> String {
    let (x, y, width, height) = (n(b.x), n(b.y), n(b.width), n(b.height));
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>")
}

fn texts(b: &PictureBox, x: f64, more: &str) -> String {
    let mut out = String::new();
    for (i, line) in b.lines.iter().enumerate() {
        let y = n(b.y + MARGIN + LINE * (i as f64 + 0.78));
        let class = if i == 0 { "name" } else { "more" };
        let _ =
            write!(out, "<text x=\"{}\" y=\"{y}\" class=\"{class}\"{more}>{}</text>", n(x), escaped(line));
    }
    out
}

fn route(out: &mut String, r: &Route) {
    let class = class(r.look);
    let data = if r.round { round(&r.points) } else { curve(&r.points) };
    let tip = if r.tip.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(&r.tip)) };
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{data}\">{tip}</path>");
    if let (true, Some(&(x, y))) = (r.arrow, r.points.last()) {
        let _ = writeln!(
            out,
            "<path class=\"{class} head\" d=\"M{} {}L{} {}L{} {}Z\"/>",
            n(x - 3.0),
            n(y - 6.0),
            n(x),
            n(y),
            n(x + 3.0),
            n(y - 6.0)
        );
    }
    if let (false, Some(&(x, y))) = (r.label.is_empty(), r.points.first()) {
        let _ = writeln!(
            out,
            "<text class=\"port\" x=\"{}\" y=\"{}\">{}</text>",
            n(x + 3.0),
            n(y + 9.0),
            escaped(&r.label)
        );
    }
}

fn class(look: Look) -> &'static str {
    match look {
        Look::Value => "value",
        Look::Order => "order",
        Look::Back => "back",
        Look::Predicate => "predicate",
    }
}

/// A path down, across to the other column, and down again.
fn curve(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    let [a, b, c, d] = points else { return out };
    let _ = write!(out, "M{} {}", n(a.0), n(a.1));
    if a.1 != b.1 {
        let _ = write!(out, "V{}", n(b.1));
    }
    if b.0 == c.0 {
        let _ = write!(out, "V{}", n(d.1));
        return out;
    }
    let middle = n((b.1 + c.1) / 2.0);
    let _ = write!(out, "C{} {middle} {} {middle} {} {}", n(b.0), n(c.0), n(c.0), n(c.1));
    if c.1 != d.1 {
        let _ = write!(out, "V{}", n(d.1));
    }
    out
}

/// A path of straight lines with rounded corners.
fn round(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        if i == 0 || i + 1 == points.len() {
            let _ = write!(out, "{}{} {}", if i == 0 { "M" } else { "L" }, n(x), n(y));
            continue;
        }
        let towards = |(tx, ty): (f64, f64)| {
            let length = ((tx - x).powi(2) + (ty - y).powi(2)).sqrt().max(1e-9);
            let share = (5.0 / length).min(0.5);
            (x + (tx - x) * share, y + (ty - y) * share)
        };
        let (a, b) = (towards(points[i - 1]), towards(points[i + 1]));
        let _ = write!(out, "L{} {}Q{} {} {} {}", n(a.0), n(a.1), n(x), n(y), n(b.0), n(b.1));
    }
    out
}

struct Legend {
    text: String,
    width: f64,
}

/// The legend of the colours and lines that the picture uses.
fn legend(picture: &Picture) -> Legend {
    let classes: BTreeSet<&str> = picture.boxes.iter().map(|b| b.class).collect();
    let looks: BTreeSet<Look> = picture.routes.iter().map(|r| r.look).collect();
    let mut it = Legend { text: String::new(), width: 0.0 };
    let boxes = [
        ("placeholder", "fed"),
        ("const", "constant"),
        ("frame", "in and out of loops"),
        ("route", "choice of a way"),
        ("folded", "folded nodes"),
        ("loop", "loop"),
        ("branch", "branch"),
    ];
    for (class, meaning) in boxes.into_iter().filter(|(c, _)| classes.contains(c)) {
        let _ = writeln!(
            it.text,
            "<g class=\"{class}\"><rect x=\"{}\" y=\"4\" width=\"18\" height=\"12\" rx=\"3\"/></g><text x=\"{}\" y=\"14\">{meaning}</text>",
            n(it.width),
            n(it.width + 23.0)
        );
        it.width += 23.0 + width(meaning, FONTS[1]) + 14.0;
    }
    let lines = [
        (Look::Value, "value"),
        (Look::Order, "order only"),
        (Look::Back, "next iteration"),
        (Look::Predicate, "which way"),
    ];
    for (look, meaning) in lines.into_iter().filter(|(l, _)| looks.contains(l)) {
        let _ = writeln!(
            it.text,
            "<path class=\"{}\" d=\"M{} 10H{}\"/><text x=\"{}\" y=\"14\">{meaning}</text>",
            class(look),
            n(it.width),
            n(it.width + 22.0),
            n(it.width + 27.0)
        );
        it.width += 27.0 + width(meaning, FONTS[1]) + 14.0;
    }
    it
}

/// A length, rounded to a tenth.
fn n(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
