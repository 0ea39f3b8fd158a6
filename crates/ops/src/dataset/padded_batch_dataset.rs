//! `PaddedBatchDataset`, `PaddedBatchDatasetV2`: consecutive elements as one, padded to one shape.

use super::batches::{Gathering, Size, padded};
use super::datasets::{Data, How, Over, Source, Spec, give, makes, source};
use millstream_graph::op::spec::{AtLeast, Bool, ShapeList, Spec as _, TypesFrom1};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, Tensor, ensure};
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 2] {
    [false, true].map(|newer| {
        let def = OpDef::new(if newer { "PaddedBatchDatasetV2" } else { "PaddedBatchDataset" })
            .doc(
                "Returns a dataset whose elements are `batch_size` consecutive elements of the input, stacked \
                 along a new first axis. Each component is padded to its shape in `padded_shapes`, in which \
                 -1 is the largest size in the batch, with its scalar in `padding_values`.",
            )
            .input("input_dataset", DType::Variant)
            .input("batch_size", DType::I64)
            .inputs("padded_shapes", "N", DType::I64)
            .input_list("padding_values", "Toutput_types");
        let def = match newer {
            true => def.input("drop_remainder", DType::Bool).attr("parallel_copy", Bool.or(false)),
            false => def,
        };
        makes(def, run)
            .attr("Toutput_types", TypesFrom1)
            .attr("output_shapes", ShapeList)
            .attr("N", AtLeast(1))
            .infer(|cx| {
                cx.scalar(0)?;
                cx.scalars()
            })
    })
}

struct Padded {
    size: Size,
    shapes: Arc<[Vec<i64>]>,
    values: Arc<[Tensor]>,
}

impl How for Padded {
    fn begin(over: &Over<Padded>, env: &StepEnv) -> Result<Source> {
        let mut batches = Gathering::of(over.input.begin(env)?, over.how.size);
        let (shapes, values) = (over.how.shapes.clone(), over.how.values.clone());
        Ok(source(move |env| batches.next(env, |elements| padded(elements, &shapes, &values))))
    }

    fn cardinality(over: &Over<Padded>) -> i64 {
        over.how.size.batches(over.input.cardinality())
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = Data::input(cx, 0)?;
    let spec = Spec::named(cx.attrs(), "Toutput_types")?;
    let (shapes, values) = (cx.node.input_range("padded_shapes")?, cx.node.input_range("padding_values")?);
    let drop = (values.end < cx.n_inputs()).then_some(values.end);
    let size = Size::of(cx, 1, drop)?;
    let n = input.spec().dtypes.len();
    ensure!(
        shapes.len() == n && values.len() == n,
        "Number of padded shapes ({}) and padding values ({}) must match the number of components in the input dataset's elements ({n})",
        shapes.len(),
        values.len()
    );
    let shapes: Vec<Vec<i64>> = shapes.map(|i| Ok(cx.ints(i)?.to_vec())).collect::<Result<_>>()?;
    let values: Vec<Tensor> = cx.inputs()[values].iter().map(|v| v.clone().kept()).collect::<Result<_>>()?;
    for (c, (value, dtype)) in values.iter().zip(&input.spec().dtypes).enumerate() {
        ensure!(
            value.rank() == 0,
            "All padding values must be scalars; that of component {c} is {}",
            value.shape()
        );
        ensure!(
            value.dtype() == *dtype,
            "Mismatched type between padding value {c} and input dataset's component {c}: {} vs. {}",
            value.dtype().tf_name(),
            dtype.tf_name()
        );
    }
    let how = Padded { size, shapes: shapes.into(), values: values.into() };
    give(cx, Over { input, spec, how: how.into() })
}

cases! {
    is_a_variant: "PaddedBatchDatasetV2(variant[], i64[], i64[1], f32[], bool[]; N=1, output_shapes={shape[?,?]}) : variant[]",
    padded: "DatasetToSingleElement(PaddedBatchDatasetV2(TensorSliceDataset([[1 2]]; output_shapes={shape[2]}), i64 1, i64[1] [3], 9, false; N=1, output_shapes={shape[?,3]}); output_types={i32}, output_shapes={shape[?,3]}) = [[1 2 9]]",
    to_the_largest: "DatasetToSingleElement(PaddedBatchDataset(TensorSliceDataset([[1 2]]; output_shapes={shape[2]}), i64 1, i64[1] [-1], 9; N=1, output_shapes={shape[?,?]}); output_types={i32}, output_shapes={shape[?,?]}) = [[1 2]]",
    not_cut: "DatasetToSingleElement(PaddedBatchDataset(TensorSliceDataset([[1 2]]; output_shapes={shape[2]}), i64 1, i64[1] [1], 9; N=1, output_shapes={shape[?,?]}); output_types={i32}, output_shapes={shape[?,?]}) ! Attempted to pad to a smaller size than the input element",
    with_scalars: "PaddedBatchDataset(TensorSliceDataset([1]; output_shapes={shape[]}), i64 1, i64[0] [], [9]; N=1, output_shapes={shape[?]}) ! All padding values must be scalars",
}
