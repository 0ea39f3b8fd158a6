//! The header of a `.npy`: a magic word, a version, a length, and a Python dict of three entries, `{'descr':
//! '<f4', 'fortran_order': False, 'shape': (2, 3), }`.

use crate::{Code, DType, Error, MAX_RANK, Result, Shape, ensure, invalid};
use std::io::Read;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers are padded so that the data starts at a multiple of this.
const ALIGN: usize = 64;
/// NumPy itself refuses headers over 10,000 bytes by default.
const MAX_LEN: usize = 1 << 16;
/// NumPy's character for the machine's byte order.
const ORDER: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// The description of the array in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) fortran: bool,
    pub(super) shape: Shape,
}

/// The representation of elements in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    /// Elements of a dtype. Each group of `swap` bytes is in the opposite of the machine's byte order; 0 if
    /// none is.
    Plain { dtype: DType, swap: usize },
    /// Strings of this many bytes.
    Bytes(usize),
    /// Strings of this many 4-byte characters.
    Unicode { chars: usize, big: bool },
}

impl Header {
    pub(super) fn read(from: &mut impl Read) -> Result<Header> {
        let mut start = [0; 8];
        exact(from, &mut start)?;
        let [magic @ .., major, minor] = &start;
        ensure!(magic == MAGIC, "this is not a NumPy array: it does not start with \\x93NUMPY");
        let len = match (major, minor) {
            (1, 0) => {
                let mut len = [0; 2];
                exact(from, &mut len)?;
                u16::from_le_bytes(len) as usize
            }
            (2 | 3, 0) => {
                let mut len = [0; 4];
                exact(from, &mut len)?;
                u32::from_le_bytes(len) as usize
            }
            _ => {
                return Err(invalid!("NumPy array version {major}.{minor} is not supported; 1.0 to 3.0 are"));
            }
        };
        ensure!(len <= MAX_LEN, "the array's header claims {len} bytes, more than the {MAX_LEN} allowed");
        let mut text = vec![0; len];
        exact(from, &mut text)?;
        let text = std::str::from_utf8(&text).map_err(|_| invalid!("the array's header is not text"))?;
        Parser { rest: text }
            .header()
            .ok_or_else(|| invalid!("the array's header cannot be parsed: {}", text.trim()))?
    }
}

fn exact(from: &mut impl Read, to: &mut [u8]) -> Result<()> {
    from.read_exact(to)
        .map_err(|e| Error::new(Code::DataLoss, format!("the array ends within its header: {e}")))
}

impl Format {
    /// The size of an element in bytes.
    pub(super) fn width(self) -> usize {
        match self {
            Format::Plain { dtype, .. } => dtype.size().unwrap_or(0),
            Format::Bytes(n) => n,
            Format::Unicode { chars, .. } => chars.saturating_mul(4),
        }
    }

    /// NumPy's name for the format, in the machine's byte order.
    fn descr(self) -> String {
        let dtype = match self {
            Format::Plain { dtype, .. } => dtype,
            Format::Bytes(n) => return format!("|S{n}"),
            Format::Unicode { chars, .. } => return format!("{ORDER}U{chars}"),
        };
        let kind = match dtype {
            DType::Bool => 'b',
            DType::BF16 => 'V',
            d if d.is_float() => 'f',
            d if d.is_complex() => 'c',
            DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::QU8 | DType::QU16 => 'u',
            _ => 'i',
        };
        let size = self.width();
        let order = if size == 1 || kind == 'V' { '|' } else { ORDER };
        format!("{order}{kind}{size}")
    }

    fn parse(descr: &str) -> Result<Format> {
        let unknown = || invalid!("NumPy dtype `{descr}` is not supported");
        let mut chars = descr.chars();
        let (order, kind) = match chars.next() {
            Some(c @ ('<' | '>' | '|' | '=')) => (if c == '=' { ORDER } else { c }, chars.next()),
            c => (ORDER, c),
        };
        let kind = kind.ok_or_else(unknown)?;
        let size = chars.as_str();
        if kind == 'O' {
            return Err(invalid!("the array holds Python objects, which only Python can read")
                .with_help("convert it first: array.astype(str) or .astype(float)"));
        }
        let size: usize = size.parse().map_err(|_| unknown())?;
        let dtype = match (kind, size) {
            ('S' | 'a', n) => return Ok(Format::Bytes(n)),
            ('U', chars) => {
                ensure!(chars <= usize::MAX / 4, "NumPy dtype `{descr}` is too wide");
                return Ok(Format::Unicode { chars, big: order == '>' });
            }
            ('b', 1) => DType::Bool,
            ('i', 1) => DType::I8,
            ('i', 2) => DType::I16,
            ('i', 4) => DType::I32,
            ('i', 8) => DType::I64,
            ('u', 1) => DType::U8,
            ('u', 2) => DType::U16,
            ('u', 4) => DType::U32,
            ('u', 8) => DType::U64,
            ('f', 2) => DType::F16,
            ('V', 2) => DType::BF16,
            ('f', 4) => DType::F32,
            ('f', 8) => DType::F64,
            ('c', 8) => DType::C64,
            ('c', 16) => DType::C128,
            _ => return Err(unknown()),
        };
        // Each half of a complex number has the file's byte order; a `V` has none.
        let word = if kind == 'c' { size / 2 } else { size };
        let swap = if kind != 'V' && matches!(order, '<' | '>') && order != ORDER { word } else { 0 };
        Ok(Format::Plain { dtype, swap })
    }

    /// Magic, version, length and dict, padded.
    pub(super) fn header(self, shape: &Shape) -> Vec<u8> {
        let mut dims = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if shape.rank() == 1 {
            dims.push(',');
        }
        let mut dict =
            format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({dims}), }}", self.descr());
        // Version 1 has 2 bytes for the length. A shape needs version 2 only if its rank is far over the
        // maximum.
        let wide = dict.len() + ALIGN > u16::MAX as usize;
        let fixed = MAGIC.len() + 2 + if wide { 4 } else { 2 };
        while !(fixed + dict.len() + 1).is_multiple_of(ALIGN) {
            dict.push(' ');
        }
        dict.push('\n');
        let mut out = MAGIC.to_vec();
        out.extend([if wide { 2 } else { 1 }, 0]);
        match wide {
            true => out.extend((dict.len() as u32).to_le_bytes()),
            false => out.extend((dict.len() as u16).to_le_bytes()),
        }
        out.extend(dict.bytes());
        out
    }
}

/// A parser for the dict. `None` means that the text is not such a dict; a dict with unusable values is an
/// error.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn header(&mut self) -> Option<Result<Header>> {
        let (mut format, mut fortran, mut shape) = (None, None, None);
        self.eat("{").then_some(())?;
        while !self.eat("}") {
            let key = self.quoted()?;
            self.eat(":").then_some(())?;
            match key {
                "descr" if self.peek() == Some('[') => {
                    return Some(Err(invalid!("the array holds records, which are not supported")
                        .with_help("save each field as a separate array")));
                }
                "descr" => format = Some(self.quoted()?),
                "fortran_order" if self.eat("True") => fortran = Some(true),
                "fortran_order" if self.eat("False") => fortran = Some(false),
                "shape" => shape = Some(self.shape()?),
                _ => return None,
            }
            if !self.eat(",") && self.peek() != Some('}') {
                return None;
            }
        }
        if self.peek().is_some() {
            return None;
        }
        let (format, fortran, shape) = (format?, fortran?, shape?);
        Some(Format::parse(format).and_then(|format| {
            shape.checked_elements()?;
            Ok(Header { format, fortran, shape })
        }))
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, word: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn quoted(&mut self) -> Option<&'a str> {
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"'))?;
        let (text, rest) = self.rest.get(1..)?.split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    /// Parses `()`, `(3,)`, `(2, 3)`; Python 2 wrote `3L`.
    fn shape(&mut self) -> Option<Shape> {
        self.eat("(").then_some(())?;
        let mut dims = Vec::new();
        while !self.eat(")") {
            self.peek();
            let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let (dim, rest) = self.rest.split_at(digits);
            self.rest = rest;
            if dims.len() == MAX_RANK {
                return None;
            }
            dims.push(dim.parse().ok()?);
            self.eat("L");
            if !self.eat(",") && self.peek() != Some(')') {
                return None;
            }
        }
        Some(Shape::from(dims))
    }
}
