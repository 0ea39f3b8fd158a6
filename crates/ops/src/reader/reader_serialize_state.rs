//! `ReaderSerializeState`, `ReaderSerializeStateV2`: the state of a reader as a string.

use super::readers::{generations, reader, scalars, user};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_proto::{ReaderBaseState, encode};
use millstream_tensor::{DType, Result, Str, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderSerializeState", "ReaderSerializeStateV2"], |name, by| {
        user(name, by)
            .doc(
                "Returns the state of the reader for ReaderRestoreState, as an encoded `ReaderBaseState` \
                 message. Only IdentityReader and WholeFileReader support this, because they are never in \
                 the middle of a file.",
            )
            .output("state", DType::Str)
            .infer(scalars)
            .kernel(Kernel::stateful(run))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let progress = reader(cx)?.save()?;
    let state = ReaderBaseState {
        work_started: progress.started,
        work_finished: progress.finished,
        num_records_produced: progress.produced,
        current_work: progress.work.to_vec(),
    };
    cx.set(0, Tensor::str(Str::new(encode(&state))?));
    Ok(())
}

cases! {
    nothing_yet: "ReaderSerializeStateV2(WholeFileReaderV2()) = \"\"",
    infers: "ReaderSerializeStateV2(resource[]) : str[]",
    not_amid_a_file: "ReaderSerializeStateV2(TextLineReaderV2()) ! cannot tell its position in a file",
}
