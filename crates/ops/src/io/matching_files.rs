//! `MatchingFiles`: the files whose names match patterns.

use super::file_args::{SLOW, strs};
use millstream_files::{Files, file_error, is_refusal, too_long};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::look;
use millstream_tensor::{DType, PartialShape, Result, Str, Tensor, budget, ensure, invalid};
use std::io;
use std::path::Path;

pub(crate) fn def() -> OpDef {
    OpDef::new("MatchingFiles")
        .doc(
            "Returns the names, in order, of the files and folders that match `pattern`, a scalar or a \
             vector of patterns. `*` matches any characters, `?` one character, `[a-c]` and `[^a-c]` one \
             character in or not in a set, and `\\` escapes the next character. None of them matches `/`.",
        )
        .input("pattern", DType::Str)
        .output("filenames", DType::Str)
        .infer(infer)
        .kernel(Kernel::stateful(run).cost(SLOW))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    ensure!(
        cx.input(0).rank().is_none_or(|rank| rank < 2),
        "`pattern` must be a scalar or a vector but has shape {}",
        cx.input(0)
    );
    cx.set(0, PartialShape::unknown_of_rank(1));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut search = Search { files: cx.files(), names: Vec::new(), left: budget::left() };
    for pattern in strs(cx, 0)? {
        let pattern = std::str::from_utf8(pattern)
            .map_err(|_| invalid!("the pattern {pattern:?} is not valid UTF-8"))?;
        let (start, rest) = match pattern.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => ("", pattern),
        };
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        search.find(start.to_owned(), &parts, false)?;
    }
    let mut names = search.names;
    names.sort_unstable();
    let names = names.into_iter().map(Str::new).collect::<Result<Vec<Str>>>()?;
    cx.set(0, Tensor::strings([names.len()], names)?);
    Ok(())
}

/// A search for names, and what it has found.
struct Search {
    files: Files,
    names: Vec<String>,
    /// The bytes of names that the memory limit leaves.
    left: usize,
}

impl Search {
    /// Adds the names in `folder` (with a trailing `/`, or empty for the current folder) that match the
    /// remaining parts of a pattern. `found` tells that the folder was found by a wildcard, not named.
    fn find(&mut self, folder: String, parts: &[&str], found: bool) -> Result<()> {
        look()?;
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        if !part.contains(['*', '?', '[', '\\']) {
            let name = folder + part;
            return match rest {
                // A folder above an allowed one need not be allowed.
                [_, ..] => self.find(name + "/", rest, found),
                [] => match self.files.disk().is_there(Path::new(&name)) {
                    Ok(true) => self.add(name),
                    Ok(false) => Ok(()),
                    Err(e) => self.missed(&name, found, &e),
                },
            };
        }
        let listed = if folder.is_empty() { "." } else { &folder };
        let entries = match self.files.disk().names(Path::new(listed)) {
            Ok(entries) => entries,
            Err(e) => return self.missed(listed, found, &e),
        };
        let part: Vec<char> = part.chars().collect();
        for entry in entries {
            if let Some(name) = entry.to_str()
                && matches(&part, &name.chars().collect::<Vec<_>>())
            {
                let name = format!("{folder}{name}");
                match rest {
                    [] => self.add(name)?,
                    _ => self.find(name + "/", rest, true)?,
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, name: String) -> Result<()> {
        look()?;
        let most = self.left;
        let bytes = name.len() + size_of::<String>();
        self.left = most.checked_sub(bytes).ok_or_else(|| too_long("the list of names", most as u64))?;
        self.names.push(name);
        Ok(())
    }

    /// A folder that does not exist or cannot be read has no matches. A pattern that names a folder which the
    /// session does not allow is an error; one that comes across such a folder is not.
    fn missed(&self, name: &str, found: bool, error: &io::Error) -> Result<()> {
        match error.kind() {
            io::ErrorKind::PermissionDenied if !found && is_refusal(error) => {
                Err(file_error("list", Path::new(name), error))
            }
            _ => Ok(()),
        }
    }
}

/// Returns whether a name matches a pattern. Backtracks only to the latest `*`, because an earlier one could
/// not match better.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    loop {
        let here = match pattern.get(p) {
            None if n == name.len() => return true,
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            None => None,
            Some(_) => name.get(n).and_then(|&c| one(&pattern[p..], c)),
        };
        match (here, star) {
            (Some(taken), _) => (p, n) = (p + taken, n + 1),
            (None, Some((after, from))) if from < name.len() => {
                star = Some((after, from + 1));
                (p, n) = (after, from + 1);
            }
            (None, _) => return false,
        }
    }
}

/// Returns the length of the pattern's first element, if it matches `c`.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == c).then_some(2),
        ['[', set @ ..] => {
            let not = matches!(set.first(), Some('^' | '!'));
            let first = usize::from(not);
            // A `]` that comes first belongs to the set.
            let Some(end) = set.iter().skip(first + 1).position(|&c| c == ']').map(|at| at + first + 1)
            else {
                return (c == '[').then_some(1);
            };
            let mut set_left = &set[first..end];
            let mut found = false;
            while let Some((&low, more)) = set_left.split_first() {
                set_left = match more {
                    ['-', high, after @ ..] => {
                        found |= (low..=*high).contains(&c);
                        after
                    }
                    _ => {
                        found |= low == c;
                        more
                    }
                };
            }
            (found != not).then_some(end + 2)
        }
        [plain, ..] => (*plain == c).then_some(1),
        [] => None,
    }
}

cases! {
    finds_nothing: r#"MatchingFiles(["/nowhere/*" "/nowhere"]) = str[0] []"#,
    finds_what_is_there: r#"MatchingFiles(["/dev/nul[k-m]" "/dev/[^a-mo-z]ull" "/de?/nul[x]"]) = ["/dev/null" "/dev/null"]"#,
    without_wildcards: r#"MatchingFiles("/dev/null") = ["/dev/null"]"#,
    infers: "MatchingFiles(str[..]) : str[?]",
    not_a_matrix: "MatchingFiles(str[2,2]) ! `pattern` must be a scalar or a vector",
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_match_as_fnmatch_does() {
        let check = |pattern: &str, name: &str, expect: bool| {
            let chars = |s: &str| s.chars().collect::<Vec<_>>();
            assert_eq!(super::matches(&chars(pattern), &chars(name)), expect, "{pattern} {name}");
        };
        for (pattern, name, expect) in [
            ("*", "", true),
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("*.txt", "a.txt.gz", false),
            ("a*b*c", "aXbbYc", true),
            ("a*b*c", "aXcYb", false),
            ("?", "é", true),
            ("?", "", false),
            ("[]]", "]", true),
            ("[!]a]", "a", false),
            ("[a-c-]", "-", true),
            ("[", "[", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("********************************b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            check(pattern, name, expect);
        }
    }
}
