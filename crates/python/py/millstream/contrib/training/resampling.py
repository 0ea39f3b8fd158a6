"""Batches with other shares of each kind of example than the data has: by rejection, or by repetition.

`rejection_sample` and `stratified_sample` drop examples on their way into a queue of batches.
`resample_at_rate` and `weighted_resample` repeat or drop the rows of a batch.
"""

from __future__ import annotations

from collections.abc import Sequence as Sequences
from typing import Any, Callable, List, Optional, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, convert_to_tensor_or_indexed_slices, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_at_index
from millstream.ops import array_ops, check_ops, control_flow, indexing_ops, math_ops, random_ops, reduction_ops, shape_ops
from millstream.ops.control_flow import with_dependencies
from millstream.ops.tensor_array import TensorArray
from millstream.train.input import batch, maybe_batch
from millstream.train.moving_averages import assign_moving_average
from millstream.variables.scopes import get_local_variable, variable_scope
from millstream.variables.variable import Variable

# Each class is counted as if this many examples of it had been seen, so that no first share is 0 or 1.
_COUNTED_BEFORE = 10

# By how much the sum of the shares may differ from 1.
_SLACK = 1e-6


# By rejection.


def rejection_sample(
    tensors: Any,
    accept_prob_fn: Callable[[List[Any]], Any],
    batch_size: Any,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: Optional[str] = None,
) -> List[Any]:
    """Returns batches of the examples that are accepted, each with a probability of its own.

    The queues have runners: start them with `tf.train.start_queue_runners`.

    Args:
      tensors: A list of tensors: one example, or rows of examples if `enqueue_many`.
      accept_prob_fn: A function of the list of tensors of one example that returns the probability of its
        acceptance: a scalar from 0 to 1.
      batch_size: The number of examples in a batch.
      queue_threads: The number of threads that fill the queue of batches.
      enqueue_many: If true, `tensors` hold rows of examples, which a queue takes apart.
      prebatch_capacity: The capacity of that queue.
      prebatch_threads: The number of threads that fill that queue.
      runtime_checks: If true, a probability outside of 0 to 1 is an error of the run.
      name: A name for the variable scope of the new operations.

    Returns:
      A list of tensors, with a dimension for the batch.

    Raises:
      TypeError: `tensors` is not a sequence.
      ValueError: With `enqueue_many`, the numbers of rows differ, or a tensor is a scalar.
      tf.errors.InvalidArgumentError: When run: `runtime_checks` found a probability out of range.

    Example:
      >>> n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
      >>> [odd] = tf.contrib.training.rejection_sample([n], lambda row: tf.cast(row[0] % 2, tf.float32), 3)
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(odd))
      [1 3 5]
    """
    with variable_scope(name, "rejection_sample", tensors):
        example = _as_tensors(tensors)
        if enqueue_many:
            for tensor in example:
                _check_rows(tensor, example[0])
            singles = batch(example, 1, prebatch_threads, prebatch_capacity, enqueue_many=True)
            # TensorFlow 1.15 fails with a single tensor, as `batch` then returns no list.
            example = [array_ops.squeeze(x, [0]) for x in (singles if isinstance(singles, list) else [singles])]
        probability = accept_prob_fn(example)
        if runtime_checks:
            checks = [check_ops.assert_less_equal(0.0, probability), check_ops.assert_less_equal(probability, 1.0)]
            probability = array_ops.identity(with_dependencies(checks, probability), name="prob_with_checks")
        accepted = maybe_batch(example, _happens(probability), batch_size, queue_threads)
        return [accepted] if isinstance(accepted, Tensor) else accepted


def stratified_sample(
    tensors: Any,
    labels: Any,
    target_probs: Any,
    batch_size: Any,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: Optional[str] = None,
) -> Tuple[List[Any], Any]:
    """Returns batches in which classes have given shares, by dropping examples of the others.

    The queues have runners: start them with `tf.train.start_queue_runners`.

    Args:
      tensors: A list of tensors: one example, or rows of examples if `enqueue_many`.
      labels: The class of the example, or a vector with the class of each row: ints from 0.
      target_probs: The share of each class in the batches.
      batch_size: The number of examples in a batch.
      init_probs: The share of each class in the data. If None, the shares are estimated from the examples so
        far, which a variable counts.
      enqueue_many: If true, `tensors` and `labels` hold rows of examples.
      queue_capacity: The capacity of the queue of single examples.
      threads_per_queue: The number of threads that fill each queue.
      name: A name for the new operations.

    Returns:
      A pair: the list of batches, one for each tensor, and the batch of labels.

    Raises:
      TypeError: `tensors` is not a sequence.
      ValueError: The shares have unknown, different or wrong shapes, or the numbers of rows differ.
      tf.errors.InvalidArgumentError: The shares do not sum to one, a class that does not occur is wanted, or
        a label is no class. It is raised at once if that is known, otherwise when run.

    Example:
      >>> n = tf.train.range_input_producer(40, seed=1).dequeue()
      >>> label = tf.cast(n % 4 < 1, tf.int32)
      >>> [batch], labels = tf.contrib.training.stratified_sample(
      ...     [n], label, [0.0, 1.0], 4, init_probs=[0.75, 0.25])
      >>> with tf.train.MonitoredSession() as sess:
      ...     print(sess.run(labels), sess.run(batch) % 4)
      [1 1 1 1] [0 0 0 0]
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        rows, labels = _as_tensors(tensors), convert_to_tensor(labels)
        wanted = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            rows = [array_ops.expand_dims(x, 0) for x in rows]
            labels = array_ops.expand_dims(labels, 0)
        if init_probs is None:
            wanted.get_shape().assert_is_fully_defined()
            present = _counted_shares(labels, wanted.get_shape().num_elements())
        else:
            present = convert_to_tensor(init_probs, dtype=dtypes.float32)
        present, wanted = _checked_shares(present), _checked_shares(wanted)
        n_classes = present.get_shape().num_elements()
        if wanted.get_shape().num_elements() != n_classes:
            raise ValueError(
                "Probability parameters must have the same length. `init_probs` has %s entries, `target_probs` has %s: give both one for each class"
                % (n_classes, wanted.get_shape().num_elements())
            )
        rows, labels = _checked_rows(rows, labels, n_classes)
        # Only what occurs can be accepted.
        possible = reduction_ops.reduce_all(op("LogicalOr")(math_ops.not_equal(present, 0), math_ops.equal(wanted, 0)))
        words = "All classes with zero initial probability must also have zero target probability: "
        present = with_dependencies([control_flow.assert_(possible, [words, present, wanted])], present)
        accepted = _acceptance(present, wanted)
        rejected = reduction_ops.reduce_sum((1 - accepted) * present)
        accepted = control_flow.cond(rejected < 0.5, lambda: accepted, lambda: _reported(accepted))
        *singles, label = batch([*rows, labels], 1, threads_per_queue, queue_capacity, enqueue_many=True)
        singles = [array_ops.squeeze(x, [0]) for x in singles]
        label = array_ops.squeeze(label, [0])
        keep = _happens(indexing_ops.gather(accepted, label))
        *batches, label = maybe_batch([*singles, label], keep, batch_size, threads_per_queue)
        return batches, label


def _as_tensors(tensors: Any) -> List[Any]:
    if not isinstance(tensors, Sequences):
        raise TypeError("values must be a sequence. `tensors` is a %s: give a list, even of a single tensor" % type(tensors).__name__)
    return [None if t is None else convert_to_tensor_or_indexed_slices(t) for t in tensors]


def _happens(probability: Any) -> Tensor:
    """A tensor that is true with this probability in each run."""
    return random_ops.random_uniform([]) < probability


def _counted_shares(labels: Tensor, n_classes: Any) -> Tensor:
    """The share of each class among the labels so far, which a variable counts."""
    seen: Any = Variable([_COUNTED_BEFORE] * n_classes, trainable=False, name="class_count", dtype=dtypes.int64)
    seen = seen.assign_add(reduction_ops.reduce_sum(array_ops.one_hot(labels, n_classes, dtype=dtypes.int64), 0))
    # The sum is a copy, as another thread may write the variable between the two reads of the division.
    seen = seen + 0
    return math_ops.cast(math_ops.truediv(seen, reduction_ops.reduce_sum(seen)), dtypes.float32)


def _checked_shares(shares: Tensor) -> Tensor:
    shares.get_shape().assert_is_fully_defined()
    shares.get_shape().assert_has_rank(1)
    total = reduction_ops.reduce_sum(shares)
    checks = [
        check_ops.assert_non_negative(shares),
        check_ops.assert_less(total, 1.0 + _SLACK),
        check_ops.assert_less(1.0 - _SLACK, total),
    ]
    return with_dependencies(checks, shares)


def _check_rows(tensor: Any, other: Any) -> None:
    shape = tensor.get_shape().with_rank_at_least(1)
    dimension_at_index(shape, 0).assert_is_compatible_with(other.get_shape()[0])


def _checked_rows(rows: List[Any], labels: Tensor, n_classes: Any) -> Tuple[List[Any], Tensor]:
    """Checks that there is a label for each row, and that it is a class: what is unknown now, in each run."""
    labels.get_shape().assert_has_rank(1)
    for tensor in rows:
        _check_rows(tensor, labels)
    n_rows = array_ops.shape(labels)[0]
    some = check_ops.assert_positive(n_rows)
    labels = with_dependencies([some], labels)
    rows = [with_dependencies([some, check_ops.assert_equal(array_ops.shape(x)[0], n_rows)], x) for x in rows]
    checks = [
        check_ops.assert_integer(labels),
        check_ops.assert_non_negative(labels),
        check_ops.assert_less(labels, math_ops.cast(n_classes, labels.dtype)),
    ]
    return rows, with_dependencies(checks, labels)


def _acceptance(present: Tensor, wanted: Tensor) -> Tensor:
    """The probability with which an example of each class is accepted.

    The accepted share of class `i` is `present[i] * accept[i]`, up to a factor that is the same for all
    classes. It is the wanted one if `accept[i]` is proportional to `wanted[i] / present[i]`. The largest
    possible probabilities drop the fewest examples: the largest of them is 1.
    """
    ratio = wanted / present
    # 0 / 0: the class neither occurs nor is wanted.
    ratio = shape_ops.where_v2(op("IsNan")(ratio), array_ops.zeros_like(ratio), ratio)
    return ratio / reduction_ops.reduce_max(ratio)


def _reported(accepted: Tensor) -> Tensor:
    return control_flow.Print(accepted, [accepted], message="Proportion of examples rejected by sampler is high.", first_n=10)


# By repetition.


def resample_at_rate(
    inputs: Any, rates: Any, scope: Optional[str] = None, seed: Optional[int] = None, back_prop: bool = False
) -> List[Any]:
    """Returns rows of tensors: the number of copies of each is drawn from a Poisson distribution.

    Args:
      inputs: A list of tensors with the same number of rows.
      rates: A float vector: the mean number of copies of each row.
      scope: A name for the new operations.
      seed: A seed; see `tf.set_random_seed`.
      back_prop: Has no effect: the gradient of the inputs is that of a gather, the rates have none.

    Returns:
      A list of tensors, whose rows are those of `inputs`; their number is the same for all.

    Example:
      >>> rows, names = tf.contrib.training.resample_at_rate(
      ...     [tf.range(3), tf.constant(["a", "b", "c"])], [0.0, 30.0, 1000.0], seed=1)
      >>> with tf.Session() as sess:
      ...     n, s = sess.run([rows, names])
      >>> sorted(set(s)), bool(900 < (n == 2).sum() < 1100)
      ([b'b', b'c'], True)
    """
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = math_ops.cast(random_ops.random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        rows = _repeated(counts)
        if not back_prop:
            rows = op("StopGradient")(rows)
        return [indexing_ops.gather(x, rows) for x in inputs]


def weighted_resample(
    inputs: Any, weights: Any, overall_rate: Any, scope: Optional[str] = None, mean_decay: float = 0.999, seed: Optional[int] = None
) -> Tuple[List[Any], Any]:
    """Returns the rows of tensors, each as often as its weight says, and the mean number of copies of each.

    A row has `overall_rate * weight / mean` copies on average, where `mean` is a moving average of the
    weights over all batches so far. Variables hold the average: initialize the global and the local ones.

    Args:
      inputs: A list of tensors with the same number of rows.
      weights: A float vector: the weight of each row.
      overall_rate: The mean number of copies over all rows and batches.
      scope: A name for the new operations.
      mean_decay: The decay of the moving average.
      seed: A seed; see `tf.set_random_seed`.

    Returns:
      A pair: the list of tensors, and the rate at which each of their rows was repeated.

    Example:
      >>> weights = tf.constant([1.0, 3.0])
      >>> [n], rates = tf.contrib.training.weighted_resample([tf.range(2)], weights, 100.0, seed=1)
      >>> with tf.train.MonitoredSession() as sess:
      ...     rows, each = sess.run([n, rates])
      >>> [round(float(each[rows == i][0])) for i in (0, 1)]
      [50, 150]
    """
    with name_scope(scope, "weighted_resample", inputs) as outer:
        with variable_scope(scope, "estimate_mean", inputs):
            average = get_local_variable("estimated_mean", initializer=math_ops.cast(0, weights.dtype), dtype=weights.dtype)
            mean = assign_moving_average(average, reduction_ops.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        rates, *rows = resample_at_rate([rates, *inputs], rates, scope=outer, seed=seed, back_prop=False)
        return rows, rates


def _repeated(counts: Tensor) -> Tensor:
    """The indices of `counts`, each as often as its count."""
    with name_scope(None, "repeat_range", [counts]) as scope:
        n = array_ops.shape(counts)[0]

        def add(parts: Any, i: Tensor) -> Any:
            return parts.write(i, array_ops.fill(counts[i : i + 1], i)), i + 1

        parts = TensorArray(dtypes.int32, n, infer_shape=False)
        parts, n_parts = control_flow.while_loop(lambda _, i: i < n, add, [parts, 0])
        # `concat` of no parts is an error.
        return control_flow.cond(n_parts > 0, parts.concat, lambda: array_ops.zeros([0], dtypes.int32), name=scope)
