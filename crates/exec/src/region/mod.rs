//! Regions: loops that run as straight code instead of by tokens.
//!
//! A loop whose nodes only compute, on values whose shapes are known, needs no tokens: its variables are
//! registers, its body is a list of instructions, and its end is a jump. So do the loops and branches inside
//! of it. When a plan is made, `raise` turns each such loop into a [`Code`]; the others stay
//! with the machine, and [`Way::Because`] names the node that is the reason.
//!
//! ```text
//!   program ──► loop tree ──► raise ──► Code ──┬─► interpret         the first rounds
//!                               │              └─► a Compiler        once it has run for a while
//!                               └─► Way::Because: stays with the machine
//! ```
//!
//! The nodes of the loop stay in the plan. The machine runs its Enters as ever; the last one to come starts
//! the region instead of the first iteration (`machine/regions.rs`). A region runs in slices, between which
//! the driver looks at the clock, the cancellation and the progress. It gives the bits that the machine
//! gives: every instruction is a step of an op's [`Expression`](millstream_graph::op::Expression), computed
//! by the same function.
//!
//! What a region cannot do it leaves to the machine. A node that fails, or memory that is short, ends the
//! slice with [`Exit::Failed`]; registers and lists are then as they were at the start of the outermost
//! iteration, and the machine goes on from there, to meet the same error with all that it says about it. The
//! same happens from the start for traced runs, dead values and lists that hold something unexpected.
//!
//! A loop that would be a region but for shapes that no plan knows becomes one in a run: when the values that
//! enter it are there, its shapes are inferred from them, and the code is made and kept for them. Runs with
//! other shapes get code of their own; what keeps changing stays with the machine.
//!
//! Branches are computed on both sides, and the value of the side that was taken is chosen afterwards. What
//! must not happen on the side not taken (an error, a loop, a change of a list) is guarded by the predicate.
//!
//! Values of more than a few elements are *blocks*: tensors of a fixed shape, on which elementwise steps run
//! tile by tile. An op that is no expression has its kernel called with tensors; what takes long enough to
//! run on another thread stays with the machine.
//!
//! - `code`: the instructions, printable;
//! - `blocks`: values too large for registers;
//! - `raise`: from the loop tree to code;
//! - `late`: code that is made in a run, for the shapes that it has;
//! - `registers`: what a running region changes;
//! - `interpret`: the instructions, one by one;
//! - `policy`: when a region is compiled.

mod blocks;
mod code;
mod interpret;
mod late;
mod policy;
mod raise;
mod registers;

pub use blocks::{Blocks, Calls, Tiles};
pub use code::{Binding, Block, Call, CallId, Code, Held, Instruction, List, Passed, Reg, TilesId};
pub use interpret::interpret;
pub(crate) use late::{Late, LoopPlan, Made, Running};
pub(crate) use policy::RegionPlan;
pub use policy::{Compiled, Compiler, Measured, Regions};
pub(crate) use raise::{raise_front, raise_loops};
pub use registers::{Exit, ListWords, Registers};

use millstream_graph::Index;
use std::fmt;

/// How a loop of a plan runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By tokens, because regions are not asked for.
    Machine,
    /// By tokens, because of this node.
    Because(Index, &'static str),
    /// As a region that is made in a run, for its shapes, because of this node.
    Late(Index, &'static str),
    /// As a region.
    Region,
    /// As a part of the region of the loop around it.
    Within,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Machine => f.write_str("by tokens"),
            Way::Because(node, why) => write!(f, "by tokens, because {node} {why}"),
            Way::Late(node, why) => write!(f, "a region made in a run, because {node} {why}"),
            Way::Region => f.write_str("a region"),
            Way::Within => f.write_str("a part of the region around it"),
        }
    }
}
