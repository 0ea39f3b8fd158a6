"""`millstream.jax.wrap`: functions with data-dependent loops in JAX."""

import copy
import re

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from jax import numpy as jnp
from jax.test_util import check_grads

import millstream as tf
import millstream.jax
from millstream import func


@pytest.fixture(autouse=True)
def _x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def root(a):
    return func.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2.0, a)


def settle(p, x):
    """Iterates a small net until its state is large enough."""

    def body(s):
        return s[0] + 1, tf.tanh(tf.linalg.matvec(p["w"], s[1])) + p["b"]

    n, h = func.while_loop(lambda s: tf.logical_and(s[0] < 6, tf.reduce_sum(s[1] ** 2) < 1.5), body, (0, x))
    return {"h": h, "n": n}


PARAMETERS = {"w": np.random.RandomState(0).randn(3, 3), "b": np.full(3, 0.5)}


def test_values_and_derivatives_of_any_order():
    f = millstream.jax.wrap(root)
    wanted = [2**0.5, 0.5 * 2**-0.5, -0.25 * 2**-1.5, 0.375 * 2**-2.5]
    for value in wanted:
        assert np.allclose(f(2.0), value) and np.allclose(jax.jit(f)(2.0), value)
        f = jax.grad(f)


def test_dtypes():
    f = millstream.jax.wrap(lambda x: x * 2)
    for dtype in ("float32", "float64", "int32", "int64", "uint8"):
        assert f(jnp.ones(2, dtype)).dtype == dtype


def test_vmap_calls_entry_by_entry():
    f, a = millstream.jax.wrap(root), jnp.array([2.25, 4.0, 9.0])
    assert np.allclose(jax.vmap(f)(a), [1.5, 2, 3])
    values, slopes = jax.jit(jax.vmap(jax.value_and_grad(f)))(a)
    assert np.allclose(values, [1.5, 2, 3]) and np.allclose(slopes, [1 / 3, 1 / 4, 1 / 6])


def test_structures_and_check_grads():
    f = millstream.jax.wrap(settle)
    out = f(PARAMETERS, np.full(3, 0.1))
    assert set(out) == {"h", "n"} and out["n"].dtype == "int32"
    check_grads(lambda p, x: f(p, x)["h"], (PARAMETERS, np.full(3, 0.1)), order=2, modes=["rev"])
    assert jax.jacrev(jax.jacrev(lambda x: f(PARAMETERS, x)["h"]))(np.full(3, 0.1)).shape == (3, 3, 3)


def test_the_forward_pass_runs_once(capfd):
    def f(x):
        with tf.control_dependencies([tf.print("forward")]):
            return tf.exp(tf.identity(x))

    jax.block_until_ready(jax.grad(millstream.jax.wrap(f))(1.0))
    assert capfd.readouterr().err.count("forward") == 1


def test_residuals_that_are_gone_are_computed_again():
    value, back = jax.vjp(millstream.jax.wrap(root), 2.0)
    first = back(1.0)[0]
    assert np.allclose(first, 0.5 * 2**-0.5) and np.allclose(back(2.0)[0], 2 * first)


def test_static_arguments():
    f = millstream.jax.wrap(lambda x, n, how="mul": x**n if how == "mul" else x + n, static_argnums=1, static_argnames="how")
    assert f(2.0, 3) == 8 and f(2.0, 3, how="add") == 5 and jax.grad(f)(2.0, 3) == 12


def fails(match, f, *args, **kwargs):
    with pytest.raises(TypeError) as error:
        f(*args, **kwargs)
    assert re.search(match, str(error.value)), str(error.value)


def test_errors():
    f = millstream.jax.wrap(settle)
    fails(r"argument 0\['w'\] of `settle` \(.*\) is bfloat16, which millstream.jax does not take", f, {"w": jnp.bfloat16(1), "b": 1.0}, 1.0)
    fails(r"argument `x` of .* is complex128.*real and imaginary", f, PARAMETERS, x=1j)
    grown = millstream.jax.wrap(lambda x: func.while_loop(lambda v: tf.size(v) < 5, lambda v: tf.concat([v, v], 0), x))
    fails(r"a result of .* is float64\[\?\]: its size depends on values.*Pad it", grown, np.ones(2))
    fails("takes a function, but got 3", millstream.jax.wrap, 3)
    fails("forward-mode.*\n  help: .*`jax.jacrev`", jax.jvp, millstream.jax.wrap(root), (2.0,), (1.0,))
    fails("argument 1 is 'fast' .*\n  help: declare it static", millstream.jax.wrap(lambda x, mode: x), 1.0, "fast")


def test_decorators_methods_and_copies():
    class Scaled:
        by = 3.0

        @millstream.jax.wrap(static_argnums=2)
        def of(self, x, n):
            return self.by * x**n

    one = Scaled()
    assert one.of(2.0, 2) == 12 and jax.grad(one.of)(2.0, 2) == 12 and one.of is one.of
    assert np.allclose(copy.deepcopy(millstream.jax.wrap(root))(4.0), 2.0)


def test_mistakes():
    f = millstream.jax.wrap(lambda x, n: x**n, static_argnums=1)
    fails("argument 1 is static but got .*DynamicJaxprTracer", jax.jit(f), 2.0, 3)
    fails("argument 0 of .* is key<", millstream.jax.wrap(lambda k: k), jax.random.key(0))
    fails("do not compute with Millstream's tensors", millstream.jax.wrap(lambda x: jnp.sin(x)), 1.0)
    fails("Pass it as an argument, through which gradients flow", jax.grad(lambda w: millstream.jax.wrap(lambda x: x * w)(2.0)), 3.0)


# `func` has the derivatives of JAX, where both have the functions.

A, V = np.random.RandomState(1).randn(4, 4) * 0.3, np.random.RandomState(2).randn(4)

BOTH = {
    "products": lambda n, a, x: x @ (a @ x) + n.sum(n.outer(x, x) * a) + n.einsum("ij,jk,k->", a, a, x),
    "logsumexp": lambda n, a, x: n.log(n.sum(n.exp(a @ x))),
    "indices": lambda n, a, x: n.sum(a[np.array([0, 2, 2]), np.array([1, 1, 3])] * x[np.array([0, -1, 2])]),
    "where": lambda n, a, x: n.sum(n.where(x > 0, x * x, n.sin(x)) * n.clip(x, -0.5, 0.5)),
    "statistics": lambda n, a, x: n.std(a) * n.var(x) + n.max(a @ x) + n.min(x),
    "order": lambda n, a, x: n.sum(n.sort(x) * np.arange(4.0)) + n.sum(n.cumsum(x) * a[1]) + n.prod(x),
    "two": lambda n, a, x: n.sum(n.hypot(x, a[0]) + n.logaddexp(x, a[1]) + n.arctan2(x, a[2]) + n.abs(x) ** 1.7),
}


@pytest.mark.parametrize("name", sorted(BOTH))
def test_derivatives_of_func_are_those_of_jax(name):
    ours, theirs = (lambda a, x: BOTH[name](func.numpy, a, x)), (lambda a, x: BOTH[name](jnp, a, x))
    for one, other in zip(func.grad(ours, (0, 1))(A, V), jax.grad(theirs, (0, 1))(A, V)):
        assert np.allclose(one, other, rtol=1e-10, atol=1e-12)
    assert np.allclose(func.hessian(ours, 1)(A, V), jax.hessian(theirs, 1)(A, V), rtol=1e-9, atol=1e-12)


def test_derivatives_of_loops_are_those_of_jax():
    def scanned(n, scan, switch):
        def f(a, x, reverse):
            step = lambda h, v: (n.tanh(a @ h) * v, n.sum(h * h))
            last, ys = scan(step, x, A[0], reverse=reverse)
            return n.sum(last) + n.sum(ys * A[1]) + switch(2, [lambda: x[0], lambda: x[1], lambda: x[2] * x[3]])

        return f

    ours, theirs = scanned(func.numpy, func.scan, func.switch), scanned(jnp, jax.lax.scan, jax.lax.switch)
    for reverse in (False, True):
        f, g = (lambda a, x: ours(a, x, reverse)), (lambda a, x: theirs(a, x, reverse))
        for one, other in zip(func.grad(f, (0, 1))(A, V), jax.grad(g, (0, 1))(A, V)):
            assert np.allclose(one, other, rtol=1e-10)
        assert np.allclose(func.hessian(f, 1)(A, V), jax.hessian(g, 1)(A, V), rtol=1e-9)
        assert np.allclose(func.jvp(f, (A, V), (A, V))[1], jax.jvp(g, (A, V), (A, V))[1], rtol=1e-10)
