"""Batches of records and of parsed examples from files, through queues."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream.contrib.input_pipeline import seek_next
from millstream.framework import SparseTensor, constant, dtypes, errors, name_scope
from millstream._engine import Tensor
from millstream.io import files as io_files, parsing_ops, readers, summaries
from millstream.ops import math_ops
from millstream.ops.data_flow import FIFOQueue
from millstream.train import input as inputs
from millstream.train.queue_runner import QueueRunner, add_queue_runner

_KEY = "__key__"


def _files(file_pattern: Any, randomize_input: bool) -> List[str]:
    if isinstance(file_pattern, list):
        if not file_pattern:
            raise ValueError("No files given to dequeue_examples.")
        names = [name for pattern in file_pattern for name in io_files.Glob(pattern)]
    else:
        names = list(io_files.Glob(file_pattern))
    if not names:
        raise ValueError("No files match %s." % file_pattern)
    return names if randomize_input else sorted(names)


def _check(queue_capacity: Any, batch_size: Any, read_batch_size: Any, num_threads: Any, num_epochs: Any) -> None:
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError("Invalid queue_capacity %s." % queue_capacity)
    if batch_size is None or not isinstance(batch_size, Tensor) and not 0 < batch_size < queue_capacity:
        raise ValueError("Invalid batch_size %s, with queue_capacity %s." % (batch_size, queue_capacity))
    if read_batch_size is None or not isinstance(read_batch_size, Tensor) and read_batch_size <= 0:
        raise ValueError("Invalid read_batch_size %s." % read_batch_size)
    if not num_threads or num_threads <= 0:
        raise ValueError("Invalid num_threads %s." % num_threads)
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError("Invalid num_epochs %s." % num_epochs)


def _read(
    file_pattern: Any, batch_size: Any, reader: Callable[[], Any], randomize_input: bool, num_epochs: Optional[int], queue_capacity: int,
    num_threads: int, read_batch_size: Any, parse_fn: Any, shared: bool, name: Optional[str], seed: Optional[int],
) -> Any:  # fmt: skip
    names = _files(file_pattern, randomize_input)
    _check(queue_capacity, batch_size, read_batch_size, num_threads, num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as queue_scope:
            if shared:
                files = FIFOQueue(capacity=1, dtypes=[dtypes.string], shapes=[[]])
                put = files.enqueue(seek_next(names, shuffle=randomize_input, num_epochs=num_epochs, seed=seed))
                add_queue_runner(QueueRunner(files, [put]))
            else:
                listed = constant(names, name="input")
                files = inputs.string_input_producer(listed, shuffle=randomize_input, num_epochs=num_epochs, name=queue_scope, seed=seed)
        examples: List[Any] = []
        with name_scope("read"):
            for _ in range(num_threads):
                keys, records = reader().read_up_to(files, read_batch_size) if 1 < read_batch_size else reader().read(files)
                parsed = parse_fn(records) if parse_fn else records
                if parse_fn and isinstance(parsed, dict):
                    parsed[_KEY] = keys
                    examples.append(parsed)
                else:
                    examples.append((keys, parsed))
        more: Dict[str, Any] = {"capacity": queue_capacity, "enqueue_many": 1 < read_batch_size, "name": scope, "allow_smaller_final_batch": num_epochs is not None}
        if randomize_input:
            low = int(queue_capacity * 0.4) if isinstance(batch_size, Tensor) else max(queue_capacity - 3 * batch_size, batch_size)
            made: Any = inputs.shuffle_batch_join(examples, batch_size, min_after_dequeue=low, seed=seed, **more)
        else:
            made = inputs.batch_join(examples, batch_size, **more)
        if parse_fn and isinstance(made, dict):
            keys = made.pop(_KEY)
            return keys, made
        return made


def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Any = None,
    name: Optional[str] = None,
    seed: Optional[int] = None,
) -> Tuple[Any, Any]:
    """Returns batches of the keys and the records of files.

    Args:
      file_pattern: A pattern of files' names, or a list of patterns.
      batch_size: The number of records of a batch.
      reader: A function that returns a reader, such as `tf.TFRecordReader`.
      randomize_input: Whether files and records are shuffled.
      num_epochs: How often the files are read, or None for no end.
      queue_capacity: The capacity of the queue of records.
      num_threads: The number of threads that read.
      read_batch_size: The number of records that a thread reads at once.
      parse_fn: A function from a record, or a vector of them, to a tensor or a dict of tensors; or None.
      name: A name for the operations.
      seed: A seed of the shuffling.

    Raises:
      ValueError: No file matches, or a number is invalid.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkdtemp() + "/lines"
      >>> with open(path, "w") as f:
      ...     _ = f.write("a" + chr(10) + "b" + chr(10))
      >>> keys, lines = tf.contrib.learn.read_keyed_batch_examples(path, 2, tf.TextLineReader, randomize_input=False)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(lines))
      [b'a' b'b']
    """
    return _read(  # type: ignore[no-any-return]
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size, parse_fn, False, name, seed
    )


def read_keyed_batch_examples_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Any = None,
    name: Optional[str] = None,
    seed: Optional[int] = None,
) -> Tuple[Any, Any]:
    """Returns batches as `read_keyed_batch_examples`, whose place in the list of files is in variables.

    Arguments are those of `read_keyed_batch_examples`.

    Example:
      >>> tf.contrib.learn.read_keyed_batch_examples_shared_queue("/nowhere*", 2, tf.TextLineReader)
      Traceback (most recent call last):
        ...
      ValueError: No files match /nowhere*.
    """
    return _read(  # type: ignore[no-any-return]
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size, parse_fn, True, name, seed
    )


def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Any = None,
    name: Optional[str] = None,
    seed: Optional[int] = None,
) -> Any:
    """Returns batches of the records of files.

    Arguments are those of `read_keyed_batch_examples`, which also returns the keys.

    Example:
      >>> tf.contrib.learn.read_batch_examples("/nowhere*", 2, tf.TextLineReader)
      Traceback (most recent call last):
        ...
      ValueError: No files match /nowhere*.
    """
    return read_keyed_batch_examples(
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads, read_batch_size, parse_fn, name, seed
    )[1]


def queue_parsed_features(
    parsed_features: Dict[str, Any], keys: Any = None, feature_queue_capacity: int = 100, num_enqueue_threads: int = 2, name: Optional[str] = None
) -> Tuple[Any, Dict[str, Any]]:
    """Returns keys and features that have passed a queue, so that threads parse ahead of the training.

    Args:
      parsed_features: A dict of tensors and sparse tensors.
      keys: Their keys, or None.
      feature_queue_capacity: The capacity of the queue.
      num_enqueue_threads: The number of threads that parse.
      name: A name for the operations.
    """
    with name_scope(name, "queue_parsed_features", [*parsed_features.values(), *([] if keys is None else [keys])]):
        flat: List[Any] = []
        for key in sorted(parsed_features):
            value = parsed_features[key]
            flat += [value.indices, value.values, value.dense_shape] if isinstance(value, SparseTensor) else [value]
        flat += [] if keys is None else [keys]
        queue = FIFOQueue(feature_queue_capacity, [t.dtype for t in flat])
        full = math_ops.cast(queue.size(), dtypes.float32) * (1.0 / feature_queue_capacity)
        summaries.scalar("queue/parsed_features/%s/fraction_of_%d_full" % (queue.name, feature_queue_capacity), full)
        puts = [queue.enqueue(flat) for _ in range(num_enqueue_threads)]
        add_queue_runner(QueueRunner(queue, puts, queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError)))
        taken = queue.dequeue()
        left = list(taken) if isinstance(taken, list) else [taken]
        for t, before in zip(left, flat):
            t.set_shape(before.get_shape())
        found: Dict[str, Any] = {}
        for key in sorted(parsed_features):
            sparse = isinstance(parsed_features[key], SparseTensor)
            found[key] = SparseTensor(left.pop(0), left.pop(0), left.pop(0)) if sparse else left.pop(0)
        return (None if keys is None else left[-1]), found


def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Any = None,
    name: Optional[str] = None,
    read_batch_size: Any = None,
) -> Tuple[Any, Dict[str, Any]]:
    """Returns batches of the keys and the features of `Example` messages in files.

    Args:
      file_pattern: A pattern of files' names, or a list of patterns.
      batch_size: The number of examples of a batch.
      features: A dict of features, as `tf.parse_example` takes it.
      reader: A function that returns a reader, such as `tf.TFRecordReader`.
      randomize_input: Whether files and examples are shuffled.
      num_epochs: How often the files are read, or None for no end.
      queue_capacity: The capacity of the queue of examples.
      reader_num_threads: The number of threads that read.
      feature_queue_capacity: The capacity of the queue of batches of features.
      num_enqueue_threads: The number of threads that parse.
      parse_fn: A function from a record to a serialized `Example`, or None.
      name: A name for the operations.
      read_batch_size: The number of records that a thread reads at once; by default `batch_size`.

    Example:
      >>> import tempfile
      >>> path = tempfile.mkdtemp() + "/records"
      >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     writer.write(tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString())
      >>> shapes = {"x": tf.FixedLenFeature([], tf.int64)}
      >>> keys, batch = tf.contrib.learn.read_keyed_batch_features(path, 1, shapes, tf.TFRecordReader)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(batch["x"]))
      [7]
    """
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        at_once = batch_size if read_batch_size is None else read_batch_size
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads, at_once, parse_fn, scope
        )
        return queue_parsed_features(parsing_ops.parse_example(examples, features), keys, feature_queue_capacity, num_enqueue_threads, scope)


def read_keyed_batch_features_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    features: Dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: Any = None,
    name: Optional[str] = None,
) -> Tuple[Any, Dict[str, Any]]:
    """Returns batches as `read_keyed_batch_features`, whose place in the list of files is in variables.

    Arguments are those of `read_keyed_batch_features`; `num_queue_runners` is the number of threads that
    parse.

    Example:
      >>> tf.contrib.learn.read_keyed_batch_features_shared_queue("/nowhere*", 2, {}, tf.TFRecordReader)
      Traceback (most recent call last):
        ...
      ValueError: No files match /nowhere*.
    """
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads, batch_size, parse_fn, scope
        )
        return queue_parsed_features(parsing_ops.parse_example(examples, features), keys, feature_queue_capacity, num_queue_runners, scope)


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Any = None,
    name: Optional[str] = None,
    read_batch_size: Any = None,
) -> Dict[str, Any]:
    """Returns batches of the features of `Example` messages in files.

    Arguments are those of `read_keyed_batch_features`, which also returns the keys.

    Example:
      >>> tf.contrib.learn.read_batch_features("/nowhere*", 2, {}, tf.TFRecordReader)
      Traceback (most recent call last):
        ...
      ValueError: No files match /nowhere*.
    """
    return read_keyed_batch_features(
        file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity, reader_num_threads, feature_queue_capacity,
        num_enqueue_threads, parse_fn, name, read_batch_size,
    )[1]  # fmt: skip


def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: Dict[str, Any],
    randomize_input: bool = True,
    num_epochs: Optional[int] = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: Optional[str] = "dequeue_record_examples",
) -> Dict[str, Any]:
    """Returns batches of the features of `Example` messages in TFRecord files.

    Arguments are those of `read_keyed_batch_features`.

    Example:
      >>> tf.contrib.learn.read_batch_record_features("/nowhere*", 2, {})
      Traceback (most recent call last):
        ...
      ValueError: No files match /nowhere*.
    """
    return read_batch_features(
        file_pattern, batch_size, features, readers.TFRecordReader, randomize_input, num_epochs, queue_capacity, reader_num_threads=reader_num_threads, name=name
    )
