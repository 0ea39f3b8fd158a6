//! `ShardedFilename`: the name of one of several files.

use super::file_args::strs;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str as S};
use millstream_tensor::{Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ShardedFilename")
        .doc("Returns the name of file number `shard` of `num_shards`, such as `basename-00002-of-00010`.")
        .input("basename", S)
        .input("shard", I32)
        .input("num_shards", I32)
        .output("filename", S)
        .infer(|cx| {
            (0..3).try_for_each(|i| cx.scalar(i))?;
            cx.scalars()
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let [name] = strs(cx, 0)? else { return Err(invalid!("`basename` must be a scalar")) };
    let numbers = format!("-{:05}-of-{:05}", cx.int(1)?, cx.int(2)?);
    let name = [&**name, numbers.as_bytes()].concat();
    cx.set(0, Tensor::str(name));
    Ok(())
}

cases! {
    names: r#"ShardedFilename("model", 2, 10) = "model-00002-of-00010""#,
    is_a_scalar: "ShardedFilename(str[], i32[], i32[]) : str[]",
    takes_one_name: r#"ShardedFilename(["a" "b"], 2, 10) ! `basename` must be a scalar"#,
}
