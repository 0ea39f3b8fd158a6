//! Helpers that Real, Imag, Angle and ComplexAbs share.

use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, OpDef};
use millstream_tensor::DType::{C64, C128, F32, F64};
use millstream_tensor::{Result, ensure};

/// Declares an op from complex numbers to floats of the dtype of their parts.
pub(crate) fn parts_op(
    name: &'static str,
    input: &'static str,
    output: &'static str,
    kernel: Kernel,
) -> OpDef {
    OpDef::new(name)
        .input(input, "T")
        .output(output, "Tout")
        .attr("T", OneOf(&[C64, C128]).or(C64))
        .attr("Tout", OneOf(&[F32, F64]).or(F32))
        .infer(|cx| {
            check_widths(cx, "T", "Tout")?;
            cx.same_as_input()
        })
        .kernel(kernel)
}

/// Returns an error unless the dtype attribute `whole` is the complex dtype with parts of the dtype attribute
/// `part`.
pub(crate) fn check_widths(cx: &InferCx, whole: &str, part: &str) -> Result<()> {
    let (w, p) = (cx.attrs().dtype(whole)?, cx.attrs().dtype(part)?);
    ensure!(
        matches!((w, p), (C64, F32) | (C128, F64)),
        "{}: `{whole}` is {w} but `{part}` is {p}; c64 goes with f32, c128 with f64",
        cx.node().op.name
    );
    Ok(())
}
