//! Training on several processes, the *ranks* of a job: each runs the whole program on its share of the data,
//! [`average`] makes the gradients of all ranks equal, and [`broadcast`] the variables they begin with.
//!
//! The ranks are those of a [`Collective`] that the session is given. With the feature `mpi` a `Job` is one
//! of an MPI launcher's; [`Channels`] connects threads of a process, for tests.
//!
//! ```
//! use millstream::prelude::*;
//! use millstream::train::{Optimizer, distributed};
//! use millstream::SessionOptions;
//! use distributed::{Channels, Collective, Ranks, RanksOptions};
//! use std::sync::Arc;
//!
//! fn train(ranks: Arc<dyn Collective>) -> Result<f32> {
//!     let g = Graph::new();
//!     // Each rank has a point of its own, and begins with another weight.
//!     let (x, y) = (ranks.rank() as f32 + 1.0, 3.0 * (ranks.rank() as f32 + 1.0));
//!     let w = g.variable("w", ranks.rank() as f32);
//!     let loss = (w.value() * x - y).square();
//!     let optimizer = Optimizer::gradient_descent(0.1);
//!     let gradients = distributed::average(optimizer.compute_gradients(loss)?)?;
//!     let step = optimizer.apply_gradients(gradients, None)?;
//!     let init = g.global_variables_initializer();
//!     let same = distributed::broadcast(&g, &g.global_variables(), 0)?;
//!
//!     let options = SessionOptions { collective: Some(ranks), ..SessionOptions::default() };
//!     let session = Session::with_options(&g, options)?;
//!     session.run::<()>(init, feed![])?;
//!     session.run::<()>(same, feed![])?;
//!     for _ in 0..50 {
//!         session.run::<()>(step, feed![])?;
//!     }
//!     session.run(w.read(), feed![])
//! }
//!
//! let rank = |end: Channels| {
//!     std::thread::spawn(|| train(Arc::new(Ranks::start(end, RanksOptions::default())?)))
//! };
//! let ranks: Vec<_> = Channels::job(2).into_iter().map(rank).collect();
//! let weights: Vec<f32> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<Result<_>>()?;
//! assert!((weights[0] - 3.0).abs() < 1e-3 && weights[0].to_bits() == weights[1].to_bits());
//! # Ok::<(), millstream::Error>(())
//! ```

#[cfg(feature = "mpi")]
mod mpi;

#[cfg(feature = "mpi")]
pub use mpi::Job;

pub use millstream_state::collective::{Alone, Channels, Collective, Ranks, RanksOptions, Transport};

use super::optimizer::GradAndVar;
use crate::ops::Ops;
use crate::options::Start;
use crate::sugar::Methods;
use crate::variable::Variable;
use millstream_graph::{Grad, Graph, IndexedSlices, Op, Output};
use millstream_tensor::{Result, ensure, invalid};

/// Returns the means over all ranks of gradients, for [`Optimizer::apply_gradients`]. All ranks get the same
/// bits. Gradients that are [`IndexedSlices`] are gathered, and stay sparse.
///
/// The ranks' gradients meet under the names of their variables, which must be the same on all ranks.
///
/// [`Optimizer::apply_gradients`]: super::Optimizer::apply_gradients
pub fn average<'g>(gradients: Vec<GradAndVar<'g>>) -> Result<Vec<GradAndVar<'g>>> {
    let averaged = |(gradient, variable): GradAndVar<'g>| {
        let gradient = gradient.map(|gradient| mean(gradient, &variable.name())).transpose()?;
        Ok((gradient, variable))
    };
    gradients.into_iter().map(averaged).collect()
}

fn mean<'g>(gradient: Grad<'g>, of: &str) -> Result<Grad<'g>> {
    let name = |kind: &str| format!("distributed/{kind}/{of}");
    match gradient {
        Grad::Dense(gradient) => {
            let reduction = gradient.graph().named(name("mean")).with("reduction", "mean");
            Ok(Grad::Dense(reduction.collective().all_reduce(gradient)))
        }
        Grad::Slices(IndexedSlices { values, indices, dense_shape }) => {
            let g = values.graph();
            let gathered = |kind, x: Output<'g>| g.named(name(kind)).collective().all_gather(x);
            let n_ranks = g.collective().collective_size().cast_to(values.dtype()?);
            let (values, indices) = (gathered("values", values) / n_ranks, gathered("indices", indices));
            Ok(Grad::Slices(IndexedSlices { values, indices, dense_shape }))
        }
        Grad::Item(_) => Err(invalid!("the gradient of `{of}` is that of a list")),
    }
}

/// Adds an operation that gives variables the values that they have on rank `root`. Run it after the
/// variables were initialized or restored, so that all ranks begin with the same values.
pub fn broadcast<'g>(g: &'g Graph, variables: &[Variable<'g>], root: usize) -> Result<Op<'g>> {
    let root = i64::try_from(root).map_err(|_| invalid!("there is no rank {root}"))?;
    ensure!(!variables.is_empty(), "there are no variables to broadcast");
    let send = |variable: &Variable<'g>| {
        let node = g.named(format!("distributed/broadcast/{}", variable.name())).with("root_rank", root);
        variable.assign(node.collective().broadcast(variable.value()))
    };
    let sends: Vec<Op<'g>> = variables.iter().map(send).collect();
    let all = g.group(sends);
    g.check()?;
    Ok(all)
}
