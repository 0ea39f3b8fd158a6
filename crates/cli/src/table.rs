//! [`Table`]: rows of text in aligned columns.

use std::fmt;

/// Rows of text in aligned columns.
#[derive(Default)]
pub(crate) struct Table {
    indent: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table, indented by this many spaces.
    pub(crate) fn indented(indent: usize) -> Table {
        Table { indent, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// The most that one long cell widens its column. The cell itself is never cut.
const WIDEST: usize = 48;

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (i, cell) in row.iter().enumerate() {
                let width = cell.chars().count().min(WIDEST);
                match widths.get_mut(i) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for (cell, width) in row.iter().zip(&widths) {
                line += &format!("{cell:<width$}  ");
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
