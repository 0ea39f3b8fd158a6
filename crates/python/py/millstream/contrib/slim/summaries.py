"""`slim.summaries`: summaries named after their tensors, with a prefix."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

from millstream.framework import add_to_collection
from millstream.framework.graph_keys import GraphKeys
from millstream.io import summaries as summary
from millstream.nn import functions
from millstream.ops.control_flow import Print

__all__ = [
    "add_histogram_summaries",
    "add_histogram_summary",
    "add_image_summaries",
    "add_image_summary",
    "add_scalar_summaries",
    "add_scalar_summary",
    "add_zero_fraction_summaries",
    "add_zero_fraction_summary",
]


def _name(tensor: Any, name: Optional[str], prefix: Optional[str], postfix: Optional[str] = None) -> str:
    parts = [prefix, name or tensor.op.name, postfix]
    return "/".join(p for p in parts if p)


def _printed(kind: Any, tensor: Any, name: str, print_summary: bool) -> Any:
    """Returns a summary that prints the tensor when it is evaluated, if asked."""
    if not print_summary:
        return kind(name, tensor)
    shown = Print(kind(name, tensor, collections=[]), [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, shown)
    return shown


def add_histogram_summary(tensor: Any, name: Optional[str] = None, prefix: Optional[str] = None) -> Any:
    """Adds a histogram of a tensor.

    Args:
      tensor: A tensor or a variable.
      name: The name; by default the tensor's.
      prefix: A name in front of it.

    Returns:
      A summary.
    """
    return summary.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor: Any, name: Optional[str] = None, prefix: Optional[str] = None, print_summary: bool = False) -> Any:
    """Adds a summary of images.

    Args:
      tensor: A tensor of shape `[batch, height, width, channels]`.
      name: The name; by default the tensor's.
      prefix: A name in front of it.
      print_summary: If true, the tensor is printed to standard error when the summary is evaluated.

    Returns:
      A summary.
    """
    return _printed(summary.image, tensor, _name(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor: Any, name: Optional[str] = None, prefix: Optional[str] = None, print_summary: bool = False) -> Any:
    """Adds a summary of a scalar; the arguments are those of `add_image_summary`."""
    return _printed(summary.scalar, tensor, _name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(tensor: Any, name: Optional[str] = None, prefix: Optional[str] = None, print_summary: bool = False) -> Any:
    """Adds a summary of the fraction of zeros; the arguments are those of `add_image_summary`."""
    name = _name(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(functions.zero_fraction(tensor), name, print_summary=print_summary)


def add_histogram_summaries(tensors: Sequence[Any], prefix: Optional[str] = None) -> List[Any]:
    """Adds a histogram of each tensor."""
    return [add_histogram_summary(t, prefix=prefix) for t in tensors]


def add_image_summaries(tensors: Sequence[Any], prefix: Optional[str] = None) -> List[Any]:
    """Adds a summary of the images of each tensor."""
    return [add_image_summary(t, prefix=prefix) for t in tensors]


def add_scalar_summaries(tensors: Sequence[Any], prefix: Optional[str] = None, print_summary: bool = False) -> List[Any]:
    """Adds a summary of each scalar."""
    return [add_scalar_summary(t, prefix=prefix, print_summary=print_summary) for t in tensors]


def add_zero_fraction_summaries(tensors: Sequence[Any], prefix: Optional[str] = None) -> List[Any]:
    """Adds a summary of the fraction of zeros of each tensor."""
    return [add_zero_fraction_summary(t, prefix=prefix) for t in tensors]
