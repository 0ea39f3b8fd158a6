//! The README's counts, which grow with the code.

use millstream::{Result, registry};

/// The README with the number of op types that there are before each ` op types`.
pub fn readme() -> Result<String> {
    let text = std::fs::read_to_string(crate::root().join(super::README))?;
    Ok(with_count(&text, " op types", registry().iter().count()))
}

/// The text with this number in place of each number before `noun`.
fn with_count(text: &str, noun: &str, n: usize) -> String {
    let parts: Vec<&str> = text.split(noun).collect();
    let last = parts.len() - 1;
    let counted = parts.iter().enumerate().map(|(i, part)| {
        let before = part.trim_end_matches(|c: char| c.is_ascii_digit());
        if i == last || before.len() == part.len() { (*part).to_owned() } else { format!("{before}{n}") }
    });
    counted.collect::<Vec<_>>().join(noun)
}

#[cfg(test)]
mod tests {
    use super::with_count;

    #[test]
    fn numbers_before_the_noun_change() {
        assert_eq!(
            with_count("7 ops, 12 op types, op types 3", " op types", 40),
            "7 ops, 40 op types, op types 3"
        );
        assert_eq!(with_count("9", " op types", 40), "9");
    }
}
