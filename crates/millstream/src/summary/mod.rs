//! Summaries: what a program says of itself while it runs, as TensorBoard shows it.
//!
//! [`scalar`], [`histogram`], [`image`], [`audio`], [`text`] and [`tensor_summary`] make operations that give an encoded `Summary`; [`merge_all`] makes one of all of them. A [`FileWriter`] writes
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
use crate::value::Value;
use millstream_graph::{Arg, CollectionItem, Graph, OpBuilder, Output};
use millstream_interop::proto;
use millstream_interop::proto::summary::{self as message, value};
use millstream_tensor::{DType, Error, Result, Tensor, invalid};
use std::panic::Location;

pub use events::{Events, summary_iterator};
pub use millstream_interop::proto::summary_metadata::PluginData;
pub use millstream_interop::proto::{Event, SessionLog, Summary, SummaryMetadata};
pub use run_metadata::message as run_metadata_message;
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

/// A summary that holds the first `max_outputs` of a batch of images `[batch, height, width, channels]`, as PNG files: gray, colored or colored
/// with an alpha channel, of bytes or of floats. Of floats each image is scaled by itself: its largest becomes 255; if some are negative, zero
/// becomes 128 instead; what is not finite becomes red.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let image = summary::image(&g, "digit", g.zeros::<f32>([1, 28, 28, 1]), 1);
/// let made = summary::decode(&Session::new(&g)?.run(image, feed![])?)?;
/// assert_eq!(made.value[0].tag, "digit/image");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn image<'g>(g: &'g Graph, name: &str, images: impl Into<Arg<'g>>, max_outputs: usize) -> Output<'g> {
    Group::default().image(g, name, images, max_outputs)
}

/// A summary that holds the first `max_outputs` of a batch of sounds, f32 from -1 to 1 `[batch, frames]` or `[batch, frames, channels]`,
/// `sample_rate` frames a second, as WAV files.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let sound = summary::audio(&g, "silence", g.zeros::<f32>([2, 8000]), 8000f32, 3);
/// let made = summary::decode(&Session::new(&g)?.run(sound, feed![])?)?;
/// assert_eq!(made.value[1].tag, "silence/audio/1");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn audio<'g>(
    g: &'g Graph,
    name: &str,
    sounds: impl Into<Arg<'g>>,
    sample_rate: impl Into<Value<'g>>,
    max_outputs: usize,
) -> Output<'g> {
    Group::default().audio(g, name, sounds, sample_rate, max_outputs)
}

/// A summary that holds text: strings of any shape, Markdown.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let said = summary::text(&g, "said", g.constant("*hello*"));
/// let made = summary::decode(&Session::new(&g)?.run(said, feed![])?)?;
/// assert_eq!(made.value[0].metadata.as_ref().unwrap().plugin_data.as_ref().unwrap().plugin_name, "text");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn text<'g>(g: &'g Graph, name: &str, text: Output<'g>) -> Output<'g> {
    Group::default().text(g, name, text)
}

/// A summary that holds a tensor of any dtype and shape, with what is said of it to whatever shows it.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary::{self, SummaryMetadata};
/// let g = Graph::new();
/// let metadata = SummaryMetadata { display_name: "The table".into(), ..SummaryMetadata::default() };
/// let table = summary::tensor_summary(&g, "table", g.constant([[1, 2], [3, 4]]), &metadata);
/// let made = summary::decode(&Session::new(&g)?.run(table, feed![])?)?;
/// assert_eq!(made.value[0].tag, "table");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn tensor_summary<'g>(
    g: &'g Graph,
    name: &str,
    tensor: impl Into<Arg<'g>>,
    metadata: &SummaryMetadata,
) -> Output<'g> {
    Group::default().tensor_summary(g, name, tensor, metadata)
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
        let (value, at) = (value.into(), Location::caller());
        self.make(g, name, at, |scope, tag| g.op("ScalarSummary").name(scope).at(at).input(tag).input(value))
    }

    /// As [`histogram`].
    #[track_caller]
    pub fn histogram<'g>(&self, g: &'g Graph, name: &str, values: impl Into<Arg<'g>>) -> Output<'g> {
        let (values, at) = (values.into(), Location::caller());
        self.make(g, name, at, |scope, tag| {
            g.op("HistogramSummary").name(scope).at(at).input(tag).input(values)
        })
    }

    /// As [`image`].
    #[track_caller]
    pub fn image<'g>(
        &self,
        g: &'g Graph,
        name: &str,
        images: impl Into<Arg<'g>>,
        max_outputs: usize,
    ) -> Output<'g> {
        let (images, at) = (images.into(), Location::caller());
        self.make(g, name, at, |scope, tag| {
            g.op("ImageSummary").name(scope).at(at).input(tag).input(images).attr("max_images", max_outputs)
        })
    }

    /// As [`audio`].
    #[track_caller]
    pub fn audio<'g>(
        &self,
        g: &'g Graph,
        name: &str,
        sounds: impl Into<Arg<'g>>,
        sample_rate: impl Into<Value<'g>>,
        max_outputs: usize,
    ) -> Output<'g> {
        let (sounds, sample_rate, at) = (sounds.into(), sample_rate.into(), Location::caller());
        self.make(g, name, at, |scope, tag| {
            let rate = sample_rate.place(g, "sample_rate", at);
            let node = g.op("AudioSummaryV2").name(scope).at(at).input(tag).input(sounds).input(rate);
            node.attr("max_outputs", max_outputs)
        })
    }

    /// As [`text`].
    #[track_caller]
    pub fn text<'g>(&self, g: &'g Graph, name: &str, text: Output<'g>) -> Output<'g> {
        if let Ok(dtype) = text.dtype()
            && dtype != DType::Str
        {
            let wrong = invalid!("Expected tensor {} to have dtype string, got {dtype}", text.name());
            g.remember(wrong.at_line(Location::caller()));
        }
        let shown_by = PluginData { plugin_name: "text".into(), ..PluginData::default() };
        let metadata = SummaryMetadata { plugin_data: Some(shown_by), ..SummaryMetadata::default() };
        self.tensor_summary(g, name, text, &metadata)
    }

    /// As [`tensor_summary`].
    #[track_caller]
    pub fn tensor_summary<'g>(
        &self,
        g: &'g Graph,
        name: &str,
        tensor: impl Into<Arg<'g>>,
        metadata: &SummaryMetadata,
    ) -> Output<'g> {
        let (tensor, at) = (tensor.into(), Location::caller());
        let metadata = Tensor::str(proto::encode(metadata));
        self.make(g, name, at, |scope, tag| {
            g.op("TensorSummaryV2").name(scope).at(at).input(tag).input(tensor).input(metadata)
        })
    }

    fn make<'g>(
        &self,
        g: &'g Graph,
        name: &str,
        at: &'static Location<'static>,
        node: impl FnOnce(&str, String) -> OpBuilder<'g>,
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
            node(&scope, tag).output()
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
    let value = |(tag, number): (_, f32)| message::Value {
        tag: Into::into(tag),
        value: Some(value::Value::SimpleValue(number)),
        ..message::Value::default()
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
