//! `FractionalAvgPool` and `FractionalAvgPoolGrad`: means of windows of two sizes, and the gradient.

use super::fractional::{CELLS, Call, Draws, pool};
use crate::number::{Number, no_kernel};
use crate::shared::casting::To;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{BuildCx, Cost, Effect, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::{F64, I64};
use millstream_tensor::{Element, Result, Shape, Tensor, ensure, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        pool(OpDef::new("FractionalAvgPool"))
            .doc(
                "Returns the mean of each window and each channel of images, `[batch, rows, columns, channels]`. The \
                 number of windows along rows and columns is the size over the entry of `pooling_ratio`, rounded \
                 down; its first and last entries are 1. Windows have two sizes, in random order, or from a random \
                 start on if `pseudo_random`. With `overlapping` the cell at a border belongs to both windows. With \
                 `deterministic` all runs have the same windows, which `seed` and `seed2` determine. Also returns \
                 the borders of the windows along rows and columns.",
            )
            .kernel(Kernel::build(Effect::Stateful, build).cost(Cost::PerElement(4.0)))
            .gradient(Gradient::of(grad)),
        OpDef::new("FractionalAvgPoolGrad")
            .doc(
                "Distributes `out_backprop`, the gradient of each window of a FractionalAvgPool over images of shape \
                 `orig_input_tensor_shape`, to the cells of the window in equal parts.",
            )
            .input("orig_input_tensor_shape", I64)
            .on_host()
            .input("out_backprop", "T")
            .input("row_pooling_sequence", I64)
            .input("col_pooling_sequence", I64)
            .output("output", "T")
            .attr("overlapping", Bool.or(false))
            .attr("T", OneOf(CELLS))
            .infer(infer_grad)
            .kernel(Kernel::pure(run_grad).cost(Cost::PerElement(8.0)))
            .gradient(Gradient::Missing("as in TensorFlow, a fractional pool has no second derivative")),
    ]
}

fn infer_grad(cx: &mut InferCx) -> Result<()> {
    if let Some(n) = cx.vector(0)? {
        ensure!(n == 4, "Dimension must be 4 but is {n}"; "`orig_input_tensor_shape` is the shape of images");
    }
    let shape = cx.as_shape(0)?;
    cx.set(
        0,
        if shape.rank().is_some() { shape } else { millstream_tensor::PartialShape::unknown_of_rank(4) },
    );
    Ok(())
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let draws = Draws::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let call = Call::draw(cx, &draws, "average")?;
        let value = cx.take(0);
        let out = with_element!(value.dtype(), T in [F32 F64 I32 I64] => means::<T>(&call, value.as_slice()?),
            else => Err(no_kernel("FractionalAvgPool", value.dtype())))?;
        cx.set(0, out);
        cx.set(1, call.borders(0)?);
        cx.set(2, call.borders(1)?);
        Ok(())
    }))
}

fn means<T: Element + Number>(call: &Call, image: &[T]) -> Result<Tensor> {
    let mut out = Tensor::zeros(T::DTYPE, call.output)?;
    let (cells, depth) = (fresh::<T>(&mut out)?, call.output[3]);
    call.each(|p| {
        let row = &mut cells[p * depth..][..depth];
        call.cells(p, |at| row.iter_mut().zip(&image[at..]).for_each(|(sum, x)| *sum = sum.add(*x)));
        let n = T::count(call.count(p));
        row.iter_mut().for_each(|sum| *sum = sum.over(n));
    })?;
    Ok(out)
}

fn run_grad(cx: &mut KernelCx) -> Result<()> {
    let sizes = cx.ints(0)?;
    ensure!(
        cx.input(0).rank() == 1 && sizes.len() == 4,
        "original input tensor shape must be1-dimensional and 4 elements"; "`orig_input_tensor_shape` is {sizes:?}"
    );
    let shape = Shape::from_signed(&sizes)?;
    shape.checked_elements()?;
    let call = Call::given(cx, 2, &shape)?;
    let dtype = cx.input(1).dtype();
    let grads = cx.take(1);
    let out = with_element!(dtype, T in [F32 F64 I32 I64] => spread::<T>(&call, grads.as_slice()?),
        else => Err(no_kernel("FractionalAvgPoolGrad", dtype)))?;
    cx.set(0, crate::shared::casting::cast(&out, dtype)?);
    Ok(())
}

// As in TensorFlow, sums are in f64 and converted once.
fn spread<T: Element + To<f64>>(call: &Call, grads: &[T]) -> Result<Tensor> {
    let mut out = Tensor::zeros(F64, call.input)?;
    let (image, depth) = (fresh::<f64>(&mut out)?, call.output[3]);
    call.each(|p| {
        let (grads, n) = (&grads[p * depth..][..depth], call.count(p) as f64);
        call.cells(p, |at| {
            image[at..].iter_mut().zip(grads).for_each(|(sum, g)| *sum += To::<f64>::to(*g) / n);
        });
    })?;
    Ok(out)
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, rows, columns) = (cx.grad(0), cx.output(1), cx.output(2));
    let shape = cx.shape_of_input(0);
    let shape = cx.op("Cast").input(shape).attr("DstT", I64).output();
    let node = cx.op("FractionalAvgPoolGrad").inputs([shape, dy, rows, columns]);
    let dx = node.attr("overlapping", cx.attrs().bool("overlapping")?).output();
    cx.give(0, dx);
    Ok(())
}

cases! {
    of_equal_windows: "FractionalAvgPool([[[[1.0] [2.0] [3.0] [4.0]] [[5.0] [6.0] [7.0] [8.0]]]]; pooling_ratio={1.0, 2.0, 2.0, 1.0}) = [[[[3.5] [5.5]]]], i64[2] [0 2], i64[3] [0 2 4]",
    of_one_window: "FractionalAvgPool([[[[1.0] [2.0] [6.0]]]]; pooling_ratio={1.0, 1.0, 2.5, 1.0}, pseudo_random=true, deterministic=true, seed=3) = [[[[3.0]]]], i64[2] [0 1], i64[2] [0 3]",
    overlapping: "FractionalAvgPool(i32[1,1,4,1] [[[[1] [2] [9] [4]]]]; pooling_ratio={1.0, 1.0, 2.0, 1.0}, overlapping=true) = i32[1,1,2,1] [[[[4] [6]]]], i64[2] [0 1], i64[3] [0 2 4]",
    back: "FractionalAvgPoolGrad(i64[4] [1 1 3 1], [[[[3.0] [4.0]]]], i64[2] [0 1], i64[3] [0 1 3]; overlapping=true) = [[[[1.5] [3.5] [2.0]]]]",
    infers: "FractionalAvgPool(f32[?,7,?,3]; pooling_ratio={1.0, 1.5, 2.0, 1.0}) : f32[?,4,?,3], i64[5], i64[?]",
    infers_back: "FractionalAvgPoolGrad(i64[4] [1 2 3 4], f64[..], i64[?], i64[?]) : f64[1,2,3,4]",
    four_ratios: "FractionalAvgPool(f32[1,2,2,1]; pooling_ratio={1.0, 2.0, 2.0}) ! passed list of length 3 less than minimum 4",
    not_of_images: "FractionalAvgPool([[[[1.0]]] [[[1.0]]]]; pooling_ratio={2.0, 1.0, 1.0, 2.0}) ! not yet supported on the batch nor channel dimension",
    a_window_is_left: "FractionalAvgPool([[[[1.0]]]]; pooling_ratio={1.0, 2.0, 1.0, 1.0}) ! Pooling ratio is higher than input dimension size for dimension 1",
    no_smaller_ratio: "FractionalAvgPool([[[[1.0]]]]; pooling_ratio={1.0, 0.5, 1.0, 1.0}) ! pooling_ratio cannot be smaller than 1",
    seeds_determine: "FractionalAvgPool([[[[1.0]]]]; pooling_ratio={1.0, 1.0, 1.0, 1.0}, seed=2) ! Both seed and seed2 should be 0 if deterministic is false.",
    within_the_image: "FractionalAvgPoolGrad(i64[4] [1 1 3 1], [[[[3.0] [4.0]]]], i64[2] [0 1], i64[3] [0 1 9]) ! `col_pooling_sequence` must increase from 0 to at most 3",
    of_four_axes: "FractionalAvgPoolGrad(i64[3] [1 1 3], [[[[3.0]]]], i64[2] [0 1], i64[2] [0 3]) ! Dimension must be 4 but is 3",
}
