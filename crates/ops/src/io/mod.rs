//! File ops: saving, restoring and merging checkpoints; reading, writing and finding files.

#[cfg(feature = "tf-files")]
mod checkpoint_args;
mod file_args;

ops! {
    matching_files,
    #[cfg(feature = "tf-files")]
    merge_v2_checkpoints,
    read_file,
    #[cfg(feature = "tf-files")]
    restore,
    #[cfg(feature = "tf-files")]
    restore_v2,
    #[cfg(feature = "tf-files")]
    save,
    #[cfg(feature = "tf-files")]
    save_v2,
    sharded_filename,
    sharded_filespec,
    write_file,
}

#[cfg(all(test, feature = "tf-files"))]
mod tests;
