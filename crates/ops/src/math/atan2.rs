//! `Atan2`: the angle of a point.

use millstream_graph::op::OpDef;

formula!(y, x: Float => y.atan2(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("Atan2")
        .doc("The angle of the point `(x, y)`, in -pi..=pi, with broadcasting.")
        .input("y", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", dtypes!(floats))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, floats, Formula))
}

cases! {
    angles: "Atan2([0.0 1.0 0.0], [1.0 0.0 -1.0]) ~ [0.0 1.5707964 3.1415927]",
    broadcasts_shapes: "Atan2(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Atan2(f32[2], f32[3]) ! do not broadcast",
}
