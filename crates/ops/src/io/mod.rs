//! File ops: saving, restoring and merging checkpoints; reading, writing and finding files.

mod checkpoint_args;

ops! {
    matching_files,
    merge_v2_checkpoints,
    read_file,
    restore_v2,
    save_v2,
    sharded_filename,
    sharded_filespec,
    write_file,
}

#[cfg(test)]
mod tests;
