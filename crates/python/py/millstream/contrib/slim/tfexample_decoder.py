"""`slim.tfexample_decoder`: items from the features of `Example` messages.

A `TFExampleDecoder` parses the message; for each item, an `ItemHandler` makes a tensor of features.
"""

from __future__ import annotations

import abc
from typing import Any, Callable, Dict, List, Optional, Sequence

from millstream.contrib.slim.data_decoder import DataDecoder
from millstream.framework import SparseTensor as _Sparse, dtypes, namespaces
from millstream.io import parsing_ops
from millstream.ops import array_ops, control_flow, functional, math_ops, reduction_ops, sparse_ops
from millstream.framework.op_functions import op

__all__ = [
    "BackupHandler",
    "BoundingBox",
    "Image",
    "ItemHandler",
    "ItemHandlerCallback",
    "LookupTensor",
    "SparseTensor",
    "TFExampleDecoder",
    "Tensor",
]


class ItemHandler(abc.ABC):
    """The base class of handlers: makes an item of the features `keys`.

    Args:
      keys: The name of a feature, or a list of names.
    """

    def __init__(self, keys: Any) -> None:
        self._keys = list(keys) if isinstance(keys, (list, tuple)) else [keys]

    @property
    def keys(self) -> List[str]:
        """The names of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        """Returns the item; the argument is a dict of features."""


class ItemHandlerCallback(ItemHandler):
    """A handler that calls a function.

    Args:
      keys: The names of the features.
      func: A function from a dict of features to the item.
    """

    def __init__(self, keys: Any, func: Callable[[Dict[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """A handler that makes boxes, of shape `[n, 4]`, of four features, one for each side.

    Args:
      keys: The last parts of the features' names; by default `ymin`, `xmin`, `ymax` and `xmax`.
      prefix: What the names start with.

    Raises:
      ValueError: There are not four keys.
    """

    def __init__(self, keys: Optional[Sequence[str]] = None, prefix: str = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError("BoundingBox expects 4 keys but got {}".format(len(keys)))
        self._prefix, self._sides = prefix, keys
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        sides = [keys_to_tensors[key] for key in self._keys]
        rows = [array_ops.expand_dims(side.values if isinstance(side, _Sparse) else side, 0) for side in sides]
        return array_ops.transpose(array_ops.concat(rows, 0))


def _dense(value: Any) -> Any:
    return sparse_ops.sparse_tensor_to_dense(value) if isinstance(value, _Sparse) else value


class Tensor(ItemHandler):
    """A handler that returns a feature, dense and reshaped.

    Args:
      tensor_key: The name of the feature.
      shape_keys: The names of features that hold the shape.
      shape: The shape, if it is known.
      default_value: What a sparse feature has where nothing is set.

    Raises:
      ValueError: Both `shape_keys` and `shape` are given.
    """

    def __init__(self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key, self._shape_keys, self._shape, self._default_value = tensor_key, shape_keys, shape, default_value
        super().__init__([tensor_key, *(shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            dims = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = array_ops.reshape(array_ops.stack(dims), [-1])
        if not isinstance(tensor, _Sparse):
            return tensor if shape is None else array_ops.reshape(tensor, shape)
        if shape is not None:
            tensor = sparse_ops.sparse_reshape(tensor, shape)
        return sparse_ops.sparse_tensor_to_dense(tensor, self._default_value)


class LookupTensor(Tensor):
    """A handler as `Tensor`, whose values are looked up in a table.

    Args:
      tensor_key: The name of the feature.
      table: A lookup table.
      shape_keys: The names of features that hold the shape.
      shape: The shape, if it is known.
      default_value: What a sparse feature has where nothing is set.
    """

    def __init__(self, tensor_key: str, table: Any, shape_keys: Any = None, shape: Any = None, default_value: Any = "") -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """A handler that calls `handler`, and `backup` if its item has no elements.

    Args:
      handler: A handler.
      backup: A handler.

    Raises:
      ValueError: One of them is no `ItemHandler`.
    """

    def __init__(self, handler: Any, backup: Any) -> None:
        if not isinstance(handler, ItemHandler):
            raise ValueError("Primary handler is of type %s instead of ItemHandler" % type(handler))
        if not isinstance(backup, ItemHandler):
            raise ValueError("Backup handler is of type %s instead of ItemHandler" % type(backup))
        self._handler, self._backup = handler, backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        is_empty = op("Equal")(reduction_ops.reduce_prod(array_ops.shape(item)), 0)
        return control_flow.cond(is_empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensor(ItemHandler):
    """A handler that makes a sparse tensor of a feature of positions and one of values.

    Args:
      indices_key: The name of the positions; by default `indices`.
      values_key: The name of the values; by default `values`.
      shape_key: The name of the shape.
      shape: The shape, if it is known.
      densify: If true, the item is dense.
      default_value: What a dense item has where nothing is set.
    """

    def __init__(
        self,
        indices_key: Optional[str] = None,
        values_key: Optional[str] = None,
        shape_key: Optional[str] = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key, self._values_key, self._shape_key = indices_key or "indices", values_key or "values", shape_key
        self._shape, self._densify, self._default_value = shape, densify, default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        # The positions replace the last column, the place within the feature.
        rank = array_ops.shape(indices.indices)[1]
        ids = math_ops.cast(indices.values, dtypes.int64)
        others = op("Slice")(indices.indices, [0, 0], array_ops.stack([-1, rank - 1]))
        places = array_ops.concat([others, array_ops.reshape(ids, [-1, 1])], 1)
        result = _Sparse(places, values.values, shape)
        return sparse_ops.sparse_tensor_to_dense(result, self._default_value) if self._densify else result


class Image(ItemHandler):
    """A handler that decodes a picture: a JPEG, PNG, GIF or BMP file, or raw bytes.

    Args:
      image_key: The name of the encoded picture; by default `image/encoded`.
      format_key: The name of its format; by default `image/format`. The formats `raw` and `RAW` have no file.
      shape: The shape of the result, if it is known.
      channels: The number of channels.
      dtype: The dtype of the result; raw bytes are read as this dtype.
      repeated: If true, the feature holds several pictures.
      dct_method: How JPEG files are decoded; see `tf.image.decode_jpeg`.
    """

    def __init__(
        self,
        image_key: Optional[str] = None,
        format_key: Optional[str] = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        self._shape, self._channels, self._dtype = shape, channels, dtype
        self._repeated, self._dct_method = repeated, dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: Dict[str, Any]) -> Any:
        data, form = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return functional.map_fn(lambda one: self._decode(one, form), data, dtype=self._dtype)
        return self._decode(data, form)

    def _decode(self, data: Any, form: Any) -> Any:
        """Returns a picture."""
        images = namespaces.find("millstream", "", "image")

        def file() -> Any:
            return math_ops.cast(images.decode_image(data, channels=self._channels), self._dtype)

        def jpeg() -> Any:
            return math_ops.cast(images.decode_jpeg(data, channels=self._channels, dct_method=self._dct_method), self._dtype)

        def encoded() -> Any:
            return control_flow.cond(images.is_jpeg(data), jpeg, file, name="cond_jpeg")

        is_raw = op("LogicalOr")(op("Equal")(form, "raw"), op("Equal")(form, "RAW"))
        raw = {is_raw: lambda: op("DecodeRaw")(data, out_type=self._dtype)}
        picture = control_flow.case(raw, default=encoded, exclusive=True)
        picture.set_shape([None, None, self._channels])
        return picture if self._shape is None else array_ops.reshape(picture, self._shape)


class TFExampleDecoder(DataDecoder):
    """A decoder of serialized `Example` messages.

    Args:
      keys_to_features: A dict of features; see `tf.parse_single_example`.
      items_to_handlers: A dict of `ItemHandler`s by the names of items.
    """

    def __init__(self, keys_to_features: Dict[str, Any], items_to_handlers: Dict[str, ItemHandler]) -> None:
        self._keys_to_features, self._items_to_handlers = keys_to_features, items_to_handlers

    def list_items(self) -> List[str]:
        return list(self._items_to_handlers)

    def decode(self, data: Any, items: Optional[Sequence[str]] = None) -> List[Any]:
        example = parsing_ops.parse_single_example(data, self._keys_to_features)
        for key in sorted(self._keys_to_features):
            feature = self._keys_to_features[key]
            if isinstance(feature, parsing_ops.FixedLenFeature):
                example[key] = array_ops.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [h.tensors_to_item({key: example[key] for key in h.keys}) for h in handlers]
