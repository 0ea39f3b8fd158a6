//! `UnicodeEncode`: strings of code points.

use super::unicode::{Policy, check_splits, encoding, output_encoding};
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, Str as Strings};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Str, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("UnicodeEncode")
        .doc(
            "Returns strings of the code points in `input_values`: string `i` ends before \
             `input_splits[i + 1]`, where the next one begins. In place of numbers that are no code points comes \
             `replacement_char` or nothing, or they are an error, as `errors` says.",
        )
        .input("input_values", I32)
        .input("input_splits", "Tsplits")
        .output("output", Strings);
    output_encoding(Policy::attrs(def, false))
        .attr("Tsplits", IndexType.or(I64))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10.0)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.with_rank(0, 1)?;
    let n = cx.vector(1)?;
    n.map_or(Ok(()), check_splits)?;
    cx.set(0, [n.map(|n| n - 1)]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in 0..2 {
        let t = cx.input(i);
        ensure!(t.rank() == 1, "`{}` must be a vector but has shape {}", cx.name_of(i), t.shape());
    }
    let (encoding, policy) = (encoding(cx.attrs(), "output_encoding")?, Policy::of(cx.attrs())?);
    let (codes, splits) = (cx.input(0).as_slice::<i32>()?, cx.ints(1)?);
    check_splits(splits.len())?;
    let (mut strings, mut pace, mut at) = (Charged::with_room(splits.len())?, Pace::new(), 0);
    for (i, split) in splits.iter().enumerate().skip(1) {
        let end = usize::try_from(*split).ok().filter(|end| *end <= codes.len()).ok_or_else(|| {
            invalid!(
                "`input_splits` has {split} at {i}, but splits must be from 0 to {}, the number of values",
                codes.len()
            )
        })?;
        let row = codes.get(at..end).unwrap_or_default();
        at = at.max(end);
        // Four bytes are the most that a character takes.
        let _room = Room::of(row.len().saturating_mul(4))?;
        let mut text = Vec::with_capacity(row.len());
        for code in row {
            pace.spend(1)?;
            if let Some(char) = policy.write(*code)? {
                encoding.write(char, &mut text);
            }
        }
        strings.push(Str::new(text)?)?;
    }
    let strings = Tensor::strings([strings.len()], strings.take())?;
    cx.set(0, strings);
    Ok(())
}

cases! {
    strings: "UnicodeEncode([104 233 19990], i64 [0 2 2 3]; output_encoding=\"UTF-8\") = [\"hé\" \"\" \"世\"]",
    of_pairs_of_bytes: "UnicodeEncode([24930 99], [0 1]; output_encoding=\"UTF-16-BE\") = [\"ab\"]",
    replaces: "UnicodeEncode([97 -1 98], i64 [0 3]; output_encoding=\"UTF-8\", replacement_char=63) = [\"a?b\"]",
    leaves_out: "UnicodeEncode([97 1114112 98], i64 [0 3]; output_encoding=\"UTF-8\", errors=\"ignore\") = [\"ab\"]",
    infers: "UnicodeEncode(i32[?], i64[4]; output_encoding=\"UTF-8\") : str[3]",
    strict: "UnicodeEncode([97 -1], i64 [0 2]; output_encoding=\"UTF-8\", errors=\"strict\") ! Code point value out of valid Unicode range.",
    inside: "UnicodeEncode([97], i64 [0 2]; output_encoding=\"UTF-8\") ! `input_splits` has 2 at 1",
    some_splits: "UnicodeEncode([97], i64[0] []; output_encoding=\"UTF-8\") ! `input_splits` is empty",
}
