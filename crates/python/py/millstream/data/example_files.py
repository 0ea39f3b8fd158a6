"""Files of `Example` messages as datasets of parsed features."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from millstream.data import structure
from millstream.data.arguments import AUTOTUNE
from millstream.data.datasets import Dataset, TFRecordDataset
from millstream.data.interleaving import parallel_interleave
from millstream.data.options import Options
from millstream.data.shuffling import shuffled
from millstream.framework import dtypes, shapes
from millstream.io.parsing_ops import parse_example
from millstream.io.readers import ReaderBase


def parse_example_dataset(features: Optional[Dict[str, Any]], num_parallel_calls: Any = 1) -> Callable[[Any], Any]:
    """Returns a transformation of batches of serialized `Example`s to mappings of tensors.

    Args:
      features: A dict from names to `tf.FixedLenFeature`, `tf.VarLenFeature` and their relatives.
      num_parallel_calls: Ignored but checked: the result is the same for any number.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      TypeError: When applied: the elements are no vectors of strings.
      ValueError: `features` is None.

    Example:
      >>> example = tf.train.Example()
      >>> example.features.feature["n"].int64_list.value.append(7)
      >>> batches = tf.data.Dataset.from_tensors([example.SerializeToString()])
      >>> parsed = batches.apply(tf.data.experimental.parse_example_dataset({"n": tf.FixedLenFeature([], tf.int64)}))
      >>> print(tf.Session().run(parsed.make_one_shot_iterator().get_next()))
      {'n': array([7])}
    """
    if features is None:
        raise ValueError("Missing: features was %s." % features)

    def apply(dataset: Any) -> Any:
        spec = dataset.element_spec
        if not isinstance(spec, shapes.TensorSpec) or not shapes.TensorSpec([None], dtypes.string).is_compatible_with(spec):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        return dataset.map(lambda serialized: parse_example(serialized, features), num_parallel_calls)

    return apply


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Dict[str, Any],
    reader: Any = TFRecordDataset,
    label_key: Optional[str] = None,
    reader_args: Optional[List[Any]] = None,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Optional[int] = None,
    reader_num_threads: Optional[int] = None,
    parser_num_threads: Optional[int] = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Returns a dataset of batches of the parsed `Example`s of files, as mappings of tensors.

    Args:
      file_pattern: A pattern of names of files, or a list of patterns.
      batch_size: The number of examples in a batch.
      features: As in `tf.parse_example`.
      reader: A function of the name of a file that returns a dataset of serialized examples.
      label_key: The feature that is taken out of the mapping: elements are then pairs.
      reader_args: More arguments of `reader`.
      num_epochs: How often the examples come; None is for ever.
      shuffle: Whether files and examples come in random order.
      shuffle_buffer_size: The number of examples that the next one is drawn from.
      shuffle_seed: The seed of the order.
      prefetch_buffer_size: The number of batches that may be made ahead.
      reader_num_threads: The number of files that are read in turns; None is 1.
      parser_num_threads: Ignored but checked.
      sloppy_ordering: Ignored: the order is the same.
      drop_final_batch: Whether a last batch that is smaller is left out.

    Returns:
      A `Dataset`.

    Raises:
      TypeError: `reader` is a `tf.ReaderBase`.
      ValueError: `label_key` is no feature.

    Example:
      >>> import os, tempfile
      >>> name, example = os.path.join(tempfile.mkdtemp(), "numbers.tfrecord"), tf.train.Example()
      >>> example.features.feature["n"].int64_list.value.append(7)
      >>> with tf.python_io.TFRecordWriter(name) as writer:
      ...     writer.write(example.SerializeToString())
      >>> numbers = {"n": tf.FixedLenFeature([], tf.int64)}
      >>> batches = tf.data.experimental.make_batched_features_dataset(name, 2, numbers)
      >>> it = batches.make_initializable_iterator()
      >>> x = it.get_next()
      >>> with tf.Session() as sess:
      ...     sess.run(it.initializer)
      ...     print(sess.run(x))
      {'n': array([7, 7])}
    """
    threads = 1 if reader_num_threads is None else reader_num_threads
    dataset = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not supported. For "
            "example, pass `tf.data.TFRecordDataset` instead of `tf.TFRecordReader`."
        )
    arguments = reader_args or []
    if threads == AUTOTUNE:
        dataset = dataset.interleave(lambda name: reader(name, *arguments), num_parallel_calls=threads)
        options = Options()
        options.experimental_deterministic = not sloppy_ordering
        dataset = dataset.with_options(options)
    else:
        dataset = dataset.apply(parallel_interleave(lambda name: reader(name, *arguments), threads, sloppy=sloppy_ordering))
    if structure.types_of(dataset.element_spec) == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, value: value)
    dataset = shuffled(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads))
    if label_key:
        if label_key not in features:
            raise ValueError("The `label_key` provided (%r) must be one of the `features` keys." % label_key)
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: int,
    parser_fn: Optional[Callable[..., Any]] = None,
    num_epochs: Optional[int] = None,
    shuffle: bool = True,
    shuffle_buffer_size: Optional[int] = None,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Optional[int] = None,
    num_parallel_reads: Optional[int] = None,
    num_parallel_parser_calls: Optional[int] = None,
    drop_final_batch: bool = False,
) -> Dataset:
    """Returns a dataset of batches of the records of TFRecord files, each parsed by `parser_fn`.

    The other arguments are those of `make_batched_features_dataset`.
    """
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset: Any = TFRecordDataset(files, num_parallel_reads=24 if num_parallel_reads is None else num_parallel_reads)
    dataset = shuffled(dataset, num_epochs, shuffle, 10000 if shuffle_buffer_size is None else shuffle_buffer_size, shuffle_seed)
    if parser_fn is not None:
        dataset = dataset.map(parser_fn, batch_size if num_parallel_parser_calls is None else num_parallel_parser_calls)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    if prefetch_buffer_size == 0:
        return dataset  # type: ignore[no-any-return]
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)  # type: ignore[no-any-return]
