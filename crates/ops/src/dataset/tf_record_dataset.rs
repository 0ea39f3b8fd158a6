//! `TFRecordDataset`: the records of TFRecord files.

use super::datasets::{give, makes};
use super::records::{Open, Records, infer, names};
use crate::shared::compression::AnyCompression;
use millstream_checkpoint::records::{RecordReader, Source, tf_record_iterator_in};
use millstream_files::Files;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TFRecordDataset")
        .doc(
            "Returns a dataset of the records of TFRecord files. `compression_type` is empty for none, `GZIP` \
             or `ZLIB`; with any other, as in TensorFlow, the files are read as they are. A record that is \
             truncated or has a wrong checksum is a `DATA_LOSS` error; a file that ends before the length of a \
             record is whole has no more. `buffer_size` does not change the elements.",
        )
        .input("filenames", DType::Str)
        .input("compression_type", DType::Str)
        .input("buffer_size", DType::I64);
    makes(def, run).infer(infer)
}

struct TfRecords {
    records: RecordReader<Source>,
    compression: AnyCompression,
}

impl Open for TfRecords {
    fn next(&mut self, files: &Files) -> Result<Option<Vec<u8>>> {
        self.records.get_ref().checked_by(files);
        self.records.record().map_err(|error| self.compression.explain(error))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let names = names(cx)?;
    let compression = cx.input(1).as_strs().and_then(|strs| strs.first()).map(|s| s.text().into_owned());
    let compression = AnyCompression::of(compression.unwrap_or_default());
    ensure!(cx.int(2)? >= 0, "`buffer_size` must be >= 0 (0 == no buffering)");
    let opens = move |files: &Files, file: &str| -> Result<Box<dyn Open>> {
        let records = tf_record_iterator_in(files, file, compression.known())?.lenient();
        Ok(Box::new(TfRecords { records, compression: compression.clone() }))
    };
    give(cx, Records::of(names, Arc::new(opens)))
}

cases! {
    is_a_variant: "TFRecordDataset(str[?], str[], i64[]) : variant[]",
    any_compression: "DatasetToSingleElement(TFRecordDataset(\"/millstream/none\", \"LZMA\", i64 0); output_types={str}, output_shapes={shape[]}) ! /millstream/none",
    a_file: "DatasetToSingleElement(TFRecordDataset(\"/millstream/none\", \"\", i64 0); output_types={str}, output_shapes={shape[]}) ! /millstream/none",
    one_buffer: "TFRecordDataset(str[?], str[], i64[2]) ! `buffer_size` must be a scalar",
}
