"""Small programs with loops in them, as people write them."""
import numpy as np
import tensorflow.compat.v1 as tf

from golden import case


@case('algo_fibonacci', 'programs', 'Fibonacci numbers as a growing vector, int64.')
def fibonacci(c):
    n = c.feed('n', np.int32(20))
    c.fetch(tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, tf.concat([v, [v[-1] + v[-2]]], 0)),
                          [tf.constant(0), tf.constant([0, 1], tf.int64)],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]))


@case('algo_collatz', 'programs', 'Collatz steps and the largest value on the way, with a cond in the body.')
def collatz(c):
    n = c.feed('n', np.int64(27))

    def body(n, steps, top):
        n = tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1)
        return n, steps + 1, tf.maximum(top, n)
    c.fetch(tf.while_loop(lambda n, s, t: tf.not_equal(n, 1), body, [n, 0, n]))


@case('algo_collatz_vector', 'programs', 'Collatz for a vector at once, with where instead of cond.')
def collatz_vector(c):
    n = c.feed('n', np.array([1, 7, 9, 97, 8], np.int32))

    def body(n, steps):
        live = n > 1
        after = tf.where(tf.equal(n % 2, 0), n // 2, 3 * n + 1)
        return tf.where(live, after, n), steps + tf.cast(live, tf.int32)
    c.fetch(tf.while_loop(lambda n, s: tf.reduce_any(n > 1), body, [n, tf.zeros_like(n)]))


@case('algo_gcd', 'programs', "Euclid's algorithm on scalars.")
def gcd(c):
    c.fetch(tf.while_loop(lambda a, b: tf.not_equal(b, 0), lambda a, b: (b, tf.floormod(a, b)),
                          [c.feed('a', np.int64(600851475143)), c.feed('b', np.int64(1234567890))]))


@case('algo_newton_sqrt', 'programs', 'Newton iteration for square roots until the step is small.')
def newton(c):
    x = c.feed('x', np.array([2, 10, 0.25, 1e6], np.float64))
    c.fetch(tf.while_loop(lambda y, d: tf.reduce_max(d) > 1e-9,
                          lambda y, d: ((y + x / y) / 2, tf.abs((x / y - y) / 2)), [x, x]), atol=1e-9)


@case('algo_power_iteration', 'programs', 'The largest eigenvalue of a symmetric matrix.')
def power_iteration(c):
    a = c.feed('a', np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32))

    def body(i, v, value):
        w = tf.matmul(a, v)
        return i + 1, w / tf.norm(w), tf.reduce_sum(v * w)
    c.fetch(tf.while_loop(lambda i, v, e: i < 60, body, [0, tf.ones([3, 1]) / np.float32(np.sqrt(3)), 0.0]), rtol=1e-4, atol=1e-4)


@case('algo_mandelbrot', 'programs', 'Escape times of a complex grid.')
def mandelbrot(c):
    y, x = np.mgrid[-1.2:1.2:7j, -2.0:0.75:9j]
    z0 = c.feed('z0', (x + 1j * y).astype(np.complex64))

    def body(k, z, n):
        live = tf.abs(z) < 2
        return k + 1, tf.where(live, z * z + z0, z), n + tf.cast(live, tf.int32)
    c.fetch(tf.while_loop(lambda k, z, n: k < 25, body, [0, tf.zeros_like(z0), tf.zeros(z0.shape, tf.int32)])[2])


@case('algo_sorting_network', 'programs', 'Odd-even transposition sort of a vector.')
def sorting_network(c):
    x = c.feed('x', np.array([5, 1, 4, 1, 5, 9, 2, 6], np.int32))

    def pairs(v, start):
        head, middle, tail = v[:start], v[start:8 - start], v[8 - start:]
        p = tf.reshape(middle, [-1, 2])
        p = tf.stack([tf.reduce_min(p, 1), tf.reduce_max(p, 1)], 1)
        return tf.concat([head, tf.reshape(p, [-1]), tail], 0)
    c.fetch(tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, pairs(pairs(v, 0), 1)), [0, x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])]))


@case('algo_bubble_sort', 'programs', 'Bubble sort with two loops, a cond and a scatter; counts the swaps.')
def bubble_sort(c):
    x = c.feed('x', np.array([3, -1, 7, 0, 2], np.int32))

    def outer(i, v, swaps):
        def inner(j, v, swaps):
            def swap():
                return tf.tensor_scatter_update(v, [[j], [j + 1]], tf.stack([v[j + 1], v[j]])), swaps + 1
            v, swaps = tf.cond(v[j] > v[j + 1], swap, lambda: (v, swaps))
            v.set_shape([5])
            return j + 1, v, swaps
        _, v, swaps = tf.while_loop(lambda j, v, s: j < 4 - i, inner, [0, v, swaps])
        return i + 1, v, swaps
    c.fetch(tf.while_loop(lambda i, v, s: i < 4, outer, [0, x, 0]))


@case('algo_prefix_sums', 'programs', 'Prefix sums in log steps with padding, against cumsum.')
def prefix_sums(c):
    x = c.feed('x', np.array([1, 2, 3, 4, 5, 6, 7], np.int64))

    def body(k, v):
        moved = tf.concat([tf.zeros([k], tf.int64), v[:7 - k]], 0)
        return k * 2, tf.reshape(v + moved, [7])
    c.fetch(tf.while_loop(lambda k, v: k < 7, body, [1, x])[1], tf.cumsum(x))


@case('algo_game_of_life', 'programs', 'A glider on a torus for ten generations.')
def game_of_life(c):
    board = np.zeros((8, 8), np.int32)
    board[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1

    def body(i, b):
        total = sum(tf.roll(b, [dy, dx], [0, 1]) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx)
        alive = tf.logical_or(tf.equal(total, 3), tf.logical_and(tf.equal(total, 2), tf.equal(b, 1)))
        return i + 1, tf.cast(alive, tf.int32)
    c.fetch(tf.while_loop(lambda i, b: i < 10, body, [0, c.feed('board', board)]))


@case('algo_matrix_power', 'programs', 'A matrix to a fed power by repeated squaring.')
def matrix_power(c):
    m = c.feed('m', np.array([[1, 1], [1, 0]], np.int32))
    n = c.feed('n', np.int32(30))

    def body(n, base, acc):
        acc = tf.cond(tf.equal(n % 2, 1), lambda: tf.matmul(acc, base), lambda: acc)
        return n // 2, tf.matmul(base, base), acc
    c.fetch(tf.while_loop(lambda n, b, a: n > 0, body, [n, m, tf.eye(2, dtype=tf.int32)]))


@case('algo_binary_search', 'programs', 'Binary search for several keys in a sorted vector.')
def binary_search(c):
    x = c.feed('x', np.array([1, 3, 4, 8, 15, 16, 23, 42], np.int32))
    keys = c.feed('keys', np.array([4, 23, 0, 99, 15], np.int32))

    def body(low, high):
        middle = (low + high) // 2
        less = tf.gather(x, middle) < keys
        open_ = low < high
        return tf.where(open_ & less, middle + 1, low), tf.where(open_ & ~less, middle, high)
    low, _ = tf.while_loop(lambda low, high: tf.reduce_any(low < high), body, [tf.zeros_like(keys), tf.fill([5], 7)])
    c.fetch(low, tf.equal(tf.gather(x, low), keys))


@case('algo_sieve', 'programs', 'Primes below fifty by a sieve, then where.')
def sieve(c):
    n = 50
    numbers = tf.range(n)

    def body(p, prime):
        hit = tf.logical_and(tf.equal(numbers % p, 0), numbers > p)
        return p + 1, tf.logical_and(prime, tf.logical_not(hit))
    prime = tf.while_loop(lambda p, _: p * p < n, body, [2, numbers > 1])[1]
    c.fetch(tf.reshape(tf.where(prime), [-1]))


@case('algo_floyd_warshall', 'programs', 'Shortest paths between all pairs; no path is infinity.')
def floyd_warshall(c):
    inf = np.inf
    d = c.feed('d', np.array([[0, 3, inf, 7], [8, 0, 2, inf], [5, inf, 0, 1], [2, inf, inf, 0]], np.float32))
    c.fetch(tf.while_loop(lambda k, d: k < 4, lambda k, d: (k + 1, tf.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])), [0, d]), exact=True)


@case('algo_conjugate_gradient', 'programs', 'Conjugate gradients until the residual is small.')
def conjugate_gradient(c):
    a = c.feed('a', np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float64))
    b = c.feed('b', np.array([[1], [2], [3]], np.float64))

    def body(x, r, p, rr):
        ap = tf.matmul(a, p)
        alpha = rr / tf.reduce_sum(p * ap)
        r2 = r - alpha * ap
        rr2 = tf.reduce_sum(r2 * r2)
        return x + alpha * p, r2, r2 + rr2 / rr * p, rr2
    x = tf.while_loop(lambda x, r, p, rr: rr > 1e-16, body, [tf.zeros_like(b), b, b, tf.reduce_sum(b * b)])[0]
    c.fetch(x, tf.matmul(a, x), atol=1e-8)


@case('algo_lcg', 'programs', 'A linear congruential generator that wraps around in int32.')
def lcg(c):
    c.fetch(tf.while_loop(lambda i, x: i < 100, lambda i, x: (i + 1, x * 1664525 + 1013904223), [0, c.feed('seed', np.int32(7))]))


@case('algo_xorshift', 'programs', 'Xorshift with bitwise ops on int64.')
def xorshift(c):
    b = tf.bitwise

    def body(i, x):
        x = b.bitwise_xor(x, b.left_shift(x, tf.constant(13, tf.int64)))
        x = b.bitwise_xor(x, b.right_shift(x, tf.constant(7, tf.int64)))
        return i + 1, b.bitwise_xor(x, b.left_shift(x, tf.constant(17, tf.int64)))
    c.fetch(tf.while_loop(lambda i, x: i < 40, body, [0, c.feed('seed', np.int64(88172645463325252))]))


@case('algo_rnn_by_hand', 'programs', 'A recurrent net written with while_loop and gather; lengths differ per row.')
def rnn(c):
    x = c.feed('x', np.sin(np.arange(24)).reshape(2, 4, 3).astype(np.float32))
    lengths = c.feed('lengths', np.array([4, 2], np.int32))
    w = c.feed('w', np.cos(np.arange(15)).reshape(5, 3)[:, :2].astype(np.float32))

    def body(t, h):
        new = tf.tanh(tf.matmul(tf.concat([x[:, t], h], 1), w))
        return t + 1, tf.where(t < lengths, new, h)
    c.fetch(tf.while_loop(lambda t, h: t < tf.reduce_max(lengths), body, [0, tf.zeros([2, 2])]))


@case('algo_beam_step', 'programs', 'Best path through scores with top_k and gather, a beam of two.')
def beam(c):
    scores = c.feed('scores', np.array([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]], np.float32))

    def body(t, logp, path):
        total = tf.reshape(logp[:, None] + tf.log(tf.gather(scores, path[:, -1])), [-1])
        best, index = tf.nn.top_k(total, 2)
        path = tf.concat([tf.gather(path, index // 3), (index % 3)[:, None]], 1)
        return t + 1, best, path
    c.fetch(tf.while_loop(lambda t, l, p: t < 5, body, [tf.constant(0), tf.constant([0.0, -3.0]), tf.constant([[0], [1]])],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([2]), tf.TensorShape([2, None])]))


@case('algo_k_means', 'programs', 'Three rounds of k-means with argmin and unsorted_segment_sum.')
def k_means(c):
    x = c.feed('x', np.array([[0, 0], [0, 1], [5, 5], [6, 5], [0.5, 0], [5, 6]], np.float32))

    def body(i, centre):
        distance = tf.reduce_sum(tf.squared_difference(x[:, None], centre[None]), 2)
        owner = tf.argmin(distance, 1)
        total = tf.unsorted_segment_sum(x, owner, 2)
        count = tf.unsorted_segment_sum(tf.ones([6, 1]), owner, 2)
        return i + 1, total / tf.maximum(count, 1)
    c.fetch(tf.while_loop(lambda i, m: i < 3, body, [0, x[:2]]))


@case('algo_run_length', 'programs', 'Run-length encoding with unique_with_counts pieces in a loop over the runs.')
def run_length(c):
    x = c.feed('x', np.array([4, 4, 4, 1, 1, 7, 4, 4], np.int32))

    def body(rest, values, counts):
        same = tf.reduce_prod(tf.cast(tf.equal(tf.cumprod(tf.cast(tf.equal(rest, rest[0]), tf.int32)), 0), tf.int32))
        run = tf.reduce_sum(tf.cumprod(tf.cast(tf.equal(rest, rest[0]), tf.int32)))
        return rest[run:], tf.concat([values, rest[:1]], 0), tf.concat([counts, [run + same * 0]], 0)
    empty = tf.zeros([0], tf.int32)
    grow = tf.TensorShape([None])
    c.fetch(tf.while_loop(lambda r, v, n: tf.size(r) > 0, body, [x, empty, empty], shape_invariants=[grow] * 3))


@case('algo_string_reverse_words', 'programs', 'Splits a line into words and joins them in reverse in a loop.')
def string_reverse(c):
    line = c.feed('line', np.array(b'one two  three four'))
    words = tf.string_split([line]).values
    n = tf.size(words)
    c.fetch(tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.string_join([words[i], s], ' ')), [0, tf.constant('.')]))


@case('algo_polynomial', 'programs', "Horner's rule over fed coefficients, for a matrix of points in float64.")
def polynomial(c):
    a = c.feed('a', np.array([2, -1, 0.5, 3], np.float64))
    x = c.feed('x', np.array([[0, 1, -1], [2, 0.5, 10]], np.float64))
    c.fetch(tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x + a[i]), [0, tf.zeros_like(x)])[1])


@case('algo_simulated_walk', 'programs', 'A walk driven by stateless random numbers whose seed is the counter.')
def walk(c):
    def body(i, p):
        return i + 1, p + tf.random.stateless_uniform([3], seed=tf.stack([i, 17])) - 0.5
    c.fetch(tf.while_loop(lambda i, p: i < 8, body, [0, tf.zeros([3])]))


@case('algo_lcs', 'programs', 'Longest common subsequence: two loops over a row that is rebuilt.')
def lcs(c):
    a = c.feed('a', np.array([1, 3, 2, 4, 5, 2], np.int32))
    b = c.feed('b', np.array([3, 4, 1, 2, 5], np.int32))

    def outer(i, row):
        def inner(j, new):
            here = tf.cond(tf.equal(a[i], b[j]), lambda: row[j] + 1, lambda: tf.maximum(row[j + 1], new[-1]))
            return j + 1, tf.concat([new, [here]], 0)
        _, new = tf.while_loop(lambda j, r: j < 5, inner, [tf.constant(0), tf.constant([0])],
                               shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
        return i + 1, tf.reshape(new, [6])
    c.fetch(tf.while_loop(lambda i, r: i < 6, outer, [0, tf.zeros([6], tf.int32)]))
