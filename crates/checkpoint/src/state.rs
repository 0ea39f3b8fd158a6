//! [`State`]: the list of checkpoints in a folder, kept in the file `checkpoint` in TensorFlow's text form.

use crate::files::{self, file_error};
use crate::{bundle, is_safetensors};
use millstream_proto::{CheckpointState, from_text, to_text};
use millstream_tensor::{Result, invalid};
use std::io::ErrorKind;
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
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(file_error("read", &path, &e)),
        };
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
    /// can be moved.
    pub fn write(&self, folder: impl AsRef<Path>, file: &str) -> Result<()> {
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
        files::write(&folder.join(file), text.as_bytes())
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
    match is_safetensors(path) {
        true => path.is_file(),
        false => bundle::index_file(path).is_file(),
    }
}

/// Removes a checkpoint's files. Files that no longer exist are ignored.
pub fn remove(path: &Path) -> Result<()> {
    let mut files = vec![];
    if is_safetensors(path) {
        files.push(path.to_owned());
    } else {
        files.push(bundle::index_file(path));
        if let Ok(bundle) = bundle::Bundle::open(path) {
            files.extend((0..bundle.shards()).map(|i| bundle::data_file(path, i, bundle.shards())));
        }
    }
    for file in files {
        match std::fs::remove_file(&file) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(file_error("remove", &file, &e)),
            _ => {}
        }
    }
    Ok(())
}

/// Removes the `./` that joining to `.` leaves.
fn clean(path: &Path) -> PathBuf {
    path.components().filter(|c| *c != Component::CurDir).collect()
}
