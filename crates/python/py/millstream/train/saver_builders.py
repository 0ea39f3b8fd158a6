"""`BaseSaverBuilder`: the nodes with which a `Saver` writes and reads tensors.

`Saver(builder=..)` takes an object of a subclass. Its methods are those that a program may override.
"""

from __future__ import annotations

from typing import Any, List, Sequence

from millstream.framework import device, protos
from millstream.framework.op_functions import raw
from millstream.io.saveables import SaveableObject, SaveSpec

__all__ = ["BaseSaverBuilder", "BulkSaverBuilder"]


class BaseSaverBuilder:
    """Makes the nodes of a `Saver`, with one node of `RestoreV2` for each object.

    Args:
      write_version: The format, `tf.train.SaverDef.V1` or `V2`.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject

    def __init__(self, write_version: int = protos.SaverDef.V2) -> None:
        self._write_version = write_version

    def save_op(self, filename_tensor: Any, saveables: Sequence[Any]) -> Any:
        """Returns an operation that writes the tensors of `saveables` to one file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names, slices, values = [s.name for s in specs], [s.slice_spec for s in specs], [s.tensor for s in specs]
        if self._write_version == protos.SaverDef.V1:
            return raw("SaveSlices")(filename=filename_tensor, tensor_names=names, shapes_and_slices=slices, data=values)
        if self._write_version != protos.SaverDef.V2:
            raise RuntimeError("Unexpected write_version: %s (it is tf.train.SaverDef.V1 or V2)" % self._write_version)
        return raw("SaveV2")(prefix=filename_tensor, tensor_names=names, shape_and_slices=slices, tensors=values)

    def restore_op(self, filename_tensor: Any, saveable: Any, preferred_shard: int) -> List[Any]:
        """Returns the tensors of one object, read from the file. `preferred_shard` has no effect."""
        tensors: List[Any] = []
        for spec in saveable.specs:
            made = raw("RestoreV2")(
                prefix=filename_tensor, tensor_names=[spec.name], shape_and_slices=[spec.slice_spec], dtypes=[spec.dtype]
            )
            tensors += made if isinstance(made, (list, tuple)) else [made]
        return tensors

    def bulk_restore(self, filename_tensor: Any, saveables: Sequence[Any], preferred_shard: int, restore_sequentially: bool) -> List[Any]:
        """Returns the tensors of all objects, in order, read from the file."""
        tensors: List[Any] = []
        for saveable in saveables:
            with device(saveable.device or None):
                tensors += self.restore_op(filename_tensor, saveable, preferred_shard)
        return tensors

    def sharded_filename(self, filename_tensor: Any, shard: Any, num_shards: Any) -> Any:
        """Returns the name of a shard's file."""
        return raw("ShardedFilename")(basename=filename_tensor, shard=shard, num_shards=num_shards)


class BulkSaverBuilder(BaseSaverBuilder):
    """Makes the nodes of a `Saver`, with one node of `RestoreV2` for all objects. It is the default."""

    def bulk_restore(self, filename_tensor: Any, saveables: Sequence[Any], preferred_shard: int, restore_sequentially: bool) -> List[Any]:
        """Returns the tensors of all objects, in order, read from the file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        made = raw("RestoreV2")(
            prefix=filename_tensor,
            tensor_names=[s.name for s in specs],
            shape_and_slices=[s.slice_spec for s in specs],
            dtypes=[s.dtype for s in specs],
        )
        return list(made) if isinstance(made, (list, tuple)) else [made]
