//! `OptimizeDataset`, `ModelDataset`: the dataset that TensorFlow's optimizer makes of another.

use super::datasets::{Data, How, Optimized, Over, Source, over, transforms};
use millstream_graph::Attr;
use millstream_graph::op::spec::{Int, Spec, TextList};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> [OpDef; 2] {
    [
        transforms("OptimizeDataset", optimize, |def| def.input("optimizations", DType::Str))
            .attr("optimization_configs", TextList.or(Attr::List(Vec::new())))
            .doc(
                "Returns the input. If `shuffle_and_repeat_fusion` is among the `optimizations`, and the \
                 input repeats shuffled elements, the buffer of the shuffle spans repetitions, which changes \
                 the order. Other optimizations do not change the elements.",
            ),
        transforms("ModelDataset", pass_on, |def| def)
            .attr("algorithm", Int.or(0))
            .attr("cpu_budget", Int.or(0))
            .doc("Returns the input. In TensorFlow it measures the input to choose numbers of threads."),
    ]
}

struct Same;

impl How for Same {
    fn begin(over: &Over<Same>, env: &StepEnv) -> Result<Source> {
        over.input.begin(env)
    }

    fn cardinality(over: &Over<Same>) -> i64 {
        over.input.cardinality()
    }
}

fn optimize(cx: &mut KernelCx) -> Result<()> {
    let asked = cx.input(1).as_strs().unwrap_or_default();
    if asked.iter().any(|name| &**name == b"shuffle_and_repeat_fusion")
        && let Some(optimized) = Data::input(cx, 0)?.optimized(&mut Optimized::default())?
    {
        cx.set(0, optimized.tensor()?);
        return Ok(());
    }
    pass_on(cx)
}

fn pass_on(cx: &mut KernelCx) -> Result<()> {
    over(cx, Same)
}

cases! {
    is_a_variant: "OptimizeDataset(variant[], str[1]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_same: "DatasetToSingleElement(ModelDataset(OptimizeDataset(TensorDataset(1; output_shapes={shape[]}), [\"noop_elimination\"]; output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) = 1",
    of_a_dataset: "ModelDataset(OptionalNone(); output_types={f32}, output_shapes={shape[?]}) ! `input_dataset` is a optional, not a dataset",
}
