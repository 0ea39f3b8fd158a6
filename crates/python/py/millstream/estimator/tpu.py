"""`tf.estimator.tpu`: estimators written for TPUs, which run on the CPU."""

from millstream.estimator.tpu_config import InputPipelineConfig, RunConfig, TPUConfig
from millstream.estimator.tpu_estimator import TPUEstimator, TPUEstimatorSpec
from millstream.framework import namespaces

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]

__dir__ = namespaces.dir_of(globals())
