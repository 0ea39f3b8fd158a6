//! `TextLineReader`, `TextLineReaderV2`: the lines of text files.

use super::readers::{generations, key, named, opener, opening, path};
use crate::shared::lines::line;
use millstream_checkpoint::records::{Compression, Source, open};
use millstream_files::Files;
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::{Int, Spec};
use millstream_state::{Format, Found};
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Result, Str, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["TextLineReader", "TextLineReaderV2"], |name, by| {
        let make = |cx: &millstream_graph::op::BuildCx| {
            let header = cx.node.attrs.int("skip_header_lines")?;
            ensure!(header >= 0, "`skip_header_lines` must not be negative, but is {header}");
            let header = header as u64;
            opening(cx, move || Box::new(Lines { header, ..Lines::default() }))
        };
        named(opener(name, by, make).attr("skip_header_lines", Int.or(0))).doc(
            "Returns a handle to the reader `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. Records are the lines of files without `\\n` or \
             `\\r\\n`, except the first `skip_header_lines` of each file. A record's key is `FILE:LINE`. \
             Lines need not be UTF-8.",
        )
    })
}

#[derive(Default)]
struct Lines {
    header: u64,
    file: String,
    lines: Option<Source>,
    n_lines: u64,
    /// The beginning of a line that a run read before it was called off.
    begun: Vec<u8>,
}

impl Format for Lines {
    fn begin(&mut self, work: &Str, files: &Files) -> Result<()> {
        let file = path(work)?;
        self.lines = Some(open(files, file, Compression::None)?);
        (self.file, self.n_lines) = (file.to_owned(), 0);
        self.begun.clear();
        Ok(())
    }

    fn record(&mut self, files: &Files) -> Result<Found> {
        let Some(lines) = &mut self.lines else { return Ok(Found::End) };
        lines.checked_by(files);
        while let Some(line) = line(lines, &self.file, &mut self.begun)? {
            self.n_lines += 1;
            if self.header < self.n_lines {
                let _whole = uninterrupted();
                return Ok(Found::Record((key(&self.file, self.n_lines)?, Str::new(line)?)));
            }
        }
        self.lines = None;
        Ok(Found::End)
    }

    fn reset(&mut self) {
        self.lines = None;
        self.begun.clear();
    }
}

cases! {
    starts_anew: "ReaderNumRecordsProducedV2(TextLineReaderV2()) = i64 0",
    by_its_old_name: "ReaderNumRecordsProduced(TextLineReader(; skip_header_lines=1)) = i64 0",
    no_negative_header: "TextLineReaderV2(; skip_header_lines=-1) ! must not be negative",
}
