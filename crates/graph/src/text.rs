//! The text form of graphs: one line per node, in the order in which they were made. [`Graph::parse`] reads
//! back the text that [`Graph::to_text`] prints, and the resulting graph prints the same text.
//!
//! ```text
//! graph seed=7
//! %x = Placeholder() {dtype=f32, shape=[?,3]} : f32[?,3] @/device:CPU:0
//! %while/Merge = Merge(%while/Enter, %while/NextIteration) ^x {N=2, T=f32} : f32[?,3], i32[] in while/while_context
//! while while/while_context parallel=10 back_prop=true pivot=%while/LoopCond enters=(%while/Enter) external=(%x = %while/Enter_1)
//! collection train_op (node "x", int 3, context while/while_context)
//! ```
//!
//! ```text
//! name    = letters, digits and _ . / \ > -, or any text in quotes
//! port    = "%" name [":" output]        without a number: the first output; "%?" is a back edge that is still open
//! node    = "%" name "=" op "(" ports ")" {"^" name} ["{" attrs "}"] [":" types] ["@" device] ["in" context]
//! attr    = name "=" value
//! value   = "text" | 5 | 5.0 | true | f32 | f32& | [2,?] | tensor | "@" function "{" attrs "}" | "(" values ")"
//! type    = dtype ["&"] [shape] ["set" shape]
//! context = ("while" | "cond") name ["in" context] {field "=" value}
//! ```
//!
//! Tensors have the form that `{:#}` prints. A shape of unknown rank is `[..]`. `set` precedes a declared
//! shape, which is listed beside the inferred one. Types may be left out: they are inferred, and those given
//! are checked against the inferred ones. Only back edges and control inputs may name a node further down. If
//! contexts share a name, `name#2` is the second of them. The text contains neither source lines nor the
//! state of building (open scopes, the first mistake).

mod parse;
mod print;

/// The deepest nesting of attributes that is read.
const MAX_NESTING: usize = 64;

/// Whether a character of a name needs no quotes.
fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./\\>-".contains(c)
}

/// Whether a character of a device needs no quotes.
fn is_bare_device(c: char) -> bool {
    is_bare(c) || ":*".contains(c)
}
