"""`VariableSynchronization` and `VariableAggregation`: how copies of a variable behave; there is one copy."""

from __future__ import annotations

import enum
from typing import Any, Optional, Tuple

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """The times at which copies of a variable are synchronized: there is one copy.

    Variables with `ON_READ` are not trainable.

    Example:
      >>> v = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ)
      >>> v.synchronization.name, v.trainable
      ('ON_READ', False)
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The ways to aggregate copies of a variable. Accepted without effect: there is one copy.

    Example:
      >>> tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN).aggregation.name
      'MEAN'
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def checked(synchronization: Any, aggregation: Any, name: Optional[str]) -> Tuple[Any, Any]:
    """Returns both as members of their enums; the defaults for None.

    Raises:
      ValueError: A value is not a member.
    """
    try:
        mode = VariableAggregation(VariableAggregation.NONE if aggregation is None else aggregation)
    except ValueError:
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}") from None
    try:
        return VariableSynchronization(VariableSynchronization.AUTO if synchronization is None else synchronization), mode
    except ValueError:
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}") from None
