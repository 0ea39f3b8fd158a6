//! `ReaderReset`, `ReaderResetV2`: resets a reader.

use super::readers::{generations, reader, user};
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderReset", "ReaderResetV2"], |name, by| {
        user(name, by)
            .doc(
                "Resets the reader to its initial state: its current file is left and its counts are 0. The \
                 next read takes the next name from the queue.",
            )
            .kernel(Kernel::stateful(|cx| reader(cx)?.reset(&cx.files())))
    })
}

cases! {
    infers: "ReaderResetV2(resource[]) :",
    wants_a_reader: "ReaderResetV2(@i32 1) ! refers to a variable",
    one_handle: "ReaderResetV2(resource[2]) ! `reader_handle` must be a scalar",
}
