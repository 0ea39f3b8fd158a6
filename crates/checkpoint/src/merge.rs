//! [`merge`]: combines several checkpoints into one.

use crate::bundle::{Bundle, data_file, index_file};
use crate::files::{Shard, data_files, exchange, make_folder};
use crate::write::index;
use crate::{corrupt, is_safetensors};
use millstream_files::Files;
use millstream_proto::encode;
use millstream_tensor::{Error, Result, ensure};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::path::{Path, PathBuf};

/// Combines several checkpoints of TensorFlow's format into one. Their data files are moved and renumbered,
/// one index is written, and the old indexes are removed. Several checkpoints may hold parts of the same
/// tensor; any other duplicate is an error. The checkpoints stay whole until their combination is whole.
pub fn merge(prefixes: &[PathBuf], destination: impl AsRef<Path>) -> Result<()> {
    merge_in(&Files::everything(), prefixes, destination)
}

/// [`merge`], with the files that may be opened.
pub fn merge_in(files: &Files, prefixes: &[PathBuf], destination: impl AsRef<Path>) -> Result<()> {
    let destination = destination.as_ref();
    let safe = prefixes.iter().map(PathBuf::as_path).chain([destination]).find(|p| is_safetensors(p));
    if let Some(path) = safe {
        return Err(Error::unimplemented(format!(
            "safetensors files cannot be merged: `{}`",
            path.display()
        )));
    }
    let mut sources = Vec::new();
    let mut all = BTreeMap::new();
    let mut first = 0;
    for prefix in prefixes {
        let of = |e: Error| e.note(format!("in checkpoint `{}`", prefix.display()));
        let bundle = Bundle::open(files, prefix).map_err(of)?;
        let shards = bundle.shards();
        // An index of a few bytes can claim billions of data files; a folder holds those that it holds.
        let there = data_files(files, prefix, |of| of == shards)?.len();
        if there < shards as usize {
            return Err(of(corrupt(format!("its index claims {shards} data files, but there are {there}"))));
        }
        sources.extend((0..shards).map(|shard| data_file(prefix, shard, shards)));
        for (key, mut entry) in bundle.into_entries() {
            entry.message.shard_id += first;
            match all.entry(key) {
                Slot::Vacant(slot) => drop(slot.insert(entry)),
                Slot::Occupied(mut slot) => {
                    let there = slot.get_mut();
                    let parts = !there.message.slices.is_empty() && !entry.message.slices.is_empty();
                    ensure!(
                        parts && there.info == entry.info,
                        "two of the checkpoints hold `{}`",
                        slot.key().escape_ascii()
                    );
                    slot.get_mut().message.slices.extend(entry.message.slices);
                }
            }
        }
        first = first.checked_add(shards).ok_or_else(|| corrupt("there are too many data files"))?;
    }
    make_folder(files, destination)?;
    let table: BTreeMap<Vec<u8>, Vec<u8>> = all.into_iter().map(|(k, e)| (k, encode(&e.message))).collect();
    let shards = sources.iter().cloned().map(Shard::Of).collect();
    exchange(files, destination, shards, &|n_shards| index(&table, n_shards))?;
    for prefix in prefixes.iter().filter(|p| *p != destination) {
        files.remove(&index_file(prefix))?;
        for path in data_files(files, prefix, |_| true)?.iter().filter(|path| sources.contains(path)) {
            files.remove(path)?;
        }
    }
    Ok(())
}
