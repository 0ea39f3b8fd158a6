//! [`Graph::case`] and [`Graph::switch_case`]: one of several branches, as conds within conds;
//! [`Graph::smart_cond`].
//!
//! The checks that TensorFlow makes while the program runs are made here too, with the same nodes.

use crate::graph::Graph;
use crate::nest::{IntoNest, Nest};
use crate::op::{Builtin, Known};
use crate::output::{Op, Output};
use millstream_tensor::{DType, PartialShape, Result, invalid};
use std::panic::Location;

/// The closure that builds a branch. It is called once, while the graph is built.
pub type BranchFn<'a, T> = Box<dyn FnOnce() -> Result<T> + 'a>;

/// The builder of a `case`: branches by [`CaseBuilder::when`], then [`CaseBuilder::otherwise`] or
/// [`CaseBuilder::run`].
#[must_use = "the case is made by `otherwise` or `run`"]
pub struct CaseBuilder<'g, 'a, T> {
    graph: &'g Graph,
    branches: Vec<(Output<'g>, BranchFn<'a, T>)>,
    exclusive: bool,
    name: String,
    at: &'static Location<'static>,
}

impl<T> std::fmt::Debug for CaseBuilder<'_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaseBuilder")
            .field("name", &self.name)
            .field("exclusive", &self.exclusive)
            .finish_non_exhaustive()
    }
}

impl Graph {
    /// Starts a case: the result is that of the first branch whose predicate holds:
    ///
    /// ```text
    /// g.case().when(p, a).when(q, b).otherwise(c)
    ///
    /// if p { a() } else if q { b() } else { c() }
    /// ```
    ///
    /// Unlike this, every branch is called once, while the graph is built.
    #[track_caller]
    pub fn case<'g, 'a, T: Nest<'g>>(&'g self) -> CaseBuilder<'g, 'a, T> {
        CaseBuilder {
            graph: self,
            branches: Vec::new(),
            exclusive: false,
            name: "case".into(),
            at: Location::caller(),
        }
    }

    /// Returns the result of branch `index`. An index out of range takes `default`, or the last branch if
    /// there is none.
    #[track_caller]
    pub fn switch_case<'g, 'a, T: Nest<'g> + IntoNest<'g, Nest = T> + 'a>(
        &'g self,
        index: Output<'g>,
        mut branches: Vec<BranchFn<'a, T>>,
        default: Option<BranchFn<'a, T>>,
    ) -> Result<T>
    where
        'g: 'a,
    {
        let at = Location::caller();
        self.check()?;
        branches.extend(default);
        if branches.is_empty() {
            return Err(invalid!("`switch_case` has no branches").at_line(at));
        }
        let (dtype, shape) = (index.dtype()?, index.shape());
        if dtype != DType::I32 || !shape.is_compatible(&PartialShape::scalar()) {
            return Err(
                invalid!("the index of `switch_case` must be a scalar i32, found {dtype}{shape}").at_line(at)
            );
        }
        let last =
            i32::try_from(branches.len() - 1).map_err(|_| invalid!("too many branches").at_line(at))?;
        self.name_scope("switch_case", || {
            // An index that is too large takes the last branch anyway; a negative one is replaced.
            let negative = self.builtin(Builtin::Less(index.into(), 0.into())).at(at).output();
            let index = self.builtin(Builtin::Select(negative, last.into(), index.into())).at(at).output();
            choose(self, index, 0, branches, at)
        })
    }

    /// Like [`Graph::cond`], but if the predicate is already known, only the branch that is taken is built.
    #[track_caller]
    pub fn smart_cond<'g, T, F>(
        &'g self,
        pred: Output<'g>,
        on_true: impl FnOnce() -> T,
        on_false: impl FnOnce() -> F,
    ) -> Result<T::Nest>
    where
        T: IntoNest<'g>,
        F: IntoNest<'g, Nest = T::Nest>,
    {
        let known = self.read(|g| match g.known(pred.port()) {
            Some(Known::Value(value)) => value.as_slice::<bool>().ok().and_then(|v| v.first().copied()),
            _ => None,
        });
        let cx = crate::nest::Converter::new(self, Location::caller(), &[]);
        match known {
            Some(true) => on_true().into_nest(&cx),
            Some(false) => on_false().into_nest(&cx),
            None => self.cond(pred, on_true, on_false),
        }
    }
}

/// Builds a balanced tree of conds over the branches from `first` on. A captured value passes a Switch per
/// level, so a chain of conds would cost the square of the number of branches.
fn choose<'g, 'a, T: Nest<'g> + IntoNest<'g, Nest = T> + 'a>(
    graph: &'g Graph,
    index: Output<'g>,
    first: usize,
    mut branches: Vec<BranchFn<'a, T>>,
    at: &'static Location<'static>,
) -> Result<T> {
    let half = branches.len() / 2;
    let upper = branches.split_off(half);
    if half == 0 {
        let only = upper.into_iter().next().ok_or_else(|| invalid!("no branches").at_line(at))?;
        return only();
    }
    let middle = i32::try_from(first + half).map_err(|_| invalid!("too many branches").at_line(at))?;
    let pred = graph.builtin(Builtin::Less(index.into(), middle.into())).at(at).output();
    graph.cond(
        pred,
        || choose(graph, index, first, branches, at),
        || choose(graph, index, first + half, upper, at),
    )
}

impl<'g: 'a, 'a, T: Nest<'g> + IntoNest<'g, Nest = T> + 'a> CaseBuilder<'g, 'a, T> {
    /// Adds a branch: `then` runs if `pred` holds and none before did.
    pub fn when<R: IntoNest<'g, Nest = T>>(
        mut self,
        pred: Output<'g>,
        then: impl FnOnce() -> R + 'a,
    ) -> Self {
        let (graph, at) = (self.graph, self.at);
        let then = move || then().into_nest(&crate::nest::Converter::new(graph, at, &[]));
        self.branches.push((pred, Box::new(then)));
        self
    }

    /// Makes a run fail if more than one predicate holds.
    pub fn exclusive(mut self, yes: bool) -> Self {
        self.exclusive = yes;
        self
    }

    /// Sets the name scope, `case` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Makes the case, with `default` if no predicate holds.
    pub fn otherwise<R: IntoNest<'g, Nest = T>>(self, default: impl FnOnce() -> R + 'a) -> Result<T> {
        let (graph, at) = (self.graph, self.at);
        let default = move || default().into_nest(&crate::nest::Converter::new(graph, at, &[]));
        self.build(Some(Box::new(default)))
    }

    /// Makes the case. A run fails if no predicate holds.
    pub fn run(self) -> Result<T> {
        self.build(None)
    }

    fn build(self, default: Option<BranchFn<'a, T>>) -> Result<T> {
        let (graph, at) = (self.graph, self.at);
        graph.check()?;
        if self.branches.is_empty() {
            return Err(invalid!("the `case` named `{}` has no branches", self.name)
                .at_line(at)
                .with_help("add one with `.when(pred, || ..)`"));
        }
        for (i, (pred, _)) in self.branches.iter().enumerate() {
            let (dtype, shape) = (pred.dtype()?, pred.shape());
            if dtype != DType::Bool || !shape.is_compatible(&PartialShape::scalar()) {
                return Err(invalid!(
                    "predicate {i} of the `case` named `{}` must be a scalar bool, found {dtype}{shape}",
                    self.name
                )
                .at_line(at));
            }
        }
        let all: Vec<Output<'g>> = self.branches.iter().map(|(p, _)| *p).collect();
        let (exclusive, mut branches) = (self.exclusive, self.branches);
        let result = graph.name_scope(&self.name, || {
            let default = match default {
                Some(default) => default,
                None => last_as_default(graph, &mut branches, at)?,
            };
            let build = || nest_conds(graph, branches.into_iter(), default);
            match exclusive {
                true => {
                    let check =
                        at_most(graph, &all, 1, "more than one predicate of an exclusive `case` holds", at)?;
                    graph.control_dependencies([check], build)
                }
                false => build(),
            }
        })?;
        graph.check()?;
        Ok(result)
    }
}

fn nest_conds<'g: 'a, 'a, T: Nest<'g> + IntoNest<'g, Nest = T>>(
    graph: &'g Graph,
    mut branches: std::vec::IntoIter<(Output<'g>, BranchFn<'a, T>)>,
    default: BranchFn<'a, T>,
) -> Result<T> {
    match branches.next() {
        None => default(),
        Some((pred, then)) => graph.cond(pred, then, || nest_conds(graph, branches, default)),
    }
}

/// Makes the last branch the default, with a check that its predicate holds and none before did.
fn last_as_default<'g: 'a, 'a, T: 'a>(
    graph: &'g Graph,
    branches: &mut Vec<(Output<'g>, BranchFn<'a, T>)>,
    at: &'static Location<'static>,
) -> Result<BranchFn<'a, T>> {
    let (pred, then) = branches.pop().ok_or_else(|| invalid!("a case without branches").at_line(at))?;
    let others: Vec<Output<'g>> = branches.iter().map(|(p, _)| *p).collect();
    Ok(Box::new(move || {
        let all = others.iter().copied().chain([pred]).collect();
        let all = graph.builtin(Builtin::Stack(all)).name("preds_c").at(at).output();
        let mut checks = Vec::new();
        if !others.is_empty() {
            checks.push(at_most(
                graph,
                &others,
                0,
                "the last branch of a `case` was taken though another predicate holds",
                at,
            )?);
        }
        checks.push(assert(graph, pred, "no predicate of a `case` without a default holds", all, at)?);
        graph.control_dependencies(checks, then)
    }))
}

/// Makes a check that at most `n` predicates hold.
fn at_most<'g>(
    graph: &'g Graph,
    preds: &[Output<'g>],
    n: i32,
    message: &str,
    at: &'static Location<'static>,
) -> Result<Op<'g>> {
    let all = graph.builtin(Builtin::Stack(preds.to_vec())).name("preds_c").at(at).output();
    let ones = graph.builtin(Builtin::Cast(all, DType::I32)).at(at).output();
    let axis = graph.constant(vec![0i32]);
    let count = graph.builtin(Builtin::Sum(ones, axis.into())).name("num_true_conds").at(at).output();
    let limit = graph.op("Const").name("n_true_conds").attr("dtype", DType::I32);
    let limit = limit.attr("value", millstream_tensor::Tensor::scalar(n)).at(at).output();
    let fine = graph.builtin(Builtin::LessEqual(count.into(), limit.into())).at(at).output();
    graph.check()?;
    assert(graph, fine, message, all, at)
}

/// Makes an assertion that fails with the message and the predicates unless `fine`. It lies in a cond, as in
/// TensorFlow.
fn assert<'g>(
    graph: &'g Graph,
    fine: Output<'g>,
    message: &str,
    preds: Output<'g>,
    at: &'static Location<'static>,
) -> Result<Op<'g>> {
    graph.name_scope("Assert", || {
        // TensorFlow leaves an unused constant of the text here. The graphs are to be the same.
        graph.constant(message);
        let failure = || Builtin::Assert { condition: fine, message: message.into(), data: preds };
        let fails = || graph.builtin(failure()).at(at).finish();
        graph.cond_named("AssertGuard", fine, || graph.op("NoOp").at(at).finish(), fails)
    })
}
