//! Text as code points: [`Encoding`] reads and writes them, [`Policy`] says what becomes of bytes that are no
//! text. Helpers of the ops `UnicodeDecode`, `UnicodeEncode` and `UnicodeTranscode`.
//!
//! TensorFlow knows the encodings of ICU. Here are those of Unicode, and the three most frequent of single
//! bytes.

use millstream_graph::Attrs;
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::{Bool, Int, Spec, Text, Words};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, ensure, invalid};

/// How text is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    /// Units of two bytes; whether the first is the higher one. `None`: a byte order mark tells, else it is.
    Utf16(Option<bool>),
    /// Units of four bytes, in the same orders.
    Utf32(Option<bool>),
    Ascii,
    Latin1,
    Windows1252,
}

/// The characters of Windows-1252 from 0x80 to 0x9F.
const WINDOWS: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D,
    0x17D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A,
    0x153, 0x9D, 0x17E, 0x178,
];

/// The sign that begins a text in units of two or four bytes.
const MARK: u32 = 0xFEFF;

impl Encoding {
    /// The encoding of this name. As in ICU, letter case and punctuation do not matter.
    pub fn named(name: &str) -> Result<Encoding> {
        let key: String =
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        Ok(match &*key {
            "utf8" => Encoding::Utf8,
            "utf16" | "ucs2" => Encoding::Utf16(None),
            "utf16be" | "utf16bigendian" => Encoding::Utf16(Some(true)),
            "utf16le" | "utf16littleendian" => Encoding::Utf16(Some(false)),
            "utf32" | "ucs4" => Encoding::Utf32(None),
            "utf32be" | "utf32bigendian" => Encoding::Utf32(Some(true)),
            "utf32le" | "utf32littleendian" => Encoding::Utf32(Some(false)),
            "ascii" | "usascii" => Encoding::Ascii,
            "latin1" | "iso88591" => Encoding::Latin1,
            "windows1252" | "cp1252" => Encoding::Windows1252,
            _ => {
                return Err(invalid!(
                    "Could not create converter for input encoding: {name}";
                    "the encodings are UTF-8, UTF-16, UTF-32, both also with BE or LE, US-ASCII, ISO-8859-1 and windows-1252"
                ));
            }
        })
    }

    /// Calls `each` with each character of a text, or `None` for bytes that are none, and its number of
    /// bytes.
    pub fn read(
        self,
        text: &[u8],
        pace: &mut Pace,
        mut each: impl FnMut(Option<u32>, usize) -> Result<()>,
    ) -> Result<()> {
        match self {
            Encoding::Utf8 => text.utf8_chunks().try_for_each(|chunk| {
                for char in chunk.valid().chars() {
                    pace.spend(1)?;
                    each(Some(char.into()), char.len_utf8())?;
                }
                pace.spend(1)?;
                match chunk.invalid() {
                    [] => Ok(()),
                    bytes => each(None, bytes.len()),
                }
            }),
            Encoding::Utf16(order) => units::<2>(text, order, of_two_bytes, pace, each),
            Encoding::Utf32(order) => {
                units::<4>(text, order, |unit, _, _| (char::from_u32(unit).map(u32::from), 4), pace, each)
            }
            Encoding::Ascii | Encoding::Latin1 | Encoding::Windows1252 => text.iter().try_for_each(|byte| {
                pace.spend(1)?;
                let char = match (self, *byte) {
                    (Encoding::Ascii, 0x80..) => None,
                    (Encoding::Windows1252, byte @ 0x80..=0x9F) => {
                        Some(WINDOWS[usize::from(byte - 0x80)].into())
                    }
                    (_, byte) => Some(byte.into()),
                };
                each(char, 1)
            }),
        }
    }

    /// Appends a character. UTF-8 has none of the halves of pairs.
    pub fn write(self, code: u32, to: &mut Vec<u8>) {
        match self {
            Encoding::Utf16(_) if code < 0x1_0000 => to.extend((code as u16).to_be_bytes()),
            Encoding::Utf16(_) => {
                let rest = code - 0x1_0000;
                to.extend((0xD800 + (rest >> 10) as u16).to_be_bytes());
                to.extend((0xDC00 + (rest & 0x3FF) as u16).to_be_bytes());
            }
            Encoding::Utf32(_) => to.extend(code.to_be_bytes()),
            _ => {
                let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                to.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

/// The character of a unit of two bytes, and its number of bytes, given what follows.
fn of_two_bytes(unit: u32, high: bool, rest: &[u8]) -> (Option<u32>, usize) {
    let next = match *rest {
        [a, b, ..] => Some(u16::from_be_bytes(if high { [a, b] } else { [b, a] })),
        _ => None,
    };
    match (unit, next) {
        (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
            (Some(0x1_0000 + ((unit - 0xD800) << 10) + (u32::from(low) - 0xDC00)), 4)
        }
        // The end cuts a pair: what is left belongs to it.
        (0xD800..=0xDBFF, None) => (None, 2 + rest.len()),
        (0xD800..=0xDFFF, _) => (None, 2),
        _ => (Some(unit), 2),
    }
}

/// Reads units of `N` bytes. `character` returns a unit's character and its number of bytes, given the order
/// of bytes and what follows.
fn units<const N: usize>(
    text: &[u8],
    order: Option<bool>,
    character: impl Fn(u32, bool, &[u8]) -> (Option<u32>, usize),
    pace: &mut Pace,
    mut each: impl FnMut(Option<u32>, usize) -> Result<()>,
) -> Result<()> {
    let unit = |bytes: &[u8], high: bool| {
        let fold = |unit: u32, byte: &u8| unit << 8 | u32::from(*byte);
        if high { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
    };
    let mark = |high| text.len() >= N && unit(&text[..N], high) == MARK;
    // A mark that tells the order belongs to the first character.
    let (high, mut skipped) = match order {
        Some(high) => (high, 0),
        None if mark(false) => (false, N),
        None => (true, if mark(true) { N } else { 0 }),
    };
    let mut at = skipped;
    while at < text.len() {
        pace.spend(1)?;
        let (char, length) = match text[at..].split_at_checked(N) {
            Some((bytes, rest)) => character(unit(bytes, high), high, rest),
            None => (None, text.len() - at),
        };
        each(char, std::mem::take(&mut skipped) + length)?;
        at += length;
    }
    Ok(())
}

/// What becomes of bytes that are no text, and of code points that are no characters.
#[derive(Clone, Copy)]
pub(super) struct Policy {
    /// Whether they are an error.
    strict: bool,
    /// The character in their place, if there is one.
    place: Option<u32>,
    /// Whether control characters are replaced, too. They are no error.
    controls: bool,
}

impl Policy {
    /// Declares the attributes. `Policy::of` reads them.
    pub fn attrs(def: OpDef, controls: bool) -> OpDef {
        let words: &[&str] =
            if controls { &["strict", "replace", "ignore"] } else { &["ignore", "replace", "strict"] };
        let def = def.attr("errors", Words(words).or("replace")).attr("replacement_char", Int.or(65533));
        if controls { def.attr("replace_control_characters", Bool.or(false)) } else { def }
    }

    pub fn of(attrs: &Attrs) -> Result<Policy> {
        let char = attrs.int("replacement_char")?;
        let known = u32::try_from(char).ok().filter(|char| *char <= 0x10_FFFF);
        let known = known.ok_or_else(|| {
            invalid!(
                "replacement_char out of unicode codepoint range";
                "`replacement_char` is {char}, and code points are from 0 to 1114111"
            )
        })?;
        let errors = &**attrs.str("errors")?;
        let (strict, place) = (errors == b"strict", (errors != b"ignore").then_some(known));
        let controls =
            attrs.get("replace_control_characters").is_some() && attrs.bool("replace_control_characters")?;
        Ok(Policy { strict, place, controls })
    }

    /// The character that is read for another, or for bytes that are none; `None` if it is left out.
    pub fn read(self, char: Option<u32>) -> Result<Option<u32>> {
        match char {
            Some(char) if !self.controls || 0x1F < char => Ok(Some(char)),
            None if self.strict => Err(invalid!(
                "Invalid formatting on input string";
                "`errors` is strict, and a string has bytes that are no text in its encoding"
            )),
            _ => Ok(self.place),
        }
    }

    /// The character that is written for a code point; `None` if it is left out.
    pub fn write(self, code: i32) -> Result<Option<u32>> {
        match u32::try_from(code).ok().filter(|code| *code <= 0x10_FFFF) {
            Some(code) => Ok(Some(code)),
            None if self.strict => Err(invalid!(
                "Code point value out of valid Unicode range.";
                "`errors` is strict, and {code} is not from 0 to 1114111"
            )),
            None => Ok(self.place),
        }
    }
}

/// Declares an encoding of which output is made.
pub(super) fn output_encoding(def: OpDef) -> OpDef {
    def.attr("output_encoding", Words(&["UTF-8", "UTF-16-BE", "UTF-32-BE"]))
}

/// Declares an encoding that is read.
pub(super) fn input_encoding(def: OpDef) -> OpDef {
    def.attr("input_encoding", Text)
}

/// The encoding in an attribute.
pub(super) fn encoding(attrs: &Attrs, name: &str) -> Result<Encoding> {
    Encoding::named(&attrs.str(name)?.text())
}

/// An error unless a vector of splits has an entry.
pub(super) fn check_splits(n: usize) -> Result<()> {
    ensure!(
        0 < n,
        "Negative dimension size caused by subtracting 1 from 0";
        "`input_splits` is empty: the strings of n rows take n + 1 splits"
    );
    Ok(())
}
