"""`CategoricalVocabulary`: integers for words and other categories."""

from __future__ import annotations

import collections
from typing import Any, Dict, List

__all__ = ["CategoricalVocabulary"]


class CategoricalVocabulary:
    """Integers for categories, in the order in which they were first seen; 0 is that of unknown ones.

    Args:
      unknown_token: The category of 0.
      support_reverse: If true, `reverse` works.

    Example:
      >>> words = tf.contrib.learn.preprocessing.CategoricalVocabulary()
      >>> [words.get(word) for word in "one two one".split()], len(words)
      ([1, 2, 1], 3)
      >>> words.add("two", count=2)
      >>> words.add("one")
      >>> words.trim(min_frequency=1)
      >>> words.freeze()
      >>> words.get("two"), words.get("one"), words.reverse(1)
      (1, 0, 'two')
    """

    def __init__(self, unknown_token: Any = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq: Dict[Any, int] = collections.defaultdict(int)
        self._freeze = False
        self._begin()

    def _begin(self) -> None:
        self._mapping: Dict[Any, int] = {self._unknown_token: 0}
        self._reverse_mapping: List[Any] = [self._unknown_token]

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Makes new categories unknown.

        Args:
          freeze: If false, new categories get integers again.
        """
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """Returns the integer of a category. A new one gets the next, or 0 if the vocabulary is frozen.

        Args:
          category: A value that can be a key of a dict.
        """
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._append(category)
        return self._mapping[category]

    def _append(self, category: Any) -> None:
        self._mapping[category] = len(self._mapping)
        self._reverse_mapping.append(category)

    def add(self, category: Any, count: int = 1) -> None:
        """Adds to the count of a category.

        Args:
          category: The category.
          count: What is added.
        """
        if 0 < self.get(category):
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Removes rare and frequent categories, and numbers the others again, the most frequent first.

        Args:
          min_frequency: Categories counted this often or less are removed.
          max_frequency: Categories counted this often or more are removed, if it is positive.
        """
        # Of equally frequent ones, the numbers come first, and then the words in their order.
        order = sorted(self._freq.items(), key=lambda item: (-item[1], isinstance(item[0], str), item[0]))
        self._begin()
        for category, count in order:
            if min_frequency < count and not 0 < max_frequency <= count:
                self._append(category)
        self._freq = dict(order[: len(self._mapping) - 1])

    def reverse(self, class_id: int) -> Any:
        """Returns the category of an integer.

        Args:
          class_id: The integer.

        Raises:
          ValueError: The vocabulary was made with `support_reverse=False`.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]
