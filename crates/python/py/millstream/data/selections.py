"""`tf.data.experimental`: datasets that choose among elements, and the number of elements of a dataset."""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from millstream.data import structure
from millstream.data.arguments import seeds
from millstream.data.datasets import Dataset
from millstream.data.functions import Function
from millstream.framework import convert_to_tensor, dtypes, shapes
from millstream.framework.op_functions import op
from millstream.ops.array_ops import squeeze

_COMPARED = (dtypes.int32, dtypes.int64, dtypes.string)


def _directed(selector: Any, datasets: List[Any]) -> Any:
    """Returns a dataset of the elements of `datasets`, in the order of the numbers of `selector`."""
    element_spec = datasets[0].element_spec
    for other in datasets[1:]:
        if structure.types_of(other.element_spec) != structure.types_of(element_spec):
            raise TypeError("All datasets must have the same type and class.")
        element_spec = structure.most_general(element_spec, other.element_spec)
    types = {"output_types": structure.flat_types(element_spec), "output_shapes": structure.flat_shapes(element_spec)}
    variant = op("DirectedInterleaveDataset")(selector._variant_tensor, [d._variant_tensor for d in datasets], **types)
    made = structure.made_of(variant, element_spec)
    made._inputs_list = [selector, *datasets]
    return made


def choose_from_datasets(datasets: Any, choice_dataset: Any) -> Any:
    """Returns a dataset whose next element comes from the dataset with the next number.

    Args:
      datasets: A list of datasets with elements of the same types.
      choice_dataset: A dataset of scalar int64 numbers, from 0. Numbers of datasets that have ended are
        passed over.

    Returns:
      A `Dataset`.

    Raises:
      TypeError: `choice_dataset` has other elements, or the types of `datasets` differ.
      tf.errors.InvalidArgumentError: When run: there is no dataset with such a number.

    Example:
      >>> D = tf.data.Dataset
      >>> words = [D.from_tensors(word).repeat() for word in ("ha", "ho")]
      >>> chosen = tf.data.experimental.choose_from_datasets(words, D.from_tensor_slices([0, 1, 1]).map(tf.to_int64))
      >>> print(tf.Session().run(chosen.batch(9).make_one_shot_iterator().get_next()))
      [b'ha' b'ho' b'ho']
    """
    spec = choice_dataset.element_spec
    if not isinstance(spec, shapes.TensorSpec) or spec.dtype != dtypes.int64 or spec.shape.ndims != 0:
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, list(datasets))


def sample_from_datasets(datasets: Any, weights: Any = None, seed: Optional[int] = None) -> Any:
    """Returns a dataset whose next element comes from a dataset that is drawn at random.

    Args:
      datasets: A list of datasets with elements of the same types.
      weights: The probabilities of the datasets: a vector, or a dataset of vectors with one for each element.
        None is equal ones. Datasets that have ended are passed over.
      seed: The seed of the draws, together with that of the graph.

    Returns:
      A `Dataset`.

    Raises:
      TypeError: The types of `datasets` differ, or `weights` are no floats.
      ValueError: There are not as many weights as datasets.

    Example:
      >>> D = tf.data.Dataset
      >>> mixed = tf.data.experimental.sample_from_datasets([D.range(3), D.range(100, 103)], [0.3, 0.7], seed=5)
      >>> sorted(tf.Session().run(mixed.batch(9).make_one_shot_iterator().get_next()).tolist())
      [0, 1, 2, 100, 101, 102]
    """
    datasets = list(datasets)
    n = len(datasets)
    pairs = _random_pairs(seed)
    if isinstance(weights, Dataset):
        both = Dataset.zip((weights.map(lambda p: op("Log")(p, name="logits")), pairs))
        return _directed(both.map(lambda logits, pair: _draw(op("ExpandDims")(logits, 0), pair)), datasets)
    if weights is None:
        logits: Any = [[1.0] * n]
    else:
        weights = convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError("`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.")
        if not weights.shape.is_compatible_with([n]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = op("ExpandDims")(op("Log")(weights, name="logits"), 0)
    return _directed(pairs.map(lambda pair: _draw(logits, pair)), datasets)


def _random_pairs(seed: Optional[int]) -> Any:
    first, second = seeds(seed)
    numbers = op("RandomDataset")(first, second, output_types=[dtypes.int64], output_shapes=[[]])
    return structure.made_of(numbers, shapes.TensorSpec([], dtypes.int64)).batch(2)


def _draw(logits: Any, pair: Any) -> Any:
    """Returns a number with these logarithms of probabilities, a scalar."""
    return squeeze(op("StatelessMultinomial")(logits, 1, seed=pair), axis=[0, 1])


def take_while(predicate: Callable[..., Any]) -> Callable[[Any], Any]:
    """Returns a transformation to the elements before the first for which a function returns false.

    Args:
      predicate: A function of the components of an element that returns a scalar bool.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: When applied: `predicate` returns something else.

    Example:
      >>> small = tf.data.Dataset.range(9).apply(tf.data.experimental.take_while(lambda x: x * x < 10))
      >>> print(tf.Session().run(small.batch(9).make_one_shot_iterator().get_next()))
      [0 1 2 3]
    """

    def apply(dataset: Any) -> Any:
        f = Function(predicate, "tf_data_experimental_take_while", dataset.element_spec)
        leaves = structure.flatten(f.output_spec)
        if structure.is_nested(f.output_spec) or leaves[0].dtype != dtypes.bool or not leaves[0].shape.is_compatible_with([]):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        return dataset._same("TakeWhileDataset", f.captured, predicate=f.name)

    return apply


def unique() -> Callable[[Any], Any]:
    """Returns a transformation to the distinct elements, in order of first appearance.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      TypeError: When applied: elements are not single tensors of int32, int64 or strings.

    Example:
      >>> numbers = tf.data.Dataset.from_tensor_slices([3, 1, 3, 2]).apply(tf.data.experimental.unique())
      >>> print(tf.Session().run(numbers.batch(9).make_one_shot_iterator().get_next()))
      [3 1 2]
    """

    def apply(dataset: Any) -> Any:
        if dataset.output_types not in _COMPARED:
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component."
            )
        return dataset._same("UniqueDataset")

    return apply


def cardinality(dataset: Any) -> Any:
    """Returns the number of elements of a dataset, if it is known before a pass.

    Args:
      dataset: A `Dataset`.

    Returns:
      A scalar int64 tensor: -1, `INFINITE_CARDINALITY`, for a dataset without end, and -2,
      `UNKNOWN_CARDINALITY`, if the number is not known, as after a filter.

    Example:
      >>> D = tf.data.Dataset
      >>> counts = [tf.data.experimental.cardinality(d) for d in (D.range(7).batch(2), D.range(7).repeat(), D.range(7).filter(lambda x: x > 3))]
      >>> print(*tf.Session().run(counts))
      4 -1 -2
    """
    return op("DatasetCardinality")(dataset._variant_tensor)
