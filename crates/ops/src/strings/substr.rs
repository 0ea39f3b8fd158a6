//! `Substr`: substrings.

use crate::shared::strings::continues;
use millstream_graph::op::spec::{IndexType, Spec, Words};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::{Pace, paced};
use millstream_tensor::{Code, Result, Str, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Substr")
        .doc(
            "Returns `len` bytes of each string (or characters, if `unit` is `UTF8_CHAR`) from `pos` on. A \
             negative `pos` counts from the end. Strings and positions are broadcast; a substring may end \
             early.",
        )
        .input("input", S)
        .input("pos", "T")
        .input("len", "T")
        .output("output", S)
        .attr("T", IndexType)
        .attr("unit", Words(&["BYTE", "UTF8_CHAR"]).or("BYTE"))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.merge(1, 2).map_err(|e| match cx.input(2).rank() {
        Some(rank) if cx.input(1).rank() != Some(rank) => e.led_by(cx.input(1).not_of_rank(rank)),
        _ => e,
    })?;
    cx.broadcast()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let chars = &**cx.attrs().str("unit")? == b"UTF8_CHAR";
    let (input, pos, len) = (cx.input(0), cx.input(1), cx.input(2));
    if pos.shape() != len.shape() {
        return Err(invalid!(
            "`pos` has shape {} and `len` has shape {}; they must be equal",
            pos.shape(),
            len.shape()
        ));
    }
    let shape = input.shape().broadcast(pos.shape()).ok_or_else(|| {
        invalid!("Incompatible shapes: {} vs. {}", input.shape(), pos.shape(); "shapes {} of `input` and {} of `pos` do not broadcast", input.shape(), pos.shape())
    })?;
    let (input, pos, len) = (
        input.broadcast_to(shape.clone())?,
        pos.broadcast_to(shape.clone())?,
        len.broadcast_to(shape.clone())?,
    );
    let ints = |t: &Tensor| match t.as_slice::<i32>() {
        Ok(v) => Charged::of(v.iter().map(|&v| i64::from(v))),
        Err(_) => Charged::copy_of(t.as_slice::<i64>()?),
    };
    let strings = input.as_strs().ok_or_else(|| invalid!("`input` must be strings"))?;
    let (pos, len) = (ints(&pos)?, ints(&len)?);
    let parts = strings.iter().zip(&*pos).zip(&*len).enumerate().map(|(i, ((s, &pos), &len))| {
        let part = if chars { characters(s, pos, len) } else { bytes(s, pos, len) };
        // Only the position can be wrong in itself; other errors are limits of memory.
        part.map_err(|e| match e.code() {
            Code::InvalidArgument => {
                e.led_by(format!("pos {pos} out of range for string b'{}' at index {i}", s.escape_ascii()))
            }
            _ => e,
        })
    });
    let result = Tensor::strings(shape, Charged::try_of(parts)?.take())?;
    cx.set(0, result);
    Ok(())
}

/// Returns the start of a substring: `pos`, counted from the end if it is negative, in a string of length
/// `count`.
fn start(pos: i64, count: usize) -> Result<usize> {
    let start = if pos < 0 { pos.checked_add_unsigned(count as u64) } else { Some(pos) };
    start
        .and_then(|p| usize::try_from(p).ok())
        .filter(|p| *p <= count)
        .ok_or_else(|| invalid!("`pos` {pos} is out of range for a string of length {count}"))
}

fn bytes(s: &[u8], pos: i64, len: i64) -> Result<Str> {
    let rest = s.get(start(pos, s.len())?..).unwrap_or_default();
    // A negative length takes the rest, like an unsigned C++ size.
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(rest.len());
    Str::new(rest.get(..len).unwrap_or_default())
}

fn characters(s: &[u8], pos: i64, len: i64) -> Result<Str> {
    let begins = |i: &usize| *i == 0 || !s.get(*i).is_some_and(|b| continues(*b));
    let mut count = 0;
    paced(s.len(), |range| count += range.filter(begins).count())?;
    let first = start(pos, count)?;
    let last = first.saturating_add(usize::try_from(len).unwrap_or(0));
    let (mut from, mut to, mut passed, mut pace) = (s.len(), s.len(), 0, Pace::new());
    for i in (0..s.len()).filter(begins) {
        pace.spend(1)?;
        if passed == first {
            from = i;
        }
        if passed == last {
            to = i;
            break;
        }
        passed += 1;
    }
    Str::new(s.get(from..to).unwrap_or_default())
}

cases! {
    parts: r#"Substr(["hello" "world"], 1, 3) = ["ell" "orl"]"#,
    from_the_end: r#"Substr("hello", -3, 2) = "ll""#,
    ends_early: r#"Substr("hello", 3, 100) = "lo""#,
    nothing_at_the_end: r#"Substr("hello", 5, 1) = """#,
    negative_length_is_the_rest: r#"Substr("hello", 3, -9) = "lo""#,
    broadcasts: r#"Substr(["abcdef" "ghijkl"], [[0] [1] [2]], [[2] [1] [3]]) = [["ab" "gh"] ["b" "h"] ["cde" "ijk"]]"#,
    characters: r#"Substr("héllo世", 1, 3; unit="UTF8_CHAR") = "éll""#,
    infers: "Substr(str[?,3], i32[3], i32[3]) : str[?,3]",
    outside: r#"Substr("hello", 6, 1) ! `pos` 6 is out of range for a string of length 5"#,
    outside_before: r#"Substr("", -1, 1) ! `pos` -1 is out of range"#,
}
