//! Every op of the library with hostile inputs and attributes. The inputs of its examples, also those of the
//! ops that make its inputs, are replaced by scalars, empty tensors, an empty tensor with an axis of length
//! 2^40, tensors of the highest rank, NaNs, the extremes of the dtype, and long tensors, which kernels may
//! not copy without being charged: one at a time, and all at once; with static shapes and without. Attributes
//! are replaced by extremes, empty lists and long strings; and some cases mix several of these changes at
//! random. The result is an error or a small value, within a second and under 64 MiB; resident memory is
//! measured, not only what the budget says.
//!
//! Examples are also enlarged, so that they stay valid: all axes of one place, and all texts, by one factor,
//! with the example's own elements and with distinct ones. Whatever a kernel then makes in proportion to its
//! inputs must be charged, also where it is far from the limit: resident memory may be 1.5 times what is
//! charged at most.
//!
//! The cases run in child processes of limited address space, in batches, so that one that ends its process
//! is a failure with a name. The tests run a sample:
//!
//! - `HOSTILE=all` runs all cases of one example of each op (five minutes on two cores); `HOSTILE=0.2` the
//!   sample of that share;
//! - `HOSTILE_SEED=7` chooses another sample;
//! - `HOSTILE_EXAMPLES=2` tries that many examples of each op;
//! - `HOSTILE_CASES=enlarged` tries only the cases whose names contain this;
//! - `HOSTILE_OPS=Name,Name` runs all cases of these ops, and prints each case before it runs.

use millstream_graph::op::AttrKind;
use millstream_graph::{Attr, FuncRef};
use millstream_ops::cases::{Arg, Call, Case, Expect};
use millstream_runtime::{Session, SessionOptions};
use millstream_tensor::{DType, MAX_RANK, PartialShape, Shape, Str, Tensor};
use millstream_testkit::examples::{Given, all, attempt, build};
use millstream_testkit::generate::Rng;
use millstream_testkit::report::Report;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The memory limit of each run, in bytes.
const MEMORY: usize = 64 << 20;

/// The deadline of each run. Kernels look at it at least every 100 ms.
const DEADLINE: Duration = Duration::from_secs(1);

/// The time after which a run that ignores its deadline is a failure. The machine may be loaded, and builds
/// for tests are slow.
const LONGEST: Duration = Duration::from_secs(10);

/// The most examples of an op that are tried.
const EXAMPLES: usize = 1;

/// The share of the cases that the tests run: about ten seconds.
const SHARE: f64 = 0.01;

/// Resident memory may grow by this factor of the limit: kernels keep what they are about to free, and
/// allocators keep some of what was freed.
const GROWTH: f64 = 1.5;

/// The bytes of a long tensor. Fed tensors and constants are not charged to a run, but copies of them are.
const LONG: usize = 24 << 20;

/// The bytes of the largest input of an enlarged example.
const LARGE: usize = 8 << 20;

/// Resident memory that nobody has to charge: pages of code that are read for the first time, stacks, plans.
const SMALL: usize = 4 << 20;

/// The number of random mixtures of each example.
const MIXED: u64 = 40;

/// The number of batches, and of processes at a time.
const BATCHES: usize = 8;
const PROCESSES: usize = 2;

/// The address space of a process, in KiB: a run that ignores its limit fails soon.
const ADDRESSES: usize = 6 << 20;

/// The ops that no example describes. The list may only become shorter.
const WITHOUT_EXAMPLE: &[&str] = &[];

/// What the environment asks for.
struct Asked {
    ops: Option<Vec<String>>,
    cases: String,
    share: f64,
    seed: u64,
    examples: usize,
}

impl Asked {
    fn new() -> Asked {
        let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<f64>().ok());
        let ops = std::env::var("HOSTILE_OPS").ok();
        let everything = ops.is_some() || std::env::var("HOSTILE").is_ok_and(|how| how == "all");
        Asked {
            ops: ops.map(|list| list.split(',').map(str::to_owned).collect()),
            cases: std::env::var("HOSTILE_CASES").unwrap_or_default(),
            share: if everything { 1.0 } else { number("HOSTILE").unwrap_or(SHARE) },
            seed: number("HOSTILE_SEED").unwrap_or(0.0) as u64,
            examples: number("HOSTILE_EXAMPLES").map_or(EXAMPLES, |n| n as usize),
        }
    }

    fn has_op(&self, op: &str) -> bool {
        self.ops.as_ref().is_none_or(|ops| ops.iter().any(|name| name == op))
    }

    fn is_chosen(&self, case: &str) -> bool {
        if !case.contains(&self.cases) {
            return false;
        }
        let mut hasher = DefaultHasher::new();
        (self.seed, case).hash(&mut hasher);
        (hasher.finish() >> 11) as f64 / ((1u64 << 53) as f64) < self.share
    }
}

#[test]
fn every_op_withstands_hostile_inputs() {
    if let Ok(batch) = std::env::var("HOSTILE_BATCH") {
        return run_batch(&batch);
    }
    let mut report = Report::new();
    let examples = examples(&Asked { ops: None, examples: 1, ..Asked::new() });
    for op in millstream_ops::registry().iter() {
        let listed = WITHOUT_EXAMPLE.contains(&op.name);
        let result = match (examples.contains_key(op.name), listed) {
            (true, true) => Err("it has an example now: take it off the list `WITHOUT_EXAMPLE`".to_owned()),
            (false, false) => Err("it has no example: add one with values".to_owned()),
            _ => Ok(()),
        };
        report.add(op.name, None, result);
    }
    let (send, results) = mpsc::channel();
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let send = send.clone();
            scope.spawn(move || {
                for batch in (process..BATCHES).step_by(PROCESSES) {
                    run_children(batch, |case, result| _ = send.send((case, result)));
                }
            });
        }
        drop(send);
        for (case, result) in results {
            report.add(&case, None, result);
        }
    });
    report.finish("hostile inputs");
}

/// Runs a batch in child processes: another one after each that a case has ended.
fn run_children(batch: usize, mut tell: impl FnMut(String, Result<(), String>)) {
    let at =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile_{}_{batch}", std::process::id()));
    let mut begin = 0;
    loop {
        std::fs::write(&at, "").expect("the folder for tests can be written");
        let output = child(batch, begin, &at);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in text.lines().filter_map(|line| line.strip_prefix("CASE ")) {
            match line.split_once('\t') {
                Some((case, error)) => tell(case.to_owned(), Err(error.replace("\\n", "\n"))),
                None => tell(line.to_owned(), Ok(())),
            }
        }
        if text.contains("BATCH ENDED") {
            break;
        }
        let last = std::fs::read_to_string(&at).unwrap_or_default();
        let (number, case) = last.split_once(' ').unwrap_or(("", "nothing"));
        let error = String::from_utf8_lossy(&output.stderr);
        let error: String = error.lines().take(8).collect::<Vec<_>>().join("\n");
        tell(case.to_owned(), Err(format!("it ended the process ({}): {error}", output.status)));
        match number.parse::<usize>() {
            Ok(number) => begin = number + 1,
            Err(_) => break,
        }
    }
    std::fs::remove_file(&at).ok();
}

fn child(batch: usize, begin: usize, at: &std::path::Path) -> Output {
    let program = std::env::current_exe().expect("a test knows its program");
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {ADDRESSES} 2>/dev/null; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(program).args([
        "every_op_withstands",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env("HOSTILE_BATCH", format!("{batch} {begin} {}", at.display()));
    // What was freed is given back to the system, so that each case shows what it takes.
    command.env("MALLOC_MMAP_THRESHOLD_", "65536").env("MALLOC_TRIM_THRESHOLD_", "65536");
    command.output().expect("the tests' program can be run")
}

/// The part of a child process: the cases of a batch, from a number on. `batch` also names the file that
/// tells the case that runs.
#[expect(clippy::print_stdout, reason = "the process that reads this is the test")]
fn run_batch(batch: &str) {
    // Panics are reported by the cases.
    std::panic::set_hook(Box::new(|_| ()));
    let asked = Asked::new();
    let mut parts = batch.splitn(3, ' ');
    let mut number = || parts.next().and_then(|n| n.parse::<usize>().ok()).expect("a number");
    let (batch, begin) = (number(), number());
    let at = parts.next().expect("a path");
    let mut n = 0;
    for (op, examples) in examples(&asked) {
        for (k, example) in examples.iter().enumerate() {
            for (what, change) in changes(example) {
                for given in [Given::Constant, Given::Fed, Given::Unshaped] {
                    let name = format!("{op}, example {k}, {what}, {given:?}");
                    if !asked.is_chosen(&name) {
                        continue;
                    }
                    n += 1;
                    if (n - 1) % BATCHES != batch || n - 1 < begin {
                        continue;
                    }
                    std::fs::write(at, format!("{} {name}", n - 1)).ok();
                    if asked.ops.is_some() {
                        announce(&name);
                    }
                    let (example, bad, deadline) =
                        (example.clone(), change.clone().apply(example), change.deadline());
                    let mut report = Report::new();
                    report.run(&name, None, || in_time(move || withstands(&example, &bad, given, deadline)));
                    match report.failure() {
                        None => println!("CASE {name}"),
                        Some(error) => println!("CASE {name}\t{}", error.replace('\n', "\\n")),
                    }
                }
            }
        }
    }
    println!("BATCH ENDED");
}

/// The examples that are tried, by op: those with values, else others.
fn examples(asked: &Asked) -> BTreeMap<&'static str, Vec<Case>> {
    let mut examples: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    let mut others: BTreeMap<&str, Case> = BTreeMap::new();
    for (op, _, text) in all().filter(|(op, ..)| asked.has_op(op)) {
        let case = Case::parse(text).expect("examples parse");
        if !matches!(case.expect, Expect::Values(_) | Expect::Near(_)) {
            others.entry(op).or_insert(case);
            continue;
        }
        let list = examples.entry(op).or_default();
        if list.len() < asked.examples {
            list.push(case);
        }
    }
    for (op, case) in others {
        examples.entry(op).or_insert_with(|| vec![with_values(case)]);
    }
    examples
}

/// The example with zeros where it only has types.
fn with_values(mut case: Case) -> Case {
    for arg in case.before.iter_mut().chain([&mut case.call]).flat_map(|call| &mut call.args) {
        if let Arg::Type(dtype, shape) = arg {
            let dims = shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(1));
            if let Ok(zeros) = Tensor::zeros(*dtype, dims.collect::<Vec<_>>()) {
                *arg = Arg::Value(zeros);
            }
        }
    }
    case
}

/// The call of this number; the last is the example's own.
fn call_of(case: &mut Case, n: usize) -> &mut Call {
    match n < case.before.len() {
        true => &mut case.before[n],
        false => &mut case.call,
    }
}

/// A change of an example. Cases are made of them only where they are chosen: there are many.
#[derive(Clone)]
enum Change {
    /// Of a call's input.
    Input(usize, usize, Tensor),
    /// Of all inputs that are values, each to its hostile value of this number, if it has one.
    Inputs(usize),
    /// Of a call's input, to a long tensor.
    Long(usize, usize),
    /// Of all inputs that are values, to long tensors.
    AllLong,
    /// Of an axis of all inputs, by one factor.
    Enlarged(Axis, Elements),
    /// Of all strings, each to many times itself.
    Texts,
    /// Of a call's attribute.
    Attr(usize, &'static str, Attr),
    /// Of some inputs and attributes, drawn with this seed.
    Mixed(u64),
}

/// The axis of each input that an enlarged example has more of.
#[derive(Clone, Copy, Debug)]
enum Axis {
    First,
    Last,
}

/// The elements of an enlarged example.
#[derive(Clone, Copy, Debug)]
enum Elements {
    /// Those of the example, repeated.
    Own,
    /// 0, 1, 2, ..
    Distinct,
}

impl Change {
    /// Work that is enlarged needs time until it has made what it makes.
    fn deadline(&self) -> Duration {
        match self {
            Change::Enlarged(..) | Change::Texts => LONGEST / 2,
            _ => DEADLINE,
        }
    }

    fn apply(self, case: &Case) -> Case {
        let mut bad = case.clone();
        match self {
            Change::Mixed(seed) => mix(&mut bad, &mut Rng::new(seed)),
            Change::Input(n, i, value) => call_of(&mut bad, n).args[i] = Arg::Value(value),
            Change::Long(n, i) => lengthen(&mut call_of(&mut bad, n).args[i]),
            Change::AllLong => {
                let calls = bad.before.iter_mut().chain([&mut bad.call]);
                calls.flat_map(|call| &mut call.args).for_each(lengthen);
            }
            Change::Enlarged(axis, elements) => enlarge(&mut bad, axis, elements),
            Change::Texts => {
                let calls = bad.before.iter_mut().chain([&mut bad.call]);
                calls.flat_map(|call| &mut call.args).for_each(lengthen_texts);
            }
            Change::Attr(n, name, attr) => call_of(&mut bad, n).attrs.set(name, attr),
            Change::Inputs(k) => {
                let calls = bad.before.iter_mut().chain([&mut bad.call]);
                for arg in calls.flat_map(|call| &mut call.args) {
                    let Arg::Value(value) = arg else { continue };
                    let mut all = hostile(value);
                    if let Some((_, value)) = all.drain(..).nth(k) {
                        *arg = Arg::Value(value);
                    }
                }
            }
        }
        bad
    }
}

/// Makes a value long, if it has an axis. All long values of one dtype and rank have one length.
fn lengthen(arg: &mut Arg) {
    let Arg::Value(value) = arg else { return };
    let [rows, row @ ..] = value.shape().dims() else { return };
    let row_bytes = Shape::from(row).elements().max(1) * value.dtype().size().unwrap_or(24);
    let rows = *rows.max(&1) * (LONG / row_bytes / rows.max(&1)).max(1);
    let shape = Shape::new([rows].into_iter().chain(row.iter().copied()));
    let first =
        value.take(Shape::default(), &[0]).or_else(|_| Tensor::zeros(value.dtype(), Shape::default()));
    if let Ok(long) = first.and_then(|first| Tensor::fill(shape, &first)) {
        *value = long;
    }
}

/// Multiplies an axis of all inputs by one factor: the largest then has [`LARGE`] bytes.
fn enlarge(case: &mut Case, axis: Axis, elements: Elements) {
    let values = case.calls().flat_map(|call| &call.args);
    let bytes = values.map(|arg| if let Arg::Value(value) = arg { bytes_of(value) } else { 0 }).max();
    let factor = (LARGE / bytes.unwrap_or(0).max(1)).max(1);
    for arg in case.before.iter_mut().chain([&mut case.call]).flat_map(|call| &mut call.args) {
        let Arg::Value(value) = arg else { continue };
        if value.rank() == 0 || value.elements() == 0 {
            continue;
        }
        let axis = match axis {
            Axis::First => 0,
            Axis::Last => value.rank() - 1,
        };
        let mut dims = value.shape().dims().to_vec();
        let run: usize = dims[axis..].iter().product();
        dims[axis] *= factor;
        let n = value.elements() * factor;
        let own = || {
            let places: Vec<usize> = (0..n).map(|i| i / (run * factor) * run + i % run).collect();
            value.take(dims.clone(), &places)
        };
        let enlarged = match elements {
            Elements::Own => own(),
            Elements::Distinct => distinct(value.dtype(), dims.clone()).unwrap_or_else(own),
        };
        if let Ok(enlarged) = enlarged {
            *value = enlarged;
        }
    }
}

/// 0, 1, 2, .. of this dtype and shape, if it has such values.
fn distinct(dtype: DType, dims: Vec<usize>) -> Option<millstream_tensor::Result<Tensor>> {
    let n = dims.iter().product::<usize>();
    macro_rules! numbers {
        ($t:ty) => {
            Tensor::from_iter(dims, (0..n).map(|i| i as $t))
        };
    }
    Some(match dtype {
        DType::F32 => numbers!(f32),
        DType::F64 => numbers!(f64),
        DType::I8 => numbers!(i8),
        DType::I16 => numbers!(i16),
        DType::I32 => numbers!(i32),
        DType::I64 => numbers!(i64),
        DType::U8 => numbers!(u8),
        DType::U16 => numbers!(u16),
        DType::U32 => numbers!(u32),
        DType::U64 => numbers!(u64),
        DType::Str => {
            let texts: millstream_tensor::Result<Vec<Str>> =
                (0..n).map(|i| Str::new(i.to_string())).collect();
            texts.and_then(|texts| Tensor::strings(dims, texts))
        }
        _ => return None,
    })
}

/// Makes each string many times itself: together they have half of [`LARGE`] bytes.
fn lengthen_texts(arg: &mut Arg) {
    let Arg::Value(value) = arg else { return };
    let Some(texts) = value.as_strs() else { return };
    let most = LARGE / 2 / texts.len().max(1);
    let longer = |text: &Str| Str::new(text.repeat(most / text.len().max(1)));
    let longer: millstream_tensor::Result<Vec<Str>> = texts.iter().map(longer).collect();
    if let Ok(longer) = longer.and_then(|texts| Tensor::strings(value.shape().clone(), texts)) {
        *value = longer;
    }
}

/// The bytes that a value takes at least. Strings may be shared.
fn bytes_of(value: &Tensor) -> usize {
    match value.as_strs() {
        Some(texts) if texts.len() < 1024 => texts.iter().map(|text| text.len() + size_of::<Str>()).sum(),
        _ => value.elements() * value.dtype().size().unwrap_or(size_of::<Str>()),
    }
}

/// Replaces two thirds of the inputs, and few of the attributes.
fn mix(case: &mut Case, rng: &mut Rng) {
    for call in case.before.iter_mut().chain([&mut case.call]) {
        for arg in &mut call.args {
            let Arg::Value(value) = arg else { continue };
            let mut all = hostile(value);
            if rng.below(3) != 0 && !all.is_empty() {
                *arg = Arg::Value(all.swap_remove(rng.below(all.len())).1);
            }
        }
        let Some(def) = millstream_ops::registry().get(&call.op) else { continue };
        for (name, spec) in &def.attrs {
            // Another dtype is an error at once.
            if matches!(spec.kind, AttrKind::Type(_) | AttrKind::TypeList(_)) || rng.below(6) != 0 {
                continue;
            }
            let mut all = hostile_attrs(&spec.kind);
            if !all.is_empty() {
                call.attrs.set(*name, all.swap_remove(rng.below(all.len())).1);
            }
        }
    }
}

/// The changes that make an example hostile, with descriptions.
fn changes(case: &Case) -> Vec<(String, Change)> {
    let mut changes = Vec::new();
    let mut kinds: Vec<String> = Vec::new();
    for (n, call) in case.calls().enumerate() {
        let of = if n < case.before.len() { format!(" of {}", call.op) } else { String::new() };
        for (i, arg) in call.args.iter().enumerate() {
            let Arg::Value(value) = arg else { continue };
            if value.rank() != 0 {
                changes.push((format!("input {i}{of} is long"), Change::Long(n, i)));
            }
            let all = hostile(value);
            if kinds.len() < all.len() {
                kinds = all.iter().map(|(what, _)| what.clone()).collect();
            }
            changes.extend(
                all.into_iter()
                    .map(|(what, value)| (format!("input {i}{of} is {what}"), Change::Input(n, i, value))),
            );
        }
        let Some(def) = millstream_ops::registry().get(&call.op) else { continue };
        for (name, spec) in &def.attrs {
            changes.extend(hostile_attrs(&spec.kind).into_iter().map(|(what, attr)| {
                (format!("attribute {name}{of} is {what}"), Change::Attr(n, name, attr))
            }));
        }
    }
    changes.push(("all inputs are long".to_owned(), Change::AllLong));
    changes.push(("all texts are long".to_owned(), Change::Texts));
    for axis in [Axis::First, Axis::Last] {
        for elements in [Elements::Own, Elements::Distinct] {
            let what = format!("it is enlarged ({axis:?}, {elements:?})");
            changes.push((what, Change::Enlarged(axis, elements)));
        }
    }
    let like = |(k, what): (usize, String)| (format!("all inputs are like {what}"), Change::Inputs(k));
    changes.extend(kinds.into_iter().enumerate().map(like));
    changes.extend((0..MIXED).map(|seed| (format!("it is mixed with seed {seed}"), Change::Mixed(seed))));
    changes
}

/// The hostile values of an attribute, with their descriptions.
fn hostile_attrs(kind: &AttrKind) -> Vec<(String, Attr)> {
    let ints = [i64::MIN, -1, 0, 1 << 20, 1 << 40, i64::MAX];
    let floats = [f32::NAN, f32::INFINITY, -1.0, 0.0, f32::MAX];
    let strs = ["", "\0", "/", "no such"].map(str::to_owned).into_iter().chain(["a".repeat(1 << 20)]);
    let dtypes =
        [DType::F32, DType::I32, DType::Str, DType::Bool, DType::C128, DType::Resource, DType::Variant];
    let unknown = PartialShape::unknown();
    let shape =
        |dims: &[i64]| PartialShape::from(Shape::from(dims.iter().map(|d| *d as usize).collect::<Vec<_>>()));
    let shapes = || {
        let ranked = [&[][..], &[0], &[1 << 40, 0], &[1 << 30], &[1 << 31, 1 << 31, 1 << 31], &[1; MAX_RANK]];
        ranked.map(shape).into_iter().chain([unknown.clone()])
    };
    let tensor = |dims: Vec<usize>| Tensor::zeros(DType::F32, dims).ok();
    let func = |name: &str| Attr::Func(FuncRef { name: name.to_owned(), attrs: Default::default() });
    let each = |one: Vec<Attr>| {
        let long = one.first().map(|first| Attr::List(vec![first.clone(); 1 << 12]));
        let alone = one.iter().map(|one| Attr::List(vec![one.clone()]));
        let two = one.iter().map(|one| Attr::List(vec![one.clone(); 2]));
        [Attr::List(vec![])].into_iter().chain(alone).chain(two).chain(long).collect()
    };
    let values: Vec<Attr> = match kind {
        AttrKind::Int(_) => ints.map(Attr::Int).into(),
        AttrKind::IntList => each(ints.map(Attr::Int).into()),
        AttrKind::Float => floats.map(Attr::Float).into(),
        AttrKind::FloatList => each(floats.map(Attr::Float).into()),
        AttrKind::Bool => [true, false].map(Attr::Bool).into(),
        AttrKind::Str(_) => strs.map(Attr::from).collect(),
        AttrKind::StrList => each(strs.map(Attr::from).collect()),
        AttrKind::Type(_) => dtypes.map(Attr::from).into(),
        AttrKind::TypeList(_) => each(dtypes.map(Attr::from).into()),
        AttrKind::Shape => shapes().map(Attr::from).collect(),
        AttrKind::ShapeList => each(shapes().map(Attr::from).collect()),
        AttrKind::Tensor => [vec![], vec![0], vec![1 << 40, 0], vec![1; MAX_RANK]]
            .into_iter()
            .filter_map(tensor)
            .map(Attr::from)
            .collect(),
        AttrKind::Func => ["", "no such"].map(func).into(),
        AttrKind::FuncList => each(["no such"].map(func).into()),
    };
    let described = |attr: Attr| (short(&attr), attr);
    values.into_iter().map(described).collect()
}

/// The attribute in a few words.
fn short(attr: &Attr) -> String {
    match attr {
        Attr::Str(text) if text.len() > 20 => format!("a string of {} bytes", text.len()),
        Attr::Shape(shape) if shape.rank().is_some_and(|rank| rank > 20) => {
            "a shape of the highest rank".into()
        }
        Attr::Tensor(value) => format!("a tensor of shape {}", value.shape()),
        Attr::Func(function) => format!("the function `{}`", function.name),
        Attr::List(list) => match list.first() {
            None => "an empty list".into(),
            Some(first) => format!("a list of {} times {}", list.len(), short(first)),
        },
        other => format!("{other:?}"),
    }
}

/// Builds and runs a changed example. Any error will do, and any result that fits the limits.
fn withstands(example: &Case, case: &Case, given: Given, deadline: Duration) -> Result<(), String> {
    // The first run reads code, and makes what is made once.
    attempt_within(example, given, DEADLINE, &mut 0).ok();
    let before = resident("VmRSS");
    forget_peak();
    let (start, mut charged) = (Instant::now(), 0);
    let result = attempt_within(case, given, deadline, &mut charged);
    let (took, grown) = (start.elapsed(), (resident("VmHWM").saturating_sub(before) << 10) as usize);
    let result = result.err().map(|error| error.to_string());
    if let Some(text) = &result {
        let is_bug = text.contains("panicked") || text.contains("gave no output");
        if is_bug || text.len() >= 16 << 10 {
            return Err(format!("a bug of the op, or {} bytes of text: {text}", text.len()));
        }
    }
    if grown as f64 > GROWTH * MEMORY as f64 {
        return Err(format!("it took {} MiB of memory", grown >> 20));
    }
    let values = case.calls().flat_map(|call| &call.args);
    let inputs = values.map(|arg| if let Arg::Value(value) = arg { bytes_of(value) } else { 0 });
    let inputs: usize = inputs.sum();
    // Attributes are charged when a graph is imported, and not to a run. Long ones come with inputs that are
    // not large.
    let allowed = GROWTH * (inputs + charged) as f64 + SMALL as f64;
    if LARGE <= inputs && (inputs + grown) as f64 > allowed {
        return Err(format!(
            "it took {} KiB of memory besides inputs of {} KiB, but was charged {} KiB ({})",
            grown >> 10,
            inputs >> 10,
            charged >> 10,
            result.unwrap_or_else(|| "no error".to_owned()),
        ));
    }
    match took < LONGEST {
        true => Ok(()),
        false => Err(format!("it took {took:?}")),
    }
}

/// Builds and runs an example. `charged` is the most that was charged to the run's budget.
fn attempt_within(
    case: &Case,
    given: Given,
    deadline: Duration,
    charged: &mut usize,
) -> millstream_tensor::Result<()> {
    let built = build(case, given)?;
    let options = SessionOptions {
        threads: Some(1),
        timeout: Some(deadline),
        memory_limit: Some(MEMORY),
        stall_grace: Some(Duration::ZERO),
        print: Some(Box::new(|_| ())),
        ..SessionOptions::default()
    };
    let session = Session::with_options(&built.graph, options)?;
    let result = attempt(&built, &session);
    *charged = session.peak_bytes();
    result.map(drop)
}

/// Runs a case on a thread of its own, so that one that hangs is a failure like any other.
fn in_time(case: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), String> {
    let (done, end) = mpsc::channel();
    let thread = thread::spawn(move || {
        let result = case();
        // Nothing receives this if the case took too long.
        done.send(()).ok();
        result
    });
    match end.recv_timeout(LONGEST) {
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("it is not done after {LONGEST:?}")),
        _ => thread.join().unwrap_or_else(|_| Err("it panicked".to_owned())),
    }
}

/// The hostile values that take the place of a value, with their descriptions.
fn hostile(value: &Tensor) -> Vec<(String, Tensor)> {
    let dtype = value.dtype();
    let shapes = [vec![], vec![0], vec![1 << 40, 0], vec![0, 1 << 40], vec![1; MAX_RANK]];
    let zeros = shapes.into_iter().map(Shape::from);
    let zeros = zeros.filter_map(|shape| Tensor::zeros(dtype, shape).ok());
    let mut all: Vec<_> = zeros.map(|zero| (format!("zeros {}", zero.shape()), zero)).collect();
    for extreme in extremes(dtype) {
        let alone = format!("{extreme}");
        if let Ok(filled) = Tensor::fill(value.shape().clone(), &extreme) {
            all.push((format!("full of {alone}"), filled));
        }
        all.push((alone, extreme));
    }
    all
}

fn extremes(dtype: DType) -> Vec<Tensor> {
    macro_rules! all {
        ($t:ty; $($name:ident),*) => { vec![$(Tensor::scalar(<$t>::$name)),*] };
    }
    match dtype {
        DType::F32 => all!(f32; NAN, INFINITY, NEG_INFINITY, MAX, MIN_POSITIVE),
        DType::F64 => all!(f64; NAN, INFINITY, NEG_INFINITY, MAX, MIN_POSITIVE),
        DType::I8 => all!(i8; MIN, MAX),
        DType::I16 => all!(i16; MIN, MAX),
        DType::I32 => [all!(i32; MIN, MAX), vec![Tensor::scalar(-1i32)]].concat(),
        DType::I64 => [all!(i64; MIN, MAX), vec![Tensor::scalar(-1i64), Tensor::scalar(1i64 << 40)]].concat(),
        DType::U8 => all!(u8; MAX),
        DType::U16 => all!(u16; MAX),
        DType::U32 => all!(u32; MAX),
        DType::U64 => all!(u64; MAX),
        DType::Bool => vec![Tensor::scalar(true)],
        DType::Str => vec![Tensor::str(vec![b'a'; 1 << 20])],
        _ => vec![],
    }
}

/// A line of the process's status, in KiB.
fn resident(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(line));
    line.and_then(|l| l.trim_matches([':', '\t', ' ']).split(' ').next()?.parse().ok()).unwrap_or(0)
}

/// Makes the peak of resident memory what it is now.
fn forget_peak() {
    // Where this is not allowed, the peak is that of the process, and the test is stricter.
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

#[expect(clippy::print_stderr, reason = "a case that ends the process must be known before it runs")]
fn announce(name: &str) {
    eprintln!("{name}");
}
