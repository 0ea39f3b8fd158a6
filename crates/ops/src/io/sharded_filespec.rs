//! `ShardedFilespec`: the pattern that the names of several files match.

use super::file_args::strs;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str as S};
use millstream_tensor::{Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ShardedFilespec")
        .doc(
            "Returns the pattern that the names of all `num_shards` files match, such as \
             `basename-?????-of-00010`.",
        )
        .input("basename", S)
        .input("num_shards", I32)
        .output("filename", S)
        .infer(|cx| {
            (0..2).try_for_each(|i| cx.scalar(i))?;
            cx.scalars()
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let [name] = strs(cx, 0)? else { return Err(invalid!("`basename` must be a scalar")) };
    let name = [&**name, format!("-?????-of-{:05}", cx.int(1)?).as_bytes()].concat();
    cx.set(0, Tensor::str(name));
    Ok(())
}

cases! {
    names: r#"ShardedFilespec("model", 10) = "model-?????-of-00010""#,
    is_a_scalar: "ShardedFilespec(str[], i32[]) : str[]",
    takes_one_name: r#"ShardedFilespec(["a" "b"], 10) ! `basename` must be a scalar"#,
}
