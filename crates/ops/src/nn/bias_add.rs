//! `BiasAdd`, `BiasAddV1`: addition of a bias vector along the channels.

use crate::number::{Number, no_kernel};
use millstream_graph::Attrs;
use millstream_graph::op::spec::{self, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, unequal, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name| {
        OpDef::new(name)
            .input("value", "T")
            .input("bias", "T")
            .output("output", "T")
            .attr("T", spec::Number)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        def("BiasAdd")
            .doc(
                "Adds `bias` to `value` along the channels: the last axis, or axis 1 if `data_format` is \
                 NCHW.",
            )
            .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC")),
        def("BiasAddV1").doc("Adds `bias` to `value` along the last axis."),
    ]
}

/// Checks that input 0 may have the rank that the data format implies: NCHW has an axis behind the channels.
pub(super) fn rank_fits(cx: &InferCx) -> Result<()> {
    cx.at_least_rank(0, if is_second(cx.attrs())? { 3 } else { 2 })
}

fn is_second(attrs: &Attrs) -> Result<bool> {
    Ok(attrs.get("data_format").is_some() && **attrs.str("data_format")? == *b"NCHW")
}

/// Returns the axis of the channels.
pub(super) fn channels(name: &str, attrs: &Attrs, rank: usize) -> Result<usize> {
    ensure!(2 <= rank, "Shape must be at least rank 2 but is rank {rank}"; "`{name}` must have rank 2 or more but has rank {rank}");
    Ok(if is_second(attrs)? { 1 } else { rank - 1 })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let bias = cx.vector(1)?;
    let value = cx.input(0);
    rank_fits(cx)?;
    if let Some(dims) = value.dims() {
        let axis = channels("value", cx.attrs(), dims.len())?;
        let n = match (dims[axis], bias) {
            (Some(n), Some(b)) if n != b => {
                return Err(
                    invalid!("{}", unequal(n, b); "`bias` has {b} entries but `value` of shape {value} has {n} channels"),
                );
            }
            (n, b) => n.or(b),
        };
        let shape = dims.iter().enumerate().map(|(i, d)| if i == axis { n } else { *d });
        cx.set(0, PartialShape::new(shape));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let axis = channels("value", cx.attrs(), cx.input(0).rank())
        .map_err(|e| e.led_by(format!("Input tensor must be at least 2D: {}", cx.input(0).shape())))?;
    ensure!(cx.input(1).rank() == 1, "Biases must be 1D: {}", cx.input(1).shape(); "`bias` must be a vector");
    let (mut value, bias) = (cx.take(0), cx.take(1));
    let n = value.shape()[axis];
    ensure!(
        bias.shape().dims() == [n],
        "Must provide as many biases as the {} dimension of the input tensor: {} vs. {}",
        if axis + 1 == value.rank() { "last" } else { "channel" },
        bias.shape(),
        value.shape();
        "`bias` has shape {} but `value` of shape {} has {n} channels",
        bias.shape(),
        value.shape()
    );
    with_element!(value.dtype(), T in numbers => add::<T>(&mut value, &bias, axis), else => Err(no_kernel(cx.node.op.name, value.dtype())))?;
    cx.set(0, value);
    Ok(())
}

fn add<T: Number>(value: &mut Tensor, bias: &Tensor, axis: usize) -> Result<()> {
    let inner: usize = value.shape()[axis + 1..].iter().product();
    let (cells, bias) = (value.make_mut_or_copy::<T>()?, bias.as_slice::<T>()?);
    if cells.is_empty() {
        return Ok(());
    }
    for plane in cells.chunks_exact_mut(bias.len() * inner) {
        match inner {
            1 => plane.iter_mut().zip(bias).for_each(|(c, b)| *c = c.add(*b)),
            _ => {
                for (row, b) in plane.chunks_exact_mut(inner).zip(bias) {
                    row.iter_mut().for_each(|c| *c = c.add(*b));
                }
            }
        }
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, dy);
    if cx.wants(1) {
        let node = cx.op("BiasAddGrad").input(dy);
        let node = match cx.attrs().get("data_format") {
            Some(format) => node.attr("data_format", format.clone()),
            None => node,
        };
        cx.give(1, node.output());
    }
    Ok(())
}

cases! {
    adds_to_rows: "BiasAdd([[1.0 2.0] [3.0 4.0]], [10.0 20.0]) = [[11.0 22.0] [13.0 24.0]]",
    first_version: "BiasAddV1([[1 2] [3 4]], [10 20]) = [[11 22] [13 24]]",
    channels_first: "BiasAdd([[[1 2] [3 4]]], [10 20]; data_format=\"NCHW\") = [[[11 12] [23 24]]]",
    nothing_behind_channels: "BiasAdd(f32[2,3], f32[3]; data_format=\"NCHW\") ! Shape must be at least rank 3 but is rank 2",
    shape: "BiasAdd(f32[?,?], f32[3]) : f32[?,3]",
    needs_a_matrix: "BiasAdd([1.0], [1.0]) ! `value` must have rank 2 or more",
    bias_fits: "BiasAdd([[1.0]], [1.0 2.0]) ! has 1 channels",
    known_format: "BiasAdd([[1.0]], [1.0]; data_format=\"CHWN\") ! must be one of NHWC, NCHW",
}
