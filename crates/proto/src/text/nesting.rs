//! How deep the messages in a text nest, found without recursion.
//!
//! [`check`] reads the text just closely enough to know a brace from one in a string or a comment.
//! Where it meets text that the parser will refuse, it stops: the parser does not get further.

use std::fmt;

use crate::MAX_DEPTH;

/// A text nests deeper than [`MAX_DEPTH`]: the place of the brace that is too much.
#[derive(Debug)]
pub(super) struct TooDeep {
    pub(super) offset: usize,
}

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages nest deeper than the limit of {MAX_DEPTH}")
    }
}

/// Refuses text that nests deeper than [`MAX_DEPTH`].
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

// False when the string does not end in its line, which the parser refuses.
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
