//! Producers and batches against TensorFlow 1.15's nodes and values (`tests/golden/make_inputs.py`).

use crate::common::{golden, plain};
use millstream::interop::proto::{MetaGraphDef, decode};
use millstream::prelude::*;
use millstream::summary::SUMMARIES;
use millstream::{
    Attr, Code, CollectionItem, Coordinator, IndexedSlices, QUEUE_RUNNERS, Queue, Queues, RunQueues,
    SparseTensor, interop, train,
};
use serde_json::Value;
use std::collections::BTreeMap;

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a text")).collect()
}

/// The attributes in the golden file.
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

/// Returns a node as in the golden file.
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

/// A fetch of a case: dense or sparse.
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

/// Returns a tensor as nested lists.
fn run(g: &Graph, fetched: &[Fetched<'_>]) -> Result<(Vec<Value>, Option<Code>)> {
    let init = g.local_variables_initializer();
    let session = Session::new(g)?;
    session.run::<()>(init, feed![])?;
    let all: Vec<Output<'_>> = fetched.iter().flat_map(Fetched::outputs).collect();
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    session.start_queue_runners(&coordinator)?;
    let (mut batches, mut end) = (Vec::new(), None);
    while batches.len() < 8 && end.is_none() {
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

/// The values up to the end are those of the golden file.
fn same_batches(g: &Graph, fetched: &[Fetched<'_>], case: &str, want: &Value) -> Result<()> {
    let (batches, end) = run(g, fetched)?;
    if case.contains("join") || case.contains("shuffle_") {
        let wanted = want["batches"].as_array().expect("batches").iter().map(sorted);
        assert_eq!(batches.iter().map(sorted).collect::<Vec<_>>(), wanted.collect::<Vec<_>>(), "{case}");
    } else {
        assert_eq!(Value::from(batches), want["batches"], "{case}");
    }
    assert_eq!(end.map(|code| code as i64), want["end"].as_i64(), "{case}");
    Ok(())
}

fn component<'g>(queue: Queue<'g>) -> Result<Vec<Fetched<'g>>> {
    Ok(queue.dequeue()?.to_vec().into_iter().map(Fetched::Dense).collect())
}

fn producers<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    let x = |dtype: DType, shape: PartialShape| g.placeholder_of("x", dtype, shape);
    Ok(Some(match case {
        "input_rows" => {
            let rows = g.constant([[1, 2], [3, 4], [5, 6]]);
            component(train::input_producer(g, rows).num_epochs(2).shuffle(false).build()?)?
        }
        "input_named" => {
            let rows = train::input_producer(g.named("rows"), [1f32, 2.0]).shuffle(false);
            component(rows.capacity(3).shared_name("shared").num_epochs(1).build()?)?
        }
        "input_shuffled" => {
            g.set_seed(4);
            let rows = train::input_producer(g, [1, 2, 3, 4, 5, 6, 7]);
            component(rows.num_epochs(2).seed(3).build()?)?
        }
        "input_of_unknown_rows" => {
            let rows = train::input_producer(g, x(DType::F32, shape![_, _]));
            component(rows.element_shape(shape![3]).shuffle(false).build()?)?
        }
        "input_cancelled_by" => {
            let stop = g.op("NoOp").name("stop").finish();
            component(train::input_producer(g, [1, 2]).shuffle(false).cancel_op(stop).build()?)?
        }
        "strings" => {
            let strings = train::string_input_producer(g, ["a", "b", "c"]);
            component(strings.num_epochs(2).shuffle(false).build()?)?
        }
        "strings_shuffled" => {
            let files = vec!["a".to_owned(), "b".into(), "c".into()];
            let strings = train::string_input_producer(g.named("files"), files);
            component(strings.seed(7).num_epochs(3).build()?)?
        }
        "strings_of_unknown_number" => {
            let files = g.placeholder_of("files", DType::Str, shape![_]);
            component(train::string_input_producer(g, files).shuffle(false).capacity(7).build()?)?
        }
        "numbers" => component(train::range_input_producer(g, 5).num_epochs(2).shuffle(false).build()?)?,
        "numbers_shuffled" => {
            g.set_seed(9);
            let ids = train::range_input_producer(g.named("ids"), 6);
            component(ids.num_epochs(2).seed(5).capacity(4).build()?)?
        }
        "numbers_without_end" => component(train::range_input_producer(g, 3).shuffle(false).build()?)?,
        "two_producers" => {
            let of =
                |n: i32| component(train::range_input_producer(g, n).num_epochs(1).shuffle(false).build()?);
            let (mut a, b) = (of(2)?, of(3)?);
            a.extend(b);
            a
        }
        "slices" => {
            let tensors = (g.constant([[1, 2], [3, 4]]), g.constant([0.5f32, 1.5]));
            let (a, b) = train::slice_input_producer(g, tensors).num_epochs(2).shuffle(false).run()?;
            vec![a.into(), b.into()]
        }
        "slices_of_unknown_number" => {
            let slices = train::slice_input_producer(g.named("rows"), [x(DType::I32, shape![_, 2])]);
            slices.shuffle(false).capacity(5).run()?.map(Fetched::from).into()
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

fn number<'g>(g: &'g Graph, limit: i32) -> Result<Output<'g>> {
    Ok(train::range_input_producer(g, limit).num_epochs(1).shuffle(false).build()?.dequeue()?[0])
}

/// A vector of `n` times `n`.
fn ragged(n: Output<'_>) -> Output<'_> {
    let g = n.graph();
    g.fill(g.stack([n], 0), n)
}

/// The same as a sparse tensor.
fn sparse(n: Output<'_>) -> SparseTensor<'_> {
    let g = n.graph();
    let indices = g.reshape(g.range(0, n, 1), [-1, 1]).cast::<i64>();
    SparseTensor { indices, values: ragged(n), dense_shape: g.stack([n], 0).cast::<i64>() }
}

fn sparse_rows(g: &Graph) -> SparseTensor<'_> {
    g.name_scope("SparseTensor", || SparseTensor {
        indices: g.constant_tensor(
            "indices",
            Tensor::from_slice([3, 2], &[0i64, 1, 2, 0, 2, 3]).expect("a matrix"),
        ),
        values: g.constant_tensor(
            "values",
            Tensor::strings([3], ["a", "b", "c"].map(Into::into).into()).expect("strings"),
        ),
        dense_shape: g.constant_tensor("dense_shape", Tensor::vector(&[4i64, 5]).expect("a shape")),
    })
}

fn below_two_of_three(n: Output<'_>) -> Output<'_> {
    let g = n.graph();
    g.less(g.named("mod").floor_mod(n, 3), 2)
}

/// What a case of batches fetches.
fn batches<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    let families = [plain_batches, kept_batches, joined_batches, shuffled_batches, sparse_batches];
    for family in families {
        if let Some(fetched) = family(g, case)? {
            return Ok(Some(fetched));
        }
    }
    Ok(None)
}

fn plain_batches<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    Ok(Some(match case {
        "batch_one" => one(train::batch(g, [number(g, 5)?], 2).run()?[0]),
        "batch_smaller_final" => {
            one(train::batch(g, number(g, 5)?, 2).allow_smaller_final_batch(true).run()?)
        }
        "batch_dict" => {
            let n = number(g, 4)?;
            let parts = [("n", n), ("b", g.named("mul").mul(n, n)), ("a", n.cast::<f32>())];
            let parts: BTreeMap<String, _> = parts.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
            of_map(train::batch(g, parts, 2).run()?)
        }
        "batch_of_literals" => {
            let (a, b) = train::batch(g, (1i32, Tensor::vector(&[0.5f32, 1.5])?), 3).run()?;
            vec![a.into(), b.into()]
        }
        "batch_padded" => {
            let n = number(g, 5)?;
            let padded = train::batch(g, [n, ragged(n)], 3).dynamic_pad(true).allow_smaller_final_batch(true);
            padded.run()?.map(Fetched::from).into()
        }
        "batch_padded_strings" => {
            let strings = g.strings().as_string(ragged(number(g, 4)?));
            one(train::batch(g, strings, 4).dynamic_pad(true).run()?)
        }
        "batch_many" => {
            let tensors = [g.constant([[1, 2], [3, 4], [5, 6]]), g.constant([10, 20, 30])];
            train::batch(g, tensors, 2).enqueue_many(true).run()?.map(Fetched::from).into()
        }
        "batch_many_to_the_end" => {
            let numbers = train::range_input_producer(g, 5).num_epochs(1).shuffle(false).build()?;
            let [some] = numbers.dequeue_up_to(3)?.all()?;
            one(train::batch(g, some, 2).enqueue_many(true).allow_smaller_final_batch(true).run()?)
        }
        "batch_named" => {
            let named = train::batch(g.named("mine"), number(g, 4)?, 2);
            one(named.num_threads(1).capacity(7).shared_name("shared").run()?)
        }
        "batch_with_shapes" => {
            let unknown = PartialShape::unknown;
            let tensors =
                [g.placeholder_of("x", DType::F32, unknown()), g.placeholder_of("y", DType::I32, unknown())];
            let batches = train::batch(g, tensors, 2).num_threads(3).shapes([shape![2], shape![]]);
            batches.run()?.map(Fetched::from).into()
        }
        "batch_by_a_fed_size" => {
            let (tensor, size) = (g.constant([1, 2]), g.placeholder_of("size", DType::I32, shape![]));
            one(train::batch(g, tensor, size).run()?)
        }
        "batch_by_a_fed_size_up_to" => {
            let (tensor, size) = (g.constant([1, 2]), g.placeholder_of("size", DType::I32, shape![]));
            one(train::batch(g, tensor, size).allow_smaller_final_batch(true).run()?)
        }
        _ => return Ok(None),
    }))
}

fn kept_batches<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    Ok(Some(match case {
        "maybe_batch_some" => {
            let n = number(g, 9)?;
            one(train::maybe_batch(g, n, below_two_of_three(n), 2).run()?)
        }
        "maybe_batch_all" => one(train::maybe_batch(g, number(g, 4)?, true, 2).run()?),
        "maybe_batch_none" => {
            one(train::maybe_batch(g, g.placeholder_of("x", DType::I32, shape![]), false, 2).run()?)
        }
        "maybe_batch_rows" => {
            let (x, y) = (rows(g), g.constant([[1], [2], [3], [4]]));
            let odd = g.equal(g.named("mod").floor_mod(x, 2), 1);
            of_map(train::maybe_batch(g, map([("x", x), ("y", y)]), odd, 3).enqueue_many(true).run()?)
        }
        "maybe_batch_many" => {
            let n = number(g, 4)?;
            let both = g.stack([n, n + 10], 0);
            one(train::maybe_batch(g, both, g.greater(n, 1), 2).enqueue_many(true).run()?)
        }
        _ => return Ok(None),
    }))
}

fn joined_batches<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    Ok(Some(match case {
        "batch_join_two" => {
            let sources = [[number(g, 3)?, g.constant(1)], [number(g, 4)?, g.constant(2)]];
            train::batch_join(g, sources, 7).run()?.map(Fetched::from).into()
        }
        "batch_join_dicts" => {
            let source = |n: i32| -> Result<_> { Ok(BTreeMap::from([("n".to_owned(), number(g, n)?)])) };
            let joined = train::batch_join(g.named("joined"), [source(3)?, source(4)?], 10);
            of_map(joined.capacity(5).allow_smaller_final_batch(true).run()?)
        }
        "batch_join_padded" => {
            let (a, b) = (number(g, 2)?, number(g, 3)?);
            one(train::batch_join(g, [ragged(a), ragged(b)], 5).dynamic_pad(true).run()?)
        }
        "maybe_batch_join_some" => {
            let (a, b) = (number(g, 4)?, number(g, 5)?);
            one(train::maybe_batch_join(g, [a, b], g.placeholder_of("keep", DType::Bool, shape![]), 2)
                .run()?)
        }
        "maybe_batch_join_rows" => {
            let (rows, keep) = (rows(g), g.placeholder_of("keep", DType::Bool, shape![_]));
            one(train::maybe_batch_join(g, [rows, rows], keep, 2).enqueue_many(true).run()?)
        }
        _ => return Ok(None),
    }))
}

fn shuffled_batches<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    Ok(Some(match case {
        "shuffle_batch_all" => one(train::shuffle_batch(g, number(g, 9)?, 9, 20, 5).seed(3).run()?),
        "shuffle_batch_dict" => {
            g.set_seed(5);
            let n = number(g, 7)?;
            let parts = map([("n", n), ("m", g.neg(n))]);
            let mixed = train::shuffle_batch(g.named("mixed"), parts, 20, 20, 10);
            of_map(mixed.allow_smaller_final_batch(true).shared_name("shared").run()?)
        }
        "shuffle_batch_many" => {
            let rows = train::shuffle_batch(g, g.placeholder_of("x", DType::F32, shape![_, 3]), 4, 20, 3);
            one(rows.num_threads(2).enqueue_many(true).run()?)
        }
        "maybe_shuffle_batch_some" => {
            let n = number(g, 9)?;
            one(train::maybe_shuffle_batch(g, n, 6, 20, 5, below_two_of_three(n)).seed(1).run()?)
        }
        "shuffle_batch_join_two" => {
            let sources = [[number(g, 3)?, g.constant(1)], [number(g, 4)?, g.constant(2)]];
            train::shuffle_batch_join(g, sources, 7, 20, 5).run()?.map(Fetched::from).into()
        }
        "maybe_shuffle_batch_join_some" => {
            let keep = g.placeholder_of("keep", DType::Bool, shape![]);
            let sources = [number(g, 3)?, number(g, 4)?];
            one(train::maybe_shuffle_batch_join(g, sources, 7, 20, 5, keep).run()?)
        }
        _ => return Ok(None),
    }))
}

fn sparse_batches<'g>(g: &'g Graph, case: &str) -> Result<Option<Vec<Fetched<'g>>>> {
    Ok(Some(match case {
        "batch_sparse" => {
            let n = number(g, 5)?;
            let (n, s) = train::batch(g, (n, sparse(n)), 2).allow_smaller_final_batch(true).run()?;
            vec![n.into(), s.into()]
        }
        "batch_sparse_alone" => vec![train::batch(g, sparse(number(g, 4)?), 2).run()?.into()],
        "batch_sparse_many" => {
            let (n, s) = train::batch(g, (rows(g), sparse_rows(g)), 3).enqueue_many(true).run()?;
            vec![n.into(), s.into()]
        }
        "maybe_batch_sparse" => {
            let n = number(g, 7)?;
            let example = (sparse(n), n);
            let (s, n) = train::maybe_batch(g, example, below_two_of_three(n), 2).run()?;
            vec![s.into(), n.into()]
        }
        "maybe_batch_sparse_many" => {
            let keep = g.less(g.named("mod").floor_mod(number(g, 4)?, 2), 1);
            vec![train::maybe_batch(g, sparse_rows(g), keep, 3).enqueue_many(true).run()?.into()]
        }
        "maybe_batch_sparse_rows" => {
            let example = (sparse_rows(g), rows(g));
            let keep = g.constant([true, false, true, true]);
            let (s, n) = train::maybe_batch(g, example, keep, 2).enqueue_many(true).run()?;
            vec![s.into(), n.into()]
        }
        "batch_join_sparse" => {
            let (a, b) = (number(g, 3)?, number(g, 3)?);
            let (s, n) = train::batch_join(g, [(sparse(a), a), (sparse(b), b)], 2).run()?;
            vec![s.into(), n.into()]
        }
        "batch_sparse_of_unknown_rank" => {
            let dense_shape = g.placeholder_of("x/shape", DType::I64, shape![_]);
            let values = g.placeholder_of("x/values", DType::F32, shape![_]);
            let indices = g.placeholder_of("x/indices", DType::I64, shape![_, _]);
            vec![train::batch(g, SparseTensor { indices, values, dense_shape }, 2).run()?.into()]
        }
        "shuffle_batch_sparse" => {
            vec![train::shuffle_batch(g, sparse(number(g, 5)?), 2, 10, 3).seed(4).run()?.into()]
        }
        _ => return Ok(None),
    }))
}

fn one(fetched: Output<'_>) -> Vec<Fetched<'_>> {
    vec![fetched.into()]
}

fn rows(g: &Graph) -> Output<'_> {
    g.constant([1, 2, 3, 4])
}

fn map<'g>(parts: [(&str, Output<'g>); 2]) -> BTreeMap<String, Output<'g>> {
    BTreeMap::from(parts.map(|(name, part)| (name.to_owned(), part)))
}

fn of_map<'g>(map: BTreeMap<String, Output<'g>>) -> Vec<Fetched<'g>> {
    map.into_values().map(Fetched::from).collect()
}

/// Returns the rows of a batch of dense components, sorted.
fn sorted(batch: &Value) -> Vec<String> {
    let columns = batch.as_array().expect("components");
    let n = columns[0].as_array().map_or(0, Vec::len);
    let mut rows: Vec<String> =
        (0..n).map(|i| columns.iter().map(|c| c[i].to_string()).collect::<Vec<_>>().join(" ")).collect();
    rows.sort();
    rows
}

#[test]
fn as_tensorflow_makes_them() -> Result<()> {
    let golden = golden("inputs.json");
    let cases = golden.as_object().expect("cases");
    assert_eq!(cases.len(), 53);
    for (case, want) in cases {
        let g = Graph::new();
        let made = producers(&g, case)?.map_or_else(|| batches(&g, case), |made| Ok(Some(made)))?;
        let fetched = made.unwrap_or_else(|| panic!("no case `{case}` is built here"));
        g.check()?;
        let mut nodes: Vec<String> = g.operations().into_iter().map(|op| line(&g, op)).collect();
        let mut wanted: Vec<&str> = texts(&want["nodes"]);
        // In a branch TensorFlow adds a node before the Switches of its inputs, we add it after them.
        if wanted.iter().any(|node| node.contains("/pred_id ")) {
            nodes.sort();
            wanted.sort();
        }
        for (got, want) in nodes.iter().zip(&wanted) {
            assert_eq!(got, want, "{case}");
        }
        // If a case returns the queue itself, the dequeue is not TensorFlow's.
        let more = nodes.len() - wanted.len();
        assert!(
            more <= 1 && nodes[wanted.len()..].iter().all(|n| n.contains("Dequeue")),
            "{case}: {nodes:?}"
        );
        // Captures of a branch have the line of the graph.
        for op in g.operations().into_iter().filter(|op| op.op_type() != "Switch") {
            let at = g.read(|g| g.node(op.id()).map(|node| node.at))?;
            assert!(at.file().ends_with("inputs.rs"), "{case}: {} is of {at}", op.name());
        }
        let summaries: Vec<String> = g
            .collection(SUMMARIES)
            .iter()
            .map(|item| match item {
                CollectionItem::Node(name) => name.clone(),
                _ => panic!("{case}: no name of a summary"),
            })
            .collect();
        assert_eq!(summaries, texts(&want["summaries"]), "{case}");
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
            same_batches(&g, &fetched, case, want)?;
        }
    }
    Ok(())
}

/// Graphs written by TensorFlow, with runners and local variables, run as they do there.
#[test]
fn imported_they_give_what_tensorflow_took_out_of_them() -> Result<()> {
    let golden = golden("inputs.json");
    let cases = golden.as_object().expect("cases").iter().filter(|(_, want)| want.get("fetches").is_some());
    let mut n = 0;
    for (case, want) in cases {
        n += 1;
        let path = format!("{}/../../tests/golden/inputs/{case}.pb", env!("CARGO_MANIFEST_DIR"));
        let meta: MetaGraphDef =
            decode(&std::fs::read(path).expect("the golden graph")).expect("a MetaGraphDef");
        let g = Graph::new();
        interop::import_meta_graph(&g, &meta, &interop::ImportOptions::default())?;
        let mut names = texts(&want["fetches"]).into_iter().map(|name| g.output(name));
        let mut next = || names.next().expect("a name");
        let mut fetched = Vec::new();
        for shape in want["shapes"].as_array().expect("shapes") {
            fetched.push(match shape.is_string() {
                true => Fetched::Dense(next()?),
                false => {
                    Fetched::Sparse(SparseTensor { indices: next()?, values: next()?, dense_shape: next()? })
                }
            });
        }
        same_batches(&g, &fetched, case, want)?;
    }
    assert_eq!(n, 38);
    Ok(())
}

#[test]
fn mistakes_are_named_where_they_are_made() -> Result<()> {
    let g = Graph::new();
    let says = |error: Error, part: &str| {
        let text = error.to_string();
        assert!(text.contains(part) && text.contains("inputs.rs"), "no `{part}`, or no line, in\n{text}")
    };
    let no_files: [&str; 0] = [];
    let x = g.placeholder_of("x", DType::F32, shape![_, _]);
    says(train::limit_epochs(&g, x, 0).unwrap_err(), "num_epochs must be > 0 not 0");
    says(
        train::range_input_producer(&g, 5).num_epochs(-1).build().unwrap_err(),
        "num_epochs must be > 0 not -1",
    );
    says(train::string_input_producer(&g, no_files).build().unwrap_err(), "requires a non-null input tensor");
    says(train::string_input_producer(&g, [1, 2]).build().unwrap_err(), "input_producer_2/Const` is i32");
    says(train::string_input_producer(&g, "one").build().unwrap_err(), "is a scalar: it has no rows");
    says(train::input_producer(&g, 1).build().unwrap_err(), "is a scalar: it has no rows");
    says(train::input_producer(&g, x).build().unwrap_err(), "a row has shape [?]");
    let other = train::input_producer(&g, [[1, 2]]).element_shape(shape![3]);
    says(other.build().unwrap_err(), "have shape [2], not [3]");
    says(
        train::range_input_producer(&g, 1.5f32).build().unwrap_err(),
        "the literal f32 1.5 cannot be represented as i32",
    );
    says(train::range_input_producer(&g, [1, 2]).build().unwrap_err(), "`limit` must be a scalar");
    let nothing: Vec<Output<'_>> = Vec::new();
    says(train::slice_input_producer(&g, nothing).run().unwrap_err(), "Expected at least one tensor");
    let sparse = SparseTensor { indices: x, values: x, dense_shape: x };
    says(train::slice_input_producer(&g, sparse).run().unwrap_err(), "takes tensors, not SparseTensor");
    Ok(())
}

#[test]
fn mistakes_in_batches_are_named_where_they_are_made() -> Result<()> {
    let g = Graph::new();
    let says = |error: Error, part: &str| {
        let text = error.to_string();
        assert!(text.contains(part) && text.contains("inputs.rs"), "no `{part}`, or no line, in\n{text}")
    };
    let unknown = || g.placeholder_of("unknown", DType::F32, PartialShape::unknown());
    let (one, row) = (g.constant(1), g.placeholder_of("row", DType::F32, shape![_]));
    says(train::batch(&g, unknown(), 2).run().unwrap_err(), "Cannot infer Tensor's rank: `unknown`");
    says(train::batch(&g, row, 2).run().unwrap_err(), "require the components to have specified shapes");
    says(train::batch(&g, one, 2).enqueue_many(true).run().unwrap_err(), "is a scalar: with `enqueue_many`");
    says(
        train::batch(&g, [one, one], 2).shapes([shape![]]).run().unwrap_err(),
        "2 components was given 1 shapes",
    );
    says(train::batch(&g, one, 2).num_threads(0).run().unwrap_err(), "nobody would read examples");
    says(train::batch(&g, one, 2).capacity(0).run().unwrap_err(), "capacity is 0");
    says(train::batch(&g, g.op("NoOp").finish(), 2).run().unwrap_err(), "not of operation");
    let slices = IndexedSlices { values: row, indices: one, dense_shape: None };
    says(train::batch(&g, slices, 2).run().unwrap_err(), "not of IndexedSlices");
    let nothing: Vec<Output<'_>> = Vec::new();
    says(train::batch(&g, nothing, 2).run().unwrap_err(), "Expected at least one tensor");
    let no_sources: Vec<Output<'_>> = Vec::new();
    says(train::batch_join(&g, no_sources, 2).run().unwrap_err(), "Expected at least one set of tensors");
    let lists = [vec![one], vec![one, one]];
    says(train::batch_join(&g, lists, 2).run().unwrap_err(), "source 0 has [*], source 1 has [*, *]");
    says(train::batch_join(&g, [one, row], 2).run().unwrap_err(), "to be consistent: int32 vs. float32.");
    let pair = g.constant([1, 2]);
    says(
        train::batch_join(&g, [one, pair], 2).run().unwrap_err(),
        "component 0 is [] in source 0, and [2] in another",
    );
    says(
        train::shuffle_batch(&g, one, 2, 5, 5).run().unwrap_err(),
        "capacity 5 must be bigger than min_after_dequeue 5.",
    );
    says(
        train::shuffle_batch(&g, one, 2, 5, -1).run().unwrap_err(),
        "`min_after_dequeue` must not be negative",
    );
    let keep = |shape: PartialShape| g.placeholder_of("keep", DType::Bool, shape);
    says(train::maybe_batch(&g, one, keep(shape![_]), 2).run().unwrap_err(), "cannot be a vector when");
    let many = train::maybe_batch(&g, pair, keep(shape![_, _]), 2).enqueue_many(true);
    says(many.run().unwrap_err(), "must be 0 or 1 dimensions");
    let whatever = keep(PartialShape::unknown());
    says(train::maybe_batch(&g, one, whatever, 2).run().unwrap_err(), "must be known at graph construction");
    says(train::maybe_batch(&g, one, 1, 2).run().unwrap_err(), "`keep_input` is bool, not i32");
    let sparse = |rank: usize| SparseTensor {
        indices: g.placeholder_of("indices", DType::I64, shape![_, rank]),
        values: row,
        dense_shape: g.placeholder_of("shape", DType::I64, [rank]),
    };
    says(
        train::batch_join(&g, [sparse(1), sparse(2)], 2).run().unwrap_err(),
        "Inconsistent SparseTensors list",
    );
    says(
        train::batch(&g, sparse(1), 2).enqueue_many(true).run().unwrap_err(),
        "should be > 1, but saw rank: 1",
    );
    Ok(())
}

/// A queue holds the numbers of sparse tensors: each tensor leaves the map with its batch.
#[test]
fn maps_keep_no_sparse_tensor_longer_than_the_queue() -> Result<()> {
    let g = Graph::new();
    let batch = train::batch(&g, sparse(number(&g, 100)?), 10).run()?;
    let map = g.operation("batch/TakeManySparseFromTensorsMap")?;
    let again = g.op("TakeManySparseFromTensorsMap").input(vec![0i64]).attr("dtype", DType::I32);
    let again = again.attr("shared_name", "batch/AddSparseToTensorsMap").output();
    assert_eq!(map.inputs().len(), 1);
    let init = g.local_variables_initializer();
    let session = Session::new(&g)?;
    session.run::<()>(init, feed![])?;
    let mut shapes: Vec<Vec<i64>> = Vec::new();
    let ended = session.with_queue_runners(|_| -> Result<()> {
        loop {
            shapes.push(session.run(batch.dense_shape, feed![])?);
        }
    })?;
    assert_eq!((ended, shapes.len()), (None, 10));
    assert!(shapes.iter().enumerate().all(|(i, shape)| *shape == [10, 10 * i as i64 + 9]), "{shapes:?}");
    let error = session.run::<()>(again, feed![]).unwrap_err().to_string();
    assert!(error.contains("Unable to find SparseTensor: 0 in map: batch/AddSparseToTensorsMap"), "{error}");
    Ok(())
}

/// The first tensor may have more rows than another.
#[test]
fn what_runs_out_of_rows_is_an_error_of_the_run() -> Result<()> {
    let g = Graph::new();
    let tensors = (g.constant([1, 2, 3]), g.constant([1, 2]));
    let slices = train::slice_input_producer(&g, tensors).shuffle(false).run()?;
    let files = g.placeholder_of("files", DType::Str, shape![_]);
    let files = train::string_input_producer(&g, files).build()?;
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
