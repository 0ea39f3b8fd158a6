//! `ReaderNumWorkUnitsCompleted`, `ReaderNumWorkUnitsCompletedV2`: the number of files that a reader has
//! finished.

use super::readers::{generations, reader, scalars, user};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::{DType, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2"], |name, by| {
        user(name, by)
            .doc("Returns the number of files that the reader has read to their ends.")
            .output("units_completed", DType::I64)
            .infer(scalars)
            .kernel(Kernel::stateful(|cx| {
                let n = reader(cx)?.progress().finished;
                cx.set(0, Tensor::scalar(n));
                Ok(())
            }))
    })
}

cases! {
    none_yet: "ReaderNumWorkUnitsCompletedV2(IdentityReaderV2()) = i64 0",
    infers: "ReaderNumWorkUnitsCompletedV2(resource[]) : i64[]",
    wants_a_reader: "ReaderNumWorkUnitsCompletedV2(@i32 1) ! refers to a variable",
}
