"""`slim.dataset_data_provider`: a provider of the examples of a `Dataset`."""

from __future__ import annotations

from typing import Any, Optional

from millstream.contrib.slim import data_provider, parallel_reader

__all__ = ["DatasetDataProvider"]


class DatasetDataProvider(data_provider.DataProvider):
    """Reads the files of a `Dataset` in parallel; each run gives the items of the next example.

    Args:
      dataset: A `Dataset`.
      num_readers: The number of readers.
      reader_kwargs: A dict of arguments of the readers.
      shuffle: If true, files and records are shuffled.
      num_epochs: The number of passes, after which runs raise `OutOfRangeError`; None for no limit.
      common_queue_capacity: The capacity of the queue of records.
      common_queue_min: The number of records that stay in the queue if it shuffles.
      record_key: The name of the item that is the key of the record.
      seed: A seed for shuffling.
      scope: A name scope.

    Raises:
      ValueError: `record_key` is an item of the data set.
    """

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: Any = None,
        shuffle: bool = True,
        num_epochs: Optional[int] = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: Optional[int] = None,
        scope: Optional[str] = None,
    ) -> None:
        key, data = parallel_reader.parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(data, items)))
        if record_key in tensors:
            raise ValueError("The item name used for `record_key` cannot also be used for a dataset item: %s" % record_key)
        tensors[record_key] = key
        super().__init__(items_to_tensors=tensors, num_samples=dataset.num_samples)
