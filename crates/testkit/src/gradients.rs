//! Golden gradients: folders with a forward graph that TensorFlow wrote and the gradients that its
//! `tf.gradients` computed. `tests/golden/make_gradients.py` defines the format.

use crate::compare::Compare;
use crate::graphs::{npz, typed};
use crate::json::{self, Text};
use crate::tiers::Setting;
use millstream_autodiff::Gradients;
use millstream_graph::{Grad, Graph, Output};
use millstream_interop::{ImportOptions, read_graph};
use millstream_runtime::{FeedList, Target};
use millstream_tensor::{Error, Tensor};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A loaded case of golden gradients.
pub struct GoldenGradients {
    folder: PathBuf,
    /// The feeds, by name.
    pub feeds: Vec<(String, Tensor)>,
    /// The operations to run first.
    pub targets: Vec<String>,
    ys: Vec<String>,
    xs: Vec<String>,
    grad_ys: Vec<Option<String>>,
    stop: Vec<String>,
    values: Vec<(Compare, Tensor)>,
    /// The expected gradients; `None` where TensorFlow returns None.
    gradients: Vec<Option<(Compare, Tensor)>>,
    /// Whether the graph means the same without its contexts.
    pub plain: bool,
}

impl std::fmt::Debug for GoldenGradients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoldenGradients").field("folder", &self.folder).finish_non_exhaustive()
    }
}

fn say(e: Error) -> String {
    format!("{}: {e}", e.code().name())
}

impl GoldenGradients {
    /// Reads a folder.
    pub fn load(folder: &Path) -> Text<GoldenGradients> {
        let case = json::read(&folder.join("case.json"))?;
        let (feeds, values) = (npz(&folder.join("feeds.npz"))?, npz(&folder.join("values.npz"))?);
        let find = |arrays: &[(String, Tensor)], name: &str| {
            let found = arrays.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
            found.ok_or_else(|| format!("no array `{name}`"))
        };
        let value = |name: String, entry: &Value| -> Text<(Compare, Tensor)> {
            Ok((Compare::parse(entry)?, typed(entry, find(&values, &name)?)?))
        };
        let gradient = |(i, entry): (usize, &Value)| match entry {
            Value::Null => Ok(None),
            entry => value(format!("d{i}"), entry).map(Some),
        };
        let feed = |entry: &Value| -> Text<(String, Tensor)> {
            let name = json::text(entry, "name")?;
            Ok((name.to_owned(), typed(entry, find(&feeds, name)?)?))
        };
        let names = |key: &str| -> Text<Vec<String>> {
            Ok(json::texts(&case, key)?.into_iter().map(str::to_owned).collect())
        };
        let list = |key: &str| json::list(&case, key).map(|entries| entries.iter());
        Ok(GoldenGradients {
            folder: folder.to_owned(),
            feeds: list("feeds")?.map(feed).collect::<Text<_>>()?,
            targets: names("targets")?,
            ys: names("ys")?,
            xs: names("xs")?,
            grad_ys: list("grad_ys")?.map(|name| name.as_str().map(str::to_owned)).collect(),
            stop: names("stop")?,
            values: (list("values")?.enumerate())
                .map(|(i, entry)| value(format!("y{i}"), entry))
                .collect::<Text<_>>()?,
            gradients: list("gradients")?.enumerate().map(gradient).collect::<Text<_>>()?,
            plain: json::field(&case, "plain")?.as_bool().unwrap_or(true),
        })
    }

    /// Imports the forward graph, with or without TensorFlow's contexts.
    pub fn import(&self, with_contexts: bool) -> Text<Graph> {
        let graph = Graph::with_ops(millstream_ops::registry());
        let file = if with_contexts { "meta.pb" } else { "graph.pb" };
        let bytes = std::fs::read(self.folder.join(file)).map_err(|e| e.to_string())?;
        read_graph(&bytes).and_then(|file| file.import(&graph, &ImportOptions::default())).map_err(say)?;
        Ok(graph)
    }

    /// Adds our gradients to the graph. Returns the ys and the gradients that exist.
    pub fn add<'g>(&self, graph: &'g Graph) -> Text<Vec<Output<'g>>> {
        let outputs = |names: &[String]| -> Text<Vec<Output<'g>>> {
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
        let mut all = ys;
        for ((grad, want), (x, name)) in
            grads.into_iter().zip(&self.gradients).zip(xs.into_iter().zip(&self.xs))
        {
            match (grad, want) {
                (None, None) => {}
                (Some(Grad::Dense(grad)), Some(_)) => all.push(grad),
                (Some(Grad::Slices(s)), Some(_)) => {
                    let shape = s.dense_shape.unwrap_or_else(|| graph.op("Shape").input(x).output());
                    all.push(s.to_dense(shape));
                }
                (Some(_), None) => {
                    return Err(format!("there is a gradient by `{name}`, but TensorFlow says None"));
                }
                (_, Some(_)) => return Err(format!("there is no gradient by `{name}`")),
            }
        }
        graph.check().map_err(say)?;
        Ok(all)
    }

    /// The number of ys.
    pub fn n_ys(&self) -> usize {
        self.ys.len()
    }

    /// Whether the gradients are taken with respect to the value of this name.
    pub fn is_x(&self, name: &str) -> bool {
        self.xs.iter().any(|x| x == name)
    }

    /// The expected values of the outputs that [`GoldenGradients::add`] returns, and how to compare them.
    pub fn wanted(&self) -> impl Iterator<Item = &(Compare, Tensor)> {
        self.values.iter().chain(self.gradients.iter().flatten())
    }

    /// Runs the outputs that [`GoldenGradients::add`] returns, and compares them.
    pub fn check(&self, graph: &Graph, outputs: &[Output<'_>], setting: &Setting) -> Text<()> {
        let session = setting.session(graph, Some(Duration::from_secs(60))).map_err(say)?;
        let feeds = || -> Result<FeedList, Error> {
            self.feeds.iter().try_fold(FeedList::new(), |list, (name, value)| {
                Ok(list.and(session.graph().output(name)?, value))
            })
        };
        let run = |fetches| session.run::<Vec<Tensor>>(fetches, feeds()?);
        for target in &self.targets {
            let op = graph.operation(target).map_err(say)?.id();
            run(vec![Target::Operation(op)]).map_err(say)?;
        }
        let fetches = outputs.iter().map(|o| Target::Value(o.port())).collect();
        let got = run(fetches).map_err(|e| format!("{setting}: {}", say(e)))?;
        for ((got, (how, want)), output) in got.iter().zip(self.wanted()).zip(outputs) {
            how.check(got, want).map_err(|e| format!("{setting}: `{}`: {e}", output.name()))?;
        }
        Ok(())
    }
}
