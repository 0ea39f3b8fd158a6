"""`tf.contrib.framework`: `nest`; default arguments by blocks (`arg_scope`); variables found by scope and name; what stands elsewhere, too."""

from __future__ import annotations

from typing import Any, List, Optional

import millstream as tf
from millstream import nest
from millstream.contrib.framework.arg_scopes import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from millstream.framework import constant_value as _constant_value
from millstream.graph_keys import GraphKeys

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scoped_arguments",
    "assert_scalar_int",
    "current_arg_scope",
    "get_local_variables",
    "get_model_variables",
    "get_name_scope",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "has_arg_scope",
    "local_variable",
    "model_variable",
    "nest",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "variable",
    "with_same_shape",
    "with_shape",
]

_AT_THE_TOP = ("TensorSpec", "argsort", "assert_same_float_dtype", "assert_scalar", "convert_to_tensor_or_sparse_tensor", "is_tensor", "py_func", "sort")
_OF_TRAINING = (
    "assert_global_step",
    "create_global_step",
    "get_global_step",
    "get_or_create_global_step",
    "list_variables",
    "load_checkpoint",
    "load_variable",
)


def __getattr__(name: str) -> Any:
    if name in _AT_THE_TOP:
        return getattr(tf, name)
    if name in _OF_TRAINING:
        return getattr(tf.train, name)
    raise AttributeError(f"module 'millstream.contrib.framework' has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*__all__, *_AT_THE_TOP, *_OF_TRAINING})


# Variables by scope and name.


def get_variables(scope: Any = None, suffix: Optional[str] = None, collection: str = GraphKeys.GLOBAL_VARIABLES) -> List[Any]:
    """The variables of a collection in a scope, whose names end with `suffix`.

    Args:
      scope: A name, or a `VariableScope`: only those in it.
      suffix: Only those whose names end so.
      collection: The collection.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> [v.name for v in tf.contrib.framework.get_variables("layer", suffix="bias")]
      ['layer/bias:0']
    """
    name = getattr(scope, "name", scope)
    if suffix is not None:
        suffix = suffix if ":" in suffix else suffix + ":0"
        name = (name or "") + ".*" + suffix
    return tf.get_collection(collection, name)


def get_model_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """The model's variables.

    Args:
      scope: A name, or a `VariableScope`: only those in it.
      suffix: Only those whose names end so.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_model_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """The local variables.

    Args:
      scope: A name, or a `VariableScope`: only those in it.
      suffix: Only those whose names end so.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_local_variables()
      []
    """
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """The variables that are trained.

    Args:
      scope: A name, or a `VariableScope`: only those in it.
      suffix: Only those whose names end so.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> len(tf.contrib.framework.get_trainable_variables("layer"))
      2
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> List[Any]:
    """The variables whose names end so.

    Args:
      suffix: The end of the name.
      scope: Only those in it.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variables_by_suffix("ts") == [w]
      True
    """
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> List[Any]:
    """The variables with this name in some scope.

    Args:
      given_name: The last part of the name.
      scope: Only those in it.

    Returns:
      A list of variables.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variables_by_name("bias") == [b]
      True
    """
    return [v for v in get_variables(scope) if v.op.name == given_name or v.op.name.endswith("/" + given_name)]


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of this name.

    Args:
      var_op_name: The name of its operation.

    Returns:
      A variable.

    Raises:
      ValueError: There is none, or more than one.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_unique_variable("layer/bias") is b
      True
    """
    found = [v for v in get_variables(var_op_name) if v.op.name == var_op_name]
    if not found:
        raise ValueError("Couldn't find variable %s" % var_op_name)
    if len(found) > 1:
        raise ValueError("Variable %s is not unique" % var_op_name)
    return found[0]


def get_variable_full_name(var: Any) -> str:
    """The variable's name in checkpoints.

    Example:
      >>> with tf.variable_scope("layer"):
      ...     w, b = tf.get_variable("weights", [2]), tf.get_variable("bias", [2])
      >>> tf.contrib.framework.get_variable_full_name(b)
      'layer/bias'
    """
    return str(var.op.name)


def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, collections: Any = None, **kwargs: Any) -> Any:
    """`tf.get_variable`, put into other collections.

    Args:
      name: Its name.
      shape: Its shape.
      dtype: Its dtype.
      initializer: What it holds first.
      collections: A list of collections; `global_variables` by default.
      **kwargs: Other arguments of `tf.get_variable`.

    Returns:
      A variable.

    Example:
      >>> w = tf.contrib.framework.variable("w", [2], collections=["mine"])
      >>> tf.get_collection("mine") == [w], tf.global_variables() == [w]
      (True, False)
    """
    kwargs.pop("device", None)
    dtype = tf.float32 if dtype is None else dtype
    return tf.get_variable(name, shape, dtype, initializer, collections=list(collections or [GraphKeys.GLOBAL_VARIABLES]), **kwargs)


def model_variable(name: str, shape: Any = None, dtype: Any = tf.float32, initializer: Any = None, collections: Any = None, **kwargs: Any) -> Any:
    """A variable that is the model's: in the collection `model_variables`, too. Other arguments are those of `variable`.

    Args:
      name: Its name.
      shape: Its shape.
      dtype: Its dtype.
      initializer: What it holds first.
      collections: A list of further collections.

    Returns:
      A variable.

    Example:
      >>> w = tf.contrib.framework.model_variable("w", [2])
      >>> tf.model_variables() == [w]
      True
    """
    keys = list(collections or []) + [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, keys, **kwargs)


def local_variable(initial_value: Any, validate_shape: bool = True, name: Optional[str] = None, use_resource: Optional[bool] = None) -> Any:
    """A variable that is not saved: in the collection `local_variables`, not trained.

    Args:
      initial_value: Its initial value.
      validate_shape: Whether its shape must be known.
      name: Its name.
      use_resource: Whether it is behind a handle.

    Returns:
      A variable.

    Example:
      >>> n = tf.contrib.framework.local_variable(0, name="n")
      >>> tf.local_variables() == [n]
      True
    """
    return tf.Variable(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=validate_shape, name=name, use_resource=use_resource
    )


# Tensors.


def get_name_scope() -> Any:
    """The name scope that is open.

    Example:
      >>> with tf.name_scope("a"):
      ...     tf.contrib.framework.get_name_scope()
      'a'
    """
    return tf.get_default_graph().get_name_scope()


def assert_scalar_int(tensor: Any, name: Optional[str] = None) -> Any:
    """`tensor` as a tensor, which has to be a scalar of integers.

    Args:
      tensor: What becomes a tensor.
      name: A name for it.

    Returns:
      A tensor.

    Raises:
      ValueError: It is none.

    Example:
      >>> tf.contrib.framework.assert_scalar_int(3).dtype
      tf.int32
    """
    with tf.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError("Expected integer type for %s, received type: %s." % (tensor.name, tensor.dtype))
        return tf.assert_scalar(tensor, name=scope)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """`tensor`, checked to be of this shape: at once where both are known, else while running.

    Args:
      expected_shape: A list, a `TensorShape` or an integer vector.
      tensor: A tensor.

    Returns:
      A tensor.

    Raises:
      ValueError: It is known to have another shape.
      tf.errors.InvalidArgumentError: When run: it has another.

    Example:
      >>> tf.contrib.framework.with_shape([2], tf.placeholder(tf.float32)).shape
      TensorShape([Dimension(2)])
    """
    tensor = tensor if isinstance(tensor, (tf.SparseTensor, tf.Tensor)) else tf.convert_to_tensor(tensor)
    known = _constant_value(expected_shape) if isinstance(expected_shape, tf.Tensor) else tf.TensorShape(expected_shape).as_list()
    actual = tensor.get_shape()
    if known is not None and actual.is_fully_defined():
        wanted = [None if d is None or d < 0 else int(d) for d in known]
        if not actual.is_compatible_with(wanted):
            raise ValueError("Invalid shape for tensor %s, expected %s, got %s." % (tensor.name, str(wanted).replace(",", ""), actual))
        return tensor
    if known is not None:
        checked = tf.ensure_shape(tensor, tf.TensorShape([None if d is None or d < 0 else int(d) for d in known]))
        return checked
    with tf.control_dependencies([tf.assert_equal(tf.shape(tensor), expected_shape, message="Wrong shape for %s." % tensor.name)]):
        return tf.identity(tensor)


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """`tensor`, checked to be of the other's shape.

    Args:
      expected_tensor: The other.
      tensor: A tensor.

    Returns:
      A tensor.

    Raises:
      ValueError: The shapes are known to differ.

    Example:
      >>> tf.contrib.framework.with_same_shape(tf.zeros([2]), tf.ones([2])).shape
      TensorShape([Dimension(2)])
    """
    with tf.name_scope("%s/" % tensor.op.name, values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        return with_shape(shape.as_list() if shape.is_fully_defined() else tf.shape(expected_tensor), tensor)


def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Optional[str] = None) -> Any:
    """`tf.cond`, but only the branch that is taken where the predicate is known.

    Args:
      pred: A Python bool, 1 or 0, or a boolean scalar tensor. It is known if constants say it.
      true_fn: A function without arguments.
      false_fn: As `true_fn`.
      name: The name scope, if a `cond` is made.

    Returns:
      What the function returns, or what `tf.cond` does.

    Raises:
      TypeError: A function cannot be called, or the predicate is none.

    Example:
      >>> tf.contrib.framework.smart_cond(True, lambda: "taken", lambda: "left")
      'taken'
    """
    for function, called in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise TypeError("`%s` must be callable." % called)
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_constant_value(pred: Any) -> Any:
    """What a predicate is known to be.

    Args:
      pred: A tensor, a Python bool, 1 or 0.

    Returns:
      A bool, or None if it is not known.

    Raises:
      TypeError: It is something else.

    Example:
      >>> tf.contrib.framework.smart_constant_value(1), tf.contrib.framework.smart_constant_value(tf.placeholder(tf.bool))
      (True, None)
    """
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    if isinstance(pred, tf.Tensor):
        return _constant_value(pred)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: %s" % type(pred))


def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """`tf.case`, but only the branch that is taken where that is known.

    Args:
      pred_fn_pairs: As for `tf.case`, but predicates may also be Python bools. What is known, by constants or so,
        makes no node.
      default: As for `tf.case`. Without it, and if all are known not to hold, the last function is taken.
      exclusive: As for `tf.case`, of the predicates that are not known.
      name: As for `tf.case`.

    Returns:
      What the function returns, or what `tf.case` does.

    Raises:
      TypeError: A predicate is neither tensor nor bool, or what `tf.case` refuses.
      ValueError: There are no pairs.

    Example:
      >>> tf.contrib.framework.smart_case([(False, lambda: 1), (tf.constant(True), lambda: 2)], default=lambda: 3)
      2
    """
    pairs = pred_fn_pairs
    if isinstance(pairs, dict) and all(isinstance(p, tf.Tensor) for p in pairs):
        pairs = list(pairs.items()) if exclusive else sorted(pairs.items(), key=lambda pair: pair[0].name)
    if not isinstance(pairs, (list, tuple)) or not pairs or not all(isinstance(p, tuple) and len(p) == 2 and callable(p[1]) for p in pairs):
        return tf.case(pairs, default, exclusive=exclusive, name=name)  # Which says what is wrong.
    unknown = []
    for pred, function in pairs:
        if not isinstance(pred, (bool, tf.Tensor)):
            raise TypeError("pred must be a Tensor or bool, got: %s" % (pred,))
        known = smart_constant_value(pred)
        if known:
            default = function
            break
        if known is None:
            unknown.append((pred, function))
    if unknown:
        return tf.case(unknown, default, exclusive=exclusive, name=name)
    return pairs[-1][1]() if default is None else default()
