//! [`State`]: the list of checkpoints in a folder, kept in the file `checkpoint` in TensorFlow's text form.

use crate::files::data_files;
use crate::{bundle, is_safetensors};
use millstream_files::{Files, write_whole};
use millstream_proto::{CheckpointState, from_text, to_text};
use millstream_tensor::{Code, Result, invalid};
use std::path::{Component, Path, PathBuf};

/// The checkpoints in a folder, oldest first, each with its time of creation in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The checkpoints that still exist; the last is the latest.
    pub all: Vec<(PathBuf, f64)>,
    /// The creation time of the last checkpoint to be kept forever; 0 if there is none.
    pub last_preserved: f64,
}

impl State {
    /// Reads the list of a folder; `None` if it has none.
    pub fn read(folder: impl AsRef<Path>, file: &str) -> Result<Option<State>> {
        let folder = folder.as_ref();
        let path = folder.join(file);
        let Some(bytes) = Files::everything().read_if_there(&path)? else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|_| invalid!("`{}` is not UTF-8", path.display()))?;
        let message: CheckpointState =
            from_text(&text).map_err(|e| invalid!("{e}").note(format!("in file `{}`", path.display())))?;
        let mut times = message.all_model_checkpoint_timestamps.into_iter();
        let mut all: Vec<(PathBuf, f64)> = message
            .all_model_checkpoint_paths
            .into_iter()
            .map(|p| (folder.join(p), times.next().unwrap_or(0.0)))
            .collect();
        let latest = message.model_checkpoint_path;
        // The latest checkpoint comes last, even if the list has it elsewhere or not at all.
        if !latest.is_empty() {
            let latest = folder.join(latest);
            let at = all.iter().position(|(p, _)| *p == latest);
            let entry = at.map_or((latest, 0.0), |at| all.remove(at));
            all.push(entry);
        }
        Ok(Some(State { all, last_preserved: message.last_preserved_timestamp }))
    }

    /// Writes the list to a folder. Paths inside the folder are written relative to it, so that the folder
    /// can be moved. The list is the old one or the new one at every instant.
    pub fn write(&self, folder: impl AsRef<Path>, file: &str) -> Result<()> {
        self.write_in(&Files::everything(), folder, file)
    }

    /// [`State::write`], with the files that may be opened.
    pub fn write_in(&self, files: &Files, folder: impl AsRef<Path>, file: &str) -> Result<()> {
        let folder = folder.as_ref();
        let relative = |(path, _): &(PathBuf, f64)| {
            let own = path.strip_prefix(folder).unwrap_or(path);
            own.to_str().map(str::to_owned).ok_or_else(|| invalid!("`{}` is not UTF-8", path.display()))
        };
        let paths = self.all.iter().map(relative).collect::<Result<Vec<_>>>()?;
        let message = CheckpointState {
            model_checkpoint_path: paths.last().cloned().unwrap_or_default(),
            all_model_checkpoint_paths: paths,
            all_model_checkpoint_timestamps: self.all.iter().map(|(_, time)| *time).collect(),
            last_preserved_timestamp: self.last_preserved,
        };
        let text = to_text(&message).map_err(|e| invalid!("{e}"))?;
        write_whole(files, &folder.join(file), text.as_bytes())
    }
}

/// The latest checkpoint of a folder according to its file `checkpoint`, if it still exists.
pub fn latest_checkpoint(folder: impl AsRef<Path>) -> Result<Option<PathBuf>> {
    let state = State::read(folder, "checkpoint")?;
    let latest = state.and_then(|s| s.all.into_iter().next_back()).map(|(path, _)| clean(&path));
    Ok(latest.filter(|p| exists(p)))
}

/// Whether there is a checkpoint at this path.
pub fn exists(path: &Path) -> bool {
    exists_in(&Files::everything(), path)
}

/// [`exists`], with the files that may be opened.
pub fn exists_in(files: &Files, path: &Path) -> bool {
    match is_safetensors(path) {
        true => files.is_file(path),
        false => files.is_file(&bundle::index_file(path)) || crate::is_old(files, path),
    }
}

/// Removes a checkpoint's files. Files that no longer exist are ignored.
pub fn remove(path: &Path) -> Result<()> {
    remove_in(&Files::everything(), path)
}

/// [`remove`], with the files that may be opened.
pub fn remove_in(files: &Files, path: &Path) -> Result<()> {
    if is_safetensors(path) || crate::is_old(files, path) {
        return files.remove(path);
    }
    // Without its index, nothing is a checkpoint.
    files.remove(&bundle::index_file(path))?;
    match data_files(files, path, |_| true) {
        Ok(data) => data.iter().try_for_each(|file| files.remove(file)),
        Err(e) if e.code() == Code::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

/// Removes the `./` that joining to `.` leaves.
fn clean(path: &Path) -> PathBuf {
    path.components().filter(|c| *c != Component::CurDir).collect()
}
