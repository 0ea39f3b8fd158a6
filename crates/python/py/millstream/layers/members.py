"""What every layer has beside its variables: `Members`, the base of `Layer`.

TensorFlow's layers of graphs share these names with Keras's. Those that tell how Keras's models connect
layers raise, as in TensorFlow: the layers of a graph do not record what they are called with.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, List, Optional

from millstream._engine import Tensor
from millstream.framework import dtypes, nest
from millstream.framework.shapes import TensorSpec
from millstream.layers.input_spec import InputSpec
from millstream.framework.module import Module
from millstream.variables.variable import Variable


def depends(target: Any, sources: Iterable[Any]) -> bool:
    """Returns whether a tensor or operation is one of the sources, or computed from one."""
    wanted = {x.op if isinstance(x, Variable) else x for x in sources}
    left, seen = [target], set()
    while left:
        value = left.pop()
        if value in wanted:
            return True
        if value in seen:
            continue
        seen.add(value)
        left += [value.op] if isinstance(value, Tensor) else [*value.inputs, *value.control_inputs]
    return False


class Members(Module):
    """The properties of a layer that graphs need little of.

    Example:
      >>> layer = tf.layers.Dense(2, name="layer", dtype=tf.float32)
      >>> layer.dtype, layer.trainable, layer.dynamic, layer.stateful, layer.graph, layer.metrics
      ('float32', True, False, False, None, [])
      >>> layer.activity_regularizer, layer.inbound_nodes, layer.outbound_nodes, layer.submodules
      (None, [], [], ())
      >>> layer.compute_output_signature(tf.TensorSpec([3, 5], tf.float32))
      TensorSpec(shape=(3, 2), dtype=tf.float32, name=None)
      >>> layer.compute_mask(tf.zeros([3, 5])), layer.input_spec
      (None, InputSpec(min_ndim=2))
    """

    _activity_regularizer: Optional[Callable[[Any], Any]] = None
    _dtype: Any = None
    _dynamic = False
    _input_spec: Any = None
    _trainable = True

    # Whether a layer keeps state from one batch to the next, and whether `compute_mask` passes masks on.
    stateful = False
    supports_masking = False

    @property
    def name(self) -> str:
        """The name: the one given, or that of the class and the number of the layer in its graph.

        The scope of its variables may have another number: see `scope_name`.
        """
        return self._name

    @property
    def dtype(self) -> Any:
        """The dtype of the variables, by its name; None before the first call, unless it was given."""
        return self._dtype

    @property
    def dynamic(self) -> bool:
        """Whether the layer was made with `dynamic=True`."""
        return self._dynamic

    @property
    def trainable(self) -> bool:
        """Whether the layer is trained. If it is set to False, it has only untrained variables."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value

    @property
    def activity_regularizer(self) -> Optional[Callable[[Any], Any]]:
        """A function from the output to a term of the loss, or None. It may be set."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Optional[Callable[[Any], Any]]) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        """What the inputs must be: an `InputSpec`, a list with one for each input, or None. It may be set.

        Raises:
          TypeError: It is set to something else.
        """
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError("Layer input_spec must be an instance of InputSpec. Got: {}".format(spec))
        self._input_spec = value

    @property
    def graph(self) -> None:
        """None: layers do not hold their graph."""
        return None

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Returns the shape and the dtype of the output for inputs of a shape and a dtype.

        Args:
          input_signature: A `TensorSpec`, or a structure of such.

        Returns:
          A `TensorSpec`, or a structure of such. The dtype is the layer's, or that of the first input.

        Raises:
          TypeError: A part of the signature is no `TensorSpec`.
        """
        for spec in nest.flatten(input_signature):
            if not isinstance(spec, TensorSpec):
                raise TypeError("Only TensorSpec signature types are supported, but saw signature signature entry: {}.".format(spec))
        output = self.compute_output_shape(nest.map_structure(lambda spec: spec.shape, input_signature))  # type: ignore[attr-defined]
        dtype = self._dtype or nest.flatten(input_signature)[0].dtype
        return nest.map_structure(lambda shape: TensorSpec(shape, dtypes.as_dtype(dtype)), output)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Returns the mask of the output: that of the inputs if the layer has `supports_masking`, else None.

        Args:
          inputs: The inputs.
          mask: Their mask.

        Raises:
          TypeError: There is a mask, and the layer does not support it.
        """
        if not self.supports_masking and any(m is not None for m in nest.flatten(mask)):
            raise TypeError("Layer " + self.name + " does not support masking, but was passed an input_mask: " + str(mask))
        return mask if self.supports_masking else None

    # Measures -----------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> List[Any]:
        """The measures that the layer added: none, since `add_metric` takes those of Keras alone."""
        return []

    def add_metric(self, value: Any, aggregation: Optional[str] = None, name: Optional[str] = None) -> None:
        """Raises an error: the measures of layers are objects of Keras, which is a library of its own.

        Args:
          value: A tensor.
          aggregation: `"mean"`.
          name: The name of the measure.

        Raises:
          NotImplementedError: The arguments are those that TensorFlow takes.
          ValueError: `aggregation` is not `"mean"`, or there is no name.

        Example:
          >>> tf.layers.Flatten().add_metric(tf.constant(1.0), "sum", "total")
          Traceback (most recent call last):
            ...
          ValueError: We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`sum`
        """
        if aggregation is not None and aggregation != "mean":
            raise ValueError("We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`%s`" % aggregation)
        if name is None:
            raise ValueError("Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), name='mean_activation', aggregation='mean')`")
        if aggregation is None:
            raise ValueError("We do not support adding an aggregated metric result tensor that is not the output of a `tf.keras.metrics.Metric` metric instance.")
        raise NotImplementedError(f"`add_metric` of layer {self.name}: the metrics of layers are objects of Keras; use `tf.metrics.mean(value)`")

    # Connections --------------------------------------------------------------------------------------------

    @property
    def inbound_nodes(self) -> List[Any]:
        """The calls that the layer recorded: none, since the layers of a graph record none."""
        return []

    @property
    def outbound_nodes(self) -> List[Any]:
        """The layers that were recorded to use the output: none."""
        return []

    def _unconnected(self) -> str:
        return "Layer " + self.name + " is not connected, no input to return."

    @property
    def input(self) -> Any:
        """Raises an error, as in TensorFlow: the layers of a graph do not record their inputs.

        Raises:
          AttributeError: Always.

        Example:
          >>> hasattr(tf.layers.Flatten(), "input")
          False
        """
        raise AttributeError(self._unconnected())

    @property
    def input_mask(self) -> Any:
        """Raises an error; see `input`.

        Raises:
          AttributeError: Always.

        Example:
          >>> hasattr(tf.layers.Flatten(), "input_mask")
          False
        """
        raise AttributeError(self._unconnected())

    @property
    def output(self) -> Any:
        """Raises an error; see `input`.

        Raises:
          AttributeError: Always.

        Example:
          >>> hasattr(tf.layers.Flatten(), "output")
          False
        """
        raise AttributeError("Layer " + self.name + " has no inbound nodes.")

    @property
    def output_mask(self) -> Any:
        """Raises an error; see `input`.

        Raises:
          AttributeError: Always.

        Example:
          >>> hasattr(tf.layers.Flatten(), "output_mask")
          False
        """
        raise AttributeError("Layer " + self.name + " has no inbound nodes.")

    @property
    def input_shape(self) -> Any:
        """Raises an error; see `input`.

        Raises:
          AttributeError: Always.

        Example:
          >>> hasattr(tf.layers.Flatten(), "input_shape")
          False
        """
        raise AttributeError("The layer has never been called and thus has no defined input shape.")

    @property
    def output_shape(self) -> Any:
        """Raises an error; see `input`. `compute_output_shape` tells the shape for inputs of a shape.

        Raises:
          AttributeError: Always.

        Example:
          >>> hasattr(tf.layers.Flatten(), "output_shape")
          False
        """
        raise AttributeError("The layer has never been called and thus has no defined output shape.")

    def _at(self, what: str) -> Any:
        raise RuntimeError("The layer has never been called and thus has no defined " + what + ".")

    def get_input_at(self, node_index: int) -> Any:
        """Raises an error; see `input`.

        Args:
          node_index: The number of a call.

        Raises:
          RuntimeError: Always.

        Example:
          >>> tf.layers.Flatten().get_input_at(0)
          Traceback (most recent call last):
            ...
          RuntimeError: The layer has never been called and thus has no defined input.
        """
        return self._at("input")

    def get_input_mask_at(self, node_index: int) -> Any:
        """Raises an error; see `input`.

        Args:
          node_index: The number of a call.

        Raises:
          RuntimeError: Always.

        Example:
          >>> tf.layers.Flatten().get_input_mask_at(0)
          Traceback (most recent call last):
            ...
          RuntimeError: The layer has never been called and thus has no defined input.
        """
        return self._at("input")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Raises an error; see `input`.

        Args:
          node_index: The number of a call.

        Raises:
          RuntimeError: Always.

        Example:
          >>> tf.layers.Flatten().get_input_shape_at(0)
          Traceback (most recent call last):
            ...
          RuntimeError: The layer has never been called and thus has no defined input shape.
        """
        return self._at("input shape")

    def get_output_at(self, node_index: int) -> Any:
        """Raises an error; see `input`.

        Args:
          node_index: The number of a call.

        Raises:
          RuntimeError: Always.

        Example:
          >>> tf.layers.Flatten().get_output_at(0)
          Traceback (most recent call last):
            ...
          RuntimeError: The layer has never been called and thus has no defined output.
        """
        return self._at("output")

    def get_output_mask_at(self, node_index: int) -> Any:
        """Raises an error; see `input`.

        Args:
          node_index: The number of a call.

        Raises:
          RuntimeError: Always.

        Example:
          >>> tf.layers.Flatten().get_output_mask_at(0)
          Traceback (most recent call last):
            ...
          RuntimeError: The layer has never been called and thus has no defined output.
        """
        return self._at("output")

    def get_output_shape_at(self, node_index: int) -> Any:
        """Raises an error; see `input`.

        Args:
          node_index: The number of a call.

        Raises:
          RuntimeError: Always.

        Example:
          >>> tf.layers.Flatten().get_output_shape_at(0)
          Traceback (most recent call last):
            ...
          RuntimeError: The layer has never been called and thus has no defined output shape.
        """
        return self._at("output shape")
