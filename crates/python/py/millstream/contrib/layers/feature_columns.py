"""The columns of `tf.contrib.layers`: how `tf.contrib.learn` names numbers and words among features.

A column is a named tuple with `name`; `key`, a text that sorts columns; `config`, its features for
`tf.parse_example`; and `insert_transformed_feature`, which adds its tensor to a dict of tensors. The
functions of `feature_column_ops` make inputs and models of them. `tf.feature_column` takes them, too.
"""

from __future__ import annotations

import collections
import collections.abc
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream.contrib.framework.variables import model_variable
from millstream.contrib.layers.embeddings import safe_embedding_lookup_sparse
from millstream.feature_column.columns import Categorical, Dense, IdWeights, merged_weights
from millstream.framework import SparseTensor, add_to_collection, convert_to_tensor, dtypes, get_collection, logging, nest, node_counts, placeholder
from millstream.framework.composites import sparse_placeholder
from millstream.framework.op_functions import op
from millstream.io import parsing_ops, vocabularies
from millstream.ops import array_ops, math_ops, reduction_ops, sparse_ops
from millstream.train import checkpoint_init
from millstream.variables.initializers import truncated_normal_initializer

__all__ = [
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "embedding_column",
    "make_place_holder_tensors_for_base_features",
    "one_hot_column",
    "real_valued_column",
    "shared_embedding_columns",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]

# The ids of a column in a linear model, their weights or None, their number, and how weights are combined.
LinearIds = collections.namedtuple("LinearIds", "ids weights n_ids combiner")


class Tensors:
    """A dict of tensors by features and columns. It makes the tensor of a column that it does not have."""

    def __init__(self, tensors: Dict[Any, Any]) -> None:
        self.tensors = tensors

    def get(self, key: Any) -> Any:
        """Returns the tensor of a feature or a column."""
        if key not in self.tensors:
            if isinstance(key, str):
                there = ", ".join(sorted(k for k in self.tensors if isinstance(k, str)))
                raise ValueError("features dictionary doesn't contain key (%s): it has %s" % (key, there))
            key.insert_transformed_feature(self.tensors)
        return self.tensors[key]


def inner_flatten(tensor: Any, rank: int) -> Any:
    """Returns a dense or sparse tensor of a rank, by joining its last dimensions."""
    with node_counts.counted_as(16):
        return _joined(tensor, rank)


def _joined(tensor: Any, rank: int) -> Any:
    if isinstance(tensor, SparseTensor):
        outer = tensor.dense_shape[: rank - 1]
        inner = reduction_ops.reduce_prod(tensor.dense_shape[rank - 1 :], keepdims=True)
        return sparse_ops.sparse_reshape(tensor, array_ops.concat([outer, inner], 0))
    known = tensor.shape
    if known.ndims is not None and known[: rank - 1].is_fully_defined():
        return array_ops.reshape(tensor, known[: rank - 1].as_list() + [-1])
    flat = array_ops.reshape(tensor, array_ops.concat([array_ops.shape(tensor)[: rank - 1], [-1]], 0))
    if known.ndims is not None:
        flat.set_shape(known[: rank - 1].concatenate([known[rank - 1 :].num_elements()]))
    return flat


def _of_rank(tensor: Any, rank: int, name: str) -> Any:
    """Returns a dense tensor of a rank: with a new last dimension, or with the last ones joined."""
    had = tensor.shape.ndims
    if had is not None and had + 1 < rank:
        raise ValueError(
            "Error while processing column %s. Rank of input Tensor (%d) should be the same as output_rank (%d): sequences have rank 3, others rank 2."
            % (name, had, rank)
        )
    if had is not None and had + 1 == rank:
        logging.warning("Column %s: a tensor of rank %d gets a last dimension; give it rank %d", name, had, rank)
        return array_ops.expand_dims(tensor, -1, name="expand_dims")
    return tensor if had == rank else inner_flatten(tensor, rank)


class _FeatureColumn:
    """What the columns have in common."""

    __slots__ = ()
    _outside_key: Tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """A text that sorts columns: the class and the fields."""
        if not self._outside_key:
            return str(self)
        pairs = ["%s=%s" % pair for pair in zip(self._fields, self) if pair[0] not in self._outside_key]  # type: ignore[attr-defined,call-overload]
        return "%s(%s)" % (type(self).__name__, ", ".join(pairs))

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of its features for `tf.parse_example`."""
        raise NotImplementedError

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of its features."""
        return self.config

    def insert_transformed_feature(self, columns_to_tensors: Dict[Any, Any]) -> None:
        """Adds the column's tensor to a dict of tensors."""
        columns_to_tensors[self] = self.transform(Tensors(columns_to_tensors))  # type: ignore[attr-defined]

    def input(self, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
        """Returns the numbers of the column, of a rank."""
        raise ValueError("%s is not supported in DNN: use embedding_column or one_hot_column. column: %s" % (type(self).__name__.strip("_"), self))

    def linear_ids(self, tensor: Any) -> LinearIds:
        """Returns the ids of the column for a linear model."""
        raise NotImplementedError("No wide embedding lookup arguments for column %s." % (self,))

    def numbers(self, tensor: Any) -> Any:
        """Returns the numbers of the column for a linear model."""
        raise NotImplementedError("No dense tensor representation for column %s." % (self,))

    def checkpoint(self) -> Optional[Tuple[str, str]]:
        """The checkpoint that the column's variable is read from, and the name in it; or None."""
        return None


class _OfIds(_FeatureColumn, Categorical):
    """A column of ids."""

    __slots__ = ()
    length: int

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.length

    def id_tensor(self, input_tensor: Any) -> Any:
        """Returns the ids in the column's tensor."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """Returns the weights in the column's tensor, or None."""
        return None

    def ids(self, inputs: Any) -> IdWeights:
        """Returns the ids and their weights, or None."""
        made = inputs.get(self)
        return IdWeights(self.id_tensor(made), self.weight_tensor(made))


def _of_numbers(tensor: Any, ignored: Any = None) -> SparseTensor:
    """Returns the elements of a tensor that are not `ignored`, by default the empty text or 0."""
    if ignored is None:
        ignored = "" if tensor.dtype == dtypes.string else 0
    kept = array_ops.where(op("NotEqual")(tensor, convert_to_tensor(ignored, tensor.dtype)))
    return SparseTensor(kept, op("GatherNd")(tensor, kept), math_ops.cast(array_ops.shape(tensor), dtypes.int64))


# Words and integers --------------------------------------------------------------------------------------


class _SparseIdLookupConfig(collections.namedtuple("_SparseIdLookupConfig", "vocabulary_file keys num_oov_buckets vocab_size default_value")):
    """The words of a column, or the file that has them."""

    __slots__ = ()


class _SparseColumn(_OfIds, collections.namedtuple("_SparseColumn", "column_name is_integerized bucket_size lookup_config combiner dtype")):
    """Words or integers of a feature."""

    @property
    def name(self) -> str:  # type: ignore[override]
        """The feature's key."""
        return self.column_name

    @property
    def length(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.bucket_size if self.bucket_size is not None else self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of its feature."""
        return {self.column_name: parsing_ops.VarLenFeature(self.dtype)}

    def linear_ids(self, tensor: Any) -> LinearIds:
        """Returns the ids."""
        return LinearIds(self.id_tensor(tensor), self.weight_tensor(tensor), self.length, self.combiner)

    def is_compatible(self, other: "_SparseColumn") -> bool:
        """Whether two columns may have one table of embeddings."""
        if self.lookup_config and other.lookup_config:
            return self.lookup_config == other.lookup_config
        alike = self.length == other.length and (self.dtype == other.dtype or (self.dtype.is_integer and other.dtype.is_integer))
        if alike:
            logging.warn("Columns %s and %s may have different words.", self.name, other.name)
        return alike

    def transform(self, inputs: Any) -> SparseTensor:
        """Returns the ids. Empty words and -1 are left out of a dense feature."""
        tensor = inputs.get(self.name)
        if not isinstance(tensor, SparseTensor):
            tensor = convert_to_tensor(tensor)
            tensor = _of_numbers(_of_rank(tensor, 2, self.name), None if tensor.dtype == dtypes.string else -1)
        return self._ids(tensor)

    def _ids(self, tensor: SparseTensor) -> SparseTensor:
        raise NotImplementedError

    def _words(self, tensor: SparseTensor) -> Any:
        return op("AsString")(tensor.values) if self.dtype.is_integer else tensor.values


def _sparse_column(kind: Any, name: str, combiner: str, dtype: Any, size: Optional[int] = None, words: Any = None, integerized: bool = False) -> Any:
    dtype = dtypes.as_dtype(dtype)
    if integerized and not dtype.is_integer:
        raise ValueError("dtype must be an integer if is_integerized is True. dtype: %s, column_name: %s." % (dtype, name))
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError("dtype must be string or integer. dtype: %s, column_name: %s" % (dtype, name))
    if words is None and size is None:
        which = "bucket_size must be set if is_integerized is True" if integerized else "one of bucket_size or lookup_config must be set"
        raise ValueError("%s. column_name: %s" % (which, name))
    if size is not None and size < 1:
        raise ValueError("bucket_size must be at least 1. bucket_size: %s, column_name: %s" % (size, name))
    return kind(name, integerized, size, words, combiner, dtype)


class _SparseColumnIntegerized(_SparseColumn):
    def _ids(self, tensor: SparseTensor) -> SparseTensor:
        return SparseTensor(tensor.indices, op("FloorMod")(tensor.values, convert_to_tensor(self.bucket_size, tensor.dtype), name="mod"), tensor.dense_shape)


class _SparseColumnHashed(_SparseColumn):
    hash_keys: Optional[List[List[int]]] = None

    def _ids(self, tensor: SparseTensor) -> SparseTensor:
        words = self._words(tensor)
        if not self.hash_keys:
            ids = op("StringToHashBucketFast")(words, num_buckets=self.bucket_size, name="lookup")
            return SparseTensor(tensor.indices, ids, tensor.dense_shape)
        every = [op("StringToHashBucketStrong")(words, num_buckets=self.bucket_size, key=key) for key in self.hash_keys]
        return sparse_ops.sparse_concat(1, [SparseTensor(tensor.indices, ids, tensor.dense_shape) for ids in every], name="lookup")


class _SparseColumnKeys(_SparseColumn):
    def _ids(self, tensor: SparseTensor) -> SparseTensor:
        words = self.lookup_config
        return vocabularies.index_table_from_tensor(list(words.keys), default_value=words.default_value, dtype=self.dtype, name="lookup").lookup(tensor)


class _SparseColumnVocabulary(_SparseColumn):
    def _ids(self, tensor: SparseTensor) -> SparseTensor:
        words = self.lookup_config
        table = vocabularies.index_table_from_file(
            words.vocabulary_file, words.num_oov_buckets, words.vocab_size, words.default_value, name=self.name + "_lookup"
        )
        return table.lookup(SparseTensor(tensor.indices, self._words(tensor), tensor.dense_shape))


def sparse_column_with_integerized_feature(column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64) -> Any:
    """Returns a column of integers that are ids already, modulo the number of ids.

    Args:
      column_name: The key of the feature.
      bucket_size: The number of ids.
      combiner: How a linear model combines the weights of an example's ids: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The dtype of the feature.

    Raises:
      ValueError: `bucket_size` is not positive, or the dtype is no integer.

    Example:
      >>> tf.contrib.layers.sparse_column_with_integerized_feature("place", 9).length
      9
    """
    return _sparse_column(_SparseColumnIntegerized, column_name, combiner, dtype, bucket_size, integerized=True)


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.string, hash_keys: Optional[List[List[int]]] = None
) -> Any:
    """Returns a column of words or integers whose ids are hashes.

    Args:
      column_name: The key of the feature.
      hash_bucket_size: The number of ids.
      combiner: How a linear model combines the weights of an example's ids: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The dtype of the feature.
      hash_keys: A list of pairs of integers: a word gets an id for each, by a hash with this key.

    Raises:
      ValueError: `hash_bucket_size`, `dtype` or `hash_keys` is not one of the above.

    Example:
      >>> tf.contrib.layers.sparse_column_with_hash_bucket("word", 100).name
      'word'
    """
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in hash_keys)
        if not pairs or not all(isinstance(n, int) for n in nest.flatten(hash_keys)):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
    made = _sparse_column(_SparseColumnHashed, column_name, combiner, dtype, hash_bucket_size)
    made.hash_keys = hash_keys
    return made


def sparse_column_with_keys(column_name: str, keys: Sequence[Any], default_value: int = -1, combiner: str = "sum", dtype: Any = dtypes.string) -> Any:
    """Returns a column of words or integers whose ids are their places in a list.

    Args:
      column_name: The key of the feature.
      keys: The words.
      default_value: The id of other words; -1 leaves them out.
      combiner: How a linear model combines the weights of an example's ids: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The dtype of the feature.

    Raises:
      ValueError: The dtype is not of words or integers.

    Example:
      >>> tf.contrib.layers.sparse_column_with_keys("colour", ["red", "blue"]).length
      2
    """
    keys = tuple(keys)
    words = _SparseIdLookupConfig(None, keys, 0, len(keys), default_value)
    return _sparse_column(_SparseColumnKeys, column_name, combiner, dtype, words=words)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: Optional[int] = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> Any:
    """Returns a column of words or integers whose ids are their lines in a file.

    Args:
      column_name: The key of the feature.
      vocabulary_file: The file, with one word in each line.
      num_oov_buckets: The number of ids for other words, chosen by their hash.
      vocab_size: The number of words to use.
      default_value: The id of other words; -1 leaves them out.
      combiner: How a linear model combines the weights of an example's ids: `"sum"`, `"mean"` or `"sqrtn"`.
      dtype: The dtype of the feature.

    Raises:
      ValueError: `vocab_size` is missing, or the dtype is not of words or integers.

    Example:
      >>> tf.contrib.layers.sparse_column_with_vocabulary_file("word", "words.txt", 2, vocab_size=7).length
      9
    """
    if vocab_size is None:
        raise ValueError("vocab_size should be defined. column_name: %s" % column_name)
    words = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return _sparse_column(_SparseColumnVocabulary, column_name, combiner, dtype, words=words)


class _WeightedSparseColumn(_OfIds, collections.namedtuple("_WeightedSparseColumn", "sparse_id_column weight_column_name dtype")):
    @property
    def name(self) -> str:  # type: ignore[override]
        """Both names."""
        return "%s_weighted_by_%s" % (self.sparse_id_column.name, self.weight_column_name)

    @property
    def length(self) -> int:  # type: ignore[override]
        """The number of ids."""
        return self.sparse_id_column.length

    @property
    def lookup_config(self) -> Any:
        """The words."""
        return self.sparse_id_column.lookup_config

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of both features."""
        return {**feature_config(self.sparse_id_column), self.weight_column_name: parsing_ops.VarLenFeature(self.dtype)}

    def id_tensor(self, input_tensor: Any) -> Any:
        """Returns the ids."""
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        """Returns the weights."""
        return input_tensor[1]

    def linear_ids(self, tensor: Any) -> LinearIds:
        """Returns the ids and their weights."""
        return LinearIds(tensor[0], tensor[1], self.length, self.sparse_id_column.combiner)

    def is_compatible(self, other: Any) -> bool:
        """Whether two columns may have one table of embeddings."""
        return self.sparse_id_column.is_compatible(other.sparse_id_column if isinstance(other, _WeightedSparseColumn) else other)

    def transform(self, inputs: Any) -> Tuple[SparseTensor, SparseTensor]:
        """Returns the ids and their weights."""
        ids, weights = inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            weights = _of_numbers(convert_to_tensor(weights))
        if not self.dtype.is_floating:
            weights = SparseTensor(weights.indices, math_ops.cast(weights.values, dtypes.float32), weights.dense_shape)
        return ids, weights


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32) -> Any:
    """Returns a column of ids with the weights of another feature.

    Args:
      sparse_id_column: A column of ids.
      weight_column_name: The key of the feature of the weights.
      dtype: The dtype of the weights.

    Raises:
      ValueError: The dtype is no number.

    Example:
      >>> words = tf.contrib.layers.sparse_column_with_hash_bucket("word", 100)
      >>> tf.contrib.layers.weighted_sparse_column(words, "count").name
      'word_weighted_by_count'
    """
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype is not convertible to float. Given %s" % dtype)
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


# Numbers of ids ------------------------------------------------------------------------------------------


class _OneHotColumn(_FeatureColumn, Dense, collections.namedtuple("_OneHotColumn", "sparse_id_column")):
    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_one_hot`."""
        return self.sparse_id_column.name + "_one_hot"

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.sparse_id_column.length

    n_numbers = length  # type: ignore[assignment]

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of the source."""
        return feature_config(self.sparse_id_column)

    def transform(self, inputs: Any) -> Any:
        """Returns the source's tensor."""
        return inputs.get(self.sparse_id_column)

    def input(self, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
        """Returns the counts of ids, or the sums of their weights."""
        ids, weights = inner_flatten(self.sparse_id_column.id_tensor(tensor), rank), self.sparse_id_column.weight_tensor(tensor)
        if weights is None:
            table = sparse_ops.sparse_tensor_to_dense(ids, default_value=-1)
            return reduction_ops.reduce_sum(array_ops.one_hot(table, depth=self.length, on_value=1.0, off_value=0.0), axis=[rank - 1])
        table = sparse_ops.sparse_tensor_to_dense(merged_weights(ids, weights, self.length))
        return array_ops.reshape(table, array_ops.concat([array_ops.shape(table)[:-1], [self.length]], 0))

    def dense(self, inputs: Any, collections: Any, trainable: bool) -> Any:
        """Returns the counts of ids, or the sums of their weights."""
        return self.input(inputs.get(self), collections, trainable, 2)


def one_hot_column(sparse_id_column: Any) -> Any:
    """Returns a column with the count, or the sum of weights, of each id.

    Args:
      sparse_id_column: A column of ids.

    Example:
      >>> layers = tf.contrib.layers
      >>> words = layers.one_hot_column(layers.sparse_column_with_integerized_feature("word", 3))
      >>> row = layers.input_from_feature_columns({"word": tf.constant([[0, 2]], tf.int64)}, [words])
      >>> print(tf.Session().run(row).tolist())
      [[1.0, 0.0, 1.0]]
    """
    return _OneHotColumn(sparse_id_column)


class _EmbeddingColumn(
    _FeatureColumn,
    Dense,
    collections.namedtuple(
        "_EmbeddingColumn",
        "sparse_id_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt shared_embedding_name shared_vocab_size max_norm trainable",
    ),
):
    _outside_key = ("initializer",)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_embedding` or `_shared_embedding`."""
        return self.sparse_id_column.name + ("_embedding" if self.shared_embedding_name is None else "_shared_embedding")

    @property
    def length(self) -> int:
        """The number of rows of the table."""
        return self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def n_numbers(self) -> int:  # type: ignore[override]
        """The length of a row."""
        return self.dimension

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of the source."""
        return feature_config(self.sparse_id_column)

    def checkpoint(self) -> Optional[Tuple[str, str]]:
        """The checkpoint that the table is read from, and its name there; or None."""
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def transform(self, inputs: Any) -> Any:
        """Returns the source's tensor."""
        return inputs.get(self.sparse_id_column)

    def linear_ids(self, tensor: Any) -> LinearIds:
        """Raises an error: a linear model takes the source."""
        raise ValueError("Column %s is not supported in linear models. Please use sparse_column." % (self,))

    def input(self, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
        """Returns the rows of the ids, combined."""
        ids, weights = self.sparse_id_column.id_tensor(tensor), self.sparse_id_column.weight_tensor(tensor)
        ids, weights = inner_flatten(ids, rank), None if weights is None else inner_flatten(weights, rank)
        table = parts(self._table(collections, trainable and self.trainable))
        restore(self.checkpoint(), table)
        return safe_embedding_lookup_sparse(
            table,
            ids,
            sparse_weights=weights,
            combiner=self.combiner,
            name=self.name + "weights",
            max_norm=self.max_norm,
        )

    def _table(self, collections: Any, trainable: bool) -> Any:
        shape, shared = [self.length, self.dimension], self.shared_embedding_name
        key = None if shared is None else "SHARED_EMBEDDING_COLLECTION_" + shared.upper()
        found = [] if key is None else get_collection(key)
        if not found:
            made = model_variable(shared or "weights", shape, dtypes.float32, initializer=self.initializer, trainable=trainable, collections=collections)
            if key is not None:
                add_to_collection(key, made)
            return made
        if 1 < len(found):
            raise ValueError("Collection %s can only contain one (partitioned) variable." % key)
        if found[0].shape.as_list() != shape:
            raise ValueError(
                "The embedding variable with name %s has shape %s, and this column wants %s: give different tables different values of shared_embedding_name."
                % (shared, found[0].shape, shape)
            )
        return found[0]

    def dense(self, inputs: Any, collections: Any, trainable: bool) -> Any:
        """Returns the rows of the ids, combined."""
        return self.input(inputs.get(self), collections, trainable, 2)


def parts(variable: Any) -> List[Any]:
    """Returns the parts of a variable, one if it is whole."""
    return variable._get_variable_list() if hasattr(variable, "_get_variable_list") else [variable]


def restore(checkpoint: Optional[Tuple[str, str]], variables: List[Any]) -> None:
    """Makes the initializer of a variable read a checkpoint, if there is one."""
    if checkpoint is not None:
        path, name = checkpoint
        checkpoint_init.init_from_checkpoint(path, {name: variables[0] if len(variables) == 1 else variables})


def _embedding(column: Any, initializer: Any, checkpoint: Any, name: Any, make: Callable[[Any], Any]) -> Any:
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified. Embedding of column_name: %s" % column.name)
    if (checkpoint is None) != (name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is None:
        initializer = truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(column.length))
    return make(initializer)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> Any:
    """Returns a column of rows of a table of variables for the ids, combined.

    Args:
      sparse_id_column: A column of ids.
      dimension: The length of a row.
      combiner: `"mean"`, `"sqrtn"` or `"sum"`.
      initializer: The initializer of the table; by default a truncated normal distribution with the standard
        deviation `1 / sqrt(length)`.
      ckpt_to_load_from: A checkpoint that the table is read from.
      tensor_name_in_ckpt: The name of the table in it.
      max_norm: The largest norm of a row. Larger rows are scaled.
      trainable: Whether the table is trained.

    Raises:
      ValueError: The initializer is no function, or one of the two arguments of the checkpoint is missing.

    Example:
      >>> layers = tf.contrib.layers
      >>> words = layers.embedding_column(layers.sparse_column_with_integerized_feature("word", 9), 4)
      >>> layers.input_from_feature_columns({"word": tf.constant([[1], [2]], tf.int64)}, [words]).shape
      TensorShape([Dimension(2), Dimension(4)])
    """
    options = (ckpt_to_load_from, tensor_name_in_ckpt, None, None, max_norm, trainable)
    return _embedding(
        sparse_id_column,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        lambda initializer: _EmbeddingColumn(sparse_id_column, dimension, combiner, initializer, *options),
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: Optional[str] = None,
    initializer: Any = None,
    ckpt_to_load_from: Optional[str] = None,
    tensor_name_in_ckpt: Optional[str] = None,
    max_norm: Optional[float] = None,
    trainable: bool = True,
) -> Any:
    """Returns columns of several columns of ids that use one table of variables.

    The other arguments are those of `embedding_column`.

    Args:
      sparse_id_columns: Columns of ids with the same words.
      dimension: The length of a row.
      shared_embedding_name: The name of the table; by default it is made of the columns' names.

    Raises:
      TypeError: The columns are no list, or one is not of words or integers.
      ValueError: There is no column, or they have different words; see also `embedding_column`.

    Example:
      >>> layers = tf.contrib.layers
      >>> two = [layers.sparse_column_with_integerized_feature(key, 9) for key in ("first", "second")]
      >>> [column.name for column in layers.shared_embedding_columns(two, 4)]
      ['first_shared_embedding', 'second_shared_embedding']
    """
    if not isinstance(sparse_id_columns, collections.abc.Sequence) or isinstance(sparse_id_columns, str):
        raise TypeError("sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type %s." % type(sparse_id_columns))
    if len(sparse_id_columns) < 1:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError("Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but %s is not." % (column,))
    first, n_rows = sparse_id_columns[0], None
    if 1 < len(sparse_id_columns):
        if not all((first.is_compatible(c) if isinstance(first, _WeightedSparseColumn) else c.is_compatible(first)) for c in sparse_id_columns[1:]):
            raise ValueError("The input sparse id columns are not compatible.")
        n_rows = first.length
        shared_embedding_name = shared_embedding_name or _shared_name(sparse_id_columns)
    made = []
    for column in sparse_id_columns:
        options = (ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_name, n_rows, max_norm, trainable)

        def make(initializer: Any, column: Any = column, options: Any = options) -> Any:
            return _EmbeddingColumn(column, dimension, combiner, initializer, *options)

        made.append(_embedding(column, initializer, ckpt_to_load_from, tensor_name_in_ckpt, make))
    return made if len(made) == 1 else tuple(made)


def _shared_name(columns: Sequence[Any]) -> str:
    """Returns the names of up to three columns, those without weights first, and the number of others."""
    names = [c.name for c in sorted(columns, key=lambda c: (isinstance(c, _WeightedSparseColumn), c.name))]
    others = "" if len(names) <= 3 else "_plus_%d_others" % (len(names) - 3)
    return "_".join(names[:3]) + others + "_shared_embedding"


# Numbers -------------------------------------------------------------------------------------------------


class _RealValuedColumn(_FeatureColumn, Dense, collections.namedtuple("_RealValuedColumn", "column_name dimension default_value dtype normalizer")):
    _outside_key = ("normalizer",)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The key of the feature."""
        return self.column_name

    @property
    def n_numbers(self) -> int:  # type: ignore[override]
        """The number of numbers of an example."""
        return self.dimension

    @property
    def normalizer_fn(self) -> Any:
        """The function of the feature's tensor, or None."""
        return self.normalizer

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of its feature."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: parsing_ops.FixedLenFeature([self.dimension], self.dtype, default)}

    def transform(self, inputs: Any) -> Any:
        """Returns the numbers as float32."""
        tensor = inputs.get(self.name)
        return math_ops.cast(tensor if self.normalizer is None else self.normalizer(tensor), dtypes.float32)

    def numbers(self, tensor: Any) -> Any:
        """Returns the numbers."""
        return tensor

    def input(self, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
        """Returns the numbers, of a rank."""
        return _of_rank(tensor, rank, self.name)

    def dense(self, inputs: Any, collections: Any, trainable: bool) -> Any:
        """Returns the numbers."""
        return inputs.get(self)


def real_valued_column(
    column_name: str, dimension: int = 1, default_value: Any = None, dtype: Any = dtypes.float32, normalizer: Optional[Callable[[Any], Any]] = None
) -> Any:
    """Returns a column of numbers for the estimators of `tf.contrib.learn`.

    Args:
      column_name: The key of the feature.
      dimension: The number of numbers of an example.
      default_value: A number, or one for each of them, where examples lack the feature.
      dtype: The dtype of the feature: floats or integers.
      normalizer: A function of the feature's tensor.

    Raises:
      TypeError: `dimension` is no integer, or `normalizer` no function.
      ValueError: `dimension` is not positive, the dtype is another, or there is another number of defaults.

    Example:
      >>> column = tf.contrib.layers.real_valued_column("x", dimension=3, default_value=1.0)
      >>> column.name, column.dimension, column.default_value
      ('x', 3, (1.0, 1.0, 1.0))
    """
    if isinstance(dimension, bool) or not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if normalizer is not None and not callable(normalizer):
        raise TypeError(f"normalizer must be a callable. normalizer: {normalizer}, column_name: {column_name}")
    if default_value is not None:
        given = list(default_value) if isinstance(default_value, (list, tuple)) else [default_value] * dimension
        if len(given) != dimension:
            raise ValueError(f"The length of default_value must be equal to dimension. default_value: {default_value}, dimension: {dimension}, column_name: {column_name}")
        default_value = tuple(float(v) if dtype.is_floating else int(v) for v in given)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


class _BucketizedColumn(_OfIds, Dense, collections.namedtuple("_BucketizedColumn", "source_column boundaries")):
    @property
    def name(self) -> str:  # type: ignore[override]
        """The source's name, with `_bucketized`."""
        return self.source_column.name + "_bucketized"

    @property
    def length(self) -> int:  # type: ignore[override]
        """The number of buckets."""
        return len(self.boundaries) + 1

    @property
    def n_ids(self) -> int:  # type: ignore[override]
        """One for each number and bucket."""
        return self.length * self.source_column.dimension

    n_numbers = n_ids  # type: ignore[assignment]

    @property
    def config(self) -> Dict[str, Any]:
        """The specification of the source's feature."""
        return self.source_column.config

    def transform(self, inputs: Any) -> Any:
        """Returns the buckets of the numbers."""
        return op("Bucketize")(inputs.get(self.source_column), boundaries=list(self.boundaries), name="bucketize")

    def input(self, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
        """Returns ones at the buckets."""
        if rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        ones = array_ops.one_hot(math_ops.cast(tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot")
        return array_ops.reshape(ones, [-1, self.n_ids], name="reshape")

    def to_sparse_tensor(self, input_tensor: Any) -> SparseTensor:
        """Returns the buckets of the first number, then those of the second, and so on."""
        n, rows = self.source_column.dimension, array_ops.shape(input_tensor)[0]
        row = array_ops.reshape(op("Tile")(array_ops.expand_dims(math_ops.range(0, rows), 1), [1, n]), [-1])
        place = op("Tile")(math_ops.range(0, n), [rows])
        ids = array_ops.reshape(input_tensor, [-1]) + self.length * place
        indices = math_ops.cast(array_ops.transpose(array_ops.stack([row, place])), dtypes.int64)
        node_counts.also(-11 if n == 1 else -1)  # TensorFlow needs no places of a single number.
        return SparseTensor(indices, math_ops.cast(ids, dtypes.int64), math_ops.cast(array_ops.stack([rows, n]), dtypes.int64))

    id_tensor = to_sparse_tensor

    def linear_ids(self, tensor: Any) -> LinearIds:
        """Returns the buckets."""
        return LinearIds(self.to_sparse_tensor(tensor), None, self.n_ids, "sum")

    def dense(self, inputs: Any, collections: Any, trainable: bool) -> Any:
        """Returns ones at the buckets."""
        return self.input(inputs.get(self), collections, trainable, 2)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Returns a column of the buckets between boundaries in which numbers lie.

    Args:
      source_column: A `real_valued_column`.
      boundaries: A sorted list of numbers. A number on a boundary belongs to the bucket above it.

    Raises:
      TypeError: The source is no such column.
      ValueError: The boundaries are no list, or are not sorted.

    Example:
      >>> layers = tf.contrib.layers
      >>> age = layers.bucketized_column(layers.real_valued_column("age"), [18, 65])
      >>> row = layers.input_from_feature_columns({"age": tf.constant([[7.0], [18.0]])}, [age])
      >>> print(tf.Session().run(row).tolist())
      [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError("source_column must be an instance of _RealValuedColumn. source_column: %s" % (source_column,))
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError("boundaries must be a non-empty list or tuple. boundaries: %s" % (boundaries,))
    if any(b < a for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list. boundaries: %s" % (boundaries,))
    return _BucketizedColumn(source_column, tuple(a for a, b in zip(boundaries, [*boundaries[1:], None]) if a != b))


# Features ------------------------------------------------------------------------------------------------


def feature_config(column: Any) -> Dict[str, Any]:
    """Returns the specification of a column's features."""
    if not isinstance(column, _FeatureColumn):
        raise TypeError("feature_columns should only contain instances of _FeatureColumn. Given column is %s" % (column,))
    return column.config


def create_feature_spec_for_parsing(feature_columns: Any) -> Dict[str, Any]:
    """Returns the specification of the features of columns for `tf.parse_example`.

    Args:
      feature_columns: Columns, or a dict of them.

    Raises:
      TypeError: Something is no column.

    Example:
      >>> layers = tf.contrib.layers
      >>> layers.create_feature_spec_for_parsing([layers.real_valued_column("x", 3)])["x"].shape
      [3]
    """
    found: Dict[str, Any] = {}
    for column in feature_columns.values() if isinstance(feature_columns, dict) else feature_columns:
        found.update(feature_config(column))
    return found


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> Dict[str, Any]:
    """Returns a placeholder for each feature of columns, sparse ones for words and integers.

    Args:
      feature_columns: Columns, or a dict of them.

    Raises:
      TypeError: Something is no column.

    Example:
      >>> layers = tf.contrib.layers
      >>> layers.make_place_holder_tensors_for_base_features([layers.real_valued_column("x", 3)])["x"].shape
      TensorShape([Dimension(None), Dimension(3)])
    """
    made: Dict[str, Any] = {}
    for key, spec in create_feature_spec_for_parsing(feature_columns).items():
        name = "Placeholder_" + key
        if isinstance(spec, parsing_ops.VarLenFeature):
            made[key] = sparse_placeholder(spec.dtype, name=name)
        else:
            made[key] = placeholder(spec.dtype, shape=(None, spec.shape[0]), name=name)
    return made
