//! Pictures of graphs. For golden and generated graphs, every node is drawn once and inside its boxes, no
//! boxes overlap, and every edge is an arrow. A few pictures are compared line by line (`UPDATE_GOLDEN=1`
//! writes them). Names may be hostile, and large graphs take little time.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_graph::op::Role;
use millstream_graph::picture::{BoxKind, Picture, PictureOptions};
use millstream_graph::{Graph, GraphData, NodeId, svg};
use millstream_testkit::generate::{Program, build};
use millstream_testkit::graphs::{GoldenGraph, folders};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

fn golden(name: &str) -> Graph {
    GoldenGraph::load(&root().join("graphs").join(name)).unwrap().import().unwrap()
}

fn all() -> PictureOptions {
    PictureOptions { limit: usize::MAX / 2, scope: None }
}

/// Checks what holds for every picture.
#[track_caller]
fn check(g: &GraphData, options: &PictureOptions, what: &str) -> Picture {
    let picture = Picture::of(g, options).unwrap();
    let mut seen = BTreeSet::new();
    let mut folded = 0;
    let mut siblings: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, b) in picture.boxes.iter().enumerate() {
        assert!(
            [b.x, b.y, b.width, b.height].iter().all(|v| v.is_finite()) && 0.0 < b.width,
            "{what}: {b:?}"
        );
        match b.kind {
            BoxKind::Node(id) => assert!(seen.insert(id), "{what}: {id} is drawn twice"),
            BoxKind::Folded(n) => folded += n,
            BoxKind::Root | BoxKind::Loop(_) | BoxKind::Branch(..) => {}
        }
        if 0 < i {
            let p = &picture.boxes[b.parent];
            let inside = p.x <= b.x
                && p.y <= b.y
                && b.x + b.width <= p.x + p.width
                && b.y + b.height <= p.y + p.height;
            assert!(inside, "{what}: {b:?} is not inside of {p:?}");
            siblings.entry(b.parent).or_default().push(i);
        }
    }
    assert_eq!(seen.len() + folded, picture.n_nodes, "{what}: nodes drawn and folded");
    assert_eq!(seen.len(), picture.n_shown, "{what}");
    assert_eq!(picture.left_out().is_some(), 0 < folded, "{what}");
    for list in siblings.values() {
        apart(&picture, list, what);
    }
    picture
}

/// Checks that no two of these boxes overlap.
#[track_caller]
fn apart(picture: &Picture, list: &[usize], what: &str) {
    let mut list = list.to_vec();
    list.sort_by(|a, b| picture.boxes[*a].y.total_cmp(&picture.boxes[*b].y));
    for (k, &i) in list.iter().enumerate() {
        let a = &picture.boxes[i];
        for &j in list[k + 1..].iter() {
            let b = &picture.boxes[j];
            if a.y + a.height <= b.y {
                break;
            }
            assert!(a.x + a.width <= b.x || b.x + b.width <= a.x, "{what}: {a:?} is over {b:?}");
        }
    }
}

/// The number of edges that the picture draws as separate lines.
fn edges(g: &GraphData) -> usize {
    let mut edges = BTreeSet::new();
    for (i, node) in g.nodes().iter().enumerate() {
        for (k, p) in node.inputs.iter().enumerate() {
            let asks = node.role() == Role::Switch && k == 1;
            edges.insert((p.node, Some(p.index), asks, i));
        }
        edges.extend(node.controls.iter().map(|c| (*c, None, false, i)));
    }
    edges.iter().filter(|(from, .., to)| *from != NodeId(*to as u32)).count()
}

#[track_caller]
fn check_whole(g: &GraphData, what: &str) {
    let picture = check(g, &all(), what);
    assert_eq!(picture.n_shown, g.nodes().len(), "{what}");
    assert_eq!(picture.to_svg().matches(" head\"").count(), edges(g), "{what}: arrows");
    for limit in [1, 7, 30] {
        let small = check(g, &PictureOptions { limit, scope: None }, what);
        assert!(small.boxes.len() <= 3 * limit + 4, "{what}: {} boxes of {limit}", small.boxes.len());
    }
}

#[test]
fn golden_graphs_are_drawn_whole() {
    let mut n = 0;
    for folder in folders(&root().join("graphs")).unwrap() {
        let what = folder.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(graph) = GoldenGraph::load(&folder).unwrap().import() else { continue };
        graph.read(|g| check_whole(g, &what));
        n += 1;
    }
    println!("{n} golden graphs drawn");
    assert!(300 < n, "{n}");
}

#[test]
fn generated_graphs_are_drawn_whole() {
    let (mut loops, mut branches) = (0, 0);
    for seed in 0..400 {
        let Ok(built) = build(&Program::new(seed)) else { continue };
        built.graph.read(|g| check_whole(g, &format!("seed {seed}")));
        let boxes = built.graph.read(|g| Picture::of(g, &all())).unwrap().boxes;
        loops += boxes.iter().filter(|b| matches!(b.kind, BoxKind::Loop(_))).count();
        branches += boxes.iter().filter(|b| matches!(b.kind, BoxKind::Branch(..))).count();
    }
    println!("{loops} loops and {branches} branches drawn");
    assert!(200 < loops && 200 < branches, "{loops} loops and {branches} branches");
}

#[test]
fn pictures_stay_as_they_are() {
    for name in ["loop_count_up", "loop_nested_two", "cond_true", "loop_in_cond_taken"] {
        let drawn = golden(name).read(|g| svg(g, &PictureOptions::default())).unwrap();
        let path = root().join("pictures").join(format!("{name}.svg"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &drawn).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let differs = drawn.lines().zip(kept.lines()).enumerate().find(|(_, (a, b))| a != b);
        if let Some((line, (now, before))) = differs {
            panic!(
                "{name}.svg, line {}:\n  now    {now}\n  before {before}\n`UPDATE_GOLDEN=1` rewrites it",
                line + 1
            );
        }
        assert_eq!(drawn.lines().count(), kept.lines().count(), "{name}.svg");
    }
}

#[test]
fn no_name_becomes_markup() {
    let g = Graph::with_ops(millstream_ops::registry());
    let evil = "\"><script>alert('x')</script>&\u{7}\u{fffe}";
    let x = g.op("Placeholder").attr("dtype", millstream_tensor::DType::F32).name("x").output();
    let value = millstream_tensor::Tensor::strings([], vec![evil.into()]).unwrap();
    let text =
        g.op("Const").attr("value", value).attr("dtype", millstream_tensor::DType::Str).name("c").output();
    let _ = (x, text);
    let drawn = g.read(|g| svg(g, &all())).unwrap();
    assert!(
        !drawn.contains("<script") && !drawn.contains('\u{7}') && drawn.contains("&lt;script&gt;"),
        "{drawn}"
    );
    // The picture loads nothing, and has no element that could run code.
    let names: BTreeSet<&str> =
        drawn.split('<').skip(1).filter_map(|t| t.split([' ', '>', '/']).find(|n| !n.is_empty())).collect();
    let known = ["svg", "style", "rect", "g", "title", "text", "path"];
    assert!(names.iter().all(|n| known.contains(n)), "{names:?}");
    assert!(!drawn.replace("http://www.w3.org/2000/svg", "").contains("http"));
}

#[test]
fn a_scope_is_drawn_alone() {
    let graph = golden("loop_name_scopes");
    graph.read(|g| {
        let scope = "model".to_owned();
        let within = g.nodes().iter().filter(|n| n.name() == scope || n.name().starts_with("model/")).count();
        let picture = check(g, &PictureOptions { scope: Some("model/".into()), ..all() }, "a scope");
        assert_eq!((picture.n_nodes, picture.n_shown), (within, within));
        let none = Picture::of(g, &PictureOptions { scope: Some("mod".into()), ..all() }).err().unwrap();
        assert!(none.to_string().contains("no node is in the name scope `mod`"), "{none}");
    });
}

/// A graph of `n` nodes: half of them in chains, each in a scope of its own, that all read one constant; the
/// other half without scopes.
fn large(n: usize) -> Graph {
    let g = Graph::with_ops(millstream_ops::registry());
    let x = g.op("Placeholder").attr("dtype", millstream_tensor::DType::F32).name("x").output();
    for chain in 0..20 {
        let mut at = x;
        for i in 0..n / 40 {
            at = g
                .op("Mul")
                .input(at)
                .input(x)
                .name(format!("block_{chain}/layer_{}/mul_{i}", i / 10))
                .output();
        }
    }
    let mut at = x;
    for _ in 0..n / 2 {
        at = g.op("Add").input(at).input(x).output();
    }
    g
}

#[test]
fn large_graphs_are_cut_down_in_little_time() {
    for n in [100, 1_000, 10_000] {
        let graph = large(n);
        for options in [PictureOptions::default(), PictureOptions { limit: 2_000, scope: None }, all()] {
            let start = Instant::now();
            let picture = graph.read(|g| check(g, &options, "large"));
            let text = picture.to_svg();
            let took = start.elapsed();
            println!(
                "{n} nodes, limit {}: {took:.1?}, {} boxes, {} bytes",
                options.limit,
                picture.boxes.len(),
                text.len()
            );
            // The limit allows for a debug build on a busy machine.
            assert!(took.as_secs() < 60, "{n} nodes took {took:?}");
            if options.limit < n {
                assert!(picture.boxes.len() <= options.limit + 2);
                assert!(text.contains("are folded into dashed boxes"), "{n}");
            }
        }
    }
}
