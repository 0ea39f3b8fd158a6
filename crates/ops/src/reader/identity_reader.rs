//! `IdentityReader`, `IdentityReaderV2`: the strings in the queue themselves.

use super::readers::{generations, named, opener, opening};
use millstream_files::Files;
use millstream_graph::op::OpDef;
use millstream_state::{Format, Found};
use millstream_tensor::{Result, Str};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["IdentityReader", "IdentityReaderV2"], |name, by| {
        named(opener(name, by, |cx| opening(cx, || Box::new(Names::default())))).doc(
            "Returns a handle to the reader `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. A record is an element of the queue, as both key and \
             value.",
        )
    })
}

#[derive(Default)]
struct Names {
    name: Option<Str>,
}

impl Format for Names {
    fn begin(&mut self, work: &Str, _files: &Files) -> Result<()> {
        self.name = Some(work.clone());
        Ok(())
    }

    fn record(&mut self, _files: &Files) -> Result<Found> {
        Ok(match self.name.take() {
            Some(name) => Found::Last((name.clone(), name)),
            None => Found::End,
        })
    }

    fn reset(&mut self) {
        self.name = None;
    }

    fn can_be_saved(&self) -> bool {
        true
    }
}

cases! {
    starts_anew: "ReaderNumRecordsProducedV2(IdentityReaderV2()) = i64 0",
    by_its_old_name: "ReaderSerializeState(IdentityReader()) = \"\"",
}
