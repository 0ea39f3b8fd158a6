//! `ReaderNumRecordsProduced`, `ReaderNumRecordsProducedV2`: the number of records that a reader has
//! returned.

use super::readers::{generations, reader, scalars, user};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::{DType, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2"], |name, by| {
        user(name, by)
            .doc("Returns the number of records that the reader has returned.")
            .output("records_produced", DType::I64)
            .infer(scalars)
            .kernel(Kernel::stateful(|cx| {
                let n = reader(cx)?.progress().produced;
                cx.set(0, Tensor::scalar(n));
                Ok(())
            }))
    })
}

cases! {
    none_yet: "ReaderNumRecordsProducedV2(IdentityReaderV2()) = i64 0",
    infers: "ReaderNumRecordsProducedV2(resource[]) : i64[]",
    wants_a_reader: "ReaderNumRecordsProducedV2(@i32 1) ! refers to a variable",
}
