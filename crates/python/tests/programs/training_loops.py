"""`tf.contrib.training`: train operations, training loops and evaluation."""

import os
import tempfile

from programs.tools import caught, run


def _line(tf):
    """Returns the loss of a line fitted to points, and its slope."""
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([2.0, 4.0, 6.0])
    w = tf.get_variable("w", initializer=0.5)
    return tf.reduce_mean(tf.square(x * w - y)), w


def steps(tf):
    loss, w = _line(tf)
    op = tf.contrib.training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run(op) for _ in range(3)]
        return losses, sess.run([w, tf.train.get_global_step()]), op.op.name, [t.name for t in tf.get_collection(tf.GraphKeys.TRAIN_OP)]


def steps_with_all_of_it(tf):
    loss, w = _line(tf)
    unused = tf.get_variable("unused", initializer=1.0)
    moved = tf.get_variable("moved", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(moved, 1.0))
    step = tf.get_variable("mine", initializer=7, trainable=False)
    op = tf.contrib.training.create_train_op(
        loss + moved * 0.0,
        tf.train.MomentumOptimizer(0.1, 0.9),
        global_step=step,
        variables_to_train=[w],
        transform_grads_fn=tf.contrib.training.clip_gradient_norms_fn(0.5),
        summarize_gradients=True,
        check_numerics=False,
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run(op) for _ in range(2)]
        return losses, sess.run([w, unused, moved, step]), [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def steps_that_fail(tf):
    w = tf.get_variable("w", initializer=-1.0)
    op = tf.contrib.training.create_train_op(tf.log(w), tf.train.GradientDescentOptimizer(0.1), global_step=None)
    return caught(lambda: run(tf, op), "LossTensor is inf or nan"), tf.train.get_global_step() is None


def no_variables(tf):
    return caught(lambda: tf.contrib.training.create_train_op(tf.constant(1.0), tf.train.GradientDescentOptimizer(0.1), variables_to_train=[]))


def factors(tf):
    w, e = tf.get_variable("w", initializer=2.0), tf.get_variable("e", initializer=[[1.0], [2.0]])
    loss = w * 3.0 + tf.reduce_sum(tf.gather(e, [1]))
    pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss)
    (a, _), (b, _) = tf.contrib.training.multiply_gradients(pairs, {w: 2.0, "e": 10.0})
    none = [(None, w)]
    return (
        run(tf, [a, b.values, b.indices]),
        caught(lambda: tf.contrib.training.multiply_gradients(none, {w: 2.0}), "Requested multiple of `None` gradient."),
        caught(lambda: tf.contrib.training.multiply_gradients(tuple(none), {w: 2.0}), "`grads_and_vars` must be a list."),
        caught(lambda: tf.contrib.training.multiply_gradients(none, {}), "`gradient_multipliers` is empty."),
        caught(lambda: tf.contrib.training.multiply_gradients(none, [w]), "`gradient_multipliers` must be a dict."),
    )


def summaries_of_gradients(tf):
    w, e = tf.get_variable("w", initializer=2.0), tf.get_variable("e", initializer=[[1.0], [2.0]])
    pairs = tf.gradients(w * 3.0 + tf.reduce_sum(tf.gather(e, [1])), [w, e])
    made = tf.contrib.training.add_gradients_summaries([(pairs[0], w), (pairs[1], e), (None, w)])
    texts = [tf.Summary.FromString(s) for s in run(tf, made)]
    return [s.op.name for s in made], [(t.value[0].tag, t.value[0].simple_value, t.value[0].histo.num, t.value[0].histo.sum) for t in texts]


def trained_and_evaluated(tf):
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default():
            loss, _ = _line(tf)
            op = tf.contrib.training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
            last = tf.contrib.training.train(op, folder, hooks=[tf.train.StopAtStepHook(num_steps=5)], save_summaries_steps=None)
        found = tf.contrib.training.wait_for_new_checkpoint(folder, seconds_to_sleep=0.01, timeout=5)
        late = tf.contrib.training.wait_for_new_checkpoint(folder, found, seconds_to_sleep=0.01, timeout=0.05)
        with tf.Graph().as_default():
            loss, w = _line(tf)
            tf.train.get_or_create_global_step()
            value, update = tf.metrics.mean(loss)
            once = tf.contrib.training.evaluate_once(
                found, eval_ops=update, final_ops={"loss": value, "w": w}, hooks=[tf.contrib.training.StopAfterNEvalsHook(3)]
            )
            steps_made = [v.op.name for v in tf.get_collection(tf.GraphKeys.EVAL_STEP)]
        with tf.Graph().as_default():
            _, w = _line(tf)
            again = tf.contrib.training.evaluate_repeatedly(folder, final_ops=w, eval_interval_secs=0, max_number_of_evaluations=1)
        paths = [os.path.basename(p) for p in tf.contrib.training.checkpoints_iterator(folder, timeout=0.1)]
        return last, os.path.basename(found), late, once, steps_made, again, paths


def trained_without_a_folder(tf):
    loss, w = _line(tf)
    op = tf.contrib.training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    train = tf.contrib.training.train
    return (
        caught(lambda: train(op, None), "logdir cannot be None"),
        train(op, None, hooks=[tf.train.StopAtStepHook(num_steps=2)], save_checkpoint_secs=None, save_summaries_steps=None),
    )


def evaluated_with_summaries(tf):
    with tempfile.TemporaryDirectory() as folder:
        tf.summary.scalar("s", tf.get_variable("w", initializer=2.5))
        hook = tf.contrib.training.SummaryAtEndHook(folder)
        value = tf.contrib.training.evaluate_once(None, final_ops=tf.constant(3), hooks=[hook])
        tf.summary.FileWriterCache.clear()
        (name,) = os.listdir(folder)
        events = [e for e in tf.train.summary_iterator(os.path.join(folder, name)) if e.HasField("summary")]
        return value, [(e.step, [(v.tag, v.simple_value) for v in e.summary.value]) for e in events]


def evaluations_of_many(tf):
    counts = []
    n = tf.get_variable("n", initializer=0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    update = tf.assign_add(n, 1)
    for ops in (update, [update], {"a": update}):
        hook = tf.contrib.training.StopAfterNEvalsHook(4, log_progress=False)
        counts.append(tf.contrib.training.evaluate_once(None, eval_ops=ops, final_ops=n, hooks=[hook]))
    return counts, tf.contrib.training.get_or_create_eval_step().name
