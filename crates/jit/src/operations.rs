//! The steps that processors have instructions for. Every other step calls its function.

use crate::types::of_dtype;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use millstream_graph::op::expression::Operation;
use millstream_tensor::DType;

/// The value of a step; `None` if there are no instructions that compute it with the same bits.
pub(crate) fn native(
    b: &mut FunctionBuilder<'_>,
    operation: &str,
    dtype: DType,
    operands: &[Value],
) -> Option<Value> {
    match (operation, operands) {
        ("select", &[mask, yes, no]) => Some(b.ins().select(mask, yes, no)),
        ("and", &[x, y]) => Some(b.ins().band(x, y)),
        ("or", &[x, y]) => Some(b.ins().bor(x, y)),
        ("not", &[x]) => Some(b.ins().bxor_imm(x, 1)),
        _ => match dtype {
            DType::F32 | DType::F64 => float(b, operation, dtype, operands),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => integer(b, operation, operands, true),
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => integer(b, operation, operands, false),
            DType::Bool => boolean(b, operation, operands),
            _ => None,
        },
    }
}

fn float(b: &mut FunctionBuilder<'_>, operation: &str, dtype: DType, operands: &[Value]) -> Option<Value> {
    Some(match (operation, operands) {
        ("add", &[x, y]) => b.ins().fadd(x, y),
        ("sub", &[x, y]) => b.ins().fsub(x, y),
        ("mul", &[x, y]) => b.ins().fmul(x, y),
        ("div", &[x, y]) => b.ins().fdiv(x, y),
        ("neg", &[x]) => b.ins().fneg(x),
        ("abs", &[x]) => b.ins().fabs(x),
        ("sqrt", &[x]) => b.ins().sqrt(x),
        ("rsqrt", &[x]) => {
            let one = one(b, dtype);
            let root = b.ins().sqrt(x);
            b.ins().fdiv(one, root)
        }
        ("less", &[x, y]) => b.ins().fcmp(FloatCC::LessThan, x, y),
        ("less_equal", &[x, y]) => b.ins().fcmp(FloatCC::LessThanOrEqual, x, y),
        ("equal", &[x, y]) => b.ins().fcmp(FloatCC::Equal, x, y),
        ("is_nan", &[x]) => b.ins().fcmp(FloatCC::Unordered, x, x),
        // The second operand if it is greater, or not a number.
        ("max", &[x, y]) => second_if(b, FloatCC::GreaterThan, x, y),
        ("min", &[x, y]) => second_if(b, FloatCC::LessThan, x, y),
        ("to_f64", &[x]) if dtype == DType::F32 => b.ins().fpromote(types::F64, x),
        ("to_f32", &[x]) if dtype == DType::F64 => b.ins().fdemote(types::F32, x),
        ("to_bool", &[x]) => {
            let zero = zero(b, dtype);
            b.ins().fcmp(FloatCC::NotEqual, x, zero)
        }
        _ => return None,
    })
}

fn second_if(b: &mut FunctionBuilder<'_>, than: FloatCC, x: Value, y: Value) -> Value {
    let beyond = b.ins().fcmp(than, y, x);
    let nan = b.ins().fcmp(FloatCC::Unordered, y, y);
    let takes = b.ins().bor(beyond, nan);
    b.ins().select(takes, y, x)
}

fn one(b: &mut FunctionBuilder<'_>, dtype: DType) -> Value {
    if dtype == DType::F32 { b.ins().f32const(1.0) } else { b.ins().f64const(1.0) }
}

fn zero(b: &mut FunctionBuilder<'_>, dtype: DType) -> Value {
    if dtype == DType::F32 { b.ins().f32const(0.0) } else { b.ins().f64const(0.0) }
}

fn integer(b: &mut FunctionBuilder<'_>, operation: &str, operands: &[Value], signed: bool) -> Option<Value> {
    let own = b.func.dfg.value_type(*operands.first()?);
    let less = if signed { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
    let less_equal = if signed { IntCC::SignedLessThanOrEqual } else { IntCC::UnsignedLessThanOrEqual };
    Some(match (operation, operands) {
        ("add", &[x, y]) => b.ins().iadd(x, y),
        ("sub", &[x, y]) => b.ins().isub(x, y),
        ("mul", &[x, y]) => b.ins().imul(x, y),
        ("neg", &[x]) => b.ins().ineg(x),
        ("round", &[x]) => x,
        ("less", &[x, y]) => b.ins().icmp(less, x, y),
        ("less_equal", &[x, y]) => b.ins().icmp(less_equal, x, y),
        ("equal", &[x, y]) => b.ins().icmp(IntCC::Equal, x, y),
        ("max", &[x, y]) => {
            if signed {
                b.ins().smax(x, y)
            } else {
                b.ins().umax(x, y)
            }
        }
        ("min", &[x, y]) => {
            if signed {
                b.ins().smin(x, y)
            } else {
                b.ins().umin(x, y)
            }
        }
        ("bit_and", &[x, y]) => b.ins().band(x, y),
        ("bit_or", &[x, y]) => b.ins().bor(x, y),
        ("bit_xor", &[x, y]) => b.ins().bxor(x, y),
        ("invert", &[x]) => b.ins().bnot(x),
        ("divides_nothing", &[x]) => b.ins().icmp_imm(IntCC::Equal, x, 0),
        ("div" | "trunc_mod" | "floor_div" | "floor_mod", &[x, y])
            if own == types::I32 || own == types::I64 =>
        {
            quotient(b, operation, x, y, signed)
        }
        (cast, &[x]) => return convert(b, cast, x, signed),
        _ => return None,
    })
}

/// A quotient or a remainder. A division by zero gives 0, the least number divided by -1 itself.
fn quotient(b: &mut FunctionBuilder<'_>, operation: &str, x: Value, y: Value, signed: bool) -> Value {
    let ty = b.func.dfg.value_type(x);
    let one = b.ins().iconst(ty, 1);
    let by_zero = b.ins().icmp_imm(IntCC::Equal, y, 0);
    let mut safe = b.ins().select(by_zero, one, y);
    let by_minus_one = signed.then(|| b.ins().icmp_imm(IntCC::Equal, y, -1));
    if let Some(by_minus_one) = by_minus_one {
        safe = b.ins().select(by_minus_one, one, safe);
    }
    let mut q = if signed { b.ins().sdiv(x, safe) } else { b.ins().udiv(x, safe) };
    if let Some(by_minus_one) = by_minus_one {
        let negated = b.ins().ineg(x);
        q = b.ins().select(by_minus_one, negated, q);
    }
    let zero = b.ins().iconst(ty, 0);
    q = b.ins().select(by_zero, zero, q);
    let product = b.ins().imul(q, y);
    let rest = b.ins().isub(x, product);
    // Rounded towards zero where the signs differ and something is left: one too many.
    let is_over = |b: &mut FunctionBuilder<'_>| {
        let signs = b.ins().bxor(x, y);
        let differ = b.ins().icmp_imm(IntCC::SignedLessThan, signs, 0);
        let left = b.ins().icmp_imm(IntCC::NotEqual, rest, 0);
        let by_something = b.ins().icmp_imm(IntCC::NotEqual, y, 0);
        let over = b.ins().band(differ, left);
        b.ins().band(over, by_something)
    };
    match (operation, signed) {
        ("floor_div", true) => {
            let over = is_over(b);
            let less = b.ins().iadd_imm(q, -1);
            b.ins().select(over, less, q)
        }
        ("floor_mod", true) => {
            let over = is_over(b);
            let more = b.ins().iadd(rest, y);
            b.ins().select(over, more, rest)
        }
        ("trunc_mod", _) => b.ins().select(by_zero, zero, rest),
        ("floor_mod", false) => rest,
        _ => q,
    }
}

/// A conversion from an integer.
fn convert(b: &mut FunctionBuilder<'_>, cast: &str, x: Value, signed: bool) -> Option<Value> {
    let own = b.func.dfg.value_type(x);
    let to = match cast {
        "to_bool" => return Some(b.ins().icmp_imm(IntCC::NotEqual, x, 0)),
        "to_i8" | "to_u8" => types::I8,
        "to_i16" | "to_u16" => types::I16,
        "to_i32" | "to_u32" => types::I32,
        "to_i64" | "to_u64" => types::I64,
        "to_f32" | "to_f64" if signed && (own == types::I32 || own == types::I64) => {
            let to = if cast == "to_f32" { types::F32 } else { types::F64 };
            return Some(b.ins().fcvt_from_sint(to, x));
        }
        _ => return None,
    };
    Some(match to.bits().cmp(&own.bits()) {
        std::cmp::Ordering::Less => b.ins().ireduce(to, x),
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Greater if signed => b.ins().sextend(to, x),
        std::cmp::Ordering::Greater => b.ins().uextend(to, x),
    })
}

fn boolean(b: &mut FunctionBuilder<'_>, operation: &str, operands: &[Value]) -> Option<Value> {
    Some(match (operation, operands) {
        ("equal", &[x, y]) => b.ins().icmp(IntCC::Equal, x, y),
        ("to_f32" | "to_f64", &[x]) => {
            let wide = b.ins().uextend(types::I32, x);
            b.ins().fcvt_from_sint(if operation == "to_f32" { types::F32 } else { types::F64 }, wide)
        }
        (cast, &[x]) => return convert(b, cast, x, false),
        _ => return None,
    })
}

/// A value of a type as a word.
pub(crate) fn to_word(b: &mut FunctionBuilder<'_>, value: Value) -> Value {
    let ty = b.func.dfg.value_type(value);
    let bits = match ty {
        types::F32 => b.ins().bitcast(types::I32, cranelift_codegen::ir::MemFlags::new(), value),
        types::F64 => b.ins().bitcast(types::I64, cranelift_codegen::ir::MemFlags::new(), value),
        _ => value,
    };
    match b.func.dfg.value_type(bits) {
        types::I64 => bits,
        _ => b.ins().uextend(types::I64, bits),
    }
}

/// A word as a value of a type.
pub(crate) fn of_word(b: &mut FunctionBuilder<'_>, word: Value, ty: Type) -> Value {
    let flags = cranelift_codegen::ir::MemFlags::new();
    match ty {
        types::I64 => word,
        types::F64 => b.ins().bitcast(types::F64, flags, word),
        types::F32 => {
            let bits = b.ins().ireduce(types::I32, word);
            b.ins().bitcast(types::F32, flags, bits)
        }
        ty => b.ins().ireduce(ty, word),
    }
}

/// A constant of a type.
pub(crate) fn constant(b: &mut FunctionBuilder<'_>, word: u64, ty: Type) -> Value {
    match ty {
        types::F32 => b.ins().f32const(f32::from_bits(word as u32)),
        types::F64 => b.ins().f64const(f64::from_bits(word)),
        types::I8 => b.ins().iconst(ty, i64::from(word as u8)),
        types::I16 => b.ins().iconst(ty, i64::from(word as u16)),
        types::I32 => b.ins().iconst(ty, i64::from(word as u32)),
        _ => b.ins().iconst(ty, word as i64),
    }
}

/// The types of a step's operands.
pub(crate) fn operand_type(operation: &Operation, i: usize) -> Option<Type> {
    match operation.name {
        "select" if i == 0 => Some(types::I8),
        _ => of_dtype(operation.dtype),
    }
}
