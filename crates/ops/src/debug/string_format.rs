//! `StringFormat`: formats tensors with a template.

use super::excerpt::{Written, nested};
use millstream_graph::Attrs;
use millstream_graph::op::spec::{Int, Spec, Text, TypeList};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Str, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("StringFormat")
        .doc(
            "Returns `template` with each `placeholder` replaced by the text of an input, which has the \
             first and last `summarize` entries of each axis.",
        )
        .input_list("inputs", "T")
        .output("output", DType::Str)
        .attr("T", TypeList)
        .attr("template", Text.or("%s"))
        .attr("placeholder", Text.or("%s"))
        .attr("summarize", Int.or(3))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

/// Returns the parts of the template between the placeholders.
fn parts(attrs: &Attrs, inputs: usize) -> Result<Vec<String>> {
    let (template, placeholder) = (attrs.str("template")?.text(), attrs.str("placeholder")?.text());
    ensure!(!placeholder.is_empty(), "`placeholder` is empty");
    let parts: Vec<String> = template.split(&*placeholder).map(str::to_owned).collect();
    ensure!(
        parts.len() == inputs + 1,
        "`template` has {} placeholders `{placeholder}` but there are {inputs} inputs",
        parts.len() - 1
    );
    Ok(parts)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    parts(cx.attrs(), cx.n_inputs())?;
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let parts = parts(cx.attrs(), cx.n_inputs())?;
    let ends = cx.attrs().int("summarize")?;
    let mut out = Written::default();
    for (i, part) in parts.iter().enumerate() {
        if let Some(input) = i.checked_sub(1).and_then(|i| cx.inputs().get(i)) {
            nested(input, ends, &mut out);
        }
        out.push_str(part);
    }
    cx.set(0, Tensor::str(Str::new(&out.end()?[..])?));
    Ok(())
}

cases! {
    one: "StringFormat([1 2 3 4 5 6 7 8]; template=\"a %s b\") = \"a [1 2 3 ... 6 7 8] b\"",
    several: "StringFormat(3, \"x\", [true]; template=\"{} | {} | {}\", placeholder=\"{}\") = \"3 | \\\"x\\\" | [1]\"",
    few_of_each_axis: "StringFormat([[[0 1 2] [3 4 5] [6 7 8]] [[0 1 2] [3 4 5] [6 7 8]]]; summarize=1) = \"[[[0 ... 2]\\n  ...\\n  [6 ... 8]]\\n\\n [[0 ... 2]\\n  ...\\n  [6 ... 8]]]\"",
    all_of_them: "StringFormat([[1 2] [3 4]]; summarize=-1) = \"[[1 2]\\n [3 4]]\"",
    floats: "StringFormat(f32[4] [0.1 1e-7 0.33333334 1234567]; summarize=4) = \"[0.1 1e-07 0.333333343 1234567]\"",
    doubles: "StringFormat(f64[3] [0.3333333333333333 100000 nan]; summarize=4) = \"[0.33333333333333331 100000 nan]\"",
    nothing_to_show: "StringFormat(; template=\"abc\") = \"abc\"",
    empty: "StringFormat(f32[0] []) = \"[]\"",
    is_a_scalar: "StringFormat(f32[..]) : str[]",
    one_placeholder_each: "StringFormat(1, 2) ! `template` has 1 placeholders `%s` but there are 2 inputs",
}
