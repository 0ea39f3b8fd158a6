"""What is run first in a session that a SavedModel is loaded into."""

from __future__ import annotations

from typing import Any

import millstream as tf


def main_op() -> Any:
    """An operation that initializes local variables and tables.

    Returns:
      The operation.

    Example:
      >>> print(tf.saved_model.main_op.main_op().type)
      NoOp
    """
    return tf.group(tf.local_variables_initializer(), tf.tables_initializer())


def main_op_with_restore(restore_op_name: str) -> Any:
    """An operation that initializes local variables and tables, and then restores variables.

    Args:
      restore_op_name: The operation that restores.

    Returns:
      An operation.

    Example:
      >>> restore = tf.no_op("restore")
      >>> print(tf.saved_model.main_op_with_restore("restore").type)
      NoOp
    """
    with tf.control_dependencies([main_op()]):
        return tf.group(tf.get_default_graph().get_operation_by_name(restore_op_name))
