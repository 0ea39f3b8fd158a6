"""`input_layer`, `linear_model`, `make_parse_example_spec`: columns become tensors and models."""

from __future__ import annotations

import collections.abc
from typing import Any, Dict, List, Optional

from millstream.feature_column.columns import BucketizedColumn, Categorical, Column, Dense, Features
from millstream.framework import dtypes, node_counts
from millstream.framework.graph_keys import GraphKeys
from millstream.nn import embedding, functions
from millstream.ops import array_ops, math_ops, sparse_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope


def ordered(feature_columns: Any, kinds: Any, words: str) -> List[Any]:
    """Returns the columns in the order of their names."""
    if isinstance(feature_columns, Column):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, collections.abc.Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not isinstance(column, Column):
            raise ValueError("Items of feature_columns must be a _FeatureColumn. Given (type %s): %s." % (type(column), column))
        if not isinstance(column, kinds):
            raise ValueError(words % (column,))
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: Dict[str, Any] = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                "Duplicate feature column name found for columns: %s and %s. This usually means that these columns refer to same base feature. Either one "
                "must be discarded or a duplicated but renamed item must be inserted in features dict." % (column, by_name[column.name])
            )
        by_name[column.name] = column
    return [by_name[name] for name in sorted(by_name)]


def collections_of(given: Any) -> List[Any]:
    found = list(given or [])
    return found + [key for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES) if key not in found]


def input_layer(
    features: Dict[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: Optional[Dict[Any, Any]] = None,
    cols_to_output_tensors: Optional[Dict[Any, Any]] = None,
) -> Any:
    """Returns a dense tensor of features, one row for each example: the columns beside each other.

    Args:
      features: Tensors by the keys of features. One of rank 1 has one value for each example.
      feature_columns: Dense columns. They are taken in the order of their names.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      cols_to_vars: A dict to fill with the variables of each column.
      cols_to_output_tensors: A dict to fill with the tensor of each column.

    Returns:
      A float32 tensor of rank 2.

    Raises:
      ValueError: A column is not dense, or two have one name; or a feature is missing.

    Example:
      >>> c = tf.feature_column
      >>> columns = [c.numeric_column("price"), c.numeric_column("age", shape=[2])]
      >>> features = {"price": [[3.0]], "age": [[1.0, 2.0]]}
      >>> print(tf.Session().run(c.input_layer(features, columns)))
      [[1. 2. 3.]]
    """
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        return input_of(features, feature_columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors)


def input_of(features: Dict[str, Any], feature_columns: Any, weight_collections: Any, trainable: bool, cols_to_vars: Any = None, cols_to_output_tensors: Any = None) -> Any:
    """Returns what `input_layer` does, in the variable scope of the caller."""
    words = "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an embedding_column or indicator_column. Given: %s"
    columns = ordered(feature_columns, Dense, words)
    inputs, tensors = Features(features), []
    for column in columns:
        with variable_scope(None, default_name=column.scope) as scope:
            tensor = column.dense(inputs, collections_of(weight_collections), trainable)
            tensors.append(array_ops.reshape(tensor, [array_ops.shape(tensor)[0], column.n_numbers]))
            if cols_to_vars is not None:
                cols_to_vars[column] = scope.global_variables()
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
    check_rows(tensors, columns)
    return array_ops.concat(tensors, 1)


def check_rows(tensors: List[Any], columns: List[Any]) -> None:
    known = [(t.shape[0].value, c) for t, c in zip(tensors, columns) if t.shape[0].value is not None]
    for rows, column in known:
        if rows != known[0][0]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns (%s, %s): (%s, %s)"
                % (known[0][1].name, column.name, known[0][0], rows)
            )


def linear_model(
    features: Dict[str, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: Optional[Dict[Any, Any]] = None,
) -> Any:
    """Returns the predictions of a linear model of features: a weighted sum of all columns, and a bias.

    Args:
      features: Tensors by the keys of features.
      feature_columns: Dense and categorical columns.
      units: The number of predictions for each example.
      sparse_combiner: How the weights of a categorical column's ids are combined: `"sum"`, `"mean"` or
        `"sqrtn"`.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      cols_to_vars: A dict to fill with the variables of each column, and of `"bias"`.

    Returns:
      A float32 tensor of rank 2.

    Raises:
      ValueError: Something is not a column, or two have one name; or a feature is missing.

    Example:
      >>> c = tf.feature_column
      >>> columns = [c.numeric_column("price"), c.categorical_column_with_identity("kind", 3)]
      >>> out = c.linear_model({"price": [[3.0], [4.0]], "kind": [[0], [2]]}, columns)
      >>> out.shape, [v.name for v in tf.trainable_variables()]
      (TensorShape([Dimension(2), Dimension(1)]), ['linear_model/kind/weights:0', 'linear_model/price/weights:0', 'linear_model/bias_weights:0'])
    """
    words = "Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: %s"
    columns = ordered(feature_columns, (Dense, Categorical), words)
    inputs, sums, kept = Features(features), [], collections_of(weight_collections)
    with variable_scope(None, default_name="linear_model", values=list(features.values())):
        for column in columns:
            with variable_scope(None, default_name=column.scope):
                weighted, weights = _weighted(column, inputs, units, sparse_combiner, kept, trainable)
            sums.append(weighted)
            if cols_to_vars is not None:
                cols_to_vars[column] = weights
        total = math_ops.add_n(sums, name="weighted_sum_no_bias")
        bias = get_variable("bias_weights", [units], dtypes.float32, initializer=zeros_initializer(), trainable=trainable, collections=kept)
        node_counts.also(2)  # TensorFlow's variable is a resource.
        if cols_to_vars is not None:
            cols_to_vars["bias"] = [bias]
        return functions.bias_add(total, bias, name="weighted_sum")


def _weighted(column: Any, inputs: Features, units: int, combiner: str, kept: Any, trainable: bool) -> Any:
    """Returns a column's part of the sum, and its variables."""
    sparse = isinstance(column, Categorical)
    shape = [column.n_ids if sparse else column.n_numbers, units]
    if sparse:
        pair = column.ids(inputs)
        weights = get_variable("weights", shape, dtypes.float32, initializer=zeros_initializer(), trainable=trainable, collections=kept)
        return weighted_ids(column, pair, weights, combiner), [weights]
    before = set(get_variable_scope().global_variables())
    tensor = column.dense(inputs, kept, trainable)
    tensor = array_ops.reshape(tensor, [array_ops.shape(tensor)[0], column.n_numbers])
    weights = get_variable("weights", shape, dtypes.float32, initializer=zeros_initializer(), trainable=trainable, collections=kept)
    node_counts.also(2)  # TensorFlow's variable is a resource.
    others = [v for v in get_variable_scope().global_variables() if v not in before and v is not weights]
    return math_ops.matmul(tensor, weights, name="weighted_sum"), [*others, weights]


def weighted_ids(column: Any, pair: Any, weights: Any, combiner: str) -> Any:
    """Returns the combined weights of a categorical column's ids."""
    ids, of_ids = pair
    if isinstance(column, BucketizedColumn) or ids.dense_shape.shape.num_elements() != 2:
        rows = ids.dense_shape[0]
        ids = _flat(ids, rows)
        of_ids = None if of_ids is None else _flat(of_ids, rows)
    else:
        node_counts.also(10 if of_ids is None else 20)  # TensorFlow makes matrices of matrices, too.
    node_counts.also(1)  # TensorFlow's variable is a resource.
    return embedding.safe_embedding_lookup_sparse(weights, ids, sparse_weights=of_ids, combiner=combiner, name="weighted_sum")


def _flat(ids: Any, rows: Any) -> Any:
    return sparse_ops.sparse_reshape(ids, array_ops.stack([rows, math_ops.cast(-1, dtypes.int64)]))


def make_parse_example_spec(feature_columns: Any) -> Dict[str, Any]:
    """Returns the specification of features for `tf.parse_example`.

    Args:
      feature_columns: Columns.

    Returns:
      A dict of `FixedLenFeature` and `VarLenFeature` by the keys of features.

    Raises:
      ValueError: Something is not a column, or two columns want different things of one feature.

    Example:
      >>> c = tf.feature_column
      >>> spec = c.make_parse_example_spec([c.numeric_column("price")])
      >>> spec["price"].shape
      (1,)
    """
    found: Dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, Column):
            raise ValueError("All feature_columns must be _FeatureColumn instances. Given: %s" % (column,))
        for key, spec in column.parse_spec.items():
            if key in found and spec != found[key]:
                raise ValueError("feature_columns contain different parse_spec for key %s. Given %s and %s" % (key, spec, found[key]))
            found[key] = spec
    return found
