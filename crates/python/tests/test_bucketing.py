"""`contrib.training.bucket`: what it has beyond TensorFlow: counts, padding, limits of tokens, dropping."""

import numpy as np
import pytest

import millstream as tf
from millstream.contrib.training import MaxTokens, bucket, bucket_by_sequence_length
from millstream.contrib.training.bucketing import Bucketed


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def numbers(n):
    return tf.train.range_input_producer(n, num_epochs=1, shuffle=False).dequeue()


def drained(bucketed):
    """Returns all batches of a bucketing, and its counts at the end."""
    batches, take = [], [bucketed[0], bucketed[1]]
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                batches.append(sess.run(take))
        coord.request_stop()
        coord.join(threads)
        return batches, bucketed.statistics(sess)


def test_statistics_count_every_example():
    n = numbers(10)
    batches, counts = drained(bucket([n], n % 3, 2, 3, keep_input=n > 0))
    assert sorted((int(i), x.tolist()) for i, x in batches) == [(0, [3, 6]), (1, [1, 4]), (2, [2, 5])]
    assert (counts.came, counts.out, counts.waiting, counts.dropped, counts.filtered) == (10, 6, 0, 4, 1)
    assert [b.n_in for b in counts.buckets] == [3, 3, 3] and [b.discarded for b in counts.buckets] == [1, 1, 1]
    assert [b.batch_size for b in counts.buckets] == [2, 2, 2] and counts.buckets[0].fill == 1.0
    assert "10 came, 6 out, 0 waiting, 4 dropped (1 filtered, 0 out of range), 0.0% padding" in str(counts)


def test_the_pair_is_a_pair():
    made = bucket([tf.constant(1), tf.constant(2)], tf.constant(0), 2, 3)
    which, (a, b) = made
    assert isinstance(made, tuple) and len(made) == 2 and made[0] is which
    assert [q.name for q in made.bucket_queues] == [f"bucket/bucket_queue_{i}" for i in range(3)]
    assert made.top_queue.name == "bucket/top_queue" and a.shape == b.shape == [2]
    with pytest.raises(ValueError, match="call `statistics` on what `bucket` returned"):
        Bucketed((1, 2)).statistics(None)


def test_an_example_of_no_bucket_ends_the_pipeline_and_says_the_cure():
    n = numbers(4)
    made = bucket([n], n, 1, 2)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.InvalidArgumentError, match="one of 0 to 1: make it so, or let `drop_out_of_range=True`"):
            try:
                while True:
                    sess.run(made[1])
            except tf.errors.OutOfRangeError:
                coord.join(threads)


@pytest.mark.parametrize("filtered", [False, True])
def test_an_example_of_no_bucket_is_dropped_and_counted(filtered):
    n = numbers(6)
    keep = n > 0 if filtered else True
    batches, counts = drained(bucket([n], n - 1, 1, 2, keep_input=keep, drop_out_of_range=True))
    assert sorted(x.tolist() for _, x in batches) == [[1], [2]]
    assert (counts.filtered, counts.out_of_range, counts.dropped) == ((1, 3, 4) if filtered else (0, 4, 4))


def test_sparse_examples_of_no_bucket_leave_no_trace():
    n = numbers(4)
    at = tf.SparseTensor(tf.zeros([1, 1], tf.int64), tf.reshape(n, [1]), [1])
    batches, counts = drained(bucket([at, n], n, 1, 2, drop_out_of_range=True))
    assert sorted(int(sparse.values[0]) for _, (sparse, _) in batches) == [0, 1]
    assert counts.came == 4 and counts.dropped == 2


def rows_of(n):
    return tf.fill([n], n)


def test_padding_values_and_sizes():
    n = numbers(4)
    words = tf.as_string(rows_of(n))
    made = bucket({"row": rows_of(n), "words": words}, n // 2, 2, 2, dynamic_pad=True, padding_values={"row": -1, "words": "-"}, pad_to={"row": [4, 0]})
    batches, counts = drained(made)
    rows = {int(i): batch["row"].tolist() for i, batch in batches}
    assert rows == {0: [[-1] * 4, [1, -1, -1, -1]], 1: [[2, 2, -1], [3, 3, 3]]}
    words = {int(i): batch["words"].tolist() for i, batch in batches}
    assert words == {0: [[b"-"], [b"1"]], 1: [[b"2", b"2", b"-"], [b"3", b"3", b"3"]]}
    assert counts.padding_waste == pytest.approx((7 + 1 + 1 + 1) / (8 + 6 + 2 + 6))


def test_padding_by_index_and_to_the_boundary():
    n = numbers(5)
    made = bucket_by_sequence_length(n, [n * 10, rows_of(n)], 1, [3], dynamic_pad=True, padding_values={1: 7}, pad_to_boundary=[1])
    batches, _ = drained(made)
    got = {int(lengths[0]): rows.tolist() for lengths, (_, rows) in batches}
    assert got == {0: [[7, 7]], 1: [[1, 7]], 2: [[2, 2]], 3: [[3, 3, 3]], 4: [[4, 4, 4, 4]]}


@pytest.mark.parametrize("boundaries", [[3, 7], [3, 7, 1 << 25]])
def test_lengths_reach_their_bucket(boundaries):
    n = numbers(10)
    batches, _ = drained(bucket_by_sequence_length(n, [n], 3, boundaries, allow_smaller_final_batch=True))
    assert sorted(lengths.tolist() for lengths, _ in batches) == [[0, 1, 2], [3, 4, 5], [6], [7, 8, 9]]


def test_max_tokens():
    n = numbers(7)
    made = bucket([rows_of(n)], n * 0, MaxTokens(9), 1, dynamic_pad=True, allow_smaller_final_batch=True)
    batches, counts = drained(made)
    assert all(rows.size <= 9 for _, rows in batches) and sum(len(rows) for _, rows in batches) == 7
    assert counts.buckets[0].batch_size is None


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"padding_values": {"no": 1}}, "padding_values names the component 'no', but an example has ['n', 'row']"),
        ({"padding_values": {"n": 1}}, "padding_values names the component 'n', which is not padded: its shape [] is known"),
        ({"pad_to": {"row": [1]}}, "pad_to of the component 'row' has 1 sizes, but there are 2 buckets"),
        ({"padding_values": {"row": 1}, "dynamic_pad": False}, "which is not padded: dynamic_pad is False"),
        ({"batch_size": MaxTokens(3), "dynamic_pad": False}, "MaxTokens(3) counts padded rows: set dynamic_pad=True"),
    ],
)
def test_what_cannot_be_padded_is_refused(arguments, said):
    n = tf.constant(1)
    given = {"batch_size": 2, "dynamic_pad": True, **arguments}
    with pytest.raises(ValueError) as error:
        bucket({"n": n, "row": tf.placeholder(tf.int32, [None])}, n, num_buckets=2, **given)
    assert said in str(error.value)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "3"])
def test_max_tokens_is_a_positive_int(wrong):
    with pytest.raises(ValueError, match="a positive int"):
        MaxTokens(wrong)


def test_nodes_count_as_in_tensorflow():
    # An op without a seed of its own derives one from the number of nodes before it.
    from millstream.framework import node_counts

    x, keep = tf.placeholder(tf.int32, []), tf.placeholder(tf.bool, [])
    counts = []
    for n in (1, 2, 3):
        for filtered in (True, keep):
            before = node_counts.count(tf.get_default_graph())
            bucket([x, x + 1], tf.placeholder(tf.int32, []), 2, n, keep_input=filtered)
            counts.append(node_counts.count(tf.get_default_graph()) - before)
    # Each bucketing makes three nodes more here: a placeholder, and the sum with its constant.
    assert counts == [3 + c for c in (40, 51, 66, 78, 92, 105)]
