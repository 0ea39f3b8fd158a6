//! Reads the parts of a line: words, names, quoted text, numbers, ports, shapes and attributes. Keeps the
//! place for errors.

use super::super::{MAX_NESTING, is_bare};
use super::Parser;
use crate::attr::{Attr, Attrs, FuncRef, ValueType};
use millstream_tensor::{DType, Error, PartialShape, Result, Str, Tensor, ensure, invalid};

pub(super) struct PortName {
    pub(super) node: String,
    pub(super) index: u32,
}

pub(super) struct ContextName {
    pub(super) name: String,
    pub(super) position: Option<u32>,
}

pub(super) type Placed<T> = (usize, T);

/// The text of an output in a node's line.
pub(super) struct OutputText {
    pub(super) at: usize,
    pub(super) ty: ValueType,
    pub(super) shape: Option<PartialShape>,
    pub(super) declared: Option<PartialShape>,
}

impl<'a> Parser<'a> {
    /// Puts line and column before the message.
    pub(super) fn placed(&self, error: Error) -> Error {
        let before = self.text.get(..self.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let mut out = Error::new(error.code(), format!("line {line}, column {column}: {}", error.message()));
        if let (Some(node), Some(op)) = (error.node(), error.op()) {
            out = out.at_node(node, op);
        }
        out = error.notes().iter().fold(out, |out, note| out.note(note.clone()));
        match error.help() {
            Some(help) => out.with_help(help),
            None => out,
        }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    }

    /// The next character that is not a space. An error after this call names its place.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip();
        self.start = self.at;
        self.rest().chars().next()
    }

    /// Takes `word` if it comes next.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<()> {
        match self.eat(word) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    pub(super) fn unexpected(&mut self, wanted: &str) -> Error {
        match self.peek() {
            None => invalid!("expected {wanted}, got the end of the text"),
            Some('\n') => invalid!("expected {wanted}, got the end of the line"),
            Some(c) => invalid!("expected {wanted}, got `{}`", c.escape_debug()),
        }
    }

    pub(super) fn while_bare(&mut self, bare: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let (word, _) = rest.split_at(rest.find(|c| !bare(c)).unwrap_or(rest.len()));
        self.at += word.len();
        word
    }

    /// A word without quotes, which may be empty.
    pub(super) fn word(&mut self) -> &'a str {
        self.peek();
        self.while_bare(is_bare)
    }

    pub(super) fn name_of(&mut self, bare: fn(char) -> bool, what: &str) -> Result<String> {
        if self.peek() == Some('"') {
            let bytes = self.quoted()?;
            return String::from_utf8(bytes).map_err(|_| invalid!("{what} is not UTF-8"));
        }
        match self.while_bare(bare) {
            "" => Err(self.unexpected(what)),
            word => Ok(word.to_owned()),
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String> {
        self.name_of(is_bare, what)
    }

    /// The end of the quoted text that starts at `at`, its quotes included.
    pub(super) fn quoted_end(&self, at: usize) -> Result<usize> {
        let mut chars = self.text.get(at..).unwrap_or("").char_indices();
        let quote = chars.next().map(|(_, c)| c);
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '\n' => break,
                c if Some(c) == quote => return Ok(at + i + 1),
                _ => {}
            }
        }
        Err(invalid!("unterminated text: expected a closing quote"))
    }

    pub(super) fn quoted(&mut self) -> Result<Vec<u8>> {
        if self.peek() != Some('"') {
            return Err(self.unexpected("text in quotes"));
        }
        let (start, end) = (self.at, self.quoted_end(self.at)?);
        let body = self.text.get(start + 1..end - 1).unwrap_or("");
        let mut out = Vec::with_capacity(body.len());
        let mut bytes = body.bytes().enumerate();
        while let Some((i, b)) = bytes.next() {
            if b != b'\\' {
                out.push(b);
                continue;
            }
            let read = match bytes.next().map(|(_, b)| b) {
                Some(b'n') => Some(b'\n'),
                Some(b'r') => Some(b'\r'),
                Some(b't') => Some(b'\t'),
                Some(b @ (b'"' | b'\'' | b'\\')) => Some(b),
                Some(b'x') => {
                    let digit = |b: Option<(usize, u8)>| char::from(b?.1).to_digit(16);
                    let (high, low) = (digit(bytes.next()), digit(bytes.next()));
                    high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
                }
                _ => None,
            };
            let Some(read) = read else {
                self.start = start + 1 + i;
                return Err(invalid!("unknown escape sequence")
                    .with_help("expected one of \\n \\r \\t \\\" \\' \\\\ \\xff"));
            };
            out.push(read);
        }
        self.at = end;
        Ok(out)
    }

    /// The entries of a list up to `close`. The opening bracket is already read.
    pub(super) fn list<T>(
        &mut self,
        close: &str,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        if self.eat(close) {
            return Ok(all);
        }
        loop {
            all.push(one(self)?);
            if self.eat(close) {
                return Ok(all);
            }
            if !self.eat(",") {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
    }

    pub(super) fn int<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.word();
        word.parse().map_err(|_| match word {
            "" => self.unexpected(what),
            word => invalid!("expected {what}, got `{word}`"),
        })
    }

    /// The text after the `%` of a port.
    pub(super) fn port_name(&mut self) -> Result<PortName> {
        let node = self.name("a node's name")?;
        let index = match self.rest().starts_with(':') {
            true => {
                self.at += 1;
                self.int("the number of an output")?
            }
            false => 0,
        };
        Ok(PortName { node, index })
    }

    pub(super) fn port(&mut self) -> Result<Placed<PortName>> {
        self.expect("%")?;
        let at = self.start;
        Ok((at, self.port_name()?))
    }

    pub(super) fn context_name(&mut self) -> Result<ContextName> {
        let name = self.name("a context's name")?;
        let position = match self.rest().starts_with('#') {
            true => {
                self.at += 1;
                Some(self.int("the position of a context")?)
            }
            false => None,
        };
        Ok(ContextName { name, position })
    }

    pub(super) fn shape(&mut self) -> Result<PartialShape> {
        self.expect("[")?;
        let start = self.start;
        if self.eat("..") {
            self.expect("]")?;
            return Ok(PartialShape::unknown());
        }
        let dims = self.list("]", |p| match p.eat("?") {
            true => Ok(-1),
            false => p
                .int::<u64>("a size or `?`")
                .and_then(|d| i64::try_from(d).map_err(|_| invalid!("dimension {d} is too large"))),
        })?;
        self.start = start;
        PartialShape::from_signed(&dims)
    }

    pub(super) fn attrs(&mut self, depth: usize) -> Result<Attrs> {
        self.expect("{")?;
        let mut attrs = Attrs::new();
        let all = self.list("}", |p| {
            let name = p.name("an attribute's name")?;
            let at = p.start;
            p.expect("=")?;
            Ok((at, name, p.attr(depth)?))
        })?;
        for (at, name, value) in all {
            self.start = at;
            ensure!(attrs.get(&name).is_none(), "the attribute `{name}` is given twice");
            attrs.set(name, value);
        }
        Ok(attrs)
    }

    pub(super) fn attr(&mut self, depth: usize) -> Result<Attr> {
        let first = self.peek();
        ensure!(depth < MAX_NESTING, "attributes are nested deeper than {MAX_NESTING}");
        match first {
            Some('"') => return Ok(Attr::Str(Str::from(self.quoted()?))),
            Some('[') => return Ok(Attr::Shape(self.shape()?)),
            Some('(') => {
                self.at += 1;
                return Ok(Attr::List(self.list(")", |p| p.attr(depth + 1))?));
            }
            Some('@') => {
                self.at += 1;
                let name = self.name("a function's name")?;
                return Ok(Attr::Func(FuncRef { name, attrs: self.attrs(depth + 1)? }));
            }
            _ => {}
        }
        let start = self.start;
        match self.word() {
            "" => Err(self.unexpected("a value")),
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            word => match DType::parse(word) {
                Some(dtype) => self.type_or_tensor(start, dtype),
                None => self.number(start, word),
            },
        }
    }

    pub(super) fn number(&mut self, start: usize, word: &str) -> Result<Attr> {
        if word == "nan" && self.rest().starts_with("(0x") {
            self.at += 3;
            let bits = u32::from_str_radix(self.while_bare(is_bare), 16).map(f32::from_bits);
            self.expect(")")?;
            return match bits {
                Ok(value) if value.is_nan() => Ok(Attr::Float(value)),
                _ => Err(invalid!("these are not the bits of a NaN")),
            };
        }
        self.start = start;
        if let Ok(int) = word.parse::<i64>() {
            return Ok(Attr::Int(int));
        }
        match word {
            "nan" => Ok(Attr::Float(f32::from_bits(0x7fc0_0000))),
            word => word
                .parse()
                .map(Attr::Float)
                .map_err(|_| invalid!("expected a value, got `{word}`").with_help("text must be in quotes")),
        }
    }

    /// A type, or the type and value of a tensor. The dtype is already read.
    pub(super) fn type_or_tensor(&mut self, start: usize, dtype: DType) -> Result<Attr> {
        if self.rest().starts_with('&') {
            self.at += 1;
            return Ok(Attr::Type(ValueType::reference(dtype)));
        }
        let has_shape = self.rest().starts_with('[');
        if !has_shape && matches!(self.peek(), None | Some(',' | '}' | ')' | '\n')) {
            return Ok(Attr::Type(dtype.into()));
        }
        if has_shape {
            self.brackets()?;
        }
        match self.peek() {
            Some('[') => self.brackets()?,
            // `f32[1000000] 0` repeats the leaf everywhere, so a few bytes could claim any amount of memory.
            _ if has_shape => return Err(self.unexpected("the tensor's value in `[ ]`")),
            Some('"' | '\'') => self.at = self.quoted_end(self.at)?,
            _ => {
                let mut open = false;
                let rest = self.rest();
                let end = rest.find(|c: char| {
                    open |= c == '(';
                    let ends = c.is_whitespace() || c == ',' || c == '}' || (c == ')' && !open);
                    open &= c != ')';
                    ends
                });
                self.at += end.unwrap_or(rest.len());
            }
        }
        self.start = start;
        let text = self.text.get(start..self.at).unwrap_or("");
        Tensor::parse(text).map(Attr::Tensor).map_err(|e| invalid!("in the tensor, {}", e.message()))
    }

    /// Skips a text in brackets.
    pub(super) fn brackets(&mut self) -> Result<()> {
        let mut open = 0usize;
        loop {
            match self.peek() {
                Some('[') => open += 1,
                Some(']') => open = open.saturating_sub(1),
                Some('"' | '\'') => {
                    self.at = self.quoted_end(self.at)?;
                    continue;
                }
                None | Some('\n') => return Err(self.unexpected("`]`")),
                Some(c) => {
                    self.at += c.len_utf8();
                    continue;
                }
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn output(&mut self) -> Result<OutputText> {
        let word = self.word();
        let at = self.start;
        let dtype = match DType::parse(word) {
            Some(dtype) => dtype,
            None if word.is_empty() => return Err(self.unexpected("a type")),
            None => return Err(invalid!("there is no dtype `{word}`")),
        };
        let is_ref = self.eat("&");
        let shape = if self.peek() == Some('[') { Some(self.shape()?) } else { None };
        let declared = if self.eat("set ") { Some(self.shape()?) } else { None };
        Ok(OutputText { at, ty: ValueType { dtype, is_ref }, shape, declared })
    }
}
