"""`RunConfig`: how an `Estimator` runs."""

from __future__ import annotations

import copy
import inspect
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from millstream.framework import errors
from millstream.train.server import ClusterSpec

_DEFAULT: Any = object()
_ONE_INTERVAL = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."

# For each property that `replace` takes, a condition and what to say if it does not hold.
_CHECKS: Dict[str, Tuple[Optional[Callable[[Any], bool]], str]] = {
    "model_dir": (bool, "model_dir should be non-empty"),
    "tf_random_seed": (lambda v: isinstance(v, int), "tf_random_seed must be integer."),
    "save_summary_steps": (lambda v: v >= 0, "save_summary_steps should be >= 0"),
    "save_checkpoints_steps": (lambda v: v >= 0, "save_checkpoints_steps should be >= 0"),
    "save_checkpoints_secs": (lambda v: v >= 0, "save_checkpoints_secs should be >= 0"),
    "session_config": (lambda v: type(v).__name__ == "ConfigProto", "session_config must be instance of ConfigProto"),
    "keep_checkpoint_max": (lambda v: v >= 0, "keep_checkpoint_max should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda v: v > 0, "keep_checkpoint_every_n_hours should be > 0"),
    "log_step_count_steps": (lambda v: v > 0, "log_step_count_steps should be > 0"),
    "train_distribute": (None, ""),
    "device_fn": (lambda v: _takes_op(v), 'device_fn must be callable with exactly one argument "op".'),
    "protocol": (lambda v: v in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
    "eval_distribute": (None, ""),
    "experimental_distribute": (None, ""),
    "experimental_max_worker_delay_secs": (
        lambda v: isinstance(v, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    "session_creation_timeout_secs": (lambda v: v > 0, "session_creation_timeout_secs should be > 0"),
}


class RunConfig:
    """How an `Estimator` runs: where it saves what and how often.

    Estimators run in this process. Strategies and clusters, given here or in the environment variable
    `TF_CONFIG`, are refused.

    Args:
      model_dir: The directory of checkpoints.
      tf_random_seed: The seed of the graphs.
      save_summary_steps: The interval of summaries in steps; 0 for none.
      save_checkpoints_steps: The interval of checkpoints in steps.
      save_checkpoints_secs: The interval of checkpoints in seconds; 600 if no interval is given.
      session_config: A `ConfigProto`.
      keep_checkpoint_max: The number of checkpoints to keep; 0 for all.
      keep_checkpoint_every_n_hours: The interval of checkpoints that are kept for ever, in hours.
      log_step_count_steps: The interval at which the loss and the speed are logged, in steps.
      train_distribute: Must be None.
      device_fn: A function from an operation to its device.
      protocol: Ignored.
      eval_distribute: Must be None.
      experimental_distribute: Must be None.
      experimental_max_worker_delay_secs: Ignored.
      session_creation_timeout_secs: The time to wait for a session, in seconds.

    Raises:
      ValueError: An argument is out of its range, or both intervals of checkpoints are given.
      UnimplementedError: There is a strategy, or a cluster of several tasks in `TF_CONFIG`.

    Example:
      >>> config = tf.estimator.RunConfig(model_dir="/tmp/model", save_checkpoints_steps=100)
      >>> config.save_checkpoints_steps, config.save_checkpoints_secs, config.is_chief, config.num_worker_replicas
      (100, None, True, 1)
      >>> config.model_dir, config.save_summary_steps, config.log_step_count_steps, config.session_config
      ('/tmp/model', 100, 100, None)
      >>> config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours, config.session_creation_timeout_secs
      (5, 10000, 7200)
      >>> config.task_type, config.task_id, config.global_id_in_cluster, config.num_ps_replicas
      ('worker', 0, 0, 0)
      >>> config.master, config.evaluation_master, bool(config.cluster_spec), config.service, config.protocol
      ('', '', False, None, None)
      >>> config.train_distribute, config.eval_distribute, config.device_fn
      (None, None, None)
      >>> config.experimental_max_worker_delay_secs is None
      True
      >>> config.replace(tf_random_seed=7).tf_random_seed, config.tf_random_seed
      (7, None)
    """

    if TYPE_CHECKING:  # Made below, one for each of `_CHECKS`.
        model_dir: Any
        tf_random_seed: Any
        save_summary_steps: Any
        save_checkpoints_steps: Any
        save_checkpoints_secs: Any
        session_config: Any
        keep_checkpoint_max: Any
        keep_checkpoint_every_n_hours: Any
        log_step_count_steps: Any
        train_distribute: Any
        device_fn: Any
        protocol: Any
        eval_distribute: Any
        experimental_max_worker_delay_secs: Any
        session_creation_timeout_secs: Any

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: Optional[int] = None,
        save_summary_steps: int = 100,
        save_checkpoints_steps: Any = _DEFAULT,
        save_checkpoints_secs: Any = _DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: Optional[int] = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: Optional[int] = 100,
        train_distribute: Any = None,
        device_fn: Any = None,
        protocol: Optional[str] = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in _CHECKS}
        steps, secs = save_checkpoints_steps, save_checkpoints_secs
        if steps is not _DEFAULT and secs is not _DEFAULT and None not in (steps, secs):
            raise ValueError(_ONE_INTERVAL)
        values["save_checkpoints_steps"] = None if steps is _DEFAULT else steps
        values["save_checkpoints_secs"] = (600 if steps is _DEFAULT else None) if secs is _DEFAULT else secs
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        values["model_dir"] = _model_dir(model_dir, environment.get("model_dir"))
        self._values: Dict[str, Any] = {}
        self._set(values)
        self._cluster_spec, self._task_type, self._task_id = _task(environment)

    def _set(self, values: Dict[str, Any]) -> None:
        for name, value in values.items():
            if name not in _CHECKS:
                raise ValueError("Replacing %s is not supported. Allowed properties are %s." % (name, list(_CHECKS)))
            condition, words = _CHECKS[name]
            if value is not None and condition is not None and not condition(value):
                raise ValueError(words)
            if value is not None and name.endswith("_distribute"):
                words = "RunConfig(%s=%r): an estimator runs in this process, without a strategy; leave it out"
                raise errors.UnimplementedError(None, None, words % (name, value))
        self._values.update(values)

    def replace(self, **kwargs: Any) -> "RunConfig":
        """Returns a copy with other values.

        Args:
          **kwargs: The new values, by the names of the constructor's arguments.

        Raises:
          ValueError: A name is unknown, a value is out of its range, or both intervals of checkpoints are
            given.
        """
        other = copy.copy(self)
        other._values = dict(self._values)
        other._set(kwargs)
        intervals = ("save_checkpoints_steps", "save_checkpoints_secs")
        given = [name for name in intervals if kwargs.get(name) is not None]
        if len(given) == 2:
            raise ValueError(_ONE_INTERVAL)
        for name in given:
            other._values[intervals[1 - intervals.index(name)]] = None
        return other

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster, which is empty."""
        return self._cluster_spec

    @property
    def task_type(self) -> str:
        """The job of this process."""
        return self._task_type

    @property
    def task_id(self) -> int:
        """The task of this process."""
        return self._task_id

    evaluation_master = property(lambda self: "", doc="The target of sessions for evaluation.")
    master = property(lambda self: "", doc="The target of sessions.")
    is_chief = property(lambda self: True, doc="Whether this process saves checkpoints.")
    num_ps_replicas = property(lambda self: 0, doc="The number of parameter servers.")
    num_worker_replicas = property(lambda self: 1, doc="The number of workers.")
    global_id_in_cluster = property(lambda self: 0, doc="The number of this process in the cluster.")
    service = property(lambda self: None, doc="Always None.")


def _property(name: str) -> Any:
    return property(lambda self: self._values[name], doc="The argument `%s`." % name)


for _name in _CHECKS:
    if _name != "experimental_distribute":
        setattr(RunConfig, _name, _property(_name))


def _model_dir(given: Any, in_environment: Optional[str]) -> Optional[str]:
    given = None if given is None else os.fspath(given)
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    if in_environment == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if given and in_environment and given != in_environment:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in TF_CONFIG. "
            'model_dir: %s\nTF_CONFIG["model_dir"]: %s.\n' % (given, in_environment)
        )
    return given or in_environment


def _check_task(cluster: ClusterSpec, task: Dict[str, Any]) -> None:
    """Refuses a cluster without a chief, and a task that is none of it."""
    jobs = cluster.as_dict()
    if "chief" not in jobs:
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.\n  TF_CONFIG: the jobs of `cluster` are %s' % sorted(jobs))
    if len(jobs["chief"]) > 1:
        raise ValueError('The "cluster" in TF_CONFIG must have only one "chief" node.\n  TF_CONFIG: `cluster` has %d: %s' % (len(jobs["chief"]), jobs["chief"]))
    for key, what in (("type", "type"), ("index", "index")):
        if task.get(key) is None:
            raise ValueError('If "cluster" is set in TF_CONFIG, task %s must be set.\n  TF_CONFIG: `task` is %s' % (what, task))
    kind, index, where = task["type"], int(task["index"]), "Note that these values may be coming from the TF_CONFIG environment variable."
    if index < 0:
        raise ValueError("Task index must be non-negative number.\n  TF_CONFIG: it is %d" % index)
    if kind == "evaluator":
        return
    if kind not in jobs:
        raise ValueError("%s is not a valid task_type in the cluster_spec:\n%s\n\n%s" % (kind, cluster, where))
    if len(jobs[kind]) <= index:
        raise ValueError("%d is not a valid task_id for task_type %s in the cluster_spec:\n%s\n\n%s" % (index, kind, cluster, where))


def _takes_op(function: Any) -> bool:
    return callable(function) and list(inspect.signature(function).parameters) == ["op"]


def _task(environment: Dict[str, Any]) -> Tuple[ClusterSpec, str, int]:
    """Returns the cluster, and the job and task of this process."""
    cluster, task = ClusterSpec(environment.get("cluster", {})), environment.get("task", {})
    jobs: List[str] = cluster.jobs
    if jobs:
        _check_task(cluster, task)
    if sum(cluster.num_tasks(job) for job in jobs) > 1:
        raise errors.UnimplementedError(
            None,
            None,
            "TF_CONFIG names a cluster of several tasks, %s: an estimator runs in this process, on all its cores; "
            "remove `cluster` from TF_CONFIG" % cluster,
        )
    if jobs:
        return ClusterSpec({}), task["type"], 0
    kind, index = task.get("type", "worker"), int(task.get("index", 0))
    if kind != "worker":
        raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
    if index != 0:
        raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
    return cluster, kind, index
