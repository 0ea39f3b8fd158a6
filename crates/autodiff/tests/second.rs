//! Jacobians, Hessians, directional derivatives and custom gradients: around loops, through them, and inside.

use millstream_autodiff::{CustomGradient, Derivatives, Gradients};
use millstream_graph::{Graph, Output};
use millstream_runtime::{Session, feed};
use millstream_tensor::{DType, PartialShape, Result, Tensor};
use std::sync::{Arc, Mutex};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn vector<'g>(g: &'g Graph, n: usize) -> Output<'g> {
    g.placeholder_of("x", DType::F64, PartialShape::from([n]))
}

/// Returns `x⁴`, elementwise, computed by a loop and multiplied by a matrix.
fn mixed<'g>(g: &'g Graph, x: Output<'g>) -> Result<Output<'g>> {
    let m = g.constant([[1.0f64, 2.0], [0.0, 3.0]]);
    let (_, y) = g
        .while_loop((g.constant(0), x))
        .run(|(i, _)| g.op("Less").input(i).input(3).output(), |(i, y)| (i + 1, y * x))?;
    let column = g.op("MatMul").inputs([m, g.op("Reshape").input(y).input([2, 1]).output()]).output();
    Ok(g.op("Reshape").input(column).input([2]).output())
}

#[track_caller]
fn near(got: &Tensor, want: &[f64]) {
    let got = got.as_slice::<f64>().unwrap_or_default();
    let close =
        got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-9 * w.abs().max(1.0));
    assert!(close, "got {got:?}, want {want:?}");
}

#[test]
fn jacobian_through_a_loop() -> Result<()> {
    let g = graph();
    let x = vector(&g, 2);
    let y = mixed(&g, x)?;
    let j = g.jacobian(y, x)?;
    let j: Tensor = Session::new(&g)?.run(j, feed![x => Tensor::vector(&[1.0, 2.0])?])?;
    // d x⁴ = 4 x³
    assert_eq!(j.shape().dims(), [2, 2]);
    near(&j, &[4.0, 64.0, 0.0, 96.0]);
    Ok(())
}

#[test]
fn hessian_through_a_loop() -> Result<()> {
    let g = graph();
    let x = vector(&g, 2);
    let y = mixed(&g, x)?;
    let h = g.hessians([y], [x])?[0];
    let h: Tensor = Session::new(&g)?.run(h, feed![x => Tensor::vector(&[1.0, 2.0])?])?;
    // The columns of the matrix sum to 1 and 5: 12 x² each.
    near(&h, &[12.0, 0.0, 0.0, 240.0]);
    Ok(())
}

#[test]
fn along_a_direction() -> Result<()> {
    let g = graph();
    let x = vector(&g, 2);
    let y = mixed(&g, x)?;
    let v = g.constant([1.0f64, 0.5]);
    let d = g.jvp(&[y], &[x], &[v])?[0];
    let d: Tensor = Session::new(&g)?.run(d, feed![x => Tensor::vector(&[1.0, 2.0])?])?;
    near(&d, &[4.0 + 32.0, 48.0]);
    Ok(())
}

#[test]
fn a_gradient_of_the_callers() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::F64, PartialShape::scalar());
    // log(1 + eˣ) with a gradient that does not overflow, in a loop, where the kept values are saved.
    let (_, y) = g.while_loop((g.constant(0), x)).run(
        |(i, _)| g.op("Less").input(i).input(2).output(),
        |(i, z)| {
            let soft = g.custom_gradient(
                &[z],
                |xs| {
                    let e = g.op("Exp").input(xs[0]).output();
                    Ok((vec![g.op("Log").input(e + 1.0).output()], vec![e]))
                },
                |cx| {
                    let (d, e) = (cx.grad(0), cx.kept(0));
                    cx.give(0, d * (1.0 - 1.0 / (1.0 + e)));
                    Ok(())
                },
            )?;
            Ok::<_, millstream_tensor::Error>((i + 1, soft[0]))
        },
    )?;
    let d = g.gradients([y], [x]).dense()?[0];
    let dd = g.gradients([d], [x]).dense()?[0];
    let f = |x: f64| (1.0 + (1.0 + x.exp()).ln().exp()).ln();
    let (d, dd): (f64, f64) = Session::new(&g)?.run((d, dd), feed![x => 0.3])?;
    let e = 1e-4;
    assert!((d - (f(0.3 + e) - f(0.3 - e)) / (2.0 * e)).abs() < 1e-7);
    assert!((dd - (f(0.3 + e) - 2.0 * f(0.3) + f(0.3 - e)) / (e * e)).abs() < 1e-6);
    Ok(())
}

/// Inputs, results and kept values are counted from 0, each by themselves.
#[test]
fn a_gradient_of_the_callers_with_several_values() -> Result<()> {
    let g = graph();
    let [x, y] = ["x", "y"].map(|name| g.placeholder_of(name, DType::F64, PartialShape::scalar()));
    let wanted = Arc::new(Mutex::new(Vec::new()));
    let told = wanted.clone();
    let z = g.custom_gradient(
        &[x, y],
        |xs| Ok((vec![xs[0] * xs[1], xs[0] + xs[1]], vec![xs[0] * 100.0, xs[1] * 1000.0])),
        move |cx| {
            told.lock().unwrap().push([0, 1].map(|i| cx.wants(i)));
            let d = cx.grad(0) + cx.grad(1) * 10.0;
            for i in 0..2 {
                let (value, kept) = (cx.x(i) + cx.y(i), cx.kept(i));
                cx.give(i, d * (value + kept));
            }
            Ok(())
        },
    )?;
    let total = z[0] + z[1] * 2.0;
    let d = [g.gradients([total], [x]).dense()?[0], g.gradients([total], [y]).dense()?[0]];
    let (dx, dy): (f64, f64) = Session::new(&g)?.run((d[0], d[1]), feed![x => 2.0, y => 3.0])?;
    // The results are 6 and 5, and 21 flows back.
    assert_eq!((dx, dy), (21.0 * (2.0 + 6.0 + 200.0), 21.0 * (3.0 + 5.0 + 3000.0)));
    assert_eq!(*wanted.lock().unwrap(), [[true, false], [false, true]]);
    Ok(())
}

#[test]
fn jacobian_by_a_variable() -> Result<()> {
    let g = graph();
    let shape = PartialShape::from([2, 2]);
    let v = g.op("VarHandleOp").attr("dtype", DType::F64).attr("shape", shape).output();
    let start = g.op("AssignVariableOp").input(v).input([[1.0f64, 2.0], [3.0, 4.0]]).finish();
    let value = g.op("ReadVariableOp").input(v).attr("dtype", DType::F64).output();
    let session = Session::new(&g)?;
    let () = session.run(start, feed![])?;
    let whole: Tensor = session.run(g.jacobian(value * value, v)?, feed![])?;
    assert_eq!(whole.shape().dims(), [2, 2, 2, 2]);
    near(&whole, &[2.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 8.0]);
    let rows: Tensor = session.run(g.batch_jacobian(value * value, v)?, feed![])?;
    assert_eq!(rows.shape().dims(), [2, 2, 2]);
    near(&rows, &[2.0, 0.0, 0.0, 4.0, 6.0, 0.0, 0.0, 8.0]);
    let unknown = g.placeholder_of("handle", DType::Resource, PartialShape::unknown());
    let error = g.jacobian(value, unknown).unwrap_err();
    assert!(error.to_string().contains("`handle:0` is a resource handle of unknown contents"), "{error}");
    Ok(())
}
