//! Nodes that route values: the branches of conds, identities, constants.

use super::super::blocks::TileInput;
use super::super::code::Reg;
use super::emit::{Guard, OnBlocks, both};
use super::loops::{Place, Raiser, Runs, Value, at, in_words};
use super::{Raise, Stays};
use millstream_graph::loops::View;
use millstream_graph::op::expression::Operation;
use millstream_graph::op::{Expression, Role, Tile};
use millstream_graph::{Index, Source};
use millstream_tensor::DType;

/// How deep a value may lie that is written because another needs it, out of order.
const DEEPEST: usize = 200;

impl Raiser<'_> {
    /// Writes a node, if that has not been done.
    pub(super) fn write_node(&mut self, n: Index) -> Raise<()> {
        let node = self.program.node(n);
        let done = self.runs.contains_key(&n) || self.values.contains_key(&Source { node: n, index: 0 });
        let of_loop = match node.role() {
            Role::Enter | Role::NextIteration | Role::LoopCond => true,
            Role::Switch => self.program.is_loop_switch(n),
            Role::Merge => self.program.back_edge(n).is_some(),
            _ => false,
        };
        if done || of_loop {
            return Ok(());
        }
        self.code.check(n)?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stays(n, "is nested too deep in nodes that are out of order"));
        }
        match node.role() {
            Role::Exit => self.write_exit(n)?,
            Role::Identity => self.write_identity(n)?,
            Role::Const => self.write_constant(n)?,
            Role::NoOp | Role::ControlTrigger => {
                let runs = self.controls(n, Runs::default())?;
                self.runs.insert(n, runs);
            }
            Role::Switch => self.write_switch(n)?,
            Role::Merge => self.write_merge(n)?,
            Role::Compute => self.write_op(n)?,
            _ => return Err(Stays(n, "cannot be part of compiled code")),
        }
        self.depth -= 1;
        Ok(())
    }

    /// When a node runs that would run at `runs` but for its control inputs.
    pub(super) fn controls(&mut self, n: Index, mut runs: Runs) -> Raise<Runs> {
        for &control in &self.program.node(n).controls {
            runs = runs.and(&self.when(control)?);
        }
        Ok(runs)
    }

    /// The value of an input, with the node's control inputs.
    fn only_input(&mut self, n: Index) -> Raise<Value> {
        let Some(&source) = self.program.node(n).inputs.first() else { return Err(Stays(n, "has no input")) };
        let mut value = self.value(source)?;
        value.runs = self.controls(n, value.runs)?;
        Ok(value)
    }

    fn give(&mut self, n: Index, index: u32, value: Value) -> Raise<()> {
        let source = Source { node: n, index };
        if let Place::List(_) = value.place {
            self.read_once(source)?;
        }
        self.runs.entry(n).or_insert_with(|| value.runs.clone());
        self.values.insert(source, value);
        Ok(())
    }

    fn write_exit(&mut self, n: Index) -> Raise<()> {
        let switch = self.program.node(n).inputs.first().map(|source| source.node);
        match switch.and_then(|switch| self.tree.loop_of(switch)) {
            Some(inner) => self.write_inner(inner),
            None => Err(Stays(n, "leaves no loop")),
        }
    }

    fn write_identity(&mut self, n: Index) -> Raise<()> {
        let value = self.only_input(n)?;
        self.give(n, 0, value)
    }

    fn write_constant(&mut self, n: Index) -> Raise<()> {
        let source = Source { node: n, index: 0 };
        let (dtype, shape) = (self.dtype(source)?, self.shape(source)?);
        let value = self.program.node(n).info().and_then(|info| info.attrs.tensor("value").ok());
        if !in_words(dtype, &shape) {
            let value = value.filter(|value| *value.shape() == shape && value.dtype() == dtype);
            let value = value
                .ok_or(Stays(n, "is a constant whose value has another type than its attribute"))?
                .clone();
            let block = self.code.block(dtype, shape.clone());
            self.code.block_constants.push((block, value));
            let runs = self.controls(n, Runs::default())?;
            return self.give(n, 0, Value { place: Place::Block(block, dtype, shape), runs });
        }
        let mut words = vec![0; shape.elements()];
        let fits = value.is_some_and(|value| *value.shape() == shape && value.write_words(&mut words));
        if !fits {
            return Err(Stays(n, "is a constant that is not a number"));
        }
        let runs = self.controls(n, Runs::default())?;
        let first = match words[..] {
            [word] => self.code.constant(word),
            _ => {
                let first = self.code.words(words.len());
                let words = words.into_iter().enumerate().map(|(i, word)| (at(first, i), word));
                self.code.arrays.extend(words);
                first
            }
        };
        self.give(n, 0, Value { place: Place::Words(first, dtype, shape), runs })
    }

    /// A Switch of a cond: both sides have its value, each under the predicate.
    fn write_switch(&mut self, n: Index) -> Raise<()> {
        let [data, predicate] = self.program.node(n).inputs[..] else {
            return Err(Stays(n, "is a Switch without two inputs"));
        };
        let (data, predicate) = (self.value(data)?, self.value(predicate)?);
        let Place::Words(by, DType::Bool, shape) = &predicate.place else {
            return Err(Stays(n, "has a predicate that is not a bool"));
        };
        if shape.rank() > 0 {
            return Err(Stays(n, "has a predicate that is not a scalar"));
        }
        let runs = self.controls(n, data.runs.and(&predicate.runs))?;
        self.runs.insert(n, runs.clone());
        for (index, side) in [(0, false), (1, true)] {
            let only: Guard = [(*by, side)].into_iter().collect();
            let runs = Runs { guard: both(&runs.guard, &only), late: runs.late };
            self.give(n, index, Value { place: data.place.clone(), runs })?;
        }
        Ok(())
    }

    /// A Merge of a cond: the value of the side that was taken.
    fn write_merge(&mut self, n: Index) -> Raise<()> {
        let node = self.program.node(n);
        let ([first, second], true) = (&node.inputs[..], node.controls.is_empty()) else {
            return Err(Stays(n, "merges values that are not the two sides of one cond"));
        };
        let (a, b) = (self.value(*first)?, self.value(*second)?);
        let Some((predicate, a_is_yes, guard)) = opposite(&a.runs.guard, &b.runs.guard) else {
            return Err(Stays(n, "merges values that are not the two sides of one cond"));
        };
        let runs = Runs { guard, late: a.runs.late && b.runs.late };
        let (yes, no) = if a_is_yes { (&a, &b) } else { (&b, &a) };
        let place = match (&yes.place, &no.place) {
            (Place::Words(yes, d, s), Place::Words(no, e, t)) if d == e && s == t => {
                let to = self.code.words(s.elements());
                for i in 0..s.elements() {
                    let operands = [predicate, at(*yes, i), at(*no, i)];
                    self.code.compute_to(at(to, i), Operation::select(*d), &operands);
                }
                Place::Words(to, *d, s.clone())
            }
            (Place::Block(yes, d, s), Place::Block(no, e, t)) if d == e && s == t => {
                let expression = Tile::new(*d, 0).and_then(|_| Expression::select(*d));
                let expression = expression
                    .ok_or(Stays(n, "merges values of a dtype that compiled code does not support"))?;
                let to = self.code.block(*d, s.clone());
                let mask = TileInput::Word(predicate, DType::Bool);
                let inputs = [mask, TileInput::Whole(*yes), TileInput::Whole(*no)].into_iter().collect();
                let place = Place::Block(to, *d, s.clone());
                self.code.on_blocks(OnBlocks { expression, inputs, to });
                place
            }
            (Place::List(a), Place::List(b)) if a == b => Place::List(*a),
            _ => return Err(Stays(n, "merges a scalar with a value of another kind")),
        };
        self.give(n, 0, Value { place, runs })
    }
}

/// The predicate that two guards differ in, whether the first guard wants it true, and what they have in
/// common. `None` if they differ in more.
fn opposite(a: &Guard, b: &Guard) -> Option<(Reg, bool, Guard)> {
    let common: Guard = a.iter().filter(|literal| b.contains(literal)).copied().collect();
    if a.len() != common.len() + 1 || b.len() != a.len() {
        return None;
    }
    let only = |of: &Guard| of.iter().find(|literal| !common.contains(literal)).copied();
    let ((p, wanted), (q, other)) = (only(a)?, only(b)?);
    (p == q && wanted != other).then_some((p, wanted, common))
}
