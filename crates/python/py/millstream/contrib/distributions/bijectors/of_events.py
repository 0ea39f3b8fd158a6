"""Bijectors of vectors and matrices, and those that are made of others."""

from __future__ import annotations

import math
from typing import Any, Callable, List, Optional, Sequence

import numpy as np

from millstream.contrib.distributions.bijectors.base import Bijector
from millstream.distributions.values import fill_triangular, fill_triangular_inverse, matrix_diag_transform
from millstream.distributions.base import checked
from millstream.framework import constant, constant_value, convert_to_tensor, dtypes, name_scope, shapes
from millstream.framework.op_functions import op
from millstream.nn import functions as nn
from millstream.ops import array_ops, check_ops, linalg_ops, math_ops, reduction_ops


class Invert(Bijector):
    """A bijector the other way round: `forward` is the other's `inverse`.

    Args:
      bijector: A bijector.
      validate_args: Ignored.
      name: The name scope of the operations; by default `invert_` and the other's name.

    Example:
      >>> log = tf.contrib.distributions.bijectors.Invert(tf.contrib.distributions.bijectors.Exp())
      >>> print(*tf.Session().run([log.forward(1.0), log.inverse(0.0)]), log.name, log.bijector.name)
      0.0 1.0 invert_exp exp
    """

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: Optional[str] = None) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or "_".join(["invert", bijector.name]),
        )

    @property
    def bijector(self) -> Bijector:
        """The other bijector."""
        return self._bijector

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape_tensor(output_shape)


def _least(bijectors: Sequence[Bijector], forward: bool) -> int:
    """Returns the number of dimensions that a chain takes together, in one of the directions."""
    least = have = 0
    for b in reversed(bijectors) if forward else bijectors:
        ndims = b.forward_min_event_ndims, b.inverse_min_event_ndims
        here, there = ndims if forward else ndims[::-1]
        least += max(0, here - have)
        have = max(here, have) - (here - there)
    return least


class Chain(Bijector):
    """Bijectors one after the other, of which the last one comes first.

    Args:
      bijectors: A list of bijectors; None is the identity.
      validate_args: Ignored.
      name: The name scope of the operations; by default the names, joined by `_of_`.

    Raises:
      ValueError: The dtypes of the bijectors differ.
      NotImplementedError: A bijector has several points with one value.

    Example:
      >>> tfb = tf.contrib.distributions.bijectors
      >>> chain = tfb.Chain([tfb.Exp(), tfb.AffineScalar(shift=1.0)])
      >>> print(*tf.Session().run([chain.forward(-1.0), chain.inverse(1.0)]), chain.name, len(chain.bijectors))
      1.0 -1.0 chain_of_exp_of_affine_scalar 2
    """

    def __init__(self, bijectors: Optional[Sequence[Bijector]] = None, validate_args: bool = False, name: Optional[str] = None) -> None:
        made = tuple(bijectors or ())
        if any(not b._is_injective for b in made):
            raise NotImplementedError("Chain is not implemented for non-injective bijectors.")
        kinds = list({b.dtype for b in made if b.dtype is not None})
        if len(kinds) > 1:
            raise ValueError("incompatible dtypes: %s" % kinds)
        self._bijectors = made
        super().__init__(
            graph_parents=[t for b in made for t in b.graph_parents],
            forward_min_event_ndims=_least(made, True),
            inverse_min_event_ndims=_least(made, False),
            is_constant_jacobian=all(b.is_constant_jacobian for b in made),
            validate_args=validate_args,
            dtype=kinds[0] if kinds else None,
            name=name or ("identity" if not made else "_of_".join(["chain"] + [b.name for b in made])),
        )

    @property
    def bijectors(self) -> Sequence[Bijector]:
        """The bijectors."""
        return self._bijectors

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for b in reversed(self.bijectors):
            input_shape = b.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for b in reversed(self.bijectors):
            input_shape = b.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for b in self.bijectors:
            output_shape = b.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for b in self.bijectors:
            output_shape = b.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for b in reversed(self.bijectors):
            x = b._call_forward(x, "forward", **kwargs.get(b.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for b in self.bijectors:
            y = b._call_inverse(y, "inverse", **kwargs.get(b.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        total, n = constant(0.0, dtype=y.dtype, name="inverse_log_det_jacobian"), self.inverse_min_event_ndims
        for b in self.bijectors:
            more = kwargs.get(b.name, {})
            total += b._call_inverse_log_det_jacobian(y, n, "inverse_log_det_jacobian", **more)
            n += b.forward_min_event_ndims - b.inverse_min_event_ndims
            y = b._call_inverse(y, "inverse", **more)
        return total

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        total, n = constant(0.0, dtype=x.dtype, name="forward_log_det_jacobian"), self.forward_min_event_ndims
        for b in reversed(self.bijectors):
            more = kwargs.get(b.name, {})
            total += b._call_forward_log_det_jacobian(x, n, "forward_log_det_jacobian", **more)
            n += b.inverse_min_event_ndims - b.forward_min_event_ndims
            x = b._call_forward(x, "forward", **more)
        return total


class Inline(Bijector):
    """A bijector of functions.

    Args:
      forward_fn: A function of `x`.
      inverse_fn: Its inverse.
      inverse_log_det_jacobian_fn: The logarithm of the inverse's determinant at `y`.
      forward_log_det_jacobian_fn: The logarithm of the determinant at `x`.
      forward_event_shape_fn: A function of a static shape; None if shapes stay.
      forward_event_shape_tensor_fn: A function of a shape as a tensor.
      inverse_event_shape_fn: A function of a static shape.
      inverse_event_shape_tensor_fn: A function of a shape as a tensor.
      is_constant_jacobian: Whether the derivative is the same everywhere.
      validate_args: Ignored.
      forward_min_event_ndims: The number of dimensions that `forward_fn` takes together.
      inverse_min_event_ndims: The number of dimensions that `inverse_fn` takes together.
      name: The name scope of the operations.

    Example:
      >>> twice = tf.contrib.distributions.bijectors.Inline(
      ...     forward_fn=lambda x: 2.0 * x, inverse_fn=lambda y: y / 2.0,
      ...     inverse_log_det_jacobian_fn=lambda y: -tf.log(2.0) * tf.ones_like(y), forward_min_event_ndims=0)
      >>> print(*tf.Session().run([twice.forward(3.0), twice.inverse(8.0)]))
      6.0 4.0
    """

    def __init__(
        self,
        forward_fn: Optional[Callable[..., Any]] = None,
        inverse_fn: Optional[Callable[..., Any]] = None,
        inverse_log_det_jacobian_fn: Optional[Callable[..., Any]] = None,
        forward_log_det_jacobian_fn: Optional[Callable[..., Any]] = None,
        forward_event_shape_fn: Optional[Callable[..., Any]] = None,
        forward_event_shape_tensor_fn: Optional[Callable[..., Any]] = None,
        inverse_event_shape_fn: Optional[Callable[..., Any]] = None,
        inverse_event_shape_tensor_fn: Optional[Callable[..., Any]] = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: Optional[int] = None,
        inverse_min_event_ndims: Optional[int] = None,
        name: str = "inline",
    ) -> None:
        given = dict(locals())
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        for word in ("forward", "inverse", "inverse_log_det_jacobian", "forward_log_det_jacobian"):
            self._take(word, given[word + "_fn"], None)
        for word in ("forward_event_shape", "forward_event_shape_tensor", "inverse_event_shape", "inverse_event_shape_tensor"):
            self._take(word, given[word + "_fn"], lambda shape: shape)

    def _take(self, word: str, function: Optional[Callable[..., Any]], default: Optional[Callable[..., Any]]) -> None:
        def missing(*args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError("%s_fn is not a callable function." % word)

        setattr(self, "_" + word, function if callable(function) else default or missing)


class Permute(Bijector):
    """A bijector that puts the elements of vectors in another order.

    Args:
      permutation: A vector of the numbers from 0 on, each once: where the elements come from.
      validate_args: If true, it is an error of the run if `permutation` is none.
      name: The name scope of the operations.

    Raises:
      TypeError: `permutation` is not of integers.
      ValueError: `permutation` has a number twice, or not at all.

    Example:
      >>> turned = tf.contrib.distributions.bijectors.Permute([2, 0, 1])
      >>> print(*tf.Session().run([turned.forward([1.0, 2.0, 3.0]), turned.inverse([3.0, 1.0, 2.0])]))
      [3. 1. 2.] [1. 2. 3.]
      >>> tf.Session().run(turned.permutation).tolist()
      [2, 0, 1]
    """

    def __init__(self, permutation: Any, validate_args: bool = False, name: Optional[str] = None) -> None:
        with name_scope(name, "permute", values=[permutation]):
            permutation = convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError("permutation.dtype ({}) should be `int`-like.".format(permutation.dtype.name))
            order = constant_value(permutation)
            if order is not None and sorted(order) != list(range(order.size)):
                raise ValueError("Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`.")
            if validate_args and order is None:
                sorted_ = -op("TopKV2")(-permutation, array_ops.shape(permutation)[-1])[0]
                words = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
                permutation = checked([check_ops.assert_equal(sorted_, math_ops.range(array_ops.shape(permutation)[-1]), message=words)], permutation)
            self._permutation = permutation
        super().__init__(
            forward_min_event_ndims=1, graph_parents=[permutation], is_constant_jacobian=True, validate_args=validate_args, name=name or "permute"
        )

    @property
    def permutation(self) -> Any:
        """Where the elements come from, as a tensor."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return op("GatherV2")(x, self.permutation, -1)

    def _inverse(self, y: Any) -> Any:
        return op("GatherV2")(y, op("InvertPermutation")(self.permutation), -1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype.base_dtype)


class Reshape(Bijector):
    """A bijector that reshapes events.

    Args:
      event_shape_out: The shape of `y`'s events, with at most one -1.
      event_shape_in: The shape of `x`'s events, with at most one -1.
      validate_args: If true, it is an error if a shape has another negative element than one -1.
      name: The name scope of the operations.

    Raises:
      NotImplementedError: A shape is not known while the graph is built.
      TypeError: A shape is not of integers.
      ValueError: A shape is no vector.

    Example:
      >>> square = tf.contrib.distributions.bijectors.Reshape([2, 2], [4])
      >>> square.forward(tf.ones([3, 4])).shape, square.inverse(tf.ones([3, 2, 2])).shape
      (TensorShape([Dimension(3), Dimension(2), Dimension(2)]), TensorShape([Dimension(3), Dimension(4)]))
    """

    def __init__(self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False, name: Optional[str] = None) -> None:
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            self._out, self._in = (self._shape_of(s, word, validate_args) for s, word in ((event_shape_out, "event_shape_out"), (event_shape_in, "event_shape_in")))
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name or "reshape")

    @staticmethod
    def _shape_of(value: Any, name: str, validate_args: bool) -> List[int]:
        tensor = convert_to_tensor(value, name=name, preferred_dtype=dtypes.int32)
        if not tensor.dtype.is_integer:
            raise TypeError("{} dtype ({}) should be `int`-like.".format(tensor, tensor.dtype.name))
        if tensor.shape.ndims is not None and tensor.shape.ndims > 1:
            raise ValueError("`{}` rank ({}) should be <= 1.".format(tensor, tensor.shape.ndims))
        known = constant_value(tensor)
        if known is None:
            raise NotImplementedError("Reshape: `%s` must be known while the graph is built, found %s" % (name, tensor))
        if validate_args and np.sum(known == -1) > 1:
            raise ValueError("`{}` must have at most one `-1` (given {})".format(tensor, known))
        if validate_args and np.any(known < -1):
            raise ValueError("`{}` elements must be either positive integers or `-1`(given {}).".format(tensor, known))
        return [int(n) for n in np.atleast_1d(known)]

    @staticmethod
    def _reshaped(x: Any, old: List[int], new: List[int]) -> Any:
        if x.shape.ndims is None or x.shape.ndims < len(old):
            raise ValueError("Reshape: expected events of shape %s, found shape %s" % (old, x.shape))
        n = x.shape.ndims - len(old)
        if not x.shape[n:].is_compatible_with([None if d < 0 else d for d in old]):
            raise ValueError("Input `event_shape` does not match `event_shape_in` ({} vs {}).".format(x.shape[n:].as_list(), old))
        made = array_ops.reshape(x, array_ops.concat([array_ops.shape(x)[:n], np.array(new, np.int32)], 0))
        made.set_shape(x.shape[:n].concatenate(Reshape._static(x.shape[n:], new)))
        return made

    @staticmethod
    def _static(old: Any, new: List[int]) -> shapes.TensorShape:
        """Returns a shape with the -1 in it replaced, if the number of elements is known."""
        if -1 in new and old.is_fully_defined():
            rest = int(np.prod([d for d in new if d >= 0]))
            return shapes.TensorShape([old.num_elements() // rest if d < 0 else d for d in new])
        return shapes.TensorShape([None if d < 0 else d for d in new])

    def _forward(self, x: Any) -> Any:
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y: Any) -> Any:
        return self._reshaped(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant(0.0, dtype=x.dtype)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        n = len(self._in)
        return shapes.TensorShape(None) if input_shape.ndims is None else input_shape[: input_shape.ndims - n].concatenate(self._static(input_shape[input_shape.ndims - n :], self._out))

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        n = len(self._out)
        return shapes.TensorShape(None) if output_shape.ndims is None else output_shape[: output_shape.ndims - n].concatenate(self._static(output_shape[output_shape.ndims - n :], self._in))

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._tensor(input_shape, self._in, self._out)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._tensor(output_shape, self._out, self._in)

    @staticmethod
    def _tensor(shape: Any, old: List[int], new: List[int]) -> Any:
        known = constant_value(shape)
        if known is not None:
            n = len(known) - len(old)
            return constant(list(known[:n]) + Reshape._static(shapes.TensorShape(known[n:]), new).as_list(), dtypes.int32)
        n_front = array_ops.size(shape) - len(old)
        rest = [d for d in new if d >= 0]
        size = reduction_ops.reduce_prod(shape[n_front:]) // int(np.prod(rest, dtype=np.int64))
        return array_ops.concat([shape[:n_front], array_ops.stack([size if d < 0 else d for d in new])], 0)


class SoftmaxCentered(Bijector):
    """The function `y = softmax([x, 0])`, of vectors to those with one element more and the sum 1.

    Args:
      validate_args: Ignored.
      name: The name scope of the operations.

    Example:
      >>> softmax = tf.contrib.distributions.bijectors.SoftmaxCentered()
      >>> print(*tf.Session().run([softmax.forward([0.0]), softmax.inverse([0.5, 0.5])]))
      [0.5 0.5] [0.]
    """

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape if input_shape.ndims is None else input_shape[:-1].concatenate(input_shape.dims[-1] + 1)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return array_ops.concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape if output_shape.ndims is None else output_shape[:-1].concatenate(output_shape.dims[-1] - 1)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return array_ops.concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    def _forward(self, x: Any) -> Any:
        return nn.softmax(array_ops.concat([x, array_ops.zeros_like(x[..., :1])], -1))

    def _inverse(self, y: Any) -> Any:
        log = op("Log")(y)
        return log[..., :-1] - log[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -reduction_ops.reduce_sum(op("Log")(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        norm = op("Softplus")(reduction_ops.reduce_logsumexp(x, axis=-1, keepdims=True))
        return array_ops.squeeze(reduction_ops.reduce_sum(x - norm, axis=-1, keepdims=True) - norm, [-1])


class Affine(Bijector):
    """The function `y = scale @ x + shift` of vectors.

    `scale` is the sum of what is given: a multiple of the identity, a diagonal, a lower triangle, and
    `factor @ diag(perturb_diag) @ factor^T`. Without any it is the identity.

    Args:
      shift: A tensor of vectors; None is 0.
      scale_identity_multiplier: A tensor of floats.
      scale_diag: A tensor of vectors.
      scale_tril: A tensor of square matrices, of which the lower triangles are taken.
      scale_perturb_factor: A tensor of matrices.
      scale_perturb_diag: A tensor of vectors; None is 1.
      validate_args: If true, it is an error of the run if a diagonal has a 0.
      name: The name scope of the operations.

    Raises:
      ValueError: `scale_perturb_diag` is given without `scale_perturb_factor`.

    Example:
      >>> affine = tf.contrib.distributions.bijectors.Affine(shift=[1.0, 2.0], scale_tril=[[2.0, 0.0], [1.0, 1.0]])
      >>> print(*tf.Session().run([affine.forward([1.0, 1.0]), affine.inverse([3.0, 4.0]), affine.shift]))
      [3. 4.] [1. 1.] [1. 2.]
      >>> affine.scale.shape
      TensorShape([Dimension(2), Dimension(2)])
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        given = dict(locals())
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        words = "shift scale_identity_multiplier scale_diag scale_tril scale_perturb_factor scale_perturb_diag".split()
        with name_scope(name, values=[given[w] for w in words]):
            values = {w: None if given[w] is None else convert_to_tensor(given[w], name=w) for w in words}
            self._shift, self._multiplier, diag, tril, factor, perturb = (values[w] for w in words)
            if validate_args:
                diag, tril = self._not_zero(diag, tril)
            if all(v is None for v in (self._multiplier, diag, tril, factor)):
                kind = dtypes.float32 if self._shift is None else self._shift.dtype
                self._multiplier = array_ops.ones([], kind)
            self._diag, self._matrix, self._is_full = self._composed(diag, tril, factor, perturb)
        parents = [v for v in (self._shift, self._multiplier, self._diag, self._matrix) if v is not None]
        super().__init__(
            forward_min_event_ndims=1, graph_parents=parents, is_constant_jacobian=True, dtype=parents[-1].dtype, validate_args=validate_args, name=name
        )

    @staticmethod
    def _not_zero(diag: Any, tril: Any) -> Any:
        if diag is not None:
            diag = checked([check_ops.assert_none_equal(diag, array_ops.zeros([], diag.dtype), message="diagonal elements must be non-zero")], diag)
        if tril is not None:
            part = linalg_ops.matrix_diag_part(tril)
            tril = checked([check_ops.assert_none_equal(part, array_ops.zeros([], part.dtype), message="diagonal elements must be non-zero")], tril)
        return diag, tril

    def _composed(self, diag: Any, tril: Any, factor: Any, perturb: Any) -> Any:
        """Returns the scale as a diagonal or as a matrix, and whether that is more than a lower triangle."""
        if tril is None and factor is None:
            if diag is None:
                return None, None, False
            wide = diag if self._multiplier is None else diag + array_ops.expand_dims(self._multiplier, -1)
            return wide, None, False
        if tril is not None:
            matrix = op("MatrixBandPart")(tril, -1, 0)
        else:
            size = array_ops.shape(factor)[-2]
            matrix = linalg_ops.matrix_diag(array_ops.zeros(array_ops.stack([size]), factor.dtype))
        added = [] if diag is None else [diag]
        if self._multiplier is not None:
            added.append(array_ops.expand_dims(self._multiplier, -1) * array_ops.ones_like(linalg_ops.matrix_diag_part(matrix)))
        if added:
            matrix = matrix + linalg_ops.matrix_diag(sum(added[1:], added[0]))
        if factor is not None:
            scaled = factor if perturb is None else factor * array_ops.expand_dims(perturb, -2)
            matrix = matrix + math_ops.matmul(scaled, factor, adjoint_b=True)
        return None, matrix, factor is not None

    @property
    def shift(self) -> Any:
        """The shift, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The scale: matrices, or numbers if it is a multiple of the identity."""
        if self._matrix is not None:
            return self._matrix
        return self._multiplier if self._diag is None else linalg_ops.matrix_diag(self._diag)

    def _factor(self) -> Any:
        """Returns what elements are multiplied by, if the scale is a diagonal."""
        return array_ops.expand_dims(self._multiplier, -1) if self._diag is None else self._diag

    def _forward(self, x: Any) -> Any:
        y = x * self._factor() if self._matrix is None else reduction_ops.reduce_sum(self._matrix * array_ops.expand_dims(x, -2), -1)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        if self._matrix is None:
            return x / self._factor()
        column = array_ops.expand_dims(x, -1)
        wide = self._matrix + array_ops.zeros_like(column)
        column = column + array_ops.zeros_like(wide[..., :1])
        solved = op("MatrixSolve")(wide, column) if self._is_full else op("MatrixTriangularSolve")(wide, column)
        return array_ops.squeeze(solved, [-1])

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._matrix is not None and self._is_full:
            return op("LogMatrixDeterminant")(self._matrix)[1]
        if self._matrix is None and self._diag is None:
            size = math_ops.cast(array_ops.shape(x)[-1], self._multiplier.dtype)  # type: ignore[union-attr]
            return op("Log")(math_ops.abs(self._multiplier)) * size
        diag = self._diag if self._matrix is None else linalg_ops.matrix_diag_part(self._matrix)
        return reduction_ops.reduce_sum(op("Log")(math_ops.abs(diag)), -1)


class CholeskyOuterProduct(Bijector):
    """The function `y = x @ x^T` of lower triangular matrices with positive diagonals.

    Args:
      validate_args: If true, matrices are checked when the graph is run.
      name: The name scope of the operations.

    Example:
      >>> outer = tf.contrib.distributions.bijectors.CholeskyOuterProduct()
      >>> print(tf.Session().run(outer.inverse([[4.0, 2.0], [2.0, 2.0]])))
      [[2. 0.]
       [1. 1.]]
    """

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            shape = array_ops.shape(x)
            x = checked([check_ops.assert_rank_at_least(x, 2), check_ops.assert_equal(shape[-2], shape[-1])], x)
        lower = op("MatrixBandPart")(x, -1, 0)
        return math_ops.matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return op("Cholesky")(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        diag = linalg_ops.matrix_diag_part(x)
        if self.validate_args:
            diag = checked([check_ops.assert_positive(diag, message="Input must be positive definite.")], diag)
        p = math_ops.cast(array_ops.shape(x)[-1], x.dtype)
        exponents = p - math_ops.cast(math_ops.range(array_ops.shape(x)[-1]), x.dtype)
        return p * math.log(2.0) + reduction_ops.reduce_sum(op("Log")(diag) * exponents, -1)


class FillTriangular(Bijector):
    """The function `tf.contrib.distributions.fill_triangular`, of vectors to triangular matrices.

    Args:
      upper: Whether the matrices are upper triangular.
      validate_args: Ignored.
      name: The name scope of the operations.

    Example:
      >>> fill = tf.contrib.distributions.bijectors.FillTriangular()
      >>> print(tf.Session().run(fill.inverse([[3, 0], [2, 1]])), fill.forward_event_shape([3]).as_list())
      [1 2 3] [2, 2]
    """

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1, inverse_min_event_ndims=2, is_constant_jacobian=True, validate_args=validate_args, name=name
        )

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return array_ops.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return array_ops.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        m = shapes.dimension_value(input_shape[-1])
        if m is None:
            return input_shape[:-1].concatenate([None, None])
        n = int(np.sqrt(0.25 + 2.0 * m) - 0.5)
        if n * (n + 1) // 2 != m:
            raise ValueError("Vector length is not a triangular number.")
        return input_shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        n = shapes.dimension_value(output_shape[-1])
        return output_shape[:-2].concatenate([None if n is None else n * (n + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        n = math_ops.cast(op("Floor")(op("Sqrt")(0.25 + 2.0 * math_ops.cast(input_shape[-1], dtypes.float32)) - 0.5), dtypes.int32)
        return array_ops.concat([input_shape[:-1], array_ops.stack([n, n])], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        n = output_shape[-1]
        return array_ops.concat([output_shape[:-2], array_ops.expand_dims(n * (n + 1) // 2, 0)], 0)


class TransformDiagonal(Bijector):
    """A bijector of the diagonals of square matrices, of which the other elements stay.

    Args:
      diag_bijector: The bijector of the diagonals.
      validate_args: Ignored.
      name: The name scope of the operations.

    Example:
      >>> tfb = tf.contrib.distributions.bijectors
      >>> print(tf.Session().run(tfb.TransformDiagonal(tfb.Exp()).forward([[0.0, 2.0], [3.0, 0.0]])))
      [[1. 2.]
       [3. 1.]]
    """

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal") -> None:
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return matrix_diag_transform(x, self._diag_bijector.forward)

    def _inverse(self, y: Any) -> Any:
        return matrix_diag_transform(y, self._diag_bijector.inverse)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(linalg_ops.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(linalg_ops.matrix_diag_part(y), event_ndims=1)
