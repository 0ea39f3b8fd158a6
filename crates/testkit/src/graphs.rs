//! Golden graphs: folders with a graph that TensorFlow wrote, its feeds, and the values that TensorFlow
//! computed. `tests/golden/README.md` defines the format.

use crate::compare::Compare;
use crate::json::{self, Text};
use crate::tiers::Setting;
use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Port};
use millstream_interop::{ImportOptions, export_graph_def, import_graph_def};
use millstream_proto::GraphDef;
use millstream_runtime::{Explanation, FeedList, Session, Target};
use millstream_tensor::npy::Compression;
use millstream_tensor::{DType, Tensor, npy};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folders of golden graphs under `root`, sorted by name.
pub fn folders(root: &Path) -> Text<Vec<PathBuf>> {
    let entries = std::fs::read_dir(root).map_err(|e| format!("{}: {e}", root.display()))?;
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.join("case.json").is_file()).collect();
    folders.sort();
    Ok(folders)
}

/// A loaded golden graph.
pub struct GoldenGraph {
    /// The graph as TensorFlow wrote it.
    pub def: GraphDef,
    feeds: Vec<(String, Tensor)>,
    targets: Vec<String>,
    /// The name, the comparison, and the value that TensorFlow computed.
    fetches: Vec<(String, Compare, Option<Tensor>)>,
    error: Option<String>,
    timeout: Duration,
}

impl std::fmt::Debug for GoldenGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoldenGraph")
            .field("feeds", &self.feeds)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

impl GoldenGraph {
    /// Reads a folder.
    pub fn load(folder: &Path) -> Text<GoldenGraph> {
        let case = json::read(&folder.join("case.json"))?;
        let bytes = std::fs::read(folder.join("graph.pb")).map_err(|e| e.to_string())?;
        let mut arrays = npz(&folder.join("feeds.npz"))?;
        let mut feeds = Vec::new();
        for entry in json::list(&case, "feeds")? {
            let name = json::text(entry, "name")?;
            let at = arrays.iter().position(|(n, _)| n == name).ok_or_else(|| format!("no feed `{name}`"))?;
            let (_, value) = arrays.swap_remove(at);
            feeds.push((name.to_owned(), typed(entry, value)?));
        }
        let error = match json::field(&case, "error")? {
            Value::Null => None,
            error => Some(json::text(error, "code")?.to_owned()),
        };
        let values = match error {
            None => npz(&folder.join("fetches.npz"))?,
            Some(_) => Vec::new(),
        };
        let mut fetches = Vec::new();
        for entry in json::list(&case, "fetches")? {
            let name = json::text(entry, "name")?;
            let value = values.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
            if value.is_none() && error.is_none() {
                return Err(format!("no value of `{name}`"));
            }
            let how = if error.is_none() { Compare::parse(entry)? } else { Compare::Exact };
            fetches.push((name.to_owned(), how, value.map(|v| typed(entry, v)).transpose()?));
        }
        Ok(GoldenGraph {
            def: millstream_proto::decode(&bytes).map_err(|e| e.to_string())?,
            feeds,
            targets: json::texts(&case, "targets")?.into_iter().map(str::to_owned).collect(),
            fetches,
            error,
            timeout: Duration::from_secs(case.get("timeout_s").and_then(Value::as_u64).unwrap_or(60)),
        })
    }

    /// Imports the graph.
    pub fn import(&self) -> Text<Graph> {
        let graph = Graph::with_ops(millstream_ops::registry());
        import_graph_def(&graph, &self.def, &ImportOptions::default()).map_err(|e| format!("import: {e}"))?;
        Ok(graph)
    }

    /// Runs the targets and fetches of an imported graph, and compares the values.
    pub fn check(&self, graph: &Graph, setting: &Setting) -> Text<()> {
        match (self.values(graph, setting), &self.error) {
            (Err(e), None) => Err(format!("{setting}: {e}")),
            (Err(e), Some(code)) if e.starts_with(code.as_str()) => Ok(()),
            (Err(e), Some(code)) => Err(format!("{setting}: {code} is wanted but got {e}")),
            (Ok(_), Some(code)) => Err(format!("{setting}: {code} is wanted but there was no error")),
            (Ok(values), None) => {
                for ((name, how, want), got) in self.fetches.iter().zip(values) {
                    if let Some(want) = want {
                        how.check(&got, want).map_err(|e| format!("{setting}: `{name}`: {e}"))?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Checks a graph that fetches a value and then its gradients with respect to the fed floats, in order:
    /// takes the gradients of the value again, and compares them.
    pub fn check_gradients(&self, graph: &Graph, setting: &Setting) -> Text<()> {
        let say = |e: millstream_tensor::Error| format!("{}: {e}", e.code().name());
        let (value, gradients) = self.fetches.split_first().ok_or("nothing is fetched")?;
        let of = |name: &str| graph.output(name).map_err(say);
        let floats = self.feeds.iter().filter(|(_, value)| value.dtype().is_float());
        let xs = floats.map(|(name, _)| of(name)).collect::<Text<Vec<_>>>()?;
        if xs.len() != gradients.len() {
            return Err(format!("{} gradients are fetched for {} fed floats", gradients.len(), xs.len()));
        }
        let grads = graph.gradients([of(&value.0)?], xs).dense().map_err(say)?;
        let session = setting.session(graph, Some(self.timeout)).map_err(say)?;
        let got: Vec<Tensor> = session.run(grads, self.feed_list(&session).map_err(say)?).map_err(say)?;
        for ((name, how, want), got) in gradients.iter().zip(got) {
            let want = want.as_ref().ok_or_else(|| format!("no value of `{name}`"))?;
            how.check(&got, want).map_err(|e| format!("{setting}: `{name}` by our gradients: {e}"))?;
        }
        Ok(())
    }

    /// How the loops of an imported graph run: what is said before the run, and after it.
    pub fn explanations(&self, graph: &Graph, setting: &Setting) -> Text<[Explanation; 2]> {
        let say = |e: millstream_tensor::Error| format!("{}: {e}", e.code().name());
        let session = setting.session(graph, Some(self.timeout)).map_err(say)?;
        let explain = || {
            let feeds = self.feeds.iter().map(|(name, _)| graph.output(name)).collect::<Result<Vec<_>, _>>();
            session.explain(self.ports(graph)?, feeds.map_err(say)?).map_err(say)
        };
        let before = explain()?;
        // An error may be what the graph is about.
        let _ = self.run(graph, &session);
        Ok([before, explain()?])
    }

    /// The fetched values. An error starts with its code.
    fn values(&self, graph: &Graph, setting: &Setting) -> Text<Vec<Tensor>> {
        let session = setting.session(graph, Some(self.timeout));
        self.run(graph, &session.map_err(|e| format!("{}: {e}", e.code().name()))?)
    }

    fn run(&self, graph: &Graph, session: &Session) -> Text<Vec<Tensor>> {
        let say = |e: millstream_tensor::Error| format!("{}: {e}", e.code().name());
        let run = |fetch: Vec<Target>| -> Result<Vec<Tensor>, millstream_tensor::Error> {
            session.run(fetch, self.feed_list(session)?)
        };
        for target in &self.targets {
            run(vec![Target::Operation(graph.operation(target).map_err(say)?.id())]).map_err(say)?;
        }
        run(self.ports(graph)?).map_err(say)
    }

    fn ports(&self, graph: &Graph) -> Text<Vec<Target>> {
        let target = |(name, ..): &(String, Compare, Option<Tensor>)| match name.contains(':') {
            true => Ok(Target::Value(graph.output(name)?.port())),
            false => Ok(Target::Operation(graph.operation(name)?.id())),
        };
        let ports = self.fetches.iter().map(target).collect::<Result<_, millstream_tensor::Error>>();
        ports.map_err(|e| format!("{}: {e}", e.code().name()))
    }

    fn feed_list(&self, session: &Session) -> Result<FeedList, millstream_tensor::Error> {
        self.feeds.iter().try_fold(FeedList::new(), |list, (name, value)| {
            let output = session.graph().output(name)?;
            let _: Port = output.port();
            Ok(list.and(output, value))
        })
    }
}

/// A graph with its computed values, to be written.
pub struct Written<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The feeds, by name.
    pub feeds: &'a [(String, Tensor)],
    /// The operations to run first.
    pub targets: &'a [String],
    /// The names of the fetches.
    pub fetches: &'a [String],
    /// The values, or the error of the run.
    pub result: Result<&'a [Tensor], &'a millstream_tensor::Error>,
    /// The allowed difference of the numbers beyond the precision of their dtype, relative to the largest
    /// one.
    pub apart: f64,
}

impl std::fmt::Debug for Written<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Written")
            .field("targets", &self.targets)
            .field("fetches", &self.fetches)
            .finish_non_exhaustive()
    }
}

/// Writes a folder in the format of the golden graphs, which `tests/golden/check_ours.py` runs in a real
/// TensorFlow.
pub fn store(folder: &Path, written: &Written<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let Written { graph, feeds, targets, fetches, result, apart } = written;
    std::fs::create_dir_all(folder)?;
    let def = export_graph_def(graph)?;
    std::fs::write(folder.join("graph.pb"), millstream_proto::encode(&def))?;
    let fed = feeds.iter().map(|(name, value)| (name.as_str(), value));
    npy::write_npz(File::create(folder.join("feeds.npz"))?, fed, Compression::Deflated)?;
    let entry = |(name, value): (&String, &Tensor)| {
        let compare = if value.dtype().is_float() { "close" } else { "exact" };
        let digits = if value.dtype() == DType::F64 { 1e-12 } else { 1e-5 };
        let share = digits + apart;
        json!({"name": name, "dtype": value.dtype().tf_name(), "shape": value.shape().dims(), "compare": compare,
               "rtol": share, "atol": share * largest(value)})
    };
    let (entries, error): (Vec<Value>, Value) = match result {
        Ok(values) => {
            let arrays = fetches.iter().map(String::as_str).zip(*values);
            npy::write_npz(File::create(folder.join("fetches.npz"))?, arrays, Compression::Deflated)?;
            (fetches.iter().zip(*values).map(entry).collect(), Value::Null)
        }
        Err(e) => {
            let error = json!({"code": e.code().name(), "message": e.message()});
            (fetches.iter().map(|name| json!({"name": name})).collect(), error)
        }
    };
    let case = json!({"fetches": entries, "targets": targets, "error": error});
    std::fs::write(folder.join("case.json"), serde_json::to_string_pretty(&case)?)?;
    Ok(())
}

/// The largest absolute value, but at least a thousandth.
fn largest(value: &Tensor) -> f64 {
    let of = |size: f64, v: f64| if v.is_finite() { size.max(v.abs()) } else { size };
    match (value.as_slice::<f64>(), value.as_slice::<f32>()) {
        (Ok(values), _) => values.iter().copied().fold(1e-3, of),
        (_, Ok(values)) => values.iter().map(|&v| v.into()).fold(1e-3, of),
        _ => 1.0,
    }
}

/// Writes the graph as a GraphDef and reads it back. Writing it again must give the same bytes.
pub fn round_trip(graph: &Graph) -> Text<Graph> {
    let say = |e: millstream_tensor::Error| format!("GraphDef round trip: {e}");
    let bytes = millstream_proto::encode(&export_graph_def(graph).map_err(say)?);
    let def: GraphDef = millstream_proto::decode(&bytes).map_err(|e| e.to_string())?;
    let back = Graph::with_ops(graph.registry());
    import_graph_def(&back, &def, &ImportOptions::default()).map_err(say)?;
    let again = millstream_proto::encode(&export_graph_def(&back).map_err(say)?);
    match again == bytes {
        true => Ok(back),
        false => Err("GraphDef round trip: written again the graph is another".into()),
    }
}

/// The target of the same name in another graph.
pub fn same_target(from: &Graph, to: &Graph, target: Target) -> millstream_tensor::Result<Target> {
    let name = |id| from.read(|g| g.node(id).map(|n| n.name().to_owned()));
    Ok(match target {
        Target::Value(port) => Target::Value(Port::new(to.operation(&name(port.node)?)?.id(), port.index)),
        Target::Every(port) => Target::Every(Port::new(to.operation(&name(port.node)?)?.id(), port.index)),
        Target::Operation(id) => Target::Operation(to.operation(&name(id)?)?.id()),
    })
}

/// Reads the arrays of an `.npz`.
pub fn npz(path: &Path) -> Text<Vec<(String, Tensor)>> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    npy::read_npz(std::io::BufReader::new(file)).map_err(|e| format!("{}: {e}", path.display()))
}

/// Checks that a value has the dtype that its entry names. NumPy has no bfloat16.
pub(crate) fn typed(entry: &Value, value: Tensor) -> Text<Tensor> {
    let name = json::text(entry, "dtype")?;
    match DType::parse(name) {
        Some(dtype) if dtype == value.dtype() => Ok(value),
        _ => Err(format!("an array of {} where {name} is wanted", value.dtype())),
    }
}
