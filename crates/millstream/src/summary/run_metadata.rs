//! Traces as TensorFlow's `RunMetadata`.

use millstream_checkpoint::message::encode_shape;
use millstream_exec::{Seen, Trace};
use millstream_interop::proto::{
    AllocationDescription, DeviceStepStats, NodeExecStats, NodeOutput, RunMetadata, StepStats,
    TensorDescription,
};
use std::collections::BTreeMap;

/// The device of all nodes.
const DEVICE: &str = "/job:localhost/replica:0/task:0/device:CPU:0";

/// Returns the trace as a message. A trace has no absolute time, so it is taken to have ended now. Each loop
/// has its own row, as in the trace's Perfetto form.
///
/// ```
/// use millstream::RunOptions;
/// use millstream::prelude::*;
/// use millstream::summary::run_metadata_message;
/// let g = Graph::new();
/// let x = g.constant(2.0f32) + 1.0;
/// let options = RunOptions { trace: true, ..RunOptions::default() };
/// let (_, metadata) = Session::new(&g)?.run_with::<f32>(x, feed![], &options)?;
/// let message = run_metadata_message(&metadata.trace.expect("the options asked for one"));
/// assert!(message.step_stats.is_some());
/// # Ok::<(), millstream::Error>(())
/// ```
pub fn message(trace: &Trace) -> RunMetadata {
    let ran = || trace.events.iter().filter(|e| !e.dead);
    let length = ran().map(|e| e.start_ns.saturating_add(e.duration_ns)).max().unwrap_or(0);
    let begun_ns = ((super::writer::now() * 1e9) as i64).saturating_sub_unsigned(length);
    let mut rows: BTreeMap<&str, u32> = BTreeMap::new();
    let mut node_stats = Vec::new();
    for event in ran() {
        let frame = event.frame();
        let next = rows.len() as u32;
        let start = begun_ns.saturating_add_unsigned(event.start_ns);
        let duration = i64::try_from(event.duration_ns).unwrap_or(i64::MAX);
        // A step shorter than a microsecond counts as one, as in TensorFlow, so that it is visible.
        let micros = (duration / 1000).max(1);
        node_stats.push(NodeExecStats {
            node_name: event.node.clone(),
            all_start_micros: start / 1000,
            all_start_nanos: start,
            op_end_rel_micros: micros,
            op_end_rel_nanos: duration,
            all_end_rel_micros: micros,
            all_end_rel_nanos: duration,
            timeline_label: label(&event.node, event.op, &event.place),
            scheduled_micros: start / 1000,
            scheduled_nanos: start,
            output: event.outputs.iter().map(output).collect(),
            thread_id: *rows.entry(frame).or_insert(next),
            ..NodeExecStats::default()
        });
    }
    let thread_names = rows.into_iter().map(|(frame, row)| (row, frame.to_owned())).collect();
    let device = DeviceStepStats { device: DEVICE.into(), node_stats, thread_names };
    RunMetadata { step_stats: Some(StepStats { dev_stats: vec![device] }), ..RunMetadata::default() }
}

fn output(seen: &Seen) -> NodeOutput {
    let bytes = seen.shape.elements().saturating_mul(seen.dtype.size().unwrap_or(0));
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    NodeOutput {
        slot: seen.index.cast_signed(),
        tensor_description: Some(TensorDescription {
            dtype: seen.dtype.number(),
            shape: Some(encode_shape(&(&seen.shape).into())),
            allocation_description: Some(AllocationDescription {
                requested_bytes: bytes,
                allocator_name: "cpu".into(),
                ..AllocationDescription::default()
            }),
        }),
    }
}

fn label(node: &str, op: &str, place: &str) -> String {
    match place {
        "" => format!("{node} = {op}()"),
        _ => format!("{node} = {op}() in {place}"),
    }
}
