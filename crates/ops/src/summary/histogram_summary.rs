//! `HistogramSummary`: a histogram of values.

use super::histogram::Histogram;
use super::message::{give, scalar, tag};
use crate::number::no_kernel;
use millstream_graph::op::spec::{RealNumber, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_proto::summary::{Value, value};
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Element, Result, ensure, with_element};
use num_traits::AsPrimitive;

pub(crate) fn def() -> OpDef {
    OpDef::new("HistogramSummary")
        .doc(
            "Returns a summary with a histogram of `values` under a tag. The limits of the buckets grow by \
             a tenth each, from 1e-12 to 1e20, on both sides of zero.",
        )
        .input("tag", DType::Str)
        .input("values", "T")
        .output("summary", DType::Str)
        .attr("T", RealNumber.or(DType::F32))
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let tag = tag(scalar(cx, 0, "tags must be scalar")?)?;
    let values = cx.input(1);
    let histogram = with_element!(values.dtype(), T in reals => count::<T>(cx, values.as_slice()?), else => Err(no_kernel("HistogramSummary", values.dtype())))?;
    let histo = value::Value::Histo(histogram.message());
    give(cx, vec![Value { tag, value: Some(histo), ..Value::default() }])
}

fn count<T: Element + AsPrimitive<f64>>(cx: &KernelCx, values: &[T]) -> Result<Histogram> {
    let mut histogram = Histogram::new();
    let mut pace = Pace::new();
    for value in values {
        pace.spend(1)?;
        let value = value.as_();
        ensure!(!value.is_nan(), "Nan in summary histogram for: {}", cx.node.name);
        ensure!(value.is_finite(), "Infinity in summary histogram for: {}", cx.node.name);
        histogram.add(value);
    }
    Ok(histogram)
}

cases! {
    one: r#"HistogramSummary("a", f16 3) = "\nf\n\x01a*a\t\0\0\0\0\0\0\x08@\x11\0\0\0\0\0\0\x08@\x19\0\0\0\0\0\0\xf0?!\0\0\0\0\0\0\x08@)\0\0\0\0\0\0\"@2\x18h\xbc\x105\x9a\x07\x07@\r\x9c\xc5\xa0)U\t@\xff\xff\xff\xff\xff\xff\xef\x7f:\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0?\0\0\0\0\0\0\0\0""#,
    of_nothing: r#"HistogramSummary("a", f32[0] []) = "\n+\n\x01a*&\t\xff\xff\xff\xff\xff\xff\xef\x7f\x11\xff\xff\xff\xff\xff\xff\xef\xff2\x08\xff\xff\xff\xff\xff\xff\xef\x7f:\x08\0\0\0\0\0\0\0\0""#,
    is_a_scalar: "HistogramSummary(str[..], i64[..]) : str[]",
    one_tag: r#"HistogramSummary(["a"], f32 1) ! tags must be scalar"#,
    nan: r#"HistogramSummary("a", f32[2] [1 nan]) ! Nan in summary histogram for: "#,
    infinity: r#"HistogramSummary("a", f32[2] [1 -inf]) ! Infinity in summary histogram for: "#,
}
