//! Text in a picture: its width, cutting it to a length, and escaping it for XML.

/// A text escaped for XML content and attributes. Characters that XML cannot hold become replacement
/// characters.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The first `most` characters of a text, on one line.
pub(super) fn cut(text: &str, most: usize) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match text.char_indices().nth(most) {
        None => text,
        Some(_) => {
            let short: String = text.chars().take(most.saturating_sub(1)).collect();
            format!("{short}\u{2026}")
        }
    }
}

/// An upper bound on the width of a text, in pixels, for the usual sans-serif fonts.
pub(super) fn width(text: &str, font_size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.30,
        'f' | 't' | 'r' | ' ' | '/' | '(' | ')' | '[' | ']' | '-' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 0.95,
        'A'..='Z' => 0.72,
        c if c.is_ascii() => 0.60,
        _ => 1.05,
    };
    text.chars().map(em).sum::<f64>() * font_size
}

/// A number with commas: `12,345`.
pub(super) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if 0 < i && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 node`, `2 nodes`.
pub(super) fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_place() {
        assert_eq!(
            escaped("<script>'a' & \"b\"\u{0}"),
            "&lt;script&gt;&#39;a&#39; &amp; &quot;b&quot;\u{fffd}"
        );
    }

    #[test]
    fn long_texts_are_cut_and_numbers_grouped() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde\u{2026}");
        assert_eq!(
            [grouped(7), grouped(999), grouped(1000), grouped(1234567)],
            ["7", "999", "1,000", "1,234,567"]
        );
        assert_eq!([counted(1, "node"), counted(0, "node")], ["1 node", "0 nodes"]);
    }
}
