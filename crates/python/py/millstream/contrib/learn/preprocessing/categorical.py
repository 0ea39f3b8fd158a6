"""`CategoricalProcessor`: columns of categories as integers."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Optional

import numpy as np

from millstream.contrib.learn.preprocessing.categorical_vocabulary import CategoricalVocabulary

__all__ = ["CategoricalProcessor", "CategoricalVocabulary"]


class CategoricalProcessor:
    """Rows of categories as integers, by a vocabulary for each column. NaN is unknown.

    Args:
      min_frequency: Categories seen this often or less while fitting are unknown.
      share: If true, the columns share one vocabulary.
      vocabularies: The vocabularies; by default they are new.

    Example:
      >>> processor = tf.contrib.learn.preprocessing.CategoricalProcessor()
      >>> rows = processor.fit_transform([["a", "x"], ["b", "x"], [float("nan"), "y"]])
      >>> [row.tolist() for row in rows]
      [[1, 1], [2, 1], [0, 2]]
      >>> processor.freeze(False)
    """

    def __init__(self, min_frequency: int = 0, share: bool = False, vocabularies: Optional[List[CategoricalVocabulary]] = None) -> None:
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Makes new categories unknown, or known again.

        Args:
          freeze: If false, they get integers again.
        """
        for vocabulary in self.vocabularies_ or []:
            vocabulary.freeze(freeze)

    def fit(self, x: Iterable[Any], unused_y: Any = None) -> "CategoricalProcessor":
        """Gives integers to the categories in rows, after which others are unknown.

        Args:
          x: The rows.
          unused_y: Ignored.

        Returns:
          The processor.
        """
        for row in x:
            if self.vocabularies_ is None:
                shared = CategoricalVocabulary()
                self.vocabularies_ = [shared if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row):
                if value == value:
                    vocabulary.add(value)
        if 0 < self.min_frequency:
            for vocabulary in self.vocabularies_ or []:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Iterable[Any], unused_y: Any = None) -> Iterator[Any]:
        """Fits the rows, and yields their arrays.

        Args:
          x: The rows; they are read twice.
          unused_y: Ignored.
        """
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """Yields an array of `int64` for each row.

        Args:
          x: The rows.
        """
        self.freeze()
        for row in x:
            pairs = zip(self.vocabularies_ or [], row)
            yield np.array([vocabulary.get(v) if v == v else 0 for vocabulary, v in pairs], dtype=np.int64)
