//! `FixedLengthRecordReader`, `FixedLengthRecordReaderV2`: records of a fixed length.

use super::readers::{By, generations, key, named, opener, opening, path, skip};
use millstream_checkpoint::records::{Compression, Source, open, read_on};
use millstream_files::Files;
use millstream_graph::op::spec::{Int, Spec, Text};
use millstream_graph::op::{BuildCx, OpDef, Run};
use millstream_state::{Format, Found};
use millstream_tensor::{Code, Error, Result, Str, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["FixedLengthRecordReader", "FixedLengthRecordReaderV2"], |name, by| {
        let opens = opener(name, by, make)
            .attr("header_bytes", Int.or(0))
            .attr("record_bytes", Int)
            .attr("footer_bytes", Int.or(0))
            .attr("hop_bytes", Int.or(0));
        let opens = named(opens);
        let opens = match by {
            By::Reference => opens,
            By::Resource => opens.attr("encoding", Text.or("")),
        };
        opens.doc(
            "Returns a handle to the reader `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. A file has a header of `header_bytes`, records of \
             `record_bytes` that begin every `hop_bytes` (0: directly one after another), and a footer of \
             `footer_bytes`. Bytes before the footer that do not complete a record are ignored. A record's \
             key is `FILE:NUMBER`. If `encoding` is `GZIP` or `ZLIB`, files are decompressed.",
        )
    })
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let attrs = &cx.node.attrs;
    let bytes = |name: &str| {
        let n = attrs.int(name)?;
        u64::try_from(n).map_err(|_| Error::invalid(format!("`{name}` must not be negative, but is {n}")))
    };
    let (header, record, footer) = (bytes("header_bytes")?, bytes("record_bytes")?, bytes("footer_bytes")?);
    ensure!(record > 0, "`record_bytes` must be positive, but is 0");
    let hop = match bytes("hop_bytes")? {
        0 => record,
        hop => hop,
    };
    let encoding = attrs.str("encoding").map(|e| e.text().into_owned()).unwrap_or_default();
    let compression = Compression::parse(&encoding)?;
    opening(cx, move || {
        let from = None;
        Box::new(Fixed {
            header,
            record,
            footer,
            hop,
            compression,
            file: String::new(),
            from,
            ahead: Vec::new(),
            between: 0,
            n_records: 0,
        })
    })
}

struct Fixed {
    header: u64,
    record: u64,
    footer: u64,
    hop: u64,
    compression: Compression,
    file: String,
    from: Option<Source>,
    /// Bytes that were read but not returned: the beginning of a record. Only what follows shows whether they
    /// are the footer.
    ahead: Vec<u8>,
    /// The bytes to skip before the next record.
    between: u64,
    n_records: u64,
}

impl Format for Fixed {
    fn begin(&mut self, work: &Str, files: &Files) -> Result<()> {
        self.reset();
        let file = path(work)?;
        let mut from = open(files, file, self.compression)?;
        let mut left = self.header;
        skip(&mut from, &mut left, file)?;
        if 0 < left {
            let there = self.header - left;
            return Err(Error::new(
                Code::DataLoss,
                format!(
                    "`{file}` is damaged: {} bytes of header are wanted, but there are {there}",
                    self.header
                ),
            ));
        }
        (self.file, self.from, self.n_records) = (file.to_owned(), Some(from), 0);
        Ok(())
    }

    fn record(&mut self, files: &Files) -> Result<Found> {
        let Some(from) = &mut self.from else { return Ok(Found::End) };
        from.checked_by(files);
        let wanted = self.record.saturating_add(self.footer);
        skip(from, &mut self.between, &self.file)?;
        read_on(from, wanted, &self.file, &mut self.ahead)?;
        if (self.ahead.len() as u64) < wanted {
            self.reset();
            return Ok(Found::End);
        }
        let record = Str::new(&self.ahead[..self.record as usize])?;
        let key = key(&self.file, self.n_records)?;
        self.n_records += 1;
        let n_ahead = self.ahead.len() as u64;
        match usize::try_from(self.hop) {
            Ok(hop) if hop <= self.ahead.len() => drop(self.ahead.drain(..hop)),
            // At the end of the file, there is no next record.
            _ => {
                self.ahead.clear();
                self.between = self.hop - n_ahead;
            }
        }
        Ok(Found::Record((key, record)))
    }

    fn reset(&mut self) {
        self.from = None;
        self.ahead = Vec::new();
        self.between = 0;
    }
}

cases! {
    starts_anew: "ReaderNumRecordsProducedV2(FixedLengthRecordReaderV2(; record_bytes=4, encoding=\"GZIP\")) = i64 0",
    by_its_old_name: "ReaderNumRecordsProduced(FixedLengthRecordReader(; record_bytes=4, hop_bytes=2)) = i64 0",
    of_some_bytes: "FixedLengthRecordReaderV2(; record_bytes=0) ! `record_bytes` must be positive",
    no_negative_sizes: "FixedLengthRecordReaderV2(; record_bytes=1, footer_bytes=-1) ! `footer_bytes` must not be negative",
    knows_its_encoding: "FixedLengthRecordReaderV2(; record_bytes=1, encoding=\"LZMA\") ! unknown compression \"LZMA\"",
}
