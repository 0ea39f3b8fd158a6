"""`parallel_interleave`: elements of several datasets in turns."""

from __future__ import annotations

from typing import Any, Callable

from millstream.data.arguments import int64, must_be_dataset
from millstream.data.functions import Function
from millstream.framework import convert_to_tensor, dtypes


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Callable[[Any], Any]:
    """Returns a transformation to the elements of the datasets that a function returns, in turns.

    Args:
      map_func: A function of the components of an element that returns a `Dataset`.
      cycle_length: The number of datasets that take turns.
      block_length: The number of elements in a turn.
      sloppy: Whether the order may differ; it does not.
      buffer_output_elements: Ignored but checked.
      prefetch_input_elements: The number of datasets that wait for their turn; None is twice `cycle_length`.

    Returns:
      A function for `Dataset.apply`.

    Example:
      >>> D = tf.data.Dataset
      >>> dataset = D.range(3).apply(tf.data.experimental.parallel_interleave(lambda n: D.from_tensors(n).repeat(2), 2))
      >>> print(tf.Session().run(dataset.batch(9).make_one_shot_iterator().get_next()))
      [0 1 0 1 2 2]
    """

    def apply(dataset: Any) -> Any:
        f = Function(map_func, "tf_data_experimental_parallel_interleave", dataset.element_spec, returns=must_be_dataset)
        inputs = (
            int64(cycle_length, "cycle_length"),
            int64(block_length, "block_length"),
            convert_to_tensor(sloppy, dtype=dtypes.bool, name="sloppy"),
            int64(2 * block_length if buffer_output_elements is None else buffer_output_elements, "buffer_output_elements"),
            int64(2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements, "prefetch_input_elements"),
        )
        return dataset._to("ParallelInterleaveDataset", f.output.element_spec, f.captured, *inputs, f=f.name)

    return apply
