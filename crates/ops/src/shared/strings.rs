//! Helpers of the string ops: inputs as bytes, and elementwise results.

use millstream_graph::op::KernelCx;
use millstream_state::apart;
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
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

/// The length from which work on a string may take more than a few milliseconds.
const LONG: usize = 1 << 22;

/// Returns `work` of each string of input 0. It looks at the run between two strings, and long strings are
/// worked on [apart]. What `work` needs besides its result may be twice as long as the string.
pub(crate) fn each<R: Send + 'static>(
    cx: &KernelCx,
    work: impl Fn(&Str) -> Result<R> + Clone + Send + 'static,
) -> Result<Charged<R>> {
    let mut pace = Pace::new();
    Charged::try_of(strs(cx, 0)?.iter().map(|s| {
        pace.spend(1 + s.len())?;
        let work = work.clone();
        of_any_length(s, move |s| {
            let _room = Room::of(s.len().saturating_mul(2))?;
            work(s)
        })
    }))
}

/// Calls `work` with a string, [apart] if the string is long.
pub(crate) fn of_any_length<R: Send + 'static>(
    s: &Str,
    work: impl FnOnce(&Str) -> Result<R> + Send + 'static,
) -> Result<R> {
    if s.len() < LONG {
        return work(s);
    }
    let s = s.clone();
    apart(move || work(&s))
}

/// Sets output 0 to `change` of [each] string of input 0.
pub(crate) fn map<B: Into<Vec<u8>> + 'static>(
    cx: &mut KernelCx,
    change: impl Fn(&Str) -> Result<B> + Clone + Send + 'static,
) -> Result<()> {
    let mut values = each(cx, move |s| Str::new(change(s)?))?;
    let result = Tensor::strings(cx.input(0).shape().clone(), values.take())?;
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
