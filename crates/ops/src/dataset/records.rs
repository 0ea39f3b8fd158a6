//! [`Lines`]: a dataset of the records of files, one file after another.

use super::datasets::{Dataset, Source, Spec, source};
use crate::shared::files::file_name;
use millstream_checkpoint::records::Compression;
use millstream_files::Files;
use millstream_graph::op::{InferCx, KernelCx, StepEnv};
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{DType, Result, Str, Tensor, ensure};
use std::sync::Arc;

/// A file that is open.
pub(super) trait Open: Send {
    /// The next record, or `None` at the end of the file. If the run is over, nothing that was read is lost.
    fn next(&mut self, files: &Files) -> Result<Option<Vec<u8>>>;
}

/// Opens a file.
pub(super) type Opens = Arc<dyn Fn(&Files, &str) -> Result<Box<dyn Open>> + Send + Sync>;

/// A dataset of the records of files.
pub(super) struct Records {
    names: Vec<Str>,
    opens: Opens,
    spec: Spec,
}

impl Records {
    pub(super) fn of(names: Vec<Str>, opens: Opens) -> Records {
        Records { names, opens, spec: Spec::scalar(DType::Str) }
    }
}

impl Dataset for Records {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let (names, opens) = (self.names.clone(), self.opens.clone());
        let mut names = names.into_iter();
        let mut open: Option<Box<dyn Open>> = None;
        Ok(source(move |env| {
            let cancel = env.cancel.clone();
            let files = env.files.checked_by(move || cancel.check());
            loop {
                if let Some(file) = &mut open {
                    match file.next(&files) {
                        Ok(Some(record)) => {
                            let _whole = uninterrupted();
                            return Ok(Some([Tensor::str(Str::new(record)?)].into_iter().collect()));
                        }
                        Ok(None) => {}
                        // The pass goes on with the next file.
                        Err(error) => {
                            if !files.ended_by(&error) {
                                open = None;
                            }
                            return Err(error);
                        }
                    }
                    open = None;
                }
                let Some(name) = names.as_slice().first() else { return Ok(None) };
                let opened = file_name(name).and_then(|name| opens(&files, name));
                if !opened.as_ref().is_err_and(|error| files.ended_by(error)) {
                    drop(names.next());
                }
                open = Some(opened?);
            }
        }))
    }
}

/// The names of files in input 0: a scalar or a vector.
pub(super) fn names(cx: &KernelCx) -> Result<Vec<Str>> {
    let names = cx.input(0);
    ensure!(names.rank() <= 1, "`filenames` must be a scalar or a vector.");
    Ok(names.as_strs().unwrap_or_default().to_vec())
}

/// The compression in input `i`.
pub(super) fn compression(cx: &KernelCx, i: usize) -> Result<Compression> {
    let name = cx.input(i).as_strs().and_then(|strs| strs.first()).map(|s| s.text().into_owned());
    Compression::parse(&name.unwrap_or_default())
}

/// Checks that the names are a scalar or a vector, and everything else is a scalar.
pub(super) fn infer(cx: &mut InferCx) -> Result<()> {
    let rank = cx.input(0).rank();
    ensure!(
        rank.is_none_or(|rank| rank <= 1),
        "Shape must be at most rank 1 but is rank {}",
        rank.unwrap_or(0)
    );
    (1..cx.n_inputs()).try_for_each(|i| cx.scalar(i))?;
    cx.scalars()
}
