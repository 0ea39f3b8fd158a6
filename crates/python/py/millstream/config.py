"""`tf.config`: the devices, of which there is one, and settings of the process.

Sessions do not read the settings, as in TensorFlow 1: they have those of their `ConfigProto`.
"""

from __future__ import annotations

import inspect
import types
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from millstream.framework import namespaces

__all__ = ["experimental", "get_soft_device_placement", "optimizer", "set_soft_device_placement", "threading"]

__dir__ = namespaces.dir_of(globals())


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that operations are placed on."""

    name: str
    device_type: str


class VirtualDeviceConfiguration(NamedTuple):
    """The memory limit of a part of a device, in MB."""

    memory_limit: Optional[int] = None


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")

_settings: Dict[str, Any] = {
    "soft_device_placement": False,
    "intra_op_parallelism_threads": 0,
    "inter_op_parallelism_threads": 0,
    "jit": False,
    "experimental_options": {"disable_model_pruning": False, "disable_meta_optimizer": False},
}


def _getter(name: str, what: str) -> Callable[[], Any]:
    def get() -> Any:
        return _settings[name]

    get.__name__ = get.__qualname__ = "get_" + name
    get.__doc__ = "Returns %s." % what
    return get


def _setter(name: str, what: str, argument: str) -> Callable[..., None]:
    def set_(*args: Any, **kwargs: Any) -> None:
        _settings[name] = signature.bind(*args, **kwargs).arguments[argument]

    signature = inspect.Signature([inspect.Parameter(argument, inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    set_.__signature__ = signature  # type: ignore[attr-defined]
    set_.__name__ = set_.__qualname__ = "set_" + name
    set_.__doc__ = "Sets %s. Sessions do not read it: they have a `ConfigProto`." % what
    return set_


get_soft_device_placement = _getter("soft_device_placement", "whether an operation may be placed on another device than it names")
set_soft_device_placement = _setter("soft_device_placement", "whether an operation may be placed on another device than it names", "enabled")


def list_physical_devices(device_type: Optional[str] = None) -> List[PhysicalDevice]:
    """Returns the devices of the machine: the CPU.

    Args:
      device_type: If given, those of a type: `"CPU"`, `"GPU"`.

    Example:
      >>> tf.config.experimental.list_physical_devices("GPU")
      []
    """
    return [_CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type: Optional[str] = None) -> List[LogicalDevice]:
    """Returns the devices that operations are placed on: the CPU."""
    return [LogicalDevice("/job:localhost/replica:0/task:0/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type: Optional[str] = None) -> List[PhysicalDevice]:
    """Returns the devices that the process uses: the CPU."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: Optional[str] = None) -> None:
    """Sets the devices that the process uses.

    Raises:
      ValueError: A device is unknown, or the CPU is left out.
    """
    given = list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [devices]
    for one in given:
        if one != _CPU:
            raise ValueError("Unrecognized device: %r" % (one,))
    if device_type in (None, "CPU") and not given:
        raise ValueError("the CPU cannot be left out: there is no other device")


def set_memory_growth(device: Any, enable: bool) -> None:
    """Sets whether a GPU's memory is allocated as it is needed.

    Raises:
      ValueError: The device is no GPU; there is none.
    """
    raise ValueError("Cannot set memory growth on non-GPU devices" if device == _CPU else "Unrecognized device: %r" % (device,))


def get_memory_growth(device: Any) -> bool:
    """Returns whether a GPU's memory is allocated as it is needed.

    Raises:
      KeyError: Nothing was set for the device; there is no GPU.
    """
    raise KeyError(device)


def get_virtual_device_configuration(device: Any) -> Optional[List[VirtualDeviceConfiguration]]:
    """Returns the parts of a device, or None if it is whole.

    Example:
      >>> (cpu,) = tf.config.experimental.list_physical_devices()
      >>> tf.config.experimental.get_virtual_device_configuration(cpu) is None
      True
    """
    return None


def get_synchronous_execution() -> bool:
    """Returns whether operations are executed one after the other, without a graph: always True."""
    return True


def get_device_policy() -> str:
    """Returns what is done with tensors on other devices: always `"silent"`."""
    return "silent"


def _module(name: str, **members: Any) -> types.ModuleType:
    module = types.ModuleType(__name__ + "." + name, "TensorFlow's `tf.config.%s`." % name)
    vars(module).update(members)
    return module


experimental = _module(
    "experimental",
    VirtualDeviceConfiguration=VirtualDeviceConfiguration,
    get_device_policy=get_device_policy,
    get_memory_growth=get_memory_growth,
    get_synchronous_execution=get_synchronous_execution,
    get_virtual_device_configuration=get_virtual_device_configuration,
    get_visible_devices=get_visible_devices,
    list_logical_devices=list_logical_devices,
    list_physical_devices=list_physical_devices,
    set_memory_growth=set_memory_growth,
    set_visible_devices=set_visible_devices,
)
optimizer = _module(
    "optimizer",
    get_experimental_options=_getter("experimental_options", "the options of the optimizer of graphs"),
    get_jit=_getter("jit", "whether all is compiled"),
    set_experimental_options=_setter("experimental_options", "the options of the optimizer of graphs", "options"),
    set_jit=_setter("jit", "whether all is compiled", "enabled"),
)
_INTRA, _INTER = "the threads of one operation", "the threads of all operations"
threading = _module(
    "threading",
    get_inter_op_parallelism_threads=_getter("inter_op_parallelism_threads", _INTER),
    get_intra_op_parallelism_threads=_getter("intra_op_parallelism_threads", _INTRA),
    set_inter_op_parallelism_threads=_setter("inter_op_parallelism_threads", _INTER, "num_threads"),
    set_intra_op_parallelism_threads=_setter("intra_op_parallelism_threads", _INTRA, "num_threads"),
)
