"""Barriers and `batch_sequences_with_states`: where they differ from TensorFlow, and their errors."""

import threading

import numpy as np
import pytest

import millstream as tf
from millstream.ops.barriers import Barrier

batches = tf.contrib.training.batch_sequences_with_states


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def sums(n_examples=3, **kwargs):
    """Returns a batch of segments of 0..n, and the operation that saves their running sum."""
    n = tf.train.range_input_producer(n_examples, num_epochs=1, shuffle=False).dequeue() + 3
    arguments = dict(num_unroll=2, batch_size=2, num_threads=1, capacity=4, input_length=None)
    arguments.update(kwargs)
    batch = batches(tf.as_string(n), {"x": tf.range(n)}, {}, initial_states={"sum": tf.constant(0)}, **arguments)
    total = batch.state("sum") + tf.reduce_sum(batch.sequences["x"], 1)
    return batch, total, batch.save_state("sum", total)


def test_all_segments_come_to_their_ends():
    batch, total, save = sums()
    ends = {}
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            keys, values, _ = sess.run([batch.next_key, total, save])
            ends.update((k.decode(), int(v)) for k, v in zip(keys, values) if k.startswith(b"STOP:"))
    assert ends == {"STOP:3": 3, "STOP:4": 6, "STOP:5": 10}


def test_a_batch_that_waits_at_the_end_of_the_input_becomes_smaller():
    # TensorFlow's take waits for ever: it began before the barrier was closed.
    b = Barrier([tf.int32, tf.int32])
    put, half, close = b.insert_many(0, ["a", "b"], [1, 2]), b.insert_many(1, ["a"], [3]), b.close()
    _, keys, _ = b.take_many(5, allow_small_batch=True)
    taken = []
    with tf.Session() as sess:
        sess.run(put)
        sess.run(half)
        thread = threading.Thread(target=lambda: taken.append(sess.run(keys).tolist()))
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        sess.run(close)
        thread.join(30)
    assert taken == [[b"a"]]


def test_a_run_that_would_wait_for_ever_is_told_what_is_missing():
    b = Barrier([tf.int32, tf.int32], name="b")
    put, (_, keys, _) = b.insert_many(0, ["a", "c"], [1, 2]), b.take_many(1, name="take")
    with tf.Session() as sess:
        sess.run(put)
        with pytest.raises(tf.errors.FailedPreconditionError) as error:
            sess.run(keys)
    assert "`take` waits for complete elements of barrier `b`" in str(error.value)
    assert "2 incomplete: `a` lacks component 1, `c` lacks component 1" in str(error.value)


def test_a_run_without_its_queue_runner_is_told_so():
    batch, _, _ = sums()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.FailedPreconditionError, match="whose runner was never started"):
            sess.run(batch.key)


def test_a_failed_insertion_loses_nothing():
    b = Barrier([tf.int32, tf.int32])
    first, second = b.insert_many(0, ["a"], [1]), b.insert_many(1, ["a", "c", "c"], [2, 3, 4])
    _, keys, _ = b.take_many(1)
    with tf.Session() as sess:
        sess.run(first)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Key c already has a value for component 1"):
            sess.run(second)
        assert sess.run(keys).tolist() == [b"a"]


def test_elements_of_different_shapes_make_no_batch_and_stay():
    b = Barrier([tf.int32])
    puts = [b.insert_many(0, ["a"], [[1]]), b.insert_many(0, ["b"], [[1, 2]])]
    (_, keys, _), size = b.take_many(2), b.ready_size()
    with tf.Session() as sess:
        for put in puts:
            sess.run(put)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"component 0 of .* has shape \[1\] in one element and \[2\] in another"):
            sess.run(keys)
        assert sess.run(size) == 2


def test_memory_of_incomplete_elements_is_charged():
    b, rows = Barrier([tf.float32, tf.int32]), tf.placeholder(tf.float32)
    put = b.insert_many(0, tf.as_string(tf.range(tf.shape(rows)[0])), rows)
    config = tf.ConfigProto(memory_limit_in_bytes=1 << 20)
    with tf.Session(config=config) as sess, pytest.raises(tf.errors.ResourceExhaustedError):
        sess.run(put, {rows: np.ones([20000], np.float32)})


def test_boolean_sequences_are_padded():
    batch = batches("k", {"x": [True, True, True]}, {}, None, {"s": tf.constant(0)}, 2, 1)
    put, save = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0].enqueue_ops[0], batch.save_state("s", [1])
    with tf.Session() as sess:
        sess.run(put)
        sess.run(save)
        assert sess.run(batch.sequences["x"]).tolist() == [[True, False]]


@pytest.mark.parametrize(
    "change, error, words",
    [
        (dict(states={}), ValueError, "initial_states may not be empty"),
        (dict(states=[1]), TypeError, "initial_states must be a dictionary, but is"),
        (dict(states={1: 2}), TypeError, "state name must be string: 1"),
        (dict(sequences={"a:b": [1]}), ValueError, "sequence key may not have a colon: 'a:b'"),
        (dict(sequences={"x": 1}, pad=False, length=1), ValueError, "must have a dimension for the steps"),
        (dict(context=3), TypeError, "context must be a dict"),
        (dict(unroll=0), ValueError, "num_unroll must be positive, but is 0"),
        (dict(unroll=1.5), ValueError, "Unsupported num_unroll expected int, got: 1.5"),
        (dict(pad=False), ValueError, "`input_length` must be given unless `pad` is true"),
        (dict(length=2.0), TypeError, "length dtype must be int32, but received"),
        (dict(key=["a"]), ValueError, "Rank check failed for key: it must be a scalar"),
        (dict(batch=9, capacity=3), ValueError, "capacity 3 needs to be >= batch_size 9"),
    ],
)
def test_bad_arguments(change, error, words):
    given = dict(key="k", sequences={"x": [1, 2]}, context={}, length=None, states={"s": 0}, unroll=2, batch=1)
    more = {k: v for k, v in change.items() if k not in given}
    given.update((k, v) for k, v in change.items() if k in given)
    with pytest.raises(error, match=words):
        batches(*given.values(), **more)


def test_bad_states():
    batch, total, _ = sums()
    with pytest.raises(KeyError, match="state was not declared: other; `initial_states` has"):
        batch.state("other")
    with pytest.raises(TypeError, match="state 'sum' is int32, but the value to save is float32"):
        batch.save_state("sum", tf.cast(total, tf.float32))
    with pytest.raises(ValueError, match="Shape check failed for state 'sum'"):
        batch.save_state("sum", total[:, None])


def test_a_take_has_no_timeout():
    with pytest.raises(TypeError, match="give the run one"):
        Barrier([tf.int32]).take_many(1, timeout=5)
