//! Finds behaviour that is chosen by comparing an op's name.
//!
//! Where several ops share a function, what differs between them is a parameter that each op's declaration
//! gives; a fact about an op that others rely on is a field of its `OpDef`. A comparison with a name would be
//! a second place that knows the op.

use millstream::registry;

/// The crates whose code must not compare names: the op library, and what runs graphs of any ops.
const DIRS: [&str; 3] = ["crates/ops/src/", "crates/exec/src/", "crates/runtime/src/"];

/// The ways to compare the text of a name with a part of it.
const PARTLY: [&str; 5] =
    [".starts_with(\"", ".ends_with(\"", ".contains(\"", ".strip_prefix(\"", ".strip_suffix(\""];

/// Returns a finding for each comparison in a file, which is named by its path from the root.
pub fn look(shown: &str, text: &str) -> Vec<String> {
    if !DIRS.iter().any(|dir| shown.starts_with(dir)) || shown.ends_with("tests.rs") {
        return Vec::new();
    }
    let lines = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    code.filter(|(_, line)| compares(line))
        .map(|(i, _)| {
            format!(
                "{shown}:{}: compares an op's name; give what differs as a parameter where the op is declared, or as a field of `OpDef`",
                i + 1
            )
        })
        .collect()
}

fn compares(line: &str) -> bool {
    let whole = quoted(line).any(|(before, name, after)| {
        let (before, after) = (before.trim_end(), after.trim_start());
        let compared = ["==", "!="].iter().any(|op| before.ends_with(op) || after.starts_with(op));
        let matched = after.starts_with("=>") || after.starts_with('|') && before.is_empty();
        let listed = before.contains("matches!(") && before.contains(".name");
        (compared || matched || listed) && registry().get(name).is_some()
    });
    let partly = PARTLY.iter().any(|call| {
        line.find(call).is_some_and(|at| {
            let subject = line[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
            let capital = line[at + call.len()..].starts_with(|c: char| c.is_ascii_uppercase());
            capital && matches!(subject, Some("name" | "op"))
        })
    });
    whole || partly
}

/// Returns the string literals of a line, each with the text before and after it.
fn quoted(line: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let quotes: Vec<usize> = line.match_indices('"').map(|(at, _)| at).collect();
    let pairs: Vec<(usize, usize)> = quotes.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().map(|(open, close)| (&line[..open], &line[open + 1..close], &line[close + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, found: bool) {
        assert_eq!(look("crates/ops/src/math/add.rs", line).len(), usize::from(found), "{line}");
    }

    #[test]
    fn comparisons_are_found() {
        check(r#"    if cx.node.op.name == "Pow" {"#, true);
        check(r#"    if "Pow" != name {"#, true);
        check(r#"        "TruncateDiv" | "TruncateMod" => Code::Internal,"#, true);
        check(r#"    matches!(node.op.name, "Add" | "Sub")"#, true);
        check(r#"    let v2 = def.name.ends_with("V2");"#, true);
        check(r#"    match op.contains("Determinant") {"#, true);
    }

    #[test]
    fn building_nodes_and_other_words_are_not() {
        check(r#"    cx.give(0, cx.call("Mul", [dy, x]));"#, false);
        check(r#"    if name == "num_lower" {"#, false);
        check(r#"    // if op.name == "Pow""#, false);
        check(r#"    let mean = attrs.str("mode")? == "Reflect";"#, false);
    }

    #[test]
    fn other_crates_and_tests_are_free() {
        assert!(look("crates/interop/src/import.rs", r#"if op == "While" {"#).is_empty());
        assert!(look("crates/ops/src/io/tests.rs", r#"if op == "Pow" {"#).is_empty());
    }
}
