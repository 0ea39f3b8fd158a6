//! Limits of memory and time where a small graph asks for much: each must end in an error or a small answer,
//! in time, and resident memory must stay near the limit. The graphs are the kind that a stranger might send:
//! text GraphDefs of a few KiB.
//!
//! The tests measure the memory of the process, so they run one after another, under one lock.
//!
//! Long because all tests under that lock are here.

use millstream_graph::{Attr, Graph};
use millstream_interop::{ImportOptions, import_graph_def, read_graph};
use millstream_ops::cases::Case;
use millstream_runtime::{Session, SessionOptions, Target, Tier};
use millstream_tensor::budget::{self, Budget};
use millstream_tensor::{Code, Error, PartialShape, Result, Str, Tensor};
use millstream_testkit::examples::{Given, attempt, build};
use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// The limit of each test, in bytes.
const MEMORY: usize = 64 << 20;

/// The machine may be loaded: a deadline here only ends a test that hangs.
const SOON: Duration = Duration::from_secs(120);

/// The processor time that a test may take. Builds for tests are slow.
const WORK: Duration = Duration::from_secs(20);

static ALONE: Mutex<()> = Mutex::new(());

/// The resident memory and the times at the start of a test.
struct Watched {
    _alone: MutexGuard<'static, ()>,
    before: u64,
    start: Instant,
    work_before: Duration,
}

fn watched() -> Watched {
    let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    std::fs::write("/proc/self/clear_refs", "5").ok();
    let (start, work_before) = (Instant::now(), processor_time());
    Watched { _alone: alone, before: resident("VmRSS"), start, work_before }
}

impl Watched {
    /// The bytes by which resident memory has grown at most.
    fn grown(&self) -> usize {
        (resident("VmHWM").saturating_sub(self.before) as usize) << 10
    }

    #[track_caller]
    fn ends_within(self, limit: usize) {
        let grown = self.grown();
        assert!(grown < limit + limit / 2, "{} MiB for a limit of {}", grown >> 20, limit >> 20);
        let (took, worked) = (self.start.elapsed(), processor_time() - self.work_before);
        assert!(took < SOON && worked < WORK, "{took:?}, {worked:?} of them on processors");
    }
}

/// The time that all threads of this process have worked. Other processes do not slow it down much.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse().unwrap_or(0)).sum();
    Duration::from_millis(ticks) * 10
}

fn resident(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(line));
    line.and_then(|l| l.trim_matches([':', '\t', ' ']).split(' ').next()?.parse().ok()).unwrap_or(0)
}

fn import_within(text: &str, memory_limit: usize, deadline: Option<Instant>) -> Result<Graph> {
    let graph = Graph::with_ops(millstream_ops::registry());
    let options = ImportOptions { memory_limit, deadline, ..ImportOptions::default() };
    import_graph_def(&graph, read_graph(text.as_bytes())?.graph_def()?, &options)?;
    Ok(graph)
}

fn import(text: &str) -> Result<Graph> {
    import_within(text, MEMORY, None)
}

fn session(graph: &Graph, timeout: Duration) -> Result<Session> {
    let options = SessionOptions {
        threads: Some(2),
        memory_limit: Some(MEMORY),
        timeout: Some(timeout),
        print: Some(Box::new(|_| ())),
        ..SessionOptions::default()
    };
    Session::with_options(graph, options)
}

/// Runs an operation or fetches a value.
fn run(session: &Session, name: &str) -> Result<Option<Tensor>> {
    let output = session.graph().output(name);
    match output {
        Ok(output) => Ok(Some(session.run::<Tensor>(Target::Value(output.port()), ())?)),
        Err(_) => {
            let op = session.graph().operation(name)?;
            session.run::<()>(Target::Operation(op.id()), ()).map(|()| None)
        }
    }
}

#[track_caller]
fn refused<T>(result: Result<T>, code: Code, says: &str) -> Error {
    let Err(error) = result else { panic!("there is no error") };
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(says), "{error}");
    error
}

// GraphDefs.

fn node(name: &str, op: &str, inputs: &[&str], attrs: &[(&str, &str)]) -> String {
    let mut text = format!("node {{ name: '{name}' op: '{op}' ");
    for input in inputs {
        write!(text, "input: '{input}' ").unwrap();
    }
    for (key, value) in attrs {
        write!(text, "attr {{ key: '{key}' value {{ {value} }} }} ").unwrap();
    }
    text + "}\n"
}

fn constant(name: &str, dtype: &str, dims: &[usize], values: &str) -> String {
    let dims: String = dims.iter().map(|d| format!("dim {{ size: {d} }} ")).collect();
    let value = format!("tensor {{ dtype: {dtype} tensor_shape {{ {dims} }} {values} }}");
    node(name, "Const", &[], &[("dtype", &format!("type: {dtype}")), ("value", &value)])
}

const I32: &str = "type: DT_INT32";
const F32: &str = "type: DT_FLOAT";

/// The longest first axis that costs nothing to claim.
const ENDLESS: usize = 1 << 40;

/// Ranks 2, 3, 5, 9, ..: each Gather replaces the first axis by all axes.
fn doubled_ranks(n: usize) -> String {
    let mut text =
        constant("x0", "DT_INT32", &[1, 1], "int_val: 0") + &constant("axis", "DT_INT32", &[], "int_val: 0");
    for i in 1..=n {
        let x = format!("x{}", i - 1);
        let attrs = [("Tparams", I32), ("Tindices", I32), ("Taxis", I32), ("batch_dims", "i: 0")];
        text += &node(&format!("x{i}"), "GatherV2", &[&x, &x, "axis"], &attrs);
    }
    text
}

#[test]
fn ranks_are_bounded_where_shapes_are_inferred() {
    let watched = watched();
    assert!(import(&doubled_ranks(7)).is_ok());
    let error = refused(import(&doubled_ranks(30)), Code::InvalidArgument, "at most 254 dimensions, not 257");
    assert_eq!(error.node(), Some("x8"));
    watched.ends_within(MEMORY);
}

#[test]
fn ranks_are_bounded_where_kernels_make_shapes() -> Result<()> {
    let watched = watched();
    let unknown =
        node("x0", "Placeholder", &[], &[("dtype", I32), ("shape", "shape { unknown_rank: true }")]);
    let text = doubled_ranks(30).split_once('\n').unwrap().1.to_owned();
    let graph = import(&(unknown + &text))?;
    let session = session(&graph, SOON)?;
    let zero = Tensor::zeros(millstream_tensor::DType::I32, [1, 1])?;
    let feed = |name: &str| -> Result<Tensor> {
        let feeds = millstream_runtime::FeedList::new().and(graph.output("x0:0")?, zero.clone());
        session.run(Target::Value(graph.output(name)?.port()), feeds)
    };
    let deep = feed("x7:0")?;
    assert_eq!((deep.rank(), deep.elements()), (129, 1));
    let error = refused(feed("x30:0"), Code::InvalidArgument, "at most 254 dimensions, not 257");
    assert_eq!(error.node(), Some("x8"));
    watched.ends_within(MEMORY);
    Ok(())
}

#[test]
fn rows_without_elements_are_charged() -> Result<()> {
    let float = constant("x", "DT_FLOAT", &[ENDLESS, 0], "");
    let list = [
        &*float,
        &constant("any", "DT_INT32", &[], "int_val: -1"),
        &node("l", "TensorListFromTensor", &["x", "any"], &[("element_dtype", F32), ("shape_type", I32)]),
        &node("y", "TensorListLength", &["l"], &[]),
    ]
    .concat();
    let queue = [
        &*float,
        &node("q", "FIFOQueueV2", &[], &[("component_types", "list { type: DT_FLOAT }")]),
        &node("y", "QueueEnqueueManyV2", &["q", "x"], &[("Tcomponents", "list { type: DT_FLOAT }")]),
    ]
    .concat();
    let join = [
        &*constant("x", "DT_STRING", &[ENDLESS, 0], ""),
        &constant("axes", "DT_INT32", &[1], "int_val: 1"),
        &node("y", "ReduceJoin", &["x", "axes"], &[]),
    ]
    .concat();
    let unpack = [
        &*float,
        &constant("n", "DT_INT32", &[], "int_val: 0"),
        &constant("flow", "DT_FLOAT", &[], "float_val: 0"),
        &node("a", "TensorArray", &["n"], &[("dtype", F32), ("dynamic_size", "b: true")]),
        &node("y", "TensorArrayUnpack", &["a", "x", "flow"], &[("T", F32)]),
    ]
    .concat();
    for text in [list, queue, join, unpack] {
        let watched = watched();
        let graph = import(&text)?;
        let error = refused(run(&session(&graph, SOON)?, "y"), Code::ResourceExhausted, "has no elements");
        assert!(error.node().is_some(), "{error}");
        watched.ends_within(MEMORY);
    }
    Ok(())
}

/// Lists of indices fit the limit, but what a kernel makes of them (i64, offsets) does not.
#[test]
fn lists_of_indices_are_charged() -> Result<()> {
    let few = constant("few", "DT_FLOAT", &[2], "float_val: 1")
        + &constant("zero", "DT_INT32", &[], "int_val: 0")
        + &constant("on", "DT_FLOAT", &[], "float_val: 1");
    let fill = |dtype: &str, n: usize| {
        let index = format!("type: {dtype}");
        constant("n", "DT_INT32", &[2], &format!("int_val: {n} int_val: 1"))
            + &constant("index", dtype, &[], "int_val: 0")
            + &node("i", "Fill", &["n", "index"], &[("T", &index)])
            + &constant("flat", "DT_INT32", &[1], "int_val: -1")
            + &node("axes", "Reshape", &["i", "flat"], &[("T", &index)])
    };
    let gather = |index: &str| node("y", "GatherNd", &["few", "i"], &[("Tparams", F32), ("Tindices", index)]);
    let ops = [
        gather(I32),
        node("y", "OneHot", &["i", "zero", "on", "on"], &[("T", F32), ("TI", I32)]),
        node("y", "Sum", &["few", "axes"], &[("T", F32)]),
        node("y", "ReverseV2", &["few", "axes"], &[("T", F32)]),
        node("y", "Roll", &["few", "axes", "axes"], &[("T", F32), ("Tshift", I32), ("Taxis", I32)]),
        node("y", "BroadcastGradientArgs", &["axes", "axes"], &[]),
    ];
    let wide = ops.iter().map(|op| few.clone() + &fill("DT_INT32", 6 << 20) + op);
    let narrow = [few.clone() + &fill("DT_INT16", 20 << 20) + &gather("type: DT_INT16")];
    for text in wide.chain(narrow) {
        let watched = watched();
        let graph = import(&text)?;
        refused(run(&session(&graph, SOON)?, "y:0"), Code::ResourceExhausted, "bytes for each of");
        watched.ends_within(MEMORY);
    }
    // A list of usual length is not.
    let text = few.clone() + &fill("DT_INT32", 100_000) + &ops[0];
    assert!(run(&session(&import(&text)?, SOON)?, "y:0").is_ok());
    Ok(())
}

/// Records that share one text, with many fields each.
#[test]
fn fields_of_records_are_charged() -> Result<()> {
    let (commas, fields) = (",".repeat(99), 100);
    let types = format!("list {{ {} }}", "type: DT_STRING ".repeat(fields));
    let text = constant("n", "DT_INT32", &[1], "int_val: 1000000")
        + &constant("line", "DT_STRING", &[], &format!("string_val: '{commas}'"))
        + &node("x", "Fill", &["n", "line"], &[("T", "type: DT_STRING")])
        + &constant("empty", "DT_STRING", &[1], "string_val: ''")
        + &node("y", "DecodeCSV", &[&["x"][..], &vec!["empty"; fields]].concat(), &[("OUT_TYPE", &types)]);
    let watched = watched();
    let graph = import(&text)?;
    refused(run(&session(&graph, SOON)?, "y:0"), Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
    Ok(())
}

/// The scalars of a tensor fit the limit, but the items of a list that is made of them do not.
#[test]
fn items_of_lists_are_charged_before_they_are_made() -> Result<()> {
    let n = 6 << 20;
    let values = constant("n", "DT_INT32", &[1], &format!("int_val: {n}"))
        + &constant("zero", "DT_FLOAT", &[], "float_val: 0")
        + &constant("any", "DT_INT32", &[], "int_val: -1")
        + &node("x", "Fill", &["n", "zero"], &[("T", F32), ("index_type", I32)])
        + &node("l", "TensorListFromTensor", &["x", "any"], &[("element_dtype", F32), ("shape_type", I32)])
        + &node("y", "TensorListLength", &["l"], &[]);
    let watched = watched();
    refused(run(&session(&import(&values)?, SOON)?, "y:0"), Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
    Ok(())
}

/// The budget's word for strings of a few bytes is what they take.
#[test]
fn short_strings_are_charged_what_they_take() -> Result<()> {
    const N: usize = 200_000;
    for len in [0, 1, 7, 24, 25, 60, 1000] {
        let watched = watched();
        let budget = Budget::new(1 << 30);
        let _entered = budget::enter(Some(&budget));
        let strings: Vec<Str> = (0..N).map(|_| Str::new(vec![b'a'; len])).collect::<Result<_>>()?;
        let (used, taken) = (budget.used() + size_of_val(&*strings), watched.grown());
        let ratio = taken as f64 / used as f64;
        // What earlier cases left to the allocator may be used again.
        assert!(ratio < 1.15, "{N} strings of {len} bytes take {taken} bytes, and are charged {used}");
    }
    Ok(())
}

/// Ops that make a string of each element stay near the limit.
#[test]
fn strings_of_elements_stay_near_the_limit() -> Result<()> {
    let n = 4 << 20;
    let longs = constant("n", "DT_INT32", &[1], &format!("int_val: {n}"))
        + &constant("one", "DT_INT32", &[], "int_val: 7")
        + &node("x", "Fill", &["n", "one"], &[("T", I32)])
        + &node("s", "AsString", &["x"], &[("T", I32)]);
    let short = constant("n", "DT_INT32", &[1], &format!("int_val: {n}"))
        + &constant("a", "DT_STRING", &[], "string_val: 'abcdef'")
        + &node("x", "Fill", &["n", "a"], &[("T", "type: DT_STRING")])
        + &constant("from", "DT_INT32", &[], "int_val: 1")
        + &constant("len", "DT_INT32", &[], "int_val: 3");
    let substr = short.clone() + &node("s", "Substr", &["x", "from", "len"], &[("T", I32)]);
    let joined = short + &node("s", "StringJoin", &["x", "x"], &[("N", "i: 2")]);
    for text in [longs, substr, joined] {
        let watched = watched();
        let graph = import(&text)?;
        let error =
            refused(run(&session(&graph, SOON)?, "s:0"), Code::ResourceExhausted, "over the limit of");
        assert_eq!(error.node(), Some("s"), "{error}");
        watched.ends_within(MEMORY);
    }
    Ok(())
}

/// Items of a queue take memory besides their elements.
#[test]
fn the_items_of_a_queue_are_charged_in_full() -> Result<()> {
    let watched = watched();
    let text = [
        &*constant("shape", "DT_INT32", &[2], "int_val: 1000000 int_val: 1"),
        &constant("zero", "DT_FLOAT", &[], "float_val: 0"),
        &node("x", "Fill", &["shape", "zero"], &[("T", F32), ("index_type", I32)]),
        &node("q", "FIFOQueueV2", &[], &[("component_types", "list { type: DT_FLOAT }")]),
        &node("y", "QueueEnqueueManyV2", &["q", "x"], &[("Tcomponents", "list { type: DT_FLOAT }")]),
    ]
    .concat();
    let graph = import(&text)?;
    refused(run(&session(&graph, SOON)?, "y"), Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
    Ok(())
}

/// Scalars take no memory of their own, but the items that hold them do.
#[test]
fn scalars_in_a_queue_are_charged() -> Result<()> {
    let many = Tensor::from_iter([4_000_000], (0..4_000_000).map(|i| i as f32))?;
    let watched = watched();
    let text = [
        &*node("x", "Placeholder", &[], &[("dtype", F32), ("shape", "shape { unknown_rank: true }")]),
        &node("q", "FIFOQueueV2", &[], &[("component_types", "list { type: DT_FLOAT }")]),
        &node("y", "QueueEnqueueManyV2", &["q", "x"], &[("Tcomponents", "list { type: DT_FLOAT }")]),
        &node("n", "QueueSizeV2", &["q"], &[]),
    ]
    .concat();
    let graph = import(&text)?;
    let session = session(&graph, SOON)?;
    let enqueue = |value: &Tensor| {
        let feeds = millstream_runtime::FeedList::new().and(graph.output("x:0")?, value.clone());
        session.run::<()>(Target::Operation(graph.operation("y")?.id()), feeds)
    };
    refused(enqueue(&many), Code::ResourceExhausted, "out of memory");
    enqueue(&Tensor::zeros(millstream_tensor::DType::F32, [100_000])?)?;
    assert_eq!(run(&session, "n:0")?.unwrap().to_scalar::<i32>()?, 100_000);
    watched.ends_within(MEMORY);
    Ok(())
}

/// Fetches the first output of an op on these inputs, and expects that its scratch memory is refused.
#[track_caller]
fn refused_for_scratch(op: &'static str, inputs: &[Tensor], attrs: &[(&'static str, Attr)]) {
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let mut feeds = millstream_runtime::FeedList::new();
    let mut built = graph.op(op);
    for (i, input) in inputs.iter().enumerate() {
        let unknown = PartialShape::unknown();
        let x = graph.placeholder_of(&format!("x{i}"), input.dtype(), unknown);
        feeds = feeds.and(x, input.clone());
        built = built.input(x);
    }
    for (name, value) in attrs {
        built = built.attr(*name, value.clone());
    }
    let port = built.finish().output(0).port();
    let session = session(&graph, SOON).unwrap();
    refused(session.run::<Tensor>(Target::Value(port), feeds), Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
}

#[test]
fn maps_places_and_pieces_are_charged() -> Result<()> {
    let numbers = |n: i64| Tensor::from_iter([n as usize], 0..n);
    let none = Tensor::zeros(millstream_tensor::DType::I64, [0])?;
    let (few, one) = (Tensor::zeros(millstream_tensor::DType::I8, [12 << 20])?, Tensor::scalar(1i32));
    refused_for_scratch("Roll", &[few, one, Tensor::scalar(0i32)], &[]);
    let few = Tensor::zeros(millstream_tensor::DType::I8, [8 << 20])?;
    let paddings = Tensor::from_slice([1, 2], &[1i32, 1])?;
    refused_for_scratch("MirrorPad", &[few, paddings], &[("mode", "REFLECT".into())]);
    refused_for_scratch("Unique", &[numbers(2_000_000)?], &[]);
    refused_for_scratch("ListDiff", &[none, numbers(2_000_000)?], &[]);
    let parts = Tensor::zeros(millstream_tensor::DType::I32, [4_000_000])?;
    refused_for_scratch("DynamicPartition", &[parts.clone(), parts], &[("num_partitions", 1i64.into())]);
    let text = Tensor::strings([1], vec![Str::new(vec![b'a'; 4 << 20])?])?;
    refused_for_scratch("StringSplit", &[text.clone(), Tensor::str("")], &[]);
    // A line of prime length becomes a convolution of twice the length and more.
    let line = Tensor::zeros(millstream_tensor::DType::C64, [500_009])?;
    refused_for_scratch("FFT", &[line], &[]);
    let spaced = vec![b"a ".repeat(2 << 20)];
    let spaced = Tensor::strings([1], spaced.into_iter().map(Str::new).collect::<Result<_>>()?)?;
    refused_for_scratch("StringSplitV2", &[spaced, Tensor::str(" ")], &[]);
    Ok(())
}

/// A million diagonals of one element each: what is known of each is not kept.
#[test]
fn diagonals_take_no_memory_of_their_own() -> Result<()> {
    const N: i32 = 1_000_000;
    let count = |n: i32| -> Result<i32> {
        let matrix = Tensor::zeros(millstream_tensor::DType::I8, [1, n as usize])?;
        let graph = Graph::with_ops(millstream_ops::registry());
        let x = graph.placeholder_of("x", matrix.dtype(), PartialShape::unknown());
        let diagonals = graph.op("MatrixDiagPartV3").input(x).input([0, n - 1]).input(0i8).output();
        let size = graph.op("Size").input(diagonals).output();
        let feeds = millstream_runtime::FeedList::new().and(x, matrix);
        session(&graph, SOON)?.run::<i32>(size, feeds)
    };
    // The first run reads code.
    assert_eq!(count(10)?, 10);
    let watched = watched();
    assert_eq!(count(N)?, N);
    watched.ends_within(12 << 20);
    Ok(())
}

/// Datasets that hold elements for later: of one component, and of more than an element has room for in
/// place.
#[test]
fn the_elements_that_datasets_hold_are_charged() -> Result<()> {
    let types = |dtype: &str, shape: &str, n: usize| {
        let (dtypes, shapes) = (vec![dtype; n].join(", "), vec![shape; n].join(", "));
        format!("output_types={{{dtypes}}}, output_shapes={{{shapes}}}")
    };
    let range = format!("RangeDataset(i64 0, i64 1099511627776, i64 1; {})", types("i64", "shape[]", 1));
    for n in [1, 4] {
        let zip = format!("ZipDataset({}; {})", vec![&*range; n].join(", "), types("i64", "shape[]", n));
        let (scalars, variants) = (types("i64", "shape[]", n), types("variant", "shape[]", n));
        let all = "i64 1099511627776";
        for dataset in [
            format!("BatchDataset({zip}, {all}; {})", types("i64", "shape[?]", n)),
            format!("WindowDataset({zip}, {all}, i64 1, i64 1, false; {variants})"),
            format!("ShuffleDataset({zip}, {all}, i64 1, i64 1; {scalars})"),
            format!("SkipDataset(CacheDataset({zip}, \"\"; {scalars}), {all}; {scalars})"),
        ] {
            let case = Case::parse(&format!("DatasetToSingleElement({dataset}; {scalars}) ! out of memory"))?;
            let built = build(&case, Given::Constant)?;
            let session = session(&built.graph, SOON)?;
            let watched = watched();
            let result = attempt(&built, &session);
            refused(result, Code::ResourceExhausted, "out of memory");
            watched.ends_within(MEMORY);
        }
    }
    Ok(())
}

/// Long separators and patterns take no time for each byte of a text, and no stack for each of their parts.
#[test]
fn long_separators_and_patterns_end_soon() -> Result<()> {
    const N: usize = 1 << 20;
    let watched = watched();
    let run = |op: &'static str, inputs: &[Vec<u8>]| {
        let graph = Graph::with_ops(millstream_ops::registry());
        let inputs =
            inputs.iter().map(|text| Ok(graph.constant_tensor("x", Tensor::str(Str::new(&**text)?))));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let first = graph.op("Reshape").input(inputs[0]).input([1i32]).output();
        let split = inputs.get(1).map(|separator| graph.op(op).inputs([first, *separator]).finish());
        let made = split.unwrap_or_else(|| graph.op(op).input(first).finish());
        let last = made.output(if split.is_some() { 1 } else { 0 }).port();
        session(&graph, SOON)?.run::<Tensor>(Target::Value(last), ())
    };
    let (a, b) = (vec![b'a'; N], [vec![b'a'; N / 2], vec![b'b']].concat());
    assert_eq!(run("StringSplitV2", &[a.clone(), b])?.elements(), 1);
    assert_eq!(run("StringSplit", &[a, vec![b'b'; N]])?.elements(), 1);
    for part in ["a/", "*/", "?/[^a]/"] {
        assert_eq!(
            run("MatchingFiles", &[["/nowhere/", &part.repeat(N)].concat().into_bytes()])?.elements(),
            0
        );
    }
    let set = ["/*[".to_owned(), "a".repeat(N)].concat().into_bytes();
    assert_eq!(run("MatchingFiles", &[set])?.elements(), 0);
    watched.ends_within(MEMORY);
    Ok(())
}

/// The names in a folder are read one by one. Those that match are charged, and so are the folders that are
/// yet to be searched; nothing else is kept.
#[test]
fn the_names_in_a_folder_are_charged() -> Result<()> {
    const N: usize = 1000;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("names_in_a_folder");
    let _old = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    (0..N).for_each(|i| std::fs::write(folder.join(format!("{i:0>240}")), "").unwrap());
    let find = |pattern: &str, memory_limit| -> Result<usize> {
        let graph = Graph::with_ops(millstream_ops::registry());
        let pattern = graph.constant(Tensor::str(format!("{}/{pattern}", folder.display()).as_str()));
        let found = graph.op("MatchingFiles").input(pattern).output().port();
        let options = SessionOptions { memory_limit, ..SessionOptions::default() };
        let names = Session::with_options(&graph, options)?.run::<Tensor>(Target::Value(found), ())?;
        Ok(names.elements())
    };
    let little = Some(1 << 18);
    refused(find("*", little), Code::ResourceExhausted, "out of memory");
    refused(find("*/nothing", little), Code::ResourceExhausted, "out of memory");
    assert_eq!(find("*[0-3]7", little)?, N / 25);
    assert_eq!(find("*", None)?, N);
    Ok(())
}

#[test]
fn the_entries_of_a_table_are_charged() -> Result<()> {
    let keys = Tensor::from_iter([1_000_000], 0..1_000_000i64)?;
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let i64s = millstream_tensor::DType::I64;
    let table = graph.op("MutableHashTableV2").attr("key_dtype", i64s).attr("value_dtype", i64s).output();
    let x = graph.placeholder_of("x", i64s, millstream_tensor::shape![_]);
    let insert = graph.op("LookupTableInsertV2").input(table).input(x).input(x).finish();
    let size = graph.op("LookupTableSizeV2").input(table).output();
    let session = session(&graph, SOON)?;
    let fill = |keys: &Tensor| {
        let feeds = millstream_runtime::FeedList::new().and(x, keys.clone());
        session.run::<()>(Target::Operation(insert.id()), feeds)
    };
    refused(fill(&keys), Code::ResourceExhausted, "out of memory");
    assert_eq!(session.run::<i64>(size, ())?, 0, "nothing was inserted");
    fill(&Tensor::from_iter([10_000], 0..10_000i64)?)?;
    assert_eq!(session.run::<i64>(size, ())?, 10_000);
    watched.ends_within(MEMORY);
    Ok(())
}

/// A key that is a row of many numbers is kept number by number.
#[test]
fn keys_that_are_rows_are_charged() -> Result<()> {
    const N: usize = 1 << 20;
    let marks = [-1i64, -2].map(|mark| Tensor::fill([N], &Tensor::scalar(mark)));
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let i64s = millstream_tensor::DType::I64;
    let mut table = graph.op("MutableDenseHashTableV2");
    for mark in marks {
        table = table.input(graph.constant_tensor("mark", mark?));
    }
    let table = table.attr("value_dtype", i64s).output();
    let keys = graph.placeholder_of("keys", i64s, millstream_tensor::shape![_, N]);
    let insert = graph.op("LookupTableInsertV2").input(table).input(keys).input([1i64]).finish();
    let session = session(&graph, SOON)?;
    let feeds = millstream_runtime::FeedList::new().and(keys, Tensor::zeros(i64s, [1, N])?);
    let result = session.run::<()>(Target::Operation(insert.id()), feeds);
    refused(result, Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
    Ok(())
}

/// Each iteration of the outer loop starts an inner loop, and none waits for another: their number is limited
/// by memory alone.
#[test]
fn frames_and_iterations_are_charged() -> Result<()> {
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let less = |a, b| graph.op("Less").input(a).input(b).output();
    let add = |a, b| graph.op("AddV2").input(a).input(b).output();
    let (most, one) = (graph.constant(i32::MAX), graph.constant(1i32));
    let text = graph.constant("a");
    let (n, _) = graph.while_loop((graph.constant(0i32), text)).parallel_iterations(1 << 30).run(
        |(i, _)| less(i, most),
        |(i, _)| {
            let inner = graph.while_loop((graph.constant(0i32), text)).parallel_iterations(1 << 30).run(
                |(j, _)| less(j, most),
                |(j, t)| (add(j, one), graph.op("StringJoin").input(t).attr("N", 1i64).output()),
            );
            let last = inner.map(|(_, t)| t).unwrap_or(text);
            (add(i, one), last)
        },
    )?;
    // Compiled, the counter alone would be through in a moment.
    let options = SessionOptions {
        memory_limit: Some(MEMORY),
        timeout: Some(Duration::from_secs(5)),
        tier: Tier::Dataflow,
        ..SessionOptions::default()
    };
    let session = Session::with_options(&graph, options)?;
    let Err(error) = session.run::<i32>(n, ()) else { panic!("there is no error") };
    assert!(matches!(error.code(), Code::ResourceExhausted | Code::DeadlineExceeded), "{error}");
    watched.ends_within(MEMORY);
    Ok(())
}

/// There is memory for a copy of the first slot, which a reader shares, and not for one of the second.
#[test]
fn an_optimizers_step_is_whole_or_nothing() -> Result<()> {
    const N: usize = 1 << 20;
    let f32s = millstream_tensor::DType::F32;
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let (grad, indices) = (
        graph.placeholder_of("grad", f32s, PartialShape::unknown()),
        graph.placeholder_of("indices", millstream_tensor::DType::I32, millstream_tensor::shape![_]),
    );
    let zeros = graph.op("Fill").input([N as i32, 1]).input(0f32).output();
    let variables = ["var", "m", "v"].map(|name| {
        let shape = millstream_tensor::shape![N, 1];
        let op = graph.op("VarHandleOp").attr("dtype", f32s).attr("shape", shape);
        let handle = op.attr("shared_name", name.to_owned()).output();
        let init = graph.op("AssignVariableOp").input(handle).input(zeros).finish();
        (handle, init, graph.op("ReadVariableOp").input(handle).attr("dtype", f32s).output())
    });
    let [var, m, v] = variables;
    let adam = graph.op("ResourceApplyAdam").inputs([var.0, m.0, v.0]);
    let adam = [0.5f32, 0.75, 0.5, 0.5, 0.5, 0.0].into_iter().fold(adam, |op, x| op.input(x));
    let adam = adam.input(grad).finish();
    let sparse = graph.op("ResourceSparseApplyAdagradV2").inputs([var.0, m.0]).input(0.5f32).input(0.1f32);
    let sparse = sparse.input(grad).input(indices).finish();
    graph.check()?;
    let options = SessionOptions {
        threads: Some(1),
        memory_limit: Some(19 << 20),
        timeout: Some(SOON),
        ..SessionOptions::default()
    };
    let session = Session::with_options(&graph, options)?;
    for (_, init, _) in &variables {
        session.run::<()>(Target::Operation(init.id()), ())?;
    }
    let read = |i: usize| session.run::<Tensor>(Target::Value(variables[i].2.port()), ());
    let ones = Tensor::fill([N, 1], &Tensor::scalar(1f32))?;
    let rows = Tensor::from_iter([N], 0..N as i32)?;
    let step = |op: millstream_graph::Op<'_>| {
        let feeds = millstream_runtime::FeedList::new().and(grad, ones.clone()).and(indices, rows.clone());
        session.run::<()>(Target::Operation(op.id()), feeds)
    };
    let all = |value: &Tensor, wanted: f32| value.as_slice::<f32>().unwrap().iter().all(|x| *x == wanted);
    {
        let held = (read(1)?, read(2)?);
        for _ in 0..2 {
            refused(step(adam), Code::ResourceExhausted, "out of memory");
        }
        assert!(all(&held.0, 0.0) && all(&held.1, 0.0));
    }
    assert!((0..3).all(|i| all(&read(i).unwrap(), 0.0)), "nothing has changed");
    step(adam)?;
    assert!(all(&read(1)?, 0.5) && all(&read(2)?, 0.5), "the step counted once");
    let before = read(0)?;
    {
        let _held = read(1)?;
        refused(step(sparse), Code::ResourceExhausted, "out of memory");
        assert!(all(&read(1)?, 0.5) && read(0)?.bits_eq(&before), "nothing has changed");
    }
    watched.ends_within(MEMORY);
    Ok(())
}

#[test]
fn outputs_are_bounded_and_charged() {
    let watched = watched();
    let x = node("x", "Placeholder", &[], &[("dtype", F32), ("shape", "shape { unknown_rank: true }")]);
    let unpack = |name: &str, n: usize| {
        node(name, "Unpack", &["x"], &[("num", &format!("i: {n}")), ("T", F32), ("axis", "i: 0")])
    };
    let many = x.clone() + &unpack("u", 1 << 24);
    let too_many = "would have 16777216 outputs: a node has at most 65536";
    refused(import(&many), Code::InvalidArgument, too_many);
    let several = (0..10).fold(x.clone(), |text, i| text + &unpack(&format!("u{i}"), 1 << 16));
    refused(import(&several), Code::ResourceExhausted, "over the limit");
    assert!(import(&(x + &unpack("u", 1 << 16))).is_ok());
    watched.ends_within(MEMORY);
}

/// Strings that double in every node are computed while the plan is made only as long as they are short.
#[test]
fn constants_are_folded_within_limits() -> Result<()> {
    let watched = watched();
    let mut text = constant("s0", "DT_STRING", &[], &format!("string_val: '{}'", "a".repeat(1024)));
    for i in 1..=20 {
        let s = format!("s{}", i - 1);
        text += &node(&format!("s{i}"), "StringJoin", &[&s, &s], &[("N", "i: 2"), ("separator", "s: ''")]);
    }
    text += &node("n", "StringLength", &["s20"], &[]);
    let graph = import(&text)?;
    let session = session(&graph, SOON)?;
    refused(run(&session, "n:0"), Code::ResourceExhausted, "out of memory");
    assert_eq!(run(&session, "s3:0")?.unwrap().byte_size(), 8 << 10);
    watched.ends_within(MEMORY);
    Ok(())
}

#[test]
fn planning_ends_with_the_deadline() -> Result<()> {
    let watched = watched();
    let graph = import_within(&star(20_000), 1 << 30, None)?;
    let session = session(&graph, Duration::ZERO)?;
    refused(run(&session, "t"), Code::DeadlineExceeded, "the time allowed");
    refused(import_within(&star(20_000), 1 << 30, Some(Instant::now())), Code::DeadlineExceeded, "import");
    watched.ends_within(1 << 30);
    Ok(())
}

/// A node that waits for `n` others.
fn star(n: usize) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("n{i}")).collect();
    let mut text: String = names.iter().map(|name| node(name, "NoOp", &[], &[])).collect();
    let controls: Vec<String> = names.iter().map(|name| format!("^{name}")).collect();
    let controls: Vec<&str> = controls.iter().map(String::as_str).collect();
    text += &node("t", "NoOp", &controls, &[]);
    text
}

/// Ten times as many take about ten times as long, where quadratic work would take a hundred times as long.
#[test]
fn control_edges_take_linear_time() -> Result<()> {
    let watched = watched();
    let takes = |n: usize| -> Result<Duration> {
        let text = star(n);
        let before = processor_time();
        let graph = import_within(&text, 1 << 30, None)?;
        run(&session(&graph, SOON)?, "t")?;
        Ok(processor_time() - before)
    };
    takes(1000)?;
    let (few, many) = (takes(4000)?, takes(40_000)?);
    assert!(many < 20 * few + Duration::from_millis(100), "{few:?} for 4,000 edges, {many:?} for 40,000");
    watched.ends_within(1 << 30);
    Ok(())
}

/// The same edges, added one by one to a node that exists, each of them twice.
#[test]
fn control_edges_are_added_in_linear_time() -> Result<()> {
    let _watched = watched();
    let takes = |n: usize| -> Result<Duration> {
        let graph = Graph::with_ops(millstream_ops::registry());
        let before = (0..n).map(|_| graph.op("NoOp").try_finish()).collect::<Result<Vec<_>>>()?;
        let last = graph.op("NoOp").try_finish()?;
        let start = processor_time();
        for op in before.iter().chain(&before) {
            graph.add_control_input(last, *op)?;
        }
        let took = processor_time() - start;
        assert_eq!(last.control_inputs().len(), n);
        graph.remove_control_inputs(last)?;
        graph.add_control_input(last, before[0])?;
        assert_eq!(last.control_inputs().len(), 1, "what was removed can be added again");
        Ok(took)
    };
    takes(1000)?;
    let (few, many) = (takes(4000)?, takes(40_000)?);
    assert!(many < 20 * few + Duration::from_millis(100), "{few:?} for 4,000 edges, {many:?} for 40,000");
    Ok(())
}

/// It would wait for itself. The graph is as it was, and other threads wait and go on.
#[test]
fn a_graph_refuses_its_methods_while_it_is_read() {
    let graph = Graph::with_ops(millstream_ops::registry());
    let refused = panic::catch_unwind(AssertUnwindSafe(|| graph.read(|_| graph.len()))).unwrap_err();
    let text = refused.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(text.contains("given to `Graph::read` called a method of the same graph"), "{text}");
    graph.op("NoOp").finish();
    assert_eq!(graph.read(|g| g.nodes().len()), 1);
    let n = thread::scope(|scope| {
        let other = graph.read(|_| scope.spawn(|| graph.len()));
        other.join().unwrap()
    });
    assert_eq!(n, 1);
}

/// Functions that call the one before twice.
#[test]
fn imports_are_charged_for_their_nodes() {
    let watched = watched();
    let mut text = String::from("node { name: 'call' op: 'f30' } library {\n");
    text += "function { signature { name: 'f0' } node_def { name: 'a' op: 'NoOp' } }\n";
    for k in 1..=30 {
        let call = |name: &str| format!("node_def {{ name: '{name}' op: 'f{}' }}", k - 1);
        writeln!(text, "function {{ signature {{ name: 'f{k}' }} {} {} }}", call("a"), call("b")).unwrap();
    }
    text += "}";
    refused(import(&text), Code::ResourceExhausted, "over the limit of 67108864 bytes for an import");
    watched.ends_within(MEMORY);
}

/// An optional that contains the one before, `n` times over, made by a loop.
#[test]
fn values_in_values_are_dropped_and_printed_without_recursion() -> Result<()> {
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let none = graph.op("OptionalNone").output();
    let (_, nested) = graph.while_loop((graph.constant(0i32), none)).run(
        |(i, _)| graph.op("Less").input(i).input(100_000i32).output(),
        |(i, x)| {
            let next = graph.op("AddV2").input(i).input(1i32).output();
            (next, graph.op("OptionalFromValue").input(x).output())
        },
    )?;
    let has = graph.op("OptionalHasValue").input(nested).output();
    let session = session(&graph, SOON)?;
    assert!(session.run::<bool>(has, ())?);
    let text = session.run::<Tensor>(nested, ())?.to_string();
    assert!(text.len() < 1000 && text.starts_with("variant <Optional(Some([variant <"), "{text}");
    let twice = (0..40).fold(none, |x, _| graph.op("OptionalFromValue").inputs([x, x]).output());
    let text = session.run::<Tensor>(twice, ())?.to_string();
    assert!(text.len() < 4000, "{text}");
    watched.ends_within(MEMORY);
    Ok(())
}

#[test]
fn plans_of_edited_graphs_are_dropped() -> Result<()> {
    let _watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let first = graph.op("NoOp").finish();
    let session = session(&graph, SOON)?;
    for i in 0..1200 {
        let op = graph.op("NoOp").name(format!("n{i}")).finish();
        session.run::<()>(Target::Operation(op.id()), ())?;
        if i % 400 == 399 {
            assert!(session.holdings().n_plans <= 1024, "{}", session.holdings().n_plans);
            graph.add_control_input(op, first)?;
            session.run::<()>(Target::Operation(op.id()), ())?;
            assert_eq!(session.holdings().n_plans, 1, "plans made before the edit are gone");
        }
    }
    for round in 0..2 {
        for i in 0..1200 {
            let op = graph.operation(&format!("n{i}"))?;
            session.run::<()>(Target::Operation(op.id()), ())?;
        }
        assert_eq!(session.holdings().n_plans, 1024, "{round}");
    }
    Ok(())
}

#[test]
fn errors_about_long_names_are_short() -> Result<()> {
    let watched = watched();
    let name = "n".repeat(1 << 20);
    let text = constant("one", "DT_INT32", &[2], "int_val: 1 int_val: 2");
    let text = text + &node(&name, "Neg", &["one", "one"], &[("T", I32)]);
    let Err(error) = import(&text) else { panic!("there is no error") };
    assert!(error.to_string().len() < 16 << 10);
    let graph = Graph::with_ops(millstream_ops::registry());
    let shape = graph.placeholder_of("shape", millstream_tensor::DType::I32, millstream_tensor::shape![_]);
    let bad = graph.op("Reshape").name(name).input(graph.constant(1i32)).input(shape).output();
    let feeds = millstream_runtime::FeedList::new().and(shape, Tensor::vector(&[7i32])?);
    let Err(error) = session(&graph, SOON)?.run::<Tensor>(bad, feeds) else { panic!("there is no error") };
    assert!(error.to_string().len() < 16 << 10, "{}", error.to_string().len());
    watched.ends_within(MEMORY);
    Ok(())
}

/// Imports and runs a graph that asks for more than there is. Returns the code of the error.
#[track_caller]
fn stopped(text: &str, name: &str) -> Code {
    let watched = watched();
    let graph = import(text).unwrap();
    let session = session(&graph, Duration::from_secs(1)).unwrap();
    let Err(error) = run(&session, name) else { panic!("there is no error") };
    watched.ends_within(MEMORY);
    error.code()
}

const I64_SCALARS: [(&str, &str); 2] =
    [("output_types", "list { type: DT_INT64 }"), ("output_shapes", "list { shape { } }")];

/// Sixty datasets have 2^60 readers. Neither their depth nor a pass may take that many steps for good.
#[test]
fn a_pass_over_datasets_that_read_each_other_twice_ends_with_its_run() {
    let mut text =
        constant("n", "DT_INT64", &[], "int64_val: 0") + &constant("d", "DT_INT64", &[], "int64_val: 1");
    text += &node("x0", "RangeDataset", &["n", "n", "d"], &I64_SCALARS);
    for i in 1..=60 {
        let x = format!("x{}", i - 1);
        text += &node(&format!("x{i}"), "ConcatenateDataset", &[&x, &x], &I64_SCALARS);
    }
    text += &node("y", "DatasetToSingleElement", &["x60"], &I64_SCALARS);
    assert_eq!(stopped(&text, "y"), Code::DeadlineExceeded);
}

#[test]
fn texts_of_tensors_are_charged_as_they_are_written() {
    let text = "a".repeat(100);
    let x = constant("x", "DT_STRING", &[1 << 18], &format!("string_val: '{text}'"));
    let thirty = ["x"; 30];
    let types = format!("list {{ {} }}", "type: DT_STRING ".repeat(30));
    let template = format!("s: '{}'", "%s".repeat(30));
    let attrs = [("T", &*types), ("template", &*template), ("summarize", "i: -1")];
    let code = stopped(&(x.clone() + &node("y", "StringFormat", &thirty, &attrs)), "y");
    assert!(matches!(code, Code::DeadlineExceeded | Code::ResourceExhausted), "{code:?}");
    let condition = constant("c", "DT_BOOL", &[], "bool_val: false");
    let attrs = [("T", &*types), ("summarize", "i: 1000000000")];
    let inputs: Vec<&str> = ["c"].into_iter().chain(thirty).collect();
    let code = stopped(&(x + &condition + &node("y", "Assert", &inputs, &attrs)), "y");
    assert!(matches!(code, Code::DeadlineExceeded | Code::ResourceExhausted), "{code:?}");
}

#[test]
fn draws_that_are_never_accepted_end_with_their_run() {
    let shape = constant("s", "DT_INT32", &[1], &format!("int_val: {}", 1 << 20));
    let float = |name: &str, value: &str| constant(name, "DT_FLOAT", &[], &format!("float_val: {value}"));
    let parameters = float("m", "0") + &float("d", "1") + &float("low", "1e30") + &float("high", "1.1e30");
    let inputs = ["s", "m", "d", "low", "high"];
    let attrs = [("dtype", F32), ("T", I32)];
    let normal = shape + &parameters + &node("y", "ParameterizedTruncatedNormal", &inputs, &attrs);
    assert_eq!(stopped(&normal, "y"), Code::DeadlineExceeded);

    let size = constant("s", "DT_INT32", &[3], "int_val: [1000, 1000, 3]");
    let boxes = constant("b", "DT_FLOAT", &[1, 1 << 16, 4], "float_val: 0.5");
    let most = format!("i: {}", i64::MAX);
    let attrs = [("T", I32), ("max_attempts", &*most)];
    let inputs = ["s", "b", "least"];
    let part = node("y", "SampleDistortedBoundingBoxV2", &inputs, &attrs);
    assert_eq!(stopped(&(size + &boxes + &float("least", "1") + &part), "y"), Code::DeadlineExceeded);
}

#[test]
fn windows_larger_than_any_tensor_are_no_panic() -> Result<()> {
    let x = constant("x", "DT_FLOAT", &[1, 2, 2, 1], "float_val: 1");
    let attrs = [
        ("ksize", "list { i: 1 i: 1099511627776 i: 1099511627776 i: 1 }"),
        ("strides", "list { i: 1 i: 1 i: 1 i: 1 }"),
        ("padding", "s: 'SAME'"),
        ("T", F32),
    ];
    for op in ["MaxPool", "AvgPool", "MaxPoolWithArgmax"] {
        let graph = import(&(x.clone() + &node("y", op, &["x"], &attrs)))?;
        match run(&session(&graph, SOON)?, "y") {
            Ok(value) => assert_eq!(value.unwrap().elements(), 4, "{op}"),
            Err(error) => assert_ne!(error.code(), Code::Internal, "{error}"),
        }
    }
    Ok(())
}

/// An empty string of a message takes two bytes of it, and 24 in memory.
#[test]
fn messages_are_charged_before_they_are_decoded() -> Result<()> {
    let empty_strings = b"\x42\x00".repeat(2 << 20);
    let text = Tensor::str(Str::new(empty_strings)?);
    let dtype = Attr::from(millstream_tensor::DType::Str);
    refused_for_scratch("ParseTensor", &[text], &[("out_type", dtype)]);
    Ok(())
}

/// A hundred strings of 2 MiB, which share their bytes: in a message each has bytes of its own.
#[test]
fn messages_are_charged_before_they_are_encoded() -> Result<()> {
    let text = Str::new(vec![b'a'; 2 << 20])?;
    let texts = Tensor::strings([100], vec![text; 100])?;
    refused_for_scratch("SerializeTensor", std::slice::from_ref(&texts), &[]);
    refused_for_scratch("TensorSummary", &[texts], &[]);
    Ok(())
}

/// Rows without entries, which no input pays for.
#[test]
fn the_entries_of_a_map_of_sparse_tensors_are_charged() -> Result<()> {
    let none = Tensor::zeros(millstream_tensor::DType::I64, [0, 2])?;
    let values = Tensor::zeros(millstream_tensor::DType::F32, [0])?;
    let shape = Tensor::vector(&[400_000i64, 3])?;
    refused_for_scratch("AddManySparseToTensorsMap", &[none, values, shape], &[]);
    Ok(())
}

#[test]
fn the_executions_of_a_trace_are_charged() -> Result<()> {
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let (most, one) = (graph.constant(i32::MAX), graph.constant(1i32));
    let (n, _) = graph.while_loop((graph.constant(0i32), one)).run(
        |(i, _)| graph.op("Less").input(i).input(most).output(),
        |(i, x)| (graph.op("AddV2").input(i).input(one).output(), x),
    )?;
    let options = millstream_runtime::RunOptions {
        trace: true,
        timeout: Some(Duration::from_secs(5)),
        ..Default::default()
    };
    let session = session(&graph, SOON)?;
    let Err(error) = session.run_with::<i32>(n, (), &options) else { panic!("there is no error") };
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    watched.ends_within(MEMORY);
    Ok(())
}

/// One kernel that makes a million values of nothing but headers: lists without items, optionals without
/// tensors, and tensors without elements.
#[test]
fn small_values_that_one_kernel_makes_are_charged() -> Result<()> {
    let variant = "type: DT_VARIANT";
    let types = ("element_dtype", variant);
    let all = constant("any", "DT_INT32", &[], "int_val: -1")
        + &constant("zero", "DT_INT32", &[], "int_val: 0")
        + &constant("n", "DT_INT32", &[2], "int_val: 1000000 int_val: 1")
        + &constant("flat", "DT_INT32", &[1], "int_val: -1")
        + &node("z", "Fill", &["n", "zero"], &[("T", I32)])
        + &node("is", "Reshape", &["z", "flat"], &[("T", I32), ("Tshape", I32)])
        + &node("list", "EmptyTensorList", &["any", "any"], &[types, ("shape_type", I32)])
        + &node("none", "OptionalNone", &[], &[]);
    // A million times the same handle.
    let many = |name: &str, of: &str| {
        let attrs = [("Tparams", variant), ("Tindices", I32), ("Taxis", I32), ("batch_dims", "i: 0")];
        node("one", "Pack", &[of], &[("N", "i: 1"), ("T", variant), ("axis", "i: 0")])
            + &node(name, "GatherV2", &["one", "is", "zero"], &attrs)
    };
    let of_none = constant("no", "DT_INT32", &[0], "")
        + &many("hs", "none")
        + &node("nothing", "Gather", &["hs", "no"], &[("Tparams", variant), ("Tindices", I32)])
        + &node("l1", "TensorListPushBack", &["list", "nothing"], &[types])
        // Doubled 20 times, so that a million items are one tensor.
        + &(1..=20)
            .map(|i| {
                let l = format!("l{i}");
                node(&format!("l{}", i + 1), "TensorListConcatLists", &[&l, &l], &[types])
            })
            .collect::<String>();
    let concat = node("y", "TensorListConcatLists", &["hs", "hs"], &[types]);
    let push = node("y", "TensorListPushBackBatch", &["hs", "hs"], &[types]);
    let zeros = |of: &str| node("y", "ZerosLike", &[of], &[("T", variant)]);
    let sum = |of: &str| node("y", "AddN", &[of, of], &[("N", "i: 2"), ("T", variant)]);
    let graphs = [
        many("hs", "list") + &concat,
        many("hs", "list") + &push,
        many("hs", "list") + &zeros("hs"),
        many("hs", "list") + &sum("hs"),
        many("hs", "none") + &zeros("hs"),
        many("hs", "none") + &sum("hs"),
        of_none.clone() + &zeros("l21"),
        of_none + &sum("l21"),
    ];
    for graph in graphs {
        let watched = watched();
        let graph = import(&(all.clone() + &graph))?;
        refused(run(&session(&graph, SOON)?, "y:0"), Code::ResourceExhausted, "out of memory");
        watched.ends_within(MEMORY);
    }
    Ok(())
}

/// Datasets that hold the one before twice: the elements are nothing but handles.
#[test]
fn datasets_are_charged() -> Result<()> {
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let (most, one) = (graph.constant(i32::MAX), graph.constant(1i32));
    let shapes = Attr::List(vec![Attr::from(PartialShape::unknown_of_rank(0)); 2]);
    let dataset =
        |of| graph.op("TensorDataset").inputs([of; 2]).attr("output_shapes", shapes.clone()).output();
    let none = graph.op("OptionalNone").output();
    let (_, last) = graph.while_loop((graph.constant(0i32), dataset(none))).run(
        |(i, _)| graph.op("Less").input(i).input(most).output(),
        |(i, x)| (graph.op("AddV2").input(i).input(one).output(), dataset(x)),
    )?;
    let count = graph.op("DatasetCardinality").input(last).output();
    refused(session(&graph, SOON)?.run::<i64>(count, ()), Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
    Ok(())
}

/// Datasets that read another twice, which reads a third twice, .. share what an optimizer makes of each.
#[test]
fn shared_datasets_stay_shared_when_optimized() -> Result<()> {
    let types = [("output_types", "list { type: DT_INT64 }"), ("output_shapes", "list { shape { } }")];
    let number = |name: &str, n: i64| constant(name, "DT_INT64", &[], &format!("int64_val: {n}"));
    let doubled = |k: usize| {
        let before = format!("d{k}");
        node(&format!("d{}", k + 1), "ConcatenateDataset", &[&before, &before], &types)
    };
    let text = number("zero", 0)
        + &number("one", 1)
        + &number("three", 3)
        + &constant("how", "DT_STRING", &[1], "string_val: 'shuffle_and_repeat_fusion'")
        + &node("range", "RangeDataset", &["zero", "three", "one"], &types)
        + &node("shuffled", "ShuffleDataset", &["range", "three", "one", "one"], &types)
        + &node("d0", "RepeatDataset", &["shuffled", "one"], &types)
        + &(0..60).map(doubled).collect::<String>()
        + &node("optimized", "OptimizeDataset", &["d60", "how"], &types)
        + &node("first", "TakeDataset", &["optimized", "one"], &types)
        + &node("y", "DatasetToSingleElement", &["first"], &types);
    let watched = watched();
    let graph = import(&text)?;
    let first = run(&session(&graph, SOON)?, "y:0")?.unwrap().to_scalar::<i64>()?;
    assert!((0..3).contains(&first), "{first}");
    watched.ends_within(MEMORY);
    Ok(())
}

/// Functions that give the one they call a value with two copies of their own.
#[test]
fn attributes_that_double_are_charged_before_they_are_made() {
    let twice = "func { name: 'g' attr { key: 'a' value { placeholder: 'h' } }
                 attr { key: 'b' value { placeholder: 'h' } } }";
    let listed = "list { func { name: 'g' attr { key: 'a' value { placeholder: 'h' } } }
                  func { name: 'g' attr { key: 'a' value { placeholder: 'h' } } } }";
    for value in [twice, listed] {
        let signature = |k: usize| format!("signature {{ name: 'f{k}' attr {{ name: 'h' type: 'func' }} }}");
        let call = |k: usize, h: &str| node("x", &format!("f{k}"), &[], &[("h", h)]);
        let mut text = call(40, "func { name: 'g' }") + "library {\n";
        writeln!(text, "function {{ {} node_def {{ name: 'x' op: 'NoOp' }} }}", signature(0)).unwrap();
        for k in 1..=40 {
            let inner = call(k - 1, value).replacen("node", "node_def", 1);
            writeln!(text, "function {{ {} {inner} }}", signature(k)).unwrap();
        }
        let watched = watched();
        refused(import(&(text + "}")), Code::ResourceExhausted, "over the limit of");
        watched.ends_within(MEMORY);
    }
}

/// Optionals in optionals, each of which holds nothing but the one before.
#[test]
fn values_of_nothing_but_headers_are_charged() -> Result<()> {
    let watched = watched();
    let graph = Graph::with_ops(millstream_ops::registry());
    let (most, one) = (graph.constant(i32::MAX), graph.constant(1i32));
    let none = graph.op("OptionalNone").output();
    let (_, last) = graph.while_loop((graph.constant(0i32), none)).run(
        |(i, _)| graph.op("Less").input(i).input(most).output(),
        |(i, x)| {
            let next = graph.op("OptionalFromValue").input(x).output();
            (graph.op("AddV2").input(i).input(one).output(), next)
        },
    )?;
    let has_value = graph.op("OptionalHasValue").input(last).output();
    let session = session(&graph, SOON)?;
    refused(session.run::<bool>(has_value, ()), Code::ResourceExhausted, "out of memory");
    watched.ends_within(MEMORY);
    Ok(())
}
