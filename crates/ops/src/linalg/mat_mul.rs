//! `MatMul`: the product of two matrices.

use super::matrices::split;
use super::product::{Matrix, Product};
use crate::array;
use crate::number::no_kernel;
use crate::shared::sum::sum;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, Number, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef, StepHost};
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, ensure, invalid, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatMul")
        .doc("Multiplies two matrices. `transpose_a` and `transpose_b` transpose a side first.")
        .input("a", "T")
        .input("b", "T")
        .output("product", "T")
        .attr("transpose_a", Bool.or(false))
        .attr("transpose_b", Bool.or(false))
        .attr("T", Number)
        .attr("grad_a", Bool.or(false))
        .attr("grad_b", Bool.or(false))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)).accumulating(accumulate).narrowing(narrow))
        .gradient(Gradient::of(grad))
}

pub(super) fn infer(cx: &mut InferCx) -> Result<()> {
    let (ta, tb) = (cx.attrs().bool("transpose_a")?, cx.attrs().bool("transpose_b")?);
    let (a, b) = (cx.with_rank(0, 2)?, cx.with_rank(1, 2)?);
    let (m, ka) = (a.dim(usize::from(ta)), a.dim(usize::from(!ta)));
    let (kb, n) = (b.dim(usize::from(tb)), b.dim(usize::from(!tb)));
    if let (Some(ka), Some(kb)) = (ka, kb) {
        ensure!(ka == kb, "{}", unequal(ka, kb); "{}", inner(&a, ta, ka, &b, tb, kb));
    }
    cx.set(0, PartialShape::new([m, n]));
    Ok(())
}

fn inner(a: &PartialShape, ta: bool, ka: usize, b: &PartialShape, tb: bool, kb: usize) -> String {
    let turned = |t: bool| if t { " transposed" } else { "" };
    format!(
        "the inner dimensions of a product must agree: `a` of shape {a}{} has {ka} columns, `b` of shape {b}{} has {kb} rows",
        turned(ta),
        turned(tb)
    )
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = multiply(cx.node, cx.input(0), cx.input(1), &*cx.env.host)?;
    cx.set(0, out);
    Ok(())
}

pub(crate) fn multiply(node: &NodeInfo, a: &Tensor, b: &Tensor, host: &dyn StepHost) -> Result<Tensor> {
    with_element!(a.dtype(), T in numbers => {
        let [x, y] = sides::<T>(node, a, b)?;
        let mut out = Tensor::anything(a.dtype(), [x.rows, y.cols])?;
        let cells = out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
        T::multiply(host, x, y, cells).map(|()| out)
    }, else => Err(no_kernel("MatMul", a.dtype())))
}

fn sides<'t, T: Product>(node: &NodeInfo, a: &'t Tensor, b: &'t Tensor) -> Result<[Matrix<'t, T>; 2]> {
    let (ta, tb) = (node.attrs.bool("transpose_a")?, node.attrs.bool("transpose_b")?);
    ensure!(a.rank() == 2, "In[0] is not a matrix"; "`a` must be a matrix but has shape {}", a.shape());
    ensure!(b.rank() == 2, "In[1] is not a matrix"; "`b` must be a matrix but has shape {}", b.shape());
    let ((_, ar, ac), (_, br, bc)) = (split("a", a.shape())?, split("b", b.shape())?);
    let x = Matrix::new(a.as_slice::<T>()?, ar, ac)?.transposed(ta);
    let y = Matrix::new(b.as_slice::<T>()?, br, bc)?.transposed(tb);
    ensure!(
        x.cols == y.rows,
        "Matrix size-incompatible: In[0]: {}, In[1]: {}", a.shape(), b.shape();
        "{}", inner(&a.shape().into(), ta, x.cols, &b.shape().into(), tb, y.rows)
    );
    Ok([x, y])
}

/// Adds the product of inputs 1 and 2 to input 0, in its place if nothing else holds it.
fn accumulate(node: &NodeInfo, cx: &mut KernelCx) -> Result<()> {
    let mut total = cx.take(0);
    let (a, b, host) = (cx.input(1), cx.input(2), &*cx.env.host);
    let done = with_element!(a.dtype(), T in numbers => {
        let [x, y] = sides::<T>(node, a, b)?;
        let suits = total.dtype() == a.dtype() && *total.shape() == Shape::from([x.rows, y.cols]);
        match total.make_mut::<T>().filter(|_| suits) {
            Some(cells) => T::accumulate(host, x, y, cells)?,
            None => false,
        }
    }, else => return Err(no_kernel("MatMul", a.dtype())));
    if !done {
        let product = multiply(node, a, b, host)?;
        let shape = total.shape().broadcast(product.shape());
        let shape =
            shape.ok_or_else(|| invalid!("{} and {} cannot be added", total.shape(), product.shape()))?;
        total = sum(cx.node.op.name, [total, product], &shape)?;
    }
    cx.set(0, total);
    Ok(())
}

/// Gives a slice of the product of inputs 2 and 3: it begins at input 0 and has the size input 1.
fn narrow(node: &NodeInfo, cx: &mut KernelCx) -> Result<()> {
    let (a, b, host) = (cx.input(2), cx.input(3), &*cx.env.host);
    let of_slice = |e: Error| e.at_node(&cx.node.name, cx.node.op.name);
    let narrowed = with_element!(a.dtype(), T in numbers => {
        let [x, y] = sides::<T>(node, a, b)?;
        let (begin, shape) =
            array::bounds(&Shape::from([x.rows, y.cols]), cx.input(0), cx.input(1)).map_err(of_slice)?;
        let mut out = Tensor::anything(a.dtype(), shape.clone())?;
        let cells = out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
        let columns = begin[1]..begin[1] + shape[1];
        match shape[0] == x.rows && T::multiply_columns(host, x, y, columns, cells)? {
            true => out,
            false => array::part(multiply(node, a, b, host)?, &begin, shape)?,
        }
    }, else => return Err(no_kernel("MatMul", a.dtype())));
    cx.set(0, narrowed);
    Ok(())
}

/// The estimate assumes 100 floating-point operations per nanosecond.
pub(super) fn cost(node: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let [a, b] = inputs else { return 0.0 };
    let columns = usize::from(!node.attrs.bool("transpose_b").unwrap_or(false));
    let n = b.shape().get(columns).copied().unwrap_or(0);
    2.0 * a.elements() as f64 * n as f64 / 100.0
}

// P = A B: dA = dP Bᵀ, dB = Aᵀ dP. The transpositions of the attributes apply.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (ta, tb) = (cx.attrs().bool("transpose_a")?, cx.attrs().bool("transpose_b")?);
    let dp = cx.grad(0);
    if cx.wants(0) {
        // A weight is transposed once, not in every step of a recurrent net.
        let real = !cx.dtype(1).is_complex();
        let turned = if real && !ta && !tb { cx.transposed_input(1) } else { None };
        let da = match turned {
            Some(turned) => multiplied(cx, (dp, false), (turned, false)),
            None => {
                let b = cx.input(1);
                let b = cx.conj(b);
                if ta { multiplied(cx, (b, tb), (dp, true)) } else { multiplied(cx, (dp, false), (b, !tb)) }
            }
        };
        cx.give(0, da);
    }
    if cx.wants(1) {
        let a = cx.input(0);
        let a = cx.conj(a);
        let db = if tb { multiplied(cx, (dp, true), (a, ta)) } else { multiplied(cx, (a, !ta), (dp, false)) };
        cx.give(1, db);
    }
    Ok(())
}

fn multiplied<'g>(
    cx: &GradCx<'g, '_>,
    (a, ta): (Output<'g>, bool),
    (b, tb): (Output<'g>, bool),
) -> Output<'g> {
    cx.op("MatMul").input(a).input(b).attr("transpose_a", ta).attr("transpose_b", tb).output()
}

cases! {
    multiplies: "MatMul([[1.0 2.0] [3.0 4.0]], [[5.0 6.0] [7.0 8.0]]) = [[19.0 22.0] [43.0 50.0]]",
    transposes_a: "MatMul([[1 2 3]], [[4 5]]; transpose_a=true) = [[4 5] [8 10] [12 15]]",
    transposes_b: "MatMul([[1 2]], [[3 4] [5 6] [7 8]]; transpose_b=true) = [[11 17 23]]",
    transposes_both: "MatMul([[1 2]], [[3] [4]]; transpose_a=true, transpose_b=true) = [[3 4] [6 8]]",
    nothing_sums_to_zero: "MatMul(f32[2,0] [[] []], f32[0,1] []) = [[0.0] [0.0]]",
    keeps_unknowns: "MatMul(f32[?,3], f32[3,?]) : f32[?,?]",
    transposes_shapes: "MatMul(f32[3,7], f32[..]; transpose_a=true) : f32[7,?]",
    inner_dimensions_agree: "MatMul(f32[2,3], f32[2,3]) ! the inner dimensions of a product must agree",
    needs_matrices: "MatMul(f32[3], f32[3,3]) ! `a` must have rank 2",
    inner_dimensions_agree_at_run_time: "MatMul([[1 2]], [[1 2]]) ! has 2 columns, `b` of shape [1,2] has 1 rows",
}
