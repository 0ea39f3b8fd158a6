//! Queues step by step, beside what TensorFlow 1.15's do (`tests/golden/make_queues.py`).

use millstream::prelude::*;
use millstream::{PartialShape, RunOptions, SessionOptions};
use serde_json::Value;
use std::collections::HashMap;
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
    match &s["shapes"] {
        Value::Null => queue.make(),
        shapes => queue.shapes(list(shapes).iter().map(shape_of)).make(),
    }
}

/// Nested lists as a tensor. An empty list is a vector.
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

fn plain(t: &Tensor) -> Value {
    if t.rank() > 0 {
        return (0..t.shape().dims()[0]).map(|i| plain(&t.row(i).expect("a row"))).collect();
    }
    match t.dtype() {
        DType::I32 => t.to_scalar::<i32>().expect("i32").into(),
        DType::I64 => t.to_scalar::<i64>().expect("i64").into(),
        DType::F32 => f64::from(t.to_scalar::<f32>().expect("f32")).into(),
        DType::Bool => t.to_scalar::<bool>().expect("bool").into(),
        _ => String::from_utf8_lossy(&t.as_strs().expect("strings")[0]).into_owned().into(),
    }
}

/// What a step runs: an operation, or what it fetches.
fn build<'g>(queue: &Queue<'g>, step: &Value) -> Result<(Op<'g>, Vec<Output<'g>>)> {
    let g = queue.graph();
    let values = || -> Result<Vec<Output<'g>>> {
        let given = list(&step[1]).iter().zip(queue.dtypes());
        given.map(|(value, &dtype)| Ok(g.constant(tensor(value, dtype)?))).collect()
    };
    let n = || step[1].as_i64().expect("a number") as i32;
    let taken = match word(&step[0]) {
        "enqueue" => return Ok((queue.enqueue(values()?)?, Vec::new())),
        "enqueue_many" => return Ok((queue.enqueue_many(values()?)?, Vec::new())),
        "close" => return Ok((queue.close(), Vec::new())),
        "close_cancel" => return Ok((queue.close_and_cancel(), Vec::new())),
        "dequeue" => queue.dequeue()?.to_vec(),
        "dequeue_many" => queue.dequeue_many(n())?.to_vec(),
        "dequeue_up_to" => queue.dequeue_up_to(n())?.to_vec(),
        "size" => vec![queue.size()],
        "is_closed" => vec![queue.is_closed()],
        other => panic!("no step is called `{other}`"),
    };
    Ok((taken[0].op(), taken))
}

/// How a step ends, as the golden file says it.
fn run(session: &Session, op: Op<'_>, fetches: &[Output<'_>], timeout: Option<Duration>) -> Value {
    let options = RunOptions { timeout, ..RunOptions::default() };
    let ended = match fetches {
        [] => session.run_with::<()>(op, feed![], &options).map(|_| Vec::new()),
        _ => session.run_with::<Vec<Tensor>>(fetches.to_vec(), feed![], &options).map(|(values, _)| values),
    };
    match ended {
        Ok(values) => serde_json::json!({ "values": values.iter().map(plain).collect::<Vec<_>>() }),
        Err(error) => serde_json::json!({ "code": error.code() as i32 }),
    }
}

/// Waits until this operation waits in a line of a queue.
fn until_it_waits(session: &Session, op: &str) {
    let start = Instant::now();
    let waits =
        || session.queues().iter().any(|q| q.enqueuing.iter().chain(&q.dequeuing).any(|w| w.who == op));
    while !waits() {
        assert!(start.elapsed() < Duration::from_secs(60), "`{op}` does not wait");
        thread::sleep(Duration::from_millis(1));
    }
}

fn play(s: &Value) -> Result<()> {
    let name = word(&s["name"]);
    let g = Graph::new();
    let queue = make(&g, s)?;
    let steps = list(&s["steps"]);
    let inner = |step: &Value| match word(&step[0]) {
        "start" => Some(build(&queue, &step[2])).transpose(),
        "timeout" => Some(build(&queue, &step[1])).transpose(),
        "join" => Ok(None),
        _ => Some(build(&queue, step)).transpose(),
    };
    let built: Vec<_> = steps.iter().map(inner).collect::<Result<_>>()?;
    let options = SessionOptions { stall_grace: Some(Duration::MAX), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    thread::scope(|scope| {
        let mut threads: HashMap<&str, ScopedJoinHandle<'_, Value>> = HashMap::new();
        for ((step, built), want) in steps.iter().zip(&built).zip(list(&s["ends"])) {
            let got = match (word(&step[0]), built) {
                ("start", Some((op, fetches))) => {
                    let (session, op) = (&session, *op);
                    threads.insert(word(&step[1]), scope.spawn(move || run(session, op, fetches, None)));
                    until_it_waits(session, &op.name());
                    serde_json::json!({})
                }
                ("join", _) => {
                    let ended = threads.remove(word(&step[1])).expect("a thread");
                    ended.join().expect("it does not panic")
                }
                ("timeout", Some((op, fetches))) => {
                    run(&session, *op, fetches, Some(Duration::from_millis(30)))
                }
                (_, Some((op, fetches))) => run(&session, *op, fetches, Some(Duration::from_secs(60))),
                (_, None) => panic!("{name}: {step} was not built"),
            };
            assert_eq!(got, *want, "{name}: {step}");
        }
    });
    Ok(())
}

#[test]
fn they_do_what_tensorflows_do() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/queues.json");
    let golden: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the golden file")).expect("JSON");
    assert_eq!(list(&golden).len(), 47);
    list(&golden).iter().try_for_each(play)
}
