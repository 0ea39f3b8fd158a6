//! [`Facts`]: shapes and small values in a loop, inferred again from the values that enter it in a run.

use super::super::late::Given;
use millstream_graph::loops::{LoopId, LoopTree, View};
use millstream_graph::op::lone::{self, Bounds};
use millstream_graph::op::{Effect, HandleShape, InferCx, Known, NodeInfo, Role};
use millstream_graph::{Index, Program, Source};
use millstream_tensor::{DType, PartialShape, Tensor};
use smallvec::SmallVec;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The most elements of an integer tensor whose value may decide a shape.
pub(crate) const MOST_SAID: usize = 16;

/// What something was inferred from: a set of premises. A premise is the value of an Enter, by its place, or
/// one that was assumed of a list's or a stack's items.
pub(crate) type Premises = u128;

/// The shapes and values that are known in a loop.
///
/// They hold as long as the Enters have values of the same types, and those that were [used](Facts::used) the
/// same values. What was assumed of the items of lists and stacks, the code checks.
pub(super) struct Facts {
    shapes: BTreeMap<Source, PartialShape>,
    values: BTreeMap<Source, (Known, Premises)>,
    assumed: BTreeMap<Source, (Tensor, Premises)>,
    /// The premises that shapes depend on.
    used: Cell<Premises>,
}

struct Inference<'a> {
    program: &'a Program,
    facts: Facts,
    /// The Enter, by its place, whose list or stack a value is.
    origins: BTreeMap<Source, usize>,
    n_premises: usize,
    bounds: Bounds,
}

impl Facts {
    /// Infers the nodes of a loop, in this order, from what its Enters have.
    pub(super) fn infer(program: &Program, order: &[Index], enters: &[Index], given: &[Given]) -> Facts {
        let facts = Facts {
            shapes: BTreeMap::new(),
            values: BTreeMap::new(),
            assumed: BTreeMap::new(),
            used: Cell::new(0),
        };
        let (origins, n_premises) = (BTreeMap::new(), enters.len());
        let mut it = Inference { program, facts, origins, n_premises, bounds: Bounds::of_one() };
        let entering: BTreeMap<Index, usize> = enters.iter().enumerate().map(|(i, n)| (*n, i)).collect();
        for &n in order {
            match entering.get(&n) {
                Some(&i) => it.enter(n, i, &given[i]),
                None => it.visit(n, given),
            }
        }
        it.facts
    }

    pub(super) fn shape(&self, source: Source) -> Option<&PartialShape> {
        self.shapes.get(&source)
    }

    /// The premises that shapes depend on.
    pub(super) fn used(&self) -> Premises {
        self.used.get()
    }

    /// Notes that these premises decide something.
    pub(super) fn use_all(&self, premises: Premises) {
        self.used.set(self.used.get() | premises);
    }

    /// Whether the whole value of a source is known, which then decides something.
    pub(super) fn decides(&self, source: Source) -> bool {
        match self.values.get(&source) {
            Some((Known::Value(_), premises)) => {
                self.use_all(*premises);
                true
            }
            _ => false,
        }
    }

    /// The value that was assumed of a source, if anything depends on it: the code has to check it.
    pub(super) fn to_check(&self, source: Source) -> Option<&Tensor> {
        let (value, premises) = self.assumed.get(&source)?;
        (premises & self.used.get() != 0).then_some(value)
    }
}

impl Inference<'_> {
    fn premise(&self, place: usize) -> Option<Premises> {
        1u128.checked_shl(u32::try_from(place).ok()?)
    }

    fn set(&mut self, source: Source, shape: PartialShape, known: Option<(Known, Premises)>) {
        // A shape that the program promises may be wrong, what follows from the values is not.
        let promised = self.program.node(source.node).shapes.get(source.index as usize);
        let shape = promised.and_then(|promised| shape.merge(promised)).unwrap_or(shape);
        self.facts.shapes.insert(source, shape);
        if let Some(known) = known {
            self.facts.values.insert(source, known);
        }
    }

    fn enter(&mut self, n: Index, place: usize, given: &Given) {
        let source = Source { node: n, index: 0 };
        let handle = given
            .holds
            .as_ref()
            .map(|(dtype, shape)| (Known::Handle(HandleShape { dtype: *dtype, shape: shape.clone() }), 0));
        let constant = self.program.node(n).is_constant_enter();
        let value = given.value.as_ref().filter(|_| constant);
        let value = value.and_then(|value| Some((Known::Value(value.clone()), self.premise(place)?)));
        if given.holds.is_some() {
            self.origins.insert(source, place);
        }
        self.facts.shapes.insert(source, (&given.shape).into());
        if let Some(known) = handle.or(value) {
            self.facts.values.insert(source, known);
        }
    }

    fn visit(&mut self, n: Index, given: &[Given]) {
        let program = self.program;
        let node = program.node(n);
        let Some(info) = node.info() else { return };
        match info.op.role {
            Role::Enter => self.pass(n, node.is_constant_enter()),
            Role::Merge => match program.back_edge(n) {
                Some(back) => self.merge_of_loop(n, back),
                None => self.merge_of_cond(n),
            },
            Role::Exit | Role::NextIteration => self.pass(n, false),
            Role::Identity | Role::LoopCond => self.pass(n, true),
            _ => self.infer_node(n, info),
        }
        self.follow(n, given);
    }

    fn shape_of(&self, source: Source) -> PartialShape {
        self.facts.shapes.get(&source).cloned().unwrap_or_else(PartialShape::unknown)
    }

    /// What a variable is in the next iteration may differ in value, not in type.
    fn known_of(&self, source: Source, values: bool) -> Option<(Known, Premises)> {
        self.facts
            .values
            .get(&source)
            .filter(|(known, _)| values || matches!(known, Known::Handle(_)))
            .cloned()
    }

    fn pass(&mut self, n: Index, values: bool) {
        if let Some(&from) = self.program.node(n).inputs.first() {
            self.set(Source { node: n, index: 0 }, self.shape_of(from), self.known_of(from, values));
        }
    }

    fn merge_of_loop(&mut self, n: Index, back: usize) {
        let node = self.program.node(n);
        let Some((_, &from)) = node.inputs.iter().enumerate().find(|(i, _)| *i != back) else { return };
        self.set(Source { node: n, index: 0 }, self.shape_of(from), self.known_of(from, false));
        self.set(Source { node: n, index: 1 }, PartialShape::scalar(), None);
        if let Some(origin) = self.origins.get(&from).copied() {
            self.origins.insert(Source { node: n, index: 0 }, origin);
        }
    }

    fn merge_of_cond(&mut self, n: Index) {
        let node = self.program.node(n);
        let shape = node.inputs.iter().map(|from| self.shape_of(*from)).reduce(|a, b| a.join(&b));
        let known = node.inputs.first().and_then(|from| self.known_of(*from, false));
        self.set(Source { node: n, index: 0 }, shape.unwrap_or_else(PartialShape::unknown), known);
        self.set(Source { node: n, index: 1 }, PartialShape::scalar(), None);
    }

    fn infer_node(&mut self, n: Index, info: &NodeInfo) {
        let inputs = &self.program.node(n).inputs;
        let shapes: SmallVec<[PartialShape; 3]> = inputs.iter().map(|from| self.shape_of(*from)).collect();
        let known: SmallVec<[Option<(Known, Premises)>; 3]> =
            inputs.iter().map(|from| self.known_of(*from, true)).collect();
        let premises: Premises = known.iter().flatten().fold(0, |all, (_, premises)| all | premises);
        let all: SmallVec<[Option<Known>; 3]> =
            known.iter().map(|known| known.as_ref().map(|(known, _)| known.clone())).collect();
        let Ok((mut results, mut values)) = InferCx::new(info, &shapes, &all).infer() else { return };
        // What is not so without the premises depends on them.
        let without = (premises != 0).then(|| {
            let certain: SmallVec<[Option<Known>; 3]> = known
                .into_iter()
                .map(|known| known.filter(|(_, premises)| *premises == 0).map(|(known, _)| known))
                .collect();
            InferCx::new(info, &shapes, &certain).infer()
        });
        let without = without.and_then(Result::ok);
        if values.iter().all(Option::is_none)
            && let Some(folded) = self.fold(info, &all, &results)
        {
            results = folded.iter().map(|value| value.shape().into()).collect();
            values = folded.into_iter().map(|value| Some(Known::Value(value))).collect();
        }
        for (i, (shape, value)) in results.into_iter().zip(values).enumerate() {
            let (shape_before, value_before) = match &without {
                Some((shapes, values)) => (shapes.get(i), values.get(i).and_then(Option::as_ref)),
                None => (None, None),
            };
            if premises != 0 && shape_before != Some(&shape) {
                self.facts.use_all(premises);
            }
            let value = value.map(|value| {
                let certain = value_before.is_some_and(|before| before.same(&value));
                (value, if certain { 0 } else { premises })
            });
            self.set(Source { node: n, index: i as u32 }, shape, value);
        }
    }

    /// The outputs of a node that computes few integers from few that are known.
    fn fold(&self, info: &NodeInfo, known: &[Option<Known>], shapes: &[PartialShape]) -> Option<Vec<Tensor>> {
        let few = |n: usize| n <= MOST_SAID;
        let is_int = |dtype: DType| matches!(dtype, DType::I32 | DType::I64 | DType::Bool);
        if known.is_empty() || !info.output_types.iter().all(|ty| !ty.is_ref && is_int(ty.dtype)) {
            return None;
        }
        if !shapes.iter().all(|shape| shape.elements().is_none_or(few)) {
            return None;
        }
        let value = |known: &Option<Known>| match known {
            Some(Known::Value(value)) if few(value.elements()) && is_int(value.dtype()) => {
                Some(value.clone())
            }
            _ => None,
        };
        let inputs: Vec<Tensor> = known.iter().map(value).collect::<Option<_>>()?;
        lone::fold(info, &inputs, &self.bounds).filter(|all| all.iter().all(|it| few(it.elements())))
    }

    /// Where a value goes that is an Enter's list or stack, and what is taken from it.
    fn follow(&mut self, n: Index, given: &[Given]) {
        let node = self.program.node(n);
        let Some(info) = node.info() else { return };
        let Some(&place) = node.inputs.first().and_then(|from| self.origins.get(from)) else { return };
        let changes = info.op.kernel.effect != Effect::Pure || info.op.kernel.lowering.is_some();
        for (i, ty) in info.output_types.iter().enumerate() {
            let source = Source { node: n, index: i as u32 };
            if matches!(ty.dtype, DType::Variant | DType::Resource) {
                self.origins.insert(source, place);
                continue;
            }
            // Shapes that were saved are the same in all iterations, as a rule.
            let Some(last) = given[place].last.as_ref().filter(|last| last.dtype() == ty.dtype) else {
                continue;
            };
            let Some(premise) = self.premise(self.n_premises).filter(|_| {
                changes && info.op.role == Role::Compute && !self.facts.values.contains_key(&source)
            }) else {
                continue;
            };
            self.n_premises += 1;
            self.facts.shapes.insert(source, last.shape().into());
            self.facts.values.insert(source, (Known::Value(last.clone()), premise));
            self.facts.assumed.insert(source, (last.clone(), premise));
        }
    }
}

/// The nodes of a loop and of those inside of it, in the order of the program.
pub(super) fn order_of(program: &Program, tree: &LoopTree<Index>, id: LoopId) -> Vec<Index> {
    let inside = |n: Index| {
        let mut at = tree.loop_of(n);
        while let Some(it) = at {
            if it == id {
                return true;
            }
            at = tree[it].parent;
        }
        false
    };
    program.order().iter().copied().filter(|n| inside(*n)).collect()
}
