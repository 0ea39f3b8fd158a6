"""The operations to run first in a session that a SavedModel is loaded into."""

from __future__ import annotations

from typing import Any

from millstream.framework import control_dependencies, get_default_graph
from millstream.io.lookup_ops import tables_initializer
from millstream.ops import control_flow
from millstream.variables.collections import global_variables_initializer, local_variables_initializer



def main_op() -> Any:
    """Returns an operation that initializes all variables, global and local, and tables.

    Returns:
      An `Operation`.

    Example:
      >>> print(tf.saved_model.main_op.main_op().type)
      NoOp
    """
    return control_flow.group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str) -> Any:
    """Returns an operation that initializes all variables and tables, then restores variables.

    Args:
      restore_op_name: The name of the operation that restores.

    Returns:
      An `Operation`.

    Example:
      >>> restore = tf.no_op("restore")
      >>> print(tf.saved_model.main_op_with_restore("restore").type)
      NoOp
    """
    with control_dependencies([main_op()]):
        return control_flow.group(get_default_graph().get_operation_by_name(restore_op_name))
