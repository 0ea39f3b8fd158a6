"""Closing sessions and later errors; errors of partial runs."""

import threading
import time

import numpy as np

from programs.raised import WHOLE, caught


def all_that_wait_are_called_off(tf):
    q = tf.FIFOQueue(1, tf.int32)
    d = q.dequeue()
    out = []
    sess = tf.Session()
    threads = [threading.Thread(target=lambda: out.append(caught(lambda: sess.run(d), "Dequeue operation was cancelled"))) for _ in range(6)]
    for t in threads:
        t.start()
    time.sleep(0.2)
    sess.close()
    for t in threads:
        t.join()
    return out


def reset(tf):
    v = tf.Variable(1)
    q = tf.FIFOQueue(1, tf.int32)
    first, second = tf.Session(), tf.Session()
    first.run(v.initializer)
    second.run(v.initializer)
    out = []
    waits = threading.Thread(target=lambda: out.append(caught(lambda: first.run(q.dequeue()), "Dequeue operation was cancelled")))
    waits.start()
    time.sleep(0.2)
    tf.Session.reset("")
    waits.join()
    after = [caught(lambda: s.run(v), WHOLE) for s in (first, second)]
    with tf.Session() as third:
        third.run(v.initializer)
        return out, after, third.run(v)


def targets_that_are_none(tf):
    with tf.Session(None) as sess:
        return sess.run(tf.constant(1)), caught(lambda: tf.Session(5), WHOLE)


def parts_that_go_wrong(tf):
    a, b, c = [tf.placeholder(tf.float32, [], name=n) for n in "abc"]
    r = tf.add(a, b, name="r")
    p = tf.multiply(r, c, name="p")
    with tf.Session() as sess:

        def begun(fetches, feeds, *given):
            handle = sess.partial_run_setup(fetches, feeds)
            for fetch, feed in given:
                sess.partial_run(handle, fetch, feed)
            return handle

        both = {a: 1, b: 2}
        return (
            caught(lambda: sess.partial_run(begun([r, p], [a, b, c]), r, {a: 1}), WHOLE),
            caught(lambda: sess.partial_run(begun([r], [a, b]), p, both), WHOLE),
            caught(lambda: sess.partial_run(begun([r], [a, b]), r, {c: 1}), WHOLE),
            caught(lambda: sess.partial_run(begun([r, p], [a, b, c], (r, both)), r), WHOLE),
            caught(lambda: sess.partial_run(begun([r, p], [a, b, c], (r, both)), p, {a: 3}), WHOLE),
            caught(lambda: sess.partial_run(begun([r], [a, b], (r, both)), r), WHOLE),
            caught(lambda: sess.partial_run("no handle", r), "Must run 'setup' before performing partial runs!"),
        )


def calls_with_no_list(tf):
    a = tf.placeholder(tf.float32, [])
    with tf.Session() as sess:
        return caught(lambda: sess.make_callable(a + 1, a), WHOLE), caught(lambda: sess.run(a, [a]), WHOLE), caught(lambda: sess.run(a, 5), WHOLE)


def callable_by_names(tf):
    a = tf.placeholder(tf.float32, [], name="a")
    v = tf.Variable(1.0)
    y = tf.identity(a * 2, name="y")
    up = tf.group(v.assign_add(5.0), name="up")
    with tf.Session() as sess:
        sess.run(v.initializer)
        # Any message with these fields works: TensorFlow has CallableOptions in a separate module.
        try:
            from tensorflow.core.protobuf.config_pb2 import CallableOptions
        except ImportError:
            from millstream.protos import CallableOptions
        options = CallableOptions(feed=["a:0"], fetch=["y:0"], target=["up"])
        call = sess._make_callable_from_options(options)
        return call(np.float32(3)), call(np.float32(4)), sess.run(v), up.name, y.name
