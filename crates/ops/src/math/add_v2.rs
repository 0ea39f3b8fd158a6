//! `AddV2`: the elementwise sum.

use millstream_graph::op::{GradCx, Gradient, Meaning, OpDef, Operator};
use millstream_tensor::Result;

formula!(x, y: Num => x.add(y));

pub(crate) fn def() -> OpDef {
    binary!("AddV2", numbers, Formula)
        .doc("Computes `x + y` elementwise, with broadcasting. Integers wrap around.")
        .operator(Operator::Add)
        .means(Meaning::Sum)
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    for i in 0..2 {
        if cx.wants(i) {
            cx.give_summed(i, dz);
        }
    }
    Ok(())
}

cases! {
    adds: "AddV2(1, 2) = 3",
    wraps_around: "AddV2(i8 127, i8 1) = i8 -128",
    adds_to_each: "AddV2([1 2 3], 10) = [11 12 13]",
    adds_from_each: "AddV2(1.5, [1.0 2.0]) = [2.5 3.5]",
    adds_rows: "AddV2([[1 2] [3 4]], [10 20]) = [[11 22] [13 24]]",
    adds_complex: "AddV2(c64 [1+2i], c64 [3-1i]) = c64 [4+1i]",
    rounds_halves_each_time: "AddV2(f16 2048, f16 1) = f16 2048",
    broadcasts_shapes: "AddV2(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_equal_types: "AddV2(1, 2.0) ! `y` is f32 but must be i32",
    wants_shapes_that_fit: "AddV2([1 2], [1 2 3]) ! do not broadcast",
}
