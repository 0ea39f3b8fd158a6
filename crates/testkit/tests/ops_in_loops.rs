//! Every pure op in the body of a loop, with operands whose shapes change from run to run and from iteration
//! to iteration: compiled loops give the values and errors of the reference.
//!
//! `MILLSTREAM_RUNS=N` makes N runs of each node.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream::prelude::*;
use millstream::{Code, SessionOptions, Tier};
use millstream_graph::op::{Effect, OpDef, Role};
use millstream_runtime::FeedList;
use millstream_tensor::{Error, PartialShape, Result};
use millstream_testkit::compare::Compare;
use millstream_testkit::generate::Rng;
use std::time::Duration;

const DTYPES: [DType; 3] = [DType::F32, DType::I32, DType::Bool];

/// A value of some small shape; now and then a float is no number.
fn value(random: &mut Rng, dtype: DType) -> Tensor {
    const SHAPES: [&[usize]; 9] = [&[], &[1], &[3], &[0], &[2, 3], &[1, 3], &[2, 1], &[3, 3], &[2, 3, 1]];
    let shape = SHAPES[random.below(SHAPES.len())];
    let n: usize = shape.iter().product();
    let flat = match dtype {
        DType::F32 => {
            let number = |random: &mut Rng| match random.below(12) {
                0 => f32::NAN,
                1 => -0.0,
                2 => f32::INFINITY,
                i => i as f32 / 4.0 - 1.25,
            };
            Tensor::vector(&(0..n).map(|_| number(random)).collect::<Vec<f32>>())
        }
        DType::I32 => Tensor::vector(&(0..n).map(|_| random.below(4) as i32 - 1).collect::<Vec<i32>>()),
        _ => Tensor::vector(&(0..n).map(|_| random.below(2) == 1).collect::<Vec<bool>>()),
    };
    flat.and_then(|flat| flat.reshape(shape)).unwrap()
}

/// A loop that computes the op three times, each time of its first result if that suits.
fn build<'g>(g: &'g Graph, op: &'static str, given: &[Output<'g>]) -> Option<Output<'g>> {
    let node = |inputs: Vec<Output<'g>>| {
        let made = g.op(op).inputs(inputs).try_finish().ok()?;
        made.outputs().first().copied()
    };
    let first = node(given.to_vec())?;
    let feeds_back = first.dtype().ok()? == given[0].dtype().ok()?;
    let made = g.while_loop((g.constant(0), given[0], first)).run(
        |(i, _, _)| i.less(3),
        |(i, x, before)| {
            let inputs = std::iter::once(x).chain(given[1..].iter().copied()).collect();
            let y = node(inputs).unwrap_or(before);
            (i + 1, if feeds_back { y } else { x }, y)
        },
    );
    made.ok().map(|(_, _, y)| y)
}

/// All lists of up to three dtypes.
fn signatures() -> impl Iterator<Item = Vec<DType>> {
    (1..4u32).flat_map(|n| {
        (0..3usize.pow(n)).map(move |i| (0..n).map(|k| DTYPES[i / 3usize.pow(k) % 3]).collect())
    })
}

#[test]
fn ops_in_loops_of_changing_shapes() {
    let n_runs: usize = std::env::var("MILLSTREAM_RUNS").map_or(8, |n| n.parse().unwrap());
    let (mut n_nodes, mut n_values, mut n_errors) = (0, 0, 0);
    let computes = |def: &&OpDef| def.role == Role::Compute && def.kernel.effect == Effect::Pure;
    for def in millstream_ops::defs().iter().filter(computes) {
        for (k, signature) in signatures().enumerate() {
            let g = Graph::new();
            let given: Vec<Output<'_>> = (signature.iter().enumerate())
                .map(|(i, dtype)| g.placeholder_of(&format!("x{i}"), *dtype, PartialShape::unknown()))
                .collect();
            let Some(y) = build(&g, def.name, &given) else { continue };
            n_nodes += 1;
            let session = |tier| {
                let timeout = Some(Duration::from_secs(60));
                let compile_after = Some(0);
                let options =
                    SessionOptions { tier, timeout, compile_after, threads: Some(1), ..Default::default() };
                Session::with_options(&g, options).unwrap()
            };
            let (reference, compiled) = (session(Tier::Reference), session(Tier::Compiled));
            let mut random = Rng::new(k as u64);
            for _ in 0..n_runs {
                let values: Vec<Tensor> = signature.iter().map(|dtype| value(&mut random, *dtype)).collect();
                let run = |session: &Session| -> Result<Tensor> {
                    let feeds = FeedList::new();
                    let feeds = given.iter().zip(&values).fold(feeds, |all, (x, v)| all.and(*x, v.clone()));
                    session.run(y, feeds)
                };
                let told = || format!("{} of {values:?}", def.name);
                match (run(&reference), run(&compiled)) {
                    (Ok(want), Ok(got)) => {
                        n_values += 1;
                        let alike = want.bits_eq(&got)
                            || Compare::Exact.check(&got, &want).is_ok()
                            || want.dtype() == DType::Variant && want.to_string() == got.to_string();
                        assert!(alike, "{}: {got}, not {want}", told());
                    }
                    (want, got) => {
                        n_errors += 1;
                        let code = |result: Result<Tensor>| -> Option<Code> {
                            result.err().as_ref().map(Error::code)
                        };
                        assert_eq!(code(want), code(got), "{}", told());
                    }
                }
            }
        }
    }
    println!("{n_nodes} loops, {n_values} values, {n_errors} errors");
    assert!(n_nodes > 300 && n_values > 1000, "{n_nodes} loops, {n_values} values");
}
