"""`Supervisor` and `basic_train_loop`: the training API before monitored sessions."""

import os
import tempfile
import time

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run


def managed_session(tf):
    v = tf.Variable(3.0, name="v")
    sv = tf.train.Supervisor(logdir=None)
    with sv.managed_session("") as sess:
        return type(sess).__name__, sess.run(v), sv.should_stop()


def stops_after_the_block(tf):
    tf.Variable(3.0, name="v")
    sv = tf.train.Supervisor()
    with sv.managed_session("") as sess:
        inside = sv.should_stop()
    return inside, sv.should_stop(), caught(lambda: sess.run(tf.no_op()), WHOLE) if False else None


def steps_until_asked_to_stop(tf):
    v = tf.Variable(0, name="v")
    up = tf.assign_add(v, 1)
    sv = tf.train.Supervisor()
    n = 0
    with sv.managed_session("") as sess:
        while not sv.should_stop():
            if sess.run(up) == 4:
                sv.request_stop()
            n += 1
    return n


def errors_leave_the_block(tf):
    tf.Variable(0, name="v")
    sv = tf.train.Supervisor()

    def work():
        with sv.managed_session(""):
            raise RuntimeError("in the block")

    return caught(work, WHOLE)


def end_of_input_is_clean(tf):
    tf.Variable(0, name="v")
    q = tf.FIFOQueue(2, [tf.int32])
    close, get = q.close(), q.dequeue()
    sv = tf.train.Supervisor()
    with sv.managed_session("") as sess:
        sess.run(close)
        sess.run(get)
    return sv.should_stop()


def attributes(tf):
    tf.Variable(0, name="v")
    sv = tf.train.Supervisor(logdir=None, saver=None, global_step=None)
    return sv.is_chief, sv.init_op.type, sv.saver, sv.global_step, sv.summary_op, sv.save_path, type(sv.coord).__name__, type(sv.session_manager).__name__, sv.save_model_secs, sv.save_summaries_secs, sv.init_feed_dict, sv.ready_op.dtype.name, sv.summary_writer


def attributes_with_a_folder(tf):
    tf.Variable(0, name="v")
    step = tf.train.create_global_step()
    tf.summary.scalar("s", tf.constant(1.0))
    folder = tempfile.mkdtemp()
    sv = tf.train.Supervisor(logdir=folder)
    return type(sv.saver).__name__, sv.global_step is step, sv.summary_op.op.type, os.path.relpath(sv.save_path, folder), type(sv.summary_writer).__name__


def saves_at_the_start(tf):
    # The thread that saves begins with a checkpoint. There is none at the end.
    folder = tempfile.mkdtemp()
    step = tf.train.create_global_step()
    up = tf.assign_add(step, 1)
    sv = tf.train.Supervisor(logdir=folder, summary_op=None)
    with sv.managed_session("") as sess:
        while tf.train.latest_checkpoint(folder) is None:
            time.sleep(0.01)
        for _ in range(3):
            sess.run(up)
    with tf.Graph().as_default():
        again = tf.train.create_global_step()
        sv = tf.train.Supervisor(logdir=folder, summary_op=None, save_model_secs=0)
        with sv.managed_session("") as sess:
            value = sess.run(again)
    return os.path.basename(tf.train.latest_checkpoint(folder)), value


def runs_the_queue_runners(tf):
    n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    sv = tf.train.Supervisor()
    got = []
    with sv.managed_session("") as sess:
        while not sv.should_stop():
            got.append(int(sess.run(n)))
    return got


def prepared_by_hand(tf):
    v = tf.Variable(7, name="v")
    sv = tf.train.Supervisor()
    sess = sv.prepare_or_wait_for_session("")
    value = sess.run(v)
    sv.request_stop()
    sv.stop()
    return value, sv.should_stop()


def init_fn_and_feeds(tf):
    p = tf.placeholder(tf.float32, [])
    v = tf.Variable(p, name="v")
    w = tf.Variable(1.0, name="w")
    sv = tf.train.Supervisor(init_feed_dict={p: 5.0}, init_fn=lambda sess: sess.run(w.assign(9.0)) if False else None)
    with sv.managed_session("") as sess:
        return sess.run([v, w])


def local_variables(tf):
    w = tf.Variable(2.0, name="w", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    sv = tf.train.Supervisor()
    with sv.managed_session("") as sess:
        return sess.run(w)


def loops(tf):
    tf.Variable(0, name="v")
    sv = tf.train.Supervisor()
    seen = []
    with sv.managed_session(""):
        sv.loop(None, lambda: (seen.append(1), sv.request_stop()))
        sv.wait_for_stop()
    return len(seen) > 0


def graph_is_final(tf):
    tf.Variable(0, name="v")
    sv = tf.train.Supervisor()
    with sv.managed_session(""):
        return tf.get_default_graph().finalized


def no_chief(tf):
    return caught(lambda: tf.train.Supervisor(is_chief=False).summary_computed(None, b""), WHOLE) if False else caught(lambda: tf.train.Supervisor(graph=tf.get_default_graph(), is_chief=True).summary_computed(None, b""), WHOLE)


def a_basic_loop(tf):
    v = tf.Variable(0, name="v")
    up = tf.assign_add(v, 1)
    sv = tf.train.Supervisor()
    seen = []

    def train(sess, extra):
        seen.append((int(sess.run(up)), extra))
        if len(seen) == 3:
            sv.request_stop()

    tf.train.basic_train_loop(sv, train, args=("x",))
    return seen


def files_and_events(tf):
    folder = tempfile.mkdtemp()
    v = tf.Variable(1.0, name="v")
    step = tf.train.create_global_step()
    up = tf.assign_add(step, 1)
    sv = tf.train.Supervisor(logdir=folder, save_summaries_secs=0, save_model_secs=0)
    with sv.managed_session("") as sess:
        for _ in range(3):
            sess.run([up, v])
    events = next(name for name in os.listdir(folder) if "tfevents" in name)
    found = [(e.step, e.WhichOneof("what"), e.session_log.status) for e in tf.train.summary_iterator(os.path.join(folder, events))]
    return found, sorted(name for name in os.listdir(folder) if name != events)


def services_without_a_folder(tf):
    tf.Variable(1.0, name="v")
    sv = tf.train.Supervisor()
    with tf.Session() as sess:
        return sv.start_standard_services(sess)


def graph_is_final_from_the_start(tf):
    v = tf.Variable(1.0, name="v")
    sv = tf.train.Supervisor(init_op=None, init_fn=lambda sess: sess.run(v.assign(9.0)))
    return tf.get_default_graph().finalized, caught(lambda: sv.prepare_or_wait_for_session(""), WHOLE)


def events_of_a_training_session(tf):
    folder = tempfile.mkdtemp()
    step = tf.train.create_global_step()
    up = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=2, log_step_count_steps=None, save_summaries_steps=None, save_summaries_secs=None) as sess:
        for _ in range(3):
            sess.run(up)
    tf.summary.FileWriterCache.clear()
    events = next(name for name in os.listdir(folder) if "tfevents" in name)
    found = [(int(e.step), e.WhichOneof("what"), int(e.session_log.status)) for e in tf.train.summary_iterator(os.path.join(folder, events))]
    return [one for one in found if one[1] != "summary"]
