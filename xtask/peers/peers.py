"""The loads of `cargo xtask bench` on another engine: `python peers.py tensorflow|jax|torch CASE [CASE..]`.

Prints a JSON line for each variant, with the case, the variant, the rate and its unit. The bounds of loops are
given at run time, every result is checked, and building and compiling are left out: a rate is the median of
the counted repetitions after a warm-up of two repetitions and one second. TensorFlow may be 1.15 or 2
(`tf.compat.v1`).
"""

import argparse
import json
import os
import statistics
import time

import numpy as np

EPS = np.float32(0.001)
LSTMS = {"T100B64H256": (100, 64, 256), "T50B32H64": (50, 32, 64)}
PRODUCTS = {"256": (256, 256, 256), "512": (512,) * 3, "1024": (1024,) * 3, "64x512x1024": (64, 512, 1024)}


def check(ok, what):
    if not ok:
        raise SystemExit(what + ": wrong result")


def lcg(n):
    x = np.uint32(1)
    for _ in range(n):
        x = np.uint32((int(x) * 1664525 + 1013904223) & 0xFFFFFFFF)
    return int(np.int64(x) - (1 << 32 if int(x) >> 31 else 0))


def small_loop(dim, n):
    """Inputs of `w4`, and its loss in double precision."""
    random = np.random.RandomState(4)
    x, w = (random.uniform(0.5, 1.5, dim).astype(np.float32) for _ in range(2))
    y, v = x.astype(np.float64), w.astype(np.float64)
    for _ in range(n):
        y = y + 0.001 * y * np.tanh(v * y)
    return x, w, y.sum()


def lstm(shape):
    """Inputs and weights of `w5`, with gates in the order input, candidate, forget, output."""
    t, b, h = LSTMS[shape]
    random = np.random.RandomState(5)
    x = random.normal(size=(t, b, h)).astype(np.float32)
    kernel = random.uniform(-1, 1, (2 * h, 4 * h)) / np.sqrt(h)
    return x, kernel.astype(np.float32)


class Bench:
    def __init__(self, reps):
        self.reps = reps

    def cost(self, case, variant, n, run):
        """Prints nanoseconds for each of `n` nodes."""
        self.rate(case, variant, n, "ns/node", run, lambda rate: 1e9 / rate)

    def rate(self, case, variant, work, unit, run, shown=lambda rate: rate):
        begin, warm = time.perf_counter(), 0
        while warm < 2 or time.perf_counter() - begin < 1:
            run()
            warm += 1
        rates = []
        for _ in range(self.reps):
            begin = time.perf_counter()
            run()
            rates.append(work / (time.perf_counter() - begin))
        line = {"case": case, "variant": variant, "value": shown(statistics.median(rates)), "unit": unit}
        print(json.dumps(line), flush=True)


class TensorFlow:
    """TensorFlow's executor, with control flow of the first version."""

    def __init__(self, bench, threads):
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import tensorflow

        tf = tensorflow if tensorflow.__version__.startswith("1.") else tensorflow.compat.v1
        tf.logging.set_verbosity(tf.logging.ERROR)
        if hasattr(tf, "disable_v2_behavior"):
            tf.disable_v2_behavior()
        self.tf, self.bench, self.threads = tf, bench, threads

    def call(self, fetch, feeds, as_it_is=False):
        """A prepared call. `as_it_is`: equal nodes are not merged into one, so that all of them run."""
        config = self.tf.ConfigProto(
            intra_op_parallelism_threads=self.threads, inter_op_parallelism_threads=self.threads
        )
        if as_it_is:
            config.graph_options.optimizer_options.opt_level = self.tf.OptimizerOptions.L0
            config.graph_options.rewrite_options.disable_meta_optimizer = True
        sess = self.tf.Session(config=config)
        sess.run(self.tf.global_variables_initializer())
        return sess.make_callable(fetch, feed_list=feeds)

    def w1(self):
        tf, n = self.tf, 200_000
        limit, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
        count = tf.while_loop(lambda i: i < limit, lambda i: i + 1, [x])
        call = self.call(count, [x, limit])
        self.bench.rate("w1", "pi=10", n, "iterations/s", lambda: check(call(0, n) == n, "w1"))
        _, out = tf.while_loop(
            lambda i, x: i < limit, lambda i, x: (i + 1, x * 1664525 + 1013904223), [tf.constant(0), x]
        )
        call, want = self.call(out, [x, limit]), lcg(n)
        self.bench.rate("w1", "pi=10 counter+LCG", n, "iterations/s", lambda: check(call(1, n) == want, "w1"))

    def w2(self):
        tf, n = self.tf, 10_000
        for dim in (10_000, 16):
            x, limit = tf.placeholder(tf.float32, [dim]), tf.placeholder(tf.int32, [])
            _, out = tf.while_loop(lambda i, x: i < limit, lambda i, x: (i + 1, x + 1.0), [tf.constant(0), x])
            call, zeros = self.call(out, [x, limit]), np.zeros(dim, np.float32)
            run = lambda: check((call(zeros, n) == n).all(), "w2")  # noqa: E731
            self.bench.rate("w2", "dim=%d pi=10" % dim, n, "iterations/s", run)

    def w3(self):
        tf, n = self.tf, 300
        size, step = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
        zero = tf.constant(0)

        def inner(a):
            return tf.while_loop(lambda j, a: j < size, lambda j, a: (j + 1, a + step), [zero, a])[1]

        _, out = tf.while_loop(lambda i, a: i < size, lambda i, a: (i + 1, inner(a)), [zero, tf.constant(0.0)])
        call = self.call(out, [size, step])
        self.bench.rate("w3", "pi=10", n * n, "inner iterations/s", lambda: check(call(n, 1) == n * n, "w3"))

    def w4(self):
        tf, n = self.tf, 1000
        for dim in (1, 128):
            x, w = tf.placeholder(tf.float32, [dim]), tf.placeholder(tf.float32, [dim])
            limit = tf.placeholder(tf.int32, [])
            body = lambda i, x: (i + 1, x + x * EPS * tf.tanh(w * x))  # noqa: B023, E731
            out = tf.while_loop(lambda i, x: i < limit, body, [tf.constant(0), x])[1]
            loss = tf.reduce_sum(out)
            call = self.call([loss, tf.gradients(loss, w)[0]], [x, w, limit])
            xs, ws, want = small_loop(dim, n)
            run = lambda: check(abs(call(xs, ws, n)[0] - want) < 2e-3 * want, "w4")  # noqa: E731
            self.bench.rate("w4", "dim=%d pi=10 fwd+grad" % dim, n, "iterations/s", run)

    def w5(self):
        tf = self.tf
        for shape, (t, b, h) in LSTMS.items():
            tf.reset_default_graph()
            xs, kernel = lstm(shape)
            x = tf.placeholder(tf.float32, [t, b, h])
            with tf.variable_scope("rnn"):
                weights = tf.get_variable("kernel", initializer=kernel)
                bias = tf.get_variable("bias", initializer=np.zeros(4 * h, np.float32))

            def body(i, c, state, outputs):
                gates = tf.matmul(tf.concat([x[i], state], 1), weights) + bias  # noqa: B023
                ii, j, f, o = tf.split(gates, 4, 1)
                c = c * tf.sigmoid(f) + tf.sigmoid(ii) * tf.tanh(j)
                state = tf.tanh(c) * tf.sigmoid(o)
                return i + 1, c, state, outputs.write(i, state)

            zeros = tf.zeros([b, h])
            array = tf.TensorArray(tf.float32, t, element_shape=[b, h])
            start = [tf.constant(0), zeros, zeros, array]
            outputs = tf.while_loop(lambda i, *_: i < t, body, start, parallel_iterations=32)[3].stack()
            loss = tf.reduce_mean(tf.square(outputs))
            step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
            call = self.call([loss, step], [x])
            run = lambda: check(np.isfinite(call(xs)[0]), "w5")  # noqa: E731
            self.bench.rate("w5", shape + " dynamic_rnn pi=32", 1, "steps/s", run)

    def w9(self):
        tf, n = self.tf, 10_000
        p, q = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        out = p
        for _ in range(n):
            out = tf.add(out, q)
        chain = self.call(out, [p, q])
        self.bench.cost("w9", "chain callable", n, lambda: check(chain(0, 1) == n, "w9"))
        several = self.call(tf.group(*[tf.add(p, q) for _ in range(n)]), [p, q], as_it_is=True)
        self.bench.cost("w9", "independent callable", n, lambda: several(0, 1))

    def w10(self):
        tf = self.tf
        for name, (m, k, n) in PRODUCTS.items():
            times = int(10e9 / (2 * m * k * n)) + 1
            x, y = tf.placeholder(tf.float32, [m, k]), tf.placeholder(tf.float32, [k, n])
            last = None
            for _ in range(times):
                with tf.control_dependencies([] if last is None else [last]):
                    last = tf.matmul(x, y).op
            call = self.call(last, [x, y], as_it_is=True)
            a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
            self.bench.rate("w10", name, 2e-9 * m * k * n * times, "GFLOP/s", lambda: call(a, b))  # noqa: B023


class Jax:
    """Compiled by XLA. Loops whose gradient is taken have a static number of iterations."""

    def __init__(self, bench, threads):
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        self.jax, self.np, self.lax, self.bench = jax, jax.numpy, jax.lax, bench

    def w1(self):
        jax, lax, n = self.jax, self.lax, 20_000_000
        count = jax.jit(lambda x, n: lax.while_loop(lambda i: i < n, lambda i: i + 1, x))
        self.bench.rate("w1", "pi=10", n, "iterations/s", lambda: check(int(count(0, n)) == n, "w1"))
        a, c = self.np.int32(1664525), self.np.int32(1013904223)

        @jax.jit
        def recurrence(x, n):
            return lax.while_loop(lambda v: v[0] < n, lambda v: (v[0] + 1, v[1] * a + c), (0, x))[1]

        want, n = lcg(1_000_000), 1_000_000
        x = self.np.int32(1)
        run = lambda: check(int(recurrence(x, n)) == want, "w1")  # noqa: E731
        self.bench.rate("w1", "pi=10 counter+LCG", n, "iterations/s", run)

    def w2(self):
        n = 10_000

        @self.jax.jit
        def loop(x, n):
            return self.lax.while_loop(lambda v: v[0] < n, lambda v: (v[0] + 1, v[1] + 1.0), (0, x))[1]

        for dim in (10_000, 16):
            zeros = np.zeros(dim, np.float32)
            run = lambda: check((np.asarray(loop(zeros, n)) == n).all(), "w2")  # noqa: B023, E731
            self.bench.rate("w2", "dim=%d pi=10" % dim, n, "iterations/s", run)

    def w3(self):
        lax, n = self.lax, 300

        @self.jax.jit
        def loop(size, step):
            def inner(a):
                return lax.while_loop(lambda v: v[0] < size, lambda v: (v[0] + 1, v[1] + step), (0, a))[1]

            return lax.while_loop(lambda v: v[0] < size, lambda v: (v[0] + 1, inner(v[1])), (0, step * 0))[1]

        one = np.float32(1)
        run = lambda: check(float(loop(n, one)) == n * n, "w3")  # noqa: E731
        self.bench.rate("w3", "pi=10", n * n, "inner iterations/s", run)

    def w4(self):
        n = 1000

        def loss(w, x):
            body = lambda _, x: x + x * EPS * self.np.tanh(w * x)  # noqa: E731
            return self.np.sum(self.lax.fori_loop(0, n, body, x))

        both = self.jax.jit(self.jax.value_and_grad(loss))
        for dim in (1, 128):
            xs, ws, want = small_loop(dim, n)

            def run():
                value, grad = both(ws, xs)  # noqa: B023
                grad.block_until_ready()
                check(abs(float(value) - want) < 2e-3 * want, "w4")  # noqa: B023

            self.bench.rate("w4", "dim=%d pi=10 fwd+grad" % dim, n, "iterations/s", run)

    def w5(self):
        jax, jnp = self.jax, self.np
        for shape, (_, b, h) in LSTMS.items():
            xs, kernel = lstm(shape)

            def loss(weights, x):
                kernel, bias = weights

                def step(carry, x):
                    c, state = carry
                    gates = jnp.concatenate([x, state], 1) @ kernel + bias
                    i, j, f, o = jnp.split(gates, 4, 1)
                    c = c * jax.nn.sigmoid(f) + jax.nn.sigmoid(i) * jnp.tanh(j)
                    state = jnp.tanh(c) * jax.nn.sigmoid(o)
                    return (c, state), state

                zeros = jnp.zeros((b, h))  # noqa: B023
                return jnp.mean(jnp.square(self.lax.scan(step, (zeros, zeros), x)[1]))

            @jax.jit
            def train(weights, x):
                value, grads = jax.value_and_grad(loss)(weights, x)  # noqa: B023
                return value, [w - 0.01 * g for w, g in zip(weights, grads)]

            weights = [kernel, np.zeros(4 * h, np.float32)]

            def run():
                value, moved = train(weights, xs)  # noqa: B023
                moved[0].block_until_ready()
                check(np.isfinite(float(value)), "w5")

            self.bench.rate("w5", shape + " dynamic_rnn pi=32", 1, "steps/s", run)

    def w10(self):
        product = self.jax.jit(lambda x, y: x @ y)
        for name, (m, k, n) in PRODUCTS.items():
            times = int(10e9 / (2 * m * k * n)) + 1
            x, y = self.np.ones((m, k), np.float32), self.np.ones((k, n), np.float32)

            def run():
                for _ in range(times):  # noqa: B023
                    out = product(x, y)  # noqa: B023
                out.block_until_ready()

            self.bench.rate("w10", name, 2e-9 * m * k * n * times, "GFLOP/s", run)


class Torch:
    """PyTorch. Its compiler takes no loop whose length depends on the data: `w1` to `w4` run eagerly."""

    def __init__(self, bench, threads):
        import torch

        torch.set_num_threads(threads)
        self.torch, self.bench = torch, bench

    def w1(self):
        torch, n = self.torch, 20_000

        def run():
            i = torch.tensor(0, dtype=torch.int32)
            while i < n:
                i = i + 1
            check(int(i) == n, "w1")

        self.bench.rate("w1", "pi=10", n, "iterations/s", run)

    def w2(self):
        torch, n = self.torch, 5_000
        for dim in (10_000, 16):

            def run():
                x = torch.zeros(dim)  # noqa: B023
                for _ in range(n):
                    x = x + 1.0
                check(bool((x == n).all()), "w2")

            self.bench.rate("w2", "dim=%d pi=10" % dim, n, "iterations/s", run)

    def w4(self):
        torch, n = self.torch, 1000
        for dim in (1, 128):
            xs, ws, want = small_loop(dim, n)

            def run():
                x, w = torch.from_numpy(xs), torch.from_numpy(ws).requires_grad_()  # noqa: B023
                for _ in range(n):
                    x = x + x * 0.001 * torch.tanh(w * x)
                loss = x.sum()
                loss.backward()
                check(abs(float(loss.detach()) - want) < 2e-3 * want, "w4")  # noqa: B023

            self.bench.rate("w4", "dim=%d pi=10 fwd+grad" % dim, n, "iterations/s", run)

    def w5(self):
        torch = self.torch
        for shape, (_, _, h) in LSTMS.items():
            xs, kernel = lstm(shape)
            net = torch.nn.LSTM(h, h, bias=True)
            with torch.no_grad():
                i, j, f, o = np.split(kernel, 4, 1)
                order = torch.from_numpy(np.concatenate([i, f, j, o], 1).T.copy())  # noqa: B905
                net.weight_ih_l0.copy_(order[:, :h])
                net.weight_hh_l0.copy_(order[:, h:])
            step, x = torch.optim.SGD(net.parameters(), 0.01), torch.from_numpy(xs)

            def run():
                step.zero_grad()  # noqa: B023
                loss = net(x)[0].square().mean()  # noqa: B023
                loss.backward()
                step.step()  # noqa: B023
                check(np.isfinite(float(loss.detach())), "w5")

            self.bench.rate("w5", shape + " dynamic_rnn pi=32", 1, "steps/s", run)

    def w10(self):
        torch = self.torch
        for name, (m, k, n) in PRODUCTS.items():
            times = int(10e9 / (2 * m * k * n)) + 1
            x, y = torch.ones(m, k), torch.ones(k, n)
            run = lambda: [torch.mm(x, y) for _ in range(times)]  # noqa: B023, E731
            self.bench.rate("w10", name, 2e-9 * m * k * n * times, "GFLOP/s", run)


ENGINES = {"tensorflow": TensorFlow, "jax": Jax, "torch": Torch}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=sorted(ENGINES))
    parser.add_argument("case", nargs="+")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    engine = ENGINES[options.engine](Bench(options.reps), options.threads)
    for case in options.case:
        # An engine has no variant of some cases.
        getattr(engine, case, lambda: None)()


if __name__ == "__main__":
    main()
