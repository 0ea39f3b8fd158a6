"""Static shapes: `TensorShape` and `Dimension`; and `TensorSpec`, a shape with a dtype.

A shape may be unknown entirely (`TensorShape(None)`) or in some dimensions (`TensorShape([None, 3])`). As in
TensorFlow 1, iterating over a shape gives `Dimension` objects; after `enable_v2_tensorshape` it gives
numbers.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple, Union

from millstream._engine import Tensor
from millstream.framework import dtypes, protos

_v2_behavior = False


def enable_v2_tensorshape() -> None:
    """Makes `shape[i]` and iteration return numbers (or None), as in TensorFlow 2."""
    global _v2_behavior
    _v2_behavior = True


def disable_v2_tensorshape() -> None:
    """Restores TensorFlow 1's behaviour: `shape[i]` is a `Dimension`."""
    global _v2_behavior
    _v2_behavior = False


def _number(value: Any) -> Optional[int]:
    """Returns a dimension's value; None if unknown."""
    if value is None:
        return None
    if type(value) is int:
        number = value
    elif isinstance(value, Dimension):
        return value._value
    elif isinstance(value, dtypes.DType):
        raise TypeError(f"Cannot convert {value} to Dimension")
    else:
        number = int(value)
        if not isinstance(value, (str, bytes)) and number != value:
            raise ValueError(f"Ambiguous dimension: {value}")
    if number < 0:
        raise ValueError(f"Dimension {number} must be >= 0")
    return number


def _binary(function: Callable[[int, int], int], swapped: bool = False, strict: bool = False) -> Callable[[Any, Any], Any]:
    """Arithmetic of dimensions, unknown if either is.

    Other types give `NotImplemented`, or raise if `strict`.
    """

    def apply(self: "Dimension", other: Any) -> Any:
        try:
            other = as_dimension(other)._value
        except (TypeError, ValueError):
            if strict:
                raise
            return NotImplemented
        if self._value is None or other is None:
            return Dimension(None)
        return Dimension(function(other, self._value) if swapped else function(self._value, other))

    return apply


def _mirrored(function: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    """A commutative operator with its operands exchanged; errors mention `Dimension` first."""
    return lambda self, other: function(self, other)


def _no_division(swapped: bool) -> Callable[[Any, Any], Any]:
    def refuse(self: "Dimension", other: Any) -> Any:
        left, right = (other, self) if swapped else (self, other)
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(left).__name__}' and '{type(right).__name__}', please use // instead"
        )

    return refuse


def _order(function: Callable[[int, int], bool]) -> Callable[[Any, Any], Optional[bool]]:
    def compare(self: "Dimension", other: Any) -> Optional[bool]:
        other = as_dimension(other)._value
        return None if self._value is None or other is None else function(self._value, other)

    return compare


class Dimension:
    """A dimension of a shape: `value` is an int, or None if unknown.

    Arithmetic and comparisons accept dimensions, ints and None; an unknown operand gives an unknown
    dimension, or None.

    Args:
      value: A nonnegative int, a `Dimension`, or None.

    Raises:
      ValueError: `value` is negative, or not an integer.

    Example:
      >>> d = tf.Dimension(3)
      >>> d.value, d + 1, d * None, d == 3, d == tf.Dimension(None), d < 5
      (3, Dimension(4), Dimension(None), True, None, True)
      >>> d.is_compatible_with(None), d.is_compatible_with(4), d.merge_with(None)
      (True, False, Dimension(3))
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = _number(value)

    @property
    def value(self) -> Optional[int]:
        """The value, or None."""
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        """Returns whether both may be equal: they are, or one is unknown."""
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises unless both may be equal.

        Raises:
          ValueError: Both are known and differ.

        Example:
          >>> tf.Dimension(3).assert_is_compatible_with(4)
          Traceback (most recent call last):
            ...
          ValueError: Dimensions 3 and 4 are not compatible
        """
        # NotImplemented, for values that are not dimensions, is not a refusal.
        if self.is_compatible_with(other) is False:
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> "Dimension":
        """Returns the combination of both dimensions.

        Returns:
          A `Dimension`: the known one, if one is.

        Raises:
          ValueError: Both are known and differ.

        Example:
          >>> tf.Dimension(None).merge_with(4)
          Dimension(4)
        """
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def __eq__(self, other: Any) -> Any:
        try:
            other = as_dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or other is None else self._value == other

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return equal if equal in (None, NotImplemented) else not equal

    # Equality may be None for unknown dimensions, so dimensions have no hash.
    __hash__ = None  # type: ignore[assignment]

    __lt__ = _order(operator.lt)
    __le__ = _order(operator.le)
    __gt__ = _order(operator.gt)
    __ge__ = _order(operator.ge)

    __add__ = _binary(operator.add)
    __radd__ = _mirrored(operator.add)
    __sub__ = _binary(operator.sub)
    __rsub__ = _binary(operator.sub, swapped=True, strict=True)
    __floordiv__ = _binary(operator.floordiv)
    __rfloordiv__ = _binary(operator.floordiv, swapped=True, strict=True)
    __mod__ = _binary(operator.mod, strict=True)
    __rmod__ = _binary(operator.mod, swapped=True)
    __mul__ = _binary(operator.mul)
    __rmul__ = _mirrored(operator.mul)
    __truediv__ = _no_division(swapped=False)
    __rtruediv__ = _no_division(swapped=True)
    # Python 2's division, which old programs call by name.
    __div__ = __floordiv__
    __rdiv__ = __rfloordiv__

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    __long__ = __int__

    # Allows `range(dimension)` and `items[dimension]`.
    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __reduce__(self) -> Any:
        return Dimension, (self._value,)


def as_dimension(value: Any) -> Dimension:
    """Converts a value to a `Dimension`; dimensions are returned unchanged."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Any) -> Optional[int]:
    """Returns the number of a `Dimension` (TensorFlow 1), or a number unchanged (TensorFlow 2).

    Args:
      dimension: A `Dimension`, an int or None.

    Returns:
      An int or None.

    Example:
      >>> tf.compat.dimension_value(tf.TensorShape([2, None])[0]), tf.compat.dimension_value(3)
      (2, 3)
    """
    return dimension._value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: "TensorShape", index: int) -> Dimension:
    """Returns `shape[index]` as a `Dimension` in either behaviour; an unknown one if the rank is unknown.

    Args:
      shape: A `TensorShape`.
      index: An int.

    Returns:
      A `Dimension`.

    Example:
      >>> tf.dimension_at_index(tf.TensorShape([2, 3]), 1), tf.dimension_at_index(tf.TensorShape(None), 0)
      (Dimension(3), Dimension(None))
    """
    return Dimension(None) if shape._dims is None else Dimension(shape._dims[index])


Dims = Optional[Tuple[Optional[int], ...]]
ShapeLike = Union["TensorShape", None, int, Dimension, Sequence[Any]]


class TensorShape:
    """A static shape: known fully, partially, or not at all.

    Args:
      dims: A list of ints, `Dimension`s and None; a `TensorShape`; a `TensorShapeProto`; an int for a vector;
        or None for an unknown rank.

    Raises:
      TypeError: `dims` is a string, or has an element that is not a dimension.
      ValueError: A dimension is negative.

    Example:
      >>> s = tf.TensorShape([None, 3])
      >>> print(s, s.rank, s.ndims, s.as_list(), s[1], s[1:], len(s), tf.TensorShape(None))
      (?, 3) 2 2 [None, 3] 3 (3,) 2 <unknown>
      >>> s.dims, s.is_fully_defined(), s.num_elements(), tf.TensorShape([2, 3]).num_elements()
      ([Dimension(None), Dimension(3)], False, None, 6)
      >>> s.merge_with([2, None])
      TensorShape([Dimension(2), Dimension(3)])
    """

    __slots__ = ("_dims",)

    _dims: Dims

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (str, bytes)):
            raise TypeError(f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {dims!s}")
        elif _is_shape_proto(dims):
            sizes = (None if d.size == -1 else d.size for d in dims.dim)
            self._dims = None if dims.unknown_rank else tuple(sizes)
        else:
            try:
                entries = iter(dims)
            except TypeError:
                self._dims = (_number(dims),)
            else:
                self._dims = tuple([_number(d) for d in entries])

    @classmethod
    def _of(cls, dims: Dims) -> "TensorShape":
        # Skips checks, for values known to be valid, such as those from the engine.
        shape = object.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> Optional[int]:
        """The number of dimensions; None if unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> Optional[int]:
        """The former name of `rank`."""
        return self.rank

    @property
    def dims(self) -> Optional[List[Dimension]]:
        """The dimensions; None if the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def _v2_behavior(self) -> bool:
        return _v2_behavior

    def as_list(self) -> List[Any]:
        """Returns the dimensions as a list of ints, None where unknown.

        Raises:
          ValueError: The rank is unknown.

        Example:
          >>> tf.TensorShape([2, None]).as_list()
          [2, None]
          >>> tf.TensorShape(None).as_list()
          Traceback (most recent call last):
            ...
          ValueError: as_list() is not defined on an unknown TensorShape.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def _known_dims(self) -> List[int]:
        """Returns the dimensions, all of which must be known."""
        return [int(d) for d in self.as_list()]

    def as_proto(self) -> Any:
        """Returns the shape as a `TensorShapeProto`.

        Example:
          >>> tf.TensorShape([2, None]).as_proto().dim[1].size
          -1
        """
        if self._dims is None:
            return protos.TensorShapeProto(unknown_rank=True)
        sizes = (-1 if d is None else d for d in self._dims)
        return protos.TensorShapeProto(dim=[protos.TensorShapeProto.Dim(size=s) for s in sizes])

    def num_elements(self) -> Optional[int]:
        """Returns the number of elements; None unless the shape is fully defined."""
        if not self.is_fully_defined():
            return None
        product = 1
        for d in self._dims or ():
            product *= d or 0
        return product

    def is_fully_defined(self) -> bool:
        """Returns whether the rank and every dimension are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Returns whether one tensor could have both shapes.

        Example:
          >>> s = tf.TensorShape([None, 3])
          >>> (s.is_compatible_with([2, 3]), s.is_compatible_with([2, 4]), s.is_compatible_with([3]),
          ...  s.is_compatible_with(None))
          (True, False, False, True)
        """
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return True
        return len(self._dims) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, theirs)
        )

    def merge_with(self, other: Any) -> "TensorShape":
        """Returns the combination of both shapes.

        Args:
          other: A shape, or a value that converts to one.

        Returns:
          A `TensorShape`.

        Raises:
          ValueError: The shapes are incompatible.

        Example:
          >>> tf.TensorShape([None, 3]).merge_with([2, None])
          TensorShape([Dimension(2), Dimension(3)])
          >>> tf.TensorShape([2, 3]).merge_with([3, 3])
          Traceback (most recent call last):
            ...
          ValueError: Shapes (2, 3) and (3, 3) are not compatible
        """
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape._of(tuple(b if a is None else a for a, b in zip(self._dims, other._dims)))

    def concatenate(self, other: Any) -> "TensorShape":
        """Returns the dimensions of this shape followed by those of `other`; unknown if either rank is.

        Example:
          >>> tf.TensorShape([2]).concatenate([None, 3])
          TensorShape([Dimension(2), Dimension(None), Dimension(3)])
        """
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape._of(self._dims + other._dims)

    def most_specific_compatible_shape(self, other: Any) -> "TensorShape":
        """Returns the most specific shape that both are compatible with.

        Example:
          >>> tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
          TensorShape([Dimension(2), Dimension(None)])
        """
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None or len(self._dims) != len(theirs):
            return TensorShape(None)
        return TensorShape._of(tuple(a if a == b else None for a, b in zip(self._dims, theirs)))

    def with_rank(self, rank: int) -> "TensorShape":
        """Returns the shape with rank `rank`.

        Raises:
          ValueError: The shape has another rank.

        Example:
          >>> tf.TensorShape(None).with_rank(2)
          TensorShape([Dimension(None), Dimension(None)])
        """
        if self._dims is None:
            return unknown_shape(rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> "TensorShape":
        """Returns the shape, which must have rank `rank` or more.

        Raises:
          ValueError: The rank is known to be less.

        Example:
          >>> tf.TensorShape([2, 3]).with_rank_at_least(1)
          TensorShape([Dimension(2), Dimension(3)])
        """
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> "TensorShape":
        """Returns the shape, which must have rank `rank` or less.

        Raises:
          ValueError: The rank is known to be greater.

        Example:
          >>> tf.TensorShape([2, 3]).with_rank_at_most(1)
          Traceback (most recent call last):
            ...
          ValueError: Shape (2, 3) must have rank at most 1
        """
        if self._dims is not None and rank < len(self._dims):
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises if the shape has another rank.

        Raises:
          ValueError: The rank is known to differ.

        Example:
          >>> tf.TensorShape([2, 3]).assert_has_rank(3)
          Traceback (most recent call last):
            ...
          ValueError: Shape (2, 3) must have rank 3
        """
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raises if the shapes have different ranks.

        Raises:
          ValueError: Both ranks are known and differ.

        Example:
          >>> tf.TensorShape([2, 3]).assert_same_rank([5])
          Traceback (most recent call last):
            ...
          ValueError: Shapes (2, 3) and (5,) must have the same rank
        """
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises unless one tensor could have both shapes.

        Raises:
          ValueError: The shapes are incompatible.

        Example:
          >>> tf.TensorShape([None, 3]).assert_is_compatible_with([2, 4])
          Traceback (most recent call last):
            ...
          ValueError: Shapes (?, 3) and [2, 4] are incompatible
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raises unless the shape is fully defined.

        Raises:
          ValueError: The rank or a dimension is unknown.

        Example:
          >>> tf.TensorShape([None, 3]).assert_is_fully_defined()
          Traceback (most recent call last):
            ...
          ValueError: Shape (?, 3) is not fully defined
        """
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims) if _v2_behavior else iter([Dimension(d) for d in self._dims])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._part(key)
        if self._dims is None:
            return None if _v2_behavior else Dimension(None)
        try:
            size = self._dims[key]
        except IndexError:
            raise IndexError("list index out of range") from None
        return size if _v2_behavior else Dimension(size)

    def _part(self, key: slice) -> "TensorShape":
        if self._dims is not None:
            return TensorShape._of(self._dims[key])
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = key.start or 0
        if key.stop is None or start < 0 or key.stop < 0:
            return TensorShape(None)
        return unknown_shape(max(0, key.stop - start))

    def __add__(self, other: Any) -> "TensorShape":
        return self.concatenate(other)

    def __radd__(self, other: Any) -> "TensorShape":
        return as_shape(other).concatenate(self)

    __concat__ = __add__

    def __eq__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        # Unknown dimensions are not equal, unless both are the same object.
        return self._dims is other._dims or (self._dims == other._dims and self.is_fully_defined())

    def __ne__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._dims is None or other._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    # As in TensorFlow 1: equality depends on what is known, so shapes have no hash.
    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        if _v2_behavior:
            return str(self._dims)
        if len(self._dims) == 1:
            return f"({Dimension(self._dims[0])},)"
        return "(" + ", ".join("?" if d is None else str(d) for d in self._dims) + ")"

    def __repr__(self) -> str:
        if self._dims is None:
            return "TensorShape(None)"
        if _v2_behavior:
            return f"TensorShape({list(self._dims)!r})"
        return "TensorShape([" + ", ".join(f"Dimension({d})" for d in self._dims) + "])"

    def __reduce__(self) -> Any:
        return TensorShape, (self.dims,)


def _is_shape_proto(value: Any) -> bool:
    # Tested by name, since the message may be of this package or of another library that has the type.
    descriptor = getattr(type(value), "DESCRIPTOR", None)
    return getattr(descriptor, "full_name", None) == "tensorflow.TensorShapeProto"


def as_shape(shape: Any) -> TensorShape:
    """Converts a value to a `TensorShape`; shapes are returned unchanged."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: Optional[int] = None, **kwargs: Any) -> TensorShape:
    """Returns a shape of known rank and unknown dimensions, or an unknown shape."""
    if rank is None and "ndims" in kwargs:
        rank = kwargs.pop("ndims")
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return TensorShape(None) if rank is None else TensorShape._of((None,) * rank)


def scalar() -> TensorShape:
    """The former name of `TensorShape([])`."""
    return TensorShape([])


def vector(length: Any) -> TensorShape:
    """The former name of `TensorShape([length])`."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The former name of `TensorShape([rows, cols])`."""
    return TensorShape([rows, cols])


# Functions that return the type of a value, or None for a value of another class; the last one is asked
# first.
spec_makers: List[Callable[[Any], Any]] = []


class TypeSpec:
    """The base of the types of tensors and of structures of them: `tf.TensorSpec`, `tf.SparseTensorSpec`.

    A subclass defines `value_type`, and `_serialize`, which returns the arguments of its constructor; and,
    for values that consist of tensors, `_component_specs`, `_to_components` and `_from_components`.

    Example:
      >>> isinstance(tf.TensorSpec([2]), tf.TypeSpec)
      True
      >>> class Pair(tf.TypeSpec):
      ...     def __init__(self, shape): self.shape = tf.TensorShape(shape)
      ...     value_type = tuple
      ...     def _serialize(self): return (self.shape,)
      >>> Pair([2]) == Pair([2]), Pair([2]).is_compatible_with(Pair([3])), Pair([2, 3]).most_specific_compatible_type(Pair([2, 4])).shape
      (True, False, TensorShape([Dimension(2), Dimension(None)]))
    """

    __slots__ = ()

    @property
    def value_type(self) -> Any:
        """The class of values of this type.

        Raises:
          NotImplementedError: A subclass does not define it.

        Example:
          >>> tf.SparseTensorSpec([2]).value_type is tf.SparseTensor
          True
        """
        raise NotImplementedError("%s.value_type" % type(self).__name__)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a value, or one of another type, could be of this type."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_of(spec_or_value)
        return type(self) is type(other) and _are_compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other: Any) -> Any:
        """Returns the most specific type that both are compatible with.

        Raises:
          ValueError: The classes differ, or another part than a shape does.
        """
        if type(self) is not type(other):
            raise ValueError("No TypeSpec is compatible with both %s and %s" % (self, other))
        return self._deserialize(_most_specific(self._serialize(), other._serialize()))

    # What subclasses define.

    def _serialize(self) -> Any:
        raise NotImplementedError("%s._serialize()" % type(self).__name__)

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        return cls(*serialization)

    @property
    def _component_specs(self) -> Any:
        raise NotImplementedError("%s._component_specs()" % type(self).__name__)

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError("%s._to_components()" % type(self).__name__)

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError("%s._from_components()" % type(self).__name__)

    # The value as a list of tensors.

    def _to_tensor_list(self, value: Any) -> List[Any]:
        return _leaves_of(self._to_components(value))

    def _from_tensor_list(self, tensor_list: Any) -> Any:
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list):
            raise ValueError("Incompatible input: wrong number of tensors: expected %d, found %d" % (len(specs), len(tensor_list)))
        for i, (spec, tensor) in enumerate(zip(specs, tensor_list)):
            if not spec.is_compatible_with(tensor):
                raise ValueError("Incompatible input: tensor %d (%s) is incompatible with %s" % (i, tensor, spec))
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Any) -> Any:
        rest = iter(tensor_list)
        return self._from_components(_packed(self._component_specs, rest))

    @property
    def _flat_tensor_specs(self) -> List[Any]:
        return _leaves_of(self._component_specs)

    def _with_tensor_ranks_only(self) -> Any:
        """Returns the type with the ranks of shapes only."""
        return self._deserialize(_ranks_only(self._serialize()))

    # Types as keys.

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _as_key(self._serialize()) == _as_key(other._serialize())  # type: ignore[attr-defined]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), _as_key(self._serialize())))

    def __reduce__(self) -> Any:
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self) -> str:
        return "%s%r" % (type(self).__name__, self._serialize())


class BatchableTypeSpec(TypeSpec):
    """The base of types of which a row is a type, too, and a row of types. Subclasses define `_batch` and
    `_unbatch`.
    """

    __slots__ = ()

    def _batch(self, batch_size: Any) -> Any:
        """Returns the type of a batch of values; the size may be None."""
        raise NotImplementedError("%s._batch" % type(self).__name__)

    def _unbatch(self) -> Any:
        """Returns the type of a row of a value."""
        raise NotImplementedError("%s._unbatch" % type(self).__name__)

    def _to_batched_tensor_list(self, value: Any) -> List[Any]:
        """Returns a value as tensors whose rows are its rows, as `_to_tensor_list` returns them."""
        return _leaves_of(self._to_components(value))


def type_spec_of(value: Any) -> Any:
    """Returns the type of a value, or None if it is of no class that has types."""
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    return next((found for maker in reversed(spec_makers) for found in [maker(value)] if found is not None), None)


def _leaves_of(structure: Any) -> List[Any]:
    """Returns the leaves of lists, tuples and dictionaries; those of a dictionary in the order of its
    keys.
    """
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in _leaves_of(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in _leaves_of(part)]
    return [structure]


def _packed(like: Any, rest: Any) -> Any:
    """Returns a structure like `like` of the next of the leaves."""
    if isinstance(like, dict):
        parts = {key: _packed(like[key], rest) for key in sorted(like)}
        return type(like)((key, parts[key]) for key in like)
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*[_packed(part, rest) for part in like])
    if isinstance(like, (list, tuple)):
        return type(like)([_packed(part, rest) for part in like])
    return next(rest)


def _are_compatible(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_are_compatible(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return sorted(a) == sorted(b) and all(_are_compatible(a[key], b[key]) for key in a)
    if isinstance(a, (TypeSpec, TensorShape, dtypes.DType)):
        return bool(a.is_compatible_with(b))
    return bool(a == b)


def _most_specific(a: Any, b: Any) -> Any:
    words = "Types are not compatible: %r vs %r" % (a, b)
    if type(a) is not type(b):
        raise ValueError(words)
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            raise ValueError(words)
        parts = [_most_specific(x, y) for x, y in zip(a, b)]
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    if isinstance(a, dict):
        if sorted(a) != sorted(b):
            raise ValueError(words)
        return type(a)((key, _most_specific(a[key], b[key])) for key in a)
    if isinstance(a, TensorShape):
        return a.most_specific_compatible_shape(b)
    if isinstance(a, TypeSpec):
        return a.most_specific_compatible_type(b)
    if a != b:
        raise ValueError(words)
    return a


def _ranks_only(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        parts = [_ranks_only(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return type(value)((key, _ranks_only(part)) for key, part in value.items())
    if isinstance(value, TypeSpec):
        return value._with_tensor_ranks_only()
    if isinstance(value, TensorShape):
        return TensorShape(None if value.ndims is None else [None] * value.ndims)
    return value


def _as_key(value: Any) -> Any:
    """Returns what a type is made of as a key of dictionaries."""
    if isinstance(value, (list, tuple)):
        return (type(value), *[_as_key(part) for part in value])
    if isinstance(value, dict):
        return (type(value), *[(_as_key(key), _as_key(value[key])) for key in sorted(value)])
    if isinstance(value, TensorShape):
        return TensorShape, None if value.ndims is None else tuple(value.as_list())
    if hasattr(value, "tolist") and hasattr(value, "shape"):
        return type(value), value.shape, _as_key(value.tolist())
    return value


class TensorSpec(BatchableTypeSpec):
    """A specification of a tensor: its shape, its dtype, and optionally a name.

    Args:
      shape: A `TensorShape`, or a value that converts to one.
      dtype: A dtype.
      name: A name.

    Example:
      >>> spec = tf.TensorSpec([None, 3], tf.float32, name="rows")
      >>> spec.shape, spec.dtype, spec.name, spec.value_type is tf.Tensor
      (TensorShape([Dimension(None), Dimension(3)]), tf.float32, 'rows', True)
      >>> (spec.is_compatible_with(tf.zeros([2, 3])), spec.is_compatible_with(tf.zeros([2])),
      ...  tf.TensorSpec.from_spec(spec, name="other"))
      (True, False, TensorSpec(shape=(?, 3), dtype=tf.float32, name='other'))
      >>> tf.TensorSpec.from_tensor(tf.zeros([2], name="z"))
      TensorSpec(shape=(2,), dtype=tf.float32, name='z')
    """

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: Optional[str] = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: Any, name: Optional[str] = None) -> "TensorSpec":
        """Returns a specification like `spec`, which may be any object with a shape and a dtype."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: Optional[str] = None) -> "TensorSpec":
        """Returns the specification of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> Optional[str]:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> Any:
        """The class of values that meet the specification."""
        return Tensor

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Returns whether a tensor, or one of another specification, could meet this specification."""
        if not isinstance(getattr(spec_or_tensor, "dtype", None), dtypes.DType) or not hasattr(spec_or_tensor, "shape"):
            return False
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self._shape.is_compatible_with(spec_or_tensor.shape)

    def most_specific_compatible_type(self, other: "TensorSpec") -> "TensorSpec":
        """Returns the most specific specification that both are compatible with.

        Raises:
          ValueError: The dtypes or the classes differ.

        Example:
          >>> tf.TensorSpec([2, 3]).most_specific_compatible_type(tf.TensorSpec([2, 4]))
          TensorSpec(shape=(2, ?), dtype=tf.float32, name=None)
        """
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype or self._name != other._name:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        return TensorSpec(self._shape.most_specific_compatible_shape(other._shape), self._dtype, self._name)

    def _serialize(self) -> Any:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    @property
    def _flat_tensor_specs(self) -> List[Any]:
        return [self]

    def _to_tensor_list(self, value: Any) -> List[Any]:
        return [value]

    def _to_batched_tensor_list(self, value: Any) -> List[Any]:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return [value]

    def _batch(self, batch_size: Any) -> TensorSpec:
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _key(self) -> Any:
        return self._shape._dims, self._dtype, self._name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> Any:
        return TensorSpec, (self._shape, self._dtype, self._name)
