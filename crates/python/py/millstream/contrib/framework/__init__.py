"""`tf.contrib.framework`: `nest`, default arguments (`arg_scope`), variables by scope and name, and aliases.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.contrib.framework.arg_scopes import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from millstream.contrib.framework.deprecations import deprecated, deprecated_arg_values, deprecated_args
from millstream.contrib.framework.graphs import *  # noqa: F403
from millstream.contrib.framework.graphs import __all__ as _graphs
from millstream.contrib.framework.kernels import *  # noqa: F403
from millstream.contrib.framework.kernels import __all__ as _kernels
from millstream.contrib.framework.variables import *  # noqa: F403
from millstream.contrib.framework.variables import __all__ as _variables
from millstream.framework import (
    SparseTensor,
    constant_value as _constant_value,
    control_dependencies,
    convert_to_tensor,
    get_default_graph,
    name_scope,
    namespaces,
    nest,
)
from millstream.framework.bounded_specs import BoundedTensorSpec
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.ops import array_ops, check_ops, control_flow, host_functions, math_ops, reduction_ops
from millstream.train import checkpoints

__all__ = [
    *_graphs,
    *_kernels,
    *_variables,
    "BoundedTensorSpec",
    "add_arg_scope",
    "arg_scope",
    "arg_scoped_arguments",
    "assert_scalar_int",
    "current_arg_scope",
    "deprecated",
    "deprecated_arg_values",
    "deprecated_args",
    "get_name_scope",
    "has_arg_scope",
    "list_variables",
    "load_checkpoint",
    "load_variable",
    "nest",
    "py_func",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "with_same_shape",
    "with_shape",
]

# Names of other namespaces that are found here, too.
_PLACES = {
    "TensorSpec": "millstream.framework.shapes:TensorSpec",
    "argsort": "millstream.ops.counting_ops:argsort",
    "assert_global_step": "millstream.train.training_util:assert_global_step",
    "assert_same_float_dtype": "millstream.ops.check_ops:assert_same_float_dtype",
    "assert_scalar": "millstream.ops.check_ops:assert_scalar",
    "convert_to_tensor_or_sparse_tensor": "millstream.framework:convert_to_tensor_or_sparse_tensor",
    "create_global_step": "millstream.train.training_util:create_global_step",
    "get_global_step": "millstream.train.training_util:get_global_step",
    "get_or_create_global_step": "millstream.train.training_util:get_or_create_global_step",
    "is_tensor": "millstream.ops.shape_ops:is_tensor",
    "init_from_checkpoint": "millstream.train.checkpoint_init:init_from_checkpoint",
    "prepend_name_scope": "millstream.framework.scopes:prepend_name_scope",
    "sort": "millstream.ops.counting_ops:sort",
    "strip_name_scope": "millstream.framework.scopes:strip_name_scope",
}
namespaces.place("contrib.framework", _PLACES)

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> List[str]:
    return sorted({*__all__, *_PLACES})


def get_name_scope() -> Any:
    """Returns the current name scope.

    Example:
      >>> with tf.name_scope("a"):
      ...     tf.contrib.framework.get_name_scope()
      'a'
    """
    return get_default_graph().get_name_scope()


def assert_scalar_int(tensor: Any, name: Optional[str] = None) -> Any:
    """Converts a value to a tensor, which must be an integer scalar.

    Args:
      tensor: A value that converts to a tensor.
      name: A name for the operation.

    Returns:
      A tensor.

    Raises:
      ValueError: The value is not an integer scalar.

    Example:
      >>> tf.contrib.framework.assert_scalar_int(3).dtype
      tf.int32
    """
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError("Expected integer type for %s, received type: %s." % (tensor.name, tensor.dtype))
        return check_ops.assert_scalar(tensor, name=scope)


def with_shape(expected_shape: Any, tensor: Any) -> Any:
    """Checks the shape of a tensor: at once if both shapes are known, otherwise at run time.

    Args:
      expected_shape: A list, a `TensorShape` or an integer vector.
      tensor: A tensor.

    Returns:
      A tensor.

    Raises:
      ValueError: The tensor is known to have another shape.
      tf.errors.InvalidArgumentError: When run: the tensor has another shape.

    Example:
      >>> tf.contrib.framework.with_shape([2], tf.placeholder(tf.float32)).shape
      TensorShape([Dimension(2)])
    """
    tensor = tensor if isinstance(tensor, (SparseTensor, Tensor)) else convert_to_tensor(tensor)
    known = _constant_value(expected_shape) if isinstance(expected_shape, Tensor) else TensorShape(expected_shape).as_list()
    actual = tensor.get_shape()
    if known is not None and actual.is_fully_defined():
        wanted = [None if d is None or d < 0 else int(d) for d in known]
        if not actual.is_compatible_with(wanted):
            raise ValueError("Invalid shape for tensor %s, expected %s, got %s." % (tensor.name, str(wanted).replace(",", ""), actual))
        return tensor
    if known is not None and any(d is None for d in known):
        listed = str(list(known)).replace(",", "")
        raise ValueError("Invalid dtype object for shape %s expected of tensor %s." % (listed, tensor.name))
    wanted_shape: Any = expected_shape if isinstance(expected_shape, Tensor) else np.array(known, np.int32)
    with name_scope("%s/" % tensor.op.name), control_dependencies([_assert_shape(wanted_shape, tensor)]):
        checked = array_ops.identity(tensor)
    if known is not None:
        checked.set_shape([None if d < 0 else int(d) for d in known])
    return checked


def _assert_shape(expected: Any, tensor: Tensor) -> Any:
    """Returns an assertion about the shape of a tensor, made of TensorFlow's nodes: seeds depend on their
    number."""
    with name_scope("assert_shape"):
        actual = array_ops.shape(tensor, name="actual")
        with name_scope("is_shape") as scope:
            size = array_ops.size(expected)
            with name_scope("is_rank") as inner:
                same_rank = math_ops.equal(size, array_ops.rank(tensor, name="actual"), name=inner)
            with name_scope("shape_tensor_equal") as inner:
                unknown, equal = math_ops.equal(expected, -1), math_ops.equal(expected, actual, name="equal_1")
                either = op("LogicalOr")(unknown, equal, name="exclude_partial_shape")
                same = reduction_ops.reduce_all(either, name=inner)
            matches = op("LogicalAnd")(same_rank, same, name=scope)
        return control_flow.assert_(matches, ["Wrong shape for %s [expected] [actual]." % tensor.name, expected, actual])


def with_same_shape(expected_tensor: Any, tensor: Any) -> Any:
    """Checks that a tensor has the shape of another.

    Args:
      expected_tensor: A tensor of the expected shape.
      tensor: A tensor.

    Returns:
      A tensor.

    Raises:
      ValueError: The shapes are known to differ.

    Example:
      >>> tf.contrib.framework.with_same_shape(tf.zeros([2]), tf.ones([2])).shape
      TensorShape([Dimension(2)])
    """
    with name_scope("%s/" % tensor.op.name, values=[expected_tensor, tensor]):
        shape = expected_tensor.get_shape()
        return with_shape(shape.as_list() if shape.is_fully_defined() else array_ops.shape(expected_tensor, name="expected_shape"), tensor)


def smart_cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: Optional[str] = None) -> Any:
    """As `tf.cond`, but builds only the branch taken if the predicate is known.

    Args:
      pred: A Python bool, 1 or 0, or a boolean scalar tensor, known if it is a constant.
      true_fn: A function without arguments.
      false_fn: A function without arguments.
      name: The name scope, if a `cond` is built.

    Returns:
      The result of the function, or of `tf.cond`.

    Raises:
      TypeError: A function is not callable, or `pred` is none of the above.

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
    return control_flow.cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)


def smart_constant_value(pred: Any) -> Any:
    """Returns the value of a predicate if it is known.

    Args:
      pred: A tensor, a Python bool, 1 or 0.

    Returns:
      A bool, or None if it is not known.

    Raises:
      TypeError: `pred` is none of these.

    Example:
      >>> (tf.contrib.framework.smart_constant_value(1),
      ...  tf.contrib.framework.smart_constant_value(tf.placeholder(tf.bool)))
      (True, None)
    """
    if isinstance(pred, (bool, int)) and pred in (0, 1):
        return bool(pred)
    if isinstance(pred, Tensor):
        return _constant_value(pred)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: %s" % type(pred))


def smart_case(pred_fn_pairs: Any, default: Any = None, exclusive: bool = False, name: str = "smart_case") -> Any:
    """As `tf.case`, but builds only the branch taken if it is known.

    Args:
      pred_fn_pairs: As in `tf.case`, but predicates may also be Python bools. Known predicates add no
        operations.
      default: As in `tf.case`. Without it, the last function is called if all predicates are known to be
        false.
      exclusive: As in `tf.case`, for unknown predicates.
      name: As in `tf.case`.

    Returns:
      The result of the function, or of `tf.case`.

    Raises:
      TypeError: A predicate is neither a tensor nor a bool, or `tf.case` raises it.
      ValueError: `pred_fn_pairs` is empty.

    Example:
      >>> tf.contrib.framework.smart_case([(False, lambda: 1), (tf.constant(True), lambda: 2)],
      ...     default=lambda: 3)
      2
    """
    pairs = pred_fn_pairs
    if isinstance(pairs, dict) and all(isinstance(p, Tensor) for p in pairs):
        pairs = list(pairs.items()) if exclusive else sorted(pairs.items(), key=lambda pair: pair[0].name)
    if not isinstance(pairs, (list, tuple)) or not pairs or not all(isinstance(p, tuple) and len(p) == 2 and callable(p[1]) for p in pairs):
        return control_flow.case(pairs, default, exclusive=exclusive, name=name)  # Raises the error.
    unknown = []
    for pred, function in pairs:
        if not isinstance(pred, (bool, Tensor)):
            raise TypeError("pred must be a Tensor or bool, got: %s" % (pred,))
        known = smart_constant_value(pred)
        if known:
            default = function
            break
        if known is None:
            unknown.append((pred, function))
    if unknown:
        return control_flow.case(unknown, default, exclusive=exclusive, name=name)
    return pairs[-1][1]() if default is None else default()


def load_checkpoint(filepattern: str) -> Any:
    """As `tf.train.load_checkpoint`, whose argument has another name.

    Args:
      filepattern: A checkpoint or a directory.

    Returns:
      A `CheckpointReader`.

    Example:
      >>> import os, tempfile
      >>> v, folder = tf.Variable([1.0, 2.0], name="v"), tempfile.mkdtemp()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = tf.train.Saver().save(sess, os.path.join(folder, "model"))
      >>> tf.contrib.framework.load_checkpoint(filepattern=folder).get_variable_to_shape_map()
      {'v': [2]}
    """
    return checkpoints.load_checkpoint(filepattern)


def load_variable(checkpoint_dir: str, name: str) -> Any:
    """As `tf.train.load_variable`, whose argument has another name.

    Args:
      checkpoint_dir: A checkpoint or a directory.
      name: The variable's name; ":0" at its end is ignored.

    Returns:
      An array.

    Example:
      >>> import os, tempfile
      >>> v, folder = tf.Variable([1.0, 2.0], name="v"), tempfile.mkdtemp()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = tf.train.Saver().save(sess, os.path.join(folder, "model"))
      >>> print(tf.contrib.framework.load_variable(checkpoint_dir=folder, name="v:0"))
      [1. 2.]
    """
    return checkpoints.load_variable(checkpoint_dir, name)


def list_variables(checkpoint_dir: str) -> List[Tuple[str, List[int]]]:
    """As `tf.train.list_variables`, whose argument has another name.

    Args:
      checkpoint_dir: A checkpoint or a directory.

    Returns:
      A list of pairs of a name and a list of ints.

    Example:
      >>> import os, tempfile
      >>> v, folder = tf.Variable([1.0, 2.0], name="v"), tempfile.mkdtemp()
      >>> with tf.Session() as sess:
      ...     sess.run(v.initializer)
      ...     path = tf.train.Saver().save(sess, os.path.join(folder, "model"))
      >>> tf.contrib.framework.list_variables(checkpoint_dir=folder)
      [('v', [2])]
    """
    return checkpoints.list_variables(checkpoint_dir)


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Any = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: Optional[str] = None,
) -> Any:
    """Calls a Python function whose arguments and results are structures of values; see `tf.py_func`.

    Args:
      func: A function of arrays.
      args: A list or tuple of its arguments: tensors, or structures of them.
      kwargs: A dict of its keyword arguments.
      output_types: A structure of the dtypes of its results, or a function of the arguments that returns it.
      output_shapes: A structure of static shapes, or a function of the arguments that returns it.
      stateful: If false, equal arguments give equal results, without side effects.
      name: A name for the operation.

    Returns:
      Tensors in the structure of `output_types`.

    Raises:
      TypeError: `args` is not a list or tuple, or `kwargs` not a dict.

    Example:
      >>> def move(point, by):
      ...     return {"x": point["x"] + by, "y": point["y"] + by}
      >>> moved = tf.contrib.framework.py_func(
      ...     move, [{"x": 1.0, "y": tf.constant(2.0)}], {"by": np.float32(3.0)},
      ...     output_types={"x": tf.float32, "y": tf.float32}, output_shapes={"x": [], "y": []})
      >>> print(moved["x"].shape, *tf.Session().run([moved["x"], moved["y"]]))
      () 4.0 5.0
    """
    kwargs = {} if kwargs is None else kwargs
    for what, value, kinds in (("args must be list", args, (list, tuple)), ("kwargs must be dict", kwargs, dict)):
        if not isinstance(value, kinds):  # type: ignore[arg-type]
            raise TypeError("%s and not %s. args: %s" % (what, type(value), value))
    if callable(output_types):
        output_types = output_types(*args, **kwargs)
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    given = (args, kwargs)

    def call(*values: Any) -> Any:
        positional, by_name = nest.pack_sequence_as(given, values)
        results = func(*positional, **by_name)
        nest.assert_shallow_structure(output_types, results)
        return nest.flatten(results)

    tensors = host_functions.py_func(call, nest.flatten(given), nest.flatten(output_types), stateful, name)
    if output_shapes is not None:
        as_shapes = nest.map_structure_up_to(output_types, TensorShape, output_shapes)
        for tensor, shape in zip(tensors, nest.flatten(as_shapes)):
            tensor.set_shape(shape)
    return nest.pack_sequence_as(output_types, tensors)
