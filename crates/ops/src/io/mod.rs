//! Checkpoints: saving, restoring, merging, names of files.

mod names;

ops! { merge_v2_checkpoints, restore_v2, save_v2, sharded_filename, sharded_filespec }

#[cfg(test)]
mod tests;
