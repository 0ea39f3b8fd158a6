"""`tf.layers.InputSpec`: what a layer asks of its inputs."""

from __future__ import annotations

from typing import Any, Dict, Optional

from millstream.framework import dtypes

__all__ = ["InputSpec"]


class InputSpec:
    """The rank, shape and dtype that a layer's input must have; the layer's `input_spec`.

    Args:
      dtype: The dtype, or None for any.
      shape: The shape, in which None is any dimension; None for any shape.
      ndim: The rank, or None for any.
      max_ndim: The largest rank.
      min_ndim: The smallest rank.
      axes: A dict from axes to dimensions.

    Example:
      >>> class Sum(tf.layers.Layer):
      ...     def build(self, input_shape):
      ...         self.input_spec = tf.layers.InputSpec(min_ndim=2, axes={-1: 3})
      ...     def call(self, inputs):
      ...         return tf.reduce_sum(inputs, -1)
      >>> tf.layers.InputSpec(ndim=2, axes={-1: 3})
      InputSpec(ndim=2, axes={-1: 3})
      >>> layer = Sum()
      >>> layer(tf.ones([2, 3])).shape
      TensorShape([Dimension(2)])
      >>> layer(tf.ones([2, 4]))
      Traceback (most recent call last):
        ...
      ValueError: Input 0 of layer sum_1 is incompatible with the layer: expected axis -1 of input shape ...
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: Optional[int] = None,
        max_ndim: Optional[int] = None,
        min_ndim: Optional[int] = None,
        axes: Optional[Dict[int, Any]] = None,
    ) -> None:
        self.dtype, self.shape = None if dtype is None else dtypes.as_dtype(dtype).name, shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes: Dict[int, Any] = axes or {}

    def __repr__(self) -> str:
        parts = ["dtype=%s" % self.dtype if self.dtype else "", "shape=%s" % (self.shape,) if self.shape else ""]
        parts += ["%s=%s" % (n, getattr(self, n)) if getattr(self, n) else "" for n in ("ndim", "max_ndim", "min_ndim", "axes")]
        return "InputSpec(%s)" % ", ".join(p for p in parts if p)

    def get_config(self) -> Dict[str, Any]:
        """Returns the arguments as a dict, for `from_config`.

        Example:
          >>> tf.layers.InputSpec.from_config(tf.layers.InputSpec(ndim=2).get_config())
          InputSpec(ndim=2)
        """
        return {key: getattr(self, key) for key in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}

    @classmethod
    def from_config(cls, config: Dict[str, Any]) -> InputSpec:
        """Returns a spec of these arguments.

        Args:
          config: A dict, as `get_config` returns it.

        Example:
          >>> tf.layers.InputSpec.from_config({"ndim": 2, "axes": {-1: 3}})
          InputSpec(ndim=2, axes={-1: 3})
        """
        return cls(**config)

    def check(self, value: Any, layer: str) -> None:
        """Raises a `ValueError` if a tensor, the input of a layer of this name, is another one.

        Args:
          value: A tensor.
          layer: The name of the layer.

        Raises:
          ValueError: The rank, the shape or the dtype is another one.

        Example:
          >>> tf.layers.InputSpec(ndim=1).check(tf.ones([2, 3]), "mine")
          Traceback (most recent call last):
            ...
          ValueError: Input 0 of layer mine is incompatible with the layer: expected ndim=1, found ndim=2. ...
        """
        rank, text = value.get_shape().ndims, "Input 0 of layer %s is incompatible with the layer: " % layer
        needs_rank = self.ndim is not None or self.min_ndim is not None or self.max_ndim is not None
        if needs_rank and rank is None:
            raise ValueError(text + "its rank is undefined, but the layer requires a defined rank.")
        dims = None if rank is None else value.get_shape().as_list()
        if self.ndim is not None and rank != self.ndim:
            raise ValueError(text + "expected ndim=%d, found ndim=%d. Full shape received: %s" % (self.ndim, rank, dims))
        if self.max_ndim is not None and rank > self.max_ndim:
            raise ValueError(text + "expected max_ndim=%d, found ndim=%d" % (self.max_ndim, rank))
        if self.min_ndim is not None and rank < self.min_ndim:
            raise ValueError(text + ": expected min_ndim=%d, found ndim=%d. Full shape received: %s" % (self.min_ndim, rank, dims))
        if self.dtype is not None and value.dtype.base_dtype.name != self.dtype:
            raise ValueError(text + "expected dtype=%s, found dtype=%r" % (self.dtype, value.dtype))
        self._check_dimensions(dims, layer, text)

    def _check_dimensions(self, dims: Any, layer: str, text: str) -> None:
        for axis, wanted in self.axes.items() if dims is not None else ():
            if wanted is not None and dims[int(axis)] not in (None, int(wanted)):
                raise ValueError(text + "expected axis %s of input shape to have value %s but received input with shape %s" % (axis, wanted, dims))
        for wanted, found in zip(self.shape or (), dims or ()):
            if wanted is not None and found is not None and wanted != found:
                raise ValueError("Input 0 is incompatible with layer %s: expected shape=%s, found shape=%s" % (layer, self.shape, dims))
