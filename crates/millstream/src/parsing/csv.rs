//! [`decode_csv`]: columns of CSV text.

use crate::options::{Options, Start};
use millstream_graph::{Arg, Attr, Attrs, Output};
use millstream_tensor::{DType, Result, Tensor};
use std::panic::Location;

/// A column of text: its dtype (f32, f64, i32, i64 or string), and the value of empty fields.
///
/// ```
/// use millstream::parsing::{Column, decode_csv};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let fields = decode_csv(&g, "Ada,", [Column::required(DType::Str), Column::or(36)]).run()?;
/// let (name, age): (String, i32) = Session::new(&g)?.run((fields[0], fields[1]), feed![])?;
/// assert_eq!((name.as_str(), age), ("Ada", 36));
/// # Ok::<(), millstream::Error>(())
/// ```
pub struct Column<'g>(Kind<'g>);

impl std::fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").finish_non_exhaustive()
    }
}

enum Kind<'g> {
    Required(DType),
    Or(Arg<'g>),
}

impl<'g> Column<'g> {
    /// Returns a column whose fields must not be empty.
    ///
    /// ```
    /// use millstream::parsing::{Column, decode_csv};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let columns = [Column::required(DType::I32), Column::required(DType::I32)];
    /// let fields = decode_csv(&g, "7,", columns).run()?;
    /// assert!(Session::new(&g)?.run::<i32>(fields[1], feed![]).is_err()); // the field is empty
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn required(dtype: DType) -> Self {
        Column(Kind::Required(dtype))
    }

    /// Returns a column with the dtype of `default`, the value of empty fields.
    ///
    /// ```
    /// use millstream::parsing::{Column, decode_csv};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let fields = decode_csv(&g, ",7", [Column::or(1), Column::or(1)]).run()?;
    /// assert_eq!(Session::new(&g)?.run::<(i32, i32)>((fields[0], fields[1]), feed![])?, (1, 7));
    /// # Ok::<(), millstream::Error>(())
    /// ```
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

/// A builder of the columns, from [`decode_csv`].
#[must_use = "`run` adds the node"]
pub struct DecodeCsv<'g> {
    options: Options<'g>,
    records: Arg<'g>,
    columns: Vec<Column<'g>>,
    attrs: Attrs,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for DecodeCsv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecodeCsv")
            .field("options", &self.options)
            .field("attrs", &self.attrs)
            .finish_non_exhaustive()
    }
}

/// Decodes `records`, lines of comma-separated fields, into one tensor per column, of the shape of `records`:
/// options, then [`DecodeCsv::run`].
///
/// ```
/// use millstream::parsing::{Column, decode_csv};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let lines = g.placeholder_of("lines", DType::Str, shape![_]);
/// let columns = [Column::required(DType::Str), Column::or(0.5f32)];
/// let columns = decode_csv(&g, lines, columns).field_delim(";").na_value("-").select_cols([0, 2]).run()?;
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
    /// Sets the delimiter between fields, one character; a comma by default.
    ///
    /// ```
    /// use millstream::parsing::{Column, decode_csv};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let fields = decode_csv(&g, "1;2", [Column::or(0), Column::or(0)]).field_delim(";").run()?;
    /// assert_eq!(Session::new(&g)?.run::<i32>(fields[1], feed![])?, 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn field_delim(self, delimiter: impl Into<String>) -> Self {
        self.with("field_delim", delimiter.into())
    }

    /// Sets whether a field that begins with a quote extends to the next quote and may contain delimiters;
    /// true by default.
    pub fn use_quote_delim(self, yes: bool) -> Self {
        self.with("use_quote_delim", yes)
    }

    /// Sets a text that also marks a missing field.
    ///
    /// ```
    /// use millstream::parsing::{Column, decode_csv};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let fields = decode_csv(&g, "NA,7", [Column::or(0), Column::or(0)]).na_value("NA").run()?;
    /// assert_eq!(Session::new(&g)?.run::<(i32, i32)>((fields[0], fields[1]), feed![])?, (0, 7));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn na_value(self, text: impl Into<String>) -> Self {
        self.with("na_value", text.into())
    }

    /// Selects columns of the text by increasing index, from 0; all by default.
    ///
    /// ```
    /// use millstream::parsing::{Column, decode_csv};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let fields = decode_csv(&g, "1,2,3", [Column::or(0)]).select_cols([2]).run()?;
    /// assert_eq!(Session::new(&g)?.run::<i32>(fields[0], feed![])?, 3);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn select_cols(self, columns: impl IntoIterator<Item = i64>) -> Self {
        self.with("select_cols", columns.into_iter().collect::<Vec<i64>>())
    }

    /// Adds the node. Returns a tensor for each column.
    ///
    /// ```
    /// use millstream::parsing::{Column, decode_csv};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let fields = decode_csv(&g, "1,2.5", [Column::or(0), Column::or(0.0f32)]).run()?;
    /// assert_eq!((fields[0].dtype()?, fields[1].dtype()?), (DType::I32, DType::F32));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn run(self) -> Result<Vec<Output<'g>>> {
        let defaults = self.columns.into_iter().map(Column::default).collect::<Result<Vec<_>>>()?;
        let node = self.options.start("DecodeCSV").attrs(self.attrs).at(self.at).input(self.records);
        Ok(node.inputs(defaults).try_finish()?.outputs())
    }

    fn with(mut self, attr: &'static str, value: impl Into<Attr>) -> Self {
        self.attrs.set(attr, value);
        self
    }
}
