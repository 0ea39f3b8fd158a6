//! `InitializeTableFromTextFile`, `InitializeTableFromTextFileV2`: initializes a table from the lines of a
//! text file.

use super::tables::{generations, one_handle, table, user};
use crate::shared::files::file_name;
use crate::shared::lines::line;
use crate::shared::{strings::strs, text_numbers::number};
use millstream_checkpoint::records::{Compression, open};
use millstream_graph::op::spec::{AtLeast, Spec, Text};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::look;
use millstream_tensor::{Code, DType, Error, Result, Str, Tensor, ensure, invalid};

/// The column numbers that mean the whole line and the line number.
const WHOLE_LINE: i64 = -2;
const LINE_NUMBER: i64 = -1;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["InitializeTableFromTextFile", "InitializeTableFromTextFileV2"], |name, by| {
        user(name, by)
            .doc(
                "Initializes a table with a key and a value from each line of `filename`. `key_index` and \
                 `value_index` are columns, numbered from 0 and separated by `delimiter`; -2 is the whole \
                 line and -1 its number. If `vocab_size` is not negative, that many lines are read, and the \
                 file must have at least that many.",
            )
            .input("filename", DType::Str)
            .attr("key_index", AtLeast(WHOLE_LINE))
            .attr("value_index", AtLeast(WHOLE_LINE))
            .attr("vocab_size", AtLeast(-1).or(-1))
            .attr("delimiter", Text.or("\t"))
            .infer(infer)
            .kernel(Kernel::stateful(run).cost(Cost::Estimate(|_, _| 1e6)))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    one_handle(cx)?;
    cx.scalar(1)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let table = table(cx)?;
    let [name] = strs(cx, 1)? else {
        return Err(invalid!("`filename` must be a scalar but has shape {}", cx.input(1).shape()));
    };
    let file = file_name(name)?;
    let attrs = cx.attrs();
    let delimiter = attrs.str("delimiter")?;
    let [delimiter] = delimiter[..] else {
        return Err(
            invalid!("delimiter should be only 1 char"; "`delimiter` must be one character, but is {delimiter:?}"),
        );
    };
    let vocab_size = attrs.int("vocab_size")?;
    let spec = table.spec();
    let (mut keys, mut values) = (
        Column::new(attrs.int("key_index")?, spec.key)?,
        Column::new(attrs.int("value_index")?, spec.value)?,
    );
    let mut lines = open(&cx.files(), file, Compression::None)?;
    let (mut n, mut at_byte) = (0, 0);
    while vocab_size < 0 || n < vocab_size {
        look()?;
        let Some(line) = line(&mut lines, file, &mut Vec::new())? else { break };
        let at = || format!("in line {} of `{file}`", n + 1);
        at_byte += line.len() as u64 + 1;
        ensure!(
            !line.is_empty(),
            "Invalid content in {file}: empty line found at position {at_byte}.";
            "there is an empty line {}",
            at()
        );
        keys.push(&line, file, n, delimiter).map_err(|e| e.note(at()))?;
        values.push(&line, file, n, delimiter).map_err(|e| e.note(at()))?;
        n += 1;
    }
    ensure!(
        vocab_size < 0 || n == vocab_size,
        "Invalid vocab_size in {file}: expected {vocab_size} but got {n}"; "the file has {n} lines"
    );
    if n == 0 && vocab_size < 0 {
        return Err(Error::new(Code::OutOfRange, format!("`{file}` is empty: it has no line for the table"))
            .led_by("Read less bytes than requested"));
    }
    table.fill(&keys.finish()?, &values.finish()?)
}

/// The keys or the values of the lines read so far.
struct Column {
    index: i64,
    dtype: DType,
    texts: Vec<Str>,
    ints: Vec<i64>,
    floats: Vec<f64>,
}

impl Column {
    fn new(index: i64, dtype: DType) -> Result<Column> {
        match index {
            WHOLE_LINE => {
                // As the key of a vocabulary of numbers it is one.
                let fits = matches!(dtype, DType::Str | DType::I64);
                ensure!(fits, "a whole line is a string or an i64, but the table wants {dtype}");
            }
            LINE_NUMBER => {
                ensure!(dtype == DType::I64, "the number of a line is an i64, but the table wants {dtype}");
            }
            _ => ensure!(
                matches!(dtype, DType::Str | DType::I32 | DType::I64 | DType::F32 | DType::F64),
                "a column of a file is not read as {dtype}"
            ),
        }
        Ok(Column { index, dtype, texts: Vec::new(), ints: Vec::new(), floats: Vec::new() })
    }

    fn push(&mut self, line: &[u8], file: &str, number_of_line: i64, delimiter: u8) -> Result<()> {
        let text = match self.index {
            LINE_NUMBER => {
                self.ints.push(number_of_line);
                return Ok(());
            }
            WHOLE_LINE => line,
            index => {
                let mut columns = line.split(|&b| b == delimiter);
                columns.nth(index as usize).ok_or_else(|| {
                    let n = line.split(|&b| b == delimiter).count();
                    invalid!(
                        "Invalid number of columns in {file} line {number_of_line} ({}) : expected {index} got {n}",
                        String::from_utf8_lossy(line);
                        "column {index} is out of range: the line has {n} columns"
                    )
                })?
            }
        };
        let no = |dtype: DType| {
            invalid!(
                "Field {} in line {number_of_line} is not a valid {}.",
                String::from_utf8_lossy(text),
                dtype.kernel_name();
                "column {} holds \"{}\", which is not a valid {dtype}",
                self.index,
                text.escape_ascii()
            )
        };
        match self.dtype {
            DType::I32 => self.ints.push(number::<i32>(text).ok_or_else(|| no(DType::I32))?.into()),
            DType::I64 => self.ints.push(number(text).ok_or_else(|| no(DType::I64))?),
            DType::F32 => self.floats.push(number::<f32>(text).ok_or_else(|| no(DType::F32))?.into()),
            DType::F64 => self.floats.push(number(text).ok_or_else(|| no(DType::F64))?),
            _ => self.texts.push(Str::new(text)?),
        }
        Ok(())
    }

    fn finish(self) -> Result<Tensor> {
        let Column { dtype, texts, ints, floats, .. } = self;
        match dtype {
            DType::I32 => Tensor::from_iter([ints.len()], ints.iter().map(|&n| n as i32)),
            DType::I64 => Tensor::from_slice([ints.len()], &ints),
            DType::F32 => Tensor::from_iter([floats.len()], floats.iter().map(|&x| x as f32)),
            DType::F64 => Tensor::from_slice([floats.len()], &floats),
            _ => Tensor::strings([texts.len()], texts),
        }
    }
}

cases! {
    gives_nothing: "InitializeTableFromTextFileV2(resource[], str[]; key_index=-2, value_index=-1) :",
    is_there: "InitializeTableFromTextFileV2(HashTableV2(; key_dtype=str, value_dtype=i64), \"/nowhere/v\"; key_index=-2, value_index=-1) ! cannot read `/nowhere/v`",
    whole_lines_are_text: "InitializeTableFromTextFileV2(HashTableV2(; key_dtype=i32, value_dtype=i64), \"/dev/null\"; key_index=-2, value_index=-1) ! a whole line is a string or an i64",
    one_delimiter: "InitializeTableFromTextFileV2(HashTableV2(; key_dtype=str, value_dtype=i64), \"/dev/null\"; key_index=-2, value_index=-1, delimiter=\", \") ! `delimiter` must be one character",
    enough_lines: "InitializeTableFromTextFileV2(HashTableV2(; key_dtype=str, value_dtype=i64), \"/dev/null\"; key_index=-2, value_index=-1, vocab_size=3) ! Invalid vocab_size in /dev/null: expected 3 but got 0",
}
