"""`tf.tpu`: what programs written for TPUs use of it, on the CPU; see `tf.contrib.tpu`."""

from millstream.framework import namespaces
from millstream.train.tpu_optimizer import CrossShardOptimizer, bfloat16_scope, cross_replica_sum

__all__ = ["CrossShardOptimizer", "bfloat16_scope", "cross_replica_sum"]

__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
