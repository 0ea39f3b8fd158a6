"""Queues: `FIFOQueue`, `PaddingFIFOQueue`, `RandomShuffleQueue`, `PriorityQueue`."""

from __future__ import annotations

from typing import Any, List, Optional

from millstream import dtypes, random_ops, shapes
from millstream._engine import Operation, Tensor
from millstream._ops import op
from millstream.framework import convert_to_tensor, get_default_graph, name_scope


def _as_types(types: Any) -> List[Any]:
    return [dtypes.as_dtype(t) for t in (types if isinstance(types, (list, tuple)) else [types])]


def _as_shapes(given: Any, types: List[Any], unknown: bool) -> Optional[List[Any]]:
    if given is None:
        return None
    if isinstance(given, shapes.TensorShape) or not isinstance(given, list) and not (isinstance(given, tuple) and given and not isinstance(given[0], int)):
        given = [given]
    elif isinstance(given, list) and given and all(isinstance(d, (int, type(None))) for d in given):
        given = [given]
    result = [shapes.TensorShape(s) for s in given]
    if len(result) != len(types):
        raise ValueError("Queue shapes must have the same length as dtypes")
    if not unknown and not all(s.is_fully_defined() for s in result):
        raise ValueError("All shapes must be fully defined: %s" % result)
    return result


def _as_names(names: Any, types: List[Any]) -> Optional[List[str]]:
    if names is None:
        return None
    names = names if isinstance(names, list) else [names]
    if len(names) != len(types):
        raise ValueError("Queue names must have the same length as dtypes")
    if len(set(names)) < len(names):
        raise ValueError("Expected names to be unique: %s" % names)
    return names


class QueueBase:
    """What queues have in common."""

    def __init__(self, types: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        self._dtypes, self._shapes, self._names, self._queue_ref = types, shapes, names, queue_ref
        self._name = queue_ref.op.name.rpartition("/")[2]

    queue_ref = property(lambda self: self._queue_ref, doc="The handle.")
    name = property(lambda self: self._queue_ref.op.name, doc="The name.")
    dtypes = property(lambda self: self._dtypes, doc="The components' element types.")
    shapes = property(lambda self: self._shapes, doc="The components' shapes.")
    names = property(lambda self: self._names, doc="The components' names, or None.")

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
        reduced = [_common(shapes_of) for shapes_of in zip(*[q.shapes for q in queues])] if all(q.shapes for q in queues) else None
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
        if len(vals) != len(self._dtypes):
            raise ValueError("Expected %d values, %d given: the queue has as many components" % (len(self._dtypes), len(vals)))
        return [convert_to_tensor(v, d, "component_%d" % i) for i, (v, d) in enumerate(zip(vals, self._dtypes))]

    def _returned(self, tensors: List[Tensor]) -> Any:
        if self._names:
            return {n: tensors[i] for i, n in enumerate(self._names)}
        return tensors[0] if len(tensors) == 1 else tensors

    def enqueue(self, vals: Any, name: Optional[str] = None) -> Operation:
        """Puts an element in; waits for room."""
        with name_scope(name, "%s_enqueue" % self._name, []) as scope:
            vals = self._values(vals)
            for val, shape in zip(vals, self._shapes or []):
                val.shape.assert_is_compatible_with(shape)
            return op("QueueEnqueueV2")(self._queue_ref, vals, name=scope)

    def enqueue_many(self, vals: Any, name: Optional[str] = None) -> Operation:
        """Puts the rows in as elements; waits for room."""
        with name_scope(name, "%s_EnqueueMany" % self._name, []) as scope:
            vals = self._values(vals)
            batch = shapes.Dimension(None)
            for val in vals:
                batch = batch.merge_with(val.shape.with_rank_at_least(1)[0])
            for val, shape in zip(vals, self._shapes or []):
                val.shape[1:].assert_is_compatible_with(shape)
            return op("QueueEnqueueManyV2")(self._queue_ref, vals, name=scope)

    def _with_shapes(self, tensors: Any, leading: Any) -> List[Tensor]:
        tensors = tensors if isinstance(tensors, list) else [tensors]
        for tensor, shape in zip(tensors, self._shapes or []):
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


def _common(all_shapes: Any) -> Any:
    first = all_shapes[0]
    for shape in all_shapes[1:]:
        first = first.most_specific_compatible_shape(shape)
    return first


def _attrs(given: Optional[List[Any]]) -> List[Any]:
    return given or []


class FIFOQueue(QueueBase):
    """A queue: first in, first out."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: Optional[str] = None, name: str = "fifo_queue") -> None:
        types = _as_types(dtypes)
        known, names = _as_shapes(shapes, types, False), _as_names(names, types)
        with get_default_graph()._without_control():
            ref = op("FIFOQueueV2")(component_types=types, shapes=_attrs(known), capacity=capacity, shared_name=shared_name or "", name=name)
        super().__init__(types, known, names, ref)


class PaddingFIFOQueue(QueueBase):
    """A FIFO queue whose elements may differ in size: batches are padded."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: Optional[str] = None, name: str = "padding_fifo_queue") -> None:
        types = _as_types(dtypes)
        known, names = _as_shapes(shapes, types, True), _as_names(names, types)
        if known is None or len(types) != len(known):
            raise ValueError("Shapes must be provided for all components, but received %d dtypes and %d shapes." % (len(types), len(known or [])))
        if any(shape.ndims is None for shape in known):
            raise ValueError("A PaddingFIFOQueue must know the rank of each component, but the shapes are %s" % known)
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
        types = _as_types(dtypes)
        known, names = _as_shapes(shapes, types, False), _as_names(names, types)
        first, second = random_ops.get_seed(seed)
        if first is None and second is None:
            first, second = 0, 0
        elif first is None and shared_name is not None:
            first, second = abs(hash(shared_name)) % 2147483647, second
        ref = op("RandomShuffleQueueV2")(
            component_types=types,
            shapes=_attrs(known),
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
        kinds = _as_types(types)
        known, names = _as_shapes(shapes, kinds, False), _as_names(names, kinds)
        ref = op("PriorityQueueV2")(component_types=kinds, shapes=_attrs(known), capacity=capacity, shared_name=shared_name or "", name=name)
        from millstream import dtypes as all_dtypes
        from millstream import shapes as all_shapes

        super().__init__([all_dtypes.int64] + kinds, [all_shapes.TensorShape(())] + (known or []) if known else None, names, ref)


