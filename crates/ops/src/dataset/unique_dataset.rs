//! `UniqueDataset`: the distinct elements.

use super::datasets::{How, Over, Source, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{I32, I64, Str};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Result, Shape, Tensor, ensure, invalid};
use std::collections::HashSet;

pub(crate) fn def() -> [OpDef; 2] {
    ["UniqueDataset", "ExperimentalUniqueDataset"].map(|name| {
        transforms(name, run, |def| def).doc(
            "Returns a dataset of the distinct elements, in order of first appearance. Elements have one \
             component, of int32, int64 or string. A pass keeps all distinct elements.",
        )
    })
}

struct Unique;

/// The bytes of an element's strings or numbers, each string with its length, and the shape.
type Seen = (Shape, Vec<u8>);

/// An entry's place in the set, which doubles as it grows.
const PLACE: usize = 3 * size_of::<Seen>();

fn seen(value: &Tensor) -> Result<(Seen, Room)> {
    let bytes = match value.as_strs() {
        Some(strs) => strs.iter().fold(0, |n: usize, s| n.saturating_add(s.len()).saturating_add(8)),
        None => value.as_bytes().map_or(0, <[u8]>::len),
    };
    let room = Room::of(bytes.saturating_add(PLACE))?;
    let mut content = Vec::with_capacity(bytes);
    match value.as_strs() {
        Some(strs) => strs.iter().for_each(|s| {
            content.extend_from_slice(&(s.len() as u64).to_le_bytes());
            content.extend_from_slice(s);
        }),
        None => content.extend_from_slice(value.as_bytes().unwrap_or_default()),
    }
    Ok(((value.shape().clone(), content), room))
}

impl How for Unique {
    fn begin(over: &Over<Unique>, env: &StepEnv) -> Result<Source> {
        let mut input = over.input.begin(env)?;
        let (mut known, mut rooms): (HashSet<Seen>, _) = (HashSet::new(), Room::default());
        Ok(source(move |env| {
            loop {
                let Some(element) = input.next(env)? else {
                    (known, rooms) = (HashSet::new(), Room::default());
                    return Ok(None);
                };
                let _whole = uninterrupted();
                let value = element.first().ok_or_else(|| invalid!("an element has no component"))?;
                let (content, _beside) = seen(value)?;
                if !known.contains(&content) {
                    rooms.add(content.1.len() + PLACE)?;
                    known.insert(content);
                    return Ok(Some(element));
                }
            }
        }))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = super::datasets::Data::input(cx, 0)?;
    let dtypes = &input.spec().dtypes;
    ensure!(
        dtypes.len() == 1,
        "UniqueDataset only supports inputs with a single component.";
        "the elements have {} components", dtypes.len()
    );
    ensure!(
        [I32, I64, Str].contains(&dtypes[0]),
        "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.";
        "the component is of {}", dtypes[0].tf_name()
    );
    over(cx, Unique)
}

cases! {
    is_a_variant: "UniqueDataset(variant[]; output_types={i32}, output_shapes={shape[]}) : variant[]",
    first_of_each: "DatasetToSingleElement(BatchDataset(UniqueDataset(TensorSliceDataset([3 1 3 2 1]; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}), i64 9; output_types={i32}, output_shapes={shape[?]}); output_types={i32}, output_shapes={shape[?]}) = [3 1 2]",
    of_rows_of_words: "DatasetToSingleElement(BatchDataset(ExperimentalUniqueDataset(TensorSliceDataset([[\"a\" \"bc\"] [\"ab\" \"c\"] [\"a\" \"bc\"]]; output_shapes={shape[2]}); output_types={str}, output_shapes={shape[2]}), i64 9; output_types={str}, output_shapes={shape[?,2]}); output_types={str}, output_shapes={shape[?,2]}) = [[\"a\" \"bc\"] [\"ab\" \"c\"]]",
    not_of_floats: "UniqueDataset(TensorDataset(1.0; output_shapes={shape[]}); output_types={f32}, output_shapes={shape[]}) ! the component is of float",
    of_one_component: "UniqueDataset(TensorDataset(1, 2; output_shapes={shape[], shape[]}); output_types={i32, i32}, output_shapes={shape[], shape[]}) ! with a single component.",
}
