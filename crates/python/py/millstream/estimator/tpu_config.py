"""`RunConfig`, `TPUConfig` and `InputPipelineConfig`: how a `TPUEstimator` runs."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional

from millstream.estimator.run_config import RunConfig as _RunConfig
from millstream.framework import errors

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig"]


class InputPipelineConfig:
    """How TPUs are fed: values of `per_host_input_for_training` of a `TPUConfig`.

    Example:
      >>> tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
      3
    """

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _Fields(NamedTuple):
    iterations_per_loop: Any
    num_shards: Any
    num_cores_per_replica: Any
    per_host_input_for_training: Any
    tpu_job_name: Any
    initial_infeed_sleep_secs: Any
    input_partition_dims: Any
    eval_training_input_configuration: Any
    experimental_host_call_every_n_steps: Any


def check_positive_integer(value: Any, name: str) -> None:
    """Raises an error unless a value is a positive integer."""
    if not isinstance(value, int):
        raise TypeError("%s must be int, got %s" % (name, type(value)))
    if value <= 0:
        raise ValueError("%s must be positive, got %s" % (name, value))


class TPUConfig(_Fields):
    """How TPUs run a model. A graph runs on the CPU here: the values are checked, and have no effect.

    Args:
      iterations_per_loop: The number of steps of a run, or a time such as `"60s"`.
      num_shards: The number of replicas.
      num_cores_per_replica: The number of cores of a replica.
      per_host_input_for_training: One of `InputPipelineConfig`, or a bool.
      tpu_job_name: The name of the job.
      initial_infeed_sleep_secs: The time before the first input.
      input_partition_dims: A list of partitions.
      eval_training_input_configuration: One of `InputPipelineConfig`.
      experimental_host_call_every_n_steps: The interval of host calls.

    Raises:
      ValueError: A value is out of its range.
      TypeError: A number is no integer.

    Example:
      >>> tf.contrib.tpu.TPUConfig(iterations_per_loop=100).per_host_input_for_training
      2
    """

    def __new__(
        cls,
        iterations_per_loop: Any = 2,
        num_shards: Optional[int] = None,
        num_cores_per_replica: Optional[int] = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: Optional[str] = None,
        initial_infeed_sleep_secs: Any = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> "TPUConfig":
        if not re.match(r"^[1-9]\d*[s|m|h]?$", str(iterations_per_loop)):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value `<N><s|m|h>` where <N> is "
                "anypositive integer and `s`, `m`, `h` are unit of time in seconds, minutes, hours respectively. Examples of valid values: `3600s`, "
                "`60m`, `1h`."
            )
        if num_shards is not None:
            check_positive_integer(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
            if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
            if num_cores_per_replica is None:
                raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
        if num_cores_per_replica is not None and num_cores_per_replica not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError("num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got %s" % num_cores_per_replica)
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError("eval_training_input_configuration must be PER_HOST_V1 or SLICED; got %s" % eval_training_input_configuration)
        if isinstance(per_host_input_for_training, bool):
            each = InputPipelineConfig
            per_host_input_for_training = each.PER_HOST_V1 if per_host_input_for_training else each.PER_SHARD_V1
        if initial_infeed_sleep_secs:
            check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


class RunConfig(_RunConfig):
    """How a `TPUEstimator` runs.

    Args:
      tpu_config: A `TPUConfig`.
      evaluation_master: The target of sessions for evaluation; by default `master`.
      master: The target of sessions.
      cluster: Must be None.
      **kwargs: The arguments of `tf.estimator.RunConfig`.

    Raises:
      ValueError: As for `tf.estimator.RunConfig`.
      UnimplementedError: A cluster is given.

    Example:
      >>> config = tf.contrib.tpu.RunConfig(model_dir="/tmp/model", tpu_config=tf.contrib.tpu.TPUConfig(100))
      >>> config.tpu_config.iterations_per_loop, config.master, config.evaluation_master, config.cluster
      (100, '', '', None)
      >>> config.replace(save_summary_steps=10).tpu_config.iterations_per_loop
      100
    """

    def __init__(
        self, tpu_config: Optional[TPUConfig] = None, evaluation_master: Optional[str] = None, master: Optional[str] = None, cluster: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if cluster is not None:
            raise errors.UnimplementedError(None, None, "RunConfig(cluster=%r): an estimator runs in this process, on the CPU; leave it out" % (cluster,))
        self._tpu_config = tpu_config or TPUConfig()
        self._master = master or ""
        self._evaluation_master = self._master if evaluation_master is None else evaluation_master

    # The type of these is a property in the base class.
    evaluation_master = property(lambda self: self._evaluation_master, doc="The target of sessions for evaluation.")
    master = property(lambda self: self._master, doc="The target of sessions.")
    cluster = property(lambda self: None, doc="Always None.")

    @property
    def tpu_config(self) -> TPUConfig:
        """The configuration of TPUs."""
        return self._tpu_config

    def replace(self, **kwargs: Any) -> "RunConfig":
        """Returns a copy with other values.

        Args:
          **kwargs: The new values, by the names of the constructor's arguments.

        Raises:
          ValueError: As for `tf.estimator.RunConfig`.
        """
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        other: Any = super().replace(**kwargs)
        other._tpu_config = tpu_config
        return other  # type: ignore[no-any-return]
