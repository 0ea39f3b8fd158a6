//! The file in which `CacheDataset` keeps elements: a checkpoint of TensorFlow's, so that each reads the
//! other's. Component `c` of element `i` is the tensor `I_C`, where `I` has at least seven columns.

use super::datasets::{Data, Element, How, Over, Source, Spec, over, source};
use crate::shared::files::file_name;
use millstream_checkpoint::{Checkpoint, Item, Writer, is_safetensors};
use millstream_files::{Files, LockFile};
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Code, Error, Result, Str, ensure};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Outputs the dataset whose elements are kept in a file.
pub(super) fn in_file(cx: &mut KernelCx, file: &Str) -> Result<()> {
    let prefix = PathBuf::from(file_name(file)?);
    ensure!(
        !is_safetensors(&prefix),
        "a cache is a checkpoint of TensorFlow's format, so `filename` cannot end in `.safetensors`"
    );
    over(cx, InFile { prefix })
}

/// Elements in a file.
struct InFile {
    prefix: PathBuf,
}

impl How for InFile {
    fn begin(over: &Over<InFile>, _env: &StepEnv) -> Result<Source> {
        let (input, spec, prefix) = (over.input.clone(), over.spec.clone(), over.how.prefix.clone());
        // The file is opened at the first element: an iterator that is initialized again still holds its old
        // pass, and the lock, while it begins the new one.
        let mut pass: Option<Pass> = None;
        Ok(source(move |env| {
            if pass.is_none() {
                pass = Some(Pass::new(&input, &prefix, env)?);
            }
            pass.as_mut().map_or(Ok(None), |pass| pass.next(&spec, &prefix, env))
        }))
    }

    fn cardinality(over: &Over<InFile>) -> i64 {
        over.input.cardinality()
    }
}

/// A pass over elements in a file.
enum Pass {
    Reads {
        from: Checkpoint,
        next: u64,
    },
    Writes(Box<Writes>),
    /// An element could not be written, so it is lost for this pass.
    Failed(Error),
}

/// A pass that makes the file.
struct Writes {
    input: Source,
    to: Writer,
    next: u64,
    /// Removed after the writer, whose unfinished file it guards.
    _lock: LockFile,
}

/// The name of a component in the file.
fn name(element: u64, component: usize) -> String {
    format!("{element:7}_{component}")
}

fn beside(prefix: &Path, suffix: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

impl Pass {
    fn new(input: &Data, prefix: &Path, env: &StepEnv) -> Result<Pass> {
        let files = &env.files;
        if files.is_file(&beside(prefix, ".index")) {
            return Ok(Pass::Reads { from: Checkpoint::open_in(files, prefix)?, next: 0 });
        }
        let lock = locked(files, prefix)?;
        let to = Writer::new(files, prefix)?;
        Ok(Pass::Writes(Box::new(Writes { input: input.begin(env)?, to, next: 0, _lock: lock })))
    }

    fn next(&mut self, spec: &Spec, prefix: &Path, env: &StepEnv) -> Result<Option<Element>> {
        match self {
            Pass::Reads { from, next } => {
                let element = read(from, spec, *next).map_err(|error| of_another(error, prefix))?;
                *next += u64::from(element.is_some());
                Ok(element)
            }
            Pass::Writes(writes) => {
                let element = writes.input.next(env)?;
                // What the input has given is lost if the run ends here.
                let _whole = uninterrupted();
                let written = match &element {
                    Some(element) => writes.add(element),
                    None => self.finish(),
                };
                match written {
                    Ok(()) => Ok(element),
                    Err(error) => {
                        *self = Pass::Failed(error.clone());
                        Err(error)
                    }
                }
            }
            Pass::Failed(error) => Err(error.clone()),
        }
    }

    /// Finishes the file. The pass is over: it is not asked again.
    fn finish(&mut self) -> Result<()> {
        let over = Pass::Failed(Error::internal("the pass is over"));
        match std::mem::replace(self, over) {
            Pass::Writes(writes) => writes.to.finish(),
            _ => Ok(()),
        }
    }
}

impl Writes {
    fn add(&mut self, element: &Element) -> Result<()> {
        for (c, tensor) in element.iter().enumerate() {
            self.to.add(&Item { name: &name(self.next, c), part: None, tensor })?;
        }
        self.next += 1;
        Ok(())
    }
}

fn locked(files: &Files, prefix: &Path) -> Result<LockFile> {
    let path = beside(prefix, "_0.lockfile");
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if let Some(lock) = LockFile::new(files, &path, &format!("Created at: {seconds}"))? {
        return Ok(lock);
    }
    let contents = files.read(&path).unwrap_or_default();
    let own = format!("another pass is writing the cache `{}`", prefix.display());
    Err(Error::new(Code::AlreadyExists, own)
        .led_by(format!(
            "There appears to be a concurrent caching iterator running - cache lockfile already exists ('{}'). \
             If you are sure no other running TF computations are using this cache prefix, delete the lockfile \
             and re-initialize the iterator. Lockfile contents: {}",
            path.display(),
            String::from_utf8_lossy(&contents)
        ))
        .with_help("let one pass end before the next begins, or give each dataset its own `filename`"))
}

/// Element `i` of the file, or `None` after the last.
fn read(from: &Checkpoint, spec: &Spec, i: u64) -> Result<Option<Element>> {
    if from.info(&name(i, 0)).is_none() {
        return Ok(None);
    }
    let n = (0..).take_while(|&c| from.info(&name(i, c)).is_some()).count();
    ensure!(
        n == spec.dtypes.len(),
        "Number of components does not match: expected {} types but got {n}.",
        spec.dtypes.len()
    );
    let element = (0..n).map(|c| from.read(&name(i, c))).collect::<Result<Element>>()?;
    spec.check_element(&element)?;
    Ok(Some(element))
}

fn of_another(error: Error, prefix: &Path) -> Error {
    match error.code() {
        Code::InvalidArgument => error
            .note(format!("in the cache `{}`, which another dataset has written", prefix.display()))
            .with_help("remove its `.index` and `.data` files, or give this dataset another `filename`"),
        _ => error,
    }
}
