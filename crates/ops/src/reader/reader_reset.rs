//! `ReaderReset`, `ReaderResetV2`: begins anew.

use super::readers::{generations, reader, user};
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["ReaderReset", "ReaderResetV2"], |name, by| {
        user(name, by)
            .doc("Leaves the file that the reader is in, and forgets its counts. The next read begins with the queue's next name.")
            .kernel(Kernel::stateful(|cx| {
                reader(cx)?.reset();
                Ok(())
            }))
    })
}

cases! {
    infers: "ReaderResetV2(resource[]) :",
    wants_a_reader: "ReaderResetV2(@i32 1) ! refers to a variable",
    one_handle: "ReaderResetV2(resource[2]) ! `reader_handle` must be a scalar",
}
