"""Layers: functions of tensors that create variables at the first call, and then share them.

A custom layer has `build(input_shape)`, which creates variables with `add_weight`, and `call(inputs)`.
Convolutions and pools are in `convolutional`.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

import numpy as np

from millstream._engine import Tensor, default_session
from millstream.framework import (
    SparseTensor,
    add_to_collection,
    constant,
    control_dependencies,
    convert_to_tensor,
    dtypes,
    errors,
    get_collection,
    get_default_graph,
    get_static_value,
    name_scope,
    nest,
    node_counts,
)
from millstream.framework.described import described
from millstream.framework.graph_keys import GraphKeys
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape, dimension_value
from millstream.layers import configs
from millstream.layers.input_spec import InputSpec
from millstream.layers.members import Members, depends
from millstream.nn import functions, nn_ops
from millstream.ops import array_ops, control_flow, linalg_ops, math_ops, reduction_ops
from millstream.ops.sparse_ops import sparse_tensor_dense_matmul
from millstream.variables import state_ops
from millstream.variables.aggregation import VariableSynchronization, checked
from millstream.variables.initializers import ones_initializer, zeros_initializer
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope
from millstream.variables.variable import is_variable_initialized

__all__ = [
    "BatchNormalization",
    "Dense",
    "Dropout",
    "Flatten",
    "Layer",
    "batch_normalization",
    "dense",
    "dropout",
    "flatten",
]


def words(name: str) -> str:
    """Converts `BasicLSTMCell` to `basic_lstm_cell`: the scope name of a class.

    Example:
      >>> tf.layers.words("BasicLSTMCell")
      'basic_lstm_cell'
    """
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def _numbered(base: str) -> str:
    """Returns `dense_1` for the first `Dense` without a name in the default graph, and so on."""
    made = vars(get_default_graph()).setdefault("_layers_made", {})
    made[base] = made.get(base, 0) + 1
    return f"{base}_{made[base]}"


def check_regularizer(regularizer: Any) -> None:
    """Raises TensorFlow's errors for what Keras would make a regularizer of."""
    if isinstance(regularizer, dict):
        raise ValueError(f"Improper config format: {regularizer}")
    if isinstance(regularizer, str):
        raise ValueError(f"Unknown regularizer:{regularizer}")


# Arguments of every layer that are not named. Those of shapes describe the inputs of Keras's models.
_KEYWORDS = ("activity_regularizer", "batch_input_shape", "batch_size", "dynamic", "experimental_autocast", "input_shape", "weights")


class Layer(Members):
    """A layer. Calling `layer(inputs)` creates its variables; later calls share them.

    Variables are in a variable scope named `name`, or after the class. Subclasses define `call`, and `build`
    if they have variables.

    Args:
      trainable: If true, its variables are trainable.
      name: The name of its scope.
      dtype: The dtype of its variables; by default that of the first inputs.

    Raises:
      TypeError: A keyword argument is unknown.

    Example:
      >>> class Scale(tf.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.factor = self.add_weight("factor", [input_shape[-1]],
      ...             initializer=tf.ones_initializer())
      ...     def call(self, inputs):
      ...         return inputs * self.factor
      >>> layer = Scale(name="scale")
      >>> y, z = layer(tf.zeros([2, 3])), layer.apply(tf.ones([2, 3]))
      >>> (layer.name, [v.name for v in layer.variables], len(layer.trainable_variables),
      ...  layer.non_trainable_variables)
      ('scale', ['scale/factor:0'], 1, [])
      >>> layer.weights == layer.trainable_weights == layer.variables, layer.non_trainable_weights
      (True, [])
      >>> x = tf.zeros([2, 3])
      >>> layer.add_loss(tf.reduce_sum(layer(x)), inputs=True)
      >>> layer.add_update(tf.no_op("update"))
      >>> layer.losses == layer.get_losses_for(x), [op.name for op in layer.updates], layer.get_updates_for(x)
      (True, ['update'], [])
      >>> layer.count_params(), layer.scope_name
      (3, 'scale')
    """

    def __init__(self, trainable: bool = True, name: Optional[str] = None, dtype: Any = None, **kwargs: Any) -> None:
        self._reuse = kwargs.pop("_reuse", kwargs.pop("reuse", None))
        scope = kwargs.pop("_scope", None)
        for key in kwargs:
            if key not in _KEYWORDS:
                raise TypeError("Keyword argument not understood:", key)
        self._activity_regularizer = kwargs.get("activity_regularizer")
        self._initial_weights = kwargs.get("weights")
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._trainable, self._dynamic = trainable, kwargs.get("dynamic", False)
        self.built = False
        self._base_name = name or words(type(self).__name__)
        self._name = name or _numbered(self._base_name)
        # The scope of all calls. A caller that has opened it gives it as `_scope`.
        self._scope: Any = None
        self._scope_given = scope is not None
        if scope is not None:
            with variable_scope(scope) as self._scope:
                pass
        self._variables: List[Any] = []
        # Losses, and whether they depend on the inputs.
        self._losses: List[Any] = []
        # Updates, and the inputs of the call that added them.
        self._updates: List[Any] = []
        self._inputs_of_call: List[Any] = []
        self._variable_losses: List[Any] = []

    def __repr__(self) -> str:
        return described(self, self.name if "_name" in vars(self) else None)

    def build(self, input_shape: TensorShape) -> None:
        """Creates the variables for inputs of this shape."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the output of the layer: the inputs, unless a class has another `call`."""
        return inputs

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns what `call` makes of the inputs, in the scope of the layer.

        Args:
          inputs: A tensor, or a structure of tensors.
          *args: Other arguments of `call`.
          **kwargs: Other arguments of `call`, and `scope`: the scope of the first call.

        Returns:
          A tensor, or a structure of tensors.

        Raises:
          NotImplementedError: The layer was made with `dynamic=True`.
          ValueError: `call` returns None, or the inputs are not those of `input_spec`.
        """
        with self.opened(kwargs.pop("scope", None)) as here:
            self._scope = self._scope or here
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = here
            inputs = _as_tensors(inputs)
            self._check_inputs(inputs)
            if not self.built:
                self._dtype = self.dtype or nest.flatten(inputs)[0].dtype.base_dtype.name
                self.build(nest.map_structure(lambda x: x.get_shape(), inputs))
                self.built = True
                if self._initial_weights is not None:
                    self.set_weights(self._initial_weights)
            if self.dynamic:
                raise NotImplementedError(f"layer {self.name} has `dynamic=True`: its `call` needs eager execution, which there is not")
            self._inputs_of_call, outer = nest.flatten(inputs), self._inputs_of_call
            try:
                outputs = self.call(inputs, *args, **kwargs)
            finally:
                self._inputs_of_call = outer
            if outputs is None:
                raise ValueError("A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: " + self.name + ").")
            if self._activity_regularizer is not None:
                self._regularize(outputs)
            if self._updates:
                known = set(get_collection(GraphKeys.UPDATE_OPS))
                for update in self.updates:
                    if update not in known:
                        add_to_collection(GraphKeys.UPDATE_OPS, update)
            return outputs

    apply = __call__

    def _check_inputs(self, inputs: Any) -> None:
        if self.input_spec is None:
            return
        specs = self.input_spec if isinstance(self.input_spec, (list, tuple)) else [self.input_spec]
        values = nest.flatten(inputs)
        if len(values) != len(specs):
            raise ValueError(
                "Layer %s expects %d inputs, but it received %d input tensors. Inputs received: %s" % (self.name, len(specs), len(values), inputs)
            )
        for spec, value in zip(specs, values):
            if spec is not None:
                spec.check(value, self.name)

    def _regularize(self, outputs: Any) -> None:
        """Adds the mean of the regularizer's terms over the batch."""
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                term = self._activity_regularizer(output)  # type: ignore[misc]
                n = math_ops.cast(array_ops.shape(output)[0], term.dtype)
                self.add_loss(term / n, inputs=True)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds terms of the loss to the layer and to the collection of regularization losses.

        Args:
          losses: A scalar tensor, a function without arguments that returns one, or a list of such.
          inputs: The inputs that the terms depend on; None if they hold for all inputs.
        """
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            loss = loss() if callable(loss) else loss
            if loss is not None:
                self._losses.append((loss, inputs is not None))
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations that the program runs with its training step. Calls collect them in `UPDATE_OPS`.

        Args:
          updates: An operation, a tensor, a function without arguments that returns one, or a list of such.
          inputs: Ignored: the graph tells what the updates depend on.
        """
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            update = update() if callable(update) else update
            update = update.op if isinstance(update, Tensor) else update
            self._updates.append((update, self._inputs_of_call))

    @property
    def losses(self) -> List[Any]:
        """The terms of the loss that the layer added, and those of its variables' regularizers."""
        return [loss for loss, _ in self._losses] + list(self._variable_losses)

    @property
    def updates(self) -> List[Any]:
        """The operations that the layer added with `add_update`; none if the layer is not trainable."""
        return [update for update, _ in self._updates] if self.trainable or self.stateful else []

    def get_losses_for(self, inputs: Any) -> List[Any]:
        """Returns the losses that depend on inputs; those that do not if `inputs` is None.

        Args:
          inputs: Inputs of the layer, or None.
        """
        if inputs is None:
            return [loss for loss, inner in self._losses if not inner] + list(self._variable_losses)
        return [loss for loss, inner in self._losses if inner and depends(loss, nest.flatten(inputs))]

    def get_updates_for(self, inputs: Any) -> List[Any]:
        """Returns the updates that depend on inputs; those that depend on no inputs of a call if it is None.

        Args:
          inputs: Inputs of the layer, or None.
        """
        found = self._updates if self.trainable or self.stateful else []
        if inputs is None:
            return [update for update, those in found if not depends(update, those)]
        return [update for update, those in found if depends(update, nest.flatten(inputs)) and depends(update, those)]

    def count_params(self) -> int:
        """Returns the number of elements of the variables.

        Raises:
          ValueError: The layer has not been called.
        """
        if not self.built:
            raise ValueError(
                "You tried to call `count_params` on %s, but the layer isn't built. You can build it manually via: `%s.build(batch_input_shape)`."
                % (self.name, self.name)
            )
        return sum(v.get_shape().num_elements() or 0 for v in self.variables)

    def _session(self, method: str) -> Any:
        session = default_session()
        if session is None:
            raise ValueError(
                f"`{method}` of layer {self.name} needs a session: call it in a block of `with tf.Session()`"
            )
        return session

    def get_weights(self) -> List[Any]:
        """Returns the values of the variables in the default session, as arrays.

        Variables that the session has not initialized are initialized first.

        Raises:
          ValueError: There is no default session.

        Example:
          >>> layer = tf.layers.Dense(1, kernel_initializer=tf.ones_initializer())
          >>> y = layer(tf.constant([[1.0, 2.0]]))
          >>> with tf.Session() as sess:
          ...     sess.run(tf.global_variables_initializer())
          ...     kernel, bias = layer.get_weights()
          ...     layer.set_weights([2.0 * kernel, bias])
          ...     print(kernel.ravel(), bias, sess.run(y))
          [1. 1.] [0.] [[6.]]
        """
        if not self.weights:
            return []
        session = self._session("get_weights")
        try:
            return session.run(self.weights)  # type: ignore[no-any-return]
        except errors.FailedPreconditionError:
            known = session.run([is_variable_initialized(v) for v in self.weights])
            session.run([v.initializer for v, done in zip(self.weights, known) if not done])
            return session.run(self.weights)  # type: ignore[no-any-return]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Sets the variables in the default session.

        Args:
          weights: Arrays, as `get_weights` returns them.

        Raises:
          ValueError: There are more or fewer arrays than variables, an array has the wrong shape, or there
            is no default session.

        Example:
          >>> layer = tf.layers.Dense(1, use_bias=False)
          >>> y = layer(tf.constant([[1.0, 2.0]]))
          >>> with tf.Session() as sess:
          ...     layer.set_weights([np.ones([2, 1])])
          ...     print(sess.run(y))
          [[3.]]
        """
        if len(weights) != len(self.weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                f"{len(weights)}, but the layer was expecting {len(self.weights)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        arrays = [np.asarray(w) for w in weights]
        for variable, array in zip(self.weights, arrays):
            if not variable.get_shape().is_compatible_with(array.shape):
                raise ValueError(
                    f"Layer weight shape {variable.get_shape()} not compatible with provided weight shape {array.shape}"
                )
        if arrays:
            session = self._session("set_weights")
            for variable, array in zip(self.weights, arrays):
                variable.load(array, session)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one, for `from_config`.

        A class whose constructor has more arguments than `Layer`'s adds them.

        Raises:
          NotImplementedError: The constructor has other arguments, and the class has no `get_config`.

        Example:
          >>> config = tf.layers.Dropout(0.2, name="drop").get_config()
          >>> config["rate"], tf.layers.Dropout.from_config(config).name
          (0.2, 'drop')
        """
        arguments = inspect.getfullargspec(type(self).__init__).args[1:]
        if type(self).get_config is Layer.get_config and set(arguments) - {"name", "trainable", "dtype"}:
            raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
        dtype = None if self.dtype is None else dtypes.as_dtype(self.dtype).name
        return {"name": self.name, "trainable": self.trainable, "dtype": dtype}

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> Any:
        """Returns a new layer with these arguments, and no variables yet.

        Args:
          config: A dict of arguments, as `get_config` returns it.

        Example:
          >>> tf.layers.Dense.from_config({"units": 3, "name": "top"}).units
          3
        """
        return cls(**config)

    @property
    def scope_name(self) -> str:
        """The name of the variable scope.

        Raises:
          ValueError: The layer has not been called.
        """
        if self._scope is None:
            raise ValueError(
                'No name available for layer scope because the layer "' + self._name + '" has not been used yet. '
                "The scope name  is determined the first time the layer instance is called. "
                "You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name  # type: ignore[no-any-return]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the static shape of the output for inputs of this shape.

        Raises:
          NotImplementedError: The class does not implement it.

        Example:
          >>> tf.layers.Dense(2).compute_output_shape([None, 3])
          TensorShape([Dimension(None), Dimension(2)])
        """
        raise NotImplementedError(f"{type(self).__name__} has no `compute_output_shape(input_shape)`")

    def opened(self, scope: Any = None) -> Any:
        """Returns the variable scope of this call: `scope` or a new one at first, the same one afterwards.

        Args:
          scope: A name or a `VariableScope` for the first call.

        Returns:
          A context manager.

        Example:
          >>> layer = tf.layers.Flatten(name="flat")
          >>> with layer.opened() as scope:
          ...     print(scope.name)
          flat
        """
        if self._scope is not None:
            return self._again()
        if scope is not None:
            return variable_scope(scope, reuse=self._reuse)
        if self._reuse:
            return variable_scope(self._base_name, reuse=self._reuse)
        return variable_scope(None, default_name=self._base_name)

    @contextlib.contextmanager
    def _again(self) -> Iterator[Any]:
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            with name_scope(self._scope.original_name_scope):
                yield scope

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        """Opens the scope for variables that are made outside of calls, by `build` or the constructor."""
        current = get_variable_scope().name
        if self._scope is not None and (current == self._scope.name or current.startswith(self._scope.name and self._scope.name + "/")):
            yield
            return
        with self.opened() as here:
            self._scope = self._scope or here
            yield

    def add_weight(
        self,
        name: str,
        shape: Sequence[Any],
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: Optional[bool] = None,
        constraint: Any = None,
        use_resource: Optional[bool] = None,
        synchronization: Any = None,
        aggregation: Any = None,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Creates or returns a variable of the layer. Arguments are those of `get_variable`.

        Returns:
          A variable.

        Raises:
          TypeError: Another argument than `experimental_autocast`, which is ignored, is given.
          ValueError: The variable is to be trained and has `tf.VariableSynchronization.ON_READ`.
        """
        for key in kwargs:
            if key != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", key)
        if trainable is None and checked(synchronization, aggregation, name)[0] == VariableSynchronization.ON_READ:
            trainable = False
        check_regularizer(regularizer)
        with self._inside():
            variable = get_variable(
                name,
                shape=shape,
                dtype=dtype or self.dtype,
                initializer=initializer,
                regularizer=self._noted(regularizer) if regularizer else None,
                trainable=self.trainable if trainable is None else self.trainable and trainable,
                constraint=constraint,
                use_resource=use_resource,
                synchronization=synchronization,
                aggregation=aggregation,
                partitioner=partitioner,
            )
        if all(v is not variable for v in self._variables):
            self._variables.append(variable)
        return variable

    def _noted(self, regularizer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Returns a regularizer whose terms are losses of the layer.

        As in TensorFlow, the regularizer of the variable scope adds its term beside, and is not the layer's.
        """
        inherited = get_variable_scope().regularizer

        def both(variable: Any) -> Any:
            outer = inherited(variable) if inherited else None
            if outer is not None:
                add_to_collection(GraphKeys.REGULARIZATION_LOSSES, outer)
            loss = regularizer(variable)
            if loss is not None:
                self._variable_losses.append(loss)
            return loss

        return both

    add_variable = add_weight

    @property
    def variables(self) -> List[Any]:  # type: ignore[override]
        """The variables created so far, the trainable ones first."""
        return sorted(self._variables, key=lambda v: not v.trainable)

    @property
    def trainable_variables(self) -> List[Any]:  # type: ignore[override]
        """The trainable variables; none if the layer is not trainable."""
        return [v for v in self.variables if v.trainable] if self.trainable else []

    @property
    def non_trainable_variables(self) -> List[Any]:
        """The variables that are not trainable; all if the layer is not trainable."""
        return [v for v in self.variables if not (self.trainable and v.trainable)]

    # Not the same properties: those of a subclass, such as a cell made of cells, are its own.
    weights = property(lambda self: self.variables, doc="The variables created so far.")
    trainable_weights = property(lambda self: self.trainable_variables, doc="The trainable variables.")
    non_trainable_weights = property(
        lambda self: self.non_trainable_variables, doc="The variables that are not trainable."
    )


def _as_tensors(inputs: Any) -> Any:
    """Converts inputs to tensors: a tensor or an array, or a structure of such, which keeps its form."""
    if nest.is_sequence(inputs) and not all(isinstance(x, (bool, int, float)) for x in nest.flatten(inputs)):
        return nest.map_structure(_as_tensors, inputs)
    return inputs if isinstance(inputs, SparseTensor) else convert_to_tensor(inputs)


def _needs_rank(layer: Layer, shape: TensorShape, least: int) -> None:
    if shape.ndims is None:
        raise ValueError(
            f"Input 0 of layer {layer.name} is incompatible with the layer: its rank is undefined, "
            f"but the layer requires a defined rank."
        )
    if shape.ndims < least:
        raise ValueError(
            f"Input 0 of layer {layer.name} is incompatible with the layer: : expected min_ndim={least}, "
            f"found ndim={shape.ndims}. Full shape received: {shape.as_list()}"
        )


class Dense(Layer):
    """A dense layer: `activation(inputs * kernel + bias)` over the last dimension.

    Args:
      units: The size of the last dimension of the output.
      activation: A function of a tensor, or a name such as `"relu"`; None for none.
      use_bias: If true, the layer has a bias.
      kernel_initializer: The initializer of the kernel, or a name such as `"he_normal"`.
      bias_initializer: The initializer of the bias.
      kernel_regularizer: A function from the kernel to a term of the loss.
      bias_regularizer: A function from the bias to a term of the loss.
      activity_regularizer: A function from the output to a term of the loss.
      kernel_constraint: A function that optimizers apply to the kernel after updates.
      bias_constraint: A function that optimizers apply to the bias after updates.
      trainable: As in `Layer`.
      name: As in `Layer`.

    Raises:
      ValueError: When called: inputs have a rank less than 2, or their last dimension is unknown.

    Example:
      >>> layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer())
      >>> y = layer(tf.constant([[1.0, 2.0, 3.0]]))  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y))
      [[6. 6.]]
      >>> [v.name for v in layer.variables]
      ['dense/kernel:0', 'dense/bias:0']
    """

    supports_masking = True

    def __init__(
        self,
        units: int,
        activation: Optional[Callable[[Any], Any]] = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.units = int(units)
        self.activation = configs.activation_of(activation)
        self.use_bias = use_bias
        self._kernel_options = configs.checked(kernel_initializer, kernel_regularizer, kernel_constraint)
        self._bias_options = configs.checked(bias_initializer, bias_regularizer, bias_constraint)
        self._activity_regularizer = activity_regularizer
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        """Creates `kernel` of shape `[depth, units]`, and `bias` of shape `[units]`.

        Raises:
          TypeError: The layer's dtype is one of integers.
          ValueError: The last dimension is unknown.
        """
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError("Unable to build `Dense` layer with non-floating point dtype %s" % (dtype,))
        input_shape = TensorShape(input_shape)
        _needs_rank(self, input_shape, 2)
        depth = dimension_value(input_shape[-1])
        if depth is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self._weight("kernel", [depth, self.units], self._kernel_options)
        self.bias = self._weight("bias", [self.units], self._bias_options) if self.use_bias else None
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the shape of the inputs with `units` as its last dimension.

        Raises:
          ValueError: The last dimension is unknown, or the rank is less than 2.

        Example:
          >>> tf.layers.Dense(2).compute_output_shape([None, 5, 3])
          TensorShape([Dimension(None), Dimension(5), Dimension(2)])
        """
        shape = TensorShape(input_shape)
        _needs_rank(self, shape, 2)
        if dimension_value(shape[-1]) is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {shape}")
        return shape[:-1].concatenate(self.units)

    def _weight(self, name: str, shape: Sequence[int], options: Any) -> Any:
        initializer, regularizer, constraint = options
        return self.add_weight(
            name, shape, initializer=initializer, regularizer=regularizer, constraint=constraint
        )

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the output, in the shape of the inputs except for the last dimension."""
        shape = inputs.get_shape()
        _needs_rank(self, shape, 2)
        if shape.ndims == 2:
            if inputs.dtype.base_dtype != self.kernel.dtype.base_dtype:
                inputs = math_ops.cast(inputs, self.kernel.dtype.base_dtype)
            if isinstance(inputs, SparseTensor):
                outputs = sparse_tensor_dense_matmul(inputs, self.kernel)
            else:
                outputs = math_ops.matmul(inputs, self.kernel)
        else:
            outputs = linalg_ops.tensordot(inputs, self.kernel, [[shape.ndims - 1], [0]])
            outputs.set_shape(shape.as_list()[:-1] + [self.units])
        if self.bias is not None:
            outputs = functions.bias_add(outputs, self.bias)
        if self.activation is not None:
            outputs = self.activation(outputs)
        return outputs

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one: initializers as dicts, other functions by name.

        Raises:
          ValueError: A function has no name.
        """
        return {
            **super().get_config(),
            "units": self.units,
            "use_bias": self.use_bias,
            "activation": configs.shown(self.activation) or "linear",
            "activity_regularizer": configs.shown(self._activity_regularizer),
            **configs.options("kernel", self._kernel_options),
            **configs.options("bias", self._bias_options),
        }


def dense(
    inputs: Any,
    units: int,
    activation: Optional[Callable[[Any], Any]] = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = zeros_initializer(),
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: Optional[str] = None,
    reuse: Any = None,
) -> Any:
    """Applies a new `Dense` layer: `activation(inputs * kernel + bias)` over the last dimension.

    The other arguments are those of the class.

    Args:
      inputs: A tensor of floats, of rank 2 or more, whose last dimension is known.
      units: The size of the last dimension of the output.
      reuse: As in `tf.variable_scope`.

    Returns:
      A tensor of the same dtype, of shape `inputs.shape[:-1] + [units]`.

    Raises:
      ValueError: The rank is less than 2, or the last dimension is unknown.

    Example:
      >>> y = tf.layers.dense(tf.constant([[1.0, 2.0, 3.0]]), 2, kernel_initializer=tf.ones_initializer())
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y))
      [[6. 6.]]
    """
    layer = Dense(
        units,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=kernel_initializer,
        bias_initializer=bias_initializer,
        kernel_regularizer=kernel_regularizer,
        bias_regularizer=bias_regularizer,
        activity_regularizer=activity_regularizer,
        kernel_constraint=kernel_constraint,
        bias_constraint=bias_constraint,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer(inputs)


def _either(choice: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """As `cond`, but builds only one branch if the predicate is known."""
    known = get_static_value(choice) if isinstance(choice, Tensor) else choice
    if known is None:
        return control_flow.cond(choice, yes, no)
    return yes() if known else no()


class Dropout(Layer):
    """Sets a fraction `rate` of its inputs to 0 if `training`, and scales up the others.

    Args:
      rate: The fraction: a float or a scalar tensor.
      noise_shape: As in `tf.nn.dropout`.
      seed: A seed; see `tf.set_random_seed`.
      name: As in `Layer`.

    Example:
      >>> layer = tf.layers.Dropout(0.5)
      >>> print(tf.Session().run(layer(tf.ones([3]))))  # It calls `layer.call`, here with training=False.
      [1. 1. 1.]
    """

    supports_masking = True

    def __init__(
        self,
        rate: float = 0.5,
        noise_shape: Any = None,
        seed: Optional[int] = None,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs: Any, training: Any = False, **kwargs: Any) -> Any:
        """Returns the inputs, with dropout if `training` (a bool, or a boolean tensor) is true."""

        def dropped() -> Any:
            return functions.dropout(inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate)

        return _either(training, dropped, lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the inputs, which is that of the output."""
        return input_shape

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one."""
        return {**super().get_config(), "rate": self.rate, "noise_shape": self.noise_shape, "seed": self.seed}


def dropout(
    inputs: Any,
    rate: float = 0.5,
    noise_shape: Any = None,
    seed: Optional[int] = None,
    training: Any = False,
    name: Optional[str] = None,
) -> Any:
    """Applies a new `Dropout` layer.

    Args:
      inputs: A tensor of floats.
      rate: The fraction of elements set to 0.
      noise_shape: As in `tf.nn.dropout`.
      seed: A seed; see `tf.set_random_seed`.
      training: A bool, or a boolean scalar tensor: if true, dropout is applied.
      name: The layer's name.

    Returns:
      A tensor of the same shape and dtype.

    Example:
      >>> print(tf.Session().run(tf.layers.dropout(tf.ones([3]), 0.5, training=False)))
      [1. 1. 1.]
    """
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name, _scope=name)(inputs, training=training)


def checked_order(data_format: str) -> str:
    """Returns `data_format` in lower case, which is the order of the dimensions of images."""
    word = data_format.lower()
    if word not in ("channels_first", "channels_last"):
        raise ValueError(f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {data_format}')
    return word


class Flatten(Layer):
    """Flattens inputs to matrices; the first dimension stays.

    Args:
      data_format: With "channels_first", the second dimension is moved to the end before. The default is
        "channels_last".
      **kwargs: As in `Layer`.

    Raises:
      ValueError: `data_format` is neither.

    Example:
      >>> tf.layers.Flatten()(tf.zeros([2, 3, 4])).shape  # It calls `layer.call`.
      TensorShape([Dimension(2), Dimension(12)])
    """

    def __init__(self, data_format: Optional[str] = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = "channels_last" if data_format is None else checked_order(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Reshapes `[batch, a, b, ..]` to `[batch, a * b * ..]`."""
        rank = inputs.get_shape().ndims
        if self.data_format == "channels_first" and rank is not None and 1 < rank:
            inputs = array_ops.transpose(inputs, [0, *range(2, rank), 1])
        shape = inputs.get_shape()
        _needs_rank(self, shape, 1)
        sizes = shape.as_list()[1:]
        size = -1
        if None not in sizes:
            size = 1
            for n in sizes:
                size *= n
        batch = dimension_value(shape[0])
        outputs = array_ops.reshape(inputs, [array_ops.shape(inputs)[0] if batch is None else batch, size])
        outputs.set_shape([batch, None if size == -1 else size])
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """Returns the first dimension, and the product of the others; None if one of them is not known."""
        first, *others = TensorShape(input_shape).as_list() or [1]
        return TensorShape([first] + ([None] if None in others else [math.prod(others)]))

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one."""
        return {**super().get_config(), "data_format": self.data_format}


def flatten(inputs: Any, name: Optional[str] = None, data_format: str = "channels_last") -> Any:
    """Applies a new `Flatten` layer.

    Args:
      inputs: A tensor of rank 1 or more.
      name: The layer's name.
      data_format: With "channels_first", the second dimension is moved to the end before.

    Returns:
      A tensor of rank 2.

    Raises:
      ValueError: `data_format` is neither "channels_first" nor "channels_last".

    Example:
      >>> tf.layers.flatten(tf.zeros([2, 3, 4])).shape
      TensorShape([Dimension(2), Dimension(12)])
    """
    return Flatten(data_format, name=name, _scope=name)(inputs)


class BatchNormalization(Layer):
    """Batch normalization: subtracts mean, divides by standard deviation, scales by `gamma`, adds `beta`.

    Statistics are over all axes but `axis`. In training they are those of the batch, and two operations in
    the collection `UPDATE_OPS` update the moving averages, which are used otherwise (Ioffe and Szegedy,
    "Batch Normalization", 2015).

    Args:
      axis: The axis that keeps its own statistics, usually that of the channels, or a list of such axes.
      momentum: The decay rate of the moving averages.
      epsilon: A constant added to the variance.
      center: If true, the layer has `beta`.
      scale: If true, the layer has `gamma`.
      beta_initializer: The initializer of `beta`; the other three variables have such an argument, too.
      beta_regularizer: A function from `beta` to a term of the loss; also for `gamma`.
      beta_constraint: A function that optimizers apply to `beta` after updates; also for `gamma`.
      renorm: If true, training corrects the statistics of a batch towards moving averages of its own (Ioffe,
        "Batch Renormalization", 2017). The layer then also has `moving_stddev`, `renorm_mean` and
        `renorm_stddev`.
      renorm_clipping: A dict with bounds of the correction: `rmin`, `rmax` and `dmax`, each a number or a
        scalar tensor. A correction without one of them has no such bound.
      renorm_momentum: The decay rate of `renorm_mean` and `renorm_stddev`.
      fused: If false, images are normalized by several operations instead of one. The one adds the variance
        without bias to the moving average.
      trainable: As in `Layer`.
      virtual_batch_size: The size of the parts of a batch that are normalized apart from each other. It
        divides the size of the batch.
      adjustment: A function from the shape of the inputs, a vector, to a scale and an offset, which training
        applies to the normalized values before `gamma` and `beta`.
      name: As in `Layer`.

    Raises:
      TypeError: `axis` is neither an int nor a list.
      ValueError: `renorm_clipping` has another key. When called: `axis` is out of range or named twice,
        `virtual_batch_size` is not positive or given with axis 0 or with `adjustment`.

    Example:
      >>> layer = tf.layers.BatchNormalization()
      >>> y = layer(tf.constant([[1.0], [3.0]]), training=True)  # It calls `layer.build` and `layer.call`.
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(2).ravel())
      [-1.  1.]
      >>> len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
      2
      >>> layer = tf.layers.BatchNormalization(renorm=True, renorm_clipping={"rmax": 3.0, "rmin": 0.3, "dmax": 5.0})
      >>> y = layer(tf.constant([[1.0], [3.0]]), training=True)
      >>> [v.op.name.split("/")[-1] for v in layer.non_trainable_variables]
      ['moving_mean', 'moving_variance', 'moving_stddev', 'renorm_mean', 'renorm_stddev']
      >>> halves = tf.layers.BatchNormalization(virtual_batch_size=2)
      >>> y = halves(tf.constant([[1.0], [2.0], [3.0], [6.0]]), training=True)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(2).ravel())
      [-1. -1.  1.  1.]
    """

    supports_masking = True

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = zeros_initializer(),
        gamma_initializer: Any = ones_initializer(),
        moving_mean_initializer: Any = zeros_initializer(),
        moving_variance_initializer: Any = ones_initializer(),
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: Optional[bool] = None,
        trainable: bool = True,
        virtual_batch_size: Optional[int] = None,
        adjustment: Any = None,
        name: Optional[str] = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis = axis
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        if renorm:
            bounds = ["rmax", "rmin", "dmax"]
            if set(renorm_clipping or {}) - set(bounds):
                raise ValueError(f"renorm_clipping {renorm_clipping} contains keys not in {bounds}")
            self.renorm_clipping = renorm_clipping or {}
            self.renorm_momentum = renorm_momentum
        self.fused = fused
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self._beta_options = configs.checked(beta_initializer, beta_regularizer, beta_constraint)
        self._gamma_options = configs.checked(gamma_initializer, gamma_regularizer, gamma_constraint)
        self._moving_initializers = tuple(map(configs.initializer_of, (moving_mean_initializer, moving_variance_initializer)))
        self.beta: Any = None
        self.gamma: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None
        self.moving_stddev: Any = None
        self.renorm_mean: Any = None
        self.renorm_stddev: Any = None

    def _axes(self, rank: int) -> List[int]:
        """Returns the axes with statistics of their own.

        Raises:
          ValueError: An axis is out of range, or named twice.
        """
        axes = [i + rank if i < 0 else i for i in (self.axis if isinstance(self.axis, list) else [self.axis])]
        for axis in axes:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(axes)) < len(axes):
            raise ValueError(f"Duplicate axis: {axes}")
        return axes

    def _check_virtual_batches(self, axes: List[int]) -> None:
        size = self.virtual_batch_size
        if size is None:
            return
        if size <= 0:
            raise ValueError("virtual_batch_size must be a positive integer that divides the true batch size of the input Tensor")
        if 0 in axes:
            raise ValueError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include 0")
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def build(self, input_shape: TensorShape) -> None:
        """Creates `gamma`, `beta` and the moving averages: vectors with the length of the axis.

        With several axes, or with virtual batches, they have the rank of the normalized values instead.

        Raises:
          ValueError: A dimension is unknown, or an argument of the layer does not fit the inputs.
        """
        input_shape = TensorShape(input_shape)
        if input_shape.ndims is None:
            raise ValueError("Input has undefined rank:", input_shape)
        _needs_rank(self, input_shape, 1)
        axes = self._axes(len(input_shape))
        self._check_virtual_batches(axes)
        sizes = {i: dimension_value(input_shape[i]) for i in axes}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", input_shape)
        self.input_spec = InputSpec(ndim=len(input_shape), axes=sizes)
        if len(axes) == 1 and self.virtual_batch_size is None:
            shape = [sizes[axes[0]]]
        else:
            shape = [sizes.get(i, 1) for i in range(len(input_shape))]
            if self.virtual_batch_size is not None:
                shape.insert(1, 1)

        def weight(name: str, options: Any) -> Any:
            initializer, regularizer, constraint = options
            return self.add_weight(
                name, shape, dtype, initializer=initializer, regularizer=regularizer, constraint=constraint
            )

        def average(name: str, initializer: Any) -> Any:
            return self.add_weight(name, shape, dtype, initializer=initializer, trainable=False)

        # The parameters of half-precision inputs are in single precision.
        dtype = dtypes.float32 if self._is_half(dtypes.as_dtype(self.dtype or dtypes.float32)) else None

        self.gamma = weight("gamma", self._gamma_options) if self.scale else None
        self.beta = weight("beta", self._beta_options) if self.center else None
        for_mean, for_variance = self._moving_initializers
        scope = get_variable_scope()
        partitioner = scope.partitioner
        scope.set_partitioner(None)  # Averages are not cut into parts: the updates assign them as a whole.
        try:
            self.moving_mean = average("moving_mean", for_mean)
            self.moving_variance = average("moving_variance", for_variance)
            if self.renorm:

                def for_stddev(*args: Any, **kwargs: Any) -> Any:
                    return math_ops.sqrt(for_variance(*args, **kwargs))

                self.moving_stddev = average("moving_stddev", for_stddev)
                self.renorm_mean = average("renorm_mean", for_mean)
                self.renorm_stddev = average("renorm_stddev", for_stddev)
        finally:
            scope.set_partitioner(partitioner)
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the inputs, which is that of the output."""
        return input_shape

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments of a layer like this one: initializers as dicts, other functions by name.

        Raises:
          ValueError: A function has no name.

        Example:
          >>> config = tf.layers.BatchNormalization(momentum=0.9).get_config()
          >>> config["momentum"], config["gamma_initializer"]["class_name"]
          (0.9, 'Ones')
        """
        mean, variance = self._moving_initializers
        config = {
            **super().get_config(),
            "axis": self.axis,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            **configs.options("beta", self._beta_options),
            **configs.options("gamma", self._gamma_options),
            "moving_mean_initializer": configs.shown(mean),
            "moving_variance_initializer": configs.shown(variance),
        }
        if self.renorm:
            config.update(renorm=True, renorm_clipping=self.renorm_clipping, renorm_momentum=self.renorm_momentum)
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config

    def call(self, inputs: Any, training: Any = False, **kwargs: Any) -> Any:
        """Returns the normalized inputs; `training` is a bool, or a boolean tensor."""
        rank = inputs.get_shape().ndims
        axes = self._axes(rank)
        axis = axes[0]
        known = get_static_value(training) if isinstance(training, Tensor) else training
        self._images = self._is_fused(inputs.get_shape(), inputs.dtype)
        if self._images:
            return self._normalize_images(inputs, axis, training, known)
        if self.virtual_batch_size is not None:
            return self._normalize_virtual_batches(inputs, axes, training, known)
        if self.renorm or self.adjustment or 1 < len(axes) or self._is_half(inputs.dtype):
            return self._normalize(inputs, axes, training, known)
        others = [i for i in range(rank) if i != axis]

        def of_batch() -> List[Any]:
            return list(functions.moments(inputs, others))

        def moving() -> List[Any]:
            return [array_ops.identity(self.moving_mean), array_ops.identity(self.moving_variance)]

        if known is None:
            mean, variance = control_flow.cond(training, of_batch, moving)
        elif known:
            mean, variance = of_batch()
        else:
            mean, variance = self.moving_mean, self.moving_variance
        if known is None or known:
            self._update(training, mean, variance)

        def along_axis(value: Any) -> Any:
            if value is None or axis == rank - 1:
                return value
            return array_ops.reshape(value, [-1 if i == axis else 1 for i in range(rank)])

        parts = [along_axis(v) for v in (mean, variance, self.beta, self.gamma)]
        outputs = nn_ops.batch_normalization(inputs, parts[0], parts[1], parts[2], parts[3], variance_epsilon=self.epsilon)
        outputs.set_shape(inputs.get_shape())
        return outputs

    # Whether one operation normalized the last inputs.
    _images = False

    def _is_fused(self, shape: TensorShape, dtype: Any) -> bool:
        """Returns whether one operation normalizes such inputs."""
        if self.renorm or self.virtual_batch_size is not None or self.adjustment is not None or self.fused is False:
            return False
        images = shape.ndims == 4 and self._axes(4) in ([1], [3])
        return images and dtype.base_dtype in (dtypes.float16, dtypes.bfloat16, dtypes.float32)

    @staticmethod
    def _is_half(dtype: Any) -> bool:
        return dtype.base_dtype in (dtypes.float16, dtypes.bfloat16)

    def _normalize_virtual_batches(self, inputs: Any, axes: List[int], training: Any, known: Optional[bool]) -> Any:
        """Normalizes the parts of a batch: the second of one dimension more says which part a row is in."""
        shape = inputs.get_shape()
        sizes = shape.as_list()[1:]
        parts = array_ops.reshape(inputs, [self.virtual_batch_size, -1, *sizes])
        outputs = self._normalize(parts, [i + 1 for i in axes], training, known)
        return array_ops.reshape(outputs, [-1, *sizes])

    def _normalize(self, inputs: Any, axes: List[int], training: Any, known: Optional[bool]) -> Any:
        """Normalizes inputs with everything that the layer can do, by several operations."""
        shape = inputs.get_shape()
        rank = len(shape)
        virtual = self.virtual_batch_size is not None
        others = [i for i in range(rank) if i not in axes and not (virtual and i == 1)]

        def along_axis(value: Any) -> Any:
            if value is None or len(value.get_shape()) == rank or others == list(range(rank - 1)):
                return value
            return array_ops.reshape(value, [dimension_value(shape[axes[0]]) if i == axes[0] else 1 for i in range(rank)])

        scale, offset = along_axis(self.gamma), along_axis(self.beta)
        if known is not None and not known:
            mean, variance = self.moving_mean, self.moving_variance
        else:

            def in_training(value: Any, otherwise: Callable[[], Any]) -> Any:
                return _either(training, lambda: value, otherwise)

            if self.adjustment is not None:
                by, plus = self.adjustment(array_ops.shape(inputs))
                by, plus = in_training(by, lambda: array_ops.ones_like(by)), in_training(plus, lambda: array_ops.zeros_like(plus))
                scale, offset = _after(by, plus, scale, offset)
            values = math_ops.cast(inputs, self.moving_mean.dtype.base_dtype)
            mean, variance = functions.moments(values, others, keep_dims=virtual or 1 < len(axes))
            mean = in_training(mean, lambda: array_ops.identity(self.moving_mean))
            variance = in_training(variance, lambda: array_ops.identity(self.moving_variance))
            new = mean, variance
            if virtual:
                new = reduction_ops.reduce_mean(mean, 1, keepdims=True), reduction_ops.reduce_mean(variance, 1, keepdims=True)
            if self.renorm:
                by, plus, new = self._correct(new[0], new[1], training)
                scale, offset = _after(along_axis(by), along_axis(plus), scale, offset)
            self._update_averages(new[0], new[1], training)

        def as_inputs(value: Any) -> Any:
            return None if value is None else math_ops.cast(value, inputs.dtype)

        mean, variance, offset, scale = as_inputs(mean), as_inputs(variance), as_inputs(offset), as_inputs(scale)
        outputs = nn_ops.batch_normalization(
            inputs, along_axis(mean), along_axis(variance), offset, scale, variance_epsilon=self.epsilon
        )
        outputs.set_shape(shape)
        return outputs

    def _correct(self, mean: Any, variance: Any, training: Any) -> Any:
        """Returns the scale and the offset that renormalization applies, and the moments to average.

        The correction uses the averages from before this step's update.
        """
        stddev = math_ops.sqrt(variance + self.epsilon)
        # It is 0 in the first steps.
        average = op("Maximum")(self.renorm_stddev, math_ops.sqrt(self.epsilon))
        by, plus = stddev / average, (mean - self.renorm_mean) / average
        with control_dependencies([by, plus]):
            mean, stddev = array_ops.identity(mean), array_ops.identity(stddev)
        least, most, distance = [self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax")]
        by = by if least is None else op("Maximum")(by, least)
        by = by if most is None else op("Minimum")(by, most)
        if distance is not None:
            plus = op("Minimum")(op("Maximum")(plus, -distance), distance)
        by = _either(training, lambda: by, lambda: array_ops.ones_like(by))
        plus = _either(training, lambda: plus, lambda: array_ops.zeros_like(plus))

        def updated(variable: Any, value: Any) -> Any:
            value = array_ops.identity(value)
            return _either(
                training,
                lambda: self._toward(variable, value, self.renorm_momentum),
                lambda: array_ops.identity(variable),
            )

        with control_dependencies([updated(self.renorm_mean, mean), updated(self.renorm_stddev, stddev)]):
            moments = array_ops.identity(mean), array_ops.identity(variance)
        constant_in_gradients = op("StopGradient")
        return constant_in_gradients(by, name="renorm_r"), constant_in_gradients(plus, name="renorm_d"), moments

    @staticmethod
    def _toward(variable: Any, value: Any, momentum: float) -> Any:
        """Moves an average towards a value."""
        with name_scope("AssignMovingAvg") as scope:
            rate = math_ops.cast(constant(1.0 - momentum, name="decay"), variable.dtype.base_dtype)
            return state_ops.assign_sub(variable, (variable - math_ops.cast(value, variable.dtype.base_dtype)) * rate, name=scope)

    def _update_averages(self, mean: Any, variance: Any, training: Any) -> None:
        """Adds the updates of the averages that inference uses."""

        def of_variance() -> Any:
            if not self.renorm:
                return self._toward(self.moving_variance, variance, self.momentum)
            stddev = self._toward(self.moving_stddev, math_ops.sqrt(variance + self.epsilon), self.momentum)
            # Rounding may make the difference negative.
            value = op("Relu")(stddev * stddev - self.epsilon)
            with name_scope("AssignNewValue") as scope:
                return state_ops.assign(self.moving_variance, value, name=scope)

        def of_mean() -> Any:
            return self._toward(self.moving_mean, mean, self.momentum)

        if isinstance(training, Tensor) and get_static_value(training) is None:
            # Averages that are not updated are read by two nodes more than in TensorFlow.
            node_counts.also(-4)
        self.add_update(_either(training, of_mean, lambda: array_ops.identity(self.moving_mean)), inputs=True)
        self.add_update(_either(training, of_variance, lambda: array_ops.identity(self.moving_variance)), inputs=True)

    def _normalize_images(self, inputs: Any, axis: int, training: Any, known: Optional[bool]) -> Any:
        depth = [dimension_value(inputs.get_shape()[axis])]
        scale = constant(1.0, shape=depth) if self.gamma is None else self.gamma
        offset = constant(0.0, shape=depth) if self.beta is None else self.beta
        form = "NHWC" if axis == 3 else "NCHW"

        def by_batch() -> List[Any]:
            return list(nn_ops.fused_batch_norm(inputs, scale, offset, epsilon=self.epsilon, data_format=form))

        def by_averages() -> List[Any]:
            averages = self.moving_mean, self.moving_variance
            return list(nn_ops.fused_batch_norm(inputs, scale, offset, *averages, self.epsilon, form, False))

        if known is None:
            outputs, mean, variance = control_flow.cond(training, by_batch, by_averages)
        else:
            outputs, mean, variance = by_batch() if known else by_averages()
            node_counts.also(0 if known else 1)
        if known is None or known:
            self._update(training, mean, variance)
        return outputs

    def _update(self, training: Any, mean: Any, variance: Any) -> None:
        # A rate of 0 keeps the averages when not training. TensorFlow computes that of images, and updates
        # other averages within a branch.
        node_counts.also(2 if self._images else 14 if isinstance(training, Tensor) and get_static_value(training) is None else -1)
        rate = _either(training, lambda: constant(1.0 - self.momentum), lambda: constant(0.0))
        for moving, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            with name_scope("AssignMovingAvg") as scope:
                step = (moving - op("StopGradient")(value)) * math_ops.cast(rate, value.dtype)
                update = state_ops.assign_sub(moving, step, name=scope)
            self.add_update(update, inputs=True)


def _after(by: Any, plus: Any, scale: Any, offset: Any) -> Any:
    """Returns the scale and the offset of both steps: `x * by + plus`, then those given, if any."""
    if scale is not None:
        by, plus = by * scale, plus * scale
    return by, plus if offset is None else plus + offset


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = zeros_initializer(),
    gamma_initializer: Any = ones_initializer(),
    moving_mean_initializer: Any = zeros_initializer(),
    moving_variance_initializer: Any = ones_initializer(),
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: Optional[str] = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: Optional[bool] = None,
    virtual_batch_size: Optional[int] = None,
    adjustment: Any = None,
) -> Any:
    """Applies a new `BatchNormalization` layer. Arguments are those of the class, and the following.

    Args:
      inputs: A tensor of floats.
      training: A bool, or a boolean scalar tensor: if true, the batch's own statistics are used.
      reuse: As in `tf.variable_scope`.
      renorm: As in the class, like the arguments after it.

    Returns:
      A tensor of the same shape and dtype.

    Raises:
      ValueError: As in the class.

    Example:
      >>> y = tf.layers.batch_normalization(tf.constant([[1.0], [3.0]]), training=True)
      >>> with tf.Session() as sess:
      ...     sess.run(tf.global_variables_initializer())
      ...     print(sess.run(y).round(2).ravel())
      [-1.  1.]
    """
    layer = BatchNormalization(
        axis=axis,
        momentum=momentum,
        epsilon=epsilon,
        center=center,
        scale=scale,
        beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer,
        moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer,
        beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer,
        beta_constraint=beta_constraint,
        gamma_constraint=gamma_constraint,
        trainable=trainable,
        name=name,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_momentum=renorm_momentum,
        fused=fused,
        virtual_batch_size=virtual_batch_size,
        adjustment=adjustment,
        _scope=name,
        _reuse=reuse,
    )
    return layer(inputs, training=training)
