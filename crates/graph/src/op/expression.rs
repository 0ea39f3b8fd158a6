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
    /// The name of what it computes: `add`, `less`, `exp`.
    pub operation: &'static str,
    /// The dtype of its operands; of `select` that of the last two.
    pub dtype: DType,
    /// What it reads.
    pub operands: SmallVec<[Operand; 3]>,
    /// Computes it.
    pub run: WordFn,
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
    pub fn step(operation: &'static str, dtype: DType, n_inputs: u32, run: WordFn) -> Expression {
        let operands = (0..n_inputs).map(Operand::Input).collect();
        let steps = vec![Step { operation, dtype, operands, run }];
        Expression { steps, value: Operand::Step(0), fails: None }
    }

    /// `condition ? yes : no` of inputs 0, 1 and 2.
    pub fn select(dtype: DType) -> Option<Expression> {
        let is_word = with_word!(dtype, T => <T as Word>::WIDTH > 0, else => false);
        is_word.then(|| Expression::step("select", dtype, 3, select))
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
            results.push((step.run)(words[0], words[1], words[2]));
        }
        (read(&results, self.value), self.fails.is_some_and(|fails| read(&results, fails) != 0))
    }
}

/// `a and b` of bools.
pub extern "C" fn and(a: u64, b: u64, _: u64) -> u64 {
    a & b
}

/// `a or b` of bools.
pub extern "C" fn or(a: u64, b: u64, _: u64) -> u64 {
    a | b
}

/// `not a` of a bool.
pub extern "C" fn not(a: u64, _: u64, _: u64) -> u64 {
    a ^ 1
}

/// `mask ? yes : no`.
pub extern "C" fn select(mask: u64, yes: u64, no: u64) -> u64 {
    if mask != 0 { yes } else { no }
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
