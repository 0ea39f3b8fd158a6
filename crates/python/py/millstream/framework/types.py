"""Argument types for type checkers: `TensorLike`, `DTypeLike`, `ShapeLike`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Sequence, Union

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Protocol

    from millstream._engine import Operation, Tensor
    from millstream.framework.dtypes import DType
    from millstream.framework import IndexedSlices
    from millstream.framework.shapes import Dimension, TensorShape
    from millstream.variables.variable import Variable

    class SupportsArray(Protocol):
        """What numpy takes for an array."""

        def __array__(self) -> Any: ...

    # Lists may hold tensors as well.
    TensorLike = Union[
        Tensor, Variable, IndexedSlices, Dimension, TensorShape, bool, int, float, complex, str, bytes, np.generic, SupportsArray, Sequence[Any]
    ]
    DTypeLike = Union[DType, str, int, type, "np.dtype[Any]"]
    ShapeLike = Union[TensorShape, Iterable[Union[int, Dimension, None]], None]
    Text = Union[str, bytes]

    # Types of the functions that modules make from templates.

    class Reduction(Protocol):
        """`reduce_sum` and its like."""

        def __call__(
            self,
            input_tensor: Any,
            axis: Any = None,
            keepdims: Optional[bool] = None,
            name: Optional[str] = None,
            reduction_indices: Any = None,
            keep_dims: Optional[bool] = None,
        ) -> Tensor: ...

    class Place(Protocol):
        """`argmax` and `argmin`."""

        def __call__(
            self, input: TensorLike, axis: Any = None, name: Optional[str] = None, dimension: Any = None, output_type: DTypeLike = ...
        ) -> Tensor: ...

    class Filled(Protocol):
        """`zeros` and `ones`."""

        def __call__(self, shape: Any, dtype: DTypeLike = ..., name: Optional[str] = None) -> Tensor: ...

    class Scatter(Protocol):
        """`scatter_add` and its like."""

        def __call__(
            self, ref: Any, indices: TensorLike, updates: TensorLike, use_locking: bool = ..., name: Optional[str] = None
        ) -> Any: ...

    class Fold(Protocol):
        """`foldl` and `foldr`."""

        def __call__(
            self,
            fn: Callable[..., Any],
            elems: Any,
            initializer: Any = None,
            parallel_iterations: int = 10,
            back_prop: bool = True,
            swap_memory: bool = False,
            name: Optional[str] = None,
        ) -> Any: ...

    class Comparison(Protocol):
        """`assert_equal` and its like."""

        def __call__(
            self,
            x: TensorLike,
            y: TensorLike,
            data: Optional[Sequence[Any]] = None,
            summarize: Optional[int] = None,
            message: Optional[str] = None,
            name: Optional[str] = None,
        ) -> Operation: ...

    class Sign(Protocol):
        """`assert_positive` and its like."""

        def __call__(
            self,
            x: TensorLike,
            data: Optional[Sequence[Any]] = None,
            summarize: Optional[int] = None,
            message: Optional[str] = None,
            name: Optional[str] = None,
        ) -> Operation: ...
