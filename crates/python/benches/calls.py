"""Measures calls of functions: `calls.py` prints a JSON line with microseconds a call and milliseconds a trace.

`python calls.py` measures `tf.func` alone; where JAX or PyTorch can be imported, their own calls of the same
function are measured in the same run: JAX's jitted dispatch, and PyTorch's eager operations and its compiled
function. Each figure is the best of 20 repetitions of 2,000 calls. Run nothing else at the same time.
"""

import json
import time

import numpy as np

import millstream as tf
from millstream import func


def best(call, n=2000, repetitions=20):
    """Returns the microseconds of a call: the best repetition."""
    for _ in range(n):
        call()
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        for _ in range(n):
            call()
        times.append((time.perf_counter() - begin) / n * 1e6)
    return round(min(times), 2)


def root(a):
    return func.while_loop(lambda x: abs(x * x - a) > 1e-6, lambda x: (x + a / x) / 2.0, a)


def traced():
    """Returns the milliseconds of tracing a loop, and of a whole function with its graph, session and plan."""
    loops, wholes = [], []
    for _ in range(50):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [])
            begin = time.perf_counter()
            root(x)
            loops.append((time.perf_counter() - begin) * 1e3)
        begin = time.perf_counter()
        func.function(root)(2.0)
        wholes.append((time.perf_counter() - begin) * 1e3)
    return round(float(np.median(loops)), 3), round(float(np.median(wholes)), 3)


def main():
    scalar = lambda x: x * x + 1.0
    f, g = func.function(scalar), func.value_and_grad(root)
    small, large = np.ones(8, np.float32), np.ones(100_000, np.float32)
    found = {"float": best(lambda: f(3.0)), "8 floats": best(lambda: f(small)), "100,000 floats": best(lambda: f(large), 200)}
    h = func.function(lambda p: p["a"] * p["b"])
    found["dict of two"] = best(lambda: h({"a": 1.0, "b": 2.0}))
    found["loop with its gradient"] = best(lambda: g(2.0))
    found["trace of a loop, ms"], found["first call of a function, ms"] = traced()
    try:
        import jax
    except ImportError:
        pass
    else:
        j, x = jax.jit(scalar), jax.numpy.float32(3.0)
        on_arrays = jax.numpy.asarray(small)
        found["jax.jit, float"] = best(lambda: j(3.0))
        found["jax.jit, its scalar"] = best(lambda: j(x))
        found["jax.jit, 8 floats of numpy, and back"] = best(lambda: np.asarray(j(small)))
        found["jax.jit, 8 floats"] = best(lambda: j(on_arrays))
    try:
        import torch
    except ImportError:
        pass
    else:
        import millstream.torch

        t, m = torch.tensor(3.0), millstream.torch.wrap(scalar)
        needs = torch.tensor(3.0, requires_grad=True)
        found["torch, eager"] = best(lambda: scalar(t))
        found["millstream.torch.wrap"] = best(lambda: m(t))
        found["torch, eager, forward and backward"] = best(lambda: scalar(needs).backward())
        found["millstream.torch.wrap, forward and backward"] = best(lambda: m(needs).backward())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
