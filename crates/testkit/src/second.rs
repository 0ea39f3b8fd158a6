//! Programs with loops whose derivatives JAX computed with the loops unrolled: the functions in
//! `tests/golden/make_second.py`.

use crate::json::{self, Text};
use millstream::prelude::*;
use millstream::{Arg, TensorArray};
use millstream_graph::{IntoNest, WhileBuilder};
use serde_json::Value;
use std::path::PathBuf;

/// A program: a function of the vector `x`.
pub type Program = for<'g> fn(&'g Graph, Output<'g>, Saving) -> Result<Output<'g>>;

/// The intermediate values that the loops of a program save for their gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// All that are needed.
    All,
    /// The state of every other iteration.
    Every2,
    /// A few states, whatever the number of iterations.
    Auto,
}

impl Saving {
    fn of<'g, V: IntoNest<'g>>(self, start: WhileBuilder<'g, V>) -> WhileBuilder<'g, V> {
        match self {
            Saving::All => start,
            Saving::Every2 => start.checkpoint_every(2),
            Saving::Auto => start.checkpoint_auto(),
        }
    }
}

/// The result of `n` iterations of `a = body(i, a)`.
fn turn<'g>(
    saving: Saving,
    n: impl Into<Arg<'g>> + Copy,
    a: Output<'g>,
    body: impl FnOnce(Output<'g>, Output<'g>) -> Result<Output<'g>>,
) -> Result<Output<'g>> {
    let g = a.graph();
    let (_, a) = saving
        .of(g.while_loop((g.constant(0), a)))
        .run(|(i, _)| i.less(n), |(i, a)| Ok::<_, Error>((i + 1, body(i, a)?)))?;
    Ok(a)
}

fn power<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let a = turn(s, 5, g.constant(1.0f64), |_, a| Ok(a * x.index(0)))?;
    Ok(a + x.index(1) * a * a)
}

fn logistic<'g>(_: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let a = turn(s, 10, x.index(0), |_, a| Ok(a + x.index(1) * a * (1.0 - a)))?;
    Ok(a * a)
}

fn until_large<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let (p, q) = (x.index(0).square(), x.index(1).square());
    let a = s
        .of(g.while_loop(g.constant(1.7f64)))
        .run(|a| a.less(50.0), |a| a * (p + 1.0) + a.sqrt() * q + 0.2)?;
    Ok(a.log())
}

fn two_variables<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let (_, a, b) = s.of(g.while_loop((g.constant(0), x.index(0), x.index(1)))).run(
        |(i, ..)| i.less(6),
        |(i, a, b)| (i + 1, b.sin() + x.index(2) * a, a * b + i.cast::<f64>() * 0.1),
    )?;
    Ok(a * a + b)
}

fn nested<'g>(_: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let w = x.index(1);
    turn(s, 3, x.index(0), |i, a| {
        let a = turn(s, 3, a, |_, a| Ok((a * w).tanh() + x.index(0) * 0.3))?;
        Ok(a * w + i.cast::<f64>() * 0.1)
    })
}

fn triangle<'g>(_: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let w = x.index(1);
    let a = turn(s, 5, x.index(0), |i, a| {
        turn(s, i, a, |j, a| Ok(a * w + a.sin() * 0.1 * (j + 1).cast::<f64>()))
    })?;
    Ok(a * a)
}

fn three_deep<'g>(_: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    turn(s, 2, x.index(0), |_, a| {
        turn(s, 2, a, |_, a| {
            let b = a.sin();
            turn(s, 2, a, |_, a| Ok(a * x.index(1) + b * x.index(0)))
        })
    })
}

fn branch_by_counter<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let a = turn(s, 6, x.index(0), |i, a| {
        g.cond(i.floor_mod(2).equal(0), || a * x.index(1), || a.sin() + x.index(1) * x.index(0))
    })?;
    Ok(a * a)
}

fn branch_by_data<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let w = x.index(1);
    turn(s, 8, x.index(0), |_, a| {
        g.cond(a.greater(0.5), || a * a * w - 0.3, || a.exp() * 0.7 + x.index(0) * w)
    })
}

fn loop_in_branch<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let w = x.index(1);
    let a = turn(s, 4, x.index(0), |i, a| {
        let inner = || turn(s, i, a, |_, a| Ok((a * w).sin() + 0.2));
        g.cond(i.floor_mod(2).equal(1), inner, || a * w + x.index(0))
    })?;
    Ok(a * a)
}

fn matrix_state<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let (w, b) = (x.slice_axis(0, 0..9).reshape([3, 3]), x.slice_axis(0, 9..12).reshape([3, 1]));
    let start = g.constant([[0.3f64], [-0.2], [0.5]]);
    let a = turn(s, 4, start, |_, a| Ok((w.matmul(a) + b).tanh() + b * 0.1))?;
    Ok((a * a * g.constant([[1.0f64], [2.0], [3.0]])).reduce_sum(()))
}

fn rows<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let table = x.reshape([4, 2]);
    let a = turn(s, 6, g.constant([0.4f64, -0.6]), |i, a| {
        Ok((a + table.gather(i.floor_mod(3))).tanh() * table.gather((i * i).floor_mod(4)))
    })?;
    Ok((a * g.constant([1.0f64, 2.0])).reduce_sum(()))
}

fn growing<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let (_, a) = s
        .of(g.while_loop((g.constant(0), x)))
        .shape_invariants((shape![], shape![_]))
        .run(|(i, _)| i.less(3), |(i, a)| (i + 1, g.concat(0, [a, (a.slice_axis(0, 0..1) * a).sin()])))?;
    let weights =
        g.op("Range").inputs([g.constant(1.0f64), a.size().cast::<f64>() + 1.0, g.constant(1.0f64)]);
    Ok((a * a * a * weights.output()).reduce_sum(()))
}

fn descent<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let a = turn(s, 4, x.index(0), |_, a| {
        let slope = g.gradients([(a * x.index(1)).sin() * a], [a]).dense()?[0];
        Ok(a - slope * 0.2)
    })?;
    Ok(a * a)
}

fn newton<'g>(_: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let (p, q) = (x.index(0), x.index(1));
    turn(s, 8, p * 0.0 + 1.0, |_, u| Ok(u - (u * u * u + q * u - p) / (u * u * 3.0 + q)))
}

fn elements<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let array = TensorArray::of::<f64>(g, 5).build();
    let (_, a, array) = s.of(g.while_loop((g.constant(0), x.index(0), array))).run(
        |(i, ..)| i.less(5),
        |(i, a, array)| (i + 1, a.sin() * x.index(1) + i.cast::<f64>() * 0.1, array.write(i, a * a)),
    )?;
    let backwards = array.gather([4, 3, 2, 1, 0]);
    Ok((array.stack().exp() * backwards).reduce_sum(()) + a)
}

fn no_iteration<'g>(_: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let a = turn(s, 0, x.index(0), |_, a| Ok(a.sin() * x.index(1)))?;
    Ok(a * a * a * x.index(1))
}

fn lstm<'g>(g: &'g Graph, x: Output<'g>, s: Saving) -> Result<Output<'g>> {
    let w = x.slice_axis(0, 0..12).reshape([4, 3]);
    let inputs = x.slice_axis(0, 12..16);
    let zero = g.constant(0.0f64);
    let (_, c, h) = s.of(g.while_loop((g.constant(0), zero, zero))).run(
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

/// The programs by name.
pub const PROGRAMS: &[(&str, Program)] = &[
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

/// The derivatives of a program that JAX computed.
#[derive(Debug)]
pub struct Derivatives {
    /// The point.
    pub x: Vec<f64>,
    /// The direction of the third derivatives: 1, -1/2, 1/3, ..
    pub along: Vec<f64>,
    /// The value at the point.
    pub value: Vec<f64>,
    /// The first derivatives.
    pub gradient: Vec<f64>,
    /// The second derivatives.
    pub hessian: Vec<f64>,
    /// The gradient of the Hessian's quadratic form along the direction.
    pub third: Vec<f64>,
}

/// Reads the derivatives of a program.
pub fn derivatives(name: &str) -> Text<Derivatives> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/second.json");
    let golden = json::read(&path)?;
    let case = json::field(&golden, name)?;
    let number = |v: &Value| v.as_f64().ok_or_else(|| format!("{name}: {v} is not a number"));
    let numbers = |key| json::list(case, key)?.iter().map(number).collect::<Text<Vec<f64>>>();
    let x = numbers("x")?;
    let along = (0..x.len()).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 } / (i + 1) as f64).collect();
    Ok(Derivatives {
        x,
        along,
        value: vec![number(json::field(case, "value")?)?],
        gradient: numbers("gradient")?,
        hessian: numbers("hessian")?,
        third: numbers("third")?,
    })
}

/// The value, its gradient with respect to `x`, the gradient's derivative along a direction, and the gradient
/// of that along the direction again.
pub fn orders<'g>(
    g: &'g Graph,
    x: Output<'g>,
    y: Output<'g>,
    along: Output<'g>,
    up_to: usize,
) -> Result<Vec<Output<'g>>> {
    let mut all = vec![y];
    let mut at = y;
    for _ in 0..up_to {
        let next = g.gradients([at], [x]).dense()?[0];
        all.push(next);
        at = next * along;
    }
    Ok(all)
}
