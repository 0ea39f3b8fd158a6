"""The classes of `python.client.session` that take fetches apart and put results together. `NAMES`.

Sessions of Millstream do this in the engine; programs that wrap sessions use these classes.
"""

from __future__ import annotations

import collections.abc
from typing import Any, Callable, Dict, List, Sequence

from millstream._engine import Operation, Tensor
from millstream.framework.graph import get_default_graph
from millstream.framework.session import expand


class _FetchMapper:
    """A map from a structure of fetches to their distinct elements, and back from values to a structure."""

    def unique_fetches(self) -> List[Any]:
        """Returns the distinct tensors and operations of the structure."""
        raise NotImplementedError("Must be implemented by subclasses")

    def build_results(self, values: Sequence[Any]) -> Any:
        """Returns the structure of values of `unique_fetches`."""
        raise NotImplementedError("Must be implemented by subclasses")

    @staticmethod
    def for_fetch(fetch: Any) -> "_FetchMapper":
        """Returns the map of a structure.

        Raises:
          TypeError: It is not a fetch, nor made of such.
        """
        if fetch is None:
            raise TypeError("Fetch argument %r has invalid type %r" % (fetch, type(fetch)))
        if hasattr(type(fetch), "__attrs_attrs__"):
            return _AttrsFetchMapper(fetch)
        if isinstance(fetch, (list, tuple)):
            return _ListFetchMapper(fetch)
        if isinstance(fetch, collections.abc.Mapping):
            return _DictFetchMapper(fetch)
        if isinstance(fetch, (str, bytes, Tensor, Operation)):
            return _ElementFetchMapper([fetch], lambda values: values[0])
        parts, together = expand(fetch)
        return _ElementFetchMapper(parts, together)


class _ElementFetchMapper(_FetchMapper):
    """The map of a fetch that is one tensor, or a few of one object."""

    def __init__(self, fetches: Sequence[Any], contraction_fn: Callable[[List[Any]], Any]) -> None:
        self._unique_fetches: List[Any] = []
        graph = get_default_graph()
        for fetch in fetches:
            try:
                self._unique_fetches.append(graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True))
            except TypeError as e:
                raise TypeError("Fetch argument %r has invalid type %r, must be a string or Tensor. (%s)" % (fetch, type(fetch), e)) from None
            except (KeyError, ValueError) as e:
                told = e if not e.args else e.args[0]
                raise ValueError("Fetch argument %r cannot be interpreted as a Tensor. (%s)" % (fetch, repr(told) if isinstance(e, KeyError) else told)) from None
        self._contraction_fn = contraction_fn

    def unique_fetches(self) -> List[Any]:
        """Returns the tensors."""
        return self._unique_fetches

    def build_results(self, values: Sequence[Any]) -> Any:
        """Returns the value of the fetch; None of an operation."""
        return self._contraction_fn(list(values)) if values else None


def _uniquify(mappers: Sequence[_FetchMapper]) -> Any:
    """Returns the distinct fetches of several maps, and for each map the places of its own in them."""
    unique: List[Any] = []
    places: Dict[Any, int] = {}
    indices = []
    for mapper in mappers:
        own = []
        for fetch in mapper.unique_fetches():
            if fetch not in places:
                places[fetch] = len(unique)
                unique.append(fetch)
            own.append(places[fetch])
        indices.append(own)
    return unique, indices


class _StructureFetchMapper(_FetchMapper):
    """The map of a structure of fetches."""

    def __init__(self, fetches: Sequence[Any]) -> None:
        self._mappers = [_FetchMapper.for_fetch(fetch) for fetch in fetches]
        self._unique_fetches, self._value_indices = _uniquify(self._mappers)

    def unique_fetches(self) -> List[Any]:
        """Returns the distinct fetches."""
        return self._unique_fetches

    def _results(self, values: Sequence[Any]) -> List[Any]:
        return [m.build_results([values[j] for j in own]) for m, own in zip(self._mappers, self._value_indices)]


class _ListFetchMapper(_StructureFetchMapper):
    """The map of a list, a tuple or a named tuple."""

    def __init__(self, fetches: Sequence[Any]) -> None:
        self._fetch_type = type(fetches)
        super().__init__(fetches)

    def build_results(self, values: Sequence[Any]) -> Any:
        """Returns a list or tuple like that of the fetches."""
        results = self._results(values)
        if self._fetch_type is list:
            return results
        return tuple(results) if self._fetch_type is tuple else self._fetch_type(*results)


class _DictFetchMapper(_StructureFetchMapper):
    """The map of a dict."""

    def __init__(self, fetches: Any) -> None:
        self._fetch_type = type(fetches)
        self._keys = list(fetches.keys())
        super().__init__(list(fetches.values()))

    def build_results(self, values: Sequence[Any]) -> Any:
        """Returns a dict like that of the fetches."""
        results = self._fetch_type()
        for key, value in zip(self._keys, self._results(values)):
            results[key] = value
        return results


class _AttrsFetchMapper(_StructureFetchMapper):
    """The map of an object of a class of `attrs`."""

    def __init__(self, fetches: Any) -> None:
        self._fetch_type = type(fetches)
        super().__init__([getattr(fetches, field.name) for field in type(fetches).__attrs_attrs__])

    def build_results(self, values: Sequence[Any]) -> Any:
        """Returns an object of the class."""
        return self._fetch_type(*self._results(values))


class _FetchHandler:
    """The fetches of a run: what the engine computes, and the structure of the results.

    Args:
      graph: The graph of the session.
      fetches: A structure of fetches.
      feeds: The values of tensors that are fed, by tensor.
      feed_handles: Ignored: values in the engine are fetched as others.
    """

    def __init__(self, graph: Any, fetches: Any, feeds: Dict[Any, Any], feed_handles: Any = None) -> None:
        with graph.as_default():
            self._fetch_mapper = _FetchMapper.for_fetch(fetches)
        self._feeds = dict(feeds)
        self._is_operation = [isinstance(fetch, Operation) for fetch in self._fetch_mapper.unique_fetches()]
        unique = self._fetch_mapper.unique_fetches()
        self._targets = [f for f, is_op in zip(unique, self._is_operation) if is_op]
        self._final_fetches = [f for f, is_op in zip(unique, self._is_operation) if not is_op and f not in self._feeds]

    def fetches(self) -> List[Any]:
        """Returns the tensors to compute: those that are not fed."""
        return self._final_fetches

    def targets(self) -> List[Any]:
        """Returns the operations to run."""
        return self._targets

    def build_results(self, session: Any, tensor_values: Sequence[Any]) -> Any:
        """Returns the structure of the results of a run, given the values of `fetches()`.

        Args:
          session: Ignored.
          tensor_values: The values, in the order of `fetches()`.
        """
        given = iter(tensor_values)
        values: List[Any] = []
        for fetch, is_operation in zip(self._fetch_mapper.unique_fetches(), self._is_operation):
            if is_operation:
                values.append(None)
            else:
                values.append(self._feeds[fetch] if fetch in self._feeds else next(given))
        return self._fetch_mapper.build_results(values)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.client.session": {
        cls.__name__: cls for cls in (_AttrsFetchMapper, _DictFetchMapper, _ElementFetchMapper, _FetchHandler, _FetchMapper, _ListFetchMapper)
    },
}
NAMES["python.client.session"]["_uniquify_fetches"] = _uniquify
