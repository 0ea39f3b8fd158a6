//! [`LoopTree`]: the loops of a graph or a program, found once, for everything that needs to know them.
//!
//! A loop is a frame. Its variables are read off the primitives, by the edges between them:
//!
//! ```text
//! initial ─► enter ─► merge ─┬─────────────────► switch ─false─► exit
//!                      ▲     │                    ▲   │
//!                      │     └─► condition ─► LoopCond└─true─► current ─► body ─► next ─┐
//!                      │                                                                │
//!                      └───────────────────── NextIteration ◄───────────────────────────┘
//!
//! value ─► enter (constant): an invariant, the same in every iteration
//! ```
//!
//! The names in this picture are the fields of [`Variable`]. A [`Loop`] also holds its condition with the
//! bounds that it sets to counters, the nodes that lie in it, the loops around and inside of it, and whether
//! it is pure. What keeps a loop from being one as drawn here is listed in [`Loop::irregular`]; its parts are
//! found as far as they are there, whatever the graph looks like.
//!
//! One analysis serves graphs and programs: it reads a [`View`], and its results speak of nodes as that view
//! does, `NodeId` and `Port` or `Index` and `Source`. It takes time linear in the number of nodes and edges.
//! Numbers are not part of the tree, since feeds change them: [`LoopTree::trips`] and [`LoopTree::counter`]
//! ask the caller for what is known.
//!
//! A [`Listing`] of the loop `while i < 10 { (i, y) = (i + 2, y * x) }`:
//!
//! ```text
//! loop `while/while_context`: 10 iterations in parallel, pure, at most 5 iterations
//!   condition  while/Less, of 2 nodes
//!   bound      while/Merge < while/Less/y
//!   variable   while/Merge from while/Const, next while/add (plus while/add/y), exit while/Exit
//!   variable   while/Merge_1 from x, next while/mul, exit while/Exit_1
//!   invariant  x, by while/mul/Enter
//! ```
//!
//! - `view`: what the analysis reads;
//! - `find`: the walk that finds the parts;
//! - `count`: counters, bounds and trip counts;
//! - `listing`: the tree as text.

mod count;
mod find;
mod listing;
mod view;

use crate::ids::NodeId;
use crate::op::Role;
pub use count::Given;
pub use listing::Listing;
use std::fmt;
pub use view::{Key, Part, View};

/// Whether an edge leads back to the start of the next iteration. All other edges of a well-formed graph make
/// no cycle.
pub fn is_back_edge(from: Role, to: Role) -> bool {
    from == Role::NextIteration && to == Role::Merge
}

/// A loop of a [`LoopTree`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

impl fmt::Debug for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loop{}", self.0)
    }
}

/// The loops of a graph (`LoopTree<NodeId>`) or of a program (`LoopTree<Index>`), each after the loop around
/// it.
#[derive(Clone, Debug)]
pub struct LoopTree<N: Key = NodeId> {
    loops: Vec<Loop<N>>,
    /// For each node, by position, the innermost loop around it. Empty where there are no loops.
    home: Vec<Option<LoopId>>,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop<N: Key> {
    /// The name of its frame.
    pub name: String,
    /// How many iterations may be alive at a time.
    pub parallel_iterations: u32,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// The number of loops around it.
    pub depth: u32,
    /// The loops directly inside of it.
    pub children: Vec<LoopId>,
    /// The decision whether there is another iteration.
    pub condition: Option<Condition<N>>,
    /// The variables, in the order of their Enters.
    pub variables: Vec<Variable<N>>,
    /// The constant Enters: each brings in a value that is the same in every iteration.
    pub invariants: Vec<N>,
    /// All nodes directly inside of the loop, primitives included. Its Exits lie outside.
    pub nodes: Vec<N>,
    /// The first node in the loop, or in a loop inside of it, that does more than compute its outputs from
    /// its inputs.
    pub impure: Option<N>,
    /// What keeps it from being a loop as `while_loop` makes them.
    pub irregular: Vec<Irregular<N>>,
}

/// The condition of a loop.
#[derive(Clone, Debug)]
pub struct Condition<N: Key> {
    /// The LoopCond.
    pub node: N,
    /// The value that the LoopCond takes.
    pub value: N::Value,
    /// The nodes directly inside of the loop that the LoopCond depends on: they also run in the iteration
    /// that is not gone on with. Enters and the Merges of variables are not among them.
    pub nodes: Vec<N>,
    /// The number of values that have to be true: more than one where the condition is a conjunction.
    pub n_parts: usize,
    /// The parts that compare a counter with something.
    pub bounds: Vec<Bound<N>>,
}

/// The condition holds only while `variable < limit`, or `variable <= limit`.
#[derive(Clone, Copy, Debug)]
pub struct Bound<N: Key> {
    /// The counter, by its position in [`Loop::variables`]. It has a [step](Variable::step).
    pub variable: usize,
    /// The value that it is compared with.
    pub limit: N::Value,
    /// Whether the limit itself is admitted.
    pub inclusive: bool,
    /// Which part of the condition this is, from the left.
    pub part: usize,
}

/// A loop variable: its way through the primitives, as far as it is there.
#[derive(Clone, Copy, Debug)]
pub struct Variable<N: Key> {
    /// The node that brings the first value into the loop.
    pub enter: N,
    /// The value before the first iteration, outside.
    pub initial: Option<N::Value>,
    /// The variable at the start of an iteration, as the condition sees it.
    pub merge: Option<N>,
    /// The Switch that ends the variable's way or gives it to the body.
    pub switch: Option<N>,
    /// The Identity behind the Switch: the variable as the body sees it.
    pub current: Option<N>,
    /// The value for the next iteration.
    pub next: Option<N::Value>,
    /// The value that is added to the variable to get `next`, where that is how it is computed.
    pub step: Option<N::Value>,
    /// The variable after the last iteration, outside.
    pub exit: Option<N>,
}

/// A loop variable that has all of its primitives.
#[derive(Clone, Copy, Debug)]
pub struct Whole<N: Key = NodeId> {
    /// See [`Variable::enter`].
    pub enter: N,
    /// See [`Variable::merge`].
    pub merge: N,
    /// See [`Variable::switch`].
    pub switch: N,
    /// See [`Variable::next`].
    pub next: N::Value,
    /// See [`Variable::exit`]; a result that nobody wants need not be there.
    pub exit: Option<N>,
}

/// A finding about a loop, with the node that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular<N> {
    /// The node; of a loop without a condition its first Enter.
    pub node: N,
    /// What is wrong with it.
    pub why: Why,
}

/// What keeps a loop from being one as `while_loop` makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No LoopCond decides whether there is another iteration.
    NoCondition,
    /// Another LoopCond decides already.
    TwoConditions,
    /// It enters from another loop than the first Enter of the frame.
    OtherParent,
    /// It enters, but no Merge takes it.
    NoMerge,
    /// Another Merge takes the variable already.
    TwoMerges,
    /// A Merge of a variable without a value for the next iteration.
    NoNext,
    /// A Merge of a variable that the loop's condition does not switch.
    NoSwitch,
    /// Another Switch takes the variable already.
    TwoSwitches,
    /// A Merge with a back edge, but nothing that enters.
    StrayMerge,
    /// A Switch by the loop's condition of something else than a variable.
    StraySwitch,
    /// An Exit of something else than the last value of a variable.
    StrayExit,
    /// It reads what a variable enters with, which is there in the first iteration only.
    ReadsEnter,
    /// It reads the last value of a variable inside of the loop.
    ReadsLast,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::NoCondition => "no LoopCond decides whether there is another iteration",
            Why::TwoConditions => "another LoopCond decides already",
            Why::OtherParent => "it enters from another loop than the first Enter of the frame",
            Why::NoMerge => "no Merge takes what enters",
            Why::TwoMerges => "another Merge takes the variable already",
            Why::NoNext => "the variable has no value for the next iteration",
            Why::NoSwitch => "the condition does not switch the variable",
            Why::TwoSwitches => "another Switch takes the variable already",
            Why::StrayMerge => "nothing enters beside the back edge",
            Why::StraySwitch => "the condition switches something else than a variable",
            Why::StrayExit => "what leaves is not the last value of a variable",
            Why::ReadsEnter => "it reads what a variable enters with",
            Why::ReadsLast => "it reads the last value of a variable inside of the loop",
        })
    }
}

impl<N: Key> Default for LoopTree<N> {
    /// The tree of what has no loops.
    fn default() -> LoopTree<N> {
        LoopTree { loops: Vec::new(), home: Vec::new() }
    }
}

impl<N: Key> LoopTree<N> {
    /// Finds the loops.
    pub fn of<V: View<Node = N> + ?Sized>(view: &V) -> LoopTree<N> {
        find::find(view)
    }

    /// The loops, each after the loop around it.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// The loops with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &Loop<N>)> {
        self.loops.iter().enumerate().map(|(i, it)| (LoopId(i as u32), it))
    }

    /// A loop.
    pub fn get(&self, id: LoopId) -> Option<&Loop<N>> {
        self.loops.get(id.0 as usize)
    }

    /// The innermost loop around a node. An Enter lies in the loop that it enters, an Exit outside of the one
    /// it leaves.
    pub fn loop_of(&self, node: N) -> Option<LoopId> {
        self.home.get(node.position()).copied().flatten()
    }

    /// The tree as text, with the names that the nodes have in the view.
    pub fn listing<'a, V: View<Node = N> + ?Sized>(&'a self, view: &'a V) -> Listing<'a, V> {
        Listing { tree: self, view }
    }
}

impl<N: Key> std::ops::Index<LoopId> for LoopTree<N> {
    type Output = Loop<N>;
    fn index(&self, id: LoopId) -> &Loop<N> {
        &self.loops[id.0 as usize]
    }
}

impl<N: Key> Loop<N> {
    /// Whether this is a loop as `while_loop` makes them.
    pub fn is_regular(&self) -> bool {
        self.irregular.is_empty()
    }

    /// Whether an iteration does nothing but compute the next values of the variables.
    pub fn is_pure(&self) -> bool {
        self.impure.is_none()
    }
}

impl<N: Key> Variable<N> {
    /// The variable, if all of its primitives are there.
    pub fn whole(&self) -> Option<Whole<N>> {
        let Variable { enter, exit, .. } = *self;
        Some(Whole { enter, merge: self.merge?, switch: self.switch?, next: self.next?, exit })
    }
}
