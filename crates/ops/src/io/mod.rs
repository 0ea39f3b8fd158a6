//! Files: checkpoints saved, restored, merged; files read, written, looked for.

mod names;

pub(crate) use names::file_name;

ops! { matching_files, merge_v2_checkpoints, read_file, restore_v2, save_v2, sharded_filename, sharded_filespec, write_file }

#[cfg(test)]
mod tests;
