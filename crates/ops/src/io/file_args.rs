//! Helpers of the file ops: their string arguments, and what they cost.

use crate::shared::files::file_name;
pub(super) use crate::shared::strings::strs;
use millstream_graph::op::{Cost, KernelCx};
use millstream_tensor::{Result, invalid};

/// File operations are slow, whatever the sizes of the tensors.
pub(super) const SLOW: Cost = Cost::Estimate(|_, _| 1e6);

/// Returns input `i`, which must be one string, as a file name.
pub(super) fn file<'a>(cx: &'a KernelCx, i: usize) -> Result<&'a str> {
    let [name] = strs(cx, i)? else {
        return Err(invalid!("`{}` must be a scalar but has shape {}", cx.name_of(i), cx.input(i).shape()));
    };
    file_name(name)
}
