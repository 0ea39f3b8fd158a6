"""Queues in a Valkey or Redis server, which the tests start."""

import random
import shutil
import socket
import subprocess
import time

import millstream as tf
import numpy as np
import pytest

PROGRAM = shutil.which("valkey-server") or shutil.which("redis-server")


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    if PROGRAM is None:
        pytest.skip("there is neither valkey-server nor redis-server")
    # Below the ports that the system gives to connections, of which one could come before the server.
    port = random.randrange(10_000, 30_000)
    folder = str(tmp_path_factory.mktemp("store"))
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, "--requirepass", "sesame"]
    server = subprocess.Popen([PROGRAM] + options, stdout=subprocess.DEVNULL)
    for _ in range(1000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.01)
    yield port
    server.kill()
    server.wait()


def test_sessions_of_one_namespace_share_queues(port):
    url = "valkey://:sesame@127.0.0.1:%d/jobs" % port
    with tf.Graph().as_default():
        queue = tf.PaddingFIFOQueue(10, [tf.string, tf.float32], [[], [None]], shared_name="q")
        put = queue.enqueue(["a", [1.0, 2.0]])
        batch = queue.dequeue_up_to(2)
        with tf.Session(url) as one, tf.Session(url) as two:
            one.run(put)
            assert two.run(queue.size()) == 1
            one.run(queue.close())
            words, values = two.run(batch)
            assert words.tolist() == [b"a"]
            np.testing.assert_array_equal(values, [[1.0, 2.0]])
            assert two.run(queue.is_closed())
            with pytest.raises(tf.errors.OutOfRangeError, match="closed by `padding_fifo_queue_Close`"):
                two.run(batch)
            assert one.sess_str == url.encode()


def test_batches_are_shared(port):
    url = "redis://:sesame@127.0.0.1:%d/batches?lease_ms=2000" % port
    with tf.Graph().as_default():
        batch = tf.train.batch([tf.constant(3)], 4, shared_name="batches")
        coordinator = tf.train.Coordinator()
        with tf.Session(url) as fills, tf.Session(url) as takes:
            threads = tf.train.start_queue_runners(fills, coordinator)
            assert takes.run(batch).tolist() == [3, 3, 3, 3]
            coordinator.request_stop()
            coordinator.join(threads)


def test_addresses_that_are_wrong_are_errors(port):
    with tf.Graph().as_default():
        with pytest.raises(tf.errors.PermissionDeniedError, match="password"):
            tf.Session("valkey://127.0.0.1:%d/jobs" % port)
        with pytest.raises(tf.errors.UnavailableError, match="start the server"):
            tf.Session("valkey://127.0.0.1:1/jobs")
        with pytest.raises(tf.errors.InvalidArgumentError, match="namespace"):
            tf.Session("valkey://127.0.0.1:%d" % port)
        with pytest.raises(tf.errors.UnimplementedError, match="TLS"):
            tf.Session("rediss://127.0.0.1:%d/jobs" % port)
