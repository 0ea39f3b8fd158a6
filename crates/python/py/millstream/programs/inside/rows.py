"""`tensorflow.python.ops.inplace_ops`, and parts of other internal modules that programs import: `NAMES`.

The functions of `inplace_ops` return new tensors: the engine reuses a buffer that nothing else needs.
"""

from __future__ import annotations

from typing import Any, Callable, Dict

from millstream.contrib import summary
from millstream.contrib.training import evaluation
from millstream.framework import control_dependencies, convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.ops import array_ops, math_ops


def _at_rows(kind: str) -> Callable[[Any, Any, Any], Any]:
    def changed(x: Any, i: Any, v: Any) -> Any:
        x = convert_to_tensor(x)
        v = convert_to_tensor(v, x.dtype)
        if i is None:
            whole = op(kind)(array_ops.reshape(x, [1, -1]), [[0]], array_ops.reshape(v, [1, -1]))
            return array_ops.reshape(whole, array_ops.shape(x))
        i = math_ops.cast(i, dtypes.int32)
        if i.get_shape().ndims == 0:
            i, v = array_ops.reshape(i, [1]), array_ops.expand_dims(v, 0)
        return op(kind)(x, array_ops.expand_dims(i, -1), v)

    return changed


_update, _add, _sub = _at_rows("TensorScatterUpdate"), _at_rows("TensorScatterAdd"), _at_rows("TensorScatterSub")


def empty_like(x: Any, init: Any = None) -> Any:
    """Returns a tensor of the shape and dtype of another, of zeros."""
    return array_ops.zeros_like(x)


def _latest_eval_step(update_ops: Any) -> Any:
    """Returns the evaluation step after updates."""
    with control_dependencies(list(update_ops.values()) if isinstance(update_ops, dict) else update_ops):
        return array_ops.identity(evaluation.get_or_create_eval_step().read_value())


NAMES: Dict[str, Dict[str, Any]] = {
    "python.ops.inplace_ops": {
        "alias_inplace_add": _add,
        "alias_inplace_sub": _sub,
        "alias_inplace_update": _update,
        "empty_like": empty_like,
        "inplace_add": _add,
        "inplace_sub": _sub,
        "inplace_update": _update,
    },
    "python.ops.summary_ops_v2": {"all_v2_summary_ops": summary.all_summary_ops},
    "python.training.evaluation": {
        "_StopAfterNEvalsHook": evaluation.StopAfterNEvalsHook,
        "_get_latest_eval_step_value": _latest_eval_step,
        "_get_or_create_eval_step": evaluation.get_or_create_eval_step,
    },
}
