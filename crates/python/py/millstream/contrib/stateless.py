"""`tf.contrib.stateless`: random numbers that depend on a seed tensor alone. They are those of
`tf.random`."""

from millstream.framework import namespaces
from millstream.ops.random_ops import stateless_multinomial
from millstream.ops.random_ops import stateless_normal as stateless_random_normal
from millstream.ops.random_ops import stateless_truncated_normal
from millstream.ops.random_ops import stateless_uniform as stateless_random_uniform

__all__ = ["stateless_multinomial", "stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal"]

__dir__ = namespaces.dir_of(globals())
