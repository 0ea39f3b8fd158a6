//! [`Registry`]: the op types that there are.

use super::def::{OpDef, Operator};
use super::resolve::NodeInfo;
use millstream_tensor::Tensor;
use std::collections::BTreeMap;

/// Op types by name.
#[derive(Default)]
pub struct Registry {
    ops: BTreeMap<&'static str, OpDef>,
    fold: Option<Fold>,
}

/// Computes a node of known inputs, if its op has no effect; `None` if it has, or fails.
pub type Fold = fn(&NodeInfo, &[Tensor]) -> Option<Vec<Tensor>>;

impl Registry {
    /// A registry of these op types. A name given twice keeps its first declaration (a test over the op library forbids it).
    pub fn new(defs: impl IntoIterator<Item = OpDef>) -> Registry {
        let mut ops = BTreeMap::new();
        for def in defs {
            ops.entry(def.name).or_insert(def);
        }
        Registry { ops, fold: None }
    }

    /// With the means to compute nodes of known inputs: shape inference asks for it, as a graph itself never evaluates.
    pub fn with_fold(mut self, fold: Fold) -> Registry {
        self.fold = Some(fold);
        self
    }

    /// The outputs of a node of known inputs, if they can be had.
    pub fn fold(&self, node: &NodeInfo, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
        (self.fold?)(node, inputs)
    }

    /// The op type with this name.
    pub fn get(&self, name: &str) -> Option<&OpDef> {
        self.ops.get(name)
    }

    /// The op type that an operator makes.
    pub fn by_operator(&self, operator: Operator) -> Option<&OpDef> {
        self.ops.values().find(|d| d.operator == Some(operator))
    }

    /// All op types, by name.
    pub fn iter(&self) -> impl Iterator<Item = &OpDef> {
        self.ops.values()
    }

    /// How many op types there are.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The names most like a misspelt one, best first.
    pub fn similar(&self, name: &str) -> Vec<&'static str> {
        let mut near: Vec<_> =
            self.ops.keys().map(|k| (distance(name, k), *k)).filter(|(d, k)| *d <= 1 + k.len() / 4).collect();
        near.sort();
        near.into_iter().take(3).map(|(_, k)| k).collect()
    }
}

/// Levenshtein distance over bytes, ignoring case; long inputs are cut, as only near names matter.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (&a.as_bytes()[..a.len().min(64)], b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
