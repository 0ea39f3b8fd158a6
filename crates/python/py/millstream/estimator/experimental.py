"""`tf.estimator.experimental`: hooks that end training early."""

from millstream.estimator.early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from millstream.framework import namespaces

__all__ = [
    "make_early_stopping_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
