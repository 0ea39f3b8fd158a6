"""`tf.func`: Python functions as graphs, and their derivatives, without sessions and placeholders.

A loop whose length depends on the data, inside something that is differentiated, takes three lines:

    from millstream import func

    def root(a):  # Newton's iteration to convergence
        step = lambda x: (x + a / x) / 2.0
        return func.while_loop(lambda x: abs(x * x - a) > 1e-6, step, a)

    print(func.value_and_grad(root)(2.0))  # (1.4142135, 0.35355338)

- `function` makes a function over tensors callable with arrays; `grad`, `value_and_grad`, `vjp`, `jvp`,
  `jacobian` and `hessian` return such functions, and can be nested;
- `while_loop`, `fori_loop`, `scan`, `map` and `cond` are loops and branches inside of functions;
- `func.numpy` has NumPy's names for tensors. The operators, `tf.*` and `tf.nn.*` are at hand as well.

How it works:

*Tracing.* The first call runs the Python function once, with a tensor in place of each array and number, and
keeps the graph. Later calls run the graph, without Python. A function is traced again when the structure of
its arguments, a dtype or a rank is new; sizes stay free (unless `fixed_sizes=True`). The most recently used
64 graphs are kept (`cache_size`).

*Arguments* are NumPy arrays, Python numbers, anything with DLPack or `__array__`, and dicts, lists, tuples,
named tuples, dataclasses and attrs classes of these. `None` is an empty structure. A dataclass's field with
`metadata={"static": True}` is not a part of the structure but belongs to its type, as a name does. Other
values are *static*: they are declared by `static_argnums` or `static_argnames`, must be hashable, and are
traced separately, each value.

*Results* are NumPy arrays (NumPy scalars for rank 0) in the structure that the function returned. Large
arrays are neither copied on the way in nor on the way out; an argument must not be modified by another thread
during a call.

*Dtypes.* NumPy's arrays and scalars keep their dtype: float64 stays float64. Python's numbers have none of
their own. A Python float becomes float64 if an array argument of the call is float64 (or complex128), else
float32; an int becomes int64 if an array argument is int64, else int32. So `f(x64, 0.1)` computes in float64
without a cast, as NumPy does, and a call with Python numbers alone is in float32, as in TensorFlow, JAX and
PyTorch. Inside of the function, Python numbers in expressions take the dtype of the tensor beside them, and
those that start loops, or that `func.numpy` makes arrays of, follow the rule for arguments. Tensors of two
dtypes do not mix: cast one by `tf.cast`.

*Operators.* While a function is traced, operators of its code do what they do in NumPy, where TensorFlow 1
has something else or an error: `==` and `!=` compare elements, `/` of integers gives the float of Python
numbers, `@` takes vectors, and arrays of integers are indices (`x[[0, 2]]`, `x[rows, columns]`).

*Closures.* Arrays that the function takes from around it become constants of the graph: later changes of the
array are not seen. A function called within another that is being traced becomes part of its graph, so it may
use the tensors of the outer function, and derivatives of the outer one flow through them.

*Side effects.* What Python does (printing, appending to lists) happens while tracing, not in each call.
`tf.Print` and assertions belong to the graph. Operations without outputs that are made outside of loops and
branches, such as `tf.print` and `tf.debugging.assert_positive`, run in every call, even if no result
depends on them; within a loop or a branch, tie them to a result by `tf.control_dependencies`. A function has
no state: variables are arguments and results.

*Random numbers.* `tf.random_uniform` and its relatives draw new numbers in every call; with a `seed`, each
graph of the function draws its own sequence, which begins with its first call. Value and gradient in one call
see the same numbers.

*Threads.* Functions may be called from any threads at a time; the engine runs without the interpreter's lock.
Tracing is done by one thread at a time for each function.

*Errors* name the line of the function that made the operation. Tracebacks leave out the frames of this
package; `python -X dev` shows them.
"""

from __future__ import annotations

from typing import Any

from millstream.func.derivatives import grad, hessian, jacobian, jvp, value_and_grad, vjp
from millstream.func.flow import cond, fori_loop, map, scan, switch, while_loop  # noqa: A004
from millstream.func.functions import Function, Lowered, function
from millstream.func import numpy, operators as _operators, pairs as _pairs

__all__ = [
    "Function",
    "Lowered",
    "cond",
    "fori_loop",
    "function",
    "grad",
    "hessian",
    "jacobian",
    "jvp",
    "map",
    "numpy",
    "scan",
    "switch",
    "value_and_grad",
    "vjp",
    "while_loop",
]

# Names that people who come from JAX and PyTorch look for.
_ELSEWHERE = {
    "associative_scan": "not there yet: `func.scan` goes step by step",
    "checkpoint": "in loops: `func.while_loop(.., checkpoint_every=k)`",
    "compile": "`func.function` traces, and loops run as compiled code where they can",
    "custom_gradient": "`tf.custom_gradient`",
    "custom_jvp": "`tf.custom_gradient`, from which both modes follow",
    "custom_vjp": "`tf.custom_gradient`",
    "debug": "`tf.print`, and `tf.check_numerics` for NaN and infinity",
    "detach": "`tf.stop_gradient`",
    "eval_shape": "`func.function(f).lower(..).outputs`",
    "for_loop": "`func.fori_loop`",
    "functional_call": "parameters are arguments of the function",
    "hvp": "`func.jvp(func.grad(f), (x,), (v,))`",
    "jacfwd": "`func.jacobian`",
    "jacrev": "`func.jacobian`",
    "jit": "`func.function`",
    "lax": "loops and branches are here: `func.while_loop`, `func.scan`, `func.cond`",
    "linearize": "`func.jvp`",
    "make_jaxpr": "`func.function(f).lower(..)`",
    "nn": "`tf.nn`",
    "no_grad": "nothing is recorded unless a derivative is asked for; `tf.stop_gradient` ends one",
    "pmap": "there are no devices to go to: `func.map`",
    "random": "`tf.random_uniform` and its relatives",
    "remat": "in loops: `func.while_loop(.., checkpoint_every=k)`",
    "select": "`tf.where`",
    "stop_gradient": "`tf.stop_gradient`",
    "tree_map": "`tf.nest.map_structure`",
    "tree_util": "`tf.nest`",
    "vmap": "not there yet: write the batch axis, or go through it by `func.map`, which applies the function to each row",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError("module 'millstream.func' has no attribute %r" % name)
    instead = _ELSEWHERE[name]
    raise AttributeError("module 'millstream.func' has no attribute %r: %s%s" % (name, "use " if instead.startswith("`") else "", instead))
