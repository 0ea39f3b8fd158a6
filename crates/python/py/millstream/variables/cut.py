"""`create_partitioned_variables`: the parts of a partitioned variable as a list."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream.framework import dtypes, shapes
from millstream.variables.scopes import get_variable_named, variable_scope


def create_partitioned_variables(
    shape: Any,
    slicing: List[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Any = None,
    name: Optional[str] = None,
    reuse: Any = None,
) -> List[Any]:
    """Creates the parts of a partitioned variable.

    Args:
      shape: The full shape.
      slicing: A list of ints: the number of parts along each axis, of which at most one is not 1.
      initializer: A tensor, or an initializer.
      dtype: The `DType` of the variable.
      trainable: If true, the parts are added to the collection of trainable variables.
      collections: A list of the collections to add the parts to.
      name: A name for the partitioned variable.
      reuse: Same as in `variable_scope`.

    Returns:
      A list of variables.

    Raises:
      ValueError: `slicing` does not match `shape`.

    Example:
      >>> parts = tf.create_partitioned_variables([4, 3], [2, 1], tf.zeros_initializer(), name="w")
      >>> [(v.name, v.shape.as_list()) for v in parts]
      [('w/part_0:0', [2, 3]), ('w/part_1:0', [2, 3])]
    """
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: %s, slicing: %s" % (shape, slicing))
    if not slicing:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: %s" % shapes.TensorShape(shape))
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        # The whole has the scope's name: the parts are `scope/part_0` and so on.
        made = get_variable_named(
            scope.name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **_: slicing,
            collections=collections,
        )
        return list(made)
