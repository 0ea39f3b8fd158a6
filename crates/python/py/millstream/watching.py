"""Looking inside of runs, without a change to the graph: the values of all iterations of a loop, and runs that stop at the first value that
somebody waits for. TensorFlow 1 has neither."""

from __future__ import annotations

from typing import Any, Callable, Union

from millstream import _engine
from millstream._engine import Tensor


def every(tensor: Tensor, by_iteration: bool = False) -> _engine.Every:
    """A fetch for `Session.run`: the values that a tensor inside of loops has in all their iterations. The run does what those loops need, and
    nothing else of the graph.

    What a loop's body computes has as many values as the loop goes round. What the condition computes, and a loop variable as the condition
    sees it, has one more: the last, for which the condition said no.

    Args:
      tensor: A tensor in the condition or body of a loop, of any dtype.
      by_iteration: Whether the values come each under its iterations: a dict from a tuple (the outermost loop first) to an array. They may
        differ in shape then.

    Returns:
      What `Session.run` takes: it gives an array of the tensor's dtype, of the shape of the values with the number of values before it, or
      the dict. In a branch that was not taken there is no value.

    Raises:
      ValueError: In `run`, the tensor is in no loop, of another graph, or its values differ in shape.

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
    """What `Session.watch` gives."""

    def __init__(self, session: Any, tensor: Any, condition: Union[str, Callable[..., Any]]) -> None:
        if not callable(condition) and condition not in ("nan", "infinite", "not finite"):
            raise ValueError("condition is %r: it is 'nan', 'infinite', 'not finite', or a function of a value and its iterations" % (condition,))
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
