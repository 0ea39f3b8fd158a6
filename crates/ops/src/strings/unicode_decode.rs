//! `UnicodeDecode`, `UnicodeDecodeWithOffsets`: the code points of strings.

use super::unicode::{Policy, encoding, input_encoding};
use crate::shared::casting::cast;
use crate::shared::strings::strs;
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, Str};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    [("UnicodeDecode", false), ("UnicodeDecodeWithOffsets", true)].map(|(name, offsets)| {
        let def = OpDef::new(name)
            .doc(if offsets {
                "Returns what UnicodeDecode returns, and in `char_to_byte_starts` the place of each character's \
                 first byte in its string."
            } else {
                "Returns the characters of all strings, in row-major order, as code points: those of string `i` \
                 are `char_values[row_splits[i]..row_splits[i + 1]]`. In place of bytes that are no text in the \
                 encoding comes `replacement_char` or nothing, or they are an error, as `errors` says. \
                 `replace_control_characters` treats the characters 0 to 31 alike."
            })
            .input("input", Str)
            .output("row_splits", "Tsplits")
            .output("char_values", I32);
        let def = if offsets { def.output("char_to_byte_starts", I64) } else { def };
        Policy::attrs(input_encoding(def), true)
            .attr("Tsplits", IndexType.or(I64))
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(200.0)))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.input(0).dims().and_then(|dims| dims.iter().try_fold(1usize, |n, d| n.checked_mul((*d)?)));
    cx.set(0, [n.and_then(|n| n.checked_add(1))]);
    (1..cx.n_outputs()).for_each(|i| cx.set(i, [None]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (encoding, policy) = (encoding(cx.attrs(), "input_encoding")?, Policy::of(cx.attrs())?);
    let (mut chars, mut starts, mut pace) = (Charged::new(), Charged::new(), Pace::new());
    let with_starts = cx.n_outputs() == 3;
    let mut splits = Charged::with_room(cx.input(0).elements() + 1)?;
    splits.push(0i64)?;
    for text in strs(cx, 0)? {
        let mut at = 0i64;
        encoding.read(text, &mut pace, |char, bytes| {
            if let Some(char) = policy.read(char)? {
                chars.push(char as i32)?;
                if with_starts {
                    starts.push(at)?;
                }
            }
            at += bytes as i64;
            Ok(())
        })?;
        splits.push(chars.len() as i64)?;
    }
    let dtype = cx.attrs().dtype("Tsplits")?;
    let splits = cast(&Tensor::vector(&splits)?, dtype)?;
    cx.set(0, splits);
    cx.set(1, Tensor::vector(&chars)?);
    if with_starts {
        cx.set(2, Tensor::vector(&starts)?);
    }
    Ok(())
}

cases! {
    code_points: "UnicodeDecode([\"hé\" \"\" \"世\"]; input_encoding=\"UTF-8\") = i64 [0 2 2 3], [104 233 19990]",
    starts_of_bytes: "UnicodeDecodeWithOffsets([\"hé世a\"]; input_encoding=\"utf8\", Tsplits=i32) = [0 4], [104 233 19990 97], i64 [0 1 3 6]",
    of_single_bytes: "UnicodeDecode([\"é\"]; input_encoding=\"ISO-8859-1\") = i64 [0 2], [195 169]",
    replaces: "UnicodeDecode([\"é\"]; input_encoding=\"US-ASCII\", replacement_char=63) = i64 [0 2], [63 63]",
    leaves_out: "UnicodeDecodeWithOffsets([\"aéb\"]; input_encoding=\"US-ASCII\", errors=\"ignore\") = i64 [0 2], [97 98], i64 [0 3]",
    of_pairs_of_bytes: "UnicodeDecode([\"ab\"]; input_encoding=\"UTF-16-BE\") = i64 [0 1], i32[1] [24930]",
    controls: "UnicodeDecode([\"a\\nb\"]; input_encoding=\"UTF-8\", replace_control_characters=true, replacement_char=32) = i64 [0 3], [97 32 98]",
    infers: "UnicodeDecodeWithOffsets(str[2,3]; input_encoding=\"UTF-8\") : i64[7], i32[?], i64[?]",
    strict: "UnicodeDecode([\"é\"]; input_encoding=\"US-ASCII\", errors=\"strict\") ! Invalid formatting on input string",
    known_encodings: "UnicodeDecode([\"é\"]; input_encoding=\"morse\") ! Could not create converter for input encoding: morse",
    code_point: "UnicodeDecode([\"é\"]; input_encoding=\"UTF-8\", replacement_char=-1) ! replacement_char out of unicode codepoint range",
}
