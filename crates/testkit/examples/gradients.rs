//! Writes graphs with our gradients to folders in the format of the golden graphs, for a real TensorFlow to
//! run:
//!
//! ```text
//! cargo run -p millstream-testkit --example gradients -- OUT FIRST_SEED COUNT
//! python tests/golden/check_ours.py OUT
//! ```
//!
//! - `golden_*`: the forward graphs of `tests/golden/gradients`; TensorFlow 1.15's own gradients are
//!   expected;
//! - `jax_*`: derivatives through loops up to the third order, as JAX computes them; with checkpoints, up to
//!   the first;
//! - `probe_*`: the table of `crates/millstream/examples/probes.rs`;
//! - `net_*`: our recurrent nets with the gradients of their weights; the values that this engine computes
//!   are expected;
//! - `random_*`: random programs with loops, branches, lists and checkpoints, differentiated once and twice;
//!   the values that this engine computes are expected.

#[path = "../../millstream/examples/probes.rs"]
#[expect(dead_code, reason = "its table is enough")]
mod probes;

use millstream::prelude::*;
use millstream::rnn::{BasicLstmCell, GruCell};
use millstream::{BareGraph, Recurrent};
use millstream_runtime::{FeedList, Target};
use millstream_testkit::gradients::GoldenGradients;
use millstream_testkit::graphs::{Written, folders, store};
use millstream_testkit::second::{PROGRAMS, Saving, derivatives, orders};
use millstream_testkit::smooth::{Smooth, WIDTH};
use millstream_testkit::tiers::DATAFLOW;
use std::path::{Path, PathBuf};

type Done = std::result::Result<(), Box<dyn std::error::Error>>;

/// The allowed difference of the numbers, beyond the precision of their dtype.
const APART: f64 = 1e-9;

#[expect(clippy::print_stdout, reason = "this is a program")]
fn main() -> Done {
    let mut args = std::env::args().skip(1);
    let out = PathBuf::from(args.next().ok_or("where to?")?);
    let first: u64 = args.next().ok_or("from which seed?")?.parse()?;
    let count: u64 = args.next().ok_or("how many?")?.parse()?;
    golden(&out)?;
    jax(&out)?;
    for probe in probes::PROBES {
        let g = Graph::new();
        let probes::Fed { answer, feeds } = (probe.build)(&g)?;
        let feeds: Vec<(String, Tensor)> = feeds.into_iter().map(|(x, v)| (x.name(), v)).collect();
        let right = Tensor::scalar(probe.right as f32);
        let name = probe.name.replace([' ', ','], "_");
        let what = What { g: &g, feeds: &feeds, targets: &[], fetches: &[answer.reduce_sum(())] };
        what.write(&out.join(format!("probe_{name}")), Some(vec![right]))?;
    }
    nets(&out)?;
    for seed in first..first + count {
        random(&out.join(format!("random_{seed}")), seed)?;
    }
    println!("{} graphs written", folders(&out)?.len());
    Ok(())
}

/// A graph with its feeds, targets and fetches.
struct What<'a, 'g> {
    g: &'g BareGraph,
    feeds: &'a [(String, Tensor)],
    targets: &'a [String],
    fetches: &'a [Output<'g>],
}

impl What<'_, '_> {
    /// Writes the graph with the expected values; by default those that this engine computes.
    fn write(&self, folder: &Path, wanted: Option<Vec<Tensor>>) -> Done {
        let values = match wanted {
            Some(values) => values,
            None => {
                let session = DATAFLOW.session(self.g, None)?;
                let feeds = || {
                    let feeds = self.feeds.iter();
                    feeds
                        .map(|(name, v)| Ok((self.g.output(name)?, v)))
                        .try_fold(FeedList::new(), |list, fed: Result<(Output<'_>, &Tensor)>| {
                            fed.map(|(x, v)| list.and(x, v))
                        })
                };
                for target in self.targets {
                    let target = vec![Target::Operation(self.g.operation(target)?.id())];
                    session.run::<Vec<Tensor>>(target, feeds()?)?;
                }
                let fetches: Vec<Target> = self.fetches.iter().map(|o| Target::Value(o.port())).collect();
                session.run(fetches, feeds()?)?
            }
        };
        let fetches: Vec<String> = self.fetches.iter().copied().map(|o| o.name()).collect();
        let result = Ok(values.as_slice());
        let (graph, feeds, targets) = (self.g, self.feeds, self.targets);
        store(folder, &Written { graph, feeds, targets, fetches: &fetches, result, apart: APART })
    }
}

fn golden(out: &Path) -> Done {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/gradients");
    for folder in folders(&root)? {
        let case = GoldenGradients::load(&folder)?;
        let graph = case.import(true)?;
        let fetches = case.add(&graph)?;
        let values = case.wanted().map(|(_, value)| value.clone()).collect();
        let what = What { g: &graph, feeds: &case.feeds, targets: &case.targets, fetches: &fetches };
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        what.write(&out.join(format!("golden_{name}")), Some(values))?;
    }
    Ok(())
}

fn jax(out: &Path) -> Done {
    for (name, program) in PROGRAMS {
        let want = derivatives(name)?;
        for (saving, up_to) in [(Saving::All, 3), (Saving::Every2, 1), (Saving::Auto, 1)] {
            let g = Graph::new();
            let x = g.placeholder::<f64>("x", [want.x.len()]);
            let along = g.constant(Tensor::vector(&want.along)?);
            let y = program(&g, x, saving)?;
            let fetches = orders(&g, x, y, along, up_to)?;
            let n = want.x.len();
            let second: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| want.hessian[j * n + i] * want.along[j]).sum()).collect();
            let mut values = vec![Tensor::scalar(want.value[0])];
            for row in [&want.gradient, &second, &want.third].into_iter().take(up_to) {
                values.push(Tensor::vector(row)?);
            }
            let feeds = [(x.name(), Tensor::vector(&want.x)?)];
            let what = What { g: &g, feeds: &feeds, targets: &[], fetches: &fetches };
            what.write(&out.join(format!("jax_{name}_{saving:?}")), Some(values))?;
        }
    }
    Ok(())
}

fn nets(out: &Path) -> Done {
    net(out, "lstm", |g, x, lengths| {
        let mut cell = BasicLstmCell::new(4);
        let net = g.dynamic_rnn(&mut cell, x);
        let net = match lengths {
            Some(lengths) => net.sequence_length(lengths),
            None => net,
        };
        Ok(net.run()?.0)
    })?;
    net(out, "gru", |g, x, lengths| {
        let mut cell = GruCell::new(4);
        let net = g.dynamic_rnn(&mut cell, x);
        let net = match lengths {
            Some(lengths) => net.sequence_length(lengths),
            None => net,
        };
        Ok(net.run()?.0)
    })
}

fn net(
    out: &Path,
    kind: &str,
    build: for<'g> fn(&'g Graph, Output<'g>, Option<Output<'g>>) -> Result<Output<'g>>,
) -> Done {
    for with_lengths in [false, true] {
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", [3, 5, 2]);
        let lengths = with_lengths.then(|| g.placeholder::<i32>("lengths", [3]));
        let loss = build(&g, x, lengths)?.square().reduce_sum(());
        let weights = g.trainable_variables();
        let mut xs: Vec<Output<'_>> = weights.iter().map(Variable::handle).collect();
        xs.push(x);
        let mut fetches = vec![loss];
        fetches.extend(g.gradients([loss], xs).dense()?);
        // The weights are set, so that TensorFlow need not draw the same random numbers.
        let numbers = |n: usize| (0..n).map(|i| (i as f32 * 0.7).sin()).collect::<Vec<f32>>();
        let mut inits = Vec::new();
        for (i, weight) in weights.iter().enumerate() {
            let shape = weight.shape().full().ok_or("a weight of unknown shape")?;
            let value = Tensor::from_slice(shape.clone(), &numbers(shape.elements()))?;
            inits.push(weight.assign(g.constant(value) * (1.0 / (i + 1) as f32)));
        }
        let init = g.group(inits);
        let mut feeds = vec![(x.name(), Tensor::from_slice([3, 5, 2], &numbers(30))?)];
        if let Some(lengths) = lengths {
            feeds.push((lengths.name(), Tensor::vector(&[5, 2, 3])?));
        }
        let targets = [init.name()];
        let what = What { g: &g, feeds: &feeds, targets: &targets, fetches: &fetches };
        let name = if with_lengths { format!("net_{kind}_lengths") } else { format!("net_{kind}") };
        what.write(&out.join(name), None)?;
    }
    Ok(())
}

fn random(folder: &Path, seed: u64) -> Done {
    let g = Graph::new();
    let [x, v, y] = Smooth::from_seed(seed).graph(&g)?;
    let mut fetches = vec![y];
    for order in 0..2 {
        let grads = g.gradients([fetches[order]], [x, v]).dense()?;
        fetches.push(grads[0] + grads[1].reduce_sum(()) * 0.5);
    }
    let point: [f64; WIDTH] = std::array::from_fn(|i| (seed as f64 + i as f64).cos() * 0.9);
    let feeds = [(x.name(), Tensor::scalar((seed as f64).sin())), (v.name(), Tensor::vector(&point)?)];
    What { g: &g, feeds: &feeds, targets: &[], fetches: &fetches }.write(folder, None)
}
