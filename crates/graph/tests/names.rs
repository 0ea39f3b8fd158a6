//! Loops and branches make the same nodes, names and edges as TensorFlow 1.15. Compared line by line with its
//! output (`tests/golden/names`, made by `make_names.py` there).

use millstream_graph::{
    CollectionItem, ContextId, ContextKind, Graph, GraphData, IndexedSlices, Output, Port, SparseTensor,
};
use millstream_tensor::DType::{Bool, F32, I32, I64};
use millstream_tensor::{DType, PartialShape, Tensor, shape};
use std::collections::BTreeMap;

fn port(g: &GraphData, p: Port) -> String {
    match g.node(p.node) {
        Ok(node) => format!("{}:{}", node.name(), p.index),
        Err(_) => "?".into(),
    }
}

fn ports(g: &GraphData, ports: &[Port]) -> String {
    ports.iter().map(|&p| port(g, p)).collect::<Vec<_>>().join(",")
}

/// One line per node, sorted by name: the two make nodes in different orders (we make captures before the
/// nodes that use them).
fn dump(graph: &Graph) -> Vec<String> {
    graph.read(|g| {
        let mut lines: Vec<String> = g
            .nodes()
            .iter()
            .map(|node| {
                let inputs = if node.inputs.is_empty() { "-".into() } else { ports(g, &node.inputs) };
                let mut line = vec![node.name().to_owned(), node.op().to_owned(), inputs];
                let mut controls: Vec<String> = node
                    .controls
                    .iter()
                    .map(|&c| format!("^{}", g.node(c).map_or("?", |n| n.name())))
                    .collect();
                controls.sort();
                line.extend(controls);
                if node.op().contains("Enter") {
                    let attrs = &node.info.attrs;
                    line.push(format!("frame_name={}", attrs.str("frame_name").unwrap().text()));
                    line.push(format!("is_constant={}", attrs.bool("is_constant").unwrap()));
                    line.push(format!("parallel_iterations={}", attrs.int("parallel_iterations").unwrap()));
                }
                if ["Enter", "Merge", "Switch", "Exit"].contains(&node.op().trim_start_matches("Ref")) {
                    let shapes: Vec<String> = node.shapes.iter().map(|s| s.to_string()).collect();
                    line.push(format!("-> {}", shapes.join(" ")));
                }
                line.join(" ")
            })
            .collect();
        lines.sort();
        for key in ["while_context", "cond_context"] {
            for item in g.collections().get(key).into_iter().flatten() {
                if let CollectionItem::Context(id) = item {
                    context(g, *id, 0, &mut lines);
                }
            }
        }
        lines
    })
}

fn context(g: &GraphData, id: ContextId, depth: usize, lines: &mut Vec<String>) {
    let c = &g.contexts()[id.0 as usize];
    let indent = "  ".repeat(depth);
    let optional = |p: Option<Port>| p.map_or("-".into(), |p| port(g, p));
    lines.push(match &c.kind {
        ContextKind::While(w) => format!(
            "{indent}# while {} parallel={} back_prop={} swap={} pivot={} pred={} body={} enters={} exits={} max={}",
            c.name,
            w.parallel_iterations,
            w.back_prop.unwrap_or(true),
            w.swap_memory.unwrap_or(false),
            optional(w.pivot),
            optional(w.pivot_for_pred),
            optional(w.pivot_for_body),
            ports(g, &w.enters),
            ports(g, &w.exits),
            optional(w.maximum_iterations),
        ),
        ContextKind::Cond(w) => {
            format!("{indent}# cond {} pred={} pivot={} branch={}", c.name, port(g, w.pred), optional(w.pivot), w.branch)
        }
    });
    let mut external: Vec<String> =
        c.external.iter().map(|(a, b)| format!("{}={}", port(g, *a), port(g, *b))).collect();
    external.sort();
    let external = if external.is_empty() { "-".into() } else { external.join(" ") };
    lines.push(format!("{indent}#   external {external}"));
    let mut values: Vec<String> = g.context_values(id).into_iter().map(|p| port(g, p)).collect();
    values.sort();
    lines.push(format!("{indent}#   values {}", values.join(" ")));
    for (i, inner) in g.contexts().iter().enumerate() {
        if inner.parent == Some(id) {
            context(g, ContextId(i as u32), depth + 1, lines);
        }
    }
}

fn golden(name: &str) -> Vec<String> {
    let path = format!("{}/../../tests/golden/names/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let (contexts, mut nodes): (Vec<_>, Vec<_>) =
        text.lines().map(str::to_owned).partition(|l: &String| l.trim_start().starts_with('#'));
    nodes.sort();
    nodes.extend(contexts);
    nodes
}

#[track_caller]
fn check(name: &str, build: impl for<'g> FnOnce(&'g Graph)) {
    let g = Graph::with_ops(millstream_ops::registry());
    build(&g);
    g.check().unwrap();
    let (ours, theirs) = (dump(&g), golden(name));
    let missing: Vec<_> = theirs.iter().filter(|l| !ours.contains(l)).collect();
    let extra: Vec<_> = ours.iter().filter(|l| !theirs.contains(l)).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{name}\nmissing {missing:#?}\nextra {extra:#?}");
    assert_eq!(ours, theirs);
}

type O<'g> = Output<'g>;

fn less<'g>(a: O<'g>, b: impl Into<millstream_graph::Arg<'g>>) -> O<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn add<'g>(a: O<'g>, b: impl Into<millstream_graph::Arg<'g>>) -> O<'g> {
    a.graph().op("Add").input(a).input(b).output()
}

fn ph<'g>(g: &'g Graph, name: &str, dtype: DType) -> O<'g> {
    g.placeholder_of(name, dtype, shape![])
}

fn c(g: &Graph, v: i32) -> O<'_> {
    g.constant(v)
}

macro_rules! golden {
    ($($name:ident($g:ident) $body:block)*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name), |$g| $body);
        }
    )* };
}

golden! {
    counter(g) {
        g.while_loop(c(g, 0)).run(|i| less(i, 10), |i| add(i, 1)).unwrap();
    }
    literals(g) {
        g.while_loop((0, 1.0f32)).run(|(i, _)| less(i, 10), |(i, x)| (add(i, 1), x * 2.0f32)).unwrap();
    }
    two_loops(g) {
        for _ in 0..2 {
            g.while_loop(c(g, 0)).parallel_iterations(3).back_prop(false).swap_memory(true)
                .run(|i| less(i, 10), |i| add(i, 1)).unwrap();
        }
    }
    captured(g) {
        let n = ph(g, "n", I32);
        g.while_loop((c(g, 0), c(g, 1))).run(|(i, _)| less(i, n), |(i, x)| (add(i, n), x + n)).unwrap();
    }
    captured_everywhere(g) {
        let (n, m, p) = (ph(g, "n", I32), ph(g, "m", I32), ph(g, "p", Bool));
        g.while_loop((c(g, 0), n)).run(|_| p, |_| (n, add(n, m))).unwrap();
    }
    invariant_constant(g) {
        g.while_loop((c(g, 0), c(g, 1))).run(|(i, _)| less(i, 3), |(i, _)| (add(i, 1), 5)).unwrap();
    }
    nested(g) {
        let n = ph(g, "n", I32);
        g.while_loop((c(g, 0), c(g, 0))).run(|(i, _)| less(i, 3), |(i, s)| {
            let (_, t) = g.while_loop((c(g, 0), s)).run(|(j, _)| less(j, n), |(j, t)| (add(j, 1), add(t, i)))?;
            Ok((add(i, 1), t))
        }).unwrap();
    }
    nested_over_outer_values(g) {
        let n = ph(g, "n", I32);
        g.while_loop(c(g, 0)).run(|i| less(i, 3), |i| {
            let t = g.while_loop(n).run(|t| less(t, i), |t| add(t, n))?;
            Ok(add(i, t))
        }).unwrap();
    }
    three_deep(g) {
        let n = ph(g, "n", I32);
        fn nest<'g>(g: &'g Graph, n: O<'g>, depth: u32) -> O<'g> {
            g.while_loop(c(g, 0)).run(|i| less(i, n), |i| match depth {
                0 => add(i, n),
                _ => add(i, nest(g, n, depth - 1)),
            }).unwrap()
        }
        nest(g, n, 2);
    }
    bounded(g) {
        g.while_loop(c(g, 0)).maximum_iterations(5).run(|i| less(i, 10), |i| add(i, 1)).unwrap();
    }
    bounded_by_tensor(g) {
        let n = ph(g, "n", I32);
        g.while_loop((c(g, 0), n)).maximum_iterations(n).name("bound")
            .run(|(i, _)| less(i, 10), |(i, x)| (add(i, 1), x)).unwrap();
    }
    invariants(g) {
        let m = g.placeholder_of("m", F32, shape![2, 2]);
        g.while_loop((c(g, 0), m)).shape_invariants((shape![], shape![_, 2])).run(|(i, _)| less(i, 10), |(i, m)| {
            (add(i, 1), g.op("ConcatV2").name("concat").input(m).input(m).input(0).output())
        }).unwrap();
    }
    sparse_default(g) {
        let dense_shape = g.constant_tensor("s/shape", Tensor::vector(&[3i64, 4]).unwrap());
        let values = g.placeholder_of("s/values", F32, PartialShape::new([None]));
        let indices = g.placeholder_of("s/indices", I64, PartialShape::new([None, Some(2)]));
        let s = SparseTensor { indices, values, dense_shape };
        g.while_loop((c(g, 0), s)).run(|(i, _)| less(i, 10), |(i, s)| (add(i, 1), s)).unwrap();
    }
    sparse_invariant(g) {
        let indices = g.placeholder_of("i", I64, shape![5, 2]);
        let values = g.placeholder_of("v", F32, shape![5]);
        let s = SparseTensor { indices, values, dense_shape: g.placeholder_of("d", I64, shape![2]) };
        g.while_loop((c(g, 0), s)).shape_invariants((shape![], shape![2]))
            .run(|(i, _)| less(i, 10), |(i, s)| (add(i, 1), s)).unwrap();
    }
    slices_default(g) {
        let (values, indices) = (g.placeholder_of("v", F32, shape![5, 2]), g.placeholder_of("i", I32, shape![5]));
        let s = IndexedSlices { values, indices, dense_shape: Some(g.placeholder_of("d", I32, shape![2])) };
        g.while_loop((c(g, 0), s)).run(|(i, _)| less(i, 10), |(i, s)| (add(i, 1), s)).unwrap();
    }
    slices_default_flat(g) {
        let (values, indices) = (g.placeholder_of("v", F32, shape![5, 2]), g.placeholder_of("i", I32, shape![5]));
        let s = IndexedSlices { values, indices, dense_shape: None };
        g.while_loop((c(g, 0), s)).run(|(i, _)| less(i, 10), |(i, s)| (add(i, 1), s)).unwrap();
    }
    slices_invariant(g) {
        let (values, indices) = (g.placeholder_of("v", F32, shape![5, 2]), g.placeholder_of("i", I32, shape![5]));
        let s = IndexedSlices { values, indices, dense_shape: Some(g.placeholder_of("d", I32, shape![2])) };
        g.while_loop((c(g, 0), s)).shape_invariants((shape![], shape![_, 2]))
            .run(|(i, _)| less(i, 10), |(i, s)| (add(i, 1), s)).unwrap();
    }
    dictionaries(g) {
        let vars: BTreeMap<String, O> = [("i".to_owned(), c(g, 0)), ("a".to_owned(), g.constant(1.0f32))].into();
        g.while_loop(vars).run(|v| less(v["i"], 10), |mut v| {
            let next = add(v["i"], 1);
            v.insert("i".into(), next);
            v
        }).unwrap();
    }
    cond_simple(g) {
        let (p, x) = (ph(g, "p", Bool), ph(g, "x", I32));
        g.cond(p, || add(x, 1), || add(x, x)).unwrap();
    }
    cond_outer_values(g) {
        let p = ph(g, "p", Bool);
        let (x, y) = (g.placeholder_of("x", I32, shape![2]), g.placeholder_of("y", I32, shape![3]));
        g.cond(p, || (x, 1.0f32), || (y, 2.0f32)).unwrap();
    }
    cond_uses_pred(g) {
        let p = ph(g, "p", Bool);
        g.cond(p, || g.op("LogicalNot").input(p).output(), || p).unwrap();
    }
    cond_operations(g) {
        let (p, x) = (ph(g, "p", Bool), ph(g, "x", I32));
        g.cond(p, || g.group([add(x, 1)]), || g.op("NoOp").finish()).unwrap();
    }
    conds_nested(g) {
        let (p, q, x) = (ph(g, "p", Bool), ph(g, "q", Bool), ph(g, "x", I32));
        g.cond(p, || g.cond(q, || add(x, 1), || x), || add(x, 2)).unwrap();
    }
    conds_nested_capture_order(g) {
        let (p, q, x) = (ph(g, "p", Bool), ph(g, "q", Bool), ph(g, "x", I32));
        let deep = || {
            let y = add(x, 1);
            g.cond(q, || add(x, y), || y)
        };
        g.cond(p, deep, || x).unwrap();
    }
    cond_in_loop(g) {
        let n = ph(g, "n", I32);
        g.while_loop((c(g, 0), c(g, 1))).run(|(i, _)| less(i, 10), |(i, x)| {
            (add(i, 1), g.cond(less(i, n), || add(x, n), || 7))
        }).unwrap();
    }
    cond_in_condition(g) {
        g.while_loop(c(g, 0))
            .run(|i| g.cond(less(i, 3), || less(i, 5), || less(i, 2)), |i| add(i, 1)).unwrap();
    }
    loop_in_cond(g) {
        let (p, x) = (ph(g, "p", Bool), ph(g, "x", I32));
        g.cond(p, || g.while_loop(c(g, 0)).run(|i| less(i, x), |i| add(i, 1)), || x).unwrap();
    }
    loop_in_cond_in_loop(g) {
        let n = ph(g, "n", I32);
        g.while_loop(c(g, 0)).run(|i| less(i, 10), |i| {
            g.cond(less(i, n), || g.while_loop(n).run(|j| less(j, n), |j| add(j, i)), || add(i, 1))
        }).unwrap();
    }
    controls_around_loop(g) {
        let (a, n) = (ph(g, "a", I32), ph(g, "n", I32));
        g.control_dependencies([a], || g.while_loop(c(g, 0)).run(|i| less(i, n), |i| add(i, 1))).unwrap();
    }
    controls_inside_loop(g) {
        let a = ph(g, "a", I32);
        g.while_loop(c(g, 0)).run(|i| less(i, 10), |i| {
            let j = add(i, 2);
            g.control_dependencies([a, j], || add(i, c(g, 3)))
        }).unwrap();
    }
    outer_op_controls(g) {
        let a = g.op("NoOp").name("a").finish();
        let b = ph(g, "b", I32);
        g.while_loop(c(g, 0))
            .run(|i| less(i, 10), |i| g.control_dependencies([a, b.op()], || add(i, 1))).unwrap();
    }
    outer_controls_without_inputs(g) {
        let a = g.op("NoOp").name("a").finish();
        let b = ph(g, "b", I32);
        g.while_loop(c(g, 0)).run(|i| less(i, 10), |i| {
            let one = g.control_dependencies([a], || c(g, 1));
            let two = g.control_dependencies([b], || c(g, 2));
            add(i, add(one, two))
        }).unwrap();
    }
    controls_around_cond(g) {
        let (a, p, x) = (ph(g, "a", I32), ph(g, "p", Bool), ph(g, "x", I32));
        g.control_dependencies([a], || g.cond(p, || add(x, 1), || x)).unwrap();
    }
    controls_in_nested_loops(g) {
        let b = ph(g, "b", I32);
        g.while_loop(c(g, 0)).run(|i| less(i, 10), |i| {
            let one = add(i, 1);
            let t = g.control_dependencies([b, one], || g.while_loop(c(g, 0)).run(|j| less(j, b), |j| add(j, 1)))?;
            Ok(add(i, t))
        }).unwrap();
    }
    controls_in_cond_in_loop(g) {
        let b = ph(g, "b", I32);
        g.while_loop(c(g, 0)).run(|i| less(i, 10), |i| {
            g.cond(less(i, 3), || g.control_dependencies([b], || c(g, 4)), || add(i, 1))
        }).unwrap();
    }
    reference_captured(g) {
        let initial = g.constant_tensor("v/initial_value", Tensor::scalar(1));
        let v = g.op("VariableV2").name("v").attr("dtype", I32).attr("shape", shape![]).output();
        g.op("Assign").name("v/Assign").input(v).input(initial).output();
        g.op("Identity").name("v/read").input(v).output();
        g.while_loop(c(g, 0))
            .run(|i| less(i, 10), |i| add(i, g.op("AssignAdd").input(v).input(i).output())).unwrap();
    }
    scopes(g) {
        g.name_scope("outer", || {
            let n = ph(g, "n", I32);
            g.while_loop(c(g, 0)).name("loop")
                .run(|i| less(i, 10), |i| g.name_scope("inner", || add(i, n))).unwrap();
        });
    }
    used_after(g) {
        let n = ph(g, "n", I32);
        let (ii, nn) = g.while_loop((c(g, 0), n)).run(|(i, n)| less(i, n), |(i, n)| (add(i, 1), n)).unwrap();
        add(ii, 3);
        add(nn, 4);
    }
    value_of_a_branch_in_a_loop(g) {
        let (p, x) = (ph(g, "p", Bool), ph(g, "x", I32));
        let branch = || {
            let y = add(x, 1);
            g.while_loop(c(g, 0)).run(|i| less(i, y), |i| add(i, y))
        };
        g.cond(p, branch, || x).unwrap();
    }
    case_with_default(g) {
        let x = ph(g, "x", I32);
        g.case().when(less(x, 1), || c(g, 1)).when(less(x, 2), || add(x, 2)).otherwise(|| c(g, 3)).unwrap();
    }
    case_without_default(g) {
        let x = ph(g, "x", I32);
        g.case().when(less(x, 1), || c(g, 1)).when(less(x, 2), || add(x, 2)).run().unwrap();
    }
    case_exclusive(g) {
        let x = ph(g, "x", I32);
        g.case().when(less(x, 1), || c(g, 1)).when(less(x, 2), || add(x, 2)).exclusive(true)
            .otherwise(|| c(g, 3)).unwrap();
    }
    grouped(g) {
        let (a, b) = (ph(g, "a", I32), ph(g, "b", I32));
        g.group([a, b]);
        g.tuple((a, b)).unwrap();
    }
}
