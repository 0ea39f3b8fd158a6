//! Loop trees: what is found in loops of all kinds, of graphs and of programs, and in graphs that are no
//! loops.

use millstream_graph::loops::{LoopId, View, Why};
use millstream_graph::{Asked, Graph, LoopTree, NodeId, Output, Port, Program};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::{Tensor, shape};

type O<'g> = Output<'g>;

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn binary<'g>(op: &'static str, a: O<'g>, b: O<'g>) -> O<'g> {
    a.graph().op(op).inputs([a, b]).output()
}

fn less<'g>(a: O<'g>, b: i32) -> O<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

/// The listing of a view's loops is this text; indented as the test is.
#[track_caller]
fn lists<V: View + ?Sized>(view: &V, expected: &str) {
    let lines = expected.lines().skip(1).map(|l| l.strip_prefix("            ").unwrap_or(l.trim()));
    let expected: Vec<&str> = lines.filter(|l| !l.is_empty()).collect();
    let listing = LoopTree::of(view).listing(view).to_string();
    assert_eq!(listing.lines().collect::<Vec<_>>(), expected, "\n{listing}");
}

fn program<const N: usize>(g: &Graph, fetches: [O; N]) -> Program {
    let fetches = fetches.map(|fetch| fetch.port());
    g.read(|d| Program::new(d, &Asked { fetches: &fetches, ..Asked::default() })).unwrap()
}

/// The trip counts of a graph's loops, by what constants tell.
fn trips(g: &Graph) -> Vec<Option<u64>> {
    g.read(|d| {
        let tree = LoopTree::of(d);
        tree.iter().map(|(id, _)| tree.trips(d, id, &|_| None)).collect()
    })
}

fn findings(g: &Graph) -> Vec<Why> {
    g.read(|d| LoopTree::of(d).loops().iter().flat_map(|it| &it.irregular).map(|i| i.why).collect())
}

#[test]
fn a_graph_and_its_program_have_the_same_loops() {
    let g = graph();
    let x = g.placeholder_of("x", F32, shape![]);
    let (i, y) = g.while_loop((0, x)).run(|(i, _)| less(i, 10), |(i, y)| (i + 2, y * x)).unwrap();
    let expected = "
            loop `while/while_context`: 10 iterations in parallel, pure, at most 5 iterations
              condition  while/Less, of 2 nodes
              bound      while/Merge < while/Less/y
              variable   while/Merge from while/Const, next while/add (plus while/add/y), exit while/Exit
              variable   while/Merge_1 from x, next while/mul, exit while/Exit_1
              invariant  x, by while/mul/Enter
    ";
    g.read(|d| lists(d, expected));
    lists(&program(&g, [i, y]), expected);
}

#[test]
fn nested_loops_know_each_other() {
    let g = graph();
    let out: O = g
        .while_loop(0)
        .run(
            |i| less(i, 3),
            |i| {
                let first: O = g.while_loop(i).run(|j| less(j, 5), |j| j + 1)?;
                let second: O = g.while_loop(first).run(
                    |j| less(j, 7),
                    |j| {
                        let k: O = g.while_loop(j).run(|k| less(k, 9), |k| k + i)?;
                        Ok::<_, millstream_tensor::Error>(k)
                    },
                )?;
                Ok::<_, millstream_tensor::Error>(binary("AddV2", second, g.constant(1)))
            },
        )
        .unwrap();
    g.read(|d| {
        let tree = LoopTree::of(d);
        let shape: Vec<_> =
            tree.loops().iter().map(|l| (l.depth, l.parent.map(|p| p.0), l.children.len())).collect();
        assert_eq!(shape, [(0, None, 2), (1, Some(0), 0), (1, Some(0), 1), (2, Some(2), 0)]);
        assert!(tree.loops().iter().all(|l| l.is_regular() && l.is_pure()), "{}", tree.listing(d));
        // An Exit lies where its value goes.
        let exit = out.port().node;
        assert_eq!((tree.loop_of(exit), tree[LoopId(0)].variables[0].exit), (None, Some(exit)));
        for (id, it) in tree.iter() {
            assert!(it.nodes.iter().all(|n| tree.loop_of(*n) == Some(id)));
        }
    });
}

#[test]
fn counters_are_bounded_on_both_sides() {
    for (op, from, limit, step, swapped, bound) in [
        ("Less", 0, 10, 1, false, Some(10)),
        ("Less", 3, 10, 2, false, Some(4)),
        ("LessEqual", 0, 10, 1, false, Some(11)),
        ("Greater", 0, 10, 3, true, Some(4)),
        ("GreaterEqual", 0, 9, 3, true, Some(4)),
        ("Less", 7, 5, 1, false, Some(0)),
        // Counters that stand still or run down are not bounded, nor are those that are compared the other
        // way.
        ("Less", 0, 10, 0, false, None),
        ("Greater", 10, 0, -1, false, None),
        ("Greater", 0, 10, 1, false, None),
        ("Equal", 0, 10, 1, false, None),
    ] {
        for flip in [false, true] {
            let g = graph();
            let compare = |i: O<'_>| {
                let limit = i.graph().constant(limit);
                let (a, b) = if swapped { (limit, i) } else { (i, limit) };
                i.graph().op(op).inputs([a, b]).output().port()
            };
            let _: O = g
                .while_loop(g.constant(from))
                .run(
                    |i| Output::new(&g, compare(i)),
                    |i| {
                        let step = g.constant(step);
                        if flip { binary("AddV2", step, i) } else { binary("Add", i, step) }
                    },
                )
                .unwrap();
            assert_eq!(trips(&g), [bound], "{op} from {from} to {limit} by {step}");
        }
    }
}

#[test]
fn a_bound_is_a_part_of_a_condition() {
    let g = graph();
    let other = g.placeholder_of("other", millstream_tensor::DType::Bool, shape![]);
    let _: O = g
        .while_loop(0)
        .maximum_iterations(4)
        .run(|i| binary("LogicalAnd", other, less(i, 9)), |i| i + 1)
        .unwrap();
    g.read(|d| {
        let tree = LoopTree::of(d);
        let condition = tree.loops()[0].condition.as_ref().unwrap();
        let bounds: Vec<_> = condition.bounds.iter().map(|b| (b.variable, b.part)).collect();
        assert_eq!((condition.n_parts, bounds), (3, vec![(0, 0), (1, 2)]));
    });
    assert_eq!(trips(&g), [Some(4)]);
}

#[test]
fn feeds_tell_numbers_that_the_graph_does_not() {
    let g = graph();
    let n = g.placeholder_of("n", I32, shape![]);
    let _: O = g.while_loop(0).run(|i| binary("Less", i, n), |i| i + 1).unwrap();
    g.read(|d| {
        let tree = LoopTree::of(d);
        let id = tree.iter().next().unwrap().0;
        let fed = |port: Port| (port == n.port()).then(|| Tensor::scalar(6));
        assert_eq!((tree.trips(d, id, &|_| None), tree.trips(d, id, &fed)), (None, Some(6)));
        let counter = |v| LoopTree::counter(d, v, &|_| None);
        assert_eq!(counter(&tree.loops()[0].variables[0]), Some((0.0, 1.0)));
    });
}

#[test]
fn what_the_condition_needs_is_its_own() {
    let g = graph();
    let x = g.placeholder_of("x", I32, shape![]);
    let _: (O, O) = g
        .while_loop((0, x))
        .run(|(i, y)| binary("Less", i, binary("Mul", y, y)), |(i, y)| (i + 1, y * x))
        .unwrap();
    g.read(|d| {
        let tree = LoopTree::of(d);
        let it = &tree.loops()[0];
        let nodes = |nodes: &[NodeId]| nodes.iter().map(|n| d.node(*n).unwrap().op()).collect::<Vec<_>>();
        assert_eq!(nodes(&it.condition.as_ref().unwrap().nodes), ["Mul", "Less"]);
        assert_eq!((it.variables.len(), it.invariants.len()), (2, 1));
        assert!(it.variables.iter().all(|v| v.whole().is_some() && v.current.is_some()));
    });
}

#[test]
fn effects_are_those_of_the_loops_within() {
    let g = graph();
    let _: O = g
        .while_loop(0)
        .run(
            |i| less(i, 3),
            |i| {
                let inner = g.while_loop(i).run(
                    |j| less(j, 5),
                    |j| {
                        let shape: Vec<i32> = Vec::new();
                        let random =
                            g.op("RandomUniformInt").input(g.constant(shape)).input(0).input(9).output();
                        j + random
                    },
                )?;
                Ok::<_, millstream_tensor::Error>(binary("AddV2", inner, g.constant(1)))
            },
        )
        .unwrap();
    g.read(|d| {
        let tree = LoopTree::of(d);
        let impure: Vec<_> = tree.loops().iter().map(|l| d.node(l.impure.unwrap()).unwrap().op()).collect();
        assert_eq!(impure, ["RandomUniformInt", "RandomUniformInt"]);
    });
}

#[test]
fn loops_by_hand_have_no_contexts() {
    let g = graph();
    let (i, back) = g.loop_var(g.enter(g.constant(0), "frame"));
    let limit = g.enter_as(g.constant(3), "frame", true, 10);
    let more = g.loop_cond(binary("Less", i, limit));
    let (done, go) = g.switch(i, more);
    // While it is built it is a loop with something missing.
    assert_eq!(findings(&g), [Why::NoNext]);
    let one = g.op("Const").attr("dtype", I32).attr("value", Tensor::scalar(1));
    let next = g.next_iteration(binary("AddV2", go, one.output()));
    back.close(next).unwrap();
    g.exit(done);
    assert_eq!((findings(&g), trips(&g)), (vec![], vec![Some(3)]));
}

#[test]
fn structures_that_are_no_loops_are_told() {
    let told = |build: &dyn Fn(&Graph)| {
        let g = graph();
        build(&g);
        findings(&g)
    };
    // Enters alone.
    assert_eq!(told(&|g| _ = g.enter(g.constant(0), "f")), [Why::NoMerge, Why::NoCondition]);
    // Round and round, by no condition.
    let forever = told(&|g| {
        let (i, back) = g.loop_var(g.enter(g.constant(0), "f"));
        back.close(g.next_iteration(i)).unwrap();
    });
    assert_eq!(forever, [Why::NoSwitch, Why::NoCondition]);
    // The value that enters read by itself, and an Exit that leaves with something else.
    let wrong = told(&|g| {
        let entered = g.enter(g.constant(0), "f");
        let (i, back) = g.loop_var(entered);
        let more = g.loop_cond(binary("Less", i, g.enter_as(g.constant(3), "f", true, 10)));
        let (done, go) = g.switch(i, more);
        back.close(g.next_iteration(go)).unwrap();
        binary("AddV2", entered, done);
        g.exit(i);
    });
    assert_eq!(wrong, [Why::ReadsEnter, Why::ReadsLast, Why::StrayExit]);
    // A frame entered from two loops, which no program allows.
    let two = told(&|g| {
        let a = g.enter(g.constant(0), "f");
        g.enter(g.enter(g.constant(0), "g"), "f");
        g.loop_cond(binary("Less", a, a));
        g.loop_cond(binary("Less", a, a));
    });
    assert!(two.contains(&Why::OtherParent) && two.contains(&Why::TwoConditions), "{two:?}");
}

#[test]
fn a_graph_without_loops_has_none() {
    let g = graph();
    let c = g.constant(1);
    lists(&program(&g, [binary("AddV2", c, c)]), "\n");
    assert!(g.read(|d| LoopTree::of(d).loop_of(c.port().node)).is_none());
}
