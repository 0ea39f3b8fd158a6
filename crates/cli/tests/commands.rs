//! Every sub-command from the outside: its output, its streams and its exit codes. TensorFlow wrote the
//! graphs.

use millstream::engine::interop::{export_meta_graph, proto};
use millstream::engine::tensor::npy;
use millstream::prelude::*;
use millstream::{Queue, Queues};
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The result of running the program.
struct Ran {
    code: i32,
    out: String,
    err: String,
}

#[track_caller]
fn millstream<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_millstream")).args(args).output().unwrap();
    Ran {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    #[track_caller]
    fn good(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Checks that the program fails with this code and prints nothing to standard output.
    #[track_caller]
    fn fails(self, code: i32, with: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        for text in with {
            assert!(self.err.contains(text), "no `{text}` in: {}", self.err);
        }
    }

    #[track_caller]
    fn json(self) -> Value {
        serde_json::from_str(&self.good()).unwrap()
    }
}

/// Runs `run("graph --feed ..")`: arguments are split at spaces, and the first is a golden graph or a path.
#[track_caller]
fn run(command: &str, line: &str) -> Ran {
    let mut args: Vec<String> = vec![command.to_owned()];
    for (i, word) in line.split_whitespace().enumerate() {
        args.push(if i == 0 && !word.contains(['/', '-']) { golden(word) } else { word.replace('~', " ") });
    }
    millstream(args)
}

fn golden(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/graphs");
    root.join(name).join("graph.pb").to_str().unwrap().to_owned()
}

/// A path in the test's own folder.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("commands");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn slips_get_a_hint() {
    let collatz = "algo_collatz --feed n:0=27";
    let two = format!("{collatz} --fetch while/Exit_1:0,while/Exit_2:0");
    run("run", &two).fails(1, &["give --fetch once for each name: --fetch while/Exit_1:0 --fetch .."]);
    run("run", "algo_collatz n=27")
        .fails(2, &["`n=27` is not an option: to feed a value, write --feed n=27"]);
    run("run", "algo_collatz while/Exit").fails(2, &["to print an output, write --fetch while/Exit"]);
    run("run", &format!("{collatz} --fetch while/Exjt_1:0")).fails(1, &["did you mean", "`while/Exit_1`"]);
    run("svg", "algo_collatz --scope whale")
        .fails(1, &["no node is in the name scope `whale`", "are `while`"]);
    run("run", "algo_newton_sqrt --feed x=1e400 --fetch x").fails(1, &["a number is too large"]);
}

#[test]
fn the_version_tells_features_and_processor() {
    let text = millstream(["--version"]).good();
    for part in [env!("CARGO_PKG_VERSION"), "features: ", "processor: ", "cores", std::env::consts::ARCH] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(millstream(["-V"]).good().lines().count(), 1);
}

#[test]
fn leftovers_of_gradients_are_no_outputs() {
    let text = run("inspect", "grad_cond_in_loop").good();
    let outputs = text.split("outputs (guessed):").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(outputs.contains("gradients/AddN_1:0") && !outputs.contains("b_count"), "{outputs}");
}

#[test]
fn help_is_there_for_all() {
    let help = millstream(["--help"]).good();
    for command in ["run", "inspect", "dot", "svg", "ops", "convert"] {
        assert!(help.contains(command));
        let help = millstream([command, "--help"]).good();
        assert!(help.contains("Examples:") && help.contains(&format!("millstream {command}")), "{help}");
    }
    assert!(millstream(["--version"]).good().starts_with("millstream "));
}

#[test]
fn bad_usage_is_2() {
    let collatz = golden("algo_collatz");
    for args in [
        vec![],
        vec!["walk"],
        vec!["run"],
        vec!["run", &collatz, "--fetch"],
        vec!["run", &collatz, "--feed", "n"],
        vec!["run", &collatz, "--feed", "=3"],
        vec!["run", &collatz, "--feed", "n=@values.txt"],
        vec!["run", &collatz, "--timeout", "-1"],
        vec!["run", &collatz, "--timeout", "soon"],
        vec!["run", &collatz, "--stall-grace", "ever"],
        vec!["run", &collatz, "--memory-limit", "lots"],
        vec!["run", &collatz, "--threads", "0"],
        vec!["run", &collatz, "--parallel-iterations", "0"],
        vec!["run", &collatz, "--fetch", "n", "--feed", "n=1", "--feed", "n:0=2"],
        vec!["run", &collatz, "--feed", "n=3", "--watch", "n=nan"],
        vec!["run", &collatz, "--fetch", "n", "--watch", "n"],
        vec!["run", &collatz, "--fetch", "n", "--watch", "=nan"],
        vec!["run", &collatz, "--fetch", "n", "--watch", "n=odd"],
        vec!["run", &collatz, "--fetch", "n", "--watch-all", "any"],
        vec!["convert", &collatz],
        vec!["convert", &collatz, "graph.unknown"],
        vec!["convert", &collatz, "-", "--to", "json"],
        vec!["dot"],
        vec!["svg"],
        vec!["svg", &collatz, "--limit", "some"],
        vec!["inspect"],
    ] {
        let ran = millstream(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(!ran.err.is_empty(), "{args:?}");
    }
}

#[test]
fn values_are_printed() {
    let out = run("run", "algo_collatz --feed n=27 --fetch while/Exit_1 --fetch while/Exit_2:0").good();
    assert_eq!(out, "while/Exit_1 = i32 111\nwhile/Exit_2:0 = i64 9232\n");
}

#[test]
fn values_are_json() {
    let json = run("run", "algo_collatz --feed n:0=27 --fetch while/Exit_1:0 --json").json();
    assert_eq!(
        json,
        serde_json::json!({"fetches": [{"name": "while/Exit_1:0", "dtype": "int32", "shape": [], "value": 111}]})
    );
}

#[test]
fn all_iterations_are_printed() {
    let line = "algo_collatz --feed n=6 --every while/Identity --every while/Less:0";
    let out = run("run", &line.replace("while/Less:0", "while/Identity_1")).good();
    assert_eq!(
        out,
        "while/Identity = i64[8] [6 3 10 5 16 8 4 2]\nwhile/Identity_1 = i32[8] [0 1 2 3 4 5 6 7]\n"
    );
    let json =
        run("run", "algo_collatz --feed n=4 --fetch while/Exit_1 --every while/Identity --json").json();
    let at = |i: i64, value: i64| serde_json::json!({"at": [i], "shape": [], "value": value});
    assert_eq!(json["fetches"][0]["value"], 2);
    assert_eq!(
        json["every"],
        serde_json::json!([{"name": "while/Identity", "dtype": "int64", "loops": ["while/while_context"],
            "iterations": [at(0, 4), at(1, 2)]}])
    );
    let archive = scratch("every.npz");
    let path = archive.to_str().unwrap();
    run("run", &format!("algo_collatz --feed n=4 --every while/Identity:0 --out {path}")).good();
    let read = npy::read_npz(File::open(&archive).unwrap()).unwrap();
    let arrays: Vec<String> = read.iter().map(|(name, value)| format!("{name} {value}")).collect();
    assert_eq!(arrays, ["while/Identity:0 i64[2] [4 2]", "while/Identity:0/at i64[2,1] [[0] [1]]"]);
    run("run", "algo_collatz --feed n=4 --every while/Exit")
        .fails(1, &["`while/Exit` is outside every loop"]);
    run("run", "algo_collatz --feed n=4 --every nowhere").fails(1, &["error: NOT_FOUND: ", "--every"]);
}

#[test]
fn nested_loops_are_printed_by_iteration() {
    let graph = scratch("nested.pbtxt");
    fs::write(&graph, nested()).unwrap();
    let graph = graph.to_str().unwrap();
    let lines = "sum in iteration 1,0 = i32 1\nsum in iteration 2,0 = i32 2\nsum in iteration 2,1 = i32 3\n";
    assert_eq!(run("run", &format!("{graph} --every sum")).good(), lines);
}

/// A graph of `for i in 0..3 { for j in 0..i { sum = i + j } }`.
fn nested() -> String {
    let attr = |name: &str, value: &str| format!("attr {{ key: '{name}' value {{ {value} }} }}");
    let node = |name: &str, op: &str, inputs: &str| {
        let inputs: String = inputs.split_whitespace().map(|i| format!("input: '{i}' ")).collect();
        let ty = if op == "LoopCond" { String::new() } else { attr("T", "type: DT_INT32") };
        format!("node {{ name: '{name}' op: '{op}' {inputs} {ty} }}\n")
    };
    let constant = |name: &str, value: i32| {
        let tensor = format!("tensor {{ dtype: DT_INT32 tensor_shape {{}} int_val: {value} }}");
        format!(
            "node {{ name: '{name}' op: 'Const' {} {} }}\n",
            attr("dtype", "type: DT_INT32"),
            attr("value", &tensor)
        )
    };
    let enter = |name: &str, input: &str, frame: &str, fixed: bool| {
        let attrs =
            attr("frame_name", &format!("s: '{frame}'")) + &attr("is_constant", &format!("b: {fixed}"));
        format!(
            "node {{ name: '{name}' op: 'Enter' input: '{input}' {} {attrs} }}\n",
            attr("T", "type: DT_INT32")
        )
    };
    let merge = |name: &str, inputs: &str| {
        node(name, "Merge", inputs).replace(" }\n", &format!("{} }}\n", attr("N", "i: 2")))
    };
    [
        constant("zero", 0),
        constant("one", 1),
        constant("three", 3),
        enter("i0", "zero", "outer", false),
        enter("limit", "three", "outer", true),
        enter("one_outer", "one", "outer", true),
        enter("zero_outer", "zero", "outer", true),
        merge("i", "i0 i_next"),
        node("i_less", "Less", "i limit"),
        node("i_cond", "LoopCond", "i_less"),
        node("i_switch", "Switch", "i i_cond"),
        node("i_body", "Identity", "i_switch:1"),
        node("start", "Mul", "i_body zero_outer"),
        enter("j0", "start", "inner", false),
        enter("i_inner", "i_body", "inner", true),
        enter("one_inner", "one_outer", "inner", true),
        merge("j", "j0 j_next"),
        node("j_less", "Less", "j i_inner"),
        node("j_cond", "LoopCond", "j_less"),
        node("j_switch", "Switch", "j j_cond"),
        node("j_body", "Identity", "j_switch:1"),
        node("sum", "AddV2", "j_body i_inner"),
        node("j_add", "AddV2", "j_body one_inner"),
        node("j_next", "NextIteration", "j_add"),
        node("j_exit", "Exit", "j_switch"),
        node("i_add", "AddV2", "i_body one_outer"),
        node("i_next", "NextIteration", "i_add"),
        node("i_exit", "Exit", "i_switch"),
    ]
    .concat()
}

#[test]
fn watches_stop_a_run() {
    run("run", "algo_collatz --feed n=27 --fetch while/Exit --watch while/Identity=any").fails(
        1,
        &[
            "error: INVALID_ARGUMENT: a watch stopped the run: `while/Identity:0` has a value: i64 27",
            "iteration 0 of loop",
        ],
    );
    run("run", "algo_collatz --feed n=27 --fetch while/Exit --watch while/Identity=nan")
        .fails(1, &["its dtype i64 has no such value"]);
    run("run", "algo_collatz --feed n=27 --fetch while/Exit --watch nowhere=nan")
        .fails(1, &["error: NOT_FOUND: ", "--watch"]);
    let newton = "algo_newton_sqrt --feed x=[4~1~0~9] --fetch while/Exit";
    let first = [
        "`while/truediv:0` has NaN: f64[4] [1 1 nan 1]",
        "iteration 0 of loop `while/while_context`",
        "is at 2",
        "computed from",
    ];
    run("run", &format!("{newton} --watch-all nan")).fails(1, &first);
    run("run", &format!("{newton} --watch while/truediv=not-finite --threads 2")).fails(1, &first[1..]);
    run("run", &format!("{newton} --watch-all inf")).good();
    run("run", &format!("{newton} --watch-all infinite")).good();
}

#[test]
fn the_values_do_not_depend_on_threads_and_iterations() {
    for extra in [
        "--threads 1",
        "--threads 4",
        "--parallel-iterations 1",
        "--parallel-iterations 32 --threads 2",
        "--no-compile",
        "--passes -fold,-forward,-absorb,-accumulate,-narrow,-fuse,-order,-bypass,-straight",
    ] {
        let out = run("run", &format!("algo_collatz --feed n=27 --fetch while/Exit_1 {extra}")).good();
        assert_eq!(out, "while/Exit_1 = i32 111\n", "{extra}");
    }
    run("run", "algo_collatz --feed n=27 --fetch while/Exit_1 --passes -fusion")
        .fails(2, &["`-fusion` is not a pass to leave out"]);
}

#[test]
fn explains_how_loops_run() {
    let text = run("explain", "algo_collatz --fetch while/Exit_1").good();
    assert!(text.contains("runs as compiled code."), "{text}");
    let code = run("explain", "algo_collatz --fetch while/Exit_1 --show code").good();
    assert!(code.contains("outermost loop"), "{code}");
    let machine = run("explain", "algo_collatz --fetch while/Exit_1 --show machine").good();
    assert!(machine.contains("ret"), "{machine}");
    let json = run("explain", "algo_collatz --fetch while/Exit_1 --json").good();
    assert!(json.contains("\"way\":\"code\"") && json.contains("\"instructions\":"), "{json}");
    let tokens = run("explain", "algo_collatz --fetch while/Exit_1 --no-compile --json").good();
    assert!(tokens.contains("\"way\":\"tokens\""), "{tokens}");
    run("explain", "algo_collatz --fetch nowhere").fails(1, &["NOT_FOUND", "`nowhere`"]);
}

#[test]
fn a_run_explains_itself() {
    let text = run("run", "algo_collatz --feed n=27 --fetch while/Exit_1 --explain").good();
    assert!(text.starts_with("while/Exit_1 = i32 111\n") && text.contains("ns an iteration."), "{text}");
    let json = run("run", "algo_collatz --feed n=27 --fetch while/Exit_1 --explain=code --json").good();
    assert!(json.contains("\"explain\":") && json.contains("\"ns_per_iteration\":"), "{json}");
}

#[test]
fn nothing_asked_for_lists_what_there_is() {
    run("run", "algo_collatz --feed n=27").fails(2, &["--fetch", "while/Exit_2:0 (i64"]);
    run("run", "ref_loop_assign_add").fails(2, &["likely operations:", "init"]);
}

#[test]
fn errors_have_their_code() {
    run("run", "algo_collatz --feed m=27 --fetch while/Exit")
        .fails(1, &["error: NOT_FOUND: ", "`m`", "--feed"]);
    run("run", "algo_collatz --feed n=27 --fetch out").fails(1, &["error: NOT_FOUND: ", "`out`", "--fetch"]);
    run("run", "algo_collatz --feed n=27 --init out").fails(1, &["error: NOT_FOUND: ", "--init"]);
    run("run", "algo_collatz --feed n=27 --fetch while/Exit:1")
        .fails(1, &["error: INVALID_ARGUMENT: ", "while/Exit:1"]);
    run("run", "algo_collatz --feed n=1.5 --fetch while/Exit")
        .fails(1, &["error: INVALID_ARGUMENT: ", "i64"]);
    run("run", "algo_collatz --feed n=[1~2] --fetch while/Exit")
        .fails(1, &["error: INVALID_ARGUMENT: ", "shape"]);
    run("run", "algo_collatz --feed n=[1 --fetch while/Exit")
        .fails(1, &["error: INVALID_ARGUMENT: ", "--feed"]);
    run("run", "algo_collatz --fetch while/Exit").fails(1, &["error: INVALID_ARGUMENT: ", "`n`"]);
    run("run", "algo_collatz --feed n=27 --fetch while/add")
        .fails(1, &["error: INVALID_ARGUMENT: ", "inside the loop"]);
    run("run", "error_assert_in_inner_loop --fetch while/Exit_1").fails(1, &["error: INVALID_ARGUMENT: "]);
    run("run", "nowhere/graph.pb --fetch x").fails(1, &["error: NOT_FOUND: ", "nowhere/graph.pb"]);
    // The place where the importer made a node is not shown.
    let ran = run("run", "error_assert_in_inner_loop --fetch while/Exit_1");
    assert!(!ran.err.contains("built at"), "{}", ran.err);
}

#[test]
fn time_and_memory_are_bounded() {
    let endless = scratch("endless.pbtxt");
    fs::write(&endless, ENDLESS).unwrap();
    let endless = endless.to_str().unwrap();
    run("run", &format!("{endless} --fetch exit --timeout 0.2"))
        .fails(1, &["error: DEADLINE_EXCEEDED: ", "the run was in iteration ", " of loop `f`"]);
    run("run", &format!("{endless} --fetch exit --timeout 0.000000001"))
        .fails(1, &["did not end in the time allowed"]);
    // The limit is that of the whole command: two runs do not have twice the time.
    let both = format!("{endless} --init exit --fetch exit --timeout 0.5");
    let begin = Instant::now();
    run("run", &both).fails(1, &["error: DEADLINE_EXCEEDED: ", "in --init    `exit`"]);
    assert!(begin.elapsed() < Duration::from_secs(10));
    let limit = "--memory-limit 100";
    run("run", &format!("algo_collatz --feed n=27 --fetch while/Exit {limit}"))
        .fails(1, &["error: RESOURCE_EXHAUSTED: "]);
    let huge = scratch("huge.pbtxt");
    fs::write(&huge, HUGE).unwrap();
    let huge = huge.to_str().unwrap();
    for extra in ["--fetch fill", "--fetch const"] {
        run("run", &format!("{huge} --memory-limit 1M {extra}")).fails(1, &["error: RESOURCE_EXHAUSTED: "]);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_what_the_run_was_doing() {
    let endless = scratch("interrupted.pbtxt");
    fs::write(&endless, ENDLESS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.arg("run").arg(&endless).args(["--fetch", "exit"]).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let begin = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    for text in ["error: CANCELLED: the run was interrupted", "the run was in iteration ", " of loop `f`"] {
        assert!(error.contains(text), "no `{text}` in {error}");
    }
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// A graph of `while true: i = i`.
const ENDLESS: &str = r#"
node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 0 } } } }
node { name: "true" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
  attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: true } } } input: "^merge" }
node { name: "enter" op: "Enter" input: "zero" attr { key: "T" value { type: DT_INT32 } } attr { key: "frame_name" value { s: "f" } } }
node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_INT32 } } attr { key: "N" value { i: 2 } } }
node { name: "cond" op: "LoopCond" input: "true" }
node { name: "switch" op: "Switch" input: "merge" input: "cond" attr { key: "T" value { type: DT_INT32 } } }
node { name: "next" op: "NextIteration" input: "switch:1" attr { key: "T" value { type: DT_INT32 } } }
node { name: "exit" op: "Exit" input: "switch:0" attr { key: "T" value { type: DT_INT32 } } }
"#;

/// A small file that claims much memory, when it is imported and when it runs.
const HUGE: &str = r#"
node { name: "dims" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
  attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 1000000 } } } }
node { name: "one" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape {} } } }
node { name: "const" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1000000 } } float_val: 1 } } } }
node { name: "fill" op: "Fill" input: "dims" input: "const" attr { key: "T" value { type: DT_FLOAT } } }
"#;

#[test]
fn initialisers_run_first() {
    // `v` is a variable and `init` assigns it; the loop adds to it.
    let out = run("run", "ref_loop_assign_add --init init --feed n=3 --fetch Exit --fetch RefExit:0").good();
    assert!(out.starts_with("Exit = i32 3\nRefExit:0 = f32 "), "{out}");
    run("run", "ref_loop_assign_add --feed n=3 --fetch Exit --fetch RefExit")
        .fails(1, &["error: FAILED_PRECONDITION: "]);
    // Initialisers alone are accepted, and so are feeds that they do not need, and operations as fetches or
    // targets.
    for asked in ["--init init", "--init init --init ^init", "--fetch init", "--target init", "--fetch ^init"]
    {
        assert_eq!(run("run", &format!("ref_loop_assign_add --feed n=3 {asked}")).good(), "");
    }
    let json = run("run", "ref_loop_assign_add --feed n=3 --fetch init --json").json();
    assert_eq!(json, serde_json::json!({"fetches": []}));
}

#[test]
fn strings_need_no_quotes() {
    let args = |feed: &str| {
        vec![
            "run".into(),
            golden("algo_string_reverse_words"),
            "--feed".into(),
            feed.to_owned(),
            "--fetch".into(),
            "while/Exit_1".into(),
            "--json".into(),
        ]
    };
    let plain = millstream(args("line=to be or not")).json();
    assert_eq!(plain, millstream(args("line=\"to be or not\"")).json());
    assert_eq!(plain["fetches"][0]["dtype"], "string");
}

#[test]
fn arrays_come_from_and_go_to_numpy_files() {
    let (npy, npz, out) = (scratch("n.npy"), scratch("feeds.npz"), scratch("out.npz"));
    let n = Tensor::scalar(27i64);
    npy::write(&mut File::create(&npy).unwrap(), &n).unwrap();
    let other = Tensor::scalar(6i64);
    let arrays = [("n:0", &n), ("m", &other)];
    npy::write_npz(File::create(&npz).unwrap(), arrays, npy::Compression::Deflated).unwrap();
    let (npy, npz) = (npy.to_str().unwrap(), npz.to_str().unwrap());
    for (feed, want) in [
        (format!("n=@{npy}"), 111),
        (format!("n=@{npz}:n:0"), 111),
        (format!("n=@{npz}"), 111),
        (format!("n:0=@{npz}:m"), 8),
    ] {
        let asked = "--fetch while/Exit_1 --fetch while/Exit_2:0 --fetch while/Exit_1";
        run("run", &format!("algo_collatz --feed {feed} {asked} --out {}", out.display())).good();
        let got = npy::read_npz(File::open(&out).unwrap()).unwrap();
        let names: Vec<_> = got.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["while/Exit_1", "while/Exit_2:0"], "{feed}");
        assert_eq!(got[0].1.to_scalar::<i32>().unwrap(), want, "{feed}");
    }
    let fetch = "--fetch while/Exit_1";
    run("run", &format!("algo_collatz --feed n=@{npz}:k {fetch}"))
        .fails(1, &["error: NOT_FOUND: ", "`k`", "`m`"]);
    run("run", &format!("algo_collatz --feed n=@none.npy {fetch}"))
        .fails(1, &["error: NOT_FOUND: ", "none.npy"]);
    run("run", &format!("algo_collatz --feed @{npz} {fetch}")).fails(1, &["error: NOT_FOUND: ", "`m`"]);
    run("run", &format!("algo_collatz --feed n=1 {fetch} --out no/such/folder.npz"))
        .fails(1, &["error: NOT_FOUND: "]);
    let damaged = scratch("damaged.npz");
    fs::write(&damaged, "PK no zip").unwrap();
    run("run", &format!("algo_collatz --feed n=@{} {fetch}", damaged.display()))
        .fails(1, &["error: DATA_LOSS: "]);
}

#[test]
fn a_trace_is_written() {
    let path = scratch("trace.json");
    run("run", &format!("algo_collatz --feed n=6 --fetch while/Exit_1 --trace {}", path.display())).good();
    let trace: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let loops = events.iter().filter(|e| e["args"]["node"] == "while/NextIteration").count();
    assert!((8..=10).contains(&loops), "{loops} iterations");
    assert!(events.iter().any(|e| e["args"]["iteration"] == 7));
}

#[test]
fn graphs_come_from_the_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_millstream"))
        .args(["run", "-", "--feed", "n=6", "--fetch", "while/Exit_1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(golden("algo_collatz")).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"while/Exit_1 = i32 8\n");
}

#[test]
fn what_is_no_graph_is_an_error_everywhere() {
    let path = scratch("noise.pb");
    let folder = scratch("folder");
    fs::create_dir_all(&folder).unwrap();
    for bytes in [&b""[..], b"node {", b"\xff\xff\xff\xff", b"{\"a\": 1}", b"\x0a\x05hello", &[0; 100]] {
        fs::write(&path, bytes).unwrap();
        for command in ["inspect", "dot", "svg", "run", "convert"] {
            let mut args = vec![command, path.to_str().unwrap()];
            match command {
                "run" => args.extend(["--fetch", "x"]),
                "convert" => args.extend(["-", "--to", "text"]),
                _ => {}
            }
            millstream(&args).fails(1, &["error: ", "noise.pb"]);
        }
    }
    millstream(["inspect", folder.to_str().unwrap()]).fails(1, &["error: NOT_FOUND: ", "saved_model.pb"]);
}

#[test]
fn a_graph_is_inspected() {
    let out = run("inspect", "algo_collatz").good();
    for text in [
        "GraphDef, 43 nodes of 16 op types",
        "n:0  i64[]  Placeholder",
        "while/Exit_1:0  i32",
        "loops and conds (1 and 1):",
        "loop `while/while_context`: parallel_iterations 10, runs while `while/NotEqual:0`",
        "from `n:0`",
        "next `while/cond/Merge:0`",
        "result `while/Exit:0`",
        "cond `while/cond` on `while/Equal:0`",
        "NextIteration  3",
    ] {
        assert!(out.contains(text), "no `{text}` in:\n{out}");
    }
}

#[test]
fn a_graph_is_inspected_as_json() {
    let json = run("inspect", "loop_nested_three --json").json();
    assert_eq!(
        (&json["kind"], &json["missing"], &json["error"]),
        (&"GraphDef".into(), &Value::Array(vec![]), &Value::Null)
    );
    let mut depth = 0;
    let mut at = &json["control_flow"][0];
    while at["kind"] == "loop" {
        assert!(at["variables"].as_array().is_some_and(|v| !v.is_empty()));
        (depth, at) = (depth + 1, &at["inside"][0]);
    }
    assert_eq!(depth, 3);
    let json = run("inspect", "cond_nested_10 --json").json();
    let outer = &json["control_flow"][0];
    assert_eq!(
        (&outer["kind"], &outer["when_true"][0]["kind"], &outer["when_false"][0]["kind"]),
        (&"cond".into(), &"cond".into(), &"cond".into())
    );
}

/// The path of a golden model: a MetaGraphDef or the folder of a SavedModel.
fn model(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/models");
    root.join(name).to_str().unwrap().to_owned()
}

#[test]
fn loops_are_shown_whole() {
    // A GraphDef holds `parallel_iterations`. `maximum_iterations` is recognised by its counter, and the rest
    // is unknown.
    let out = run("inspect", "loop_max_tensor").good();
    for text in ["parallel_iterations 10", "back_prop unknown, swap_memory unknown", "#0 `while/Enter`"] {
        assert!(out.contains(text), "no `{text}` in:\n{out}");
    }
    assert!(!out.contains("maximum_iterations unknown"), "{out}");
    assert!(run("inspect", "loop_captures").good().contains("constant in every iteration: `"));
    let known = run("inspect", &model("meta_algo_collatz.pb")).good();
    assert!(known.contains("maximum_iterations none, back_prop true, swap_memory false"), "{known}");
    // Dimensions that grow are unknown, and all others are known.
    let grows = run("inspect", "loop_shape_empty_grows --json").json();
    let variables = grows["control_flow"][0]["variables"].as_array().unwrap().clone();
    let is = |v: &Value, entry: &str, kept: &str| v["enters_as"] == entry && v["invariant"] == kept;
    assert!(variables.iter().any(|v| v["enters_as"] != v["invariant"]), "{variables:#?}");
    assert!(variables.iter().any(|v| is(v, "i32[]", "i32[]")), "{variables:#?}");
}

#[test]
fn what_makes_no_cond_is_said() {
    let out = run("inspect", "raw_dead_branch_feeds_merge").good();
    assert!(out.contains("irregular, so it has no contexts: `Merge` merges something other"), "{out}");
    assert!(!run("inspect", "cond_deep").good().contains("irregular"));
}

#[test]
fn models_of_all_forms_open() {
    for (name, kind) in [
        ("meta_algo_collatz.pb", "MetaGraphDef"),
        ("meta_algo_collatz.pbtxt", "MetaGraphDef"),
        ("saved_1_loop", "SavedModel"),
        ("saved_1_loop/saved_model.pb", "SavedModel"),
        ("saved_1_variables", "SavedModel"),
        ("saved_2_loop", "SavedModel"),
        ("saved_2_variables", "SavedModel"),
    ] {
        let out = millstream(["inspect", &model(name)]).good();
        assert!(out.contains(&format!(": {kind}, ")), "{name}: {out}");
        let drawn = millstream(["dot", &model(name)]).good();
        assert!(drawn.starts_with("digraph"), "{name}");
    }
    let collatz = model("meta_algo_collatz.pbtxt");
    let out = run("run", &format!("{collatz} --feed n=27 --fetch while/Exit_1")).good();
    assert_eq!(out, "while/Exit_1 = i32 111\n");
    let (one, two) = (model("saved_1_loop"), model("saved_2_loop"));
    assert_eq!(run("run", &format!("{one} --feed x=3 --fetch y")).good(), "y = f32 192\n");
    let out = run("run", &format!("{two} --feed serving_default_x=3 --fetch PartitionedCall")).good();
    assert_eq!(out, "PartitionedCall = f32 192\n");
    run("run", &format!("{two} --fetch PartitionedCall"))
        .fails(1, &["error: INVALID_ARGUMENT: ", "`serving_default_x`"]);
}

#[test]
fn saved_variables_are_restored() {
    let one = model("saved_1_variables");
    for path in [one.clone(), format!("{one}/saved_model.pb")] {
        assert_eq!(run("run", &format!("{path} --feed x=1 --fetch y")).good(), "y = f32 243\n");
    }
    let two = model("saved_2_variables");
    let out = run("run", &format!("{two} --feed serving_default_x=3 --fetch StatefulPartitionedCall")).good();
    assert_eq!(out, "StatefulPartitionedCall = f32 9\n");
}

#[test]
fn damaged_variables_are_said() {
    let folder = scratch("damaged_model");
    fs::create_dir_all(folder.join("variables")).unwrap();
    let from = PathBuf::from(model("saved_1_variables"));
    let data = "variables/variables.data-00000-of-00001";
    for file in ["saved_model.pb", "variables/variables.index", data] {
        fs::copy(from.join(file), folder.join(file)).unwrap();
    }
    let mut bytes = fs::read(folder.join(data)).unwrap();
    bytes[0] ^= 1;
    fs::write(folder.join(data), bytes).unwrap();
    run("run", &format!("{} --feed x=1 --fetch y", folder.display()))
        .fails(1, &["error: DATA_LOSS: ", "checksum", "while restoring the variables of"]);
}

#[test]
fn functions_are_listed_and_their_loops_shown() {
    let out = run("inspect", "tf2_while_counter").good();
    assert!(out.contains("functions:") && out.contains("loop `"), "{out}");
}

#[test]
fn missing_ops_are_named() {
    let path = scratch("missing.pbtxt");
    fs::write(&path, "node { name: \"a\" op: \"Frobnicate\" } node { name: \"b\" op: \"Frobnicate\" }")
        .unwrap();
    let ran = millstream(["inspect", path.to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.out.contains("unsupported ops (omitted: 2 nodes are or need them):\n  Frobnicate  2  `a`, `b`"),
        "{}",
        ran.out
    );
    assert!(ran.err.starts_with("error: UNIMPLEMENTED: "), "{}", ran.err);
    let ran = millstream(["inspect", path.to_str().unwrap(), "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &json["missing"][0]["op"], &json["missing"][0]["count"]),
        (1, &"Frobnicate".into(), &2.into())
    );
    assert_eq!((&json["inputs"], &json["error"]["code"]), (&Value::Array(vec![]), &"UNIMPLEMENTED".into()));
    for line in ["dot", "svg", "run"] {
        let mut args = vec![line, path.to_str().unwrap()];
        args.extend(if line == "run" { vec!["--fetch", "a"] } else { vec![] });
        millstream(args).fails(1, &["error: UNIMPLEMENTED: ", "Frobnicate"]);
    }
}

#[test]
fn what_needs_no_missing_op_runs() {
    let path = scratch("partly_missing.pbtxt");
    let constant = "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }
        attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 7 } } } }";
    let negated = |name: &str, of: &str| {
        format!(
            "node {{ name: '{name}' op: 'Neg' input: '{of}' attr {{ key: 'T' value {{ type: DT_INT32 }} }} }}"
        )
    };
    let unknown = "node { name: 'x' op: 'Frobnicate' input: 'c' }";
    fs::write(&path, format!("{constant} {} {unknown} {}", negated("y", "c"), negated("z", "x"))).unwrap();
    let run = |arguments: &[&str]| millstream([&["run", path.to_str().unwrap()], arguments].concat());
    assert_eq!(run(&["--fetch", "y"]).good(), "y = i32 -7\n");
    let needs =
        "error: UNIMPLEMENTED: node `z` needs `x`, whose op type `Frobnicate` is not in the op library";
    for arguments in [["--fetch", "z"], ["--target", "z"], ["--every", "z"], ["--init", "z:0"]] {
        run(&arguments).fails(1, &[needs]);
    }
    run(&["--fetch", "y", "--feed", "z=1"]).fails(1, &[needs]);
    run(&["--fetch", "x:1"]).fails(1, &["the op type `Frobnicate` of node `x` is not in the op library"]);
    let shown = millstream(["inspect", path.to_str().unwrap()]);
    assert_eq!(shown.code, 1);
    for part in
        ["unsupported ops (omitted: 2 nodes are or need them):\n  Frobnicate  1  `x`", "y:0  i32[]  Neg"]
    {
        assert!(shown.out.contains(part), "{}", shown.out);
    }
}

#[test]
fn a_graph_is_drawn() {
    let out = run("dot", "loop_nested_three").good();
    assert!(out.starts_with("digraph millstream {") && out.ends_with("}\n"));
    let braces = |c: char| out.chars().filter(|x| *x == c).count();
    assert_eq!(braces('{'), braces('}'));
    // Three nested loops.
    assert_eq!(out.matches("subgraph cluster_").count(), 3);
    let (a, b, c) =
        (out.find("cluster_1 ").unwrap(), out.find("cluster_2 ").unwrap(), out.find("cluster_3 ").unwrap());
    assert!(a < b && b < c);
    assert!(!out[a..c].contains("\n  }"), "the outer loop is closed before the inner one");
    assert!(out.contains("label=\" back: ") && out.contains("constraint=false"));
    // The Switch that brings a value into a branch is drawn inside its box.
    let collatz = run("dot", "algo_collatz").good();
    for box_of in ["while/cond is true", "while/cond is false"] {
        let from = collatz.find(box_of).unwrap();
        let inside = &collatz[from..from + collatz[from..].find("\n    }").unwrap()];
        assert_eq!(
            inside.matches("\\nSwitch\"").count() + inside.matches("label=\"Switch\"").count(),
            1,
            "{inside}"
        );
    }
    assert!(run("dot", "cond_nested_10").good().matches("is true").count() >= 2);
    assert!(run("dot", "cond_control_dependency").good().contains("style=dashed, arrowhead=open"));
}

#[test]
fn a_graph_is_a_picture() {
    let out = run("svg", "loop_nested_three").good();
    assert!(out.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && out.ends_with("</svg>\n"));
    assert_eq!(out.matches("<g class=\"loop\"><title>").count(), 3);
    // Another scope, and then a limit of three boxes.
    let whole = out.matches("<g class=\"frame\"><title>").count();
    let inner = run("svg", "loop_nested_three --scope while/while").good();
    assert!((1..whole).contains(&inner.matches("<g class=\"frame\"><title>").count()));
    let small = run("svg", "loop_nested_three --limit 3").good();
    assert!(
        small.contains("are folded into dashed boxes") && small.matches("<title>").count() < 20,
        "{small}"
    );
}

#[test]
fn names_that_need_quoting_are_drawn() {
    let path = scratch("quotes.pbtxt");
    let node = r#"node { name: "s" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
      attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "a\"b\\c\n" } } } }"#;
    fs::write(&path, node).unwrap();
    let out = millstream(["dot", path.to_str().unwrap()]).good();
    assert!(out.contains(r#"label="s\nConst\nstr \"a\\\"b\\\\c\\n\"""#), "{out}");
}

#[test]
fn ops_are_listed() {
    let out = millstream(["ops"]).good();
    assert!(out.lines().count() > 190, "{} ops", out.lines().count());
    assert!(out.lines().any(|l| l.starts_with("Enter ")));
    let json = millstream(["ops", "--json"]).json();
    assert_eq!(json["ops"].as_array().unwrap().len(), out.lines().count());
    assert!(json["ops"].as_array().unwrap().iter().all(|op| op["doc"] != ""));
}

#[test]
fn an_op_is_told() {
    let out = millstream(["ops", "Tile"]).good();
    for text in [
        "Tile(input: T, multiples: Tmultiples) -> (output: T)",
        "attributes:",
        "default i32",
        "examples:",
        "Tile([1 2], [2]) = [1 2 1 2]",
    ] {
        assert!(out.contains(text), "{out}");
    }
    let json = millstream(["ops", "Tile", "--json"]).json();
    assert_eq!((&json["name"], &json["inputs"][1]["name"]), (&"Tile".into(), &"multiples".into()));
    millstream(["ops", "Tyle"]).fails(1, &["error: NOT_FOUND: ", "Tile"]);
    millstream(["ops", "Zzzzzzzzzzzzzz"]).fails(1, &["error: NOT_FOUND: ", "millstream ops"]);
}

/// A program that answers is found. One that fails is not, nor is one that is missing.
#[cfg(unix)]
#[test]
fn the_doctor_tells_what_is_missing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("doctor");
    fs::create_dir_all(&folder).unwrap();
    let programs =
        [("mpirun", "echo; echo 'mpirun (An MPI) 4.1'"), ("python3", "echo no; exit 3"), ("mpicc", "exit 0")];
    for (name, script) in programs {
        fs::write(folder.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let doctor = |args: &[&str]| {
        let mut doctor = Command::new(env!("CARGO_BIN_EXE_millstream"));
        let output = doctor.arg("doctor").args(args).env("PATH", &folder).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = doctor(&[]);
    assert!(text.contains("mpirun: mpirun (An MPI) 4.1\n"), "{text}");
    assert!(text.contains("not found (pip install mpi4py)"), "{text}");
    assert!(text.contains("not found (Debian: apt-get install libopenmpi-dev libclang-dev)"), "{text}");
    let json: Value = serde_json::from_str(&doctor(&["--json", "--python", "mpirun"])).unwrap();
    let found = json["found"].as_array().unwrap();
    assert_eq!(found.len(), 4);
    assert_eq!(found[1]["answer"], "mpirun: mpirun (An MPI) 4.1");
    assert_eq!((found[3]["name"].as_str(), found[3]["answer"].as_null()), (Some("store"), Some(())));
}

#[test]
fn graphs_are_converted_there_and_back() {
    let (text, binary) = (scratch("collatz.pbtxt"), scratch("collatz.pb"));
    let from = golden("algo_collatz");
    assert_eq!(millstream(["convert", &from, text.to_str().unwrap()]).good(), "");
    assert!(fs::read_to_string(&text).unwrap().starts_with("node {\n  name: \"n\"\n"));
    assert_eq!(millstream(["convert", text.to_str().unwrap(), binary.to_str().unwrap()]).good(), "");
    // Converting twice gives the same bytes.
    let again = scratch("again.pb");
    millstream(["convert", binary.to_str().unwrap(), again.to_str().unwrap()]).good();
    assert_eq!(fs::read(&binary).unwrap(), fs::read(&again).unwrap());
    for graph in [&text, &binary] {
        let out = run("run", &format!("{} --feed n=27 --fetch while/Exit_1", graph.display())).good();
        assert_eq!(out, "while/Exit_1 = i32 111\n");
    }
    let out = run("convert", "algo_collatz - --to text").good();
    assert_eq!(out, fs::read_to_string(&text).unwrap());
    // The requested form takes precedence over the name.
    let odd = scratch("odd.pb");
    millstream(["convert", &from, odd.to_str().unwrap(), "--to", "text"]).good();
    assert_eq!(fs::read_to_string(&odd).unwrap(), out);
    run("convert", "nowhere/graph.pb out.pbtxt").fails(1, &["error: NOT_FOUND: "]);
    run("convert", "algo_collatz no/such/folder/out.pbtxt").fails(1, &["error: NOT_FOUND: "]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_millstream"))
        .args(["ops", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Queue runners are started on request; without them the error names the queue that the run waits for.
#[test]
fn queue_runners_are_started_and_queues_shown() {
    let g = Graph::new();
    let q = Queue::fifo(&g, 4, [DType::I32]).shapes([shape![]]).build().unwrap();
    let put = q.enqueue([g.constant(7)]).unwrap();
    g.add_queue_runner(&q.runner([put]));
    let [batch] = q.dequeue_many(3).unwrap().all().unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("queue_runners.pb");
    fs::write(&path, proto::encode(&export_meta_graph(&g).unwrap())).unwrap();
    let line = format!("{} --fetch {}", path.display(), batch.name());

    let out = run("run", &format!("{line} --queue-runners --queues")).good();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], format!("{} = i32[3] [7 7 7]", batch.name()));
    assert!(lines[1].starts_with("QUEUE") && lines[1].ends_with("CLOSED"), "{out}");
    for part in ["fifo_queue", "FIFOQueue", " of 4", "the coordinator was asked to stop"] {
        assert!(lines[2].contains(part), "no `{part}` in: {out}");
    }
    let all = run("run", &format!("{line} --queue-runners --queues --json")).json();
    let queue = &all["queues"][0];
    assert_eq!((queue["capacity"].as_u64(), queue["out"].as_u64()), (Some(4), Some(3)));
    assert_eq!(queue["closed"]["cancelled_pending"], true);

    // A wait that no other thread could end fails at once.
    for grace in ["0", "0.2", "never"] {
        run("run", &format!("{line} --stall-grace {grace}")).fails(1, &["whose runner was never started"]);
    }
    let waits = run("run", &format!("{line} --queues"));
    for part in ["whose runner was never started", "--queue-runners", "0 of 4"] {
        assert!(waits.err.contains(part), "no `{part}` in: {}", waits.err);
    }
    assert_eq!((waits.code, &*waits.out), (1, ""));
}
