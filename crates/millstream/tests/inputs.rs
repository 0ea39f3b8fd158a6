//! Producers and batches, beside what TensorFlow 1.15 makes of them and takes out of them (`tests/golden/make_inputs.py`).

use millstream::graph::Attr;
use millstream::prelude::*;
use millstream::{Code, PartialShape, QUEUE_RUNNERS, train};
use serde_json::Value;

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/inputs.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the golden file")).expect("JSON")
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a text")).collect()
}

/// The attributes that the golden file tells of.
const ATTRS: [&str; 9] = [
    "capacity",
    "component_types",
    "shapes",
    "shared_name",
    "min_after_dequeue",
    "seed",
    "seed2",
    "limit",
    "cancel_pending_enqueues",
];

fn shape_text(shape: &PartialShape) -> String {
    shape.to_string().replace(' ', "")
}

fn attr_text(attr: &Attr) -> String {
    match attr {
        Attr::Str(s) => String::from_utf8_lossy(s).into_owned(),
        Attr::Int(i) => i.to_string(),
        Attr::Bool(b) => b.to_string(),
        Attr::Type(t) => t.dtype.tf_name().to_owned(),
        Attr::Shape(shape) => shape_text(shape),
        Attr::List(list) => format!("{{{}}}", list.iter().map(attr_text).collect::<Vec<_>>().join(",")),
        other => panic!("no attribute of a queue: {}", other.kind()),
    }
}

/// A node as the golden file lists it.
fn line(g: &Graph, op: Op<'_>) -> String {
    let inputs: Vec<String> = op.inputs().iter().map(|i| i.name()).collect();
    let mut words = vec![op.name(), op.op_type().to_owned()];
    words.push(if inputs.is_empty() { "-".into() } else { inputs.join(",") });
    let mut controls: Vec<String> = op.control_inputs().iter().map(|c| format!("^{}", c.name())).collect();
    controls.sort();
    words.extend(controls);
    let kind = op.op_type();
    if kind.contains("Queue") || kind.contains("Map") || ["RandomShuffle", "CountUpTo"].contains(&kind) {
        let attrs = g.read(|g| g.node(op.id()).expect("a node").info.attrs.clone());
        let known = ATTRS.iter().filter_map(|name| Some(format!("{name}={}", attr_text(attrs.get(name)?))));
        words.extend(known);
    }
    words.join(" ")
}

/// What a case fetches: dense, or sparse.
enum Fetched<'g> {
    Dense(Output<'g>),
    Sparse(SparseTensor<'g>),
}

impl<'g> From<Output<'g>> for Fetched<'g> {
    fn from(output: Output<'g>) -> Self {
        Fetched::Dense(output)
    }
}

impl<'g> From<SparseTensor<'g>> for Fetched<'g> {
    fn from(sparse: SparseTensor<'g>) -> Self {
        Fetched::Sparse(sparse)
    }
}

impl<'g> Fetched<'g> {
    fn outputs(&self) -> Vec<Output<'g>> {
        match self {
            Fetched::Dense(output) => vec![*output],
            Fetched::Sparse(s) => vec![s.indices, s.values, s.dense_shape],
        }
    }

    fn shapes(&self) -> Value {
        let shapes: Vec<Value> = self.outputs().iter().map(|o| Value::from(shape_text(&o.shape()))).collect();
        match self {
            Fetched::Dense(_) => shapes[0].clone(),
            Fetched::Sparse(_) => shapes.into(),
        }
    }
}

/// A tensor as nested lists.
fn plain(t: &Tensor) -> Value {
    if t.rank() > 0 {
        return (0..t.shape().dims()[0]).map(|i| plain(&t.row(i).expect("a row"))).collect();
    }
    match t.dtype() {
        DType::I32 => t.to_scalar::<i32>().expect("i32").into(),
        DType::I64 => t.to_scalar::<i64>().expect("i64").into(),
        DType::F32 => f64::from(t.to_scalar::<f32>().expect("f32")).into(),
        DType::Str => String::from_utf8_lossy(&t.as_strs().expect("strings")[0]).into_owned().into(),
        other => panic!("no case has {other}"),
    }
}

fn run(g: &Graph, fetched: &[Fetched<'_>]) -> Result<(Vec<Value>, Option<Code>)> {
    let init = g.local_variables_initializer();
    let session = Session::new(g)?;
    session.run::<()>(init, feed![])?;
    let all: Vec<Output<'_>> = fetched.iter().flat_map(Fetched::outputs).collect();
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    session.start_queue_runners(&coordinator)?;
    let (mut batches, mut end) = (Vec::new(), None);
    while batches.len() < 20 && end.is_none() {
        match session.run::<Vec<Tensor>>(all.clone(), feed![]) {
            Err(error) => end = Some(error.code()),
            Ok(values) => {
                let mut values = values.iter().map(plain);
                let mut next = || values.next().expect("a value");
                let batch = fetched.iter().map(|f| match f {
                    Fetched::Dense(_) => next(),
                    Fetched::Sparse(_) => {
                        let parts =
                            ["indices", "values", "dense_shape"].map(|part| (part.to_owned(), next()));
                        Value::Object(parts.into_iter().collect())
                    }
                });
                batches.push(batch.collect());
            }
        }
    }
    coordinator.request_stop();
    coordinator.join()?;
    Ok((batches, end))
}

fn component<'g>(queue: Queue<'g>) -> Result<Vec<Fetched<'g>>> {
    Ok(queue.dequeue()?.to_vec().into_iter().map(Fetched::Dense).collect())
}

fn producers<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    let x = |dtype: DType, shape: PartialShape| g.placeholder_of("x", dtype, shape);
    Ok(Some(match case {
        "input_rows" => {
            let rows = g.constant([[1, 2], [3, 4], [5, 6]]);
            component(train::input_producer(g, rows).num_epochs(2).shuffle(false).make()?)?
        }
        "input_named" => {
            let rows = train::input_producer(g.named("rows"), [1f32, 2.0]).shuffle(false);
            component(rows.capacity(3).shared_name("shared").num_epochs(1).make()?)?
        }
        "input_shuffled" => {
            g.set_seed(4);
            let rows = train::input_producer(g, [1, 2, 3, 4, 5, 6, 7]);
            component(rows.num_epochs(2).seed(3).make()?)?
        }
        "input_of_unknown_rows" => {
            let rows = train::input_producer(g, x(DType::F32, shape![_, _]));
            component(rows.element_shape(shape![3]).shuffle(false).make()?)?
        }
        "input_cancelled_by" => {
            let stop = g.op("NoOp").name("stop").finish();
            component(train::input_producer(g, [1, 2]).shuffle(false).cancel_op(stop).make()?)?
        }
        "strings" => {
            let strings = train::string_input_producer(g, ["a", "b", "c"]);
            component(strings.num_epochs(2).shuffle(false).make()?)?
        }
        "strings_shuffled" => {
            let files = vec!["a".to_owned(), "b".into(), "c".into()];
            let strings = train::string_input_producer(g.named("files"), files);
            component(strings.seed(7).num_epochs(3).make()?)?
        }
        "strings_of_unknown_number" => {
            let files = g.placeholder_of("files", DType::Str, shape![_]);
            component(train::string_input_producer(g, files).shuffle(false).capacity(7).make()?)?
        }
        "numbers" => component(train::range_input_producer(g, 5).num_epochs(2).shuffle(false).make()?)?,
        "numbers_shuffled" => {
            g.set_seed(9);
            let ids = train::range_input_producer(g.named("ids"), 6);
            component(ids.num_epochs(2).seed(5).capacity(4).make()?)?
        }
        "numbers_without_end" => component(train::range_input_producer(g, 3).shuffle(false).make()?)?,
        "two_producers" => {
            let of =
                |n: i32| component(train::range_input_producer(g, n).num_epochs(1).shuffle(false).make()?);
            let (mut a, b) = (of(2)?, of(3)?);
            a.extend(b);
            a
        }
        "slices" => {
            let tensors = (g.constant([[1, 2], [3, 4]]), g.constant([0.5f32, 1.5]));
            let (a, b) = train::slice_input_producer(g, tensors).num_epochs(2).shuffle(false).make()?;
            vec![a.into(), b.into()]
        }
        "slices_of_unknown_number" => {
            let slices = train::slice_input_producer(g.named("rows"), [x(DType::I32, shape![_, 2])]);
            slices.shuffle(false).capacity(5).make()?.map(Fetched::from).into()
        }
        "epochs" => {
            let x = g.constant_tensor("x", Tensor::vector(&[1, 2])?);
            vec![train::limit_epochs(g, x, 3)?.into()]
        }
        "epochs_named" => {
            let x = g.constant_tensor("x", Tensor::scalar(1.5f32));
            vec![train::limit_epochs(g.named("once"), x, 1)?.into()]
        }
        _ => return Ok(None),
    }))
}

/// The names of what the nodes of a summary are called by.
fn of_summaries(line: &str) -> bool {
    let (name, _) = line.split_once(' ').unwrap_or_default();
    let last = name.rsplit('/').next().unwrap_or_default();
    name.contains("/mul") || last.ends_with("_Size") || name.contains("fraction_") || last == "Cast"
}

#[test]
fn as_tensorflow_makes_them() -> Result<()> {
    let golden = golden();
    let cases = golden.as_object().expect("cases");
    assert_eq!(cases.len(), 16);
    for (case, want) in cases {
        println!("{case}");
        let g = Graph::new();
        let fetched = producers(&g, case)?.unwrap_or_else(|| panic!("no case `{case}` is built here"));
        g.check()?;
        let nodes: Vec<String> = g.operations().into_iter().map(|op| line(&g, op)).collect();
        let wanted: Vec<&str> =
            texts(&want["nodes"]).into_iter().filter(|line| !of_summaries(line)).collect();
        for (got, want) in nodes.iter().zip(&wanted) {
            assert_eq!(got, want, "{case}");
        }
        // What takes out of the queue is not TensorFlow's there, where the case gives the queue itself.
        let more = nodes.len() - wanted.len();
        assert!(
            more <= 1 && nodes[wanted.len()..].iter().all(|n| n.contains("Dequeue")),
            "{case}: {nodes:?}"
        );
        let runners: Vec<Value> = g
            .queue_runners()
            .into_iter()
            .map(|r| vec![r.queue.into(), r.enqueue_ops.into(), r.close_op.into(), r.cancel_op.into()])
            .map(|parts: Vec<Value>| parts.into())
            .collect();
        assert_eq!(Value::from(runners), want["runners"], "{case}");
        assert_eq!(g.collection(QUEUE_RUNNERS).len(), want["runners"].as_array().map_or(0, Vec::len));
        let locals: Vec<String> = g.local_variables().iter().map(|v| v.name()).collect();
        assert_eq!(locals, texts(&want["locals"]), "{case}");
        let shapes: Value = fetched.iter().map(Fetched::shapes).collect();
        assert_eq!(shapes, want["shapes"], "{case}");
        if want.get("batches").is_some() {
            let (batches, end) = run(&g, &fetched)?;
            assert_eq!(Value::from(batches), want["batches"], "{case}");
            assert_eq!(end.map(|code| code as i64), want["end"].as_i64(), "{case}");
        }
    }
    Ok(())
}

#[test]
fn mistakes_are_named_where_they_are_made() -> Result<()> {
    let g = Graph::new();
    let says = |error: millstream::Error, part: &str| {
        let text = error.to_string();
        assert!(text.contains(part) && text.contains("inputs.rs"), "no `{part}`, or no line, in\n{text}")
    };
    let no_files: [&str; 0] = [];
    let x = g.placeholder_of("x", DType::F32, shape![_, _]);
    says(train::limit_epochs(&g, x, 0).unwrap_err(), "num_epochs must be > 0 not 0");
    says(
        train::range_input_producer(&g, 5).num_epochs(-1).make().unwrap_err(),
        "num_epochs must be > 0 not -1",
    );
    says(train::string_input_producer(&g, no_files).make().unwrap_err(), "requires a non-null input tensor");
    says(train::string_input_producer(&g, [1, 2]).make().unwrap_err(), "input_producer_2/Const` is i32");
    says(train::string_input_producer(&g, "one").make().unwrap_err(), "is a scalar: it has no rows");
    says(train::input_producer(&g, 1).make().unwrap_err(), "is a scalar: it has no rows");
    says(train::input_producer(&g, x).make().unwrap_err(), "a row has shape [?]");
    let other = train::input_producer(&g, [[1, 2]]).element_shape(shape![3]);
    says(other.make().unwrap_err(), "have shape [2], not [3]");
    says(train::range_input_producer(&g, 1.5f32).make().unwrap_err(), "the literal f32 1.5 is not a i32");
    says(train::range_input_producer(&g, [1, 2]).make().unwrap_err(), "`limit` must be a scalar");
    let nothing: Vec<Output<'_>> = Vec::new();
    says(train::slice_input_producer(&g, nothing).make().unwrap_err(), "Expected at least one tensor");
    let sparse = SparseTensor { indices: x, values: x, dense_shape: x };
    says(train::slice_input_producer(&g, sparse).make().unwrap_err(), "takes tensors, not SparseTensor");
    Ok(())
}

/// As many rows as a first tensor has may be more than another's.
#[test]
fn what_runs_out_of_rows_is_an_error_of_the_run() -> Result<()> {
    let g = Graph::new();
    let tensors = (g.constant([1, 2, 3]), g.constant([1, 2]));
    let slices = train::slice_input_producer(&g, tensors).shuffle(false).make()?;
    let files = g.placeholder_of("files", DType::Str, shape![_]);
    let files = train::string_input_producer(&g, files).make()?;
    let [file] = files.dequeue()?.all()?;
    let _ = file;
    let session = Session::new(&g)?;
    let fill = g.operation(&g.queue_runners()[1].enqueue_ops[0])?;
    let none = Tensor::strings([0], Vec::new())?;
    let error = session.run::<()>(fill, feed![g.output("files")? => none]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains("non-null"), "{error}");
    let g2 = session.graph();
    let runner = g2.queue_runners().remove(0);
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    runner.start(&session, &coordinator)?;
    let run = || session.run::<(i32, i32)>(slices, feed![]);
    assert_eq!([run()?, run()?], [(1, 1), (2, 2)]);
    assert_eq!(run().unwrap_err().code(), Code::InvalidArgument);
    coordinator.request_stop();
    coordinator.join()
}
