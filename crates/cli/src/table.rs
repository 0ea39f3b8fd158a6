//! [`Table`]: rows of text, columns lined up.

use std::fmt;

/// Rows of text; the last column is as wide as it wants to be.
#[derive(Default)]
pub(crate) struct Table {
    indent: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table that is set in by so many spaces.
    pub(crate) fn indented(indent: usize) -> Table {
        Table { indent, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// A column is never made wider than this for the sake of one long cell.
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
