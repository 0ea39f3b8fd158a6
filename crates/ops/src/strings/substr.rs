//! `Substr`: substrings.

use crate::shared::strings::continues;
use millstream_graph::op::spec::{IndexType, Spec, Words};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::{Result, Str, Tensor, invalid};

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
    cx.merge(1, 2)?;
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
        invalid!("shapes {} of `input` and {} of `pos` do not broadcast", input.shape(), pos.shape())
    })?;
    let (input, pos, len) = (
        input.broadcast_to(shape.clone())?,
        pos.broadcast_to(shape.clone())?,
        len.broadcast_to(shape.clone())?,
    );
    let ints = |t: &Tensor| -> Result<Vec<i64>> {
        match t.as_slice::<i32>() {
            Ok(v) => Ok(v.iter().map(|&v| v.into()).collect()),
            Err(_) => Ok(t.as_slice::<i64>()?.to_vec()),
        }
    };
    let strings = input.as_strs().ok_or_else(|| invalid!("`input` must be strings"))?;
    let parts = strings.iter().zip(ints(&pos)?).zip(ints(&len)?).map(|((s, pos), len)| match chars {
        true => characters(s, pos, len),
        false => bytes(s, pos, len),
    });
    let result = Tensor::strings(shape, parts.collect::<Result<Vec<Str>>>()?)?;
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
    let starts: Vec<usize> =
        (0..s.len()).filter(|&i| i == 0 || !s.get(i).is_some_and(|b| continues(*b))).collect();
    let first = start(pos, starts.len())?;
    let last = first.saturating_add(usize::try_from(len).unwrap_or(0));
    let place = |i: usize| starts.get(i).copied().unwrap_or(s.len());
    Str::new(s.get(place(first)..place(last)).unwrap_or_default())
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
