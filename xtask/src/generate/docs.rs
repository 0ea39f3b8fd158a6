//! The doc comments of generated methods.

use millstream::Attr;
use millstream::op::{ArgSpec, AttrKind, AttrSpec, Count, OpDef, TypeSpec};
use std::fmt::Write as _;

/// The text of a comment line beside four spaces and `/// `, in columns.
const WIDTH: usize = 102;

/// An op's whole doc: its sentences, signature, attributes and an example.
pub fn whole(out: &mut String, def: &OpDef) {
    for line in def.doc.lines() {
        wrapped(out, &escape(line));
    }
    out.push_str("///\n");
    wrapped(out, &format!("`{}`", signature(def)));
    let attrs: Vec<String> = def.attrs.iter().map(|(name, spec)| attribute(name, spec)).collect();
    if !attrs.is_empty() {
        out.push_str("///\n");
        wrapped(out, &format!("Attributes: {}.", attrs.join(", ")));
    }
    if let Some(text) = example(def) {
        let _ = writeln!(out, "///\n/// ```text");
        for line in text.lines() {
            for part in parts(line) {
                let _ = writeln!(out, "/// {part}");
            }
        }
        let _ = writeln!(out, "/// ```");
    }
}

/// An op's first sentence.
pub fn brief(out: &mut String, def: &OpDef) {
    let sentence = def.doc.split_inclusive(". ").next().unwrap_or(def.doc);
    wrapped(out, &escape(sentence.trim()));
}

/// Comment lines of at most [`WIDTH`] columns of text.
pub fn wrapped(out: &mut String, text: &str) {
    for line in parts(text) {
        let _ = writeln!(out, "/// {line}");
    }
}

/// The text in lines of at most [`WIDTH`] columns, broken at spaces. What Markdown would take for the mark of
/// a list, a heading or a quotation begins no line.
fn parts(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(&word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// The words of a text, each with the marks that follow it.
fn words(text: &str) -> Vec<String> {
    let is_mark = |word: &str| {
        let number = word.trim_end_matches(['.', ')']);
        word.starts_with(['-', '+', '*', '=', '#', '>', '|'])
            || (number.len() < word.len() && number.chars().all(|c| c.is_ascii_digit()))
    };
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if is_mark(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// `` `name: dtypes = default` ``.
fn attribute(name: &str, spec: &AttrSpec) -> String {
    let allowed = match spec.kind {
        AttrKind::Type([]) => "any dtype".into(),
        AttrKind::Type(dtypes) => join(dtypes, "|"),
        AttrKind::TypeList(_) => "dtypes".into(),
        AttrKind::Int(i64::MIN) => "int".into(),
        AttrKind::Int(least) => format!("int >= {least}"),
        AttrKind::Float => "float".into(),
        AttrKind::Bool => "bool".into(),
        AttrKind::Str([]) => "string".into(),
        AttrKind::Str(words) => join(words, "|"),
        AttrKind::Shape => "shape".into(),
        AttrKind::Tensor => "tensor".into(),
        AttrKind::IntList => "ints".into(),
        AttrKind::FloatList => "floats".into(),
        AttrKind::StrList => "strings".into(),
        AttrKind::ShapeList => "shapes".into(),
        AttrKind::Func => "function".into(),
        AttrKind::FuncList => "functions".to_string(),
    };
    match &spec.default {
        Some(value) => format!("`{name}: {allowed} = {}`", show(value)),
        None => format!("`{name}: {allowed}`"),
    }
}

/// The example to show: one with a value, if there is one, that fits a line, if there is one; none that
/// cannot be broken into lines.
fn example(def: &OpDef) -> Option<&'static str> {
    let breaks = |text: &&str| text.split_whitespace().all(|word| word.chars().count() <= WIDTH);
    let texts = || def.cases.iter().map(|(_, text)| *text).filter(breaks);
    let with_value = || texts().filter(|text| text.contains(") =") || text.contains(") ~"));
    let fits = |text: &&str| text.lines().all(|line| line.chars().count() <= WIDTH);
    with_value().find(fits).or_else(|| with_value().next()).or_else(|| texts().next())
}

/// `Tile(input: T, multiples: Index) -> (output: T)`.
fn signature(def: &OpDef) -> String {
    let arg = |a: &ArgSpec| {
        let ty = match a.ty {
            TypeSpec::Fixed(dtype) => dtype.to_string(),
            TypeSpec::Attr(attr) => attr.to_owned(),
        };
        let ty = if a.is_ref { format!("&{ty}") } else { ty };
        match a.count {
            Count::One => format!("{}: {ty}", a.name),
            Count::Number(n) => format!("{}: {n} * {ty}", a.name),
            Count::List(list) => format!("{}: {list}", a.name),
        }
    };
    let list = |args: &[ArgSpec]| args.iter().map(arg).collect::<Vec<_>>().join(", ");
    format!("{}({}) -> ({})", def.name, list(&def.inputs), list(&def.outputs))
}

fn join<T: ToString>(items: &[T], between: &str) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

fn show(value: &Attr) -> String {
    match value {
        Attr::Str(v) => format!("{:?}", String::from_utf8_lossy(v)),
        Attr::Int(v) => v.to_string(),
        Attr::Float(v) => v.to_string(),
        Attr::Bool(v) => v.to_string(),
        Attr::Type(v) => v.to_string(),
        Attr::Shape(v) => v.to_string(),
        Attr::Tensor(v) => v.to_string(),
        Attr::Func(v) => v.name.clone(),
        Attr::List(v) => format!("[{}]", v.iter().map(show).collect::<Vec<_>>().join(", ")),
    }
}

/// Brackets outside of code would be links, angles tags.
fn escape(text: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        if !code && matches!(c, '[' | ']' | '<' | '>' | '*' | '_') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
