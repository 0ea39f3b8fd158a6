//! `RealDiv` and `Div`: the elementwise quotient.

use crate::shared::elementwise::Failure;
use millstream_graph::op::{GradCx, Gradient, OpDef, Operator};
use millstream_tensor::Result;

formula!(x, y: Num => x.div(y); y.divides_nothing() => Failure::DIVISION);

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Computes `x / y` elementwise, with broadcasting. Integer quotients are rounded towards zero; \
               an integer division by zero is an error.";
    [binary!("RealDiv", numbers, Formula).operator(Operator::Div), binary!("Div", numbers, Formula)]
        .map(|def| def.doc(doc).gradient(Gradient::of(grad)))
}

// d(x / y) = dx / y - (x / y) / y dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(1));
    let y = cx.conj(y);
    if cx.wants(0) {
        cx.give_summed(0, dz / y);
    }
    if cx.wants(1) {
        let z = cx.output(0);
        let z = cx.conj(z);
        cx.give_summed(1, -dz * (z / y));
    }
    Ok(())
}

cases! {
    divides: "RealDiv([1.0 -1.0 0.0], [4.0 0.0 0.0]) ~ [0.25 -inf nan]",
    by_its_old_name: "Div([7 -7], 2) = [3 -3]",
    complex: "RealDiv(c64 [5+5i], c64 [3-1i]) ~ c64 [1+2i]",
    refuses_zero: "Div([1 2], [1 0]) ! division by zero",
    refuses_a_zero_scalar: "Div(1, 0) ! division by zero",
    broadcasts_shapes: "Div(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Div(i32[2], i32[3]) ! do not broadcast",
}
