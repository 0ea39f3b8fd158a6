//! [`plain`]: text without control characters. A graph names its nodes, ops and files as it likes, and a
//! terminal obeys what it is shown.

use std::borrow::Cow;

/// The text with control characters written as escapes, but for the ends of lines and tabs.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => out += &format!("\\x{:02x}", u32::from(c)),
            false => out.push(c),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn terminals_are_told_nothing() {
        assert!(matches!(plain("one\n\ttwo é"), std::borrow::Cow::Borrowed(_)));
        assert_eq!(plain("a\x1b[31mb\x07\u{9b}\x7f\r"), "a\\x1b[31mb\\x07\\x9b\\x7f\\x0d");
    }
}
