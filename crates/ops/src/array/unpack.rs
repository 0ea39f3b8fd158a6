//! `Unpack`: splits a tensor along an axis into tensors of lower rank.

use super::split::cut;
use crate::shared::axes::{axis, element, joined, without};
use millstream_graph::op::spec::{AnyType, AtLeast, Int, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("Unpack")
        .doc("Unpacks `value` along `axis` into `num` tensors, which have one axis less.")
        .input("value", "T")
        .outputs("output", "num", "T")
        .attr("num", AtLeast(0))
        .attr("T", AnyType)
        .attr("axis", Int.or(0i64))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let (at, rank) = (cx.attrs().int("axis")?, dims.len() as i64);
    let axis = axis_of(at, dims.len())
        .map_err(|e| e.led_by(format!("Invalid axis: {at}; must be in [{},{rank})", -rank)))?;
    let num = cx.n_outputs();
    if let Some(size) = dims[axis] {
        ensure!(size == num, "Dimension must be {num} but is {size}"; "axis {axis} of `value` has size {size} but `num` is {num}");
    }
    let known = cx.known(0).and_then(Known::entries).filter(|e| e.len() == num && dims.len() == 1);
    for i in 0..num {
        cx.set(i, joined(&[&dims[..axis], &dims[axis + 1..]]));
        if let Some(Some(v)) = known.as_ref().map(|k| k[i]) {
            cx.set_known(i, Known::Partial { entries: [Some(v)].into_iter().collect(), scalar: true });
        }
    }
    Ok(())
}

fn axis_of(at: i64, rank: usize) -> Result<usize> {
    let r = rank as i64;
    axis("axis", at, rank).map_err(|e| e.led_by(format!("axis = {at} not in [{}, {r})", -r)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.take(0);
    let shape = value.shape();
    let axis = axis_of(cx.attrs().int("axis")?, shape.rank())?;
    let num = cx.n_outputs();
    ensure!(
        shape[axis] == num,
        "Input shape axis {axis} must equal {num}, got shape {shape}";
        "axis {axis} of `value` has size {} but `num` is {num}", shape[axis]
    );
    let part = without(shape, axis);
    for i in 0..num {
        let out = match part.rank() {
            0 => element(&value, i)?,
            _ => cut(&value, axis, i, 1)?.into_shape(part.clone())?,
        };
        cx.set(i, out);
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let parts: Vec<_> = (0..cx.n_outputs()).map(|i| cx.grad(i)).collect();
    cx.give(0, cx.op("Pack").inputs(parts).attr("axis", cx.attrs().int("axis")?).output());
    Ok(())
}

cases! {
    a_vector: "Unpack([1 2 3]; num=3) = 1, 2, 3",
    rows: "Unpack([[1 2] [3 4]]; num=2) = [1 2], [3 4]",
    columns: "Unpack([[1 2] [3 4]]; num=2, axis=-1) = [1 3], [2 4]",
    strings: "Unpack(['a' 'b']; num=2) = 'a', 'b'",
    nothing: "Unpack(f32[0,2] []; num=0) = ",
    infers: "Unpack(f32[?,3]; num=2) : f32[3], f32[3]",
    unknown_rank: "Unpack(f32[..]; num=1) : f32[..]",
    wrong_number: "Unpack([1 2 3]; num=2) ! axis 0 of `value` has size 3 but `num` is 2",
    a_scalar: "Unpack(1; num=1) ! a scalar has no axes",
}
