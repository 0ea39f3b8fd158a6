//! `BatchMatMul`, `BatchMatMulV2`, `BatchMatMulV3`: products of batches of matrices. V2 broadcasts the
//! batches; V3 also casts the matrices before it multiplies them.

use super::matrices::{at_least, split};
use super::product::{Matrix, Product};
use crate::number::no_kernel;
use crate::shared::casting::cast;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, Number, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{
    DType, Error, PartialShape, Result, Shape, Tensor, ensure, invalid, unequal, with_element,
};

pub(crate) fn def() -> [OpDef; 3] {
    let equal = |def: OpDef| {
        def.infer(|cx| infer(cx, false))
            .kernel(Kernel::pure(|cx| run(cx, false)).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad(cx, false)))
    };
    let broadcast = |def: OpDef| {
        def.infer(|cx| infer(cx, true))
            .kernel(Kernel::pure(|cx| run(cx, true)).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad(cx, true)))
    };
    let of_one_type =
        |name| OpDef::new(name).input("x", "T").input("y", "T").output("output", "T").attr("T", Number);
    let of_any_types = |name| {
        let def = OpDef::new(name).input("x", "Ta").input("y", "Tb").output("output", "Tout");
        def.attr("Ta", Number).attr("Tb", Number).attr("Tout", Number)
    };
    [
        equal(of_one_type("BatchMatMul")).doc(
            "Multiplies the matrices of two batches of equal shape pairwise. `adj_x` and `adj_y` take \
                 the adjoint (conjugate transpose) of a side first.",
        ),
        broadcast(of_one_type("BatchMatMulV2")).doc(
            "Multiplies the matrices of two batches pairwise, with broadcasting of the batch \
                 dimensions. `adj_x` and `adj_y` take the adjoint (conjugate transpose) of a side first.",
        ),
        broadcast(of_any_types("BatchMatMulV3")).doc(
            "Multiplies batches of matrices as BatchMatMulV2 does, after casting both inputs to `Tout`.",
        ),
    ]
    .map(|def| {
        def.attr("adj_x", Bool.or(false))
            .attr("adj_y", Bool.or(false))
            .attr("grad_x", Bool.or(false))
            .attr("grad_y", Bool.or(false))
    })
}

fn infer(cx: &mut InferCx, broadcasts: bool) -> Result<()> {
    let (ax, ay) = (cx.attrs().bool("adj_x")?, cx.attrs().bool("adj_y")?);
    let (x, y) = (cx.input(0), cx.input(1));
    at_least("x", x, 2)?;
    at_least("y", y, 2)?;
    let (Some([bx @ .., xr, xc]), Some([by @ .., yr, yc])) = (x.dims(), y.dims()) else {
        return Ok(());
    };
    let (m, kx) = if ax { (xc, xr) } else { (xr, xc) };
    let (ky, n) = if ay { (yc, yr) } else { (yr, yc) };
    ensure!(
        kx.is_none() || ky.is_none() || kx == ky,
        "{}", unequal(kx.unwrap_or(0), ky.unwrap_or(0));
        "{}", inner(x, ax, y, ay)
    );
    let (bx, by) = (PartialShape::new(bx.iter().copied()), PartialShape::new(by.iter().copied()));
    let batch = if broadcasts { bx.broadcast(&by) } else { bx.merge(&by) };
    let batch = batch.ok_or_else(|| {
        batches(broadcasts, &bx, &by).led_by(match broadcasts {
            true => bx.no_broadcast(&by),
            false => bx.difference(&by),
        })
    })?;
    let dims = batch.dims().unwrap_or(&[]).iter().copied().chain([*m, *n]);
    cx.set(0, PartialShape::new(dims));
    Ok(())
}

fn inner(x: &PartialShape, ax: bool, y: &PartialShape, ay: bool) -> String {
    let turned = |t: bool| if t { " (adjoint)" } else { "" };
    format!(
        "the inner dimensions of a product must agree: `x` has shape {x}{}, `y` has shape {y}{}",
        turned(ax),
        turned(ay)
    )
}

fn batches(broadcasts: bool, x: &PartialShape, y: &PartialShape) -> Error {
    match broadcasts {
        true => invalid!("the batch dimensions {x} of `x` and {y} of `y` do not broadcast"),
        false => invalid!("the batch dimensions {x} of `x` and {y} of `y` must be equal")
            .with_help("BatchMatMulV2 broadcasts them"),
    }
}

fn run(cx: &mut KernelCx, broadcasts: bool) -> Result<()> {
    let (ax, ay) = (cx.attrs().bool("adj_x")?, cx.attrs().bool("adj_y")?);
    let dtype = cx.node.output_types[0].dtype;
    let (x, y) = (&cast(cx.input(0), dtype)?, &cast(cx.input(1), dtype)?);
    let ((bx, xr, xc), (by, yr, yc)) = (split("x", x.shape())?, split("y", y.shape())?);
    let (m, kx) = if ax { (xc, xr) } else { (xr, xc) };
    let (ky, n) = if ay { (yc, yr) } else { (yr, yc) };
    ensure!(
        kx == ky,
        "In[0] mismatch In[1] shape: {kx} vs. {ky}: {} {} {} {}",
        x.shape(), y.shape(), u8::from(ax), u8::from(ay);
        "{}", inner(&x.shape().into(), ax, &y.shape().into(), ay)
    );
    let (bx, by) = (Shape::from(bx), Shape::from(by));
    let batch = match broadcasts {
        true => bx.broadcast(&by),
        false => (bx == by).then(|| bx.clone()),
    };
    let batch = batch.ok_or_else(|| {
        batches(broadcasts, &(&bx).into(), &(&by).into()).led_by(format!(
            "In[0] and In[1] must have compatible batch dimensions: {} vs. {}",
            x.shape(),
            y.shape()
        ))
    })?;
    let mut shape = batch.clone();
    shape.push(m);
    shape.push(n);
    let out = with_element!(x.dtype(), T in numbers => {
        let (a, b) = (x.as_slice::<T>()?, y.as_slice::<T>()?);
        let mut out = Tensor::anything(x.dtype(), shape)?;
        let cells = out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
        let places = places(&bx, &batch).zip(places(&by, &batch));
        let (x_size, y_size) = (xr * xc, yr * yc);
        if m != 0 && n != 0 {
            let mut pace = Pace::new();
            for (cells, (i, j)) in cells.chunks_exact_mut(m * n).zip(places) {
                pace.spend(m * n + x_size)?;
                let a = a.get(i * x_size..(i + 1) * x_size).unwrap_or(&[]);
                let b = b.get(j * y_size..(j + 1) * y_size).unwrap_or(&[]);
                let (a, b) = (Matrix::new(a, xr, xc)?.adjoint(ax), Matrix::new(b, yr, yc)?.adjoint(ay));
                T::multiply(&*cx.env.host, a, b, cells)?;
            }
        }
        Ok::<_, Error>(out)
    }, else => Err(no_kernel(cx.node.op.name, x.dtype())))?;
    cx.set(0, out);
    Ok(())
}

/// Returns, for each matrix of the broadcast batch, the index of its matrix in the batch `own`.
fn places(own: &Shape, batch: &Shape) -> impl Iterator<Item = usize> + use<> {
    let mut strides = vec![0usize; batch.rank() - own.rank().min(batch.rank())];
    strides.extend(own.iter().zip(own.strides()).map(|(&d, s)| if d == 1 { 0 } else { s }));
    let dims: Vec<usize> = batch.to_vec();
    (0..batch.elements()).map(move |mut i| {
        let mut at = 0;
        for (&dim, &stride) in dims.iter().zip(&strides).rev() {
            at += i % dim * stride;
            i /= dim;
        }
        at
    })
}

fn cost(node: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let [x, y] = inputs else { return 0.0 };
    let adjoint = node.attrs.bool("adj_y").unwrap_or(false);
    let n = match y.shape().dims() {
        [.., rows, cols] => {
            if adjoint {
                *rows
            } else {
                *cols
            }
        }
        _ => 0,
    };
    2.0 * x.elements() as f64 * n as f64 / 100.0
}

// P = X Y: dX = dP Yᴴ, dY = Xᴴ dP. The adjoints of the attributes apply, and gradients are summed over
// broadcast batch dimensions.
fn grad(cx: &mut GradCx, broadcasts: bool) -> Result<()> {
    let (ax, ay) = (cx.attrs().bool("adj_x")?, cx.attrs().bool("adj_y")?);
    let dp = cx.grad(0);
    if cx.wants(0) {
        let y = cx.input(1);
        let dx = if ax {
            multiplied(cx, cx.dtype(0), (y, ay), (dp, true))
        } else {
            multiplied(cx, cx.dtype(0), (dp, false), (y, !ay))
        };
        given(cx, broadcasts, 0, dx);
    }
    if cx.wants(1) {
        let x = cx.input(0);
        let dy = if ay {
            multiplied(cx, cx.dtype(1), (dp, true), (x, ax))
        } else {
            multiplied(cx, cx.dtype(1), (x, !ax), (dp, false))
        };
        given(cx, broadcasts, 1, dy);
    }
    Ok(())
}

fn given<'g>(cx: &mut GradCx<'g, '_>, broadcasts: bool, i: usize, grad: Output<'g>) {
    match broadcasts {
        true => cx.give_summed(i, grad),
        false => cx.give(i, grad),
    }
}

fn multiplied<'g>(
    cx: &GradCx<'g, '_>,
    dtype: DType,
    (x, ax): (Output<'g>, bool),
    (y, ay): (Output<'g>, bool),
) -> Output<'g> {
    let product = cx.op(cx.node().op.name).input(x).input(y).attr("adj_x", ax).attr("adj_y", ay);
    match cx.attrs().get("Tout") {
        Some(_) => product.attr("Tout", dtype).output(),
        None => product.output(),
    }
}

cases! {
    multiplies_each: "BatchMatMul([[[1 2]] [[3 4]]], [[[5] [6]] [[7] [8]]]) = [[[17]] [[53]]]",
    broadcasts: "BatchMatMulV2([[[1 2]] [[3 4]]], [[5] [6]]) = [[[17]] [[39]]]",
    takes_adjoints: "BatchMatMulV2(c64[1,1] [[1+2j]], c64[1,1] [[1j]]; adj_x=true) = c64[1,1] [[2+1j]]",
    of_other_types: "BatchMatMulV3(i8 [[100 100]], u8 [[2] [3]]; Tout=i32) = [[500]]",
    an_empty_batch: "BatchMatMulV2(f32[0,1,2], f32[2,3]) : f32[0,1,3]",
    broadcasts_shapes: "BatchMatMulV2(f32[?,1,3,4], f32[5,4,?]) : f32[?,5,3,?]",
    equal_batches: "BatchMatMul(f32[2,1,1], f32[3,1,1]) ! must be equal",
    inner_dimensions: "BatchMatMulV2([[1 2]], [[1 2]]) ! the inner dimensions",
    needs_matrices: "BatchMatMulV2([1 2], [[1 2]]) ! `x` must have rank 2 or more",
}
