"""`Optional`: a value that may be absent when the graph runs, such as the next element of an iterator."""

from __future__ import annotations

import typing
from typing import Any

from millstream.data import structure
from millstream.framework import convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.composites import SparseTensor
from millstream.framework.op_functions import op


class Optional:
    """A structure of tensors that a run has, or has not: see `get_next_as_optional`.

    Example:
      >>> some = tf.data.experimental.Optional.from_value((1, 2.0))
      >>> none = tf.data.experimental.Optional.none_from_structure(some.value_structure)
      >>> with tf.Session() as sess:
      ...     print(*sess.run([some.has_value(), none.has_value()]), *sess.run(some.get_value()))
      True False 1 2.0
    """

    def __init__(self, variant_tensor: Any, value_structure: Any) -> None:
        self._variant_tensor = variant_tensor
        self._value_structure = value_structure

    def has_value(self, name: typing.Optional[str] = None) -> Any:
        """Returns whether there is a value, as a scalar bool tensor."""
        return op("OptionalHasValue")(self._variant_tensor, name=name)

    def get_value(self, name: typing.Optional[str] = None) -> Any:
        """Returns the value, as a structure of tensors.

        Raises:
          tf.errors.InvalidArgumentError: When run: there is none.
        """
        spec = self._value_structure
        types, shape = structure.flat_types(spec), structure.flat_shapes(spec)
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            made = op("OptionalGetValue")(self._variant_tensor, types, shape, name=scope)
            return structure.pack(spec, [structure.value_of(t, s) for t, s in zip(made, structure.flatten(spec))])

    @property
    def value_structure(self) -> Any:
        """The types of the value, as a structure of `tf.TensorSpec`s."""
        return self._value_structure

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Returns an `Optional` that has a value.

        Args:
          value: A structure of values that are converted to tensors.
        """
        with name_scope("optional") as scope:
            with name_scope("value"):
                leaves = [v if isinstance(v, SparseTensor) else convert_to_tensor(v) for v in structure.flatten(value)]
                spec = structure.pack(value, [structure.spec_of(v) for v in leaves])
                parts = [structure.tensor_of(v) for v in leaves]
            return Optional(op("OptionalFromValue")(parts, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """Returns an `Optional` without a value.

        Args:
          value_structure: The types that a value would have, as a structure of `tf.TensorSpec`s.
        """
        return Optional(op("OptionalNone")(), value_structure)


class OptionalSpec(shapes.TypeSpec):
    """The type of an `Optional`.

    Args:
      value_structure: The types of its value, as a structure.

    Example:
      >>> some = tf.data.experimental.Optional.from_value(1)
      >>> spec = tf.OptionalSpec.from_value(some)
      >>> spec == tf.OptionalSpec(tf.TensorSpec([], tf.int32)), spec.value_type is tf.data.experimental.Optional
      (True, True)
    """

    def __init__(self, value_structure: Any) -> None:
        self._value_structure = value_structure

    @property
    def value_type(self) -> Any:
        """The class of the values: `Optional`."""
        return Optional

    @staticmethod
    def from_value(value: Optional) -> OptionalSpec:
        """Returns the type of an `Optional`."""
        return OptionalSpec(value.value_structure)

    def _serialize(self) -> Any:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> Any:
        return [shapes.TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> Any:
        return [value._variant_tensor]

    def _from_components(self, components: Any) -> Any:
        return Optional(components[0], self._value_structure)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptionalSpec) and self._value_structure == other._value_structure

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return "OptionalSpec(%r)" % (self._value_structure,)


def get_next_as_optional(iterator: Any) -> Optional:
    """Returns the next element of an iterator as an `Optional`, which has no value at the end.

    Args:
      iterator: An `Iterator`.

    Returns:
      An `Optional`.

    Example:
      >>> x = tf.data.experimental.get_next_as_optional(tf.data.Dataset.range(1).make_one_shot_iterator())
      >>> with tf.Session() as sess:
      ...     print(sess.run(x.has_value()), sess.run(x.has_value()))
      True False
    """
    spec = iterator.element_spec
    variant = op("IteratorGetNextAsOptional")(iterator._iterator_resource, structure.flat_types(spec), structure.flat_shapes(spec))
    return Optional(variant, spec)


shapes.spec_makers.append(lambda value: OptionalSpec.from_value(value) if isinstance(value, Optional) else None)
