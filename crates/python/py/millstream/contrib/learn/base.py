"""`tf.contrib.learn.datasets.base`: data sets in files of comma-separated values."""

from __future__ import annotations

import collections
import csv
from typing import Any

import numpy as np

from millstream.framework import namespaces
from millstream.io.files import GFile

__all__ = ["Dataset", "Datasets", "load_csv_with_header", "load_csv_without_header"]

__dir__ = namespaces.dir_of(globals())

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Any:
    """Returns the rows of a file whose first line tells the numbers of rows and features.

    Args:
      filename: The path of the file.
      target_dtype: The NumPy dtype of targets.
      features_dtype: The NumPy dtype of features.
      target_column: The column of the targets.

    Returns:
      A tuple with the fields `data`, a matrix, and `target`, a vector.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "data.csv")
      >>> with open(path, "w") as out:
      ...     _ = out.write("2,2,red,blue\\n1.5,2.0,0\\n3.0,4.0,1\\n")
      >>> print(*tf.contrib.learn.datasets.base.load_csv_with_header(path, np.int64, np.float32))
      [[1.5 2. ]
       [3.  4. ]] [0 1]
    """
    with GFile(filename) as source:
        rows = csv.reader(source)
        header = next(rows)
        n_rows, n_features = int(header[0]), int(header[1])
        data = np.zeros((n_rows, n_features), dtype=features_dtype)
        target = np.zeros((n_rows,), dtype=target_dtype)
        for i, row in enumerate(rows):
            target[i] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[i] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1) -> Any:
    """Returns the rows of a file without a header.

    Args:
      filename: The path of the file.
      target_dtype: The NumPy dtype of targets.
      features_dtype: The NumPy dtype of features.
      target_column: The column of the targets.

    Returns:
      A tuple with the fields `data`, a matrix, and `target`, a vector.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "data.csv")
      >>> with open(path, "w") as out:
      ...     _ = out.write("1,2,0\\n3,4,1\\n")
      >>> print(*tf.contrib.learn.datasets.base.load_csv_without_header(path, np.int64, np.float32))
      [[1. 2.]
       [3. 4.]] [0 1]
    """
    data, target = [], []
    with GFile(filename) as source:
        for row in csv.reader(source):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target).astype(target_dtype))
