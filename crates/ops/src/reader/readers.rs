//! Helpers of the reader ops: opening a reader by name, and reading that waits for a queue.

pub(super) use crate::shared::files::file_name as path;
pub(super) use crate::shared::handles::{By, generations};
use crate::shared::handles::{Named, handle_shape, one_handle, share};
use millstream_files::file_error;
use millstream_graph::op::spec::{Spec, Text};
use millstream_graph::op::{BuildCx, Completion, Gradient, InferCx, Kernel, KernelCx, OpDef, Outputs, Run};
use millstream_state::{Format, Queue, Reader, Reading, Record, Records};
use millstream_tensor::{Code, Error, PartialShape, Result, Str, ensure};
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

/// Declares an op that opens a reader, without doc, cases and the attributes before those of its name.
pub(super) fn opener(name: &'static str, by: By, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> OpDef {
    by.output(OpDef::new(name), "reader_handle")
        .infer(handle_shape)
        .kernel(Kernel::opens(make))
        .gradient(Gradient::none("of readers there is none, as in TensorFlow"))
}

/// Declares the attributes of the reader's name, which most of these ops have last.
pub(super) fn named(def: OpDef) -> OpDef {
    def.attr("container", Text.or("")).attr("shared_name", Text.or(""))
}

/// Returns a kernel that opens a reader: the one of this name, or a new one with the format that `format`
/// creates.
pub(super) fn opening(
    cx: &BuildCx,
    format: impl Fn() -> Box<dyn Format> + Send + Sync + 'static,
) -> Result<Box<dyn Run>> {
    let named = Named::or_private(cx.node)?;
    let op = cx.node.op.name;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let reader = resources.get_or_create(container, name, || Ok(Reader::new(name, op, format())))?;
            let theirs = reader.op();
            ensure!(theirs == op, "`{name}` in container `{container}` is a {theirs}, not a {op}");
            Ok(reader)
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

/// Declares an op that uses a reader.
pub(super) fn user(name: &'static str, by: By) -> OpDef {
    by.input(OpDef::new(name), "reader_handle")
        .infer(one_handle)
        .gradient(Gradient::none("of readers there is none, as in TensorFlow"))
}

/// Declares an op that reads files whose names come from a queue.
pub(super) fn reads(name: &'static str, by: By) -> OpDef {
    by.input(user(name, by), "queue_handle")
}

/// Returns the reader that input 0 refers to.
pub(super) fn reader(cx: &KernelCx) -> Result<Arc<Reader>> {
    share(cx, 0)
}

/// Sets the shapes of all outputs to scalars.
pub(super) fn scalars(cx: &mut InferCx) -> Result<()> {
    one_handle(cx)?;
    for i in 0..cx.n_outputs() {
        cx.set(i, PartialShape::unknown_of_rank(0));
    }
    Ok(())
}

/// Reads up to `up_to` records, or returns `None` if that would have to wait.
pub(super) fn try_read(cx: &KernelCx, up_to: usize) -> Result<Option<Records>> {
    let (reader, names) = (reader(cx)?, share::<Queue>(cx, 1)?);
    reader.try_read(&names, &cx.files(), up_to).map_err(|e| reading_error(&reader, e))
}

/// Reads up to `up_to` records as soon as there are any.
pub(super) fn read_later(
    cx: &KernelCx,
    completion: Completion,
    up_to: Result<usize>,
    outputs: impl FnOnce(&[Record]) -> Outputs + Send + 'static,
) {
    let asked = up_to.and_then(|up_to| Ok((up_to, reader(cx)?, share::<Queue>(cx, 1)?)));
    let (up_to, reader, names) = match asked {
        Ok(asked) => asked,
        Err(error) => return completion.complete(Err(error)),
    };
    let host = cx.env.host.clone();
    let again = reader.clone();
    reader.read(Reading {
        names,
        files: cx.files(),
        up_to,
        who: cx.node.name.as_str().into(),
        cancel: cx.env.cancel.clone(),
        spawn: Arc::new(move |work| host.spawn(work)),
        told: Box::new(move |records| match records {
            Ok(records) => completion.complete_with(move || {
                let made = outputs(&records)?;
                drop(records.used());
                Ok(made)
            }),
            Err(error) => completion.complete(Err(reading_error(&again, error))),
        }),
    });
}

/// Adds the reader to an error, and advice if all further reads would fail too.
fn reading_error(reader: &Reader, error: Error) -> Error {
    match error.code() {
        Code::DataLoss | Code::FailedPrecondition if error.help().is_none() => {
            error.note(format!("in {reader:?}")).with_help(
                "further reads fail in the same way; `ReaderReset` skips this file and continues with the next name",
            )
        }
        _ => error.note(format!("in {reader:?}")),
    }
}

/// Returns the key of a record: its file and position.
pub(super) fn key(file: &str, place: u64) -> Result<Str> {
    Str::new(format!("{file}:{place}"))
}

/// Skips `left` bytes, as far as there are as many, and counts them down.
pub(super) fn skip(from: &mut dyn BufRead, left: &mut u64, file: &str) -> Result<()> {
    while *left > 0 {
        let there = from.fill_buf().map_err(|e| file_error("read", Path::new(file), &e))?.len() as u64;
        if there == 0 {
            break;
        }
        let step = there.min(*left);
        from.consume(step as usize);
        *left -= step;
    }
    Ok(())
}
