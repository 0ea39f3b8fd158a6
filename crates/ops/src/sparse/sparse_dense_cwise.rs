//! `SparseDenseCwiseMul`, `..Div`, `..Add`: elementwise arithmetic between the entries of a sparse tensor and
//! a dense one.

use super::entries::{Entries, inferred};
use crate::number::{Lane, Num};
use crate::shared::dims::Dims;
use millstream_graph::Output;
use millstream_graph::op::spec::Number;
use millstream_graph::op::{GradCx, GradFn, Gradient, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, with_element};

pub(crate) fn def() -> [OpDef; 3] {
    let op = |name, doc, run: RunFn, grad: GradFn| {
        OpDef::new(name)
            .doc(doc)
            .input("sp_indices", I64)
            .input("sp_values", "T")
            .input("sp_shape", I64)
            .input("dense", "T")
            .output("output", "T")
            .attr("T", Number)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        op(
            "SparseDenseCwiseMul",
            "Multiplies each entry of a sparse tensor by the element of `dense`, broadcast to its shape, at \
             its index.",
            |cx| {
                run(cx, |cx, all, places| {
                    with_element!(all.values.dtype(), T in numbers => each::<T>(cx, all, places, |x, y| x.mul(y)),
                    else => Err(crate::shared::elementwise::unsupported(cx)))
                })
            },
            |cx| grad(cx, of_product),
        ),
        op(
            "SparseDenseCwiseDiv",
            "Divides each entry of a sparse tensor by the element of `dense`, broadcast to its shape, at \
             its index.",
            |cx| {
                run(cx, |cx, all, places| {
                    with_element!(all.values.dtype(), T in numbers => {
                    let dense = cx.input(3).as_slice::<T>()?;
                    let bad = places.iter().position(|at| dense[*at].divides_nothing());
                    ensure!(bad.is_none(), "division by zero: {} where `dense` is 0", all.says(bad.unwrap_or_default()));
                    each::<T>(cx, all, places, |x, y| x.div(y))
                }, else => Err(crate::shared::elementwise::unsupported(cx)))
                })
            },
            |cx| grad(cx, of_quotient),
        ),
        op(
            "SparseDenseCwiseAdd",
            "Adds the element of `dense`, broadcast to the sparse tensor's shape, to the entry at its \
             index. No entries are added at other indices.",
            |cx| {
                run(cx, |cx, all, places| {
                    with_element!(all.values.dtype(), T in numbers => each::<T>(cx, all, places, |x, y| x.add(y)),
                    else => Err(crate::shared::elementwise::unsupported(cx)))
                })
            },
            |cx| grad(cx, |_, dy, _| (dy, dy)),
        ),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (n, _) = inferred(cx, 0)?;
    let (sparse, dense) = (cx.as_shape(2)?, cx.input(3));
    if let (Some(sparse_dims), Some(dense_dims)) = (sparse.dims(), dense.dims()) {
        let fits = dense_dims.len() <= sparse_dims.len()
            && sparse_dims
                .iter()
                .rev()
                .zip(dense_dims.iter().rev())
                .all(|(s, d)| *d == Some(1) || s.is_none() || d.is_none() || s == d);
        ensure!(fits, "{}", no_fit(&sparse, dense));
    }
    cx.set(0, [n]);
    Ok(())
}

fn no_fit(sparse: &PartialShape, dense: &PartialShape) -> String {
    format!("`dense` has shape {dense}, which does not broadcast to the shape {sparse} of the sparse tensor")
}

/// Returns the gradients of the values and of the elements of `dense` at the entries, from the output's
/// gradient and the positions of these elements.
type Partials<'g> = fn(&mut GradCx<'g, '_>, Output<'g>, Output<'g>) -> (Output<'g>, Output<'g>);

type Join = fn(&KernelCx, &Entries, &[usize]) -> Result<Tensor>;

fn run(cx: &mut KernelCx, join: Join) -> Result<()> {
    let all = Entries::of(cx, 0)?;
    let dense = cx.input(3).shape();
    let shape = Shape::from_signed(&all.shape)?;
    let lead = shape.rank().checked_sub(dense.rank());
    let fits = |lead: usize| shape[lead..].iter().zip(dense.iter()).all(|(s, d)| *d == 1 || s == d);
    let Some(lead) = lead.filter(|lead| fits(*lead)) else {
        return Err(millstream_tensor::invalid!("{}", no_fit(&(&shape).into(), &dense.into())));
    };
    // The stride of an axis of size 1 is 0, so that all positions read its one element.
    let strides = dense.strides();
    let strides: Vec<usize> = (0..shape.rank())
        .map(|a| a.checked_sub(lead).map_or(0, |d| if dense[d] == 1 { 0 } else { strides[d] }))
        .collect();
    let places = Charged::of((0..all.n).map(|row| all.offset(row, &strides)))?;
    let out = join(cx, &all, &places)?;
    cx.set(0, out);
    Ok(())
}

fn each<T: Lane + Num>(
    cx: &KernelCx,
    all: &Entries,
    places: &[usize],
    f: impl Fn(T, T) -> T,
) -> Result<Tensor> {
    let (dense, values) = (cx.input(3).as_slice::<T>()?, all.values.as_slice::<T>()?);
    Tensor::from_iter([all.n], values.iter().zip(places).map(|(x, at)| f(*x, dense[*at])))
}

// The dense elements are gathered at the entries; their gradients are summed there.
fn grad<'g>(cx: &mut GradCx<'g, '_>, partials: Partials<'g>) -> Result<()> {
    let (dy, indices, shape) = (cx.grad(0), cx.input(0), cx.input(2));
    // Along axes where the dense tensor has size 1, and along those it lacks, all entries share one element.
    let dense = match Dims::of_input(cx, 3) {
        Dims::Known(dims) => cx.graph().constant(dims.into_iter().map(i64::from).collect::<Vec<i64>>()),
        Dims::Made(dims) => cx.op("Cast").input(dims).attr("DstT", I64).output(),
    };
    let lacking = cx.call("Size", [shape]) - cx.call("Size", [dense]);
    let lacking = cx.op("Reshape").input(lacking).input([1]).output();
    let whole = cx
        .op("ConcatV2")
        .input(cx.op("Fill").input(lacking).input(1i64).output())
        .input(dense)
        .input(0)
        .output();
    let one = cx.graph().constant(1i64);
    let repeats = cx.call("FloorDiv", [cx.call("Maximum", [shape, one]), whole]);
    let places = cx.call("FloorDiv", [indices, repeats]);
    let from = cx.op("ConcatV2").input(cx.ints(&[0])).input(lacking).input(0).output();
    let places = cx.op("Slice").input(places).input(from).input([-1, -1]).output();
    let (dvalues, delements) = partials(cx, dy, places);
    cx.give(1, dvalues);
    if cx.wants(3) {
        cx.give(3, cx.call("ScatterNd", [places, delements, dense]));
    }
    Ok(())
}

/// Returns the conjugates of the elements of `dense` at the entries, and of the values.
fn factors<'g>(cx: &mut GradCx<'g, '_>, places: Output<'g>) -> (Output<'g>, Output<'g>) {
    let (dense, values) = (cx.input(3), cx.input(1));
    let elements = cx.call("GatherNd", [dense, places]);
    (cx.conj(elements), cx.conj(values))
}

fn of_product<'g>(cx: &mut GradCx<'g, '_>, dy: Output<'g>, places: Output<'g>) -> (Output<'g>, Output<'g>) {
    let (elements, values) = factors(cx, places);
    (dy * elements, dy * values)
}

fn of_quotient<'g>(cx: &mut GradCx<'g, '_>, dy: Output<'g>, places: Output<'g>) -> (Output<'g>, Output<'g>) {
    let (elements, values) = factors(cx, places);
    (dy / elements, -(dy * (values / cx.call("Square", [elements]))))
}

cases! {
    multiplies: "SparseDenseCwiseMul(i64 [[0 1] [2 0]], [5 6], i64 [3 3], [[1 2 3] [1 2 3] [4 5 6]]) = [10 24]",
    a_row_for_all: "SparseDenseCwiseMul(i64 [[0 1] [2 0]], [5 6], i64 [3 3], [1 2 3]) = [10 6]",
    a_column_for_all: "SparseDenseCwiseAdd(i64 [[0 1] [2 0]], [5.0 6.0], i64 [3 3], [[1.0] [2.0] [3.0]]) = [6.0 9.0]",
    divides: "SparseDenseCwiseDiv(i64 [[0] [1]], [5.0 6.0], i64[1] [2], 2.0) = [2.5 3.0]",
    nothing: "SparseDenseCwiseDiv(i64[0,1] [], i32[0] [], i64[1] [2], [0 0]) = i32[0] []",
    infers: "SparseDenseCwiseMul(i64[5,2], f32[?], i64[2], f32[3]) : f32[5]",
    by_zero: "SparseDenseCwiseDiv(i64 [[1]], [5], i64[1] [2], [1 0]) ! division by zero: row 0 of `sp_indices` is [1]",
    only_dense_spreads: "SparseDenseCwiseMul(i64 [[0]], [5], i64[1] [1], [1 2]) ! does not broadcast to the shape [1]",
}
