//! `MergeV2Checkpoints`: merges checkpoints.

use super::checkpoint_args::{path, to_path};
use super::file_args::{SLOW, strs};
use millstream_checkpoint::{exists_in, merge_in};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::Result;
use std::path::PathBuf;

pub(crate) fn def() -> OpDef {
    OpDef::new("MergeV2Checkpoints")
        .doc(
            "Merges the checkpoints `checkpoint_prefixes` into the checkpoint `destination_prefix` and \
             moves their data files. If `delete_old_dirs` is true, their folders are removed if they are \
             then empty.",
        )
        .input("checkpoint_prefixes", S)
        .input("destination_prefix", S)
        .attr("delete_old_dirs", Bool.or(true))
        .attr("allow_missing_files", Bool.or(false))
        .infer(|cx| {
            cx.vector(0)?;
            cx.scalar(1)
        })
        .kernel(Kernel::stateful(run).cost(SLOW).scratch(192))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut prefixes = strs(cx, 0)?.iter().map(to_path).collect::<Result<Vec<PathBuf>>>()?;
    let (files, destination) = (cx.files(), path(cx, 1)?);
    if cx.attrs().bool("allow_missing_files")? {
        prefixes.retain(|p| exists_in(&files, p));
    }
    merge_in(&files, &prefixes, &destination)?;
    if cx.attrs().bool("delete_old_dirs")? {
        for folder in prefixes.iter().filter_map(|p| p.parent()).filter(|f| Some(*f) != destination.parent())
        {
            // This fails if the folder is not empty; the folder then remains.
            let _left = files.disk().remove_folder(folder);
        }
    }
    Ok(())
}

cases! {
    infers: "MergeV2Checkpoints(str[2], str[]) :",
    prefixes_are_a_list: r#"MergeV2Checkpoints("a", "b") ! `checkpoint_prefixes` must have rank 1"#,
    they_are_there: r#"MergeV2Checkpoints(["/nowhere/a"], "/nowhere/b") ! cannot read `/nowhere/a.index`"#,
}
