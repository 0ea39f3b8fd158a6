"""Functions over the rows of tensors: `map_fn`, `foldl`, `foldr`, `scan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

from millstream.framework import SparseTensor, constant, convert_to_tensor, name_scope, nest
from millstream.ops import array_ops
from millstream.ops.control_flow import while_loop
from millstream.ops.tensor_array import TensorArray

if TYPE_CHECKING:
    from millstream.framework.types import Fold


def _rows(elems: Any) -> Any:
    flat = [convert_to_tensor(e, name="elem") for e in nest.flatten(elems)]
    known = None
    for e in flat:
        if e.shape.ndims == 0:
            raise ValueError(
                "elems must be a 1+ dimensional Tensor, not a scalar" if len(flat) == 1 else "elements in elems must be 1+ dimensional Tensors, not scalars"
            )
        first = e.shape[0] if e.shape.ndims is not None else None
        value = getattr(first, "value", first)
        known = value if known is None else known
        if value is not None and value != known:
            raise ValueError("Dimensions %s and %s are not compatible: the first dimensions of the tensors in `elems`" % (known, value))
    # A known number stays an int: each use makes its own constant, as in TensorFlow.
    n = known if known is not None else array_ops.shape(flat[0])[0]
    return flat, n, known


def _arrays(flat: Any, n: Any) -> Any:
    return [TensorArray(e.dtype, size=n, dynamic_size=False, infer_shape=True).unstack(e) for e in flat]


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Optional[int] = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: Optional[str] = None,
) -> Any:
    """Applies `fn` to each row of `elems` and stacks the results.

    Args:
      fn: A function from a row to a tensor, or to a structure like `dtype`.
      elems: A tensor of rank 1 or more, or a structure of tensors with the same number of rows.
      dtype: The structure of dtypes that `fn` returns, if different from that of `elems`.
      parallel_iterations: An int: the largest number of rows processed at the same time; by default 10.
      back_prop: If true, gradients may flow through.
      swap_memory: Accepted, but values saved for the gradient stay in memory.
      infer_shape: If true, all results have the same shape.
      name: The name scope of the new operations.

    Returns:
      The results along a new first axis: a tensor, or a structure like `dtype`.

    Raises:
      TypeError: `fn` is not callable, or its result differs in structure from `dtype`.
      ValueError: A tensor of `elems` is a scalar, or the numbers of rows differ.

    Example:
      >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
      >>> print(tf.Session().run(tf.map_fn(tf.reduce_sum, x)))
      [3. 7.]
      >>> pairs = tf.map_fn(lambda r: (r[0] * r[1], r[0] > 2), (x[:, 0], x[:, 1]),
      ...     dtype=(tf.float32, tf.bool))
      >>> print(*tf.Session().run(pairs))
      [ 2. 12.] [False  True]
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  SparseTensor(input.indices, fn(input.values), input.dense_shape) or  "
            "SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    dtype = nest.map_structure(lambda e: convert_to_tensor(e).dtype.base_dtype, elems) if dtype is None else dtype
    with name_scope(name, "map", nest.flatten(elems)):
        flat, n, known = _rows(elems)
        given = _arrays(flat, n)
        start = constant(0)
        results = [TensorArray(t, size=n, dynamic_size=False, infer_shape=infer_shape) for t in nest.flatten(dtype)]

        def body(i: Any, made: Any) -> Any:
            value = fn(nest.pack_sequence_as(elems, [a.read(i) for a in given]))
            nest.assert_same_structure(dtype, value)
            return i + 1, [a.write(i, v) for a, v in zip(made, nest.flatten(value))]

        _, made = while_loop(
            lambda i, _: i < n, body, (start, results), parallel_iterations=parallel_iterations or 10, back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=n
        )
        stacked = [a.stack() for a in made]
        for s in stacked:
            s.set_shape([known] + s.shape.as_list()[1:]) if s.shape.ndims is not None else None
        return nest.pack_sequence_as(dtype, stacked)


_FOLD = """Folds the rows of `elems` by `fn`, starting with the {first}.

Args:
  fn: A function of the accumulated value and a row, which returns the next accumulated value.
  elems: A tensor of rank 1 or more, or a structure of tensors with the same number of rows.
  initializer: The initial accumulated value; by default the {first} row, and `fn` starts with the {second}.
  parallel_iterations: An int: the largest number of rows processed at the same time.
  back_prop: If true, gradients may flow through.
  swap_memory: Accepted, but values saved for the gradient stay in memory.
  name: The name scope of the new operations.

Returns:
  The final accumulated value: a tensor, or a structure like `initializer`.

Raises:
  TypeError: `fn` is not callable.
  ValueError: A tensor of `elems` is a scalar, or the numbers of rows differ.

Example:
  >>> letters = tf.constant(["a", "b", "c"])
  >>> tf.Session().run(tf.{name}(lambda so_far, letter: so_far + letter, letters, initializer="."))
  {value}
"""


def _fold(called: str, backwards: bool) -> Fold:
    def function(
        fn: Callable[..., Any],
        elems: Any,
        initializer: Any = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: Optional[str] = None,
    ) -> Any:
        if not callable(fn):
            raise TypeError("fn must be callable.")
        with name_scope(name, called, nest.flatten(elems)):
            flat, n, _ = _rows(elems)
            given = _arrays(flat, n)

            def row(i: Any) -> Any:
                return nest.pack_sequence_as(elems, [a.read(i) for a in given])

            first = initializer
            if backwards:
                start = n if first is not None else n - 1
                first = row(start) if first is None else first

                def body(i: Any, a: Any) -> Any:
                    i = i - 1
                    return i, fn(a, row(i))

                more = lambda i, _: i > 0  # noqa: E731
            else:
                first, start = (row(0), constant(1)) if first is None else (first, constant(0))
                body = lambda i, a: (i + 1, fn(a, row(i)))  # noqa: E731
                more = lambda i, _: i < n  # noqa: E731
            _, result = while_loop(
                more, body, (start, first), parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=n
            )
            return result

    function.__name__ = function.__qualname__ = called
    words = dict(first="first", second="second", name=called, value="b'.abc'")
    if backwards:
        words = dict(first="last", second="second last", name=called, value="b'.cba'")
    function.__doc__ = _FOLD.format(**words)
    return function


foldl = _fold("foldl", False)
foldr = _fold("foldr", True)


def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: Optional[str] = None,
) -> Any:
    """As `foldl`, but returns all accumulated values, stacked.

    Args:
      fn: A function of the accumulated value and a row, which returns the next accumulated value.
      elems: A tensor of rank 1 or more, or a structure of tensors with the same number of rows.
      initializer: The initial accumulated value; by default the first row, and `fn` starts with the second.
      parallel_iterations: An int: the largest number of rows processed at the same time.
      back_prop: If true, gradients may flow through.
      swap_memory: Accepted, but values saved for the gradient stay in memory.
      infer_shape: If true, all results have the same shape.
      reverse: If true, rows are processed from last to first; each result stays at the index of its row.
      name: The name scope of the new operations.

    Returns:
      The accumulated values after each row, along a new first axis of the length of `elems`: a tensor, or a
        structure like `initializer`.

    Raises:
      TypeError: `fn` is not callable, or its result has another structure.
      ValueError: A tensor of `elems` is a scalar, or the numbers of rows differ.

    Example:
      >>> x = tf.constant([1, 2, 3, 4])
      >>> sess = tf.Session()
      >>> print(sess.run(tf.scan(lambda a, r: a + r, x)),
      ...     sess.run(tf.scan(lambda a, r: a * r, x, initializer=10)))
      [ 1  3  6 10] [ 10  20  60 240]
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, "scan", nest.flatten(elems)):
        flat, n, known = _rows(elems)
        given = _arrays(flat, n)

        def row(i: Any) -> Any:
            return nest.pack_sequence_as(elems, [a.read(i) for a in given])

        at = n - 1 if reverse else 0
        step = -1 if reverse else 1
        if initializer is None:
            first, start, taken = row(at), at + step, True
        else:
            first, start, taken = nest.map_structure(convert_to_tensor, initializer), at, False
        arrays = [
            TensorArray(v.dtype, size=n, dynamic_size=False, element_shape=v.shape if infer_shape else None, infer_shape=infer_shape)
            for v in nest.flatten(first)
        ]
        if taken:
            arrays = [a.write(at, v) for a, v in zip(arrays, nest.flatten(first))]

        def body(i: Any, so_far: Any, made: Any) -> Any:
            value = fn(so_far, row(i))
            nest.assert_same_structure(first, value)
            return i + step, value, [a.write(i, v) for a, v in zip(made, nest.flatten(value))]

        more = (lambda i, *_: i >= 0) if reverse else (lambda i, *_: i < n)
        _, _, made = while_loop(
            more, body, (start, first, arrays), parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=n
        )
        stacked = [a.stack() for a in made]
        for s in stacked:
            s.set_shape([known] + s.shape.as_list()[1:]) if s.shape.ndims is not None else None
        return nest.pack_sequence_as(first, stacked)
