//! Every op of the library with hostile inputs. Each input of its examples is replaced in turn by scalars,
//! empty tensors, an empty tensor with an axis of length 2^40, tensors of the highest rank, NaNs and the
//! extremes of the dtype, with static shapes and without. The result is an error or a small value, within a
//! second and under 64 MiB; resident memory is measured, not only what the budget says.
//!
//! `HOSTILE_OPS=Name,Name` runs only these ops and prints each case before it runs. `HOSTILE_EXAMPLES=2`
//! tries that many examples of each op.

use millstream_ops::cases::{Arg, Case, Expect};
use millstream_runtime::{Session, SessionOptions};
use millstream_tensor::{DType, MAX_RANK, Shape, Tensor};
use millstream_testkit::examples::{Given, all, attempt, build};
use millstream_testkit::report::Report;
use std::collections::BTreeMap;
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

/// The most examples of an op that are tried. `HOSTILE_EXAMPLES=2` takes three minutes.
const EXAMPLES: usize = 1;

/// Resident memory may grow by this factor of the limit: kernels keep what they are about to free, and
/// allocators keep some of what was freed.
const GROWTH: f64 = 1.5;

#[test]
fn every_op_withstands_hostile_inputs() {
    // Panics are reported by the cases.
    std::panic::set_hook(Box::new(|_| ()));
    let chosen = std::env::var("HOSTILE_OPS").ok();
    let most = std::env::var("HOSTILE_EXAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(EXAMPLES);
    let is_chosen = |op: &str| chosen.as_ref().is_none_or(|list| list.split(',').any(|name| name == op));
    let mut examples: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for (op, _, text) in all().filter(|(op, ..)| is_chosen(op)) {
        let case = Case::parse(text).expect("examples parse");
        let list = examples.entry(op).or_default();
        if list.len() < most && matches!(case.expect, Expect::Values(_) | Expect::Near(_)) {
            list.push(case);
        }
    }
    let mut report = Report::new();
    for (op, cases) in examples {
        for (n, case) in cases.iter().enumerate() {
            for (i, arg) in case.call.args.iter().enumerate() {
                let Arg::Value(value) = arg else { continue };
                for (what, hostile) in hostile(value) {
                    let mut bad = case.clone();
                    bad.call.args[i] = Arg::Value(hostile);
                    for given in [Given::Constant, Given::Fed, Given::Unshaped] {
                        let name = format!("{op}, example {n}, input {i} is {what}, {given:?}");
                        if chosen.is_some() {
                            announce(&name);
                        }
                        let case = bad.clone();
                        report.run(&name, None, || in_time(move || withstands(&case, given)));
                    }
                }
            }
        }
    }
    report.finish("hostile inputs");
}

/// Builds and runs an example. Any error will do, and any result that fits the limits.
fn withstands(case: &Case, given: Given) -> Result<(), String> {
    let before = resident("VmRSS");
    forget_peak();
    let start = Instant::now();
    let result = build(case, given).and_then(|built| {
        let options = SessionOptions {
            threads: Some(1),
            timeout: Some(DEADLINE),
            memory_limit: Some(MEMORY),
            stall_grace: Some(Duration::ZERO),
            print: Some(Box::new(|_| ())),
            ..SessionOptions::default()
        };
        attempt(&built, &Session::with_options(&built.graph, options)?)
    });
    let (took, grown) = (start.elapsed(), resident("VmHWM").saturating_sub(before) << 10);
    if let Err(error) = &result {
        let text = error.to_string();
        let is_bug = text.contains("panicked") || text.contains("gave no output");
        if is_bug || text.len() >= 16 << 10 {
            return Err(format!("a bug of the op, or {} bytes of text: {text}", text.len()));
        }
    }
    if grown as f64 > GROWTH * MEMORY as f64 {
        return Err(format!("it took {} MiB of memory", grown >> 20));
    }
    match took < LONGEST {
        true => Ok(()),
        false => Err(format!("it took {took:?}")),
    }
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
