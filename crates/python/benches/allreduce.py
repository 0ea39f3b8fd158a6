"""Measures allreduce beside mpi4py's own, and predicts it for more ranks.

    mpirun -n 2 python crates/python/benches/allreduce.py [--most BYTES] [--repeat N]

Both reduce the same float32 buffers in place, one after the other in every round: `hvd.allreduce` in a
`while_loop` of one run, the mean, and `Allreduce(MPI.IN_PLACE, ..)`, the sum. The table has the medians of
the rounds.

The prediction is a model, not a measurement. Reducing n bytes on p ranks is an exchange of parts, their sum,
and a gathering of parts, each p - 1 messages of n / p bytes, which takes

    t(p, n) = c + 2 (p - 1) alpha + (p - 1) / p n (2 beta + gamma)

with alpha the time of a message, beta that of a byte on the way, gamma that of a byte in the sum, and c the
engine's own time. c + 2 alpha and beta + gamma / 2 are fitted to the measured times. For a network, alpha and
beta are those that `--latency` and `--bandwidth` state; c and gamma, the bounds on what the engine adds, are
taken from here.
"""

import argparse
import os
import statistics
import time

import numpy as np

import millstream as tf
import millstream.horovod as hvd

RANKS = [2**k for k in range(1, 11)]


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=64 << 20, help="the size of the largest buffer, in bytes")
    parser.add_argument("--repeat", type=int, default=7, help="the rounds of each size")
    parser.add_argument("--latency", type=float, default=20e-6, help="the network's time for a message, in seconds")
    parser.add_argument("--bandwidth", type=float, default=25e9 / 8, help="the network's bytes per second, each way")
    parser.add_argument("--model-bytes", type=float, default=100e6, help="the bytes of gradients in a step of the predicted job")
    parser.add_argument("--compute", type=float, default=0.25, help="the seconds of computing in a step of the predicted job")
    return parser.parse_args()


def looped(n, times):
    """Returns a function that reduces n numbers `times` times in a run, and returns the seconds of one."""
    with tf.Graph().as_default():
        start = tf.fill([n], 1.0)
        _, reduced = tf.while_loop(lambda i, x: i < times, lambda i, x: (i + 1, hvd.allreduce(x, name="x")), (0, start))
        session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))
        done, filled = reduced.op, start.op

    def seconds():
        begin = time.perf_counter()
        session.run(filled)
        between = time.perf_counter()
        session.run(done)
        return max(time.perf_counter() - between - (between - begin), 1e-9) / times

    return seconds


def measured(comm, mpi, n, repeat):
    """Returns the median seconds of the engine and of mpi4py for n numbers."""
    times = max(4, min(200, (16 << 20) // (4 * n)))
    engine = looped(n, times)
    buffer = np.ones(n, np.float32)
    ours, theirs = [], []
    for _ in range(repeat + 1):
        comm.Barrier()
        ours.append(engine())
        buffer[:] = 0
        comm.Barrier()
        begin = time.perf_counter()
        for _ in range(times):
            comm.Allreduce(mpi.IN_PLACE, buffer)
        theirs.append((time.perf_counter() - begin) / times)
    return statistics.median(ours[1:]), statistics.median(theirs[1:])


def fitted(points):
    """Returns the constant and the slope of the line through (bytes, seconds) with the least relative error."""
    n, t = np.array(points, float).T
    rows = np.stack([np.ones_like(n), n], 1) / t[:, None]
    return np.maximum(np.linalg.lstsq(rows, np.ones_like(t), rcond=None)[0], 0)


def predicted(p, n, constant, latency, byte, add):
    return constant + 2 * (p - 1) * latency + (p - 1) / p * n * (2 * byte + add)


def main():
    given = options()
    hvd.init()
    if hvd.size() < 2:
        raise SystemExit("start it with mpirun -n 2")
    from mpi4py import MPI

    comm, p = MPI.COMM_WORLD.Dup(), hvd.size()
    points = []
    if hvd.rank() == 0:
        print("%d ranks on %d cores, load %.1f\n\n%12s %14s %14s %8s" % (p, os.cpu_count(), os.getloadavg()[0], "bytes", "millstream ms", "mpi4py ms", "ratio"))
    n = 1 << 10
    while n <= given.most:
        ours, theirs = measured(comm, MPI, n // 4, given.repeat)
        points.append((n, ours))
        if hvd.rank() == 0:
            print("%12d %14.3f %14.3f %8.2f" % (n, 1e3 * ours, 1e3 * theirs, ours / theirs), flush=True)
        n *= 4
    constant, slope = fitted(points)
    part = np.ones(1 << 20, np.float32)
    begin = time.perf_counter()
    for _ in range(8):
        part += part
    add = (time.perf_counter() - begin) / 8 / part.nbytes
    if hvd.rank() == 0:
        print("\nfitted: %.0f us a call, %.2f GB/s" % (1e6 * constant, 1e-9 / max(slope, 1e-15)))
        print("\na model, not a measurement: %.0f MB of gradients and %.2f s of computing a step," % (given.model_bytes / 1e6, given.compute))
        print("a network of %.0f us and %.1f GB/s each way, nothing overlapped\n" % (1e6 * given.latency, given.bandwidth / 1e9))
        print("%6s %14s %12s" % ("ranks", "allreduce ms", "efficiency"))
        for p in RANKS:
            t = predicted(p, given.model_bytes, constant, given.latency, 1 / given.bandwidth, add)
            print("%6d %14.1f %11.0f %%" % (p, 1e3 * t, 100 * given.compute / (given.compute + t)))


if __name__ == "__main__":
    main()
