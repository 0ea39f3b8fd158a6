//! Formulas read instead of computed: [`Sym`] is a number of the tower that writes down what is done with it.
//!
//! Reading a formula gives an [`Expression`], whose steps carry the names of the tower's methods and the
//! functions of `words`. A dtype or a method without such a function gives none, and the op stays with its
//! kernel.

use super::words::{self, Method, Table};
use super::{Field, Float, Int, Mask, Math, Num, Pairs, Part, Real};
use crate::shared::elementwise::{Binary, Unary};
use millstream_graph::op::expression::{Operand, Operation, Step};
use millstream_graph::op::{Expression, Lowering};
use millstream_tensor::DType;
use std::cell::RefCell;

/// What is being written down.
struct Recorder {
    table: &'static Table,
    dtype: DType,
    steps: Vec<Step>,
    /// Something has no function of words.
    incomplete: bool,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// A number, or the result of a comparison, of a formula that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Sym(Operand);

impl Sym {
    fn record(operands: &[Sym], pick: impl FnOnce(&Recorder) -> Option<Operation>) -> Sym {
        RECORDER.with_borrow_mut(|recorder| {
            let Some(recorder) = recorder else { return Sym(Operand::Word(0)) };
            match pick(recorder) {
                Some(operation) => {
                    let operands = operands.iter().map(|sym| sym.0).collect();
                    recorder.steps.push(Step { operation, operands });
                }
                None => recorder.incomplete = true,
            }
            Sym(Operand::Step(recorder.steps.len().saturating_sub(1) as u32))
        })
    }

    /// A method of the tower.
    fn method(name: &'static str, operands: &[Sym]) -> Sym {
        Sym::record(operands, |recorder| {
            let Method { run, asks } = (recorder.table.method)(name)?;
            let dtype = recorder.dtype;
            let result = if asks { DType::Bool } else { dtype };
            Some(Operation { name, dtype, result, run, tile: (recorder.table.tile)(name) })
        })
    }

    /// An operation on bools.
    fn logic(operation: Operation, operands: &[Sym]) -> Sym {
        Sym::record(operands, |_| Some(operation))
    }

    fn literal(value: impl FnOnce(&Table) -> Option<u64>) -> Sym {
        RECORDER.with_borrow_mut(|recorder| {
            let word = recorder.as_mut().and_then(|recorder| {
                let word = value(recorder.table);
                recorder.incomplete |= word.is_none();
                word
            });
            Sym(Operand::Word(word.unwrap_or(0)))
        })
    }

    /// Something that words cannot express.
    fn beyond() -> Sym {
        RECORDER.with_borrow_mut(|recorder| {
            if let Some(recorder) = recorder {
                recorder.incomplete = true;
            }
        });
        Sym(Operand::Word(0))
    }
}

/// The result of a formula: a [`Sym`], or a type that no element of the tower is.
pub(crate) trait Recorded {
    fn sym(self) -> Sym;
}

impl Recorded for Sym {
    fn sym(self) -> Sym {
        self
    }
}

/// The number of bits, which is always a byte.
impl Recorded for u8 {
    fn sym(self) -> Sym {
        Sym::beyond()
    }
}

/// Reads what `formula` does with the inputs: it returns the value, and whether there is none.
pub(crate) fn expression(
    dtype: DType,
    n_inputs: usize,
    formula: impl FnOnce(&[Sym]) -> (Sym, Option<Sym>),
) -> Option<Expression> {
    let table = words::table(dtype)?;
    let fresh = Recorder { table, dtype, steps: Vec::new(), incomplete: false };
    let before = RECORDER.replace(Some(fresh));
    let inputs: Vec<Sym> = (0..n_inputs).map(|i| Sym(Operand::Input(i as u32))).collect();
    let (value, fails) = formula(&inputs);
    let Recorder { steps, incomplete, .. } = RECORDER.replace(before)?;
    // A formula that never fails says so with a constant.
    let fails = fails.map(|sym| sym.0).filter(|fails| *fails != Operand::Word(0));
    (!incomplete).then_some(Expression { steps, value: value.0, fails })
}

/// The lowering of a formula of one element.
pub(crate) fn unary<F: Unary<Sym, Out: Recorded>>(dtype: DType) -> Option<Lowering> {
    expression(dtype, 1, |x| (F::at(x[0]).sym(), None)).map(Lowering::Elements)
}

/// The lowering of a formula of two elements.
pub(crate) fn binary<F: Binary<Sym, Out: Recorded>>(dtype: DType) -> Option<Lowering> {
    expression(dtype, 2, |x| (F::at(x[0], x[1]).sym(), Some(F::fails(x[0], x[1])))).map(Lowering::Broadcast)
}

macro_rules! methods {
    ($($name:ident($($arg:ident),*)),* $(,)?) => { $(
        fn $name(self $(, $arg: Self)*) -> Self {
            Sym::method(stringify!($name), &[self $(, $arg)*])
        }
    )* };
}

impl Mask for Sym {
    fn and(self, o: Self) -> Self {
        Sym::logic(Operation::AND, &[self, o])
    }
    fn or(self, o: Self) -> Self {
        Sym::logic(Operation::OR, &[self, o])
    }
    fn not(self) -> Self {
        Sym::logic(Operation::NOT, &[self])
    }
    fn never() -> Self {
        Sym(Operand::Word(0))
    }
}

impl Math for Sym {
    type Mask = Sym;
    methods!(equal(o));
    fn select(mask: Sym, yes: Self, no: Self) -> Self {
        Sym::record(&[mask, yes, no], |recorder| Some(Operation::select(recorder.dtype)))
    }
}

impl Num for Sym {
    fn int(v: i8) -> Self {
        Sym::literal(|table| (table.int)(v))
    }
    methods!(add(o), sub(o), mul(o), neg(), div(o), pow(o), sign(), round());
    methods!(divides_nothing(), is_no_exponent());
    fn conj(self) -> Self {
        self
    }
}

impl Real for Sym {
    methods!(less(o), less_equal(o), max(o), min(o), abs());
    methods!(floor_div(o), floor_mod(o), trunc_mod(o));
}

impl Int for Sym {
    methods!(bit_and(o), bit_or(o), bit_xor(o), invert(), shl(o), shr(o));
    fn ones(self) -> u8 {
        Sym::beyond();
        0
    }
}

impl Field for Sym {
    fn lit(v: f64) -> Self {
        Sym::literal(|table| (table.lit)(v))
    }
    methods!(exp(), expm1(), log(), log1p(), sqrt(), sin(), cos(), tan(), asin(), acos(), atan(), sinh());
    methods!(cosh(), tanh(), asinh(), acosh(), atanh(), sigmoid(), rsqrt());
}

impl Float for Sym {
    methods!(floor(), ceil(), erf(), erfc(), lgamma(), digamma(), erfinv(), ndtri(), bessel_i0e());
    methods!(bessel_i1e(), igamma(x), igammac(x), igamma_grad_a(x), random_gamma_grad(x), zeta(q));
    methods!(polygamma(x), atan2(o), is_nan(), is_inf(), is_finite(), next_after(to));
}

impl Pairs for Sym {
    type Part = Sym;
    fn re(self) -> Sym {
        Sym::beyond()
    }
    fn im(self) -> Sym {
        Sym::beyond()
    }
    fn size(self) -> Sym {
        Sym::beyond()
    }
    fn angle(self) -> Sym {
        Sym::beyond()
    }
}

impl Part for Sym {
    type Whole = Sym;
    fn with(self, _im: Self) -> Sym {
        Sym::beyond()
    }
}
