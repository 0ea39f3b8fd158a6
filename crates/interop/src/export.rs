//! [`export_graph_def`] and [`export_meta_graph`]: a graph as TensorFlow's messages.

use crate::function_def::function_def;
use crate::{attrs, contexts};
use millstream_checkpoint::message::encode_shape;
use millstream_graph::{Attr, CollectionItem, Graph, GraphData, Node, NodeId, Port};
use millstream_proto::attr_value::{self, ListValue};
use millstream_proto::collection_def::{BytesList, FloatList, Int64List, Kind, NodeList};
use millstream_proto::meta_graph_def::MetaInfoDef;
use millstream_proto::{
    AttrValue, CollectionDef, FunctionDefLibrary, GraphDef, MetaGraphDef, NodeDef, VersionDef, decode,
};
use millstream_tensor::{Result, invalid};

/// The producer version of our graphs: that of TensorFlow 1.15, whose semantics they have.
pub(crate) const PRODUCER: i32 = 134;

/// Attributes that TensorFlow 1.15 does not know. They are left out if they have their defaults, as
/// TensorFlow does.
const NEWER: [&str; 12] = [
    "Tk",
    "Tsegmentids",
    "allow_missing_files",
    "allowed_devices",
    "bad_indices_policy",
    "debug_name",
    "grad_a",
    "grad_b",
    "grad_x",
    "grad_y",
    "resize_if_index_out_of_bounds",
    "sparse_gradient",
];

/// Returns whether TensorFlow 1.15 does not know this attribute of the op.
pub(crate) fn is_newer(op: &str, name: &str) -> bool {
    match name {
        "validate_shape" => op != "Assign",
        "index_type" => op != "Fill",
        "shape_type" => op == "ConcatOffset",
        "Tshape" => op == "TensorListGetItem",
        _ => NEWER.contains(&name),
    }
}

/// Returns the graph as a `GraphDef`: nodes in the order of creation, with all attributes, except those that
/// only versions newer than the producer know, if they have their defaults.
pub fn export_graph_def(graph: &Graph) -> Result<GraphDef> {
    graph.read(graph_def)
}

/// Returns one node as a `NodeDef`. Open back edges are left out.
pub fn export_node_def(graph: &Graph, id: NodeId) -> Result<NodeDef> {
    graph.read(|g| {
        let mut node = g.node(id)?.clone();
        node.inputs.retain(|port| *port != Port::OPEN);
        node_def(g, &node)
    })
}

/// Returns the graph with its collections and the contexts of its loops and branches.
pub fn export_meta_graph(graph: &Graph) -> Result<MetaGraphDef> {
    graph.read(|g| {
        let mut meta = MetaGraphDef {
            meta_info_def: Some(MetaInfoDef { meta_graph_version: String::new(), ..MetaInfoDef::default() }),
            graph_def: Some(graph_def(g)?),
            ..MetaGraphDef::default()
        };
        // Collections of contexts are written from the contexts themselves.
        let is_context = |item: &CollectionItem| matches!(item, CollectionItem::Context(_));
        for (name, items) in g.collections().iter().filter(|(_, items)| !items.iter().all(is_context)) {
            meta.collection_def.insert(name.clone(), collection(name, items)?);
        }
        for (name, bytes) in contexts::collections(g)? {
            let kind = Some(Kind::BytesList(BytesList { value: bytes }));
            meta.collection_def.insert(name.to_owned(), CollectionDef { kind });
        }
        // Readers use the last saver.
        meta.saver_def = match g.collections().get("savers").and_then(|savers| savers.last()) {
            Some(CollectionItem::Bytes(bytes)) => decode(bytes).ok(),
            _ => None,
        };
        Ok(meta)
    })
}

/// Adds the attribute `_output_shapes` to each node of a graph's message: the inferred shapes of its outputs,
/// which pictures of graphs show.
pub fn add_output_shapes(def: &mut GraphDef, graph: &Graph) {
    graph.read(|g| {
        // The graph may have grown since the message was made, but nodes never change places.
        for (i, (message, node)) in (0u32..).zip(def.node.iter_mut().zip(g.nodes())) {
            let n_outputs = node.info.output_types.len() as u32;
            let shape = (0..n_outputs).map(|k| encode_shape(&g.shape_of(Port::new(NodeId(i), k)))).collect();
            if 0 < n_outputs {
                let list = Box::new(ListValue { shape, ..ListValue::default() });
                let value = AttrValue { value: Some(attr_value::Value::List(list)) };
                message.attr.insert("_output_shapes".to_owned(), value);
            }
        }
    });
}

fn graph_def(g: &GraphData) -> Result<GraphDef> {
    let node: Result<Vec<NodeDef>> = g.nodes().iter().map(|node| node_def(g, node)).collect();
    let versions = VersionDef { producer: PRODUCER, ..VersionDef::default() };
    let function: Result<Vec<_>> = g.functions().map(function_def).collect();
    let function = function?;
    let library =
        (!function.is_empty()).then(|| FunctionDefLibrary { function, ..FunctionDefLibrary::default() });
    Ok(GraphDef { node: node?, versions: Some(versions), library, ..GraphDef::default() })
}

pub(crate) fn node_def(g: &GraphData, node: &Node) -> Result<NodeDef> {
    let at = |e: millstream_tensor::Error| e.at_node(node.name(), node.op());
    let mut input = Vec::with_capacity(node.inputs.len() + node.controls.len());
    for &port in &node.inputs {
        if port == Port::OPEN {
            return Err(at(invalid!("the back edge of `{}` was never closed", node.name())));
        }
        input.push(value_name(g, port)?);
    }
    for &control in &node.controls {
        input.push(format!("^{}", g.node(control)?.name()));
    }
    let mut attr = std::collections::BTreeMap::new();
    let is_default = |name: &str, value: &Attr| {
        let default = node.info.op.attr_spec(name).and_then(|s| s.default.as_ref());
        default.is_some_and(|d| d.same(value))
    };
    let all = node.info.attrs.iter();
    for (name, value) in all.filter(|(name, value)| !(is_newer(node.op(), name) && is_default(name, value))) {
        let value = attrs::encode(value).map_err(|e| at(e.note(format!("in attribute `{name}`"))))?;
        attr.insert(name.to_owned(), value);
    }
    Ok(NodeDef {
        name: node.name().to_owned(),
        op: node.op().to_owned(),
        input,
        device: node.device.to_string(),
        attr,
        ..NodeDef::default()
    })
}

/// Returns the text of an input: `name` for a first output, `name:k` for others.
fn value_name(g: &GraphData, port: Port) -> Result<String> {
    let name = g.node(port.node)?.name();
    Ok(if port.index == 0 { name.to_owned() } else { format!("{name}:{}", port.index) })
}

fn collection(name: &str, items: &[CollectionItem]) -> Result<CollectionDef> {
    let mixed = || invalid!("the collection `{name}` holds items of several kinds and cannot be written");
    macro_rules! all {
        ($variant:ident => $convert:expr) => {
            items
                .iter()
                .map(|item| match item {
                    CollectionItem::$variant(v) => Ok($convert(v)),
                    _ => Err(mixed()),
                })
                .collect::<Result<Vec<_>>>()?
        };
    }
    let kind = match items.first() {
        None | Some(CollectionItem::Context(_)) => return Err(mixed()),
        Some(CollectionItem::Node(_)) => {
            Kind::NodeList(NodeList { value: all!(Node => |v: &String| v.clone()) })
        }
        Some(CollectionItem::Bytes(_)) => {
            Kind::BytesList(BytesList { value: all!(Bytes => |v: &Vec<u8>| v.clone()) })
        }
        Some(CollectionItem::Int(_)) => Kind::Int64List(Int64List { value: all!(Int => |v: &i64| *v) }),
        Some(CollectionItem::Float(_)) => Kind::FloatList(FloatList { value: all!(Float => |v: &f32| *v) }),
    };
    Ok(CollectionDef { kind: Some(kind) })
}
