//! What Real, Imag, Angle and ComplexAbs share.

use millstream_graph::Output;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{GradCx, InferCx, Kernel, OpDef};
use millstream_tensor::DType::{C64, C128, F32, F64};
use millstream_tensor::{Result, ensure};

/// An op from complex numbers to floats as wide as their parts.
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

/// An error unless the type attribute `whole` is complex with parts of the type that attribute `part` says.
pub(crate) fn check_widths(cx: &InferCx, whole: &str, part: &str) -> Result<()> {
    let (w, p) = (cx.attrs().dtype(whole)?, cx.attrs().dtype(part)?);
    ensure!(
        matches!((w, p), (C64, F32) | (C128, F64)),
        "{}: `{whole}` is {w} but `{part}` is {p}; c64 goes with f32, c128 with f64",
        cx.node().op.name
    );
    Ok(())
}

/// `Real` or `Imag` of complex numbers.
pub(crate) fn part<'g>(cx: &GradCx<'g, '_>, op: &'static str, x: Output<'g>) -> Output<'g> {
    let wide = matches!(x.dtype(), Ok(C128));
    cx.op(op).input(x).attr("Tout", if wide { F64 } else { F32 }).output()
}

/// Complex numbers of their parts.
pub(crate) fn whole<'g>(cx: &GradCx<'g, '_>, re: Output<'g>, im: Output<'g>) -> Output<'g> {
    let wide = matches!(re.dtype(), Ok(F64));
    cx.op("Complex").input(re).input(im).attr("Tout", if wide { C128 } else { C64 }).output()
}

/// Real numbers as complex ones.
pub(crate) fn whole_of_real<'g>(cx: &GradCx<'g, '_>, re: Output<'g>) -> Output<'g> {
    let wide = matches!(re.dtype(), Ok(F64));
    cx.op("Cast").input(re).attr("DstT", if wide { C128 } else { C64 }).output()
}
