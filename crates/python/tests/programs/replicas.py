"""`SyncReplicasOptimizer` with the replicas of one process, and `init_from_checkpoint`."""

import os
import tempfile
import threading

import numpy as np

from programs.tools import WHOLE, caught, initialize, mistakes, run


def one_replica(tf):
    x = tf.Variable(4.0, name="x")
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), replicas_to_aggregate=1)
    train = optimizer.minimize(x * x, global_step=step)
    hook = optimizer.make_session_run_hook(True, num_tokens=0)
    values = []
    with tf.Session() as sess:
        hook.begin()
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        hook.after_create_session(sess, coord)
        for _ in range(4):
            sess.run(train)
            values.append(sess.run([x, step]))
        coord.request_stop()
    return values, [v.name for v in tf.local_variables()], optimizer.get_slot_names(), [v.name for v in optimizer.variables()]


def two_replicas(tf):
    """Each of two threads gives one gradient a step; both see the mean of both applied."""
    x = tf.Variable([4.0, 8.0], name="x")
    factor = tf.placeholder(tf.float32, [])
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2, 2)
    train = optimizer.minimize(factor * tf.reduce_sum(x), global_step=step)
    hook = optimizer.make_session_run_hook(True, num_tokens=0)
    with tf.Session() as sess:
        hook.begin()
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        hook.after_create_session(sess, coord)
        values = []
        for _ in range(3):
            threads = [threading.Thread(target=sess.run, args=(train, {factor: f})) for f in (1.0, 3.0)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            values.append(sess.run([x, step]))
        coord.request_stop()
    return values


def gradients_of_rows(tf):
    table = tf.Variable(np.ones([4, 2], np.float32), name="table")
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.5, 0.9), 1)
    train = optimizer.minimize(tf.reduce_sum(tf.gather(table, [1, 1, 3])), global_step=step)
    hook = optimizer.make_session_run_hook(True, num_tokens=0)
    with tf.Session() as sess:
        hook.begin()
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        hook.after_create_session(sess, coord)
        for _ in range(2):
            sess.run(train)
        found = sess.run([table, optimizer.get_slot(table, "momentum"), step])
        coord.request_stop()
    return found, optimizer.get_slot_names()


def mistakes_with_replicas(tf):
    def make(n=1, total=None):
        return tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), n, total)

    def applied(n=1, total=None):
        x, optimizer = tf.Variable(1.0), make(n, total)
        optimizer.minimize(x * x, global_step=tf.train.get_or_create_global_step())
        return optimizer

    return mistakes(
        tf,
        nothing=lambda: make().apply_gradients([], global_step=tf.train.get_or_create_global_step()),
        no_step=lambda: make().apply_gradients([(tf.constant(1.0), tf.Variable(1.0))]),
        no_runner=lambda: make().get_chief_queue_runner(),
        no_tokens=lambda: make().get_init_tokens_op(),
        few_tokens=lambda: applied(3, 1).get_init_tokens_op(1),
        no_hook=lambda: make().make_session_run_hook(True).begin(),
    )


def _checkpoint(tf):
    """Returns the path of a checkpoint with some variables."""
    with tf.Graph().as_default():
        tf.get_variable("a", initializer=[1.0, 2.0])
        with tf.variable_scope("old"):
            tf.get_variable("w", initializer=3.0)
            tf.get_variable("deep/w", initializer=[[4.0]])
        tf.get_variable("parts", initializer=np.arange(6, dtype=np.float32))
        with tf.Session() as sess:
            initialize(tf, sess)
            return tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "model"))


def _initial(tf):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return {v.op.name: sess.run(v) for v in tf.global_variables()}


def initial_values_by_name(tf):
    path = _checkpoint(tf)
    v = tf.get_variable("b", [2])
    tf.get_variable("c", [], initializer=tf.ones_initializer(), use_resource=True)
    tf.get_variable("d", initializer=7.0)
    tf.train.init_from_checkpoint(path, {"a": v, "old/w": "c"})
    return _initial(tf)


def initial_values_by_scope(tf):
    path = _checkpoint(tf)
    with tf.variable_scope("new"):
        tf.get_variable("w", [])
        tf.get_variable("deep/w", [1, 1])
    tf.get_variable("other", initializer=5.0)
    tf.train.init_from_checkpoint(path, {"old/": "new/"})
    return _initial(tf)


def initial_values_of_all(tf):
    path = _checkpoint(tf)
    tf.get_variable("a", [2])
    with tf.variable_scope("old"):
        tf.get_variable("w", [])
    tf.train.init_from_checkpoint(os.path.dirname(path), {"/": "/"})
    return _initial(tf)


def initial_values_of_parts(tf):
    path = _checkpoint(tf)
    v = tf.get_variable("p", [6], partitioner=tf.fixed_size_partitioner(2))
    tf.train.init_from_checkpoint(path, {"parts": list(v)})
    with tf.variable_scope("x"):
        tf.get_variable("parts", [6], partitioner=tf.fixed_size_partitioner(3))
    tf.train.init_from_checkpoint(path, {"/": "x/"})
    return _initial(tf)


def mistakes_in_initial_values(tf):
    path = _checkpoint(tf)

    def of(*pairs):
        tf.get_variable("v", [2])
        tf.train.init_from_checkpoint(path, dict(pairs))

    def caught_in_a_graph(*pairs):
        with tf.Graph().as_default():
            return caught(lambda: of(*pairs))

    return [
        caught_in_a_graph(("zz", "v")),
        caught_in_a_graph(("old/w", "v")),
        caught_in_a_graph(("old/", "")),
        caught_in_a_graph(("a", "none/")),
        caught(lambda: tf.train.init_from_checkpoint("/nowhere", {"a": "b"})),
    ]


def locks_of_assignments(tf):
    v = tf.Variable(1.0)
    found = []
    for make in (
        lambda: tf.assign(v, 2.0),
        lambda: tf.assign(v, 2.0, use_locking=False),
        lambda: tf.assign(v, [2.0, 3.0], validate_shape=False),
        lambda: tf.assign_add(v, 2.0),
        lambda: tf.assign_add(v, 2.0, use_locking=True),
        lambda: tf.assign_sub(v, 2.0, True),
        lambda: v.assign(1.0),
        lambda: v.assign(1.0, use_locking=True),
    ):
        op = make().op
        found.append([op.type, op.get_attr("use_locking")])
    return found


def meta_graphs_with_information(tf):
    info = tf.MetaGraphDef.MetaInfoDef(meta_graph_version="v7", tags=["mine"])
    tf.constant(1.0)
    meta = tf.train.export_meta_graph(meta_info_def=info)
    return meta.meta_info_def.meta_graph_version, list(meta.meta_info_def.tags), len(meta.meta_info_def.stripped_op_list.op), caught(lambda: tf.train.export_meta_graph(meta_info_def=5))


def tensors_logged_by_time(tf):
    """With a clock of its own: the hook fetches when its seconds have passed."""
    import time

    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    hook = tf.train.LoggingTensorHook({"step": step}, every_n_secs=10)
    clock, real = [100.0], time.time
    found = []
    time.time = lambda: clock[0]
    try:
        hook.begin()
        for _ in range(8):
            asked = hook.before_run(None)
            found.append(asked is not None)
            if asked is not None:
                hook.after_run(None, tf.train.SessionRunValues({"step": 1}, None, None))
            else:
                hook.after_run(None, tf.train.SessionRunValues(None, None, None))
            clock[0] += 4.0
    finally:
        time.time = real
    return found, run(tf, more)


def ops_of_graphs(tf):
    tf.constant(1.0) + tf.Variable(2.0)
    graph_def = tf.get_default_graph().as_graph_def()
    util = tf.contrib.util
    return sorted(util.ops_used_by_graph_def(graph_def)), [o.name for o in util.stripped_op_list_for_graph(graph_def).op], util.constant_value(tf.constant(3.0)), util.make_ndarray(util.make_tensor_proto([1, 2]))


def flipped_entropies(tf):
    nn = tf.contrib.nn
    logits = [[0.5, 1.5], [2.0, -1.0]]
    return run(
        tf,
        [
            nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, [[0.25, 0.75], [1.0, 0.0]]),
            nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1, 0]),
            nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, [[0.25, 0.75], [1.0, 0.0]]),
        ],
    )


def initializers_that_read(tf):
    """The initializer of a variable of references is a tensor, that of one of resources an operation."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", initializer=[1.0, 2.0])
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, os.path.join(tempfile.mkdtemp(), "m"))
    v, w = tf.get_variable("a", [2]), tf.get_variable("b", [2], use_resource=True)
    tf.train.init_from_checkpoint(path, {"v": "a"})
    tf.train.init_from_checkpoint(path, {"v": "b"})
    with tf.Session() as sess:
        return v.initializer.name, sess.run(v.initializer), w.initializer.name, sess.run(w.initializer), sess.run([v, w])
