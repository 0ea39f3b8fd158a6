//! [`Split`]: a run in two parts, the second of which may run any number of times.
//!
//! The parts are two plans. What the second needs of the first, its *residuals*, are the values on the edges
//! between the two: the nodes that depend on a late feed belong to the second part, and so does every loop
//! with such a node in it, because values inside of a loop cannot be fetched. The rest belongs to the first,
//! and is computed once:
//!
//! ```text
//!   early feeds ──► first part ──────────────► early fetches
//!                       │ residuals
//!                       ▼
//!   late feeds ───► second part ─────────────► late fetches
//! ```
//!
//! A residual in a branch that was not taken is dead. It is then fed as dead, so the second part takes the
//! same branches without computing the predicates' consequences again.
//!
//! Unlike a [`PartialRun`](crate::PartialRun), no machine is kept between the parts: residuals are plain
//! tensors, lists of saved values included.

use crate::fetch::Target;
use crate::session::{Prepared, RunOptions, Session, Shared};
use millstream_graph::op::{Effect, Role};
use millstream_graph::{Dense, FrameId, Index, NodeId, Output, Port, Program, Source};
use millstream_tensor::{Result, Tensor, ensure, invalid};
use std::collections::HashMap;
use std::sync::Arc;

/// A run in two parts, made by [`Session::make_split`]. May be used from several threads at once.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F64, shape![]);
/// let cotangent = g.placeholder_of("cotangent", DType::F64, shape![]);
/// let parts = Parts::of_gradients(&[x], &[x * x], &[cotangent], &[cotangent * x * 2.0]);
/// let split = Session::new(&g)?.make_split(&parts)?;
/// let (squares, residuals) = split.forward(vec![Tensor::scalar(3.0f64)], &RunOptions::default())?;
/// let gradients = residuals.backward(vec![Tensor::scalar(1.0f64)], &RunOptions::default())?;
/// assert_eq!((squares[0].to_scalar::<f64>()?, gradients[0].to_scalar::<f64>()?), (9.0, 6.0));
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub struct Split {
    session: Arc<Shared>,
    first: Arc<Prepared>,
    second: Arc<Prepared>,
    n_early: usize,
    n_fetched: usize,
    residuals: Vec<Residual>,
}

/// Where a residual comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Residual {
    /// An early feed.
    Feed(usize),
    /// A fetch of the first part.
    Fetch(usize),
}

/// What the second part needs of one run of the first.
pub struct Residuals {
    split: Arc<Split>,
    values: Vec<Tensor>,
    dead: Vec<usize>,
}

impl std::fmt::Debug for Split {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Split").field("residuals", &self.residuals.len()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Residuals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Residuals").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// The feeds and fetches of the parts of a [`Split`].
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The feeds of the first part.
    pub feeds: Vec<Port>,
    /// The fetches of the first part.
    pub fetches: Vec<Port>,
    /// The nodes that the first part runs for their effects.
    pub targets: Vec<NodeId>,
    /// The feeds of the second part.
    pub late_feeds: Vec<Port>,
    /// The fetches of the second part.
    pub late_fetches: Vec<Port>,
}

impl Session {
    /// Prepares a run in two parts. The second part may depend on all feeds, the first on the early ones
    /// alone.
    ///
    /// Values and their gradients are such parts, for programs that differentiate on their own:
    ///
    /// ```
    /// # use millstream_graph::Graph;
    /// # use millstream_runtime::{Parts, RunOptions, Session};
    /// # use millstream_tensor::{DType, Result, Tensor, shape};
    /// # fn main() -> Result<()> {
    /// let g = Graph::with_ops(millstream_ops::registry());
    /// let [x, cotangent] = ["x", "cotangent"].map(|name| g.placeholder_of(name, DType::F64, shape![]));
    /// let y = g.op("Exp").input(x).output();
    /// let gradient = cotangent * y; // `millstream::Derivatives` adds such nodes
    /// let session = Session::new(&g)?;
    /// let split = session.make_split(&Parts::of_gradients(&[x], &[y], &[cotangent], &[gradient]))?;
    ///
    /// let options = RunOptions::default();
    /// let (values, residuals) = split.forward(vec![Tensor::from(0.0)], &options)?;
    /// assert_eq!(values[0].to_scalar::<f64>()?, 1.0);
    /// // The exponential is not computed again.
    /// for c in [2.0, 3.0] {
    ///     let gradients = residuals.backward(vec![Tensor::from(c)], &options)?;
    ///     assert_eq!(gradients[0].to_scalar::<f64>()?, c);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A fetch of the first part depends on a late feed, a feed or fetch lies inside a loop, or the second
    /// part would repeat an effect of the first.
    pub fn make_split(&self, parts: &Parts) -> Result<Arc<Split>> {
        let shared = &self.shared;
        shared.check_open()?;
        let deadline = shared.deadline(&RunOptions::default());
        let cut = shared.graph.read(|g| -> Result<Vec<Port>> {
            let feeds: Vec<Port> = parts.feeds.iter().chain(&parts.late_feeds).copied().collect();
            let asked = millstream_graph::Asked {
                feeds: &feeds,
                fetches: &parts.late_fetches,
                ..millstream_graph::Asked::default()
            };
            cut(&Program::new(g, &asked)?, parts.feeds.len())
        })?;
        let mut fetched = parts.fetches.clone();
        let mut places: HashMap<Port, usize> = HashMap::new();
        let residuals = cut
            .iter()
            .map(|&port| match parts.feeds.iter().position(|&p| p == port) {
                Some(feed) => Residual::Feed(feed),
                None => Residual::Fetch(*places.entry(port).or_insert_with(|| {
                    fetched.push(port);
                    fetched.len() - 1
                })),
            })
            .collect();
        let values = fetched.iter().map(|&p| Target::Value(p));
        let targets = values.chain(parts.targets.iter().map(|&n| Target::Operation(n))).collect();
        let (first, _) = shared.prepare(parts.feeds.clone(), targets, false, &[], deadline)?;
        let feeds = parts.late_feeds.iter().chain(&cut).copied().collect();
        let targets = parts.late_fetches.iter().map(|&p| Target::Value(p)).collect();
        let (second, _) = shared.prepare(feeds, targets, false, &[], deadline)?;
        let (n_early, n_fetched) = (parts.feeds.len(), parts.fetches.len());
        Ok(Arc::new(Split { session: shared.clone(), first, second, n_early, n_fetched, residuals }))
    }
}

impl Parts {
    /// The parts of a run that differentiates: values and their gradients. `cotangents` are placeholders, and
    /// `grads` the gradients that depend on them.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F64, shape![]);
    /// let cotangent = g.placeholder_of("cotangent", DType::F64, shape![]);
    /// let parts = Parts::of_gradients(&[x], &[x * x], &[cotangent], &[cotangent * x * 2.0]);
    /// assert_eq!((parts.feeds.len(), parts.late_feeds.len()), (1, 1));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn of_gradients<'g>(
        xs: &[Output<'g>],
        ys: &[Output<'g>],
        cotangents: &[Output<'g>],
        grads: &[Output<'g>],
    ) -> Parts {
        let ports = |outputs: &[Output<'g>]| outputs.iter().map(Output::port).collect();
        Parts {
            feeds: ports(xs),
            fetches: ports(ys),
            targets: Vec::new(),
            late_feeds: ports(cotangents),
            late_fetches: ports(grads),
        }
    }
}

impl Split {
    /// Runs the first part. Returns its fetches, and what the second part needs.
    pub fn forward(
        self: &Arc<Self>,
        feeds: Vec<Tensor>,
        options: &RunOptions,
    ) -> Result<(Vec<Tensor>, Residuals)> {
        ensure!(
            feeds.len() == self.n_early,
            "the first part takes {} values but was called with {}",
            self.n_early,
            feeds.len()
        );
        let kept: Vec<Tensor> = feeds.clone();
        let (mut values, dead) = self.session.run_part(&self.first, feeds, Vec::new(), options)?;
        if let Some(fetch) = dead.iter().find(|&&k| k < self.n_fetched) {
            return Err(invalid!("fetch {fetch} is in a branch that was not taken"));
        }
        let late = values.split_off(self.n_fetched);
        let value = |r: &Residual| match *r {
            Residual::Feed(i) => kept[i].clone(),
            Residual::Fetch(k) => late[k - self.n_fetched].clone(),
        };
        let is_dead = |r: &Residual| matches!(r, Residual::Fetch(k) if dead.contains(k));
        let dead = (0..self.residuals.len()).filter(|&i| is_dead(&self.residuals[i])).collect();
        let carried = self.residuals.iter().map(value).collect();
        Ok((values, Residuals { split: self.clone(), values: carried, dead }))
    }
}

impl Residuals {
    /// Runs the second part with these late feeds, as often as asked.
    pub fn backward(&self, late: Vec<Tensor>, options: &RunOptions) -> Result<Vec<Tensor>> {
        let n = late.len();
        let feeds: Vec<Tensor> = late.into_iter().chain(self.values.iter().cloned()).collect();
        let dead = self.dead.iter().map(|i| n + i).collect();
        Ok(self.split.session.run_part(&self.split.second, feeds, dead, options)?.0)
    }

    /// The bytes of the values that are held.
    pub fn bytes(&self) -> usize {
        self.values.iter().map(Tensor::byte_size).sum()
    }

    /// The values, for a front end that has to give memory back to another owner.
    #[doc(hidden)]
    pub fn values_mut(&mut self) -> &mut [Tensor] {
        &mut self.values
    }
}

/// The outputs that the second part takes from the first: those of nodes that depend on no late feed, read by
/// nodes that do. Feeds from `n_early` on are late.
fn cut(program: &Program, n_early: usize) -> Result<Vec<Port>> {
    let late = late_nodes(program, n_early)?;
    let mut found: Vec<Source> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut take = |source: Source| {
        if !late[source.node] && seen.insert(source) {
            found.push(source);
        }
    };
    for (n, node) in program.nodes().entries() {
        if late[n] {
            node.inputs.iter().copied().for_each(&mut take);
        }
    }
    program.fetches().iter().copied().for_each(&mut take);
    Ok(found.into_iter().map(|s| Port::new(program.node(s.node).id, port_index(program, s))).collect())
}

/// The index of an output in the graph. A feed replaces one output of its node.
fn port_index(program: &Program, source: Source) -> u32 {
    match &program.node(source.node).kind {
        millstream_graph::ProgramKind::Node(_) => source.index,
        millstream_graph::ProgramKind::Feed(_, name, _) => {
            name.rsplit_once(':').and_then(|(_, index)| index.parse().ok()).unwrap_or(0)
        }
    }
}

/// For each node, whether it belongs to the second part.
fn late_nodes(program: &Program, n_early: usize) -> Result<Dense<Index, bool>> {
    let nodes = program.nodes();
    let mut late = Dense::filled(false, nodes.len());
    let mut work: Vec<Index> = Vec::new();
    let unit = |n: Index| program.loops_around(nodes[n].frame).first().copied();
    let mut inside: HashMap<FrameId, Vec<Index>> = HashMap::new();
    let mut readers: Dense<Index, Vec<Index>> = Dense::filled(Vec::new(), nodes.len());
    for (n, node) in nodes.entries() {
        if let Some(frame) = unit(n) {
            inside.entry(frame).or_default().push(n);
        }
        for from in node.inputs.iter().map(|s| s.node).chain(node.controls.iter().copied()) {
            readers[from].push(n);
        }
    }
    work.extend(program.feeds().iter().skip(n_early).flatten());
    while let Some(n) = work.pop() {
        if std::mem::replace(&mut late[n], true) {
            continue;
        }
        work.extend(readers[n].iter().filter(|r| !late[**r]));
        // The first node of a loop brings the whole loop.
        if let Some(all) = unit(n).and_then(|frame| inside.remove(&frame)) {
            work.extend(all);
        }
    }
    // Nodes that only order others, and constants, run in both parts: an edge without a value cannot be fed.
    let mut again: Vec<Index> = nodes.ids().filter(|&n| late[n]).collect();
    while let Some(n) = again.pop() {
        let constants = nodes[n].inputs.iter().map(|s| s.node).filter(|&s| is_free(program, s));
        for from in nodes[n].controls.iter().copied().chain(constants).collect::<Vec<_>>() {
            if late[from] || matches!(nodes[from].kind, millstream_graph::ProgramKind::Feed(..)) {
                continue;
            }
            let node = &nodes[from];
            let effect = node.info().map(|info| info.op.kernel.effect);
            if node.role() == Role::Compute && effect.is_some_and(|e| e != Effect::Pure) {
                return Err(invalid!("`{}` has an effect and would run in both parts", node.name())
                    .with_help("let later nodes use its value instead of a control dependency"));
            }
            late[from] = true;
            again.push(from);
        }
    }
    Ok(late)
}

/// Whether a node is as cheap to run again as to feed: a constant.
fn is_free(program: &Program, n: Index) -> bool {
    let node = program.node(n);
    node.role() == Role::Const && node.controls.is_empty()
}
