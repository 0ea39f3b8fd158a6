"""`tf.contrib.deprecated`: summaries as they were before TensorFlow 1.0: their tags are not made unique."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes, get_collection, name_scope, namespaces
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import raw
from millstream.io.summaries import _collect

__all__ = ["audio_summary", "histogram_summary", "image_summary", "merge_all_summaries", "merge_summary", "scalar_summary"]

__dir__ = namespaces.dir_of(globals())


def scalar_summary(tags: Any, values: Any, collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Tensor:
    """Returns numbers as a serialized `Summary`.

    Args:
      tags: The tags: a string or a tensor of strings.
      values: The numbers, of the same shape.
      collections: The collections to add the summary to; by default `summaries`.
      name: A name for the operation.

    Example:
      >>> message = tf.Session().run(tf.contrib.deprecated.scalar_summary(["a", "b"], [0.5, 1.5]))
      >>> [v.simple_value for v in tf.Summary.FromString(message).value]
      [0.5, 1.5]
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collect(raw("ScalarSummary")(tags=tags, values=values, name=scope), collections)  # type: ignore[no-any-return]


def histogram_summary(tag: Any, values: Any, collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Tensor:
    """Returns a histogram of values as a serialized `Summary`.

    Args:
      tag: The tag.
      values: A tensor of numbers.
      collections: The collections to add the summary to; by default `summaries`.
      name: A name for the operation.

    Example:
      >>> message = tf.Session().run(tf.contrib.deprecated.histogram_summary("a b", [0.5]))
      >>> tf.Summary.FromString(message).value[0].tag
      'a b'
    """
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collect(raw("HistogramSummary")(tag=tag, values=values, name=scope), collections)  # type: ignore[no-any-return]


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Tensor:
    """Returns images as a serialized `Summary`.

    Args:
      tag: The tag.
      tensor: A tensor of shape `[batch, height, width, channels]`.
      max_images: The largest number of images.
      collections: The collections to add the summary to; by default `summaries`.
      name: A name for the operation.

    Example:
      >>> message = tf.Session().run(tf.contrib.deprecated.image_summary("a", tf.zeros([1, 2, 2, 1])))
      >>> tf.Summary.FromString(message).value[0].tag
      'a/image/0'
    """
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collect(raw("ImageSummary")(tag=tag, tensor=tensor, max_images=max_images, name=scope), collections)  # type: ignore[no-any-return]


def audio_summary(
    tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Optional[Sequence[str]] = None, name: Optional[str] = None
) -> Tensor:
    """Returns audio clips as a serialized `Summary`.

    Args:
      tag: The tag.
      tensor: A `float32` tensor of shape `[batch, frames]` or `[batch, frames, channels]`.
      sample_rate: The sample rate in hertz.
      max_outputs: The largest number of clips.
      collections: The collections to add the summary to; by default `summaries`.
      name: A name for the operation.

    Example:
      >>> message = tf.Session().run(tf.contrib.deprecated.audio_summary("a", tf.zeros([1, 9]), 8000.0))
      >>> tf.Summary.FromString(message).value[0].tag
      'a/audio/0'
    """
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        made = raw("AudioSummaryV2")(tag=tag, tensor=tensor, sample_rate=rate, max_outputs=max_outputs, name=scope)
        return _collect(made, collections)  # type: ignore[no-any-return]


def merge_summary(inputs: Sequence[Any], collections: Optional[Sequence[str]] = None, name: Optional[str] = None) -> Tensor:
    """Returns several summaries as one.

    Args:
      inputs: Summaries.
      collections: The collections to add it to; by default none.
      name: A name for the operation.

    Example:
      >>> tf.contrib.deprecated.merge_summary([tf.contrib.deprecated.scalar_summary("a", 0.5)]).op.type
      'MergeSummary'
    """
    with name_scope(name, "MergeSummary", inputs):
        made = raw("MergeSummary")(inputs=inputs, name=name)
        return _collect(made, [] if collections is None else collections)  # type: ignore[no-any-return]


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Optional[Tensor]:
    """Returns all summaries of a collection as one, or None if there are none.

    Args:
      key: The collection.

    Example:
      >>> tf.contrib.deprecated.merge_all_summaries() is None
      True
    """
    summaries = get_collection(key)
    return merge_summary(summaries) if summaries else None
