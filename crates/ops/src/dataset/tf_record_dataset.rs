//! `TFRecordDataset`: the records of TFRecord files.

use super::datasets::{give, makes};
use super::records::{Open, Records, compression, infer, names};
use millstream_checkpoint::records::{RecordReader, Source, tf_record_iterator_in};
use millstream_files::Files;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TFRecordDataset")
        .doc(
            "Returns a dataset of the records of TFRecord files. `compression_type` is empty for none, `GZIP` \
             or `ZLIB`. A record that is truncated or has a wrong checksum is a `DATA_LOSS` error. \
             `buffer_size` does not change the elements.",
        )
        .input("filenames", DType::Str)
        .input("compression_type", DType::Str)
        .input("buffer_size", DType::I64);
    makes(def, run).infer(infer)
}

impl Open for RecordReader<Source> {
    fn next(&mut self, files: &Files) -> Result<Option<Vec<u8>>> {
        self.get_ref().checked_by(files);
        self.record()
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (names, compression) = (names(cx)?, compression(cx, 1)?);
    ensure!(cx.int(2)? >= 0, "`buffer_size` must be >= 0 (0 == no buffering)");
    let opens = move |files: &Files, file: &str| -> Result<Box<dyn Open>> {
        Ok(Box::new(tf_record_iterator_in(files, file, compression)?))
    };
    give(cx, Records::of(names, Arc::new(opens)))
}

cases! {
    is_a_variant: "TFRecordDataset(str[?], str[], i64[]) : variant[]",
    knows_its_compression: "TFRecordDataset([\"a\"], \"LZMA\", i64 0) ! unknown compression \"LZMA\"",
    a_file: "DatasetToSingleElement(TFRecordDataset(\"/millstream/none\", \"\", i64 0); output_types={str}, output_shapes={shape[]}) ! /millstream/none",
    one_buffer: "TFRecordDataset(str[?], str[], i64[2]) ! `buffer_size` must be a scalar",
}
