"""`SaveableObject`: an object other than a variable that a `Saver` saves and restores, such as a table.

A `Saver` without a list of its own also saves the objects in the collection `saveable_objects`.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence


class SaveSpec:
    """A tensor to save.

    Args:
      tensor: The tensor, or a function without arguments that returns it.
      slice_spec: Its part of a larger tensor, in the notation of `SaveV2`; empty for a tensor of its own.
      name: The key in the checkpoint.
      dtype: The dtype; by default that of the tensor.
      device: The device that saves it; by default that of the tensor.
    """

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: Optional[str] = None) -> None:
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        self.dtype = (tensor.dtype if dtype is None else dtype).base_dtype
        self.device = tensor.device if device is None else device

    @property
    def tensor(self) -> Any:
        """The tensor."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """The base class of objects to save.

    Args:
      op: The object, which programs read as `saveable.op`.
      specs: A list of `SaveSpec`.
      name: The name; objects of the same name replace each other.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op, self.specs, self.name = op, list(specs), name

    @property
    def device(self) -> str:
        """The device that saves the object."""
        return self.specs[0].device

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Returns an operation that restores the object.

        Args:
          restored_tensors: The saved values, one for each of `specs`.
          restored_shapes: The shapes to restore them in, or None for the saved ones.

        Returns:
          An operation or a tensor.

        Raises:
          NotImplementedError: The class does not implement it.
        """
        raise NotImplementedError("Calling an abstract method.")
