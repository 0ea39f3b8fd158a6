//! The files of a checkpoint of TensorFlow's format, and the exchange of one such checkpoint for another.
//!
//! # The exchange
//!
//! A checkpoint is an index and data files. The index knows the data files only by their number: they are
//! `PREFIX.data-I-of-N`. The index is the one file whose replacement makes a new checkpoint take the place of
//! the old one, so the new data files must be there before it, and the old ones until after it. If both have
//! the same number of data files, their names collide. The new checkpoint is then placed with one more data
//! file, which is empty, and moves to the usual names in a second exchange:
//!
//! ```text
//!                            PREFIX.index   .data-0-of-1   .data-{0,1}-of-2
//!   before                   old, of 1      old            -
//!   place the data           old, of 1      old            new
//!   replace the index        new, of 2      old            new                  <- the new one counts
//!   link to the usual names  new, of 2      new            new
//!   replace the index        new, of 1      new            new
//!   remove                   new, of 1      new            -
//! ```
//!
//! At every instant the index and the files that it names are of one checkpoint. Every file is durable before
//! a file is written that refers to it. If the second exchange fails, the checkpoint stays where it is: with
//! two data files, which every reader of the format accepts.
//!
//! Data files that no index names are left by writers that died. The next save under the prefix removes them.

use crate::bundle::{data_file, index_file, shards_of};
use millstream_files::{Files, Kind, Pending, file_error, folder_of, write_whole};
use millstream_tensor::Result;
use millstream_tensor::budget::{Charged, Room};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The path with a suffix appended to its last component.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The folder of a checkpoint's files. A prefix may end in `/`: its index is then `FOLDER/.index`.
fn folder(prefix: &Path) -> PathBuf {
    folder_of(&index_file(prefix)).to_owned()
}

/// Creates the folder of a checkpoint. Its parent must exist.
pub(crate) fn make_folder(files: &Files, prefix: &Path) -> Result<()> {
    let folder = &folder(prefix);
    if matches!(files.disk().kind(folder), Ok(Kind::Folder)) {
        return Ok(());
    }
    match files.disk().make_folder(folder) {
        // Another writer was faster.
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => {
            made.map_err(|e| file_error("make the folder", folder, &e))?;
            files.sync_folder(folder_of(folder))
        }
    }
}

/// The source of a data file.
pub(crate) enum Shard {
    /// A file that was just written.
    New(Pending),
    /// The data file of another checkpoint, which keeps it.
    Of(PathBuf),
}

/// Makes a new checkpoint take the place of the one under the prefix, if any. `index` returns the bytes of
/// the index for a number of data files.
pub(crate) fn exchange(
    files: &Files,
    prefix: &Path,
    shards: Vec<Shard>,
    index: &dyn Fn(i32) -> Vec<u8>,
) -> Result<()> {
    let _held = files.lock_folder(&folder(prefix))?;
    let n = i32::try_from(shards.len()).unwrap_or(i32::MAX);
    let there = shards_of(files, prefix)?;
    let placed = if there == Some(n) { n + 1 } else { n };
    if let Err(error) = place(files, prefix, shards, n, placed, index) {
        // The index may be the new one even so, if only the folder could not be synced.
        if matches!(shards_of(files, prefix), Ok(now) if now != Some(placed)) {
            remove_data(files, prefix, |of| of == placed);
        }
        return Err(error);
    }
    // If the second exchange fails, either index may be the one that lasts: the next save removes the rest.
    if placed == n || move_to_usual_names(files, prefix, n, placed, index).is_ok() {
        remove_data(files, prefix, |of| of != n);
    }
    Ok(())
}

/// The first exchange: afterwards the new checkpoint counts.
fn place(
    files: &Files,
    prefix: &Path,
    shards: Vec<Shard>,
    n: i32,
    placed: i32,
    index: &dyn Fn(i32) -> Vec<u8>,
) -> Result<()> {
    for (shard, i) in shards.into_iter().zip(0..) {
        let to = data_file(prefix, i, placed);
        match shard {
            Shard::New(file) => file.finish_at(&to)?,
            Shard::Of(from) => files.link(&from, &to)?,
        }
    }
    if placed != n {
        write_whole(files, &data_file(prefix, n, placed), &[])?;
    }
    files.sync_folder(&folder(prefix))?;
    write_whole(files, &index_file(prefix), &index(placed))
}

/// The second exchange.
fn move_to_usual_names(
    files: &Files,
    prefix: &Path,
    n: i32,
    placed: i32,
    index: &dyn Fn(i32) -> Vec<u8>,
) -> Result<()> {
    for i in 0..n {
        files.link(&data_file(prefix, i, placed), &data_file(prefix, i, n))?;
    }
    files.sync_folder(&folder(prefix))?;
    write_whole(files, &index_file(prefix), &index(n))
}

/// Removes the data files of checkpoints of the prefix whose number of data files `gone` selects. The folder
/// is listed: an index may claim billions of files. Nothing depends on the removal, so errors are ignored.
fn remove_data(files: &Files, prefix: &Path, gone: impl Fn(i32) -> bool) {
    for path in data_files(files, prefix, gone).unwrap_or_default() {
        let _left = files.disk().remove(&path);
    }
}

/// The data files that a folder has under the prefix, of checkpoints whose number of data files `of` selects.
pub(crate) fn data_files(files: &Files, prefix: &Path, of: impl Fn(i32) -> bool) -> Result<Vec<PathBuf>> {
    let start = with_suffix(prefix, ".data-");
    let base = start.file_name().unwrap_or_default().as_encoded_bytes();
    let digits = |text: &str| text.len() >= 5 && text.bytes().all(|b| b.is_ascii_digit());
    let data_file = |name: &OsStr| {
        let own = std::str::from_utf8(name.as_encoded_bytes().strip_prefix(base)?).ok()?;
        let (shard, n) = own.split_once("-of-")?;
        (digits(shard) && digits(n) && of(n.parse().ok()?)).then(|| with_suffix(&start, own))
    };
    let (mut paths, mut room) = (Charged::new(), Room::default());
    files.each_name(&folder(prefix), |name| match data_file(name) {
        Some(path) => {
            room.add(path.as_os_str().len())?;
            paths.push(path)
        }
        None => Ok(()),
    })?;
    Ok(paths.take())
}
