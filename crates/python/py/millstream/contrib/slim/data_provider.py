"""`slim.data_provider`: tensors by the names of items."""

from __future__ import annotations

import abc
from typing import Any, Dict, List

__all__ = ["DataProvider"]


class DataProvider(abc.ABC):
    """The base class of providers, which have the tensors of one example by name.

    Args:
      items_to_tensors: A dict of tensors.
      num_samples: The number of examples, or None.
    """

    def __init__(self, items_to_tensors: Dict[str, Any], num_samples: Any) -> None:
        self._items_to_tensors, self._num_samples = items_to_tensors, num_samples

    def get(self, items: List[str]) -> List[Any]:
        """Returns the tensors of items.

        Raises:
          ValueError: There is no such item.
        """
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError("Item [%s] is invalid; the provider has %s" % (item, ", ".join(self._items_to_tensors)))
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Any:
        """Returns the names of all items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> Any:
        """Returns the number of examples, or None."""
        return self._num_samples
