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
    """The variables of a collection in a scope, whose names end with `suffix`."""
    name = getattr(scope, "name", scope)
    if suffix is not None:
        suffix = suffix if ":" in suffix else suffix + ":0"
        name = (name or "") + ".*" + suffix
    return tf.get_collection(collection, name)


def get_model_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """The model's variables."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """The local variables."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: Optional[str] = None) -> List[Any]:
    """The variables that are trained."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> List[Any]:
    """The variables whose names end so."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> List[Any]:
    """The variables with this name in some scope."""
    return [v for v in get_variables(scope) if v.op.name == given_name or v.op.name.endswith("/" + given_name)]


def get_unique_variable(var_op_name: str) -> Any:
    """The variable of this name; `ValueError` if there is none, or more than one."""
    found = [v for v in get_variables(var_op_name) if v.op.name == var_op_name]
    if not found:
        raise ValueError("Couldn't find variable %s" % var_op_name)
    if len(found) > 1:
        raise ValueError("Variable %s is not unique" % var_op_name)
    return found[0]


def get_variable_full_name(var: Any) -> str:
    """The variable's name in checkpoints."""
    return str(var.op.name)


def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, collections: Any = None, **kwargs: Any) -> Any:
    """`tf.get_variable`, in collections besides that of global variables."""
    kwargs.pop("device", None)
    dtype = tf.float32 if dtype is None else dtype
    return tf.get_variable(name, shape, dtype, initializer, collections=list(collections or [GraphKeys.GLOBAL_VARIABLES]), **kwargs)


def model_variable(name: str, shape: Any = None, dtype: Any = tf.float32, initializer: Any = None, collections: Any = None, **kwargs: Any) -> Any:
    """A variable that is the model's."""
    keys = list(collections or []) + [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, keys, **kwargs)


def local_variable(initial_value: Any, validate_shape: bool = True, name: Optional[str] = None, use_resource: Optional[bool] = None) -> Any:
    """A variable that is not saved."""
    return tf.Variable(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=validate_shape, name=name, use_resource=use_resource
    )


# Tensors.


def get_name_scope() -> Any:
    """The name scope that is open."""
    return tf.get_default_graph().get_name_scope()


def assert_scalar_int(tensor: Any, name: Optional[str] = None) -> Any:
    """`tensor` as a tensor; `ValueError` unless it is a scalar of integers."""
    with tf.name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = tf.convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError("Expected integer type for %s, received type: %s." % (tensor.name, tensor.dtype))
        return tf.assert_scalar(tensor, name=scope)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """`tensor`, checked to be of this shape: at once where both are known, else while running."""
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
    """`tensor`, checked to be of the other's shape."""
    with tf.name_scope("%s/" % tensor.op.name, values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        return with_shape(shape.as_list() if shape.is_fully_defined() else tf.shape(expected_tensor), tensor)


def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Optional[str] = None) -> Any:
    """`tf.cond`, but only the branch that is taken where the predicate is known."""
    for function, called in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise TypeError("`%s` must be callable." % called)
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return tf.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_constant_value(pred: Any) -> Any:
    """What a predicate is known to be; None if it is not."""
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    if isinstance(pred, tf.Tensor):
        return _constant_value(pred)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: %s" % type(pred))


def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """`tf.case`, but only the branch that is taken where that is known."""
    return tf.case(pred_fn_pairs, default, exclusive=exclusive, name=name)
