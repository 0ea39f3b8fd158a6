//! Loops and branches as they are built: structure only, nothing runs.

use millstream_derive::Nest;
use millstream_graph::{Graph, Output};
use millstream_tensor::shape;

fn less<'g>(a: Output<'g>, b: i32) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

#[test]
fn the_counter() {
    let g = Graph::with_ops(millstream_ops::registry());
    let i = g.while_loop(g.constant(0)).run(|i| less(i, 10), |i| i + 1).unwrap();
    assert_eq!(i.name(), "while/Exit:0");
    let names: Vec<String> = g.operations().iter().map(|o| o.name()).collect();
    assert_eq!(
        names.join(" "),
        "Const while/Enter while/Merge while/Less/y while/Less while/LoopCond while/Switch while/Identity while/add/y while/add while/NextIteration while/Exit"
    );
}

#[derive(Nest, Clone)]
#[nest(crate = millstream_graph)]
struct Pair<'g> {
    j: Output<'g>,
    k: Output<'g>,
}

#[test]
fn nested_structures() {
    let g = Graph::with_ops(millstream_ops::registry());
    let (i, p) = g
        .while_loop((g.constant(0), Pair { j: g.constant(1), k: g.constant(2) }))
        .run(|(i, _)| less(i, 10), |(i, p)| (i + 1, Pair { j: p.j + p.k, k: p.j - p.k }))
        .unwrap();
    assert_eq!(i.name(), "while/Exit:0");
    assert_eq!(p.k.name(), "while/Exit_2:0");
}

#[test]
fn growing() {
    let g = Graph::with_ops(millstream_ops::registry());
    let m0 = g.placeholder_of("m", millstream_tensor::DType::F32, shape![2, 2]);
    let concat = |m: Output| {
        let g = m.graph();
        g.op("ConcatV2").inputs([m, m]).input(0).output().port()
    };
    let error = g
        .while_loop((0, m0))
        .run(|(i, _)| less(i, 3), |(i, m)| (i + 1, Output::new(&g, concat(m))))
        .map(|_| ())
        .unwrap_err();
    println!("{error}");
    let (_, m) = g
        .while_loop((g.constant(0), m0))
        .shape_invariants((shape![], shape![_, 2]))
        .parallel_iterations(10)
        .run(|(i, _)| less(i, 3), |(i, m)| (i + 1, Output::new(&g, concat(m))))
        .unwrap();
    println!("{m:?}");
    let (_, m) = g
        .while_loop((g.constant(0), m0))
        .infer_invariants()
        .run(|(i, _)| less(i, 3), |(i, m)| (i + 1, Output::new(&g, concat(m))))
        .unwrap();
    println!("{m:?}");
}

#[test]
fn conds() {
    let g = Graph::with_ops(millstream_ops::registry());
    let p = g.constant(true);
    let x = g.constant(3);
    let y = g.cond(p, || x + 1, || x).unwrap();
    let names: Vec<String> = g.operations().iter().map(|o| o.name()).collect();
    println!("{y:?} {}", names.join(" "));
    let z = g
        .while_loop((0, x))
        .run(|(i, _)| less(i, 3), |(i, x)| Ok((i + 1, g.cond(less(x, 3), || x * 2, || 7)?)))
        .unwrap();
    println!("{z:?}");
}
