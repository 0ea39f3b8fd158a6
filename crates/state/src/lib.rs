//! State that outlives a step: named resources, variables, TensorArrays, stacks, queues, readers, tables,
//! maps of sparse tensors, accumulators of gradients and tensors kept under handles; functions of the host
//! program; computations of several processes ([`collective`]); cancellation, and work that nothing can
//! interrupt ([`apart()`]).
//!
//! The crate knows no graphs and runs no kernels.

mod accumulator;
mod activity;
mod apart;
mod cancel;
mod closures;
pub mod collective;
mod host;
pub mod journal;
mod line;
mod loans;
mod machine;
mod queue;
mod reader;
mod resources;
mod session_tensors;
mod sparse_tensors_map;
mod stack;
mod sync;
mod table;
mod tensor_array;
mod variable;

pub use accumulator::{Accumulator, AccumulatorSpec, Gathered, GatheredSum};
pub use activity::{Activity, Asleep, Job, Threads};
pub use apart::apart;
pub use cancel::{Cancellation, Registration};
pub use closures::this_thread;
pub use host::{HostFunction, HostFunctions, HostToken, in_host_function};
pub use line::{Given, Lent, Line, Outcome, Undo, Work};
pub use loans::Loans;
pub use machine::machine_memory;
pub use queue::{
    Answer, Ask, Barrier, Batches, Client, Closing, Dequeued, Elsewhere, Item, ItemStore, Loan, Looked,
    Purpose, Queue, QueueKind, QueueReport, QueueSpec, QueueStore, Take, Taken, Tally, Waiter, Waiting,
    dtype_names,
};
pub use reader::{Format, Found, Progress, Reader, Reading, Record, Records};
pub use resources::{AnyQueue, Resources};
pub use session_tensors::SessionTensors;
pub use sparse_tensors_map::{Sparse, SparseTensorsMap};
pub use stack::Stack;
pub use table::{Dense, Table, TableKind, TableSpec};
pub use tensor_array::{Sum, TensorArray, TensorArrayOptions};
pub use variable::{Held, Variable};
