"""`slim.parallel_reader`: several readers that fill one queue of records."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream.framework import dtypes as all_dtypes, name_scope
from millstream.io import files, summaries
from millstream.io.readers import ReaderBase
from millstream.ops import math_ops
from millstream.ops.data_flow import FIFOQueue, RandomShuffleQueue
from millstream.train import input as train_input
from millstream.train.queue_runner import QueueRunner, add_queue_runner

__all__ = ["ParallelReader", "get_data_files", "parallel_read", "single_pass_read"]


class ParallelReader(ReaderBase):
    """A reader made of several, which read files of one queue at the same time.

    Args:
      reader_class: A class of readers.
      common_queue: The queue of records: pairs of strings.
      num_readers: The number of readers.
      reader_kwargs: A dict of arguments of the readers.

    Raises:
      TypeError: When reading: the queue is not of two strings.
    """

    def __init__(self, reader_class: Any, common_queue: Any, num_readers: int = 4, reader_kwargs: Any = None) -> None:
        if len(common_queue.dtypes) != 2:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        for dtype in common_queue.dtypes:
            if not dtype.is_compatible_with(all_dtypes.string):
                raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    common_queue = property(lambda self: self._common_queue, doc="The queue of records.")

    def read(self, queue: Any, name: Optional[str] = None) -> Any:
        """Returns the key and value of a record; a runner is added that reads the files of `queue`."""
        self._fill_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: Optional[str] = None) -> Any:
        """Returns keys and values of up to `num_records` records; see `read`."""
        self._fill_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _fill_from(self, queue: Any) -> None:
        enqueue = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueue))

    def num_records_produced(self, name: Optional[str] = None) -> Any:
        """Returns the number of records that the readers have read."""
        return math_ops.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: Optional[str] = None) -> Any:
        """Returns the number of files that the readers have finished."""
        return math_ops.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: Optional[int] = None,
    num_readers: int = 4,
    reader_kwargs: Any = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: Optional[int] = None,
    scope: Optional[str] = None,
) -> Any:
    """Returns the key and value of a record of several files, which several readers read.

    Args:
      data_sources: A file name, a pattern, or a list of such.
      reader_class: A class of readers.
      num_epochs: The number of passes; None for no limit.
      num_readers: The number of readers.
      reader_kwargs: A dict of arguments of the readers.
      shuffle: If true, files and records are shuffled.
      dtypes: The dtypes of keys and values: strings.
      capacity: The capacity of the queue of records.
      min_after_dequeue: The number of records that stay in the queue if it shuffles.
      seed: A seed for shuffling.
      scope: A name scope.
    """
    names = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        filenames = train_input.string_input_producer(names, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [all_dtypes.string, all_dtypes.string]
        if shuffle:
            queue: Any = RandomShuffleQueue(capacity=capacity, min_after_dequeue=min_after_dequeue, dtypes=dtypes, seed=seed, name="common_queue")
        else:
            queue = FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        summaries.scalar("fraction_of_%d_full" % capacity, math_ops.cast(queue.size(), all_dtypes.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers=num_readers, reader_kwargs=reader_kwargs).read(filenames)


def single_pass_read(data_sources: Any, reader_class: Any, reader_kwargs: Any = None, scope: Optional[str] = None) -> Any:
    """Returns the key and value of a record: one reader reads each file once, in order.

    Args:
      data_sources: A file name, a pattern, or a list of such.
      reader_class: A class of readers.
      reader_kwargs: A dict of arguments of the reader.
      scope: A name scope.
    """
    names = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        filenames = train_input.string_input_producer(names, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(filenames)


def get_data_files(data_sources: Any) -> List[str]:
    """Returns the files that a name, a pattern or a list of these matches.

    Raises:
      ValueError: There are none.
    """
    if isinstance(data_sources, (list, tuple)):
        found = [name for source in data_sources for name in get_data_files(source)]
    elif any(c in data_sources for c in "*?["):
        found = files.Glob(data_sources)
    else:
        found = [data_sources]
    if not found:
        raise ValueError("No data files found in %s" % (data_sources,))
    return found
