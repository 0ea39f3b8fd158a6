"""`with` blocks in Python that affect new operations.

These are device functions, attribute functions, kernel labels and original operations, which the engine does
not know. It reports each operation made while such a block is open (`Graph._dress`), and the blocks are
applied then.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Union

from millstream.framework import protos
from millstream.framework.devices import DeviceSpec

# The argument of a `device` block: a name, a function of the operation, or None, which hides enclosing
# blocks.
Device = Union[str, Callable[[Any], Any], None]


class Dressing:
    """The open blocks of a graph, and the operation up to which they have been applied."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._shared: List[Device] = []
        self._local: Any = None
        self._start: List[Device] = []
        self._open = 0
        self._beside = 0
        self._done = 0
        self.attributes: Dict[str, Any] = {}
        self.labels: Dict[str, str] = {}
        self.original: Any = None

    def switch_to_thread_local(self) -> None:
        """Gives each thread its own `device` blocks from here on, starting with the current ones."""
        if self._local is None:
            self._start, self._local = list(self._shared), threading.local()

    def devices(self) -> List[Device]:
        """Returns the open `device` blocks of this thread, the innermost last."""
        if self._local is None:
            return self._shared
        if not hasattr(self._local, "devices"):
            self._local.devices = list(self._start)
        return self._local.devices

    def active(self) -> List[Device]:
        """Returns the blocks in effect: those inside of the innermost None."""
        devices = self.devices()
        last = max((i for i, d in enumerate(devices) if d is None), default=-1)
        return devices[last + 1 :]

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """A block of colocation."""
        self._beside += 1
        try:
            yield
        finally:
            self._beside -= 1

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """A block whose operations are to be processed."""
        self.finish()
        if not self._open:
            self._done = len(self._graph)
        self._open += 1
        self._graph._watch(True)
        try:
            yield
            self.finish()
        finally:
            self._open -= 1
            if not self._open:
                self._graph._watch(False)

    def finish(self) -> None:
        """Applies the open blocks to the operations made since the last call."""
        if not self._open:
            return
        devices = self.active()
        for op in self._graph._operations(self._done):
            self._done = op._id
            self._dress(op, devices)

    def _dress(self, op: Any, devices: List[Device]) -> None:
        for name, value in self.attributes.items():
            if callable(value):
                value = value(op.node_def)
            if value is not None and name not in op._attr_names():
                op._set_attr(name, value)
        if op.type in self.labels:
            op._set_attr("_kernel", protos.AttrValue(s=self.labels[op.type].encode()))
        if self.original is not None:
            op._original_op = self.original
        if any(callable(d) for d in devices):
            if not self._is_placed(op):
                self._place(op, devices)
            elif not op.device:
                self._place_beside(op)

    def _is_placed(self, op: Any) -> bool:
        # Colocated operations are on the device of their group; those made by the engine ignore enclosing
        # device blocks.
        return "_class" in op._attr_names() and (bool(op.device) or not self._beside)

    def _place_beside(self, op: Any) -> None:
        for group in op.get_attr("_class"):
            try:
                op._set_device(self._graph._operation(group.decode()[len("loc:@") :]).device)
            except KeyError:
                pass  # The group is not named after an operation.

    @staticmethod
    def _place(op: Any, devices: List[Device]) -> None:
        for device in reversed(devices):
            if callable(device):
                op._set_device(text_of(device(op)))
            elif device:
                op._set_device(merged([device, op.device]))


def text_of(device: Any) -> str:
    """Returns the name of a device."""
    if hasattr(device, "to_string"):
        return device.to_string()
    if isinstance(device, bytes):
        return device.decode()
    if not isinstance(device, str):
        raise TypeError("Expected binary or unicode string, got %r" % (device,))
    return device


def merged(devices: List[str]) -> str:
    """Merges device names; the later one wins for each part."""
    spec = DeviceSpec()
    for device in devices:
        if device:
            spec.merge_from(DeviceSpec.from_string(device))
    return spec.to_string()


@contextlib.contextmanager
def device_block(graph: Any, dressing: Dressing, device: Any) -> Iterator[None]:
    """A `device` block: applied by the engine if all devices are names, otherwise to each new operation."""
    if not (device is None or callable(device) or isinstance(device, (str, bytes)) or hasattr(device, "to_string")):
        raise AttributeError("'%s' object has no attribute 'split': a device is a name, a DeviceSpec or a function" % type(device).__name__)
    entry: Device = device if device is None or callable(device) else text_of(device)
    if isinstance(entry, str) and entry:
        merged([entry])  # Raises if it is not a device name.
    dressing.finish()
    devices = dressing.devices()
    devices.append(entry)
    try:
        active = dressing.active()
        if any(callable(d) for d in active):
            with graph._device(""), dressing.watching():
                yield
        else:
            with graph._device(merged([d for d in active if isinstance(d, str)])):
                yield
                dressing.finish()
    finally:
        devices.pop()


@contextlib.contextmanager
def mapping_block(dressing: Dressing, field: str, changes: Dict[str, Any]) -> Iterator[None]:
    """A block that changes a mapping for new operations; None removes an entry."""
    table = getattr(dressing, field)
    before = dict(table)
    with dressing.watching():
        for name, value in changes.items():
            table.pop(name, None) if value is None else table.__setitem__(name, value)
        try:
            yield
            dressing.finish()
        finally:
            table.clear()
            table.update(before)


@contextlib.contextmanager
def original_block(dressing: Dressing, op: Optional[Any]) -> Iterator[None]:
    """A block whose operations have the original operation `op`."""
    before = dressing.original
    with dressing.watching():
        dressing.original = op
        try:
            yield
            dressing.finish()
        finally:
            dressing.original = before
