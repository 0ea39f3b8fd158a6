//! Every op that has an expression: it gives the bits that the kernel gives, for all dtypes and for the
//! values at which formulas go wrong, and fails where the kernel fails.

#![expect(clippy::print_stdout, reason = "tests say what they did")]

use millstream_graph::op::{Expression, Lowering, NodeInfo, lone};
use millstream_graph::{Graph, Output};
use millstream_tensor::{DType, Tensor, Word, bf16, f16, shape, with_word};
use std::sync::Arc;

const DTYPES: [DType; 13] = [
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
];

/// Words of a dtype that formulas have to be careful with, and some that are harmless.
fn words(dtype: DType) -> Vec<u64> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        3.0,
        7.25,
        1e-3,
        88.5,
        -104.0,
        1e10,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let of_floats = |word: fn(f64) -> u64, more: &[u64]| {
        let all = floats.iter().map(|v| word(*v)).chain(more.iter().copied());
        all.collect::<Vec<u64>>()
    };
    match dtype {
        DType::F16 => of_floats(|v| f16::from_f64(v).word(), &[1, 0x7bff]),
        DType::BF16 => of_floats(|v| bf16::from_f64(v).word(), &[1, 0x7f7f]),
        DType::F32 => of_floats(|v| (v as f32).word(), &[1, 0x7f7f_ffff]),
        DType::F64 => of_floats(|v| v.word(), &[1, 0x7fef_ffff_ffff_ffff]),
        DType::Bool => vec![0, 1],
        _ => {
            let width = with_word!(dtype, T => T::WIDTH, else => 64);
            let (mask, top) = (u64::MAX >> (64 - width), 1u64 << (width - 1));
            [0, 1, 2, 3, 7, 100, u64::MAX, !4, !99, top, top - 1].map(|word| word & mask).to_vec()
        }
    }
}

/// A node of the op whose inputs are of these dtypes, if the op takes them.
fn node(op: &'static str, inputs: &[DType], to: Option<DType>) -> Option<Arc<NodeInfo>> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let feeds: Vec<Output> = inputs
        .iter()
        .enumerate()
        .map(|(i, dtype)| graph.placeholder_of(&format!("x{i}"), *dtype, shape![_]))
        .collect();
    let mut builder = graph.op(op).inputs(feeds);
    if let Some(to) = to {
        builder = builder.attr("DstT", to);
    }
    if op == "AccumulateNV2" {
        builder = builder.attr("shape", shape![_]);
    }
    let made = builder.try_finish().ok()?;
    graph.read(|g| Some(g.node(made.id()).ok()?.info.clone()))
}

fn expression(info: &NodeInfo) -> Option<Expression> {
    match (info.op.kernel.lowering?)(info)? {
        Lowering::Elements(expression) | Lowering::Broadcast(expression) => Some(expression),
        Lowering::SameElements | Lowering::PushBack | Lowering::PopBack => None,
    }
}

/// Compares on all combinations of words. Returns how many there were.
fn compare(op: &str, info: &NodeInfo, inputs: &[DType]) -> usize {
    let Some(expression) = expression(info) else { return 0 };
    let choices: Vec<Vec<u64>> = inputs.iter().map(|dtype| words(*dtype)).collect();
    let n: usize = choices.iter().map(Vec::len).product();
    let mut columns: Vec<Vec<u64>> = vec![Vec::new(); inputs.len()];
    let mut wanted = Vec::new();
    let env = lone::env();
    for i in 0..n {
        let mut rest = i;
        let row: Vec<u64> = choices
            .iter()
            .map(|words| {
                let word = words[rest % words.len()];
                rest /= words.len();
                word
            })
            .collect();
        let (word, fails) = expression.compute(&row);
        if fails {
            let one: Vec<Tensor> =
                row.iter().zip(inputs).map(|(w, d)| Tensor::of_words(*d, [1], &[*w]).unwrap()).collect();
            assert!(lone::run(info, &env, &one).is_err(), "{op} of {inputs:?} at {row:x?} does not fail");
            continue;
        }
        columns.iter_mut().zip(&row).for_each(|(column, word)| column.push(*word));
        wanted.push(word);
    }
    let values: Vec<Tensor> = columns
        .iter()
        .zip(inputs)
        .map(|(words, dtype)| Tensor::of_words(*dtype, [words.len()], words).unwrap())
        .collect();
    let result = lone::run(info, &env, &values).unwrap_or_else(|e| panic!("{op} of {inputs:?}: {e}"));
    let mut got = vec![0; wanted.len()];
    assert!(result[0].write_words(&mut got), "{op} of {inputs:?} gives {}", result[0].dtype());
    let is_nan =
        |word: u64| with_word!(result[0].dtype(), T => not_a_number(T::of_word(word)), else => false);
    for (i, (want, got)) in wanted.iter().zip(&got).enumerate() {
        let row: Vec<u64> = columns.iter().map(|column| column[i]).collect();
        // Which of two NaNs an addition returns depends on how the loop around it was compiled.
        let same = want == got || is_nan(*want) && is_nan(*got);
        assert!(same, "{op} of {inputs:?} at {row:x?}: {want:x}, but the kernel gives {got:x}");
    }
    n
}

#[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
fn not_a_number<T: PartialEq>(value: T) -> bool {
    value != value
}

#[test]
fn expressions_are_their_kernels() {
    let (mut n_ops, mut n_compared) = (0, 0);
    for def in millstream_ops::defs().iter().filter(|def| def.kernel.lowering.is_some()) {
        let mut n = 0;
        for dtype in DTYPES {
            let all: Vec<(Vec<DType>, Option<DType>)> = match def.name {
                "Cast" => DTYPES.iter().map(|to| (vec![dtype], Some(*to))).collect(),
                "SelectV2" | "Select" => vec![(vec![DType::Bool, dtype, dtype], None)],
                _ => (1..4).map(|n| (vec![dtype; n], None)).collect(),
            };
            for (inputs, to) in all {
                if let Some(info) = node(def.name, &inputs, to) {
                    n += compare(def.name, &info, &inputs);
                }
            }
        }
        n_ops += usize::from(n > 0);
        n_compared += n;
    }
    println!("{n_ops} ops, {n_compared} elements");
    assert!(n_ops > 70, "only {n_ops} ops have expressions");
}
