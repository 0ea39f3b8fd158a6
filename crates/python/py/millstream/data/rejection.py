"""`tf.data.experimental.rejection_resample`: another distribution of classes, by dropping elements."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from millstream.data.datasets import Dataset
from millstream.data.selections import sample_from_datasets
from millstream.data.states import scan
from millstream.framework import convert_to_tensor, dtypes
from millstream.framework.constant_values import constant_value
from millstream.framework.op_functions import op
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops, random_ops, reduction_ops

# How many elements an estimate of the distribution is kept for, and how many of each class it begins with.
_ESTIMATED, _ASSUMED = 32, 10


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Optional[int] = None
) -> Callable[[Any], Any]:
    """Returns a transformation to a dataset whose classes have another distribution.

    Elements of classes that are too frequent are dropped at random. The result has pairs of a class and an
    element.

    Args:
      class_func: A function of an element that returns its class, a scalar int32 from 0.
      target_dist: The wanted share of each class, a float vector.
      initial_dist: The share of each class in the dataset. None estimates it from the elements so far.
      seed: The seed of the draws, together with that of the graph.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> resample = tf.data.experimental.rejection_resample(lambda x: tf.cast(x < 25, tf.int32), [0.5, 0.5], [0.75, 0.25], seed=1)
      >>> kinds, _ = tf.data.Dataset.range(100).repeat().apply(resample).batch(1000).make_one_shot_iterator().get_next()
      >>> bool(450 < tf.Session().run(tf.reduce_sum(kinds)) < 550)
      True
    """

    def apply(dataset: Any) -> Any:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        if initial_dist is None:
            initial = _estimates(target, classes)
            rates = initial.map(lambda share: _rates(share, target))
        else:
            share = convert_to_tensor(initial_dist, name="initial_dist")
            accepted, kept = _rates(share, target)
            known = _known_share(share, target)
            initial = Dataset.from_tensors(share).repeat()
            rates = Dataset.from_tensors((accepted, kept)).repeat()
            if known == 1:
                return Dataset.zip((classes, dataset))
            if known == 0:
                return _filtered(dataset, rates.map(lambda a, _: a), initial, classes, seed)
        filtered = _filtered(dataset, rates.map(lambda a, _: a), initial, classes, seed)
        weights = rates.map(lambda _, p: p).map(lambda p: op("Pack")([p, 1.0 - p]))
        return sample_from_datasets([Dataset.zip((classes, dataset)), filtered], weights=weights, seed=seed)

    return apply


def _rates(initial: Any, target: Any) -> Any:
    """Returns how much of each class is accepted, and the share of elements that need not be drawn for.

    The wanted distribution is a mixture of the present one, with the largest possible weight, and of one that
    rejection gives.
    """
    tiny = np.finfo(initial.dtype.base_dtype.as_numpy_dtype).tiny
    ratio = target / (initial + tiny)
    largest, least = reduction_ops.reduce_max(ratio), reduction_ops.reduce_min(ratio)
    return (ratio - least) / (largest - least), least


def _known_share(initial: Any, target: Any) -> Any:
    """Returns the share of elements that need not be drawn for if it is known while the graph is built."""
    initial, target = constant_value(initial), constant_value(target)
    return None if initial is None or target is None else np.min(target / (initial + np.finfo(initial.dtype).tiny))


def _estimates(target: Any, classes: Any) -> Any:
    """Returns a dataset of the distribution of the classes so far."""
    n = target.shape.dims[0].value or array_ops.shape(target)[0]

    def counted(seen: Any, batch: Any) -> Any:
        seen = seen + reduction_ops.reduce_sum(array_ops.one_hot(batch, n, dtype=dtypes.int64), 0)
        share = math_ops.cast(math_ops.truediv(seen, reduction_ops.reduce_sum(seen)), dtypes.float32)
        return seen, op("Tile")(array_ops.expand_dims(share, 0), [_ESTIMATED, 1])

    start = array_ops.fill([n], np.int64(_ASSUMED))
    return scan(classes.batch(_ESTIMATED), start, counted).flat_map(Dataset.from_tensor_slices)


def _filtered(dataset: Any, accepted: Any, initial: Any, classes: Any, seed: Optional[int]) -> Any:
    """Returns a dataset of pairs of a class and an element, without those that are rejected."""

    def reported(rates: Any, share: Any) -> Any:
        rejected = reduction_ops.reduce_sum((1 - rates) * share)
        message = "Proportion of examples rejected by sampler is high: "
        show = lambda: control_flow.Print(rates, [rejected, share, rates], message=message, summarize=100, first_n=10)
        return control_flow.cond(op("Less")(rejected, 0.5), lambda: rates, show)

    rates = Dataset.zip((accepted, initial)).map(reported)
    drawn = Dataset.zip((rates, classes, dataset)).map(lambda rate, kind, data: (kind, indexing_ops.gather(rate, kind), data))
    kept = drawn.filter(lambda _, p, data: random_ops.random_uniform([], seed=seed) < p)
    return kept.map(lambda kind, _, data: (kind, data)).prefetch(3)
