//! First, second and third derivatives through loops, against those that JAX computed for the unrolled
//! programs (`tests/golden/make_second.py`). With checkpoints, the first and second ones are the same.

use millstream::Derivatives;
use millstream::prelude::*;
use millstream_testkit::second::{Derivatives as Wanted, PROGRAMS, Saving, derivatives, orders};

#[track_caller]
fn near(what: &str, got: &Tensor, want: &[f64]) {
    let got = got.as_slice::<f64>().unwrap_or_default();
    let size = want.iter().fold(1e-3f64, |m, w| m.max(w.abs()));
    let close = got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-10 * size);
    assert!(close, "{what}: got {got:?}, want {want:?}");
}

/// The product of the Hessian and `v`.
fn product(hessian: &[f64], v: &[f64]) -> Vec<f64> {
    let entry = |i: usize, j: usize| hessian[j * v.len() + i] * v[j];
    (0..v.len()).map(|i| (0..v.len()).map(|j| entry(i, j)).sum()).collect()
}

#[test]
fn three_orders_as_jax_says() -> Result<()> {
    for (name, program) in PROGRAMS {
        let want = derivatives(name).unwrap();
        let g = Graph::new();
        let x = g.placeholder::<f64>("x", [want.x.len()]);
        let y = program(&g, x, Saving::All)?;
        let along = g.constant(Tensor::vector(&want.along)?);
        let mut fetches = orders(&g, x, y, along, 3)?;
        fetches.push(g.hessians([y], [x])?[0]);
        // The Hessian is symmetric, so forward mode along the direction gives the same.
        fetches.push(g.jvp(&[fetches[1]], &[x], &[along])?[0]);
        let got: Vec<Tensor> = Session::new(&g)?.run(fetches, feed![x => Tensor::vector(&want.x)?])?;
        let Wanted { value, gradient, hessian, third, along, .. } = want;
        let directed = product(&hessian, &along);
        let rows = [
            ("value", &value),
            ("gradient", &gradient),
            ("second order", &directed),
            ("third order", &third),
            ("Hessian", &hessian),
            ("forward over reverse", &directed),
        ];
        for (got, (what, want)) in got.iter().zip(rows) {
            near(&format!("{name}, {what}"), got, want);
        }
    }
    Ok(())
}

#[test]
fn two_orders_with_checkpoints() -> Result<()> {
    for (name, program) in PROGRAMS {
        for saving in [Saving::Every2, Saving::Auto] {
            let want = derivatives(name).unwrap();
            let g = Graph::new();
            let x = g.placeholder::<f64>("x", [want.x.len()]);
            let along = g.constant(Tensor::vector(&want.along)?);
            let y = program(&g, x, saving)?;
            let fetches = orders(&g, x, y, along, 2)?;
            let got: Vec<Tensor> = Session::new(&g)?.run(fetches, feed![x => Tensor::vector(&want.x)?])?;
            near(&format!("{name}, {saving:?}, gradient"), &got[1], &want.gradient);
            near(&format!("{name}, {saving:?}, second order"), &got[2], &product(&want.hessian, &want.along));
        }
    }
    Ok(())
}
