//! [`Explanation`]: what a run would do. [`Holdings`]: what a session holds. Nothing runs for either.

use crate::bounds::Bounds;
use crate::fetch::{Fetch, FetchList, Target, Targets};
use crate::session::{Session, Shared, Tier};
use crate::table::Table;
use millstream_exec::region::{Code, Measured, Way};
use millstream_exec::{Account, Fate, Plan, PlanOptions};
use millstream_graph::op::Role;
use millstream_graph::{Context, Dense, FrameId, GraphData, Index, Output, Port, Program};
use millstream_state::{QueueReport, Resources, Variable};
use millstream_tensor::{DType, PartialShape, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a run of some fetches does: which nodes take part, what becomes of each, and how the loops run.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let y = g.while_loop(x).run(|x| less(x, 100.0), |x| x * x)?;
/// let explanation = Session::new(&g)?.explain(y, [x])?;
/// assert_eq!(explanation.fed, ["x:0"]);
/// assert_eq!(explanation.places.len(), 2); // outside of loops, and the loop
/// assert!(explanation.to_string().contains("runs as compiled code"));
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The tier that runs it.
    pub tier: Tier,
    /// The number of threads for kernels.
    pub threads: usize,
    /// The number of nodes in the graph.
    pub n_graph: usize,
    /// The number of those nodes that the fetches need.
    pub n_needed: usize,
    /// The names of the feeds, and of placeholders that would have to be fed too.
    pub fed: Vec<String>,
    /// Those of them that were not named as feeds.
    pub assumed: Vec<String>,
    /// The part outside of loops, then each loop after the one around it.
    pub places: Vec<PlaceExplanation>,
}

/// One part of a run: outside of all loops, or in one loop.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 100.0), |x| x * 2.0)?;
/// let explanation = Session::new(&g)?.explain(y, [])?;
/// let place = &explanation.places[1];
/// assert_eq!((place.name.as_str(), place.depth), ("while/while_context", 1));
/// assert!(place.of_loop.is_some() && place.code.is_some());
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PlaceExplanation {
    /// The loop's frame; empty outside of all loops.
    pub name: String,
    /// The number of loops around it.
    pub depth: usize,
    /// The nodes, in the order of the graph.
    pub nodes: Vec<NodeExplanation>,
    /// The loop; `None` outside of all loops.
    pub of_loop: Option<LoopExplanation>,
    /// The code that the loop runs as, with the loops inside of it. Outside of loops it is that of
    /// elementwise nodes that need nothing but feeds and constants, which runs before the rest.
    pub code: Option<CodeExplanation>,
}

/// The code of a loop, or of what runs before the rest.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 100.0), |x| x * 2.0)?;
/// let explanation = Session::new(&g)?.explain(y, [])?;
/// let code = explanation.places[1].code.as_ref().expect("a compiled loop");
/// assert!(0 < code.n_instructions && code.buffers.is_empty());
/// println!("{}", code.listing);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CodeExplanation {
    /// The instructions, a line each, with what comes in and goes out.
    pub listing: String,
    /// The number of instructions.
    pub n_instructions: usize,
    /// The dtypes and shapes of the buffers for values of more than 16 elements.
    pub buffers: Vec<String>,
    /// The bytes of registers and buffers.
    pub bytes: usize,
    /// The groups of elementwise operations that are computed in one pass over their values.
    pub fused: Vec<String>,
    /// The kernels that are called, by op type.
    pub calls: Vec<&'static str>,
    /// What runs of these fetches with these feeds have measured; zeros before the first.
    pub measured: Measured,
    code: Arc<Code>,
}

impl CodeExplanation {
    fn of(code: &Arc<Code>, measured: Measured) -> CodeExplanation {
        CodeExplanation {
            listing: code.to_string(),
            n_instructions: code.instructions.len(),
            buffers: code.blocks.iter().map(|(dtype, shape)| format!("{dtype}{shape}")).collect(),
            bytes: code.bytes(),
            fused: code.groups().collect(),
            calls: code.calls.iter().map(|call| call.op).collect(),
            measured,
            code: code.clone(),
        }
    }

    /// The time that an iteration took, in nanoseconds. `None` before it was measured.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
    /// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 1e30), |x| x * 2.0)?;
    /// let session = Session::new(&g)?;
    /// let nanos = || -> Result<_> {
    ///     let explanation = session.explain(y, [])?;
    ///     Ok(explanation.places[1].code.as_ref().expect("a compiled loop").nanos_per_iteration())
    /// };
    /// assert_eq!(nanos()?, None);
    /// session.run::<f32>(y, feed![])?;
    /// assert!(nanos()?.is_some());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn nanos_per_iteration(&self) -> Option<f64> {
        let Measured { iterations, nanos, .. } = self.measured;
        (0 < iterations).then(|| nanos as f64 / iterations as f64)
    }

    fn note(&self, title: &str) -> String {
        let mut text =
            format!("{title}: {} and {}", counted(self.n_instructions, "instruction"), bytes(self.bytes));
        if !self.buffers.is_empty() {
            text += &format!(", {} for large values", counted(self.buffers.len(), "buffer"));
        }
        if !self.fused.is_empty() {
            text += &format!(", {} of fused operations", counted(self.fused.len(), "group"));
        }
        if !self.calls.is_empty() {
            text += &format!(", {} of kernels", counted(self.calls.len(), "call"));
        }
        text += match self.measured.machine_bytes {
            Some(_) => "; machine code",
            None => "; interpreted so far",
        };
        if let Some(n) = self.measured.machine_bytes {
            let ms = self.measured.compile_nanos as f64 / 1e6;
            text += &format!(" of {}, compiled in {ms:.1} ms", bytes(n));
        }
        if let Some(nanos) = self.nanos_per_iteration() {
            text += &format!("; {nanos:.1} ns an iteration");
        }
        text + "."
    }
}

/// What becomes of a node.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let explanation = Session::new(&g)?.explain(x * 2.0, [x])?;
/// let product = explanation.places[0].nodes.iter().find(|node| node.op == "Mul").expect("the product");
/// println!("{}: {}", product.name, product.fate);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NodeExplanation {
    /// The node's name.
    pub name: String,
    /// The op type; `feed` where a feed replaces the node.
    pub op: &'static str,
    /// What becomes of it.
    pub fate: Fate,
    /// The name of its only input, where the node does the work of that too.
    pub does_also: Option<String>,
    /// The number of other nodes that are computed with this one, tile by tile.
    pub computes_with: usize,
}

/// How a loop runs.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let y = g.while_loop(g.constant(1.0f32)).parallel_iterations(4).run(|x| less(x, 100.0), |x| x * 2.0)?;
/// let explanation = Session::new(&g)?.explain(y, [])?;
/// assert_eq!(explanation.places[1].of_loop.as_ref().expect("a loop").asked, 4);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoopExplanation {
    /// How many iterations may be alive at a time, in fact.
    pub parallel_iterations: u32,
    /// How many the graph or the session allows.
    pub asked: u32,
    /// Whether it is one at a time because the loop writes variables.
    pub serialized: bool,
    /// The most iterations, where constants bound them.
    pub bound: Option<u64>,
    /// Whether saved values were allowed to leave memory; `None` where the graph does not say.
    pub swap_memory: Option<bool>,
    /// Whether it runs as code, and if not, why.
    pub way: LoopWay,
}

/// How the iterations of a loop run.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
/// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 100.0), |x| x * 2.0)?;
/// let explanation = Session::new(&g)?.explain(y, [])?;
/// assert_eq!(explanation.places[1].of_loop.as_ref().expect("a loop").way, LoopWay::Code);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopWay {
    /// By tokens: the session's tier does not compile loops.
    Tokens,
    /// As code, which becomes machine code once it has run for a while.
    Code,
    /// As a part of the code of the loop around it.
    Within,
    /// As code that is made in the first run, for the shapes which that run has. Runs with other shapes get
    /// code of their own.
    InRun {
        /// The name of the node that gives a shape which is not known before.
        node: String,
        /// What about the node is the reason, in words that follow its name.
        why: &'static str,
    },
    /// By tokens, because of a node.
    Because {
        /// The name of the node.
        node: String,
        /// What about the node is the reason, in words that follow its name.
        why: &'static str,
    },
}

impl LoopWay {
    fn of(way: &Way, program: &Program) -> LoopWay {
        let name = |node: &Index| program.node(*node).name().to_owned();
        match way {
            Way::Machine => LoopWay::Tokens,
            Way::Region => LoopWay::Code,
            Way::Within => LoopWay::Within,
            Way::Late(node, why) => LoopWay::InRun { node: name(node), why },
            Way::Because(node, why) => LoopWay::Because { node: name(node), why },
        }
    }

    /// A sentence about a loop, if there is something to say.
    fn note(&self, title: &str) -> Option<String> {
        match self {
            LoopWay::Tokens => None,
            LoopWay::Code => Some(format!("{title} runs as compiled code.")),
            LoopWay::InRun { node, why } => Some(format!(
                "{title} is compiled in its first run, for the shapes of that run, because `{node}` {why}."
            )),
            LoopWay::Within => Some(format!("{title} is compiled with the loop around it.")),
            LoopWay::Because { node, why } => {
                Some(format!("{title} runs by tokens, not compiled, because `{node}` {why}."))
            }
        }
    }
}

impl PlaceExplanation {
    /// The number of nodes with a fate.
    pub fn count(&self, fate: impl Fn(Fate) -> bool) -> usize {
        self.nodes.iter().filter(|n| fate(n.fate)).count()
    }

    /// The op types whose kernels run, the most frequent first.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let explanation = Session::new(&g)?.explain(x * 2.0 + x * 3.0, [x])?;
    /// assert_eq!(explanation.places[0].kernels()[0], ("Mul", 2));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn kernels(&self) -> Vec<(&'static str, usize)> {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        let runs = |f: Fate| matches!(f, Fate::Kernel | Fate::Scalar | Fate::Waits | Fate::Once);
        for node in self.nodes.iter().filter(|n| runs(n.fate)) {
            *counts.entry(node.op).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(op, n)| (usize::MAX - n, *op));
        counts
    }
}

impl Session {
    /// What a run of these fetches with these feeds would do: which nodes of the graph it needs, which of
    /// them are computed beforehand, passed over, or done by others, which kernels run, and how the loops
    /// run. Placeholders that are needed and not fed are taken as fed, and named. Nothing runs, and nothing
    /// is kept.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let explanation = Session::new(&g)?.explain(x * 2.0, [])?; // `x` is taken as fed
    /// assert_eq!(explanation.assumed, ["x:0"]);
    /// println!("{explanation}");
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn explain<'g>(
        &self,
        fetches: impl Fetch,
        feeds: impl IntoIterator<Item = Output<'g>>,
    ) -> Result<Explanation> {
        self.shared.check_open()?;
        let mut list = FetchList::default();
        fetches.list(self.graph(), &mut list)?;
        self.shared.explain(&list.0, feeds.into_iter().map(|o| o.port()).collect())
    }

    /// The program and the plan of a run of these fetches with these feeds, as listings with a line for each
    /// node. For those who work on the engine; their form may change.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let listing = Session::new(&g)?.listing(x * 2.0, [x])?;
    /// assert!(listing.starts_with("program of"));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn listing<'g>(
        &self,
        fetches: impl Fetch,
        feeds: impl IntoIterator<Item = Output<'g>>,
    ) -> Result<String> {
        self.shared.check_open()?;
        let mut list = FetchList::default();
        fetches.list(self.graph(), &mut list)?;
        let Needed { program, .. } =
            self.shared.needed(&list.0, feeds.into_iter().map(|o| o.port()).collect())?;
        let plan = Plan::new(&program, &Resources::new(), &self.shared.options_to_explain())?;
        Ok(format!("{program}\n{plan}"))
    }

    /// The machine code of the loops of a run of these fetches with these feeds, as text: the code is
    /// compiled for it, and not kept. Empty where nothing runs as code, or the session's tier has no machine
    /// code. For those who work on the engine; its form may change.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
    /// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 100.0), |x| x * 2.0)?;
    /// let options = SessionOptions { tier: Tier::Dataflow, ..SessionOptions::default() };
    /// assert_eq!(Session::with_options(&g, options)?.disassembly(y, [])?, ""); // this tier compiles nothing
    /// println!("{}", Session::new(&g)?.disassembly(y, [])?);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn disassembly<'g>(
        &self,
        fetches: impl Fetch,
        feeds: impl IntoIterator<Item = Output<'g>>,
    ) -> Result<String> {
        let explanation = self.explain(fetches, feeds)?;
        let compiler = self.shared.options_to_explain().regions.compiler;
        let mut text = String::new();
        for place in &explanation.places {
            let code = place.code.as_ref().zip(compiler.as_ref());
            let Some(machine) = code.and_then(|(it, compiler)| compiler.disassemble(&it.code)) else {
                continue;
            };
            let title = if place.name.is_empty() { "outside of loops" } else { place.name.as_str() };
            text += &format!("{title}:\n{machine}\n");
        }
        Ok(text)
    }

    /// What the session holds: variables, queues, plans, memory.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.constant(2.0f32) + 1.0;
    /// let session = Session::new(&g)?;
    /// session.run::<f32>(x, feed![])?;
    /// assert_eq!(session.holdings().n_plans, 1);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn holdings(&self) -> Holdings {
        let it = &self.shared;
        let own = it.kernel_state.all::<Variable>().into_iter();
        let variables = it.resources().all::<Variable>().into_iter().chain(own);
        Holdings {
            tier: it.tier,
            threads: it.threads(),
            n_plans: it.n_plans(),
            variables: variables
                .map(|(container, variable)| VariableReport::of(container, &variable))
                .collect(),
            queues: self.queues(),
            others: others(it),
            bytes: it.budget.as_ref().map_or(0, |b| b.used()),
            peak_bytes: self.peak_bytes(),
            memory_limit: it.budget.as_ref().map_or(usize::MAX, |b| b.limit()),
        }
    }
}

/// The number of resources that are neither variable nor queue, by kind.
fn others(shared: &Shared) -> Vec<(&'static str, usize)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (_, _, kind) in shared.resources().list().into_iter().chain(shared.kernel_state.list()) {
        if !matches!(kind, "variable" | "queue") {
            *counts.entry(kind).or_default() += 1;
        }
    }
    counts.into_iter().collect()
}

/// What a run needs of the graph.
struct Needed {
    program: Program,
    /// The feeds, those that were missing last.
    feeds: Vec<Port>,
    /// The number of placeholders that were not named as feeds.
    n_missing: usize,
}

impl Shared {
    fn explain(&self, targets: &[Target], feeds: Vec<Port>) -> Result<Explanation> {
        let Needed { program, feeds, n_missing } = self.needed(targets, feeds)?;
        let account = Account::of(&program, &self.options_to_explain())?;
        self.graph.read(|g| {
            let fed: Vec<String> = feeds.iter().map(|port| name(g, *port)).collect();
            Ok(Explanation {
                tier: self.tier,
                threads: self.threads(),
                n_graph: g.nodes().len(),
                n_needed: program.nodes().len(),
                assumed: fed[fed.len() - n_missing..].to_vec(),
                fed,
                places: places(g, &program, &account, self.parallel_iterations, |frame| {
                    self.frame_so_far(targets, &feeds, frame)
                }),
            })
        })
    }

    /// The program of these targets, with placeholders that are not fed taken as fed.
    fn needed(&self, targets: &[Target], mut feeds: Vec<Port>) -> Result<Needed> {
        let targets = Targets::of(targets);
        self.graph.check()?;
        self.graph.read(|g| {
            let program = Program::new(g, &targets.asked(&feeds, &[]))?;
            let missing: Vec<Port> = (program.nodes().iter())
                .filter(|n| n.info().is_some() && n.role() == Role::Placeholder)
                .map(|n| Port::new(n.id, 0))
                .collect();
            feeds.extend(&missing);
            let program = match missing.is_empty() {
                true => program,
                false => Program::new(g, &targets.asked(&feeds, &[]))?,
            };
            Ok(Needed { program, feeds, n_missing: missing.len() })
        })
    }

    fn options_to_explain(&self) -> PlanOptions {
        // The reference leaves nothing out.
        PlanOptions { keep_all: self.tier == Tier::Reference, ..self.plan_options(None) }
    }
}

fn name(g: &GraphData, port: Port) -> String {
    g.node(port.node).map_or_else(|_| "?".into(), |n| format!("{}:{}", n.name(), port.index))
}

fn places(
    g: &GraphData,
    program: &Program,
    account: &Account,
    asked: Option<u32>,
    so_far: impl Fn(FrameId) -> SoFar,
) -> Vec<PlaceExplanation> {
    let bounds = Bounds::of(g, &[]);
    // Code that was made in a run, and what the loops in it have become.
    let mut ways = account.ways.clone();
    let mut codes = account.codes.clone();
    let so_far: Dense<FrameId, SoFar> = program.frames().ids().map(so_far).collect();
    for (id, frame) in program.frames().entries().filter(|(id, _)| *id != FrameId::ROOT) {
        let around = frame.parent;
        let made_around = matches!(account.ways[around], Way::Late(..)) && ways[around] == Way::Region;
        if made_around || ways[around] == Way::Within && ways[id] != Way::Within {
            (ways[id], codes[id]) = (Way::Within, None);
        } else if matches!(ways[id], Way::Late(..)) {
            let SoFar { code, refused, .. } = &so_far[id];
            match (code, refused) {
                (Some(code), _) => (ways[id], codes[id]) = (Way::Region, Some(code.clone())),
                (None, Some((node, why))) => ways[id] = Way::Because(*node, why),
                (None, None) => {}
            }
        }
    }
    let mut places: Dense<FrameId, PlaceExplanation> = (program.frames().entries())
        .map(|(id, frame)| PlaceExplanation {
            name: frame.name.clone(),
            depth: frame.depth as usize,
            nodes: Vec::new(),
            code: codes[id].as_ref().map(|code| CodeExplanation::of(code, so_far[id].measured)),
            of_loop: (id != FrameId::ROOT).then(|| LoopExplanation {
                parallel_iterations: account.parallel[id],
                asked: asked.unwrap_or(frame.parallel_iterations),
                serialized: account.serialized[id],
                bound: bounds.get(&frame.name),
                swap_memory: (g.contexts().iter())
                    .filter(|c| c.name == frame.name)
                    .find_map(Context::as_while)
                    .and_then(|c| c.swap_memory),
                way: LoopWay::of(&ways[id], program),
            }),
        })
        .collect();
    let does: BTreeMap<Index, &str> = (account.fates.iter().zip(program.nodes()))
        .filter_map(|(fate, node)| match fate {
            Fate::Fused(reader) => Some((*reader, node.name())),
            _ => None,
        })
        .collect();
    let mut with: BTreeMap<Index, usize> = BTreeMap::new();
    for fate in &account.fates {
        if let Fate::Together(last) = fate {
            *with.entry(*last).or_default() += 1;
        }
    }
    for (n, node) in program.nodes().entries() {
        places[node.frame].nodes.push(NodeExplanation {
            name: node.name().to_owned(),
            op: node.info().map_or("feed", |info| info.op.name),
            fate: account.fates[n],
            does_also: does.get(&n).map(|n| (*n).to_owned()),
            computes_with: with.get(&n).copied().unwrap_or(0),
        });
    }
    places.into_iter().collect()
}

/// What the runs of some fetches have made of a frame.
#[derive(Clone, Default)]
pub(crate) struct SoFar {
    pub(crate) measured: Measured,
    /// The code that was made in a run.
    pub(crate) code: Option<Arc<Code>>,
    /// Why there is none.
    pub(crate) refused: Option<(Index, &'static str)>,
}

/// What a session holds.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let options = SessionOptions { threads: Some(3), ..SessionOptions::default() };
/// let session = Session::with_options(&g, options)?;
/// let holdings = session.holdings();
/// assert_eq!((holdings.threads, holdings.variables.len()), (3, 0));
/// println!("{holdings}");
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Holdings {
    /// The tier that runs its graphs.
    pub tier: Tier,
    /// The number of threads for kernels.
    pub threads: usize,
    /// The number of plans that it keeps: one for each combination of fetches and feeds.
    pub n_plans: usize,
    /// Its variables, and those it shares with other sessions.
    pub variables: Vec<VariableReport>,
    /// Its queues, and those it shares with other sessions.
    pub queues: Vec<QueueReport>,
    /// The number of other resources by kind: readers, tables.
    pub others: Vec<(&'static str, usize)>,
    /// The bytes of tensors alive, values of variables included.
    pub bytes: usize,
    /// The most bytes that were alive at a time.
    pub peak_bytes: usize,
    /// The most bytes that may be alive.
    pub memory_limit: usize,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct VariableReport {
    /// The container; empty for the default one.
    pub container: String,
    /// The name.
    pub name: String,
    /// The dtype.
    pub dtype: DType,
    /// The shape of the value, or the declared shape before it is initialised.
    pub shape: PartialShape,
    /// The bytes of the value; `None` before it is initialised.
    pub bytes: Option<usize>,
}

impl VariableReport {
    fn of(container: String, variable: &Arc<Variable>) -> VariableReport {
        let value = if variable.is_initialized() { variable.read().ok() } else { None };
        VariableReport {
            container,
            name: variable.name().to_owned(),
            dtype: variable.dtype(),
            shape: value.as_ref().map_or_else(|| variable.shape().clone(), |v| v.shape().into()),
            bytes: value.map(|v| v.elements() * v.dtype().size().unwrap_or(size_of::<String>())),
        }
    }
}

/// A column of the table: its heading, the fates that it counts, and what they mean.
type Column = (&'static str, fn(Fate) -> bool, &'static str);

const COLUMNS: [Column; 8] = [
    ("nodes", |_| true, "what the fetches need"),
    ("kernels", |f| matches!(f, Fate::Kernel | Fate::Scalar | Fate::Waits), "nodes that compute"),
    ("may wait", |f| f == Fate::Waits, "kernels that wait for a queue or the like"),
    ("first run only", |f| f == Fate::Once, "nodes whose value later runs reuse"),
    ("routing", |f| f == Fate::Routes, "nodes that move values into, around and out of loops and branches"),
    ("fed", |f| f == Fate::Fed, "nodes whose value is given"),
    ("known before", |f| matches!(f, Fate::Constant | Fate::Folded), "constants, and what follows from them"),
    (
        "left out",
        |f| matches!(f, Fate::PassedOver | Fate::Fused(_) | Fate::Together(_) | Fate::Bypassed),
        "nodes that pass a value on, or whose work another node does",
    ),
];

impl Explanation {
    /// The counts of nodes by fate, as a table: a heading, and a row for each place.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let table = Session::new(&g)?.explain(x * 2.0, [x])?.table();
    /// assert_eq!((table[0][0].as_str(), table[1][0].as_str()), ("where", "outside of loops"));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn table(&self) -> Vec<Vec<String>> {
        let used = self.columns();
        let mut rows = vec![
            ["where"]
                .into_iter()
                .chain(used.iter().map(|c| c.0))
                .chain(["iterations at a time", "at most"])
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        ];
        for place in &self.places {
            let indent = "\u{a0}\u{a0}".repeat(place.depth.min(20));
            let title = match place.name.as_str() {
                "" => "outside of loops".to_owned(),
                name => format!("{indent}loop {name}"),
            };
            let mut row = vec![title];
            row.extend(used.iter().map(|c| place.count(c.1).to_string()));
            row.push(place.of_loop.as_ref().map_or(String::new(), |l| l.parallel_iterations.to_string()));
            row.push(place.of_loop.as_ref().and_then(|l| l.bound).map_or(String::new(), |b| b.to_string()));
            rows.push(row);
        }
        // Columns about loops that are empty are left out.
        for last in ["at most", "iterations at a time"] {
            let at = rows[0].len() - 1;
            if rows[0][at] == last && rows[1..].iter().all(|r| r[at].is_empty()) {
                rows.iter_mut().for_each(|r| r.truncate(at));
            }
        }
        rows
    }

    /// The columns that are not empty.
    fn columns(&self) -> Vec<&'static Column> {
        let used = |c: &&Column| c.0 == "nodes" || self.places.iter().any(|p| 0 < p.count(c.1));
        COLUMNS.iter().filter(used).collect()
    }

    /// What the columns of the table mean.
    fn legend(&self) -> String {
        let meanings: Vec<String> = self.columns().iter().map(|c| format!("{}: {}", c.0, c.2)).collect();
        format!("Columns: {}.", meanings.join("; "))
    }

    /// What the table does not show, a sentence each.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// # let less = |a, b: f32| g.op("Less").input(a).input(b).output();
    /// let y = g.while_loop(g.constant(1.0f32)).run(|x| less(x, 100.0), |x| x * 2.0)?;
    /// let notes = Session::new(&g)?.explain(y, [])?.notes();
    /// assert!(notes.iter().any(|note| note.contains("runs as compiled code")));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "The fetches need {} of the graph's {} nodes. {}",
            self.n_needed,
            self.n_graph,
            match self.tier {
                Tier::Compiled =>
                    format!("The dataflow machine runs them, kernels on up to {} threads.", self.threads),
                Tier::Dataflow => format!(
                    "The dataflow machine runs them, kernels on up to {} threads; loops are not compiled.",
                    self.threads
                ),
                Tier::Reference => "The reference evaluation runs them, on the caller's thread.".to_owned(),
            }
        )];
        let given: Vec<&str> =
            self.fed.iter().filter(|f| !self.assumed.contains(f)).map(String::as_str).collect();
        if !given.is_empty() {
            notes.push(format!("Fed: {}.", given.join(", ")));
        }
        if !self.assumed.is_empty() {
            notes.push(format!("Not fed, so a run has to: {}.", self.assumed.join(", ")));
        }
        for place in &self.places {
            let title = if place.name.is_empty() {
                "Outside of loops".to_owned()
            } else {
                format!("Loop `{}`", place.name)
            };
            let kernels = place.kernels();
            if !kernels.is_empty() {
                let shown: Vec<String> = kernels
                    .iter()
                    .take(12)
                    .map(|(op, n)| if *n == 1 { (*op).to_owned() } else { format!("{n} {op}") })
                    .collect();
                let more = if 12 < kernels.len() {
                    format!(", and {} more op types", kernels.len() - 12)
                } else {
                    String::new()
                };
                notes.push(format!("{title} runs {}{more}.", shown.join(", ")));
            }
            let fused: Vec<String> = (place.nodes.iter())
                .filter_map(|n| Some(format!("`{}` does the work of `{}`", n.name, n.does_also.as_ref()?)))
                .collect();
            if !fused.is_empty() {
                notes.push(format!("{title}: {}.", fused.join(", ")));
            }
            let together: Vec<String> = (place.nodes.iter())
                .filter(|n| 0 < n.computes_with)
                .map(|n| format!("`{}` is computed with {} other nodes", n.name, n.computes_with))
                .collect();
            if !together.is_empty() {
                notes.push(format!("{title}: {}.", together.join(", ")));
            }
            let folded: Vec<&str> =
                place.nodes.iter().filter(|n| n.fate == Fate::Folded).map(|n| n.name.as_str()).collect();
            if !folded.is_empty() {
                let more =
                    if 8 < folded.len() { format!(" and {} more", folded.len() - 8) } else { String::new() };
                notes.push(format!(
                    "{title}: computed beforehand: {}{more}.",
                    folded[..folded.len().min(8)].join(", ")
                ));
            }
            if let Some(it) = &place.of_loop {
                notes.extend(it.notes(&title));
            }
            notes.extend(place.code.as_ref().map(|code| code.note(&title)));
        }
        notes.push(self.legend());
        notes
    }
}

impl LoopExplanation {
    fn notes(&self, title: &str) -> Vec<String> {
        let mut notes: Vec<String> = self.way.note(title).into_iter().collect();
        if self.serialized {
            notes.push(format!(
                "{title}: one iteration at a time, not {}, because it writes variables.",
                self.asked
            ));
        } else if self.parallel_iterations != self.asked {
            notes.push(format!(
                "{title}: parallel_iterations {} is more than are ever alive at a time, {}.",
                self.asked, self.parallel_iterations
            ));
        }
        if self.swap_memory == Some(true) {
            notes.push(format!(
                "{title}: swap_memory was asked for; what is saved stays in memory all the same."
            ));
        }
        notes
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Table::new(&self.table()))?;
        self.notes().iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

impl Holdings {
    /// A heading and a row for each variable and queue.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let table = Session::new(&g)?.holdings().table();
    /// assert_eq!(table.len(), 1); // the heading: there are no variables and queues
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn table(&self) -> Vec<Vec<String>> {
        let mut rows = vec![["kind", "name", "what it holds"].map(str::to_owned).to_vec()];
        let named = |container: &str, name: &str| match container {
            "" => name.to_owned(),
            container => format!("{container}/{name}"),
        };
        rows.extend(self.variables.iter().map(|v| {
            let value = v.bytes.map_or_else(|| "not initialised".to_owned(), bytes);
            vec!["variable".into(), named(&v.container, &v.name), format!("{}{}, {value}", v.dtype, v.shape)]
        }));
        rows.extend(self.queues.iter().map(|q| {
            let text = q.to_string();
            let what = text.split_once("': ").map_or(text.as_str(), |(_, what)| what);
            vec![q.spec.kind.to_string(), q.name.clone(), what.to_owned()]
        }));
        rows.extend(
            self.others.iter().map(|(kind, n)| vec![(*kind).to_owned(), String::new(), n.to_string()]),
        );
        rows
    }

    /// What the table does not show, a sentence each.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// assert!(!Session::new(&g)?.holdings().notes().is_empty());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn notes(&self) -> Vec<String> {
        let tier = match self.tier {
            Tier::Compiled => "dataflow machine with compiled loops",
            Tier::Dataflow => "dataflow machine",
            Tier::Reference => "reference evaluation",
        };
        vec![
            format!("{tier}, {} threads; {} made ready so far.", self.threads, counted(self.n_plans, "run")),
            format!(
                "Tensors that count against the memory limit: {} now, {} at peak, {} allowed.",
                bytes(self.bytes),
                bytes(self.peak_bytes),
                bytes(self.memory_limit)
            ),
        ]
    }
}

impl fmt::Display for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.table();
        match rows.len() {
            1 => write!(f, "No variables, no queues.")?,
            _ => write!(f, "{}", Table::new(&rows))?,
        }
        self.notes().iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn bytes(n: usize) -> String {
    match n {
        0..10_000 => counted(n, "byte"),
        10_000..10_000_000 => format!("{:.1} KiB", n as f64 / 1024.0),
        10_000_000..10_000_000_000 => format!("{:.1} MiB", n as f64 / (1 << 20) as f64),
        n => format!("{:.1} GiB", n as f64 / (1 << 30) as f64),
    }
}
