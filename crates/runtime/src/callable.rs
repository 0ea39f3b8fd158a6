//! [`Callable`]: fetches and feeds resolved once, for many calls.

use crate::fetch::{FromFetched, Target, take_all};
use crate::session::{Prepared, RunMetadata, RunOptions, Shared, spread};
use millstream_tensor::{Result, Tensor, ensure};
use std::sync::Arc;

/// A run made ready: only the values of the feeds are missing. May be called from several threads at once.
pub struct Callable {
    session: Arc<Shared>,
    prepared: Arc<Prepared>,
    targets: Vec<Target>,
}

impl Callable {
    pub(crate) fn new(session: Arc<Shared>, prepared: Arc<Prepared>, targets: Vec<Target>) -> Callable {
        Callable { session, prepared, targets }
    }

    /// Runs with these values, in the order in which the feeds were named, and gives the fetched values in order; operations give none.
    pub fn call(&self, feeds: &[Tensor]) -> Result<Vec<Tensor>> {
        Ok(self.call_with(feeds.to_vec(), &RunOptions::default())?.0)
    }

    /// As [`Callable::call`], giving the structure that the caller takes.
    pub fn call_as<V: FromFetched>(&self, feeds: &[Tensor]) -> Result<V> {
        let values = self.call(feeds)?;
        take_all(spread(&self.targets, values))
    }

    /// As [`Callable::call`], with the feeds by value (a kernel may then change them in place) and options.
    pub fn call_with(&self, feeds: Vec<Tensor>, options: &RunOptions) -> Result<(Vec<Tensor>, RunMetadata)> {
        self.session.check_open()?;
        ensure!(
            feeds.len() == self.prepared.feeds.len(),
            "the callable takes {} values but was called with {}",
            self.prepared.feeds.len(),
            feeds.len()
        );
        let outcome = self.session.run(&self.prepared, feeds, options)?;
        Ok((outcome.values, RunMetadata { trace: outcome.trace }))
    }
}
