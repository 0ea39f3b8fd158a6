//! What shells are given: completions and manual pages, for every command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const COMMANDS: [&str; 10] =
    ["run", "inspect", "explain", "dot", "svg", "ops", "convert", "doctor", "completions", "man"];

fn millstream(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_millstream")).args(args).output().unwrap()
}

#[track_caller]
fn good(args: &[&str]) -> String {
    let output = millstream(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A folder that does not exist yet.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// The program is there, if it starts at all.
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = good(&["completions", shell]);
        for word in COMMANDS.into_iter().chain(["memory-limit", "feed"]) {
            assert!(script.contains(word), "{shell}: no `{word}`");
        }
    }
}

/// Bash itself completes, where it is there.
#[test]
fn bash_completes() {
    if !has("bash") {
        return;
    }
    let script = good(&["completions", "bash"]);
    let asks = |words: &str, at: usize, word: &str| {
        let tries = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _millstream millstream '{word}'\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["--norc", "-c", &tries]).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(asks("millstream ins", 1, "ins"), ["inspect"]);
    assert_eq!(asks("millstream run --memory", 2, "--memory"), ["--memory-limit"]);
    assert_eq!(asks("millstream completions f", 2, "f"), ["fish"]);
}

#[test]
fn an_unknown_shell_is_an_error_that_lists_those_known() {
    let output = millstream(&["completions", "csh"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("csh") && text.contains("bash") && text.contains("zsh"), "{text}");
}

#[test]
fn there_is_a_page_for_every_command() {
    let folder = folder("man/man1");
    assert_eq!(good(&["man", folder.to_str().unwrap()]), "");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("millstream.1"), good(&["man"]));
    for command in COMMANDS {
        assert!(read("millstream.1").contains(&format!("millstream\\-{command}(1)")), "{command}");
        let page = read(&format!("millstream-{command}.1"));
        for part in [".TH millstream-", ".SH SYNOPSIS", "Examples:"] {
            assert!(page.contains(part), "{command}: no `{part}` in {page}");
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1 + COMMANDS.len());
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let file = folder("man-file");
    std::fs::write(&file, "").unwrap();
    let output = millstream(&["man", file.join("man1").to_str().unwrap()]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("cannot write") && text.contains("man1"), "{text}");
}
