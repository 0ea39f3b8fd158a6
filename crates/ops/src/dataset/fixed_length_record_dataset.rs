//! `FixedLengthRecordDataset`, `FixedLengthRecordDatasetV2`: records of a fixed length.

use super::datasets::{give, makes};
use super::records::{Open, Records, compression, infer, names};
use millstream_checkpoint::records::{Compression, Source, open, read_on};
use millstream_files::Files;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{DType, Error, Result, invalid};
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 2] {
    [false, true].map(|newer| {
        let def = OpDef::new(if newer { "FixedLengthRecordDatasetV2" } else { "FixedLengthRecordDataset" })
            .doc(
                "Returns a dataset of the records of files: a header of `header_bytes`, records of \
                 `record_bytes`, and a footer of `footer_bytes`. `buffer_size` does not change the elements.",
            )
            .input("filenames", DType::Str)
            .input("header_bytes", DType::I64)
            .input("record_bytes", DType::I64)
            .input("footer_bytes", DType::I64)
            .input("buffer_size", DType::I64);
        let def = if newer { def.input("compression_type", DType::Str) } else { def };
        makes(def, run).infer(infer)
    })
}

struct Fixed {
    from: Source,
    file: String,
    header: u64,
    record: u64,
    footer: u64,
    /// The size of the file, if it is known and not yet checked.
    whole: Option<u64>,
    /// The bytes of the header that were read, and those of records.
    skipped: u64,
    read: u64,
    /// Bytes that were read but not returned. Only what follows shows whether they are the footer.
    ahead: Vec<u8>,
}

impl Open for Fixed {
    fn next(&mut self, files: &Files) -> Result<Option<Vec<u8>>> {
        self.from.checked_by(files);
        if let Some(n) = self.whole.take() {
            let body = i128::from(n) - i128::from(self.header) - i128::from(self.footer);
            if body < 0 || body % i128::from(self.record) != 0 {
                return Err(self.uneven(body));
            }
        }
        if self.skipped < self.header {
            read_on(&mut self.from, self.header, &self.file, &mut self.ahead)?;
            let there = self.ahead.len() as u64;
            if there < self.header {
                return Err(
                    self.uneven(i128::from(there) - i128::from(self.header) - i128::from(self.footer))
                );
            }
            self.ahead.clear();
            self.skipped = self.header;
        }
        let wanted = self.record.saturating_add(self.footer);
        read_on(&mut self.from, wanted, &self.file, &mut self.ahead)?;
        let there = self.ahead.len() as u64;
        if there < wanted {
            if there != self.footer {
                return Err(self.uneven(i128::from(self.read) + i128::from(there) - i128::from(self.footer)));
            }
            return Ok(None);
        }
        self.read = self.read.saturating_add(self.record);
        let rest = self.ahead.split_off(self.record as usize);
        Ok(Some(std::mem::replace(&mut self.ahead, rest)))
    }
}

impl Fixed {
    /// The error for a body that is not a whole number of records. The size of a compressed file, and of one
    /// that is not regular, is known only at its end.
    fn uneven(&self, body: i128) -> Error {
        let Fixed { header, footer, file, record, .. } = self;
        invalid!(
            "Excluding the header ({header} bytes) and footer ({footer} bytes), input file \"{file}\" has body length {body} bytes, which is not an exact multiple of the record length ({record} bytes).";
            "a file holds a header, records and a footer, and here {} bytes are left over",
            if body < 0 { body } else { body % i128::from(*record) }
        )
        .with_help("check `record_bytes`, `header_bytes` and `footer_bytes`, or whether the file is cut off")
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let names = names(cx)?;
    let bytes = |i: usize, least: i64| {
        let (n, name) = (cx.int(i)?, cx.name_of(i));
        let than = if least > 0 { "> 0" } else { ">= 0" };
        u64::try_from(n).ok().filter(|_| n >= least).ok_or_else(|| invalid!("`{name}` must be {than}"))
    };
    let (header, record, footer, _buffer) = (bytes(1, 0)?, bytes(2, 1)?, bytes(3, 0)?, bytes(4, 0)?);
    let compression = if cx.n_inputs() > 5 { compression(cx, 5)? } else { Compression::None };
    let opens = move |files: &Files, file: &str| -> Result<Box<dyn Open>> {
        let from = open(files, file, compression)?;
        let (file, whole) = (file.to_owned(), from.n_bytes());
        Ok(Box::new(Fixed {
            from,
            file,
            header,
            record,
            footer,
            whole,
            skipped: 0,
            read: 0,
            ahead: Vec::new(),
        }))
    };
    give(cx, Records::of(names, Arc::new(opens)))
}

cases! {
    is_a_variant: "FixedLengthRecordDatasetV2(str[?], i64[], i64[], i64[], i64[], str[]) : variant[]",
    of_some_bytes: "FixedLengthRecordDataset([\"a\"], i64 0, i64 0, i64 0, i64 0) ! `record_bytes` must be > 0",
    no_negative_sizes: "FixedLengthRecordDatasetV2([\"a\"], i64 -1, i64 1, i64 0, i64 0, \"\") ! `header_bytes` must be >= 0",
    a_file: "DatasetToSingleElement(FixedLengthRecordDataset(\"/millstream/none\", i64 0, i64 1, i64 0, i64 0); output_types={str}, output_shapes={shape[]}) ! /millstream/none",
}
