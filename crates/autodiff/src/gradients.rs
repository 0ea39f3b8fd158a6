//! [`Gradients::gradients`]: the public interface of gradients.

use crate::arrays::ArrayMaker;
use crate::between::Between;
use crate::pass::{Differ, Sum};
use crate::saved::Here;
use millstream_graph::op::zeros_of;
use millstream_graph::{Grad, Graph, Output, Port};
use millstream_tensor::{DType, Result, ensure, invalid};
use std::panic::Location;

/// Gradients of a graph's values.
pub trait Gradients {
    /// Starts the gradients of the sum of `ys` by each of `xs`: options, then [`GradientsBuilder::run`] or
    /// [`GradientsBuilder::dense`].
    #[track_caller]
    fn gradients<'g, Y, X>(
        &'g self,
        ys: impl IntoIterator<Item = Y>,
        xs: impl IntoIterator<Item = X>,
    ) -> GradientsBuilder<'g>
    where
        Y: Into<Output<'g>>,
        X: Into<Output<'g>>;
}

impl Gradients for Graph {
    #[track_caller]
    fn gradients<'g, Y, X>(
        &'g self,
        ys: impl IntoIterator<Item = Y>,
        xs: impl IntoIterator<Item = X>,
    ) -> GradientsBuilder<'g>
    where
        Y: Into<Output<'g>>,
        X: Into<Output<'g>>,
    {
        GradientsBuilder {
            graph: self,
            ys: ys.into_iter().map(Into::into).collect(),
            xs: xs.into_iter().map(Into::into).collect(),
            grad_ys: Vec::new(),
            stop: Vec::new(),
            name: "gradients".into(),
            at: Location::caller(),
        }
    }
}

/// The builder of gradients.
#[must_use = "the gradients are made by `run` or `dense`"]
pub struct GradientsBuilder<'g> {
    graph: &'g Graph,
    ys: Vec<Output<'g>>,
    xs: Vec<Output<'g>>,
    grad_ys: Vec<Option<Output<'g>>>,
    stop: Vec<Output<'g>>,
    name: String,
    at: &'static Location<'static>,
}

impl std::fmt::Debug for GradientsBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GradientsBuilder")
            .field("name", &self.name)
            .field("ys", &self.ys)
            .field("xs", &self.xs)
            .finish_non_exhaustive()
    }
}

impl<'g> GradientsBuilder<'g> {
    /// Sets the gradients that flow in at the ys, one each. The default is ones.
    pub fn grad_ys(mut self, grads: impl IntoIterator<Item = impl Into<Option<Output<'g>>>>) -> Self {
        self.grad_ys = grads.into_iter().map(Into::into).collect();
        self
    }

    /// Sets values that are treated as constants: no gradient flows through them.
    pub fn stop_gradients(mut self, values: impl IntoIterator<Item = impl Into<Output<'g>>>) -> Self {
        self.stop = values.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the name scope of the nodes, `gradients` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Makes the nodes. Returns one gradient for each x: `None` if no y depends on it, slices if only some
    /// rows are nonzero.
    pub fn run(self) -> Result<Vec<Option<Grad<'g>>>> {
        let (graph, at) = (self.graph, self.at);
        graph.check()?;
        self.check().map_err(|e| e.at_line(at))?;
        let context = graph.current_context();
        graph.name_scope(&self.name.clone(), || {
            let scope = graph.scope();
            graph.without_control(|| {
                let build = || graph.built_at(at, || self.build().map_err(|e| e.at_line(at)));
                graph.inside(context, || graph.in_scope(scope, build))
            })
        })
    }

    /// Makes the nodes. Returns one tensor for each x: zeros if no y depends on it, slices as dense tensors.
    pub fn dense(self) -> Result<Vec<Output<'g>>> {
        let (graph, xs, at) = (self.graph, self.xs.clone(), self.at);
        let grads = self.run()?;
        let grads: Result<Vec<Output<'g>>> =
            grads.into_iter().zip(xs).map(|(grad, x)| whole(graph, grad, x)).collect();
        let grads = grads.map_err(|e| e.at_line(at))?;
        graph.check()?;
        Ok(grads)
    }

    fn check(&self) -> Result<()> {
        ensure!(!self.ys.is_empty(), "there are no `ys` to differentiate");
        for o in self.ys.iter().chain(&self.xs).chain(&self.stop).chain(self.grad_ys.iter().flatten()) {
            ensure!(o.graph().same(self.graph), "`{}` belongs to another graph", o.name());
        }
        for (what, values) in [("differentiated", &self.ys), ("differentiated by", &self.xs)] {
            for o in values {
                let dtype = o.dtype()?;
                ensure!(
                    dtype.carries_gradients(),
                    "`{}` is {dtype} and cannot be {what}: only float and complex values have gradients",
                    o.name()
                );
            }
        }
        for o in self.ys.iter().chain(&self.xs) {
            if self.graph.read(|g| ArrayMaker::of(g, o.port())).is_some() {
                return Err(invalid!(
                    "`{}` is the flow of a TensorArray: it orders operations and has no gradient",
                    o.name()
                )
                .with_help("differentiate values read from the array with respect to values written to it"));
            }
        }
        ensure!(
            self.grad_ys.is_empty() || self.grad_ys.len() == self.ys.len(),
            "{} values in `grad_ys` for {} ys",
            self.grad_ys.len(),
            self.ys.len()
        );
        for (y, grad) in self.ys.iter().zip(&self.grad_ys) {
            let Some(grad) = grad else { continue };
            let same = grad.dtype()? == y.dtype()? && grad.shape().is_compatible(&y.shape());
            ensure!(same, "the gradient given for {y:?} is {grad:?}: dtype and shape must be the same");
        }
        Ok(())
    }

    fn build(self) -> Result<Vec<Option<Grad<'g>>>> {
        Ok(self.build_onto(Vec::new())?.0)
    }

    /// Like [`GradientsBuilder::dense`], with the gradients of some xs added to earlier sums.
    pub(crate) fn onto(self, sums: &[(Port, Output<'g>)]) -> Result<Vec<Output<'g>>> {
        let (graph, xs) = (self.graph, self.xs.clone());
        self.check()?;
        let sums = sums.iter().map(|&(x, so_far)| Sum { x, so_far, used: false }).collect();
        let (grads, sums) = self.build_onto(sums)?;
        let mut totals = Vec::new();
        for (grad, x) in grads.into_iter().zip(xs) {
            let sum = sums.iter().find(|s| s.x == x.port());
            totals.push(match (grad, sum) {
                (None, Some(sum)) => sum.so_far,
                (grad, Some(sum)) if !sum.used => {
                    let grad = whole(graph, grad, x)?;
                    let op = if grad.dtype()? == DType::Variant { "AddN" } else { "AddV2" };
                    graph.op(op).inputs([sum.so_far, grad]).output()
                }
                (grad, _) => whole(graph, grad, x)?,
            });
        }
        graph.check()?;
        Ok(totals)
    }

    fn build_onto(self, sums: Vec<Sum<'g>>) -> Result<(Vec<Option<Grad<'g>>>, Vec<Sum<'g>>)> {
        let graph = self.graph;
        let ports = |values: &[Output<'g>]| values.iter().map(Output::port).collect::<Vec<Port>>();
        let (ys, xs) = (ports(&self.ys), ports(&self.xs));
        let mut seeds = Vec::new();
        for (i, y) in self.ys.iter().enumerate() {
            let given = self.grad_ys.get(i).copied().flatten();
            seeds.push((y.port(), given.map_or_else(|| one_for(graph, *y), Ok)?));
        }
        graph.check()?;
        let between = graph.read(|g| Between::new(g, &ys, &xs, &ports(&self.stop)));
        let mut differ = Differ::new(graph, between, xs.clone());
        differ.sums = sums;
        differ.sweep(0, seeds.into_iter().map(|(p, g)| (p, g.into())).collect())?;
        let grads = xs.iter().map(|&x| differ.result(x)).collect::<Result<_>>()?;
        Ok((grads, differ.sums))
    }
}

/// Returns a gradient as one tensor or list.
fn whole<'g>(graph: &'g Graph, grad: Option<Grad<'g>>, x: Output<'g>) -> Result<Output<'g>> {
    match grad {
        Some(Grad::Dense(grad)) => Ok(grad),
        Some(Grad::Slices(slices)) => {
            let shape = slices.dense_shape.map_or_else(|| Here(graph).shape_of(x.port()), Ok)?;
            Ok(slices.to_dense(shape))
        }
        Some(Grad::Item(_)) => Err(invalid!("the gradient of a list is an item")),
        None => zeros_of(graph, x.port(), &mut Here(graph)),
    }
}

/// Returns the gradient that flows in at a y if none is given.
fn one_for<'g>(graph: &'g Graph, y: Output<'g>) -> Result<Output<'g>> {
    let dtype = y.dtype()?;
    if dtype.is_complex() {
        return Err(invalid!(
            "`{}` is {dtype}, and the gradient of a complex value has no default",
            y.name()
        )
        .with_help("pass the incoming gradient as `grad_ys`"));
    }
    if matches!(dtype, DType::Variant | DType::Resource) {
        return Err(
            invalid!("`{}` is not a tensor", y.name()).with_help("differentiate a value read from it")
        );
    }
    let one = graph.scalar_of(dtype, 1.0);
    if y.shape().rank() == Some(0) {
        return Ok(one);
    }
    let shape = Here(graph).shape_of(y.port())?;
    Ok(graph.op("Fill").name("grad_ys").input(shape).input(one).output())
}
