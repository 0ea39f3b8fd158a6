//! Every golden gradient: of graphs that TensorFlow 1.15 wrote, with its contexts and without, our gradients are what it computed.

use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Output};
use millstream_interop::{ImportOptions, read_graph};
use millstream_runtime::{FeedList, Target};
use millstream_tensor::{Error, Tensor};
use millstream_testkit::compare::Compare;
use millstream_testkit::graphs::{folders, npz, round_trip, typed};
use millstream_testkit::json::{self, Text};
use millstream_testkit::report::Report;
use millstream_testkit::tiers::{DATAFLOW, Setting, TIERS};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Cases that fail today, with the reason.
const KNOWN: &[(&str, &str)] = &[];

/// A golden gradient, loaded.
struct Case {
    feeds: Vec<(String, Tensor)>,
    targets: Vec<String>,
    ys: Vec<String>,
    xs: Vec<String>,
    grad_ys: Vec<Option<String>>,
    stop: Vec<String>,
    values: Vec<(Compare, Tensor)>,
    /// None where TensorFlow says that there is none.
    gradients: Vec<Option<(Compare, Tensor)>>,
    /// Whether the graph means the same without its contexts.
    plain: bool,
}

fn say(e: Error) -> String {
    format!("{}: {e}", e.code().name())
}

impl Case {
    fn load(folder: &Path) -> Text<Case> {
        let case = json::read(&folder.join("case.json"))?;
        let (feeds, values) = (npz(&folder.join("feeds.npz"))?, npz(&folder.join("values.npz"))?);
        let find = |arrays: &[(String, Tensor)], name: &str| {
            let found = arrays.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
            found.ok_or_else(|| format!("no array `{name}`"))
        };
        let named = |prefix: &str, i: usize, entry: &Value| -> Text<(Compare, Tensor)> {
            Ok((Compare::parse(entry)?, typed(entry, find(&values, &format!("{prefix}{i}"))?)?))
        };
        let owned = |key: &str| -> Text<Vec<String>> {
            Ok(json::texts(&case, key)?.into_iter().map(str::to_owned).collect())
        };
        let fed = |entry: &Value| -> Text<(String, Tensor)> {
            let name = json::text(entry, "name")?;
            Ok((name.to_owned(), typed(entry, find(&feeds, name)?)?))
        };
        let gradient = |(i, entry): (usize, &Value)| match entry {
            Value::Null => Ok(None),
            entry => named("d", i, entry).map(Some),
        };
        Ok(Case {
            feeds: json::list(&case, "feeds")?.iter().map(fed).collect::<Text<_>>()?,
            targets: owned("targets")?,
            ys: owned("ys")?,
            xs: owned("xs")?,
            grad_ys: json::list(&case, "grad_ys")?.iter().map(|v| v.as_str().map(str::to_owned)).collect(),
            stop: owned("stop")?,
            values: (json::list(&case, "values")?.iter().enumerate())
                .map(|(i, entry)| named("y", i, entry))
                .collect::<Text<_>>()?,
            gradients: json::list(&case, "gradients")?
                .iter()
                .enumerate()
                .map(gradient)
                .collect::<Text<_>>()?,
            plain: json::field(&case, "plain")?.as_bool().unwrap_or(true),
        })
    }

    /// Adds our gradients to the graph, and compares what they are with TensorFlow's.
    fn check(&self, graph: &Graph) -> Text<()> {
        let outputs = |names: &[String]| -> Text<Vec<Output<'_>>> {
            names.iter().map(|n| graph.output(n).map_err(say)).collect()
        };
        let (ys, xs) = (outputs(&self.ys)?, outputs(&self.xs)?);
        let mut asked = graph.gradients(ys.clone(), xs.clone()).stop_gradients(outputs(&self.stop)?);
        if !self.grad_ys.is_empty() {
            let seed = |name: &Option<String>| name.as_ref().map(|n| graph.output(n)).transpose();
            let seeds = self.grad_ys.iter().map(seed).collect::<Result<Vec<_>, _>>().map_err(say)?;
            asked = asked.grad_ys(seeds);
        }
        let grads = asked.run().map_err(say)?;
        for ((grad, want), x) in grads.iter().zip(&self.gradients).zip(&self.xs) {
            match (grad, want) {
                (Some(_), None) => {
                    return Err(format!("there is a gradient by `{x}`, but TensorFlow says None"));
                }
                (None, Some(_)) => return Err(format!("there is no gradient by `{x}`")),
                _ => {}
            }
        }
        let mut fetches = ys;
        for (grad, x) in grads.into_iter().zip(xs) {
            let shape = graph.op("Shape").input(x).output();
            match grad {
                None => {}
                Some(millstream_graph::Grad::Dense(grad)) => fetches.push(grad),
                Some(millstream_graph::Grad::Slices(s)) => {
                    fetches.push(s.to_dense(s.dense_shape.unwrap_or(shape)))
                }
                Some(grad) => return Err(format!("the gradient of a tensor is {grad:?}")),
            }
        }
        graph.check().map_err(say)?;
        let wanted: Vec<&(Compare, Tensor)> =
            self.values.iter().chain(self.gradients.iter().flatten()).collect();
        for setting in TIERS.iter().chain([&ONE_ITERATION]) {
            let got = self.run(graph, setting, &fetches)?;
            for ((got, (how, want)), fetch) in got.iter().zip(&wanted).zip(&fetches) {
                how.check(got, want).map_err(|e| format!("{setting}: `{}`: {e}", fetch.name()))?;
            }
        }
        Ok(())
    }

    fn run(&self, graph: &Graph, setting: &Setting, fetches: &[Output<'_>]) -> Text<Vec<Tensor>> {
        let session = setting.session(graph, Some(Duration::from_secs(60))).map_err(say)?;
        let feeds = || -> Result<FeedList, Error> {
            self.feeds.iter().try_fold(FeedList::new(), |list, (name, value)| {
                Ok(list.and(session.graph().output(name)?, value))
            })
        };
        for target in &self.targets {
            let target = vec![Target::Operation(graph.operation(target).map_err(say)?.id())];
            session.run::<Vec<Tensor>>(target, feeds().map_err(say)?).map_err(say)?;
        }
        let fetches: Vec<Target> = fetches.iter().map(|o| Target::Value(o.port())).collect();
        session.run(fetches, feeds().map_err(say)?).map_err(|e| format!("{setting}: {}", say(e)))
    }
}

/// One iteration at a time.
const ONE_ITERATION: Setting = Setting { threads: 1, parallel_iterations: Some(1), ..DATAFLOW };

fn import(path: &Path) -> Text<Graph> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    read_graph(&bytes).and_then(|file| file.import(&graph, &ImportOptions::default())).map_err(say)?;
    Ok(graph)
}

fn check(folder: &Path) -> Text<()> {
    let case = Case::load(folder)?;
    let graph = import(&folder.join("meta.pb"))?;
    case.check(&graph).map_err(|e| format!("with contexts: {e}"))?;
    round_trip(&graph).map_err(|e| format!("with its gradients: {e}"))?;
    if case.plain {
        let graph = import(&folder.join("graph.pb"))?;
        case.check(&graph).map_err(|e| format!("without contexts: {e}"))?;
    }
    Ok(())
}

#[test]
fn golden_gradients() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/gradients");
    let only = std::env::var("MILLSTREAM_CASE").ok();
    let mut report = Report::new();
    for folder in folders(&root).unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let reason = KNOWN.iter().find(|(case, _)| *case == name).map(|(_, reason)| *reason);
        report.run(&name, reason, || check(&folder));
    }
    assert!(report.passed() > 0, "no golden gradients under {}", root.display());
    report.finish("golden gradients");
}
