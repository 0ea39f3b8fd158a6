"""`contrib.training.batch_sequences_with_states` and the barrier beneath it: sequences cut into segments."""

import numpy as np

from programs.internal_modules import _inner
from programs.raised import WHOLE, caught
from programs.tools import static


def _barrier(tf, *args, **kwargs):
    return _inner(tf, "python.ops.data_flow_ops", "Barrier")(*args, **kwargs)


def _told(function):
    """Returns class and code of the exception of `function()`; "fine" if nothing is raised."""
    answer = caught(function)
    return "fine" if answer[0] == "nothing was raised" else answer


def _indices(values):
    """Counts indices from 0."""
    return [int(v) + 2**63 for v in values.tolist()]


def elements_of_a_barrier(tf):
    b = _barrier(tf, [tf.float32, tf.int32], shapes=[[], [2]], name="b")
    inserts = [
        b.insert_many(0, ["z"], [9.0]),
        b.insert_many(0, ["a", "b"], [1.0, 2.0]),
        b.insert_many(1, ["b"], [[1, 2]]),
        b.insert_many(1, ["z", "a"], [[5, 6], [7, 8]]),
    ]
    indices, keys, values = b.take_many(3)
    sizes, seen = [b.ready_size(), b.incomplete_size()], []
    with tf.Session() as sess:
        for insert in inserts:
            sess.run(insert)
            seen.append(sess.run(sizes))
        got = sess.run([indices, keys, values])
    names = [node.name for node in inserts + [indices.op, sizes[0].op, sizes[1].op, b.close()]]
    return seen, _indices(got[0]), got[1], got[2], static(indices, keys, *values), names, b.name


def a_closed_barrier(tf):
    b = _barrier(tf, [tf.int32, tf.int32], shapes=[[], []])
    one, two = b.insert_many(0, ["a", "b", "c"], [1, 2, 3]), b.insert_many(1, ["a"], [4])
    others, new, rest = b.insert_many(1, ["b"], [5]), b.insert_many(0, ["n"], [6]), b.insert_many(1, ["c"], [6])
    small, three = b.take_many(5, allow_small_batch=True), b.take_many(3)
    close, cancel = b.close(), b.close(cancel_pending_enqueues=True)
    told = []
    with tf.Session() as sess:
        for step in [one, two, close, new, close, others, three, rest, new, cancel, cancel, one]:
            told.append(_told(lambda: sess.run(step)))
            if step is others:
                told.append(sess.run(small)[1])
    return told, static(*small[2])


def what_a_barrier_refuses(tf):
    b = _barrier(tf, [tf.float32, tf.int32], shapes=[[], []])
    x, sess = tf.placeholder(tf.float32), tf.Session()
    return [
        _told(lambda: _barrier(tf, [])),
        caught(lambda: _barrier(tf, [tf.float32], shapes=[[0]]), WHOLE),
        _told(lambda: _barrier(tf, [tf.float32], shapes=[[None]])),
        _told(lambda: b.take_many(-1)),
        _told(lambda: b.insert_many(0, ["a", "b"], [1.0])),
        _told(lambda: b.insert_many(0, "a", [1.0])),
        _told(lambda: b.insert_many(0, ["a"], 1.0)),
        _told(lambda: sess.run(b.insert_many(2, ["a"], [1.0]))),
        _told(lambda: sess.run(b.insert_many(0, ["a"], [1]))),
        _told(lambda: sess.run(b.insert_many(0, ["a", "a"], [1.0, 2.0]))),
        _told(lambda: sess.run(b.insert_many(0, ["e"], x), {x: np.zeros([1, 0], np.float32)})),
        sess.run([b.ready_size(), b.incomplete_size()]),
    ]


def _saver(tf, n_examples=3, capacity=4, **kwargs):
    """Returns the operations of a saver for examples that are fed, and their feeds."""
    x, key = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.string, [], "key")
    arguments = dict(
        batch_size=2,
        num_unroll=3,
        input_length=tf.shape(x)[0],
        input_key=key,
        input_sequences={"x": x},
        input_context={"first": tf.reshape(x[0], [2])},
        initial_states={"sum": tf.zeros([2]), "n": tf.constant(0)},
        capacity=capacity,
        allow_small_batch=True,
    )
    arguments.update(kwargs)
    saver = tf.contrib.training.SequenceQueueingStateSaver(**arguments)
    return saver, x, key


def _rows(n, begin):
    rows = begin + np.arange(n, dtype=np.float32)
    return np.stack([rows, -rows], 1)


def states_go_on(tf):
    saver, x, key = _saver(tf)
    put, batch, close = saver.prefetch_op, saver.next_batch, saver.close()
    total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
    saves = [batch.save_state("sum", total), batch.save_state("n", batch.state("n") + 1)]
    fetches = [
        batch.insertion_index, batch.key, batch.next_key, batch.sequence, batch.sequence_count, batch.length,
        batch.total_length, batch.batch_size, batch.context["first"], batch.state("n"), total,
    ]  # fmt: skip
    seen = []
    with tf.Session() as sess:
        for i, n in enumerate([9, 3, 6]):
            sess.run(put, {x: _rows(n, 10 * i), key: "k%d" % i})
        sess.run(close)
        for _ in range(4):
            try:
                got = sess.run([fetches, saves])[0]
            except tf.errors.OutOfRangeError:
                seen.append("the end")
                break
            seen.append([_indices(got[0])] + got[1:])
    return seen, static(*fetches), sorted(batch.sequences), sorted(batch.context), saver.batch_size, saver.num_unroll


def _runner(tf):
    """Returns the operation by which the queue runner reads an example, and the one that closes the queue."""
    runner = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[-1]
    return runner.enqueue_ops[0], runner.close_op, len(runner.enqueue_ops)


def padded_and_sparse(tf):
    n = tf.placeholder(tf.int32, [])
    steps = tf.range(n)
    parts = tf.SparseTensor(tf.cast(tf.stack([steps, steps % 2], 1), tf.int64), 10 * steps, tf.cast(tf.stack([n, 2]), tf.int64))
    whole = tf.SparseTensor(tf.constant([[0, 1]], tf.int64), tf.reshape(n, [1]), tf.constant([2, 3], tf.int64))
    batch = tf.contrib.training.batch_sequences_with_states(
        input_key=tf.as_string(n),
        input_sequences={"x": tf.reshape(tf.cast(steps, tf.float32), [-1]), "w": tf.reshape(tf.as_string(steps), [-1]), "s": parts},
        input_context={"whole": whole, "n": n},
        input_length=None,
        initial_states={"h": tf.zeros([1])},
        num_unroll=3,
        batch_size=2,
        num_threads=2,
        capacity=5,
    )
    put, close, n_threads = _runner(tf)
    save = batch.save_state("h", batch.state("h") + 1.0)
    fetches = [batch.sequences["x"], batch.sequences["w"], batch.length, batch.total_length, batch.state("h")]
    sparse = [batch.sequences["s"], batch.context["whole"]]
    seen = []
    with tf.Session() as sess:
        for count in (4, 2, 5):
            sess.run(put, {n: count})
        sess.run(close)
        for _ in range(3):
            got, thin, _ = sess.run([fetches, sparse, save])
            seen.append([got, [[part.indices, part.values, part.dense_shape[1:]] for part in thin]])
    return seen, static(*fetches), n_threads, sorted(batch.sequences), sorted(batch.context)


def keys_are_made_unique(tf):
    batch = tf.contrib.training.batch_sequences_with_states(
        "k", {"x": tf.ones([2])}, {}, None, {"h": tf.zeros([1])}, 2, 2, make_keys_unique=True, make_keys_unique_seed=7
    )
    put = _runner(tf)[0]
    with tf.Session() as sess:
        sess.run(put)
        sess.run(put)
        return sorted(sess.run(batch.key).tolist()), static(batch.key)


def what_a_saver_refuses(tf):
    batches = tf.contrib.training.batch_sequences_with_states
    x, h = tf.ones([4, 2]), tf.zeros([1])

    def made(key="k", sequences={"x": x}, context={}, length=4, states={"h": h}, unroll=2, batch=1, **kwargs):  # noqa: B006
        return _told(lambda: batches(key, sequences, context, length, states, unroll, batch, **kwargs).batch_size)

    return [
        made(sequences={}, pad=False),
        made(sequences={"a:b": x}),
        made(context={"a:b": x}),
        made(states={}),
        made(states={"a:b": x}),
        made(states={"h": tf.placeholder(tf.float32, [None])}),
        made(context={"c": tf.placeholder(tf.float32, [None])}),
        made(sequences={"x": tf.placeholder(tf.float32, [None, None])}, length=tf.constant(4), pad=False),
        made(length=4.0),
        made(key=7),
        made(unroll="2"),
        made(unroll=tf.constant(2)),
        made(batch=3, capacity=2),
    ]


def what_the_runs_refuse(tf):
    saver, x, key = _saver(tf)
    put, batch = saver.prefetch_op, saver.next_batch
    length, told = batch.state("n"), []
    told.append(_told(lambda: batch.state("other")))
    told.append(_told(lambda: batch.save_state("other", length)))
    with tf.Session() as sess:
        sess.run(put, {x: _rows(3, 0), key: "a"})
        told.append(_told(lambda: sess.run(put, {x: _rows(3, 0), key: "a"})))
        told.append(_told(lambda: sess.run(put, {x: _rows(4, 0), key: "b"})))
    return told


def truncated_backpropagation(tf):
    """Trains an LSTM on segments of three steps, with the state carried from segment to segment."""

    def sines(shape, dtype=None, partition_info=None):
        return tf.reshape(tf.cast(0.3 * tf.sin(1.0 + tf.range(float(np.prod(shape)))), dtype), shape)

    x, key = tf.placeholder(tf.float32, [None, 1], "x"), tf.placeholder(tf.string, [], "key")
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    batch = tf.contrib.training.batch_sequences_with_states(
        input_key=key,
        input_sequences={"now": x[:-1], "next": x[1:]},
        input_context={},
        input_length=tf.shape(x)[0] - 1,
        initial_states={"c": tf.zeros([4]), "h": tf.zeros([4])},
        num_unroll=3,
        batch_size=2,
        capacity=20,
    )
    with tf.variable_scope("net", initializer=sines):
        steps = tf.unstack(batch.sequences["now"], axis=1)
        outputs, _ = tf.nn.static_state_saving_rnn(cell, steps, batch, ("c", "h"), sequence_length=batch.length)
        guesses = tf.stack([tf.layers.dense(h, 1, name="guess", reuse=tf.AUTO_REUSE) for h in outputs], 1)
    mask = tf.expand_dims(tf.sequence_mask(batch.length, 3, tf.float32), 2)
    loss = tf.reduce_sum(mask * tf.square(guesses - batch.sequences["next"])) / tf.reduce_sum(mask)
    train = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    put, close, _ = _runner(tf)
    losses, keys = [], []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i, n in enumerate([9, 5, 11, 7] * 3):
            wave = np.sin(0.7 * np.arange(n, dtype=np.float32) + i).reshape([n, 1])
            sess.run(put, {x: wave, key: "wave%d" % i})
        sess.run(close)
        for _ in range(14):
            value, names, _ = sess.run([loss, batch.key, train])
            losses.append(value)
            keys.append(names)
        variables = sess.run(tf.trainable_variables())
    return losses, keys, variables
