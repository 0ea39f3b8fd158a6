"""Candidate samplers of `tf.nn`: classes drawn at random, with the expected counts of each."""

from __future__ import annotations

import collections
from typing import Any, Optional, Sequence, Tuple

from millstream._engine import Tensor
from millstream.framework import convert_to_tensor, dtypes
from millstream.framework.op_functions import op
from millstream.ops import random_ops

__all__ = [
    "all_candidate_sampler",
    "compute_accidental_hits",
    "fixed_unigram_candidate_sampler",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]


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
    return _drawn("UniformCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


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
    return _drawn("LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


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
        It is read in the first run.
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
    return _drawn(
        "FixedUnigramCandidateSampler",
        true_classes,
        num_true,
        num_sampled,
        unique,
        seed,
        name,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=[float(count) for count in unigrams],
    )


def learned_unigram_candidate_sampler(
    true_classes: Any, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: Optional[int] = None, name: Optional[str] = None
) -> Any:
    """Draws classes as often as they were true classes before.

    The probability of a class is in proportion to one more than the number of times that it was among the
    `true_classes` of earlier runs of the operation in the session. Arguments are as in
    `uniform_candidate_sampler`.

    Returns:
      A named tuple: the drawn classes, the expected count of each true class among them, and that of each
      drawn class.

    Raises:
      ValueError: Shapes or numbers do not fit.
      InvalidArgumentError: In a run: more unique classes than there are, or a true class outside of
        the range.

    Example:
      >>> drawn = tf.nn.learned_unigram_candidate_sampler([[3]], 1, 4, unique=False, range_max=4, seed=1)
      >>> sess = tf.Session()
      >>> print([float(sess.run(drawn.true_expected_count)[0, 0]) for _ in range(3)])
      [1.0, 1.600000023841858, 2.0]
    """
    return _drawn("LearnedUnigramCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name, range_max=range_max)


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
    return _drawn("AllCandidateSampler", true_classes, num_true, num_sampled, unique, seed, name)


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
    first, second = random_ops.get_seed(seed)
    results = op("ComputeAccidentalHits")(
        convert_to_tensor(true_classes, dtypes.int64, "true_classes"),
        convert_to_tensor(sampled_candidates, dtypes.int64, "sampled_candidates"),
        num_true=num_true,
        seed=first or 0,
        seed2=second or 0,
        name=name,
    )
    make: Any = collections.namedtuple
    return make("ComputeAccidentalHits", ["indices", "ids", "weights"])(*results)


def _drawn(kind: str, true_classes: Any, num_true: int, num_sampled: int, unique: bool, seed: Optional[int], name: Optional[str], **attrs: Any) -> Any:
    """Returns the outputs of a sampler as a named tuple."""
    first, second = random_ops.get_seed(seed)
    true = convert_to_tensor(true_classes, dtypes.int64, "true_classes")
    results = op(kind)(true, num_true=num_true, num_sampled=num_sampled, unique=unique, seed=first or 0, seed2=second or 0, name=name, **attrs)
    make: Any = collections.namedtuple
    return make(kind, ["sampled_candidates", "true_expected_count", "sampled_expected_count"])(*results)
