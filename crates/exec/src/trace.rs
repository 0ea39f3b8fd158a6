//! [`Trace`]: every execution of a node with its frame and iteration, in Chrome's and Perfetto's trace
//! format.

use crate::plan::Label;
use millstream_tensor::budget::{self, Room};
use millstream_tensor::{DType, Shape};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// One execution of a node.
#[derive(Clone, Debug)]
pub struct Event {
    /// The node's name.
    pub node: String,
    /// The op type.
    pub op: &'static str,
    /// The loops around it with their iterations; empty outside of loops.
    pub place: String,
    /// The iteration of the innermost loop.
    pub iteration: u64,
    /// Whether the node was dead, so that nothing was computed.
    pub dead: bool,
    /// The start, in nanoseconds since the run began.
    pub start_ns: u64,
    /// The duration, in nanoseconds.
    pub duration_ns: u64,
    /// The kernel's outputs, as far as something reads them.
    pub outputs: Vec<Seen>,
}

/// An output without its elements.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which of the node's outputs.
    pub index: u32,
    /// The dtype.
    pub dtype: DType,
    /// The shape.
    pub shape: Shape,
}

impl Event {
    /// The name of the frame that the node ran in, or `root` outside of loops.
    pub fn frame(&self) -> &str {
        self.place.split(", in ").next().and_then(|p| p.split('`').nth(1)).unwrap_or("root")
    }
}

/// The executions of one run, in order.
#[derive(Clone, Debug)]
pub struct Trace {
    origin: Instant,
    begun: Instant,
    /// The executions.
    pub events: Vec<Event>,
    /// The memory of the events, charged for a number of them at a time.
    rooms: Vec<Arc<Room>>,
    /// Whether the events that followed were left out, because the budget has no room for more.
    pub is_cut: bool,
}

/// The number of events that are charged at a time.
const AT_A_TIME: usize = 1024;

/// The bytes that an event takes: the struct, its texts and its outputs.
const EVENT: usize = 2 * size_of::<Event>() + 256;

impl Trace {
    pub(crate) fn new() -> Trace {
        let now = Instant::now();
        Trace { origin: now, begun: now, events: Vec::new(), rooms: Vec::new(), is_cut: false }
    }

    pub(crate) fn begin(&mut self) {
        self.begun = Instant::now();
    }

    pub(crate) fn end(&mut self, label: &Label, place: String, iteration: u64, outputs: Option<Vec<Seen>>) {
        if self.events.len() == self.rooms.len() * AT_A_TIME && !self.is_cut {
            // At most half of the memory: the run must not fail for its trace.
            let all = (self.rooms.len() + 1) * AT_A_TIME * EVENT;
            match Room::of(AT_A_TIME * EVENT) {
                Ok(room) if all < budget::left() => self.rooms.push(Arc::new(room)),
                _ => self.is_cut = true,
            }
        }
        if self.is_cut {
            return;
        }
        let dead = outputs.is_none();
        let start_ns = self.begun.duration_since(self.origin).as_nanos() as u64;
        self.events.push(Event {
            node: label.name.clone(),
            op: label.op,
            place,
            iteration,
            dead,
            start_ns,
            duration_ns: if dead { 0 } else { self.begun.elapsed().as_nanos() as u64 },
            outputs: outputs.unwrap_or_default(),
        });
    }

    /// The trace as JSON that `chrome://tracing` and Perfetto open: a row for each loop, times in
    /// microseconds.
    pub fn to_chrome_json(&self) -> String {
        let mut rows: Vec<&str> = Vec::new();
        let mut out = String::from("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        for (i, e) in self.events.iter().enumerate() {
            let frame = e.frame();
            let row = rows.iter().position(|r| *r == frame).unwrap_or_else(|| {
                rows.push(frame);
                rows.len() - 1
            });
            let comma = if i == 0 { "" } else { ",\n" };
            let _ = write!(
                out,
                "{comma}{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"pid\":1,\"tid\":{row},\"ts\":{:.3},\"dur\":{:.3},\"args\":{{\"node\":{},\"frame\":{},\"iteration\":{},\"place\":{},\"dead\":{}}}}}",
                json(e.op),
                json(if e.dead { "dead" } else { "run" }),
                e.start_ns as f64 / 1e3,
                e.duration_ns as f64 / 1e3,
                json(&e.node),
                json(frame),
                e.iteration,
                json(&e.place),
                e.dead
            );
        }
        for (row, frame) in rows.iter().enumerate() {
            let _ = write!(
                out,
                ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":{row},\"args\":{{\"name\":{}}}}}",
                json(frame)
            );
        }
        if self.is_cut {
            let at = self.events.last().map_or(0, |e| e.start_ns) as f64 / 1e3;
            let _ = write!(
                out,
                ",\n{{\"name\":\"the memory limit ends the trace here\",\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":0,\"ts\":{at:.3}}}"
            );
        }
        out.push_str("\n]}\n");
        out
    }
}

/// A JSON string.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
