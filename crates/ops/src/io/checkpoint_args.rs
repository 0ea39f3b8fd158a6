//! Helpers of the checkpoint ops: their string arguments, and the reading of one tensor.

use crate::shared::strings::strs;
use millstream_checkpoint::{Checkpoint, Slice};
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::{DType, PartialShape, Result, Shape, Str, Tensor, ensure, invalid};
use std::path::{Path, PathBuf};

/// Returns input `i`, which must be one string, as the path of a checkpoint.
pub(super) fn path(cx: &KernelCx, i: usize) -> Result<PathBuf> {
    match strs(cx, i)? {
        [one] => to_path(one),
        all => Err(invalid!("`{}` must be one string but has {} elements", cx.name_of(i), all.len())),
    }
}

pub(super) fn to_path(text: &Str) -> Result<PathBuf> {
    let path = std::str::from_utf8(text).map_err(|_| invalid!("the path {text:?} is not valid UTF-8"))?;
    ensure!(!path.is_empty(), "the path of a checkpoint is empty");
    Ok(path.into())
}

/// A tensor's name, and the slice of it that is meant.
pub(super) type Named<'a> = (&'a str, Option<(Shape, Slice)>);

/// Returns the names and slices in inputs 1 and 2, which must be vectors of `n` elements.
pub(super) fn named<'a>(cx: &'a KernelCx, n: usize) -> Result<Vec<Named<'a>>> {
    let names = names(cx, n)?;
    of_length(cx, 2, n)?;
    let what = cx.name_of(2);
    let one = |(name, part): (&'a str, &Str)| {
        let part = match part.is_empty() {
            true => None,
            false => {
                Some(Slice::parse(&part.text()).map_err(|e| e.note(format!("in `{what}` of `{name}`")))?)
            }
        };
        Ok((name, part))
    };
    names.into_iter().zip(strs(cx, 2)?).map(one).collect()
}

/// Returns the names in input 1, which must be a vector of `n` elements.
pub(super) fn names<'a>(cx: &'a KernelCx, n: usize) -> Result<Vec<&'a str>> {
    of_length(cx, 1, n)?;
    let one = |name: &'a Str| {
        let name = std::str::from_utf8(name).map_err(|_| invalid!("the name {name:?} is not valid UTF-8"))?;
        ensure!(!name.is_empty(), "a name in `tensor_names` is empty");
        Ok(name)
    };
    strs(cx, 1)?.iter().map(one).collect()
}

fn of_length(cx: &KernelCx, i: usize, n: usize) -> Result<()> {
    ensure!(
        cx.input(i).rank() == 1 && cx.input(i).elements() == n,
        "`{}` has shape {} but there are {n} tensors: it must be a vector of {n}",
        cx.name_of(i),
        cx.input(i).shape()
    );
    Ok(())
}

/// Returns input `i`, which must be one string.
pub(super) fn text<'a>(cx: &'a KernelCx, i: usize) -> Result<&'a str> {
    match strs(cx, i)? {
        [one] => std::str::from_utf8(one).map_err(|_| invalid!("the text {one:?} is not valid UTF-8")),
        all => Err(invalid!("`{}` must be one string but has {} elements", cx.name_of(i), all.len())),
    }
}

/// Parses the `shape_and_slice` of tensor `name`. An empty text means the whole tensor: `None`.
pub(super) fn one_part(text: &str, name: &str) -> Result<Option<(Shape, Slice)>> {
    match text.is_empty() {
        true => Ok(None),
        false => {
            Slice::parse(text).map(Some).map_err(|e| e.note(format!("in `shape_and_slice` of `{name}`")))
        }
    }
}

/// Reads tensor `name`, or a slice of it, from the checkpoint at `path`. It must have this dtype, which is
/// checked before its elements are read.
pub(super) fn read(
    checkpoint: &Checkpoint,
    path: &Path,
    name: &str,
    part: Option<&(Shape, Slice)>,
    dtype: DType,
) -> Result<Tensor> {
    if let Some(info) = checkpoint.info(name) {
        ensure!(
            info.dtype == dtype,
            "tensor_name = {name}; expected dtype {} does not equal original dtype {}",
            dtype.kernel_name(),
            info.dtype.kernel_name();
            "`{name}` is {}{} in checkpoint `{}` but {dtype} is wanted",
            info.dtype,
            info.shape,
            path.display()
        );
    }
    match part {
        Some((whole, slice)) => checkpoint.read_slice(name, whole, slice),
        None => checkpoint.read(name),
    }
}

/// Requires that input 0 is a scalar and inputs 1 and 2 are vectors of `n` elements.
pub(super) fn check_shapes(cx: &InferCx, n: usize) -> Result<()> {
    check_names(cx, 2, n)
}

/// Requires that input 0 is a scalar and the `vectors` inputs behind it are vectors of `n` elements.
pub(super) fn check_names(cx: &InferCx, vectors: usize, n: usize) -> Result<()> {
    cx.scalar(0)?;
    for i in 1..=vectors {
        cx.vector(i)?;
        let n = PartialShape::from([Some(n)]);
        ensure!(
            cx.input(i).is_compatible(&n),
            "`{}` has shape {} but the tensors are {n}",
            cx.name_of(i),
            cx.input(i)
        );
    }
    Ok(())
}
