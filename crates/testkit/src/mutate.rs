//! Deliberately corrupted graphs, for tests of the code that reads and runs them. [`mutate_bytes`] corrupts
//! the message, [`mutate_graph`] the graph in it.

use millstream_proto::{AttrValue, GraphDef};

/// A random number generator: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next random number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n.max(1) as u64) as usize
    }
}

/// Changes, cuts or duplicates bytes. Most results are no longer messages.
pub fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.draw() as u8,
            2 => bytes.truncate(at.max(1)),
            3 => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => drop(bytes.drain(at..(at + random.below(16)).min(bytes.len()))),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// Corrupts a graph that remains a graph: removes, duplicates and exchanges nodes, inputs, ops and
/// attributes, and makes sizes huge.
pub fn mutate_graph(def: &mut GraphDef, donor: &GraphDef, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let functions = def.library.as_mut().map(|l| &mut l.function);
        let nodes = match functions {
            Some(functions) if !functions.is_empty() && random.below(2) == 0 => {
                let f = random.below(functions.len());
                if random.below(8) == 0 {
                    let other = functions[random.below(functions.len())].clone();
                    functions[f].node_def = other.node_def;
                }
                &mut functions[f].node_def
            }
            _ => &mut def.node,
        };
        if nodes.is_empty() {
            continue;
        }
        let (i, j) = (random.below(nodes.len()), random.below(nodes.len()));
        let other = nodes[j].clone();
        let node = &mut nodes[i];
        match random.below(11) {
            0 => drop(nodes.remove(i)),
            1 => node.input.push(other.name),
            2 => drop(node.input.pop()),
            3 => node.input.clone_from(&other.input),
            4 => node.op = other.op,
            5 => {
                let k = random.below(node.input.len());
                if let Some(input) = node.input.get_mut(k) {
                    *input = match random.below(3) {
                        0 => format!("{}:{}", other.name, random.below(4)),
                        1 => format!("^{}", other.name),
                        _ => other.name,
                    };
                }
            }
            6 => {
                let from = donor.node.get(random.below(donor.node.len())).unwrap_or(&other).clone();
                node.attr.extend(from.attr);
            }
            7 => {
                let k = random.below(node.attr.len());
                if let Some(key) = node.attr.keys().nth(k).cloned() {
                    node.attr.remove(&key);
                }
            }
            8 => {
                let k = random.below(node.attr.len());
                if let Some(value) = node.attr.values_mut().nth(k) {
                    distort(value, random);
                }
            }
            9 => {
                let ops = millstream_ops::registry();
                if let Some(op) = ops.iter().nth(random.below(ops.len())) {
                    op.name.clone_into(&mut node.op);
                }
            }
            _ => {
                let k = random.below(donor.node.len());
                if let Some(from) = donor.node.get(k) {
                    node.op.clone_from(&from.op);
                    node.attr.clone_from(&from.attr);
                }
            }
        }
    }
}

fn distort(value: &mut AttrValue, random: &mut Random) {
    use millstream_proto::attr_value::Value;
    let extreme = [0, -1, 1, i64::MAX, i64::MIN, 1 << 40, 1 << 62, 7, 2, 3][random.below(10)];
    match &mut value.value {
        Some(Value::I(v)) => *v = extreme,
        Some(Value::Type(v)) => *v = random.below(130) as i32,
        Some(Value::Shape(s)) => {
            for d in &mut s.dim {
                d.size = extreme;
            }
            s.unknown_rank ^= random.below(3) == 0;
        }
        Some(Value::Tensor(t)) => match random.below(4) {
            0 => t.dtype = random.below(130) as i32,
            1 => t.tensor_content.truncate(random.below(t.tensor_content.len())),
            2 => t.int_val.iter_mut().for_each(|v| *v = extreme as i32),
            _ => {
                let dims = t.tensor_shape.get_or_insert_default();
                dims.dim
                    .push(millstream_proto::tensor_shape_proto::Dim { size: extreme, name: String::new() });
            }
        },
        Some(Value::List(l)) => {
            l.i.iter_mut().for_each(|v| *v = extreme);
            l.r#type.pop();
            l.func.pop();
        }
        Some(Value::S(s)) => s.truncate(random.below(s.len())),
        Some(Value::B(b)) => *b = !*b,
        other => *other = Some(Value::I(extreme)),
    }
}

/// Adds a few nodes of another graph, some with inputs from this one.
pub fn mix_graphs(def: &mut GraphDef, donor: &GraphDef, random: &mut Random) {
    let n_own = def.node.len();
    for _ in 0..=random.below(4) {
        let Some(from) = donor.node.get(random.below(donor.node.len())) else { return };
        let mut node = from.clone();
        for input in &mut node.input {
            if let Some(own) = def.node.get(random.below(n_own + 2)) {
                input.clone_from(&own.name);
            }
        }
        if def.node.iter().any(|n| n.name == node.name) {
            node.name = format!("{}_{}", node.name, def.node.len());
        }
        def.node.push(node);
    }
    if def.library.is_none() {
        def.library.clone_from(&donor.library);
    }
}
