"""Queues: `FIFOQueue`, `PaddingFIFOQueue`, `RandomShuffleQueue`, `PriorityQueue`."""

from __future__ import annotations

import functools
from typing import Any, List, Optional

import numpy as np

from millstream._engine import Operation, Tensor
from millstream.framework import (
    constant_value,
    convert_to_tensor,
    dtypes,
    get_default_graph,
    name_scope,
    shapes,
)
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.ops import array_ops, indexing_ops, random_ops


def _as_types(types: Any, op_type: str) -> List[Any]:
    types = types if isinstance(types, (list, tuple)) else [types]
    if not types:
        message = f"Attr 'component_types' of '{op_type}' Op passed list of length 0 less than minimum 1."
        raise ValueError(message + "\n  help: give a dtype for each component")
    try:
        return [dtypes.as_dtype(t) for t in types]
    except TypeError:
        wrong = next(t for t in types if not _is_dtype(t))
        raise TypeError(f"Expected DataType for argument 'component_types' not {wrong!r}.") from None


def _is_dtype(value: Any) -> bool:
    try:
        dtypes.as_dtype(value)
    except TypeError:
        return False
    return True


def _as_shapes(given: Any, n_components: int) -> List[Any]:
    """Returns the components' shapes, fully defined or all unknown.

    The shape of a single component needs no list.
    """
    if given is None:
        return [shapes.TensorShape(None)] * n_components
    if isinstance(given, shapes.TensorShape):
        given = [given]
    if not isinstance(given, (list, tuple)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(isinstance(d, (int, shapes.Dimension)) for d in given):
        given = [given]
    result = [shapes.TensorShape(s) for s in given]
    if len(result) != n_components:
        raise ValueError(f"Queue shapes must have the same length as dtypes: {len(result)} shapes, {n_components} dtypes")
    if not all(s.is_fully_defined() for s in result):
        raise ValueError(f"All shapes must be fully defined: {result}")
    return result


def _as_partial_shapes(given: Any, n_components: int) -> List[Any]:
    """Returns the components' partial shapes.

    They must be in a list, since `[None]` alone would be ambiguous.
    """
    a_list = isinstance(given, (list, tuple)) and given and all(isinstance(s, (list, tuple, shapes.TensorShape)) for s in given)
    if not a_list:
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    result = [shapes.TensorShape(s) for s in given]
    if len(result) != n_components:
        raise ValueError(f"Shapes must be provided for all components, but received {n_components} dtypes and {len(result)} shapes.")
    if not all(s.ndims is not None for s in result):
        raise ValueError(f"All shapes must have a defined rank: {result}")
    return result


def _as_names(names: Any, n_components: int) -> Any:
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != n_components:
        raise ValueError(f"List of names must have the same length as the list of dtypes: {len(names)} names, {n_components} dtypes")
    return names


class QueueBase:
    """The base class of queues.

    Queues hold elements of one or several components (tensors), and are shared by all steps of a session.
    Operations
    wait: for room to enqueue, for elements to dequeue, until the queue is closed or the step is cancelled.

    The classes `FIFOQueue`, `PaddingFIFOQueue`, `RandomShuffleQueue` and `PriorityQueue` take the arguments
    `capacity`, the number of elements (negative for no limit); `dtypes`, a list of the components' dtypes, or
    a single one; `shapes`, a list of their shapes, which `enqueue_many`, `dequeue_many` and `dequeue_up_to`
    need; `names` of the components, which make elements dicts; `shared_name`, under which operations of a
    session share the queue; and `name`, a name for the operation.

    Args:
      dtypes: A list of the components' dtypes.
      shapes: A list of their shapes.
      names: A list of their names, or None.
      queue_ref: The handle of the queue.

    Raises:
      ValueError: `dtypes` is empty, or the number of shapes or names differs from that of dtypes.
      TypeError: An element of `dtypes` is not a dtype.

    Example:
      >>> q = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []], names=["number", "word"], name="q")
      >>> q.name, q.names, q.dtypes, q.shapes, q.queue_ref.dtype
      ('q', ['number', 'word'], [tf.int32, tf.string], [TensorShape([]), TensorShape([])], tf.resource)
      >>> fill = q.enqueue_many({"number": [1, 2, 3], "word": ["a", "b", "c"]})
      >>> one, rest, close = q.dequeue(), q.dequeue_up_to(5), q.close()
      >>> sess = tf.Session()
      >>> sess.run(fill)
      >>> print(sess.run(q.size()), sess.run(one)["word"])
      3 b'a'
      >>> sess.run(close)
      >>> print(sess.run(rest)["number"])
      [2 3]
      >>> sess.run(one)
      Traceback (most recent call last):
        ...
      millstream.errors.OutOfRangeError: FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size 0)
      ...
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        for values, words in ((shapes, "Queue shapes must have the same length as dtypes"), (names, "Queue names must have the same length as dtypes")):
            if values is not None and len(values) != len(dtypes):
                raise ValueError(words)
        self._dtypes, self._shapes, self._names, self._queue_ref = dtypes, shapes, names, queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    queue_ref = property(lambda self: self._queue_ref, doc="The handle of the queue.")
    name = property(lambda self: self._queue_ref.op.name, doc="The name of the queue's operation.")
    dtypes = property(lambda self: self._dtypes, doc="The components' dtypes.")
    shapes = property(lambda self: self._shapes, doc="The components' shapes.")
    names = property(lambda self: self._names, doc="The components' names, or None.")

    def __repr__(self) -> str:
        shapes = "" if self._shapes is None else " shapes=%s" % [str(s) for s in self._shapes]
        types = [t.name for t in self._dtypes]
        return "<tf.%s '%s' dtypes=%s%s>" % (type(self).__name__, self.name, types, shapes)

    @staticmethod
    def from_list(index: Any, queues: Any) -> "QueueBase":
        """Returns the queue with this index.

        Args:
          index: An integer scalar tensor.
          queues: A list of queues whose components agree in dtypes and names.

        Returns:
          A `QueueBase`, with the shapes that hold for all of them.

        Raises:
          TypeError: `queues` is not a list of queues, or they do not agree.

        Example:
          >>> queues = [tf.FIFOQueue(1, tf.int32, name=n) for n in ("first", "second")]
          >>> i = tf.placeholder(tf.int32, [])
          >>> put, get = tf.QueueBase.from_list(i, queues).enqueue(7), queues[1].dequeue()
          >>> with tf.Session() as sess:
          ...     sess.run(put, {i: 1})
          ...     print(sess.run(get))
          7
        """
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        types = queues[0].dtypes
        if not all(q.dtypes == types for q in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        names = queues[0].names
        if not all(q.names == names for q in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        reduced = [functools.reduce(_common, alike) for alike in zip(*[q.shapes for q in queues])]
        return QueueBase(types, reduced, names, indexing_ops.gather(array_ops.stack([q.queue_ref for q in queues]), index))

    def _values(self, vals: Any) -> List[Any]:
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals.keys(), key=str):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: (%s), Queue: (%s)" % (sorted(vals.keys()), sorted(self._names)))
            vals = [vals[k] for k in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            vals = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        if not vals:
            # TensorFlow's message. As there, a wrong number of components is refused by the run.
            raise ValueError(
                f"Attr 'Tcomponents' of 'QueueEnqueueV2' Op passed list of length 0 less than minimum 1.\n  help: the queue `{self.name}` has "
                f"{len(self._dtypes)} components: enqueue a value for each"
            )
        return [convert_to_tensor(v, d, "component_%d" % i) for i, (v, d) in enumerate(zip(vals, self._dtypes))]

    def _returned(self, tensors: List[Tensor]) -> Any:
        if self._names:
            return {n: tensors[i] for i, n in enumerate(self._names)}
        return tensors[0] if len(tensors) == 1 else tensors

    def enqueue(self, vals: Any, name: Optional[str] = None) -> Operation:
        """Enqueues an element; waits for room.

        Args:
          vals: A tensor for each component: a list or tuple, the tensor itself if there is one component, or
            a dict if the components have names.
          name: A name for the operation.

        Returns:
          The `Operation`.

        Raises:
          ValueError: `vals` is empty, a shape does not match, or `vals` is a dict and components have no
            names, or the reverse.
          tf.errors.CancelledError: When run: the queue is closed.

        Example:
          >>> q = tf.FIFOQueue(2, tf.float32)
          >>> put, get = q.enqueue(1.5), q.dequeue()
          >>> with tf.Session() as sess:
          ...     sess.run(put)
          ...     print(sess.run(get))
          1.5
        """
        with name_scope(name, "%s_enqueue" % self._name, []) as scope:
            vals = self._values(vals)
            for val, shape in zip(vals, self._shapes):
                val.shape.assert_is_compatible_with(shape)
            return op("QueueEnqueueV2")(self._queue_ref, vals, name=scope)

    def enqueue_many(self, vals: Any, name: Optional[str] = None) -> Operation:
        """Enqueues the rows of tensors as elements; waits for room.

        Args:
          vals: As in `enqueue`, with an additional first axis of the same length in all components. The
            queue's shapes must be known.
          name: A name for the operation.

        Returns:
          The `Operation`. If it is cancelled while it waits, some rows may have been enqueued.

        Raises:
          ValueError: As in `enqueue`, or the numbers of rows differ.
          tf.errors.CancelledError: When run: the queue is closed.

        Example:
          >>> q = tf.FIFOQueue(3, tf.int32, shapes=[[]])
          >>> put, get = q.enqueue_many([[5, 6, 7]]), q.dequeue()
          >>> with tf.Session() as sess:
          ...     sess.run(put)
          ...     print(*[sess.run(get) for _ in range(3)])
          5 6 7
        """
        with name_scope(name, "%s_EnqueueMany" % self._name, []) as scope:
            vals = self._values(vals)
            batch = shapes.Dimension(None)
            for val, shape in zip(vals, self._shapes):
                batch = batch.merge_with(val.shape.with_rank_at_least(1)[0])
                val.shape[1:].assert_is_compatible_with(shape)
            return op("QueueEnqueueManyV2")(self._queue_ref, vals, name=scope)

    def _with_shapes(self, tensors: Any, leading: Any) -> List[Tensor]:
        tensors = tensors if isinstance(tensors, list) else [tensors]
        for tensor, shape in zip(tensors, self._shapes):
            tensor.set_shape(shape if leading is _NO_ROWS else shapes.TensorShape([leading]).concatenate(shape))
        return tensors

    def dequeue(self, name: Optional[str] = None) -> Any:
        """Dequeues an element; waits for one.

        Args:
          name: A name for the operation.

        Returns:
          A tensor of the component's dtype and shape; a list of tensors, or a dict if the components have
            names.

        Raises:
          tf.errors.OutOfRangeError: When run: the queue is closed and empty.

        Example:
          >>> q = tf.FIFOQueue(2, [tf.int32, tf.float32], shapes=[[], [2]])
          >>> put, (number, pair) = q.enqueue([1, [0.5, 1.5]]), q.dequeue()
          >>> pair.shape
          TensorShape([Dimension(2)])
          >>> with tf.Session() as sess:
          ...     sess.run(put)
          ...     print(*sess.run([number, pair]))
          1 [0.5 1.5]
        """
        values = op("QueueDequeueV2")(self._queue_ref, self._dtypes, name=name or "%s_Dequeue" % self._name)
        return self._returned(self._with_shapes(values, _NO_ROWS))

    def dequeue_many(self, n: Any, name: Optional[str] = None) -> Any:
        """Dequeues `n` elements as rows; waits for them.

        Args:
          n: An int, or an integer scalar tensor.
          name: A name for the operation.

        Returns:
          As in `dequeue`, with an additional first axis of length `n`.

        Raises:
          ValueError: `n` is negative.
          tf.errors.OutOfRangeError: When run: the queue is closed and has fewer than `n` elements.

        Example:
          >>> q = tf.FIFOQueue(4, tf.int32, shapes=[[]])
          >>> put, two = q.enqueue_many([[1, 2, 3]]), q.dequeue_many(2)
          >>> with tf.Session() as sess:
          ...     sess.run(put)
          ...     print(two.shape, sess.run(two))
          (2,) [1 2]
        """
        asked = n if isinstance(n, int) else constant_value(n) if isinstance(n, Tensor) else None
        if asked is not None and np.ndim(asked) == 0 and asked < 0:
            node = get_default_graph().unique_name(name or "%s_DequeueMany" % self._name, mark_as_used=False)
            raise ValueError("Input 'n' must be >= 0, but is %d for '%s' (op: 'QueueDequeueManyV2') with input shapes: [], []." % (asked, node))
        values = op("QueueDequeueManyV2")(self._queue_ref, n, component_types=self._dtypes, name=name or "%s_DequeueMany" % self._name)
        known = n if isinstance(n, int) else constant_value(n)
        return self._returned(self._with_shapes(values, None if known is None else int(known)))

    def dequeue_up_to(self, n: Any, name: Optional[str] = None) -> Any:
        """Dequeues `n` elements as rows; fewer if the queue is closed.

        Args:
          n: An int, or an integer scalar tensor.
          name: A name for the operation.

        Returns:
          As in `dequeue`, with an additional first axis of length `n` or less.

        Raises:
          tf.errors.OutOfRangeError: When run: the queue is closed and empty.

        Example:
          >>> q = tf.FIFOQueue(4, tf.int32, shapes=[[]])
          >>> put, close, two = q.enqueue_many([[1, 2, 3]]), q.close(), q.dequeue_up_to(2)
          >>> with tf.Session() as sess:
          ...     _ = sess.run(put), sess.run(close)
          ...     print(two.shape, sess.run(two), sess.run(two))
          (?,) [1 2] [3]
        """
        values = op("QueueDequeueUpToV2")(self._queue_ref, n, component_types=self._dtypes, name=name or "%s_DequeueUpTo" % self._name)
        return self._returned(self._with_shapes(values, None))

    def close(self, cancel_pending_enqueues: bool = False, name: Optional[str] = None) -> Operation:
        """Closes the queue for enqueuing; the elements in it can still be dequeued.

        Args:
          cancel_pending_enqueues: If true, pending enqueues fail with `CancelledError`.
          name: A name for the operation.

        Returns:
          The `Operation`.

        Raises:
          tf.errors.CancelledError: When run: the queue is closed already.

        Example:
          >>> q = tf.FIFOQueue(4, tf.int32)
          >>> put, close, get = q.enqueue(1), q.close(), q.dequeue()
          >>> sess = tf.Session()
          >>> sess.run(put)
          >>> sess.run(close)
          >>> print(sess.run(get))
          1
          >>> sess.run(get)
          Traceback (most recent call last):
            ...
          millstream.errors.OutOfRangeError: FIFOQueue 'fifo_queue' is closed and has insufficient elements (requested 1, current size 0)
          ...
        """
        return op("QueueCloseV2")(self._queue_ref, cancel_pending_enqueues, name=name or "%s_Close" % self._name)

    def is_closed(self, name: Optional[str] = None) -> Tensor:
        """Returns whether the queue is closed.

        Args:
          name: A name for the operation.

        Returns:
          A boolean scalar tensor.

        Example:
          >>> q = tf.FIFOQueue(4, tf.int32)
          >>> close, closed = q.close(), q.is_closed()
          >>> with tf.Session() as sess:
          ...     print(sess.run(closed), sess.run(close), sess.run(closed))
          False None True
        """
        return op("QueueIsClosedV2")(self._queue_ref, name=name or "%s_Is_Closed" % self._name)

    def size(self, name: Optional[str] = None) -> Tensor:
        """Returns the number of elements in the queue.

        Args:
          name: A name for the operation.

        Returns:
          An `int32` scalar tensor.

        Example:
          >>> q = tf.FIFOQueue(4, tf.int32, shapes=[[]])
          >>> put, size = q.enqueue_many([[1, 2, 3]]), q.size()
          >>> with tf.Session() as sess:
          ...     print(sess.run(size), sess.run(put), sess.run(size))
          0 None 3
        """
        return op("QueueSizeV2")(self._queue_ref, name=name or "%s_Size" % self._name)


_NO_ROWS = object()


def _common(a: Any, b: Any) -> Any:
    return a.most_specific_compatible_shape(b)


def _listed(known: List[Any]) -> List[Any]:
    """Returns the shapes as an attribute of the queue: empty if they are unknown."""
    return [] if any(s.ndims is None for s in known) else known


class FIFOQueue(QueueBase):
    """A first-in-first-out queue.

    Its arguments and methods are those of `QueueBase`.

    Example:
      >>> q = tf.FIFOQueue(capacity=3, dtypes=[tf.float32], shapes=[[]])
      >>> put, get = q.enqueue_many([[1.0, 2.0, 3.0]]), q.dequeue()
      >>> with tf.Session() as sess:
      ...     sess.run(put)
      ...     print(*[sess.run(get) for _ in range(3)])
      1.0 2.0 3.0
    """

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: Optional[str] = None, name: Optional[str] = "fifo_queue") -> None:
        types = _as_types(dtypes, "FIFOQueueV2")
        known, names = _as_shapes(shapes, len(types)), _as_names(names, len(types))
        ref = op("FIFOQueueV2")(component_types=types, shapes=_listed(known), capacity=capacity, shared_name=shared_name or "", name=name)
        super().__init__(types, known, names, ref)


class PaddingFIFOQueue(QueueBase):
    """A first-in-first-out queue for elements of varying size, whose batches are padded.

    Its arguments are those of `QueueBase`; dimensions of `shapes` may be None, but not their number.
    `dequeue_many` and `dequeue_up_to` pad each element to the largest size in the batch, with zeros or empty
    strings at the end.

    Raises:
      ValueError: `shapes` is not a list of shapes of known rank, one for each dtype.

    Example:
      >>> q = tf.PaddingFIFOQueue(3, tf.int32, shapes=[[None]])
      >>> x = tf.placeholder(tf.int32, [None])
      >>> put, batch = q.enqueue(x), q.dequeue_many(2)
      >>> with tf.Session() as sess:
      ...     _ = sess.run(put, {x: [1]}), sess.run(put, {x: [2, 3, 4]})
      ...     print(sess.run(batch))
      [[1 0 0]
       [2 3 4]]
    """

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: Optional[str] = None, name: Optional[str] = "padding_fifo_queue") -> None:
        types = _as_types(dtypes, "PaddingFIFOQueueV2")
        known, names = _as_partial_shapes(shapes, len(types)), _as_names(names, len(types))
        ref = op("PaddingFIFOQueueV2")(component_types=types, shapes=known, capacity=capacity, shared_name=shared_name or "", name=name)
        super().__init__(types, known, names, ref)


class RandomShuffleQueue(QueueBase):
    """A queue that returns its elements in random order.

    Its arguments are those of `QueueBase`, and the following.

    Args:
      min_after_dequeue: The number of elements that stay in the open queue, which ensures mixing; dequeues
        wait for more.
      seed: A seed for the order; see `tf.set_random_seed`.

    Example:
      >>> q = tf.RandomShuffleQueue(capacity=5, min_after_dequeue=2, dtypes=tf.int32, shapes=[[]], seed=1)
      >>> put, close, get = q.enqueue_many([[1, 2, 3, 4, 5]]), q.close(), q.dequeue_many(5)
      >>> with tf.Session() as sess:
      ...     _ = sess.run(put), sess.run(close)
      ...     print(sorted(sess.run(get)) == [1, 2, 3, 4, 5])
      True
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: Optional[int] = None,
        shared_name: Optional[str] = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = _as_types(dtypes, "RandomShuffleQueueV2")
        known, names = _as_shapes(shapes, len(types)), _as_names(names, len(types))
        first, second = random_ops.get_seed(seed)
        if first is None and second is None:
            first, second = 0, 0
        elif seed is None and shared_name is not None:
            # Queues with the same shared name must agree in their seeds: as in TensorFlow, the seed depends
            # on the name.
            import hashlib  # Imported here because it takes milliseconds, with OpenSSL.

            second = int(hashlib.md5(f"{first}{shared_name}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
        ref = op("RandomShuffleQueueV2")(
            component_types=types,
            shapes=_listed(known),
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=first,
            seed2=second,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, known, names, ref)


class PriorityQueue(QueueBase):
    """A queue that returns elements by ascending priority; the first component is an `int64` priority.

    Its arguments are those of `QueueBase`, except that `types` (its `dtypes`) and `shapes` omit the priority.

    Raises:
      TypeError: `shapes` is not a list.

    Example:
      >>> q = tf.PriorityQueue(10, types=[tf.string], shapes=[[]])
      >>> put = q.enqueue_many([np.array([3, 1, 2]), ["late", "first", "then"]])
      >>> priority, word = q.dequeue()
      >>> with tf.Session() as sess:
      ...     sess.run(put)
      ...     print([sess.run(word) for _ in range(3)])
      [b'first', b'then', b'late']
    """

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None, shared_name: Optional[str] = None, name: str = "priority_queue") -> None:
        if not isinstance(shapes, (list, tuple)):
            raise TypeError(f"Expected list for 'shapes' argument to 'priority_queue_v2' Op, not {shapes!r}.")
        kinds = _as_types(types, "PriorityQueueV2")
        known, names = _as_shapes(shapes, len(kinds)), _as_names(names, len(kinds) + 1)
        ref = op("PriorityQueueV2")(component_types=kinds, shapes=_listed(known), capacity=capacity, shared_name=shared_name or "", name=name)
        super().__init__([dtypes.int64] + kinds, [TensorShape(())] + known, names, ref)
