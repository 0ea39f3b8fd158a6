//! `DenseToDenseSetOperation`, `DenseToSparseSetOperation`, `SparseToSparseSetOperation`: differences,
//! unions and intersections of sets.

use super::entries::inferred;
use super::sets::{Operand, Place, Sets, TYPES};
use millstream_graph::Attrs;
use millstream_graph::op::spec::{Bool, OneOf, Spec, Text};
use millstream_graph::op::{Cost, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, PartialShape, Result, Str, Tensor, ensure, invalid, with_element};
use std::cmp::Ordering;

pub(crate) fn def() -> [OpDef; 3] {
    let sparse = |def: OpDef, names: [&'static str; 3]| {
        def.input(names[0], I64).input(names[1], "T").input(names[2], I64)
    };
    let second = ["set2_indices", "set2_values", "set2_shape"];
    let first = ["set1_indices", "set1_values", "set1_shape"];
    let finish = |def: OpDef| {
        def.output("result_indices", I64)
            .output("result_values", "T")
            .output("result_shape", I64)
            .attr("set_operation", Text)
            .attr("validate_indices", Bool.or(true))
            .attr("T", OneOf(TYPES))
    };
    [
        finish(OpDef::new("DenseToDenseSetOperation").input("set1", "T").input("set2", "T"))
            .doc(
                "Combines sets, the elements along the last axes of two tensors, with the `set_operation`: 'a-b', \
                 'b-a', 'intersection' or 'union'. All other axes must agree. The result is a sparse tensor: the \
                 elements of each set in ascending order, from the beginning of a row on.",
            )
            .infer(|cx| infer(cx, false, false))
            .kernel(kernel(|cx| run(cx, false, false))),
        finish(sparse(OpDef::new("DenseToSparseSetOperation").input("set1", "T"), second))
            .doc(
                "As `DenseToDenseSetOperation`, where the second operand is a sparse tensor, whose entries must be \
                 in row-major order.",
            )
            .infer(|cx| infer(cx, false, true))
            .kernel(kernel(|cx| run(cx, false, true))),
        finish(sparse(sparse(OpDef::new("SparseToSparseSetOperation"), first), second))
            .doc(
                "As `DenseToDenseSetOperation`, where both operands are sparse tensors, whose entries must be in \
                 row-major order.",
            )
            .infer(|cx| infer(cx, true, true))
            .kernel(kernel(|cx| run(cx, true, true))),
    ]
}

// Copies of a value, of its index, and of both in the result.
fn kernel(run: millstream_graph::op::RunFn) -> Kernel {
    Kernel::pure(run).cost(Cost::PerElement(100.0)).scratch(80)
}

#[derive(Clone, Copy)]
enum Operation {
    FirstOnly,
    SecondOnly,
    Both,
    Any,
}

impl Operation {
    fn of(attrs: &Attrs) -> Result<Operation> {
        let name = attrs.str("set_operation")?.text();
        Ok(match &*name.to_ascii_lowercase() {
            "a-b" => Operation::FirstOnly,
            "b-a" => Operation::SecondOnly,
            "intersection" => Operation::Both,
            "union" => Operation::Any,
            _ => {
                return Err(invalid!(
                    "Invalid set_operation {name}.";
                    "`set_operation` must be 'a-b', 'b-a', 'intersection' or 'union'"
                ));
            }
        })
    }

    /// Whether the result has an element that is in these operands.
    fn keeps(self, first: bool, second: bool) -> bool {
        match self {
            Operation::FirstOnly => first && !second,
            Operation::SecondOnly => second && !first,
            Operation::Both => first && second,
            Operation::Any => true,
        }
    }
}

fn infer(cx: &mut InferCx, first: bool, second: bool) -> Result<()> {
    let of = |i: usize, sparse: bool| -> Result<Dim> {
        match sparse {
            true => Ok(inferred(cx, i)?.1),
            false => Ok(cx.input(i).rank()),
        }
    };
    let ranks = [of(0, first)?, of(if first { 3 } else { 1 }, second)?];
    if !first && !second {
        cx.at_least_rank(0, 2)?;
        cx.at_least_rank(1, 2)?;
    }
    if let [Some(a), Some(b)] = ranks {
        ensure!(a == b, "Shape must be rank {a} but is rank {b}"; "the operands have {a} and {b} axes: all axes but the last must agree");
    }
    if !first
        && !second
        && let (Some([a @ .., _]), Some([b @ .., _])) = (cx.input(0).dims(), cx.input(1).dims())
    {
        let (a, b) = (PartialShape::new(a.iter().copied()), PartialShape::new(b.iter().copied()));
        ensure!(
            a.is_compatible(&b),
            "{}", a.difference(&b);
            "the operands have shapes {} and {}: all axes but the last must agree", cx.input(0), cx.input(1)
        );
    }
    let rank = ranks[0].or(ranks[1]);
    ensure!(
        rank.is_none_or(|rank| rank >= 2),
        "Input rank {} must be at least 2", rank.unwrap_or(0);
        "the last axis holds the elements of the sets"
    );
    cx.set(0, [None, rank]);
    cx.set(1, [None]);
    cx.set(2, [rank]);
    Ok(())
}

fn run(cx: &mut KernelCx, first: bool, second: bool) -> Result<()> {
    let operation = Operation::of(cx.attrs())?;
    let operand =
        |i: usize, sparse: bool| if sparse { Operand::sparse(cx, i) } else { Operand::dense(cx, i) };
    let (a, b) = (operand(0, first)?, operand(if first { 3 } else { 1 }, second)?);
    let dtype = cx.input(usize::from(first)).dtype();
    let outputs = match dtype {
        DType::Str => {
            let found = combine(&a.of_strings()?, &b.of_strings()?, operation)?;
            let values = found.items.iter().map(|s| Str::new(*s)).collect::<Result<Vec<Str>>>()?;
            [found.indices()?, Tensor::strings([found.items.len()], values)?, found.shape()?]
        }
        dtype => with_element!(dtype, T in [I8 I16 I32 I64 U8 U16] => {
            let found = combine(&a.of_plain::<T>()?, &b.of_plain::<T>()?, operation)?;
            [found.indices()?, Tensor::vector(&found.items)?, found.shape()?]
        }, else => return Err(crate::number::no_kernel(cx.node.op.name, dtype))),
    };
    outputs.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

/// The sets of the result.
struct Found<T> {
    lead: Place,
    /// The concatenated indices.
    indices: Charged<i64>,
    items: Charged<T>,
    /// The number of elements of the largest set.
    width: i64,
}

impl<T> Found<T> {
    fn indices(&self) -> Result<Tensor> {
        Tensor::from_slice([self.items.len(), self.lead.len() + 1], &self.indices)
    }

    fn shape(&self) -> Result<Tensor> {
        let sizes: Vec<i64> = self.lead.iter().copied().chain([self.width]).collect();
        Tensor::vector(&sizes)
    }
}

fn combine<T: Ord + Copy>(a: &Sets<T>, b: &Sets<T>, operation: Operation) -> Result<Found<T>> {
    let shown = |lead: &Place| {
        let sizes: Vec<String> = lead.iter().map(i64::to_string).collect();
        format!("[{}]", sizes.join(","))
    };
    ensure!(
        a.lead == b.lead,
        "Mismatched shapes {} vs {}", shown(&a.lead), shown(&b.lead);
        "all axes of the operands but the last must be equal"
    );
    let mut found = Found { lead: a.lead.clone(), indices: Charged::new(), items: Charged::new(), width: 0 };
    let (mut i, mut j, mut pace) = (0, 0, Pace::new());
    while i < a.sets.len() || j < b.sets.len() {
        let order = match (a.sets.get(i), b.sets.get(j)) {
            (Some((x, _)), Some((y, _))) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let of = |sets: &Sets<T>, at: &mut usize, is_next: bool| {
            let (place, range) = if is_next { sets.sets.get(*at).cloned()? } else { return None };
            *at += 1;
            Some((place, range))
        };
        let x = of(a, &mut i, order != Ordering::Greater);
        let y = of(b, &mut j, order != Ordering::Less);
        let items = |sets: &Sets<T>, set: &Option<(Place, std::ops::Range<usize>)>| match set {
            Some((_, range)) => range.clone(),
            None => sets.items.len()..sets.items.len(),
        };
        let (first, second) = (&a.items[items(a, &x)], &b.items[items(b, &y)]);
        pace.spend(4 + first.len() + second.len())?;
        if let Some((place, _)) = x.or(y) {
            merge(first, second, operation, &place, &mut found)?;
        }
    }
    Ok(found)
}

/// Adds the result for two sets in order.
fn merge<T: Ord + Copy>(
    a: &[T],
    b: &[T],
    operation: Operation,
    place: &[i64],
    found: &mut Found<T>,
) -> Result<()> {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let (first, second) = (order != Ordering::Greater, order != Ordering::Less);
        if operation.keeps(first, second) {
            found.items.push(if first { a[i] } else { b[j] })?;
            found.indices.extend_from_slice(place)?;
            found.indices.push(count)?;
            count += 1;
        }
        i += usize::from(first);
        j += usize::from(second);
    }
    found.width = found.width.max(count);
    Ok(())
}

cases! {
    intersection: "DenseToDenseSetOperation([[1 2 2 3] [4 4 4 4]], [[3 2 9] [5 4 5]]; set_operation=\"intersection\") = i64 [[0 0] [0 1] [1 0]], [2 3 4], i64 [2 2]",
    difference: "DenseToDenseSetOperation([[1 2 2 3] [4 4 4 4]], [[3 2 9] [5 4 5]]; set_operation=\"a-b\") = i64 [[0 0]], [1], i64 [2 1]",
    union_of_strings: "DenseToDenseSetOperation([['b' 'a']], [['c' 'a' 'B']]; set_operation=\"union\") = i64 [[0 0] [0 1] [0 2] [0 3]], ['B' 'a' 'b' 'c'], i64 [1 4]",
    with_a_sparse_one: "DenseToSparseSetOperation([[1 2 2 3] [4 4 4 4]], i64 [[0 0] [0 1] [1 0]], [2 7 5], i64 [2 2]; set_operation=\"b-a\") = i64 [[0 0] [1 0]], [7 5], i64 [2 1]",
    of_sparse_ones: "SparseToSparseSetOperation(i64 [[0 0] [2 0] [2 1]], [2 7 5], i64 [3 2], i64 [[0 0] [0 1] [1 0]], [2 7 5], i64 [3 2]; set_operation=\"union\") = i64 [[0 0] [0 1] [1 0] [2 0] [2 1]], [2 7 5 5 7], i64 [3 2]",
    more_axes: "SparseToSparseSetOperation(i64 [[0 0 0] [1 0 0]], [2 3], i64 [2 1 1], i64[1,3] [[0 0 1]], [5], i64 [2 1 3]; set_operation=\"union\") = i64 [[0 0 0] [0 0 1] [1 0 0]], [2 5 3], i64 [2 1 2]",
    of_nothing: "DenseToDenseSetOperation(i32[2,0] [], i32[2,0] []; set_operation=\"union\") = i64[0,2] [], i32[0] [], i64 [2 0]",
    infers: "DenseToSparseSetOperation(i32[?,?], i64[?,2], i32[?], i64[?]; set_operation=\"union\") : i64[?,2], i32[?], i64[2]",
    rows_agree: "DenseToDenseSetOperation([[1 2]], [[1] [2]]; set_operation=\"union\") ! all axes but the last must agree",
    an_axis_of_elements: "DenseToDenseSetOperation([1 2], [1]; set_operation=\"union\") ! at least rank 2",
    in_order: "DenseToSparseSetOperation([[1]], i64 [[0 1] [0 0]], [2 7], i64 [1 2]; set_operation=\"union\") ! out of order",
    known_operations: "DenseToDenseSetOperation([[1]], [[1]]; set_operation=\"xor\") ! Invalid set_operation xor",
}
