"""`tf.sets`: sets of integers: intersections, differences, unions and sizes."""

from millstream.framework import namespaces
from millstream.ops.set_ops import (
    difference,
    intersection,
    set_difference,
    set_intersection,
    set_size,
    set_union,
    size,
    union,
)

__dir__ = namespaces.dir_of(globals())
