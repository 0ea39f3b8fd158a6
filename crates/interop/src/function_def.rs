//! [`function_def`]: a function of a graph as TensorFlow's `FunctionDef`.

use crate::export::node_def;
use crate::types;
use millstream_graph::op::{Count, NodeInfo};
use millstream_graph::{Function, GraphData, NodeId, Port};
use millstream_proto::op_def::ArgDef;
use millstream_proto::{FunctionDef, NodeDef, OpDef};
use millstream_tensor::{Result, invalid};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Returns a function as a message. In it an input is spelled `arg` or `node:output:i`.
pub(crate) fn function_def(function: &Function) -> Result<FunctionDef> {
    function.body.read(|g| {
        let names = Names::of(g, function)?;
        let arg = |name: &str, port: Port| -> Result<ArgDef> {
            let r#type = types::type_number(g.type_of(port)?);
            Ok(ArgDef { name: name.to_owned(), r#type, ..ArgDef::default() })
        };
        let mut signature = OpDef { name: function.name.clone(), ..OpDef::default() };
        for port in &function.inputs {
            signature.input_arg.push(arg(names.argument(port.node)?, *port)?);
        }
        let mut ret = BTreeMap::new();
        for (i, port) in function.outputs.iter().enumerate() {
            let name = format!("output_{i}");
            signature.output_arg.push(arg(&name, *port)?);
            ret.insert(name, names.value(g, *port)?);
        }
        let mut nodes = Vec::with_capacity(g.nodes().len());
        for (i, node) in g.nodes().iter().enumerate() {
            if names.arguments.contains_key(&NodeId(i as u32)) {
                continue;
            }
            let mut message: NodeDef = node_def(g, node)?;
            message.input.clear();
            for port in &node.inputs {
                message.input.push(names.value(g, *port)?);
            }
            for control in &node.controls {
                if !names.arguments.contains_key(control) {
                    message.input.push(format!("^{}", g.node(*control)?.name()));
                }
            }
            nodes.push(message);
        }
        Ok(FunctionDef { signature: Some(signature), node_def: nodes, ret, ..FunctionDef::default() })
    })
}

/// The names of a function's arguments, by the placeholders that take them.
struct Names {
    arguments: HashMap<NodeId, String>,
}

impl Names {
    fn of(g: &GraphData, function: &Function) -> Result<Names> {
        let mut taken: BTreeSet<String> = g.nodes().iter().map(|node| node.name().to_owned()).collect();
        let mut arguments = HashMap::new();
        for port in &function.inputs {
            let node = g.node(port.node)?.name();
            // The names of arguments are lower-case words.
            let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
            let text: String = node.chars().map(word).collect();
            let text = text.trim_start_matches(|c: char| !c.is_ascii_lowercase());
            let base = if text.is_empty() { "arg" } else { text };
            let mut name = base.to_owned();
            let mut i = 0;
            while name != node && !taken.insert(name.clone()) {
                i += 1;
                name = format!("{base}_{i}");
            }
            arguments.insert(port.node, name);
        }
        Ok(Names { arguments })
    }

    fn argument(&self, node: NodeId) -> Result<&str> {
        let name = self.arguments.get(&node).map(String::as_str);
        name.ok_or_else(|| invalid!("an argument of a function is not there"))
    }

    /// Returns the spelling of a value.
    fn value(&self, g: &GraphData, port: Port) -> Result<String> {
        if let Some(argument) = self.arguments.get(&port.node) {
            return Ok(argument.clone());
        }
        let node =
            g.node(port.node).map_err(|e| e.note("a back edge of the function's body was never closed"))?;
        let (output, index) = output(&node.info, port.index as usize)?;
        Ok(format!("{}:{output}:{index}", node.name()))
    }
}

/// Returns the op's name of an output, and the position in that output's list.
fn output(info: &NodeInfo, index: usize) -> Result<(&'static str, usize)> {
    let mut at = 0;
    for arg in &info.op.outputs {
        let n = match arg.count {
            Count::One => 1,
            _ => info.output_range(arg.name)?.len(),
        };
        if index < at + n {
            return Ok((arg.name, index - at));
        }
        at += n;
    }
    Err(invalid!("`{}` has no output {index}", info.name))
}
