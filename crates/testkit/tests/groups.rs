//! Elementwise nodes that run as one: which they are, and that nothing but time and memory depends on it.

use millstream::prelude::*;
use millstream::{Pass, Passes, SessionOptions, Tier};
use millstream_runtime::FeedList;
use millstream_tensor::{Code, Error, PartialShape};

/// A session of the machine, without compiled loops.
fn session(g: &Graph, passes: Passes, threads: usize) -> Session {
    let options =
        SessionOptions { passes, tier: Tier::Dataflow, threads: Some(threads), ..Default::default() };
    Session::with_options(g, options).unwrap()
}

/// `n` numbers, some negative, some not finite.
fn numbers(n: usize) -> Tensor {
    let number = |i: usize| match i % 97 {
        5 => f32::NAN,
        6 => f32::INFINITY,
        7 => -0.0,
        i => i as f32 / 16.0 - 3.0,
    };
    Tensor::vector(&(0..n).map(number).collect::<Vec<_>>()).unwrap()
}

/// Whether a plan of these fetches has a group.
fn has_groups(g: &Graph, fetches: &[Output<'_>], feeds: &[Output<'_>]) -> bool {
    let session = session(g, Passes::default(), 1);
    session.listing(fetches.to_vec(), feeds.to_vec()).unwrap().contains(" nodes: ")
}

/// Runs with groups on one and on several threads give the bits of a run without.
#[track_caller]
fn same(g: &Graph, fetches: &[Output<'_>], feeds: &[(Output<'_>, Tensor)]) -> Vec<Tensor> {
    let run = |passes, threads| {
        let given = feeds.iter().fold(FeedList::new(), |all, (to, value)| all.and(*to, value));
        session(g, passes, threads).run::<Vec<Tensor>>(fetches.to_vec(), given).unwrap()
    };
    let want = run(Passes::default().without(Pass::Fuse), 1);
    for threads in [1, 2, 4] {
        for (i, (a, b)) in want.iter().zip(&run(Passes::default(), threads)).enumerate() {
            assert!(alike(a, b), "fetch {i} on {threads} threads: {a} {b}");
        }
    }
    want
}

/// Whether two tensors of f32 have the same bits. Which of two NaNs an addition returns depends on how the
/// loop around it was compiled.
fn alike(a: &Tensor, b: &Tensor) -> bool {
    let (x, y) = (a.as_slice::<f32>().unwrap(), b.as_slice::<f32>().unwrap());
    let same = |(x, y): (&f32, &f32)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
    a.shape() == b.shape() && x.iter().zip(y).all(same)
}

/// Members that others read are outputs; inputs that others read keep their values.
#[test]
fn groups_give_what_their_members_give() {
    let g = Graph::new();
    for n in [256, 1000, 300_000] {
        let x = g.placeholder::<f32>(&format!("x{n}"), [n]);
        let y = g.placeholder::<f32>(&format!("y{n}"), [n]);
        let gate = (x * y).sigmoid();
        let inner = gate * x.tanh() + y * 0.5;
        let small = inner.less(x);
        let chosen = g.op("Select").inputs([small, inner, gate]).output();
        let fetches = [chosen, gate, x.square(), inner.reduce_sum(())];
        assert!(has_groups(&g, &fetches, &[x, y]));
        same(&g, &fetches, &[(x, numbers(n)), (y, numbers(n + 3).rows(3, n).unwrap())]);
    }
}

/// A row is repeated for each row of the other operand, a scalar for each element.
#[test]
fn groups_broadcast() {
    let g = Graph::new();
    let (x, row) = (g.placeholder::<f32>("x", [37, 51]), g.placeholder::<f32>("row", [51]));
    let (column, scale) = (g.placeholder::<f32>("column", [37, 1]), g.placeholder::<f32>("scale", shape![]));
    let y = ((x + row) * column).tanh() * scale - row;
    assert!(has_groups(&g, &[y], &[x, row, column, scale]));
    let feeds = [
        (x, numbers(37 * 51).reshape([37, 51]).unwrap()),
        (row, numbers(51)),
        (column, numbers(37).reshape([37, 1]).unwrap()),
        (scale, Tensor::scalar(0.75f32)),
    ];
    same(&g, &[y], &feeds);
}

/// Shapes that only a run knows may differ where the plan sees no difference. Each node then has its own
/// shape, or its own error.
#[test]
fn groups_take_the_shapes_of_the_run() {
    let g = Graph::new();
    let (x, y) = (g.placeholder::<f32>("x", shape![_, 4]), g.placeholder::<f32>("y", shape![_, 4]));
    let sum = g.op("AddV2").name("the_sum").inputs([x.tanh(), y]).output();
    let fetches = [sum * y, x.tanh()];
    assert!(has_groups(&g, &fetches, &[x, y]));
    let rows = |n: usize| numbers(n * 4).reshape([n, 4]).unwrap();
    for (a, b) in [(80, 80), (3, 3), (5, 1), (1, 5), (0, 0), (0, 1)] {
        let results = same(&g, &fetches, &[(x, rows(a)), (y, rows(b))]);
        assert_eq!(results[1].shape()[0], a);
    }
    let error = |passes| -> Error {
        let feeds = feed![x => rows(3), y => rows(2)];
        session(&g, passes, 1).run::<Vec<Tensor>>(fetches.to_vec(), feeds).unwrap_err()
    };
    let (with, without) = (error(Passes::default()), error(Passes::default().without(Pass::Fuse)));
    assert_eq!(with.code(), Code::InvalidArgument);
    assert!(with.to_string().contains("the_sum"), "{with}");
    assert_eq!(with.to_string(), without.to_string());
}

/// A scalar whose shape only the run knows is an error of a node that does not broadcast, in a group too.
#[test]
fn groups_broadcast_only_where_their_members_do() {
    let g = Graph::new();
    let (x, y) = (g.placeholder::<f32>("x", [400]), g.placeholder::<f32>("y", PartialShape::unknown()));
    let chosen = g.op("Select").name("chosen").inputs([(x * 2.0).less(1.0), y, x.tanh()]).output();
    let fetches = [chosen * x];
    assert!(has_groups(&g, &fetches, &[x, y]));
    same(&g, &fetches, &[(x, numbers(400)), (y, numbers(400))]);
    let error = |passes| -> Error {
        let feeds = feed![x => numbers(400), y => 2.0f32];
        session(&g, passes, 1).run::<Vec<Tensor>>(fetches.to_vec(), feeds).unwrap_err()
    };
    let (with, without) = (error(Passes::default()), error(Passes::default().without(Pass::Fuse)));
    assert_eq!(with.code(), Code::InvalidArgument, "{with}");
    assert_eq!(with.to_string(), without.to_string());
    // The condition of a Select may be a scalar, which the plan knows.
    let yes = g.placeholder::<bool>("yes", shape![]);
    let either = g.op("Select").inputs([yes, x * 2.0, x.tanh()]).output();
    for yes_value in [true, false] {
        same(&g, &[either * x], &[(x, numbers(400)), (yes, Tensor::scalar(yes_value))]);
    }
}

/// Every op that may be a member, beside operands whose shapes only the run knows: groups give what the nodes
/// give one by one, or their error.
#[test]
fn groups_take_all_operands_as_their_members_do() {
    let shapes: [&[usize]; 8] = [&[], &[1], &[16], &[1, 16], &[16, 1], &[16, 16], &[1, 1, 1], &[2, 16, 16]];
    let (mut grouped, mut refused) = (0, 0);
    for def in millstream_ops::defs().iter().filter(|def| def.kernel.lowering.is_some()) {
        for (n, whole) in (2..4).flat_map(|n| (0..n).map(move |whole| (n, whole))) {
            let g = Graph::new();
            let x = g.placeholder::<f32>("x", shape![_, _]);
            let other = g.placeholder::<f32>("other", PartialShape::unknown());
            let is_select = def.name.starts_with("Select") && n == 3;
            let inputs: Vec<Output<'_>> = (0..n)
                .map(|i| if i == whole { x * 2.0 } else { other })
                .enumerate()
                .map(|(i, input)| if is_select && i == 0 { input.less(1.0) } else { input })
                .collect();
            let mut builder = g.op(def.name).inputs(inputs);
            if def.name == "AccumulateNV2" {
                builder = builder.attr("shape", shape![_, _]);
            }
            let Ok(made) = builder.try_finish() else { continue };
            let Some(y) = made.outputs().first().copied().filter(|y| y.dtype().ok() == Some(DType::F32))
            else {
                continue;
            };
            let fetches = [y, x.tanh() * 0.5 + x];
            grouped += usize::from(has_groups(&g, &[y], &[x, other]));
            for shape in shapes {
                let run = |passes| {
                    let elements = shape.iter().product();
                    let value = numbers(elements).reshape(shape).unwrap();
                    let feeds = feed![x => numbers(256).reshape([16, 16]).unwrap(), other => value];
                    session(&g, passes, 1).run::<Vec<Tensor>>(fetches.to_vec(), feeds)
                };
                match (run(Passes::default()), run(Passes::default().without(Pass::Fuse))) {
                    (Ok(with), Ok(without)) => {
                        assert!(
                            with.iter().zip(&without).all(|(a, b)| alike(a, b)),
                            "{} {shape:?}",
                            def.name
                        );
                    }
                    (with, without) => {
                        refused += 1;
                        let text = |result: Result<Vec<Tensor>>| {
                            result.map(|_| "no error").map_err(|e| e.to_string())
                        };
                        assert_eq!(text(with), text(without), "{} {shape:?}", def.name);
                    }
                }
            }
        }
    }
    assert!(grouped > 20 && refused > 20, "{grouped} groups, {refused} errors");
}

/// What only one side of a cond computes does not run with what both sides need.
#[test]
fn groups_are_alive_as_a_whole() {
    let g = Graph::new();
    let (x, yes) = (g.placeholder::<f32>("x", [400]), g.placeholder::<bool>("yes", shape![]));
    let before = (x * 2.0).tanh();
    let one = g.cond(yes, || before.exp() * before, || before - x * 3.0).unwrap();
    let fetches = [one + before, before * x];
    for taken in [true, false] {
        same(&g, &fetches, &[(x, numbers(400)), (yes, Tensor::scalar(taken))]);
    }
}

/// A loop whose condition needs what its body computes, too, and whose last iteration is cut short.
#[test]
fn groups_run_in_loops() {
    let g = Graph::new();
    let (x, limit) = (g.placeholder::<f32>("x", [20, 20]), g.placeholder::<f32>("limit", shape![]));
    let (_, y, z) = g
        .while_loop((g.constant(0), x, x * 0.5))
        .run(
            |(_, y, _)| (y * 0.5).abs().reduce_sum(()).less(limit),
            |(i, y, z)| {
                let grown = (y * 0.5).abs() + z.sigmoid();
                (i + 1, grown * 1.5 + y * 0.25, (grown - z).tanh())
            },
        )
        .unwrap();
    let slope = g.gradients([y.reduce_sum(()) + z.square().reduce_sum(())], [x]).dense().unwrap();
    let fetches = [y, z, slope[0]];
    assert!(has_groups(&g, &fetches, &[x, limit]));
    let value: Vec<f32> = (0..400).map(|i| (i % 13) as f32 / 64.0 - 0.05).collect();
    let value = Tensor::vector(&value).unwrap().reshape([20, 20]).unwrap();
    for limit_value in [0.0f32, 50.0, 4000.0] {
        same(&g, &fetches, &[(x, value.clone()), (limit, Tensor::scalar(limit_value))]);
    }
}

/// Nodes on both sides of an assignment are in two groups: the second reads what was assigned.
#[test]
fn groups_keep_the_order_of_assignments() {
    let g = Graph::new();
    let v = g.variable("v", g.constant(numbers(500)));
    let first = (v.read() * 2.0).tanh();
    let assigned = v.assign(first + 1.0);
    let second = g.control_dependencies([assigned], || v.read());
    let result = (second - first).tanh() * first;
    let run = |passes| {
        let session = session(&g, passes, 2);
        session.run::<()>(g.global_variables_initializer(), feed![]).unwrap();
        session.run::<Vec<Tensor>>(vec![result, second], feed![]).unwrap()
    };
    let (with, without) = (run(Passes::default()), run(Passes::default().without(Pass::Fuse)));
    assert!(with.iter().zip(&without).all(|(a, b)| a.bits_eq(b)));
}

/// A product is added to a sum as it is made, and of a product of which a slice is read no more is computed:
/// where nothing else reads the product.
#[test]
fn products_are_joined_with_their_only_readers() {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", [128, 128]);
    // Equal products would be one.
    let product = |[a, b]: [bool; 2]| {
        g.op("MatMul").input(x).input(x).attr("transpose_a", a).attr("transpose_b", b).output()
    };
    let sum = product([false, false]) + x;
    let part = g.op("Slice").input(product([false, true])).input([0, 3]).input([128, 5]).output();
    let shared = product([true, false]);
    let listing = |fetches: Vec<Output<'_>>| session(&g, Passes::default(), 1).listing(fetches, [x]).unwrap();
    for (fetches, joined) in
        [(vec![sum], 1), (vec![part], 1), (vec![sum, part], 2), (vec![shared + x, shared], 0)]
    {
        let text = listing(fetches);
        assert_eq!(text.matches(" with MatMul").count(), joined, "{text}");
    }
    let run =
        |passes| session(&g, passes, 1).run::<(Tensor, Tensor)>((sum, part), feed![x => square()]).unwrap();
    let (want, got) =
        (run(Passes::default().without(Pass::Accumulate).without(Pass::Narrow)), run(Passes::default()));
    assert!(want.0.bits_eq(&got.0) && want.1.bits_eq(&got.1));
}

fn square() -> Tensor {
    let values: Vec<f32> = (0..128 * 128).map(|i| ((i * 37) % 101) as f32 / 64.0 - 0.7).collect();
    Tensor::from_slice([128, 128], &values).unwrap()
}
