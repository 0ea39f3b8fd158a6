"""`SessionManager`, `Scaffold`, session creators: readiness of sessions, and errors."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run


def _saved(tf, value=3.0):
    """Saves a checkpoint of a variable `v`; returns its directory."""
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default():
        v = tf.Variable(value, name="v")
        with tf.Session() as sess:
            sess.run(v.initializer)
            tf.train.Saver().save(sess, os.path.join(folder, "m"), global_step=5)
    return folder


def prepared_by_an_init_op(tf):
    v = tf.Variable(1.0, name="v")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess = sm.prepare_session("", init_op=tf.global_variables_initializer())
    return sess.run(v), type(sess).__name__


def prepared_by_a_function(tf):
    v = tf.Variable(1.0, name="v")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess = sm.prepare_session("", init_fn=lambda sess: sess.run(v.initializer))
    return sess.run(v)


def prepared_with_feeds(tf):
    p = tf.placeholder(tf.float32, [])
    v = tf.Variable(p, name="v")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess = sm.prepare_session("", init_op=tf.global_variables_initializer(), init_feed_dict={p: 8.0})
    return sess.run(v)


def prepared_from_a_checkpoint(tf):
    folder = _saved(tf)
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    by_folder = sm.prepare_session("", saver=saver, checkpoint_dir=folder)
    by_file = sm.prepare_session("", saver=saver, checkpoint_filename_with_path=os.path.join(folder, "m-5"))
    return by_folder.run(v), by_file.run(v), [os.path.basename(p) for p in saver.last_checkpoints]


def prepared_from_an_empty_folder(tf):
    v = tf.Variable(1.0, name="v")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess = sm.prepare_session("", init_op=tf.global_variables_initializer(), saver=tf.train.Saver(), checkpoint_dir=tempfile.mkdtemp())
    return sess.run(v)


def prepared_by_nothing(tf):
    tf.Variable(1.0, name="v")
    sm = tf.train.SessionManager()
    return caught(lambda: sm.prepare_session(""), WHOLE), caught(lambda: sm.prepare_session("", checkpoint_dir="a", checkpoint_filename_with_path="b", saver=tf.train.Saver()), WHOLE)


def not_ready_after_init(tf):
    tf.Variable(1.0, name="v")
    tf.Variable(1.0, name="w")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    return caught(lambda: sm.prepare_session("", init_op=tf.no_op(name="nothing")), WHOLE)


def local_variables_too(tf):
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(v.initialized_value() * 2.0, name="w", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    sm = tf.train.SessionManager(
        ready_op=tf.report_uninitialized_variables(),
        ready_for_local_init_op=tf.report_uninitialized_variables(tf.global_variables()),
        local_init_op=w.initializer,
    )
    sess = sm.prepare_session("", init_op=v.initializer)
    return sess.run([v, w])


def local_init_not_ready(tf):
    tf.Variable(1.0, name="v")
    w = tf.Variable(2.0, name="w", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    sm = tf.train.SessionManager(
        ready_op=tf.report_uninitialized_variables(),
        ready_for_local_init_op=tf.report_uninitialized_variables(tf.global_variables()),
        local_init_op=w.initializer,
    )
    return caught(lambda: sm.prepare_session("", init_op=tf.no_op(name="nothing")), WHOLE)


def ready_op_without_local_init(tf):
    return caught(lambda: tf.train.SessionManager(ready_for_local_init_op=tf.no_op()), WHOLE)


def recovered(tf):
    folder = _saved(tf, 9.0)
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess, done = sm.recover_session("", saver=saver, checkpoint_dir=folder)
    other, not_done = sm.recover_session("", saver=saver, checkpoint_dir=tempfile.mkdtemp())
    return done, sess.run(v), not_done, sess.run(tf.is_variable_initialized(v)) if False else None, type(other).__name__


def recovered_in_part(tf):
    folder = _saved(tf, 9.0)
    v = tf.Variable(1.0, name="v")
    tf.Variable(1.0, name="w")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    sess, done = sm.recover_session("", saver=tf.train.Saver({"v": v}), checkpoint_dir=folder)
    return done, sess.run(v)


def waited_for_in_vain(tf):
    tf.Variable(1.0, name="v")
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(), recovery_wait_secs=0.01)
    return caught(lambda: sm.wait_for_session("", max_wait_secs=0.05), WHOLE)


def waited_for_without_a_need(tf):
    sm = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with sm.wait_for_session("", max_wait_secs=3) as sess:
        return sess.run(tf.constant(3))


def scaffold_of_defaults(tf):
    v = tf.Variable(1.0, name="v")
    s = tf.train.Scaffold()
    before = [getattr(s, k) is None for k in ("init_op", "ready_op", "local_init_op", "summary_op", "saver", "init_fn", "init_feed_dict", "ready_for_local_init_op")]
    s.finalize()
    kinds = [s.init_op.type, s.ready_op.dtype.name, s.local_init_op.type, s.summary_op is None, type(s.saver).__name__, s.init_fn, s.init_feed_dict]
    return before, kinds, tf.get_default_graph().finalized, [len(tf.get_collection(k)) for k in (tf.GraphKeys.INIT_OP, tf.GraphKeys.READY_OP, tf.GraphKeys.LOCAL_INIT_OP, tf.GraphKeys.SAVERS, tf.GraphKeys.READY_FOR_LOCAL_INIT_OP, tf.GraphKeys.SUMMARY_OP)]


def scaffold_names(tf):
    tf.Variable(1.0, name="v")
    tf.summary.scalar("s", tf.constant(1.0))
    start = len(nodes(tf))
    tf.train.Scaffold().finalize()
    return [n for n in nodes(tf)[start:] if not n.startswith("save")]


def scaffold_given_all(tf):
    v = tf.Variable(1.0, name="v")
    ops = {k: tf.no_op(name=k) for k in ("init_op", "local_init_op", "summary_op")}
    s = tf.train.Scaffold(ready_op=tf.constant([], tf.string), saver=tf.train.Saver(), init_feed_dict={"a": 1}, **ops)
    s.finalize()
    return [getattr(s, k).name for k in ("init_op", "local_init_op", "summary_op")], s.init_feed_dict, s.init_fn


def scaffold_takes_from_collections(tf):
    tf.Variable(1.0, name="v")
    mine = tf.no_op(name="mine")
    tf.add_to_collection(tf.GraphKeys.INIT_OP, mine)
    saver = tf.train.Saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    s = tf.train.Scaffold()
    s.finalize()
    return s.init_op is mine, s.saver is saver


def scaffold_with_two_in_a_collection(tf):
    tf.Variable(1.0, name="v")
    for _ in range(2):
        tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    return caught(lambda: tf.train.Scaffold().finalize(), "More than one item in the collection", "Please indicate which one to use by passing it to the tf.Scaffold constructor as:  tf.Scaffold(")


def scaffold_with_a_function(tf):
    tf.Variable(1.0, name="v")
    seen = []
    s = tf.train.Scaffold(init_fn=lambda scaffold, sess: seen.append((scaffold is s, type(sess).__name__)))
    s.finalize()
    with tf.Session() as sess:
        s.init_fn(sess)
    return seen


def default_local_init(tf):
    tf.Variable(1.0, name="w", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    op = tf.train.Scaffold.default_local_init_op()
    return op.type, [o.name for o in op.control_inputs]


def chief_creator(tf):
    v = tf.Variable(4.0, name="v")
    creator = tf.train.ChiefSessionCreator(tf.train.Scaffold())
    sess = creator.create_session()
    return type(sess).__name__, sess.run(v), isinstance(creator, tf.train.SessionCreator)


def chief_creator_from_a_checkpoint(tf):
    folder = _saved(tf, 6.0)
    v = tf.Variable(4.0, name="v")
    sess = tf.train.ChiefSessionCreator(checkpoint_dir=folder).create_session()
    return sess.run(v)


def training_session(tf):
    folder = tempfile.mkdtemp()
    step = tf.train.get_or_create_global_step()
    up = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None) as sess:
        for _ in range(3):
            sess.run(up)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None) as sess:
        value = sess.run(step)
    return value, os.path.basename(tf.train.latest_checkpoint(folder))


def training_session_without_a_folder(tf):
    step = tf.train.get_or_create_global_step()
    up = tf.assign_add(step, 1)
    hooks = [tf.train.StopAtStepHook(num_steps=4)]
    n = 0
    with tf.train.MonitoredTrainingSession(hooks=hooks) as sess:
        while not sess.should_stop():
            sess.run(up)
            n += 1
    return n
