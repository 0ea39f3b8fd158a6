//! `UnicodeTranscode`: strings in another encoding.

use super::unicode::{Policy, encoding, input_encoding, output_encoding};
use crate::shared::strings::map;
use millstream_graph::op::{Cost, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as Strings;
use millstream_tensor::Result;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("UnicodeTranscode")
        .doc(
            "Returns strings in another encoding. In place of bytes that are no text comes `replacement_char` or \
             nothing, or they are an error, as `errors` says. `replace_control_characters` treats the \
             characters 0 to 31 alike.",
        )
        .input("input", Strings)
        .output("output", Strings);
    Policy::attrs(output_encoding(input_encoding(def)), true)
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run).cost(Cost::PerElement(200.0)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (from, to) = (encoding(cx.attrs(), "input_encoding")?, encoding(cx.attrs(), "output_encoding")?);
    let policy = Policy::of(cx.attrs())?;
    map(cx, move |text| {
        // Four bytes are the most that a character takes.
        let _room = Room::of(text.len().saturating_mul(4))?;
        let (mut made, mut pace) = (Vec::with_capacity(text.len()), Pace::new());
        from.read(text, &mut pace, |char, _| {
            if let Some(char) = policy.read(char)? {
                to.write(char, &mut made);
            }
            Ok(())
        })?;
        Ok(made)
    })
}

cases! {
    same: "UnicodeTranscode([[\"hé\"] [\"\"]]; input_encoding=\"UTF-8\", output_encoding=\"UTF-8\") = [[\"hé\"] [\"\"]]",
    from_single_bytes: "UnicodeTranscode(\"é\"; input_encoding=\"latin-1\", output_encoding=\"UTF-8\") = \"Ã©\"",
    to_pairs_of_bytes: "UnicodeTranscode(\"慢\"; input_encoding=\"UTF-8\", output_encoding=\"UTF-16-BE\") = \"ab\"",
    leaves_out: "UnicodeTranscode(\"aéb\"; input_encoding=\"US-ASCII\", output_encoding=\"UTF-8\", errors=\"ignore\") = \"ab\"",
    infers: "UnicodeTranscode(str[?,2]; input_encoding=\"UTF-8\", output_encoding=\"UTF-8\") : str[?,2]",
    strict: "UnicodeTranscode(\"é\"; input_encoding=\"US-ASCII\", output_encoding=\"UTF-8\", errors=\"strict\") ! Invalid formatting on input string",
    known_encodings: "UnicodeTranscode(\"é\"; input_encoding=\"\", output_encoding=\"UTF-8\") ! Could not create converter",
}
