"""`LinearModel` and `SequenceFeatures`: layers that make predictions, and an RNN's input, of columns."""

from __future__ import annotations

import collections.abc
from typing import Any, Dict, List, Optional, Tuple

from millstream.feature_column import inputs as _inputs
from millstream.feature_column.columns import Categorical, Column, Dense, Features, SequenceDense
from millstream.feature_column.owners import OfColumns, StateManager
from millstream.feature_column.sequences import _same
from millstream.framework import dtypes, get_default_graph, name_scope
from millstream.layers.core import Layer
from millstream.nn import functions
from millstream.ops import array_ops, math_ops
from millstream.variables.initializers import zeros_initializer
from millstream.variables.scopes import get_variable, variable_scope


def _named(base: str, name: Optional[str]) -> str:
    """Returns the name of a layer: by default `base`, `base_1` and so on in a graph."""
    if name is not None:
        return name
    made = vars(get_default_graph()).setdefault("_layers_made", {})
    made[base] = made.get(base, -1) + 1
    return base if not made[base] else "%s_%d" % (base, made[base])


def _checked(feature_columns: Any, word: str) -> List[Any]:
    """Returns the columns in the order of their names, after a check of their class."""
    if isinstance(feature_columns, collections.abc.Iterator):
        feature_columns = list(feature_columns)
    if not isinstance(feature_columns, (Column, dict)):
        for column in feature_columns:
            if not isinstance(column, Column):
                raise ValueError("Items of feature_columns must be a %s. Given (type %s): %s." % (word, type(column), column))
    words = "Items of feature_columns must be either a DenseColumn or CategoricalColumn. Given: %s"
    return _inputs.ordered(feature_columns, (Dense, Categorical), words)


class LinearModel(OfColumns):
    """A layer of predictions of a linear model of features: a weighted sum of all columns, and a bias.

    Args:
      feature_columns: Dense and categorical columns.
      units: The number of predictions for each example.
      sparse_combiner: How the weights of a categorical column's ids are combined: `"sum"`, `"mean"` or
        `"sqrtn"`.
      trainable: Whether variables are trained.
      name: The name of the layer.

    Raises:
      ValueError: Something is not a column, or two have one name.
    """

    def __init__(self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum", trainable: bool = True, name: Optional[str] = None, **kwargs: Any) -> None:
        columns = _checked(feature_columns, "FeatureColumn")
        Layer.__init__(self, trainable=trainable, name=_named("linear_model", name), **kwargs)
        self._feature_columns, self._units, self._sparse_combiner = columns, units, sparse_combiner
        self._state_manager = StateManager(self, trainable)
        self.bias: Any = None

    def get_config(self) -> Dict[str, Any]:
        """Raises: as in TensorFlow, a model has no configuration."""
        raise NotImplementedError("a LinearModel has no configuration: keep its columns with `serialize_feature_columns`")

    def build(self, _: Any) -> None:
        """Makes the variables of the columns, their weights and the bias."""
        for column in self._feature_columns:
            with variable_scope(column.scope):
                column.create_state(self._state_manager)
                rows = column.n_ids if isinstance(column, Categorical) else column.n_numbers
                self._state_manager.create_variable(column, "weights", (rows, self._units), dtypes.float32, initializer=zeros_initializer())
        self.bias = get_variable("bias_weights", [self._units], dtypes.float32, initializer=zeros_initializer(), trainable=self._state_manager._trainable, use_resource=True)
        self._variables.append(self.bias)
        self.built = True

    def call(self, features: Any) -> Any:  # type: ignore[override]
        """Returns the predictions, a row for each example."""
        cache, sums = Features(features), []
        # A model within a layer: each has a name scope of its own.
        with name_scope(self.name), name_scope(self.name):
            for column in self._feature_columns:
                with name_scope(column.name):
                    sums.append(self._part(column, cache))
            _inputs.check_rows(sums, self._feature_columns)
            total = math_ops.add_n(sums, name="weighted_sum_no_bias")
            return functions.bias_add(total, self.bias, name="weighted_sum")

    def _part(self, column: Any, cache: Features) -> Any:
        weights = self._state_manager.get_variable(column, "weights")
        if isinstance(column, Categorical):
            pair = column.get_sparse_tensors(cache, self._state_manager)
            return _inputs.weighted_ids(column, pair, weights, self._sparse_combiner)
        tensor = column.get_dense_tensor(cache, self._state_manager)
        tensor = array_ops.reshape(tensor, [array_ops.shape(tensor)[0], column.n_numbers])
        return math_ops.matmul(tensor, weights, name="weighted_sum")


class OldLinearModel(Layer):
    """`tf.feature_column.linear_model` as a layer, whose calls share their variables.

    Args:
      feature_columns: Dense and categorical columns.
      units: The number of predictions for each example.
      sparse_combiner: How the weights of a categorical column's ids are combined.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      name: The name of the layer.

    Raises:
      ValueError: Something is not a column, or two have one name.
    """

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        self._feature_columns = _checked(feature_columns, "_FeatureColumn")
        super().__init__(trainable=trainable, name=_named("private__linear_model", name), **kwargs)
        self._options = (units, sparse_combiner, _inputs.collections_of(weight_collections), trainable)
        self._of_columns: Dict[Any, List[Any]] = {}
        self.bias: Any = None

    def cols_to_vars(self) -> Dict[Any, List[Any]]:
        """Returns the variables of each column, and of `"bias"`."""
        return dict(self._of_columns)

    def __call__(self, features: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Returns what `call` makes of the features, in the scope of the layer."""
        if self.built:
            with variable_scope(self._scope, reuse=True, auxiliary_name_scope=False), name_scope(self.name):
                return self.call(features)
        with self.opened(kwargs.pop("scope", None)) as here:
            self._scope = self._scope or here
            made = self.call(features)
            self.built = True
            return made

    def call(self, features: Any) -> Any:  # type: ignore[override]
        """Returns the predictions, a row for each example."""
        units, combiner, kept, trainable = self._options
        inputs, sums, of_columns = Features(features), [], {}
        with name_scope(self.name):
            for column in self._feature_columns:
                with variable_scope(column.scope):
                    weighted, of_columns[column] = _inputs._weighted(column, inputs, units, combiner, kept, trainable)
                sums.append(weighted)
            _inputs.check_rows(sums, self._feature_columns)
            total = math_ops.add_n(sums, name="weighted_sum_no_bias")
            self.bias = get_variable("bias_weights", [units], dtypes.float32, initializer=zeros_initializer(), trainable=trainable, collections=kept)
            if not self._of_columns:
                self._of_columns = {**of_columns, "bias": [self.bias]}
                self._variables.extend(v for variables in self._of_columns.values() for v in variables)
            return functions.bias_add(total, self.bias, name="weighted_sum")


class SequenceFeatures(OfColumns):
    """A layer that makes the input of an RNN, `[batch, steps, numbers]`, and the lengths of the examples.

    Args:
      feature_columns: Columns of sequences.
      trainable: Whether variables are trained.
      name: The name of the layer.

    Raises:
      ValueError: A column is not one of sequences, or two have one name.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, name: Optional[str] = None, **kwargs: Any) -> None:
        super().__init__(feature_columns, SequenceDense, trainable, _named("sequence_features", name), **kwargs)

    def call(self, features: Any) -> Tuple[Any, Any]:  # type: ignore[override]
        """Returns the columns beside each other, and the numbers of steps, equal in all columns."""
        cache, tensors, every = Features(features), [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                numbers, lengths = column.get_sequence_dense_tensor(cache, self._state_manager)
                shape = array_ops.shape(numbers)
                tensors.append(array_ops.reshape(numbers, [shape[0], shape[1], column.n_numbers]))
                every.append(lengths)
        _inputs.check_rows(tensors, self._feature_columns)
        _inputs.check_rows(every, self._feature_columns)
        return array_ops.concat(tensors, -1), _same(every)
