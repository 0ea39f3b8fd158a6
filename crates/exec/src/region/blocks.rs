//! [`Blocks`]: the values of a region that are too large for registers, and what instructions do with them.
//!
//! A block holds a tensor of a fixed dtype and shape. Elementwise steps run on blocks tile by tile; a
//! step's block is used again in the next iteration unless something else holds its tensor, so that a loop
//! that keeps nothing allocates nothing.

use super::code::{Block, Call, CallId, Code, Instruction, List, Passed, Reg};
use crate::tiles::{Floats, FloatsIn, Reads, TileProgram};
use millstream_graph::Entity;
use millstream_graph::op::{TileMut, TileRef};
use millstream_state::journal::{self, Journal};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Spread, Tensor};
use smallvec::SmallVec;
use std::fmt;

/// Elementwise steps on blocks.
#[derive(Debug)]
pub struct Tiles {
    pub(super) program: TileProgram,
    pub(super) inputs: Vec<TileInput>,
    /// The blocks that are written. One that is also read is written in place, unless something else holds
    /// its tensor.
    pub(super) outputs: Vec<Block>,
    /// The number of elements; 0 where there is nothing to do.
    pub(super) n: usize,
}

/// What elementwise steps read.
#[derive(Clone, Debug)]
pub(super) enum TileInput {
    /// A block with as many elements as the results.
    Whole(Block),
    /// A word, for all elements.
    Word(Reg, DType),
    /// A block that is repeated along some axes.
    Spread(Block, Spread),
}

/// The blocks of a running region, and the lists of them.
#[derive(Debug, Default)]
pub struct Blocks {
    tensors: Vec<Tensor>,
    stacks: Vec<Stack>,
    /// As [`Code::changes`].
    changes: bool,
    /// What calls have changed in this outermost iteration.
    pub(super) journal: Journal,
}

/// Runs the kernels of a region.
pub trait Calls {
    /// Runs one. Returns false if it fails.
    fn call(&self, call: CallId, inputs: &mut [Tensor], outputs: &mut [Option<Tensor>]) -> bool;
}

/// A list of blocks' tensors.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    /// The items. Those behind `len` were taken in this outermost iteration.
    items: Charged<Tensor>,
    len: usize,
    /// What `len` was at the start of the outermost iteration.
    before: usize,
}

impl TileInput {
    /// The block, if it is one.
    pub(super) fn block(&self) -> Option<Block> {
        match self {
            TileInput::Word(..) => None,
            TileInput::Whole(block) | TileInput::Spread(block, _) => Some(*block),
        }
    }

    /// Whether both read the same. Two inputs that are spread count as different.
    pub(super) fn is(&self, other: &TileInput) -> bool {
        match (self, other) {
            (TileInput::Whole(a), TileInput::Whole(b)) => a == b,
            (TileInput::Word(a, d), TileInput::Word(b, e)) => a == b && d == e,
            _ => false,
        }
    }
}

impl Tiles {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The registers that are read, with the dtypes of their words.
    pub fn words(&self) -> impl Iterator<Item = (Reg, DType)> {
        self.inputs.iter().filter_map(|input| match input {
            TileInput::Word(reg, dtype) => Some((*reg, *dtype)),
            TileInput::Whole(_) | TileInput::Spread(..) => None,
        })
    }

    /// The units that they cost.
    pub(super) fn units(&self) -> u32 {
        self.program.cost(self.n) as u32
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        for (i, block) in self.outputs.iter().enumerate() {
            write!(f, "{}{block}", if i == 0 { "" } else { ", " })?;
        }
        write!(f, " = tiles of {} elements of", self.n)?;
        for (i, input) in self.inputs.iter().enumerate() {
            f.write_str(if i == 0 { " " } else { ", " })?;
            match input {
                TileInput::Whole(block) => write!(f, "{block}")?,
                TileInput::Word(reg, _) => write!(f, "{reg}")?,
                TileInput::Spread(block, _) => write!(f, "{block} spread")?,
            }
        }
        write!(f, ": {}", self.program)
    }
}

impl Blocks {
    pub(super) fn new(code: &Code) -> Blocks {
        let mut tensors = vec![nothing(); code.blocks.len()];
        for (block, value) in &code.block_constants {
            tensors[block.index()] = value.clone();
        }
        let stacks = code.lists.iter().map(|_| Stack::default()).collect();
        Blocks { tensors, stacks, changes: code.changes, journal: Journal::default() }
    }

    /// An outermost iteration begins.
    pub(super) fn begin(&mut self) {
        if self.changes {
            journal::forget();
        }
        for stack in &mut self.stacks {
            stack.items.truncate(stack.len);
            stack.before = stack.len;
        }
    }

    /// Lists are as at the start of the outermost iteration again.
    pub(super) fn undo(&mut self) {
        if self.changes {
            journal::undo();
        }
        self.stacks.iter_mut().for_each(|stack| stack.len = stack.before);
    }

    /// Executes the instruction at this position, which is one about blocks or the start of an outermost
    /// iteration. Returns false if it fails.
    pub fn step(&mut self, code: &Code, at: usize, words: &mut [u64], calls: &dyn Calls) -> bool {
        match code.instructions.get(at) {
            Some(Instruction::Loop { .. }) => self.begin(),
            Some(Instruction::Tiles { tiles }) => {
                return self.tiles(code, &code.tiles[tiles.index()], words).is_some();
            }
            Some(Instruction::Call { call }) => return self.call(code, *call, words, calls).is_some(),
            Some(Instruction::Share { to, from }) => {
                let (shape, from) = (&code.blocks[to.index()].1, &self.tensors[from.index()]);
                let same = from.shape() == shape || is_nothing(from);
                let value = if same { Ok(from.clone()) } else { from.reshape(shape.clone()) };
                let Ok(value) = value else { return false };
                self.tensors[to.index()] = value;
            }
            Some(Instruction::Swap { a, b }) => self.tensors.swap(a.index(), b.index()),
            Some(Instruction::PushBlock { list, from }) => {
                let item = self.tensors[from.index()].clone();
                let stack = &mut self.stacks[list.index()];
                stack.items.truncate(stack.len);
                if stack.items.push(item).is_err() {
                    return false;
                }
                stack.len += 1;
            }
            Some(Instruction::PopBlock { list, to }) => {
                let stack = &mut self.stacks[list.index()];
                let Some(at) = stack.len.checked_sub(1) else { return false };
                let Some(item) = stack.items.get(at) else { return false };
                self.tensors[to.index()] = item.clone();
                stack.len = at;
            }
            _ => return false,
        }
        true
    }

    fn call(&mut self, code: &Code, id: CallId, words: &mut [u64], calls: &dyn Calls) -> Option<()> {
        let Call { inputs, outputs, .. } = &code.calls[id.index()];
        let mut given: SmallVec<[Tensor; 4]> = SmallVec::new();
        for input in inputs {
            given.push(match input {
                Passed::Block(block) => self.tensors[block.index()].clone(),
                Passed::Constant(value) => value.clone(),
                Passed::Words(_, dtype, shape) => {
                    Tensor::of_words(*dtype, shape.clone(), words.get(input.words())?).ok()?
                }
            });
        }
        let mut results: SmallVec<[Option<Tensor>; 2]> = SmallVec::from_elem(None, outputs.len());
        if !calls.call(id, &mut given, &mut results) {
            return None;
        }
        for (output, result) in outputs.iter().zip(results) {
            let result = result?;
            match output {
                Passed::Block(block) => {
                    let (dtype, shape) = &code.blocks[block.index()];
                    if result.dtype() != *dtype || result.shape() != shape {
                        return None;
                    }
                    self.tensors[block.index()] = result;
                }
                Passed::Words(_, dtype, shape) => {
                    let suits = result.dtype() == *dtype && result.shape() == shape;
                    if !suits || !result.write_words(words.get_mut(output.words())?) {
                        return None;
                    }
                }
                Passed::Constant(_) => return None,
            }
        }
        Some(())
    }

    fn tiles(&mut self, code: &Code, it: &Tiles, words: &[u64]) -> Option<()> {
        if it.is_empty() {
            return Some(());
        }
        for block in it.inputs.iter().filter_map(TileInput::block) {
            // What a branch that was not taken would have computed. Nothing needs what becomes of it.
            if is_nothing(&self.tensors[block.index()]) {
                let (dtype, shape) = &code.blocks[block.index()];
                self.tensors[block.index()] = Tensor::zeros(*dtype, shape.clone()).ok()?;
            }
        }
        if let Some(floats) = it.program.floats()
            && let Some(done) = self.floats(code, it, floats, words)
        {
            return done.then_some(());
        }
        // All memory is there before anything is written: a failure leaves the blocks as they are.
        let mut outputs: SmallVec<[Tensor; 4]> = SmallVec::new();
        for block in &it.outputs {
            let (dtype, shape) = &code.blocks[block.index()];
            let before = &mut self.tensors[block.index()];
            let suits = before.dtype() == *dtype && before.shape() == shape && TileMut::of(before).is_some();
            outputs.push(match suits {
                true => nothing(),
                false => Tensor::anything(*dtype, shape.clone()).ok()?,
            });
        }
        for (block, output) in it.outputs.iter().zip(&mut outputs) {
            if is_nothing(output) {
                std::mem::swap(output, &mut self.tensors[block.index()]);
            }
        }
        let done = self.write(it, words, &mut outputs);
        for (block, output) in it.outputs.iter().zip(outputs) {
            self.tensors[block.index()] = output;
        }
        done
    }

    /// As [`Blocks::tiles`], by the form for slices. `None`, with nothing changed, if a value does not suit
    /// it.
    fn floats(&mut self, code: &Code, it: &Tiles, floats: &Floats, words: &[u64]) -> Option<bool> {
        let mut outputs: SmallVec<[Tensor; 4]> = SmallVec::new();
        for block in &it.outputs {
            // Blocks have their own dtype and shape, if they were written at all.
            let fresh = match self.tensors[block.index()].make_mut::<f32>() {
                Some(_) => Ok(nothing()),
                None => Tensor::anything(DType::F32, code.blocks[block.index()].1.clone()),
            };
            match fresh {
                Ok(fresh) => outputs.push(fresh),
                Err(_) => return Some(false),
            }
        }
        let in_place: SmallVec<[bool; 4]> = outputs.iter().map(is_nothing).collect();
        for ((block, output), in_place) in it.outputs.iter().zip(&mut outputs).zip(&in_place) {
            if *in_place {
                std::mem::swap(output, &mut self.tensors[block.index()]);
            }
        }
        let done = self.write_floats(it, floats, words, &mut outputs);
        for ((block, output), in_place) in it.outputs.iter().zip(&mut outputs).zip(in_place) {
            if in_place || done.is_some() {
                std::mem::swap(output, &mut self.tensors[block.index()]);
            }
        }
        done
    }

    fn write_floats(
        &self,
        it: &Tiles,
        floats: &Floats,
        words: &[u64],
        outputs: &mut [Tensor],
    ) -> Option<bool> {
        let mut reads: SmallVec<[FloatsIn<'_>; 8]> = SmallVec::new();
        for input in &it.inputs {
            reads.push(match input {
                TileInput::Word(reg, DType::F32) => FloatsIn::One(f32::from_bits(words[reg.index()] as u32)),
                TileInput::Whole(block) => match &self.tensors[block.index()] {
                    // Its memory is an output's.
                    taken if is_nothing(taken) => {
                        FloatsIn::Given(it.outputs.iter().position(|output| output == block)?)
                    }
                    tensor => FloatsIn::Whole(tensor.as_slice::<f32>().ok()?),
                },
                TileInput::Word(..) | TileInput::Spread(..) => return None,
            });
        }
        let mut to: SmallVec<[&mut [f32]; 4]> = SmallVec::new();
        for output in outputs {
            to.push(output.make_mut::<f32>()?);
        }
        Some(floats.run(it.n, &reads, &mut to))
    }

    fn write(&self, it: &Tiles, words: &[u64], outputs: &mut [Tensor]) -> Option<()> {
        let mut reads: SmallVec<[Reads<'_>; 8]> = SmallVec::new();
        for input in &it.inputs {
            reads.push(match input {
                TileInput::Word(reg, dtype) => Reads::One(words[reg.index()], *dtype),
                TileInput::Whole(block) => match &self.tensors[block.index()] {
                    // Its memory is an output's.
                    taken if is_nothing(taken) => {
                        let k = it.outputs.iter().position(|output| output == block)?;
                        Reads::Given(k, outputs[k].dtype())
                    }
                    tensor => Reads::Whole(TileRef::of(tensor)?),
                },
                TileInput::Spread(block, spread) => {
                    Reads::Spread(TileRef::of(&self.tensors[block.index()])?, spread, 0)
                }
            });
        }
        let mut to: SmallVec<[TileMut<'_>; 4]> = SmallVec::new();
        for output in outputs {
            to.push(TileMut::of(output)?);
        }
        it.program.run(it.n, &reads, &mut to).then_some(())
    }

    /// The tensor of a block.
    pub(crate) fn get(&self, block: Block) -> &Tensor {
        &self.tensors[block.index()]
    }

    /// Gives a block its first tensor, of the block's dtype and shape.
    pub(crate) fn set(&mut self, block: Block, value: Tensor) {
        self.tensors[block.index()] = value;
    }

    /// Takes the items of a list.
    pub(crate) fn take_items(&mut self, list: List) -> Vec<Tensor> {
        let Stack { mut items, len, .. } = std::mem::take(&mut self.stacks[list.index()]);
        items.truncate(len);
        items.iter().cloned().collect()
    }

    /// Gives a list its first items. Returns false if there is no room.
    pub(crate) fn set_items(&mut self, list: List, items: Vec<Tensor>) -> bool {
        let len = items.len();
        let Ok(items) = Charged::holding(items) else { return false };
        self.stacks[list.index()] = Stack { items, len, before: len };
        true
    }
}

/// What a block holds that was never written.
fn nothing() -> Tensor {
    Tensor::scalar(false)
}

/// A block of bools has more than one element, and therefore axes.
fn is_nothing(tensor: &Tensor) -> bool {
    tensor.rank() == 0 && tensor.dtype() == DType::Bool
}
