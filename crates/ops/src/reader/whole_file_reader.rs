//! `WholeFileReader`, `WholeFileReaderV2`: whole files as records.

use super::readers::{generations, named, opener, opening, path};
use millstream_files::Files;
use millstream_graph::op::OpDef;
use millstream_state::{Format, Found};
use millstream_tensor::{Result, Str};
use std::path::Path;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["WholeFileReader", "WholeFileReaderV2"], |name, by| {
        named(opener(name, by, |cx| opening(cx, || Box::new(Whole::default())))).doc(
            "Returns a handle to the reader `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. A record is the contents of a file, with the file's \
             name as key.",
        )
    })
}

#[derive(Default)]
struct Whole {
    file: Option<Str>,
}

impl Format for Whole {
    fn begin(&mut self, work: &Str, _files: &Files) -> Result<()> {
        self.file = Some(work.clone());
        Ok(())
    }

    fn record(&mut self, files: &Files) -> Result<Found> {
        let Some(name) = &self.file else { return Ok(Found::End) };
        let file = path(name)?;
        let bytes = files.read(Path::new(file))?;
        Ok(Found::Last((name.clone(), Str::new(bytes)?)))
    }

    fn reset(&mut self) {
        self.file = None;
    }

    fn can_be_saved(&self) -> bool {
        true
    }
}

cases! {
    starts_anew: "ReaderNumWorkUnitsCompletedV2(WholeFileReaderV2()) = i64 0",
    by_its_old_name: "ReaderNumWorkUnitsCompleted(WholeFileReader()) = i64 0",
}
