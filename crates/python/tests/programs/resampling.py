"""`contrib.training`: examples rejected or repeated to give classes other shares, and `RandomStrategy`."""

import numpy as np

from programs.batching import _numbers, _pump
from programs.tools import WHOLE, caught, mistakes, names, nodes, run, static


def _counted(tf, n):
    """Returns a tensor that is 0, 1, .. in `n` runs, and then out of range."""
    return _numbers(tf, n)


def rejected_for_sure(tf):
    n = _counted(tf, 12)
    odd = tf.contrib.training.rejection_sample([n, -n], lambda row: tf.cast(row[0] % 2, tf.float32), 2)
    return static(*odd), type(odd).__name__, [t.name for t in odd], _pump(tf, odd)


def rejected_by_chance(tf):
    tf.set_random_seed(3)
    n = _counted(tf, 40)
    batch = tf.contrib.training.rejection_sample([n], lambda row: 0.5, 2)
    return type(batch).__name__, _pump(tf, batch)


def rejected_rows(tf):
    rows = tf.reshape(_counted(tf, 8), [1, 1]) * [[1, 10], [100, 1000]]
    batch = tf.contrib.training.rejection_sample([rows, tf.cast(rows, tf.float32)], lambda row: tf.cast(row[0][0] % 2, tf.float32), 2, enqueue_many=True)
    return static(*batch), _pump(tf, batch)


def rejected_with_checks(tf):
    n = _counted(tf, 12)
    batch = tf.contrib.training.rejection_sample([n], lambda row: tf.cast(row[0] % 2, tf.float32), 3, runtime_checks=True, name="mine")
    return [t.name for t in batch], _pump(tf, batch), [n for n in nodes(tf) if "prob_with_checks" in n]


def rejected_with_variables(tf):
    batch = tf.contrib.training.rejection_sample([tf.constant(2.0)], lambda row: row[0] * tf.get_variable("w", [], initializer=tf.ones_initializer()), 2)
    return static(*batch), [v.name for v in tf.global_variables()]


def rejection_positions(tf):
    n = _counted(tf, 6)
    batch = tf.contrib.training.rejection_sample([n], lambda row: 1.0, 2, 1, False, 7, 1, True, "place")
    return [t.name for t in batch], _pump(tf, batch)


def queues_of_rejections(tf):
    rows = tf.constant([1, 2])
    tf.contrib.training.rejection_sample([rows, rows], lambda row: 0.5, 2, queue_threads=2, enqueue_many=True, prebatch_capacity=9, prebatch_threads=3)
    found = [op for op in tf.get_default_graph().get_operations() if op.type.endswith("QueueV2")]
    return [(op.name, op.get_attr("capacity")) for op in found], [len(r.enqueue_ops) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)]


def rejection_refusals(tf):
    sample = tf.contrib.training.rejection_sample
    x = tf.constant([1, 2])
    return (
        caught(lambda: sample([x, tf.constant([1, 2, 3])], lambda row: 0.5, 2, enqueue_many=True), WHOLE),
        caught(lambda: sample([tf.constant(1)], lambda row: 0.5, 2, enqueue_many=True), WHOLE),
        caught(lambda: sample([x], lambda row: [0.5, 0.5], 2), WHOLE),
        caught(lambda: sample([x], lambda row: 1.5, 2, runtime_checks=True)),
        caught(lambda: sample([x], lambda row: -0.5, 2, runtime_checks=True)),
        caught(lambda: sample([x], lambda row: 1, 2), WHOLE),
        caught(lambda: sample([], lambda row: 0.5, 2), WHOLE),
    )


def rejection_late_refusals(tf):
    late = tf.placeholder_with_default(tf.constant(1.5), [])
    sure = tf.contrib.training.rejection_sample([tf.constant(1)], lambda row: late, 2, runtime_checks=True)
    return caught(lambda: _pump(tf, sure), "Condition x <= y did not hold")


def stratified_for_sure(tf):
    n = _counted(tf, 24)
    label = tf.cast(n % 4 < 1, tf.int32)
    [batch, halves], labels = tf.contrib.training.stratified_sample([n, n / 2], label, [0.0, 1.0], 2, init_probs=[0.75, 0.25])
    return static(batch, halves, labels), batch.name, labels.name, _pump(tf, [batch, halves, labels])


def stratified_by_chance(tf):
    tf.set_random_seed(5)
    n = _counted(tf, 40)
    (batch,), labels = tf.contrib.training.stratified_sample([n], n % 3, [0.5, 0.25, 0.25], 3, init_probs=[0.25, 0.25, 0.5])
    return _pump(tf, [batch, labels])


def stratified_by_counts(tf):
    tf.set_random_seed(7)
    n = _counted(tf, 30)
    (batch,), labels = tf.contrib.training.stratified_sample([n], tf.cast(n % 3, tf.int64), [0.3, 0.3, 0.4], 2)
    # The threads of both queues update the counts, so that which examples are kept depends on time.
    return [v.name for v in tf.global_variables()], static(batch, labels), len(_pump(tf, [batch, labels])) > 1


def stratified_rows(tf):
    tf.set_random_seed(9)
    rows = tf.reshape(_counted(tf, 10), [1]) + [0, 100, 200]
    (batch,), labels = tf.contrib.training.stratified_sample([rows], tf.constant([0, 1, 2]), [0.5, 0.5, 0.0], 2, [1 / 3.0, 1 / 3.0, 1 / 3.0], True, 5, 1, "mine")
    return static(batch, labels), batch.name, labels.name, _pump(tf, [batch, labels])


def stratified_nodes(tf):
    tf.contrib.training.stratified_sample([tf.constant(1)], tf.constant(0), [0.5, 0.5], 2)
    return len(names(tf)), names(tf)


def stratified_mistakes(tf):
    def sample(labels, target, init=None, tensors=None, many=False):
        return lambda: tf.contrib.training.stratified_sample([tf.constant([1, 2])] if tensors is None else tensors, labels, target, 2, init, many)[1]

    late = tf.placeholder
    return mistakes(
        tf,
        one=sample(tf.constant(0), [0.5, 0.5], [1.0]),
        unknown=lambda: sample(tf.constant(0), late(tf.float32))(),
        unknown_there=lambda: sample(tf.constant(0), [0.5, 0.5], late(tf.float32, [None]))(),
        matrix=sample(0, [[0.5, 0.5]]),
        matrix_there=sample(0, [[0.5, 0.5]], [[0.5, 0.5]]),
        many_labels=sample([0, 0], [0.5, 0.5]),
        one_label=sample(0, [0.5, 0.5], many=True),
        rows=sample([0, 1, 0], [0.5, 0.5], many=True),
        scalars=sample([0, 1], [0.5, 0.5], tensors=[tf.constant(1)][:0] + [1], many=True),
        floats=sample(0.0, [0.5, 0.5]),
        floats_there=sample(0.0, [0.5, 0.5], [0.5, 0.5]),
    )


def stratified_shares(tf):
    def sample(target, init, label=0):
        late = tf.placeholder_with_default
        return lambda: _pump(tf, tf.contrib.training.stratified_sample([tf.constant(1)], late(tf.constant(label), []), target, 2, init)[1], 1)

    return (
        mistakes(tf, wanted=sample([1.5, -0.5], [0.5, 0.5]), present=sample([0.5, 0.5], [1.5, -0.5])),
        [
            caught(sample([0.5, 0.6], [0.5, 0.5]), "Condition x < y did not hold element-wise:"),
            caught(sample([0.5, 0.4], [0.5, 0.5]), "Condition x < y did not hold element-wise:"),
            caught(sample([0.5, 0.5], [0.5, 0.6]), "Condition x < y did not hold element-wise:"),
            caught(sample([0.5, 0.5], [0.0, 1.0], 1), "assertion failed:"),
            caught(sample([0.5, 0.5], [0.5, 0.5], 2), "Condition x < y did not hold element-wise:"),
            caught(sample([0.5, 0.5], [0.5, 0.5], -1), "assertion failed:"),
        ],
        caught(lambda: tf.contrib.training.stratified_sample(1, 0, [0.5, 0.5], 2)),
    )


def stratified_late_refusals(tf):
    late = tf.placeholder_with_default(tf.constant([0.0, 1.0]), [2])
    _, labels = tf.contrib.training.stratified_sample([tf.constant(1)], tf.constant(1), [0.5, 0.5], 2, late)
    return caught(lambda: _pump(tf, labels), "All classes with zero initial probability must also have zero target probability:")


def at_a_rate(tf):
    rows = tf.contrib.training.resample_at_rate([tf.range(4), tf.constant([[1.0, 2.0]] * 4)], [0.5, 1.0, 0.0, 3.0], seed=1)
    more = tf.contrib.training.resample_at_rate((tf.constant(["a", "b"]),), tf.constant([2.0, 2.0], tf.float64), "mine", 2, True)
    return static(*(rows + more)), [t.name for t in rows + more], run(tf, rows + more)


def at_a_rate_by_the_graph(tf):
    tf.set_random_seed(11)
    rows = tf.contrib.training.resample_at_rate([tf.range(6)], [2.0] * 6)
    later = tf.random_uniform([2])
    with tf.Session() as sess:
        return [sess.run([rows[0], later]) for _ in range(3)]


def at_no_rate(tf):
    rows = tf.contrib.training.resample_at_rate([tf.range(3), tf.zeros([3, 2])], [0.0] * 3)
    none = tf.contrib.training.resample_at_rate([tf.zeros([0, 2])], tf.zeros([0]))
    return run(tf, rows + none), tf.contrib.training.resample_at_rate([], [1.0])


def gradients_of_a_rate(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    found = []
    for back_prop in (False, True):
        (y,) = tf.contrib.training.resample_at_rate([x * x], [1.0, 2.0, 3.0], seed=4, back_prop=back_prop)
        found.extend(tf.gradients(y, x))
    return run(tf, found)


def nodes_of_a_rate(tf):
    tf.contrib.training.resample_at_rate([tf.range(3)], [1.0, 1.0, 1.0])
    return names(tf)


def by_weight(tf):
    tf.set_random_seed(13)
    weights = tf.placeholder_with_default(tf.constant([1.0, 2.0, 4.0]), [None])
    (rows,), rates = tf.contrib.training.weighted_resample([tf.range(3)], weights, 2.0)
    found = [(v.name, str(v.shape)) for v in tf.global_variables()], [v.name for v in tf.local_variables()]
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        drawn = [sess.run([rows, rates], {weights: [1.0, 2.0, w]}) for w in (1.0, 2.0, 8.0)]
        return found, static(rows, rates), [rows.name, rates.name], drawn, sess.run(tf.global_variables() + tf.local_variables())


def by_weight_named(tf):
    weights = tf.constant([1.0, 2.0], tf.float64)
    (a, b), rates = tf.contrib.training.weighted_resample([tf.range(2), tf.constant(["a", "b"])], weights, 3.0, "mine", 0.5, 6)
    return [t.name for t in (a, b, rates)], static(a, b, rates), run(tf, [a, b, rates]), [v.name for v in tf.local_variables() + tf.global_variables()]


def nodes_by_weight(tf):
    tf.contrib.training.weighted_resample([tf.range(2)], tf.constant([1.0, 2.0]), 3.0)
    return names(tf)


def rate_mistakes(tf):
    at, by = tf.contrib.training.resample_at_rate, tf.contrib.training.weighted_resample
    return mistakes(
        tf,
        ints=lambda: at([tf.range(2)], [1, 2]),
        scalar=lambda: at([tf.range(2)], 1.0),
        too_few=lambda: at([tf.range(2)], [0.0, 0.0, 300.0], seed=1),
        weights=lambda: by([tf.range(2)], [1.0, 2.0], 1.0),
        one_tensor=lambda: by(tf.range(2), tf.constant([1.0, 2.0]), 1.0),
    )


def random_strategy(tf):
    found = []
    for arguments in ((3,), (3, 1), (7,), (1,)):
        place = tf.contrib.training.RandomStrategy(*arguments)
        found.append([place(tf.no_op(name="at%d" % i)) for i in range(8)])
    return found, type(tf.contrib.training.RandomStrategy(num_ps_tasks=2, seed=3)(tf.no_op())).__name__


def random_strategy_places(tf):
    strategy = tf.contrib.training.RandomStrategy(3)
    with tf.device(tf.train.replica_device_setter(3, ps_strategy=strategy)):
        made = [tf.Variable(1.0, name=name) for name in ("w", "b", "scale", "offset")]
        other = tf.constant(1)
    return [v.device for v in made], other.device


def random_strategy_mistakes(tf):
    return mistakes(
        tf,
        what=lambda: tf.contrib.training.RandomStrategy(2)(1),
    )


def shares_of_many(tf):
    n = tf.train.range_input_producer(30, seed=2).dequeue()
    label = tf.cast(n % 3 < 1, tf.int32)
    (batch,), labels = tf.contrib.training.stratified_sample([n], label, [0.25, 0.75], 100, [2 / 3.0, 1 / 3.0])
    with tf.train.MonitoredSession() as sess:
        drawn, kinds = zip(*(sess.run([batch, labels]) for _ in range(10)))
    share = np.mean(kinds)
    return bool(0.65 < share < 0.85), bool(np.all((np.array(drawn) % 3 < 1) == np.array(kinds)))
