"""An equilibrium layer in JAX: iterated until its state rests, and differentiated through the iterations.

`jax.lax.while_loop` has no reverse mode, because the number of its iterations is not known beforehand. Here
the loop is Millstream's. The usual way around it in JAX, a loop of fixed length, is run for comparison; the
times go to the standard error.
"""

import sys
import time
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

import millstream as tf
import millstream.jax
from millstream import func

jax.config.update("jax_enable_x64", True)


def layer(p: Any, x: Any) -> Any:
    """Returns the state z with z = tanh(W z + U x)."""
    drive = tf.linalg.matvec(p["u"], x)
    follow = lambda z: tf.tanh(tf.linalg.matvec(p["w"], z) + drive)

    def step(state: Any) -> Any:
        z, _ = state
        after = follow(z)
        return after, tf.reduce_max(tf.abs(after - z))

    return func.while_loop(lambda s: s[1] > 1e-9, step, (tf.zeros_like(drive), 0.0 * drive[0] + 1.0))[0]


def fixed(p: Any, x: Any, n: int = 100) -> Any:
    """The same as a loop of JAX with a fixed number of iterations, enough for the slowest case."""
    drive = p["u"] @ x
    follow = lambda z, _: (jnp.tanh(p["w"] @ z + drive), None)
    return jax.lax.scan(follow, jnp.zeros_like(drive), None, length=n)[0]


def refused(p: Any, x: Any) -> Any:
    """The same with `jax.lax.while_loop`."""
    drive = p["u"] @ x
    follow = lambda s: (jnp.tanh(p["w"] @ s[0] + drive), jnp.max(jnp.abs(jnp.tanh(p["w"] @ s[0] + drive) - s[0])))
    return jax.lax.while_loop(lambda s: s[1] > 1e-9, follow, (jnp.zeros_like(drive), 1.0))[0]


def main() -> None:
    rng = np.random.RandomState(0)
    p = {"w": rng.randn(32, 32) * 0.05, "u": rng.randn(32, 8)}
    x, target = rng.randn(8), np.tanh(rng.randn(32))
    losses = {}
    ways: Any = (("millstream", millstream.jax.wrap(layer)), ("lax.scan", fixed))
    for name, f in ways:
        update = jax.jit(jax.value_and_grad(lambda p, f=f: jnp.mean((f(p, x) - target) ** 2)))
        q = p
        for _ in range(200):
            value, g = update(q)
            q = jax.tree_util.tree_map(lambda w, d: w - 0.5 * d, q, g)
        losses[name] = float(value)
        begin = time.perf_counter()
        for _ in range(100):
            value, g = update(q)
        jax.block_until_ready(g)
        print("%s: %.3f ms for the loss and its gradient" % (name, (time.perf_counter() - begin) * 10), file=sys.stderr)
    print("both ways learn the same: %s" % np.isclose(losses["millstream"], losses["lax.scan"], rtol=1e-4))
    try:
        jax.grad(lambda p: jnp.sum(refused(p, x)))(p)
    except ValueError as error:
        print("jax.lax.while_loop:", str(error).split(".")[0])


if __name__ == "__main__":
    main()
