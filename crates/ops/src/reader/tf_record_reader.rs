//! `TFRecordReader`, `TFRecordReaderV2`: the records of TFRecord files.

use super::readers::{generations, key, named, opener, opening, path};
use crate::shared::compression::AnyCompression;
use millstream_checkpoint::records::{RecordReader, Source, tf_record_iterator_in};
use millstream_files::Files;
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::{Spec, Text};
use millstream_state::{Format, Found};
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Result, Str};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["TFRecordReader", "TFRecordReaderV2"], |name, by| {
        let make = |cx: &millstream_graph::op::BuildCx| {
            let compression = AnyCompression::of(cx.node.attrs.str("compression_type")?.text().into_owned());
            opening(cx, move || {
                let compression = compression.clone();
                Box::new(Records { compression, file: String::new(), records: None })
            })
        };
        named(opener(name, by, make)).attr("compression_type", Text.or("")).doc(
            "Returns a handle to the reader `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. Records are those of TFRecord files. `compression_type` \
             is empty for none, `GZIP` or `ZLIB`; with any other, as in TensorFlow, files are read as they are. \
             A record's key is `FILE:OFFSET`. A record that is truncated or has a wrong checksum is a \
             `DATA_LOSS` error.",
        )
    })
}

struct Records {
    compression: AnyCompression,
    file: String,
    records: Option<RecordReader<Source>>,
}

impl Format for Records {
    fn begin(&mut self, work: &Str, files: &Files) -> Result<()> {
        let file = path(work)?;
        self.records = Some(tf_record_iterator_in(files, file, self.compression.known())?);
        self.file = file.to_owned();
        Ok(())
    }

    fn record(&mut self, files: &Files) -> Result<Found> {
        let Some(records) = &mut self.records else { return Ok(Found::End) };
        records.get_ref().checked_by(files);
        let at = records.offset();
        let record = records.record().map_err(|error| self.compression.explain(error))?;
        let _whole = uninterrupted();
        match record {
            Some(record) => Ok(Found::Record((key(&self.file, at)?, Str::new(record)?))),
            None => {
                self.records = None;
                Ok(Found::End)
            }
        }
    }

    fn reset(&mut self) {
        self.records = None;
    }
}

cases! {
    starts_anew: "ReaderNumRecordsProducedV2(TFRecordReaderV2()) = i64 0",
    by_its_old_name: "ReaderNumRecordsProduced(TFRecordReader(; compression_type=\"ZLIB\")) = i64 0",
    any_compression: "ReaderNumRecordsProducedV2(TFRecordReaderV2(; compression_type=\"LZMA\")) = i64 0",
}
