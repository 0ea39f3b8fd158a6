//! `EncodeBase64` and `DecodeBase64`: base64 with the URL-safe alphabet.

use crate::shared::strings::map;
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let plain = |name| OpDef::new(name).input("input", S).output("output", S).infer(|cx| cx.same_as_input());
    [
        plain("EncodeBase64")
            .doc(
                "Encodes each string in base64 with the URL-safe alphabet, which has `-` and `_`. If `pad` \
                 is true, the text is padded with `=`.",
            )
            .attr("pad", Bool.or(false))
            .kernel(Kernel::pure(|cx| {
                let pad = cx.attrs().bool("pad")?;
                map(cx, move |s| encode(s, pad))
            })),
        plain("DecodeBase64")
            .doc(
                "Decodes each string from base64 with the URL-safe alphabet, which has `-` and `_`, with or \
                 without padding.",
            )
            .kernel(Kernel::pure(|cx| map(cx, |s| decode(s)))),
    ]
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encode(bytes: &[u8], pad: bool) -> Result<Vec<u8>> {
    let mut pace = Pace::new();
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for group in bytes.chunks(3) {
        pace.spend(1)?;
        let bits = group.iter().fold(0u32, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - group.len()));
        let letters = (0..=group.len()).map(|i| ALPHABET[(bits >> (18 - 6 * i) & 63) as usize]);
        text.extend(letters);
        if pad {
            text.extend(vec![b'='; 3 - group.len()]);
        }
    }
    Ok(text)
}

fn decode(text: &[u8]) -> Result<Vec<u8>> {
    // Padding completes a last group of four letters. Elsewhere, `=` is an invalid letter.
    let padded = if text.len().is_multiple_of(4) {
        text.iter().rev().take(2).take_while(|b| **b == b'=').count()
    } else {
        0
    };
    let letters = text.get(..text.len() - padded).unwrap_or_default();
    ensure!(letters.len() % 4 != 1, "Base64 string length cannot be 1 modulo 4."; "base64 text of {} letters ends within a byte", letters.len());
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3 + 2);
    let mut pace = Pace::new();
    for group in letters.chunks(4) {
        pace.spend(1)?;
        let mut bits = 0u32;
        for letter in group {
            let value = ALPHABET.iter().position(|a| a == letter).ok_or_else(|| {
                invalid!("Invalid character found in base64."; "`{}` is not a base64 letter", letter.escape_ascii())
                    .with_help("this is the URL-safe alphabet, with `-` and `_` instead of `+` and `/`")
            })?;
            bits = bits << 6 | value as u32;
        }
        // Bits of the last letter beyond whole bytes are ignored.
        let [_, a, b, c] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend([a, b, c].into_iter().take(group.len() * 6 / 8));
    }
    Ok(bytes)
}

cases! {
    encodes: r#"EncodeBase64(["" "a" "ab" "abc" "?>~"]) = ["" "YQ" "YWI" "YWJj" "Pz5-"]"#,
    pads: r#"EncodeBase64(["a" "ab"]; pad=true) = ["YQ==" "YWI="]"#,
    decodes: r#"DecodeBase64(["" "YQ" "YWI=" "YWJj" "Pz5-" "YR"]) = ["" "a" "ab" "abc" "?>~" "a"]"#,
    keeps_the_shape: "DecodeBase64(str[?,3]) : str[?,3]",
    own_alphabet: r#"DecodeBase64("+/8") ! `+` is not a base64 letter"#,
    whole_bytes: r#"DecodeBase64("YWJjZ") ! ends within a byte"#,
    whole_padding: r#"DecodeBase64("YQ=") ! `=` is not a base64 letter"#,
}
