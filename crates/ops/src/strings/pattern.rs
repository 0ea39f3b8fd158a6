//! Regular expressions in RE2's syntax, on the `regex` crate. Matching takes linear time; neither supports
//! what needs backtracking.
//!
//! The dialects differ slightly: RE2's `\d`, `\w`, `\s` and `\b` are ASCII, `\C` is any byte, `\Q..\E`
//! quotes, and inside brackets `[`, `&` and `~` are literal. [`Pattern`] translates these. Texts need not be
//! UTF-8.

use crate::shared::strings::scalar;
use millstream_graph::op::KernelCx;
use millstream_state::apart;
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::{Result, Str, ensure, invalid};
use parking_lot::Mutex;
use regex::bytes::{Captures, Regex};
use std::fmt::Write;

/// A compiled pattern.
#[derive(Clone)]
pub(super) struct Pattern {
    regex: Regex,
    /// The length of its text.
    len: usize,
}

/// The bytes that compiling takes for each byte of a pattern: a literal of 1 MiB took 90 MiB, and 512 KiB of
/// short alternatives took 100 MiB (2026-11).
const COMPILING: usize = 256;

/// The longest pattern, in bytes: compiling looks at no deadline. RE2 refuses patterns of this length, too.
const LONGEST: usize = 1 << 18;

impl Pattern {
    /// Compiles a pattern that is searched for anywhere in a text.
    pub fn new(pattern: &[u8]) -> Result<Pattern> {
        Self::compile(pattern, |p| p)
    }

    /// Compiles a pattern that must match whole texts.
    pub fn whole(pattern: &[u8]) -> Result<Pattern> {
        Self::compile(pattern, |p| format!(r"\A(?:{p})\z"))
    }

    fn compile(pattern: &[u8], wrap: impl Fn(String) -> String) -> Result<Pattern> {
        let wrong = |why: &dyn std::fmt::Display| invalid!("Invalid pattern: {}, error:", pattern.escape_ascii(); "`pattern` is wrong: {why}");
        ensure!(
            pattern.len() <= LONGEST,
            "pattern too large - compile failed";
            "`pattern` has {} bytes, but a pattern has at most {LONGEST}",
            pattern.len()
        );
        let _room = Room::of(pattern.len().saturating_mul(COMPILING))?;
        let text = std::str::from_utf8(pattern).map_err(|e| wrong(&e))?;
        // The pattern is checked alone first, so that it cannot close the group that is put around it.
        let translated = translate(text);
        let regex = Regex::new(&translated).map_err(|e| wrong(&e))?;
        let wrapped = wrap(translated.clone());
        if wrapped == translated {
            return Ok(Pattern { regex, len: text.len() });
        }
        let regex = Regex::new(&wrapped).map_err(|e| wrong(&e))?;
        Ok(Pattern { regex, len: text.len() })
    }

    /// Whether a search in the text may take more than 100 ms. It looks at no deadline, and may take a step
    /// for each byte of the text and of the pattern.
    fn is_long(&self, text: &[u8]) -> bool {
        const STEPS: usize = 1 << 24;
        STEPS < text.len().saturating_mul(self.len.max(8))
    }

    /// Returns whether the pattern matches the text.
    pub fn is_match(&self, text: &Str) -> Result<bool> {
        if !self.is_long(text) {
            return Ok(self.regex.is_match(text));
        }
        let (regex, text) = (self.regex.clone(), text.clone());
        apart(move || Ok(regex.is_match(&text)))
    }

    /// Returns the text with the first match, or all of them, replaced by `rewrite`, in which `\1` is a group
    /// and `\\` a backslash. Invalid rewrites follow TensorFlow: a group that does not exist is empty. Any
    /// other escape ends the rewrite, and if only the first match is to be replaced, the text is unchanged.
    pub fn replace(&self, text: &Str, rewrite: &Str, all: bool) -> Result<Vec<u8>> {
        if !self.is_long(text) {
            return self.replace_here(text, rewrite, all);
        }
        let (pattern, text, rewrite) = (self.clone(), text.clone(), rewrite.clone());
        apart(move || pattern.replace_here(&text, &rewrite, all))
    }

    fn replace_here(&self, text: &[u8], rewrite: &[u8], all: bool) -> Result<Vec<u8>> {
        match all {
            true => self.replace_all(text, rewrite),
            false => Ok(self.replace_first(text, rewrite)?.unwrap_or_else(|| text.to_vec())),
        }
    }

    fn replace_first(&self, text: &[u8], rewrite: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(found) = self.regex.captures(text) else { return Ok(None) };
        let Some(whole) = found.get(0) else { return Ok(None) };
        let mut out = Charged::copy_of(text.get(..whole.start()).unwrap_or_default())?;
        if !push_rewrite(&mut out, rewrite, &found)? {
            return Ok(None);
        }
        out.extend_from_slice(text.get(whole.end()..).unwrap_or_default())?;
        Ok(Some(out.take()))
    }

    fn replace_all(&self, text: &[u8], rewrite: &[u8]) -> Result<Vec<u8>> {
        let (mut out, mut at, mut last_end) = (Charged::new(), 0, None);
        while at <= text.len() {
            let Some(found) = self.regex.captures_at(text, at) else { break };
            let Some(whole) = found.get(0) else { break };
            let (start, end) = (whole.start(), whole.end());
            out.extend_from_slice(text.get(at..start).unwrap_or_default())?;
            if start == end && last_end == Some(start) {
                // An empty match directly behind another match is skipped, along with one character.
                let next = start + character(text, start);
                out.extend_from_slice(text.get(start..next).unwrap_or_default())?;
                at = next.max(start + 1);
                continue;
            }
            push_rewrite(&mut out, rewrite, &found)?;
            (at, last_end) = (end, Some(end));
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default())?;
        Ok(out.take())
    }
}

/// Returns the number of bytes of the character at `at`, or 1 if the text is not UTF-8 there.
fn character(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let fits = |n: &usize| rest.get(..*n).is_some_and(|c| std::str::from_utf8(c).is_ok());
    (1..=4).find(fits).unwrap_or(1).min(rest.len())
}

/// Appends the rewrite of a match. Returns false at an invalid escape, with the text before it appended.
fn push_rewrite(out: &mut Charged<u8>, rewrite: &[u8], found: &Captures) -> Result<bool> {
    let mut bytes = rewrite.iter();
    while let Some(&byte) = bytes.next() {
        match (byte, bytes.as_slice().first()) {
            (b'\\', Some(digit)) if digit.is_ascii_digit() => {
                let group = found.get(usize::from(digit - b'0'));
                out.extend_from_slice(group.map_or(&[][..], |g| g.as_bytes()))?;
                bytes.next();
            }
            (b'\\', Some(b'\\')) => {
                out.push(b'\\')?;
                bytes.next();
            }
            (b'\\', _) => return Ok(false),
            _ => out.push(byte)?,
        }
    }
    Ok(true)
}

/// Translates RE2's dialect to that of the `regex` crate.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    // Inside brackets: whether the class has an element yet. A `]` that comes first is literal.
    let mut class: Option<bool> = None;
    while let Some(c) = chars.next() {
        match (c, class) {
            ('\\', _) => match chars.next() {
                Some('Q') => quote(&mut out, &mut chars),
                Some('0') => {
                    let digits = std::iter::from_fn(|| chars.next_if(|d| d.is_digit(8))).take(2);
                    let code = digits.filter_map(|d| d.to_digit(8)).fold(0, |code, d| code * 8 + d);
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\x{{{code:x}}}");
                }
                Some(escape) => push_escape(&mut out, escape, class.is_some()),
                None => out.push('\\'),
            },
            ('[', None) => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                class = Some(false);
                continue;
            }
            (']', Some(true)) => {
                out.push(']');
                class = None;
                continue;
            }
            (']', Some(false)) => out.push_str(r"\]"),
            // `[:alpha:]` is the same in both.
            ('[', Some(_)) if chars.peek() == Some(&':') => {
                out.push('[');
                for c in chars.by_ref() {
                    out.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            ('[' | '&' | '~', Some(_)) => {
                out.push('\\');
                out.push(c);
            }
            // `--` would be a set difference.
            ('-', Some(_)) if out.ends_with('-') && !out.ends_with(r"\-") => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        if class.is_some() {
            class = Some(true);
        }
    }
    out
}

/// Copies characters literally up to `\E`.
fn quote(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars>) {
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&'E').is_some() {
            return;
        }
        out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
}

fn push_escape(out: &mut String, escape: char, in_class: bool) {
    let ascii = match escape {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        's' => r"[\t\n\f\r ]",
        'S' => r"[^\t\n\f\r ]",
        'b' if !in_class => r"(?-u:\b)",
        'B' if !in_class => r"(?-u:\B)",
        'C' if !in_class => "(?s-u:.)",
        // To the crate these are the ends of words, to RE2 the characters.
        '<' => "<",
        '>' => ">",
        _ => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\{escape}");
            return;
        }
    };
    out.push_str(ascii);
}

/// The pattern that a node used last. Patterns that are inputs rarely change.
#[derive(Default)]
pub(super) struct Latest {
    /// Guards the cache. Patterns are compiled without the lock.
    latest: Mutex<Option<(Str, Pattern)>>,
}

impl Latest {
    /// Returns the cached pattern, or the one compiled by `compile`.
    pub fn get(&self, pattern: &Str, compile: fn(&[u8]) -> Result<Pattern>) -> Result<Pattern> {
        if let Some((text, compiled)) = &*self.latest.lock()
            && text == pattern
        {
            return Ok(compiled.clone());
        }
        let compiled = compile(pattern)?;
        *self.latest.lock() = Some((pattern.clone(), compiled.clone()));
        Ok(compiled)
    }
}

/// Returns input `i`, a pattern or a rewrite, or refuses what is no scalar in TensorFlow's words.
pub(super) fn lone<'a>(cx: &'a KernelCx, i: usize, what: &str) -> Result<&'a Str> {
    let words = || format!("{what} must be scalar, but received {}", cx.input(i).shape());
    scalar(cx, i).map_err(|e| e.led_by(words()))
}

/// Replaces matches in all strings of input 0.
pub(super) fn replace_each(cx: &mut KernelCx, pattern: &Pattern, rewrite: &Str, all: bool) -> Result<()> {
    let (pattern, rewrite) = (pattern.clone(), rewrite.clone());
    crate::shared::strings::map(cx, move |s| pattern.replace(s, &rewrite, all))
}
