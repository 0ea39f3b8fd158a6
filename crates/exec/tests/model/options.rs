//! The options of a run, as far as the team reads them.

use crate::poll::Poll;
use crate::progress::Progress;
use millstream_tensor::budget::Budget;
use std::sync::Arc;
use std::time::Instant;

#[derive(Default)]
pub(crate) struct RunOptions {
    pub(crate) deadline: Option<Instant>,
    pub(crate) budget: Option<Arc<Budget>>,
    pub(crate) one_thread_per_kernel: bool,
    pub(crate) poll: Option<Poll>,
    pub(crate) progress: Option<Progress>,
}
