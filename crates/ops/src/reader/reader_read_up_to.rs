//! `ReaderReadUpTo`, `ReaderReadUpToV2`: the next records of a reader.

use super::readers::{generations, read_later, reads, try_read};
use crate::shared::handles::one_handle;
use millstream_graph::op::{Completion, InferCx, Kernel, KernelCx, OpDef, Outputs};
use millstream_state::Record;
use millstream_tensor::{DType, PartialShape, Result, Str, Tensor, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderReadUpTo", "ReaderReadUpToV2"], |name, by| {
        reads(name, by)
            .doc(
                "Returns up to `num_records` records of one file, at least one (unless `num_records` is 0). \
                 At the end of a file, the name of the next file is taken from the queue; if the queue is \
                 empty, the op waits, and fails with `OUT_OF_RANGE` once it is closed. The records before a \
                 damaged one are returned first.",
            )
            .input("num_records", DType::I64)
            .output("keys", DType::Str)
            .output("values", DType::Str)
            .infer(infer)
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    one_handle(cx)?;
    cx.scalar(2)?;
    for i in 0..2 {
        cx.set(i, PartialShape::unknown_of_rank(1));
    }
    Ok(())
}

fn count(cx: &KernelCx) -> Result<usize> {
    let n = cx.int(2)?;
    usize::try_from(n).map_err(|_| invalid!("`num_records` must not be negative, but is {n}"))
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    let Some(records) = try_read(cx, count(cx)?)? else { return Ok(false) };
    for (i, value) in outputs(&records)?.into_iter().enumerate() {
        cx.set(i, value);
    }
    drop(records.used());
    Ok(true)
}

fn start(cx: &mut KernelCx, completion: Completion) {
    read_later(cx, completion, count(cx), outputs);
}

fn outputs(records: &[Record]) -> Outputs {
    let n = records.len();
    let (keys, values): (Vec<Str>, Vec<Str>) = records.iter().cloned().unzip();
    Ok([Tensor::strings([n], keys)?, Tensor::strings([n], values)?].into_iter().collect())
}

cases! {
    none_at_all: "ReaderReadUpToV2(IdentityReaderV2(), FIFOQueueV2(; component_types={str}), i64 0) = str[0] [], str[0] []",
    infers: "ReaderReadUpToV2(resource[], resource[], i64[]) : str[?], str[?]",
    no_fewer: "ReaderReadUpToV2(IdentityReaderV2(), FIFOQueueV2(; component_types={str}), i64 -1) ! `num_records` must not be negative, but is -1",
    one_number: "ReaderReadUpToV2(resource[], resource[], i64[2]) ! `num_records` must be a scalar",
}
