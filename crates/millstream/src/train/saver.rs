//! [`Saver`]: saving variables to checkpoints and restoring them.

use crate::ops::Ops;
use crate::options::Start;
use crate::value::Value;
use crate::variable::{Variable, Variables};
use millstream_checkpoint::{Checkpoint, State, exists, is_safetensors, remove};
use millstream_graph::{CollectionItem, Graph, Op, Output};
use millstream_interop::proto::{SaverDef, encode, saver_def};
use millstream_runtime::{Session, feed};
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Str, Tensor, ensure, invalid};
use parking_lot::Mutex;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub use millstream_checkpoint::latest_checkpoint;

/// The collection of savers, each a `SaverDef`.
const SAVERS: &str = "savers";

/// Saves variables to checkpoints and restores them. It works by operations of the graph, so TensorFlow can
/// save and restore an exported graph, and the reverse.
///
/// A path that ends in `.safetensors` is a file of that format; any other is the prefix of a TensorFlow
/// checkpoint.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train::{Saver, latest_checkpoint};
///
/// let g = Graph::new();
/// let w = g.variable("w", [1.0f32, 2.0]);
/// let (init, double) = (g.global_variables_initializer(), w.assign(w.value() * 2.0));
/// let saver = Saver::new(&g)?;
/// # let folder = std::env::temp_dir().join(format!("millstream-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
///
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// saver.save(&session, folder.join("model"), Some(100))?;
/// session.run::<()>(double, feed![])?;
///
/// let latest = latest_checkpoint(&folder)?.expect("one was saved");
/// assert_eq!(latest, folder.join("model-100"));
/// saver.restore(&session, &latest)?;
/// assert_eq!(session.run::<Vec<f32>>(w.value(), feed![])?, [1.0, 2.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), millstream::Error>(())
/// ```
pub struct Saver<'g> {
    variables: Vec<(String, Variable<'g>)>,
    filename: Output<'g>,
    saved: Output<'g>,
    restored: Op<'g>,
    max_to_keep: usize,
    keep_every_hours: f64,
    kept: Mutex<Kept>,
}

impl std::fmt::Debug for Saver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saver")
            .field("max_to_keep", &self.max_to_keep)
            .field("keep_every_hours", &self.keep_every_hours)
            .finish_non_exhaustive()
    }
}

/// The checkpoints of a saver.
struct Kept {
    /// The paths, oldest first, with their times in seconds since 1970.
    all: Vec<(PathBuf, f64)>,
    /// The time of the next checkpoint to keep permanently.
    next_for_good: f64,
    last_preserved: f64,
}

/// A builder of a [`Saver`].
///
/// ```
/// use millstream::prelude::*;
/// use millstream::train::Saver;
/// let g = Graph::new();
/// let (w, b) = (g.variable("w", 1.0f32), g.variable("b", 0.0f32));
/// let saver = Saver::of(&g, &[w, b]).max_to_keep(3).build()?;
/// assert!(saver.last_checkpoints().is_empty());
/// # Ok::<(), millstream::Error>(())
/// ```
#[must_use = "the saver is made by `build`"]
pub struct SaverBuilder<'g> {
    graph: &'g Graph,
    variables: Vec<(String, Variable<'g>)>,
    max_to_keep: usize,
    keep_every_hours: f64,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for SaverBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaverBuilder")
            .field("max_to_keep", &self.max_to_keep)
            .field("keep_every_hours", &self.keep_every_hours)
            .finish_non_exhaustive()
    }
}

impl<'g> SaverBuilder<'g> {
    /// Sets how many checkpoints are kept, 5 by default; older ones are removed. 0 keeps all.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let saver = Saver::of(&g, &[w]).max_to_keep(2).build()?;
    /// # let folder = std::env::temp_dir().join(format!("millstream-keep-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// for step in 1..=3 {
    ///     saver.save(&session, folder.join("model"), Some(step))?;
    /// }
    /// assert_eq!(saver.last_checkpoints(), [folder.join("model-2"), folder.join("model-3")]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn max_to_keep(mut self, n: usize) -> Self {
        self.max_to_keep = n;
        self
    }

    /// Sets the interval in hours at which a checkpoint is kept permanently instead of being removed. The
    /// default of 10000 means never.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// Saver::of(&g, &[w]).max_to_keep(5).keep_checkpoint_every_n_hours(2.0).build()?;
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn keep_checkpoint_every_n_hours(mut self, hours: f64) -> Self {
        self.keep_every_hours = hours;
        self
    }

    /// Adds the operations to the graph.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let saver = Saver::by_name(&g, [("weights", w)]).build()?;
    /// assert!(g.operation(saver.def().restore_op_name.as_str()).is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn build(self) -> Result<Saver<'g>> {
        let at = self.at;
        self.build_ops().map_err(|e| e.at_line(at))
    }

    fn build_ops(mut self) -> Result<Saver<'g>> {
        let (graph, at) = (self.graph, self.at);
        graph.check()?;
        ensure!(!self.variables.is_empty(), "No variables to save");
        self.variables.sort_by(|a, b| a.0.cmp(&b.0));
        let twice = self.variables.windows(2).find(|pair| pair[0].0 == pair[1].0);
        if let Some([a, b]) = twice {
            return Err(invalid!("two variables are to be saved as `{}`: {:?} and {:?}", a.0, a.1, b.1));
        }
        let variables = std::mem::take(&mut self.variables);
        let strings = |texts: Vec<Str>| Tensor::strings([texts.len()], texts);
        let (filename, saved, restored) = graph.without_control(|| {
            graph.name_scope("save", || -> Result<_> {
                let input = graph.name_scope("filename", || Value::from("model").place(graph, "input", at));
                let default = |name: &str, input| {
                    graph.named(name).at(at).placeholder_with_default(input, PartialShape::scalar())
                };
                let filename = default("Const", default("filename", input));
                let names = || strings(variables.iter().map(|(name, _)| name.as_str().into()).collect());
                let slices = || strings(vec![Str::default(); variables.len()]);
                let values: Vec<Output<'g>> = variables
                    .iter()
                    .map(|(_, v)| match v.is_ref() {
                        true => v.handle(),
                        false => graph.in_scope(String::new(), || {
                            graph.in_scope(format!("{}/Read_1/", v.name()), || v.read())
                        }),
                    })
                    .collect();
                let save = graph.at(at).io().save_v2(filename, names()?, slices()?, values);
                let saved = graph.control_dependencies([save], || {
                    graph.named("control_dependency").at(at).identity(filename)
                });
                let dtypes = variables.iter().map(|(_, v)| v.dtype()).collect::<Result<Vec<DType>>>()?;
                let read = graph.op("RestoreV2").at(at).input(filename).input(names()?).input(slices()?);
                let read = read.attr("dtypes", dtypes).finish();
                let assigns = variables.iter().zip(0u32..).map(|((_, v), i)| match v.is_ref() {
                    true => graph.at(at).state().assign(v.handle(), read.output(i)).op(),
                    false => {
                        let value = graph.at(at).identity(read.output(i));
                        graph.at(at).state().assign_variable_op(v.handle(), value)
                    }
                });
                let assigns: Vec<Op<'g>> = assigns.collect();
                let all = graph.start_as("NoOp", "restore_all");
                Ok((filename, saved, assigns.into_iter().fold(all, |all, op| all.control(op)).finish()))
            })
        })?;
        graph.check()?;
        let saver = Saver {
            variables,
            filename,
            saved,
            restored,
            max_to_keep: self.max_to_keep,
            keep_every_hours: self.keep_every_hours,
            kept: Mutex::new(Kept {
                all: Vec::new(),
                next_for_good: now() + self.keep_every_hours * 3600.0,
                last_preserved: 0.0,
            }),
        };
        graph.add_to_collection(SAVERS, CollectionItem::Bytes(encode(&saver.def())));
        Ok(saver)
    }
}

impl<'g> Saver<'g> {
    /// Returns a saver of all variables except the local ones, each under its name.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// g.variable("w", 1.0f32);
    /// Saver::new(&g)?;
    /// assert!(Saver::new(&Graph::new()).is_err()); // no variables
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn new(graph: &'g Graph) -> Result<Saver<'g>> {
        Self::of(graph, &graph.global_variables()).build()
    }

    /// Returns a builder of a saver of these variables, each under its name.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let (w, _scratch) = (g.variable("w", 1.0f32), g.variable("scratch", 0.0f32));
    /// Saver::of(&g, &[w]).build()?; // leaves out `scratch`
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn of(graph: &'g Graph, variables: &[Variable<'g>]) -> SaverBuilder<'g> {
        Self::by_name(graph, variables.iter().map(|v| (v.name(), *v)))
    }

    /// Returns a builder of a saver of variables under the given names.
    ///
    /// ```
    /// use millstream::checkpoint::Checkpoint;
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("layer/w", 1.0f32);
    /// let saver = Saver::by_name(&g, [("weights", w)]).build()?;
    /// # let folder = std::env::temp_dir().join(format!("millstream-by-name-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// let path = saver.save(&session, folder.join("model.safetensors"), None)?;
    /// assert_eq!(Checkpoint::open(&path)?.read("weights")?.to_scalar::<f32>()?, 1.0);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn by_name<S: Into<String>>(
        graph: &'g Graph,
        variables: impl IntoIterator<Item = (S, Variable<'g>)>,
    ) -> SaverBuilder<'g> {
        SaverBuilder {
            graph,
            variables: variables.into_iter().map(|(name, v)| (name.into(), v)).collect(),
            max_to_keep: 5,
            keep_every_hours: 10_000.0,
            at: Location::caller(),
        }
    }

    /// Returns the names of its operations, as a `MetaGraphDef` holds them.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// g.variable("w", 1.0f32);
    /// let def = Saver::new(&g)?.def();
    /// assert_eq!(def.filename_tensor_name, "save/Const:0");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn def(&self) -> SaverDef {
        SaverDef {
            filename_tensor_name: self.filename.name(),
            save_tensor_name: self.saved.name(),
            restore_op_name: self.restored.name(),
            max_to_keep: i32::try_from(self.max_to_keep).unwrap_or(i32::MAX),
            sharded: false,
            keep_checkpoint_every_n_hours: self.keep_every_hours as f32,
            version: saver_def::CheckpointFormatVersion::V2.into(),
        }
    }

    /// Saves the variables and returns the path for [`Saver::restore`]. `step` is appended to the name,
    /// before `.safetensors`. The folder's file `checkpoint` lists the checkpoint, and old checkpoints of
    /// this saver are then removed. If one of them cannot be removed, the checkpoint is saved all the same,
    /// and a warning is printed to the standard error.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let saver = Saver::new(&g)?;
    /// # let folder = std::env::temp_dir().join(format!("millstream-save-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// assert_eq!(saver.save(&session, folder.join("model"), Some(7))?, folder.join("model-7"));
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn save(&self, session: &Session, path: impl AsRef<Path>, step: Option<i64>) -> Result<PathBuf> {
        let path = numbered(path.as_ref(), step);
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty())
            && !folder.is_dir()
        {
            let error = format!("Parent directory of {} doesn't exist, can't save.", path.display());
            return Err(Error::new(Code::NotFound, error).with_help("make the folder first"));
        }
        session.run::<()>(self.saved.op(), feed![self.filename => text(&path)?])?;
        let left = self.list(&path)?;
        warn(&left);
        Ok(path)
    }

    /// Restores the variables from a checkpoint, all or none. The error lists all variables that do not
    /// match.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let saver = Saver::new(&g)?;
    /// # let folder = std::env::temp_dir().join(format!("millstream-restore-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.assign(2.0f32), feed![])?;
    /// let path = saver.save(&session, folder.join("model"), None)?;
    ///
    /// let later = Session::new(&g)?; // its variables have no values yet
    /// saver.restore(&later, &path)?;
    /// assert_eq!(later.run::<f32>(w.value(), feed![])?, 2.0);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn restore(&self, session: &Session, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        self.check(path)?;
        session.run(self.restored, feed![self.filename => text(path)?])
    }

    /// Returns the paths of the checkpoints that it has saved and not removed, oldest first.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::train::Saver;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let saver = Saver::new(&g)?;
    /// # let folder = std::env::temp_dir().join(format!("millstream-last-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// saver.save(&session, folder.join("model"), Some(1))?;
    /// assert_eq!(saver.last_checkpoints(), [folder.join("model-1")]);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn last_checkpoints(&self) -> Vec<PathBuf> {
        self.kept.lock().all.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Checks that a checkpoint has all variables, with their dtypes and shapes.
    fn check(&self, path: &Path) -> Result<()> {
        let checkpoint = Checkpoint::open(path)?;
        let mut missing = Vec::new();
        let mut others = Vec::new();
        for (name, variable) in &self.variables {
            let (dtype, shape) = (variable.dtype()?, variable.shape());
            match checkpoint.info(name) {
                None => missing.push(format!("`{name}` {dtype}{shape}")),
                Some(info) if info.dtype != dtype || !shape.contains(&(&info.shape).into()) => {
                    others.push(format!(
                        "`{name}` is {dtype}{shape} but {}{} in the checkpoint",
                        info.dtype, info.shape
                    ));
                }
                Some(_) => {}
            }
        }
        if missing.is_empty() && others.is_empty() {
            return Ok(());
        }
        let code = if missing.is_empty() { Code::InvalidArgument } else { Code::NotFound };
        let mut error =
            Error::new(code, format!("the checkpoint `{}` does not fit the variables", path.display()));
        if !missing.is_empty() {
            error = error.note(format!("missing in it: {}", missing.join(", ")));
            let known = |name: &str| self.variables.iter().any(|(own, _)| own == name);
            let all = checkpoint.tensors();
            let surplus = all.iter().filter(|(name, _)| !known(name));
            let surplus: Vec<String> =
                surplus.map(|(name, i)| format!("`{name}` {}{}", i.dtype, i.shape)).collect();
            if !surplus.is_empty() {
                error = error.note(format!("only in it: {}", surplus.join(", ")));
            }
        }
        for other in others {
            error = error.note(other);
        }
        Err(error.with_help("restore only variables that fit (`Saver::of`), or map names (`Saver::by_name`)"))
    }

    /// Records a checkpoint, writes the list, and then removes old checkpoints: a list that names a
    /// checkpoint which is gone would leave a restarted program with none. Returns the checkpoints that
    /// could not be removed, each with the reason.
    fn list(&self, path: &Path) -> Result<Vec<Error>> {
        let mut kept = self.kept.lock();
        kept.all.retain(|(old, _)| old != path);
        kept.all.push((path.to_owned(), now()));
        let mut gone = Vec::new();
        while self.max_to_keep > 0 && self.max_to_keep < kept.all.len() {
            let (old, made) = kept.all.remove(0);
            if kept.next_for_good < made {
                kept.next_for_good += self.keep_every_hours * 3600.0;
                kept.last_preserved = made;
                continue;
            }
            gone.push(old);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let state = State { all: kept.all.clone(), last_preserved: kept.last_preserved };
        state.write(folder, "checkpoint")?;
        Ok(gone.iter().filter(|old| exists(old)).filter_map(|old| remove(old).err()).collect())
    }
}

#[expect(clippy::print_stderr, reason = "the checkpoint is saved: an error would say the opposite")]
fn warn(left: &[Error]) {
    for error in left {
        eprintln!("warning: an old checkpoint was not removed: {error}");
    }
}

/// Returns the path with the step appended: `model-100`, `model-100.safetensors`.
fn numbered(path: &Path, step: Option<i64>) -> PathBuf {
    let Some(step) = step else { return path.to_owned() };
    let (stem, end) = match is_safetensors(path) {
        true => (path.with_extension(""), ".safetensors"),
        false => (path.to_owned(), ""),
    };
    let mut name = stem.into_os_string();
    name.push(format!("-{step}{end}"));
    name.into()
}

fn text(path: &Path) -> Result<Tensor> {
    let text = path.to_str().ok_or_else(|| invalid!("the path `{}` is not valid UTF-8", path.display()))?;
    Ok(Tensor::str(text))
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}
