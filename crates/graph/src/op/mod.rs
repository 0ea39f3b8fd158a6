//! What an op *is*: its declaration ([`OpDef`]), how a node of it is checked ([`NodeInfo::resolve`]), how its shapes are
//! inferred ([`InferCx`]) and how it computes ([`KernelCx`]). Op library and executor meet here and nowhere else.

mod def;
mod gradient;
mod infer;
mod kernel;
mod registry;
mod resolve;

pub use def::{ArgSpec, AttrKind, AttrSpec, Count, OpDef, Operator, Role, TypeSpec, spec};
pub use gradient::{Forward, GRADIENT_OVERRIDE, GradCx, GradFn, Gradient, GradientFn, grown, zeros_of};
pub use infer::{HandleShape, InferCx, Inferred, Known};
pub use kernel::{
    Absorb, BuildCx, Completion, Cost, Effect, Kernel, KernelBody, KernelCx, Outputs, Rest, Run, RunFn,
    ScalarKernel, StepEnv, StepHost, Waits, ints_of,
};
pub use registry::Registry;
pub use resolve::NodeInfo;
pub(crate) use resolve::check_attr;
