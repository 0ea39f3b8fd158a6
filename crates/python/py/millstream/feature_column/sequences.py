"""Columns of sequences, with numbers or ids for each step; `sequence_input_layer` makes an RNN's input."""

from __future__ import annotations

import collections
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from millstream.feature_column.columns import (
    Features,
    SequenceCategoricalColumn,
    SequenceDense,
    SequenceNumbers,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    checked_numbers,
    sequence_lengths,
)
from millstream.feature_column.inputs import check_rows, collections_of, ordered
from millstream.framework import control_dependencies, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.io import parsing_ops
from millstream.ops import array_ops, check_ops, sparse_ops
from millstream.variables.scopes import variable_scope


class SequenceNumericColumn(
    SequenceDense, collections.namedtuple("SequenceNumericColumn", "key shape default_value dtype normalizer_fn")
):
    """Numbers for each step of a sequence."""

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
        """The shape of a step's numbers."""
        return TensorShape(self.shape)

    @property
    def parse_spec(self) -> Dict[str, Any]:
        """The specification of its feature."""
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    def transform(self, inputs: Features) -> Any:
        """Returns the sparse tensor of the feature."""
        tensor = inputs.get(self.key)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    def sequence(self, inputs: Features, collections: Any, trainable: bool) -> SequenceNumbers:
        """Returns the numbers of each step, with the default behind the end of an example."""
        tensor = inputs.get(self)
        numbers = sparse_ops.sparse_tensor_to_dense(tensor, default_value=self.default_value)
        numbers = array_ops.reshape(numbers, array_ops.concat([array_ops.shape(numbers)[:1], [-1, *self.shape]], 0))
        # A matrix has the numbers of all steps in a row; otherwise a row has a row for each step.
        return SequenceNumbers(numbers, sequence_lengths(tensor, self.n_numbers if tensor.shape.ndims == 2 else 1))


def sequence_categorical_column_with_identity(key: str, num_buckets: int, default_value: Optional[int] = None) -> SequenceCategoricalColumn:
    """Returns a column of sequences of integers that are ids already.

    Args:
      key: The feature.
      num_buckets: The number of ids.
      default_value: The id of integers that are not from 0 to `num_buckets`; by default they are errors.

    Returns:
      A column, for `embedding_column` or `indicator_column`.

    Raises:
      ValueError: `num_buckets` is less than 1, or `default_value` is no id.

    Example:
      >>> tf.feature_column.sequence_categorical_column_with_identity("watches", 9).num_buckets
      9
    """
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key: str, hash_bucket_size: int, dtype: Any = dtypes.string) -> SequenceCategoricalColumn:
    """Returns a column of sequences of words or integers whose ids are hashes.

    Args:
      key: The feature.
      hash_bucket_size: The number of ids.
      dtype: The dtype of the feature, a string or an integer.

    Returns:
      A column, for `embedding_column` or `indicator_column`.

    Raises:
      ValueError: `hash_bucket_size` or `dtype` is not one of the above.

    Example:
      >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("tokens", 100).name
      'tokens'
    """
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: Optional[int] = None,
    num_oov_buckets: int = 0,
    default_value: Optional[int] = None,
    dtype: Any = dtypes.string,
) -> SequenceCategoricalColumn:
    """Returns a column of sequences of words or integers whose ids are their lines in a file.

    The arguments are those of `categorical_column_with_vocabulary_file`.

    Returns:
      A column, for `embedding_column` or `indicator_column`.

    Raises:
      ValueError: The file is missing or not given, or an argument does not fit another.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
      >>> with open(path, "w") as f:
      ...     _ = f.write("red\\nblue\\n")
      >>> tf.feature_column.sequence_categorical_column_with_vocabulary_file("colours", path).num_buckets
      2
    """
    column = categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)
    return SequenceCategoricalColumn(column)


def sequence_categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: Any = None, default_value: int = -1, num_oov_buckets: int = 0
) -> SequenceCategoricalColumn:
    """Returns a column of sequences of words or integers whose ids are their places in a list.

    The arguments are those of `categorical_column_with_vocabulary_list`.

    Returns:
      A column, for `embedding_column` or `indicator_column`.

    Raises:
      ValueError: The list is empty or holds a word twice, or an argument does not fit another.

    Example:
      >>> c = tf.feature_column
      >>> c.sequence_categorical_column_with_vocabulary_list("colours", ["red", "blue"]).num_buckets
      2
    """
    column = categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    return SequenceCategoricalColumn(column)


def sequence_numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = dtypes.float32,
    normalizer_fn: Optional[Callable[[Any], Any]] = None,
) -> SequenceNumericColumn:
    """Returns a column of sequences of numbers.

    Args:
      key: The feature, a sparse tensor.
      shape: The shape of a step's numbers.
      default_value: The number behind the end of an example.
      dtype: The dtype of the feature.
      normalizer_fn: A function of the feature's sparse tensor.

    Returns:
      A column.

    Raises:
      TypeError: `shape` is not one, or `normalizer_fn` is not callable.
      ValueError: `shape` has a dimension that is not positive, or `dtype` is no number.

    Example:
      >>> tf.feature_column.sequence_numeric_column("temperature", shape=2).shape
      (2,)
    """
    shape, dtype = checked_numbers(key, shape, dtype, normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def sequence_input_layer(features: Dict[str, Any], feature_columns: Any, weight_collections: Any = None, trainable: bool = True) -> Tuple[Any, Any]:
    """Returns the input of an RNN, `[batch, steps, numbers]`, and the number of steps of each example.

    Args:
      features: Tensors by the keys of features.
      feature_columns: A list of `sequence_numeric_column`s, and of embedding and indicator columns of
        `sequence_categorical_column_with_*`. They are taken in the order of their names.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.

    Returns:
      A float32 tensor of rank 3, and an int64 tensor of rank 1.

    Raises:
      ValueError: A column is not one of sequences, or two have one name; or a feature is missing.
      InvalidArgumentError: At run time, when the columns have different numbers of steps.

    Example:
      >>> ratings = tf.feature_column.sequence_numeric_column("rating")
      >>> features = {"rating": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])}
      >>> layer, lengths = tf.contrib.feature_column.sequence_input_layer(features, [ratings])
      >>> print(*[x.tolist() for x in tf.Session().run([layer, lengths])])
      [[[1.0], [2.0]], [[3.0], [0.0]]] [2, 1]
    """
    words = "All feature_columns must be of type _SequenceDenseColumn: see sequence_numeric_column, embedding_column and indicator_column. Given: %s"
    columns = ordered(feature_columns, SequenceDense, words)
    inputs, tensors, every = Features(features), [], []
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.scope):
                numbers, lengths = column.sequence(inputs, collections_of(weight_collections), trainable)
                shape = array_ops.shape(numbers)
                tensors.append(array_ops.reshape(numbers, [shape[0], shape[1], column.n_numbers]))
                every.append(lengths)
        check_rows(tensors, columns)
        check_rows(every, columns)
        lengths = _same(every)
        return array_ops.concat(tensors, -1), lengths


def _same(tensors: List[Any]) -> Any:
    """Returns the first tensor, after a check that all are equal."""
    with name_scope(None, "assert_all_equal", tensors):
        if len(tensors) == 1:
            return tensors[0]
        with control_dependencies([check_ops.assert_equal(tensors[0], t) for t in tensors[1:]]):
            return array_ops.identity(tensors[0])


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Any:
    """Returns the input of an RNN with the numbers of an example behind those of each of its steps.

    Args:
      context_input: A float32 tensor of shape `[batch, context]`.
      sequence_input: A float32 tensor of shape `[batch, steps, numbers]`.

    Returns:
      A float32 tensor of shape `[batch, steps, numbers + context]`.

    Raises:
      ValueError: A tensor has another rank.
      TypeError: A tensor has another dtype.

    Example:
      >>> from millstream.feature_column.sequences import concatenate_context_input
      >>> print(tf.Session().run(concatenate_context_input([[5.0]], [[[1.0], [2.0]]])).tolist())
      [[[1.0, 5.0], [2.0, 5.0]]]
    """
    sequence_input, context_input = array_ops.identity(sequence_input), array_ops.identity(context_input)
    checks = []
    for tensor, name, rank in ((sequence_input, "sequence_input", 3), (context_input, "context_input", 2)):
        checks.append(check_ops.assert_rank(tensor, rank, message="%s must have rank %d" % (name, rank), data=[array_ops.shape(tensor)]))
        words = "%s must have dtype float32; got %s." % (name, tensor.dtype)
        checks.append(check_ops.assert_type(tensor, dtypes.float32, message=words))
    with control_dependencies(checks):
        n = array_ops.shape(sequence_input)[1]
        copies = op("Tile")(array_ops.expand_dims(context_input, 1), array_ops.concat([[1], [n], [1]], 0))
    return array_ops.concat([sequence_input, copies], 2)
