"""Views into runs without changes to the graph: values of all iterations, and runs that stop at a condition.

TensorFlow 1 has neither.
"""

from __future__ import annotations

from typing import Any, Callable, Union

from millstream import _engine
from millstream._engine import Tensor


def every(tensor: Tensor, by_iteration: bool = False) -> _engine.Every:
    """A fetch for `Session.run`: the values of a tensor in all iterations of the loops around it.

    The run executes what those loops need, and nothing else. A tensor of a loop's body has a value for each
    iteration. A tensor of the condition, or a loop variable as the condition sees it, has one more: the last,
    for which the condition was false.

    Args:
      tensor: A tensor in the condition or body of a loop, of any dtype.
      by_iteration: If true, the result is a dict from iterations, tuples with the outermost loop first, to
        arrays, which may differ in shape.

    Returns:
      A fetch. Its value is an array of the tensor's dtype, with the number of values as an additional first
        axis; or the dict. A branch that is not taken gives no value.

    Raises:
      TypeError: `tensor` is not a tensor.
      ValueError: In `run`: the tensor is in no loop, belongs to another graph, or its values differ in shape.

    Example:
      >>> seen = []
      >>> def body(i):
      ...     seen.append(i * i)
      ...     return i + 1
      >>> end = tf.while_loop(lambda i: i < 5, body, [1])
      >>> print(tf.Session().run(tf.every(seen[0])))
      [ 1  4  9 16]
      >>> list(tf.Session().run(tf.every(seen[0], by_iteration=True)))
      [(0,), (1,), (2,), (3,)]
    """
    if not isinstance(tensor, Tensor):
        raise TypeError("tf.every takes a Tensor in a loop, not %r" % (tensor,))
    return _engine.Every(tensor, bool(by_iteration))


class WatchBlock:
    """The context manager of `Session.watch`."""

    def __init__(self, session: Any, tensor: Any, condition: Union[str, Callable[..., Any]]) -> None:
        if not callable(condition):
            # The words of the command line and of Rust mean the same.
            word = str(condition).replace("-", " ").replace("_", " ")
            word = "infinite" if word == "inf" else word
            if word not in ("nan", "infinite", "not finite"):
                raise ValueError("condition is %r: it must be 'nan', 'infinite', 'not finite', or a function of a value and its iterations" % (condition,))
            condition = word
        self._session = session
        self._tensor = tensor
        self._condition = condition

    def __enter__(self) -> Any:
        condition, when = self._condition, None
        if callable(condition):
            condition, when = "", condition
        self._session._watch(self._tensor, condition in ("nan", "not finite"), condition in ("infinite", "not finite"), when)
        return self._session

    def __exit__(self, *why: Any) -> None:
        self._session._unwatch()
