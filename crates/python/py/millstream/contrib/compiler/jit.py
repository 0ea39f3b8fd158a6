"""`tf.contrib.compiler.jit`: the scope in which TensorFlow asks XLA to compile operations."""

from __future__ import annotations

import contextlib
from typing import Any, Iterator

from millstream.framework import namespaces, protos
from millstream.framework.graph import get_default_graph

__all__ = ["experimental_jit_scope"]

__getattr__ = namespaces.getattr_of(__name__)


def __dir__() -> list:
    return list(__all__)


@contextlib.contextmanager
def experimental_jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """A block whose operations TensorFlow compiles; here the engine chooses what it compiles.

    The block sets the attributes of operations that TensorFlow reads: `_XlaCompile`, `_XlaScope` and
    `_XlaSeparateCompiledGradients`. A block in another belongs to its scope.

    Args:
      compile_ops: Whether to compile: True, False, or a function from a `NodeDef` to one of them.
      separate_compiled_gradients: Whether TensorFlow compiles gradients apart from what they differentiate.

    Example:
      >>> with tf.contrib.compiler.jit.experimental_jit_scope():
      ...     y = tf.multiply(2.0, 3.0)
      >>> y.op.get_attr("_XlaCompile"), y.op.get_attr("_XlaScope")
      (True, b'jit_scope_0')
    """
    graph: Any = get_default_graph()
    if callable(compile_ops):
        chosen: Any = lambda node_def: protos.AttrValue(b=bool(compile_ops(node_def)))  # noqa: E731
    else:
        chosen = protos.AttrValue(b=bool(compile_ops))
    is_inner = getattr(graph, "_jit_depth", 0)
    if not is_inner:
        graph._jit_scopes = getattr(graph, "_jit_scopes", -1) + 1
    attributes = {
        "_XlaCompile": chosen,
        "_XlaSeparateCompiledGradients": protos.AttrValue(b=bool(separate_compiled_gradients)),
        "_XlaScope": protos.AttrValue(s=b"jit_scope_%d" % graph._jit_scopes),
    }
    graph._jit_depth = is_inner + 1
    try:
        with graph._attr_scope(attributes):
            yield
    finally:
        graph._jit_depth = is_inner
