//! `MapAndBatchDataset`: the results of a function for each element, in batches.

use super::batch_dataset::Batch;
use super::batches::Size;
use super::datasets::{Called, Data, Over, Spec, calls, give, transforms};
use super::map_dataset::Map;
use millstream_graph::op::spec::{Bool, Spec as _};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    ["MapAndBatchDataset", "ExperimentalMapAndBatchDataset"].map(|name| {
        transforms(name, run, |def| {
            calls(def, "f", "other_arguments", "Targuments")
                .input("batch_size", DType::I64)
                .input("num_parallel_calls", DType::I64)
                .input("drop_remainder", DType::Bool)
                .attr("preserve_cardinality", Bool.or(false))
        })
        .doc(
            "Returns a dataset whose elements are the results of `f` for `batch_size` consecutive elements, \
             stacked along a new first axis. The last batch may be smaller, and is left out if \
             `drop_remainder`.",
        )
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, spec) = (Data::input(cx, 0)?, Spec::of(cx.attrs())?);
    let at = cx.node.input_range("other_arguments")?.end;
    let most = cx.int(at)?;
    ensure!(most > 0, "batch_size must be greater than zero."; "`{}` is {most}", cx.name_of(at));
    let size = Size::of(cx, at, Some(at + 2))?;
    let n = cx.int(at + 1)?;
    ensure!(n > 0 || n == -1, "num_parallel_calls must be greater than zero.");
    let f = Called::of(cx, "f", "other_arguments")?;
    let keeps_count = cx.attrs().bool("preserve_cardinality")?;
    let without_axis = |shape: &PartialShape| match shape.dims() {
        Some([_, dims @ ..]) => PartialShape::new(dims.iter().copied()),
        _ => PartialShape::unknown(),
    };
    let shapes = spec.shapes.iter().map(without_axis).collect();
    let mapped = Spec { dtypes: spec.dtypes.clone(), shapes };
    let input = Data::new(Over { input, spec: mapped, how: Map { f, keeps_count }.into() }, 0)?;
    give(cx, Over { input, spec, how: Batch(size).into() })
}

cases! {
    is_a_variant: "MapAndBatchDataset(variant[], i64[], i64[], bool[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "ExperimentalMapAndBatchDataset(variant[], i64[], i64[], bool[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    of_a_size: "MapAndBatchDataset(TensorDataset(1; output_shapes={shape[]}), i64 0, i64 1, false; f=func(f), output_types={i32}, output_shapes={shape[?]}) ! batch_size must be greater than zero.",
}
