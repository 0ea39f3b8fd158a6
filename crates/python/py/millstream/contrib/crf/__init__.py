"""`tf.contrib.crf`: linear-chain conditional random fields (Lafferty and others, 2001).

The score of a sequence of tags is the sum of its unary scores, `inputs[b, t, tag]`, and of the transition
scores of adjacent tags, `transition_params[tag, next]`.
"""

from __future__ import annotations

from typing import Any, Callable, List, Tuple

import numpy as np

from millstream.contrib.framework import smart_cond
from millstream.framework import constant, dtypes, namespaces
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.ops import array_ops, indexing_ops, math_ops, reduction_ops
from millstream.rnn.cells import RNNCell
from millstream.rnn.networks import dynamic_rnn
from millstream.variables.scopes import get_variable

__all__ = [
    "CrfDecodeBackwardRnnCell",
    "CrfDecodeForwardRnnCell",
    "CrfForwardRnnCell",
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]


def _for_length(inputs: Any, one: Callable[[], Any], several: Callable[[], Any]) -> Any:
    """Returns `one()` for sequences of length 1, else `several()`; a conditional if the length is unknown."""
    length = dimension_value(inputs.get_shape()[1]) or array_ops.shape(inputs)[1]
    return smart_cond(math_ops.equal(length, 1), one, several)


def _zero_if_empty(x: Any, lengths: Any) -> Any:
    return array_ops.where(op("LessEqual")(lengths, 0), array_ops.zeros_like(x), x)


def _first(inputs: Any) -> Any:
    return array_ops.squeeze(op("Slice")(inputs, [0, 0, 0], [-1, 1, -1]), [1])


def _one_less(lengths: Any) -> Any:
    """Returns the lengths without the first step."""
    return op("Maximum")(constant(0, dtype=lengths.dtype), lengths - 1)


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the score of each sequence of tags.

    Args:
      inputs: The unary scores, a float tensor of shape `[batch, time, tags]`.
      tag_indices: The tags, an integer tensor of shape `[batch, time]`.
      sequence_lengths: An integer vector: the length of each sequence.
      transition_params: The transition scores, of shape `[tags, tags]`.

    Returns:
      A float vector.

    Example:
      >>> score = tf.contrib.crf.crf_sequence_score(tf.ones([1, 3, 2]), tf.constant([[0, 1, 1]]), [3],
      ...     tf.constant([[0.0, 10.0], [20.0, 30.0]]))
      >>> print(tf.Session().run(score))
      [43.]
    """

    def one() -> Any:
        n = array_ops.shape(inputs, out_type=tag_indices.dtype)[0]
        rows = array_ops.reshape(math_ops.range(n, dtype=tag_indices.dtype), [-1, 1])
        places = array_ops.concat([rows, tag_indices], 1)
        return _zero_if_empty(indexing_ops.gather_nd(array_ops.squeeze(inputs, [1]), places), sequence_lengths)

    def several() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _for_length(inputs, one, several)


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the logarithm of the summed exponentials of the scores of all allowed sequences of tags.

    Args:
      inputs: The unary scores, a float tensor of shape `[batch, time, tags]`.
      tag_bitmap: A boolean tensor of the same shape: the tags that are allowed at each step.
      sequence_lengths: An integer vector: the length of each sequence.
      transition_params: The transition scores, of shape `[tags, tags]`.

    Returns:
      A float vector.

    Example:
      >>> score = tf.contrib.crf.crf_multitag_sequence_score(tf.ones([1, 3, 2]),
      ...     tf.constant([[[True, False], [False, True], [False, True]]]), tf.constant([3]),
      ...     tf.constant([[0.0, 10.0], [20.0, 30.0]]))
      >>> print(tf.Session().run(score))
      [43.]
    """

    def allowed() -> Any:
        return array_ops.where(tag_bitmap, inputs, array_ops.fill(array_ops.shape(inputs), float("-inf")))

    return _for_length(
        inputs,
        lambda: reduction_ops.reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False),
        lambda: crf_log_norm(allowed(), sequence_lengths, transition_params),
    )


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the logarithm of the summed exponentials of the scores of all sequences of tags.

    Args:
      inputs: The unary scores, a float tensor of shape `[batch, time, tags]`.
      sequence_lengths: An integer vector: the length of each sequence.
      transition_params: The transition scores, of shape `[tags, tags]`.

    Returns:
      A float vector.

    Example:
      >>> norm = tf.contrib.crf.crf_log_norm(tf.zeros([1, 3, 2]), tf.constant([3]), tf.zeros([2, 2]))
      >>> print(tf.Session().run(tf.exp(norm)).round(3))
      [8.]
    """
    first = _first(inputs)

    def norm_of(x: Any) -> Any:
        return _zero_if_empty(reduction_ops.reduce_logsumexp(x, [1]), sequence_lengths)

    def several() -> Any:
        rest = op("Slice")(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        lengths = _one_less(sequence_lengths)
        _, alphas = dynamic_rnn(cell, rest, sequence_length=lengths, initial_state=first, dtype=dtypes.float32)
        return norm_of(alphas)

    return _for_length(inputs, lambda: norm_of(first), several)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> Tuple[Any, Any]:
    """Returns the logarithm of the likelihood of each sequence of tags.

    Args:
      inputs: The unary scores, a float tensor of shape `[batch, time, tags]`.
      tag_indices: The tags, an integer tensor of shape `[batch, time]`.
      sequence_lengths: An integer vector: the length of each sequence.
      transition_params: The transition scores, of shape `[tags, tags]`; by default a new variable,
        `transitions`.

    Returns:
      A pair: a float vector, and the transition scores.

    Example:
      >>> likelihood, transitions = tf.contrib.crf.crf_log_likelihood(tf.zeros([1, 3, 2]),
      ...     tf.constant([[0, 1, 1]]), tf.constant([3]))
      >>> likelihood.shape, transitions.name
      (TensorShape([Dimension(1)]), 'transitions:0')
    """
    if transition_params is None:
        n_tags = dimension_value(inputs.get_shape()[2])
        transition_params = get_variable("transitions", [n_tags, n_tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """Returns the sum of the unary scores of each sequence of tags.

    Args:
      tag_indices: The tags, an integer tensor of shape `[batch, time]`.
      sequence_lengths: An integer vector: the length of each sequence.
      inputs: The unary scores, a float tensor of shape `[batch, time, tags]`.

    Returns:
      A float vector.

    Example:
      >>> score = tf.contrib.crf.crf_unary_score(tf.constant([[0, 1, 1]]), [2], tf.ones([1, 3, 2]))
      >>> print(tf.Session().run(score))
      [2.]
    """
    n, length, n_tags = (array_ops.shape(inputs)[axis] for axis in range(3))
    flat = array_ops.reshape(inputs, [-1])
    offsets = array_ops.expand_dims(math_ops.range(n) * length * n_tags, 1)
    offsets += array_ops.expand_dims(math_ops.range(length) * n_tags, 0)
    if tag_indices.dtype == dtypes.int64:
        offsets = math_ops.cast(offsets, dtypes.int64)
    places = array_ops.reshape(offsets + tag_indices, [-1])
    scores = array_ops.reshape(indexing_ops.gather(flat, places), [n, length])
    return reduction_ops.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def _mask(tag_indices: Any, lengths: Any) -> Any:
    return array_ops.sequence_mask(lengths, maxlen=array_ops.shape(tag_indices)[1], dtype=dtypes.float32)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """Returns the sum of the transition scores of each sequence of tags.

    Args:
      tag_indices: The tags, an integer tensor of shape `[batch, time]`.
      sequence_lengths: An integer vector: the length of each sequence.
      transition_params: The transition scores, of shape `[tags, tags]`.

    Returns:
      A float vector.

    Example:
      >>> score = tf.contrib.crf.crf_binary_score(tf.constant([[0, 1, 1]]), [3],
      ...     tf.constant([[0.0, 10.0], [20.0, 30.0]]))
      >>> print(tf.Session().run(score))
      [40.]
    """
    n_tags = transition_params.get_shape()[0]
    count = array_ops.shape(tag_indices)[1] - 1
    start = op("Slice")(tag_indices, [0, 0], [-1, count])
    end = op("Slice")(tag_indices, [0, 1], [-1, count])
    places = start * n_tags + end
    scores = indexing_ops.gather(array_ops.reshape(transition_params, [-1]), places)
    mask = op("Slice")(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return reduction_ops.reduce_sum(scores * mask, 1)


class _Cell(RNNCell):
    """A cell of as many units as there are tags, without variables."""

    def __init__(self, transition_params: Any) -> None:
        super().__init__()
        self._transition_params = array_ops.expand_dims(transition_params, 0)
        self._num_tags = dimension_value(transition_params.get_shape()[0])

    @property
    def state_size(self) -> Any:
        """The number of tags."""
        return self._num_tags

    output_size = state_size

    def _transitions(self, state: Any) -> Any:
        """Returns the scores of all pairs of tags: of the state, and of the transition."""
        return array_ops.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_Cell):
    """The forward recurrence: from the log sums of scores up to a step to those up to the next.

    Args:
      transition_params: The transition scores, of shape `[tags, tags]`.

    Example:
      >>> cell = tf.contrib.crf.CrfForwardRnnCell(tf.zeros([2, 2]))
      >>> alphas, _ = cell(tf.ones([1, 2]), tf.zeros([1, 2]))
      >>> cell.state_size, cell.output_size, alphas.shape
      (2, 2, TensorShape([Dimension(1), Dimension(2)]))
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        alphas = inputs + reduction_ops.reduce_logsumexp(self._transitions(state), [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_Cell):
    """The forward recurrence of Viterbi's algorithm: best scores, and the tags that they come from.

    Args:
      transition_params: The transition scores, of shape `[tags, tags]`.

    Example:
      >>> cell = tf.contrib.crf.CrfDecodeForwardRnnCell(tf.zeros([2, 2]))
      >>> tags, scores = cell(tf.ones([1, 2]), tf.constant([[3.0, 5.0]]))
      >>> print(*tf.Session().run([tags, scores]))
      [[1 1]] [[6. 6.]]
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        transitions = self._transitions(state)
        best = inputs + reduction_ops.reduce_max(transitions, [1])
        return math_ops.cast(reduction_ops.argmax(transitions, 1), dtypes.int32), best


class CrfDecodeBackwardRnnCell(RNNCell):
    """The backward pass of Viterbi's algorithm: from a tag to the tag that it comes from.

    Args:
      num_tags: The number of tags.

    Example:
      >>> cell = tf.contrib.crf.CrfDecodeBackwardRnnCell(2)
      >>> tag, _ = cell(tf.constant([[7, 8]]), tf.constant([[1]]))
      >>> print(tf.Session().run(tag), cell.state_size, cell.output_size)
      [[8]] 1 1
    """

    def __init__(self, num_tags: Any) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """1: the state is a tag."""
        return 1

    output_size = state_size

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Tuple[Any, Any]:
        tags = array_ops.squeeze(state, axis=[1])
        rows = math_ops.range(array_ops.shape(inputs)[0])
        places = array_ops.stack([rows, tags], axis=1)
        found = array_ops.expand_dims(op("GatherNd")(inputs, places), axis=-1)
        return found, found


def viterbi_decode(score: Any, transition_params: Any) -> Tuple[List[Any], Any]:
    """Returns the best sequence of tags for one sequence of arrays. It runs in NumPy, not in the graph.

    Args:
      score: The unary scores, an array of shape `[time, tags]`.
      transition_params: The transition scores, an array of shape `[tags, tags]`.

    Returns:
      A pair: a list of tags, and their score.

    Example:
      >>> import numpy as np
      >>> tags, score = tf.contrib.crf.viterbi_decode(np.eye(3, 2), np.array([[5.0, 0.0], [0.0, 5.0]]))
      >>> [int(t) for t in tags], float(score)
      ([0, 0, 0], 11.0)
    """
    trellis = np.zeros_like(score)
    came_from = np.zeros_like(score, dtype=np.int32)
    trellis[0] = score[0]
    for t in range(1, score.shape[0]):
        scores = np.expand_dims(trellis[t - 1], 1) + transition_params
        trellis[t] = score[t] + np.max(scores, 0)
        came_from[t] = np.argmax(scores, 0)
    tags = [np.argmax(trellis[-1])]
    for row in reversed(came_from[1:]):
        tags.append(row[tags[-1]])
    tags.reverse()
    return tags, np.max(trellis[-1])


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> Tuple[Any, Any]:
    """Returns the best sequences of tags (Viterbi's algorithm), in the graph.

    Args:
      potentials: The unary scores, a float tensor of shape `[batch, time, tags]`.
      transition_params: The transition scores, of shape `[tags, tags]`.
      sequence_length: An integer vector: the length of each sequence.

    Returns:
      A pair: the tags, an `int32` matrix of shape `[batch, time]`, which is 0 after the end of a sequence,
        and their scores, a float vector.

    Example:
      >>> tags, score = tf.contrib.crf.crf_decode(tf.constant([[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]),
      ...     tf.constant([[5.0, 0.0], [0.0, 5.0]]), tf.constant([3]))
      >>> print(*tf.Session().run([tags, score]))
      [[0 0 0]] [11.]
    """

    def one() -> Tuple[Any, Any]:
        scores = array_ops.squeeze(potentials, [1])
        tags = array_ops.expand_dims(reduction_ops.argmax(scores, axis=1), 1)
        best = reduction_ops.reduce_max(scores, axis=1)
        return math_ops.cast(tags, dtypes.int32), best

    def several() -> Tuple[Any, Any]:
        n_tags = dimension_value(potentials.get_shape()[2])
        forwards = CrfDecodeForwardRnnCell(transition_params)
        first = _first(potentials)
        rest = op("Slice")(potentials, [0, 1, 0], [-1, -1, -1])
        lengths = _one_less(sequence_length)
        came_from, last = dynamic_rnn(forwards, rest, sequence_length=lengths, initial_state=first, dtype=dtypes.int32)
        came_from = array_ops.reverse_sequence(came_from, lengths, seq_axis=1)
        backwards = CrfDecodeBackwardRnnCell(n_tags)
        end = array_ops.expand_dims(math_ops.cast(reduction_ops.argmax(last, axis=1), dtypes.int32), axis=-1)
        tags, _ = dynamic_rnn(backwards, came_from, sequence_length=lengths, initial_state=end, dtype=dtypes.int32)
        tags = array_ops.concat([end, array_ops.squeeze(tags, axis=[2])], 1)
        tags = array_ops.reverse_sequence(tags, sequence_length, seq_axis=1)
        return tags, reduction_ops.reduce_max(last, axis=1)

    return _for_length(potentials, one, several)


__dir__ = namespaces.dir_of(globals())
