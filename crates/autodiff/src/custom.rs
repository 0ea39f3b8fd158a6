//! [`CustomGradient::custom_gradient`]: values whose gradient the caller defines.

use crate::gradients::Gradients;
use millstream_graph::op::{GRADIENT_OVERRIDE, GradCx};
use millstream_graph::{Grad, Graph, Output};
use millstream_tensor::{Result, ensure};
use std::sync::Arc;

/// Values with a gradient of their own.
pub trait CustomGradient: Gradients {
    /// Returns the results of `forward` for the xs. They are differentiated by `backward`, not through the
    /// nodes that `forward` makes.
    ///
    /// `forward` returns the results, and values to keep for `backward`; inside of a loop these are saved in
    /// each iteration. The nodes that `backward` makes can be differentiated themselves.
    ///
    /// As in TensorFlow's `custom_gradient`, the node is an `IdentityN` of results, inputs and kept values,
    /// with a gradient registered by name.
    #[track_caller]
    fn custom_gradient<'g>(
        &'g self,
        xs: &[Output<'g>],
        forward: impl FnOnce(&[Output<'g>]) -> Result<(Vec<Output<'g>>, Vec<Output<'g>>)>,
        backward: impl Fn(&mut CustomCx) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Vec<Output<'g>>>;
}

/// The context of a [custom gradient](CustomGradient::custom_gradient)'s `backward`: what it sees, and what
/// it gives.
pub struct CustomCx<'c, 'g, 'a> {
    cx: &'c mut GradCx<'g, 'a>,
    n_ys: usize,
    n_xs: usize,
}

impl std::fmt::Debug for CustomCx<'_, '_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CustomCx").field("n_ys", &self.n_ys).field("n_xs", &self.n_xs).finish_non_exhaustive()
    }
}

impl<'g> CustomCx<'_, 'g, '_> {
    /// The graph, to which nodes are added.
    pub fn graph(&self) -> &'g Graph {
        self.cx.graph()
    }

    /// Returns the gradient that flows in at result `i`, or zeros if none does.
    pub fn grad(&mut self, i: usize) -> Output<'g> {
        self.cx.grad(i)
    }

    /// Returns input `i`.
    pub fn x(&mut self, i: usize) -> Output<'g> {
        self.cx.input(self.n_ys + i)
    }

    /// Returns result `i`.
    pub fn y(&mut self, i: usize) -> Output<'g> {
        self.cx.input(i)
    }

    /// Returns kept value `i`.
    pub fn kept(&mut self, i: usize) -> Output<'g> {
        self.cx.input(self.n_ys + self.n_xs + i)
    }

    /// Returns whether the gradient of input `i` is needed.
    pub fn wants(&self, i: usize) -> bool {
        self.cx.wants(self.n_ys + i)
    }

    /// Sets the gradient of input `i`.
    pub fn give(&mut self, i: usize, grad: impl Into<Grad<'g>>) {
        self.cx.give(self.n_ys + i, grad);
    }
}

impl CustomGradient for Graph {
    #[track_caller]
    fn custom_gradient<'g>(
        &'g self,
        xs: &[Output<'g>],
        forward: impl FnOnce(&[Output<'g>]) -> Result<(Vec<Output<'g>>, Vec<Output<'g>>)>,
        backward: impl Fn(&mut CustomCx) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Vec<Output<'g>>> {
        let (ys, kept) = forward(xs)?;
        self.check()?;
        ensure!(!ys.is_empty(), "a custom gradient of no results");
        let (n_ys, n_xs) = (ys.len(), xs.len());
        let name = self.unique_name("CustomGradient");
        let gradient = move |cx: &mut GradCx| backward(&mut CustomCx { cx, n_ys, n_xs });
        self.register_gradient(name.clone(), Arc::new(gradient));
        // The results enter with their gradient stopped, so that gradients flow back to the xs only.
        let ys = ys.into_iter().map(|y| self.op("StopGradient").input(y).output());
        let values: Vec<Output<'g>> = ys.chain(xs.iter().copied()).chain(kept).collect();
        let node = self.op("IdentityN").inputs(values).attr(GRADIENT_OVERRIDE, name).try_finish()?;
        Ok((0..n_ys as u32).map(|i| node.output(i)).collect())
    }
}
