//! Summaries: values that a program records while it runs, shown by TensorBoard.
//!
//! [`scalar`], [`histogram`], [`image`], [`audio`], [`text`] and [`tensor_summary`] add operations that
//! return an encoded `Summary`; [`merge_all`] merges all of them into one. A [`FileWriter`] writes summaries
//! to event files, which [`summary_iterator`] reads.
//!
//! Definition: TensorFlow's `tf.summary`; operations, tags and names are TensorFlow's.
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

use crate::ops::Ops;
use crate::options::{Options, Start};
use crate::value::Value;
use millstream_graph::{Arg, CollectionItem, Graph, Output};
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
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// summary::scalar(&g, "loss", 0.5f32);
/// assert_eq!(g.collection(summary::SUMMARIES).len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub const SUMMARIES: &str = "summaries";

/// A family and collections for summaries, from [`family`] and [`collections`]. Its methods add summaries
/// like the functions of the same names.
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

/// Returns a group whose summaries TensorBoard shows together under this name.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let loss = summary::family("train").scalar(&g, "loss", g.constant(0.5f32));
/// let message = summary::decode(&Session::new(&g)?.run(loss, feed![])?)?;
/// assert_eq!(message.value[0].tag, "train/train/loss");
/// # Ok::<(), millstream::Error>(())
/// ```
pub fn family(name: impl Into<String>) -> Group {
    Group::default().family(name)
}

/// Returns a group whose summaries go to these collections instead of [`SUMMARIES`].
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// summary::collections(["debug"]).scalar(&g, "norm", 2.0f32);
/// assert!(summary::merge_all(&g)?.is_none()); // it is not in `SUMMARIES`
/// assert!(summary::merge_all_of(&g, "debug", "")?.is_some());
/// # Ok::<(), millstream::Error>(())
/// ```
pub fn collections(names: impl IntoIterator<Item = impl Into<String>>) -> Group {
    Group::default().collections(names)
}

/// Adds a summary of a number.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let loss = summary::scalar(&g, "loss", g.constant(0.5f32));
/// let message = summary::decode(&Session::new(&g)?.run(loss, feed![])?)?;
/// assert_eq!(message.value[0].tag, "loss");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn scalar<'g>(g: &'g Graph, name: &str, value: impl Into<Arg<'g>>) -> Output<'g> {
    Group::default().scalar(g, name, value)
}

/// Adds a summary of a histogram of numbers. NaN and infinities are errors at run time.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let weights = summary::histogram(&g, "weights", g.constant([0.5f32, 1.5]));
/// let message = summary::decode(&Session::new(&g)?.run(weights, feed![])?)?;
/// assert_eq!(message.value[0].tag, "weights");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn histogram<'g>(g: &'g Graph, name: &str, values: impl Into<Arg<'g>>) -> Output<'g> {
    Group::default().histogram(g, name, values)
}

/// Adds a summary of the first `max_outputs` of a batch of images `[batch, height, width, channels]`, as PNG
/// files: grayscale, RGB or RGBA, of bytes or floats. Each image of floats is scaled on its own: its maximum
/// becomes 255, or, if there are negative values, zero becomes 128. Values that are not finite become red.
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

/// Adds a summary of the first `max_outputs` of a batch of sounds, f32 from -1 to 1 `[batch, frames]` or
/// `[batch, frames, channels]`, `sample_rate` frames a second, as WAV files.
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

/// Adds a summary of text: strings of any shape, in Markdown.
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

/// Adds a summary of a tensor of any dtype and shape, with metadata for the program that shows it.
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
    /// Shows the summaries together under this name.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// let group = summary::collections(["debug"]).family("train");
    /// group.scalar(&g, "loss", 0.5f32);
    /// assert_eq!(g.collection("debug").len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn family(mut self, name: impl Into<String>) -> Group {
        self.family = Some(name.into());
        self
    }

    /// Sets the collections of the summaries.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// summary::family("train").collections(["debug", "all"]).scalar(&g, "loss", 0.5f32);
    /// assert_eq!((g.collection("debug").len(), g.collection("all").len()), (1, 1));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn collections(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Group {
        self.collections = names.into_iter().map(Into::into).collect();
        self
    }

    /// As [`scalar`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// let loss = summary::family("train").scalar(&g, "loss", 0.5f32);
    /// let message = summary::decode(&Session::new(&g)?.run(loss, feed![])?)?;
    /// assert_eq!(message.value[0].tag, "train/train/loss");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn scalar<'g>(&self, g: &'g Graph, name: &str, value: impl Into<Arg<'g>>) -> Output<'g> {
        let (value, at) = (value.into(), Location::caller());
        self.make(g, name, at, |g, tag| g.summary().scalar_summary(tag, value))
    }

    /// As [`histogram`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// let weights = summary::family("layer").histogram(&g, "weights", g.constant([0.5f32, 1.5]));
    /// let message = summary::decode(&Session::new(&g)?.run(weights, feed![])?)?;
    /// assert_eq!(message.value[0].tag, "layer/layer/weights");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn histogram<'g>(&self, g: &'g Graph, name: &str, values: impl Into<Arg<'g>>) -> Output<'g> {
        let (values, at) = (values.into(), Location::caller());
        self.make(g, name, at, |g, tag| g.summary().histogram_summary(tag, values))
    }

    /// As [`image`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// let grey = g.zeros::<f32>([1, 2, 2, 1]); // one image of 2 x 2 pixels
    /// let image = summary::family("input").image(&g, "digit", grey, 1);
    /// let message = summary::decode(&Session::new(&g)?.run(image, feed![])?)?;
    /// assert_eq!(message.value.len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn image<'g>(
        &self,
        g: &'g Graph,
        name: &str,
        images: impl Into<Arg<'g>>,
        max_outputs: usize,
    ) -> Output<'g> {
        let (images, at) = (images.into(), Location::caller());
        self.make(g, name, at, |g, tag| {
            g.with("max_images", max_outputs).summary().image_summary(tag, images)
        })
    }

    /// As [`audio`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// let sound = g.zeros::<f32>([1, 100]); // one sound of 100 samples
    /// let audio = summary::family("input").audio(&g, "voice", sound, 44100.0f32, 1);
    /// let message = summary::decode(&Session::new(&g)?.run(audio, feed![])?)?;
    /// assert_eq!(message.value.len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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
        self.make(g, name, at, |g, tag| {
            let rate = sample_rate.place(g.graph(), "sample_rate", at);
            g.with("max_outputs", max_outputs).summary().audio_summary_v2(tag, sounds, rate)
        })
    }

    /// As [`text`].
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary;
    /// let g = Graph::new();
    /// let text = summary::family("output").text(&g, "sentence", g.constant("once upon a time"));
    /// let message = summary::decode(&Session::new(&g)?.run(text, feed![])?)?;
    /// assert_eq!(message.value.len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary::{self, SummaryMetadata};
    /// let g = Graph::new();
    /// let metadata = SummaryMetadata::default();
    /// let pair = summary::family("debug").tensor_summary(&g, "pair", g.constant([1, 2]), &metadata);
    /// let message = summary::decode(&Session::new(&g)?.run(pair, feed![])?)?;
    /// assert_eq!(message.value.len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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
        self.make(g, name, at, |g, tag| g.summary().tensor_summary_v2(tag, tensor, metadata))
    }

    fn make<'g>(
        &self,
        g: &'g Graph,
        name: &str,
        at: &'static Location<'static>,
        summary: impl FnOnce(Options<'g>, String) -> Output<'g>,
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
            let path = scope.trim_end_matches('/').to_owned();
            let tag = family.map_or(path.clone(), |family| format!("{family}/{path}"));
            summary(g.named(scope).at(at), tag)
        });
        for collection in &self.collections {
            g.add_to_collection(collection, CollectionItem::Node(made.name()));
        }
        made
    }
}

/// Merges summaries into one. Duplicate tags are an error at run time.
///
/// For a name other than `Merge`: `summary::merge(g.named("all"), [a, b])`.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let (a, b) = (summary::scalar(&g, "a", 1.0f32), summary::scalar(&g, "b", 2.0f32));
/// let message = summary::decode(&Session::new(&g)?.run(summary::merge(&g, [a, b]), feed![])?)?;
/// assert_eq!(message.value.len(), 2);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn merge<'g>(g: impl Start<'g>, summaries: impl IntoIterator<Item = impl Into<Arg<'g>>>) -> Output<'g> {
    let options = g.options();
    let g = options.graph();
    let at = Location::caller();
    let (scope, name) = match options.name_or("") {
        name if name.is_empty() => ("Merge".to_owned(), "MergeSummary".to_owned()),
        name => (clean(&name), clean(&name)),
    };
    g.name_scope(&scope, || g.named(name).at(at).summary().merge_summary(summaries))
}

/// Merges all summaries added so far into one; `None` if there is none.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// assert!(summary::merge_all(&g)?.is_none());
/// summary::scalar(&g, "loss", 0.5f32);
/// let merged = summary::merge_all(&g)?.expect("there is one");
/// let message = summary::decode(&Session::new(&g)?.run(merged, feed![])?)?;
/// assert_eq!(message.value[0].tag, "loss");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn merge_all<'g>(g: impl Start<'g>) -> Result<Option<Output<'g>>> {
    merge_all_of(g, SUMMARIES, "")
}

/// Merges the summaries of a collection whose names begin with `scope` into one; `None` if there is none.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// g.name_scope("train", || summary::scalar(&g, "loss", 0.5f32));
/// g.name_scope("test", || summary::scalar(&g, "loss", 0.7f32));
/// let merged = summary::merge_all_of(&g, summary::SUMMARIES, "test")?.expect("there is one");
/// let message = summary::decode(&Session::new(&g)?.run(merged, feed![])?)?;
/// assert_eq!(message.value[0].tag, "test/loss");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn merge_all_of<'g>(g: impl Start<'g>, collection: &str, scope: &str) -> Result<Option<Output<'g>>> {
    let options = g.options();
    let g = options.graph();
    g.check()?;
    let names = g.collection(collection).into_iter().map(|item| match item {
        CollectionItem::Node(name) => Ok(name),
        _ => Err(invalid!("the collection `{collection}` holds values that are not summaries")),
    });
    let names = names.collect::<Result<Vec<String>>>()?;
    let summaries = names.iter().filter(|name| name.starts_with(scope)).map(|name| g.output(name));
    let summaries = summaries.collect::<Result<Vec<Output<'g>>>>()?;
    Ok(if summaries.is_empty() { None } else { Some(merge(options, summaries)) })
}

/// Decodes the value of a summary operation.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let g = Graph::new();
/// let loss = summary::scalar(&g, "loss", 0.5f32);
/// let message = summary::decode(&Session::new(&g)?.run(loss, feed![])?)?;
/// assert_eq!(message.value.len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub fn decode(summary: &Tensor) -> Result<Summary> {
    let Some([bytes]) = summary.as_strs() else {
        return Err(invalid!("a summary is one string, not {}{}", summary.dtype(), summary.shape()));
    };
    proto::decode(bytes).map_err(|cause| Error::invalid("this is not a summary").note(cause.to_string()))
}

/// A value that can be written as a summary: the value of a summary operation, or a message.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary::{self, IntoSummary};
/// let g = Graph::new();
/// let value: Tensor = Session::new(&g)?.run(summary::scalar(&g, "loss", 0.5f32), feed![])?;
/// assert_eq!((&value).into_summary()?.value[0].tag, "loss"); // the value of an operation
/// assert_eq!(summary::numbers([("loss", 0.5)]).into_summary()?.value[0].tag, "loss"); // a message
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait IntoSummary {
    /// Returns the message.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::summary::{self, IntoSummary};
    /// assert_eq!(summary::numbers([("loss", 0.5)]).into_summary()?.value.len(), 1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
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

/// Returns a summary of numbers by tag, without a graph.
///
/// ```
/// use millstream::prelude::*;
/// use millstream::summary;
/// let message = summary::numbers([("loss", 0.5), ("accuracy", 0.9)]);
/// assert_eq!(message.value[1].tag, "accuracy");
/// # Ok::<(), millstream::Error>(())
/// ```
pub fn numbers(numbers: impl IntoIterator<Item = (impl Into<String>, f32)>) -> Summary {
    let value = |(tag, number): (_, f32)| message::Value {
        tag: Into::into(tag),
        value: Some(value::Value::SimpleValue(number)),
        ..message::Value::default()
    };
    Summary { value: numbers.into_iter().map(value).collect() }
}

/// Replaces characters that a name cannot contain by `_`.
fn clean(name: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '-' | '/' | '_' | '.');
    let name: String = name.chars().map(|c| if keeps(c) { c } else { '_' }).collect();
    name.trim_start_matches('/').to_owned()
}

/// Checks a scope name: ASCII, and in the outermost scope beginning with a letter, a digit or a point.
fn check(g: &Graph, name: &str) -> Result<()> {
    let first = |c: char| c.is_ascii_alphanumeric() || c == '.' || !g.scope().is_empty();
    match name.is_ascii() && name.starts_with(first) {
        true => Ok(()),
        false => Err(invalid!("'{name}' is not a valid scope name, as a summary's name must be")),
    }
}
