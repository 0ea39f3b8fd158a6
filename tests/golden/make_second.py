"""Writes derivatives of higher order that JAX computes for programs with unrolled loops.

`crates/testkit/tests/second_order.rs` builds the same programs with `while_loop`.

    python3 -m venv jax && jax/bin/pip install jax==0.10.2
    jax/bin/python tests/golden/make_second.py

writes `second.json`. Each program is a function of a vector `x`, with its `value`, `gradient`, `hessian`, and
`third`, the gradient of `v H v` for v = 1, -1/2, 1/3, .. All numbers are f64. Running it again writes the
same bytes.
"""
import json
import os

import jax
import numpy as np

jax.config.update('jax_enable_x64', True)
import jax.numpy as jnp  # noqa: E402

PROGRAMS = {}


def program(k):
    """Registers a function of `k` numbers."""
    def add(f):
        PROGRAMS[f.__name__] = (k, f)
        return f
    return add


@program(2)
def power(x):
    a = 1.0
    for _ in range(5):
        a = a * x[0]
    return a + x[1] * a * a


@program(2)
def logistic(x):
    a = x[0]
    for _ in range(10):
        a = a + x[1] * a * (1.0 - a)
    return a * a


@program(2)
def until_large(x):
    # Loops while a < 50, so the trip count depends on the data.
    n, b = 0, 1.7
    p = np.asarray(START['until_large'])
    while b < 50.0:
        n, b = n + 1, b * (1.0 + p[0] ** 2) + np.sqrt(b) * p[1] ** 2 + 0.2
    a = 1.7
    for _ in range(n):
        a = a * (1.0 + x[0] ** 2) + jnp.sqrt(a) * x[1] ** 2 + 0.2
    return jnp.log(a)


@program(3)
def two_variables(x):
    a, b = x[0], x[1]
    for i in range(6):
        a, b = jnp.sin(b) + x[2] * a, a * b + 0.1 * i
    return a * a + b


@program(2)
def nested(x):
    a = x[0]
    for i in range(3):
        for _ in range(3):
            a = jnp.tanh(a * x[1]) + 0.3 * x[0]
        a = a * x[1] + 0.1 * i
    return a


@program(2)
def triangle(x):
    a = x[0]
    for i in range(5):
        for j in range(i):
            a = a * x[1] + jnp.sin(a) * 0.1 * (j + 1)
    return a * a


@program(2)
def three_deep(x):
    a = x[0]
    for i in range(2):
        for j in range(2):
            b = jnp.sin(a)
            for k in range(2):
                a = a * x[1] + b * x[0]
    return a


@program(2)
def branch_by_counter(x):
    a = x[0]
    for i in range(6):
        a = a * x[1] if i % 2 == 0 else jnp.sin(a) + x[1] * x[0]
    return a * a


@program(2)
def branch_by_data(x):
    a = x[0]
    for _ in range(8):
        a = jnp.where(a > 0.5, a * a * x[1] - 0.3, jnp.exp(a) * 0.7 + x[0] * x[1])
    return a


@program(2)
def loop_in_branch(x):
    a = x[0]
    for i in range(4):
        if i % 2 == 1:
            for _ in range(i):
                a = jnp.sin(a * x[1]) + 0.2
        else:
            a = a * x[1] + x[0]
    return a * a


@program(12)
def matrix_state(x):
    w, b = x[:9].reshape(3, 3), x[9:]
    a = jnp.array([0.3, -0.2, 0.5])
    for _ in range(4):
        a = jnp.tanh(w @ a + b) + 0.1 * b
    return jnp.sum(a * a * jnp.array([1.0, 2.0, 3.0]))


@program(8)
def rows(x):
    table = x.reshape(4, 2)
    a = jnp.array([0.4, -0.6])
    for i in range(6):
        a = jnp.tanh(a + table[i % 3]) * table[(i * i) % 4]
    return jnp.sum(a * jnp.array([1.0, 2.0]))


@program(2)
def growing(x):
    a = x
    for _ in range(3):
        a = jnp.concatenate([a, jnp.sin(a[:1] * a)])
    return jnp.sum(a * a * a * jnp.arange(1.0, a.shape[0] + 1.0))


@program(2)
def descent(x):
    # Steps of gradient descent, which are differentiated in turn.
    a = x[0]
    for _ in range(4):
        a = a - 0.2 * jax.grad(lambda u: jnp.sin(u * x[1]) * u)(a)
    return a * a


@program(2)
def newton(x):
    # The root of u³ + x1 u - x0.
    u = 1.0 + 0.0 * x[0]
    for _ in range(8):
        u = u - (u ** 3 + x[1] * u - x[0]) / (3.0 * u * u + x[1])
    return u


@program(2)
def elements(x):
    # Every state is kept and used.
    a, kept = x[0], []
    for i in range(5):
        kept.append(a * a)
        a = jnp.sin(a) * x[1] + 0.1 * i
    kept = jnp.stack(kept)
    return jnp.sum(jnp.exp(kept) * kept[::-1]) + a


@program(2)
def no_iteration(x):
    return x[0] ** 3 * x[1]


@program(16)
def lstm(x):
    # An LSTM with one unit and one input: four gates with weights of input, state and bias, then the inputs.
    w = x[:12].reshape(4, 3)
    c = h = 0.0
    for t in range(4):
        z = w @ jnp.stack([x[12 + t], h, 1.0])
        i, f, o = (1.0 / (1.0 + jnp.exp(-g)) for g in (z[0], z[1], z[2]))
        c = f * c + i * jnp.tanh(z[3])
        h = o * jnp.tanh(c)
    return h * h + c


START = {}


def main():
    result = {}
    for name, (k, f) in PROGRAMS.items():
        x = np.random.RandomState(sum(map(ord, name))).uniform(0.3, 0.9, k).round(6)
        START[name] = x.tolist()
        v = np.array([(-1.0) ** i / (i + 1) for i in range(k)])
        result[name] = {
            'x': x.tolist(), 'value': float(f(x)), 'gradient': np.asarray(jax.grad(f)(x)).tolist(),
            'hessian': np.asarray(jax.hessian(f)(x)).ravel().tolist(),
            'third': np.asarray(jax.grad(lambda u: v @ jax.hessian(f)(u) @ v)(x)).tolist()}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'second.json')
    with open(path, 'w') as out:
        out.write('{\n' + ',\n'.join('  %s: %s' % (json.dumps(k), json.dumps(v)) for k, v in result.items()) + '\n}\n')
    print('%d programs' % len(result))


if __name__ == '__main__':
    main()
