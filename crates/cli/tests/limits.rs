//! Limits of the commands that read a graph: what a hostile file may cost, in memory and in time.

#![cfg(unix)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The address space of the program, in KiB: an import that is not limited by default takes 1.8 GB.
const MOST: usize = 1 << 20;

/// Runs the program within `MOST`, where an allocation that fails ends it with a signal. Its first option
/// names the graph file.
#[track_caller]
fn millstream(line: &str, file: &Path) -> (Output, Duration) {
    let script = format!("ulimit -v {MOST}; exec \"$0\" {line}");
    let start = Instant::now();
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_millstream")]).env("FILE", file);
    (shell.output().unwrap(), start.elapsed())
}

#[track_caller]
fn fails(line: &str, file: &Path, with: &[&str]) {
    let (output, took) = millstream(line, file);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{line}: {error}");
    for text in with {
        assert!(error.contains(text), "{line}: no `{text}` in: {error}");
    }
    assert!(took < Duration::from_secs(20), "{line}: {took:?}");
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A call of a function of 2^n nodes: each function calls the one before twice.
fn doubled_calls(n: usize) -> String {
    let mut text = format!("node {{ name: 'call' op: 'f{n}' }} versions {{ producer: 134 }} library {{");
    let node = |name: &str, op: &str| format!("node_def {{ name: '{name}' op: '{op}' }}");
    for i in 0..=n {
        let body = match i {
            0 => node("a", "NoOp"),
            _ => node("a", &format!("f{}", i - 1)) + &node("b", &format!("f{}", i - 1)),
        };
        write!(text, "function {{ signature {{ name: 'f{i}' }} {body} }} ").unwrap();
    }
    text + "}"
}

#[test]
fn graphs_of_small_files_stay_small_by_default() {
    let bomb = scratch("bomb.pbtxt");
    for n in [19, 23] {
        std::fs::write(&bomb, doubled_calls(n)).unwrap();
        for line in
            ["inspect $FILE", "inspect $FILE --json", "dot $FILE", "svg $FILE", "run $FILE --target call"]
        {
            fails(line, &bomb, &["RESOURCE_EXHAUSTED", "raise --memory-limit"]);
        }
    }
    std::fs::write(&bomb, doubled_calls(12)).unwrap();
    for line in ["inspect $FILE", "dot $FILE", "svg $FILE", "run $FILE --target call"] {
        let (output, _) = millstream(line, &bomb);
        assert!(output.status.success(), "{line}: {output:?}");
        fails(&format!("{line} --memory-limit 1M"), &bomb, &["RESOURCE_EXHAUSTED", "1048576"]);
    }
    fails("convert $FILE - --to binary --memory-limit 100", &bomb, &["RESOURCE_EXHAUSTED", "limit of 100"]);
}

#[test]
fn the_time_limit_covers_reading_and_parsing() {
    // Nobody ever writes to it, so even opening it blocks.
    let fifo = scratch("never.fifo");
    std::fs::remove_file(&fifo).ok();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Text that takes seconds to parse.
    let long = scratch("long.pbtxt");
    let node = |i: usize| format!("node {{ name: 'n{i}' op: 'NoOp' input: '^n0' }}\n");
    std::fs::write(&long, (0..150_000).map(node).collect::<String>()).unwrap();
    let lines =
        ["inspect $FILE", "dot $FILE", "svg $FILE", "convert $FILE - --to text", "run $FILE --fetch x"];
    for line in lines {
        for file in [&fifo, &long] {
            let line = format!("{line} --timeout 0.05");
            fails(&line, file, &["DEADLINE_EXCEEDED", "did not end in the time allowed", "raise --timeout"]);
        }
    }
    // With time enough, the limit changes nothing.
    let short = scratch("short.pbtxt");
    std::fs::write(&short, node(0).replace("input: '^n0'", "")).unwrap();
    for line in lines {
        let (output, _) = millstream(&line.replace("--fetch x", "--target n0 --timeout 60"), &short);
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

/// A terminal obeys control characters, and a graph names things as it likes.
#[test]
fn nothing_that_a_graph_says_reaches_the_terminal_as_a_command() {
    let file = scratch("escapes.pbtxt");
    let names = r"node { name: 'a\033[31m' op: 'NoOp' }";
    let ops = r"node { name: 'a' op: 'No\033[31mSuch\007' }";
    let text = r"node { name: 's' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } }
        attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape {} string_val: '\033]0;mine\007' } } } }
        node { name: 'yes' op: 'Const' attr { key: 'dtype' value { type: DT_BOOL } }
        attr { key: 'value' value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }
        node { name: 'p' op: 'PrintV2' input: 's' }
        node { name: 'q' op: 'Assert' input: 'yes' input: 's' attr { key: 'T' value { list { type: DT_STRING } } } }";
    for graph in [names, ops, text] {
        std::fs::write(&file, graph).unwrap();
        for line in [
            "inspect $FILE",
            "inspect $FILE --json",
            "explain $FILE --fetch s",
            "svg $FILE",
            "dot $FILE",
            "run $FILE --fetch s --target p",
            "run $FILE --target q",
        ] {
            let output = millstream(line, &file).0;
            let all = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!all.contains(control), "{line}: {all:?}");
        }
    }
}
