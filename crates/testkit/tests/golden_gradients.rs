//! Every golden gradient: for graphs that TensorFlow 1.15 wrote, with and without its contexts, our gradients
//! equal those that it computed.

use millstream_autodiff::Gradients;
use millstream_graph::Output;
use millstream_runtime::{FeedList, Session, Target};
use millstream_tensor::{DType, Tensor};
use millstream_testkit::gradients::GoldenGradients;
use millstream_testkit::graphs::{folders, round_trip};
use millstream_testkit::report::Report;
use millstream_testkit::tiers::{DATAFLOW, Setting, TIERS};
use std::path::{Path, PathBuf};

/// Cases that fail today, with the reason.
const KNOWN: &[(&str, &str)] = &[];

/// Cases whose second derivatives differ from central differences, with the reason.
const KNOWN_TWICE: &[(&str, &str)] = &[
    ("loop_no_back_prop", "the loop that lets no gradient through moves all the same"),
    ("loop_stop_gradient", "what the gradient is stopped at moves all the same"),
];

/// One iteration at a time.
const ONE_ITERATION: Setting = Setting { threads: 1, parallel_iterations: Some(1), ..DATAFLOW };

fn check(folder: &Path) -> Result<(), String> {
    let case = GoldenGradients::load(folder)?;
    for with_contexts in [true, false] {
        if !with_contexts && !case.plain {
            continue;
        }
        let how = if with_contexts { "with contexts" } else { "without contexts" };
        let graph = case.import(with_contexts)?;
        let outputs = case.add(&graph).map_err(|e| format!("{how}: {e}"))?;
        for setting in TIERS.iter().chain([&ONE_ITERATION]) {
            case.check(&graph, &outputs, setting).map_err(|e| format!("{how}: {e}"))?;
        }
        round_trip(&graph).map_err(|e| format!("{how}: {e}"))?;
    }
    Ok(())
}

fn run(suite: &str, known: &[(&str, &str)], check: fn(&Path) -> Result<(), String>) {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/gradients");
    let mut report = Report::new();
    for folder in folders(&root).unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let reason = known.iter().find(|(case, _)| *case == name).map(|(_, reason)| *reason);
        report.run(&name, reason, || check(&folder));
    }
    assert!(report.passed() > 0, "no golden gradients under {}", root.display());
    report.finish(suite);
}

#[test]
fn golden_gradients() {
    run("golden gradients", KNOWN, check);
}

/// TensorFlow 1 differentiates none of these loops twice. Central differences of its gradients, which ours
/// equal, are the reference.
#[test]
fn second_derivatives_are_those_of_differences() {
    run("second derivatives of golden graphs", KNOWN_TWICE, |folder| {
        twice(folder).map_err(|e| e.to_string())
    });
}

/// Numbers between -1 and 1, in the shape and dtype of a tensor.
fn some(like: &Tensor, seed: f64) -> Result<Tensor, millstream_tensor::Error> {
    let numbers = (0..like.elements()).map(|i| (seed + i as f64 * 1.3).sin());
    match like.dtype() {
        DType::F32 => Tensor::from_iter(like.shape().clone(), numbers.map(|v| v as f32).collect::<Vec<_>>()),
        _ => Tensor::from_iter(like.shape().clone(), numbers.collect::<Vec<f64>>()),
    }
}

/// Returns `x + step * along`.
fn moved(x: &Tensor, along: &Tensor, step: f64) -> Result<Tensor, millstream_tensor::Error> {
    let shape = x.shape().clone();
    if let (Ok(x), Ok(along)) = (x.as_slice::<f32>(), along.as_slice::<f32>()) {
        let sums = x.iter().zip(along).map(|(x, a)| x + step as f32 * a);
        return Tensor::from_iter(shape, sums.collect::<Vec<_>>());
    }
    let sums = x.as_slice::<f64>()?.iter().zip(along.as_slice::<f64>()?).map(|(x, a)| x + step * a);
    Tensor::from_iter(shape, sums.collect::<Vec<_>>())
}

fn twice(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let case = GoldenGradients::load(folder)?;
    let graph = case.import(true)?;
    let outputs = case.add(&graph)?;
    let product = |a: Output<'_>, b: &Tensor, seed| -> Result<_, millstream_tensor::Error> {
        let all = graph.op("Reshape").input(a * graph.constant(some(b, seed)?)).input([-1]).output();
        let sum = graph.op("Sum").input(all).input(0).output();
        Ok(graph.op("Cast").input(sum).attr("DstT", DType::F64).output().port())
    };
    let total = |ports: Vec<millstream_graph::Port>| {
        ports.into_iter().map(|p| Output::new(&graph, p)).reduce(|a, b| a + b).ok_or("nothing to sum")
    };
    // A weighted sum of the gradients, and its derivative along a direction.
    let first = outputs.iter().zip(case.wanted()).skip(case.n_ys());
    let first: Result<Vec<_>, _> = first.map(|(d, (_, value))| product(*d, value, 0.3)).collect();
    let first = total(first?)?;
    let moving: Vec<&(String, Tensor)> =
        case.feeds.iter().filter(|(name, value)| value.dtype().is_float() && case.is_x(name)).collect();
    let xs = moving.iter().map(|(name, _)| graph.output(name)).collect::<Result<Vec<_>, _>>()?;
    let second = graph.gradients([first], xs).dense()?;
    let second: Result<Vec<_>, _> =
        second.into_iter().zip(&moving).map(|(h, (_, value))| product(h, value, 0.7)).collect();
    let second = total(second?)?;
    graph.check()?;

    let session = Session::new(&graph)?;
    let at = |step: f64, fetch: Output<'_>| -> Result<f64, millstream_tensor::Error> {
        let mut feeds = FeedList::new();
        for (name, value) in &case.feeds {
            let moves = moving.iter().any(|(moving, _)| moving == name);
            let value = if moves { moved(value, &some(value, 0.7)?, step)? } else { value.clone() };
            feeds = feeds.and(graph.output(name)?, value);
        }
        session.run(fetch, feeds)
    };
    for target in &case.targets {
        let target = vec![Target::Operation(graph.operation(target)?.id())];
        session.run::<Vec<Tensor>>(target, FeedList::new())?;
    }
    let single = moving.iter().any(|(_, value)| value.dtype() == DType::F32);
    let (step, near) = if single { (1e-2, 1e-2) } else { (1e-5, 1e-6) };
    let want = (at(step, first)? - at(-step, first)?) / (2.0 * step);
    let got = at(0.0, second)?;
    match (got - want).abs() <= near * want.abs().max(1.0) {
        true => Ok(()),
        false => Err(format!("the second derivative is {got}, differences say {want}").into()),
    }
}
