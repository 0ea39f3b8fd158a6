"""`TensorArray`: tensors that a loop writes and reads one by one."""

from __future__ import annotations

from typing import Any, Optional

from millstream import dtypes, shapes
from millstream._engine import Tensor
from millstream._ops import op
from millstream.array_ops import shape
from millstream.control_flow import with_dependencies
from millstream.framework import constant_value, convert_to_tensor, name_scope
from millstream.math_ops import cast
from millstream.math_ops import range as span


class TensorArray:
    """An array of tensors. What changes it gives the array after the change: use that from then on."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: Optional[bool] = None,
        clear_after_read: Optional[bool] = None,
        tensor_array_name: Optional[str] = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: Optional[str] = None,
    ) -> None:
        if handle is not None and tensor_array_name:
            raise ValueError("Cannot construct with both handle and tensor_array_name")
        if handle is not None and not isinstance(handle, Tensor):
            raise TypeError("Handle must be a Tensor")
        if handle is None and size is None:
            raise ValueError("Size must be provided if handle is not provided")
        if handle is not None and size is not None:
            raise ValueError("Cannot provide both a handle and size at the same time")
        for given, word in ((element_shape, "element_shape"), (dynamic_size, "dynamic_size"), (clear_after_read, "clear_after_read")):
            if handle is not None and given is not None:
                raise ValueError("Cannot provide both a handle and %s at the same time" % word)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._infer_shape = infer_shape
        self._dynamic_size = bool(dynamic_size)
        # Shared with the arrays that come of this one: what is learned of the elements holds of all.
        self._shape = [shapes.TensorShape(element_shape)]
        self._known = [element_shape is not None or infer_shape]
        if element_shape is not None:
            self._infer_shape = True
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle = handle
                self._flow = flow if flow is not None else convert_to_tensor(0.0)
            else:
                made = op("TensorArrayV3")(
                    size=size,
                    dtype=self._dtype,
                    element_shape=self._shape[0],
                    dynamic_size=self._dynamic_size,
                    clear_after_read=clear_after_read is None or clear_after_read,
                    identical_element_shapes=infer_shape,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )
                self._handle, self._flow = made

    dtype = property(lambda self: self._dtype, doc="The element type.")
    handle = property(lambda self: self._handle, doc="The handle.")
    flow = property(lambda self: self._flow, doc="What says what comes first.")
    dynamic_size = property(lambda self: self._dynamic_size, doc="Whether it grows.")
    element_shape = property(lambda self: self._shape[0], doc="What is known of the elements' shape.")

    def __repr__(self) -> str:
        return "<tf.TensorArray '%s' dtype=%s element_shape=%s>" % (self._handle.op.name, self._dtype.name, self._shape[0])

    # As a loop variable it is its flow.

    def _loop_value(self) -> Tensor:
        return self._flow

    def _with_loop_value(self, flow: Tensor) -> "TensorArray":
        array = TensorArray.__new__(TensorArray)
        array.__dict__.update(self.__dict__)
        array._flow = flow
        return array

    def _learn(self, shape: Any) -> None:
        """An element of this shape was written."""
        if not self._infer_shape:
            return
        self._check(shape)
        self._shape[0] = self._shape[0].merge_with(shape)

    def _check(self, shape: Any) -> None:
        if not self._shape[0].is_compatible_with(shape):
            raise ValueError("Inconsistent shapes: saw %s but expected %s (and infer_shape=True)" % (shape, self._shape[0]))

    def identity(self) -> "TensorArray":
        """The array, after what the current control dependencies say."""
        return self._with_loop_value(op("Identity")(self._flow))

    def grad(self, source: str, flow: Any = None, name: Optional[str] = None) -> "TensorArray":
        """The array of the gradients."""
        with name_scope(name, "TensorArrayGrad", [self._handle]):
            handle, made = op("TensorArrayGradV3")(self._handle, self._flow if flow is None else flow, source=source)
            flow = with_dependencies([made.op], made, name="gradient_flow")
            array = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape)
            array._shape = [self._shape[0]]
            return array

    def read(self, index: Any, name: Optional[str] = None) -> Tensor:
        """The element at `index`."""
        value = op("TensorArrayReadV3")(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self._shape[0])
        return value

    def write(self, index: Any, value: Any, name: Optional[str] = None) -> "TensorArray":
        """With `value` at `index`."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            if value.dtype.base_dtype != self._dtype:
                raise ValueError(
                    "TensorArray dtype is %s but Op is trying to write dtype %s" % (self._dtype.name, value.dtype.name)
                )
            self._check(value.shape)
            flow = op("TensorArrayWriteV3")(self._handle, index, value, self._flow, name=name)
            array = self._with_loop_value(flow)
            array._learn(value.shape)
            return array

    def stack(self, name: Optional[str] = None) -> Tensor:
        """All elements along a new first axis."""
        with name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(span(0, self.size()), name)

    def gather(self, indices: Any, name: Optional[str] = None) -> Tensor:
        """The elements at `indices` along a new first axis."""
        row = self._shape[0]
        value = op("TensorArrayGatherV3")(self._handle, indices, self._flow, dtype=self._dtype, element_shape=row, name=name)
        if row.ndims is not None:
            value.set_shape([None] + row.as_list())
        return value

    def concat(self, name: Optional[str] = None) -> Tensor:
        """All elements one after the other along their first axis."""
        row = self._shape[0]
        but = shapes.TensorShape(None) if row.ndims is None else shapes.TensorShape(row.as_list()[1:])
        value, _ = op("TensorArrayConcatV3")(self._handle, self._flow, dtype=self._dtype, element_shape_except0=but, name=name)
        if row.ndims is not None:
            value.set_shape([None] + row.as_list()[1:])
        return value

    def unstack(self, value: Any, name: Optional[str] = None) -> "TensorArray":
        """With the rows of `value` as its elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            n = shape(value)[0]
            return self.scatter(span(0, n), value, name)

    def scatter(self, indices: Any, value: Any, name: Optional[str] = None) -> "TensorArray":
        """With the rows of `value` at `indices`."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            row = value.shape[1:] if value.shape.ndims is not None else shapes.TensorShape(None)
            self._check(row)
            flow = op("TensorArrayScatterV3")(self._handle, indices, value, self._flow, name=name)
            array = self._with_loop_value(flow)
            array._learn(row)
            return array

    def split(self, value: Any, lengths: Any, name: Optional[str] = None) -> "TensorArray":
        """With parts of `value` of these lengths as its elements."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            lengths = cast(lengths, dtypes.int64)
            flow = op("TensorArraySplitV3")(self._handle, value, lengths, self._flow, name=name)
            array = self._with_loop_value(flow)
            known = constant_value(lengths)
            if value.shape.ndims is not None and known is not None and len(set(known.tolist())) == 1:
                array._learn(shapes.TensorShape([int(known[0])] + value.shape.as_list()[1:]))
            return array

    def size(self, name: Optional[str] = None) -> Tensor:
        """How many elements there are."""
        return op("TensorArraySizeV3")(self._handle, self._flow, name=name)

    def close(self, name: Optional[str] = None) -> Any:
        """Frees the elements."""
        return op("TensorArrayCloseV3")(self._handle, name=name)
