//! Inputs that have crashed TensorFlow, and malformed graphs of the same kinds, in one table: the published
//! report, how the problem is provoked here, and a part of the error. Each must end in a clean error: no
//! panic, no hang, no memory beyond the limit.
//!
//! Some reports are not in the table, because their features do not exist here: those in [`EXCUSED`]. The
//! import refuses a graph with one of their ops by name. An op of the list that comes into being fails the
//! test, until its reports are rows. Checkpoints that contradict themselves (CVE-2021-41203) have a suite
//! of their own, `hostile` of `millstream-checkpoint`.

use How::{Built, Case, Example, Import, Look, Run, Value};
use millstream_autodiff::Gradients;
use millstream_graph::{Graph, NodeId, Output, Port};
use millstream_interop::{ImportOptions, import_graph_def, read_graph};
use millstream_runtime::{RunOptions, Session, SessionOptions, Target, Watch};
use millstream_tensor::{Error, PartialShape, Result, Tensor};
use millstream_testkit::examples::{Given, all, check};
use millstream_testkit::report::Report;
use millstream_testkit::tiers::{DATAFLOW, Setting, TIERS};
use std::panic::resume_unwind;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The published report, how it is provoked, and a part of the error.
type Row = (&'static str, How, &'static str);

/// A target inside a loop, and a watch.
type Looked = (Target, Option<Watch>);

/// How an input is given.
enum How {
    /// An example of the op library, by op and name, which itself states the error.
    Case(&'static str, &'static str),
    /// An example of this table.
    Example(&'static str),
    /// A GraphDef that must not be imported.
    Import(String),
    /// A GraphDef that is imported, and an output of it that must not be computed.
    Run(String, &'static str),
    /// A graph built by code; the dataflow machine must not compute the returned output. (The reference tier
    /// has no limit on iterations.)
    Built(fn(&Graph) -> Result<Output<'_>>),
    /// Values inside loops, stacked, with a watch; the run must fail.
    Look(fn(&Graph) -> Result<Looked>),
    /// A text that must not parse as a value.
    Value(&'static str),
}

/// The time limit of a row. It is far above what any row needs, since the machine may be loaded.
const LONGEST: Duration = Duration::from_secs(60);

/// The memory limit of a row, in bytes.
const MEMORY: usize = 64 << 20;

/// A structure without a published id that an executor must withstand.
const STRUCTURE: &str = "structure";

#[test]
fn bad_inputs() {
    let rows = [
        loops(),
        looks(),
        switches(),
        lists(),
        gradients(),
        state(),
        queues(),
        files(),
        functions(),
        messages(),
        sizes(),
        dtypes(),
    ];
    let mut report = Report::new();
    for (i, (id, how, says)) in rows.into_iter().flatten().enumerate() {
        report.run(&format!("{id}, row {i}: {says}"), None, || in_time(move || provoke(&how, says)));
    }
    report.finish("bad inputs");
}

fn loops() -> Vec<Row> {
    let tied = [enter("a", "one", "f"), enter("b", "one", "g"), op("NextIteration", "n", "b")].concat();
    let same = [enter("a", "one", "f"), enter("b", "one", "g"), enter("c", "b", "f")].concat();
    let deep: String =
        (0..1100).map(|i| enter(&format!("e{}", i + 1), &format!("e{i}"), &format!("f{i}"))).collect();
    let yes = constant("yes", "DT_BOOL", "tensor_shape {} bool_val: true");
    let frame = "attr { key: 'T' value { type: DT_BOOL } } attr { key: 'frame_name' value { s: 'f' } }";
    let conds = format!(
        "{yes} node {{ name: 'in' op: 'Enter' input: 'yes' {frame} }}
           node {{ name: 'p' op: 'LoopCond' input: 'in' }} node {{ name: 'q' op: 'LoopCond' input: 'in' }}"
    );
    vec![
        ("CVE-2021-41217", Import(one() + &op("Exit", "e", "one")), "the Exit `e` has no Enter above it"),
        (
            "issue 5257",
            Import(one() + &enter_with("a", "one", "f", 0)),
            "`parallel_iterations` of `a` is 0; it must be a positive integer",
        ),
        ("issue 5257", Built(no_iterations), "`parallel_iterations` of the loop `while` is 0"),
        (STRUCTURE, Import(one() + &op("NextIteration", "n", "one")), "is outside every loop"),
        (
            STRUCTURE,
            Import(one() + &enter("in", "one", "f") + &op("NextIteration", "n", "in") + &op("Neg", "x", "n")),
            "the NextIteration `n` feeds `x` (Neg)",
        ),
        (
            STRUCTURE,
            Import(one() + &tied + &merge("m", "a", "n")),
            "the back edge of `m` comes from `n` in another frame",
        ),
        (STRUCTURE, Import(conds), "has two LoopConds"),
        (STRUCTURE, Import(one() + &enter("a", "one", "")), "has an empty `frame_name`"),
        (
            STRUCTURE,
            Import(one() + &enter("a", "one", "f") + &enter("b", "a", "f")),
            "is entered from two frames",
        ),
        (STRUCTURE, Import(one() + &same), "is entered from two frames"),
        (
            STRUCTURE,
            Import(constant("e0", "DT_INT32", "tensor_shape {} int_val: 1") + &deep),
            "frames are nested more than",
        ),
        (
            STRUCTURE,
            Import(op("Neg", "a", "c") + &op("Neg", "b", "a") + &op("Neg", "c", "b")),
            "the graph has a cycle without a NextIteration",
        ),
        (
            STRUCTURE,
            Import(op("NextIteration", "n", "m") + &merge("m", "n", "n")),
            "all inputs of the Merge are back edges",
        ),
        (STRUCTURE, Case("Merge", "wants_inputs"), ""),
        (STRUCTURE, Built(never_complete), "of 4 Enters missing"),
    ]
}

/// Values and watches inside loops.
fn looks() -> Vec<Row> {
    vec![
        (STRUCTURE, Look(|g| Ok((Target::Every(sixteen(g)?.port()), None))), "is outside every loop"),
        (
            STRUCTURE,
            Look(|g| Ok((Target::Every(named(g, "while/x:0")?), None))),
            "shape [2] in iteration 0, shape [4] in iteration 1",
        ),
        (
            STRUCTURE,
            Look(|_| Ok((Target::Every(Port::new(NodeId(1000), 0)), None))),
            "belongs to a node that could not be built",
        ),
        (
            STRUCTURE,
            Look(|g| Ok((Target::Value(sixteen(g)?.port()), Some(Watch::on(g.constant(1.0f32)).nan())))),
            "is watched, but this run does not compute it",
        ),
        (
            STRUCTURE,
            Look(|g| {
                Ok((Target::Value(sixteen(g)?.port()), Some(Watch::on(g.output("while/size:0")?).nan())))
            }),
            "is watched for a value that has NaN, but its dtype i32 has no such value",
        ),
        (
            STRUCTURE,
            Look(|g| Ok((Target::Value(sixteen(g)?.port()), Some(Watch::all().when(|_, at| at[7] > 0))))),
            "the condition of a watch panicked",
        ),
        (STRUCTURE, Look(|g| Ok((Target::Every(endless(g)?.port()), None))), "out of memory"),
    ]
}

/// Floats that double in number in each iteration until there are 16; `while/x` is inside the loop.
fn sixteen(g: &Graph) -> Result<Output<'_>> {
    g.while_loop(g.constant([1.0f32])).shape_invariants(PartialShape::unknown_of_rank(1)).run(
        |v| g.op("Less").input(g.op("Size").input(v).name("size").output()).input(16).output(),
        |v| g.op("ConcatV2").inputs([v, v]).input(0).name("x").output(),
    )
}

fn named(g: &Graph, name: &str) -> Result<Port> {
    sixteen(g)?;
    Ok(g.output(name)?.port())
}

/// A thousand floats in each of a billion iterations.
fn endless(g: &Graph) -> Result<Output<'_>> {
    g.while_loop(g.constant(0)).run(
        |i| g.op("Less").input(i).input(1_000_000_000).output(),
        |i| {
            g.op("Fill").input([1000i32]).input(i).name("many").finish();
            g.op("AddV2").input(i).input(1).output()
        },
    )?;
    g.output("while/many:0")
}

fn switches() -> Vec<Row> {
    let yes = constant("yes", "DT_BOOL", "tensor_shape {} bool_val: true");
    let switch = "node { name: 's' op: 'Switch' input: 'one' input: 'yes' attr { key: 'T' value { type: DT_INT32 } } }";
    vec![
        ("CVE-2020-15190", Run(one() + &yes + switch, "s:0"), "lies on a branch that was not taken"),
        (STRUCTURE, Case("Switch", "wants_a_scalar_predicate"), ""),
        ("the op Abort", Case("Abort", "says_so"), ""),
    ]
}

fn lists() -> Vec<Row> {
    vec![
        (
            "CVE-2021-37673",
            Example("MapStage(i64[0] [], [0], 1.0; dtypes={f32}) ! key must be an int64 scalar"),
            "",
        ),
        (
            "CVE-2021-37673",
            Example("OrderedMapPeek(i64[0] [], [0]; dtypes={f32}) ! key must be an int64 scalar"),
            "",
        ),
        ("CVE-2022-21734", Case("MapUnstage", "one_key"), ""),
        ("CVE-2022-29195", Case("StagePeek", "one_index"), ""),
        ("CVE-2021-37644", Case("TensorListReserve", "none_less_than_nothing"), ""),
        ("CVE-2022-41891", Case("TensorListConcat", "scalar_shape"), ""),
        ("CVE-2022-41891", Case("TensorListConcatV2", "scalar_shape_input"), ""),
        ("issue 63722", Case("TensorListConcatV2", "shape_contradicts"), ""),
        ("issue 63722", Case("TensorListConcat", "shape_of_another_rank"), ""),
        ("CVE-2022-41893", Case("TensorListResize", "one_number"), ""),
        ("CVE-2022-35991", Case("TensorListScatterV2", "shape_is_no_matrix"), ""),
        (
            "CVE-2022-35991",
            Example("TensorListScatter([1 2], [0 1], [[2]]) ! `element_shape` must be a scalar or a vector"),
            "",
        ),
        ("CVE-2022-35992", Case("TensorListFromTensor", "shape_is_no_matrix"), ""),
        ("CVE-2023-25673", Case("TensorListSplit", "zero_alone"), ""),
        ("CVE-2023-25663", Case("TensorArrayConcatV2", "no_handle"), ""),
        (STRUCTURE, Case("TensorArrayWriteV3", "far_away"), ""),
        (STRUCTURE, Case("TensorArrayScatterV3", "far_away"), ""),
        (STRUCTURE, Case("TensorArraySplitV3", "negative"), ""),
        (STRUCTURE, Case("TensorArraySplitV3", "too_few_rows"), ""),
        (STRUCTURE, Case("TensorArraySplitV3", "too_many_rows"), ""),
        (STRUCTURE, Case("TensorListPopBack", "nothing_to_pop"), ""),
        (STRUCTURE, Case("TensorListPopBack", "another_shape"), ""),
        (STRUCTURE, Case("TensorListPopBack", "unwritten_of_unknown_shape"), ""),
        (STRUCTURE, Case("TensorListPushBack", "shapes_must_fit"), ""),
        (STRUCTURE, Case("TensorListPushBack", "dtypes_must_fit"), ""),
        (STRUCTURE, Case("TensorListSetItem", "shapes_must_fit"), ""),
        (STRUCTURE, Case("TensorListSetItem", "far_away"), ""),
        (STRUCTURE, Case("TensorListGetItem", "unwritten_of_unknown_shape"), ""),
        (STRUCTURE, Case("TensorListGetItem", "before_the_first"), ""),
        (STRUCTURE, Case("TensorListGather", "none_written"), ""),
        (STRUCTURE, Case("TensorListFromTensor", "shapes_must_fit"), ""),
        (STRUCTURE, Case("TensorListScatterV2", "negative_length"), ""),
        (STRUCTURE, Case("TensorArrayWriteV3", "another_shape"), ""),
        (STRUCTURE, Case("TensorArrayWriteV3", "twice"), ""),
        (STRUCTURE, Case("TensorArrayReadV3", "unwritten"), ""),
        (STRUCTURE, Case("TensorArrayReadV3", "before_the_first"), ""),
        (STRUCTURE, Case("TensorArrayGatherV3", "unwritten"), ""),
        (STRUCTURE, Case("TensorArrayGatherV3", "twice"), ""),
    ]
}

/// Gradients of values without gradients.
fn gradients() -> Vec<Row> {
    vec![
        (
            STRUCTURE,
            Built(|g| Ok(g.gradients([g.constant(3)], [g.constant(1.0f32)]).dense()?[0])),
            "is i32 and cannot be differentiated: only float and complex values have gradients",
        ),
        (
            STRUCTURE,
            Built(|g| Ok(g.gradients([g.constant(1.0f32)], [g.constant(3)]).dense()?[0])),
            "is i32 and cannot be differentiated by",
        ),
        (
            STRUCTURE,
            Built(|g| {
                let nothing: [Output<'_>; 0] = [];
                Ok(g.gradients(nothing, [g.constant(1.0f32)]).dense()?[0])
            }),
            "there are no `ys` to differentiate",
        ),
        (
            STRUCTURE,
            Built(|g| {
                let x = g.constant(1.0f32);
                Ok(g.gradients([x * x], [x]).grad_ys([g.constant(1.0f64)]).dense()?[0])
            }),
            "dtype and shape must be the same",
        ),
        (
            STRUCTURE,
            Built(|g| {
                let x = g.constant([[2.0f32, 1.0], [1.0, 3.0], [0.0, 1.0]]);
                let q = g.op("Qr").input(x).attr("full_matrices", true).output();
                Ok(g.gradients([q], [x]).dense()?[0])
            }),
            "the gradient of `full_matrices` is not defined where there are more rows than columns",
        ),
        (
            STRUCTURE,
            Built(|g| {
                let inner = std::cell::Cell::new(None);
                let x = g.constant(1.0f32);
                let less = |y| g.op("Less").input(y).input(9.0f32).output();
                let body = |y| {
                    let twice = y + y;
                    inner.set(Some(twice));
                    twice
                };
                let y = g.while_loop(x).run(less, body)?;
                Ok(g.gradients([y], inner.get()).dense()?[0])
            }),
            "is inside a loop",
        ),
    ]
}

fn state() -> Vec<Row> {
    let stack =
        "node { name: 's' op: 'StackV2' input: 'one' attr { key: 'elem_type' value { type: DT_INT32 } } }
                 node { name: 'shut' op: 'StackCloseV2' input: 's' }";
    let push = "node { name: 'x' op: 'StackPushV2' input: 's' input: 'one' input: '^shut' attr { key: 'T' value { type: DT_INT32 } } }";
    let pop = "node { name: 'x' op: 'StackPopV2' input: 's' input: '^shut' attr { key: 'elem_type' value { type: DT_INT32 } } }";
    vec![
        (
            "CVE-2022-29207",
            Example("ReadVariableOp(resource[0]; dtype=f32) ! `resource` must be a scalar"),
            "",
        ),
        ("CVE-2022-29207", Case("DestroyResourceOp", "wants_a_scalar"), ""),
        ("CVE-2022-29207", Case("TensorArraySizeV2", "wants_one_handle"), ""),
        ("CVE-2021-37639", Case("RestoreV2", "no_empty_name"), ""),
        ("CVE-2021-37639", Case("RestoreV2", "parts_for_all"), ""),
        ("CVE-2021-37690", Case("ReadVariableOp", "wants_the_dtype"), ""),
        (STRUCTURE, Run(one() + stack + push, "x"), "has been closed already"),
        (STRUCTURE, Run(one() + stack + pop, "x"), "has been closed already"),
        (
            STRUCTURE,
            Run(array("TensorArrayWriteV3", "input: 'i' input: 'one' input: 'a:1'", "T"), "x"),
            "has been closed already",
        ),
        (
            STRUCTURE,
            Run(array("TensorArrayReadV3", "input: 'i' input: 'a:1'", "dtype"), "x"),
            "has been closed already",
        ),
        (STRUCTURE, Case("StackPopV2", "empty"), ""),
        (STRUCTURE, Case("StackPop", "empty_by_name"), ""),
        (STRUCTURE, Case("StackPushV2", "of_one_dtype"), ""),
        (STRUCTURE, Case("StackPopV2", "of_one_dtype"), ""),
    ]
}

/// An op on a TensorArray of one i32 that was closed before.
fn array(op: &str, inputs: &str, ty: &str) -> String {
    one()
        + &constant("i", "DT_INT32", "tensor_shape {} int_val: 0")
        + "node { name: 'a' op: 'TensorArrayV3' input: 'one' attr { key: 'dtype' value { type: DT_INT32 } } }
           node { name: 'shut' op: 'TensorArrayCloseV3' input: 'a' }"
        + &format!(
            "node {{ name: 'x' op: '{op}' input: 'a' {inputs} input: '^shut' attr {{ key: '{ty}' value {{ type: DT_INT32 }} }} }}"
        )
}

fn files() -> Vec<Row> {
    vec![
        (STRUCTURE, Case("ReaderReadV2", "wants_a_queue"), ""),
        (STRUCTURE, Case("ReaderReadV2", "of_names"), ""),
        (STRUCTURE, Case("ReaderReadUpToV2", "no_fewer"), ""),
        (STRUCTURE, Case("ReaderRestoreStateV2", "is_a_state"), ""),
        (STRUCTURE, Case("FixedLengthRecordReaderV2", "of_some_bytes"), ""),
        (STRUCTURE, Case("FixedLengthRecordReaderV2", "no_negative_sizes"), ""),
        (STRUCTURE, Case("TextLineDataset", "knows_its_compression"), ""),
        (STRUCTURE, Case("ReadFile", "is_there"), ""),
        (STRUCTURE, Case("WriteFile", "can_be_written"), ""),
        (STRUCTURE, Case("DecodeCompressed", "is_compressed"), ""),
        (STRUCTURE, Case("DecodeCSV", "one_default"), ""),
        (STRUCTURE, Case("DecodeCSV", "increasing"), ""),
        (STRUCTURE, Case("DecodeCSV", "quotes_end"), ""),
        (STRUCTURE, Case("ParseExample", "is_an_example"), ""),
        (STRUCTURE, Case("ParseExample", "no_default"), ""),
        (STRUCTURE, Case("ParseExample", "types_for_all"), ""),
        (STRUCTURE, Case("ParseSingleExample", "of_its_type"), ""),
        (STRUCTURE, Case("ParseSingleSequenceExample", "not_missing"), ""),
        (STRUCTURE, Case("LookupTableFindV2", "keys_are_typed"), ""),
        (STRUCTURE, Case("LookupTableFindV2", "values_are_typed"), ""),
        (STRUCTURE, Case("LookupTableInsertV2", "as_many_values"), ""),
        (STRUCTURE, Case("InitializeTableV2", "equally_long"), ""),
        (STRUCTURE, Case("InitializeTableFromTextFileV2", "whole_lines_are_text"), ""),
        (STRUCTURE, Case("MutableDenseHashTableV2", "not_its_empty_key"), ""),
        (STRUCTURE, Case("MutableHashTableOfTensorsV2", "knows_its_shape"), ""),
    ]
}

fn queues() -> Vec<Row> {
    vec![
        ("CVE-2022-29207", Case("QueueIsClosedV2", "one_handle"), ""),
        ("issue 75814", Case("QueueDequeueUpToV2", "one_number"), ""),
        ("issue 112742", Case("BarrierTakeMany", "not_less_than_nothing"), ""),
        ("issue 78828", Case("BarrierInsertMany", "not_below"), ""),
        ("issue 75814", Case("QueueDequeueManyV2", "none_less_than_nothing"), ""),
        ("issue 93531", Case("FIFOQueueV2", "has_components"), ""),
        ("issue 93531", Case("FIFOQueueV2", "shapes_for_all"), ""),
        (STRUCTURE, Case("QueueEnqueueManyV2", "as_many_rows_each"), ""),
        (STRUCTURE, Case("QueueEnqueueManyV2", "has_rows"), ""),
        (STRUCTURE, Case("QueueEnqueueV2", "of_its_types"), ""),
        (STRUCTURE, Case("QueueEnqueueV2", "of_its_shapes"), ""),
        (STRUCTURE, Case("PriorityQueueV2", "of_scalar_priorities"), ""),
        (STRUCTURE, Case("PriorityQueueV2", "of_whole_priorities"), ""),
        (STRUCTURE, Case("QueueSizeV2", "wants_a_queue"), ""),
        (STRUCTURE, Run(two_queues("capacity", "i: 3"), "b"), "has capacity 2 but requested capacity was 3"),
        (
            STRUCTURE,
            Run(two_queues("component_types", "list { type: DT_FLOAT }"), "b"),
            "has component types",
        ),
        (
            STRUCTURE,
            Run(two_queues("shapes", "list { shape { dim { size: 7 } } }"), "b"),
            "has component shapes",
        ),
        (STRUCTURE, Run(how_to_pad("_max_tokens", "i: 0"), "q"), "has no room for any item"),
        (STRUCTURE, Run(how_to_pad("_pad_to", "list { i: 1 i: 2 }"), "q"), "2 sizes to pad to"),
        (
            STRUCTURE,
            Run(
                how_to_pad(
                    "_padding_values",
                    "list { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } }",
                ),
                "q",
            ),
            "component 0 of a PaddingFIFOQueue is i32, so it cannot be padded with f32[]",
        ),
        (
            STRUCTURE,
            Run(
                how_to_pad(
                    "_padding_values",
                    "list { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 1 } }",
                ),
                "q",
            ),
            "cannot be padded with i32[2]",
        ),
        (STRUCTURE, Run(no_such_bucket(-1), "size"), "which is not in 0..1"),
        (STRUCTURE, Run(no_such_bucket(2147483647), "size"), "which is not in 0..1"),
        (STRUCTURE, Case("AddSparseToTensorsMap", "is_a_matrix"), ""),
        (STRUCTURE, Case("AddSparseToTensorsMap", "a_value_for_each"), ""),
        (STRUCTURE, Case("AddSparseToTensorsMap", "a_size_for_each"), ""),
        (STRUCTURE, Case("AddSparseToTensorsMap", "inside"), ""),
        (STRUCTURE, Case("AddSparseToTensorsMap", "not_negative"), ""),
        ("CVE-2021-29523", Case("AddManySparseToTensorsMap", "not_too_many"), ""),
        (STRUCTURE, Case("AddManySparseToTensorsMap", "has_rows"), ""),
        (STRUCTURE, Case("AddManySparseToTensorsMap", "inside"), ""),
        (STRUCTURE, Case("AddManySparseToTensorsMap", "not_below"), ""),
        (STRUCTURE, Case("TakeManySparseFromTensorsMap", "nothing_there"), ""),
        (STRUCTURE, Case("TakeManySparseFromTensorsMap", "once_each"), ""),
        (STRUCTURE, Case("TakeManySparseFromTensorsMap", "of_its_dtype"), ""),
        (STRUCTURE, Case("TakeManySparseFromTensorsMap", "of_one_rank"), ""),
        (STRUCTURE, Case("TakeManySparseFromTensorsMap", "one_at_least"), ""),
    ]
}

/// A padding queue with an option for its batches.
fn how_to_pad(attr: &str, value: &str) -> String {
    format!(
        "node {{ name: 'q' op: 'PaddingFIFOQueueV2' attr {{ key: 'component_types' value {{ list {{ type: DT_INT32 }} }} }}
           attr {{ key: 'shapes' value {{ list {{ shape {{ dim {{ size: -1 }} }} }} }} }}
           attr {{ key: '{attr}' value {{ {value} }} }} }}"
    )
}

/// The size of a queue selected from a list of one.
fn no_such_bucket(which: i32) -> String {
    constant("which", "DT_INT32", &format!("tensor_shape {{}} int_val: {which}"))
        + &constant("axis", "DT_INT32", "tensor_shape {} int_val: 0")
        + "node { name: 'q' op: 'FIFOQueueV2' attr { key: 'component_types' value { list { type: DT_INT32 } } } }
           node { name: 'all' op: 'Pack' input: 'q' attr { key: 'N' value { i: 1 } } attr { key: 'T' value { type: DT_RESOURCE } } }
           node { name: 'one' op: 'GatherV2' input: 'all' input: 'which' input: 'axis' attr { key: 'Tparams' value { type: DT_RESOURCE } }
             attr { key: 'Tindices' value { type: DT_INT32 } } attr { key: 'Taxis' value { type: DT_INT32 } } }
           node { name: 'size' op: 'QueueSizeV2' input: 'one' }"
}

/// A queue, and another of the same name that differs in one attribute.
fn two_queues(attr: &str, other: &str) -> String {
    let queue = |name: &str, changed: bool| {
        let attrs = [
            ("capacity", "i: 2"),
            ("component_types", "list { type: DT_INT32 }"),
            ("shapes", "list { shape { } }"),
            ("shared_name", "s: 'one queue'"),
        ];
        let attrs = attrs.map(|(key, value)| {
            let value = if changed && key == attr { other } else { value };
            format!("attr {{ key: '{key}' value {{ {value} }} }}")
        });
        let after = if changed { "input: '^a'" } else { "" };
        format!("node {{ name: '{name}' op: 'FIFOQueueV2' {after} {} }}\n", attrs.join(" "))
    };
    queue("a", false) + &queue("b", true)
}

fn functions() -> Vec<Row> {
    let empty = "attr { key: 'Tin' value { list {} } } attr { key: 'Tout' value { list {} } }";
    let call = |f: &str| {
        format!(
            "name: 'x' op: 'PartitionedCall' attr {{ key: 'f' value {{ func {{ name: '{f}' }} }} }} {empty}"
        )
    };
    let function = |name: &str, calls: &str| {
        format!("function {{ signature {{ name: '{name}' }} node_def {{ {} }} }}", call(calls))
    };
    let program = |functions: &str| format!("node {{ {} }} library {{ {functions} }}", call("f"));
    let loops =
        "op: 'While' input: 'a' attr { key: 'T' value { list { type: DT_BOOL } } } attr { key: 'cond' value { func { name: 'f' } } }
                 attr { key: 'body' value { func { name: 'f' } } }";
    let takes = "signature { name: 'f' input_arg { name: 'a' type: DT_INT32 } output_arg { name: 'r' type: DT_INT32 } }";
    let with = |call: &str, rest: &str| {
        format!("{} node {{ name: 'c' op: 'f' {call} }} library {{ function {{ {takes} {rest} }} }}", one())
    };
    let doubles = (0..60).map(|i| {
        let next = i + 1;
        format!("function {{ signature {{ name: 'f{i}' }} node_def {{ name: 'x' op: 'f{next}' }} node_def {{ name: 'y' op: 'f{next}' }} }}")
    });
    let doubles = doubles.collect::<String>();
    vec![
        (
            "CVE-2021-29591",
            Import(format!(
                "{} node {{ name: 'w' {loops} }} library {{ function {{
                   signature {{ name: 'f' input_arg {{ name: 'a' type: DT_BOOL }} output_arg {{ name: 'r' type: DT_BOOL }} }}
                   node_def {{ name: 'x' {loops} }} ret {{ key: 'r' value: 'x:output:0' }} }} }}",
                constant("a", "DT_BOOL", "tensor_shape {} bool_val: true")
            )),
            "the function `f` calls itself",
        ),
        ("CVE-2022-23591", Import(program(&function("f", "f"))), "the function `f` calls itself: `f` -> `f`"),
        (
            "CVE-2021-41213",
            Import(program(&(function("f", "g") + &function("g", "f")))),
            "the function `f` calls itself: `f` -> `g` -> `f`",
        ),
        (
            STRUCTURE,
            Import(format!(
                "node {{ name: 'c' op: 'f0' }} library {{ {doubles} function {{ signature {{ name: 'f60' }} node_def {{ name: 'x' op: 'NoOp' }} }} }}"
            )),
            "more than 10000 nodes",
        ),
        (
            "CVE-2022-23586",
            Import(with("", "ret { key: 'r' value: 'a' }")),
            "takes 1 arguments, but the call gives 0",
        ),
        (
            "CVE-2022-23586",
            Import(with("input: 'one'", "ret { key: 'r' value: 'a:9' }")),
            "nothing named `a:9`",
        ),
        ("CVE-2022-23586", Import("library { function { } }".into()), "has no name"),
        ("CVE-2022-41902", Import(with("input: 'one'", "")), "does not say what its result `r` is"),
        (
            "CVE-2022-41902",
            Import(format!("{} library {{ function {{ {takes} ret {{ key: 'r' value: 'a' }} }} }}", {
                let types = "attr { key: 'Tin' value { list { type: DT_INT32 } } } attr { key: 'Tout' value { list {} } }";
                one()
                    + "node { name: 'c' op: 'PartitionedCall' input: 'one' attr { key: 'f' value { func { name: 'f' } } }"
                    + types
                    + "}"
            })),
            "the call has 0 results by its attributes, but its function gives 1",
        ),
    ]
}

fn messages() -> Vec<Row> {
    let nested = "func { name: 'f' attr { key: 'a' value { ".repeat(2000) + &"} } } ".repeat(2000);
    let float = |value: &str| Import(constant("c", "DT_FLOAT", value));
    vec![
        (
            "CVE-2021-29615",
            Import(format!("node {{ name: 'p' op: 'NoOp' attr {{ key: '_f' value {{ {nested} }} }} }}")),
            "deep",
        ),
        (
            "CVE-2022-23571",
            Import(constant("c", "DT_INVALID", "tensor_shape {}")),
            "is not a known dtype number",
        ),
        ("CVE-2022-23571", Import(constant("c", "777", "tensor_shape {}")), "is not a known dtype number"),
        ("CVE-2022-23571", float("tensor_shape { unknown_rank: true }"), "must be known"),
        (
            "CVE-2022-23571",
            float("tensor_shape { dim { size: 1000000000000 } } float_val: 1"),
            "over the limit",
        ),
        (
            "CVE-2022-23571",
            float("tensor_shape { dim { size: 4611686018427387904 } dim { size: 4611686018427387904 } }"),
            "63 bits",
        ),
        (
            "CVE-2022-23564",
            Import(constant("c", "DT_RESOURCE", "tensor_shape {} resource_handle_val { name: 'x' }")),
            "cannot be read",
        ),
        (
            "CVE-2022-23590",
            Import("node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { s: 'x' } } }".into()),
            "attribute `dtype` is not",
        ),
        (
            "CVE-2022-23590",
            Import("node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value {} } }".into()),
            "attribute `dtype` is not",
        ),
        (
            "CVE-2020-15206",
            Import(
                "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
                   attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} } } } }"
                    .into(),
            ),
            "`value` is i32 but `dtype` is f32",
        ),
        (
            "CVE-2020-15206",
            float("tensor_shape { dim { size: 2 } } tensor_content: 'abc'"),
            "needs 8 bytes of `tensor_content`, which has 3",
        ),
        (
            "CVE-2020-15206",
            Import(constant(
                "c",
                "DT_STRING",
                "tensor_shape { dim { size: 2 } } tensor_content: '\\377\\377\\377\\377\\017'",
            )),
            "does not hold 2 packed strings",
        ),
        (
            "CVE-2022-23589",
            Import("node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } }".into()),
            "needs the attribute `value`",
        ),
        ("CVE-2022-23589", Import("node { name: 'x' op: 'Identity' }".into()), "Identity"),
        ("CVE-2022-23589", Import(op("Neg", "x", "gone")), "its input `gone` is not in the graph"),
        ("CVE-2021-29539", Import("node { name: 'c' op: 'ImmutableConst' }".into()), "uses: ImmutableConst"),
        ("CVE-2020-15204", Case("GetSessionHandle", "takes_a_value"), ""),
        ("CVE-2022-29191", Case("GetSessionTensor", "one_handle"), ""),
        ("CVE-2022-29191", Case("GetSessionTensor", "is_there"), ""),
        ("CVE-2022-29194", Case("DeleteSessionTensor", "one_handle"), ""),
        ("CVE-2022-29194", Case("DeleteSessionTensor", "is_there"), ""),
        ("CVE-2022-29216", Value("[np.ones((2,2)) * 2]"), ""),
        ("CVE-2022-29216", Value("__import__('os').system('true')"), ""),
    ]
}

fn sizes() -> Vec<Row> {
    let stitch = "node { name: 'd' op: 'DynamicStitch' input: 'one' input: 'one' input: 'one'
                    attr { key: 'N' value { i: 2 } } attr { key: 'T' value { type: DT_INT32 } } }";
    let empty =
        constant("c", "DT_FLOAT", "tensor_shape { dim { size: 0 } dim { size: 1152921504606846976 } }");
    let pads = constant(
        "p",
        "DT_INT32",
        "tensor_shape { dim { size: 2 } dim { size: 2 } } int_val: 1 int_val: 0 int_val: 0 int_val: 0",
    );
    let pad = "node { name: 'x' op: 'Pad' input: 'c' input: 'p' attr { key: 'T' value { type: DT_FLOAT } } }";
    let ranks = constant("dims", "DT_INT32", "tensor_shape { dim { size: 100000 } } int_val: 1");
    let fill =
        "node { name: 'x' op: 'Fill' input: 'dims' input: 'one' attr { key: 'T' value { type: DT_INT32 } } }";
    let dims = constant("dims", "DT_INT32", "tensor_shape { dim { size: 2 } } int_val: 2000000000");
    let end = constant("end", "DT_INT32", "tensor_shape {} int_val: 2000000000");
    let range = "node { name: 'x' op: 'Range' input: 'one' input: 'end' input: 'one' attr { key: 'Tidx' value { type: DT_INT32 } } }";
    vec![
        ("CVE-2022-41883", Import(one() + stitch), "DynamicStitch"),
        ("CVE-2022-41883", Case("DynamicStitch", "shapes_differ"), ""),
        ("CVE-2023-25659", Case("DynamicStitch", "rows_differ"), ""),
        ("CVE-2023-25659", Case("DynamicStitch", "negative"), ""),
        ("CVE-2023-25659", Example("DynamicStitch([2147483647], [1]) ! out of memory"), ""),
        ("CVE-2021-29550", Case("FractionalAvgPool", "a_window_is_left"), ""),
        ("CVE-2021-29578", Case("FractionalAvgPoolGrad", "within_the_image"), ""),
        ("CVE-2021-29580", Case("FractionalMaxPoolGrad", "gradient_fits"), ""),
        (
            "CVE-2022-21730",
            Example(
                "FractionalAvgPoolGrad(i64[4] [1 1 3 1], [[[[3.0] [4.0]]]], i64[2] [0 1], i64[3] [0 -9 3]) ! must increase from 0 to at most 3",
            ),
            "",
        ),
        ("CVE-2022-41897", Case("FractionalMaxPoolGrad", "windows_fit"), ""),
        ("CVE-2022-41900", Case("FractionalMaxPool", "a_window_is_left"), ""),
        ("CVE-2022-41900", Case("FractionalAvgPool", "no_smaller_ratio"), ""),
        ("CVE-2022-23580", Import(one() + &ranks + fill), "at most 254 dimensions"),
        ("CVE-2022-23580", Run(one() + &dims + fill, "x"), "cannot allocate 4000000000000000000"),
        ("CVE-2022-23580", Run(one() + &end + range, "x"), "over the limit"),
        ("CVE-2021-41197", Case("Tile", "overflow"), ""),
        ("CVE-2021-41197", Case("Pad", "overflow"), ""),
        ("CVE-2021-41197", Case("Fill", "overflow"), ""),
        ("CVE-2021-41197", Case("Slice", "overflow"), ""),
        ("CVE-2021-41197", Case("TensorListConcatV2", "overflow"), ""),
        ("CVE-2021-41197", Example("BroadcastTo(1, i64 [4611686018427387904 4]) ! 63 bits"), ""),
        ("CVE-2021-41197", Example("Reshape([1], i64 [4611686018427387904 4]) ! 63 bits"), ""),
        ("CVE-2021-41197", Example("RandomUniform(i64 [4611686018427387904 4]; dtype=f32) ! 63 bits"), ""),
        ("CVE-2022-41884", Run(empty + &pads + pad, "x"), "out of memory"),
    ]
}

fn dtypes() -> Vec<Row> {
    vec![
        ("CVE-2021-29513", Example("Neg(\"a\") ! str"), ""),
        ("CVE-2021-29513", Example("Sub(\"a\", \"b\") ! str"), ""),
        ("CVE-2021-29513", Example("Sum([\"a\"], 0) ! str"), ""),
        ("CVE-2021-29513", Example("Range(\"a\", \"b\", \"c\") ! str"), ""),
        ("CVE-2021-29513", Example("MatMul(variant[2,2], variant[2,2]) ! variant"), ""),
        ("CVE-2021-29513", Case("Where", "no_strings"), ""),
        ("CVE-2021-29513", Case("OnesLike", "no_ones_of_strings"), ""),
    ]
}

/// A refused graph must leave nothing in memory (CVE-2022-23578).
/// Reports about ops that do not exist here.
const EXCUSED: &[(&str, &[&str])] = &[
    (
        "CVE-2021-37679",
        &[
            "RaggedTensorToVariant",
            "RaggedTensorFromVariant",
            "RaggedTensorToTensor",
            "RaggedTensorToSparse",
            "RaggedGather",
            "RaggedRange",
        ],
    ),
    ("CVE-2022-21732", &["ThreadPoolHandle", "ThreadPoolDataset"]),
    ("CVE-2022-36002", &["Batch", "Unbatch", "UnbatchGrad", "BatchFunction"]),
];

#[test]
fn excuses_hold() {
    for (reports, ops) in EXCUSED {
        for op in *ops {
            let is_there = millstream_ops::registry().get(op).is_some();
            assert!(
                !is_there,
                "`{op}` exists now: give {reports} rows in the table, and take it off the list"
            );
            let error = import(&format!("node {{ name: 'x' op: '{op}' }}")).expect_err("it does not exist");
            assert!(error.to_string().contains(&format!("uses: {op}")), "{error}");
        }
    }
}

#[test]
fn refused_graphs_leave_no_memory() {
    let text = constant("c", "DT_FLOAT", "tensor_shape { dim { size: 1048576 } } float_val: 1")
        + "node { name: 'x' op: 'Neg' input: 'c' input: 'c' attr { key: 'T' value { type: DT_FLOAT } } }";
    let refuse = || assert!(import(&text).unwrap_err().to_string().contains("Neg takes 1 input, got 2"));
    (0..20).for_each(|_| refuse());
    let before = resident();
    (0..200).for_each(|_| refuse());
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 10, "200 graphs of 4 MiB left {grown} KiB behind");
}

/// A long loop with hardly any bound on its iterations (issue 14623): completions must not be a chain of
/// calls.
#[test]
fn many_parallel_iterations() -> Result<()> {
    let g = graph();
    let count = g.while_loop(0i32).parallel_iterations(i64::from(i32::MAX)).run(
        |i: Output<'_>| g.op("Less").input(i).input(200_000i32).output(),
        |i: Output<'_>| g.op("AddV2").input(i).input(1i32).output(),
    )?;
    for setting in TIERS {
        let session = setting.session(&g, Some(LONGEST))?;
        assert_eq!(session.run::<i32>(count, ())?, 200_000);
    }
    Ok(())
}

fn no_iterations(g: &Graph) -> Result<Output<'_>> {
    g.while_loop(0i32).parallel_iterations(0).run(
        |i: Output<'_>| g.op("Less").input(i).input(3i32).output(),
        |i: Output<'_>| g.op("AddV2").input(i).input(1i32).output(),
    )
}

/// A frame whose second variable enters with the final value of the first.
fn never_complete(g: &Graph) -> Result<Output<'_>> {
    let inside = |value: i32| g.enter_as(g.constant(value), "tied", true, 1);
    let (i, back) = g.loop_var(g.enter_as(g.constant(0i32), "tied", false, 1));
    let pred = g.loop_cond(g.op("Less").input(i).input(inside(10)).output());
    let (done, again) = g.switch(i, pred);
    back.close(g.next_iteration(g.op("AddV2").input(again).input(inside(1)).output()))?;
    let (j, back) = g.loop_var(g.enter_as(g.exit(done), "tied", false, 1));
    let (done, again) = g.switch(j, pred);
    back.close(g.next_iteration(again))?;
    Ok(g.exit(done))
}

/// Runs a row on a thread of its own, so that a row that hangs is a failure like any other.
fn in_time(row: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
    let (done, end) = mpsc::channel();
    let thread = thread::spawn(move || {
        let result = row();
        // Nothing receives this if the row took too long.
        done.send(()).ok();
        result
    });
    match end.recv_timeout(LONGEST) {
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("it is not done after {LONGEST:?}")),
        _ => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
    }
}

fn provoke(how: &How, says: &str) -> Result<(), String> {
    let holds = |text: &str| TIERS.iter().try_for_each(|setting| check(text, Given::Constant, setting));
    let refused = |result: Result<(), Error>| match result {
        Ok(()) => Err("there is no error".to_owned()),
        Err(e) if e.to_string().contains(says) => Ok(()),
        Err(e) => Err(format!("another error: {e}")),
    };
    match how {
        Case(op, name) => {
            let case = all().find(|(o, n, _)| o == op && n == name);
            let (.., text) = case.ok_or_else(|| format!("{op} has no example `{name}`"))?;
            if text.contains(" ! ") { holds(text) } else { Err(format!("`{text}` has no error")) }
        }
        Example(text) => holds(text),
        Import(text) => refused(import(text).map(drop)),
        Run(text, name) => {
            let graph = import(text).map_err(|e| format!("it is not imported: {e}"))?;
            refused(compute(&graph, graph.output(name).map_err(|e| e.to_string())?, &TIERS))
        }
        Built(build) => {
            let graph = graph();
            refused(build(&graph).and_then(|output| compute(&graph, output, &[DATAFLOW])))
        }
        Look(ask) => {
            let graph = graph();
            refused(ask(&graph).and_then(|(target, watch)| look(&graph, target, watch)))
        }
        Value(text) => refused(Tensor::parse(text).map(drop)),
    }
}

/// Runs a target with a watch in all tiers; an error only if each tier fails.
fn look(graph: &Graph, target: Target, watch: Option<Watch>) -> Result<()> {
    let options = RunOptions { watch: watch.into_iter().collect(), ..RunOptions::default() };
    each_tier(graph, &TIERS, |session| session.run_with::<Tensor>(target, (), &options).map(drop))
}

/// Computes an output in these tiers; an error only if each tier fails.
fn compute(graph: &Graph, output: Output<'_>, tiers: &[Setting]) -> Result<()> {
    let target = Target::Value(output.port());
    each_tier(graph, tiers, |session| session.run::<Vec<Tensor>>(vec![target], ()).map(drop))
}

fn each_tier(graph: &Graph, tiers: &[Setting], run: impl Fn(&Session) -> Result<()>) -> Result<()> {
    let mut result = Ok(());
    for setting in tiers {
        let options = SessionOptions {
            tier: setting.tier,
            threads: Some(setting.threads),
            memory_limit: Some(MEMORY),
            timeout: Some(LONGEST),
            ..SessionOptions::default()
        };
        let session = Session::with_options(graph, options)?;
        match run(&session) {
            Ok(()) => return Ok(()),
            Err(e) => result = Err(e),
        }
    }
    result
}

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

fn import(text: &str) -> Result<Graph> {
    let graph = graph();
    let options = ImportOptions { memory_limit: MEMORY, max_nodes: 10_000, ..ImportOptions::default() };
    let file = read_graph(text.as_bytes())?;
    let result = import_graph_def(&graph, file.graph_def()?, &options);
    assert!(result.is_ok() || graph.is_empty(), "a graph that was refused left nodes");
    result.map(|_| graph)
}

/// The resident memory of the process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmRSS"));
    line.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn constant(name: &str, dtype: &str, value: &str) -> String {
    format!(
        "node {{ name: '{name}' op: 'Const' attr {{ key: 'dtype' value {{ type: {dtype} }} }}
           attr {{ key: 'value' value {{ tensor {{ dtype: {dtype} {value} }} }} }} }}"
    )
}

fn one() -> String {
    constant("one", "DT_INT32", "tensor_shape {} int_val: 1")
}

fn op(op: &str, name: &str, input: &str) -> String {
    format!(
        "node {{ name: '{name}' op: '{op}' input: '{input}' attr {{ key: 'T' value {{ type: DT_INT32 }} }} }}"
    )
}

fn enter(name: &str, input: &str, frame: &str) -> String {
    enter_with(name, input, frame, 10)
}

fn enter_with(name: &str, input: &str, frame: &str, parallel: i64) -> String {
    format!(
        "node {{ name: '{name}' op: 'Enter' input: '{input}' attr {{ key: 'T' value {{ type: DT_INT32 }} }}
           attr {{ key: 'frame_name' value {{ s: '{frame}' }} }}
           attr {{ key: 'parallel_iterations' value {{ i: {parallel} }} }} }}"
    )
}

fn merge(name: &str, a: &str, b: &str) -> String {
    format!(
        "node {{ name: '{name}' op: 'Merge' input: '{a}' input: '{b}'
           attr {{ key: 'T' value {{ type: DT_INT32 }} }} attr {{ key: 'N' value {{ i: 2 }} }} }}"
    )
}
