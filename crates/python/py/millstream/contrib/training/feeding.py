"""`FeedingQueueRunner`: a queue runner that feeds arrays of the program to its enqueue operations."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence

from millstream.framework import errors
from millstream.train.queue_runner import QueueRunner


class FeedingQueueRunner(QueueRunner):
    """A queue runner whose threads call functions for what they feed.

    Args:
      queue: The queue.
      enqueue_ops: A list of operations; a thread for each runs it repeatedly.
      close_op: The operation that closes the queue when the last thread reaches the end of its input; created
        by default.
      cancel_op: The operation that closes the queue and cancels pending enqueues; created by default.
      feed_fns: For each operation a function without arguments that returns a `feed_dict`, or None. It raises
        `tf.errors.OutOfRangeError` at the end of its input.
      queue_closed_exception_types: A tuple of the error classes that mean the end of input; by default
        `OutOfRangeError` and `CancelledError`.

    Raises:
      ValueError: There are not as many functions as operations.

    Example:
      >>> x = tf.placeholder(tf.float32, [])
      >>> q = tf.FIFOQueue(10, tf.float32, shapes=[[]])
      >>> left = [1.0, 2.0]
      >>> def feed():
      ...     if not left:
      ...         raise tf.errors.OutOfRangeError(None, None, "the list is empty")
      ...     return {x: left.pop()}
      >>> runner = tf.contrib.training.FeedingQueueRunner(q, [q.enqueue(x)], feed_fns=[feed])
      >>> get, coord = q.dequeue(), tf.train.Coordinator()
      >>> with tf.Session() as sess:
      ...     threads = runner.create_threads(sess, coord, start=True)
      ...     print(sess.run(get), sess.run(get))
      ...     coord.request_stop()
      ...     coord.join(threads)
      2.0 1.0
      >>> runner.to_proto()
      Traceback (most recent call last):
        ...
      NotImplementedError: ... the functions that feed it are of this program
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Optional[Sequence[Any]] = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Optional[Sequence[Optional[Callable[[], Dict[Any, Any]]]]] = None,
        queue_closed_exception_types: Any = None,
    ) -> None:
        closed = queue_closed_exception_types or (errors.OutOfRangeError, errors.CancelledError)
        super().__init__(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types=closed)
        ops = list(enqueue_ops or ())
        if feed_fns is not None and len(feed_fns) != len(ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        self._feed_fns: List[Any] = [None] * len(ops) if feed_fns is None else list(feed_fns)
        self._n_begun: Dict[Any, int] = {}

    def _enqueuing(self, sess: Any, enqueue_op: Any) -> Any:
        # An operation may be listed several times, with a function for each.
        places = [i for i, op in enumerate(self._enqueue_ops) if op is enqueue_op]
        with self._lock:
            n = self._n_begun.get(enqueue_op, 0)
            self._n_begun[enqueue_op] = n + 1
        feed = self._feed_fns[places[n % len(places)]]
        return lambda: sess.run(enqueue_op, None if feed is None else feed())

    def _init_from_proto(self, queue_runner_def: Any, import_scope: Optional[str]) -> NoReturn:
        raise NotImplementedError("a `FeedingQueueRunner` is not in files: the functions that feed it are of this program")

    def to_proto(self, export_scope: Optional[str] = None) -> NoReturn:
        """Raises an error: functions are not written to files.

        Args:
          export_scope: A name scope.

        Raises:
          NotImplementedError: Always.
        """
        raise NotImplementedError("a `FeedingQueueRunner` cannot be written: the functions that feed it are of this program")
