"""Tensors stored in a session: `get_session_handle`, `get_session_tensor`, `delete_session_tensor`."""

import gc

from programs.tools import WHOLE, caught, nodes, static


def _kept(tf, sess, value):
    return sess.run(tf.get_session_handle(tf.constant(value)))


def from_run_to_run(tf):
    x = tf.placeholder(tf.float32, [2], name="x")
    start, step = tf.get_session_handle(tf.constant([1.0, 2.0])), tf.get_session_handle(x * 2.0)
    with tf.Session() as sess:
        handle = sess.run(start)
        for _ in range(3):
            handle = sess.run(step, {x: handle})
        return handle.eval(), sess.run(x + 1.0, {x: handle})


def nodes_made(tf):
    c = tf.constant([1.0], name="c")
    handle = tf.get_session_handle(c, name="kept")
    with tf.Session() as sess:
        place, value = tf.get_session_tensor(sess.run(handle).handle, tf.float32, name="back")
        hole, gone = tf.delete_session_tensor(sess.run(handle).handle)
    device = [place.device, value.device, hole.device, gone.device]
    return nodes(tf), static(handle, place, value), device, handle.op.colocation_groups()


def handles_as_text(tf):
    handle = tf.get_session_handle(tf.constant([1.0]), name="kept")
    with tf.Session() as sess:
        a, b = sess.run(handle), sess.run(handle)
        return str(a), a.handle, str(b), a.get_raw_handle()


def of_many_dtypes(tf):
    values = [tf.constant(3, tf.int64), tf.constant([[True]]), tf.constant("text"), tf.zeros([0, 2], tf.float16)]
    with tf.Session() as sess:
        return [h.eval() for h in sess.run([tf.get_session_handle(v) for v in values])]


def in_structures(tf):
    h, c = tf.get_session_handle(tf.constant(1)), tf.constant(2)
    with tf.Session() as sess:
        got = sess.run({"a": h, "b": (h, [c])})
        return type(got["a"]).__name__, got["b"][0].eval(), got["b"][1]


def deleted(tf):
    with tf.Session() as sess:
        handle = _kept(tf, sess, 1)
        place, gone = tf.delete_session_tensor(handle.handle)
        sess.run(gone, {place: handle.handle})
        late = [caught(lambda: handle.eval(), WHOLE), caught(lambda: sess.run(gone, {place: handle.handle}), WHOLE)]
        other = _kept(tf, sess, 2)
        name = other.handle
        other.delete()
        twice = [caught(lambda: other.delete(), "may have already been deleted."), caught(lambda: other.eval(), "Persistent tensor %s may have" % name)]
        raw = _kept(tf, sess, 3)
        text = raw.get_raw_handle()
        place, value = tf.get_session_tensor(text, tf.int32)
        return late, twice, caught(lambda: raw.eval(), "may have already been deleted."), sess.run(value, {place: text})


def forgotten(tf):
    h = tf.get_session_handle(tf.constant(1))
    with tf.Session() as sess:
        place, value = tf.get_session_tensor(sess.run(h).handle, tf.int32)
        first = sess.run(h).handle
        early = sess.run(value, {place: first})
        for _ in range(30):
            sess.run(h)
        gc.collect()
        sess.run(h)
        return early, caught(lambda: sess.run(value, {place: first}), "is not in the session store.")


def in_another_session(tf):
    with tf.Session() as one, tf.Session() as two:
        handle = _kept(tf, one, 1)
        place, value = tf.get_session_tensor(handle.handle, tf.int32)
        return one.run(value, {place: handle.handle}), caught(lambda: two.run(value, {place: handle.handle}), "is not in the session store.")


def refused(tf):
    x = tf.placeholder(tf.int32, name="x")
    with tf.Session() as sess:
        handle = _kept(tf, sess, [1.0])
        place, value = tf.get_session_tensor("a;0;/device:CPU:0", tf.float32)
        return (
            caught(lambda: tf.get_session_handle(3.0), WHOLE),
            caught(lambda: tf.get_session_handle(tf.Variable(1.0)), WHOLE),
            caught(lambda: sess.run(x + 1, {x: handle}), WHOLE),
            caught(lambda: sess.run(value, {place: "a;0;/device:CPU:0"}), WHOLE),
            caught(lambda: tf.raw_ops.GetSessionTensor(handle=tf.constant(["a"]), dtype=tf.float32, name="r"), WHOLE),
        )


def no_gradient_flows(tf):
    x = tf.constant(1.0)
    _, value = tf.get_session_tensor("a;0;/device:CPU:0", tf.float32)
    return tf.gradients(value * 2.0, x)


def of_a_loop(tf):
    n, state = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2])
    end = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 2.0), (0, state))[1]
    kept = tf.get_session_handle(end)
    with tf.Session() as sess:
        handle = sess.run(kept, {n: 2, state: [1.0, 3.0]})
        again = sess.run(kept, {n: 3, state: handle})
        return handle.eval(), again.eval(), sess.run(end, {n: 0, state: again})
