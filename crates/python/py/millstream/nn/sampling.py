"""Candidate samplers of `tf.nn`: classes drawn at random, with the expected counts of each.

TensorFlow has an op for each sampler. Here a sampler is made of smaller ops that draw the same numbers: the
op's stream of 64-bit words is that of `RandomUniformInt` over all of `int64` with the same seeds. A run of
the op reserves 2048 words of 32 bits for each candidate, as many as `RandomUniformInt` reserves for two of
64 bits, so later runs agree as well. If that is too few for unique candidates, `_more` continues the stream.
"""

from __future__ import annotations

import collections
import csv
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import constant, convert_to_tensor, dtypes, name_scope, node_counts
from millstream.framework.op_functions import op
from millstream.framework.shapes import TensorShape
from millstream.ops import array_ops, control_flow, indexing_ops, math_ops, random_ops, reduction_ops

__all__ = [
    "all_candidate_sampler",
    "compute_accidental_hits",
    "fixed_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]

_LEAST = -(2**63)


class _Draw(NamedTuple):
    """How a sampler uses a word of 64 bits, and what it expects of a class."""

    # The class of each word, given as its lower and its upper half.
    classes: Callable[[Tensor, Tensor], Tensor]
    # The probability of each class.
    probability: Callable[[Tensor], Tensor]


def uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Optional[int] = None, name: Optional[str] = None
) -> Any:
    """Draws classes with equal probability.

    Args:
      true_classes: An `int64` matrix of shape `[batch, num_true]`: the classes of each example.
      num_true: The number of classes per example.
      num_sampled: The number of classes to draw.
      unique: If true, the drawn classes differ.
      range_max: The number of classes, at most 2**31.
      seed: A seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      A named tuple: the drawn classes, the expected count of each true class among them, and that of each
      drawn class.

    Raises:
      ValueError: Shapes or numbers do not fit, such as more unique classes than there are.

    Example:
      >>> drawn = tf.nn.uniform_candidate_sampler([[0, 7]], 2, 4, unique=False, range_max=8, seed=1)
      >>> print(*tf.Session().run(drawn))
      [7 1 5 2] [[0.5 0.5]] [0.5 0.5 0.5 0.5]
    """

    def classes(low: Tensor, high: Tensor) -> Tensor:
        # The remainder of a word: its upper half counts 2**32 times.
        whole = op("FloorMod")(high, range_max) * (2**32 % range_max)
        return op("FloorMod")(whole + op("FloorMod")(low, range_max), range_max)

    def probability(ids: Tensor) -> Tensor:
        return array_ops.fill(array_ops.shape(ids), np.float32(1.0 / range_max))

    draw = _Draw(classes, probability)
    return _sampled("UniformCandidateSampler", draw, true_classes, num_true, num_sampled, unique, range_max, seed, name)


def log_uniform_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Optional[int] = None, name: Optional[str] = None
) -> Any:
    """Draws classes whose probability falls with their number, as that of words sorted by frequency does.

    The probability of class k is `log((k + 2) / (k + 1)) / log(range_max + 1)`. Arguments are as in
    `uniform_candidate_sampler`.

    Returns:
      A named tuple: the drawn classes, the expected count of each true class among them, and that of each
      drawn class.

    Raises:
      ValueError: Shapes or numbers do not fit, such as more unique classes than there are.

    Example:
      >>> drawn = tf.nn.log_uniform_candidate_sampler([[0]], 1, 4, unique=True, range_max=1000, seed=1)
      >>> print(tf.Session().run(drawn.sampled_candidates).shape)
      (4,)
    """
    log_range = float(np.log1p(np.float64(range_max)))

    def classes(low: Tensor, high: Tensor) -> Tensor:
        # A double in [0, 1) of 52 random bits.
        bits = op("BitwiseAnd")(low, constant(0xFFFFF, dtypes.int64)) * 2**32 + high
        scaled = op("Exp")(math_ops.cast(bits, dtypes.float64) * (2.0**-52 * log_range))
        return op("FloorMod")(math_ops.cast(scaled, dtypes.int64) - 1, range_max)

    def probability(ids: Tensor) -> Tensor:
        k = math_ops.cast(ids, dtypes.float64)
        return math_ops.cast(op("Log")((k + 2.0) / (k + 1.0)) / log_range, dtypes.float32)

    draw = _Draw(classes, probability)
    return _sampled("LogUniformCandidateSampler", draw, true_classes, num_true, num_sampled, unique, range_max, seed, name)


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Any:
    """Draws classes with given probabilities.

    Args:
      true_classes: An `int64` matrix of shape `[batch, num_true]`: the classes of each example.
      num_true: The number of classes per example.
      num_sampled: The number of classes to draw.
      unique: If true, the drawn classes differ.
      range_max: The number of classes.
      vocab_file: A file of comma-separated values with a line for each class, whose last value is its count.
        It is read now, not in the run.
      distortion: Counts are raised to this power.
      num_reserved_ids: The number of classes before the first one, which are never drawn.
      num_shards: The number of parts of the classes, if several processes draw.
      shard: The part of this process: classes whose number modulo `num_shards` is this.
      unigrams: The counts, if there is no file.
      seed: A seed; see `tf.set_random_seed`.
      name: A name for the operation.

    Returns:
      A named tuple: the drawn classes, the expected count of each true class among them, and that of each
      drawn class.

    Raises:
      ValueError: Shapes or numbers do not fit, or not exactly one of `vocab_file` and `unigrams` is given.

    Example:
      >>> drawn = tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 5, unique=False, range_max=3,
      ...                                               unigrams=[1.0, 0.0, 3.0], seed=1)
      >>> print(*tf.Session().run(drawn))
      [2 2 2 2 2] [[1.25]] [3.75 3.75 3.75 3.75 3.75]
    """
    if bool(vocab_file) == bool(len(unigrams)):
        raise ValueError("Must provide either vocab_file or unigrams.")
    weights = _weights(vocab_file, unigrams, distortion, num_reserved_ids)[shard::num_shards]
    numbers = list(range(shard, shard + num_shards * len(weights), num_shards))
    if len(numbers) and numbers[-1] >= range_max or num_shards == 1 and len(numbers) != range_max:
        raise ValueError("range_max is %d, but there are counts of %d classes" % (range_max, numbers[-1] + 1 if numbers else 0))
    chance, others = _alias_table(weights)
    total = np.float32(0)
    for weight in weights:
        total += np.float32(weight)
    n = len(weights)

    def classes(low: Tensor, high: Tensor) -> Tensor:
        first = math_ops.cast(op("FloorMod")(high, n), dtypes.int32)
        r = math_ops.cast(op("BitwiseAnd")(low, constant(0x7FFFFF, dtypes.int64)), dtypes.float32) * np.float32(2.0**-23)
        keeps = op("Less")(r, indexing_ops.gather(constant(chance, dtypes.float32), first))
        place = array_ops.where(keeps, first, indexing_ops.gather(constant(others, dtypes.int32), first))
        return math_ops.cast(place, dtypes.int64) * num_shards + shard

    table = np.zeros([range_max], np.float32)
    table[numbers] = np.asarray(weights, np.float32) / total

    draw = _Draw(classes, lambda ids: indexing_ops.gather(constant(table), ids))
    return _sampled("FixedUnigramCandidateSampler", draw, true_classes, num_true, num_sampled, unique, range_max, seed, name)


def _weights(vocab_file: str, unigrams: Sequence[float], distortion: float, num_reserved_ids: int) -> List[float]:
    """Returns the weights of all classes."""
    if vocab_file:
        with open(vocab_file, newline="", encoding="utf-8") as lines:
            unigrams = [float(row[-1]) for row in csv.reader(lines) if row]
    counts = np.asarray(unigrams, np.float32)
    return [0.0] * num_reserved_ids + np.power(counts, np.float32(distortion)).tolist()


def _alias_table(weights: Sequence[float]) -> Tuple[List[float], List[int]]:
    """Returns, for each class, the chance that it stays itself when drawn, and what it becomes otherwise.

    These are the tables of Walker's alias method, with classes paired from the back as TensorFlow pairs them.
    """
    n, total = len(weights), float(sum(weights))
    chance = [n * w / total for w in weights]
    other = list(range(n))
    small = [i for i in range(n) if chance[i] < 1.0]
    large = [i for i in range(n) if chance[i] >= 1.0]
    while small and large:
        low, high = small.pop(), large.pop()
        other[low] = high
        chance[high] -= 1.0 - chance[low]
        (small if chance[high] < 1.0 else large).append(high)
    for i in small + large:
        chance[i] = 1.0
    return chance, other


def all_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: Optional[int] = None, name: Optional[str] = None
) -> Any:
    """Returns all classes instead of a sample, to test a loss over sampled classes.

    Args:
      true_classes: An `int64` matrix of shape `[batch, num_true]`: the classes of each example.
      num_true: The number of classes per example.
      num_sampled: The number of classes.
      unique: Ignored: all classes differ.
      seed: Ignored.
      name: A name for the operation.

    Returns:
      A named tuple: the classes, and expected counts of one.

    Example:
      >>> print(*tf.Session().run(tf.nn.all_candidate_sampler([[2]], 1, 3, unique=True)))
      [0 1 2] [[1.]] [1. 1. 1.]
    """
    with name_scope(name, "AllCandidateSampler"), node_counts.counted_as(1):
        true = _matrix(true_classes, num_true)
        ones = constant(1.0, dtypes.float32, [num_sampled])
        return _result("AllCandidateSampler", constant(np.arange(num_sampled)), array_ops.ones_like(true, dtypes.float32), ones)


def compute_accidental_hits(
    true_classes: Any, sampled_candidates: Any, num_true: int, seed: Optional[int] = None, name: Optional[str] = None
) -> Tuple[Tensor, Tensor, Tensor]:
    """Finds the drawn classes that are true ones.

    Args:
      true_classes: An `int64` matrix of shape `[batch, num_true]`: the classes of each example.
      sampled_candidates: An `int64` vector: the drawn classes.
      num_true: The number of classes per example.
      seed: Ignored.
      name: A name for the operation.

    Returns:
      Three vectors: the rows of `true_classes`, the positions in `sampled_candidates`, and weights, the
      lowest float each, which take the classes out of a sum of exponentials.

    Raises:
      ValueError: `true_classes` has not `num_true` columns.

    Example:
      >>> rows, places, _ = tf.nn.compute_accidental_hits([[0], [7]], [9, 7, 0], 1)
      >>> print(*tf.Session().run([rows, places]))
      [0 1] [2 1]
    """
    with name_scope(name, "ComputeAccidentalHits"), node_counts.counted_as(1):
        true = _matrix(true_classes, num_true)
        drawn = convert_to_tensor(sampled_candidates, dtypes.int64, "sampled_candidates")
        same = op("Equal")(array_ops.expand_dims(true, 2), drawn)
        # Of a class drawn more than once, the last place counts.
        places = math_ops.cast(same, dtypes.int64) * (math_ops.range(array_ops.size(drawn, out_type=dtypes.int64)) + 1)
        place = reduction_ops.reduce_max(array_ops.concat([array_ops.zeros_like(true)[:, :, None], places], 2), 2)
        hits = op("Where")(op("Greater")(place, constant(0, dtypes.int64)))
        rows = math_ops.cast(hits[:, 0], dtypes.int32)
        ids = op("GatherNd")(place, hits) - 1
        return rows, ids, array_ops.fill(array_ops.shape(rows), np.float32(np.finfo(np.float32).min))


def _matrix(true_classes: Any, num_true: int) -> Tensor:
    true = convert_to_tensor(true_classes, dtypes.int64, "true_classes")
    rank = true.get_shape().ndims
    if rank not in (None, 2):
        raise ValueError("Shape must be rank 2 but is rank %d: true_classes of shape %s is no matrix [batch, num_true]" % (rank, true.get_shape()))
    columns = true.get_shape()[1].value if rank else None
    if num_true < 1 or columns not in (None, num_true):
        raise ValueError("true_classes must have num_true columns, expected: %s was: %d" % (columns, num_true))
    return true


def _result(kind: str, classes: Any, true_counts: Any, counts: Any) -> Any:
    make: Any = collections.namedtuple
    return make(kind, ["sampled_candidates", "true_expected_count", "sampled_expected_count"])(classes, true_counts, counts)


def _sampled(
    kind: str, draw: _Draw, true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Optional[int], name: Optional[str]
) -> Any:
    """Draws candidates, and returns them with the expected counts."""
    if not 1 <= range_max <= 2**31:
        raise ValueError("range_max is %r, and must be from 1 to 2**31" % (range_max,))
    if num_sampled < 1:
        raise ValueError("Need num_sampled >= 1, got %d" % num_sampled)
    if unique and range_max < num_sampled:
        raise ValueError("When unique is True, num_sampled must be <= range_max: %d vs %d" % (num_sampled, range_max))
    first, second = random_ops.get_seed(seed)
    with node_counts.counted_as(1), name_scope(name, kind):
        true = _matrix(true_classes, num_true)
        drawn = op("RandomUniformInt")(
            [2 * num_sampled], constant(_LEAST, dtypes.int64), constant(-_LEAST - 1, dtypes.int64), seed=first or 0, seed2=second or 0
        )
        words = op("BitwiseXor")(drawn, constant(_LEAST, dtypes.int64))
        if unique:
            key, high = first or 0, second or 0
            words = control_flow.while_loop(
                lambda words: op("Less")(array_ops.size(array_ops.unique(_classes(draw, words))[0]), num_sampled),
                lambda words: array_ops.concat([words, _more(words, key, high)], 0),
                [words],
                shape_invariants=[TensorShape([None])],
                back_prop=False,
            )
            found, places = array_ops.unique(_classes(draw, words))
            classes = array_ops.reshape(found[:num_sampled], [num_sampled])
            tries = reduction_ops.reduce_min(op("Where")(op("Equal")(places, num_sampled - 1))) + 1
        else:
            classes, tries = _classes(draw, words[:num_sampled]), constant(num_sampled, dtypes.int64)
        counts = _expected(draw.probability(true), num_sampled, tries), _expected(draw.probability(classes), num_sampled, tries)
        return _result(kind, classes, *(op("StopGradient")(c) for c in counts))


def _classes(draw: _Draw, words: Tensor) -> Tensor:
    halves = math_ops.cast(op("Bitcast")(words, dtypes.uint32), dtypes.int64)
    return draw.classes(halves[:, 0], halves[:, 1])


def _expected(probability: Tensor, num_sampled: int, tries: Tensor) -> Tensor:
    """Returns the expected counts: the chance to be among `tries`, unless every try counted."""
    n = math_ops.cast(tries, dtypes.float32)
    among = -op("Expm1")(n * op("Log1p")(-probability))
    return array_ops.where(array_ops.fill(array_ops.shape(probability), op("Equal")(n, float(num_sampled))), probability * float(num_sampled), among)


# The constants of Philox with four words of 32 bits and ten rounds.
_FACTORS, _STEPS, _MASK = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 0xFFFFFFFF


def _more(words: Tensor, key: int, high: int) -> Tensor:
    """Returns as many words again: those that come after `words` in the stream.

    Philox maps a counter to four words of 32 bits, and can be inverted: the first two words of 64 bits tell
    the counter at which this run started. `key` and `high` are the seeds: the key, and the upper half of the
    counter.
    """
    n = array_ops.size(words, out_type=dtypes.int64)
    start = _counter(math_ops.cast(op("Bitcast")(words[:2], dtypes.uint32), dtypes.int64), key)
    counter = math_ops.cast(start + n // 2, dtypes.uint64)
    both = array_ops.stack([counter, constant(high, dtypes.uint64)])
    philox = constant(1, dtypes.int32)
    return op("StatelessRandomUniformFullIntV2")(array_ops.expand_dims(n, 0), constant([key], dtypes.uint64), both, philox, dtype=dtypes.int64)


def _counter(halves: Tensor, key: int) -> Tensor:
    """Returns the lower half of the counter that gives a block: a matrix of two words and their halves.

    A round maps the even words `a` and the odd words `b`: the upper halves of `a * factors` change places,
    are combined with `b` and the keys, and become the even words; the lower halves become the odd ones.
    """
    mask, thirty_two = constant(_MASK, dtypes.int64), constant(32, dtypes.int64)
    factors = constant(_FACTORS, dtypes.int64)
    inverses = constant([pow(f, -1, 2**32) for f in _FACTORS], dtypes.int64)
    halves_of_key = key & _MASK, key >> 32
    keys = constant([[(k + r * step) & _MASK for k, step in zip(halves_of_key, _STEPS)] for r in range(10)], dtypes.int64)

    def undo(r: Tensor, even: Tensor, odd: Tensor) -> List[Tensor]:
        low = op("ReverseV2")(odd, [0])
        before = op("BitwiseAnd")(low * inverses, mask)
        upper = op("BitwiseAnd")(op("RightShift")(before * factors, thirty_two), mask)
        mixed = op("BitwiseXor")(op("ReverseV2")(upper, [0]), indexing_ops.gather(keys, r))
        return [r - 1, before, op("BitwiseXor")(even, mixed)]

    start = [constant(9), halves[:, 0], halves[:, 1]]
    _, even, odd = control_flow.while_loop(lambda r, *_: op("GreaterEqual")(r, 0), undo, start, back_prop=False)
    return op("BitwiseOr")(even[0], op("LeftShift")(odd[0], constant(32, dtypes.int64)))
