//! Helpers of the string ops: inputs as bytes, and elementwise results.

use millstream_graph::op::KernelCx;
use millstream_tensor::{Result, Str, Tensor, invalid};

/// Returns input `i` as strings.
pub(crate) fn strs<'a>(cx: &'a KernelCx, i: usize) -> Result<&'a [Str]> {
    let t = cx.input(i);
    t.as_strs().ok_or_else(|| invalid!("`{}` must be strings, not {}", cx.name_of(i), t.dtype()))
}

/// Returns scalar input `i` as a string.
pub(crate) fn scalar<'a>(cx: &'a KernelCx, i: usize) -> Result<&'a Str> {
    match (strs(cx, i)?, cx.input(i).rank()) {
        ([s], 0) => Ok(s),
        _ => Err(invalid!("`{}` must be a scalar but has shape {}", cx.name_of(i), cx.input(i).shape())),
    }
}

/// Sets output 0 to `change` of each string of input 0.
pub(crate) fn map<B: Into<Vec<u8>>>(cx: &mut KernelCx, change: impl Fn(&[u8]) -> Result<B>) -> Result<()> {
    let values = strs(cx, 0)?.iter().map(|s| Str::new(change(s)?)).collect::<Result<Vec<Str>>>()?;
    let result = Tensor::strings(cx.input(0).shape().clone(), values)?;
    cx.set(0, result);
    Ok(())
}

/// Returns whether a byte is white space as C defines it, which includes vertical tabs.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Removes white space at both ends.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !is_space(*b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_space(*b)).map_or(start, |last| last + 1);
    bytes.get(start..end).unwrap_or_default()
}

/// Returns whether a byte continues a character in UTF-8.
pub(crate) fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
