"""`Coordinator` and `LooperThread`: less common uses and errors."""

import threading
import time

from programs.tools import WHOLE, caught, initialize, run


def _fails(coord, error):
    """Starts a thread that reports an error to the coordinator."""

    def work():
        try:
            raise error
        except Exception as e:
            coord.request_stop(e)

    thread = threading.Thread(target=work, name="failing")
    thread.start()
    return thread


def begins(tf):
    coord = tf.train.Coordinator()
    return coord.should_stop(), coord.joined, coord.wait_for_stop(0.0), coord.raise_requested_exception(), coord._clean_stop_exception_types[0].__name__


def request_without_an_error(tf):
    coord = tf.train.Coordinator()
    out = coord.request_stop(), coord.request_stop()
    return out, coord.should_stop(), coord.raise_requested_exception(), coord.join([]), coord.joined


def join_without_threads(tf):
    coord = tf.train.Coordinator()
    return coord.join(), coord.joined, coord.should_stop()


def join_empties_the_registered(tf):
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=lambda: None)
    coord.register_thread(thread)
    coord.register_thread(thread)
    before = len(coord._registered_threads)
    thread.start()
    coord.request_stop()
    coord.join()
    return before, len(coord._registered_threads)


def join_of_threads_that_end_by_themselves(tf):
    coord = tf.train.Coordinator()
    threads = [threading.Thread(target=time.sleep, args=(0.05,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    coord.join(threads)
    return coord.should_stop(), [t.is_alive() for t in threads]


def join_waits_for_given_and_registered(tf):
    coord = tf.train.Coordinator()
    a, b = (threading.Thread(target=coord.wait_for_stop) for _ in range(2))
    coord.register_thread(a)
    for thread in (a, b):
        thread.start()
    threading.Timer(0.05, coord.request_stop).start()
    coord.join([b])
    return a.is_alive(), b.is_alive()


def error_in_a_thread(tf):
    coord = tf.train.Coordinator()
    thread = _fails(coord, RuntimeError("First"))
    return caught(lambda: coord.join([thread]), WHOLE), coord.should_stop()


def errors_of_two_threads(tf):
    coord = tf.train.Coordinator()
    a = _fails(coord, RuntimeError("First"))
    a.join()
    b = _fails(coord, ValueError("Second"))
    return caught(lambda: coord.join([a, b]), WHOLE)


def error_of_a_run(tf):
    coord = tf.train.Coordinator()
    x = tf.placeholder(tf.int32, [], name="x")
    with tf.Session() as sess:
        with coord.stop_on_exception():
            sess.run(x)
    return caught(lambda: coord.join(), "You must feed a value for placeholder tensor 'x'")


def clean_errors(tf):
    out = []
    for error in (tf.errors.OutOfRangeError(None, None, "end"), tf.errors.CancelledError(None, None, "c"), RuntimeError("r")):
        coord = tf.train.Coordinator()
        thread = _fails(coord, error)
        out.append(caught(lambda: coord.join([thread]), WHOLE))
    return out


def clean_errors_given(tf):
    out = []
    for types in ((RuntimeError,), [RuntimeError, ValueError], (), (Exception,)):
        coord = tf.train.Coordinator(clean_stop_exception_types=types)
        thread = _fails(coord, ValueError("v"))
        out.append(caught(lambda: coord.join([thread]), WHOLE))
    return out


def clean_errors_by_class(tf):
    class Mine(tf.errors.OutOfRangeError):
        pass

    coord = tf.train.Coordinator()
    thread = _fails(coord, Mine(None, None, "a kind of"))
    return caught(lambda: coord.join([thread]), WHOLE)


def error_after_stop(tf):
    coord = tf.train.Coordinator()
    coord.request_stop()
    with coord.stop_on_exception():
        raise RuntimeError("late")
    return caught(coord.join, WHOLE)


def error_after_join(tf):
    coord = tf.train.Coordinator()
    coord.request_stop()
    coord.join()

    def late():
        try:
            raise RuntimeError("after")
        except RuntimeError as error:
            coord.request_stop(error)

    return caught(late, WHOLE), caught(lambda: coord.request_stop(tf.errors.OutOfRangeError(None, None, "o")), WHOLE)


def block_that_ends_well(tf):
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        value = 3
    return value, coord.should_stop()


def block_that_stops(tf):
    coord = tf.train.Coordinator()
    seen = []
    with coord.stop_on_exception():
        seen.append(1)
        raise KeyError("k")
    return seen, coord.should_stop(), caught(coord.raise_requested_exception, WHOLE), caught(coord.raise_requested_exception, WHOLE)


def joined_twice(tf):
    coord = tf.train.Coordinator()
    thread = _fails(coord, RuntimeError("again"))
    return caught(lambda: coord.join([thread]), WHOLE), caught(lambda: coord.join([thread]), WHOLE), coord.joined


def cleared(tf):
    coord = tf.train.Coordinator()
    coord.request_stop()
    coord.clear_stop()
    first = coord.should_stop(), coord.joined
    coord.request_stop()
    coord.join()
    second = coord.joined
    coord.clear_stop()
    return first, second, coord.joined, coord.should_stop()


def grace(tf):
    coord = tf.train.Coordinator()
    go = threading.Event()
    threads = [threading.Thread(target=go.wait, name="t%d" % i, daemon=True) for i in range(1)]
    for thread in threads:
        thread.start()
    coord.request_stop()
    out = caught(lambda: coord.join(threads, stop_grace_period_secs=0.05), WHOLE)
    again = caught(lambda: coord.join(threads, stop_grace_period_secs=0.05, ignore_live_threads=True), WHOLE)
    go.set()
    return out, again


def grace_and_an_error(tf):
    """The reported error is raised before the one for threads still running."""
    coord = tf.train.Coordinator()
    go = threading.Event()
    thread = threading.Thread(target=go.wait, daemon=True)
    thread.start()
    failing = _fails(coord, RuntimeError("told"))
    out = caught(lambda: coord.join([thread, failing], stop_grace_period_secs=0.05), WHOLE)
    go.set()
    return out


def unknown_arguments(tf):
    coord = tf.train.Coordinator()
    return caught(lambda: coord.join(threads=3), WHOLE), caught(lambda: coord.register_thread(3), WHOLE), caught(lambda: tf.train.Coordinator(clean_stop_exception_types=3), WHOLE)


def looper_attributes(tf):
    coord = tf.train.Coordinator()
    looper = tf.train.LooperThread(coord, None)
    inside = looper in coord._registered_threads
    alive = looper.is_alive()
    looper.start()
    coord.request_stop()
    coord.join()
    return inside, alive, looper.daemon, looper.run_loop(), looper.start_loop(), looper.stop_loop()


def looper_by_keywords(tf):
    coord = tf.train.Coordinator()
    seen = []

    def turn(*args, **kwargs):
        seen.append((args, sorted(kwargs.items())))
        coord.request_stop()

    tf.train.LooperThread.loop(coord, timer_interval_secs=None, target=turn, args=(1, 2), kwargs={"c": 3})
    coord.join()
    return seen


def looper_with_a_list_of_arguments(tf):
    coord = tf.train.Coordinator()
    seen = []

    def turn(a):
        seen.append(a)
        coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.01, turn, [5])
    coord.join()
    return seen


def looper_calls_in_order(tf):
    log = []

    class Mine(tf.train.LooperThread):
        def start_loop(self):
            log.append("start")

        def run_loop(self):
            log.append("turn")
            if len(log) == 4:
                self._coord.request_stop()

        def stop_loop(self):
            log.append("stop")

    coord = tf.train.Coordinator()
    Mine(coord, 0.01).start()
    coord.join()
    return log


def looper_that_fails_does_not_end_well(tf):
    log = []

    class Mine(tf.train.LooperThread):
        def run_loop(self):
            log.append("turn")
            raise ValueError("bad turn")

        def stop_loop(self):
            log.append("stop")

    coord = tf.train.Coordinator()
    Mine(coord, 0.01).start()
    return caught(coord.join, WHOLE), log


def looper_that_fails_to_start(tf):
    log = []

    class Mine(tf.train.LooperThread):
        def start_loop(self):
            raise ValueError("no start")

        def run_loop(self):
            log.append("turn")

    coord = tf.train.Coordinator()
    Mine(coord, 0.01).start()
    return caught(coord.join, WHOLE), log


def looper_stopped_before_it_starts(tf):
    log = []
    coord = tf.train.Coordinator()
    coord.request_stop()
    thread = tf.train.LooperThread.loop(coord, 60, lambda: log.append(1))
    thread.join(10)
    return log, thread.is_alive()


def looper_refusals(tf):
    coord = tf.train.Coordinator()
    return caught(lambda: tf.train.LooperThread("coord", 1), WHOLE), caught(lambda: tf.train.LooperThread(None, 1), WHOLE), caught(lambda: tf.train.LooperThread(coord, 1, args=(1,)), WHOLE), caught(lambda: tf.train.LooperThread(coord, 1, kwargs={"a": 1}), WHOLE)


def coordinator_in_a_with(tf):
    """The loop from TensorFlow's documentation."""
    coord = tf.train.Coordinator()
    count = [0]

    def loop(coord):
        while not coord.should_stop():
            count[0] += 1
            if count[0] >= 10:
                coord.request_stop()

    threads = [threading.Thread(target=loop, args=(coord,)) for _ in range(3)]
    for t in threads:
        t.start()
    coord.join(threads)
    return 10 <= count[0]
