//! `StringJoin`: joins strings elementwise.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{AtLeast, Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::{PartialShape, Result, Shape, Str, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("StringJoin")
        .doc(
            "Joins the strings of all inputs elementwise, with `separator` between them. Scalars are \
             broadcast.",
        )
        .inputs("inputs", "N", S)
        .output("output", S)
        .attr("N", AtLeast(1))
        .attr("separator", Text.or(""))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    // The inputs that are not scalars determine the shape. An input of unknown rank may be a scalar.
    let mut all = match cx.inputs().iter().all(|s| s.rank() == Some(0)) {
        true => PartialShape::scalar(),
        false => PartialShape::unknown(),
    };
    for shape in cx.inputs().iter().filter(|s| s.rank() != Some(0)) {
        all = all.merge(shape).ok_or_else(|| {
            invalid!("StringJoin: the inputs that are not scalars have shapes {all} and {shape}; they must be equal")
                .led_by(all.difference(shape))
        })?;
    }
    cx.set(0, all);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let separator = cx.attrs().str("separator")?;
    let mut shape = Shape::scalar();
    for t in cx.inputs().iter().filter(|t| t.rank() != 0) {
        if shape.rank() != 0 && shape != *t.shape() {
            return Err(invalid!(
                "Input shapes do not match: {shape} vs. {}", t.shape();
                "the inputs have shapes {shape} and {}; they must be equal or scalars",
                t.shape()
            ));
        }
        shape = t.shape().clone();
    }
    let inputs = (0..cx.n_inputs()).map(|i| strs(cx, i)).collect::<Result<Vec<_>>>()?;
    let joined = (0..shape.elements()).map(|e| {
        let parts: Vec<&[u8]> =
            inputs.iter().filter_map(|v| v.get(e).or_else(|| v.first())).map(|s| &**s).collect();
        Str::join(&parts, separator)
    });
    let result = Tensor::strings(shape, joined.collect::<Result<_>>()?)?;
    cx.set(0, result);
    Ok(())
}

cases! {
    joins: r#"StringJoin(["a" "x"], ["b" "c"]; separator="-") = ["a-b" "x-c"]"#,
    scalars_go_with_all: r#"StringJoin("a", ["b" "c"], "d") = ["abd" "acd"]"#,
    one_input: r#"StringJoin("a") = "a""#,
    infers: "StringJoin(str[?,2], str[], str[3,?]) : str[3,2]",
    infers_from_vectors: "StringJoin(str[..], str[], str[4]) : str[4]",
    shapes_agree: r#"StringJoin(["a"], ["b" "c"]) ! have shapes [1] and [2]"#,
}
