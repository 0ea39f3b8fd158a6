//! The definition of an op: its declaration ([`OpDef`]), how its nodes are checked ([`NodeInfo::resolve`]),
//! how its shapes are inferred ([`InferCx`]) and how it computes ([`KernelCx`]). The op library and the
//! executor meet here and nowhere else.

mod builtin;
mod def;
pub mod expression;
mod gradient;
mod infer;
mod kernel;
pub mod lone;
mod panics;
mod registry;
mod resolve;
mod tile;

pub use builtin::{Builtin, StartBuiltin};
pub use def::{ArgSpec, AttrKind, AttrSpec, Count, Meaning, OpDef, Operator, Role, TypeSpec, spec};
pub use expression::{Expression, Lowering};
pub use gradient::{Forward, GRADIENT_OVERRIDE, GradCx, GradFn, Gradient, GradientFn, grown, zeros_of};
pub use infer::{HandleShape, InferCx, Inferred, Known};
pub use kernel::{
    Absorb, BuildCx, CallFunction, Changes, Completion, Cost, Effect, Fuse, Kernel, KernelBody, KernelCx,
    Library, NoLibrary, Outputs, PrintStream, Rest, Run, RunFn, ScalarKernel, StepEnv, StepHost, Waits,
    ints_of,
};
pub use panics::caught;
pub use registry::Registry;
pub(crate) use registry::similar;
pub(crate) use resolve::check_attr;
pub use resolve::{NodeInfo, n_outputs};
pub use tile::{SliceFn, Tile, TileElement, TileFn, TileFns, TileMut, TileRef};
