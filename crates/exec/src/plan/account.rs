//! [`Account`]: what became of each node of a program in a plan, for people. Made by making the plan once more, with nothing kept.

use super::{Builder, Kind, LASTS, Left, NO_SLOT, Plan, PlanOptions, Value};
use crate::plan::Body;
use millstream_graph::op::Role;
use millstream_graph::{Index, Program};
use millstream_state::Resources;
use millstream_tensor::Result;

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its value is given by a feed.
    Fed,
    /// Its kernel runs.
    Kernel,
    /// Its kernel runs; where its inputs are scalars, a function on those alone does.
    Scalar,
    /// Its kernel runs, and may wait for something outside.
    Waits,
    /// It gives a handle that lasts: it runs in the first run with these resources.
    Once,
    /// It sends values on their way: the machine does it without a kernel.
    Routes,
    /// A constant that its readers read where it is.
    Constant,
    /// Computed when the plan was made.
    Folded,
    /// Its readers read its input.
    PassedOver,
    /// Its only reader does its work: the program's node with this number.
    Fused(Index),
    /// A loop variable's `Merge`, whose inputs write where its readers read.
    Bypassed,
}

impl std::fmt::Display for Fate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Fate::Fed => "fed",
            Fate::Kernel => "kernel",
            Fate::Scalar => "kernel, scalars by a short way",
            Fate::Waits => "kernel that may wait",
            Fate::Once => "first run only",
            Fate::Routes => "routing",
            Fate::Constant => "constant",
            Fate::Folded => "computed beforehand",
            Fate::PassedOver => "passed over",
            Fate::Fused(_) => "done by its reader",
            Fate::Bypassed => "bypassed",
        })
    }
}

/// What became of a program.
#[derive(Clone, Debug)]
pub struct Account {
    /// Of each node.
    pub fates: Vec<Fate>,
    /// How many iterations of each frame may be alive at a time, in fact.
    pub parallel: Vec<u32>,
    /// The frames forced to one iteration at a time because variables are written in them.
    pub serialized: Vec<bool>,
}

impl Account {
    /// What becomes of a program with these options.
    pub fn of(program: &Program, options: &PlanOptions) -> Result<Account> {
        let mut builder = Builder::new(program, options);
        builder.leave_out()?;
        let left: Vec<Option<Fate>> =
            (0..program.nodes.len()).map(|n| Some(builder.fate_left(n, builder.left[n].as_ref()?))).collect();
        let mut drafts = builder.draft()?;
        let serialized = builder.order_accesses(&mut drafts);
        builder.small_first(&mut drafts);
        let position = builder.position.clone();
        let plan = builder.lay_out(drafts, serialized.clone(), &Resources::new())?;
        let fates =
            left.into_iter().zip(position).map(|(left, at)| left.unwrap_or_else(|| plan.fate(at as usize)));
        Ok(Account {
            fates: fates.collect(),
            parallel: plan.frames.iter().map(|f| f.parallel).collect(),
            serialized,
        })
    }
}

impl Builder<'_> {
    /// Of a node that was left out.
    fn fate_left(&self, n: usize, left: &Left) -> Fate {
        let role = self.program.nodes[n].role();
        match left.value {
            Some(Value::Constant(_)) if role == Role::Const => Fate::Constant,
            Some(Value::Constant(_)) if role == Role::Compute => Fate::Folded,
            _ if role == Role::Compute => {
                let reader = self.instead.keys().find(|r| {
                    self.program.nodes[**r as usize].inputs.first().is_some_and(|s| s.node as usize == n)
                });
                reader.map_or(Fate::PassedOver, |r| Fate::Fused(*r))
            }
            _ => Fate::PassedOver,
        }
    }
}

impl Plan {
    /// Of the plan's node with this number.
    fn fate(&self, at: usize) -> Fate {
        let (node, label) = (&self.nodes[at], &self.labels[at]);
        let lasts = label.frame == 0
            && node.slot != NO_SLOT
            && self.frames[0].uses.get(node.slot as usize).is_some_and(|uses| LASTS <= *uses);
        match node.kind {
            Kind::Feed => Fate::Fed,
            Kind::Unary(..) | Kind::Binary(..) => Fate::Scalar,
            Kind::Kernel(_) if lasts => Fate::Once,
            Kind::Kernel(k) => match self.kernels[k as usize].body {
                Body::Waits(_) => Fate::Waits,
                Body::Run(_) | Body::Prepared(_) => Fate::Kernel,
            },
            Kind::Merge(m) => match self.frames[label.frame as usize].merges[m as usize].bypassed {
                true => Fate::Bypassed,
                false => Fate::Routes,
            },
            _ => Fate::Routes,
        }
    }
}
