"""Advice for errors in functions that are traced: what TensorFlow's words leave open.

Those words are for people who build graphs. In a function, a tensor is used where a number was meant.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import Any, Iterator, List, Set, Tuple

from millstream.framework import errors

_PYTHON = "a tensor has no value while the function is traced: %s; an argument that must be a Python value is static (`static_argnums`, `static_argnames`)"
_SIZES = (
    "sizes are open while a function is traced: `tf.shape(x)[0]` is a size as a tensor; with `fixed_sizes=True` sizes are known, and each is traced"
)

# What an error says, and what helps.
_HELP: List[Tuple[str, str]] = [
    (
        r"must be Tensor, not millstream\.Tensor|argument to <function \w+ .*<class 'millstream\.Tensor'>",
        "functions of PyTorch and JAX do not compute with Millstream's tensors: use `tf.*` or `func.numpy` in the function",
    ),
    (
        r"Can't call numpy\(\) on Tensor that requires grad|on traced array with shape",
        "a value from around the function is a constant of it. Pass it as an argument, through which gradients flow",
    ),
    (
        r"Cannot convert a symbolic Tensor",
        "NumPy computes with values, and a tensor has none while a function is traced: use `func.numpy` or `tf.*`; a tensor that is kept "
        "from a function has none either: return it",
    ),
    (
        r"that does not match (expected )?type|that don't all match|must have the same dtype, got",
        "tensors of two dtypes do not mix: cast one, as by `tf.cast(x, tf.float32)`. Arrays and scalars of NumPy keep their dtype, which is float64 "
        "unless you say otherwise; Python numbers take that of the tensor beside them",
    ),
    (
        r"must be from the same graph",
        "a function computes with its arguments, with arrays, and with tensors that it makes. Pass a tensor or variable from elsewhere as an "
        "argument; a tensor that a function made can be used outside if it is returned",
    ),
    (
        r"'millstream\.Tensor' object cannot be interpreted as an integer|not millstream\.Tensor|not 'millstream\.Tensor'|to millstream\.Tensor\.__format__",
        _PYTHON % "count by `func.fori_loop` instead of `range`, compute by `tf.*` or `func.numpy` instead of `math`, and print by `tf.print`",
    ),
    (
        r"'millstream\.Tensor' object does not support item (assignment|deletion)",
        "tensors do not change: `tf.tensor_scatter_nd_update(x, [[i]], [value])` and `tf.where` return changed copies",
    ),
    (r"unknown Dimension|should be defined\. Found `?None|object cannot be interpreted as an integer|len is not well defined|__index__ returned non-int", _SIZES),
    (
        r"expected a sequence of integers or a single integer, got '<tf\.Tensor",
        "NumPy makes arrays of known sizes: `tf.zeros([n])`, `tf.fill` and `func.numpy` take tensors for sizes; an argument that must be a Python value "
        "is static (`static_argnums`, `static_argnames`)",
    ),
    (r"marked as not fetchable", "a tensor of a loop or branch is used outside of it: return it, as a part of the carry, or collect it by `func.scan`"),
    (r"Shape must be rank 2 but is rank 1.*MatMul", "`@` and `func.numpy.matmul` multiply matrices by vectors; `tf.matmul` does not"),
]

_BOOL = (
    "a tensor has no truth value while a function is traced: `if`, `while`, `and`, `or`, `not`, `assert`, `max`, `min` and `a < b < c` need one\n"
    "  help: branch by `func.cond` or `tf.where`, repeat by `func.while_loop`, combine by `&`, `|` and `~`; an argument that must be a Python value is "
    "static (`static_argnums`, `static_argnames`)"
)
_ITERATION = (
    "a tensor cannot be iterated over while a function is traced\n"
    "  help: `func.scan`, `func.map` and `func.fori_loop` go through it; `tf.unstack` gives a list, if the size is known (`fixed_sizes=True`)"
)

# Attributes of arrays that tensors lack.
_ATTRIBUTES = {
    "T": "func.numpy.matrix_transpose(x)",
    "at": "tf.tensor_scatter_nd_update(x, [[i]], [value])",
    "backward": "func.grad(f)(x)",
    "cpu": "x: there are no other devices",
    "detach": "tf.stop_gradient(x)",
    "dim": "x.shape.ndims",
    "double": "tf.cast(x, tf.float64)",
    "flatten": "func.numpy.ravel(x)",
    "float": "tf.cast(x, tf.float32)",
    "grad": "func.grad(f)(x)",
    "item": "x: a call of the function returns its value",
    "mT": "func.numpy.matrix_transpose(x)",
    "ndim": "x.shape.ndims",
    "numpy": "x: a call of the function returns NumPy's arrays",
    "permute": "func.numpy.permute_dims(x, axes)",
    "requires_grad": "func.grad(f, argnums)",
    "size": "tf.size(x)",
    "to": "tf.cast(x, dtype)",
    "tolist": "x: a call of the function returns its value",
    "type": "tf.cast(x, dtype)",
    "unsqueeze": "func.numpy.expand_dims(x, axis)",
    "view": "func.numpy.reshape(x, shape)",
}


# The names of `func.numpy`, which adds them.
of_numpy: Set[str] = set()

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def shorten(error: BaseException) -> None:
    """Leaves the frames of this package out of an error's traceback, so that it shows the user's lines.

    The innermost frame stays unless the error says what helps: it is where a mistake of ours would be. So do
    all frames in Python's development mode (`python -X dev`).
    """
    first = error.__traceback__
    if first is None or sys.flags.dev_mode:
        return
    told = bool(error.args) and "\n  help: " in str(error.args[0])
    kept, step = first, first.tb_next
    while step is not None:
        following = step.tb_next
        if not step.tb_frame.f_code.co_filename.startswith(_PACKAGE) or following is None and not told:
            kept.tb_next = step
            kept = step
        step = following
    kept.tb_next = None


@contextlib.contextmanager
def given(name: str) -> Iterator[None]:
    """Adds advice to the errors of the function of this name, which is traced within."""
    try:
        yield
    except RecursionError:
        raise RecursionError(
            "%s calls itself without an end while it is traced, for `func.cond` traces both of its branches. Write the recursion as a loop "
            "(`func.while_loop`), or make the argument that ends it static" % name
        ) from None
    except errors.InvalidArgumentError as error:
        if re.search(r"feed a value for placeholder tensor 'arg\d", str(error)):
            raise TypeError(
                "%s runs a session for a value that depends on an argument, but arguments have no values while it is traced\n"
                "  help: return the tensor: the call returns its value" % name
            ) from None
        raise
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        text = error.args[0] if error.args else None
        if isinstance(text, str):
            error.args = (_advised(text, isinstance(error, AttributeError)), *error.args[1:])
        raise


def _advised(text: str, of_attribute: bool) -> str:
    """Returns an error's text with what helps."""
    if text.startswith("using a `tf.Tensor` as a Python `bool`"):
        return _BOOL
    if text.startswith("iterating over `tf.Tensor`"):
        return _ITERATION
    if of_attribute:
        cure = _attribute(text)
    else:
        cure = next((cure for pattern, cure in _HELP if re.search(pattern, text, re.S)), None)
    return text if cure is None else "%s\n  help: %s" % (text.partition("\n  help: ")[0], cure)


def _attribute(text: str) -> Any:
    """Returns the advice for an attribute that tensors lack."""
    found = re.match(r"'(?:millstream\.)?Tensor' object has no attribute '(\w+)'", text)
    name = found.group(1) if found else ""
    if name in _ATTRIBUTES:
        use, colon, why = _ATTRIBUTES[name].partition(": ")
        return "use `%s`%s" % (use, colon + why)
    return "use `func.numpy.%s(x, ..)`" % name if name in of_numpy else None
