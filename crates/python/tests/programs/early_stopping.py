"""`tf.estimator.experimental`: hooks that end an estimator's training by the evaluations before it."""

import tempfile

from programs.tools import mistakes


def _written(tf, values):
    """A folder with event files of evaluations: for each global step, the value of `score`."""
    folder = tempfile.mkdtemp()
    for name in ("first", "second"):
        writer = tf.summary.FileWriter(folder, filename_suffix="." + name)
        for step, value in values[:2] if name == "first" else values[2:]:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="score", simple_value=value)]), step)
        writer.close()
    return folder


def _model(tf):
    return tf.estimator.Estimator(lambda features: None, tempfile.mkdtemp())


def _stops_at(tf, hook_of, most=6):
    """The step at which a session with a hook ends, and the names of the variables."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        more = step.assign_add(1)
        at = 0
        with tf.train.MonitoredSession(hooks=[hook_of(_model(tf))]) as sess:
            while not sess.should_stop() and at < most:
                at = sess.run(more)
        return int(at), [v.name for v in tf.global_variables()]


def stops_when_a_function_says_so(tf):
    calls = []

    def third():
        calls.append(1)
        return len(calls) == 3

    make = tf.estimator.experimental.make_early_stopping_hook
    every = [_stops_at(tf, lambda model: make(model, third, run_every_secs=None, run_every_steps=n), 9) for n in (1, 2)]
    stop = _stops_at(tf, lambda model: make(model, lambda: True))
    return every, len(calls), stop


def _stops_by(tf, values, kinds):
    """The steps at which training ends with hooks that read evaluations of these values."""
    folder, found = _written(tf, values), []
    for name, argument, least in kinds:
        make = getattr(tf.estimator.experimental, name)
        found.append(_stops_at(tf, lambda model: make(
            model, "score", argument, eval_dir=folder, min_steps=least, run_every_secs=None, run_every_steps=1), 2)[0])
    return found


def stops_at_a_threshold(tf):
    return _stops_by(tf, [(10, 0.25), (20, 0.5), (30, 0.75), (40, 1.0)], [
        ("stop_if_higher_hook", 0.75, 0), ("stop_if_higher_hook", 1.0, 0), ("stop_if_lower_hook", 0.5, 0),
        ("stop_if_lower_hook", 0.5, 20), ("stop_if_lower_hook", 0.25, 0)])


def stops_without_progress(tf):
    return _stops_by(tf, [(10, 0.25), (20, 0.75), (30, 0.5), (40, 0.75)], [
        ("stop_if_no_increase_hook", 20, 0), ("stop_if_no_increase_hook", 21, 0), ("stop_if_no_increase_hook", 20, 30),
        ("stop_if_no_decrease_hook", 30, 0), ("stop_if_no_decrease_hook", 31, 0), ("stop_if_no_decrease_hook", 10, 20)])


def without_evaluations(tf):
    make = tf.estimator.experimental.stop_if_no_increase_hook
    return _stops_at(tf, lambda model: make(model, "score", 1, run_every_secs=None, run_every_steps=1), 2)


def arguments_of_early_stopping(tf):
    experimental, model = tf.estimator.experimental, _model(tf)
    return mistakes(
        tf,
        no_estimator=lambda: experimental.make_early_stopping_hook("model", lambda: True),
        two_times=lambda: experimental.make_early_stopping_hook(model, lambda: True, run_every_secs=5, run_every_steps=5),
        no_function=lambda: experimental.make_early_stopping_hook(model, "stop"),
        two_times_of_metrics=lambda: experimental.stop_if_no_decrease_hook(model, "loss", 5, run_every_steps=5),
        no_step=lambda: experimental.make_early_stopping_hook(model, lambda: True).begin(),
    )
