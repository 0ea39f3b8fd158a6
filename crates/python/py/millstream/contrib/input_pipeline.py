"""`tf.contrib.input_pipeline`: lists of strings of which each run takes the next."""

from __future__ import annotations

import random
from typing import Any, List, Optional

from millstream._engine import Tensor
from millstream.framework import colocate_with, constant, control_dependencies, convert_to_tensor, dtypes, namespaces
from millstream.framework.op_functions import op
from millstream.ops import array_ops, indexing_ops, math_ops
from millstream.variables import state_ops
from millstream.variables.scopes import get_variable, variable_scope

__all__ = ["obtain_next"]

__dir__ = namespaces.dir_of(globals())


def obtain_next(string_list_tensor: Any, counter: Any) -> Tensor:
    """Returns the element of a list after the one of the last run; after the last, the first.

    Args:
      string_list_tensor: A vector of strings.
      counter: An `int64` variable: the index of the last run's element, -1 at the beginning.

    Example:
      >>> counter = tf.Variable(-1, dtype=tf.int64)
      >>> following = tf.contrib.input_pipeline.obtain_next(["a", "b"], counter)
      >>> with tf.Session() as sess:
      ...     sess.run(counter.initializer)
      ...     print([sess.run(following) for _ in range(3)])
      [b'a', b'b', b'a']
    """
    strings = convert_to_tensor(string_list_tensor)
    n = array_ops.size(strings, out_type=dtypes.int64)
    now = counter.assign(op("FloorMod")(counter + 1, n))
    with control_dependencies([now]):
        return indexing_ops.gather(strings, array_ops.identity(now))


def seek_next(string_list: List[Any], shuffle: bool = False, seed: Optional[int] = None, num_epochs: Optional[int] = None) -> Tensor:
    """Returns the next element of a list in each run; its place is in variables, which checkpoints save.

    Args:
      string_list: Strings.
      shuffle: Whether to shuffle the list.
      seed: The seed of the shuffling, or None.
      num_epochs: How often the list is read before the end of input, or None for no end.
    """
    if shuffle and seed:
        random.seed(seed)
    items = list(string_list)
    every: List[Any] = []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(items)
        every += items
    with variable_scope("obtain_next"):
        counter = get_variable("obtain_next_counter", initializer=constant(-1, dtype=dtypes.int64), dtype=dtypes.int64, trainable=False)
        with colocate_with(counter.op):
            strings = get_variable("obtain_next_expanded_list", initializer=constant(every), dtype=dtypes.string, trainable=False)
        if not num_epochs:
            return obtain_next(strings, counter)
        read = get_variable("obtain_next_filename_counter", initializer=constant(0, dtype=dtypes.int64), dtype=dtypes.int64, trainable=False)
        with control_dependencies([state_ops.count_up_to(read, len(every))]):
            return obtain_next(strings, counter)
