//! [`Table`]: rows of text with aligned columns.

use std::fmt;

/// Rows, of which the first is the heading.
pub(crate) struct Table<'a>(&'a [Vec<String>]);

impl<'a> Table<'a> {
    pub(crate) fn new(rows: &'a [Vec<String>]) -> Table<'a> {
        Table(rows)
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..n)
            .map(|c| self.0.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0))
            .collect();
        // Numbers are aligned to the right.
        let is_number = |c: usize| {
            let mut cells =
                self.0.iter().skip(1).filter_map(|r| r.get(c)).filter(|t| !t.is_empty()).peekable();
            cells.peek().is_some() && cells.all(|t| t.chars().all(|c| c.is_ascii_digit()))
        };
        let right: Vec<bool> = (0..n).map(is_number).collect();
        for (i, row) in self.0.iter().enumerate() {
            let mut line = String::new();
            for (c, text) in row.iter().enumerate() {
                let pad = " ".repeat(widths[c] - text.chars().count());
                line.push_str(if c == 0 { "" } else { "  " });
                match right[c] {
                    true => line.extend([&pad, text.as_str()]),
                    false => line.extend([text.as_str(), &pad]),
                }
            }
            write!(f, "{}{}", if i == 0 { "" } else { "\n" }, line.trim_end())?;
            if i == 0 {
                let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
                write!(f, "\n{}", rule.join("  "))?;
            }
        }
        Ok(())
    }
}
