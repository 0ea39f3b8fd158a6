//! `ScalarSummary`: numbers under tags.

use super::message::{give, tag};
use crate::number::no_kernel;
use millstream_graph::op::spec::RealNumber;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_proto::summary::{Value, value};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Element, Result, ensure, with_element};
use num_traits::AsPrimitive;

pub(crate) fn def() -> OpDef {
    OpDef::new("ScalarSummary")
        .doc("Returns a summary with each of `values`, as float32, under the corresponding tag in `tags`.")
        .input("tags", DType::Str)
        .input("values", "T")
        .output("summary", DType::Str)
        .attr("T", RealNumber)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (tags, values) = (cx.input(0), cx.input(1));
    ensure!(
        tags.shape() == values.shape(),
        "tags and values not the same shape: {} != {}{}",
        tags.shape(),
        values.shape(),
        match tags.as_strs() {
            Some([tag]) => format!(" (tag '{}')", tag.text()),
            _ => String::new(),
        }
    );
    // A message is built in memory, with a tag and a value for each element.
    let _room = Room::of(values.elements().saturating_mul(2 * size_of::<Value>() + size_of::<f32>()))?;
    let mut pace = Pace::new();
    let values: Vec<f32> = with_element!(values.dtype(), T in reals => floats::<T>(values.as_slice()?), else => Err(no_kernel("ScalarSummary", values.dtype())))?;
    let tags = tags.as_strs().unwrap_or_default();
    let each = tags.iter().zip(values).map(|(name, v)| {
        pace.spend(8)?;
        Ok(Value { tag: tag(name)?, value: Some(value::Value::SimpleValue(v)), ..Value::default() })
    });
    let summary = each.collect::<Result<_>>()?;
    give(cx, summary)
}

fn floats<T: Element + AsPrimitive<f32>>(values: &[T]) -> Result<Vec<f32>> {
    Ok(values.iter().map(|v| v.as_()).collect())
}

cases! {
    one: r#"ScalarSummary("loss", f32 2.5) = "\n\x0b\n\x04loss\x15\0\0 @""#,
    several: r#"ScalarSummary(["a" "b"], [1 2]) = "\n\x08\n\x01a\x15\0\0\x80?\n\x08\n\x01b\x15\0\0\0@""#,
    nothing: r#"ScalarSummary(str[0] [], f32[0] []) = """#,
    too_large_for_a_float: r#"ScalarSummary("a", f64 1e300) = "\n\x08\n\x01a\x15\0\0\x80\x7f""#,
    is_a_scalar: "ScalarSummary(str[..], f64[..]) : str[]",
    shapes_must_agree: r#"ScalarSummary("a", [1 2]) ! tags and values not the same shape: [] != [2] (tag 'a')"#,
    several_tags_of_one: r#"ScalarSummary(["a" "b"], 1) ! tags and values not the same shape: [2] != []"#,
    tags_are_text: r#"ScalarSummary("\xff", 1) ! is not UTF-8"#,
    numbers_only: r#"ScalarSummary("a", true) ! `T`"#,
}
