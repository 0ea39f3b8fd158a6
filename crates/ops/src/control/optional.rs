//! `OptionalFromValue`, `OptionalNone`, `OptionalHasValue`, `OptionalGetValue`: optionals, which are scalar
//! variants that contain some tensors or nothing. The branches of a conditional pass intermediate values to
//! the gradient's branches in optionals.

use crate::shared::optional::Optional;
use millstream_graph::Attr;
use millstream_graph::op::spec::{ShapeList, TypesFrom1};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, Bool};
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 4] {
    [
        OpDef::new("OptionalFromValue")
            .doc("Returns an optional that contains `components`.")
            .input_list("components", "Toutput_types")
            .output("optional", DType::Variant)
            .attr("Toutput_types", TypesFrom1)
            .gradient(Gradient::of(grad_of_wrapped))
            .infer(|cx| cx.scalars())
            .kernel(Kernel::pure(|cx| {
                let values = (0..cx.n_inputs()).map(|i| cx.take(i)).collect();
                cx.set(0, wrapped(Some(values))?);
                Ok(())
            })),
        OpDef::new("OptionalNone")
            .doc("Returns an optional without a value.")
            .output("optional", DType::Variant)
            .infer(|cx| cx.scalars())
            .kernel(Kernel::pure(|cx| {
                cx.set(0, wrapped(None)?);
                Ok(())
            })),
        OpDef::new("OptionalHasValue")
            .doc("Returns whether an optional has a value.")
            .input("optional", DType::Variant)
            .output("has_value", Bool)
            .infer(|cx| {
                cx.scalar(0)?;
                cx.scalars()
            })
            .kernel(Kernel::pure(|cx| {
                let has = unwrapped(cx)?.is_some();
                cx.set(0, Tensor::scalar(has));
                Ok(())
            })),
        OpDef::new("OptionalGetValue")
            .doc(
                "Returns the tensors that an optional contains, which must have the dtypes `output_types` \
                 and the shapes `output_shapes`. An optional without a value is an error.",
            )
            .input("optional", DType::Variant)
            .output_list("components", "output_types")
            .attr("output_types", TypesFrom1)
            .attr("output_shapes", ShapeList)
            .infer(infer)
            .kernel(Kernel::pure(get))
            .gradient(Gradient::of(grad_of_unwrapped)),
    ]
}

fn wrapped(values: Option<Vec<Tensor>>) -> Result<Tensor> {
    Optional::variant(values).map(Tensor::variant)
}

fn unwrapped<'a>(cx: &'a KernelCx) -> Result<Option<&'a [Tensor]>> {
    let t = cx.input(0);
    let Some([variant]) = t.as_variants() else {
        return Err(invalid!("`optional` must be a scalar variant but is {}{}", t.dtype(), t.shape()));
    };
    let optional = variant.get::<Optional>();
    let optional = optional.ok_or_else(|| invalid!("`optional` is a {}, not an optional", variant.kind()))?;
    Ok(optional.values())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let shapes = cx.attrs().shapes("output_shapes")?;
    ensure!(
        shapes.len() == cx.n_outputs(),
        "`output_types` has {} entries but `output_shapes` {}",
        cx.n_outputs(),
        shapes.len()
    );
    shapes.into_iter().enumerate().for_each(|(i, shape)| cx.set(i, shape.clone()));
    Ok(())
}

fn get(cx: &mut KernelCx) -> Result<()> {
    let held = unwrapped(cx)?.ok_or_else(|| {
        invalid!("The given optional does not have a value."; "the optional holds nothing")
            .with_help("ask `OptionalHasValue` first")
    })?;
    let shapes = cx.attrs().shapes("output_shapes")?;
    let types = &cx.node.output_types;
    ensure!(
        held.len() == types.len() && held.len() == shapes.len(),
        "the optional holds {} tensors but `output_types` has {} entries",
        held.len(),
        types.len()
    );
    for (i, (value, (ty, shape))) in held.iter().zip(types.iter().zip(shapes)).enumerate() {
        ensure!(
            value.dtype() == ty.dtype && shape.contains(&value.shape().into()),
            "tensor {i} of the optional is {}{} but {}{shape} is wanted",
            value.dtype(),
            value.shape(),
            ty.dtype
        );
    }
    let held = held.to_vec();
    held.into_iter().enumerate().for_each(|(i, value)| cx.set(i, value));
    Ok(())
}

fn grad_of_wrapped(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let shapes: Vec<Attr> = (0..cx.n_inputs()).map(|i| cx.input_shape(i).into()).collect();
    let types: Vec<Attr> = (0..cx.n_inputs()).map(|i| cx.dtype(i).into()).collect();
    let parts = cx.op("OptionalGetValue").input(dy).attr("output_types", Attr::List(types));
    let parts = parts.attr("output_shapes", Attr::List(shapes)).finish();
    (0..cx.n_inputs()).for_each(|i| cx.give(i, parts.output(i as u32)));
    Ok(())
}

fn grad_of_unwrapped(cx: &mut GradCx) -> Result<()> {
    let grads: Vec<_> = (0..cx.n_outputs()).map(|i| cx.grad(i)).collect();
    cx.give(0, cx.op("OptionalFromValue").inputs(grads).output());
    Ok(())
}

cases! {
    is_a_variant: "OptionalNone() : variant[]",
    holds_anything: "OptionalFromValue(f32[?,3], str[]) : variant[]",
    asked: "OptionalHasValue(variant[]) : bool[]",
    knows_shapes: "OptionalGetValue(variant[]; output_types={f32, i32}, output_shapes={shape[2,?], shape[]}) : f32[2,?], i32[]",
    shapes_and_types: "OptionalGetValue(variant[]; output_types={f32, i32}, output_shapes={shape[]}) ! `output_types` has 2 entries but `output_shapes` 1",
    one_of_them: "OptionalHasValue(variant[2]) ! `optional` must be a scalar",
}

#[cfg(test)]
mod tests {
    use millstream_graph::op::NodeInfo;
    use millstream_graph::op::lone;
    use millstream_graph::{Attr, Attrs, ValueType};
    use millstream_tensor::{DType, Result, Tensor, shape};

    fn call(op: &str, inputs: &[Tensor], attrs: &[(&'static str, Attr)]) -> Result<Vec<Tensor>> {
        let def = crate::registry().get(op).expect("declared");
        let types: Vec<ValueType> = inputs.iter().map(|t| t.dtype().into()).collect();
        let mut all = Attrs::new();
        attrs.iter().for_each(|(name, value)| all.set(*name, value.clone()));
        lone::run(&NodeInfo::resolve(def, "o", &types, all)?, &lone::env(), inputs)
    }

    fn wanted(dtype: DType) -> [(&'static str, Attr); 2] {
        [
            ("output_types", Attr::List(vec![dtype.into()])),
            ("output_shapes", Attr::List(vec![shape![2].into()])),
        ]
    }

    #[test]
    fn what_goes_in_comes_out() {
        let value = Tensor::vector(&[1.5f32, 2.5]).expect("small");
        let optional = call("OptionalFromValue", std::slice::from_ref(&value), &[]).expect("wraps");
        let has = call("OptionalHasValue", &optional, &[]).expect("answers");
        assert!(has[0].to_scalar::<bool>().expect("a bool"));
        let got = call("OptionalGetValue", &optional, &wanted(DType::F32)).expect("unwraps");
        assert!(got[0].bits_eq(&value));
        let error = call("OptionalGetValue", &optional, &wanted(DType::I32)).expect_err("another dtype");
        assert!(
            error.message().contains("tensor 0 of the optional is f32[2] but i32[2] is wanted"),
            "{error}"
        );
    }

    #[test]
    fn zeros_and_sums_are_of_what_it_holds() {
        let value = Tensor::vector(&[1.5f32, 2.5]).expect("small");
        let optional = call("OptionalFromValue", std::slice::from_ref(&value), &[]).expect("wraps");
        let zeros = call("ZerosLike", &optional, &[]).expect("zeros");
        let none = call("OptionalNone", &[], &[]).expect("makes");
        let all = [optional[0].clone(), zeros[0].clone(), none[0].clone(), optional[0].clone()];
        let sum = call("AddN", &all, &[]).expect("adds");
        let got = call("OptionalGetValue", &sum, &wanted(DType::F32)).expect("unwraps");
        assert_eq!(got[0].as_slice::<f32>().expect("floats"), [3.0, 5.0]);
        let list = call(
            "EmptyTensorList",
            &[Tensor::scalar(-1i32), Tensor::scalar(-1i32)],
            &[("element_dtype", DType::F32.into())],
        );
        let error = call("AddN", &[optional[0].clone(), list.expect("makes")[0].clone()], &[])
            .expect_err("another kind");
        assert!(error.message().contains("expected a tensor list"), "{error}");
    }

    #[test]
    fn nothing_has_no_value() {
        let none = call("OptionalNone", &[], &[]).expect("makes");
        let has = call("OptionalHasValue", &none, &[]).expect("answers");
        assert!(!has[0].to_scalar::<bool>().expect("a bool"));
        let error = call("OptionalGetValue", &none, &wanted(DType::F32)).expect_err("nothing there");
        assert!(error.to_string().contains("holds nothing"), "{error}");
    }
}
