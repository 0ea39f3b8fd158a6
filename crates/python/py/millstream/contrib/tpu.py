"""`tf.contrib.tpu`: estimators and optimizers written for TPUs, which run on the CPU.

What needs a TPU raises an error when it is called, so that programs that ask for one only with a flag run.
"""

from millstream.estimator.tpu import InputPipelineConfig, RunConfig, TPUConfig, TPUEstimator, TPUEstimatorSpec
from millstream.framework import namespaces
from millstream.framework.refusals import refused as _refused
from millstream.train.tpu_optimizer import CrossShardOptimizer, bfloat16_scope, cross_replica_sum

_CPU, _SESSION = "graphs run on the CPU", "the function on tensors, and a `tf.Session`"

batch_parallel = _refused("contrib.tpu.batch_parallel", _CPU, _SESSION)
initialize_system = _refused("contrib.tpu.initialize_system", _CPU, _SESSION)
rewrite = _refused("contrib.tpu.rewrite", _CPU, _SESSION)
shard = _refused("contrib.tpu.shard", _CPU, _SESSION)
shutdown_system = _refused("contrib.tpu.shutdown_system", _CPU, _SESSION)

__all__ = [
    "CrossShardOptimizer",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "batch_parallel",
    "bfloat16_scope",
    "cross_replica_sum",
    "initialize_system",
    "rewrite",
    "shard",
    "shutdown_system",
]

__getattr__ = namespaces.getattr_of(__name__)
__dir__ = namespaces.dir_of(globals())
