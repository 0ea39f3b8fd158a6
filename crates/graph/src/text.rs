//! The text form of graphs, one line per node in the order they were made. What [`Graph::to_text`] prints, [`Graph::parse`] reads
//! back, and the graph read prints the same.
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
//! Tensors stand as `{:#}` prints them. A shape that is not even known in rank is `[..]`. `set` says what was declared of a
//! shape, beside what was inferred. Types may be left out: they are inferred anyhow, and those given are checked against that.
//! Only back edges and control inputs may name a node further down. Where contexts share a name, `name#2` is the one of that
//! position. Source lines are not part of the text, nor is what is open while a graph is built (scopes, the first mistake).

mod parse;
mod print;

/// Deepest nesting of attributes in attributes that is read.
const MAX_NESTING: usize = 64;

/// Whether a name stands without quotes.
fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./\\>-".contains(c)
}

/// Whether a device stands without quotes.
fn is_bare_device(c: char) -> bool {
    is_bare(c) || ":*".contains(c)
}
