//! What the string ops share: their inputs as bytes, and results made string by string.

use millstream_graph::op::KernelCx;
use millstream_tensor::{Result, Str, Tensor, invalid};

/// Input `i` as strings.
pub(crate) fn strs<'a>(cx: &'a KernelCx, i: usize) -> Result<&'a [Str]> {
    let t = cx.input(i);
    t.as_strs().ok_or_else(|| invalid!("`{}` must be strings, not {}", cx.name_of(i), t.dtype()))
}

/// Scalar input `i` as a string.
pub(super) fn scalar<'a>(cx: &'a KernelCx, i: usize) -> Result<&'a Str> {
    match (strs(cx, i)?, cx.input(i).rank()) {
        ([s], 0) => Ok(s),
        _ => Err(invalid!("`{}` must be a scalar but has shape {}", cx.name_of(i), cx.input(i).shape())),
    }
}

/// Output 0: what `change` makes of each string of input 0.
pub(super) fn map<B: Into<Vec<u8>>>(cx: &mut KernelCx, change: impl Fn(&[u8]) -> Result<B>) -> Result<()> {
    let values = strs(cx, 0)?.iter().map(|s| Str::new(change(s)?)).collect::<Result<Vec<Str>>>()?;
    let result = Tensor::strings(cx.input(0).shape().clone(), values)?;
    cx.set(0, result);
    Ok(())
}

/// White space as C has it: vertical tabs too.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Without white space at both ends.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !is_space(*b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_space(*b)).map_or(start, |last| last + 1);
    bytes.get(start..end).unwrap_or_default()
}

/// Whether a byte continues a character in UTF-8.
pub(super) fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
