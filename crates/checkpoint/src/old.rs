//! [`Old`]: TensorFlow's checkpoints of the first format, which are one file: a sorted table.
//!
//! ```text
//! ""               SavedTensorSlices { meta: all tensors: name, shape, dtype, the parts that are here }
//! key of a part    SavedTensorSlices { data: name, part, elements }
//! ```
//!
//! A tensor that was saved whole is one part. The elements are in the list for their dtype, in full length.
//! A checkpoint in several files has one table for each, with parts of its own.

use crate::bundle::Parts;
use crate::bytes::{Cursor, put_varint};
use crate::message::{self, encode_lists, encode_shape};
use crate::slice::Slice;
use crate::write::Item;
use crate::{Info, check_name, corrupt, not_plain, shape_of, table};
use millstream_files::{Files, write_whole};
use millstream_proto::{TensorProto, TensorShapeProto, TensorSliceProto, decode, encode};
use millstream_tensor::{DType, Result, Shape, Tensor, ensure};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of files, as in the second format.
const VERSION: u64 = 1;

/// A file, with its descriptions decoded.
#[derive(Debug)]
pub(crate) struct Old {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    tensors: BTreeMap<String, Saved>,
}

/// A tensor: its description, and the parts that are in the file.
#[derive(Debug)]
struct Saved {
    info: Info,
    parts: Vec<Slice>,
}

/// Calls `take` with the number of each field of a message, and its bytes if it is neither a number.
fn fields<'a>(bytes: &'a [u8], mut take: impl FnMut(u64, u64, &'a [u8]) -> Result<()>) -> Result<()> {
    let mut rest = Cursor(bytes);
    while !rest.0.is_empty() {
        let tag = rest.varint()?;
        let (number, bytes): (u64, &[u8]) = match tag & 7 {
            0 => (rest.varint()?, &[]),
            1 => (0, rest.take(8)?),
            2 => {
                let n = rest.length()?;
                (0, rest.take(n)?)
            }
            5 => (0, rest.take(4)?),
            kind => return Err(corrupt(format!("a field of the unknown kind {kind}"))),
        };
        take(tag >> 3, number, bytes)?;
    }
    Ok(())
}

fn put(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_number(out: &mut Vec<u8>, field: u64, value: u64) {
    put_varint(out, field << 3);
    put_varint(out, value);
}

impl Saved {
    /// Reads a SavedSliceMeta.
    fn read(bytes: &[u8]) -> Result<(String, Saved)> {
        let (mut name, mut shape, mut dtype, mut parts) =
            (&[][..], TensorShapeProto::default(), 0, Vec::new());
        fields(bytes, |field, number, bytes| {
            match field {
                1 => name = bytes,
                2 => shape = decode(bytes).map_err(corrupt)?,
                3 => dtype = number,
                4 => parts.push(Slice::from_message(&decode::<TensorSliceProto>(bytes).map_err(corrupt)?)?),
                _ => {}
            }
            Ok(())
        })?;
        let name = std::str::from_utf8(name).map_err(|_| corrupt("the name of a tensor is not UTF-8"))?;
        ensure!(!shape.unknown_rank, "`{name}` has an unknown rank");
        let shape = shape_of(&shape.dim.iter().map(|d| d.size).collect::<Vec<_>>())?;
        let dtype =
            message::dtype(i32::try_from(dtype).map_err(|_| corrupt("a dtype is no number of one"))?)?;
        Ok((name.to_owned(), Saved { info: Info { dtype, shape }, parts }))
    }
}

impl Old {
    pub(crate) fn open(files: &Files, path: &Path) -> Result<Old> {
        Old::from_table(table::read(&files.read(path)?)?)
    }

    fn from_table(mut entries: BTreeMap<Vec<u8>, Vec<u8>>) -> Result<Old> {
        let header = entries.remove(&[][..]).ok_or_else(|| corrupt("its table has no header"))?;
        let (mut tensors, mut wanted) = (BTreeMap::new(), 0);
        fields(&header, |field, _, meta| match field {
            1 => fields(meta, |field, _, bytes| {
                match field {
                    1 => {
                        let (name, saved) = Saved::read(bytes)?;
                        ensure!(
                            tensors.insert(name.clone(), saved).is_none(),
                            "the checkpoint is damaged: it has two tensors `{name}`"
                        );
                    }
                    // The second field of a version is the least reader.
                    2 => fields(bytes, |field, number, _| {
                        if field == 2 {
                            wanted = number;
                        }
                        Ok(())
                    })?,
                    _ => {}
                }
                Ok(())
            }),
            _ => Ok(()),
        })?;
        ensure!(
            wanted <= VERSION,
            "the checkpoint requires a reader of version {wanted} or later; this is version {VERSION}"
        );
        Ok(Old { entries, tensors })
    }

    pub(crate) fn tensors(&self) -> Vec<(&str, Info)> {
        self.tensors.iter().map(|(name, saved)| (name.as_str(), saved.info.clone())).collect()
    }

    pub(crate) fn info(&self, name: &str) -> Option<Info> {
        self.tensors.get(name).map(|saved| saved.info.clone())
    }

    /// Reads a tensor, put together from its parts.
    pub(crate) fn read(&self, name: &str) -> Result<Tensor> {
        let saved =
            self.tensors.get(name).ok_or_else(|| corrupt(format!("the tensor `{name}` is missing")))?;
        let whole = &saved.info.shape;
        let mut parts = Vec::new();
        let mut there = 0usize;
        // Parts are read before memory is taken for the whole, which a few bytes may claim to be huge.
        for slice in &saved.parts {
            let shape = slice.shape(whole).map_err(|e| corrupt(e.message()))?;
            let part = self.read_part(name, slice, saved.info.dtype, &shape)?;
            if slice.is_whole() {
                return Ok(part);
            }
            there = there.saturating_add(shape.elements());
            parts.push((slice.clone(), part));
        }
        let short = || corrupt(format!("the parts in the file do not make up all of {whole}"));
        if there < whole.elements() {
            return Err(short());
        }
        Parts::new(&saved.info, parts.len())?.fill(parts, |part| Ok(part.clone()))?.ok_or_else(short)
    }

    fn read_part(&self, name: &str, slice: &Slice, dtype: DType, shape: &Shape) -> Result<Tensor> {
        let gone = || corrupt(format!("a part of `{name}` is missing"));
        let entry = self.entries.get(&slice.key(name)).ok_or_else(gone)?;
        let mut data = None;
        fields(entry, |field, _, saved| match field {
            2 => fields(saved, |field, _, bytes| {
                if field == 3 {
                    data = Some(decode::<TensorProto>(bytes).map_err(corrupt)?);
                }
                Ok(())
            }),
            _ => Ok(()),
        })?;
        let mut data = data.ok_or_else(gone)?;
        (data.dtype, data.tensor_shape) = (dtype.number(), Some(encode_shape(&shape.into())));
        // A list may not be shorter here, so that memory is bounded by the file.
        let count = shape.elements();
        let given = message::listed(&data);
        ensure!(
            data.tensor_content.is_empty() && given == count,
            "the checkpoint is damaged: a part of {count} elements has {given}"
        );
        message::decode(&data, &mut |_, _| Ok(()))
    }
}

/// Writes a file of this format. The old file stays whole until the new one is whole and durable.
pub(crate) fn write(files: &Files, path: &Path, items: &[Item<'_>]) -> Result<()> {
    struct Meta {
        whole: Shape,
        dtype: DType,
        parts: Vec<Slice>,
    }
    let mut tensors: Vec<(&str, Meta)> = Vec::new();
    let mut entries = BTreeMap::new();
    for item in items {
        check_name(item.name)?;
        let own = item.tensor.shape();
        let (whole, slice) =
            item.part.clone().unwrap_or_else(|| (own.clone(), Slice(vec![None; own.rank()])));
        let shape = slice.shape(&whole)?;
        ensure!(
            shape == *own,
            "the part of `{}` has shape {shape} but the tensor given for it has shape {own}",
            item.name
        );
        let dtype = item.tensor.dtype();
        match tensors.iter_mut().find(|(name, _)| *name == item.name) {
            Some((name, meta)) => {
                ensure!(
                    meta.whole == whole && meta.dtype == dtype,
                    "the parts of `{name}` belong to different tensors"
                );
                meta.parts.push(slice.clone());
            }
            None => tensors.push((item.name, Meta { whole, dtype, parts: vec![slice.clone()] })),
        }
        let mut data = encode_lists(item.tensor)?.ok_or_else(|| not_plain(dtype))?;
        (data.dtype, data.tensor_shape) = (0, None);
        let mut saved = Vec::new();
        put(&mut saved, 1, item.name.as_bytes());
        put(&mut saved, 2, &encode(&slice.to_message()));
        put(&mut saved, 3, &encode(&data));
        let mut entry = Vec::new();
        put(&mut entry, 2, &saved);
        ensure!(
            entries.insert(slice.key(item.name), entry).is_none(),
            "`{}` would be written twice",
            item.name
        );
    }
    let mut meta = Vec::new();
    for (name, saved) in &tensors {
        let mut tensor = Vec::new();
        put(&mut tensor, 1, name.as_bytes());
        put(&mut tensor, 2, &encode(&encode_shape(&(&saved.whole).into())));
        put_number(&mut tensor, 3, saved.dtype.number().unsigned_abs().into());
        for part in &saved.parts {
            put(&mut tensor, 4, &encode(&part.to_message()));
        }
        put(&mut meta, 1, &tensor);
    }
    let mut version = Vec::new();
    put_number(&mut version, 1, VERSION);
    put(&mut meta, 2, &version);
    let mut header = Vec::new();
    put(&mut header, 1, &meta);
    entries.insert(Vec::new(), header);
    write_whole(files, path, &table::write(&entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checkpoint;
    use millstream_tensor::{Code, Str};

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("millstream-old-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = folder("again");
        let path = folder.join("model");
        let tensors = [
            Tensor::from_slice([2, 3], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("floats"),
            Tensor::scalar(7i64),
            Tensor::strings([2], vec![Str::from(&b"a"[..]), Str::from(&b""[..])]).expect("strings"),
            Tensor::from_slice([3], &[true, false, true]).expect("bools"),
            Tensor::zeros(DType::F64, [0, 3]).expect("nothing"),
            Tensor::from_slice([2], &[millstream_tensor::f16::from_f32(0.5); 2]).expect("halves"),
        ];
        let names: Vec<String> = (0..tensors.len()).map(|i| format!("t{i}")).collect();
        let items: Vec<Item<'_>> =
            names.iter().zip(&tensors).map(|(name, tensor)| Item { name, part: None, tensor }).collect();
        write(&Files::everything(), &path, &items).expect("writes");
        let checkpoint = Checkpoint::open(&path).expect("opens");
        for (name, tensor) in names.iter().zip(&tensors) {
            assert_eq!(checkpoint.read(name).expect("reads").to_string(), tensor.to_string(), "{name}");
        }
        assert_eq!(checkpoint.read("t9").unwrap_err().code(), Code::NotFound);
        std::fs::remove_dir_all(folder).expect("removes");
    }

    #[test]
    fn parts_are_put_together() {
        let folder = folder("parts");
        let path = folder.join("model");
        let (top, rest) = (Tensor::vector(&[1i32, 2]).expect("top"), Tensor::vector(&[3i32]).expect("rest"));
        let part = |text: &str| Some(Slice::parse(text).expect("a part"));
        let first = Item { name: "v", part: part("3 0,2"), tensor: &top };
        let second = Item { name: "v", part: part("3 2,1"), tensor: &rest };
        write(&Files::everything(), &path, &[first.clone(), second]).expect("writes");
        let read = Checkpoint::open(&path).expect("opens").read("v").expect("reads");
        assert_eq!(read.as_slice::<i32>().expect("i32"), [1, 2, 3]);
        write(&Files::everything(), &path, &[first]).expect("writes");
        let short = Checkpoint::open(&path).expect("opens").read("v").unwrap_err();
        assert!(short.to_string().contains("the parts in the file do not make up all of [3]"), "{short}");
        std::fs::remove_dir_all(folder).expect("removes");
    }

    #[test]
    fn a_short_list_is_refused() {
        let mut data = Vec::new();
        put(&mut data, 1, b"v");
        put(&mut data, 3, &encode(&TensorProto { float_val: vec![1.0], ..TensorProto::default() }));
        let mut entry = Vec::new();
        put(&mut entry, 2, &data);
        let slice = Slice(vec![None]);
        let shape = Shape::from([1usize << 40]);
        let saved = Saved { info: Info { dtype: DType::F32, shape }, parts: vec![slice.clone()] };
        let old = Old {
            entries: BTreeMap::from([(slice.key("v"), entry)]),
            tensors: BTreeMap::from([("v".to_owned(), saved)]),
        };
        let refused = old.read("v").unwrap_err();
        assert!(refused.to_string().contains("a part of 1099511627776 elements has 1"), "{refused}");
    }
}
