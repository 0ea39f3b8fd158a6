"""`tensorflow.examples.tutorials.mnist.input_data`: the handwritten digits that many tutorials train on.

The four files are read from a folder. Nothing is downloaded: an error names the files that are missing and
their addresses. Batches come in the order of TensorFlow 1.15, which is that of NumPy's global random numbers.
"""

from __future__ import annotations

import collections
import gzip
import os
import struct
from typing import Any, Optional, Tuple

import numpy as np

from millstream.framework import dtypes, errors
from millstream.ops.random_ops import get_seed

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"

Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


class DataSet:
    """Pictures and their labels, in batches.

    Args:
      images: An array of bytes of shape `[n, rows, columns, 1]`.
      labels: An array of length n.
      fake_data: If true, batches hold made-up values, for tests.
      one_hot: If true, labels are rows with a one at the digit's place.
      dtype: `uint8`, or `float32` for numbers from 0 to 1.
      reshape: If true, a picture is a vector.
      seed: A seed; see `tf.set_random_seed`.

    Raises:
      TypeError: The dtype is another one.
    """

    def __init__(
        self, images: Any, labels: Any, fake_data: bool = False, one_hot: bool = False, dtype: Any = dtypes.float32, reshape: bool = True, seed: Any = None
    ) -> None:
        of_graph, of_op = get_seed(seed)
        np.random.seed(of_graph if seed is None else of_op)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError("Invalid image dtype %r, expected uint8 or float32" % dtype)
        self.one_hot, self._fake = one_hot, fake_data
        self._epochs_completed = self._index_in_epoch = 0
        self._num_examples = 10000 if fake_data else len(images)
        if not fake_data:
            if len(images) != len(labels):
                raise AssertionError("images.shape: %s labels.shape: %s" % (images.shape, labels.shape))
            images = images.reshape(len(images), -1) if reshape else images
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels

    images = property(lambda self: self._images, doc="The pictures.")
    labels = property(lambda self: self._labels, doc="The labels.")
    num_examples = property(lambda self: self._num_examples, doc="The number of pictures.")
    epochs_completed = property(lambda self: self._epochs_completed, doc="How often all pictures have been given.")

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> Tuple[Any, Any]:
        """Returns the next pictures and labels. Each pass has another order."""
        if fake_data or self._fake:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch = end = start + batch_size
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        last = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end = batch_size - len(last[0])
        return np.concatenate([last[0], self._images[:end]]), np.concatenate([last[1], self._labels[:end]])

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


_FILES = tuple("%s-%s-ubyte.gz" % (what, kind) for what in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))


def _check_files(folder: str, url: str) -> None:
    """Raises `NotFoundError` if files are missing in the folder."""
    missing = [name for name in _FILES if not os.path.exists(os.path.join(folder, name))]
    if missing:
        raise errors.NotFoundError(
            None, None, "MNIST's files %s are not in the folder %r, and nothing is downloaded: put them there; they are at %s" % (", ".join(missing), folder, url)
        )


def _array(path: str, magic: int) -> np.ndarray:
    """Returns the array in a file, whose head names its kind and its dimensions."""
    with gzip.open(path, "rb") as source:
        data = source.read()
    found, = struct.unpack_from(">I", data)
    if found != magic:
        raise ValueError("Invalid magic number %d in MNIST file: %s" % (found, path))
    rank = magic & 0xFF
    dims = struct.unpack_from(">%dI" % rank, data, 4)
    return np.frombuffer(data, np.uint8, int(np.prod(dims)), 4 + 4 * rank).reshape(dims)


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: Optional[int] = None,
    source_url: Optional[str] = DEFAULT_SOURCE_URL,
) -> Any:
    """Returns the `DataSet`s for training, validation and testing.

    Raises:
      tf.errors.NotFoundError: A file is missing in `train_dir`; `source_url` is part of the message.
      ValueError: The folder's files are of another kind, or `validation_size` is more than there is.
    """
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in range(3)))

    def pair(what: str) -> Any:
        files = (name for name in _FILES if name.startswith(what))
        images, labels = (_array(os.path.join(train_dir, name), magic) for name, magic in zip(files, (2051, 2049)))
        return images[..., None], np.eye(10)[labels] if one_hot else labels

    _check_files(train_dir, source_url or DEFAULT_SOURCE_URL)
    images, labels = pair("train")
    if not 0 <= validation_size <= len(images):
        raise ValueError("Validation size should be between 0 and {}. Received: {}.".format(len(images), validation_size))
    n = validation_size
    parts = (images[n:], labels[n:]), (images[:n], labels[:n]), pair("t10k")
    return Datasets(*(DataSet(x, y, False, one_hot, dtype, reshape, seed) for x, y in parts))


def load_mnist(train_dir: str = "MNIST-data") -> Any:
    """Returns the data sets of `read_data_sets`."""
    return read_data_sets(train_dir)
