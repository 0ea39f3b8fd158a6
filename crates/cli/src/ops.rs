//! `millstream ops`: describes the supported op types.

use crate::failure::Outcome;
use crate::json::{Json, object};
use crate::table::Table;
use clap::Args;
use millstream::engine::graph::Attr;
use millstream::engine::graph::op::{ArgSpec, AttrKind, AttrSpec, Count, Gradient, OpDef, TypeSpec};
use millstream::{Code, Error, registry};
use std::io::{self, BufWriter, Write};

/// List the supported op types, or describe one
///
/// Without a name, prints one line per op type: its signature and a summary. With a name, prints the inputs,
/// outputs, attributes with their allowed values and defaults, whether the op is differentiable or why not,
/// and examples. Each example is also a test.
#[derive(Args)]
#[command(after_help = "\
In a signature, `x: T` is a tensor of the dtype in attribute T, `N * T` is a list of N such tensors, `T...` is
one tensor for each dtype in the list T, and `&` marks a reference to a variable. In an example, `=` is
followed by the values, `~` by the values up to rounding, `:` by the inferred types, and `!` by the error.

Examples:
  millstream ops
  millstream ops StridedSlice
  millstream ops --json | jq -r '.ops[].name'")]
pub(crate) struct Options {
    /// The op type, by TensorFlow's name [default: list all]
    name: Option<String>,

    /// Print JSON [default: text]
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: Options) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    match (&options.name, options.json) {
        (Some(name), false) => tell(&mut out, find(name)?)?,
        (Some(name), true) => writeln!(out, "{}", json(find(name)?))?,
        (None, true) => {
            let ops: Json = registry().iter().map(json).collect();
            writeln!(out, "{}", object! { "ops": ops })?;
        }
        (None, false) => {
            let mut table = Table::default();
            for op in registry().iter() {
                table.row([op.name.to_owned(), signature(op), sentence(op.doc).to_owned()]);
            }
            write!(out, "{table}")?;
        }
    }
    Ok(out.flush()?)
}

fn find(name: &str) -> Result<&'static OpDef, Error> {
    registry().get(name).ok_or_else(|| {
        let error = Error::new(Code::NotFound, format!("there is no op `{name}`"));
        match registry().similar(name).as_slice() {
            [] => error.with_help("`millstream ops` lists all ops"),
            near => error.with_help(format!("did you mean {}?", near.join(", "))),
        }
    })
}

fn sentence(doc: &str) -> &str {
    let end = doc.find(". ").map_or(doc.len(), |i| i + 1);
    doc.get(..end).unwrap_or(doc).lines().next().unwrap_or("")
}

fn tell(out: &mut impl Write, op: &OpDef) -> io::Result<()> {
    writeln!(out, "{}{}\n\n{}", op.name, signature(op), op.doc)?;
    for (title, args) in [("inputs", &op.inputs), ("outputs", &op.outputs)] {
        if args.is_empty() {
            continue;
        }
        let mut table = Table::indented(2);
        for arg in args {
            table.row([arg.name.to_owned(), type_of(arg)]);
        }
        write!(out, "\n{title}:\n{table}")?;
    }
    if !op.attrs.is_empty() {
        let mut table = Table::indented(2);
        for (name, spec) in &op.attrs {
            let default = spec.default.as_ref().map_or(String::new(), |d| format!("default {}", attr(d)));
            table.row([(*name).to_owned(), kind(spec), default]);
        }
        write!(out, "\nattributes:\n{table}")?;
    }
    writeln!(out, "\ngradient: {}", gradient(op))?;
    if !op.cases.is_empty() {
        writeln!(out, "\nexamples:")?;
        for (name, text) in op.cases {
            writeln!(out, "  {:<24} {text}", name.replace('_', " "))?;
        }
    }
    Ok(())
}

fn json(op: &OpDef) -> Json {
    let args = |args: &[ArgSpec]| -> Json {
        args.iter().map(|a| object! { "name": a.name, "type": type_of(a), "reference": a.is_ref }).collect()
    };
    let attrs: Json = op
        .attrs
        .iter()
        .map(|(name, spec)| {
            object! { "name": *name, "kind": kind(spec), "default": spec.default.as_ref().map(attr) }
        })
        .collect();
    let examples: Json = op.cases.iter().map(|(n, text)| object! { "name": *n, "text": *text }).collect();
    object! {
        "name": op.name,
        "doc": op.doc,
        "inputs": args(&op.inputs),
        "outputs": args(&op.outputs),
        "attributes": attrs,
        "gradient": gradient(op),
        "examples": examples,
    }
}

/// Whether an op is differentiable, or why it is not.
fn gradient(op: &OpDef) -> String {
    match op.gradient_of() {
        Some(Gradient::Of(_)) => "yes".into(),
        Some(Gradient::Structural) => "yes, as part of branches and loops".into(),
        Some(Gradient::None(why)) => format!("none: {why}"),
        Some(Gradient::Missing(why)) => format!("missing: {why}"),
        None => "unknown".into(),
    }
}

fn signature(op: &OpDef) -> String {
    let list = |args: &[ArgSpec]| {
        args.iter().map(|a| format!("{}: {}", a.name, type_of(a))).collect::<Vec<_>>().join(", ")
    };
    format!("({}) -> ({})", list(&op.inputs), list(&op.outputs))
}

fn type_of(arg: &ArgSpec) -> String {
    let ty = match arg.ty {
        TypeSpec::Fixed(dtype) => dtype.name().to_owned(),
        TypeSpec::Attr(attr) => attr.to_owned(),
    };
    let mark = if arg.is_ref { "&" } else { "" };
    match arg.count {
        Count::One => format!("{ty}{mark}"),
        Count::Number(n) => format!("{n} * {ty}{mark}"),
        Count::List(types) => format!("{types}{mark}..."),
    }
}

fn kind(spec: &AttrSpec) -> String {
    let words = |words: Vec<String>| words.join(", ");
    match spec.kind {
        AttrKind::Type([]) => "dtype".into(),
        AttrKind::Type(dtypes) => {
            format!("dtype: {}", words(dtypes.iter().map(|d| d.name().into()).collect()))
        }
        AttrKind::TypeList(_) => "list of dtypes".into(),
        AttrKind::Int(i64::MIN) => "int".into(),
        AttrKind::Int(least) => format!("int, at least {least}"),
        AttrKind::Float => "float".into(),
        AttrKind::Bool => "bool".into(),
        AttrKind::Str([]) => "string".into(),
        AttrKind::Str(strings) => {
            format!("string: {}", words(strings.iter().map(|s| format!("{s:?}")).collect()))
        }
        AttrKind::Shape => "shape".into(),
        AttrKind::Tensor => "tensor".into(),
        AttrKind::Func => "function".into(),
        AttrKind::IntList => "list of ints".into(),
        AttrKind::FloatList => "list of floats".into(),
        AttrKind::StrList => "list of strings".into(),
        AttrKind::ShapeList => "list of shapes".into(),
        AttrKind::FuncList => "list of functions".into(),
    }
}

fn attr(value: &Attr) -> String {
    match value {
        Attr::Str(s) => format!("{:?}", s.text()),
        Attr::Int(v) => v.to_string(),
        Attr::Float(v) => v.to_string(),
        Attr::Bool(v) => v.to_string(),
        Attr::Type(v) => v.to_string(),
        Attr::Shape(v) => v.to_string(),
        Attr::Tensor(v) => v.to_string(),
        Attr::Func(v) => v.name.clone(),
        Attr::List(values) => format!("[{}]", values.iter().map(attr).collect::<Vec<_>>().join(", ")),
    }
}
