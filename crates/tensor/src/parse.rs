//! Parsing the text form of tensors: `f32[2,3] [[1 2 3] [4 5 6]]`.
//!
//! ```text
//! tensor  = [dtype [shape]] value        the shape follows the dtype without a space: f32[2,3]
//! shape   = "[" sizes "]"                needed only where the value does not determine it
//! value   = "[" {value [","]} "]" | leaf
//! leaf    = 1 | -2.5e3 | inf | nan | 1+2i | true | "text" | 'text'
//! ```
//!
//! Without a dtype, integers are i32, numbers with a point or an exponent f32, complex numbers c64, `true`
//! bool and quoted text str. `f32[2,3] 0` fills the shape with the leaf; `f32[0,3] []` is any shape without
//! elements. Commas between values are optional. The parser keeps an explicit stack for the nesting, at most
//! [`MAX_RANK`] deep, so no text can overflow the call stack.

use crate::text::{Leaf, read_str};
use crate::{DType, Element, Error, MAX_RANK, Result, Shape, Str, Tensor, invalid, with_element};

impl Tensor {
    /// Parses the text form. Errors name the column.
    pub fn parse(text: &str) -> Result<Tensor> {
        let mut p = Parser { text, at: 0 };
        let (dtype, shape) = p.header()?;
        let start = p.at;
        let value = p.value()?;
        let dtype = match dtype {
            Some(dtype) => dtype,
            None => value.guess(),
        };
        let shape = match shape {
            None => Shape::from(value.shape.clone()),
            Some(shape) => {
                let splat = value.shape.is_empty();
                let empty = value.leaves.is_empty() && shape.elements() == 0;
                if !splat && !empty && *shape != value.shape[..] {
                    let found = Shape::from(value.shape);
                    return Err(
                        p.error(start, format!("the value has shape {found}, but {shape} is declared"))
                    );
                }
                shape
            }
        };
        value.build(&p, dtype, shape)
    }
}

impl std::str::FromStr for Tensor {
    type Err = Error;
    fn from_str(text: &str) -> Result<Tensor> {
        Tensor::parse(text)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

/// The leaves of a value in order, each with its position, and the shape of the nesting.
struct Value<'a> {
    shape: Vec<usize>,
    leaves: Vec<(usize, Token<'a>)>,
}

enum Token<'a> {
    Word(&'a str),
    Quoted(Str),
}

impl<'a> Parser<'a> {
    fn error(&self, at: usize, what: impl std::fmt::Display) -> Error {
        let column = self.text.get(..at).unwrap_or(self.text).chars().count() + 1;
        invalid!("column {column}: {what}").with_help("tensors are written like `f32[2,3] [[1 2 3] [4 5 6]]`")
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// The characters up to the next separator.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c: char| c.is_whitespace() || "[],\"'".contains(c)).unwrap_or(rest.len());
        let (word, _) = rest.split_at(len);
        self.at += len;
        word
    }

    fn header(&mut self) -> Result<(Option<DType>, Option<Shape>)> {
        self.peek();
        let start = self.at;
        let word = self.word();
        let Some(dtype) = DType::parse(word) else {
            self.at = start;
            return Ok((None, None));
        };
        if dtype.size().is_none() && dtype != DType::Str {
            return Err(self.error(start, format_args!("elements of dtype {dtype} have no text form")));
        }
        let shape = if self.rest().starts_with('[') { Some(self.shape()?) } else { None };
        if self.peek().is_none() {
            let hint = if shape.is_some() { " (put a space between the dtype and the value)" } else { "" };
            return Err(self.error(self.at, format_args!("the value is missing{hint}")));
        }
        Ok((Some(dtype), shape))
    }

    fn shape(&mut self) -> Result<Shape> {
        let start = self.at;
        self.at += 1;
        let mut dims = Vec::new();
        loop {
            match self.peek() {
                Some(']') => break self.at += 1,
                Some(',') if !dims.is_empty() => self.at += 1,
                _ => {}
            }
            self.peek();
            let at = self.at;
            let word = self.word();
            let dim = word.parse::<i64>().map_err(|_| self.error(at, "expected a size or `]`"))?;
            if dims.len() == MAX_RANK {
                return Err(self.error(at, format_args!("a shape may have at most {MAX_RANK} dimensions")));
            }
            dims.push(dim);
        }
        Shape::from_signed(&dims).map_err(|e| self.error(start, e.message()))
    }

    fn value(&mut self) -> Result<Value<'a>> {
        let mut leaves = Vec::new();
        // `open` counts the entries so far of each open list; `sizes` holds the list size at each depth, once
        // a list was closed there.
        let mut open: Vec<usize> = Vec::new();
        let mut sizes: Vec<Option<usize>> = Vec::new();
        // The depth of the leaves, once it is known.
        let mut rank = None;
        let mut comma = true;
        loop {
            let c = self.peek().ok_or_else(|| match open.len() {
                0 => self.error(self.at, "the value is missing"),
                n => self.error(self.at, format_args!("{n} lists are not closed: expected `]`")),
            })?;
            match c {
                ',' if comma => return Err(self.error(self.at, "expected a value, got `,`")),
                ',' => {
                    comma = true;
                    self.at += 1;
                    continue;
                }
                '[' => {
                    if rank.is_some_and(|r| open.len() >= r) {
                        return Err(self.error(self.at, "a list among single values"));
                    }
                    if open.len() == MAX_RANK {
                        return Err(self.error(self.at, format_args!("nested deeper than {MAX_RANK} lists")));
                    }
                    open.push(0);
                    if sizes.len() < open.len() {
                        sizes.push(None);
                    }
                    comma = true;
                    self.at += 1;
                    continue;
                }
                ']' => {
                    let depth = open.len();
                    let count = open.pop().ok_or_else(|| self.error(self.at, "`]` closes nothing"))?;
                    if count == 0 {
                        rank.get_or_insert(depth);
                    }
                    match sizes.get_mut(depth - 1) {
                        Some(Some(size)) if *size != count => {
                            let size = *size;
                            let what = format!("this list has {count} entries but the one before has {size}");
                            return Err(self.error(self.at, what));
                        }
                        Some(size) => *size = Some(count),
                        None => {}
                    }
                    self.at += 1;
                }
                _ => {
                    let at = self.at;
                    if *rank.get_or_insert(open.len()) != open.len() {
                        return Err(self.error(at, "a single value among lists"));
                    }
                    leaves.push((at, self.leaf(c)?));
                }
            }
            comma = false;
            match open.last_mut() {
                Some(count) => *count += 1,
                None => break,
            }
        }
        if let Some(c) = self.peek() {
            return Err(self.error(self.at, format_args!("expected the end, got `{}`", c.escape_debug())));
        }
        let shape = sizes.into_iter().map(|s| s.unwrap_or(0)).collect();
        Ok(Value { shape, leaves })
    }

    fn leaf(&mut self, first: char) -> Result<Token<'a>> {
        if first != '"' && first != '\'' {
            return Ok(Token::Word(self.word()));
        }
        let start = self.at;
        self.at += 1;
        let body = self.rest();
        let mut escaped = false;
        let end = body.find(|c: char| {
            let ends = c == first && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some((text, _)) = end.and_then(|end| body.split_at_checked(end)) else {
            return Err(self.error(start, "the string is not closed"));
        };
        let value = read_str(text).map_err(|i| {
            self.error(
                self.at + i,
                "unknown escape; the known ones are \\n \\r \\t \\0 \\\\ \\\" \\' \\xff \\u{1f600}",
            )
        })?;
        self.at += text.len() + 1;
        Ok(Token::Quoted(value))
    }
}

impl Value<'_> {
    fn guess(&self) -> DType {
        let mut guess = DType::I32;
        for (_, token) in &self.leaves {
            guess = match token {
                Token::Quoted(_) => return DType::Str,
                Token::Word("true" | "false" | "True" | "False") => return DType::Bool,
                Token::Word(w) if w.ends_with(['i', 'j']) => DType::C64,
                Token::Word(w) if guess == DType::I32 && w.parse::<i128>().is_err() => DType::F32,
                _ => guess,
            };
        }
        // An empty list says nothing about its elements; f32 is the most common type.
        if self.leaves.is_empty() { DType::F32 } else { guess }
    }

    fn build(self, p: &Parser, dtype: DType, shape: Shape) -> Result<Tensor> {
        let own = Shape::from(self.shape.clone());
        let own = if self.leaves.is_empty() { shape.clone() } else { own };
        let tensor = if dtype == DType::Str {
            let strs = self.leaves.into_iter().map(|(at, token)| match token {
                Token::Quoted(s) => Ok(s),
                Token::Word(w) => Err(p.error(at, format_args!("expected a quoted string, got `{w}`"))),
            });
            Tensor::strings(own, strs.collect::<Result<_>>()?)?
        } else {
            with_element!(dtype, T => self.numbers::<T>(p, own)?, else => return Err(p.error(0, "no text form")))
        };
        if *tensor.shape() == shape { Ok(tensor) } else { Tensor::fill(shape, &tensor) }
    }

    fn numbers<T: Element + Leaf>(self, p: &Parser, shape: Shape) -> Result<Tensor> {
        let mut values = Vec::with_capacity(self.leaves.len());
        for (at, token) in &self.leaves {
            let value = match token {
                Token::Word(w) => T::read(w).ok_or_else(|| {
                    let wide = T::DTYPE == DType::I32 && w.parse::<i64>().is_ok();
                    let hint = if wide { "; write `i64` before the value" } else { "" };
                    p.error(*at, format_args!("`{w}` is not a valid {}{hint}", T::DTYPE))
                })?,
                Token::Quoted(_) => {
                    return Err(p.error(*at, format_args!("expected a value of {}, got a string", T::DTYPE)));
                }
            };
            values.push(value);
        }
        Tensor::from_slice(shape, &values)
    }
}
