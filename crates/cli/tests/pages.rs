//! Runs the commands that the documentation shows, and compares their output with that on the page. A line
//! "..." on the page matches any number of lines.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The commands of a page's blocks of `console`, and what is said to be printed.
fn commands(page: &str) -> Vec<(Vec<String>, String)> {
    let blocks = page.split("\n```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let parts = blocks.flat_map(|block| block.split("$ ").skip(1).map(str::to_owned).collect::<Vec<_>>());
    parts
        .filter_map(|part| {
            let (command, said) = part.split_once('\n').unwrap_or((&part, ""));
            let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
            (words.first()? == "millstream").then(|| (words[1..].to_vec(), said.trim().to_owned()))
        })
        .collect()
}

/// Whether a text is what was said.
fn fits(said: &str, printed: &str) -> bool {
    let (mut at, mut parts) = (printed.trim(), said.split("..."));
    let Some(rest) = at.strip_prefix(parts.next().unwrap_or("")) else { return false };
    at = rest;
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else { return at.is_empty() };
    for part in middle {
        let Some((_, after)) = at.split_once(part) else { return false };
        at = after;
    }
    at.ends_with(last)
}

#[test]
fn the_commands_of_the_pages_print_what_is_said() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut n_commands = 0;
    let pages = fs::read_dir(root.join("docs/pages")).unwrap().map(|entry| entry.unwrap().path());
    for path in
        pages.filter(|path| path.extension().is_some_and(|e| e == "md")).chain([root.join("README.md")])
    {
        for (arguments, said) in commands(&fs::read_to_string(&path).unwrap()) {
            let ran = Command::new(env!("CARGO_BIN_EXE_millstream"))
                .args(&arguments)
                .current_dir(&root)
                .output()
                .unwrap();
            let printed = String::from_utf8(ran.stdout).unwrap();
            assert!(fits(&said, &printed), "{}: {arguments:?} prints\n{printed}", path.display());
            n_commands += 1;
        }
    }
    assert!(0 < n_commands);
}

#[test]
fn dots_stand_for_anything() {
    assert!(fits("a ... c", "a b c\n") && fits("...", "") && fits("a", "a"));
    assert!(!fits("a", "a b") && !fits("a ... c", "a b d") && !fits("...b", "a"));
}
