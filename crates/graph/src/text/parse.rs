//! Reading graphs, see [`text`](super).
//!
//! Nodes are made as they are read, through the same checks as when a graph is built; what may point forward (back edges, control
//! inputs, contexts) is kept with its place in the text and settled at the end.

use super::{MAX_NESTING, is_bare, is_bare_device};
use crate::attr::{Attr, Attrs, FuncRef, ValueType};
use crate::context::{CondContext, Context, ContextId, ContextKind, WhileContext};
use crate::graph::{CollectionItem, Graph, GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::op::{Registry, Role};
use millstream_tensor::{DType, Error, PartialShape, Result, Str, Tensor, ensure, invalid};
use std::collections::{HashMap, HashSet};

/// A node whose types are left out may have this many outputs: a few bytes (`{N=9999999}`) must not ask for any amount of memory.
const MAX_UNNAMED_OUTPUTS: usize = 1 << 12;

/// Enclosing scopes of a name that count as taken.
const MAX_SCOPES: usize = 64;

impl Graph {
    /// Reads the text form, over a library of op types. Errors name the line and the column.
    pub fn parse(text: &str, registry: &'static Registry) -> Result<Graph> {
        let graph = Graph::with_ops(registry);
        let mut parser = Parser { text, at: 0, start: 0, later: Later::default() };
        let read = {
            let mut g = graph.lock();
            parser.graph(&mut g)
        };
        match read {
            Ok(()) => Ok(graph),
            Err(error) => Err(parser.placed(error)),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// What an error is about.
    start: usize,
    later: Later,
}

/// What can be settled only when all nodes are there. Everything comes with its place in the text.
#[derive(Default)]
struct Later {
    back_edges: Vec<(usize, NodeId, usize, PortName)>,
    controls: Vec<(usize, NodeId, String)>,
    homes: Vec<(usize, NodeId, ContextName)>,
    contexts: Vec<(String, bool, Option<Placed<ContextName>>, Fields)>,
    collected: Vec<(usize, usize, ContextName, usize)>,
    collections: Vec<(String, Vec<CollectionItem>)>,
}

struct PortName {
    node: String,
    index: u32,
}

struct ContextName {
    name: String,
    position: Option<u32>,
}

type Placed<T> = (usize, T);

/// The fields of a context, by name.
type Fields = HashMap<String, Placed<Field>>;

enum Field {
    Int(i64),
    Bool(bool),
    Port(PortName),
    Ports(Vec<Placed<PortName>>),
    Pairs(Vec<Placed<(PortName, PortName)>>),
}

/// What one node line says of an output.
struct OutputText {
    at: usize,
    ty: ValueType,
    shape: Option<PartialShape>,
    declared: Option<PartialShape>,
}

impl<'a> Parser<'a> {
    /// Puts line and column before the message.
    fn placed(&self, error: Error) -> Error {
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

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
    }

    /// The next character that is no space. An error from here on is about it.
    fn peek(&mut self) -> Option<char> {
        self.skip();
        self.start = self.at;
        self.rest().chars().next()
    }

    /// Takes `word` if it comes next.
    fn eat(&mut self, word: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        match self.eat(word) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{word}`"))),
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Error {
        match self.peek() {
            None => invalid!("expected {wanted}, got the end of the text"),
            Some('\n') => invalid!("expected {wanted}, got the end of the line"),
            Some(c) => invalid!("expected {wanted}, got `{}`", c.escape_debug()),
        }
    }

    fn while_bare(&mut self, bare: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let (word, _) = rest.split_at(rest.find(|c| !bare(c)).unwrap_or(rest.len()));
        self.at += word.len();
        word
    }

    /// A word without quotes, which may be empty.
    fn word(&mut self) -> &'a str {
        self.peek();
        self.while_bare(is_bare)
    }

    fn name_of(&mut self, bare: fn(char) -> bool, what: &str) -> Result<String> {
        if self.peek() == Some('"') {
            let bytes = self.quoted()?;
            return String::from_utf8(bytes).map_err(|_| invalid!("{what} is not UTF-8"));
        }
        match self.while_bare(bare) {
            "" => Err(self.unexpected(what)),
            word => Ok(word.to_owned()),
        }
    }

    fn name(&mut self, what: &str) -> Result<String> {
        self.name_of(is_bare, what)
    }

    /// The end of the quoted text that starts at `at`, its quotes included.
    fn quoted_end(&self, at: usize) -> Result<usize> {
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
        Err(invalid!("the text is not closed: expected a quote"))
    }

    fn quoted(&mut self) -> Result<Vec<u8>> {
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
                return Err(invalid!("no such escape").with_help("known are \\n \\r \\t \\\" \\' \\\\ \\xff"));
            };
            out.push(read);
        }
        self.at = end;
        Ok(out)
    }

    /// The entries of a list up to `close`, its opening taken already.
    fn list<T>(&mut self, close: &str, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
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

    fn int<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.word();
        word.parse().map_err(|_| match word {
            "" => self.unexpected(what),
            word => invalid!("expected {what}, got `{word}`"),
        })
    }

    /// What follows the `%` of a port.
    fn port_name(&mut self) -> Result<PortName> {
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

    fn port(&mut self) -> Result<Placed<PortName>> {
        self.expect("%")?;
        let at = self.start;
        Ok((at, self.port_name()?))
    }

    fn context_name(&mut self) -> Result<ContextName> {
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

    fn shape(&mut self) -> Result<PartialShape> {
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
                .and_then(|d| i64::try_from(d).map_err(|_| invalid!("no dimension can be as long as {d}"))),
        })?;
        self.start = start;
        PartialShape::from_signed(&dims)
    }

    fn attrs(&mut self, depth: usize) -> Result<Attrs> {
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

    fn attr(&mut self, depth: usize) -> Result<Attr> {
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

    fn number(&mut self, start: usize, word: &str) -> Result<Attr> {
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
                .map_err(|_| invalid!("expected a value, got `{word}`").with_help("text stands in quotes")),
        }
    }

    /// What starts with a dtype, which is taken already: a type is all there is, after that of a tensor its value follows.
    fn type_or_tensor(&mut self, start: usize, dtype: DType) -> Result<Attr> {
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
            // `f32[1000000] 0` is the leaf in every place: a few bytes would ask for any amount of memory.
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

    /// Steps over what is in brackets.
    fn brackets(&mut self) -> Result<()> {
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

    fn output(&mut self) -> Result<OutputText> {
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

    fn graph(&mut self, g: &mut GraphData) -> Result<()> {
        if self.word() != "graph" {
            return Err(invalid!("expected `graph` at the start")
                .with_help("the text form of a graph starts with a line `graph`"));
        }
        if self.eat("seed=") {
            g.set_seed(Some(self.int("a seed")?));
        }
        let finalized = self.eat("finalized");
        self.end_of_line()?;
        while let Some(c) = self.peek() {
            match c {
                '\n' => {}
                '%' => self.node(g)?,
                _ if self.rest().starts_with("//") => {
                    let rest = self.rest();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => match self.word() {
                    "while" => self.context(true)?,
                    "cond" => self.context(false)?,
                    "collection" => self.collection()?,
                    "" => return Err(self.unexpected("a node, a context or a collection")),
                    word => {
                        return Err(invalid!("expected a node, a context or a collection, got `{word}`")
                            .with_help("nodes start with `%`"));
                    }
                },
            }
            self.end_of_line()?;
        }
        self.settle(g)?;
        if finalized {
            g.set_finalized();
        }
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some('\n') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.unexpected("the end of the line")),
        }
    }

    fn node(&mut self, g: &mut GraphData) -> Result<()> {
        self.expect("%")?;
        let start = self.start;
        let name = self.name("a node's name")?;
        self.expect("=")?;
        let op = self.name("an op")?;
        self.expect("(")?;
        let mut open = Vec::new();
        let mut inputs = Vec::new();
        let is_merge = g.registry().get(&op).is_some_and(|def| def.role == Role::Merge);
        let sources = self.list(")", |p| {
            p.expect("%")?;
            let at = p.start;
            Ok((at, if p.eat("?") { None } else { Some(p.port_name()?) }))
        })?;
        for (i, (at, source)) in sources.into_iter().enumerate() {
            self.start = at;
            let found = source.as_ref().and_then(|s| g.find(&s.node).ok().map(|id| Port::new(id, s.index)));
            inputs.push(match (found, source) {
                (Some(port), _) => {
                    g.type_of(port)?;
                    port
                }
                (None, _) if !is_merge => {
                    return Err(invalid!("an input of `{name}` is not defined above")
                        .with_help("only the back edge of a Merge may come from further down"));
                }
                (None, source) => {
                    open.extend(source.map(|s| (at, i, s)));
                    Port::OPEN
                }
            });
        }
        self.start = start;
        ensure!(
            inputs.is_empty() || inputs.iter().any(|p| *p != Port::OPEN),
            "all inputs of `{name}` are back edges; nothing ever enters the loop"
        );
        let mut controls = Vec::new();
        while self.eat("^") {
            controls.push((self.start, self.name("a node's name")?));
        }
        let attrs = if self.peek() == Some('{') { self.attrs(0)? } else { Attrs::new() };
        let mut outputs = None;
        if self.eat(":") {
            let mut all = vec![self.output()?];
            while self.eat(",") {
                all.push(self.output()?);
            }
            outputs = Some(all);
        }
        let device = if self.eat("@") { Some(self.name_of(is_bare_device, "a device")?) } else { None };
        let home = if self.eat("in ") { Some((self.start, self.context_name()?)) } else { None };
        self.end_of_node()?;

        self.start = start;
        reserve(g, &name);
        let mut spec = NodeSpec::new(op, Naming::Exact(name)).inputs(inputs).attrs(attrs);
        spec.device = Some(device.unwrap_or_default().into());
        let id = g.insert_inner(spec)?;
        self.outputs(g, id, outputs)?;
        self.later.back_edges.extend(open.into_iter().map(|(at, i, source)| (at, id, i, source)));
        self.later.controls.extend(controls.into_iter().map(|(at, name)| (at, id, name)));
        self.later.homes.extend(home.map(|(at, home)| (at, id, home)));
        Ok(())
    }

    fn end_of_node(&mut self) -> Result<()> {
        match self.peek() {
            None | Some('\n') => Ok(()),
            Some(_) => Err(self.unexpected("the end of the line")),
        }
    }

    /// What the text says of the outputs must fit what was inferred, and counts.
    fn outputs(&mut self, g: &mut GraphData, id: NodeId, outputs: Option<Vec<OutputText>>) -> Result<()> {
        let Some(node) = g.nodes.get_mut(id.index()) else { return Ok(()) };
        let info = node.info.clone();
        let n = info.output_types.len();
        let Some(outputs) = outputs else {
            ensure!(n <= MAX_UNNAMED_OUTPUTS, "`{}` has {n} outputs; write their types", info.name);
            return Ok(());
        };
        ensure!(
            outputs.len() == n,
            "`{}` has {n} outputs, but the types of {} are given",
            info.name,
            outputs.len()
        );
        for (i, (output, ty)) in outputs.into_iter().zip(&info.output_types).enumerate() {
            self.start = output.at;
            ensure!(
                output.ty == *ty,
                "output {i} of `{}` is {ty}, but the text says {}",
                info.name,
                output.ty
            );
            if let (Some(shape), Some(slot)) = (output.shape, node.shapes.get_mut(i)) {
                ensure!(
                    slot.is_compatible(&shape),
                    "output {i} of `{}` has shape {slot}, but the text says {shape}",
                    info.name
                );
                *slot = shape;
            }
            if let Some(declared) = output.declared {
                g.declared.insert(Port::new(id, i as u32), declared);
            }
        }
        Ok(())
    }

    fn context(&mut self, is_while: bool) -> Result<()> {
        let name = self.name("a context's name")?;
        let parent = if self.eat("in ") { Some((self.start, self.context_name()?)) } else { None };
        let mut fields = Fields::new();
        while !matches!(self.peek(), None | Some('\n')) {
            let start = self.start;
            let key = self.name("a field")?;
            self.expect("=")?;
            let field = match self.peek() {
                Some('%') => Field::Port(self.port()?.1),
                Some('(') if key == "external" => {
                    self.at += 1;
                    Field::Pairs(self.list(")", |p| {
                        let (at, outer) = p.port()?;
                        p.expect("=")?;
                        Ok((at, (outer, p.port()?.1)))
                    })?)
                }
                Some('(') => {
                    self.at += 1;
                    Field::Ports(self.list(")", Self::port)?)
                }
                _ if self.eat("true") => Field::Bool(true),
                _ if self.eat("false") => Field::Bool(false),
                _ => Field::Int(self.int("a value")?),
            };
            if fields.insert(key.clone(), (start, field)).is_some() {
                self.start = start;
                return Err(invalid!("the field `{key}` is given twice"));
            }
        }
        self.later.contexts.push((name, is_while, parent, fields));
        Ok(())
    }

    fn collection(&mut self) -> Result<()> {
        let name = self.name("a collection's name")?;
        let n = self.later.collections.len();
        self.expect("(")?;
        let mut contexts = Vec::new();
        let mut i = 0;
        let items = self.list(")", |p| {
            i += 1;
            let word = p.word();
            Ok(match word {
                "node" => CollectionItem::Node(p.name("a node's name")?),
                "bytes" => CollectionItem::Bytes(p.quoted()?),
                "int" => CollectionItem::Int(p.int("a number")?),
                "float" => match p.attr(0)? {
                    Attr::Float(v) => CollectionItem::Float(v),
                    other => return Err(invalid!("expected a float, got {}", other.kind())),
                },
                "context" => {
                    p.peek();
                    let at = p.start;
                    contexts.push((at, p.context_name()?, i - 1));
                    CollectionItem::Context(ContextId(0))
                }
                "" => return Err(p.unexpected("an entry")),
                word => {
                    return Err(invalid!("there is no kind of entry `{word}`")
                        .with_help("there are: node, bytes, int, float, context"));
                }
            })
        })?;
        let later = contexts.into_iter().map(|(at, context, i)| (at, n, context, i));
        self.later.collected.extend(later);
        self.later.collections.push((name, items));
        Ok(())
    }

    /// A port of a graph whose nodes are all there.
    fn find(&mut self, g: &mut GraphData, at: usize, name: &PortName) -> Result<Port> {
        self.start = at;
        let port = Port::new(g.find(&name.node)?, name.index);
        g.type_of(port)?;
        Ok(port)
    }

    fn settle(&mut self, g: &mut GraphData) -> Result<()> {
        let later = std::mem::take(&mut self.later);
        for (at, merge, i, source) in later.back_edges {
            let port = self.find(g, at, &source)?;
            let given = g.type_of(port)?;
            let (node, from) = (g.node(merge)?, g.node(port.node)?);
            let wanted = node.info.input_types.get(i).map(|t| t.dtype);
            ensure!(
                from.role() == Role::NextIteration && wanted == Some(given.dtype),
                "a back edge into `{}` comes from a NextIteration of the same type, not from `{}` ({}, {given})",
                node.name(),
                from.name(),
                from.op()
            );
            if let Some(slot) = g.nodes.get_mut(merge.index()).and_then(|n| n.inputs.get_mut(i)) {
                *slot = port;
            }
        }
        for (at, id, name) in later.controls {
            self.start = at;
            let before = g.find(&name)?;
            if let Some(node) = g.nodes.get_mut(id.index()) {
                node.controls.push(before);
            }
        }
        let mut known = Known { n: later.contexts.len(), by_name: HashMap::new(), twice: HashSet::new() };
        for (i, (name, ..)) in later.contexts.iter().enumerate() {
            if known.by_name.insert(name.clone(), ContextId(i as u32)).is_some() {
                known.twice.insert(name.clone());
            }
        }
        let mut places = Vec::new();
        for (name, is_while, parent, fields) in later.contexts {
            let at = parent.as_ref().map_or(self.start, |(at, _)| *at);
            self.start = at;
            let parent = parent.map(|(_, parent)| known.find(&parent)).transpose()?;
            places.push(at);
            reserve(g, &name);
            let context = self.fields(g, name, is_while, parent, fields)?;
            g.contexts.push(context);
        }
        self.no_circle(g, &places)?;
        for (at, id, name) in later.homes {
            self.start = at;
            let context = known.find(&name)?;
            g.set_context(id, context);
        }
        let mut collections = later.collections;
        for (at, n, name, i) in later.collected {
            self.start = at;
            let id = known.find(&name)?;
            if let Some(item) = collections.get_mut(n).and_then(|(_, items)| items.get_mut(i)) {
                *item = CollectionItem::Context(id);
            }
        }
        for (name, items) in collections {
            items.into_iter().for_each(|item| g.collect(&name, item));
        }
        Ok(())
    }

    fn fields(
        &mut self,
        g: &mut GraphData,
        name: String,
        is_while: bool,
        parent: Option<ContextId>,
        mut fields: Fields,
    ) -> Result<Context> {
        let line = self.start;
        let mut external = HashMap::new();
        if let Some((at, field)) = fields.remove("external") {
            self.start = at;
            let Field::Pairs(pairs) = field else { return Err(wrong("external", "a list of pairs")) };
            for (at, (outer, inner)) in pairs {
                external.insert(self.find(g, at, &outer)?, self.find(g, at, &inner)?);
            }
        }
        let kind = match is_while {
            true => ContextKind::While(WhileContext {
                parallel_iterations: self.int_field(&mut fields, "parallel")?.unwrap_or(10),
                back_prop: self.bool_field(&mut fields, "back_prop")?,
                swap_memory: self.bool_field(&mut fields, "swap_memory")?,
                maximum_iterations: self.port_field(g, &mut fields, "maximum")?,
                pivot: self.port_field(g, &mut fields, "pivot")?,
                pivot_for_pred: self.port_field(g, &mut fields, "pivot_for_pred")?,
                pivot_for_body: self.port_field(g, &mut fields, "pivot_for_body")?,
                enters: self.ports_field(g, &mut fields, "enters")?,
                exits: self.ports_field(g, &mut fields, "exits")?,
            }),
            false => {
                let pred = self.port_field(g, &mut fields, "pred")?;
                let pivot = self.port_field(g, &mut fields, "pivot")?;
                let branch = self.int_field(&mut fields, "branch")?;
                let captures = self.captures(g, &mut fields)?;
                if pred.is_none() || branch.is_none() {
                    self.start = line;
                }
                let missing = |key| move || invalid!("the branch needs the field `{key}`");
                let branch = branch.ok_or_else(missing("branch"))?;
                ensure!((0..=1).contains(&branch), "the field `branch` is {branch}, not 0 or 1");
                ContextKind::Cond(CondContext {
                    pred: pred.ok_or_else(missing("pred"))?,
                    pivot,
                    branch: branch as u32,
                    captures,
                })
            }
        };
        if let Some((key, (at, _))) = fields.into_iter().next() {
            self.start = at;
            return Err(invalid!("this kind of context has no field `{key}`"));
        }
        Ok(Context { name, parent, kind, external })
    }

    fn int_field(&mut self, fields: &mut Fields, key: &str) -> Result<Option<i64>> {
        match self.take(fields, key) {
            None => Ok(None),
            Some(Field::Int(v)) => Ok(Some(v)),
            Some(_) => Err(wrong(key, "a number")),
        }
    }

    fn bool_field(&mut self, fields: &mut Fields, key: &str) -> Result<Option<bool>> {
        match self.take(fields, key) {
            None => Ok(None),
            Some(Field::Bool(v)) => Ok(Some(v)),
            Some(_) => Err(wrong(key, "`true` or `false`")),
        }
    }

    fn port_field(&mut self, g: &mut GraphData, fields: &mut Fields, key: &str) -> Result<Option<Port>> {
        match self.take(fields, key) {
            None => Ok(None),
            Some(Field::Port(name)) => self.find(g, self.start, &name).map(Some),
            Some(_) => Err(wrong(key, "a node's output")),
        }
    }

    fn ports_field(&mut self, g: &mut GraphData, fields: &mut Fields, key: &str) -> Result<Vec<Port>> {
        match self.take(fields, key) {
            None => Ok(Vec::new()),
            Some(Field::Ports(names)) => names.iter().map(|(at, name)| self.find(g, *at, name)).collect(),
            Some(_) => Err(wrong(key, "a list of nodes' outputs")),
        }
    }

    fn captures(&mut self, g: &mut GraphData, fields: &mut Fields) -> Result<Vec<NodeId>> {
        Ok(self.ports_field(g, fields, "captures")?.into_iter().map(|p| p.node).collect())
    }

    fn take(&mut self, fields: &mut Fields, key: &str) -> Option<Field> {
        let (at, field) = fields.remove(key)?;
        self.start = at;
        Some(field)
    }

    /// No context lies in itself. Each step outwards is taken once: contexts already seen are known to lead out.
    fn no_circle(&mut self, g: &GraphData, places: &[usize]) -> Result<()> {
        let contexts = g.contexts();
        // In whose walk a context was first met.
        let mut seen: Vec<Option<usize>> = vec![None; contexts.len()];
        for (walk, &place) in places.iter().enumerate() {
            let mut at = Some(walk);
            while let Some(i) = at
                && let (Some(slot), Some(context)) = (seen.get_mut(i), contexts.get(i))
            {
                match *slot {
                    None => *slot = Some(walk),
                    Some(first) if first == walk => {
                        self.start = place;
                        return Err(invalid!("the context `{}` lies in itself", context.name));
                    }
                    Some(_) => break,
                }
                at = context.parent.map(|p| p.0 as usize);
            }
        }
        Ok(())
    }
}

fn wrong(key: &str, wanted: &str) -> Error {
    invalid!("the field `{key}` must be {wanted}")
}

/// The name and the scopes around it are taken, as they were when the graph was built.
fn reserve(g: &mut GraphData, name: &str) {
    g.reserve(name);
    name.match_indices('/').take(MAX_SCOPES).for_each(|(i, _)| g.reserve(name.get(..i).unwrap_or("")));
}

/// The contexts that the text has.
struct Known {
    n: usize,
    by_name: HashMap<String, ContextId>,
    twice: HashSet<String>,
}

impl Known {
    fn find(&self, name: &ContextName) -> Result<ContextId> {
        if let Some(position) = name.position {
            ensure!((position as usize) < self.n, "there is no context #{position}, only {}", self.n);
            return Ok(ContextId(position));
        }
        ensure!(
            !self.twice.contains(&name.name),
            "several contexts are named `{0}`; say which: `{0}#0`",
            name.name
        );
        let id = self.by_name.get(&name.name).copied();
        id.ok_or_else(|| invalid!("there is no context `{}`", name.name))
    }
}
