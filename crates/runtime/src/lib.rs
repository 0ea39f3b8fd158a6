//! Sessions: a graph made to run, again and again.
//!
//! Start at [`Session`].

mod callable;
mod feed;
mod fetch;
mod host;
pub mod knobs;
mod partial;
mod session;

pub use callable::Callable;
pub use feed::{FeedList, Feeds};
pub use fetch::{Fetch, FetchList, FromFetched, Target};
pub use partial::PartialRun;
pub use session::{RunMetadata, RunOptions, Session, SessionOptions, Tier};
