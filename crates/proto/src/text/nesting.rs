//! The nesting depth of the messages in a text, computed without recursion.
//!
//! [`check`] distinguishes braces from those in strings and comments, and nothing more. It stops at text that
//! the parser will refuse, since the parser gets no further.

use std::fmt;

use crate::MAX_DEPTH;

/// A text nests deeper than [`MAX_DEPTH`]. Holds the place of the first brace that is too deep.
#[derive(Debug)]
pub(super) struct TooDeep {
    pub(super) offset: usize,
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages nest deeper than the limit of {MAX_DEPTH}")
    }
}

/// Returns an error if the text nests deeper than [`MAX_DEPTH`].
pub(super) fn check(text: &str) -> Result<(), TooDeep> {
    let mut depth = 0usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((offset, byte)) = bytes.next() {
        match byte {
            b'{' | b'<' if depth == MAX_DEPTH => return Err(TooDeep { offset }),
            b'{' | b'<' => depth += 1,
            b'}' | b'>' => depth = depth.saturating_sub(1),
            b'#' => skip_comment(&mut bytes),
            b'"' | b'\'' if !skip_string(byte, &mut bytes) => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}

fn skip_comment(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    bytes.find(|&(_, byte)| byte == b'\n');
}

// Returns false if the string does not end on its line, which the parser refuses.
fn skip_string(quote: u8, bytes: &mut impl Iterator<Item = (usize, u8)>) -> bool {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'\\' => _ = bytes.next(),
            b'\n' => return false,
            _ if byte == quote => return true,
            _ => {}
        }
    }
    false
}
