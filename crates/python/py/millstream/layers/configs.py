"""What the arguments of layers may be besides functions, and how the layers describe them.

An activation may be a name, such as `"relu"`, and an initializer a name or a dict, as `get_config` returns
it.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

from millstream.framework import constant
from millstream.framework.op_functions import op
from millstream.nn import functions
from millstream.ops import clip_ops, math_ops, reduction_ops
from millstream.variables import initializers

# Activations ---------------------------------------------------------------------------------------------


def _softmax(x: Any) -> Any:
    rank = x.shape.ndims
    if rank is not None and rank < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    if rank is None or rank == 2:
        return functions.softmax(x)
    above = op("Exp")(x - reduction_ops.reduce_max(x, axis=-1, keepdims=True))
    return above / reduction_ops.reduce_sum(above, axis=-1, keepdims=True)


def _hard_sigmoid(x: Any) -> Any:
    return clip_ops.clip_by_value(x * constant(0.2, x.dtype.base_dtype) + constant(0.5, x.dtype.base_dtype), 0.0, 1.0)


_ACTIVATIONS: Dict[str, Optional[Callable[[Any], Any]]] = {
    "elu": op("Elu"),
    "exponential": op("Exp"),
    "hard_sigmoid": _hard_sigmoid,
    "linear": None,
    "relu": op("Relu"),
    "selu": op("Selu"),
    "sigmoid": math_ops.sigmoid,
    "softmax": _softmax,
    "softplus": op("Softplus"),
    "softsign": op("Softsign"),
    "tanh": math_ops.tanh,
}
_WORDS = {id(function): name for name, function in _ACTIVATIONS.items() if function is not None}


def activation_of(value: Any) -> Optional[Callable[[Any], Any]]:
    """Returns the activation for a function or a name; None for `"linear"` and None.

    Raises:
      TypeError: The value is neither.
      ValueError: There is no activation of this name.

    Example:
      >>> layer = tf.layers.Dense(2, activation="relu")
      >>> layer(tf.zeros([1, 3])).op.type
      'Relu'
      >>> tf.layers.Dense(2, activation="rule")
      Traceback (most recent call last):
        ...
      ValueError: Unknown activation function:rule. Names are elu, exponential, hard_sigmoid, linear, relu, selu, sigmoid, softmax, softplus, softsign, tanh; or give a function
    """
    if value is None or callable(value):
        return value  # type: ignore[no-any-return]
    if not isinstance(value, str):
        raise TypeError("Could not interpret activation function identifier: {}".format(repr(value)))
    if value not in _ACTIVATIONS:
        raise ValueError(f"Unknown activation function:{value}. Names are {', '.join(sorted(_ACTIVATIONS))}; or give a function")
    return _ACTIVATIONS[value]


# Initializers --------------------------------------------------------------------------------------------


def _uniform(minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None, dtype: Any = "float32") -> Any:
    return initializers.RandomUniform(minval, maxval, seed, dtype)


def _normal(mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None, dtype: Any = "float32") -> Any:
    return initializers.RandomNormal(mean, stddev, seed, dtype)


def _truncated(mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None, dtype: Any = "float32") -> Any:
    return initializers.TruncatedNormal(mean, stddev, seed, dtype)


_INITIALIZERS: Dict[str, Callable[..., Any]] = {
    **dict.fromkeys("Constant constant".split(), initializers.Constant),
    **dict.fromkeys("GlorotNormal glorot_normal".split(), initializers.GlorotNormal),
    **dict.fromkeys("GlorotUniform glorot_uniform".split(), initializers.GlorotUniform),
    **dict.fromkeys("Identity identity".split(), initializers.Identity),
    **dict.fromkeys("Ones ones one".split(), initializers.Ones),
    **dict.fromkeys("Orthogonal orthogonal".split(), initializers.Orthogonal),
    **dict.fromkeys("RandomNormal random_normal normal".split(), _normal),
    **dict.fromkeys("RandomUniform random_uniform uniform".split(), _uniform),
    **dict.fromkeys("TruncatedNormal truncated_normal".split(), _truncated),
    **dict.fromkeys("Zeros zeros zero".split(), initializers.Zeros),
    "VarianceScaling": initializers.VarianceScaling,
    "UniformUnitScaling": initializers.UniformUnitScaling,
    "he_normal": initializers.he_normal,
    "he_uniform": initializers.he_uniform,
    "lecun_normal": initializers.lecun_normal,
    "lecun_uniform": initializers.lecun_uniform,
}


def initializer_of(value: Any) -> Any:
    """Returns the initializer for a name or a dict with `class_name` and `config`; other values as they are.

    Raises:
      ValueError: There is no initializer of this name, the dict has other keys, or the value is neither a
        function nor one of these.

    Example:
      >>> layer = tf.layers.Dense(2, kernel_initializer="he_normal")
      >>> layer.get_config()["kernel_initializer"]["config"]["scale"]
      2.0
      >>> tf.layers.Dense(2, kernel_initializer="hi")
      Traceback (most recent call last):
        ...
      ValueError: Unknown initializer:hi
    """
    if isinstance(value, str):
        if value not in _INITIALIZERS:
            raise ValueError(f"Unknown initializer:{value}")
        return _INITIALIZERS[value]()
    if isinstance(value, dict):
        if "class_name" not in value or "config" not in value:
            raise ValueError(f"Improper config format: {value}")
        if value["class_name"] not in _INITIALIZERS:
            raise ValueError(f"Unknown initializer: {value['class_name']}")
        return _INITIALIZERS[value["class_name"]](**value["config"])
    if value is None or callable(value) or hasattr(value, "get_shape"):
        return value
    raise ValueError(f"Could not interpret initializer identifier: {value}")


def checked(initializer: Any, regularizer: Any, constraint: Any) -> Tuple[Any, Any, Any]:
    """Returns the initializer, regularizer and constraint of a variable, the first one made if it is a name.

    Raises:
      ValueError: There is no such initializer, or the constraint is a name.

    Example:
      >>> tf.layers.Dense(2, kernel_constraint="non_neg")
      Traceback (most recent call last):
        ...
      ValueError: Unknown constraint: non_neg. Give a function
    """
    if isinstance(constraint, (str, dict)):
        raise ValueError(f"Unknown constraint: {constraint}. Give a function")
    return initializer_of(initializer), regularizer, constraint


# Descriptions --------------------------------------------------------------------------------------------


def shown(value: Any) -> Any:
    """Returns what a config says of a function: its name, or its class with its arguments.

    Raises:
      ValueError: The function has neither, as a `functools.partial`.

    Example:
      >>> config = tf.layers.Dense(2, activation=tf.nn.relu).get_config()
      >>> config["activation"], config["bias_initializer"], config["kernel_regularizer"]
      ('relu', {'class_name': 'Zeros', 'config': {'dtype': 'float32'}}, None)
    """
    if value is None:
        return None
    if hasattr(value, "get_config") and not isinstance(value, type):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    name = _WORDS.get(id(value)) or getattr(value, "__name__", None)
    if name is None:
        raise ValueError("Cannot serialize", value)
    return name


def options(what: str, given: Any) -> Dict[str, Any]:
    """Returns the initializer, regularizer and constraint of a variable, for a config.

    Args:
      what: The name of the variable.
      given: The three; None if the layer has no such variable.

    Example:
      >>> config = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer()).get_config()
      >>> [config["kernel_" + word] for word in ("initializer", "regularizer", "constraint")]
      [{'class_name': 'Ones', 'config': {'dtype': 'float32'}}, None, None]
    """
    return {f"{what}_{word}": shown(value) for word, value in zip(("initializer", "regularizer", "constraint"), given)}
