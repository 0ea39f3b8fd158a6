"""Exceptions of failed runs: one class for each canonical status code, as in TensorFlow 1.

The base class is `OpError`, with the fields `message`, `op` (the operation that failed, if known), `node_def`
and `error_code`. The engine finds the class to raise with `exception_type_from_error_code`.
"""

from __future__ import annotations

import contextlib
import traceback
from typing import Any, Dict, Iterator, Type

from millstream.framework import logging


OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """The base class of errors of runs; this module has a subclass for each status code.

    Args:
      node_def: The `NodeDef` of the operation that failed.
      op: The operation that failed.
      message: The error message.
      error_code: The status code.

    Example:
      >>> try:
      ...     tf.Session().run(tf.gather([1, 2], tf.placeholder_with_default(5, [], name="i"), name="take"))
      ... except tf.errors.InvalidArgumentError as error:
      ...     print(error.op.name, error.node_def.op, error.error_code == tf.errors.INVALID_ARGUMENT)
      ...     print(error.message.splitlines()[0])
      take GatherV2 True
      indices = 5 is not in [0, 2)
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int) -> None:
        # TensorFlow leaves `args` empty; programs that print `repr(e)` or unpickle it rely on that.
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    def __reduce__(self) -> Any:
        if type(self) is OpError:
            return OpError, (self._node_def, self._op, self._message, self._error_code)
        return type(self), (self._node_def, self._op, self._message)

    @property
    def message(self) -> str:
        """The error message."""
        return self._message

    @property
    def op(self) -> Any:
        """The `Operation` that failed; None if none is to blame, or the graph does not show it."""
        return self._op

    @property
    def error_code(self) -> int:
        """The status code: one of this module's constants."""
        return self._error_code

    @property
    def node_def(self) -> Any:
        """The `NodeDef` of the operation that failed, if known."""
        return self._node_def

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        frames = getattr(self._op, "traceback", None)
        if not frames:
            return self._message
        shown = "".join(traceback.format_list([_frame(f) for f in frames]))
        return f"{self._message}\n\nOriginal stack trace for {self._op.name!r}:\n{shown}"


def _frame(frame: Any) -> traceback.FrameSummary:
    # A FrameSummary, or a tuple (file, line number, function, source line, ..) of `Operation.traceback`.
    if isinstance(frame, traceback.FrameSummary):
        return frame
    file, number, function, *rest = frame
    line = rest[0] if rest and isinstance(rest[0], str) else None
    return traceback.FrameSummary(file, number, function, lookup_line=False, line=line)


class _Coded(OpError):
    """The base class of errors with a fixed code."""

    _CODE = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, self._CODE)


class CancelledError(_Coded):
    """The run, or an operation that it waited for, was cancelled: a queue or the session was closed."""

    _CODE = CANCELLED


class UnknownError(_Coded):
    """An error without a more specific code, such as an exception inside a `py_func`."""

    _CODE = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN) -> None:
        super().__init__(node_def, op, message)
        self._error_code = error_code


class InvalidArgumentError(_Coded):
    """An operation received an invalid argument: mismatched shapes, an index out of range, a missing feed."""

    _CODE = INVALID_ARGUMENT


class DeadlineExceededError(_Coded):
    """The deadline passed (`RunOptions.timeout_in_ms`, `ConfigProto.operation_timeout_in_ms`)."""

    _CODE = DEADLINE_EXCEEDED


class NotFoundError(_Coded):
    """A named object does not exist: a file, a variable in a checkpoint, a resource."""

    _CODE = NOT_FOUND


class AlreadyExistsError(_Coded):
    """An object to create exists already."""

    _CODE = ALREADY_EXISTS


class PermissionDeniedError(_Coded):
    """The caller lacks permission, such as to read a file."""

    _CODE = PERMISSION_DENIED


class ResourceExhaustedError(_Coded):
    """Memory, or another limited resource, is exhausted."""

    _CODE = RESOURCE_EXHAUSTED


class FailedPreconditionError(_Coded):
    """The state does not allow the operation: most often a variable is not initialized."""

    _CODE = FAILED_PRECONDITION


class AbortedError(_Coded):
    """The operation was aborted because of a concurrent event."""

    _CODE = ABORTED


class OutOfRangeError(_Coded):
    """The end was reached: a queue is closed and empty, input is exhausted, a counter is at its limit."""

    _CODE = OUT_OF_RANGE


class UnimplementedError(_Coded):
    """The operation is not supported."""

    _CODE = UNIMPLEMENTED


class InternalError(_Coded):
    """The engine broke one of its invariants."""

    _CODE = INTERNAL


class UnavailableError(_Coded):
    """The service is unavailable now; retrying may help."""

    _CODE = UNAVAILABLE


class DataLossError(_Coded):
    """Data was lost or corrupted: a checksum does not match, or a record is truncated."""

    _CODE = DATA_LOSS


class UnauthenticatedError(_Coded):
    """The caller is not authenticated."""

    _CODE = UNAUTHENTICATED


class InaccessibleTensorError(ValueError):
    """A tensor is inaccessible: it was fetched or fed from inside a loop or branch."""


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor was used as a Python value: as a `bool`, or for iteration."""


_CLASS_OF_CODE: Dict[int, Type[OpError]] = {
    c._CODE: c
    for c in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
        UnauthenticatedError,
    )
}


def exception_type_from_error_code(error_code: int) -> Type[OpError]:
    """Returns the class of a code.

    Raises:
      KeyError: No class has this code. There is none for 0, OK.

    Example:
      >>> tf.errors.exception_type_from_error_code(tf.errors.NOT_FOUND).__name__
      'NotFoundError'
    """
    return _CLASS_OF_CODE[error_code]


def error_code_from_exception_type(cls: Type[BaseException]) -> Any:
    """Returns the code of a class of this module; other classes log a warning and give an `UnknownError`.

    Example:
      >>> tf.errors.error_code_from_exception_type(tf.errors.NotFoundError)
      5
    """
    for code, known in _CLASS_OF_CODE.items():
        if known is cls:
            return code
    logging.warn("Unknown class exception")
    # Not a number, but TensorFlow's result.
    return UnknownError(None, None, "Unknown class exception")


def make(error_code: int, message: str, op: Any = None, node_def: Any = None) -> OpError:
    """Returns the exception for a status: of the code's class, or an `UnknownError` with that code.

    Args:
      error_code: The code.
      message: The error message.
      op: The operation that failed.
      node_def: The `NodeDef` of the operation.

    Returns:
      An `OpError`.

    Example:
      >>> type(tf.errors.make(tf.errors.ABORTED, "try again")).__name__
      'AbortedError'
    """
    cls = _CLASS_OF_CODE.get(error_code)
    if cls is None:
        return UnknownError(node_def, op, message, error_code)
    return cls(node_def, op, message)  # type: ignore[call-arg]


class Status:
    """A code and a message, which the block of `raise_exception_on_not_ok_status` sets.

    Example:
      >>> status = tf.errors.Status()
      >>> status.set(tf.errors.NOT_FOUND, "no such file")
      >>> status.code, status.message
      (5, 'no such file')
    """

    def __init__(self) -> None:
        self.code = OK
        self.message = ""

    def set(self, code: int, message: str) -> None:
        """Sets the status.

        Args:
          code: One of this module's codes.
          message: The error message.
        """
        self.code, self.message = code, message


@contextlib.contextmanager
def raise_exception_on_not_ok_status() -> Iterator[Status]:
    """Raises the block's status as an exception at the end of the `with` block; does nothing if it is OK.

    Returns:
      A context manager that yields a `Status`.

    Raises:
      OpError: The status is not OK. The class is that of its code.

    Example:
      >>> with tf.errors.raise_exception_on_not_ok_status() as status:
      ...     status.set(tf.errors.NOT_FOUND, "no such file")
      Traceback (most recent call last):
        ...
      millstream.errors.NotFoundError: no such file
    """
    status = Status()
    yield status
    if status.code != OK:
        raise make(status.code, status.message)


# Tracebacks and pickles name the public module.
for _class in (OpError, InaccessibleTensorError, OperatorNotAllowedInGraphError, *_CLASS_OF_CODE.values()):
    _class.__module__ = "millstream.errors"
