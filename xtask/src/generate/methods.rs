//! The methods of the ops: the common ones on graphs and values, the others in families.

use super::docs;
use millstream::op::{ArgSpec, AttrKind, Count, OpDef, Role, TypeSpec};
use millstream::{Result, registry};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The hand-written layer, whose names the common ops must not take.
const SUGAR: [&str; 2] = [
    include_str!("../../../crates/millstream/src/sugar.rs"),
    include_str!("../../../crates/millstream/src/variable.rs"),
];

/// The ops that are methods of graphs and values themselves: arithmetic, comparison, logic, elementwise
/// functions, reductions, and the shapes of arrays. All others are methods of their family.
const COMMON: [&str; 6] = [
    // Arithmetic.
    "Abs Add AddN DivNoNan FloorDiv FloorMod Maximum Minimum Mul Neg Pow RealDiv Reciprocal Sign Square \
     SquaredDifference Sub",
    // Comparison, logic, choice.
    "Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual LogicalAnd LogicalNot LogicalOr NotEqual Select",
    // Elementwise functions.
    "Acos Asin Atan Atan2 Ceil ClipByValue Cos Cosh Elu Erf Exp Expm1 Floor Log Log1p LogSoftmax Relu Round Rsqrt \
     Sigmoid Sin Sinh Softmax Softplus Sqrt Tan Tanh",
    // Bits.
    "BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift",
    // Reductions.
    "All Any ArgMax ArgMin Cumprod Cumsum Max Mean Min Prod Sum",
    // Shapes and arrays.
    "BroadcastTo EnsureShape ExpandDims Fill GatherNd Identity LinSpace NoOp OneHot OnesLike Pack Pad \
     PlaceholderWithDefault Rank Reshape Roll Size Slice Squeeze StopGradient Tile Unique ZerosLike",
];

/// The families in the order of the library, and what their ops are about.
const FAMILIES: &[(&str, &str)] = &[
    ("array", "Shapes, slices, gathers, padding."),
    ("audio", "Sound: WAV files, spectrograms, and their mel-frequency coefficients."),
    ("collective", "Computations of several processes together."),
    ("control", "Control flow, placeholders, optional values, functions of the program."),
    ("dataset", "Datasets and iterators."),
    ("debug", "Assertions, printing, checks of numbers."),
    ("image", "Images: resizing, colours, boxes, files."),
    ("io", "Files: checkpoints, reading, writing, matching of names."),
    ("linalg", "Matrices: products, diagonals, factorizations, solutions."),
    ("list", "Tensor lists."),
    ("lookup", "Tables of keys and values."),
    ("math", "Elementwise functions, and their gradients."),
    ("nn", "Neural nets: activations, losses, biases, and their gradients."),
    ("parsing", "Parsing: CSV, `Example` messages, tensors as messages, compressed bytes."),
    ("accumulator", "Accumulators of gradients."),
    ("queue", "Queues."),
    ("random", "Random numbers, stateful and stateless."),
    ("reader", "Readers of records."),
    ("reduce", "Counting, ranges, histograms, reductions."),
    ("segment", "Reductions over segments of rows."),
    ("sparse", "Sparse tensors."),
    ("state", "Variables and updates of variables."),
    ("step", "TensorFlow's TensorArrays and stacks, which live for one step."),
    ("strings", "Strings."),
    ("summary", "Summaries as encoded messages."),
];

/// Rust's own words.
const KEYWORDS: &[&str] =
    &["where", "mod", "ref", "type", "const", "loop", "match", "move", "in", "fn", "self", "abstract"];

/// The generated files by name, before formatting.
pub fn files() -> Result<Vec<(String, String)>> {
    let mut families: BTreeMap<&str, Vec<&OpDef>> = BTreeMap::new();
    let mut common: Vec<&OpDef> = Vec::new();
    for (family, defs) in millstream::engine::ops::families() {
        if !FAMILIES.iter().any(|(name, _)| *name == family) {
            return Err(crate::failed(format!("the family `{family}` is not in the generator's list")));
        }
        let defs = defs.iter().filter_map(|def| registry().get(def.name)).filter(|def| has_method(def));
        let (plain, own): (Vec<&OpDef>, Vec<&OpDef>) =
            defs.partition(|def| common_ops().any(|name| name == def.name));
        common.extend(plain);
        families.entry(family).or_default().extend(own);
    }
    common.sort_by_key(|def| def.name);
    check_common(&common)?;
    let mut files = vec![
        ("mod".to_owned(), index()),
        ("common".to_owned(), graph_trait(&common)),
        ("values".to_owned(), value_trait(&common)),
    ];
    for (name, doc) in FAMILIES {
        let mut defs = families.remove(name).unwrap_or_default();
        defs.sort_by_key(|def| def.name);
        files.push(((*name).to_owned(), family_struct(name, doc, &defs)));
    }
    Ok(files)
}

fn common_ops() -> impl Iterator<Item = &'static str> {
    COMMON.into_iter().flat_map(str::split_whitespace)
}

/// The common ops exist, and the hand-written layer has no method of the same name.
fn check_common(common: &[&OpDef]) -> Result<()> {
    let of_library = |name: &str| common.iter().any(|def| def.name == name);
    if let Some(gone) = common_ops().find(|name| !of_library(name)) {
        return Err(crate::failed(format!("the common op `{gone}` is not in the library")));
    }
    let lines = SUGAR.iter().flat_map(|file| file.lines());
    let mut taken = lines.filter_map(|l| l.strip_prefix("    fn ")?.split(['(', '<']).next());
    match taken.find(|taken| common.iter().any(|def| ident(def.name) == *taken)) {
        Some(name) => Err(crate::failed(format!("the method `{name}` is written by hand and generated"))),
        None => Ok(()),
    }
}

/// `ops/mod.rs`: the list of the files.
fn index() -> String {
    let mut out = String::from(
        "//! Every op of the library as a method. Generated by `cargo xtask gen`; not edited by hand.\n\
         //!\n\
         //! Common ops are methods of graphs ([`Ops`]) and of values ([`OutputOps`]). The others are methods of\n\
         //! their family, which a method of `Ops` returns: `g.nn().bias_add(x, bias)`.\n\n\
         #![expect(clippy::too_many_arguments, reason = \"as many as the op has inputs\")]\n\
         #![expect(clippy::wrong_self_convention, reason = \"named as the ops\")]\n\n",
    );
    let names = || FAMILIES.iter().map(|(name, _)| *name);
    for name in names().chain(["common", "values"]) {
        let _ = writeln!(out, "mod {name};");
    }
    out.push_str("\npub use common::Ops;\npub use values::OutputOps;\n");
    for name in names() {
        let _ = writeln!(out, "pub use {name}::{};", title(name));
    }
    out
}

/// `ops/common.rs`: the trait `Ops`.
fn graph_trait(common: &[&OpDef]) -> String {
    let mut out = String::from(
        "//! `Ops`: the common ops as methods of graphs. Generated by `cargo xtask gen`; not edited by hand.\n\n\
         use crate::options::Start;\n",
    );
    let mut methods = String::new();
    for def in common {
        method(&mut methods, def, "", "self");
    }
    imports(&mut out, &methods);
    out.push_str(
        "\n\
         /// The common ops as methods of [`Graph`](crate::Graph), under TensorFlow's names in snake case,\n\
         /// `g.maximum(x, 0)`, and the others by family: `g.linalg().cholesky(a)`.\n\
         ///\n\
         /// Inputs are values of the graph or literals. Attributes that the inputs determine are not parameters. Those\n\
         /// with a default are set beforehand, as is the node's name:\n\
         /// `g.with(\"exclusive\", true).named(\"before\").cumsum(x, 0)`.\n\
         pub trait Ops<'g>: Start<'g> + Sized {\n",
    );
    for (name, doc) in FAMILIES {
        let _ = writeln!(
            out,
            "/// {doc}\nfn {name}(self) -> super::{0}<'g> {{\nsuper::{0}::new(self.options())\n}}\n",
            title(name)
        );
    }
    out.push_str(&methods);
    out.push_str("}\n\nimpl<'g, S: Start<'g>> Ops<'g> for S {}\n");
    out
}

/// `ops/values.rs`: the trait `OutputOps`.
fn value_trait(common: &[&OpDef]) -> String {
    let mut out = String::from(
        "//! `OutputOps`: the common ops as methods of values. Generated by `cargo xtask gen`; not edited by hand.\n\n\
         use super::Ops;\n",
    );
    let mut methods = String::new();
    for def in common.iter().filter(|d| d.inputs.first().is_some_and(|a| a.count == Count::One)) {
        value_method(&mut methods, def);
    }
    imports(&mut out, &methods);
    out.push_str(
        "\n\
         /// The common ops whose first input is one tensor, as methods of that value: `x.tanh()`, `x.less(10)`.\n\
         pub trait OutputOps<'g>: Into<Output<'g>> {\n",
    );
    out.push_str(&methods);
    out.push_str("}\n\nimpl<'g> OutputOps<'g> for Output<'g> {}\n");
    out
}

/// `ops/<family>.rs`: a struct with a method for each op.
fn family_struct(name: &str, doc: &str, defs: &[&OpDef]) -> String {
    let ty = title(name);
    let mut methods = String::new();
    for def in defs {
        method(&mut methods, def, "pub ", "self.0");
    }
    let mut out = format!(
        "//! `{ty}`: a family of ops. Generated by `cargo xtask gen`; not edited by hand.\n\n\
         use crate::options::{{Options, Start}};\n"
    );
    imports(&mut out, &methods);
    out.push('\n');
    docs::wrapped(&mut out, &format!("{doc} Returned by [`Ops::{name}`](super::Ops::{name})."));
    let _ = write!(
        out,
        "\
         #[derive(Debug)]\n\
         #[must_use = \"it is for the op that follows\"]\n\
         pub struct {ty}<'g>(Options<'g>);\n\n\
         impl<'g> {ty}<'g> {{\n\
         pub(super) fn new(options: Options<'g>) -> Self {{\n{ty}(options)\n}}\n\n{methods}}}\n"
    );
    out
}

/// The imports of the types that the methods name.
fn imports(out: &mut String, methods: &str) {
    for (module, types) in [
        ("millstream_graph", &["Arg", "Op", "Output"][..]),
        ("millstream_tensor", &["DType", "PartialShape"]),
    ] {
        let code = methods.lines().filter(|line| !line.starts_with("///"));
        let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
        let used: Vec<&str> =
            types.iter().copied().filter(|ty| words.clone().any(|word| word == *ty)).collect();
        if !used.is_empty() {
            let _ = writeln!(out, "use {module}::{{{}}};", used.join(", "));
        }
    }
}

/// `nn` is `Nn`.
fn title(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn has_method(def: &OpDef) -> bool {
    matches!(def.role, Role::Compute | Role::Identity | Role::NoOp | Role::ControlTrigger)
        && !def
            .attrs
            .iter()
            .any(|(_, s)| matches!(s.kind, AttrKind::Func | AttrKind::FuncList) && s.default.is_none())
}

/// An op type's name as a method: `ConcatV2` is `concat_v2`, `L2Loss` is `l2_loss`, `Conv2D` is `conv2d`.
fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let previous = i.checked_sub(1).map(|p| chars[p]);
        let next = chars.get(i + 1).copied();
        let starts = match previous {
            None | Some('_') => false,
            Some(p) if p.is_ascii_digit() && c == 'D' => false,
            Some(p) if p.is_ascii_lowercase() || p.is_ascii_digit() => true,
            Some(_) => {
                next.is_some_and(|n| n.is_ascii_lowercase())
                    || (c == 'V' && next.is_some_and(|n| n.is_ascii_digit()))
            }
        };
        if c.is_ascii_uppercase() && starts {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A name as an identifier.
fn ident(name: &str) -> String {
    let name = snake(name);
    if KEYWORDS.contains(&name.as_str()) { name + "_" } else { name }
}

/// Required attributes that the inputs do not tell.
fn required(def: &OpDef) -> Vec<(&'static str, AttrKind)> {
    let told = |attr: &str| {
        def.inputs.iter().any(|arg| {
            matches!(arg.ty, TypeSpec::Attr(a) if a == attr)
                || matches!(arg.count, Count::Number(a) | Count::List(a) if a == attr)
        })
    };
    def.attrs.iter().filter(|(n, s)| s.default.is_none() && !told(n)).map(|(n, s)| (*n, s.kind)).collect()
}

fn parameters(def: &OpDef, skip: usize) -> String {
    let mut out = String::new();
    for arg in def.inputs.iter().skip(skip) {
        let name = ident(arg.name);
        let _ = match arg.count {
            Count::One => write!(out, ", {name}: impl Into<Arg<'g>>"),
            _ => write!(out, ", {name}: impl IntoIterator<Item = impl Into<Arg<'g>>>"),
        };
    }
    for (name, kind) in required(def) {
        let ty = match kind {
            AttrKind::Type(_) => "DType",
            AttrKind::TypeList(_) => "&[DType]",
            AttrKind::Int(_) => "i64",
            AttrKind::Float => "f32",
            AttrKind::Bool => "bool",
            AttrKind::Str(_) => "&str",
            AttrKind::Shape => "impl Into<PartialShape>",
            AttrKind::Tensor => "millstream_tensor::Tensor",
            AttrKind::IntList => "&[i64]",
            AttrKind::FloatList => "&[f32]",
            AttrKind::StrList => "&[&str]",
            AttrKind::ShapeList => "&[PartialShape]",
            // Filtered out: no op that has a method wants a function.
            AttrKind::Func | AttrKind::FuncList => continue,
        };
        let _ = write!(out, ", {}: {ty}", attr_ident(def, name));
    }
    out
}

/// A parameter for an attribute, which may be named as an input is.
fn attr_ident(def: &OpDef, name: &str) -> String {
    let plain = ident(name);
    if def.inputs.iter().any(|a| ident(a.name) == plain) { plain + "_attr" } else { plain }
}

/// The result's type, and the expression that takes it from the node.
fn result(def: &OpDef) -> (String, String) {
    match def.outputs.as_slice() {
        [] => ("Op<'g>".into(), ".finish()".into()),
        [ArgSpec { count: Count::One, .. }] => ("Output<'g>".into(), ".output()".into()),
        [_] => ("Vec<Output<'g>>".into(), ".finish().outputs()".into()),
        all if all.iter().all(|a| a.count == Count::One) => {
            let each: Vec<String> = (0..all.len()).map(|i| format!("op.output({i})")).collect();
            (format!("[Output<'g>; {}]", all.len()), format!(".finish();\n[{}]", each.join(", ")))
        }
        _ => ("Op<'g>".into(), ".finish()".into()),
    }
}

/// A method that makes the node from the options `start`.
fn method(out: &mut String, def: &OpDef, visibility: &str, start: &str) {
    docs::whole(out, def);
    let (ty, take) = result(def);
    let _ = writeln!(
        out,
        "#[track_caller]\n{visibility}fn {}(self{}) -> {ty} {{",
        ident(def.name),
        parameters(def, 0)
    );
    let array = take.contains(';');
    let _ = write!(out, "{}{start}.start({:?})", if array { "let op = " } else { "" }, def.name);
    for arg in &def.inputs {
        let adds = if arg.count == Count::One { "input" } else { "inputs" };
        let _ = write!(out, ".{adds}({})", ident(arg.name));
    }
    for (name, kind) in required(def) {
        let param = attr_ident(def, name);
        let _ = match kind {
            AttrKind::Shape => write!(out, ".attr({name:?}, {param}.into())"),
            _ => write!(out, ".attr({name:?}, {param})"),
        };
    }
    let _ = writeln!(out, "{take}\n}}\n");
}

/// The method of a value, its first input.
fn value_method(out: &mut String, def: &OpDef) {
    let name = ident(def.name);
    docs::brief(out, def);
    let _ = writeln!(out, "///\n/// See [`Ops::{name}`].");
    let (ty, _) = result(def);
    let _ = writeln!(out, "#[track_caller]\nfn {name}(self{}) -> {ty} {{", parameters(def, 1));
    let mut args = vec!["first".to_owned()];
    args.extend(def.inputs.iter().skip(1).map(|a| ident(a.name)));
    args.extend(required(def).into_iter().map(|(n, _)| attr_ident(def, n)));
    let _ = writeln!(out, "let first = self.into();\nOps::{name}(first.graph(), {})\n}}\n", args.join(", "));
}
