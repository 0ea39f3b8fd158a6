//! Prints the [text form](super) of graphs.

use super::{is_bare, is_bare_device};
use crate::attr::{Attr, Attrs};
use crate::context::{Context, ContextId, ContextKind};
use crate::graph::{CollectionItem, Graph, GraphData};
use crate::ids::{NodeId, Port};
use crate::node::Node;
use std::collections::HashMap;
use std::fmt::{self, Display, Formatter};

impl Graph {
    /// The text form, which [`Graph::parse`] reads.
    pub fn to_text(&self) -> String {
        self.to_string()
    }
}

/// Prints the text form, which [`Graph::parse`] reads.
impl Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.read(|graph| Printer::new(graph).graph(f))
    }
}

struct Printer<'a> {
    graph: &'a GraphData,
    /// The number of contexts with each name.
    shared: HashMap<&'a str, usize>,
}

/// Text in quotes.
pub(super) struct Quoted<'a>(pub(super) &'a [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' => f.write_str("\\\"")?,
                    '\\' => f.write_str("\\\\")?,
                    '\n' => f.write_str("\\n")?,
                    '\r' => f.write_str("\\r")?,
                    '\t' => f.write_str("\\t")?,
                    c if c.is_control() => {
                        c.encode_utf8(&mut [0; 4]).bytes().try_for_each(|b| write!(f, "\\x{b:02x}"))?
                    }
                    c => write!(f, "{c}")?,
                }
            }
            chunk.invalid().iter().try_for_each(|b| write!(f, "\\x{b:02x}"))?;
        }
        f.write_str("\"")
    }
}

/// Text in quotes, if it needs them.
struct Bare<'a>(&'a str, fn(char) -> bool);

impl Display for Bare<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match !self.0.is_empty() && self.0.chars().all(self.1) {
            true => f.write_str(self.0),
            false => Quoted(self.0.as_bytes()).fmt(f),
        }
    }
}

fn name(name: &str) -> Bare<'_> {
    Bare(name, is_bare)
}

fn float(v: f32, f: &mut Formatter<'_>) -> fmt::Result {
    match v.is_nan() {
        true if v.to_bits() != 0x7fc0_0000 => write!(f, "nan({:#x})", v.to_bits()),
        true => f.write_str("nan"),
        // `{:?}` always prints a point or an exponent, so the text differs from that of an int.
        false => write!(f, "{v:?}"),
    }
}

fn comma(i: usize) -> &'static str {
    if i == 0 { "" } else { ", " }
}

fn attrs(attrs: &Attrs, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("{")?;
    for (i, (key, value)) in attrs.iter().enumerate() {
        write!(f, "{}{}=", comma(i), name(key))?;
        attr(value, f)?;
    }
    f.write_str("}")
}

// Recurses as deep as the attribute is nested. The readers of attributes (here and in GraphDefs) bound that
// depth.
fn attr(value: &Attr, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Attr::Str(v) => Quoted(v).fmt(f),
        Attr::Int(v) => write!(f, "{v}"),
        Attr::Float(v) => float(*v, f),
        Attr::Bool(v) => write!(f, "{v}"),
        Attr::Type(v) => write!(f, "{v}"),
        Attr::Shape(v) => write!(f, "{v}"),
        Attr::Tensor(v) => write!(f, "{v:#}"),
        Attr::Func(v) => {
            write!(f, "@{}", name(&v.name))?;
            attrs(&v.attrs, f)
        }
        Attr::List(values) => {
            f.write_str("(")?;
            for (i, value) in values.iter().enumerate() {
                f.write_str(comma(i))?;
                attr(value, f)?;
            }
            f.write_str(")")
        }
    }
}

impl<'a> Printer<'a> {
    fn new(graph: &'a GraphData) -> Self {
        let mut shared = HashMap::new();
        for context in graph.contexts() {
            *shared.entry(context.name.as_str()).or_default() += 1;
        }
        Printer { graph, shared }
    }

    fn graph(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("graph")?;
        if let Some(seed) = self.graph.seed() {
            write!(f, " seed={seed}")?;
        }
        if self.graph.is_finalized() {
            f.write_str(" finalized")?;
        }
        f.write_str("\n")?;
        for (n, node) in self.graph.nodes().iter().enumerate() {
            self.node(NodeId(n as u32), node, f)?;
        }
        for context in self.graph.contexts() {
            self.context(context, f)?;
        }
        for (key, items) in self.graph.collections() {
            write!(f, "collection {} (", name(key))?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(comma(i))?;
                match item {
                    CollectionItem::Node(name) => write!(f, "node {}", Quoted(name.as_bytes()))?,
                    CollectionItem::Bytes(bytes) => write!(f, "bytes {}", Quoted(bytes))?,
                    CollectionItem::Int(v) => write!(f, "int {v}")?,
                    CollectionItem::Float(v) => {
                        f.write_str("float ")?;
                        float(*v, f)?;
                    }
                    CollectionItem::Context(id) => {
                        f.write_str("context ")?;
                        self.context_name(*id, f)?;
                    }
                }
            }
            f.write_str(")\n")?;
        }
        Ok(())
    }

    fn node(&self, id: NodeId, node: &Node, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "%{} = {}(", name(node.name()), name(node.op()))?;
        self.ports(node.inputs.iter().copied(), f)?;
        f.write_str(")")?;
        for control in &node.controls {
            write!(f, " ^{}", name(self.name_of(*control)))?;
        }
        if node.info.attrs.iter().next().is_some() {
            f.write_str(" ")?;
            attrs(&node.info.attrs, f)?;
        }
        for (i, ty) in node.info.output_types.iter().enumerate() {
            let port = Port::new(id, i as u32);
            write!(f, "{}{ty}{}", if i == 0 { " : " } else { ", " }, self.graph.shape_of(port))?;
            if let Some(declared) = self.graph.declared.get(&port) {
                write!(f, " set {declared}")?;
            }
        }
        if !node.device.is_empty() {
            write!(f, " @{}", Bare(&node.device, is_bare_device))?;
        }
        if let Some(context) = node.context {
            f.write_str(" in ")?;
            self.context_name(context, f)?;
        }
        f.write_str("\n")
    }

    fn name_of(&self, id: NodeId) -> &str {
        self.graph.nodes().get(id.index()).map_or("?", Node::name)
    }

    fn port(&self, port: Port, f: &mut Formatter<'_>) -> fmt::Result {
        match self.graph.nodes().get(port.node.index()) {
            None => f.write_str("%?"),
            Some(node) if port.index == 0 => write!(f, "%{}", name(node.name())),
            Some(node) => write!(f, "%{}:{}", name(node.name()), port.index),
        }
    }

    fn ports(&self, ports: impl Iterator<Item = Port>, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, port) in ports.enumerate() {
            f.write_str(comma(i))?;
            self.port(port, f)?;
        }
        Ok(())
    }

    fn context_name(&self, id: ContextId, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(context) = self.graph.contexts().get(id.0 as usize) else { return write!(f, "?#{}", id.0) };
        name(&context.name).fmt(f)?;
        match self.shared.get(context.name.as_str()) {
            Some(2..) => write!(f, "#{}", id.0),
            _ => Ok(()),
        }
    }

    fn context(&self, context: &Context, f: &mut Formatter<'_>) -> fmt::Result {
        let word = if context.as_while().is_some() { "while" } else { "cond" };
        write!(f, "{word} {}", name(&context.name))?;
        if let Some(parent) = context.parent {
            f.write_str(" in ")?;
            self.context_name(parent, f)?;
        }
        let field = |key: &str, port: Option<Port>, f: &mut Formatter<'_>| match port {
            Some(port) => {
                write!(f, " {key}=")?;
                self.port(port, f)
            }
            None => Ok(()),
        };
        let list = |key: &str, ports: &[Port], f: &mut Formatter<'_>| match ports {
            [] => Ok(()),
            ports => {
                write!(f, " {key}=(")?;
                self.ports(ports.iter().copied(), f)?;
                f.write_str(")")
            }
        };
        match &context.kind {
            ContextKind::While(w) => {
                write!(f, " parallel={}", w.parallel_iterations)?;
                for (key, said) in [("back_prop", w.back_prop), ("swap_memory", w.swap_memory)] {
                    said.map_or(Ok(()), |said| write!(f, " {key}={said}"))?;
                }
                field("maximum", w.maximum_iterations, f)?;
                field("pivot", w.pivot, f)?;
                field("pivot_for_pred", w.pivot_for_pred, f)?;
                field("pivot_for_body", w.pivot_for_body, f)?;
                list("enters", &w.enters, f)?;
                list("exits", &w.exits, f)?;
            }
            ContextKind::Cond(c) => {
                field("pred", Some(c.pred), f)?;
                field("pivot", c.pivot, f)?;
                write!(f, " branch={}", c.branch)?;
                let captures: Vec<Port> = c.captures.iter().map(|n| Port::new(*n, 0)).collect();
                list("captures", &captures, f)?;
            }
        }
        let mut external: Vec<(Port, Port)> = context.external.iter().map(|(&a, &b)| (a, b)).collect();
        external.sort();
        for (i, (outer, inner)) in external.iter().enumerate() {
            f.write_str(if i == 0 { " external=(" } else { ", " })?;
            self.port(*outer, f)?;
            f.write_str(" = ")?;
            self.port(*inner, f)?;
        }
        f.write_str(if external.is_empty() { "\n" } else { ")\n" })
    }
}
