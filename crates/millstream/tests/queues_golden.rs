//! Queues step by step against TensorFlow 1.15 (`tests/golden/make_queues.py`).

use crate::common::{golden, plain};
use millstream::prelude::*;
use millstream::{Queue, RunOptions, SessionOptions};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn word(value: &Value) -> &str {
    value.as_str().expect("a word")
}

fn shape_of(value: &Value) -> PartialShape {
    PartialShape::new(list(value).iter().map(|dim| dim.as_u64().map(|dim| dim as usize)))
}

fn make<'g>(g: &'g Graph, s: &Value) -> Result<Queue<'g>> {
    let capacity = s["capacity"].as_i64().expect("a capacity");
    let dtypes = list(&s["dtypes"]).iter().map(|d| DType::parse(word(d)).expect("a dtype"));
    let queue = match word(&s["kind"]) {
        "fifo" => Queue::fifo(g, capacity, dtypes),
        "padding" => Queue::padding(g, capacity, dtypes),
        "priority" => Queue::priority(g, capacity, dtypes),
        _ => {
            let least = s["min_after_dequeue"].as_i64().expect("a number");
            Queue::shuffle(g, capacity, least, dtypes).seed(s["seed"].as_i64().expect("a seed"))
        }
    };
    let queue = queue.shared_name(s["shared_name"].as_str().unwrap_or_default());
    // The builder adds the component of the priority.
    let names = s["names"].as_array().into_iter().flatten().map(word).filter(|name| *name != "priority");
    let queue = queue.names(names);
    match &s["shapes"] {
        Value::Null => queue.build(),
        shapes => queue.shapes(list(shapes).iter().map(shape_of)).build(),
    }
}

/// Returns nested lists as a tensor. An empty list is a vector.
fn tensor(value: &Value, dtype: DType) -> Result<Tensor> {
    fn flatten<'v>(value: &'v Value, depth: usize, dims: &mut Vec<usize>, leaves: &mut Vec<&'v Value>) {
        let Some(items) = value.as_array() else { return leaves.push(value) };
        if dims.len() == depth {
            dims.push(items.len());
        }
        items.iter().for_each(|item| flatten(item, depth + 1, dims, leaves));
    }
    let (mut dims, mut leaves) = (Vec::new(), Vec::new());
    flatten(value, 0, &mut dims, &mut leaves);
    let int = |v: &&Value| v.as_i64().expect("an integer");
    match dtype {
        DType::I32 => Tensor::from_iter(dims, leaves.iter().map(|v| int(v) as i32)),
        DType::I64 => Tensor::from_iter(dims, leaves.iter().map(int)),
        DType::F32 => Tensor::from_iter(dims, leaves.iter().map(|v| v.as_f64().expect("a number") as f32)),
        _ => Tensor::strings(dims, leaves.iter().map(|v| word(v).into()).collect()),
    }
}

/// The operation of a step, its fetches, and their names, if any.
struct Built<'g> {
    op: Op<'g>,
    fetches: Vec<Output<'g>>,
    names: Vec<String>,
}

fn build<'g>(queues: &[Queue<'g>], step: &Value) -> Result<Built<'g>> {
    let queue = &queues[0];
    let n = || step[1].as_i64().expect("a number") as i32;
    let taken = |taken: millstream::Components<'g>| {
        let fetches = taken.to_vec();
        Built { op: fetches[0].op(), fetches, names: queue.names().to_vec() }
    };
    let one = |output: Output<'g>| Built { op: output.op(), fetches: vec![output], names: Vec::new() };
    let run = |op| Built { op, fetches: Vec::new(), names: Vec::new() };
    Ok(match word(&step[0]) {
        "on" => build(&queues[n() as usize..], &step[2])?,
        "chosen" => build(&[Queue::from_list(n(), queues)?], &step[2])?,
        "enqueue" => run(hand_in(queue, &step[1], |item| queue.enqueue(item), |item| queue.enqueue(item))?),
        "enqueue_many" => {
            run(hand_in(queue, &step[1], |rows| queue.enqueue_many(rows), |rows| queue.enqueue_many(rows))?)
        }
        "close" => run(queue.close()),
        "close_cancel" => run(queue.close_and_cancel()),
        "dequeue" => taken(queue.dequeue()?),
        "dequeue_many" => taken(queue.dequeue_many(n())?),
        "dequeue_up_to" => taken(queue.dequeue_up_to(n())?),
        "size" => one(queue.size()),
        "is_closed" => one(queue.is_closed()),
        other => panic!("no step is called `{other}`"),
    })
}

/// Enqueues values in the order of the components, or by name.
fn hand_in<'g>(
    queue: &Queue<'g>,
    values: &Value,
    listed: impl Fn(Vec<Output<'g>>) -> Result<Op<'g>>,
    named: impl Fn(BTreeMap<String, Output<'g>>) -> Result<Op<'g>>,
) -> Result<Op<'g>> {
    let constant =
        |value: &Value, dtype: DType| Ok(queue.graph().constant(tensor(value, dtype)?)) as Result<_>;
    let Some(values) = values.as_object() else {
        let values = list(values).iter().zip(queue.dtypes());
        return listed(values.map(|(value, &dtype)| constant(value, dtype)).collect::<Result<_>>()?);
    };
    let dtype = |name: &String| queue.dtypes()[queue.names().iter().position(|n| n == name).expect("a name")];
    let values = values.iter().map(|(name, value)| Ok((name.clone(), constant(value, dtype(name))?)));
    named(values.collect::<Result<_>>()?)
}

/// Formats the end of a step as in the golden file.
fn run(session: &Session, built: &Built<'_>, timeout: Option<Duration>) -> Value {
    let options = RunOptions { timeout, ..RunOptions::default() };
    let Built { op, fetches, names } = built;
    let ended = match fetches.as_slice() {
        [] => session.run_with::<()>(op, feed![], &options).map(|_| Vec::new()),
        _ => session.run_with::<Vec<Tensor>>(fetches.clone(), feed![], &options).map(|(values, _)| values),
    };
    match ended {
        Ok(values) if !names.is_empty() => {
            let values: BTreeMap<&String, Value> = names.iter().zip(values.iter().map(plain)).collect();
            serde_json::json!({ "values": values })
        }
        Ok(values) => serde_json::json!({ "values": values.iter().map(plain).collect::<Vec<_>>() }),
        Err(error) => serde_json::json!({ "code": error.code() as i32 }),
    }
}

/// Waits until this operation is waiting in a queue.
fn until_it_waits(session: &Session, op: &str) {
    let start = Instant::now();
    let waits =
        || session.queues().iter().any(|q| q.enqueuing.iter().chain(&q.dequeuing).any(|w| w.who == op));
    while !waits() {
        assert!(start.elapsed() < Duration::from_secs(60), "`{op}` does not wait");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the static shapes of a queue's components.
fn spec_of(queue: &Queue<'_>) -> Value {
    let dims = |shape: &PartialShape| shape.dims().map(<[Option<usize>]>::to_vec);
    let shapes: Vec<_> = match queue.shapes() {
        None => vec![None; queue.dtypes().len()],
        Some(shapes) => shapes.iter().map(dims).collect(),
    };
    let dtypes: Vec<&str> = queue.dtypes().iter().map(|d| d.tf_name()).collect();
    let names = Some(queue.names()).filter(|names| !names.is_empty());
    serde_json::json!({ "dtypes": dtypes, "shapes": shapes, "names": names })
}

fn play(s: &Value) -> Result<()> {
    let name = word(&s["name"]);
    let g = Graph::new();
    let queues = std::iter::once(s).chain(list(&s["others"])).map(|s| make(&g, s));
    let queues: Vec<Queue<'_>> = queues.collect::<Result<_>>()?;
    if let Some(chosen) = s.get("chosen") {
        assert_eq!(spec_of(&Queue::from_list(0, &queues)?), *chosen, "{name}");
    }
    let steps = list(&s["steps"]);
    let inner = |step: &Value| match word(&step[0]) {
        "start" => Some(build(&queues, &step[2])).transpose(),
        "timeout" => Some(build(&queues, &step[1])).transpose(),
        "join" => Ok(None),
        _ => Some(build(&queues, step)).transpose(),
    };
    let built: Vec<_> = steps.iter().map(inner).collect::<Result<_>>()?;
    let options = SessionOptions { stall_grace: Some(Duration::MAX), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    thread::scope(|scope| {
        let mut threads: HashMap<&str, ScopedJoinHandle<'_, Value>> = HashMap::new();
        for ((step, built), want) in steps.iter().zip(&built).zip(list(&s["ends"])) {
            let got = match (word(&step[0]), built) {
                ("start", Some(built)) => {
                    let session = &session;
                    threads.insert(word(&step[1]), scope.spawn(move || run(session, built, None)));
                    until_it_waits(session, &built.op.name());
                    serde_json::json!({})
                }
                ("join", _) => {
                    let ended = threads.remove(word(&step[1])).expect("a thread");
                    ended.join().expect("it does not panic")
                }
                ("timeout", Some(built)) => run(&session, built, Some(Duration::from_millis(30))),
                (_, Some(built)) => run(&session, built, Some(Duration::from_secs(60))),
                (_, None) => panic!("{name}: {step} was not built"),
            };
            assert_eq!(got, *want, "{name}: {step}");
        }
    });
    Ok(())
}

#[test]
fn they_do_what_tensorflows_do() -> Result<()> {
    let golden = golden("queues.json");
    assert_eq!(list(&golden).len(), 60);
    list(&golden).iter().try_for_each(play)
}
