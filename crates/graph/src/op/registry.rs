//! [`Registry`]: the known op types.

use super::builtin::StartBuiltin;
use super::def::{OpDef, Operator};
use super::resolve::NodeInfo;
use millstream_tensor::Tensor;
use std::collections::BTreeMap;

/// Op types by name.
#[derive(Default)]
pub struct Registry {
    ops: BTreeMap<&'static str, OpDef>,
    fold: Option<Fold>,
    builtins: Option<StartBuiltin>,
    features: Option<FeatureOf>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("n_ops", &self.ops.len()).finish_non_exhaustive()
    }
}

/// Computes a node whose inputs are known. `None` if its op has an effect, or if it fails.
pub type Fold = fn(&NodeInfo, &[Tensor]) -> Option<Vec<Tensor>>;

/// The feature of the crate `millstream` that an op type of the library takes, compiled in or not.
pub type FeatureOf = fn(&str) -> Option<&'static str>;

impl Registry {
    /// A registry of these op types. A name given twice keeps its first declaration (a test over the op
    /// library forbids it).
    pub fn new(defs: impl IntoIterator<Item = OpDef>) -> Registry {
        let mut ops = BTreeMap::new();
        for def in defs {
            ops.entry(def.name).or_insert(def);
        }
        Registry { ops, fold: None, builtins: None, features: None }
    }

    /// Adds the function that computes nodes with known inputs. Shape inference calls it; this crate never
    /// evaluates a node.
    pub fn with_fold(mut self, fold: Fold) -> Registry {
        self.fold = Some(fold);
        self
    }

    /// Adds the ops that compute [`Builtin`](super::Builtin)s, which branches, loops and gradients need.
    pub fn with_builtins(mut self, builtins: StartBuiltin) -> Registry {
        self.builtins = Some(builtins);
        self
    }

    /// Adds the function that tells which op types take a feature, for the errors of a build without it.
    pub fn with_features(mut self, features: FeatureOf) -> Registry {
        self.features = Some(features);
        self
    }

    /// The feature of the crate `millstream` that has this op type, if the type is not here.
    pub fn lacking(&self, op: &str) -> Option<&'static str> {
        if self.ops.contains_key(op) {
            return None;
        }
        self.features.and_then(|of| of(op))
    }

    /// Starts the nodes of builtins, if the library has them.
    pub fn builtins(&self) -> Option<StartBuiltin> {
        self.builtins
    }

    /// The node's outputs, if its inputs are known and it can be evaluated while the graph is built.
    pub fn fold(&self, node: &NodeInfo, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
        (self.fold?)(node, inputs)
    }

    /// The op type with this name.
    pub fn get(&self, name: &str) -> Option<&OpDef> {
        self.ops.get(name)
    }

    /// The op type that declares an operator.
    pub fn by_operator(&self, operator: Operator) -> Option<&OpDef> {
        self.ops.values().find(|d| d.operator == Some(operator))
    }

    /// All op types in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &OpDef> {
        self.ops.values()
    }

    /// The number of op types.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The names most similar to a misspelt one, best first.
    pub fn similar(&self, name: &str) -> Vec<&'static str> {
        similar(name, self.ops.keys().copied())
    }
}

/// The names most similar to a misspelt one, best first.
pub(crate) fn similar<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let near = names.filter(|k| k.len().abs_diff(name.len()) <= 1 + k.len() / 4);
    let mut near: Vec<_> =
        near.map(|k| (distance(name, k), k)).filter(|(d, k)| *d <= 1 + k.len() / 4).collect();
    near.sort();
    near.into_iter().take(3).map(|(_, k)| k).collect()
}

/// The Levenshtein distance over bytes, ignoring case. Long inputs are cut, since only near names matter.
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
