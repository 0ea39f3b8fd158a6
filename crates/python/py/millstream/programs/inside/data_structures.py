"""The modules of `python.data.util`, and the types of values (`python.framework.type_spec`): `NAMES`."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

from millstream._engine import Tensor
from millstream.data import arguments, structure
from millstream.framework import SparseTensor, constant, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.type_specs import SparseTensorSpec

# Types of values --------------------------------------------------------------------------------------------


def type_spec_from_value(value: Any) -> Any:
    """Returns the type of a value.

    Raises:
      TypeError: It is neither a tensor, nor made of tensors, nor convertible to a tensor.
    """
    found = shapes.type_spec_of(value)
    if found is None:
        try:
            found = shapes.type_spec_of(convert_to_tensor(value))
        except (TypeError, ValueError):
            raise TypeError("Could not build a TypeSpec for %r with type %s" % (value, type(value).__name__)) from None
    return found


def _registered_spec(value: Any) -> Any:
    return shapes.type_spec_of(value)


def register_type_spec_from_value_converter(type_object: Any, converter_fn: Callable[[Any], Any], allow_subclass: bool = False) -> None:
    """Registers a function that returns the types of the values of a class.

    Args:
      type_object: The class.
      converter_fn: A function of a value that returns a `TypeSpec`, or None.
      allow_subclass: Whether it is called for values of subclasses, too.
    """
    fits = isinstance if allow_subclass else lambda value, kind: type(value) is kind
    shapes.spec_makers.append(lambda value: converter_fn(value) if fits(value, type_object) else None)


# Structures -------------------------------------------------------------------------------------------------


def _type_of_element(element: Any, use_fallback: bool = True) -> Any:
    """Returns the types of the leaves of an element, as a structure."""
    if structure.is_nested(element):
        return structure.transform(type_spec_from_value, element)
    if isinstance(element, list):
        element = convert_to_tensor(element)
    return type_spec_from_value(element)


def normalize_element(element: Any) -> Any:
    """Returns the structure with its leaves as tensors."""
    return structure.normalize(element)


def convert_legacy_structure(output_types: Any, output_shapes: Any, output_classes: Any) -> Any:
    """Returns the types of elements of these dtypes, shapes and classes.

    Raises:
      TypeError: A class is none of tensors.
    """
    for kind in structure.flatten_up_to(output_types, output_classes):
        if not isinstance(kind, shapes.TypeSpec) and kind not in (Tensor, SparseTensor):
            raise TypeError("Could not build a structure for output class %r" % (kind,))
    return structure.spec(output_types, output_shapes, output_classes)


def _specs(element_spec: Any) -> List[Any]:
    return structure.flatten(element_spec)


def get_flat_tensor_specs(element_spec: Any) -> List[Any]:
    """Returns the types of the tensors that `to_tensor_list` returns."""
    return [flat for spec in _specs(element_spec) for flat in spec._flat_tensor_specs]


def get_flat_tensor_shapes(element_spec: Any) -> List[Any]:
    """Returns the shapes of the tensors that `to_tensor_list` returns."""
    return [spec.shape for spec in get_flat_tensor_specs(element_spec)]


def get_flat_tensor_types(element_spec: Any) -> List[Any]:
    """Returns the dtypes of the tensors that `to_tensor_list` returns."""
    return [spec.dtype for spec in get_flat_tensor_specs(element_spec)]


def _listed(element_spec: Any, element: Any, list_of: Callable[[Any, Any], List[Any]]) -> List[Any]:
    structure.assert_same(element_spec, element)
    found: List[Any] = []
    for spec, value in zip(_specs(element_spec), structure.flatten(element)):
        if isinstance(spec, shapes.TensorSpec) and not isinstance(value, Tensor):
            value = convert_to_tensor(value, spec.dtype)
        if not spec.is_compatible_with(value):
            raise ValueError("Value %r is not convertible to a tensor with dtype %s and shape %s." % (value, repr(getattr(spec, "dtype", None)), getattr(spec, "shape", None)))
        found += list_of(spec, value)
    return found


def to_tensor_list(element_spec: Any, element: Any) -> List[Any]:
    """Returns an element as a list of tensors: a sparse tensor is one of variants.

    Raises:
      TypeError: The element has another structure than its types.
      ValueError: A value is not of its type.
    """
    return _listed(element_spec, element, lambda spec, value: spec._to_tensor_list(value))


def to_batched_tensor_list(element_spec: Any, element: Any) -> List[Any]:
    """Returns an element as a list of tensors whose rows are those of the element.

    Raises:
      ValueError: A value has no rows, or is not of its type.
    """

    def rows(spec: Any, value: Any) -> List[Any]:
        if isinstance(spec, shapes.TensorSpec) and spec.shape.merge_with(value.shape).ndims == 0:
            raise ValueError("Value %s has insufficient rank for batching." % value)
        return spec._to_batched_tensor_list(value)  # type: ignore[no-any-return]

    return _listed(element_spec, element, rows)


def _delisted(element_spec: Any, tensor_list: Any, value_of: Callable[[Any, List[Any]], Any]) -> Any:
    wanted = len(get_flat_tensor_specs(element_spec))
    if wanted != len(tensor_list):
        raise ValueError("Expected %d tensors but got %d." % (wanted, len(tensor_list)))
    rest, leaves = list(tensor_list), []
    for spec in _specs(element_spec):
        n = len(spec._flat_tensor_specs)
        leaves.append(value_of(spec, rest[:n]))
        rest = rest[n:]
    return structure.pack(element_spec, leaves)


def from_tensor_list(element_spec: Any, tensor_list: Any) -> Any:
    """Returns the element that a list of tensors holds.

    Raises:
      ValueError: The tensors are more or fewer than those of the types, or a tensor has another type.
    """
    return _delisted(element_spec, tensor_list, lambda spec, part: spec._from_tensor_list(part))


def from_compatible_tensor_list(element_spec: Any, tensor_list: Any) -> Any:
    """Returns the element that a list of tensors holds, which are known to be of its types.

    Raises:
      ValueError: The tensors are more or fewer than those of the types.
    """
    return _delisted(element_spec, tensor_list, lambda spec, part: spec._from_compatible_tensor_list(part))


def are_compatible(spec1: Any, spec2: Any) -> bool:
    """Returns whether two structures of types are equal, and an element could be of both."""
    try:
        structure.assert_same(spec1, spec2)
    except (TypeError, ValueError):
        return False
    return all(a.is_compatible_with(b) for a, b in zip(_specs(spec1), _specs(spec2)))


# Sparse tensors ---------------------------------------------------------------------------------------------


def any_sparse(classes: Any) -> bool:
    """Returns whether a class of a structure is that of sparse tensors."""
    return any(kind is SparseTensor for kind in structure.flatten(classes))


def as_dense_shapes(shape: Any, classes: Any) -> Any:
    """Returns the shapes of components as tensors; that of a sparse tensor is not known."""
    parts = zip(structure.flatten_up_to(classes, shape), structure.flatten(classes))
    return structure.pack(classes, [shapes.TensorShape(None) if kind is SparseTensor else part for part, kind in parts])


def as_dense_types(types: Any, classes: Any) -> Any:
    """Returns the dtypes of components as tensors; a sparse tensor is one of variants."""
    parts = zip(structure.flatten(types), structure.flatten(classes))
    return structure.pack(types, [dtypes.variant if kind is SparseTensor else part for part, kind in parts])


def get_classes(tensors: Any) -> Any:
    """Returns the classes of tensors."""
    return structure.transform(lambda value: SparseTensor if isinstance(value, SparseTensor) else Tensor, tensors)


def serialize_sparse_tensors(tensors: Any) -> Any:
    """Returns the structure with each sparse tensor as a vector of variants."""
    return structure.transform(structure.tensor_of, tensors)


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """Returns the structure with each sparse tensor as a matrix of variants, a row for each of its rows."""
    return structure.transform(structure.rows_of, tensors)


def deserialize_sparse_tensors(tensors: Any, types: Any, shape: Any, classes: Any) -> Any:
    """Returns the structure with the sparse tensors that variants hold."""
    leaves = []
    for tensor, kind, size, of in zip(structure.flatten(tensors), structure.flatten(types), structure.flatten_up_to(classes, shape), structure.flatten(classes)):
        spec = SparseTensorSpec(size, kind) if of is SparseTensor else shapes.TensorSpec(size, kind)
        leaves.append(structure.value_of(tensor, spec))
    return structure.pack(tensors, leaves)


# Arguments --------------------------------------------------------------------------------------------------


def optional_param_to_tensor(argument_name: str, argument_value: Any, argument_default: Any = 0, argument_dtype: Any = dtypes.int64) -> Any:
    """Returns an argument as a tensor, or its default if it is None."""
    if argument_value is None:
        return constant(argument_default, dtype=argument_dtype, name=argument_name)
    return convert_to_tensor(argument_value, dtype=argument_dtype, name=argument_name)


def partial_shape_to_tensor(shape_like: Any) -> Any:
    """Returns a shape as a vector of int64, with -1 for sizes that are not known.

    Raises:
      ValueError: It is a tensor of another rank than 1.
      TypeError: It is a tensor of another dtype, or no shape.
    """
    try:
        known = shapes.as_shape(shape_like)
        return convert_to_tensor([-1 if n is None else n for n in known.as_list()], dtype=dtypes.int64)
    except (TypeError, ValueError):
        listed = isinstance(shape_like, (list, tuple))
        found = convert_to_tensor(shape_like, dtype=dtypes.int64 if listed else None)
        if found.shape.ndims is not None and found.shape.ndims != 1:
            raise ValueError("The given shape %s must be a 1-D tensor of tf.int64 values, but the shape was %s." % (shape_like, found.shape)) from None
        if found.dtype != dtypes.int64:
            raise TypeError("The given shape %s must be a 1-D tensor of tf.int64 values, but the element type was %s." % (shape_like, found.dtype.name)) from None
        return found


def get_seed(seed: Any) -> Any:
    """Returns the two seeds of a dataset as scalars of int64."""
    with name_scope("seed"):
        return arguments.seeds(seed)


def obtain_all_variant_tensor_ops(dataset: Any) -> List[Any]:
    """Returns the operations that make a dataset and those that it is made of."""
    found: List[Any] = []
    left = [dataset._variant_tensor.op]
    while left:
        one = left.pop()
        if one not in found:
            found.append(one)
            left += [tensor.op for tensor in one.inputs if tensor.dtype == dtypes.variant]
    return found


# Options ----------------------------------------------------------------------------------------------------


class OptionsBase:
    """The base of settings of which each is a property that `create_option` makes.

    Raises:
      AttributeError: A setting is set that the class lacks.
    """

    _options: Dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = {*self._options, *other._options}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __ne__(self, other: Any) -> Any:
        return not self == other if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        object.__setattr__(self, name, value)


def create_option(name: str, ty: Any, docstring: str, default_factory: Callable[[], Any] = lambda: None) -> Any:
    """Returns a property of a subclass of `OptionsBase`.

    Args:
      name: Its name.
      ty: The class of its values.
      docstring: Its docstring.
      default_factory: A function that returns its first value.
    """

    def get(options: Any) -> Any:
        if name not in options._options:
            options._options[name] = default_factory()
        return options._options[name]

    def put(options: Any, value: Any) -> None:
        if not isinstance(value, ty):
            raise TypeError('Property "%s" must be of type %s, got: %r (type: %r)' % (name, ty, value, type(value)))
        options._options[name] = value

    return property(get, put, None, docstring)


def merge_options(*options_list: Any) -> Any:
    """Returns the settings of all options; later ones replace earlier ones.

    Raises:
      TypeError: The options are of different classes, or no options.
      ValueError: There are none.
    """
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError("Incompatible options type: %r vs %r" % (type(options), kind))
    if not issubclass(kind, OptionsBase):
        if hasattr(options_list[0], "merge"):
            merged = options_list[0]
            for options in options_list[1:]:
                merged = merged.merge(options)
            return merged
        raise TypeError("The inferred options type is not OptionsBase: %r" % kind)
    default, result = kind(), kind()
    for options in options_list:
        for name in options._options:
            theirs, ours = getattr(options, name), getattr(result, name)
            if theirs == getattr(default, name):
                continue
            nested = isinstance(theirs, OptionsBase) and name in result._options
            setattr(result, name, merge_options(ours, theirs) if nested else theirs)
    return result


_TYPE_SPEC = {
    "BatchableTypeSpec": shapes.BatchableTypeSpec,
    "TypeSpec": shapes.TypeSpec,
    "_type_spec_from_value": _registered_spec,
    "register_type_spec_from_value_converter": register_type_spec_from_value_converter,
    "type_spec_from_value": type_spec_from_value,
}


def _tensor_structure(dtype: Any, shape: Any) -> Any:
    return shapes.TensorSpec(shape, dtype)


def _sparse_structure(dtype: Any, shape: Any) -> Any:
    return SparseTensorSpec(shape, dtype)


NAMES: Dict[str, Dict[str, Any]] = {
    "python.data.util.convert": {"optional_param_to_tensor": optional_param_to_tensor, "partial_shape_to_tensor": partial_shape_to_tensor},
    "python.data.util.options": {"OptionsBase": OptionsBase, "create_option": create_option, "merge_options": merge_options},
    "python.data.util.random_seed": {"get_seed": get_seed},
    "python.data.util.sparse": {
        "any_sparse": any_sparse,
        "as_dense_shapes": as_dense_shapes,
        "as_dense_types": as_dense_types,
        "deserialize_sparse_tensors": deserialize_sparse_tensors,
        "get_classes": get_classes,
        "serialize_many_sparse_tensors": serialize_many_sparse_tensors,
        "serialize_sparse_tensors": serialize_sparse_tensors,
    },
    "python.data.util.structure": {
        "_SparseTensorStructure": _sparse_structure,
        "_TensorStructure": _tensor_structure,
        "are_compatible": are_compatible,
        "convert_legacy_structure": convert_legacy_structure,
        "from_compatible_tensor_list": from_compatible_tensor_list,
        "from_tensor_list": from_tensor_list,
        "get_flat_tensor_shapes": get_flat_tensor_shapes,
        "get_flat_tensor_specs": get_flat_tensor_specs,
        "get_flat_tensor_types": get_flat_tensor_types,
        "normalize_element": normalize_element,
        "to_batched_tensor_list": to_batched_tensor_list,
        "to_tensor_list": to_tensor_list,
        "type_spec_from_value": _type_of_element,
    },
    "python.data.util.traverse": {"obtain_all_variant_tensor_ops": obtain_all_variant_tensor_ops},
    "python.framework.type_spec": _TYPE_SPEC,
}
