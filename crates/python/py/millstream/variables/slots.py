"""Slots: variables that belong to another variable or to a tensor, such as momenta and moving averages.

A slot is made by `get_variable` in a variable scope of its own, so the current scope counts: within
`tf.variable_scope("train")` the momentum of `v` is `train/v/Momentum`. Checkpoints have these names.
"""

from __future__ import annotations

from typing import Any

from millstream.framework import get_default_graph
from millstream.variables.partitions import SaveSliceInfo
from millstream.variables.scopes import get_variable, get_variable_scope, variable_scope
from millstream.variables.variable import Variable


def create_slot(primary: Any, initial: Any, name: str, dtype: Any, validate_shape: bool, use_resource: bool, shape: Any = None) -> Any:
    """Returns a new slot.

    Args:
      primary: The variable or tensor that it belongs to.
      initial: Its initial value, or a function without arguments that returns it.
      name: The name of the slot, after that of `primary`. A suffix is added if the scope was opened before.
      dtype: Its dtype.
      validate_shape: If true, the initial value must have a known shape, which the slot keeps.
      use_resource: If true, the slot uses a resource handle.
      shape: Its shape, if `initial` is an initializer.

    Returns:
      A `Variable`, which is not trainable.
    """
    with variable_scope(None, default_name=f"{primary.op.name}/{name}"), get_default_graph().colocate_with(primary.op):
        scope = get_variable_scope()
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        # The slot has the name of its scope.
        slot = get_variable(
            "", shape=shape, dtype=dtype, initializer=initial, trainable=False, use_resource=use_resource, validate_shape=validate_shape
        )
        scope.set_partitioner(partitioner)
    info = getattr(primary, "_save_slice_info", None) if isinstance(primary, Variable) else None
    if info is not None:
        # The slot of a part is a part of the slot of the whole. TensorFlow cuts as many characters even if
        # the current scope comes first, and keys of checkpoints depend on it.
        own_name = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(f"{info.full_name}/{own_name}", list(info.full_shape), list(info.var_offset), list(info.var_shape))
        )
    return slot
