"""`slim.dataset`: where examples come from, and how they are read and decoded."""

from __future__ import annotations

from typing import Any

__all__ = ["Dataset"]


class Dataset:
    """A description of a set of examples, which `DatasetDataProvider` reads.

    Args:
      data_sources: A file name, a pattern, or a list of such.
      reader: A class of readers, such as `tf.TFRecordReader`.
      decoder: A `DataDecoder`.
      num_samples: The number of examples.
      items_to_descriptions: A dict of texts about the items.
      **kwargs: More attributes, such as `num_classes`.
    """

    def __init__(self, data_sources: Any, reader: Any, decoder: Any, num_samples: Any, items_to_descriptions: Any, **kwargs: Any) -> None:
        self.data_sources, self.reader, self.decoder = data_sources, reader, decoder
        self.num_samples, self.items_to_descriptions = num_samples, items_to_descriptions
        vars(self).update(kwargs)
