//! [`Callable`]: fetches and feeds that are resolved once, for many calls.

use crate::fetch::{FromFetched, Target, take_all};
use crate::session::{Prepared, RunMetadata, RunOptions, Shared, spread};
use millstream_exec::Outcome;
use millstream_graph::Port;
use millstream_tensor::{Result, Tensor, ensure};
use std::sync::Arc;

/// A prepared run: only the values of the feeds are missing. May be called from several threads at once.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let x = g.placeholder_of("x", DType::F32, shape![]);
/// let square = Session::new(&g)?.make_callable(x * x, [x])?;
/// assert_eq!(square.call_as::<f32>(&[Tensor::scalar(3.0f32)])?, 9.0);
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
pub struct Callable {
    session: Arc<Shared>,
    prepared: Arc<Prepared>,
    /// The feeds and targets, to prepare the run again with watches.
    feeds: Vec<Port>,
    targets: Vec<Target>,
}

impl std::fmt::Debug for Callable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callable")
            .field("feeds", &self.feeds)
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

impl Callable {
    pub(crate) fn new(
        session: Arc<Shared>,
        prepared: Arc<Prepared>,
        feeds: Vec<Port>,
        targets: Vec<Target>,
    ) -> Callable {
        Callable { session, prepared, feeds, targets }
    }

    /// Runs with these values, in the order in which the feeds were named. Returns the fetched values in
    /// order, without operations. The values of all iterations are stacked.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let both = Session::new(&g)?.make_callable((x * 2.0, x * x), [x])?;
    /// let values = both.call(&[Tensor::scalar(3.0f32)])?;
    /// assert_eq!((values[0].to_scalar::<f32>()?, values[1].to_scalar::<f32>()?), (6.0, 9.0));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn call(&self, feeds: &[Tensor]) -> Result<Vec<Tensor>> {
        Ok(self.call_with(feeds.to_vec(), &RunOptions::default())?.0)
    }

    /// As [`Callable::call`], in the structure that the caller asks for.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![]);
    /// let both = Session::new(&g)?.make_callable((x * 2.0, x * x), [x])?;
    /// assert_eq!(both.call_as::<(f32, f32)>(&[Tensor::scalar(3.0f32)])?, (6.0, 9.0));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn call_as<V: FromFetched>(&self, feeds: &[Tensor]) -> Result<V> {
        let outcome = self.outcome(feeds.to_vec(), &RunOptions::default())?;
        take_all(spread(&self.targets, outcome.values, outcome.every), |i| {
            self.session.name_of(&self.targets, i)
        })
    }

    /// As [`Callable::call`], with options, and with the feeds by value, so that a kernel may change them in
    /// place.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let x = g.placeholder_of("x", DType::F32, shape![_]);
    /// let add = Session::new(&g)?.make_callable(x + 1.0, [x])?;
    /// let (values, _) = add.call_with(vec![Tensor::vector(&[1.0f32, 2.0])?], &RunOptions::default())?;
    /// assert_eq!(values[0].as_slice::<f32>()?, [2.0, 3.0]);
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn call_with(&self, feeds: Vec<Tensor>, options: &RunOptions) -> Result<(Vec<Tensor>, RunMetadata)> {
        let outcome = self.outcome(feeds, options)?;
        let values = match outcome.every.is_empty() {
            true => outcome.values,
            false => take_all(spread(&self.targets, outcome.values, outcome.every), |_| None)?,
        };
        Ok((values, RunMetadata { trace: outcome.trace }))
    }

    /// Runs a callable without feeds again and again, and drops what it fetches: until a run fails, or until
    /// `go_on`, which is asked before each run, says no.
    pub(crate) fn repeat(&self, go_on: impl FnMut() -> bool) -> Result<()> {
        self.session.repeat(&self.prepared, go_on)
    }

    fn outcome(&self, feeds: Vec<Tensor>, options: &RunOptions) -> Result<Outcome> {
        self.session.check_open()?;
        ensure!(
            feeds.len() == self.prepared.feeds.len(),
            "the callable takes {} values but was called with {}",
            self.prepared.feeds.len(),
            feeds.len()
        );
        let deadline = self.session.deadline(options);
        if options.watch.is_empty() {
            return self.session.run(&self.prepared, feeds, options, deadline);
        }
        let (feeds_of, targets) = (self.feeds.clone(), self.targets.clone());
        let (watched, _) =
            self.session.prepare(feeds_of, targets, options.trace, &options.watch, deadline)?;
        self.session.run(&watched, feeds, options, deadline)
    }
}
