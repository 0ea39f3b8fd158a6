//! [`Bundle`]: reads a TensorFlow checkpoint of the second format.

use crate::bytes::{Cursor, is_sum};
use crate::files::with_suffix;
use crate::slice::Slice;
use crate::{Info, corrupt, shape_of, table};
use millstream_files::{Files, file_error};
use millstream_proto::{BundleEntryProto, BundleHeaderProto, decode};
use millstream_tensor::{Code, DType, Error, Result, Shape, Str, Tensor, ensure};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Our files can be read by readers of this version, and we read files that require no later one.
pub(crate) const VERSION: i32 = 1;

/// The index of a checkpoint and the location of its data.
#[derive(Debug)]
pub(crate) struct Bundle {
    files: Files,
    prefix: PathBuf,
    shards: i32,
    /// The entries of tensors and, under keys that begin with a zero byte, of parts of tensors.
    entries: BTreeMap<Vec<u8>, Entry>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) message: BundleEntryProto,
    pub(crate) info: Info,
}

/// The path of a data file.
pub(crate) fn data_file(prefix: &Path, shard: i32, shards: i32) -> PathBuf {
    with_suffix(prefix, &format!(".data-{shard:05}-of-{shards:05}"))
}

pub(crate) fn index_file(prefix: &Path) -> PathBuf {
    with_suffix(prefix, ".index")
}

/// The number of data files that the index under the prefix claims; `None` if there is no index, or none that
/// can be read: then there is no checkpoint that could be lost.
pub(crate) fn shards_of(files: &Files, prefix: &Path) -> Result<Option<i32>> {
    match files.read_if_there(&index_file(prefix))? {
        None => Ok(None),
        Some(bytes) => Ok(table::read(&bytes).and_then(|mut t| header(&mut t)).ok().map(|h| h.num_shards)),
    }
}

/// Takes the header from the entries of an index.
fn header(table: &mut BTreeMap<Vec<u8>, Vec<u8>>) -> Result<BundleHeaderProto> {
    let header = table.remove(&[][..]).ok_or_else(|| corrupt("its index has no header"))?;
    decode(&header).map_err(corrupt)
}

impl Bundle {
    pub(crate) fn open(files: &Files, prefix: &Path) -> Result<Bundle> {
        let bytes = files.read(&index_file(prefix)).map_err(|e| match e.code() {
            Code::NotFound => {
                e.with_help("a checkpoint is named by its prefix, without `.index` or `.data-..`")
            }
            _ => e,
        })?;
        Bundle::from_index(files, prefix, &bytes)
    }

    fn from_index(files: &Files, prefix: &Path, bytes: &[u8]) -> Result<Bundle> {
        let mut table = table::read(bytes)?;
        let header = header(&mut table)?;
        ensure!(
            header.endianness == 0,
            "the checkpoint was written on a big-endian machine, which is not supported"
        );
        let wanted = header.version.as_ref().map_or(0, |v| v.min_consumer);
        ensure!(
            wanted <= VERSION,
            "the checkpoint requires a reader of version {wanted} or later; this is version {VERSION}"
        );
        ensure!(header.num_shards >= 0, "the checkpoint claims {} data files", header.num_shards);
        let entry = |(key, value): (Vec<u8>, Vec<u8>)| {
            let entry =
                Entry::read(&value).map_err(|e| e.note(format!("in the entry `{}`", key.escape_ascii())))?;
            Ok((key, entry))
        };
        let entries = table.into_iter().map(entry).collect::<Result<_>>()?;
        Ok(Bundle { files: files.clone(), prefix: prefix.to_owned(), shards: header.num_shards, entries })
    }

    pub(crate) fn shards(&self) -> i32 {
        self.shards
    }

    pub(crate) fn into_entries(self) -> BTreeMap<Vec<u8>, Entry> {
        self.entries
    }

    pub(crate) fn tensors(&self) -> Vec<(&str, Info)> {
        let names = self.entries.iter().filter(|(key, _)| key.first() != Some(&0));
        names.filter_map(|(key, e)| Some((std::str::from_utf8(key).ok()?, e.info.clone()))).collect()
    }

    pub(crate) fn info(&self, name: &str) -> Option<Info> {
        self.entries.get(name.as_bytes()).map(|e| e.info.clone())
    }

    pub(crate) fn read(&self, name: &str) -> Result<Tensor> {
        let entry = self.entry(name.as_bytes())?;
        match entry.message.slices.is_empty() {
            true => self.read_entry(entry),
            false => self.read_parts(name, entry),
        }
    }

    fn entry(&self, key: &[u8]) -> Result<&Entry> {
        self.entries.get(key).ok_or_else(|| corrupt(format!("the entry `{}` is missing", key.escape_ascii())))
    }

    /// The bytes of an entry. They must exist in the file before memory is allocated for them.
    fn bytes(&self, entry: &BundleEntryProto) -> Result<Vec<u8>> {
        ensure!(
            (0..self.shards).contains(&entry.shard_id),
            "an entry refers to data file {} of {}",
            entry.shard_id,
            self.shards
        );
        let path = data_file(&self.prefix, entry.shard_id, self.shards);
        let (Ok(offset), Ok(size)) = (u64::try_from(entry.offset), u64::try_from(entry.size)) else {
            return Err(corrupt(format!("an entry has {} bytes from byte {}", entry.size, entry.offset)));
        };
        let failed = |e: std::io::Error| file_error("read", &path, &e);
        let mut file = self.files.open(&path)?;
        let there = file.n_bytes().map_err(failed)?;
        if offset.checked_add(size).is_none_or(|end| there < end) {
            let file = path.display();
            return Err(corrupt(format!(
                "{size} bytes from byte {offset} are needed of `{file}`, which has {there}"
            )));
        }
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.len() as u64 == size {
            true => Ok(bytes),
            false => Err(corrupt(format!("`{}` ended early", path.display()))),
        }
    }

    fn read_entry(&self, Entry { message, info }: &Entry) -> Result<Tensor> {
        let elements = info.shape.elements();
        if let Some(size) = info.dtype.size() {
            let wanted = elements.checked_mul(size).and_then(|n| i64::try_from(n).ok());
            if wanted != Some(message.size) {
                return Err(corrupt(format!(
                    "{}{} does not have {} bytes",
                    info.dtype, info.shape, message.size
                )));
            }
            let bytes = self.bytes(message)?;
            check_sum(crc32c::crc32c(&bytes), message.crc32c)?;
            return Tensor::from_bytes(info.dtype, info.shape.clone(), &bytes);
        }
        if info.dtype != DType::Str {
            return Err(Error::unimplemented(format!("{} cannot be read from a checkpoint", info.dtype)));
        }
        // Each string takes at least one byte, for its length.
        if i64::try_from(elements).is_ok_and(|n| n <= message.size) {
            let bytes = self.bytes(message)?;
            return Tensor::strings(info.shape.clone(), strings(&bytes, elements, message.crc32c)?);
        }
        Err(corrupt(format!("{} strings do not fit into {} bytes", elements, message.size)))
    }

    /// Reads a tensor that was saved in parts.
    fn read_parts(&self, name: &str, entry: &Entry) -> Result<Tensor> {
        let whole = &entry.info.shape;
        let mut parts = Vec::new();
        let mut there = 0usize;
        for message in &entry.message.slices {
            let slice = Slice::from_message(message)?;
            let part = self.entry(&slice.key(name))?;
            let shape = slice.shape(whole).map_err(|e| corrupt(e.message()))?;
            if part.info.dtype != entry.info.dtype
                || part.info.shape != shape
                || !part.message.slices.is_empty()
            {
                let (dtype, own) = (part.info.dtype, &part.info.shape);
                let of = entry.info.dtype;
                return Err(corrupt(format!(
                    "a part is {dtype}{own} but should be {of}{shape} of {of}{whole}"
                )));
            }
            there = there.saturating_add(shape.elements());
            parts.push((slice, part));
        }
        let short = || corrupt(format!("the parts do not make up all of {whole}"));
        if there < whole.elements() {
            return Err(short());
        }
        Parts::new(&entry.info, parts.len())?.fill(parts, |part| self.read_entry(part))?.ok_or_else(short)
    }
}

/// A tensor that is being assembled from parts.
pub(crate) struct Parts {
    info: Info,
    bytes: Vec<u8>,
    strs: Vec<Str>,
    filled: Vec<bool>,
}

impl Parts {
    pub(crate) fn new(info: &Info, n: usize) -> Result<Parts> {
        let info = info.clone();
        let elements = info.shape.elements();
        ensure!(n > 0, "a tensor in no parts");
        let size = info.dtype.size().unwrap_or(0);
        let bytes = vec![0; elements.checked_mul(size).ok_or_else(|| corrupt("a tensor is too large"))?];
        let strs = if info.dtype == DType::Str { vec![Str::default(); elements] } else { Vec::new() };
        Ok(Parts { info, bytes, strs, filled: vec![false; elements] })
    }

    /// Reads the parts and puts them in place. `None` if some element is in no part.
    pub(crate) fn fill<E>(
        mut self,
        parts: Vec<(Slice, E)>,
        read: impl Fn(&E) -> Result<Tensor>,
    ) -> Result<Option<Tensor>> {
        let gone = || corrupt("a part lies outside of its tensor");
        for (slice, entry) in parts {
            let part = read(&entry)?;
            let (starts, run) = slice.runs(&self.info.shape)?;
            for (k, start) in starts.into_iter().enumerate() {
                let (to, from) = (start..start + run, k * run..(k + 1) * run);
                self.filled.get_mut(to.clone()).ok_or_else(gone)?.fill(true);
                if let Some(strs) = part.as_strs() {
                    let from = strs.get(from).ok_or_else(gone)?;
                    self.strs.get_mut(to).ok_or_else(gone)?.clone_from_slice(from);
                } else if let (Some(bytes), Some(size)) = (part.as_bytes(), part.dtype().size()) {
                    let from = bytes.get(from.start * size..from.end * size).ok_or_else(gone)?;
                    let to = self.bytes.get_mut(to.start * size..to.end * size).ok_or_else(gone)?;
                    to.copy_from_slice(from);
                }
            }
        }
        if self.filled.contains(&false) {
            return Ok(None);
        }
        let Info { dtype, shape } = self.info;
        match dtype {
            DType::Str => Tensor::strings(shape, self.strs).map(Some),
            _ => Tensor::from_bytes(dtype, shape, &self.bytes).map(Some),
        }
    }
}

impl Entry {
    fn read(bytes: &[u8]) -> Result<Entry> {
        let message: BundleEntryProto = decode(bytes).map_err(corrupt)?;
        let dtype = DType::from_number(message.dtype)
            .ok_or_else(|| Error::unimplemented(format!("{} is not a known dtype number", message.dtype)))?;
        let dims = message.shape.as_ref().map_or(Vec::new(), |s| s.dim.iter().map(|d| d.size).collect());
        let unknown = message.shape.as_ref().is_some_and(|s| s.unknown_rank);
        ensure!(!unknown, "a tensor of unknown rank");
        let shape: Shape = shape_of(&dims)?;
        Ok(Entry { message, info: Info { dtype, shape } })
    }
}

fn check_sum(crc: u32, masked: u32) -> Result<()> {
    match is_sum(masked, crc) {
        true => Ok(()),
        false => Err(corrupt("the checksum of its elements is wrong")),
    }
}

/// Parses `n` strings: their lengths, the checksum of the lengths, their bytes.
fn strings(bytes: &[u8], n: usize, sum: u32) -> Result<Vec<Str>> {
    let mut rest = Cursor(bytes);
    let mut crc = 0;
    let mut lengths = Vec::with_capacity(n);
    for _ in 0..n {
        let len = rest.length()?;
        crc = length_sum(crc, len);
        lengths.push(len);
    }
    let own = rest.fixed32()?;
    check_sum(crc, own)?;
    crc = crc32c::crc32c_append(crc, &own.to_le_bytes());
    check_sum(crc32c::crc32c_append(crc, rest.0), sum)?;
    let strs = lengths.into_iter().map(|len| rest.take(len).map(Str::from)).collect::<Result<_>>()?;
    match rest.0.is_empty() {
        true => Ok(strs),
        false => Err(corrupt("there are more bytes than its strings have")),
    }
}

/// Adds a length to a checksum, as 32 bits if they suffice.
pub(crate) fn length_sum(crc: u32, len: usize) -> u32 {
    match u32::try_from(len) {
        Ok(len) => crc32c::crc32c_append(crc, &len.to_le_bytes()),
        Err(_) => crc32c::crc32c_append(crc, &(len as u64).to_le_bytes()),
    }
}
