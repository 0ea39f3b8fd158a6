//! `TextLineDataset`: the lines of text files.

use super::datasets::{give, makes};
use super::records::{Open, Records, compression, infer, names};
use crate::shared::lines::line;
use millstream_checkpoint::records::{Source, open};
use millstream_files::Files;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TextLineDataset")
        .doc(
            "Returns a dataset of the lines of files, without `\\n` or `\\r\\n`. `compression_type` is empty \
             for none, `GZIP` or `ZLIB`. `buffer_size` does not change the elements.",
        )
        .input("filenames", DType::Str)
        .input("compression_type", DType::Str)
        .input("buffer_size", DType::I64);
    makes(def, run).infer(infer)
}

struct Lines {
    from: Source,
    file: String,
    /// The beginning of a line that a run read before it was called off.
    begun: Vec<u8>,
}

impl Open for Lines {
    fn next(&mut self, files: &Files) -> Result<Option<Vec<u8>>> {
        self.from.checked_by(files);
        line(&mut self.from, &self.file, &mut self.begun)
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (names, compression) = (names(cx)?, compression(cx, 1)?);
    ensure!(cx.int(2)? >= 0, "`buffer_size` must be >= 0 (0 == default)");
    let opens = move |files: &Files, file: &str| -> Result<Box<dyn Open>> {
        let from = open(files, file, compression)?;
        Ok(Box::new(Lines { from, file: file.to_owned(), begun: Vec::new() }))
    };
    give(cx, Records::of(names, Arc::new(opens)))
}

cases! {
    is_a_variant: "TextLineDataset(str[?], str[], i64[]) : variant[]",
    knows_its_compression: "TextLineDataset([\"a\"], \"LZMA\", i64 0) ! unknown compression \"LZMA\"",
    a_file: "DatasetToSingleElement(TextLineDataset(\"/millstream/none\", \"\", i64 0); output_types={str}, output_shapes={shape[]}) ! /millstream/none",
    names_in_a_vector: "TextLineDataset(str[?,2], str[], i64[]) ! Shape must be at most rank 1",
}
