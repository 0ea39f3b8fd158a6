"""Private or trivial attributes of variables: `v.synchronization`, `v._initializer_op`."""

from __future__ import annotations

import enum
from typing import Any

from millstream.framework.inner_names import experimental_ref, same
from millstream.variables.variable import Variable

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """The times at which copies of a variable are synchronized. Accepted without effect: there is one copy.

    Example:
      >>> tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).synchronization.name
      'AUTO'
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The ways to aggregate copies of a variable. Accepted without effect: there is one copy.

    Example:
      >>> tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN).aggregation.name
      'NONE'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


_SYNCHRONIZATION = """The time at which copies of the variable are synchronized: there is one copy.

Example:
  >>> tf.Variable(1.0).synchronization.name
  'AUTO'
"""
_AGGREGATION = """The way to aggregate copies of the variable: there is one copy.

Example:
  >>> tf.Variable(1.0).aggregation.name
  'NONE'
"""


def install() -> None:
    """Adds these names to the classes of variables."""
    variable: Any = Variable
    variable.synchronization = same(lambda v: VariableSynchronization.AUTO, _SYNCHRONIZATION)
    variable.aggregation = same(lambda v: VariableAggregation.NONE, _AGGREGATION)
    variable._initializer_op = same(lambda v: v.initializer, "What gives it its first value.")
    variable.experimental_ref = experimental_ref
