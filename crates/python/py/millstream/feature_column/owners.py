"""`DenseFeatures` and `InputLayer`, which own the variables of columns, and `StateManager`."""

from __future__ import annotations

import collections
from typing import Any, Dict, List, Optional

from millstream.feature_column import configs, inputs as _inputs
from millstream.feature_column.columns import Dense, Features
from millstream.framework import get_default_graph, name_scope
from millstream.layers.core import Layer
from millstream.ops import array_ops
from millstream.variables.scopes import get_variable, variable_scope
from millstream.variables.templates import make_template


class StateManager:
    """The owner of the variables and resources of columns, by column and name.

    Args:
      layer: The layer that is given the variables.
      trainable: Whether they are trained.
    """

    def __init__(self, layer: Any, trainable: bool = True) -> None:
        self._layer, self._trainable = layer, trainable
        self._variables: Dict[Any, Dict[str, Any]] = collections.defaultdict(dict)
        self._resources: Dict[Any, Dict[str, Any]] = collections.defaultdict(dict)

    def create_variable(
        self, feature_column: Any, name: str, shape: Any, dtype: Any = None, trainable: bool = True, use_resource: bool = True, initializer: Any = None
    ) -> Any:
        """Makes a variable of a column.

        Raises:
          ValueError: The column has one of this name.
        """
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        made = get_variable(name, shape, dtype, initializer=initializer, trainable=self._trainable and trainable, use_resource=use_resource)
        self._variables[feature_column][name] = made
        if isinstance(self._layer, Layer):
            self._layer._variables.append(made)
        return made

    def add_variable(self, feature_column: Any, var: Any) -> None:
        """Adds a variable of a column."""
        self._variables[feature_column][var.name] = var

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns a variable of a column.

        Raises:
          ValueError: There is none.
        """
        if name not in self._variables[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Adds a resource of a column."""
        self._resources[feature_column][name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Returns whether a column has a resource."""
        return name in self._resources[feature_column]

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """Returns a resource of a column.

        Raises:
          ValueError: There is none.
        """
        if not self.has_resource(feature_column, name):
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


class OfColumns(Layer):
    """A layer that owns the variables of columns and is called with a dictionary of features.

    Args:
      feature_columns: Columns.
      kind: Their class.
      trainable: Whether variables are trained.
      name: The name of the layer.

    Raises:
      ValueError: A column is of another class, or two have one name.
    """

    def __init__(self, feature_columns: Any, kind: Any, trainable: bool = True, name: Optional[str] = None, **kwargs: Any) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        words = "Items of feature_columns must be a <class '" + kind.__name__.replace("Dense", "DenseColumn") + "'>. You can wrap a categorical column with an embedding_column or indicator_column. Given: %s"
        self._feature_columns = _inputs.ordered(feature_columns, kind, words)
        self._state_manager = StateManager(self, trainable)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of the layer, as plain values."""
        columns = configs.serialize_feature_columns(self._feature_columns)
        return {"name": self.name, "trainable": self._state_manager._trainable, "dtype": None, "feature_columns": columns}

    @classmethod
    def from_config(cls, config: Dict[str, Any], custom_objects: Any = None) -> Any:
        """Returns the layer of such arguments."""
        given = {key: value for key, value in config.items() if not (key == "dtype" and value is None)}
        given["feature_columns"] = configs.deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**given)

    def build(self, _: Any) -> None:
        """Makes the variables of the columns."""
        for column in self._feature_columns:
            with variable_scope(column.name, auxiliary_name_scope=False):
                column.create_state(self._state_manager)
        self.built = True

    def __call__(self, features: Any, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Returns what `call` makes of the features, in the scope of the layer."""
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        if self.built:
            # Each call has a name scope of its own.
            with variable_scope(self._scope, auxiliary_name_scope=False), name_scope(self.name):
                return self.call(features, *args, **kwargs)
        with self.opened(kwargs.pop("scope", None)) as here:
            self._scope = self._scope or here
            self.build(None)
            return self.call(features, *args, **kwargs)


class DenseFeatures(OfColumns):
    """A layer that makes a dense tensor of features: the columns beside each other, in the order of their
    names.

    Args:
      feature_columns: Dense columns.
      trainable: Whether variables are trained.
      name: The name of the layer.

    Raises:
      ValueError: A column is not dense, or two have one name.
    """

    def __init__(self, feature_columns: Any, trainable: bool = True, name: Optional[str] = None, **kwargs: Any) -> None:
        super().__init__(feature_columns, Dense, trainable, name, **kwargs)

    def call(self, features: Any, cols_to_output_tensors: Any = None) -> Any:  # type: ignore[override]
        """Returns the columns beside each other, a row for each example.

        Args:
          features: Tensors by the keys of features.
          cols_to_output_tensors: A dict to fill with the tensor of each column.
        """
        cache, tensors = Features(features), []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                tensors.append(array_ops.reshape(tensor, [array_ops.shape(tensor)[0], column.n_numbers]))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        _inputs.check_rows(tensors, self._feature_columns)
        return array_ops.concat(tensors, 1)


class InputLayer:
    """`tf.feature_column.input_layer` as an object, whose calls share their variables.

    Args:
      feature_columns: Dense columns.
      weight_collections: Further collections of the variables.
      trainable: Whether variables are trained.
      cols_to_vars: A dict to fill with the variables of each column.
      name: The name of the variable scope.
      create_scope_now: Whether the scope is that of this call, not of the first one of the object.
    """

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: Optional[Dict[Any, Any]] = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self._feature_columns, self._collections, self._trainable = feature_columns, weight_collections, trainable
        self._cols_to_vars, self._name = cols_to_vars, name
        self._template = make_template(name, self._made, create_scope_now_=create_scope_now)
        self._scope = self._template.variable_scope if create_scope_now else None

    @property
    def name(self) -> str:
        """The name of the variable scope."""
        return self._name

    def _made(self, features: Any) -> Any:
        return _inputs.input_of(features, self._feature_columns, self._collections, self._trainable, self._cols_to_vars)

    def __call__(self, features: Any) -> Any:
        """Returns the columns beside each other, a row for each example."""
        return self._template(features)

    def _own(self, kind: str) -> List[Any]:
        scope = self._template.variable_scope
        return [] if scope is None else get_default_graph().get_collection(kind, scope.name + "/")

    @property
    def non_trainable_variables(self) -> List[Any]:
        """The variables that are not trained."""
        trained = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trained]

    @property
    def trainable_variables(self) -> List[Any]:
        """The variables that are trained."""
        return self._own("trainable_variables")

    @property
    def variables(self) -> List[Any]:
        """The variables."""
        return self._own("variables")

    @property
    def trainable_weights(self) -> List[Any]:
        """The variables that are trained."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> List[Any]:
        """The variables that are not trained."""
        return self.non_trainable_variables

    @property
    def weights(self) -> List[Any]:
        """The variables."""
        return self.variables
