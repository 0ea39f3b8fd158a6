"""`TensorArray`: an array of tensors that a loop writes and reads one by one."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

from millstream._engine import Tensor
from millstream.framework import constant_value, convert_to_tensor, dtypes, get_default_graph, name_scope, node_counts, shapes, switches
from millstream.framework.op_functions import op
from millstream.ops.array_ops import shape
from millstream.ops.control_flow import with_dependencies
from millstream.ops.math_ops import cast, range as span


@contextlib.contextmanager
def _as_list(more: int = 0, only: Optional[int] = None) -> Iterator[None]:
    """A block whose nodes are counted as TensorFlow counts them under `tf.enable_control_flow_v2`.

    There an array is a list, which takes another number of nodes: those that are made here and `more`, or, if
    `only` is given, that many in all. A handle that enters a loop or branch is not counted, since a list has
    none.
    """
    if not switches.control_flow_v2_enabled():
        yield
        return
    graph = get_default_graph()
    start, before = len(graph), node_counts.count(graph)
    yield
    handles = sum(o.type in ("Enter", "Switch") and o.outputs[0].dtype == dtypes.resource for o in graph._operations(start))
    node_counts.count_more(graph, more - handles if only is None else before + only - node_counts.count(graph))


class TensorArray:
    """An array of tensors that a loop writes and reads one by one.

    Operations that change the array return a new `TensorArray`: use that from then on. All elements have one
    dtype. Gradients flow through writes and reads, also in loops.

    Args:
      dtype: The dtype of the elements.
      size: An `int32` scalar: the number of elements. Required unless `handle` is given.
      dynamic_size: If true, writes beyond the end extend the array.
      clear_after_read: If true (the default), an element may be read only once, and its memory is freed by
        the read.
      tensor_array_name: A name for the array in error messages.
      handle: The handle of an existing array.
      flow: The flow of an existing array.
      infer_shape: If true, all elements have the shape of the first one written.
      element_shape: The static shape of the elements.
      colocate_with_first_write_call: Ignored; there is one device.
      name: The name scope of the new operations.

    Raises:
      ValueError: Neither `size` nor `handle` is given, or `handle` is given with an argument of new arrays.
      TypeError: `handle` is not a tensor.

    Example:
      >>> squares = tf.TensorArray(tf.int32, size=5)
      >>> squares.dtype, squares.dynamic_size, squares.element_shape, squares.handle.dtype, squares.flow.dtype
      (tf.int32, False, TensorShape(None), tf.resource, tf.float32)
      >>> _, squares = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a.write(i, i * i)),
      ...     [0, squares])
      >>> print(tf.Session().run(squares.stack()))
      [ 0  1  4  9 16]
    """

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
        self._dynamic_size = dynamic_size or False
        # Shared with the arrays derived from this one: a shape learned from one holds for all.
        self._shape = [shapes.TensorShape(element_shape)]
        self._known = [element_shape is not None or infer_shape]
        if element_shape is not None:
            self._infer_shape = True
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle = handle
                self._flow = flow if flow is not None else convert_to_tensor(0.0)
            else:
                with _as_list(1):
                    made = op("TensorArrayV3")(
                        size=size,
                        dtype=self._dtype,
                        element_shape=self._shape[0],
                        dynamic_size=self._dynamic_size,
                        # An element of a list is read many times.
                        clear_after_read=False if switches.control_flow_v2_enabled() else True if clear_after_read is None else clear_after_read,
                        identical_element_shapes=infer_shape,
                        tensor_array_name=tensor_array_name or "",
                        name=scope,
                    )
                self._handle, self._flow = made

    dtype = property(lambda self: self._dtype, doc="The dtype of the elements.")
    handle = property(lambda self: self._handle, doc="The handle of the array.")
    flow = property(lambda self: self._flow, doc="A scalar that orders reads after writes.")
    dynamic_size = property(lambda self: self._dynamic_size, doc="Whether writes beyond the end extend the array.")
    element_shape = property(lambda self: self._shape[0], doc="The static shape of the elements.")

    def __repr__(self) -> str:
        return "<tf.TensorArray '%s' dtype=%s element_shape=%s>" % (self._handle.op.name, self._dtype.name, self._shape[0])

    # As a loop variable, an array is represented by its flow.

    def _loop_value(self) -> Tensor:
        return self._flow

    def _with_loop_value(self, flow: Tensor) -> "TensorArray":
        array = TensorArray.__new__(TensorArray)
        array.__dict__.update(self.__dict__)
        array._flow = flow
        return array

    def _learn(self, shape: Any) -> None:
        """Records that an element of this shape is written."""
        if not self._infer_shape:
            return
        self._check(shape)
        self._shape[0] = self._shape[0].merge_with(shape)

    def _check(self, shape: Any) -> None:
        if not self._shape[0].is_compatible_with(shape):
            raise ValueError("Inconsistent shapes: saw %s but expected %s (and infer_shape=True)" % (shape, self._shape[0]))

    def identity(self) -> "TensorArray":
        """Returns the array after the current control dependencies.

        Returns:
          A `TensorArray` with another flow.

        Example:
          >>> a = tf.TensorArray(tf.float32, 1).write(0, 1.5)
          >>> with tf.control_dependencies([tf.no_op()]):
          ...     a = a.identity()
          >>> print(tf.Session().run(a.read(0)))
          1.5
        """
        return self._with_loop_value(op("Identity")(self._flow))

    def grad(self, source: str, flow: Any = None, name: Optional[str] = None) -> "TensorArray":
        """Returns the array of gradients: of the same size, initially zero; writes to it add up.

        Args:
          source: A name; gradient arrays with the same name are one.
          flow: The flow to start after, instead of that of the array.
          name: The name scope of the new operations.

        Returns:
          A `TensorArray` of the same dtype.

        Raises:
          TypeError: `source` is no string.

        Example:
          >>> a = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack([1.0, 2.0])
          >>> g = a.grad("gradients").write(0, 5.0)
          >>> g = g.write(0, 0.5)
          >>> print(tf.Session().run(g.read(0)))
          5.5
        """
        if not isinstance(source, (str, bytes)):
            raise TypeError("Expected string for argument 'source' not %r." % (source,))
        with name_scope(name, "TensorArrayGrad", [self._handle]):
            handle, made = op("TensorArrayGradV3")(self._handle, self._flow if flow is None else flow, source=source)
            flow = with_dependencies([made.op], made, name="gradient_flow")
            array = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape)
            array._shape = [self._shape[0]]
            return array

    def read(self, index: Any, name: Optional[str] = None) -> Tensor:
        """Returns the element at `index`.

        Args:
          index: An int32 scalar.
          name: A name for the operation.

        Returns:
          A tensor of the array's dtype and the static shape of elements.

        Raises:
          tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError: When run: the index is out of range, or
            the element was not written, or was read before (see `clear_after_read`).

        Example:
          >>> a = tf.TensorArray(tf.float32, 2).unstack([[1.0, 2.0], [3.0, 4.0]])
          >>> print(tf.Session().run(a.read(1)))
          [3. 4.]
        """
        with _as_list(1):
            value = op("TensorArrayReadV3")(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self._shape[0])
        return value

    def write(self, index: Any, value: Any, name: Optional[str] = None) -> "TensorArray":
        """Writes `value` at `index`.

        Args:
          index: An int32 scalar.
          value: A tensor of the array's dtype.
          name: The name scope of the new operations.

        Returns:
          The `TensorArray` to use from now on.

        Raises:
          ValueError: `value` has another dtype, or a shape that does not match.
          tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError: When run: the index is out of range, or
            the element was written before.

        Example:
          >>> a = tf.TensorArray(tf.string, 2).write(0, "a").write(1, "b")
          >>> print(tf.Session().run(a.stack()))
          [b'a' b'b']
        """
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            self._check(value.shape)
            with _as_list():
                flow = op("TensorArrayWriteV3")(self._handle, index, value, self._flow, name=name)
            array = self._with_loop_value(flow)
            array._learn(value.shape)
            return array

    def stack(self, name: Optional[str] = None) -> Tensor:
        """Stacks all elements along a new first axis.

        Args:
          name: The name scope of the new operations.

        Returns:
          A tensor of shape `[size] + element_shape`. All elements must have been written, with the same
            shape.

        Example:
          >>> a = tf.TensorArray(tf.int32, 2).write(0, [1, 2]).write(1, [3, 4])
          >>> print(tf.Session().run(a.stack()))
          [[1 2]
           [3 4]]
        """
        with name_scope(name, "TensorArrayStack", [self._handle]), _as_list(only=2):
            return self.gather(span(0, self.size()), name)

    def gather(self, indices: Any, name: Optional[str] = None) -> Tensor:
        """Stacks the elements at `indices` along a new first axis.

        Args:
          indices: An int32 vector.
          name: A name for the operation.

        Returns:
          A tensor of shape `[len(indices)] + element_shape`.

        Example:
          >>> a = tf.TensorArray(tf.int32, 3).unstack([10, 20, 30])
          >>> print(tf.Session().run(a.gather([2, 0])))
          [30 10]
        """
        row = self._shape[0]
        with _as_list(1):
            value = op("TensorArrayGatherV3")(self._handle, indices, self._flow, dtype=self._dtype, element_shape=row, name=name)
        if row.ndims is not None:
            value.set_shape([None] + row.as_list())
        return value

    def concat(self, name: Optional[str] = None) -> Tensor:
        """Concatenates all elements along their first axis.

        Args:
          name: A name for the operation.

        Returns:
          A tensor. Elements may differ in their first dimension; that of the tensor is the sum.

        Example:
          >>> a = tf.TensorArray(tf.int32, 2, infer_shape=False).write(0, [1]).write(1, [2, 3])
          >>> print(tf.Session().run(a.concat()))
          [1 2 3]
        """
        row = self._shape[0]
        but = shapes.TensorShape(None) if row.ndims is None else shapes.TensorShape(row.as_list()[1:])
        with _as_list(2):
            value, _ = op("TensorArrayConcatV3")(self._handle, self._flow, dtype=self._dtype, element_shape_except0=but, name=name)
        if row.ndims is not None:
            value.set_shape([None] + row.as_list()[1:])
        return value

    def unstack(self, value: Any, name: Optional[str] = None) -> "TensorArray":
        """Writes the rows of `value` as the elements of the array.

        Args:
          value: A tensor of the array's dtype, of rank 1 or more.
          name: The name scope of the new operations.

        Returns:
          The `TensorArray` to use from now on.

        Raises:
          ValueError: The shape of rows does not match.

        Example:
          >>> a = tf.TensorArray(tf.int32, 3).unstack([10, 20, 30])
          >>> print(tf.Session().run(a.read(2)))
          30
        """
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            if switches.control_flow_v2_enabled():
                value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            with _as_list(only=2):
                n = shape(value)[0]
                return self.scatter(span(0, n), value, name)

    def scatter(self, indices: Any, value: Any, name: Optional[str] = None) -> "TensorArray":
        """Writes the rows of `value` at `indices`.

        Args:
          indices: An int32 vector.
          value: A tensor of the array's dtype with a row for each of `indices`.
          name: The name scope of the new operations.

        Returns:
          The `TensorArray` to use from now on.

        Raises:
          ValueError: The shape or the number of rows does not match.

        Example:
          >>> a = tf.TensorArray(tf.int32, 3).scatter([2, 0, 1], [10, 20, 30])
          >>> print(tf.Session().run(a.stack()))
          [20 30 10]
        """
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            row = value.shape[1:] if value.shape.ndims is not None else shapes.TensorShape(None)
            self._check(row)
            flow = op("TensorArrayScatterV3")(self._handle, indices, value, self._flow, name=name)
            array = self._with_loop_value(flow)
            array._learn(row)
            return array

    def split(self, value: Any, lengths: Any, name: Optional[str] = None) -> "TensorArray":
        """Writes parts of `value` with these lengths as the elements of the array.

        Args:
          value: A tensor of the array's dtype, of rank 1 or more.
          lengths: An integer vector, whose sum is the first dimension of `value`.
          name: The name scope of the new operations.

        Returns:
          The `TensorArray` to use from now on.

        Example:
          >>> a = tf.TensorArray(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 2])
          >>> print(*tf.Session().run([a.read(0), a.read(1)]))
          [1] [2 3]
        """
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype_hint=self._dtype, name="value")
            lengths = cast(lengths, dtypes.int64)
            with _as_list(1):
                flow = op("TensorArraySplitV3")(self._handle, value, lengths, self._flow, name=name)
            array = self._with_loop_value(flow)
            known = constant_value(lengths)
            if value.shape.ndims is not None and known is not None and len(set(known.tolist())) == 1:
                array._learn(shapes.TensorShape([int(known[0])] + value.shape.as_list()[1:]))
            return array

    def size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of elements.

        Args:
          name: A name for the operation.

        Returns:
          An `int32` scalar tensor.

        Example:
          >>> a = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(4, 1.0)
          >>> print(tf.Session().run(a.size()))
          5
        """
        return op("TensorArraySizeV3")(self._handle, self._flow, name=name)

    def close(self, name: Optional[str] = None) -> Any:
        """Frees the elements; the array cannot be used again in this run.

        Args:
          name: A name for the operation.

        Returns:
          The `Operation`.

        Example:
          >>> a = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])
          >>> kept = a.read(0)
          >>> with tf.control_dependencies([kept]):
          ...     closed = a.close()
          >>> print(tf.Session().run([kept, closed])[1])
          None
        """
        return op("TensorArrayCloseV3")(self._handle, name=name)
