"""Queues: `FIFOQueue`, `PaddingFIFOQueue`, `RandomShuffleQueue`, `PriorityQueue`."""

from __future__ import annotations

import functools
import hashlib
from typing import Any, List, Optional

from millstream import dtypes, random_ops, shapes
from millstream._engine import Operation, Tensor
from millstream._ops import op
from millstream.framework import convert_to_tensor, name_scope


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
    """The components' shapes, known wholly: unknown ones if none are given. That of a single component may stand without a list."""
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
    """The components' shapes, whose dimensions may be unknown: always a list of them, since `[None]` could be two things."""
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
    """What queues have in common."""

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes, self._shapes, self._names, self._queue_ref = dtypes, shapes, names, queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    queue_ref = property(lambda self: self._queue_ref, doc="The handle.")
    name = property(lambda self: self._queue_ref.op.name, doc="The name.")
    dtypes = property(lambda self: self._dtypes, doc="The components' element types.")
    shapes = property(lambda self: self._shapes, doc="The components' shapes.")
    names = property(lambda self: self._names, doc="The components' names, or None.")

    def __repr__(self) -> str:
        shapes = "" if self._shapes is None else " shapes=%s" % [str(s) for s in self._shapes]
        types = [t.name for t in self._dtypes]
        return "<tf.%s '%s' dtypes=%s%s>" % (type(self).__name__, self.name, types, shapes)

    @staticmethod
    def from_list(index: Any, queues: Any) -> "QueueBase":
        """The queue of this number."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        types = queues[0].dtypes
        if not all(q.dtypes == types for q in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        names = queues[0].names
        if not all(q.names == names for q in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        reduced = [functools.reduce(_common, alike) for alike in zip(*[q.shapes for q in queues])]
        from millstream.array_ops import gather, stack

        return QueueBase(types, reduced, names, gather(stack([q.queue_ref for q in queues]), index))

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
            # What TensorFlow says; another number of components than the queue's is the run's to refuse there, and so it is here.
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
        """Puts an element in; waits for room."""
        with name_scope(name, "%s_enqueue" % self._name, []) as scope:
            vals = self._values(vals)
            for val, shape in zip(vals, self._shapes):
                val.shape.assert_is_compatible_with(shape)
            return op("QueueEnqueueV2")(self._queue_ref, vals, name=scope)

    def enqueue_many(self, vals: Any, name: Optional[str] = None) -> Operation:
        """Puts the rows in as elements; waits for room."""
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
        """Takes an element out; waits for one."""
        values = op("QueueDequeueV2")(self._queue_ref, self._dtypes, name=name or "%s_Dequeue" % self._name)
        return self._returned(self._with_shapes(values, _NO_ROWS))

    def dequeue_many(self, n: Any, name: Optional[str] = None) -> Any:
        """Takes `n` elements out, as rows; waits for them."""
        from millstream.framework import constant_value

        values = op("QueueDequeueManyV2")(self._queue_ref, n, component_types=self._dtypes, name=name or "%s_DequeueMany" % self._name)
        known = n if isinstance(n, int) else constant_value(n)
        return self._returned(self._with_shapes(values, None if known is None else int(known)))

    def dequeue_up_to(self, n: Any, name: Optional[str] = None) -> Any:
        """Takes `n` elements out, as rows; fewer once the queue is closed."""
        values = op("QueueDequeueUpToV2")(self._queue_ref, n, component_types=self._dtypes, name=name or "%s_DequeueUpTo" % self._name)
        return self._returned(self._with_shapes(values, None))

    def close(self, cancel_pending_enqueues: bool = False, name: Optional[str] = None) -> Operation:
        """No more elements are put in; what is in may still be taken out."""
        return op("QueueCloseV2")(self._queue_ref, cancel_pending_enqueues, name=name or "%s_Close" % self._name)

    def is_closed(self, name: Optional[str] = None) -> Tensor:
        """Whether it was closed."""
        return op("QueueIsClosedV2")(self._queue_ref, name=name or "%s_Is_Closed" % self._name)

    def size(self, name: Optional[str] = None) -> Tensor:
        """How many elements are in it."""
        return op("QueueSizeV2")(self._queue_ref, name=name or "%s_Size" % self._name)


_NO_ROWS = object()


def _common(a: Any, b: Any) -> Any:
    return a.most_specific_compatible_shape(b)


def _listed(known: List[Any]) -> List[Any]:
    """Shapes as the attribute of a queue: none if they are unknown."""
    return [] if any(s.ndims is None for s in known) else known


class FIFOQueue(QueueBase):
    """A queue: first in, first out."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: Optional[str] = None, name: Optional[str] = "fifo_queue") -> None:
        types = _as_types(dtypes, "FIFOQueueV2")
        known, names = _as_shapes(shapes, len(types)), _as_names(names, len(types))
        ref = op("FIFOQueueV2")(component_types=types, shapes=_listed(known), capacity=capacity, shared_name=shared_name or "", name=name)
        super().__init__(types, known, names, ref)


class PaddingFIFOQueue(QueueBase):
    """A FIFO queue whose elements may differ in size: batches are padded."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: Optional[str] = None, name: Optional[str] = "padding_fifo_queue") -> None:
        types = _as_types(dtypes, "PaddingFIFOQueueV2")
        known, names = _as_partial_shapes(shapes, len(types)), _as_names(names, len(types))
        ref = op("PaddingFIFOQueueV2")(component_types=types, shapes=known, capacity=capacity, shared_name=shared_name or "", name=name)
        super().__init__(types, known, names, ref)


class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in random order."""

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
            # Queues that share a name must agree in their seeds: TensorFlow's are of the name, too.
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
    """A queue that gives the element with the least priority first; the first component is an int64 priority."""

    def __init__(self, capacity: int, types: Any, shapes: Any = None, names: Any = None, shared_name: Optional[str] = None, name: str = "priority_queue") -> None:
        if not isinstance(shapes, (list, tuple)):
            raise TypeError(f"Expected list for 'shapes' argument to 'priority_queue_v2' Op, not {shapes!r}.")
        kinds = _as_types(types, "PriorityQueueV2")
        known, names = _as_shapes(shapes, len(kinds)), _as_names(names, len(kinds) + 1)
        ref = op("PriorityQueueV2")(component_types=kinds, shapes=_listed(known), capacity=capacity, shared_name=shared_name or "", name=name)
        from millstream import dtypes as all_dtypes
        from millstream import shapes as all_shapes

        super().__init__([all_dtypes.int64] + kinds, [all_shapes.TensorShape(())] + known, names, ref)
