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


if TYPE_CHECKING:
    from millstream._generated.endpoints_quantization import *  # noqa: F403
else:
    __getattr__ = namespaces.getattr_of(__name__)

__dir__ = namespaces.dir_of(globals())
