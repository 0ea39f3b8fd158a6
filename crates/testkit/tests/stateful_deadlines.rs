//! Long kernels that change something look at their deadline, too: tables, barriers, queues, readers,
//! TensorArrays, accumulators, random numbers, checkpoints. And what they took or read is not lost.
//!
//! `DEADLINE_SCENES=name,name` runs only these and prints how long each run took to end.

use millstream_graph::{Graph, Op, Output};
use millstream_runtime::{FeedList, RunOptions, Session, SessionOptions};
use millstream_tensor::DType::{F32, I64, Str as S};
use millstream_tensor::{Code, DType, PartialShape, Str, Tensor};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// As in `deadlines`: thrice what a run takes to end, and the best of a few attempts counts.
const SOON: Duration = Duration::from_millis(1500);
const ATTEMPTS: usize = 5;

/// A graph that is being built, with what is fed.
struct Scene<'g> {
    g: &'g Graph,
    feeds: Vec<(Output<'g>, Tensor)>,
    /// Runs without a deadline, before the run that is measured.
    first: Vec<Op<'g>>,
    folder: PathBuf,
}

impl<'g> Scene<'g> {
    fn fed(&mut self, value: Tensor) -> Output<'g> {
        let name = format!("x{}", self.feeds.len());
        let x = self.g.placeholder_of(&name, value.dtype(), PartialShape::unknown());
        self.feeds.push((x, value));
        x
    }

    /// The numbers from 0, `n` of them.
    fn range(&mut self, n: usize) -> Output<'g> {
        self.fed(range(n))
    }

    fn int(&mut self, value: i32) -> Output<'g> {
        self.fed(Tensor::scalar(value))
    }

    fn long(&mut self, value: i64) -> Output<'g> {
        self.fed(Tensor::scalar(value))
    }

    fn table(&self) -> Output<'g> {
        self.g.op("MutableHashTableV2").attr("key_dtype", I64).attr("value_dtype", I64).output()
    }

    fn dense(&mut self) -> Output<'g> {
        let (empty, deleted) = (self.long(-1), self.long(-2));
        let table = self.g.op("MutableDenseHashTableV2").input(empty).input(deleted);
        table.attr("value_dtype", I64).output()
    }

    fn queue(&self, op: &'static str, dtypes: Vec<DType>) -> Output<'g> {
        let shapes = vec![PartialShape::scalar(); dtypes.len() - usize::from(op == "PriorityQueueV2")];
        let dtypes = dtypes[dtypes.len() - shapes.len()..].to_vec();
        self.g.op(op).attr("component_types", dtypes).attr("shapes", shapes).output()
    }

    fn barrier(&self) -> Output<'g> {
        let barrier = self.g.op("Barrier").attr("component_types", vec![I64]);
        barrier.attr("shapes", vec![PartialShape::scalar()]).output()
    }

    fn array(&mut self, n: i32, elements: PartialShape) -> Op<'g> {
        let n = self.int(n);
        let array = self.g.op("TensorArrayV3").input(n).attr("dtype", F32);
        array.attr("element_shape", elements).finish()
    }

    fn file(&self, name: &str, bytes: Vec<u8>) -> Tensor {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes).expect("writes");
        Tensor::str(Str::new(path.to_str().expect("is UTF-8")).expect("fits"))
    }
}

fn range(n: usize) -> Tensor {
    Tensor::from_iter([n], 0..n as i64).unwrap()
}

fn zeros(dtype: DType, shape: &[usize]) -> Tensor {
    Tensor::zeros(dtype, shape).unwrap()
}

fn names(n: usize) -> Tensor {
    Tensor::strings([n], (0..n).map(|i| Str::new(i.to_string()).unwrap()).collect()).unwrap()
}

/// More than a run can do in the time that is allowed.
const MANY: usize = 1 << 20;

type Build = for<'g> fn(&mut Scene<'g>) -> Op<'g>;

/// Scenes by name, and the operation that is measured.
const SCENES: &[(&str, Build)] = &[
    ("table_insert", |s| {
        let (table, keys) = (s.table(), s.range(MANY));
        s.g.op("LookupTableInsertV2").input(table).input(keys).input(keys).finish()
    }),
    ("table_import", |s| {
        let (table, keys) = (s.table(), s.range(MANY));
        s.g.op("LookupTableImportV2").input(table).input(keys).input(keys).finish()
    }),
    ("table_fill", |s| {
        let table = s.g.op("HashTableV2").attr("key_dtype", I64).attr("value_dtype", I64).output();
        let keys = s.range(MANY);
        s.g.op("InitializeTableV2").input(table).input(keys).input(keys).finish()
    }),
    ("dense_table_insert", |s| {
        let (table, keys) = (s.dense(), s.range(MANY));
        s.g.op("LookupTableInsertV2").input(table).input(keys).input(keys).finish()
    }),
    ("table_find", |s| {
        let (table, keys, nothing) = (s.table(), s.range(2 * MANY), s.long(-1));
        s.g.op("LookupTableFindV2").input(table).input(keys).input(nothing).finish()
    }),
    ("table_remove", |s| {
        let (table, keys) = (s.table(), s.range(4 * MANY));
        s.g.op("LookupTableRemoveV2").input(table).input(keys).finish()
    }),
    ("table_export", |s| {
        let (table, keys) = (s.table(), s.range(MANY));
        s.first.push(s.g.op("LookupTableInsertV2").input(table).input(keys).input(keys).finish());
        let exports = s.g.op("LookupTableExportV2").input(table);
        exports.attr("Tkeys", I64).attr("Tvalues", I64).finish()
    }),
    ("barrier_insert", |s| {
        let barrier = s.barrier();
        let (keys, values) = (s.fed(names(MANY / 2)), s.range(MANY / 2));
        let inserts = s.g.op("BarrierInsertMany").input(barrier).input(keys).input(values);
        inserts.attr("component_index", 0).finish()
    }),
    ("enqueue_many", |s| {
        let (queue, values) = (s.queue("FIFOQueueV2", vec![I64]), s.range(2 * MANY));
        s.g.op("QueueEnqueueManyV2").input(queue).input(values).finish()
    }),
    ("dequeue_many", |s| {
        let (queue, values, n) = (s.queue("FIFOQueueV2", vec![I64]), s.range(MANY), s.int(MANY as i32));
        s.first.push(s.g.op("QueueEnqueueManyV2").input(queue).input(values).finish());
        s.g.op("QueueDequeueManyV2").input(queue).input(n).attr("component_types", vec![I64]).finish()
    }),
    ("dequeue_many_shuffled", |s| {
        let queue = s.queue("RandomShuffleQueueV2", vec![I64]);
        let (values, n) = (s.range(MANY), s.int(MANY as i32));
        s.first.push(s.g.op("QueueEnqueueManyV2").input(queue).input(values).finish());
        s.g.op("QueueDequeueManyV2").input(queue).input(n).attr("component_types", vec![I64]).finish()
    }),
    ("dequeue_many_by_priority", |s| {
        let queue = s.queue("PriorityQueueV2", vec![I64, I64]);
        let (values, n) = (s.range(MANY), s.int(MANY as i32));
        s.first.push(s.g.op("QueueEnqueueManyV2").input(queue).input(values).input(values).finish());
        s.g.op("QueueDequeueManyV2").input(queue).input(n).attr("component_types", vec![I64, I64]).finish()
    }),
    ("read_up_to", |s| {
        let file = s.file("lines", b"some words\n".repeat(MANY));
        let (reader, queue) = (s.g.op("TextLineReaderV2").output(), s.queue("FIFOQueueV2", vec![S]));
        let (name, n) = (s.fed(file), s.long(MANY as i64));
        s.first.push(s.g.op("QueueEnqueueV2").input(queue).input(name).finish());
        s.g.op("ReaderReadUpToV2").input(reader).input(queue).input(n).finish()
    }),
    ("whole_file", |s| {
        let path = s.folder.join("zeros");
        std::fs::File::create(&path).and_then(|file| file.set_len(4 << 30)).expect("creates");
        let name = s.fed(Tensor::str(Str::new(path.to_str().expect("is UTF-8")).expect("fits")));
        s.g.op("ReadFile").input(name).finish()
    }),
    ("array_scatter", |s| {
        let array = s.array(MANY as i32, PartialShape::new([Some(2)]));
        let indices = s.fed(Tensor::from_iter([MANY], 0..MANY as i32).unwrap());
        let value = s.fed(zeros(F32, &[MANY, 2]));
        let writes = s.g.op("TensorArrayScatterV3").input(array.output(0)).input(indices);
        writes.input(value).input(array.output(1)).finish()
    }),
    ("array_gather", |s| {
        let array = s.array(MANY as i32, PartialShape::new([Some(2)]));
        let indices = s.fed(Tensor::from_iter([MANY], 0..MANY as i32).unwrap());
        let reads = s.g.op("TensorArrayGatherV3").input(array.output(0)).input(indices);
        reads.input(array.output(1)).attr("dtype", F32).finish()
    }),
    ("array_split", |s| {
        let array = s.array(MANY as i32, PartialShape::new([Some(1), Some(2)]));
        let value = s.fed(zeros(F32, &[MANY, 2]));
        let lengths = s.fed(Tensor::fill([MANY], &Tensor::scalar(1i64)).unwrap());
        let writes = s.g.op("TensorArraySplitV3").input(array.output(0)).input(value);
        writes.input(lengths).input(array.output(1)).finish()
    }),
    ("sparse_accumulator", |s| {
        let sum = s.g.op("SparseConditionalAccumulator").attr("dtype", F32);
        let sum = sum.attr("shape", PartialShape::new([None, Some(1)])).output();
        let (step, at, values) = (s.long(0), s.range(2 * MANY), s.fed(zeros(F32, &[2 * MANY, 1])));
        let whole = s.fed(Tensor::vector(&[2 * MANY as i64, 1]).unwrap());
        let apply = || {
            let applies = s.g.op("SparseAccumulatorApplyGradient").input(sum).input(step).input(at);
            applies.input(values).input(whole).attr("has_known_shape", true).finish()
        };
        let first = apply();
        let second = apply();
        s.first.push(first);
        second
    }),
    ("sparse_map", |s| {
        let places = (0..MANY as i64 / 2).map(|i| if i % 2 == 0 { i / 2 } else { 0 });
        let indices = Tensor::from_iter([MANY / 4, 2], places);
        let (indices, values) = (s.fed(indices.unwrap()), s.range(MANY / 4));
        let shape = s.fed(Tensor::vector(&[MANY as i64 / 4, 1]).unwrap());
        s.g.op("AddManySparseToTensorsMap").input(indices).input(values).input(shape).finish()
    }),
    ("classes_of_one_row", |s| {
        let (logits, n) = (s.fed(zeros(F32, &[1, 4 * MANY])), s.int(1));
        s.g.op("Multinomial").input(logits).input(n).finish()
    }),
    ("classes_of_many_rows", |s| {
        let (logits, n) = (s.fed(zeros(F32, &[2 * MANY, 2])), s.int(1));
        s.g.op("Multinomial").input(logits).input(n).finish()
    }),
    ("uniform", |s| {
        let shape = s.fed(Tensor::vector(&[32 * MANY as i32]).unwrap());
        s.g.op("RandomUniform").input(shape).attr("dtype", F32).finish()
    }),
    ("counts", |s| {
        let (shape, rates) = (s.fed(Tensor::vector::<i32>(&[]).unwrap()), s.fed(zeros(F32, &[4 * MANY])));
        s.g.op("RandomPoissonV2").input(shape).input(rates).finish()
    }),
    ("shuffle_of_rows", |s| {
        let rows = s.fed(zeros(F32, &[4 * MANY, 2]));
        s.g.op("RandomShuffle").input(rows).finish()
    }),
    ("candidates", |s| {
        let truths = s.fed(zeros(I64, &[1, 1]));
        let draws = s.g.op("UniformCandidateSampler").input(truths).attr("num_true", 1);
        draws.attr("num_sampled", MANY).attr("unique", true).attr("range_max", MANY + 1).finish()
    }),
    ("save", |s| {
        let path = s.folder.join("checkpoint").display().to_string();
        let path = s.fed(Tensor::str(Str::new(path).unwrap()));
        let (name, slices) = (s.fed(names(1)), s.fed(Tensor::strings([1], vec![Str::default()]).unwrap()));
        let value = s.fed(zeros(F32, &[1 << 29]));
        s.g.op("SaveV2").input(path).input(name).input(slices).input(value).finish()
    }),
    ("a_large_batch", |s| {
        let [start, stop, step] = [0, MANY as i64, 1].map(|v| s.long(v));
        let scalar = || vec![PartialShape::scalar()];
        let many = || vec![PartialShape::unknown_of_rank(1)];
        let numbers = s.g.op("RangeDataset").input(start).input(stop).input(step);
        let numbers = numbers.attr("output_types", vec![I64]).attr("output_shapes", scalar()).output();
        let (size, drop) = (s.long(MANY as i64), s.fed(Tensor::scalar(false)));
        let batches = s.g.op("BatchDatasetV2").input(numbers).input(size).input(drop);
        let batches = batches.attr("output_types", vec![I64]).attr("output_shapes", many()).output();
        let single = s.g.op("DatasetToSingleElement").input(batches);
        single.attr("output_types", vec![I64]).attr("output_shapes", many()).finish()
    }),
];

#[test]
fn long_kernels_with_effects_end_with_their_run() {
    let chosen = std::env::var("DEADLINE_SCENES").ok();
    let is_chosen = |name: &str| chosen.as_ref().is_none_or(|list| list.split(',').any(|n| n == name));
    let folder = std::env::temp_dir().join(format!("millstream-deadlines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("creates");
    let mut failed = Vec::new();
    for (name, build) in SCENES.iter().filter(|(name, _)| is_chosen(name)) {
        let result = ends_in_time(*build, folder.clone());
        if let (Some(_), Ok(took)) = (&chosen, &result) {
            say(&format!("{name} {took:?}"));
        }
        failed.extend(result.err().map(|e| format!("{name}: {e}")));
    }
    std::fs::remove_dir_all(&folder).expect("removes");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The time that a run of 100 ms took to end.
fn ends_in_time(build: Build, folder: PathBuf) -> Result<Duration, String> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let mut scene = Scene { g: &graph, feeds: Vec::new(), first: Vec::new(), folder };
    let timed = build(&mut scene);
    graph.check().map_err(|e| e.to_string())?;
    let feeds = || scene.feeds.iter().fold(FeedList::new(), |all, (x, value)| all.and(*x, value.clone()));
    let (mut best, mut allowed) = (Duration::MAX, Duration::from_millis(100));
    for _ in 0..ATTEMPTS {
        let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
        let session = Session::with_options(&graph, options).map_err(|e| e.to_string())?;
        for &op in &scene.first {
            session.run::<()>(op, feeds()).map_err(|e| e.to_string())?;
        }
        let options = RunOptions { timeout: Some(allowed), ..RunOptions::default() };
        let start = Instant::now();
        let result = session.run_with::<()>(timed, feeds(), &options);
        let took = start.elapsed();
        match result {
            // The machine is fast.
            Ok(_) => allowed /= 4,
            Err(e) if e.code() == Code::DeadlineExceeded => best = best.min(took),
            Err(e) => return Err(e.to_string()),
        }
        if best < SOON {
            return Ok(best);
        }
    }
    match best {
        Duration::MAX => Err(format!("it was done within {allowed:?}")),
        best => Err(format!("it ended after {best:?}")),
    }
}

#[expect(clippy::print_stderr, reason = "asked for by name")]
fn say(text: &str) {
    eprintln!("{text}");
}
