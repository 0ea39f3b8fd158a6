//! Nodes that compute, by the lowering of their op.

use super::super::blocks::TileInput;
use super::super::code::{Call, Instruction, List, Passed, Reg};
use super::emit::OnBlocks;
use super::loops::{Place, Raiser, Runs, Value, at, in_words};
use super::{COMPUTED_SHAPE, Raise, Stays};
use crate::machine::LONG_NS;
use crate::plan::cost;
use millstream_graph::op::expression::Operation;
use millstream_graph::op::{Effect, Expression, KernelBody, Lowering, Role, Tile};
use millstream_graph::{Entity, Index, Source};
use millstream_tensor::{DType, Shape, Spread, Tensor};
use smallvec::SmallVec;

type Inputs = SmallVec<[Value; 3]>;

impl Raiser<'_> {
    pub(super) fn write_op(&mut self, n: Index) -> Raise<()> {
        let node = self.program.node(n);
        let Some(info) = node.info() else { return Err(Stays(n, "is fed")) };
        let kernel = &info.op.kernel;
        if kernel.effect != Effect::Pure {
            if !kernel.undoable {
                return Err(Stays(n, "does more than compute"));
            }
            self.code.changes = true;
            return self.write_call(n);
        }
        let Some(lowering) = kernel.lowering.and_then(|pick| pick(info)) else { return self.write_call(n) };
        let mut inputs = Inputs::new();
        let mut runs = Runs::default();
        // What says the shape of an item is not computed with.
        let n_read = if matches!(lowering, Lowering::PopBack) { 1 } else { node.inputs.len() };
        for source in &node.inputs[..n_read.min(node.inputs.len())] {
            let value = self.value(*source)?;
            runs = runs.and(&value.runs);
            inputs.push(value);
        }
        let runs = self.controls(n, runs)?;
        self.runs.insert(n, runs.clone());
        let written = match lowering {
            Lowering::Elements(expression) => self.write_elements(n, &expression, &inputs, runs, false),
            Lowering::Broadcast(expression) => self.write_elements(n, &expression, &inputs, runs, true),
            Lowering::SameElements => self.write_same(n, &inputs, &runs),
            Lowering::PushBack => return self.write_push(n, &inputs, runs),
            Lowering::PopBack => return self.write_pop(n, &inputs, runs),
        };
        // What cannot be computed by steps can be by the kernel, unless that cannot be called either.
        written.or_else(|why| self.write_call(n).map_err(|_| why))
    }

    /// Calls the node's kernel. Only what the machine runs at once, on its own thread: longer work may
    /// overlap.
    fn write_call(&mut self, n: Index) -> Raise<()> {
        let node = self.program.node(n);
        let Some(info) = node.info() else { return Err(Stays(n, "is fed")) };
        if matches!(info.op.kernel.body, KernelBody::Structural | KernelBody::Waits(_)) {
            return Err(Stays(n, "has no kernel that runs without waiting"));
        }
        let mut runs = Runs::default();
        let (mut inputs, mut examples) = (Vec::new(), Vec::new());
        for source in &node.inputs {
            let (passed, example, when) = self.pass(n, *source)?;
            runs = runs.and(&when);
            inputs.push(passed);
            examples.push(example);
        }
        let runs = self.controls(n, runs)?;
        if !runs.late && !self.in_condition {
            return Err(Stays(n, "may fail, and runs before the condition of the loop is known"));
        }
        let cost = cost(info, &examples);
        if cost >= LONG_NS {
            return Err(Stays(n, "takes long enough to overlap with other work"));
        }
        let mut outputs = Vec::new();
        let mut places = Vec::new();
        for index in 0..node.n_outputs() as u32 {
            let source = Source { node: n, index };
            let (dtype, shape) = (self.dtype(source)?, self.shape(source)?);
            if dtype == DType::Variant {
                return Err(Stays(n, "has a list as output that compiled code does not support"));
            }
            let place = self.room(dtype, shape);
            outputs.push(match &place {
                Place::Words(reg, dtype, shape) => Passed::Words(*reg, *dtype, shape.clone()),
                Place::Block(block, ..) => Passed::Block(*block),
                Place::List(_) => return Err(Stays(n, "gives a list")),
            });
            places.push((source, place));
        }
        let call = Call { node: n, op: info.op.name, inputs, outputs, cost: cost as u32 };
        self.code.guarded(&runs.guard, |code| code.call(call));
        self.runs.insert(n, runs.clone());
        for (source, place) in places {
            self.check_value(source, &place, &runs)?;
            self.values.insert(source, Value { place, runs: runs.clone() });
        }
        Ok(())
    }

    /// Fails where a value is not the one that was assumed, if anything depends on it.
    fn check_value(&mut self, source: Source, place: &Place, runs: &Runs) -> Raise<()> {
        let Some(assumed) = self.facts.and_then(|facts| facts.to_check(source)) else { return Ok(()) };
        let no = Stays(source.node, "has an output whose shape cannot be checked");
        let Place::Words(first, dtype, shape) = place else { return Err(no) };
        let mut words = vec![0; assumed.elements()];
        if assumed.shape() != shape || assumed.dtype() != *dtype || !assumed.write_words(&mut words) {
            return Err(no);
        }
        for (i, word) in words.into_iter().enumerate() {
            let wanted = self.code.constant(word);
            let same = self.code.compute(Operation::same(*dtype), &[at(*first, i), wanted]);
            let differs = self.code.compute(Operation::NOT, &[same]);
            self.code.fail(differs, &runs.guard);
        }
        Ok(())
    }

    /// How a kernel gets a value, a value of the same type, and when it is there.
    fn pass(&mut self, n: Index, source: Source) -> Raise<(Passed, Tensor, Runs)> {
        let maker = self.program.node(source.node);
        if let (Role::Const, Some(info)) = (maker.role(), maker.info())
            && let Ok(value) = info.attrs.tensor("value")
        {
            return Ok((Passed::Constant(value.clone()), value.clone(), self.when(source.node)?));
        }
        let Value { place, runs } = self.value(source)?;
        let (passed, dtype, shape) = match place {
            Place::Words(reg, dtype, shape) => (Passed::Words(reg, dtype, shape.clone()), dtype, shape),
            Place::Block(block, dtype, shape) => {
                let own = self.code.blocks[block.index()].1.clone();
                if own != shape {
                    return Err(Stays(n, "reads a value in another shape than it has"));
                }
                (Passed::Block(block), dtype, shape)
            }
            Place::List(_) => return Err(Stays(n, "is an op on lists that is not compiled yet")),
        };
        if dtype == DType::Resource {
            return Ok((passed, Tensor::scalar(false), runs));
        }
        let example = Tensor::zeros(dtype, shape)
            .map_err(|_| Stays(n, "has inputs that exceed the memory of compiled code"))?;
        Ok((passed, example, runs))
    }

    fn write_elements(
        &mut self,
        n: Index,
        expression: &Expression,
        inputs: &Inputs,
        runs: Runs,
        broadcasts: bool,
    ) -> Raise<()> {
        let source = Source { node: n, index: 0 };
        let (dtype, shape) = (self.dtype(source)?, self.shape(source)?);
        if !in_words(dtype, &shape) {
            return self.write_on_blocks(n, expression, inputs, runs, broadcasts);
        }
        let mut from: SmallVec<[(Reg, &Shape); 3]> = SmallVec::new();
        let mut whole = Shape::from([]);
        for value in inputs {
            let Place::Words(reg, _, own) = &value.place else {
                return Err(Stays(n, "reduces many elements to few"));
            };
            if !broadcasts && own.rank() > 0 && *own != shape {
                return Err(Stays(n, "combines values of two shapes"));
            }
            whole = whole.broadcast(own).ok_or(Stays(n, "has inputs whose shapes do not broadcast"))?;
            from.push((*reg, own));
        }
        if whole != shape && !inputs.is_empty() && (broadcasts || whole.rank() > 0) {
            return Err(Stays(n, "has an output of an unexpected shape"));
        }
        if expression.fails.is_some() && !runs.late {
            return Err(Stays(n, "may fail, and runs before the condition of the loop is known"));
        }
        let to = self.code.words(shape.elements());
        for i in 0..shape.elements() {
            let operands: SmallVec<[Reg; 3]> =
                from.iter().map(|(reg, own)| at(*reg, element(i, own, &shape))).collect();
            if let Some(fails) = self.code.expression(expression, &operands, at(to, i)) {
                self.code.fail(fails, &runs.guard);
            }
        }
        self.values.insert(source, Value { place: Place::Words(to, dtype, shape), runs });
        Ok(())
    }

    /// As `write_elements`, of more elements than registers hold.
    fn write_on_blocks(
        &mut self,
        n: Index,
        expression: &Expression,
        inputs: &Inputs,
        runs: Runs,
        broadcasts: bool,
    ) -> Raise<()> {
        let source = Source { node: n, index: 0 };
        let (dtype, shape) = (self.dtype(source)?, self.shape(source)?);
        if expression.fails.is_some() {
            return Err(Stays(n, "may fail for some of its elements"));
        }
        if expression.steps.iter().any(|step| step.operation.tile.is_none()) {
            return Err(Stays(n, "has a step that is compiled for few elements only"));
        }
        let mut from: SmallVec<[TileInput; 3]> = SmallVec::new();
        for value in inputs {
            from.push(match &value.place {
                Place::Words(reg, dtype, own) if own.elements() == 1 && (broadcasts || own.rank() == 0) => {
                    TileInput::Word(*reg, *dtype)
                }
                Place::Block(block, _, own) if *own == shape => TileInput::Whole(*block),
                Place::Block(block, _, own)
                    if broadcasts && own.broadcast(&shape).as_ref() == Some(&shape) =>
                {
                    TileInput::Spread(*block, Spread::new(own, &shape))
                }
                Place::List(_) => return Err(Stays(n, "computes with a list")),
                _ => return Err(Stays(n, "broadcasts few elements to many")),
            });
        }
        let has_tiles = |value: &Value| match &value.place {
            Place::Block(_, dtype, _) => Tile::new(*dtype, 0).is_some(),
            Place::Words(..) | Place::List(_) => true,
        };
        if Tile::new(dtype, 0).is_none() || !inputs.iter().all(has_tiles) {
            return Err(Stays(n, "has a dtype that compiled code does not support for many elements"));
        }
        let to = self.code.block(dtype, shape.clone());
        self.code.on_blocks(OnBlocks { expression: expression.clone(), inputs: from, to });
        self.values.insert(source, Value { place: Place::Block(to, dtype, shape), runs });
        Ok(())
    }

    /// The outputs are the inputs, in other shapes. The op's other inputs say the shape and must be
    /// constants: a program may promise another shape than the run has.
    fn write_same(&mut self, n: Index, inputs: &Inputs, runs: &Runs) -> Raise<()> {
        let node = self.program.node(n);
        let mut says_shape = node.inputs.iter().skip(node.n_outputs());
        let is_known = |source: &Source| {
            self.program.node(source.node).role() == Role::Const
                || self.facts.is_some_and(|facts| facts.decides(*source))
        };
        if !says_shape.all(is_known) {
            return Err(Stays(n, COMPUTED_SHAPE));
        }
        for index in 0..self.program.node(n).n_outputs() as u32 {
            let source = Source { node: n, index };
            let Some(Value { place, .. }) = inputs.get(index as usize) else {
                return Err(Stays(n, "has an output, but no input"));
            };
            let place = match place {
                Place::Words(reg, dtype, own) => {
                    let shape = self.shape(source)?;
                    if shape.elements() != own.elements() {
                        return Err(Stays(n, "changes the number of elements"));
                    }
                    Place::Words(*reg, *dtype, shape)
                }
                Place::Block(block, dtype, own) => {
                    let shape = self.shape(source)?;
                    if shape.elements() != own.elements() {
                        return Err(Stays(n, "changes the number of elements"));
                    }
                    if shape == *own {
                        Place::Block(*block, *dtype, shape)
                    } else {
                        let to = self.code.block(*dtype, shape.clone());
                        self.code.emit(Instruction::Share { to, from: *block });
                        Place::Block(to, *dtype, shape)
                    }
                }
                Place::List(list) => {
                    self.read_once(source)?;
                    Place::List(*list)
                }
            };
            self.values.insert(source, Value { place, runs: runs.clone() });
        }
        Ok(())
    }

    fn write_push(&mut self, n: Index, inputs: &Inputs, runs: Runs) -> Raise<()> {
        let [Value { place: Place::List(list), .. }, Value { place: item, .. }] = &inputs[..] else {
            return Err(Stays(n, "pushes to a list that is not a variable of the loop"));
        };
        let list = *list;
        let (dtype, shape, push) = match item {
            Place::Words(from, dtype, shape) => (*dtype, shape, Instruction::Push { list, from: *from }),
            Place::Block(from, dtype, shape) => (*dtype, shape, Instruction::PushBlock { list, from: *from }),
            Place::List(_) => return Err(Stays(n, "pushes a list onto a list")),
        };
        self.uses(n, list, dtype, shape, &runs)?;
        self.code.lists[list.index()].pushed = true;
        self.code.guarded(&runs.guard, |code| code.emit(push));
        let source = Source { node: n, index: 0 };
        self.read_once(source)?;
        self.values.insert(source, Value { place: Place::List(list), runs });
        Ok(())
    }

    fn write_pop(&mut self, n: Index, inputs: &Inputs, runs: Runs) -> Raise<()> {
        let [Value { place: Place::List(list), .. }] = &inputs[..] else {
            return Err(Stays(n, "pops from a list that is not a variable of the loop"));
        };
        let (rest, item) = (Source { node: n, index: 0 }, Source { node: n, index: 1 });
        let (dtype, shape) = (self.dtype(item)?, self.shape(item)?);
        if dtype == DType::Variant {
            return Err(Stays(n, "pops a list from a list"));
        }
        self.uses(n, *list, dtype, &shape, &runs)?;
        self.code.lists[list.index()].popped = true;
        let list = *list;
        let place = self.room(dtype, shape);
        let pop = match &place {
            Place::Block(to, ..) => Instruction::PopBlock { list, to: *to },
            Place::Words(to, ..) => Instruction::Pop { list, to: *to },
            Place::List(_) => return Err(Stays(n, "pops a list from a list")),
        };
        self.code.guarded(&runs.guard, |code| code.emit(pop));
        self.read_once(rest)?;
        self.check_value(item, &place, &runs)?;
        self.values.insert(rest, Value { place: Place::List(list), runs: runs.clone() });
        self.values.insert(item, Value { place, runs });
        Ok(())
    }

    /// Notes what a list holds.
    fn uses(&mut self, n: Index, list: List, dtype: DType, shape: &Shape, runs: &Runs) -> Raise<()> {
        if shape.elements() == 0 {
            return Err(Stays(n, "pushes items without elements"));
        }
        if !runs.late {
            return Err(Stays(n, "changes a list before the condition of the loop is known"));
        }
        match &mut self.code.lists[list.index()].item {
            Some(item) if *item != (dtype, shape.clone()) => Err(Stays(n, "pushes items of several kinds")),
            item => {
                *item = Some((dtype, shape.clone()));
                Ok(())
            }
        }
    }
}

/// Which element of an operand of shape `own` goes into element `i` of a result of shape `whole`.
fn element(i: usize, own: &Shape, whole: &Shape) -> usize {
    let (mut rest, mut at, mut stride) = (i, 0, 1);
    let lead = whole.rank() - own.rank().min(whole.rank());
    for axis in (0..whole.rank()).rev() {
        let (size, place) = (whole[axis].max(1), rest % whole[axis].max(1));
        rest /= size;
        if let Some(own_axis) = axis.checked_sub(lead) {
            if own[own_axis] != 1 {
                at += place * stride;
            }
            stride *= own[own_axis];
        }
    }
    at
}
