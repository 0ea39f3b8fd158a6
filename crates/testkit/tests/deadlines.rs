//! Long kernels look at the deadline and the cancellation of their run at least every 100 ms: one kernel of
//! each kind, with an input that would take it much longer.
//!
//! `DEADLINE_OPS=Name,Name` runs only these ops and prints how long each run took to end.

use millstream_graph::{Attr, Graph, Port};
use millstream_runtime::{FeedList, Poll, RunOptions, Session, SessionOptions, Target};
use millstream_tensor::{Code, Complex, DType, Error, PartialShape, Result, Shape, Str, Tensor};
use std::thread;
use std::time::{Duration, Instant};

/// The time after which a run has to end. A kernel that is done before that gets less time in its next
/// attempt.
const ALLOWED: Duration = Duration::from_millis(100);

/// Less than any of these kernels takes, on any machine.
const LEAST: Duration = Duration::from_millis(1);

/// From the start of a run to its end: the time allowed, a look of the kernel, and the end of the run, which
/// takes 120 to 550 ms. Thrice that is allowed, and the best of a few attempts counts, because the machine
/// may be loaded and builds for tests are slow.
const SOON: Duration = Duration::from_millis(1500);

const ATTEMPTS: usize = 20;

struct Case {
    op: &'static str,
    inputs: Vec<Tensor>,
    attrs: Vec<(&'static str, Attr)>,
    /// Whether it is a kernel of strings.
    op_allocates: bool,
}

fn case(op: &'static str, inputs: Vec<Tensor>) -> Case {
    Case { op, inputs, attrs: Vec::new(), op_allocates: false }
}

impl Case {
    fn attr(mut self, name: &'static str, value: impl Into<Attr>) -> Case {
        self.attrs.push((name, value.into()));
        self
    }

    /// Runs the op with a deadline, in a session that another thread closes, and for a caller who ends it.
    fn ends_in_time(&self, says: bool) -> Result<(), String> {
        let graph = Graph::with_ops(millstream_ops::registry());
        let mut fed = Vec::new();
        let mut node = graph.op(self.op);
        for (i, input) in self.inputs.iter().enumerate() {
            let x = graph.placeholder_of(&format!("x{i}"), input.dtype(), PartialShape::unknown());
            fed.push((x, input));
            node = node.input(x);
        }
        for (name, value) in &self.attrs {
            node = node.attr(*name, value.clone());
        }
        let port = node.finish().output(0).port();
        graph.check().map_err(|e| e.to_string())?;
        let feeds =
            || fed.iter().fold(FeedList::new(), |list, (x, input)| list.and(*x, Tensor::clone(input)));
        for threads in [1, 2] {
            for (code, run) in [
                (Code::DeadlineExceeded, with_deadline as Run),
                (Code::Cancelled, and_close),
                (Code::Aborted, and_ask),
            ] {
                // Kernels of strings look where they allocate, which asks no questions.
                if code == Code::Aborted && self.op_allocates {
                    continue;
                }
                let options = || SessionOptions { threads: Some(threads), ..SessionOptions::default() };
                let (mut done, mut allowed) = (None, ALLOWED);
                let mut attempt = || {
                    let session = Session::with_options(&graph, options()).map_err(|e| e.to_string())?;
                    let start = Instant::now();
                    let result = run(&session, port, feeds(), allowed);
                    let took = start.elapsed();
                    match result {
                        // The machine is fast, or so busy that the thread that ends the run came too late.
                        Ok(_) => {
                            done = Some(format!("it was done after {took:?}, with {allowed:?} allowed"));
                            allowed = (allowed / 2).max(LEAST);
                            Ok(Duration::MAX)
                        }
                        Err(error) if error.code() != code => Err(error.to_string()),
                        Err(_) => Ok(took),
                    }
                };
                let mut best = Duration::MAX;
                for _ in 0..ATTEMPTS {
                    best = best.min(attempt()?);
                    if best < SOON {
                        break;
                    }
                }
                if says {
                    say(&format!("{} {threads} {code:?} {best:?}", self.op));
                }
                if let Some(done) = done.filter(|_| best == Duration::MAX) {
                    return Err(done);
                }
                if SOON <= best {
                    return Err(format!("{threads} threads: {code:?} only after {best:?}"));
                }
            }
        }
        Ok(())
    }
}

/// Runs a kernel that is ended after the time given.
type Run = fn(&Session, Port, FeedList, Duration) -> Result<Tensor>;

fn with_deadline(session: &Session, port: Port, feeds: FeedList, allowed: Duration) -> Result<Tensor> {
    let options = RunOptions { timeout: Some(allowed), ..RunOptions::default() };
    Ok(session.run_with(Target::Value(port), feeds, &options)?.0)
}

fn and_close(session: &Session, port: Port, feeds: FeedList, allowed: Duration) -> Result<Tensor> {
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(allowed);
            session.close();
        });
        session.run(Target::Value(port), feeds)
    })
}

/// The caller has a question, as Python has for Ctrl-C.
fn and_ask(session: &Session, port: Port, feeds: FeedList, allowed: Duration) -> Result<Tensor> {
    let start = Instant::now();
    let poll = Poll::new(move || match start.elapsed() < allowed {
        true => Ok(()),
        false => Err(Error::new(Code::Aborted, "the answer is no")),
    });
    let options = RunOptions { poll: Some(poll), ..RunOptions::default() };
    Ok(session.run_with(Target::Value(port), feeds, &options)?.0)
}

fn filled<T: millstream_tensor::Element>(shape: impl Into<Shape>, value: T) -> Tensor {
    Tensor::fill(shape, &Tensor::scalar(value)).unwrap()
}

/// Numbers in no order.
fn mixed(n: usize) -> Tensor {
    let number = |i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f32;
    Tensor::from_iter([n], (0..n as u64).map(number)).unwrap()
}

/// A matrix that is its own factor.
fn identity(n: usize) -> Tensor {
    Tensor::from_iter([n, n], (0..n * n).map(|i| f32::from(u8::from(i / n == i % n)))).unwrap()
}

/// A sequence of `n` numbers as a sparse tensor.
fn sequence(n: i64) -> [Tensor; 3] {
    let indices = Tensor::from_iter([n as usize, 2], (0..2 * n).map(|i| if i % 2 == 0 { 0 } else { i / 2 }));
    [indices.unwrap(), filled([n as usize], 1i32), Tensor::vector(&[1, n]).unwrap()]
}

fn ints(values: &[i32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn products() -> Vec<Case> {
    let zero = |n: usize| filled([n, n], 0f32);
    vec![
        case("MatMul", vec![zero(6144), zero(6144)]),
        case("MatMul", vec![filled([1000, 1000], 1i64), filled([1000, 1000], 1i64)]),
        case("BatchMatMulV2", vec![filled([4000, 64, 64], 1i32), filled([64, 64], 1i32)]),
        case("Cholesky", vec![identity(1000)]),
        case("Qr", vec![filled([600, 600], 1f32)]),
        case("Svd", vec![identity(500)]),
        case("SelfAdjointEigV2", vec![identity(500)]),
        case("FFT", vec![filled([1 << 20], Complex::new(1f32, 0.0))]),
        case("MatrixInverse", vec![identity(600)]),
        case("MatrixTriangularSolve", vec![identity(1000), identity(1000)]),
        case("MatrixDeterminant", vec![identity(1000)]),
        case("Conv2D", vec![filled([8, 512, 512, 4], 0f32), filled([3, 3, 4, 64], 0f32)])
            .attr("strides", vec![1i64, 1, 1, 1])
            .attr("padding", "SAME"),
        case("EditDistance", [sequence(20_000), sequence(20_000)].concat()),
    ]
}

/// Work of many short pieces, none of which is long enough to look by itself.
fn pieces() -> Vec<Case> {
    let band = ints(&[0, (1 << 20) - 1]);
    let identities = |n: usize| {
        Tensor::from_iter([n, 3, 3], (0..9 * n).map(|i| f32::from(u8::from(i % 9 % 4 == 0)))).unwrap()
    };
    let many = || identities(1 << 19);
    let column = || filled([1 << 19, 3, 1], 1f32);
    vec![
        case("MatrixInverse", vec![many()]),
        case("MatrixDeterminant", vec![many()]),
        case("LogMatrixDeterminant", vec![many()]),
        case("MatrixSolve", vec![many(), column()]),
        case("MatrixTriangularSolve", vec![many(), column()]),
        case("MatrixSolveLs", vec![many(), column(), Tensor::scalar(0f64)]),
        case("Cholesky", vec![many()]),
        case("Lu", vec![many()]),
        case("Qr", vec![many()]),
        case("Svd", vec![many()]),
        case("SelfAdjointEigV2", vec![many()]),
        case("MatrixLogarithm", vec![filled([1 << 16, 2, 2], Complex::new(1f32, 1.0))]),
        case(
            "MatrixBandPart",
            vec![filled([1 << 22, 2, 2], 1f32), Tensor::scalar(0i64), Tensor::scalar(0i64)],
        ),
        case("FFT", vec![filled([1 << 21, 4], Complex::new(1f32, 0.0))]),
        case("RFFT", vec![filled([1 << 21, 4], 1f32), ints(&[4])]),
        case("MatrixSquareRoot", vec![filled([1 << 18, 2, 2], 1f32)]),
        case("MatrixDiagPartV3", vec![filled([1, 1 << 20], 1f32), band, Tensor::scalar(0f32)]),
    ]
}

fn elements() -> Vec<Case> {
    let many = || filled([1 << 24], 0.5f32);
    let grid = || filled([1 << 12, 1 << 12], 0.5f32);
    let row = || filled([1, 1 << 12], 0.5f32);
    vec![
        case("Lgamma", vec![many()]),
        case("AddV2", vec![many(), many()]),
        case("Mul", vec![grid(), row()]),
        case("Less", vec![many(), many()]),
        case("Less", vec![grid(), row()]),
        case("Igamma", vec![many(), many()]),
        case("Betainc", vec![many(), many(), many()]),
        case("Cast", vec![many()]).attr("DstT", DType::F64),
        case("SelectV2", vec![filled([1 << 24], true), many(), many()]),
        case("RandomStandardNormal", vec![ints(&[1 << 24])]).attr("dtype", DType::F32),
        case("RandomGamma", vec![ints(&[1 << 22]), filled([1], 0.5f32)]),
    ]
}

fn reductions() -> Vec<Case> {
    let (axis, many) = (|axis: i32| Tensor::scalar(axis), || filled([1 << 24], 0.5f32));
    let tall = || filled([1 << 18, 64], 0.5f32);
    vec![
        case("Sum", vec![many(), axis(0)]),
        case("Max", vec![tall(), axis(0)]),
        case("Max", vec![filled([64, 1 << 18], 0.5f32), axis(1)]),
        case("Cumsum", vec![many(), axis(0)]),
        case("ArgMax", vec![many(), axis(0)]),
        case("Softmax", vec![filled([2, 1 << 22], 0.5f32)]),
        case("L2Loss", vec![many()]),
        case("TopKV2", vec![mixed(1 << 22), axis(1 << 21)]),
        case("NthElement", vec![mixed(1 << 23), axis(1 << 22)]),
        case("UnsortedSegmentSum", vec![tall(), filled([1 << 18], 3i32), axis(5)]),
        case("Unique", vec![mixed(1 << 22)]),
        case("UniqueV2", vec![mixed(1 << 22).reshape([1 << 21, 2]).unwrap(), ints(&[0])]),
    ]
}

fn strings() -> Vec<Case> {
    let short = Str::new("a string of a few words").unwrap();
    let spaced = Tensor::strings([1], vec![Str::new(b"a ".repeat(4 << 20)).unwrap()]).unwrap();
    let words = || Tensor::strings([1 << 20], vec![short.clone(); 1 << 20]).unwrap();
    vec![
        case("StringJoin", vec![words(), words()]),
        case("ReduceJoin", vec![words().reshape([1 << 19, 2]).unwrap(), ints(&[1])]),
        case("AsString", vec![mixed(1 << 20)]),
        case("StringSplitV2", vec![words(), Tensor::str(" ")]),
        case("StringSplitV2", vec![spaced, Tensor::str(" ")]),
        case("StringToHashBucketFast", vec![words()]).attr("num_buckets", 1000i64),
        case("RegexReplace", vec![words(), Tensor::str("[aeiou]+"), Tensor::str("-")]),
    ]
}

fn images() -> Vec<Case> {
    let (float, int) = (|v: f32| Tensor::scalar(v), |v: i32| Tensor::scalar(v));
    let boxes = || vec![filled([1 << 17, 4], 0f32), filled([1 << 17], 0.5f32), int(1 << 17)];
    let [large, small] = [1 << 11, 1 << 10].map(|side: usize| filled([1, side, side, 1], 0.5f32));
    vec![
        case("NonMaxSuppressionV3", [boxes(), vec![float(0.5), float(-1.0)]].concat()),
        case("NonMaxSuppressionV5", [boxes(), vec![float(0.5), float(-1.0), float(1.0)]].concat()),
        case("ResizeBicubicGrad", vec![large, small]),
        case("ResizeArea", vec![filled([1, 1 << 13, 1 << 13, 1], 1u8), ints(&[1, 1])]),
        case("AdjustContrastv2", vec![filled([1 << 12, 1 << 12, 1], 0.5f32), float(2.0)]),
        case(
            "SampleDistortedBoundingBoxV2",
            vec![ints(&[999, 999, 3]), filled([1, 99, 4], 0.5f32), float(1.0)],
        )
        .attr("max_attempts", i64::MAX),
    ]
}

fn draws() -> Vec<Case> {
    let float = |v: f32| Tensor::scalar(v);
    let never = [float(0.0), float(1.0), float(1e30), float(1.1e30)];
    vec![
        case("ParameterizedTruncatedNormal", [vec![ints(&[1 << 20])], never.to_vec()].concat())
            .attr("dtype", DType::F32),
        case("RandomShuffle", vec![filled([1 << 24], 0.5f32)]),
        case("Multinomial", vec![filled([1, 1 << 20], 0.5f32), Tensor::scalar(1i32 << 24)]),
    ]
}

#[track_caller]
fn check(cases: Vec<Case>) {
    let chosen = std::env::var("DEADLINE_OPS").ok();
    let is_chosen = |op: &str| chosen.as_ref().is_none_or(|list| list.split(',').any(|name| name == op));
    let failed: Vec<String> = cases
        .into_iter()
        .filter(|case| is_chosen(case.op))
        .filter_map(|case| {
            let shapes: Vec<_> = case.inputs.iter().map(|t| t.shape().to_string()).collect();
            case.ends_in_time(chosen.is_some())
                .err()
                .map(|e| format!("{} {}: {e}", case.op, shapes.join(" ")))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn long_kernels_end_with_their_run() {
    // One after another, since time is measured.
    let strings = strings().into_iter().map(|case| Case { op_allocates: true, ..case });
    check(
        [products(), pieces(), elements(), reductions(), images(), draws()]
            .into_iter()
            .flatten()
            .chain(strings)
            .collect(),
    );
}

#[expect(clippy::print_stderr, reason = "asked for by name")]
fn say(text: &str) {
    eprintln!("{text}");
}
