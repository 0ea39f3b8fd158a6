"""`Dataset`: a sequence of elements, as nodes of the graph, and the datasets that read files."""

from __future__ import annotations

import collections.abc
import multiprocessing
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from millstream.data import generators, padding, states, structure
from millstream.data.arguments import AUTOTUNE, batched, int64, must_be_dataset, seeds
from millstream.data.functions import Function, root_of
from millstream.data.interleaving import parallel_interleave
from millstream.data.iterators import Iterator, get_output_classes
from millstream.data.options import Options, merge_options
from millstream.framework import SparseTensor, control_dependencies, convert_to_tensor, dtypes, get_default_graph, name_scope, node_counts, shapes
from millstream.framework.constant_values import constant_value
from millstream.framework.op_functions import op
from millstream.framework.type_specs import SparseTensorSpec
from millstream.ops.array_ops import identity, reshape, shape, size
from millstream.ops.check_ops import assert_greater

class Dataset:
    """A sequence of elements, which are structures of tensors: tuples and mappings, nested in each other.

    A dataset is a node of the graph. Nothing is computed before an iterator asks for an element: see
    `make_one_shot_iterator` and `make_initializable_iterator`. Methods return new datasets.

    Raises:
      NotImplementedError: The class is called itself, or a class derived from it.

    Example:
      >>> dataset = tf.data.Dataset.from_tensor_slices([3, 1, 2]).map(lambda x: x * x).batch(2)
      >>> x = dataset.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess:
      ...     print(sess.run(x), sess.run(x))
      [9 1] [4]
      >>> def shown(dataset):
      ...     return tf.Session().run(tf.data.experimental.get_single_element(dataset.batch(99))).tolist()
      >>> numbers = tf.data.Dataset.range(5)
      >>> shown(numbers.take(3)), shown(numbers.skip(3)), shown(numbers.shard(2, 1)), shown(numbers.repeat(2).take(7))
      ([0, 1, 2], [3, 4], [1, 3], [0, 1, 2, 3, 4, 0, 1])
      >>> shown(numbers.cache().prefetch(1).apply(lambda d: d.filter_with_legacy_function(lambda n: n > 2)))
      [3, 4]
      >>> shown(numbers.batch(2, drop_remainder=True).unbatch().map_with_legacy_function(lambda n: -n))
      [0, -1, -2, -3]
      >>> numbers.element_spec, numbers.output_types, numbers.output_shapes, numbers.output_classes is tf.Tensor
      (TensorSpec(shape=(), dtype=tf.int64, name=None), tf.int64, TensorShape([]), True)
      >>> numbers.options() == tf.data.Options()
      True
      >>> tf.data.Dataset.list_files("*.none"), tf.data.Dataset.from_sparse_tensor_slices
      (<DatasetV1Adapter shapes: (), types: tf.string>, <function Dataset.from_sparse_tensor_slices at ...>)
    """

    def __init__(self, variant_tensor: Any = None, element_spec: Any = None, inputs: Any = ()) -> None:
        if variant_tensor is None:
            raise NotImplementedError("Dataset is made by its methods, such as `Dataset.from_tensor_slices`; classes derived from it are not supported")
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._own_options: Any = None
        self._inputs_list = list(inputs)

    def _inputs(self) -> List[Any]:
        return list(self._inputs_list)

    def __repr__(self) -> str:
        shown = str(structure.transform(str, structure.shapes_of(self._element_spec))).replace("'", "")
        types = str(structure.transform(repr, structure.types_of(self._element_spec))).replace("'", "")
        return "<%s shapes: %s, types: %s>" % (type(self).__name__, shown, types)

    def __iter__(self) -> Any:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled.\n"
            "  help: these are TensorFlow's words; there is neither here: run `dataset.make_one_shot_iterator().get_next()` for each element"
        )

    def _flat(self) -> Dict[str, Any]:
        return {"output_types": structure.flat_types(self._element_spec), "output_shapes": structure.flat_shapes(self._element_spec)}

    def _same(self, name: str, *inputs: Any, **attrs: Any) -> Dataset:
        """Returns a dataset with elements of the same types."""
        return self._to(name, self._element_spec, *inputs, **attrs)

    def _to(self, name: str, element_spec: Any, *inputs: Any, **attrs: Any) -> Dataset:
        types = {"output_types": structure.flat_types(element_spec), "output_shapes": structure.flat_shapes(element_spec)}
        variant = op(name)(self._variant_tensor, *inputs, **types, **attrs)
        return DatasetV1Adapter(variant, element_spec, [self])

    def _made(self, element_spec: Any) -> Dataset:
        """Returns the same elements as another dataset."""
        return DatasetV1Adapter(self._variant_tensor, element_spec, [self])

    # Types.

    @property
    def element_spec(self) -> Any:
        """The types of elements, as a structure of `tf.TensorSpec`s."""
        return self._element_spec

    @property
    def output_types(self) -> Any:
        """The dtypes of elements, as a structure."""
        return structure.types_of(self._element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of elements, as a structure."""
        return structure.shapes_of(self._element_spec)

    @property
    def output_classes(self) -> Any:
        """The classes of elements, as a structure."""
        return get_output_classes(self)

    # Options.

    def options(self) -> Options:
        """Returns the options of this dataset and those that it reads."""
        merged = Options()
        for dataset in self._inputs_list:
            merged = merge_options(merged, dataset.options())
        return merge_options(merged, self._own_options) if self._own_options is not None else merged

    def with_options(self, options: Options) -> Dataset:
        """Returns a dataset of the same elements with these options.

        Args:
          options: A `tf.data.Options`.

        Returns:
          A `Dataset`.

        Raises:
          TypeError: `options` is something else.
          ValueError: An input has another value of an option.

        Example:
          >>> options = tf.data.Options()
          >>> options.experimental_deterministic = True
          >>> tf.data.Dataset.range(3).with_options(options).options().experimental_deterministic
          True
        """
        if not isinstance(options, Options):
            raise TypeError("Incompatible options type: %r vs %r" % (type(options), Options))
        made = DatasetV1Adapter(self._variant_tensor, self._element_spec, [self])
        made._own_options = options
        return made

    def _apply_options(self) -> Dataset:
        options = self.options()
        dataset: Dataset = self
        chosen = options._static_optimizations()
        if chosen:
            dataset = dataset._same("OptimizeDataset", convert_to_tensor(chosen, dtype=dtypes.string, name="optimizations"))
        if options._autotunes():
            dataset = dataset._same("ModelDataset")
        return dataset

    # Iterators.

    def make_one_shot_iterator(self) -> Iterator:
        """Returns an iterator that needs no initializer, and passes once over the dataset.

        Returns:
          An `Iterator`.

        Raises:
          ValueError: The dataset depends on a placeholder, a variable or a table.

        Example:
          >>> x = tf.data.Dataset.range(2).make_one_shot_iterator().get_next()
          >>> with tf.Session() as sess:
          ...     print(sess.run(x), sess.run(x))
          0 1
        """
        return self._make_one_shot_iterator()

    def _make_one_shot_iterator(self) -> Iterator:
        _check_graph(self)
        try:
            factory = Function(self._apply_options, "make_dataset", (), copies=True)
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does not "
                "support datasets that capture stateful objects, such as a `Variable` or `LookupTable`. In these "
                "cases, use `Dataset.make_initializable_iterator()`. (Original error: %s)" % error
            ) from error
        return Iterator._of(op("OneShotIterator")(factory.name, **self._flat()), None, self._element_spec)

    def make_initializable_iterator(self, shared_name: Optional[str] = None) -> Iterator:
        """Returns an iterator whose `initializer` must run before its first element.

        Args:
          shared_name: The name by which sessions share the iterator.

        Returns:
          An `Iterator`.

        Example:
          >>> n = tf.placeholder(tf.int64, [])
          >>> it = tf.data.Dataset.range(n).make_initializable_iterator()
          >>> x = it.get_next()
          >>> with tf.Session() as sess:
          ...     sess.run(it.initializer, {n: 2})
          ...     print(sess.run(x), sess.run(x))
          0 1
        """
        return self._make_initializable_iterator(shared_name)

    def _make_initializable_iterator(self, shared_name: Optional[str] = None) -> Iterator:
        _check_graph(self)
        dataset = self._apply_options()
        resource = op("IteratorV2")(shared_name or "", "", **self._flat())
        with get_default_graph().colocate_with(resource.op):
            initializer = op("MakeIterator")(dataset._variant_tensor, resource)
        return Iterator._of(resource, initializer, self._element_spec)

    # Sources.

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """Returns a dataset of one element.

        Args:
          tensors: A structure of values.

        Returns:
          A `Dataset`.

        Example:
          >>> tf.data.Dataset.from_tensors({"a": [1, 2]}).output_shapes
          {'a': TensorShape([Dimension(2)])}
        """
        element = _with_components(structure.normalize(tensors), "TensorDataset")
        element_spec = structure.transform(structure.spec_of, element)
        leaves = [structure.tensor_of(leaf) for leaf in structure.flatten(element)]
        return DatasetV1Adapter(op("TensorDataset")(leaves, structure.flat_shapes(element_spec)), element_spec)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """Returns a dataset of the slices of tensors along their first axis.

        Args:
          tensors: A structure of values whose first axes have equal lengths.

        Returns:
          A `Dataset`.

        Raises:
          ValueError: The lengths differ, or a value is a scalar.

        Example:
          >>> x = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).make_one_shot_iterator().get_next()
          >>> with tf.Session() as sess:
          ...     print(sess.run(x), sess.run(x))
          [1 2] [3 4]
        """
        element = _with_components(structure.normalize(tensors), "TensorSliceDataset")
        leaves = structure.flatten(element)
        length = shapes.Dimension(None)
        for leaf in leaves:
            if leaf.shape.ndims == 0:
                what = "sparse tensor" if isinstance(leaf, SparseTensor) else "tensor"
                raise ValueError("Unbatching a %s is only supported for rank >= 1" % what)
            if leaf.shape.ndims is not None:
                length = length.merge_with(leaf.shape.dims[0])
        element_spec = structure.transform(_row, structure.transform(structure.spec_of, element))
        rows = [structure.rows_of(leaf) for leaf in leaves]
        return DatasetV1Adapter(op("TensorSliceDataset")(rows, structure.flat_shapes(element_spec)), element_spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """Returns a dataset of the slices of a sparse tensor along its first axis, as triples of tensors.

        Args:
          sparse_tensor: A `tf.SparseTensor`.

        Returns:
          A `Dataset` of the indices, the values and the shape of each slice.

        Raises:
          TypeError: `sparse_tensor` is something else.

        Example:
          >>> sparse = tf.SparseTensor([[0, 2], [1, 0]], [5, 6], [2, 3])
          >>> x = tf.data.Dataset.from_sparse_tensor_slices(sparse).make_one_shot_iterator().get_next()
          >>> print(*tf.Session().run(x))
          [[2]] [5] [3]
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError("`sparse_tensor` must be a `tf.SparseTensor` object. Was {}.".format(sparse_tensor))
        rank = sparse_tensor.dense_shape.shape.dims
        made = Dataset.from_tensor_slices(sparse_tensor).map(lambda s: (s.indices, s.values, s.dense_shape))
        inner = None if rank is None or rank[0].value is None else rank[0].value - 1
        specs = shapes.TensorSpec([None, inner], dtypes.int64), shapes.TensorSpec([None], sparse_tensor.dtype), shapes.TensorSpec([inner], dtypes.int64)
        return DatasetV1Adapter(made._variant_tensor, specs, [made])

    @staticmethod
    def from_generator(generator: Callable[..., Any], output_types: Any, output_shapes: Any = None, args: Any = None) -> Dataset:
        """Returns a dataset of what a Python generator yields. Each pass calls `generator` again.

        Args:
          generator: A function that returns an iterable of elements.
          output_types: The dtypes of elements, as a structure.
          output_shapes: Their shapes, as a structure; None if unknown.
          args: Tensors whose values `generator` is called with.

        Returns:
          A `Dataset`.

        Raises:
          TypeError: `generator` is not callable.

        Example:
          >>> def count(n):
          ...     yield from range(n)
          >>> x = tf.data.Dataset.from_generator(count, tf.int64, [], args=(2,)).make_one_shot_iterator().get_next()
          >>> with tf.Session() as sess:
          ...     print(sess.run(x), sess.run(x))
          0 1
        """
        return generators.from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:  # noqa: A003
        """Returns a dataset of evenly spaced int64 numbers: `range(stop)`, `range(start, stop[, step])`.

        Args:
          *args: As those of Python's `range`, or scalar tensors.

        Returns:
          A `Dataset`.

        Raises:
          ValueError: There are no arguments, or more than three.

        Example:
          >>> x = tf.data.Dataset.range(1, 9, 4).batch(9).make_one_shot_iterator().get_next()
          >>> print(tf.Session().run(x))
          [1 5]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid arguments to RangeDataset: %s" % str(args))
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
        element_spec = shapes.TensorSpec([], dtypes.int64)
        inputs = int64(start, "start"), int64(stop, "stop"), int64(step, "step")
        return DatasetV1Adapter(op("RangeDataset")(*inputs, output_types=[dtypes.int64], output_shapes=[[]]), element_spec)

    @staticmethod
    def zip(datasets: Any) -> Dataset:  # noqa: A003
        """Returns a dataset whose elements are structures of elements, one of each dataset.

        Args:
          datasets: A structure of datasets: a tuple or a mapping.

        Returns:
          A `Dataset`, which ends with the shortest of them.

        Raises:
          TypeError: `datasets` is a list, or holds something else.

        Example:
          >>> D = tf.data.Dataset
          >>> x = D.zip((D.range(2), D.range(5, 9))).make_one_shot_iterator().get_next()
          >>> print(*tf.Session().run(x))
          0 5
        """
        flat = structure.flatten(datasets)
        for dataset in flat:
            if not isinstance(dataset, Dataset):
                if isinstance(dataset, list):
                    raise TypeError("The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Nested structures do not support Python lists; please use a tuple instead.")
                raise TypeError("The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects.")
        element_spec = structure.transform(lambda d: d.element_spec, datasets) if not structure.is_nested(datasets) else _zipped(datasets)
        types = {"output_types": structure.flat_types(element_spec), "output_shapes": structure.flat_shapes(element_spec)}
        return DatasetV1Adapter(op("ZipDataset")([d._variant_tensor for d in flat], **types), element_spec, flat)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Optional[bool] = None, seed: Any = None) -> Dataset:
        """Returns a dataset of the names of files that match a pattern, shuffled unless `shuffle` is false.

        Args:
          file_pattern: A pattern, or a list of them.
          shuffle: Whether the names come in random order; None is true.
          seed: The seed of the order.

        Returns:
          A `Dataset` of strings.

        Raises:
          tf.errors.InvalidArgumentError: When run: no file matches.
        """
        with name_scope("list_files"):
            pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
            files = op("MatchingFiles")(pattern)
            node_counts.also(-6)  # TensorFlow joins the patterns in the graph, for its message.
            check = assert_greater(shape(files)[0], 0, message="No files matched pattern: %s" % (file_pattern,))
            with control_dependencies([check]):
                files = identity(files)
            dataset = Dataset.from_tensor_slices(files)
            if shuffle is None or shuffle:
                dataset = dataset.shuffle(op("Maximum")(size(files, out_type=dtypes.int64), 1), seed=seed)
            return dataset

    # Transformations.

    def concatenate(self, dataset: Dataset) -> Dataset:
        """Returns a dataset of the elements of this one, then those of another.

        Args:
          dataset: A `Dataset` with elements of the same types.

        Returns:
          A `Dataset`.

        Raises:
          TypeError: The types differ.

        Example:
          >>> D = tf.data.Dataset
          >>> print(tf.Session().run(D.range(2).concatenate(D.range(7, 9)).batch(9).make_one_shot_iterator().get_next()))
          [0 1 7 8]
        """
        if not isinstance(dataset, Dataset):
            raise TypeError("`dataset_or_iterator` must be a Dataset or Iterator object, but got %s." % type(dataset))
        own, others = structure.types_of(self._element_spec), structure.types_of(dataset.element_spec)
        if own != others:
            raise TypeError("Two datasets to concatenate have different types %s and %s" % (own, others))
        element_spec = structure.most_general(self._element_spec, dataset.element_spec)
        types = {"output_types": structure.flat_types(element_spec), "output_shapes": structure.flat_shapes(element_spec)}
        variant = op("ConcatenateDataset")(self._variant_tensor, dataset._variant_tensor, **types)
        return DatasetV1Adapter(variant, element_spec, [self, dataset])

    def prefetch(self, buffer_size: Any) -> Dataset:
        """Returns a dataset of the same elements, of which up to `buffer_size` may be made ahead.

        Args:
          buffer_size: The number of elements, or `tf.data.experimental.AUTOTUNE`.

        Returns:
          A `Dataset`.
        """
        return self._same("PrefetchDataset", int64(AUTOTUNE if buffer_size is None else buffer_size, "buffer_size"))

    def repeat(self, count: Any = None) -> Dataset:
        """Returns a dataset that repeats this one.

        Args:
          count: How often; None or -1 for ever.

        Returns:
          A `Dataset`.
        """
        return self._same("RepeatDataset", int64(-1 if count is None else count, "count"))

    def enumerate(self, start: Any = 0) -> Dataset:  # noqa: A003
        """Returns a dataset of pairs of a number and an element.

        Args:
          start: The number of the first element.

        Returns:
          A `Dataset`.

        Example:
          >>> x = tf.data.Dataset.from_tensors(b"a").enumerate(5).make_one_shot_iterator().get_next()
          >>> print(*tf.Session().run(x))
          5 b'a'
        """
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Optional[bool] = None) -> Dataset:
        """Returns a dataset of the same elements in random order.

        Args:
          buffer_size: The number of elements of a buffer that the next element is drawn from.
          seed: The seed of the order, together with that of the graph. Equal seeds give TensorFlow's order.
          reshuffle_each_iteration: Whether each pass has another order; None is true.

        Returns:
          A `Dataset`.

        Example:
          >>> x = tf.data.Dataset.range(6).shuffle(6, seed=1).batch(6).make_one_shot_iterator().get_next()
          >>> print(tf.Session().run(x))
          [4 5 1 2 3 0]
        """
        size = int64(buffer_size, "buffer_size")
        first, second = seeds(seed)
        return self._same("ShuffleDataset", size, first, second, reshuffle_each_iteration=reshuffle_each_iteration is None or bool(reshuffle_each_iteration))

    def cache(self, filename: Any = "") -> Dataset:
        """Returns a dataset that keeps the elements of its first complete pass, for later passes.

        Args:
          filename: Empty to keep the elements in memory. Otherwise the prefix of a checkpoint for them,
            which later runs and programs read instead of this dataset. A pass that ends early keeps nothing.

        Returns:
          A `Dataset`. While a pass writes the file, others end with `AlreadyExistsError`.
        """
        return self._same("CacheDataset", convert_to_tensor(filename, dtype=dtypes.string, name="filename"))

    def take(self, count: Any) -> Dataset:
        """Returns a dataset of the first `count` elements; -1 takes all.

        Args:
          count: The number of elements.

        Returns:
          A `Dataset`.
        """
        return self._same("TakeDataset", int64(count, "count"))

    def skip(self, count: Any) -> Dataset:
        """Returns a dataset without the first `count` elements; -1 skips all.

        Args:
          count: The number of elements.

        Returns:
          A `Dataset`.
        """
        return self._same("SkipDataset", int64(count, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Returns a dataset of every `num_shards`-th element, from number `index` on.

        Args:
          num_shards: The number of shards.
          index: The number of the shard.

        Returns:
          A `Dataset`.
        """
        return self._same("ShardDataset", int64(num_shards, "num_shards"), int64(index, "index"))

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Returns a dataset of batches: consecutive elements, stacked along a new first axis.

        Args:
          batch_size: The number of elements.
          drop_remainder: Whether a last batch that is smaller is left out.

        Returns:
          A `Dataset`.
        """
        size = int64(batch_size, "batch_size")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        known = constant_value(size) if constant_value(drop) else None
        element_spec = structure.transform(lambda s: batched(s, known), self._element_spec)
        return self._to("BatchDatasetV2", element_spec, size, drop)

    def padded_batch(self, batch_size: Any, padded_shapes: Any, padding_values: Any = None, drop_remainder: Any = False) -> Dataset:
        """Returns a dataset of batches of elements that are padded to one shape.

        Args:
          batch_size: The number of elements.
          padded_shapes: The shapes of components in a batch, as a structure; None (or -1) in a shape is the
            largest size in the batch.
          padding_values: Scalars, as a structure; None is 0, or the empty string.
          drop_remainder: Whether a last batch that is smaller is left out.

        Returns:
          A `Dataset`.

        Example:
          >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
          >>> print(tf.Session().run(dataset.padded_batch(2, [None]).make_one_shot_iterator().get_next()))
          [[1 0]
           [2 2]]
        """
        return padding.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:  # noqa: A003
        """Returns a dataset of what a function returns for each element.

        Args:
          map_func: A function of the components of an element, which builds a part of the graph. Its tensors
            of the graph around are passed to it.
          num_parallel_calls: Ignored but checked: the result is the same for any number.

        Returns:
          A `Dataset`.

        Example:
          >>> x = tf.data.Dataset.range(3).map(lambda n: (n, n + 1)).make_one_shot_iterator().get_next()
          >>> print(*tf.Session().run(x))
          0 1
        """
        f = Function(map_func, "Dataset_map", self._element_spec)
        if num_parallel_calls is None:
            return self._to("MapDataset", f.output_spec, f.captured, f=f.name, preserve_cardinality=True)
        calls = convert_to_tensor(num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls")
        return self._to("ParallelMapDataset", f.output_spec, f.captured, calls, f=f.name, preserve_cardinality=True)

    def map_with_legacy_function(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """Returns `map(map_func, num_parallel_calls)`, under TensorFlow's earlier name."""
        return self.map(map_func, num_parallel_calls)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """Returns a dataset of the elements of the datasets that a function returns, one after another.

        Args:
          map_func: A function of the components of an element that returns a `Dataset`.

        Returns:
          A `Dataset`.

        Raises:
          TypeError: `map_func` returns something else.

        Example:
          >>> D = tf.data.Dataset
          >>> x = D.range(3).flat_map(lambda n: D.range(n)).batch(9).make_one_shot_iterator().get_next()
          >>> print(tf.Session().run(x))
          [0 0 1]
        """
        f = Function(map_func, "Dataset_flat_map", self._element_spec, returns=must_be_dataset)
        return self._to("FlatMapDataset", f.output.element_spec, f.captured, f=f.name)

    def interleave(self, map_func: Callable[..., Any], cycle_length: Any = AUTOTUNE, block_length: Any = 1, num_parallel_calls: Any = None) -> Dataset:
        """Returns a dataset of the elements of the datasets that a function returns, taken in turns.

        Args:
          map_func: A function of the components of an element that returns a `Dataset`.
          cycle_length: The number of datasets that take turns; -1 is the number of processors.
          block_length: The number of elements in a turn.
          num_parallel_calls: Ignored but checked: the result is the same for any number.

        Returns:
          A `Dataset`.

        Raises:
          TypeError: `map_func` returns something else.

        Example:
          >>> D = tf.data.Dataset
          >>> x = D.range(3).interleave(lambda n: D.from_tensors(n).repeat(2), 2).batch(9).make_one_shot_iterator().get_next()
          >>> print(tf.Session().run(x))
          [0 1 0 1 2 2]
        """
        f = Function(map_func, "Dataset_interleave", self._element_spec, returns=must_be_dataset)
        if isinstance(cycle_length, int) and cycle_length == AUTOTUNE:
            cycle_length = multiprocessing.cpu_count()
        cycle = [int64(cycle_length, "cycle_length"), int64(block_length, "block_length")]
        if num_parallel_calls is None:
            return self._to("InterleaveDataset", f.output.element_spec, f.captured, *cycle, f=f.name)
        calls = int64(num_parallel_calls, "num_parallel_calls")
        return self._to("ParallelInterleaveDatasetV2", f.output.element_spec, f.captured, *cycle, calls, f=f.name)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:  # noqa: A003
        """Returns a dataset of the elements for which a function returns true.

        Args:
          predicate: A function of the components of an element that returns a scalar bool.

        Returns:
          A `Dataset`.

        Raises:
          ValueError: `predicate` returns something else.

        Example:
          >>> x = tf.data.Dataset.range(5).filter(lambda n: n > 2).batch(9).make_one_shot_iterator().get_next()
          >>> print(tf.Session().run(x))
          [3 4]
        """
        f = Function(predicate, "Dataset_filter", self._element_spec)
        leaves = structure.flatten(f.output_spec)
        if structure.is_nested(f.output_spec) or leaves[0].dtype != dtypes.bool or not leaves[0].shape.is_compatible_with([]):
            raise ValueError("`predicate` return type must be convertible to a scalar boolean tensor. Was %s." % (f.output_spec,))
        return self._same("FilterDataset", f.captured, predicate=f.name)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """Returns `filter(predicate)`, under TensorFlow's earlier name."""
        return self.filter(predicate)

    def apply(self, transformation_func: Callable[[Any], Any]) -> Dataset:
        """Returns what a function returns for this dataset.

        Args:
          transformation_func: A function of a `Dataset` that returns a `Dataset`.

        Returns:
          A `Dataset`.

        Raises:
          TypeError: The function returns something else.
        """
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError("`transformation_func` must return a Dataset. Got {}.".format(made))
        if self not in made._inputs_list and made is not self:
            made._inputs_list.append(self)
        return made

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Dataset:
        """Returns a dataset of windows: structures of datasets of consecutive elements.

        Args:
          size: The number of elements of a window.
          shift: The number of elements from one window to the next; None is `size`.
          stride: The number of elements from one element of a window to the next.
          drop_remainder: Whether windows that are smaller are left out.

        Returns:
          A `Dataset` whose components are datasets.

        Example:
          >>> windows = tf.data.Dataset.range(5).window(3, 1, drop_remainder=True)
          >>> x = windows.flat_map(lambda w: w.batch(3)).make_one_shot_iterator().get_next()
          >>> with tf.Session() as sess:
          ...     print(sess.run(x), sess.run(x))
          [0 1 2] [1 2 3]
        """
        sizes = int64(size, "size"), int64(size if shift is None else shift, "shift"), int64(stride, "stride")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        element_spec = structure.transform(structure.DatasetSpec, self._element_spec)
        return self._to("WindowDataset", element_spec, *sizes, drop)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """Returns the state after all elements, as a structure of tensors.

        Args:
          initial_state: The state before the first element.
          reduce_func: A function of a state and an element that returns the next state.

        Returns:
          A structure of tensors.

        Raises:
          TypeError: The state that `reduce_func` returns has other types.

        Example:
          >>> print(tf.Session().run(tf.data.Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)))
          10
        """
        return states.reduce(self, initial_state, reduce_func)

    def unbatch(self) -> Dataset:
        """Returns a dataset of the slices of elements along their first axis."""
        element_spec = structure.transform(_row, self._element_spec)
        if any(isinstance(s, SparseTensorSpec) for s in structure.flatten(self._element_spec)):
            # The op takes slices of tensors: sparse ones are serialized row by row before.
            flat = self.map(lambda *element: tuple(structure.rows_of(leaf) for leaf in structure.flatten(element)))
            return flat._to("UnbatchDataset", element_spec)
        return self._to("UnbatchDataset", element_spec)


def _row(spec: Any) -> Any:
    """Returns the type of the slices of a component along its first axis."""
    return type(spec)(spec.shape[1:] if spec.shape.ndims is not None else None, spec.dtype)


def _with_components(element: Any, kind: str) -> Any:
    """Returns an element; raises unless it has a component."""
    if not structure.flatten(element):
        raise ValueError("Attr 'Toutput_types' of '%s' Op passed list of length 0 less than minimum 1." % kind)
    return element


def _zipped(datasets: Any) -> Any:
    """Returns the structure of the elements of a structure of datasets."""
    if isinstance(datasets, collections.abc.Mapping):
        return type(datasets)((k, _zipped(datasets[k])) for k in datasets)  # type: ignore[call-arg]
    if hasattr(datasets, "_fields"):
        return type(datasets)(*[_zipped(d) for d in datasets])
    return tuple(_zipped(d) for d in datasets) if isinstance(datasets, tuple) else datasets.element_spec


class DatasetV1Adapter(Dataset):
    """A dataset that a method has made."""


structure.register_datasets(Dataset, DatasetV1Adapter)
made_of = structure.made_of


def _check_graph(dataset: Dataset) -> None:
    graph = dataset._variant_tensor.graph
    if graph is not get_default_graph() and root_of(get_default_graph()) is not root_of(graph):
        raise ValueError(
            "The dataset was created in a different graph than the graph in which the iterator is created. Call "
            "`make_one_shot_iterator` or `make_initializable_iterator` in the graph of the dataset."
        )


class _OfFiles(Dataset):
    """A dataset of the records of files."""

    # Arguments of the op that reads are nodes of the function in TensorFlow, and of the graph here.
    _NODES_APART = -2

    def __init__(self, filenames: Any, make: Callable[[Any], Any], num_parallel_reads: Any = None) -> None:
        element_spec = shapes.TensorSpec([], dtypes.string)
        if num_parallel_reads is not None:
            files = filenames if isinstance(filenames, Dataset) else Dataset.from_tensor_slices(op("Reshape")(convert_to_tensor(filenames, dtype=dtypes.string), [-1]))
            if num_parallel_reads == AUTOTUNE:
                merged = files.interleave(lambda name: made_of(make(name), element_spec), num_parallel_calls=AUTOTUNE)
            else:
                merged = files.apply(parallel_interleave(lambda name: made_of(make(name), element_spec), num_parallel_reads))
            super().__init__(merged._variant_tensor, element_spec)
            return
        if isinstance(filenames, Dataset):
            if not isinstance(filenames.element_spec, shapes.TensorSpec) or filenames.element_spec.dtype != dtypes.string:
                raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
            merged = filenames.flat_map(lambda name: made_of(make(name), element_spec))
            super().__init__(merged._variant_tensor, element_spec, [filenames])
            return
        node_counts.also(self._NODES_APART)
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        if names.dtype != dtypes.string:
            raise TypeError("`filenames` must be a `tf.Tensor` of dtype `tf.string` dtype.")
        # As in TensorFlow, each name is a dataset of its own, which `flat_map` puts one after another.
        listed = Dataset.from_tensor_slices(reshape(names, [-1], name="flat_filenames"))
        merged = listed.flat_map(lambda name: made_of(make(name), element_spec))
        super().__init__(merged._variant_tensor, element_spec)


def _optional(value: Any, name: str, default: Any, dtype: Any = dtypes.int64) -> Any:
    return convert_to_tensor(default if value is None else value, dtype=dtype, name=name)


class TFRecordDataset(_OfFiles):
    """A dataset of the records of TFRecord files.

    Args:
      filenames: The names of files: strings, or a dataset of them.
      compression_type: None, "GZIP" or "ZLIB".
      buffer_size: The size of a buffer in bytes, which does not change the elements.
      num_parallel_reads: The number of files that are read in turns; None is one after another.

    Example:
      >>> import os, tempfile
      >>> name = os.path.join(tempfile.mkdtemp(), "words.tfrecord")
      >>> with tf.python_io.TFRecordWriter(name) as writer:
      ...     writer.write(b"word")
      >>> x = tf.data.TFRecordDataset(name).make_one_shot_iterator().get_next()
      >>> print(tf.Session().run(x))
      b'word'
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None) -> None:
        kind = _optional(compression_type, "compression_type", "", dtypes.string)
        size = _optional(buffer_size, "buffer_size", 256 * 1024)

        def make(name: Any) -> Any:
            return op("TFRecordDataset")(name, kind, size)

        super().__init__(filenames, make, num_parallel_reads)


class TextLineDataset(_OfFiles):
    """A dataset of the lines of text files.

    Args:
      filenames: The names of files: strings, or a dataset of them.
      compression_type: None, "GZIP" or "ZLIB".
      buffer_size: The size of a buffer in bytes, which does not change the elements.
      num_parallel_reads: The number of files that are read in turns; None is one after another.

    Example:
      >>> import os, tempfile
      >>> name = os.path.join(tempfile.mkdtemp(), "lines.txt")
      >>> with open(name, "w") as f:
      ...     _ = f.write("one\\ntwo\\n")
      >>> x = tf.data.TextLineDataset(name).batch(9).make_one_shot_iterator().get_next()
      >>> print(tf.Session().run(x))
      [b'one' b'two']
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None) -> None:
        kind = _optional(compression_type, "compression_type", "", dtypes.string)
        size = _optional(buffer_size, "buffer_size", 256 * 1024)
        super().__init__(filenames, lambda name: op("TextLineDataset")(name, kind, size), num_parallel_reads)


class FixedLengthRecordDataset(_OfFiles):
    """A dataset of records of a fixed length.

    Args:
      filenames: The names of files: strings, or a dataset of them.
      record_bytes: The number of bytes of a record.
      header_bytes: The number of bytes before the first record of a file.
      footer_bytes: The number of bytes after the last one.
      buffer_size: The size of a buffer in bytes, which does not change the elements.
      compression_type: None, "GZIP" or "ZLIB".
      num_parallel_reads: The number of files that are read in turns; None is one after another.

    Example:
      >>> import os, tempfile
      >>> name = os.path.join(tempfile.mkdtemp(), "pairs.bin")
      >>> with open(name, "wb") as f:
      ...     _ = f.write(b"abcd")
      >>> x = tf.data.FixedLengthRecordDataset(name, 2).batch(9).make_one_shot_iterator().get_next()
      >>> print(tf.Session().run(x))
      [b'ab' b'cd']
    """

    _NODES_APART = -5

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        record = int64(record_bytes, "record_bytes")
        header, footer = _optional(header_bytes, "header_bytes", 0), _optional(footer_bytes, "footer_bytes", 0)
        size = _optional(buffer_size, "buffer_size", 256 * 1024)
        kind = _optional(compression_type, "compression_type", "", dtypes.string)
        super().__init__(filenames, lambda name: op("FixedLengthRecordDatasetV2")(name, header, record, footer, size, kind), num_parallel_reads)


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """Returns `dataset.make_one_shot_iterator()`.

    Example:
      >>> print(tf.Session().run(tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()))
      0
    """
    return dataset._make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: Optional[str] = None) -> Iterator:
    """Returns `dataset.make_initializable_iterator(shared_name)`.

    Args:
      dataset: A `Dataset`.
      shared_name: The name by which sessions share the iterator.

    Returns:
      An `Iterator`.

    Example:
      >>> it = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
      >>> with tf.Session() as sess:
      ...     sess.run(it.initializer)
      ...     print(sess.run(it.get_next()))
      0
    """
    return dataset._make_initializable_iterator(shared_name)
