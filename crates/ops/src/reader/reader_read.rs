//! `ReaderRead`, `ReaderReadV2`: the next record of a reader.

use super::readers::{generations, read_later, reads, scalars, try_read};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef, Outputs};
use millstream_state::Record;
use millstream_tensor::{DType, Error, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderRead", "ReaderReadV2"], |name, by| {
        reads(name, by)
            .doc(
                "Returns the next record of the reader. At the end of a file, the name of the next file is \
                 taken from the queue; if the queue is empty, the op waits, and fails with `OUT_OF_RANGE` \
                 once it is closed. Several ops may read from one reader: each record is returned once.",
            )
            .output("key", DType::Str)
            .output("value", DType::Str)
            .infer(scalars)
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    let Some(records) = try_read(cx, 1)? else { return Ok(false) };
    for (i, value) in outputs(&records)?.into_iter().enumerate() {
        cx.set(i, value);
    }
    drop(records.used());
    Ok(true)
}

fn start(cx: &mut KernelCx, completion: Completion) {
    read_later(cx, completion, Ok(1), outputs);
}

fn outputs(records: &[Record]) -> Outputs {
    let (key, value) = records.first().cloned().ok_or_else(|| Error::internal("a read gave no record"))?;
    Ok([Tensor::str(key), Tensor::str(value)].into_iter().collect())
}

cases! {
    infers: "ReaderReadV2(resource[], resource[]) : str[], str[]",
    one_handle: "ReaderReadV2(resource[2], resource[]) ! `reader_handle` must be a scalar",
    wants_a_queue: "ReaderReadV2(IdentityReaderV2(), IdentityReaderV2()) ! `queue_handle` refers to a reader",
    wants_a_reader: "ReaderReadV2(@i32 1, FIFOQueueV2(; component_types={str})) ! `reader_handle` refers to a variable",
    of_names: "ReaderReadV2(IdentityReaderV2(), FIFOQueueV2(; component_types={i32})) ! a reader takes names from a queue of one string component",
}
