//! `TruncateMod` and `Mod`: remainder with the sign of the dividend.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Real => x.trunc_mod(y); y.divides_nothing() => "division by zero: `y` has a zero; mask it with Select before dividing");

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "What `TruncateDiv` leaves: has the sign of `x`.";
    [binary!("TruncateMod", reals, Formula), binary!("Mod", reals, Formula)]
        .map(|def| def.doc(doc).gradient(Gradient::of(grad)))
}

// d(x mod y) = dx - trunc(x / y) dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    cx.give_summed(0, dz);
    if cx.wants(1) {
        let (x, y) = (cx.input(0), cx.input(1));
        cx.give_summed(1, dz * -cx.call("TruncateDiv", [x, y]));
    }
    Ok(())
}

cases! {
    has_the_sign_of_the_dividend: "TruncateMod([7 -7 7], [3 3 -3]) = [1 -1 1]",
    by_its_old_name: "Mod([-7.0 7.5], [3.0 2.0]) = [-1.0 1.5]",
    refuses_zero: "Mod(1, 0) ! division by zero",
    broadcasts_shapes: "TruncateMod(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "TruncateMod(i32[2], i32[3]) ! do not broadcast",
}
