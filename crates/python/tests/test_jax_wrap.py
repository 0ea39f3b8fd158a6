"""`millstream.jax.wrap`: functions with data-dependent loops in JAX."""

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
    fails("forward-mode", jax.jvp, millstream.jax.wrap(root), (2.0,), (1.0,))
