//! `BarrierInsertMany`: inserts values of one component into a barrier.

use super::barriers::{barrier, user};
use super::queues::own_row;
use crate::shared::strings::strs;
use millstream_graph::op::spec::{AnyType, Int};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Barrier;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    user("BarrierInsertMany")
        .doc(
            "Inserts row `i` of `values` into the barrier, as component `component_index` of the element with \
             the key `keys[i]`. Inserting a component twice is an error, and so is a value without elements. \
             The rows before a faulty one are inserted.",
        )
        .input("keys", DType::Str)
        .input("values", "T")
        .attr("T", AnyType)
        .attr("component_index", Int)
        .infer(infer)
        .kernel(Kernel::stateful(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let keys = cx.vector(1)?;
    cx.at_least_rank(2, 1)?;
    if let (Some(keys), Some(Some(rows))) = (keys, cx.input(2).dims().and_then(|dims| dims.first())) {
        ensure!(
            keys == *rows,
            "Dimension 0 in both shapes must be equal, but are {keys} and {rows}";
            "`values` must have a row for each of the {keys} `keys`"
        );
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let barrier = barrier(cx)?;
    let (keys, values) = (strs(cx, 1)?, cx.input(2));
    ensure!(cx.input(1).rank() == 1, "`keys` must be a vector, not of shape {}", cx.input(1).shape());
    let rows = values.shape().first().copied();
    ensure!(
        rows.is_some_and(|rows| rows == keys.len() || keys.is_empty()),
        "`values` must have a row for each of the {} `keys`, but has shape {}",
        keys.len(),
        values.shape()
    );
    let (component, n) = (cx.attrs().int("component_index")?, barrier.dtypes().len());
    let Some(component) = usize::try_from(component).ok().filter(|&i| i < n) else {
        return Err(invalid!(
            "The component ID is out of range {component} > num_components (= {n})";
            "{barrier:?} has the components 0 to {}", n - 1
        ));
    };
    let (have, expected) = (values.dtype(), barrier.dtypes()[component]);
    ensure!(
        have == expected,
        "Signature mismatch, have: string_ref, string, {}-> expected: string_ref, string, {}->",
        have.kernel_name(),
        expected.kernel_name();
        "component {component} of {barrier:?} is {expected}, not {have}"
    );
    let _room = Room::of(keys.len().saturating_mul(Barrier::INSERTION))?;
    let mut pace = Pace::new();
    let row = |i| pace.spend(1).and_then(|()| own_row(values, i));
    let values = (0..keys.len()).map(row).collect::<Result<_>>()?;
    barrier.insert(component, keys, values)
}

cases! {
    inserts: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\" \"b\"], [1.0 2.0]; component_index=0) =",
    nothing: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[2]}), str[0] [], f32[0,2] []; component_index=0) =",
    one_component: "BarrierInsertMany(Barrier(; component_types={f32, i32}, shapes={shape[], shape[]}), [\"a\"], [1]; component_index=1) =",
    no_such_component: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\"], [1.0]; component_index=1) ! The component ID is out of range 1",
    not_below: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\"], [1.0]; component_index=-1) ! The component ID is out of range -1",
    of_its_type: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\"], [1]; component_index=0) ! is f32, not i32",
    of_its_shape: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\"], [[1.0]]; component_index=0) ! Expected [], got [1]",
    twice: "BarrierInsertMany(Barrier(; component_types={f32, i32}, shapes={shape[], shape[]}), [\"a\" \"a\"], [1.0 2.0]; component_index=0) ! Key a already has a value for component 0",
    row_for_each_key: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\" \"b\"], [1.0]; component_index=0) ! Dimension 0 in both shapes must be equal, but are 2 and 1",
    not_empty: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[..]}), [\"a\"], f32[1,0] []; component_index=0) ! Tensors with no elements are not supported",
    has_rows: "BarrierInsertMany(Barrier(; component_types={f32}, shapes={shape[]}), [\"a\"], 1.0; component_index=0) ! `values`",
    wants_a_barrier: "BarrierInsertMany(FIFOQueue(; component_types={f32}), [\"a\"], [1.0]; component_index=0) ! which BarrierInsertMany cannot use",
}
