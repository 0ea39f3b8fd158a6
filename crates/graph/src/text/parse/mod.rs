//! Reads the [text form](super) of graphs.
//!
//! Nodes are made as they are read, with the same checks as when a graph is built. Forward references (back
//! edges, control inputs, contexts) are kept with their place in the text and resolved at the end (`settle`).
//! `words` reads the parts of a line.

mod settle;
mod words;

use super::is_bare_device;
use crate::attr::{Attr, Attrs};
use crate::context::ContextId;
use crate::graph::{CollectionItem, Graph, GraphData, Naming, NodeSpec};
use crate::ids::{NodeId, Port};
use crate::op::{Registry, Role};
use millstream_tensor::{Result, ensure, invalid};
use std::collections::HashMap;
use words::{ContextName, OutputText, Placed, PortName};

/// The most outputs of a node whose types are left out, so that a few bytes (`{N=9999999}`) cannot claim any
/// amount of memory.
const MAX_UNNAMED_OUTPUTS: usize = 1 << 12;

/// The most enclosing scopes of a name that become taken.
const MAX_SCOPES: usize = 64;

impl Graph {
    /// Reads the text form, with a library of op types. Errors name the line and the column.
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
    /// The place that an error names.
    start: usize,
    later: Later,
}

/// References that are resolved when all nodes exist, each with its place in the text.
#[derive(Default)]
struct Later {
    back_edges: Vec<(usize, NodeId, usize, PortName)>,
    controls: Vec<(usize, NodeId, String)>,
    homes: Vec<(usize, NodeId, ContextName)>,
    contexts: Vec<(String, bool, Option<Placed<ContextName>>, Fields)>,
    collected: Vec<(usize, usize, ContextName, usize)>,
    collections: Vec<(String, Vec<CollectionItem>)>,
}

/// The fields of a context, by name.
type Fields = HashMap<String, Placed<Field>>;

enum Field {
    Int(i64),
    Bool(bool),
    Port(PortName),
    Ports(Vec<Placed<PortName>>),
    Pairs(Vec<Placed<(PortName, PortName)>>),
}

impl Parser<'_> {
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
                        .with_help("only the back edge of a Merge may refer to a node below it"));
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

    /// Checks that the given types of the outputs fit the inferred ones, and applies them.
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
                "output {i} of `{}` is {ty}, but the text has {}",
                info.name,
                output.ty
            );
            if let (Some(shape), Some(slot)) = (output.shape, node.shapes.get_mut(i)) {
                ensure!(
                    slot.is_compatible(&shape),
                    "output {i} of `{}` has shape {slot}, but the text has {shape}",
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
                    return Err(invalid!("unknown kind of entry `{word}`")
                        .with_help("expected node, bytes, int, float or context"));
                }
            })
        })?;
        let later = contexts.into_iter().map(|(at, context, i)| (at, n, context, i));
        self.later.collected.extend(later);
        self.later.collections.push((name, items));
        Ok(())
    }
}

/// Takes the name and its enclosing scopes, as when the graph was built.
fn reserve(g: &mut GraphData, name: &str) {
    g.reserve(name);
    name.match_indices('/').take(MAX_SCOPES).for_each(|(i, _)| g.reserve(name.get(..i).unwrap_or("")));
}
