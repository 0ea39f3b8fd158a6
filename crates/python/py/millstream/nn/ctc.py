"""Connectionist temporal classification (Graves and others, 2006): losses and decoding.

`ctc_loss` and the decoders are one op each; `ctc_loss_v2` of dense labels is made of smaller ones.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from millstream.framework import SparseTensor, constant, convert_to_tensor, dtypes, name_scope
from millstream.framework.op_functions import op
from millstream.framework.shapes import dimension_value
from millstream.nn import functions
from millstream.ops import array_ops, control_flow, functional, indexing_ops, math_ops, reduction_ops
from millstream.ops.tensor_array import TensorArray

__all__ = ["collapse_repeated", "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder", "ctc_loss", "ctc_loss_v2", "ctc_unique_labels"]

# The logarithm of 0, as a number whose differences are numbers.
_LOG_ZERO = -1e30


def _dimension(x: Any, axis: int) -> Any:
    known = dimension_value(x.get_shape()[axis]) if x.get_shape().ndims is not None else None
    return array_ops.shape(x)[axis] if known is None else known


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Any:
    """Returns the loss of each sequence: minus the logarithm of the probability of its labels.

    The last class is the blank.

    Args:
      labels: A `SparseTensor` of `int32` labels, of shape `[batch, longest]`.
      inputs: The logits, a `float32` tensor of shape `[time, batch, classes]`.
      sequence_length: An `int32` vector: the number of steps of each sequence.
      preprocess_collapse_repeated: If true, labels that are equal to the one before are left out.
      ctc_merge_repeated: If false, a label in two adjacent steps counts twice.
      ignore_longer_outputs_than_inputs: If true, sequences with more labels than steps have the loss 0
        instead of causing an error.
      time_major: If false, the logits have shape `[batch, time, classes]`.
      logits: The same as `inputs`.

    Returns:
      A `float32` vector. A sequence whose labels are not possible has the loss infinity.

    Raises:
      TypeError: `labels` is not a `SparseTensor`.
      ValueError: Both or neither of `inputs` and `logits` are given.

    Example:
      >>> labels = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
      >>> print(tf.Session().run(tf.nn.ctc_loss(labels, tf.zeros([3, 1, 3]), [3])).round(4))
      [1.6864]
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    if logits is not None and inputs is not None:
        raise ValueError("Cannot specify both 'inputs' and 'logits'")
    x = convert_to_tensor(inputs if logits is None else logits, name="inputs")
    if not time_major:
        x = array_ops.transpose(x, [1, 0, 2])
    loss, _ = op("CTCLoss")(
        x,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss


def _extended(labels: Any, blank: Any) -> Any:
    """Returns labels with blanks between and around them."""
    blanks = array_ops.fill(array_ops.shape(labels), blank)
    shape = array_ops.shape(labels)
    pairs = array_ops.reshape(array_ops.stack([blanks, labels], 2), array_ops.stack([shape[0], 2 * shape[1]]))
    return array_ops.concat([pairs, blanks[:, :1]], 1)


def _log_sum(a: Any, b: Any, c: Any) -> Any:
    """Returns the logarithm of the sum of three exponentials, made of ops that fuse into one loop."""
    top = op("StopGradient")(op("Maximum")(op("Maximum")(a, b), c))
    return top + op("Log")(op("Exp")(a - top) + op("Exp")(b - top) + op("Exp")(c - top))


def _penalty(blocked: Any) -> Any:
    """Returns what to add to log probabilities: the logarithm of 0 where a path is blocked."""
    return math_ops.cast(blocked, dtypes.float32) * _LOG_ZERO


def _loss(logits: Any, labels: Any, counts: Any, lengths: Any) -> Any:
    """Returns the loss of each sequence. The blank is the last class."""
    steps, batch, n_classes = (_dimension(logits, axis) for axis in range(3))
    states = _extended(labels, n_classes - 1)
    # [batch * classes, time]: the rows of states, from which each step takes a column.
    table = array_ops.reshape(array_ops.transpose(functions.log_softmax(logits), [1, 2, 0]), array_ops.stack([batch * n_classes, steps]))
    rows = states + array_ops.expand_dims(math_ops.range(batch) * n_classes, 1)
    observed = array_ops.transpose(indexing_ops.gather(table, rows), [2, 0, 1])
    is_blank = math_ops.equal(states, n_classes - 1)
    # A path may leave out the blank between two labels that differ.
    again = math_ops.equal(states[:, 2:], states[:, :-2])
    blocked = op("LogicalOr")(is_blank, array_ops.concat([op("OnesLike")(is_blank[:, :2]), again], 1))
    nothing = array_ops.fill(array_ops.shape(states), _LOG_ZERO)
    margin, of_skips = nothing[:, :2], _penalty(blocked)
    source = TensorArray(dtypes.float32, steps).unstack(observed)

    def step(time: Any, alpha: Any) -> Any:
        wide = array_ops.concat([margin, alpha], 1)
        new = _log_sum(alpha, wide[:, 1:-1], wide[:, :-2] + of_skips) + source.read(time)
        # Sums of logarithms of 0 are still one.
        return time + 1, array_ops.where(time < lengths, op("Maximum")(new, _LOG_ZERO), alpha)

    first = array_ops.concat([observed[0, :, :2], nothing[:, 2:]], 1)
    first.set_shape(states.get_shape())
    _, alpha = control_flow.while_loop(
        lambda time, alpha: time < steps, step, (constant(1), first), shape_invariants=(constant(1).get_shape(), states.get_shape())
    )
    return _from_final(alpha, counts, logits, lengths, steps)


def _from_final(alpha: Any, counts: Any, logits: Any, lengths: Any, steps: Any) -> Any:
    """Returns the loss from the log probabilities of all states after the last step."""
    width = array_ops.shape(alpha)[1]
    last = array_ops.expand_dims(2 * counts, 1)
    place = array_ops.expand_dims(math_ops.range(width), 0)
    ends = op("LogicalOr")(math_ops.equal(place, last), math_ops.equal(place, last - 1))
    final = reduction_ops.reduce_logsumexp(array_ops.where(ends, alpha, array_ops.fill(array_ops.shape(alpha), _LOG_ZERO)), axis=1)
    # Without any path the loss is infinity, and its gradient the softmax, as in TensorFlow.
    mask = array_ops.transpose(array_ops.sequence_mask(lengths, steps, dtype=dtypes.float32), [1, 0])
    total = reduction_ops.reduce_sum(reduction_ops.reduce_logsumexp(logits, axis=2) * mask, 0)
    impossible = (total - op("StopGradient")(total)) + float("inf")
    return array_ops.where(final > _LOG_ZERO / 2, -final, impossible)


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: Optional[int] = None,
    name: Optional[str] = None,
) -> Any:
    """Returns the loss of each sequence, as `ctc_loss`, for dense or sparse labels and any blank.

    Args:
      labels: An integer matrix of shape `[batch, longest]`, or a `SparseTensor`.
      logits: The logits, a `float32` tensor of shape `[time, batch, classes]`.
      label_length: An integer vector: the number of labels of each sequence; None for sparse labels.
      logit_length: An integer vector: the number of steps of each sequence.
      logits_time_major: If false, the logits have shape `[batch, time, classes]`.
      unique: Accepted, but not needed: what `ctc_unique_labels(labels)` returns.
      blank_index: The class that is the blank, from the end if it is negative; by default 0. It must be
        given for sparse labels.
      name: The name scope of the new operations.

    Returns:
      A `float32` vector.

    Raises:
      ValueError: Labels are sparse, and `blank_index` is None.

    Example:
      >>> loss = tf.nn.ctc_loss_v2(tf.constant([[1, 2]]), tf.zeros([3, 1, 3]), [2], [3])
      >>> print(tf.Session().run(loss).round(4))
      [1.6864]
    """
    with name_scope(name, "ctc_loss_dense", [logits, label_length, logit_length]):
        logits = convert_to_tensor(logits, name="logits")
        if blank_index is None and isinstance(labels, SparseTensor):
            raise ValueError("blank_index must be given when using SparseTensor labels.")
        blank: Any = 0 if blank_index is None else blank_index
        n_classes = _dimension(logits, 2)
        blank = blank + n_classes if blank < 0 else blank
        # The other classes keep their order.
        logits = array_ops.concat([logits[:, :, :blank], logits[:, :, blank + 1 :], logits[:, :, blank : blank + 1]], 2)
        values = labels.values if isinstance(labels, SparseTensor) else convert_to_tensor(labels, name="labels")
        values = array_ops.where(values < math_ops.cast(blank, values.dtype), values, values - 1)
        if isinstance(labels, SparseTensor):
            moved = SparseTensor(labels.indices, values, labels.dense_shape)
            return ctc_loss(moved, logits, logit_length, time_major=logits_time_major)
        logits = logits if logits_time_major else array_ops.transpose(logits, [1, 0, 2])
        counts, lengths = (math_ops.cast(convert_to_tensor(x), dtypes.int32) for x in (label_length, logit_length))
        # Entries after the labels of a sequence may be any number.
        inside = array_ops.sequence_mask(counts, array_ops.shape(values)[1])
        dense = array_ops.where(inside, math_ops.cast(values, dtypes.int32), array_ops.zeros_like(values, dtypes.int32))
        loss = _loss(logits, dense, counts, lengths)
        # As in TensorFlow, the gradient after the end of a sequence is the softmax, not 0.
        after = op("LogicalNot")(array_ops.sequence_mask(lengths, _dimension(logits, 0)))
        after = math_ops.cast(array_ops.transpose(after, [1, 0]), dtypes.float32)
        rest = reduction_ops.reduce_sum(reduction_ops.reduce_logsumexp(logits, axis=2) * after, 0)
        return loss + (rest - op("StopGradient")(rest))


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Tuple[List[SparseTensor], Any]:
    """Decodes logits by the largest one of each step. The last class is the blank, which is left out.

    Args:
      inputs: The logits, a `float32` tensor of shape `[time, batch, classes]`.
      sequence_length: An `int32` vector: the number of steps of each sequence.
      merge_repeated: If true, a class in adjacent steps is one label.

    Returns:
      A pair: a list of one `SparseTensor` of `int64` labels, of shape `[batch, longest]`, and a matrix of
        shape `[batch, 1]`: minus the sum of the largest logits.

    Example:
      >>> logits = tf.one_hot([[0], [0], [2], [0], [1]], 3)
      >>> [decoded], score = tf.nn.ctc_greedy_decoder(logits, [5])
      >>> print(*tf.Session().run([decoded.values, score]))
      [0 0 1] [[-5.]]
    """
    indices, values, shape, score = op("CTCGreedyDecoder")(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> Tuple[List[SparseTensor], Any]:
    """Decodes logits by a search of the most probable labels. The last class is the blank.

    Args:
      inputs: The logits, a tensor of `float32` of shape `[time, batch, classes]`.
      sequence_length: An `int32` vector: the number of steps of each sequence.
      beam_width: The number of beginnings that are kept after each step.
      top_paths: The number of results, at most `beam_width`.
      merge_repeated: If true, adjacent equal labels of a result become one.

    Returns:
      A pair: a list of `top_paths` `SparseTensor`s of `int64` labels, of shape `[batch, longest]`, the most
        probable first, and the logarithms of their probabilities, of shape `[batch, top_paths]`.

    Example:
      >>> logits = tf.constant([[[0.6, 0.3, 0.1]], [[0.1, 0.2, 0.7]], [[0.5, 0.4, 0.1]]])
      >>> [decoded], score = tf.nn.ctc_beam_search_decoder(logits, [3], merge_repeated=False)
      >>> print(tf.Session().run(decoded.values), score.shape)
      [0] (1, 1)
    """
    found = op("CTCBeamSearchDecoder")(inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated)
    indices, values, shapes, score = found
    return [SparseTensor(i, v, s) for i, v, s in zip(indices, values, shapes)], score


def ctc_beam_search_decoder_v2(inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1) -> Tuple[List[SparseTensor], Any]:
    """Decodes logits as `ctc_beam_search_decoder` does with `merge_repeated=False`.

    Example:
      >>> logits = tf.constant([[[0.6, 0.3, 0.1]], [[0.1, 0.2, 0.7]], [[0.5, 0.4, 0.1]]])
      >>> [decoded], _ = tf.nn.ctc_beam_search_decoder_v2(logits, [3])
      >>> print(tf.Session().run(decoded.values))
      [0]
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def collapse_repeated(labels: Any, seq_length: Any, name: Optional[str] = None) -> Tuple[Any, Any]:
    """Leaves out labels that are equal to the one before.

    Args:
      labels: An integer matrix of shape `[batch, longest]`.
      seq_length: An integer vector: the number of labels of each row.
      name: The name scope of the new operations.

    Returns:
      A pair: the labels that are left, with zeros after them, and their numbers.

    Example:
      >>> left, lengths = tf.nn.collapse_repeated(tf.constant([[1, 1, 2, 2, 1], [3, 3, 4, 0, 0]]), [5, 3])
      >>> print(*tf.Session().run([left, lengths]))
      [[1 2 1]
       [3 4 0]] [3 2]
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        lengths = convert_to_tensor(seq_length, name="seq_length")
        first = array_ops.ones_like(labels[:, :1], dtypes.bool)
        kept = array_ops.concat([first, math_ops.not_equal(labels[:, 1:], labels[:, :-1])], 1)
        kept = op("LogicalAnd")(kept, array_ops.sequence_mask(lengths, maxlen=_dimension(labels, 1)))
        counts = reduction_ops.reduce_sum(math_ops.cast(kept, dtypes.int32), axis=1)
        places = array_ops.where(kept)
        columns = op("Cumsum")(math_ops.cast(kept, dtypes.int64), 1) - 1
        indices = array_ops.stack([places[:, 0], indexing_ops.gather_nd(columns, places)], 1)
        shape = array_ops.stack([_dimension(labels, 0), reduction_ops.reduce_max(counts)])
        left = op("ScatterNd")(indices, indexing_ops.gather_nd(labels, places), math_ops.cast(shape, dtypes.int64))
        left.set_shape([dimension_value(labels.get_shape()[0]), None])
        return left, math_ops.cast(counts, lengths.dtype)


def ctc_unique_labels(labels: Any, name: Optional[str] = None) -> Tuple[Any, Any]:
    """Returns the different labels of each row, and for each label its place among them.

    Args:
      labels: An integer matrix of shape `[batch, longest]`.
      name: The name scope of the new operations.

    Returns:
      A pair: the different labels as `int64`, with zeros after them, and the places as `int32`; both in the
        shape of `labels`.

    Example:
      >>> print(*tf.Session().run(list(tf.nn.ctc_unique_labels(tf.constant([[3, 4, 4, 3]])))))
      [[3 4 0 0]] [[0 1 1 0]]
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = convert_to_tensor(labels, name="labels")

        def of_row(row: Any) -> List[Any]:
            different, places = op("Unique")(row)
            missing = array_ops.shape(places)[0] - array_ops.shape(different)[0]
            padded = op("Pad")(different, [array_ops.stack([0, missing])])
            return [math_ops.cast(padded, dtypes.int64), places]

        different, places = functional.map_fn(of_row, labels, dtype=[dtypes.int64, dtypes.int32])
        return different, places
