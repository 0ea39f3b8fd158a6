//! `MatchingFiles`: the files whose names match patterns.

use super::file_args::{SLOW, strs};
use millstream_files::{Files, file_error, is_refusal};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::{Pace, look};
use millstream_tensor::{DType, Error, PartialShape, Result, Str, Tensor, invalid};
use std::ffi::OsStr;
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
        .kernel(Kernel::stateful(run).observing().cost(SLOW))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar_or_vector(0)?;
    cx.set(0, PartialShape::unknown_of_rank(1));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let mut search = Search { files: cx.files(), names: Charged::new(), pace: Pace::new() };
    for pattern in strs(cx, 0)? {
        let pattern = std::str::from_utf8(pattern)
            .map_err(|_| invalid!("the pattern {pattern:?} is not valid UTF-8"))?;
        let (start, rest) = match pattern.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => ("", pattern),
        };
        search.find(Folder::new(start.to_owned(), rest, false)?)?;
    }
    let mut names = search.names;
    names.sort_unstable_by(|a, b| a[..].cmp(&b[..]));
    cx.set(0, Tensor::strings([names.len()], names.take())?);
    Ok(())
}

/// A search for names, and what it has found.
struct Search {
    files: Files,
    names: Charged<Str>,
    pace: Pace,
}

/// A folder that is yet to be searched.
struct Folder<'p> {
    /// With a trailing `/`, or empty for the current folder.
    path: String,
    /// The rest of the pattern.
    pattern: &'p str,
    /// Whether the folder was found by a wildcard, not named.
    found: bool,
    /// The path's memory.
    _room: Room,
}

impl<'p> Folder<'p> {
    fn new(path: String, pattern: &'p str, found: bool) -> Result<Self> {
        // A path is put together, and its memory doubles as it grows.
        let room = Room::of(path.len().saturating_add(pattern.len()).saturating_mul(2))?;
        Ok(Folder { path, pattern, found, _room: room })
    }
}

impl Search {
    /// Adds the names that match. The folders to search are in a list: a pattern may have more parts than the
    /// stack has room for.
    fn find(&mut self, start: Folder<'_>) -> Result<()> {
        let mut folders = Charged::one(start);
        while let Some(mut folder) = folders.pop() {
            look()?;
            // A folder above an allowed one need not be allowed, so folders that are named are not looked at.
            while let Some((part, rest)) = first_part(folder.pattern) {
                if part.contains(['*', '?', '[', '\\']) {
                    self.list(&folder, part, rest, &mut folders)?;
                    break;
                }
                self.pace.spend(1 + part.len())?;
                folder.path += part;
                folder.pattern = rest;
                if !rest.is_empty() {
                    folder.path += "/";
                    continue;
                }
                match self.files.disk().is_there(Path::new(&folder.path)) {
                    Ok(true) => self.names.push(Str::new(&*folder.path)?)?,
                    Ok(false) => {}
                    Err(e) => self.missed(&folder.path, folder.found, &e)?,
                }
            }
        }
        Ok(())
    }

    /// Adds the names in a folder that match `part`: to the names, or to the folders in which `rest` is
    /// searched.
    fn list<'p>(
        &mut self,
        folder: &Folder<'p>,
        part: &str,
        rest: &'p str,
        folders: &mut Charged<Folder<'p>>,
    ) -> Result<()> {
        let listed = if folder.path.is_empty() { "." } else { &folder.path };
        let chars = Charged::of(part.chars())?;
        let Search { files, names, pace } = self;
        let mut add = |name: &OsStr| -> Result<()> {
            let Some(name) = name.to_str() else { return Ok(()) };
            if !matches(&chars, &name.chars().collect::<Vec<_>>(), pace)? {
                return Ok(());
            }
            let path = format!("{}{name}", folder.path);
            match rest.is_empty() {
                true => names.push(Str::new(path)?),
                false => folders.push(Folder::new(path + "/", rest, true)?),
            }
        };
        let mut each = |name: &OsStr| add(name).map_err(io::Error::other);
        let result = files.disk().each_name(Path::new(listed), &mut each);
        result.or_else(|e| self.missed(listed, folder.found, &e))
    }

    /// A folder that does not exist or cannot be read has no matches. A pattern that names a folder which the
    /// session does not allow is an error; one that comes across such a folder is not.
    fn missed(&self, name: &str, found: bool, error: &io::Error) -> Result<()> {
        match error.kind() {
            io::ErrorKind::PermissionDenied if !found && is_refusal(error) => {
                Err(file_error("list", Path::new(name), error))
            }
            // The run is over, or the names need more memory than it may have.
            _ => match error.get_ref().and_then(|e| e.downcast_ref::<Error>()) {
                Some(error) => Err(error.clone()),
                None => Ok(()),
            },
        }
    }
}

/// Returns the first part of a pattern and the rest, if it has any parts.
fn first_part(pattern: &str) -> Option<(&str, &str)> {
    let pattern = pattern.trim_start_matches('/');
    let (part, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
    (!part.is_empty()).then(|| (part, rest.trim_start_matches('/')))
}

/// Returns whether a name matches a pattern. Backtracks only to the latest `*`, because an earlier one could
/// not match better.
fn matches(pattern: &[char], name: &[char], pace: &mut Pace) -> Result<bool> {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    loop {
        let here = match pattern.get(p) {
            None if n == name.len() => return Ok(true),
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            None => None,
            Some(first) => {
                // A set may be as long as the pattern.
                pace.spend(if *first == '[' { pattern.len() - p } else { 1 })?;
                name.get(n).and_then(|&c| one(&pattern[p..], c))
            }
        };
        match (here, star) {
            (Some(taken), _) => (p, n) = (p + taken, n + 1),
            (None, Some((after, from))) if from < name.len() => {
                star = Some((after, from + 1));
                (p, n) = (after, from + 1);
            }
            (None, _) => return Ok(false),
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
            let matches = super::matches(&chars(pattern), &chars(name), &mut super::Pace::new());
            assert_eq!(matches.unwrap(), expect, "{pattern} {name}");
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
