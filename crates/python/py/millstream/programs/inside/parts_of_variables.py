"""Internal names of TensorFlow's modules for variables, optimizers and assertions: `NAMES`, by module."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from millstream import losses
from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, get_default_graph, name_scope
from millstream.framework.constant_values import value_to_check
from millstream.framework.op_functions import op
from millstream.framework.session import Session, get_default_session
from millstream.ops import array_ops, check_ops, math_ops, weights
from millstream.train import session_manager
from millstream.variables import initializers, partitions, scopes
from millstream.variables.variable import ResourceVariable, Variable

# Variable scopes --------------------------------------------------------------------------------------------


class VariableStore:
    """The variables that `get_variable` made in a graph."""

    def __init__(self) -> None:
        self._graph = get_default_graph()

    @property
    def _vars(self) -> Dict[str, Any]:
        with self._graph.as_default():
            return scopes.variables_by_name()

    @property
    def _partitioned_vars(self) -> Dict[str, Any]:
        with self._graph.as_default():
            return dict(scopes._store().partitioned)

    def get_variable(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Returns the variable of a full name; the arguments are those of `tf.get_variable`, and `reuse`."""
        scope = scopes.VariableScope(kwargs.pop("reuse", None))
        return scope.get_variable(self, name, *args, **kwargs)


class PartitionInfo(partitions.PartitionInfo):
    """The part of a variable for which an initializer is called, with checks of its arguments."""

    def __init__(self, full_shape: Any, var_offset: Any) -> None:
        for word, given in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(given, (list, tuple)):
                raise TypeError("`%s` must be a sequence (like tuple or list) instead of %s" % (word, type(given).__name__))
        if len(var_offset) != len(full_shape):
            raise ValueError(
                "Expected equal length, but `var_offset` is of length %d while full_shape is of length %d." % (len(var_offset), len(full_shape))
            )
        super().__init__(list(full_shape), list(var_offset))

    def single_offset(self, shape: Any) -> int:
        """Returns where the part begins along the axis that is cut."""
        return int(self.var_offset[self.single_slice_dim(shape)])

    def single_slice_dim(self, shape: Any) -> int:
        """Returns the axis along which a part of this shape was cut; 0 if it is the whole."""
        if not isinstance(shape, (tuple, list)):
            raise TypeError("`shape` must be a sequence (like tuple or list) instead of %s" % type(shape).__name__)
        if len(shape) != len(self.full_shape):
            raise ValueError("Expected equal length, but received shape=%s of length %d while self.full_shape=%s is of length %d." % (shape, len(shape), self.full_shape, len(self.full_shape)))
        for i, size in enumerate(shape):
            if self.var_offset[i] + size > self.full_shape[i]:
                raise ValueError(
                    "With self.var_offset=%s, a partition of shape=%s would exceed self.full_shape=%s in dimension %d."
                    % (self.var_offset, shape, self.full_shape, i)
                )
        cut = [i for i, size in enumerate(shape) if size != self.full_shape[i]]
        if len(cut) > 1:
            raise ValueError(
                "Cannot use single_slice_dim() with shape=%s and self.full_shape=%s since slice dim could be either dimension %d or %d."
                % (shape, self.full_shape, cut[-1], cut[0])
            )
        return cut[0] if cut else 0


def default_variable_creator(next_creator: Any = None, **kwargs: Any) -> Any:
    """Creates a variable: what the innermost creator of `variable_creator_scope` calls."""
    return Variable(**kwargs)


def unique_variable_scope(prefix: str) -> str:
    """Returns a name for a scope that is not in use within the current one."""
    store = scopes._store()
    return scopes.variable_scope._unused(store, store.current.name, prefix)


# Handles ----------------------------------------------------------------------------------------------------


def var_is_initialized_op(resource: Any, name: Optional[str] = None) -> Any:
    """Returns whether the variable behind a handle has a value."""
    return op("VarIsInitializedOp")(resource, name=name)


def shape_safe_assign_variable_handle(handle: Any, shape: Any, value: Any, name: Optional[str] = None) -> Any:
    """Returns the operation that assigns a value of the variable's shape to the one behind a handle."""
    value = convert_to_tensor(value)
    value.shape.assert_is_compatible_with(shape)
    return op("AssignVariableOp")(handle, value, name=name)


def is_resource_variable(var: Any) -> bool:
    """Returns whether a variable is one behind a handle."""
    return isinstance(var, ResourceVariable)


def variable_op(shape: Any, dtype: Any, name: str = "Variable", set_shape: bool = True, container: str = "", shared_name: str = "") -> Any:
    """Returns the reference of a new `VariableV2`; without a static shape if `set_shape` is false."""
    return variable_op_v2(shape if set_shape else None, dtype, name, container, shared_name)


def variable_op_v2(shape: Any, dtype: Any, name: str = "Variable", container: str = "", shared_name: str = "") -> Any:
    """Returns the reference of a new `VariableV2`."""
    return op("VariableV2")(shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)


# Initializers -----------------------------------------------------------------------------------------------


def compute_fans(shape: Any) -> Tuple[Any, Any]:
    """Returns the number of inputs and of outputs of weights of this shape."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = 1
    for size in shape[:-2]:
        field *= size
    return shape[-2] * field, shape[-1] * field


# Checkpoints ------------------------------------------------------------------------------------------------


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Returns the name of the file of a checkpoint's graph."""
    return "%s.%s" % (re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename), meta_graph_suffix)


# Optimizers -------------------------------------------------------------------------------------------------


def var_key(var: Any) -> Tuple[Any, str]:
    """Returns what identifies a variable among those of all graphs."""
    return var.op.graph, var.op.name


# Graphs -----------------------------------------------------------------------------------------------------


def assert_same_graph(original_item: Any, item: Any) -> None:
    """Raises an error if two tensors or operations are of different graphs.

    Raises:
      ValueError: They are.
    """
    if original_item.graph is not item.graph:
        raise ValueError("%s must be from the same graph as %s." % (item, original_item))


def eval_using_default_session(tensors: Any, feed_dict: Any, graph: Any, session: Optional[Session] = None) -> Any:
    """Runs tensors in a session, or in the default one, and returns their values.

    Raises:
      ValueError: There is no session, or it is one of another graph.
    """
    return _session_for(graph, session, "evaluate tensor", "`eval(session=sess)`", "the tensor's").run(tensors, feed_dict)


def run_using_default_session(operation: Any, feed_dict: Any, graph: Any, session: Optional[Session] = None) -> None:
    """Runs an operation in a session, or in the default one.

    Raises:
      ValueError: There is no session, or it is one of another graph.
    """
    _session_for(graph, session, "execute operation", "`run(session=sess)`", "the operation's").run(operation, feed_dict)


def _session_for(graph: Any, session: Any, what: str, call: str, whose: str) -> Any:
    given = "the given" if session is not None else "the default"
    session = session if session is not None else get_default_session()
    if session is None:
        raise ValueError("Cannot %s using `%s`: No default session is registered. Use `with sess.as_default()` or pass an explicit session to %s" % (what, call.split("(")[0][1:] + "()", call))
    if session.graph is not graph:
        raise ValueError("Cannot use %s session to %s: %s graph is different from the session's graph." % (given, what, whose))
    return session


# Measures and losses ----------------------------------------------------------------------------------------


def remove_squeezable_dimensions(labels: Any, predictions: Any, expected_rank_diff: int = 0, name: Optional[str] = None) -> Any:
    """Returns both without a last dimension of 1 that makes their ranks differ otherwise than expected."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        return weights.squeeze_pair(labels, predictions, expected_rank_diff)


def num_elements(values: Any) -> Any:
    """Returns the number of elements, in the dtype of the elements."""
    with name_scope(None, "num_elements", [values]) as scope:
        return math_ops.cast(array_ops.size(values), values.dtype, name=scope)


def num_present(values: Any, weight: Any, per_batch: bool = False) -> Any:
    """Returns the number of elements whose weight is not zero; with `per_batch`, that of each example."""
    if isinstance(weight, float) and weight != 0.0:
        return num_elements(values)
    with name_scope(None, "num_present", [values, weight]):
        return losses._present(convert_to_tensor(values), convert_to_tensor(weight), per_batch)


def safe_scalar_div(numerator: Any, denominator: Any, name: str) -> Any:
    """Returns the quotient of two scalars; 0 if the denominator is."""
    numerator.get_shape().with_rank_at_most(1)
    denominator.get_shape().with_rank_at_most(1)
    return math_ops.div_no_nan(numerator, denominator, name=name)


# Assertions -------------------------------------------------------------------------------------------------


def maybe_constant_value_string(t: Any) -> Any:
    """Returns the value of a tensor as text, if it is known; otherwise the tensor."""
    if not isinstance(t, Tensor):
        return str(t)
    value = value_to_check(t)
    return t if value is None else str(value)


def shape_and_dtype_str(tensor: Any) -> str:
    """Returns the shape and the dtype of a tensor as text."""
    return "shape=%s dtype=%s" % (tensor.shape, tensor.dtype.name)


def dimension_sizes(x: Any) -> List[Any]:
    """Returns the sizes of a tensor: numbers where they are known, else tensors; [1] for a scalar."""
    dynamic, rank = array_ops.shape(x), x.get_shape().ndims
    if rank is None:
        raise ValueError("the rank of %s is not known, so its sizes are not" % x)
    return [size if size is not None else dynamic[i] for i, size in enumerate(x.get_shape().as_list())] or [1]


def symbolic_dimension_sizes(symbolic_shape: Any) -> Any:
    """Returns the sizes that `assert_shapes` is given; [1] of a scalar."""
    return symbolic_shape or [1]


def has_known_value(dimension_size: Any) -> bool:
    """Returns whether a size is a number."""
    return not isinstance(dimension_size, Tensor) and _is_number(dimension_size)


def _is_number(size: Any) -> bool:
    try:
        int(size)
        return True
    except (TypeError, ValueError):
        return False


def is_symbol_for_any_size(symbol: Any) -> bool:
    """Returns whether a symbol of `assert_shapes` means any size."""
    return symbol in [None, "."]


NAMES: Dict[str, Dict[str, Callable[..., Any]]] = {
    "python.framework.ops": {
        "_assert_same_graph": assert_same_graph,
        "_eval_using_default_session": eval_using_default_session,
        "_run_using_default_session": run_using_default_session,
    },
    "python.ops.check_ops": {
        "NUMERIC_TYPES": check_ops.NUMERIC_TYPES,  # type: ignore[dict-item]
        "_dimension_sizes": dimension_sizes,
        "_has_known_value": has_known_value,
        "_is_symbol_for_any_size": is_symbol_for_any_size,
        "_maybe_constant_value_string": maybe_constant_value_string,
        "_shape_and_dtype_str": shape_and_dtype_str,
        "_symbolic_dimension_sizes": symbolic_dimension_sizes,
    },
    "python.ops.confusion_matrix": {"remove_squeezable_dimensions": remove_squeezable_dimensions},
    "python.ops.losses.losses_impl": {"_num_elements": num_elements, "_num_present": num_present},
    "python.ops.metrics_impl": {"_safe_scalar_div": safe_scalar_div},
    "python.ops.init_ops": {"_assert_float_dtype": initializers.assert_float_dtype, "_compute_fans": compute_fans, "identity_initializer": initializers.Identity},
    "python.ops.resource_variable_ops": {
        "is_resource_variable": is_resource_variable,
        "shape_safe_assign_variable_handle": shape_safe_assign_variable_handle,
        "var_is_initialized_op": var_is_initialized_op,
    },
    "python.ops.state_ops": {"variable_op": variable_op, "variable_op_v2": variable_op_v2},
    "python.ops.variable_scope": {
        "_PartitionInfo": PartitionInfo,
        "_VariableStore": VariableStore,
        "_get_default_variable_store": VariableStore,
        "_get_unique_variable_scope": unique_variable_scope,
        "default_variable_creator": default_variable_creator,
        "variable": Variable,
    },
    "python.training.checkpoint_management": {"meta_graph_filename": meta_graph_filename},
    "python.training.optimizer": {"_var_key": var_key},
    "python.training.session_manager": {"_maybe_name": session_manager._maybe_name},
}
