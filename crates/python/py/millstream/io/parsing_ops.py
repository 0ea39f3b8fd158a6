"""Parsing of `Example` messages: declarations of features (`FixedLenFeature`, ..) and parsing functions."""

from __future__ import annotations

import collections
from typing import Any, Dict, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import SparseTensor, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.ops import array_ops
from millstream.ops.sparse_ops import sparse_merge

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "SparseFeature",
    "VarLenFeature",
    "decode_json_example",
    "parse_example",
    "parse_single_example",
    "parse_single_sequence_example",
]


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature of variable length, parsed to a `SparseTensor`. Its field is `dtype`.

    Example:
      >>> example = tf.train.Example(
      ...     features=tf.train.Features(
      ...     feature={"words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"to", b"be"]))}))
      >>> parsed = tf.parse_single_example(example.SerializeToString(),
      ...     {"words": tf.VarLenFeature(tf.string)})
      >>> print(tf.Session().run(parsed["words"].values))
      [b'to' b'be']
    """


class SparseFeature(collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A `SparseTensor` whose indices and values are separate features.

    Fields are `index_key` (a name, or a list of names), `value_key`, `dtype`, `size` (an int, or a list of
    ints) and `already_sorted`.

    Example:
      >>> example = tf.train.Example(features=tf.train.Features(feature={
      ...     "where": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 3])),
      ...     "what": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 1.5]))}))
      >>> parsed = tf.parse_single_example(example.SerializeToString(),
      ...     {"x": tf.SparseFeature("where", "what", tf.float32, size=5)})
      >>> print(tf.Session().run(tf.sparse_tensor_to_dense(parsed["x"])))
      [0.  0.5 0.  1.5 0. ]
    """

    def __new__(cls, index_key: Any, value_key: str, dtype: Any, size: Any, already_sorted: bool = False) -> "SparseFeature":
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of fixed shape, parsed to a tensor. Without a default value it is required.

    Fields are `shape`, `dtype` (`float32`, `int64` or `string`) and `default_value`.

    Example:
      >>> tf.FixedLenFeature([2], tf.float32, default_value=[0.0, 0.0]).shape
      [2]
    """

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> "FixedLenFeature":
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])):
    """A feature of any number of rows of fixed shape, parsed to a tensor.

    Shorter sequences are padded with the default value to the longest of the batch. Fields are `shape` (of a
    row), `dtype`, `allow_missing` (true in an `Example`) and `default_value`.

    Example:
      >>> words = [tf.train.Example(features=tf.train.Features(feature={
      ...     "n": tf.train.Feature(int64_list=tf.train.Int64List(value=range(k)))})).SerializeToString()
      ...     for k in (1, 3)]
      >>> parsed = tf.parse_example(words,
      ...     {"n": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})
      >>> print(tf.Session().run(parsed["n"]))
      [[0 0 0]
       [0 1 2]]
    """

    def __new__(cls, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None) -> "FixedLenSequenceFeature":
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class _Wanted:
    """The requested features as arguments of the ops: keys, dtypes, shapes and defaults, grouped by kind."""

    def __init__(self) -> None:
        self.sparse: Dict[str, Any] = {}
        self.dense: Dict[str, Tuple[Any, shapes.TensorShape, Any]] = {}
        self.missing_is_empty: List[str] = []

    def add(self, features: Optional[Dict[str, Any]], kinds: Tuple[type, ...], is_list: bool = False) -> "_Wanted":
        """Adds features, sorted by key."""
        for key in sorted(features or {}):
            feature = features[key]  # type: ignore[index]
            if isinstance(feature, kinds) and getattr(feature, "dtype", None) is None:
                raise ValueError("Missing type for feature %s." % key)
            if not isinstance(feature, kinds):
                known = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)
                if isinstance(feature, known):
                    raise ValueError("Unsupported %s %s." % (type(feature).__name__, feature))
                raise ValueError("Invalid feature %s:%s." % (key, feature))
            self._one(key, feature, is_list)
        return self

    def _one(self, key: str, feature: Any, is_list: bool) -> None:
        if isinstance(feature, VarLenFeature):
            self._sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            for part in ("index_key", "value_key"):
                if not getattr(feature, part):
                    raise ValueError("Missing %s for SparseFeature %s." % (part, feature))
            for index in _listed(feature.index_key):
                self._sparse(index, dtypes.int64)
            self._sparse(feature.value_key, feature.dtype)
        elif isinstance(feature, FixedLenFeature):
            if feature.shape is None:
                raise ValueError("Missing shape for feature %s." % key)
            shape = shapes.TensorShape(feature.shape)
            if shape.ndims and shape.as_list()[0] is None:
                raise ValueError("First dimension of shape for feature %s unknown. Consider using FixedLenSequenceFeature." % key)
            if not shape.is_fully_defined():
                raise ValueError("All dimensions of shape for feature %s need to be known but received %s." % (key, shape))
            self.dense[key] = feature.dtype, shape, feature.default_value
        else:
            if feature.shape is None:
                raise ValueError("Missing shape for feature %s." % key)
            if is_list:
                self.dense[key] = feature.dtype, shapes.TensorShape(feature.shape), None
                if feature.allow_missing:
                    self.missing_is_empty.append(key)
                if feature.default_value is not None:
                    raise ValueError("Value feature_list_dense_defaults[%s] must be None, not %s" % (key, feature.default_value))
                return
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            self.dense[key] = feature.dtype, shapes.TensorShape([None]).concatenate(feature.shape), feature.default_value

    def _sparse(self, key: str, dtype: Any) -> None:
        dtype = _checked_type(dtype, "sparse_types")
        if self.sparse.setdefault(key, dtype) != dtype:
            raise ValueError("Conflicting type %s vs %s for feature %s." % (self.sparse[key], dtype, key))

    def check(self) -> None:
        """Raises if a key is both dense and sparse."""
        both = sorted(set(self.sparse) & set(self.dense))
        if both:
            raise ValueError("Dense and sparse keys must not intersect; intersection: %s" % set(both))

    def defaults(self) -> List[Tensor]:
        """A tensor for each dense feature: its default, or an empty tensor for a required feature."""
        return [_default(key, *wanted) for key, wanted in self.dense.items()]

    @property
    def dense_types(self) -> List[Any]:
        """The dtypes of the dense features."""
        return [dtypes.as_dtype(d) for d, _, _ in self.dense.values()]

    @property
    def dense_shapes(self) -> List[shapes.TensorShape]:
        """The shapes of the dense features."""
        return [s for _, s, _ in self.dense.values()]


_KINDS = (dtypes.float32, dtypes.int64, dtypes.string)


def _checked_type(dtype: Any, parameter: str) -> Any:
    """Returns the dtype of a feature, which must be one that examples hold."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _KINDS:
        raise TypeError("Value passed to parameter '%s' has DataType %s not in list of allowed values: float32, int64, string" % (parameter, dtype.name))
    return dtype


def _word(key: Any) -> str:
    """Returns a key as a part of the name of an operation."""
    return "".join(c if c.isalnum() or c in "_." else "_" for c in str(key))


def _serialized(value: Any) -> Any:
    return value if isinstance(value, Tensor) else convert_to_tensor(value, dtypes.string, "serialized")


def _default(key: str, dtype: Any, shape: shapes.TensorShape, value: Any) -> Tensor:
    clean = _word(key)
    dtype = _checked_type(dtype, "dense_defaults")
    if shape.ndims and shape.as_list()[0] is None:
        # For a sequence, the value to pad with.
        value = ("" if dtype == dtypes.string else 0) if value is None else value
        return array_ops.reshape(convert_to_tensor(value, dtype, "padding_" + clean), [])
    if value is None:
        return convert_to_tensor([], dtype)
    return array_ops.reshape(convert_to_tensor(value, dtype, "key_" + clean), shape)


def _listed(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _put_together(features: Dict[str, Any], tensors: Dict[str, Any]) -> Dict[str, Any]:
    """Assembles sparse features from their parts, and drops the parts that were not requested."""
    out = dict(tensors)
    used = set()
    for key in sorted(features):
        feature = features[key]
        if not isinstance(feature, SparseFeature):
            continue
        indices = _listed(feature.index_key)
        ids = [tensors[k] for k in indices]
        out[key] = sparse_merge(ids if isinstance(feature.index_key, (list, tuple)) else ids[0], tensors[feature.value_key], feature.size, None, feature.already_sorted)
        used.update(indices + [feature.value_key])
    for key in used - set(features):
        out.pop(key, None)
    return out


def _sparse_tensors(keys: Any, indices: Any, values: Any, dense_shapes: Any) -> Dict[str, SparseTensor]:
    return {k: SparseTensor(*parts) for k, parts in zip(keys, zip(indices, values, dense_shapes))}


_EXAMPLE = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def parse_example(serialized: Any, features: Any, name: Optional[str] = None, example_names: Any = None) -> Dict[str, Any]:
    """Parses a vector of serialized `Example` messages.

    Args:
      serialized: A vector of strings.
      features: A dict from names to `FixedLenFeature`, `VarLenFeature` and the like.
      name: The name scope of the new operations.
      example_names: A vector of strings: names of the examples for error messages.

    Returns:
      A dict of tensors and `SparseTensor`s, with the batch as the first axis.

    Raises:
      ValueError: `features` is empty, or a feature has an unsupported kind.
      tf.errors.InvalidArgumentError: When run: an example is malformed, or lacks a feature.

    Example:
      >>> examples = [tf.train.Example(features=tf.train.Features(feature={
      ...     "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[k]))})).SerializeToString()
      ...     for k in (7, 8)]
      >>> parsed = tf.parse_example(examples, {"label": tf.FixedLenFeature([], tf.int64)})
      >>> print(tf.Session().run(parsed["label"]))
      [7 8]
    """
    if not features:
        raise ValueError("Missing: features was %s." % features)
    return _put_together(features, _parse_batch(serialized, _Wanted().add(features, _EXAMPLE), example_names, name))


def _parse_batch(serialized: Any, wanted: _Wanted, example_names: Any, name: Optional[str]) -> Dict[str, Any]:
    """Returns the tensors of the features of a vector of examples."""
    wanted.check()
    with name_scope(name, "ParseExample", [serialized, example_names]):
        serialized = _serialized(serialized)
        names = convert_to_tensor([] if example_names is None else example_names, dtypes.string, "names")
        indices, values, sparse_shapes, dense = op("ParseExample")(
            serialized,
            names,
            list(wanted.sparse),
            list(wanted.dense),
            wanted.defaults(),
            sparse_types=list(wanted.sparse.values()),
            dense_shapes=wanted.dense_shapes,
            name=name,
        )
    tensors: Dict[str, Any] = _sparse_tensors(wanted.sparse, indices, values, sparse_shapes)
    tensors.update(zip(wanted.dense, dense))
    return tensors


def parse_single_example(serialized: Any, features: Any, name: Optional[str] = None, example_names: Any = None) -> Dict[str, Any]:
    """Parses one serialized `Example` message.

    Args:
      serialized: A string scalar.
      features: As in `parse_example`.
      name: The name scope of the new operations.
      example_names: A string scalar: the name of the example for error messages.

    Returns:
      A dict of tensors and `SparseTensor`s.

    Raises:
      ValueError: `features` is empty, or a feature has an unsupported kind.
      tf.errors.InvalidArgumentError: When run: the example is malformed, or lacks a feature.

    Example:
      >>> example = tf.train.Example(
      ...     features=tf.train.Features(
      ...     feature={"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))}))
      >>> parsed = tf.parse_single_example(example.SerializeToString(),
      ...     {"label": tf.FixedLenFeature([], tf.int64)})
      >>> print(tf.Session().run(parsed["label"]))
      7
    """
    if not features:
        raise ValueError("Missing features.")
    if example_names is not None:
        return _put_together(features, _parse_one_with_a_name(serialized, _Wanted().add(features, _EXAMPLE), example_names, name))
    return _put_together(features, _parse_one(serialized, _Wanted().add(features, _EXAMPLE), name))


def _parse_one(serialized: Any, wanted: _Wanted, name: Optional[str]) -> Dict[str, Any]:
    """Returns the tensors of the features of an example."""
    wanted.check()
    with name_scope(name, "ParseSingleExample", [serialized]):
        serialized = _serialized(serialized)
        indices, values, sparse_shapes, dense = op("ParseSingleExample")(
            serialized,
            wanted.defaults(),
            num_sparse=len(wanted.sparse),
            sparse_keys=list(wanted.sparse),
            dense_keys=list(wanted.dense),
            sparse_types=list(wanted.sparse.values()),
            dense_shapes=wanted.dense_shapes,
            name=name,
        )
    tensors: Dict[str, Any] = _sparse_tensors(wanted.sparse, indices, values, sparse_shapes)
    tensors.update(zip(wanted.dense, dense))
    return tensors


def _parse_one_with_a_name(serialized: Any, wanted: _Wanted, example_name: Any, name: Optional[str]) -> Dict[str, Any]:
    """Parses an example as a batch of one: only that op takes names for error messages."""
    with name_scope(name, "ParseSingleExample", [serialized, example_name]):
        batch = array_ops.expand_dims(convert_to_tensor(serialized, dtypes.string, "serialized"), 0)
        if example_name is not None:
            example_name = array_ops.expand_dims(convert_to_tensor(example_name, dtypes.string), 0)
        parsed = _parse_batch(batch, wanted, example_name, name)
        out: Dict[str, Any] = {}
        for key, value in parsed.items():
            word = _word(key)
            if isinstance(value, SparseTensor):
                indices = op("Slice")(value.indices, [0, 1], [-1, -1], name="Slice_Indices_%s" % word)
                shape = op("Slice")(value.dense_shape, [1], [-1], name="Squeeze_Shape_%s" % word)
                out[key] = SparseTensor(indices, value.values, shape)
            else:
                out[key] = array_ops.squeeze(value, [0], name="Squeeze_%s" % word)
        return out


def parse_single_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, example_name: Any = None, name: Optional[str] = None
) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Parses one serialized `SequenceExample` message.

    Args:
      serialized: A string scalar.
      context_features: A dict, as in `parse_example`.
      sequence_features: A dict of `FixedLenSequenceFeature` and `VarLenFeature`.
      example_name: A string scalar: the name of the example for error messages.
      name: The name scope of the new operations.

    Returns:
      A pair of dicts of tensors: the context features and the feature lists.

    Example:
      >>> row = lambda n: tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))
      >>> example = tf.train.SequenceExample(
      ...     context=tf.train.Features(feature={"label": row(7)}),
      ...     feature_lists=tf.train.FeatureLists(
      ...     feature_list={"n": tf.train.FeatureList(feature=[row(1), row(2)])}))
      >>> context, lists = tf.parse_single_sequence_example(
      ...     example.SerializeToString(), {"label": tf.FixedLenFeature([], tf.int64)},
      ...     {"n": tf.FixedLenSequenceFeature([], tf.int64)})
      >>> print(*tf.Session().run([context["label"], lists["n"]]))
      7 [1 2]
    """
    return _parse_sequence(serialized, *_of_sequences(context_features, sequence_features), example_name, name)


def _parse_sequence(serialized: Any, context: _Wanted, lists: _Wanted, example_name: Any, name: Optional[str]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Returns the tensors of the context and of the feature lists of a sequence."""
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        defaults = context.defaults()
        c_indices, c_values, c_shapes, c_dense, l_indices, l_values, l_shapes, l_dense = op("ParseSingleSequenceExample")(
            convert_to_tensor(serialized, dtypes.string, "serialized"),
            lists.missing_is_empty,
            list(context.sparse),
            list(context.dense),
            list(lists.sparse),
            list(lists.dense),
            defaults,
            "" if example_name is None else example_name,
            context_sparse_types=list(context.sparse.values()),
            feature_list_dense_types=lists.dense_types,
            context_dense_shapes=context.dense_shapes,
            feature_list_sparse_types=list(lists.sparse.values()),
            feature_list_dense_shapes=lists.dense_shapes,
            name=name,
        )
    of_context: Dict[str, Any] = _sparse_tensors(context.sparse, c_indices, c_values, c_shapes)
    of_context.update(zip(context.dense, c_dense))
    of_lists: Dict[str, Any] = _sparse_tensors(lists.sparse, l_indices, l_values, l_shapes)
    of_lists.update(zip(lists.dense, l_dense))
    return of_context, of_lists


def parse_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: Optional[str] = None
) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]:
    """Parses a vector of serialized `SequenceExample` messages.

    Args:
      serialized: A vector of strings.
      context_features: A dict, as in `parse_example`.
      sequence_features: A dict of `FixedLenSequenceFeature` and `VarLenFeature`.
      example_names: A vector of strings: names of the examples for error messages.
      name: The name scope of the new operations.

    Returns:
      A triple of dicts of tensors: the context features, the feature lists, padded to the longest, and their
        lengths.

    Example:
      >>> row = lambda n: tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))
      >>> examples = [tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list={
      ...     "n": tf.train.FeatureList(feature=[row(n) for n in range(k)])})).SerializeToString()
      ...     for k in (1, 3)]
      >>> _, lists, lengths = tf.io.parse_sequence_example(examples,
      ...     sequence_features={"n": tf.FixedLenSequenceFeature([], tf.int64)})
      >>> print(*tf.Session().run([lists["n"], lengths["n"]]))
      [[0 0 0]
       [0 1 2]] [1 3]
    """
    return _parse_sequences(serialized, *_of_sequences(context_features, sequence_features), example_names, name)


def _parse_sequences(
    serialized: Any, context: _Wanted, lists: _Wanted, example_names: Any, name: Optional[str]
) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]:
    """Returns the tensors of the contexts and of the lists of sequences, and the lengths of the lists."""
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        c_indices, c_values, c_shapes, c_dense, l_indices, l_values, l_shapes, l_dense, l_lengths = op("ParseSequenceExample")(
            convert_to_tensor(serialized, dtypes.string, "serialized"),
            convert_to_tensor([] if example_names is None else example_names, dtypes.string, "debug_name"),
            context.defaults(),
            feature_list_dense_missing_assumed_empty=lists.missing_is_empty,
            context_sparse_keys=list(context.sparse),
            context_dense_keys=list(context.dense),
            feature_list_sparse_keys=list(lists.sparse),
            feature_list_dense_keys=list(lists.dense),
            Ncontext_sparse=len(context.sparse),
            Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(lists.sparse),
            Nfeature_list_dense=len(lists.dense),
            context_sparse_types=list(context.sparse.values()),
            feature_list_dense_types=lists.dense_types,
            context_dense_shapes=context.dense_shapes,
            feature_list_sparse_types=list(lists.sparse.values()),
            feature_list_dense_shapes=lists.dense_shapes,
            name=name,
        )
    of_context: Dict[str, Any] = _sparse_tensors(context.sparse, c_indices, c_values, c_shapes)
    of_context.update(zip(context.dense, c_dense))
    of_lists: Dict[str, Any] = _sparse_tensors(lists.sparse, l_indices, l_values, l_shapes)
    of_lists.update(zip(lists.dense, l_dense))
    return of_context, of_lists, dict(zip(lists.dense, l_lengths))


def _of_sequences(context_features: Any, sequence_features: Any) -> Tuple[_Wanted, _Wanted]:
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _Wanted().add(context_features, (VarLenFeature, FixedLenFeature))
    lists = _Wanted().add(sequence_features, (VarLenFeature, FixedLenSequenceFeature), is_list=True)
    context.check()
    lists.check()
    return context, lists


def decode_json_example(json_examples: Any, name: Optional[str] = None) -> Tensor:
    """Converts `Example` messages from JSON to their serialized form.

    Args:
      json_examples: A tensor of strings.
      name: A name for the operation.

    Returns:
      A tensor of strings of the same shape.

    Example:
      >>> text = '{"features": {"feature": {"n": {"int64List": {"value": [3]}}}}}'
      >>> parsed = tf.parse_single_example(tf.decode_json_example(text),
      ...     {"n": tf.FixedLenFeature([], tf.int64)})
      >>> print(tf.Session().run(parsed["n"]))
      3
    """
    return op("DecodeJSONExample")(json_examples, name=name)
