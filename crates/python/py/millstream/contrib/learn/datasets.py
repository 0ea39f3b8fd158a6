"""`tf.contrib.learn.datasets`: the digits of MNIST, and `base`: tables in files."""

from __future__ import annotations

from typing import Any

from millstream.contrib.learn import base as base
from millstream.programs import mnist as mnist

__all__ = ["base", "load_dataset", "mnist"]


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """Returns the data set of a name.

    Args:
      name: `"mnist"`, whose files are in the folder `MNIST-data`.
      size: Ignored.
      test_with_fake_data: Ignored.

    Raises:
      ValueError: There is no such data set.

    Example:
      >>> tf.contrib.learn.datasets.load_dataset("iris")
      Traceback (most recent call last):
        ...
      ValueError: Name of dataset is not found: iris. Millstream has `mnist` alone
    """
    if name != "mnist":
        raise ValueError("Name of dataset is not found: %s. Millstream has `mnist` alone" % name)
    return mnist.load_mnist()
