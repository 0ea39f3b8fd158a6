//! Listings of programs and plans, compared as text with `tests/golden/listings` (`UPDATE_GOLDEN=1` writes
//! them).

use millstream::prelude::*;
use millstream::{BareGraph, Queue, Target};
use millstream_testkit::graphs::GoldenGraph;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Compares the listing of a run of these values with the golden one.
#[track_caller]
fn check(name: &str, graph: &BareGraph, fetches: &[&str]) {
    let fetch = |name: &&str| match name.contains(':') {
        true => Target::Value(graph.output(name).unwrap().port()),
        false => Target::Operation(graph.operation(name).unwrap().id()),
    };
    let fetches: Vec<Target> = fetches.iter().map(fetch).collect();
    let now = Session::new(graph).unwrap().listing(fetches, []).unwrap();
    let path = root().join("listings").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let differs = now.lines().zip(kept.lines()).enumerate().find(|(_, (a, b))| a != b);
    if let Some((line, (now, before))) = differs {
        let line = line + 1;
        panic!("{name}.txt, line {line}:\n  now    {now}\n  before {before}\n`UPDATE_GOLDEN=1` rewrites it");
    }
    assert_eq!(now.lines().count(), kept.lines().count(), "{name}.txt");
}

fn golden(name: &str) -> BareGraph {
    GoldenGraph::load(&root().join("graphs").join(name)).unwrap().import().unwrap()
}

#[test]
fn a_cond_in_a_loop() {
    check("cond_in_loop", &golden("cond_in_loop_alternates"), &["while/Exit:0", "while/Exit_1:0"]);
}

#[test]
fn a_nested_loop_with_its_gradient() {
    let g = golden("grad_while_nested");
    let of = |name| g.output(name).unwrap();
    let gradient = g.gradients([of("while/Exit_1:0")], [of("x:0")]).dense().unwrap()[0];
    check("nested_loop_gradient", &g, &[&format!("{}:0", gradient.op().name())]);
}

/// A matrix and a vector as loop variables, and what their gradient saves: blocks.
#[test]
fn a_loop_over_many_elements() {
    let g = Graph::new();
    let (x, b) = (g.placeholder::<f32>("x", [4, 32]), g.placeholder::<f32>("b", [32]));
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(|(i, _)| i.less(10), |(i, x)| (i + 1, (x * 0.5 + b).tanh()))
        .unwrap();
    let slope = g.gradients([y], [x]).dense().unwrap()[0];
    check("loop_over_many_elements", &g, &[&format!("{}:0", slope.op().name())]);
}

#[test]
fn a_queue() {
    let g = Graph::new();
    let queue = Queue::fifo(&g, 10, [DType::F32]).build().unwrap();
    let put = queue.enqueue(g.constant(1.0f32)).unwrap();
    let taken = queue.dequeue().unwrap()[0] * 2.0f32;
    check("queue", &g, &[&put.name(), &format!("{}:0", taken.op().name())]);
}
