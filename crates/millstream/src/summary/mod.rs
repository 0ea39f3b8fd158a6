//! Summaries: what a program says of itself while it runs, as TensorBoard shows it.
//!
//! [`scalar`] and [`histogram`] make operations that give an encoded `Summary`; [`merge_all`] makes one of all of them. A [`FileWriter`] writes
//! what they give to event files, which [`summary_iterator`] reads.
//!
//! Definition: TensorFlow's `tf.summary`; operations, tags and names are its.
//!
//! ```
//! use millstream::prelude::*;
//! use millstream::summary;
//!
//! let g = Graph::new();
//! let x = g.placeholder::<f32>("x", shape![_]);
//! let loss = g.name_scope("loss", || {
//!     summary::histogram(&g, "errors", x);
//!     x.square().reduce_mean(())
//! });
//! summary::scalar(&g, "mean", loss);
//! let all = summary::merge_all(&g)?.expect("there are two");
//!
//! let session = Session::new(&g)?;
//! let all = summary::decode(&session.run(all, feed![x => [1.0f32, 2.0]])?)?;
//! let tags: Vec<&str> = all.value.iter().map(|v| v.tag.as_str()).collect();
//! assert_eq!(tags, ["loss/errors", "mean"]);
//! # Ok::<(), millstream::Error>(())
//! ```

mod events;
mod file;
mod run_metadata;
mod writer;

use crate::options::Start;
use millstream_graph::{Arg, CollectionItem, Graph, Output};
use millstream_interop::proto;
use millstream_interop::proto::summary::{Value, value};
use millstream_tensor::{Error, Result, Tensor, invalid};
use std::panic::Location;

pub use events::{Events, summary_iterator};
pub use millstream_interop::proto::{Event, SessionLog, Summary};
pub use writer::{FileWriter, FileWriterBuilder};

/// The collection of all summaries, which [`merge_all`] merges.
pub const SUMMARIES: &str = "summaries";

/// Where summaries go, if not where all do: made by [`family`] and [`collections`], it makes them as the functions of those names do.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let x = summary::family("layers").scalar(&g, "norm", g.constant(1f32));
/// assert_eq!(x.name(), "layers/norm:0");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    family: Option<String>,
    collections: Vec<String>,
}

impl Default for Group {
    fn default() -> Group {
        Group { family: None, collections: vec![SUMMARIES.into()] }
    }
}

/// Summaries that TensorBoard shows together, under this name.
pub fn family(name: impl Into<String>) -> Group {
    Group::default().family(name)
}

/// Summaries that go to these collections instead of [`SUMMARIES`].
pub fn collections(names: impl IntoIterator<Item = impl Into<String>>) -> Group {
    Group::default().collections(names)
}

/// A summary that holds a number.
#[track_caller]
pub fn scalar<'g>(g: &'g Graph, name: &str, value: impl Into<Arg<'g>>) -> Output<'g> {
    Group::default().scalar(g, name, value)
}

/// A summary that holds a histogram of numbers. NaN and infinities among them are errors of the run.
#[track_caller]
pub fn histogram<'g>(g: &'g Graph, name: &str, values: impl Into<Arg<'g>>) -> Output<'g> {
    Group::default().histogram(g, name, values)
}

impl Group {
    /// They are shown together, under this name.
    pub fn family(mut self, name: impl Into<String>) -> Group {
        self.family = Some(name.into());
        self
    }

    /// They go to these collections.
    pub fn collections(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Group {
        self.collections = names.into_iter().map(Into::into).collect();
        self
    }

    /// As [`scalar`].
    #[track_caller]
    pub fn scalar<'g>(&self, g: &'g Graph, name: &str, value: impl Into<Arg<'g>>) -> Output<'g> {
        self.make(g, "ScalarSummary", name, value.into(), Location::caller())
    }

    /// As [`histogram`].
    #[track_caller]
    pub fn histogram<'g>(&self, g: &'g Graph, name: &str, values: impl Into<Arg<'g>>) -> Output<'g> {
        self.make(g, "HistogramSummary", name, values.into(), Location::caller())
    }

    fn make<'g>(
        &self,
        g: &'g Graph,
        op: &'static str,
        name: &str,
        value: Arg<'g>,
        at: &'static Location<'static>,
    ) -> Output<'g> {
        let (name, family) = (clean(name), self.family.as_deref().map(clean));
        let name = match &family {
            None => name,
            Some(family) => format!("{family}/{name}"),
        };
        if let Err(error) = check(g, &name) {
            g.remember(error.at_line(at));
        }
        let made = g.name_scope(&name, || {
            let scope = g.scope();
            let path = scope.trim_end_matches('/');
            let tag = family.map_or(path.to_owned(), |family| format!("{family}/{path}"));
            g.op(op).name(&scope).at(at).input(tag).input(value).output()
        });
        for collection in &self.collections {
            g.add_to_collection(collection, CollectionItem::Node(made.name()));
        }
        made
    }
}

/// One summary of several. A tag that two of them have is an error of the run.
///
/// Another name than `Merge`: `summary::merge(g.named("all"), [a, b])`.
#[track_caller]
pub fn merge<'g>(g: impl Start<'g>, summaries: impl IntoIterator<Item = impl Into<Arg<'g>>>) -> Output<'g> {
    let options = g.options();
    let g = options.graph();
    let at = Location::caller();
    let (scope, name) = match options.name_or("") {
        name if name.is_empty() => ("Merge".to_owned(), "MergeSummary".to_owned()),
        name => (clean(&name), clean(&name)),
    };
    g.name_scope(&scope, || g.op("MergeSummary").name(name).at(at).inputs(summaries).output())
}

/// One summary of all that were made so far; none if there is none.
#[track_caller]
pub fn merge_all<'g>(g: impl Start<'g>) -> Result<Option<Output<'g>>> {
    merge_all_of(g, SUMMARIES, "")
}

/// One summary of those of a collection whose names begin with `scope`; none if there is none.
#[track_caller]
pub fn merge_all_of<'g>(g: impl Start<'g>, collection: &str, scope: &str) -> Result<Option<Output<'g>>> {
    let options = g.options();
    let g = options.graph();
    g.check()?;
    let names = g.collection(collection).into_iter().map(|item| match item {
        CollectionItem::Node(name) => Ok(name),
        _ => Err(invalid!("the collection `{collection}` holds something else than summaries")),
    });
    let names = names.collect::<Result<Vec<String>>>()?;
    let summaries = names.iter().filter(|name| name.starts_with(scope)).map(|name| g.output(name));
    let summaries = summaries.collect::<Result<Vec<Output<'g>>>>()?;
    Ok(if summaries.is_empty() { None } else { Some(merge(options, summaries)) })
}

/// The message that a summary's value holds.
pub fn decode(summary: &Tensor) -> Result<Summary> {
    let Some([bytes]) = summary.as_strs() else {
        return Err(invalid!("a summary is one string, not {}{}", summary.dtype(), summary.shape()));
    };
    proto::decode(bytes).map_err(|cause| Error::invalid("this is no summary").note(cause.to_string()))
}

/// What can be written as a summary: the value of a summary operation, or a message.
pub trait IntoSummary {
    /// The message.
    fn into_summary(self) -> Result<Summary>;
}

impl IntoSummary for &Tensor {
    fn into_summary(self) -> Result<Summary> {
        decode(self)
    }
}

impl IntoSummary for Summary {
    fn into_summary(self) -> Result<Summary> {
        Ok(self)
    }
}

impl IntoSummary for &Summary {
    fn into_summary(self) -> Result<Summary> {
        Ok(self.clone())
    }
}

/// Numbers by their tags as a summary, without a graph.
pub fn numbers(numbers: impl IntoIterator<Item = (impl Into<String>, f32)>) -> Summary {
    let value = |(tag, number): (_, f32)| Value {
        tag: Into::into(tag),
        value: Some(value::Value::SimpleValue(number)),
        ..Value::default()
    };
    Summary { value: numbers.into_iter().map(value).collect() }
}

/// What a name may not hold becomes `_`.
fn clean(name: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '-' | '/' | '_' | '.');
    let name: String = name.chars().map(|c| if keeps(c) { c } else { '_' }).collect();
    name.trim_start_matches('/').to_owned()
}

/// Names of scopes are ASCII, and the outermost begin with a letter, a digit or a point.
fn check(g: &Graph, name: &str) -> Result<()> {
    let first = |c: char| c.is_ascii_alphanumeric() || c == '.' || !g.scope().is_empty();
    match name.is_ascii() && name.starts_with(first) {
        true => Ok(()),
        false => Err(invalid!("'{name}' is not a valid scope name, as a summary's name must be")),
    }
}
