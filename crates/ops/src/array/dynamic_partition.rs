//! `DynamicPartition`: distributes the rows of a tensor over several outputs.

use crate::shared::axes::{entry, joined, prefix_difference, product};
use millstream_graph::op::spec::{AnyType, AtLeast};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Result, Shape, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("DynamicPartition")
        .doc(
            "Partitions `data` by `partitions`: output `i` holds, in order, the slices of `data` whose \
             entry in `partitions` is `i`. The shape of `data` must begin with that of `partitions`.",
        )
        .input("data", "T")
        .input("partitions", DType::I32)
        .outputs("outputs", "num_partitions", "T")
        .attr("num_partitions", AtLeast(1))
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (Some(data), Some(partitions)) = (cx.input(0).dims(), cx.input(1).dims()) else { return Ok(()) };
    let begins = data.len() >= partitions.len()
        && data.iter().zip(partitions).all(|(d, p)| d.is_none() || p.is_none() || d == p);
    ensure!(
        begins,
        "{}",
        prefix_difference(cx.input(0), cx.input(1));
        "`data` has shape {}, which does not begin with {} of `partitions`",
        cx.input(0),
        cx.input(1)
    );
    let shape = joined(&[&[None], &data[partitions.len()..]]);
    (0..cx.n_outputs()).for_each(|i| cx.set(i, shape.clone()));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (data, partitions) = (cx.input(0), cx.input(1));
    let rest = data.shape().strip_prefix(&partitions.shape()[..]).ok_or_else(|| {
        invalid!(
            "data.shape must start with partitions.shape, got data.shape = {}, partitions.shape = {}",
            data.shape(), partitions.shape();
            "`data` has shape {}, which does not begin with {} of `partitions`",
            data.shape(),
            partitions.shape()
        )
    })?;
    let run = product(rest);
    let n = cx.n_outputs();
    // Each place is in one of lists that grow twice as much.
    let _room = Room::of(partitions.elements().saturating_mul(3 * size_of::<usize>()))?;
    let mut starts: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut pace = Pace::new();
    for (i, &p) in partitions.as_slice::<i32>()?.iter().enumerate() {
        pace.spend(1)?;
        let list = usize::try_from(p).ok().and_then(|p| starts.get_mut(p));
        list.ok_or_else(|| {
            invalid!(
            "{} = {p} is not in [0, {n})", entry("partitions", partitions.shape(), i);
            "`partitions` {i} (counted flat) is {p}, which is not in 0..{n}")
        })?
        .push(i * run);
    }
    let shapes = starts.iter().map(|s| Shape::new(std::iter::once(s.len()).chain(rest.iter().copied())));
    let outs = shapes
        .zip(&starts)
        .map(|(shape, starts)| data.take_runs(shape, run, starts))
        .collect::<Result<Vec<_>>>()?;
    outs.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

// Partitioning the row numbers alike tells where each row of the gradient belongs.
fn grad(cx: &mut GradCx) -> Result<()> {
    let shape = cx.shape_of_input(1);
    let partitions = cx.input(1);
    let size = cx.op("Prod").input(shape).input([0]).output();
    let places = cx.op("Range").input(0).input(size).input(1).output();
    let places = cx.reshaped_to_input(1, places);
    let n = cx.n_outputs();
    let places =
        cx.op("DynamicPartition").inputs([places, partitions]).attr("num_partitions", n as i64).finish();
    let mut parts = places.outputs();
    for i in 0..n {
        parts.push(cx.grad(i));
    }
    let dx = cx.op("DynamicStitch").inputs(parts).attr("N", n as i64).output();
    let dx = if cx.input_shape(1).rank() == Some(1) { dx } else { cx.reshaped_to_input(0, dx) };
    cx.give(0, dx);
    Ok(())
}

cases! {
    elements: "DynamicPartition([10 20 30 40], [0 1 0 1]; num_partitions=2) = [10 30], [20 40]",
    rows: "DynamicPartition([[1 2] [3 4]], [1 0]; num_partitions=2) = [[3 4]], [[1 2]]",
    matrix_of_numbers: "DynamicPartition([[1 2] [3 4]], [[0 1] [1 0]]; num_partitions=2) = [1 4], [2 3]",
    an_empty_one: "DynamicPartition(['a'], [1]; num_partitions=2) = str[0] [], ['a']",
    a_scalar: "DynamicPartition([1 2], 0; num_partitions=1) = [[1 2]]",
    infers: "DynamicPartition(f32[?,3], i32[?]; num_partitions=2) : f32[?,3], f32[?,3]",
    out_of_range: "DynamicPartition([1 2], [0 2]; num_partitions=2) ! `partitions` 1 (counted flat) is 2, which is not in 0..2",
    shapes_differ: "DynamicPartition([1 2], [0]; num_partitions=2) ! does not begin with",
}
