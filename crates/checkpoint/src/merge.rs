//! [`merge`]: combines several checkpoints into one.

use crate::bundle::{Bundle, data_file, index_file};
use crate::files::{self, file_error, make_folder};
use crate::write::header;
use crate::{corrupt, is_safetensors, table};
use millstream_proto::encode;
use millstream_tensor::{Error, Result, ensure};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::fs;
use std::path::{Path, PathBuf};

/// Combines several checkpoints of TensorFlow's format into one. Their data files are moved and renumbered,
/// one index is written, and the old indexes are removed. Several checkpoints may hold parts of the same
/// tensor; any other duplicate is an error.
pub fn merge(prefixes: &[PathBuf], destination: impl AsRef<Path>) -> Result<()> {
    let destination = destination.as_ref();
    let safe = prefixes.iter().map(PathBuf::as_path).chain([destination]).find(|p| is_safetensors(p));
    if let Some(path) = safe {
        return Err(Error::unimplemented(format!(
            "safetensors files cannot be merged: `{}`",
            path.display()
        )));
    }
    let mut moves = Vec::new();
    let mut all = BTreeMap::new();
    let mut first = 0;
    for prefix in prefixes {
        let of = |e: Error| e.note(format!("in checkpoint `{}`", prefix.display()));
        let bundle = Bundle::open(prefix).map_err(of)?;
        let shards = bundle.shards();
        moves.extend((0..shards).map(|shard| (data_file(prefix, shard, shards), first + shard)));
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
    make_folder(destination)?;
    for (from, shard) in moves {
        let to = data_file(destination, shard, first);
        fs::rename(&from, &to).map_err(|e| file_error("move", &from, &e))?;
    }
    let mut table: BTreeMap<Vec<u8>, Vec<u8>> =
        all.into_iter().map(|(k, e)| (k, encode(&e.message))).collect();
    table.insert(Vec::new(), encode(&header(first)));
    files::write(&index_file(destination), &table::write(&table))?;
    for prefix in prefixes.iter().filter(|p| *p != destination) {
        let index = index_file(prefix);
        fs::remove_file(&index).map_err(|e| file_error("remove", &index, &e))?;
    }
    Ok(())
}
