"""Feature columns: named tuples that say how a feature becomes numbers (`Dense`) or ids (`Categorical`).

`Features` holds the tensors of one call of `input_layer`, and transforms each column once.
"""

from __future__ import annotations

import collections
import contextlib
import math
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from millstream.feature_column import configs
from millstream.framework import (
    SparseTensor,
    add_to_collection,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    get_collection,
    name_scope,
    node_counts,
)
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.io import parsing_ops, vocabularies
from millstream.nn import embedding
from millstream.ops import array_ops, check_ops, control_flow, math_ops, reduction_ops, sparse_ops
from millstream.train import checkpoint_init
from millstream.variables.initializers import truncated_normal_initializer
from millstream.variables.scopes import get_variable

IdWeightPair = collections.namedtuple("IdWeightPair", ["id_tensor", "weight_tensor"])
TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ["dense_tensor", "sequence_length"])
IdWeights = IdWeightPair
SequenceNumbers = TensorSequenceLengthPair


class Features:
    """The tensors of features, and of columns that were made of them."""

    def __init__(self, features: Dict[str, Any]) -> None:
        self._features, self._made = dict(features), {}  # type: ignore[var-annotated]

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """Returns the tensor of a feature, of at least two dimensions, or what a column makes of it."""
        if key in self._made:
            return self._made[key]
        if isinstance(key, str):
            if key not in self._features:
                raise ValueError("Feature %s is not in features dictionary." % key)
            made = _of_rank_two(self._features[key], key)
        elif isinstance(key, Column):
            made = key.transform(self)
        else:
            raise TypeError('"key" must be either a "str" or "_FeatureColumn". Provided: %s' % (key,))
        self._made[key] = made
        return made


def _of_rank_two(feature: Any, key: str) -> Any:
    if isinstance(feature, SparseTensor) or hasattr(feature, "dense_shape"):
        return feature
    feature = convert_to_tensor(feature)
    rank = feature.shape.ndims
    if rank is None:
        rows = array_ops.rank(feature)
        with control_dependencies([check_ops.assert_positive(rows, message="Feature (key: %s) cannot have rank 0. Given: %s" % (key, feature))]):
            return control_flow.cond(math_ops.equal(rows, 1), lambda: array_ops.expand_dims(feature, -1), lambda: feature)
    if rank == 0:
        raise ValueError("Feature (key: %s) cannot have rank 0. Given: %s" % (key, feature))
    return array_ops.expand_dims(feature, -1) if rank == 1 else feature


class Column:
    """A feature column: it has a name, a specification for `tf.parse_example`, and a transformation."""

    __slots__ = ()
    name: str

    @property
    def scope(self) -> str:
        """The name of the variable scope of its variables."""
        return self.name

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of its features."""
        kind = type(self)
        for name in ("_parse_example_spec", "parse_example_spec"):
            if getattr(kind, name) is not getattr(Column, name):
                return getattr(self, name)  # type: ignore[no-any-return]
        raise NotImplementedError("%s.parse_example_spec" % kind.__name__)

    @property
    def parse_example_spec(self) -> Dict[str, Any]:
        """The specification of its features for `tf.parse_example`."""
        return self.parse_spec

    @property
    def _parse_example_spec(self) -> Dict[str, Any]:
        return self.parse_spec

    def transform(self, inputs: Features) -> Any:
        """Returns what the column makes of its features."""
        kind = type(self)
        if kind._transform_feature is not Column._transform_feature:
            return self._transform_feature(inputs)
        if kind.transform_feature is not Column.transform_feature:
            return self.transform_feature(inputs, None)
        raise NotImplementedError("%s.transform_feature" % kind.__name__)

    # The configuration, whose methods are internal in TensorFlow 1.15, too.

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("millstream."):
            configs.CLASSES.setdefault(cls.__name__, cls)

    def _get_config(self) -> Dict[str, Any]:
        return configs.config_of(self)

    @classmethod
    def _from_config(cls, config: Dict[str, Any], custom_objects: Any = None, columns_by_name: Any = None) -> Any:
        return configs.column_of(cls, config, custom_objects, columns_by_name)

    # The names of TensorFlow's two versions of columns, which programs define in classes of their own.

    @property
    def _var_scope_name(self) -> str:
        return self.scope

    @property
    def _is_v2_column(self) -> bool:
        return True

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform(inputs)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns what the column makes of its features.

        Args:
          transformation_cache: The features: a `FeatureTransformationCache`.
          state_manager: The owner of the variables.
        """
        return self.transform(transformation_cache)

    def create_state(self, state_manager: Any) -> None:
        """Makes the variables of the column, if it has some."""

    @property
    def parents(self) -> List[Any]:
        """The columns or keys that the column is made of."""
        for name in ("categorical_column", "source_column", "keys", "key"):
            found = getattr(self, name, None)
            if found is not None:
                return list(found) if name == "keys" else [found]
        raise NotImplementedError("%s.parents" % type(self).__name__)


class _Owner(threading.local):
    """The `StateManager` whose variables columns use, in this thread."""

    manager: Any = None


_owner = _Owner()


@contextlib.contextmanager
def _owned(state_manager: Any) -> Iterator[None]:
    """A block in which columns take their variables from a `StateManager`."""
    before, _owner.manager = _owner.manager, state_manager
    try:
        yield
    finally:
        _owner.manager = before


class Dense(Column):
    """A column that is a row of numbers."""

    __slots__ = ()

    @property
    def n_numbers(self) -> int:
        """The number of numbers of an example."""
        own = type(self)._variable_shape is not Dense._variable_shape
        return int((self._variable_shape if own else self.variable_shape).num_elements() or 0)

    @property
    def variable_shape(self) -> TensorShape:
        """The shape of an example's numbers."""
        if type(self)._variable_shape is not Dense._variable_shape:
            return self._variable_shape
        return TensorShape([self.n_numbers])

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def dense(self, inputs: Features, collections: Any, trainable: bool) -> Any:
        """Returns the tensor of numbers."""
        kind = type(self)
        if kind._get_dense_tensor is not Dense._get_dense_tensor:
            return self._get_dense_tensor(inputs, weight_collections=collections, trainable=trainable)
        if kind.get_dense_tensor is not Dense.get_dense_tensor:
            return self.get_dense_tensor(inputs, None)
        raise NotImplementedError("%s.get_dense_tensor" % kind.__name__)

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.dense(inputs, weight_collections, True if trainable is None else trainable)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the tensor of numbers; its variables are those of a `StateManager`, or are made."""
        with _owned(state_manager):
            return self.dense(transformation_cache, None, True)


class SequenceDense(Dense):
    """A column that can be a row of numbers for each step of a sequence."""

    __slots__ = ()

    def sequence(self, inputs: Features, collections: Any, trainable: bool) -> SequenceNumbers:
        """Returns a tensor of rank 3 or more, and the number of steps of each example."""
        kind = type(self)
        if kind._get_sequence_dense_tensor is not SequenceDense._get_sequence_dense_tensor:
            return self._get_sequence_dense_tensor(inputs, weight_collections=collections, trainable=trainable)
        if kind.get_sequence_dense_tensor is not SequenceDense.get_sequence_dense_tensor:
            return self.get_sequence_dense_tensor(inputs, None)
        raise NotImplementedError("%s.get_sequence_dense_tensor" % kind.__name__)

    # The result of `get_sequence_dense_tensor`.
    TensorSequenceLengthPair = SequenceNumbers

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> SequenceNumbers:
        return self.sequence(inputs, weight_collections, True if trainable is None else trainable)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> SequenceNumbers:
        """Returns a tensor of rank 3 or more, and the number of steps of each example."""
        with _owned(state_manager):
            return self.sequence(transformation_cache, None, True)


class Categorical(Column):
    """A column of ids from 0 to `n_ids`."""

    __slots__ = ()

    # The result of `get_sparse_tensors`.
    IdWeightPair = IdWeights

    @property
    def n_ids(self) -> int:
        """The number of ids."""
        kind = type(self)
        if kind.num_buckets is not Categorical.num_buckets:
            return self.num_buckets
        if kind._num_buckets is not Categorical._num_buckets:
            return self._num_buckets
        raise NotImplementedError("%s.num_buckets" % kind.__name__)

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.n_ids

    @property
    def _num_buckets(self) -> int:
        return self.n_ids

    def ids(self, inputs: Features) -> IdWeights:
        """Returns a sparse tensor of ids, and their weights or None."""
        kind = type(self)
        if kind._get_sparse_tensors is not Categorical._get_sparse_tensors:
            return self._get_sparse_tensors(inputs)
        if kind.get_sparse_tensors is not Categorical.get_sparse_tensors:
            return self.get_sparse_tensors(inputs, None)
        return IdWeights(inputs.get(self), None)

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> IdWeights:
        return self.ids(inputs)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeights:
        """Returns a sparse tensor of ids, and their weights or None."""
        return self.ids(transformation_cache)


class NumericColumn(Dense, collections.namedtuple("NumericColumn", "key shape default_value dtype normalizer_fn")):
    """A feature of numbers."""

    __slots__ = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """The feature's key."""
        return self.key

    @property
    def n_numbers(self) -> int:  # type: ignore[override]
        """The product of its shape."""
        return math.prod(self.shape)

    @property
    def variable_shape(self) -> TensorShape:
        """Its shape."""
        return TensorShape(self.shape)

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of its feature."""
        return {self.key: parsing_ops.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform(self, inputs: Features) -> Any:
        """Returns the numbers as float32."""
        tensor = inputs.get(self.key)
        if hasattr(tensor, "dense_shape"):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: %s" % self.key)
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return math_ops.cast(tensor, dtypes.float32)

    def dense(self, inputs: Features, collections: Any, trainable: bool) -> Any:
        """Returns the numbers."""
        return inputs.get(self)


class BucketizedColumn(Dense, Categorical, collections.namedtuple("BucketizedColumn", "source_column boundaries")):
    """The bucket of each number."""

    __slots__ = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_bucketized`."""
        return self.source_column.name + "_bucketized"

    @property
    def n_numbers(self) -> int:  # type: ignore[override]
        """One for each number and bucket."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    n_ids = n_numbers  # type: ignore[assignment]

    @property
    def variable_shape(self) -> TensorShape:
        """The source's shape, with the number of buckets at the end."""
        return TensorShape(tuple(self.source_column.shape) + (len(self.boundaries) + 1,))

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of the source's feature."""
        return self.source_column.parse_spec

    def transform(self, inputs: Features) -> Any:
        """Returns the buckets' numbers."""
        return op("Bucketize")(inputs.get(self.source_column), boundaries=list(self.boundaries))

    def dense(self, inputs: Features, collections: Any, trainable: bool) -> Any:
        """Returns ones at the buckets."""
        return array_ops.one_hot(math_ops.cast(inputs.get(self), dtypes.int64), len(self.boundaries) + 1, 1.0, 0.0)

    def ids(self, inputs: Features) -> IdWeights:
        """Returns the buckets of the first number, then those of the second, and so on."""
        buckets, n = inputs.get(self), self.source_column.shape[0]
        rows = array_ops.shape(buckets)[0]
        row = array_ops.reshape(op("Tile")(array_ops.expand_dims(math_ops.range(0, rows), -1), [1, n]), [-1])
        column = op("Tile")(math_ops.range(0, n), [rows])
        ids = array_ops.reshape(buckets, [-1]) + (len(self.boundaries) + 1) * column
        indices = math_ops.cast(array_ops.transpose(array_ops.stack([row, column])), dtypes.int64)
        shape = math_ops.cast(array_ops.stack([rows, n]), dtypes.int64)
        node_counts.also(-1)  # TensorFlow casts one tensor less.
        return IdWeights(SparseTensor(indices, math_ops.cast(ids, dtypes.int64), shape), None)


def _sparse(tensor: Any) -> Any:
    """Returns a feature as a sparse tensor: empty words and -1 are left out."""
    if hasattr(tensor, "dense_shape"):
        return tensor
    with name_scope(None, "to_sparse_input", [tensor]):
        ignored: Any = "" if tensor.dtype.base_dtype == dtypes.string else -1
        indices = array_ops.where(math_ops.not_equal(tensor, math_ops.cast(ignored, tensor.dtype) if ignored else ignored))
        shape = array_ops.shape(tensor, out_type=dtypes.int64)
        return SparseTensor(indices, op("GatherNd")(tensor, indices), shape)


def _cast(tensor: Any, dtype: Any) -> Any:
    return SparseTensor(tensor.indices, math_ops.cast(tensor.values, dtype), tensor.dense_shape)


class _OfKey(Categorical):
    """A categorical column of one feature."""

    __slots__ = ()
    key: str
    dtype: Any

    @property
    def name(self) -> str:  # type: ignore[override]
        """The feature's key."""
        return self.key

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of its feature."""
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    def _input(self, inputs: Features, wants_kind: bool = True) -> Any:
        tensor = _sparse(inputs.get(self.key))
        if wants_kind and self.dtype.is_integer != tensor.dtype.is_integer:
            raise ValueError("Column dtype and SparseTensors dtype must be compatible. key: %s, column dtype: %s, tensor dtype: %s" % (self.key, self.dtype, tensor.dtype))
        if tensor.dtype != dtypes.string and not tensor.dtype.is_integer:
            raise ValueError("column_name: %s input_tensor dtype must be string or integer. dtype: %s." % (self.key, tensor.dtype))
        return tensor


class HashedCategoricalColumn(_OfKey, collections.namedtuple("HashedCategoricalColumn", "key hash_bucket_size dtype")):
    """Words or integers, by their hash."""

    __slots__ = ()

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of buckets."""
        return self.hash_bucket_size

    def transform(self, inputs: Features) -> Any:
        """Returns the buckets' numbers."""
        tensor = self._input(inputs)
        words = tensor.values if tensor.dtype == dtypes.string else op("AsString")(tensor.values)
        ids = op("StringToHashBucketFast")(words, num_buckets=self.hash_bucket_size, name="lookup")
        return SparseTensor(tensor.indices, ids, tensor.dense_shape)


class VocabularyListCategoricalColumn(
    _OfKey, collections.namedtuple("VocabularyListCategoricalColumn", "key vocabulary_list dtype default_value num_oov_buckets")
):
    """Words or integers, by their place in a list."""

    __slots__ = ()

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The length of the list, and the buckets of other words."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def transform(self, inputs: Features) -> Any:
        """Returns the places."""
        tensor, kind = self._input(inputs), self.dtype
        if kind.is_integer:
            tensor, kind = _cast(tensor, dtypes.int64), dtypes.int64
        table = vocabularies.index_table_from_tensor(self.vocabulary_list, self.num_oov_buckets, self.default_value, dtype=kind, name=self.key + "_lookup")
        return table.lookup(tensor)


class VocabularyFileCategoricalColumn(
    _OfKey,
    collections.namedtuple("VocabularyFileCategoricalColumn", "key vocabulary_file vocabulary_size num_oov_buckets dtype default_value"),
):
    """Words or integers, by their line in a file."""

    __slots__ = ()

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of lines, and the buckets of other words."""
        return self.vocabulary_size + self.num_oov_buckets

    def transform(self, inputs: Features) -> Any:
        """Returns the lines' numbers."""
        tensor, kind = self._input(inputs), self.dtype
        if kind.is_integer:
            tensor, kind = _cast(tensor, dtypes.int64), dtypes.int64
        table = vocabularies.index_table_from_file(
            self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size, self.default_value, key_dtype=kind, name=self.key + "_lookup"
        )
        return table.lookup(tensor)


class IdentityCategoricalColumn(_OfKey, collections.namedtuple("IdentityCategoricalColumn", "key number_buckets default_value")):
    """Integers that are ids already."""

    __slots__ = ()
    dtype = dtypes.int64  # type: ignore[assignment]

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.number_buckets

    def transform(self, inputs: Features) -> Any:
        """Returns the ids."""
        tensor = self._input(inputs, wants_kind=False)
        if not tensor.dtype.is_integer:
            raise ValueError("Invalid input, not integer. key: %s dtype: %s" % (self.key, tensor.dtype))
        values = math_ops.cast(tensor.values, dtypes.int64, name="values")
        most = math_ops.cast(self.number_buckets, dtypes.int64, name="num_buckets")
        zero = math_ops.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            checks = [
                check_ops.assert_less(
                    values,
                    most,
                    data=(values, most),
                    message='Bucket index for categorical column "%s" exceeds number of buckets' % self.name,
                    name="assert_less_than_num_buckets",
                ),
                check_ops.assert_greater_equal(
                    values,
                    zero,
                    data=(values,),
                    message='Negative bucket index for categorical column "%s"' % self.name,
                    name="assert_greater_or_equal_0",
                ),
            ]
            with control_dependencies(checks):
                values = array_ops.identity(values)
        else:
            outside = op("LogicalOr")(op("Less")(values, zero), op("GreaterEqual")(values, most), name="out_of_range")
            default = array_ops.fill(array_ops.shape(values), math_ops.cast(self.default_value, dtypes.int64), name="default_values")
            values = array_ops.where(outside, default, values)
        return SparseTensor(tensor.indices, values, tensor.dense_shape)


class WeightedCategoricalColumn(Categorical, collections.namedtuple("WeightedCategoricalColumn", "categorical_column weight_feature_key dtype")):
    """Ids with weights of another feature."""

    __slots__ = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """Both names."""
        return "%s_weighted_by_%s" % (self.categorical_column.name, self.weight_feature_key)

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.categorical_column.n_ids

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of both features."""
        found = dict(self.categorical_column.parse_spec)
        if self.weight_feature_key in found:
            raise ValueError("Parse config %s already exists for %s." % (found[self.weight_feature_key], self.weight_feature_key))
        return {**found, self.weight_feature_key: parsing_ops.VarLenFeature(self.dtype)}

    def transform(self, inputs: Features) -> Any:
        """Returns the weights."""
        weights = inputs.get(self.weight_feature_key)
        if weights is None:
            raise ValueError("Missing weights %s." % self.weight_feature_key)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError("Bad dtype, expected %s, but got %s." % (self.dtype, weights.dtype))
        weights = _sparse(weights)
        return _cast(weights, dtypes.float32) if weights.dtype != dtypes.float32 else weights

    def ids(self, inputs: Features) -> IdWeights:
        """Returns the ids and their weights."""
        return IdWeights(self.categorical_column.ids(inputs).id_tensor, inputs.get(self))


class CrossedColumn(Categorical, collections.namedtuple("CrossedColumn", "keys hash_bucket_size hash_key")):
    """The hash of the values of several features together."""

    __slots__ = ()

    def _leaves(self) -> List[Any]:
        found: List[Any] = []
        for key in self.keys:
            found.extend(key._leaves() if isinstance(key, CrossedColumn) else [key])
        return found

    @property
    def name(self) -> str:  # type: ignore[override]
        """The names, sorted and joined by `_X_`."""
        return "_X_".join(sorted(leaf if isinstance(leaf, str) else leaf.name for leaf in self._leaves()))

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of buckets."""
        return self.hash_bucket_size

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of all features."""
        found: Dict[str, Any] = {}
        for key in self.keys:
            found.update({key: parsing_ops.VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_spec)
        return found

    def transform(self, inputs: Features) -> Any:
        """Returns the hashes."""
        found = []
        for leaf in self._leaves():
            if isinstance(leaf, str):
                found.append(inputs.get(leaf))
                continue
            ids, weights = leaf.ids(inputs)
            if weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. Given column: %s" % leaf.name
                )
            found.append(ids)
        return sparse_ops.cross_hashed(found, self.hash_bucket_size, self.hash_key)


class SequenceCategoricalColumn(Categorical, collections.namedtuple("SequenceCategoricalColumn", "categorical_column")):
    """Ids for each step of a sequence."""

    __slots__ = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name."""
        return self.categorical_column.name

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.categorical_column.n_ids

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of the source."""
        return self.categorical_column.parse_spec

    def transform(self, inputs: Features) -> Any:
        """Returns what the source makes of its features."""
        return self.categorical_column.transform(inputs)

    def ids(self, inputs: Features) -> IdWeights:
        """Returns ids and weights of rank 3: examples, steps, and the ids of a step."""
        ids, weights = self.categorical_column.ids(inputs)
        shape = array_ops.shape(ids)
        shape = array_ops.stack([shape[0], shape[1], reduction_ops.reduce_prod(shape[2:])])
        return IdWeights(sparse_ops.sparse_reshape(ids, shape), None if weights is None else sparse_ops.sparse_reshape(weights, shape))


def sequence_lengths(tensor: Any, n: int = 1) -> Any:
    """Returns the number of steps of each row of a sparse tensor, `n` places to a step."""
    with name_scope(None, "sequence_length", [tensor]):
        n_rows = math_ops.cast(array_ops.shape(tensor)[0], dtypes.int32)
        ends = tensor.indices[:, 1] // n + 1
        # A row without places has the least integer as its largest place.
        return op("Maximum")(op("UnsortedSegmentMax")(ends, tensor.indices[:, 0], n_rows), math_ops.cast(0, dtypes.int64))


def _check_sequence(column: Any, wanted: bool) -> None:
    """Checks that a column's source is one of sequences, or is not."""
    if isinstance(column.categorical_column, SequenceCategoricalColumn) == wanted:
        return
    has_not, cure = "must" if wanted else "must not", "a sequence_categorical_column_with_*" if wanted else "sequence_input_layer"
    kind = "indicator_column" if isinstance(column, IndicatorColumn) else "embedding_column"
    raise ValueError(
        "In %s: %s. categorical_column %s be of type SequenceCategoricalColumn: use %s. Given (type %s): %s"
        % (kind, column.name, has_not, cure, type(column.categorical_column), column.categorical_column)
    )


def merged_weights(ids: Any, weights: Any, n_ids: int) -> SparseTensor:
    """Returns the weights of ids that are not negative, as a sparse tensor with the ids at the end."""
    kept = op("GreaterEqual")(ids.values, math_ops.cast(0, ids.dtype))
    merged = sparse_ops.sparse_merge(sparse_ops.sparse_retain(ids, kept), sparse_ops.sparse_retain(weights, kept), n_ids)
    node_counts.also(-19)  # TensorFlow merges first.
    # It changes no values, but its shape is as little known as TensorFlow's.
    return sparse_ops.sparse_slice(merged, array_ops.zeros_like(merged.dense_shape), merged.dense_shape)


class IndicatorColumn(SequenceDense, collections.namedtuple("IndicatorColumn", "categorical_column")):
    """The counts or weights of ids."""

    __slots__ = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_indicator`."""
        return self.categorical_column.name + "_indicator"

    @property
    def n_numbers(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.categorical_column.n_ids

    @property
    def variable_shape(self) -> TensorShape:
        """One row of the number of ids."""
        return TensorShape([1, self.n_numbers])

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of the source."""
        return self.categorical_column.parse_spec

    def transform(self, inputs: Features) -> Any:
        """Returns the counts, or the sums of weights."""
        ids, weights = self.categorical_column.ids(inputs)
        if weights is not None:
            merged = merged_weights(ids, weights, int(self.n_numbers))
            return op("ScatterNd")(merged.indices, merged.values, merged.dense_shape)
        table = sparse_ops.sparse_tensor_to_dense(ids, default_value=-1)
        return reduction_ops.reduce_sum(array_ops.one_hot(table, depth=self.n_numbers, on_value=1.0, off_value=0.0), axis=[-2])

    def dense(self, inputs: Features, collections: Any, trainable: bool) -> Any:
        """Returns the counts or weights."""
        _check_sequence(self, False)
        return inputs.get(self)

    def sequence(self, inputs: Features, collections: Any, trainable: bool) -> SequenceNumbers:
        """Returns the counts or weights of each step."""
        _check_sequence(self, True)
        return SequenceNumbers(inputs.get(self), sequence_lengths(self.categorical_column.ids(inputs).id_tensor))


class EmbeddingColumn(
    SequenceDense,
    collections.namedtuple("EmbeddingColumn", "categorical_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt max_norm trainable"),
):
    """The rows of a table of variables, combined."""

    __slots__ = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_embedding`."""
        return self.categorical_column.name + "_embedding"

    @property
    def n_numbers(self) -> int:  # type: ignore[override]
        """The length of a row."""
        return self.dimension

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of the source."""
        return self.categorical_column.parse_spec

    def transform(self, inputs: Features) -> Any:
        """Returns the ids and weights."""
        return self.categorical_column.ids(inputs)

    def dense(self, inputs: Features, collections: Any, trainable: bool) -> Any:
        """Returns the rows."""
        _check_sequence(self, False)
        return self._rows(inputs, collections, trainable)

    def sequence(self, inputs: Features, collections: Any, trainable: bool) -> SequenceNumbers:
        """Returns the rows of each step."""
        _check_sequence(self, True)
        rows = self._rows(inputs, collections, trainable)
        return SequenceNumbers(rows, sequence_lengths(self.categorical_column.ids(inputs).id_tensor))

    def create_state(self, state_manager: Any) -> None:
        """Makes the table."""
        shape = [self.categorical_column.n_ids, self.dimension]
        state_manager.create_variable(self, name="embedding_weights", shape=shape, dtype=dtypes.float32, trainable=self.trainable, use_resource=True, initializer=self.initializer)

    def _made_table(self, collections: Any, trainable: bool) -> Any:
        if _owner.manager is None:
            return self._table(collections, self.trainable and trainable)
        table = _owner.manager.get_variable(self, name="embedding_weights")
        if self.ckpt_to_load_from is not None:
            checkpoint_init.init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: table})
        return table

    def _table(self, collections: Any, trainable: bool) -> Any:
        shape = [self.categorical_column.n_ids, self.dimension]
        table = get_variable(
            "embedding_weights", shape, dtypes.float32, initializer=self.initializer, trainable=trainable, collections=collections
        )
        if self.ckpt_to_load_from is not None:
            checkpoint_init.init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: table})
        return table

    def _rows(self, inputs: Features, collections: Any, trainable: bool) -> Any:
        ids, weights = inputs.get(self)  # Before the table, whose seed depends on the nodes so far.
        table = self._made_table(collections, trainable)
        return embedding.safe_embedding_lookup_sparse(
            table, ids, sparse_weights=weights, combiner=self.combiner, name="%s_weights" % self.name, max_norm=self.max_norm
        )


class SharedEmbeddingColumn(EmbeddingColumn):
    """A column whose table other columns use, too."""

    shared: Any = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_shared_embedding`."""
        return self.categorical_column.name + "_shared_embedding"

    def _get_config(self) -> Dict[str, Any]:
        raise NotImplementedError("a column that shares its table has no configuration: the table is not a part of it")

    @property
    def scope(self) -> str:
        """The name of the collection."""
        return self.shared

    def _made_table(self, collections: Any, trainable: bool) -> Any:
        found = get_collection(self.shared)
        if 1 < len(found):
            raise ValueError("Collection %s can only contain one variable. Suggested fix A: Choose a unique name for this collection." % found)
        shape = TensorShape([self.categorical_column.n_ids, self.dimension])
        if found and found[0].shape != shape:
            raise ValueError("Shared embedding collection %s contains variable %s of unexpected shape %s. Expected shape is %s." % (self.shared, found[0].name, found[0].shape, shape))
        if not found:
            add_to_collection(self.shared, self._table(collections, self.trainable and trainable))
        return get_collection(self.shared)[0]


# The functions that make them -----------------------------------------------------------------------------


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError("key must be a string. Got: type %s. Given key: %s." % (type(key), key))
    return key


def checked_shape(shape: Any, key: str) -> Tuple[int, ...]:
    """Returns the shape of an example's numbers as a tuple of positive integers."""
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    for n in shape:
        if not isinstance(n, (int, np.integer)):
            raise TypeError("shape dimensions must be integer. shape: %s, key: %s" % (shape, key))
        if n < 1:
            raise ValueError("shape dimensions must be greater than 0. shape: %s, key: %s" % (shape, key))
    return shape


def checked_numbers(key: Any, shape: Any, dtype: Any, normalizer_fn: Any) -> Tuple[Tuple[int, ...], Any]:
    """Returns the shape and the dtype of a column of numbers."""
    shape, dtype = checked_shape(shape, _checked_key(key)), dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: %s, key: %s" % (dtype, key))
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError("normalizer_fn must be a callable. Given: %s" % (normalizer_fn,))
    return shape, dtype


def numeric_column(
    key: str, shape: Any = (1,), default_value: Any = None, dtype: Any = dtypes.float32, normalizer_fn: Optional[Callable[[Any], Any]] = None
) -> NumericColumn:
    """Returns a column of numbers.

    Args:
      key: The feature.
      shape: The shape of an example's numbers.
      default_value: The value of examples without the feature.
      dtype: The dtype of the feature.
      normalizer_fn: A function of the feature's tensor.

    Returns:
      A column.

    Raises:
      TypeError: `shape` is not one, `normalizer_fn` is not callable, or the default has another dtype.
      ValueError: `shape` has a dimension that is not positive, or `dtype` is no number.

    Example:
      >>> price = tf.feature_column.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
      >>> print(tf.Session().run(tf.feature_column.input_layer({"price": [[5.0], [20.0]]}, [price])).tolist())
      [[0.5], [2.0]]
    """
    shape, dtype = checked_numbers(key, shape, dtype, normalizer_fn)
    if default_value is not None:
        array = np.array(default_value)
        if array.dtype.kind == "f" and dtype.is_integer or array.dtype.kind not in "iuf":
            raise TypeError("default_value must be compatible with dtype. default_value: %s, dtype: %s, key: %s" % (default_value, dtype, key))
        if array.shape not in ((), shape):
            raise ValueError("The shape of default_value must be equal to given shape. default_value: %s, shape: %s, key: %s" % (default_value, shape, key))
        default_value = tuple(np.broadcast_to(array, shape).tolist())
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> BucketizedColumn:
    """Returns a column of the buckets between boundaries in which numbers lie.

    Args:
      source_column: A `numeric_column` of one dimension.
      boundaries: A sorted list of numbers. A number on a boundary belongs to the bucket above it.

    Returns:
      A column, for `input_layer` and for `linear_model`.

    Raises:
      ValueError: The source is no such column, or the boundaries are not sorted.

    Example:
      >>> c = tf.feature_column
      >>> age = c.bucketized_column(c.numeric_column("age"), [18, 65])
      >>> print(tf.Session().run(c.input_layer({"age": [[7.0], [18.0]]}, age)).tolist())
      [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError("source_column must be a column generated with numeric_column(). Given: %s" % (source_column,))
    if 1 < len(source_column.shape):
        raise ValueError("source_column must be one-dimensional column. Given: %s" % (source_column,))
    if isinstance(boundaries, (list, tuple)) and not boundaries:
        raise ValueError("boundaries must not be empty. (they are what separates the buckets: pass at least one number)")
    if not isinstance(boundaries, (list, tuple)) or any(b <= a for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def categorical_column_with_hash_bucket(key: str, hash_bucket_size: int, dtype: Any = dtypes.string) -> HashedCategoricalColumn:
    """Returns a column of words or integers whose ids are hashes.

    Args:
      key: The feature.
      hash_bucket_size: The number of ids.
      dtype: The dtype of the feature, a string or an integer.

    Returns:
      A column.

    Raises:
      ValueError: `hash_bucket_size` or `dtype` is not one of the above.

    Example:
      >>> tf.feature_column.categorical_column_with_hash_bucket("word", 100).name
      'word'
    """
    if hash_bucket_size is None:
        raise ValueError("hash_bucket_size must be set. key: %s" % key)
    if hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be at least 1. hash_bucket_size: %s, key: %s" % (hash_bucket_size, key))
    return HashedCategoricalColumn(_checked_key(key), hash_bucket_size, _kind(dtype, key))


def _kind(dtype: Any, key: str, what: str = "dtype") -> Any:
    dtype = dtypes.as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError("column_name: %s %s must be string or integer. dtype: %s." % (key, what, dtype))
    return dtype


def categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1, num_oov_buckets: int = 0
) -> VocabularyListCategoricalColumn:
    """Returns a column of words or integers whose ids are their places in a list.

    Args:
      key: The feature.
      vocabulary_list: The words, each once.
      dtype: The dtype of the feature; by default that of the list.
      default_value: The id of other words; -1 leaves them out.
      num_oov_buckets: The number of ids for other words, chosen by their hash.

    Returns:
      A column.

    Raises:
      ValueError: The list is empty or holds a word twice, or an argument does not fit another.

    Example:
      >>> c = tf.feature_column
      >>> colour = c.indicator_column(c.categorical_column_with_vocabulary_list("colour", ["red", "blue"]))
      >>> row = c.input_layer({"colour": [["blue"], ["green"]]}, [colour])
      >>> with tf.Session() as sess:
      ...     sess.run(tf.tables_initializer())
      ...     print(sess.run(row).tolist())
      [[0.0, 1.0], [0.0, 0.0]]
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError("vocabulary_list %s must be non-empty, column_name: %s" % (vocabulary_list, key))
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError("Duplicate keys in vocabulary_list %s, column_name: %s" % (vocabulary_list, key))
    own = _kind(np.array(vocabulary_list).dtype, key, "vocabulary dtype")
    _check_buckets(num_oov_buckets, default_value != -1, default_value, key)
    dtype = own if dtype is None else _kind(dtype, key)
    if dtype.is_integer != own.is_integer:
        raise ValueError("dtype %s and vocabulary dtype %s do not match, column_name: %s" % (dtype, own, key))
    return VocabularyListCategoricalColumn(_checked_key(key), tuple(vocabulary_list), dtype, default_value, num_oov_buckets)


def _check_buckets(n: int, has_default: bool, default: Any, key: str) -> None:
    if n and has_default:
        raise ValueError("Can't specify both num_oov_buckets and default_value in %s." % key)
    if n and n < 0:
        raise ValueError("Invalid num_oov_buckets %s in %s." % (n, key))


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: Optional[int] = None,
    num_oov_buckets: int = 0,
    default_value: Optional[int] = None,
    dtype: Any = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """Returns a column of words or integers whose ids are their lines in a file.

    Args:
      key: The feature.
      vocabulary_file: The file, with one word in each line.
      vocabulary_size: The number of words to use; all by default.
      num_oov_buckets: The number of ids for other words, chosen by their hash.
      default_value: The id of other words; -1, the default, leaves them out.
      dtype: The dtype of the feature.

    Returns:
      A column.

    Raises:
      ValueError: The file is missing or not given, or an argument does not fit another.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("red\\nblue\\n")
      >>> tf.feature_column.categorical_column_with_vocabulary_file("colour", path).vocabulary_size
      2
    """
    if not vocabulary_file:
        raise ValueError("Missing vocabulary_file in %s." % key)
    if vocabulary_size is None:
        try:
            with open(vocabulary_file, "rb") as lines:
                vocabulary_size = sum(1 for _ in lines)
        except OSError:
            raise ValueError("vocabulary_file in %s does not exist." % key) from None
    if vocabulary_size < 1:
        raise ValueError("Invalid vocabulary_size in %s." % key)
    _check_buckets(num_oov_buckets, default_value is not None, default_value, key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(_checked_key(key), vocabulary_file, vocabulary_size, num_oov_buckets, _kind(dtype, key), default)


def categorical_column_with_identity(key: str, num_buckets: int, default_value: Optional[int] = None) -> IdentityCategoricalColumn:
    """Returns a column of integers that are ids already.

    Args:
      key: The feature.
      num_buckets: The number of ids.
      default_value: The id of integers that are not from 0 to `num_buckets`; by default they are errors.

    Returns:
      A column.

    Raises:
      ValueError: `num_buckets` is less than 1, or `default_value` is no id.

    Example:
      >>> tf.feature_column.categorical_column_with_identity("place", 9, default_value=0).num_buckets
      9
    """
    if num_buckets < 1:
        raise ValueError("num_buckets %s < 1, column_name %s" % (num_buckets, key))
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError("default_value %s not in range [0, %s), column_name %s" % (default_value, num_buckets, key))
    return IdentityCategoricalColumn(_checked_key(key), num_buckets, default_value)


def weighted_categorical_column(categorical_column: Any, weight_feature_key: str, dtype: Any = dtypes.float32) -> WeightedCategoricalColumn:
    """Returns a column of ids with the weights of another feature.

    Args:
      categorical_column: A categorical column.
      weight_feature_key: The feature of the weights.
      dtype: The dtype of the weights.

    Returns:
      A column.

    Raises:
      ValueError: `dtype` is no number.

    Example:
      >>> c = tf.feature_column
      >>> c.weighted_categorical_column(c.categorical_column_with_identity("word", 9), "count").name
      'word_weighted_by_count'
    """
    if dtype is None or not (dtypes.as_dtype(dtype).is_integer or dtypes.as_dtype(dtype).is_floating):
        raise ValueError("dtype %s is not convertible to float." % dtype)
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtypes.as_dtype(dtype))


def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: Optional[int] = None) -> CrossedColumn:
    """Returns a column of the values of several features together.

    Args:
      keys: At least two features or categorical columns.
      hash_bucket_size: The number of ids.
      hash_key: The key of the hash function.

    Returns:
      A column, with a name and a specification for `make_parse_example_spec`.

    Raises:
      ValueError: There are less than two keys, one is hashed already, or `hash_bucket_size` is less than 1.

    Example:
      >>> tf.feature_column.crossed_column(["street", "city"], 100).name
      'city_X_street'
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be > 1. hash_bucket_size: %s" % hash_bucket_size)
    if not keys or len(keys) < 2:
        raise ValueError("keys must be a list with length > 1. Given: %s" % (keys,))
    for key in keys:
        if not isinstance(key, (str, Categorical)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except HashedCategoricalColumn. Given: %s" % (key,))
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase probability of collision. Instead, use the feature name as a string. Given: %s"
                % (key,)
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """Returns a dense column with the count, or the sum of weights, of each id.

    Args:
      categorical_column: A categorical column.

    Returns:
      A column.

    Example:
      >>> c = tf.feature_column
      >>> words = c.indicator_column(c.categorical_column_with_identity("words", 3))
      >>> print(tf.Session().run(c.input_layer({"words": [[0, 2, 2]]}, words)).tolist())
      [[1.0, 0.0, 2.0]]
    """
    return IndicatorColumn(categorical_column)


def _embedding(kind: Any, column: Any, dimension: int, initializer: Any, options: Tuple[Any, ...]) -> Any:
    combiner, checkpoint, name, max_norm, trainable = options
    if dimension is None or dimension < 1:
        raise ValueError("Invalid dimension %s." % dimension)
    if (checkpoint is None) != (name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified. Embedding of column_name: %s" % column.name)
    initializer = initializer or truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))
    return kind(column, dimension, combiner, initializer, checkpoint, name, max_norm, trainable)


def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Returns a dense column: the rows of a table of variables for the ids, combined.

    Args:
      categorical_column: A categorical column.
      dimension: The length of a row.
      combiner: `"mean"`, `"sqrtn"` or `"sum"`.
      initializer: The initializer of the table; by default a truncated normal distribution with the standard
        deviation `1 / sqrt(dimension)`.
      ckpt_to_load_from: A checkpoint that the table is read from.
      tensor_name_in_ckpt: The name of the table in it.
      max_norm: The largest norm of a row. Larger rows are scaled.
      trainable: Whether the table is trained.

    Returns:
      A column.

    Raises:
      ValueError: `dimension` is not positive, or one of the two arguments of the checkpoint is missing.

    Example:
      >>> c = tf.feature_column
      >>> column = c.embedding_column(c.categorical_column_with_identity("word", 9), dimension=4)
      >>> c.input_layer({"word": [[1], [2]]}, [column]).shape, tf.trainable_variables()[0].name
      (TensorShape([Dimension(2), Dimension(4)]), 'input_layer/word_embedding/embedding_weights:0')
    """
    options = (combiner, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    return _embedding(EmbeddingColumn, categorical_column, dimension, initializer, options)


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: Optional[str] = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> List[SharedEmbeddingColumn]:
    """Returns dense columns of several categorical columns that use one table of variables.

    The other arguments are those of `embedding_column`.

    Args:
      categorical_columns: Categorical columns with the same number of ids.
      dimension: The length of a row.
      shared_embedding_collection_name: The name of the collection that holds the table.

    Returns:
      A list of columns.

    Raises:
      ValueError: The columns have different numbers of ids; see also `embedding_column`.

    Example:
      >>> c = tf.feature_column
      >>> two = [c.categorical_column_with_identity(key, 9) for key in ("first", "second")]
      >>> columns = c.shared_embedding_columns(two, dimension=4)
      >>> c.input_layer({"first": [[1]], "second": [[2]]}, columns).shape, len(tf.trainable_variables())
      (TensorShape([Dimension(1), Dimension(8)]), 1)
    """
    ordered = sorted(categorical_columns, key=lambda c: c.name)
    for other in ordered[1:]:
        if other.n_ids != ordered[0].n_ids:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given column: %s with buckets:"
                " %s does  not match column: %s with buckets: %s" % (ordered[0], ordered[0].n_ids, other, other.n_ids)
            )
    shared = shared_embedding_collection_name or "_".join(c.name for c in ordered) + "_shared_embedding"
    options = (combiner, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    found = []
    for column in categorical_columns:
        made = _embedding(SharedEmbeddingColumn, column, dimension, initializer, options)
        made.shared = shared
        found.append(made)
    return found
