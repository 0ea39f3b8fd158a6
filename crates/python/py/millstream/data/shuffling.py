"""The order in which readers of whole folders give their rows."""

from __future__ import annotations

from typing import Any

from millstream.data.arguments import int64, seeds


def shuffle_and_repeat(dataset: Any, buffer_size: Any, count: Any = None, seed: Any = None) -> Any:
    """Returns shuffled repetitions: see `tf.data.experimental.shuffle_and_repeat`."""
    size = int64(buffer_size, "buffer_size")
    first, second = seeds(seed)
    return dataset._same("ShuffleAndRepeatDataset", size, first, second, int64(-1 if count is None else count, "count"))


def shuffled(dataset: Any, num_epochs: Any, shuffle: bool, buffer_size: Any, seed: Any) -> Any:
    """Returns the dataset, shuffled if asked and repeated unless `num_epochs` is 1."""
    if shuffle and num_epochs != 1:
        return shuffle_and_repeat(dataset, buffer_size, num_epochs, seed)
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset.repeat(num_epochs) if num_epochs != 1 else dataset
