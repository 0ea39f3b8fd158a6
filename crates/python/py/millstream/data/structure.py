"""Structures of elements: tuples, named tuples and mappings of tensors, and the types of their leaves.

A list is no structure here: it becomes a tensor, as in TensorFlow.
"""

from __future__ import annotations

import collections.abc
from typing import Any, Callable, List

import numpy as np

from millstream._engine import Tensor
from millstream.framework import SparseTensor, SparseTensorValue, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.framework.type_specs import SparseTensorSpec


# The class of datasets, and a function that returns the dataset in a variant tensor. Registered by
# `datasets`.
_registered: List[Any] = []


def register_datasets(kind: type, made: Callable[[Any, Any], Any]) -> None:
    """Registers the class of datasets, and a function that returns the dataset in a variant tensor."""
    _registered[:] = [kind, made]


def dataset_class() -> Any:
    """Returns the class of datasets."""
    return _registered[0]


def made_of(variant: Any, element_spec: Any) -> Any:
    """Returns the dataset in a variant tensor."""
    return _registered[1](variant, element_spec)


class DatasetSpec(shapes.TypeSpec):
    """The type of a component that is a dataset, such as those of a window.

    Args:
      element_spec: The types of its elements, as a structure.
      dataset_shape: The shape of a tensor of such datasets; a scalar is one dataset.

    Example:
      >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
      DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
      >>> windows = tf.data.Dataset.range(3).window(2)
      >>> windows.element_spec.element_spec == tf.TensorSpec([], tf.int64), windows.element_spec.value_type is tf.data.Dataset
      (True, True)
    """

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self.element_spec, self._dataset_shape = element_spec, shapes.as_shape(dataset_shape)

    @property
    def value_type(self) -> Any:
        """The class of the values: `tf.data.Dataset`."""
        return dataset_class()

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """Returns the type of a dataset.

        Example:
          >>> tf.data.DatasetSpec.from_value(tf.data.Dataset.range(3))
          DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
        """
        return DatasetSpec(value.element_spec)

    def _serialize(self) -> Any:
        return self.element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> Any:
        return shapes.TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        return made_of(components, self.element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and (self.element_spec, self._dataset_shape._dims) == (other.element_spec, other._dataset_shape._dims)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return "DatasetSpec(%r, %r)" % (self.element_spec, self._dataset_shape)


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_nested(value: Any) -> bool:
    """Returns whether a value is a structure."""
    return isinstance(value, (tuple, collections.abc.Mapping)) and not isinstance(value, SparseTensorValue)


def flatten(value: Any) -> List[Any]:
    """Returns the leaves of a structure; mappings in the order of their keys."""
    if isinstance(value, collections.abc.Mapping) and is_nested(value):
        return [leaf for key in sorted(value) for leaf in flatten(value[key])]
    if is_nested(value):
        return [leaf for part in value for leaf in flatten(part)]
    return [value]


def pack(structure: Any, leaves: List[Any]) -> Any:
    """Returns a structure like `structure` with these leaves."""
    rest = iter(leaves)

    def build(like: Any) -> Any:
        if isinstance(like, collections.abc.Mapping) and is_nested(like):
            parts = {key: build(like[key]) for key in sorted(like)}
            return type(like)((key, parts[key]) for key in like)  # type: ignore[call-arg]
        if _is_namedtuple(like) and is_nested(like):
            return type(like)(*[build(part) for part in like])
        if is_nested(like):
            return tuple(build(part) for part in like)
        return next(rest)

    return build(structure)


def transform(function: Callable[..., Any], structure: Any, *more: Any) -> Any:
    """Returns the structure with `function` applied to each leaf, and to those of `more`."""
    lists = [flatten(structure)] + [flatten(s) for s in more]
    return pack(structure, [function(*leaves) for leaves in zip(*lists)])


def assert_same(a: Any, b: Any) -> None:
    """Raises unless both have the same structure.

    Raises:
      TypeError: The kinds of structures differ.
      ValueError: The numbers or keys of their parts differ.
    """
    if is_nested(a) != is_nested(b):
        raise ValueError("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: %s" % (a, b))
    if not is_nested(a):
        return
    if isinstance(a, collections.abc.Mapping) != isinstance(b, collections.abc.Mapping) or _is_namedtuple(a) != _is_namedtuple(b):
        raise TypeError("The two structures don't have the same sequence type. First structure has type %s, while second structure has type %s." % (type(a), type(b)))
    if isinstance(a, collections.abc.Mapping):
        if set(a) != set(b):
            raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys %s, while second structure has keys %s" % (list(a), list(b)))
        for key in a:
            assert_same(a[key], b[key])
        return
    if len(a) != len(b):
        raise ValueError("The two structures don't have the same number of elements.\n\nFirst structure: %s\n\nSecond structure: %s" % (a, b))
    for left, right in zip(a, b):
        assert_same(left, right)


def normalize(element: Any) -> Any:
    """Returns the structure with its leaves as tensors; datasets stay as they are."""
    leaves = flatten(element)
    with name_scope("normalize_element"):
        made = [_leaf(leaf, "component_%d" % i) for i, leaf in enumerate(leaves)]
    return pack(element, made)


def _leaf(value: Any, name: str) -> Any:
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensor.from_value(value)
    if hasattr(value, "_variant_tensor"):
        return value
    return convert_to_tensor(value, name=name)


def spec_of(value: Any) -> Any:
    """Returns the type of a leaf: a `tf.TensorSpec`, a `tf.SparseTensorSpec` or a `DatasetSpec`."""
    if hasattr(value, "_variant_tensor"):
        return DatasetSpec(value.element_spec)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    return shapes.TensorSpec(value.shape, value.dtype)


def tensor_of(value: Any) -> Tensor:
    """Returns a leaf as a tensor: a dataset is a variant, and a sparse tensor a vector of three."""
    if isinstance(value, SparseTensor):
        return op("SerializeSparse")(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)
    return value._variant_tensor if hasattr(value, "_variant_tensor") else value


def rows_of(value: Any) -> Tensor:
    """Returns a leaf as a tensor whose rows are the leaf's, each as `tensor_of` returns it."""
    if isinstance(value, SparseTensor):
        return op("SerializeManySparse")(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)
    return tensor_of(value)


def value_of(tensor: Tensor, spec: Any) -> Any:
    """Returns the leaf of a type that a tensor holds; the reverse of `tensor_of`."""
    if isinstance(spec, DatasetSpec):
        return made_of(tensor, spec.element_spec)
    if isinstance(spec, SparseTensorSpec):
        made = SparseTensor(*op("DeserializeSparse")(tensor, dtype=spec.dtype))
        made.indices.set_shape([None, spec.shape.ndims])
        made.dense_shape.set_shape([spec.shape.ndims])
        return made
    return tensor


def spec(types: Any, shape: Any = None, classes: Any = None) -> Any:
    """Returns the types of elements of these dtypes, shapes and classes.

    Shapes that are None are unknown, and classes that are None are tensors.
    """
    kinds = [None] * len(flatten(types)) if classes is None else flatten_up_to(types, classes)
    parts = [None] * len(kinds) if shape is None else flatten_up_to(types, shape)
    made = []
    for t, s, kind in zip(flatten(types), parts, kinds):
        # A type is given as the class of components that are neither tensors nor sparse tensors.
        if isinstance(kind, shapes.TypeSpec):
            made.append(kind)
        else:
            made.append((SparseTensorSpec if kind is SparseTensor else shapes.TensorSpec)(shapes.as_shape(s), dtypes.as_dtype(t)))
    return pack(types, made)


def flatten_up_to(structure: Any, value: Any) -> List[Any]:
    """Returns the parts of `value` in the places of the leaves of `structure`."""
    if not is_nested(structure):
        return [value]
    if isinstance(structure, collections.abc.Mapping):
        if not isinstance(value, collections.abc.Mapping) or set(value) != set(structure):
            raise ValueError("The two structures don't have the same keys: %s and %s" % (structure, value))
        return [part for key in sorted(structure) for part in flatten_up_to(structure[key], value[key])]
    if isinstance(value, collections.abc.Mapping) or not isinstance(value, (tuple, list)):
        raise TypeError("If shallow structure is a sequence, input must also be a sequence. Input has type: %s." % type(value))
    if len(value) != len(structure):
        raise ValueError("The two structures don't have the same sequence length. Input structure has length %d, while shallow structure has length %d." % (len(value), len(structure)))
    return [part for like, v in zip(structure, value) for part in flatten_up_to(like, v)]


def types_of(element_spec: Any) -> Any:
    """Returns the dtypes of elements."""
    return transform(lambda s: dtypes.variant if isinstance(s, DatasetSpec) else s.dtype, element_spec)


def shapes_of(element_spec: Any) -> Any:
    """Returns the shapes of elements."""
    return transform(lambda s: shapes.TensorShape([]) if isinstance(s, DatasetSpec) else s.shape, element_spec)


def flat_types(element_spec: Any) -> List[Any]:
    """Returns the dtypes of the components as tensors."""
    return [s.dtype if isinstance(s, shapes.TensorSpec) else dtypes.variant for s in flatten(element_spec)]


def flat_shapes(element_spec: Any) -> List[Any]:
    """Returns the shapes of the components as tensors."""
    # The serialized form of a sparse tensor has three elements, and that of a batch is a matrix of them.
    return [shapes.TensorShape(None) if isinstance(s, SparseTensorSpec) else shapes.TensorShape([]) if isinstance(s, DatasetSpec) else s.shape for s in flatten(element_spec)]


def is_equal(a: Any, b: Any) -> bool:
    """Returns whether two leaves have the same dtype."""
    return type(a) is type(b) and (isinstance(a, DatasetSpec) or a.dtype == b.dtype)


def most_general(a: Any, b: Any) -> Any:
    """Returns the type of elements of both types."""

    def one(left: Any, right: Any) -> Any:
        if isinstance(left, DatasetSpec):
            return left
        return type(left)(_most_general_shape(left.shape, right.shape), left.dtype)

    return transform(one, a, b)


def _most_general_shape(a: Any, b: Any) -> Any:
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return shapes.TensorShape(None)
    return shapes.TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list())])


def as_numpy_dtype(dtype: Any) -> Any:
    """Returns the NumPy dtype for values that a generator yields."""
    return object if dtype == dtypes.string else np.dtype(dtype.as_numpy_dtype)


def _spec_of_dataset(value: Any) -> Any:
    """Returns the type of a dataset; None of other values."""
    return DatasetSpec(value.element_spec) if _registered and isinstance(value, dataset_class()) else None


shapes.spec_makers.append(_spec_of_dataset)
