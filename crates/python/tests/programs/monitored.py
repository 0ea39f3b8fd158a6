"""Hooks and monitored sessions: calls, stopping, checkpoints."""

import os
import tempfile

import numpy as np

from programs.tools import caught, initialize, run


def _recorder(tf, log, **overrides):
    class Recorder(tf.train.SessionRunHook):
        def begin(self):
            log.append("begin")

        def after_create_session(self, session, coord):
            log.append("after_create_session")

        def before_run(self, run_context):
            log.append("before_run")
            return overrides.get("args")

        def after_run(self, run_context, run_values):
            log.append(("after_run", run_values.results))
            if "stop_after" in overrides and log.count("before_run") == overrides["stop_after"]:
                run_context.request_stop()

        def end(self, session):
            log.append("end")

    return Recorder()


def _model(tf):
    step = tf.train.get_or_create_global_step()
    return step, tf.assign_add(step, 1)


def initializes_itself(tf):
    v = tf.Variable([1.0, 2.0])
    local = tf.Variable(5, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    with tf.train.MonitoredSession() as sess:
        return sess.run([v, local]), sess.should_stop()


def hooks_in_order(tf):
    log = []
    x = tf.constant(3)
    with tf.train.MonitoredSession(hooks=[_recorder(tf, log, args=tf.train.SessionRunArgs(x + 1))]) as sess:
        sess.run(x)
        sess.run(x)
    return log


def hook_feeds(tf):
    x, y = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    total = x + y
    hook = tf.train.FeedFnHook(lambda: {x: 10})
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        return sess.run(total, {y: 1}), caught(lambda: sess.run(x, {x: 1}), "Same tensor is fed by a SessionRunHook and user.")


def two_hooks_feed_the_same(tf):
    x = tf.placeholder(tf.int32, [])
    hooks = [tf.train.FeedFnHook(lambda: {x: 10}), tf.train.FeedFnHook(lambda: {x: 20})]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        return caught(lambda: sess.run(x), "Same tensor is fed by two hooks.")


def stopped_by_a_hook(tf):
    log = []
    x = tf.constant(3)
    turns = 0
    with tf.train.MonitoredSession(hooks=[_recorder(tf, log, stop_after=3)]) as sess:
        while not sess.should_stop():
            sess.run(x)
            turns += 1
        late = caught(lambda: sess.run(x), "Run called even after should_stop requested.")
    return turns, late


def stop_at_step(tf):
    step, up = _model(tf)
    turns = []
    for hook in (tf.train.StopAtStepHook(last_step=5), tf.train.StopAtStepHook(num_steps=3)):
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            while not sess.should_stop():
                last = sess.run(up)
        turns.append(last)
    return turns


def stop_at_step_refusals(tf):
    return (
        caught(lambda: tf.train.StopAtStepHook(), "One of num_steps or last_step must be specified."),
        caught(lambda: tf.train.StopAtStepHook(1, 2), "Only one of num_steps or last_step can be specified."),
        caught(lambda: tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(3)]), "Global step should be created to use StopAtStepHook."),
    )


def end_of_input_ends_the_block(tf):
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]])
    put, close, get = q.enqueue_many([[1, 2, 3]]), q.close(), q.dequeue()
    values = []
    with tf.train.MonitoredSession() as sess:
        sess.run(put)
        sess.run(close)
        while not sess.should_stop():
            values.append(int(sess.run(get)))
    return values


def runs_the_queue_runners(tf):
    v = tf.Variable(0)
    q = tf.FIFOQueue(10, [tf.int32], shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(q, [q.enqueue(v.count_up_to(5))]))
    get = q.dequeue()
    values = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            values.append(int(sess.run(get)))
    return values


def other_errors_leave_the_block(tf):
    log = []

    def use():
        with tf.train.MonitoredSession(hooks=[_recorder(tf, log)]) as sess:
            sess.run(tf.get_default_graph().get_tensor_by_name("x:0"))
            raise KeyError("mine")

    tf.constant(1, name="x")
    return caught(use, "mine"), log


def closed(tf):
    sess = tf.train.MonitoredSession()
    sess.close()
    return sess.should_stop(), caught(lambda: sess.close(), "Session is already closed."), sess.graph


def graph_is_final_inside(tf):
    with tf.train.MonitoredSession() as sess:
        inside = tf.get_default_graph().finalized, caught(lambda: tf.constant(1))
    return inside, tf.get_default_graph().finalized


def singular(tf):
    v = tf.Variable(3)
    with tf.train.SingularMonitoredSession() as sess:
        return sess.run(v), sess.raw_session().run(v), sess.graph is tf.get_default_graph()


def recovers_when_aborted(tf):
    x = tf.constant(1)
    log = []

    class Aborts(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            log.append("created")

        def before_run(self, run_context):
            if len(log) == 1:
                raise tf.errors.AbortedError(None, None, "lost")

    with tf.train.MonitoredSession(hooks=[Aborts()]) as sess:
        value = sess.run(x)
    return value, log


def singular_does_not_recover(tf):
    x = tf.constant(1)

    class Aborts(tf.train.SessionRunHook):
        def before_run(self, run_context):
            raise tf.errors.AbortedError(None, None, "lost")

    with tf.train.SingularMonitoredSession(hooks=[Aborts()]) as sess:
        return caught(lambda: sess.run(x), "lost")


def step_functions(tf):
    v = tf.Variable(1)
    up = tf.assign_add(v, 1)
    log = []
    with tf.train.MonitoredSession(hooks=[_recorder(tf, log)]) as sess:

        def step_fn(step_context):
            first = step_context.session.run(v)
            return first, step_context.run_with_hooks(up)

        value = sess.run_step_fn(step_fn)
        wrong = caught(lambda: sess.run_step_fn(lambda a, b: 1), "`step_fn` may either have one `step_context` argument")
    return value, len(log), wrong


def step_function_stops(tf):
    turns = []
    with tf.train.MonitoredSession() as sess:

        def step_fn(step_context):
            turns.append(1)
            if len(turns) == 3:
                step_context.request_stop()

        while not sess.should_stop():
            sess.run_step_fn(step_fn)
    return len(turns)


def scaffold(tf):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    seen = []
    s = tf.train.Scaffold(init_op=tf.global_variables_initializer(), init_fn=lambda scaffold, sess: seen.append(float(sess.run(v))))
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(s)) as sess:
        value = sess.run([v, w])
    return value, seen, s.saver is not None, s.ready_op is not None, s.local_init_op is not None


def scaffold_that_does_not_initialize(tf):
    v = tf.Variable(1.0, name="v")
    s = tf.train.Scaffold(init_op=tf.no_op())
    return caught(lambda: tf.train.MonitoredSession(tf.train.ChiefSessionCreator(s)), "Variables not initialized: v")


def scaffold_copied(tf):
    a = tf.train.Scaffold(init_op=tf.no_op(name="mine"))
    b = tf.train.Scaffold(copy_from_scaffold=a)
    return b.init_op.name, caught(lambda: tf.train.Scaffold(copy_from_scaffold=3), "copy_from_scaffold is not a Scaffold instance.")


def checkpoints(tf):
    folder = tempfile.mkdtemp()
    step, up = _model(tf)
    for _ in range(2):
        hooks = [tf.train.StopAtStepHook(num_steps=3)]
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2, save_summaries_steps=None, log_step_count_steps=None) as sess:
            while not sess.should_stop():
                last = sess.run(up)
    names = sorted(n for n in os.listdir(folder) if n.endswith(".index"))
    return last, names, os.path.basename(tf.train.latest_checkpoint(folder)), os.path.exists(os.path.join(folder, "graph.pbtxt"))


def checkpoint_listeners(tf):
    folder = tempfile.mkdtemp()
    step, up = _model(tf)
    log = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            log.append("begin")

        def before_save(self, session, global_step_value):
            log.append(("before", int(global_step_value)))

        def after_save(self, session, global_step_value):
            log.append(("after", int(global_step_value)))

        def end(self, session, global_step_value):
            log.append(("end", int(global_step_value)))

    tf.train.Saver()
    hook = tf.train.CheckpointSaverHook(folder, save_steps=2, scaffold=tf.train.Scaffold(saver=tf.train.Saver()), listeners=[Listener()])
    with tf.train.SingularMonitoredSession(hooks=[hook, tf.train.StopAtStepHook(last_step=5)]) as sess:
        while not sess.should_stop():
            sess.run(up)
    return log


def nan_loss(tf):
    x = tf.placeholder(tf.float32, [])
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(x)]) as sess:
        sess.run(x, {x: 1.0})
        error = caught(lambda: sess.run(x, {x: float("nan")}), "NaN loss during training.")
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(x, fail_on_nan_loss=False)]) as sess:
        sess.run(x, {x: float("nan")})
        return error, sess.should_stop(), issubclass(tf.train.NanLossDuringTrainingError, RuntimeError)


def logging_refusals(tf):
    make = tf.train.LoggingTensorHook
    return (
        caught(lambda: make(["x"]), "must be provided."),
        caught(lambda: make(["x"], 1, 2), "must be provided."),
        caught(lambda: make(["x"], 0), "invalid every_n_iter=0."),
    )


def logging_formats(tf):
    x = tf.constant(2, name="x")
    lines = []
    hook = tf.train.LoggingTensorHook({"a": x, "b": "x"}, every_n_iter=2, formatter=lambda values: lines.append({k: int(v) for k, v in values.items()}) or "")
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        for _ in range(4):
            sess.run(x)
    return lines


def final_ops(tf):
    x = tf.constant(2)
    hook = tf.train.FinalOpsHook({"x": x, "y": [x + 1]})
    before = hook.final_ops_values
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(x)
    return before, hook.final_ops_values


def timers(tf):
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    log = [timer.should_trigger_for_step(0), timer.last_triggered_step(), timer.update_last_triggered_step(0)]
    log += [timer.should_trigger_for_step(s) for s in (0, 1, 2, 3, 4)]
    elapsed = timer.update_last_triggered_step(4)
    return log, elapsed[1], timer.last_triggered_step(), caught(lambda: tf.train.SecondOrStepTimer()), caught(lambda: tf.train.SecondOrStepTimer(1, 2))


def session_run_args(tf):
    args = tf.train.SessionRunArgs(1)
    return args, args._fields, tf.train.SessionRunArgs(1, {2: 3})


def run_options_are_merged(tf):
    x = tf.constant(1)
    seen = []

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.train.SessionRunArgs(None, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=5000))

        def after_run(self, run_context, run_values):
            seen.append((run_values.options.trace_level, run_values.options.timeout_in_ms, len(run_values.run_metadata.step_stats.dev_stats) > 0))

    with tf.train.MonitoredSession(hooks=[Hook()]) as sess:
        sess.run(x)
    return seen


def summaries_are_written(tf):
    folder = tempfile.mkdtemp()
    step, up = _model(tf)
    tf.summary.scalar("twice", up * 2)
    hooks = [tf.train.StopAtStepHook(last_step=4)]
    with tf.train.MonitoredTrainingSession(summary_dir=folder, hooks=hooks, save_summaries_steps=2, log_step_count_steps=2) as sess:
        while not sess.should_stop():
            sess.run(up)
    tf.summary.FileWriterCache.clear()
    (name,) = [n for n in os.listdir(folder) if "events" in n]
    values = []
    for event in tf.train.summary_iterator(os.path.join(folder, name)):
        for value in event.summary.value:
            if value.tag == "twice":
                values.append([event.step, value.simple_value])
    return values


def start_queue_runners_does_nothing(tf):
    with tf.train.MonitoredSession() as sess:
        return tf.train.start_queue_runners(sess)


def session_manager(tf):
    v = tf.Variable(1.0, name="v")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    good = manager.prepare_session("", init_op=tf.global_variables_initializer())
    value = good.run(v)
    return (
        value,
        caught(lambda: manager.prepare_session(""), "Model is not initialized and no init_op or init_fn or local_init_op was given"),
        caught(lambda: manager.prepare_session("", init_op=tf.no_op()), "Init operations did not make model ready.", "Variables not initialized: v"),
        manager.recover_session("")[1],
        caught(lambda: tf.train.SessionManager(ready_for_local_init_op=tf.no_op()), "If you pass a ready_for_local_init_op you must also pass a local_init_op"),
    )
