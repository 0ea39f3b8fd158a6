//! Gradients: [`Gradients::gradients`] adds to a graph the nodes that compute them.
//!
//! Reverse mode over the graph as it is. An op says beside its kernel how it is differentiated; branches and loops are differentiated
//! here. A loop's gradient is another loop that runs backwards:
//!
//! ```text
//! forward loop                              backward loop
//! i:   0 ─► i + 1 ──────────── n ─────────► count: n ─► count - 1
//! x:   x0 ─► f(x) ────────────────────────  dx:    dy ─► dx · f'(x)       ─► gradient of x0
//! acc: [] ─► push(acc, x) ──── [x0 x1 ..] ► acc:   pop(acc) gives x
//! ```
//!
//! What the backward loop needs of the forward one is saved in lists that the forward loop carries as ordinary variables (`saved`
//! decides what). Lists are values, so the backward loop is a loop like any other, and can be differentiated itself: any order works.
//!
//! - `gradients`: what callers say and get;
//! - `between`: which nodes lie between the xs and the ys, and the loops among them;
//! - `pass`: the sweep over one level (the graph around all loops, or one loop's body);
//! - `loops`: the loop that runs backwards;
//! - `checkpoint`: loops of which little is saved and the rest computed anew, by `copy`;
//! - `saved`: forward values brought to where the gradient needs them;
//! - `cut`: which of them are saved, and which are computed anew of those;
//! - `sum`: what flows together at one value;
//! - `arrays`: TensorArrays of TensorFlow 1's graphs, of whose flow the gradient is a list.

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
