//! `DecodeCSV`: parses columns from lines of text.

use crate::shared::{strings::strs, text_numbers::number};
use millstream_graph::Attr;
use millstream_graph::op::spec::{Bool, IntList, Spec, Text, TypesFrom1};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_tensor::DType::{self, F32, F64, I32, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Shape, Str, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DecodeCSV")
        .doc(
            "Parses the comma-separated `records` to one tensor for each column, in the shape of `records`. \
             `record_defaults` has, for each column, the value of an empty field (or of `na_value`), or no \
             element if the field is required. Fields are separated by `field_delim`. If `use_quote_delim` \
             is true, a quoted field may contain delimiters and doubled quotes. `select_cols` lists the \
             columns to return.",
        )
        .input("records", DType::Str)
        .input_list("record_defaults", "OUT_TYPE")
        .output_list("output", "OUT_TYPE")
        .attr("OUT_TYPE", TypesFrom1)
        .attr("field_delim", Text.or(","))
        .attr("use_quote_delim", Bool.or(true))
        .attr("na_value", Text.or(""))
        .attr("select_cols", IntList.or(Attr::List(Vec::new())))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(200.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

/// The syntax of lines.
struct Dialect {
    delimiter: u8,
    quotes: bool,
    na: Str,
    /// The columns to return, in order, or none for all of them.
    columns: Vec<usize>,
}

impl Dialect {
    fn of(node: &NodeInfo) -> Result<Dialect> {
        let attrs = &node.attrs;
        let types = attrs.dtypes("OUT_TYPE")?;
        ensure!(!types.is_empty(), "DecodeCSV needs at least one column: `record_defaults` is empty");
        for dtype in &types {
            ensure!(
                matches!(dtype, F32 | F64 | I32 | I64 | DType::Str),
                "a column is f32, f64, i32, i64 or string, not {dtype}"
            );
        }
        let columns = attrs.ints("select_cols")?;
        ensure!(
            columns.first().is_none_or(|&c| c >= 0) && columns.windows(2).all(|pair| pair[0] < pair[1]),
            "`select_cols` must be strictly increasing and not negative, but is {columns:?}"
        );
        ensure!(
            columns.is_empty() || columns.len() == types.len(),
            "`select_cols` has {} columns, but `record_defaults` {}",
            columns.len(),
            types.len()
        );
        let columns = columns.iter().map(|&c| c as usize).collect();
        Ok(Dialect {
            delimiter: attrs.str("field_delim")?.first().copied().unwrap_or(b','),
            quotes: attrs.bool("use_quote_delim")?,
            na: attrs.str("na_value")?.clone(),
            columns,
        })
    }

    /// Returns the selected fields of a line. They are charged: many records may share one long text.
    fn fields(&self, line: &[u8]) -> Result<Charged<Str>> {
        let (mut fields, mut at, mut n) = (Charged::new(), 0, 0);
        let wanted =
            |found: &[Str], n: usize| self.columns.is_empty() || self.columns.get(found.len()) == Some(&n);
        while at < line.len() {
            // Line ends between fields are skipped, as in TensorFlow.
            if matches!(line[at], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            let field = if self.quotes && line[at] == b'"' {
                self.quoted(line, &mut at)?
            } else {
                let rest = &line[at..];
                let end = rest.iter().position(|&b| b == self.delimiter).unwrap_or(rest.len());
                let odd = rest[..end].iter().any(|&b| matches!(b, b'\n' | b'\r') || b == b'"' && self.quotes);
                ensure!(
                    !odd,
                    "Unquoted fields cannot have quotes/CRLFs inside";
                    "field {n} is not quoted, so that it cannot have a quote or an end of line in it"
                );
                at += end + 1;
                Str::new(&rest[..end])?
            };
            if wanted(&fields, n) {
                fields.push(field)?;
                if fields.len() == self.columns.len() {
                    return Ok(fields);
                }
            }
            n += 1;
        }
        // A trailing delimiter is followed by an empty last field.
        if line.last() == Some(&self.delimiter) && wanted(&fields, n) {
            fields.push(Str::default())?;
        }
        Ok(fields)
    }

    /// Parses a field that begins with a quote at `at`, and moves `at` behind the delimiter after it.
    fn quoted(&self, line: &[u8], at: &mut usize) -> Result<Str> {
        let mut field = Charged::new();
        *at += 1;
        loop {
            match (line.get(*at), line.get(*at + 1)) {
                (Some(b'"'), None) => break,
                (Some(b'"'), Some(&next)) if next == self.delimiter => break,
                (Some(b'"'), Some(b'"')) => {
                    field.push(b'"')?;
                    *at += 2;
                }
                (Some(b'"'), Some(_)) => {
                    return Err(invalid!(
                        "Quote inside a string has to be escaped by another quote";
                        "a quote in a quoted field, at byte {at}, must be doubled, or end the field"
                    ));
                }
                (Some(&other), _) => {
                    field.push(other)?;
                    *at += 1;
                }
                (None, _) => {
                    return Err(invalid!(
                        "Quoted field has to end with quote followed by delim or end";
                        "a quoted field does not end with a quote"
                    ));
                }
            }
        }
        *at += 2;
        Str::new(&field[..])
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    Dialect::of(cx.node())?;
    for i in 0..cx.n_outputs() {
        let default = cx.input(1 + i);
        let rank = default.rank().unwrap_or(0);
        ensure!(
            rank < 2,
            "Shape must be at most rank 1 but is rank {rank}";
            "a default is one value or none, but `record_defaults` {i} has shape {default}"
        );
        ensure!(
            default.elements().is_none_or(|n| n < 2),
            "Shape of a default must be a length-0 or length-1 vector, or a scalar.";
            "a default is one value or none, but `record_defaults` {i} has shape {default}"
        );
        cx.pass(0, i);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dialect = Dialect::of(cx.node)?;
    let delimiter = cx.attrs().str("field_delim")?;
    ensure!(
        delimiter.len() == 1,
        "field_delim should be only 1 char"; "`field_delim` must be one character, but is {delimiter:?}"
    );
    let types = cx.attrs().dtypes("OUT_TYPE")?;
    let records = strs(cx, 0)?;
    let column = |_| Charged::with_room(records.len());
    let mut columns = (0..types.len()).map(column).collect::<Result<Vec<Charged<Str>>>>()?;
    for (r, record) in records.iter().enumerate() {
        let fields = dialect.fields(record).map_err(|e| e.note(format!("in record {r}: {record:?}")))?;
        ensure!(
            fields.len() == types.len(),
            "Expect {} fields but have {} in record {r}", types.len(), fields.len();
            "{} fields are wanted but record {r} has {}: {record:?}",
            types.len(),
            fields.len()
        );
        for (column, field) in columns.iter_mut().zip(fields.iter()) {
            column.push(field.clone())?;
        }
    }
    for (c, (dtype, fields)) in types.iter().zip(columns).enumerate() {
        let default = cx.input(1 + c);
        ensure!(
            default.elements() < 2,
            "There should only be 1 default per field but field {c} has {}", default.elements();
            "a default is one value or none, but `record_defaults` {c} has shape {}",
            default.shape()
        );
        let column = Column { c, fields, na: &dialect.na, default, shape: cx.input(0).shape().clone() };
        let value = match dtype {
            F32 => column.numbers::<f32>(),
            F64 => column.numbers::<f64>(),
            I32 => column.numbers::<i32>(),
            I64 => column.numbers::<i64>(),
            _ => column.texts(),
        }?;
        cx.set(c, value);
    }
    Ok(())
}

/// The fields of a column, not yet parsed.
struct Column<'a> {
    c: usize,
    fields: Charged<Str>,
    na: &'a Str,
    default: &'a Tensor,
    shape: Shape,
}

impl Column<'_> {
    fn is_missing(&self, field: &[u8]) -> bool {
        field.is_empty() || *field == self.na[..]
    }

    fn default<T: Clone>(&self, r: usize, values: &[T]) -> Result<T> {
        values.first().cloned().ok_or_else(|| {
            invalid!("Field {} is required but missing in record {r}!", self.c; "field {} is missing in record {r}, and `record_defaults` has no value for it", self.c)
        })
    }

    fn numbers<T: crate::shared::text_numbers::FromText>(&self) -> Result<Tensor> {
        let default = self.default.as_slice::<T>()?;
        let read = |(r, field): (usize, &Str)| match self.is_missing(field) {
            true => self.default(r, default),
            false => number::<T>(field).ok_or_else(|| {
                invalid!(
                    "Field {} in record {r} is not a valid {}: {}",
                    self.c, T::DTYPE.kernel_name(), String::from_utf8_lossy(field);
                    "field {} in record {r} is not a valid {}: \"{}\"",
                    self.c,
                    T::DTYPE,
                    field.escape_ascii()
                )
            }),
        };
        let mut values = Charged::with_room(self.fields.len())?;
        self.fields.iter().enumerate().try_for_each(|field| values.push(read(field)?))?;
        Tensor::from_slice(self.shape.clone(), &values)
    }

    fn texts(self) -> Result<Tensor> {
        let default = self.default.as_strs().unwrap_or_default();
        let mut texts = Charged::with_room(self.fields.len())?;
        for (r, field) in self.fields.iter().enumerate() {
            texts.push(if self.is_missing(field) { self.default(r, default)? } else { field.clone() })?;
        }
        Tensor::strings(self.shape, texts.take())
    }
}

cases! {
    columns: r#"DecodeCSV(["1,a,2.5" "-3,,"], [0], [""], [9.0]) = [1 -3], ["a" ""], [2.5 9.0]"#,
    quoted: r#"DecodeCSV(["\"a,\"\"b\"\"\n\",2"], [""], i64[1] [0]) = ["a,\"b\"\n"], i64[1] [2]"#,
    other_delimiters: r#"DecodeCSV("1 \"a\" NA", [0], [""], f64[1] [7]; field_delim=" ", use_quote_delim=false, na_value="NA") = 1, "\"a\"", f64 7"#,
    some_columns: r#"DecodeCSV("a,1,b,2,c", [0], [0]; select_cols={1, 3}) = 1, 2"#,
    infers: "DecodeCSV(str[?,2], f32[0], str[1]) : f32[?,2], str[?,2]",
    needed: r#"DecodeCSV(["1" ""], i32[0] []) ! 1 fields are wanted but record 1 has 0"#,
    has_a_value: r#"DecodeCSV([",1"], i32[0] [], [0]) ! field 0 is missing in record 0"#,
    as_many: r#"DecodeCSV(["1,2"], [0]) ! 1 fields are wanted but record 0 has 2: "1,2""#,
    is_a_number: r#"DecodeCSV(["1x"], [0]) ! field 0 in record 0 is not a valid i32: "1x""#,
    quotes_end: r#"DecodeCSV(["\"a"], [""]) ! a quoted field does not end with a quote"#,
    quotes_are_doubled: r#"DecodeCSV(["\"a\"b\""], [""]) ! must be doubled, or end the field"#,
    quotes_begin: r#"DecodeCSV(["a\"b"], [""]) ! is not quoted"#,
    increasing: r#"DecodeCSV(str[], [0], [0]; select_cols={1, 1}) ! `select_cols` must be strictly increasing"#,
    one_default: r#"DecodeCSV(str[], [0 1]) ! a default is one value or none"#,
}
