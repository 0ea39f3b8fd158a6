"""`Iterator`: a pass over a dataset, and the functions that tell the types of iterators and datasets."""

from __future__ import annotations

import threading
import warnings
from typing import Any, Optional

from millstream.data import structure
from millstream.framework import dtypes, get_default_graph
from millstream.framework.conversion import convert_to_tensor
from millstream.framework.op_functions import op

_CALLS_TO_WARN = 32

_TOO_MANY = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that "
    "`Iterator.get_next()` is being called inside a training loop, which will cause gradual slowdown and eventual "
    "resource exhaustion. If this is the case, restructure your code to call `next_element = iterator.get_next()` "
    "once outside the loop, and use `next_element` as the input to some computation that is invoked inside the loop."
)


class Iterator:
    """A pass over a dataset: `get_next()` is the tensor whose value is the next element in each run.

    Example:
      >>> dataset = tf.data.Dataset.range(3)
      >>> x = dataset.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess:
      ...     print(*[sess.run(x) for _ in range(3)])
      0 1 2
      >>> it = dataset.make_initializable_iterator()
      >>> it.initializer.type, it.element_spec == dataset.element_spec, it.output_types, it.output_shapes
      ('MakeIterator', True, tf.int64, TensorShape([]))
      >>> it.output_classes is tf.Tensor, it.string_handle().dtype
      (True, tf.string)
    """

    def __init__(self, iterator_resource: Any, initializer: Any, output_types: Any, output_shapes: Any, output_classes: Any) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._element_spec = structure.spec(output_types, output_shapes, output_classes)
        self._string_handle = op("IteratorToStringHandle")(iterator_resource)
        self._calls = 0
        self._lock = threading.Lock()

    @staticmethod
    def _of(resource: Any, initializer: Any, element_spec: Any) -> Iterator:
        iterator = Iterator(resource, initializer, structure.types_of(element_spec), structure.shapes_of(element_spec), None)
        iterator._element_spec = element_spec
        return iterator

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, shared_name: Optional[str] = None, output_classes: Any = None) -> Iterator:
        """Returns an iterator that has no dataset yet: `make_initializer` gives it one.

        Args:
          output_types: The dtypes of elements, as a structure.
          output_shapes: Their shapes, as a structure; None if unknown.
          shared_name: The name by which sessions share the iterator.
          output_classes: Their classes, `tf.Tensor` or `tf.SparseTensor`, as a structure; None for tensors.

        Returns:
          An `Iterator`.

        Raises:
          TypeError: `output_shapes` has another structure than `output_types`.

        Example:
          >>> it = tf.data.Iterator.from_structure(tf.int64, [])
          >>> first, second = (it.make_initializer(tf.data.Dataset.range(n, 9)) for n in (1, 5))
          >>> x = it.get_next()
          >>> with tf.Session() as sess:
          ...     print(*[(sess.run(i), sess.run(x))[1] for i in (first, second)])
          1 5
        """
        element_spec = structure.spec(output_types, output_shapes, output_classes)
        resource = op("IteratorV2")(shared_name or "", "", structure.flat_types(element_spec), structure.flat_shapes(element_spec))
        return Iterator._of(resource, None, element_spec)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None) -> Iterator:
        """Returns an iterator that is, in each run, the one that `string_handle` names.

        Args:
          string_handle: A string tensor: the value of another iterator's `string_handle()`.
          output_types: The dtypes of elements, as a structure.
          output_shapes: Their shapes, as a structure; None if unknown.
          output_classes: Their classes, `tf.Tensor` or `tf.SparseTensor`, as a structure; None for tensors.

        Returns:
          An `Iterator`.

        Example:
          >>> iterators = [tf.data.Dataset.range(n, 9).make_one_shot_iterator() for n in (1, 5)]
          >>> handle = tf.placeholder(tf.string, [])
          >>> x = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
          >>> with tf.Session() as sess:
          ...     handles = [sess.run(it.string_handle()) for it in iterators]
          ...     print(*[sess.run(x, {handle: h}) for h in handles])
          1 5
        """
        element_spec = structure.spec(output_types, output_shapes, output_classes)
        string_handle = convert_to_tensor(string_handle, dtypes.string)
        types, shape = structure.flat_types(element_spec), structure.flat_shapes(element_spec)
        return Iterator._of(op("IteratorFromStringHandleV2")(string_handle, types, shape), None, element_spec)

    @property
    def initializer(self) -> Any:
        """The operation that begins the pass.

        Raises:
          ValueError: The iterator begins by itself, or has no dataset of its own.
        """
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: Optional[str] = None) -> Any:
        """Returns an operation that begins a pass over a dataset.

        Args:
          dataset: A `Dataset` whose elements have the iterator's types.
          name: A name for the operation.

        Returns:
          An `Operation`.

        Raises:
          TypeError: The elements have other types.

        Example:
          >>> it = tf.data.Iterator.from_structure(tf.int64)
          >>> it.make_initializer(tf.data.Dataset.from_tensors(1.0))
          Traceback (most recent call last):
            ...
          TypeError: Expected output types tf.int64 but got dataset with output types tf.float32.
        """
        structure.assert_same(self.output_types, get_output_types(dataset))
        for own, given in zip(structure.flatten(self._element_spec), structure.flatten(dataset.element_spec)):
            if not structure.is_equal(own, given):
                raise TypeError("Expected output types %r but got dataset with output types %r." % (self.output_types, get_output_types(dataset)))
            if not isinstance(own, structure.DatasetSpec) and not own.shape.is_compatible_with(given.shape):
                raise TypeError("Expected output shapes compatible with %r but got dataset with output shapes %r." % (self.output_shapes, get_output_shapes(dataset)))
        with get_default_graph().colocate_with(self._iterator_resource.op):
            return op("MakeIterator")(dataset._variant_tensor, self._iterator_resource, name=name or "make_initializer")

    def get_next(self, name: Optional[str] = None) -> Any:
        """Returns the next element as a structure of tensors. A run at the end is an `OutOfRangeError`.

        Args:
          name: A name for the operation.

        Returns:
          A structure of tensors.

        Example:
          >>> x = tf.data.Dataset.from_tensors(7).make_one_shot_iterator().get_next()
          >>> with tf.Session() as sess:
          ...     _ = sess.run(x)
          ...     sess.run(x)
          Traceback (most recent call last):
            ...
          millstream.errors.OutOfRangeError: End of sequence...
        """
        with self._lock:
            self._calls += 1
            if self._calls > _CALLS_TO_WARN:
                warnings.warn(_TOO_MANY, stacklevel=2)
        types, shape = structure.flat_types(self._element_spec), structure.flat_shapes(self._element_spec)
        return _packed(self._element_spec, op("IteratorGetNext")(self._iterator_resource, types, shape, name=name))

    def string_handle(self, name: Optional[str] = None) -> Any:
        """Returns a string tensor that names the iterator, for `Iterator.from_string_handle`."""
        return self._string_handle if name is None else op("IteratorToStringHandle")(self._iterator_resource, name=name)

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


def _packed(element_spec: Any, tensors: Any) -> Any:
    specs = structure.flatten(element_spec)
    return structure.pack(element_spec, [structure.value_of(t, s) for t, s in zip(tensors, specs)])


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Returns the dtypes of the elements of a dataset or iterator, as a structure.

    Example:
      >>> tf.data.get_output_types(tf.data.Dataset.from_tensors((1, {"a": 2.0})))
      (tf.int32, {'a': tf.float32})
    """
    return structure.types_of(dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Returns the shapes of the elements of a dataset or iterator, as a structure.

    Example:
      >>> tf.data.get_output_shapes(tf.data.Dataset.from_tensors([1, 2]))
      TensorShape([Dimension(2)])
    """
    return structure.shapes_of(dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Returns the classes of the elements of a dataset or iterator, as a structure.

    They are `tf.Tensor` and `tf.SparseTensor`; a dataset, such as a window, has a `tf.data.DatasetSpec`.

    Example:
      >>> tf.data.get_output_classes(tf.data.Dataset.range(3)) is tf.Tensor
      True
    """
    return structure.transform(lambda s: s if isinstance(s, structure.DatasetSpec) else s.value_type, dataset_or_iterator.element_spec)


