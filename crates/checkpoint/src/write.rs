//! [`write`]: saves tensors to a checkpoint.

use crate::bundle::{VERSION, data_file, length_sum};
use crate::bytes::{mask, put_varint};
use crate::files::{Shard, exchange, make_folder};
use crate::message::encode_shape;
use crate::slice::Slice;
use crate::{check_name, is_safetensors, not_plain, safe, table};
use millstream_files::{Files, Pending};
use millstream_proto::{BundleEntryProto, BundleHeaderProto, VersionDef, encode};
use millstream_tensor::budget::Room;
use millstream_tensor::{Result, Shape, Tensor, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A tensor to write.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The name in the checkpoint.
    pub name: &'a str,
    /// If the tensor is a part: the shape of the whole tensor, and the part's place in it.
    pub part: Option<(Shape, Slice)>,
    /// The elements.
    pub tensor: &'a Tensor,
}

/// Writes a checkpoint: a safetensors file if the path ends in `.safetensors`, otherwise TensorFlow's
/// second format with this prefix. A checkpoint that is there stays whole until the new one is whole and
/// durable, and if anything fails.
pub fn write(path: impl AsRef<Path>, items: &[Item<'_>]) -> Result<()> {
    write_in(&Files::everything(), path, items)
}

/// [`write()`], with the files that may be opened.
pub fn write_in(files: &Files, path: impl AsRef<Path>, items: &[Item<'_>]) -> Result<()> {
    let path = path.as_ref();
    let written = match is_safetensors(path) {
        true => safe::write(files, path, items),
        false => write_bundle(files, path, items),
    };
    written.map_err(|e| e.note(format!("in checkpoint `{}`", path.display())))
}

/// Writes a checkpoint of TensorFlow's first format, which is one file at this path.
pub fn write_old_in(files: &Files, path: impl AsRef<Path>, items: &[Item<'_>]) -> Result<()> {
    let path = path.as_ref();
    crate::old::write(files, path, items).map_err(|e| e.note(format!("in checkpoint `{}`", path.display())))
}

fn write_bundle(files: &Files, prefix: &Path, items: &[Item<'_>]) -> Result<()> {
    let mut writer = Writer::new(files, prefix)?;
    items.iter().try_for_each(|item| writer.add(item))?;
    writer.finish()
}

/// Writes a checkpoint of TensorFlow's second format, one tensor after another. The tensors go to a file that
/// has another name until [`finish`](Writer::finish). Dropped before, a writer leaves nothing behind, and a
/// checkpoint under the prefix stays as it is.
///
/// ```
/// use millstream_checkpoint::{Checkpoint, Item, Writer};
/// use millstream_files::Files;
/// use millstream_tensor::Tensor;
/// # let folder = std::env::temp_dir().join(format!("millstream-writer-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let prefix = folder.join("c");
/// let mut writer = Writer::new(&Files::everything(), &prefix)?;
/// writer.add(&Item { name: "x", part: None, tensor: &Tensor::scalar(7i32) })?;
/// writer.finish()?;
/// assert_eq!(Checkpoint::open(&prefix)?.read("x")?.as_slice::<i32>()?, [7]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    files: Files,
    prefix: PathBuf,
    data: Pending,
    entries: BTreeMap<Vec<u8>, BundleEntryProto>,
    offset: i64,
    /// What the entries take, and their index when it is written.
    room: Room,
}

/// The bytes that an entry takes besides its name: in the map, encoded, and in the index.
const ENTRY: usize = 512;

impl Writer {
    /// Begins the checkpoint with this prefix. Creates its folder, whose parent must exist.
    pub fn new(files: &Files, prefix: &Path) -> Result<Writer> {
        make_folder(files, prefix)?;
        let data = Pending::new(files, &data_file(prefix, 0, 1))?;
        let (files, prefix) = (files.clone(), prefix.to_owned());
        Ok(Writer { files, prefix, data, entries: BTreeMap::new(), offset: 0, room: Room::default() })
    }

    /// Adds a tensor, or a part of one. After an error the checkpoint cannot be finished.
    pub fn add(&mut self, item: &Item<'_>) -> Result<()> {
        check_name(item.name)?;
        self.room.add(item.name.len().saturating_mul(4).saturating_add(ENTRY))?;
        let mut entry = put(&mut self.data, item.tensor)?;
        entry.offset = self.offset;
        self.offset += entry.size;
        let key = match &item.part {
            Some((whole, slice)) if !slice.is_whole() => {
                note_part(&mut self.entries, item, whole, slice)?;
                slice.key(item.name)
            }
            _ => item.name.as_bytes().to_vec(),
        };
        let again = self.entries.insert(key, entry).is_some();
        ensure!(!again, "`{}` would be written twice", item.name);
        Ok(())
    }

    /// Makes the checkpoint take the place of the one that has the prefix. It is durable afterwards.
    pub fn finish(self) -> Result<()> {
        let Writer { files, prefix, data, entries, room: _charged, .. } = self;
        let table: BTreeMap<Vec<u8>, Vec<u8>> = entries.into_iter().map(|(k, e)| (k, encode(&e))).collect();
        exchange(&files, &prefix, vec![Shard::New(data)], &|n_shards| index(&table, n_shards))
    }
}

/// The bytes of an index with these entries.
pub(crate) fn index(entries: &BTreeMap<Vec<u8>, Vec<u8>>, n_shards: i32) -> Vec<u8> {
    let mut entries = entries.clone();
    entries.insert(Vec::new(), encode(&header(n_shards)));
    table::write(&entries)
}

fn header(num_shards: i32) -> BundleHeaderProto {
    let version = VersionDef { producer: VERSION, ..VersionDef::default() };
    BundleHeaderProto { num_shards, endianness: 0, version: Some(version) }
}

/// Adds the part to the entry of the whole tensor.
fn note_part(
    entries: &mut BTreeMap<Vec<u8>, BundleEntryProto>,
    item: &Item<'_>,
    whole: &Shape,
    slice: &Slice,
) -> Result<()> {
    let own = slice.shape(whole)?;
    ensure!(
        own == *item.tensor.shape(),
        "the part of `{}` has shape {own} but the tensor given for it has shape {}",
        item.name,
        item.tensor.shape()
    );
    let new = BundleEntryProto {
        dtype: item.tensor.dtype().number(),
        shape: Some(encode_shape(&whole.into())),
        ..Default::default()
    };
    let entry = entries.entry(item.name.as_bytes().to_vec()).or_insert_with(|| new.clone());
    ensure!(
        entry.dtype == new.dtype && entry.shape == new.shape && entry.size == 0,
        "the parts of `{}` belong to different tensors",
        item.name
    );
    entry.slices.push(slice.to_message());
    Ok(())
}

/// Writes the elements of a tensor. Returns its entry.
fn put(data: &mut Pending, tensor: &Tensor) -> Result<BundleEntryProto> {
    let (crc, size) = match (tensor.as_bytes(), tensor.as_strs()) {
        (Some(bytes), _) => {
            // The sum of a large tensor takes as long as writing it.
            let mut crc = 0;
            for piece in bytes.chunks(4 << 20) {
                data.put(piece)?;
                crc = crc32c::crc32c_append(crc, piece);
            }
            (crc, bytes.len())
        }
        (None, Some(strs)) => {
            let mut head = Vec::new();
            let mut crc = 0;
            for text in strs {
                put_varint(&mut head, text.len() as u64);
                crc = length_sum(crc, text.len());
            }
            let sum = mask(crc).to_le_bytes();
            head.extend(sum);
            crc = crc32c::crc32c_append(crc, &sum);
            data.put(&head)?;
            let mut size = head.len();
            for text in strs {
                crc = crc32c::crc32c_append(crc, text);
                data.put(text)?;
                size += text.len();
            }
            (crc, size)
        }
        _ => return Err(not_plain(tensor.dtype())),
    };
    Ok(BundleEntryProto {
        dtype: tensor.dtype().number(),
        shape: Some(encode_shape(&tensor.shape().into())),
        size: size as i64,
        crc32c: mask(crc),
        ..BundleEntryProto::default()
    })
}
