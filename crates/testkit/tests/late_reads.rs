//! A reference variable is read by the node that computes with its value, in every tier and under every
//! setting.

use millstream_graph::{Graph, Op, Output};
use millstream_runtime::feed;
use millstream_tensor::{DType, PartialShape, Result, Tensor};
use millstream_testkit::tiers::{DATAFLOW, REFERENCE, Setting};

fn settings() -> [Setting; 5] {
    let one = Setting { parallel_iterations: Some(1), ..DATAFLOW };
    let scattered = Setting { hand_out_all: true, ..DATAFLOW };
    [REFERENCE, DATAFLOW, one, scattered, Setting { threads: 1, ..DATAFLOW }]
}

/// A variable, its value read early, and the operation that sets it to 1.
fn variable(g: &Graph) -> (Output<'_>, Output<'_>, Op<'_>) {
    let v =
        g.op("VariableV2").name("v").attr("dtype", DType::F32).attr("shape", PartialShape::scalar()).output();
    let start = g.op("Assign").input(v).input(1.0f32).output().op();
    (v, g.op("Identity").name("read").input(v).output(), start)
}

fn added<'g>(g: &'g Graph, v: Output<'g>) -> Output<'g> {
    g.op("AssignAdd").input(v).input(1.0f32).output()
}

/// Builds a graph with a variable and its early read, runs it 20 times under every setting, and compares.
#[track_caller]
fn check(build: impl for<'g> Fn(&'g Graph, Output<'g>, Output<'g>) -> Result<Vec<Output<'g>>>, want: &[f32]) {
    let g = Graph::with_ops(millstream_ops::registry());
    let (v, read, start) = variable(&g);
    let fetches = build(&g, v, read).unwrap();
    for setting in settings() {
        let session = setting.session(&g, None).unwrap();
        for _ in 0..20 {
            session.run::<()>(start, feed![]).unwrap();
            let got: Vec<Tensor> = session.run(fetches.clone(), feed![]).unwrap();
            let got: Vec<f32> = got.iter().map(|t| t.to_scalar::<f32>().unwrap()).collect();
            assert_eq!(got, want, "{setting}");
        }
    }
}

#[test]
fn after_an_update() {
    check(
        |g, v, read| {
            let update = added(g, v);
            let late =
                g.control_dependencies([update.op()], || g.op("Mul").input(read).input(10.0f32).output());
            Ok(vec![late])
        },
        &[20.0],
    );
}

#[test]
fn before_and_after() {
    check(
        |g, v, read| {
            let early = g.op("Mul").input(read).input(3.0f32).output();
            let update = added(g, v);
            let late = g.op("Mul").input(read).input(10.0f32).output();
            Ok(vec![early, late, update])
        },
        &[3.0, 20.0, 2.0],
    );
}

#[test]
fn at_the_end_where_it_is_fetched() {
    check(|g, v, read| Ok(vec![read, v, added(g, v)]), &[2.0, 2.0, 2.0]);
}

/// Three iterations, each of which multiplies `total` by ten and adds `value`.
fn digits<'g>(g: &'g Graph, value: impl Fn(Output<'g>) -> Output<'g>) -> Result<Vec<Output<'g>>> {
    let (i, total) =
        (g.constant_tensor("i", Tensor::scalar(0i32)), g.constant_tensor("t", Tensor::scalar(0f32)));
    g.while_loop(vec![i, total]).run(
        |v: Vec<Output<'g>>| g.op("Less").input(v[0]).input(3i32).output(),
        |v: Vec<Output<'g>>| {
            let value = value(v[0]);
            let ten = g.op("Mul").input(v[1]).input(10f32).output();
            vec![
                g.op("AddV2").input(v[0]).input(1i32).output(),
                g.op("AddV2").input(ten).input(value).output(),
            ]
        },
    )
}

#[test]
fn in_a_loop_that_writes() {
    check(
        |g, v, read| {
            let digits = digits(g, |_| {
                let update = added(g, v);
                g.control_dependencies([update.op()], || g.op("Mul").input(read).input(1f32).output())
            })?;
            Ok(vec![digits[1]])
        },
        &[234.0],
    );
}

#[test]
fn once_where_a_loop_only_reads() {
    check(
        |g, v, read| {
            let before = added(g, v);
            let digits = g.control_dependencies([before.op()], || digits(g, |_| read))?;
            // Only the order of the program puts this after the loop's reads.
            let after = added(g, v);
            Ok(vec![digits[1], after])
        },
        &[222.0, 3.0],
    );
}

#[test]
fn in_a_branch() {
    check(
        |g, v, read| {
            let update = added(g, v);
            let yes = g.constant_tensor("yes", Tensor::scalar(true));
            let merged = g.control_dependencies([update.op()], || {
                g.cond(
                    yes,
                    || g.op("Mul").input(read).input(10f32).output(),
                    || g.op("Mul").input(read).input(3f32).output(),
                )
            })?;
            Ok(vec![merged])
        },
        &[20.0],
    );
}

#[test]
fn where_branches_meet() {
    check(
        |g, v, read| {
            let update = added(g, v);
            let no = g.constant_tensor("no", Tensor::scalar(false));
            let merged = g.control_dependencies([update.op()], || {
                g.cond(no, || g.op("Mul").input(read).input(10f32).output(), || read)
            })?;
            Ok(vec![g.op("Mul").input(merged).input(3f32).output()])
        },
        &[6.0],
    );
}
