"""`slim.data_decoder`: what turns a record into tensors."""

from __future__ import annotations

import abc
from typing import Any, List, Optional

__all__ = ["DataDecoder"]


class DataDecoder(abc.ABC):
    """The base class of decoders: a record holds items, each a tensor with a name.

    Example:
      >>> from millstream.contrib import slim
      >>> class Words(slim.data_decoder.DataDecoder):
      ...     def decode(self, data, items):
      ...         return [tf.string_split([data]).values for _ in items]
      ...     def list_items(self):
      ...         return ["words"]
      >>> print(tf.Session().run(Words().decode("a b", ["words"])))
      [array([b'a', b'b'], dtype=object)]
    """

    @abc.abstractmethod
    def decode(self, data: Any, items: Optional[List[str]]) -> List[Any]:
        """Returns the tensors of the items in a record, a string scalar."""

    @abc.abstractmethod
    def list_items(self) -> List[str]:
        """Returns the names of all items."""
