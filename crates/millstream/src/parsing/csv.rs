//! [`decode_csv`]: columns of text.

use crate::options::{Options, Start};
use millstream_graph::{Arg, Attr, Attrs, Output};
use millstream_tensor::{DType, Result, Tensor};
use std::panic::Location;

/// A column of text: its dtype (f32, f64, i32, i64 or string), and what stands for a field that is empty.
pub struct Column<'g>(Kind<'g>);

enum Kind<'g> {
    Required(DType),
    Or(Arg<'g>),
}

impl<'g> Column<'g> {
    /// A field must be there.
    pub fn required(dtype: DType) -> Self {
        Column(Kind::Required(dtype))
    }

    /// This value, whose dtype is the column's, stands for an empty field.
    pub fn or(default: impl Into<Arg<'g>>) -> Self {
        Column(Kind::Or(default.into()))
    }

    fn default(self) -> Result<Arg<'g>> {
        match self.0 {
            Kind::Required(dtype) => Ok(Tensor::zeros(dtype, [0])?.into()),
            Kind::Or(default) => Ok(default),
        }
    }
}

/// Text being taken apart. Made by [`decode_csv`].
#[must_use = "nodes are made by `make`"]
pub struct DecodeCsv<'g> {
    options: Options<'g>,
    records: Arg<'g>,
    columns: Vec<Column<'g>>,
    attrs: Attrs,
    at: &'static Location<'static>,
}

/// A tensor for each of the columns of `records`, lines of text whose fields stand between commas, of the shape of `records`.
///
/// ```
/// use millstream::parsing::{Column, decode_csv};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let lines = g.placeholder_of("lines", DType::Str, shape![_]);
/// let columns = [Column::required(DType::Str), Column::or(0.5f32)];
/// let columns = decode_csv(&g, lines, columns).field_delim(";").na_value("-").select_cols([0, 2]).make()?;
/// let session = Session::new(&g)?;
/// let given = "str[2] [\"a;1;2.5\" \"b;2;-\"]".parse::<Tensor>()?;
/// let (names, numbers): (Tensor, Vec<f32>) = session.run((columns[0], columns[1]), feed![lines => given])?;
/// assert_eq!(names.to_string(), "str[2] [\"a\" \"b\"]");
/// assert_eq!(numbers, [2.5, 0.5]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn decode_csv<'g>(
    g: impl Start<'g>,
    records: impl Into<Arg<'g>>,
    columns: impl IntoIterator<Item = Column<'g>>,
) -> DecodeCsv<'g> {
    let columns = columns.into_iter().collect();
    DecodeCsv {
        options: g.options(),
        records: records.into(),
        columns,
        attrs: Attrs::new(),
        at: Location::caller(),
    }
}

impl<'g> DecodeCsv<'g> {
    /// What stands between fields, one character; a comma by default.
    pub fn field_delim(self, delimiter: impl Into<String>) -> Self {
        self.with("field_delim", delimiter.into())
    }

    /// Whether a field that begins with a quote goes on to the next, and may hold what stands between fields; true by default.
    pub fn use_quote_delim(self, yes: bool) -> Self {
        self.with("use_quote_delim", yes)
    }

    /// What else, beside nothing, stands for a missing field.
    pub fn na_value(self, text: impl Into<String>) -> Self {
        self.with("na_value", text.into())
    }

    /// Which columns of the text are wanted, from 0, in order; all by default.
    pub fn select_cols(self, columns: impl IntoIterator<Item = i64>) -> Self {
        self.with("select_cols", columns.into_iter().collect::<Vec<i64>>())
    }

    /// Makes the node; gives a tensor for each column.
    pub fn make(self) -> Result<Vec<Output<'g>>> {
        let defaults = self.columns.into_iter().map(Column::default).collect::<Result<Vec<_>>>()?;
        let node = self.options.start("DecodeCSV").attrs(self.attrs).at(self.at).input(self.records);
        Ok(node.inputs(defaults).try_finish()?.outputs())
    }

    fn with(mut self, attr: &'static str, value: impl Into<Attr>) -> Self {
        self.attrs.set(attr, value);
        self
    }
}
