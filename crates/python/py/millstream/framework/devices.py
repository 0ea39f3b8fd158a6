"""`DeviceSpec`: device names and their parts, as in `/job:worker/replica:0/task:1/device:CPU:0`."""

from __future__ import annotations

from typing import Any, Optional, Tuple

_FIELDS = ("job", "replica", "task", "device_type", "device_index")
Parts = Tuple[Optional[str], Optional[int], Optional[int], Optional[str], Optional[int]]


def _parse(spec: str) -> Parts:
    """Returns the parts of a device name; a missing part, or the device number `*`, is None."""
    job: Optional[str] = None
    replica = task = device_index = None
    device_type: Optional[str] = None
    for part in filter(None, (spec or "").split("/")):
        key, *values = part.split(":")
        if key == "job" and len(values) == 1:
            job = values[0]
        elif key == "replica" and len(values) == 1:
            replica = int(values[0])
        elif key == "task" and len(values) == 1:
            task = int(values[0])
        elif key == "device" and len(values) == 2 or key.upper() in ("CPU", "GPU") and len(values) < 2:
            if device_type is not None:
                raise ValueError(f"Cannot specify multiple device types: {spec}")
            index = values[-1] if values else "*"
            device_type = values[0] if key == "device" else key.upper()
            device_index = None if index == "*" else int(index)
        elif part != "*":
            raise ValueError(f"Unknown attribute: '{key}' in '{spec}'")
    return job, replica, task, device_type, device_index


class DeviceSpec:
    """A device request: any of job, replica, task, device type and index. A part that is None is unspecified.

    >>> tf.DeviceSpec(job="ps", device_type="CPU", device_index=0).to_string()
    '/job:ps/device:CPU:0'

    Example:
      >>> spec = tf.DeviceSpec.from_string("/job:worker/task:2")
      >>> spec.job, spec.replica, spec.task, spec.device_type, spec.device_index
      ('worker', None, 2, None, None)
      >>> (spec.replace(device_type="CPU").to_string(),
      ...  spec.make_merged_spec(tf.DeviceSpec(task=5)).to_string())
      ('/job:worker/task:2/device:CPU:*', '/job:worker/task:5')
      >>> spec.merge_from(tf.DeviceSpec(device_index=1))
      >>> spec.to_string(), spec.parse_from_string("/cpu:0").to_string()
      ('/job:worker/task:2', '/device:CPU:0')
    """

    def __init__(
        self,
        job: Optional[str] = None,
        replica: Optional[int] = None,
        task: Optional[int] = None,
        device_type: Optional[str] = None,
        device_index: Optional[int] = None,
    ) -> None:
        self._job: Optional[str] = None if job is None else str(job)
        self._replica: Optional[int] = None if replica is None else int(replica)
        self._task: Optional[int] = None if task is None else int(task)
        self._device_type: Optional[str] = _upper(device_type)
        self._device_index: Optional[int] = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec: str) -> "DeviceSpec":
        """Returns the spec of a device name.

        Returns:
          A `DeviceSpec`.

        Raises:
          ValueError: `spec` is not a device name.
        """
        return cls(*_parse(spec))

    def parse_from_string(self, spec: str) -> "DeviceSpec":
        """Sets all parts from a device name, and returns itself."""
        self._job, self._replica, self._task, self._device_type, self._device_index = _parse(spec)
        return self

    def to_string(self) -> str:
        """Returns the device name."""
        out = ""
        for word in ("job", "replica", "task"):
            value = getattr(self, word)
            if value is not None:
                out += f"/{word}:{value}"
        if self._device_type is not None:
            out += f"/device:{self._device_type}:{'*' if self._device_index is None else self._device_index}"
        return out

    def merge_from(self, dev: "DeviceSpec") -> None:
        """Takes over all parts that `dev` specifies."""
        for field in _FIELDS:
            value = getattr(dev, field)
            if value is not None:
                setattr(self, "_" + field, value)

    def make_merged_spec(self, dev: "DeviceSpec") -> "DeviceSpec":
        """Returns a new spec with the parts of `dev`, and those of this spec where `dev` has none."""
        merged = self.replace()
        merged.merge_from(dev)
        return merged

    def replace(self, **kwargs: Any) -> "DeviceSpec":
        """Returns a new spec with some parts replaced."""
        return DeviceSpec(**{**{field: getattr(self, field) for field in _FIELDS}, **kwargs})

    @property
    def job(self) -> Optional[str]:
        """The job name."""
        return self._job

    @job.setter
    def job(self, job: Optional[str]) -> None:
        self._job = None if job is None else str(job)

    @property
    def replica(self) -> Optional[int]:
        """The index of the replica."""
        return self._replica

    @replica.setter
    def replica(self, replica: Optional[int]) -> None:
        self._replica = None if replica is None else int(replica)

    @property
    def task(self) -> Optional[int]:
        """The index of the task."""
        return self._task

    @task.setter
    def task(self, task: Optional[int]) -> None:
        self._task = None if task is None else int(task)

    @property
    def device_type(self) -> Optional[str]:
        """The device type, such as `"CPU"` or `"GPU"`."""
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: Optional[str]) -> None:
        self._device_type = _upper(device_type)

    @property
    def device_index(self) -> Optional[int]:
        """The index of the device among those of its type."""
        return self._device_index

    @device_index.setter
    def device_index(self, device_index: Optional[int]) -> None:
        self._device_index = None if device_index is None else int(device_index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


def _upper(device_type: Optional[str]) -> Optional[str]:
    # Lower case is accepted for these types only; others, such as `XLA_CPU`, stay as they are.
    return device_type.upper() if device_type in ("cpu", "gpu") else device_type


class _ReplicaDeviceChooser:
    """A device function: variables go to the parameter servers in turn, other operations to the worker."""

    def __init__(self, ps_device: str, worker_device: str, merge_devices: bool, ps_ops: Any, strategy: Any) -> None:
        self._ps, self._worker, self._merge = ps_device, worker_device, merge_devices
        self._ps_ops, self._strategy = ps_ops, strategy

    def __call__(self, op: Any) -> str:
        if not self._merge and op.device:
            return op.device
        now = DeviceSpec.from_string(op.device or "")
        chosen = self._worker or ""
        if self._ps and op.type in self._ps_ops:
            ps = DeviceSpec.from_string(self._ps)
            if now.job in (None, ps.job):
                ps.task = self._strategy(op)
            return ps.make_merged_spec(now).to_string()
        return DeviceSpec.from_string(chosen).make_merged_spec(now).to_string()


class _RoundRobin:
    """Assigns operations to servers in turn."""

    def __init__(self, n_tasks: int) -> None:
        self._n_tasks, self._next = n_tasks, 0

    def __call__(self, op: Any) -> int:
        task, self._next = self._next, (self._next + 1) % self._n_tasks
        return task


_VARIABLE_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2", "VarHandleOp")


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Any = None,
    ps_strategy: Any = None,
) -> Any:
    """Returns a device function that puts variables on parameter servers and the rest on the worker.

    Args:
      ps_tasks: The number of parameter servers.
      ps_device: Their device.
      worker_device: The device of other operations.
      merge_devices: Whether the operation's own device is merged with this.
      cluster: A `ClusterSpec`, a `ClusterDef` or a dict of jobs, which tells the number of servers.
      ps_ops: The op types that go to the servers, by default those of variables.
      ps_strategy: A function of an operation that returns the number of a server, by default in turn.

    Returns:
      A function for `tf.device`; None if there are no servers.

    Raises:
      TypeError: `cluster` or `ps_strategy` is of another type.

    Example:
      >>> with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
      ...     print(tf.Variable(1.0).device, tf.Variable(2.0).device)
      /job:ps/task:0 /job:ps/task:1
    """
    if cluster is not None:
        spec = cluster.as_dict() if hasattr(cluster, "as_dict") else {j.name: dict(j.tasks) for j in cluster.job} if hasattr(cluster, "job") else cluster
        if not isinstance(spec, dict):
            raise TypeError("cluster must be a ClusterSpec, a ClusterDef or a dict of jobs, not %r" % (cluster,))
        ps_tasks = len(spec.get(DeviceSpec.from_string(ps_device).job, ()))
    if not ps_tasks:
        return None
    if ps_strategy is not None and not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    return _ReplicaDeviceChooser(ps_device, worker_device, merge_devices, ps_ops or _VARIABLE_OPS, ps_strategy or _RoundRobin(ps_tasks))
