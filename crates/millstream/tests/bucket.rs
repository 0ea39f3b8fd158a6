//! `bucket` and `bucket_by_sequence_length`: TensorFlow 1.15's nodes, batches and ends
//! (`tests/golden/bucket.txt`), further options, and errors.

use millstream::contrib::training::{BatchSize, Bucketed, bucket, bucket_by_sequence_length};
use millstream::prelude::*;
use millstream::{Code, Coordinator, Queue, Queues, RunQueues, SparseTensor, nest};
use std::collections::{BTreeMap, BTreeSet};

/// One case of the golden file: its lines, by their first words.
fn golden(case: &str) -> BTreeMap<String, Vec<String>> {
    let path = format!("{}/../../tests/golden/bucket.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the golden file is there");
    let lines = text.lines().skip_while(|line| *line != format!("case {case}")).skip(1);
    let mut words: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.take_while(|line| !line.starts_with("case ")) {
        let (word, rest) = line.split_once(' ').expect("a word, and what it says");
        words.entry(word.into()).or_default().push(rest.into());
    }
    assert!(!words.is_empty(), "there is no case `{case}`");
    words
}

const N: i32 = 30;

/// The numbers from 0, once: the next one, and the operations to run first.
fn numbers(g: &Graph) -> Result<(Output<'_>, [Op<'_>; 2])> {
    let q = Queue::fifo(g.named("numbers"), N.into(), [DType::I32]).shapes([shape![]]).build()?;
    let all: Vec<i32> = (0..N).collect();
    let (fill, end) = (q.named("fill").enqueue_many([g.constant(all)])?, q.named("end").close());
    let [x] = q.named("number").dequeue()?.all()?;
    Ok((x, [fill, end]))
}

/// The number repeated as often as it says.
fn sequence(x: Output<'_>) -> Output<'_> {
    let g = x.graph();
    g.fill(g.stack([x * 7 % 5 + 1], 0), x).set_shape(shape![_])
}

/// The values of [`sequence`] at every second index.
fn sparse(x: Output<'_>) -> SparseTensor<'_> {
    let g = x.graph();
    let values = sequence(x);
    let size = g.op("Size").input(values).attr("out_type", DType::I64).output();
    let at = g.op("Range").input(0i64).input(size).input(1i64).output() * 2i64;
    SparseTensor { indices: g.stack([at], 1), values, dense_shape: g.stack([size * 2i64], 0) }
}

fn strings(x: Output<'_>) -> Output<'_> {
    x.graph().op("AsString").input(x).output()
}

/// Returns the values of a nest.
fn flat<'g>(nest: &impl Nest<'g>) -> Vec<Output<'g>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let value = |leaf| if let nest::Leaf::Output(output) = leaf { Some(output) } else { None };
    leaves.into_iter().filter_map(value).collect()
}

/// Formats a value as in the golden file.
fn text(value: &Tensor) -> String {
    let text = value.to_string();
    text.split_once(' ').map_or(text.clone(), |(_, numbers)| numbers.to_owned())
}

/// Builds a case and compares nodes, shapes, runners, batches and the end.
fn compare<'g, N: Nest<'g>>(
    g: &'g Graph,
    case: &str,
    start: [Op<'g>; 2],
    before: usize,
    bucketed: Bucketed<'g, N>,
    by_length: bool,
) -> Result<Bucketed<'g, N>> {
    let golden = golden(case);
    // TensorFlow tests each bucket; here the queue is selected.
    let theirs: BTreeSet<&str> = golden["node"].iter().map(String::as_str).collect();
    let chooses = |name: &str| {
        let (name, _op) = name.split_once(' ').unwrap_or((name, ""));
        let scope = name.split('/').any(|part| {
            ["cond", "Equal", "Cast", "mul", "Less", "LogicalAnd", "Where", "Min"].iter().any(|p| {
                part.strip_prefix(p).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', 'E']))
            })
        });
        // TensorFlow's summaries of the buckets show the size of the queue of batches, ours that of the
        // bucket.
        let sizes =
            name.contains("_queue_Size") || name.rsplit('/').next().is_some_and(|n| n.contains("_Size"));
        scope || sizes || name.contains("Const") && by_length
    };
    let nodes: Vec<String> =
        g.operations()[before..].iter().map(|op| format!("{} {}", op.name(), op.op_type())).collect();
    let ours: BTreeSet<&str> = nodes.iter().map(String::as_str).collect();
    for node in theirs.iter().filter(|node| !chooses(node)) {
        assert!(ours.contains(node), "{case}: no node `{node}` in\n{}", nodes.join("\n"));
    }
    let more: Vec<&str> = ours.difference(&theirs).copied().filter(|node| !chooses(node)).collect();
    let known = |node: &&str| {
        ["/queues ", "/which_queue", "/enqueue ", "/Bucketize ", "filtered"].iter().any(|k| node.contains(k))
    };
    assert!(more.iter().all(known), "{case}: more nodes than TensorFlow has: {more:?}");

    let mut outputs = flat(&bucketed.outputs);
    if !by_length {
        outputs.insert(0, bucketed.bucket);
    }
    let shapes: Vec<String> = outputs.iter().map(|o| o.shape().to_string()).collect();
    assert_eq!(shapes, golden["shape"], "{case}");

    let runners: Vec<String> = g
        .queue_runners()
        .iter()
        .map(|r| {
            let codes: Vec<String> = r.closed_codes.iter().map(|c| (*c as i32).to_string()).collect();
            let parts = [&r.queue, &r.enqueue_ops.join(","), &r.close_op, &r.cancel_op, &codes.join(",")];
            parts.map(String::as_str).join(" | ")
        })
        .collect();
    assert_eq!(runners, golden["runner"], "{case}");

    let (batches, end, _) = drain(g, start, &bucketed)?;
    let mut lines = Vec::new();
    for (bucket, values) in batches {
        let values: Vec<String> = values.iter().map(text).collect();
        match by_length {
            true => lines.push(format!("- {}", values.join(" "))),
            false => lines.push(format!("{bucket} {}", values.join(" "))),
        }
    }
    if by_length {
        lines.sort();
    }
    lines.sort_by_key(|line| line.split(' ').next().map(str::to_owned));
    assert_eq!(lines, golden["batch"], "{case}");
    assert_eq!((end.code(), &golden["end"][0][..]), (Code::OutOfRange, "OutOfRangeError"), "{case}");
    Ok(bucketed)
}

type Batches = Vec<(i32, Vec<Tensor>)>;

/// Returns all batches, the end, and the session.
fn drain<'g, N: Nest<'g>>(
    g: &'g Graph,
    start: [Op<'g>; 2],
    bucketed: &Bucketed<'g, N>,
) -> Result<(Batches, Error, Session)> {
    let session = Session::new(g)?;
    for op in start {
        session.run::<()>(op, feed![])?;
    }
    let mut batches = Vec::new();
    let values = flat(&bucketed.outputs);
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    session.start_queue_runners(&coordinator)?;
    let end = loop {
        match session.run::<(i32, Vec<Tensor>)>((bucketed.bucket, values.clone()), feed![]) {
            Ok(batch) => batches.push(batch),
            Err(error) => break error,
        }
    };
    coordinator.request_stop();
    let joined = coordinator.join();
    joined.map(|()| (batches, end, session))
}

#[test]
fn as_tensorflow() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let which = x % 3;
    let before = g.len();
    let made = bucket(&g, [x], which, 4, 3).run()?;
    compare(&g, "plain", start, before, made, false)?;

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (which, tensors) = (x % 3, [x, strings(x)]);
    let before = g.len();
    let made =
        bucket(&g, tensors, which, 4, 3).allow_smaller_final_batch(true).shared_name("shared").run()?;
    compare(&g, "smaller", start, before, made, false)?;

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let words = g.fill(g.stack([x % 3, g.constant(2)], 0), strings(x));
    let tensors = BTreeMap::from([("text".to_owned(), words), ("seq".to_owned(), sequence(x))]);
    let which = x % 2;
    let before = g.len();
    let made = bucket(&g, tensors, which, [4, 3], 2)
        .dynamic_pad(true)
        .allow_smaller_final_batch(true)
        .shapes([shape![_], shape![_, 2]])
        .bucket_capacities([5, 6])
        .capacity(7)
        .num_threads(1)
        .run()?;
    let made = compare(&g, "padded", start, before, made, false)?;
    assert_eq!(made.outputs["text"].dtype()?, DType::Str);

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (which, keep) = (x % 2, g.not_equal(x % 5, g.constant(0)));
    let before = g.len();
    let made = bucket(g.named("mine"), [x], which, 4, 2).keep_input(keep).run()?;
    compare(&g, "kept", start, before, made, false)?;
    Ok(())
}

#[test]
fn sparse_tensors_as_tensorflow() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (which, tensors) = (x % 2, (x, sparse(x)));
    let before = g.len();
    let made = bucket(&g, tensors, which, [2, 3], 2).allow_smaller_final_batch(true).run()?;
    compare(&g, "sparse", start, before, made, false)?;

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let tensors = BTreeMap::from([("a".to_owned(), sparse(x)), ("b".to_owned(), sparse(x + 1))]);
    let (which, keep) = (x % 2, g.not_equal(x % 5, g.constant(0)));
    let before = g.len();
    let made = bucket(&g, tensors, which, 4, 2).keep_input(keep).dynamic_pad(true).run()?;
    compare(&g, "sparse_kept", start, before, made, false)?;

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (which, tensors) = (x % 2, [sparse(x)]);
    let before = g.len();
    let made = bucket(&g, tensors, which, 4, 2).run()?;
    compare(&g, "sparse_alone", start, before, made, false)?;

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (length, tensors) = (x * 7 % 5 + 1, (sparse(x), sequence(x)));
    let before = g.len();
    let made = bucket_by_sequence_length(&g, length, tensors, 4, [2, 4])
        .dynamic_pad(true)
        .allow_smaller_final_batch(true)
        .run()?;
    compare(&g, "sparse_lengths", start, before, made, true)?;
    Ok(())
}

/// Skipped and out-of-range elements leave the map and are counted.
#[test]
fn sparse_tensors_that_are_dropped() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (which, keep) = (x % 3, g.not_equal(x % 5, g.constant(0)));
    let made = bucket(&g, (x, sparse(x)), which, 4, 2)
        .keep_input(keep)
        .drop_out_of_range(true)
        .allow_smaller_final_batch(true);
    let (_, values) = made.run().map(|made| (made.bucket, made))?;
    let (batches, _, session) = drain(&g, start, &values)?;
    let counts = values.statistics(&session)?;
    assert_eq!(
        (counts.came(), counts.filtered, counts.out_of_range, counts.out()),
        (30, 6, 8, 16),
        "{counts}"
    );
    for (_, batch) in &batches {
        let [x, indices, values, shape] = batch.as_slice() else { panic!("four values") };
        let rows = x.as_slice::<i32>()?;
        assert_eq!(shape.as_slice::<i64>()?[0], rows.len() as i64);
        let at =
            indices.as_slice::<i64>()?.chunks(2).map(|index| rows[index[0] as usize]).collect::<Vec<_>>();
        assert_eq!(at, values.as_slice::<i32>()?);
    }
    Ok(())
}

#[test]
fn by_length_as_tensorflow() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let (length, tensors) = (x * 7 % 5 + 1, [sequence(x), x]);
    let before = g.len();
    let made = bucket_by_sequence_length(&g, length, tensors, 4, [2, 4])
        .dynamic_pad(true)
        .allow_smaller_final_batch(true)
        .run()?;
    compare(&g, "lengths", start, before, made, true)?;

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let length = x % 6;
    let before = g.len();
    let made = bucket_by_sequence_length(&g, length, [x], [2, 3, 4], [1, 5]).shapes([shape![]]).run()?;
    compare(&g, "lengths_discarding", start, before, made, true)?;
    Ok(())
}

/// Checks that an error names these parts, and that TensorFlow refuses the case, if it has a name.
#[track_caller]
fn says(golden_case: &str, error: Error, parts: &[&str]) {
    if !golden_case.is_empty() {
        assert!(golden(golden_case).contains_key("error"), "TensorFlow takes {golden_case}");
    }
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "no {parts:?} in\n{text}");
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(text.contains("bucket.rs:"), "where?\n{text}");
}

/// Cases that TensorFlow refuses are refused, with more detail.
#[test]
fn mistakes() {
    let g = Graph::new();
    let x = g.placeholder::<i32>("x", shape![]);
    let long = g.placeholder::<i32>("long", shape![_]);
    let odd = g.op("Placeholder").name("odd").attr("dtype", DType::I32).output();
    let two = || g.constant(0);
    says(
        "no_shape",
        bucket(&g, (x, long), two(), 4, 2).run().unwrap_err(),
        &["component 1", "`long:0`", "[?]", "dynamic_pad(true)"],
    );
    says(
        "no_rank",
        bucket(&g, [odd], two(), 4, 2).dynamic_pad(true).run().unwrap_err(),
        &["rank", "component 0", "`odd:0`", "set_shape"],
    );
    says(
        "sizes",
        bucket(&g, [x], two(), [4, 4, 4], 2).run().unwrap_err(),
        &["`batch_size` has 3", "2 buckets"],
    );
    says(
        "capacities",
        bucket(&g, [x], two(), 4, 2).bucket_capacities([4]).run().unwrap_err(),
        &["`bucket_capacities` has 1", "2 buckets", "`capacity`"],
    );
    let none: [Output<'_>; 0] = [];
    says("no_tensors", bucket(&g, none, two(), 4, 2).run().unwrap_err(), &["at least one tensor"]);
    says(
        "no_boundaries",
        bucket_by_sequence_length(&g, x, x, 4, []).run().unwrap_err(),
        &["must not be empty"],
    );
    says(
        "equal_boundaries",
        bucket_by_sequence_length(&g, x, x, 4, [3, 3]).run().unwrap_err(),
        &["must increase", "boundary 0 is 3", "next 3"],
    );
}

/// Options out of range, or that contradict the tensors.
#[test]
fn options_that_do_not_fit() {
    let g = Graph::new();
    let x = g.placeholder::<i32>("x", shape![]);
    let long = g.placeholder::<i32>("long", shape![_]);
    let two = || g.constant(0);
    says(
        "",
        bucket(&g, [x], two(), 0, 2).run().unwrap_err(),
        &["`batch_size` must be a positive int32, but is 0"],
    );
    says("", bucket(&g, [x], two(), [1, -1], 2).run().unwrap_err(), &["`batch_size[1]`", "-1"]);
    says("", bucket(&g, [x], two(), g.constant(0), 2).run().unwrap_err(), &["must be positive, but is 0"]);
    says("", bucket(&g, [x], two(), 4, 0).run().unwrap_err(), &["`num_buckets` is 0"]);
    says("", bucket(&g, [x], two(), 4, 2).num_threads(0).run().unwrap_err(), &["`num_threads` is 0"]);
    says(
        "",
        bucket(&g, [x], two(), 4, 2).capacity(0).run().unwrap_err(),
        &["`capacity` is 0", "give at least 1"],
    );
    says(
        "",
        bucket(&g, [x], long, 4, 2).run().unwrap_err(),
        &["`which_bucket`", "scalar i32", "`long:0`", "[?]"],
    );
    says("", bucket(&g, [x], two(), 4, 2).keep_input(x).run().unwrap_err(), &["`keep_input`", "bool", "i32"]);
    says(
        "",
        bucket(&g, [x], two(), 4, 2).shapes([shape![], shape![]]).run().unwrap_err(),
        &["2 entries", "1 components"],
    );
    says("", bucket(&g, [x], two(), 4, 2).shapes([shape![3]]).run().unwrap_err(), &["shape []", "[3]"]);
}

/// Padding that cannot be applied, and tensors of another graph.
#[test]
fn padding_that_does_not_fit() {
    let g = Graph::new();
    let x = g.placeholder::<i32>("x", shape![]);
    let long = g.placeholder::<i32>("long", shape![_]);
    let two = || g.constant(0);
    says(
        "",
        bucket(&g, [x], two(), 4, 2).padding_value("0", 1).run().unwrap_err(),
        &["padding is off", "dynamic_pad"],
    );
    let padded = || bucket(&g, (x, long), two(), 4, 2).dynamic_pad(true);
    says("", padded().padding_value("2", 1).run().unwrap_err(), &["no component `2`", r#"["0", "1"]"#]);
    says("", padded().padding_value("1", "x").run().unwrap_err(), &["component 1", "scalar i32", "not str"]);
    says("", padded().pad_to("1", [3]).run().unwrap_err(), &["1 sizes", "2 buckets"]);
    says("", padded().pad_to_boundary("1").run().unwrap_err(), &["no boundaries", "pad_to"]);
    let tokens = BatchSize::MaxTokens(10);
    says("", bucket(&g, [x], two(), tokens, 2).run().unwrap_err(), &["a dimension that varies"]);
    let at = g.placeholder::<i64>("at", shape![_, 1]);
    let sparse = SparseTensor { indices: at, values: long, dense_shape: g.constant([5i64]) };
    let sparse = bucket(&g, sparse, two(), 4, 2).dynamic_pad(true);
    says("", sparse.padding_value("0", 1).run().unwrap_err(), &["component 0", "is sparse"]);
    let there = Graph::new();
    let other = bucket(&there, [x], there.constant(0), 4, 2).run().unwrap_err();
    assert!(other.to_string().contains("another graph"), "{other}");
}

/// Every element is counted, whatever happens to it.
#[test]
fn all_are_counted() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    // 0, 10, 20 are filtered; of the rest 3, 13, 23 are out of range.
    let (which, keep) = (x % 10 - 1, g.not_equal(x % 10, g.constant(0)));
    let which = g.select(g.equal(x % 10, g.constant(3)), g.constant(-7), which % 3);
    let made = bucket(&g, (x, sequence(x)), which, 4, 3)
        .keep_input(keep)
        .drop_out_of_range(true)
        .dynamic_pad(true)
        .num_threads(3)
        .run()?;
    let (batches, _, session) = drain(&g, start, &made)?;
    let counts = made.statistics(&session)?;
    assert_eq!((counts.came(), counts.filtered, counts.out_of_range), (30, 3, 3), "{counts}");
    let came: Vec<u64> = counts.buckets.iter().map(|b| b.n_in).collect();
    assert_eq!(came, [9, 9, 6]);
    let mut out = [0; 3];
    batches.iter().for_each(|(bucket, values)| out[*bucket as usize] += values[0].elements() as u64);
    for (b, out) in counts.buckets.iter().zip(out) {
        assert_eq!((b.n_out, b.discarded, b.waiting), (out, b.n_in - out, 0), "{counts}");
        assert_eq!((b.batches, b.fill(), b.batch_size), (out / 4, 1.0, Some(4)));
    }
    assert_eq!(counts.came(), counts.out() + counts.waiting() + counts.dropped(), "{counts}");
    let cells: usize = batches.iter().flat_map(|(_, v)| v).map(Tensor::elements).sum();
    let filled: i32 =
        batches.iter().flat_map(|(_, v)| v[0].as_slice::<i32>().unwrap().iter().map(|x| x * 7 % 5 + 2)).sum();
    let waste = 1.0 - f64::from(filled) / cells as f64;
    assert!((counts.padding_waste() - waste).abs() < 1e-9 && waste > 0.1, "{waste} {counts}");
    Ok(())
}

/// No element is dropped silently: one that is out of range is an error with a help.
#[test]
fn what_is_in_no_bucket_is_an_error() -> Result<()> {
    for value in [3, -1] {
        let g = Graph::new();
        let (x, start) = numbers(&g)?;
        let which = g.select(g.equal(x, g.constant(20)), g.constant(value), x % 3);
        let made = bucket(&g, x, which, 4, 3).run()?;
        let error = drain(&g, start, &made).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        let text = error.to_string();
        for part in [
            &format!("is {value}, which is not in 0..3"),
            "bucket/which_queue",
            "0 to 2",
            "drop_out_of_range(true)",
            "bucket.rs:",
        ] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    }
    Ok(())
}

#[test]
fn batches_by_tokens() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let tensors = (sequence(x), x);
    let made = bucket_by_sequence_length(&g, x * 7 % 5 + 1, tensors, BatchSize::MaxTokens(9), [3])
        .dynamic_pad(true)
        .allow_smaller_final_batch(true)
        .run()?;
    assert_eq!(made.outputs.0.shape(), shape![_]);
    let (batches, _, session) = drain(&g, start, &made)?;
    let mut seen = Vec::new();
    for (bucket, values) in &batches {
        let (lengths, batch) = (values[0].as_slice::<i32>()?, &values[1]);
        let longest = *lengths.iter().max().expect("no batch is empty") as usize;
        assert_eq!(batch.shape().dims(), [lengths.len(), longest]);
        assert!(longest * lengths.len() <= 9);
        assert!(lengths.iter().all(|&l| (l >= 3) == (*bucket == 1)));
        seen.extend_from_slice(values[2].as_slice::<i32>()?);
    }
    // Lengths 3, 5 and 4: one to three per batch; lengths 1 and 2: four, then the rest.
    assert!(batches.iter().any(|(_, values)| values[0].elements() >= 4));
    seen.sort_unstable();
    assert_eq!(seen, (0..N).collect::<Vec<_>>());
    assert_eq!(made.statistics(&session)?.out(), 30);

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let made = bucket(&g, sequence(x), g.constant(0), BatchSize::MaxTokens(4), 1).dynamic_pad(true).run()?;
    let error = drain(&g, start, &made).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("has 5 tokens, more than the 4") && error.contains("raise the limit"), "{error}");
    Ok(())
}

#[test]
fn padding_as_it_is_asked_for() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let words = g.fill(g.stack([x % 3], 0), strings(x)).set_shape(shape![_]);
    let tensors = BTreeMap::from([("text".to_owned(), words), ("seq".to_owned(), sequence(x))]);
    let made = bucket_by_sequence_length(&g, x * 7 % 5 + 1, tensors, 4, [4, 8])
        .dynamic_pad(true)
        .padding_value("text", "-")
        .padding_value("seq", -1)
        .pad_to_boundary("seq")
        .run()?;
    let (batches, _, _) = drain(&g, start, &made)?;
    assert!(!batches.is_empty());
    for (bucket, values) in &batches {
        let [lengths, seq, text] = values.as_slice() else { panic!("three components") };
        assert_eq!(seq.shape().dims(), [4, if *bucket == 0 { 3 } else { 7 }]);
        let width = seq.shape().dims()[1];
        for (row, &length) in seq.as_slice::<i32>()?.chunks(width).zip(lengths.as_slice::<i32>()?) {
            let (values, padding) = row.split_at(length as usize);
            assert!(values.iter().all(|&v| v >= 0) && padding.iter().all(|&v| v == -1), "{row:?}");
        }
        let text = text.to_string();
        assert!(!text.contains(r#""""#), "{text}");
    }

    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let made = bucket(&g, sequence(x), x % 2, 5, 2).dynamic_pad(true).pad_to("0", [6, 3]).run()?;
    let (batches, _, _) = drain(&g, start, &made)?;
    for (bucket, values) in &batches {
        assert_eq!(
            values[0].shape().dims(),
            [5, if *bucket == 0 { 6 } else { 5 }],
            "an element may be larger"
        );
    }
    Ok(())
}

#[test]
fn structures_sizes_and_sharing() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    // A single tensor stays a single tensor; the batch size may be known only at run time.
    let size = g.placeholder_with_default(g.constant(6), shape![]);
    let made = bucket(&g, x, x % 2, size, 2).shared_name("ours").run()?;
    let one: Output<'_> = made.outputs;
    assert_eq!((one.shape(), made.bucket.shape()), (shape![_], shape![]));
    let resources = millstream::ResourceManager::new();
    let session = |graph: &Graph| {
        let resources = Some(resources.clone());
        Session::with_options(graph, millstream::SessionOptions { resources, ..Default::default() })
    };
    let [first, second] = [session(&g)?, session(&g)?];
    for op in start {
        first.run::<()>(op, feed![])?;
    }
    // The first session enqueues, the second dequeues.
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    first.start_queue_runners(&coordinator)?;
    let mut out = 0;
    let end = loop {
        match second.run::<Vec<i32>>(one, feed![]) {
            Ok(batch) => out += batch.len(),
            Err(error) => break error,
        }
    };
    coordinator.request_stop();
    coordinator.join()?;
    assert_eq!((out, end.code()), (24, Code::OutOfRange));
    assert!(end.to_string().contains("'ours'"), "{end}");
    let counts = made.statistics(&second)?;
    assert_eq!((counts.came(), counts.out(), counts.dropped()), (30, 24, 6));
    // A bucketing with the same name but other sizes is refused.
    let there = Graph::new();
    let y = there.constant(1);
    let other = bucket(&there, y, there.constant(0), 3, 2).capacity(9).shared_name("ours").run()?;
    let error = session(&there)?.run::<i32>(other.outputs, feed![]).unwrap_err().to_string();
    assert!(error.contains("has capacity 32 but requested capacity was 9"), "{error}");
    Ok(())
}

/// Runners and attributes survive a `MetaGraphDef`.
#[test]
fn saved_and_read_again() -> Result<()> {
    let g = Graph::new();
    let (x, start) = numbers(&g)?;
    let made = bucket(&g, sequence(x), x % 2, 5, 2).dynamic_pad(true).padding_value("0", 9).run()?;
    let meta = millstream::interop::export_meta_graph(&g)?;
    let again = Graph::new();
    millstream::interop::import_meta_graph(&again, &meta, &Default::default())?;
    let session = Session::new(&again)?;
    for op in start {
        session.run::<()>(again.operation(&op.name())?, feed![])?;
    }
    let batch = again.output(&made.outputs.name())?;
    let batch: Option<Tensor> = session.with_queue_runners(|_| session.run(batch, feed![]))?;
    let batch = batch.expect("there is one").to_string();
    assert!(batch.contains(" 9]"), "{batch}");
    Ok(())
}
