//! [`CustomGradient::custom_gradient`]: values whose gradient the caller says.

use crate::gradients::Gradients;
use millstream_graph::op::{GRADIENT_OVERRIDE, GradCx};
use millstream_graph::{Grad, Graph, Output};
use millstream_tensor::{Result, ensure};
use std::sync::Arc;

/// Values with a gradient of their own.
pub trait CustomGradient: Gradients {
    /// What `forward` makes of the xs, differentiated not through the nodes it makes but by `backward`.
    ///
    /// `forward` gives the results, and values to keep for `backward`: inside of a loop they are saved, iteration by iteration.
    /// What `backward` adds to the graph can itself be differentiated.
    ///
    /// TensorFlow's `custom_gradient`: an `IdentityN` of results, inputs and kept values, with a gradient registered by name.
    #[track_caller]
    fn custom_gradient<'g>(
        &'g self,
        xs: &[Output<'g>],
        forward: impl FnOnce(&[Output<'g>]) -> Result<(Vec<Output<'g>>, Vec<Output<'g>>)>,
        backward: impl Fn(&mut CustomCx) -> Result<()> + Send + Sync + 'static,
    ) -> Result<Vec<Output<'g>>>;
}

/// What the gradient of a [custom gradient](CustomGradient::custom_gradient) sees and says.
pub struct CustomCx<'c, 'g, 'a> {
    cx: &'c mut GradCx<'g, 'a>,
    n_ys: usize,
    n_xs: usize,
}

impl<'g> CustomCx<'_, 'g, '_> {
    /// The graph, to which nodes are added.
    pub fn graph(&self) -> &'g Graph {
        self.cx.graph()
    }

    /// The gradient that flows in at result `i`; zeros if none does.
    pub fn grad(&mut self, i: usize) -> Output<'g> {
        self.cx.grad(i)
    }

    /// Input `i`.
    pub fn x(&mut self, i: usize) -> Output<'g> {
        self.cx.input(self.n_ys + i)
    }

    /// Result `i`.
    pub fn y(&mut self, i: usize) -> Output<'g> {
        self.cx.input(i)
    }

    /// Kept value `i`.
    pub fn kept(&mut self, i: usize) -> Output<'g> {
        self.cx.input(self.n_ys + self.n_xs + i)
    }

    /// Whether the gradient of input `i` is needed.
    pub fn wants(&self, i: usize) -> bool {
        self.cx.wants(self.n_ys + i)
    }

    /// Says the gradient of input `i`.
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
        // The results enter with their gradient stopped: what flows back flows to the xs alone.
        let ys = ys.into_iter().map(|y| self.op("StopGradient").input(y).output());
        let values: Vec<Output<'g>> = ys.chain(xs.iter().copied()).chain(kept).collect();
        let node = self.op("IdentityN").inputs(values).attr(GRADIENT_OVERRIDE, name).try_finish()?;
        Ok((0..n_ys as u32).map(|i| node.output(i)).collect())
    }
}
