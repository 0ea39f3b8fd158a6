"""Tensors that a session keeps between runs, accessed by handles."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from millstream import _engine
from millstream._engine import Operation, Tensor
from millstream.framework import colocate_with, device, dtypes, errors, placeholder
from millstream.framework.op_functions import op

__all__ = ["delete_session_tensor", "get_session_handle", "get_session_tensor"]


class TensorHandle:
    """The value of a `get_session_handle`: a handle of a tensor that the session keeps.

    It may be fed for any tensor of that dtype, in runs of that session; the value is not copied. The session
    frees the tensor some time after the last such object for it is deleted, unless `get_raw_handle` was
    called.
    """

    def __init__(self, handle: str, dtype: Any, session: Any) -> None:
        self._handle = handle
        self._dtype = dtypes.as_dtype(dtype)
        self._session = session
        self._is_owner = True

    def __str__(self) -> str:
        return self._handle

    def __del__(self) -> None:
        if getattr(self, "_is_owner", False):
            self._session._bury(self._handle)

    @property
    def handle(self) -> str:
        """The handle as a string."""
        return self._handle

    def _check(self) -> None:
        if not self._is_owner:
            raise TypeError("Persistent tensor %s may have already been deleted." % self._handle)

    def eval(self) -> Any:
        """Returns the tensor as an array."""
        self._check()
        return self._session._kept(self._handle)

    def delete(self) -> None:
        """Frees the tensor."""
        self._check()
        self._is_owner = False
        if not self._session._forget(self._handle):
            raise errors.InvalidArgumentError(
                None, None, "Failed to delete a tensor with handle '%s' in the session store." % self._handle
            )

    def get_raw_handle(self) -> str:
        """Returns the handle as a string, and leaves freeing the tensor to `delete_session_tensor`."""
        self._is_owner = False
        return self._handle


_engine.set_tensor_handle(TensorHandle)


def get_session_handle(data: Tensor, name: Optional[str] = None) -> Tensor:
    """Keeps the value of `data` in the session for later runs.

    Args:
      data: A tensor.
      name: A name for the operation.

    Returns:
      A string tensor, whose value when fetched is a `TensorHandle`, a new one in each run.

    Raises:
      TypeError: `data` is not a tensor.

    Example:
      >>> x = tf.placeholder(tf.float32, [2])
      >>> with tf.Session() as sess:
      ...     h = sess.run(tf.get_session_handle(x * 2.0), {x: [1.0, 2.0]})
      ...     print(h.eval(), sess.run(x + 1.0, {x: h}))
      [2. 4.] [3. 5.]
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return op("GetSessionHandle")(data, name=name)


def get_session_tensor(handle: str, dtype: Any, name: Optional[str] = None) -> Tuple[Tensor, Tensor]:
    """Returns the tensor that a session keeps under a handle.

    Args:
      handle: A handle as a string (`TensorHandle.handle`), which determines the device of the tensor.
      dtype: The tensor's dtype.
      name: A name for the operation.

    Returns:
      A pair: a placeholder for the handle, and the tensor. Any handle of a tensor of this dtype may be fed.

    Example:
      >>> with tf.Session() as sess:
      ...     h = sess.run(tf.get_session_handle(tf.constant([1.0, 2.0])))
      ...     place, value = tf.get_session_tensor(h.handle, tf.float32)
      ...     print(sess.run(value * 2.0, {place: h.handle}))
      [2. 4.]
    """
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, op("GetSessionTensor")(holder, dtype=dtypes.as_dtype(dtype), name=name)


def delete_session_tensor(handle: str, name: Optional[str] = None) -> Tuple[Tensor, Operation]:
    """Frees the tensor that a session keeps under a handle.

    Args:
      handle: A handle as a string (`TensorHandle.get_raw_handle`), which determines the device of the tensor.
      name: A name for the operation.

    Returns:
      A pair: a placeholder for the handle, and the operation.

    Example:
      >>> with tf.Session() as sess:
      ...     h = sess.run(tf.get_session_handle(tf.constant(5)))
      ...     text = h.get_raw_handle()
      ...     place, gone = tf.delete_session_tensor(text)
      ...     sess.run(gone, {place: text})
    """
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, op("DeleteSessionTensor")(holder, name=name)


def _device_of(handle: Any) -> str:
    return str(handle).split(";")[-1]
