"""`DeviceSpec`: names of devices, taken apart: `/job:worker/replica:0/task:1/device:CPU:0`."""

from __future__ import annotations

from typing import Any, Optional, Tuple

_FIELDS = ("job", "replica", "task", "device_type", "device_index")
Parts = Tuple[Optional[str], Optional[int], Optional[int], Optional[str], Optional[int]]


def _parse(spec: str) -> Parts:
    """The parts of a device's name; a part left out, or a device's number `*`, is None."""
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
    """Where operations are to run: any of job, replica, task, device type and index. What is None is left open.

    >>> tf.DeviceSpec(job="ps", device_type="CPU", device_index=0).to_string()
    '/job:ps/device:CPU:0'
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
        """The spec for a device's name. `ValueError` if it is none."""
        return cls(*_parse(spec))

    def parse_from_string(self, spec: str) -> "DeviceSpec":
        """Becomes what the name says, and returns itself."""
        self._job, self._replica, self._task, self._device_type, self._device_index = _parse(spec)
        return self

    def to_string(self) -> str:
        """The device's name."""
        out = ""
        for word in ("job", "replica", "task"):
            value = getattr(self, word)
            if value is not None:
                out += f"/{word}:{value}"
        if self._device_type is not None:
            out += f"/device:{self._device_type}:{'*' if self._device_index is None else self._device_index}"
        return out

    def merge_from(self, dev: "DeviceSpec") -> None:
        """Takes over whatever `dev` says."""
        for field in _FIELDS:
            value = getattr(dev, field)
            if value is not None:
                setattr(self, "_" + field, value)

    def make_merged_spec(self, dev: "DeviceSpec") -> "DeviceSpec":
        """A new spec: what `dev` says, and for the rest what this says."""
        merged = self.replace()
        merged.merge_from(dev)
        return merged

    def replace(self, **kwargs: Any) -> "DeviceSpec":
        """A new spec with some parts changed."""
        return DeviceSpec(**{**{field: getattr(self, field) for field in _FIELDS}, **kwargs})

    @property
    def job(self) -> Optional[str]:
        """The job's name."""
        return self._job

    @job.setter
    def job(self, job: Optional[str]) -> None:
        self._job = None if job is None else str(job)

    @property
    def replica(self) -> Optional[int]:
        """The replica's number."""
        return self._replica

    @replica.setter
    def replica(self, replica: Optional[int]) -> None:
        self._replica = None if replica is None else int(replica)

    @property
    def task(self) -> Optional[int]:
        """The task's number."""
        return self._task

    @task.setter
    def task(self, task: Optional[int]) -> None:
        self._task = None if task is None else int(task)

    @property
    def device_type(self) -> Optional[str]:
        """`"CPU"`, `"GPU"`."""
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: Optional[str]) -> None:
        self._device_type = _upper(device_type)

    @property
    def device_index(self) -> Optional[int]:
        """Which device of its type."""
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
    # Short names are written either way; others, such as `XLA_CPU`, as they are.
    return device_type.upper() if device_type in ("cpu", "gpu") else device_type
