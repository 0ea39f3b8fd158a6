//! Gradients: [`Gradients::gradients`] adds the nodes that compute them to a graph.
//!
//! This is reverse mode on the graph itself. An op's gradient function stands beside its kernel; branches and
//! loops are differentiated here. The gradient of a loop is another loop that runs backwards:
//!
//! ```text
//! forward loop                              backward loop
//! i:   0 ─► i + 1 ──────────── n ─────────► count: n ─► count - 1
//! x:   x0 ─► f(x) ────────────────────────  dx:    dy ─► dx · f'(x)       ─► gradient of x0
//! acc: [] ─► push(acc, x) ──── [x0 x1 ..] ► acc:   pop(acc) gives x
//! ```
//!
//! Forward values that the backward loop needs are saved in lists, which the forward loop carries as ordinary
//! variables (`saved` decides which). Lists are values, so the backward loop is a loop like any other and can
//! be differentiated itself: derivatives of any order work.
//!
//! - `gradients`: the public interface;
//! - `between`: the nodes between the xs and the ys, and the loops among them;
//! - `pass`: the sweep over one level (the graph around all loops, or one loop's body);
//! - `loops`: the backward loop;
//! - `checkpoint`: loops that save little and recompute the rest, by `copy`;
//! - `saved`: forward values, made available where the gradient needs them;
//! - `cut`: the choice of the values that are saved, and those that are recomputed from them;
//! - `sum`: sums of the gradients of one value;
//! - `arrays`: TensorArrays of TensorFlow 1's graphs, whose flow has a list as gradient.

mod arrays;
mod between;
mod checkpoint;
mod copy;
mod custom;
mod cut;
mod gradients;
mod loops;
mod pass;
mod saved;
mod second;
mod sum;

pub use custom::{CustomCx, CustomGradient};
pub use gradients::{Gradients, GradientsBuilder};
pub use second::Derivatives;
