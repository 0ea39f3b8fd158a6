//! Errors for loops and branches that are built wrongly; structures as loop variables; loops built by hand.

use millstream_derive::Nest;
use millstream_graph::flow::BranchFn;
use millstream_graph::nest::Result;
use millstream_graph::{Arg, Asked, Graph, Output, Program, SparseTensor};
use millstream_tensor::DType::{Bool, F32, I32, I64};
use millstream_tensor::{PartialShape, Tensor, shape};

type O<'g> = Output<'g>;

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn less<'g>(a: O<'g>, b: impl Into<Arg<'g>>) -> O<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn twice<'g>(m: O<'g>) -> O<'g> {
    m.graph().op("ConcatV2").inputs([m, m]).input(0).output()
}

#[derive(Nest)]
#[nest(crate = millstream_graph)]
struct Pair<'g> {
    j: Output<'g>,
    k: Output<'g>,
}

/// Checks that the call fails with a message that contains all of these parts.
#[track_caller]
fn fails<T>(result: Result<T>, parts: &[&str]) {
    let Err(error) = result else { panic!("that should have failed") };
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn structs_maps_and_literals_are_variables() {
    let g = graph();
    let (i, p) = g
        .while_loop((0, Pair { j: g.constant(1), k: g.constant(2) }))
        .run(|(i, _)| less(i, 10), |(i, p)| (i + 1, Pair { j: p.j + p.k, k: p.j - p.k }))
        .unwrap();
    assert_eq!((i.name(), p.k.name()), ("while/Exit:0".into(), "while/Exit_2:0".into()));
    let [a, b] = g.while_loop([0.5f64, 1.5]).run(|[a, _]| less(a, 2.0), |[a, b]| [b, a + b]).unwrap();
    assert_eq!((a.dtype().unwrap(), b.shape()), (millstream_tensor::DType::F64, shape![]));
    let all: Vec<O> = vec![g.constant(1), g.constant(2)];
    assert_eq!(g.while_loop(all).run(|v| less(v[0], 3), |v| v).unwrap().len(), 2);
}

#[test]
fn the_graph_of_a_loop_is_a_program() {
    let g = graph();
    let i: O = g.while_loop(0).run(|i| less(i, 10), |i| i + 1).unwrap();
    let program = g.read(|d| Program::new(d, &Asked { fetches: &[i.port()], ..Asked::default() })).unwrap();
    assert_eq!(program.frames().len(), 2);
}

#[test]
fn options_are_checked() {
    let g = graph();
    for n in [0, -1] {
        let result = g.while_loop(0).parallel_iterations(n).run(|i| less(i, 3), |i| i + 1);
        fails(
            result,
            &[&format!("`parallel_iterations` of the loop `while` is {n}; it must be a positive integer")],
        );
    }
    let run = |n: O| g.while_loop(0).maximum_iterations(n).run(|i| less(i, 3), |i| i + 1).map(|_| ());
    fails(run(g.constant(true)), &["`maximum_iterations` must be a real number, not bool"]);
    fails(run(g.constant([1, 2])), &["`maximum_iterations` must be a scalar but has shape [2]"]);
    let none: Vec<O> = Vec::new();
    fails(
        g.while_loop(none).run(|_| g.constant(true), |v| v),
        &["has no loop variables: its structure is []"],
    );
    fails(g.while_loop(()).run(|_| true, |v| v), &["has no loop variables: its structure is ()"]);
}

#[test]
fn conditions_are_scalar_bools() {
    let g = graph();
    fails(
        g.while_loop(0).name("w").run(|i| i + 1, |i| i + 1),
        &[
            "the condition of the loop `w` is i32[]; it must be a scalar bool",
            "returned by  `w/add`",
            "loops.rs",
        ],
    );
    let x = g.placeholder_of("x", I32, shape![2]);
    fails(
        g.while_loop(x).run(|x| less(x, 1), |x| x),
        &["is bool[2]; it must be a scalar bool", "`all` or `any`"],
    );
}

#[test]
fn bodies_keep_the_structure() {
    let g = graph();
    let vars = || vec![g.constant(1), g.constant(2)];
    fails(
        g.while_loop(vars()).run(|v| less(v[0], 3), |v| vec![v[0]]),
        &[
            "the body of the loop `while` must return the structure",
            "variables    [*, *]",
            "returned     [*]",
        ],
    );
    fails(
        g.while_loop((0, 1.0f32)).run(|(i, _)| less(i, 3), |(i, _)| (i, i)),
        &[
            "loop `while_1`: variable `1` enters as f32[] but the body returns i32[]",
            "make the body return f32",
            "enters at",
        ],
    );
    let op = g.op("NoOp").finish();
    fails(
        g.while_loop((0, op)).run(|(i, _)| less(i, 3), |v| v),
        &["the operation `NoOp` cannot be a variable of the loop"],
    );
}

#[test]
fn shapes_are_invariant() {
    let g = graph();
    let m = g.placeholder_of("m", F32, shape![2, 2]);
    fails(
        g.while_loop((0, m)).name("decode").run(|(i, _)| less(i, 3), |(i, m)| (i + 1, twice(m))),
        &[
            "loop `decode`: variable `1` enters as f32[2,2] but the body returns f32[4,2]",
            "enters at    crates/graph/tests/loops.rs:",
            "returned by  `decode/ConcatV2` (crates/graph/tests/loops.rs:",
            "dimension 0  2 (on entry), 4 (returned)",
            "make the body return f32[2,2], or declare `.shape_of(\"1\", shape![_, 2])`",
        ],
    );
    fails(
        g.while_loop((0, m)).shape_invariants((shape![], shape![_, 3])).run(|(i, _)| less(i, 3), |v| v),
        &[
            "enters as f32[2,2], which does not match its shape invariant f32[?,3]",
            "dimension 1  3 (invariant), 2 (initial value)",
        ],
    );
    let run = |shape: PartialShape| {
        g.while_loop((0, m)).shape_of(1, shape).run(|(i, _)| less(i, 3), |(i, m)| (i + 1, twice(m)))
    };
    assert_eq!(run(shape![_, 2]).unwrap().1.shape(), shape![_, 2]);
    fails(run(shape![2, _]), &["has the shape invariant f32[2,?]", "shape_of(\"1\", shape![_, _])"]);
    fails(
        g.while_loop((0, Pair { j: m, k: m })).shape_of("1.x", shape![]).run(|(i, _)| less(i, 3), |v| v),
        &["the loop has no variable `1.x`", "its variables are `0`, `1.j`, `1.k`"],
    );
    fails(
        g.while_loop((0, m)).shape_invariants((shape![],)).run(|(i, _)| less(i, 3), |v| v),
        &["must have the structure of the loop variables", "variables    (*, *)", "invariants   ([])"],
    );
}

#[test]
fn one_variable_drags_another_along() {
    let g = graph();
    let m = g.placeholder_of("m", F32, shape![2]);
    let body = |(a, b): (O<'_>, O<'_>)| {
        let g = a.graph();
        let wide = g.op("ConcatV2").inputs([a, b]).input(0).output();
        (wide.port(), a.port())
    };
    let run = |infer: bool| {
        let builder = g.while_loop((m, m));
        let builder = if infer { builder.infer_invariants() } else { builder };
        builder.run(
            |_| true,
            |v| {
                let (a, b) = body(v);
                (Output::new(&g, a), Output::new(&g, b))
            },
        )
    };
    fails(
        run(false),
        &["variable `0` enters as f32[2]", "`.shape_of(\"0\", shape![_]).shape_of(\"1\", shape![_])`"],
    );
    let (a, b) = run(true).unwrap();
    assert_eq!((a.shape(), b.shape()), (shape![_], shape![_]));
}

#[test]
fn sparse_invariants_are_of_the_dense_shape() {
    let g = graph();
    let indices = g.placeholder_of("i", I64, shape![5, 2]);
    let s = SparseTensor {
        indices,
        values: g.placeholder_of("v", F32, shape![5]),
        dense_shape: g.placeholder_of("d", I64, shape![2]),
    };
    let run = |shape: PartialShape| {
        g.while_loop((0, s)).shape_invariants((shape![], shape)).run(|(i, _)| less(i, 3), |(i, s)| (i + 1, s))
    };
    assert_eq!(run(shape![2]).unwrap().1.indices.shape(), shape![_, 2]);
    fails(
        run(shape![3, 4]),
        &["the shape invariant [3,4] of the sparse variable `1` must be that of its `dense_shape`"],
    );
    fails(run(shape![3]), &["variable `1.indices` enters as i64[5,2]"]);
}

#[test]
fn values_stay_in_their_loop_and_graph() {
    let g = graph();
    let mut inner = None;
    g.while_loop(0)
        .run(
            |i| less(i, 3),
            |i| {
                inner = Some(i);
                i + 1
            },
        )
        .unwrap();
    let leaked = inner.unwrap() + 1;
    fails(
        g.check(),
        &[
            "Cannot use 'while/Identity' as input to 'add' because 'while/Identity' is in a while loop.",
            "`while/Identity` belongs to the loop `while/while_context` and is used outside of it",
        ],
    );
    // A node built on a mistake does not report another one.
    let _ = leaked + 1;
    g.check().unwrap();
    let other = graph();
    let x = other.constant(1);
    fails(g.while_loop(x).run(|i| less(i, 3), |i| i), &["belongs to another graph"]);
    fails(g.while_loop(0).run(|i| i + x, |i| i), &["is from another graph"]);
    fails(g.cond(other.constant(true), || 1, || 2), &["the predicate of `cond` belongs to another graph"]);
}

#[test]
fn branches_agree() {
    let g = graph();
    let p = g.placeholder_of("p", Bool, shape![]);
    let x = g.constant(1);
    fails(g.cond(x, || 1, || 2), &["the predicate of `cond`, `Const`, must be a scalar bool, found i32[]"]);
    fails(
        g.cond(p, || vec![x], || vec![x, x]),
        &["return different structures", "if true      [*]", "if false     [*, *]"],
    );
    fails(
        g.cond(p, || (x, x), || (x, g.constant(1.0f32))),
        &["return different dtypes for `1`: i32[] when true, f32[] when false"],
    );
    fails(g.cond(p, || (), || ()), &["return nothing"]);
    fails(g.cond(p, || g.op("NoSuchOp").output(), || x), &["there is no op `NoSuchOp`"]);
}

#[test]
fn cases() {
    let g = graph();
    let i = g.placeholder_of("i", I32, shape![]);
    fails(g.case::<O>().run(), &["the `case` named `case` has no branches"]);
    fails(g.case().when(i, || 1).run(), &["predicate 0 of the `case` named `case` must be a scalar bool"]);
    let branches = |n: i32| -> Vec<BranchFn<'_, O<'_>>> {
        (0..n).map(|k| Box::new(move || Ok(i * k)) as BranchFn<'_, O<'_>>).collect()
    };
    assert_eq!(g.switch_case(i, branches(5), None).unwrap().dtype().unwrap(), I32);
    fails(g.switch_case(i, branches(0), None), &["`switch_case` has no branches"]);
    let wrong = g.constant(1.0f32);
    fails(g.switch_case(wrong, branches(1), None), &["must be a scalar i32"]);
    let known: O = g.smart_cond(g.constant(true), || 1, || 2).unwrap();
    assert_eq!(known.op().op_type(), "Const");
}

#[test]
fn loops_by_hand() {
    let g = graph();
    let (zero, one, ten) = (g.constant(0), g.constant(1), g.constant(10));
    let keep = |v| g.enter_as(v, "frame", true, 10);
    let (i, back) = g.loop_var(g.enter(zero, "frame"));
    let more = g.loop_cond(less(i, keep(ten)));
    let (done, go) = g.switch(i, more);
    back.close(g.next_iteration(go + keep(one))).unwrap();
    let result = g.exit(done);
    g.check().unwrap();
    let program =
        g.read(|d| Program::new(d, &Asked { fetches: &[result.port()], ..Asked::default() })).unwrap();
    assert_eq!(program.frames().len(), 2);

    let (_, back) = g.loop_var(g.enter(zero, "other"));
    drop(back);
    fails(
        g.check(),
        &["the back edge of the loop variable `Merge_1` was dropped without being closed", "loops.rs"],
    );
    let (i, back) = g.loop_var(g.enter(zero, "third"));
    fails(back.close(i), &["a back edge leads from a NextIteration to a Merge"]);
    let wide = g.constant_tensor("wide", Tensor::vector(&[1, 2]).unwrap());
    let (_, back) = g.loop_var(g.enter(zero, "fourth"));
    fails(back.close(g.next_iteration(wide)), &["has shape [] but its next value"]);
}

#[test]
fn scopes_end_when_a_body_panics() {
    let g = graph();
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = g.while_loop(0).run(|i| less(i, 3), |_| -> O<'_> { panic!("in the body") });
    }));
    assert!(panics.is_err());
    assert_eq!(g.scope(), "");
    assert_eq!(g.constant(1).name(), "Const:0");
    g.while_loop(0).run(|i| less(i, 3), |i| i + 1).unwrap();
}
