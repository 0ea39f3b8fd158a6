//! `ReaderRestoreState`, `ReaderRestoreStateV2`: restores the state of a reader.

use super::readers::{generations, reader, user};
use crate::shared::handles::one_handle;
use crate::shared::strings::strs;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_proto::{ReaderBaseState, decode};
use millstream_state::Progress;
use millstream_tensor::{DType, Result, Str, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderRestoreState", "ReaderRestoreStateV2"], |name, by| {
        user(name, by)
            .doc(
                "Restores the reader to `state`, which ReaderSerializeState returned. If this fails, the \
                 reader is unchanged.",
            )
            .input("state", DType::Str)
            .infer(|cx| {
                one_handle(cx)?;
                cx.scalar(1)
            })
            .kernel(Kernel::stateful(run))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let [state] = strs(cx, 1)? else {
        return Err(invalid!("`state` must be a scalar but has shape {}", cx.input(1).shape()));
    };
    let state: ReaderBaseState =
        decode(state).map_err(|e| invalid!("`state` is not what `ReaderSerializeState` gives: {e}"))?;
    let progress = Progress {
        started: state.work_started,
        finished: state.work_finished,
        produced: state.num_records_produced,
        work: Str::new(state.current_work)?,
    };
    reader(cx)?.restore(progress, &cx.files())
}

cases! {
    infers: "ReaderRestoreStateV2(resource[], str[]) :",
    not_amid_a_file: "ReaderRestoreStateV2(TextLineReaderV2(), \"\") ! cannot tell its position in a file",
    is_a_state: "ReaderRestoreStateV2(IdentityReaderV2(), \"x\") ! `state` is not what `ReaderSerializeState` gives",
    one_state: "ReaderRestoreStateV2(resource[], str[2]) ! `state` must be a scalar",
}
