"""`slim.prefetch_queue`: a queue of whole batches, filled ahead."""

from __future__ import annotations

from typing import Any, Optional

from millstream.framework import dtypes, name_scope, nest
from millstream.io import summaries
from millstream.ops import math_ops
from millstream.ops.data_flow import FIFOQueue, PaddingFIFOQueue
from millstream.train.queue_runner import QueueRunner, add_queue_runner

__all__ = ["prefetch_queue"]


def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: Optional[str] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns a queue of the values of tensors, with a runner of `num_threads` threads that fills it.

    Args:
      tensors: A list or a dict of tensors.
      capacity: The capacity of the queue.
      num_threads: The number of threads.
      dynamic_pad: If true, dimensions of tensors may be unknown.
      shared_name: The name under which sessions share the queue.
      name: A name scope.

    Returns:
      A `FIFOQueue` or `PaddingFIFOQueue` whose elements have the names of the dict.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    values = [tensors[n] for n in names] if names else list(tensors)
    with name_scope(name, "prefetch_queue", nest.flatten(values)):
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(
            capacity=capacity,
            dtypes=[t.dtype for t in values],
            shapes=[t.get_shape() for t in values],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(dict(zip(names, values)) if names else values)
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        summaries.scalar("fraction_of_%d_full" % capacity, math_ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue
