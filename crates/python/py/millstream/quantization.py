"""`tf.quantization`: functions that are more than one op. Other names are looked up at first use."""

from typing import TYPE_CHECKING, Any, Optional

from millstream._engine import Tensor
from millstream.framework import namespaces
from millstream.framework.op_functions import op


def quantize_and_dequantize(
    input: Any,  # noqa: A002
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: Optional[str] = None,
    narrow_range: bool = False,
) -> Tensor:
    """Replaces numbers by the nearest of those that integers of few bits stand for. Gradients pass unchanged.

    Args:
      input: A tensor of floats.
      input_min: The least number that integers reach, if `range_given`.
      input_max: The greatest one.
      signed_input: Whether there are negative integers.
      num_bits: The number of bits of an integer.
      range_given: Whether the range is given, and not that of `input`. Numbers outside are moved to its ends.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      name: A name for the operation.
      narrow_range: Whether the least negative integer is not used.

    Returns:
      A tensor of the same type.

    Raises:
      tf.errors.InvalidArgumentError: When run: the range is empty, or there are too many bits.

    Example:
      >>> y = tf.quantization.quantize_and_dequantize([-3.0, 0.3, 1.2], -2.0, 1.0, num_bits=2, range_given=True)
      >>> print(tf.Session().run(y))
      [-2.  0.  1.]
    """
    attrs = {"signed_input": signed_input, "num_bits": num_bits, "range_given": range_given, "round_mode": round_mode}
    return op("QuantizeAndDequantizeV2")(input, input_min, input_max, narrow_range=narrow_range, name=name, **attrs)


def quantize(
    input: Any,  # noqa: A002
    min_range: Any,
    max_range: Any,
    T: Any,  # noqa: N803
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: Optional[str] = None,
) -> Any:
    """Returns floats as integers of few bits, and the range that they stand for.

    Args:
      input: A tensor of `float32`.
      min_range: The least float. Those below are moved to it.
      max_range: The greatest one. The range is widened to hold zero and to have a length.
      T: The type of the integers: `tf.quint8`, `tf.qint8`, `tf.quint16`, `tf.qint16` or `tf.qint32`.
      mode: "MIN_COMBINED": the range is that of the integers. "MIN_FIRST": as well, and zero is an integer
        without a rest. "SCALED": zero is the integer 0.
      round_mode: "HALF_AWAY_FROM_ZERO", or "HALF_TO_EVEN" with "SCALED".
      name: A name for the operation.

    Returns:
      A named tuple: `output`, a tensor of type `T`, and `output_min` and `output_max`, the ends of the range.

    Raises:
      tf.errors.InvalidArgumentError: When run: the range is empty, or the modes do not fit.

    Example:
      >>> y = tf.quantization.quantize([-1.0, 0.0, 0.5, 7.0], -1.0, 1.0, tf.quint8)
      >>> print(tf.Session().run(tf.cast(y.output, tf.int32)))
      [  0 128 191 255]
      >>> print(tf.Session().run(tf.quantization.dequantize(*y)).round(2))
      [-1.    0.    0.5   1.  ]
    """
    return op("QuantizeV2")(input, min_range, max_range, T, mode=mode, round_mode=round_mode, name=name)


def quantize_v2(
    input: Any,  # noqa: A002
    min_range: Any,
    max_range: Any,
    T: Any,  # noqa: N803
    mode: str = "MIN_COMBINED",
    name: Optional[str] = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """Returns what `tf.quantization.quantize` returns. Only the order of the arguments differs.

    Args:
      input: A tensor of `float32`.
      min_range: The least float.
      max_range: The greatest one.
      T: The type of the integers.
      mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
      name: A name for the operation.
      round_mode: "HALF_AWAY_FROM_ZERO" or "HALF_TO_EVEN".

    Returns:
      A named tuple: the integers, and the ends of the range.

    Example:
      >>> y = tf.quantize_v2([0.0, 1.0], 0.0, 1.0, tf.quint16)
      >>> print(tf.Session().run(tf.cast(y.output, tf.int32)))
      [    0 65535]
    """
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


if TYPE_CHECKING:
    from millstream._generated.endpoints_quantization import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)

__dir__ = namespaces.dir_of(globals())
