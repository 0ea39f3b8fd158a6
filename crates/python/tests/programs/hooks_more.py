"""Hooks with all arguments: when they fire, and their errors."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, initialize, nodes, run


def _steps(tf, n, hooks, fetch=None):
    """Runs a counter `n` times with hooks; returns the fetched values."""
    step = tf.train.get_or_create_global_step()
    up = tf.assign_add(step, 1)
    out = []
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        for _ in range(n):
            if sess.should_stop():
                break
            out.append(sess.run(up if fetch is None else [up, fetch]))
    return out


def _counting(tf, log):
    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            log.append("before")

        def after_run(self, run_context, run_values):
            log.append("after")

    return Hook()


def stop_at_a_step(tf):
    return _steps(tf, 9, [tf.train.StopAtStepHook(last_step=3)])


def stop_after_steps(tf):
    return _steps(tf, 9, [tf.train.StopAtStepHook(num_steps=2)])


def stop_refusals(tf):
    return (
        caught(lambda: tf.train.StopAtStepHook(), WHOLE),
        caught(lambda: tf.train.StopAtStepHook(num_steps=1, last_step=2), WHOLE),
        caught(lambda: tf.train.StopAtStepHook(last_step=3).begin(), WHOLE),
    )


def timer_by_steps(tf):
    t = tf.train.SecondOrStepTimer(every_steps=3)
    out = []
    for step in range(8):
        fires = t.should_trigger_for_step(step)
        out.append(fires)
        if fires:
            t.update_last_triggered_step(step)
    return out, t.last_triggered_step()


def timer_by_seconds(tf):
    t = tf.train.SecondOrStepTimer(every_secs=1000.0)
    first = t.should_trigger_for_step(1)
    passed = t.update_last_triggered_step(1)
    return first, passed, t.should_trigger_for_step(1), t.should_trigger_for_step(2)


def timer_refusals(tf):
    return caught(lambda: tf.train.SecondOrStepTimer(), WHOLE), caught(lambda: tf.train.SecondOrStepTimer(every_secs=1, every_steps=2), WHOLE)


def timer_reset(tf):
    t = tf.train.SecondOrStepTimer(every_steps=5)
    t.update_last_triggered_step(3)
    before = t.should_trigger_for_step(4)
    t.reset()
    return before, t.should_trigger_for_step(4), t.last_triggered_step()


def timer_tells_what_passed(tf):
    t = tf.train.SecondOrStepTimer(every_steps=2)
    first = t.update_last_triggered_step(1)
    secs, steps = t.update_last_triggered_step(4)
    return first, secs >= 0, steps


def feed_fn(tf):
    p = tf.placeholder_with_default(1.0, [])
    values = iter(range(10))
    hook = tf.train.FeedFnHook(lambda: {p: next(values) * 2.0})
    return [r[1] for r in _steps(tf, 3, [hook], p * 1.0)]


def final_ops(tf):
    v = tf.Variable(3.0, name="v")
    hook = tf.train.FinalOpsHook([v, v * 2.0])
    nothing = hook.final_ops_values
    _steps(tf, 1, [hook])
    return nothing, hook.final_ops_values


def final_ops_with_feeds(tf):
    p = tf.placeholder(tf.float32, [])
    hook = tf.train.FinalOpsHook({"a": p + 1.0}, {p: 4.0})
    _steps(tf, 1, [hook])
    return hook.final_ops_values


def nan_stops(tf):
    x = tf.placeholder_with_default(1.0, [])
    hook = tf.train.NanTensorHook(x, fail_on_nan_loss=False)
    out = []
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        for v in (1.0, float("nan"), 2.0):
            if sess.should_stop():
                break
            out.append(sess.run(x, {x: v}))
    return len(out)


def nan_fails(tf):
    x = tf.placeholder_with_default(1.0, [])

    def work():
        with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(x)]) as sess:
            sess.run(x, {x: float("nan")})

    return caught(work, WHOLE)


def logging_refusals(tf):
    t = tf.constant(1.0, name="t")
    make = tf.train.LoggingTensorHook
    return (
        caught(lambda: make([t], every_n_iter=None), WHOLE),
        caught(lambda: make([t], every_n_iter=0), WHOLE),
        caught(lambda: make([t], every_n_iter=2, every_n_secs=3), WHOLE),
        caught(lambda: make([t], every_n_iter=-1), WHOLE),
        caught(lambda: make({"a": t}, at_end=True), WHOLE),
        caught(lambda: make(["t"], every_n_iter=1), WHOLE),
    )


def logging_formats(tf):
    seen = []
    t = tf.constant(2.0, name="t")
    hook = tf.train.LoggingTensorHook({"x": "t:0", "y": t}, every_n_iter=2, formatter=lambda values: seen.append(sorted(values.items())) or "")
    _steps(tf, 5, [hook])
    return seen


def logging_at_the_end(tf):
    seen = []
    t = tf.constant(2.0, name="t")
    hook = tf.train.LoggingTensorHook([t], at_end=True, formatter=lambda values: seen.append(sorted(map(str, values.values()))) or "")
    _steps(tf, 3, [hook])
    return seen


def step_counter_writes(tf):
    folder = tempfile.mkdtemp()
    _steps(tf, 5, [tf.train.StepCounterHook(every_n_steps=2, output_dir=folder)])
    (name,) = os.listdir(folder)
    events = list(tf.train.summary_iterator(os.path.join(folder, name)))
    return [(e.step, v.tag) for e in events for v in e.summary.value]


def step_counter_refusals(tf):
    return caught(lambda: tf.train.StepCounterHook(every_n_steps=None, every_n_secs=None), WHOLE), caught(lambda: tf.train.StepCounterHook(every_n_steps=2, every_n_secs=3), WHOLE)


def checkpoint_by_steps(tf):
    folder = tempfile.mkdtemp()
    saver = None
    hook = tf.train.CheckpointSaverHook(folder, save_steps=2)
    _steps(tf, 5, [hook])
    return sorted(f for f in os.listdir(folder) if f.endswith(".index")), "graph.pbtxt" in os.listdir(folder), saver


def checkpoint_refusals(tf):
    folder = tempfile.mkdtemp()
    return (
        caught(lambda: tf.train.CheckpointSaverHook(folder), WHOLE),
        caught(lambda: tf.train.CheckpointSaverHook(folder, save_secs=1, save_steps=2), WHOLE),
        caught(lambda: tf.train.CheckpointSaverHook(folder, save_steps=2, saver=1, scaffold=2), WHOLE),
    )


def checkpoint_listeners(tf):
    folder, log = tempfile.mkdtemp(), []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            log.append("begin")

        def before_save(self, session, global_step):
            log.append(("before", int(global_step)))

        def after_save(self, session, global_step):
            log.append(("after", int(global_step)))

        def end(self, session, global_step):
            log.append(("end", int(global_step)))

    _steps(tf, 3, [tf.train.CheckpointSaverHook(folder, save_steps=2, listeners=[Listener()])])
    return log


def checkpoint_listener_stops(tf):
    folder = tempfile.mkdtemp()

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step):
            return True

    return len(_steps(tf, 9, [tf.train.CheckpointSaverHook(folder, save_steps=3, listeners=[Listener()])]))


def summaries_by_steps(tf):
    folder = tempfile.mkdtemp()
    s = tf.summary.scalar("s", tf.cast(tf.train.get_or_create_global_step(), tf.float32))
    _steps(tf, 5, [tf.train.SummarySaverHook(save_steps=2, output_dir=folder, summary_op=s)])
    (name,) = os.listdir(folder)
    return [(e.step, v.tag) for e in tf.train.summary_iterator(os.path.join(folder, name)) for v in e.summary.value]


def summaries_refusals(tf):
    s = tf.summary.scalar("s", tf.constant(1.0))
    return (
        caught(lambda: tf.train.SummarySaverHook(save_steps=2, output_dir="x"), WHOLE),
        caught(lambda: tf.train.SummarySaverHook(save_steps=2, save_secs=3, output_dir="x", summary_op=s), WHOLE),
        caught(lambda: tf.train.SummarySaverHook(save_steps=2, output_dir="x", summary_op=s, scaffold=tf.train.Scaffold()), WHOLE),
    )


def waits_for_a_step(tf):
    step = tf.train.get_or_create_global_step()
    up = tf.assign_add(step, 5)
    n = 0
    with tf.train.MonitoredSession(hooks=[tf.train.GlobalStepWaiterHook(0)]) as sess:
        for _ in range(3):
            sess.run(up)
            n += 1
    return n


def order_of_hooks(tf):
    log = []

    def hook(name):
        class Hook(tf.train.SessionRunHook):
            def begin(self):
                log.append(name + " begin")

            def before_run(self, run_context):
                log.append(name + " before")

            def after_run(self, run_context, run_values):
                log.append(name + " after")

            def end(self, session):
                log.append(name + " end")

        return Hook()

    _steps(tf, 1, [hook("a"), hook("b")])
    return log


def context_of_a_run(tf):
    seen = []
    x = tf.constant(3.0, name="x")

    class Hook(tf.train.SessionRunHook):
        def before_run(self, run_context):
            seen.append((run_context.original_args.fetches.name, run_context.original_args.feed_dict, run_context.stop_requested, type(run_context.session).__name__))
            return tf.train.SessionRunArgs({"y": x * 1.0 if False else x}, None)

        def after_run(self, run_context, run_values):
            seen.append((run_values.results, run_values.options is None, run_context.stop_requested))
            run_context.request_stop()
            seen.append(run_context.stop_requested)

    with tf.train.MonitoredSession(hooks=[Hook()]) as sess:
        sess.run(x)
        return seen, sess.should_stop()


def hooks_on_errors(tf):
    log = []
    bad = tf.Assert(tf.less(tf.placeholder_with_default(1, []), 0), ["no"])
    hook = _counting(tf, log)

    def work():
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            sess.run(bad)

    return caught(work, "assertion failed: [no]"), log


def closed_by_the_end_of_input(tf):
    q = tf.FIFOQueue(3, [tf.int32])
    close, get = q.close(), q.dequeue()
    with tf.train.MonitoredSession() as sess:
        sess.run(close)
        sess.run(get)
        raise AssertionError("not here")
    return "left"


def run_after_it_is_closed(tf):
    x = tf.constant(1)
    with tf.train.MonitoredSession() as sess:
        sess.run(x)
    return caught(lambda: sess.run(x), WHOLE), sess.should_stop() if False else None


def raw_session(tf):
    x = tf.constant(4)
    with tf.train.SingularMonitoredSession() as sess:
        raw = sess.raw_session()
        return type(raw).__name__, raw.run(x), sess.graph is x.graph
