//! [`Plan`]: a program laid out for the machine. Immutable and `Sync`; all that changes during a run is in the step.
//!
//! # Layout
//!
//! Values stay where they were made and consumers come to read them: a node's output has a *slot* in the slab of its
//! iteration, and an input is a number that says where to read. Only the arrival is told, by counting down:
//!
//! ```text
//!   iteration slab    values[slot]    uses[slot]    pending[node]    merges[merge]
//!   input             00|slot   a slot of the iteration the node runs in
//!                     01|index  a constant of the plan
//!                     10|index  an invariant of the frame (a constant Enter)
//! ```
//!
//! The last consumer takes the value out of its slot, so that its kernel may write in place.
//!
//! # What is left out
//!
//! A `Const` is never run where its consumers can read it from the plan; an `Identity` or `LoopCond` never where they can read
//! its input. The control edges of a node left out move to its consumers, with the deadness of the port they
//! came from. A node with a `Merge` among its consumers is only left out if it has no control inputs, since a merge treats them otherwise.
//! When a run is traced nothing is left out.

use millstream_graph::op::{
    BuildCx, Cost, Effect, KernelBody, KernelCx, NodeInfo, Role, Run, RunFn, ScalarKernel,
};
use millstream_graph::{Index, Program, ProgramNode, Source};
use millstream_state::Resources;
use millstream_tensor::{Error, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a plan is made.
#[derive(Clone, Default, Debug)]
pub struct PlanOptions {
    /// Every node is run and seen: nothing is folded or left out.
    pub keep_all: bool,
    /// Overrides `parallel_iterations` of every frame.
    pub parallel_iterations: Option<u32>,
    /// Every kernel may be given to another thread, however short it is: for tests of what runs at the same time.
    pub hand_out_all: bool,
}

/// More iterations than this are never alive at a time, whatever `parallel_iterations` says: the result is the same, and a
/// counter cannot run ahead of its data without bound.
pub const MAX_LIVE_ITERATIONS: u32 = 1024;

/// A program laid out for the machine.
pub struct Plan {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) inputs: Vec<Input>,
    /// The slots of the nodes' outputs, one after another.
    pub(crate) slots: Vec<u32>,
    pub(crate) frames: Vec<FramePlan>,
    pub(crate) constants: Vec<Tensor>,
    /// Stands for a value that is not there; no live node reads it.
    pub(crate) nothing: Tensor,
    pub(crate) kernels: Vec<KernelPlan>,
    /// For each feed the node that stands for it.
    pub(crate) feeds: Vec<Option<u32>>,
    pub(crate) n_fetches: usize,
    /// Nodes of the root that wait for nothing.
    pub(crate) initial: Vec<u32>,
    /// What the nodes were made of: names for messages.
    pub(crate) labels: Vec<Label>,
    /// Frames forced to one iteration at a time because variables are written in them.
    pub(crate) serialized: Vec<String>,
    /// Some kernel may wait.
    pub(crate) may_wait: bool,
    /// Every kernel may be given to another thread.
    pub(crate) hand_out_all: bool,
}

/// What messages and traces say of a node.
pub(crate) struct Label {
    pub name: String,
    pub op: &'static str,
    pub at: &'static std::panic::Location<'static>,
}

/// A node as the machine sees it.
pub(crate) struct Node {
    pub kind: Kind,
    /// The first two inputs, which most nodes are through with.
    pub leading: [Input; 2],
    pub first_input: u32,
    pub n_inputs: u32,
    /// The first output's slot; [`NO_SLOT`] if nobody reads it. All of them: [`Plan::slots`].
    pub slot: u32,
    pub first_slot: u32,
    pub n_slots: u32,
    /// Edges of output 0, of output 1 and all others; only a `Switch` needs them apart.
    pub edges: [u32; 4],
    /// The frame that the node runs in.
    pub frame: u32,
}

pub(crate) const NO_SLOT: u32 = u32::MAX;

/// What the machine does with a node.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Unary(fn(&millstream_tensor::Scalar) -> Option<millstream_tensor::Scalar>, u32),
    Binary(
        fn(&millstream_tensor::Scalar, &millstream_tensor::Scalar) -> Option<millstream_tensor::Scalar>,
        u32,
    ),
    Kernel(u32),
    /// Passes its input on.
    Forward,
    /// Runs for its edges alone.
    Nothing,
    Switch,
    Merge(u32),
    Enter(u32),
    /// A constant Enter: the frame, and which of its invariants it gives.
    EnterConstant(u32, u32),
    Exit(u32),
    NextIteration,
    Feed,
    Fetch(u32),
}

/// An arrival: which node it counts down.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub node: u32,
    /// Where the node's pending count is in the slab; for a merge, which merge.
    pub local: u32,
    pub to: To,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// Counts down; a dead arrival makes the node dead.
    Node,
    /// Counts down; deadness is not passed on.
    Weak,
    /// Counts down; a dead arrival is not even counted (Exits and NextIterations swallow it).
    LiveOnly,
    /// Data input `k` of a merge.
    Merge(u32),
    /// A control input of a merge.
    MergeControl,
}

/// Where to read an input.
#[derive(Clone, Copy)]
pub(crate) struct Input(u32);

pub(crate) enum Place {
    Slot(usize),
    Constant(usize),
    Invariant(usize),
}

impl Input {
    const DEREF: u32 = 1 << 29;

    fn new(tag: u32, index: u32, deref: bool) -> Result<Input> {
        if index >= Self::DEREF {
            return Err(invalid!("the graph is too large: more than 2^29 values in one frame"));
        }
        Ok(Input(tag << 30 | index | if deref { Self::DEREF } else { 0 }))
    }

    #[inline]
    pub(crate) fn place(self) -> Place {
        let index = (self.0 & (Self::DEREF - 1)) as usize;
        match self.0 >> 30 {
            0 => Place::Slot(index),
            1 => Place::Constant(index),
            _ => Place::Invariant(index),
        }
    }

    /// Whether what is read is a reference to a variable, and the variable's value is wanted.
    #[inline]
    pub(crate) fn deref(self) -> bool {
        self.0 & Self::DEREF != 0
    }
}

/// The kernel of a node, prepared.
pub(crate) struct KernelPlan {
    pub info: Arc<NodeInfo>,
    pub body: Body,
}

pub(crate) enum Body {
    Run(RunFn),
    Prepared(Box<dyn Run>),
    Async(millstream_graph::op::AsyncStart),
}

/// What every iteration of a frame starts as.
#[derive(Default)]
pub(crate) struct FramePlan {
    pub name: String,
    pub parent: u32,
    pub parallel: u32,
    pub n_slots: u32,
    /// Pending counts when nothing has arrived, and when all invariants have.
    pub pending: Vec<u32>,
    pub pending_with_invariants: Vec<u32>,
    pub uses: Vec<u32>,
    pub merges: Vec<MergeState>,
    /// Nodes that the invariants alone make ready.
    pub ready_with_invariants: Vec<u32>,
    pub n_enters: u32,
    /// The constant Enters, by invariant.
    pub invariants: Vec<u32>,
    /// Edges from invariants to merges, which the short way above leaves out.
    pub invariant_merges: Vec<u32>,
    /// The Exits, as nodes.
    pub exits: Vec<u32>,
}

/// How far a merge has got.
#[derive(Clone, Copy)]
pub(crate) struct MergeState {
    pub data_left: u32,
    pub controls_left: u32,
    /// The input that came first; [`MergeState::NONE`] before.
    pub chosen: u32,
    /// A merge of a loop variable: one token, from the Enter or the NextIteration, decides.
    pub is_loop: bool,
    /// A live token may go straight on to the merge's consumers: the value is where they read it, and nothing else is left to do.
    pub passes: bool,
}

impl MergeState {
    pub(crate) const NONE: u32 = u32::MAX;
    pub(crate) const DEAD: u32 = u32::MAX - 1;
}

impl KernelPlan {
    /// Nanoseconds that the kernel will take, roughly.
    pub(crate) fn cost(&self, inputs: &[Tensor]) -> f64 {
        match self.info.op.kernel.cost {
            Cost::PerElement(ns) => {
                f64::from(ns) * inputs.iter().map(Tensor::elements).max().unwrap_or(1) as f64
            }
            Cost::Estimate(estimate) => estimate(&self.info, inputs),
        }
    }

    /// Computes; a panic becomes an error.
    pub(crate) fn run(&self, cx: &mut KernelCx) -> Result<()> {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match &self.body {
            Body::Run(run) => run(cx),
            Body::Prepared(kernel) => kernel.run(cx),
            Body::Async(_) => Err(Error::internal("a waiting kernel was run like any other")),
        }));
        result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(Error::internal(format!("the kernel panicked: {text}")))
        })
    }
}

/// What a node's consumers use instead of it.
#[derive(Clone, Default)]
struct Left {
    /// A value of the plan, or an output of another node.
    value: Option<Value>,
    /// What its control edges became.
    controls: SmallVec<[Control; 2]>,
}

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Constant(u32),
    Source(Source),
}

/// A control edge: from a node whole, or with the deadness of one of its outputs.
#[derive(Clone, Copy, PartialEq)]
struct Control {
    node: Index,
    port: Option<u32>,
}

/// How many control edges a node left out may pass on to each consumer.
const MAX_MOVED_CONTROLS: usize = 4;

impl Plan {
    /// Lays a program out. `kernel_state` is where prepared kernels keep their state.
    pub fn new(program: &Program, kernel_state: &Resources, options: &PlanOptions) -> Result<Plan> {
        Builder::new(program, options).build(kernel_state)
    }

    /// How many nodes the machine runs (those left out not counted).
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The slots of a node's outputs.
    pub(crate) fn slots(&self, node: &Node) -> &[u32] {
        &self.slots[node.first_slot as usize..(node.first_slot + node.n_slots) as usize]
    }

    /// The slot of one output; [`NO_SLOT`] if nobody reads it.
    pub(crate) fn slot(&self, node: &Node, output: usize) -> u32 {
        self.slots(node).get(output).copied().unwrap_or(NO_SLOT)
    }

    /// The name of what fetch `k` asked for.
    pub(crate) fn fetch_name(&self, k: usize) -> &str {
        let at = self.nodes.iter().position(|n| matches!(n.kind, Kind::Fetch(i) if i as usize == k));
        at.map_or("", |n| &self.labels[n].name)
    }

    /// The loops that run one iteration at a time because variables are written in them.
    pub fn serialized_loops(&self) -> &[String] {
        &self.serialized
    }
}

struct Builder<'a> {
    program: &'a Program,
    options: &'a PlanOptions,
    left: Vec<Option<Left>>,
    constants: Vec<Tensor>,
    /// The plan's node of each node kept.
    position: Vec<u32>,
}

/// A node of the plan with its edges still as sources.
struct Draft {
    origin: Option<Index>,
    fetch: Option<u32>,
    inputs: SmallVec<[Value; 2]>,
    controls: SmallVec<[Control; 2]>,
    /// Plan nodes that must have run before, dead or alive.
    weak: SmallVec<[u32; 1]>,
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, options: &'a PlanOptions) -> Self {
        let n = program.nodes.len();
        Builder { program, options, left: vec![None; n], constants: Vec::new(), position: vec![NO_SLOT; n] }
    }

    fn node(&self, n: Index) -> &'a ProgramNode {
        &self.program.nodes[n as usize]
    }

    fn build(mut self, kernel_state: &Resources) -> Result<Plan> {
        self.leave_out()?;
        let mut drafts = self.draft()?;
        let serialized = self.order_accesses(&mut drafts);
        self.lay_out(drafts, serialized, kernel_state)
    }

    /// The frame that a node runs in: where its inputs are.
    fn run_frame(&self, n: Index) -> u32 {
        let node = self.node(n);
        match node.role() {
            Role::Enter => self.program.frames[node.frame as usize].parent,
            Role::Exit => node.inputs.first().map_or(0, |s| self.node(s.node).frame),
            _ => node.frame,
        }
    }

    // 1. Which nodes are left out, and what stands for them.

    fn leave_out(&mut self) -> Result<()> {
        if self.options.keep_all {
            return Ok(());
        }
        let mut feeds_merge = vec![false; self.program.nodes.len()];
        for node in self.program.nodes.iter().filter(|n| n.role() == Role::Merge) {
            for input in &node.inputs {
                feeds_merge[input.node as usize] = true;
            }
        }
        for &n in &self.program.order {
            let node = self.node(n);
            let Some(info) = node.info() else { continue };
            if feeds_merge[n as usize] && (!node.controls.is_empty() || info.op.role == Role::Const) {
                continue;
            }
            let controls = self.moved_controls(n);
            if controls.len() > MAX_MOVED_CONTROLS {
                continue;
            }
            let value = match info.op.role {
                Role::Const => Some(Value::Constant(self.constant(info.attrs.tensor("value")?.clone())?)),
                Role::Identity | Role::LoopCond if !self.reads_ref(n, 0) => {
                    node.inputs.first().map(|s| self.resolve(*s))
                }
                Role::Compute if node.controls.is_empty() => match self.folded(n) {
                    Some(value) => Some(Value::Constant(self.constant(value)?)),
                    None => continue,
                },
                _ => continue,
            };
            if matches!(value, Some(Value::Constant(_))) && feeds_merge[n as usize] {
                continue;
            }
            self.left[n as usize] = Some(Left { value, controls });
        }
        Ok(())
    }

    fn constant(&mut self, value: Tensor) -> Result<u32> {
        let index = u32::try_from(self.constants.len()).map_err(|_| invalid!("too many constants"))?;
        self.constants.push(value);
        Ok(index)
    }

    /// Whether input `i` is a reference whose variable's value the node wants.
    fn reads_ref(&self, n: Index, i: usize) -> bool {
        let node = self.node(n);
        let source = node.inputs[i];
        let wants_ref = node.info().is_some_and(|info| info.input_types.get(i).is_some_and(|t| t.is_ref));
        !wants_ref && self.node(source.node).output_is_ref(source.index)
    }

    /// What a source stands for once nodes are left out.
    fn resolve(&self, source: Source) -> Value {
        match self.left[source.node as usize].as_ref().and_then(|l| l.value) {
            Some(Value::Constant(c)) => Value::Constant(c),
            Some(value) => value,
            None => Value::Source(source),
        }
    }

    /// The control edges of a node, and those that come with inputs and controls that were left out.
    fn moved_controls(&self, n: Index) -> SmallVec<[Control; 2]> {
        let node = self.node(n);
        let mut controls: SmallVec<[Control; 2]> = SmallVec::new();
        let mut add = |c: Control| {
            if !controls.contains(&c) {
                controls.push(c);
            }
        };
        for &c in &node.controls {
            match &self.left[c as usize] {
                None => add(Control { node: c, port: None }),
                Some(left) => {
                    left.controls.iter().copied().for_each(&mut add);
                    if let Some(Value::Source(s)) = left.value {
                        add(Control { node: s.node, port: Some(s.index) });
                    }
                }
            }
        }
        for input in &node.inputs {
            if let Some(left) = &self.left[input.node as usize] {
                left.controls.iter().copied().for_each(&mut add);
            }
        }
        controls
    }

    /// The value of a pure node of the root whose inputs are all constants, if it is small.
    fn folded(&self, n: Index) -> Option<Tensor> {
        let node = self.node(n);
        let info = node.info()?;
        let kernel = &info.op.kernel;
        let one = info.output_types.len() == 1 && !info.output_types[0].is_ref;
        let small = node.shapes.first()?.elements().is_some_and(|n| n <= 1 << 14);
        if kernel.effect != Effect::Pure || !one || !small || node.inputs.is_empty() || node.frame != 0 {
            return None;
        }
        let inputs: Option<Vec<Tensor>> = node
            .inputs
            .iter()
            .map(|s| match self.resolve(*s) {
                Value::Constant(c) if self.moved_controls(n).is_empty() => {
                    self.constants.get(c as usize).filter(|t| t.elements() <= 1 << 14).cloned()
                }
                _ => None,
            })
            .collect();
        self.program_fold(info, &inputs?)
    }

    fn program_fold(&self, info: &NodeInfo, inputs: &[Tensor]) -> Option<Tensor> {
        let env = crate::lone::env();
        let mut inputs = inputs.to_vec();
        let mut outputs: SmallVec<[Option<Tensor>; 1]> = SmallVec::from_elem(None, 1);
        let mut cx = KernelCx::new(info, &env, &mut inputs, &mut outputs);
        let kernel = prepare(&Arc::new(info.clone()), &env.kernel_state).ok()?;
        if matches!(kernel.body, Body::Async(_)) {
            return None;
        }
        // An error is left for the run to report.
        kernel.run(&mut cx).ok()?;
        outputs.pop()?
    }

    // 2. The nodes that stay, with what they wait for.

    fn draft(&mut self) -> Result<Vec<Draft>> {
        let mut drafts = Vec::new();
        for (n, node) in self.program.nodes.iter().enumerate() {
            if self.left[n].is_some() {
                continue;
            }
            self.position[n] = drafts.len() as u32;
            let mut inputs: SmallVec<[Value; 2]> = node.inputs.iter().map(|s| self.resolve(*s)).collect();
            if let Some(info) = node.info()
                && info.op.role == Role::Const
            {
                // A Const that is kept passes its own value on.
                inputs.push(Value::Constant(self.constant(info.attrs.tensor("value")?.clone())?));
            }
            let mut controls = self.moved_controls(n as Index);
            drop_implied(&mut controls, &inputs, |n| self.node(n).role() == Role::Switch);
            drafts.push(Draft {
                origin: Some(n as Index),
                fetch: None,
                inputs,
                controls,
                weak: SmallVec::new(),
            });
        }
        for (k, source) in self.program.fetches.iter().enumerate() {
            let inputs: SmallVec<[Value; 2]> = [self.resolve(*source)].into_iter().collect();
            let mut controls: SmallVec<[Control; 2]> =
                self.left[source.node as usize].as_ref().map(|l| l.controls.clone()).unwrap_or_default();
            drop_implied(&mut controls, &inputs, |n| self.node(n).role() == Role::Switch);
            drafts.push(Draft {
                origin: None,
                fetch: Some(k as u32),
                inputs,
                controls,
                weak: SmallVec::new(),
            });
        }
        Ok(drafts)
    }

    // 3. Accesses to a variable that is written get the order of the program.

    /// Adds weak edges between accesses to the same variable within a frame; gives the frames that must run one iteration at a time.
    fn order_accesses(&self, drafts: &mut [Draft]) -> Vec<bool> {
        let mut serialized = vec![false; self.program.frames.len()];
        let mut accesses: BTreeMap<Index, Vec<(Index, bool)>> = BTreeMap::new();
        for &n in &self.program.order {
            let node = self.node(n);
            if self.left[n as usize].is_some() {
                continue;
            }
            let effect = node.info().map_or(Effect::Pure, |i| i.op.kernel.effect);
            if matches!(effect, Effect::Reads | Effect::Writes)
                && let Some(variable) = node.inputs.first().and_then(|s| self.variable(*s))
            {
                accesses.entry(variable).or_default().push((n, effect == Effect::Writes));
                continue;
            }
            for i in 0..node.inputs.len() {
                if self.reads_ref(n, i)
                    && let Some(variable) = self.variable(node.inputs[i])
                {
                    accesses.entry(variable).or_default().push((n, false));
                }
            }
        }
        for list in accesses.values().filter(|l| l.iter().any(|(_, writes)| *writes)) {
            for &(n, _) in list {
                let mut frame = self.run_frame(n);
                while frame != 0 {
                    serialized[frame as usize] = true;
                    frame = self.program.frames[frame as usize].parent;
                }
            }
            self.chain(list, drafts);
        }
        serialized
    }

    fn chain(&self, list: &[(Index, bool)], drafts: &mut [Draft]) {
        let mut frames: BTreeMap<u32, (Option<u32>, Vec<u32>)> = BTreeMap::new();
        for &(n, writes) in list {
            let (last_write, reads) = frames.entry(self.run_frame(n)).or_default();
            let here = self.position[n as usize];
            let weak = &mut drafts[here as usize].weak;
            match (writes, &*reads) {
                (true, reads) if !reads.is_empty() => {
                    weak.extend(reads.iter().copied().filter(|r| *r != here))
                }
                _ => weak.extend(*last_write),
            }
            match writes {
                true => {
                    *last_write = Some(here);
                    reads.clear();
                }
                false => reads.push(here),
            }
        }
    }

    /// The node that made the variable that a handle or reference leads to; nodes of one shared name are one variable.
    fn variable(&self, mut source: Source) -> Option<Index> {
        for _ in 0..self.program.nodes.len() {
            let node = self.node(source.node);
            let info = node.info()?;
            let passes_ref = info.op.role == Role::Compute
                && info.output_types.get(source.index as usize).is_some_and(|t| t.is_ref)
                && info.input_types.first().is_some_and(|t| t.is_ref);
            if node.inputs.is_empty() || !(info.op.role != Role::Compute || passes_ref) {
                return Some(self.namesake(source.node));
            }
            source = node.inputs[0];
        }
        None
    }

    /// The first node with the same `shared_name` as this one.
    fn namesake(&self, n: Index) -> Index {
        let key = |n: &ProgramNode| {
            let info = n.info()?;
            let name = info.attrs.str("shared_name").ok().filter(|s| !s.is_empty()).cloned()?;
            Some((name, info.attrs.str("container").ok().cloned()))
        };
        let Some(wanted) = key(self.node(n)) else { return n };
        self.program.nodes.iter().position(|m| key(m).as_ref() == Some(&wanted)).map_or(n, |p| p as Index)
    }

    // 4. Slots, counts, edges.

    fn lay_out(
        mut self,
        drafts: Vec<Draft>,
        serialized: Vec<bool>,
        kernel_state: &Resources,
    ) -> Result<Plan> {
        let mut frames: Vec<FramePlan> = self
            .program
            .frames
            .iter()
            .zip(&serialized)
            .map(|(f, serialized)| FramePlan {
                name: f.name.clone(),
                parent: f.parent,
                parallel: match (*serialized, self.options.parallel_iterations) {
                    (true, _) => 1,
                    (false, Some(n)) => n.clamp(1, MAX_LIVE_ITERATIONS),
                    (false, None) => f.parallel_iterations.clamp(1, MAX_LIVE_ITERATIONS),
                },
                ..FramePlan::default()
            })
            .collect();

        // Who reads each output: counted for slots, collected for edges.
        let mut readers: Vec<Vec<(u32, u32)>> = vec![Vec::new(); drafts.len()];
        let mut n_reads: Vec<SmallVec<[u32; 2]>> = drafts
            .iter()
            .map(|d| SmallVec::from_elem(0, d.origin.map_or(0, |n| self.node(n).n_outputs())))
            .collect();
        for (d, draft) in drafts.iter().enumerate() {
            for (i, value) in draft.inputs.iter().enumerate() {
                if let Value::Source(s) = value {
                    let from = self.position[s.node as usize] as usize;
                    readers[from].push((d as u32, i as u32));
                    n_reads[from][s.index as usize] += 1;
                }
            }
        }

        let mut nodes: Vec<Node> = Vec::with_capacity(drafts.len());
        let mut kernels = Vec::new();
        let mut locals = vec![0u32; drafts.len()];
        let mut invariant_of = vec![NO_SLOT; drafts.len()];
        for (d, draft) in drafts.iter().enumerate() {
            let frame = draft.origin.map_or(0, |n| self.run_frame(n));
            let kind = self.kind(draft, &mut frames, &mut kernels, kernel_state, d as u32)?;
            if let Kind::EnterConstant(_, invariant) = kind {
                invariant_of[d] = invariant;
            }
            locals[d] = match kind {
                Kind::Merge(merge) => merge,
                _ => {
                    let frame = &mut frames[frame as usize];
                    frame.pending.push(0);
                    (frame.pending.len() - 1) as u32
                }
            };
            nodes.push(Node {
                kind,
                leading: [Input(1 << 30); 2],
                first_input: 0,
                n_inputs: draft.inputs.len() as u32,
                slot: NO_SLOT,
                first_slot: 0,
                n_slots: 0,
                edges: [0; 4],
                frame,
            });
        }

        let slots = self.assign_slots(&drafts, &mut nodes, &mut frames, &n_reads, &readers);
        let inputs = self.inputs(&drafts, &mut nodes, &slots, &invariant_of)?;
        mark_passing(&nodes, &inputs, &slots, &mut frames, self.options.keep_all);
        let edges = self.edges(&drafts, &mut nodes, &mut frames, &locals);

        let mut initial = Vec::new();
        for (d, draft) in drafts.iter().enumerate() {
            let waits = draft.inputs.iter().any(|v| matches!(v, Value::Source(_)))
                || !draft.controls.is_empty()
                || !draft.weak.is_empty();
            if !waits && !matches!(nodes[d].kind, Kind::Feed | Kind::Merge(_)) {
                initial.push(d as u32);
            }
        }
        for node in &mut nodes {
            let all = &inputs[node.first_input as usize..(node.first_input + node.n_inputs) as usize];
            for (leading, input) in node.leading.iter_mut().zip(all) {
                *leading = *input;
            }
        }
        self.apply_invariants(&nodes, &edges, &mut frames);
        let labels = drafts
            .iter()
            .map(|draft| match draft.origin {
                Some(n) => {
                    let node = self.node(n);
                    let op = node.info().map_or("feed", |i| i.op.name);
                    Label { name: node.name().to_owned(), op, at: node.at }
                }
                None => {
                    let fetched = self.program.fetches[draft.fetch.unwrap_or(0) as usize];
                    let node = self.node(fetched.node);
                    Label { name: format!("{}:{}", node.name(), fetched.index), op: "fetch", at: node.at }
                }
            })
            .collect();
        let serialized_names =
            frames.iter().zip(&serialized).filter(|(_, s)| **s).map(|(f, _)| f.name.clone()).collect();
        Ok(Plan {
            feeds: self
                .program
                .feeds
                .iter()
                .map(|f| f.map(|n| self.position[n as usize]).filter(|p| *p != NO_SLOT))
                .collect(),
            n_fetches: self.program.fetches.len(),
            constants: std::mem::take(&mut self.constants),
            nothing: Tensor::scalar(false),
            nodes,
            edges,
            inputs,
            slots,
            frames,
            hand_out_all: self.options.hand_out_all,
            may_wait: kernels.iter().any(|k: &KernelPlan| matches!(k.body, Body::Async(_))),
            kernels,
            initial,
            labels,
            serialized: serialized_names,
        })
    }

    fn kind(
        &self,
        draft: &Draft,
        frames: &mut [FramePlan],
        kernels: &mut Vec<KernelPlan>,
        kernel_state: &Resources,
        here: u32,
    ) -> Result<Kind> {
        let Some(n) = draft.origin else { return Ok(Kind::Fetch(draft.fetch.unwrap_or(0))) };
        let node = self.node(n);
        let Some(info) = node.info() else { return Ok(Kind::Feed) };
        let frame = node.frame;
        Ok(match info.op.role {
            Role::Placeholder => {
                return Err(invalid!(
                    "the placeholder `{}` ({}{}) must be fed",
                    info.name,
                    info.output_types[0],
                    node.shapes[0]
                )
                .at_node(&info.name, info.op.name)
                .at_line(node.at)
                .with_help(format!("add a value for `{}:0` to the feeds", info.name)));
            }
            Role::Const | Role::Identity | Role::LoopCond => Kind::Forward,
            Role::NoOp | Role::ControlTrigger => Kind::Nothing,
            Role::Switch => Kind::Switch,
            Role::NextIteration => Kind::NextIteration,
            Role::Exit => {
                frames[self.run_frame(n) as usize].exits.push(here);
                Kind::Exit(self.run_frame(n))
            }
            Role::Enter => {
                frames[frame as usize].n_enters += 1;
                match node.is_constant_enter() {
                    true => {
                        frames[frame as usize].invariants.push(here);
                        Kind::EnterConstant(frame, frames[frame as usize].invariants.len() as u32 - 1)
                    }
                    false => Kind::Enter(frame),
                }
            }
            Role::Merge => {
                let is_loop = node.inputs.iter().any(|s| self.node(s.node).role() == Role::NextIteration);
                frames[frame as usize].merges.push(MergeState {
                    data_left: draft.inputs.len() as u32,
                    controls_left: (draft.controls.len() + draft.weak.len()) as u32,
                    chosen: MergeState::NONE,
                    is_loop,
                    passes: false,
                });
                Kind::Merge(frames[frame as usize].merges.len() as u32 - 1)
            }
            Role::Compute => {
                let kernel = kernels.len() as u32;
                kernels.push(
                    prepare(info, kernel_state)
                        .map_err(|e| e.at_node(&info.name, info.op.name).at_line(node.at))?,
                );
                let reads_refs = (0..node.inputs.len()).any(|i| self.reads_ref(n, i));
                let scalar = info.op.kernel.scalar.filter(|_| !reads_refs).and_then(|pick| pick(info));
                match (scalar.filter(|_| !self.options.hand_out_all), draft.inputs.len()) {
                    (Some(ScalarKernel::Unary(f)), 1) => Kind::Unary(f, kernel),
                    (Some(ScalarKernel::Binary(f)), 2) => Kind::Binary(f, kernel),
                    _ => Kind::Kernel(kernel),
                }
            }
        })
    }

    /// Gives each output that is read a slot in the frame where it lives. The Enter and the NextIteration of a loop
    /// variable write straight into the slot of its Merge.
    fn assign_slots(
        &self,
        drafts: &[Draft],
        nodes: &mut [Node],
        frames: &mut [FramePlan],
        n_reads: &[SmallVec<[u32; 2]>],
        readers: &[Vec<(u32, u32)>],
    ) -> Vec<u32> {
        let mut fresh = |frame: u32, uses: u32| {
            let frame = &mut frames[frame as usize];
            frame.uses.push(uses);
            frame.n_slots += 1;
            frame.n_slots - 1
        };
        let is_loop_merge = |d: u32| {
            let inputs = &drafts[d as usize].inputs;
            let next =
                |v: &Value| matches!(v, Value::Source(s) if self.node(s.node).role() == Role::NextIteration);
            matches!(nodes_kind(nodes, d), Kind::Merge(_)) && inputs.iter().any(next)
        };
        // Merges first, since others borrow their slots.
        let mut slots: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); drafts.len()];
        let mut order: Vec<usize> = (0..drafts.len()).collect();
        order.sort_by_key(|d| !matches!(nodes[*d].kind, Kind::Merge(_)));
        for d in order {
            let Some(n) = drafts[d].origin else { continue };
            let home = self.node(n).frame;
            if matches!(nodes[d].kind, Kind::EnterConstant(..)) {
                continue;
            }
            // A merge whose value nobody reads, kept for its control edges, has no slot to lend.
            let lends = |m: u32| slots[m as usize].first().is_some_and(|slot| *slot != NO_SLOT);
            let borrows = matches!(nodes[d].kind, Kind::Enter(_) | Kind::NextIteration)
                && matches!(readers[d].as_slice(), [(m, _)] if is_loop_merge(*m) && lends(*m));
            slots[d] = match (borrows, readers[d].first()) {
                (true, Some((merge, _))) => slots[*merge as usize].iter().take(1).copied().collect(),
                _ => n_reads[d].iter().map(|&r| if r == 0 { NO_SLOT } else { fresh(home, r) }).collect(),
            };
        }
        let mut all = Vec::new();
        for (node, slots) in nodes.iter_mut().zip(slots) {
            node.slot = slots.first().copied().unwrap_or(NO_SLOT);
            node.first_slot = all.len() as u32;
            node.n_slots = slots.len() as u32;
            all.extend(slots);
        }
        all
    }

    fn inputs(
        &self,
        drafts: &[Draft],
        nodes: &mut [Node],
        slots: &[u32],
        invariant_of: &[u32],
    ) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        for (d, draft) in drafts.iter().enumerate() {
            nodes[d].first_input = inputs.len() as u32;
            for (i, value) in draft.inputs.iter().enumerate() {
                let deref = match (draft.origin, value) {
                    // A constant is never a reference; that of a Const that is kept is no input of the program's node at all.
                    (_, Value::Constant(_)) => false,
                    (Some(n), Value::Source(_)) => self.reads_ref(n, i),
                    (None, Value::Source(s)) => self.node(s.node).output_is_ref(s.index),
                };
                inputs.push(match value {
                    Value::Constant(c) => Input::new(1, *c, false)?,
                    Value::Source(s) => {
                        let from = self.position[s.node as usize] as usize;
                        match invariant_of[from] {
                            NO_SLOT => {
                                Input::new(0, slots[(nodes[from].first_slot + s.index) as usize], deref)?
                            }
                            invariant => Input::new(2, invariant, deref)?,
                        }
                    }
                });
            }
        }
        Ok(inputs)
    }

    fn edges(
        &self,
        drafts: &[Draft],
        nodes: &mut [Node],
        frames: &mut [FramePlan],
        locals: &[u32],
    ) -> Vec<Edge> {
        // By source: edges of port 0, of port 1, of the whole node.
        let mut outs: Vec<[Vec<Edge>; 3]> = (0..drafts.len()).map(|_| Default::default()).collect();
        let part = |nodes: &[Node], from: usize, port: Option<u32>| match (nodes[from].kind, port) {
            (Kind::Switch, Some(0)) => 0,
            (Kind::Switch, Some(_)) => 1,
            _ => 2,
        };
        for (d, draft) in drafts.iter().enumerate() {
            let node = &nodes[d];
            let is_merge = matches!(node.kind, Kind::Merge(_));
            let n_waits = draft.inputs.iter().filter(|v| matches!(v, Value::Source(_))).count()
                + draft.controls.len()
                + draft.weak.len();
            let trigger = draft.origin.is_some_and(|n| self.node(n).role() == Role::ControlTrigger);
            let swallows = n_waits == 1 && matches!(node.kind, Kind::Exit(_) | Kind::NextIteration);
            let plain = match (trigger, swallows) {
                (true, _) => To::Weak,
                (_, true) => To::LiveOnly,
                _ => To::Node,
            };
            if !is_merge {
                frames[node.frame as usize].pending[locals[d] as usize] = n_waits as u32;
            }
            let edge = |to| Edge { node: d as u32, local: locals[d], to };
            for (i, value) in draft.inputs.iter().enumerate() {
                if let Value::Source(s) = value {
                    let from = self.position[s.node as usize] as usize;
                    let to = if is_merge { To::Merge(i as u32) } else { plain };
                    outs[from][part(nodes, from, Some(s.index))].push(edge(to));
                }
            }
            for control in &draft.controls {
                let from = self.position[control.node as usize] as usize;
                let to = if is_merge { To::MergeControl } else { plain };
                outs[from][part(nodes, from, control.port)].push(edge(to));
            }
            for &from in &draft.weak {
                let to = if is_merge { To::MergeControl } else { To::Weak };
                outs[from as usize][2].push(edge(to));
            }
        }
        let mut edges = Vec::new();
        for (node, parts) in nodes.iter_mut().zip(outs) {
            for (k, part) in parts.into_iter().enumerate() {
                node.edges[k] = edges.len() as u32;
                edges.extend(part);
            }
            node.edges[3] = edges.len() as u32;
        }
        edges
    }

    /// The pending counts once all invariants of a frame have arrived, and the nodes that they alone make ready.
    fn apply_invariants(&self, nodes: &[Node], edges: &[Edge], frames: &mut [FramePlan]) {
        for frame in frames {
            frame.pending_with_invariants = frame.pending.clone();
            for &enter in &frame.invariants {
                let node = &nodes[enter as usize];
                for e in node.edges[0]..node.edges[3] {
                    let edge = &edges[e as usize];
                    if matches!(edge.to, To::Merge(_) | To::MergeControl) {
                        frame.invariant_merges.push(e);
                        continue;
                    }
                    let pending = &mut frame.pending_with_invariants[edge.local as usize];
                    *pending -= 1;
                    if *pending == 0 {
                        frame.ready_with_invariants.push(edge.node);
                    }
                }
            }
        }
    }
}

/// Finds the merges of loop variables whose Enter and NextIteration both write into the merge's own slot.
fn mark_passing(nodes: &[Node], inputs: &[Input], slots: &[u32], frames: &mut [FramePlan], keep_all: bool) {
    for node in nodes.iter().filter(|_| !keep_all) {
        let Kind::Merge(merge) = node.kind else { continue };
        let from = &inputs[node.first_input as usize..(node.first_input + node.n_inputs) as usize];
        let in_place = from
            .iter()
            .all(|i| matches!(i.place(), Place::Slot(slot) if slot as u32 == node.slot && !i.deref()));
        let index_unread = slots.get(node.first_slot as usize + 1).is_none_or(|s| *s == NO_SLOT);
        let state = &mut frames[node.frame as usize].merges[merge as usize];
        state.passes = state.is_loop && in_place && index_unread && node.slot != NO_SLOT;
    }
}

fn nodes_kind(nodes: &[Node], d: u32) -> Kind {
    nodes[d as usize].kind
}

/// A control edge says nothing new where the node reads an output of the same node: of a Switch the same port, or any if
/// the edge comes from the Switch whole, since a dead Switch has no live port.
fn drop_implied(controls: &mut SmallVec<[Control; 2]>, inputs: &[Value], is_switch: impl Fn(Index) -> bool) {
    controls.retain(|c| {
        !inputs.iter().any(|v| match v {
            Value::Source(s) => {
                s.node == c.node && (!is_switch(c.node) || c.port.is_none() || c.port == Some(s.index))
            }
            Value::Constant(_) => false,
        })
    });
}

pub(crate) fn prepare(info: &Arc<NodeInfo>, kernel_state: &Resources) -> Result<KernelPlan> {
    let body = match info.op.kernel.body {
        KernelBody::Run(run) => Body::Run(run),
        KernelBody::Async(start) => Body::Async(start),
        KernelBody::Build(make) => Body::Prepared(make(&BuildCx { node: info, kernel_state })?),
        KernelBody::Structural => {
            return Err(Error::unimplemented(format!("op {} has no kernel", info.op.name)));
        }
    };
    Ok(KernelPlan { info: info.clone(), body })
}
