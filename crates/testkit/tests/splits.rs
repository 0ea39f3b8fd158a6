//! Runs in two parts, [`Session::make_split`]: values and then gradients, as often as asked.
//!
//! They equal those of one run, nothing is computed twice, branches that were not taken stay so, and what is
//! refused names its cause.

use millstream::prelude::*;
use millstream::{Code, Residuals, RunOptions, SessionOptions, Split, SplitParts};
use millstream_testkit::second::{PROGRAMS, Saving, derivatives};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// The values `ys` of `xs`, and their gradients for the cotangents that are fed.
fn parts<'g>(g: &'g Graph, xs: &[Output<'g>], ys: &[Output<'g>]) -> Result<(SplitParts, Vec<Output<'g>>)> {
    let cotangents = ys
        .iter()
        .enumerate()
        .map(|(i, y)| Ok(g.placeholder_of(&format!("cotangent{i}"), y.dtype()?, y.shape())))
        .collect::<Result<Vec<_>>>()?;
    let grads = g.gradients(ys.to_vec(), xs.to_vec()).grad_ys(cotangents.iter().copied()).dense()?;
    let parts = SplitParts::of_gradients(xs, ys, &cotangents, &grads);
    Ok((parts, cotangents.into_iter().chain(grads).collect()))
}

fn forward(split: &Arc<Split>, feeds: Vec<Tensor>) -> Result<(Vec<Tensor>, Residuals)> {
    split.forward(feeds, &RunOptions::default())
}

fn backward(residuals: &Residuals, late: f64) -> Result<Vec<f64>> {
    let found = residuals.backward(vec![Tensor::from(late)], &RunOptions::default())?;
    Ok(found[0].as_slice::<f64>()?.to_vec())
}

#[track_caller]
fn refused<T>(result: Result<T>, parts: &[&str]) {
    let Err(error) = result else { panic!("that should have failed") };
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "no `{part}` in\n{error}");
    }
}

#[test]
fn gradients_of_loops_are_those_of_one_run() -> Result<()> {
    for (name, program) in PROGRAMS {
        for saving in [Saving::All, Saving::Every2] {
            let point = derivatives(name).unwrap().x;
            let g = Graph::new();
            let x = g.placeholder::<f64>("x", [point.len()]);
            let y = program(&g, x, saving)?;
            let (parts, made) = parts(&g, &[x], &[y])?;
            let session = Session::new(&g)?;
            let point = Tensor::vector(&point)?;
            let (values, residuals) = forward(&session.make_split(&parts)?, vec![point.clone()])?;
            let whole: f64 = session.run(y, feed![x => point.clone()])?;
            assert_eq!(values[0].to_scalar::<f64>()?, whole, "{name}");
            for cotangent in [1.0, -3.0] {
                let once: Tensor = session.run(made[1], feed![x => point.clone(), made[0] => cotangent])?;
                assert_eq!(backward(&residuals, cotangent)?, once.as_slice::<f64>()?, "{name}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_first_part_runs_once() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![]);
    let seen = g.op("Print").input(x).inputs([x]).attr("message", "x ").output();
    let y = seen.exp() * seen;
    let (parts, _) = parts(&g, &[x], &[y])?;
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let print = move |_: &str| {
        counter.fetch_add(1, Relaxed);
    };
    let options = SessionOptions { print: Some(Box::new(print)), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    let split = session.make_split(&parts)?;
    assert_eq!(count.load(Relaxed), 0);
    let (values, residuals) = forward(&split, vec![Tensor::from(0.0)])?;
    assert_eq!(values[0].to_scalar::<f64>()?, 0.0);
    for c in [1.0, 2.0, 3.0] {
        assert_eq!(backward(&residuals, c)?, [c]);
    }
    assert_eq!(count.load(Relaxed), 1);
    // `exp(x)` and `x` are kept, eight bytes each.
    assert!((8..=24).contains(&residuals.bytes()), "{residuals:?}");
    Ok(())
}

#[test]
fn residuals_of_several_runs_are_kept_apart() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![]);
    let [y] = g.while_loop([x]).run(|[y]| y.less(100.0), |[y]| [y * y])?;
    let (parts, _) = parts(&g, &[x], &[y])?;
    let session = Session::new(&g)?;
    let split = session.make_split(&parts)?;
    // The gradient of x^8 and x^16: the runs iterate three and four times.
    let kept = [3.0, 1.5].map(|x| forward(&split, vec![Tensor::from(x)]));
    let [(_, three), (_, four)] = kept.map(|k| k.unwrap());
    let gradient = |x: f64, n: i32| f64::from(n) * x.powi(n - 1);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..50 {
                    let (a, b) = (backward(&four, 1.0).unwrap(), backward(&three, 1.0).unwrap());
                    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
                    assert!(close(a[0], gradient(1.5, 16)), "{a:?}");
                    assert!(close(b[0], gradient(3.0, 8)), "{b:?}");
                }
            });
        }
    });
    Ok(())
}

#[test]
fn branches_that_were_not_taken_stay_so() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![]);
    let y: Output = g.cond(x.less(0.0), || x * x, || x.exp())?;
    let (parts, _) = parts(&g, &[x], &[y])?;
    let session = Session::new(&g)?;
    let split = session.make_split(&parts)?;
    for (at, slope) in [(-3.0, -6.0), (0.0, 1.0)] {
        let (_, residuals) = forward(&split, vec![Tensor::from(at)])?;
        assert_eq!(backward(&residuals, 1.0)?, [slope]);
    }
    Ok(())
}

#[test]
fn what_is_refused() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![]);
    let late = g.placeholder::<f64>("late", shape![]);
    let y = x.exp();
    let session = Session::new(&g)?;
    let all = |fetches: &[Output<'_>], late_fetches: &[Output<'_>]| {
        SplitParts::of_gradients(&[x], fetches, &[late], late_fetches)
    };
    // A fetch of the first part that needs a late feed.
    refused(session.make_split(&all(&[y * late], &[y * late])), &["`late`", "must be fed"]);
    // Too few feeds, and one of another type.
    let split = session.make_split(&all(&[y], &[y * late]))?;
    refused(forward(&split, vec![]), &["takes 1 values but was called with 0"]);
    refused(forward(&split, vec![Tensor::from(1i32)]), &["`x:0` takes f64"]);
    let (_, residuals) = forward(&split, vec![Tensor::from(0.0)])?;
    refused(residuals.backward(vec![Tensor::from(1.0f32)], &RunOptions::default()), &["`late:0` takes f64"]);
    refused(residuals.backward(vec![], &RunOptions::default()), &[]);
    assert_eq!(backward(&residuals, 7.0)?, [7.0]);
    // An effect that the second part would repeat.
    let said = g.op("Print").input(x).inputs([x]).attr("message", "").output();
    let after = g.control_dependencies([said.op()], || g.op("Neg").input(late).output());
    refused(session.make_split(&all(&[y], &[after])), &["`Print` has an effect", "use its value"]);
    session.close();
    assert_eq!(
        forward(&split, vec![Tensor::from(0.0)]).map(|_| ()).map_err(|e| e.code()),
        Err(Code::Cancelled)
    );
    Ok(())
}
