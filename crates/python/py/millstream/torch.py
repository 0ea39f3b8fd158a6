"""`millstream.torch`: functions with data-dependent loops as parts of PyTorch programs.

    import torch
    import millstream.torch
    from millstream import func

    def root(a):  # Newton's iteration to convergence
        return func.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) / 2.0, a)

    root = millstream.torch.wrap(root)
    a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    root(a).backward()
    print(a.grad)  # tensor(0.3536, dtype=torch.float64)

PyTorch is imported with this module, which nothing else of Millstream needs.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from torch.autograd import forward_ad
from torch.utils import _pytree

from millstream._engine import Tensor
from millstream.func import advice, nests, tracing
from millstream.func.calls import TracedRun, static_key
from millstream.func.functions import Argnums, Function, _static
from millstream.func.pairs import Differentiated, Pair, Store

__all__ = ["wrap"]

# The innermost of the transformations of `torch.func` that the caller is in, or None.
_transforms = torch._C._functorch.peek_interpreter_stack

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_NUMPY: Dict[Any, Any] = {
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.uint8: np.dtype(np.uint8),
    torch.bool: np.dtype(np.bool_),
}


def wrap(
    f: Optional[Callable[..., Any]] = None,
    *,
    static_argnums: Argnums = (),
    static_argnames: Union[str, Iterable[str]] = (),
    fixed_sizes: bool = False,
) -> Any:
    """Returns a function of PyTorch's tensors that runs a function over Millstream's.

    `f` is written as for `func.function`; loops and branches in it depend on the data, and gradients of any
    order flow back through them. Large tensors are not copied on the way in or out, except arguments that
    the gradient needs, of which the forward pass keeps a copy. It keeps all values that the gradient needs,
    so `backward` does not run it again (`create_graph=True` does, for the derivative of the derivative).

    The result works in `torch.nn.Module`s and in `torch.compile`, where it is an opaque operation, and under
    `torch.func.grad`, `torch.func.jacrev` and `torch.vmap`, which calls it for one entry of the batch after
    another. Forward mode is refused; `func.jvp` has it. Gradients flow to tensors of floating point in the
    arguments; Python numbers and NumPy arrays are constants.

    Args:
      f: A function over tensors. Without it, a decorator is returned.
      static_argnums: As for `func.function`.
      static_argnames: As for `func.function`.
      fixed_sizes: As for `func.function`.

    Returns:
      A function of tensors on the CPU (float32, float64, integers, bool), numbers, NumPy arrays, and dicts,
      lists and tuples of them. It returns tensors in the structure of the result of `f`.

    Raises:
      TypeError: By the call: a tensor is on another device, has another dtype or layout.

    Example:
      >>> import millstream.torch, torch
      >>> from millstream import func
      >>> cube = millstream.torch.wrap(lambda x: func.fori_loop(0, 2, lambda i, y: y * x, x))
      >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
      >>> cube(x).sum().backward()
      >>> x.grad.tolist()
      [3.0, 12.0]
    """
    if f is None:
        return functools.partial(wrap, static_argnums=static_argnums, static_argnames=static_argnames, fixed_sizes=fixed_sizes)
    inner = f._f if isinstance(f, Function) else getattr(f, "_millstream_function", f)
    if not callable(inner):
        raise TypeError("millstream.torch.wrap takes a function, but got %r (of type %s)" % (f, type(f).__name__))
    if isinstance(f, Function) and not static_argnums and not static_argnames:
        positions, names, fixed_sizes = list(f._positions), list(f._names), fixed_sizes or f._fixed_sizes
    else:
        positions, names = _static(inner, static_argnums, static_argnames)
    wrapped = _Wrapped(inner, frozenset(positions), frozenset(names), fixed_sizes)

    # `torch.compile` keeps the call of this function as it is, and learns from the operation in it what it
    # returns.
    @torch.compiler.allow_in_graph
    def flat(*args: Any, **kwargs: Any) -> Any:
        return wrapped.flat(args, kwargs)

    @torch.compiler.assume_constant_result
    def form() -> str:
        return wrapped.latest

    @functools.wraps(inner)
    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            values = flat(*args, **kwargs)
            return _filled(form().split("\x1f"), 0, values)[0]
        return wrapped(args, kwargs)

    call._millstream_function = inner  # type: ignore[attr-defined]
    return call


def _encoded(form: Any) -> List[str]:
    """Returns a structure of indices as tokens: a text is all that `torch.compile` takes as a constant."""
    if form is None:
        return ["none"]
    if isinstance(form, int):
        return ["value", str(form)]
    if type(form) is dict and all(isinstance(key, str) for key in form):
        return ["dict", str(len(form))] + [token for key, item in form.items() for token in [key, *_encoded(item)]]
    if type(form) in (list, tuple):
        return [type(form).__name__, str(len(form))] + [token for item in form for token in _encoded(item)]
    raise TypeError("in torch.compile, results are tensors, or lists, tuples and dicts (by str) of them, not %s" % type(form).__name__)


def _filled(tokens: List[str], at: int, values: Any) -> Tuple[Any, int]:
    """Returns the structure of the tokens from `at` on, with values for its indices, and where it ends."""
    kind = tokens[at]
    if kind == "none":
        return None, at + 1
    n = int(tokens[at + 1])
    at += 2
    if kind == "value":
        return values[n], at
    if kind == "dict":
        made = {}
        for _ in range(n):
            made[tokens[at]], at = _filled(tokens, at + 1, values)
        return made, at
    items = []
    for _ in range(n):
        item, at = _filled(tokens, at, values)
        items.append(item)
    return (tuple(items) if kind == "tuple" else items), at


class _Wrapped:
    """A function of PyTorch's tensors."""

    def __init__(self, f: Any, positions: frozenset, names: frozenset, fixed_sizes: bool) -> None:
        self._f, self._positions, self._names, self._fixed_sizes = f, positions, names, fixed_sizes
        self._programs: Dict[Any, _Program] = {}
        # Those for a number of tensors and nothing else.
        self._of_tensors: Dict[int, _Program] = {}
        self._lock = threading.Lock()
        self.latest = ""

    def __call__(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Returns the results in their structure."""
        try:
            run, values = self._run(args, kwargs)
        except Exception as error:
            advice.shorten(error)
            raise
        structure = run.trace.structure
        return values[0] if isinstance(structure, Tensor) else nests.pack(structure, values)

    def flat(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        """Returns the results as a tuple, and leaves their structure in `latest`."""
        run, values = self._run(args, kwargs)
        self.latest = "\x1f".join(_encoded(nests.pack(run.trace.structure, range(len(values)))))
        return tuple(values)

    def _run(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[TracedRun, Sequence[Any]]:
        # Most calls have tensors as positional arguments and nothing else.
        program = None if kwargs or self._positions else self._of_tensors.get(len(args))
        if program is not None and all(type(a) in _PLAIN for a in args):
            tensors: Sequence[Any] = args
        else:
            tensors, program = self._resolved(args, kwargs)
        for tensor in tensors:
            if tensor.dtype not in _NUMPY or tensor.layout is not torch.strided or not tensor.is_cpu:
                raise _refused(tensor, self, self._dynamic(args, kwargs))
        run = program.run_of(tensors)
        if 0 <= forward_ad._current_level and any(forward_ad.unpack_dual(t).tangent is not None for t in tensors):
            raise NotImplementedError(
                "forward-mode differentiation (`torch.func.jvp`, `torch.func.jacfwd`, `torch.func.hessian`, dual tensors) of %s does not go through "
                "millstream.torch.wrap: use reverse mode (`torch.func.jacrev`), or `func.jvp` of the function that is wrapped" % tracing.called(self._f)
            )
        if _transforms() is not None:
            return run, _Transformed.apply(program, *tensors)
        if any(type(t) not in _PLAIN for t in tensors):
            return run, torch.ops.millstream.call(list(tensors), program.number)[:-1]
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return run, _Run.apply(program, run, *tensors)
        return run, [torch.from_numpy(np.asarray(v)) for v in run.flat(_arrays(tensors))]

    def _dynamic(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        return [a for i, a in enumerate(args) if i not in self._positions], {k: v for k, v in kwargs.items() if k not in self._names}

    def _resolved(self, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[List[Any], "_Program"]:
        """Returns the tensors in the arguments, and the program for what else is there."""
        leaves, spec = _pytree.tree_flatten(self._dynamic(args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        program = self._program(leaves, spec, args, kwargs)
        if len(tensors) == len(args) and not kwargs and not self._positions:
            self._of_tensors[len(args)] = program
        return tensors, program

    def _program(self, leaves: List[Any], spec: Any, args: Any, kwargs: Any) -> "_Program":
        """Returns the program for a structure of arguments, and for those that are no tensors."""
        others = tuple(None if isinstance(leaf, torch.Tensor) else _key(leaf) for leaf in leaves)
        key = (spec, others, static_key(args, kwargs, self._positions, self._names))
        with self._lock:
            found = self._programs.get(key)
            if found is None:
                found = self._programs[key] = _Program(self._pair(leaves, spec, args, kwargs))
        return found

    def _pair(self, leaves: List[Any], spec: Any, args: Any, kwargs: Any) -> Pair:
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        fixed = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        static_args = {i: args[i] for i in self._positions if i < len(args)}
        static_kwargs = {k: v for k, v in kwargs.items() if k in self._names}
        n_args, f = len(args), self._f

        def of(*tensors: Any) -> Any:
            flat = list(fixed)
            for place, tensor in zip(places, tensors):
                flat[place] = tensor
            some, named = _pytree.tree_unflatten(flat, spec)
            rest = iter(some)
            return f(*[static_args[i] if i in static_args else next(rest) for i in range(n_args)], **named, **static_kwargs)

        of.__wrapped__ = f  # type: ignore[attr-defined]
        return Pair(of, fixed_sizes=self._fixed_sizes)


def _key(leaf: Any) -> Any:
    """Returns what an argument that is no tensor is known by."""
    if isinstance(leaf, np.ndarray):
        return ("array", leaf.dtype.str, leaf.shape, leaf.tobytes())
    try:
        hash(leaf)
    except TypeError:
        raise TypeError("millstream.torch: an argument is %.60r (of type %s): pass tensors, numbers, NumPy arrays, or structures of them" % (leaf, type(leaf).__name__)) from None
    return (type(leaf), leaf)


def _refused(tensor: Any, of: _Wrapped, given: Any) -> TypeError:
    """Returns the error for a tensor of a kind that the engine does not compute with."""
    path: Any = next(path for path, leaf in _pytree.tree_flatten_with_path(given)[0] if leaf is tensor)
    first = getattr(path[1], "idx", None)
    name = "argument %s%s" % ("`%s`" % path[1].key if first is None else first, _pytree.keystr(path[2:]))
    place = "%s of %s" % (name, tracing.called(of._f))
    if tensor.device.type != "cpu":
        return TypeError("%s is on device `%s`, but Millstream computes on the CPU: pass `x.cpu()`, and move the result back" % (place, tensor.device))
    if tensor.layout != torch.strided:
        return TypeError("%s has the layout %s, but must be dense: pass `x.to_dense()`" % (place, tensor.layout))
    cure = "pass its real and imaginary parts (`torch.view_as_real`)" if tensor.dtype.is_complex else "convert it, as by `x.float()`"
    return TypeError("%s is %s, which millstream.torch does not take: %s" % (place, tensor.dtype, cure))


_programs: List["_Program"] = []
_store = Store()


class _Program:
    """A function of a list of tensors, known by its number to the operation that `torch.compile` sees."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._next: Optional[_Program] = None
        self._lock = threading.Lock()
        self._runs: Dict[Any, TracedRun] = {}
        _programs.append(self)
        self.number = len(_programs) - 1

    def run_of(self, tensors: Sequence[Any]) -> TracedRun:
        """Returns the run for tensors, whose values do not matter."""
        fixed = self.pair._fixed_sizes
        key = (os.getpid(), *[(t.dtype, t.shape if fixed else t.dim()) for t in tensors])
        run = self._runs.get(key)
        if run is None:
            sizes = [[int(n) for n in t.shape] if fixed else [1] * t.dim() for t in tensors]
            run = self.pair._run_of(tuple(np.empty(size, _NUMPY[t.dtype]) for t, size in zip(tensors, sizes)), {})
            if 64 <= len(self._runs):
                self._runs.clear()
            self._runs[key] = run
        return run

    def of(self, tensors: Sequence[Any]) -> Differentiated:
        """Returns the graph for tensors, whose values do not matter."""
        return self.run_of(tensors).trace

    def forward(self, tensors: Sequence[Any]) -> Tuple[List[Any], Any]:
        """Runs the function, and keeps what its gradient needs."""
        values, residuals = self.of(tensors).split.forward(_arrays(tensors))
        return [torch.from_numpy(v) for v in values], residuals

    def derivative(self, n: int) -> "_Program":
        """Returns the gradient as a program of `n` tensors and cotangents."""
        with self._lock:
            if self._next is None:
                self._next = _Program(self.pair.derivative(n))
            return self._next


def _arrays(tensors: Sequence[Any]) -> List[Any]:
    return [t.numpy(force=True) for t in tensors]


class _Run(torch.autograd.Function):
    """A run whose gradient is asked for."""

    @staticmethod
    def forward(ctx: Any, program: _Program, run: TracedRun, *tensors: Any) -> Any:
        """Runs the program, and keeps residuals."""
        arrays, ctx.residuals = run.trace.split.forward(_arrays(tensors))
        values = [torch.from_numpy(a) for a in arrays]
        ctx.program, ctx.of = program, run.trace
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*[v for v in values if not v.dtype.is_floating_point])
        return tuple(values)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Returns the gradients: from the residuals, or, to be differentiated, as a run of their own."""
        tensors, of = ctx.saved_tensors, ctx.of
        given = [cotangents[i] for i in of.with_cotangents]
        if torch.is_grad_enabled():
            program = ctx.program.derivative(len(tensors))
            found = _Run.apply(program, program.run_of([*tensors, *given]), *tensors, *given)
        else:
            found = [torch.from_numpy(g) for g in ctx.residuals.backward(_arrays(given))]
        return (None, None, *_placed(of, len(tensors), found))


class _Transformed(torch.autograd.Function):
    """A run under transformations of `torch.func`, which take functions without a state.

    There are no residuals then: the gradient is a run that computes what it needs of the values itself.
    """

    @staticmethod
    def forward(program: _Program, *tensors: Any) -> Any:
        """Runs the program."""
        return tuple(torch.from_numpy(np.asarray(v)) for v in program.run_of(tensors).flat(_arrays(tensors)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keeps the arguments."""
        ctx.program, tensors = inputs[0], inputs[1:]
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*[v for v in output if not v.dtype.is_floating_point])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Returns the gradients, as a run that can be differentiated."""
        tensors = ctx.saved_tensors
        of = ctx.program.of(tensors)
        given = [cotangents[i] for i in of.with_cotangents]
        found = _Transformed.apply(ctx.program.derivative(len(tensors)), *tensors, *given)
        return (None, *_placed(of, len(tensors), found))

    @staticmethod
    def vmap(info: Any, in_dims: Any, program: _Program, *tensors: Any) -> Any:
        """Calls the program for each entry of a batch."""
        if not info.batch_size:
            raise ValueError("torch.vmap of %s: the batch is empty, so the sizes of the results are not known" % tracing.called(program.pair._f))
        at = lambda b: [t if dim is None else t.select(dim, b) for t, dim in zip(tensors, in_dims[1:])]
        found = [_Transformed.apply(program, *at(b)) for b in range(info.batch_size)]
        return tuple(torch.stack(parts) for parts in zip(*found)), (0,) * len(found[0])


def _placed(of: Differentiated, n: int, found: Sequence[Any]) -> List[Any]:
    """Returns a gradient for each of `n` inputs, None where there is none."""
    grads: List[Any] = [None] * n
    for place, grad in zip(of.differentiable, found):
        grads[place] = grad
    return grads


# The operation that `torch.compile` sees. Its last result is the number of the residuals.


@torch.library.custom_op("millstream::call", mutates_args=())
def _op(tensors: List[torch.Tensor], program: int) -> List[torch.Tensor]:
    values, residuals = _programs[program].forward(tensors)
    return [*values, torch.tensor(_store.put(residuals))]


@_op.register_fake
def _op_fake(tensors: List[torch.Tensor], program: int) -> List[torch.Tensor]:
    of = _programs[program].of(tensors)
    sizes = _sizes(_programs[program], tensors, of)
    made = [tensors[0].new_empty(size, dtype=_torch_dtype(y)) if tensors else torch.empty(size, dtype=_torch_dtype(y)) for size, y in zip(sizes, of.outputs)]
    return [*made, torch.empty((), dtype=torch.int64)]


def _torch_dtype(y: Any) -> Any:
    return next(t for t, n in _NUMPY.items() if n == y.dtype.as_numpy_dtype)


def _sizes(program: _Program, tensors: Sequence[Any], of: Differentiated) -> List[Any]:
    """Returns the sizes of the results for the sizes of the arguments."""
    found: List[Any] = [y.shape.as_list() if y.shape.ndims is not None else None for y in of.outputs]
    if all(dims is not None and None not in dims for dims in found):
        return found
    known = all(isinstance(n, int) for t in tensors for n in t.shape)
    if known:
        # Traced again for these sizes, which tells those of the results.
        exact = Pair(program.pair._f, fixed_sizes=True).of([np.empty(tuple(t.shape), _NUMPY[t.dtype]) for t in tensors])
        found = [y.shape.as_list() if y.shape.ndims is not None else None for y in exact.outputs]
    context = torch.library.get_ctx()
    unknown = [y for y, dims in zip(of.outputs, found) if dims is None]
    if unknown:
        raise TypeError("torch.compile: the rank of the result %s of %s is not known while compiling" % (unknown[0].name, tracing.called(program.pair._f)))
    return [[context.new_dynamic_size() if n is None else n for n in dims] for dims in found]


def _op_setup(ctx: Any, inputs: Any, output: Any) -> None:
    tensors, ctx.program = inputs
    ctx.n = len(tensors)
    ctx.save_for_backward(*tensors, output[-1])


@torch.library.custom_op("millstream::grad", mutates_args=())
def _grad_op(tensors: List[torch.Tensor], cotangents: List[torch.Tensor], number: torch.Tensor, program: int) -> List[torch.Tensor]:
    residuals = _store.take(int(number))
    if residuals is None:
        _, residuals = _programs[program].forward(tensors)
    return [torch.from_numpy(g) for g in residuals.backward(_arrays(cotangents))]


@_grad_op.register_fake
def _grad_fake(tensors: List[torch.Tensor], cotangents: List[torch.Tensor], number: torch.Tensor, program: int) -> List[torch.Tensor]:
    of = _programs[program].of(tensors)
    return [torch.empty_like(tensors[i], memory_format=torch.contiguous_format) for i in of.differentiable]


def _grad_setup(ctx: Any, inputs: Any, output: Any) -> None:
    tensors, cotangents, _, ctx.program = inputs
    ctx.n = len(tensors)
    ctx.save_for_backward(*tensors, *cotangents)


def _grad_backward(ctx: Any, grads: Any) -> Any:
    saved = ctx.saved_tensors
    program = _programs[ctx.program].derivative(ctx.n)
    found = _op_gradients(program, saved, torch.ops.millstream.call(list(saved), program.number)[-1], list(grads))
    return found[: ctx.n], found[ctx.n :], None, None


def _op_backward(ctx: Any, grads: Any) -> Any:
    *tensors, number = ctx.saved_tensors
    return _op_gradients(_programs[ctx.program], tensors, number, list(grads[:-1])), None


def _op_gradients(program: _Program, tensors: Sequence[Any], number: Any, grads: List[Any]) -> List[Any]:
    of = program.of(tensors)
    given = [grads[i] for i in of.with_cotangents]
    missing = [i for i, g in enumerate(given) if g is None]
    if missing:
        values = torch.ops.millstream.call(list(tensors), program.number)
        for i in missing:
            given[i] = torch.zeros_like(values[of.with_cotangents[i]])
    found = torch.ops.millstream.grad(list(tensors), given, number, program.number)
    return _placed(of, len(tensors), found)


_op.register_autograd(_op_backward, setup_context=_op_setup)
_grad_op.register_autograd(_grad_backward, setup_context=_grad_setup)
