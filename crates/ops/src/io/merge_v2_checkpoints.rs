//! `MergeV2Checkpoints`: one checkpoint of several.

use super::names::{SLOW, path, strs, to_path};
use millstream_checkpoint::merge;
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::Result;
use std::path::PathBuf;

pub(crate) fn def() -> OpDef {
    OpDef::new("MergeV2Checkpoints")
        .doc(
            "Makes the checkpoint `destination_prefix` of all those in `checkpoint_prefixes`, moving their data files. With \
             `delete_old_dirs` their folders are removed where nothing else is in them.",
        )
        .input("checkpoint_prefixes", S)
        .input("destination_prefix", S)
        .attr("delete_old_dirs", Bool.or(true))
        .attr("allow_missing_files", Bool.or(false))
        .infer(|cx| {
            cx.vector(0)?;
            cx.scalar(1)
        })
        .kernel(Kernel::stateful(run).cost(SLOW))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut prefixes = strs(cx, 0)?.iter().map(to_path).collect::<Result<Vec<PathBuf>>>()?;
    let destination = path(cx, 1)?;
    if cx.attrs().bool("allow_missing_files")? {
        prefixes.retain(|p| millstream_checkpoint::exists(p));
    }
    merge(&prefixes, &destination)?;
    if cx.attrs().bool("delete_old_dirs")? {
        for folder in prefixes.iter().filter_map(|p| p.parent()).filter(|f| Some(*f) != destination.parent()) {
            // Refused where something else is in it, which is then left.
            let _left = std::fs::remove_dir(folder);
        }
    }
    Ok(())
}

cases! {
    infers: "MergeV2Checkpoints(str[2], str[]) :",
    prefixes_are_a_list: r#"MergeV2Checkpoints("a", "b") ! `checkpoint_prefixes` must have rank 1"#,
    they_are_there: r#"MergeV2Checkpoints(["/nowhere/a"], "/nowhere/b") ! cannot read `/nowhere/a.index`"#,
}
