"""Helpers of arrays, maths, `nn_impl`, `ctc_ops`, `losses.util`, cells and `client.session`: `NAMES`."""

from __future__ import annotations

import abc
import contextlib
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np

from millstream._engine import Tensor
from millstream.framework import SparseTensor, convert_to_tensor, dtypes, get_default_graph, get_static_value
from millstream.framework.op_functions import op
from millstream.framework.session import Session
from millstream.framework.shapes import TensorShape, as_shape
from millstream.nn import ctc
from millstream.ops import array_ops, check_ops, control_flow, indexing_ops, linalg_ops, math_ops, reduction_ops, shape_ops, sparse_ops
from millstream.programs.inside.parts_of_variables import remove_squeezable_dimensions
from millstream.rnn import linear

# Arrays -----------------------------------------------------------------------------------------------------


def convert_to_int_tensor(tensor: Any, name: str, dtype: Any = dtypes.int32) -> Any:
    """Returns integers as a tensor of a dtype.

    Raises:
      TypeError: The values are not integers.
    """
    tensor = convert_to_tensor(tensor, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError("%s must be an integer tensor; dtype=%s" % (name, tensor.dtype))
    return math_ops.cast(tensor, dtype)


def get_positive_axis(axis: Any, ndims: Any) -> int:
    """Returns an axis, counted from the front.

    Raises:
      TypeError: The axis is not an integer.
      ValueError: There is no such axis, or it is counted from the end and the rank is None.
    """
    if not isinstance(axis, int):
        raise TypeError("axis must be an int; got %s" % type(axis).__name__)
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError("axis=%s out of bounds: expected %s<=axis<%s" % (axis, -ndims, ndims))
    return axis % ndims if ndims else axis


def tile_one_dimension(data: Any, axis: int, multiple: Any) -> Any:
    """Returns a tensor repeated along one axis."""
    if data.shape.ndims is not None:
        multiples: Any = [1] * data.shape.ndims
        multiples[axis] = multiple
    else:
        ones = array_ops.ones([array_ops.rank(data)], dtypes.int32)
        multiples = array_ops.concat([ones[:axis], [multiple], ones[axis + 1 :]], axis=0)
    return op("Tile")(data, multiples)


def repeat_with_axis(data: Any, repeats: Any, axis: Any, name: Any = None) -> Any:
    """Returns a tensor whose slices along an axis are repeated."""
    return shape_ops.repeat(data, repeats, axis, name)


def shape_internal(input: Any, name: Any = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Any:  # noqa: A002
    """Returns the shape of a tensor; a constant, if `optimize` and it is known."""
    return array_ops.shape(input, name, out_type) if optimize else op("Shape")(input, out_type=out_type, name=name)


def size_internal(input: Any, name: Any = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Any:  # noqa: A002
    """Returns the number of elements of a tensor; a constant, if `optimize` and it is known."""
    return array_ops.size(input, name, out_type) if optimize else op("Size")(input, out_type=out_type, name=name)


def rank_internal(input: Any, name: Any = None, optimize: bool = True) -> Any:  # noqa: A002
    """Returns the rank of a tensor; a constant, if `optimize` and it is known."""
    return array_ops.rank(input, name) if optimize else op("Rank")(input, name=name)


def zeros_like_impl(tensor: Any, dtype: Any, name: Any, optimize: bool = True) -> Any:
    """Returns zeros of the shape of a tensor."""
    return array_ops.zeros_like(tensor, dtype, name, optimize)


def ones_like_impl(tensor: Any, dtype: Any, name: Any, optimize: bool = True) -> Any:
    """Returns ones of the shape of a tensor."""
    return array_ops.ones_like(tensor, dtype, name, optimize)


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """Returns a shape, as a tensor, with 1 in place of the sizes of some axes."""
    sizes, places = math_ops.cast(input_shape, dtypes.int32), math_ops.cast(axes, dtypes.int32)
    rank = array_ops.size(sizes)
    places = (places + rank) % rank
    return op("DynamicStitch")([math_ops.range(rank), places], [sizes, op("Fill")(array_ops.shape(places), 1)])


class DivideDelegateWithName:
    """A value whose divisions are operations of a name.

    Args:
      x: The dividend.
      name: The name.
    """

    def __init__(self, x: Any, name: str) -> None:
        self.x, self.name = x, name

    def __truediv__(self, y: Any) -> Any:
        return math_ops.truediv(self.x, y, self.name)

    def __floordiv__(self, y: Any) -> Any:
        return math_ops.floordiv(self.x, y, self.name)

    def __div__(self, y: Any) -> Any:
        return math_ops.div(self.x, y, self.name)


# Losses -----------------------------------------------------------------------------------------------------

_TOO_FLAT = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1"


@contextlib.contextmanager
def check_per_example_loss_rank(per_example_loss: Any) -> Iterator[None]:
    """A context in which operations fail if there is one loss for all examples.

    Raises:
      ValueError: The static shape shows that.
    """
    if per_example_loss.shape.ndims == 0:
        raise ValueError("%s, received: %s" % (_TOO_FLAT, per_example_loss))
    checks = []
    if per_example_loss.shape.ndims is None:
        least = math_ops.cast(1, dtypes.int32)
        checks.append(check_ops.assert_greater_equal(array_ops.rank(per_example_loss), least, message=_TOO_FLAT + "."))
    with get_default_graph().control_dependencies(checks):
        yield


def squeeze_or_expand_dimensions(y_pred: Any, y_true: Any = None, sample_weight: Any = None) -> Tuple[Any, ...]:
    """Returns predictions, labels and weights whose last axis of size 1 is removed or added where needed."""
    rank = y_pred.shape.ndims
    if y_true is not None:
        other = y_true.shape.ndims
        if rank is not None and other is not None:
            if rank != other or (rank and y_pred.shape[-1].value == 1):
                y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
        else:
            labels, predictions = y_true, y_pred

            def squeezed() -> Any:
                return remove_squeezable_dimensions(labels, predictions)

            def perhaps() -> Any:
                return control_flow.cond(math_ops.equal(1, array_ops.shape(predictions)[-1]), squeezed, lambda: (labels, predictions))

            more = array_ops.rank(predictions) - array_ops.rank(labels)
            y_true, y_pred = control_flow.cond(math_ops.equal(1, more), perhaps, squeezed)
    if sample_weight is None:
        return y_pred, y_true
    weight = convert_to_tensor(sample_weight)
    count = weight.shape.ndims
    if count == 0:
        return y_pred, y_true, weight
    if rank is not None and count is not None:
        if count - rank == 1:
            weight = array_ops.squeeze(weight, [-1])
        elif rank - count == 1:
            weight = array_ops.expand_dims(weight, -1)
        return y_pred, y_true, weight
    plain, more = weight, array_ops.rank(weight) - array_ops.rank(y_pred)

    def expanded() -> Any:
        return control_flow.cond(math_ops.equal(more, -1), lambda: array_ops.expand_dims(plain, -1), lambda: array_ops.identity(plain))

    def fitted() -> Any:
        return control_flow.cond(math_ops.equal(more, 1), lambda: array_ops.squeeze(plain, [-1]), expanded)

    scalar = math_ops.equal(array_ops.rank(plain), 0)
    return y_pred, y_true, control_flow.cond(scalar, lambda: array_ops.identity(plain), fitted)


def scale_losses_by_sample_weight(losses: Any, sample_weight: Any) -> Any:
    """Returns losses times the weights of their examples."""
    losses, weight = math_ops.cast(losses, dtypes.float32), math_ops.cast(sample_weight, dtypes.float32)
    losses, _, weight = squeeze_or_expand_dimensions(losses, None, weight)
    return math_ops.multiply(losses, weight)


def compute_average_loss(per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None) -> Any:
    """Returns the sum of the losses of examples, divided by the number of examples in the whole batch."""
    losses = convert_to_tensor(per_example_loss)
    kind = losses.dtype
    with check_per_example_loss_rank(losses):
        if sample_weight is not None:
            weight = convert_to_tensor(sample_weight)
            with check_per_example_loss_rank(weight):
                losses = scale_losses_by_sample_weight(losses, weight)
        losses = math_ops.cast(losses, kind)
        size = array_ops.shape(losses)[0] if global_batch_size is None else global_batch_size
        return reduction_ops.reduce_sum(losses) * (1.0 / math_ops.cast(size, kind))


# Connectionist temporal classification ----------------------------------------------------------------------


def dense_labels_to_sparse(dense: Any, length: Any) -> SparseTensor:
    """Returns the labels of sequences as a sparse tensor, without those beyond the lengths."""
    flat = op("Reshape")(dense, [-1])
    mask = op("Reshape")(array_ops.sequence_mask(length, maxlen=array_ops.shape(dense)[1]), [-1])
    places = math_ops.range(array_ops.shape(flat, out_type=dtypes.int64)[0])
    indices = array_ops.expand_dims(indexing_ops.boolean_mask(places, mask), 1)
    values = math_ops.cast(indexing_ops.boolean_mask(flat, mask), dtypes.int32)
    sparse = SparseTensor(indices, values, array_ops.shape(flat, out_type=dtypes.int64))
    rows = sparse_ops.sparse_reshape(sparse, array_ops.shape(dense))
    longest = reduction_ops.reduce_max(length)
    size = array_ops.stack([array_ops.shape(dense, out_type=dtypes.int64)[0], math_ops.cast(longest, dtypes.int64)])
    return sparse_ops.sparse_slice(rows, [0, 0], size)


def ctc_loss_dense(
    labels: Any, logits: Any, label_length: Any, logit_length: Any, unique: Any = None, blank_index: Any = 0, name: Any = None
) -> Any:
    """Returns `tf.nn.ctc_loss_v2` of dense labels, which are padded to one length."""
    return ctc.ctc_loss_v2(labels, logits, label_length, logit_length, unique=unique, blank_index=blank_index, name=name)


# Sessions ---------------------------------------------------------------------------------------------------


class SessionInterface(abc.ABC):
    """The methods of sessions: a base of classes that stand for one."""

    @property
    def graph(self) -> Any:
        """The graph.

        Raises:
          NotImplementedError: The class has none.
        """
        raise NotImplementedError("graph")

    @property
    def sess_str(self) -> Any:
        """The target.

        Raises:
          NotImplementedError: The class has none.
        """
        raise NotImplementedError("sess_str")

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs operations.

        Raises:
          NotImplementedError: The class does not override it.
        """
        raise NotImplementedError("run")

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Begins a run in several parts.

        Raises:
          NotImplementedError: The class does not override it.
        """
        raise NotImplementedError("partial_run_setup")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Continues a run in several parts.

        Raises:
          NotImplementedError: The class does not override it.
        """
        raise NotImplementedError("partial_run")


SessionInterface.register(Session)

# Recurrent networks -----------------------------------------------------------------------------------------


def concat_sizes(prefix: Any, suffix: Any, static: bool = False) -> Any:
    """Returns the sizes of `prefix` followed by those of `suffix`, each an int, a shape or a tensor.

    Args:
      static: If true, the result is a list in which unknown sizes are None, or None without any rank; else it
        is a tensor.

    Raises:
      ValueError: A tensor is neither a scalar nor a vector, or a size is unknown and `static` is false.
    """
    tensors: List[Optional[Tensor]] = []
    shapes = []
    for word, sizes in (("prefix", prefix), ("suffix", suffix)):
        if isinstance(sizes, Tensor):
            if sizes.shape.ndims not in (0, 1):
                raise ValueError("%s tensor must be either a scalar or vector, but saw tensor: %s" % (word, sizes))
            known = get_static_value(sizes)
            shapes.append(TensorShape(None) if known is None else TensorShape(np.atleast_1d(known).tolist()))
            tensors.append(array_ops.expand_dims(sizes, 0) if sizes.shape.ndims == 0 else sizes)
        else:
            shapes.append(TensorShape([sizes]) if sizes is None or isinstance(sizes, int) else as_shape(sizes))
            full = shapes[-1].is_fully_defined()
            tensors.append(convert_to_tensor(shapes[-1].as_list(), dtypes.int32) if full else None)
    if static:
        whole = shapes[0].concatenate(shapes[1])
        return None if whole.ndims is None else whole.as_list()
    if None in tensors:
        raise ValueError("Provided a prefix or suffix of None: %s and %s" % (prefix, suffix))
    return array_ops.concat(tensors, 0)


def shape_of_sizes(sizes: Any) -> Any:
    """Returns a tensor of sizes as a shape, unknown unless it is constant, and anything else as it is."""
    return as_shape(get_static_value(sizes)) if isinstance(sizes, Tensor) else sizes


NAMES: Dict[str, Dict[str, Any]] = {
    "contrib.rnn.python.ops.core_rnn_cell": {"_Linear": linear.Linear, "_linear": linear.linear_with_late_bias},
    "python.client.session": {"SessionInterface": SessionInterface},
    "python.ops.array_ops": {
        "convert_to_int_tensor": convert_to_int_tensor,
        "get_positive_axis": get_positive_axis,
        "ones_like_impl": ones_like_impl,
        "rank_internal": rank_internal,
        "repeat_with_axis": repeat_with_axis,
        "shape_internal": shape_internal,
        "size_internal": size_internal,
        "tile_one_dimension": tile_one_dimension,
        "zeros_like_impl": zeros_like_impl,
    },
    "python.ops.ctc_ops": {"ctc_loss_dense": ctc_loss_dense, "dense_labels_to_sparse": dense_labels_to_sparse},
    "python.ops.linalg.linalg_impl": {"matrix_exponential": linalg_ops.expm},
    "python.ops.losses.util": {
        "check_per_example_loss_rank": check_per_example_loss_rank,
        "scale_losses_by_sample_weight": scale_losses_by_sample_weight,
        "squeeze_or_expand_dimensions": squeeze_or_expand_dimensions,
    },
    "python.ops.math_ops": {"DivideDelegateWithName": DivideDelegateWithName, "reduced_shape": reduced_shape},
    "python.ops.rnn": {"_maybe_tensor_shape_from_tensor": shape_of_sizes},
    "python.ops.rnn_cell_impl": {"_concat": concat_sizes},
    "python.ops.nn_impl": {"compute_average_loss": compute_average_loss, "normalize": linalg_ops.normalize},
}
