//! First, second and third derivatives through loops, against what JAX computes of the same programs unrolled
//! (`tests/golden/make_second.py`, whose functions these are).

use millstream::prelude::*;
use millstream_testkit::json::{self, Text};
use serde_json::Value;
use std::path::PathBuf;

/// A program: a function of the vector `x`.
type Program = for<'g> fn(&'g Graph, Output<'g>) -> Result<Output<'g>>;

/// `a`, changed `n` times by `body(i, a)`.
fn turn<'g>(
    n: impl Into<Arg<'g>> + Copy,
    a: Output<'g>,
    body: impl FnOnce(Output<'g>, Output<'g>) -> Result<Output<'g>>,
) -> Result<Output<'g>> {
    let g = a.graph();
    let (_, a) = g
        .while_loop((g.constant(0), a))
        .run(|(i, _)| i.less(n), |(i, a)| Ok::<_, millstream::Error>((i + 1, body(i, a)?)))?;
    Ok(a)
}

fn power<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let a = turn(5, g.constant(1.0f64), |_, a| Ok(a * x.index(0)))?;
    Ok(a + x.index(1) * a * a)
}

fn logistic<'g>(_: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let a = turn(10, x.index(0), |_, a| Ok(a + x.index(1) * a * (1.0 - a)))?;
    Ok(a * a)
}

fn until_large<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let (p, q) = (x.index(0).square(), x.index(1).square());
    let a = g.while_loop(g.constant(1.7f64)).run(|a| a.less(50.0), |a| a * (p + 1.0) + a.sqrt() * q + 0.2)?;
    Ok(a.log())
}

fn two_variables<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let (_, a, b) = g.while_loop((g.constant(0), x.index(0), x.index(1))).run(
        |(i, ..)| i.less(6),
        |(i, a, b)| (i + 1, b.sin() + x.index(2) * a, a * b + i.cast::<f64>() * 0.1),
    )?;
    Ok(a * a + b)
}

fn nested<'g>(_: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let w = x.index(1);
    turn(3, x.index(0), |i, a| {
        let a = turn(3, a, |_, a| Ok((a * w).tanh() + x.index(0) * 0.3))?;
        Ok(a * w + i.cast::<f64>() * 0.1)
    })
}

fn triangle<'g>(_: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let w = x.index(1);
    let a = turn(5, x.index(0), |i, a| turn(i, a, |j, a| Ok(a * w + a.sin() * 0.1 * (j + 1).cast::<f64>())))?;
    Ok(a * a)
}

fn three_deep<'g>(_: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    turn(2, x.index(0), |_, a| {
        turn(2, a, |_, a| {
            let b = a.sin();
            turn(2, a, |_, a| Ok(a * x.index(1) + b * x.index(0)))
        })
    })
}

fn branch_by_counter<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let a = turn(6, x.index(0), |i, a| {
        g.cond(i.floor_mod(2).equal(0), || a * x.index(1), || a.sin() + x.index(1) * x.index(0))
    })?;
    Ok(a * a)
}

fn branch_by_data<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let w = x.index(1);
    turn(8, x.index(0), |_, a| g.cond(a.greater(0.5), || a * a * w - 0.3, || a.exp() * 0.7 + x.index(0) * w))
}

fn loop_in_branch<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let w = x.index(1);
    let a = turn(4, x.index(0), |i, a| {
        let inner = || turn(i, a, |_, a| Ok((a * w).sin() + 0.2));
        g.cond(i.floor_mod(2).equal(1), inner, || a * w + x.index(0))
    })?;
    Ok(a * a)
}

fn matrix_state<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let (w, b) = (x.slice_axis(0, 0..9).reshape([3, 3]), x.slice_axis(0, 9..12).reshape([3, 1]));
    let start = g.constant([[0.3f64], [-0.2], [0.5]]);
    let a = turn(4, start, |_, a| Ok((w.matmul(a) + b).tanh() + b * 0.1))?;
    Ok((a * a * g.constant([[1.0f64], [2.0], [3.0]])).reduce_sum(()))
}

fn rows<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let table = x.reshape([4, 2]);
    let a = turn(6, g.constant([0.4f64, -0.6]), |i, a| {
        Ok((a + table.gather(i.floor_mod(3))).tanh() * table.gather((i * i).floor_mod(4)))
    })?;
    Ok((a * g.constant([1.0f64, 2.0])).reduce_sum(()))
}

fn growing<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let (_, a) = g
        .while_loop((g.constant(0), x))
        .shape_invariants((shape![], shape![_]))
        .run(|(i, _)| i.less(3), |(i, a)| (i + 1, g.concat(0, [a, (a.slice_axis(0, 0..1) * a).sin()])))?;
    let weights =
        g.op("Range").inputs([g.constant(1.0f64), a.size().cast::<f64>() + 1.0, g.constant(1.0f64)]);
    Ok((a * a * a * weights.output()).reduce_sum(()))
}

fn descent<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let a = turn(4, x.index(0), |_, a| {
        let slope = g.gradients([(a * x.index(1)).sin() * a], [a]).dense()?[0];
        Ok(a - slope * 0.2)
    })?;
    Ok(a * a)
}

fn newton<'g>(_: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let (p, q) = (x.index(0), x.index(1));
    turn(8, p * 0.0 + 1.0, |_, u| Ok(u - (u * u * u + q * u - p) / (u * u * 3.0 + q)))
}

fn elements<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let array = TensorArray::of::<f64>(g, 5).make();
    let (_, a, array) = g.while_loop((g.constant(0), x.index(0), array)).run(
        |(i, ..)| i.less(5),
        |(i, a, array)| (i + 1, a.sin() * x.index(1) + i.cast::<f64>() * 0.1, array.write(i, a * a)),
    )?;
    let backwards = array.gather([4, 3, 2, 1, 0]);
    Ok((array.stack().exp() * backwards).reduce_sum(()) + a)
}

fn no_iteration<'g>(_: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let a = turn(0, x.index(0), |_, a| Ok(a.sin() * x.index(1)))?;
    Ok(a * a * a * x.index(1))
}

fn lstm<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let w = x.slice_axis(0, 0..12).reshape([4, 3]);
    let inputs = x.slice_axis(0, 12..16);
    let zero = g.constant(0.0f64);
    let (_, c, h) = g.while_loop((g.constant(0), zero, zero)).run(
        |(t, ..)| t.less(4),
        |(t, c, h)| {
            let column = g.concat(0, [inputs.gather(t), h, g.constant(1.0f64)].map(|v| v.reshape([1, 1])));
            let z = w.matmul(column).reshape([4]);
            let gate = |i| z.index(i).sigmoid();
            let c = gate(1) * c + gate(0) * z.index(3).tanh();
            (t + 1, c, gate(2) * c.tanh())
        },
    )?;
    Ok(h * h + c)
}

const PROGRAMS: &[(&str, Program)] = &[
    ("power", power),
    ("logistic", logistic),
    ("until_large", until_large),
    ("two_variables", two_variables),
    ("nested", nested),
    ("triangle", triangle),
    ("three_deep", three_deep),
    ("branch_by_counter", branch_by_counter),
    ("branch_by_data", branch_by_data),
    ("loop_in_branch", loop_in_branch),
    ("matrix_state", matrix_state),
    ("rows", rows),
    ("growing", growing),
    ("descent", descent),
    ("newton", newton),
    ("elements", elements),
    ("no_iteration", no_iteration),
    ("lstm", lstm),
];

fn numbers(case: &Value, key: &str) -> Text<Vec<f64>> {
    json::list(case, key)?.iter().map(|v| v.as_f64().ok_or_else(|| format!("{key}: {v}"))).collect()
}

#[track_caller]
fn near(what: &str, got: &Tensor, want: &[f64]) {
    let got = got.as_slice::<f64>().unwrap_or_default();
    let size = want.iter().fold(1e-3f64, |m, w| m.max(w.abs()));
    let close = got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-10 * size);
    assert!(close, "{what}: got {got:?}, want {want:?}");
}

#[test]
fn as_jax_says() -> Result<()> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/second.json");
    let golden = json::read(&path).unwrap();
    assert_eq!(golden.as_object().map(|o| o.len()), Some(PROGRAMS.len()));
    for (name, program) in PROGRAMS {
        let case = json::field(&golden, name).unwrap();
        let at = numbers(case, "x").unwrap();
        let v: Vec<f64> =
            (0..at.len()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 } / (i + 1) as f64).collect();
        let g = Graph::new();
        let x = g.placeholder::<f64>("x", [at.len()]);
        let y = program(&g, x)?;
        let along = g.constant(Tensor::vector(&v)?);
        let first = g.gradients([y], [x]).dense()?[0];
        let hessian = g.hessians([y], [x])?[0];
        let second = g.gradients([first * along], [x]).dense()?[0];
        let third = g.gradients([second * along], [x]).dense()?[0];
        let forward = g.jvp(&[first], &[x], &[along])?[0];
        let x_value = Tensor::vector(&at)?;
        let got: Vec<Tensor> =
            Session::new(&g)?.run(vec![y, first, hessian, third, second, forward], feed![x => x_value])?;
        let wanted = |key| numbers(case, key).unwrap();
        let value = json::field(case, "value").unwrap().as_f64();
        near(&format!("{name}, value"), &got[0], &[value.unwrap()]);
        near(&format!("{name}, gradient"), &got[1], &wanted("gradient"));
        near(&format!("{name}, Hessian"), &got[2], &wanted("hessian"));
        near(&format!("{name}, third order"), &got[3], &wanted("third"));
        // The Hessian is symmetric: along v from either side, and forward, it is the same.
        near(&format!("{name}, forward over reverse"), &got[5], got[4].as_slice()?);
    }
    Ok(())
}
