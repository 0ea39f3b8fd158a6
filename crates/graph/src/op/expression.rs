//! [`Expression`]: what an elementwise op computes, step by step, so that a compiler can read it; and
//! [`Lowering`], what it may do instead of running a kernel.
//!
//! An element is a [word](millstream_tensor::Word): its bits in the low end of a `u64`. A step has a name and
//! a dtype that say what it computes, and a function that computes it. A compiler that knows the name writes
//! code of its own; any other calls the function. Both give the same bits.
//!
//! ```text
//! SquaredDifference of f32:  step0 = sub f32(input0, input1)
//!                            step1 = mul f32(step0, step0)
//! ```

use super::tile::{TileElement, TileFn, TileFns, TileMut, TileRef};
use millstream_tensor::{DType, Word, with_word};
use smallvec::SmallVec;
use std::fmt;

/// Computes a step. Arguments that the step does not have are 0.
pub type WordFn = extern "C" fn(u64, u64, u64) -> u64;

/// How a compiler computes the outputs of an op.
#[derive(Clone, Debug)]
pub enum Lowering {
    /// Each element of the output is this expression of one element of each input. An input has the shape of
    /// the output or is a scalar.
    Elements(Expression),
    /// As `Elements`, with broadcasting.
    Broadcast(Expression),
    /// Output `i` has the elements of input `i`, in the same order.
    SameElements,
    /// Appends input 1 to the list in input 0.
    PushBack,
    /// Takes the last item, which is output 1, off the list in input 0.
    PopBack,
}

/// The computation of one element of the output from one element of each input.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The steps, each after those that it reads.
    pub steps: Vec<Step>,
    /// The element of the output.
    pub value: Operand,
    /// A bool: whether the op has no value and fails.
    pub fails: Option<Operand>,
}

/// A step of an [`Expression`].
#[derive(Clone, Debug)]
pub struct Step {
    /// What it computes.
    pub operation: Operation,
    /// What it reads.
    pub operands: SmallVec<[Operand; 3]>,
}

/// What a step computes.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its name: `add`, `less`, `exp`.
    pub name: &'static str,
    /// The dtype of its operands; of `select` that of the last two.
    pub dtype: DType,
    /// The dtype of its result.
    pub result: DType,
    /// Computes it.
    pub run: WordFn,
    /// Compute it for many elements at a time, where there are such functions.
    pub tile: Option<TileFns>,
}

/// What a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An element of this input.
    Input(u32),
    /// The result of this step.
    Step(u32),
    /// A constant.
    Word(u64),
}

impl Expression {
    /// The expression of a single step whose operands are the inputs.
    pub fn step(operation: Operation, n_inputs: u32) -> Expression {
        let operands = (0..n_inputs).map(Operand::Input).collect();
        let steps = vec![Step { operation, operands }];
        Expression { steps, value: Operand::Step(0), fails: None }
    }

    /// `condition ? yes : no` of inputs 0, 1 and 2.
    pub fn select(dtype: DType) -> Option<Expression> {
        let is_word = with_word!(dtype, T => <T as Word>::WIDTH > 0, else => false);
        is_word.then(|| Expression::step(Operation::select(dtype), 3))
    }

    /// A constant.
    pub fn constant(word: u64) -> Expression {
        Expression { steps: Vec::new(), value: Operand::Word(word), fails: None }
    }

    /// Computes the output and whether the op fails, from an element of each input.
    pub fn compute(&self, inputs: &[u64]) -> (u64, bool) {
        let mut results: SmallVec<[u64; 8]> = SmallVec::new();
        let read = |results: &[u64], operand: Operand| match operand {
            Operand::Input(i) => inputs.get(i as usize).copied().unwrap_or(0),
            Operand::Step(i) => results.get(i as usize).copied().unwrap_or(0),
            Operand::Word(word) => word,
        };
        for step in &self.steps {
            let mut words = [0; 3];
            for (word, operand) in words.iter_mut().zip(&step.operands) {
                *word = read(&results, *operand);
            }
            results.push((step.operation.run)(words[0], words[1], words[2]));
        }
        (read(&results, self.value), self.fails.is_some_and(|fails| read(&results, fails) != 0))
    }
}

impl Operation {
    /// `a and b` of bools.
    pub const AND: Operation = Operation::of_bools("and", and, and_tile);
    /// `a or b` of bools.
    pub const OR: Operation = Operation::of_bools("or", or, or_tile);
    /// `not a` of a bool.
    pub const NOT: Operation = Operation::of_bools("not", not, not_tile);

    const fn of_bools(name: &'static str, run: WordFn, tile: TileFn) -> Operation {
        Operation { name, dtype: DType::Bool, result: DType::Bool, run, tile: Some(TileFns::of(tile)) }
    }

    /// `a = b` of integers or bools.
    pub const fn same(dtype: DType) -> Operation {
        Operation { name: "equal", dtype, result: DType::Bool, run: same, tile: None }
    }

    /// `mask ? yes : no`.
    pub fn select(dtype: DType) -> Operation {
        let tile: Option<TileFn> = match dtype {
            DType::F32 => Some(select_tile::<f32>),
            DType::F64 => Some(select_tile::<f64>),
            DType::I32 => Some(select_tile::<i32>),
            DType::I64 => Some(select_tile::<i64>),
            DType::Bool => Some(select_tile::<bool>),
            _ => None,
        };
        Operation { name: "select", dtype, result: dtype, run: select, tile: tile.map(TileFns::of) }
    }
}

/// `a and b` of bools.
extern "C" fn and(a: u64, b: u64, _: u64) -> u64 {
    a & b
}

/// `a or b` of bools.
extern "C" fn or(a: u64, b: u64, _: u64) -> u64 {
    a | b
}

/// `not a` of a bool.
extern "C" fn not(a: u64, _: u64, _: u64) -> u64 {
    a ^ 1
}

/// `a = b` of words.
extern "C" fn same(a: u64, b: u64, _: u64) -> u64 {
    u64::from(a == b)
}

/// `mask ? yes : no`.
extern "C" fn select(mask: u64, yes: u64, no: u64) -> u64 {
    if mask != 0 { yes } else { no }
}

/// [`and`] of tiles.
fn and_tile(to: TileMut<'_>, from: &[TileRef<'_>]) -> bool {
    logic(to, from, |a, b| a & b)
}

/// [`or`] of tiles.
fn or_tile(to: TileMut<'_>, from: &[TileRef<'_>]) -> bool {
    logic(to, from, |a, b| a | b)
}

/// [`not`] of a tile.
fn not_tile(to: TileMut<'_>, from: &[TileRef<'_>]) -> bool {
    let &[a] = from else { return false };
    logic(to, &[a, a], |a, _| !a)
}

fn logic(to: TileMut<'_>, from: &[TileRef<'_>], f: impl Fn(bool, bool) -> bool) -> bool {
    let (Some(to), &[a, b]) = (bool::write(to), from) else { return false };
    let (Some(a), Some(b)) = (bool::read(a), bool::read(b)) else { return false };
    let (Some(a), Some(b)) = (elements(a, to.len()), elements(b, to.len())) else { return false };
    to.iter_mut().zip(a.zip(b)).for_each(|(to, (a, b))| *to = f(a, b));
    true
}

/// `n` elements, all the same if there is only one.
fn elements<T: Copy>(all: &[T], n: usize) -> Option<impl Iterator<Item = T>> {
    let step = match all.len() {
        len if len == n => 1,
        1 => 0,
        _ => return None,
    };
    Some((0..n).map(move |i| all[i * step]))
}

fn select_tile<T: TileElement>(to: TileMut<'_>, from: &[TileRef<'_>]) -> bool {
    let (Some(to), &[mask, yes, no]) = (T::write(to), from) else { return false };
    let n = to.len();
    let Some(mask) = bool::read(mask) else { return false };
    // In place, the elements of one side stay.
    let other = match (yes, no) {
        (TileRef::Result, TileRef::Result) => return true,
        (TileRef::Result, other) => Some((other, false)),
        (other, TileRef::Result) => Some((other, true)),
        _ => None,
    };
    if let Some((other, when)) = other {
        let Some((mask, other)) = elements(mask, n).zip(T::read(other).and_then(|other| elements(other, n)))
        else {
            return false;
        };
        let from = to.iter_mut().zip(mask.zip(other));
        from.filter(|(_, (mask, _))| *mask == when).for_each(|(to, (_, other))| *to = other);
        return true;
    }
    let (Some(yes), Some(no)) = (T::read(yes), T::read(no)) else { return false };
    if let (&[mask], true) = (mask, yes.len() == n && no.len() == n) {
        to.copy_from_slice(if mask { yes } else { no });
        return true;
    }
    let (Some(mask), Some(yes), Some(no)) = (elements(mask, n), elements(yes, n), elements(no, n)) else {
        return false;
    };
    let from = mask.zip(yes.zip(no));
    to.iter_mut().zip(from).for_each(|(to, (mask, (yes, no)))| *to = if mask { yes } else { no });
    true
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Input(i) => write!(f, "input{i}"),
            Operand::Step(i) => write!(f, "step{i}"),
            Operand::Word(word) => write!(f, "{word:#x}"),
        }
    }
}
