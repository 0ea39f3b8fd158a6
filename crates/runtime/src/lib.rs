//! Sessions run graphs, again and again.
//!
//! Start at [`Session`].

mod bounds;
mod callable;
mod coordinator;
mod explain;
mod feed;
mod fetch;
mod host;
mod library;
mod partial;
mod progress;
mod queue_runner;
mod resource_manager;
mod session;
mod split;
mod stall;
mod sync;
mod table;
mod watch;

pub use callable::Callable;
pub use coordinator::{Coordinator, Stop};
pub use explain::{
    CodeExplanation, Explanation, Holdings, LoopExplanation, LoopWay, NodeExplanation, PlaceExplanation,
    VariableReport,
};
pub use feed::{FeedKey, FeedList, Feeds};
pub use fetch::{Every, Fetch, FetchList, Fetched, FromFetched, Target, every};
pub use millstream_exec::region::Measured;
pub use millstream_exec::{Fate, Iterations, Pass, Passes, Poll, Sighting};
pub use millstream_files::{FileAccess, Folder};
pub use partial::PartialRun;
pub use progress::{LoopProgress, Progress, ShowProgress};
pub use queue_runner::{QUEUE_RUNNERS, QueueRunner};
pub use resource_manager::{ResourceEntry, ResourceManager};
pub use session::{RunMetadata, RunOptions, Session, SessionOptions, Tier};
pub use split::{Parts, Residuals, Split};
pub use stall::count_threads_with;
pub use watch::Watch;
