"""Pipelines that would wait for ever end with an error that names the cause; slow ones do not."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import millstream as tf


def fails_soon(kind, call, seconds=5.0):
    """Returns the message of the error that `call` raises soon, as a busy machine counts it."""
    begin = time.monotonic()
    with pytest.raises(kind) as caught:
        call()
    assert time.monotonic() - begin < seconds
    return caught.value.message


def filled(capacity=4, name="q", **how):
    """A queue, and its runner, which is in the collection."""
    q = tf.FIFOQueue(capacity, tf.int32, shapes=[[]], name=name)
    runner = tf.train.QueueRunner(q, [q.enqueue(7, name="put")] * 2)
    tf.train.add_queue_runner(runner, **how)
    return q, runner


def test_a_forgotten_start_is_named():
    q, runner = filled()
    get = q.dequeue(name="get")
    with tf.Session() as sess:
        text = fails_soon(tf.errors.FailedPreconditionError, lambda: sess.run(get))
        for part in (
            "`get` waits for items in queue `q`, whose runner was never started (`put` and 1 more)",
            "help: start the runners first: `tf.train.start_queue_runners(sess, coord)`",
        ):
            assert part in text
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert sess.run(get) == 7
        coord.request_stop()
        coord.join(threads)


def test_a_forgotten_start_of_another_collection():
    q, runner = filled(collection="mine")
    with tf.Session() as sess:
        text = fails_soon(tf.errors.FailedPreconditionError, lambda: sess.run(q.dequeue()))
    assert "tf.train.start_queue_runners(sess, coord, collection='mine')" in text


def test_a_forgotten_start_of_a_batch():
    rows = tf.train.batch([tf.train.range_input_producer(3, shuffle=False).dequeue()], 3)
    with tf.Session() as sess:
        text = fails_soon(tf.errors.FailedPreconditionError, lambda: sess.run(rows))
    assert "whose runner was never started" in text and "start_queue_runners" in text


# A thread that Python does not know, and that sleeps for ever.
FOREIGN = """
    import ctypes, signal, threading, time
    import millstream as tf
    libc = ctypes.CDLL(None)
    thread, pause = ctypes.c_ulong(), ctypes.cast(libc.pause, ctypes.c_void_p)
    assert libc.pthread_create(ctypes.byref(thread), None, pause, None) == 0
    assert threading.active_count() == 1
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(7)]))
    def late(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    sess = tf.Session(config=tf.ConfigProto(stall_grace_in_ms=%d))
    try:
        sess.run(q.dequeue())
    except tf.errors.FailedPreconditionError as error:
        print("never started" in error.message)
    except TimeoutError:
        print("waits")
"""


@pytest.mark.parametrize("grace, told", [(0, "True\n"), (-1, "waits\n")])
def test_threads_of_other_libraries_count_only_on_demand(grace, told):
    # They run no Python. OpenBLAS starts such threads when NumPy is imported, one for each core.
    program = textwrap.dedent(FOREIGN % grace)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == told, done.stderr


# A worker that waits on an empty queue, and a main thread that waits for the worker.
JOINED = """
    import threading, time
    from concurrent.futures import ThreadPoolExecutor
    import millstream as tf
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    put, get, sess = q.enqueue(7), q.dequeue(name="get"), tf.Session()
    done = threading.Event()
    def work(late=False):
        try:
            print(sess.run(get), flush=True)
        except tf.errors.FailedPreconditionError as error:
            print(error.message.splitlines()[0], flush=True)
        done.set()
    worker = threading.Thread(target=work)
    def help():
        time.sleep(1)
        sess.run(put)
"""
WAITS = {
    "join": "worker.start(); worker.join()",
    "the end of the program": "worker.start()",
    "an event": "worker.start(); done.wait()",
    "a future": "pool = ThreadPoolExecutor(1); pool.submit(work).result()",
    "a pool": "with ThreadPoolExecutor(1) as pool: pool.submit(work)",
    "a thread that joins": "worker.start(); t = threading.Thread(target=worker.join); t.start(); t.join()",
    "a function of a node": "worker.start(); sess.run(tf.py_func(worker.join, [], []))",
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_thread_that_only_waits_for_the_run_is_no_help(wait):
    program = textwrap.dedent(JOINED) + WAITS[wait]
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "`get` waits for items in queue `q`, and no thread is left that could end the wait" in done.stdout, done
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize(
    "wait",
    [
        "t = threading.Thread(target=help); t.start(); worker.start(); t.join(); worker.join()",
        "threading.Thread(target=help).start(); worker.start(); worker.join()",
        # It may do something else when its time is over.
        "worker.start(); worker.join(1); sess.run(put); worker.join()",
        "worker.start(); time.sleep(1); sess.run(put); worker.join()",
        "worker.start(); e = threading.Event(); e.wait(1); sess.run(put); worker.join()",
        "worker.start(); sess.run(tf.py_func(help, [], []))",
    ],
)
def test_a_thread_that_does_something_later_is(wait):
    program = textwrap.dedent(JOINED) + wait
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "7\n", done


def test_everybody_waits():
    # The runner waits for an input that never comes, the other thread for the coordinator.
    source = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="source")
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(source.dequeue())]))
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        begin = time.monotonic()
        with pytest.raises((tf.errors.FailedPreconditionError, tf.errors.OutOfRangeError)):
            sess.run(q.dequeue())
        assert time.monotonic() - begin < 20
        coord.request_stop()
        try:
            coord.join(threads)
        except tf.errors.FailedPreconditionError as error:
            assert "no thread is left that could end the wait" in error.message


def test_join_ends_a_runner_that_nobody_can_help():
    source = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="source")
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(source.dequeue())]))
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        time.sleep(0.2)
        coord.request_stop()
        begin = time.monotonic()
        coord.join(threads)
        assert time.monotonic() - begin < 60


@pytest.mark.parametrize("threads", [1, 2])
def test_a_function_of_another_session_is_about_to_act(threads):
    with tf.Graph().as_default() as inner:
        q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
        put, get, size = q.enqueue(7), q.dequeue(), q.size()
    inside = tf.Session(graph=inner)

    def produce():
        time.sleep(1.2)
        inside.run(put)
        return np.int32(1)

    a, b = tf.py_func(lambda: inside.run(get), [], tf.int32), tf.py_func(produce, [], tf.int32)
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=threads)) as sess:
        if threads == 2:
            assert sess.run([a, b]) == [7, 1]
        # A thread of the program does the same.
        later = threading.Thread(target=lambda: sess.run(b))
        later.start()
        assert sess.run(a) == 7
        later.join()


def test_a_thread_that_has_not_used_the_engine_yet():
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]])
    put, get = q.enqueue(7), q.dequeue()
    with tf.Session() as sess:

        def work():
            time.sleep(1.2)
            sess.run(put)

        thread = threading.Thread(target=work)
        thread.start()
        assert sess.run(get) == 7
        thread.join()


def test_grace_from_the_configuration():
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    get = q.dequeue()
    done = threading.Event()
    # Nobody knows what it will do: its wait has a time limit.
    other = threading.Thread(target=lambda: done.wait(60))
    other.start()
    with tf.Session(config=tf.ConfigProto(stall_grace_in_ms=300)) as sess:
        text = fails_soon(tf.errors.FailedPreconditionError, lambda: sess.run(get), 5)
        assert "nothing has been run with the session's resources for" in text
        assert "ConfigProto.stall_grace_in_ms" in text
    done.set()
    other.join()


def test_memory_limit_from_the_configuration():
    n = tf.placeholder(tf.int32, [])
    x = tf.reduce_sum(tf.fill([n], 1.0))
    with tf.Session(config=tf.ConfigProto(memory_limit_in_bytes=1 << 20)) as sess:
        assert sess.run(x, {n: 10}) == 10
        with pytest.raises(tf.errors.ResourceExhaustedError):
            sess.run(x, {n: 1 << 20})


def test_a_run_that_took_too_long_says_what_it_waited_for():
    q, runner = filled()
    get = q.dequeue(name="get")
    with tf.Session() as sess:
        text = fails_soon(
            tf.errors.DeadlineExceededError, lambda: sess.run(get, options=tf.RunOptions(timeout_in_ms=50))
        )
    assert "`get` waits for items in queue `q`" in text and "FIFOQueue 'q': 0 of 4 items" in text
    assert "whose runner was never started (`put` and 1 more)" in text and "tf.train.start_queue_runners" in text


def test_the_first_error_of_a_runner_reaches_the_reader():
    def breaks():
        raise ValueError("the disk is full")

    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(tf.py_func(breaks, [], tf.int32))]))
    get = q.dequeue()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements") as caught:
            sess.run(get)
        assert "the coordinator stopped: InvalidArgumentError: ValueError: the disk is full" in caught.value.message
        with pytest.raises(tf.errors.InvalidArgumentError, match="the disk is full"):
            coord.join(threads)


def test_the_end_of_the_input_reaches_the_reader():
    numbers = tf.train.range_input_producer(1, num_epochs=1, shuffle=False).dequeue()
    rows = tf.train.batch([numbers], 2)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            sess.run(rows)
        assert "the input of its runner came to its end: OutOfRangeError: " in caught.value.message
        coord.request_stop()
        coord.join(threads)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_runner_without_a_coordinator_that_failed_is_named():
    def breaks():
        raise ValueError("the disk is full")

    q = tf.FIFOQueue(4, tf.int32, shapes=[[]], name="q")
    runner = tf.train.QueueRunner(q, [q.enqueue(tf.py_func(breaks, [], tf.int32))])
    with tf.Session() as sess:
        for thread in runner.create_threads(sess, start=True):
            thread.join()
        text = fails_soon(tf.errors.FailedPreconditionError, lambda: sess.run(q.dequeue(name="get")))
    assert "`get` waits for items in queue `q`, whose runner failed: InvalidArgumentError: ValueError: the disk is full" in text


def test_starting_twice_starts_nothing_twice():
    q, runner = filled()
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert len(threads) == 3
        assert tf.train.start_queue_runners(sess, coord) == []
        coord.request_stop()
        coord.join(threads)


@pytest.mark.parametrize("nth", [0, 1, 2])
def test_a_runner_that_cannot_start_all_threads_starts_none(monkeypatch, nth):
    q, runner = filled()
    size = q.size()
    with tf.Session() as sess:
        start, started = threading.Thread.start, []

        def fails(thread):
            if len(started) == nth:
                raise RuntimeError("can't start new thread")
            started.append(thread)
            start(thread)

        coord = tf.train.Coordinator()
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", fails)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                runner.create_threads(sess, coord, start=True)
        for thread in started:
            thread.join(10)
            assert not thread.is_alive()
        assert sess.run(size) == 0, "nothing has run"
        threads = runner.create_threads(sess, coord, daemon=True, start=True)
        assert len(threads) == 3
        coord.request_stop()
        coord.join(threads)


def test_a_batch_that_cannot_be_made_stays_in_the_queue():
    x = tf.placeholder(tf.float32)
    q = tf.FIFOQueue(10, tf.float32, shapes=[[1 << 20]])
    put, many, one, size = q.enqueue(x), q.dequeue_many(3), q.dequeue(), q.size()
    with tf.Session(config=tf.ConfigProto(memory_limit_in_bytes=20 << 20)) as sess:
        for i in range(3):
            sess.run(put, {x: np.full([1 << 20], i, np.float32)})
        for _ in range(2):
            with pytest.raises(tf.errors.ResourceExhaustedError):
                sess.run(many)
            assert sess.run(size) == 3
        assert [sess.run(one)[0] for _ in range(3)] == [0.0, 1.0, 2.0]


# Threads that leave garbage with `threading.local`, whose end takes a lock of the interpreter's.
LITTERED = """
    import gc, threading, time
    import millstream as tf
    gc.set_threshold(20)
    over = threading.Event()
    class Cycle:
        def __init__(self):
            self.local, self.me = threading.local(), self
            self.local.x = 1
    def litter():
        while not over.is_set():
            Cycle()
            (lambda: time.sleep(0.0005))()
    q = tf.FIFOQueue(4, tf.int32, shapes=[[]])
    put, get, sess = q.enqueue(7), q.dequeue(), tf.Session()
    def late():
        time.sleep(2)
        sess.run(put)
    for work in [litter] * 30 + [late]:
        threading.Thread(target=work, daemon=True).start()
    print(sess.run(get), flush=True)
    over.set()
"""


def test_garbage_that_is_collected_while_threads_are_counted():
    # The process stood still: the list of threads was locked, and freeing the garbage locks it (gh-106883).
    program = textwrap.dedent(LITTERED)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "7\n", done.stderr
