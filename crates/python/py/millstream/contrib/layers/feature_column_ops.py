"""Inputs and linear models of the columns of `tf.contrib.layers`, and their features in records."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from millstream.contrib.framework.variables import model_variable
from millstream.contrib.layers.embeddings import safe_embedding_lookup_sparse
from millstream.contrib.layers.feature_columns import (
    Tensors,
    _BucketizedColumn,
    _EmbeddingColumn,
    _OneHotColumn,
    _RealValuedColumn,
    create_feature_spec_for_parsing,
    inner_flatten,
    parts,
    real_valued_column,
    restore,
)
from millstream.framework import SparseTensor, convert_to_tensor, dtypes
from millstream.io import parsing_ops
from millstream.nn import functions
from millstream.ops import array_ops, math_ops, sparse_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import variable_scope

__all__ = [
    "check_feature_columns",
    "infer_real_valued_columns",
    "input_from_feature_columns",
    "joint_weighted_sum_from_feature_columns",
    "parse_feature_columns_from_examples",
    "sequence_input_from_feature_columns",
    "transform_features",
    "weighted_sum_from_feature_columns",
]


def check_feature_columns(feature_columns: Any) -> None:
    """Checks that no two columns have one key.

    Args:
      feature_columns: A list of columns.

    Raises:
      ValueError: Two columns have one key, or the columns are a dict.

    Example:
      >>> x = tf.contrib.layers.real_valued_column("x")
      >>> tf.contrib.layers.check_feature_columns([x])
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError("Duplicate feature column key found for column: %s. Remove one of the two." % column.name)
        seen.add(column.key)


def _sorted(feature_columns: Any) -> List[Any]:
    check_feature_columns(feature_columns)
    return sorted(set(feature_columns), key=lambda column: column.key)


def _reshaped(tensor: Any, name: str, rank: int) -> Any:
    """Returns a dense or sparse tensor of a rank: with a new last dimension, or with the last ones joined."""
    had = tensor.dense_shape.shape[0].value if isinstance(tensor, SparseTensor) else tensor.shape.ndims
    if had is None:
        raise ValueError("Error while processing column %s. Rank of input Tensor can not be None." % name)
    if had + 1 < rank:
        raise ValueError(
            "Error while processing column %s. Rank of input Tensor (%d) should be the same as output_rank (%d): sequences have rank 3, others rank 2."
            % (name, had, rank)
        )
    if had + 1 == rank:
        if isinstance(tensor, SparseTensor):
            return sparse_ops.sparse_reshape(tensor, array_ops.concat([tensor.dense_shape, [1]], 0))
        return array_ops.expand_dims(tensor, -1)
    return tensor if had == rank else inner_flatten(tensor, rank)


def _input(features: Dict[Any, Any], columns: Any, collections: Any, trainable: bool, scope: Any, rank: int, name: str, outs: Any = None) -> Any:
    inputs, every = Tensors(dict(features)), []
    values = _given(features)
    columns = _sorted(columns)
    if outs is not None and not isinstance(outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    with variable_scope(scope, default_name=name, values=values):
        for column in columns:
            with variable_scope(None, default_name=column.name, values=values):
                made = inputs.get(column)
                if rank == 3:
                    pair = isinstance(made, tuple) and not isinstance(made, SparseTensor)
                    made = tuple(_reshaped(part, column.name, rank) for part in made) if pair else _reshaped(made, column.name, rank)
                try:
                    every.append(column.input(made, collections, trainable, rank))
                except ValueError as error:
                    raise ValueError("Error creating input layer for column: %s.\n%s" % (column.name, error)) from error
            if outs is not None:
                outs[column] = every[-1]
        return array_ops.concat(every, rank - 1)


def _given(features: Dict[Any, Any]) -> List[Any]:
    return list(features.values())


def input_from_feature_columns(
    columns_to_tensors: Dict[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: Optional[Dict[Any, Any]] = None,
) -> Any:
    """Returns a dense tensor of features, one row for each example: the columns beside each other.

    Args:
      columns_to_tensors: Tensors by the keys of features.
      feature_columns: Columns of numbers. They are taken in the order of their keys.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      scope: The variable scope, by default a new one named `input_from_feature_columns`.
      cols_to_outs: A dict to fill with the tensor of each column.

    Returns:
      A float32 tensor of rank 2.

    Raises:
      ValueError: A column has no numbers, two have one key, or a feature is missing.

    Example:
      >>> layers = tf.contrib.layers
      >>> row = layers.input_from_feature_columns({"x": tf.constant([[3.0], [4.0]])}, [layers.real_valued_column("x")])
      >>> print(tf.Session().run(row).tolist())
      [[3.0], [4.0]]
    """
    return _input(columns_to_tensors, feature_columns, weight_collections, trainable, scope, 2, "input_from_feature_columns", cols_to_outs)


def sequence_input_from_feature_columns(
    columns_to_tensors: Dict[Any, Any], feature_columns: Any, weight_collections: Any = None, trainable: bool = True, scope: Any = None
) -> Any:
    """Returns the input of an RNN, `[batch, steps, numbers]`: the columns beside each other.

    Args:
      columns_to_tensors: Tensors by the keys of features: numbers of rank 3, and ids of rank 3 or 2.
      feature_columns: Columns of numbers, one-hot columns and embeddings.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      scope: The variable scope, by default a new one named `sequence_input_from_feature_columns`.

    Returns:
      A float32 tensor of rank 3.

    Raises:
      ValueError: A column is of another kind, or a feature has no rank for it.

    Example:
      >>> layers = tf.contrib.layers
      >>> x = tf.zeros([2, 5, 3])
      >>> layers.sequence_input_from_feature_columns({"x": x}, [layers.real_valued_column("x", 3)]).shape
      TensorShape([Dimension(2), Dimension(5), Dimension(3)])
    """
    feature_columns = list(feature_columns)
    for column in feature_columns:
        if not isinstance(column, (_OneHotColumn, _EmbeddingColumn, _RealValuedColumn)):
            raise ValueError("FeatureColumn type %s is not currently supported for sequence data." % type(column).__name__)
    for column in _with_sources(feature_columns):
        if isinstance(column, _BucketizedColumn):
            raise ValueError("Column %s is of type %s, which is not currently supported for sequences." % (column.name, type(column).__name__))
    return _input(columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3, "sequence_input_from_feature_columns")


def _with_sources(columns: List[Any]) -> List[Any]:
    """Returns columns and the columns that they are made of."""
    found = []
    for column in columns:
        while column is not None:
            found.append(column)
            column = getattr(column, "sparse_id_column", None)
    return found


def _weights(shape: List[Any], trainable: bool, collections: Any, name: str = "weights") -> Any:
    return model_variable(name, shape, dtypes.float32, initializer=zeros_initializer(), trainable=trainable, collections=collections)


def _biased(total: Any, n: int, trainable: bool, collections: Any) -> Tuple[Any, Any]:
    bias = _weights([n], trainable, collections, "bias_weight")
    return functions.bias_add(total, bias), bias


def weighted_sum_from_feature_columns(
    columns_to_tensors: Dict[Any, Any], feature_columns: Any, num_outputs: int, weight_collections: Any = None, trainable: bool = True, scope: Any = None
) -> Tuple[Any, Dict[Any, List[Any]], Any]:
    """Returns the predictions of a linear model: a weighted sum of all columns, and a bias.

    Args:
      columns_to_tensors: Tensors by the keys of features.
      feature_columns: Columns of numbers and of ids.
      num_outputs: The number of predictions for each example.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      scope: The variable scope, by default a new one named `weighted_sum_from_feature_columns`.

    Returns:
      The predictions, a dict of the variables of each column, and the bias.

    Raises:
      ValueError: A column is of another kind, two have one key, or a feature is missing.

    Example:
      >>> layers = tf.contrib.layers
      >>> features = {"x": tf.constant([[3.0], [4.0]])}
      >>> out, weights, bias = layers.weighted_sum_from_feature_columns(features, [layers.real_valued_column("x")], 1)
      >>> out.shape, bias.name
      (TensorShape([Dimension(2), Dimension(1)]), 'weighted_sum_from_feature_columns/bias_weight:0')
    """
    inputs, values, sums = Tensors(dict(columns_to_tensors)), _given(columns_to_tensors), []
    variables: Dict[Any, List[Any]] = {}
    columns = _sorted(feature_columns)
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=values):
        for column in columns:
            made = inputs.get(column)
            try:
                found = column.linear_ids(made)
            except NotImplementedError:
                found = None
            except ValueError as error:
                raise ValueError("Error creating weighted sum for column: %s.\n%s" % (column.name, error)) from error
            with variable_scope(None, default_name=column.name, values=values):
                if found is None:
                    numbers = _reshaped(column.numbers(made), column.name, 2)
                    table = [_weights([numbers.shape[1].value, num_outputs], trainable, weight_collections, "weight")]
                    out = math_ops.matmul(numbers, table[0], name="matmul")
                else:
                    table = parts(_weights([found.n_ids, num_outputs], trainable, weight_collections))
                    out = safe_embedding_lookup_sparse(table, found.ids, found.weights, found.combiner, name=column.name + "_weights")
            sums.append(array_ops.reshape(out, (-1, num_outputs)))
            variables[column] = table
            restore(column.checkpoint(), table)
        out, bias = _biased(math_ops.add_n(sums), num_outputs, trainable, weight_collections)
        return out, variables, bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Dict[Any, Any], feature_columns: Any, num_outputs: int, weight_collections: Any = None, trainable: bool = True, scope: Any = None
) -> Tuple[Any, List[Any], Any]:
    """Returns the predictions of a linear model whose columns of ids have one table of weights.

    The arguments are those of `weighted_sum_from_feature_columns`.

    Returns:
      The predictions, a list of the table, and the bias.

    Raises:
      AssertionError: A column has weights, or a combiner that is not "sum"; or there is no column.
      NotImplementedError: A column has numbers.
      ValueError: Two columns have one key, or a feature is missing.

    Example:
      >>> layers = tf.contrib.layers
      >>> word = layers.sparse_column_with_integerized_feature("word", 9)
      >>> features = {"word": tf.constant([[3], [4]], tf.int64)}
      >>> out, weights, bias = layers.joint_weighted_sum_from_feature_columns(features, [word], 1)
      >>> out.shape, weights[0].shape
      (TensorShape([Dimension(2), Dimension(1)]), TensorShape([Dimension(9), Dimension(1)]))
    """
    inputs, values, n_ids, every = Tensors(dict(columns_to_tensors)), _given(columns_to_tensors), 0, []
    columns = _sorted(feature_columns)
    with variable_scope(scope, default_name="joint_weighted_sum_from_feature_columns", values=values):
        for column in columns:
            try:
                found = column.linear_ids(inputs.get(column))
            except NotImplementedError:
                words = "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or bucketize these columns."
                raise NotImplementedError(words) from None
            use = "Please use weighted_sum_from_feature_columns instead."
            assert found.weights is None, "Joint sums for weighted sparse columns are not supported. " + use
            assert found.combiner == "sum", "Combiners other than sum are not supported for joint sums. " + use
            every.append(SparseTensor(found.ids.indices, found.ids.values + n_ids, found.ids.dense_shape))
            n_ids += found.n_ids
        assert every, "At least one column must be in the model."
        ids = sparse_ops.sparse_concat(1, every)
        with variable_scope(None, default_name="linear_weights", values=values):
            table = parts(_weights([n_ids, num_outputs], trainable, weight_collections))
            total = safe_embedding_lookup_sparse(table, ids, None, "sum", name="_weights")
        out, bias = _biased(total, num_outputs, trainable, weight_collections)
        return out, table, bias


def parse_feature_columns_from_examples(serialized: Any, feature_columns: Any, name: Optional[str] = None, example_names: Any = None) -> Dict[Any, Any]:
    """Parses the features of columns from a vector of serialized `Example` messages.

    Args:
      serialized: A vector of strings.
      feature_columns: Columns.
      name: The name scope of the new operations.
      example_names: A vector of strings: names of the examples for error messages.

    Returns:
      A dict of the tensors of features, by their keys, and of columns.

    Raises:
      ValueError: Two columns have one key.

    Example:
      >>> x = tf.contrib.layers.real_valued_column("x", default_value=7.0)
      >>> made = tf.contrib.layers.parse_feature_columns_from_examples([b""], [x])
      >>> print(tf.Session().run(made[x]).tolist())
      [[7.0]]
    """
    columns = _sorted(feature_columns)
    inputs = Tensors(parsing_ops.parse_example(serialized, create_feature_spec_for_parsing(columns), name=name, example_names=example_names))
    for column in columns:
        inputs.get(column)
    return inputs.tensors


def transform_features(features: Dict[Any, Any], feature_columns: Any) -> Dict[Any, Any]:
    """Returns the tensors of columns, by column.

    Args:
      features: Tensors by the keys of features.
      feature_columns: Columns.

    Raises:
      ValueError: Two columns have one key, or a feature is missing.

    Example:
      >>> x = tf.contrib.layers.real_valued_column("x", normalizer=lambda x: x / 2.0)
      >>> print(tf.Session().run(tf.contrib.layers.transform_features({"x": tf.constant([[4.0]])}, [x])[x]).tolist())
      [[2.0]]
    """
    inputs = Tensors(dict(features))
    columns = _sorted(feature_columns)
    return {column: inputs.get(column) for column in columns}


def infer_real_valued_columns(features: Any) -> List[Any]:
    """Returns a column of numbers for each tensor of a dict, or for one tensor, whose key is the empty text.

    Args:
      features: A tensor, or a dict of tensors.

    Raises:
      ValueError: A tensor is sparse, or holds no numbers.

    Example:
      >>> tf.contrib.layers.infer_real_valued_columns({"x": tf.zeros([4, 3])})[0].dimension
      3
    """
    made = []
    for name, tensor in features.items() if isinstance(features, dict) else [("", features)]:
        if isinstance(tensor, SparseTensor):
            raise ValueError("SparseTensor is not supported for auto detection: make a column for %s %s" % (name, tensor))
        tensor = convert_to_tensor(tensor)
        if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
            raise ValueError("Non integer or non floating types are not supported for auto detection: make a column for %s %s" % (name, tensor))
        made.append(real_valued_column(name, dimension=tensor.shape[1:].num_elements(), dtype=tensor.dtype))
    return made
