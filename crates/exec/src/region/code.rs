//! [`Code`]: a loop as a list of instructions on registers.
//!
//! ```text
//! code of 9 instructions, 7 words, 0 lists
//!   in   w0 i32 = 0 ..
//!   0  loop 0, 8 units
//!   1  w3 = less i32(w0, w2)
//!   2  unless w3 goto 8
//! ```

use super::blocks::Tiles;
use millstream_graph::entity;
use millstream_graph::op::expression::Operation;
use millstream_graph::{Entity, Index};
use millstream_tensor::{DType, Shape, Tensor};
use std::fmt;

entity! {
    /// A register: it holds a word.
    pub struct Reg = "w";
    /// A list that a region pushes to or pops from.
    pub struct List = "list";
    /// A value too large for registers.
    pub struct Block = "b";
    /// Elementwise steps on blocks.
    pub struct TilesId = "tiles";
    /// A call of a kernel.
    pub struct CallId = "call";
}

/// The code of a region.
pub struct Code {
    /// The instructions. They begin at the first and end with [`Instruction::End`].
    pub instructions: Vec<Instruction>,
    /// The number of registers.
    pub n_words: usize,
    /// The number of words in an item of each list; 0 where items are blocks' tensors.
    pub lists: Vec<u32>,
    /// The registers that hold constants.
    pub constants: Vec<(Reg, u64)>,
    /// The dtype and shape of each block.
    pub blocks: Vec<(DType, Shape)>,
    /// The blocks that hold constants.
    pub block_constants: Vec<(Block, Tensor)>,
    /// What [`Instruction::Tiles`] computes.
    pub tiles: Vec<Tiles>,
    /// The calls of kernels.
    pub calls: Vec<Call>,
    /// Whether a call changes what outlives an iteration: a TensorArray or a stack.
    pub changes: bool,
    /// What comes in, in the order of the plan's Enters: loop variables, then invariants.
    pub inputs: Vec<Binding>,
    /// The loop variables, as places of inputs: the state between two outermost iterations.
    pub n_variables: usize,
    /// What goes out, in the order of the plan's Exits.
    pub outputs: Vec<Binding>,
}

/// A call of the kernel of a node.
#[derive(Clone, Debug)]
pub struct Call {
    /// The node.
    pub node: Index,
    /// Its op type.
    pub op: &'static str,
    /// What it reads.
    pub inputs: Vec<Passed>,
    /// Where its results go.
    pub outputs: Vec<Passed>,
    /// The estimated duration in nanoseconds.
    pub cost: u32,
}

/// A value that goes into a kernel or comes from one.
#[derive(Clone, Debug)]
pub enum Passed {
    /// In registers from this one on.
    Words(Reg, DType, Shape),
    /// In a block.
    Block(Block),
    /// The same in every call. Inputs only.
    Constant(Tensor),
}

/// A value that comes into a region or leaves it.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The dtype of the value, or of the items of a list.
    pub dtype: DType,
    /// The shape of the value, or of the items of a list.
    pub shape: Shape,
    /// Where it is.
    pub held: Held,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// In registers, one for each element, from this one on.
    Words(Reg),
    /// In a list.
    List(List),
    /// In a block.
    Block(Block),
}

/// An instruction. Targets of jumps are positions in [`Code::instructions`].
#[derive(Clone, Debug)]
pub enum Instruction {
    /// The start of an iteration. The only place where a region may pause.
    Loop {
        /// Whether it is an iteration of the outermost loop.
        outermost: bool,
        /// What the iteration costs.
        units: u32,
    },
    /// `to = operation(from)`.
    Compute {
        /// What is computed.
        operation: Operation,
        /// Where the result goes.
        to: Reg,
        /// The operands.
        from: [Reg; 3],
        /// How many of them there are.
        n: u8,
    },
    /// `to = from`.
    Copy {
        /// Where the word goes.
        to: Reg,
        /// Where it is.
        from: Reg,
    },
    /// Goes on elsewhere.
    Jump {
        /// Where.
        to: usize,
    },
    /// Goes on elsewhere if the condition is false.
    Unless {
        /// A bool.
        condition: Reg,
        /// Where.
        to: usize,
    },
    /// Ends the region with [`Exit::Failed`](super::Exit::Failed) if the condition is true.
    Fail {
        /// A bool.
        condition: Reg,
    },
    /// Appends an item to a list. Fails if there is no room.
    Push {
        /// The list.
        list: List,
        /// The first of the registers that hold the item.
        from: Reg,
    },
    /// Takes the last item of a list. Fails if there is none.
    Pop {
        /// The list.
        list: List,
        /// The first of the registers that the item goes to.
        to: Reg,
    },
    /// Elementwise steps on blocks. Fails if there is no memory.
    Tiles {
        /// Which.
        tiles: TilesId,
    },
    /// Runs a kernel. Fails if it does, or gives values of other shapes than the program says.
    Call {
        /// Which.
        call: CallId,
    },
    /// The block gets the other's tensor, in its own shape.
    Share {
        /// The block.
        to: Block,
        /// The other.
        from: Block,
    },
    /// Two blocks exchange their tensors.
    Swap {
        /// One.
        a: Block,
        /// The other.
        b: Block,
    },
    /// Appends a block's tensor to a list. Fails if there is no room.
    PushBlock {
        /// The list.
        list: List,
        /// The block.
        from: Block,
    },
    /// Takes the last tensor of a list. Fails if there is none.
    PopBlock {
        /// The list.
        list: List,
        /// The block that it goes to.
        to: Block,
    },
    /// The end.
    End,
}

impl Instruction {
    /// The units that the instruction costs: one is about as long as an addition.
    pub(super) fn units(&self, tiles: &[Tiles], calls: &[Call]) -> u32 {
        match self {
            Instruction::Call { call } => calls[call.index()].cost.saturating_add(64),
            Instruction::Tiles { tiles: which } => tiles[which.index()].units().saturating_add(32),
            Instruction::Compute { operation, .. } => match operation.name {
                "add" | "sub" | "mul" | "neg" | "less" | "less_equal" | "equal" | "and" | "or" | "not"
                | "select" => 1,
                _ => 16,
            },
            Instruction::Push { .. } | Instruction::Pop { .. } => 4,
            Instruction::PushBlock { .. } | Instruction::PopBlock { .. } => 16,
            Instruction::Loop { .. } => 0,
            _ => 1,
        }
    }
}

impl Code {
    /// The bytes of its registers and blocks.
    pub fn bytes(&self) -> usize {
        let of = |(dtype, shape): &(DType, Shape)| dtype.size().unwrap_or(0) * shape.elements();
        self.n_words * size_of::<u64>() + self.blocks.iter().map(of).sum::<usize>()
    }

    /// The groups of elementwise steps that are computed together, each as text.
    pub fn groups(&self) -> impl Iterator<Item = String> {
        self.tiles.iter().filter(|tiles| !tiles.is_empty()).map(Tiles::to_string)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, lists) = (self.instructions.len(), self.lists.len());
        write!(f, "code of {n} instructions, {} words, {lists} lists", self.n_words)?;
        match self.blocks.len() {
            0 => writeln!(f)?,
            n => writeln!(f, ", {n} blocks")?,
        }
        for (what, bindings) in [("in", &self.inputs), ("out", &self.outputs)] {
            for Binding { dtype, shape, held } in bindings {
                match held {
                    Held::Words(reg) => writeln!(f, "  {what} {reg}: {dtype}{shape}")?,
                    Held::List(list) => writeln!(f, "  {what} {list}: items of {dtype}{shape}")?,
                    Held::Block(block) => writeln!(f, "  {what} {block}: {dtype}{shape}")?,
                }
            }
        }
        for (reg, word) in &self.constants {
            writeln!(f, "  constant {reg} = {word:#x}")?;
        }
        self.instructions.iter().enumerate().try_for_each(|(i, it)| match it {
            Instruction::Tiles { tiles } => writeln!(f, "  {i:<3} {}", self.tiles[tiles.index()]),
            Instruction::Call { call } => writeln!(f, "  {i:<3} {}", self.calls[call.index()]),
            _ => writeln!(f, "  {i:<3} {it}"),
        })
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Instruction::Loop { outermost, units } => {
                write!(f, "{} of {units} units", if *outermost { "outermost loop" } else { "loop" })
            }
            Instruction::Compute { operation, to, from, n } => {
                write!(f, "{to} = {} {}(", operation.name, operation.dtype)?;
                for (i, reg) in from.iter().take((*n).into()).enumerate() {
                    write!(f, "{}{reg}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Instruction::Copy { to, from } => write!(f, "{to} = {from}"),
            Instruction::Jump { to } => write!(f, "goto {to}"),
            Instruction::Unless { condition, to } => write!(f, "unless {condition} goto {to}"),
            Instruction::Fail { condition } => write!(f, "fail if {condition}"),
            Instruction::Push { list, from } => write!(f, "push {list}, {from}"),
            Instruction::Pop { list, to } => write!(f, "{to} = pop {list}"),
            Instruction::Tiles { tiles } => write!(f, "{tiles}"),
            Instruction::Call { call } => write!(f, "{call}"),
            Instruction::Share { to, from } => write!(f, "{to} = {from}"),
            Instruction::Swap { a, b } => write!(f, "swap {a}, {b}"),
            Instruction::PushBlock { list, from } => write!(f, "push {list}, {from}"),
            Instruction::PopBlock { list, to } => write!(f, "{to} = pop {list}"),
            Instruction::End => f.write_str("end"),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, output) in self.outputs.iter().enumerate() {
            write!(f, "{}{output}", if i == 0 { "" } else { ", " })?;
        }
        write!(f, " = {}(", self.op)?;
        for (i, input) in self.inputs.iter().enumerate() {
            write!(f, "{}{input}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Passed::Words(reg, dtype, shape) => write!(f, "{reg} {dtype}{shape}"),
            Passed::Block(block) => write!(f, "{block}"),
            Passed::Constant(value) => write!(f, "constant {}{}", value.dtype(), value.shape()),
        }
    }
}

impl Passed {
    /// The registers, as a range of their numbers.
    pub fn words(&self) -> std::ops::Range<usize> {
        match self {
            Passed::Words(reg, _, shape) => reg.index()..reg.index() + shape.elements(),
            Passed::Block(_) | Passed::Constant(_) => 0..0,
        }
    }
}

impl Binding {
    /// The number of words of the value or of an item.
    pub fn width(&self) -> usize {
        self.shape.elements()
    }

    /// The registers of the value; none for a list or a block.
    pub fn words(&self) -> std::ops::Range<usize> {
        match self.held {
            Held::Words(reg) => reg.index()..reg.index() + self.width(),
            Held::List(_) | Held::Block(_) => 0..0,
        }
    }
}
